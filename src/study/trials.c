// trials.c - the settings that were tried, and their lives.
//
// 1. A trial knows which of its lives are there, whoever lived them and in whatever order: a
//    life found in the journal is like one that has just been lived.
// 2. Learning curves of single lives are kept until the trial is finished, and then their mean,
//    taken in order of members and runs, so that it does not depend on who was first.

#include "core.h"

#include <math.h>
#include <string.h>

static rh_status out_of_memory(rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "study: out of memory for the lives of a setting");
}

static void destroy(rh_record *record)
{
    if (!record)
        return;
    rh_free(record->hp);
    rh_free(record->life);
    rh_free(record->curves);
    rh_free(record->curve);
    rh_free(record);
}

// NULL when memory ran out.
static rh_record *create(const rh_study *study, int setting, bool confirm, const double *x)
{
    const rh_plan *plan = study->plan;
    size_t ncurve = (size_t)study->plan->ncurve;
    rh_record *record = rh_alloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->number = -1;
    record->setting = setting;
    record->confirm = confirm;
    record->nmember = confirm ? plan->confirm_members : study->home[RH_STAGE_SEARCH].nmember;
    record->nrun = confirm ? plan->confirm_runs : plan->nrun;
    memcpy(record->x, x, (size_t)plan->space.ndim * sizeof *x);
    size_t nlife = (size_t)record->nmember * (size_t)record->nrun;
    record->hp = rh_alloc((size_t)plan->agent->nparam + 1, sizeof *record->hp);
    record->life = rh_alloc(nlife, sizeof *record->life);
    record->curves = rh_alloc(nlife * ncurve + 1, sizeof *record->curves);
    record->curve = rh_alloc(ncurve + 1, sizeof *record->curve);
    if (!record->hp || !record->life || !record->curves || !record->curve) {
        destroy(record);
        return NULL;
    }
    rh_plan_hp(plan, x, record->hp);
    for (size_t i = 0; i < nlife; i++)
        record->life[i] = (rh_life){.score = NAN, .outcome = RH_STOPPED};
    record->value = (rh_value){NAN, NAN, NAN, NAN, 0};
    return record;
}

static rh_status append(rh_study *study, rh_record *record, rh_error *err)
{
    if (study->nrecord == study->room) {
        int room = study->room ? 2 * study->room : 64;
        rh_record **more = rh_alloc((size_t)room, sizeof *more);
        if (!more)
            return out_of_memory(err);
        if (study->nrecord)
            memcpy(more, study->record, (size_t)study->nrecord * sizeof *more);
        rh_free((void *)study->record);
        study->record = more;
        study->room = room;
    }
    record->index = study->nrecord;
    study->record[study->nrecord++] = record;
    return RH_OK;
}

rh_record *rh_study__find(const rh_study *study, int setting, bool confirm)
{
    // those of the search are nearly always in order of their numbers
    if (!confirm && setting < study->nrecord && !study->record[setting]->confirm &&
        study->record[setting]->setting == setting)
        return study->record[setting];
    for (int i = study->nrecord - 1; i >= 0; i--)
        if (study->record[i]->setting == setting && study->record[i]->confirm == confirm)
            return study->record[i];
    return NULL;
}

rh_status rh_study__record(rh_study *study, int setting, bool confirm, const double *x,
                           rh_record **out, rh_error *err)
{
    *out = rh_study__find(study, setting, confirm);
    if (*out)
        return RH_OK;
    rh_record *record = create(study, setting, confirm, x);
    if (!record)
        return out_of_memory(err);
    rh_status rc = RH_OK;
    if (study->journal) {
        rh_journal_trial begun = {.setting = setting, .confirm = confirm};
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

void rh_study__keep(rh_study *study, rh_record *record, const rh_journal_life *life)
{
    if (life->member >= record->nmember || life->run >= record->nrun)
        return; // of a plan that asked for more
    size_t at = (size_t)life->member * (size_t)record->nrun + (size_t)life->run;
    size_t ncurve = (size_t)study->plan->ncurve;
    if (record->life[at].outcome != RH_STOPPED)
        return; // twice
    record->life[at] = life->life;
    if (record->curves)
        memcpy(record->curves + at * ncurve, life->curve, ncurve * sizeof *life->curve);
    study->nlife++;
    study->nstep += life->life.nstep;
}

// The mean over the lives of each point, of those lives that have one.
static void average_curves(const rh_study *study, rh_record *record)
{
    int ncurve = study->plan->ncurve;
    size_t nlife = (size_t)record->nmember * (size_t)record->nrun;
    for (int p = 0; p < ncurve; p++) {
        double sum = 0.0;
        int n = 0;
        for (size_t i = 0; i < nlife; i++) {
            double y = record->curves[i * (size_t)ncurve + (size_t)p];
            if (record->life[i].outcome == RH_STOPPED || isnan(y))
                continue;
            sum += y;
            n++;
        }
        record->curve[p] = n ? sum / n : NAN;
    }
}

void rh_study__appraise(rh_study *study, rh_record *record)
{
    size_t nlife = (size_t)record->nmember * (size_t)record->nrun;
    int64_t nstep = 0, nunknown = 0;
    record->value = rh_value_of(rh_study__judge(study->plan), record->nmember, record->nrun,
                                record->life, study->score, study->work);
    record->ndiverged = 0;
    for (size_t i = 0; i < nlife; i++) {
        const rh_life *life = &record->life[i];
        nstep += life->nstep;
        nunknown += life->nunknown;
        record->ndiverged += life->outcome == RH_DIVERGED || life->outcome == RH_ENV_NONFINITE;
    }
    record->unknown = nstep ? (double)nunknown / (double)nstep : 0.0;
    if (record->curves)
        average_curves(study, record);
}

rh_status rh_study__finish(rh_study *study, rh_record *record, rh_setting_state state,
                           rh_error *err)
{
    record->state = state;
    record->closed = true;
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
        .life = record->life,
        .curve = record->curve,
        .value = record->value.value,
        .lo95 = record->value.lo95,
        .hi95 = record->value.hi95,
        .unknown = record->unknown,
        .ndiverged = record->ndiverged,
    };
    return rh_journal__finish(study->journal, record->number, &trial, err);
}

rh_status rh_study__restore(rh_study *study, rh_error *err)
{
    int n = study->journal ? rh_journal__ntrial(study->journal) : 0;
    for (int i = 0; i < n; i++) {
        const rh_journal_trial *found = rh_journal__trial(study->journal, i);
        rh_record *record = create(study, found->setting, found->confirm, found->x);
        rh_status rc = record ? append(study, record, err) : out_of_memory(err);
        if (!record || rc) {
            destroy(record);
            return rc;
        }
        record->number = i;
        record->finished = found->finished;
        record->state = found->state;
        for (int k = 0; k < found->nlife; k++)
            rh_study__keep(study, record, &found->life[k]);
        study->nspare += found->confirm ? found->nlife : 0;
    }
    study->nknown = study->nlife;
    return RH_OK;
}

void rh_study__forget(rh_study *study)
{
    for (int i = 0; i < study->nrecord; i++)
        destroy(study->record[i]);
    rh_free((void *)study->record);
    study->record = NULL;
    study->nrecord = study->room = 0;
}
