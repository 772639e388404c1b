// space.c - the settings of a space: their number, their values, their place in the unit cube.
//
// A dimension is divided into parts, one for each value. The parts of a list are equal. On a
// log scale a whole number k has the part from k - 1/2 to k + 1/2, measured by ratios:
//
//     u(k) = (ln(k - 1/2) - ln(first - 1/2)) / (ln(last + 1/2) - ln(first - 1/2))
//
// so 1 to 1,000 is spread as when drawing the logarithm and rounding.
//
// 1. A step m / 10^p gives k m / 10^p, rounded once: 3 * 0.1 would be 0.30000000000000004.
// 2. An end that misses a multiple by rounding error still includes it: 0 to 0.3 by 0.1 has
//    four values. The value is then clipped to the end.
// 3. Counts are doubles, exact up to 2^53: an int may be too small for a space.
// 4. The ends are exact on a log scale too: exp(ln(hi)) is not always hi.

#include "base/base.h"
#include "search.h"
#include "search_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_MULTIPLE 1e12 // of a step that is exact in a double
#define NAMES 1024         // values of RH_DIM_NAMES
#define LIST 1000000       // values of RH_DIM_LIST

rh_search__text rh_search__write(double number)
{
    static const rh_param plain = {.name = ""};
    rh_search__text out;
    rh_param__format(&plain, number, out.text, sizeof out.text);
    return out;
}

// ---------------------------------------------------------------------------- multiples

// How far rounding may take a quotient from a whole number.
static double slack(double quotient)
{
    double grown = 1e-15 * fabs(quotient);
    return grown > 1e-9 ? grown : 1e-9;
}

// The first and the last multiple of the step that are in the range.
static double first_of(const rh_dim *dim)
{
    double q = dim->lo / dim->step, first = ceil(q - slack(q));
    return dim->scale == RH_LOG && first < 1.0 ? 1.0 : first; // 0 has no logarithm
}

static double last_of(const rh_dim *dim)
{
    double q = dim->hi / dim->step;
    return floor(q + slack(q));
}

static double cut(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

// Multiple number k of the step.
static double multiple(const rh_dim *dim, double k)
{
    double x = k * dim->step, ten = 1.0;
    for (int p = 0; p <= 15; p++, ten *= 10.0) {
        double m = rint(dim->step * ten);
        if (m / ten == dim->step && fabs(m * k) <= 0x1p53) {
            x = m * k / ten;
            break;
        }
    }
    return cut(x, dim->lo, dim->hi);
}

static bool stepped(const rh_dim *dim)
{
    return dim->kind == RH_DIM_RANGE && dim->step > 0.0;
}

// ---------------------------------------------------------------------------- counting

double rh_dim__count(const rh_dim *dim)
{
    switch (dim->kind) {
    case RH_DIM_RANGE:
        if (stepped(dim))
            return last_of(dim) - first_of(dim) + 1.0;
        return dim->lo == dim->hi ? 1.0 : (double)INFINITY;
    case RH_DIM_LIST:
    case RH_DIM_NAMES:
        return dim->nvalue;
    }
    return NAN;
}

bool rh_space__branches(const rh_space *space)
{
    for (int k = 1; k < space->ndim; k++)
        if (space->dim[k].branch)
            return true;
    return false;
}

bool rh_space__has(const rh_space *space, const double *x, int d)
{
    int branch = space->dim[d].branch;
    return !branch || x[0] == space->dim[0].value[branch - 1];
}

double rh_space__count(const rh_space *space)
{
    int nbranch = rh_space__branches(space) ? space->dim[0].nvalue : 1;
    double sum = 0.0;
    for (int b = 1; b <= nbranch; b++) {
        double count = 1.0;
        for (int k = nbranch > 1; k < space->ndim; k++)
            if (!space->dim[k].branch || space->dim[k].branch == b)
                count *= rh_dim__count(&space->dim[k]);
        sum += count;
    }
    return sum;
}

double rh_dim__at(const rh_dim *dim, double i)
{
    assert(i >= 0.0 && i < rh_dim__count(dim));
    if (dim->kind != RH_DIM_RANGE)
        return dim->value[(int)i];
    return stepped(dim) ? multiple(dim, first_of(dim) + i) : dim->lo;
}

void rh_space__at(const rh_space *space, int64_t i, double *x)
{
    double n = rh_space__count(space);
    if (i < 0 || (double)i >= n || isinf(n)) {
        for (int k = 0; k < space->ndim; k++)
            x[k] = NAN;
        return;
    }
    for (int k = space->ndim - 1; k >= 0; k--) {
        int64_t count = (int64_t)rh_dim__count(&space->dim[k]);
        x[k] = rh_dim__at(&space->dim[k], (double)(i % count));
        i /= count;
    }
}

// ---------------------------------------------------------------------------- nearest values

// Number of the value nearest to x.
static int nearest(const rh_dim *dim, double x)
{
    int best = 0;
    for (int i = 1; i < dim->nvalue; i++)
        if (fabs(dim->value[i] - x) < fabs(dim->value[best] - x))
            best = i;
    return best;
}

// Number of the multiple nearest to x, among those there are.
static double nearest_multiple(const rh_dim *dim, double x)
{
    return cut(rint(x / dim->step), first_of(dim), last_of(dim));
}

double rh_dim__nearest(const rh_dim *dim, double x)
{
    assert(dim->kind == RH_DIM_RANGE);
    return stepped(dim) ? multiple(dim, nearest_multiple(dim, x)) : cut(x, dim->lo, dim->hi);
}

double rh_dim__round(const rh_dim *dim, double h)
{
    if (dim->kind != RH_DIM_RANGE)
        return dim->value[(int)cut(rint(h), 0.0, dim->nvalue - 1)];
    return rh_dim__nearest(dim, dim->scale == RH_LOG ? rh_exp(h) : h);
}

bool rh_space__holds(const rh_space *space, const double *x)
{
    for (int k = 0; k < space->ndim; k++) {
        const rh_dim *dim = &space->dim[k];
        bool in = isfinite(x[k]);
        if (!rh_space__has(space, x, k)) {
            if (!isnan(x[k]))
                return false;
            continue;
        }
        if (in && dim->kind != RH_DIM_RANGE)
            in = dim->value[nearest(dim, x[k])] == x[k];
        else if (in && stepped(dim))
            in = multiple(dim, nearest_multiple(dim, x[k])) == x[k];
        else
            in = in && x[k] >= dim->lo && x[k] <= dim->hi;
        if (!in)
            return false;
    }
    return true;
}

// ---------------------------------------------------------------------------- the unit cube

// Both ends of a range on its scale, extended by half a step if it has one.
static void ends(const rh_dim *dim, double *from, double *to)
{
    *from = stepped(dim) ? (first_of(dim) - 0.5) * dim->step : dim->lo;
    *to = stepped(dim) ? (last_of(dim) + 0.5) * dim->step : dim->hi;
    if (dim->scale == RH_LOG) {
        *from = rh_ln(*from);
        *to = rh_ln(*to);
    }
}

static double place(const rh_dim *dim, double u)
{
    double count = rh_dim__count(dim);
    if (!(u > 0.0)) // also NAN
        u = 0.0;
    if (dim->kind != RH_DIM_RANGE || (stepped(dim) && dim->scale == RH_LINEAR))
        return rh_dim__at(dim, cut(floor(u * count), 0.0, count - 1.0));
    if (count == 1.0)
        return rh_dim__at(dim, 0.0);
    if (!stepped(dim) && (u == 0.0 || u >= 1.0))
        return u >= 1.0 ? dim->hi : dim->lo;

    double from, to;
    ends(dim, &from, &to);
    return rh_dim__round(dim, from + (u < 1.0 ? u : 1.0) * (to - from));
}

void rh_space__place(const rh_space *space, const double *u, double *x)
{
    for (int k = 0; k < space->ndim; k++)
        x[k] = place(&space->dim[k], u[k]);
}

static double unit(const rh_dim *dim, double x)
{
    double count = rh_dim__count(dim);
    if (count == 1.0)
        return 0.5;
    if (dim->kind != RH_DIM_RANGE)
        return (nearest(dim, x) + 0.5) / count;
    if (stepped(dim) && dim->scale == RH_LINEAR)
        return (nearest_multiple(dim, x) - first_of(dim) + 0.5) / count;

    double from, to, at;
    ends(dim, &from, &to);
    if (stepped(dim)) { // the middle of the part
        double k = nearest_multiple(dim, x);
        at = 0.5 * (rh_ln((k - 0.5) * dim->step) + rh_ln((k + 0.5) * dim->step));
    } else {
        x = cut(x, dim->lo, dim->hi);
        at = dim->scale == RH_LOG ? rh_ln(x) : x;
    }
    return cut((at - from) / (to - from), 0.0, 1.0);
}

void rh_space__unit(const rh_space *space, const double *x, double *u)
{
    for (int k = 0; k < space->ndim; k++)
        u[k] = rh_space__has(space, x, k) ? unit(&space->dim[k], x[k]) : 0.5;
}

// ---------------------------------------------------------------------------- checking

static rh_status check_range(const rh_dim *dim, rh_error *err)
{
    rh_search__text lo = rh_search__write(dim->lo), hi = rh_search__write(dim->hi);
    rh_search__text step = rh_search__write(dim->step);
    if (!isfinite(dim->lo) || !isfinite(dim->hi) || !isfinite(dim->hi - dim->lo))
        return rh_fail(err, RH_EINVAL, "%.64s: %s to %s, expected two finite numbers",
                       dim->name, lo.text, hi.text);
    if (dim->lo > dim->hi)
        return rh_fail(err, RH_EINVAL, "%.64s: %s to %s, expected the smaller number first",
                       dim->name, lo.text, hi.text);
    if (dim->scale == RH_LOG && dim->lo <= 0.0)
        return rh_fail(err, RH_EINVAL,
                       "%.64s: %s to %s on a log scale, expected numbers above 0", dim->name,
                       lo.text, hi.text);
    if (!(dim->step >= 0.0 && isfinite(dim->step)))
        return rh_fail(err, RH_EINVAL,
                       "%.64s: step = %s, expected a number above 0, or 0 for "
                       "none",
                       dim->name, step.text);
    if (!stepped(dim))
        return RH_OK;
    if (!(fabs(dim->lo / dim->step) <= MOST_MULTIPLE &&
          fabs(dim->hi / dim->step) <= MOST_MULTIPLE))
        return rh_fail(err, RH_EINVAL, "%.64s: step = %s is too small for %s to %s", dim->name,
                       step.text, lo.text, hi.text);
    if (rh_dim__count(dim) < 1.0)
        return rh_fail(err, RH_EINVAL, "%.64s: no multiple of %s between %s and %s", dim->name,
                       step.text, lo.text, hi.text);
    return RH_OK;
}

static rh_status check_values(const rh_dim *dim, rh_error *err)
{
    bool list = dim->kind == RH_DIM_LIST;
    int most = list ? LIST : NAMES;
    if (dim->nvalue < 1 || dim->nvalue > most)
        return rh_fail(err, RH_EINVAL, "%.64s: %d values, expected 1 to %d", dim->name,
                       dim->nvalue, most);
    for (int i = 0; i < dim->nvalue; i++) {
        rh_search__text v = rh_search__write(dim->value[i]);
        if (!isfinite(dim->value[i]))
            return rh_fail(err, RH_EINVAL,
                           "%.64s: %s among its values, expected finite numbers", dim->name,
                           v.text);
        if (dim->scale == RH_LOG && dim->value[i] <= 0.0)
            return rh_fail(
                err, RH_EINVAL,
                "%.64s: %s among its values on a log scale, expected numbers above 0",
                dim->name, v.text);
        for (int j = list && i > 0 ? i - 1 : 0; j < i; j++) {
            if (dim->value[j] == dim->value[i])
                return rh_fail(err, RH_EINVAL, "%.64s: %s twice among its values", dim->name,
                               v.text);
            if (list && dim->value[j] > dim->value[i])
                return rh_fail(err, RH_EINVAL, "%.64s: %s after %s, expected rising values",
                               dim->name, v.text, rh_search__write(dim->value[j]).text);
        }
    }
    return RH_OK;
}

rh_status rh_space__check(const rh_space *space, rh_error *err)
{
    if (space->ndim < 1 || space->ndim > RH_MAX_DIM)
        return rh_fail(err, RH_EINVAL, "%d parameters to search, expected 1 to %d", space->ndim,
                       RH_MAX_DIM);
    for (int k = 0; k < space->ndim; k++) {
        const rh_dim *dim = &space->dim[k];
        for (int j = 0; j < k; j++)
            if (strcmp(space->dim[j].name, dim->name) == 0)
                return rh_fail(err, RH_EINVAL, "%.64s: searched twice", dim->name);
        rh_status rc =
            dim->kind == RH_DIM_RANGE ? check_range(dim, err) : check_values(dim, err);
        if (rc)
            return rc;
        const rh_dim *first = &space->dim[0];
        int most = k && first->kind == RH_DIM_NAMES && first->nvalue > 1 ? first->nvalue : 0;
        if (dim->branch < 0 || dim->branch > most)
            return rh_fail(err, RH_EINVAL, "%.64s: branch %d, expected 0 to %d", dim->name,
                           dim->branch, most);
    }
    return RH_OK;
}
