// beside.c - stretches beside the logged path: natural experiments and extrapolation.
//
// A model that replays the logged path well may still be wrong beside it, where agents go: what
// a controller answers to is taken for the effect of its answer. Two tests of the log see that:
//
//     experiments     stretches that begin with an action that is not what the controller
//     usually
//                     does there (unusual.c), in members fitted without their part of the log
//     extrapolation   stretches that begin in the outer tenth of the sensors or of the actions,
//                     in a member fitted to the inner part only
//
// Their scores are those of other stretches. Candidates are compared by the mean of the score
// along the path and the mean score beside it.
//
// 1. The effect of an unusual action is the difference of replays with it and with the usual
//    one. What the log shows of it is the regression, through 0, of the logged difference from
//    the replays with the usual action on that effect: 1 if the effect is right, 0.5 if the
//    model predicts twice of what came, 0 if nothing came. Its standard error treats the
//    experiments as independent.
// 2. A step is outer if a sensor that varies (an action) is as far from its median, by ranks,
//    as in a tenth of the steps. With many ties there is no such tenth, and no test.

#include "stretches.h"

#include "base/base_internal.h"
#include "fields.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EXPERIMENTS 100  // stretches
#define LONGEST_EXPERIMENT 50 // steps of one
#define LEAST_EXPERIMENTS 10  // of a score; by hand
#define MOST_OUTER 60         // stretches of either kind
#define LONGEST_OUTER 10      // steps: soon they are inside again
#define LEAST_OUTER 20        // of a score; by hand
#define OUTER 0.1             // decision 2
#define MOST_TIED 0.25        // of the steps: decision 2; by hand
#define HALF 0.5              // weight of the path in the total; by hand

// ---------------------------------------------------------------------------- the outer tenth

// A value and the step it is of.
typedef struct ranked {
    double x;
    int64_t t;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    int c = rh_stats__ascending(&p->x, &q->x);
    return c ? c : (p->t > q->t) - (p->t < q->t);
}

// Raise `far` of every step (n) to how far from the middle its value is, by ranks: 0 to 1.
static void rank(ranked *work, int64_t n, double *far)
{
    qsort(work, (size_t)n, sizeof *work, by_value);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && work[end].x == work[i].x;)
            end++;
        double off = fabs((double)(i + end) / (double)n - 1.0); // ties have their mean rank
        for (int64_t k = i; k < end && work[0].x < work[n - 1].x; k++)
            far[work[k].t] = fmax(far[work[k].t], off);
    }
}

// Mark the farthest tenth. False: there is none.
static bool mark(bool *outer, double *far, double *sorted, int64_t n)
{
    int64_t count = 0;
    memcpy(sorted, far, (size_t)n * sizeof *far);
    rh_stats__sort(sorted, n);
    double least = rh_stats__quantile_sorted(sorted, n, 1.0 - OUTER);
    for (int64_t t = 0; t < n; t++) {
        outer[t] = far[t] > 0.0 && far[t] >= least;
        count += outer[t];
    }
    bool some = count > 0 && (double)count <= MOST_TIED * (double)n;
    for (int64_t t = 0; t < n && !some; t++)
        outer[t] = false;
    return some;
}

static rh_status find_outer(rh_stretches *r, rh_error *err)
{
    const rh_log *log = r->log;
    int64_t n = log->n;
    r->outer = rh_alloc((size_t)n, 2 * sizeof *r->outer);
    ranked *work = rh_alloc((size_t)n, sizeof *work);
    double *far = rh_alloc((size_t)n, 2 * sizeof *far);
    bool enough = r->outer && work && far;
    for (int which = 0; enough && which < 2; which++) {
        int ncolumn = which ? log->naction ? 0 : log->nact : log->nobs;
        memset(far, 0, (size_t)n * sizeof *far);
        for (int k = 0; k < ncolumn; k++) {
            for (int64_t t = 0; t < n; t++)
                work[t] = (ranked){which ? log->act[t * log->nact + k]
                                         : log->obs[(int64_t)log->from[t] * log->nobs + k],
                                   t};
            rank(work, n, far);
        }
        mark(r->outer + which * n, far, far + n, n);
    }
    rh_free(work);
    rh_free(far);
    return enough ? RH_OK : rh_base__no_memory(err, "replay");
}

bool rh_stretches__is_outer(const rh_stretches *r, int fold, int64_t t)
{
    return r->outer[(fold - r->nfold) * r->log->n + t];
}

int rh_stretches__fold_of(const rh_stretches *r, int kind)
{
    return kind >= RH_STRETCHES__SENSOR ? r->nfold + kind - RH_STRETCHES__SENSOR : -1;
}

// ---------------------------------------------------------------------------- stretches

// Whether a stretch of a kind may begin at t.
static bool begins(const rh_stretches *r, int kind, int64_t t)
{
    int fold = rh_stretches__fold_of(r, kind);
    return fold >= 0 ? rh_stretches__is_outer(r, fold, t)
                     : r->unusual.is[t] && r->unit[t] % r->nfold < r->nrun;
}

// Up to `most` stretches of a kind, evenly spaced over the steps where one may begin.
static void add(rh_stretches *r, int kind, int64_t most, int64_t longest, int least)
{
    int64_t npossible = 0, seen = 0, chosen = 0;
    int before = r->nall, fold = rh_stretches__fold_of(r, kind);
    for (int64_t t = 0; t < r->log->n; t++)
        npossible += begins(r, kind, t);
    most = most < npossible ? most : npossible;
    for (int64_t t = 0; npossible > 0 && t < r->log->n && chosen < most; t++) {
        if (!begins(r, kind, t) || seen++ * most / npossible < chosen)
            continue;
        chosen++;
        int64_t end = rh_stretches__end_of(r, t);
        rh_stretches__stretch s =
            rh_stretches__follow(r, t, end < t + longest ? end : t + longest);
        s.unit = r->unit[t];
        s.fold = fold >= 0 ? fold : r->unit[t] % r->nfold;
        if (s.length > 0)
            r->stretch[r->nall++] = s;
    }
    if (r->nall - before < least)
        r->nall = before;
    r->first[kind + 1] = r->nall;
}

rh_status rh_stretches__add_beside(rh_stretches *r, rh_error *err)
{
    rh_status rc = rh_unusual__find(&r->unusual, r->log, err);
    if (!rc)
        rc = find_outer(r, err);
    if (rc)
        return rc;
    size_t most = (size_t)r->nstretch + MOST_EXPERIMENTS + 2 * MOST_OUTER;
    rh_stretches__stretch *all = rh_alloc(most, sizeof *all);
    if (!all)
        return rh_base__no_memory(err, "replay");
    memcpy(all, r->stretch, (size_t)r->nstretch * sizeof *all);
    rh_free(r->stretch);
    r->stretch = all;
    r->nall = r->first[1] = r->nstretch;
    add(r, RH_STRETCHES__EXPERIMENT, MOST_EXPERIMENTS, LONGEST_EXPERIMENT, LEAST_EXPERIMENTS);
    add(r, RH_STRETCHES__SENSOR, MOST_OUTER, LONGEST_OUTER, LEAST_OUTER);
    add(r, RH_STRETCHES__ACTION, MOST_OUTER, LONGEST_OUTER, LEAST_OUTER);
    return RH_OK;
}

// ---------------------------------------------------------------------------- scores

// Whether a kind of stretch has a score: there are some, and something can be told in them.
static bool scores(const rh_stretches *r, int kind)
{
    const double *weight = rh_stretches__weight(r, kind);
    bool any = false;
    for (int i = 0; i < RH_MODEL_NASPECT * r->nhorizon; i++)
        any = any || weight[i] > 0.0;
    return any && rh_stretches__count(r, kind) > 0;
}

// The score of a kind, NAN: it has none; and the shares of its stretches.
static double score_of(rh_stretches__scores *s, const rh_stretches *r, double *score, int kind)
{
    const double *weight = rh_stretches__weight(r, kind);
    double sum = 0.0;
    for (int i = r->first[kind]; i < r->first[kind + 1]; i++) {
        s->share[i] = 0.0;
        for (int part = 0; part < RH_MODEL_NASPECT; part++)
            for (int h = 0; h < r->nhorizon; h++) {
                double x = *rh_stretches__score_at(r, score, i, part, h);
                s->share[i] += isnan(x) ? 0.0 : weight[part * r->nhorizon + h] * x;
            }
        sum += s->share[i];
    }
    return scores(r, kind) ? sum / rh_stretches__count(r, kind) : NAN;
}

// The mean error of the states of a kind at a horizon; NAN: not known.
static double error_of(const rh_stretches *r, double *score, int kind, int h)
{
    double sum = 0.0;
    int n = 0;
    for (int i = r->first[kind]; i < r->first[kind + 1]; i++) {
        double x = *rh_stretches__score_at(r, score, i, RH_MODEL_STATE, h);
        n += !isnan(x);
        sum += isnan(x) ? 0.0 : x;
    }
    return n ? sum / n : NAN;
}

static double ratio(const rh_stretches *r, double *score)
{
    double sum = 0.0;
    int n = 0;
    for (int h = 0; h < r->nhorizon; h++) {
        double own = error_of(r, score, RH_STRETCHES__EXPERIMENT, h);
        double other = error_of(r, score, RH_STRETCHES__PATH, h);
        if (isnan(own) || !(other > 0.0))
            continue;
        sum += own / other;
        n++;
    }
    return n ? sum / n : NAN;
}

// Decision 1.
static void sum_effects(rh_fidelity_beside *b, const rh_stretches__effect *effect, int n)
{
    double shown = 0.0, square = 0.0, spread = 0.0;
    for (int i = 0; i < n; i++) {
        shown += effect[i].shown;
        square += effect[i].square;
    }
    if (n < 2 || !(square > 0.0) || !isfinite(shown))
        return;
    b->shown = shown / square;
    for (int i = 0; i < n; i++) {
        double off = effect[i].shown - b->shown * effect[i].square;
        spread += off * off;
    }
    b->shown_error = sqrt(spread * n / (n - 1.0)) / square;
}

void rh_stretches__sum_beside(rh_stretches__scores *s, const rh_stretches *r, double *score,
                              const rh_stretches__effect *effect)
{
    rh_fidelity_beside *b = &s->beside;
    rh_field__forget(&rh_model__beside, b);
    b->nexperiment = rh_stretches__count(r, RH_STRETCHES__EXPERIMENT);
    b->nsensor = rh_stretches__count(r, RH_STRETCHES__SENSOR);
    b->naction = rh_stretches__count(r, RH_STRETCHES__ACTION);
    b->experiments = score_of(s, r, score, RH_STRETCHES__EXPERIMENT);
    b->sensors = score_of(s, r, score, RH_STRETCHES__SENSOR);
    b->actions = score_of(s, r, score, RH_STRETCHES__ACTION);
    b->ratio = ratio(r, score);
    sum_effects(b, effect, b->nexperiment);
    double sum = 0.0, part[] = {b->experiments, b->sensors, b->actions};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        n += !isnan(part[i]);
        sum += isnan(part[i]) ? 0.0 : part[i];
    }
    b->score = n ? sum / n : NAN;
    s->total = n ? HALF * s->score + (1.0 - HALF) * b->score : s->score;
}

// The weight of a stretch of each kind in the total, or in the score along the path.
static void weigh(const rh_stretches *r, bool total, double weight[RH_STRETCHES__NKIND])
{
    int n = 0;
    for (int kind = 1; kind < RH_STRETCHES__NKIND; kind++)
        n += total && scores(r, kind);
    for (int kind = 0; kind < RH_STRETCHES__NKIND; kind++) {
        int count = rh_stretches__count(r, kind);
        double part = kind == 0 ? (n ? HALF : 1.0) : n ? (1.0 - HALF) / n : 0.0;
        weight[kind] = count ? part / count : 0.0;
    }
}

void rh_stretches__compare(const rh_stretches *r, const rh_stretches__scores *a,
                           const rh_stretches__scores *b, bool total, double *mean,
                           double *error)
{
    double weight[RH_STRETCHES__NKIND], average[RH_STRETCHES__NKIND] = {0.0}, square = 0.0;
    int nunit = rh_stretches__nunit(r), last = total ? r->nall : r->nstretch;
    weigh(r, total, weight);
    *mean = 0.0;
    for (int kind = 0; kind < RH_STRETCHES__NKIND; kind++) {
        int n = rh_stretches__count(r, kind);
        for (int i = r->first[kind]; i < r->first[kind + 1]; i++)
            average[kind] += (a->share[i] - (b ? b->share[i] : 0.0)) / n;
        *mean += weight[kind] * n * average[kind];
    }
    for (int unit = 0; unit < r->nunit; unit++) {
        double own = 0.0;
        for (int i = 0, kind = 0; i < last; i++) {
            while (i >= r->first[kind + 1])
                kind++;
            if (r->stretch[i].unit == unit)
                own += weight[kind] * (a->share[i] - (b ? b->share[i] : 0.0) - average[kind]);
        }
        square += own * own;
    }
    *error = sqrt(square * nunit / (nunit - 1.0));
}

// ---------------------------------------------------------------------------- fields

#define AT(member) RH_FIELD__AT(rh_fidelity_beside, member)
static const rh_field row[] = {
    {"nexperiment", AT(nexperiment), NULL, "natural experiments that were replayed"},
    {"experiments", AT(experiments), NULL, "score of replays from natural experiments"},
    {"error_ratio", AT(ratio), NULL,
     "error of the states there, divided by that at usual steps"},
    {"effect_shown", AT(shown), NULL,
     "how much of the effects that the model predicts there the log shows: 1 all, 0 none"},
    {"effect_stderr", AT(shown_error), NULL, "its standard error"},
    {"nsensor", AT(nsensor), NULL, "replays from the outer tenth of the sensors"},
    {"outer_sensors", AT(sensors), NULL, "their score in a model of the inner part"},
    {"naction", AT(naction), NULL, "replays from the outer tenth of the actions"},
    {"outer_actions", AT(actions), NULL, "their score in a model of the inner part"},
    {"score", AT(score), NULL, "mean of these three scores"},
};

const rh_fields rh_model__beside = {"beside the path", sizeof(rh_fidelity_beside),
                                    RH_FIELD__ROWS(row)};
