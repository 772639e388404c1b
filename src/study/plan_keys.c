// plan_keys.c - keys by name.
//
// A key has a section and a name, "evaluation.runs". Where the option has the same name, the
// section can be left out. "model.*" stands for names that another table knows (a parameter, a
// sensor): these wait for rh_plan_check().

#include "base/base.h"
#include "plan.h"

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
        const char *is = row->key.is.key, *dot = strchr(key, '.');
        if (strcmp(is, key) == 0)
            return row;
        size_t n = strlen(is) - 1;
        if (pairs && row->key.is.type == RH_KEY_PAIRS && dot && (size_t)(dot - key) + 1 == n &&
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
    return row && rh_key__reads(&row->key);
}

// Whether a section of n characters is the name of a method: bayes.first.
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
        const char *key = row->key.is.key;
        if (!*section && !strchr(key, '.'))
            add(known, &n, key);
        else if (*section && strncmp(key, section, length) == 0 && key[length] == '.' &&
                 row->key.is.type != RH_KEY_PAIRS)
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
        for (int k = 0; row->key.is.option && k < 4; k++) {
            const char *dot = strchr(row->key.is.key, '.');
            if (dot && (size_t)(dot - row->key.is.key) == strlen(section[k]) &&
                rh_plan__behind(row->key.is.key, section[k]) && strcmp(dot + 1, name) == 0 &&
                is_called(row->key.is.option, name))
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
    rh_base__unknown(err, what, shown, known, rh_plan__known("", known));
    return false;
}

rh_status rh_plan__take(rh_plan *plan, const rh_key__said *said, rh_error *err)
{
    const rh_plan__row *row = rh_plan__row_of(said->key);
    return reads(row) ? rh_key__read(&row->key, said, plan, err) : RH_OK;
}
