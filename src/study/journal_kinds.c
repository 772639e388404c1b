// journal_kinds.c - the models of a confirmation, in the journal: their kinds, and the score of
// a random policy in them.
//
//     op 2   kinds: [{kind, model, parameters: {name: value}, representation,
//                     representation_parameters: {name: value}}, ..]
//            random: {confirmed, score, lo95, hi95, lowest}
//
// The first kind is that of the study's model. Representation null: as that model has it.
// Values of choices are names, so a version that numbers them otherwise reads the same ones.

#include "base/base.h"
#include "base/base_internal.h"
#include "journal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- writing

static void add_params(rh_text *t, const rh_param *table, int nparam, const double *value)
{
    rh_text__add(t, "{");
    for (int i = 0; i < nparam; i++) {
        char word[RH_JOURNAL__NAME_SIZE];
        rh_text__add(t, i > 0 ? "," : "");
        rh_text__json(t, table[i].name);
        rh_text__add(t, ":");
        rh_param__format(&table[i], value[i], word, sizeof word);
        rh_text__json(t, word);
    }
    rh_text__add(t, "}");
}

void rh_journal__kinds_line(rh_text *text, const rh_kinds *kinds)
{
    if (!kinds)
        return;
    rh_journal__study_attr(text, 0, "kinds");
    rh_text__add(text, "[");
    for (int i = 0; i < kinds->n; i++) {
        const rh_kinds__kind *kind = &kinds->kind[i];
        rh_text__add(text, i > 0 ? ",{\"kind\":" : "{\"kind\":");
        rh_text__json(text, kind->label);
        rh_text__add(text, ",\"model\":");
        rh_text__json(text, kind->type->name);
        rh_text__add(text, ",\"parameters\":");
        add_params(text, kind->type->param, kind->type->nparam, kind->param);
        rh_text__add(text, ",\"representation\":");
        if (!kind->repr) {
            rh_text__add(text, "null}");
            continue;
        }
        rh_text__json(text, kind->repr->name);
        rh_text__add(text, ",\"representation_parameters\":");
        add_params(text, kind->repr->param, kind->repr->nparam, kind->repr_param);
        rh_text__add(text, "}");
    }
    rh_text__add(text, "]");
    rh_journal__end_attr(text);
}

// ---------------------------------------------------------------------------- reading

// What another version may have written.
static rh_status unknown(const rh_error *why, rh_error *err)
{
    return rh_fail(err, RH_EFORMAT, "study.log: kinds: %.400s; use another folder", why->text);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// Values of all parameters of a table.
static rh_status read_params(const json_t *found, const rh_param *table, int nparam,
                             const char *owner, double *value, rh_error *err)
{
    rh_error why = {""};
    rh_status rc = RH_OK;
    if (nparam > RH_KINDS__NPARAM)
        rc = rh_fail(&why, RH_EFORMAT, "%s has too many parameters", owner);
    for (int i = 0; i < nparam && !rc; i++)
        rc = rh_param_parse(&table[i], owner, text_at(found, table[i].name), &value[i], &why);
    return rc ? unknown(&why, err) : RH_OK;
}

static rh_status read_kind(const json_t *found, rh_kinds *kinds, rh_error *err)
{
    rh_error why = {""};
    double param[RH_KINDS__NPARAM], repr_param[RH_KINDS__NPARAM];
    const rh_repr_type *repr = NULL;
    const rh_model_type *type = rh_model_find(text_at(found, "model"), &why);
    if (!type)
        return unknown(&why, err);
    rh_status rc = read_params(json_object_get(found, "parameters"), type->param, type->nparam,
                               type->name, param, err);
    if (!rc && json_is_string(json_object_get(found, "representation"))) {
        repr = rh_repr_find(text_at(found, "representation"), &why);
        if (!repr)
            return unknown(&why, err);
        rc = read_params(json_object_get(found, "representation_parameters"), repr->param,
                         repr->nparam, repr->name, repr_param, err);
    }
    return rc ? rc : rh_kinds__add(kinds, type, param, repr, repr_param, err);
}

bool rh_journal__number_of(const json_t *found, double *x)
{
    const char *word = json_string_value(found);
    if (json_is_number(found))
        *x = json_number_value(found);
    else if (json_is_null(found))
        *x = NAN;
    else if (word && (strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0))
        *x = *word == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool number_at(const json_t *object, const char *key, double *x)
{
    return rh_journal__number_of(json_object_get(object, key), x);
}

bool rh_journal__random(const rh_journal *journal, bool confirmed, rh_reference *score,
                        double *lowest)
{
    const json_t *found = json_object_get(journal->replay.attr, "random");
    const json_t *which = json_object_get(found, "confirmed");
    rh_reference got;
    double least;
    if (!json_is_boolean(which) || json_is_true(which) != confirmed ||
        !number_at(found, "score", &got.score) || !number_at(found, "lo95", &got.lo95) ||
        !number_at(found, "hi95", &got.hi95) || !number_at(found, "lowest", &least))
        return false;
    *score = got;
    *lowest = least;
    return true;
}

bool rh_journal__defaults(const rh_journal *journal, bool confirmed, rh_result *result, int n)
{
    const json_t *found = json_object_get(journal->replay.attr, "defaults");
    const json_t *which = json_object_get(found, "confirmed");
    const json_t *row = json_object_get(found, "runs");
    if (!json_is_boolean(which) || json_is_true(which) != confirmed ||
        json_array_size(row) != (size_t)n)
        return false;
    for (int i = 0; i < n; i++) {
        const json_t *one = json_array_get(row, (size_t)i);
        result[i] = (rh_result){.nfailure = json_integer_value(json_array_get(one, 1)),
                                .nepisode = json_integer_value(json_array_get(one, 2)),
                                .nstep = json_integer_value(json_array_get(one, 3))};
        if (!rh_journal__number_of(json_array_get(one, 0), &result[i].score))
            return false;
    }
    return true;
}

int rh_journal__nask(const rh_journal *journal, double time)
{
    const json_t *found = json_object_get(journal->replay.attr, RH_JOURNAL__TIME);
    json_int_t n = json_integer_value(json_object_get(found, "asks"));
    double was;
    bool same = number_at(found, "time", &was) && was == time;
    return same && n > 0 && n <= INT_MAX ? (int)n : 0;
}

rh_status rh_journal__kinds(const rh_journal *journal, rh_kinds *kinds, rh_error *err)
{
    const json_t *all = json_object_get(journal->replay.attr, "kinds");
    rh_status rc = RH_OK;
    kinds->n = 0;
    for (size_t i = 0; i < json_array_size(all) && !rc; i++)
        rc = read_kind(json_array_get(all, i), kinds, err);
    return rc;
}
