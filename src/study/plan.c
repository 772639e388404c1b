// plan.c - the book of what was set, and the ways to set it.
//
// 1. A key has one place in the book: agent: {alpha: 0.1}, parameters: {alpha: ...} and
//    rh_plan_try() set the same; the last counts. Two in a file are refused with both lines.
// 2. A value that needs nothing else is read at once, so it is refused where it is set. The
//    rest waits for rh_plan_check() and rh_plan_settle(), which work everything out anew:
//    their answer does not depend on earlier calls.

#include "plan.h"
#include "base/base_internal.h"
#include "base/number.h"
#include "study.h"

#include <math.h>
#include <string.h>

#define LONGEST 240 // characters of a key

rh_status rh_plan__no_memory(rh_error *err)
{
    return rh_base__no_memory(err, "plan");
}

// ---------------------------------------------------------------------------- the book

const char *rh_plan__behind(const char *key, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(key, prefix, n) == 0 ? key + n : NULL;
}

const rh_key__said *rh_plan__said(const rh_plan *plan, const char *key)
{
    const rh_plan__book *book = plan->book;
    for (int i = 0; i < book->nsaid; i++)
        if (strcmp(book->said[i].key, key) == 0)
            return &book->said[i];
    return NULL;
}

const rh_key__said *rh_plan__below(const rh_plan *plan, const char *section, int *at,
                                   const char **name)
{
    const rh_plan__book *book = plan->book;
    while (*at < book->nsaid) {
        const rh_key__said *said = &book->said[(*at)++];
        *name = rh_plan__behind(said->key, section);
        if (*name && rh_plan__is_open(said->key))
            return said;
    }
    return NULL;
}

rh_status rh_plan__keep(rh_plan *plan, rh_yaml *tree, rh_error *err)
{
    rh_plan__book *book = plan->book;
    void *more = tree ? rh_base__alloc_more((void *)book->tree, &book->tree_room, book->ntree,
                                            sizeof(rh_yaml *))
                      : NULL;
    if (!more) {
        rh_yaml__destroy(tree);
        return rh_plan__no_memory(err);
    }
    book->tree = more;
    book->tree[book->ntree++] = tree;
    return RH_OK;
}

// Whether `where` is the option of this very key: --k, but not --model-set.
static bool is_own(const char *key, const char *where)
{
    const rh_plan__row *row = rh_plan__row_of(key);
    const char *option = row ? row->key.is.option : NULL;
    return option && row->key.is.type != RH_KEY_PAIRS && where &&
           strncmp(where, "--", 2) == 0 && strcmp(where + 2, option) == 0;
}

rh_status rh_plan__say(rh_plan *plan, const char *key, const char *shown, const rh_yaml *value,
                       const char *where, int file, rh_error *err)
{
    rh_plan__book *book = plan->book;
    int at = 0;
    while (at < book->nsaid && strcmp(book->said[at].key, key) != 0)
        at++;
    rh_key__said said = {.key = key,
                         .shown = shown,
                         .value = value,
                         .where = where,
                         .file = file,
                         .named = rh_plan__is_open(key) && !is_own(key, where)};
    if (at < book->nsaid && file && book->said[at].file == file) {
        char why[160];
        snprintf(why, sizeof why, "%.50s is given twice, first in line %d%s%.50s", shown,
                 book->said[at].value->line,
                 strcmp(shown, book->said[at].shown) != 0 ? " as " : "",
                 strcmp(shown, book->said[at].shown) != 0 ? book->said[at].shown : "");
        return rh_key__blame(&book->said[at], value, err, why);
    }

    void *more = rh_base__alloc_more(book->said, &book->room, book->nsaid, sizeof *book->said);
    book->said = more ? more : book->said;
    if (!more || !rh_key__keep(&said))
        return rh_plan__no_memory(err);
    rh_status rc = rh_plan__take(plan, &said, err);
    if (rc) {
        rh_free(said.block);
        return rc;
    }

    // the new item goes to the end
    if (at < book->nsaid) {
        rh_free(book->said[at].block);
        book->nsaid--;
        memmove(&book->said[at], &book->said[at + 1],
                (size_t)(book->nsaid - at) * sizeof *book->said);
    }
    book->said[book->nsaid++] = said;
    return RH_OK;
}

// ---------------------------------------------------------------------------- the plan

rh_status rh_plan_create(rh_plan **out, rh_error *err)
{
    rh_plan *plan = rh_alloc(1, sizeof *plan);
    rh_plan__book *book = rh_alloc(1, sizeof *book);
    if (!plan || !book) {
        rh_free(plan);
        rh_free(book);
        return rh_plan__no_memory(err);
    }
    plan->book = book;
    plan->command = RH_PLAN_TUNE;
    plan->fit = rh_model_defaults();
    plan->seed = 1;
    *out = plan;
    return RH_OK;
}

void rh_plan_use(rh_plan *plan, rh_plan_command command)
{
    plan->command = command;
}

void rh_plan_destroy(rh_plan *plan)
{
    if (!plan)
        return;
    rh_plan__book *book = plan->book;
    rh_plan__clear_fields(plan);
    rh_free((void *)(uintptr_t)plan->prior.row);
    for (int i = 0; i < book->nsaid; i++)
        rh_free(book->said[i].block);
    for (int i = 0; i < book->ntree; i++)
        rh_yaml__destroy(book->tree[i]);
    rh_free(book->said);
    rh_yaml__destroy(book->preset);
    rh_free(book->tree);
    rh_free(book->line);
    rh_free(book);
    rh_free(plan->name);
    rh_free(plan->data);
    rh_free(plan->starts);
    rh_free(plan->setting);
    rh_free(plan->at_most);
    rh_free(plan->also);
    rh_free(plan->hp);
    rh_free(plan->method_param);
    rh_free(plan->model_param);
    rh_free(plan);
}

// ---------------------------------------------------------------------------- setting

// A value from the command line; the tree becomes the book's.
static rh_status say_tree(rh_plan *plan, const char *key, const char *shown, rh_yaml *tree,
                          const char *where, rh_error *err)
{
    rh_status rc = rh_plan__keep(plan, tree, err);
    return rc ? rc : rh_plan__say(plan, key, shown, tree, where, 0, err);
}

// "[0, 1]" or "{min: 0, max: 1}", as in a file.
static rh_status read_flow(rh_yaml **out, const char *text, const char *shown,
                           const char *where, rh_error *err)
{
    rh_yaml *tree = NULL;
    rh_error why = {""};
    rh_status rc = rh_yaml__parse(&tree, text, strlen(text), "yaml", &why);
    if (rc == RH_ENOMEM)
        return rh_plan__no_memory(err);
    if (rc) {
        const char *reason = strstr(why.text, ": ");
        return rh_key__tidy(err, rh_fail(err, RH_EINVAL, "%.64s: %.300s", where ? where : shown,
                                         reason ? reason + 2 : why.text));
    }
    *out = tree;
    return RH_OK;
}

rh_status rh_plan_set(rh_plan *plan, const char *key, const char *text, const char *where,
                      rh_error *err)
{
    char full[LONGEST];
    const char *param;
    rh_yaml *tree = NULL;
    if (!rh_plan__key(key, full, sizeof full, where, err))
        return RH_EINVAL;
    if (*text == '{' || *text == '[') {
        bool tree_wanted = rh_plan__behind(full, "parameters.") ||
                           rh_plan__behind(full, "ranges.") ||
                           rh_plan__behind(full, "limits.") || strcmp(full, "plugins") == 0 ||
                           strcmp(full, "agent.name") == 0 || strcmp(full, "accept") == 0;
        rh_status rc = tree_wanted ? read_flow(&tree, text, key, where, err) : RH_OK;
        if (rc)
            return rc;
    } else if ((param = rh_plan__behind(full, "parameters.")) != NULL &&
               !rh_plan__behind(key, "agent."))
        return rh_plan_try(plan, param, text, where, err);
    if (!tree)
        tree = rh_yaml__text(text, strlen(text));
    return say_tree(plan, full, key, tree, where, err);
}

rh_status rh_plan_try(rh_plan *plan, const char *param, const char *text, const char *where,
                      rh_error *err)
{
    char key[LONGEST], full[LONGEST];
    snprintf(key, sizeof key, "parameters.%.200s", param);
    if (!rh_plan__key(key, full, sizeof full, where, err))
        return RH_EINVAL;
    rh_yaml *tree = NULL;
    rh_status rc = rh_plan__trial(text, &tree);
    if (rc == RH_ENOMEM)
        return rh_plan__no_memory(err);
    if (rc)
        return rh_key__tidy(
            err, rh_fail(err, RH_EINVAL,
                         "%.64s%s%.64s = %.40s, expected 0.1 or 0.1,0.3,1 or 0.01:1, "
                         "0.01:1:log, 0:1:linear, 1:8:int or 0:1:0.25",
                         where ? where : "", where ? ": " : "", param, text));
    return say_tree(plan, full, key, tree, where, err);
}

rh_status rh_plan__grid(rh_plan *plan, const char *grid, const char *where, rh_error *err)
{
    return rh_plan_set(plan, "grid", grid, where, err);
}

rh_status rh_plan_read(rh_plan *plan, const char *path, rh_error *err)
{
    rh_yaml *root = NULL;
    rh_status rc = rh_yaml__read(&root, path, err);
    return rc ? rc : rh_plan__take_file(plan, root, path, err);
}

// ---------------------------------------------------------------------------- asking

const char *rh_plan_text(const rh_plan *plan, const char *key)
{
    const rh_plan__book *book = plan->book;
    for (int i = 0; i < book->nline; i++)
        if (strcmp(book->line[i].key, key) == 0)
            return book->line[i].value;
    const rh_key__said *said = rh_plan__said(plan, key);
    return said && said->value->kind == RH_YAML_TEXT ? said->value->text : NULL;
}

int64_t rh_plan_number(const rh_plan *plan, const char *key)
{
    const char *text = rh_plan_text(plan, key);
    rh_yaml node = {.kind = RH_YAML_TEXT};
    uint64_t n = 0;
    char copy[32];
    if (text && strlen(text) < sizeof copy) {
        node.text = memcpy(copy, text, strlen(text) + 1);
        rh_yaml__whole(&node, &n);
    }
    return (int64_t)n;
}

double rh_plan__real(const rh_plan *plan, const char *key)
{
    const char *text = rh_plan_text(plan, key);
    double x = NAN;
    return text && rh_number__parse(text, text + strlen(text), &x) ? x : NAN;
}

const rh_agent_type *rh_plan__agent(const rh_plan *plan)
{
    return plan->agent;
}

const rh_env_type *rh_plan__task(const rh_plan *plan)
{
    return plan->task_of;
}

const rh_space *rh_plan__searched(const rh_plan *plan)
{
    return &plan->space;
}

int rh_plan__param(const rh_plan *plan, int d, rh_plan__form *form)
{
    if (form)
        *form = plan->dim[d].form;
    return plan->dim[d].param;
}

const rh_search_type *rh_plan__method(const rh_plan *plan, const double **param)
{
    if (param)
        *param = plan->method_param;
    return plan->method;
}

rh_judge rh_plan__judge(const rh_plan *plan)
{
    return (rh_judge){plan->across, plan->pool};
}
