// guard.c - the guard file: what the agent may not do, and what is done instead.
//
//     safe_action: off              # or 0.0, or [0.0, 1.5]
//     forbidden: [high]             # discrete actions that the agent may not take
//     limits: {power: [0, 5]}       # of continuous actions; others are cut to it
//     trip: {temp: [5, 80]}         # past it the safe action is taken
//     max_gap: 90                   # seconds between observations; a longer time is a gap
//     silence: 30                   # seconds without a message; the fallback acts, an alarm
//     alarm_share: 0.05             # of steps; an alarm where the guard acts in more
//     answer: 0.5                   # seconds that the program of exec: may take
//     fallback: clone               # or hold, none, exec:COMMAND, an action: acts if needed
//     on_alarm: fallback            # or continue
//     blend: {step: 0.05, away: 0.2, full: 10000}
//     step_up: {steps: 5000, agreement: 0.5, coverage: 0.95, gain: 0}
//
// 1. A forbidden action and a trip need a safe action or a fallback; without one the file is
//    refused.
// 2. Without a safe action, the last action is repeated where there is nothing to choose from.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/yaml.h"
#include "deploy_internal.h"

#include <math.h>
#include <string.h>

#define FULL 10000.0 // steps until a blend has no limit, without the key; by hand
#define SHARE 0.05   // alarm_share without the key; by hand
#define AWAY 0.05    // of a blend without the key; beside 0.2: docs/evidence/first-hour.md

typedef struct reading {
    rh_guard *guard;
    const rh_best *best;
    const char *path;
    rh_error *err;
    bool *goes_on; // after an alarm
} reading;

static rh_status refuse(const reading *r, const rh_yaml *node, const char *key,
                        const char *expected)
{
    char shown[RH_YAML__SHOWN];
    rh_yaml__show(node, shown);
    return rh_fail(r->err, RH_EFORMAT, "%s:%d: %s is %s, expected %s",
                   rh_base__path_tail(r->path), node->line, key, shown, expected);
}

// An action by its name, or its index where no name is a number.
static int label_of(const reading *r, const rh_yaml *node)
{
    double x;
    for (int i = 0; node->kind == RH_YAML_TEXT && i < r->best->task.naction; i++)
        if (strcmp(node->text, r->best->label[i]) == 0)
            return i;
    return rh_yaml__number(node, &x) ? rh_message__action_of(r->best, x) : -1;
}

static rh_status read_action(const reading *r, const rh_yaml *node, const char *key,
                             double *act)
{
    const rh_task *task = &r->best->task;
    if (task->naction) {
        int at = label_of(r, node);
        act[0] = at;
        return at < 0 ? refuse(r, node, key, "an action of best.yaml") : RH_OK;
    }
    bool list = node->kind == RH_YAML_LIST;
    if (list ? node->n != task->nact : task->nact != 1)
        return refuse(r, node, key, "as many numbers as an action has");
    for (int k = 0; k < task->nact; k++)
        if (!rh_yaml__number(list ? node->item[k] : node, &act[k]) ||
            !(act[k] >= task->act_lo[k] && act[k] <= task->act_hi[k]))
            return refuse(r, node, key, "numbers within the ranges of best.yaml");
    return RH_OK;
}

static rh_status read_safe(const reading *r, const rh_yaml *node)
{
    r->guard->safe = true;
    return read_action(r, node, "safe_action", r->guard->act);
}

// A word that is an action, too, is the action.
static rh_status read_fallback(const reading *r, const rh_yaml *node)
{
    static const struct {
        const char *name;
        rh_guard__fallback is;
    } word[] = {
        {"hold", RH_FALLBACK_HOLD}, {"clone", RH_FALLBACK_CLONE}, {"none", RH_FALLBACK_NONE}};
    rh_guard *g = r->guard;
    bool text = node->kind == RH_YAML_TEXT;
    g->on_alarm = true;
    for (size_t i = 0; text && label_of(r, node) < 0 && i < sizeof word / sizeof *word; i++)
        if (strcmp(node->text, word[i].name) == 0) {
            g->fallback = word[i].is;
            return RH_OK;
        }
    if (text && strncmp(node->text, "exec:", 5) == 0 &&
        strlen(node->text) < sizeof g->program) {
        g->fallback = RH_FALLBACK_EXEC;
        snprintf(g->program, sizeof g->program, "%s", node->text);
        return RH_OK;
    }
    g->fallback = RH_FALLBACK_ACTION;
    rh_error why = {""};
    reading quiet = *r;
    quiet.err = &why;
    return read_action(&quiet, node, "fallback", g->other)
               ? refuse(r, node, "fallback", "hold, clone, none, exec:COMMAND or an action")
               : RH_OK;
}

// Numbers by name: {steps: 5000, ...}, each lo to hi.
typedef struct part {
    const char *name;
    double *to;
    double lo, hi;
} part;

static rh_status read_parts(const reading *r, const rh_yaml *node, const char *key,
                            const part *known, int n, const char *expected)
{
    if (node->kind != RH_YAML_MAP)
        return refuse(r, node, key, expected);
    for (int i = 0; i < node->n; i++) {
        int at = 0;
        while (at < n && strcmp(known[at].name, node->key[i]->text) != 0)
            at++;
        if (at == n)
            return refuse(r, node->key[i], key, expected);
        double *to = known[at].to;
        if (!rh_yaml__number(node->item[i], to) || *to < known[at].lo || *to > known[at].hi)
            return refuse(r, node->item[i], known[at].name, expected);
    }
    return RH_OK;
}

static rh_status read_blend(const reading *r, const rh_yaml *node)
{
    rh_guard *g = r->guard;
    const part all[] = {{"step", &g->blend_step, 0.0, 1.0},
                        {"away", &g->blend_away, 0.0, 1.0},
                        {"full", &g->blend_full, 1.0, 1e12}};
    static const char expected[] =
        "{step: SHARE, away: SHARE, full: STEPS}, shares of the range from 0 to 1";
    g->blend_away = AWAY;
    return read_parts(r, node, "blend", all, 3, expected);
}

static rh_status read_step_up(const reading *r, const rh_yaml *node)
{
    rh_guard *g = r->guard;
    const part all[] = {{"steps", &g->up_steps, 1.0, 1e12},
                        {"agreement", &g->up_agreement, 0.0, 1.0},
                        {"coverage", &g->up_coverage, 0.0, 1.0},
                        {"gain", &g->up_gain, -1e300, 1e300}};
    static const char expected[] =
        "{steps: N, agreement: SHARE, coverage: SHARE, gain: SCORE}, steps at least";
    g->steps_up = true;
    rh_status rc = read_parts(r, node, "step_up", all, 4, expected);
    return !rc && isnan(g->up_steps) ? refuse(r, node, "step_up", expected) : rc;
}

static rh_status read_on_alarm(const reading *r, const rh_yaml *node)
{
    bool text = node->kind == RH_YAML_TEXT;
    bool goes_on = text && strcmp(node->text, "continue") == 0;
    *r->goes_on = goes_on;
    return goes_on || (text && strcmp(node->text, "fallback") == 0)
               ? RH_OK
               : refuse(r, node, "on_alarm", "fallback or continue");
}

static rh_status read_forbidden(const reading *r, const rh_yaml *node)
{
    if (node->kind != RH_YAML_LIST)
        return refuse(r, node, "forbidden", "a list of actions");
    for (int i = 0; i < node->n; i++) {
        int at = label_of(r, node->item[i]);
        if (at < 0)
            return refuse(r, node->item[i], "forbidden", "an action of best.yaml");
        r->guard->banned[at] = true;
    }
    return RH_OK;
}

// {name: [LO, HI], ...}; null for an end: no limit there.
static rh_status read_limits(const reading *r, const rh_yaml *node, const char *key,
                             const char *const *name, int n, double *lo, double *hi)
{
    if (node->kind != RH_YAML_MAP)
        return refuse(r, node, key, "a mapping of names to [LO, HI]");
    for (int i = 0; i < node->n; i++) {
        const rh_yaml *pair = node->item[i];
        int at = 0;
        while (at < n && strcmp(name[at], node->key[i]->text) != 0)
            at++;
        if (at == n)
            return refuse(r, node->key[i], key, "a name of best.yaml");
        bool two = pair->kind == RH_YAML_LIST && pair->n == 2;
        for (int k = 0; two && k < 2; k++) {
            double *to = k ? &hi[at] : &lo[at];
            two = rh_yaml__nothing(pair->item[k]) || rh_yaml__number(pair->item[k], to);
        }
        if (!two || lo[at] > hi[at])
            return refuse(r, pair, node->key[i]->text, "[LO, HI]");
    }
    return RH_OK;
}

static rh_status read_seconds(const reading *r, const rh_yaml *node, const char *key,
                              double *seconds)
{
    return node->kind == RH_YAML_TEXT && rh_yaml__number(node, seconds) && *seconds > 0.0
               ? RH_OK
               : refuse(r, node, key, "seconds above 0");
}

static rh_status read_key(const reading *r, const char *key, const rh_yaml *node)
{
    static const char *const known[] = {"safe_action", "forbidden",   "limits",   "trip",
                                        "max_gap",     "alarm_share", "fallback", "on_alarm",
                                        "blend",       "step_up",     "silence",  "answer"};
    const rh_task *task = &r->best->task;
    rh_guard *g = r->guard;
    rh_error why = {""};
    if (strcmp(key, "safe_action") == 0)
        return read_safe(r, node);
    if (strcmp(key, "fallback") == 0)
        return read_fallback(r, node);
    if (strcmp(key, "on_alarm") == 0)
        return read_on_alarm(r, node);
    if (strcmp(key, "blend") == 0)
        return read_blend(r, node);
    if (strcmp(key, "step_up") == 0)
        return read_step_up(r, node);
    if (strcmp(key, "forbidden") == 0 && task->naction)
        return read_forbidden(r, node);
    if (strcmp(key, "limits") == 0 && !task->naction)
        return read_limits(r, node, key, r->best->act_name, task->nact, g->act_lo, g->act_hi);
    if (strcmp(key, "trip") == 0)
        return read_limits(r, node, key, task->obs_name, task->nobs, g->trip_lo, g->trip_hi);
    if (strcmp(key, "max_gap") == 0)
        return read_seconds(r, node, key, &g->max_gap);
    if (strcmp(key, "silence") == 0)
        return read_seconds(r, node, key, &g->silence);
    if (strcmp(key, "answer") == 0)
        return read_seconds(r, node, key, &g->answer);
    if (strcmp(key, "alarm_share") == 0)
        return node->kind == RH_YAML_TEXT && rh_yaml__number(node, &g->share) &&
                       g->share >= 0.0 && g->share <= 1.0
                   ? RH_OK
                   : refuse(r, node, key, "a share, 0 to 1");
    if (strcmp(key, "forbidden") == 0 || strcmp(key, "limits") == 0)
        return refuse(r, node, key,
                      task->naction ? "forbidden: actions are discrete"
                                    : "limits: actions are continuous");
    rh_base__unknown(&why, "no key", key, known, (int)(sizeof known / sizeof *known));
    return rh_fail(r->err, RH_EFORMAT, "%s: %s", rh_base__path_tail(r->path), why.text);
}

// Decision 1.
static rh_status check(const reading *r)
{
    const rh_guard *g = r->guard;
    bool needed = false;
    for (int i = 0; i < r->best->task.naction; i++)
        needed = needed || g->banned[i];
    for (int i = 0; i < r->best->task.nobs; i++)
        needed = needed || !isnan(g->trip_lo[i]) || !isnan(g->trip_hi[i]);
    if (needed && !g->safe && g->fallback == RH_FALLBACK_DEFAULT)
        return rh_fail(r->err, RH_EFORMAT,
                       "%s: no safe_action, expected one beside forbidden and trip",
                       rh_base__path_tail(r->path));
    bool acts = g->fallback != RH_FALLBACK_DEFAULT && g->fallback != RH_FALLBACK_HOLD;
    if (!isnan(g->blend_away) && !acts)
        return rh_fail(r->err, RH_EFORMAT,
                       "%s: blend without a fallback to blend with, expected fallback: clone, "
                       "none, exec:COMMAND or an action",
                       rh_base__path_tail(r->path));
    if (g->safe && r->best->task.naction && g->banned[(int)g->act[0]])
        return rh_fail(r->err, RH_EFORMAT,
                       "%s: safe_action %s is forbidden, expected an allowed one",
                       rh_base__path_tail(r->path), r->best->label[(int)g->act[0]]);
    for (int k = 0; g->safe && k < r->best->task.nact && !r->best->task.naction; k++)
        if (g->act[k] < g->act_lo[k] || g->act[k] > g->act_hi[k])
            return rh_fail(r->err, RH_EFORMAT,
                           "%s: safe_action %g is past the limits of %s, expected one inside",
                           rh_base__path_tail(r->path), g->act[k], r->best->act_name[k]);
    return RH_OK;
}

rh_status rh_guard__read(rh_guard *guard, const char *path, const rh_best *best, rh_error *err)
{
    bool goes_on = false;
    reading r = {guard, best, path, err, &goes_on};
    rh_yaml *root = NULL;
    *guard = (rh_guard){
        .max_gap = INFINITY, .silence = INFINITY, .share = SHARE, .blend_full = FULL};
    guard->blend_step = guard->blend_away = guard->answer = NAN;
    guard->up_steps = guard->up_agreement = guard->up_coverage = guard->up_gain = NAN;
    for (int i = 0; i < RH_MAX_OBS; i++)
        guard->trip_lo[i] = guard->trip_hi[i] = NAN;
    for (int k = 0; k < RH_MAX_ACT; k++)
        guard->act_lo[k] = guard->act_hi[k] = NAN;
    if (!path)
        return RH_OK;
    rh_status rc = rh_yaml__read(&root, path, err);
    if (!rc && root->kind != RH_YAML_MAP)
        rc = refuse(&r, root, "the guard file", "keys such as safe_action");
    for (int i = 0; !rc && i < root->n; i++)
        rc = read_key(&r, root->key[i]->text, root->item[i]);
    guard->on_alarm = guard->on_alarm && !goes_on;
    if (!rc)
        rc = check(&r);
    rh_yaml__destroy(root);
    return rc;
}
