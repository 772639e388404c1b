// run.c - one run: an agent learns in an environment from its first step to its last.
//
// After the paper's algorithm AgentPerfInEnv, with the cut-off as an option.
//
// 1. The streams of a run are named by replicate and run and by nothing else. Settings are
//    therefore compared in pairs, a run gives the same score in `run` and in a sweep of a
//    thousand settings, and threads cannot matter.
// 2. At a cut-off the learner makes an ordinary step to the state it reached and is then put
//    elsewhere: the state was no end, and learning that it was one would be learning a
//    falsehood. The paper's code teaches it so; RH_TERMINATE does the same.
// 3. A run that breaks down scores as if every step of it had brought the lowest reward, so
//    that no run that was run is worse, and it still is a number where the task knows its
//    lowest reward.
// 4. In a continuing task the cut-off does nothing.
// 5. Where all that an environment shows is known beforehand, agents that can make use of it
//    are told which of it they see (feature_caches.c). Nothing else in a run is different.
// 6. Steps into the unknown are counted while the agent learns, not while it is judged.
// 7. Rewards that are finite may have a sum that is not: then the environment is to blame.

#include "eval_internal.h"

#include <math.h>

#define STOP_EVERY 256 // steps between two looks at the caller's stop

// One run, while it is run.
typedef struct living {
    rh_runner *runner;
    const rh_eval__job *job;
    const rh_env *env;
    rh_agent *agent;
    void *state; // of the environment
    double *returns;
    bool told;   // the agent is told which fixed observation it looks at
    bool finite; // so is all that the environment shows
    bool doubts; // the environment can be asked whether it knows what it does
    rh_streams streams;
    rh_rng chance; // the agent's
    double obs[RH_MAX_OBS];
    double act[RH_MAX_ACT];
    rh_tally tally;
    int64_t step;
    int64_t nuncovered; // of these, into the unknown
    int point;          // next of the learning curve
} living;

// Tell the agent what it is about to see.
static void show(living *l)
{
    if (l->told)
        rh_agent_look_up(l->agent, rh_env_obs_index(l->env, l->state));
}

static bool begin_episode(living *l)
{
    rh_env_start(l->env, l->state, &l->streams, l->obs);
    show(l);
    return rh_agent_start(l->agent, l->obs, &l->chance, l->act);
}

// One step of environment and agent, the last of nstep being the end of the run.
static rh_outcome one_step(living *l, int64_t nstep)
{
    const rh_task *task = l->runner->task;
    const rh_eval_options *opt = &l->runner->opt;
    double reward;
    bool terminal = rh_env_step(l->env, l->state, l->act, &l->streams, l->obs, &reward);
    if ((!l->finite && !rh_all_finite(l->obs, task->nobs)) || !isfinite(reward))
        return RH_ENV_NONFINITE;
    if (l->doubts)
        l->nuncovered += rh_env_uncovered(l->env, l->state);
    rh_tally__reward(&l->tally, reward);
    l->step++;

    if (task->continuing) {
        // stretches stand for the episodes that median and worst ask for
        int64_t n = RH_EVAL__NSTRETCH;
        bool asked = opt->criterion == RH_MEDIAN || opt->criterion == RH_WORST;
        if (asked && l->step * n / nstep > (l->step - 1) * n / nstep)
            rh_tally__end_episode(&l->tally);
    }

    bool cut = !terminal && !task->continuing && l->tally.length >= opt->cutoff;
    bool healthy;
    if (terminal || (cut && opt->cutoff_rule == RH_TERMINATE)) {
        healthy = rh_agent_end(l->agent, reward);
    } else {
        show(l);
        healthy = rh_agent_step(l->agent, reward, l->obs, &l->chance, l->act);
    }
    if (terminal || cut) {
        rh_tally__end_episode(&l->tally);
        healthy = begin_episode(l) && healthy;
    }
    return healthy ? RH_FINISHED : RH_DIVERGED;
}

// Tell the caller, one call at a time.
static void tell(const living *l, rh_event event)
{
    const rh_eval_options *opt = &l->runner->opt;
    if (!opt->watch)
        return;
    event.setting = l->job->setting;
    event.member = l->job->member;
    event.run = (int)l->job->run;
#pragma omp critical(rh_eval_watch)
    opt->watch(opt->context, &event);
}

// The learning curve's points that end with the step just made.
static void draw_curve(living *l)
{
    const rh_eval_options *opt = &l->runner->opt;
    for (; (l->point + 1) * opt->nstep <= l->step * opt->ncurve; l->point++) {
        double value = rh_tally__point(&l->tally, l->runner->task->continuing);
        if (l->job->curve)
            l->job->curve[l->point] = value;
        tell(l, (rh_event){.kind = RH_EVENT_POINT, .point = l->point, .value = value});
    }
}

// Live nstep steps from a fresh start. Points of the learning curve are drawn where asked for.
static rh_outcome go_through(living *l, int64_t nstep, bool draw)
{
    rh_tally__begin(&l->tally, l->returns);
    l->step = 0;
    rh_outcome outcome = begin_episode(l) ? RH_FINISHED : RH_DIVERGED;
    while (outcome == RH_FINISHED && l->step < nstep) {
        outcome = one_step(l, nstep);
        if (draw)
            draw_curve(l);
        if (l->step % STOP_EVERY == 0 && rh_runner__stopped(l->runner))
            outcome = RH_STOPPED;
    }
    return outcome;
}

static void set_streams(living *l, rh_stream start, rh_stream noise, rh_stream agent)
{
    const rh_eval_options *opt = &l->runner->opt;
    uint64_t run = opt->first_run + l->job->run;
    uint64_t replicate = opt->replicate + (uint64_t)l->job->member;
    l->streams.start = rh_rng_stream(opt->seed, start, replicate, run);
    l->streams.noise = rh_rng_stream(opt->seed, noise, replicate, run);
    l->chance = rh_rng_stream(opt->seed, agent, replicate, run);
}

static int64_t final_steps(const rh_eval_options *opt)
{
    return (int64_t)ceil((double)opt->nstep * opt->final_share);
}

// No run that is run scores less: every step with the lowest reward, and all of them one
// episode, or each its own where rewards are positive.
static double lowest_score(const rh_runner *runner)
{
    const rh_eval_options *opt = &runner->opt;
    double lo = runner->task->reward_lo;
    int64_t nstep = opt->nstep;
    if (opt->criterion == RH_FINAL && final_steps(opt) > nstep)
        nstep = final_steps(opt);
    return fmin(lo, lo * (double)nstep);
}

// The whole run of an agent just born.
static rh_result live(living *l)
{
    const rh_eval_options *opt = &l->runner->opt;
    set_streams(l, RH_STREAM_START, RH_STREAM_NOISE, RH_STREAM_AGENT);
    rh_outcome outcome = go_through(l, opt->nstep, opt->ncurve > 0);

    rh_result result = {.outcome = outcome, .total = l->tally.total, .nstep = l->step};
    result.nepisode = l->runner->task->continuing ? 0 : l->tally.nepisode;
    result.nuncovered = l->nuncovered;
    if (outcome == RH_FINISHED && opt->criterion == RH_FINAL) {
        rh_agent_freeze(l->agent, true);
        set_streams(l, RH_STREAM_FINAL_START, RH_STREAM_FINAL_NOISE, RH_STREAM_FINAL_AGENT);
        result.outcome = go_through(l, final_steps(opt), false);
    }
    result.score = NAN;
    if (result.outcome == RH_FINISHED)
        result.score = rh_tally__score(&l->tally, opt->criterion);
    if (result.outcome == RH_FINISHED && !isfinite(result.score))
        result.outcome = RH_ENV_NONFINITE;
    if (result.outcome == RH_DIVERGED || result.outcome == RH_ENV_NONFINITE)
        result.score = lowest_score(l->runner);
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
    rh_status rc = rh_runner__birth(runner, w, job->hp, err);
    if (rc)
        return rc;
    living l = {.runner = runner,
                .job = job,
                .env = runner->env[job->member],
                .agent = w->agent,
                .state = w->state,
                .returns = w->returns,
                .told = job->cache != NULL,
                .finite = rh_feature_caches__finite(&runner->caches, job->member)};
    l.doubts = rh_env_kind(l.env)->uncovered != NULL;
    rh_agent_use_cache(l.agent, job->cache);
    *result = live(&l);
    rh_agent_use_cache(l.agent, NULL); // the caller may go on with it elsewhere
    tell(&l, (rh_event){.kind = RH_EVENT_RUN, .result = result, .agent = l.agent});
    return RH_OK;
}
