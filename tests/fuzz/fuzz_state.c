// fuzz_state.c - whatever is in a container of named arrays: refused with a message, or read
// and written back to the same bytes. A representation or a model from it is refused with a
// message, or usable.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "base/state.h"
#include "base/text.h"
#include "model/file.h"
#include "repr/repr.h"

#define HEAD 48 // bytes before the first array
#define TAIL 4  // bytes of the checksum

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

// ---------------------------------------------------------------------------- a representation

// Encode a state and save, as a program would.
static void use_repr(const rh_repr *repr)
{
    int nobs = rh_repr__nobs(repr), nact = rh_repr__nact(repr), ncode = rh_repr__ncode(repr);
    require(nobs > 0 && nact >= 0 && ncode > 0);
    double *obs = rh_alloc((size_t)(nobs + nact), sizeof *obs);
    float *scratch = rh_alloc(rh_repr__nscratch(repr) + (size_t)ncode + 1, sizeof *scratch);
    rh_state *state = NULL;
    if (obs && scratch) {
        float *code = scratch + rh_repr__nscratch(repr);
        rh_repr__encode_one(repr, obs, obs + nobs, scratch, code);
    }
    require(rh_state__create(&state, NULL) == RH_OK);
    require(rh_repr__save(repr, state, NULL) == RH_OK);
    rh_state_destroy(state);
    rh_free(scratch);
    rh_free(obs);
}

static void as_repr(const rh_state *state)
{
    rh_error err = {""};
    rh_repr *repr = NULL;
    rh_status rc = rh_repr__load(&repr, state, &err);
    require((rc == RH_OK) == (repr != NULL));
    require(rc == RH_OK || *err.text);
    if (repr)
        use_repr(repr);
    rh_repr_destroy(repr);
}

// ---------------------------------------------------------------------------- a model

// Some steps in the first member, all finite.
static void wander(const rh_model *model)
{
    rh_env *env = NULL;
    rh_error err = {""};
    if (rh_model_env(&env, model, 0, NULL, &err)) {
        require(*err.text);
        return;
    }
    const rh_task *task = rh_env_task(env);
    double obs[RH_MAX_OBS], act[RH_MAX_ACT] = {0}, reward = 0.0;
    void *state = rh_alloc(1, rh_env_state_size(env));
    require(state != NULL);
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 20; i++) {
        act[0] = task->naction > 0 ? i % task->naction : task->act_lo[0];
        if (rh_env_step(env, state, act, &streams, obs, &reward))
            rh_env_start(env, state, &streams, obs);
        require(rh_base__all_finite(obs, task->nobs) && isfinite(reward));
    }
    rh_free(state);
    rh_env_destroy(env);
}

static void as_model(rh_state *state)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_status rc = rh_model__load(&model, state, "file", &err);
    require((rc == RH_OK) == (model != NULL));
    require(rc == RH_OK || strncmp(err.text, "file: ", 6) == 0);
    require(!strchr(err.text, '\n'));
    if (model)
        wander(model);
    rh_model_destroy(model);
}

// ---------------------------------------------------------------------------- the container

static void parse(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_state *state = NULL;
    rh_status rc = rh_state__parse(&state, data, size, "file", "state", &err);
    require((rc == RH_OK) == (state != NULL));
    require(rc == RH_OK || strncmp(err.text, "file: ", 6) == 0);
    require(!strchr(err.text, '\n'));
    if (state) {
        size_t n = 0;
        unsigned char *bytes = rh_state__bytes(state, &n);
        require(bytes && n == size && memcmp(bytes, data, n) == 0);
        rh_free(bytes);
        as_repr(state);
        as_model(state);
    }
    rh_state_destroy(state);
    require(rh_base__alloc_live() == live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    if (size < HEAD + TAIL)
        return 0;

    // again with a right beginning and checksum, which no mutation would find
    static const uint8_t begin[12] = "\x89RHSTATE\x02\0\0";
    uint8_t *forged = malloc(size);
    require(forged != NULL);
    memcpy(forged, data, size);
    memcpy(forged, begin, sizeof begin);
    uint32_t crc = rh_base__crc32(0, forged, size - TAIL);
    for (int i = 0; i < TAIL; i++)
        forged[size - TAIL + (size_t)i] = (uint8_t)(crc >> 8 * i);
    parse(forged, size);
    free(forged);
    return 0;
}
