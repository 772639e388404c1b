// trials.c - the settings that were tried, and their runs.
//
// 1. A trial knows which of its runs are there, whoever run them and in whatever order: a
//    run found in the journal is like one that has just been run.
// 2. Learning curves of single runs are kept until the trial is finished, and then their mean,
//    taken in order of members and runs, so that it does not depend on who was first.
// 3. A trial is worth what the runs asked for so far say. The journal of a race has runs that
//    are only asked for later, and a race that goes on must not know them sooner.
// 4. A journal may have been written by another machine or an older version: a setting that is
//    not in the space is refused, and never run.

#include "core.h"

#include <math.h>
#include <string.h>

static rh_status out_of_memory(rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "study: out of memory for the runs of a setting");
}

static void destroy(rh_study__trial_record *record)
{
    if (!record)
        return;
    rh_free(record->hp);
    rh_free(record->result);
    rh_free(record->curves);
    rh_free(record->curve);
    rh_free(record);
}

// NULL when memory ran out.
static rh_study__trial_record *create(const rh_study *study, int setting, bool confirm,
                                      const double *x)
{
    const rh_plan *plan = study->plan;
    size_t ncurve = (size_t)study->plan->ncurve;
    rh_study__trial_record *record = rh_alloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->number = -1;
    record->setting = setting;
    record->confirm = confirm;
    record->nmember = confirm ? plan->confirm_members : study->members[RH_STAGE_SEARCH].nmember;
    record->nrun = confirm ? plan->confirm_runs : plan->nrun;
    memcpy(record->x, x, (size_t)plan->space.ndim * sizeof *x);
    size_t nunit = (size_t)record->nmember * (size_t)record->nrun;
    record->hp = rh_alloc((size_t)plan->agent->nparam + 1, sizeof *record->hp);
    record->result = rh_alloc(nunit, sizeof *record->result);
    record->curve = rh_alloc(ncurve + 1, sizeof *record->curve);
    if (!record->hp || !record->result || !record->curve) {
        destroy(record);
        return NULL;
    }
    rh_plan_hp(plan, x, record->hp);
    for (size_t i = 0; i < nunit; i++)
        record->result[i] = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    record->value = (rh_value){NAN, NAN, NAN, NAN, 0};
    return record;
}

static rh_status append(rh_study *study, rh_study__trial_record *record, rh_error *err)
{
    void *all =
        rh_alloc_more((void *)study->record, &study->room, study->nrecord, sizeof record);
    if (!all)
        return out_of_memory(err);
    study->record = all;
    int which = record->confirm, *place = study->place[which];
    place = rh_alloc_more(place, &study->nplace[which], record->setting, sizeof *place);
    if (!place)
        return out_of_memory(err);
    study->place[which] = place;
    record->index = study->nrecord;
    study->record[study->nrecord++] = record;
    place[record->setting] = study->nrecord;
    return RH_OK;
}

rh_study__trial_record *rh_study__find(const rh_study *study, int setting, bool confirm)
{
    int index = setting < study->nplace[confirm] ? study->place[confirm][setting] - 1 : -1;
    return index < 0 ? NULL : study->record[index];
}

rh_status rh_study__record(rh_study *study, int setting, bool confirm, const double *x,
                           rh_study__trial_record **out, rh_error *err)
{
    *out = rh_study__find(study, setting, confirm);
    if (*out)
        return RH_OK;
    rh_study__trial_record *record = create(study, setting, confirm, x);
    if (!record)
        return out_of_memory(err);
    rh_status rc = RH_OK;
    if (study->journal) {
        rh_journal__entry begun = {.setting = setting, .confirm = confirm};
        memcpy(begun.x, record->x, sizeof begun.x);
        rc = rh_journal__begin(study->journal, &begun, &record->number, err);
    }
    if (!rc)
        rc = append(study, record, err);
    if (rc) {
        destroy(record);
        return rc;
    }
    *out = record;
    return RH_OK;
}

static size_t run_at(const rh_study__trial_record *record, int member, int run)
{
    return (size_t)member * (size_t)record->nrun + (size_t)run;
}

static double *curve_at(const rh_study *study, const rh_study__trial_record *record, int member,
                        int run)
{
    size_t at = (size_t)run * (size_t)record->nmember + (size_t)member;
    return record->curves + at * (size_t)study->plan->ncurve;
}

rh_status rh_study__reserve(rh_study *study, rh_study__trial_record *record, int nrun,
                            rh_error *err)
{
    size_t ofrun = (size_t)record->nmember * (size_t)study->plan->ncurve;
    if (nrun <= record->ndrawn || (record->ndrawn && !record->curves))
        return RH_OK;
    double *curves = rh_alloc((size_t)nrun * ofrun + 1, sizeof *curves);
    if (!curves)
        return out_of_memory(err);
    if (record->ndrawn)
        memcpy(curves, record->curves, (size_t)record->ndrawn * ofrun * sizeof *curves);
    rh_free(record->curves);
    record->curves = curves;
    record->ndrawn = nrun;
    return RH_OK;
}

void rh_study__keep(rh_study *study, rh_study__trial_record *record,
                    const rh_journal__run *result)
{
    if (result->member >= record->nmember || result->run >= record->nrun)
        return; // of a plan that asked for more
    rh_result *kept = &record->result[run_at(record, result->member, result->run)];
    if (kept->outcome != RH_STOPPED || isnan(result->result.score))
        return; // twice, or it says nothing
    *kept = result->result;
    if (record->curves)
        memcpy(curve_at(study, record, result->member, result->run), result->curve,
               (size_t)study->plan->ncurve * sizeof *result->curve);
    study->nunit++;
    study->nstep += result->result.nstep;
    study->judged = false;
}

// The mean of each point over the runs that have one, of the runs that were asked for.
static void average_curves(const rh_study *study, rh_study__trial_record *record)
{
    for (int p = 0; p < study->plan->ncurve; p++) {
        double sum = 0.0;
        int n = 0;
        for (int m = 0; m < record->nmember; m++)
            for (int r = 0; r < record->asked; r++) {
                double y = curve_at(study, record, m, r)[p];
                if (record->result[run_at(record, m, r)].outcome == RH_STOPPED || isnan(y))
                    continue;
                sum += y;
                n++;
            }
        record->curve[p] = n ? sum / n : NAN;
    }
}

void rh_study__appraise(rh_study *study, rh_study__trial_record *record)
{
    size_t nunit = (size_t)record->nmember * (size_t)record->nrun;
    int64_t nstep = 0, nuncovered = 0;
    for (size_t i = 0; i < nunit; i++) { // decision 3
        bool asked = (int)(i % (size_t)record->nrun) < record->asked;
        study->seen[i] =
            asked ? record->result[i] : (rh_result){.score = NAN, .outcome = RH_STOPPED};
    }
    record->value = rh_value_of(rh_study__judge(study->plan), record->nmember, record->nrun,
                                study->seen, study->score, study->work);
    record->ndiverged = 0;
    for (size_t i = 0; i < nunit; i++) {
        const rh_result *result = &study->seen[i];
        nstep += result->nstep;
        nuncovered += result->nuncovered;
        record->ndiverged +=
            result->outcome == RH_DIVERGED || result->outcome == RH_ENV_NONFINITE;
    }
    record->unknown = nstep ? (double)nuncovered / (double)nstep : 0.0;
    if (record->curves)
        average_curves(study, record);
    study->judged = false;
}

rh_status rh_study__finish(rh_study *study, rh_study__trial_record *record,
                           rh_setting_state state, rh_error *err)
{
    record->state = state;
    record->closed = true;
    study->judged = false;
    rh_free(record->curves);
    record->curves = NULL;
    if (record->finished)
        return RH_OK;
    record->finished = true;
    if (!study->journal)
        return RH_OK;
    rh_trial trial = {
        .setting = record->setting,
        .confirm = record->confirm,
        .x = record->x,
        .hp = record->hp,
        .state = state,
        .nmember = record->nmember,
        .nrun = record->nrun,
        .result = record->result,
        .curve = record->curve,
        .value = record->value.value,
        .lo95 = record->value.lo95,
        .hi95 = record->value.hi95,
        .uncovered = record->unknown,
        .ndiverged = record->ndiverged,
    };
    return rh_journal__finish(study->journal, record->number, &trial, err);
}

// ---------------------------------------------------------------------------- the journal's

// Whether a number of a setting is one that is tried (decision 4).
static rh_status check_number(const rh_dim *dim, int setting, double x, rh_error *err)
{
    static const rh_param plain = {.name = ""};
    rh_space one = {.dim = {*dim}, .ndim = 1};
    char found[40], lo[40], hi[40];
    if (rh_space_holds(&one, &x))
        return RH_OK;
    rh_param_format(&plain, x, found, sizeof found);
    rh_param_format(&plain, dim->kind == RH_DIM_RANGE ? dim->lo : dim->value[0], lo, sizeof lo);
    rh_param_format(&plain, dim->kind == RH_DIM_RANGE ? dim->hi : dim->value[dim->nvalue - 1],
                    hi, sizeof hi);
    return rh_fail(err, RH_EFORMAT,
                   "study.log: setting %d has %.64s = %s, expected one of those from %s to %s; "
                   "use another folder",
                   setting, dim->name, found, lo, hi);
}

// Settings are begun in order, each once, and confirmed as they were tried.
static rh_status check_found(const rh_study *study, const rh_journal__entry *found, int n,
                             rh_error *err)
{
    const rh_space *space = &study->plan->space;
    const char *what = found->confirm ? "confirmation of setting" : "setting";
    if (found->setting >= n)
        return rh_fail(err, RH_EFORMAT,
                       "study.log: %s %d among %d trials, expected 0 to %d; use another folder",
                       what, found->setting, n, n - 1);
    if (rh_study__find(study, found->setting, found->confirm))
        return rh_fail(err, RH_EFORMAT,
                       "study.log: %s %d is there twice, expected once; use another folder",
                       what, found->setting);
    rh_status rc = RH_OK;
    for (int d = 0; d < space->ndim && !rc; d++)
        rc = check_number(&space->dim[d], found->setting, found->x[d], err);
    if (rc || !found->confirm)
        return rc;
    const rh_study__trial_record *tried = rh_study__find(study, found->setting, false);
    for (int d = 0; d < space->ndim; d++)
        if (!tried || tried->x[d] != found->x[d])
            return rh_fail(err, RH_EFORMAT,
                           "study.log: the confirmation of setting %d has another %.64s than "
                           "the setting; use another folder",
                           found->setting, space->dim[d].name);
    return RH_OK;
}

// The runs of a trial, and no more of their curves than can still be needed.
static rh_status restore_runs(rh_study *study, rh_study__trial_record *record,
                              const rh_journal__entry *found, rh_error *err)
{
    int64_t before = study->nunit, all = (int64_t)record->nmember * record->nrun;
    int nrun = 0;
    for (int k = 0; k < found->nunit; k++)
        if (found->result[k].run >= nrun && found->result[k].run < record->nrun)
            nrun = found->result[k].run + 1;
    rh_status rc = rh_study__reserve(study, record, nrun, err);
    if (rc)
        return rc;
    for (int k = 0; k < found->nunit; k++)
        rh_study__keep(study, record, &found->result[k]);
    if (found->finished && study->nunit - before == all) {
        record->asked = record->nrun;
        average_curves(study, record);
        rh_free(record->curves);
        record->curves = NULL;
    }
    study->nspare += found->confirm ? study->nunit - before : 0;
    return RH_OK;
}

rh_status rh_study__restore(rh_study *study, rh_error *err)
{
    int n = study->journal ? rh_journal__ntrial(study->journal) : 0;
    for (int i = 0; i < n; i++) {
        const rh_journal__entry *found = rh_journal__trial(study->journal, i);
        rh_status rc = check_found(study, found, n, err);
        if (rc)
            return rc;
        rh_study__trial_record *record =
            create(study, found->setting, found->confirm, found->x);
        rc = record ? append(study, record, err) : out_of_memory(err);
        if (!record || rc) {
            destroy(record);
            return rc;
        }
        record->number = i;
        record->finished = found->finished;
        record->state = found->state;
        rc = restore_runs(study, record, found, err);
        if (rc)
            return rc;
        rh_journal__forget(study->journal, i);
    }
    study->nknown = study->nunit;
    return RH_OK;
}

void rh_study__forget(rh_study *study)
{
    for (int i = 0; i < study->nrecord; i++)
        destroy(study->record[i]);
    rh_free((void *)study->record);
    rh_free(study->place[false]);
    rh_free(study->place[true]);
    study->record = NULL;
    study->place[false] = study->place[true] = NULL;
    study->nrecord = study->room = study->nplace[false] = study->nplace[true] = 0;
}
