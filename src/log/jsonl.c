// jsonl.c - reads logs from JSON: one object for each step, on a line each or in an array.
//
//     {"obs": [0.1, 0.2], "action": 1, "reward": 0.5, "info": {"power": 3}}
//
// The objects become a table in memory, which the CSV reader reads: roles, kinds and messages
// are the same for both.
//
// 1. Lists are numbered and objects joined by a point: obs_0, obs_1, info.power.
// 2. Two passes: the first collects the columns, so that a key may appear later than in the
//    first line. A key that a line lacks is missing there, as null is.
// 3. The table has one line more, its header. It counts as line 0, so that messages name the
//    lines of the file; and a line end inside a text becomes a blank.
// 4. An object may hold the columns of many steps, as RLlib's sample batches do: each of its
//    lists has an entry per step. It is one if it says so, or if its rewards are such a list.
// 5. An array is split into its objects, so that no more than one of them is in memory.

#include "base/base_internal.h"
#include "base/number.h"
#include "csv.h"
#include "intern.h"

#include <jansson.h>
#include <string.h>

#define DEPTH 8  // most objects and lists inside each other
#define NAME 400 // most bytes of a column's name

typedef struct json_table {
    rh_csv csv;     // the lines
    rh_intern name; // of the columns, owned
    json_t **value; // of the line, borrowed from it       (RH_INTERN__MOST)
    bool collects;  // the first pass
    bool array;     // the objects are in an array
    bool steps;     // every object is one step and begins on a line of its own
    char inner[80]; // the last list of objects inside an object: its name
    int64_t nobject;
    rh_text text; // the table
    rh_log__limit limit;
    rh_error *err;
} json_table;

static rh_status refuse(const json_table *t, const char *found, const char *expected)
{
    char shown[120];
    return rh_fail(t->err, RH_EFORMAT, "%s:%lld: %s, expected %s",
                   rh_base__path_tail(t->csv.path), (long long)t->csv.line,
                   rh_text__printable(found, shown, sizeof shown), expected);
}

static rh_status take_scalar(json_table *t, const char *name, json_t *value)
{
    size_t n = strlen(name);
    int at =
        t->collects ? rh_intern__add(&t->name, name, n) : rh_intern__find(&t->name, name, n);
    if (at >= 0) {
        t->value[at] = t->collects ? NULL : value;
        return RH_OK;
    }
    if (!t->collects)
        return refuse(t, "the file has changed", "the same in the second reading");
    if (at == -2)
        return refuse(t, "more than 10,000 different keys", "fewer");
    return rh_base__no_memory(t->err, t->csv.path);
}

// Visit what is inside a value; name (NAME bytes) is of length n.
static rh_status take_value(json_table *t, char *name, size_t n, json_t *value, int depth)
{
    const char *key;
    json_t *inner;
    size_t i;
    rh_status rc = RH_OK;
    if (!json_is_object(value) && !json_is_array(value))
        return take_scalar(t, name, value);
    if (depth == DEPTH)
        return refuse(t, "objects or lists inside more than 8 others", "fewer");
    if (json_is_object(value)) {
        json_object_foreach(value, key, inner)
        {
            if (n + strlen(key) + 2 > NAME)
                return refuse(t, "a key of more than 400 bytes", "a shorter one");
            snprintf(name + n, NAME - n, "%s%s", n ? "." : "", key);
            rc = take_value(t, name, strlen(name), inner, depth + 1);
            if (rc)
                return rc;
        }
    } else {
        if (depth == 1 && t->collects && json_is_object(json_array_get(value, 1)))
            snprintf(t->inner, sizeof t->inner, "%.70s", name);
        json_array_foreach(value, i, inner)
        {
            if (n + 24 > NAME)
                return refuse(t, "a key of more than 400 bytes", "a shorter one");
            snprintf(name + n, NAME - n, "_%zu", i);
            rc = take_value(t, name, strlen(name), inner, depth + 1);
            if (rc)
                return rc;
        }
    }
    name[n] = 0;
    return RH_OK;
}

// ---------------------------------------------------------------------------- the table

static void add_value(rh_text *text, const json_t *value)
{
    if (json_is_integer(value))
        rh_text__whole(text, json_integer_value(value));
    else if (json_is_real(value))
        rh_text__number(text, json_real_value(value));
    else if (json_is_boolean(value))
        rh_text__add(text, json_is_true(value) ? "true" : "false");
    else if (json_is_string(value))
        rh_csv__add_quoted(text, json_string_value(value));
}

// End a row of the table.
static rh_status end_row(json_table *t)
{
    for (int i = 0; i < t->name.n && !t->collects; i++) {
        rh_text__add(&t->text, i ? "," : "");
        add_value(&t->text, t->value[i]);
        t->value[i] = NULL;
    }
    if (t->collects)
        return RH_OK;
    rh_text__add(&t->text, "\n");
    return rh_log__within(&t->limit, (int64_t)t->text.n, t->csv.path, t->err);
}

// ---------------------------------------------------------------------------- batches

#define PACKED "BCJNG" // how LZ4 data begins in base64

static bool is_packed(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strncmp(text, PACKED, sizeof PACKED - 1) == 0;
}

// The object that holds the columns of many steps: the line or a part of it. NULL: it is one
// step. *rc: a batch that cannot be read.
static json_t *find_batch(const json_table *t, json_t *line, rh_status *rc)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    json_t *policies = json_object_get(line, "policy_batches"), *value;
    const char *key;
    *rc = RH_OK;
    if (type && strcmp(type, "MultiAgentBatch") == 0 && json_is_object(policies)) {
        if (json_object_size(policies) != 1)
            *rc = refuse(t, "an RLlib batch of several policies",
                         "one; write the policy_batches of each to a file of its own");
        json_object_foreach(policies, key, value)
        {
            return value;
        }
    }
    if (type && strcmp(type, "SampleBatch") == 0)
        return line;
    json_t *reward = json_object_get(line, "rewards");
    reward = reward ? reward : json_object_get(line, "reward");
    size_t n = json_array_size(reward);
    json_object_foreach(line, key, value)
    {
        if (json_is_array(value) && json_array_size(value) != n)
            return NULL;
    }
    return n > 1 ? line : NULL;
}

// The number of steps of a batch.
static rh_status measure_batch(const json_table *t, json_t *batch, size_t *n)
{
    const char *key;
    json_t *value;
    *n = 0;
    json_object_foreach(batch, key, value)
    {
        char text[160];
        if (is_packed(value) || is_packed(json_array_get(value, 0))) {
            snprintf(text, sizeof text, "%.60s is packed (LZ4, base64) as RLlib does", key);
            return refuse(t, text,
                          "numbers; write the batches with "
                          "output_compress_columns=[]");
        }
        size_t size = json_array_size(value);
        if (!json_is_array(value) || size == *n)
            continue;
        if (*n > 0) {
            snprintf(text, sizeof text, "a batch whose list %.60s has %zu entries", key, size);
            return refuse(t, text, "as many as in its other lists");
        }
        *n = size;
    }
    return *n > 0 ? RH_OK : refuse(t, "a batch without lists", "a list per column");
}

static rh_status take_batch(json_table *t, json_t *batch)
{
    size_t n;
    rh_status rc = measure_batch(t, batch, &n);
    t->steps = false;
    for (size_t i = 0; !rc && i < n; i++) {
        const char *key;
        json_t *value;
        json_object_foreach(batch, key, value)
        {
            char name[NAME];
            if (!json_is_array(value)) // what describes the batch
                continue;
            if (snprintf(name, sizeof name, "%s", key) >= NAME)
                return refuse(t, "a key of more than 400 bytes", "a shorter one");
            rc = take_value(t, name, strlen(name), json_array_get(value, i), 1);
            if (rc)
                return rc;
        }
        rc = end_row(t);
    }
    return rc;
}

// ---------------------------------------------------------------------------- all objects

static rh_status take_object(json_table *t, const char *text, size_t n)
{
    char name[NAME] = "";
    json_error_t why;
    rh_status rc;
    json_t *line = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!line && json_error_code(&why) == json_error_out_of_memory)
        return rh_base__no_memory(t->err, t->csv.path);
    if (!line)
        return refuse(t, why.text, t->array ? "a JSON object" : "one JSON object per line");
    json_t *batch = find_batch(t, line, &rc);
    if (!rc && batch)
        rc = json_is_object(batch) ? take_batch(t, batch)
                                   : refuse(t, "a batch that is no object", "one");
    else if (!rc)
        rc = json_is_object(line) ? take_value(t, name, 0, line, 0)
                                  : refuse(t, "a list", "one JSON object per line");
    if (!rc && !batch)
        rc = end_row(t);
    json_decref(line);
    return rc;
}

static rh_status take_objects(json_table *t)
{
    int64_t line = 0;
    for (;;) {
        char *text;
        size_t n;
        rh_status rc = t->array ? rh_csv__next_object(&t->csv, &text, &n, t->err)
                                : rh_csv__next(&t->csv, &text, &n, t->err);
        if (rc || !text)
            return rc;
        t->steps = t->steps && t->csv.line > line;
        for (line++; !t->collects && t->steps && line < t->csv.line; line++)
            rh_text__add(&t->text, "\n"); // a blank line
        line = t->csv.line;
        t->nobject++;
        rc = take_object(t, text, n);
        if (rc)
            return rc;
    }
}

static rh_status refuse_wrapped(const json_table *t)
{
    char found[120], expected[160];
    snprintf(found, sizeof found, "one object that holds all in the list %s", t->inner);
    snprintf(expected, sizeof expected, "an array, or an object per line as from jq -c '.%s[]'",
             t->inner);
    return refuse(t, found, expected);
}

static rh_status make_table(json_table *t)
{
    t->value = rh_alloc(RH_INTERN__MOST, sizeof *t->value);
    if (!rh_intern__init(&t->name) || !t->value)
        return rh_base__no_memory(t->err, t->csv.path);
    t->csv.lines = t->collects = t->steps = true;
    char first = 0;
    rh_status rc = rh_csv__peek(&t->csv, &first, t->err);
    t->array = first == '[';
    if (!rc)
        rc = take_objects(t);
    if (!rc && t->nobject == 1 && *t->inner)
        rc = refuse_wrapped(t);
    if (!rc && t->name.n == 0)
        rc = rh_fail(t->err, RH_EFORMAT, "%s: no keys, expected one JSON object per line",
                     rh_base__path_tail(t->csv.path));
    if (!rc)
        rc = rh_csv__rewind(&t->csv, t->err);
    if (rc)
        return rc;
    for (int i = 0; i < t->name.n; i++) {
        rh_text__add(&t->text, i ? "," : "");
        rh_csv__add_quoted(&t->text, t->name.name[i]);
    }
    rh_text__add(&t->text, "\n");
    t->collects = false;
    rc = take_objects(t);
    if (!rc && t->text.bad)
        rc = rh_base__no_memory(t->err, t->csv.path);
    return rc;
}

// Read the log from t->csv, which is then closed.
static rh_status read_opened(json_table *t, rh_log **out, rh_status rc,
                             const rh_log_options *opt)
{
    const char *path = t->csv.path;
    t->limit = rh_log__limit_of(opt, rh_csv__size(&t->csv));
    t->csv.opt = opt;
    if (!rc)
        rc = make_table(t);
    rh_csv__close(&t->csv);
    if (!rc)
        rc = rh_csv__read_made(out, t->text.data, t->text.n, path, t->steps ? 0 : -1, "jsonl",
                               opt, t->err);
    rh_intern__clear(&t->name);
    rh_free(t->value);
    rh_text__clear(&t->text);
    return rc;
}

static rh_status jsonl_read(rh_log **out, const char *path, const rh_log_options *opt,
                            rh_error *err)
{
    json_table t = {.err = err};
    return read_opened(&t, out, rh_csv__open(&t.csv, path, err), opt);
}

static rh_status jsonl_read_fd(rh_log **out, int fd, const char *path,
                               const rh_log_options *opt, rh_error *err)
{
    json_table t = {.err = err};
    return read_opened(&t, out, rh_csv__open_fd(&t.csv, fd, path, err), opt);
}

static bool jsonl_probe(const char *path, bool folder, const unsigned char *head, size_t n)
{
    (void)path;
    size_t at = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < n && (head[at] == ' ' || (head[at] >= 9 && head[at] <= 13)))
        at++;
    if (folder || at == n || (head[at] != '{' && head[at] != '['))
        return false;
    bool array = head[at] == '[';
    for (at += array;
         array && at < n && (head[at] == ' ' || (head[at] >= 9 && head[at] <= 13));)
        at++;
    return !array || (at < n && head[at] == '{');
}

const rh_log__format rh_log__jsonl = {
    .about = {"jsonl", "JSON: one object per step, on a line each or in an array", true, false},
    .probe = jsonl_probe,
    .read = jsonl_read,
    .read_fd = jsonl_read_fd,
};
