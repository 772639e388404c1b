// fqi_choose.c - fitted Q iteration with several settings, of which the best is kept.
//
// The paper chooses the setting with the least TD error on another log. The script of its
// authors reads the column of the training log instead; both are offered.
//
// 1. Settings are learned in parallel and compared in index order.
// 2. Only the calling thread calls the caller's functions. Other threads ask whether it was
//    told to stop.
// 3. A setting whose error is not finite is never chosen.

#include "base/text.h"
#include "offline_internal.h"

#include <math.h>
#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

// What the threads share.
typedef struct shared {
    const rh_watch *watch;
    atomic_bool stopped;
    atomic_int ndone;
    int nopt;
} shared;

static bool is_stopped(void *context)
{
    shared *s = context;
    const rh_watch *watch = s->watch;
    if (omp_get_thread_num() == 0 && watch->stop && watch->stop(watch->context))
        atomic_store(&s->stopped, true);
    return atomic_load(&s->stopped);
}

static void report(void *context, const char *what, double share)
{
    shared *s = context;
    const rh_watch *watch = s->watch;
    if (omp_get_thread_num() == 0 && watch->progress)
        watch->progress(watch->context, what, (atomic_load(&s->ndone) + share) / s->nopt);
}

// One setting: learn, then measure both errors.
static rh_status learn_one(rh_fqi **out, shared *s, const rh_log *log, const rh_log *valid,
                           const rh_task *task, const rh_fqi_options *opt, double *error,
                           rh_error *err)
{
    rh_fqi *fqi = NULL;
    rh_fqi_options mine = *opt;
    mine.watch = (rh_watch){.progress = report, .stop = is_stopped, .context = s};
    rh_status rc = rh_fqi_learn(&fqi, log, task, &mine, err);
    if (!rc)
        rc = rh_fqi_error(fqi, log, &error[0], err);
    if (!rc)
        rc = rh_fqi_error(fqi, valid, &error[1], err);
    if (rc)
        rh_fqi_destroy(fqi);
    else
        *out = fqi;
    atomic_fetch_add(&s->ndone, 1);
    return rc;
}

static int least(const double *error, int nopt, rh_fqi_judge judge)
{
    int best = -1, column = judge == RH_FQI_BY_TRAINING ? 0 : 1;
    for (int i = 0; i < nopt; i++)
        if (isfinite(error[2 * i + column]) &&
            (best < 0 || error[2 * i + column] < error[2 * best + column]))
            best = i;
    return best;
}

rh_status rh_fqi_choose(rh_fqi **out, int *chosen, const rh_log *log, const rh_log *valid,
                        const rh_task *task, const rh_fqi_options *opt, int nopt,
                        rh_fqi_judge judge, int nthread, double *error, rh_error *err)
{
    if (nopt < 1 || nthread < 1)
        return rh_fail(err, RH_EINVAL, "fqi: %d settings on %d threads, expected 1 or more",
                       nopt, nthread);
    shared s = {.watch = &opt[0].watch, .nopt = nopt};
    rh_fqi **fqi = rh_alloc((size_t)nopt, sizeof(rh_fqi *));
    rh_status *status = rh_alloc((size_t)nopt, sizeof *status);
    rh_error *said = rh_alloc((size_t)nopt, sizeof *said);
    double *mine = rh_alloc(2 * (size_t)nopt, sizeof *mine);
    int best = 0;
    rh_status rc = RH_OK;
    if (!fqi || !status || !said || !mine) {
        rc = rh_base__no_memory(err, "fqi");
        goto done;
    }

#pragma omp parallel for schedule(dynamic) num_threads(nthread) if (nthread > 1)
    for (int i = 0; i < nopt; i++)
        status[i] = learn_one(&fqi[i], &s, log, valid, task, &opt[i], &mine[2 * i], &said[i]);

    // the first failure, in index order
    for (int i = 0; !rc && i < nopt; i++)
        if (status[i])
            rc = rh_fail(err, status[i], "%s", said[i].text);
    if (rc)
        goto done;
    best = least(mine, nopt, judge);
    if (best < 0) {
        rc = rh_fail(err, RH_EINVAL,
                     "fqi: none of %d settings has a finite TD error, expected smaller rates",
                     nopt);
        goto done;
    }
    for (int i = 0; error && i < 2 * nopt; i++)
        error[i] = mine[i];
    if (chosen)
        *chosen = best;
    *out = fqi[best];
    fqi[best] = NULL;

done:
    for (int i = 0; fqi && i < nopt; i++)
        rh_fqi_destroy(fqi[i]);
    rh_free(fqi);
    rh_free(status);
    rh_free(said);
    rh_free(mine);
    return rc;
}
