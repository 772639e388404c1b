// collect.c - makes a log: trains an agent until it is good enough, then logs its policy.
//
// After the paper's collection of offline logs and its authors' code:
//
// 1. After every step the agent is judged by its last `span` steps, if it has so many. The
//    length of an episode is those steps divided by the episodes that ended in them, its return
//    their reward divided likewise: the authors' measures, which count partial episodes.
// 2. The log begins with a new episode and has its own random streams, in a replicate of its
//    own: it shares none with training or with runs that evaluate agents.
// 3. A log that completes too few or too many episodes is discarded, and the next attempt
//    trains from scratch. Only episodes that ended count ("visits to goal states" in the
//    paper), so the last one, truncated with the log, does not. In a continuing task failures
//    count instead: steps with the lowest possible reward.
// 4. The log of starts has episodes of one step. It shows where episodes begin and little else,
//    so a model learns dynamics from the log itself.
// 5. An environment that gives a reason why it failed (a program that crashed) ends the work.
// 6. Advice (advice.c) replaces actions of the frozen policy while it is logged. It has a
//    random stream of its own, so the policy and the starts are those of the log without it.
// 7. If none of the first 20 attempts learns enough, no more are made.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/scratch.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>
#include <string.h>

#define COOKIE 0xc0113c7u
#define STOP_EVERY 256                    // steps between calls of the caller's stop()
#define HOPELESS 20                       // decision 7
#define REPLICATE UINT64_C(0x10600000000) // decision 2; the next one is for the log of starts

typedef struct work {
    const rh_collect_options *opt;
    const rh_task *task;
    rh_agent *agent; // owned
    rh_scratch scratch;
    void *state;    // of the environment
    double *reward; // of the last steps, a ring buffer   (span)
    uint8_t *ended; // whether they ended an episode     (span)
    int64_t nstep;  // training steps
    int64_t nended; // episodes that ended in the last `span` steps
    double sum;     // reward of the last `span` steps
    rh_streams streams;
    rh_rng rng; // of the agent
    rh_rng advice_rng;
    rh_advice__course course; // its array is NULL: there is no advice
    double obs[RH_MAX_OBS];
    double act[RH_MAX_ACT];
    bool healthy; // all numbers so far are finite
} work;

rh_collect_options rh_collect_defaults(void)
{
    return (rh_collect_options){
        .nstep = 5000,
        .seed = 1,
        .patience = INT64_C(1000000),
        .cutoff = INT64_MAX,
        .most = INT64_MAX,
        .ntry = 1000,
        .nstart = 100,
        .cookie = COOKIE,
    };
}

static rh_status check(const rh_collect_options *o, const rh_task *task, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL,
                       "collect: options must start from rh_collect_defaults()");
    if (task->naction > RH_MAX_ACTIONS)
        return rh_fail(err, RH_EINVAL, "collect: %d actions, expected at most %d",
                       task->naction, RH_MAX_ACTIONS);
    if (o->nstep < 1 || o->nstep > INT32_MAX / 2)
        return rh_fail(err, RH_EINVAL, "collect: steps = %lld, expected 1 to %d",
                       (long long)o->nstep, INT32_MAX / 2);
    if (o->cutoff < 1)
        return rh_fail(err, RH_EINVAL, "collect: cut-off = %lld, expected 1 or more",
                       (long long)o->cutoff);
    if (o->ntry < 1)
        return rh_fail(err, RH_EINVAL, "collect: tries = %d, expected 1 or more", o->ntry);
    if (o->nstart < 1)
        return rh_fail(err, RH_EINVAL, "collect: starts = %d, expected 1 or more", o->nstart);
    if (o->span < (o->enough == RH_ENOUGH_STEPS ? 0 : 1) || o->span > INT32_MAX)
        return rh_fail(err, RH_EINVAL, "collect: span = %lld, expected 1 to %d steps",
                       (long long)o->span, INT32_MAX);
    if (o->least > o->most)
        return rh_fail(err, RH_EINVAL,
                       "collect: at least %lld and at most %lld episodes, "
                       "expected the least to be no more than the most",
                       (long long)o->least, (long long)o->most);
    return RH_OK;
}

// ---------------------------------------------------------------------------- steps

static void set_streams(work *w, uint64_t replicate, bool learning, int try)
{
    uint64_t seed = w->opt->seed, run = (uint64_t)try;
    rh_stream start = learning ? RH_STREAM_START : RH_STREAM_FINAL_START;
    rh_stream noise = learning ? RH_STREAM_NOISE : RH_STREAM_FINAL_NOISE;
    rh_stream agent = learning ? RH_STREAM_AGENT : RH_STREAM_FINAL_AGENT;
    w->streams.start = rh_rng_stream(seed, start, replicate, run);
    w->streams.noise = rh_rng_stream(seed, noise, replicate, run);
    w->rng = rh_rng_stream(seed, agent, replicate, run);
}

static void begin_episode(work *w, const rh_env *env)
{
    rh_env_start(env, w->state, &w->streams, w->obs);
    w->healthy = rh_agent_start(w->agent, w->obs, &w->rng, w->act) && w->healthy;
}

// One step of the environment; obs becomes the new observation. True if it is terminal.
static bool one_step(work *w, const rh_env *env, double *reward)
{
    bool terminal = rh_env_step(env, w->state, w->act, &w->streams, w->obs, reward);
    w->healthy = w->healthy && rh_base__all_finite(w->obs, w->task->nobs) && isfinite(*reward);
    return terminal;
}

// Pass the outcome to the agent, which chooses its next action.
static void answer(work *w, double reward, bool terminal)
{
    bool healthy = terminal ? rh_agent_end(w->agent, reward)
                            : rh_agent_step(w->agent, reward, w->obs, &w->rng, w->act);
    w->healthy = healthy && w->healthy;
}

// The reason of an environment that gave numbers that are not finite, if it has one.
static rh_status env_failed(const work *w, const rh_env *env, rh_error *err)
{
    const char *reason = w->healthy ? NULL : rh_contract__env_reason(env, w->state);
    return reason ? rh_fail(err, RH_EIO, "%s", reason) : RH_OK;
}

static bool asked_to_stop(const work *w)
{
    return w->opt->stop && w->opt->stop(w->opt->context);
}

// ---------------------------------------------------------------------------- training

static void count_step(work *w, double reward, bool ended)
{
    int64_t span = w->opt->span, step = w->nstep++;
    if (w->opt->enough == RH_ENOUGH_STEPS)
        return;
    int64_t at = step % span;
    if (step >= span) {
        w->sum -= w->reward[at];
        w->nended -= w->ended[at];
    }
    w->reward[at] = reward;
    w->ended[at] = ended;
    w->sum += reward;
    w->nended += ended;
}

// Whether the agent is good enough; *quality: the measure.
static bool is_enough(const work *w, double *quality)
{
    const rh_collect_options *opt = w->opt;
    *quality = NAN;
    if (w->nstep < opt->span)
        return false;
    switch (opt->enough) {
    case RH_ENOUGH_STEPS:
        return true;
    case RH_ENOUGH_LENGTH:
        *quality = (double)opt->span / (double)w->nended;
        return w->nended > 0 && *quality <= opt->level;
    case RH_ENOUGH_RETURN:
        *quality = w->sum / (double)w->nended;
        return w->nended > 0 && *quality >= opt->level;
    case RH_ENOUGH_REWARD:
        *quality = w->sum / (double)opt->span;
        return *quality >= opt->level;
    }
    return false;
}

// Train the agent. False if it did not become good enough in time, or was stopped.
static bool train(work *w, const rh_env *train_env, rh_collected *how)
{
    bool enough;
    int64_t age = 0;
    w->nstep = w->nended = 0;
    w->sum = 0.0;
    w->healthy = true;
    begin_episode(w, train_env);
    while (!(enough = is_enough(w, &how->quality)) && w->healthy &&
           w->nstep < w->opt->patience) {
        double reward;
        bool terminal = one_step(w, train_env, &reward);
        count_step(w, reward, terminal);
        answer(w, reward, terminal);
        if (terminal || ++age == w->opt->cutoff) {
            begin_episode(w, train_env);
            age = 0;
        }
        if (w->nstep % STOP_EVERY == 0 && asked_to_stop(w)) {
            how->outcome = RH_COLLECT_STOPPED;
            return false;
        }
    }
    how->trained = w->nstep;
    return enough && w->healthy;
}

// ---------------------------------------------------------------------------- logging

static rh_status open_builder(rh_log_builder **out, const rh_task *task, rh_error *err)
{
    const char *label[RH_MAX_ACTIONS];
    char text[RH_MAX_ACTIONS][12];
    for (int i = 0; i < task->naction; i++) {
        snprintf(text[i], sizeof text[i], "%d", i);
        label[i] = text[i];
    }
    bool discrete = task->naction > 0;
    rh_log_shape shape = {
        .nobs = task->nobs,
        .nact = task->nact,
        .action = discrete ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
        .obs_name = task->obs_name,
        .label = discrete ? label : NULL,
        .nlabel = task->naction,
        .declared = discrete,
        .format = "collected",
    };
    return rh_log_builder_create(out, &shape, err);
}

// Log `nstep` steps of the frozen agent. Episodes are truncated after `length` steps.
static rh_status record(work *w, const rh_env *env, int64_t nstep, int64_t length,
                        rh_log_builder *builder, rh_collected *how, rh_error *err)
{
    double before[RH_MAX_OBS], reward, sum = 0.0, whole = 0.0; // sum: of the current episode
    int64_t nwhole = 0;
    rh_status rc = RH_OK;
    bool advised = w->course.left && length > 1; // not in a log of starts
    how->nended = how->nadvised = 0;
    how->reward = 0.0;
    begin_episode(w, env);
    for (int64_t t = 0, age = 0; !rc && t < nstep && w->healthy; t++) {
        memcpy(before, w->obs, sizeof before);
        if (advised)
            how->nadvised +=
                rh_advice__follow(&w->course, w->opt->advice, w->obs, &w->advice_rng, w->act);
        bool terminal = one_step(w, env, &reward);
        bool cut = ++age == length || t + 1 == nstep;
        rc = rh_log_push(builder,
                         &(rh_log_row){.obs = before,
                                       .act = w->act,
                                       .reward = reward,
                                       .next = w->obs,
                                       .terminal = terminal,
                                       .truncated = cut && !terminal,
                                       .begins = age == 1},
                         err);
        how->nended += w->task->continuing ? reward <= w->task->reward_lo : terminal;
        how->reward += reward;
        sum += reward;
        if (terminal || cut) {
            whole += terminal ? sum : 0.0;
            nwhole += terminal;
            begin_episode(w, env);
            age = 0;
            sum = 0.0;
        } else {
            answer(w, reward, false);
        }
        if (t % STOP_EVERY == 0 && asked_to_stop(w)) {
            how->outcome = RH_COLLECT_STOPPED;
            break;
        }
    }
    how->returned = nwhole ? whole / (double)nwhole : NAN;
    return rc;
}

// Make the log of starts with the same policy; how->outcome may become RH_COLLECT_STOPPED.
static rh_status record_starts(work *w, const rh_env *train_env, int try, rh_log **starts,
                               rh_collected *how, rh_error *err)
{
    rh_log_builder *builder = NULL;
    rh_collected own = {.outcome = RH_COLLECTED};
    rh_status rc = open_builder(&builder, w->task, err);
    if (rc)
        return rc;
    set_streams(w, REPLICATE + 1, false, try);
    rc = record(w, train_env, w->opt->nstart, 1, builder, &own, err);
    how->outcome = own.outcome;
    if (!rc)
        rc = env_failed(w, train_env, err);
    if (!rc && own.outcome == RH_COLLECTED)
        rc = rh_log_finish(builder, starts, err);
    rh_log_builder_destroy(builder);
    return rc;
}

// Log one attempt into the builder. how->outcome is RH_COLLECTED if the log is accepted.
static rh_status record_try(work *w, const rh_env *log_env, int try, rh_log_builder *builder,
                            rh_collected *how, rh_error *err)
{
    const rh_collect_options *opt = w->opt;
    rh_agent_freeze(w->agent, true);
    set_streams(w, REPLICATE, false, try);
    if (w->course.left) {
        rh_advice__begin(&w->course, opt->advice);
        w->advice_rng = rh_rng_stream(opt->seed, RH_STREAM_SEARCH, REPLICATE, (uint64_t)try);
    }
    rh_status rc = record(w, log_env, opt->nstep, opt->cutoff, builder, how, err);
    if (rc || how->outcome == RH_COLLECT_STOPPED)
        return rc;
    if (!w->healthy) {
        how->nuntaught++;
        return env_failed(w, log_env, err);
    }
    if (how->nended >= opt->least && how->nended <= opt->most) {
        how->outcome = RH_COLLECTED;
        return RH_OK;
    }
    how->outcome = RH_COLLECT_OUTSIDE;
    how->fewest = how->nended < how->fewest ? how->nended : how->fewest;
    how->greatest = how->nended > how->greatest ? how->nended : how->greatest;
    return RH_OK;
}

// Train from scratch and log. If the log is accepted, *out and *starts are set.
static rh_status one_try(work *w, const rh_env *train_env, const rh_env *log_env,
                         const double *hp, rh_log **out, rh_log **starts, rh_collected *how,
                         rh_error *err)
{
    int try = how->ntry++;
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    rh_status rc = rh_contract__agent_reset(w->agent, w->task, hp, err);
    if (rc)
        return rc;
    set_streams(w, REPLICATE, true, try);
    if (!train(w, train_env, how)) {
        rc = env_failed(w, train_env, err);
        if (rc)
            return rc;
        how->nuntaught += how->outcome != RH_COLLECT_STOPPED;
        return RH_OK;
    }

    rc = open_builder(&builder, w->task, err);
    if (rc)
        goto done;
    rc = record_try(w, log_env, try, builder, how, err);
    if (rc || how->outcome != RH_COLLECTED)
        goto done;
    rc = rh_log_finish(builder, &log, err);
    if (!rc && starts)
        rc = record_starts(w, train_env, try, starts, how, err);
    if (rc || how->outcome != RH_COLLECTED)
        goto done;
    *out = log;
    log = NULL;

done:
    rh_log_destroy(log);
    rh_log_builder_destroy(builder);
    return rc;
}

static bool try_again(const work *w, const rh_collected *how)
{
    bool over = how->outcome == RH_COLLECTED || how->outcome == RH_COLLECT_STOPPED;
    return !over && how->ntry < w->opt->ntry &&
           (how->nuntaught < how->ntry || how->ntry < HOPELESS);
}

rh_status rh_log_collect(rh_log **out, rh_log **starts, rh_collected *how,
                         const rh_env *train_env, const rh_env *log_env,
                         const rh_agent_type *agent, const double *hp,
                         const rh_collect_options *opt, rh_error *err)
{
    rh_collect_options initial = rh_collect_defaults();
    work w = {.opt = opt ? opt : &initial, .task = rh_env_task(train_env)};
    *how = (rh_collected){
        .outcome = RH_COLLECT_UNTAUGHT, .fewest = INT64_MAX, .greatest = INT64_MIN};
    rh_status rc = check(w.opt, w.task, err);
    if (!rc && rh_contract__env_type(train_env) != rh_contract__env_type(log_env))
        rc = rh_fail(err, RH_EINVAL, "collect: log_env is another environment than train_env");
    if (rc)
        return rc;
    rc = rh_agent_create(&w.agent, agent, w.task, hp, err);
    if (rc)
        return rc;
    size_t span = w.opt->enough == RH_ENOUGH_STEPS ? 1 : (size_t)w.opt->span;
    w.state = rh_scratch__take(&w.scratch, 1,
                               rh_env_state_size(train_env)); // log_env is of the same kind
    w.reward = rh_scratch__take(&w.scratch, span, sizeof *w.reward);
    w.ended = rh_scratch__take(&w.scratch, span, sizeof *w.ended);
    if (w.opt->advice)
        w.course.left = rh_scratch__take(&w.scratch, (size_t)rh_advice__nrow(w.opt->advice),
                                         sizeof *w.course.left);
    if (w.scratch.failed)
        rc = rh_base__no_memory(err, "collect");

    while (!rc && try_again(&w, how))
        rc = one_try(&w, train_env, log_env, hp, out, starts, how, err);

    rh_scratch__clear(&w.scratch);
    rh_agent_destroy(w.agent);
    return rc;
}
