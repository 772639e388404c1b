// text.h - text that grows, quoting, printable text and checksums. Numbers are in number.h.

#ifndef REHEARSE_BASE_TEXT_H
#define REHEARSE_BASE_TEXT_H

#include "rehearse/base.h"

// ---------------------------------------------------------------------------- growing text

// Starts as all zeros. Once memory has run out `bad` is set and every further call does
// nothing, so a caller checks once, at the end.
typedef struct rh_text {
    char *data; // owned, ends with a 0; NULL while empty
    size_t n, room;
    bool bad;
} rh_text;

void rh_text__clear(rh_text *text);
void rh_text__add(rh_text *text, const char *more);
void rh_text__add_n(rh_text *text, const char *more, size_t n);
void rh_text__format(rh_text *text, const char *format, ...) RH_PRINTF(2, 3);
void rh_text__whole(rh_text *text, int64_t x);
void rh_text__number(rh_text *text, double x); // fewest digits that read back

// ---------------------------------------------------------------------------- quoting

// A JSON string with its quotes, always valid: bytes that are not UTF-8 become U+FFFD.
void rh_text__json(rh_text *text, const char *value);
// A YAML scalar: plain where YAML reads it back as this text, otherwise in double quotes.
void rh_text__yaml(rh_text *text, const char *value);
// One word of a POSIX shell command, quoted where it needs it.
void rh_text__shell(rh_text *text, const char *value);

// ---------------------------------------------------------------------------- printable text

// Copy value for a message: one line, control characters and bytes that are not UTF-8 replaced
// by '?', cut with "..." where it does not fit. Returns `shown`.
const char *rh_text__printable(const char *value, char *shown, size_t size);
const char *rh_text__printable_n(const char *value, size_t n, char *shown, size_t size);

// ---------------------------------------------------------------------------- small helpers

// Append to the text in an array of `size` bytes; what does not fit is cut.
void rh_text__put(char *text, size_t size, const char *format, ...) RH_PRINTF(3, 4);

// CRC-32 as in zip and PNG, by zlib; `crc` is 0 at first, or the checksum of what came before.
uint32_t rh_base__crc32(uint32_t crc, const void *bytes, size_t n);

// RH_ENOMEM with "<what>: out of memory". Nullable: what, err. Inline, so that a static
// analyser sees that it never returns RH_OK.
void rh_base__say_no_memory(rh_error *err, const char *what);
static inline rh_status rh_base__no_memory(rh_error *err, const char *what)
{
    rh_base__say_no_memory(err, what);
    return RH_ENOMEM;
}

// A copy from rh_alloc(); NULL without memory or of NULL.
char *rh_base__copy(const char *text);

#endif
