// linear_reward.c - rewards of the linear model: the log's formula, or one that is fitted.
//
// Without a formula the reward is a sum of few terms that can extrapolate (linear_cost.c). They
// are found by orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad 1993): the term
// that is most correlated with what is left is added, and all weights are computed again.
//
// 1. Of NSAMPLE steps, evenly spaced, every fourth sixteenth is kept to see when further terms
//    stop to help: when they lower its error by less than WORTH. Terms without which it rises
//    by less are left out again: the first ones often stand for what a later one says better.
// 2. b is one of NKNOT quantiles of the sensor.
// 3. Never above the highest reward of the log; below the lowest by at most BELOW ranges.
// 4. There are many more gated terms than others, so one must be GATED times as correlated.

#include "linear_cost.h"

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
#define PATIENCE 3  // terms that do not help before it stops
#define GATED 1.1   // decision 4; by hand
#define PAIRED 16   // most sensors of which differences are tried
#define EXACT 1e-12 // share of the variance that is left when all is explained
#define RIDGE 1e-9  // of the weights

// ---------------------------------------------------------------------------- the dictionary

typedef rh_linear__pursuit pursuit;

static void add(pursuit *p, int kind, int i, int j, double at)
{
    if (p->dict)
        p->dict[p->ndict] =
            (rh_linear__cost){.kind = kind, .i = i, .j = j, .at = at, .gate = -1};
    p->ndict++;
}

// The quantiles of a sensor or an action.
static void add_distances(pursuit *p, int kind, int which, double *work)
{
    const rh_log *log = p->model->log;
    bool of_action = kind == RH_COST_ACTION_SIZE;
    double last = NAN;
    for (int i = 0; p->dict && i < p->n; i++) {
        int64_t t = p->at[i], row = kind == RH_COST_NOW_DISTANCE ? log->from[t] : log->to[t];
        work[i] =
            of_action ? log->act[t * log->nact + which] : log->obs[row * log->nobs + which];
    }
    if (p->dict)
        rh_stats__sort(work, p->n);
    for (int q = 1; q <= NKNOT; q++) {
        double at = p->dict ? rh_stats__quantile_sorted(work, p->n, q / (NKNOT + 1.0)) : 0.0;
        if (!p->dict || at != last)
            add(p, kind, which, which, at);
        if ((!p->dict || at != last) && kind == RH_COST_DISTANCE) {
            add(p, RH_COST_ABOVE, which, which, at);
            add(p, RH_COST_BELOW, which, which, at);
        }
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
        for (int kind = RH_COST_VALUE; kind <= RH_COST_NOW;
             kind += RH_COST_NOW - RH_COST_VALUE) {
            add(p, kind, i, 0, 0.0);
            add(p, kind + RH_COST_SQUARE, i, 0, 0.0);
            add_distances(p, kind + RH_COST_DISTANCE, i, work);
            for (int b = 0; b < a && m->nmoved <= PAIRED; b++) {
                add(p, kind + RH_COST_GAP, i, m->moved[b], 0.0);
                add(p, kind + RH_COST_GAP2, i, m->moved[b], 0.0);
            }
        }
        add(p, RH_COST_SHIFT, i, i, 0.0);
        for (int b = 0; b < m->nmoved && m->nmoved <= PAIRED; b++)
            if (b != a)
                add(p, RH_COST_TRADE, i, m->moved[b], 0.0);
        for (int j = 0; j < n; j++) {
            add(p, RH_COST_PRODUCT, i, j, 0.0);
            add(p, RH_COST_NOW_PRODUCT, i, j, 0.0);
        }
    }
    for (int j = 0; j < n; j++) {
        add(p, RH_COST_ACTION, 0, j, 0.0);
        add(p, RH_COST_CHANGE, 0, j, 0.0);
        if (m->naction)
            continue;
        add(p, RH_COST_ACTION_SQUARE, 0, j, 0.0);
        add(p, RH_COST_CHANGE2, 0, j, 0.0);
        add_distances(p, RH_COST_ACTION_SIZE, j, work);
    }
}

bool rh_linear__is_kept(const pursuit *p, int i)
{
    return (int)((int64_t)i * 16 / p->n) % 4 == 3;
}

double rh_linear__term_of(const pursuit *p, const rh_linear__cost *c, int i)
{
    const rh_log *log = p->model->log;
    int64_t t = p->at[i];
    bool known = t > 0 && rh_linear__follows(log, t - 1);
    return rh_linear__term(p->m, c, log->obs + (int64_t)log->from[t] * log->nobs,
                           log->act + t * log->nact,
                           known ? log->act + (t - 1) * log->nact : NULL,
                           log->obs + (int64_t)log->to[t] * log->nobs);
}

// Term d of all steps, scaled by the steps that are learned from.
static void fill(pursuit *p, int d)
{
    double *x = p->column + (size_t)d * (size_t)p->n, sum = 0.0, square = 0.0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        x[i] = rh_linear__term_of(p, &p->dict[d], i);
        n += !rh_linear__is_kept(p, i);
        sum += rh_linear__is_kept(p, i) ? 0.0 : x[i];
    }
    p->mean[d] = sum / n;
    for (int i = 0; i < p->n; i++) {
        x[i] -= p->mean[d];
        square += rh_linear__is_kept(p, i) ? 0.0 : x[i] * x[i];
    }
    double size = fabs(p->mean[d]) * sqrt((double)n);
    p->length[d] = sqrt(square) > 1e-9 * size ? sqrt(square) : INFINITY; // else rounding
    for (int i = 0; i < p->n; i++)
        x[i] /= p->length[d];
}

// ---------------------------------------------------------------------------- the pursuit

// Terms that were chosen, and their products with each other and with the rewards, over the
// steps that are learned from and those that are kept.
typedef struct chosen {
    int n;
    int of[RH_LINEAR__COST]; // in the dictionary
    double learned[RH_LINEAR__COST][RH_LINEAR__COST + 1],
        kept[RH_LINEAR__COST][RH_LINEAR__COST + 1];
    double rewards; // square of the kept rewards
} chosen;

static double product(const pursuit *p, const double *a, const double *b, bool kept)
{
    double sum = 0.0;
    for (int i = 0; i < p->n; i++)
        sum += rh_linear__is_kept(p, i) == kept ? a[i] * b[i] : 0.0;
    return sum;
}

static const double *column_of(const pursuit *p, int d)
{
    return p->column + (size_t)d * (size_t)p->n;
}

static void choose(const pursuit *p, chosen *c, int d)
{
    const double *x = column_of(p, d);
    int a = c->n++;
    c->of[a] = d;
    for (int b = 0; b <= a; b++) {
        const double *y = column_of(p, c->of[b]);
        c->learned[a][b] = c->learned[b][a] = product(p, x, y, false);
        c->kept[a][b] = c->kept[b][a] = product(p, x, y, true);
    }
    c->learned[a][RH_LINEAR__COST] = product(p, x, p->y, false);
    c->kept[a][RH_LINEAR__COST] = product(p, x, p->y, true);
}

// Weights of n of the chosen terms, and the squared error of the kept steps; INFINITY: not
// solvable.
static double solve(const chosen *c, const int *pick, int n, double *weight)
{
    double gram[RH_LINEAR__COST * RH_LINEAR__COST], error = c->rewards;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b <= a; b++)
            gram[a * n + b] = c->learned[pick[a]][pick[b]];
        gram[a * n + a] += RIDGE;
        weight[a] = c->learned[pick[a]][RH_LINEAR__COST];
    }
    if (!rh_cholesky__factor_small(n, gram, (size_t)n, 0.0))
        return INFINITY;
    rh_cholesky__solve_small(n, gram, (size_t)n, weight, 1);
    if (!rh_base__all_finite(weight, n))
        return INFINITY;
    for (int a = 0; a < n; a++) {
        double along = -2.0 * c->kept[pick[a]][RH_LINEAR__COST];
        for (int b = 0; b < n; b++)
            along += c->kept[pick[a]][pick[b]] * weight[b];
        error += weight[a] * along;
    }
    return fmax(error, 0.0);
}

// What the chosen terms leave of the rewards.
static void leave(const pursuit *p, const chosen *c, const double *weight)
{
    memcpy(p->left, p->y, (size_t)p->n * sizeof *p->left);
    for (int a = 0; a < c->n; a++) {
        const double *x = column_of(p, c->of[a]);
        for (int i = 0; i < p->n; i++)
            p->left[i] -= weight[a] * x[i];
    }
}

// The term most correlated with what is left; a gated one is added to the dictionary.
static int best_term(pursuit *p, double *work)
{
    int best = 0;
    double most = -1.0;
    rh_linear__cost gated;
    for (int d = 0; d < p->ndict; d++) {
        double c =
            isinf(p->length[d]) ? 0.0 : fabs(product(p, column_of(p, d), p->left, false));
        if (c > most) {
            most = c;
            best = d;
        }
    }
    if (p->ndict == p->room ||
        !(rh_linear__best_gated(p, GATED * most, &gated, work) > GATED * most))
        return best;
    p->dict[p->ndict] = gated;
    fill(p, p->ndict);
    return p->ndict++;
}

// Leave out terms, one after another, while the error stays below `most`; how many are left.
static int prune(const chosen *c, int *pick, int n, double most)
{
    double weight[RH_LINEAR__COST];
    for (bool again = true; again && n > 1;) {
        int rest[RH_LINEAR__COST], which = -1;
        double least = most;
        for (int out = 0; out < n; out++) {
            for (int i = 0; i + 1 < n; i++)
                rest[i] = pick[i + (i >= out)];
            double error = solve(c, rest, n - 1, weight);
            if (error <= least) {
                least = error;
                which = out;
            }
        }
        again = which >= 0;
        n -= again;
        for (int i = which; again && i < n; i++)
            pick[i] = pick[i + 1];
    }
    return n;
}

// The mean of the rewards that are learned from; it is taken off all.
static double centre(const pursuit *p)
{
    double mean = 0.0, count = 0.0;
    for (int i = 0; i < p->n; i++) {
        mean += rh_linear__is_kept(p, i) ? 0.0 : p->y[i];
        count += !rh_linear__is_kept(p, i);
    }
    mean /= count > 0.0 ? count : 1.0;
    for (int i = 0; i < p->n; i++)
        p->y[i] -= mean;
    return mean;
}

static void pursue(pursuit *p, chosen *c, double *work)
{
    rh_linear *m = p->m;
    int pick[RH_LINEAR__COST], used = 0;
    double weight[RH_LINEAR__COST] = {0.0};
    m->constant = centre(p);
    c->rewards = product(p, p->y, p->y, true);
    double least = c->rewards, exact = EXACT * c->rewards;
    while (c->n < RH_LINEAR__COST && least > exact && c->n < used + PATIENCE) {
        leave(p, c, weight);
        pick[c->n] = c->n;
        choose(p, c, best_term(p, work));
        double error = solve(c, pick, c->n, weight);
        if (error < (1.0 - WORTH) * least) {
            least = error;
            used = c->n;
        } else if (isinf(error)) {
            break;
        }
    }
    used = prune(c, pick, used, fmax((1.0 + WORTH) * least, exact));
    if (used && isinf(solve(c, pick, used, weight)))
        used = 0;
    m->ncost = used;
    for (int a = 0; a < used; a++) {
        int d = c->of[pick[a]];
        m->cost[a] = p->dict[d];
        m->cost[a].weight = weight[a] / p->length[d];
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
    if (formula) {
        rh_knn__bound_rewards(m->knn, model);
        m->reward_lo = fmin(m->reward_lo, m->knn->reward_lo);
    }
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
    p.room = p.ndict + RH_LINEAR__COST;
    size_t most = (size_t)p.room;
    double *work = rh_scratch__take(&p.memory, NSAMPLE, sizeof *work);
    chosen *c = rh_scratch__take(&p.memory, 1, sizeof *c);
    p.at = rh_scratch__take(&p.memory, NSAMPLE, sizeof *p.at);
    p.bin = rh_scratch__take(&p.memory, NSAMPLE, sizeof *p.bin);
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
        for (int d = 0; d < p.ndict; d++)
            fill(&p, d);
        pursue(&p, c, work);
    }
    rh_scratch__clear(&p.memory);
    return rc;
}
