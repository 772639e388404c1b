// unusual.c - finds the natural experiments of a log: steps whose action is not what the
// controller usually does there.
//
// What it usually does in a step is told by NEAR steps of the log with the nearest sensors and
// the nearest action before, other than those of the same time.
//
// 1. A discrete action is unusual if at most RARELY of these steps took it. Where more than
//    RARELY took another one, the controller has a choice; an action that nearly all of them
//    took tells nothing about the others.
// 2. A continuous action is a ridge regression on the sensors, their values before and the
//    action before, as of a PI controller, plus the median of what that leaves in the near
//    steps. It is unusual if it is farther off than APART_RANGE of the logged range and
//    APART_SCALE robust standard deviations of all steps.
// 3. The action before tells what sensors do not: the integral of a controller, hysteresis. So
//    of an unusual action that is held only the first step counts.

#include "unusual.h"
#include "model.h"

#include "base/base_internal.h"
#include "base/scratch.h"
#include "fields.h"
#include "neighbours.h"
#include "numeric/cholesky.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define NEAR 10
#define APART 5          // steps of the same time: so many before and after; by hand
#define RARELY 0.2       // decision 1; by hand
#define APART_RANGE 0.1  // decision 2; by hand
#define APART_SCALE 2.0  // decision 2; by hand: 5 % of the steps of normal exploration
#define LEAST_STEPS 50   // known steps; by hand
#define NSENSOR 24       // most sensors that are compared
#define NCHOICE 16       // most discrete actions that are told apart before a step
#define RIDGE 1e-3       // of the regression
#define MAD 1.4826       // standard deviation of a normal / its median distance
#define MOST_STEPS 20000 // of a log that is inspected
#define LEAST_CHOICES 3  // an action's steps with a choice that show its effect; by hand
#define NREGION 3        // regions of a sensor, of as many steps each
#define LEAST_REGION 20  // steps of a region; by hand

static const char what[] = "natural experiments";

typedef struct work {
    rh_unusual *u;
    const rh_log *log;
    int nsensor, sensor[NSENSOR];                               // that vary
    double mean[NSENSOR], scale[NSENSOR];                       //
    double act_mean[RH_MAX_ACTIONS], act_scale[RH_MAX_ACTIONS]; //
    int nbefore, d;       // numbers of the action before; of a point
    int64_t n;            // known steps
    int32_t *at;          // these                              (n)
    float *point;         // (n x d)
    double *left;         // what the regression leaves of an action    (n)
    int32_t *near;        // near steps, by place in at         (n x NEAR)
    rh_neighbours *index; // owned
    rh_scratch memory;
} work;

// ---------------------------------------------------------------------------- points

static bool is_known(const rh_log *log, int64_t t)
{
    return t > 0 && log->to[t - 1] != RH_UNKNOWN && log->to[t - 1] == log->from[t];
}

static const double *obs_of(const work *w, int64_t t)
{
    return w->log->obs + (int64_t)w->log->from[t] * w->log->nobs;
}

static const double *act_of(const work *w, int64_t t)
{
    return w->log->act + t * w->log->nact;
}

// Mean and standard deviation of a column of the log; 0 if it does not vary.
static void measure(const double *x, int64_t n, int64_t stride, double *mean, double *sd)
{
    double sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i * stride];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (x[i * stride] - *mean) * (x[i * stride] - *mean);
    *sd = sqrt(square / (double)n);
    if (!(*sd > 1e-9 * fabs(*mean) && isfinite(*sd)))
        *sd = 0.0;
}

static void survey(work *w)
{
    const rh_log *log = w->log;
    for (int k = 0; k < log->nobs && w->nsensor < NSENSOR; k++) {
        int i = w->nsensor;
        measure(log->obs + k, log->nstate, log->nobs, &w->mean[i], &w->scale[i]);
        w->sensor[i] = k;
        w->nsensor += w->scale[i] > 0.0;
    }
    for (int j = 0; j < log->nact; j++) {
        measure(log->act + j, log->n, log->nact, &w->act_mean[j], &w->act_scale[j]);
        w->act_scale[j] = w->act_scale[j] > 0.0 ? w->act_scale[j] : 1.0;
    }
    bool told = log->naction > 0 && log->naction <= NCHOICE;
    w->nbefore = told ? log->naction : log->naction ? 0 : log->nact;
    w->d = w->nsensor + w->nbefore;
    if (w->d > RH_NEIGHBOURS_DIM)
        w->d = w->nsensor;
    for (int64_t t = 0; t < log->n; t++)
        w->n += is_known(log, t);
}

static double input(const work *w, int64_t t, int j)
{
    double a = act_of(w, t)[w->log->naction ? 0 : j];
    return w->log->naction ? (double)((int)a == j) : (a - w->act_mean[j]) / w->act_scale[j];
}

static double level(const work *w, int64_t t, int i)
{
    return (obs_of(w, t)[w->sensor[i]] - w->mean[i]) / w->scale[i];
}

static bool reserve(work *w)
{
    size_t n = (size_t)w->n, all = (size_t)w->log->n;
    rh_unusual *u = w->u;
    u->known = rh_alloc(all, sizeof *u->known);
    u->is = rh_alloc(all, sizeof *u->is);
    u->choice = rh_alloc(all, sizeof *u->choice);
    u->usual = rh_alloc(all, (size_t)w->log->nact * sizeof *u->usual);
    w->at = rh_scratch__take(&w->memory, n + 1, sizeof *w->at);
    w->point = rh_scratch__take(&w->memory, n + 1, (size_t)w->d * sizeof *w->point);
    w->left = rh_scratch__take(&w->memory, 2 * n + 1, sizeof *w->left);
    w->near = rh_scratch__take(&w->memory, n + 1, NEAR * sizeof *w->near);
    return u->known && u->is && u->choice && u->usual && !w->memory.failed;
}

static void fill(work *w)
{
    w->n = 0;
    for (int64_t t = 0; t < w->log->n; t++) {
        if (!is_known(w->log, t))
            continue;
        float *x = w->point + (size_t)w->n * (size_t)w->d;
        for (int i = 0; i < w->nsensor; i++)
            x[i] = (float)level(w, t, i);
        for (int j = w->nsensor; j < w->d; j++)
            x[j] = (float)input(w, t - 1, j - w->nsensor);
        w->at[w->n++] = (int32_t)t;
    }
}

// The near steps of every known step; -1: there are no more.
static void find_near(work *w)
{
    enum { ASKED = NEAR + 2 * APART };
    int32_t index[ASKED];
    float distance2[ASKED];
    for (int64_t i = 0; i < w->n; i++) {
        int got = rh_neighbours__find(w->index, w->point + (size_t)i * (size_t)w->d, ASKED,
                                      (int32_t)i, index, distance2);
        int n = 0;
        for (int k = 0; k < got && n < NEAR; k++) {
            int32_t apart = w->at[index[k]] - w->at[i];
            if (apart < -APART || apart > APART)
                w->near[i * NEAR + n++] = index[k];
        }
        while (n < NEAR)
            w->near[i * NEAR + n++] = -1;
    }
}

// ---------------------------------------------------------------------------- discrete actions

// How many of n near steps took an action.
static int count(const work *w, int64_t i, int action, int *n)
{
    int same = 0;
    *n = 0;
    for (int k = 0; k < NEAR && w->near[i * NEAR + k] >= 0; k++) {
        same += (int)*act_of(w, w->at[w->near[i * NEAR + k]]) == action;
        ++*n;
    }
    return same;
}

static void judge_choices(work *w)
{
    rh_unusual *u = w->u;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t t = w->at[i];
        int n, most = 0, own = (int)*act_of(w, t), same = count(w, i, own, &n);
        u->usual[t] = own;
        for (int a = 0; a < w->log->naction; a++) {
            int m = count(w, i, a, &n);
            if (m > most) {
                most = m;
                u->usual[t] = a;
            }
        }
        u->known[t] = n > 0;
        u->is[t] = n > 0 && same <= RARELY * n && (int)u->usual[t] != own;
        u->choice[t] = n > 0 && same < (1.0 - RARELY) * n;
    }
}

// ---------------------------------------------------------------------------- amounts

enum { NTERM = 1 + 2 * NSENSOR + RH_MAX_ACTIONS };

static int terms(const work *w, int64_t t, double *x)
{
    int n = 0;
    x[n++] = 1.0;
    for (int i = 0; i < w->nsensor; i++) {
        x[n++] = level(w, t, i);
        x[n++] = level(w, t - 1, i);
    }
    for (int j = 0; j < w->log->nact; j++)
        x[n++] = input(w, t - 1, j);
    return n;
}

// The regression of action j: weight (n). False: it has no solution.
static bool regress(const work *w, int j, double *gram, double *weight)
{
    double x[NTERM];
    int n = 1 + 2 * w->nsensor + w->log->nact;
    memset(gram, 0, (size_t)n * (size_t)n * sizeof *gram);
    memset(weight, 0, (size_t)n * sizeof *weight);
    for (int64_t i = 0; i < w->n; i++) {
        double y = input(w, w->at[i], j);
        terms(w, w->at[i], x);
        for (int a = 0; a < n; a++) {
            weight[a] += x[a] * y;
            for (int b = 0; b <= a; b++)
                gram[a * n + b] += x[a] * x[b];
        }
    }
    for (int a = 0; a < n; a++)
        gram[a * n + a] += RIDGE * (double)w->n;
    if (!rh_cholesky__factor_small(n, gram, (size_t)n, 0.0))
        return false;
    rh_cholesky__solve_small(n, gram, (size_t)n, weight, 1);
    return rh_base__all_finite(weight, n);
}

// Whether action j of the known steps is unusual. gram, weight: scratch of the regression.
static void judge_amount(work *w, int j, double *gram, double *weight)
{
    rh_unusual *u = w->u;
    double x[NTERM], *off = w->left + w->n, lo = INFINITY, hi = -INFINITY;
    bool solved = regress(w, j, gram, weight);
    for (int64_t i = 0; i < w->n; i++) {
        int n = terms(w, w->at[i], x);
        w->left[i] = input(w, w->at[i], j);
        for (int a = 0; solved && a < n; a++)
            w->left[i] -= weight[a] * x[a];
        lo = fmin(lo, input(w, w->at[i], j));
        hi = fmax(hi, input(w, w->at[i], j));
    }
    for (int64_t i = 0; i < w->n; i++) {
        double near[NEAR];
        int n = 0;
        for (; n < NEAR && w->near[i * NEAR + n] >= 0; n++)
            near[n] = w->left[w->near[i * NEAR + n]];
        off[i] = w->left[i] - (n ? rh_stats__median(near, n) : 0.0);
    }
    for (int64_t i = 0; i < w->n; i++)
        w->left[i] = fabs(off[i]);
    double most = fmax(APART_SCALE * MAD * rh_stats__median(w->left, w->n), // sorts them
                       APART_RANGE * (hi - lo));
    for (int64_t i = 0; i < w->n; i++) {
        int64_t t = w->at[i];
        double usual = fmin(fmax(input(w, t, j) - off[i], lo), hi);
        u->known[t] = true;
        u->usual[t * w->log->nact + j] = w->act_mean[j] + w->act_scale[j] * usual;
        u->is[t] = u->is[t] || (hi > lo && fabs(off[i]) > most);
        u->choice[t] = u->is[t];
    }
}

static bool judge_amounts(work *w)
{
    double *gram = rh_scratch__take(&w->memory, NTERM, NTERM * sizeof *gram);
    double *weight = rh_scratch__take(&w->memory, NTERM, sizeof *weight);
    for (int j = 0; j < w->log->nact && !w->memory.failed; j++)
        judge_amount(w, j, gram, weight);
    return !w->memory.failed;
}

// ---------------------------------------------------------------------------- all of it

void rh_unusual__clear(rh_unusual *u)
{
    rh_free(u->known);
    rh_free(u->is);
    rh_free(u->choice);
    rh_free(u->usual);
    *u = (rh_unusual){0};
}

rh_status rh_unusual__find(rh_unusual *out, const rh_log *log, rh_error *err)
{
    work w = {.u = out, .log = log};
    *out = (rh_unusual){.log = log};
    survey(&w);
    if (!reserve(&w)) {
        rh_scratch__clear(&w.memory);
        return rh_base__no_memory(err, what);
    }
    rh_status rc = RH_OK;
    bool judged = true;
    if (w.n >= LEAST_STEPS && w.nsensor > 0) {
        fill(&w);
        rc = rh_neighbours__create(&w.index, w.point, w.n, w.d, err);
        if (!rc)
            find_near(&w);
        if (!rc && log->naction)
            judge_choices(&w);
        else if (!rc)
            judged = judge_amounts(&w);
    }
    for (int64_t t = 0; t < log->n; t++) {
        out->nknown += out->known[t];
        out->n += out->is[t];
    }
    rh_neighbours__destroy(w.index);
    rh_scratch__clear(&w.memory);
    return !judged ? rh_base__no_memory(err, what) : rc;
}

// ---------------------------------------------------------------------------- regions

// Whether a step takes a discrete action, or whether a continuous one is varied there.
static bool takes(const rh_unusual *u, int64_t t, int action)
{
    return !u->log->naction || (int)u->log->act[t] == action;
}

// Steps of a region, those with this action, and those of them with a choice.
typedef struct region {
    int sensor;
    double lo, hi;
    int64_t n, own, nchoice;
} region;

static void look(region *r, const rh_unusual *u, int action)
{
    const rh_log *log = u->log;
    r->n = r->own = r->nchoice = 0;
    for (int64_t t = 0; t < log->n; t++) {
        double x =
            r->sensor < 0 ? 0.0 : log->obs[(int64_t)log->from[t] * log->nobs + r->sensor];
        if (!u->known[t] || (r->sensor >= 0 && !(x >= r->lo && x <= r->hi)))
            continue;
        r->n++;
        r->own += takes(u, t, action);
        r->nchoice += takes(u, t, action) && u->choice[t];
    }
}

// Whether an action's effect is not shown there. An action that is usual there is what others
// are compared with.
static bool hides(const region *r, bool discrete)
{
    bool usual = discrete && 2 * r->own > r->n;
    return r->n >= LEAST_REGION && r->nchoice < LEAST_CHOICES && !usual;
}

static void add(rh_experiments *out, const region *r, int action)
{
    if (out->nnot_shown == RH_NOT_SHOWN_MOST)
        return;
    out->not_shown[out->nnot_shown++] = (rh_not_shown){.action = action,
                                                       .sensor = r->sensor,
                                                       .lo = r->lo,
                                                       .hi = r->hi,
                                                       .nstep = r->n,
                                                       .nchoice = r->nchoice};
}

// The regions of a sensor in which an action's effect is not shown. x: scratch (n).
static void list_regions(rh_experiments *out, const rh_unusual *u, int sensor, int action,
                         double *x)
{
    const rh_log *log = u->log;
    int64_t n = 0;
    for (int64_t t = 0; t < log->n; t++)
        if (u->known[t])
            x[n++] = log->obs[(int64_t)log->from[t] * log->nobs + sensor];
    rh_stats__sort(x, n);
    for (int i = 0; n && i < NREGION && x[0] < x[n - 1]; i++) {
        region r = {.sensor = sensor,
                    .lo = rh_stats__quantile_sorted(x, n, (double)i / NREGION),
                    .hi = rh_stats__quantile_sorted(x, n, (double)(i + 1) / NREGION)};
        look(&r, u, action);
        if (r.lo < r.hi && hides(&r, log->naction > 0))
            add(out, &r, action);
    }
}

rh_status rh_unusual__count(rh_experiments *out, const rh_unusual *u, rh_error *err)
{
    const rh_log *log = u->log;
    *out = (rh_experiments){.nstep = u->nknown, .n = u->n};
    if (!u->nknown)
        return RH_OK;
    double *x = rh_alloc((size_t)log->n, sizeof *x);
    if (!x)
        return rh_base__no_memory(err, what);
    int naction = log->naction ? log->naction : log->nact;
    for (int a = 0; a < naction; a++) {
        region all = {.sensor = -1, .lo = NAN, .hi = NAN};
        look(&all, u, a);
        if (hides(&all, log->naction > 0))
            add(out, &all, a);
        else
            for (int k = 0; k < log->nobs; k++)
                list_regions(out, u, k, a, x);
    }
    rh_free(x);
    return RH_OK;
}

rh_status rh_experiments__find(rh_experiments *out, const rh_log *log, rh_error *err)
{
    rh_log *excerpt = NULL, *clean = NULL;
    rh_model__usable usable;
    rh_unusual u = {0};
    rh_status rc = rh_model__excerpt(&excerpt, log, MOST_STEPS, err);
    log = excerpt ? excerpt : log;
    if (!rc)
        rc = rh_model__survey(&usable, log, NULL, 0, err);
    if (!rc)
        rc = rh_model__clean(&clean, &usable, err);
    if (!rc)
        rc = rh_unusual__find(&u, clean, err);
    if (!rc)
        rc = rh_unusual__count(out, &u, err);
    rh_unusual__clear(&u);
    rh_log_destroy(clean);
    rh_log_destroy(excerpt);
    return rc;
}

// ---------------------------------------------------------------------------- fields

#define AT(member) RH_FIELD__AT(rh_not_shown, member)
static const rh_field not_shown_row[] = {
    {"action", RH_FIELD__AS(RH_FIELD_ACTION, rh_not_shown, action), NULL, "the action"},
    {"sensor", RH_FIELD__AS(RH_FIELD_SENSOR, rh_not_shown, sensor), NULL,
     "whose region it is; unknown: anywhere"},
    {"lo", AT(lo), NULL, "least value of the region"},
    {"hi", AT(hi), NULL, "most"},
    {"steps", AT(nstep), NULL, "logged steps in the region"},
    {"choices", AT(nchoice), NULL,
     "of these, with this action where the controller might have taken another"},
};
#undef AT

static const rh_fields not_shown = {"effect not shown", sizeof(rh_not_shown),
                                    RH_FIELD__ROWS(not_shown_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_experiments, member)
static const rh_field row[] = {
    {"steps", AT(nstep), NULL, "logged steps whose usual action is known"},
    {"experiments", AT(n), NULL, "of these, with another action than usual"},
    {"nnot_shown", AT(nnot_shown), NULL, "effects that the log cannot show", .hidden = true},
    {"not_shown", RH_FIELD__ARRAY(rh_experiments, not_shown), NULL,
     "effects that the log cannot show", .fields = &not_shown, .count = RH_COUNT_MEMBER,
     .n = offsetof(rh_experiments, nnot_shown)},
};
#undef AT

const rh_fields rh_model__experiments = {"natural experiments", sizeof(rh_experiments),
                                         RH_FIELD__ROWS(row)};

const rh_fields *rh_experiments__fields(void)
{
    return &rh_model__experiments;
}
