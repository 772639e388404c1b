// fidelity.c - measures whether a model behaves like its log: the sequence of measurements, and
// the memory of the results.
//
// 1. All is measured from the log and the fitted model, without a simulator, and through the
//    interface of a kind, so that any kind can be measured; only reach is particular to knn.
// 2. Measurements that would grow with the log use a sample, so that fidelity costs less than
//    the fit. Random streams derive from the model's seed.
// 3. Only the first member is measured: members differ only in the transitions they use.
// 4. It takes 0.02 s for 5,000 steps of Puddle World, whose fit takes 0.03 s, and 0.8 s for
//    1,000,000 steps of 8 sensors, whose fit takes 10 s (knn, one core of a 2.3 GHz Xeon).
// 5. If codes are of state and action, states are compared by codes with the log's mean action.

#include "base/base_internal.h"
#include "fidelity_internal.h"
#include "fields.h"
#include "knn_internal.h"
#include "model.h"
#include "numeric/stats.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>

#define MOST_STEPS 20000 // of which lengths are measured

// ---------------------------------------------------------------------------- memory

void rh_fidelity__destroy(rh_fidelity *fidelity)
{
    if (!fidelity)
        return;
    rh_free(fidelity->sensor);
    rh_free(fidelity->action);
    rh_findings__clear(&fidelity->findings);
    rh_free(fidelity);
}

rh_status rh_fidelity__create(rh_fidelity **out, int nobs, int naction, rh_error *err)
{
    const rh_fidelity_error error = {NAN, NAN, NAN};
    const rh_fidelity_spread spread = {0, NAN, NAN, NAN, NAN};
    rh_fidelity *f = rh_alloc(1, sizeof *f);
    if (!f)
        return rh_base__no_memory(err, "fidelity");
    *f = (rh_fidelity){
        .held_out_of_coverage = NAN,
        .state = error,
        .reward = error,
        .terminal = error,
        .logged_return = spread,
        .simulated_return = spread,
        .logged_length = spread,
        .simulated_length = spread,
        .logged_truncated = NAN,
        .simulated_truncated = NAN,
        .out_of_coverage = NAN,
        .reach = NAN,
        .step = NAN,
        .stitched = NAN,
        .jump = NAN,
        .jump90 = NAN,
        .random_jump = NAN,
        .random_return = NAN,
        .random_better = NAN,
        .logged_better = NAN,
        .random_steps = NAN,
    };

    rh_field__forget(&rh_model__beside, &f->beside);

    // one more than needed, because there may be none
    f->sensor = rh_alloc((size_t)nobs + 1, sizeof *f->sensor);
    f->action = rh_alloc((size_t)naction + 1, sizeof *f->action);
    if (!f->sensor || !f->action || !rh_findings__begin(&f->findings, RH_OF_MODEL)) {
        rh_fidelity__destroy(f);
        return rh_base__no_memory(err, "fidelity");
    }
    for (int i = 0; i < nobs; i++)
        f->sensor[i] = error;
    for (int a = 0; a < naction; a++)
        f->action[a] = (rh_fidelity_action){NAN, NAN, NAN};
    *out = f;
    return RH_OK;
}

// ---------------------------------------------------------------------------- helpers

rh_status rh_fidelity__pause(const rh_fidelity__work *w, double share, rh_error *err)
{
    if (w->watch.progress)
        w->watch.progress(w->watch.context, "comparing with the log", share);
    if (w->watch.stop && w->watch.stop(w->watch.context))
        return rh_fail(err, RH_ESTOPPED, "fit: stopped while comparing the model with the log");
    return RH_OK;
}

void rh_fidelity__encode(const rh_fidelity__work *w, const double *obs, float *code)
{
    const rh_repr *repr = w->model->repr;
    rh_repr__encode_one(repr, obs, rh_repr__nact(repr) ? w->act : NULL, w->scratch, code);
}

double rh_fidelity__distance(const rh_fidelity__work *w, const float *a, const float *b)
{
    double sum = 0.0;
    for (int i = 0; i < w->ncode; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

double rh_fidelity__in_steps(const rh_fidelity__work *w, double distance)
{
    return w->f->step > 0.0 ? distance / w->f->step : NAN;
}

const float *rh_fidelity__code(const rh_fidelity__work *w, int32_t row)
{
    return w->code + (size_t)row * (size_t)w->ncode;
}

int64_t rh_fidelity__spread(int64_t i, int64_t k, int64_t n)
{
    return k >= n ? i : i * n / k;
}

int64_t rh_fidelity__pick(rh_rng *rng, int64_t i, int64_t k, int64_t n)
{
    if (k >= n)
        return i;
    int64_t begin = i * n / k, end = (i + 1) * n / k;
    return begin + rh_rng_below(rng, (uint32_t)(end - begin));
}

rh_rng rh_fidelity__chance(const rh_fidelity__work *w, int what)
{
    return rh_rng_stream(w->seed, RH_STREAM_FIT, RH_FIDELITY__REPLICATE, (uint64_t)what);
}

// ---------------------------------------------------------------------------- measuring

// Set the codes of all states: the model's, or with the mean action.
static rh_status take_codes(rh_fidelity__work *w, rh_error *err)
{
    const rh_log *log = w->log;
    const rh_repr *repr = w->model->repr;
    w->ncode = rh_repr__ncode(repr);
    w->scratch = rh_alloc(rh_repr__nscratch(repr) + 1, sizeof *w->scratch);
    if (!w->scratch)
        return rh_base__no_memory(err, "fidelity");
    w->code = w->model->code;
    if (w->code)
        return RH_OK;

    for (int64_t t = 0; t < log->n; t++)
        for (int i = 0; i < log->nact; i++)
            w->act[i] += log->act[t * log->nact + i] / (double)log->n;
    w->own = rh_alloc((size_t)log->nstate * (size_t)w->ncode, sizeof *w->own);
    if (!w->own)
        return rh_base__no_memory(err, "fidelity");
    for (int64_t row = 0; row < log->nstate; row++)
        rh_fidelity__encode(w, log->obs + row * log->nobs,
                            w->own + (size_t)row * (size_t)w->ncode);
    w->code = w->own;
    return RH_OK;
}

// The median length of a logged step.
static rh_status take_steps(rh_fidelity__work *w, rh_error *err)
{
    const rh_log *log = w->log;
    int64_t n = log->n < MOST_STEPS ? log->n : MOST_STEPS, known = 0;
    rh_rng rng = rh_fidelity__chance(w, RH_FIDELITY__STEPS);
    double *length = rh_alloc((size_t)n, sizeof *length);
    if (!length)
        return rh_base__no_memory(err, "fidelity");
    for (int64_t i = 0; i < n; i++) {
        int64_t t = rh_fidelity__pick(&rng, i, n, log->n);
        if (log->to[t] != RH_UNKNOWN)
            length[known++] = rh_fidelity__distance(w, rh_fidelity__code(w, log->from[t]),
                                                    rh_fidelity__code(w, log->to[t]));
    }
    w->f->step = rh_stats__quantile(length, known, 0.5);
    rh_free(length);
    return RH_OK;
}

rh_status rh_fidelity__measure(rh_fidelity **out, const rh_model *model, uint64_t seed,
                               int nthread, const rh_watch *watch, rh_error *err)
{
    const rh_log *log = model->log;
    rh_fidelity__work w = {.model = model, .log = log, .seed = seed, .nthread = nthread};
    if (watch)
        w.watch = *watch;

    rh_status rc = rh_fidelity__create(&w.f, log->nobs, log->naction, err);
    if (!rc)
        rc = rh_fidelity__pause(&w, 0.0, err);
    if (!rc)
        rc = take_codes(&w, err);
    if (!rc)
        rc = take_steps(&w, err);
    if (!rc)
        w.f->reach = model->type == &rh_model_knn
                         ? rh_knn__reach(model->member[0], model->param)
                         : (double)INFINITY;
    if (!rc)
        rc = rh_fidelity__predict(&w, err);
    if (!rc)
        rc = rh_fidelity__reach(&w, err);
    if (!rc)
        rc = rh_fidelity__simulate(&w, err);
    if (!rc)
        rc = rh_experiments__find(&w.f->experiments, log, err);
    if (!rc)
        rc = rh_fidelity__pause(&w, 1.0, err);
    if (!rc && !rh_fidelity__find(&w))
        rc = rh_base__no_memory(err, "fit");
    if (!rc) {
        *out = w.f;
        w.f = NULL;
    }
    rh_free(w.scratch);
    rh_free(w.own);
    rh_fidelity__destroy(w.f);
    return rc;
}

rh_status rh_fidelity__imitate(rh_fidelity **out, double *apart, const rh_model *model,
                               uint64_t seed, const rh_watch *watch, rh_error *err)
{
    const rh_log *log = model->log;
    rh_fidelity__work w = {.model = model, .log = log, .seed = seed, .nthread = 1};
    if (watch)
        w.watch = (rh_watch){.stop = watch->stop, .context = watch->context};

    rh_status rc = rh_fidelity__create(&w.f, log->nobs, log->naction, err);
    if (!rc)
        rc = take_codes(&w, err);
    if (!rc)
        rc = take_steps(&w, err);
    if (!rc)
        rc = rh_fidelity__simulate(&w, err);
    if (!rc) {
        // NAN if there is nothing to compare
        double returns = fabs(2.0 * w.simulated_better - 1.0);
        double lengths = fabs(2.0 * w.simulated_longer - 1.0);
        *apart = fmax(returns, lengths);
        *out = w.f;
        w.f = NULL;
    }
    rh_free(w.scratch);
    rh_free(w.own);
    rh_fidelity__destroy(w.f);
    return rc;
}
