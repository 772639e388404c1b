// journal_head.c - the first lines of a journal: the study, and whether a plan matches it.
//
//     op 0   study_name, directions: larger is better
//     op 2   rehearse: version        log: path           fingerprint: 16 hex digits
//            steps, columns: of the log, to say how another one differs
//            starts, model: the same  ncurve              plan: {key: text}
//            plugins: the same, of the plug-ins that are used; left out without any
//
// 1. Names and paths are for people: a log that was moved is the same log, by its fingerprint.
//    Everything else must be equal, except open entries of the plan.
// 2. Our own lines are written and read back before the comparison, so that what writing does
//    to a text (bytes that are not UTF-8) happens to both sides.
// 3. The plan is the last line of the head and makes it complete. A study that is resumed with
//    other open entries appends its plan; the last one counts.

#include "journal.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 44 // bytes of a value in a message

// ---------------------------------------------------------------------------- lines

static void text_attr(rh_text *text, const char *key, const char *value)
{
    rh_journal__study_attr(text, 0, key);
    rh_text__json(text, value);
    rh_journal__end_attr(text);
}

// As text: most readers of JSON numbers keep 53 bits.
static void hash_attr(rh_text *text, const char *key, uint64_t fingerprint)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    text_attr(text, key, digits);
}

// The plan as {key: text}.
static void add_plan(rh_text *text, const rh_plan *plan)
{
    const char *key, *value;
    bool open;
    rh_text__add(text, "{");
    for (int i = 0; rh_plan_entry(plan, i, &key, &value, &open); i++) {
        rh_text__add(text, i > 0 ? "," : "");
        rh_text__json(text, key);
        rh_text__add(text, ":");
        rh_text__json(text, value);
    }
    rh_text__add(text, "}");
}

void rh_journal__plan_line(rh_text *text, const rh_journal__head *head)
{
    rh_journal__study_attr(text, 0, "plan");
    add_plan(text, head->plan);
    rh_journal__end_attr(text);
}

void rh_journal__study_line(rh_text *text, const char *name)
{
    rh_journal__begin_line(text, 0);
    rh_text__add(text, ",\"study_name\":");
    rh_text__json(text, name);
    rh_text__add(text, ",\"directions\":[2]");
    rh_journal__end_line(text);
}

// "temp, level, pump": sensors and numbers of an action.
static void add_columns(rh_text *text, const rh_log *log)
{
    for (int i = 0; i < log->nobs + log->nact; i++)
        rh_text__format(text, "%s%s", i ? ", " : "",
                        i < log->nobs ? log->obs_name[i] : log->act_name[i - log->nobs]);
}

// What people know of a log.
static void data_lines(rh_text *text, const rh_log *log)
{
    rh_text columns = {0};
    rh_journal__study_attr(text, 0, "steps");
    rh_text__whole(text, log->n);
    rh_journal__end_attr(text);
    add_columns(&columns, log);
    text->bad = text->bad || columns.bad;
    text_attr(text, "columns", columns.data ? columns.data : "");
    rh_text__clear(&columns);
}

void rh_journal__head_lines(rh_text *text, const rh_journal__head *head)
{
    rh_journal__study_line(text, head->name ? head->name : "study");
    text_attr(text, "rehearse", rh_version());
    text_attr(text, "log", head->log ? head->log : "");
    hash_attr(text, "fingerprint", head->fingerprint);
    if (head->data)
        data_lines(text, head->data);
    hash_attr(text, "starts", head->starts);
    hash_attr(text, "model", head->model);
    if (head->plugins)
        hash_attr(text, "plugins", head->plugins);
    rh_journal__study_attr(text, 0, "ncurve");
    rh_text__whole(text, head->ncurve);
    rh_journal__end_attr(text);
    rh_journal__plan_line(text, head);
}

bool rh_journal__head_whole(const json_t *attr)
{
    return attr && json_is_object(json_object_get(attr, "plan"));
}

// ---------------------------------------------------------------------------- differences

typedef struct comparison {
    char first[300]; // the first difference
    int n;           // number of differences
} comparison;

// Where to start showing two long values, so that their first difference is seen.
static size_t shown_from(const char *was, const char *is)
{
    size_t n = 0;
    while (was[n] && was[n] == is[n])
        n++;
    if (n + SHOWN / 4 < SHOWN || (strlen(was) < SHOWN && strlen(is) < SHOWN))
        return 0;
    n -= SHOWN / 4;
    while (n > 0 && ((unsigned char)was[n] & 0xc0) == 0x80) // not within a character
        n--;
    return n;
}

static void differ(comparison *c, const char *key, const char *was, const char *is)
{
    char shown[3][SHOWN + 3] = {"", "...", "..."};
    if (c->n++ > 0)
        return;
    size_t from = was && is ? shown_from(was, is) : 0, dots = from ? 3 : 0;
    rh_text__printable(key, shown[0], SHOWN);
    rh_text__printable(was ? was + from : "", shown[1] + dots, SHOWN);
    rh_text__printable(is ? is + from : "", shown[2] + dots, SHOWN);
    if (!was)
        snprintf(c->first, sizeof c->first, "the study has no %s, the plan has %s = %s",
                 shown[0], shown[0], shown[2]);
    else if (!is)
        snprintf(c->first, sizeof c->first, "the study has %s = %s, the plan has none",
                 shown[0], shown[1]);
    else
        snprintf(c->first, sizeof c->first, "the study has %s = %s, the plan has %s", shown[0],
                 shown[1], shown[2]);
}

// A fingerprint; 0: none.
static void compare_hash(comparison *c, const json_t *attr, const char *key, const char *what,
                         uint64_t hash)
{
    char is[20];
    const char *found = json_string_value(json_object_get(attr, key));
    snprintf(is, sizeof is, "%016" PRIx64, hash);
    if ((!found || strcmp(found, is) != 0) && c->n++ == 0)
        snprintf(c->first, sizeof c->first, "the study has another %s (%.16s), this one is %s",
                 what, found && strspn(found, "0") < 16 ? found : "none", hash ? is : "none");
}

// "; steps 641, this one 700", where they differ.
static void tell(rh_text *text, const char *what, const char *was, const char *is)
{
    char shown[2][2 * SHOWN];
    if (!was || strcmp(was, is) == 0)
        return;
    size_t from = shown_from(was, is);
    rh_text__printable(was + from, shown[0], SHOWN);
    rh_text__printable(is + from, shown[1], SHOWN);
    rh_text__format(text, "%s %s %s%s, this one %s%s", text->n ? ";" : "", what,
                    from ? "..." : "", shown[0], from ? "..." : "", shown[1]);
}

// How another log differs: its path, steps, columns and, always, fingerprint.
static void tell_logs(rh_text *text, const json_t *attr, const rh_journal__head *head,
                      const char *is)
{
    const json_t *steps = json_object_get(attr, "steps");
    rh_text columns = {0};
    char count[2][24];
    tell(text, "path", json_string_value(json_object_get(attr, "log")),
         head->log ? head->log : "");
    if (head->data && json_is_integer(steps)) {
        snprintf(count[0], sizeof count[0], "%" PRId64, (int64_t)json_integer_value(steps));
        snprintf(count[1], sizeof count[1], "%" PRId64, head->data->n);
        tell(text, "steps", count[0], count[1]);
        add_columns(&columns, head->data);
        tell(text, "columns", json_string_value(json_object_get(attr, "columns")),
             columns.data ? columns.data : "");
    }
    tell(text, "fingerprint", json_string_value(json_object_get(attr, "fingerprint")), is);
    rh_text__clear(&columns);
}

// The log, the starts and the model, which are not in the plan.
static void compare_logs(comparison *c, const json_t *attr, const rh_journal__head *head)
{
    char is[20];
    const char *found = json_string_value(json_object_get(attr, "fingerprint"));
    snprintf(is, sizeof is, "%016" PRIx64, head->fingerprint);
    if (!found || strcmp(found, is) != 0) {
        rh_text how = {0};
        tell_logs(&how, attr, head, is);
        snprintf(c->first, sizeof c->first, "the study is of another log:%.270s",
                 how.data ? how.data : "");
        c->n++;
        rh_text__clear(&how);
    }
    compare_hash(c, attr, "starts", "log of starts", head->starts);
    compare_hash(c, attr, "model", "model", head->model);
    if (head->plugins || json_object_get(attr, "plugins"))
        compare_hash(c, attr, "plugins", "build of its plug-ins", head->plugins);
}

static void compare_whole(comparison *c, const json_t *attr, const char *key, int64_t is)
{
    char text[2][24];
    int64_t was = json_integer_value(json_object_get(attr, key));
    snprintf(text[0], sizeof text[0], "%" PRId64, was);
    snprintf(text[1], sizeof text[1], "%" PRId64, is);
    if (was != is)
        differ(c, key, text[0], text[1]);
}

// The plan as it would be read back. NULL: out of memory.
static json_t *plan_of(const rh_journal__head *head)
{
    rh_text text = {0};
    add_plan(&text, head->plan);
    json_t *plan = text.bad ? NULL : json_loadb(text.data, text.n, 0, NULL);
    rh_text__clear(&text);
    return plan;
}

// First the entries of this plan, in order, then those that only the journal has.
static void compare_plans(comparison *c, json_t *found, const json_t *plan,
                          const rh_plan *entries, bool *grown)
{
    const char *key, *value;
    bool open;
    for (int i = 0; rh_plan_entry(entries, i, &key, &value, &open); i++) {
        const char *was = json_string_value(json_object_get(found, key));
        const char *is = json_string_value(json_object_get(plan, key));
        bool same = was && is && strcmp(was, is) == 0;
        if (!same && open)
            *grown = true;
        else if (!same)
            differ(c, key, was, is ? is : value);
    }
    void *at = json_object_iter(found);
    for (; at; at = json_object_iter_next(found, at)) {
        const char *name = json_object_iter_key(at);
        if (json_object_get(plan, name))
            continue;
        if (strcmp(name, "accept") == 0) // it changes no run
            *grown = true;
        else
            differ(c, name, json_string_value(json_object_iter_value(at)), NULL);
    }
}

rh_status rh_journal__compare(const json_t *attr, const rh_journal__head *head,
                              const char *path, bool *grown, rh_error *err)
{
    comparison c = {.n = 0};
    json_t *plan = plan_of(head);
    if (!plan)
        return rh_base__no_memory(err, path);
    *grown = false;
    compare_logs(&c, attr, head);
    compare_plans(&c, json_object_get(attr, "plan"), plan, head->plan, grown);
    compare_whole(&c, attr, "ncurve", head->ncurve);
    json_decref(plan);
    if (c.n == 0)
        return RH_OK;

    char more[48] = "";
    if (c.n > 1)
        snprintf(more, sizeof more, " (and %d more difference%s)", c.n - 1, c.n > 2 ? "s" : "");
    const char *tail = strlen(path) > 100 ? path + strlen(path) - 100 : path;
    return rh_fail(err, RH_EINVAL, "%s: %s%s; use another folder or the same options", tail,
                   c.first, more);
}
