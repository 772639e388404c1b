// deploy.c - a deployment: which observations are learned from, and which action is taken.
//
// With s, a the last observation and reply, and s' what comes in now:
//
// 1. The agent learns from (s, a, r, s') only if it chose a, a was really taken, nothing is
//    missing between s and s', and all numbers are finite. Otherwise it begins anew at s', as
//    after a truncated episode: nothing is carried over the hole.
// 2. A late or repeated observation is not learned from, and the reply is that of the last one.
//    After three late ones in a row the plant has begun to count anew: the next one is a gap.
//    The guard judges it all the same: a plant whose counter or clock stands still may be past
//    its limits. Past them the safe action is the reply, until a new observation comes.
// 3. Where a number of s' is missing, no action can be chosen from it: the safe action is taken
//    if there is one, else the last action is held. Before the first action there is none.
// 4. The reward that comes in is used; else that of the study's formula.
// 5. An agent that diverges goes back to its last saved state, or begins untrained.
// 6. Derived sensors and the history are made of what the plant sends, as the reader of logs
//    makes them (rh_observer). With an unknown history, after a hole, the agent acts as at a
//    start, and learns nothing until the history is known: a log would not have these steps.
// 7. Saving ends the agent's episode: the step after a save is not learned from. With the usual
//    1,000 steps between saves this is one in a thousand. Who acts and the alarms are saved at
//    once, when they change: a kill must not bring back the agent.
// 8. While no message at all comes in for the time that the guard file says, the fallback acts,
//    or the safe action or the last one is held: the caller asks for it (MQTT sends it). The
//    next message ends this; the next new observation is a gap. Between episodes no message is
//    expected, and one that comes in again changes nothing.
// 9. Where somebody else acts by arrangement (shadow, advice, fallback, blend: turn.c), an
//    agent that can (took) learns from what was done. What an operator or the guard does in
//    control is an emergency, and is not learned from. A proposal that the guard changed and
//    that was followed is somebody else's action. In shadow what the plant's controller
//    said it would do is what was done, unless the plant says otherwise.
// 10. A command in a late observation is obeyed only if it orders the fallback: others may be
//    older than what was ordered since. One in a repeated observation is obeyed if it is
//    another one than before. If the agent does not act by it any more, nor does the reply.

#include "deploy.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "base/number.h"
#include "deploy_internal.h"
#include "log/log.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LATE 3 // decision 2

double rh_deploy__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *rh_deploy__note_name(int bit)
{
    static const char *const name[RH_NNOTE] = {
        "missing",   "late",    "repeated", "gap",  "override",  "limited",    "tripped",
        "no-reward", "outside", "diverged", "lost", "no-action", "no-fallback"};
    return bit >= 0 && bit < RH_NNOTE ? name[bit] : NULL;
}

const char *rh_deploy__alarm_name(int bit)
{
    static const char *const name[RH_NALARM] = {"promise",  "range", "diverged", "disk",
                                                "failures", "guard", "worse",    "changed",
                                                "silence",  "limit"};
    return bit >= 0 && bit < RH_NALARM ? name[bit] : NULL;
}

const char *rh_deploy__mode_name(rh_deploy_mode mode)
{
    static const char *const name[] = {NULL, "shadow", "advice", "control"};
    return name[mode];
}

// ---------------------------------------------------------------------------- opening

rh_deploy_options rh_deploy_defaults(void)
{
    return (rh_deploy_options){
        .save_steps = 1000, .save_seconds = 60.0, .seed = 1, .cookie = RH_DEPLOY__COOKIE};
}

static rh_status check_options(const rh_deploy_options *opt, rh_error *err)
{
    if (opt->cookie != RH_DEPLOY__COOKIE)
        return rh_fail(err, RH_EINVAL,
                       "deploy: options not set, expected those of rh_deploy_defaults()");
    if (opt->save_steps < 1)
        return rh_fail(err, RH_EINVAL, "deploy: save_steps = %lld, expected 1 or more",
                       (long long)opt->save_steps);
    if (opt->switch_steps < 0)
        return rh_fail(err, RH_EINVAL, "deploy: switch_steps = %lld, expected 0 or more",
                       (long long)opt->switch_steps);
    if (!(opt->save_seconds > 0.0))
        return rh_fail(err, RH_EINVAL, "deploy: save_seconds = %g, expected a number above 0",
                       opt->save_seconds);
    return RH_OK;
}

static rh_status read_best(rh_deploy *d, const char *path, rh_error *err)
{
    rh_status rc = rh_best_read(&d->best, path, err);
    if (rc)
        return rc;
    const rh_best *best = d->best;
    if (!best->tasked)
        return rh_fail(err, RH_EFORMAT,
                       "%s: no section task, expected best.yaml of a study with a model",
                       rh_base__path_tail(path));
    for (int i = 0; i < best->task.naction; i++)
        if (rh_number__read(best->label[i], strlen(best->label[i]), &d->label[i]) != RH_NUMBER)
            d->label[i] = NAN;
    if (best->reward_formula)
        rc = rh_expression__compile_step(&d->formula, best->reward_formula, best->nsent,
                                         best->task.nact, err);
    if (!rc)
        rc = rh_observer__create(&d->observer, best->task.obs_name, best->nsent, best->derive,
                                 best->stack, best->task.naction, best->task.nact, err);
    if (!rc)
        rc = rh_observer__create(&d->present, best->task.obs_name, best->nsent, best->derive, 1,
                                 best->task.naction, best->task.nact, err);
    const rh_promise *p = &best->promise;
    d->health.promised = p->score;
    d->health.promised_lo = p->lo95;
    double evidence;
    d->health.level = p->ncurve ? rh_monitor__level(&d->monitor, p, &evidence) : NAN;
    d->health.deficit = p->ncurve ? 0.0 : NAN;
    d->health.false_alarms = p->false_alarms;
    d->health.per_run = p->nstep;
    d->health.per_steps = p->per_steps;
    rh_monitor__promise_failures(&d->health, best);
    if (!rc)
        rc = rh_forecast__create(&d->forecast, best, rh_monitor__run(best), err);
    return rc;
}

static rh_status load_born(rh_deploy *d, rh_error *err)
{
    if (!d->opt.state || d->last)
        return RH_OK;
    rh_status rc = rh_state_read(&d->last, d->opt.state, err);
    if (!rc)
        rc = rh_agent_load(d->agent, d->last, err);
    d->monitor.trained = 1.0;
    return rc;
}

// An alarm of the disk is about saving itself.
static rh_deploy__who who_acts(const rh_deploy *d)
{
    return (rh_deploy__who){.alarms = d->health.alarms & ~(unsigned)RH_ALARM_DISK,
                            .mode = d->turn.mode,
                            .fallen = d->turn.fallen != 0.0};
}

// A full disk is an alarm: the plant goes on.
static rh_status save(rh_deploy *d, rh_error *err)
{
    rh_error why = {""};
    d->kept = who_acts(d);
    d->saved = rh_deploy__now();
    d->saved_step = d->health.nstep;
    rh_status rc = rh_keep__save(d, &why);
    if (rc == RH_EIO || rc == RH_ENOMEM) {
        rh_monitor__raise(&d->health, RH_ALARM_DISK);
        return RH_OK;
    }
    if (!rc)
        rh_monitor__end(&d->health, RH_ALARM_DISK);
    return rc ? rh_fail(err, rc, "%s", why.text) : RH_OK;
}

static void destroy(rh_deploy *d)
{
    rh_record__close(&d->record);
    if (d->lock >= 0)
        close(d->lock);
    rh_expression__clear(&d->formula);
    for (int i = 0; i < RH_MAX_LIMITS; i++)
        rh_expression__clear(&d->event[i]);
    rh_switch__close(d);
    rh_agent_destroy(d->agent);
    rh_forecast__destroy(d->forecast);
    rh_turn__close(d);
    rh_observer__destroy(d->observer);
    rh_observer__destroy(d->present);
    rh_state_destroy(d->last);
    rh_best_destroy(d->best);
    rh_free(d->folder);
    rh_free(d);
}

rh_status rh_deploy_open(rh_deploy **out, const char *best, const rh_deploy_options *opt,
                         rh_error *err)
{
    rh_deploy_options usual = rh_deploy_defaults();
    opt = opt ? opt : &usual;
    rh_status rc = check_options(opt, err);
    if (rc)
        return rc;
    rh_deploy *d = rh_alloc(1, sizeof *d);
    if (!d)
        return rh_base__no_memory(err, "deploy");
    d->opt = *opt;
    d->lock = d->record.log = d->record.events = -1;
    d->seq = -1;
    d->time = d->period = NAN;
    d->reply.source = d->answered.source = RH_BY_NOBODY;
    d->controlled[0] = NAN;
    d->record.episode = -1;
    d->rng = rh_rng_stream(opt->seed, RH_STREAM_AGENT, 0, 0);
    d->health = (rh_deploy_health){.earned = NAN, .alarm_step = -1, .outside_sensor = -1};
    for (int i = 0; i < RH_NALARM; i++) {
        d->health.evidence[i] = d->health.sure[i] = NAN;
        d->health.since[i] = -1;
    }
    d->folder = rh_base__copy(opt->folder);
    if (opt->folder && !d->folder)
        rc = rh_base__no_memory(err, "deploy");
    if (!rc)
        rc = read_best(d, best, err);
    if (!rc)
        rc = rh_guard__read(&d->guard, opt->guard, d->best, err);
    d->health.guard_share = opt->guard ? d->guard.share : NAN;
    if (!rc)
        rc = rh_agent_create(&d->agent, d->best->agent, &d->best->task, d->best->hp, err);
    if (!rc && d->folder)
        rc = rh_keep__open(d, err);
    if (!rc)
        rc = load_born(d, err);
    if (!rc)
        rc = rh_monitor__open_limits(d, err);
    if (!rc)
        rc = rh_switch__open(d, err);
    d->kept = who_acts(d);
    if (!rc)
        rc = rh_turn__open(d, err);
    if (!rc)
        rh_agent_freeze(d->arm[0].agent, opt->frozen); // the others: switch.c
    d->saved = d->heard = rh_deploy__now();
    d->saved_step = d->health.nstep;
    if (!rc && d->folder && !d->health.nstep) // the status can be asked for from now on
        rc = save(d, err);
    if (rc) {
        destroy(d);
        return rc;
    }
    *out = d;
    return RH_OK;
}

// What the plant's controller would have done at the last observation. NULL: unknown.
static const double *controlled(const rh_deploy *d)
{
    return isnan(d->controlled[0]) ? NULL : d->controlled;
}

rh_status rh_deploy_close(rh_deploy *d, rh_error *err)
{
    if (!d)
        return RH_OK;
    if (d->phase >= RH_DEPLOY__SEEING) // what the plant is in now: a row without an outcome
        (void)rh_record__row(
            &d->record, d->best,
            &(rh_record__step){
                .time = d->time, .obs = d->sent, .controller = controlled(d), .reward = NAN});
    bool lost = !rh_record__flush(&d->record);
    lost = !rh_record__flush_events(&d->record) || lost;
    bool news = d->health.nstep > d->health.saved_step;
    rh_status rc = d->folder && news ? rh_keep__save(d, err) : RH_OK;
    if (!rc && lost)
        rc = rh_fail(err, RH_EIO, "%s: cannot write the last rows of log.csv and events.jsonl",
                     rh_base__path_tail(d->folder));
    destroy(d);
    return rc;
}

const rh_best *rh_deploy_best(const rh_deploy *d)
{
    return d->best;
}

rh_deploy_health rh_deploy_health_of(const rh_deploy *d)
{
    return d->health;
}

// ---------------------------------------------------------------------------- what came in

static bool ends(const rh_deploy_seen *seen)
{
    return seen->terminal || seen->truncated;
}

static bool in_episode(const rh_deploy *d)
{
    return d->phase >= RH_DEPLOY__BLIND;
}

static bool same_action(const rh_task *task, const double *a, const double *b)
{
    for (int k = 0; k < task->nact; k++)
        if (!(fabs(a[k] - b[k]) <= 1e-9 * (1.0 + fabs(b[k]))))
            return false;
    return true;
}

static bool known_action(const rh_task *task, const double *act)
{
    if (task->naction)
        return act[0] >= 0.0 && act[0] < task->naction && act[0] == floor(act[0]);
    return rh_base__all_finite(act, task->nact);
}

// Whether it is old news (decision 2).
static unsigned is_old(const rh_deploy *d, const rh_deploy_seen *seen)
{
    if (seen->starts || d->nlate >= LATE)
        return 0;
    if (seen->seq >= 0 && d->seq >= 0)
        return seen->seq == d->seq ? RH_NOTE_REPEATED : seen->seq < d->seq ? RH_NOTE_LATE : 0;
    return seen->time == d->time ? RH_NOTE_REPEATED : seen->time < d->time ? RH_NOTE_LATE : 0;
}

// The reward of the step that ends in seen, or NAN (decision 4).
static double reward_of(const rh_deploy *d, const rh_deploy_seen *seen, const double *act)
{
    const rh_task *task = &d->best->task;
    double x[2 * RH_MAX_OBS + RH_MAX_ACT];
    if (isfinite(seen->reward) || !d->formula.nop)
        return isfinite(seen->reward) ? seen->reward : NAN;
    int n = d->best->nsent; // the formula is by columns of the log
    memcpy(x, d->sent, (size_t)n * sizeof *x);
    for (int k = 0; k < task->nact; k++)
        x[n + k] = task->naction ? d->label[(int)act[0]] : act[k];
    memcpy(x + n + task->nact, seen->obs, (size_t)n * sizeof *x);
    double reward = rh_expression__value(&d->formula, x);
    return isfinite(reward) ? reward : NAN;
}

// How an observation follows the one before it.
typedef enum join {
    BEGINS, // it does not: an episode begins
    GAP,    // in the same episode, and observations between them are missing
    FOLLOWS // one step later
} join;

// The step that ends in seen: its action and reward, and what is unusual about it.
typedef struct step {
    join join;
    const double *act; // that was taken; NULL: unknown
    double reward;     // NAN: unknown
    bool by_agent;     // the agent's own
    bool by_other;     // somebody else's, to learn from (decision 9)
    unsigned notes;
} step;

// Whether it is somebody else's turn.
static bool expects_others(const rh_deploy *d)
{
    return rh_turn__watches(d) ||
           (d->turn.fallen != 0.0 && d->guard.fallback == RH_FALLBACK_NONE) ||
           (d->reply.notes & RH_NOTE_NO_FALLBACK);
}

static step examine(const rh_deploy *d, const rh_deploy_seen *seen)
{
    const rh_task *task = &d->best->task;
    step s = {.join = BEGINS, .act = d->reply.act, .reward = NAN};
    if (!in_episode(d) || seen->starts)
        return s;
    bool gap = d->silent || d->nlate >= LATE ||
               (seen->seq >= 0 && d->seq >= 0 && seen->seq > d->seq + 1) ||
               seen->time - d->time > d->guard.max_gap;
    s.notes |= gap ? RH_NOTE_GAP : 0;
    s.join = gap ? GAP : FOLLOWS;
    rh_deploy_source by = d->reply.source;
    bool open = by == RH_BY_NOBODY || by == RH_BY_SHADOW || by == RH_BY_ADVICE;
    bool others = by != RH_BY_ADVICE && open && expects_others(d);
    bool same = seen->act && same_action(task, seen->act, d->reply.act);
    bool guarded = (d->reply.notes & (RH_NOTE_LIMITED | RH_NOTE_TRIPPED)) != 0;
    s.by_agent = by == RH_BY_AGENT || (by == RH_BY_ADVICE && same && !guarded);
    if (open && !seen->act) {
        s.act = by == RH_BY_SHADOW ? controlled(d) : NULL;
        s.notes |= !s.act && expects_others(d) ? RH_NOTE_NO_ACTION : 0;
    }
    if (seen->act && !same) {
        s.notes |= others ? 0 : RH_NOTE_OVERRIDE;
        s.by_agent = false;
        s.act = known_action(task, seen->act) ? seen->act : NULL;
    }
    s.by_other =
        s.act && !s.by_agent && rh_turn__learns(d) && (rh_turn__watches(d) || !guarded);
    if (s.join == FOLLOWS && s.act)
        s.reward = reward_of(d, seen, s.act);
    if (s.join == FOLLOWS && isnan(s.reward) && !(s.notes & RH_NOTE_NO_ACTION))
        s.notes |= RH_NOTE_NO_REWARD;
    return s;
}

// Whether an episode that begins at seen begins in a start state.
static bool from_start(const rh_deploy *d, const rh_deploy_seen *seen)
{
    return seen->starts || d->phase != RH_DEPLOY__RESUMED;
}

// The observation that the agent is shown, in obs (nobs). BLIND: it lacks a number, SEEING: its
// history is unknown, LEARNING: it is whole.
static rh_deploy__phase observe(rh_deploy *d, const rh_deploy_seen *seen, const step *s,
                                double *obs)
{
    if (s->join == BEGINS)
        rh_observer__begin(d->observer, from_start(d, seen));
    else if (s->join == FOLLOWS && s->act && d->phase != RH_DEPLOY__BLIND)
        rh_observer__act(d->observer, s->act);
    else
        rh_observer__begin(d->observer, false);
    bool whole = rh_observer__show(d->observer, seen->obs, obs);
    if (!rh_base__all_finite(obs, d->best->task.nobs))
        return RH_DEPLOY__BLIND;
    return whole ? RH_DEPLOY__LEARNING : RH_DEPLOY__SEEING;
}

// ---------------------------------------------------------------------------- keeping

static void lose(rh_deploy *d, unsigned *notes)
{
    *notes |= RH_NOTE_LOST;
    rh_monitor__raise(&d->health, RH_ALARM_DISK);
    rh_record__begin(&d->record, false); // the next row resumes
}

static void flush_events(rh_deploy *d)
{
    if (!rh_record__flush_events(&d->record))
        rh_monitor__raise(&d->health, RH_ALARM_DISK);
}

// The row of the last observation, now that its outcome is known.
static void record_step(rh_deploy *d, const rh_deploy_seen *seen, const step *s,
                        unsigned *notes)
{
    bool known = s->join == FOLLOWS && s->act && isfinite(s->reward);
    rh_record__step row = {.time = d->time,
                           .obs = d->sent,
                           .act = known ? s->act : NULL,
                           .controller = controlled(d),
                           .reward = known ? s->reward : NAN,
                           .terminal = seen->terminal,
                           .truncated = seen->truncated};
    rh_record__step last = {.time = seen->time, .obs = seen->obs, .reward = NAN};
    bool done = rh_record__flush(&d->record); // nothing to do if the caller ticks
    if (!done)
        lose(d, notes);
    flush_events(d);
    done = true;
    if (in_episode(d))
        done = rh_record__row(&d->record, d->best, &row);
    if (done && s->join != BEGINS && ends(seen))
        done = rh_record__row(&d->record, d->best, &last);
    if (!done)
        lose(d, notes);
}

// What was earned and whether it failed, for the comparison with the promise.
static void judge(rh_deploy *d, const rh_deploy_seen *seen, const step *s, const double *obs)
{
    rh_monitor__step how = {
        .obs = obs,
        .reward = isfinite(s->reward) ? s->reward : seen->reward,
        .terminal = seen->terminal,
        .ended = ends(seen),
        .foreign = s->notes & RH_NOTE_OVERRIDE ||
                   (!s->by_agent && (rh_turn__watches(d) || d->turn.fallen != 0.0 ||
                                     d->reply.source == RH_BY_NOBODY))};
    if (rh_turn__watches(d) && s->join == BEGINS)
        d->turn.back = d->turn.nback = d->turn.holed = 0.0;
    else if (rh_turn__watches(d))
        rh_turn__count(d, s->join == FOLLOWS ? s->act : NULL, s->reward, ends(seen));
    if (s->join == BEGINS)
        rh_monitor__begin(&d->monitor);
    else {
        rh_monitor__limits(d, &how, s->join == FOLLOWS ? s->act : NULL);
        rh_monitor__failure(&d->monitor, &d->health, d->best, &how);
    }
    if (s->join != BEGINS)
        rh_switch__count(d, s->reward, s->join == FOLLOWS && s->by_agent, ends(seen));
    else if (d->phase != RH_DEPLOY__BETWEEN)
        rh_switch__begin(d, from_start(d, seen));
    if (s->join == FOLLOWS && s->by_agent && isfinite(s->reward))
        rh_monitor__reward(&d->monitor, &d->health, d->best, s->reward, ends(seen));
    else if (in_episode(d))
        rh_monitor__spoil(&d->monitor, ends(seen) || s->join == BEGINS);
    bool whole = s->join == FOLLOWS && s->act && !seen->terminal &&
                 rh_base__all_finite(d->sent, d->best->nsent) &&
                 rh_base__all_finite(seen->obs, d->best->nsent);
    if (whole)
        rh_monitor__forecast(&d->monitor, &d->health, d->best, d->forecast, d->sent, s->act,
                             s->reward, seen->obs);
}

// ---------------------------------------------------------------------------- acting

// Decision 5.
static void go_back(rh_deploy *d)
{
    rh_monitor__raise(&d->health, RH_ALARM_DIVERGED);
    const rh_deploy__arm *arm = &d->arm[(int)d->trial.now];
    if (rh_contract__agent_reset(d->agent, &d->best->task, arm->hp, NULL) == RH_OK && d->last &&
        arm == d->arm)
        (void)rh_agent_load(d->agent, d->last, NULL);
    rh_agent_freeze(d->agent, d->opt.frozen);
}

// Learn, and choose. False: the agent has diverged.
static bool consult(rh_deploy *d, const rh_deploy_seen *seen, const step *s, const double *obs,
                    rh_deploy__phase shown, rh_deploy_reply *reply)
{
    bool may_learn = d->phase == RH_DEPLOY__LEARNING && s->join == FOLLOWS &&
                     (s->by_agent || s->by_other) && isfinite(s->reward);
    if (may_learn && !s->by_agent)
        (void)rh_contract__agent_took(d->agent, s->act);
    bool blind = shown == RH_DEPLOY__BLIND, healthy = true;
    rh_switch__learn(d, s->join == FOLLOWS && d->phase >= RH_DEPLOY__SEEING ? s->act : NULL,
                     s->reward, blind || ends(seen) ? NULL : obs, seen->terminal);
    if (may_learn && seen->terminal) {
        healthy = rh_agent_end(d->agent, s->reward);
        reply->learned = !d->opt.frozen;
    } else if (may_learn && !blind) {
        healthy = rh_agent_step(d->agent, s->reward, obs, &d->rng, reply->act);
        reply->learned = !d->opt.frozen;
    } else if (!blind && !ends(seen))
        healthy = rh_agent_start(d->agent, obs, &d->rng, reply->act);
    return healthy && (ends(seen) || blind || known_action(&d->best->task, reply->act));
}

// obs: the first n sensors of the task.
static bool is_tripped(const rh_deploy *d, const double *obs, int n)
{
    for (int i = 0; i < n; i++)
        if (obs[i] < d->guard.trip_lo[i] || obs[i] > d->guard.trip_hi[i])
            return true;
    return false;
}

// The agent's action within the limits, or the safe one.
static void limit(const rh_deploy *d, const double *obs, rh_deploy_reply *reply)
{
    const rh_guard *g = &d->guard;
    const rh_task *task = &d->best->task;
    bool agents = reply->source == RH_BY_AGENT || reply->source == RH_BY_BLEND;
    if (is_tripped(d, obs, task->nobs)) {
        reply->notes |= RH_NOTE_TRIPPED;
        reply->source = RH_BY_GUARD;
        agents = false;
    } else if (agents && task->naction && g->banned[(int)reply->act[0]]) {
        reply->notes |= RH_NOTE_LIMITED;
        reply->source = RH_BY_GUARD;
    }
    for (int k = 0; agents && !task->naction && k < task->nact; k++) {
        double cut = fmin(fmax(reply->act[k], g->act_lo[k]), g->act_hi[k]); // NAN: no limit
        if (cut != reply->act[k]) {
            reply->notes |= RH_NOTE_LIMITED;
            reply->source = RH_BY_HOLD; // not the agent's own any more
            reply->act[k] = cut;
        }
    }
    if (reply->source == RH_BY_GUARD && g->safe)
        memcpy(reply->act, g->act, (size_t)task->nact * sizeof *reply->act);
    else if (reply->source == RH_BY_GUARD)
        rh_turn__fallback(d, reply);
}

static void count_notes(rh_deploy *d, unsigned notes)
{
    for (int i = 0; i < RH_NNOTE; i++)
        d->health.count[i] += notes >> i & 1;
}

static void tell(rh_deploy *d, const rh_deploy_seen *seen, rh_deploy_reply *reply,
                 unsigned alarms)
{
    count_notes(d, reply->notes);
    reply->alarms = d->health.alarms;
    if ((reply->notes || reply->alarms != alarms) &&
        !rh_record__event(&d->record, d->best, &d->health, seen, reply))
        rh_monitor__raise(&d->health, RH_ALARM_DISK);
}

// The phase after an observation that the agent was shown so.
static rh_deploy__phase next_phase(const rh_deploy *d, const rh_deploy_seen *seen,
                                   const rh_deploy_reply *reply, rh_deploy__phase shown)
{
    if (ends(seen))
        return RH_DEPLOY__BETWEEN;
    bool chosen = reply->source == RH_BY_AGENT || reply->source == RH_BY_ADVICE ||
                  (rh_turn__learns(d) && !(reply->notes & RH_NOTE_DIVERGED));
    return shown == RH_DEPLOY__LEARNING && !chosen ? RH_DEPLOY__SEEING : shown;
}

// Remember the observation that was answered.
static void remember(rh_deploy *d, const rh_deploy_seen *seen, const rh_deploy_reply *reply,
                     rh_deploy__phase phase)
{
    d->phase = phase;
    memcpy(d->sent, seen->obs, (size_t)d->best->nsent * sizeof *d->sent);
    d->controlled[0] = NAN;
    if (d->controller)
        memcpy(d->controlled, d->controller, (size_t)d->best->task.nact * sizeof *d->sent);
    if (!ends(seen))
        d->reply = *reply;
    d->answered = *reply;
    d->nlate = 0;
    d->silent = false;
    d->heard = ends(seen) ? INFINITY : d->heard;
    d->seq = seen->seq >= 0 ? seen->seq : d->seq;
    d->period = seen->time > d->time ? seen->time - d->time : NAN;
    d->time = isfinite(seen->time) ? seen->time : NAN;
}

// A command in old news (decision 10): whose action the last reply was may end by it.
static void obey_again(rh_deploy *d, const rh_deploy_seen *seen, unsigned old)
{
    rh_deploy_reply *was = &d->answered;
    rh_deploy_command command = seen->command;
    bool late = old == RH_NOTE_LATE;
    if (late ? command != RH_COMMAND_FALLBACK : !command || command == d->command)
        return;
    d->command = late ? d->command : command;
    rh_turn__command(d, command);
    bool watches = rh_turn__watches(d), safe = was->source == RH_BY_GUARD;
    bool shown = was->source == RH_BY_SHADOW || was->source == RH_BY_ADVICE;
    if (!in_episode(d))
        return;
    if (watches && (shown || was->source == RH_BY_AGENT))
        rh_turn__send(d, was);
    else if (watches)
        was->source = RH_BY_NOBODY;
    else if (d->turn.fallen != 0.0 && !safe)
        rh_turn__fallback(d, was);
    else
        return;
    d->reply = *was;
    if (d->phase == RH_DEPLOY__LEARNING)
        d->phase = RH_DEPLOY__SEEING;
}

// The last reply again, to an observation that is old news; past the limits the safe action
// (decision 2). It replaces the agent's action, from which nothing is learned then.
static void answer_again(rh_deploy *d, const rh_deploy_seen *seen, unsigned notes,
                         rh_deploy_reply *reply)
{
    double now[RH_MAX_OBS];
    d->nlate += notes == RH_NOTE_LATE;
    if (d->phase == RH_DEPLOY__BETWEEN)
        d->heard = INFINITY;
    rh_observer__begin(d->present, true);
    rh_observer__show(d->present, seen->obs, now);
    if (in_episode(d) && !rh_turn__watches(d) && is_tripped(d, now, d->best->nnow)) {
        notes |= RH_NOTE_TRIPPED;
        d->answered.source = RH_BY_GUARD;
        memcpy(d->answered.act, d->guard.act, sizeof d->answered.act);
        if (!d->guard.safe)
            rh_turn__fallback(d, &d->answered);
        d->reply = d->answered;
        if (d->phase == RH_DEPLOY__LEARNING)
            d->phase = RH_DEPLOY__SEEING;
    }
    *reply = d->answered;
    reply->notes = notes;
    reply->learned = false;
}

// The action that is sent: the agent's, which is in reply, or another one.
static void decide(rh_deploy *d, const double *obs, bool blind, rh_deploy_reply *reply)
{
    if (blind || (reply->notes & RH_NOTE_DIVERGED))
        rh_turn__fallback(d, reply);
    rh_turn__act(d, reply);
    limit(d, obs, reply);
    rh_turn__send(d, reply);
}

static void hear(rh_deploy *d)
{
    if (isfinite(d->guard.silence))
        d->heard = rh_deploy__now();
    d->unasked = d->quiet = false;
    rh_monitor__end(&d->health, RH_ALARM_SILENCE);
}

// Decision 8.
static void fall_silent(rh_deploy *d)
{
    unsigned alarms = d->health.alarms;
    if (d->quiet || !(rh_deploy__now() - d->heard > d->guard.silence))
        return;
    rh_deploy_seen none = {.obs = d->sent, .reward = NAN, .seq = -1, .time = NAN};
    rh_deploy_reply reply = {.source = RH_BY_NOBODY};
    d->controller = NULL;
    d->quiet = d->silent = true;
    d->unasked = !rh_turn__watches(d);
    rh_monitor__raise(&d->health, RH_ALARM_SILENCE);
    if (d->unasked) {
        rh_turn__fallback(d, &reply);
        d->reply = reply;
    }
    tell(d, &none, &reply, alarms);
    d->answered = reply;
}

bool rh_deploy__unasked(rh_deploy *d, rh_deploy_reply *reply)
{
    bool is = d->unasked && d->answered.source != RH_BY_NOBODY;
    d->unasked = false;
    *reply = d->answered;
    return is;
}

rh_status rh_deploy_step(rh_deploy *d, const rh_deploy_seen *seen, rh_deploy_reply *reply,
                         rh_error *err)
{
    unsigned alarms = d->health.alarms, old;
    if (!seen || !seen->obs || !reply)
        return rh_fail(err, RH_EINVAL, "deploy: no observation, expected one");
    hear(d);
    bool told = seen->controller && known_action(&d->best->task, seen->controller);
    d->controller = told ? seen->controller : NULL;
    if ((old = is_old(d, seen)) != 0) {
        obey_again(d, seen, old);
        answer_again(d, seen, old, reply);
        tell(d, seen, reply, alarms);
        return RH_OK;
    }
    *reply = (rh_deploy_reply){0};
    d->command = seen->command;
    rh_turn__command(d, seen->command);
    double obs[RH_MAX_OBS];
    step s = examine(d, seen);
    rh_deploy__phase shown = observe(d, seen, &s, obs);
    bool blind = shown == RH_DEPLOY__BLIND;
    reply->notes |= s.notes | (blind ? RH_NOTE_MISSING : 0);
    d->health.nstep++;
    record_step(d, seen, &s, &reply->notes);
    if (s.join == BEGINS)
        rh_record__begin(&d->record, from_start(d, seen));
    judge(d, seen, &s, obs);
    bool outside = !blind && rh_monitor__obs(&d->monitor, &d->health, d->best, obs);
    reply->notes |= outside ? RH_NOTE_OUTSIDE : 0;
    rh_turn__show(d, obs, s.join == BEGINS, s.join == FOLLOWS ? s.act : NULL, blind, !outside);

    reply->source = ends(seen) ? RH_BY_NOBODY : RH_BY_AGENT;
    if (!consult(d, seen, &s, obs, shown, reply)) {
        go_back(d);
        reply->learned = false;
        reply->notes |= RH_NOTE_DIVERGED;
    }
    rh_turn__judge(d);
    if (!ends(seen))
        decide(d, obs, blind, reply);
    if (!ends(seen) && !rh_turn__watches(d))
        rh_monitor__guard(&d->monitor, &d->health, d->best,
                          reply->source == RH_BY_GUARD || (reply->notes & RH_NOTE_LIMITED));
    d->health.nlearned += reply->learned;
    d->health.nepisode += ends(seen) && s.join != BEGINS;
    remember(d, seen, reply, next_phase(d, seen, reply, shown));
    rh_switch__turn(d);
    tell(d, seen, reply, alarms);
    return RH_OK;
}

rh_status rh_deploy_tick(rh_deploy *d, rh_error *err)
{
    unsigned notes = 0;
    if (!rh_record__flush(&d->record)) {
        lose(d, &notes);
        count_notes(d, notes);
    }
    rh_turn__mend(d);
    fall_silent(d);
    flush_events(d);
    rh_deploy__who now = who_acts(d);
    bool news = now.alarms != d->kept.alarms || now.mode != d->kept.mode ||
                now.fallen != d->kept.fallen;
    bool due = (news && d->folder) || d->health.nstep - d->saved_step >= d->opt.save_steps;
    if (!due && d->health.nstep > d->saved_step)
        due = rh_deploy__now() - d->saved >= d->opt.save_seconds;
    if (!due)
        return RH_OK;
    return save(d, err);
}
