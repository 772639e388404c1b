// cem.c - the cross-entropy method: a normal distribution that moves towards its best draws.
//
// Rubinstein (1999), as in the paper's appendix. An iteration draws a population from a normal
// with mean m and covariance C inside the box and moves it towards the best, the elites:
//
//     m = (1 - rate) m + rate mean(elites)
//     C = (1 - rate) C + rate cov(elites) + ridge
//
// It ends when the running average of m hardly moves, or when the iterations or the budget run
// out. The answer is the last mean; it is tried last, so that it has a score.
//
//     constants     elites  initial covariance               tolerance  ridge
//     released           4  (highest end - lowest end)^2         1e-13   1e-7
//     paper              5  the width of each range                0.1      0
//
// 1. The paper's results were made with the released constants, the default. The printed
//    tolerance of 0.1 ends a search of step sizes soon: a mean within [0, 1] moves less.
// 2. A dimension is searched on its own scale, linear or logarithmic. Ordered discrete values
//    (steps, indices of a list) are rounded; the elites' mean uses the numbers before rounding.
// 3. Dimensions of names have no order: each combination of names has its own normal, with an
//    equal share of the budget. All run at the same time, and the best of their last means is
//    the answer. More than 64 combinations are refused.
// 4. The runs of all settings, in all iterations, share their random streams; the released code
//    changes them every iteration. A setting therefore has one score and is not run twice, and
//    the last mean can be compared with all settings tried.
// 5. The search can end from the second iteration on: the first has nothing to compare with.
// 6. A setting that broke down in all runs is no elite, and one that broke down in some is an
//    elite only after all that did not. If all broke down, the normal does not change. A last
//    mean with broken runs is no answer while there is a setting without.

#include "base/scratch.h"
#include "base/text.h"
#include "search.h"
#include "search_internal.h"
#include "truncated.h"

#include <math.h>

#define COMBINATIONS 64

enum { CONSTANTS, POPULATION, ELITES, RATE, SPREAD, TOLERANCE, RIDGE, ITERATIONS, NPARAM };
enum { RELEASED, PAPER };
enum { AS_CONSTANTS, COMMON, WIDTH };
static const char *const constants_name[] = {"released", "paper"};
static const char *const spread_name[] = {"constants", "common", "width"};

static const rh_param param[NPARAM] = {
    [CONSTANTS] = {"constants", "constants of the paper's released code, or as printed",
                   .lo = 0, .hi = 1, .initial = RELEASED, .fixed = true,
                   .choice = constants_name},
    [POPULATION] = {"population", "settings per iteration", .lo = 2, .hi = 4096, .initial = 32,
                    .whole = true, .fixed = true},
    [ELITES] = {"elites", "best settings that move the normal; 0: from constants", .lo = 0,
                .hi = 4096, .initial = 0, .whole = true, .fixed = true},
    [RATE] = {"rate", "share of the way the normal moves towards the elites", .lo = 1e-6,
              .hi = 1.0, .initial = 0.1, .fixed = true},
    [SPREAD] = {"spread", "initial variance: largest width squared, or each width", .lo = 0,
                .hi = 2, .initial = AS_CONSTANTS, .fixed = true, .choice = spread_name},
    [TOLERANCE] = {"tolerance", "change of the mean that ends the search; -1: from constants",
                   .lo = -1.0, .hi = 1e6, .initial = -1.0, .fixed = true},
    [RIDGE] = {"ridge", "number added to variances; -1: from constants", .lo = -1.0, .hi = 1e6,
               .initial = -1.0, .fixed = true},
    [ITERATIONS] = {"iterations", "largest number of iterations", .lo = 1, .hi = 1e6,
                    .initial = 100, .whole = true, .fixed = true},
};

// One normal: one combination of the names.
typedef struct normal {
    rh_truncated t;
    double average[RH_MAX_DIM]; // of the means so far                (nfree)
    int iteration;              // finished iterations
    int ntried;                 // settings tried
    bool over;                  // no further iteration
    int last;                   // setting of its last mean, at the end
} normal;

typedef struct cem {
    int nelite;
    double tolerance, ridge;
    int free[RH_MAX_DIM]; // dimensions with an order and more than one value  (nfree)
    int nfree;
    int share; // settings that each normal may try
    rh_scratch scratch;
    normal *normal; // (nnormal)
    int nnormal;    //
    double *h;      // numbers drawn                (nnormal x population x nfree)
    int *who;       // their settings               (nnormal x population)
    int *elite;     // draws, the best first        (nelite)
    bool begun;     // an iteration has been drawn
    bool ended;     // the last means have been proposed
} cem;

// ---------------------------------------------------------------------------- construction

// Both ends of a dimension on its scale.
static void ends(const rh_dim *dim, double *lo, double *hi)
{
    double count = rh_dim__count(dim);
    if (dim->kind != RH_DIM_RANGE) {
        *lo = 0.0;
        *hi = count - 1.0;
        return;
    }
    *lo = isfinite(count) ? rh_dim__at(dim, 0.0) : dim->lo;
    *hi = isfinite(count) ? rh_dim__at(dim, count - 1.0) : dim->hi;
    if (dim->scale == RH_LOG) {
        *lo = rh_ln(*lo);
        *hi = rh_ln(*hi);
    }
}

static void spread(rh_search *search, rh_truncated *t)
{
    const cem *c = search->self;
    bool paper = (int)search->param[CONSTANTS] == PAPER;
    int said = (int)search->param[SPREAD];
    bool width = said == WIDTH || (said == AS_CONSTANTS && paper);
    double lowest = INFINITY, highest = -INFINITY;
    t->n = c->nfree;
    for (int k = 0; k < t->n; k++) {
        ends(&search->space.dim[c->free[k]], &t->lo[k], &t->hi[k]);
        t->mean[k] = 0.5 * t->lo[k] + 0.5 * t->hi[k];
        lowest = t->lo[k] < lowest ? t->lo[k] : lowest;
        highest = t->hi[k] > highest ? t->hi[k] : highest;
    }
    for (int k = 0; k < t->n; k++)
        t->cov[k][k] = width ? t->hi[k] - t->lo[k] : (highest - lowest) * (highest - lowest);
    rh_truncated__ready(t);
}

// Find the number of normals, the free dimensions, and the budget of each normal.
static rh_status divide(rh_search *search, rh_error *err)
{
    cem *c = search->self;
    int population = (int)search->param[POPULATION], budget = search->opt.budget;
    double combinations = 1.0;
    for (int k = 0; k < search->space.ndim; k++) {
        const rh_dim *dim = &search->space.dim[k];
        if (dim->kind == RH_DIM_NAMES)
            combinations *= dim->nvalue;
        else if (rh_dim__count(dim) > 1.0)
            c->free[c->nfree++] = k;
    }
    if (combinations > COMBINATIONS)
        return rh_fail(err, RH_EINVAL,
                       "cem: %s combinations of names, expected at most %d, which are "
                       "searched separately: fewer names, or method bayes",
                       rh_search__write(combinations).text, COMBINATIONS);
    c->nnormal = (int)combinations;
    bool all = rh_space__count(&search->space) <= budget; // no setting is tried twice
    c->share = all ? INT32_MAX : budget / c->nnormal;
    if (c->share <= population)
        return rh_fail(err, RH_EINVAL,
                       "cem: %d settings to try, expected at least %d: a population of %d and "
                       "the mean%s",
                       budget, c->nnormal * (population + 1), population,
                       c->nnormal > 1 ? ", for each combination of names" : "");
    return RH_OK;
}

static rh_status cem_init(rh_search *search, rh_error *err)
{
    cem *c = search->self;
    const double *p = search->param;
    bool paper = (int)p[CONSTANTS] == PAPER;
    size_t population = (size_t)p[POPULATION];
    c->nelite = p[ELITES] > 0.0 ? (int)p[ELITES] : paper ? 5 : 4;
    c->tolerance = p[TOLERANCE] >= 0.0 ? p[TOLERANCE] : paper ? 0.1 : 1e-13;
    c->ridge = p[RIDGE] >= 0.0 ? p[RIDGE] : paper ? 0.0 : 1e-7;
    if (c->nelite > (int)population)
        return rh_fail(err, RH_EINVAL, "cem: elites = %d, expected at most the population, %d",
                       c->nelite, (int)population);
    rh_status rc = divide(search, err);
    if (rc)
        return rc;

    size_t nnormal = (size_t)c->nnormal;
    c->normal = rh_scratch__take(&c->scratch, nnormal, sizeof *c->normal);
    c->h = rh_scratch__take(&c->scratch, nnormal * population * (size_t)c->nfree, sizeof *c->h);
    c->who = rh_scratch__take(&c->scratch, nnormal * population, sizeof *c->who);
    c->elite = rh_scratch__take(&c->scratch, (size_t)c->nelite, sizeof *c->elite);
    if (c->scratch.failed)
        return rh_base__no_memory(err, search->type->name);
    for (int i = 0; i < c->nnormal; i++)
        spread(search, &c->normal[i].t);
    return RH_OK;
}

static void cem_clear(rh_search *search)
{
    cem *c = search->self;
    rh_scratch__clear(&c->scratch);
}

// ---------------------------------------------------------------------------- drawing

// The setting of h (nfree) in combination i of names.
static void settle(const rh_search *search, int i, const double *h, double *x)
{
    const cem *c = search->self;
    for (int k = search->space.ndim - 1; k >= 0; k--) {
        const rh_dim *dim = &search->space.dim[k];
        if (dim->kind == RH_DIM_NAMES) {
            x[k] = dim->value[i % dim->nvalue];
            i /= dim->nvalue;
        } else if (rh_dim__count(dim) == 1.0) {
            x[k] = rh_dim__at(dim, 0.0);
        }
    }
    for (int k = 0; k < c->nfree; k++)
        x[c->free[k]] = rh_dim__round(&search->space.dim[c->free[k]], h[k]);
}

// Propose the setting of h unless it was tried; *setting gets its index.
static rh_status ask_for(rh_search *search, int i, const double *h, int *setting, rh_error *err)
{
    cem *c = search->self;
    double x[RH_MAX_DIM];
    settle(search, i, h, x);
    *setting = rh_search__find(search, x);
    if (*setting >= 0)
        return RH_OK;
    *setting = search->nsetting;
    c->normal[i].ntried++;
    return rh_search__ask_new(search, x, search->opt.nrun, err);
}

// Draw the next iteration of combination i.
static rh_status draw(rh_search *search, int i, rh_error *err)
{
    cem *c = search->self;
    normal *n = &c->normal[i];
    int population = (int)search->param[POPULATION];
    rh_rng rng =
        rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, (uint64_t)i, (uint64_t)n->iteration);
    rh_status rc = RH_OK;
    for (int k = 0; !rc && k < population; k++) {
        ptrdiff_t at = (ptrdiff_t)i * population + k;
        rh_truncated__draw(&n->t, &rng, c->h + at * c->nfree);
        rc = ask_for(search, i, c->h + at * c->nfree, &c->who[at], err);
    }
    return rc;
}

// ---------------------------------------------------------------------------- learning

// Set h (nfree) to the values that were really run, in dimensions without steps.
static void recall(const rh_search *search, const rh_truncated *t, int setting, double *h)
{
    const cem *c = search->self;
    for (int k = 0; k < c->nfree; k++) {
        const rh_dim *dim = &search->space.dim[c->free[k]];
        double x = search->setting[setting].x[c->free[k]];
        if (isfinite(rh_dim__count(dim)))
            continue;
        x = dim->scale == RH_LOG ? rh_ln(x) : x;
        h[k] = !(x > t->lo[k]) ? t->lo[k] : x < t->hi[k] ? x : t->hi[k];
    }
}

// Write the best draws of combination i to c->elite, best first. Returns their number.
static int choose(const rh_search *search, int i)
{
    const cem *c = search->self;
    int population = (int)search->param[POPULATION], n = 0;
    const int *who = c->who + (ptrdiff_t)i * population;
    for (int k = 0; k < population; k++) {
        const rh_search__setting *new = &search->setting[who[k]];
        if (new->value == -INFINITY)
            continue;
        int at = n < c->nelite ? n++ : n;
        for (; at > 0 && rh_search__above(new, &search->setting[who[c->elite[at - 1]]]); at--)
            if (at < c->nelite)
                c->elite[at] = c->elite[at - 1];
        if (at < c->nelite)
            c->elite[at] = k;
    }
    return n;
}

// Move the normal towards its n elites, which are rows of h.
static void approach(const rh_search *search, normal *one, const double *h, int n)
{
    const cem *c = search->self;
    rh_truncated *t = &one->t;
    double rate = search->param[RATE], mean[RH_MAX_DIM] = {0.0};
    for (int e = 0; e < n; e++)
        for (int k = 0; k < t->n; k++)
            mean[k] += h[(ptrdiff_t)c->elite[e] * t->n + k] / n;
    for (int a = 0; a < t->n; a++)
        for (int b = 0; b < t->n; b++) {
            double sum = 0.0;
            for (int e = 0; e < n; e++) {
                const double *row = h + (ptrdiff_t)c->elite[e] * t->n;
                sum += (row[a] - mean[a]) * (row[b] - mean[b]);
            }
            double cov = n > 1 ? sum / (n - 1) : 0.0;
            t->cov[a][b] = (1.0 - rate) * t->cov[a][b] + rate * cov + (a == b ? c->ridge : 0.0);
        }
    for (int k = 0; k < t->n; k++) {
        double to = (1.0 - rate) * t->mean[k] + rate * mean[k];
        t->mean[k] = to < t->lo[k] ? t->lo[k] : to > t->hi[k] ? t->hi[k] : to;
    }
    rh_truncated__ready(t);
}

// Learn from an iteration of combination i. Returns whether another one follows.
static bool learn(rh_search *search, int i)
{
    cem *c = search->self;
    normal *one = &c->normal[i];
    int population = (int)search->param[POPULATION];
    double *h = c->h + (ptrdiff_t)i * population * c->nfree, square = 0.0;
    for (int k = 0; k < population; k++)
        recall(search, &one->t, c->who[i * population + k], h + (ptrdiff_t)k * c->nfree);
    int n = choose(search, i);
    if (n > 0)
        approach(search, one, h, n);

    // the running average, and how far it moved
    one->iteration++;
    for (int k = 0; k < c->nfree; k++) {
        double change = (one->t.mean[k] - one->average[k]) / one->iteration;
        one->average[k] += change;
        square += change * change;
    }
    bool still = one->iteration > 1 && sqrt(square) <= c->tolerance;
    return !still && one->iteration < (int)search->param[ITERATIONS] &&
           one->ntried + population < c->share;
}

// ---------------------------------------------------------------------------- the search

static rh_status cem_ask(rh_search *search, rh_error *err)
{
    cem *c = search->self;
    rh_status rc = RH_OK;
    bool running = true;

    // iterate until there is a new setting
    while (!rc && search->nasked == 0 && running && !c->ended) {
        running = false;
        for (int i = 0; !rc && i < c->nnormal; i++) {
            normal *one = &c->normal[i];
            one->over = one->over || (c->begun && !learn(search, i));
            if (one->over)
                continue;
            rc = draw(search, i, err);
            running = true;
        }
        c->begun = true;
    }
    if (rc || running || c->ended)
        return rc;

    // the last means
    c->ended = true;
    for (int i = 0; !rc && i < c->nnormal; i++)
        rc = ask_for(search, i, c->normal[i].t.mean, &c->normal[i].last, err);
    return rc;
}

static void cem_foresee(const rh_search *search, int *nsetting, int64_t *nrun)
{
    const cem *c = search->self;
    const double *p = search->param;
    double all = (p[ITERATIONS] * p[POPULATION] + 1.0) * c->nnormal;
    int most = rh_search__most(search);
    *nsetting = all < most ? (int)all : most;
    *nrun = (int64_t)*nsetting * search->opt.nrun;
}

// The last means first, then the other settings.
static int cem_lead(const rh_search *search, int most, rh_search__lead_entry *leader)
{
    const cem *c = search->self;
    int n = rh_search__lead_by_value(search, most, leader), nlast = 0;
    if (!c->ended || search->ntold < search->nasked)
        return n;
    rh_search__lead_entry last[COMBINATIONS];
    for (int i = 0; i < c->nnormal; i++) {
        rh_search__lead_entry new = rh_search__leader(search, c->normal[i].last);
        bool worse = search->setting[new.setting].broken && n > 0 &&
                     !search->setting[leader[0].setting].broken;
        if (new.value == -INFINITY || worse)
            continue;
        int at = nlast++;
        for (; at > 0 && last[at - 1].value < new.value; at--)
            last[at] = last[at - 1];
        last[at] = new;
    }

    // the others behind them
    int nother = 0;
    for (int i = 0; i < n; i++) {
        bool is_last = false;
        for (int k = 0; k < nlast; k++)
            is_last = is_last || leader[i].setting == last[k].setting;
        if (!is_last)
            leader[nother++] = leader[i];
    }
    nlast = nlast < most ? nlast : most;
    nother = nother < most - nlast ? nother : most - nlast;
    for (int i = nother - 1; i >= 0; i--)
        leader[nlast + i] = leader[i];
    for (int i = 0; i < nlast; i++)
        leader[i] = last[i];
    return nlast + nother;
}

static const rh_search_calls calls = {
    .self_size = sizeof(cem),
    .init = cem_init,
    .ask = cem_ask,
    .foresee = cem_foresee,
    .lead = cem_lead,
    .clear = cem_clear,
};

const rh_search_type rh_search_cem = {
    .name = "cem",
    .about = "cross-entropy method: a normal distribution that moves towards its best draws",
    .param = param,
    .nparam = NPARAM,
    .calls = &calls,
};
