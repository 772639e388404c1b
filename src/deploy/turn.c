// turn.c - who acts: shadow, advice, control and the fallback (blend.c: two of them).
//
// 1. In shadow and advice somebody else acts. The agent is shown every observation, learns from
//    the action that was really taken if it can, and replies what it would do. An advice that
//    was followed counts as the agent's own action.
// 2. The evidence for a step up: the share of steps in which the agent would have done the same
//    (continuous actions: within a twentieth of the range), the share of observations within
//    the log's range, and the predicted gain: the promised score minus what the controller
//    earns now. Its interval is the sum of both: that of the study, and 1.96 standard errors of
//    episodes, or of units of UNIT steps.
// 3. A step up goes from shadow to advice to control, one at a time; each begins to count anew.
//    It is made by itself only if the guard file says so, all its conditions hold, and there is
//    no alarm. A step down, by an alarm, goes to the fallback and stays there until a command:
//    alarms about the agent cannot end while it does not act. Those that are on when it is
//    ordered back do not count until they have ended; `diverged` ends by the command.
// 4. The fallback is shown every observation and every action, so that one with a memory (a
//    clone with a history) is ready at once. Where it cannot act (a missing sensor, a program
//    that has ended) the safe action is taken, or the last one held. A program that has ended
//    is started again after the reply. Where somebody else acts (fallback: none) and says what
//    the action is, the reply has this action; otherwise none.
// 5. A program that takes longer than `answer` seconds is late, and its action unknown; its
//    answer is dropped when it comes (plugin/exec.c). Without the key: the time between the
//    last two observations, at most LONGEST, or USUAL where they have no time.

#include "base/base.h"
#include "base/base_internal.h"
#include "deploy_internal.h"
#include "plugin/plugin.h"

#include <math.h>
#include <string.h>

#define NEAR 0.05        // decision 2, of the range; by hand, as in agent/clone.c
#define UNIT 100.0       // steps, decision 2; by hand
#define LEAST_UNITS 10.0 // for an interval; by hand
#define LONGEST 10.0     // seconds, decision 5: as any program (plugin/exec.c)
#define USUAL 1.0        // seconds, decision 5; by hand
#define NORMAL 1.96      // standard errors of a 95 % interval

// Alarms about the agent (decision 3).
#define ABOUT                                                                                  \
    (RH_ALARM_PROMISE | RH_ALARM_RANGE | RH_ALARM_DIVERGED | RH_ALARM_FAILURES |               \
     RH_ALARM_GUARD | RH_ALARM_WORSE | RH_ALARM_CHANGED | RH_ALARM_LIMIT)

// ---------------------------------------------------------------------------- opening

static rh_status make_backup(rh_deploy *d, rh_error *err)
{
    const rh_guard *g = &d->guard;
    const rh_agent_type *type = NULL;
    if (g->fallback == RH_FALLBACK_EXEC && !rh_plugin__exec_allowed())
        return rh_fail(err, RH_EINVAL,
                       "fallback would start the program '%.200s'; if you trust it, use "
                       "--allow-exec",
                       g->program + strlen("exec:"));
    if (g->fallback == RH_FALLBACK_CLONE && !d->best->task.prior.n)
        return rh_fail(err, RH_EINVAL,
                       "fallback: clone needs steps of the log, and best.yaml has no start; "
                       "tune an agent that begins with the log, such as `--agent clone`");
    if (g->fallback == RH_FALLBACK_CLONE)
        type = rh_agent_find("clone", err);
    else if (g->fallback == RH_FALLBACK_EXEC)
        type = rh_plugin_agent(g->program, err);
    else
        return RH_OK;
    if (!type)
        return RH_EINVAL;
    rh_status rc = rh_agent_create(&d->backup, type, &d->best->task, NULL, err);
    if (!rc)
        rh_agent_freeze(d->backup, true);
    return rc;
}

rh_status rh_turn__open(rh_deploy *d, rh_error *err)
{
    if (d->opt.mode != RH_MODE_KEPT && d->turn.mode != (double)d->opt.mode) {
        d->turn = (rh_turn){.mode = d->opt.mode};
        d->turn.since = (double)d->health.nstep;
    } else if (!(d->turn.mode >= RH_MODE_SHADOW && d->turn.mode <= RH_MODE_CONTROL))
        d->turn = (rh_turn){.mode = RH_MODE_CONTROL};
    if (!(d->turn.ignored >= 0.0 && d->turn.ignored <= ABOUT)) // of a damaged file
        d->turn.ignored = 0.0;
    d->backup_rng = rh_rng_stream(d->opt.seed, RH_STREAM_AGENT, 1, 0);
    d->wished[0] = NAN;
    rh_status rc = make_backup(d, err);
    rh_turn__judge(d);
    return rc;
}

void rh_turn__close(rh_deploy *d)
{
    rh_agent_destroy(d->backup);
}

// ---------------------------------------------------------------------------- changes

static void change(rh_deploy *d, rh_deploy_mode mode, bool fallen)
{
    bool same = d->turn.mode == (double)mode && (d->turn.fallen != 0.0) == fallen;
    if (same)
        return;
    d->turn = (rh_turn){.mode = mode, .fallen = fallen, .since = (double)d->health.nstep};
    rh_blend__begin(d);
}

static void tell_mode(rh_deploy *d)
{
    d->health.mode = (rh_deploy_mode)d->turn.mode;
    d->health.fallen = d->turn.fallen != 0.0;
    d->health.mode_step = (int64_t)d->turn.since;
}

void rh_turn__command(rh_deploy *d, rh_deploy_command command)
{
    rh_deploy_mode mode = (rh_deploy_mode)d->turn.mode;
    bool fallen = d->turn.fallen != 0.0;
    switch (command) {
    case RH_COMMAND_NONE:
        return;
    case RH_COMMAND_FALLBACK:
        fallen = true;
        break;
    case RH_COMMAND_AGENT:
        fallen = false;
        break;
    case RH_COMMAND_SHADOW:
        mode = RH_MODE_SHADOW;
        break;
    case RH_COMMAND_ADVICE:
        mode = RH_MODE_ADVICE;
        break;
    case RH_COMMAND_CONTROL:
        mode = RH_MODE_CONTROL;
        break;
    }
    change(d, mode, fallen);
    if (command == RH_COMMAND_AGENT) {
        rh_monitor__end(&d->health, RH_ALARM_DIVERGED);
        d->turn.ignored = d->health.alarms & ABOUT;
    }
    tell_mode(d);
}

bool rh_turn__watches(const rh_deploy *d)
{
    return d->turn.mode != RH_MODE_CONTROL;
}

bool rh_turn__learns(const rh_deploy *d)
{
    bool others = rh_turn__watches(d) || d->turn.fallen != 0.0 || !isnan(d->guard.blend_away);
    return others && d->arm[(int)d->trial.now].type->took;
}

// Decision 3.
static bool may_step_up(const rh_deploy *d)
{
    const rh_guard *g = &d->guard;
    const rh_deploy_health *h = &d->health;
    return g->steps_up && rh_turn__watches(d) && d->turn.fallen == 0.0 && !h->alarms &&
           d->turn.n >= fmax(g->up_steps, 1.0) &&
           (isnan(g->up_agreement) || h->agreement >= g->up_agreement) &&
           (isnan(g->up_coverage) || h->coverage >= g->up_coverage) &&
           (isnan(g->up_gain) || h->gain_lo >= g->up_gain);
}

static void tell_gain(rh_deploy *d)
{
    const rh_promise *p = &d->best->promise;
    rh_deploy_health *h = &d->health;
    const rh_turn *s = &d->turn;
    double per = d->best->task.continuing ? (double)p->per_steps / UNIT : 1.0;
    h->controller = s->nunit >= LEAST_UNITS ? s->mean * per : NAN;
    double error = NORMAL * per * sqrt(s->squares / fmax(s->nunit - 1.0, 1.0) / s->nunit);
    h->gain = p->score - h->controller;
    h->gain_lo = p->lo95 - (h->controller + error);
    h->gain_hi = p->hi95 - (h->controller - error);
}

void rh_turn__judge(rh_deploy *d)
{
    rh_deploy_health *h = &d->health;
    unsigned ignored = (unsigned)d->turn.ignored & h->alarms;
    d->turn.ignored = ignored;
    if (d->guard.on_alarm && (h->alarms & ABOUT & ~ignored) && !rh_turn__watches(d))
        change(d, RH_MODE_CONTROL, true);
    rh_blend__judge(d, (h->alarms & ABOUT) != 0);
    h->agreement = d->turn.n > 0.0 ? d->turn.nagree / d->turn.n : NAN;
    h->coverage = d->turn.nobs > 0.0 ? d->turn.ninside / d->turn.nobs : NAN;
    tell_gain(d);
    if (may_step_up(d))
        change(d, d->turn.mode == RH_MODE_SHADOW ? RH_MODE_ADVICE : RH_MODE_CONTROL, false);
    tell_mode(d);
    h->nshadow = (int64_t)d->turn.n;
    h->allowed = isnan(d->guard.blend_away) ? NAN : rh_blend__allowed(d);
}

// ---------------------------------------------------------------------------- counting

static bool same(const rh_task *task, const double *a, const double *b)
{
    for (int k = 0; k < task->nact; k++) {
        double most = task->naction ? 0.5 : NEAR * (task->act_hi[k] - task->act_lo[k]);
        if (!(fabs(a[k] - b[k]) <= most))
            return false;
    }
    return true;
}

static void end_unit(rh_turn *s)
{
    double off = s->back - s->mean;
    s->nunit++;
    s->mean += off / s->nunit;
    s->squares += off * (s->back - s->mean);
}

void rh_turn__count(rh_deploy *d, const double *act, double reward, bool ended)
{
    rh_turn *s = &d->turn;
    bool continuing = d->best->task.continuing;
    if (act && !isnan(d->wished[0])) {
        s->n++;
        s->nagree += same(&d->best->task, act, d->wished);
    }
    s->holed = isnan(reward) ? 1.0 : s->holed;
    s->back += isnan(reward) ? 0.0 : reward;
    s->nback++;
    if (!(continuing ? s->nback >= UNIT : ended))
        return;
    if (s->holed == 0.0)
        end_unit(s);
    s->back = s->nback = s->holed = 0.0;
}

// Decision 5.
static double patience(const rh_deploy *d)
{
    if (isfinite(d->guard.answer))
        return d->guard.answer;
    return isfinite(d->period) ? fmin(d->period, LONGEST) : USUAL;
}

void rh_turn__show(rh_deploy *d, const double *obs, bool begins, const double *act, bool blind,
                   bool inside)
{
    d->turn.nobs++;
    d->turn.ninside += inside;
    d->backup_knows = false;
    if (!d->backup || blind)
        return;
    rh_plugin__answer_within(d->backup, patience(d));
    if (!begins && act && !d->backup_new)
        rh_contract__agent_took(d->backup, act);
    d->backup_knows = begins || !act || d->backup_new
                          ? rh_agent_start(d->backup, obs, &d->backup_rng, d->backup_act)
                          : rh_agent_step(d->backup, 0.0, obs, &d->backup_rng, d->backup_act);
    d->backup_new = false;
    d->backup_dead = !d->backup_knows && !rh_plugin__is_late(d->backup);
}

void rh_turn__mend(rh_deploy *d)
{
    if (!d->backup_dead)
        return;
    d->backup_dead = false;
    d->backup_new = true;
    if (rh_contract__agent_reset(d->backup, &d->best->task, NULL, NULL) == RH_OK) {
        rh_agent_freeze(d->backup, true);
        return;
    }
    rh_agent_destroy(d->backup);
    d->backup = NULL;
}

// ---------------------------------------------------------------------------- acting

// What the fallback would do now. NULL: it has none, or does not know.
static const double *action_of_fallback(const rh_deploy *d)
{
    switch (d->guard.fallback) {
    case RH_FALLBACK_ACTION:
        return d->guard.other;
    case RH_FALLBACK_CLONE:
    case RH_FALLBACK_EXEC:
        return d->backup_knows ? d->backup_act : NULL;
    case RH_FALLBACK_NONE:
        return d->controller;
    case RH_FALLBACK_DEFAULT:
    case RH_FALLBACK_HOLD:
        break;
    }
    return NULL;
}

void rh_turn__fallback(const rh_deploy *d, rh_deploy_reply *reply)
{
    rh_guard__fallback who = d->guard.fallback;
    const double *act = action_of_fallback(d);
    bool held = d->reply.source != RH_BY_NOBODY; // there is something to hold
    bool safe = d->guard.safe && !(who == RH_FALLBACK_HOLD && held);
    bool nobody = who == RH_FALLBACK_NONE || !(safe || held);
    if (!act && (who == RH_FALLBACK_CLONE || who == RH_FALLBACK_EXEC))
        reply->notes |= RH_NOTE_NO_FALLBACK;
    reply->source = act      ? RH_BY_FALLBACK
                    : nobody ? RH_BY_NOBODY
                    : safe   ? RH_BY_GUARD
                             : RH_BY_HOLD;
    memcpy(reply->act,
           act    ? act
           : safe ? d->guard.act
                  : d->reply.act,
           (size_t)d->best->task.nact * sizeof *reply->act);
}

void rh_turn__act(rh_deploy *d, rh_deploy_reply *reply)
{
    bool agents = reply->source == RH_BY_AGENT;
    d->wished[0] = NAN;
    if (agents)
        memcpy(d->wished, reply->act, sizeof d->wished);
    if (rh_turn__watches(d))
        return;
    if (d->turn.fallen != 0.0)
        rh_turn__fallback(d, reply);
    else if (agents && !isnan(d->guard.blend_away))
        rh_blend__act(d, reply);
}

void rh_turn__send(const rh_deploy *d, rh_deploy_reply *reply)
{
    if (rh_turn__watches(d))
        reply->source = isnan(d->wished[0])              ? RH_BY_NOBODY
                        : d->turn.mode == RH_MODE_ADVICE ? RH_BY_ADVICE
                                                         : RH_BY_SHADOW;
}
