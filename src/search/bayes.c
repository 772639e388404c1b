// bayes.c - Bayesian optimisation: a Gaussian process chooses the next setting.
//
// The first design spreads over the space. Then, for every proposal, the process is updated
// with the results (bayes_process.c), and the setting with the highest acquisition function is
// proposed (bayes_next.c).
//
// 1. A batch assumes the results that are still missing: each proposal enters the process with
//    its expected value (Ginsbourger et al. 2010), so the next one is elsewhere.
// 2. The answer is the setting of best expected value; the best observed value is partly noise.
// 3. With the default `mixed`, every second proposal excludes everything within 1.5 length
//    scales of the best setting: what is best elsewhere? Length scales are then at most 0.6 of
//    their prior mean, since a dimension without effect near the best may have one elsewhere.
//    Expected improvement alone stays at the first maximum: on Hartmann-6, 3 of 12 searches
//    from random designs still had the second highest maximum after 200 settings. With this
//    and an even design, none of 40 did; 1.5 and 0.6 were chosen there.
// 4. Settings that an earlier search proposed (rh_search__recall) are not computed again. The
//    process is brought up to date once, for the first one that is not known or for the answer.

#include "bayes.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "search.h"
#include "sobol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 5000 // settings
#define CHUNK 64     // settings predicted at a time
#define REACH 1.5    // length scales around the best setting that are excluded

static const char *const acquisition_name[] = {
    [RH_BAYES_MIXED] = "mixed", [RH_BAYES_EI] = "ei", [RH_BAYES_UCB] = "ucb", NULL};

static const rh_param bayes_param[RH_BAYES_NPARAM] = {
    [RH_BAYES_ACQUISITION] = {"acquisition", "acquisition function", .hi = 2.0, .whole = true,
                              .choice = acquisition_name},
    [RH_BAYES_KAPPA] = {"kappa", "standard deviations that ucb adds to the mean", .lo = 0.0,
                        .hi = 100.0, .initial = 2.576},
    [RH_BAYES_FIRST] = {"first", "settings of the first design per dimension", .lo = 0.5,
                        .hi = 100.0, .initial = 3.0},
};

// Random stream, besides those of bayes_process.c and number 0 of bayes_next.c.
enum { STREAM_DESIGN = 1 };

// Settings of the first design.
int rh_bayes__first_design(const rh_search *search)
{
    int ndim = 0, most = rh_search__most(search);
    for (int k = 0; k < search->space.ndim; k++)
        ndim += rh_dim__count(&search->space.dim[k]) > 1.0;
    double want = ceil(ndim * search->param[RH_BAYES_FIRST]);
    if (search->opt.chunk > 0)
        want = fmin(want, search->opt.chunk);
    return (int)fmin(fmax(want, 4.0), (most + 1) / 2);
}

static rh_status bayes_init(rh_search *search, rh_error *err)
{
    rh_bayes *b = search->self;
    if (rh_search__most(search) > LARGEST)
        return rh_fail(err, RH_EINVAL,
                       "bayes: %d settings to try, expected at most %d: method random or cem",
                       rh_search__most(search), LARGEST);
    b->wants_far = search->param[RH_BAYES_ACQUISITION] == RH_BAYES_MIXED;
    return rh_bayes__begin(search, err);
}

static void bayes_clear(rh_search *search)
{
    rh_bayes__end(search->self);
}

// ---------------------------------------------------------------------------- proposals

static rh_status ask_design(rh_search *search, int n, rh_error *err)
{
    rh_rng rng = rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, STREAM_DESIGN, 0);
    rh_sobol sobol;
    rh_status rc = rh_search__ask_first(search, err);
    rh_sobol__init(&sobol, search->space.ndim, &rng);

    // in a small space several points may give one setting: the design is then smaller
    for (int i = 0; i < 20 * n && search->nsetting < n && !rc; i++) {
        double u[RH_MAX_DIM], x[RH_MAX_DIM];
        rh_sobol__at(&sobol, (uint32_t)i, u);
        rh_space__place(&search->space, u, x);
        if (rh_search__find(search, x) < 0)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    }
    return rc;
}

// Set the aim: improve on the best setting, or with `elsewhere` on the best one away from it.
static void take_aim(const rh_search *search, bool elsewhere, rh_bayes__aim *aim)
{
    rh_bayes *b = search->self;
    int at = 0;
    *aim = (rh_bayes__aim){.gp = &b->gp, .kappa = search->param[RH_BAYES_KAPPA]};
    aim->ei = search->param[RH_BAYES_ACQUISITION] != RH_BAYES_UCB;
    for (int turn = 0; turn < 2; turn++) {
        aim->best = -INFINITY;
        for (int i = 0; i < b->gp.n; i++) { // assumed results too
            const double *z = b->gp.z + (size_t)i * (size_t)b->gp.ncol;
            double mean = b->noisy ? rh_gp__expected(&b->gp, i) : b->gp.y[i];
            if (mean > aim->best && !rh_bayes__shuns(aim, z)) {
                aim->best = mean;
                at = i;
            }
        }
        if (turn || !elsewhere)
            break;
        aim->reach = REACH;
        memcpy(aim->shun, b->gp.z + (size_t)at * (size_t)b->gp.ncol,
               (size_t)b->gp.ncol * sizeof *aim->shun);
        memcpy(aim->weight, b->gp.weight, (size_t)b->gp.ncol * sizeof *aim->weight);
    }
}

// Write the next setting to x. mixed: every second one elsewhere, with short length scales.
static rh_status propose(const rh_search *search, double *x, bool *found, rh_error *err)
{
    rh_bayes *b = search->self;
    rh_bayes__aim aim;
    bool elsewhere =
        search->param[RH_BAYES_ACQUISITION] == RH_BAYES_MIXED && search->nsetting % 2 == 0;
    // there may be no setting elsewhere, or no new one
    *found = false;
    take_aim(search, elsewhere, &aim);
    if (elsewhere && isfinite(aim.best)) {
        aim.gp = &b->far;
        rh_status rc = rh_bayes__next(search, &aim, x, found, err);
        if (rc || *found)
            return rc;
    }
    take_aim(search, false, &aim);
    return rh_bayes__next(search, &aim, x, found, err);
}

static rh_status bayes_ask(rh_search *search, rh_error *err)
{
    rh_bayes *b = search->self;
    int n = search->nsetting, left = rh_search__most(search) - n;
    if (n == 0)
        return ask_design(search, rh_bayes__first_design(search), err);
    int batch = search->opt.batch < left ? search->opt.batch : left;
    batch = batch > 0 ? batch : 0;
    rh_bayes__schedule(search, n);
    rh_status rc = RH_OK;
    bool known = batch > 0 && rh_search__known(search, n + batch - 1);
    if (!known)
        rc = rh_bayes__reserve(search, n, batch, err);
    if (!rc && !known) // also at the end: rh_search__lead() uses the process
        rc = rh_bayes__bring_up(search, n, err);
    if (!rc)
        rc = rh_bayes__ask_batch(search, batch, !known, propose, rh_bayes__assume, err);
    if (!known)
        rh_bayes__back_to(b, b->nput, b->nseen);
    return rc;
}

// ---------------------------------------------------------------------------- leaders

static int bayes_lead(const rh_search *search, int most, rh_search__lead_entry *leader)
{
    rh_bayes *b = search->self;
    int told = search->nsetting - search->nasked + search->ntold, count = 0;
    bool any = false;
    for (int i = 0; i < told; i++)
        any |= isfinite(search->setting[i].value);
    if (!any || b->nfit == 0)
        return rh_search__lead_by_value(search, most, leader);

    // add new results and remove them again: asking for leaders must not change the search
    int put = b->nput, seen = b->nseen;
    double mean[CHUNK], variance[CHUNK];
    rh_bayes__add(search, told);
    for (int i = 0; i < told; i++) {
        const rh_search__setting *s = &search->setting[i];
        rh_search__lead_entry new = rh_search__leader(search, i);
        double slope;
        if (i % CHUNK == 0)
            rh_gp__predict(&b->gp, told - i < CHUNK ? told - i : CHUNK,
                           b->z + (size_t)i * (size_t)b->gp.ncol, mean, variance);
        if (isinf(s->value))
            continue;
        if (rh_bayes__has_value(search, i) && s->noise != 0.0) {
            new.value = rh_bayes__push(b, b->shift + b->scale * mean[i % CHUNK]);
            rh_bayes__pull(b, new.value, &slope);
            new.sd = b->scale *sqrt(variance[i % CHUNK]) / slope;
        }
        rh_search__add_leader(search, &new, most, leader, &count);
    }
    rh_bayes__back_to(b, put, seen);
    return count;
}

static const rh_search_calls bayes_calls = {
    .self_size = sizeof(rh_bayes),
    .init = bayes_init,
    .ask = bayes_ask,
    .lead = bayes_lead,
    .clear = bayes_clear,
};

const rh_search_type rh_search_bayes = {
    .name = "bayes",
    .about = "Bayesian optimisation with a Gaussian process",
    .param = bayes_param,
    .nparam = RH_BAYES_NPARAM,
    .calls = &bayes_calls,
};
