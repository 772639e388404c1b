// encoding.c - text of other encodings as UTF-8, piece by piece.
//
// 1. A byte-order mark identifies UTF-16. Without one, text is UTF-8.
// 2. A byte that is not part of valid UTF-8 is a character of Windows-1252, which contains the
//    printable characters of Latin-1. German and French exports of historians and spreadsheets
//    are written so. Which bytes are valid does not depend on how the text is cut into pieces.
// 3. A lone half of a surrogate pair becomes U+FFFD.

#include "encoding.h"
#include "base/base_internal.h"

#include <string.h>

#define LONGEST 4 // bytes of a character

// Windows-1252 from 0x80 to 0x9f; what it does not define is the control character of Latin-1.
static const uint16_t windows[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

size_t rh_encoding__begin(rh_encoding *e, const unsigned char *head, size_t n)
{
    *e = (rh_encoding){0};
    e->big = n >= 2 && head[0] == 0xfe && head[1] == 0xff;
    e->wide = e->big || (n >= 2 && head[0] == 0xff && head[1] == 0xfe);
    bool mark = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0;
    return e->wide ? 2 : mark ? 3 : 0;
}

// A character in UTF-8; returns its bytes.
static size_t put(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3f));
        to[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3f));
    to[2] = (char)(0x80 | (code >> 6 & 0x3f));
    to[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

// ---------------------------------------------------------------------------- UTF-16

static uint32_t unit(const rh_encoding *e, const unsigned char *at)
{
    return e->big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static size_t decode_wide(const rh_encoding *e, const unsigned char *from, size_t n, bool last,
                          char *to, size_t *used)
{
    size_t at = 0, out = 0;
    while (at + 2 <= n) {
        uint32_t code = unit(e, from + at);
        bool high = code >= 0xd800 && code < 0xdc00;
        if (high && at + 4 > n && !last)
            break;
        uint32_t next = high && at + 4 <= n ? unit(e, from + at + 2) : 0;
        at += 2;
        if (next >= 0xdc00 && next < 0xe000) {
            code = 0x10000 + ((code & 0x3ff) << 10 | (next & 0x3ff));
            at += 2;
        } else if (code >= 0xd800 && code < 0xe000) {
            code = 0xfffd;
        }
        out += put(to + out, code);
    }
    if (last && at < n) { // half of a character
        out += put(to + out, 0xfffd);
        at = n;
    }
    *used = at;
    return out;
}

// ---------------------------------------------------------------------------- UTF-8

size_t rh_encoding__decode(rh_encoding *e, const unsigned char *from, size_t n, bool last,
                           char *to, size_t *used)
{
    size_t at = 0, out = 0;
    if (e->wide)
        return decode_wide(e, from, n, last, to, used);
    while (at < n) {
        size_t plain = at;
        while (plain < n && from[plain] < 0x80)
            plain++;
        memcpy(to + out, from + at, plain - at);
        out += plain - at;
        at = plain;
        if (at == n)
            break;
        uint32_t code = 0;
        size_t length = rh_text__utf8((const char *)from + at, n - at, &code);
        if (!length && n - at < LONGEST && !last)
            break; // it may be the beginning of a character
        if (length) {
            memcpy(to + out, from + at, length);
            out += length;
            at += length;
        } else {
            unsigned char c = from[at++];
            e->nlatin++;
            out += put(to + out, c < 0xa0 ? windows[c - 0x80] : c);
        }
    }
    *used = at;
    return out;
}
