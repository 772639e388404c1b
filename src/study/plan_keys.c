// plan_keys.c - keys by name, and values read by the type that the table gives them.
//
// A key has a section and a name, "evaluation.runs". Where the option has the same name, the
// section can be left out. "model.*" stands for names that another table knows (a parameter, a
// sensor): these wait for rh_plan_check(). Whole numbers may be written as 1e6.

#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Other names of some keys: a section for the name or kind in it, and those of a W&B sweep.
static const struct {
    const char *word, *key;
} other[] = {{"agent", "agent.name"},
             {"env", "env.name"},
             {"model", "model.kind"},
             {"representation", "representation.kind"},
             {"task", "task.env"},
             {"path", "data"},
             {"data.path", "data"},
             {"run_cap", "budget.trials"},
             {"metric", "evaluation.criterion"},
             {"metric.name", "evaluation.criterion"},
             {"method.name", "method"}};
enum { NOTHER = sizeof other / sizeof *other };

// ---------------------------------------------------------------------------- keys

// The row that `key` matches; pairs: "model.weights" matches "model.*".
static const rh_plan__row *find(const char *key, bool pairs)
{
    const rh_plan__row *row;
    for (int i = 0; (row = rh_plan__row_at(i)) != NULL; i++) {
        const char *is = row->is.key, *dot = strchr(key, '.');
        if (strcmp(is, key) == 0)
            return row;
        size_t n = strlen(is) - 1;
        if (pairs && row->is.type == RH_PLAN_PAIRS && dot && (size_t)(dot - key) + 1 == n &&
            strncmp(is, key, n) == 0 && !find(key, false))
            return row;
    }
    return NULL;
}

const rh_plan__row *rh_plan__row_of(const char *key)
{
    return find(key, true);
}

static bool reads(const rh_plan__row *row)
{
    return row && (row->read || row->size);
}

// Whether a section of n characters is the name of a method: bayes.compat.
static bool is_method(const char *section, size_t n)
{
    for (int i = 0; i < rh_search_ntype(); i++) {
        const char *name = rh_search_type_at(i)->name;
        if (strlen(name) == n && strncmp(section, name, n) == 0)
            return true;
    }
    return false;
}

bool rh_plan__is_open(const char *key)
{
    const char *dot = strchr(key, '.');
    const rh_plan__row *row = rh_plan__row_of(key);
    return dot && !reads(row) && (row || is_method(key, (size_t)(dot - key)));
}

// ---------------------------------------------------------------------------- known keys

// Once each.
static void add(const char *known[RH_PLAN__NKEYS], int *n, const char *name)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(known[i], name) == 0)
            return;
    if (*n < RH_PLAN__NKEYS)
        known[(*n)++] = name;
}

int rh_plan__known(const char *section, const char *known[RH_PLAN__NKEYS])
{
    static const char *const top[] = {"budget", "metric", "evaluation",     "env",
                                      "agent",  "model",  "representation", "parameters",
                                      "task",   "ranges", "limits",         "run_cap"};
    const rh_plan__row *row;
    size_t length = strlen(section);
    int n = 0;
    for (int i = 0; (row = rh_plan__row_at(i)) != NULL; i++) {
        const char *key = row->is.key;
        if (!*section && !strchr(key, '.'))
            add(known, &n, key);
        else if (*section && strncmp(key, section, length) == 0 && key[length] == '.' &&
                 row->is.type != RH_PLAN_PAIRS)
            add(known, &n, key + length + 1);
    }
    if (strcmp(section, "metric") == 0)
        add(known, &n, "name");
    if (*section)
        return n;
    for (size_t i = 0; i < sizeof top / sizeof *top; i++)
        add(known, &n, top[i]);
    for (int i = 0; i < rh_search_ntype(); i++)
        add(known, &n, rh_search_type_at(i)->name);
    return n;
}

// Whether an option is called as a key's name, but for the dashes.
static bool is_called(const char *option, const char *name)
{
    while (*option && (*option == *name || (*option == '-' && *name == '_'))) {
        option++;
        name++;
    }
    return !*option && !*name;
}

const char *rh_plan__section_of(const char *name)
{
    static const char *const section[] = {"budget", "evaluation", "model", "representation"};
    const rh_plan__row *row;
    for (int i = 0; (row = rh_plan__row_at(i)) != NULL; i++)
        for (int k = 0; row->is.option && k < 4; k++) {
            const char *dot = strchr(row->is.key, '.');
            if (dot && (size_t)(dot - row->is.key) == strlen(section[k]) &&
                rh_plan__behind(row->is.key, section[k]) && strcmp(dot + 1, name) == 0 &&
                is_called(row->is.option, name))
                return section[k];
        }
    return NULL;
}

bool rh_plan__key(const char *key, char *full, size_t size, const char *where, rh_error *err)
{
    const char *known[RH_PLAN__NKEYS], *name = key;
    for (int i = 0; i < NOTHER; i++)
        if (strcmp(key, other[i].word) == 0)
            name = other[i].key;
    const char *section = strchr(name, '.') ? NULL : rh_plan__section_of(name);
    int n = snprintf(full, size, "%s%s%s", section ? section : "", section ? "." : "", name);
    const char *hp = rh_plan__behind(full, "agent.");
    if (hp && !find(full, false))
        n = snprintf(full, size, "parameters.%s", strchr(name, '.') + 1);
    bool fits = n > 0 && (size_t)n < size && full[n - 1] != '.' && full[n - 1] != '*';
    if (fits && (reads(rh_plan__row_of(full)) || rh_plan__is_open(full)))
        return true;

    char what[100], shown[64];
    snprintf(what, sizeof what, "%.60s%sno key", where ? where : "", where ? ": " : "");
    rh_text__printable(key, shown, sizeof shown);
    rh_unknown(err, what, shown, known, rh_plan__known("", known));
    return false;
}

// ---------------------------------------------------------------------------- values

// 1,000,000
static const char *grouped(int64_t n, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n), to = 0;
    for (int i = 0; i < length; i++) {
        text[to++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length)
            text[to++] = ',';
    }
    text[to] = 0;
    return text;
}

static rh_status refuse(const rh_plan__row *row, const rh_plan__item *said, rh_error *err)
{
    char expected[120], lo[32], hi[32];
    snprintf(expected, sizeof expected, "a %snumber%s %s%s to %s%s",
             row->is.type == RH_PLAN_WHOLE ? "whole " : "", row->above ? " above" : ",",
             grouped(row->is.lo, lo), row->above ? ", up" : "", grouped(row->is.hi, hi),
             row->or_auto ? ", or auto" : "");
    return rh_plan__refuse(said, NULL, "", err, expected);
}

static rh_status take_whole(void *field, const rh_plan__row *row, const rh_plan__item *said,
                            rh_error *err)
{
    uint64_t n = 0;
    bool usual = row->or_auto && said->value->kind == RH_YAML_TEXT &&
                 strcmp(said->value->text, "auto") == 0;
    if (!usual && (!rh_yaml__whole(said->value, &n) || n < (uint64_t)row->is.lo ||
                   n > (uint64_t)row->is.hi))
        return refuse(row, said, err);
    if (row->size == sizeof(int))
        *(int *)field = (int)n;
    else
        memcpy(field, &n, sizeof n);
    return RH_OK;
}

static rh_status take_real(double *field, const rh_plan__row *row, const rh_plan__item *said,
                           rh_error *err)
{
    double x = NAN;
    bool usual = row->or_auto && said->value->kind == RH_YAML_TEXT &&
                 strcmp(said->value->text, "auto") == 0;
    bool good = rh_yaml__number(said->value, &x) && x >= (double)row->is.lo &&
                x <= (double)row->is.hi && !(row->above && x == (double)row->is.lo);
    if (!usual && !good)
        return refuse(row, said, err);
    *field = usual ? NAN : x;
    return RH_OK;
}

static rh_status take_text(char **field, const rh_plan__item *said, rh_error *err)
{
    if (said->value->kind != RH_YAML_TEXT || !*said->value->text)
        return rh_plan__refuse(said, NULL, "", err, "a text");
    char *copy = rh_base__copy(said->value->text);
    if (!copy)
        return rh_plan__no_memory(err);
    rh_free(*field);
    *field = copy;
    return RH_OK;
}

// One of the names; true and false stand for yes and no.
rh_status rh_plan__take_choice(int *at, const rh_plan__item *said, const char *(*name)(int i),
                               rh_error *err)
{
    const char *known[RH_PLAN__NKEYS];
    const rh_yaml *node = said->value;
    bool yes = false, truth = rh_yaml__truth(node, &yes);
    int n = 0;
    for (; n < RH_PLAN__NKEYS && name(n); n++)
        known[n] = name(n);
    for (int pass = 0; pass < 2; pass++) {
        const char *text = pass ? (yes ? "yes" : "no") : node->text;
        for (int i = 0; i < n && (pass ? truth : node->kind == RH_YAML_TEXT); i++)
            if (strcmp(text, known[i]) == 0) {
                *at = i;
                return RH_OK;
            }
    }
    char label[RH_PLAN__LABEL], what[RH_PLAN__LABEL + 16], shown[RH_YAML__SHOWN];
    rh_plan__label(said, NULL, "", label);
    rh_yaml__show(node, shown);
    snprintf(what, sizeof what, "%s cannot be", label);
    rh_unknown(err, what, shown, known, n);
    return said->file ? RH_EFORMAT : RH_EINVAL;
}

static const char *no_or_yes(int i)
{
    return i == 0 ? "no" : i == 1 ? "yes" : NULL;
}

rh_status rh_plan__take(rh_plan *plan, const rh_plan__item *said, rh_error *err)
{
    const rh_plan__row *row = rh_plan__row_of(said->key);
    if (!reads(row))
        return RH_OK;
    if (row->read)
        return row->read(plan, said, err);
    void *field = (char *)plan + row->field;
    int at = 0;
    rh_status rc = RH_OK;
    switch (row->is.type) {
    case RH_PLAN_WHOLE:
        return take_whole(field, row, said, err);
    case RH_PLAN_REAL:
        return take_real(field, row, said, err);
    case RH_PLAN_TEXT:
    case RH_PLAN_FILE:
        return take_text(field, said, err);
    case RH_PLAN_FLAG:
        rc = rh_plan__take_choice(&at, said, no_or_yes, err);
        *(bool *)field = rc ? *(bool *)field : at == 1;
        return rc;
    case RH_PLAN_CHOICE: // an enum
        rc = rh_plan__take_choice(&at, said, row->is.name, err);
        if (!rc)
            memcpy(field, &at, sizeof at);
        return rc;
    case RH_PLAN_PAIRS:
        break;
    }
    return RH_OK;
}
