// clone.c - behaviour cloning: multinomial logistic regression on an agent's tile features.
//
// With A the active features of s, over the n usable transitions of a log:
//
//     preference(s, a) = sum of theta[i, a] for i in A,   pi = softmax of the preferences
//     loss = - sum ln pi(a_k | s_k) + ridge / 2 |theta|^2
//     gradient = sum over k of phi_k (pi_k - e(a_k))' + ridge theta
//
// Newton's method; every step is solved by conjugate gradients, whose products with the Hessian
//
//     H v = sum over k of phi_k (pi_k u_k - pi_k (pi_k . u_k))' + ridge v,   u_k = v' phi_k
//
// need no matrix. A step is halved until the loss falls.
//
// 1. The loss is strictly convex, so its minimum is unique and the result depends on no seed.
//    It ends when no element of the gradient is above 1e-6, in units of logged actions.
// 2. At the minimum the weights of a feature sum to 0 over the actions: raising action values
//    by preferences leaves their mean as it was.
// 3. The features of a log are coded once, 4 bytes each: 7 MB for 5,000 steps of Acrobot.
// 4. The ridge is not divided by n. Of 10,000 steps of one controller, 5,000 were cloned; -ln
//    of the probability of an action of the others was, near-optimal policies of collect:
//
//        ridge            1      10     100    1000
//        Acrobot          0.116  0.109  0.143  0.252
//        Puddle World     0.052  0.086  0.176  0.403
//        Cartpole         0.910  0.691  0.617  0.606
//
//    10 is a compromise. A second log of the same controller tells which is best.
//
// Measured on one core of an AMD EPYC: 5,000 steps of Acrobot take 1.7 s with ridge = 10, and
// 0.3 s with 1000; of random actions 3.4 s (bench/bench_offline.c).

#include "base/base.h"
#include "base/text.h"
#include "offline_internal.h"

#include <math.h>
#include <string.h>

#define COOKIE 0x636c6f6eu
#define ENOUGH 1e-6 // largest element of the gradient at the end
#define NEWTON 200  // steps, at most
#define SOLVE 1000  // conjugate gradients of a step, at most
#define HALVES 40   // of a step, at most

const char *const rh_clone__tile_param[3] = {"tilings", "tiles", "features"};

// A fit on its way. Arrays of rows are (n x nlane), arrays of weights (nfeature x nlane).
typedef struct fit {
    rh_clone *clone; // borrowed
    rh_offline__steps steps;
    double ridge;
    size_t nweight;
    int nactive;
    int32_t *active;           // owned: active features of every row  (n x nactive)
    double *z, *p, *u;         // owned: preferences, probabilities, products with a direction
    double *g, *d, *r, *s, *h; // owned: gradient, step; residual, direction, product with H
} fit;

// ---------------------------------------------------------------------------- rows and weights

// out (n x nlane) = Phi x
static void to_rows(const fit *f, const double *x, double *out)
{
    int nlane = f->clone->nlane;
    for (int32_t k = 0; k < f->steps.n; k++)
        f->clone->kernels->sums(f->nactive, f->active + (int64_t)k * f->nactive, nlane, x,
                                out + (int64_t)k * nlane);
}

// out (nfeature x nlane) = Phi' t + ridge x
static void to_weights(const fit *f, const double *t, const double *x, double *out)
{
    int nlane = f->clone->nlane;
    for (size_t i = 0; i < f->nweight; i++)
        out[i] = f->ridge * x[i];
    for (int32_t k = 0; k < f->steps.n; k++)
        f->clone->kernels->spread(f->nactive, f->active + (int64_t)k * f->nactive, nlane,
                                  t + (int64_t)k * nlane, out);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

// p (naction) = softmax of z; returns ln of the sum of exp z.
static double softmax(const double *z, int naction, double *p)
{
    double most = z[0], sum = 0.0;
    for (int a = 1; a < naction; a++)
        most = fmax(most, z[a]);
    for (int a = 0; a < naction; a++) {
        p[a] = rh_exp(z[a] - most);
        sum += p[a];
    }
    for (int a = 0; a < naction; a++)
        p[a] /= sum;
    return most + rh_ln(sum);
}

// ---------------------------------------------------------------------------- the loss

// -ln of the probability of all logged actions, with preferences z + t u; p is filled.
static double unlikelihood(const fit *f, double t, double *p)
{
    int nlane = f->clone->nlane, naction = f->clone->naction;
    double sum = 0.0, z[RH_MAX_ACTIONS];
    for (int32_t k = 0; k < f->steps.n; k++) {
        size_t row = (size_t)k * (size_t)nlane;
        for (int a = 0; a < naction; a++)
            z[a] = f->z[row + (size_t)a] + (t != 0.0 ? t * f->u[row + (size_t)a] : 0.0);
        sum += softmax(z, naction, p + row) - z[f->steps.act[k]];
    }
    return sum;
}

// Fill g from p, and return its largest element. Overwrites u.
static double gradient(fit *f)
{
    int nlane = f->clone->nlane;
    memcpy(f->u, f->p, (size_t)f->steps.n * (size_t)nlane * sizeof *f->u);
    for (int32_t k = 0; k < f->steps.n; k++)
        f->u[(int64_t)k * nlane + f->steps.act[k]] -= 1.0;
    to_weights(f, f->u, f->clone->theta, f->g);
    double most = 0.0;
    for (size_t i = 0; i < f->nweight; i++)
        most = fmax(most, fabs(f->g[i]));
    return most;
}

// out = H x. Overwrites u.
static void multiply(fit *f, const double *x, double *out)
{
    int nlane = f->clone->nlane, naction = f->clone->naction;
    to_rows(f, x, f->u);
    for (int32_t k = 0; k < f->steps.n; k++) {
        double *u = f->u + (int64_t)k * nlane, *p = f->p + (int64_t)k * nlane;
        double mean = dot(u, p, (size_t)naction);
        for (int a = 0; a < naction; a++)
            u[a] = p[a] * (u[a] - mean);
    }
    to_weights(f, f->u, x, out);
}

// ---------------------------------------------------------------------------- Newton's method

// Solve H d = -g to a share of |g|, by conjugate gradients. false: told to stop.
static bool solve(fit *f, double share, const rh_watch *watch)
{
    size_t n = f->nweight;
    memset(f->d, 0, n * sizeof *f->d);
    for (size_t i = 0; i < n; i++)
        f->r[i] = f->s[i] = -f->g[i];
    double rest = dot(f->r, f->r, n), enough = share * share * rest;
    for (int k = 0; k < SOLVE && rest > enough; k++) {
        if (watch->stop && watch->stop(watch->context))
            return false;
        multiply(f, f->s, f->h);
        double step = rest / dot(f->s, f->h, n), before = rest;
        for (size_t i = 0; i < n; i++) {
            f->d[i] += step * f->s[i];
            f->r[i] -= step * f->h[i];
        }
        rest = dot(f->r, f->r, n);
        for (size_t i = 0; i < n; i++)
            f->s[i] = f->r[i] + rest / before * f->s[i];
    }
    return true;
}

// Go along d until the loss falls, and update theta, z and p. Returns the new unlikelihood.
static double advance(fit *f, double before)
{
    double *theta = f->clone->theta;
    size_t n = f->nweight, nrow = (size_t)f->steps.n * (size_t)f->clone->nlane;
    to_rows(f, f->d, f->u);
    double slope = dot(f->g, f->d, n);
    double cross = dot(theta, f->d, n), square = dot(f->d, f->d, n);
    double slack = 1e-12 * fabs(before); // near the minimum a change is less than rounding
    double t = 1.0, after = unlikelihood(f, t, f->p);
    for (int k = 0; k < HALVES; k++) {
        double change = after - before + f->ridge * (t * cross + 0.5 * t * t * square);
        if (change <= 1e-4 * t * slope + slack)
            break;
        t *= 0.5;
        after = unlikelihood(f, t, f->p);
    }
    for (size_t i = 0; i < n; i++)
        theta[i] += t * f->d[i];
    for (size_t i = 0; i < nrow; i++)
        f->z[i] += t * f->u[i];
    return after;
}

static rh_status minimise(fit *f, const rh_watch *watch, rh_error *err)
{
    double value = unlikelihood(f, 0.0, f->p), most = gradient(f), first = most;
    for (int k = 0; k < NEWTON && most > ENOUGH; k++) {
        if (watch->progress) // by the decades of the gradient
            watch->progress(watch->context, "cloning",
                            fmax(0.0, fmin(1.0, rh_ln(first / most) / rh_ln(first / ENOUGH))));
        if (!solve(f, fmin(0.1, most / first), watch))
            return rh_fail(err, RH_ESTOPPED, "clone: stopped while learning");
        value = advance(f, value);
        most = gradient(f);
    }
    if (!(most <= ENOUGH))
        return rh_fail(err, RH_EINVAL,
                       "clone: not converged with ridge = %g, expected a larger one for this "
                       "log",
                       f->ridge);
    return RH_OK;
}

// ---------------------------------------------------------------------------- learning

rh_clone_options rh_clone_defaults(void)
{
    return (rh_clone_options){.ridge = 10.0, .cookie = COOKIE};
}

static void clear(fit *f)
{
    void *const owned[] = {f->active, f->z, f->p, f->u, f->g, f->d, f->r, f->s, f->h};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
    rh_offline__clear_steps(&f->steps);
}

static rh_status prepare(fit *f, const rh_log *log, rh_error *err)
{
    const rh_clone *clone = f->clone;
    rh_status rc =
        rh_offline__take_steps(&f->steps, log, clone->nobs, clone->naction, "clone", err);
    if (rc)
        return rc;
    size_t n = (size_t)f->steps.n, nrow = n * (size_t)clone->nlane;
    f->nactive = rh_tiles_nactive(clone->tiles);
    f->nweight = (size_t)rh_tiles_nfeature(clone->tiles) * (size_t)clone->nlane;
    f->active = rh_alloc(n * (size_t)f->nactive, sizeof *f->active);
    double **const array[] = {&f->z, &f->p, &f->u, &f->g, &f->d, &f->r, &f->s, &f->h};
    bool all = f->active;
    for (size_t i = 0; all && i < sizeof array / sizeof *array; i++) {
        *array[i] = rh_alloc(i < 3 ? nrow : f->nweight, sizeof(double));
        all = *array[i];
    }
    if (!all)
        return rh_base__no_memory(err, "clone");
    for (int32_t k = 0; k < f->steps.n; k++)
        rh_tiles_active(clone->tiles, log->obs + (int64_t)f->steps.from[k] * log->nobs,
                        f->active + (int64_t)k * f->nactive);
    return RH_OK;
}

// A clone without preferences.
static rh_status create(rh_clone **out, const rh_task *task, const double *hp, rh_error *err)
{
    const rh_agent_type *type = rh_agent_find("esarsa", err);
    double value[RH_MAX_PARAM];
    rh_param_initial(type->param, type->nparam, value);
    rh_status rc = rh_param__check(type->param, type->nparam, type->name, hp ? hp : value, err);
    if (rc)
        return rc;
    if (task->naction < 1)
        return rh_fail(err, RH_EINVAL,
                       "clone: a task of continuous actions, expected discrete ones");
    rh_clone *clone = rh_alloc(1, sizeof *clone);
    if (!clone)
        return rh_base__no_memory(err, "clone");
    clone->kernels = rh_offline__kernels_best();
    clone->nobs = task->nobs;
    clone->naction = task->naction;
    clone->nlane =
        (task->naction + RH_OFFLINE__LANES - 1) / RH_OFFLINE__LANES * RH_OFFLINE__LANES;
    for (int i = 0; i < 3; i++)
        clone->tile[i] =
            (hp ? hp
                : value)[rh_param_find(type->param, type->nparam, rh_clone__tile_param[i])];
    rc = rh_tiles_create(&clone->tiles, task, (int)clone->tile[0], (int)clone->tile[1],
                         (rh_tiles_mode)clone->tile[2], "clone", err);
    if (!rc) {
        size_t nfeature = (size_t)rh_tiles_nfeature(clone->tiles);
        clone->theta = rh_alloc(nfeature * (size_t)clone->nlane, sizeof *clone->theta);
        rc = clone->theta ? RH_OK : rh_base__no_memory(err, "clone");
    }
    if (rc)
        rh_clone_destroy(clone);
    else
        *out = clone;
    return rc;
}

void rh_clone_destroy(rh_clone *clone)
{
    if (!clone)
        return;
    rh_tiles_destroy(clone->tiles);
    rh_free(clone->theta);
    rh_free(clone);
}

rh_status rh_clone_learn(rh_clone **out, const rh_log *log, const rh_task *task,
                         const double *hp, const rh_clone_options *opt, rh_error *err)
{
    rh_clone_options initial = rh_clone_defaults();
    opt = opt ? opt : &initial;
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "clone: options must start from rh_clone_defaults()");
    if (!(opt->ridge > 0.0 && opt->ridge <= 1e6))
        return rh_fail(err, RH_EINVAL, "clone: ridge = %g, expected above 0, to 1e6",
                       opt->ridge);
    rh_clone *clone = NULL;
    fit f = {.ridge = opt->ridge};
    rh_status rc = create(&clone, task, hp, err);
    if (rc)
        goto done;
    f.clone = clone;
    rc = prepare(&f, log, err);
    if (rc)
        goto done;
    rc = minimise(&f, &opt->watch, err);
    if (rc)
        goto done;
    *out = clone;
    clone = NULL;

done:
    clear(&f);
    rh_clone_destroy(clone);
    return rc;
}

// ---------------------------------------------------------------------------- use

// Preferences (nlane) of obs. scratch: (nactive).
static void prefer(const rh_clone *clone, const double *obs, int32_t *scratch, double *z)
{
    rh_tiles_active(clone->tiles, obs, scratch);
    clone->kernels->sums(rh_tiles_nactive(clone->tiles), scratch, clone->nlane, clone->theta,
                         z);
}

rh_status rh_clone_policy(const rh_clone *clone, const double *obs, double *pi, rh_error *err)
{
    double z[RH_MAX_ACTIONS];
    int32_t *scratch = rh_alloc((size_t)rh_tiles_nactive(clone->tiles), sizeof *scratch);
    if (!scratch)
        return rh_base__no_memory(err, "clone");
    prefer(clone, obs, scratch, z);
    softmax(z, clone->naction, pi);
    rh_free(scratch);
    return RH_OK;
}

rh_status rh_clone_loss(const rh_clone *clone, const rh_log *log, double *loss, rh_error *err)
{
    rh_offline__steps s = {.n = 0};
    double sum = 0.0, z[RH_MAX_ACTIONS], p[RH_MAX_ACTIONS];
    int32_t *scratch = rh_alloc((size_t)rh_tiles_nactive(clone->tiles), sizeof *scratch);
    rh_status rc =
        scratch ? rh_offline__take_steps(&s, log, clone->nobs, clone->naction, "clone", err)
                : rh_base__no_memory(err, "clone");
    for (int32_t k = 0; !rc && k < s.n; k++) {
        prefer(clone, log->obs + (int64_t)s.from[k] * log->nobs, scratch, z);
        sum += softmax(z, clone->naction, p) - z[s.act[k]];
    }
    if (!rc)
        *loss = sum / s.n;
    rh_offline__clear_steps(&s);
    rh_free(scratch);
    return rc;
}
