// linear.c - the linear model: a regression fitted to the whole log, with its own memory.
//
// The change of every sensor that actions move is a ridge regression on the last L observations
// and actions, the actions d steps late, linear or with products (linear_terms.c). Form, L and
// d are chosen from the log (linear_fit.c).
//
// 1. A neighbour with the same action comes from another context: a thermostat heats when it is
//    cold. Nearest neighbours take the context for the effect of the action; a regression over
//    all of the log tells them apart. On a building with weather a neighbour model is two
//    degrees off under random actions, a regression 0.6 degrees after 2,879 steps.
// 2. Signals that nobody controls (facts) are replayed from stretches of the log.
// 3. What the regression leaves, its residuals, is replayed from the log too, in order and from
//    the same stretch: disturbances that are not measured keep their correlation in time and
//    with the weather. With the logged actions the log itself comes out.
// 4. Rewards are the log's formula of simulated sensors, or fitted terms (linear_reward.c).
//    Ends are those of the limits of the log, or of the nearest logged arrival.
// 5. Averages over the past stand for what is too slow for lags: walls, beds, batteries.
// 6. Predictions for a state of the log know what came before it. Any other observation is
//    taken for a plant at rest.

#include "linear_internal.h"

#include "base/base_internal.h"

#include <math.h>
#include <string.h>

static const char *const form_name[] = {"auto", "linear", "products", "quadratic", NULL};
static const char *const lags_name[] = {"auto", "1", "2", "4", "8", NULL};
static const char *const delay_name[] = {"auto", "0", "1", "2", "3", "4",
                                         "5",    "6", "7", "8", NULL};
static const char *const slow_name[] = {"auto", "none", "16", "64", "both", NULL};
static const char *const residuals_name[] = {"stretch", "draw", "none", "near", NULL};

const rh_param rh_linear__param[RH_LINEAR_NPARAM] = {
    [RH_LINEAR_FORM] = {"form",
                        "terms: observations and actions, and products of both, and squares "
                        "and products of observations",
                        .lo = 0, .hi = 3, .initial = RH_LINEAR_FORM_AUTO, .choice = form_name,
                        .fixed = true},
    [RH_LINEAR_LAGS] = {"lags", "observations and actions that are remembered", .lo = 0,
                        .hi = 4, .initial = 0, .choice = lags_name, .fixed = true},
    [RH_LINEAR_DELAY] = {"delay", "dead time: steps until an action has an effect", .lo = 0,
                         .hi = 9, .initial = 0, .choice = delay_name, .fixed = true},
    [RH_LINEAR_SLOW] = {"slow", "averages over the past: none, or fading within so many steps",
                        .lo = 0, .hi = 4, .initial = 0, .choice = slow_name, .fixed = true},
    [RH_LINEAR_RESIDUALS] = {"residuals",
                             "what the regression leaves: replayed from a stretch of the log, "
                             "drawn step by step, left out, or of the nearest logged steps",
                             .lo = 0, .hi = 3, .initial = RH_LINEAR_STRETCH,
                             .choice = residuals_name},
};

// ---------------------------------------------------------------------------- a member

rh_status rh_linear__create(rh_linear **out, const rh_model *model, rh_error *err)
{
    rh_linear *m = rh_alloc(1, sizeof *m);
    rh_knn *knn = rh_alloc(1, sizeof *knn);
    if (!m || !knn) {
        rh_free(m);
        rh_free(knn);
        return rh_base__no_memory(err, "linear");
    }
    m->knn = knn;
    m->nobs = model->log->nobs;
    m->naction = model->log->naction;
    m->nact = model->log->nact;
    rh_knn__scale_actions(knn, model);
    for (int k = 0; k < m->nact; k++) { // a regression may extrapolate
        double beside = RH_LINEAR__OUT * (knn->hi[k] - knn->lo[k]);
        knn->lo[k] -= beside;
        knn->hi[k] += beside;
    }
    *out = m;
    return RH_OK;
}

void rh_linear__destroy(void *member)
{
    rh_linear *m = member;
    if (!m)
        return;
    rh_knn__destroy(m->knn);
    rh_free(m->weight);
    rh_free(m->across);
    rh_free(m->slow);
    rh_free(m->residual);
    rh_free(m->able);
    rh_neighbours__destroy(m->near);
    rh_free(m);
}

// The residuals of transition t, r (nout + 1). x: scratch (nterm + QUEUE).
static void take_residual(const rh_linear *m, const rh_model *model, int64_t t, double *x,
                          float *r)
{
    const rh_log *log = model->log;
    const double *s = log->obs + (int64_t)log->from[t] * log->nobs;
    const double *next = log->obs + (int64_t)log->to[t] * log->nobs;
    rh_linear__past past;
    rh_linear__past_of(&past, m, log, t);
    rh_linear__terms(m, &m->plan, &past, model, x);
    for (int i = 0; i < m->nout; i++) {
        const double *w = m->weight + (size_t)i * (size_t)m->nterm;
        int k = m->out[i];
        double sum = 0.0;
        for (int j = 0; j < m->nterm; j++)
            sum += w[j] * x[j];
        sum = (rh_linear__stop(m, k, s[k] + m->step[k] * sum) - s[k]) / m->step[k];
        r[i] = (float)(rh_knn__difference(model, k, next[k], s[k]) / m->step[k] - sum);
    }
    double reward = rh_linear__reward(m, model, s, log->act + t * log->nact, past.act[1], next);
    r[m->nout] = m->knn->formula.nop ? 0.0f : (float)(log->reward[t] - reward);
}

rh_status rh_linear__complete(rh_linear *m, const rh_model *model, int nthread, rh_error *err)
{
    const rh_log *log = model->log;
    size_t width = (size_t)m->nout + 1, nterm = (size_t)m->nterm + RH_LINEAR__QUEUE;
    m->across = rh_alloc(rh_linear__nacross(m, m->nterm) + 1, sizeof *m->across);
    m->residual = rh_alloc((size_t)log->n, width * sizeof *m->residual);
    m->able = rh_alloc((size_t)m->knn->nuse + 1, sizeof *m->able);
    double *x = rh_alloc((size_t)nthread * nterm, sizeof *x);
    bool averaged = !m->plan.slow || m->slow || rh_linear__average(m, model);
    if (!m->across || !m->residual || !m->able || !x || !averaged) {
        rh_free(x);
        return rh_base__no_memory(err, "linear");
    }
    rh_linear__lay_across(m, m->nterm, m->weight, m->across);
    for (int64_t t = 0; t < log->n; t++)
        m->residual[(size_t)t * width] = NAN;
    for (int64_t i = 0; i < m->knn->nuse; i++) {
        int32_t t = rh_knn__transition(m->knn, i);
        bool whole = log->to[t] != RH_UNKNOWN && !(log->flag[t] & RH_FLAG_TERMINAL);
        if (whole && (m->nable == 0 || m->able[m->nable - 1] != t))
            m->able[m->nable++] = t;
    }
#pragma omp parallel for schedule(static) num_threads(nthread)
    for (int part = 0; part < nthread; part++)
        for (int64_t i = m->nable * part / nthread; i < m->nable * (part + 1) / nthread; i++)
            take_residual(m, model, m->able[i], x + (size_t)part * nterm,
                          m->residual + (size_t)m->able[i] * width);
    rh_free(x);
    rh_status rc = (int)model->param[RH_LINEAR_RESIDUALS] == RH_LINEAR_NEAR
                       ? rh_linear__index_residuals(m, model, err)
                       : RH_OK;
    return rc ? rc : rh_knn__index_arrivals(m->knn, model, nthread, err);
}

static rh_status fit(void **out, const rh_model *model, const rh_model__part *part,
                     rh_error *err)
{
    rh_linear *m = NULL;
    rh_status rc = rh_linear__create(&m, model, err);
    if (!rc)
        rc = rh_knn__keep_use(m->knn, model, part, err);
    if (!rc) {
        rh_linear__survey(m, model);
        rc = rh_linear__regress(m, model, part, err);
    }
    if (!rc)
        rc = rh_linear__fit_reward(m, model, err);
    if (!rc)
        rc = rh_linear__complete(m, model, part->nthread, err);
    if (rc)
        rh_linear__destroy(m);
    else
        *out = m;
    return rc;
}

// ---------------------------------------------------------------------------- predictions

// The past of an observation: that of its row in the log, or a plant at rest.
static void take_past(const rh_linear *m, const rh_log *log, const double *obs,
                      const double *act, rh_linear__past *past)
{
    int64_t row = rh_knn__row_of(log, obs), t = row < 0 ? -1 : rh_linear__from_row(log, row);
    if (t >= 0)
        rh_linear__past_of(past, m, log, t);
    for (int l = 0; l < RH_LINEAR__PAST && t < 0; l++) {
        past->obs[l] = obs;
        past->act[l] = act;
    }
    past->act[0] = act;
}

static rh_status expect(rh_model__expected *out, const rh_model *model, const void *member,
                        const double *obs, const double *act, rh_error *err)
{
    const rh_linear *m = member;
    rh_linear__past past = {.slow = NULL};
    float code[RH_MAX_CODE], mean[RH_MAX_OBS + 1];
    size_t nscratch = rh_repr__nscratch(model->repr);
    float *scratch = rh_alloc(nscratch + 1, sizeof *scratch);
    double *x = rh_alloc((size_t)m->nterm + RH_LINEAR__QUEUE, sizeof *x), *next = out->next;
    if (!scratch || !x) {
        rh_free(scratch);
        rh_free(x);
        return rh_base__no_memory(err, "linear");
    }
    *out = (rh_model__expected){.next = next, .distance = NAN};
    take_past(m, model->log, obs, act, &past);
    rh_linear__terms(m, &m->plan, &past, model, x);
    if (m->near)
        rh_linear__mean_near(m, x, mean);
    rh_linear__next(m, model, m->across, x, m->nterm, obs, m->near ? mean : NULL, next);
    out->reward = rh_linear__reward(m, model, obs, act, past.act[1], next);
    out->reward += m->near ? (double)mean[m->nout] : 0.0;
    out->reward = fmin(fmax(out->reward, m->reward_lo), m->reward_hi);
    if (model->code)
        rh_repr__encode_one(model->repr, next, NULL, scratch, code);
    out->terminal = rh_linear__ends(m, model, next, code, &out->reward) ? 1.0 : 0.0;
    rh_free(scratch);
    rh_free(x);
    return RH_OK;
}

static const rh_model_calls calls = {
    .fit = fit,
    .destroy = rh_linear__destroy,
    .env = rh_linear__env,
    .stand = rh_linear__stand,
    .expect = expect,
    .write = rh_linear__write,
    .read = rh_linear__read,
};

const rh_model_type rh_model_linear = {
    .name = "linear",
    .about = "a regression on past observations and actions, with the log's residuals",
    .param = rh_linear__param,
    .nparam = RH_LINEAR_NPARAM,
    .calls = &calls,
};
