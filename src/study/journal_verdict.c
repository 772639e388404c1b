// journal_verdict.c - the verdict, what to deploy, and notes for optuna-dashboard.
//
//     op 2   deploy: the winning trial, its agent and hyperparameters; in each study
//     op 3   the note of each study, which the dashboard shows: dashboard:note_ver, note_str:0
//     op 2   verdict: the winning trial, its value, and those tied with it; in each study
//
// 1. They are written again only when the verdict changes, so opening a finished study does not
//    lengthen its journal. The verdict is the last line: where it is complete, so are the lines
//    before it.
// 2. Optuna's best trial is the one with the highest value. In the search it was not confirmed;
//    among the confirmations we deploy the one that holds in all kinds of model (agree.c). So
//    the notes name the trial to deploy. A note that somebody wrote in the dashboard stays.

#include "base/base.h"
#include "journal.h"

#include <math.h>

#define MOST_SHOWN 8  // parameters in a note: the dashboard allows 2,045 characters
#define NAME_SHOWN 80 // bytes of a study's name in a note

static const char of_search[] = "\n\nThis study has the trials of the search. Its best trial "
                                "was not confirmed: the best of "
                                "many trials overestimates its value.";
static const char of_confirmations[] =
    "\n\nA confirmation repeats a setting in new models, each fitted to another part of the "
    "log. "
    "The trial to deploy is the one that holds best in every kind of model; it need not be the "
    "one with the highest value.";
static const char search_only[] =
    "\n\nIt is not confirmed: the best of many trials overestimates its value.";

// ---------------------------------------------------------------------------- the verdict

// The trial in the journal; NULL: it is not there.
static const rh_journal__entry *entry_of(const rh_journal *journal, const rh_trial *trial)
{
    for (int i = journal->replay.ntrial - 1; i >= 0; i--) {
        const rh_journal__entry *entry = &journal->replay.trial[i];
        if (entry->setting == trial->setting && entry->confirm == trial->confirm)
            return entry;
    }
    return NULL;
}

// Optuna's number of a trial in its study, or -1.
static int number_of(const rh_journal *journal, const rh_trial *trial)
{
    const rh_journal__entry *entry = entry_of(journal, trial);
    return entry ? entry->number : -1;
}

// "study": its study, "trial": Optuna's number in it
static void add_place(rh_text *t, const rh_journal *journal, const rh_trial *trial)
{
    const rh_journal__entry *entry = entry_of(journal, trial);
    rh_text__add(t, "{\"study\":");
    rh_text__json(t, journal->replay.study[entry ? entry->study : 0].name);
    rh_text__format(t, ",\"trial\":%d", number_of(journal, trial));
}

static void add_verdict(rh_text *t, int study, const rh_journal *journal, const rh_verdict *v)
{
    const rh_trial *winner = &v->trial[v->winner];
    rh_journal__study_attr(t, study, "verdict");
    add_place(t, journal, winner);
    rh_text__format(
        t, ",\"setting\":%d,\"finished\":%s,\"confirmed\":%s,\"value\":", winner->setting,
        v->finished ? "true" : "false", winner->confirm ? "true" : "false");
    rh_journal__number(t, winner->value);
    rh_text__add(t, ",\"lo95\":");
    rh_journal__number(t, winner->lo95);
    rh_text__add(t, ",\"hi95\":");
    rh_journal__number(t, winner->hi95);
    rh_text__add(t, ",\"tied\":[");
    for (int i = 0; i < v->ntied; i++) {
        rh_text__add(t, i > 0 ? "," : "");
        rh_text__whole(t, number_of(journal, &v->trial[v->tied[i]]));
    }
    rh_text__add(t, "]}");
    rh_journal__end_attr(t);
}

static void add_deploy(rh_text *t, int study, const rh_journal *journal, const rh_trial *winner)
{
    const rh_agent_type *agent = journal->head.plan->agents.type[winner->agent];
    rh_journal__study_attr(t, study, "deploy");
    add_place(t, journal, winner);
    rh_text__add(t, ",\"name\":");
    rh_text__json(t, agent->name);
    rh_text__add(t, ",\"hyperparameters\":");
    rh_journal__hp(t, agent, winner->hp);
    rh_text__add(t, "}");
    rh_journal__end_attr(t);
}

// ---------------------------------------------------------------------------- the notes

// A note in Markdown, as optuna-dashboard keeps it. Its version must grow; lines do.
static void add_note(rh_text *t, const rh_journal *journal, int study, const rh_text *note)
{
    static const char *const key[] = {RH_JOURNAL__NOTE "ver", RH_JOURNAL__NOTE "str:0"};
    if (note->bad)
        t->bad = true;
    if (note->bad || journal->replay.study[study].noted)
        return;
    for (int i = 0; i < 2; i++) {
        rh_journal__system_attr(t, study, key[i]);
        if (i == 0)
            rh_text__whole(t, journal->replay.nline + 1);
        else
            rh_text__json(t, note->data);
        rh_journal__end_attr(t);
    }
}

// "setting 54 (alpha 1, tau 0.46), value -71.6, 95 % interval -88.7 to -33.4."
static void describe(rh_text *note, const rh_plan *plan, const rh_trial *winner)
{
    char word[RH_JOURNAL__NAME_SIZE];
    int ndim = 0, shown = 0;
    rh_text__format(note, "setting %d", winner->setting);
    for (int d = 0; d < plan->space.ndim; d++) {
        const rh_param *param = rh_plan__dim(plan, d, NULL, NULL);
        double x = rh_plan__value_of(plan, winner, d);
        if (isnan(x) || ndim++ >= MOST_SHOWN)
            continue;
        if (param->choice)
            rh_param__format(param, x, word, sizeof word);
        else
            snprintf(word, sizeof word, "%.4g", x);
        rh_text__format(note, "%s%.30s %s", shown++ ? ", " : " (", param->name, word);
    }
    rh_text__format(note, "%s%s, value %.4g", shown < ndim ? ", ..." : "", shown ? ")" : "",
                    winner->value);
    if (isfinite(winner->lo95) && isfinite(winner->hi95))
        rh_text__format(note, ", 95 %% interval %.4g to %.4g", winner->lo95, winner->hi95);
    rh_text__add(note, ".");
}

// What optuna-dashboard says beside each of our studies: the trial to deploy.
static void add_notes(rh_text *t, const rh_journal *journal, const rh_verdict *v)
{
    const rh_trial *winner = &v->trial[v->winner];
    const rh_replay *r = &journal->replay;
    const rh_journal__entry *entry = entry_of(journal, winner);
    int nstudy = r->confirmed ? 2 : 1;
    for (int k = 0; entry && k < nstudy; k++) {
        rh_text note = {0};
        int study = k ? r->confirmed : 0;
        char name[NAME_SHOWN];
        rh_text__printable(r->study[entry->study].name, name, sizeof name);
        rh_text__format(&note, v->finished ? "**Deploy trial %d" : "**Trial %d leads so far",
                        entry->number);
        if (study != entry->study)
            rh_text__format(&note, " of the study \"%s\"", name);
        rh_text__add(&note, "**: ");
        describe(&note, journal->head.plan, winner);
        rh_text__add(&note, !winner->confirm ? search_only
                            : study == 0     ? of_search
                                             : of_confirmations);
        add_note(t, journal, study, &note);
        rh_text__clear(&note);
    }
}

rh_status rh_journal__conclude(rh_journal *journal, const rh_verdict *verdict, rh_error *err)
{
    rh_text *t = &journal->text;
    if (verdict->winner < 0)
        return RH_OK;
    for (int k = 0; k < (journal->replay.confirmed ? 2 : 1); k++)
        add_deploy(t, k ? journal->replay.confirmed : 0, journal,
                   &verdict->trial[verdict->winner]);
    add_notes(t, journal, verdict);
    if (journal->replay.confirmed)
        add_verdict(t, journal->replay.confirmed, journal, verdict);
    size_t first = t->n;
    add_verdict(t, 0, journal, verdict);
    uint32_t crc = 0;
    if (!t->bad) // without checksum and newline
        crc = rh_base__crc32(0, t->data + first, t->n - first - RH_JOURNAL__SEAL - 1);
    if (!t->bad && crc == journal->replay.verdict) {
        t->n = 0;
        return RH_OK;
    }
    rh_status rc = rh_journal__append(journal, err);
    if (!rc)
        journal->replay.verdict = crc;
    return rc;
}
