// npy.c - NumPy's array files: magic bytes, a header that is a Python literal, the elements.
//
// After numpy.lib.format, versions 1.0 to 3.0:
//
//     \x93NUMPY <major> <minor> <length: 2 or 4 bytes, little-endian>
//     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   blanks, newline
//
// 1. The three keys are required, each once, in any order; anything else is refused. This is
//    no parser for Python, only for this form.
// 2. float16 is widened in C: that needs no compiler flag and is exact.

#include "npy.h"

#include <math.h>
#include <string.h>

size_t rh_npy__head_size(const unsigned char *bytes, size_t n)
{
    if (n < RH_NPY__FIRST || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return 0;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] == 1)
        return 10 + length;
    return 12 + (length | (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24);
}

// ---------------------------------------------------------------------------- the literal

typedef struct scan {
    const char *at, *end;
} scan;

static void skip_blanks(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t'))
        s->at++;
}

// Whether the next character is `c`; if so, skip it.
static bool pass(scan *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool pass_word(scan *s, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

// A quoted text without escapes; false if it is none or does not fit.
static bool read_text(scan *s, char *text, size_t size)
{
    skip_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"'))
        return false;
    char quote = *s->at++;
    size_t n = 0;
    while (s->at < s->end && *s->at != quote) {
        if (*s->at == '\\' || n + 1 >= size)
            return false;
        text[n++] = *s->at++;
    }
    text[n] = 0;
    return pass(s, quote);
}

static bool read_count(scan *s, int64_t *count)
{
    skip_blanks(s);
    int64_t value = 0;
    const char *begin = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (value > INT64_MAX / 10 - 1)
            return false;
        value = 10 * value + (*s->at - '0');
    }
    if (s->at == begin)
        return false;
    if (s->at < s->end && *s->at == 'L') // written by Python 2
        s->at++;
    *count = value;
    return true;
}

static bool read_shape(scan *s, rh_npy *npy)
{
    if (!pass(s, '('))
        return false;
    while (!pass(s, ')')) {
        if (npy->rank == RH_NPY__RANK || !read_count(s, &npy->dim[npy->rank]))
            return false;
        npy->rank++;
        if (!pass(s, ','))
            return npy->rank > 1 && pass(s, ')'); // one dimension is written (3,)
    }
    return true;
}

// "<f8", "|b1", ">U12"; U counts characters of four bytes.
static bool read_type(const char *descr, rh_npy *npy)
{
    const char *at = descr;
    npy->big = *at == '>';
    if (*at == '<' || *at == '>' || *at == '|' || *at == '=')
        at++;
    npy->kind = *at ? *at++ : 'V';
    int64_t size = 0;
    for (; *at >= '0' && *at <= '9' && size < 1000000; at++)
        size = 10 * size + (*at - '0');
    if (*at)
        npy->kind = 'V'; // such as <M8[ns]
    npy->size = (int)(npy->kind == 'U' ? 4 * size : size);
    return size < 1000000;
}

static bool read_head(scan *s, rh_npy *npy)
{
    char key[20], descr[40];
    int had = 0;
    if (!pass(s, '{'))
        return false;
    while (!pass(s, '}')) {
        if (!read_text(s, key, sizeof key) || !pass(s, ':'))
            return false;
        int bit = 0;
        if (strcmp(key, "descr") == 0) {
            bit = 1;
            skip_blanks(s);
            if (s->at < s->end && *s->at == '[') { // a structured type
                npy->kind = 'V';
                return true;
            }
            if (!read_text(s, descr, sizeof descr) || !read_type(descr, npy))
                return false;
        } else if (strcmp(key, "fortran_order") == 0) {
            bit = 2;
            npy->fortran = pass_word(s, "True");
            if (!npy->fortran && !pass_word(s, "False"))
                return false;
        } else if (strcmp(key, "shape") == 0) {
            bit = 4;
            if (had & bit || !read_shape(s, npy))
                return false;
        }
        if (!bit || had & bit)
            return false;
        had |= bit;
        if (pass(s, ','))
            continue;
        if (!pass(s, '}'))
            return false;
        break;
    }
    skip_blanks(s);
    return had == 7 && s->at == s->end;
}

static bool is_number(const rh_npy *npy)
{
    switch (npy->kind) {
    case 'f':
        return npy->size == 2 || npy->size == 4 || npy->size == 8;
    case 'i':
    case 'u':
        return npy->size == 1 || npy->size == 2 || npy->size == 4 || npy->size == 8;
    case 'b':
        return npy->size == 1;
    default:
        return false;
    }
}

rh_status rh_npy__parse(rh_npy *out, const unsigned char *bytes, size_t n, const char *what,
                        rh_error *err)
{
    rh_npy npy = {.count = 1};
    size_t head = rh_npy__head_size(bytes, n);
    if (head == 0)
        return rh_fail(err, RH_EFORMAT, "%s: not a NumPy array", what);
    if (head > n)
        return rh_fail(err, RH_EFORMAT,
                       "%s: the array's head is cut off: %zu bytes, expected %zu", what, n,
                       head);
    size_t before = bytes[6] == 1 ? 10 : 12;
    const char *text = (const char *)bytes;
    scan s = {text + before, text + head};
    if (!read_head(&s, &npy)) {
        char found[64], shown[48];
        size_t length = head - before < 60 ? head - before : 60;
        memcpy(found, text + before, length);
        found[length] = 0;
        return rh_fail(err, RH_EFORMAT,
                       "%s: the array's head is '%s', expected {'descr': ..., "
                       "'fortran_order': ..., 'shape': ...}",
                       what, rh_text__printable(found, shown, sizeof shown));
    }

    // refuse shapes with more elements than can be addressed
    for (int i = 0; i < npy.rank; i++) {
        if (npy.dim[i] > 0 && npy.count > (INT64_C(1) << 52) / npy.dim[i])
            return rh_fail(err, RH_EFORMAT, "%s: the array's shape is too large", what);
        npy.count *= npy.dim[i];
    }
    if (npy.kind != 'O' && npy.kind != 'U' && npy.kind != 'S' && !is_number(&npy))
        npy.kind = 'V';
    npy.head = head;
    *out = npy;
    return RH_OK;
}

const char *rh_npy__type(const rh_npy *npy)
{
    static const char *const name[3][4] = {{"int8", "int16", "int32", "int64"},
                                           {"uint8", "uint16", "uint32", "uint64"},
                                           {"", "float16", "float32", "float64"}};
    int place = npy->size == 8 ? 3 : npy->size / 2;
    switch (npy->kind) {
    case 'b':
        return "bool";
    case 'i':
        return name[0][place];
    case 'u':
        return name[1][place];
    case 'f':
        return name[2][place];
    case 'O':
        return "Python objects (pickled)";
    case 'U':
    case 'S':
        return "text";
    default:
        return "records, times or complex numbers";
    }
}

// ---------------------------------------------------------------------------- elements

static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023), x;
    if (exponent == 31)
        x = fraction == 0.0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        x = ldexp(fraction, -24);
    else
        x = ldexp(1024.0 + fraction, exponent - 25);
    return bits >> 15 ? -x : x;
}

static double element(const rh_npy *npy, uint64_t bits)
{
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    switch (npy->kind) {
    case 'f':
        if (npy->size == 2)
            return half(bits);
        memcpy(&single, &low, sizeof single);
        memcpy(&number, &bits, sizeof number);
        return npy->size == 4 ? (double)single : number;
    case 'i': {
        int unused = 64 - 8 * npy->size;
        return (double)((int64_t)(bits << unused) >> unused);
    }
    default:
        return (double)bits;
    }
}

void rh_npy__numbers(const rh_npy *npy, const unsigned char *raw, int64_t n, double *x)
{
    int size = npy->size;
    for (int64_t i = 0; i < n; i++, raw += size) {
        uint64_t bits = 0;
        for (int k = 0; k < size; k++)
            bits |= (uint64_t)raw[npy->big ? size - 1 - k : k] << 8 * k;
        x[i] = element(npy, bits);
    }
}

// Append a character as UTF-8; false if it does not fit or is invalid.
static bool put_letter(uint32_t letter, char *text, size_t size, size_t *n)
{
    int more = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    static const unsigned char lead[4] = {0, 0xc0, 0xe0, 0xf0};
    if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000) ||
        *n + (size_t)more + 2 > size)
        return false;
    text[(*n)++] = (char)(lead[more] | letter >> 6 * more);
    while (more-- > 0)
        text[(*n)++] = (char)(0x80 | (letter >> 6 * more & 63));
    return true;
}

bool rh_npy__text(const rh_npy *npy, const unsigned char *raw, char *text, size_t size)
{
    int step = npy->kind == 'U' ? 4 : 1;
    size_t n = 0;
    for (int i = 0; i < npy->size; i += step) {
        uint32_t letter = 0;
        for (int k = 0; k < step; k++)
            letter |= (uint32_t)raw[i + (npy->big ? step - 1 - k : k)] << 8 * k;
        if (letter == 0)
            break; // texts are padded with zeros
        if (npy->kind == 'S' && letter > 127)
            return false;
        if (!put_letter(letter, text, size, &n))
            return false;
    }
    text[n] = 0;
    return true;
}

size_t rh_npy__write_head(unsigned char head[RH_NPY__OWN_HEAD], const char *descr, int rank,
                          const int64_t dim[2])
{
    char shape[64];
    if (rank == 1)
        snprintf(shape, sizeof shape, "(%lld,)", (long long)dim[0]);
    else
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)dim[0], (long long)dim[1]);
    memset(head, ' ', RH_NPY__OWN_HEAD);
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = RH_NPY__OWN_HEAD - 10;
    head[9] = 0;
    int n = snprintf((char *)head + 10, RH_NPY__OWN_HEAD - 10,
                     "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    head[10 + n] = ' ';
    head[RH_NPY__OWN_HEAD - 1] = '\n';
    return RH_NPY__OWN_HEAD;
}
