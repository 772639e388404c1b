// replayed.c - stretches of a log beside replays of them, to look at.
//
// A few of the stretches that models are compared on (stretches.c), each replayed as there
// (replay.c): in a member fitted without it, with the logged actions while the replay is near
// the logged path, and with those of the nearest logged states from then on.
//
// 1. All stretches are of the first fold, so that one fit serves all of them: the longest of
//    each episode or block, evenly spaced over those that are at least half as long as the
//    longest of all. A stretch of a few steps shows nothing. Their results are not looked at.
// 2. A replay that has ended keeps its sum of rewards and has no more states.
// 3. A sensor that wraps round is unwrapped: the logged values follow each other, and each
//    replay is taken on the turn nearest to them. Otherwise the median of replays on both
//    sides of the seam would lie opposite of all of them.

#include "base/base_internal.h"
#include "model.h"
#include "numeric/stats.h"
#include "stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "replay";

// The sensors that vary, in their order.
static void list_sensors(rh_replays *out, const rh_stretches *r)
{
    int before = -1;
    for (int k = 0; k < r->d; k++) {
        int sensor = r->coord[k].sensor;
        if (sensor == before) // on a circle
            continue;
        before = sensor;
        if (out->nvary++ < RH_REPLAY_NSENSOR)
            out->sensor[out->nsensor++] = sensor;
    }
}

// The longest stretch of the episode or block that stretch i begins; the index after its last.
static int longest_of(const rh_stretches *r, int i, int *longest)
{
    int unit = r->stretch[i].unit;
    *longest = i;
    for (; i < r->nstretch && r->stretch[i].unit == unit; i++)
        if (r->stretch[i].length > r->stretch[*longest].length)
            *longest = i;
    return i;
}

// Stretches of the first fold (decision 1); how many. Candidates: owned by the caller
// (nstretch).
static int pick(const rh_stretches *r, int *candidate, int *chosen)
{
    int longest = 0, n = 0, nlong = 0;
    for (int i = 0, one; i < r->nstretch;) {
        i = longest_of(r, i, &one);
        if (r->stretch[one].fold != 0)
            continue;
        candidate[n++] = one;
        longest = r->stretch[one].length > longest ? r->stretch[one].length : longest;
    }
    for (int i = 0; i < n; i++)
        if (2 * r->stretch[candidate[i]].length >= longest)
            candidate[nlong++] = candidate[i];
    int most = nlong < RH_REPLAY_NSTRETCH ? nlong : RH_REPLAY_NSTRETCH;
    for (int i = 0; i < most; i++)
        chosen[i] = candidate[(2 * i + 1) * nlong / (2 * most)];
    return most;
}

// x on the turn of a circle that is nearest to `at`.
static double unwrap(double x, double at, double period)
{
    return isnan(period) || isnan(at) ? x : x + period * round((at - x) / period);
}

// What was logged of a series after `step` steps; NAN: unknown.
static double logged_at(const rh_stretches *r, const rh_stretches__stretch *s, int sensor,
                        int step)
{
    const rh_log *log = r->log;
    int32_t row = step ? rh_stretches__row_after(r, s->first + step - 1) : log->from[s->first];
    return row == RH_UNKNOWN ? NAN : log->obs[(int64_t)row * log->nobs + sensor];
}

// Least, median and greatest of the replays' x (n), which is sorted.
static void summarise(double *x, int n, double *lo, double *median, double *hi)
{
    rh_stats__sort(x, n);
    *lo = n ? x[0] : NAN;
    *median = n ? rh_stats__quantile_sorted(x, n, 0.5) : NAN;
    *hi = n ? x[n - 1] : NAN;
}

// A row of a replay's path, after `step` steps of at least 1.
static const double *row_of(const rh_stretches *r, const double *path, int replay, int step)
{
    size_t width = (size_t)r->log->nobs + RH_STRETCHES__NMORE;
    size_t longest = (size_t)r->horizon[r->nhorizon - 1];
    return path + ((size_t)replay * longest + (size_t)step - 1) * width;
}

// A sensor over the stretch.
static void put_sensor(rh_replayed *out, const rh_stretches *r, const rh_stretches__stretch *s,
                       const double *path, int series, int sensor, double period)
{
    double before = NAN, x[RH_STRETCHES__NREPLAY];
    for (int step = 0, p = 0; step <= out->nstep; step++) {
        double logged = unwrap(logged_at(r, s, sensor, step), before, period);
        before = isnan(logged) ? before : logged;
        if (step != out->step[p])
            continue;
        int n = 0;
        for (int k = 0; k < RH_STRETCHES__NREPLAY; k++) {
            double y = step ? row_of(r, path, k, step)[sensor] : logged;
            if (isfinite(y))
                x[n++] = unwrap(y, before, period);
        }
        out->logged[series][p] = logged;
        summarise(x, n, &out->lo[series][p], &out->median[series][p], &out->hi[series][p]);
        p++;
    }
}

// The sum of rewards over the stretch.
static void put_rewards(rh_replayed *out, const rh_stretches *r, const rh_stretches__stretch *s,
                        const double *path, int series)
{
    double logged = 0.0, sum[RH_STRETCHES__NREPLAY] = {0.0}, x[RH_STRETCHES__NREPLAY];
    for (int step = 0, p = 0; step <= out->nstep; step++) {
        for (int k = 0; k < RH_STRETCHES__NREPLAY && step; k++) {
            double y = row_of(r, path, k, step)[r->log->nobs];
            sum[k] = isnan(y) ? sum[k] : y; // decision 2
        }
        logged += step ? r->log->reward[s->first + step - 1] : 0.0;
        if (step != out->step[p])
            continue;
        memcpy(x, sum, sizeof x);
        out->logged[series][p] = logged;
        summarise(x, RH_STRETCHES__NREPLAY, &out->lo[series][p], &out->median[series][p],
                  &out->hi[series][p]);
        p++;
    }
}

static void put_stretch(rh_replays *all, rh_replayed *out, const rh_stretches *r,
                        const rh_facts *facts, int i, const double *path)
{
    const rh_stretches__stretch *s = &r->stretch[i];
    out->first = s->first;
    out->nstep = s->length;
    out->ended = s->ends;
    out->npoint = s->length < RH_REPLAY_NPOINT ? s->length + 1 : RH_REPLAY_NPOINT;
    for (int p = 0; p < out->npoint; p++)
        out->step[p] = p * s->length / (out->npoint - 1);
    for (int k = 0; k < RH_STRETCHES__NREPLAY; k++) {
        const double *last = row_of(r, path, k, s->length);
        out->nended += !(last[r->log->nobs + 1] == 0.0); // ended with this step, or before
    }
    for (int j = 0; j < all->nsensor; j++)
        put_sensor(out, r, s, path, j, all->sensor[j],
                   facts ? facts->sensor[all->sensor[j]].period : NAN);
    put_rewards(out, r, s, path, all->nsensor);
}

// Pick stretches, replay them and sum them up.
static rh_status fill(rh_replays *all, const rh_stretches *r, const rh_model *model,
                      uint64_t seed, int nthread, rh_error *err)
{
    size_t size = (size_t)RH_STRETCHES__NREPLAY * (size_t)r->horizon[r->nhorizon - 1] *
                  ((size_t)r->log->nobs + RH_STRETCHES__NMORE);
    int chosen[RH_REPLAY_NSTRETCH], n = 0;
    int *candidate = rh_alloc((size_t)r->nstretch + 1, sizeof *candidate);
    double *path = NULL;
    rh_status rc = candidate ? RH_OK : rh_base__no_memory(err, what);
    if (rc)
        goto done;
    n = pick(r, candidate, chosen);
    path = rh_alloc((size_t)n * size + 1, sizeof *path);
    rc = path ? rh_stretches__trace(path, r, model, chosen, n, seed, nthread, err)
              : rh_base__no_memory(err, what);
    if (rc)
        goto done;
    list_sensors(all, r);
    for (int i = 0; i < n; i++)
        put_stretch(all, &all->stretch[i], r, model->facts, chosen[i], path + (size_t)i * size);
    all->nstretch = n;

done:
    rh_free(candidate);
    rh_free(path);
    return rc;
}

rh_status rh_model__replay(rh_replays **out, const rh_model *model, uint64_t seed, int nthread,
                           rh_error *err)
{
    rh_stretches *r = NULL;
    char why[RH_MODEL_NOTE];
    rh_replays *all = rh_alloc(1, sizeof *all);
    rh_status rc = all ? RH_OK : rh_base__no_memory(err, what);
    if (rc)
        return rc;
    all->nreplay = RH_STRETCHES__NREPLAY;
    rc = rh_stretches__create(&r, model->log, model->facts, model->task.continuing, seed, why,
                              sizeof why, err);
    if (!rc && r) // else the log is too short
        rc = fill(all, r, model, seed, nthread, err);
    rh_stretches__destroy(r);
    if (rc)
        rh_replays__destroy(all);
    else
        *out = all;
    return rc;
}

void rh_replays__destroy(rh_replays *replays)
{
    rh_free(replays);
}
