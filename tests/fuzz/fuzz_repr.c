// fuzz_repr.c - whatever is in the saved state of a representation: refused with a message, or
// loaded, usable, and saved again.
//
// The bytes are a state file; its beginning and checksum are made right, which no mutation
// would find.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/text.h"
#include "rehearse/repr.h"

#define TAIL 4 // bytes of the checksum

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

// Encode a state and save, as a program would.
static void use(const rh_repr *repr)
{
    int nobs = rh_repr_nobs(repr), nact = rh_repr_nact(repr), ncode = rh_repr_ncode(repr);
    require(nobs > 0 && nact >= 0 && ncode > 0);
    double *obs = rh_alloc((size_t)(nobs + nact), sizeof *obs);
    float *scratch = rh_alloc(rh_repr_nscratch(repr) + (size_t)ncode + 1, sizeof *scratch);
    rh_state *state = NULL;
    if (obs && scratch) {
        float *code = scratch + rh_repr_nscratch(repr);
        rh_repr_encode_one(repr, obs, obs + nobs, scratch, code);
    }
    require(rh_state_create(&state, NULL) == RH_OK);
    require(rh_repr_save(repr, state, NULL) == RH_OK);
    rh_state_destroy(state);
    rh_free(scratch);
    rh_free(obs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t begin[12] = "\x89RHSTATE\x01\0\0";
    if (size < RH_STATE__HEAD + TAIL)
        return 0;
    int64_t live = rh_base__alloc_live();
    uint8_t *bytes = malloc(size);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    memcpy(bytes, begin, sizeof begin);
    uint32_t crc = rh_base__crc32(0, bytes, size - TAIL);
    for (int i = 0; i < TAIL; i++)
        bytes[size - TAIL + (size_t)i] = (uint8_t)(crc >> 8 * i);

    rh_error err = {""};
    rh_state *state = NULL;
    rh_repr *repr = NULL;
    if (rh_state__parse(&state, bytes, size, "file", &err) == RH_OK) {
        rh_status rc = rh_repr_load(&repr, state, &err);
        require((rc == RH_OK) == (repr != NULL));
        require(rc == RH_OK || *err.text);
        if (repr)
            use(repr);
    }
    rh_repr_destroy(repr);
    rh_state_destroy(state);
    free(bytes);
    require(rh_base__alloc_live() == live);
    return 0;
}
