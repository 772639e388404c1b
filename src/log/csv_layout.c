// csv_layout.c - finds the table in a text: lines before its header, and units below it.
//
// SCADA systems write a few lines about the report first (its name, the operator, dates), and
// many loggers a line of units below the names.
//
// 1. Among the first lines, the longest run with the same number of fields is the table. Its
//    header is the fullest line before the first line of numbers. It is believed if every line
//    before it has fewer fields filled than the header: a header with too few names is not
//    skipped, its rows are refused instead.
// 2. LabVIEW ends what it writes before a table by ***End_of_Header***, twice. Its last column,
//    Comment, is missing in rows without one.
// 3. The first row holds units if it has texts and no number or date, and these texts are in
//    columns whose other rows are numbers or dates. In a column of texts it must be empty.

#include "base/base_internal.h"
#include "csv.h"

#include <string.h>

#define LINES 120 // lines examined for the table
#define LEAST 3   // lines that a table has at least
#define NDELIMITER 4

static const char delimiters[NDELIMITER] = {',', ';', '\t', '|'};

// ---------------------------------------------------------------------------- before the
// header

typedef struct first_line {
    int64_t line;
    int count[NDELIMITER]; // delimiters outside quotes
    int nfilled;           // fields that are not empty, of the chosen delimiter
    bool data;             // at least half of all fields are numbers or dates
    bool words;            // none of them is
} first_line;

typedef struct sample {
    first_line row[LINES];
    int n;
    int64_t labview; // the line after the last ***End_of_Header***, 0: none
} sample;

static void look_at_fields(const rh_csv *csv, first_line *row, char *p, size_t n,
                           char delimiter)
{
    int nnumber = 0, count = 0;
    char *end = p + n;
    row->nfilled = 0;
    for (; p; count++) {
        rh_csv__field_info field;
        double x;
        bool good = rh_csv__field(&p, end, delimiter, &field);
        if (!good || field.n == 0)
            continue;
        rh_number__kind kind = rh_csv__number(csv, &field, &x);
        row->nfilled++;
        nnumber += kind == RH_NUMBER ||
                   (kind == RH_NUMBER_TEXT &&
                    (rh_csv__time(field.text, field.n, RH_DATES_AUTO, &x) ||
                     rh_csv__other_notation(field.text, field.n, csv->decimal_comma)));
    }
    row->data = nnumber > 0 && 2 * nnumber >= count;
    row->words = nnumber == 0;
}

// Examine the first lines; delimiter: 0 to count all, else one of them.
static rh_status look_at_lines(sample *s, rh_csv *csv, char delimiter, rh_error *err)
{
    static const char mark[] = "***End_of_Header***";
    rh_status rc = rh_csv__rewind(csv, err);
    s->n = 0;
    csv->lines = true; // a quote before the table need not be closed
    while (!rc && s->n < LINES) {
        char *text, unused;
        size_t n;
        rc = rh_csv__next(csv, &text, &n, err);
        if (rc || !text)
            break;
        if (*text == '#' || (s->n == 0 && rh_csv__says_delimiter(text, n, &unused)))
            continue;
        first_line *row = &s->row[s->n++];
        row->line = csv->line;
        if (n >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
            s->labview = csv->line + 1;
        if (delimiter)
            look_at_fields(csv, row, text, n, delimiter);
        for (int i = 0; !delimiter && i < NDELIMITER; i++)
            row->count[i] = rh_csv__count(text, n, delimiters[i]);
    }
    csv->lines = false;
    return rc == RH_EFORMAT ? RH_OK : rc; // told when the rows are read
}

// The longest run of lines with as many of a delimiter; the more of it, the better.
static int find_run(const sample *s, int *first, int *last)
{
    int best = 0, found = -1;
    for (int i = 0; i < NDELIMITER; i++)
        for (int begin = 0, end; begin < s->n; begin = end) {
            int count = s->row[begin].count[i];
            for (end = begin + 1; end < s->n && s->row[end].count[i] == count;)
                end++;
            bool better =
                found >= 0 && end - begin == best && count > s->row[*first].count[found];
            if (count == 0 || end - begin < LEAST || (end - begin <= best && !better))
                continue;
            best = end - begin;
            found = i;
            *first = begin;
            *last = end;
        }
    return found;
}

// The header among the lines of a run; -1: it is not known.
static int find_header(const sample *s, int first, int last)
{
    int data = first, header = -1;
    while (data < last && !s->row[data].data)
        data++;
    if (data == last)
        return -1;
    for (int i = first; i < data; i++)
        if (s->row[i].words && (header < 0 || s->row[i].nfilled > s->row[header].nfilled))
            header = i;
    for (int i = 0; header >= 0 && i < header; i++)
        if (s->row[i].nfilled >= s->row[header].nfilled)
            return -1;
    return header;
}

rh_status rh_csv__find_table(rh_csv *csv, rh_error *err)
{
    int first = 0, last = 0, header = -1;
    if (csv->first_line != 1)
        return RH_OK;
    if (csv->opt->skip != RH_SKIP_AUTO) {
        csv->skip = csv->opt->skip;
        return rh_csv__rewind(csv, err);
    }
    sample *s = rh_alloc(1, sizeof *s);
    if (!s)
        return rh_base__no_memory(err, csv->path);
    rh_status rc = look_at_lines(s, csv, 0, err);
    int delimiter = rc || s->labview ? -1 : find_run(s, &first, &last);
    if (delimiter >= 0 && first + 1 < last) {
        rc = look_at_lines(s, csv, delimiters[delimiter], err);
        header = rc ? -1 : find_header(s, first, last);
    }
    csv->skip = s->labview ? s->labview - 1 : header > 0 ? s->row[header].line - 1 : 0;
    csv->remarks = s->labview > 0;
    rh_free(s);
    return rc ? rc : rh_csv__rewind(csv, err);
}

// ---------------------------------------------------------------------------- units

typedef struct column_rows {
    int nnumber, ndate, ntext; // of the rows after the first
    bool word;                 // the first row has a text
} column_rows;

static bool is_unit_of_text(const rh_csv__field_info *field)
{
    static const char *const word[] = {"text", "string", "bool", "boolean", "enum", "state"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strlen(word[i]) == field->n && memcmp(field->text, word[i], field->n) == 0)
            return true;
    return false;
}

// Look at the first row, which is cut in place. False: it holds no units.
static bool look_at_units(const rh_csv *csv, char *p, size_t n, column_rows *column,
                          rh_csv__field_info *unit, int ncolumn)
{
    char *end = p + n;
    int count = 0;
    bool any = false;
    for (; p && count < ncolumn; count++) {
        double x;
        rh_csv__field_info *field = &unit[count];
        if (!rh_csv__field(&p, end, csv->delimiter, field))
            return false;
        rh_number__kind kind = rh_csv__number(csv, field, &x);
        if ((kind != RH_NUMBER_TEXT && kind != RH_NUMBER_MISSING) ||
            rh_csv__time(field->text, field->n, RH_DATES_AUTO, &x) ||
            rh_csv__other_notation(field->text, field->n, true) ||
            rh_csv__other_notation(field->text, field->n, false))
            return false;
        column[count].word = kind == RH_NUMBER_TEXT && !is_unit_of_text(field);
        any = any || column[count].word;
    }
    return any && !p && count == ncolumn;
}

static rh_status count_rows(rh_csv *csv, column_rows *column, int ncolumn, rh_error *err)
{
    for (int nrow = 0; nrow < RH_CSV__LOOKED; nrow++) {
        char *p;
        size_t n;
        rh_status rc = rh_csv__next(csv, &p, &n, err);
        if (rc || !p)
            return rc;
        rh_csv__field_info field;
        char *end = p + n;
        for (int i = 0; p && i < ncolumn; i++) {
            double x;
            if (!rh_csv__field(&p, end, csv->delimiter, &field))
                break;
            rh_number__kind kind = rh_csv__number(csv, &field, &x);
            bool text = kind == RH_NUMBER_TEXT;
            bool date = text && rh_csv__time(field.text, field.n, RH_DATES_AUTO, &x);
            bool other = text && rh_csv__other_notation(field.text, field.n, false) != NULL;
            column[i].nnumber += kind == RH_NUMBER || other;
            column[i].ndate += date;
            column[i].ntext += text && !date && !other;
        }
    }
    return RH_OK;
}

// Whether the texts of the first row are in columns of numbers.
static bool are_units(const column_rows *column, int ncolumn)
{
    bool any = false;
    for (int i = 0; i < ncolumn; i++) {
        const column_rows *c = &column[i];
        bool number = c->nnumber > c->ntext + c->ndate;
        if (c->word && c->ntext > 0 && !number)
            return false;
        any = any || (c->word && number);
    }
    return any;
}

// Keep the units that the header does not have, without brackets.
static rh_status keep_units(rh_csv__header *head, const rh_csv *csv,
                            const rh_csv__field_info *unit, const column_rows *column,
                            rh_error *err)
{
    rh_columns *c = &head->columns;
    size_t size = 1;
    for (int i = 0; i < c->n; i++)
        size += unit[i].n + 1;
    head->below = rh_alloc(size, 1);
    if (!head->below)
        return rh_base__no_memory(err, csv->path);
    char *to = head->below;
    for (int i = 0; i < c->n; i++) {
        const char *text = unit[i].text;
        size_t n = unit[i].n;
        if (!column[i].word || *c->unit[i] || column[i].nnumber == 0)
            continue;
        bool round = n > 2 && *text == '(' && text[n - 1] == ')';
        bool square = n > 2 && *text == '[' && text[n - 1] == ']';
        text += round || square;
        n -= round || square ? 2 : 0;
        memcpy(to, text, n); // zeroed, so it is terminated
        c->unit[i] = to;
        to += n + 1;
    }
    return RH_OK;
}

rh_status rh_csv__find_units(rh_csv__header *head, rh_csv *csv, rh_error *err)
{
    int ncolumn = head->columns.n;
    char *copy = NULL, *text = NULL;
    size_t n = 0;
    if (csv->first_line != 1 || head->columns.has_given)
        return RH_OK;
    rh_status rc = rh_csv__to_rows(csv, err);
    if (rc)
        return rc;
    column_rows *column = rh_alloc((size_t)ncolumn, sizeof *column);
    rh_csv__field_info *unit = rh_alloc((size_t)ncolumn, sizeof *unit);
    if (column && unit)
        rc = rh_csv__next(csv, &text, &n, err);
    int64_t line = csv->line;
    copy = rh_alloc(n + 1, 1);
    if (!column || !unit || !copy) {
        rc = rh_base__no_memory(err, csv->path);
        goto done;
    }
    if (rc || !text)
        goto done;
    memcpy(copy, text, n);
    if (!look_at_units(csv, copy, n, column, unit, ncolumn))
        goto done;
    rc = count_rows(csv, column, ncolumn, err);
    if (rc || !are_units(column, ncolumn))
        goto done;
    csv->units = line;
    rc = keep_units(head, csv, unit, column, err);

done:
    rh_free(column);
    rh_free(unit);
    rh_free(copy);
    return rc;
}
