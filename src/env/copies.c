// copies.c - many copies of one environment, stepped together.
//
// For callers that pay for every call, such as vector environments in Python: one call steps
// thousands of copies.
//
// 1. A copy whose episode has ended starts the next one in the following step, as Gymnasium's
//    vector environments do by default. So the observation that an episode ended in is seen.
// 2. The streams of a copy are those of run 0 with the copy's own seed: a copy repeats a run of
//    the same seed, whatever the other copies do.
// 3. The caller may give a continuing task a cut-off here: agents that need episodes get them.

#include "rehearse/env.h"

#include "base/base.h"
#include "base/text.h"

struct rh_copies {
    const rh_env *env; // borrowed
    int n;
    int64_t cutoff;
    size_t stride;       // bytes from a state to the next
    rh_streams *streams; // owned  (n)
    int64_t *length;     // owned: steps of the episode; -1: it is to begin  (n)
    char *state;         // owned  (n x stride)
};

static void *state_of(const rh_copies *c, int i)
{
    return c->state + (size_t)i * c->stride;
}

rh_status rh_copies_create(rh_copies **out, const rh_env *env, int n, int64_t cutoff,
                           rh_error *err)
{
    if (n < 1)
        return rh_fail(err, RH_EINVAL, "copies: n = %d, expected 1 or more", n);
    if (cutoff < 1)
        return rh_fail(err, RH_EINVAL, "copies: cutoff = %lld, expected 1 or more",
                       (long long)cutoff);
    rh_copies *c = rh_alloc(1, sizeof *c);
    if (!c)
        return rh_base__no_memory(err, "copies");
    c->env = env;
    c->n = n;
    c->cutoff = cutoff;
    c->stride = (rh_env_state_size(env) + 63) / 64 * 64;
    c->streams = rh_alloc((size_t)n, sizeof *c->streams);
    c->length = rh_alloc((size_t)n, sizeof *c->length);
    c->state = rh_alloc((size_t)n, c->stride ? c->stride : 1);
    if (!c->streams || !c->length || !c->state) {
        rh_copies_destroy(c);
        return rh_base__no_memory(err, "copies");
    }
    for (int i = 0; i < n; i++) {
        rh_copies_seed(c, i, (uint64_t)i);
        c->length[i] = -1;
    }
    *out = c;
    return RH_OK;
}

void rh_copies_destroy(rh_copies *copies)
{
    if (!copies)
        return;
    rh_free(copies->streams);
    rh_free(copies->length);
    rh_free(copies->state);
    rh_free(copies);
}

void rh_copies_seed(rh_copies *copies, int i, uint64_t seed)
{
    copies->streams[i].start = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    copies->streams[i].noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
}

static void begin(rh_copies *c, int i, double *obs)
{
    rh_env_start(c->env, state_of(c, i), &c->streams[i], obs);
    c->length[i] = 0;
}

void rh_copies_start(rh_copies *copies, const uint8_t *which, double *obs)
{
    int nobs = rh_env_task(copies->env)->nobs;
    for (int i = 0; i < copies->n; i++)
        if (!which || which[i])
            begin(copies, i, obs + (size_t)i * (size_t)nobs);
}

// Steps are counted; what ends here begins anew in the next step.
static void count(rh_copies *c, int i, const bool *terminal, bool *truncated)
{
    c->length[i]++;
    truncated[i] = !terminal[i] && c->length[i] >= c->cutoff;
    if (terminal[i] || truncated[i])
        c->length[i] = -1;
}

void rh_copies_step(rh_copies *copies, const double *act, double *obs, double *reward,
                    bool *terminal, bool *truncated)
{
    rh_copies *c = copies;
    size_t nobs = (size_t)rh_env_task(c->env)->nobs, nact = (size_t)rh_env_task(c->env)->nact;
    for (int i = 0, to; i < c->n; i = to) {
        to = i + 1;
        if (c->length[i] < 0) {
            begin(c, i, obs + (size_t)i * nobs);
            reward[i] = 0.0;
            terminal[i] = truncated[i] = false;
            continue;
        }
        while (to < c->n && c->length[to] >= 0)
            to++;
        rh_contract__env_step_many(c->env, to - i, state_of(c, i), c->stride,
                                   act + (size_t)i * nact, &c->streams[i],
                                   obs + (size_t)i * nobs, reward + i, terminal + i);
        for (int k = i; k < to; k++)
            count(c, k, terminal, truncated);
    }
}

int rh_copies_uncovered(const rh_copies *copies, bool *which)
{
    int n = 0;
    for (int i = 0; i < copies->n; i++) {
        bool out = copies->length[i] != 0 &&
                   rh_contract__env_uncovered(copies->env, state_of(copies, i));
        if (which)
            which[i] = out;
        n += out;
    }
    return n;
}

const char *rh_copies_reason(const rh_copies *copies, int i)
{
    return rh_contract__env_reason(copies->env, state_of(copies, i));
}
