// fuzz_model.c - whatever the arrays of a model file hold: refused with a message, or a model
// that can be run in.
//
// The library does not parse HDF5: a helper program says where the arrays are. Here the target
// says it, so that an execution starts no process. The bytes are entries: length of the name,
// name, type (0 to 5 as in rh_hdf5__stored; + 8: one dimension), number of elements (two
// bytes), bytes of an element, and the elements. tests/reference/model_fuzz.py makes them of a
// file.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "model/file.h"

#define MOST 600 // entries
#define HEAD 4   // bytes of an entry after its name

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct entry {
    const uint8_t *name;
    size_t length;
    rh_hdf5__place place;
} entry;

typedef struct entries {
    entry all[MOST];
    int n;
} entries;

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void take_entries(entries *e, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size && e->n < MOST;) {
        size_t length = data[at];
        if (size - at < 1 + length + HEAD)
            return;
        const uint8_t *name = data + at + 1, *head = name + length;
        int64_t n = head[1] | head[2] << 8, width = head[3] ? head[3] : 1;
        at += 1 + length + HEAD;
        if (n > (int64_t)(size - at) / width)
            n = (int64_t)(size - at) / width;
        bool row = head[0] & 8;
        e->all[e->n++] =
            (entry){name,
                    length,
                    {.kind = RH_HDF5_DATASET,
                     .plain = row || n == 1,
                     .stored = (rh_hdf5__stored)((head[0] & 7) % (RH_HDF5_NSTORED + 1)),
                     .rank = row,
                     .n = n,
                     .size = width,
                     .offset = (int64_t)at}};
        at += (size_t)(n * width);
    }
}

static rh_status find(void *finder, const char *name, rh_hdf5__place *place, rh_error *err)
{
    (void)err;
    const entries *e = finder;
    size_t length = strlen(name);
    *place = (rh_hdf5__place){.kind = RH_HDF5_NOTHING, .offset = -1};
    for (int i = 0; i < e->n; i++) {
        const entry *one = &e->all[i];
        if (one->length < length || memcmp(one->name, name, length) != 0)
            continue;
        if (one->length == length)
            *place = one->place;
        else if (one->name[length] == '/')
            place->kind = RH_HDF5_GROUP;
        if (place->kind != RH_HDF5_NOTHING)
            return RH_OK;
    }
    return RH_OK;
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static entries e;
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_store *store = NULL;
    rh_model *model = NULL;
    e.n = 0;
    take_entries(&e, data, size);
    int fd = memfd_create("model", 0);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    require(rh_store__open_with(&store, "x.model", fd, (int64_t)size, find, &e, &err) == RH_OK);
    rh_status rc = rh_model_file__read(&model, store, &err);
    rh_store__close(store);
    require((rc == RH_OK) == (model != NULL));
    require(rc == RH_OK || strncmp(err.text, "x.model: ", 9) == 0);
    require(!strchr(err.text, '\n'));
    if (model)
        wander(model);
    rh_model_destroy(model);
    require(rh_base__alloc_live() == live);
    return 0;
}
