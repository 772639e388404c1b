// inspect_sample.h - logs to inspect: from simulators or made row by row, with faults.

#ifndef INSPECT_SAMPLE_H
#define INSPECT_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> // needs those above

#include <math.h>
#include <string.h>

#include "log/log_internal.h"
#include "rehearse/env.h"

#define SAMPLE_OBS 8

// How to log a simulator, and what to do to the rows afterwards.
typedef struct living {
    const char *env;
    uint64_t seed;
    int n;           // steps
    double random;   // share of random actions; the rest follow a simple rule
    int cutoff;      // episodes are truncated after this many steps, 0: never
    int action_late; // rows by which the actions are late
    int reward_late; // and the rewards
} living;

typedef struct steps {
    int n, nobs;
    double *obs; // s, then s'      (n x 2 x nobs)
    double *act, *reward;
    bool *terminal, *truncated;
} steps;

// A rule that depends on the state, like a plant's controller.
static inline double rule(const char *env, const double *obs)
{
    if (strcmp(env, "cartpole") == 0)
        return obs[2] + 0.3 * obs[3] > 0.0;
    if (strcmp(env, "mountain_car") == 0)
        return obs[1] >= 0.0 ? 2.0 : 0.0;
    if (strcmp(env, "acrobot") == 0)
        return obs[5] > 0.3 ? 0.0 : obs[5] < -0.3 ? 2.0 : 1.0;
    if (strcmp(env, "puddle_world") == 0)
        return obs[0] < obs[1] ? 3.0 : 0.0;
    return fmax(-2.0, fmin(2.0, obs[0] > 0.8 ? -8.0 * obs[1] - 2.0 * obs[2] : obs[2]));
}

static inline void live(const living *how, steps *s, const rh_task *task, const rh_env *env)
{
    rh_streams streams = {rh_rng_stream(how->seed, RH_STREAM_START, 0, 0),
                          rh_rng_stream(how->seed, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(how->seed, RH_STREAM_AGENT, 0, 0);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double obs[SAMPLE_OBS];
    size_t size = (size_t)task->nobs * sizeof *obs;
    rh_env_start(env, state, &streams, obs);
    for (int t = 0, k = 1; t < how->n; t++, k++) {
        double *row = s->obs + 2 * t * task->nobs;
        memcpy(row, obs, size);
        bool random = rh_rng_uniform(&rng) < how->random;
        if (task->naction)
            s->act[t] = rh_rng_below(&rng, (uint32_t)task->naction);
        else
            s->act[t] = rh_rng_range(&rng, task->act_lo[0], task->act_hi[0]);
        if (!random)
            s->act[t] = rule(how->env, obs);
        s->terminal[t] = rh_env_step(env, state, s->act + t, &streams, obs, s->reward + t);
        memcpy(row + task->nobs, obs, size);
        s->truncated[t] = how->cutoff > 0 && k == how->cutoff;
        if (s->terminal[t] || s->truncated[t]) {
            rh_env_start(env, state, &streams, obs);
            k = 0;
        }
    }
    rh_free(state);
}

// Rows with the last observation of every episode; late: by how many rows actions and rewards
// are shifted.
static inline rh_log *log_of_steps(const steps *s, const rh_log_shape *shape, int action_late,
                                   int reward_late)
{
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err;
    bool begins = true;
    assert_int_equal(rh_log_builder_create(&b, shape, &err), RH_OK);
    for (int t = 0; t < s->n; t++) {
        const double *obs = s->obs + 2 * t * s->nobs;
        bool last = s->terminal[t] || s->truncated[t] || t + 1 == s->n;
        rh_log_row row = {.obs = obs,
                          .act = s->act + (t - action_late + s->n) % s->n,
                          .reward = s->reward[(t - reward_late + s->n) % s->n],
                          .begins = begins};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        begins = last;
        if (last) {
            row = (rh_log_row){
                .obs = obs + s->nobs, .terminal = s->terminal[t], .truncated = s->truncated[t]};
            assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        }
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

static inline rh_log *log_of(living how)
{
    rh_env *env = NULL;
    rh_error err;
    const rh_env_type *type = rh_env_find(how.env, &err);
    assert_non_null(type);
    assert_int_equal(rh_env_create(&env, type, NULL, &err), RH_OK);
    const rh_task *task = rh_env_task(env);
    size_t n = (size_t)how.n;
    steps s = {.n = how.n, .nobs = task->nobs};
    s.obs = rh_alloc(2 * n * (size_t)task->nobs, sizeof *s.obs);
    s.act = rh_alloc(n, sizeof *s.act);
    s.reward = rh_alloc(n, sizeof *s.reward);
    s.terminal = rh_alloc(n, sizeof *s.terminal);
    s.truncated = rh_alloc(n, sizeof *s.truncated);
    live(&how, &s, task, env);
    rh_log_shape shape = {.nobs = task->nobs, .nact = 1, .obs_name = task->obs_name};
    shape.action = task->naction ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS;
    rh_log *log = log_of_steps(&s, &shape, how.action_late, how.reward_late);
    rh_free(s.obs);
    rh_free(s.act);
    rh_free(s.reward);
    rh_free(s.terminal);
    rh_free(s.truncated);
    rh_env_destroy(env);
    return log;
}

// ---------------------------------------------------------------------------- made rows

#define ROW_OBS 3
#define EPISODES 40
#define STEPS 50
#define ROWS (EPISODES * (STEPS + 1)) // with the last observation of each episode

// Rows of a small plant without faults: three moving sensors, three actions that affect the
// first sensor, a reward for both, and every other episode terminal.
typedef struct rows {
    int n;
    double obs[ROWS][ROW_OBS];
    double next[ROWS][ROW_OBS];
    double act[ROWS]; // NAN: no action in the row
    double reward[ROWS];
    double time[ROWS];
    bool terminal[ROWS], truncated[ROWS], begins[ROWS], resumes[ROWS];
    bool given; // next is given
    rh_log_shape shape;
} rows;

static inline void make_rows(rows *r, uint64_t seed)
{
    static const char *const name[] = {"temp", "level", "flow"};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    *r = (rows){.n = ROWS,
                .shape = {.nobs = ROW_OBS,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .obs_name = name,
                          .times = true,
                          .path = "plant.csv"}};
    double x[ROW_OBS] = {0.0};
    for (int i = 0; i < ROWS; i++) {
        int step = i % (STEPS + 1), episode = i / (STEPS + 1);
        double noise[4];
        rh_rng_normal(&rng, noise);
        rh_rng_normal(&rng, noise + 2);
        for (int j = 0; j < ROW_OBS && step == 0; j++)
            x[j] = 0.6 * noise[j];
        memcpy(r->obs[i], x, sizeof x);
        double a = rh_rng_below(&rng, 3);
        r->act[i] = step == STEPS ? NAN : a;
        r->reward[i] = -fabs(x[0]) - 0.3 * a;
        r->time[i] = 60.0 * i;
        r->begins[i] = step == 0;
        r->terminal[i] = step == STEPS && episode % 2 == 0;
        r->truncated[i] = step == STEPS && episode % 2 != 0;
        x[0] = 0.9 * x[0] + 0.25 * (a - 1.0) + 0.05 * noise[1];
        x[1] = 0.95 * x[1] + 0.1 * x[0] + 0.1 * noise[2];
        x[2] = 0.9 * x[2] + 0.2 * noise[3];
    }
}

static inline rh_log *log_of_rows(const rows *r)
{
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err;
    assert_int_equal(rh_log_builder_create(&b, &r->shape, &err), RH_OK);
    for (int i = 0; i < r->n; i++) {
        rh_log_row row = {.obs = r->obs[i],
                          .act = isnan(r->act[i]) ? NULL : &r->act[i],
                          .reward = r->reward[i],
                          .next = r->given && !isnan(r->act[i]) ? r->next[i] : NULL,
                          .terminal = r->terminal[i],
                          .truncated = r->truncated[i],
                          .begins = r->begins[i],
                          .resumes = r->resumes[i],
                          .time = r->time[i]};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    return log;
}

// ---------------------------------------------------------------------------- looking

// The finding called id, or NULL.
static inline const rh_finding *find_id(const rh_log_report *report, const char *id)
{
    for (int i = 0; i < report->findings.n; i++)
        if (strcmp(rh_finding_name(report->findings.item[i].id), id) == 0)
            return &report->findings.item[i];
    return NULL;
}

static inline rh_log_report *report_of(const rh_log *log)
{
    rh_log_report *report = NULL;
    rh_error err;
    assert_int_equal(rh_log_inspect(&report, log, &err), RH_OK);
    return report;
}

#endif
