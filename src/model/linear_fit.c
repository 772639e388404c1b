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
// 3. Form, lags and ridge are chosen by how true the regression is along the logged path and
//    beside it (linear_judge.c), with parts HELD left out in turn. The simplest within WITHIN
//    of the best is taken.
// 4. Averages over the past are added to the best of these, with any number of lags, if its
//    score is below KNOWN, they save SLOWLY of it, and the linear part does not grow by itself:
//    where the fast part is not known, they fit chance (drone).
// 5. Where walls stop a sensor (linear_wall.c), all is chosen again without the steps there.
// 6. If the linear part grows by itself, it is shrunk (linear_steady.c). Plants that do run
//    away exist, so the weights stay as they are if replays say clearly so (CLEARLY). Bounds
//    stop both.
// 7. A sensor whose held-out steps persistence predicts better has its weights multiplied by
//    the share, 0 to 1, that predicts them best: no worse than persistence by then.

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
#define SAVES 0.02  // decision 2; by hand: 0.01 finds two that are not there, 0.05 loses one
#define WITHIN 1.02 // decision 3; by hand
#define CLEARLY 0.9 // decision 6; by hand
#define KNOWN 0.5   // decision 4, of the error of persistence; by hand
#define SLOWLY 0.1  // decision 4; by hand
#define NROUND 2    // decision 5: errors are smaller without the first steps
#define ROWS_PER_TERM 3 // fewest transitions per term; by hand
#define LEAST_ROWS 60   // fewest transitions of a choice

static const double ridge[] = {1e-6, 1e-3}; // decision 3; by hand
enum { NRIDGE = sizeof ridge / sizeof *ridge };
static const int lags_of[] = {1, 2, 4, 8};
enum { NLAGS = sizeof lags_of / sizeof *lags_of };
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
    double *lag;          // of rh_linear__steady()
    rh_linear__judge judge;
    rh_scratch memory;
} work;

// ---------------------------------------------------------------------------- sums

static int64_t first_of(const work *w, int part)
{
    return w->nrow * part / NPART;
}

// The terms of a transition and the changes of its sensors, x (size; QUEUE more are written).
static void fill(const work *w, int64_t i, double *x)
{
    const rh_log *log = w->model->log;
    const rh_linear *m = w->m;
    rh_linear__past past;
    int64_t t = w->row[i];
    const double *next = log->obs + (int64_t)log->to[t] * log->nobs;
    rh_linear__past_of(&past, m, log, t);
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
        double *x = rh_alloc(4 * (size_t)w->size + RH_LINEAR__QUEUE, sizeof *x);
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

// Add the sums over the steps of a part of predicted changes by w->weight, squared, to said
// (nout), and of predicted times real ones to right (nout). The squared errors.
static double add_errors(const work *w, const rh_linear__plan *plan, int part, double *said,
                         double *right)
{
    int n = rh_linear__nterm(w->m, plan);
    const double *sum = w->sum + (size_t)part * (size_t)w->size * (size_t)w->size;
    double all = 0.0;
    for (int k = 0; k < w->m->nout; k++) {
        const double *x = w->weight + (size_t)k * (size_t)n;
        double square = 0.0, product = 0.0;
        int y = w->nterm + k;
        for (int i = 0; i < n; i++) {
            double row = 0.0;
            for (int j = 0; j < n; j++)
                row += element(sum, w->size, w->at[i], w->at[j]) * x[j];
            square += x[i] * row;
            product += x[i] * element(sum, w->size, w->at[i], y);
        }
        said[k] += square;
        right[k] += product;
        all += element(sum, w->size, y, y) + square - 2.0 * product;
    }
    return all;
}

// ---------------------------------------------------------------------------- choosing

// A candidate and its score.
typedef struct candidate {
    rh_linear__plan plan;
    double ridge;
    bool steadied;
    double score;
} candidate;

// Solve a candidate without a part (-1: with all), shrunk or not. False: not solvable.
static bool solve_one(work *w, const candidate *c, int without, bool shrunk, bool *changed)
{
    gather(w, without);
    if (!solve(w, &c->plan, c->ridge))
        return false;
    if (shrunk)
        *changed = rh_linear__steady(w->m, w->model, &c->plan, w->weight, w->lag) || *changed;
    return true;
}

// Score a candidate, shrunk or not; INFINITY: it cannot be solved.
static double judge(work *w, const candidate *c, bool shrunk, bool *changed)
{
    rh_linear__judge *j = &w->judge;
    *changed = false;
    if (!solve_one(w, c, -1, shrunk, changed))
        return INFINITY;
    rh_linear__judge_begin(j, w->m, w->model, &c->plan, w->weight);
    for (int i = 0; i < NHELD; i++) {
        int64_t first = first_of(w, held[i]);
        if (!solve_one(w, c, held[i], shrunk, changed))
            return INFINITY;
        rh_linear__judge_part(j, w->row + first, first_of(w, held[i] + 1) - first, w->weight);
    }
    return rh_linear__judge_score(j, NPART);
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
    int slow = (int)model->param[RH_LINEAR_SLOW];
    return (rh_linear__plan){form ? form : RH_LINEAR_PLAIN, lags ? lags_of[lags - 1] : 1, delay,
                             slow ? slow - 1 : 0};
}

// Score all candidates, the simplest first; their number.
static int judge_all(work *w, candidate *list)
{
    int n = 0, slow = simplest(w->model, 0).slow;
    bool changed;
    for (int form = RH_LINEAR_PLAIN; form <= RH_LINEAR_QUADRATIC; form++)
        for (int l = 0; l < NLAGS && w->nrow >= LEAST_ROWS; l++)
            for (int r = 0; r < NRIDGE; r++) {
                candidate c = {{form, lags_of[l], w->most.delay, slow}, ridge[r], false, NAN};
                if (!allows(w->model, RH_LINEAR_FORM, form) ||
                    !allows(w->model, RH_LINEAR_LAGS, l + 1) || !is_candidate(w, &c.plan))
                    continue;
                c.score = judge(w, &c, true, &changed);
                if (changed && slow) {
                    c.steadied = true;
                } else if (changed) {
                    double free = judge(w, &c, false, &changed);
                    c.steadied = !(free < CLEARLY * c.score);
                    c.score = c.steadied ? c.score : free;
                }
                list[n++] = c;
            }
    return n;
}

// Add averages over the past to a candidate, if that is worth it: decision 4.
static void slow_down(work *w, candidate *best)
{
    candidate with = *best;
    if (!(best->score < KNOWN))
        return;
    for (int slow = 1; slow <= w->most.slow && w->nrow >= LEAST_ROWS; slow++)
        for (int l = 0; l < NLAGS; l++)
            for (int r = 0; r < NRIDGE; r++) {
                candidate c = {
                    {best->plan.form, lags_of[l], w->most.delay, slow}, ridge[r], true, NAN};
                bool grows = false;
                if (!allows(w->model, RH_LINEAR_LAGS, l + 1) || !is_candidate(w, &c.plan))
                    continue;
                c.score = judge(w, &c, true, &grows);
                if (!grows && c.score < (1.0 - SLOWLY) * best->score &&
                    c.score < (with.plan.slow ? 1.0 / WITHIN : 1.0) * with.score)
                    with = c;
            }
    *best = with;
}

// The weights of a candidate, shrunk where persistence is better: decision 7. False: not
// solvable.
static bool solve_best(work *w, const candidate *best)
{
    double said[RH_MAX_OBS] = {0.0}, right[RH_MAX_OBS] = {0.0};
    size_t n = (size_t)rh_linear__nterm(w->m, &best->plan);
    bool changed = false;
    for (int i = 0; i < NHELD; i++)
        if (solve_one(w, best, held[i], best->steadied, &changed))
            add_errors(w, &best->plan, held[i], said, right);
    if (!solve_one(w, best, -1, best->steadied, &changed))
        return false;
    for (int k = 0; k < w->m->nout; k++) {
        double share = fmax(right[k] / said[k], 0.0); // NAN is 0
        for (size_t i = 0; said[k] > 2.0 * right[k] && i < n; i++)
            w->weight[(size_t)k * n + i] *= share;
    }
    return true;
}

static rh_status choose(work *w, candidate *best, rh_error *err)
{
    candidate list[(RH_LINEAR_QUADRATIC + 1) * NLAGS * NRIDGE];
    double least = INFINITY;
    int n = judge_all(w, list);
    *best = (candidate){simplest(w->model, w->most.delay), ridge[0], false, INFINITY};
    for (int i = 0; i < n; i++)
        least = fmin(least, list[i].score);
    for (int i = n - 1; i >= 0; i--)
        if (list[i].score <= WITHIN * least)
            *best = list[i];
    if (w->model->param[RH_LINEAR_SLOW] == 0.0)
        slow_down(w, best);
    if (solve_best(w, best))
        return RH_OK;
    return rh_fail(err, RH_EINVAL,
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
    w->lag = rh_scratch__take(&w->memory, RH_LINEAR__LAG_SCRATCH(nout), sizeof *w->lag);
    rh_linear__judge_take(&w->judge, &w->memory, m, w->nterm);
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
        w.most = (rh_linear__plan){RH_LINEAR_PLAIN, DELAY_LAGS, d, 0};
        bool ok = reserve(&w) && sum_up(&w);
        double error = 0.0, said[RH_MAX_OBS] = {0.0}, right[RH_MAX_OBS] = {0.0};
        for (int i = 0; ok && i < NHELD; i++) {
            gather(&w, held[i]);
            error += solve(&w, &w.most, ridge[0])
                         ? add_errors(&w, &w.most, held[i], said, right)
                         : INFINITY;
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
            rh_linear__plan more = {form, lags_of[l], delay, plan.slow};
            double n = rh_linear__nterm(w->m, &more);
            bool allowed = allows(w->model, RH_LINEAR_FORM, form) &&
                           (any_lags || more.lags == plan.lags) && more.lags >= plan.lags;
            if (allowed && n <= RH_LINEAR__TERM && n * n * (double)w->nrow <= MOST_WORK)
                plan = more;
        }
    rh_linear__plan slow = plan;
    slow.slow = (1 << RH_LINEAR__NSLOW) - 1;
    double n = rh_linear__nterm(w->m, &slow);
    bool any = w->model->param[RH_LINEAR_SLOW] == 0.0;
    return any && n <= RH_LINEAR__TERM && n * n * (double)w->nrow <= MOST_WORK ? slow : plan;
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
    if ((w.most.slow && !rh_linear__average(m, model)) || !reserve(&w) || !sum_up(&w)) {
        rc = rh_base__no_memory(err, "linear");
        goto done;
    }
    rc = choose(&w, &best, err);
    if (rc)
        goto done;
    m->plan = best.plan;
    m->nterm = rh_linear__nterm(m, &m->plan);
    for (int round = 0; !rc && round < NROUND; round++) {
        bool failed, walls = rh_linear__find_walls(m, model, w.weight, w.row, &w.nrow, &failed);
        if (failed || (walls && !sum_up(&w)))
            rc = rh_base__no_memory(err, "linear");
        else if (walls)
            rc = choose(&w, &best, err);
        m->plan = best.plan;
        m->nterm = rh_linear__nterm(m, &m->plan);
        round = walls ? round : NROUND;
    }
    if (rc)
        goto done;
    if (!m->plan.slow) {
        rh_free(m->slow);
        m->slow = NULL;
    }
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
