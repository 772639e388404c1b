// practice.c - an agent is trained in a model of the log, and its steps there are what agents
// begin with (start=model).
//
// Where a model of the log is good, an agent can become better than the logged controller
// before its first step on the plant. What it learned is handed on as rows of steps
// (rh_prior.npractice): any agent can imitate and evaluate them as it would logged ones,
// whatever its network and hyperparameters are.
//
// 1. In a rehearsal the practice model is fitted to the part of the log that agents have, and
//    the rehearsal runs in models of the other part. So an error of the practice model that
//    agents learned to use does not pay there. On the plant practice is in a model of the log.
// 2. The first agent of the plan that can begin with a clone practises, with the plan's values
//    of its hyperparameters. It begins with a clone of the logged controller, whose hold on it
//    has faded after FADE of the practice.
// 3. EXPERTS of them practise, then act without learning. The best of these hands its steps on:
//    as many as the log has, at most MOST and at least LEAST.
// 4. The practice model has MEMBERS members, each fitted to episodes drawn from its log with
//    replacement, and each episode of practice is in another one. A task that goes on is cut
//    into STRETCHES for that.
// 5. Practice uses random streams of its own and stays on rank 0. Its rows are kept with the
//    study's model, so a resumed study does not practise again for its rehearsals.

#include "base/base.h"
#include "base/base_internal.h"
#include "core.h"
#include "model/model.h"
#include "study.h"

#include <math.h>
#include <string.h>

#define EXPERTS 2    // decision 3; by hand: one per core of a small machine
#define MOST 10000   // decision 3: rows; by hand, a clone learns from so many in half a second
#define LEAST 1000   // decision 3; by hand
#define FADE 0.3     // decision 2; by hand
#define STRETCHES 10 // decision 4; by hand

typedef struct practice {
    rh_study *study;
    rh_task task;             // episodic
    rh_state *state[EXPERTS]; // owned: the agents after practice; NULL: diverged
    double score[EXPERTS];    // of each, without learning
    double hp[RH_STUDY__NHP];
    const rh_agent_type *agent;
    bool full; // there was no memory for a state
} practice;

// ---------------------------------------------------------------------------- training

static void set_agent(practice *p, const rh_plan *plan)
{
    int a = rh_plan__practising(plan), fade;
    p->agent = plan->agents.type[a];
    memcpy(p->hp, rh_plan__own(plan, a), (size_t)p->agent->nparam * sizeof *p->hp);
    p->hp[rh_plan__start_param(p->agent)] = RH_START_CLONED;
    fade = rh_param_find(p->agent->param, p->agent->nparam, "fade");
    if (fade >= 0)
        p->hp[fade] = fmin(p->hp[fade], FADE);
}

static void keep(void *context, const rh_event *event)
{
    practice *p = context;
    if (event->kind != RH_EVENT_RUN || event->result->outcome != RH_FINISHED)
        return;
    rh_status rc = rh_agent_save(event->agent, &p->state[event->run], NULL);
    p->full = p->full || rc == RH_ENOMEM;
    p->score[event->run] = event->result->score;
}

static bool is_stopped(void *context)
{
    const rh_study_options *opt = &((const practice *)context)->study->opt;
    return opt->stop && opt->stop(opt->context);
}

// Rows to hand on for a log of n.
static int64_t nrow(int64_t n)
{
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static rh_status train(practice *p, rh_env *env, const rh_model *model, rh_error *err)
{
    const rh_study *study = p->study;
    rh_eval_options how;
    rh_result result[EXPERTS];
    rh_status rc =
        rh_plan__eval(study->plan, rh_model_task(model), rh_model_log(model), &how, err);
    if (rc)
        return rc;
    how.nstep = study->plan->practice;
    how.nrun = EXPERTS;
    how.replicate = RH_STUDY__PRACTICE;
    how.nthread = study->opt.nthread;
    how.ncurve = 0;
    how.criterion = RH_FINAL;
    how.final_share = (double)nrow(p->task.prior.n) / (double)how.nstep;
    how.watch = keep;
    how.stop = is_stopped;
    how.context = p;
    if (rh_model_task(model)->continuing)
        how.cutoff = how.nstep / STRETCHES + 1;
    rc = rh_eval_runs(&env, 1, p->agent, &p->task, 1, p->hp, &how, result, NULL, err);
    if (!rc && is_stopped(p))
        rc = rh_fail(err, RH_ESTOPPED, "study: stopped");
    return !rc && p->full ? rh_base__no_memory(err, "study") : rc;
}

// ---------------------------------------------------------------------------- rows

// n steps of a frozen agent, as rows.
static bool roll_out(rh_agent *agent, const rh_env *env, void *state, const rh_task *task,
                     int64_t cutoff, uint64_t seed, int64_t n, double *row)
{
    size_t nobs = (size_t)task->nobs, nact = (size_t)task->nact;
    int64_t width = rh_contract__prior_width(task->nobs, task->nact), age = 0;
    rh_streams streams = {rh_rng_stream(seed, RH_STREAM_START, RH_STUDY__PRACTICE, EXPERTS),
                          rh_rng_stream(seed, RH_STREAM_NOISE, RH_STUDY__PRACTICE, EXPERTS)};
    rh_rng own = rh_rng_stream(seed, RH_STREAM_AGENT, RH_STUDY__PRACTICE, EXPERTS);
    double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward;
    bool healthy = true;
    for (int64_t i = 0; i < n && healthy; i++, row += width) {
        if (age == 0) {
            rh_env_start(env, state, &streams, obs);
            healthy = rh_agent_start(agent, obs, &own, act);
        }
        memcpy(row, obs, nobs * sizeof *row);
        memcpy(row + nobs, act, nact * sizeof *row);
        bool ends = rh_env_step(env, state, act, &streams, obs, &reward);
        bool cut = !ends && (age + 1 == cutoff || i + 1 == n);
        row[nobs + nact] = reward;
        memcpy(row + nobs + nact + 1, obs, nobs * sizeof *row);
        row[width - 1] = ends ? 1.0 : cut ? 2.0 : 0.0;
        age = ends || cut ? 0 : age + 1;
        if (age > 0)
            healthy = healthy && rh_agent_step(agent, reward, obs, &own, act);
        healthy = healthy && rh_base__all_finite(row, (int)width);
    }
    return healthy;
}

// Hand the steps of the best agent on: put them behind the rows of the prior.
static rh_status hand_on(practice *p, const rh_env *env, const rh_model *model, rh_prior *prior,
                         rh_error *err)
{
    const rh_task *task = &p->task;
    size_t width = (size_t)rh_contract__prior_width(task->nobs, task->nact);
    int64_t n = nrow(prior->n);
    int best = -1;
    for (int i = 0; i < EXPERTS; i++)
        if (p->state[i] && (best < 0 || p->score[i] > p->score[best]))
            best = i;
    if (best < 0) // agents begin with the log instead
        return RH_OK;
    rh_agent *agent = NULL;
    rh_eval_options how;
    rh_status rc = rh_plan__eval(p->study->plan, task, rh_model_log(model), &how, err);
    if (!rc)
        rc = rh_agent_create(&agent, p->agent, task, p->hp, err);
    if (!rc)
        rc = rh_agent_load(agent, p->state[best], err);
    void *state = rh_alloc(rh_env_state_size(env), 1);
    double *row = rh_alloc((size_t)(prior->n + n) * width, sizeof *row);
    if (!rc && (!state || !row))
        rc = rh_base__no_memory(err, "study");
    if (!rc) {
        double *behind = row + (size_t)prior->n * width;
        rh_agent_freeze(agent, true);
        memcpy(row, prior->row, (size_t)prior->n * width * sizeof *row);
        if (roll_out(agent, env, state, task,
                     rh_model_task(model)->continuing ? INT64_MAX : how.cutoff, how.seed, n,
                     behind)) {
            rh_free((void *)(uintptr_t)prior->row);
            *prior = (rh_prior){prior->n, row, n};
            row = NULL;
        }
    }
    rh_free(row);
    rh_free(state);
    rh_agent_destroy(agent);
    return rc;
}

rh_status rh_study__practise(rh_study *study, const rh_model *model, rh_prior *prior,
                             rh_error *err)
{
    rh_env *env = NULL;
    practice p = {.study = study};
    rh_status rc = rh_model__mixed_env(&env, model, err);
    if (rc)
        return rc;
    set_agent(&p, study->plan);
    p.task = *rh_env_task(env);
    p.task.continuing = false;
    rc = train(&p, env, model, err);
    if (!rc)
        rc = hand_on(&p, env, model, prior, err);
    for (int i = 0; i < EXPERTS; i++)
        rh_state_destroy(p.state[i]);
    rh_env_destroy(env);
    return rc;
}
