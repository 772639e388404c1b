// journal_text.c - numbers, and the start and end of a line of the journal.
//
//     {"op_code":8,"worker_id":"rehearse/3", ... ,"crc":"89abcdef"}
//
// 1. The checksum is the CRC-32 of everything before ,"crc" in this line and in all lines of
//    ours before it, so lines that were moved, lost or doubled are noticed. It is last, so a
//    line can be checked without parsing it. Optuna ignores keys that it does not know.
// 2. Numbers have the fewest digits that read back to the same bits. Negative zero is -0.0,
//    because a reader of integers would lose the sign of -0.
// 3. JSON has no infinity. "inf" and "-inf" are what Python's float() reads.

#include "journal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- numbers

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
    rh_text__format(text, "{\"op_code\":%d,\"worker_id\":\"" RH_JOURNAL__WORKER "%d\"", op_code,
                    RH_JOURNAL__VERSION);
}

void rh_journal__end_line(rh_text *text)
{
    rh_text__add(text, ",\"crc\":\"00000000\"}\n");
}

void rh_journal__seal_lines(rh_text *text, uint32_t *crc)
{
    static const size_t digits = 10; // 8, a quote and a brace, at the end of a line
    for (size_t first = 0; first < text->n && !text->bad;) {
        const char *line = text->data + first, *end = memchr(line, '\n', text->n - first);
        size_t n = end ? (size_t)(end - line) : text->n - first;
        char seal[12];
        if (n < RH_JOURNAL__SEAL)
            return;
        *crc = rh_base__crc32(*crc, line, n - RH_JOURNAL__SEAL);
        snprintf(seal, sizeof seal, "%08" PRIx32, *crc);
        memcpy(text->data + first + n - digits, seal, 8);
        first += n + 1;
    }
}

void rh_journal__study_attr(rh_text *text, int study, const char *key)
{
    rh_journal__begin_line(text, 2);
    rh_text__format(text, ",\"study_id\":%d,\"user_attr\":{\"%s\":", study, key);
}

void rh_journal__system_attr(rh_text *text, int study, const char *key)
{
    rh_journal__begin_line(text, 3);
    rh_text__format(text, ",\"study_id\":%d,\"system_attr\":{\"%s\":", study, key);
}

void rh_journal__trial_attr(rh_text *text, int id, const char *key)
{
    rh_journal__begin_line(text, 8);
    rh_text__format(text, ",\"trial_id\":%d,\"user_attr\":{\"%s\":", id, key);
}

void rh_journal__end_attr(rh_text *text)
{
    rh_text__add(text, "}");
    rh_journal__end_line(text);
}
