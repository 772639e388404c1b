// nn_fit.c - fits a neural network model: transitions become rows of inputs and targets.
//
// 1. A share of the transitions is held out for validation, as in the paper, the same ones for
//    all three networks. All copies of a transition in a bootstrap are held out together. The
//    share is taken separately of steps that end an episode, because there are few.
// 2. A terminal step without a next state trains reward and end only.
// 3. Ranges are those of the member's own transitions.
// 4. The end is 0 or 1 and not scaled: its range is set to -1 .. 1, which leaves it unchanged.

#include "base/base.h"
#include "base/scratch.h"
#include "nn_internal.h"
#include "repr/repr.h"

#include <float.h>
#include <string.h>

// Rows, one per transition in use.
typedef struct rows {
    const rh_model *model;
    const rh_model__part *part;
    rh_scratch scratch;
    float *x;             // inputs                   (n x ninput)
    float *y[RH_NN_NNET]; // targets                  (n x nobs, n, n)
    uint8_t *known;       // the next state is known  (n)
    uint8_t *held;        // not to be learned from   (n)
} rows;

static const double *state_at(const rh_log *log, int32_t row)
{
    return log->obs + (size_t)row * (size_t)log->nobs;
}

static const double *action_at(const rh_log *log, int32_t t)
{
    return log->act + (size_t)t * (size_t)log->nact;
}

static bool ends_at(const rh_log *log, int32_t t)
{
    return log->flag[t] & RH_FLAG_TERMINAL;
}

// ---------------------------------------------------------------------------- ranges

static void widen(rh_nn__span *span, int i, double x, bool first)
{
    span->lo[i] = first || x < span->lo[i] ? x : span->lo[i];
    span->hi[i] = first || x > span->hi[i] ? x : span->hi[i];
}

// s' - s without overflow.
static double change_of(double from, double to)
{
    double d = to - from;
    return d > DBL_MAX ? DBL_MAX : d < -DBL_MAX ? -DBL_MAX : d;
}

static double target_of(const rh_nn *nn, double from, double to)
{
    return nn->change ? change_of(from, to) : to;
}

static void measure_targets(rh_nn *nn, const rows *r)
{
    const rh_log *log = r->model->log;
    rh_nn__span *end = &nn->target[RH_NN_OF_END];
    bool first = true;
    for (int64_t k = 0; k < r->part->nuse; k++) {
        int32_t t = r->part->use[k], to = log->to[t];
        const double *s = state_at(log, log->from[t]);
        for (int i = 0; i < nn->nobs; i++)
            widen(&nn->sensor, i, s[i], k == 0);
        widen(&nn->target[RH_NN_OF_REWARD], 0, log->reward[t], k == 0);
        widen(end, 0, ends_at(log, t) ? 1.0 : 0.0, k == 0);
        if (to == RH_UNKNOWN)
            continue;
        const double *next = state_at(log, to);
        for (int i = 0; i < nn->nobs; i++) {
            widen(&nn->sensor, i, next[i], false);
            widen(&nn->target[RH_NN_OF_STATE], i, target_of(nn, s[i], next[i]), first);
        }
        first = false;
    }

    // an end is 0 or 1
    if (end->lo[0] < end->hi[0])
        end->lo[0] = -1.0;
}

static void widen_code(rh_nn *nn, const rows *r, const double *obs, const double *act,
                       float *scratch, bool first)
{
    float *code = r->x; // still unused
    rh_repr__encode_one(r->model->repr, obs, nn->both ? act : NULL, scratch, code);
    for (int i = 0; i < rh_repr__ncode(r->model->repr); i++)
        widen(&nn->input, i, (double)code[i], first);
}

// Ranges of sensors, or of the codes at both ends of a step.
static void measure_inputs(rh_nn *nn, const rows *r, float *scratch)
{
    const rh_log *log = r->model->log;
    int n = nn->code ? rh_repr__ncode(r->model->repr) : nn->nobs;
    for (int64_t k = 0; k < r->part->nuse; k++) {
        int32_t t = r->part->use[k], to = log->to[t];
        const double *act = action_at(log, t);
        for (int i = n; i < nn->input.n; i++)
            widen(&nn->input, i, act[i - n], k == 0);
        if (nn->code)
            widen_code(nn, r, state_at(log, log->from[t]), act, scratch, k == 0);
        if (nn->code && !nn->both && to != RH_UNKNOWN)
            widen_code(nn, r, state_at(log, to), act, scratch, false);
    }
    if (nn->code)
        return;
    memcpy(nn->input.lo, nn->sensor.lo, (size_t)n * sizeof(double));
    memcpy(nn->input.hi, nn->sensor.hi, (size_t)n * sizeof(double));
}

// ---------------------------------------------------------------------------- rows

static void fill_rows(rows *r, const rh_nn *nn, float *scratch)
{
    const rh_log *log = r->model->log;
    for (int64_t k = 0; k < r->part->nuse; k++) {
        int32_t t = r->part->use[k], to = log->to[t];
        const double *s = state_at(log, log->from[t]);
        rh_nn__input(nn, r->model->repr, s, action_at(log, t), scratch,
                     r->x + (size_t)k * (size_t)nn->ninput);
        r->y[RH_NN_OF_REWARD][k] =
            rh_nn__scale(&nn->target[RH_NN_OF_REWARD], 0, log->reward[t]);
        r->y[RH_NN_OF_END][k] = ends_at(log, t) ? 1.0f : 0.0f;
        r->known[k] = to != RH_UNKNOWN;
        if (to == RH_UNKNOWN)
            continue;
        const double *next = state_at(log, to);
        float *y = r->y[RH_NN_OF_STATE] + (size_t)k * (size_t)nn->nobs;
        for (int i = 0; i < nn->nobs; i++)
            y[i] = rh_nn__scale(&nn->target[RH_NN_OF_STATE], i, target_of(nn, s[i], next[i]));
    }
}

// Whether row k is another copy of the transition before it.
static bool repeats(const rh_model__part *part, int64_t k)
{
    return k > 0 && part->use[k] == part->use[k - 1];
}

static rh_status hold_out(rows *r, double share, rh_rng *rng, rh_error *err)
{
    const rh_model__part *part = r->part;
    int32_t *list = rh_alloc((size_t)part->nuse, sizeof *list);
    if (!list)
        return rh_fail(err, RH_ENOMEM, "nn: out of memory for training");
    for (int end = 0; end < 2; end++) {
        int64_t n = 0;
        for (int64_t k = 0; k < part->nuse; k++)
            if (!repeats(part, k) && ends_at(r->model->log, part->use[k]) == end)
                list[n++] = (int32_t)k;
        int64_t nheld = (int64_t)(share * (double)n);
        for (int64_t i = 0; i < nheld; i++) {
            int64_t j = i + rh_rng_below(rng, (uint32_t)(n - i));
            r->held[list[j]] = 1;
            list[j] = list[i];
        }
    }
    for (int64_t k = 1; k < part->nuse; k++)
        if (repeats(part, k))
            r->held[k] = r->held[k - 1];
    rh_free(list);
    return RH_OK;
}

static rh_status make_rows(rows *r, const rh_nn *nn, rh_error *err)
{
    size_t n = (size_t)r->part->nuse;
    r->x = rh_scratch__take(&r->scratch, n * (size_t)nn->ninput, sizeof(float));
    for (int i = 0; i < RH_NN_NNET; i++)
        r->y[i] = rh_scratch__take(&r->scratch, n * (size_t)nn->target[i].n, sizeof(float));
    r->known = rh_scratch__take(&r->scratch, n, 1);
    r->held = rh_scratch__take(&r->scratch, n, 1);
    if (!r->scratch.failed)
        return RH_OK;
    return rh_fail(err, RH_ENOMEM, "nn: out of memory for %lld transitions", (long long)n);
}

// ---------------------------------------------------------------------------- networks

// Train a network for each target that varies, and give them to nn.
static rh_status train_networks(rh_nn *nn, const rows *r, rh_rng *rng, rh_error *err)
{
    const double *param = r->model->param;
    const rh_model__part *part = r->part;
    rh_nn__learner learner[RH_NN_NNET] = {{.mlp = NULL}};
    int of[RH_NN_NNET], n = 0;
    uint64_t seed = rh_rng__bits(rng);

    rh_status rc = RH_OK;
    for (int k = 0; !rc && k < RH_NN_NNET; k++) {
        if (!rh_nn__varies(nn, k))
            continue;
        rh_mlp *mlp = NULL;
        rh_rng own = rh_rng_stream(seed, RH_STREAM_NOISE, (uint64_t)k, 0);
        rc = rh_nn__network(&mlp, nn, k, (int)param[RH_NN_HIDDEN], &own, err);
        if (rc)
            break;
        const uint8_t *known = k == RH_NN_OF_STATE ? r->known : NULL;
        of[n] = k;
        rc = rh_nn__learner_init(&learner[n++], mlp, param, r->x, r->y[k], part->nuse, known,
                                 r->held, own, err);
    }
    if (!rc)
        rc = rh_nn__train(learner, n, part->nthread, &part->watch, err);
    for (int i = 0; !rc && i < n; i++) {
        nn->net[of[i]] = learner[i].mlp;
        learner[i].mlp = NULL;
    }
    for (int i = 0; i < n; i++)
        rh_nn__learner_clear(&learner[i]);
    return rc;
}

rh_status rh_nn__fit(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err)
{
    rh_nn *nn = NULL;
    float *scratch = NULL;
    rows r = {.model = model, .part = part};
    rh_rng rng = part->rng;

    rh_status rc = rh_nn__create(&nn, model, err);
    if (rc)
        goto done;
    rc = make_rows(&r, nn, err);
    if (rc)
        goto done;
    scratch = rh_alloc(rh_nn__nscratch(nn, model->repr), sizeof *scratch);
    if (!scratch) {
        rc = rh_base__no_memory(err, "nn");
        goto done;
    }

    measure_targets(nn, &r);
    measure_inputs(nn, &r, scratch);
    fill_rows(&r, nn, scratch);
    rc = hold_out(&r, model->param[RH_NN_HELD_OUT], &rng, err);
    if (rc)
        goto done;
    rc = train_networks(nn, &r, &rng, err);
    if (rc)
        goto done;
    *out = nn;
    nn = NULL;

done:
    rh_free(scratch);
    rh_scratch__clear(&r.scratch);
    rh_nn__destroy(nn);
    return rc;
}
