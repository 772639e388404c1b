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

#include "tiles.h"

#include "agent_internal.h"

#include <math.h>

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
    int n = tiles->nobs, npair = tiles->mode == RH_TILES_PAIRS ? n * (n - 1) / 2 : 0;
    int32_t size = tiles->nvalue * tiles->ntiling;
    fill_rows(tiles, tiles->row, 0, 1, side);
    fill_rows(tiles, tiles->row + size, 0, side, side * side);
    fill_rows(tiles, tiles->row + 2 * size, 1, 1, 0);
    tiles->nsingle = side * tiles->ntiling;
    tiles->npair = side * side * tiles->ntiling;
    tiles->nfeature = n * tiles->nsingle + npair * tiles->npair;
    tiles->nactive = (n + npair) * tiles->ntiling;
}

static void build_joint(rh_tiles *tiles, int32_t side)
{
    int32_t size = tiles->nvalue * tiles->ntiling, tiling_size = 1;
    for (int i = 0; i < tiles->nobs; i++)
        tiling_size *= side;
    int32_t stride = tiling_size;
    for (int i = 0; i < tiles->nobs; i++) {
        stride /= side;
        fill_rows(tiles, tiles->row + i * size, i, stride, i == 0 ? tiling_size : 0);
    }
    tiles->nfeature = tiling_size * tiles->ntiling;
    tiles->nactive = tiles->ntiling;
}

// The number of features as a double, since it may not fit an int.
static double count_features(rh_tiles_mode mode, int nobs, int ntiling, int ntile)
{
    double side = ntile + 1, n = nobs;
    switch (mode) {
    case RH_TILES_SINGLES:
        return ntiling * n * side;
    case RH_TILES_PAIRS:
        return ntiling * (n * side + n * (n - 1) / 2 * side * side);
    case RH_TILES_JOINT:
        return ntiling * pow(side, n);
    }
    return NAN;
}

static rh_status check_size(rh_tiles_mode mode, int ntiling, int ntile, const rh_task *task,
                            const char *owner, rh_error *err)
{
    double n = count_features(mode, task->nobs, ntiling, ntile);
    if (n > MAX_FEATURES)
        return rh_fail(
            err, RH_EINVAL,
            "%s: %d sensors with %d tilings of %d tiles make %.3g features, expected at "
            "most %d; use fewer tiles%s",
            owner, task->nobs, ntiling, ntile, n, MAX_FEATURES,
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

    int nobs = task->nobs;
    size_t nrow = mode == RH_TILES_JOINT ? (size_t)nobs : 3;
    rh_tiles *tiles = rh_alloc(1, sizeof *tiles);
    if (!tiles)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for the tile coder", owner);
    tiles->kernels = rh_agent__kernels_best();
    tiles->mode = mode;
    tiles->nobs = nobs;
    tiles->ntiling = ntiling;
    tiles->nvalue = ntiling * ntile + 1;
    tiles->lo = rh_alloc((size_t)nobs, sizeof *tiles->lo);
    tiles->scale = rh_alloc((size_t)nobs, sizeof *tiles->scale);
    tiles->row = rh_alloc(nrow * (size_t)tiles->nvalue * (size_t)ntiling, sizeof *tiles->row);
    if (!tiles->lo || !tiles->scale || !tiles->row) {
        rh_tiles__destroy(tiles);
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for the tile coder", owner);
    }

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
