// scale.c - brings inputs to a common scale.
//
//     x = (input - centre) * factor
//
// 1. Missing numbers are ignored per input: a sensor that failed for a day uses the other days.
// 2. A constant input has factor 0: it does not distinguish states, and its rounding errors
//    would be scaled up to a full range.
// 3. Ranges are halved first, so that the largest numbers do not overflow.
// 4. A sensor that wraps round is a point on a circle, so that 359 and 1 degrees are near:
//
//        x = r cos u,  x' = r sin u,  u = 2 pi (input - base) / period
//
//    with r = period * factor / 2 pi, so that a short way counts as much as on a line. x is
//    where it would be otherwise, x' after all other inputs.

#include "base/base.h"
#include "base/base_internal.h"
#include "repr_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const rh_repr__scaling_name[RH_NSCALING] = {"range", "deviation", "none"};

// Statistics of one input.
typedef struct seen {
    int64_t n;
    double lo, hi;
    double mean, square; // sum of squared deviations (Welford)
} seen;

static void see(seen *s, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        double gap = x[i] - s[i].mean;
        s[i].lo = s[i].n ? fmin(s[i].lo, x[i]) : x[i];
        s[i].hi = s[i].n ? fmax(s[i].hi, x[i]) : x[i];
        s[i].n++;
        s[i].mean += gap / (double)s[i].n;
        s[i].square += gap * (x[i] - s[i].mean);
    }
}

// Count every state of the episodes in use once, and every action. Returns the whole states.
static int64_t see_log(seen *s, const rh_repr *repr, const rh_repr_work *work)
{
    const rh_log *log = work->log;
    int nobs = repr->nobs, nact = repr->nact;
    int64_t whole = 0;
    for (int e = 0; e < log->nepisode; e++) {
        if (work->use && !work->use[e])
            continue;
        for (int64_t t = log->first[e]; t < log->first[e + 1]; t++) {
            const double *obs = log->obs + (int64_t)log->from[t] * nobs;
            bool last = t + 1 == log->first[e + 1] || log->to[t] != log->from[t + 1];
            see(s, obs, nobs);
            see(s + nobs, log->act + t * log->nact, nact);
            whole += rh_base__all_finite(obs, nobs);
            if (last && log->to[t] != RH_UNKNOWN)
                see(s, log->obs + (int64_t)log->to[t] * nobs, nobs);
        }
    }
    return whole;
}

// The factor that makes `spread` 1; 0 if it is negligible.
static double factor_of(double spread)
{
    return spread > DBL_MIN && isfinite(spread) ? 1.0 / spread : 0.0;
}

rh_status rh_repr__scale(rh_repr *repr, const rh_repr_work *work, rh_repr__scaling how,
                         rh_error *err)
{
    seen s[RH_MAX_INPUT] = {{0}};
    if (see_log(s, repr, work) == 0)
        return rh_fail(err, RH_EINVAL, "%s: every state of the log has a missing number",
                       repr->type->name);

    for (int i = 0; i < repr->nobs + repr->nact; i++) {
        bool changes = s[i].lo < s[i].hi;
        switch (how) {
        case RH_SCALE_RANGE:
            repr->centre[i] = s[i].lo / 2.0 + s[i].hi / 2.0;
            repr->factor[i] = changes ? factor_of(s[i].hi / 2.0 - s[i].lo / 2.0) : 0.0;
            break;
        case RH_SCALE_DEVIATION:
            repr->centre[i] = s[i].mean;
            repr->factor[i] = changes ? factor_of(sqrt(s[i].square / (double)s[i].n)) : 0.0;
            break;
        case RH_SCALE_NONE:
        case RH_NSCALING:
            repr->centre[i] = 0.0;
            repr->factor[i] = 1.0;
            break;
        }
        if (!isfinite(repr->centre[i]))
            return rh_fail(err, RH_EINVAL,
                           "%s: the numbers of input %d are too large to be averaged; try "
                           "scale=range",
                           repr->type->name, i + 1);
    }
    return RH_OK;
}

static bool scale(const double *from, int n, const double *centre, const double *factor,
                  float *x)
{
    bool whole = true;
    for (int i = 0; i < n; i++) {
        double value = (from[i] - centre[i]) * factor[i];
        bool held = isfinite(from[i]) && fabs(value) <= (double)FLT_MAX;
        x[i] = held ? (float)value : 0.0f;
        whole = whole && held;
    }
    return whole;
}

void rh_repr__bend(rh_repr *repr, const double *period, const double *base, int most)
{
    repr->ncircle = 0;
    memset(repr->period, 0, (size_t)repr->nobs * sizeof *repr->period);
    memset(repr->base, 0, (size_t)repr->nobs * sizeof *repr->base);
    for (int i = 0; period && i < repr->nobs && repr->ncircle < most; i++)
        if (period[i] > 0.0) { // false for NAN
            repr->period[i] = period[i];
            repr->base[i] = base[i];
            repr->ncircle++;
        }
}

// The points of sensors on a circle: x (nobs) where they are, the others in second (ncircle).
static bool bend(const rh_repr *repr, const double *obs, float *x, float *second)
{
    bool whole = true;
    for (int i = 0; i < repr->nobs; i++) {
        if (repr->period[i] == 0.0)
            continue;
        double sine = 0.0, cosine = 0.0;
        double turns = (obs[i] - repr->base[i]) / repr->period[i];
        double radius = repr->period[i] * repr->factor[i] / (2.0 * M_PI);
        bool held = isfinite(turns) && fabs(radius) <= (double)FLT_MAX;
        if (held)
            rh_maths__sincos(2.0 * M_PI * (turns - floor(turns)), &sine, &cosine);
        x[i] = held ? (float)(radius * cosine) : 0.0f;
        *second++ = held ? (float)(radius * sine) : 0.0f;
        whole = whole && held;
    }
    return whole;
}

bool rh_repr__input(const rh_repr *repr, const double *obs, const double *act, float *x)
{
    int nobs = repr->nobs;
    bool whole = scale(obs, nobs, repr->centre, repr->factor, x);
    if (repr->nact)
        whole &= scale(act, repr->nact, repr->centre + nobs, repr->factor + nobs, x + nobs);
    if (repr->ncircle)
        whole &= bend(repr, obs, x, x + nobs + repr->nact);
    return whole;
}
