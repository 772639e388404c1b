// plan_settle.c - the fields of a plan from what was set: first without a log, then with it.
//
// 1. The defaults of `tune`:
//
//        agent        auto: several, and a clone of the controller (plan_agents.c)
//        parameters   the usual ranges of the agent's table
//        method       race for at most 512 settings, otherwise bayes
//        budget       100 settings of bayes and random, all of grid and race; bayes
//                     proposes 4 at a time on any machine: the batch changes the result
//        evaluation   10 runs (race: 30, since only survivors get them all), scored by
//                     the average, mean over runs and members; curves of 20 points
//        confirm      8 settings in 5 models, 10 runs in each
//
//    `run` and `sweep` do 30 runs; parameters that are not set keep their default.
// 2. race compares means of paired runs: for medians and worst runs grid is the default.
// 3. A search is created as a check: it refuses before a model is fitted, which may take long.
// 4. Several agents, some with networks: 24 settings of 2 runs; the confirmation has one
//    setting more than there are agents, 2 runs in each model, and the check 1. More models
//    tell more than more runs in one.

#include "base/base.h"
#include "plan.h"
#include "search/search.h"
#include "study.h"

#include <math.h>
#include <string.h>

#define FEW 512 // settings that race takes by default
#define MOST 1000000
#define TRIALS 100
#define BATCH 4
#define RUNS 10
#define RACE_RUNS 30
#define CURVE 20
#define CONFIRM_SETTINGS 8
#define CONFIRM_MEMBERS 5
#define CONFIRM_RUNS 10
#define CHECK_RUNS 3
#define TIMED_TRIALS 1000 // with --within: more than an hour reaches; by hand
#define COSTLY_TRIALS 24
#define COSTLY_RUNS 2
#define COSTLY_CONFIRM 2
#define COSTLY_CHECK 1
#define PRACTICE 30000
#define SURE 0.95 // as for all intervals

// ---------------------------------------------------------------------------- defaults

void rh_plan__clear_fields(rh_plan *plan)
{
    for (int i = 0; i < plan->nrange; i++)
        rh_free(plan->range[i].sensor);
    for (int i = 0; i < plan->nlimit; i++)
        rh_free(plan->limit[i].sensor);
    rh_free(plan->range);
    rh_free(plan->limit);
    rh_free(plan->repr_param);
    rh_free(plan->candidate);
    rh_free(plan->task_opt);
    rh_plan__clear_space(plan);
    rh_plan__clear_lines(plan->book);
}

static void reset(rh_plan *plan)
{
    rh_plan__clear_fields(plan);
    *plan = (rh_plan){.command = plan->command,
                      .prior = plan->prior,
                      .name = plan->name,
                      .data = plan->data,
                      .starts = plan->starts,
                      .setting = plan->setting,
                      .at_most = plan->at_most,
                      .also = plan->also,
                      .sure = SURE,
                      .hp = plan->hp,
                      .method_param = plan->method_param,
                      .model_param = plan->model_param,
                      .fit = rh_model_defaults(),
                      .seed = 1,
                      .circles = 1,
                      .confirm_settings = -1,
                      .check_runs = -1,
                      .practice = PRACTICE,
                      .book = plan->book};
}

// The defaults.
static rh_status fill(rh_plan *plan, rh_error *err)
{
    const rh_key__said *curve = rh_plan__said(plan, "evaluation.curve");
    bool asked = rh_plan__said(plan, "confirm.members") || rh_plan__said(plan, "confirm.runs");
    bool counted = rh_plan__said(plan, "confirm") || rh_plan__said(plan, "confirm.settings");
    if (plan->confirm_settings < 0 || (asked && !counted)) // over a preset without
        plan->confirm_settings = CONFIRM_SETTINGS;
    if (!plan->confirm_members)
        plan->confirm_members = CONFIRM_MEMBERS;
    if (!plan->confirm_runs)
        plan->confirm_runs = CONFIRM_RUNS;
    if (!curve)
        plan->ncurve = plan->nstep > 0 && plan->nstep < CURVE ? (int)plan->nstep : CURVE;
    if (curve && plan->nstep > 0 && plan->ncurve > plan->nstep)
        return rh_key__refuse(curve, NULL, "", err, "at most one point for each step of a run");
    return RH_OK;
}

// ---------------------------------------------------------------------------- sensors

// What ranges and limits of sensors have in common.
typedef struct pairs {
    const char *section;     // "ranges."
    bool one;                // one of the two may be left out
    const char *expected[2]; // on the command line, in a file
} pairs;

static const pairs range_pairs = {
    "ranges.", false, {"LO:HI with LO below HI", "[lo, hi] with lo below hi"}};
static const pairs limit_pairs = {
    "limits.",
    true,
    {"LO:HI with LO below HI, LO: or :HI", "[lo, hi] with lo below hi, [lo, ] or [, hi]"}};

// A number; NAN where nothing is written and that is allowed.
static bool read_end(const rh_yaml *node, bool one, double *x)
{
    if (one && (!node || rh_yaml__nothing(node))) {
        *x = NAN;
        return true;
    }
    return node && rh_yaml__number(node, x);
}

// "lo:hi"
static bool read_colon(const char *text, bool one, double *lo, double *hi)
{
    char end[2][40];
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (!colon || n >= sizeof end[0] || strlen(colon + 1) >= sizeof end[1])
        return false;
    memcpy(end[0], text, n);
    end[0][n] = '\0';
    memcpy(end[1], colon + 1, strlen(colon + 1) + 1);
    rh_yaml first = {.kind = RH_YAML_TEXT, .plain = true, .text = end[0]};
    rh_yaml second = {.kind = RH_YAML_TEXT, .plain = true, .text = end[1]};
    return read_end(&first, one, lo) && read_end(&second, one, hi);
}

// [lo, hi], or "lo:hi" from the command line.
static rh_status read_pair(const pairs *p, const rh_key__said *said, double *lo, double *hi,
                           rh_error *err)
{
    const rh_yaml *node = said->value;
    bool good = false;
    if (node->kind == RH_YAML_LIST && (node->n == 2 || (p->one && node->n == 1)))
        good = read_end(node->item[0], p->one, lo) &&
               read_end(node->n == 2 ? node->item[1] : NULL, p->one, hi);
    if (node->kind == RH_YAML_TEXT)
        good = read_colon(node->text, p->one, lo, hi);
    if (good && (*lo < *hi || isnan(*lo) != isnan(*hi)))
        return RH_OK;

    // two texts are shown as they were written
    char text[64];
    rh_yaml shown = *node;
    if (node->kind == RH_YAML_LIST && node->n == 2 && node->item[0]->kind == RH_YAML_TEXT &&
        node->item[1]->kind == RH_YAML_TEXT) {
        snprintf(text, sizeof text, "[%.18s, %.18s]", node->item[0]->text, node->item[1]->text);
        shown = (rh_yaml){.kind = RH_YAML_TEXT, .text = text, .line = node->line};
    }
    return rh_key__refuse(said, &shown, "", err, p->expected[said->file != 0]);
}

// Ranges or limits of sensors, in the order of their names. Owned: *out (*nout).
static rh_status read_pairs(const rh_plan *plan, const pairs *p, rh_plan__range **out,
                            int *nout, rh_error *err)
{
    const rh_key__said *said;
    const char *sensor;
    int n = 0;
    for (int i = 0; rh_plan__below(plan, p->section, &i, &sensor);)
        n++;
    if (!n)
        return RH_OK;
    *out = rh_alloc((size_t)n, sizeof **out);
    if (!*out)
        return rh_plan__no_memory(err);
    for (int i = 0; (said = rh_plan__below(plan, p->section, &i, &sensor)) != NULL;) {
        rh_plan__range new = {0};
        rh_status rc = read_pair(p, said, &new.lo, &new.hi, err);
        if (rc)
            return rc;
        new.sensor = rh_base__copy(sensor);
        if (!new.sensor)
            return rh_plan__no_memory(err);
        int at = (*nout)++;
        for (; at > 0 && strcmp((*out)[at - 1].sensor, sensor) > 0; at--)
            (*out)[at] = (*out)[at - 1];
        (*out)[at] = new;
    }
    return RH_OK;
}

static rh_status place(const rh_plan *plan, const pairs *p, const rh_plan__range *range, int n,
                       const char *const *name, int nobs, double *lo, double *hi, rh_error *err)
{
    for (int k = 0; k < n; k++) {
        char key[300];
        rh_error why = {""};
        int at = 0;
        while (at < nobs && strcmp(name[at], range[k].sensor) != 0)
            at++;
        if (at == nobs) {
            snprintf(key, sizeof key, "%s%.250s", p->section, range[k].sensor);
            const rh_key__said *said = rh_plan__said(plan, key);
            if (plan->setting && said->where && strcmp(said->where, plan->setting) == 0)
                continue; // best.yaml is of a log that calls its sensors otherwise
            rh_base__unknown(&why, "no sensor", range[k].sensor, name, nobs);
            return rh_key__blame(said, NULL, err, why.text);
        }
        if (lo)
            lo[at] = range[k].lo;
        if (hi)
            hi[at] = range[k].hi;
    }
    return RH_OK;
}

rh_status rh_plan__place(const rh_plan *plan, const char *const *name, int nobs, double *lo,
                         double *hi, rh_error *err)
{
    return place(plan, &range_pairs, plan->range, plan->nrange, name, nobs, lo, hi, err);
}

rh_status rh_plan__place_in(const rh_plan *plan, const rh_log *log, double *lo, double *hi,
                            rh_error *err)
{
    const char *name[RH_MAX_OBS + RH_MAX_ACT];
    int n = log->nobs;
    memcpy(name, log->obs_name, (size_t)n * sizeof *name);
    for (int k = 0; k < log->nact && !log->naction; k++)
        name[n++] = log->act_name[k];
    return rh_plan__place(plan, name, n, lo, hi, err);
}

rh_status rh_plan__place_limits(const rh_plan *plan, const char *const *name, int nobs,
                                double *lo, double *hi, rh_error *err)
{
    return place(plan, &limit_pairs, plan->limit, plan->nlimit, name, nobs, lo, hi, err);
}

rh_status rh_plan__ranges(const rh_plan *plan, rh_task *task, rh_error *err)
{
    if (plan->tiled.nsensor) // its agent refuses sensors that the task does not have
        task->tiled = plan->tiled;
    return rh_plan__place(plan, task->obs_name, task->nobs, task->obs_lo, task->obs_hi, err);
}

// ---------------------------------------------------------------------------- the method

static bool is_method(const rh_plan *plan, const char *name)
{
    return strcmp(plan->method->name, name) == 0;
}

// In one file, both method: {first: ...} and bayes: {first: ...}.
static rh_status check_twice(const rh_plan *plan, const rh_key__said *said, rh_error *err)
{
    const char *name = rh_plan__behind(said->key, "method.");
    char key[300], why[160];
    if (!name || !said->file)
        return RH_OK;
    snprintf(key, sizeof key, "%s.%s", plan->method->name, name);
    const rh_key__said *other = rh_plan__said(plan, key);
    if (!other || other->file != said->file)
        return RH_OK;
    const rh_key__said *last = other > said ? other : said,
                       *first = other > said ? said : other;
    snprintf(why, sizeof why, "%.50s is given twice, first in line %d as %.50s", last->shown,
             first->value->line, first->shown);
    return rh_key__blame(last, NULL, err, why);
}

// The method's parameters, below its name or method:. Of other methods only typos are refused.
static rh_status read_method(rh_plan *plan, rh_error *err)
{
    const rh_plan__book *book = plan->book;
    rh_status rc = RH_OK;
    double *scratch = NULL;
    if (plan->method)
        rc = rh_plan__initial(&plan->method_param, plan->method->param, plan->method->nparam,
                              err);
    for (int i = 0; i < book->nsaid && !rc; i++) {
        const rh_key__said *said = &book->said[i];
        const char *dot = strchr(said->key, '.');
        const rh_search_type *type = NULL;
        for (int k = 0; dot && k < rh_search_ntype(); k++) {
            const char *name = rh_plan__behind(said->key, rh_search_type_at(k)->name);
            type = name == dot ? rh_search_type_at(k) : type;
        }
        if (rh_plan__behind(said->key, "method."))
            type = plan->method;
        if (!type)
            continue;
        if (type == plan->method) {
            rc = check_twice(plan, said, err);
            if (!rc)
                rc = rh_plan__value(type->param, type->nparam, type->name, dot + 1, said,
                                    plan->method_param, err);
            continue;
        }
        rc = rh_plan__initial(&scratch, type->param, type->nparam, err);
        if (!rc)
            rc = rh_plan__value(type->param, type->nparam, type->name, dot + 1, said, scratch,
                                err);
    }
    rh_free(scratch);
    return rc;
}

static rh_status choose_method(rh_plan *plan, rh_error *err)
{
    bool means = plan->across != RH_ACROSS_MEDIAN && plan->across != RH_ACROSS_WORST;
    double count = rh_space__count(&plan->space);
    if (plan->method && plan->method->finite && count > MOST && !rh_plan__said(plan, "method"))
        plan->method = NULL; // a preset's, which cannot try so many
    if (!plan->method)
        plan->method = rh_search_find(count > FEW ? "bayes" : means ? "race" : "grid", err);
    if (!plan->method)
        return RH_EINVAL;
    if (is_method(plan, "race") && !means)
        return rh_key__blame(rh_plan__said(plan, "evaluation.across"), NULL, err,
                             "evaluation.across: race compares means of runs; use mean or "
                             "lower, or another method");
    return read_method(plan, err);
}

// Several agents with networks: a run takes about a second (decision 4).
static void set_small_budget(rh_plan *plan)
{
    bool costly = false;
    for (int i = 0; i < plan->agents.n && plan->agents.n > 1; i++)
        costly = costly || rh_plan__cost(plan->agents.type[i]) >= 1.0;
    if (plan->check_runs < 0) // as often as usual, whatever was said before
        plan->check_runs = costly ? COSTLY_CHECK : CHECK_RUNS;
    if (!costly)
        return;
    if (!plan->method->finite && !is_method(plan, "cem") &&
        !rh_plan__said(plan, "budget.trials") && plan->time == 0.0)
        plan->trials = COSTLY_TRIALS;
    if (!plan->nrun)
        plan->nrun = COSTLY_RUNS;
    if (!rh_plan__said(plan, "confirm") && !rh_plan__said(plan, "confirm.settings"))
        plan->confirm_settings = plan->agents.n + 1;
    if (!rh_plan__said(plan, "confirm.runs"))
        plan->confirm_runs = COSTLY_CONFIRM;
}

// How many settings, how many at a time, and how many runs of each.
static rh_status set_budget(rh_plan *plan, rh_error *err)
{
    const rh_key__said *trials = rh_plan__said(plan, "budget.trials");
    double count = rh_space__count(&plan->space);
    if (plan->method->finite && trials && plan->trials < count && count <= MOST) {
        char why[160];
        snprintf(why, sizeof why, "budget.trials = %d, but %s tries all %.0f settings",
                 plan->trials, plan->method->name, count);
        return rh_key__blame(trials, NULL, err, why);
    }
    if (plan->method->finite)
        plan->trials = count <= MOST ? (int)count : MOST;
    else if (!trials)
        plan->trials = is_method(plan, "cem") ? MOST : plan->time > 0.0 ? TIMED_TRIALS : TRIALS;
    set_small_budget(plan);
    if (!plan->batch)
        plan->batch = is_method(plan, "bayes") ? BATCH : 1;
    if (!plan->nrun)
        plan->nrun = is_method(plan, "race") ? RACE_RUNS : RUNS;
    return RH_OK;
}

// Whether the search would be refused.
static rh_status rehearse(const rh_plan *plan, rh_error *err)
{
    rh_search *search = NULL;
    rh_search__options opt = rh_search__defaults();
    rh_error why = {""};
    opt.param = plan->method_param;
    opt.budget = plan->trials;
    opt.batch = plan->batch;
    opt.nrun = plan->nrun;
    opt.seed = plan->seed;
    rh_status rc = rh_plan__search(plan, opt, &search, &why);
    rh_search__destroy(search);
    if (rc == RH_ENOMEM)
        return rh_plan__no_memory(err);
    return rc ? rh_key__blame(rh_plan__said(plan, "method"), NULL, err, why.text) : RH_OK;
}

// ---------------------------------------------------------------------------- all of it

static rh_status resolve(rh_plan *plan, const rh_log *log, rh_error *err)
{
    const rh_plan__book *book = plan->book;
    bool runs = plan->command == RH_PLAN_RUN || plan->command == RH_PLAN_SWEEP;
    rh_status rc = RH_OK;
    reset(plan);
    rc = rh_plan__read_preset(plan, err);
    for (int i = 0; i < book->nsaid && !rc; i++)
        rc = rh_plan__take(plan, &book->said[i], err);
    plan->agent = plan->agents.n ? plan->agents.type[0] : NULL;
    if (!rc && runs && (plan->agents.n > 1 || plan->agents.automatic))
        rc = rh_key__refuse(rh_plan__said(plan, "agent.name"), NULL, "", err,
                            "one agent; `rehearse tune` compares several");
    if (!rc)
        rc = fill(plan, err);
    if (!rc)
        rc = read_pairs(plan, &range_pairs, &plan->range, &plan->nrange, err);
    if (!rc)
        rc = read_pairs(plan, &limit_pairs, &plan->limit, &plan->nlimit, err);
    if (!rc && !runs)
        rc = rh_plan__parts(plan, log, err);
    if (!rc && log && !runs)
        rc = rh_plan__place_in(plan, log, NULL, NULL, err);
    if (!rc && log && !runs)
        rc = rh_plan__place_limits(plan, log->obs_name, log->nobs, NULL, NULL, err);
    if (!rc && plan->command == RH_PLAN_TUNE)
        rc = rh_plan__check_limits(plan, log, err);
    if (!rc && log && plan->command == RH_PLAN_TUNE)
        rc = rh_plan__choose_agents(plan, log, err);
    if (rc || plan->command == RH_PLAN_FIT)
        return rc;
    if (runs && !plan->nrun)
        plan->nrun = rh_eval_defaults(&(rh_task){0}).nrun;
    if (runs)
        return plan->agent ? rh_plan__space(plan, err) : RH_OK;
    if (!plan->agent) // the log decides, and with it the space
        return read_method(plan, err);
    rc = rh_plan__space(plan, err);
    if (!rc)
        rc = choose_method(plan, err);
    if (!rc)
        rc = set_budget(plan, err);
    return rc ? rc : rehearse(plan, err);
}

rh_status rh_plan_check(rh_plan *plan, rh_error *err)
{
    return resolve(plan, NULL, err);
}

rh_status rh_plan_settle(rh_plan *plan, const rh_log *log, rh_error *err)
{
    rh_status rc = resolve(plan, log, err);
    bool whole = plan->command == RH_PLAN_FIT || plan->agent;
    return rc || !whole ? rc : rh_plan__enter(plan, err);
}

// ---------------------------------------------------------------------------- runs

rh_status rh_plan__eval(const rh_plan *plan, const rh_task *task, const rh_log *log,
                        rh_eval_options *opt, rh_error *err)
{
    *opt = rh_eval_defaults(task);
    if (plan->nstep > 0)
        opt->nstep = plan->nstep;
    opt->nrun = plan->nrun;
    opt->seed = plan->seed;
    opt->criterion = plan->criterion;
    opt->cutoff_rule = plan->cutoff_rule;
    opt->ncurve = plan->ncurve < opt->nstep ? plan->ncurve : (int)opt->nstep;
    if (plan->cutoff > 0) {
        opt->cutoff = plan->cutoff;
        return RH_OK;
    }
    if (task->continuing || (plan->cutoff == 0 && !log)) // no episode is cut off
        return RH_OK;
    if (plan->cutoff < 0)
        opt->cutoff = opt->nstep >= -plan->cutoff ? opt->nstep / -plan->cutoff : 1;
    else
        opt->cutoff = rh_model_cutoff(log, opt->nstep);
    return opt->cutoff ? RH_OK : rh_plan__no_memory(err);
}
