// csv_number.c - numbers as they are written in a table: decimal comma, words for missing.
//
// 1. The comma is the decimal sign of a file if the first rows contain numbers such as 1,5 and
//    none such as 1.5. 1,234 alone may be 1.234 or 1234: then the caller must say which.
// 2. Thousands separators are refused, never guessed: 1.234 in a file with decimal commas
//    would be 1.234 in one program and 1234 in another.
// 3. A comma is replaced by a point in place while the number is parsed, then restored: fields
//    may be names as well.

#include "base/base_internal.h"
#include "csv.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

// Whether `text` (n) is one of the words of a list separated by commas.
static bool is_listed(const char *list, const char *text, size_t n)
{
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t length = strcspn(list, ","), word = length;
        while (word > 0 && (list[word - 1] == ' ' || list[word - 1] == '\t'))
            word--;
        if (word > 0 && word == n && memcmp(list, text, n) == 0)
            return true;
        list += length;
    }
    return false;
}

bool rh_csv__is_missing_word(const rh_csv *csv, const rh_csv__field_info *field)
{
    return csv->opt && is_listed(csv->opt->missing_words, field->text, field->n);
}

rh_number__kind rh_csv__number(const rh_csv *csv, const rh_csv__field_info *field, double *x)
{
    char *text = field->text;
    if (rh_csv__is_missing_word(csv, field)) {
        *x = NAN;
        return RH_NUMBER_MISSING;
    }
    rh_number__kind kind = rh_number__read(text, field->n, x);
    if (!csv->decimal_comma)
        return kind;

    // 1.234 may mean 1234 here
    char *comma = memchr(text, ',', field->n);
    if (kind == RH_NUMBER && memchr(text, '.', field->n)) {
        *x = NAN;
        return RH_NUMBER_TEXT;
    }
    if (kind != RH_NUMBER_TEXT || !comma || memchr(text, '.', field->n))
        return kind;
    *comma = '.';
    kind = rh_number__read(text, field->n, x);
    *comma = ',';
    return kind;
}

// ---------------------------------------------------------------------------- notations

static size_t count_digits(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && text[i] >= '0' && text[i] <= '9')
        i++;
    return i;
}

// 1,234 or 1,5: digits, one comma, digits.
static bool is_comma_number(const char *text, size_t n, bool *doubtful)
{
    size_t sign = n > 0 && (*text == '-' || *text == '+');
    text += sign;
    n -= sign;
    size_t before = count_digits(text, n);
    if (before == 0 || before + 1 >= n || text[before] != ',')
        return false;
    size_t after = count_digits(text + before + 1, n - before - 1), end = before + 1 + after;
    *doubtful = before <= 3 && after == 3 && end == n && *text != '0';
    bool power = end + 1 < n && (text[end] | 32) == 'e';
    return after > 0 && (end == n || power);
}

bool rh_csv__is_grouped(const char *text, size_t n)
{
    size_t sign = n > 0 && (*text == '-' || *text == '+');
    text += sign;
    n -= sign;
    size_t at = count_digits(text, n), ngroup = 0;
    char separator = at < n ? text[at] : 0;
    if (at < 1 || at > 3 || !separator || !strchr(",.' ", separator))
        return false;
    while (at < n && text[at] == separator && count_digits(text + at + 1, n - at - 1) == 3) {
        at += 4;
        ngroup++;
    }
    if (ngroup == 0)
        return false;
    if (at == n)
        return ngroup > 1 || separator != '.'; // 1.234 is a number
    return (text[at] == ',' || text[at] == '.') && text[at] != separator &&
           count_digits(text + at + 1, n - at - 1) == n - at - 1;
}

void rh_csv__look_for_comma(rh_csv__commas *seen, const rh_csv__field_info *field)
{
    bool doubtful = false;
    double x;
    if (is_comma_number(field->text, field->n, &doubtful)) {
        seen->ncomma += !doubtful;
        seen->ndoubtful += doubtful;
    } else if (memchr(field->text, '.', field->n) &&
               rh_number__read(field->text, field->n, &x) == RH_NUMBER) {
        seen->npoint++;
    }
}

bool rh_csv__comma_decides(const rh_csv__commas *seen, const rh_log_options *opt)
{
    if (opt && opt->decimal != RH_DECIMAL_AUTO)
        return opt->decimal == RH_DECIMAL_COMMA;
    return seen->ncomma > 0 && seen->npoint == 0;
}

const char *rh_csv__other_notation(const char *text, size_t n, bool decimal_comma)
{
    bool doubtful = false, comma = is_comma_number(text, n, &doubtful);
    if (comma && doubtful)
        return "1.234 or 1234: say --decimal comma, or write it without thousands separators";
    if (rh_csv__is_grouped(text, n))
        return "a number without thousands separators";
    if (comma)
        return "a decimal point, as other numbers of the file have one; or say --decimal comma";
    if (decimal_comma && memchr(text, '.', n))
        return "a decimal comma, as other numbers of the file have one; or say --decimal point";
    return NULL;
}
