// plan_keys.c - the keys of a study file, and their other names.
//
// A key has a section and a name, "evaluation.runs". Some have a short form for the command
// line. Below agent, parameters, model, representation, task, ranges, method and the name of
// a method come names that only others know (a parameter, a sensor): these are worked out
// later.

#include "plan_keys.h"

#include <string.h>

static const struct {
    const char *section, *name;
    bool brief; // can be said without its section
} key_of[RH_NKEY] = {
    [RH_KEY_NAME] = {"", "name", false},
    [RH_KEY_DATA] = {"", "data", false},
    [RH_KEY_STARTS] = {"", "starts", false},
    [RH_KEY_PRESET] = {"", "preset", false},
    [RH_KEY_GRID] = {"", "grid", false},
    [RH_KEY_SEED] = {"", "seed", false},
    [RH_KEY_GAMMA] = {"", "gamma", false},
    [RH_KEY_CONTINUING] = {"", "continuing", false},
    [RH_KEY_AGENT] = {"agent", "name", false},
    [RH_KEY_METHOD] = {"", "method", false},
    [RH_KEY_TRIALS] = {"budget", "trials", true},
    [RH_KEY_BATCH] = {"budget", "batch", true},
    [RH_KEY_GOAL] = {"metric", "goal", false},
    [RH_KEY_STEPS] = {"evaluation", "steps", true},
    [RH_KEY_RUNS] = {"evaluation", "runs", true},
    [RH_KEY_CRITERION] = {"evaluation", "criterion", true},
    [RH_KEY_ACROSS] = {"evaluation", "across", true},
    [RH_KEY_POOL] = {"evaluation", "pool", true},
    [RH_KEY_CUTOFF] = {"evaluation", "cutoff", true},
    [RH_KEY_CUTOFF_AS] = {"evaluation", "cutoff_as", true},
    [RH_KEY_CURVE] = {"evaluation", "curve", true},
    [RH_KEY_MODEL] = {"model", "kind", false},
    [RH_KEY_MEMBERS] = {"model", "members", true},
    [RH_KEY_RESAMPLE] = {"model", "resample", true},
    [RH_KEY_SHARE] = {"model", "share", true},
    [RH_KEY_REPR] = {"representation", "kind", false},
    [RH_KEY_REPR_PRESET] = {"representation", "preset", false},
    [RH_KEY_JOINT] = {"representation", "joint", true},
    [RH_KEY_TASK] = {"task", "env", false},
    [RH_KEY_CONFIRM] = {"", "confirm", false},
    [RH_KEY_CONFIRM_SETTINGS] = {"confirm", "settings", false},
    [RH_KEY_CONFIRM_MEMBERS] = {"confirm", "members", false},
    [RH_KEY_CONFIRM_RUNS] = {"confirm", "runs", false},
};

// Other words for some of them.
static const struct {
    const char *word, *key;
} other[] = {{"agent", "agent.name"},
             {"model", "model.kind"},
             {"k", "model.k"},
             {"reach", "model.reach"},
             {"representation", "representation.kind"},
             {"task", "task.env"},
             {"path", "data"},
             {"data.path", "data"},
             {"run_cap", "budget.trials"},
             {"metric", "evaluation.criterion"},
             {"metric.name", "evaluation.criterion"},
             {"method.name", "method"}};
enum { NOTHER = sizeof other / sizeof *other };

static const char *const open_section[] = {"agent", "parameters", "model", "representation",
                                           "task",  "ranges",     "method"};
enum { NOPEN = sizeof open_section / sizeof *open_section };

static const char *const closed_section[] = {"data", "budget", "metric", "evaluation",
                                             "confirm"};
enum { NCLOSED = sizeof closed_section / sizeof *closed_section };

// ---------------------------------------------------------------------------- keys

rh_plan__key_id rh_plan__find(const char *key)
{
    for (int i = 0; i < RH_NKEY; i++) {
        const char *name = key;
        if (*key_of[i].section) {
            name = rh_plan__behind(key, key_of[i].section);
            name = name && *name == '.' ? name + 1 : NULL;
        }
        if (name && strcmp(name, key_of[i].name) == 0)
            return (rh_plan__key_id)i;
    }
    return RH_NKEY;
}

// Whether names that only others know may stand below a section of n letters.
static bool opens(const char *section, size_t n)
{
    for (int i = 0; i < NOPEN; i++)
        if (strlen(open_section[i]) == n && strncmp(section, open_section[i], n) == 0)
            return true;
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
    return dot && rh_plan__find(key) == RH_NKEY && opens(key, (size_t)(dot - key));
}

static void add(const char *known[RH_PLAN__NKEYS], int *n, const char *name)
{
    if (*n < RH_PLAN__NKEYS)
        known[(*n)++] = name;
}

int rh_plan__known(const char *section, const char *known[RH_PLAN__NKEYS])
{
    int n = 0;
    for (int i = 0; i < RH_NKEY; i++)
        if (strcmp(key_of[i].section, section) == 0 && i != RH_KEY_CONFIRM && i != RH_KEY_DATA)
            add(known, &n, key_of[i].name);
    if (strcmp(section, "metric") == 0)
        add(known, &n, "name");
    if (*section)
        return n;
    for (int i = 0; i < NCLOSED; i++)
        add(known, &n, closed_section[i]);
    for (int i = 0; i < NOPEN - 1; i++) // method is among the keys
        add(known, &n, open_section[i]);
    for (int i = 0; i < rh_search_ntype(); i++)
        if (strcmp(rh_search_type_at(i)->name, key_of[RH_KEY_GRID].name) != 0)
            add(known, &n, rh_search_type_at(i)->name);
    add(known, &n, "run_cap");
    return n;
}

const char *rh_plan__section_of(const char *name)
{
    for (int i = 0; i < RH_NKEY; i++)
        if (key_of[i].brief && strcmp(key_of[i].name, name) == 0)
            return key_of[i].section;
    for (int i = 0; i < NOTHER; i++)
        if (strcmp(other[i].word, name) == 0 && rh_plan__behind(other[i].key, "model."))
            return "model";
    return NULL;
}

bool rh_plan__key(const char *key, char *full, size_t size, const char *where, rh_error *err)
{
    const char *known[RH_PLAN__NKEYS], *name = key;
    for (int i = 0; i < NOTHER; i++)
        if (strcmp(key, other[i].word) == 0)
            name = other[i].key;
    const char *members = strchr(name, '.') ? NULL : rh_plan__section_of(name);
    int n = members ? snprintf(full, size, "%s.%s", members, name)
                    : snprintf(full, size, "%s", name);
    const char *hp = rh_plan__behind(full, "agent.");
    if (hp && rh_plan__find(full) == RH_NKEY)
        n = snprintf(full, size, "parameters.%s", strchr(name, '.') + 1);
    bool fits = n > 0 && (size_t)n < size && full[n - 1] != '.';
    if (fits && (rh_plan__find(full) != RH_NKEY || rh_plan__is_open(full)))
        return true;

    char what[100], shown[64];
    snprintf(what, sizeof what, "%.60s%sno key", where ? where : "", where ? ": " : "");
    snprintf(shown, sizeof shown, "%s", key);
    for (char *c = shown; *c; c++)
        *c = (char)((unsigned char)*c < 32 ? '?' : *c);
    rh_unknown(err, what, shown, known, rh_plan__known("", known));
    return false;
}
