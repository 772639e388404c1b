// line.c - a line of text in a fixed buffer: nothing is allocated per step.

#include "base/base_internal.h"
#include "base/number.h"
#include "deploy_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_n(rh_line *line, const char *text, size_t n)
{
    if (line->full || n >= line->size - line->n) {
        line->full = true;
        return;
    }
    memcpy(line->at + line->n, text, n);
    line->n += n;
    line->at[line->n] = 0;
}

void rh_line__add(rh_line *line, const char *text)
{
    add_n(line, text, strlen(text));
}

void rh_line__number(rh_line *line, double x)
{
    char digits[RH_NUMBER__SIZE];
    add_n(line, digits, (size_t)rh_number__json(x, digits));
}

void rh_line__whole(rh_line *line, int64_t x)
{
    char digits[24];
    add_n(line, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, x));
}

void rh_line__string(rh_line *line, const char *text)
{
    size_t left = strlen(text);
    add_n(line, "\"", 1);
    while (left > 0) {
        uint32_t code = 0;
        size_t n = rh_text__utf8(text, left, &code);
        char escaped[8];
        if (n == 0) {
            add_n(line, "\\ufffd", 6);
            n = 1;
        } else if (code < 0x20 || code == '"' || code == '\\') {
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)code);
            add_n(line, escaped, 6);
        } else
            add_n(line, text, n);
        text += n;
        left -= n;
    }
    add_n(line, "\"", 1);
}

// The label of a discrete action, as a number where it is one; or a vector.
void rh_line__action(rh_line *line, const rh_best *best, const double *act)
{
    double x;
    if (best->task.naction) {
        const char *label = best->label[(int)act[0]];
        if (rh_number__read(label, strlen(label), &x) == RH_NUMBER && isfinite(x))
            rh_line__number(line, x);
        else
            rh_line__string(line, label);
        return;
    }
    for (int k = 0; k < best->task.nact; k++) {
        add_n(line, k ? "," : "[", 1);
        rh_line__number(line, act[k]);
    }
    add_n(line, "]", 1);
}

void rh_line__bits(rh_line *line, const char *key, unsigned bits, const char *(*name)(int))
{
    bool any = false;
    for (int i = 0; name(i); i++) {
        if (!(bits >> i & 1))
            continue;
        rh_line__add(line, ",\"");
        if (!any) {
            rh_line__add(line, key);
            rh_line__add(line, "\":[\"");
        }
        rh_line__add(line, name(i));
        rh_line__add(line, "\"");
        any = true;
    }
    rh_line__add(line, any ? "]" : "");
}
