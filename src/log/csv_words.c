// csv_words.c - suggests words that stand for missing values, after one of them was refused.
//
// Historians write a status in place of a value: "Bad Input", "I/O Timeout", "No Data". They
// are never taken as missing unasked: in another column the same word may be a state.
//
// 1. The whole file is searched, so that one option names them all.
// 2. Only columns of numbers count, and neither dates nor numbers in another notation.

#include "base/base_internal.h"
#include "csv_reader.h"

#include <string.h>

#define WORDS 8    // most words suggested
#define LONGEST 40 // characters of a word

typedef struct status_words {
    char word[WORDS][LONGEST + 1];
    int n;
} status_words;

static void notice(status_words *found, const rh_csv *csv, const rh_csv__field_info *field)
{
    double x;
    if (rh_csv__number(csv, field, &x) != RH_NUMBER_TEXT || field->n > LONGEST ||
        found->n == WORDS || memchr(field->text, ',', field->n) ||
        rh_csv__other_notation(field->text, field->n, csv->decimal_comma) ||
        rh_csv__time(field->text, field->n, RH_DATES_AUTO, &x))
        return;
    char *word = found->word[found->n];
    rh_text__printable_n(field->text, field->n, word, LONGEST + 1);
    for (int i = 0; i < found->n; i++)
        if (strcmp(found->word[i], word) == 0)
            return;
    found->n++;
}

static void search(status_words *found, rh_csv__reader *r)
{
    const rh_columns *c = &r->head.columns;
    rh_error unused;
    rh_status rc = rh_csv__to_rows(&r->csv, &unused);
    while (!rc && found->n < WORDS) {
        char *p;
        size_t n;
        rc = rh_csv__next(&r->csv, &p, &n, &unused);
        if (rc || !p)
            return;
        char *end = p + n;
        rh_csv__field_info field;
        for (int i = 0; i < c->n && p; i++)
            if (rh_csv__field(&p, end, r->csv.delimiter, &field) &&
                c->odd[i].nnumber > c->odd[i].nodd)
                notice(found, &r->csv, &field);
    }
}

void rh_csv__suggest_missing(rh_csv__reader *r, rh_error *err)
{
    status_words found = {.n = 0};
    rh_text list = {0}, quoted = {0};
    if (!err)
        return;
    search(&found, r);
    for (int i = 0; i < found.n; i++)
        rh_text__format(&list, "%s%s", i ? "," : "", found.word[i]);
    if (list.data && !list.bad)
        rh_text__shell(&quoted, list.data);
    size_t used = strlen(err->text);
    if (quoted.data && !quoted.bad && used + quoted.n + 48 < sizeof err->text)
        snprintf(err->text + used, sizeof err->text - used,
                 "; if this means a missing value: --missing %s", quoted.data);
    rh_text__clear(&list);
    rh_text__clear(&quoted);
}
