// csv_take.c - parses the fields of a row: numbers, flags, times, action names.
//
// Numbers are parsed in place; only quoted, missing and textual fields are scanned twice. A
// million rows of ten numbers of 17 digits take 0.32 s of processor time, two fifths of it for
// digits (14 ns a number); pandas takes 0.43 s (3.1.1) and 1.17 s (2.2.3): bench/bench_csv.c.
//
// 1. Where names are expected, a quoted field is a name unless empty: "NA" may be an action.
// 2. Among names, `none` and `-` are ambiguous: refused unless the caller declares all names.
// 3. A flag must be an integer, 0 for false: plants have trip codes.
// 4. An episode that returns after another one is refused: interleaved episodes would be
//    stitched together. Ids are remembered as 64-bit hashes; among a million of them, the odds
//    of refusing a good file are below one in ten million.

#include "base/base_internal.h"
#include "csv_reader.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- refusals

static rh_status refuse(const rh_csv__reader *r, int column, const rh_csv__field_info *field,
                        const char *expected, rh_error *err)
{
    char name[RH_CSV__SHOWN], found[RH_CSV__SHOWN];
    const char *header = r->head.columns.name[column];
    return rh_fail(err, RH_EFORMAT, "%s:%lld: column '%s': found '%s', expected %s",
                   rh_base__path_tail(r->path), (long long)r->csv.line,
                   rh_text__printable(header, name, RH_CSV__SHOWN),
                   rh_text__printable_n(field->text, field->n, found, RH_CSV__SHOWN), expected);
}

static rh_status not_a_number(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                              rh_error *err)
{
    const char *expected = rh_csv__other_notation(field->text, field->n, r->csv.decimal_comma);
    if (expected)
        return refuse(r, column, field, expected, err);
    for (int i = 0; i < r->plan.nact; i++)
        if (r->plan.act[i] == column && r->plan.nact == 1)
            return refuse(
                r, column, field,
                r->opt->action_kind == RH_ACTION_DISCRETE
                    ? "a number as in the rows before; name all with --actions A,B,..."
                : r->opt->action_kind == RH_ACTION_CONTINUOUS
                    ? "a number, as actions are continuous"
                    : "a number as in the rows before; if these are names, say "
                      "--action-kind discrete or --actions A,B,...",
                err);
    for (int i = 0; i < r->plan.nact; i++)
        if (r->plan.act[i] == column)
            return refuse(
                r, column, field,
                "a number: several action columns must hold numbers; code names as 0, "
                "1, ... and say --action-kind discrete",
                err);
    r->status = true; // names of actions have a hint of their own
    return refuse(r, column, field, "a number", err);
}

// The record has another number of fields than the header; `at` is its unparsed rest.
static rh_status ragged(const rh_csv__reader *r, int count, char *at, char *end, rh_error *err)
{
    rh_csv__field_info field;
    while (at && rh_csv__field(&at, end, r->csv.delimiter, &field))
        count++;
    return rh_fail(err, RH_EFORMAT, "%s:%lld: %d field%s, expected %d as in the header%s",
                   rh_base__path_tail(r->path), (long long)r->csv.line, count,
                   count == 1 ? "" : "s", r->head.columns.n,
                   r->last.row.obs ? "" : "; if other lines precede the header: --skip LINES");
}

static bool is_one_of(const rh_csv__field_info *field, const char *const *word)
{
    for (; *word; word++)
        if (strlen(*word) == field->n) {
            size_t same = 0;
            while (same < field->n && (field->text[same] | 32) == (*word)[same])
                same++;
            if (same == field->n)
                return true;
        }
    return false;
}

// ---------------------------------------------------------------------------- actions

// The declared actions, cut to fit a message.
static void list_labels(const rh_csv__reader *r, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < r->nlabel; i++) {
        char name[RH_CSV__SHOWN];
        rh_text__printable(r->label[i], name, RH_CSV__SHOWN);
        if (strlen(text) + strlen(name) + 8 > size) {
            rh_text__put(text, size, ", ...");
            return;
        }
        rh_text__put(text, size, "%s%s", i ? ", " : "", name);
    }
}

static int find_label(const rh_csv__reader *r, const rh_csv__field_info *field)
{
    for (int i = 0; i < r->nlabel; i++)
        if (strncmp(r->label[i], field->text, field->n) == 0 && !r->label[i][field->n])
            return i;
    double x;
    if (rh_csv__number(&r->csv, field, &x) == RH_NUMBER)
        for (int i = 0; i < r->nlabel; i++)
            if (r->number[i] == x)
                return i;
    return -1;
}

static void know_label(rh_csv__reader *r, const char *label)
{
    double x;
    bool number = rh_number__read(label, strlen(label), &x) == RH_NUMBER;
    r->number[r->nlabel] = number ? x : NAN;
    r->label[r->nlabel++] = label;
}

static rh_status take_name(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                           rh_error *err)
{
    static const char *const doubtful[] = {"none", "-", "?", NULL};
    double x = NAN;
    bool said = rh_csv__is_missing_word(&r->csv, field);
    bool missing = rh_csv__number(&r->csv, field, &x) == RH_NUMBER_MISSING &&
                   (said || !field->quoted || field->n == 0);
    int at = missing && !r->declared ? -1 : find_label(r, field);
    r->value[column] = at;
    if (at >= 0)
        return RH_OK;
    if (missing && !said && !r->declared && is_one_of(field, doubtful))
        return refuse(r, column, field,
                      "a name or nothing; if this is an action, name all with --actions "
                      "A,B,..., else say --missing with it",
                      err);
    if (missing || rh_log__is_missing(r->opt, x)) {
        r->value[column] = NAN;
        return RH_OK;
    }
    if (r->declared) {
        char list[120], expected[160];
        list_labels(r, list, sizeof list);
        snprintf(expected, sizeof expected, "one of the actions %s", list);
        return refuse(r, column, field, expected, err);
    }
    if (r->nlabel == RH_MAX_ACTIONS)
        return refuse(r, column, field,
                      "at most 256 different actions; give actions that are alike one name",
                      err);
    char *label = rh_alloc(field->n + 1, 1);
    if (!label)
        return rh_base__no_memory(err, r->path);
    memcpy(label, field->text, field->n);
    r->value[column] = r->nlabel;
    r->own[r->nlabel] = label;
    know_label(r, label);
    return RH_OK;
}

// A text of a category. Missing words are missing, unless in quotes.
static rh_status take_category(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                               rh_error *err)
{
    double x = NAN;
    bool said = rh_csv__is_missing_word(&r->csv, field);
    bool missing = rh_csv__number(&r->csv, field, &x) == RH_NUMBER_MISSING &&
                   (said || !field->quoted || field->n == 0);
    r->value[column] = NAN;
    if (missing || rh_log__is_missing(r->opt, x))
        return RH_OK;
    int at = rh_category__of(&r->category[r->category_of[column]], field->text, field->n);
    if (at == -2)
        return rh_base__no_memory(err, r->path);
    if (at < 0)
        return refuse(r, column, field, "at most 64 different texts in an observation", err);
    r->value[column] = at;
    return RH_OK;
}

rh_status rh_csv__settle_actions(rh_csv__reader *r, rh_log_shape *shape, rh_error *err)
{
    const rh_log_options *opt = r->opt;
    const rh_csv__header *head = &r->head;
    bool asked = opt->action || opt->actions || opt->action_kind != RH_ACTION_AUTO;
    const char *const *label = NULL;
    int nlabel = 0;
    shape->action = opt->action_kind;
    if (opt->actions) {
        rh_status rc = rh_log__split(opt->actions, &r->word, &nlabel, err);
        if (rc)
            return rc;
        label = (const char *const *)r->word;
        if (opt->action_kind == RH_ACTION_CONTINUOUS || r->plan.nact != 1 || nlabel < 1 ||
            nlabel > RH_MAX_ACTIONS)
            return rh_fail(
                err, RH_EINVAL,
                "%s: actions = %.60s: %s, expected 1 to %d names of one discrete action",
                rh_base__path_tail(r->path), opt->actions,
                opt->action_kind == RH_ACTION_CONTINUOUS ? "but actions are continuous"
                : r->plan.nact != 1 ? "but there are several action columns"
                : nlabel < 1        ? "no name"
                                    : "too many",
                RH_MAX_ACTIONS);
    } else if (!asked && head->columns.has_given) {
        if (head->continuous)
            shape->action = RH_ACTION_CONTINUOUS;
        if (head->label.n <= RH_MAX_ACTIONS && r->plan.nact == 1) {
            label = (const char *const *)head->label.word;
            nlabel = head->label.n;
        }
    }
    r->declared = nlabel > 0;
    for (int i = 0; i < nlabel; i++)
        know_label(r, label[i]);
    shape->label = r->declared ? label : NULL;
    shape->nlabel = nlabel;
    shape->declared = r->declared;

    bool words = r->plan.nact == 1 && head->columns.wordy[r->plan.act[0]] &&
                 shape->action != RH_ACTION_CONTINUOUS;
    for (int i = 0; i < r->plan.nact; i++)
        r->kind[r->plan.act[i]] = words || r->declared ? RH_KIND_NAME : RH_KIND_NUMBER;
    return RH_OK;
}

// ---------------------------------------------------------------------------- episodes

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93;
    h ^= h >> 32;
    return h ? h : 1;
}

// The slot that holds a hash, or a free one.
static uint64_t *slot_of(uint64_t *table, size_t room, uint64_t hash)
{
    size_t i = hash & (room - 1);
    while (table[i] && table[i] != hash)
        i = (i + 1) & (room - 1);
    return table + i;
}

// Remember an id; *known: it was there already.
static rh_status remember(rh_csv__reader *r, const char *text, size_t n, bool *known,
                          rh_error *err)
{
    if (2 * (r->nold + 1) > r->old_room) {
        size_t room = r->old_room ? 2 * r->old_room : 64;
        uint64_t *table = rh_alloc(room, sizeof *table);
        if (!table)
            return rh_base__no_memory(err, r->path);
        for (size_t i = 0; i < r->old_room; i++)
            if (r->old[i])
                *slot_of(table, room, r->old[i]) = r->old[i];
        rh_free(r->old);
        r->old = table;
        r->old_room = room;
    }
    uint64_t hash = hash_of(text, n), *slot = slot_of(r->old, r->old_room, hash);
    *known = *slot == hash;
    *slot = hash;
    r->nold += !*known;
    return RH_OK;
}

static rh_status take_episode(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                              rh_error *err)
{
    if (r->id && r->nid == field->n && memcmp(r->id, field->text, field->n) == 0)
        return RH_OK;
    double x;
    if (rh_csv__number(&r->csv, field, &x) == RH_NUMBER_MISSING ||
        rh_log__is_missing(r->opt, x))
        return refuse(r, column, field, "the name or number of an episode", err);
    bool known = false;
    rh_status rc = remember(r, field->text, field->n, &known, err);
    if (rc)
        return rc;
    if (known) {
        char id[RH_CSV__SHOWN], before[RH_CSV__SHOWN];
        return rh_fail(err, RH_EFORMAT,
                       "%s:%lld: episode %s comes back after %s; sort the file by episode, "
                       "or, if it is a new one, give it a number of its own",
                       rh_base__path_tail(r->path), (long long)r->csv.line,
                       rh_text__printable_n(field->text, field->n, id, RH_CSV__SHOWN),
                       rh_text__printable_n(r->id, r->nid, before, RH_CSV__SHOWN));
    }
    if (!r->id || field->n > r->id_room) {
        rh_free(r->id);
        r->id_room = 2 * field->n + 32;
        r->id = rh_alloc(r->id_room, 1);
        if (!r->id)
            return rh_base__no_memory(err, r->path);
    }
    memcpy(r->id, field->text, field->n);
    r->nid = field->n;
    r->other = true;
    return RH_OK;
}

// ---------------------------------------------------------------------------- fields

static rh_status take_flag(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                           rh_error *err)
{
    static const char *const yes[] = {"true", "t", "yes", "y", NULL};
    static const char *const no[] = {"false", "f", "no", "n", NULL};
    double x;
    rh_number__kind number = rh_csv__number(&r->csv, field, &x);
    if (number == RH_NUMBER && rh_log__is_missing(r->opt, x))
        number = RH_NUMBER_MISSING;
    bool is_yes = number == RH_NUMBER ? x != 0.0 : is_one_of(field, yes);
    bool is_no = number == RH_NUMBER_MISSING || is_one_of(field, no);
    if (number == RH_NUMBER ? x < 0.0 || x != floor(x) : !is_yes && !is_no)
        return refuse(r, column, field, "0 or 1, true or false, yes or no", err);
    r->value[column] = is_yes;
    return RH_OK;
}

static rh_status take_number(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                             rh_error *err)
{
    double *x = &r->value[column];
    switch (rh_csv__number(&r->csv, field, x)) {
    case RH_NUMBER:
        if (rh_log__is_missing(r->opt, *x))
            *x = NAN;
        return RH_OK;
    case RH_NUMBER_MISSING:
        return RH_OK;
    case RH_NUMBER_BEYOND:
        return refuse(r, column, field, "a number below 1.8e308", err);
    case RH_NUMBER_TEXT:
        break;
    }
    if (r->kind[column] != RH_KIND_TIME)
        return not_a_number(r, column, field, err);
    if (rh_csv__time(field->text, field->n, r->csv.order, x))
        return RH_OK;
    return refuse(r, column, field,
                  "a number or a time like 2024-05-01T12:00:00Z, 2024-05-01 12:00:00.5+02:00, "
                  "01.05.2024 12:00 or 5/1/2024 1:05 PM (--time \"\" does without)",
                  err);
}

static rh_status take_field(rh_csv__reader *r, int column, const rh_csv__field_info *field,
                            rh_error *err)
{
    switch (r->kind[column]) {
    case RH_KIND_SKIPPED:
        return RH_OK;
    case RH_KIND_NUMBER:
    case RH_KIND_TIME:
        return take_number(r, column, field, err);
    case RH_KIND_FLAG:
        return take_flag(r, column, field, err);
    case RH_KIND_NAME:
        return take_name(r, column, field, err);
    case RH_KIND_CATEGORY:
        return take_category(r, column, field, err);
    case RH_KIND_EPISODE:
        return take_episode(r, column, field, err);
    }
    return RH_OK;
}

rh_status rh_csv__take(rh_csv__reader *r, char *p, char *end, rh_error *err)
{
    int n = r->head.columns.n;
    char delimiter = r->csv.delimiter;
    bool sentinels = r->opt->nmissing > 0 || r->csv.decimal_comma;
    const char *limit = r->csv.buffer + r->csv.end; // a line end stops a number too
    for (int i = 0; i < n; i++) {
        if (!p)
            return ragged(r, i, NULL, end, err);

        // the common case: a plain number
        if (r->kind[i] == RH_KIND_NUMBER && !sentinels) {
            double x;
            const char *begin = p;
            while (begin < end && *begin == ' ')
                begin++;
            const char *after = rh_number__parse(begin, limit, &x);
            if (after && (after == end || *after == delimiter) && isfinite(x)) {
                r->value[i] = x;
                p = after == end ? NULL : p + (after - p) + 1;
                continue;
            }
        }
        rh_csv__field_info field;
        if (!rh_csv__field(&p, end, delimiter, &field))
            return refuse(r, i, &field, "a delimiter after the closing quote", err);
        rh_status rc = take_field(r, i, &field, err);
        if (rc)
            return rc;
    }
    return p && !r->csv.remarks ? ragged(r, n, p, end, err) : RH_OK;
}
