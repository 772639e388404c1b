// nn_sample.h - what tests of neural network models share: logs made of arrays, and a model
// around one that has everything but members.

#ifndef TESTS_MODEL_NN_SAMPLE_H
#define TESTS_MODEL_NN_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/nn_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEP = 4000, MOST_OBS = 8, MOST_ACT = 4 };

// A log as arrays, to be filled by hand, and the model of it.
typedef struct sample {
    double obs[2 * MOST_STEP * MOST_OBS], act[MOST_STEP * MOST_ACT], reward[MOST_STEP];
    int32_t from[MOST_STEP], to[MOST_STEP], use[MOST_STEP], start[MOST_STEP];
    uint8_t flag[MOST_STEP];
    double param[RH_NN_NPARAM];
    rh_log log;
    rh_model model;
    rh_model__part part;
} sample;

// An empty one; actions are vectors of nact numbers when naction is 0.
static inline void begin_sample(sample *s, int nobs, int naction, int nact)
{
    s->log = (rh_log){.nobs = nobs, .naction = naction, .nact = nact, .path = ""};
    s->log.obs = s->obs;
    s->log.act = s->act;
    s->log.reward = s->reward;
    s->log.from = s->from;
    s->log.to = s->to;
    s->log.flag = s->flag;
    rh_param_initial(rh_nn__param, RH_NN_NPARAM, s->param);
    s->model = (rh_model){.type = &rh_model_nn, .param = s->param, .log = &s->log};
    s->model.task = (rh_task){.nobs = nobs, .naction = naction, .nact = nact, .gamma = 1.0};
    s->model.start = s->start;
    s->part = (rh_model__part){.use = s->use, .nthread = 1};
    s->part.rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
}

// One more transition, used; next may be NULL. Its state is a start too.
static inline void add_step(sample *s, const double *obs, const double *act, double reward,
                            const double *next, bool terminal)
{
    int64_t t = s->log.n++;
    size_t nobs = (size_t)s->log.nobs, nact = (size_t)s->log.nact;
    assert_true(t < MOST_STEP);
    s->from[t] = (int32_t)s->log.nstate++;
    memcpy(s->obs + (size_t)s->from[t] * nobs, obs, nobs * sizeof *obs);
    s->to[t] = next ? (int32_t)s->log.nstate++ : RH_UNKNOWN;
    if (next)
        memcpy(s->obs + (size_t)s->to[t] * nobs, next, nobs * sizeof *obs);
    memcpy(s->act + (size_t)t * nact, act, nact * sizeof *act);
    s->reward[t] = reward;
    s->flag[t] = terminal ? RH_FLAG_TERMINAL : 0;
    s->use[s->part.nuse++] = (int32_t)t;
    s->start[s->model.nstart++] = s->from[t];
}

static inline rh_nn *fit_sample(const sample *s)
{
    void *member = NULL;
    rh_error err;
    rh_status rc = rh_model_nn.calls->fit(&member, &s->model, &s->part, &err);
    if (rc)
        fail_msg("%s", err.text);
    return member;
}

static inline rh_model__expected expect(const sample *s, const void *member, const double *obs,
                                        const double *act, double *next)
{
    rh_model__expected e = {.next = next};
    rh_status rc = rh_model_nn.calls->expect(&e, &s->model, member, obs, act, NULL);
    assert_int_equal(rc, RH_OK);
    assert_true(isnan(e.distance));
    assert_false(e.out_of_coverage);
    return e;
}

// s' = A s + B a, r = 3 + s . a: two sensors, and two numbers of action or three actions that
// stand for some.
static inline void linear_truth(const sample *s, const double *obs, const double *act,
                                double *next, double *reward)
{
    static const double vector[3][2] = {{0.5, 0.0}, {-0.5, 0.25}, {0.0, -0.5}};
    const double *a = s->log.naction ? vector[(int)act[0]] : act;
    next[0] = 0.9 * obs[0] + 0.2 * obs[1] + 0.3 * a[0];
    next[1] = -0.2 * obs[0] + 0.8 * obs[1] + 0.1 * a[0] + 0.4 * a[1];
    *reward = 3.0 + obs[0] * a[0] + obs[1] * a[1];
}

// A state and an action by chance.
static inline void draw_query(const sample *s, rh_rng *rng, double *obs, double *act)
{
    obs[0] = rh_rng_range(rng, -2.0, 2.0);
    obs[1] = rh_rng_range(rng, -1.0, 1.0);
    for (int i = 0; i < s->log.nact; i++)
        act[i] = s->log.naction ? rh_rng_below(rng, (uint32_t)s->log.naction)
                                : rh_rng_range(rng, -1.0, 1.0);
}

// n steps of it. An episode ends where the first sensor begins above 1.5, if any does.
static inline void linear_sample(sample *s, int n, bool discrete, bool ends, uint64_t seed)
{
    double obs[2], act[2], next[2], reward;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    begin_sample(s, 2, discrete ? 3 : 0, discrete ? 1 : 2);
    for (int i = 0; i < n; i++) {
        draw_query(s, &rng, obs, act);
        linear_truth(s, obs, act, next, &reward);
        add_step(s, obs, act, reward, next, ends && obs[0] > 1.5);
    }
}

#endif
