// text.c - text that grows, printable text for messages, and the checksum.
//
// 1. Memory comes from rh_alloc(), in blocks that double. A failed allocation marks the text as
//    bad; what was added before stays.
// 2. UTF-8 is checked as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
// 3. Hidden are control characters, those that turn the direction of the text around them
//    (U+202E makes "gpj.exe" of "exe.jpg") and those that show nothing. The joiners U+200C and
//    U+200D are not: Persian and Hindi are written with them.

#include "text.h"
#include "base_internal.h"
#include "number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#define FIRST_ROOM 1024

// ---------------------------------------------------------------------------- growing text

void rh_text__clear(rh_text *text)
{
    rh_free(text->data);
    *text = (rh_text){0};
}

// Make space for `more` bytes and the closing 0.
static bool reserve(rh_text *text, size_t more)
{
    if (text->bad)
        return false;
    if (text->n + more < text->room)
        return true;
    size_t room = text->room ? text->room : FIRST_ROOM;
    while (room <= text->n + more)
        room *= 2;
    char *data = rh_alloc(room, 1);
    if (!data) {
        text->bad = true;
        return false;
    }
    if (text->n > 0)
        memcpy(data, text->data, text->n);
    rh_free(text->data);
    text->data = data;
    text->room = room;
    return true;
}

void rh_text__add_n(rh_text *text, const char *more, size_t n)
{
    if (!reserve(text, n))
        return;
    if (n > 0)
        memcpy(text->data + text->n, more, n);
    text->n += n;
    text->data[text->n] = 0;
}

void rh_text__add(rh_text *text, const char *more)
{
    rh_text__add_n(text, more, strlen(more));
}

void rh_text__format(rh_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !reserve(text, (size_t)n))
        return;
    va_start(args, format);
    vsnprintf(text->data + text->n, (size_t)n + 1, format, args);
    va_end(args);
    text->n += (size_t)n;
}

void rh_text__whole(rh_text *text, int64_t x)
{
    char digits[RH_NUMBER__SIZE];
    rh_text__add_n(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, x));
}

void rh_text__number(rh_text *text, double x)
{
    char digits[RH_NUMBER__SIZE];
    rh_text__add_n(text, digits, (size_t)rh_number__print(x, digits));
}

// ---------------------------------------------------------------------------- UTF-8

size_t rh_text__utf8(const char *at, size_t n, uint32_t *code)
{
    static const struct {
        unsigned char first, last; // leading byte
        unsigned char lo, hi;      // second byte
        size_t n;
    } form[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *c = (const unsigned char *)at;
    size_t i = 0;
    while (i < sizeof form / sizeof *form && (c[0] < form[i].first || c[0] > form[i].last))
        i++;
    if (i == sizeof form / sizeof *form || form[i].n > n)
        return 0;
    uint32_t x = form[i].n == 1 ? c[0] : c[0] & (0x7fu >> form[i].n);
    for (size_t k = 1; k < form[i].n; k++) {
        if (c[k] < (k == 1 ? form[i].lo : 0x80) || c[k] > (k == 1 ? form[i].hi : 0xbf))
            return 0;
        x = x << 6 | (c[k] & 0x3fu);
    }
    *code = x;
    return form[i].n;
}

bool rh_text__hidden(uint32_t code)
{
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                 (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    bool invisible = code == 0xad || code == 0x180e || code == 0x200b ||
                     (code >= 0x2060 && code <= 0x2064) || (code >= 0x206a && code <= 0x206f) ||
                     code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || code == 0xfffe ||
                     code == 0xffff;
    return control || turns || invisible;
}

const char *rh_text__printable_n(const char *value, size_t n, char *shown, size_t size)
{
    size_t used = 0, cut = 0; // cut: the last place where "..." still fits
    for (size_t at = 0, length; at < n; at += length) {
        uint32_t code = 0;
        length = rh_text__utf8(value + at, n - at, &code);
        bool visible = length > 0 && !rh_text__hidden(code);
        if (length == 0)
            length = 1;
        size_t width = visible ? length : 1;
        if (used + width >= size) {
            snprintf(shown + cut, size - cut, "...");
            return shown;
        }
        memcpy(shown + used, visible ? value + at : "?", width);
        used += width;
        if (used + sizeof "..." <= size)
            cut = used;
    }
    shown[used] = 0;
    return shown;
}

const char *rh_text__printable(const char *value, char *shown, size_t size)
{
    return rh_text__printable_n(value, strlen(value), shown, size);
}

void rh_text__put(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

// ---------------------------------------------------------------------------- checksum

uint32_t rh_base__crc32(uint32_t crc, const void *bytes, size_t n)
{
    return n ? (uint32_t)crc32_z(crc, bytes, n) : crc; // zlib takes NULL for "start again"
}
