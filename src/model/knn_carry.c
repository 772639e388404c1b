// knn_carry.c - learns how a difference between two states carries over to the next step.
//
// From state s, the drawn neighbour is transition i, which began in s_i, near s. Stitching goes
// to s'_i, as if s had been s_i, so that the agent can never leave the states of the log. With
// carry it goes to
//
//     s' = s'_i + M (s - s_i),     reward = r_i + m (s - s_i)
//
// where M and m are learned from pairs of neighbours: over transitions j near i with the same
// action, s'_j - s'_i is regressed on s_j - s_i. Continuous actions add columns for a - a_i.
//
//     none     M = 0: the paper's model
//     log      one M for all transitions
//     action   one for each discrete action, drawn towards that of the log
//     local    one for each transition, from its NLOCAL nearest, drawn towards that of its
//     action
//
// 1. Sensors are scaled by their standard deviation, so that one ridge serves all. The ridge is
//    a share of the mean variance of the pairs: directions in which neighbours do not differ
//    take the value of the level above, and at the top 0, which is stitching.
// 2. The singular values of M are at most `cap`. With 1 a difference never grows, but neither
//    does it where the plant is unstable. Energy scores of held-out stretches after 1, 5, 20
//    and 50 steps, in standard deviations (a prototype in numpy; local, k = 5, one log each):
//
//                     stitching              cap 1                   cap 1.6
//        cartpole     .097 .14  .30 .74      .0042 .014 .077 .70     .0025 .0066 .026 .27
//        acrobot      .152 .45  .68 .84      .067  .34  .64  .86     .035  .16   .54  .71
//        puddle world .034 .060 .083 .088    .030  .058 .095 .12     .030  .056  .11  .17
//        mountain car .019 .031 .068 .13     .0027 .006 .017 .025    .0025 .0050 .011 .017
//
//    What bounds a run is not the cap but coverage: a state far from the log ends it.
// 3. A sensor that no action moves depends on such sensors only, so its row has no others.
// 4. The reward's slope is used if it predicts the rewards of NTEST further neighbours, which
//    the regression did not use, with at most WORTH times the error of the nearest reward.
//    Rewards that count events have no slope.
// 5. Matrices of `local` take n d (d + 1) floats. Above MOST_BYTES those of the action are
//    used.
// 6. Every transition's matrix depends on its own neighbours only, and sums are in their order:
//    the number of threads changes no bit.

#include "knn_internal.h"
#include "numeric/cholesky.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

// neighbours of a local regression, more in many dimensions; by hand: in replays Acrobot has
// 0.591, with 10 0.609 and with 40 0.647; Cartpole 0.160, 0.171 and 0.150
#define NLOCAL 20
#define NTEST 4   // neighbours that test the reward's slope
#define WORTH 0.8 // decision 4; by hand
// towards 0; by hand: half or twice as much costs Cartpole 0.003 or 0.007, so that matrices of
// the action are chosen there, 0.135 instead of 0.134
#define RIDGE_LOG 1e-3
// towards the level above; by hand: Acrobot has 0.591, with half 0.612, twice 0.598
#define RIDGE_ABOVE 0.03
#define MOST_BYTES 0x1p30 // decision 5
#define MOST_WORK 2e9 // and of transitions times the cube of sensors; by hand, bounds the time
#define MOST_SUMMED 50000 // transitions of the matrices of the log and of an action
#define MOST_JUDGES 5000  // transitions that judge the reward's slopes
#define AT_ONCE 4096      // transitions per thread and turn
#define SWEEPS 30         // of the Jacobi rotations, at most

typedef struct fitting {
    rh_knn *knn;
    const rh_model *model;
    int nobs, nin, nout;             // numbers of a state, of x, and of y
    double scale[RH_KNN__NIN + 1];   // standard deviations of x, and of the reward
    double inverse[RH_KNN__NIN + 1]; // of the scales
    bool exogenous[RH_MAX_OBS];      //
    bool any_exogenous, any_wraps;
    const uint8_t *wanted; // positions whose matrices are needed; NULL: all    (nuse)
    int near;              // neighbours per transition
    int32_t *list;         // owned: positions of neighbours, -1: fewer  (nuse x (near + NTEST))
    double *top;           // owned: scaled M of the log and of each action
} fitting;

static bool arrives(const rh_log *log, int64_t t)
{
    return log->to[t] != RH_UNKNOWN;
}

// The scaled differences of transition b from a.
static void subtract(const fitting *f, int64_t a, int64_t b, double *x, double *y)
{
    const rh_model *model = f->model;
    const rh_log *log = model->log;
    const double *sa = log->obs + (int64_t)log->from[a] * f->nobs;
    const double *sb = log->obs + (int64_t)log->from[b] * f->nobs;
    const double *ta = log->obs + (int64_t)log->to[a] * f->nobs;
    const double *tb = log->obs + (int64_t)log->to[b] * f->nobs;
    for (int k = 0; k < f->nobs; k++) {
        x[k] = (sb[k] - sa[k]) * f->inverse[k];
        y[k] = (tb[k] - ta[k]) * f->inverse[k];
    }
    for (int k = 0; f->any_wraps && k < f->nobs; k++) {
        x[k] = rh_knn__difference(model, k, sb[k], sa[k]) * f->inverse[k];
        y[k] = rh_knn__difference(model, k, tb[k], ta[k]) * f->inverse[k];
    }
    for (int k = f->nobs; k < f->nin; k++)
        x[k] = (log->act[b * log->nact + k - f->nobs] - log->act[a * log->nact + k - f->nobs]) *
               f->inverse[k];
    y[f->nobs] = log->reward[b] - log->reward[a];
}

// ---------------------------------------------------------------------------- neighbours

// Index the transitions of one action, or of all.
static rh_status index_steps(rh_knn *knn, const rh_model *model, int action,
                             rh_knn__steps *steps, rh_error *err)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr);
    rh_status rc = RH_OK;
    float *point = NULL;
    for (int64_t i = 0; i < knn->nuse; i++)
        steps->n += (int)log->act[rh_knn__transition(knn, i)] == action;
    if (steps->n == 0)
        return RH_OK;
    steps->position = rh_alloc((size_t)steps->n, sizeof *steps->position);
    point = rh_alloc((size_t)steps->n, (size_t)d * sizeof *point);
    if (!steps->position || !point) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    int64_t n = 0;
    for (int64_t i = 0; i < knn->nuse; i++) {
        int64_t t = rh_knn__transition(knn, i);
        if ((int)log->act[t] != action)
            continue;
        memcpy(point + n * d, model->code + (int64_t)log->from[t] * d,
               (size_t)d * sizeof *point);
        steps->position[n++] = (int32_t)i;
    }
    rc = rh_neighbours__create(&steps->points, point, n, d, err);

done:
    rh_free(point);
    return rc;
}

rh_status rh_knn__index_steps(rh_knn *knn, const rh_model *model, rh_error *err)
{
    int n = model->log->naction;
    rh_status rc = RH_OK;
    if (n == 0)
        return RH_OK; // knn->points has all transitions
    knn->steps = rh_alloc((size_t)n, sizeof *knn->steps);
    if (!knn->steps)
        return rh_base__no_memory(err, "knn");
    knn->nsteps = n;
    for (int a = 0; !rc && a < n; a++)
        rc = index_steps(knn, model, a, &knn->steps[a], err);
    return rc;
}

// Fill the lists of neighbours of the transitions in one index.
static rh_status list_neighbours(fitting *f, const rh_model__part *part,
                                 const rh_neighbours *points, const int32_t *position,
                                 int64_t n, rh_error *err)
{
    int k = f->near + NTEST;
    int32_t *index = rh_alloc((size_t)n, (size_t)k * sizeof *index);
    int32_t *self = rh_alloc((size_t)n, sizeof *self);
    rh_status rc = RH_OK;
    if (!index || !self) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        self[i] = (int32_t)i;
    int32_t nblock = rh_neighbours__nblock(points);
#pragma omp parallel for schedule(dynamic, 16) num_threads(part->nthread)
    for (int32_t block = 0; block < nblock; block++)
        rh_neighbours__find_range(points, points, k, self, block, block + 1, index, NULL);
    for (int64_t i = 0; i < n; i++) {
        int32_t *to = f->list + (position ? position[i] : i) * k;
        for (int j = 0; j < k; j++) {
            int32_t at = index[i * k + j];
            to[j] = at < 0 || !position ? at : position[at];
        }
    }

done:
    rh_free(index);
    rh_free(self);
    return rc;
}

static rh_status find_neighbours(fitting *f, const rh_model__part *part, rh_error *err)
{
    rh_knn *knn = f->knn;
    rh_status rc = RH_OK;
    f->list = rh_alloc((size_t)knn->nuse, (size_t)(f->near + NTEST) * sizeof *f->list);
    if (!f->list)
        return rh_base__no_memory(err, "knn");
    if (knn->points)
        return list_neighbours(f, part, knn->points, NULL, knn->nuse, err);
    for (int a = 0; !rc && a < knn->nsteps; a++)
        if (knn->steps[a].n)
            rc = list_neighbours(f, part, knn->steps[a].points, knn->steps[a].position,
                                 knn->steps[a].n, err);
    return rc;
}

// ---------------------------------------------------------------------------- regression

// Add the pairs of the transition at `position` and its neighbours.
static void add_pairs(const fitting *f, int64_t position, double *g, double *h)
{
    const rh_log *log = f->model->log;
    int64_t a = rh_knn__transition(f->knn, position);
    const int32_t *list = f->list + position * (f->near + NTEST);
    double x[RH_KNN__NIN], y[RH_KNN__NIN];
    if (!arrives(log, a))
        return;
    for (int n = 0; n < f->near && list[n] >= 0; n++) {
        int64_t b = rh_knn__transition(f->knn, list[n]);
        if (!arrives(log, b))
            continue;
        subtract(f, a, b, x, y);
        int nin = f->nin, nout = f->nout;
        for (int i = 0; i < nin; i++) {
            double xi = x[i], *restrict gi = g + i * nin, *restrict hi = h + i * nout;
            for (int j = 0; j < nin; j++) // all of it: half of it would not be faster
                gi[j] += xi * x[j];
            for (int j = 0; j < nout; j++)
                hi[j] += xi * y[j];
        }
    }
}

// The matrix (nout x nin) that sums g, h say, drawn towards `prior` (NULL: 0) by a ridge that
// is a share of the mean variance. Both are scaled. work: (nin x nin) and (nin x nout).
static void regress(const fitting *f, const double *g, const double *h, double share,
                    const double *prior, double *work, double *out)
{
    int nin = f->nin, nout = f->nout;
    double *factor = work, *b = work + nin * nin, trace = 0.0;
    for (int i = 0; i < nin; i++)
        trace += g[i * nin + i];
    double ridge = share * trace / nin;
    if (!(ridge > 0.0 && isfinite(ridge))) { // no pairs, or they coincide
        for (int i = 0; i < nin * nout; i++)
            out[i] = prior ? prior[i] : 0.0;
        return;
    }
    for (int pass = 0; pass < 1 + f->any_exogenous; pass++) {
        // the second pass is for sensors that no action moves: others have no part in them
        memcpy(factor, g, (size_t)(nin * nin) * sizeof *g);
        for (int i = 0; i < nin; i++) {
            bool out_of_it = pass && (i >= f->nobs || !f->exogenous[i]);
            for (int j = 0; j <= i; j++)
                if (out_of_it || (pass && (j >= f->nobs || !f->exogenous[j])))
                    factor[i * nin + j] = 0.0;
            factor[i * nin + i] += ridge;
        }
        rh_cholesky__factor_small(nin, factor, (size_t)nin, 0.0); // cannot fail: the ridge
        for (int r = 0; r < nout; r++) {
            if ((r < f->nobs && f->exogenous[r]) != (pass == 1))
                continue;
            for (int i = 0; i < nin; i++) {
                bool part = !pass || (i < f->nobs && f->exogenous[i]);
                double towards = prior ? ridge * prior[r * nin + i] : 0.0;
                b[i * nout + r] = part ? h[i * nout + r] + towards : 0.0;
            }
            rh_cholesky__solve_small(nin, factor, (size_t)nin, b + r, (size_t)nout);
            for (int i = 0; i < nin; i++)
                out[r * nin + i] = b[i * nout + r];
        }
    }
}

// Whether no singular value can exceed `most`: the product of the largest sums of a row and of
// a column bounds its square.
static bool is_capped(const fitting *f, double most, const double *m)
{
    double column[RH_MAX_OBS] = {0}, row_most = 0.0, column_most = 0.0;
    for (int i = 0; i < f->nobs; i++) {
        double row = 0.0;
        for (int j = 0; j < f->nobs; j++) {
            double x = fabs(m[i * f->nin + j]);
            row += x;
            column[j] += x;
        }
        row_most = fmax(row_most, row);
    }
    for (int j = 0; j < f->nobs; j++)
        column_most = fmax(column_most, column[j]);
    return row_most * column_most <= most * most;
}

// Cap the singular values of the first nobs columns and rows of m (nout x nin), by one-sided
// Jacobi rotations. work: twice (nobs x nobs).
static void cap(const fitting *f, double most, double *m, double *work)
{
    int n = f->nobs;
    if (is_capped(f, most, m))
        return;
    double *w = work, *v = work + n * n; // columns in rows: w_j = M v_j
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            w[j * n + i] = m[i * f->nin + j];
            v[j * n + i] = i == j;
        }
    bool turned = true;
    for (int sweep = 0; turned && sweep < SWEEPS; sweep++) {
        turned = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double *wp = w + p * n, *wq = w + q * n, *vp = v + p * n, *vq = v + q * n;
                double pp = 0.0, qq = 0.0, pq = 0.0;
                for (int i = 0; i < n; i++) {
                    pp += wp[i] * wp[i];
                    qq += wq[i] * wq[i];
                    pq += wp[i] * wq[i];
                }
                if (!(fabs(pq) > 1e-10 * sqrt(pp * qq)))
                    continue;
                turned = true;
                double zeta = (qq - pp) / (2.0 * pq);
                double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
                for (int i = 0; i < n; i++) {
                    double x = wp[i], y = vp[i];
                    wp[i] = c * x - s * wq[i];
                    wq[i] = s * x + c * wq[i];
                    vp[i] = c * y - s * vq[i];
                    vq[i] = s * y + c * vq[i];
                }
            }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[i * f->nin + j] = 0.0;
    for (int p = 0; p < n; p++) {
        double square = 0.0;
        for (int i = 0; i < n; i++)
            square += w[p * n + i] * w[p * n + i];
        double shrink = square > most * most ? most / sqrt(square) : 1.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                m[i * f->nin + j] += shrink * w[p * n + i] * v[p * n + j];
    }
}

// A scaled matrix, capped, in the units of the sensors.
static void keep(const fitting *f, double *m, double *work, float *out)
{
    int nin = f->nin;
    cap(f, f->model->param[RH_KNN_CAP], m, work);
    for (int r = 0; r < f->nout; r++) {
        double unit = r < f->nobs ? f->scale[r] : 1.0;
        for (int c = 0; c < nin; c++)
            out[r * nin + c] = (float)(m[r * nin + c] * unit / f->scale[c]);
    }
}

// ---------------------------------------------------------------------------- levels

// Sums over evenly spaced transitions, of one action or (-1) of all, into g and h.
static void sum_up(const fitting *f, int action, double *g, double *h)
{
    const rh_knn *knn = f->knn;
    const rh_log *log = f->model->log;
    int64_t n = 0, count = 0;
    for (int64_t i = 0; i < knn->nuse; i++)
        count += action < 0 || (int)log->act[rh_knn__transition(knn, i)] == action;
    int64_t stride = 1 + count / MOST_SUMMED;
    memset(g, 0, (size_t)(f->nin * f->nin) * sizeof *g);
    memset(h, 0, (size_t)(f->nin * f->nout) * sizeof *h);
    for (int64_t i = 0; i < knn->nuse; i++)
        if ((action < 0 || (int)log->act[rh_knn__transition(knn, i)] == action) &&
            n++ % stride == 0)
            add_pairs(f, i, g, h);
}

// The matrices of the log and of each action, scaled and not capped, to f->top.
static void fit_top(fitting *f, double *work)
{
    int size = f->nin * f->nout;
    double *g = work, *h = g + f->nin * f->nin, *more = h + size;
    sum_up(f, -1, g, h);
    regress(f, g, h, RIDGE_LOG, NULL, more, f->top);
    for (int a = 0; a < f->knn->nsteps; a++) {
        sum_up(f, a, g, h);
        regress(f, g, h, RIDGE_ABOVE, f->top, more, f->top + (a + 1) * size);
    }
}

static void fit_local(const fitting *f, int64_t position, double *work, float *out)
{
    const rh_log *log = f->model->log;
    int size = f->nin * f->nout;
    double *g = work, *h = g + f->nin * f->nin, *m = h + size, *more = m + size;
    int above = f->knn->nsteps ? 1 + (int)log->act[rh_knn__transition(f->knn, position)] : 0;
    memset(g, 0, (size_t)(f->nin * f->nin) * sizeof *g);
    memset(h, 0, (size_t)size * sizeof *h);
    add_pairs(f, position, g, h);
    regress(f, g, h, RIDGE_ABOVE, f->top + above * size, more, m);
    keep(f, m, more, out);
}

static size_t work_size(const fitting *f)
{
    size_t nin = (size_t)f->nin, nout = (size_t)f->nout;
    return 3 * nin * nin + 4 * nin * nout;
}

static rh_status fit_all_local(fitting *f, const rh_model__part *part, double *work,
                               rh_error *err)
{
    rh_knn *knn = f->knn;
    size_t size = (size_t)f->nin * (size_t)f->nout, room = work_size(f);
    const rh_watch *watch = &part->watch;
    int64_t turn = AT_ONCE * (int64_t)part->nthread;
    for (int64_t first = 0; first < knn->nuse; first += turn) {
        int64_t end = knn->nuse - first < turn ? knn->nuse : first + turn;
#pragma omp parallel for schedule(static) num_threads(part->nthread)
        for (int thread = 0; thread < part->nthread; thread++)
            for (int64_t i = first + thread; i < end; i += part->nthread)
                if (!f->wanted || f->wanted[i])
                    fit_local(f, i, work + (size_t)thread * room,
                              knn->slope + (size_t)i * size);
        if (watch->progress)
            watch->progress(watch->context, "learning to carry",
                            (double)end / (double)knn->nuse);
        if (watch->stop && watch->stop(watch->context))
            return rh_fail(err, RH_ESTOPPED, "knn: stopped while learning to carry");
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- rewards

// The stride of the transitions that judge the reward's slopes.
static int64_t judging(const rh_knn *knn)
{
    return 1 + knn->nuse / MOST_JUDGES;
}

// Whether slopes predict rewards that they were not fitted to; otherwise they become 0.
static void judge_rewards(fitting *f)
{
    rh_knn *knn = f->knn;
    const rh_log *log = f->model->log;
    int k = f->near + NTEST, nin = f->nin;
    int64_t stride = judging(knn);
    double with = 0.0, without = 0.0, x[RH_KNN__NIN], y[RH_KNN__NIN];
    for (int64_t i = 0; i < knn->nuse; i += stride) {
        int64_t a = rh_knn__transition(knn, i);
        const float *m = rh_knn__slope(knn, f->model, (int32_t)i) + f->nobs * nin;
        for (int j = f->near; arrives(log, a) && j < k; j++) {
            int32_t at = f->list[i * k + j];
            int64_t b = at < 0 ? a : rh_knn__transition(knn, at);
            if (b == a || !arrives(log, b))
                continue;
            subtract(f, a, b, x, y);
            double predicted = 0.0;
            for (int c = 0; c < nin; c++)
                predicted += (double)m[c] * x[c] * f->scale[c];
            without += fabs(y[f->nobs]);
            with += fabs(y[f->nobs] - predicted);
        }
    }
    knn->sloped = with < WORTH * without;
    for (int64_t i = 0; !knn->sloped && i < knn->nslope; i++)
        for (int c = 0; c < nin; c++)
            knn->slope[(i * f->nout + f->nobs) * nin + c] = 0.0f;
}

// ---------------------------------------------------------------------------- the fit

// Standard deviations of the states that transitions begin in, of continuous actions, and of
// the reward.
static void find_scales(fitting *f)
{
    const rh_log *log = f->model->log;
    for (int k = 0; k <= f->nin; k++) {
        double mean = 0.0, square = 0.0;
        for (int64_t i = 0; i < log->n; i++) {
            double x = k < f->nobs  ? log->obs[(int64_t)log->from[i] * f->nobs + k]
                       : k < f->nin ? log->act[i * log->nact + k - f->nobs]
                                    : log->reward[i];
            double gap = x - mean;
            mean += gap / (double)(i + 1);
            square += gap * (x - mean);
        }
        double deviation = sqrt(square / (double)log->n);
        f->scale[k] = deviation > 0.0 && isfinite(deviation) ? deviation : 1.0;
        f->inverse[k] = 1.0 / f->scale[k];
    }
}

static int64_t count_slopes(const fitting *f, int how)
{
    const rh_knn *knn = f->knn;
    double work = (double)knn->nuse * f->nobs * f->nobs * f->nobs;
    double bytes = (double)knn->nuse * f->nin * f->nout * sizeof *knn->slope;
    if (how == RH_KNN_LOCAL && work <= MOST_WORK && bytes <= MOST_BYTES)
        return knn->nuse;
    return how == RH_KNN_LOG || knn->nsteps == 0 ? 1 : knn->nsteps;
}

const float *rh_knn__slope(const rh_knn *knn, const rh_model *model, int32_t position)
{
    int64_t at = 0;
    if ((int)model->param[RH_KNN_CARRY] == RH_KNN_LOCAL && knn->nslope == knn->nuse)
        at = position;
    else if (knn->nslope > 1)
        at = (int64_t)model->log->act[rh_knn__transition(knn, position)];
    return knn->slope + at * rh_knn__slope_size(model);
}

int64_t rh_knn__slope_size(const rh_model *model)
{
    const rh_log *log = model->log;
    return (int64_t)(log->nobs + 1) * (log->nobs + (log->naction ? 0 : log->nact));
}

// The positions that a member needs which is asked for a few states only: those in its table,
// and those that judge rewards. Owned: *out (nuse); NULL: all.
static rh_status find_wanted(uint8_t **out, const rh_knn *knn, const rh_model *model,
                             const rh_model__part *part, rh_error *err)
{
    if (!part->ask || !knn->index)
        return RH_OK;
    *out = rh_alloc((size_t)knn->nuse, sizeof **out);
    if (!*out)
        return rh_base__no_memory(err, "knn");
    int64_t n = model->log->naction * model->log->nstate * knn->k;
    for (int64_t i = 0; i < n; i++)
        if (knn->index[i] >= 0)
            (*out)[rh_knn__position(knn, knn->index[i])] = 1;
    for (int64_t i = 0; i < knn->nuse; i += judging(knn))
        (*out)[i] = 1;
    return RH_OK;
}

rh_status rh_knn__fit_carry(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                            rh_error *err)
{
    const rh_log *log = model->log;
    uint8_t *wanted = NULL;
    fitting f = {.knn = knn, .model = model, .nobs = log->nobs, .nout = log->nobs + 1};
    f.nin = log->nobs + (log->naction ? 0 : log->nact);
    f.near = 2 * f.nin > NLOCAL ? 2 * f.nin : NLOCAL;
    f.near = f.near + NTEST > RH_NEIGHBOURS_MOST ? RH_NEIGHBOURS_MOST - NTEST : f.near;
    for (int k = 0; k < log->nobs; k++) {
        f.exogenous[k] = model->facts->sensor[k].exogenous;
        f.any_exogenous = f.any_exogenous || f.exogenous[k];
        f.any_wraps = f.any_wraps || !isnan(model->facts->sensor[k].period);
    }
    rh_status rc = RH_OK;
    size_t size = (size_t)f.nin * (size_t)f.nout;
    double *work = rh_alloc(work_size(&f) * (size_t)part->nthread, sizeof *work);
    f.top = rh_alloc(size * (size_t)(1 + knn->nsteps), sizeof *f.top);
    knn->nslope = count_slopes(&f, (int)model->param[RH_KNN_CARRY]);
    knn->slope = rh_alloc(size * (size_t)knn->nslope, sizeof *knn->slope);
    if (!work || !f.top || !knn->slope) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    find_scales(&f);
    rc = find_wanted(&wanted, knn, model, part, err);
    f.wanted = wanted;
    if (!rc)
        rc = find_neighbours(&f, part, err);
    if (rc)
        goto done;
    fit_top(&f, work);
    if (knn->nslope == knn->nuse)
        rc = fit_all_local(&f, part, work, err);
    else
        for (int64_t i = 0; i < knn->nslope; i++)
            keep(&f, f.top + (size_t)(knn->nslope > 1 ? i + 1 : 0) * size, work,
                 knn->slope + (size_t)i * size);
    if (rc)
        goto done;
    judge_rewards(&f);
    knn->apart = INFINITY;
    if (!part->ask) // predictions use transitions of the same action only
        rc = rh_knn__fit_switch(knn, model, f.scale, part->rng, err);

done:
    rh_free(wanted);
    rh_free(f.list);
    rh_free(f.top);
    rh_free(work);
    return rc;
}
