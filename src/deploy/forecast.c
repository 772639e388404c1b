// forecast.c - predicts what the plant does next, to see that it does something else.
//
// Recursive least squares with forgetting (Ljung, System Identification, 1999, section 11.2).
// With x the features of observation and action, y the changes of the sensors and the reward:
//
//     e = y - w' x,  g = P x / (f + x' P x),  w += g e',  P = (P - g x' P) / f
//
// 1. The predictor is fitted to the plant itself while the agent acts, and its errors are
//    compared with its own earlier errors (rising.c). The study's model could predict, too, but
//    best.yaml alone must do on the plant, a model of nearest neighbours is as large as the
//    log, and its error grows where the agent goes and the log did not: that is no changed
//    plant.
// 2. Features: 1, the sensors, the action (each discrete one by itself), and all products of
//    two while there is room. Sensors are scaled by their ranges and cut.
// 3. Older steps are forgotten, since an agent that learns moves to other states, where other
//    numbers fit. Nothing is forgotten while P is large: without excitation it would grow
//    without bound.
// 4. Each output's e, in standard deviations so far and cut, is a series of its own, upwards
//    and downwards: a changed actuator moves one sensor, a changed tariff the reward. Beside
//    them, the score of a step is the mean over the sensors and the reward of |e|.
//    So is what the actions do: with q the part of a prediction that actions explain, off its
//    mean and in standard deviations, -e q summed over the sensors is high if they do less.
// 5. The score itself is predicted, too, by the same features, and divided by that: where the
//    agent goes as it learns, errors may be larger, and the plant is the same. Without it a
//    quarter of honest deployments in a model of nearest neighbours raised the alarm, with it
//    3 %. Forgetting within a whole run, instead of a fifth, finds more and gave 8 %.
// 6. More than MOST_IN sensors: the first ones are predicted.
// 7. The last changes of the sensors and the last action are features, too: many plants have
//    dead time or states that no sensor shows, and errors that remember say little in a test.

#include "base/base.h"
#include "base/base_internal.h"
#include "deploy_internal.h"

#include <math.h>
#include <string.h>

#define MOST_IN 24     // decision 6
#define MOST_ONE_HOT 8 // discrete actions; more are one number
#define MOST_FEATURE 48
#define CUT_IN 3.0  // decision 2, in half ranges; by hand
#define CUT_OUT 8.0 // decision 4; by hand
#define PRIOR 100.0 // P at the beginning: features have sizes of about 1
#define WINDUP 1e4  // decision 3: largest trace of P per feature; by hand
#define FINE 1e-6   // least standard deviation, in half ranges: below it are roundings
#define SLOWER 0.2  // the scale of errors follows by: 1.0 gave 7.7 % false alarms, this 1.6 %
#define USUAL 0.8   // score: the mean absolute value of a standard normal number
#define LEAST 0.2   // predicted score; by hand
#define WARM 5      // steps per feature before the first score; by hand

struct rh_forecast {
    const rh_best *best;
    int nin, nact, nfeat, nout;
    bool remembers;           // decision 7
    double keep;              // f
    double *all;              // owned: what is saved: nseen, w, P, var
    double *w;                // the last ones: of the score ((nout + 1) x nfeat)
    double *p;                // (nfeat x nfeat)
    double *var;              // moving mean square of e                 (nout)
    double *mean;             // of the features                         (nfeat)
    rh_rising *series;        // errors beside their past                (3 + 2 nout)
    bool by[MOST_FEATURE];    // features of actions                 (nfeat)
    bool follows;             // the step before led to last
    double last[MOST_IN];     //
    double was[MOST_FEATURE]; // its features, without the first
    double x[MOST_FEATURE], g[MOST_FEATURE];
};

static size_t size_of(const rh_forecast *f)
{
    return 1 + (size_t)f->nfeat * (size_t)(f->nout + 2 + f->nfeat) + (size_t)f->nout +
           (size_t)rh_forecast__nseries(f) * (sizeof(rh_rising) / sizeof(double));
}

int rh_forecast__nseries(const rh_forecast *f)
{
    return 3 + 2 * f->nout;
}

rh_rising *rh_forecast__series(rh_forecast *f)
{
    return f->series;
}

// Which features make_features() makes of actions.
static void mark_actions(rh_forecast *f)
{
    int linear = 1 + f->nin + f->nact, n = linear + (f->remembers ? f->nin + f->nact : 0);
    for (int i = 0; i < n; i++)
        f->by[i] = i < linear ? i > f->nin : i >= linear + f->nin;
    for (int i = 1; n < f->nfeat && i <= f->nin; i++)
        for (int k = i; k <= f->nin + f->nact; k++)
            f->by[n++] = k > f->nin;
}

rh_status rh_forecast__create(rh_forecast **out, const rh_best *best, double run, rh_error *err)
{
    rh_forecast *f = rh_alloc(1, sizeof *f);
    if (!f)
        return rh_base__no_memory(err, "deploy");
    const rh_task *task = &best->task;
    f->best = best;
    f->nin = best->nsent < MOST_IN ? best->nsent : MOST_IN;
    f->nact = task->naction && task->naction <= MOST_ONE_HOT ? task->naction - 1 : task->nact;
    f->nact = f->nact < MOST_FEATURE - 1 - f->nin ? f->nact : MOST_FEATURE - 1 - f->nin;
    int linear = 1 + f->nin + f->nact, products = 0;
    for (int i = 0; i < f->nin; i++)
        products += f->nin - i + f->nact;
    f->remembers = linear + f->nin + f->nact <= MOST_FEATURE; // decision 7
    f->nfeat = linear + (f->remembers ? f->nin + f->nact : 0);
    f->nfeat += f->nfeat + products <= MOST_FEATURE ? products : 0;
    f->nout = f->nin + 1;
    f->keep = 1.0 - 1.0 / fmax(20.0 * f->nfeat, run / 5.0); // decision 5
    f->all = rh_alloc(size_of(f), sizeof *f->all);
    if (!f->all) {
        rh_free(f);
        return rh_base__no_memory(err, "deploy");
    }
    f->w = f->all + 1;
    f->p = f->w + (f->nout + 1) * f->nfeat;
    f->var = f->p + f->nfeat * f->nfeat;
    f->mean = f->var + f->nout;
    f->series = (rh_rising *)(f->mean + f->nfeat);
    mark_actions(f);
    for (int i = 0; i < f->nfeat; i++)
        f->p[i * f->nfeat + i] = PRIOR;
    f->w[f->nout * f->nfeat] = USUAL;
    *out = f;
    return RH_OK;
}

void rh_forecast__destroy(rh_forecast *f)
{
    if (f)
        rh_free(f->all);
    rh_free(f);
}

const double *rh_forecast__saved(const rh_forecast *f, size_t *n)
{
    *n = size_of(f);
    return f->all;
}

void rh_forecast__load(rh_forecast *f, const double *from, size_t n)
{
    if (n == size_of(f) && rh_base__all_finite(from, (int)n))
        memcpy(f->all, from, n * sizeof *from);
}

// Decision 7, behind the first n features: without a step before, no change and the same
// action.
static int remember(rh_forecast *f, const double *obs, int n)
{
    const double *now = f->x + 1, *act = now + f->nin;
    bool follows = f->follows && memcmp(f->last, obs, (size_t)f->nin * sizeof *obs) == 0;
    for (int i = 0; i < f->nin; i++)
        f->x[n++] = follows ? now[i] - f->was[i] : 0.0;
    for (int k = 0; k < f->nact; k++)
        f->x[n++] = follows ? f->was[f->nin + k] : act[k];
    memcpy(f->was, now, (size_t)(f->nin + f->nact) * sizeof *now);
    return n;
}

// Decision 2.
static void make_features(rh_forecast *f, const double *obs, const double *act)
{
    const rh_task *task = &f->best->task;
    int n = 0;
    f->x[n++] = 1.0;
    for (int i = 0; i < f->nin; i++) {
        double half = 0.5 * (task->obs_hi[i] - task->obs_lo[i]);
        double x = (obs[i] - task->obs_lo[i]) / half - 1.0;
        f->x[n++] = fmin(fmax(x, -CUT_IN), CUT_IN);
    }
    for (int k = 0; k < f->nact; k++)
        if (task->naction && task->naction <= MOST_ONE_HOT)
            f->x[n++] = (int)act[0] == k + 1;
        else if (task->naction)
            f->x[n++] = 2.0 * act[0] / (task->naction - 1.0) - 1.0;
        else
            f->x[n++] =
                2.0 * (act[k] - task->act_lo[k]) / (task->act_hi[k] - task->act_lo[k]) - 1.0;
    if (f->remembers)
        n = remember(f, obs, n);
    for (int i = 1; n < f->nfeat && i <= f->nin; i++)
        for (int k = i; k <= f->nin + f->nact; k++)
            f->x[n++] = f->x[i] * f->x[k];
}

static void update_gain(rh_forecast *f)
{
    int n = f->nfeat;
    double along = f->keep, trace = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < n; k++)
            sum += f->p[i * n + k] * f->x[k];
        f->g[i] = sum;
        along += sum * f->x[i];
        trace += f->p[i * n + i];
    }
    double scale = trace < WINDUP * n ? 1.0 / f->keep : 1.0; // decision 3
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double p = (f->p[i * n + k] - f->g[i] * f->g[k] / along) * scale;
            f->p[i * n + k] = f->p[k * n + i] = p;
        }
    for (int i = 0; i < n; i++)
        f->g[i] /= along;
}

static double predicted(const rh_forecast *f, const double *w)
{
    double sum = 0.0;
    for (int i = 0; i < f->nfeat; i++)
        sum += w[i] * f->x[i];
    return sum;
}

// e: the error.
static void learn(const rh_forecast *f, double *w, double e)
{
    for (int i = 0; i < f->nfeat; i++)
        w[i] += f->g[i] * e;
}

// What the actions explain of output o, decision 4.
static double effect(const rh_forecast *f, int o)
{
    const double *w = f->w + o * f->nfeat;
    double sum = 0.0;
    for (int i = 0; i < f->nfeat; i++)
        sum += f->by[i] ? w[i] * (f->x[i] - f->mean[i]) : 0.0;
    return f->var[o] > 0.0 ? fmin(fmax(sum / sqrt(f->var[o]), -CUT_OUT), CUT_OUT) : 0.0;
}

// The error of output o, whose true value is y, in standard deviations so far; learns from it.
static double miss(rh_forecast *f, int o, double y)
{
    double *w = f->w + o * f->nfeat, nseen = f->all[0], z = NAN;
    double e = y - predicted(f, w);
    if (f->var[o] > 0.0) {
        double least = FINE * (o < f->nin ? 1.0 : fabs(y));
        z = e / (sqrt(f->var[o]) + least);
        z = fmin(fmax(z, -CUT_OUT), CUT_OUT);
    }
    learn(f, w, e);
    double since = fmax(0.0, nseen - WARM * f->nfeat); // earlier errors are forgotten
    double rate = fmax(1.0 / (1.0 + since), SLOWER * (1.0 - f->keep));
    f->var[o] += rate * (e * e - f->var[o]);
    return z;
}

bool rh_forecast__step(rh_forecast *f, const double *obs, const double *act, double reward,
                       const double *next, double error[RH_FORECAST__MOST])
{
    const rh_task *task = &f->best->task;
    double score = 0.0, less = 0.0, nseen = f->all[0];
    int known = 0;
    make_features(f, obs, act);
    update_gain(f);
    for (int o = 0; o < f->nout; o++) {
        double y = o < f->nin ? 2.0 * (next[o] - obs[o]) / (task->obs_hi[o] - task->obs_lo[o])
                              : reward;
        double q = effect(f, o), z = isfinite(y) ? miss(f, o, y) : NAN;
        error[3 + 2 * o] = z;
        error[4 + 2 * o] = -z;
        less -= isnan(z) || o == f->nin ? 0.0 : z * q;
        score += isnan(z) ? 0.0 : fabs(z);
        known += !isnan(z);
    }
    error[1] = less;
    error[2] = -less;
    double rate = fmax(1.0 / (1.0 + nseen), 1.0 - f->keep);
    for (int i = 0; i < f->nfeat; i++)
        f->mean[i] += rate * (f->x[i] - f->mean[i]);
    f->all[0] = fmin(nseen + 1.0, 1e9);
    memcpy(f->last, next, (size_t)f->nin * sizeof *next);
    f->follows = true;
    if (!known || nseen < WARM * f->nfeat)
        return false;
    double *w = f->w + f->nout * f->nfeat; // decision 5
    double usual = predicted(f, w);
    score /= known;
    learn(f, w, score - usual);
    error[0] = score / fmax(usual, LEAST);
    return true;
}
