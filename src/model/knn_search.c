// knn_search.c - continuous actions: searches the neighbours of a state and an action.
//
// A point is the code of the state, followed by the numbers of the action, each scaled from its
// range in the log to -1 .. 1, times action_weight; or the representation's code of both.
//
// 1. An action is clamped to the range of the log, because the log says nothing outside it.
// 2. The state block has the memory that a search needs, so a step allocates nothing.

#include "knn_internal.h"
#include "repr/repr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define AT_ONCE 1024 // transitions encoded together

// ---------------------------------------------------------------------------- points

void rh_knn__scale_actions(rh_knn *knn, const rh_model *model)
{
    const rh_log *log = model->log;
    for (int k = 0; k < log->nact; k++) {
        knn->lo[k] = INFINITY;
        knn->hi[k] = -INFINITY;
        for (int64_t i = 0; i < log->n; i++) {
            knn->lo[k] = fmin(knn->lo[k], log->act[i * log->nact + k]);
            knn->hi[k] = fmax(knn->hi[k], log->act[i * log->nact + k]);
        }
    }
}

double rh_knn__clamp_action(const rh_knn *knn, int k, double act)
{
    return fmin(fmax(act, knn->lo[k]), knn->hi[k]);
}

// Clamped and scaled to -1 .. 1; 0 if it never changes.
static double scaled(const rh_knn *knn, int k, double act)
{
    double half = 0.5 * knn->hi[k] - 0.5 * knn->lo[k];
    double centre = 0.5 * knn->hi[k] + 0.5 * knn->lo[k];
    return half > 0.0 ? (rh_knn__clamp_action(knn, k, act) - centre) / half : 0.0;
}

static void put_action(const rh_knn *knn, const rh_model *model, const double *act,
                       float *point)
{
    for (int k = 0; k < model->log->nact; k++)
        point[k] = (float)(scaled(knn, k, act[k]) * model->param[RH_KNN_ACTION_WEIGHT]);
}

void rh_knn__point(const rh_knn *knn, const rh_model *model, const float *code,
                   const double *obs, const double *act, float *scratch, float *point)
{
    int nact = model->log->nact, ncode = rh_repr__ncode(model->repr);
    if (rh_repr__nact(model->repr) > 0) {
        double within[RH_MAX_ACT];
        for (int k = 0; k < nact; k++)
            within[k] = rh_knn__clamp_action(knn, k, act[k]);
        rh_repr__encode_one(model->repr, obs, within, scratch, point);
        return;
    }
    if (code)
        memcpy(point, code, (size_t)ncode * sizeof *point);
    else
        rh_repr__encode_one(model->repr, obs, NULL, scratch, point);
    put_action(knn, model, act, point + ncode);
}

// The code of a row, or NULL if codes are of state and action.
static const float *code_of(const rh_model *model, int32_t row)
{
    return model->code ? model->code + (int64_t)row * rh_repr__ncode(model->repr) : NULL;
}

// The points of the transitions in use, from the codes of states.
static void join(const rh_knn *knn, const rh_model *model, float *point)
{
    const rh_log *log = model->log;
    size_t ncode = (size_t)rh_repr__ncode(model->repr);
    for (int64_t i = 0; i < knn->nuse; i++, point += knn->npoint) {
        int64_t t = rh_knn__transition(knn, i);
        memcpy(point, code_of(model, log->from[t]), ncode * sizeof *point);
        put_action(knn, model, log->act + t * log->nact, point + ncode);
    }
}

// The same if codes are of state and action, computed in batches.
static rh_status encode(const rh_knn *knn, const rh_model *model, float *point, rh_error *err)
{
    const rh_log *log = model->log;
    size_t nobs = (size_t)log->nobs, nact = (size_t)log->nact;
    double *obs = rh_alloc(AT_ONCE, nobs * sizeof *obs);
    double *act = rh_alloc(AT_ONCE, nact * sizeof *act);
    rh_status rc = RH_OK;
    if (!obs || !act) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    for (int64_t first = 0; !rc && first < knn->nuse; first += AT_ONCE) {
        int64_t n = knn->nuse - first < AT_ONCE ? knn->nuse - first : AT_ONCE;
        for (int64_t i = 0; i < n; i++) {
            int64_t t = rh_knn__transition(knn, first + i);
            memcpy(obs + (size_t)i * nobs, log->obs + (size_t)log->from[t] * nobs,
                   nobs * sizeof *obs);
            memcpy(act + (size_t)i * nact, log->act + (size_t)t * nact, nact * sizeof *act);
        }
        rc = rh_repr__encode(model->repr, n, obs, act, point + first * knn->npoint, err);
    }

done:
    rh_free(obs);
    rh_free(act);
    return rc;
}

rh_status rh_knn__make_points(rh_knn *knn, const rh_model *model, float **out, rh_error *err)
{
    const rh_log *log = model->log;
    bool both = rh_repr__nact(model->repr) > 0;
    int ncode = rh_repr__ncode(model->repr);
    knn->npoint = ncode + (both ? 0 : log->nact);
    if (knn->npoint > RH_NEIGHBOURS_DIM)
        return rh_fail(err, RH_EINVAL,
                       "knn: codes of %d and actions of %d numbers, expected at most %d "
                       "together",
                       ncode, log->nact, RH_NEIGHBOURS_DIM);
    rh_status rc = RH_OK;
    float *point = rh_alloc((size_t)knn->nuse, (size_t)knn->npoint * sizeof *point);
    if (!point)
        return rh_base__no_memory(err, "knn");
    if (both)
        rc = encode(knn, model, point, err);
    else
        join(knn, model, point);
    if (!rc)
        rc = rh_neighbours__create(&knn->points, point, knn->nuse, knn->npoint, err);
    if (!rc && out) {
        *out = point;
        point = NULL;
    }
    rh_free(point);
    return rc;
}

int rh_knn__search(const rh_knn *knn, const float *point, int k, int32_t *transition,
                   float *distance)
{
    int found = rh_neighbours__find(knn->points, point, k, -1, transition, distance), n = 0;
    for (; n < found && !isinf(distance[n]); n++) {
        transition[n] = rh_knn__transition(knn, transition[n]);
        distance[n] = sqrtf(distance[n]);
    }
    return n;
}

// ---------------------------------------------------------------------------- the environment

typedef struct place {
    rh_knn__place at;
    _Alignas(64) float point[RH_NEIGHBOURS_DIM];
    _Alignas(64) float scratch[]; // (rh_repr__nscratch)
} place;

static void show(const rh_knn__finder *w, int32_t row, double *obs)
{
    const rh_log *log = w->model->log;
    memcpy(obs, log->obs + (int64_t)row * log->nobs, (size_t)log->nobs * sizeof *obs);
}

static void begin(const void *self, void *state, rh_streams *streams, double *obs)
{
    const rh_knn__finder *w = self;
    place *here = state;
    here->at.row = w->model->start[rh_rng_below(&streams->start, (uint32_t)w->model->nstart)];
    here->at.uncovered = false;
    show(w, here->at.row, obs);
}

static bool step(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    const rh_knn__finder *w = self;
    const rh_model *model = w->model;
    place *here = state;
    int32_t transition[RH_NEIGHBOURS_MOST];
    float distance[RH_NEIGHBOURS_MOST];
    const double *now = model->log->obs + (int64_t)here->at.row * model->log->nobs;
    rh_knn__point(w->knn, model, code_of(model, here->at.row), now, act, here->scratch,
                  here->point);
    int n = rh_knn__search(w->knn, here->point, w->k, transition, distance);
    double u = rh_rng_uniform(&streams->noise);

    // out of coverage: the end, or in a continuing task a new start
    bool far = n == 0 || (double)distance[0] > w->rules.reach;
    if (n == 0 || (far && !w->rules.charged)) {
        *reward = w->rules.given;
        if (model->task.continuing)
            begin(self, state, streams, obs);
        else
            show(w, here->at.row, obs);
        here->at.uncovered = true;
        return !model->task.continuing;
    }

    int chosen = rh_knn__draw(w->param, distance, n, u);
    rh_knn__outcome o = rh_knn__outcome_of(model, transition[chosen]);
    double past = (double)distance[chosen] - w->rules.reach;
    *reward = o.reward - (w->rules.toll > 0.0 && past > 0.0 ? w->rules.toll * past : 0.0);
    if (o.begins) {
        begin(self, state, streams, obs);
    } else {
        here->at.row = o.to;
        show(w, o.to, obs);
    }
    here->at.uncovered = far;
    return o.ends;
}

static const double *entries(const void *self, int32_t *n)
{
    const rh_log *log = ((const rh_knn__finder *)self)->model->log;
    *n = (int32_t)log->nstate;
    return log->obs;
}

static const rh_env_type type = {
    RH_KNN__ENV_TYPE,
    .about = "nearest neighbours in a log, searched for",
    .self_size = sizeof(rh_knn__finder),
    .state_size = sizeof(place),
    .fixed_obs = entries,
    .obs_index = rh_knn__obs_index,
    .uncovered = rh_knn__uncovered,
};

void *rh_knn__make_finder(size_t size, const rh_model *model, const rh_knn *knn,
                          const double *param)
{
    rh_knn__finder *w = rh_alloc(1, size);
    if (!w)
        return NULL;
    *w = (rh_knn__finder){.model = model, .knn = knn, .k = (int)param[RH_KNN_K]};
    memcpy(w->param, param, sizeof w->param);
    w->rules = rh_knn__make_rules(knn, model, param);
    return w;
}

rh_status rh_knn__finder_env(rh_env **out, const rh_env_type *of, rh_knn__finder *finder,
                             size_t nplace, rh_error *err)
{
    if (!finder)
        return rh_base__no_memory(err, "knn");
    rh_task task = rh_knn__task(finder->model, &finder->rules);
    size_t size = nplace + rh_repr__nscratch(finder->model->repr) * sizeof(float);
    rh_status rc = rh_env_adopt(out, of, &task, finder->param, finder, size, err);
    if (rc)
        rh_free(finder);
    return rc;
}

rh_status rh_knn__search_env(rh_env **out, const rh_model *model, const rh_knn *knn,
                             const double *param, rh_error *err)
{
    return rh_knn__finder_env(out, &type,
                              rh_knn__make_finder(sizeof(rh_knn__finder), model, knn, param),
                              sizeof(place), err);
}
