// journal_text.c - text that grows, and the marks of a line of the journal.
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

#define FIRST_ROOM 1024
#define WHOLE 1e15 // whole numbers below it are printed as such

// ---------------------------------------------------------------------------- growing

void rh_text__clear(rh_text *text)
{
    rh_free(text->data);
    *text = (rh_text){0};
}

// Room for so many letters more, and the 0 behind them.
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

static void append(rh_text *text, const char *more, size_t n)
{
    if (!reserve(text, n))
        return;
    memcpy(text->data + text->n, more, n);
    text->n += n;
    text->data[text->n] = 0;
}

void rh_text__add(rh_text *text, const char *more)
{
    append(text, more, strlen(more));
}

void rh_text__whole(rh_text *text, int64_t x)
{
    char digits[RH_JOURNAL__NAME_SIZE];
    snprintf(digits, sizeof digits, "%" PRId64, x);
    rh_text__add(text, digits);
}

void rh_text__number(rh_text *text, double x)
{
    static const rh_param any = {0};
    char digits[RH_JOURNAL__NAME_SIZE];
    if (isnan(x))
        rh_text__add(text, "null");
    else if (isinf(x))
        rh_text__add(text, x > 0.0 ? "\"inf\"" : "\"-inf\"");
    else if (x == 0.0)
        rh_text__add(text, signbit(x) ? "-0.0" : "0");
    else if (fabs(x) < WHOLE && x == floor(x))
        rh_text__whole(text, (int64_t)x);
    else {
        rh_param_format(&any, x, digits, sizeof digits);
        rh_text__add(text, digits);
    }
}

// ---------------------------------------------------------------------------- words

// Bytes of the UTF-8 letter that begins here, 0 where none does (RFC 3629).
static size_t letter(const unsigned char *c)
{
    static const struct {
        unsigned char first, last; // of the leading byte
        unsigned char lo, hi;      // of the second byte
        size_t n;
    } form[] = {
        {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        if (c[0] < form[i].first || c[0] > form[i].last)
            continue;
        if (form[i].n > 1 && (c[1] < form[i].lo || c[1] > form[i].hi))
            return 0;
        for (size_t k = 2; k < form[i].n; k++)
            if (c[k] < 0x80 || c[k] > 0xbf)
                return 0;
        return form[i].n;
    }
    return 0;
}

// Whether a letter is no ink: controls, line ends of other alphabets (U+2028, U+2029), the
// mark of byte order (U+FEFF), and what no text may hold (U+FFFE, U+FFFF). YAML takes them in
// no other form than by their numbers.
static bool hidden(const unsigned char *c)
{
    return c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0) ||
           (c[0] == 0xe2 && c[1] == 0x80 && (c[2] & 0xfe) == 0xa8) ||
           (c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf) ||
           (c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe);
}

void rh_text__quote(rh_text *text, const char *words)
{
    char code[8];
    rh_text__add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)words; *c;) {
        size_t n = letter(c);
        if (n == 0) {
            rh_text__add(text, "\\ufffd");
            n = 1;
        } else if (*c == '"' || *c == '\\') {
            code[0] = '\\';
            code[1] = (char)*c;
            append(text, code, 2);
        } else if (hidden(c)) {
            unsigned x = n == 1   ? c[0]
                         : n == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                                  : (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
            snprintf(code, sizeof code, "\\u%04x", x);
            rh_text__add(text, code);
        } else
            append(text, (const char *)c, n);
        c += n;
    }
    rh_text__add(text, "\"");
}

const char *rh_journal__show(const char *found, char *room, size_t size)
{
    size_t n = 0;
    bool fits = strlen(found) < size;
    for (const char *c = found; *c; c++) {
        if (!fits && n + 5 > size) { // a letter, three points and the end
            while (n > 0 && ((unsigned char)*c & 0xc0) == 0x80) { // not within a letter
                n--;
                c--;
            }
            snprintf(room + n, size - n, "...");
            return room;
        }
        room[n++] = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    }
    room[n] = 0;
    return room;
}

// ---------------------------------------------------------------------------- lines

void rh_crc__init(rh_crc *crc)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        crc->byte[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = crc->byte[k - 1][i];
            crc->byte[k][i] = crc->byte[0][c & 255] ^ (c >> 8);
        }
}

uint32_t rh_crc__of(const rh_crc *crc, const char *bytes, size_t n)
{
    const unsigned char *b = (const unsigned char *)bytes;
    const uint32_t(*t)[256] = crc->byte;
    uint32_t c = ~UINT32_C(0);
    for (; n >= 8; n -= 8, b += 8) {
        c ^= (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        c = t[7][c & 255] ^ t[6][c >> 8 & 255] ^ t[5][c >> 16 & 255] ^ t[4][c >> 24] ^
            t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]];
    }
    for (; n > 0; n--, b++)
        c = t[0][(c ^ *b) & 255] ^ (c >> 8);
    return ~c;
}

uint32_t rh_journal__crc(const char *bytes, size_t n)
{
    rh_crc crc;
    rh_crc__init(&crc);
    return rh_crc__of(&crc, bytes, n);
}

void rh_text__begin_line(rh_text *text, int op_code)
{
    rh_text__add(text, "{\"op_code\":");
    rh_text__whole(text, op_code);
    rh_text__add(text, ",\"worker_id\":\"" RH_JOURNAL__WORKER);
    rh_text__whole(text, RH_JOURNAL__VERSION);
    rh_text__add(text, "\"");
}

void rh_text__end_line(rh_text *text)
{
    if (text->bad)
        return;
    size_t first = text->n;
    while (first > 0 && text->data[first - 1] != '\n')
        first--;
    char seal[RH_JOURNAL__SEAL + 2];
    snprintf(seal, sizeof seal, ",\"crc\":\"%08" PRIx32 "\"}\n",
             rh_journal__crc(text->data + first, text->n - first));
    rh_text__add(text, seal);
}

void rh_text__study_attr(rh_text *text, const char *key)
{
    rh_text__begin_line(text, 2);
    rh_text__add(text, ",\"study_id\":0,\"user_attr\":{");
    rh_text__quote(text, key);
    rh_text__add(text, ":");
}

void rh_text__trial_attr(rh_text *text, int id, const char *key)
{
    rh_text__begin_line(text, 8);
    rh_text__add(text, ",\"trial_id\":");
    rh_text__whole(text, id);
    rh_text__add(text, ",\"user_attr\":{");
    rh_text__quote(text, key);
    rh_text__add(text, ":");
}

void rh_text__end_attr(rh_text *text)
{
    rh_text__add(text, "}");
    rh_text__end_line(text);
}
