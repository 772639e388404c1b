// choose.c - chooses a representation by dynamics awareness on held-out episodes.
//
// Candidates are raw, by range and by deviation, and laplacian with d of 4, 8 and 16, zeta of
// 0.2 and 0.5 and rates of 1e-4, 3e-4 and 1e-3. A candidate is learned from four fifths of the
// log and judged on the fifth left out, in five folds of episodes.
//
// 1. Awareness is a ratio, so codes of any size and scale compare. But a code that keeps less
//    changes more slowly, so the most forgetful one would win (blur.c). A candidate must
//    therefore have a blur of at most 1.25. If none has, which takes more sensors than raw has
//    numbers, the one with the least blur is chosen.
// 2. All are screened with 3,000 training steps in one fold. A candidate that blurs then would
//    blur more later. The best four of the others are trained for 8,000 steps in all five.
// 3. Candidates within one standard error of the best are equally good. The simplest is chosen:
//    raw before laplacian, then fewer codes, then higher awareness.
// 4. The chosen one is learned again from all of the log, with the same 8,000 steps.
// 5. A candidate that cannot be learned (laplacian if steps have no order, raw with more inputs
//    than a code can have) is dropped. It is no error while another is left.
// 6. A job is one candidate in one fold. Jobs share only the seed, so threads change nothing.
//
// A choice from logs of 5,000 to 10,000 steps costs 66 to 75 s of a 2.3 GHz Xeon with AVX-512,
// half of that on two free cores.

#include "repr.h"
#include "repr_internal.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

#define MOST_BLUR 1.25 // decision 1; blur.c has what it is
enum { NFOLD = 5, NFIRST_FOLD = 1, NLAST = 4 };

// the candidates of the opening comment
static const double some_d[] = {4, 8, 16};
static const double some_zeta[] = {0.5, 0.2};         // likewise
static const double some_rate[] = {1e-4, 3e-4, 1e-3}; // likewise

typedef struct candidate {
    rh_repr_trial trial;
    double aware[NFOLD], blur[NFOLD]; // NAN if not judged
    int place;                        // in the order of addition
    bool lost;                        // it could not be learned
    bool last;                        // it was judged in all folds
} candidate;

typedef struct job {
    candidate *candidate;
    int fold;
} job;

// Shared by all jobs; read only but for flags and errors.
typedef struct choice {
    const rh_repr_options *opt;
    rh_repr__choose_effort effort;
    int nthread;
    rh_folds folds;
    uint8_t *use[2 * NFOLD]; // in one owned block: each fold, and all but it
    candidate candidate[RH_REPR_NTRIAL];
    int ncandidate;
    job job[RH_REPR_NTRIAL * NFOLD];
    int njob;
    atomic_bool ended;        // by the caller, or a job failed
    atomic_int_fast64_t done; // jobs
    rh_status failed;         // why; written under the lock
    rh_error error;
    int lost_at; // the first candidate that failed, and why; written under the lock
    rh_error lost;
    const char *stage;
} choice;

// ---------------------------------------------------------------------------- candidates

static void set(rh_repr_trial *trial, const char *name, double value)
{
    int i = rh_param_find(trial->type->param, trial->type->nparam, name);
    assert(i >= 0);
    trial->param[i] = value;
}

static double get(const rh_repr_trial *trial, const char *name)
{
    int i = rh_param_find(trial->type->param, trial->type->nparam, name);
    return i >= 0 ? trial->param[i] : 0.0;
}

static rh_repr_trial *add(choice *c, const rh_repr_type *type)
{
    assert(c->ncandidate < RH_REPR_NTRIAL && type->nparam <= 16);
    candidate *one = &c->candidate[c->ncandidate];
    one->place = c->ncandidate++;
    one->trial.type = type;
    rh_param_initial(type->param, type->nparam, one->trial.param);
    for (int f = 0; f < NFOLD; f++)
        one->aware[f] = one->blur[f] = NAN;
    return &one->trial;
}

static void add_all(choice *c)
{
    set(add(c, &rh_repr_raw), "scale", RH_SCALE_RANGE);
    set(add(c, &rh_repr_raw), "scale", RH_SCALE_DEVIATION);
    for (size_t i = 0; i < sizeof some_d / sizeof *some_d; i++)
        for (size_t j = 0; j < sizeof some_zeta / sizeof *some_zeta; j++)
            for (size_t k = 0; k < sizeof some_rate / sizeof *some_rate; k++) {
                rh_repr_trial *trial = add(c, &rh_repr_laplacian);
                set(trial, "d", some_d[i]);
                set(trial, "zeta", some_zeta[j]);
                set(trial, "rate", some_rate[k]);
                set(trial, "steps", c->effort.first);
                set(trial, "hidden", c->effort.hidden);
            }
}

// Means over the judged folds, and the standard error of awareness.
static void sum_up(candidate *one)
{
    double aware = 0.0, blur = 0.0, square = 0.0;
    int n = 0;
    for (int f = 0; f < NFOLD; f++)
        if (!isnan(one->aware[f])) {
            aware += one->aware[f];
            blur += one->blur[f];
            n++;
        }
    one->trial.awareness = n ? aware / n : NAN;
    one->trial.blur = n ? blur / n : NAN;
    for (int f = 0; f < NFOLD; f++)
        if (!isnan(one->aware[f]))
            square += pow(one->aware[f] - one->trial.awareness, 2.0);
    one->trial.awareness_err = n > 1 ? sqrt(square / (n - 1) / n) : NAN;
}

static bool sharp(const candidate *one)
{
    return !one->lost && one->trial.blur <= MOST_BLUR;
}

static double or_worst(double x, double worst)
{
    return isnan(x) ? worst : x;
}

// The better one first: not lost, judged in all folds; then awareness, or blur if one blurs.
static int better(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    bool both = sharp(x) && sharp(y);
    if (x->lost != y->lost)
        return x->lost ? 1 : -1;
    if (x->last != y->last)
        return x->last ? -1 : 1;
    double ax = or_worst(x->trial.awareness, -INFINITY);
    double ay = or_worst(y->trial.awareness, -INFINITY);
    double bx = or_worst(x->trial.blur, INFINITY), by = or_worst(y->trial.blur, INFINITY);
    if (!both && bx != by)
        return bx < by ? -1 : 1;
    if (ax != ay)
        return ax > ay ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

// ---------------------------------------------------------------------------- jobs

// Called by trainings in any thread; the caller's watch is called in its own thread only.
static bool stop(void *context)
{
    choice *c = context;
    const rh_watch *watch = &c->opt->watch;
    if (omp_get_thread_num() == 0 && watch->stop && watch->stop(watch->context))
        atomic_store(&c->ended, true);
    return atomic_load(&c->ended);
}

static void progress(void *context, const char *what, double share)
{
    choice *c = context;
    const rh_watch *watch = &c->opt->watch;
    (void)what;
    if (omp_get_thread_num() == 0 && watch->progress)
        watch->progress(watch->context, c->stage,
                        ((double)atomic_load(&c->done) + share) / c->njob);
}

// Learn from all other folds, judge on this one.
static rh_status judge(choice *c, const job *work, rh_error *err)
{
    candidate *one = work->candidate;
    rh_repr *repr = NULL;
    rh_points known = {0}, held = {0};
    rh_repr__aware aware;
    rh_repr_options opt = *c->opt;
    opt.param = one->trial.param;
    opt.use = c->use[2 * work->fold + 1];
    opt.watch = (rh_watch){.progress = progress, .stop = stop, .context = c};

    rh_status rc = rh_repr_fit(&repr, one->trial.type, &c->folds.log, &opt, err);
    if (!rc)
        rc = rh_points__gather(&known, repr, &c->folds.log, opt.use, err);
    if (!rc)
        rc = rh_points__gather(&held, repr, &c->folds.log, c->use[2 * work->fold], err);
    if (!rc)
        rc = rh_points__awareness(&aware, repr, &held, opt.seed, err);
    if (!rc)
        rc = rh_points__blur(&one->blur[work->fold], repr, &known, &held, err);
    if (!rc)
        one->aware[work->fold] = aware.value;
    rh_points__clear(&known);
    rh_points__clear(&held);
    rh_repr_destroy(repr);
    return rc;
}

static void run(choice *c, int i)
{
    rh_error err = {""};
    rh_status rc = atomic_load(&c->ended) ? RH_OK : judge(c, &c->job[i], &err);
    atomic_fetch_add(&c->done, 1);
    if (!rc)
        return;
#pragma omp critical(rh_repr__choose_kind)
    {
        if (rc == RH_EINVAL) {
            c->job[i].candidate->lost = true;
            if (i < c->lost_at) {
                c->lost_at = i;
                c->lost = err;
            }
        } else if (!c->failed) {
            c->failed = rc;
            c->error = err;
            atomic_store(&c->ended, true);
        }
    }
}

// Run all jobs and collect the results.
static rh_status run_all(choice *c, const char *stage, rh_error *err)
{
    c->stage = stage;
    atomic_store(&c->done, 0);
    c->lost_at = c->njob;
#pragma omp parallel for schedule(dynamic) num_threads(c->nthread)
    for (int i = 0; i < c->njob; i++)
        run(c, i);

    if (c->failed)
        return rh_fail(err, c->failed, "%s", c->error.text);
    if (atomic_load(&c->ended))
        return rh_fail(err, RH_ESTOPPED, "representation: stopped");
    for (int i = 0; i < c->ncandidate; i++)
        sum_up(&c->candidate[i]);
    c->njob = 0;
    return RH_OK;
}

static void plan(choice *c, candidate *one, int nfold)
{
    for (int f = 0; f < nfold; f++)
        c->job[c->njob++] = (job){one, f};
    one->last = nfold == c->folds.nfold;
}

// ---------------------------------------------------------------------------- choosing

static rh_status deal(choice *c, const rh_log *log, rh_error *err)
{
    rh_rng rng = rh_repr__chance(c->opt->seed, RH_CHANCE_FOLDS);
    rh_status rc = rh_folds__deal(&c->folds, log, c->opt->use, NFOLD, rng, err);
    if (rc)
        return rc;
    size_t n = (size_t)c->folds.log.nepisode;
    c->use[0] = rh_alloc(2 * NFOLD * n, sizeof *c->use[0]);
    if (!c->use[0])
        return rh_fail(err, RH_ENOMEM, "representation: out of memory for %zu episodes", n);
    for (int i = 0; i < 2 * NFOLD; i++) {
        c->use[i] = c->use[0] + (size_t)i * n;
        rh_folds__use(&c->folds, i / 2, i % 2 == 0, c->use[i]);
    }
    return RH_OK;
}

// Screen all, then compare the best four. The best comes first.
static rh_status compare(choice *c, rh_error *err)
{
    int nfold = c->folds.nfold;
    if (nfold < 2)
        return RH_OK;
    for (int i = 0; i < c->ncandidate; i++) {
        candidate *one = &c->candidate[i];
        plan(c, one, one->trial.type->ordered ? NFIRST_FOLD : nfold);
    }
    rh_status rc = run_all(c, "screening representations", err);
    if (rc)
        return rc;

    // those not judged in all folds come last: take the best of these
    qsort(c->candidate, (size_t)c->ncandidate, sizeof *c->candidate, better);
    int nlast = 0;
    for (int i = 0; i < c->ncandidate && nlast < NLAST; i++) {
        candidate *one = &c->candidate[i];
        if (one->last || !sharp(one))
            continue;
        set(&one->trial, "steps", c->effort.last);
        plan(c, one, nfold);
        nlast++;
    }
    rc = run_all(c, "comparing representations", err);
    if (!rc)
        qsort(c->candidate, (size_t)c->ncandidate, sizeof *c->candidate, better);
    return rc;
}

// The simplest of those as good as the best; NULL if none could be learned.
static candidate *choose(choice *c)
{
    candidate *best = &c->candidate[0], *chosen = NULL;
    for (int i = 0; i < c->ncandidate; i++) {
        candidate *one = &c->candidate[i];
        bool as_good = one == best || (one->last && sharp(one) &&
                                       one->trial.awareness >=
                                           best->trial.awareness - best->trial.awareness_err);
        if (one->lost || !as_good)
            continue;
        if (!chosen || get(&one->trial, "d") < get(&chosen->trial, "d"))
            chosen = one;
    }
    return chosen;
}

rh_status rh_repr__choose(rh_repr **out, rh_repr_trial *trial, int *ntrial, const rh_log *log,
                          const rh_repr_options *opt, rh_repr__choose_effort effort,
                          int nthread, rh_error *err)
{
    rh_repr_options usual = rh_repr_defaults();
    opt = opt ? opt : &usual;
    rh_status rc = rh_repr__check(log, opt, err);
    if (rc)
        return rc;
    if (nthread < 1)
        return rh_fail(err, RH_EINVAL, "representation: threads = %d, expected 1 or more",
                       nthread);
    choice *c = rh_alloc(1, sizeof *c);
    if (!c)
        return rh_fail(err, RH_ENOMEM, "representation: out of memory for a choice");
    c->opt = opt;
    c->effort = effort;
    c->nthread = nthread;
    add_all(c);
    rc = deal(c, log, err);
    if (!rc)
        rc = compare(c, err);
    if (rc)
        goto done;

    candidate *chosen = choose(c);
    if (!chosen) {
        rc = rh_fail(err, RH_EINVAL, "%s", c->lost.text);
        goto done;
    }
    chosen->trial.chosen = true;
    rh_repr_options last = *opt;
    last.param = chosen->trial.param;
    rc = rh_repr_fit(out, chosen->trial.type, log, &last, err);
    if (rc || !trial)
        goto done;
    for (int i = 0; i < c->ncandidate; i++)
        trial[i] = c->candidate[i].trial;
    *ntrial = c->ncandidate;

done:
    rh_free(c->use[0]);
    rh_folds__clear(&c->folds);
    rh_free(c);
    return rc;
}

rh_status rh_repr__choose_kind(rh_repr **out, rh_repr_trial *trial, int *ntrial,
                               const rh_log *log, const rh_repr_options *opt, int nthread,
                               rh_error *err)
{
    static const rh_repr__choose_effort effort = {.first = 3000, .last = 8000, .hidden = 128};
    return rh_repr__choose(out, trial, ntrial, log, opt, effort, nthread, err);
}
