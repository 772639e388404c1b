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

#include "core.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

#define PAUSE 0.05     // seconds between two polls of the caller's stop
#define SYNC_EVERY 1.0 // seconds of work that a power cut may cost
// of a range: closer settings are nearly equal; by hand, and a close choice depends on it. In
// a study of examples/plant.csv 0.025 has the same winner, 0.1 another: -61.6 instead of
// -50.8.
#define APART 0.05
#define AHEAD 128 // runs started ahead for each thread

// ---------------------------------------------------------------------------- progress

int64_t rh_study__runs_predicted(const rh_study *study)
{
    const rh_plan *plan = study->plan;
    int64_t confirm = plan->confirm_settings < study->nsetting_max ? plan->confirm_settings
                                                                   : study->nsetting_max;
    return study->nrun_search * study->members[RH_STAGE_SEARCH].nmember +
           confirm * rh_study__nconfirm(study) * plan->confirm_runs +
           rh_study__ncheck_run(study) + study->nspare;
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

bool rh_study__is_behind(const rh_study *study, const rh_trial *a, const rh_trial *b)
{
    return study->plan->ranking == RH_RANKING__SOUND && count_diverged(study, a) > 0 &&
           count_diverged(study, b) == 0;
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

// Start the missing runs of a trial.
static rh_status start_runs(rh_study *study, rh_study__record *record, int nrun, rh_error *err)
{
    rh_study__unit unit = {.trial = record->index};
    unit.stage = record->trial.confirm ? RH_STAGE_CONFIRM : RH_STAGE_SEARCH;
    unit.agent = record->trial.agent;
    memcpy(unit.hp, record->hp,
           (size_t)rh_study__nparam(study, &record->trial) * sizeof *unit.hp);
    record->nasked = nrun < record->trial.nrun ? nrun : record->trial.nrun;
    rh_status rc = rh_study__reserve(study, record, record->nasked, err);
    for (int r = 0; r < record->nasked && !rc; r++)
        for (int m = 0; m < record->trial.nmember && !rc; m++) {
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
    return start_runs(study, record, asked->nrun, err);
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
    return rh_search__tell(study->search, &told, err);
}

rh_status rh_study__search(rh_study *study, rh_error *err)
{
    study->stage = RH_STAGE_SEARCH;
    study->best = NULL;
    study->nfinished = study->nclosed = 0;
    for (bool first = true;; first = false) {
        batch b = {0};
        rh_status rc = rh_search__ask(study->search, &b.asked, &b.n, err);
        if (rc)
            return rc;
        rh_search__foresee(study->search, &study->nsetting_max, &study->nrun_search);
        study->nfirst = first ? b.n : study->nfirst;
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

// Draw among settings with exactly the best score, as in the paper.
static void shuffle_ties(const rh_study *study, rh_search__lead_entry *leader, int n)
{
    int ntied = 1;
    while (ntied < n && leader[ntied].value == leader[0].value)
        ntied++;
    rh_rng rng = rh_rng_stream(study->plan->seed, RH_STREAM_SEARCH, 1, 0);
    int chosen = n ? (int)rh_rng_below(&rng, (uint32_t)ntied) : 0;
    if (chosen > 0) {
        rh_search__lead_entry first = leader[0];
        leader[0] = leader[chosen];
        leader[chosen] = first;
    }
}

// Whether two settings are nearly equal.
static bool is_near(const rh_study *study, int a, int b)
{
    const rh_space *space = &study->plan->space;
    double u[RH_MAX_DIM], w[RH_MAX_DIM];
    rh_space__unit(space, rh_search__proposed(study->search, a), u);
    rh_space__unit(space, rh_search__proposed(study->search, b), w);
    for (int d = 0; d < space->ndim; d++)
        if (fabs(u[d] - w[d]) >= (space->dim[d].kind == RH_DIM_RANGE ? APART : 1e-9))
            return false;
    return true;
}

// Move the first `most` distinct settings to the front; others follow in order. A setting with
// diverged runs stays behind all without, also where these are nearly equal. Scratch: aside.
static void spread(const rh_study *study, rh_search__lead_entry *leader, int n, int most,
                   rh_search__lead_entry *aside)
{
    int nkept = 0, naside = 0;
    for (int i = 0; i < n && nkept < most; i++) {
        const rh_study__record *first = rh_study__find(study, leader[0].setting, false),
                               *this = rh_study__find(study, leader[i].setting, false);
        bool near = rh_study__is_behind(study, &this->trial, &first->trial);
        for (int k = 0; k < nkept && !near; k++)
            near = is_near(study, leader[i].setting, leader[k].setting);
        if (near)
            aside[naside++] = leader[i];
        else
            leader[nkept++] = leader[i];
    }
    memcpy(leader + nkept, aside, (size_t)naside * sizeof *leader);
}

// Move the leading setting of every agent to the front: all agents are compared on new models.
// Scratch: aside.
static void front_agents(const rh_study *study, rh_search__lead_entry *leader, int n,
                         rh_search__lead_entry *aside)
{
    bool seen[RH_PLAN__AGENTS] = {false};
    int nfront = 0, naside = 0;
    for (int i = 0; i < n; i++) {
        int agent = rh_study__find(study, leader[i].setting, false)->trial.agent;
        if (seen[agent])
            aside[naside++] = leader[i];
        else
            leader[nfront++] = leader[i];
        seen[agent] = true;
    }
    memcpy(leader + nfront, aside, (size_t)naside * sizeof *leader);
}

int rh_study__leaders(const rh_study *study, int most, rh_search__lead_entry *leader)
{
    rh_search__lead_entry all[RH_STUDY__MOST_CONFIRM], aside[RH_STUDY__MOST_CONFIRM];
    int n = rh_search__lead(study->search, RH_STUDY__MOST_CONFIRM, all);
    if (study->plan->ranking == RH_RANKING__VALUE)
        shuffle_ties(study, all, n);
    else {
        front_agents(study, all, n, aside);
        spread(study, all, n, most, aside);
    }
    n = n < most ? n : most;
    memcpy(leader, all, (size_t)n * sizeof *leader);
    return n;
}

// Whether the journal has all runs of a confirmation. Nullable: record.
static bool has_all_runs(const rh_study__record *record)
{
    int n = record ? record->trial.nmember * record->trial.nrun : 0, nmissing = 0;
    for (int i = 0; i < n; i++)
        nmissing += record->result[i].outcome == RH_STOPPED;
    return record && nmissing == 0;
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

    // models that would do nothing are not fitted
    bool fresh = n > 0 && !rh_study__knows_references(study);
    for (int i = 0; i < n; i++)
        fresh = fresh || !has_all_runs(rh_study__find(study, leader[i].setting, true));
    rh_status rc = fresh ? rh_study__fit_fresh(study, err) : RH_OK;
    study->stage = RH_STAGE_CONFIRM;
    study->best = NULL;
    study->nfinished = 0;
    if (!rc && fresh)
        rc = rh_workers__add_stage(study->workers, RH_STAGE_CONFIRM,
                                   &study->members[RH_STAGE_CONFIRM], &study->task, err);
    for (int i = 0; i < n && !rc; i++) {
        rh_study__record *record = NULL;
        const double *x = rh_study__find(study, leader[i].setting, false)->x;
        int64_t nall = (int64_t)rh_study__nconfirm(study) * plan->confirm_runs;
        rc = rh_study__record_of(study, leader[i].setting, true, x, &record, err);
        if (!rc && record->finished && !has_all_runs(record))
            rc = rh_study__reopen(study, record, err);
        if (!rc)
            rc = start_runs(study, record, plan->confirm_runs, err);
        if (!rc) // the runs it has are asked for again
            study->nspare -= nall - record->nopen;
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
