// replay_runs.c - runs of agents on the samples of a log: queue-based and by rejection.
//
// Mandel, Liu, Brunskill and Popovic, "Offline Evaluation of Online Reinforcement Learning
// Algorithms" (AAAI 2016). The agent is in bin s and meets samples (a, r, s') of this bin, in
// random order, each once.
//
//     queue        the agent draws a from pi(. | s); the next sample of (s, a) follows
//     rejection    the next sample (a, r, s') of s is accepted with probability
//                      pi(a | s) / (M mu(a | s)),   M = max over b of pi(b | s) / mu(b | s)
//                  and the agent takes a; a rejected sample is lost
//
// 1. mu(a | s) is the share of a among the samples left in the bin. Given what is left, the
//    next sample has action a with exactly this probability, whatever policy made the log. So
//    accepted actions have the distribution pi, no knowledge of the logging policy is needed,
//    and an estimate of it cannot be wrong.
// 2. Where an agent does not tell pi, it draws its action first. One sample of each action of
//    the bin is then taken out; that of the agent's action follows and the others are lost. So
//    what is left never depends on the action. To wait in one queue for a sample of the action
//    drawn would be unbiased only if the log's actions were drawn uniformly: elsewhere the
//    samples lost meanwhile depend on the action (tests/reference/offline_replay.py: the share
//    of an action of probability 0.4 becomes 0.445 among the steps made, and 0.348 by queues).
// 3. Given the run so far, and that a step is made, rejection makes it with the probabilities
//    of the agent in the task: whether the samples of s suffice does not depend on the action.
//    With queues it does. Actions that the log lacks end runs, so the steps that are made
//    overstate the others. Queues waste nothing and make longer runs.
// 4. The first T steps together are unbiased by both methods if no run ends before T. Among
//    runs of which some end earlier, those that make T steps are a selection: they avoided bins
//    with few samples. Completed episodes are more often short ones.
// 5. All of this holds where the samples of (bin, action) are draws from one distribution: the
//    states of a bin behave alike. Otherwise it is an approximation, like any discretised
//    state.
// 6. A bin where actions of probability SLACK or less, all together, are missing can still be
//    used: a softmax gives every action some probability. The distribution of this step is
//    then wrong by at most SLACK (total variation).
// 7. The agent sees the logged s' itself, not the middle of its bin.
// 8. All settings have the same queues and starts in run i: settings are compared in pairs.
// 9. Start states are used once, too. An episode needs one, so a run ends with the last.

#include "queues.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

#define COOKIE 0x7265706cu
#define SLACK 1e-3 // decision 6

static const char *const method_name[] = {
    [RH_REPLAY_QUEUE] = "queue", [RH_REPLAY_REJECTION] = "rejection"};

// The memory of one thread, reused from run to run.
typedef struct worker {
    rh_agent *agent; // owned; NULL before the first run
    int32_t *order;  // owned: samples in the order of this run        (nsample)
    int32_t *left;   // owned: samples left of each (bin, action)      (nbin x naction)
    int32_t *in_bin; // owned: samples left in each bin                (nbin)
    int32_t *start;  // owned: start states in the order of this run   (nstart)
    double *pi;      // owned: probabilities of the agent              (naction)
} worker;

// What all runs share.
typedef struct batch {
    rh_queues queues;
    const rh_agent_type *agent;
    rh_task task; // what agents are told
    const double *hp;
    rh_replay_options opt;
    bool by_bin;    // samples of all actions of a bin are in one queue
    worker *worker; // owned  (nworker)
    int nworker;
    rh_replay_result *result;
    rh_status failed; // why a run could not begin; written under the lock
    rh_error error;
} batch;

// The state of a run.
typedef struct running {
    const batch *b;
    worker *w;
    rh_rng order_rng, agent_rng;
    int32_t at;     // row of the current observation
    int32_t nstart; // start states left
    double act[RH_MAX_ACT];
    double episode;   // reward of the current episode
    double completed; // sum of the returns of completed episodes
    bool healthy;
    rh_replay_result result;
} running;

const char *const *rh_replay_method_names(int *n)
{
    *n = sizeof method_name / sizeof *method_name;
    return method_name;
}

rh_replay_options rh_replay_defaults(void)
{
    return (rh_replay_options){.method = RH_REPLAY_QUEUE,
                               .bins = RH_REPLAY_AUTO,
                               .nstep = INT64_MAX,
                               .nrun = 30,
                               .seed = 1,
                               .nthread = 1,
                               .cookie = COOKIE};
}

static rh_status check(const rh_replay_options *o, int nsetting, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "replay: options must start from rh_replay_defaults()");
    if (o->method != RH_REPLAY_QUEUE && o->method != RH_REPLAY_REJECTION)
        return rh_fail(err, RH_EINVAL, "replay: method = %d, expected 0 or 1", (int)o->method);
    if (o->nstep < 1)
        return rh_fail(err, RH_EINVAL, "replay: steps = %lld, expected 1 or more",
                       (long long)o->nstep);
    if (o->nrun < 1)
        return rh_fail(err, RH_EINVAL, "replay: runs = %d, expected 1 or more", o->nrun);
    if (o->nthread < 1)
        return rh_fail(err, RH_EINVAL, "replay: threads = %d, expected 1 or more", o->nthread);
    if (nsetting < 1 || nsetting > INT_MAX / o->nrun)
        return rh_fail(err, RH_EINVAL,
                       "replay: %d settings of %d runs, expected 1 to %d in all", nsetting,
                       o->nrun, INT_MAX);
    return RH_OK;
}

// ---------------------------------------------------------------------------- samples

static void shuffle(int32_t *x, int32_t n, rh_rng *rng)
{
    for (int32_t i = n - 1; i > 0; i--) {
        uint32_t j = rh_rng_below(rng, (uint32_t)i + 1);
        int32_t kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}

// Fill all queues, in the order of this run.
static void fill_queues(running *r)
{
    const rh_queues *q = &r->b->queues;
    worker *w = r->w;
    size_t naction = (size_t)q->naction;
    memcpy(w->order, q->sample, (size_t)q->nsample * sizeof *w->order);
    for (int32_t s = 0; s < q->nbin; s++) {
        int32_t begin = rh_queues__begin(q, s);
        w->in_bin[s] = rh_queues__begin(q, s + 1) - begin;
        if (r->b->by_bin)
            shuffle(w->order + begin, w->in_bin[s], &r->order_rng);
        for (size_t k = (size_t)s * naction; k < (size_t)(s + 1) * naction; k++) {
            w->left[k] = q->first[k + 1] - q->first[k];
            if (!r->b->by_bin)
                shuffle(w->order + q->first[k], w->left[k], &r->order_rng);
        }
    }
}

// The next sample of (s, the agent's action), or -1.
static int32_t take_queued(running *r, int32_t s)
{
    const rh_queues *q = &r->b->queues;
    size_t k = (size_t)s * (size_t)q->naction + (size_t)r->act[0];
    return r->w->left[k] ? r->w->order[q->first[k] + --r->w->left[k]] : -1;
}

// The next sample of s, whatever its action, which there is.
static int32_t take_any(running *r, int32_t s, int *action)
{
    const rh_queues *q = &r->b->queues;
    int32_t i = r->w->order[rh_queues__begin(q, s) + --r->w->in_bin[s]];
    *action = (int)q->log->act[i];
    r->w->left[(size_t)s * (size_t)q->naction + (size_t)*action]--;
    return i;
}

// The greatest pi(a) / left(a); NAN if actions that the agent may take are missing.
static double greatest_ratio(const double *pi, const int32_t *left, int naction)
{
    double most = 0.0, missing = 0.0;
    for (int a = 0; a < naction; a++)
        if (left[a])
            most = fmax(most, pi[a] / left[a]);
        else
            missing += pi[a];
    return missing <= SLACK && most > 0.0 ? most : NAN;
}

// The next sample of s that is accepted, or -1. Its action becomes the agent's.
static int32_t take_accepted(running *r, int32_t s)
{
    int naction = r->b->queues.naction;
    double *pi = r->w->pi, most;
    const int32_t *left = r->w->left + (size_t)s * (size_t)naction;
    rh_contract__agent_policy(r->w->agent, pi);
    while (!isnan(most = greatest_ratio(pi, left, naction))) {
        int action;
        int32_t i = take_any(r, s, &action);
        if (rh_rng_uniform(&r->order_rng) * most < pi[action] / (left[action] + 1)) {
            rh_contract__agent_take(r->w->agent, action);
            return i;
        }
        r->result.nrejected++;
    }
    return -1;
}

// One sample of each action of s is taken out; that of the agent's action, or -1.
static int32_t take_one_of_each(running *r, int32_t s)
{
    const rh_queues *q = &r->b->queues;
    size_t k = (size_t)s * (size_t)q->naction;
    for (int a = 0; a < q->naction; a++)
        if (r->w->left[k + (size_t)a] == 0)
            return -1;
    for (int a = 0; a < q->naction; a++)
        r->w->left[k + (size_t)a]--;
    r->result.nrejected += q->naction - 1;
    k += (size_t)r->act[0];
    return r->w->order[q->first[k] + r->w->left[k]];
}

static int32_t take_sample(running *r, int32_t s)
{
    if (r->b->opt.method == RH_REPLAY_QUEUE)
        return take_queued(r, s);
    return r->b->by_bin ? take_accepted(r, s) : take_one_of_each(r, s);
}

// ---------------------------------------------------------------------------- a run

static const double *observation(const running *r)
{
    const rh_log *log = r->b->queues.log;
    return log->obs + (size_t)r->at * (size_t)log->nobs;
}

// False when there is no start state left.
static bool begin_episode(running *r)
{
    r->episode = 0.0;
    if (!r->nstart)
        return false;
    r->at = r->w->start[--r->nstart];
    r->healthy =
        rh_agent_start(r->w->agent, observation(r), &r->agent_rng, r->act) && r->healthy;
    return true;
}

// One step; false when the run ends because something is missing.
static bool one_step(running *r)
{
    const rh_queues *q = &r->b->queues;
    const rh_log *log = q->log;
    int32_t i = take_sample(r, q->bin[r->at]);
    if (i < 0)
        return false;

    double reward = log->reward[i];
    r->result.nstep++;
    r->result.total += reward;
    r->episode += reward;
    if (log->flag[i] & RH_FLAG_TERMINAL) {
        r->healthy = rh_agent_end(r->w->agent, reward) && r->healthy;
        r->result.nepisode++;
        r->completed += r->episode;
        return begin_episode(r);
    }
    r->at = log->to[i];
    r->healthy =
        rh_agent_step(r->w->agent, reward, observation(r), &r->agent_rng, r->act) && r->healthy;
    return true;
}

static double score_of(const running *r)
{
    const rh_replay_result *result = &r->result;
    if (result->broken)
        return -INFINITY;
    if (r->b->task.continuing)
        return result->nstep ? result->total / (double)result->nstep * (double)r->b->task.nstep
                             : NAN;
    return result->nepisode ? r->completed / (double)result->nepisode : NAN;
}

static rh_replay_result whole_run(const batch *b, worker *w, uint64_t run)
{
    const rh_queues *q = &b->queues;
    uint64_t number = b->opt.first_run + run;
    rh_rng start = rh_rng_stream(b->opt.seed, RH_STREAM_START, 0, number);
    running r = {.b = b, .w = w, .nstart = q->nstart, .healthy = true};
    r.order_rng = rh_rng_stream(b->opt.seed, RH_STREAM_NOISE, 0, number);
    r.agent_rng = rh_rng_stream(b->opt.seed, RH_STREAM_AGENT, 0, number);
    fill_queues(&r);
    memcpy(w->start, q->start, (size_t)q->nstart * sizeof *w->start);
    shuffle(w->start, q->nstart, &start);

    bool more = begin_episode(&r);
    while (more && r.healthy && r.result.nstep < b->opt.nstep)
        more = one_step(&r);
    r.result.exhausted = !more;
    r.result.broken = !r.healthy;
    r.result.score = score_of(&r);
    return r.result;
}

// ---------------------------------------------------------------------------- all runs

// Prepare the worker's agent for a run. On failure the worker has no agent.
static rh_status new_agent(const batch *b, worker *w, const double *hp, rh_error *err)
{
    rh_status rc = w->agent ? rh_contract__agent_reset(w->agent, &b->task, hp, err)
                            : rh_agent_create(&w->agent, b->agent, &b->task, hp, err);
    if (!rc && b->opt.state)
        rc = rh_agent_load(w->agent, b->opt.state, err);
    if (!rc) {
        rh_agent_freeze(w->agent, b->opt.frozen);
        return RH_OK;
    }
    rh_agent_destroy(w->agent); // it cannot be used after a failure
    w->agent = NULL;
    return rc;
}

static const double *setting(const batch *b, int s)
{
    return b->hp ? b->hp + (size_t)s * (size_t)b->agent->nparam : NULL;
}

static rh_status make_workers(batch *b, rh_error *err)
{
    const rh_queues *q = &b->queues;
    size_t nbin = (size_t)q->nbin, naction = (size_t)q->naction;
    b->worker = rh_alloc((size_t)b->nworker, sizeof *b->worker);
    for (int i = 0; b->worker && i < b->nworker; i++) {
        worker *w = &b->worker[i];
        w->order = rh_alloc((size_t)q->nsample, sizeof *w->order);
        w->left = rh_alloc(nbin * naction, sizeof *w->left);
        w->in_bin = rh_alloc(nbin, sizeof *w->in_bin);
        w->start = rh_alloc((size_t)q->nstart, sizeof *w->start);
        w->pi = rh_alloc(naction, sizeof *w->pi);
        if (!w->order || !w->left || !w->in_bin || !w->start || !w->pi)
            return rh_base__no_memory(err, "replay");
    }
    return b->worker ? RH_OK : rh_base__no_memory(err, "replay");
}

static void clear(batch *b)
{
    for (int i = 0; b->worker && i < b->nworker; i++) {
        rh_agent_destroy(b->worker[i].agent);
        rh_free(b->worker[i].order);
        rh_free(b->worker[i].left);
        rh_free(b->worker[i].in_bin);
        rh_free(b->worker[i].start);
        rh_free(b->worker[i].pi);
    }
    rh_free(b->worker);
    rh_queues__clear(&b->queues);
}

// One unit of work: run i % nrun of setting i / nrun.
static void do_job(batch *b, int i)
{
    rh_error err;
    worker *w = &b->worker[omp_get_thread_num()];
    rh_status rc = new_agent(b, w, setting(b, i / b->opt.nrun), &err);
    if (!rc) {
        b->result[i] = whole_run(b, w, (uint64_t)(i % b->opt.nrun));
        return;
    }
#pragma omp critical(rh_replay_failed)
    {
        b->failed = rc;
        b->error = err;
    }
}

rh_status rh_replay_runs(const rh_log *log, const rh_agent_type *agent, const rh_task *task,
                         int nsetting, const double *hp, const rh_replay_options *opt,
                         rh_replay_result *result, rh_error *err)
{
    batch b = {.agent = agent, .task = *task, .hp = hp, .result = result};
    b.opt = opt ? *opt : rh_replay_defaults();
    b.by_bin = b.opt.method == RH_REPLAY_REJECTION && agent->policy;
    rh_status rc = check(&b.opt, nsetting, err);
    if (!rc && !hp && nsetting != 1)
        rc = rh_fail(err, RH_EINVAL,
                     "replay: no hyperparameters, expected those of %d settings", nsetting);
    if (rc)
        return rc;
    int njob = nsetting * b.opt.nrun;
    b.nworker = b.opt.nthread < njob ? b.opt.nthread : njob;
    rc = rh_queues__init(&b.queues, log, task, b.opt.bins, err);
    if (rc)
        goto done;
    rc = make_workers(&b, err);
    if (rc)
        goto done;

    // report errors in settings before the first run
    for (int s = 0; !rc && hp && s < nsetting; s++)
        rc = rh_param__check(agent->param, agent->nparam, agent->name, setting(&b, s), err);
    if (!rc)
        rc = new_agent(&b, &b.worker[0], setting(&b, 0), err);
    if (rc)
        goto done;

#pragma omp parallel for schedule(dynamic) num_threads(b.nworker)
    for (int i = 0; i < njob; i++)
        do_job(&b, i);

    rc = b.failed;
    if (rc && err)
        *err = b.error;

done:
    clear(&b);
    return rc;
}
