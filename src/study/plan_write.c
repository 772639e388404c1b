// plan_write.c - a settled plan, key by key, and as a file.
//
// 1. The entries are everything that can change a result, defaults included: another version
//    with other defaults reads the same study from them. The name of the study and the paths
//    of its logs and plug-ins are in the file but are no entries: they are identified by their
//    fingerprints.
//    A study in model:FILE has no entries about fitting a model.
// 2. Only random and bayes can be given more trials, because the settings they try first stay
//    the same. The number of trials is an open entry; so are the runs of the check, which
//    change neither the search nor the confirmation.

#include "base/base.h"
#include "base/base_internal.h"
#include "plan.h"
#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rh_param plain = {.name = ""};

void rh_plan__clear_lines(rh_plan__book *book)
{
    for (int i = 0; i < book->nline; i++) {
        rh_free(book->line[i].key);
        rh_free(book->line[i].value);
    }
    book->nline = 0;
    book->lost = false;
}

// ---------------------------------------------------------------------------- entries

// Enter value, which is taken over, under "<section><name>".
static void enter(rh_plan *plan, const char *section, const char *name, rh_text *value,
                  bool open)
{
    rh_plan__book *book = plan->book;
    rh_text key = {0};
    rh_text__add(&key, section);
    rh_text__add(&key, name);
    void *more =
        rh_base__alloc_more(book->line, &book->line_room, book->nline, sizeof *book->line);
    book->line = more ? more : book->line;
    if (!more || key.bad || value->bad) {
        rh_text__clear(&key);
        rh_text__clear(value);
        book->lost = true;
        return;
    }
    book->line[book->nline++] = (rh_plan__line){key.data, value->data, open};
}

static void enter_param(rh_plan *plan, const char *section, const rh_param *p, double x)
{
    char value[64];
    rh_text text = {0};
    rh_param__format(p, x, value, sizeof value);
    rh_text__add(&text, value);
    enter(plan, section, p->name, &text, false);
}

static void enter_table(rh_plan *plan, const char *section, const rh_param *table, int nparam,
                        const double *value)
{
    for (int i = 0; i < nparam; i++)
        enter_param(plan, section, &table[i], value[i]);
}

// ---------------------------------------------------------------------------- sections

// "parameters.", or of several agents "parameters.dqn."
static const char *section_of(const rh_plan *plan, int agent, const char *section,
                              char text[600])
{
    bool several = plan->agents.n > 1;
    snprintf(text, 600, "%s%.500s%s", section, several ? plan->agents.type[agent]->name : "",
             several ? "." : "");
    return text;
}

// "{distribution: log_uniform_values, min: 0.001, max: 1}"
static void enter_dim(rh_plan *plan, int k)
{
    static const char *const around[] = {
        [RH_FORM_PLAIN] = "", [RH_FORM_ONE_MINUS] = "{one_minus: ", [RH_FORM_POW2] = "{pow2: "};
    const rh_dim *dim = &plan->space.dim[k];
    rh_plan__form form;
    int agent;
    const rh_param *p = rh_plan__dim(plan, k, &agent, &form);
    if (agent < 0) // it is the key agent.name
        return;
    bool logs = dim->scale == RH_LOG, whole = dim->step == 1.0 && !logs;
    char value[64];
    rh_text t = {0};
    rh_text__add(&t, around[form]);
    if (dim->kind == RH_DIM_RANGE) {
        const char *how = dim->step == 0.0 ? (logs ? "log_uniform_values" : "uniform")
                          : logs           ? "q_log_uniform_values"
                          : whole && dim->lo == floor(dim->lo) && dim->hi == floor(dim->hi)
                              ? "int_uniform"
                              : "q_uniform";
        rh_text__format(&t, "{distribution: %s, min: ", how);
        rh_text__number(&t, dim->lo);
        rh_text__add(&t, ", max: ");
        rh_text__number(&t, dim->hi);
        if (*how == 'q') {
            rh_text__add(&t, ", q: ");
            rh_text__number(&t, dim->step);
        }
        rh_text__add(&t, "}");
    } else {
        rh_text__add(&t, "{values: [");
        for (int i = 0; i < dim->nvalue; i++) {
            rh_param__format(form == RH_FORM_PLAIN ? p : &plain, dim->value[i], value,
                             sizeof value);
            rh_text__format(&t, "%s%s", i ? ", " : "", value);
        }
        rh_text__add(&t, "]}");
    }
    if (form != RH_FORM_PLAIN)
        rh_text__add(&t, "}");
    char section[600];
    enter(plan, section_of(plan, agent, "parameters.", section), p->name, &t, false);
}

void rh_plan__enter_space(rh_plan *plan)
{
    for (int k = 0; k < plan->space.ndim; k++)
        enter_dim(plan, k);
}

void rh_plan__enter_fixed(rh_plan *plan)
{
    char section[600];
    for (int a = 0; a < plan->agents.n; a++)
        for (int i = 0; i < plan->agents.type[a]->nparam; i++) {
            bool searched = false;
            for (int k = 0; k < plan->space.ndim; k++)
                searched = searched || (plan->dim[k].agent == a && plan->dim[k].param == i);
            if (!searched)
                enter_param(plan, section_of(plan, a, "agent.", section),
                            &plan->agents.type[a]->param[i], rh_plan__own(plan, a)[i]);
        }
}

void rh_plan__enter_method(rh_plan *plan)
{
    const rh_search_type *method = plan->method;
    char section[64];
    snprintf(section, sizeof section, "%.60s.", method->name);
    enter_table(plan, section, method->param, method->nparam, plan->method_param);
}

void rh_plan__enter_model(rh_plan *plan)
{
    const rh_model_trial *any = plan->candidate;
    if (plan->model) {
        enter_table(plan, "model.", plan->model->param, plan->model->nparam, plan->model_param);
        return;
    }
    // of models to choose from, what was set; all of them have it
    for (int i = 0; i < any->type->nparam; i++) {
        const rh_param *p = &any->type->param[i];
        char key[100];
        snprintf(key, sizeof key, "model.%s",
                 strncmp(p->name, "reach", 5) == 0 ? "reach" : p->name);
        if (rh_plan__said(plan, key))
            enter_param(plan, "model.", p, any->param[i]);
    }
}

void rh_plan__enter_repr(rh_plan *plan)
{
    if (plan->repr)
        enter_table(plan, "representation.", plan->repr->param, plan->repr->nparam,
                    plan->repr_param);
}

void rh_plan__enter_task(rh_plan *plan)
{
    enter_table(plan, "task.", plan->task_of->param, plan->task_of->nparam, plan->task_opt);
}

static void enter_pairs(rh_plan *plan, const char *section, const rh_plan__range *range, int n)
{
    for (int i = 0; i < n; i++) {
        rh_text t = {0};
        rh_text__add(&t, "[");
        if (isnan(range[i].lo))
            rh_text__add(&t, "~");
        else
            rh_text__number(&t, range[i].lo);
        rh_text__add(&t, ", ");
        if (isnan(range[i].hi))
            rh_text__add(&t, "~");
        else
            rh_text__number(&t, range[i].hi);
        rh_text__add(&t, "]");
        enter(plan, section, range[i].sensor, &t, false);
    }
}

void rh_plan__enter_ranges(rh_plan *plan)
{
    enter_pairs(plan, "ranges.", plan->range, plan->nrange);
}

void rh_plan__enter_limits(rh_plan *plan)
{
    enter_pairs(plan, "limits.", plan->limit, plan->nlimit);
}

// ---------------------------------------------------------------------------- all of it

rh_status rh_plan__enter(rh_plan *plan, rh_error *err)
{
    const rh_plan__row *row;
    bool fitted = rh_plan__is_fitted(plan) && plan->command == RH_PLAN_TUNE;
    rh_plan__clear_lines(plan->book);
    for (int i = 0; (row = rh_plan__row_at(i)) != NULL; i++) {
        const rh_key *key = &row->key.is;
        bool text = key->type == RH_KEY_TEXT || key->type == RH_KEY_FILE;
        bool entry = row->enter || row->key.show || (row->key.size && !text);
        if (!entry || !(key->commands & plan->command) || (row->fit && fitted) ||
            (row->when && !row->when(plan)))
            continue;
        if (row->enter) {
            row->enter(plan);
            continue;
        }
        rh_text value = {0};
        rh_key__show(&row->key, plan, &value);
        enter(plan, "", key->key, &value, row->open && row->open(plan));
    }
    return plan->book->lost ? rh_plan__no_memory(err) : RH_OK;
}

bool rh_plan_entry(const rh_plan *plan, int i, const char **key, const char **value, bool *open)
{
    const rh_plan__book *book = plan->book;
    if (i < 0 || i >= book->nline)
        return false;
    *key = book->line[i].key;
    *value = book->line[i].value;
    *open = book->line[i].open;
    return true;
}

// ---------------------------------------------------------------------------- a file

// A path, or model:FILE.
static void write_path(rh_text *text, const char *path, bool from_root)
{
    const char *file = rh_plan__behind(path, RH_PLAN__MODEL);
    char *whole = from_root ? realpath(file ? file : path, NULL) : NULL;
    rh_text name = {0};
    rh_text__format(&name, "%s%s", whole && file ? RH_PLAN__MODEL : "", whole ? whole : path);
    text->bad = text->bad || name.bad;
    rh_text__json(text, name.data ? name.data : "");
    rh_text__clear(&name);
    free(whole);
}

// The paths of a key: one, or a list of logs that are joined.
static void write_paths(rh_text *text, const char *key, const char *paths, bool from_root)
{
    char *copy = rh_base__copy(paths);
    bool several = strchr(paths, '\n') != NULL;
    rh_text__format(text, "%s: ", key);
    if (!several && !from_root)
        rh_text__yaml(text, paths);
    for (char *at = several || from_root ? copy : NULL; at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        rh_text__add(text, at > copy ? ", " : several ? "[" : "");
        write_path(text, at, from_root);
        at = end;
    }
    rh_text__add(text, several ? "]\n" : "\n");
    text->bad = text->bad || !copy;
    rh_free(copy);
}

rh_status rh_plan_write(const rh_plan *plan, FILE *out, rh_error *err)
{
    return rh_plan__write(plan, out, false, err);
}

rh_status rh_plan__write(const rh_plan *plan, FILE *out, bool from_root, rh_error *err)
{
    const rh_plan__book *book = plan->book;
    const char *section = "";
    size_t length = 0;
    rh_text text = {0};
    rh_plan__write_plugins(plan, from_root, &text);
    if (plan->name) {
        rh_text__add(&text, "name: ");
        rh_text__yaml(&text, plan->name);
        rh_text__add(&text, "\n");
    }
    if (plan->data)
        write_paths(&text, "data", plan->data, from_root);
    if (plan->starts)
        write_paths(&text, "starts", plan->starts, from_root);
    for (int i = 0; i < book->nline; i++) {
        const char *key = book->line[i].key, *dot = strchr(key, '.');
        size_t n = dot ? (size_t)(dot - key) : 0;
        if (dot && (n != length || strncmp(section, key, n) != 0))
            rh_text__format(&text, "%.*s:\n", (int)n, key);
        section = key;
        length = n;
        rh_text__add(&text, dot ? "  " : "");
        rh_text__yaml(&text, dot ? dot + 1 : key);
        rh_text__format(&text, ": %s\n", book->line[i].value);
    }
    rh_status rc = text.bad ? rh_plan__no_memory(err) : RH_OK;
    if (!rc && text.data)
        fputs(text.data, out);
    rh_text__clear(&text);
    if (!rc && ferror(out))
        rc = rh_fail(err, RH_EIO, "plan: cannot write");
    return rc;
}
