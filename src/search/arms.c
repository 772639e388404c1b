// arms.c - a search in a space with branches: a search for each of them, and which one is
// asked.
//
// Which agent, and which hyperparameters of it? The hyperparameters of one agent say nothing
// about another's, so each branch has its own search of the caller's method, and this one
// divides the budget among them.
//
// 1. The first ask has a small first design of every branch. After it the branch with the
//    highest potential is asked for its next batch:
//
//        potential = best + max(best - best of its first half, standard error of the best)
//
//    A search gains about as much with each doubling of its settings, so this is what the
//    branch may reach with twice as many. (Rising bandits, Li et al. 2020, extrapolate the last
//    slope to the end of the budget instead; with a dozen settings that is always too much.)
// 2. Every FAIR-th ask goes to the branch that has cost least, because a first half that was
//    fortunate has no slope left.
// 3. Neither depends on the budget, so a search can be continued with a larger one.
// 4. A setting counts as much of the budget as it costs, relative to the most expensive branch.
//    No branch gets more settings than the budget has.
// 5. A branch without dimensions is one setting, asked once.
// 6. Leaders are those of all branches, by the value that each expects.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "search.h"
#include "search_internal.h"

#include <math.h>
#include <string.h>

#define FAIR 4        // decision 2; by hand
#define LEAST_FIRST 4 // settings of a first design

typedef struct arm {
    rh_search *search;   // owned; NULL: the branch is one setting
    int dim[RH_MAX_DIM]; // of the whole space, of each dimension here     (ndim)
    int ndim;
    int *place; // owned: setting of the whole search, of each one here   (n)
    int n, room;
    double cost;
    bool over;
} arm;

typedef struct where {
    int arm, setting; // here
} where;

typedef struct arms {
    arm *arm; // owned                                                     (narm)
    int narm;
    where *where; // owned: of each setting of the whole search           (room)
    int room;
    int nask;     // after the first
    double spent; // of the budget
} arms;

// ---------------------------------------------------------------------------- construction

// Write the dimensions of a branch to the space, in order.
static void take_dims(const rh_search *search, int branch, arm *a, rh_space *space)
{
    for (int d = 1; d < search->space.ndim; d++) {
        if (search->space.dim[d].branch && search->space.dim[d].branch != branch)
            continue;
        a->dim[a->ndim] = d;
        space->dim[a->ndim] = search->space.dim[d];
        space->dim[a->ndim++].branch = 0;
    }
    space->ndim = a->ndim;
}

// Write the part of x that the branch has to own.
static void narrow(const arm *a, const double *x, double *own)
{
    for (int d = 0; d < a->ndim; d++)
        own[d] = x[a->dim[d]];
}

static rh_status make_arm(const rh_search *search, int branch, arm *a, rh_error *err)
{
    const rh_search__options *whole = &search->opt;
    rh_search__options opt = *whole;
    rh_space space = {.ndim = 0};
    double *first = NULL;
    rh_status rc = RH_OK;
    take_dims(search, branch, a, &space);
    a->cost = whole->cost ? whole->cost[branch - 1] : 1.0;
    if (!a->ndim)
        return RH_OK;
    first = rh_alloc((size_t)whole->nfirst + 1, (size_t)a->ndim * sizeof *first);
    if (!first)
        return rh_base__no_memory(err, search->method->name);
    opt.nfirst = 0;
    for (int i = 0; i < whole->nfirst; i++) {
        const double *x = whole->first + (size_t)i * (size_t)search->space.ndim;
        if (x[0] == search->space.dim[0].value[branch - 1])
            narrow(a, x, first + (size_t)opt.nfirst++ * (size_t)a->ndim);
    }
    opt.first = first;
    opt.cost = NULL;
    opt.chunk = a->ndim + 1 > LEAST_FIRST ? a->ndim + 1 : LEAST_FIRST;
    rc = rh_search__create(&a->search, search->method, &space, &opt, err);
    rh_free(first);
    return rc;
}

static rh_status arms_init(rh_search *search, rh_error *err)
{
    arms *s = search->self;
    int narm = search->space.dim[0].nvalue;
    rh_status rc = RH_OK;
    s->arm = rh_alloc((size_t)narm, sizeof *s->arm);
    if (!s->arm)
        return rh_base__no_memory(err, search->method->name);
    for (s->narm = 0; s->narm < narm && !rc; s->narm++)
        rc = make_arm(search, s->narm + 1, &s->arm[s->narm], err);
    return rc;
}

static void arms_clear(rh_search *search)
{
    arms *s = search->self;
    for (int i = 0; i < s->narm; i++) {
        rh_search__destroy(s->arm[i].search);
        rh_free(s->arm[i].place);
    }
    rh_free(s->arm);
    rh_free(s->where);
}

// ---------------------------------------------------------------------------- proposals

// Propose a setting of a branch for the first time. Nullable: own.
static rh_status ask_new(rh_search *search, int which, const double *own, int nrun,
                         rh_error *err)
{
    arms *s = search->self;
    arm *a = &s->arm[which];
    double x[RH_MAX_DIM];
    void *place = rh_base__alloc_more(a->place, &a->room, a->n, sizeof *a->place);
    a->place = place ? place : a->place;
    void *at = rh_base__alloc_more(s->where, &s->room, search->nsetting, sizeof *s->where);
    s->where = at ? at : s->where;
    if (!place || !at)
        return rh_base__no_memory(err, search->method->name);
    for (int d = 0; d < search->space.ndim; d++)
        x[d] = NAN;
    x[0] = search->space.dim[0].value[which];
    for (int d = 0; d < a->ndim; d++)
        x[a->dim[d]] = own[d];
    s->where[search->nsetting] = (where){which, a->n};
    a->place[a->n++] = search->nsetting;
    s->spent += a->cost;
    return rh_search__ask_new(search, x, nrun, err);
}

// What the branch's own search says of its settings.
static void take_states(rh_search *search, const arm *a)
{
    for (int i = 0; i < a->n && search->method->calls->reopens; i++)
        search->setting[a->place[i]].state = rh_search__state(a->search, i);
}

static rh_status ask_arm(rh_search *search, int which, rh_error *err)
{
    arms *s = search->self;
    arm *a = &s->arm[which];
    const rh_search__asked *asked;
    int n = 0;
    if (!a->search) {
        a->over = true;
        return ask_new(search, which, NULL, search->opt.nrun, err);
    }
    rh_status rc = rh_search__ask(a->search, &asked, &n, err);
    if (rc)
        return rc;
    take_states(search, a);
    a->over = n == 0;
    for (int i = 0; i < n && !rc; i++)
        if (asked[i].setting < a->n)
            rc = rh_search__ask_again(search, a->place[asked[i].setting], asked[i].nrun, err);
        else
            rc = ask_new(search, which, rh_search__proposed(a->search, asked[i].setting),
                         asked[i].nrun, err);
    return rc;
}

// Decision 1. -INFINITY: nothing of it has worked.
static double potential(const rh_search *search, const arm *a)
{
    double best = -INFINITY, before = -INFINITY, error = 0.0;
    for (int i = 0; i < a->n; i++) {
        const rh_search__setting *t = &search->setting[a->place[i]];
        if (t->broken || !isfinite(t->value))
            continue;
        if (t->value > best) {
            best = t->value;
            error = isfinite(t->noise) ? sqrt(t->noise) : 0.0;
        }
        if (2 * i < a->n)
            before = best;
    }
    return isfinite(before) ? best + fmax(best - before, error) : best;
}

// The branch to ask; -1: the budget is spent, or all are over.
static int next_arm(const rh_search *search)
{
    const arms *s = search->self;
    bool fair = s->nask % FAIR == FAIR - 1;
    int best = -1;
    double most = 0.0;
    for (int i = 0; i < s->narm; i++) {
        const arm *a = &s->arm[i];
        bool full = !search->method->finite &&
                    (s->spent >= search->opt.budget || a->n >= search->opt.budget);
        double worth = fair ? -a->cost * a->n : potential(search, a);
        if (a->over || full || (best >= 0 && worth <= most))
            continue;
        best = i;
        most = worth;
    }
    return best;
}

// Give each branch what an earlier search proposed in it.
static rh_status recall(const rh_search *search, rh_error *err)
{
    const arms *s = search->self;
    double *own = rh_alloc((size_t)search->nknown + 1, RH_MAX_DIM * sizeof *own);
    rh_status rc = own ? RH_OK : rh_base__no_memory(err, search->method->name);
    for (int i = 0; i < s->narm && !rc; i++) {
        const arm *a = &s->arm[i];
        int n = 0;
        for (int k = 0; k < search->nknown && a->search; k++)
            if (rh_search__known(search, k)[0] == search->space.dim[0].value[i])
                narrow(a, rh_search__known(search, k), own + (size_t)n++ * (size_t)a->ndim);
        if (n)
            rc = rh_search__recall(a->search, n, own, err);
    }
    rh_free(own);
    return rc;
}

static rh_status arms_ask(rh_search *search, rh_error *err)
{
    arms *s = search->self;
    rh_status rc = RH_OK;
    if (search->nsetting == 0) {
        rc = search->nknown ? recall(search, err) : RH_OK;
        for (int i = 0; i < s->narm && !rc; i++)
            rc = ask_arm(search, i, err);
        return rc;
    }
    for (int i = next_arm(search); i >= 0 && search->nasked == 0 && !rc; i = next_arm(search))
        rc = ask_arm(search, i, err);
    s->nask++;
    return rc;
}

static rh_status arms_told(rh_search *search, int setting, rh_error *err)
{
    const arms *s = search->self;
    const where *at = &s->where[setting];
    const arm *a = &s->arm[at->arm];
    const rh_search__setting *t = &search->setting[setting];
    double own[RH_MAX_DIM];
    if (!a->search)
        return RH_OK;
    narrow(a, t->x, own);
    rh_search__amend(a->search, at->setting, own);
    rh_search__told told = {.setting = at->setting,
                            .nrun = t->nrun,
                            .score = t->score,
                            .value = t->value,
                            .noise = t->noise,
                            .nbroken = t->broken};
    return rh_search__tell(a->search, &told, err);
}

// ---------------------------------------------------------------------------- results

static void arms_foresee(const rh_search *search, int *nsetting, int64_t *nrun)
{
    const arms *s = search->self;
    double left = search->opt.budget, before = 0.0;
    *nsetting = 0;
    *nrun = 0;
    for (int i = 0; i < s->narm; i++) {
        const arm *a = &s->arm[i];
        int n = 1;
        int64_t runs = search->opt.nrun;
        if (a->search)
            rh_search__foresee(a->search, &n, &runs);
        *nsetting += n;
        *nrun += runs;
    }
    if (search->method->finite)
        return;

    // the cheapest branches first (decision 4)
    int most = 0;
    for (;;) {
        double cost = INFINITY;
        for (int i = 0; i < s->narm; i++)
            if (s->arm[i].cost > before)
                cost = fmin(cost, s->arm[i].cost);
        if (isinf(cost))
            break;
        for (int i = 0; i < s->narm; i++) {
            if (s->arm[i].cost != cost)
                continue;
            int n = !s->arm[i].search ? 1 : search->opt.budget;
            n = (int)fmin(n, ceil(fmax(left, 0.0) / cost));
            most += n;
            left -= n * cost;
        }
        before = cost;
    }
    most += search->opt.batch; // the last batch may be whole
    *nsetting = most < *nsetting ? most : *nsetting;
    *nrun = (int64_t)*nsetting * search->opt.nrun;
}

static int arms_lead(const rh_search *search, int most, rh_search__lead_entry *leader)
{
    const arms *s = search->self;
    rh_search__lead_entry *own = rh_alloc((size_t)most, sizeof *own);
    int count = 0;
    if (!own)
        return rh_search__lead_by_value(search, most, leader);
    for (int i = 0; i < s->narm; i++) {
        const arm *a = &s->arm[i];
        int n = 0;
        if (a->search)
            n = rh_search__lead(a->search, most, own);
        else if (a->n && search->setting[a->place[0]].nrun) {
            own[n++] = rh_search__leader(search, a->place[0]);
            own[0].setting = 0;
        }
        for (int k = 0; k < n; k++) {
            rh_search__lead_entry new = own[k];
            new.setting = a->place[new.setting];
            rh_search__add_leader(search, &new, most, leader, &count);
        }
    }
    rh_free(own);
    return count;
}

static const rh_search_calls arms_calls = {
    .self_size = sizeof(arms),
    .reopens = true,
    .init = arms_init,
    .ask = arms_ask,
    .told = arms_told,
    .foresee = arms_foresee,
    .lead = arms_lead,
    .clear = arms_clear,
};

const rh_search_type rh_search_arms = {
    .name = "arms",
    .about = "a search for each branch of a space",
    .calls = &arms_calls,
};
