// neural.c - what agents with networks and a replay memory share: steps, memory, scales, the
// rhythm of updates, saving.
//
// 1. A step is stored, then the networks are updated, then they choose the next action. The end
//    of an episode has no random stream: its updates are made by the next start.
// 2. An agent has no random stream before its first start, so the first start draws the
//    weights. An agent that acts before it ever started chooses uniformly.
// 3. gamma is the smaller of the task's discount and 1 - 1 / horizon. Many tasks are not
//    discounted at all, and values of networks need a horizon to converge.
// 4. The memory holds no more than the steps of a run, and no more than MEMORY_BYTES. A longer
//    run forgets the oldest steps. A row has whole stacks (history.h): sampling is one copy.
// 5. An agent that begins with the log (rh_task.prior) puts it into a memory of its own, makes
//    `before` updates from it at the first start, and takes a share of every later batch from
//    it (Ball et al. 2023). It does not warm up: its policy is no worse than the log's, more or
//    less. What it learns from the log alone overrates actions that the log did not take, so
//    the loss of rows from the log has a term that keeps the policy near the logged action
//    (Kumar et al. 2020; Fujimoto and Gu 2021), with a weight, caution, that fades linearly.
//    The share is a constant and start=log is not searched: docs/evidence/search.md.
// 6. float32 for networks, memory and batches, as everywhere in this library: half the memory
//    traffic and twice the numbers of a vector. Their sums have the same order, and so the same
//    bits, with AVX2 and AVX-512. Running means and the returns of several steps are doubles.

#include "neural.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEMORY_BYTES 6.4e7 // decision 4; by hand: 64 MB

const char *const rh_neural__norms[] = {"off", "on"};
const char *const rh_neural__starts[] = {"none", "log", "cloned", "model"};

// ---------------------------------------------------------------------------- making

float *rh_neural__floats(rh_neural *s, size_t n)
{
    return rh_scratch__take(&s->scratch, n, sizeof(float));
}

rh_status rh_neural__no_memory(const rh_neural *s, rh_error *err)
{
    return rh_base__no_memory(err, s->kind->name);
}

// The action of the task in the agent's own units: an index, or numbers in [-1, 1].
static void own_action(const rh_neural *s, const double *act, float *own)
{
    for (int k = 0; k < s->nact; k++) {
        double at = 2.0 * (act[k] - s->lo[k]) / (s->hi[k] - s->lo[k]) - 1.0;
        own[k] = (float)(s->naction ? act[k] : fmin(fmax(at, -1.0), 1.0));
    }
}

// A new observation: learn its scale and put it on s->then. first: of an episode.
static void observe(rh_neural *s, const double *obs, bool first)
{
    rh_scaling__ranged(&s->scaling, obs, s->obs);
    rh_scaling__see(&s->scaling, s->obs);
    if (first)
        rh_history__start(&s->history, s->obs, s->then);
    else
        rh_history__step(&s->history, s->act, s->obs, s->then);
}

static void advance(rh_neural *s)
{
    memcpy(s->now, s->then, (size_t)s->nobs * sizeof *s->now);
}

// Put the logged steps into their memory, and learn the scales.
static void remember(rh_neural *s, const rh_task *task)
{
    size_t nobs = (size_t)task->nobs, nact = (size_t)task->nact;
    size_t width = (size_t)rh_contract__prior_width(task->nobs, task->nact);
    bool begins = true;
    for (int64_t i = 0; s->logged.room && i < s->prior.n; i++) {
        const double *row = s->prior.row + (size_t)i * width, *next = row + nobs + nact + 1;
        double reward = row[nobs + nact], end = row[width - 1];
        if (begins) {
            rh_memory__start(&s->logged);
            rh_scaling__start(&s->scaling);
            observe(s, row, true);
        }
        advance(s);
        rh_scaling__reward(&s->scaling, reward);
        own_action(s, row + nobs, s->act);
        if (end == 1.0) { // terminal
            rh_memory__last(&s->logged, s->now, s->act, reward, NULL);
        } else {
            observe(s, next, false);
            if (end == 0.0)
                rh_memory__step(&s->logged, s->now, s->act, reward, s->then);
            else
                rh_memory__last(&s->logged, s->now, s->act, reward, s->then);
        }
        begins = end != 0.0;
    }
}

// Rows of a memory for at most n steps.
static int64_t room_for(const rh_memory *memory, double n)
{
    double width = 2.0 * memory->nobs + memory->nact + 2.0;
    return (int64_t)fmax(1.0, fmin(n, MEMORY_BYTES / (width * (double)sizeof(float))));
}

// The rows that an agent with this start begins with. Without practice: those of the log.
static rh_prior rows_of(const rh_task *task, double start)
{
    rh_prior prior = task->prior;
    size_t width = (size_t)rh_contract__prior_width(task->nobs, task->nact);
    if (start == 0.0)
        return (rh_prior){0};
    if (start == RH_START_MODEL && prior.npractice)
        return (rh_prior){prior.npractice, prior.row + (size_t)prior.n * width, 0};
    return prior;
}

rh_status rh_neural__init(rh_neural *s, const rh_neural__kind *kind, const rh_task *task,
                          const double *hp, rh_error *err)
{
    *s = (rh_neural){
        .kind = kind,
        .nact = task->nact,
        .naction = task->naction,
        .history = {task->nobs, task->nact, task->naction, (int)hp[RH_NEURAL_HISTORY]},
        .begins = true,
        .gamma = fmin(task->gamma, 1.0 - 1.0 / hp[RH_NEURAL_HORIZON]),
        .target_rate = hp[RH_NEURAL_TARGET_RATE],
        .updates = (int)hp[RH_NEURAL_UPDATES],
        .warmup = (int)hp[RH_NEURAL_WARMUP],
        .before = (int)hp[RH_NEURAL_BEFORE],
        .log_share = hp[RH_NEURAL_LOG_SHARE],
        .caution = hp[RH_NEURAL_CAUTION],
        .fade = hp[RH_NEURAL_FADE] * (double)task->nstep,
        .adam = {.rate = hp[RH_NEURAL_RATE], .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}};
    s->nobs = rh_history__width(&s->history);
    for (int k = 0; k < task->nact; k++) {
        s->lo[k] = task->act_lo[k];
        s->hi[k] = task->act_hi[k];
    }
    rh_status rc = rh_scaling__init(
        &s->scaling, task, s->gamma, kind->size, (rh_scaling__kind)hp[RH_NEURAL_OBS_SCALE],
        (rh_scaling__kind)hp[RH_NEURAL_REWARD_SCALE], kind->name, err);
    if (rc)
        return rc;
    s->scaling.nlag = s->history.n;
    s->scaling.width = s->nobs;
    s->memory.nobs = s->nobs;
    s->memory.nact = task->nact;
    s->memory.naction = task->naction;
    s->memory.n = (int)hp[RH_NEURAL_N_STEP];
    s->memory.gamma = s->gamma;
    s->memory.room = room_for(&s->memory, fmin(hp[RH_NEURAL_MEMORY], (double)task->nstep));
    rc = rh_memory__init(&s->memory, kind->name, err);
    if (rc)
        return rc;
    s->prior = rows_of(task, hp[RH_NEURAL_START]);
    if (s->prior.n) {
        s->logged = (rh_memory){
            .nobs = s->nobs, .nact = task->nact, .n = s->memory.n, .gamma = s->gamma};
        s->logged.room = room_for(&s->logged, (double)s->prior.n);
        rc = rh_memory__init(&s->logged, kind->name, err);
        if (rc)
            return rc;
        s->cloned = hp[RH_NEURAL_START] >= RH_START_CLONED;
    }

    size_t n = (size_t)hp[RH_NEURAL_BATCH], nobs = (size_t)s->nobs;
    s->batch.n = (int)n;
    s->batch.obs = rh_neural__floats(s, n * nobs);
    s->batch.next = rh_neural__floats(s, n * nobs);
    s->batch.act = rh_neural__floats(s, n * (size_t)task->nact);
    s->batch.reward = rh_neural__floats(s, n);
    s->batch.discount = rh_neural__floats(s, n);
    s->obs = rh_neural__floats(s, (size_t)task->nobs);
    s->now = rh_neural__floats(s, nobs);
    s->then = rh_neural__floats(s, nobs);
    s->x = rh_neural__floats(s, nobs);
    if (s->scratch.failed)
        return rh_neural__no_memory(s, err);
    remember(s, task);
    return RH_OK;
}

rh_status rh_neural__net(rh_neural *s, int i, int nin, int nout, unsigned flags,
                         const double *hp, rh_error *err)
{
    int size[RH_MLP_LAYERS + 1] = {nin}, layers = (int)hp[RH_NEURAL_LAYERS];
    for (int l = 0; l < layers; l++)
        size[l + 1] = (int)hp[RH_NEURAL_WIDTH];
    size[layers + 1] = nout;
    rh_status rc = rh_mlp__make(&s->net[i], size, layers + 2, flags, err);
    return rc ? rc : rh_mlp__pass_create(&s->pass[i], s->net[i], s->batch.n, err);
}

void rh_neural__clear(void *self)
{
    rh_neural *s = self;
    rh_memory__clear(&s->memory);
    rh_memory__clear(&s->logged);
    rh_scaling__clear(&s->scaling);
    for (int i = 0; i < RH_NEURAL__NETS; i++) {
        rh_mlp__destroy(s->net[i]);
        rh_mlp__pass_destroy(s->pass[i]);
    }
    rh_scratch__clear(&s->scratch);
}

// ---------------------------------------------------------------------------- acting

// Choose for s->x and put the action into the task's units.
static bool choose(rh_neural *s, rh_rng *rng, bool explore, float *own, double *act)
{
    bool healthy = s->kind->choose(s, rng, explore, own);
    for (int k = 0; k < s->nact; k++) {
        double share = 0.5 * (1.0 + (double)own[k]);
        double at = s->lo[k] + share * (s->hi[k] - s->lo[k]);
        act[k] = s->naction ? (double)own[k] : fmin(fmax(at, s->lo[k]), s->hi[k]);
    }
    return healthy;
}

static void choose_any(const rh_neural *s, rh_rng *rng, double *act)
{
    if (s->naction)
        act[0] = rh_rng_below(rng, (uint32_t)s->naction);
    else
        for (int k = 0; k < s->nact; k++)
            act[k] = rh_rng_range(rng, s->lo[k], s->hi[k]);
}

// One update; nlogged rows of its batch are from the log.
static void update(rh_neural *s, rh_rng *rng, int nlogged, double care)
{
    s->nlogged = nlogged;
    s->care = care;
    if (nlogged)
        rh_memory__draw(&s->logged, rng, &s->batch, 0, nlogged);
    if (nlogged < s->batch.n)
        rh_memory__draw(&s->memory, rng, &s->batch, nlogged, s->batch.n);
    rh_scaling__batch(&s->scaling, &s->batch);
    s->kind->learn(s, rng);
    s->nupdate++;
}

float rh_neural__size(const float *x, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += fabsf(x[i]);
    return fmaxf(sum / (float)n, 1e-3f);
}

double rh_neural__tanh(double x)
{
    double e = rh_exp(-2.0 * fabs(x));
    return copysign((1.0 - e) / (1.0 + e), x);
}

// Make the updates that are due, then choose for the new observation, s->then.
static bool learn_and_choose(rh_neural *s, rh_rng *rng, double *act)
{
    int nlogged = 0;
    double care = 0.0;
    if (s->logged.count) {
        nlogged = s->memory.count ? (int)lround(s->log_share * s->batch.n) : s->batch.n;
        care = s->caution * fmax(0.0, 1.0 - (double)s->nstep / s->fade);
    }
    for (; s->owed; s->owed--)
        update(s, rng, nlogged, care);
    advance(s);
    rh_scaling__apply(&s->scaling, 1, s->now, s->x);
    return choose(s, rng, true, s->act, act);
}

bool rh_neural__start(void *self, const double *obs, rh_rng *rng, double *act)
{
    rh_neural *s = self;
    if (!s->drawn) {
        s->kind->draw(s, rng);
        s->evaluates = s->cloned;
        for (int i = 0; s->logged.count && i < s->before; i++)
            update(s, rng, s->batch.n, s->caution);
        s->evaluates = false;
    }
    s->drawn = true;
    rh_memory__start(&s->memory);
    rh_scaling__start(&s->scaling);
    s->begins = false;
    observe(s, obs, true);
    return learn_and_choose(s, rng, act);
}

// Count a step whose reward came, and the updates for it.
static void count(rh_neural *s, double reward)
{
    rh_scaling__reward(&s->scaling, reward);
    s->nstep++;
    if (s->logged.count || (s->nstep >= s->warmup && s->memory.count))
        s->owed += s->updates;
}

bool rh_neural__step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    rh_neural *s = self;
    observe(s, obs, false);
    rh_memory__step(&s->memory, s->now, s->act, reward, s->then);
    count(s, reward);
    return learn_and_choose(s, rng, act);
}

bool rh_neural__end(void *self, double reward)
{
    rh_neural *s = self;
    rh_memory__last(&s->memory, s->now, s->act, reward, NULL);
    count(s, reward);
    return isfinite(reward);
}

bool rh_neural__truncate(void *self, double reward, const double *obs)
{
    rh_neural *s = self;
    observe(s, obs, false);
    rh_memory__last(&s->memory, s->now, s->act, reward, s->then);
    count(s, reward);
    return isfinite(reward);
}

void rh_neural__begin(void *self)
{
    rh_neural *s = self;
    s->begins = true;
}

void rh_neural__took(void *self, const double *act)
{
    rh_neural *s = self;
    for (int k = 0; k < s->nact; k++) {
        double share = (act[k] - s->lo[k]) / (s->hi[k] - s->lo[k]);
        s->act[k] = (float)(s->naction ? act[k] : fmin(fmax(2.0 * share - 1.0, -1.0), 1.0));
    }
}

bool rh_neural__act(void *self, const double *obs, rh_rng *rng, double *act)
{
    rh_neural *s = self;
    if (!s->drawn) {
        choose_any(s, rng, act);
        return true;
    }
    rh_scaling__ranged(&s->scaling, obs, s->obs);
    if (s->begins)
        rh_history__start(&s->history, s->obs, s->then);
    else
        rh_history__step(&s->history, s->act, s->obs, s->then);
    s->begins = false;
    rh_scaling__apply(&s->scaling, 1, s->then, s->x);
    return choose(s, rng, false, s->act, act);
}

// ---------------------------------------------------------------------------- saving

enum { DRAWN, NSTEP, OWED, NUPDATE, NCOUNT };

rh_status rh_neural__save(void *self, rh_state *state, rh_error *err)
{
    rh_neural *s = self;
    double number[NCOUNT] = {[DRAWN] = s->drawn,
                             [NSTEP] = (double)s->nstep,
                             [OWED] = s->owed,
                             [NUPDATE] = (double)s->nupdate};
    rh_status rc = rh_state_put(state, "counts", number, NCOUNT, err);
    if (!rc && s->kind->nnumber)
        rc = rh_state_put(state, "numbers", s->number, (size_t)s->kind->nnumber, err);
    if (!rc)
        rc = rh_scaling__save(&s->scaling, state, err);
    if (!rc)
        rc = rh_memory__save(&s->memory, state, err);
    for (int i = 0; !rc && i < RH_NEURAL__NETS; i++) {
        char name[32];
        snprintf(name, sizeof name, "network %d", i);
        if (s->net[i])
            rc = rh_mlp__save(s->net[i], name, state, err);
    }
    return rc;
}

static rh_status load_net(rh_neural *s, int i, const rh_state *state, rh_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "network %d", i);
    return rh_mlp__load_into(s->net[i], s->kind->name, name, state, err);
}

rh_status rh_neural__load(void *self, const rh_state *state, rh_error *err)
{
    rh_neural *s = self;
    double number[NCOUNT];
    rh_status rc = rh_state_get(state, "counts", number, NCOUNT, err);
    if (!rc && !(rh_base__all_finite(number, NCOUNT) && number[OWED] >= 0.0 &&
                 number[OWED] <= 64.0 && number[NSTEP] >= 0.0 && number[NSTEP] < 1e15 &&
                 number[NUPDATE] >= 0.0 && number[NUPDATE] < 1e17))
        rc = rh_fail(err, RH_EFORMAT, "%s: the counts of the saved state are not in range",
                     s->kind->name);
    if (!rc && s->kind->nnumber)
        rc = rh_state_get(state, "numbers", s->number, (size_t)s->kind->nnumber, err);
    if (!rc)
        rc = rh_scaling__load(&s->scaling, state, err);
    if (!rc)
        rc = rh_memory__load(&s->memory, state, err);
    for (int i = 0; !rc && i < RH_NEURAL__NETS; i++)
        if (s->net[i])
            rc = load_net(s, i, state, err);
    if (rc)
        return rc;
    s->drawn = number[DRAWN] != 0.0;
    s->nstep = (int64_t)number[NSTEP];
    s->owed = s->memory.count || s->logged.count ? (int)number[OWED] : 0;
    s->nupdate = (int64_t)number[NUPDATE];
    return RH_OK;
}
