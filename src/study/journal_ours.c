// journal_ours.c - the meaning of the lines that we wrote.
//
// 1. Optuna counts trials over all studies of a file, in the order of the lines, and numbers
//    them in each study. So do we.
// 2. Nearly all lines are runs. These are scanned in exactly the form in which they are
//    written; jansson parses the rest. A million runs (213 MB) are read in 0.9 s, with learning
//    curves of 20 points (600 MB) in 2.4 s; 20,000 trials of one run in 0.6 s.

#include "base/base_internal.h"
#include "journal.h"
#include "search/search.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define FIRST_RUNS 8 // runs that a trial has space for at first

// ---------------------------------------------------------------------------- memory

void rh_replay__init(rh_replay *replay, const rh_journal__head *head, const char *path)
{
    *replay = (rh_replay){.head = head, .path = path};
}

void rh_journal__clear_entry(rh_journal__entry *trial)
{
    rh_free(trial->x);
    rh_free(trial->run);
    trial->x = NULL;
    trial->run = NULL;
    trial->nrun = 0;
}

void rh_replay__clear(rh_replay *replay)
{
    for (int i = 0; i < replay->ntrial; i++)
        rh_journal__clear_entry(&replay->trial[i]);
    for (int i = 0; i < replay->nstudy; i++)
        rh_free(replay->study[i].name);
    rh_free(replay->trial);
    rh_free(replay->owner);
    rh_free(replay->study);
    json_decref(replay->attr);
    *replay = (rh_replay){0};
}

// Count one more trial of the file. index: in our trials, or -1.
static bool add_owner(rh_replay *r, int index)
{
    int *owner = rh_base__alloc_more(r->owner, &r->owner_room, r->nowner, sizeof *owner);
    if (!owner)
        return false;
    r->owner = owner;
    r->owner[r->nowner++] = index;
    return true;
}

rh_journal__entry *rh_replay__add(rh_replay *replay, int study, int setting)
{
    rh_replay *r = replay;
    rh_journal__entry *trial =
        rh_base__alloc_more(r->trial, &r->trial_room, r->ntrial, sizeof *trial);
    if (!trial)
        return NULL;
    r->trial = trial;
    int id = r->nowner;
    if (!add_owner(r, r->ntrial))
        return NULL;
    trial = &r->trial[r->ntrial++];
    *trial = (rh_journal__entry){.id = id,
                                 .study = study,
                                 .number = r->study[study].ntrial++,
                                 .setting = setting,
                                 .confirm = study > 0,
                                 .state = RH_SETTING_OPEN};
    return trial;
}

int rh_replay__add_study(rh_replay *replay, const char *name)
{
    rh_replay *r = replay;
    for (int i = 0; i < r->nstudy; i++) // Optuna ignores a second one
        if (r->study[i].name && strcmp(r->study[i].name, name) == 0)
            return i;
    rh_journal__study *study =
        rh_base__alloc_more(r->study, &r->study_room, r->nstudy, sizeof *study);
    if (!study)
        return -1;
    r->study = study;
    char *copy = rh_base__copy(name);
    if (!copy)
        return -1;
    r->study[r->nstudy] = (rh_journal__study){.name = copy};
    return r->nstudy++;
}

// Space grows from 8 runs by doubling, so it is full when nrun is 8 times a power of two.
static rh_study__run *add_run(rh_journal__entry *trial)
{
    size_t n = (size_t)trial->nrun;
    if (n == 0 || (n >= FIRST_RUNS && (n & (n - 1)) == 0)) {
        rh_study__run *run =
            n <= INT_MAX / 2 ? rh_alloc(n ? 2 * n : FIRST_RUNS, sizeof *run) : NULL;
        if (!run)
            return NULL;
        if (n > 0)
            memcpy(run, trial->run, n * sizeof *run);
        rh_free(trial->run);
        trial->run = run;
    }
    return &trial->run[trial->nrun++];
}

// ---------------------------------------------------------------------------- faults

rh_journal__fate rh_journal__refuse(rh_journal__reader *d, rh_status rc, const char *why)
{
    d->rc = rh_fail(d->err, rc, "%s:%lld: %s", rh_base__path_tail(d->r->path),
                    (long long)d->r->nline + 1, why);
    return RH_REFUSED;
}

static rh_journal__fate unfit(rh_journal__reader *d)
{
    return rh_journal__refuse(d, RH_EFORMAT, "complete, but not a line that rehearse writes");
}

rh_journal__fate rh_journal__no_memory(rh_journal__reader *d)
{
    return rh_journal__refuse(d, RH_ENOMEM, "out of memory");
}

// ---------------------------------------------------------------------------- lines of ours

static const char *outcome(const char *at, const char *end, rh_outcome *o)
{
    for (int i = RH_FINISHED; i <= RH_FAILED; i++) {
        const char *next = rh_scan__after(at, end, rh_outcome_name((rh_outcome)i));
        next = rh_scan__after(next, end, "\"");
        if (next) {
            *o = (rh_outcome)i;
            return next;
        }
    }
    return NULL;
}

// Our trial of a line, still running; or NULL.
static rh_journal__entry *trial_of(const rh_replay *r, int64_t id)
{
    int i = id < r->nowner ? r->owner[id] : -1;
    return i >= 0 && !r->trial[i].finished ? &r->trial[i] : NULL;
}

// {"score":..,"total":..,"steps":..,"episodes":..,"out_of_coverage":..,"failures":[all,first,
//  last],"ended":[first,last],"last":..,"caught_up":..,"over":[..],"also":[..],"outcome":"..",
//  "curve":[..]}, over and also where the study has limits and further scores
static const char *run_of(const char *at, const char *end, const rh_journal__head *head,
                          rh_study__run *run)
{
    rh_result *l = &run->result;
    at = rh_scan__number(rh_scan__after(at, end, "{\"score\":"), end, &l->score);
    at = rh_scan__number(rh_scan__after(at, end, ",\"total\":"), end, &l->total);
    at = rh_scan__whole(rh_scan__after(at, end, ",\"steps\":"), end, &l->nstep);
    at = rh_scan__whole(rh_scan__after(at, end, ",\"episodes\":"), end, &l->nepisode);
    at = rh_scan__whole(rh_scan__after(at, end, ",\"out_of_coverage\":"), end, &l->nuncovered);
    at = rh_scan__whole(rh_scan__after(at, end, ",\"failures\":["), end, &l->nfailure);
    at = rh_scan__whole(rh_scan__after(at, end, ","), end, &l->nfailure_first);
    at = rh_scan__whole(rh_scan__after(at, end, ","), end, &l->nfailure_last);
    at = rh_scan__whole(rh_scan__after(at, end, "],\"ended\":["), end, &l->nepisode_first);
    at = rh_scan__whole(rh_scan__after(at, end, ","), end, &l->nepisode_last);
    at = rh_scan__number(rh_scan__after(at, end, "],\"last\":"), end, &l->last);
    at = rh_scan__whole(rh_scan__after(at, end, ",\"caught_up\":"), end, &l->caught_up);
    for (int i = 0; i < head->nlimit; i++)
        at = rh_scan__whole(rh_scan__after(at, end, i ? "," : ",\"over\":["), end, &l->over[i]);
    at = rh_scan__after(at, end, head->nlimit ? "]" : "");
    for (int i = 0; i < head->nalso; i++)
        at =
            rh_scan__number(rh_scan__after(at, end, i ? "," : ",\"also\":["), end, &l->also[i]);
    at = rh_scan__after(at, end, head->nalso ? "]" : "");
    at = outcome(rh_scan__after(at, end, ",\"outcome\":\""), end, &l->outcome);
    at = rh_scan__after(at, end, ",\"curve\":[");
    for (int i = 0; at && i < head->ncurve; i++)
        at = rh_scan__number(i > 0 ? rh_scan__after(at, end, ",") : at, end, &run->curve[i]);
    return rh_scan__after(at, end, "]}");
}

static rh_journal__fate take_trial_attr(rh_journal__reader *d, const char *at)
{
    int64_t id = 0, member = 0, run = 0;
    at = rh_scan__whole(rh_scan__after(at, d->end, ",\"trial_id\":"), d->end, &id);
    at = rh_scan__after(at, d->end, ",\"user_attr\":{\"");
    if (!at)
        return unfit(d);
    at = rh_scan__after(at, d->end, "run:");
    if (!at)
        return RH_TAKEN; // for people
    at = rh_scan__whole(at, d->end, &member);
    at = rh_scan__whole(rh_scan__after(at, d->end, ":"), d->end, &run);
    at = rh_scan__after(at, d->end, "\":");
    rh_journal__entry *trial = trial_of(d->r, id);
    rh_study__run found = {0};
    at = run_of(at, d->end, d->r->head, &found);
    if (!at || rh_scan__after(at, d->end, "},\"crc\":") == NULL)
        return unfit(d);
    if (!trial || member >= RH_MAX_MEMBER || run > INT_MAX)
        return rh_journal__refuse(d, RH_EFORMAT, "a run of a trial that is not running");
    found.member = (int)member;
    found.run = (int)run;
    rh_study__run *kept = add_run(trial);
    if (!kept)
        return rh_journal__no_memory(d);
    *kept = found;
    return RH_TAKEN;
}

static rh_journal__fate take_state(rh_journal__reader *d, const char *at)
{
    static const char *const name[] = {
        [RH_SETTING_OPEN] = "open\"",
        [RH_SETTING_DONE] = "done\"",
        [RH_SETTING_DROPPED] = "dropped\"",
    };
    int64_t id = 0;
    at = rh_scan__whole(rh_scan__after(at, d->end, ",\"trial_id\":"), d->end, &id);
    at = rh_scan__after(at, d->end, ",\"setting\":\"");
    rh_journal__entry *trial = at ? trial_of(d->r, id) : NULL;
    if (!trial)
        return rh_journal__refuse(d, RH_EFORMAT, "the end of a trial that is not running");
    for (int i = RH_SETTING_OPEN; i <= RH_SETTING_DROPPED; i++)
        if (rh_scan__after(at, d->end, name[i])) {
            trial->state = (rh_setting_state)i;
            trial->finished = true;
            return RH_TAKEN;
        }
    return unfit(d);
}

// x (ndim) from the parameters of a trial: numbers, or indices of names.
static bool setting_of(const json_t *params, const rh_space *space, double *x)
{
    for (int i = 0; i < space->ndim; i++) {
        const rh_dim *dim = &space->dim[i];
        const json_t *p = json_object_get(params, dim->name);
        json_int_t k = json_integer_value(p);
        bool index = dim->kind == RH_DIM_NAMES;
        if (!rh_space__has(space, x, i))
            x[i] = NAN;
        else if (!index && json_is_number(p))
            x[i] = json_number_value(p);
        else if (index && json_is_integer(p) && k >= 0 && k < dim->nvalue)
            x[i] = dim->value[k];
        else
            return false;
    }
    return true;
}

static rh_journal__fate add_trial(rh_journal__reader *d, const json_t *line)
{
    rh_replay *r = d->r;
    const json_t *setting = json_object_get(json_object_get(line, "user_attrs"), "setting");
    json_int_t number = json_integer_value(setting);
    json_int_t study = json_integer_value(json_object_get(line, "study_id"));
    const rh_space *space = &r->head->plan->space;
    double x[RH_MAX_DIM];
    if (!json_is_integer(setting) || number < 0 || number > INT_MAX ||
        (study != 0 && study != r->confirmed) ||
        !setting_of(json_object_get(line, "params"), space, x))
        return unfit(d);
    rh_journal__entry *trial = rh_replay__add(r, (int)study, (int)number);
    if (!trial)
        return rh_journal__no_memory(d);
    trial->x = rh_alloc((size_t)space->ndim + 1, sizeof *x);
    if (!trial->x)
        return rh_journal__no_memory(d);
    memcpy(trial->x, x, (size_t)space->ndim * sizeof *x);
    return RH_TAKEN;
}

// Our first line, or the study of the confirmations.
static rh_journal__fate take_study(rh_journal__reader *d, const char *name)
{
    rh_replay *r = d->r;
    bool second = r->nline > 0;
    if (!name || (second && (r->confirmed || !rh_journal__head_whole(r->attr))))
        return unfit(d);
    int study = rh_replay__add_study(r, name);
    if (study < 0)
        return rh_journal__no_memory(d);
    if (second && study == 0)
        return unfit(d);
    r->confirmed = study;
    return RH_TAKEN;
}

rh_journal__fate rh_journal__add_other(rh_journal__reader *d, int study)
{
    if (!add_owner(d->r, -1))
        return rh_journal__no_memory(d);
    d->r->study[study].ntrial++;
    return RH_TAKEN;
}

// kind: "user_attr" or "system_attr".
static rh_journal__fate take_study_attr(rh_journal__reader *d, json_t *line, const char *kind)
{
    rh_replay *r = d->r;
    json_t *attr = json_object_get(line, kind);
    if (!json_is_object(attr) || json_object_size(attr) != 1 || r->nstudy == 0)
        return unfit(d);
    if (json_integer_value(json_object_get(line, "study_id")) != 0)
        return RH_TAKEN; // for people
    if (!r->attr)
        r->attr = json_object();
    if (!r->attr || json_object_update(r->attr, attr) != 0)
        return rh_journal__no_memory(d);
    if (json_object_get(attr, "verdict"))
        r->verdict = rh_base__crc32(0, d->line, (size_t)(d->end - d->line) - RH_JOURNAL__SEAL);
    if (json_object_get(attr, "plan")) {
        if (!rh_journal__head_whole(r->attr))
            return unfit(d);
        d->rc = rh_journal__compare(r->attr, r->head, r->path, &r->grown, d->err);
        return d->rc ? RH_REFUSED : RH_TAKEN;
    }
    return RH_TAKEN;
}

// Rare lines: the study, its attributes, the start of a trial.
static rh_journal__fate take_rare(rh_journal__reader *d, int64_t op)
{
    rh_journal__fate f = RH_TAKEN;
    json_t *line = json_loadb(d->line, (size_t)(d->end - d->line), 0, NULL);
    const char *name = json_string_value(json_object_get(line, "study_name"));
    if (!line)
        f = unfit(d);
    else if (op == 0)
        f = take_study(d, name);
    else if (op == 2 || op == 3)
        f = take_study_attr(d, line, op == 2 ? "user_attr" : "system_attr");
    else if (!rh_journal__head_whole(d->r->attr))
        f = rh_journal__refuse(d, RH_EFORMAT, "a trial before the description of the study");
    else
        f = add_trial(d, line);
    json_decref(line);
    return f;
}

rh_journal__fate rh_journal__take_ours(rh_journal__reader *d, const char *at, int64_t op)
{
    int64_t version = 0;
    at = rh_scan__whole(at, d->end, &version);
    at = rh_scan__after(at, d->end, "\"");
    if (at && version != RH_JOURNAL__VERSION) {
        char why[120];
        snprintf(why, sizeof why,
                 "version %lld of the journal, expected %d; use another folder",
                 (long long)version, RH_JOURNAL__VERSION);
        return rh_journal__refuse(d, RH_EFORMAT, why);
    }
    if (!at)
        return unfit(d);
    if (op == 8)
        return take_trial_attr(d, at);
    if (op == 6)
        return take_state(d, at);
    if (op == 7 || op == 9)
        return RH_TAKEN; // for people and samplers
    return op == 0 || op == 2 || op == 3 || op == 4 ? take_rare(d, op) : unfit(d);
}
