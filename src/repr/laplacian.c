// laplacian.c - the Laplacian representation: consecutive states of the log get nearby codes,
// random states do not.
//
// After Wu, Tucker and Nachum (2019) and the paper. A network psi with two hidden layers
// minimises, over states s_t, states s_t+u of the same episode with u >= 1 drawn by kappa^u
// within a window, and random states s_j,
//
//     |psi(s_t) - psi(s_t+u)|^2
//         + beta ((psi(s_t) . psi(s_j))^2 - zeta |psi(s_t)|^2 - zeta |psi(s_j)|^2)
//
// 1. This is the loss of the paper's algorithm, with beta before the whole bracket, and its
//    true gradient. In the authors' code the attractive terms cancel, so that its codes are
//    nearer to those of an untrained network.
// 2. zeta decides what is forgotten. A feature of unit variance, whose values in a pair have
//    correlation rho, is kept with variance zeta - (1 - rho) / beta, and dropped if that is
//    negative. With beta = 5, zeta = 0.05 keeps features with a correlation above 0.75; the
//    default of 0.5 drops none for being fast. Predicting the next state by the nearest known
//    state with the same action in near-optimal logs has an error of (Acrobot, Cartpole) 0.32,
//    0.18 standard deviations with raw, 0.32, 0.21 with zeta = 0.5 and 0.90, 0.71 with 0.05;
//    without a model 0.62, 0.39. Awareness ranks them the other way: 0.59, 0.78 with zeta =
//    0.5, 0.90, 0.96 with 0.05. See blur.c.
// 3. A fifth of the episodes is held out to monitor training. The training loss keeps falling,
//    while the slowest features and their harmonics displace the others. Monitored on training
//    data, as in the authors' code, the same errors are 0.71, 0.63. A log too short to hold
//    anything out is monitored that way.
// 4. Training ends after three rising checks, with the best weights; the last give 0.48, 0.22.
// 5. A pair never leaves its episode, nor passes a step whose s' is not the next step's s.
// 6. A log in which fewer than one step in twenty leads to the next has too few pairs: refused.
//
// Measured on one core of a 2.3 GHz Xeon (bench/bench_laplacian.c), 30,000 steps at batch 128
// through 6-128-128-8: 9.4 s with AVX-512 (312 us a step, 132e9 operations a second), 18.1 s
// with AVX2, 55 s with SSE2.

#include "laplacian.h"
#include "base/scratch.h"
#include "numeric/mlp.h"
#include "repr.h"

#include <math.h>

#define NWATCHED 1000 // triples that monitor training
#define NFOLD 5       // one of which is held out
#define WATCH 256     // steps between two calls of the caller's watch

enum {
    SCALE,
    D,
    HIDDEN,
    KAPPA,
    BETA,
    ZETA,
    WINDOW,
    RATE,
    BATCH,
    STEPS,
    CHECK,
    PATIENCE,
    HALF,
    FIRST_BIAS,
    NPARAM
};

static const char *const no_yes[] = {"no", "yes"};

static const rh_param laplacian_param[NPARAM] = {
    [SCALE] = RH_SCALE_PARAM,
    RH_NET_PARAMS(D, HIDDEN),
    [KAPPA] = {"kappa", "a state u steps ahead counts as close with weight kappa^u", .lo = 0.01,
               .hi = 1.0, .initial = 0.8, .fixed = true},
    [BETA] = {"beta", "weight of the term that keeps codes apart", .lo = 0.0, .hi = 1000.0,
              .initial = 5.0, .fixed = true},
    [ZETA] = {"zeta", "weight of the length of codes in that term", .lo = 0.0, .hi = 1000.0,
              .initial = 0.5, .fixed = true},
    [WINDOW] = {"window", "steps ahead at which a state still counts as close", .lo = 1,
                .hi = 10000, .initial = 20, .whole = true, .fixed = true},
    [RATE] = {"rate", "step size of Adam", .lo = 1e-7, .hi = 1.0, .initial = 3e-4,
              .scale = RH_LOG, .fixed = true},
    [BATCH] = {"batch", "states per training step", .lo = 1, .hi = 4096, .initial = 128,
               .whole = true, .fixed = true},
    [STEPS] = {"steps", "training steps at most", .lo = 0, .hi = 1e9, .initial = 30000,
               .whole = true, .fixed = true},
    [CHECK] = {"check", "training steps between checks on held-out episodes", .lo = 1,
               .hi = 1e9, .initial = 1000, .whole = true, .fixed = true},
    [PATIENCE] = {"patience", "consecutive checks with a rising loss that end training",
                  .lo = 1, .hi = 1e6, .initial = 3, .whole = true, .fixed = true},
    [HALF] = {"half", "halve the term that draws codes together", .hi = 1, .initial = 0,
              .fixed = true, .choice = no_yes},
    [FIRST_BIAS] = {"first_bias", "biases in the first layer", .hi = 1, .initial = 1,
                    .fixed = true, .choice = no_yes},
};

// One training, everything allocated before its first step.
typedef struct training {
    rh_repr *repr;
    const rh_repr_work *work;
    rh_laplacian__loss_parts loss;
    rh_closeness closeness;
    rh_points points;   // trained on
    rh_points held;     // held out; empty if the log is too short
    rh_mlp *best;       // owned: the best so far
    rh_mlp__pass *pass; // owned
    rh_scratch scratch;
    float *x, *y, *dy; // a batch                            (3 x batch x ...)
    float *watched;    // inputs of the monitored triples    (3 x NWATCHED x ninput)
    float *seen;       // their codes                        (3 x NWATCHED x d)
    rh_rng rng;
} training;

static void clear(training *t)
{
    rh_closeness__clear(&t->closeness);
    rh_points__clear(&t->points);
    rh_points__clear(&t->held);
    rh_mlp__destroy(t->best);
    rh_mlp__pass_destroy(t->pass);
    rh_scratch__clear(&t->scratch);
}

// Set the points to train on and those held out.
static rh_status split(training *t, rh_error *err)
{
    const rh_repr_work *work = t->work;
    rh_folds folds = {.nfold = 0};
    uint8_t *use = NULL;
    rh_status rc = rh_folds__deal(&folds, work->log, work->use, NFOLD,
                                  rh_repr__chance(work->seed, RH_CHANCE_HELD_OUT), err);
    if (rc)
        goto done;
    use = rh_alloc((size_t)folds.log.nepisode, sizeof *use);
    if (!use) {
        rc = rh_base__no_memory(err, "laplacian");
        goto done;
    }
    if (folds.nfold == NFOLD) {
        rh_folds__use(&folds, 0, true, use);
        rc = rh_points__gather(&t->held, t->repr, &folds.log, use, err);
        if (rc)
            goto done;
    }
    bool holds = t->held.nanchor > 0;
    rh_folds__use(&folds, holds ? 0 : -1, false, use);
    rc = rh_points__gather(&t->points, t->repr, &folds.log, use, err);
    if (rc)
        goto done;
    if (!rh_points__ordered(&t->points))
        rc = rh_fail(
            err, RH_EINVAL,
            "laplacian: the log has no order of steps: %lld of %lld lead to the next step "
            "of their episode, expected more; try raw",
            (long long)t->points.nfollow, (long long)t->points.nstep);

done:
    rh_free(use);
    rh_folds__clear(&folds);
    return rc;
}

// Allocate all that training needs.
static rh_status prepare(training *t, rh_error *err)
{
    const double *p = t->work->param;
    size_t rows = 3 * (size_t)p[BATCH], d = (size_t)p[D];
    size_t nin = (size_t)rh_repr__ninput(t->repr);
    t->loss = (rh_laplacian__loss_parts){p[HALF] != 0.0 ? 0.5 : 1.0, p[BETA], p[ZETA]};
    rh_status rc = rh_closeness__init(&t->closeness, (int)p[WINDOW], p[KAPPA], err);
    if (!rc)
        rc = rh_mlp__clone(&t->best, t->repr->mlp, err);
    if (!rc)
        rc = rh_mlp__pass_create(&t->pass, t->repr->mlp, (int)rows, err);
    if (rc)
        return rc;
    t->x = rh_scratch__take(&t->scratch, rows * nin, sizeof *t->x);
    t->y = rh_scratch__take(&t->scratch, rows * d, sizeof *t->y);
    t->dy = rh_scratch__take(&t->scratch, rows * d, sizeof *t->dy);
    t->watched = rh_scratch__take(&t->scratch, 3 * NWATCHED * nin, sizeof *t->watched);
    t->seen = rh_scratch__take(&t->scratch, 3 * NWATCHED * d, sizeof *t->seen);
    if (t->scratch.failed)
        return rh_base__no_memory(err, "laplacian");

    rh_rng rng = rh_repr__chance(t->work->seed, RH_CHANCE_WATCHED);
    const rh_points *by = t->held.nanchor ? &t->held : &t->points;
    rh_laplacian__draw(by, &t->closeness, NWATCHED, (int)nin, &rng, t->watched);
    t->rng = rh_repr__chance(t->work->seed, RH_CHANCE_BATCHES);
    return RH_OK;
}

static void step(training *t)
{
    const double *p = t->work->param;
    const rh_mlp__adam adam = {.rate = p[RATE], .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    rh_mlp *mlp = t->repr->mlp;
    int n = (int)p[BATCH];
    rh_laplacian__draw(&t->points, &t->closeness, n, rh_mlp__ninput(mlp), &t->rng, t->x);
    rh_mlp__forward(mlp, t->pass, 3 * n, t->x, t->y);
    rh_laplacian__loss(&t->loss, n, rh_mlp__noutput(mlp), t->y, t->dy);
    rh_mlp__backward(mlp, t->pass, t->dy);
    rh_mlp__step(mlp, &adam);
}

static double watched_loss(training *t)
{
    rh_mlp *mlp = t->repr->mlp;
    rh_mlp__evaluate(mlp, t->pass, 3 * NWATCHED, t->watched, t->seen);
    return rh_laplacian__loss(&t->loss, NWATCHED, rh_mlp__noutput(mlp), t->seen, NULL);
}

static rh_status train(training *t, rh_error *err)
{
    const double *p = t->work->param;
    const rh_watch *watch = t->work->watch;
    rh_repr__training *result = &t->repr->training;
    int64_t nstep = (int64_t)p[STEPS], every = (int64_t)p[CHECK];
    double lowest = INFINITY, last = INFINITY;
    int rising = 0;

    for (int64_t i = 1; i <= nstep && !result->early; i++) {
        if (i % WATCH == 1 && watch->stop && watch->stop(watch->context))
            return rh_fail(err, RH_ESTOPPED, "laplacian: stopped");
        if (i % WATCH == 1 && watch->progress)
            watch->progress(watch->context, "learning the representation",
                            (double)(i - 1) / (double)nstep);
        step(t);
        result->nstep = i;
        if (i % every != 0 && i != nstep)
            continue;

        double loss = watched_loss(t);
        if (loss < lowest) {
            lowest = loss;
            rh_mlp__copy(t->best, t->repr->mlp);
        }
        rising = loss <= last ? 0 : rising + 1;
        result->early = rising >= p[PATIENCE] || !isfinite(loss);
        last = loss;
    }

    if (nstep > 0 && !isfinite(lowest))
        return rh_fail(
            err, RH_EINVAL,
            "laplacian: training diverged within %lld steps with rate = %g, expected a "
            "smaller rate",
            (long long)result->nstep, p[RATE]);
    rh_mlp__copy(t->repr->mlp, t->best);
    result->loss = nstep > 0 ? lowest : watched_loss(t);
    return RH_OK;
}

static rh_status laplacian_fit(rh_repr *repr, const rh_repr_work *work, rh_error *err)
{
    const double *p = work->param;
    training t = {.repr = repr, .work = work};
    rh_repr__aware aware;
    rh_status rc = rh_repr__scale(repr, work, (rh_repr__scaling)p[SCALE], err);
    if (!rc)
        rc = rh_repr__network(repr, (int)p[D], (int)p[HIDDEN],
                              p[FIRST_BIAS] != 0.0 ? RH_MLP_PLAIN : RH_MLP_NO_FIRST_BIAS,
                              work->seed, err);
    if (!rc)
        rc = split(&t, err);
    if (!rc)
        rc = prepare(&t, err);
    if (!rc)
        rc = train(&t, err);
    if (!rc && t.held.nanchor) {
        rc = rh_points__awareness(&aware, repr, &t.held, work->seed, err);
        if (!rc)
            repr->training.held_out = aware.value;
    }
    clear(&t);
    return rc;
}

const rh_repr_type rh_repr_laplacian = {
    .name = "laplacian",
    .about = "learned: consecutive states have nearby codes",
    .param = laplacian_param,
    .nparam = NPARAM,
    .ordered = true,
    .fit = laplacian_fit,
};
