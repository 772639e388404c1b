// fuzz_best.c - any text is refused as a best.yaml, or as the guard file of one, with a
// message; or it is read, and what is in it is in range. The first byte chooses.

#include "fuzz_best.h"

#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_guard(const char *path)
{
    static rh_best *best;
    if (!best)
        best = any_best();
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_guard guard;
    rh_status rc = rh_guard__read(&guard, path, best, &err);
    require(rc == RH_OK || (*err.text && !strchr(err.text, '\n')));
    if (rc == RH_OK && guard.safe)
        require(guard.act[0] >= 0.0 && guard.act[0] <= 2.0 && !guard.banned[(int)guard.act[0]]);
    for (int k = 0; rc == RH_OK && k < best->task.nobs; k++)
        require(!(guard.trip_lo[k] > guard.trip_hi[k]));
    require(rh_base__alloc_live() == live);
}

static void as_best(const char *path)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_best *best = NULL;
    rh_status rc = rh_best_read(&best, path, &err);
    require((rc == RH_OK) == (best != NULL));
    require(rc == RH_OK || (*err.text && !strchr(err.text, '\n')));
    bool task = best && best->task.nobs > 0; // that of a study without a model has none
    require(!best || (best->task.nobs <= RH_MAX_OBS && (best->task.nact > 0) == task));
    if (best) {
        for (int k = 0; k < best->task.nobs; k++)
            require(best->task.obs_lo[k] < best->task.obs_hi[k]);
        require(best->nlimit >= 0 && best->nlimit <= RH_MAX_LIMITS);
    }
    for (int i = 0; task && i < best->nlimit; i++) {
        rh_expression event = {0};
        const rh_constraint *limit = &best->limit[i].limit;
        require(limit->event && limit->most >= 0.0 && limit->most <= 1.0);
        if (best->limit[i].formula)
            rc = rh_limits__compile(&event, best, i, &err);
        require(rc == RH_OK || (*err.text && !strchr(err.text, '\n')));
        rh_expression__clear(&event);
    }
    rh_best_destroy(best);
    require(rh_base__alloc_live() == live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd;
    const char *path = file_of(data + (size > 0), size - (size > 0), &fd);
    if (size && data[0] & 1)
        as_guard(path);
    else
        as_best(path);
    close(fd);
    return 0;
}
