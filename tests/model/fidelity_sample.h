// fidelity_sample.h - a kind of model that does as it is told, to be measured by hand.
//
// Its log walks to the right, x = 0, 1, 2, ..., with a reward of -1 a step. Its predictions and
// its steps are the truth but for the faults that `told` has.

#ifndef TESTS_FIDELITY_SAMPLE_H
#define TESTS_FIDELITY_SAMPLE_H

#include "model_sample.h"

#include "model/fidelity.h"

// What goes wrong.
typedef struct fault {
    double off;        // predictions of x miss by this much
    double reward_off; // and those of a reward, turn by turn up and down
    bool blind;        // ends are not predicted
    bool uncovered[2]; // this action is out of coverage
    int skip;          // steps are those that begin so many states ahead
    int trap;          // those of action 1 begin so many more ahead
    bool door;         // action 1 ends an episode at once, for nothing
    bool no_end;       // nothing ends
    bool chance;       // members are trained by chance: slow
    double tax;        // every step costs so much more
} fault;

static fault told;
static int64_t nfit, nask, nturn; // how often it was fitted, rows promised, and predictions
static int64_t fewest_used;       // transitions of a fit

static inline rh_status told_fit(void **out, const rh_model *model, const rh_model__part *part,
                                 rh_error *err)
{
    (void)model;
    *out = rh_alloc(1, 8);
    if (!*out)
        return rh_fail(err, RH_ENOMEM, "told: out of memory");
    nfit++;
    nask = part->nask;
    fewest_used = part->nuse < fewest_used ? part->nuse : fewest_used;
    return RH_OK;
}

// The transition that begins in a state like obs.
static inline int64_t told_find(const rh_log *log, double x)
{
    for (int64_t t = 0; t < log->n; t++)
        if (x_of(log, log->from[t]) == x)
            return t;
    return 0;
}

static inline rh_status told_expect(rh_model__expected *out, const rh_model *model,
                                    const void *member, const double *obs, const double *act,
                                    rh_error *err)
{
    (void)member;
    (void)err;
    const rh_log *log = model->log;
    int64_t t = told_find(log, obs[0]);
    double *next = out->next;
    bool ends = log->flag[t] & ENDS && !told.blind;
    *out = (rh_model__expected){.next = next,
                                .reward =
                                    log->reward[t] + (nturn++ % 2 ? 1 : -1) * told.reward_off,
                                .terminal = ends,
                                .distance = act[0] > 0.0 ? 2.0 : 0.0,
                                .out_of_coverage = told.uncovered[(int)act[0]]};
    next[0] = obs[0] + 1.0 + told.off;
    next[1] = 0.0;
    return RH_OK;
}

static inline void told_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const rh_model *m = *(const rh_model *const *)self;
    int32_t row = m->start[rh_rng_below(&streams->start, (uint32_t)m->nstart)];
    *(int32_t *)state = row;
    memcpy(obs, m->log->obs + 2 * row, 2 * sizeof *obs);
}

static inline bool told_step(const void *self, void *state, const double *act,
                             rh_streams *streams, double *obs, double *reward)
{
    (void)streams;
    const rh_model *m = *(const rh_model *const *)self;
    const rh_log *log = m->log;
    int ahead = told.skip + (act[0] == 1.0 ? told.trap : 0);
    int64_t t = told_find(log, x_of(log, *(int32_t *)state) + ahead);
    *reward = log->reward[t] - told.tax;
    bool ends = log->flag[t] & ENDS && !told.no_end;
    if (!(log->flag[t] & ENDS && told.no_end) && log->to[t] != RH_UNKNOWN)
        *(int32_t *)state = log->to[t];
    if (told.door && act[0] == 1.0) {
        *reward = 0.0;
        ends = true;
    }
    memcpy(obs, log->obs + (size_t)2 * (size_t) * (int32_t *)state, 2 * sizeof *obs);
    return ends;
}

static inline const double *told_entries(const void *self, int32_t *n)
{
    const rh_model *m = *(const rh_model *const *)self;
    *n = (int32_t)m->log->nstate;
    return m->log->obs;
}

static inline int32_t told_entry(const void *self, const void *state)
{
    (void)self;
    return *(const int32_t *)state;
}

static const rh_env_type told_env_type = {
    .name = "told",
    .self_size = sizeof(rh_model *),
    .state_size = sizeof(int32_t),
    .start = told_start,
    .step = told_step,
    .fixed_obs = told_entries,
    .obs_index = told_entry,
};

static inline rh_status told_env(rh_env **out, const rh_model *model, const void *member,
                                 const double *param, rh_error *err)
{
    (void)member;
    const rh_model **self = rh_alloc(1, sizeof *self);
    if (!self)
        return rh_fail(err, RH_ENOMEM, "told: out of memory");
    *self = model;
    rh_status rc = rh_env_adopt(out, &told_env_type, &model->task, param, (void *)self,
                                sizeof(int32_t), err);
    if (rc)
        rh_free((void *)self);
    return rc;
}

static const rh_model_calls told_calls = {
    .fit = told_fit,
    .destroy = rh_free,
    .env = told_env,
    .expect = told_expect,
};
static const rh_model_calls slow_calls = {
    .random = true,
    .fit = told_fit,
    .destroy = rh_free,
    .env = told_env,
    .expect = told_expect,
};
static const rh_model_type told_type = {.name = "told", .calls = &told_calls};
static const rh_model_type slow_type = {.name = "slow", .calls = &slow_calls};

// A walk of n steps from `begin` on, appended to w (used); how: ENDS, CUT, or both.
static inline int walk_on(walk *w, int used, double begin, int n, int how, int begins)
{
    for (int i = 0; i < n; i++)
        w[used++] = (walk){begin + i,       i % 5 == 4,           -1.0,
                           begin + i + 1.0, i == n - 1 ? how : 0, i == 0 ? begins : 0};
    return used;
}

// Fit the told kind to a log and measure it.
static inline rh_model *measured(const walk *w, int n, fault f)
{
    rh_log *log = log_of(w, n, 2);
    rh_repr *repr = plain_repr(log, false);
    rh_model *model = NULL;
    rh_error err = {""};
    told = f;
    nfit = nask = nturn = 0;
    fewest_used = INT64_MAX;
    if (rh_model_fit(&model, f.chance ? &slow_type : &told_type, log, repr, NULL, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
    assert_non_null(rh_model_fidelity(model));
    return model;
}

static inline const rh_finding *find_id(const rh_fidelity *f, const char *id)
{
    for (int i = 0; i < f->findings.n; i++)
        if (strcmp(rh_finding_name(f->findings.item[i].id), id) == 0)
            return &f->findings.item[i];
    return NULL;
}

#endif
