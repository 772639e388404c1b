// linear_reward.c - rewards of the linear model: the log's formula, or one that is fitted.
//
// Without a formula the reward is a sum of few terms that can extrapolate: values, squares and
// distances |x - b| of sensors, differences of two sensors (a setpoint and what should follow
// it), actions, their changes, and products of both (a price and a power). They are found by
// orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad 1993): the term that is most
// correlated with what is left is added, and all weights are computed again.
//
// 1. Of NSAMPLE steps, evenly spaced, every fourth sixteenth is kept to see when further terms
//    stop to help: when they lower its error by less than WORTH.
// 2. b is one of NKNOT quantiles of the sensor.
// 3. Never above the highest reward of the log; below the lowest by at most BELOW ranges.

#include "linear_internal.h"

#include "base/base_internal.h"
#include "base/scratch.h"
#include "numeric/cholesky.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define NSAMPLE 4000
#define NKNOT 9
#define BELOW 10.0  // decision 3; by hand, as of carried rewards
#define WORTH 0.005 // decision 1; by hand
#define PAIRED 16   // most sensors of which differences are tried
#define EXACT 1e-12 // share of the variance that is left when all is explained
#define RIDGE 1e-9  // of the weights

// Terms; i and j are sensors or action inputs.
enum {
    VALUE,    // x_i of the next state
    SQUARE,   //
    DISTANCE, // |x_i - at|
    GAP,      // |x_i - x_j|
    GAP2,     // its square
    NOW,      // the same five of the present state
    NOW_SQUARE,
    NOW_DISTANCE,
    NOW_GAP,
    NOW_GAP2,
    ACTION,        // u_j: a number of the action, or whether action j is taken
    ACTION_SQUARE, //
    ACTION_SIZE,   // |u_j - at|
    CHANGE,        // |u_j - u_j before|
    CHANGE2,       //
    PRODUCT,       // x_i u_j
    NOW_PRODUCT,   //
    NKIND
};

static double input_of(const rh_linear *m, const double *act, int j)
{
    return m->naction ? (int)act[0] == j : act[j];
}

static double term(const rh_linear *m, const rh_linear__cost *c, const double *s,
                   const double *act, const double *before, const double *next)
{
    const double *x = c->kind >= NOW ? s : next;
    double u, was;
    switch (c->kind) {
    case VALUE:
    case NOW:
        return x[c->i];
    case SQUARE:
    case NOW_SQUARE:
        return x[c->i] * x[c->i];
    case DISTANCE:
    case NOW_DISTANCE:
        return fabs(x[c->i] - c->at);
    case GAP:
    case NOW_GAP:
        return fabs(x[c->i] - x[c->j]);
    case GAP2:
    case NOW_GAP2:
        return (x[c->i] - x[c->j]) * (x[c->i] - x[c->j]);
    case ACTION:
        return input_of(m, act, c->j);
    case ACTION_SQUARE:
        return input_of(m, act, c->j) * input_of(m, act, c->j);
    case ACTION_SIZE:
        return fabs(input_of(m, act, c->j) - c->at);
    case CHANGE:
    case CHANGE2:
        u = input_of(m, act, c->j);
        was = before ? input_of(m, before, c->j) : u;
        return c->kind == CHANGE ? fabs(u - was) : (u - was) * (u - was);
    case PRODUCT:
        return next[c->i] * input_of(m, act, c->j);
    default:
        return s[c->i] * input_of(m, act, c->j);
    }
}

bool rh_linear__good_cost(const rh_linear *m, const rh_linear__cost *c)
{
    int n = m->naction ? m->naction : m->nact;
    bool sensor = c->kind < ACTION || c->kind >= PRODUCT;
    bool pair = c->kind == GAP || c->kind == GAP2 || c->kind == NOW_GAP || c->kind == NOW_GAP2;
    return c->kind >= 0 && c->kind < NKIND && isfinite(c->at) && isfinite(c->weight) &&
           (!sensor || (c->i >= 0 && c->i < m->nobs)) &&
           (!pair || (c->j >= 0 && c->j < m->nobs)) &&
           (c->kind < ACTION || (c->j >= 0 && c->j < n));
}

double rh_linear__reward(const rh_linear *m, const rh_model *model, const double *s,
                         const double *act, const double *before, const double *next)
{
    double reward = m->constant;
    if (rh_knn__reward(m->knn, model, s, act, next, &reward))
        return reward;
    for (int i = 0; i < m->ncost; i++)
        reward += m->cost[i].weight * term(m, &m->cost[i], s, act, before, next);
    return reward;
}

// ---------------------------------------------------------------------------- the dictionary

// A pursuit in progress.
typedef struct pursuit {
    rh_linear *m;
    const rh_model *model;
    int n;                 // steps of the sample
    int32_t *at;           // transitions                          (n)
    double *y, *left;      // rewards, and what is left of them    (n)
    rh_linear__cost *dict; // (ndict)
    int ndict;
    double *column;        // terms of the steps, mean 0 and length 1  (ndict x n)
    double *mean, *length; // as they were                         (ndict)
    rh_scratch memory;
} pursuit;

static void add(pursuit *p, int kind, int i, int j, double at)
{
    if (p->dict)
        p->dict[p->ndict] = (rh_linear__cost){kind, i, j, at, 0.0};
    p->ndict++;
}

// The quantiles of a sensor or an action.
static void add_distances(pursuit *p, int kind, int which, double *work)
{
    const rh_log *log = p->model->log;
    bool of_action = kind == ACTION_SIZE;
    double last = NAN;
    for (int i = 0; p->dict && i < p->n; i++) {
        int64_t t = p->at[i], row = kind == DISTANCE ? log->to[t] : log->from[t];
        work[i] =
            of_action ? log->act[t * log->nact + which] : log->obs[row * log->nobs + which];
    }
    if (p->dict)
        rh_stats__sort(work, p->n);
    for (int q = 1; q <= NKNOT; q++) {
        double at = p->dict ? rh_stats__quantile_sorted(work, p->n, q / (NKNOT + 1.0)) : 0.0;
        if (!p->dict || at != last)
            add(p, kind, which, which, at);
        last = at;
    }
}

// All terms that are tried; only counted while there is no memory for them.
static void list(pursuit *p, double *work)
{
    const rh_linear *m = p->m;
    int n = m->naction ? m->naction : m->nact;
    p->ndict = 0;
    for (int a = 0; a < m->nmoved; a++) {
        int i = m->moved[a];
        for (int kind = VALUE; kind <= NOW; kind += NOW - VALUE) {
            add(p, kind, i, 0, 0.0);
            add(p, kind + SQUARE, i, 0, 0.0);
            add_distances(p, kind + DISTANCE, i, work);
            for (int b = 0; b < a && m->nmoved <= PAIRED; b++) {
                add(p, kind + GAP, i, m->moved[b], 0.0);
                add(p, kind + GAP2, i, m->moved[b], 0.0);
            }
        }
        for (int j = 0; j < n; j++) {
            add(p, PRODUCT, i, j, 0.0);
            add(p, NOW_PRODUCT, i, j, 0.0);
        }
    }
    for (int j = 0; j < n; j++) {
        add(p, ACTION, 0, j, 0.0);
        add(p, CHANGE, 0, j, 0.0);
        if (m->naction)
            continue;
        add(p, ACTION_SQUARE, 0, j, 0.0);
        add(p, CHANGE2, 0, j, 0.0);
        add_distances(p, ACTION_SIZE, j, work);
    }
}

// Steps whose error tells when to stop.
static bool is_kept(const pursuit *p, int i)
{
    return (int)((int64_t)i * 16 / p->n) % 4 == 3;
}

// The terms of all steps, scaled by the steps that are learned from.
static void fill(pursuit *p)
{
    const rh_log *log = p->model->log;
    for (int d = 0; d < p->ndict; d++) {
        double *x = p->column + (size_t)d * (size_t)p->n, sum = 0.0, square = 0.0;
        int n = 0;
        for (int i = 0; i < p->n; i++) {
            int64_t t = p->at[i];
            bool known = t > 0 && rh_linear__follows(log, t - 1);
            x[i] = term(p->m, &p->dict[d], log->obs + (int64_t)log->from[t] * log->nobs,
                        log->act + t * log->nact, known ? log->act + (t - 1) * log->nact : NULL,
                        log->obs + (int64_t)log->to[t] * log->nobs);
            n += !is_kept(p, i);
            sum += is_kept(p, i) ? 0.0 : x[i];
        }
        p->mean[d] = sum / n;
        for (int i = 0; i < p->n; i++) {
            x[i] -= p->mean[d];
            square += is_kept(p, i) ? 0.0 : x[i] * x[i];
        }
        double size = fabs(p->mean[d]) * sqrt((double)n);
        p->length[d] = sqrt(square) > 1e-9 * size ? sqrt(square) : INFINITY; // else rounding
        for (int i = 0; i < p->n; i++)
            x[i] /= p->length[d];
    }
}

// ---------------------------------------------------------------------------- the pursuit

static double product(const pursuit *p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < p->n; i++)
        sum += is_kept(p, i) ? 0.0 : a[i] * b[i];
    return sum;
}

// Weights (n) of the chosen terms, and what is left. False: not solvable.
static bool solve(pursuit *p, const int *chosen, int n, double mean, double *weight)
{
    double gram[RH_LINEAR__COST * RH_LINEAR__COST];
    for (int a = 0; a < n; a++) {
        const double *x = p->column + (size_t)chosen[a] * (size_t)p->n;
        for (int b = 0; b <= a; b++)
            gram[a * n + b] = product(p, x, p->column + (size_t)chosen[b] * (size_t)p->n);
        gram[a * n + a] += RIDGE;
        weight[a] = product(p, x, p->y) - mean * product(p, x, p->left); // left is 1s here
    }
    if (!rh_cholesky__factor_small(n, gram, (size_t)n, 0.0))
        return false;
    rh_cholesky__solve_small(n, gram, (size_t)n, weight, 1);
    return rh_base__all_finite(weight, n);
}

// What is left of the rewards; the mean square of the steps that are kept, or not.
static double leave(pursuit *p, const int *chosen, const double *weight, int n, double mean,
                    bool kept)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < p->n; i++) {
        p->left[i] = p->y[i] - mean;
        for (int a = 0; a < n; a++)
            p->left[i] -= weight[a] * p->column[(size_t)chosen[a] * (size_t)p->n + (size_t)i];
        if (is_kept(p, i) == kept) {
            sum += p->left[i] * p->left[i];
            count++;
        }
    }
    return count ? sum / count : 0.0;
}

// The term most correlated with what is left.
static int best_term(const pursuit *p)
{
    int best = 0;
    double most = -1.0;
    for (int d = 0; d < p->ndict; d++) {
        double c = isinf(p->length[d])
                       ? 0.0
                       : fabs(product(p, p->column + (size_t)d * (size_t)p->n, p->left));
        if (c > most) {
            most = c;
            best = d;
        }
    }
    return best;
}

static void pursue(pursuit *p)
{
    rh_linear *m = p->m;
    int chosen[RH_LINEAR__COST], n = 0, used = 0;
    double weight[RH_LINEAR__COST], kept[RH_LINEAR__COST], mean = 0.0, count = 0.0;
    for (int i = 0; i < p->n; i++) {
        mean += is_kept(p, i) ? 0.0 : p->y[i];
        count += !is_kept(p, i);
    }
    mean /= count > 0.0 ? count : 1.0;
    m->constant = mean;
    double least = leave(p, chosen, weight, 0, mean, true), all = least;
    while (n < RH_LINEAR__COST && least > EXACT * all) {
        leave(p, chosen, weight, n, mean, true);
        chosen[n] = best_term(p);
        for (int i = 0; i < p->n; i++)
            p->left[i] = 1.0;
        if (!solve(p, chosen, n + 1, mean, weight))
            break;
        n++;
        double error = leave(p, chosen, weight, n, mean, true);
        if (error < (1.0 - WORTH) * least) {
            least = error;
            used = n;
            memcpy(kept, weight, sizeof kept);
        } else if (n >= used + 3) {
            break;
        }
    }
    m->ncost = used;
    for (int a = 0; a < used; a++) {
        int d = chosen[a];
        m->cost[a] = p->dict[d];
        m->cost[a].weight = kept[a] / p->length[d];
        m->constant -= m->cost[a].weight * p->mean[d];
    }
}

void rh_linear__bound_rewards(rh_linear *m, const rh_model *model)
{
    const rh_log *log = model->log;
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < log->n; i++) {
        lo = fmin(lo, log->reward[i]);
        hi = fmax(hi, log->reward[i]);
    }
    bool formula = m->knn->formula.nop > 0;
    m->reward_lo = lo - (formula ? 0.0 : BELOW * (hi - lo));
    m->reward_hi = formula ? INFINITY : hi;
    if (!formula)
        return;
    rh_knn__bound_rewards(m->knn, model);
    m->reward_lo = fmin(m->reward_lo, m->knn->reward_lo);
}

// Steps of the sample: not terminal, with s', evenly spaced.
static int sample(const rh_linear *m, const rh_log *log, int32_t *at)
{
    int64_t able = 0, seen = 0;
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < m->knn->nuse; i++) {
            int32_t t = rh_knn__transition(m->knn, i);
            if (log->to[t] == RH_UNKNOWN || (log->flag[t] & RH_FLAG_TERMINAL))
                continue;
            able += pass == 0;
            if (pass == 0)
                continue;
            int64_t most = able < NSAMPLE ? able : NSAMPLE;
            if (n < most && seen * most / able >= n)
                at[n++] = t;
            seen++;
        }
    return n;
}

rh_status rh_linear__fit_reward(rh_linear *m, const rh_model *model, rh_error *err)
{
    pursuit p = {.m = m, .model = model};
    rh_status rc = rh_knn__fit_reward(m->knn, model, err);
    if (rc)
        return rc;
    rh_linear__bound_rewards(m, model);
    if (m->knn->formula.nop > 0)
        return RH_OK;
    list(&p, NULL);
    size_t most = (size_t)p.ndict;
    double *work = rh_scratch__take(&p.memory, NSAMPLE, sizeof *work);
    p.at = rh_scratch__take(&p.memory, NSAMPLE, sizeof *p.at);
    p.y = rh_scratch__take(&p.memory, NSAMPLE, sizeof *p.y);
    p.left = rh_scratch__take(&p.memory, NSAMPLE, sizeof *p.left);
    p.mean = rh_scratch__take(&p.memory, most + 1, sizeof *p.mean);
    p.length = rh_scratch__take(&p.memory, most + 1, sizeof *p.length);
    p.dict = rh_scratch__take(&p.memory, most + 1, sizeof *p.dict);
    if (!p.memory.failed)
        p.n = sample(m, model->log, p.at);
    p.column = rh_scratch__take(&p.memory, most * (size_t)p.n + 1, sizeof *p.column);
    if (p.memory.failed) {
        rc = rh_base__no_memory(err, "linear");
    } else if (p.n > 0) {
        for (int i = 0; i < p.n; i++)
            p.y[i] = model->log->reward[p.at[i]];
        list(&p, work);
        fill(&p);
        pursue(&p);
    }
    rh_scratch__clear(&p.memory);
    return rc;
}
