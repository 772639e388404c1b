// fidelity_simulate.c - simulates the log's behaviour and random actions in the model.
//
// The imitation takes in every state the action of one of the NIMITATED nearest logged states,
// which include the state itself if it was logged. Its returns in the model are compared with
// those of the log. Uniform random actions show whether the model can be exploited: if distant
// neighbours act as shortcuts, random actions are soon as good as the logged ones.
//
// 1. In the simulators the imitation earns what was logged: with raw observations, medians of
//    -54 for -62 logged in Acrobot, -22 for -22 in Puddle World, -139 for -137.5 in Mountain
//    Car, and 45 failures for 46 in Cartpole (logs of good policies, 5,000 steps; in Cartpole
//    10,000). With the nearest state alone it is no better (-59, -22, -139.5, 38). In a log of
//    more than 200,000 steps, evenly spaced states are imitated.
// 2. Simulated episodes start where the log's do, even if the model has other starts.
//    fidelity_logged.c tells which logged episodes are used, and the time limit.
// 3. A continuing task is simulated in NUNIT runs of NSTRETCH stretches.
// 4. Both behaviours have the same starts and the same noise.
// 5. If the observations are the log's (fixed observations), a step to the row that transition
//    i leads to used transition i. It is a stitch if i does not begin in the row before, and
//    its jump is the distance between the two codes. Steps out of coverage use no transition
//    and are not counted.

#include "base/base.h"
#include "base/scratch.h"
#include "fidelity_internal.h"
#include "neighbours.h"
#include "numeric/stats.h"

#include <math.h>

#define NIMITATED 3        // nearest logged states, one of which is imitated
#define LEAST_SIMULATED 50 // episodes, unless the budget is spent,
#define SPENT_SIMULATED 10 //   then at least these
#define STEPS_TABLE 100000 // of one behaviour, if a step is a table lookup
#define STEPS_OTHERS 50000 // if it is a search or a network
#define NSTRETCH 30        // stretches of a continuing log
#define NUNIT 3            // runs of so many stretches
#define MOST_JUMPS 200000  // kept: twice the steps
#define MOST_FROM 200000   // logged states to imitate
#define STOP_EVERY 8192    // steps between two calls of the watch
#define UNASKED (-2)       // in `near`
#define NOBODY (-1)        // in `into` and `out`

typedef enum behaviour { IMITATION, RANDOM } behaviour;

typedef rh_fidelity__series series;

// The model and its states.
typedef struct stage {
    rh_fidelity__work *w;
    rh_model model; // the fitted one with other starts, all borrowed
    rh_env *env;    // owned
    rh_scratch scratch;
    void *state;         // of a run
    bool entries;        // its states are rows of the log
    rh_neighbours *from; // owned: the states of every stride-th transition
    int64_t nfrom;       // how many
    int64_t stride;      //
    int32_t *near;       // of a fixed observation the nearest of these    (nstate x NIMITATED)
    int32_t *into, *out; // a transition to and from a row     (nstate)

    rh_fidelity__logged logged;  // of the log
    int64_t cutoff;              // steps of an episode or a stretch
    int64_t budget;              // steps of one behaviour
    series returns, random;      // of the imitation and of random actions
    series lengths;              // of the imitation's episodes
    double *jump;                // (MOST_JUMPS)
    int64_t njump, nmade, nstep; // stitches, steps that used a transition, all steps
    int64_t ncut;                // truncated episodes
} stage;

typedef struct running {
    behaviour how;
    rh_streams streams;
    rh_rng rng;
    double obs[RH_MAX_OBS], act[RH_MAX_ACT];
    double reward; // of the episode or stretch
    int64_t length;
} running;

// ---------------------------------------------------------------------------- behaviour

// The action of one of the nearest logged states.
static void imitate(stage *g, running *l)
{
    const rh_fidelity__work *w = g->w;
    int32_t found[NIMITATED], *near = found;
    float distance2[NIMITATED], code[RH_MAX_CODE];
    int n = g->nfrom < NIMITATED ? (int)g->nfrom : NIMITATED;
    if (g->entries) {
        int32_t row = rh_contract__env_obs_index(g->env, g->state);
        near = g->near + (size_t)row * NIMITATED;
        if (near[0] == UNASKED)
            rh_neighbours__find(g->from, rh_fidelity__code(w, row), n, -1, near, distance2);
    } else {
        rh_fidelity__encode(w, l->obs, code);
        rh_neighbours__find(g->from, code, n, -1, near, distance2);
    }
    // a state with a NaN has no neighbours
    int64_t i = near[rh_rng_below(&l->rng, (uint32_t)n)];
    int64_t t = i >= 0 && i < g->nfrom ? i * g->stride : 0;
    memcpy(l->act, w->log->act + t * w->log->nact, (size_t)w->log->nact * sizeof *l->act);
}

static void act_randomly(const stage *g, running *l)
{
    const rh_task *task = &g->w->model->task;
    if (task->naction)
        l->act[0] = rh_rng_below(&l->rng, (uint32_t)task->naction);
    for (int i = 0; !task->naction && i < task->nact; i++)
        l->act[i] = rh_rng_range(&l->rng, task->act_lo[i], task->act_hi[i]);
}

// The transition used by a step to row `now`, or NOBODY.
static int32_t made_on(const stage *g, int32_t now, bool terminal)
{
    const rh_log *log = g->w->log;
    int32_t i = g->into[now];
    if (!terminal || (i != NOBODY && (log->flag[i] & RH_FLAG_TERMINAL)))
        return i;
    // an end with unknown s' shows the state before
    i = g->out[now];
    bool unseen = i != NOBODY && (log->flag[i] & RH_FLAG_TERMINAL) && log->to[i] == RH_UNKNOWN;
    return unseen ? i : NOBODY;
}

// One step; true when it ended the episode.
static bool step(stage *g, running *l)
{
    double reward;
    int32_t before = g->entries ? rh_contract__env_obs_index(g->env, g->state) : NOBODY;
    if (l->how == IMITATION)
        imitate(g, l);
    else
        act_randomly(g, l);
    bool terminal = rh_env_step(g->env, g->state, l->act, &l->streams, l->obs, &reward);
    l->reward += reward;
    l->length++;
    g->nstep++;
    if (!g->entries)
        return terminal;

    int32_t i = made_on(g, rh_contract__env_obs_index(g->env, g->state), terminal);
    if (i == NOBODY)
        return terminal;
    const rh_fidelity__work *w = g->w;
    int32_t origin = w->log->from[i];
    g->nmade++;
    if (origin != before && g->njump < MOST_JUMPS)
        g->jump[g->njump++] = rh_fidelity__distance(w, rh_fidelity__code(w, before),
                                                    rh_fidelity__code(w, origin));
    return terminal;
}

static rh_status ask_stop(const stage *g, rh_error *err)
{
    if (g->nstep % STOP_EVERY != 0)
        return RH_OK;
    return rh_fidelity__pause(g->w, 0.9, err);
}

// Start a run with its own random streams.
static running start_run(const stage *g, behaviour how, int run)
{
    const rh_fidelity__work *w = g->w;
    uint64_t replicate = RH_FIDELITY__REPLICATE, number = (uint64_t)run;
    running l = {.how = how};
    l.streams.start = rh_rng_stream(w->seed, RH_STREAM_START, replicate, number);
    l.streams.noise = rh_rng_stream(w->seed, RH_STREAM_NOISE, replicate, number);
    l.rng = rh_rng_stream(w->seed, RH_STREAM_AGENT, replicate, number);
    rh_env_start(g->env, g->state, &l.streams, l.obs);
    return l;
}

// Simulate episodes that start where the log's do.
static rh_status run_episodes(stage *g, behaviour how, series *returns, series *lengths,
                              rh_error *err)
{
    int n = g->logged.returns.n < LEAST_SIMULATED ? LEAST_SIMULATED : g->logged.returns.n;
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < n; i++) {
        if (i >= SPENT_SIMULATED && g->nstep >= g->budget)
            break;
        running l = start_run(g, how, i);
        bool over = false;
        while (!rc && !over && l.length < g->cutoff) {
            over = step(g, &l);
            rc = ask_stop(g, err);
        }
        rh_fidelity__push(returns, l.reward);
        rh_fidelity__push(lengths, (double)l.length);
        g->ncut += !over;
    }
    return rc;
}

static rh_status run_stretches(stage *g, behaviour how, series *returns, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < NUNIT; i++) {
        running l = start_run(g, how, i);
        for (int k = 0; !rc && k < NSTRETCH; k++) {
            l.reward = 0.0;
            l.length = 0;
            while (!rc && l.length < g->cutoff) {
                if (step(g, &l))
                    rh_env_start(g->env, g->state, &l.streams, l.obs);
                rc = ask_stop(g, err);
            }
            rh_fidelity__push(returns, l.reward);
        }
    }
    return rc;
}

// ---------------------------------------------------------------------------- the comparison

static rh_fidelity_spread spread_of(const series *s, double *work)
{
    if (s->n == 0)
        return (rh_fidelity_spread){0, NAN, NAN, NAN, NAN};
    rh_summary sum = rh_summarise(s->x, s->n, work);
    return (rh_fidelity_spread){s->n, sum.q25, sum.median, sum.q75, sum.mean};
}

static double share_above(const series *s, double level)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->x[i] > level;
    return s->n ? (double)n / s->n : NAN;
}

// Share of the pairs in which a is above b, ties counting half; NAN without pairs.
static double pairs_above(const series *a, const series *b)
{
    double sum = 0.0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++)
            sum += a->x[i] > b->x[j] ? 1.0 : a->x[i] == b->x[j] ? 0.5 : 0.0;
    return sum / ((double)a->n * b->n);
}

static double pairs_error(const series *a, const series *b)
{
    double m = a->n, n = b->n;
    return sqrt((m + n + 1.0) / (12.0 * m * n));
}

// Statistics for the findings.
static void rank(stage *g)
{
    rh_fidelity__work *w = g->w;
    w->simulated_better = pairs_above(&g->returns, &g->logged.returns);
    w->simulated_longer = pairs_above(&g->lengths, &g->logged.lengths);
    w->simulated_error = pairs_error(&g->returns, &g->logged.returns);
    w->random_better = pairs_above(&g->random, &g->logged.returns);
    w->random_error = pairs_error(&g->random, &g->logged.returns);
    w->nrandom = g->random.n;
}

// Simulate one behaviour and record its stitches.
static rh_status simulate(stage *g, behaviour how, series *returns, series *lengths,
                          rh_error *err)
{
    g->njump = g->nmade = g->nstep = g->ncut = 0;
    return g->w->model->task.continuing ? run_stretches(g, how, returns, err)
                                        : run_episodes(g, how, returns, lengths, err);
}

static rh_status compare(stage *g, rh_error *err)
{
    rh_fidelity *f = g->w->f;
    bool continuing = g->w->model->task.continuing;
    double work[RH_FIDELITY__SIMULATED];
    series random_length = {.x = work};

    if (continuing)
        rh_fidelity__take_stretches(&g->logged, g->w, NSTRETCH, g->budget / NSTRETCH / NUNIT);
    else
        rh_fidelity__take_episodes(&g->logged, g->w, g->budget / SPENT_SIMULATED);
    g->cutoff = g->logged.cutoff;
    rh_status rc = simulate(g, IMITATION, &g->returns, &g->lengths, err);
    if (rc)
        return rc;
    f->cutoff = g->cutoff;
    f->stitched = g->nmade ? (double)g->njump / (double)g->nmade : NAN;
    f->jump = rh_fidelity__in_steps(g->w, rh_stats__quantile(g->jump, g->njump, 0.5));
    f->jump90 = rh_fidelity__in_steps(g->w, rh_stats__quantile(g->jump, g->njump, 0.9));
    if (!continuing)
        f->simulated_truncated = (double)g->ncut / g->returns.n;

    rc = simulate(g, RANDOM, &g->random, &random_length, err);
    if (rc)
        return rc;
    f->random_jump = rh_fidelity__in_steps(g->w, rh_stats__quantile(g->jump, g->njump, 0.5));
    f->logged_return = spread_of(&g->logged.returns, work);
    f->simulated_return = spread_of(&g->returns, work);
    f->logged_length = spread_of(&g->logged.lengths, work);
    f->simulated_length = spread_of(&g->lengths, work);
    f->random_return = spread_of(&g->random, work).mean;
    f->random_better = share_above(&g->random, f->logged_return.median);
    f->logged_better = share_above(&g->logged.returns, f->logged_return.median);
    f->random_steps = (double)g->nstep / (f->random_better * g->random.n);
    rank(g);
    return RH_OK;
}

// ---------------------------------------------------------------------------- the stage

// Map rows to the transitions that lead to and from them.
static void map_rows(stage *g)
{
    const rh_log *log = g->w->log;
    size_t n = (size_t)log->nstate;
    g->near = rh_scratch__take(&g->scratch, n * NIMITATED, sizeof *g->near);
    g->into = rh_scratch__take(&g->scratch, n, sizeof *g->into);
    g->out = rh_scratch__take(&g->scratch, n, sizeof *g->out);
    if (g->scratch.failed)
        return;
    for (size_t i = 0; i < n; i++) {
        g->near[i * NIMITATED] = UNASKED;
        g->into[i] = g->out[i] = NOBODY;
    }
    for (int64_t t = log->n - 1; t >= 0; t--) {
        g->out[log->from[t]] = (int32_t)t;
        if (log->to[t] != RH_UNKNOWN)
            g->into[log->to[t]] = (int32_t)t;
    }
}

// Index the states in which transitions begin.
static rh_status index_states(stage *g, rh_error *err)
{
    const rh_fidelity__work *w = g->w;
    size_t size = (size_t)w->ncode * sizeof(float);
    g->stride = (w->log->n + MOST_FROM - 1) / MOST_FROM;
    g->nfrom = (w->log->n + g->stride - 1) / g->stride;
    float *point = rh_alloc((size_t)g->nfrom, size);
    if (!point)
        return rh_base__no_memory(err, "fidelity");
    for (int64_t i = 0; i < g->nfrom; i++)
        memcpy(point + i * w->ncode, rh_fidelity__code(w, w->log->from[i * g->stride]), size);
    rh_status rc = rh_neighbours__create(&g->from, point, g->nfrom, w->ncode, err);
    rh_free(point);
    return rc;
}

static rh_status set_stage(stage *g, rh_error *err)
{
    const rh_fidelity__work *w = g->w;
    int32_t nentry = 0;
    rh_status rc = rh_fidelity__choose(&g->logged, w, err);
    if (rc)
        return rc;
    g->model = *w->model;
    if (!g->model.task.continuing) {
        g->model.start = g->logged.start;
        g->model.nstart = g->logged.nepisode;
    }
    rc = g->model.type->calls->env(&g->env, &g->model, g->model.member[0], g->model.param, err);
    if (!rc)
        rc = index_states(g, err);
    if (rc)
        return rc;
    g->entries = rh_contract__env_fixed_obs(g->env, &nentry) && nentry == w->log->nstate;
    g->budget = g->entries && w->log->naction ? STEPS_TABLE : STEPS_OTHERS;

    series *all[] = {&g->returns, &g->random, &g->lengths};
    if (g->entries)
        map_rows(g);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i]->x = rh_scratch__take(&g->scratch, RH_FIDELITY__SIMULATED, sizeof(double));
    g->state = rh_scratch__take(&g->scratch, 1, rh_env_state_size(g->env) + 1);
    g->jump = rh_scratch__take(&g->scratch, MOST_JUMPS, sizeof *g->jump);
    return g->scratch.failed ? rh_base__no_memory(err, "fidelity") : RH_OK;
}

rh_status rh_fidelity__simulate(rh_fidelity__work *w, rh_error *err)
{
    stage g = {.w = w};
    rh_status rc = set_stage(&g, err);
    if (!rc)
        rc = compare(&g, err);
    rh_env_destroy(g.env);
    rh_neighbours__destroy(g.from);
    rh_scratch__clear(&g.scratch);
    rh_fidelity__clear(&g.logged);
    return rc;
}
