// run.c - the loop of a study: ask the search, do the runs, write the journal, tell the search.
//
// 1. A run is in the journal before it counts. The search is told of settings in the order it
//    asked for them, once all their runs are there, so what it asks next depends on scores
//    alone and not on timing. The journal is synced once per ask; syncing after every setting
//    was ten times slower than the runs themselves.
// 2. A resumed study asks the search the same questions; only runs not in the journal are done.
//    The search is given the settings of the journal, so that it need not compute them again.
// 3. The journal's numbers count: where the search, on another machine, would now ask for
//    slightly different ones, it is told those of the journal.
// 4. The leading settings are confirmed on models and random streams that the search has not
//    seen, because the best of many is partly the most fortunate. The winner is the one with
//    the highest lower bound there. A search ends among nearly equal settings: of these only
//    the first is confirmed while there are others.
// 5. A search may ask for 100,000 settings at a time. Only as many are started as keep all
//    threads busy: a waiting run takes 2 kilobytes.
// 6. A setting with a diverged run, in the search or in its confirmation, ranks below every
//    setting without: the score of such a run is a bound, not a measurement, and a plant cannot
//    average it away. `ranking: value` is excepted: the paper takes the highest mean, and a
//    preset that follows it must not do better.
// 7. With a time budget the search ends when what comes after it would take the rest: its runs
//    at the speed of those so far, and its models as long as the first ones. The journal keeps
//    how often the search was asked by then, so a study that is resumed later is the same.
// 8. Of a long log, only some members of the confirmation are in memory at a time: every
//    setting runs in these before others are fitted. No result depends on it.
// 8. With limits (--at-most) a setting that breaks one ranks below every setting that keeps
//    all, above those with diverged runs. In the search a setting breaks a limit if its rate is
//    above it; while it has not all its runs (race), if the lower bound of the rate is: what is
//    dropped does not come back. The search is told how far above the limits it is in place of
//    its score, so while none keeps them, a search looks for one that does. Of the settings
//    that are confirmed the last is the one with the highest score, whatever its limits, for
//    what the limits cost; and before it, one in four, those with the lowest rates: bounds of
//    few runs in one model say little.

#include "core.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

#define PAUSE 0.05     // seconds between two polls of the caller's stop
#define SYNC_EVERY 1.0 // seconds of work that a power cut may cost
#define AHEAD 128      // runs started ahead for each thread

// ---------------------------------------------------------------------------- progress

int64_t rh_study__runs_predicted(const rh_study *study)
{
    const rh_plan *plan = study->plan;
    int64_t confirm = plan->confirm_settings < study->nsetting_max ? plan->confirm_settings
                                                                   : study->nsetting_max;
    int64_t n = study->nrun_search * study->members[RH_STAGE_SEARCH].nmember +
                confirm * rh_study__nconfirm(study) * plan->confirm_runs +
                rh_study__ncheck_run(study) + study->nspare;
    return n > study->nrun ? n : study->nrun; // more, where the time is over early
}

static void report(const rh_study *study, const rh_study__record *finished)
{
    const rh_study__record *best = study->best;
    rh_study_progress progress = {
        .stage = study->stage,
        .nrun = study->nrun,
        .nrun_resumed = study->nrun_resumed,
        .nsetting = study->nfinished,
        .best = best ? best->trial.setting : -1,
        .value = best ? best->trial.value : NAN,
        .lo95 = best ? best->trial.lo95 : NAN,
        .hi95 = best ? best->trial.hi95 : NAN,
        .hp = best ? best->hp : NULL,
        .agent = best ? best->trial.agent : -1,
        .finished = finished != NULL,
        .setting = finished ? finished->trial.setting : -1,
        .nrun_max = rh_study__runs_predicted(study),
        .nsetting_max = study->nsetting_max,
    };
    if (study->stage == RH_STAGE_CONFIRM &&
        study->plan->confirm_settings < progress.nsetting_max)
        progress.nsetting_max = study->plan->confirm_settings;
    study->opt.progress(study->opt.context, &progress);
}

void rh_study__tell(rh_study *study, const rh_study__record *finished)
{
    if (study->opt.progress)
        report(study, finished);
    rh_study__watch(study);
}

// Runs of the trial's setting that diverged, in both stages.
static int count_diverged(const rh_study *study, const rh_trial *t)
{
    const rh_study__record *tried = rh_study__find(study, t->setting, false);
    return t->ndiverged + (t->confirm && tried ? tried->trial.ndiverged : 0);
}

// 0: above all others, 1: breaks limits, 2: has diverged runs.
static int level_of(const rh_study *study, const rh_trial *t)
{
    bool diverged = study->plan->ranking == RH_RANKING__SOUND && count_diverged(study, t) > 0;
    return diverged ? 2 : study->limits.nlimit && !t->keeps;
}

bool rh_study__is_behind(const rh_study *study, const rh_trial *a, const rh_trial *b)
{
    return level_of(study, a) > level_of(study, b);
}

// Whether a setting leads now: more runs weigh more than a higher value.
static void compare(rh_study *study, const rh_study__record *record)
{
    const rh_study__record *best = study->best;
    if (isnan(record->trial.value))
        return;
    if (best && record->nscored == best->nscored &&
        rh_study__is_behind(study, &record->trial, &best->trial))
        return;
    if (!best || record->nscored > best->nscored ||
        (record->nscored == best->nscored &&
         (record->trial.value > best->trial.value ||
          rh_study__is_behind(study, &best->trial, &record->trial))))
        study->best = record;
}

// ---------------------------------------------------------------------------- runs

// Start the missing runs of a trial in members first .. first + n - 1.
static rh_status start_runs(rh_study *study, rh_study__record *record, int nrun, int first,
                            int n, rh_error *err)
{
    rh_study__unit unit = {.trial = record->index};
    unit.stage = record->trial.confirm ? RH_STAGE_CONFIRM : RH_STAGE_SEARCH;
    unit.agent = record->trial.agent;
    memcpy(unit.hp, record->hp,
           (size_t)rh_study__nparam(study, &record->trial) * sizeof *unit.hp);
    record->nasked = nrun < record->trial.nrun ? nrun : record->trial.nrun;
    rh_status rc = rh_study__reserve(study, record, record->nasked, err);
    for (int r = 0; r < record->nasked && !rc; r++)
        for (int m = first; m < first + n && !rc; m++) {
            if (record->result[(size_t)m * (size_t)record->trial.nrun + (size_t)r].outcome !=
                RH_STOPPED)
                continue;
            if (record->finished) // written by another machine or an older version
                return rh_fail(
                    err, RH_EFORMAT,
                    "study.log: setting %d is finished without run %d, expected all its "
                    "runs; use another folder",
                    record->trial.setting, r);
            unit.member = m;
            unit.run = r;
            rc = rh_workers__give(study->workers, &unit, err);
            record->nopen += !rc;
        }
    return rc;
}

// Keep a finished run, in the journal first.
static rh_status take_in(rh_study *study, rh_study__done *done, rh_error *err)
{
    rh_study__record *record = study->record[done->run.trial];
    for (int p = study->eval.ncurve; p < study->plan->ncurve; p++)
        done->run.curve[p] = NAN; // the run has fewer steps than the curve has points
    rh_status rc = RH_OK;
    bool failed = done->run.result.outcome == RH_FAILED;
    if (failed && !*study->failure)
        snprintf(study->failure, sizeof study->failure, "%.240s", done->err.text);
    if (study->journal && failed)
        rc = rh_journal__add_reason(study->journal, record->number, &done->run, done->err.text,
                                    err);
    if (study->journal && !rc)
        rc = rh_journal__add_run(study->journal, record->number, &done->run, err);
    if (rc)
        return rc;
    rh_study__keep(study, record, &done->run);
    study->dirty = true;
    record->nopen--;
    return RH_OK;
}

rh_status rh_study__sync(rh_study *study, rh_error *err)
{
    if (!study->journal || !study->dirty)
        return RH_OK;
    study->dirty = false;
    study->synced = rh_study__now();
    return rh_journal__sync(study->journal, err);
}

rh_status rh_study__take(rh_study *study, rh_study__done *run, bool *done, rh_error *err)
{
    *done = false;
    if (study->opt.stop && study->opt.stop(study->opt.context)) {
        rh_status rc = rh_study__sync(study, err);
        return rc ? rc : rh_fail(err, RH_ESTOPPED, "study: stopped");
    }
    rh_status rc = RH_OK;
    if (study->dirty && rh_study__now() - study->synced > SYNC_EVERY)
        rc = rh_study__sync(study, err);
    if (rc || !rh_workers__take(study->workers, run, PAUSE))
        return rc;
    if (run->rc)
        return rh_fail(err, run->rc, "%s", run->err.text);
    *done = true;
    return RH_OK;
}

// Wait for a run of a trial.
static rh_status wait_for_run(rh_study *study, rh_error *err)
{
    rh_study__done done;
    bool there;
    rh_status rc = rh_study__take(study, &done, &there, err);
    if (rc || !there)
        return rc;
    rc = take_in(study, &done, err);
    if (!rc)
        rh_study__tell(study, NULL);
    return rc;
}

// The settings of one ask; the first nbegun have been started.
typedef struct batch {
    const rh_search__asked *asked; // (n)
    int n, nbegun;
} batch;

static rh_status begin(rh_study *study, const rh_search__asked *asked, rh_error *err)
{
    rh_study__record *record = NULL;
    const double *x = rh_search__proposed(study->search, asked->setting);
    rh_status rc = rh_study__record_of(study, asked->setting, false, x, &record, err);
    if (rc)
        return rc;
    bool differs = false;
    for (int d = 0; d < study->plan->space.ndim; d++)
        differs = differs || (record->x[d] != x[d] && !isnan(x[d]));
    if (differs)
        rh_search__amend(study->search, asked->setting, record->x);
    return start_runs(study, record, asked->nrun, 0, record->trial.nmember, err);
}

// Start at least so many, and more while a thread could run out of work.
static rh_status begin_more(rh_study *study, batch *b, int least, rh_error *err)
{
    int most = AHEAD * rh_workers__nthread(study->workers);
    rh_status rc = RH_OK;
    while (!rc && b->nbegun < b->n &&
           (b->nbegun < least || rh_workers__nopen(study->workers) < most))
        rc = begin(study, &b->asked[b->nbegun++], err);
    return rc;
}

// Wait for all requested runs of a trial, and start more of the batch meanwhile. Nullable: b.
static rh_status complete(rh_study *study, rh_study__record *record, batch *b, rh_error *err)
{
    rh_status rc = RH_OK;
    while (record->nopen > 0 && !rc) {
        rc = wait_for_run(study, err);
        if (!rc && b)
            rc = begin_more(study, b, 0, err);
    }
    if (!rc) {
        rh_study__appraise(study, record);
        compare(study, record);
    }
    return rc;
}

static rh_status close_setting(rh_study *study, rh_study__record *record,
                               rh_setting_state state, rh_error *err)
{
    rh_status rc = rh_study__finish(study, record, state, err);
    study->nfinished++;
    rh_study__tell(study, record);
    return rc;
}

// ---------------------------------------------------------------------------- the search

// A search may close a setting some time after it was told of it.
static rh_status close_settled(rh_study *study, rh_error *err)
{
    rh_status rc = RH_OK;
    int n = rh_search__nsetting(study->search);
    bool all = true; // all settings before are closed
    for (int s = study->nclosed; s < n && !rc; s++) {
        rh_setting_state state = rh_search__state(study->search, s);
        rh_study__record *record = rh_study__find(study, s, false);
        if (state != RH_SETTING_OPEN && record && !record->closed)
            rc = close_setting(study, record, state, err);
        all = all && record && record->closed;
        study->nclosed += all;
    }
    return rc;
}

// study->score holds the scores of the trial that was just appraised.
static rh_status tell_search(rh_study *study, const rh_study__record *record, rh_error *err)
{
    rh_search__told told = {
        .setting = record->trial.setting,
        .nrun = record->nscored,
        .score = study->score,
        .value = record->trial.value,
        .noise = record->noise,
        .nbroken = study->plan->ranking == RH_RANKING__VALUE ? 0 : record->trial.ndiverged};
    if (!record->trial.keeps)
        rh_study__penalise(study, record, study->score, &told);
    return rh_search__tell(study->search, &told, err);
}

// Runs of each member that the search asked for.
static int64_t count_asked(const rh_study *study)
{
    int64_t n = 0;
    for (int i = 0; i < study->nrecord; i++)
        n += study->record[i]->trial.confirm ? 0 : study->record[i]->nasked;
    return n;
}

// Decision 7: whether the time is over after nask asks. begun: when the search began.
static rh_status check_time(rh_study *study, int nask, double begun, bool *over, rh_error *err)
{
    const rh_plan *plan = study->plan;
    int64_t nnew = study->nrun - study->nrun_resumed, nasked = count_asked(study);
    int64_t nlater =
        (int64_t)plan->confirm_settings * rh_study__nconfirm(study) * plan->confirm_runs +
        rh_study__ncheck_run(study) + rh_study__ntransfer_run(study) + RH_STUDY__NEXT_RUNS;
    int known = study->journal ? rh_journal__nask(study->journal, plan->time) : 0;
    double passed = rh_study__now() - begun;
    double each = nnew > 0 ? passed / (double)nnew : 0.0;
    double most = plan->time - (begun - study->begun) - each * (double)nlater - study->fitting;
    rh_status rc = RH_OK;
    *over = known ? nask >= known : passed >= most;
    if (*over && !known && study->journal)
        rc = rh_journal__add_nask(study->journal, plan->time, nask, err);
    study->nsetting_max = rh_search__nsetting(study->search);
    study->nrun_search = nasked;
    if (!*over && passed > 0.0 && nnew > 0) // for the progress
        study->nrun_search = (int64_t)((double)nasked * fmax(1.0, most / passed));
    return rc;
}

rh_status rh_study__search(rh_study *study, rh_error *err)
{
    double begun = rh_study__now();
    study->stage = RH_STAGE_SEARCH;
    study->best = NULL;
    study->nfinished = study->nclosed = 0;
    for (int nask = 0;; nask++) {
        batch b = {0};
        bool over = false, timed = study->plan->time > 0.0 && nask > 0;
        rh_status rc = timed ? check_time(study, nask, begun, &over, err) : RH_OK;
        if (!rc && !over)
            rc = rh_search__ask(study->search, &b.asked, &b.n, err);
        if (rc || over)
            return rc;
        if (!timed)
            rh_search__foresee(study->search, &study->nsetting_max, &study->nrun_search);
        study->nfirst = nask == 0 ? b.n : study->nfirst;
        rc = close_settled(study, err);
        if (rc || b.n == 0)
            return rc;
        for (int i = 0; i < b.n && !rc; i++) {
            rc = begin_more(study, &b, i + 1, err);
            rh_study__record *record =
                rc ? NULL : rh_study__find(study, b.asked[i].setting, false);
            if (!rc)
                rc = complete(study, record, &b, err);
            if (!rc)
                rc = tell_search(study, record, err);
            rh_setting_state state = rh_search__state(study->search, b.asked[i].setting);
            if (!rc && state != RH_SETTING_OPEN)
                rc = close_setting(study, record, state, err);
        }
        if (!rc)
            rc = rh_study__sync(study, err);
        if (rc)
            return rc;
    }
}

// ---------------------------------------------------------------------------- the confirmation

// Runs of a confirmation that the journal does not have, in n members.
static int64_t count_missing(const rh_study__record *record, int first, int n)
{
    int64_t nrun = record->trial.nrun, nmissing = 0;
    for (int64_t i = first * nrun; i < (first + n) * nrun; i++)
        nmissing += record->result[i].outcome == RH_STOPPED;
    return nmissing;
}

// Whether the journal has all runs of a confirmation. Nullable: record.
static bool has_all_runs(const rh_study__record *record)
{
    return record && count_missing(record, 0, record->trial.nmember) == 0;
}

// Begin the confirmations of n settings, or continue them.
static rh_status begin_confirmations(rh_study *study, const rh_search__lead_entry *leader,
                                     int n, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int i = 0; i < n && !rc; i++) {
        rh_study__record *record = NULL;
        const double *x = rh_study__find(study, leader[i].setting, false)->x;
        rc = rh_study__record_of(study, leader[i].setting, true, x, &record, err);
        if (!rc && record->finished && !has_all_runs(record))
            rc = rh_study__reopen(study, record, err);
        if (rc)
            return rc;
        int nmember = record->trial.nmember; // the runs it has are asked for again
        record->nasked = record->trial.nrun;
        study->nspare -= (int64_t)nmember * record->nasked - count_missing(record, 0, nmember);
        rc = rh_study__reserve(study, record, record->nasked, err);
    }
    return rc;
}

// Decision 8: start the missing runs of n settings in some of the members. If these are not
// all, end the runs and forget the members.
static rh_status do_round(rh_study *study, const rh_search__lead_entry *leader, int n,
                          int first, int nmember, rh_error *err)
{
    bool all = nmember == rh_study__nconfirm(study);
    bool needed = all ? !rh_study__knows_references(study) : !rh_study__knows_random(study);
    for (int i = 0; i < n && !needed; i++)
        needed = count_missing(rh_study__find(study, leader[i].setting, true), first, nmember);
    if (!needed)
        return RH_OK;
    rh_status rc = rh_study__fit_fresh(study, first, nmember, err);
    if (!rc)
        rc = rh_workers__add_stage(study->workers, RH_STAGE_CONFIRM,
                                   &study->members[RH_STAGE_CONFIRM], &study->task, err);
    for (int i = 0; i < n && !rc; i++)
        rc = start_runs(study, rh_study__find(study, leader[i].setting, true),
                        study->plan->confirm_runs, first, nmember, err);
    while (!all && !rc && rh_workers__nopen(study->workers) > 0)
        rc = wait_for_run(study, err);
    if (!all && !rc && !rh_study__knows_random(study))
        rc = rh_study__run_random(study, err);
    if (!all && !rc && rh_workers__drop_stage(study->workers, RH_STAGE_CONFIRM))
        rh_members__clear(&study->members[RH_STAGE_CONFIRM]);
    return rc;
}

rh_status rh_study__confirm(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    rh_search__lead_entry *leader =
        rh_alloc((size_t)plan->confirm_settings + 1, sizeof *leader);
    if (!leader)
        return rh_base__no_memory(err, "study");
    int n = rh_study__leaders(study, plan->confirm_settings, leader);
    bool any = false; // nothing to confirm where everything diverged
    for (int i = 0; i < n; i++)
        any = any ||
              rh_study__can_deploy(&rh_study__find(study, leader[i].setting, false)->trial);
    n = any ? n : 0;
    study->confirms = n > 0;
    study->stage = RH_STAGE_CONFIRM;
    study->best = NULL;
    study->nfinished = 0;
    rh_status rc = begin_confirmations(study, leader, n, err);
    int nall = rh_study__nconfirm(study), each = plan->confirm_members;
    int most = rh_study__round(study);
    for (int first = 0, many; first < nall && n > 0 && !rc; first += many) {
        int left = most == nall ? nall : each - first % each;
        many = most < left ? most : left;
        rc = do_round(study, leader, n, first, many, err);
    }
    for (int i = 0; i < n && !rc; i++) {
        rh_study__record *record = rh_study__find(study, leader[i].setting, true);
        rc = complete(study, record, NULL, err);
        if (!rc)
            rc = close_setting(study, record, RH_SETTING_DONE, err);
    }
    rh_free(leader);
    return rc ? rc : rh_study__sync(study, err);
}
