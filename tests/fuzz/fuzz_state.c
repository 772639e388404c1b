// fuzz_state.c - whatever is in a state file: refused with a message, or read and written back
// to the same bytes.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/text.h"

#define HEAD 48 // bytes before the first array
#define TAIL 4  // bytes of the checksum

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void parse(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_state *state = NULL;
    rh_status rc = rh_state__parse(&state, data, size, "file", &err);
    require((rc == RH_OK) == (state != NULL));
    require(rc == RH_OK || strncmp(err.text, "file: ", 6) == 0);
    if (state) {
        size_t n = 0;
        unsigned char *bytes = rh_state__bytes(state, &n);
        require(bytes && n == size && memcmp(bytes, data, n) == 0);
        rh_free(bytes);
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
    static const uint8_t begin[12] = "\x89RHSTATE\x01\0\0";
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
