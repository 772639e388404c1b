// lives.c - agents live in an environment, on as many threads as are given.
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

#include "eval_internal.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#endif

#define COOKIE 0x6c697665u
#define STOP_EVERY 256 // steps between two looks at the caller's stop

static const char *const criterion_name[] = {
    [RH_AVERAGE] = "average", [RH_COMPLETED] = "completed", [RH_MEDIAN] = "median",
    [RH_WORST] = "worst",     [RH_FINAL] = "final",
};

// What one thread needs for a life, given out before the loop.
typedef struct worker {
    rh_agent *agent; // owned, for one life after the other; NULL before the first
    void *state;     // owned, of the environment
    double *returns; // owned, where the median is asked for  (nstep)
} worker;

// Everything the lives share. Read only, but for the flags.
typedef struct batch {
    rh_env *const *env; // only read (nmember)
    int nmember;
    const rh_agent_type *agent;
    const rh_task *task;
    const double *hp; // (nsetting x nparam)
    const rh_eval_options *opt;
    rh_life *life;       // (nsetting x nmember x nrun)
    double *curve;       // (nsetting x nmember x nrun x ncurve), or NULL
    worker *worker;      // owned  (nthread)
    rh_albums albums;    // what agents see in scenes
    atomic_bool stopped; // the caller said stop, or a life could not be begun
    rh_status failed;    // why it could not; written under the lock
    rh_error error;
} batch;

// One life, while it is lived.
typedef struct living {
    batch *b;
    const rh_env *env;
    int job, setting, member, run;
    rh_agent *agent;
    void *state; // of the environment
    double *returns;
    bool told;   // the agent is told which scene it looks at
    bool finite; // so is all that the environment shows
    rh_luck luck;
    rh_rng chance; // the agent's
    double obs[RH_MAX_OBS];
    double act[RH_MAX_ACT];
    rh_tally tally;
    int64_t step;
    int point; // next of the learning curve
} living;

rh_eval_options rh_eval_defaults(const rh_task *task)
{
    return (rh_eval_options){
        .nstep = task->nstep,
        .nrun = 30,
        .seed = 1,
        .nthread = 1,
        .criterion = RH_AVERAGE,
        .cutoff = INT64_MAX,
        .cutoff_rule = RH_TELEPORT,
        .final_share = 0.1,
        .ncurve = 0,
        .cookie = COOKIE,
    };
}

const char *rh_outcome_name(rh_outcome outcome)
{
    switch (outcome) {
    case RH_LIVED:
        return "lived";
    case RH_DIVERGED:
        return "diverged";
    case RH_ENV_NONFINITE:
        return "environment not finite";
    case RH_STOPPED:
        return "stopped";
    }
    return "unknown";
}

const char *const *rh_criterion_names(int *n)
{
    *n = sizeof criterion_name / sizeof *criterion_name;
    return criterion_name;
}

static rh_status check(const rh_eval_options *o, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "eval: options must start from rh_eval_defaults()");
    if (o->nstep < 1)
        return rh_fail(err, RH_EINVAL, "eval: steps = %lld, expected 1 or more",
                       (long long)o->nstep);
    if (o->nrun < 1)
        return rh_fail(err, RH_EINVAL, "eval: runs = %d, expected 1 or more", o->nrun);
    if (o->nthread < 1)
        return rh_fail(err, RH_EINVAL, "eval: threads = %d, expected 1 or more", o->nthread);
    if (o->cutoff < 1)
        return rh_fail(err, RH_EINVAL, "eval: cut-off = %lld, expected 1 or more",
                       (long long)o->cutoff);
    if (!(o->final_share > 0.0 && o->final_share <= 1000.0))
        return rh_fail(err, RH_EINVAL, "eval: final share = %g, expected above 0, to 1000",
                       o->final_share);
    if (o->ncurve < 0 || o->ncurve > o->nstep)
        return rh_fail(err, RH_EINVAL, "eval: curve points = %d, expected 0 to the %lld steps",
                       o->ncurve, (long long)o->nstep);
    return RH_OK;
}

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
    const batch *b = l->b;
    double reward;
    bool terminal = rh_env_step(l->env, l->state, l->act, &l->luck, l->obs, &reward);
    if ((!l->finite && !rh_all_finite(l->obs, b->task->nobs)) || !isfinite(reward))
        return RH_ENV_NONFINITE;
    rh_tally__reward(&l->tally, reward);
    l->step++;

    if (b->task->continuing) {
        // stretches stand for the episodes that median and worst ask for
        int64_t n = RH_EVAL__NSTRETCH;
        bool asked = b->opt->criterion == RH_MEDIAN || b->opt->criterion == RH_WORST;
        if (asked && l->step * n / nstep > (l->step - 1) * n / nstep)
            rh_tally__end_episode(&l->tally);
    }

    bool cut = !terminal && !b->task->continuing && l->tally.length >= b->opt->cutoff;
    bool healthy;
    if (terminal || (cut && b->opt->cutoff_rule == RH_TERMINAL)) {
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

static bool asked_to_stop(batch *b)
{
    if (b->opt->stop && !atomic_load(&b->stopped) && b->opt->stop(b->opt->context))
        atomic_store(&b->stopped, true);
    return atomic_load(&b->stopped);
}

// Tell the caller, one call at a time.
static void tell(const living *l, rh_event event)
{
    const rh_eval_options *opt = l->b->opt;
    if (!opt->watch)
        return;
    event.setting = l->setting;
    event.member = l->member;
    event.run = l->run;
#pragma omp critical(rh_eval_watch)
    opt->watch(opt->context, &event);
}

// The learning curve's points that end with the step just made.
static void draw_curve(living *l)
{
    const rh_eval_options *opt = l->b->opt;
    for (; (l->point + 1) * opt->nstep <= l->step * opt->ncurve; l->point++) {
        double value = rh_tally__point(&l->tally, l->b->task->continuing);
        if (l->b->curve)
            l->b->curve[(size_t)l->job * (size_t)opt->ncurve + (size_t)l->point] = value;
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
        if (l->step % STOP_EVERY == 0 && asked_to_stop(l->b))
            outcome = RH_STOPPED;
    }
    return outcome;
}

static void set_luck(living *l, rh_stream start, rh_stream noise, rh_stream agent)
{
    const rh_eval_options *opt = l->b->opt;
    uint64_t run = opt->first_run + (uint64_t)l->run;
    uint64_t replicate = opt->replicate + (uint64_t)l->member;
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
static double lowest_score(const batch *b)
{
    double lo = b->task->reward_lo;
    int64_t nstep = b->opt->nstep;
    if (b->opt->criterion == RH_FINAL && final_steps(b->opt) > nstep)
        nstep = final_steps(b->opt);
    return fmin(lo, lo * (double)nstep);
}

// The whole life of an agent just born.
static rh_life live(living *l)
{
    const rh_eval_options *opt = l->b->opt;
    set_luck(l, RH_STREAM_START, RH_STREAM_NOISE, RH_STREAM_AGENT);
    rh_outcome outcome = go_through(l, opt->nstep, opt->ncurve > 0);

    rh_life life = {.outcome = outcome, .total = l->tally.total, .nstep = l->step};
    life.nepisode = l->b->task->continuing ? 0 : l->tally.nepisode;
    if (outcome == RH_LIVED && opt->criterion == RH_FINAL) {
        rh_agent_freeze(l->agent, true);
        set_luck(l, RH_STREAM_FINAL_START, RH_STREAM_FINAL_NOISE, RH_STREAM_FINAL_AGENT);
        life.outcome = go_through(l, final_steps(opt), false);
    }
    if (life.outcome == RH_LIVED)
        life.score = rh_tally__score(&l->tally, opt->criterion);
    else if (life.outcome == RH_STOPPED)
        life.score = NAN;
    else
        life.score = lowest_score(l->b);
    return life;
}

// The worker's agent at the beginning of a life.
static rh_status give_birth(const batch *b, worker *w, int setting, rh_error *err)
{
    const double *hp = b->hp + (size_t)setting * (size_t)b->agent->nparam;
    rh_status rc = w->agent ? rh_agent_reset(w->agent, b->task, hp, err)
                            : rh_agent_create(&w->agent, b->agent, b->task, hp, err);
    if (!rc && b->opt->born)
        rc = rh_agent_load(w->agent, b->opt->born, err);
    if (!rc)
        rh_agent_freeze(w->agent, b->opt->frozen);
    return rc;
}

// One unit of work.
static void do_job(batch *b, int job)
{
    const rh_eval_options *opt = b->opt;
    rh_life *life = &b->life[job];
    *life = (rh_life){.score = NAN, .outcome = RH_STOPPED};
    if (b->curve)
        for (int p = 0; p < opt->ncurve; p++)
            b->curve[(size_t)job * (size_t)opt->ncurve + (size_t)p] = NAN;
    if (asked_to_stop(b))
        return;

    worker *w = &b->worker[omp_get_thread_num()];
    living l = {.b = b,
                .job = job,
                .setting = job / opt->nrun / b->nmember,
                .member = job / opt->nrun % b->nmember,
                .run = job % opt->nrun,
                .state = w->state,
                .returns = w->returns};
    l.env = b->env[l.member];
    rh_error err;
    rh_status rc = give_birth(b, w, l.setting, &err);
    if (rc) {
#pragma omp critical(rh_eval_failed)
        {
            b->failed = rc;
            b->error = err;
        }
        atomic_store(&b->stopped, true);
        return;
    }
    l.agent = w->agent;
    const rh_album *album = rh_albums__of(&b->albums, l.setting, l.member);
    l.told = album != NULL;
    l.finite = rh_albums__finite(&b->albums, l.member);
    rh_agent_use(l.agent, album);
    *life = live(&l);
    rh_agent_use(l.agent, NULL); // the caller may go on with it elsewhere
    tell(&l, (rh_event){.kind = RH_EVENT_LIFE, .life = life, .agent = l.agent});
}

static void dismiss(worker *w, int n)
{
    for (int i = 0; w && i < n; i++) {
        rh_agent_destroy(w[i].agent);
        rh_free(w[i].state);
        rh_free(w[i].returns);
    }
    rh_free(w);
}

static rh_status hire(batch *b, int nthread, rh_error *err)
{
    size_t nreturn = b->opt->criterion == RH_MEDIAN ? (size_t)b->opt->nstep : 0;
    worker *w = rh_alloc((size_t)nthread, sizeof *w);
    bool all = w;
    size_t size = 0;
    for (int m = 0; m < b->nmember; m++)
        size = rh_env_state_size(b->env[m]) > size ? rh_env_state_size(b->env[m]) : size;
    for (int i = 0; all && i < nthread; i++) {
        w[i].state = rh_alloc(1, size);
        w[i].returns = nreturn ? rh_alloc(nreturn, sizeof(double)) : NULL;
        all = w[i].state && (w[i].returns || !nreturn);
    }
    if (!all) {
        dismiss(w, nthread);
        rh_fail(err, RH_ENOMEM, "eval: out of memory for %d threads%s", nthread,
                nreturn ? " that keep every return for the median" : "");
        return RH_ENOMEM;
    }
    b->worker = w;
    return RH_OK;
}

// What is wrong with any setting is said before the first life: values out of range, and every
// way of building an agent is tried once.
static rh_status prepare(batch *b, int nsetting, rh_error *err)
{
    const rh_agent_type *type = b->agent;
    for (int s = 0; s < nsetting; s++) {
        const double *hp = b->hp + (size_t)s * (size_t)type->nparam;
        rh_status rc = rh_param_check(type->param, type->nparam, type->name, hp, err);
        if (rc)
            return rc;
    }
    rh_status rc =
        rh_albums__sort(&b->albums, b->env, b->nmember, type, b->task, nsetting, b->hp, err);
    for (int i = 0; !rc && i < b->albums.nbuild; i++)
        rc = give_birth(b, &b->worker[0], b->albums.first[i], err);
    return rc ? rc : rh_albums__fill(&b->albums, type, b->task, b->hp, err);
}

rh_status rh_eval_lives(rh_env *const *env, int nmember, const rh_agent_type *agent,
                        const rh_task *task, int nsetting, const double *hp,
                        const rh_eval_options *opt, rh_life *life, double *curve, rh_error *err)
{
    rh_eval_options defaults = rh_eval_defaults(task);
    batch b = {.env = env, .nmember = nmember, .agent = agent, .task = task, .hp = hp};
    b.opt = opt ? opt : &defaults;
    b.life = life;
    b.curve = curve;
    rh_status rc = check(b.opt, err);
    if (rc)
        return rc;

    if (nmember < 1 || nmember > RH_MAX_MEMBER)
        return rh_fail(err, RH_EINVAL, "eval: %d members, expected 1 to %d", nmember,
                       RH_MAX_MEMBER);
    if (nsetting < 1 || nsetting > INT_MAX / b.opt->nrun / nmember)
        return rh_fail(err, RH_EINVAL,
                       "eval: %d settings of %d lives in %d members, expected 1 to %d in all",
                       nsetting, b.opt->nrun, nmember, INT_MAX);

    int njob = nsetting * nmember * b.opt->nrun;
    int nthread = b.opt->nthread < njob ? b.opt->nthread : njob;
    rc = hire(&b, nthread, err);
    if (rc)
        return rc;
    rc = prepare(&b, nsetting, err);
    if (rc)
        goto done;

#pragma omp parallel for schedule(dynamic) num_threads(nthread)
    for (int job = 0; job < njob; job++)
        do_job(&b, job);

    rc = b.failed;
    if (rc && err)
        *err = b.error;

done:
    rh_albums__clear(&b.albums);
    dismiss(b.worker, nthread);
    return rc;
}
