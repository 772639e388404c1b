// life.c - one life: an agent learns in an environment from its first step to its last.
//
// After the paper's algorithm AgentPerfInEnv, with the cut-off as an option.
//
// 1. The streams of a life are named by replicate and run and by nothing else. Settings are
//    therefore compared in pairs, a life gives the same score in `run` and in a sweep of a
//    thousand settings, and threads cannot matter.
// 2. At a cut-off the learner makes an ordinary step to the state it reached and is then put
//    elsewhere: the state was no end, and learning that it was one would be learning a
//    falsehood. The paper's code teaches it so; RH_TERMINAL does the same.
// 3. A life that breaks down scores as if every step of it had brought the lowest reward, so
//    that no life that was lived is worse, and it still is a number where the task knows its
//    lowest reward.
// 4. In a continuing task the cut-off does nothing.
// 5. Where all that an environment shows is known beforehand, agents that can make use of it
//    are told which of it they see (albums.c). Nothing else in a life is different.
// 6. Steps into the unknown are counted while the agent learns, not while it is judged.
// 7. Rewards that are finite may have a sum that is not: then the environment is to blame.

#include "eval_internal.h"

#include <math.h>

#define STOP_EVERY 256 // steps between two looks at the caller's stop

// One life, while it is lived.
typedef struct living {
    rh_arena *arena;
    const rh_job *job;
    const rh_env *env;
    rh_agent *agent;
    void *state; // of the environment
    double *returns;
    bool told;   // the agent is told which scene it looks at
    bool finite; // so is all that the environment shows
    bool doubts; // the environment can be asked whether it knows what it does
    rh_luck luck;
    rh_rng chance; // the agent's
    double obs[RH_MAX_OBS];
    double act[RH_MAX_ACT];
    rh_tally tally;
    int64_t step;
    int64_t nunknown; // of these, into the unknown
    int point;        // next of the learning curve
} living;

// Tell the agent what it is about to see.
static void show(living *l)
{
    if (l->told)
        rh_agent_look(l->agent, rh_env_scene(l->env, l->state));
}

static bool begin_episode(living *l)
{
    rh_env_start(l->env, l->state, &l->luck, l->obs);
    show(l);
    return rh_agent_start(l->agent, l->obs, &l->chance, l->act);
}

// One step of environment and agent, the last of nstep being the end of the life.
static rh_outcome one_step(living *l, int64_t nstep)
{
    const rh_task *task = l->arena->task;
    const rh_eval_options *opt = &l->arena->opt;
    double reward;
    bool terminal = rh_env_step(l->env, l->state, l->act, &l->luck, l->obs, &reward);
    if ((!l->finite && !rh_all_finite(l->obs, task->nobs)) || !isfinite(reward))
        return RH_ENV_NONFINITE;
    if (l->doubts)
        l->nunknown += rh_env_unknown(l->env, l->state);
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
    if (terminal || (cut && opt->cutoff_rule == RH_TERMINAL)) {
        healthy = rh_agent_end(l->agent, reward);
    } else {
        show(l);
        healthy = rh_agent_step(l->agent, reward, l->obs, &l->chance, l->act);
    }
    if (terminal || cut) {
        rh_tally__end_episode(&l->tally);
        healthy = begin_episode(l) && healthy;
    }
    return healthy ? RH_LIVED : RH_DIVERGED;
}

// Tell the caller, one call at a time.
static void tell(const living *l, rh_event event)
{
    const rh_eval_options *opt = &l->arena->opt;
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
    const rh_eval_options *opt = &l->arena->opt;
    for (; (l->point + 1) * opt->nstep <= l->step * opt->ncurve; l->point++) {
        double value = rh_tally__point(&l->tally, l->arena->task->continuing);
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
    rh_outcome outcome = begin_episode(l) ? RH_LIVED : RH_DIVERGED;
    while (outcome == RH_LIVED && l->step < nstep) {
        outcome = one_step(l, nstep);
        if (draw)
            draw_curve(l);
        if (l->step % STOP_EVERY == 0 && rh_arena__stopped(l->arena))
            outcome = RH_STOPPED;
    }
    return outcome;
}

static void set_luck(living *l, rh_stream start, rh_stream noise, rh_stream agent)
{
    const rh_eval_options *opt = &l->arena->opt;
    uint64_t run = opt->first_run + l->job->run;
    uint64_t replicate = opt->replicate + (uint64_t)l->job->member;
    l->luck.start = rh_rng_stream(opt->seed, start, replicate, run);
    l->luck.noise = rh_rng_stream(opt->seed, noise, replicate, run);
    l->chance = rh_rng_stream(opt->seed, agent, replicate, run);
}

static int64_t final_steps(const rh_eval_options *opt)
{
    return (int64_t)ceil((double)opt->nstep * opt->final_share);
}

// No life that is lived scores less: every step with the lowest reward, and all of them one
// episode, or each its own where rewards are positive.
static double lowest_score(const rh_arena *arena)
{
    const rh_eval_options *opt = &arena->opt;
    double lo = arena->task->reward_lo;
    int64_t nstep = opt->nstep;
    if (opt->criterion == RH_FINAL && final_steps(opt) > nstep)
        nstep = final_steps(opt);
    return fmin(lo, lo * (double)nstep);
}

// The whole life of an agent just born.
static rh_life live(living *l)
{
    const rh_eval_options *opt = &l->arena->opt;
    set_luck(l, RH_STREAM_START, RH_STREAM_NOISE, RH_STREAM_AGENT);
    rh_outcome outcome = go_through(l, opt->nstep, opt->ncurve > 0);

    rh_life life = {.outcome = outcome, .total = l->tally.total, .nstep = l->step};
    life.nepisode = l->arena->task->continuing ? 0 : l->tally.nepisode;
    life.nunknown = l->nunknown;
    if (outcome == RH_LIVED && opt->criterion == RH_FINAL) {
        rh_agent_freeze(l->agent, true);
        set_luck(l, RH_STREAM_FINAL_START, RH_STREAM_FINAL_NOISE, RH_STREAM_FINAL_AGENT);
        life.outcome = go_through(l, final_steps(opt), false);
    }
    life.score = NAN;
    if (life.outcome == RH_LIVED)
        life.score = rh_tally__score(&l->tally, opt->criterion);
    if (life.outcome == RH_LIVED && !isfinite(life.score))
        life.outcome = RH_ENV_NONFINITE;
    if (life.outcome == RH_DIVERGED || life.outcome == RH_ENV_NONFINITE)
        life.score = lowest_score(l->arena);
    return life;
}

rh_status rh_life__live(rh_arena *arena, int worker, const rh_job *job, rh_life *life,
                        rh_error *err)
{
    *life = (rh_life){.score = NAN, .outcome = RH_STOPPED};
    for (int p = 0; job->curve && p < arena->opt.ncurve; p++)
        job->curve[p] = NAN;
    if (rh_arena__stopped(arena))
        return RH_OK;

    rh_worker *w = &arena->worker[worker];
    rh_status rc = rh_arena__birth(arena, w, job->hp, err);
    if (rc)
        return rc;
    living l = {.arena = arena,
                .job = job,
                .env = arena->env[job->member],
                .agent = w->agent,
                .state = w->state,
                .returns = w->returns,
                .told = job->album != NULL,
                .finite = rh_albums__finite(&arena->albums, job->member)};
    l.doubts = rh_env_kind(l.env)->unknown != NULL;
    rh_agent_use(l.agent, job->album);
    *life = live(&l);
    rh_agent_use(l.agent, NULL); // the caller may go on with it elsewhere
    tell(&l, (rh_event){.kind = RH_EVENT_LIFE, .life = life, .agent = l.agent});
    return RH_OK;
}
