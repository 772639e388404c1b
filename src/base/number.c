// number.c - decimal to double and back.
//
// Reading: the digits become a whole number w and a power of ten q, x = w * 10^q.
//
// 1. w below 10^15 and |q| up to 22: both are doubles, so one product or quotient is rounded
//    once (Clinger 1990). A limit of 2^53 would make numbers of 16 digits branch unpredictably.
// 2. Else w times 128 bits of 5^q decides in all but a few cases (Lemire 2021, "Number parsing
//    at a gigabyte per second"; the table is number_powers.c).
// 3. Of more than 19 digits the first 19 are taken; when w and w + 1 come to the same double,
//    that is it. Otherwise, and where 2 does not decide, strtod() gets the digits without a
//    point, which is all that a locale could change. After 780 digits only whether there is
//    another one counts (the longest halfway case has 768).
//
// Digits after the point are read eight at a time (SWAR), the last ones too, so 16 or 17 digits
// make no branch. bench/bench_csv.c measures it.
//
// Writing: Giulietti's Schubfach (2020, "The Schubfach way to render doubles"): the shortest
// decimal between the two neighbours' midpoints, nearest to x. The same table serves, one unit
// up in the last place where it was cut off.

#include "number.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 19            // always fit in 64 bits
#define SHORT 1000000000000000ULL // w below this is an exact double, and goes the short way
#define SLOW_DIGITS 780           // that can matter to a double
#define FAR_EXPONENT 1000000000L  // no digits make up for it

__extension__ typedef unsigned __int128 u128;

// ---------------------------------------------------------------------------- digits

// Eight characters, the first in the lowest byte.
static uint64_t eight(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

// The number of eight digit values: pairs, then fours, then all.
static uint64_t value_of(uint64_t v)
{
    const uint64_t mask = 0x000000FF000000FF;
    v = v * 10 + (v >> 8);
    return (((v & mask) * (100 + (1000000ULL << 32)) +
             ((v >> 16) & mask) * (1 + (10000ULL << 32))) >>
            32) &
           0xFFFFFFFF;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Append the digits at p to *w; returns where they end.
static const char *take_digits(const char *p, const char *end, uint64_t *w)
{
    static const uint64_t ten[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t sum = *w;
    while (end - p >= 8) {
        uint64_t letters = eight(p), v = letters - 0x3030303030303030;
        uint64_t others = ((letters + 0x4646464646464646) | v) & 0x8080808080808080;
        if (!others) {
            sum = sum * 100000000 + value_of(v);
            p += 8;
            continue;
        }
        // the last few: shift out what follows them
        int n = __builtin_ctzll(others) >> 3;
        *w = sum * ten[n] + value_of(v << (56 - 8 * n) << 8);
        return p + n;
    }
    for (; p < end && is_digit(*p); p++)
        sum = sum * 10 + (uint64_t)(*p - '0');
    *w = sum;
    return p;
}

// ---------------------------------------------------------------------------- to a double

// x / 2^n, rounded down: what >> does to a negative number is up to the compiler.
static int floor_shift(int64_t x, int n)
{
    const int far = 4096; // no exponent is so far below 0
    return (int)((uint64_t)(x + ((int64_t)far << n)) >> n) - far;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// w * 10^q by the table; false when it does not decide.
static inline bool by_table(uint64_t w, int64_t q, double *x)
{
    *x = 0.0;
    if (w == 0 || q < RH_POWERS__LEAST)
        return true;
    *x = INFINITY;
    if (q > 308)
        return true;

    // the first bits of the product; the second half of the power only when it can matter
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    const uint64_t *power = rh_powers__of_five((int)q);
    u128 product = (u128)w * power[0];
    uint64_t upper = (uint64_t)(product >> 64), lower = (uint64_t)product;
    if ((upper & 0x1FF) == 0x1FF) {
        uint64_t more = (uint64_t)(((u128)w * power[1]) >> 64);
        lower += more;
        upper += lower < more;
    }
    if (lower == UINT64_MAX && (q < -27 || q > 55))
        return false;

    // 54 bits of it, the last one for rounding, and the binary exponent
    int top = (int)(upper >> 63), shift = top + 9;
    uint64_t m = upper >> shift;
    int64_t exponent = (int64_t)floor_shift(217706 * q, 16) + 63 + top - zeros + 1023;
    if (exponent <= 0) {
        *x = 0.0;
        if (exponent < -62)
            return true;
        m >>= 1 - exponent;
        m = (m + (m & 1)) >> 1;
        *x = from_bits(m); // 2^52, where normal numbers begin, has the right bits by itself
        return true;
    }

    // exactly half way: to the even neighbour
    if (lower <= 1 && q >= -4 && q <= 23 && (m & 3) == 1 && m << shift == upper)
        m &= ~1ULL;
    m = (m + (m & 1)) >> 1;
    if (m >= 1ULL << 53) {
        m = 1ULL << 52;
        exponent++;
    }
    if (exponent < 2047)
        *x = from_bits((m & ~(1ULL << 52)) | (uint64_t)exponent << 52);
    return true;
}

// The digits from p to end, at most one point among them, times 10^q as one whole number.
static double slowly(const char *p, const char *end, int64_t q)
{
    char text[SLOW_DIGITS + 32];
    int n = 0;
    bool rest = false;
    for (; p < end; p++)
        if (*p != '.' && (n > 0 || *p != '0')) {
            if (n < SLOW_DIGITS) {
                text[n++] = *p;
            } else {
                rest = rest || *p != '0';
                q++;
            }
        }
    if (rest) {
        text[n++] = '1';
        q--;
    }
    snprintf(text + n, 32, "e%lld", (long long)q);
    return strtod(text, NULL);
}

// More than 19 digits from p to end.
static double from_many(const char *p, const char *end, int64_t q)
{
    const char *all = p;
    int64_t most = q;
    uint64_t w = 0;
    int n = 0;
    for (; p < end; p++)
        if (*p != '.' && (n > 0 || *p != '0')) {
            if (n < MOST_DIGITS) {
                w = w * 10 + (uint64_t)(*p - '0');
                n++;
            } else {
                most++;
            }
        }
    double x, y;
    if (by_table(w, most, &x) && by_table(w + 1, most, &y) && x == y)
        return x;
    return slowly(all, end, q);
}

static const char *take_exponent(const char *p, const char *end, int64_t *q)
{
    if (p >= end || (*p | 32) != 'e')
        return p;
    const char *d = p + 1;
    bool minus = d < end && *d == '-';
    d += d < end && (*d == '-' || *d == '+');
    if (d >= end || !is_digit(*d))
        return p;
    int64_t e = 0;
    for (; d < end && is_digit(*d); d++)
        e = e < FAR_EXPONENT ? e * 10 + (*d - '0') : e;
    *q += minus ? -e : e;
    return d;
}

const char *rh_number__parse(const char *p, const char *end, double *x)
{
    static const double ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool minus = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');

    // the digits as one whole number, and where the point was
    const char *digits = p;
    uint64_t w = 0;
    int64_t q = 0;
    for (; p < end && is_digit(*p); p++) // seldom many
        w = w * 10 + (uint64_t)(*p - '0');
    int64_t ndigit = p - digits;
    if (p < end && *p == '.') {
        const char *point = p + 1;
        p = take_digits(point, end, &w);
        q = point - p;
        ndigit += p - point;
    }
    if (ndigit == 0)
        return NULL;
    const char *after = p;
    p = take_exponent(p, end, &q);

    // leading zeros do not count
    if (ndigit > MOST_DIGITS)
        for (const char *d = digits; d < after && (*d == '0' || *d == '.'); d++)
            ndigit -= *d == '0';
    double value;
    if (ndigit > MOST_DIGITS)
        value = from_many(digits, after, q);
    else if (q >= -22 && q <= 22 && w < SHORT)
        value = q < 0 ? (double)w / ten[-q] : (double)w * ten[q];
    else if (!by_table(w, q, &value))
        value = slowly(digits, after, q);
    *x = minus ? -value : value;
    return p;
}

// ---------------------------------------------------------------------------- fields

static bool is_word(const char *text, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!word[i] || (text[i] | 32) != word[i])
            return false;
    return !word[n];
}

rh_number__kind rh_number__read(const char *text, size_t n, double *x)
{
    const char *end = text + n;
    if (rh_number__parse(text, end, x) == end)
        return isinf(*x) ? RH_NUMBER_BEYOND : RH_NUMBER;

    *x = NAN;
    if (n == 0 || (n == 1 && (*text == '-' || *text == '?')))
        return RH_NUMBER_MISSING;
    size_t sign = *text == '-' || *text == '+';
    if (is_word(text + sign, n - sign, "inf") || is_word(text + sign, n - sign, "infinity")) {
        *x = *text == '-' ? -INFINITY : INFINITY;
        return RH_NUMBER;
    }
    if (is_word(text + sign, n - sign, "nan"))
        return RH_NUMBER_MISSING;
    static const char *const missing[] = {"na", "n/a", "null", "none", "#n/a", "<na>"};
    for (int i = 0; i < 6; i++)
        if (is_word(text, n, missing[i]))
            return RH_NUMBER_MISSING;
    return RH_NUMBER_TEXT;
}

// ---------------------------------------------------------------------------- to text

// The upper 64 bits of power * c, odd when anything is below them.
static uint64_t product_odd(u128 power, uint64_t c)
{
    u128 low = (u128)(uint64_t)power * c;
    u128 high = (u128)(uint64_t)(power >> 64) * c + (low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static u128 power_up(int e)
{
    assert(e >= RH_POWERS__LEAST && e <= RH_POWERS__MOST);
    const uint64_t *power = rh_powers__of_five(e);
    return ((u128)power[0] << 64 | power[1]) + (e < -27 || e > 55);
}

static int floor_log2_ten(int e) // of 10^e
{
    return floor_shift((int64_t)e * 1741647, 19);
}

// The shortest decimal digits * 10^*exponent that reads back as x, which is finite and > 0.
static uint64_t shortest(double x, int *exponent)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t fraction = bits & ((1ULL << 52) - 1), c = fraction;
    int q = (int)(bits >> 52), closer = fraction == 0 && q > 1;
    if (q > 0)
        c |= 1ULL << 52;
    q = (q > 0 ? q : 1) - 1075;

    // four times x and its two midpoints, in units of 10^k
    int k = floor_shift((int64_t)q * 1262611 - (closer ? 524031 : 0), 22);
    int h = q + floor_log2_ten(-k) + 1;
    u128 power = power_up(-k);
    uint64_t odd = c & 1;
    uint64_t lower = product_odd(power, (4 * c - 2 + (uint64_t)closer) << h) + odd;
    uint64_t upper = product_odd(power, (4 * c + 2) << h) - odd;
    uint64_t middle = product_odd(power, (4 * c) << h);

    // one digit less, if one such number is inside; else the nearer of the two around x
    uint64_t s = middle / 4, t = s / 10;
    bool below = lower <= 40 * t, above = 40 * t + 40 <= upper;
    *exponent = k + 1;
    if (s >= 10 && below != above)
        return t + above;
    *exponent = k;
    below = lower <= 4 * s;
    above = 4 * s + 4 <= upper;
    if (below != above)
        return s + above;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1)));
}

int rh_number__print(double x, char text[RH_NUMBER__SIZE])
{
    char *out = text, digit[24];
    if (isnan(x))
        return snprintf(text, RH_NUMBER__SIZE, "nan");
    if (signbit(x))
        *out++ = '-';
    if (isinf(x) || x == 0.0) {
        strcpy(out, x == 0.0 ? "0" : "inf"); // NOLINT(clang-analyzer-security*): it fits
        return (int)strlen(text);
    }
    int e, n;
    uint64_t d = shortest(fabs(x), &e);
    for (; d % 10 == 0; d /= 10)
        e++;
    n = snprintf(digit, sizeof digit, "%llu", (unsigned long long)d);

    // plain from 0.0001 to below 10^16, as most people write
    int point = n + e;
    if (point > -4 && point <= 0) {
        memcpy(out, "0.000", 5);
        out += 2 - point;
        memcpy(out, digit, (size_t)n);
        out += n;
    } else if (point > 0 && point <= 16) {
        for (int i = 0; i < n || i < point; i++) {
            if (i == point)
                *out++ = '.';
            *out++ = i < n ? digit[i] : '0';
        }
    } else {
        *out++ = digit[0];
        if (n > 1)
            *out++ = '.';
        memcpy(out, digit + 1, (size_t)(n - 1));
        out += n - 1;
        out += snprintf(out, 8, "e%+03d", point - 1);
    }
    *out = 0;
    return (int)(out - text);
}

int rh_number__json(double x, char text[RH_NUMBER__SIZE])
{
    return isfinite(x) ? rh_number__print(x, text) : snprintf(text, RH_NUMBER__SIZE, "null");
}
