// trials.c - the trials of a study and their runs.
//
// 1. A run from the journal and a run that has just finished are treated alike.
// 2. The learning curves of single runs are kept until the trial is finished, then their mean
//    and spread (curves.c), taken in order of members and runs, so the order of arrival does
//    not matter.
// 3. The value of a trial counts only the runs asked for so far. The journal of a race may hold
//    runs that are asked for later, and a resumed race must not see them earlier.
// 4. Another machine or version may have written the journal: x outside the space is refused.
// 5. In a confirmation with several kinds of model the value is that in the kind of the study's
//    model, which replays the log best, and the interval reaches from the least lower to the
//    greatest upper bound of all kinds: nobody knows which kind is right. The lower end
//    includes what the study's model is known to be too good by (optimism.c).
// 6. A finished trial of the journal does not change: Optuna refuses that. A confirmation that
//    gets more runs begins another trial with the runs it has; of two trials the runs of both
//    count.

#include "base/base.h"
#include "base/base_internal.h"
#include "core.h"
#include "eval/eval.h"
#include "search/search.h"
#include "study.h"

#include <math.h>
#include <string.h>

static rh_status out_of_memory(rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "study: out of memory for the runs of a setting");
}

const rh_agent_type *rh_study__agent(const rh_study *study, const rh_trial *trial)
{
    return study->plan->agents.type[trial->agent];
}

int rh_study__nparam(const rh_study *study, const rh_trial *trial)
{
    return rh_study__agent(study, trial)->nparam;
}

static void destroy(rh_study__record *record)
{
    if (!record)
        return;
    rh_free(record->hp);
    rh_free(record->result);
    rh_free(record->curves);
    rh_free(record->curve);
    rh_free(record->kind);
    rh_free(record->kept);
    rh_free(record->also);
    rh_free(record);
}

// NULL without memory.
static rh_study__record *create(const rh_study *study, int setting, bool confirm,
                                const double *x)
{
    const rh_plan *plan = study->plan;
    rh_study__record *record = rh_alloc(1, sizeof *record);
    if (!record)
        return NULL;
    int nmember = confirm ? rh_study__nconfirm(study) : study->members[RH_STAGE_SEARCH].nmember;
    int nkind = confirm ? study->kinds.n : 1;
    int nrun = confirm ? plan->confirm_runs : plan->nrun;
    size_t n = (size_t)nmember * (size_t)nrun;
    record->number = -1;
    int agent = rh_plan__agent_of(plan, x);
    record->hp = rh_alloc((size_t)plan->agents.type[agent]->nparam + 1, sizeof *record->hp);
    record->result = rh_alloc(n, sizeof *record->result);
    record->curve = rh_alloc(3 * (size_t)plan->ncurve + 1, sizeof *record->curve);
    record->kind = rh_alloc((size_t)nkind, sizeof *record->kind);
    record->kept = rh_alloc((size_t)study->limits.nlimit + 1, sizeof *record->kept);
    record->also = rh_alloc((size_t)study->limits.nalso + 1, sizeof *record->also);
    if (!record->hp || !record->result || !record->curve || !record->kind || !record->kept ||
        !record->also) {
        destroy(record);
        return NULL;
    }
    record->promised = record->curve + plan->ncurve;
    record->spread = record->promised + plan->ncurve;
    for (int p = 0; p < plan->ncurve; p++)
        record->promised[p] = record->spread[p] = NAN;
    memcpy(record->x, x, (size_t)plan->space.ndim * sizeof *x);
    rh_plan__hp(plan, x, record->hp);
    for (size_t i = 0; i < n; i++)
        record->result[i] = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    for (int k = 0; k < nkind; k++)
        record->kind[k] = (rh_kind_score){NAN, NAN, NAN, NAN};
    record->noise = NAN;
    record->trial = (rh_trial){
        .setting = setting,
        .confirm = confirm,
        .x = record->x,
        .agent = agent,
        .hp = record->hp,
        .nmember = nmember,
        .nrun = nrun,
        .result = record->result,
        .curve = record->curve,
        .promised = record->promised,
        .spread = record->spread,
        .alarm = NAN,
        .false_alarms = NAN,
        .value = NAN,
        .lo95 = NAN,
        .hi95 = NAN,
        .nkind = nkind,
        .kind = record->kind,
        .keeps = true,
        .kept = record->kept,
        .also = record->also,
    };
    return record;
}

static rh_status append(rh_study *study, rh_study__record *record, rh_error *err)
{
    int setting = record->trial.setting, which = record->trial.confirm;
    void *all =
        rh_base__alloc_more((void *)study->record, &study->room, study->nrecord, sizeof record);
    if (!all)
        return out_of_memory(err);
    study->record = all;
    int *place =
        rh_base__alloc_more(study->place[which], &study->nplace[which], setting, sizeof *place);
    if (!place)
        return out_of_memory(err);
    study->place[which] = place;
    record->index = study->nrecord;
    study->record[study->nrecord++] = record;
    place[setting] = study->nrecord;
    return RH_OK;
}

rh_study__record *rh_study__find(const rh_study *study, int setting, bool confirm)
{
    int index = setting < study->nplace[confirm] ? study->place[confirm][setting] - 1 : -1;
    return index < 0 ? NULL : study->record[index];
}

rh_status rh_study__record_of(rh_study *study, int setting, bool confirm, const double *x,
                              rh_study__record **out, rh_error *err)
{
    *out = rh_study__find(study, setting, confirm);
    if (*out)
        return RH_OK;
    rh_study__record *record = create(study, setting, confirm, x);
    if (!record)
        return out_of_memory(err);
    rh_status rc = RH_OK;
    if (study->journal)
        rc = rh_journal__begin(study->journal, setting, confirm, record->x, &record->number,
                               err);
    if (!rc)
        rc = append(study, record, err);
    if (rc) {
        destroy(record);
        return rc;
    }
    *out = record;
    return RH_OK;
}

static size_t run_at(const rh_study__record *record, int member, int run)
{
    return (size_t)member * (size_t)record->trial.nrun + (size_t)run;
}

static double *curve_at(const rh_study *study, const rh_study__record *record, int member,
                        int run)
{
    size_t at = (size_t)run * (size_t)record->trial.nmember + (size_t)member;
    return record->curves + at * (size_t)study->plan->ncurve;
}

rh_status rh_study__reserve(rh_study *study, rh_study__record *record, int nrun, rh_error *err)
{
    size_t per_run = (size_t)record->trial.nmember * (size_t)study->plan->ncurve;
    if (nrun <= record->ncurve_run || (record->ncurve_run && !record->curves))
        return RH_OK;
    double *curves = rh_alloc((size_t)nrun * per_run + 1, sizeof *curves);
    if (!curves)
        return out_of_memory(err);
    if (record->ncurve_run)
        memcpy(curves, record->curves, (size_t)record->ncurve_run * per_run * sizeof *curves);
    rh_free(record->curves);
    record->curves = curves;
    record->ncurve_run = nrun;
    return RH_OK;
}

void rh_study__keep(rh_study *study, rh_study__record *record, const rh_study__run *run)
{
    if (run->member >= record->trial.nmember || run->run >= record->trial.nrun)
        return; // of a plan that asked for more
    rh_result *kept = &record->result[run_at(record, run->member, run->run)];
    if (kept->outcome != RH_STOPPED || isnan(run->result.score))
        return; // a duplicate, or without a score
    *kept = run->result;
    if (record->curves)
        memcpy(curve_at(study, record, run->member, run->run), run->curve,
               (size_t)study->plan->ncurve * sizeof *run->curve);
    study->nrun++;
    study->nstep += run->result.nstep;
    study->judged = false;
}

rh_status rh_study__reopen(rh_study *study, rh_study__record *record, rh_error *err)
{
    rh_study__run run = {.trial = record->index, .stage = RH_STAGE_CONFIRM};
    rh_status rc = rh_journal__begin(study->journal, record->trial.setting, true, record->x,
                                     &record->number, err);
    for (int r = 0; r < record->trial.nrun && !rc; r++)
        for (int m = 0; m < record->trial.nmember && !rc; m++) {
            run.member = m;
            run.run = r;
            run.result = record->result[run_at(record, m, r)];
            if (run.result.outcome == RH_STOPPED)
                continue;
            memcpy(run.curve, curve_at(study, record, m, r),
                   (size_t)study->plan->ncurve * sizeof *run.curve);
            rc = rh_journal__add_run(study->journal, record->number, &run, err);
        }
    study->dirty = true;
    if (!rc)
        record->finished = false;
    return rc;
}

// The mean of each point, over the runs that were asked for and have it.
static void average_curves(const rh_study *study, rh_study__record *record)
{
    for (int p = 0; p < study->plan->ncurve; p++) {
        double sum = 0.0;
        int n = 0;
        for (int m = 0; m < record->trial.nmember; m++)
            for (int r = 0; r < record->nasked; r++) {
                double y = curve_at(study, record, m, r)[p];
                if (record->result[run_at(record, m, r)].outcome == RH_STOPPED || isnan(y))
                    continue;
                sum += y;
                n++;
            }
        record->curve[p] = n ? sum / n : NAN;
    }
}

// The value in every kind of model, and of all (decision 5). study->seen holds the runs.
static void value_kinds(rh_study *study, rh_study__record *record)
{
    rh_trial *trial = &record->trial;
    int nmember = trial->nmember / trial->nkind;
    for (int k = trial->nkind - 1; k >= 0; k--) { // study->score is of the first
        size_t first = (size_t)k * (size_t)nmember * (size_t)trial->nrun;
        rh_value__estimate value =
            rh_value__of(rh_study__judge(study->plan), nmember, trial->nrun,
                         study->seen + first, study->score, study->work);
        record->kind[k] = (rh_kind_score){value.value, value.lo95, value.hi95, NAN};
        record->noise = value.noise;
        record->nscored = value.nrun;
    }
    trial->value = record->kind[0].value;
    trial->lo95 = record->kind[0].lo95 - (trial->confirm ? study->optimism : 0.0);
    trial->hi95 = record->kind[0].hi95;
    for (int k = 1; k < trial->nkind; k++) {
        const rh_kind_score *kind = &record->kind[k];
        bool known = isfinite(kind->lo95) && isfinite(kind->hi95) && isfinite(trial->lo95);
        trial->lo95 = known ? fmin(trial->lo95, kind->lo95) : NAN;
        trial->hi95 = known ? fmax(trial->hi95, kind->hi95) : NAN;
    }
}

void rh_study__appraise(rh_study *study, rh_study__record *record)
{
    rh_trial *trial = &record->trial;
    size_t n = (size_t)trial->nmember * (size_t)trial->nrun;
    int64_t nstep = 0, nuncovered = 0;
    for (size_t i = 0; i < n; i++) { // decision 3
        bool asked = (int)(i % (size_t)trial->nrun) < record->nasked;
        study->seen[i] =
            asked ? record->result[i] : (rh_result){.score = NAN, .outcome = RH_STOPPED};
    }
    value_kinds(study, record);
    trial->ndiverged = 0;
    for (size_t i = 0; i < n; i++) {
        const rh_result *result = &study->seen[i];
        nstep += result->nstep;
        nuncovered += result->nuncovered;
        trial->ndiverged += result->outcome != RH_FINISHED && result->outcome != RH_STOPPED;
    }
    rh_study__weigh(study, record);
    trial->out_of_coverage = nstep ? (double)nuncovered / (double)nstep : 0.0;
    if (record->curves)
        average_curves(study, record);
    study->judged = false;
}

rh_status rh_study__finish(rh_study *study, rh_study__record *record, rh_setting_state state,
                           rh_error *err)
{
    record->trial.state = state;
    record->closed = true;
    study->judged = false;
    rh_status rc = rh_study__foresee_curve(study, record, err);
    if (rc)
        return rc;
    rh_free(record->curves);
    record->curves = NULL;
    if (record->finished)
        return RH_OK;
    record->finished = true;
    if (!study->journal)
        return RH_OK;
    return rh_journal__finish(study->journal, record->number, &record->trial, err);
}

// ---------------------------------------------------------------------------- from the journal

// Whether the space holds this number of a setting (decision 4).
static rh_status check_number(const rh_dim *dim, int setting, double x, rh_error *err)
{
    static const rh_param plain = {.name = ""};
    rh_space one = {.dim = {*dim}, .ndim = 1};
    one.dim[0].branch = 0;
    char found[40], lo[40], hi[40];
    if (rh_space__holds(&one, &x))
        return RH_OK;
    rh_param__format(&plain, x, found, sizeof found);
    rh_param__format(&plain, dim->kind == RH_DIM_RANGE ? dim->lo : dim->value[0], lo,
                     sizeof lo);
    rh_param__format(&plain, dim->kind == RH_DIM_RANGE ? dim->hi : dim->value[dim->nvalue - 1],
                     hi, sizeof hi);
    return rh_fail(
        err, RH_EFORMAT,
        "study.log: setting %d has %.64s = %s, expected a value of the search space, from %s "
        "to %s; use another folder",
        setting, dim->name, found, lo, hi);
}

// Settings begin in order, each once; a confirmation has the values of its setting.
static rh_status check_found(const rh_study *study, const rh_journal__entry *found, int n,
                             rh_error *err)
{
    const rh_space *space = &study->plan->space;
    const char *what = found->confirm ? "confirmation of setting" : "setting";
    const rh_study__record *before = rh_study__find(study, found->setting, found->confirm);
    if (found->setting >= n)
        return rh_fail(err, RH_EFORMAT,
                       "study.log: %s %d among %d trials, expected 0 to %d; use another folder",
                       what, found->setting, n, n - 1);
    if (before && !(found->confirm && before->finished)) // decision 6
        return rh_fail(err, RH_EFORMAT,
                       "study.log: %s %d appears twice, expected once; use another folder",
                       what, found->setting);
    rh_status rc = RH_OK;
    for (int d = 0; d < space->ndim && !rc; d++)
        if (rh_space__has(space, found->x, d))
            rc = check_number(&space->dim[d], found->setting, found->x[d], err);
    if (rc || !found->confirm)
        return rc;
    const rh_study__record *tried = rh_study__find(study, found->setting, false);
    for (int d = 0; d < space->ndim; d++)
        if (!tried || (tried->x[d] != found->x[d] && !isnan(found->x[d])))
            return rh_fail(
                err, RH_EFORMAT,
                "study.log: the confirmation of setting %d differs from the setting in "
                "%.64s; use another folder",
                found->setting, space->dim[d].name);
    return RH_OK;
}

// The runs of a trial, and the curves that may still be needed.
static rh_status restore_runs(rh_study *study, rh_study__record *record,
                              const rh_journal__entry *found, rh_error *err)
{
    rh_trial *trial = &record->trial;
    int64_t before = study->nrun, all = (int64_t)trial->nmember * trial->nrun;
    int nrun = 0;
    for (int k = 0; k < found->nrun; k++)
        if (found->run[k].run >= nrun && found->run[k].run < trial->nrun)
            nrun = found->run[k].run + 1;
    rh_status rc = rh_study__reserve(study, record, nrun, err);
    if (rc)
        return rc;
    for (int k = 0; k < found->nrun; k++)
        rh_study__keep(study, record, &found->run[k]);
    if (found->finished && study->nrun - before == all) {
        record->nasked = trial->nrun;
        average_curves(study, record);
        rc = rh_study__foresee_curve(study, record, err);
        rh_free(record->curves);
        record->curves = NULL;
    }
    study->nspare += found->confirm ? study->nrun - before : 0;
    return rc;
}

// The search need not compute again what it asked for (run.c, decision 2).
static rh_status recall(rh_study *study, rh_error *err)
{
    size_t ndim = (size_t)study->plan->space.ndim;
    int most = study->nplace[false], n = 0;
    double *x = rh_alloc((size_t)most * ndim + 1, sizeof *x);
    if (!x)
        return out_of_memory(err);
    for (; n < most; n++) {
        const rh_study__record *record = rh_study__find(study, n, false);
        if (!record)
            break;
        memcpy(x + (size_t)n * ndim, record->x, ndim * sizeof *x);
    }
    rh_status rc = rh_search__recall(study->search, n, x, err);
    rh_free(x);
    return rc;
}

rh_status rh_study__restore(rh_study *study, rh_error *err)
{
    int n = study->journal ? rh_journal__ntrial(study->journal) : 0;
    for (int i = 0; i < n; i++) {
        const rh_journal__entry *found = rh_journal__trial(study->journal, i);
        rh_status rc = check_found(study, found, n, err);
        if (rc)
            return rc;
        rh_study__record *record = rh_study__find(study, found->setting, found->confirm);
        if (!record) {
            record = create(study, found->setting, found->confirm, found->x);
            rc = record ? append(study, record, err) : out_of_memory(err);
            if (!record || rc) {
                destroy(record);
                return rc;
            }
        }
        record->number = i;
        record->finished = found->finished;
        record->trial.state = found->state;
        rc = restore_runs(study, record, found, err);
        if (rc)
            return rc;
        rh_journal__forget(study->journal, i);
    }
    study->nrun_resumed = study->nrun;
    return n > 0 ? recall(study, err) : RH_OK;
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
