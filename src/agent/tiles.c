// tiles.c - tile coding after the paper's code.
//
// Every group of sensors (each alone, each pair, or all together) has ntiling tilings of ntile
// intervals a sensor. With q = floor(ntiling * ntile * (x - lo) / (hi - lo)), tiling t
// displaces the k-th sensor of a group by (2k + 1) t:
//
//     tile = floor((q - (2k + 1) t) / ntiling)
//
// which takes ntile + 1 values. For six sensors, singles plus pairs with 16 tilings of 8 tiles
// have 16 * (6 + 15) = 336 active features of 16 * (6 * 9 + 15 * 81) = 20,304.
//
// 1. Indices are exact: a dense table, no hashing, no collisions.
// 2. A value outside the range counts as the nearest value inside. The paper's code gives such
//    values tiles of their own from the same table, until it overflows. No value is outside in
//    Acrobot and Puddle World; in Cartpole the speeds are in 6 of 10,000 steps.
// 3. A table holds, for every value q of a sensor, what it adds to the index in each tiling, so
//    coding an observation only adds rows. (nvalue x ntiling)
// 4. Singles and pairs of all sensors share these rows, which keeps them in the cache.
// 5. The task says which sensors and pairs are coded (rh_tiled); by default all of them.

#include "tiles.h"

#include "agent_internal.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

#define MAX_FEATURES (1 << 24)

const char *const rh_agent__tile_modes[] = {
    [RH_TILES_PAIRS] = "pairs",
    [RH_TILES_SINGLES] = "singles",
    [RH_TILES_JOINT] = "joint",
};

static int floor_divide(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// Rows of the k-th sensor of a group: the tile times `stride`, plus the start of the tiling.
static void fill_rows(const rh_tiles *tiles, int32_t *row, int k, int32_t stride,
                      int32_t tiling_size)
{
    int n = tiles->ntiling;
    for (int q = 0; q < tiles->nvalue; q++)
        for (int t = 0; t < n; t++) {
            int shift = (2 * k + 1) * t;
            int tile = floor_divide(q - shift, n) - floor_divide(-shift, n);
            row[q * n + t] = tile * stride + t * tiling_size;
        }
}

static void build_small(rh_tiles *tiles, int32_t side)
{
    int n = tiles->nsensor;
    int32_t size = tiles->nvalue * tiles->ntiling;
    fill_rows(tiles, tiles->row, 0, 1, side);
    fill_rows(tiles, tiles->row + size, 0, side, side * side);
    fill_rows(tiles, tiles->row + 2 * size, 1, 1, 0);
    tiles->nsingle = side * tiles->ntiling;
    tiles->npair = side * side * tiles->ntiling;
    tiles->nfeature = n * tiles->nsingle + tiles->npairs * tiles->npair;
    tiles->nactive = (n + tiles->npairs) * tiles->ntiling;
}

static void build_joint(rh_tiles *tiles, int32_t side)
{
    int32_t size = tiles->nvalue * tiles->ntiling, tiling_size = 1;
    for (int i = 0; i < tiles->nsensor; i++)
        tiling_size *= side;
    int32_t stride = tiling_size;
    for (int i = 0; i < tiles->nsensor; i++) {
        stride /= side;
        fill_rows(tiles, tiles->row + i * size, i, stride, i == 0 ? tiling_size : 0);
    }
    tiles->nfeature = tiling_size * tiles->ntiling;
    tiles->nactive = tiles->ntiling;
}

// The number of features as a double, since it may not fit an int.
static double count_features(rh_tiles_mode mode, double n, double npair, int ntiling, int ntile)
{
    double side = ntile + 1;
    switch (mode) {
    case RH_TILES_SINGLES:
        return ntiling * n * side;
    case RH_TILES_PAIRS:
        return ntiling * (n * side + npair * side * side);
    case RH_TILES_JOINT:
        return ntiling * pow(side, n);
    }
    return NAN;
}

// How many sensors and pairs are coded.
static void count_groups(const rh_task *task, rh_tiles_mode mode, int *nsensor, int *npairs)
{
    const rh_tiled *t = &task->tiled;
    *nsensor = t->nsensor ? t->nsensor : task->nobs;
    *npairs = mode != RH_TILES_PAIRS ? 0
              : t->nsensor           ? t->npair
                                     : *nsensor * (*nsensor - 1) / 2;
}

// Which sensors and pairs: sensor (nsensor), pair (npairs x 2).
static void list_groups(const rh_task *task, int nsensor, int npairs, int *sensor, int *pair)
{
    const rh_tiled *t = &task->tiled;
    for (int i = 0; i < nsensor; i++)
        sensor[i] = t->nsensor ? t->sensor[i] : i;
    for (int i = 0, k = 0; k < npairs && !t->nsensor; i++)
        for (int j = i + 1; j < nsensor; j++, k++) {
            pair[2 * k] = i;
            pair[2 * k + 1] = j;
        }
    for (int k = 0; k < npairs && t->nsensor; k++) {
        pair[2 * k] = t->pair[k][0];
        pair[2 * k + 1] = t->pair[k][1];
    }
}

static bool right_groups(const rh_task *task)
{
    const rh_tiled *t = &task->tiled;
    bool right = t->nsensor >= 0 && t->nsensor <= RH_TILED_SENSORS && t->npair >= 0 &&
                 t->npair <= RH_TILED_PAIRS;
    for (int i = 0; right && i < t->nsensor; i++)
        right = t->sensor[i] >= 0 && t->sensor[i] < task->nobs;
    for (int k = 0; right && k < t->npair; k++)
        for (int i = 0; i < 2; i++)
            right = right && t->pair[k][i] >= 0 && t->pair[k][i] < task->nobs;
    return right;
}

static rh_status check_size(rh_tiles_mode mode, int ntiling, int ntile, const rh_task *task,
                            const char *owner, rh_error *err)
{
    int nsensor, npairs;
    if (!right_groups(task))
        return rh_fail(err, RH_EINVAL, "%s: the task has sensors to tile that it does not have",
                       owner);
    count_groups(task, mode, &nsensor, &npairs);
    double n = count_features(mode, nsensor, npairs, ntiling, ntile);
    if (n > MAX_FEATURES)
        return rh_fail(
            err, RH_EINVAL,
            "%s: %d sensors with %d tilings of %d tiles make %.3g features, expected at "
            "most %d; use fewer tiles%s",
            owner, nsensor, ntiling, ntile, n, MAX_FEATURES,
            mode == RH_TILES_JOINT ? ", or features = pairs" : "");
    for (int i = 0; i < task->nobs; i++)
        if (!(task->obs_hi[i] > task->obs_lo[i]) ||
            !isfinite(task->obs_hi[i] - task->obs_lo[i]))
            return rh_fail(err, RH_EINVAL,
                           "%s: sensor %s ranges from %g to %g, expected a finite range with "
                           "low below high",
                           owner, task->obs_name[i], task->obs_lo[i], task->obs_hi[i]);
    return RH_OK;
}

rh_status rh_tiles__create(rh_tiles **out, const double *hp, const rh_task *task,
                           const char *owner, rh_error *err)
{
    int ntiling = (int)hp[0], ntile = (int)hp[1];
    rh_tiles_mode mode = (rh_tiles_mode)hp[2];
    rh_status rc = check_size(mode, ntiling, ntile, task, owner, err);
    if (rc)
        return rc;

    int nobs = task->nobs, nsensor, npairs;
    count_groups(task, mode, &nsensor, &npairs);
    size_t nrow = mode == RH_TILES_JOINT ? (size_t)nsensor : 3;
    rh_tiles *tiles = rh_alloc(1, sizeof *tiles);
    if (!tiles)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for the tile coder", owner);
    tiles->kernels = rh_agent__kernels_best();
    tiles->mode = mode;
    tiles->nobs = nobs;
    tiles->nsensor = nsensor;
    tiles->npairs = npairs;
    tiles->chosen = task->tiled.nsensor > 0;
    tiles->ntiling = ntiling;
    tiles->nvalue = ntiling * ntile + 1;
    tiles->sensor = rh_alloc((size_t)nsensor + 2 * (size_t)npairs, sizeof *tiles->sensor);
    tiles->lo = rh_alloc((size_t)nobs, sizeof *tiles->lo);
    tiles->scale = rh_alloc((size_t)nobs, sizeof *tiles->scale);
    tiles->row = rh_alloc(nrow * (size_t)tiles->nvalue * (size_t)ntiling, sizeof *tiles->row);
    if (!tiles->sensor || !tiles->lo || !tiles->scale || !tiles->row) {
        rh_tiles__destroy(tiles);
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for the tile coder", owner);
    }

    tiles->pair = tiles->sensor + nsensor;
    list_groups(task, nsensor, npairs, tiles->sensor, tiles->pair);
    for (int i = 0; i < nobs; i++) {
        tiles->lo[i] = task->obs_lo[i];
        tiles->scale[i] = ntiling * ntile / (task->obs_hi[i] - task->obs_lo[i]);
    }
    if (mode == RH_TILES_JOINT)
        build_joint(tiles, ntile + 1);
    else
        build_small(tiles, ntile + 1);
    *out = tiles;
    return RH_OK;
}

void rh_tiles__destroy(rh_tiles *tiles)
{
    if (!tiles)
        return;
    rh_free(tiles->sensor);
    rh_free(tiles->lo);
    rh_free(tiles->scale);
    rh_free(tiles->row);
    rh_free(tiles);
}

void rh_tiles__active(const rh_tiles *tiles, const double *obs, int32_t *active)
{
    // the first row of each sensor
    int32_t at[RH_MAX_OBS];
    for (int i = 0; i < tiles->nobs; i++) {
        double q = (obs[i] - tiles->lo[i]) * tiles->scale[i];
        q = q > 0.0 ? q : 0.0; // also NaN
        q = q < tiles->nvalue - 1 ? q : tiles->nvalue - 1;
        at[i] = (int32_t)q * tiles->ntiling;
    }
    tiles->kernels->tiles(tiles, at, active);
}

// ---------------------------------------------------------------------------- saved states

// Sensors and pairs as numbers, or none where all sensors are coded.
static size_t groups_of(const rh_tiles *tiles, double *x)
{
    size_t n = 0;
    if (!tiles->chosen)
        return 0;
    for (int i = 0; i < tiles->nsensor; i++)
        x[n++] = tiles->sensor[i];
    for (int i = 0; i < 2 * tiles->npairs; i++)
        x[n++] = tiles->pair[i];
    return n;
}

rh_status rh_tiles__save(const rh_tiles *tiles, rh_state *state, rh_error *err)
{
    double x[RH_TILED_SENSORS + 2 * RH_TILED_PAIRS];
    size_t n = groups_of(tiles, x);
    return n ? rh_state_put(state, "tiled", x, n, err) : RH_OK;
}

rh_status rh_tiles__check_saved(const rh_tiles *tiles, const char *owner, const rh_state *state,
                                rh_error *err)
{
    double x[RH_TILED_SENSORS + 2 * RH_TILED_PAIRS];
    size_t n = groups_of(tiles, x), nsaved = 0;
    const double *saved = rh_state__doubles(state, "tiled", &nsaved);
    nsaved = saved ? nsaved : 0;
    if (n != nsaved || (n && memcmp(x, saved, n * sizeof *x) != 0))
        return rh_fail(err, RH_EINVAL,
                       "%s: the state was saved with other sensors in its tiles; use the model "
                       "or the best.yaml that it was learned with",
                       owner);
    return RH_OK;
}
