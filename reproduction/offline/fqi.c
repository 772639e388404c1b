// fqi.c - regularised fitted Q iteration on the transitions of a log.
//
// After the paper's algorithm 3 and its code. With w' the weights of the last sync:
//
//     y = r + gamma max_a q(s', a; w'),   y = r at a terminal step
//     g = sum over the batch of (q(s, a; w) - y) grad q(s, a; w)
//     w = w - rate (Adam's step along g + decay w)
//
// 1. The sum over the batch is not divided by its size. Adam's steps hardly depend on it.
// 2. w' = w before the first update and after every nsync of them. In between, the target of a
//    transition does not change: all targets are computed once per sync. With 5,000
//    transitions and 512 updates of 128 that is a thirteenth of computing them in every update.
// 3. Batches are drawn with replacement.
// 4. The TD error of a log is measured with w' for s' and w for s, as in the paper's code.
// 5. patience: the paper's code stops the training of networks after three rises in succession.
//    Every check is before a sync, when the values have settled on their targets.
// 6. With a policy to follow this is fitted Q evaluation (Le, Voloshin and Yue 2019): y = r +
//    gamma q(s', the policy's greedy action in s'; w').
//
// Measured on one core of an AMD EPYC (bench/bench_offline.c), a log of 5,000 steps of Acrobot,
// 50,000 updates of 128 transitions with 336 active features: 1.6 s with AVX-512 (32 us an
// update), 2.7 s with AVX2, 4.6 s with SSE2. A network of 64, 64: 44 us an update, 50 us, 133
// us.

#include "base/text.h"
#include "offline_internal.h"

#include <math.h>

#define COOKIE 0x66716901u
#define REPLICATE 0x66716900u  // of RH_STREAM_FIT
#define ROOM 128               // rows read at a time, at least
#define MOST ((size_t)4 << 30) // bytes of the codes of all states

enum { STREAM_WEIGHTS, STREAM_BATCHES };

// A log as the learner sees it.
typedef struct view {
    rh_offline__steps steps;
    void *code;    // owned: codes of the log's states  (nstate x code_size)
    float *y;      // owned: target values              (n)
    int32_t *next; // owned: actions in s' that are followed, NULL: the best (n)
} view;

// ---------------------------------------------------------------------------- options

rh_fqi_options rh_fqi_defaults(rh_fqi_kind kind)
{
    bool network = kind == RH_FQI_NETWORK;
    return (rh_fqi_options){
        .kind = kind,
        .rate = 1e-3,
        .decay = 1e-3,
        .nupdate = network ? 10000 : 50000,
        .nbatch = 128,
        .nsync = 512,
        .ntiling = 16,
        .ntile = 2,
        .nlayer = 2,
        .width = 64,
        .patience = network ? 3 : 0,
        .seed = 1,
        .cookie = COOKIE,
    };
}

static const double grid_rate[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5}; // the paper's grid
static const double grid_decay[] = {1e-1, 1e-3, 1e-5};            // likewise
static const int grid_width[] = {64, 128};
enum { NRATE = 5, NDECAY = 3, NWIDTH = 2 };

int rh_fqi_ngrid(rh_fqi_kind kind)
{
    return NRATE * NDECAY * (kind == RH_FQI_NETWORK ? NWIDTH : 1);
}

void rh_fqi_grid(rh_fqi_kind kind, int i, rh_fqi_options *opt)
{
    opt->kind = kind;
    opt->rate = grid_rate[i / NDECAY % NRATE];
    opt->decay = grid_decay[i % NDECAY];
    if (kind == RH_FQI_NETWORK)
        opt->width = grid_width[i / NDECAY / NRATE % NWIDTH];
}

static rh_status check_range(const char *name, double value, double lo, double hi,
                             rh_error *err)
{
    if (value >= lo && value <= hi)
        return RH_OK;
    return rh_fail(err, RH_EINVAL, "fqi: %s = %g, expected %g to %g", name, value, lo, hi);
}

static rh_status check_options(const rh_fqi_options *opt, const rh_task *task, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "fqi: options must start from rh_fqi_defaults()");
    if (task->naction < 1)
        return rh_fail(err, RH_EINVAL,
                       "fqi: a task of continuous actions, expected discrete ones");
    const struct {
        const char *name;
        double value, lo, hi;
    } range[] = {
        {"kind", opt->kind, RH_FQI_TILES, RH_FQI_NETWORK},
        {"rate", opt->rate, 1e-12, 10.0},
        {"decay", opt->decay, 0.0, 10.0},
        {"updates", (double)opt->nupdate, 1.0, 1e12},
        {"batch", opt->nbatch, 1.0, 65536.0},
        {"sync", opt->nsync, 1.0, 1e9},
        {"tilings", opt->ntiling, 1.0, 64.0},
        {"tiles", opt->ntile, 1.0, 256.0},
        {"layers", opt->nlayer, 1.0, 8.0},
        {"width", opt->width, 1.0, 4096.0},
        {"patience", opt->patience, 0.0, 1e9},
    };
    rh_status rc = RH_OK;
    for (size_t i = 0; !rc && i < sizeof range / sizeof *range; i++)
        rc = check_range(range[i].name, range[i].value, range[i].lo, range[i].hi, err);
    return rc;
}

// ---------------------------------------------------------------------------- a log, seen

static void clear_view(view *v)
{
    rh_offline__clear_steps(&v->steps);
    rh_free(v->code);
    rh_free(v->y);
    rh_free(v->next);
}

// The greedy actions of a policy in the states that steps lead to.
static rh_status follow(view *v, const rh_fqi *policy, const rh_log *log, rh_error *err)
{
    const rh_offline__steps *s = &v->steps;
    double *q = rh_alloc((size_t)policy->naction, sizeof *q);
    v->next = rh_alloc((size_t)s->n, sizeof *v->next);
    rh_status rc = q && v->next ? RH_OK : rh_base__no_memory(err, "fqi");
    for (int32_t i = 0; i < s->n && !rc; i++) {
        v->next[i] = 0;
        if (s->to[i] == RH_UNKNOWN)
            continue;
        rc = rh_fqi_values(policy, log->obs + (int64_t)s->to[i] * log->nobs, q, err);
        for (int a = 1; a < policy->naction; a++)
            v->next[i] = q[a] > q[v->next[i]] ? a : v->next[i];
    }
    rh_free(q);
    return rc;
}

// Code all states that a usable transition refers to; others keep a code of zeros.
static rh_status look_at(view *v, const rh_fqi *fqi, const rh_log *log, rh_error *err)
{
    rh_status rc = rh_offline__take_steps(&v->steps, log, fqi->nobs, fqi->naction, "fqi", err);
    if (rc)
        return rc;
    size_t size = fqi->form->code_size(fqi);
    if ((size_t)log->nstate > MOST / size)
        return rh_fail(err, RH_EINVAL,
                       "fqi: the features of %lld states take %.3g GB, expected at most %zu; "
                       "use fewer tiles",
                       (long long)log->nstate, (double)log->nstate * (double)size / 1e9,
                       MOST >> 30);
    v->code = rh_alloc((size_t)log->nstate, size);
    v->y = rh_alloc((size_t)v->steps.n, sizeof *v->y);
    void *scratch = rh_alloc(1, fqi->form->nscratch(fqi));
    if (!v->code || !v->y || !scratch)
        rc = rh_base__no_memory(err, "fqi");
    for (int64_t i = 0; !rc && i < log->nstate; i++)
        if (rh_base__all_finite(log->obs + i * log->nobs, log->nobs))
            fqi->form->code(fqi, log->obs + i * log->nobs, scratch,
                            (char *)v->code + (size_t)i * size);
    rh_free(scratch);
    return rc;
}

static void clear_memory(rh_fqi__memory *memory)
{
    void *const owned[] = {memory->row, memory->q, memory->d, memory->in,
                           memory->m,   memory->v, memory->g};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free(owned[i]);
    rh_mlp__pass_destroy(memory->pass);
}

static rh_status make_memory(rh_fqi__memory *memory, const rh_fqi *fqi, bool training,
                             rh_error *err)
{
    memory->room = training && fqi->opt.nbatch > ROOM ? fqi->opt.nbatch : ROOM;
    size_t n = (size_t)memory->room * (size_t)fqi->naction;
    memory->q = rh_alloc(n, sizeof *memory->q);
    memory->d = rh_alloc(n, sizeof *memory->d);
    if (!memory->q || !memory->d)
        return rh_base__no_memory(err, "fqi");
    return fqi->form->prepare(fqi, memory, training, err);
}

// The target values of all transitions.
static void aim(view *v, const rh_fqi *fqi, rh_fqi__memory *memory)
{
    const rh_offline__steps *s = &v->steps;
    int32_t row[ROOM];
    for (int32_t first = 0; first < s->n; first += ROOM) {
        int n = s->n - first < ROOM ? s->n - first : ROOM;
        for (int i = 0; i < n; i++) // any row does where s' is terminal
            row[i] = s->to[first + i] == RH_UNKNOWN ? s->from[first + i] : s->to[first + i];
        fqi->form->read(fqi, memory, true, v->code, n, row, memory->q);
        for (int i = 0; i < n; i++) {
            float best = memory->q[v->next ? v->next[first + i] * n + i : i];
            for (int a = 1; a < fqi->naction && !v->next; a++)
                best = fmaxf(best, memory->q[a * n + i]);
            double next = s->to[first + i] == RH_UNKNOWN ? 0.0 : fqi->gamma * (double)best;
            v->y[first + i] = (float)(s->reward[first + i] + next);
        }
    }
}

// The mean squared TD error, after aim().
static double td_error(const view *v, const rh_fqi *fqi, rh_fqi__memory *memory)
{
    const rh_offline__steps *s = &v->steps;
    double sum = 0.0;
    for (int32_t first = 0; first < s->n; first += ROOM) {
        int n = s->n - first < ROOM ? s->n - first : ROOM;
        fqi->form->read(fqi, memory, false, v->code, n, s->from + first, memory->q);
        for (int i = 0; i < n; i++) {
            double off = (double)v->y[first + i] - (double)memory->q[s->act[first + i] * n + i];
            sum += off * off;
        }
    }
    return sum / s->n;
}

// ---------------------------------------------------------------------------- learning

// What decides when training ends.
typedef struct early {
    view *view; // whose TD error is measured
    int nrise;  // rises in succession
    double error;
} early;

static bool has_risen(early *s, const rh_fqi *fqi, rh_fqi__memory *memory)
{
    if (!fqi->opt.patience)
        return false;
    aim(s->view, fqi, memory);
    double before = s->error;
    s->error = td_error(s->view, fqi, memory);
    s->nrise = s->error > before ? s->nrise + 1 : 0;
    return s->nrise >= fqi->opt.patience;
}

static void update(rh_fqi *fqi, rh_fqi__memory *memory, const view *v, rh_rng *rng,
                   int32_t *row, int32_t *act, float *y)
{
    const rh_offline__steps *s = &v->steps;
    for (int i = 0; i < fqi->opt.nbatch; i++) {
        uint32_t k = rh_rng_below(rng, (uint32_t)s->n);
        row[i] = s->from[k];
        act[i] = s->act[k];
        y[i] = v->y[k];
    }
    fqi->form->update(fqi, memory, v->code, fqi->opt.nbatch, row, act, y);
}

static rh_status train(rh_fqi *fqi, view *v, view *valid, const rh_watch *watch, rh_error *err)
{
    const rh_fqi_options *opt = &fqi->opt;
    size_t nbatch = (size_t)opt->nbatch;
    rh_fqi__memory memory = {0};
    early early_stop = {.view = valid, .error = INFINITY};
    rh_rng rng = rh_rng_stream(opt->seed, RH_STREAM_FIT, REPLICATE, STREAM_BATCHES);
    int32_t *row = rh_alloc(nbatch, sizeof *row), *act = rh_alloc(nbatch, sizeof *act);
    float *y = rh_alloc(nbatch, sizeof *y);
    rh_status rc = make_memory(&memory, fqi, true, err);
    if (rc)
        goto done;
    if (!row || !act || !y) {
        rc = rh_base__no_memory(err, "fqi");
        goto done;
    }

    for (; fqi->nupdate < opt->nupdate; fqi->nupdate++) {
        if (fqi->nupdate % opt->nsync == 0) {
            if (fqi->nupdate > 0 && has_risen(&early_stop, fqi, &memory))
                break;
            if (watch->stop && watch->stop(watch->context)) {
                rc = rh_fail(err, RH_ESTOPPED, "fqi: stopped while learning");
                goto done;
            }
            if (watch->progress)
                watch->progress(watch->context, "fitted Q iteration",
                                (double)fqi->nupdate / (double)opt->nupdate);
            fqi->form->sync(fqi);
            aim(v, fqi, &memory);
        }
        update(fqi, &memory, v, &rng, row, act, y);
    }

done:
    clear_memory(&memory);
    rh_free(row);
    rh_free(act);
    rh_free(y);
    return rc;
}

static rh_status create(rh_fqi **out, const rh_task *task, const rh_fqi_options *opt,
                        rh_error *err)
{
    rh_fqi *fqi = rh_alloc(1, sizeof *fqi);
    if (!fqi)
        return rh_base__no_memory(err, "fqi");
    fqi->form = opt->kind == RH_FQI_TILES ? &rh_fqi__tiles : &rh_fqi__network;
    fqi->opt = *opt;
    fqi->opt.valid = NULL;
    fqi->opt.follow = NULL;
    fqi->opt.watch = (rh_watch){0};
    fqi->nobs = task->nobs;
    fqi->naction = task->naction;
    fqi->gamma = task->gamma;
    rh_fqi__make_agent(fqi);
    rh_rng rng = rh_rng_stream(opt->seed, RH_STREAM_FIT, REPLICATE, STREAM_WEIGHTS);
    rh_status rc = fqi->form->init(fqi, task, &rng, err);
    if (rc)
        rh_fqi_destroy(fqi);
    else
        *out = fqi;
    return rc;
}

void rh_fqi_destroy(rh_fqi *fqi)
{
    if (!fqi)
        return;
    fqi->form->clear(fqi);
    rh_free(fqi);
}

rh_status rh_fqi_learn(rh_fqi **out, const rh_log *log, const rh_task *task,
                       const rh_fqi_options *opt, rh_error *err)
{
    rh_fqi_options initial = rh_fqi_defaults(RH_FQI_TILES);
    opt = opt ? opt : &initial;
    rh_fqi *fqi = NULL;
    view v = {.code = NULL}, valid = {.code = NULL};
    rh_status rc = check_options(opt, task, err);
    if (rc)
        goto done;
    rc = create(&fqi, task, opt, err);
    if (rc)
        goto done;
    rc = look_at(&v, fqi, log, err);
    if (rc)
        goto done;
    bool other = opt->valid && opt->patience;
    if (other)
        rc = look_at(&valid, fqi, opt->valid, err);
    if (!rc && opt->follow)
        rc = follow(&v, opt->follow, log, err);
    if (!rc && opt->follow && other)
        rc = follow(&valid, opt->follow, opt->valid, err);
    if (rc)
        goto done;
    rc = train(fqi, &v, other ? &valid : &v, &opt->watch, err);
    if (rc)
        goto done;
    *out = fqi;
    fqi = NULL;

done:
    clear_view(&v);
    clear_view(&valid);
    rh_fqi_destroy(fqi);
    return rc;
}

// ---------------------------------------------------------------------------- use

int64_t rh_fqi_nupdate(const rh_fqi *fqi)
{
    return fqi->nupdate;
}

rh_status rh_fqi_error(const rh_fqi *fqi, const rh_log *log, double *error, rh_error *err)
{
    view v = {.code = NULL};
    rh_fqi__memory memory = {0};
    rh_status rc = look_at(&v, fqi, log, err);
    if (!rc)
        rc = make_memory(&memory, fqi, false, err);
    if (!rc) {
        aim(&v, fqi, &memory);
        *error = td_error(&v, fqi, &memory);
    }
    clear_memory(&memory);
    clear_view(&v);
    return rc;
}

rh_status rh_fqi_values(const rh_fqi *fqi, const double *obs, double *q, rh_error *err)
{
    void *scratch = rh_alloc(1, fqi->form->nscratch(fqi));
    if (!scratch)
        return rh_base__no_memory(err, "fqi");
    fqi->form->values(fqi, obs, scratch, q);
    rh_free(scratch);
    return RH_OK;
}
