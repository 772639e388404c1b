// fuzz_best.h - a best.yaml for fuzz targets of deployments, and texts as files.

#ifndef FUZZ_BEST_H
#define FUZZ_BEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "deploy/deploy_internal.h"

static inline void require(bool condition)
{
    if (!condition)
        abort();
}

// A file of these bytes; its name. Close *fd.
static inline const char *file_of(const uint8_t *data, size_t size, int *fd)
{
    static char name[40];
    *fd = memfd_create("text", 0);
    require(*fd >= 0 && write(*fd, data, size) == (ssize_t)size);
    snprintf(name, sizeof name, "/proc/self/fd/%d", *fd);
    return name;
}

// A tank with a discrete pump.
static inline rh_best *any_best(void)
{
    static const char text[] =
        "agent:\n  name: esarsa\n  alpha: 0.3\n  beta1: 0\n  tau: 0.4\n  w_init: 0\n"
        "  lambda: 0\n  beta2: 0.999\n  tilings: 4\n  tiles: 4\n  features: pairs\n"
        "  optimiser: adam\n"
        "task:\n  sensors:\n"
        "    - {name: \"temp\", unit: \"degC\", range: [35, 48], seen: [36, 47]}\n"
        "    - {name: \"level\", unit: \"m\", range: [0, 3.3], seen: [0.3, 3]}\n"
        "  action: \"pump\"\n  actions: [\"high\", \"low\", \"off\"]\n"
        "  reward: {name: \"-energy\", lowest: -1.2}\n"
        "  continuing: false\n  gamma: 1\n  steps: 1000\n"
        "chosen:\n  score: -28\n  interval: [-31, -5]\n";
    rh_best *best = NULL;
    int fd;
    rh_error err = {""};
    rh_status rc = rh_best_read(&best, file_of((const uint8_t *)text, strlen(text), &fd), &err);
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    require(rc == RH_OK);
    close(fd);
    return best;
}

#endif
