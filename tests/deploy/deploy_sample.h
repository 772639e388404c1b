// deploy_sample.h - a folder with a best.yaml, and observations for it.

#ifndef DEPLOY_SAMPLE_H
#define DEPLOY_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "deploy/deploy_internal.h"
#include "study/best_sample.h"

static char folder[64], best_path[96], guard_path[96], state_path[96], log_path[96];

static inline void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline int enter(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "deploy"))
        return -1;
    snprintf(best_path, sizeof best_path, "%s/best.yaml", folder);
    snprintf(guard_path, sizeof guard_path, "%s/guard.yaml", folder);
    snprintf(state_path, sizeof state_path, "%s/agent.state", folder);
    snprintf(log_path, sizeof log_path, "%s/log.csv", folder);
    write_text(best_path, BEST_ALL);
    return 0;
}

static inline int leave(void **unused)
{
    (void)unused;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static inline rh_deploy *opened(const rh_deploy_options *opt)
{
    rh_deploy *d = NULL;
    rh_error err = {""};
    if (rh_deploy_open(&d, best_path, opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return d;
}

static inline rh_deploy_options in_folder(void)
{
    rh_deploy_options opt = rh_deploy_defaults();
    opt.folder = folder;
    return opt;
}

// Observation number seq with temp x.
static inline rh_deploy_reply sent(rh_deploy *d, int64_t seq, double x)
{
    double obs[2] = {x, 0.5};
    rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = seq, .time = NAN};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    return reply;
}

#endif
