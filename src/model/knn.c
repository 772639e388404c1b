// knn.c - the nearest-neighbour model: steps of the log, stitched together.
//
// The paper's calibration model. For state s and action a, it finds the k transitions of the
// log that took a (or, if continuous, a similar action) in the states nearest to s by distance
// of codes. It draws one, the nearer the more probable, and gives its reward and next state.
// Out of coverage the episode ends with a default return (knn_reach.c, knn_sample.c).
//
// 1. Discrete actions are looked up in a table built once (knn_table.c, knn_env.c). Continuous
//    ones are searched (knn_search.c).
// 2. Parameters that do not change the neighbours can be changed without another fit: a smaller
//    k, weights, reach, and the behaviour out of coverage.
// 3. With carry = none a step leads to a logged state: the paper's model. Otherwise the
//    difference from the neighbour is carried over (knn_carry.c), and agents can leave the log.
// 4. Predictions for a state of the log come from the table. Any other observation is compared
//    with all transitions of its action; no index is kept for it.

#include "facts.h"
#include "knn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

static const char *const weights_name[] = {"paper", "inverse", "uniform", "kernel"};
static const char *const distance_name[] = {"norm", "squared"};
static const char *const reach_name[] = {"none", "fixed", "quantile", "auto"};
static const char *const out_of_coverage_name[] = {"pessimistic", "optimistic", "cost"};
static const char *const carry_name[] = {"none", "log", "action", "local"};

const rh_param rh_knn__param[RH_KNN_NPARAM] = {
    [RH_KNN_K] = {"k", "neighbours per step", .lo = 1, .hi = 64, .initial = 3, .whole = true},
    [RH_KNN_WEIGHTS] = {"weights", "probability of a neighbour by its distance", .lo = 0,
                        .hi = 3, .initial = RH_KNN_PAPER, .choice = weights_name},
    [RH_KNN_DISTANCE] = {"distance", "distance used by the weights: the norm or its square",
                         .lo = 0, .hi = 1, .initial = RH_KNN_NORM, .choice = distance_name},
    [RH_KNN_REACH] = {"reach", "coverage radius: largest distance of the nearest neighbour",
                      .lo = 0, .hi = 3, .initial = RH_KNN_AUTO, .choice = reach_name},
    [RH_KNN_REACH_DISTANCE] = {"reach_distance", "the radius of reach = fixed, in codes",
                               .lo = 0.0, .hi = 1e30, .initial = 1.0},
    [RH_KNN_REACH_QUANTILE] =
        {"reach_quantile", "the quantile of reach = quantile, of the distances of all queries",
         .lo = 0.0, .hi = 1.0, .initial = 0.99},
    [RH_KNN_OUT_OF_COVERAGE] = {"out_of_coverage",
                                "result out of coverage: the log's worst return, its best, "
                                "or the neighbours at a cost",
                                .lo = 0, .hi = 2, .initial = RH_KNN_PESSIMISTIC,
                                .choice = out_of_coverage_name},
    [RH_KNN_COST] = {"cost",
                     "reward lost per median step of distance, for out_of_coverage = cost",
                     .lo = 0.0, .hi = 1e12, .initial = 1.0},
    [RH_KNN_ACTION_WEIGHT] =
        {"action_weight", "weight of continuous actions, scaled to -1 .. 1, relative to codes",
         .lo = 0.0, .hi = 1e6, .initial = 1.0, .fixed = true},
    [RH_KNN_CARRY] =
        {"carry",
         "carry the difference from the neighbour's state over to the next: not at "
         "all, or as learned from the log, each action, or around each transition",
         .lo = 0, .hi = 3, .initial = RH_KNN_STITCH, .choice = carry_name, .fixed = true},
    [RH_KNN_CAP] = {"cap", "most that a step may enlarge a carried difference, as a factor",
                    .lo = 0.0, .hi = 100.0, .initial = 1.6, .fixed = true},
};

// ---------------------------------------------------------------------------- fitting

void rh_knn__destroy(void *member)
{
    rh_knn *knn = member;
    if (!knn)
        return;
    rh_neighbours__destroy(knn->points);
    for (int a = 0; a < knn->nsteps; a++) {
        rh_neighbours__destroy(knn->steps[a].points);
        rh_free(knn->steps[a].position);
    }
    for (int end = 0; end < 2; end++) {
        rh_neighbours__destroy(knn->arrival[end]);
        rh_free(knn->arrived[end]);
    }
    rh_free(knn->steps);
    rh_free(knn->slope);
    rh_free(knn->change);
    rh_free(knn->label);
    rh_expression__clear(&knn->formula);
    rh_free(knn->margin);
    rh_free(knn->use);
    rh_free(knn->index);
    rh_free(knn->distance);
    rh_free(knn->near);
    rh_free(knn);
}

rh_status rh_knn__keep_use(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                           rh_error *err)
{
    knn->nuse = part->nuse;
    bool all = part->nuse == model->log->n;
    for (int64_t i = 0; all && i < part->nuse; i++)
        all = part->use[i] == i;
    if (all)
        return RH_OK;
    knn->use = rh_alloc((size_t)part->nuse, sizeof *knn->use);
    if (!knn->use)
        return rh_base__no_memory(err, "knn");
    memcpy(knn->use, part->use, (size_t)part->nuse * sizeof *knn->use);
    return RH_OK;
}

// All that a member needs to carry.
static rh_status fit_carry(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                           rh_error *err)
{
    rh_status rc = rh_knn__index_steps(knn, model, err);
    if (!rc)
        rc = rh_knn__fit_carry(knn, model, part, err);
    if (!rc)
        rc = rh_knn__index_arrivals(knn, model, part->nthread, err);
    if (!rc)
        rc = rh_knn__fit_reward(knn, model, err);
    if (!rc)
        rh_knn__bound_rewards(knn, model);
    return rc;
}

static rh_status fit(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err)
{
    rh_knn *knn = rh_alloc(1, sizeof *knn);
    float *point = NULL;
    rh_status rc = RH_OK;
    if (!knn) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    knn->k = (int)model->param[RH_KNN_K];
    rh_knn__scale_actions(knn, model);
    rc = rh_knn__keep_use(knn, model, part, err);
    if (!rc)
        rc = model->log->naction ? rh_knn__make_table(knn, model, part, err)
                                 : rh_knn__make_points(knn, model, &point, err);
    if (!rc && model->param[RH_KNN_CARRY] != RH_KNN_STITCH)
        rc = fit_carry(knn, model, part, err);
    if (!rc && part->ask)
        knn->reach = INFINITY; // the caller applies the reach of the full member
    else if (!rc)
        rc = rh_knn__measure(knn, model, point, part->rng, err);
    if (rc)
        goto done;

    *out = knn;
    knn = NULL;

done:
    rh_knn__destroy(knn);
    rh_free(point);
    return rc;
}

// ---------------------------------------------------------------------------- using it

static rh_status env(rh_env **out, const rh_model *model, const void *member,
                     const double *param, rh_error *err)
{
    const rh_knn *knn = member;
    if (param[RH_KNN_K] > knn->k)
        return rh_fail(err, RH_EINVAL, "knn: k = %g, expected at most %d as fitted; fit again",
                       param[RH_KNN_K], knn->k);
    if (param[RH_KNN_ACTION_WEIGHT] != model->param[RH_KNN_ACTION_WEIGHT])
        return rh_fail(err, RH_EINVAL,
                       "knn: action_weight = %g, expected %g as fitted; fit again",
                       param[RH_KNN_ACTION_WEIGHT], model->param[RH_KNN_ACTION_WEIGHT]);
    const int fitted[] = {RH_KNN_CARRY, RH_KNN_CAP};
    for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++)
        if (param[fitted[i]] != model->param[fitted[i]])
            return rh_fail(
                err, RH_EINVAL,
                "knn: %s differs from the fitted model, expected the same; fit again",
                rh_knn__param[fitted[i]].name);
    if (knn->slope)
        return rh_knn__carry_env(out, model, knn, param, err);
    return knn->points ? rh_knn__search_env(out, model, knn, param, err)
                       : rh_knn__table_env(out, model, knn, param, err);
}

int64_t rh_knn__row_of(const rh_log *log, const double *obs)
{
    uintptr_t first = (uintptr_t)log->obs, at = (uintptr_t)obs;
    size_t width = (size_t)log->nobs * sizeof *obs;
    if (at < first || at >= first + (size_t)log->nstate * width || (at - first) % width)
        return -1;
    return (int64_t)((at - first) / width);
}

// The nearest transitions to a code among all of an action, as in the table; how many, up to k.
static int compare_all(const rh_knn *knn, const rh_model *model, const float *code, int action,
                       int32_t *transition, float *distance)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr), n = 0;
    float square[RH_NEIGHBOURS_MOST + 1] = {0};
    for (int64_t i = 0; i < knn->nuse; i++) {
        int32_t t = rh_knn__transition(knn, i);
        if ((int)log->act[t] != action)
            continue;
        const float *other = model->code + (int64_t)log->from[t] * d;
        float sum = 0.0f;
        for (int j = 0; j < d; j++)
            sum = sum + (code[j] - other[j]) * (code[j] - other[j]);
        if (isinf(sum))
            continue;

        // insert behind equal distances, and drop the last
        int at = n;
        for (; at > 0 && sum < square[at - 1]; at--)
            square[at] = square[at - 1];
        square[at] = sum;
        memmove(transition + at + 1, transition + at, (size_t)(n - at) * sizeof *transition);
        transition[at] = t;
        n = n < knn->k ? n + 1 : n;
    }
    for (int i = 0; i < n; i++)
        distance[i] = sqrtf(square[i]);
    return n;
}

// The neighbours of an observation that is not in the log.
static rh_status ask(const rh_knn *knn, const rh_model *model, const double *obs,
                     const double *act, int32_t *transition, float *distance, int *n,
                     rh_error *err)
{
    float point[RH_NEIGHBOURS_DIM];
    float *scratch = rh_alloc(rh_repr__nscratch(model->repr), sizeof *scratch);
    if (!scratch)
        return rh_base__no_memory(err, "knn");
    if (knn->points) {
        rh_knn__point(knn, model, NULL, obs, act, scratch, point);
        *n = rh_knn__search(knn, point, knn->k, transition, distance);
    } else {
        rh_repr__encode_one(model->repr, obs, NULL, scratch, point);
        *n = compare_all(knn, model, point, (int)act[0], transition, distance);
    }
    rh_free(scratch);
    return RH_OK;
}

int32_t rh_knn__position(const rh_knn *knn, int32_t transition)
{
    int64_t lo = 0, hi = knn->nuse - 1;
    if (!knn->use)
        return transition;
    while (lo < hi) {
        int64_t middle = (lo + hi) / 2;
        if (knn->use[middle] < transition)
            lo = middle + 1;
        else
            hi = middle;
    }
    return (int32_t)lo;
}

// Where transition t leads from obs by act.
static void lead(rh_knn__arrival *out, const rh_knn *knn, const rh_model *model, int32_t t,
                 const double *obs, const double *act, float *scratch)
{
    const rh_log *log = model->log;
    if (knn->slope) {
        rh_knn__arrive(knn, model, rh_knn__position(knn, t), -1, obs, act, scratch, out);
        return;
    }
    out->reward = log->reward[t];
    out->ends = log->flag[t] & RH_FLAG_TERMINAL;
    if (!out->ends)
        memcpy(out->next, log->obs + (int64_t)log->to[t] * log->nobs,
               (size_t)log->nobs * sizeof *out->next);
}

// Bring predictions of sensors that wrap round, which are differences from where they are, back
// to their circles.
static void wrap(const rh_model *model, const double *obs, double *next)
{
    for (int k = 0; k < model->log->nobs; k++) {
        const rh_sensor *sensor = &model->facts->sensor[k];
        if (!isnan(sensor->period))
            next[k] = rh_facts__wrapped(sensor, obs[k] + next[k]);
    }
}

// Means over neighbours with probabilities p (n). The mean of 359 and 1 degrees is 0, not 180.
static rh_status average(rh_model__expected *out, const rh_knn *knn, const rh_model *model,
                         const int32_t *transition, const double *p, int n, const double *obs,
                         const double *act, rh_error *err)
{
    const rh_log *log = model->log;
    const rh_sensor *sensor = model->facts->sensor;
    double going = 0.0;
    rh_knn__arrival to;
    float *scratch = rh_alloc(rh_repr__nscratch(model->repr), sizeof *scratch);
    if (!scratch)
        return rh_base__no_memory(err, "knn");
    for (int i = 0; i < n; i++) {
        lead(&to, knn, model, transition[i], obs, act, scratch);
        out->reward += p[i] * to.reward;
        out->terminal += to.ends ? p[i] : 0.0;
        if (to.ends)
            continue;
        going += p[i];
        for (int k = 0; k < log->nobs; k++)
            out->next[k] += p[i] * (isnan(sensor[k].period)
                                        ? to.next[k]
                                        : rh_facts__moved(&sensor[k], obs[k], to.next[k]));
    }
    for (int k = 0; k < log->nobs; k++)
        out->next[k] = going > 0.0 ? out->next[k] / going : (double)NAN;
    wrap(model, obs, out->next);
    rh_free(scratch);
    return RH_OK;
}

static rh_status expect(rh_model__expected *out, const rh_model *model, const void *member,
                        const double *obs, const double *act, rh_error *err)
{
    const rh_knn *knn = member;
    const rh_log *log = model->log;
    int32_t transition[RH_NEIGHBOURS_MOST + 1]; // one more, to be dropped
    float distance[RH_NEIGHBOURS_MOST];
    double p[RH_NEIGHBOURS_MOST];
    int n = 0;
    int64_t row = knn->points ? -1 : rh_knn__row_of(log, obs);
    if (row >= 0) {
        int64_t at = ((int)act[0] * log->nstate + row) * knn->k;
        for (; n < knn->k && knn->index[at + n] >= 0; n++) {
            transition[n] = knn->index[at + n];
            distance[n] = knn->distance[at + n];
        }
    } else {
        rh_status rc = ask(knn, model, obs, act, transition, distance, &n, err);
        if (rc)
            return rc;
    }

    double *next = out->next;
    *out = (rh_model__expected){.next = next, .distance = NAN, .out_of_coverage = true};
    for (int k = 0; k < log->nobs; k++)
        next[k] = n ? 0.0 : (double)NAN;
    if (n == 0) {
        bool best = (int)model->param[RH_KNN_OUT_OF_COVERAGE] == RH_KNN_OPTIMISTIC;
        out->reward = best ? model->highest : model->lowest;
        out->terminal = model->task.continuing ? 0.0 : 1.0;
        return RH_OK;
    }
    rh_knn__weigh(model->param, distance, n, p);
    out->distance = (double)distance[0];
    out->out_of_coverage = out->distance > rh_knn__reach(knn, model->param);
    return average(out, knn, model, transition, p, n, obs, act, err);
}

static const rh_model_calls calls = {
    .fit = fit,
    .destroy = rh_knn__destroy,
    .env = env,
    .stand = rh_knn__stand,
    .expect = expect,
    .write = rh_knn__write,
    .read = rh_knn__read,
};

const rh_model_type rh_model_knn = {
    .name = "knn",
    .about = "nearest neighbours: steps of the log, stitched together",
    .param = rh_knn__param,
    .nparam = RH_KNN_NPARAM,
    .calls = &calls,
};
