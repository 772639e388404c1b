// best.c - reads best.yaml back (write.c, write_task.c): the agent, the task, the promise.
//
// 1. Strict about what an agent depends on: a hyperparameter that is missing is refused,
//    because the default of another version may differ; so is an unknown one. People may add
//    sections of their own.
// 2. All texts are borrowed from the YAML tree, which the result keeps.
// 3. The file starts no program and loads no plug-in: somebody else may have written it. A
//    program needs rh_plugin_allow_exec(); a plug-in has to be loaded before. That a file lies
//    in a study's folder proves nothing, because a folder can be copied as a whole.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/number.h"
#include "base/text.h"
#include "base/yaml.h"
#include "log/log.h"
#include "plan.h"
#include "plugin/plugin.h"
#include "rehearse/plugin.h"
#include "study.h"
#include "study_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NHP 64                            // hyperparameters of an agent, at most
#define MOST_STEPS INT64_C(1000000000000) // as in plan_table.c

typedef struct reading {
    rh_best *best;
    const rh_yaml *root;
    const char *path;
    rh_error *err;
} reading;

static rh_status refuse(const reading *r, const rh_yaml *node, const char *key,
                        const char *expected)
{
    char shown[RH_YAML__SHOWN] = "nothing";
    if (node)
        rh_yaml__show(node, shown);
    return rh_fail(r->err, RH_EFORMAT, "%s: %s is %s, expected %s", rh_base__path_tail(r->path),
                   key, shown, expected);
}

static rh_status out_of_memory(const reading *r)
{
    return rh_base__no_memory(r->err, rh_base__path_tail(r->path));
}

static const rh_yaml *below(const rh_yaml *map, const char *name)
{
    return map && map->kind == RH_YAML_MAP ? rh_yaml__get(map, name) : NULL;
}

static const char *text_of(const rh_yaml *node)
{
    return node && node->kind == RH_YAML_TEXT ? node->text : NULL;
}

// A number; null is NAN.
static bool number_of(const rh_yaml *node, double *x)
{
    if (!text_of(node))
        return false;
    if (!rh_yaml__nothing(node))
        return rh_yaml__number(node, x);
    *x = NAN;
    return true;
}

static bool pair_of(const rh_yaml *node, double *lo, double *hi)
{
    return node && node->kind == RH_YAML_LIST && node->n == 2 && number_of(node->item[0], lo) &&
           number_of(node->item[1], hi);
}

// ---------------------------------------------------------------------------- the agent

// An agent with all its hyperparameters. Owned: *hp.
static rh_status read_setting(const reading *r, const rh_yaml *agent,
                              const rh_agent_type **kind, double **hp)
{
    const char *name = text_of(below(agent, "name"));
    rh_error why = {""};
    if (!name)
        return refuse(r, below(agent, "name"), "agent.name",
                      "an agent, as in best.yaml of a study");
    const rh_agent_type *type = *kind = rh_plugin_agent(name, &why);
    if (!type)
        return rh_fail(r->err, RH_EFORMAT, "%s: %s", rh_base__path_tail(r->path), why.text);
    *hp = rh_alloc((size_t)type->nparam + 1, sizeof **hp);
    if (!*hp)
        return out_of_memory(r);
    bool given[NHP] = {false};
    for (int i = 0; i < agent->n; i++) {
        const char *key = agent->key[i]->text, *value = text_of(agent->item[i]);
        int p = 0;
        if (strcmp(key, "name") == 0)
            continue;
        rh_status rc = rh_param_lookup(type->param, type->nparam, name, key, &p, &why);
        if (!rc && !value)
            return refuse(r, agent->item[i], key, "one value");
        if (!rc)
            rc = rh_param_parse(&type->param[p], name, value, &(*hp)[p], &why);
        if (rc)
            return rh_fail(r->err, RH_EFORMAT, "%s:%d: %s", rh_base__path_tail(r->path),
                           agent->key[i]->line, why.text);
        if (p < NHP)
            given[p] = true;
    }
    for (int p = 0; p < type->nparam && p < NHP; p++)
        if (!given[p])
            return rh_fail(r->err, RH_EFORMAT,
                           "%s: agent %s has no %s, expected all its hyperparameters",
                           rh_base__path_tail(r->path), name, type->param[p].name);
    return RH_OK;
}

// Settings of agents that are not at hand are left out: a file starts no program by itself.
static rh_status read_tied(const reading *r)
{
    rh_best *b = r->best;
    const rh_yaml *list = below(r->root, "switch");
    if (list && (list->kind != RH_YAML_LIST || list->n > RH_MAX_TIED))
        return refuse(r, list, "switch", "a list of up to 3 settings");
    for (int i = 0; list && i < list->n; i++) {
        const rh_yaml *agent = below(list->item[i], "agent");
        const char *name = text_of(below(agent, "name"));
        rh_tied *t = &b->tied[b->ntied];
        if (name && !rh_plugin__agent_at_hand(name))
            continue;
        b->ntied++;
        rh_status rc = read_setting(r, agent, &t->agent, &t->hp);
        if (rc)
            return rc;
        if (!number_of(below(list->item[i], "score"), &t->score) ||
            !pair_of(below(list->item[i], "interval"), &t->lo95, &t->hi95))
            return refuse(r, list->item[i], "a setting of switch",
                          "{agent: {...}, score: X, interval: [LO, HI]}");
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- the task

static rh_status read_sensors(const reading *r, const rh_yaml *sensors)
{
    rh_best *b = r->best;
    if (!sensors || sensors->kind != RH_YAML_LIST || sensors->n < 1 || sensors->n > RH_MAX_OBS)
        return refuse(r, sensors, "task.sensors", "a list of 1 to 256 sensors");
    size_t n = (size_t)sensors->n;
    b->task.nobs = sensors->n;
    b->obs_unit = rh_alloc(n, sizeof *b->obs_unit);
    b->seen_lo = rh_alloc(2 * n, sizeof *b->seen_lo);
    if (!b->obs_unit || !b->seen_lo)
        return out_of_memory(r);
    b->seen_hi = b->seen_lo + n;
    for (int i = 0; i < sensors->n; i++) {
        const rh_yaml *s = sensors->item[i], *seen = below(s, "seen");
        const char *name = text_of(below(s, "name")), *unit = text_of(below(s, "unit"));
        if (!name || !*name)
            return refuse(r, s, "a sensor of task", "{name: NAME, range: [LO, HI]}");
        if (!pair_of(below(s, "range"), &b->task.obs_lo[i], &b->task.obs_hi[i]) ||
            !isfinite(b->task.obs_lo[i]) || !isfinite(b->task.obs_hi[i]) ||
            !(b->task.obs_lo[i] < b->task.obs_hi[i]))
            return refuse(r, below(s, "range"), "range of a sensor", "[LO, HI] with LO < HI");
        if (!pair_of(seen, &b->seen_lo[i], &b->seen_hi[i]))
            b->seen_lo[i] = b->seen_hi[i] = NAN;
        b->task.obs_name[i] = name;
        b->obs_unit[i] = unit ? unit : "";
        for (int k = 0; k < i; k++)
            if (strcmp(name, b->task.obs_name[k]) == 0)
                return refuse(r, below(s, "name"), "a sensor's name", "another, it is used");
    }
    return RH_OK;
}

// A sensor of the task by its name; -1: there is none.
static int16_t sensor_of(const rh_best *b, const rh_yaml *name)
{
    const char *text = text_of(name);
    for (int i = 0; text && i < b->task.nobs; i++)
        if (strcmp(text, b->task.obs_name[i]) == 0)
            return (int16_t)i;
    return -1;
}

// What tile coders use of the sensors.
static rh_status read_tiled(const reading *r, const rh_yaml *tiled)
{
    rh_best *b = r->best;
    rh_tiled *t = &b->task.tiled;
    const rh_yaml *sensors = below(tiled, "sensors"), *pairs = below(tiled, "pairs");
    if (!tiled)
        return RH_OK;
    bool right = sensors && sensors->kind == RH_YAML_LIST && sensors->n >= 1 &&
                 sensors->n <= RH_TILED_SENSORS && pairs && pairs->kind == RH_YAML_LIST &&
                 pairs->n <= RH_TILED_PAIRS;
    for (int i = 0; right && i < sensors->n; i++) {
        t->sensor[i] = sensor_of(b, sensors->item[i]);
        right = t->sensor[i] >= 0;
    }
    for (int i = 0; right && i < pairs->n; i++) {
        const rh_yaml *pair = pairs->item[i];
        right = pair->kind == RH_YAML_LIST && pair->n == 2;
        for (int k = 0; right && k < 2; k++) {
            t->pair[i][k] = sensor_of(b, pair->item[k]);
            right = t->pair[i][k] >= 0;
        }
    }
    if (!right)
        return refuse(r, tiled, "task.tiled",
                      "{sensors: [up to 12 of the task], pairs: [up to 15 of [A, B]]}");
    t->nsensor = sensors->n;
    t->npair = pairs->n;
    return RH_OK;
}

// How the sensors are made that the plant does not send.
static rh_status read_made(const reading *r, const rh_yaml *task)
{
    rh_best *b = r->best;
    const rh_yaml *sent = below(task, "sent"), *stack = below(task, "stack");
    uint64_t nsent = (uint64_t)b->task.nobs, depth = 1;
    rh_observer *observer = NULL;
    rh_error why = {""};
    b->derive = text_of(below(task, "derive"));
    if (sent && (!text_of(sent) || !rh_yaml__whole(sent, &nsent) || nsent < 1 ||
                 nsent > (uint64_t)b->task.nobs))
        return refuse(r, sent, "task.sent", "how many sensors the plant sends");
    if (stack && (!text_of(stack) || !rh_yaml__whole(stack, &depth) || depth < 1 || depth > 64))
        return refuse(r, stack, "task.stack", "a whole number, 1 to 64");
    b->nsent = (int)nsent;
    b->stack = (int)depth;
    b->nnow = b->nsent + rh_derive__count(b->derive);
    rh_status rc = rh_observer__create(&observer, b->task.obs_name, b->nsent, b->derive,
                                       b->stack, b->task.naction, b->task.nact, &why);
    int nobs = rc ? 0 : rh_observer__nobs(observer);
    rh_observer__destroy(observer);
    if (rc)
        return rh_fail(r->err, rc == RH_ENOMEM ? rc : RH_EFORMAT, "%s: task: %s",
                       rh_base__path_tail(r->path), why.text);
    if (nobs != b->task.nobs)
        return rh_fail(r->err, RH_EFORMAT,
                       "%s: task: sent, derive and stack make %d sensors, expected the %d of "
                       "task.sensors",
                       rh_base__path_tail(r->path), nobs, b->task.nobs);
    return RH_OK;
}

static rh_status read_discrete(const reading *r, const rh_yaml *actions)
{
    rh_best *b = r->best;
    const char *name = text_of(below(below(r->root, "task"), "action"));
    b->task.naction = actions->n;
    b->task.nact = 1;
    b->label = rh_alloc((size_t)actions->n, sizeof *b->label);
    b->act_name = rh_alloc(1, sizeof *b->act_name);
    if (!b->label || !b->act_name)
        return out_of_memory(r);
    b->act_name[0] = name ? name : "action";
    for (int i = 0; i < actions->n; i++) {
        b->label[i] = text_of(actions->item[i]);
        if (!b->label[i] || !*b->label[i])
            return refuse(r, actions->item[i], "an action", "a name");
        for (int k = 0; k < i; k++)
            if (strcmp(b->label[i], b->label[k]) == 0)
                return refuse(r, actions->item[i], "an action's name", "another, it is used");
    }
    return RH_OK;
}

static rh_status read_actions(const reading *r, const rh_yaml *actions)
{
    rh_best *b = r->best;
    if (!actions || actions->kind != RH_YAML_LIST || actions->n < 1)
        return refuse(r, actions, "task.actions", "a list of actions");
    if (actions->item[0]->kind == RH_YAML_TEXT) {
        if (actions->n > RH_MAX_ACTIONS)
            return refuse(r, actions, "task.actions", "at most 256 actions");
        return read_discrete(r, actions);
    }
    if (actions->n > RH_MAX_ACT)
        return refuse(r, actions, "task.actions", "at most 32 numbers in an action");
    b->task.nact = actions->n;
    b->act_name = rh_alloc((size_t)actions->n, sizeof *b->act_name);
    if (!b->act_name)
        return out_of_memory(r);
    for (int i = 0; i < actions->n; i++) {
        const rh_yaml *a = actions->item[i];
        b->act_name[i] = text_of(below(a, "name"));
        if (!b->act_name[i] || !*b->act_name[i])
            return refuse(r, a, "a continuous action", "{name: NAME, range: [LO, HI]}");
        if (!pair_of(below(a, "range"), &b->task.act_lo[i], &b->task.act_hi[i]) ||
            !isfinite(b->task.act_lo[i]) || !isfinite(b->task.act_hi[i]) ||
            !(b->task.act_lo[i] < b->task.act_hi[i]))
            return refuse(r, below(a, "range"), "range of an action", "[LO, HI] with LO < HI");
    }
    return RH_OK;
}

static rh_status read_task(const reading *r)
{
    rh_best *b = r->best;
    const rh_yaml *task = below(r->root, "task"), *reward = below(task, "reward");
    const rh_yaml *continuing = below(task, "continuing"), *gamma = below(task, "gamma"),
                  *steps = below(task, "steps"), *lowest = below(reward, "lowest"),
                  *cutoff = below(task, "cutoff");
    uint64_t nstep = 0, most = 0;
    b->tasked = task != NULL;
    if (!task)
        return RH_OK;
    rh_status rc = read_sensors(r, below(task, "sensors"));
    if (!rc)
        rc = read_actions(r, below(task, "actions"));
    if (!rc)
        rc = read_made(r, task);
    if (!rc)
        rc = read_tiled(r, below(task, "tiled"));
    if (rc)
        return rc;
    if (!text_of(continuing) || !rh_yaml__truth(continuing, &b->task.continuing))
        return refuse(r, continuing, "task.continuing", "true or false");
    if (!number_of(gamma, &b->task.gamma) || !(b->task.gamma >= 0.0 && b->task.gamma <= 1.0))
        return refuse(r, gamma, "task.gamma", "a number, 0 to 1");
    if (!text_of(steps) || !rh_yaml__whole(steps, &nstep) || nstep < 1 || nstep > MOST_STEPS)
        return refuse(r, steps, "task.steps", "a whole number, 1 or more");
    b->task.nstep = (int64_t)nstep;
    bool never = text_of(cutoff) && strcmp(cutoff->text, "never") == 0;
    if (cutoff && !never &&
        (!text_of(cutoff) || !rh_yaml__whole(cutoff, &most) || most < 1 || most > MOST_STEPS))
        return refuse(r, cutoff, "task.cutoff", "never, or a number of steps");
    b->cutoff = never ? INT64_MAX : (int64_t)most;
    b->task.reward_lo = NAN;
    if (lowest && !number_of(lowest, &b->task.reward_lo))
        return refuse(r, lowest, "task.reward.lowest", "a number");
    if (isnan(b->task.reward_lo))
        b->task.reward_lo = -INFINITY;
    const char *name = text_of(below(reward, "name"));
    b->reward_name = name ? name : "reward";
    b->reward_formula = text_of(below(reward, "formula"));
    return RH_OK;
}

// ---------------------------------------------------------------------------- the promise

// The points of a list; how many, or -1.
static int points_of(const rh_yaml *list, double *x)
{
    if (!list || list->kind != RH_YAML_LIST || list->n > RH_MAX_POINTS)
        return -1;
    for (int i = 0; i < list->n; i++)
        if (!number_of(list->item[i], &x[i]))
            return -1;
    return list->n;
}

static rh_status read_promise(const reading *r)
{
    rh_promise *p = &r->best->promise;
    const rh_yaml *chosen = below(r->root, "chosen"), *promise = below(r->root, "promise");
    uint64_t n = 0, nrun = 0;
    p->score = p->lo95 = p->hi95 = p->logged = p->defaults = NAN;
    p->alarm = p->false_alarms = NAN;
    (void)number_of(below(chosen, "score"), &p->score);
    (void)pair_of(below(chosen, "interval"), &p->lo95, &p->hi95);
    (void)number_of(below(below(chosen, "logged"), "score"), &p->logged);
    (void)number_of(below(below(below(r->root, "today"), "defaults"), "score"), &p->defaults);
    if (text_of(below(chosen, "score_per")) && rh_yaml__whole(below(chosen, "score_per"), &n))
        p->per_steps = (int64_t)(n > INT64_MAX / 2 ? 0 : n);
    if (!promise)
        return RH_OK;
    int ncurve = points_of(below(promise, "mean"), p->mean);
    if (ncurve < 1 || points_of(below(promise, "spread"), p->spread) != ncurve)
        return refuse(r, below(promise, "mean"), "promise.mean",
                      "as many numbers as promise.spread, at most 64");
    for (int i = 0; i < ncurve; i++)
        if (p->spread[i] < 0.0)
            return refuse(r, below(promise, "spread")->item[i], "promise.spread",
                          "standard deviations, 0 or more");
    if (!text_of(below(promise, "steps")) || !rh_yaml__whole(below(promise, "steps"), &n) ||
        n < (uint64_t)ncurve || n > INT64_MAX / RH_MAX_POINTS / 2)
        return refuse(r, below(promise, "steps"), "promise.steps",
                      "a whole number, at least one for each point");
    if (!text_of(below(promise, "runs")) || !rh_yaml__whole(below(promise, "runs"), &nrun) ||
        nrun < 1 || nrun > INT32_MAX)
        return refuse(r, below(promise, "runs"), "promise.runs", "a whole number from 1");
    if (!number_of(below(promise, "alarm"), &p->alarm) || !(p->alarm >= 0.0))
        return refuse(r, below(promise, "alarm"), "promise.alarm", "a number, 0 or more");
    (void)number_of(below(promise, "false_alarms"), &p->false_alarms);
    p->ncurve = ncurve;
    p->nstep = (int64_t)n;
    p->nrun = (int)nrun;
    return RH_OK;
}

static void read_rate(const rh_yaml *map, rh_rate *rate)
{
    uint64_t n = 0, of = 0;
    const rh_yaml *count = below(map, "failures"), *all = below(map, "of");
    *rate = (rh_rate){NAN, NAN, NAN, 0, 0};
    if (!number_of(below(map, "rate"), &rate->rate) ||
        !pair_of(below(map, "interval"), &rate->lo95, &rate->hi95))
        *rate = (rh_rate){NAN, NAN, NAN, 0, 0};
    if (text_of(count) && rh_yaml__whole(count, &n) && text_of(all) &&
        rh_yaml__whole(all, &of) && n <= of && of < INT64_MAX) {
        rate->n = (int64_t)n;
        rate->of = (int64_t)of;
    }
}

// What a failure is, and how many were promised.
static rh_status read_failures(const reading *r)
{
    rh_best *b = r->best;
    rh_promise *p = &b->promise;
    const rh_yaml *map = below(r->root, "failures"), *rule = below(map, "rule");
    const rh_yaml *known = below(rule, "known"), *ends = below(rule, "ends");
    rh_failure parts = {.words = text_of(below(rule, "words")),
                        .formula = text_of(below(rule, "formula"))};
    rh_error why = {""};
    read_rate(below(map, "first"), &p->fail_first);
    read_rate(below(map, "all"), &p->fail);
    read_rate(below(map, "last"), &p->fail_last);
    read_rate(below(map, "logged"), &p->fail_logged);
    read_rate(below(map, "defaults"), &p->fail_defaults);
    p->fail_per_steps = text_of(below(map, "per")) && *text_of(below(map, "per")) == '1';
    if (!map || !b->tasked)
        return RH_OK;
    if (!parts.words || !text_of(known) || !rh_yaml__truth(known, &parts.known) ||
        !text_of(ends) || !rh_yaml__truth(ends, &parts.ends) ||
        !number_of(below(rule, "below"), &parts.below))
        return refuse(r, rule, "failures.rule", "{words: W, known: K, ends: E, below: X}");
    if (isnan(parts.below)) // null: any
        parts.below = INFINITY;
    rh_status rc = rh_failure__make(&b->failure, &parts, b->task.nobs, &why);
    return rc ? rh_fail(r->err, rc == RH_ENOMEM ? rc : RH_EFORMAT, "%s: %s",
                        rh_base__path_tail(r->path), why.text)
              : RH_OK;
}

// ---------------------------------------------------------------------------- limits

static rh_status read_limit(const reading *r, const rh_yaml *map, rh_best_limit *out)
{
    const char *unit = text_of(below(map, "unit")), *name;
    rh_constraint *l = &out->limit;
    int u = 0;
    double most;
    while ((name = rh_limits__unit((rh_limit_unit)u)) && !(unit && strcmp(unit, name) == 0))
        u++;
    l->event = text_of(below(map, "event"));
    out->formula = text_of(below(map, "formula"));
    if (!l->event || !name || !number_of(below(map, "most"), &most) || !(most >= 0.0) ||
        most > rh_limits__scale((rh_limit_unit)u))
        return refuse(r, map, "at_most.limits", "{event: E, unit: per 1000 steps, most: X}");
    l->unit = (rh_limit_unit)u;
    l->most = most / rh_limits__scale(l->unit);
    l->counted = !out->formula
                     ? strcmp(l->event, "terminal") == 0 ? RH_COUNT_ENDS : RH_COUNT_FAILURES
                 : l->unit == RH_PERCENT_OF_EPISODES ? RH_COUNT_EPISODES
                                                     : RH_COUNT_STEPS;
    return RH_OK;
}

static rh_status read_limits(const reading *r)
{
    rh_best *b = r->best;
    const rh_yaml *list = below(below(r->root, "at_most"), "limits");
    rh_status rc = RH_OK;
    if (!list || !b->tasked)
        return RH_OK;
    if (list->kind != RH_YAML_LIST || list->n > RH_MAX_LIMITS)
        return refuse(r, list, "at_most.limits", "a list of at most 8 limits");
    for (int i = 0; i < list->n && !rc; i++)
        rc = read_limit(r, list->item[i], &b->limit[b->nlimit++]);
    return rc;
}

// ---------------------------------------------------------------------------- all of it

// Decision 3.
static rh_status check_trust(const reading *r)
{
    const rh_yaml *list = below(r->root, "plugins");
    const char *agent = text_of(below(below(r->root, "agent"), "name")), *path = NULL;
    char shown[240];
    if (!agent || rh_plugin__agent_at_hand(agent))
        return RH_OK;
    if (strncmp(agent, "exec:", 5) == 0) {
        if (rh_plugin__exec_allowed())
            return RH_OK;
        rh_text__printable(agent + 5, shown, sizeof shown);
        return rh_fail(r->err, RH_EINVAL,
                       "%s: agent.name would start the program '%s'; if you trust it, use "
                       "--allow-exec",
                       rh_base__path_tail(r->path), shown);
    }
    for (int i = 0; list && list->kind == RH_YAML_LIST && i < list->n && !path; i++)
        path = text_of(list->item[i]);
    if (!path)
        return RH_OK;
    rh_text__printable(path, shown, sizeof shown);
    return rh_fail(
        r->err, RH_EINVAL,
        "%s: would load the plug-in '%s'; if you trust it, use --plugin with its path",
        rh_base__path_tail(r->path), shown);
}

// What the agent begins with, in a file beside this one.
static rh_status read_start(const reading *r)
{
    const rh_yaml *map = below(r->root, "start");
    rh_best *b = r->best;
    const char *file = text_of(below(map, "file")), *sum = text_of(below(map, "checksum"));
    const char *slash = strrchr(r->path, '/');
    uint64_t n = 0, practice = 0;
    char shown[16], path[4096];
    if (!map)
        return RH_OK;
    if (!b->tasked || !file || strchr(file, '/') || !sum || !text_of(below(map, "steps")) ||
        !rh_yaml__whole(below(map, "steps"), &n) || n < 1 || n > INT32_MAX ||
        !text_of(below(map, "practice")) ||
        !rh_yaml__whole(below(map, "practice"), &practice) || practice > INT32_MAX)
        return refuse(r, map, "start",
                      "{file: NAME, steps: N, practice: N, checksum: C} and a task");
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - r->path + 1) : 0, r->path,
             file);
    b->task.prior = (rh_prior){.n = (int64_t)n, .npractice = (int64_t)practice};
    rh_status rc = rh_study__read_start(&b->task.prior, path, &b->task, r->err);
    if (rc) {
        b->task.prior = (rh_prior){0};
        return rc;
    }
    snprintf(shown, sizeof shown, "%08" PRIx32, rh_study__start_sum(&b->task, b->task.prior));
    return strcmp(shown, sum) == 0
               ? RH_OK
               : rh_fail(r->err, RH_EFORMAT,
                         "%s: start.checksum is %.40s, but %s has %s: it is of another study",
                         rh_base__path_tail(r->path), sum, rh_base__path_tail(path), shown);
}

rh_status rh_best_read(rh_best **out, const char *path, rh_error *err)
{
    rh_yaml *root = NULL;
    rh_best *best = rh_alloc(1, sizeof *best);
    if (!best)
        return rh_base__no_memory(err, rh_base__path_tail(path));
    reading r = {.best = best, .path = path, .err = err};
    rh_status rc = rh_yaml__read(&root, path, err);
    best->tree = root;
    r.root = root;
    if (!rc)
        rc = check_trust(&r);
    if (!rc)
        rc = read_setting(&r, below(root, "agent"), &best->agent, &best->hp);
    if (!rc)
        rc = read_tied(&r);
    if (!rc)
        rc = read_task(&r);
    if (!rc)
        rc = read_start(&r);
    if (!rc)
        rc = read_promise(&r);
    if (!rc)
        rc = read_failures(&r);
    if (!rc)
        rc = read_limits(&r);
    const char *version = text_of(below(root, "rehearse"));
    best->version = version ? version : "";
    if (rc) {
        rh_best_destroy(best);
        return rc;
    }
    *out = best;
    return RH_OK;
}

void rh_best_destroy(rh_best *best)
{
    if (!best)
        return;
    rh_yaml__destroy(best->tree);
    rh_free((void *)(uintptr_t)best->task.prior.row);
    rh_failure__destroy(best->failure);
    rh_free(best->hp);
    for (int i = 0; i < best->ntied; i++)
        rh_free(best->tied[i].hp);
    rh_free((void *)best->obs_unit);
    rh_free(best->seen_lo);
    rh_free((void *)best->label);
    rh_free((void *)best->act_name);
    rh_free(best);
}

// The ranges of the sensors, and how episodes are cut off, as in the models. A sensor of
// another name has its own range (plan_settle.c).
static rh_status enter_task(rh_plan *plan, const rh_best *best, const char *path, rh_error *err)
{
    const rh_yaml *rule = below(below(best->tree, "plan"), "evaluation.cutoff_as");
    rh_status rc = RH_OK;
    char text[100];
    rh_key__put(&plan->setting, rh_base__copy(path));
    if (!plan->setting)
        return rh_plan__no_memory(err);
    for (int i = 0; i < best->task.nobs && !rc; i++) {
        char key[300], end[2][RH_NUMBER__SIZE];
        rh_number__print(best->task.obs_lo[i], end[0]);
        rh_number__print(best->task.obs_hi[i], end[1]);
        snprintf(key, sizeof key, "ranges.%.250s", best->task.obs_name[i]);
        snprintf(text, sizeof text, "%s:%s", end[0], end[1]);
        rc = rh_plan_set(plan, key, text, path, err);
    }
    snprintf(text, sizeof text, "%" PRId64, best->cutoff);
    if (!rc && best->cutoff)
        rc = rh_plan_set(plan, "evaluation.cutoff", best->cutoff == INT64_MAX ? "never" : text,
                         path, err);
    if (!rc && best->cutoff && text_of(rule))
        rc = rh_plan_set(plan, "evaluation.cutoff_as", rule->text, path, err);
    return rc;
}

rh_status rh_plan_setting(rh_plan *plan, const char *path, bool search, rh_error *err)
{
    rh_best *best = NULL;
    rh_status rc = rh_best_read(&best, path, err);
    if (rc)
        return rc;
    const rh_agent_type *type = best->agent;
    rc = rh_plan_set(plan, "agent.name", type->name, path, err);
    for (int i = 0; i < type->nparam && !rc; i++) {
        const rh_param *p = &type->param[i];
        char key[100], value[64];
        if (search && p->usual_lo < p->usual_hi)
            continue;
        snprintf(key, sizeof key, "agent.%.80s", p->name);
        rh_param__format(p, best->hp[i], value, sizeof value);
        rc = rh_plan_set(plan, key, value, path, err);
    }
    bool runs = plan->command == RH_PLAN_RUN || plan->command == RH_PLAN_SWEEP;
    if (!rc && runs && best->tasked)
        rc = enter_task(plan, best, path, err);
    if (runs)
        plan->tiled = best->task.tiled;
    rh_free((void *)(uintptr_t)plan->prior.row);
    plan->prior = best->task.prior; // the plan's now
    best->task.prior = (rh_prior){0};
    rh_best_destroy(best);
    return rc;
}
