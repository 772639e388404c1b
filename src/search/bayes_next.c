// bayes_next.c - the next setting: the maximum of the acquisition function in the unit cube.
//
// Many points, random and around the best settings so far. The best few are improved by
// gradient in dimensions without steps and by single moves in the others.
//
// 1. In a small space, all settings are evaluated.
// 2. A dimension with steps, a list or names is evaluated only at its settings: the process
//    sees the middle of a part, never a point between two settings.
// 3. No setting is tried twice: the study decides about more runs.

#include "bayes.h"
#include "search.h"

#include <math.h>
#include <string.h>

#define SMALL 4096  // largest space of which all settings are evaluated
#define SPREAD 256  // random points
#define NAROUND 256 // points around the best settings
#define AROUND 4    // best settings
#define CLIMBED 5   // points that are improved
#define CHUNK 64
#define STEPS 40 // evaluations of a climb
#define MOVES 16 // names tried in one move

typedef struct place {
    const rh_search *search;
    const rh_bayes__aim *aim;
    int ndim;
    double count[RH_MAX_DIM]; // values of a dimension, may be INFINITY
    bool steps;               // some dimension is finite
} place;

// Move u to the middle of the part of its setting.
static void snap(const place *p, double *u)
{
    const rh_space *space = &p->search->space;
    double x[RH_MAX_DIM], middle[RH_MAX_DIM];
    if (!p->steps)
        return;
    rh_space__place(space, u, x);
    rh_space__unit(space, x, middle);
    for (int k = 0; k < p->ndim; k++)
        if (isfinite(p->count[k]))
            u[k] = middle[k];
}

static bool tried(const place *p, const double *u)
{
    double x[RH_MAX_DIM];
    rh_space__place(&p->search->space, u, x);
    return rh_search__find(p->search, x) >= 0;
}

static void look(const place *p, int n, const double *u, rh_bayes__kept *kept)
{
    double worth[CHUNK];
    rh_bayes__worth(p->aim, n, u, worth);
    for (int i = 0; i < n; i++)
        rh_bayes__keep(kept, u + i * p->ndim, worth[i]);
}

// Evaluate all new settings of a small space.
static void look_at_all(const place *p, rh_bayes__kept *kept)
{
    double u[CHUNK * RH_MAX_DIM], x[RH_MAX_DIM];
    int n = 0, count = (int)rh_space__count(&p->search->space);
    for (int i = 0; i < count; i++) {
        rh_space__at(&p->search->space, i, x);
        if (rh_search__find(p->search, x) < 0)
            rh_space__unit(&p->search->space, x, u + n++ * p->ndim);
        if (n == CHUNK || i == count - 1) {
            look(p, n, u, kept);
            n = 0;
        }
    }
}

// Move some dimensions of u, by one of several widths.
static void stray(const place *p, double *u, rh_rng *rng)
{
    static const double width[] = {0.2, 0.05, 0.01, 0.001};
    double by = width[rh_rng_below(rng, 4)];
    int sure = (int)rh_rng_below(rng, (uint32_t)p->ndim);
    double share = fmin(1.0, 4.0 / p->ndim);
    for (int k = 0; k < p->ndim; k++) {
        double z[2], draw = rh_rng_uniform(rng);
        rh_rng_normal(rng, z);
        if (k != sure && draw > share)
            continue;
        if (p->search->space.dim[k].kind == RH_DIM_NAMES)
            u[k] = rh_rng_uniform(rng);
        else
            u[k] = fmin(fmax(u[k] + fmax(by, 0.7 / p->count[k]) * z[0], 0.0), 1.0);
    }
}

// Evaluate random points, then points around the best settings in the process.
static void look_around(const place *p, rh_rng *rng, rh_bayes__kept *kept)
{
    // the best settings by their values
    rh_bayes__kept best = {.ncol = p->ndim, .most = AROUND};
    const rh_gp *gp = p->aim->gp;
    for (int i = 0; i < gp->n; i++)
        rh_bayes__keep(&best, gp->z + (size_t)i * (size_t)p->ndim, gp->y[i]);

    double u[CHUNK * RH_MAX_DIM];
    int n = 0;
    for (int i = 0; i < SPREAD + NAROUND; i++) {
        double *to = u + n * p->ndim;
        if (i < SPREAD || best.n == 0) {
            for (int k = 0; k < p->ndim; k++)
                to[k] = rh_rng_uniform(rng);
        } else {
            memcpy(to, best.z[i % best.n], (size_t)p->ndim * sizeof *to);
            stray(p, to, rng);
        }
        snap(p, to);
        if (!p->steps || !tried(p, to))
            n++;
        if (n == CHUNK || i == SPREAD + NAROUND - 1) {
            look(p, n, u, kept);
            n = 0;
        }
    }
}

// Make the best single move in the finite dimensions, as long as there is a better one.
static void move(const place *p, double *u, double *worth)
{
    for (bool better = true; better;) {
        better = false;
        rh_bayes__kept best = {.ncol = p->ndim, .most = 1};
        for (int k = 0; k < p->ndim; k++) {
            bool names = p->search->space.dim[k].kind == RH_DIM_NAMES;
            if (isinf(p->count[k]) || p->count[k] < 2.0)
                continue;
            int most = names ? (int)fmin(p->count[k], MOVES) : 2;
            for (int m = 0; m < most; m++) {
                double to[RH_MAX_DIM];
                memcpy(to, u, (size_t)p->ndim * sizeof *to);
                to[k] = names ? (m + 0.5) / p->count[k] : u[k] + (m ? 1.0 : -1.0) / p->count[k];
                if (to[k] < 0.0 || to[k] > 1.0)
                    continue;
                snap(p, to);
                if (!tried(p, to))
                    look(p, 1, to, &best);
            }
        }
        if (best.n && best.worth[0] > *worth) {
            memcpy(u, best.z[0], (size_t)p->ndim * sizeof *u);
            *worth = best.worth[0];
            better = true;
        }
    }
}

rh_status rh_bayes__ask_batch(rh_search *search, int batch, bool computed,
                              rh_status (*propose)(const rh_search *search, double *x,
                                                   bool *found, rh_error *err),
                              void (*assume)(const rh_search *search, const double *x),
                              rh_error *err)
{
    rh_status rc = RH_OK;
    bool found = true;
    for (int i = 0, n = search->nsetting; i < batch && !rc && found; i++) {
        double next[RH_MAX_DIM];
        const double *x = rh_search__known(search, n + i);
        if (!x) {
            rc = propose(search, next, &found, err);
            x = next;
        }
        if (!rc && found)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
        if (!rc && found && computed && i + 1 < batch)
            assume(search, x);
    }
    return rc;
}

rh_status rh_bayes__next(const rh_search *search, const rh_bayes__aim *aim, double *x,
                         bool *found, rh_error *err)
{
    place p = {.search = search, .aim = aim, .ndim = search->space.ndim};
    bool ends = false;
    for (int k = 0; k < p.ndim; k++) {
        p.count[k] = rh_dim__count(&search->space.dim[k]);
        p.steps |= isfinite(p.count[k]);
        ends |= isinf(p.count[k]);
    }
    rh_rng rng =
        rh_rng_stream(search->opt.seed, RH_STREAM_SEARCH, 0, (uint64_t)search->nsetting);
    rh_bayes__kept kept = {.ncol = p.ndim, .most = CLIMBED}, done = kept;
    bool small = rh_space__count(&search->space) <= SMALL;
    if (small)
        look_at_all(&p, &kept);
    else
        look_around(&p, &rng, &kept);

    // improve the best of them; skip settings that were tried
    for (int i = 0; i < kept.n; i++) {
        double *u = kept.z[i], worth = kept.worth[i], lo[RH_MAX_DIM], hi[RH_MAX_DIM];
        for (int turn = 0; turn < 3 && !small; turn++) {
            double before = worth;
            for (int k = 0; k < p.ndim; k++) {
                lo[k] = isfinite(p.count[k]) ? u[k] : 0.0;
                hi[k] = isfinite(p.count[k]) ? u[k] : 1.0;
            }
            rh_status rc = ends ? rh_bayes__climb(aim, lo, hi, STEPS, u, &worth, err) : RH_OK;
            if (rc)
                return rc;
            if (!p.steps)
                break;
            move(&p, u, &worth);
            if (!(worth > before))
                break;
        }
        if (!tried(&p, u))
            rh_bayes__keep(&done, u, worth);
    }

    // nothing left: any new setting
    *found = done.n > 0;
    if (*found)
        rh_space__place(&search->space, done.z[0], x);
    for (int i = 0; i < 1000 && !*found && !small; i++) {
        for (int k = 0; k < p.ndim; k++)
            done.z[0][k] = rh_rng_uniform(&rng);
        rh_space__place(&search->space, done.z[0], x);
        *found = rh_search__find(search, x) < 0;
    }
    return RH_OK;
}
