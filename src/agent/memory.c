// memory.c - a replay memory of n-step transitions, in flat arrays of fixed size.
//
// 1. Rows are made when their last reward is known: n steps later, or at the end of the
//    episode, where they are shorter. So sampling is a copy, and rows of a log can be among
//    them.
// 2. A truncated episode bootstraps from its last observation; a terminal one does not.
// 3. Numbers are as they were observed. They are scaled when drawn (scaling.c), since the
//    scales change.

#include "memory.h"

#include "base/base.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <string.h>

rh_status rh_memory__init(rh_memory *memory, const char *owner, rh_error *err)
{
    size_t nobs = (size_t)memory->nobs, nact = (size_t)memory->nact;
    memory->width = 2 * nobs + nact + 2;
    memory->row = rh_alloc((size_t)memory->room * memory->width, sizeof(float));
    memory->step = rh_alloc((size_t)memory->n * (nobs + nact), sizeof(float));
    memory->reward = rh_alloc((size_t)memory->n, sizeof(double));
    if (!memory->row || !memory->step || !memory->reward)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %lld transitions", owner,
                       (long long)memory->room);
    return RH_OK;
}

void rh_memory__clear(rh_memory *memory)
{
    rh_free(memory->row);
    rh_free(memory->step);
    rh_free(memory->reward);
}

void rh_memory__start(rh_memory *memory)
{
    memory->held = 0;
}

// Where step i of those that wait is in their ring.
static int place(const rh_memory *r, int i)
{
    return (r->first + i) % r->n;
}

// The oldest of the waiting steps becomes a row.
static void store(rh_memory *r, const float *next)
{
    size_t nobs = (size_t)r->nobs, nact = (size_t)r->nact;
    const float *step = r->step + (size_t)r->first * (nobs + nact);
    float *row = r->row + (size_t)r->next * r->width;
    double ret = 0.0, discount = 1.0;
    for (int i = 0; i < r->held; i++) {
        ret += discount * r->reward[place(r, i)];
        discount *= r->gamma;
    }
    memcpy(row, step, nobs * sizeof *row);
    if (next)
        memcpy(row + nobs, next, nobs * sizeof *row);
    else
        memset(row + nobs, 0, nobs * sizeof *row);
    memcpy(row + 2 * nobs, step + nobs, nact * sizeof *row);
    row[2 * nobs + nact] = (float)ret;
    row[2 * nobs + nact + 1] = next ? (float)discount : 0.0f;

    r->next = (r->next + 1) % r->room;
    r->count += r->count < r->room;
    r->first = place(r, 1);
    r->held--;
}

// One more step waits.
static void hold(rh_memory *r, const float *obs, const float *act, double reward)
{
    size_t nobs = (size_t)r->nobs, nact = (size_t)r->nact;
    int at = place(r, r->held++);
    float *step = r->step + (size_t)at * (nobs + nact);
    memcpy(step, obs, nobs * sizeof *step);
    memcpy(step + nobs, act, nact * sizeof *step);
    r->reward[at] = reward;
}

void rh_memory__step(rh_memory *memory, const float *obs, const float *act, double reward,
                     const float *next)
{
    hold(memory, obs, act, reward);
    if (memory->held == memory->n)
        store(memory, next);
}

void rh_memory__last(rh_memory *memory, const float *obs, const float *act, double reward,
                     const float *next)
{
    hold(memory, obs, act, reward);
    while (memory->held)
        store(memory, next);
}

// Wherever the ring begins, the same draws find the same rows.
const float *rh_memory__row(const rh_memory *r, int64_t i)
{
    int64_t at = i + (r->count == r->room ? r->next : 0);
    return r->row + (size_t)(at < r->room ? at : at - r->room) * r->width;
}

void rh_memory__draw(const rh_memory *memory, rh_rng *rng, const rh_memory__batch *batch,
                     int from, int to)
{
    size_t nobs = (size_t)memory->nobs, nact = (size_t)memory->nact;
    for (int i = from; i < to; i++) {
        size_t k = (size_t)i;
        const float *row = rh_memory__row(memory, rh_rng_below(rng, (uint32_t)memory->count));
        memcpy(batch->obs + k * nobs, row, nobs * sizeof *row);
        memcpy(batch->next + k * nobs, row + nobs, nobs * sizeof *row);
        memcpy(batch->act + k * nact, row + 2 * nobs, nact * sizeof *row);
        batch->reward[i] = row[2 * nobs + nact];
        batch->discount[i] = row[2 * nobs + nact + 1];
    }
}

// ---------------------------------------------------------------------------- saving

rh_status rh_memory__save(const rh_memory *memory, rh_state *state, rh_error *err)
{
    size_t n = (size_t)memory->count * memory->width;
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_base__no_memory(err, "replay memory");
    for (int64_t i = 0; i < memory->count; i++)
        for (size_t k = 0; k < memory->width; k++)
            x[(size_t)i * memory->width + k] = (double)rh_memory__row(memory, i)[k];
    rh_status rc = rh_state_put(state, "memory", x, n, err);
    rh_free(x);
    return rc;
}

// Whether row x of a saved memory can have been stored: an action of the task, a discount.
static bool is_row(const rh_memory *r, const double *x)
{
    double act = x[2 * r->nobs], discount = x[r->width - 1];
    bool action = !r->naction || (act >= 0.0 && act < r->naction && act == floor(act));
    return action && discount >= 0.0 && discount <= 1.0;
}

rh_status rh_memory__load(rh_memory *memory, const rh_state *state, rh_error *err)
{
    size_t n = 0, width = memory->width, room = (size_t)memory->room;
    const double *x = rh_state__doubles(state, "memory", &n);
    if (!x || n % width)
        return rh_fail(err, RH_EFORMAT,
                       "replay memory: %zu numbers in the saved state, expected rows of %zu", n,
                       width);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= (double)FLT_MAX))
            return rh_fail(err, RH_EFORMAT,
                           "replay memory: number %zu of the saved state is %g, expected a "
                           "finite one",
                           i + 1, x[i]);
    size_t rows = n / width;
    for (size_t i = 0; i < rows; i++)
        if (!is_row(memory, x + i * width))
            return rh_fail(err, RH_EFORMAT,
                           "replay memory: row %zu of the saved state has action %g and "
                           "discount %g, expected those of the task",
                           i + 1, x[i * width + 2 * (size_t)memory->nobs],
                           x[(i + 1) * width - 1]);
    if (rows > room)
        x += (rows - room) * width;
    rows = rows > room ? room : rows;
    for (size_t i = 0; i < rows * width; i++)
        memory->row[i] = (float)x[i];
    memory->count = (int64_t)rows;
    memory->next = rows < room ? (int64_t)rows : 0;
    memory->held = 0;
    return RH_OK;
}
