// facts.c - what a log shows about its sensors, resets and limits: steps, order of the work,
// memory and files.
//
//     steps ──▶ shapes (wraps, pairs) ──▶ resets ──▶ walls, noise, exogenous ──▶ limits
//
// 1. Facts are found in the log as it was read, before the model copies it: the copy marks the
//    resets. Everything is sequential and draws no random numbers.
// 2. Resets are searched for only where nothing is marked and the task is continuing: a log
//    with one terminal step says itself where steps end.
// 3. Medians use 65,536 evenly spaced steps at most. A million steps of 8 sensors with
//    20,000 resets take 4.2 s on one core.

#include "facts.h"
#include "base/base_internal.h"
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- steps

const double *rh_facts__from(const rh_facts__steps *steps, int64_t j)
{
    const rh_log *log = steps->log;
    return log->obs + (int64_t)log->from[steps->at[j]] * log->nobs;
}

const double *rh_facts__to(const rh_facts__steps *steps, int64_t j)
{
    const rh_log *log = steps->log;
    return log->obs + (int64_t)log->to[steps->at[j]] * log->nobs;
}

double rh_facts__moved(const rh_sensor *sensor, double from, double to)
{
    double moved = to - from;
    return isnan(sensor->period) ? moved : remainder(moved, sensor->period);
}

double rh_facts__wrapped(const rh_sensor *sensor, double x)
{
    if (isnan(sensor->period))
        return x;
    double turns = floor((x - sensor->base) / sensor->period);
    return x - turns * sensor->period;
}

static void clear_steps(rh_facts__steps *steps)
{
    rh_free(steps->at);
    rh_free(steps->lo);
    *steps = (rh_facts__steps){0};
}

// Least, most, mean and standard deviation of each sensor.
static void measure(rh_facts__steps *s)
{
    int d = s->log->nobs;
    for (int k = 0; k < d; k++) {
        s->lo[k] = INFINITY;
        s->hi[k] = -INFINITY;
    }
    for (int64_t j = 0; j < 2 * s->n; j++) {
        const double *x = j < s->n ? rh_facts__from(s, j) : rh_facts__to(s, j - s->n);
        for (int k = 0; k < d; k++) {
            s->lo[k] = fmin(s->lo[k], x[k]);
            s->hi[k] = fmax(s->hi[k], x[k]);
            s->mean[k] += x[k] / (2.0 * (double)s->n);
        }
    }
    for (int64_t j = 0; j < 2 * s->n; j++) {
        const double *x = j < s->n ? rh_facts__from(s, j) : rh_facts__to(s, j - s->n);
        for (int k = 0; k < d; k++)
            s->sd[k] += (x[k] - s->mean[k]) * (x[k] - s->mean[k]) / (2.0 * (double)s->n);
    }
    for (int k = 0; k < d; k++)
        s->sd[k] = sqrt(s->sd[k]);
}

// The steps of a log other than resets.
static rh_status make_steps(rh_facts__steps *s, const rh_log *log,
                            const rh_facts__resets *resets, rh_error *err)
{
    size_t d = (size_t)log->nobs;
    *s = (rh_facts__steps){.log = log};
    s->at = rh_alloc((size_t)log->n, sizeof *s->at);
    s->lo = rh_alloc(4 * d, sizeof *s->lo);
    if (!s->at || !s->lo)
        return rh_base__no_memory(err, "model"); // the caller clears
    s->hi = s->lo + d;
    s->mean = s->hi + d;
    s->sd = s->mean + d;
    int64_t reset = 0;
    for (int64_t i = 0; i < log->n; i++) {
        if (resets && reset < resets->n && resets->at[reset] == i) {
            reset++;
            continue;
        }
        if (rh_model__is_whole(log, i) && rh_model__has_next(log, i) &&
            !(log->flag[i] & RH_FLAG_TERMINAL))
            s->at[s->n++] = (int32_t)i;
    }
    measure(s);
    return RH_OK;
}

// ---------------------------------------------------------------------------- finding

static void clear_ends(rh_facts__ends *ends)
{
    rh_free((void *)ends->arrival);
    rh_free(ends->reward);
}

// The terminal arrivals: of resets, or as marked.
static rh_status gather_ends(rh_facts__ends *ends, const rh_log *log,
                             const rh_facts__resets *resets, rh_error *err)
{
    int64_t n = resets->n;
    for (int64_t i = 0; i < log->n; i++)
        n += (log->flag[i] & RH_FLAG_TERMINAL) != 0;
    ends->arrival = rh_alloc((size_t)n + 1, sizeof *ends->arrival);
    ends->reward = rh_alloc((size_t)n + 1, sizeof *ends->reward);
    if (!ends->arrival || !ends->reward)
        return rh_base__no_memory(err, "model");
    for (int64_t i = 0; i < resets->n; i++, ends->n++) {
        ends->arrival[ends->n] = resets->arrival + i * log->nobs;
        ends->reward[ends->n] = log->reward[resets->at[i]];
    }
    for (int64_t i = 0; i < log->n; i++) {
        if (!(log->flag[i] & RH_FLAG_TERMINAL) || !rh_model__is_whole(log, i) ||
            !rh_model__has_next(log, i))
            continue;
        ends->arrival[ends->n] = log->obs + (int64_t)log->to[i] * log->nobs;
        ends->reward[ends->n++] = log->reward[i];
    }
    return RH_OK;
}

rh_status rh_facts__find(rh_facts **out, rh_facts__resets *resets, const rh_log *log,
                         bool search, const double *lo, const double *hi, rh_error *err)
{
    rh_facts__steps steps = {0};
    rh_facts__ends ends = {0};
    rh_facts__resets found = {0};
    rh_facts *facts = rh_facts__create(log->nobs, 0);
    rh_status rc =
        facts ? make_steps(&steps, log, NULL, err) : rh_base__no_memory(err, "model");
    if (!rc)
        rc = rh_facts__find_shapes(facts->sensor, &steps, err);
    if (!rc && search)
        rc = rh_facts__find_resets(&found, &steps, facts->sensor, err);
    if (!rc && found.n) {
        clear_steps(&steps);
        rc = make_steps(&steps, log, &found, err);
    }
    if (!rc)
        rc = rh_facts__find_walls(facts->sensor, &steps, err);
    if (!rc)
        rc = rh_facts__find_exogenous(facts->sensor, &steps, err);
    if (!rc)
        rc = gather_ends(&ends, log, &found, err);
    if (!rc)
        rc = rh_facts__find_limits(facts, &steps, &ends, lo, hi, err);
    if (!rc) {
        facts->nreset = found.n;
        *resets = found;
        *out = facts;
        found = (rh_facts__resets){0};
        facts = NULL;
    }
    clear_ends(&ends);
    rh_facts__clear_resets(&found);
    clear_steps(&steps);
    rh_facts__destroy(facts);
    return rc;
}

// ---------------------------------------------------------------------------- memory

rh_facts *rh_facts__create(int nobs, int nlimit)
{
    rh_facts *facts = rh_alloc(1, sizeof *facts);
    if (!facts)
        return NULL;
    facts->sensor = rh_alloc((size_t)nobs, sizeof *facts->sensor);
    facts->limit = rh_alloc((size_t)nlimit + 1, sizeof *facts->limit);
    if (!facts->sensor || !facts->limit) {
        rh_facts__destroy(facts);
        return NULL;
    }
    facts->nobs = nobs;
    facts->nlimit = nlimit;
    for (int k = 0; k < nobs; k++)
        facts->sensor[k] = (rh_sensor){.period = NAN,
                                       .base = NAN,
                                       .wall_lo = NAN,
                                       .wall_hi = NAN,
                                       .partner = -1,
                                       .radius = NAN};
    return facts;
}

void rh_facts__destroy(rh_facts *facts)
{
    if (!facts)
        return;
    rh_free(facts->sensor);
    rh_free(facts->limit);
    rh_free(facts);
}

rh_facts *rh_facts__copy(const rh_facts *facts)
{
    rh_facts *copy = rh_facts__create(facts->nobs, facts->nlimit);
    if (!copy)
        return NULL;
    memcpy(copy->sensor, facts->sensor, (size_t)facts->nobs * sizeof *copy->sensor);
    memcpy(copy->limit, facts->limit, (size_t)facts->nlimit * sizeof *copy->limit);
    copy->nreset = facts->nreset;
    copy->nterminal = facts->nterminal;
    copy->nunexplained = facts->nunexplained;
    return copy;
}

// ---------------------------------------------------------------------------- files

// A row of numbers per sensor and per limit, in the order of the structs.
enum { CONSTANT, PERIOD, BASE, WALL_LO, WALL_HI, PARTNER, RADIUS, NOISE, EXOGENOUS, NSENSOR };
enum { SENSOR, ABOVE, VALUE, NTERMINAL, REWARD, GIVEN, LONE, NLIMIT };

void rh_facts__write(const rh_facts *facts, rh_store *store)
{
    const int64_t count[] = {facts->nreset, facts->nterminal, facts->nunexplained};
    int64_t ns = (int64_t)facts->nobs * NSENSOR, nl = (int64_t)facts->nlimit * NLIMIT;
    double *x = rh_alloc((size_t)(ns + nl), sizeof *x);
    if (!x) {
        rh_store__no_memory(store);
        return;
    }
    double *limits = x + ns;
    for (int k = 0; k < facts->nobs; k++) {
        const rh_sensor *s = &facts->sensor[k];
        const double row[NSENSOR] = {
            [CONSTANT] = s->constant, [PERIOD] = s->period,   [BASE] = s->base,
            [WALL_LO] = s->wall_lo,   [WALL_HI] = s->wall_hi, [PARTNER] = s->partner,
            [RADIUS] = s->radius,     [NOISE] = s->noise,     [EXOGENOUS] = s->exogenous};
        memcpy(x + (int64_t)k * NSENSOR, row, sizeof row);
    }
    for (int i = 0; i < facts->nlimit; i++) {
        const rh_limit *l = &facts->limit[i];
        const double row[NLIMIT] = {[SENSOR] = l->sensor, [ABOVE] = l->above,
                                    [VALUE] = l->value,   [NTERMINAL] = (double)l->nterminal,
                                    [REWARD] = l->reward, [GIVEN] = l->given,
                                    [LONE] = l->lone};
        memcpy(limits + (int64_t)i * NLIMIT, row, sizeof row);
    }
    rh_store__put(store, "facts/sensor", RH_STATE_F64, x, ns);
    rh_store__put(store, "facts/limit", RH_STATE_F64, limits, nl);
    rh_store__put(store, "facts/count", RH_STATE_I64, count, 3);
    rh_free(x);
}

static bool is_truth(double x)
{
    return x == 0.0 || x == 1.0;
}

static bool is_count(double x)
{
    return x >= 0.0 && x <= 1e15;
}

// Finite, or NAN for none.
static bool is_known(double x)
{
    return !isinf(x);
}

static bool take_sensor(rh_sensor *s, const double *x, int k, int nobs)
{
    bool pair = x[PARTNER] >= 0.0 && x[PARTNER] < nobs && (int)x[PARTNER] != k;
    if (!is_truth(x[CONSTANT]) || !is_truth(x[NOISE]) || !is_truth(x[EXOGENOUS]) ||
        !is_known(x[PERIOD]) || x[PERIOD] <= 0.0 || isnan(x[PERIOD]) != isnan(x[BASE]) ||
        !is_known(x[BASE]) || !is_known(x[WALL_LO]) || !is_known(x[WALL_HI]) ||
        !(pair || x[PARTNER] == -1.0) || pair == isnan(x[RADIUS]) || !is_known(x[RADIUS]))
        return false;
    *s = (rh_sensor){.constant = x[CONSTANT] == 1.0,
                     .period = x[PERIOD],
                     .base = x[BASE],
                     .wall_lo = x[WALL_LO],
                     .wall_hi = x[WALL_HI],
                     .partner = (int)x[PARTNER],
                     .radius = x[RADIUS],
                     .noise = x[NOISE] == 1.0,
                     .exogenous = x[EXOGENOUS] == 1.0};
    return true;
}

static bool take_limit(rh_limit *l, const double *x, int nobs)
{
    if (!(x[SENSOR] >= 0.0 && x[SENSOR] < nobs) || !is_truth(x[ABOVE]) || !isfinite(x[VALUE]) ||
        !is_count(x[NTERMINAL]) || !is_known(x[REWARD]) || !is_truth(x[GIVEN]) ||
        !is_truth(x[LONE]))
        return false;
    *l = (rh_limit){.sensor = (int)x[SENSOR],
                    .above = x[ABOVE] == 1.0,
                    .value = x[VALUE],
                    .nterminal = (int64_t)x[NTERMINAL],
                    .reward = x[REWARD],
                    .given = x[GIVEN] == 1.0,
                    .lone = x[LONE] == 1.0};
    return true;
}

rh_facts *rh_facts__read(rh_store *store, int nobs)
{
    int64_t nlimit = 0, count[3] = {0};
    const double *sensor =
        rh_store__look(store, "facts/sensor", RH_STATE_F64, (int64_t)nobs * NSENSOR, NULL);
    const double *limit = rh_store__look(store, "facts/limit", RH_STATE_F64, -1, &nlimit);
    rh_store__copy(store, "facts/count", RH_STATE_I64, 3, count);
    if (nlimit % NLIMIT || nlimit / NLIMIT > 2 * (int64_t)nobs)
        rh_store__refuse(store, "facts/limit", "%lld numbers", (long long)nlimit);
    for (int i = 0; i < 3; i++)
        if (count[i] < 0)
            rh_store__refuse(store, "facts/count", "%lld", (long long)count[i]);
    if (store->rc)
        return NULL;
    rh_facts *facts = rh_facts__create(nobs, (int)(nlimit / NLIMIT));
    if (!facts) {
        rh_store__no_memory(store);
        return NULL;
    }
    for (int k = 0; k < nobs; k++)
        if (!take_sensor(&facts->sensor[k], sensor + (int64_t)k * NSENSOR, k, nobs))
            rh_store__refuse(store, "facts/sensor", "sensor %d", k);
    for (int i = 0; i < facts->nlimit; i++)
        if (!take_limit(&facts->limit[i], limit + (int64_t)i * NLIMIT, nobs))
            rh_store__refuse(store, "facts/limit", "limit %d", i);
    facts->nreset = count[0];
    facts->nterminal = count[1];
    facts->nunexplained = count[2];
    if (store->rc) {
        rh_facts__destroy(facts);
        facts = NULL;
    }
    return facts;
}
