// fuzz_npz.c - any NumPy archive or array is refused with a message or read as a valid log.
//
// The first byte chooses: the bytes of an archive; those of one array; or arrays, each a name's
// number, two bytes of length and the bytes, which are put into a valid archive that no
// mutation would find because of its checksums.

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base_internal.h"
#include "fuzz_log.h"
#include "log/npy.h"
#include "log/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_archive(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_log *log = NULL;
    rh_log_options opt = rh_log_defaults();
    rh_status rc = rh_npz__read_bytes(&log, data, size, "x.npz", &opt, &err);
    require((rc == RH_OK) == (log != NULL));
    require(rc == RH_OK || strncmp(err.text, "x.npz: ", 7) == 0);
    if (log)
        check(log);
    rh_log_destroy(log);
    require(rh_base__alloc_live() == live);
}

static void read_array(const uint8_t *data, size_t size)
{
    rh_npy npy = {0};
    rh_error err = {""};
    if (rh_npy__parse(&npy, data, size, "a.npy", &err)) {
        require(strncmp(err.text, "a.npy: ", 7) == 0);
        return;
    }
    size_t left = size - npy.head;
    require(npy.head <= size && npy.rank <= RH_NPY__RANK && npy.count >= 0 &&
            rh_npy__type(&npy));
    if (npy.kind == 'O' || npy.kind == 'V' || npy.size == 0)
        return;
    if (npy.kind == 'U' || npy.kind == 'S') {
        char text[64];
        if (left >= (size_t)npy.size && rh_npy__text(&npy, data + npy.head, text, sizeof text))
            require(strlen(text) < sizeof text);
        return;
    }
    double x[64];
    size_t n = left / (size_t)npy.size;
    rh_npy__numbers(&npy, data + npy.head, n < 64 ? (int64_t)n : 64, x);
}

// ---------------------------------------------------------------------------- a right archive

typedef struct bytes {
    uint8_t *at;
    size_t n;
} bytes;

static void put(bytes *b, uint32_t value, int width)
{
    for (int i = 0; i < width; i++)
        b->at[b->n++] = (uint8_t)(value >> 8 * i);
}

static void put_all(bytes *b, const void *from, size_t n)
{
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

// What a local and a central entry have in common.
static void put_entry(bytes *b, const uint8_t *data, size_t n, size_t name)
{
    put(b, 20, 2);
    put(b, 0, 4); // no flags, stored
    put(b, 0x00210000, 4);
    put(b, (uint32_t)crc32(0, data, (unsigned)n), 4);
    put(b, (uint32_t)n, 4);
    put(b, (uint32_t)n, 4);
    put(b, (uint32_t)name, 2);
    put(b, 0, 2);
}

static void read_arrays(const uint8_t *data, size_t size)
{
    static const char *const name[] = {
        "obs.npy",       "action.npy",        "reward.npy",      "terminal.npy",
        "truncated.npy", "next_obs.npy",      "index.npy",       "episode.npy",
        "time.npy",      "action_labels.npy", "obs_names.npy",   "obs_units.npy",
        "start.npy",     "next_known.npy",    "action_kind.npy", "done.npy",
    };
    bytes b = {malloc(3 * size + 4000), 0}, central = {malloc(size + 4000), 0};
    require(b.at && central.at);
    uint32_t count = 0;
    while (size > 3 && count < 20) {
        const char *called = name[data[0] % 16];
        size_t n = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        n = n < size ? n : size;
        put_all(&central, "PK\1\2\24\0", 6);
        put_entry(&central, data, n, strlen(called));
        put(&central, 0, 4); // comment, disk
        put(&central, 0, 2); // attributes
        put(&central, 0, 4);
        put(&central, (uint32_t)b.n, 4);
        put_all(&central, called, strlen(called));
        put_all(&b, "PK\3\4", 4);
        put_entry(&b, data, n, strlen(called));
        put_all(&b, called, strlen(called));
        put_all(&b, data, n);
        data += n;
        size -= n;
        count++;
    }
    size_t at = b.n;
    put_all(&b, central.at, central.n);
    put_all(&b, "PK\5\6\0\0\0\0", 8);
    put(&b, count, 2);
    put(&b, count, 2);
    put(&b, (uint32_t)central.n, 4);
    put(&b, (uint32_t)at, 4);
    put(&b, 0, 2);
    read_archive(b.at, b.n);
    free(b.at);
    free(central.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (data[0] % 3 == 0)
        read_archive(data + 1, size - 1);
    else if (data[0] % 3 == 1)
        read_array(data + 1, size - 1);
    else
        read_arrays(data + 1, size - 1);
    return 0;
}
