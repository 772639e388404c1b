// journal_scan.c - the letters of a line, one after the other.
//
// Every step takes the place it begins at and returns the place behind it, or NULL where
// something else stands; NULL stays NULL, so that a line is read as one chain and asked about
// once, at its end.
//
// 1. Numbers w * 10^q: one product or quotient where both are exact doubles (Clinger 1990);
//    with w below 2^64 and q from -19 to 19, the same in 128 bits, rounded once; strtod() for
//    the rest, for which the caller has set the C locale.

#include "journal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT 9007199254740992ULL // 2^53: whole numbers up to it are doubles
#define MOST_POWER 22             // of ten that is a double
#define MOST_WHOLE 19             // power of ten that is below 2^64
#define LONGEST 64                // letters of a number

__extension__ typedef unsigned __int128 u128;

const char *rh_scan__after(const char *at, const char *end, const char *text)
{
    size_t n = strlen(text);
    return at && (size_t)(end - at) >= n && memcmp(at, text, n) == 0 ? at + n : NULL;
}

const char *rh_scan__whole(const char *at, const char *end, int64_t *n)
{
    if (!at || at == end || *at < '0' || *at > '9')
        return NULL;
    int64_t x = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (x > (INT64_MAX - 9) / 10)
            return NULL;
        x = 10 * x + (*at - '0');
    }
    *n = x;
    return at;
}

// What stands for a number that JSON does not have.
static const char *word(const char *at, const char *end, double *x)
{
    static const struct {
        const char *word;
        double x;
    } known[] = {{"null", NAN}, {"\"inf\"", INFINITY}, {"\"-inf\"", -INFINITY}};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(known[i].word);
        if ((size_t)(end - at) < n || memcmp(at, known[i].word, n) != 0)
            continue;
        *x = known[i].x;
        return at + n;
    }
    return NULL;
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

// The exponent's letters, if any. NULL: an e without digits.
static const char *exponent(const char *at, const char *end, int *power)
{
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (!is_digit(at, end))
        return NULL;
    int e = 0;
    for (; is_digit(at, end); at++)
        e = e < 10000 ? 10 * e + (*at - '0') : e;
    *power += negative ? -e : e;
    return at;
}

// w * 10^power to the nearest double, w above 0.
static double scaled(uint64_t w, int power)
{
    uint64_t ten = 1;
    for (int i = abs(power); i > 0; i--)
        ten *= 10;
    if (power >= 0)
        return (double)((u128)w * ten);

    // 128 bits of w, so that the quotient has 64 or more: its last bit can stand for the rest
    int up = __builtin_clzll(w);
    u128 n = (u128)(w << up) << 64, q = n / ten;
    q |= q * ten != n;
    return ldexp((double)q, -64 - up);
}

const char *rh_scan__number(const char *at, const char *end, double *x)
{
    static const double ten[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (!at)
        return NULL;
    if (at < end && (*at == 'n' || *at == '"'))
        return word(at, end, x);

    // all digits as one whole number, and the power of ten that it is short of
    const char *first = at;
    bool negative = at < end && *at == '-';
    at += negative;
    uint64_t w = 0;
    int ndigit = 0, power = 0;
    if (!is_digit(at, end))
        return NULL;
    for (; is_digit(at, end); at++, ndigit++)
        w = 10 * w + (uint64_t)(*at - '0');
    if (at < end && *at == '.') {
        at++;
        if (!is_digit(at, end))
            return NULL;
        for (; is_digit(at, end); at++, ndigit++, power--)
            w = 10 * w + (uint64_t)(*at - '0');
    }
    at = exponent(at, end, &power);
    if (!at)
        return NULL;

    if (ndigit <= MOST_WHOLE) { // w has not run over
        double y = NAN;
        if (w <= EXACT && abs(power) <= MOST_POWER)
            y = power < 0 ? (double)w / ten[-power] : (double)w * ten[power];
        else if (abs(power) <= MOST_WHOLE)
            y = scaled(w, power);
        if (!isnan(y)) {
            *x = negative ? -y : y;
            return at;
        }
    }
    char copy[LONGEST];
    size_t n = (size_t)(at - first);
    if (n >= sizeof copy)
        return NULL;
    memcpy(copy, first, n);
    copy[n] = 0;
    *x = strtod(copy, NULL);
    return at;
}
