// fidelity_predict.c - errors of predictions for episodes that the model has not seen.
//
// Root mean square, over held-out transitions, of
//
//     state     |code(mean of the predicted s') - code(s')|
//     sensor    mean of the predicted s' - s', per sensor
//     reward    mean of the predicted r - r
//     terminal  predicted probability - (1 if the episode ended, else 0)
//
// the last being the root of the Brier score. Each is accompanied by the error of predicting
// the mean of the other episodes and, for states, of the persistence forecast s' = s.
//
// 1. Whole episodes are held out, dealt to folds in turn; one resumed after a gap goes with the
//    one before. Steps of one episode are near each other, so a model that knows the steps
//    before and after would only have to remember. If one episode is more than half of the log,
//    blocks of steps are held out, and GAP of the log on either side is not used for fitting.
// 2. The representation is that of the whole log. It never sees a reward, and learning it for
//    every fold would multiply the time of a fit.
// 3. The code of the mean prediction is compared, not the mean of codes, so that a kind need
//    not know codes.
// 4. Out of coverage the model gives a penalty, not a prediction: such steps are counted and
//    left out of all errors. The reach is the fitted model's, since a fold's own would differ.
// 5. Terminal steps with unknown s' count for reward and termination only.

#include "base/base_internal.h"
#include "base/scratch.h"
#include "facts.h"
#include "fidelity_internal.h"

#include <math.h>

#define NFOLD 5
#define MOST_HELD 5000     // held-out transitions predicted, in all
#define MOST_FOLDED 200000 // longest log with more than one fold
#define LEAST_STEPS 10     // shortest log with held-out steps
#define GAP 0.01 // of the log, between a held-out block and the steps used: decision 1; by hand

// The folds: episodes, or blocks of steps.
typedef struct plan {
    int nfold;     // parts
    int nrun;      // of these held out in turn
    uint8_t *part; // owned: of each episode; NULL: blocks of steps      (nepisode)
    int64_t gap;   // beside a block, in steps
} plan;

typedef struct tally {
    double model, mean, persistence; // sums of squares
    int64_t n;
} tally;

// Predictions in progress.
typedef struct asking {
    rh_fidelity__work *w;
    plan plan;
    int32_t *use;  // owned: transitions to fit                          (n)
    int32_t *held; // owned: transitions held out                        (n)
    int32_t *row;  // owned: states to predict from                      (MOST_HELD)
    int64_t nuse, nheld;
    double mean_obs[RH_MAX_OBS], mean_code[RH_MAX_CODE]; // of s', over the fitted steps
    double mean_reward, mean_terminal;                   //
    tally state, reward, terminal;                       //
    tally *sensor;                                       // owned        (nobs)
    double ends, others;                                 // predicted probabilities of an
                                                         // end, at ends and elsewhere: sums
    double x, y, xx, xy, yy, y4;                         // predicted and real rewards: sums
    int64_t nasked, nuncovered;
} asking;

static bool is_terminal(const rh_log *log, int64_t t)
{
    return log->flag[t] & RH_FLAG_TERMINAL;
}

// ---------------------------------------------------------------------------- folds

// Deal episodes to folds, resumed ones with the one before. False if memory ran out.
static bool deal(plan *p, const rh_log *log)
{
    int64_t largest, nunit = rh_model__units(log, &largest);

    // one long episode: blocks
    if (nunit < 2 || 2 * largest > log->n) {
        p->nfold = NFOLD;
        p->gap = (int64_t)ceil(GAP * (double)log->n);
        return true;
    }
    p->nfold = nunit < NFOLD ? (int)nunit : NFOLD;
    p->part = rh_alloc((size_t)log->nepisode, sizeof *p->part);
    if (!p->part)
        return false;
    int64_t unit = -1;
    for (int e = 0; e < log->nepisode; e++) {
        unit += e == 0 || log->start[e];
        p->part[e] = (uint8_t)(unit % p->nfold);
    }
    return true;
}

static void split(asking *a, int fold)
{
    const rh_log *log = a->w->log;
    const plan *p = &a->plan;
    int64_t begin = log->n * fold / p->nfold, end = log->n * (fold + 1) / p->nfold;
    a->nuse = a->nheld = 0;
    for (int64_t t = 0; t < log->n; t++) {
        bool held = p->part ? p->part[log->episode[t]] == fold : t >= begin && t < end;
        bool near = !p->part && t >= begin - p->gap && t < end + p->gap;
        if (held)
            a->held[a->nheld++] = (int32_t)t;
        else if (!near)
            a->use[a->nuse++] = (int32_t)t;
    }
}

// Update a running mean. Of equal numbers it is exact, where a sum of a million would round.
static void count_in(double *mean, double x, int64_t n)
{
    *mean += (x - *mean) / (double)n;
}

// Means of the fitted steps; NAN for s' if none is known.
static void take_means(asking *a)
{
    const rh_fidelity__work *w = a->w;
    const rh_log *log = w->log;
    int64_t known = 0, nterminal = 0;
    memset(a->mean_obs, 0, sizeof a->mean_obs);
    memset(a->mean_code, 0, sizeof a->mean_code);
    a->mean_reward = 0.0;
    for (int64_t i = 0; i < a->nuse; i++) {
        int32_t t = a->use[i];
        count_in(&a->mean_reward, log->reward[t], i + 1);
        nterminal += is_terminal(log, t);
        if (log->to[t] == RH_UNKNOWN)
            continue;
        known++;
        for (int k = 0; k < log->nobs; k++)
            count_in(&a->mean_obs[k], log->obs[(int64_t)log->to[t] * log->nobs + k], known);
        for (int k = 0; k < w->ncode; k++)
            count_in(&a->mean_code[k], (double)rh_fidelity__code(w, log->to[t])[k], known);
    }
    for (int k = 0; !known && k < log->nobs; k++)
        a->mean_obs[k] = NAN;
    for (int k = 0; !known && k < w->ncode; k++)
        a->mean_code[k] = NAN;
    a->mean_terminal = (double)nterminal / (double)a->nuse;
}

// ---------------------------------------------------------------------------- errors

static void add(tally *sum, double model, double mean, double persistence)
{
    sum->model += model * model;
    sum->mean += mean * mean;
    sum->persistence += persistence * persistence;
    sum->n++;
}

// A difference; 0 if it is the rounding error of a mean of equal neighbours.
static double miss(double said, double real)
{
    return fabs(said - real) <= 1e-14 * fabs(real) ? 0.0 : said - real;
}

static rh_fidelity_error root(const tally *sum)
{
    double n = (double)sum->n;
    if (sum->n == 0)
        return (rh_fidelity_error){NAN, NAN, NAN};
    return (rh_fidelity_error){sqrt(sum->model / n), sqrt(sum->mean / n),
                               sqrt(sum->persistence / n)};
}

// The short way round if a sensor wraps.
static void judge_sensor(asking *a, int k, double next, double real, double now)
{
    const rh_facts *facts = a->w->model->facts;
    if (!facts || isnan(facts->sensor[k].period)) {
        add(&a->sensor[k], miss(next, real), a->mean_obs[k] - real, now - real);
        return;
    }
    const rh_sensor *sensor = &facts->sensor[k];
    add(&a->sensor[k], rh_facts__moved(sensor, real, next),
        rh_facts__moved(sensor, real, a->mean_obs[k]), rh_facts__moved(sensor, real, now));
}

// Errors in the next state of transition t, predicted as `next` (nobs).
static void judge_state(asking *a, int64_t t, const double *next)
{
    const rh_fidelity__work *w = a->w;
    const rh_log *log = w->log;
    if (log->to[t] == RH_UNKNOWN || !rh_base__all_finite(next, log->nobs))
        return;
    const double *s = log->obs + (int64_t)log->from[t] * log->nobs;
    const double *real = log->obs + (int64_t)log->to[t] * log->nobs;
    for (int k = 0; k < log->nobs; k++)
        judge_sensor(a, k, next[k], real[k], s[k]);

    float code[RH_MAX_CODE];
    const float *right = rh_fidelity__code(w, log->to[t]);
    rh_fidelity__encode(w, next, code);
    double square = 0.0;
    for (int k = 0; k < w->ncode; k++)
        square += (a->mean_code[k] - (double)right[k]) * (a->mean_code[k] - (double)right[k]);
    add(&a->state, rh_fidelity__distance(w, code, right), sqrt(square),
        rh_fidelity__distance(w, rh_fidelity__code(w, log->from[t]), right));
}

// Sums for the findings.
static void note(asking *a, double chance, bool ended, double said, double real)
{
    a->w->nended += ended;
    a->ends += ended ? chance : 0.0;
    a->others += ended ? 0.0 : chance;
    a->x += said;
    a->y += real;
    a->xx += said * said;
    a->xy += said * real;
    a->yy += real * real;
    a->y4 += real * real * real * real;
}

static void conclude(const asking *a)
{
    rh_fidelity__work *w = a->w;
    double n = (double)a->reward.n;
    double xy = a->xy - a->x * a->y / n;
    double xx = a->xx - a->x * a->x / n, yy = a->yy - a->y * a->y / n;
    w->said_ends = a->ends / (double)w->nended;
    w->said_others = a->others / (n - (double)w->nended);
    w->reward_many = a->y4 > 0.0 ? a->yy * a->yy / a->y4 : 0.0;
    w->reward_told = yy > 0.0 && xx > 0.0 ? xy * xy / (xx * yy) : 0.0;
}

// Let a member predict transition t.
static rh_status ask(asking *a, const void *member, int64_t t, rh_error *err)
{
    const rh_fidelity__work *w = a->w;
    const rh_log *log = w->log;
    double next[RH_MAX_OBS];
    rh_model__expected expected = {.next = next};
    rh_status rc = w->model->type->calls->expect(&expected, w->model, member,
                                                 log->obs + (int64_t)log->from[t] * log->nobs,
                                                 log->act + t * log->nact, err);
    if (rc)
        return rc;
    a->nasked++;
    bool measured = isfinite(w->f->reach) && !isnan(expected.distance);
    if (measured ? expected.distance > w->f->reach : expected.out_of_coverage) {
        a->nuncovered++;
        return RH_OK;
    }
    judge_state(a, t, next);
    double ended = is_terminal(log, t), reward = log->reward[t];
    add(&a->reward, miss(expected.reward, reward), a->mean_reward - reward, NAN);
    add(&a->terminal, miss(expected.terminal, ended), a->mean_terminal - ended, NAN);
    note(a, expected.terminal, ended > 0.0, expected.reward - a->mean_reward,
         reward - a->mean_reward);
    return RH_OK;
}

// One fold: fit a member without it, and let it predict some of it.
static rh_status hold_out(asking *a, int fold, rh_error *err)
{
    rh_fidelity__work *w = a->w;
    const rh_model_calls *calls = w->model->type->calls;
    void *member = NULL;
    split(a, fold);
    if (a->nuse == 0 || a->nheld == 0)
        return RH_OK;
    take_means(a);

    // choose the states first, so that the member finds only their neighbours
    rh_rng rng = rh_fidelity__chance(w, RH_FIDELITY__HELD + fold);
    int64_t n = MOST_HELD / a->plan.nrun;
    n = n < a->nheld ? n : a->nheld;
    for (int64_t i = 0; i < n; i++) {
        a->held[i] = a->held[rh_fidelity__pick(&rng, i, n, a->nheld)];
        a->row[i] = w->log->from[a->held[i]];
    }

    rh_model__part part = {
        .use = a->use,
        .nuse = a->nuse,
        .ask = a->row,
        .nask = n,
        .rng = rh_fidelity__chance(w, RH_FIDELITY__FIT + fold),
        .nthread = w->nthread,
        .watch = {.stop = w->watch.stop, .context = w->watch.context},
    };
    rh_status rc = calls->fit(&member, w->model, &part, err);
    for (int64_t i = 0; !rc && i < n; i++)
        rc = ask(a, member, a->held[i], err);
    calls->destroy(member);
    return rc;
}

rh_status rh_fidelity__predict(rh_fidelity__work *w, rh_error *err)
{
    const rh_log *log = w->log;
    asking a = {.w = w};
    rh_scratch scratch = {0};
    rh_status rc = RH_OK;
    if (log->n < LEAST_STEPS)
        return RH_OK;
    a.use = rh_scratch__take(&scratch, (size_t)log->n, sizeof *a.use);
    a.held = rh_scratch__take(&scratch, (size_t)log->n, sizeof *a.held);
    a.row = rh_scratch__take(&scratch, MOST_HELD, sizeof *a.row);
    a.sensor = rh_scratch__take(&scratch, (size_t)log->nobs, sizeof *a.sensor);
    if (scratch.failed || !deal(&a.plan, log))
        rc = rh_base__no_memory(err, "fidelity");

    // one fold only if fitting is slow: networks, and long logs
    bool slow = w->model->type->calls->random || log->n > MOST_FOLDED;
    a.plan.nrun = slow ? 1 : a.plan.nfold;
    for (int fold = 0; !rc && fold < a.plan.nrun; fold++) {
        rc = hold_out(&a, fold, err);
        if (!rc)
            rc = rh_fidelity__pause(w, 0.7 * (fold + 1) / a.plan.nrun, err);
    }

    conclude(&a);
    w->f->nfold = a.plan.nrun;
    w->f->nheld = a.nasked;
    w->f->held_out_of_coverage = a.nasked ? (double)a.nuncovered / (double)a.nasked : NAN;
    w->f->state = root(&a.state);
    w->f->reward = root(&a.reward);
    w->f->terminal = root(&a.terminal);
    for (int k = 0; !rc && k < log->nobs; k++)
        w->f->sensor[k] = root(&a.sensor[k]);
    rh_scratch__clear(&scratch);
    rh_free(a.plan.part);
    return rc;
}
