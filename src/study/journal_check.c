// journal_check.c - the scores of a check: one attribute of the study for each run.
//
//     "check: first half of the log: 17: 2": -284.5        setting 17, run 2

#include "base/base_internal.h"
#include "journal.h"

#define KEY_SIZE 120

static void key_of(char text[KEY_SIZE], const char *model, int setting, int run)
{
    snprintf(text, KEY_SIZE, "check: %s: %d: %d", model, setting, run);
}

rh_status rh_journal__add_check(rh_journal *journal, const char *model, int setting, int run,
                                double score, rh_error *err)
{
    char key[KEY_SIZE];
    key_of(key, model, setting, run);
    rh_journal__study_attr(&journal->text, key);
    rh_journal__number(&journal->text, score);
    rh_journal__end_attr(&journal->text);
    return rh_journal__append(journal, err);
}

bool rh_journal__check(const rh_journal *journal, const char *model, int setting, int run,
                       double *score)
{
    char key[KEY_SIZE];
    key_of(key, model, setting, run);
    return rh_journal__number_of(json_object_get(journal->replay.attr, key), score);
}
