// inspect_numbers.c - statistics of one column.
//
// 1. The column is sorted, because distinct values, sentinels and deviations from the median
//    all need it. A radix sort is linear in every case: a million doubles take 40 ms. Longer
//    columns are sampled down to an evenly spaced million.
// 2. The scale is robust: the median deviation from the median, or the distance of the 2.5 %
//    quantiles over 3.92 if that is larger (both estimate the standard deviation of a normal).
//    The second still works if most values are equal.
// 3. A sentinel (-9999) is at an end of the column, occurs several times, and is far from the
//    rest relative to the width of the rest. It is removed before anything is measured, so that
//    a third of -9999 does not inflate the scale. Common sentinels may be nearer.

#include "base/base_internal.h"
#include "inspect.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define BITS 11           // bits of a sort digit
#define RADIX (1 << BITS) //
#define DIGITS 6          // digits in 64 bits

bool rh_inspect__room_init(rh_inspect__room *room, int64_t n)
{
    int64_t sample = n < RH_INSPECT__SAMPLE ? n : RH_INSPECT__SAMPLE;
    room->column = rh_alloc((size_t)n, sizeof *room->column);
    room->sorted = rh_alloc((size_t)sample, sizeof *room->sorted);
    room->spare = rh_alloc(2 * (size_t)sample, sizeof *room->spare);
    return room->column && room->sorted && room->spare;
}

void rh_inspect__room_clear(rh_inspect__room *room)
{
    rh_free(room->column);
    rh_free(room->sorted);
    rh_free(room->spare);
    *room = (rh_inspect__room){0};
}

int64_t rh_inspect__spread(int64_t i, int64_t k, int64_t n)
{
    return k >= n ? i : i * n / k;
}

// ---------------------------------------------------------------------------- sorting

// Doubles as integers in the same order, and back.
static uint64_t key_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (UINT64_C(1) << 63);
}

// The d-th digit of a key, least significant first.
static unsigned digit(uint64_t key, int d)
{
    return (unsigned)(key >> (BITS * d) & (RADIX - 1));
}

static double number_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

void rh_inspect__sort(rh_inspect__room *room)
{
    size_t n = (size_t)room->nsorted;
    uint64_t *from = room->spare, *to = room->spare + n;
    uint32_t count[DIGITS][RADIX] = {{0}};
    for (size_t i = 0; i < n; i++) {
        from[i] = key_of(room->sorted[i] + 0.0); // -0 becomes 0
        for (int d = 0; d < DIGITS; d++)
            count[d][digit(from[i], d)]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        // skip a digit that is the same everywhere
        if (n == 0 || count[d][digit(from[0], d)] == n)
            continue;
        uint32_t place[RADIX], sum = 0;
        for (int i = 0; i < RADIX; i++) {
            place[i] = sum;
            sum += count[d][i];
        }
        for (size_t i = 0; i < n; i++)
            to[place[digit(from[i], d)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n; i++)
        room->sorted[i] = number_of(from[i]);
}

// If two numbers are too far apart for a double, the lower one.
static double quantile_of(const double *x, int64_t n, double p)
{
    double q = rh_stats__quantile_sorted(x, (int)n, p);
    return isfinite(q) ? q : x[(int64_t)(p * (double)(n - 1))];
}

double rh_inspect__quantile(const rh_inspect__room *room, double p)
{
    return room->nsorted ? quantile_of(room->sorted, room->nsorted, p) : NAN;
}

// ---------------------------------------------------------------------------- outliers

// The remaining part of a sorted column, x[first] to x[last - 1].
typedef struct piece {
    const double *x;
    int64_t first, last;
} piece;

static double quantile(const piece *p, double at)
{
    return quantile_of(p->x + p->first, p->last - p->first, at);
}

bool rh_inspect__is_customary(double x)
{
    static const double known[] = {99.0,         999.0,        999.25, 9999.0,  99999.0,
                                   999999.0,     1e20,         1e30,   32767.0, 32768.0,
                                   2147483647.0, 2147483648.0, 65535.0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fabs(x) == known[i])
            return true;
    return false;
}

// How many equal numbers at the low or high end are a sentinel; 0 if they are none.
static int64_t count_sentinel(const piece *p, bool high)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int64_t n = p->last - p->first, count = 1;
    double end = high ? p->x[p->last - 1] : p->x[p->first];
    while (count < n && (high ? p->x[p->last - 1 - count] : p->x[p->first + count]) == end)
        count++;
    if (count == n || (double)count > limit->sentinel_share * (double)n)
        return 0;

    piece rest = {p->x, p->first + (high ? 0 : count), p->last - (high ? count : 0)};
    double gap = high ? end - p->x[rest.last - 1] : p->x[rest.first] - end;
    double width = quantile(&rest, 0.98) - quantile(&rest, 0.02);
    bool far = count >= limit->sentinel_count && gap > limit->sentinel_gap * width;
    bool customary = rh_inspect__is_customary(end) && gap > width;
    return (width > 0.0 && far) || customary ? count : 0;
}

// Remove a sentinel, at the end where it is more frequent.
static void drop_sentinel(rh_log_numbers *out, piece *p)
{
    int64_t low = count_sentinel(p, false), high = count_sentinel(p, true);
    out->sentinel = NAN;
    if (low == 0 && high == 0)
        return;
    out->sentinel = low >= high ? p->x[p->first] : p->x[p->last - 1];
    if (low >= high)
        p->first += low;
    else
        p->last -= high;
}

// The median distance from m.
static double median_deviation(const piece *p, double m)
{
    int64_t lo = p->first, hi = p->last - 1, n = p->last - p->first;
    double deviation = 0.0;
    for (int64_t left = n - n / 2; left > 0; left--) // drop the farther of the two ends
        if (m - p->x[lo] > p->x[hi] - m)
            deviation = m - p->x[lo++];
        else
            deviation = p->x[hi--] - m;
    return deviation;
}

static void measure_far(rh_log_numbers *out, piece *p)
{
    double m = quantile(p, 0.5);
    double scale =
        fmax(1.4826 * median_deviation(p, m), (quantile(p, 0.975) - quantile(p, 0.025)) / 3.92);
    double reach = scale > 0.0 ? rh_inspect__limit.absurd * scale : INFINITY;
    out->far_lo = m - reach;
    out->far_hi = m + reach;
    while (p->x[p->first] < out->far_lo)
        p->first++;
    while (p->x[p->last - 1] > out->far_hi)
        p->last--;
}

bool rh_inspect__is_absurd(const rh_log_numbers *numbers, double x)
{
    return x < numbers->far_lo || x > numbers->far_hi || x == numbers->sentinel;
}

// ---------------------------------------------------------------------------- all of it

// The bin of x. Computed with halves, because hi - lo may overflow.
static int bar_of(double x, double lo, double hi)
{
    double width = hi - lo, part = (x - lo) / width;
    if (isinf(width))
        part = (0.5 * x - 0.5 * lo) / (0.5 * hi - 0.5 * lo);
    int bar = width > 0.0 ? (int)(part * RH_LOG_NBAR) : 0;
    return bar < RH_LOG_NBAR ? bar : RH_LOG_NBAR - 1;
}

static void describe(rh_log_numbers *out, const piece *p)
{
    int64_t n = p->last - p->first;
    out->q25 = quantile(p, 0.25);
    out->median = quantile(p, 0.5);
    out->q75 = quantile(p, 0.75);
    out->lo = p->x[p->first];
    out->hi = p->x[p->last - 1];
    out->whole = true;
    for (int64_t i = p->first; i < p->last; i++) {
        out->ndistinct += i == p->first || p->x[i] != p->x[i - 1];
        out->whole = out->whole && p->x[i] == floor(p->x[i]);
        out->bar[bar_of(p->x[i], out->lo, out->hi)]++;
    }
    if (n == 0)
        out->whole = false;
}

// Mean and standard deviation without absurd values: two passes, centred at the median, in a
// unit in which squares neither overflow nor underflow.
static void average(rh_log_numbers *out, const double *x, int64_t n)
{
    double sum = 0.0, square = 0.0, width = 0.5 * out->hi - 0.5 * out->lo;
    double unit = width > 1e150 ? 0x1p-600 : width < 1e-150 ? 0x1p600 : 1.0;
    unit = fabs(out->median) < 1e150 || unit < 1.0 ? unit : 1.0;
    double centre = out->median * unit;
    int64_t count = 0;
    out->mean = out->sd = NAN;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        if (!rh_inspect__is_absurd(out, x[i])) {
            sum += x[i] * unit - centre;
            count++;
        } else if (x[i] == out->sentinel) {
            out->nsentinel++;
        } else {
            out->nabsurd++;
        }
    }
    if (!count)
        return;
    double off = sum / (double)count;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i]) && !rh_inspect__is_absurd(out, x[i])) {
            double d = x[i] * unit - centre - off;
            square += d * d;
        }
    out->mean = out->median + off / unit;
    out->sd = out->lo == out->hi ? 0.0 : sqrt(square / (double)count) / unit;
}

void rh_inspect__numbers(rh_log_numbers *out, rh_inspect__room *room, int64_t n)
{
    const double *x = room->column;
    *out = (rh_log_numbers){.min = INFINITY, .max = -INFINITY};
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            out->n++;
            out->min = fmin(out->min, x[i]);
            out->max = fmax(out->max, x[i]);
        } else if (isnan(x[i])) {
            out->nmissing++;
        } else {
            out->ninfinite++;
        }

    int64_t sample = n < RH_INSPECT__SAMPLE ? n : RH_INSPECT__SAMPLE;
    room->nsorted = 0;
    for (int64_t i = 0; i < sample; i++) {
        double value = x[rh_inspect__spread(i, sample, n)];
        if (isfinite(value))
            room->sorted[room->nsorted++] = value;
    }
    if (room->nsorted == 0) {
        *out = (rh_log_numbers){.n = out->n,
                                .nmissing = out->nmissing,
                                .ninfinite = out->ninfinite,
                                .min = out->n ? out->min : NAN,
                                .max = out->n ? out->max : NAN,
                                .q25 = NAN,
                                .median = NAN,
                                .q75 = NAN,
                                .mean = NAN,
                                .sd = NAN,
                                .lo = NAN,
                                .hi = NAN,
                                .far_lo = -INFINITY,
                                .far_hi = INFINITY,
                                .sentinel = NAN};
        return;
    }
    rh_inspect__sort(room);
    rh_inspect__scales(out, room->sorted, room->nsorted);
    piece left = {room->sorted, 0, room->nsorted};
    drop_sentinel(out, &left);
    measure_far(out, &left);
    describe(out, &left);
    average(out, x, n);
}
