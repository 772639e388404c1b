// write.c - best.yaml and runs.csv, for people and other programs.
//
// 1. No time, no host name: the same study gives the same bytes.
// 2. The agent section is that of a study file. It lists all parameters, searched or not, so
//    that what is deployed does not depend on the defaults of another version. With the task
//    (write_task.c) it is all that `deploy` reads.
// 3. A number with an exponent has a point: PyYAML reads 1e-05 as text. What is unknown or not
//    finite is null: YAML's .inf and .nan are read as text by some programs.
// 4. runs.csv has a row per run, in the study's order. A million are 100 MB, written in pieces.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/file.h"
#include "journal.h"
#include "search/search.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TIED 100           // tied settings in best.yaml
#define PIECE ((size_t)1 << 16) // bytes of a table collected before writing

void rh_study__drop_link(const char *path)
{
    struct stat there;
    if (lstat(path, &there) == 0 && S_ISLNK(there.st_mode))
        unlink(path);
}

// ---------------------------------------------------------------------------- pieces

void rh_write__number(rh_text *t, double x)
{
    static const rh_param any = {0};
    char digits[RH_JOURNAL__NAME_SIZE];
    rh_param__format(&any, x, digits, sizeof digits);
    char *e = strchr(digits, 'e');
    if (!isfinite(x))
        rh_text__add(t, "null");
    else if (e && !strchr(digits, '.')) {
        *e = 0;
        rh_text__add(t, digits);
        rh_text__add(t, ".0e");
        rh_text__add(t, e + 1);
    } else
        rh_text__add(t, digits);
}

static void add_param(rh_text *t, const rh_param *param, double x)
{
    if (param->choice)
        rh_text__yaml(t, param->choice[(int)x]);
    else
        rh_write__number(t, x);
}

void rh_write__interval(rh_text *t, double lo95, double hi95)
{
    rh_text__add(t, "[");
    rh_write__number(t, lo95);
    rh_text__add(t, ", ");
    rh_write__number(t, hi95);
    rh_text__add(t, "]");
}

static void number_line(rh_text *t, const char *key, double x)
{
    rh_text__add(t, key);
    rh_write__number(t, x);
    rh_text__add(t, "\n");
}

static void text_line(rh_text *t, const char *key, const char *value)
{
    rh_text__add(t, key);
    rh_text__yaml(t, value);
    rh_text__add(t, "\n");
}

// How to print a dimension: by the names of its choices, or as a number.
static const rh_param *param_of(const rh_plan *plan, int dim)
{
    static const rh_param any = {0};
    const rh_param *param = rh_plan__dim(plan, dim, NULL, NULL);
    return param->choice && plan->dim[dim].form == RH_FORM_PLAIN ? param : &any;
}

// ---------------------------------------------------------------------------- best.yaml

static void add_agent(rh_text *t, const rh_agent_type *agent, const double *hp)
{
    if (strcmp(agent->name, RH_PLAN__CLONE) == 0)
        rh_text__add(t, "# Keep the controller itself: this agent only imitates it.\n");
    text_line(t, "agent:\n  name: ", agent->name);
    for (int i = 0; i < agent->nparam; i++) {
        rh_text__add(t, "  ");
        rh_text__yaml(t, agent->param[i].name);
        rh_text__add(t, ": ");
        add_param(t, &agent->param[i], hp[i]);
        rh_text__add(t, "\n");
    }
}

// Settings tied with the winner, and parameters at a bound.
static void add_others(rh_text *t, const rh_plan *plan, const rh_verdict *v)
{
    int shown = v->ntied <= MOST_TIED + 1 ? v->ntied : MOST_TIED + 1;
    if (shown < v->ntied)
        rh_text__format(t, "  tied: # the first %d of %d statistically tied settings (95 %%)\n",
                        MOST_TIED, v->ntied - 1);
    else
        rh_text__add(t, shown > 1 ? "  tied: # statistically tied settings (95 %)\n" : "");
    for (int i = 1; i < shown; i++) {
        const rh_trial *trial = &v->trial[v->tied[i]];
        rh_text__add(t, "    - {");
        for (int k = 0; k < plan->space.ndim; k++) {
            if (!rh_space__has(&plan->space, trial->x, k))
                continue;
            rh_text__yaml(t, plan->space.dim[k].name);
            rh_text__add(t, ": ");
            add_param(t, param_of(plan, k), trial->x[k]);
            rh_text__add(t, ", ");
        }
        rh_text__add(t, "score: ");
        rh_write__number(t, trial->value);
        rh_text__add(t, "}\n");
    }
    bool any = false;
    for (int k = 0; v->bound && k < plan->space.ndim; k++) {
        if (v->bound[k] == 0)
            continue;
        rh_text__add(
            t, any ? "" : "  at_bound: # the best value may lie outside the searched range\n");
        rh_text__add(t, "    ");
        rh_text__yaml(t, plan->space.dim[k].name);
        rh_text__add(t, v->bound[k] < 0 ? ": lower\n" : ": upper\n");
        any = true;
    }
}

// The winner in every kind of model.
static void add_kinds(rh_text *t, const rh_verdict *v)
{
    const rh_trial *w = &v->trial[v->winner];
    if (w->nkind < 2)
        return;
    rh_text__add(t, "  kinds: # of model\n");
    for (int k = 0; k < w->nkind; k++) {
        rh_text__add(t, "    ");
        rh_text__yaml(t, v->kind[k]);
        rh_text__add(t, ": {score: ");
        rh_write__number(t, w->kind[k].value);
        rh_text__add(t, ", interval: ");
        rh_write__interval(t, w->kind[k].lo95, w->kind[k].hi95);
        rh_text__add(t, "}\n");
    }
}

static void add_reference(rh_text *t, const char *key, const rh_reference *r, const char *what)
{
    rh_text__format(t, "  %s: {score: ", key);
    rh_write__number(t, r->score);
    rh_text__add(t, ", interval: [");
    rh_write__number(t, r->lo95);
    rh_text__add(t, ", ");
    rh_write__number(t, r->hi95);
    rh_text__format(t, "]} # %s\n", what);
}

// The unit of the scores, and what to compare with.
static void add_scale(rh_text *t, const rh_verdict *v)
{
    if (v->per_steps)
        rh_text__format(t, "  score_per: %" PRId64 " # steps, in the model\n", v->per_steps);
    else
        rh_text__add(t, "  score_per: episode # in the model\n");
    add_reference(t, "logged", &v->logged, "the logged controller, in the log");
    add_reference(t, "random", &v->random, "random actions in the model");
    if (v->rare.n) {
        rh_text__format(t, "  rare_failures: {runs: %d, score: ", v->rare.n);
        rh_write__number(t, v->rare.score);
        rh_text__add(t, ", median_of_all: ");
        rh_write__number(t, v->rare.usual);
        rh_text__add(t, "}\n");
    }
}

static void add_rate(rh_text *t, const char *key, const rh_rate *r)
{
    rh_text__format(t, "  %s: {rate: ", key);
    rh_write__number(t, r->rate);
    rh_text__add(t, ", interval: ");
    rh_write__interval(t, r->lo95, r->hi95);
    rh_text__format(t, ", failures: %" PRId64 ", of: %" PRId64 "}\n", r->n, r->of);
}

// Tied settings with all their hyperparameters, for deployments that try them. One that begins
// with the log needs the file of the winner's start.
static void add_switch(rh_text *t, const rh_journal__head *head, const rh_verdict *v)
{
    bool starts = rh_study__starts(head, &v->trial[v->winner]);
    int n = 0;
    for (int i = 1; i < v->ntied && n < RH_MAX_TIED; i++) {
        const rh_trial *trial = &v->trial[v->tied[i]];
        const rh_agent_type *agent = head->plan->agents.type[trial->agent];
        if (!starts && rh_study__starts(head, trial))
            continue;
        rh_text__add(t, n++ ? "" : "switch: # tied settings, which `deploy --switch` tries\n");
        rh_text__add(t, "  - agent: {name: ");
        rh_text__yaml(t, agent->name);
        for (int k = 0; k < agent->nparam; k++) {
            rh_text__add(t, ", ");
            rh_text__yaml(t, agent->param[k].name);
            rh_text__add(t, ": ");
            add_param(t, &agent->param[k], trial->hp[k]);
        }
        rh_text__add(t, "}\n    score: ");
        rh_write__number(t, trial->value);
        rh_text__add(t, "\n    interval: ");
        rh_write__interval(t, trial->lo95, trial->hi95);
        rh_text__add(t, "\n");
    }
}

// How often it fails, and the rule by which a deployment counts.
static void add_failures(rh_text *t, const rh_failing *f)
{
    const rh_failure *rule = f->rule;
    rh_text__add(t, "failures: # in the models\n  rule: {words: ");
    rh_text__json(t, rule->words);
    rh_text__format(t, ", known: %s, ends: %s, below: ", rule->known ? "true" : "false",
                    rule->ends ? "true" : "false");
    rh_write__number(t, rule->below);
    if (rule->formula) {
        rh_text__add(t, ", formula: ");
        rh_text__json(t, rule->formula);
    }
    rh_text__add(t, "}\n");
    if (!rule->known)
        return;
    rh_text__format(t, "  per: %s\n", f->per_steps ? "1000 # steps" : "episode");
    add_rate(t, "first", &f->first);
    add_rate(t, "all", &f->all);
    add_rate(t, "last", &f->last);
    add_rate(t, "defaults", &f->defaults);
    add_rate(t, "logged", &f->logged);
    rh_text__format(t, "  often: %s # compared with the logged controller\n",
                    rh_often__name(f->often));
}

// Whether it is better than the logged controller.
static void add_today(rh_text *t, const rh_today *today)
{
    rh_text__format(t,
                    "today: # scores as in chosen\n  better: \"%s\" # than logged, over a "
                    "whole run\n",
                    rh_answer__name(today->better));
    add_reference(t, "learning", &today->learning, "a whole run, from the first step");
    add_reference(t, "end", &today->end, "the last tenth of it");
    add_reference(t, "defaults", &today->defaults, "the agent's defaults, a whole run");
    if (!isnan(today->clone.score))
        add_reference(t, "clone", &today->clone, "a clone of the controller, in the models");
    number_line(t, "  caught_up: ", today->caught_up);
    rh_text__add(t, "  catch_up: ");
    if (today->catch_up)
        rh_text__whole(t, today->catch_up);
    else
        rh_text__add(t, "null");
    rh_text__add(t, " # steps after which half of the runs had got as much as logged\n");
}

// How many findings there are, and the errors of the log that were accepted.
static void add_findings(rh_text *t, const rh_findings *f)
{
    bool any = false;
    rh_text__format(t, "  findings: {errors: %d, warnings: %d, accepted: [", f->count[RH_ERROR],
                    f->count[RH_WARNING]);
    for (int i = 0; i < f->n; i++)
        if (f->item[i].accepted) {
            rh_text__format(t, "%s%s", any ? ", " : "", rh_finding_name(f->item[i].id));
            any = true;
        }
    rh_text__add(t, "]} # of the log and the study\n");
}

static void add_chosen(rh_text *t, const rh_plan *plan, const rh_verdict *v)
{
    const rh_trial *w = &v->trial[v->winner];
    number_line(t, "chosen:\n  score: ", w->value);
    rh_text__add(t, "  interval: ");
    rh_write__interval(t, w->lo95, w->hi95);
    rh_text__format(t,
                    " # 95 %%\n  confirmed: %s\n  finished: %s\n  setting: %d\n  members: %d\n"
                    "  runs: %d\n  diverged: %d\n",
                    w->confirm ? "true" : "false", v->finished ? "true" : "false", w->setting,
                    w->nmember, w->nrun, w->ndiverged);
    if (v->trust.level != RH_TRUST_UNKNOWN) {
        rh_text__format(t, "  trust: {level: %s, probability: ", rh_trust_name(v->trust.level));
        rh_write__number(t, v->trust.probability);
        rh_text__format(t, "} # that it is better and fails no more than stated: %s\n",
                        rh_decision_name(v->trust.decision));
    }
    add_findings(t, &v->findings);
    add_scale(t, v);
    number_line(t, "  out_of_coverage: ", w->out_of_coverage);
    add_kinds(t, v);
    if (v->optimism > 0.0)
        number_line(t, "  optimism: ", v->optimism);
    text_line(t, "  method: ", plan->method->name);
    rh_text__format(t, "  tried: %d\n", v->ntrial - v->nconfirm);
    if (v->winner_search >= 0 && v->winner_search != v->winner) {
        number_line(t, "  search:\n    score: ", v->trial[v->winner_search].value);
        rh_text__add(t, "    interval: ");
        rh_write__interval(t, v->trial[v->winner_search].lo95, v->trial[v->winner_search].hi95);
        rh_text__add(t, "\n");
    }
    add_others(t, plan, v);
}

static void add_sources(rh_text *t, const rh_journal__head *head, const rh_model *model)
{
    const char *key, *value;
    bool open;
    text_line(t, "log:\n  path: ", head->log ? head->log : "");
    rh_text__format(t, "  fingerprint: \"%016" PRIx64 "\"\n", head->fingerprint);
    if (head->starts)
        rh_text__format(t, "  starts: \"%016" PRIx64 "\"\n", head->starts);
    if (model) {
        text_line(t, "model:\n  name: ", rh_model_type_of(model)->name);
        rh_text__format(t, "  members: %d\n", rh_model_nmember(model));
    }
    rh_text__add(t, "plan:\n");
    for (int i = 0; rh_plan_entry(head->plan, i, &key, &value, &open); i++) {
        rh_text__add(t, "  ");
        rh_text__yaml(t, key);
        rh_text__add(t, ": ");
        rh_text__json(t, value);
        rh_text__add(t, "\n");
    }
    rh_text__add(t, "rehearse: ");
    rh_text__json(t, rh_version());
    rh_text__add(t, "\n");
}

// Write the collected text. *fault: errno of the first failure, or 0.
static void flush(rh_text *t, rh_file *file, int *fault)
{
    if (!*fault && !t->bad && t->n > 0) {
        FILE *stream = rh_file__stream(file);
        if (!stream || fwrite(t->data, 1, t->n, stream) < t->n)
            *fault = errno;
    }
    t->n = 0;
}

rh_status rh_write__begin(rh_file **out, const char *path, rh_error *err)
{
    rh_study__drop_link(path);
    return rh_file__create(out, path, err);
}

// Write the rest and give the file its name, if nothing failed.
rh_status rh_write__finish(rh_file *file, rh_text *t, int fault, const char *path,
                           rh_error *err)
{
    rh_status rc = RH_OK;
    flush(t, file, &fault);
    if (t->bad)
        rc = rh_file__no_memory(path, err);
    else if (fault)
        rc = rh_file__cannot_write(path, fault, err);
    rh_text__clear(t);
    if (rc) {
        rh_file__discard(file);
        return rc;
    }
    return rh_file__commit(file, err);
}

void rh_study__best_text(rh_text *t, const rh_journal__head *head, const rh_model *model,
                         const rh_verdict *verdict)
{
    const rh_trial *winner = &verdict->trial[verdict->winner];
    rh_text__add(t, "# the setting to deploy, and how it was chosen\n");
    rh_plan__write_plugins(head->plan, true, t);
    add_agent(t, head->plan->agents.type[winner->agent], winner->hp);
    if (model)
        rh_write__task(t, model);
    if (model && head->cutoff == INT64_MAX)
        rh_text__add(t, "  cutoff: never # steps of an episode, at most\n");
    else if (model && head->cutoff > 0)
        rh_text__format(t, "  cutoff: %" PRId64 " # steps of an episode, at most\n",
                        head->cutoff);
    if (model && rh_study__starts(head, winner))
        rh_text__format(t,
                        "start: # the agent begins with the steps of the log\n  file: %s\n"
                        "  steps: %" PRId64 "\n  practice: %" PRId64
                        " # further steps, of an agent trained in a model of the log\n"
                        "  checksum: \"%08" PRIx32 "\"\n",
                        RH_STUDY__START, head->start.n, head->start.npractice,
                        rh_study__start_sum(rh_model_task(model), head->start));
    add_chosen(t, head->plan, verdict);
    if (model)
        add_switch(t, head, verdict);
    add_today(t, &verdict->today);
    if (verdict->failing.rule)
        add_failures(t, &verdict->failing);
    rh_write__limits(t, head->plan, model ? rh_model_log(model) : NULL, verdict);
    rh_write__promise(t, winner, head->nstep, head->ncurve);
    add_sources(t, head, model);
}

rh_status rh_study__write_best(const char *path, const rh_journal__head *head,
                               const rh_model *model, const rh_verdict *verdict, rh_error *err)
{
    rh_file *file = NULL;
    rh_text t = {0};
    rh_status rc = rh_write__begin(&file, path, err);
    if (rc)
        return rc;
    rh_study__best_text(&t, head, model, verdict);
    return rh_write__finish(file, &t, 0, path, err);
}

// ---------------------------------------------------------------------------- runs.csv

void rh_write__field(rh_text *t, const char *value)
{
    if (!strpbrk(value, ",\"\r\n")) {
        rh_text__add(t, value);
        return;
    }
    rh_text__add(t, "\"");
    for (const char *c = value; *c; c++) {
        rh_text__add_n(t, c, 1);
        if (*c == '"')
            rh_text__add_n(t, c, 1);
    }
    rh_text__add(t, "\"");
}

// Empty for NAN.
static void add_cell(rh_text *t, const rh_param *param, double x)
{
    char word[RH_JOURNAL__NAME_SIZE];
    if (isnan(x))
        return;
    rh_param__format(param, x, word, sizeof word);
    rh_write__field(t, word);
}

static void add_head(rh_text *t, const rh_plan *plan)
{
    rh_text__add(t, "trial,stage,setting,member,run,");
    for (int i = 0; i < plan->space.ndim; i++) {
        rh_write__field(t, plan->space.dim[i].name);
        rh_text__add(t, ",");
    }
    rh_text__add(
        t, "score,total,steps,episodes,out_of_coverage,failures,caught_up,outcome,kind\n");
}

static void add_row(rh_text *t, const rh_plan *plan, const rh_verdict *v, int index, int member,
                    int run)
{
    static const rh_param any = {0};
    const rh_trial *trial = &v->trial[index];
    const rh_result *result =
        &trial->result[(size_t)member * (size_t)trial->nrun + (size_t)run];
    rh_text__format(t, "%d,%s,%d,%d,%d,", index, trial->confirm ? "confirm" : "search",
                    trial->setting, member, run);
    for (int i = 0; i < plan->space.ndim; i++) {
        add_cell(t, param_of(plan, i), trial->x[i]);
        rh_text__add(t, ",");
    }
    add_cell(t, &any, result->score);
    rh_text__add(t, ",");
    add_cell(t, &any, result->total);
    rh_text__format(t, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s,",
                    result->nstep, result->nepisode, result->nuncovered, result->nfailure,
                    result->caught_up, rh_outcome_name(result->outcome));
    rh_write__field(t, v->kind[member / (trial->nmember / trial->nkind)]);
    rh_text__add(t, "\n");
}

rh_status rh_study__write_runs(const char *path, const rh_journal__head *head,
                               const rh_verdict *verdict, rh_error *err)
{
    rh_file *file = NULL;
    rh_text t = {0};
    rh_status rc = rh_write__begin(&file, path, err);
    if (rc)
        return rc;
    int fault = 0;
    add_head(&t, head->plan);
    for (int i = 0; i < verdict->ntrial; i++) {
        const rh_trial *trial = &verdict->trial[i];
        for (int k = 0; k < trial->nmember * trial->nrun; k++) {
            if (trial->result[k].outcome == RH_STOPPED) // not run
                continue;
            add_row(&t, head->plan, verdict, i, k / trial->nrun, k % trial->nrun);
            if (t.n >= PIECE)
                flush(&t, file, &fault);
        }
    }
    return rh_write__finish(file, &t, fault, path, err);
}
