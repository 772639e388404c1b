// visits.c - samples the steps of runs.
//
// 1. A run is divided into `most` equal stretches, and one step of each is kept, drawn at
//    random: every step has the same probability, and no period of the plant can hide between
//    the samples. Which steps are kept depends on the run alone, so every run writes its own
//    places, and the sample is the same for any number of threads.
// 2. Places of runs that broke down stay empty and are closed up, in order.

#include "visits.h"
#include "base/scratch.h"

#include "base/text.h"

#include <string.h>

typedef struct sampling {
    const rh_eval_options *opt;
    int nobs, nact; //
    int nmember, most;
    int64_t *at;                 // steps to keep    (nmember x nrun x most)
    bool *kept;                  // (nsetting x nmember x nrun x most)
    double *obs;                 // (as many x nobs)
    double *act;                 // (as many x nact)
    bool (*stop)(void *context); // of the caller
    void *context;               //
} sampling;

// The places of a run in `at` are its places of the first setting.
static size_t run_of(const sampling *s, int member, int run)
{
    return ((size_t)member * (size_t)s->opt->nrun + (size_t)run) * (size_t)s->most;
}

static void keep(void *context, const rh_visit *visit)
{
    const sampling *s = context;
    size_t run = run_of(s, visit->member, visit->run);
    size_t stretch = (size_t)(visit->step * s->most / s->opt->nstep);
    if (s->at[run + stretch] != visit->step)
        return;
    size_t place = run_of(s, s->nmember * visit->setting, 0) + run + stretch;
    memcpy(s->obs + place * (size_t)s->nobs, visit->obs, (size_t)s->nobs * sizeof *s->obs);
    memcpy(s->act + place * (size_t)s->nact, visit->act, (size_t)s->nact * sizeof *s->act);
    s->kept[place] = true;
}

static bool asked_to_stop(void *context)
{
    const sampling *s = context;
    return s->stop && s->stop(s->context);
}

// Draw the steps to keep: the first step of stretch i is the least with step * most / nstep =
// i.
static void draw(sampling *s)
{
    int64_t nstep = s->opt->nstep;
    for (int m = 0; m < s->nmember; m++)
        for (int r = 0; r < s->opt->nrun; r++) {
            rh_rng rng = rh_rng_stream(s->opt->seed, RH_STREAM_SEARCH,
                                       s->opt->replicate + (uint64_t)m, (uint64_t)r);
            int64_t *at = s->at + run_of(s, m, r);
            for (int i = 0; i < s->most; i++) {
                int64_t first = (i * nstep + s->most - 1) / s->most;
                int64_t end = ((i + 1) * nstep + s->most - 1) / s->most;
                at[i] = first + (int64_t)(rh_rng_uniform(&rng) * (double)(end - first));
            }
        }
}

// Close up the places that were filled.
static void close_up(const sampling *s, size_t nplace, rh_visits *out)
{
    size_t nobs = (size_t)s->nobs, nact = (size_t)s->nact;
    for (size_t i = 0; i < nplace; i++) {
        if (!s->kept[i])
            continue;
        size_t n = (size_t)out->n++;
        memmove(s->obs + n * nobs, s->obs + i * nobs, nobs * sizeof *s->obs);
        memmove(s->act + n * nact, s->act + i * nact, nact * sizeof *s->act);
    }
}

rh_status rh_visits__gather(rh_visits *visits, rh_env *const *env, int nmember,
                            const rh_agent_type *agent, const rh_task *task, int nsetting,
                            const double *hp, const rh_eval_options *opt, int most,
                            rh_error *err)
{
    rh_eval_options how = *opt;
    sampling s = {.opt = opt,
                  .nobs = task->nobs,
                  .nact = task->nact,
                  .nmember = nmember,
                  .most = most < opt->nstep ? most : (int)opt->nstep,
                  .stop = opt->stop,
                  .context = opt->context};
    size_t nrun = (size_t)nmember * (size_t)opt->nrun, nall = (size_t)nsetting * nrun;
    size_t nplace = nall * (size_t)s.most;
    rh_scratch scratch = {0};
    rh_result *result = rh_scratch__take(&scratch, nall, sizeof *result);
    s.at = rh_scratch__take(&scratch, nrun * (size_t)s.most, sizeof *s.at);
    s.kept = rh_scratch__take(&scratch, nplace, sizeof *s.kept);
    s.obs = visits->obs = rh_alloc(nplace, (size_t)s.nobs * sizeof *s.obs);
    s.act = visits->act = rh_alloc(nplace, (size_t)s.nact * sizeof *s.act);
    rh_status rc = RH_OK;
    if (scratch.failed || !s.obs || !s.act) {
        rc = rh_base__no_memory(err, "study");
        goto done;
    }
    draw(&s);
    how.ncurve = 0;
    how.watch = NULL;
    how.visit = keep;
    how.stop = asked_to_stop;
    how.context = &s;
    rc = rh_eval_runs(env, nmember, agent, task, nsetting, hp, &how, result, NULL, err);
    if (!rc && asked_to_stop(&s))
        rc = rh_fail(err, RH_ESTOPPED, "study: stopped");
    if (!rc)
        close_up(&s, nplace, visits);

done:
    rh_scratch__clear(&scratch);
    return rc;
}

void rh_visits__clear(rh_visits *visits)
{
    rh_free(visits->obs);
    rh_free(visits->act);
    *visits = (rh_visits){0};
}
