// fuzz_jsonl.c - any JSON lines are refused with a message or read as a log with valid indices.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "log/log_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const rh_log *log)
{
    require(log->n > 0 && log->nepisode > 0 && log->nobs > 0 && log->nact > 0);
    require(log->first[0] == 0 && log->first[log->nepisode] == log->n);
    for (int64_t i = 0; i < log->n; i++) {
        require(log->from[i] >= 0 && log->from[i] < log->nstate);
        require(log->to[i] >= RH_UNKNOWN && log->to[i] < log->nstate);
        require(!isnan(log->reward[i]));
        if (log->naction > 0)
            require(log->act[i] >= 0.0 && log->act[i] < log->naction);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rh_log_options opt = rh_log_defaults();
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log *log = NULL;
    int fd = memfd_create("log", 0);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    rh_status rc = rh_log__jsonl.read_fd(&log, fd, "file", &opt, &err);
    require((rc == RH_OK) == (log != NULL));
    require(rc == RH_OK || strncmp(err.text, "file:", 5) == 0);
    require(!strchr(err.text, '\n'));
    if (log)
        check(log);
    rh_log_destroy(log);
    require(rh_base__alloc_live() == live);
    return 0;
}
