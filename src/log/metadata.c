// metadata.c - reads and writes the JSON metadata of a Minari dataset.
//
// A space is a JSON document, usually inside a JSON string:
//
//     {"type": "Box", "dtype": "float32", "shape": [3], "low": [-Infinity, ...], "high": [...]}
//     {"type": "Discrete", "n": 3, "start": 0}      {"type": "MultiBinary", "n": 4}
//     {"type": "MultiDiscrete", "nvec": [2, 3]}     {"type": "Text", ...}
//     {"type": "Dict", "subspaces": {...}}          {"type": "Tuple", "subspaces": [...]}
//
// 1. Python writes Infinity and NaN, which JSON does not allow. They occur in bounds, which are
//    not needed, so each becomes a 0 and blanks: positions in messages stay correct.
// 2. A Dict is flattened in its written order, which is Gymnasium's own.
// 3. jansson allocates with malloc(). Using rh_alloc() would change it for the whole program.

#include "metadata.h"
#include "arrays.h"
#include "base/base_internal.h"
#include "base/number.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COMBINATIONS (1 << 20) // more are counted as so many
#define DEEPEST 16

// ---------------------------------------------------------------------------- JSON

// Replace Infinity and NaN outside of strings by 0.
static void replace_words(char *text, size_t n)
{
    static const char *const word[] = {"-Infinity", "Infinity", "NaN"};
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        for (int k = 0; k < 3 && !quoted && i < n; k++) {
            size_t length = strlen(word[k]);
            if (n - i < length || memcmp(text + i, word[k], length) != 0)
                continue;
            memset(text + i, ' ', length);
            text[i] = '0';
        }
    }
}

static rh_status load(json_t **out, const char *text, size_t n, const char *path, rh_error *err)
{
    json_error_t why;
    char *copy = rh_alloc(n + 1, 1);
    if (!copy)
        return rh_base__no_memory(err, path);
    memcpy(copy, text, n);
    replace_words(copy, n);
    *out = json_loadb(copy, n, JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    rh_free(copy);
    if (!*out)
        return rh_log__one_line(rh_fail(err, RH_EFORMAT, "%s:%d: not JSON: %.100s",
                                        rh_base__path_tail(path), why.line > 0 ? why.line : 1,
                                        why.text),
                                err);
    return RH_OK;
}

// ---------------------------------------------------------------------------- spaces

typedef struct walk {
    rh_minari__space *space;
    const char *path;
    rh_error *err;
} walk;

static rh_status read_space(const walk *w, const json_t *json, const char *at, const char *name,
                            int depth);

// Count the numbers in nested lists.
static int64_t count_numbers(const json_t *json, int depth)
{
    if (!json_is_array(json))
        return 1;
    int64_t n = 0;
    for (size_t i = 0; depth < DEEPEST && i < json_array_size(json); i++)
        n += count_numbers(json_array_get(json, i), depth + 1);
    return n;
}

// The product of the numbers in nested lists, at most MOST_COMBINATIONS; 0 if one is below 1.
static int64_t combine(const json_t *json, int depth)
{
    int64_t n = 1;
    if (!json_is_array(json))
        n = json_integer_value(json);
    for (size_t i = 0; depth < DEEPEST && i < json_array_size(json) && n > 0; i++) {
        int64_t d = combine(json_array_get(json, i), depth + 1);
        n = d > 0 && n > MOST_COMBINATIONS / d ? MOST_COMBINATIONS : n * d;
    }
    return n < 1 ? 0 : n < MOST_COMBINATIONS ? n : MOST_COMBINATIONS;
}

// The product of a list of dimensions, or a single dimension; -1 if it is neither.
static int64_t product(const json_t *json)
{
    int64_t n = 1;
    if (json_is_integer(json))
        return json_integer_value(json) >= 0 ? json_integer_value(json) : -1;
    for (size_t i = 0; json_is_array(json) && i < json_array_size(json); i++) {
        int64_t d = json_integer_value(json_array_get(json, i));
        if (!json_is_integer(json_array_get(json, i)) || d < 0 || d > 1 << 28 ||
            (n > 0 && d > (INT64_C(1) << 31) / n))
            return -1;
        n *= d;
    }
    return json_is_array(json) ? n : -1;
}

static bool is_image(const json_t *box)
{
    const json_t *shape = json_object_get(box, "shape");
    const char *type = json_string_value(json_object_get(box, "dtype"));
    size_t rank = json_array_size(shape);
    return type && strcmp(type, "uint8") == 0 && (rank == 2 || rank == 3) &&
           json_integer_value(json_array_get(shape, 0)) >= 32 &&
           json_integer_value(json_array_get(shape, 1)) >= 32;
}

static rh_status refuse(const walk *w, const char *name, const char *what)
{
    char place[RH_LEAF__NAME + 16] = "the space";
    if (*name)
        snprintf(place, sizeof place, "the space %.199s", name);
    return rh_log__one_line(
        rh_fail(w->err, RH_EFORMAT, "%s: %s %s", rh_base__path_tail(w->path), place, what),
        w->err);
}

// Fill a leaf from its JSON; false if it is incomplete.
static bool fill_leaf(rh_log__leaf *leaf, const json_t *json, const char *type)
{
    const json_t *n = json_object_get(json, "n"), *start = json_object_get(json, "start");
    if (strcmp(type, "Box") == 0) {
        leaf->kind = RH_SPACE_BOX;
        leaf->width = product(json_object_get(json, "shape"));
        leaf->image = is_image(json);
    } else if (strcmp(type, "Discrete") == 0) {
        leaf->kind = RH_SPACE_DISCRETE;
        leaf->width = 1;
        leaf->n = json_integer_value(n);
        leaf->start = json_integer_value(start);
        return json_is_integer(n) && leaf->n >= 1 && (!start || json_is_integer(start)) &&
               llabs(leaf->start) < INT64_C(1) << 52 && leaf->n < INT64_C(1) << 52;
    } else if (strcmp(type, "MultiDiscrete") == 0) {
        leaf->kind = RH_SPACE_MULTI_DISCRETE;
        leaf->width = json_is_array(json_object_get(json, "nvec"))
                          ? count_numbers(json_object_get(json, "nvec"), 0)
                          : -1;
        leaf->n = combine(json_object_get(json, "nvec"), 0);
    } else if (strcmp(type, "MultiBinary") == 0) {
        leaf->kind = RH_SPACE_MULTI_BINARY;
        leaf->width = product(n);
        leaf->n = leaf->width < 20 ? INT64_C(1) << (leaf->width > 0 ? leaf->width : 0)
                                   : MOST_COMBINATIONS;
    } else if (strcmp(type, "Text") == 0) {
        leaf->kind = RH_SPACE_TEXT;
        leaf->width = 0;
    } else {
        return false;
    }
    return leaf->width >= 0;
}

static rh_status read_subspaces(const walk *w, const json_t *json, const char *at,
                                const char *name, int depth)
{
    const json_t *all = json_object_get(json, "subspaces");
    char below[2 * RH_LEAF__NAME], called[2 * RH_LEAF__NAME];
    rh_status rc = RH_OK;
    if (json_is_object(all)) {
        for (void *i = json_object_iter((json_t *)(uintptr_t)all); i && !rc;
             i = json_object_iter_next((json_t *)(uintptr_t)all, i)) {
            const char *key = json_object_iter_key(i);
            snprintf(below, sizeof below, "%s%s%.199s", at, *at ? "/" : "", key);
            snprintf(called, sizeof called, "%s%s%.199s", name, *name ? "." : "", key);
            rc = strlen(key) < RH_LEAF__NAME
                     ? read_space(w, json_object_iter_value(i), below, called, depth + 1)
                     : refuse(w, called, "has a name that is too long");
        }
        return rc;
    }
    if (!json_is_array(all))
        return refuse(w, name, "has no subspaces, expected some in a Dict or Tuple");
    for (size_t i = 0; i < json_array_size(all) && !rc; i++) {
        snprintf(below, sizeof below, "%s%s_index_%zu", at, *at ? "/" : "", i);
        snprintf(called, sizeof called, "%s%s%zu", name, *name ? "." : "", i);
        rc = read_space(w, json_array_get(all, i), below, called, depth + 1);
    }
    return rc;
}

static rh_status read_space(const walk *w, const json_t *json, const char *at, const char *name,
                            int depth)
{
    json_t *inner = NULL;
    rh_status rc = RH_OK;
    if (depth > DEEPEST || strlen(at) >= RH_LEAF__NAME || strlen(name) >= RH_LEAF__NAME)
        return refuse(w, "", "is nested too deeply");
    if (json_is_string(json)) { // a document inside a string
        rc = load(&inner, json_string_value(json), json_string_length(json), w->path, w->err);
        json = inner;
    }
    const char *type = json_string_value(json_object_get(json, "type"));
    if (rc || !type) {
        rc = rc ? rc : refuse(w, name, "has no type");
        goto done;
    }
    if (strcmp(type, "Dict") == 0 || strcmp(type, "Tuple") == 0) {
        rc = read_subspaces(w, json, at, name, depth);
        goto done;
    }

    rh_log__leaf leaf = {.kind = RH_SPACE_UNKNOWN};
    if (!fill_leaf(&leaf, json, type)) {
        char what[120], shown[48];
        snprintf(what, sizeof what, "of type %s cannot be used",
                 rh_text__printable(type, shown, sizeof shown));
        rc = refuse(w, name, what);
    } else if (w->space->nleaf == RH_MAX_OBS) {
        rc = refuse(w, "", "has too many parts");
    } else if (leaf.width > 0 || leaf.kind == RH_SPACE_TEXT) {
        memcpy(leaf.path, at, strlen(at) + 1);
        memcpy(leaf.name, name, strlen(name) + 1);
        w->space->leaf[w->space->nleaf++] = leaf;
    }

done:
    json_decref(inner);
    return rc;
}

static rh_status take_space(rh_minari__space *out, const json_t *json, const char *path,
                            rh_error *err)
{
    if (!json)
        return RH_OK;
    out->leaf = rh_alloc(RH_MAX_OBS, sizeof *out->leaf);
    if (!out->leaf)
        return rh_base__no_memory(err, path);
    walk w = {out, path, err};
    return read_space(&w, json, "", "", 0);
}

rh_status rh_metadata__parse_space(rh_minari__space *out, const char *text, size_t n,
                                   const char *path, rh_error *err)
{
    json_t *json = NULL;
    rh_status rc = load(&json, text, n, path, err);
    if (!rc)
        rc = take_space(out, json, path, err);
    json_decref(json);
    return rc;
}

// ---------------------------------------------------------------------------- metadata.json

rh_status rh_metadata__parse(rh_metadata *out, const char *text, size_t n, const char *path,
                             rh_error *err)
{
    json_t *json = NULL;
    rh_status rc = load(&json, text, n, path, err);
    if (!rc && !json_is_object(json))
        rc =
            rh_fail(err, RH_EFORMAT, "%s: not an object, expected {\"observation_space\": ...}",
                    rh_base__path_tail(path));
    if (rc)
        goto done;
    const char *format = json_string_value(json_object_get(json, "data_format"));
    const json_t *jpeg = json_object_get(json, "jpeg_encoding");
    snprintf(out->format, sizeof out->format, "%.15s", format ? format : "");
    out->jpeg = !jpeg || !json_is_false(jpeg);
    out->nepisode = json_integer_value(json_object_get(json, "total_episodes"));
    rc = take_space(&out->observation, json_object_get(json, "observation_space"), path, err);
    if (!rc)
        rc = take_space(&out->action, json_object_get(json, "action_space"), path, err);

done:
    json_decref(json);
    return rc;
}

void rh_metadata__clear(rh_metadata *metadata)
{
    rh_free(metadata->observation.leaf);
    rh_free(metadata->action.leaf);
    *metadata = (rh_metadata){0};
}

// ---------------------------------------------------------------------------- our own

// A list of texts in one block; NULL if it is no such list.
static rh_status take_texts(const json_t *json, char ***text, int *n, const char *path,
                            rh_error *err)
{
    size_t count = json_array_size(json), size = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(json, i);
        if (!json_is_string(item))
            return RH_OK;
        size += strlen(json_string_value(item)) + 1;
    }
    if (count == 0 || count > RH_MAX_OBS)
        return RH_OK;
    *text = rh_alloc(1, (count + 1) * sizeof **text + size);
    if (!*text)
        return rh_base__no_memory(err, path);
    char *room = (char *)(*text + count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *item = json_string_value(json_array_get(json, i));
        size_t length = strlen(item) + 1;
        (*text)[i] = memcpy(room, item, length);
        room += length;
    }
    *n = (int)count;
    return RH_OK;
}

rh_status rh_metadata__parse_own(rh_metadata__own *out, const char *text, size_t n,
                                 const char *path, rh_error *err)
{
    json_t *json = NULL;
    rh_status rc = load(&json, text, n, path, err);
    if (rc)
        return rc;
    out->continuous = json_is_true(json_object_get(json, "continuous"));
    const char *reward = json_string_value(json_object_get(json, "reward_name"));
    rc = take_texts(json_object_get(json, "action_labels"), &out->label, &out->nlabel, path,
                    err);
    if (!rc)
        rc = take_texts(json_object_get(json, "obs_names"), &out->obs_name, &out->nobs_name,
                        path, err);
    if (!rc)
        rc = take_texts(json_object_get(json, "obs_units"), &out->obs_unit, &out->nobs_unit,
                        path, err);
    if (!rc)
        rc = take_texts(json_object_get(json, "action_names"), &out->act_name, &out->nact_name,
                        path, err);
    if (!rc && reward) {
        out->reward_name = rh_alloc(strlen(reward) + 1, 1);
        if (out->reward_name)
            memcpy(out->reward_name, reward, strlen(reward) + 1);
        else
            rc = rh_base__no_memory(err, path);
    }
    json_decref(json);
    return rc;
}

void rh_metadata__clear_own(rh_metadata__own *own)
{
    rh_free(own->label);
    rh_free(own->obs_name);
    rh_free(own->obs_unit);
    rh_free(own->act_name);
    rh_free(own->reward_name);
    *own = (rh_metadata__own){0};
}

// ---------------------------------------------------------------------------- writing

// A JSON string. Bytes that are not UTF-8 become '?'.
static json_t *json_text(const char *text)
{
    json_t *json = json_string(text);
    if (json)
        return json;
    char *copy = strdup(text);
    for (char *c = copy; copy && *c; c++)
        *c = (char)((unsigned char)*c < 128 ? *c : '?');
    json = copy ? json_string(copy) : NULL;
    free(copy);
    return json;
}

static json_t *json_texts(const char *const *text, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        if (json_array_append_new(list, json_text(text[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

// Set a key; false if memory runs out.
static bool put(json_t *json, const char *key, json_t *value)
{
    return json_object_set_new(json, key, value) == 0;
}

char *rh_metadata__print_own(const rh_log *log)
{
    json_t *json = json_object();
    bool all =
        put(json, "version", json_integer(1)) &&
        put(json, "continuous", json_boolean(log->naction == 0)) &&
        put(json, "obs_names", json_texts(log->obs_name, log->nobs)) &&
        put(json, "obs_units", json_texts(log->obs_unit, log->nobs)) &&
        put(json, "action_names", json_texts(log->act_name, log->nact)) &&
        put(json, "reward_name", json_text(log->reward_name)) &&
        (log->naction == 0 || put(json, "action_labels", json_texts(log->label, log->naction)));
    char *text = all ? json_dumps(json, 0) : NULL;
    json_decref(json);
    return text;
}

bool rh_metadata__in_a_row(const char *const *label, int n, int64_t *start)
{
    for (int i = 0; i < n; i++) {
        char again[24];
        double x;
        if (rh_number__read(label[i], strlen(label[i]), &x) != RH_NUMBER ||
            !(fabs(x) <= 0x1p52))
            return false;
        long long value = (long long)x;
        snprintf(again, sizeof again, "%lld", value);
        if (strcmp(label[i], again) != 0 || (i > 0 && value != *start + i))
            return false;
        if (i == 0)
            *start = value;
    }
    return n > 0;
}

char *rh_metadata__print_space(const rh_log *log, bool action)
{
    char *text = NULL;
    size_t size = 0;
    int64_t start = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    if (action && log->naction > 0) {
        if (!rh_metadata__in_a_row(log->label, log->naction, &start))
            start = 0;
        fprintf(stream,
                "{\"type\": \"Discrete\", \"dtype\": \"int64\", \"start\": %lld, \"n\": %d}",
                (long long)start, log->naction);
    } else {
        int n = action ? log->nact : log->nobs;
        fprintf(stream, "{\"type\": \"Box\", \"dtype\": \"float64\", \"shape\": [%d]", n);
        for (int side = 0; side < 2; side++) {
            fputs(side ? ", \"high\": [" : ", \"low\": [", stream);
            for (int i = 0; i < n; i++)
                fprintf(stream, "%s%sInfinity", i ? ", " : "", side ? "" : "-");
            fputs("]", stream);
        }
        fputs("}", stream);
    }
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *rh_metadata__print(const rh_log *log, const char *id, int64_t nepisode, double size)
{
    char *observation = rh_metadata__print_space(log, false);
    char *action = rh_metadata__print_space(log, true), *text = NULL;
    json_t *json = json_object();
    bool all = observation && action && put(json, "total_episodes", json_integer(nepisode)) &&
               put(json, "total_steps", json_integer(log->n)) &&
               put(json, "data_format", json_string("hdf5")) &&
               put(json, "jpeg_encoding", json_false()) &&
               put(json, "observation_space", json_string(observation)) &&
               put(json, "action_space", json_string(action)) &&
               put(json, "dataset_id", json_text(id)) &&
               put(json, "minari_version", json_string("0.5.0")) &&
               put(json, "dataset_size", json_real(size));
    if (all)
        text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    json_decref(json);
    free(observation);
    free(action);
    return text;
}
