// inspect_scales.c - columns whose numbers are on two scales: decimal signs that were lost, and
// units that were changed.
//
// 1. A decimal sign is lost in some numbers: 10.0664 became 100664, beside 9.6. What is left is
//    an integer far beyond all numbers with decimals, and a power of ten brings it back among
//    them. A measurement beyond the others would have decimals too, and the range between would
//    not be empty.
// 2. A unit was changed: two ranges with nothing between, and one moment at which the column
//    passes from one to the other. A plant that was moved to another operating point looks the
//    same, so this is a question.

#include "inspect.h"

#include <math.h>

#define FEWEST 20       // numbers with decimals, to know their range; by hand
#define FEW_BEYOND 3    // integers beyond them, all different; by hand
#define SHARE_BACK 0.95 // of these that a power of ten brings back; by hand
#define MARGIN 0.1      // of the range, on both sides of it, for numbers brought back; by hand
#define MOST_POWER 9    // powers of ten tried
#define SWITCHES 2      // passages between two ranges that a change of unit may have; by hand
#define LEAST_PART 0.05 // share of the values in the smaller range; by hand

static bool is_whole(double x)
{
    return x == floor(x);
}

// Whether a power of ten brings x into lo .. hi; *power: which.
static bool comes_back(double x, double lo, double hi, int *power)
{
    for (*power = 1; *power <= MOST_POWER; ++*power) {
        x /= 10.0;
        if (x >= lo && x <= hi)
            return true;
    }
    return false;
}

void rh_inspect__scales(rh_log_numbers *out, const double *x, int64_t n)
{
    double lo = INFINITY, hi = -INFINITY;
    int64_t nfraction = 0, nwhole = 0, nbeyond = 0, ndistinct = 0, nback = 0;
    for (int64_t i = 0; i < n; i++) {
        if (is_whole(x[i]))
            continue;
        nfraction++;
        lo = fmin(lo, x[i]);
        hi = fmax(hi, x[i]);
    }
    double width = hi - lo;
    if (nfraction < FEWEST || !(width > 0.0))
        return;
    for (int64_t i = 0; i < n; i++) {
        bool beyond = x[i] > hi + width || x[i] < lo - width;
        int power;
        nwhole += is_whole(x[i]) && x[i] >= lo && x[i] <= hi;
        if (is_whole(x[i]) && !beyond && (x[i] > hi + 1.0 || x[i] < lo - 1.0))
            return; // the range between is not empty
        if (!beyond)
            continue;
        nbeyond++;
        ndistinct += i == 0 || x[i] != x[i - 1];
        if (!comes_back(x[i], lo - MARGIN * width, hi + MARGIN * width, &power))
            continue;
        if (nback++ == 0) {
            out->scaled = x[i];
            out->scaled_by = pow(10.0, power);
        }
    }
    if (ndistinct >= FEW_BEYOND && nwhole < nfraction &&
        (double)nback >= SHARE_BACK * (double)nbeyond)
        out->nscaled = nback;
}

// ---------------------------------------------------------------------------- units

// The widest gap of the sorted values x (n): its two sides. False if there is none to speak of.
static bool find_gap(const double *x, int64_t n, double *below, double *above)
{
    int64_t at = -1, least = (int64_t)(LEAST_PART * (double)n) + 1;
    for (int64_t i = least; i + least <= n; i++)
        if (at < 0 || x[i] - x[i - 1] > x[at] - x[at - 1])
            at = i;
    if (at < 0)
        return false;
    *below = x[at - 1];
    *above = x[at];
    return *above - *below > fmax(*below - x[0], x[n - 1] - *above);
}

void rh_inspect__units(rh_log_sensor *s, const rh_log *log, int j, const rh_inspect__room *room)
{
    double below, above;
    int64_t nswitch = 0;
    int side = -1;
    s->unit_at = -1;
    if (s->constant || s->value.ndistinct <= rh_inspect__limit.few_values ||
        s->value.nsentinel > 0 || s->value.nscaled > 0 ||
        !find_gap(room->sorted, room->nsorted, &below, &above))
        return;
    for (int64_t t = 0; t < log->n; t++) {
        double x = log->obs[(int64_t)log->from[t] * log->nobs + j];
        if (!isfinite(x))
            continue;
        int now = x >= above;
        if (side >= 0 && now != side) {
            s->unit_at = nswitch++ == 0 ? t : s->unit_at;
            if (nswitch > SWITCHES)
                break;
        }
        side = now;
    }
    if (nswitch > SWITCHES)
        s->unit_at = -1;
    s->unit_below = below;
    s->unit_above = above;
}
