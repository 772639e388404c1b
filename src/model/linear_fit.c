// linear_fit.c - fits the regression and chooses its form, its lags and the dead time.
//
// Ridge regression for the change of every sensor that actions move,
//
//     w = (X'X + lambda diag(X'X))^-1 X'y
//
// 1. X'X and X'y are computed once, for the most terms, for each of NPART consecutive parts of
//    the transitions. Any smaller set of terms, and any set without some parts, is taken from
//    these sums. Parts are summed in order, so threads change no bit.
// 2. The dead time is that of the least error of held-out steps, by a sample of the log, if it
//    saves at least SAVES of it. The terms of one dead time are then computed.
// 3. Form, lags and ridge are chosen by replay: parts HELD are left out in turn, and stretches
//    of them are predicted up to LONGEST steps ahead with the logged actions and without noise.
//    The error after 1, 2, 5, ... steps is divided by that of the persistence forecast; the
//    score is the mean of these. One-step errors alone prefer what copies the noise of a sensor
//    (TCLab: 1 lag and 4 lags differ by half after one step, by two thirds after 50). The
//    simplest within WITHIN of the best is taken.
// 4. If the linear part grows by itself (its spectral radius is above 1), the weights of the
//    past are shrunk until it does not: those of lag j by the factor g^(j+1), which divides all
//    eigenvalues by 1/g. Plants that do run away exist, so the weights stay as they are if
//    replays say clearly so (CLEARLY). Bounds stop both.

#include "linear_internal.h"

#include "base/base_internal.h"
#include "base/scratch.h"
#include "numeric/cholesky.h"

#include <math.h>
#include <string.h>

#define NPART 8            // parts of the transitions
#define NHELD 3            // parts that are left out in turn
#define MOST_WORK 4e10     // products in X'X: 10 s of one core; limits the terms of long logs
#define DELAY_SAMPLE 20000 // transitions by which the dead time is chosen
#define DELAY_LAGS 2       // lags of that regression
#define SAVES 0.05         // decision 2; by hand
#define LONGEST 100        // decision 3
#define NSTART 16          // stretches of a part
#define WITHIN 1.02        // decision 3; by hand
#define CLEARLY 0.9        // decision 4; by hand
#define WORST 2.0          // most that a horizon counts, in errors of persistence; by hand
#define ROWS_PER_TERM 3    // fewest transitions per term; by hand
#define LEAST_ROWS 60      // fewest transitions of a choice
#define NGROWTH 400        // steps by which the spectral radius is estimated
#define STABLE 0.9999      // decision 4: radius after shrinking

static const double ridge[] = {1e-6, 1e-3}; // decision 3; by hand
enum { NRIDGE = sizeof ridge / sizeof *ridge };
static const int lags_of[] = {1, 2, 4, 8};
enum { NLAGS = sizeof lags_of / sizeof *lags_of };
static const int horizon[] = {1, 2, 5, 10, 20, 50, LONGEST};
enum { NHORIZON = sizeof horizon / sizeof *horizon };
static const int held[NHELD] = {1, 4, 6};

// A regression in progress.
typedef struct work {
    rh_linear *m;
    const rh_model *model;
    int nthread;
    int32_t *row; // transitions that do not end, with s'              (nrow)
    int64_t nrow;
    rh_linear__plan most; // all terms
    int nterm, size;      // its terms; with the targets
    double *sum;  // X'X with the targets as columns, of every part (NPART x size x size)
    double *part; // sum over parts                            (size x size)
    double *gram, *right; // of a plan                (nterm x nterm), (nterm)
    double *weight;       // of a plan                                 (nout x nterm)
    int *at;              // its terms among all                       (nterm)
    double *scratch;      // of the factorisation
    rh_scratch memory;
} work;

// ---------------------------------------------------------------------------- sums

static int64_t first_of(const work *w, int part)
{
    return w->nrow * part / NPART;
}

// The terms of a transition and the changes of its sensors, x (size).
static void fill(const work *w, int64_t i, double *x)
{
    const rh_log *log = w->model->log;
    const rh_linear *m = w->m;
    rh_linear__past past;
    int64_t t = w->row[i];
    const double *next = log->obs + (int64_t)log->to[t] * log->nobs;
    rh_linear__past_of(&past, log, t);
    rh_linear__terms(m, &w->most, &past, w->model, x);
    for (int j = 0; j < m->nout; j++) {
        int k = m->out[j];
        x[w->nterm + j] = rh_knn__difference(w->model, k, next[k], past.obs[0][k]) / m->step[k];
    }
}

// Add four rows x (4 x size) to the lower half of a sum (size x size).
static void add_four(double *sum, const double *x, int size)
{
    const double *a = x, *b = a + size, *c = b + size, *d = c + size;
    for (int i = 0; i < size; i++) {
        double *to = sum + (size_t)i * (size_t)size;
        double p = a[i], q = b[i], r = c[i], s = d[i];
        for (int j = 0; j <= i; j++)
            to[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j]);
    }
}

static void sum_part(const work *w, int part, double *x)
{
    double *sum = w->sum + (size_t)part * (size_t)w->size * (size_t)w->size;
    int64_t end = first_of(w, part + 1);
    for (int64_t i = first_of(w, part); i < end; i += 4) {
        for (int k = 0; k < 4; k++) {
            double *to = x + (size_t)k * (size_t)w->size;
            if (i + k < end)
                fill(w, i + k, to);
            else
                memset(to, 0, (size_t)w->size * sizeof *to);
        }
        add_four(sum, x, w->size);
    }
}

// The sums of all parts. False if memory ran out.
static bool sum_up(work *w)
{
    bool failed = false;
    memset(w->sum, 0, (size_t)NPART * (size_t)w->size * (size_t)w->size * sizeof *w->sum);
#pragma omp parallel for schedule(dynamic) num_threads(w->nthread)
    for (int part = 0; part < NPART; part++) {
        double *x = rh_alloc(4 * (size_t)w->size, sizeof *x);
        if (x)
            sum_part(w, part, x);
        else
#pragma omp atomic write
            failed = true;
        rh_free(x);
    }
    return !failed;
}

// Add up all parts but one (-1: none).
static void gather(const work *w, int without)
{
    size_t n = (size_t)w->size * (size_t)w->size;
    memset(w->part, 0, n * sizeof *w->part);
    for (int part = 0; part < NPART; part++)
        for (size_t i = 0; part != without && i < n; i++)
            w->part[i] += w->sum[(size_t)part * n + i];
}

// ---------------------------------------------------------------------------- weights

// An element of a symmetric sum of which the lower half is known.
static double element(const double *sum, int size, int i, int j)
{
    return i >= j ? sum[(size_t)i * (size_t)size + (size_t)j]
                  : sum[(size_t)j * (size_t)size + (size_t)i];
}

// The weights of a plan by what was gathered, to w->weight. False: not solvable.
static bool solve(const work *w, const rh_linear__plan *plan, double lambda)
{
    int n = rh_linear__nterm(w->m, plan);
    bool done = false;
    rh_linear__within(w->m, plan, &w->most, w->at);
    for (int tries = 0; !done && tries < 4; tries++, lambda *= 100.0) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                w->gram[(size_t)i * (size_t)n + (size_t)j] =
                    element(w->part, w->size, w->at[i], w->at[j]);
        for (int i = 0; i < n; i++) {
            double *pivot = &w->gram[(size_t)i * (size_t)n + (size_t)i];
            *pivot = *pivot > 0.0 ? *pivot * (i ? 1.0 + lambda : 1.0) : 1.0;
        }
        done = rh_cholesky__factor(n, w->gram, (size_t)n, w->scratch);
    }
    for (int k = 0; done && k < w->m->nout; k++) {
        double *x = w->weight + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++)
            x[i] = element(w->part, w->size, w->at[i], w->nterm + k);
        rh_cholesky__solve_small(n, w->gram, (size_t)n, x, 1);
        done = rh_base__all_finite(x, n);
    }
    return done;
}

// Squared errors of w->weight in the steps of a part, by its sums.
static double error_of(const work *w, const rh_linear__plan *plan, int part)
{
    int n = rh_linear__nterm(w->m, plan);
    const double *sum = w->sum + (size_t)part * (size_t)w->size * (size_t)w->size;
    double all = 0.0;
    for (int k = 0; k < w->m->nout; k++) {
        const double *x = w->weight + (size_t)k * (size_t)n;
        int y = w->nterm + k;
        double own = element(sum, w->size, y, y);
        for (int i = 0; i < n; i++) {
            double row = 0.0;
            for (int j = 0; j < n; j++)
                row += element(sum, w->size, w->at[i], w->at[j]) * x[j];
            own += x[i] * (row - 2.0 * element(sum, w->size, w->at[i], y));
        }
        all += own;
    }
    return all;
}

// ---------------------------------------------------------------------------- replay

// Errors of predictions and of persistence, by horizon.
typedef struct score {
    double model[NHORIZON], persistence[NHORIZON];
} score;

// A past that can move on.
typedef struct moving {
    rh_linear__past past;
    double obs[RH_LINEAR__PAST][RH_MAX_OBS];
} moving;

// Predict the stretch from transition t, which ends before `end`, by w->weight.
static void replay(const work *w, const rh_linear__plan *plan, int64_t t, int64_t end, score *s,
                   moving *now, double *x)
{
    const rh_log *log = w->model->log;
    const rh_linear *m = w->m;
    const double *start = log->obs + (int64_t)log->from[t] * log->nobs;
    double next[RH_MAX_OBS];
    int h = 0;
    rh_linear__past_of(&now->past, log, t);
    for (int l = 0; l < RH_LINEAR__PAST; l++)
        memcpy(now->obs[l], now->past.obs[l], (size_t)m->nobs * sizeof(double));
    for (int step = 1; step <= LONGEST; step++, t++) {
        for (int l = 0; l < RH_LINEAR__PAST; l++)
            now->past.obs[l] = now->obs[l];
        rh_linear__next(m, w->model, plan, w->weight, &now->past, NULL, x, next);
        const double *real = log->obs + (int64_t)log->to[t] * log->nobs;
        for (int j = 0; j < m->nexo; j++)
            next[m->exo[j]] = real[m->exo[j]];
        memmove(now->obs[1], now->obs[0], sizeof now->obs - sizeof now->obs[0]);
        memcpy(now->obs[0], next, (size_t)m->nobs * sizeof *next);
        if (step == horizon[h]) {
            for (int j = 0; j < m->nout; j++) {
                int k = m->out[j];
                double miss = rh_knn__difference(w->model, k, next[k], real[k]) / m->scale[k];
                double moved = rh_knn__difference(w->model, k, start[k], real[k]) / m->scale[k];
                s->model[h] += miss * miss;
                s->persistence[h] += moved * moved;
            }
            h++;
        }
        if (t + 1 >= end || !rh_linear__follows(log, t) ||
            (log->flag[t + 1] & RH_FLAG_TERMINAL) || log->to[t + 1] == RH_UNKNOWN)
            return;
        memmove(&now->past.act[1], &now->past.act[0],
                sizeof now->past.act - sizeof *now->past.act);
        now->past.act[0] = log->act + (t + 1) * log->nact;
    }
}

// Replay stretches of a part by w->weight.
static void replay_part(const work *w, const rh_linear__plan *plan, int part, score *s,
                        moving *now, double *x)
{
    int64_t first = first_of(w, part), n = first_of(w, part + 1) - first;
    for (int i = 0; i < NSTART && n > 0; i++)
        replay(w, plan, w->row[first + n * i / NSTART], (int64_t)w->row[first + n - 1] + 1, s,
               now, x);
}

static double mean_score(const score *s)
{
    double sum = 0.0;
    int n = 0;
    for (int h = 0; h < NHORIZON; h++)
        if (s->persistence[h] > 0.0) {
            sum += fmin(sqrt(s->model[h] / s->persistence[h]), WORST);
            n++;
        }
    return n ? sum / n : WORST;
}

// ---------------------------------------------------------------------------- stability

// The matrix of a lag, in sensors that do not wrap, from the weights of a plan (nout x nout).
static void take_lag(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                     const double *weight, int lag, double *a)
{
    int n = rh_linear__nterm(m, plan), nout = m->nout;
    memset(a, 0, (size_t)nout * (size_t)nout * sizeof *a);
    for (int c = 0; c < nout; c++) {
        int sensor = m->out[c], level = -1, moved = 0;
        if (!isnan(model->facts->sensor[sensor].period))
            continue;
        for (int i = 0; i < m->nlevel; i++)
            level = m->level[i].sensor == sensor ? i : level;
        while (m->moved[moved] != sensor)
            moved++;
        // where the changes of lag l are, see rh_linear__terms()
        int first = 1 + m->nlevel + m->ninput + moved, stride = m->nmoved + m->ninput;
        for (int r = 0; r < nout; r++) {
            const double *w = weight + (size_t)r * (size_t)n;
            double before = lag > 0 ? w[first + (lag - 1) * stride] : 0.0;
            double behind = lag + 1 < plan->lags ? w[first + lag * stride] : 0.0;
            double x = (behind - before) / m->step[sensor];
            x += lag == 0 ? w[1 + level] / m->scale[sensor] : 0.0;
            a[r * nout + c] = m->step[m->out[r]] * x + (lag == 0 && r == c ? 1.0 : 0.0);
        }
    }
}

// Put the matrices of all lags (lags x nout x nout) back.
static void put_lags(const rh_linear *m, const rh_model *model, const rh_linear__plan *plan,
                     double *weight, const double *a)
{
    int n = rh_linear__nterm(m, plan), nout = m->nout;
    for (int c = 0; c < nout; c++) {
        int sensor = m->out[c], level = -1, moved = 0;
        if (!isnan(model->facts->sensor[sensor].period))
            continue;
        for (int i = 0; i < m->nlevel; i++)
            level = m->level[i].sensor == sensor ? i : level;
        while (m->moved[moved] != sensor)
            moved++;
        int first = 1 + m->nlevel + m->ninput + moved, stride = m->nmoved + m->ninput;
        for (int r = 0; r < nout; r++) {
            double *w = weight + (size_t)r * (size_t)n, step = m->step[m->out[r]], sum = 0.0;
            for (int l = plan->lags - 1; l > 0; l--) {
                sum += a[(l * nout + r) * nout + c];
                w[first + (l - 1) * stride] = -sum * m->step[sensor] / step;
            }
            sum += a[r * nout + c] - (r == c ? 1.0 : 0.0);
            w[1 + level] = sum * m->scale[sensor] / step;
        }
    }
}

// The spectral radius of the linear part, by the growth of a difference. a: matrices of the
// lags (lags x nout x nout); z: scratch ((lags + 1) x nout).
static double radius(const double *a, const double *scale, int lags, int nout, double *z)
{
    double grown = 0.0;
    for (int i = 0; i < lags * nout; i++) // no direction is left out
        z[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + 0.1 * (i % 7)) * scale[i % nout];
    for (int step = 0; step < NGROWTH; step++) {
        double size = 0.0, *next = z + (size_t)lags * (size_t)nout;
        for (int r = 0; r < nout; r++) {
            next[r] = 0.0;
            for (int l = 0; l < lags; l++)
                for (int c = 0; c < nout; c++)
                    next[r] += a[(l * nout + r) * nout + c] * z[l * nout + c];
        }
        memmove(z + nout, z, (size_t)(lags - 1) * (size_t)nout * sizeof *z);
        memcpy(z, next, (size_t)nout * sizeof *z);
        for (int i = 0; i < lags * nout; i++)
            size += (z[i] / scale[i % nout]) * (z[i] / scale[i % nout]);
        size = sqrt(size);
        if (!(size > 1e-200)) // it dies out
            return 0.0;
        for (int i = 0; i < lags * nout; i++)
            z[i] /= size;
        grown += step >= NGROWTH / 2 ? rh_ln(size) : 0.0;
    }
    return rh_exp(grown / (NGROWTH - NGROWTH / 2));
}

// Shrink weights to a linear part that does not grow. True: they were changed.
static bool steady(const work *w, const rh_linear__plan *plan, double *weight, double *a)
{
    const rh_linear *m = w->m;
    int nout = m->nout;
    double *z = a + (size_t)plan->lags * (size_t)nout * (size_t)nout, scale[RH_MAX_OBS];
    for (int k = 0; k < nout; k++)
        scale[k] = m->scale[m->out[k]];
    for (int l = 0; l < plan->lags; l++)
        take_lag(m, w->model, plan, weight, l, a + (size_t)l * (size_t)nout * (size_t)nout);
    double rho = radius(a, scale, plan->lags, nout, z), factor = 1.0;
    if (!(rho > 1.0))
        return false;
    for (int l = 0; l < plan->lags; l++) {
        factor *= STABLE / rho;
        for (int i = 0; i < nout * nout; i++)
            a[l * nout * nout + i] *= factor;
    }
    put_lags(m, w->model, plan, weight, a);
    return true;
}

// ---------------------------------------------------------------------------- choosing

// A candidate and its score.
typedef struct candidate {
    rh_linear__plan plan;
    double ridge;
    bool steadied;
    double score;
} candidate;

// Score a candidate, shrunk or not. a: scratch of steady().
static double judge(work *w, const candidate *c, bool shrunk, bool *changed, double *a,
                    moving *now, double *x)
{
    score s = {{0.0}, {0.0}};
    *changed = false;
    for (int i = 0; i < NHELD; i++) {
        gather(w, held[i]);
        if (!solve(w, &c->plan, c->ridge))
            return WORST;
        if (shrunk)
            *changed = steady(w, &c->plan, w->weight, a) || *changed;
        replay_part(w, &c->plan, held[i], &s, now, x);
    }
    return mean_score(&s);
}

// Whether a parameter of this kind allows a value; 0 is auto.
static bool allows(const rh_model *model, int param, int value)
{
    return model->param[param] == 0.0 || (int)model->param[param] == value;
}

static bool is_candidate(const work *w, const rh_linear__plan *plan)
{
    int n = rh_linear__nterm(w->m, plan);
    return plan->lags <= w->most.lags && plan->form <= w->most.form &&
           (double)n * ROWS_PER_TERM <= (double)w->nrow;
}

// The simplest plan that the parameters allow.
static rh_linear__plan simplest(const rh_model *model, int delay)
{
    int form = (int)model->param[RH_LINEAR_FORM], lags = (int)model->param[RH_LINEAR_LAGS];
    return (rh_linear__plan){form ? form : RH_LINEAR_PLAIN, lags ? lags_of[lags - 1] : 1,
                             delay};
}

static rh_status choose(work *w, candidate *best, rh_error *err)
{
    candidate list[(RH_LINEAR_QUADRATIC + 1) * NLAGS * NRIDGE];
    size_t nout = (size_t)w->m->nout;
    rh_scratch scratch = {0};
    moving *now = rh_scratch__take(&scratch, 1, sizeof *now);
    double *x = rh_scratch__take(&scratch, (size_t)w->nterm, sizeof *x);
    double *a = rh_scratch__take(
        &scratch, RH_LINEAR__LAGS * nout * nout + (RH_LINEAR__LAGS + 1) * nout, sizeof *a);
    double least = INFINITY;
    int n = 0;
    bool changed;
    *best = (candidate){simplest(w->model, w->most.delay), ridge[0], false, NAN};
    if (scratch.failed) {
        rh_scratch__clear(&scratch);
        return rh_base__no_memory(err, "linear");
    }
    for (int form = RH_LINEAR_PLAIN; form <= RH_LINEAR_QUADRATIC; form++)
        for (int l = 0; l < NLAGS && w->nrow >= LEAST_ROWS; l++)
            for (int r = 0; r < NRIDGE; r++) {
                candidate c = {{form, lags_of[l], w->most.delay}, ridge[r], false, NAN};
                if (!allows(w->model, RH_LINEAR_FORM, form) ||
                    !allows(w->model, RH_LINEAR_LAGS, l + 1) || !is_candidate(w, &c.plan))
                    continue;
                c.score = judge(w, &c, true, &changed, a, now, x);
                if (changed) {
                    double free = judge(w, &c, false, &changed, a, now, x);
                    c.steadied = !(free < CLEARLY * c.score);
                    c.score = c.steadied ? c.score : free;
                }
                least = fmin(least, c.score);
                list[n++] = c;
            }
    for (int i = n - 1; i >= 0; i--)
        if (list[i].score <= WITHIN * least)
            *best = list[i];
    gather(w, -1);
    bool solved = solve(w, &best->plan, best->ridge);
    if (solved && best->steadied)
        steady(w, &best->plan, w->weight, a);
    rh_scratch__clear(&scratch);
    return solved ? RH_OK
                  : rh_fail(err, RH_EINVAL,
                            "linear: the regression of %lld steps has no "
                            "solution, expected sensors that vary",
                            (long long)w->nrow);
}

// ---------------------------------------------------------------------------- dead time

// Memory for all terms of w->most.
static bool reserve(work *w)
{
    const rh_linear *m = w->m;
    w->nterm = rh_linear__nterm(m, &w->most);
    w->size = w->nterm + m->nout;
    size_t n = (size_t)w->nterm, size = (size_t)w->size, nout = (size_t)m->nout;
    w->sum = rh_scratch__take(&w->memory, NPART * size, size * sizeof(double));
    w->part = rh_scratch__take(&w->memory, size, size * sizeof(double));
    w->gram = rh_scratch__take(&w->memory, n, n * sizeof(double));
    w->weight = rh_scratch__take(&w->memory, nout * n + 1, sizeof(double));
    w->at = rh_scratch__take(&w->memory, n, sizeof *w->at);
    w->scratch = rh_scratch__take(&w->memory, rh_cholesky__nfactor((int)n), sizeof(double));
    return !w->memory.failed;
}

// The dead time that predicts held-out steps of a sample best.
static rh_status find_delay(const work *all, int *delay, rh_error *err)
{
    double least = INFINITY;
    *delay = 0;
    for (int d = 0; d <= RH_LINEAR__DELAY; d++) {
        work w = {.m = all->m, .model = all->model, .nthread = all->nthread, .row = all->row};
        w.nrow = all->nrow < DELAY_SAMPLE ? all->nrow : DELAY_SAMPLE;
        w.most = (rh_linear__plan){RH_LINEAR_PLAIN, DELAY_LAGS, d};
        bool ok = reserve(&w) && sum_up(&w);
        double error = 0.0;
        for (int i = 0; ok && i < NHELD; i++) {
            gather(&w, held[i]);
            error += solve(&w, &w.most, ridge[0]) ? error_of(&w, &w.most, held[i]) : INFINITY;
        }
        rh_scratch__clear(&w.memory);
        if (!ok)
            return rh_base__no_memory(err, "linear");
        if (d == 0 || error < (*delay ? 1.0 : 1.0 - SAVES) * least) {
            least = error;
            *delay = d;
        }
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- all of it

// The most terms that a log of this length, and memory, allow.
static rh_linear__plan largest(const work *w, int delay)
{
    rh_linear__plan plan = simplest(w->model, delay);
    bool any_lags = w->model->param[RH_LINEAR_LAGS] == 0.0;
    for (int form = plan.form; form <= RH_LINEAR_QUADRATIC; form++)
        for (int l = 0; l < NLAGS; l++) {
            rh_linear__plan more = {form, lags_of[l], delay};
            double n = rh_linear__nterm(w->m, &more);
            bool allowed = allows(w->model, RH_LINEAR_FORM, form) &&
                           (any_lags || more.lags == plan.lags) && more.lags >= plan.lags;
            if (allowed && n <= RH_LINEAR__TERM && n * n * (double)w->nrow <= MOST_WORK)
                plan = more;
        }
    return plan;
}

static rh_status take_rows(work *w, rh_error *err)
{
    const rh_log *log = w->model->log;
    w->row = rh_scratch__take(&w->memory, (size_t)w->m->knn->nuse + 1, sizeof *w->row);
    if (!w->row)
        return rh_base__no_memory(err, "linear");
    for (int64_t i = 0; i < w->m->knn->nuse; i++) {
        int32_t t = rh_knn__transition(w->m->knn, i);
        if (log->to[t] != RH_UNKNOWN && !(log->flag[t] & RH_FLAG_TERMINAL))
            w->row[w->nrow++] = t;
    }
    return RH_OK;
}

rh_status rh_linear__regress(rh_linear *m, const rh_model *model, const rh_model__part *part,
                             rh_error *err)
{
    work w = {.m = m, .model = model, .nthread = part->nthread};
    candidate best;
    int delay = (int)model->param[RH_LINEAR_DELAY] - 1;
    rh_status rc = take_rows(&w, err);
    if (!rc && delay < 0)
        rc = find_delay(&w, &delay, err);
    if (rc)
        goto done;
    w.most = largest(&w, delay);
    if (rh_linear__nterm(m, &w.most) > RH_LINEAR__TERM) {
        rc = rh_fail(err, RH_EINVAL, "linear: %d terms, expected at most %d: leave out sensors",
                     rh_linear__nterm(m, &w.most), RH_LINEAR__TERM);
        goto done;
    }
    if (!reserve(&w) || !sum_up(&w)) {
        rc = rh_base__no_memory(err, "linear");
        goto done;
    }
    rc = choose(&w, &best, err);
    if (rc)
        goto done;
    m->plan = best.plan;
    m->nterm = rh_linear__nterm(m, &m->plan);
    size_t n = (size_t)m->nout * (size_t)m->nterm;
    m->weight = rh_alloc(n + 1, sizeof *m->weight);
    if (m->weight)
        memcpy(m->weight, w.weight, n * sizeof *m->weight);
    else
        rc = rh_base__no_memory(err, "linear");

done:
    rh_scratch__clear(&w.memory);
    return rc;
}
