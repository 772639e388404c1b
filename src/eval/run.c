// run.c - one run: an agent learns in an environment from its first step to its last.
//
// After the paper's algorithm AgentPerfInEnv, with the cut-off as an option.
//
// 1. Only replicate and run select the random streams: settings can be compared in pairs, and a
//    run scores the same in `run`, in a sweep of a thousand settings and at any thread count.
// 2. At a cut-off the agent learns from an ordinary step to the state reached, then starts
//    anew: the state was not terminal, and learning that it was would be wrong. The paper's
//    code treats it as terminal; RH_TERMINATE does the same.
// 3. A run that breaks down scores as if every step had brought the lowest reward, so no
//    completed run is worse. The score is finite where the task knows its lowest reward.
// 4. In a continuing task the cut-off has no effect.
// 5. With fixed observations, agents that support it get the index of each observation
//    (feature_caches.c). Nothing else in the run changes.
// 6. Steps out of coverage are counted while the agent learns, not in the RH_FINAL phase.
// 7. Finite rewards may have an infinite sum; the outcome is then RH_ENV_NONFINITE.
// 8. Failures (opt.fails) are counted by episode, when it ends; in a continuing task, where
//    failing steps begin. An unfinished episode does not count, failed or not.
//    Limits that count episodes do likewise; those that count steps count each.
// 9. Where the agent or the environment gives a reason (a crash of its own process, an action
//    that does not exist), the run is RH_FAILED instead of diverged, and scores the same.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "eval_internal.h"

#include <math.h>

#define STOP_EVERY 256 // steps between two calls of opt.stop

// The state of a run.
typedef struct running {
    rh_runner *runner;
    const rh_eval__job *job;
    const rh_env *env;
    rh_agent *agent;
    void *state; // of the environment
    double *returns;
    bool cached; // the agent uses a feature cache
    bool finite; // all observations are known to be finite
    bool counts; // the environment reports steps out of coverage
    rh_streams streams;
    rh_rng agent_rng;
    double obs[RH_MAX_OBS];
    double act[RH_MAX_ACT];
    rh_tally tally;
    int64_t step;
    int64_t nuncovered; // steps out of coverage
    bool looks;         // failures and episodes are counted: not in the RH_FINAL phase
    rh_result seen;     // their counts
    bool failed;        // in this episode; continuing: in the last step
    double ahead;       // what the run has got, minus opt.today
    unsigned exceeded;  // limits that a step of this episode exceeded
    int point;          // next point of the learning curve
    char reason[240];   // of RH_FAILED
} running;

// Pass the index of the observation to the agent.
static void look_up(running *r)
{
    if (r->cached)
        rh_contract__agent_look_up(r->agent, rh_contract__env_obs_index(r->env, r->state));
}

static bool begin_episode(running *r)
{
    rh_env_start(r->env, r->state, &r->streams, r->obs);
    if (!r->finite && !rh_base__all_finite(r->obs, r->runner->task->nobs))
        return false;
    look_up(r);
    return rh_agent_start(r->agent, r->obs, &r->agent_rng, r->act);
}

// Count one more failure, episode or reward, at this step, in its tenth of the run.
static void count(running *r, bool failure, bool episode, double got)
{
    int64_t nstep = r->runner->opt.nstep, tenth = (nstep + 9) / 10;
    bool first = r->step <= tenth, last = r->step > nstep - tenth;
    rh_result *seen = &r->seen;
    seen->nfailure += failure;
    seen->nfailure_first += failure && first;
    seen->nfailure_last += failure && last;
    seen->nepisode_first += episode && first;
    seen->nepisode_last += episode && last;
    seen->last += last ? got : 0.0;

    // the run has caught up where the sum becomes 0 or more and stays so
    r->ahead += got - r->runner->opt.today;
    if (r->ahead < 0.0)
        seen->caught_up = 0;
    else if (seen->caught_up == 0 && r->ahead >= 0.0) // false where today is unknown
        seen->caught_up = r->step;
}

// After a step of the run itself.
static void look(running *r, double reward, bool terminal, bool ended)
{
    const rh_eval_options *opt = &r->runner->opt;
    bool continuing = r->runner->task->continuing;
    bool fails = opt->fails && opt->fails(opt->rule, r->obs, reward, terminal);
    if (continuing)
        count(r, fails && !r->failed, false, reward);
    r->failed = fails || (r->failed && !continuing);
    if (ended) {
        r->seen.nended += terminal && !continuing;
        count(r, r->failed, true, r->tally.episode);
        r->failed = false;
    }
}

// Count the limits that a step exceeds, and add to the further scores.
static void measure(running *r, double reward, bool ended)
{
    const rh_eval_options *opt = &r->runner->opt;
    double also[RH_MAX_ALSO];
    rh_done_step step = {.act = r->act, .next = r->obs, .reward = reward};
    unsigned exceeded = opt->measure(opt->limits, &step, also);
    r->exceeded |= exceeded;
    for (int i = 0; i < opt->nlimit; i++) {
        bool steps = opt->counted[i] == RH_COUNT_STEPS;
        bool counts = steps || (ended && opt->counted[i] == RH_COUNT_EPISODES);
        r->seen.over[i] += counts && ((steps ? exceeded : r->exceeded) >> i & 1);
    }
    for (int k = 0; k < opt->nalso; k++)
        r->seen.also[k] += also[k];
    if (ended)
        r->exceeded = 0;
}

// One step of environment and agent, in a phase of nstep steps.
static rh_outcome one_step(running *r, int64_t nstep)
{
    const rh_task *task = r->runner->task;
    const rh_eval_options *opt = &r->runner->opt;
    double reward;
    bool terminal = rh_env_step(r->env, r->state, r->act, &r->streams, r->obs, &reward);
    if ((!r->finite && !rh_base__all_finite(r->obs, task->nobs)) || !isfinite(reward))
        return RH_ENV_NONFINITE;
    if (r->counts)
        r->nuncovered += rh_contract__env_uncovered(r->env, r->state);
    rh_tally__reward(&r->tally, reward);
    r->step++;

    if (task->continuing) {
        // segments stand for the episodes of median and worst
        int64_t n = RH_EVAL__NSEGMENT;
        bool needed = opt->criterion == RH_MEDIAN || opt->criterion == RH_WORST;
        if (needed && r->step * n / nstep > (r->step - 1) * n / nstep)
            rh_tally__end_episode(&r->tally);
    }

    bool cut = !terminal && !task->continuing && r->tally.length >= opt->cutoff;
    if (r->looks)
        look(r, reward, terminal, terminal || cut);
    if (r->looks && opt->measure)
        measure(r, reward, terminal || cut);
    bool healthy;
    if (terminal || (cut && opt->cutoff_rule == RH_TERMINATE)) {
        healthy = rh_agent_end(r->agent, reward);
    } else {
        look_up(r);
        healthy = (cut ? rh_agent_truncate : rh_agent_step)(r->agent, reward, r->obs,
                                                            &r->agent_rng, r->act);
    }
    if (terminal || cut) {
        rh_tally__end_episode(&r->tally);
        healthy = begin_episode(r) && healthy;
    }
    return healthy ? RH_FINISHED : RH_DIVERGED;
}

// Send an event to the caller, one at a time.
static void tell(const running *r, rh_event event)
{
    const rh_eval_options *opt = &r->runner->opt;
    if (!opt->watch)
        return;
    event.setting = r->job->setting;
    event.member = r->job->member;
    event.run = (int)r->job->run;
#pragma omp critical(rh_eval_watch)
    opt->watch(opt->context, &event);
}

// Record the points of the learning curve that end with this step.
static void draw_curve(running *r)
{
    const rh_eval_options *opt = &r->runner->opt;
    for (; (r->point + 1) * opt->nstep <= r->step * opt->ncurve; r->point++) {
        double value = rh_tally__point(&r->tally, r->runner->task->continuing);
        if (r->job->curve)
            r->job->curve[r->point] = value;
        tell(r, (rh_event){.kind = RH_EVENT_POINT, .point = r->point, .value = value});
    }
}

// The outcome with its reason, where there is one.
static rh_outcome explain(running *r, rh_outcome outcome)
{
    if (outcome != RH_DIVERGED && outcome != RH_ENV_NONFINITE)
        return outcome;
    const char *reason = outcome == RH_DIVERGED ? rh_contract__agent_reason(r->agent) : NULL;
    if (!reason) // the agent may have met its numbers first
        reason = rh_contract__env_reason(r->env, r->state);
    if (!reason)
        return outcome;
    rh_text__printable(reason, r->reason, sizeof r->reason);
    return RH_FAILED;
}

// Show the caller the step that is about to be done.
static void show(const running *r)
{
    const rh_eval_options *opt = &r->runner->opt;
    opt->visit(opt->context, &(rh_visit){.setting = r->job->setting,
                                         .member = r->job->member,
                                         .run = (int)r->job->run,
                                         .step = r->step,
                                         .obs = r->obs,
                                         .act = r->act});
}

// Do nstep steps from a new start. run: those of the run itself, which are shown, and drawn in
// its learning curve.
static rh_outcome do_steps(running *r, int64_t nstep, bool run)
{
    bool draw = run && r->runner->opt.ncurve > 0, shown = run && r->runner->opt.visit;
    rh_tally__begin(&r->tally, r->returns);
    r->step = 0;
    r->looks = run;
    rh_outcome outcome = begin_episode(r) ? RH_FINISHED : RH_DIVERGED;
    while (outcome == RH_FINISHED && r->step < nstep) {
        if (shown)
            show(r);
        outcome = one_step(r, nstep);
        if (draw)
            draw_curve(r);
        if (r->step % STOP_EVERY == 0 && rh_runner__stopped(r->runner))
            outcome = RH_STOPPED;
    }
    return explain(r, outcome);
}

static void set_streams(running *r, rh_stream start, rh_stream noise, rh_stream agent)
{
    const rh_eval_options *opt = &r->runner->opt;
    uint64_t run = opt->first_run + r->job->run;
    uint64_t replicate = opt->replicate + (uint64_t)r->job->member;
    r->streams.start = rh_rng_stream(opt->seed, start, replicate, run);
    r->streams.noise = rh_rng_stream(opt->seed, noise, replicate, run);
    r->agent_rng = rh_rng_stream(opt->seed, agent, replicate, run);
}

static int64_t final_steps(const rh_eval_options *opt)
{
    return (int64_t)ceil((double)opt->nstep * opt->final_share);
}

// A lower bound of the score: every step with the lowest reward, all in one episode, or each an
// episode of its own where rewards are positive.
static double lowest_score(const rh_runner *runner)
{
    const rh_eval_options *opt = &runner->opt;
    double lo = runner->task->reward_lo;
    int64_t nstep = opt->nstep;
    if (opt->criterion == RH_FINAL && final_steps(opt) > nstep)
        nstep = final_steps(opt);
    return fmin(lo, lo * (double)nstep);
}

// The counts of limits that are known without looking at steps, and the further scores.
static void finish_limits(const running *r, rh_result *result)
{
    const rh_eval_options *opt = &r->runner->opt;
    bool unfinished = r->tally.length > 0 || result->nepisode == 0;
    double nepisode = (double)(result->nepisode + unfinished);
    for (int i = 0; i < opt->nlimit; i++)
        if (opt->counted[i] == RH_COUNT_FAILURES || opt->counted[i] == RH_COUNT_ENDS)
            result->over[i] =
                opt->counted[i] == RH_COUNT_ENDS ? result->nended : result->nfailure;
    for (int k = 0; k < opt->nalso; k++) {
        bool sound = result->outcome == RH_FINISHED && isfinite(result->also[k]);
        result->also[k] = sound ? result->also[k] / nepisode : (double)NAN;
    }
}

// The whole run of a new agent.
static rh_result whole_run(running *r)
{
    const rh_eval_options *opt = &r->runner->opt;
    set_streams(r, RH_STREAM_START, RH_STREAM_NOISE, RH_STREAM_AGENT);
    rh_outcome outcome = do_steps(r, opt->nstep, true);

    rh_result result = r->seen;
    result.outcome = outcome;
    result.total = r->tally.total;
    result.nstep = r->step;
    result.nepisode = r->runner->task->continuing ? 0 : r->tally.nepisode;
    result.nuncovered = r->nuncovered;
    if (r->runner->task->continuing)
        result.last *= (double)opt->nstep / (double)((opt->nstep + 9) / 10);
    else
        result.last = result.nepisode_last ? result.last / (double)result.nepisode_last : NAN;
    finish_limits(r, &result);
    if (outcome == RH_FINISHED && opt->criterion == RH_FINAL) {
        rh_agent_freeze(r->agent, true);
        set_streams(r, RH_STREAM_FINAL_START, RH_STREAM_FINAL_NOISE, RH_STREAM_FINAL_AGENT);
        result.outcome = do_steps(r, final_steps(opt), false);
    }
    result.score = NAN;
    if (result.outcome == RH_FINISHED)
        result.score = rh_tally__score(&r->tally, opt->criterion);
    if (result.outcome == RH_FINISHED && !isfinite(result.score))
        result.outcome = RH_ENV_NONFINITE;
    if (result.outcome != RH_FINISHED && result.outcome != RH_STOPPED)
        result.score = lowest_score(r->runner);
    return result;
}

rh_status rh_run__run(rh_runner *runner, int worker, const rh_eval__job *job, rh_result *result,
                      rh_error *err)
{
    *result = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    for (int p = 0; job->curve && p < runner->opt.ncurve; p++)
        job->curve[p] = NAN;
    if (rh_runner__stopped(runner))
        return RH_OK;

    rh_eval__worker *w = &runner->worker[worker];
    rh_status rc = rh_runner__new_agent(runner, w, job->hp, err);
    if (rc)
        return rc;
    running r = {.runner = runner,
                 .job = job,
                 .env = runner->env[job->member],
                 .agent = w->agent,
                 .state = w->state,
                 .returns = w->returns,
                 .cached = job->cache != NULL,
                 .finite = rh_feature_caches__finite(&runner->caches, job->member)};
    r.counts = rh_contract__env_type(r.env)->uncovered != NULL;
    rh_contract__agent_use_cache(r.agent, job->cache);
    *result = whole_run(&r);
    rh_contract__agent_use_cache(r.agent, NULL); // the caller may use the agent elsewhere
    const char *reason = result->outcome == RH_FAILED ? r.reason : NULL;
    tell(&r, (rh_event){
                 .kind = RH_EVENT_RUN, .result = result, .agent = r.agent, .reason = reason});
    return reason ? rh_fail(err, RH_OK, "%s", reason) : RH_OK;
}
