// linear_env.c - the environment of the linear model.
//
// The state of a run is the last observations and actions and two positions in the log: where
// the signals that nobody controls come from, and where the residuals come from. Both move on
// with every step. They are one and the same unless the run began in a step that the member was
// not fitted to (a held-out stretch): such a step has no residual.
//
// 1. After BLOCK steps, or where the log's episode ends, another position is drawn. Of NTRY
//    drawn ones that is taken whose signals are most like the present ones, so that a day goes
//    on as a day. If one of them goes round (the hour), blocks are whole days, and positions
//    are drawn at the same time of day. In 100,000 steps of models of one_zone, two_zones and
//    hvac the clock jumped 233, 222 and 228 times, by 2 hours; with whole days never.
// 2. A run that leaves the bounds of a sensor is out of coverage: an episode ends there with
//    the log's lowest return. A plant that nothing resets goes on at the bound with at most the
//    lowest reward of the log.
// 3. Setpoints are drawn if the log says so: uniform in the logged range, where a run begins
//    and where one jumps in the log, by more than JUMP of the range. By what else it changes, a
//    ramp or noise, the drawn one does too, within the range. A replay of a logged stretch has
//    those of the log.

#include "linear_internal.h"

#include "base/base_internal.h"
#include "log/log.h"

#include <math.h>
#include <string.h>

#define BLOCK 500 // decision 1: longer than the stretches that models are compared on
#define NTRY 16   // decision 1
#define JUMP 0.05 // decision 3; by hand

typedef struct world {
    const rh_model *model; // borrowed
    const rh_linear *m;    // borrowed
    int residuals;
    bool goes_on;                                    // decision 2
    double least;                                    // the lowest reward of a step
    int block;                                       // steps until a position is drawn
    int64_t day;                                     // steps of a day, 0: the log has none
    bool draws;                                      // setpoints: decision 3
    double draw_lo[RH_MAX_OBS], draw_hi[RH_MAX_OBS]; // their ranges; NAN: not drawn
    size_t obs_at, act_at, terms_at, code_at;        // of the arrays of a place, in bytes
} world;

// A run. Behind it: the observation (nobs), the action before and the present one (nact each,
// NAN: unknown), terms (nterm and the queue behind them), scratch of codes.
typedef struct place {
    const world *w; // borrowed: of the environment, for rh_linear__stand()
    int64_t at;     // the logged step whose signals are next; -1: to be drawn
    int64_t after;  // the logged step that comes next, or would
    int64_t left;   // the logged step whose residuals are next; -1: to be drawn
    int steps;      // until others are drawn
    bool uncovered;
    bool draws;              // setpoints
    float code[RH_MAX_CODE]; // of the present observation
} place;

static double *obs_of(const world *w, place *here)
{
    return (double *)(void *)((char *)here + w->obs_at);
}

static double *act_of(const world *w, place *here)
{
    return (double *)(void *)((char *)here + w->act_at);
}

static double *terms_of(const world *w, place *here)
{
    return (double *)(void *)((char *)here + w->terms_at);
}

static bool has_residual(const rh_linear *m, int64_t t)
{
    return !isnan(m->residual[(size_t)t * ((size_t)m->nout + 1)]);
}

// ---------------------------------------------------------------------------- beginning

// Begin in a row of the log, whose observation may have other setpoints.
static void enter(const world *w, place *here, int64_t row, const double *obs)
{
    const rh_linear *m = w->m;
    const rh_log *log = w->model->log;
    int64_t t = rh_linear__from_row(log, row);
    double *act = act_of(w, here);
    rh_linear__past past = {.obs = {obs}};
    if (t >= 0)
        rh_linear__past_of(&past, m, log, t);
    past.obs[0] = obs;
    for (int l = 1; l < RH_LINEAR__PAST && t < 0; l++)
        past.obs[l] = obs;
    rh_linear__enter(m, w->model, &m->plan, &past, terms_of(w, here));
    memcpy(obs_of(w, here), obs, (size_t)m->nobs * sizeof *obs);
    if (past.act[1])
        memcpy(act, past.act[1], (size_t)m->nact * sizeof *act);
    else
        act[0] = NAN;
    here->w = w;
    here->at = t;
    here->left = t >= 0 && has_residual(m, t) ? t : -1;
    here->after = t;
    here->steps = w->block;
    here->uncovered = here->draws = false;
}

static bool is_drawn(const world *w, const place *here, int k)
{
    return here->draws && !isnan(w->draw_lo[k]);
}

static void show(const world *w, place *here, double *obs)
{
    memcpy(obs, obs_of(w, here), (size_t)w->m->nobs * sizeof *obs);
}

static void begin(const void *self, void *state, rh_streams *streams, double *obs)
{
    const world *w = self;
    const rh_model *model = w->model;
    int64_t row = model->start[rh_rng_below(&streams->start, (uint32_t)model->nstart)];
    double first[RH_MAX_OBS];
    memcpy(first, model->log->obs + row * w->m->nobs, (size_t)w->m->nobs * sizeof *first);
    for (int k = 0; w->draws && k < w->m->nobs; k++)
        if (!isnan(w->draw_lo[k]))
            first[k] = rh_rng_range(&streams->start, w->draw_lo[k], w->draw_hi[k]);
    if (w->draws)
        rh_derive__compute(model->derive, first);
    enter(w, state, row, first);
    ((place *)state)->draws = w->draws;
    show(w, state, obs);
}

void rh_linear__stand(const rh_model *model, const rh_env *env, void *state, int32_t row)
{
    (void)env;
    enter(((place *)state)->w, state, row, model->log->obs + (int64_t)row * model->log->nobs);
}

// ---------------------------------------------------------------------------- positions

// How unlike the signals of a logged step are to the present ones.
static double unlike(const world *w, place *here, int64_t t)
{
    const rh_linear *m = w->m;
    const rh_model *model = w->model;
    const double *there = model->log->obs + (int64_t)model->log->from[t] * m->nobs;
    const double *obs = obs_of(w, here);
    double sum = 0.0;
    for (int j = 0; j < m->nexo; j++) {
        int k = m->exo[j];
        double d = rh_knn__difference(model, k, there[k], obs[k]) / m->scale[k];
        sum += is_drawn(w, here, k) ? 0.0 : d * d;
    }
    return sum;
}

// A logged step at random; at the same time of day if there are days.
static int64_t candidate(const world *w, const place *here, rh_rng *rng)
{
    const rh_linear *m = w->m;
    if (w->day && here->after >= 0) {
        int64_t first = here->after % w->day, n = (w->model->log->n - 1 - first) / w->day + 1;
        int64_t t = first + w->day * (int64_t)rh_rng_below(rng, (uint32_t)n);
        if (has_residual(m, t))
            return t;
    }
    return m->able[rh_rng_below(rng, (uint32_t)m->nable)];
}

static int64_t draw(const world *w, place *here, rh_rng *rng)
{
    const rh_linear *m = w->m;
    int64_t best = -1;
    double least = INFINITY;
    int ntry = m->nexo ? NTRY : 1;
    for (int i = 0; m->nable > 0 && i < ntry; i++) {
        int64_t t = candidate(w, here, rng);
        double d = ntry > 1 ? unlike(w, here, t) : 0.0;
        if (best < 0 || d < least) {
            best = t;
            least = d;
        }
    }
    return best;
}

// Draw positions that are not known.
static void settle_positions(const world *w, place *here, rh_rng *rng)
{
    if (here->at < 0 && w->m->nexo)
        here->at = draw(w, here, rng);
    if (here->left < 0 && here->at >= 0 && has_residual(w->m, here->at))
        here->left = here->at;
    else if (here->left < 0 || w->residuals == RH_LINEAR_DRAWN)
        here->left = w->m->nable ? w->m->able[rh_rng_below(rng, (uint32_t)w->m->nable)] : -1;
}

static void move_on(const world *w, place *here)
{
    const rh_log *log = w->model->log;
    bool same = here->at == here->left;
    bool on = --here->steps > 0;
    here->steps = on ? here->steps : w->block;
    here->after = here->at >= 0 ? here->at + 1 : -1;
    here->at = on && here->at >= 0 && rh_linear__follows(log, here->at) ? here->at + 1 : -1;
    if (same) {
        here->left = here->at;
    } else {
        here->left =
            on && here->left >= 0 && rh_linear__follows(log, here->left) ? here->left + 1 : -1;
    }
    if (here->left >= 0 && !has_residual(w->m, here->left))
        here->left = -1;
    if (here->at >= 0 && log->to[here->at] == RH_UNKNOWN)
        here->at = -1;
}

// ---------------------------------------------------------------------------- a step

bool rh_linear__ends(const rh_linear *m, const rh_model *model, const double *next,
                     const float *code, double *reward)
{
    int limit = rh_knn__limit_of(model->facts, next);
    if (limit >= 0) {
        double usual = model->facts->limit[limit].reward;
        *reward = isnan(usual)          ? rh_model__past_limit(model, *reward)
                  : m->knn->formula.nop ? *reward
                                        : usual;
        return true;
    }
    if (!m->knn->margin)
        return false;
    int64_t t = rh_knn__transition(m->knn, rh_knn__nearest_arrival(m->knn, code));
    bool ends = model->log->flag[t] & RH_FLAG_TERMINAL;
    if (ends && !m->knn->formula.nop)
        *reward = model->log->reward[t];
    return ends;
}

// The reward of a step to next, and whether it ends. inside: next is within bounds.
static bool settle_end(const world *w, place *here, const double *next, bool inside,
                       double *reward)
{
    const rh_linear *m = w->m;
    const rh_model *model = w->model;
    if (m->knn->margin)
        rh_repr__encode_one(model->repr, next, NULL,
                            (float *)(void *)((char *)here + w->code_at), here->code);
    *reward = fmin(fmax(*reward, m->reward_lo), m->reward_hi);
    bool ends = rh_linear__ends(m, model, next, here->code, reward);
    if (!inside && !ends) {
        ends = !w->goes_on;
        *reward = w->goes_on ? fmin(*reward, model->task.reward_lo)
                             : fmin(model->lowest, rh_model__past_limit(model, *reward));
    }
    *reward = fmax(*reward, w->least);
    return ends;
}

// A drawn setpoint after a step in which the logged one changed by `change`: decision 3.
static double next_setpoint(const world *w, int k, double now, double change, rh_rng *rng)
{
    double lo = w->draw_lo[k], hi = w->draw_hi[k];
    return fabs(change) > JUMP * (hi - lo) ? rh_rng_range(rng, lo, hi)
                                           : fmin(fmax(now + change, lo), hi);
}

// The signals that nobody controls, after a step.
static void replay_signals(const world *w, place *here, rh_rng *rng, const double *now,
                           double *next)
{
    const rh_linear *m = w->m;
    const rh_log *log = w->model->log;
    for (int j = 0; j < m->nexo && here->at >= 0; j++) {
        const double *from = log->obs + (int64_t)log->from[here->at] * m->nobs;
        const double *to = log->obs + (int64_t)log->to[here->at] * m->nobs;
        int k = m->exo[j];
        next[k] =
            is_drawn(w, here, k) ? next_setpoint(w, k, now[k], to[k] - from[k], rng) : to[k];
    }
    rh_derive__compute(w->model->derive, next); // a setpoint may have moved
}

static bool step(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    const world *w = self;
    const rh_linear *m = w->m;
    const rh_model *model = w->model;
    place *here = state;
    size_t nact = (size_t)m->nact;
    double next[RH_MAX_OBS], *now = obs_of(w, here), *before = act_of(w, here);
    double *present = before + nact, *terms = terms_of(w, here);
    for (int k = 0; k < m->nact; k++)
        present[k] = m->naction ? act[k] : rh_knn__clamp_action(m->knn, k, act[k]);

    settle_positions(w, here, &streams->noise);
    bool noisy = here->left >= 0 && w->residuals != RH_LINEAR_NO_NOISE;
    const float *residual =
        noisy ? m->residual + (size_t)here->left * ((size_t)m->nout + 1) : NULL;
    rh_linear__act(m, &m->plan, present, terms);
    if (w->residuals == RH_LINEAR_NEAR) {
        residual = rh_linear__draw_near(m, terms, &streams->noise);
        noisy = true;
    }
    bool inside = rh_linear__next(m, model, m->across, terms, m->nterm, now, residual, next);
    replay_signals(w, here, &streams->noise, now, next);
    *reward = rh_linear__reward(m, model, now, present, isnan(before[0]) ? NULL : before, next);
    *reward += noisy ? (double)residual[m->nout] : 0.0;
    bool ends = settle_end(w, here, next, inside, reward);

    move_on(w, here);
    rh_linear__advance(m, model, &m->plan, now, next, terms);
    memcpy(before, present, nact * sizeof *before);
    memcpy(now, next, (size_t)m->nobs * sizeof *now);
    if (ends && model->task.continuing)
        begin(self, state, streams, obs);
    else
        show(w, here, obs);
    here->uncovered = !inside;
    return ends && !model->task.continuing;
}

static bool uncovered(const void *self, const void *state)
{
    (void)self;
    return ((const place *)state)->uncovered;
}

static const rh_env_type type = {
    .name = "linear",
    .about = "a regression on past observations and actions, with the log's residuals",
    .self_size = sizeof(world),
    .param = rh_linear__param,
    .nparam = RH_LINEAR_NPARAM,
    .start = begin,
    .step = step,
    .uncovered = uncovered,
};

// The logged ranges of setpoints that are to be drawn.
static void take_setpoints(world *w)
{
    const rh_log *log = w->model->log;
    for (int k = 0; k < log->nobs; k++) {
        w->draw_lo[k] = w->draw_hi[k] = NAN;
        if (log->setpoint_values != RH_SETPOINT_DRAWN || !rh_log__is_setpoint(log, k))
            continue;
        w->draws = true;
        for (int64_t i = 0; i < log->nstate; i++) {
            w->draw_lo[k] = fmin(w->draw_lo[k], log->obs[i * log->nobs + k]);
            w->draw_hi[k] = fmax(w->draw_hi[k], log->obs[i * log->nobs + k]);
        }
    }
}

// The lowest reward of a step. The log has those of its own terminal steps.
static double least_reward(const rh_linear *m, const rh_model *model)
{
    double least = fmin(fmin(m->reward_lo, model->task.reward_lo), model->lowest);
    bool past = model->facts->nterminal == 0;
    for (int i = 0; i < model->facts->nlimit; i++)
        past = past || isnan(model->facts->limit[i].reward); // given by hand
    return past ? fmin(least, rh_model__past_limit(model, m->reward_lo)) : least;
}

rh_status rh_linear__env(rh_env **out, const rh_model *model, const void *member,
                         const double *param, rh_error *err)
{
    const rh_linear *m = member;
    for (int i = 0; i < RH_LINEAR_NPARAM; i++)
        if (rh_linear__param[i].fixed && param[i] != model->param[i])
            return rh_fail(
                err, RH_EINVAL,
                "linear: %s differs from the fitted model, expected the same; fit again",
                rh_linear__param[i].name);
    if ((int)param[RH_LINEAR_RESIDUALS] == RH_LINEAR_NEAR && !m->near)
        return rh_fail(err, RH_EINVAL,
                       "linear: residuals near need a model fitted with them; fit again");
    world *w = rh_alloc(1, sizeof *w);
    if (!w)
        return rh_base__no_memory(err, "linear");
    *w = (world){.model = model, .m = m, .residuals = (int)param[RH_LINEAR_RESIDUALS]};
    w->goes_on = rh_knn__never_resets(model);
    take_setpoints(w);
    w->day = rh_linear__day(m, model);
    w->block = w->day ? (int)(w->day * (1 + (BLOCK - 1) / w->day)) : BLOCK;
    w->least = least_reward(m, model);
    w->obs_at = sizeof(place) + (-sizeof(place) & 63u);
    w->act_at = w->obs_at + (size_t)m->nobs * sizeof(double);
    w->terms_at = w->act_at + (size_t)m->nact * 2 * sizeof(double);
    w->code_at =
        w->terms_at + ((size_t)m->nterm + (size_t)(m->plan.delay * m->ninput)) * sizeof(double);
    w->code_at += -w->code_at & 63u;
    size_t size = w->code_at + rh_repr__nscratch(model->repr) * sizeof(float);
    rh_task task = model->task;
    task.reward_lo = w->least;
    rh_status rc = rh_env_adopt(out, &type, &task, param, w, size, err);
    if (rc)
        rh_free(w);
    return rc;
}
