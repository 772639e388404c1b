// journal_check.c - the scores of a check: one attribute of the study for each model.
//
//     "check: first half of the log": {"settings": [3, 17, ...], "runs": 3, "scores": [...]}
//
// Scores are by setting, then by run. They count only if settings and runs are those that are
// asked for.

#include "base/base_internal.h"
#include "journal.h"

#define KEY "check: "
#define KEY_SIZE 96

static void key_of(char text[KEY_SIZE], const char *model)
{
    snprintf(text, KEY_SIZE, KEY "%s", model);
}

rh_status rh_journal__add_check(rh_journal *journal, const char *key, const int *setting,
                                int nsetting, int nrun, const double *score, rh_error *err)
{
    rh_text *t = &journal->text;
    char name[KEY_SIZE];
    key_of(name, key);
    rh_journal__study_attr(t, name);
    rh_text__add(t, "{\"settings\":[");
    for (int i = 0; i < nsetting; i++)
        rh_text__format(t, "%s%d", i ? "," : "", setting[i]);
    rh_text__format(t, "],\"runs\":%d,\"scores\":[", nrun);
    for (int i = 0; i < nsetting * nrun; i++) {
        rh_text__add(t, i ? "," : "");
        rh_journal__number(t, score[i]);
    }
    rh_text__add(t, "]}");
    rh_journal__end_attr(t);
    return rh_journal__append(journal, err);
}

bool rh_journal__check(const rh_journal *journal, const char *key, const int *setting,
                       int nsetting, int nrun, double *score)
{
    char name[KEY_SIZE];
    key_of(name, key);
    const json_t *found = json_object_get(journal->replay.attr, name);
    const json_t *settings = json_object_get(found, "settings"),
                 *scores = json_object_get(found, "scores");
    size_t n = (size_t)nsetting * (size_t)nrun;
    if (json_integer_value(json_object_get(found, "runs")) != nrun ||
        json_array_size(settings) != (size_t)nsetting || json_array_size(scores) != n)
        return false;
    for (size_t i = 0; i < (size_t)nsetting; i++)
        if (json_integer_value(json_array_get(settings, i)) != setting[i])
            return false;
    for (size_t i = 0; i < n; i++)
        if (!rh_journal__number_of(json_array_get(scores, i), &score[i]))
            return false;
    return true;
}
