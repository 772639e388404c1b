// journal_write.c - trials and runs as lines.
//
//     op 4   a trial begins: state RUNNING, parameters and their distributions
//     op 8   a run: user attribute run:<member>:<run>
//     op 7   at the end of a trial: the mean learning curve, over steps of the environment
//     op 8   and its statistics
//     op 9   with limits: how far above each of them it is, Optuna's `constraints`
//     op 6   its state and value
//
// 1. A range is a FloatDistribution; with integer steps, an IntDistribution. Optuna has no
//    distribution that is both logarithmic and stepped; the step is then left out, since plots
//    do not need it. A list is a FloatDistribution from its least to its greatest value: Optuna
//    wants the distribution in every trial, and a grid would repeat all its choices in each.
//    Names, which are few, are a CategoricalDistribution, stored by index.
// 2. A trial is COMPLETE with all its runs, PRUNED, with its value, when a race dropped it, and
//    FAIL when its value is not finite: JSON has no infinity, and it must not be the best.
// 3. The last line also holds the setting's own state, under a key that Optuna ignores: a
//    setting that diverged may be done or dropped.
// 4. Confirmations are trials of a second study, which begins with the first of them: Optuna's
//    best trial and importances are then those of the search, or of the confirmations.
//
// A run with a learning curve of 20 points takes 12 us to write, mostly for digits.

#include "base/base.h"
#include "journal.h"
#include "limits.h"
#include "search/search.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

// ---------------------------------------------------------------------------- pieces

// "2026-01-31T12:00:00.000000+00:00"
static void add_time(rh_text *text, const char *key)
{
    struct timespec now = {0};
    struct tm utc = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    rh_text__format(text, "%s\"%04d-%02d-%02dT%02d:%02d:%02d.%06ld+00:00\"", key,
                    utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                    utc.tm_sec, now.tv_nsec / 1000);
}

void rh_journal__hp(rh_text *text, const rh_agent_type *agent, const double *hp)
{
    char word[RH_JOURNAL__NAME_SIZE];
    rh_text__add(text, "{");
    for (int i = 0; i < agent->nparam; i++) {
        rh_text__add(text, i > 0 ? "," : "");
        rh_text__json(text, agent->param[i].name);
        rh_text__add(text, ":");
        if (agent->param[i].choice) {
            rh_param__format(&agent->param[i], hp[i], word, sizeof word);
            rh_text__json(text, word);
        } else
            rh_journal__number(text, hp[i]);
    }
    rh_text__add(text, "}");
}

// The first and last value of a range or list; with a step, the first and last multiple.
static void range_of(const rh_dim *dim, double *lo, double *hi)
{
    rh_space one = {.dim = {*dim}, .ndim = 1};
    one.dim[0].branch = 0;
    *lo = dim->lo;
    *hi = dim->hi;
    if (dim->kind == RH_DIM_LIST) {
        *lo = INFINITY;
        *hi = -INFINITY;
        for (int i = 0; i < dim->nvalue; i++) {
            *lo = fmin(*lo, dim->value[i]);
            *hi = fmax(*hi, dim->value[i]);
        }
        return;
    }
    if (dim->step > 0.0) {
        rh_space__at(&one, 0, lo);
        rh_space__at(&one, (int64_t)rh_space__count(&one) - 1, hi);
    }
}

static void add_range(rh_text *text, const rh_dim *dim)
{
    double lo, hi;
    range_of(dim, &lo, &hi);
    bool list = dim->kind == RH_DIM_LIST;
    bool log = dim->scale == RH_LOG && lo > 0.0, stepped = !list && dim->step > 0.0;
    bool whole = stepped && dim->step == floor(dim->step) && (!log || dim->step == 1.0);
    rh_text__add(text, whole ? "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": "
                             : "{\"name\": \"FloatDistribution\", \"attributes\": {\"log\": ");
    rh_text__add(text, log ? "true" : "false");
    rh_text__add(text, ", \"step\": ");
    if (stepped && (whole || !log))
        rh_journal__number(text, dim->step);
    else
        rh_text__add(text, "null");
    rh_text__add(text, ", \"low\": ");
    rh_journal__number(text, lo);
    rh_text__add(text, ", \"high\": ");
    rh_journal__number(text, hi);
    rh_text__add(text, "}}");
}

static void add_choices(rh_text *text, const rh_dim *dim, const rh_param *param, bool plain)
{
    rh_text__add(text,
                 "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [");
    for (int i = 0; i < dim->nvalue; i++) {
        rh_text__add(text, i > 0 ? ", " : "");
        if (param->choice && plain)
            rh_text__json(text, param->choice[(int)dim->value[i]]);
        else
            rh_journal__number(text, dim->value[i]);
    }
    rh_text__add(text, "]}}");
}

// The distribution of a parameter: JSON inside a string.
static void add_distribution(rh_text *text, const rh_plan *plan, int i)
{
    const rh_dim *dim = &plan->space.dim[i];
    rh_text inside = {0};
    if (dim->kind != RH_DIM_NAMES)
        add_range(&inside, dim);
    else
        add_choices(&inside, dim, rh_plan__dim(plan, i, NULL, NULL),
                    plan->dim[i].form == RH_FORM_PLAIN);
    if (inside.bad)
        text->bad = true;
    else
        rh_text__json(text, inside.data);
    rh_text__clear(&inside);
}

// Index of a value in a list; nvalue: not there.
static int index_of(const rh_dim *dim, double x)
{
    int k = 0;
    while (k < dim->nvalue && dim->value[k] != x)
        k++;
    return k;
}

static rh_status check_setting(const rh_space *space, const double *x, rh_error *err)
{
    for (int i = 0; i < space->ndim; i++) {
        const rh_dim *dim = &space->dim[i];
        if (!rh_space__has(space, x, i))
            continue;
        if (!isfinite(x[i]) ||
            (dim->kind != RH_DIM_RANGE && index_of(dim, x[i]) == dim->nvalue))
            return rh_fail(err, RH_EINVAL, "study.log: %s = %g, expected a value of the space",
                           dim->name, x[i]);
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- a trial

// The study of a new trial. That of the confirmations is a line of its own: other programs may
// have begun studies before it, and its number must be known.
static rh_status study_of(rh_journal *journal, bool confirm, int *study, rh_error *err)
{
    rh_replay *r = &journal->replay;
    rh_text name = {0};
    *study = confirm ? r->confirmed : 0;
    if (!confirm || r->confirmed)
        return RH_OK;
    rh_text__format(&name, "%s" RH_JOURNAL__CONFIRMED, r->study[0].name);
    if (name.bad)
        return rh_base__no_memory(err, journal->path);
    rh_journal__study_line(&journal->text, name.data);
    rh_status rc = rh_journal__append(journal, err);
    int at = rc ? 0 : rh_replay__add_study(r, name.data);
    if (at < 0) {
        journal->broken = true;
        rc = rh_base__no_memory(err, journal->path);
    }
    if (!rc)
        *study = r->confirmed = at;
    rh_text__clear(&name);
    return rc;
}

// The name of a dimension, where setting x has it.
static bool begin_dim(rh_text *t, const rh_space *space, const double *x, int i)
{
    if (!rh_space__has(space, x, i))
        return false;
    rh_text__add(t, i > 0 ? "," : "");
    rh_text__json(t, space->dim[i].name);
    rh_text__add(t, ":");
    return true;
}

rh_status rh_journal__begin(rh_journal *journal, int setting, bool confirm, const double *x,
                            int *number, rh_error *err)
{
    rh_text *t = &journal->text;
    const rh_plan *plan = journal->head.plan;
    const rh_space *space = &plan->space;
    bool steps = !journal->steps && journal->head.nstep > 0;
    int study = 0;
    rh_status rc = check_setting(space, x, err);
    if (!rc)
        rc = study_of(journal, confirm, &study, err);
    if (rc)
        return rc;
    if (steps) { // not known when the journal was opened
        rh_journal__study_attr(t, 0, "nstep");
        rh_text__whole(t, journal->head.nstep);
        rh_journal__end_attr(t);
        rh_journal__kinds_line(t, journal->head.kinds);
    }
    rh_journal__begin_line(t, 4);
    rh_text__format(t, ",\"study_id\":%d", study);
    add_time(t, ",\"datetime_start\":");
    rh_text__add(t, ",\"state\":0,\"value\":null,\"values\":null,\"distributions\":{");
    for (int i = 0; i < space->ndim; i++)
        if (begin_dim(t, space, x, i))
            add_distribution(t, plan, i);
    rh_text__add(t, "},\"params\":{");
    for (int i = 0; i < space->ndim; i++)
        if (begin_dim(t, space, x, i)) {
            if (space->dim[i].kind != RH_DIM_NAMES)
                rh_journal__number(t, x[i]);
            else
                rh_text__whole(t, index_of(&space->dim[i], x[i]));
        }
    rh_text__format(t,
                    "},\"user_attrs\":{\"stage\":\"%s\",\"setting\":%d},\"system_attrs\":{},"
                    "\"intermediate_values\":{}",
                    confirm ? "confirm" : "search", setting);
    rh_journal__end_line(t);
    rc = rh_journal__append(journal, err);
    if (rc)
        return rc;
    journal->steps = journal->steps || steps;

    // number it now: other programs may have begun trials before this line
    if (!rh_replay__add(&journal->replay, study, setting)) {
        journal->broken = true;
        return rh_base__no_memory(err, journal->path);
    }
    *number = journal->replay.ntrial - 1;
    return RH_OK;
}

// A trial under way; NULL with the error.
static rh_journal__entry *open_trial(rh_journal *journal, int number, rh_error *err)
{
    const rh_replay *r = &journal->replay;
    if (number >= 0 && number < r->ntrial && !r->trial[number].finished)
        return &r->trial[number];
    rh_fail(err, RH_EINVAL, "study.log: trial %d of %d, expected one that is not finished",
            number, r->ntrial);
    return NULL;
}

// What a study with limits or further scores knows of a run.
static void add_limits(rh_text *t, const rh_journal__head *head, const rh_result *l)
{
    rh_text__add(t, head->nlimit ? ",\"over\":[" : "");
    for (int i = 0; i < head->nlimit; i++)
        rh_text__format(t, "%s%" PRId64, i ? "," : "", l->over[i]);
    rh_text__add(t, head->nlimit ? "]" : "");
    rh_text__add(t, head->nalso ? ",\"also\":[" : "");
    for (int i = 0; i < head->nalso; i++) {
        rh_text__add(t, i ? "," : "");
        rh_journal__number(t, l->also[i]);
    }
    rh_text__add(t, head->nalso ? "]" : "");
}

rh_status rh_journal__add_run(rh_journal *journal, int number, const rh_study__run *run,
                              rh_error *err)
{
    rh_text *t = &journal->text;
    const rh_result *l = &run->result;
    const rh_journal__entry *trial = open_trial(journal, number, err);
    char key[RH_JOURNAL__NAME_SIZE];
    if (!trial)
        return RH_EINVAL;
    if (run->member < 0 || run->member >= RH_MAX_MEMBER || run->run < 0)
        return rh_fail(err, RH_EINVAL,
                       "study.log: run %d in member %d, expected 0 or more and 0 to %d",
                       run->run, run->member, RH_MAX_MEMBER - 1);
    snprintf(key, sizeof key, "run:%d:%d", run->member, run->run);
    rh_journal__trial_attr(t, trial->id, key);
    rh_text__add(t, "{\"score\":");
    rh_journal__number(t, l->score);
    rh_text__add(t, ",\"total\":");
    rh_journal__number(t, l->total);
    rh_text__format(t,
                    ",\"steps\":%" PRId64 ",\"episodes\":%" PRId64
                    ",\"out_of_coverage\":%" PRId64 ",\"failures\":[%" PRId64 ",%" PRId64
                    ",%" PRId64 "],\"ended\":[%" PRId64 ",%" PRId64 "],\"last\":",
                    l->nstep, l->nepisode, l->nuncovered, l->nfailure, l->nfailure_first,
                    l->nfailure_last, l->nepisode_first, l->nepisode_last);
    rh_journal__number(t, l->last);
    rh_text__format(t, ",\"caught_up\":%" PRId64, l->caught_up);
    add_limits(t, &journal->head, l);
    rh_text__format(t, ",\"outcome\":\"%s\",\"curve\":[", rh_outcome_name(l->outcome));
    for (int i = 0; i < journal->head.ncurve; i++) {
        rh_text__add(t, i > 0 ? "," : "");
        rh_journal__number(t, run->curve[i]);
    }
    rh_text__add(t, "]}");
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}

rh_status rh_journal__add_reason(rh_journal *journal, int number, const rh_study__run *run,
                                 const char *reason, rh_error *err)
{
    const rh_journal__entry *trial = open_trial(journal, number, err);
    char key[RH_JOURNAL__NAME_SIZE];
    if (!trial)
        return RH_EINVAL;
    snprintf(key, sizeof key, "failed:%d:%d", run->member, run->run);
    rh_journal__trial_attr(&journal->text, trial->id, key);
    rh_text__json(&journal->text, reason);
    rh_journal__end_attr(&journal->text);
    return rh_journal__append(journal, err);
}

// The mean learning curve if known, each point at its last step; at most one point per step.
static void add_curve(rh_text *t, int id, const rh_journal__head *head, const double *curve)
{
    int64_t n = head->ncurve < head->nstep ? head->ncurve : head->nstep;
    for (int i = 0; curve && i < n; i++) {
        if (!isfinite(curve[i]))
            continue;
        int64_t whole = head->nstep / n, rest = head->nstep % n;
        rh_journal__begin_line(t, 7);
        rh_text__format(t, ",\"trial_id\":%d,\"step\":%" PRId64 ",\"intermediate_value\":", id,
                        (i + 1) * whole + ((i + 1) * rest + n - 1) / n);
        rh_journal__number(t, curve[i]);
        rh_journal__end_line(t);
    }
}

static void whole_attr(rh_text *t, int id, const char *key, int64_t x)
{
    rh_journal__trial_attr(t, id, key);
    rh_text__whole(t, x);
    rh_journal__end_attr(t);
}

static void number_attr(rh_text *t, int id, const char *key, double x)
{
    rh_journal__trial_attr(t, id, key);
    rh_journal__number(t, x);
    rh_journal__end_attr(t);
}

// The value in every kind of model.
static void kinds_attr(rh_text *t, int id, const rh_kinds *kinds, const rh_trial *trial)
{
    rh_journal__trial_attr(t, id, "kinds");
    for (int k = 0; k < trial->nkind; k++) {
        rh_text__add(t, k > 0 ? "," : "{");
        rh_text__json(t, kinds->kind[k].label);
        rh_text__add(t, ":{\"value\":");
        rh_journal__number(t, trial->kind[k].value);
        rh_text__add(t, ",\"lo95\":");
        rh_journal__number(t, trial->kind[k].lo95);
        rh_text__add(t, ",\"hi95\":");
        rh_journal__number(t, trial->kind[k].hi95);
        rh_text__add(t, "}");
    }
    rh_text__add(t, "}");
    rh_journal__end_attr(t);
}

// Optuna's own: above 0 is broken. By the upper bounds of a confirmation, else by the rates.
static void constraints_attr(rh_text *t, int id, const rh_journal__head *head,
                             const rh_trial *trial)
{
    rh_limits limits;
    if (!head->nlimit)
        return;
    if (rh_limits__read(&limits, head->plan->at_most, NULL, NULL, NULL, NULL))
        t->bad = true;
    rh_journal__begin_line(t, 9);
    rh_text__format(t, ",\"trial_id\":%d,\"system_attr\":{\"constraints\":[", id);
    for (int i = 0; i < head->nlimit; i++) {
        const rh_kept *kept = &trial->kept[i];
        double rate = trial->confirm ? kept->upper : kept->rate;
        rh_text__add(t, i ? "," : "");
        rh_journal__number(t, isnan(rate) ? 1.0 : rate - limits.limit[i].most);
    }
    rh_text__add(t, "]}");
    rh_journal__end_line(t);
    rh_limits__clear(&limits);
}

static int64_t count_runs(const rh_trial *trial)
{
    int64_t n = 0;
    for (int64_t i = 0; i < (int64_t)trial->nmember * trial->nrun; i++)
        n += trial->result[i].outcome != RH_STOPPED;
    return n;
}

rh_status rh_journal__finish(rh_journal *journal, int number, const rh_trial *trial,
                             rh_error *err)
{
    static const char *const state[] = {
        [RH_SETTING_OPEN] = "open",
        [RH_SETTING_DONE] = "done",
        [RH_SETTING_DROPPED] = "dropped",
    };
    rh_text *t = &journal->text;
    rh_journal__entry *entry = open_trial(journal, number, err);
    if (!entry)
        return RH_EINVAL;
    bool finite = isfinite(trial->value);
    add_curve(t, entry->id, &journal->head, trial->curve);
    whole_attr(t, entry->id, "runs", count_runs(trial));
    whole_attr(t, entry->id, "members", trial->nmember);
    number_attr(t, entry->id, "lo95", trial->lo95);
    number_attr(t, entry->id, "hi95", trial->hi95);
    number_attr(t, entry->id, "out_of_coverage", trial->out_of_coverage);
    whole_attr(t, entry->id, "diverged", trial->ndiverged);
    if (trial->nkind > 1 && journal->head.kinds)
        kinds_attr(t, entry->id, journal->head.kinds, trial);
    constraints_attr(t, entry->id, &journal->head, trial);
    rh_journal__trial_attr(t, entry->id, "hyperparameters");
    rh_journal__hp(t, journal->head.plan->agents.type[trial->agent], trial->hp);
    rh_journal__end_attr(t);

    rh_journal__begin_line(t, 6);
    rh_text__format(t, ",\"trial_id\":%d,\"setting\":\"%s\"", entry->id, state[trial->state]);
    rh_text__add(t, !finite                              ? ",\"state\":3,\"values\":null"
                    : trial->state == RH_SETTING_DROPPED ? ",\"state\":2,\"values\":["
                                                         : ",\"state\":1,\"values\":[");
    if (finite) {
        rh_journal__number(t, trial->value);
        rh_text__add(t, "]");
    }
    add_time(t, ",\"datetime_complete\":");
    rh_journal__end_line(t);
    rh_status rc = rh_journal__append(journal, err);
    if (!rc)
        entry->finished = true;
    return rc;
}

rh_status rh_journal__add_random(rh_journal *journal, bool confirmed, const rh_reference *score,
                                 double lowest, rh_error *err)
{
    rh_text *t = &journal->text;
    const double number[] = {score->score, score->lo95, score->hi95, lowest};
    static const char *const key[] = {"score", "lo95", "hi95", "lowest"};
    rh_journal__study_attr(t, 0, "random");
    rh_text__format(t, "{\"confirmed\":%s", confirmed ? "true" : "false");
    for (int i = 0; i < 4; i++) {
        rh_text__format(t, ",\"%s\":", key[i]);
        rh_journal__number(t, number[i]);
    }
    rh_text__add(t, "}");
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}

rh_status rh_journal__add_defaults(rh_journal *journal, bool confirmed, const rh_result *result,
                                   int n, rh_error *err)
{
    rh_text *t = &journal->text;
    rh_journal__study_attr(t, 0, "defaults");
    rh_text__format(t, "{\"confirmed\":%s,\"runs\":[", confirmed ? "true" : "false");
    for (int i = 0; i < n; i++) {
        rh_text__add(t, i ? ",[" : "[");
        rh_journal__number(t, result[i].score);
        rh_text__format(t, ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", result[i].nfailure,
                        result[i].nepisode, result[i].nstep);
    }
    rh_text__add(t, "]}");
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}

rh_status rh_journal__add_nask(rh_journal *journal, double time, int nask, rh_error *err)
{
    rh_text *t = &journal->text;
    rh_journal__study_attr(t, 0, RH_JOURNAL__TIME);
    rh_text__add(t, "{\"time\":");
    rh_journal__number(t, time);
    rh_text__format(t, ",\"asks\":%d}", nask);
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}
