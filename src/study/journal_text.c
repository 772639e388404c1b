// journal_text.c - the marks of a line of the journal, and its numbers.
//
//     {"op_code":8,"worker_id":"rehearse/1", ... ,"crc":"89abcdef"}
//
// 1. The checksum is CRC-32 over all letters before ,"crc": it is the last thing in the line,
//    so a line is checked without understanding it. Optuna looks at the keys it knows and no
//    others.
// 2. Numbers have the fewest digits that read back to the same bits. A zero with a sign is
//    -0.0: a reader that knows whole numbers would lose the sign of -0.
// 3. Python's float() reads "inf" and "-inf", which JSON cannot say as numbers.

#include "journal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- values

void rh_journal__number(rh_text *text, double x)
{
    if (isnan(x))
        rh_text__add(text, "null");
    else if (isinf(x))
        rh_text__add(text, x > 0.0 ? "\"inf\"" : "\"-inf\"");
    else if (x == 0.0)
        rh_text__add(text, signbit(x) ? "-0.0" : "0");
    else
        rh_text__number(text, x);
}

// ---------------------------------------------------------------------------- lines

void rh_journal__begin_line(rh_text *text, int op_code)
{
    rh_text__add(text, "{\"op_code\":");
    rh_text__whole(text, op_code);
    rh_text__add(text, ",\"worker_id\":\"" RH_JOURNAL__WORKER);
    rh_text__whole(text, RH_JOURNAL__VERSION);
    rh_text__add(text, "\"");
}

void rh_journal__end_line(rh_text *text)
{
    if (text->bad)
        return;
    size_t first = text->n;
    while (first > 0 && text->data[first - 1] != '\n')
        first--;
    rh_text__format(text, ",\"crc\":\"%08" PRIx32 "\"}\n",
                    rh_base__crc32(0, text->data + first, text->n - first));
}

void rh_journal__study_attr(rh_text *text, const char *key)
{
    rh_journal__begin_line(text, 2);
    rh_text__add(text, ",\"study_id\":0,\"user_attr\":{");
    rh_text__json(text, key);
    rh_text__add(text, ":");
}

void rh_journal__trial_attr(rh_text *text, int id, const char *key)
{
    rh_journal__begin_line(text, 8);
    rh_text__add(text, ",\"trial_id\":");
    rh_text__whole(text, id);
    rh_text__add(text, ",\"user_attr\":{");
    rh_text__json(text, key);
    rh_text__add(text, ":");
}

void rh_journal__end_attr(rh_text *text)
{
    rh_text__add(text, "}");
    rh_journal__end_line(text);
}
