// plan_write.c - what a settled plan says, key by key, and as a file.
//
// 1. The entries are all that can change a result, what is usual included: another version
//    of the program with other habits reads the same study from them. The name of the study
//    and the paths of its logs are in the file, but are no entries: a log is known by its
//    fingerprint, wherever it lies. Where agents live is no entry of a study in model:FILE:
//    that model was fitted with other words.
// 2. Only random and bayes can be given more trials: what they would have tried first stays
//    the same. So the number of trials is the one entry that is open.

#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define NUMBER 32 // letters of a number

// A text that grows. Where memory has run out it stays as it is.
typedef struct text {
    char *s; // owned
    size_t n, room;
    bool lost;
} text;

static const rh_param plain = {.name = ""};

// ---------------------------------------------------------------------------- texts

RH_PRINTF(2, 3) static void add(text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int more = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (t->lost || more < 0)
        return;
    size_t need = t->n + (size_t)more + 1;
    if (need > t->room) {
        char *larger = rh_alloc(2 * need, 1);
        if (!larger) {
            t->lost = true;
            return;
        }
        if (t->s)
            memcpy(larger, t->s, t->n);
        rh_free(t->s);
        t->s = larger;
        t->room = 2 * need;
    }
    va_start(list, format);
    vsnprintf(t->s + t->n, t->room - t->n, format, list);
    va_end(list);
    t->n += (size_t)more;
}

static void add_number(text *t, const char *before, double x)
{
    char number[NUMBER];
    rh_param_format(&plain, x, number, sizeof number);
    add(t, "%s%s", before, number);
}

void rh_plan__clear_lines(rh_plan_book *book)
{
    for (int i = 0; i < book->nline; i++) {
        rh_free(book->line[i].key);
        rh_free(book->line[i].value);
    }
    book->nline = 0;
}

// ---------------------------------------------------------------------------- entries

// What is entered, for as long as memory lasts.
typedef struct entering {
    rh_plan *plan;
    bool lost;
} entering;

static rh_plan__line *new_line(rh_plan_book *book)
{
    if (book->nline == book->line_room) {
        int room = book->line_room ? 2 * book->line_room : 64;
        rh_plan__line *larger = rh_alloc((size_t)room, sizeof *larger);
        if (!larger)
            return NULL;
        if (book->nline)
            memcpy(larger, book->line, (size_t)book->nline * sizeof *larger);
        rh_free(book->line);
        book->line = larger;
        book->line_room = room;
    }
    book->line[book->nline] = (rh_plan__line){0};
    return &book->line[book->nline];
}

// section: with its dot, or "".
static rh_plan__line *enter(entering *e, const char *section, const char *name, text *value)
{
    text key = {0};
    rh_plan__line *line = e->lost ? NULL : new_line(e->plan->book);
    add(&key, "%s%s", section, name);
    if (!line || key.lost || value->lost) {
        rh_free(key.s);
        rh_free(value->s);
        e->lost = true;
        return NULL;
    }
    line->key = key.s;
    line->value = value->s;
    e->plan->book->nline++;
    return line;
}

static void enter_word(entering *e, const char *section, const char *name, const char *word)
{
    text t = {0};
    add(&t, "%s", word);
    enter(e, section, name, &t);
}

static rh_plan__line *enter_whole(entering *e, const char *section, const char *name, int64_t n)
{
    text t = {0};
    add(&t, "%" PRId64, n);
    return enter(e, section, name, &t);
}

static void enter_number(entering *e, const char *section, const char *name, double x)
{
    text t = {0};
    add_number(&t, "", x);
    enter(e, section, name, &t);
}

static void enter_param(entering *e, const char *section, const rh_param *p, double x)
{
    char value[64];
    rh_param_format(p, x, value, sizeof value);
    enter_word(e, section, p->name, value);
}

static void enter_table(entering *e, const char *section, const rh_param *table, int nparam,
                        const double *value)
{
    for (int i = 0; i < nparam; i++)
        enter_param(e, section, &table[i], value[i]);
}

// ---------------------------------------------------------------------------- the space

// "{distribution: log_uniform_values, min: 0.001, max: 1}"
static void enter_dim(entering *e, int k)
{
    static const char *const around[] = {
        [RH_FORM_PLAIN] = "", [RH_FORM_ONE_MINUS] = "{one_minus: ", [RH_FORM_POW2] = "{pow2: "};
    const rh_plan *plan = e->plan;
    const rh_dim *dim = &plan->space.dim[k];
    const rh_param *p = &plan->agent->param[plan->dim[k].param];
    rh_form form = plan->dim[k].form;
    bool logs = dim->scale == RH_LOG, whole = dim->step == 1.0 && !logs;
    char value[64];
    text t = {0};
    add(&t, "%s", around[form]);
    if (dim->kind == RH_DIM_RANGE) {
        const char *how = dim->step == 0.0 ? (logs ? "log_uniform_values" : "uniform")
                          : logs           ? "q_log_uniform_values"
                          : whole && dim->lo == floor(dim->lo) && dim->hi == floor(dim->hi)
                              ? "int_uniform"
                              : "q_uniform";
        add(&t, "{distribution: %s", how);
        add_number(&t, ", min: ", dim->lo);
        add_number(&t, ", max: ", dim->hi);
        if (*how == 'q')
            add_number(&t, ", q: ", dim->step);
        add(&t, "}");
    } else {
        add(&t, "{values: [");
        for (int i = 0; i < dim->nvalue; i++) {
            rh_param_format(form == RH_FORM_PLAIN ? p : &plain, dim->value[i], value,
                            sizeof value);
            add(&t, "%s%s", i ? ", " : "", value);
        }
        add(&t, "]}");
    }
    if (form != RH_FORM_PLAIN)
        add(&t, "}");
    enter(e, "parameters.", p->name, &t);
}

static void enter_agent(entering *e)
{
    const rh_plan *plan = e->plan;
    const rh_agent_type *agent = plan->agent;
    enter_word(e, "agent.", "name", agent->name);
    for (int i = 0; i < agent->nparam; i++) {
        bool searched = false;
        for (int k = 0; k < plan->space.ndim; k++)
            searched = searched || plan->dim[k].param == i;
        if (!searched)
            enter_param(e, "agent.", &agent->param[i], plan->hp[i]);
    }
    for (int k = 0; k < plan->space.ndim; k++)
        enter_dim(e, k);
}

// ---------------------------------------------------------------------------- the rest

static void enter_method(entering *e)
{
    const rh_plan *plan = e->plan;
    const rh_search_type *method = plan->method;
    char section[64];
    enter_word(e, "", "method", method->name);
    snprintf(section, sizeof section, "%s.", method->name);
    enter_table(e, section, method->param, method->nparam, plan->method_param);
    bool bayes = strcmp(method->name, "bayes") == 0;
    if (!method->finite) {
        rh_plan__line *line = enter_whole(e, "budget.", "trials", plan->trials);
        if (line)
            line->open = bayes || strcmp(method->name, "random") == 0;
    }
    if (bayes)
        enter_whole(e, "budget.", "batch", plan->batch);
}

static void enter_evaluation(entering *e)
{
    const rh_plan *plan = e->plan;
    static const char section[] = "evaluation.";
    text cutoff = {0};
    int n;
    if (plan->nstep > 0)
        enter_whole(e, section, "steps", plan->nstep);
    else
        enter_word(e, section, "steps", "auto");
    enter_whole(e, section, "runs", plan->nrun);
    enter_word(e, section, "criterion", rh_criterion_names(&n)[plan->criterion]);
    enter_word(e, section, "across", rh_across_names(&n)[plan->across]);
    enter_word(e, section, "pool", rh_pool_names(&n)[plan->pool]);
    if (plan->cutoff == 0 || plan->cutoff == INT64_MAX)
        add(&cutoff, "%s", plan->cutoff == 0 ? "auto" : "never");
    else
        add(&cutoff, "%s%" PRId64, plan->cutoff < 0 ? "1/" : "",
            plan->cutoff < 0 ? -plan->cutoff : plan->cutoff);
    enter(e, section, "cutoff", &cutoff);
    enter_word(e, section, "cutoff_as",
               plan->cutoff_rule == RH_TERMINATE ? "terminate" : "truncate");
    enter_whole(e, section, "curve", plan->ncurve);
}

static void enter_world(entering *e)
{
    static const char *const resample[] = {[RH_RESAMPLE_ALL] = "all",
                                           [RH_RESAMPLE_SUBSET] = "subset",
                                           [RH_RESAMPLE_BOOTSTRAP] = "bootstrap"};
    static const char *const episodes[] = {
        [RH_EPISODES_AUTO] = "auto", [RH_EPISODES_END] = "no", [RH_EPISODES_CONTINUE] = "yes"};
    const rh_plan *plan = e->plan;
    enter_word(e, "model.", "kind", plan->model->name);
    enter_table(e, "model.", plan->model->param, plan->model->nparam, plan->model_param);
    enter_whole(e, "model.", "members", plan->nmember);
    enter_word(e, "model.", "resample", resample[plan->resample]);
    if (plan->resample == RH_RESAMPLE_SUBSET)
        enter_number(e, "model.", "share", plan->share);
    enter_word(e, "representation.", "kind", plan->repr ? plan->repr->name : "auto");
    if (plan->repr)
        enter_table(e, "representation.", plan->repr->param, plan->repr->nparam,
                    plan->repr_param);
    enter_word(e, "representation.", "joint", plan->joint ? "yes" : "no");
    if (plan->task_of) {
        enter_word(e, "task.", "env", plan->task_of->name);
        enter_table(e, "task.", plan->task_of->param, plan->task_of->nparam, plan->task_opt);
    }
    if (isnan(plan->gamma))
        enter_word(e, "", "gamma", "auto");
    else
        enter_number(e, "", "gamma", plan->gamma);
    enter_word(e, "", "continuing", episodes[plan->episodes]);
    for (int i = 0; i < plan->nrange; i++) {
        text t = {0};
        add_number(&t, "[", plan->range[i].lo);
        add_number(&t, ", ", plan->range[i].hi);
        add(&t, "]");
        enter(e, "ranges.", plan->range[i].sensor, &t);
    }
}

rh_status rh_plan__enter(rh_plan *plan, rh_error *err)
{
    entering e = {.plan = plan};
    rh_plan__clear_lines(plan->book);
    enter_word(&e, "", "preset", plan->paper ? "paper" : "none");
    enter_agent(&e);
    enter_method(&e);
    enter_evaluation(&e);
    if (!rh_plan__is_fitted(plan))
        enter_world(&e);
    enter_whole(&e, "confirm.", "settings", plan->confirm_settings);
    if (plan->confirm_settings) {
        enter_whole(&e, "confirm.", "members", plan->confirm_members);
        enter_whole(&e, "confirm.", "runs", plan->confirm_runs);
    }
    enter_whole(&e, "", "seed", (int64_t)plan->seed);
    return e.lost ? rh_plan__no_memory(err) : RH_OK;
}

bool rh_plan_entry(const rh_plan *plan, int i, const char **key, const char **value, bool *open)
{
    const rh_plan_book *book = plan->book;
    if (i < 0 || i >= book->nline)
        return false;
    *key = book->line[i].key;
    *value = book->line[i].value;
    *open = book->line[i].open;
    return true;
}

// ---------------------------------------------------------------------------- a file

static bool is_simple(const char *word)
{
    static const char *const special[] = {"true", "false", "yes", "no", "on",
                                          "off",  "null",  "y",   "n"};
    for (int i = 0; i < 9; i++)
        if (strcmp(word, special[i]) == 0)
            return false;
    return *word && !strchr("0123456789-.", *word) &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") ==
               strlen(word);
}

// A letter of UTF-8 that cannot stand in YAML as it is, or would end a line: its number and
// bytes (n). 0: there is none.
static unsigned hidden_letter(const unsigned char *c, int *n)
{
    if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) { // controls
        *n = 2;
        return c[1];
    }
    bool ends = c[0] == 0xE2 && c[1] == 0x80 && (c[2] == 0xA8 || c[2] == 0xA9);
    bool order = c[0] == 0xEF && c[1] == 0xBB && c[2] == 0xBF;
    *n = 3;
    return ends ? 0x2000U + (c[2] & 0x3FU) : order ? 0xFEFFU : 0U;
}

// A text of the user's, in quotes where it needs them.
static void print_text(FILE *out, const char *word)
{
    int n = 1;
    unsigned letter;
    if (is_simple(word)) {
        fputs(word, out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)word; *c; c += n) {
        letter = hidden_letter(c, &n);
        if (letter) {
            fprintf(out, "\\u%04X", letter);
            continue;
        }
        n = 1;
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 32 || *c == 127)
            fprintf(out, "\\x%02X", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

rh_status rh_plan_write(const rh_plan *plan, FILE *out, rh_error *err)
{
    const struct {
        const char *key, *value;
    } head[] = {{"name", plan->name}, {"data", plan->data}, {"starts", plan->starts}};
    const rh_plan_book *book = plan->book;
    const char *section = "";
    size_t length = 0;
    for (int i = 0; i < 3; i++)
        if (head[i].value) {
            fprintf(out, "%s: ", head[i].key);
            print_text(out, head[i].value);
            fputc('\n', out);
        }
    for (int i = 0; i < book->nline; i++) {
        const char *key = book->line[i].key, *dot = strchr(key, '.');
        size_t n = dot ? (size_t)(dot - key) : 0;
        if (dot && (n != length || strncmp(section, key, n) != 0))
            fprintf(out, "%.*s:\n", (int)n, key);
        section = key;
        length = n;
        fputs(dot ? "  " : "", out);
        print_text(out, dot ? dot + 1 : key);
        fprintf(out, ": %s\n", book->line[i].value);
    }
    if (ferror(out))
        return rh_fail(err, RH_EIO, "plan: cannot write");
    return RH_OK;
}
