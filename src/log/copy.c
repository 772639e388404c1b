// copy.c - copies of logs, checked; and a hash of a log.
//
// 1. What a builder guarantees (build.c) is checked here, because the arrays may come from a
//    damaged file: rows and actions are in range, flags mark the last step of each episode and
//    only that, and s' is unknown in terminal steps only.
// 2. episode and step are computed from `first`, not copied.
// 3. The hash covers transitions, however often an s' is stored, but not names and times.

#include "base/base_internal.h"
#include "base/expression.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- checks

static const char *name_of(const rh_log *log)
{
    return rh_base__path_tail(log->path && *log->path ? log->path : "log");
}

static rh_status check_shape(const rh_log *p, rh_error *err)
{
    const char *name = name_of(p);
    if (p->nobs < 1 || p->nobs > RH_MAX_OBS)
        return rh_fail(err, RH_EFORMAT, "%s: %d numbers in an observation, expected 1 to %d",
                       name, p->nobs, RH_MAX_OBS);
    if (p->naction < 0 || p->naction > RH_MAX_ACTIONS)
        return rh_fail(err, RH_EFORMAT, "%s: %d different actions, expected 0 to %d", name,
                       p->naction, RH_MAX_ACTIONS);
    int most = p->naction ? 1 : RH_MAX_ACT;
    if (p->nact < 1 || p->nact > most)
        return rh_fail(err, RH_EFORMAT, "%s: %d numbers in an action, expected 1 to %d", name,
                       p->nact, most);
    if (p->n < 1 || p->n > INT32_MAX - 1)
        return rh_fail(err, RH_EFORMAT, "%s: %lld transitions, expected 1 to %d", name,
                       (long long)p->n, INT32_MAX - 1);
    if (p->nstate < 1 || p->nstate > INT32_MAX - 1)
        return rh_fail(err, RH_EFORMAT, "%s: %lld observations, expected 1 to %d", name,
                       (long long)p->nstate, INT32_MAX - 1);
    if (p->nepisode < 1 || p->nepisode > p->n)
        return rh_fail(err, RH_EFORMAT,
                       "%s: %d episodes, expected 1 to the number of transitions, %lld", name,
                       p->nepisode, (long long)p->n);
    if (!isfinite(p->terminal_reward))
        return rh_fail(err, RH_EFORMAT, "%s: terminal_reward = %g, expected a finite number",
                       name, p->terminal_reward);
    return RH_OK;
}

static rh_status check_episodes(const rh_log *p, rh_error *err)
{
    if (p->first[0] != 0 || p->first[p->nepisode] != p->n)
        return rh_fail(err, RH_EFORMAT,
                       "%s: episodes cover the transitions %lld to %lld, expected 0 to %lld",
                       name_of(p), (long long)p->first[0], (long long)p->first[p->nepisode],
                       (long long)p->n);
    for (int e = 0; e < p->nepisode; e++) {
        if (p->first[e + 1] <= p->first[e])
            return rh_fail(err, RH_EFORMAT,
                           "%s: episode %d begins with transition %lld and the next with %lld, "
                           "expected a later one",
                           name_of(p), e, (long long)p->first[e], (long long)p->first[e + 1]);
        if (p->start[e] > 1)
            return rh_fail(err, RH_EFORMAT, "%s: start of episode %d is %d, expected 0 or 1",
                           name_of(p), e, p->start[e]);
    }
    return RH_OK;
}

static rh_status check_action(const rh_log *p, int64_t i, rh_error *err)
{
    for (int k = 0; k < p->nact; k++) {
        double a = p->act[i * p->nact + k];
        bool index = a >= 0.0 && a < p->naction && a == floor(a);
        if (p->naction && !index)
            return rh_fail(err, RH_EFORMAT,
                           "%s: transition %lld: action %g, expected one of 0 to %d",
                           name_of(p), (long long)i, a, p->naction - 1);
        if (isnan(a))
            return rh_fail(err, RH_EFORMAT,
                           "%s: transition %lld: number %d of the action is "
                           "missing",
                           name_of(p), (long long)i, k);
    }
    return RH_OK;
}

// last: i is the last transition of its episode.
static rh_status check_step(const rh_log *p, int64_t i, bool last, rh_error *err)
{
    int32_t from = p->from[i], to = p->to[i];
    uint8_t flag = p->flag[i];
    if (from < 0 || from >= p->nstate)
        return rh_fail(err, RH_EFORMAT,
                       "%s: transition %lld: s is observation %d, expected one of 0 to %lld",
                       name_of(p), (long long)i, from, (long long)p->nstate - 1);
    if (to != RH_UNKNOWN && (to < 0 || to >= p->nstate))
        return rh_fail(err, RH_EFORMAT,
                       "%s: transition %lld: s' is observation %d, expected one of 0 to %lld",
                       name_of(p), (long long)i, to, (long long)p->nstate - 1);
    if (flag & ~(RH_FLAG_TERMINAL | RH_FLAG_TRUNCATED) || (flag != 0) != last)
        return rh_fail(err, RH_EFORMAT,
                       "%s: transition %lld: flag %d %s the end of an episode, expected %s",
                       name_of(p), (long long)i, flag, last ? "at" : "before",
                       last ? "1 to 3" : "0");
    if (to == RH_UNKNOWN && !(flag & RH_FLAG_TERMINAL))
        return rh_fail(err, RH_EFORMAT,
                       "%s: transition %lld: s' is unknown, expected only in terminal steps",
                       name_of(p), (long long)i);
    if (isnan(p->reward[i]))
        return rh_fail(err, RH_EFORMAT, "%s: transition %lld: the reward is missing",
                       name_of(p), (long long)i);
    return check_action(p, i, err);
}

static rh_status check_formula(const rh_log *p, rh_error *err)
{
    if (!p->reward_formula)
        return RH_OK;
    rh_expression formula;
    rh_error why;
    rh_status rc =
        rh_expression__compile_step(&formula, p->reward_formula, p->nobs, p->nact, &why);
    rh_expression__clear(&formula);
    if (rc == RH_ENOMEM)
        return rh_base__no_memory(err, name_of(p));
    return rc ? rh_fail(err, RH_EFORMAT, "%s: %s", name_of(p), why.text) : RH_OK;
}

static rh_status check(const rh_log *p, rh_error *err)
{
    rh_status rc = check_shape(p, err);
    if (!rc)
        rc = check_formula(p, err);
    if (!rc)
        rc = check_episodes(p, err);
    for (int e = 0; !rc && e < p->nepisode; e++)
        for (int64_t i = p->first[e]; !rc && i < p->first[e + 1]; i++)
            rc = check_step(p, i, i + 1 == p->first[e + 1], err);
    return rc;
}

// ---------------------------------------------------------------------------- the copy

// A copy of n items of `size` bytes; NULL if memory runs out.
static void *twin(const void *from, int64_t n, size_t size)
{
    void *to = rh_alloc((size_t)n, size);
    return to ? memcpy(to, from, (size_t)n * size) : NULL;
}

static bool copy_arrays(rh_log *log, const rh_log *p)
{
    return (log->obs = twin(p->obs, p->nstate * p->nobs, sizeof *p->obs)) &&
           (log->from = twin(p->from, p->n, sizeof *p->from)) &&
           (log->to = twin(p->to, p->n, sizeof *p->to)) &&
           (log->act = twin(p->act, p->n * p->nact, sizeof *p->act)) &&
           (log->reward = twin(p->reward, p->n, sizeof *p->reward)) &&
           (log->flag = twin(p->flag, p->n, sizeof *p->flag)) &&
           (!p->time || (log->time = twin(p->time, p->n, sizeof *p->time))) &&
           (!p->line || (log->line = twin(p->line, p->nstate, sizeof *p->line))) &&
           (log->first = twin(p->first, (int64_t)p->nepisode + 1, sizeof *p->first)) &&
           (log->start = twin(p->start, p->nepisode, sizeof *p->start)) &&
           rh_log__number_steps(log);
}

// Discrete actions without names are labelled by their index.
static const char **keep_labels(rh_log__body *body, const rh_log *p)
{
    if (p->label)
        return rh_log__keep_all(body, p->label, p->naction);
    char text[RH_MAX_ACTIONS][12];
    const char *label[RH_MAX_ACTIONS];
    for (int a = 0; a < p->naction; a++) {
        snprintf(text[a], sizeof text[a], "%d", a);
        label[a] = text[a];
    }
    return rh_log__keep_all(body, label, p->naction);
}

static bool copy_names(rh_log__body *body, const rh_log *p)
{
    rh_log *log = &body->log;
    log->obs_name = rh_log__keep_names(body, p->obs_name, p->nobs, "obs");
    log->obs_unit = rh_log__keep_names(body, p->obs_unit, p->nobs, "");
    log->act_name = rh_log__keep_names(body, p->act_name, p->nact, "action");
    log->label = p->naction ? keep_labels(body, p) : NULL;
    log->reward_name = rh_log__keep(body, p->reward_name ? p->reward_name : "reward");
    log->path = rh_log__keep(body, p->path ? p->path : "");
    log->reward_formula = p->reward_formula ? rh_log__keep(body, p->reward_formula) : NULL;
    log->terminal_reward = p->terminal_reward;
    log->failure = p->failure ? rh_log__keep(body, p->failure) : NULL;
    log->derive = p->derive ? rh_log__keep(body, p->derive) : NULL;
    log->stack = p->stack;
    log->exogenous = p->exogenous ? rh_log__keep(body, p->exogenous) : NULL;
    log->setpoint = p->setpoint ? rh_log__keep(body, p->setpoint) : NULL;
    log->setpoint_values = p->setpoint_values;
    log->reading = p->reading;
    log->reading.nnote = p->reading.note ? p->reading.nnote : 0;
    log->reading.note = NULL;
    log->reading.format = rh_log__keep(body, p->reading.format ? p->reading.format : "");
    log->reading.place = p->reading.place ? rh_log__keep(body, p->reading.place) : NULL;
    if (p->reading.sentinels)
        log->reading.sentinels = rh_log__keep(body, p->reading.sentinels);
    if (log->reading.nnote)
        log->reading.note = rh_log__keep_all(body, p->reading.note, log->reading.nnote);
    return log->obs_name && log->obs_unit && log->act_name && (log->label || !p->naction) &&
           log->reward_name && (log->reward_formula || !p->reward_formula) && log->path &&
           (log->failure || !p->failure) && (log->derive || !p->derive) &&
           (log->exogenous || !p->exogenous) && (log->setpoint || !p->setpoint) &&
           log->reading.format && (log->reading.place || !p->reading.place) &&
           (log->reading.sentinels || !p->reading.sentinels) &&
           (log->reading.note || !log->reading.nnote);
}

rh_status rh_log_copy(rh_log **out, const rh_log *parts, rh_error *err)
{
    rh_status rc = check(parts, err);
    if (rc)
        return rc;
    rh_log__body *body = rh_log__new();
    if (!body)
        return rh_base__no_memory(err, name_of(parts));
    rh_log *log = &body->log;
    log->n = parts->n;
    log->nstate = parts->nstate;
    log->nepisode = parts->nepisode;
    log->nobs = parts->nobs;
    log->naction = parts->naction;
    log->nact = parts->nact;
    if (!copy_arrays(log, parts) || !copy_names(body, parts)) {
        rh_log_destroy(log);
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %lld transitions", name_of(parts),
                       (long long)parts->n);
    }
    *out = log;
    return RH_OK;
}

// ---------------------------------------------------------------------------- comparison

static bool equal(const void *a, const void *b, int64_t n, size_t size)
{
    return !a || !b ? a == b : a == b || memcmp(a, b, (size_t)n * size) == 0;
}

bool rh_log__same(const rh_log *a, const rh_log *b)
{
    return a == b || (a->n == b->n && a->nstate == b->nstate && a->nepisode == b->nepisode &&
                      a->nobs == b->nobs && a->naction == b->naction && a->nact == b->nact &&
                      equal(a->obs, b->obs, a->nstate * a->nobs, sizeof *a->obs) &&
                      equal(a->from, b->from, a->n, sizeof *a->from) &&
                      equal(a->to, b->to, a->n, sizeof *a->to) &&
                      equal(a->act, b->act, a->n * a->nact, sizeof *a->act) &&
                      equal(a->reward, b->reward, a->n, sizeof *a->reward) &&
                      equal(a->flag, b->flag, a->n, sizeof *a->flag) &&
                      equal(a->time, b->time, a->n, sizeof *a->time) &&
                      equal(a->line, b->line, a->nstate, sizeof *a->line) &&
                      equal(a->first, b->first, (int64_t)a->nepisode + 1, sizeof *a->first) &&
                      equal(a->start, b->start, a->nepisode, sizeof *a->start));
}

// ---------------------------------------------------------------------------- the hash

static uint64_t absorb(uint64_t h, uint64_t bits)
{
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

// Equal numbers hash alike (0 and -0), and so do missing ones.
static uint64_t absorb_numbers(uint64_t h, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        double value = x[i] == 0.0 ? 0.0 : x[i];
        uint64_t bits = 0x7ff8000000000000u;
        if (!isnan(value))
            memcpy(&bits, &value, sizeof bits);
        h = absorb(h, bits);
    }
    return h;
}

uint64_t rh_log_fingerprint(const rh_log *log)
{
    uint64_t h = absorb(0x72656865617273u, (uint64_t)log->n);
    h = absorb(h, (uint64_t)log->nobs);
    h = absorb(h, (uint64_t)log->naction);
    h = absorb(h, (uint64_t)log->nact);
    for (int e = 0; e < log->nepisode; e++) {
        h = absorb(h, (uint64_t)(log->first[e + 1] - log->first[e]));
        h = absorb(h, log->start[e]);
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++) {
            bool known = log->to[i] != RH_UNKNOWN;
            h = absorb_numbers(h, log->obs + (int64_t)log->from[i] * log->nobs, log->nobs);
            h = absorb_numbers(h, log->act + i * log->nact, log->nact);
            h = absorb_numbers(h, log->reward + i, 1);
            h = absorb(h, (uint64_t)log->flag[i] | (known ? 256u : 0u));
            if (known)
                h = absorb_numbers(h, log->obs + (int64_t)log->to[i] * log->nobs, log->nobs);
        }
    }
    for (const char *c = log->failure; c && *c; c++)
        h = absorb(h, (unsigned char)*c);
    return absorb(h, 0x6c6f67u);
}
