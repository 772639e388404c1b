// run.c - the loop of a study: ask, live, remember, tell.
//
// 1. A run is in the journal before anything else is done with it. The search is told of a
//    setting when all its runs are there, in the order it asked: so that what it asks next
//    depends on scores alone, and never on who was first. It asks when the disk has all of
//    them: once for each time it asks, for to wait for the disk after each of thousands of
//    settings took ten times as long as to run them.
// 2. To go on with a study is to ask the same questions again and to find the answers in the
//    journal. Only what is missing is run.
// 3. What was run is what counts: where a search, on another machine, would now ask for
//    slightly other numbers than it did then, it is told those of then.
// 4. The leading settings are confirmed in models and with random stream that the search has
// not seen.
//    The best of many is partly the luckiest, and that random stream does not come twice: the
//    winner is the one whose lower bound there is highest. A search ends among settings that
//    are nearly one: of these only the first is confirmed while there are others.
// 5. Of what a search asks for at a time, which may be a race of 100,000 settings, no more is
//    handed out than keeps everybody busy: a run that waits takes 2 kilobytes.

#include "core.h"

#include <math.h>
#include <string.h>

#define PAUSE 0.05     // seconds between two looks at the caller's stop
#define SYNC_EVERY 1.0 // seconds that a power cut may cost
#define APART 0.05     // of a range: settings nearer than that are nearly one
#define AHEAD 128      // runs that are handed out for each thread

// ---------------------------------------------------------------------------- how far it is

static int64_t runs_foreseen(const rh_study *study)
{
    const rh_plan *plan = study->plan;
    int64_t confirm = plan->confirm_settings < study->nsetting_all ? plan->confirm_settings
                                                                   : study->nsetting_all;
    return study->nrun_all * study->members[RH_STAGE_SEARCH].nmember +
           confirm * plan->confirm_members * plan->confirm_runs + study->nspare;
}

void rh_study__tell(rh_study *study, const rh_study__trial_record *finished)
{
    const rh_study__trial_record *best = study->best;
    if (!study->opt.progress)
        return;
    rh_study_progress progress = {
        .stage = study->stage,
        .nunit = study->nunit,
        .nknown = study->nknown,
        .nsetting = study->nfinished,
        .best = best ? best->setting : -1,
        .value = best ? best->value.value : NAN,
        .lo = best ? best->value.lo95 : NAN,
        .hi = best ? best->value.hi95 : NAN,
        .hp = best ? best->hp : NULL,
        .finished = finished != NULL,
        .setting = finished ? finished->setting : -1,
        .nunit_all = runs_foreseen(study),
        .nsetting_all = study->nsetting_all,
    };
    if (study->stage == RH_STAGE_CONFIRM &&
        study->plan->confirm_settings < progress.nsetting_all)
        progress.nsetting_all = study->plan->confirm_settings;
    study->opt.progress(study->opt.context, &progress);
}

// Whether a setting leads now: more runs tell more.
static void compare(rh_study *study, const rh_study__trial_record *record)
{
    const rh_study__trial_record *best = study->best;
    if (isnan(record->value.value))
        return;
    if (!best || record->value.nrun > best->value.nrun ||
        (record->value.nrun == best->value.nrun && record->value.value > best->value.value))
        study->best = record;
}

// ---------------------------------------------------------------------------- living

// Hand out the runs of a trial that are missing.
static rh_status hand_out(rh_study *study, rh_study__trial_record *record, int nrun,
                          rh_error *err)
{
    rh_study__unit unit = {.trial = record->index};
    unit.stage = record->confirm ? RH_STAGE_CONFIRM : RH_STAGE_SEARCH;
    memcpy(unit.hp, record->hp, (size_t)study->plan->agent->nparam * sizeof *unit.hp);
    record->asked = nrun < record->nrun ? nrun : record->nrun;
    rh_status rc = rh_study__reserve(study, record, record->asked, err);
    for (int r = 0; r < record->asked && !rc; r++)
        for (int m = 0; m < record->nmember && !rc; m++) {
            if (record->result[(size_t)m * (size_t)record->nrun + (size_t)r].outcome !=
                RH_STOPPED)
                continue;
            if (record->finished) // the journal is of another machine, or of an older version
                return rh_fail(err, RH_EFORMAT,
                               "study.log: setting %d is finished without run %d, which is "
                               "asked for now; use another folder",
                               record->setting, r);
            unit.member = m;
            unit.run = r;
            rc = rh_workers__give(study->workers, &unit, err);
            record->nopen += !rc;
        }
    return rc;
}

// One run is back: into the journal first.
static rh_status take_in(rh_study *study, const rh_study__done *done, rh_error *err)
{
    if (done->rc)
        return rh_fail(err, done->rc, "%s", done->err.text);
    rh_study__trial_record *record = study->record[done->trial];
    rh_journal__run result = {.member = done->member, .run = done->run, .result = done->result};
    memcpy(result.curve, done->curve, sizeof result.curve);
    for (int p = study->eval.ncurve; p < study->plan->ncurve; p++)
        result.curve[p] = NAN; // a run shorter than the curve was to be
    rh_status rc = RH_OK;
    if (study->journal)
        rc = rh_journal__add_run(study->journal, record->number, &result, err);
    if (rc)
        return rc;
    rh_study__keep(study, record, &result);
    study->dirty = true;
    record->nopen--;
    return RH_OK;
}

static rh_status sync(rh_study *study, rh_error *err)
{
    if (!study->journal || !study->dirty)
        return RH_OK;
    study->dirty = false;
    study->synced = rh_study__now();
    return rh_journal__sync(study->journal, err);
}

// Wait for one run. RH_ESTOPPED when the caller wants to end.
static rh_status wait_for_run(rh_study *study, rh_error *err)
{
    rh_study__done done;
    if (study->opt.stop && study->opt.stop(study->opt.context)) {
        rh_status rc = sync(study, err);
        return rc ? rc : rh_fail(err, RH_ESTOPPED, "study: stopped");
    }
    rh_status rc = RH_OK;
    if (study->dirty && rh_study__now() - study->synced > SYNC_EVERY)
        rc = sync(study, err);
    if (rc || !rh_workers__take(study->workers, &done, PAUSE))
        return rc;
    rc = take_in(study, &done, err);
    if (!rc)
        rh_study__tell(study, NULL);
    return rc;
}

// What a search asked for, of which the first so many have been begun.
typedef struct batch {
    const rh_asked *asked; // (n)
    int n, nbegun;
} batch;

static rh_status begin(rh_study *study, const rh_asked *asked, rh_error *err)
{
    rh_study__trial_record *record = NULL;
    const double *x = rh_search_setting(study->search, asked->setting);
    rh_status rc = rh_study__record(study, asked->setting, false, x, &record, err);
    if (rc)
        return rc;
    bool other = false;
    for (int d = 0; d < study->plan->space.ndim; d++)
        other = other || record->x[d] != x[d];
    if (other)
        rh_search_amend(study->search, asked->setting, record->x);
    return hand_out(study, record, asked->nrun, err);
}

// Begin at least so many, and more while somebody could have nothing to do.
static rh_status begin_more(rh_study *study, batch *b, int least, rh_error *err)
{
    int most = AHEAD * rh_workers__nthread(study->workers);
    rh_status rc = RH_OK;
    while (!rc && b->nbegun < b->n &&
           (b->nbegun < least || rh_workers__nopen(study->workers) < most))
        rc = begin(study, &b->asked[b->nbegun++], err);
    return rc;
}

// All runs of a trial that were asked for are there. Meanwhile more of the batch is begun.
// Nullable: b.
static rh_status complete(rh_study *study, rh_study__trial_record *record, batch *b,
                          rh_error *err)
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

static rh_status close(rh_study *study, rh_study__trial_record *record, rh_setting_state state,
                       rh_error *err)
{
    rh_status rc = rh_study__finish(study, record, state, err);
    study->nfinished++;
    rh_study__tell(study, record);
    return rc;
}

// ---------------------------------------------------------------------------- the search

// A search may close a setting later than it was told of it.
static rh_status close_settled(rh_study *study, rh_error *err)
{
    rh_status rc = RH_OK;
    int n = rh_search_nsetting(study->search);
    bool all = true; // those before are closed
    for (int s = study->nclosed; s < n && !rc; s++) {
        rh_setting_state state = rh_search_state(study->search, s);
        rh_study__trial_record *record = rh_study__find(study, s, false);
        if (state != RH_SETTING_OPEN && record && !record->closed)
            rc = close(study, record, state, err);
        all = all && record && record->closed;
        study->nclosed += all;
    }
    return rc;
}

// Of a trial that has just been appraised: its runs' scores are still there.
static rh_status tell_search(rh_study *study, const rh_study__trial_record *record,
                             rh_error *err)
{
    rh_told told = {.setting = record->setting,
                    .nrun = record->value.nrun,
                    .score = study->score,
                    .value = record->value.value,
                    .noise = record->value.noise};
    return rh_search_tell(study->search, &told, err);
}

rh_status rh_study__search(rh_study *study, rh_error *err)
{
    study->stage = RH_STAGE_SEARCH;
    study->best = NULL;
    study->nfinished = study->nclosed = 0;
    for (bool first = true;; first = false) {
        batch b = {0};
        rh_status rc = rh_search_ask(study->search, &b.asked, &b.n, err);
        if (rc)
            return rc;
        rh_search_foresee(study->search, &study->nsetting_all, &study->nrun_all);
        study->nfirst = first ? b.n : study->nfirst;
        rc = close_settled(study, err);
        if (rc || b.n == 0)
            return rc;
        for (int i = 0; i < b.n && !rc; i++) {
            rc = begin_more(study, &b, i + 1, err);
            rh_study__trial_record *record =
                rc ? NULL : rh_study__find(study, b.asked[i].setting, false);
            if (!rc)
                rc = complete(study, record, &b, err);
            if (!rc)
                rc = tell_search(study, record, err);
            rh_setting_state state = rh_search_state(study->search, b.asked[i].setting);
            if (!rc && state != RH_SETTING_OPEN)
                rc = close(study, record, state, err);
        }
        if (!rc)
            rc = sync(study, err);
        if (rc)
            return rc;
    }
}

// ---------------------------------------------------------------------------- the confirmation

// Where several settings have exactly the best score, chance decides, as in the paper.
static void shuffle_ties(const rh_study *study, rh_leader *leader, int n)
{
    int ntied = 1;
    while (ntied < n && leader[ntied].value == leader[0].value)
        ntied++;
    rh_rng rng = rh_rng_stream(study->plan->seed, RH_STREAM_SEARCH, 1, 0);
    int chosen = n ? (int)rh_rng_below(&rng, (uint32_t)ntied) : 0;
    if (chosen > 0) {
        rh_leader first = leader[0];
        leader[0] = leader[chosen];
        leader[chosen] = first;
    }
}

// Whether two settings are nearly one.
static bool is_near(const rh_study *study, int a, int b)
{
    const rh_space *space = &study->plan->space;
    double u[RH_MAX_DIM], w[RH_MAX_DIM];
    rh_space_unit(space, rh_search_setting(study->search, a), u);
    rh_space_unit(space, rh_search_setting(study->search, b), w);
    for (int d = 0; d < space->ndim; d++)
        if (fabs(u[d] - w[d]) >= (space->dim[d].kind == RH_DIM_RANGE ? APART : 1e-9))
            return false;
    return true;
}

// The first `most` that are unlike those before them come first, and then the others in order.
// Scratch: aside (n).
static void spread(const rh_study *study, rh_leader *leader, int n, int most, rh_leader *aside)
{
    int nkept = 0, naside = 0;
    for (int i = 0; i < n && nkept < most; i++) {
        bool like = false;
        for (int k = 0; k < nkept && !like; k++)
            like = is_near(study, leader[i].setting, leader[k].setting);
        if (like)
            aside[naside++] = leader[i];
        else
            leader[nkept++] = leader[i];
    }
    memcpy(leader + nkept, aside, (size_t)naside * sizeof *leader);
}

int rh_study__leaders(const rh_study *study, int most, rh_leader *leader)
{
    rh_leader all[RH_STUDY__MOST_CONFIRM], aside[RH_STUDY__MOST_CONFIRM];
    int n = rh_search_lead(study->search, RH_STUDY__MOST_CONFIRM, all);
    if (study->plan->paper)
        shuffle_ties(study, all, n);
    else
        spread(study, all, n, most, aside);
    n = n < most ? n : most;
    memcpy(leader, all, (size_t)n * sizeof *leader);
    return n;
}

rh_status rh_study__confirm(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    rh_leader *leader = rh_alloc((size_t)plan->confirm_settings + 1, sizeof *leader);
    if (!leader)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    int n = rh_study__leaders(study, plan->confirm_settings, leader);
    rh_status rc = n ? rh_study__fit_fresh(study, err) : RH_OK;
    study->stage = RH_STAGE_CONFIRM;
    study->best = NULL;
    study->nfinished = 0;
    if (!rc && n)
        rc = rh_workers__settle(study->workers, RH_STAGE_CONFIRM,
                                &study->members[RH_STAGE_CONFIRM], &study->task, plan->hp, err);
    for (int i = 0; i < n && !rc; i++) {
        rh_study__trial_record *record = NULL;
        const double *x = rh_study__find(study, leader[i].setting, false)->x;
        int64_t nall = (int64_t)plan->confirm_members * plan->confirm_runs;
        rc = rh_study__record(study, leader[i].setting, true, x, &record, err);
        if (!rc)
            rc = hand_out(study, record, plan->confirm_runs, err);
        if (!rc) // those it had are asked for again
            study->nspare -= nall - record->nopen;
    }
    for (int i = 0; i < n && !rc; i++) {
        rh_study__trial_record *record = rh_study__find(study, leader[i].setting, true);
        rc = complete(study, record, NULL, err);
        if (!rc)
            rc = close(study, record, RH_SETTING_DONE, err);
    }
    rh_free(leader);
    return rc ? rc : sync(study, err);
}
