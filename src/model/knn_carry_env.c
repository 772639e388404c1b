// knn_carry_env.c - the environment of a member that carries differences over.
//
// A step finds the k nearest transitions of its action to the present state, draws one as the
// other environments of this model do, and goes to where that step leads from here
// (knn_arrive.c). States are not those of the log, so there are no fixed observations.
//
// 1. Every step takes one random number, as in the other environments.
// 2. The code of a state is computed once, when it is reached: judging the end needs it, and so
//    does the next step.
// 3. A state farther than the reach from its nearest transition is out of coverage, as in the
//    other environments. Carrying can lead there. This is what bounds a run.
// 4. A plant that is never reset must be brought back by the agent. A new start would rescue
//    it: of a chiller (bench/chiller.c, seed 16) a model with new starts promised -8,600, with
//    2 of 10,000 steps out of coverage, and the plant gave -36,600. So a step goes on there,
//    with at most the lowest reward of the log.
// 5. A sensor that no action moves stays within its logged range: the agent cannot lead it out,
//    and small errors would add up. All others stay within MOST_RANGES_OUT ranges beside the
//    log's: farther out it says nothing, not even whether there is a wall. Without a reach,
//    local maps of a log of two heaters led to 1e3 ranges.

#include "knn_internal.h"
#include "repr/repr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_RANGES_OUT 1.0 // decision 5; by hand, as nothing is known there

typedef struct carried {
    rh_knn__finder in;
    double lo[RH_MAX_OBS], hi[RH_MAX_OBS]; // decision 5                            (nobs)
} carried;

typedef struct place {
    rh_knn__arrival at; // its next is the present state
    bool uncovered;
    _Alignas(64) float point[RH_NEIGHBOURS_DIM];
    _Alignas(64) float scratch[]; // (rh_repr__nscratch)
} place;

static void enter(const rh_model *model, place *here, int32_t row)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr);
    memcpy(here->at.next, log->obs + (int64_t)row * log->nobs,
           (size_t)log->nobs * sizeof *here->at.next);
    if (model->code)
        memcpy(here->at.code, model->code + (int64_t)row * d, (size_t)d * sizeof(float));
    here->uncovered = false;
}

void rh_knn__stand_anywhere(const rh_model *model, const rh_env *env, void *state, int32_t row)
{
    (void)env;
    enter(model, state, row);
}

static void show(const carried *w, const place *here, double *obs)
{
    memcpy(obs, here->at.next, (size_t)w->in.model->log->nobs * sizeof *obs);
}

static void begin(const void *self, void *state, rh_streams *streams, double *obs)
{
    const carried *w = self;
    const rh_model *model = w->in.model;
    place *here = state;
    enter(model, here, model->start[rh_rng_below(&streams->start, (uint32_t)model->nstart)]);
    show(w, here, obs);
}

// The nearest transitions in an index, by position; how many.
static int find_in(const rh_neighbours *points, const int32_t *who, const float *query, int k,
                   int32_t *position, float *distance)
{
    int found = points ? rh_neighbours__find(points, query, k, -1, position, distance) : 0;
    int n = 0;
    for (; n < found && !isinf(distance[n]); n++) {
        position[n] = who ? who[position[n]] : position[n];
        distance[n] = sqrtf(distance[n]);
    }
    return n;
}

// Replace far ones among n neighbours by nearer ones of other actions; how many there are.
static int stand_in(const carried *w, const float *query, int action, int n, int32_t *position,
                    float *distance)
{
    const rh_knn *knn = w->in.knn;
    int32_t other[RH_NEIGHBOURS_MOST];
    float far[RH_NEIGHBOURS_MOST];
    for (int a = 0; a < knn->nsteps; a++) {
        if (a == action)
            continue;
        int m =
            find_in(knn->steps[a].points, knn->steps[a].position, query, w->in.k, other, far);
        for (int i = 0; i < m; i++) {
            float d = sqrtf(far[i] * far[i] + (float)(knn->apart * knn->apart));
            if (n == w->in.k && d >= distance[n - 1])
                break;
            int at = n < w->in.k ? n++ : n - 1;
            for (; at > 0 && distance[at - 1] > d; at--) {
                distance[at] = distance[at - 1];
                position[at] = position[at - 1];
            }
            distance[at] = d;
            position[at] = other[i];
        }
    }
    return n;
}

// The nearest transitions to the present state and act, by position; how many.
static int find(const carried *w, place *here, const double *act, int32_t *position,
                float *distance)
{
    const rh_knn *knn = w->in.knn;
    if (knn->points) {
        rh_knn__point(knn, w->in.model, w->in.model->code ? here->at.code : NULL, here->at.next,
                      act, here->scratch, here->point);
        return find_in(knn->points, NULL, here->point, w->in.k, position, distance);
    }
    const rh_knn__steps *steps = &knn->steps[(int)act[0]];
    int n = find_in(steps->points, steps->position, here->at.code, w->in.k, position, distance);
    if (n > 0 && (n < w->in.k || (double)distance[n - 1] > knn->apart))
        n = stand_in(w, here->at.code, (int)act[0], n, position, distance);
    return n;
}

static int32_t first_that_goes_on(const carried *w, const int32_t *position, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t t = rh_knn__transition(w->in.knn, position[i]);
        if (!(w->in.model->log->flag[t] & RH_FLAG_TERMINAL))
            return position[i];
    }
    return -1;
}

// Keep a state within w->lo and w->hi.
static void keep_within(const carried *w, place *here)
{
    const rh_model *model = w->in.model;
    double *s = here->at.next;
    bool moved = false;
    for (int k = 0; k < model->log->nobs; k++) {
        double was = s[k];
        s[k] = fmin(fmax(was, w->lo[k]), w->hi[k]);
        moved = moved || s[k] != was;
    }
    if (moved && model->code)
        rh_repr__encode_one(model->repr, s, NULL, here->scratch, here->at.code);
}

static bool step(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    const carried *w = self;
    place *here = state;
    bool continuing = w->in.model->task.continuing;
    int32_t position[RH_NEIGHBOURS_MOST];
    float distance[RH_NEIGHBOURS_MOST];
    double s[RH_MAX_OBS];
    int n = find(w, here, act, position, distance);
    double u = rh_rng_uniform(&streams->noise);

    // out of coverage: the end, or in a continuing task a new start
    bool far = n == 0 || (double)distance[0] > w->in.rules.reach;
    if (n == 0 || (far && !w->in.rules.charged && !w->in.rules.goes_on)) {
        *reward = w->in.rules.given;
        if (continuing)
            begin(self, state, streams, obs);
        else
            show(w, here, obs);
        here->uncovered = true;
        return !continuing;
    }

    int chosen = rh_knn__draw(w->in.param, distance, n, u);
    double past = (double)distance[chosen] - w->in.rules.reach;
    memcpy(s, here->at.next, (size_t)w->in.model->log->nobs * sizeof *s);
    rh_knn__arrive(w->in.knn, w->in.model, position[chosen], first_that_goes_on(w, position, n),
                   s, act, here->scratch, &here->at);
    *reward = here->at.reward;
    *reward -= w->in.rules.toll > 0.0 && past > 0.0 ? w->in.rules.toll * past : 0.0;
    if (far && w->in.rules.goes_on)
        *reward = fmin(*reward, w->in.model->task.reward_lo);
    keep_within(w, here);
    bool ends = here->at.ends;
    if (ends && continuing)
        begin(self, state, streams, obs);
    else
        show(w, here, obs);
    here->uncovered = far;
    return ends && !continuing;
}

static bool uncovered(const void *self, const void *state)
{
    (void)self;
    return ((const place *)state)->uncovered;
}

static const rh_env_type type = {
    RH_KNN__ENV_TYPE,
    .about = "nearest neighbours in a log, with differences carried over",
    .self_size = sizeof(carried),
    .state_size = sizeof(place),
    .uncovered = uncovered,
};

static void set_bounds(carried *w)
{
    const rh_log *log = w->in.model->log;
    const rh_task *task = &w->in.model->task;
    for (int k = 0; k < log->nobs; k++) {
        double far = MOST_RANGES_OUT * (task->obs_hi[k] - task->obs_lo[k]), lo = INFINITY,
               hi = -INFINITY;
        for (int64_t i = 0; i < log->nstate; i++) {
            lo = fmin(lo, log->obs[i * log->nobs + k]);
            hi = fmax(hi, log->obs[i * log->nobs + k]);
        }
        bool exogenous = w->in.model->facts->sensor[k].exogenous;
        w->lo[k] = exogenous ? lo : fmin(lo, task->obs_lo[k]) - far;
        w->hi[k] = exogenous ? hi : fmax(hi, task->obs_hi[k]) + far;
    }
}

rh_status rh_knn__carry_env(rh_env **out, const rh_model *model, const rh_knn *knn,
                            const double *param, rh_error *err)
{
    carried *w = rh_knn__make_finder(sizeof *w, model, knn, param);
    if (w)
        set_bounds(w);
    return rh_knn__finder_env(out, &type, w ? &w->in : NULL, sizeof(place), err);
}
