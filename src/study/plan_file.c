// plan_file.c - reads a study file into the book.
//
// The file has the shape of a W&B sweep, with sections for what a sweep does not have.
//
// 1. The log's own keys (path, obs, reward, roles, ...) are read by rh_log_roles_read()
//    from the same file; here they are skipped, except for the path.
// 2. Keys of W&B that only describe (description, project, entity) are skipped; those that
//    would change the work (program, early_terminate) are refused with the reason.
// 3. `plugins` is entered first, so that its names are known, then `grid`, so that parameters
//    override it, wherever they stand in the file.

#include "base/base.h"
#include "base/base_internal.h"
#include "plan.h"

#include <string.h>

#define LONGEST 200 // characters of a name below a section

typedef struct reading {
    rh_plan *plan;
    const char *path;
    int file;
    rh_error *err;
} reading;

static const char *const of_people[] = {"description", "project", "entity", "apiVersion",
                                        "kind"};
enum { NPEOPLE = sizeof of_people / sizeof *of_people };

// What is refused, and why.
static const struct {
    const char *section, *name, *why;
} refused[] = {
    {"", "program", "a study starts no program: agents run in a model of the log"},
    {"", "command", "a study starts no command: agents run in a model of the log"},
    {"", "job", "a study starts no job: agents run in a model of the log"},
    {"", "image_uri", "a study starts no image: agents run in a model of the log"},
    {"", "early_terminate",
     "runs are not stopped early; method: race drops clearly worse settings after few runs"},
    {"", "controller", "a study has no controller"},
    {"", "scheduler", "a study schedules its own runs, on threads and on the ranks of mpirun"},
    {"", "metrics", "a study has one metric: metric: {name: mean_return}"},
    {"metric", "target", "a study ends with its budget, not at a score"},
    {"metric", "impute", "a run that diverges gets the worst score"},
    {"metric", "impute_while_running", "a setting counts when its runs are finished"},
    {"budget", "wall", "stop it at any time: the same command resumes it"},
    {"budget", "jobs", "it does not change results; use the option --jobs N"},
};
enum { NREFUSED = sizeof refused / sizeof *refused };

static bool is_one(const char *name, const char *const *of, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, of[i]) == 0)
            return true;
    return false;
}

// The i-th key of the log, other names included; NULL after the last.
static const char *of_the_log(int i)
{
    static const char *const other[] = {"observations", "states", "rewards", "roles"};
    int n = 0;
    while (rh_log_key_at(n))
        n++;
    return i < n ? rh_log_key_at(i)->key : i < n + 4 ? other[i - n] : NULL;
}

static bool is_of_the_log(const char *name)
{
    bool is = false;
    for (int i = 0; of_the_log(i) && !is; i++)
        is = strcmp(name, of_the_log(i)) == 0;
    return is;
}

// ---------------------------------------------------------------------------- refusing

static rh_status blame(const reading *r, const rh_yaml *node, const char *why)
{
    rh_key__said here = {.value = node, .where = r->path, .file = r->file};
    return rh_key__blame(&here, NULL, r->err, why);
}

// An unknown key: the nearest known one, and all of them.
static rh_status unknown(const reading *r, const char *section, const rh_yaml *key)
{
    const char *known[RH_PLAN__NKEYS + 1], *logs[RH_PLAN__NKEYS];
    char what[64], shown[RH_YAML__SHOWN];
    rh_error why = {""};
    rh_yaml__show(key, shown);
    const char *members = *section ? NULL : rh_plan__section_of(key->text);
    if (members) {
        snprintf(why.text, sizeof why.text, "%s belongs below %s:", shown, members);
        return blame(r, key, why.text);
    }
    for (int i = 0; i < NREFUSED; i++)
        if (strcmp(refused[i].section, section) == 0 &&
            strcmp(refused[i].name, key->text) == 0) {
            snprintf(why.text, sizeof why.text, "%s%s%s: %s", section, *section ? "." : "",
                     shown, refused[i].why);
            return blame(r, key, why.text);
        }
    int n = rh_plan__known(section, known);
    if (!*section) { // a typo in one of the log's keys, which are not all listed
        int nlog = 0;
        for (; nlog < RH_PLAN__NKEYS && of_the_log(nlog); nlog++)
            logs[nlog] = of_the_log(nlog);
        const char *near = rh_base__suggest(key->text, logs, nlog);
        if (near && !rh_base__suggest(key->text, known, n))
            known[n++] = near;
    }
    snprintf(what, sizeof what, "no key%s%.40s", *section ? " of " : "", section);
    rh_base__unknown(&why, what, shown, known, n);
    return blame(r, key, why.text);
}

// ---------------------------------------------------------------------------- entering

static rh_status say(const reading *r, const char *key, const rh_yaml *value)
{
    char full[2 * LONGEST];
    rh_error why = {""};
    if (rh_yaml__nothing(value))
        return RH_OK;
    if (!rh_plan__key(key, full, sizeof full, NULL, &why))
        return blame(r, value, why.text);
    return rh_plan__say(r->plan, full, key, value, r->path, r->file, r->err);
}

// Paths, which start from the folder of the file: "model:FILE" too.
static rh_status say_path(const reading *r, const char *key, const rh_yaml *value)
{
    bool texts = value->kind == RH_YAML_TEXT || value->kind == RH_YAML_LIST;
    for (int i = 0; value->kind == RH_YAML_LIST && i < value->n; i++)
        texts = texts && value->item[i]->kind == RH_YAML_TEXT;
    if (!texts || rh_yaml__nothing(value))
        return say(r, key, value);
    rh_yaml *whole = rh_yaml__text("", 0);
    char *text = rh_yaml__paths(value, r->path, RH_PLAN__MODEL);
    if (!whole || !text) {
        rh_yaml__destroy(whole);
        rh_free(text);
        return rh_plan__no_memory(r->err);
    }
    rh_free(whole->text);
    whole->text = text;
    whole->line = value->line;
    rh_status rc = rh_plan__keep(r->plan, whole, r->err);
    return rc ? rc : say(r, key, whole);
}

// One key of a section.
static rh_status enter_below(const reading *r, const char *section, bool open,
                             const rh_yaml *key, const rh_yaml *value)
{
    const char *known[RH_PLAN__NKEYS];
    char full[2 * LONGEST];
    if (!open && !is_one(key->text, known, rh_plan__known(section, known)))
        return unknown(r, section, key);
    if (!*key->text || strlen(key->text) > LONGEST)
        return blame(r, key, *key->text ? "a key of more than 200 characters" : "an empty key");
    snprintf(full, sizeof full, "%s.%s", section, key->text);
    bool branches = strcmp(section, "parameters") == 0 || strcmp(section, "ranges") == 0 ||
                    strcmp(section, "limits") == 0 || strcmp(full, "agent.name") == 0;
    if (value->kind != RH_YAML_TEXT && !branches) {
        char why[LONGEST + 160], shown[RH_YAML__SHOWN];
        rh_yaml__show(value, shown);
        snprintf(why, sizeof why, "%.200s = %s, expected one value%s", full, shown,
                 strcmp(section, "agent") == 0 ? "; put values to try below parameters:" : "");
        return blame(r, value, why);
    }
    return say(r, full, value);
}

// All that is below a section; a single word stands for its name or kind.
static rh_status enter_section(const reading *r, const char *section, bool open,
                               const rh_yaml *value)
{
    bool bare = strcmp(section, "parameters") == 0 || strcmp(section, "budget") == 0 ||
                strcmp(section, "evaluation") == 0 || strcmp(section, "ranges") == 0 ||
                strcmp(section, "limits") == 0 || (open && rh_search_find(section, NULL));
    if (rh_yaml__nothing(value))
        return RH_OK;
    bool agents = value->kind == RH_YAML_LIST && strcmp(section, "agent") == 0;
    if ((value->kind == RH_YAML_LIST && !agents) || (value->kind == RH_YAML_TEXT && bare)) {
        char why[200], shown[RH_YAML__SHOWN];
        rh_yaml__show(value, shown);
        snprintf(why, sizeof why, "%s = %s, expected a mapping%s", section, shown,
                 bare                              ? ""
                 : strcmp(section, "confirm") == 0 ? ", true, false or a number of settings"
                                                   : " or a name");
        return blame(r, value, why);
    }
    if (value->kind == RH_YAML_TEXT || agents)
        return say(r, section, value);
    rh_status rc = RH_OK;
    for (int i = 0; i < value->n && !rc; i++)
        rc = enter_below(r, section, open, value->key[i], value->item[i]);
    return rc;
}

static rh_status enter_top(const reading *r, const rh_yaml *key, const rh_yaml *value)
{
    static const char *const closed[] = {"budget", "metric", "evaluation", "confirm"};
    const char *known[RH_PLAN__NKEYS], *name = key->text;
    char below[LONGEST];
    if (strcmp(name, "data") == 0 && value->kind == RH_YAML_MAP) {
        const rh_yaml *path = rh_yaml__get(value, "path");
        return path ? say_path(r, "data.path", path) : RH_OK;
    }
    if (strcmp(name, "data") == 0 || strcmp(name, "path") == 0 || strcmp(name, "starts") == 0)
        return say_path(r, name, value);
    if (is_one(name, of_people, NPEOPLE) || is_of_the_log(name))
        return RH_OK;
    if (is_one(name, closed, 4))
        return enter_section(r, name, false, value);
    snprintf(below, sizeof below, "%.150s.x", name);
    bool open = !strchr(name, '.') && rh_plan__is_open(below);
    if (strcmp(name, "plugins") == 0 ||
        (strcmp(name, "grid") == 0 && value->kind == RH_YAML_TEXT))
        return RH_OK; // entered before all others
    if (open)
        return enter_section(r, name, true, value);
    if (!is_one(name, known, rh_plan__known("", known)))
        return unknown(r, "", key);
    return say(r, name, value);
}

// ---------------------------------------------------------------------------- from outside

rh_status rh_plan__parse(rh_plan *plan, const void *bytes, size_t n, const char *path,
                         rh_error *err)
{
    rh_yaml *root = NULL;
    rh_status rc = rh_yaml__parse(&root, bytes, n, path, err);
    return rc ? rc : rh_plan__take_file(plan, root, path, err);
}

rh_status rh_plan__take_file(rh_plan *plan, rh_yaml *root, const char *path, rh_error *err)
{
    rh_status rc = rh_plan__keep(plan, root, err);
    if (rc)
        return rc;
    reading r = {.plan = plan, .path = path, .file = ++plan->book->nfile, .err = err};
    if (rh_yaml__nothing(root))
        return RH_OK;
    if (root->kind != RH_YAML_MAP)
        return blame(&r, root,
                     root->kind == RH_YAML_LIST ? "found a list, expected the keys of a study"
                                                : "found a text, expected the keys of a study");
    const rh_yaml *plugins = rh_yaml__get(root, "plugins");
    if (plugins)
        rc = say(&r, "plugins", plugins);
    const rh_yaml *grid = rh_yaml__get(root, "grid");
    if (!rc && grid && grid->kind == RH_YAML_TEXT)
        rc = say(&r, "grid", grid);
    for (int i = 0; i < root->n && !rc; i++)
        rc = enter_top(&r, root->key[i], root->item[i]);
    return rc;
}

// ---------------------------------------------------------------------------- on one line

static rh_yaml *text(const char *from, size_t n)
{
    return rh_yaml__text(from, n);
}

static rh_yaml *word(const char *from)
{
    return rh_yaml__text(from, strlen(from));
}

// "a,b,c"
static rh_yaml *trial_list(const char *from)
{
    rh_yaml *list = rh_yaml__branch(RH_YAML_LIST);
    for (size_t n; list; from += n + 1) {
        from += strspn(from, " ");
        n = strcspn(from, ",");
        if (!rh_yaml__add(list, NULL, text(from, n))) {
            rh_yaml__destroy(list);
            return NULL;
        }
        if (!from[n])
            break;
    }
    return list;
}

rh_status rh_plan__trial(const char *from, rh_yaml **out)
{
    static const struct {
        const char *word, *distribution;
    } spread[] = {{"log", "log_uniform_values"}, {"int", "int_uniform"}, {"linear", "uniform"}};
    const char *colon = strchr(from, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    const char *end = second ? second : from + strlen(from), *distribution = NULL;
    double step = 0.0;
    bool good = true;
    if (!colon) {
        *out = strchr(from, ',') ? trial_list(from) : word(from);
        return *out ? RH_OK : RH_ENOMEM;
    }

    // how the range is spread, or the step
    rh_yaml *third = second ? word(second + 1) : NULL;
    if (second && !third)
        return RH_ENOMEM;
    for (int i = 0; second && i < 3; i++)
        if (strcmp(third->text, spread[i].word) == 0)
            distribution = spread[i].distribution;
    bool stepped = second && !distribution;
    if (stepped && !rh_yaml__number(third, &step)) {
        rh_yaml__destroy(third);
        return RH_EINVAL;
    }

    rh_yaml *map = rh_yaml__branch(RH_YAML_MAP);
    good = rh_yaml__add(map, word("min"), text(from, (size_t)(colon - from))) &&
           rh_yaml__add(map, word("max"), text(colon + 1, (size_t)(end - colon - 1)));
    if (good && distribution)
        good = rh_yaml__add(map, word("distribution"), word(distribution));
    if (good && stepped) {
        good = rh_yaml__add(map, word("q"), third) &&
               rh_yaml__add(map, word("distribution"), word("q_uniform"));
        third = NULL;
    }
    rh_yaml__destroy(third);
    if (good)
        *out = map;
    else
        rh_yaml__destroy(map);
    return good ? RH_OK : RH_ENOMEM;
}
