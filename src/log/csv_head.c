// csv_head.c - reads what precedes the rows: comments, the header and the delimiter.
//
// 1. The delimiter is the one of , ; tab | that splits the header and the first row into the
//    same number of fields; among several, the one that gives most fields.
// 2. The first 1000 rows tell numeric columns from text; then the file is read again from its
//    beginning. A later row that disagrees is refused with its line number.
// 3. "# rehearse ..." lines hold what the header of a written log cannot. If they no longer
//    match the columns, somebody has edited the file, and they are ignored. They may also be
//    the name of the last column, which is empty: pandas.read_csv() then needs no options.
// 4. A column t counts steps if it rises and falls to 0 or 1 only, or to its first value if
//    that equals the stride: 20, 21, 20 is a temperature.
// 5. Excel begins a file with the line sep=; to say the delimiter. It is not the header.
// 6. InfluxDB repeats annotations (#datatype, ...) and the header between tables.
// 7. "NA" in quotes is a word among words, missing among numbers: some programs quote all.

#include "base/base_internal.h"
#include "csv.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define COLUMNS 10000 // most columns
#define WIDE 20       // numbers in a header that are steps
#define MARK "# rehearse "

_Static_assert(RH_ODD == RH_CSV__SHOWN, "both hold a text for a message");

// ---------------------------------------------------------------------------- # rehearse

// A list of words separated by blanks or commas: plain, or "quoted" with \" \\ \n \r.
static rh_status take_words(const rh_csv *csv, rh_csv__words *list, const char *text, size_t n,
                            rh_error *err)
{
    rh_free(list->word);
    *list = (rh_csv__words){0};
    size_t room = n / 2 + 2;
    list->word = rh_alloc(1, room * sizeof *list->word + n + room);
    if (!list->word)
        return rh_base__no_memory(err, csv->path);
    char *to = (char *)(list->word + room);
    const char *p = text, *end = text + n;
    for (;;) {
        while (p < end && (*p == ' ' || *p == ','))
            p++;
        if (p == end)
            return RH_OK;
        list->word[list->n++] = to;
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) {
                bool escape = *p == '\\' && p + 1 < end;
                p += escape;
                *to++ = escape && *p == 'n' ? '\n' : escape && *p == 'r' ? '\r' : *p;
            }
            p += p < end;
        } else {
            while (p < end && *p != ' ' && *p != ',')
                *to++ = *p++;
        }
        *to++ = 0;
    }
}

// Keep a comment line if it is one of ours.
static rh_status take_comment(rh_csv__header *head, const rh_csv *csv, const char *text,
                              size_t n, rh_error *err)
{
    const struct {
        const char *key;
        rh_csv__words *list;
    } known[] = {{MARK "columns:", &head->role},
                 {MARK "names:", &head->name},
                 {MARK "units:", &head->unit},
                 {MARK "actions:", &head->label}};
    for (int i = 0; i < 4; i++) {
        size_t k = strlen(known[i].key);
        if (n < k || memcmp(text, known[i].key, k) != 0)
            continue;
        rh_status rc = take_words(csv, known[i].list, text + k, n - k, err);
        if (rc)
            return rc;
        size_t blanks = 0;
        while (k + blanks < n && text[k + blanks] == ' ')
            blanks++;
        if (known[i].list == &head->label && n - k - blanks == 10 &&
            memcmp(text + k + blanks, "continuous", 10) == 0) {
            head->continuous = true;
            head->label.n = 0;
        }
        break;
    }
    return RH_OK;
}

// The last name of a header, where it holds the comment lines: "# rehearse columns: ... #
// rehearse actions: ...". Cuts it.
static rh_status take_last(rh_csv__header *head, const rh_csv *csv, const char *text, size_t *n,
                           rh_error *err)
{
    static const char first[] = MARK "columns:", second[] = " " MARK "actions:";
    size_t at = 0, k = sizeof second - 1;
    if (*n < sizeof first - 1 || memcmp(text, first, sizeof first - 1) != 0)
        return RH_OK;
    while (at + k <= *n && memcmp(text + at, second, k) != 0)
        at++;
    at = at + k <= *n ? at : *n;
    rh_status rc = take_comment(head, csv, text, at, err);
    if (!rc && at < *n)
        rc = take_comment(head, csv, text + at + 1, *n - at - 1, err);
    *n = sizeof MARK - 2;
    return rc;
}

// Whether a column that the writer always gives the same name still has it.
static bool is_in_place(const char *header, rh_log__role role)
{
    if (role == RH_ROLE_NEXT)
        return strncmp(header, "next_", 5) == 0;
    return role == RH_ROLE_NONE || role == RH_ROLE_OBS || role == RH_ROLE_ACTION ||
           role == RH_ROLE_REWARD || strcmp(header, rh_columns__role_name(role)) == 0;
}

static rh_log__role role_called(const char *word)
{
    for (int k = 1; k < RH_NROLE; k++)
        if (strcmp(word, rh_columns__role_name((rh_log__role)k)) == 0)
            return (rh_log__role)k;
    return RH_ROLE_NONE;
}

// Apply the comment lines to the columns, if they match.
static void follow(rh_csv__header *head)
{
    rh_columns *c = &head->columns;
    bool fits = head->role.n == c->n && (head->name.n == 0 || head->name.n == c->n) &&
                (head->unit.n == 0 || head->unit.n == c->n);
    for (int i = 0; fits && i < c->n; i++)
        fits = is_in_place(c->header[i], role_called(head->role.word[i]));
    for (int i = 0; fits && i < c->n; i++)
        c->given[i] = role_called(head->role.word[i]);
    c->has_given = fits;
    for (int i = 0; fits && i < head->name.n; i++)
        c->name[i] = head->name.word[i];
    for (int i = 0; fits && i < head->unit.n; i++)
        c->unit[i] = head->unit.word[i];
    head->ignored = !fits && head->role.n > 0;
}

// ---------------------------------------------------------------------------- the header

bool rh_csv__says_delimiter(const char *text, size_t n, char *delimiter)
{
    bool quoted = n == 7 && text[0] == '"' && text[6] == '"';
    text += quoted;
    if (n != (quoted ? 7U : 5U) || text[3] != '=' || !strchr(",;\t|", text[4]))
        return false;
    *delimiter = text[4];
    return (text[0] | 32) == 's' && (text[1] | 32) == 'e' && (text[2] | 32) == 'p';
}

// Skip to the header and return its record.
static rh_status to_header(rh_csv *csv, rh_csv__header *head, char **text, size_t *n,
                           rh_error *err)
{
    for (bool first = true;; first = false) {
        rh_status rc = rh_csv__next(csv, text, n, err);
        char delimiter;
        if (rc)
            return rc;
        if (first && *text && rh_csv__says_delimiter(*text, *n, &delimiter)) {
            csv->delimiter = delimiter;
            continue;
        }
        if (!*text)
            return rh_fail(err, RH_EFORMAT, "%s: no header, expected names of columns",
                           rh_base__path_tail(csv->path));
        if (**text != '#')
            break;
        if (head) {
            head->monitor = head->monitor || (*n > 2 && (*text)[1] == '{');
            rc = take_comment(head, csv, *text, *n, err);
            if (rc)
                return rc;
        }
    }
    csv->heading = false;
    return RH_OK;
}

rh_status rh_csv__to_rows(rh_csv *csv, rh_error *err)
{
    char *text;
    size_t n;
    rh_status rc = rh_csv__rewind(csv, err);
    return rc ? rc : to_header(csv, NULL, &text, &n, err);
}

int rh_csv__count(const char *text, size_t n, char letter)
{
    int count = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        quoted = quoted != (text[i] == '"');
        count += !quoted && text[i] == letter;
    }
    return count;
}

static char find_delimiter(const char *header, size_t nheader, const char *row, size_t nrow)
{
    static const char candidate[4] = {',', ';', '\t', '|'};
    int best = 0;
    char found = ',';
    for (int i = 0; i < 4; i++) {
        int count = rh_csv__count(header, nheader, candidate[i]);
        bool agree = count > 0 && row && rh_csv__count(row, nrow, candidate[i]) == count;
        int score = count + (agree ? COLUMNS : 0);
        if (score > best) {
            best = score;
            found = candidate[i];
        }
    }
    return found;
}

// Whether InfluxDB wrote the header, with annotations or without.
static bool is_influx(const rh_columns *c)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        n += strcmp(c->header[i], "_time") == 0 || strcmp(c->header[i], "result") == 0 ||
             strcmp(c->header[i], "table") == 0;
    return n == 3;
}

// Split the header into columns. It may be written to.
static rh_status cut_header(rh_csv__header *head, const rh_csv *csv, int64_t line, char *text,
                            size_t n, rh_error *err)
{
    const char **name = NULL;
    size_t *length = NULL;
    rh_status rc = RH_OK;
    int count = 0, room = 1;
    int nnumber = 0;
    bool words = false;
    if (head->monitor && n >= 5 && memcmp(text, "r,l,t", 5) == 0)
        return rh_fail(
            err, RH_EFORMAT,
            "%s: it is a Monitor file of Stable-Baselines3, which has returns (r) and "
            "lengths (l) of episodes, expected a row per step with observations, "
            "actions and rewards; docs/logs.md shows how to log them",
            rh_base__path_tail(csv->path));
    for (size_t i = 0; i < n; i++)
        room += text[i] == csv->delimiter;
    if (room > COLUMNS)
        return rh_fail(err, RH_EFORMAT,
                       "%s:%lld: the header has more than %d fields: a row per sensor and a "
                       "column per step? expected a row per step; transpose the table",
                       rh_base__path_tail(csv->path), (long long)line, COLUMNS);
    name = rh_alloc((size_t)room, sizeof *name);
    length = rh_alloc((size_t)room, sizeof *length);
    if (!name || !length) {
        rc = rh_base__no_memory(err, csv->path);
        goto done;
    }
    for (char *p = text; p; count++) {
        rh_csv__field_info field;
        double x;
        if (!rh_csv__field(&p, text + n, csv->delimiter, &field)) {
            rc = rh_fail(err, RH_EFORMAT,
                         "%s:%lld: column %d: something follows a closing "
                         "quote",
                         rh_base__path_tail(csv->path), (long long)line, count + 1);
            goto done;
        }
        rh_number__kind kind = rh_number__read(field.text, field.n, &x);
        nnumber += kind == RH_NUMBER;
        words = words || kind == RH_NUMBER_TEXT || (kind == RH_NUMBER_MISSING && field.n > 1);
        name[count] = field.text;
        length[count] = field.n;
    }
    count -= csv->remarks && count > 1 && length[count - 1] == 7 &&
             memcmp(name[count - 1], "Comment", 7) == 0;
    rc = take_last(head, csv, name[count - 1], &length[count - 1], err);
    if (rc)
        goto done;
    if (nnumber > 0 && !words && !head->role.n)
        rc =
            rh_fail(err, RH_EFORMAT,
                    "%s: no header: the first line is all numbers, expected names of columns%s",
                    rh_base__path_tail(csv->path),
                    line > 1 ? " (a line that begins with # is a remark)" : "");
    else if (nnumber >= WIDE && nnumber >= count - 2)
        rc = rh_fail(err, RH_EFORMAT,
                     "%s:%lld: the header is %d numbers: a row per sensor and a column per "
                     "step? expected a row per step; transpose the table",
                     rh_base__path_tail(csv->path), (long long)line, nnumber);
    else
        rc = rh_columns__init(&head->columns, csv->path, count, name, length, err);

done:
    rh_free((void *)name);
    rh_free(length);
    return rc;
}

// ---------------------------------------------------------------------------- the first rows

// A numeric column so far.
typedef struct counted {
    double first, before, stride; // stride: the first increase, 0: none yet
} counted;

// Whether the column still counts steps after x; so: whether it did before x.
static bool still_counts(counted *k, double x, bool any, bool so)
{
    bool up = !any || x > k->before;
    bool again = x < k->before && (x == 0.0 || x == 1.0 || (x == k->first && x == k->stride));
    if (any && up && k->stride == 0.0)
        k->stride = x - k->before;
    k->first = any ? k->first : x;
    k->before = x;
    return (so || !any) && x == floor(x) && (up || again);
}

// Whether it is a list of numbers or names in one cell: [0.1, 0.2], (1, 2), array([1.]), {..}.
static bool is_list(const rh_csv__field_info *field)
{
    const char *text = field->text;
    if (field->n < 2 || strncmp(text, "array(", 6) == 0)
        return field->n > 6;
    char close = *text == '[' ? ']' : *text == '(' ? ')' : *text == '{' ? '}' : 0;
    return close && text[field->n - 1] == close;
}

// Update what is known of column i from a field.
static void look_at(rh_columns *c, int i, const rh_csv__field_info *field, const rh_csv *csv,
                    counted *count)
{
    double x;
    rh_log__odd *odd = &c->odd[i];
    rh_number__kind kind = rh_csv__number(csv, field, &x);
    c->wordy[i] = c->wordy[i] || kind == RH_NUMBER_TEXT;
    odd->quoted = odd->quoted || (kind == RH_NUMBER_MISSING && field->quoted && field->n > 0);
    if (kind == RH_NUMBER_TEXT) {
        odd->ndate += rh_csv__time(field->text, field->n, RH_DATES_AUTO, &x);
        if (odd->nodd++ == 0) {
            odd->list = is_list(field);
            odd->line = csv->line;
            odd->written = rh_csv__other_notation(field->text, field->n, csv->decimal_comma);
            rh_text__printable_n(field->text, field->n, odd->text, RH_CSV__SHOWN);
        }
        return;
    }
    if (kind != RH_NUMBER)
        return;
    c->counting[i] = still_counts(count, x, c->numeric[i], c->counting[i]);
    c->numeric[i] = true;
    odd->nnumber++;
}

// Decide which decimal sign the numbers of the first rows have.
static rh_status look_for_comma(rh_csv *csv, rh_error *err)
{
    rh_csv__commas seen = {0};
    rh_status rc = rh_csv__to_rows(csv, err);
    for (int nrow = 0; !rc && nrow < RH_CSV__LOOKED; nrow++) {
        char *p;
        size_t n;
        rc = rh_csv__next(csv, &p, &n, err);
        if (rc || !p)
            break;
        rh_csv__field_info field;
        for (char *end = p + n; p;)
            if (rh_csv__field(&p, end, csv->delimiter, &field))
                rh_csv__look_for_comma(&seen, &field);
    }
    csv->decimal_comma = rh_csv__comma_decides(&seen, csv->opt);
    return rc;
}

static rh_status look(rh_csv__header *head, rh_csv *csv, rh_error *err)
{
    rh_columns *c = &head->columns;
    int64_t nrow = 0;
    rh_status rc = RH_OK;
    counted *count = rh_alloc((size_t)c->n, sizeof *count);
    if (!count)
        return rh_base__no_memory(err, csv->path);
    for (; nrow < RH_CSV__LOOKED; nrow++) {
        char *p;
        size_t n;
        rc = rh_csv__next(csv, &p, &n, err);
        if (rc || !p)
            break;
        char *end = p + n;
        rh_csv__field_info field; // a malformed field is refused later, when it is read
        for (int i = 0; i < c->n && p; i++)
            if (rh_csv__field(&p, end, csv->delimiter, &field))
                look_at(c, i, &field, csv, count + i);
    }
    for (int i = 0; i < c->n; i++) {
        c->wordy[i] = c->wordy[i] || (c->odd[i].quoted && !c->numeric[i]);
        c->numeric[i] = c->numeric[i] && !c->wordy[i];
        c->counting[i] = c->counting[i] && c->numeric[i];
    }
    if (!rc && nrow == 0)
        rc = rh_fail(err, RH_EFORMAT, "%s: no rows after the header",
                     rh_base__path_tail(csv->path));
    rh_free(count);
    return rc;
}

rh_status rh_csv__head(rh_csv__header *head, rh_csv *csv, rh_error *err)
{
    char *copy = NULL, *text;
    size_t n, nrow = 0;
    *head = (rh_csv__header){0};
    rh_status rc = rh_csv__find_table(csv, err);
    if (!rc)
        rc = to_header(csv, head, &text, &n, err);
    if (rc)
        goto done;
    int64_t line = csv->line;
    copy = rh_alloc(n + 1, 1);
    if (!copy) {
        rc = rh_base__no_memory(err, csv->path);
        goto done;
    }
    memcpy(copy, text, n);
    csv->repeated = rh_base__crc32(0, text, n);
    rc = rh_csv__next(csv, &text, &nrow, err);
    if (rc)
        goto done;
    if (!csv->delimiter)
        csv->delimiter = find_delimiter(copy, n, text, nrow);
    rc = cut_header(head, csv, line, copy, n, err);
    if (rc)
        goto done;
    follow(head);
    csv->tables = is_influx(&head->columns);
    head->columns.influx = csv->tables;
    head->columns.labview = csv->remarks;
    rc = rh_csv__find_units(head, csv, err);
    if (rc)
        goto done;

    if (csv->delimiter != ',' || csv->quotes)
        rc = look_for_comma(csv, err);
    if (!rc)
        rc = rh_csv__to_rows(csv, err);
    if (!rc)
        rc = look(head, csv, err);
    if (!rc)
        rc = rh_csv__to_rows(csv, err);

done:
    rh_free(copy);
    return rc;
}

void rh_csv__clear_head(rh_csv__header *head)
{
    rh_columns__clear(&head->columns);
    rh_free(head->role.word);
    rh_free(head->name.word);
    rh_free(head->unit.word);
    rh_free(head->label.word);
    rh_free(head->below);
    *head = (rh_csv__header){0};
}
