// fqi_tiles.c - linear action values on tile features, for fitted Q iteration.
//
//     q(s, a) = sum of w[a, i] for the active features i of s
//     g[a, i] = sum of (q(s, a) - y) over the transitions of the batch with action a in which
//               feature i is active
//
// 1. All weights have moments that decay at every update, whether or not their feature is in
//    the batch: Adam as the paper writes it, not the lazy one of esarsa.
// 2. Weights are floats, in one block per action. The features of a state are bits (kernel.c);
//    they are computed once for every state of the log.
// 3. A batch is sorted by action, so that a row is read with the weights of its action only.
// 4. The initial weights are uniform in +-1 / sqrt(features in all), without a bias.

#include "base/text.h"
#include "offline_internal.h"

#include <math.h>
#include <string.h>

#define BLOCK RH_OFFLINE__BLOCK

static size_t nweight(const rh_fqi *fqi)
{
    return (size_t)fqi->naction * (size_t)fqi->nblock * BLOCK;
}

static const float *weights_of(const rh_fqi *fqi, const float *w, int a)
{
    return w + (size_t)a * (size_t)fqi->nblock * BLOCK;
}

static rh_status init(rh_fqi *fqi, const rh_task *task, rh_rng *rng, rh_error *err)
{
    rh_status rc = rh_tiles_create(&fqi->tiles, task, fqi->opt.ntiling, fqi->opt.ntile,
                                   RH_TILES_PAIRS, "fqi", err);
    if (rc)
        return rc;
    int32_t nfeature = rh_tiles_nfeature(fqi->tiles), group = BLOCK * RH_OFFLINE__BLOCKS;
    fqi->nblock = (nfeature + group - 1) / group * RH_OFFLINE__BLOCKS;
    fqi->kernels = rh_offline__kernels_best();
    fqi->w = rh_alloc(nweight(fqi), sizeof *fqi->w);
    fqi->aim = rh_alloc(nweight(fqi), sizeof *fqi->aim);
    if (!fqi->w || !fqi->aim)
        return rh_base__no_memory(err, "fqi");

    double reach = 1.0 / sqrt(nfeature);
    for (int a = 0; a < fqi->naction; a++)
        for (int32_t i = 0; i < nfeature; i++)
            fqi->w[(size_t)a * (size_t)fqi->nblock * BLOCK + (size_t)i] =
                (float)rh_rng_range(rng, -reach, reach);
    return RH_OK;
}

static void clear(rh_fqi *fqi)
{
    rh_tiles_destroy(fqi->tiles);
    rh_free(fqi->w);
    rh_free(fqi->aim);
}

static size_t code_size(const rh_fqi *fqi)
{
    return (size_t)fqi->nblock * sizeof(uint16_t);
}

static size_t nscratch(const rh_fqi *fqi)
{
    return (size_t)rh_tiles_nactive(fqi->tiles) * sizeof(int32_t);
}

static void code(const rh_fqi *fqi, const double *obs, void *scratch, void *to)
{
    int32_t *active = scratch;
    uint16_t *mask = to;
    rh_tiles_active(fqi->tiles, obs, active);
    for (int i = 0; i < rh_tiles_nactive(fqi->tiles); i++)
        mask[active[i] / BLOCK] |= (uint16_t)(1u << active[i] % BLOCK);
}

static void read_values(const rh_fqi *fqi, rh_fqi__memory *memory, bool target,
                        const void *states, int n, const int32_t *row, float *q)
{
    (void)memory;
    const float *w = target ? fqi->aim : fqi->w;
    for (int a = 0; a < fqi->naction; a++)
        fqi->kernels->values(fqi->nblock, states, n, row, weights_of(fqi, w, a), q + a * n);
}

// Sort rows and target values by action; at (naction + 1): where each action begins.
static void sort(const rh_fqi *fqi, rh_fqi__memory *memory, int n, const int32_t *row,
                 const int32_t *act, const float *y, int *at)
{
    int next[RH_MAX_ACTIONS];
    memset(at, 0, ((size_t)fqi->naction + 1) * sizeof *at);
    for (int i = 0; i < n; i++)
        at[act[i] + 1]++;
    for (int a = 0; a < fqi->naction; a++) {
        at[a + 1] += at[a];
        next[a] = at[a];
    }
    for (int i = 0; i < n; i++) {
        int k = next[act[i]]++;
        memory->row[k] = row[i];
        memory->d[k] = y[i];
    }
}

static void update(rh_fqi *fqi, rh_fqi__memory *memory, const void *states, int n,
                   const int32_t *row, const int32_t *act, const float *y)
{
    int at[RH_MAX_ACTIONS + 1];
    sort(fqi, memory, n, row, act, y, at);
    for (int a = 0; a < fqi->naction; a++) {
        int count = at[a + 1] - at[a];
        const int32_t *mine = memory->row + at[a];
        float *d = memory->d + at[a];
        fqi->kernels->values(fqi->nblock, states, count, mine, weights_of(fqi, fqi->w, a),
                             memory->q);
        for (int i = 0; i < count; i++)
            d[i] = memory->q[i] - d[i];
        fqi->kernels->gradient(fqi->nblock, states, count, mine, d,
                               memory->g + (size_t)a * (size_t)fqi->nblock * BLOCK);
    }

    memory->power1 *= RH_FQI__BETA1;
    memory->power2 *= RH_FQI__BETA2;
    double root = sqrt(1.0 - memory->power2);
    rh_offline__adam step = {
        .keep1 = (float)RH_FQI__BETA1,
        .take1 = (float)(1.0 - RH_FQI__BETA1),
        .keep2 = (float)RH_FQI__BETA2,
        .take2 = (float)(1.0 - RH_FQI__BETA2),
        .keep = (float)(1.0 - fqi->opt.rate * fqi->opt.decay),
        .rate = (float)(fqi->opt.rate * root / (1.0 - memory->power1)),
        .eps = (float)(RH_FQI__EPS * root),
    };
    fqi->kernels->adam(nweight(fqi), &step, fqi->w, memory->m, memory->v, memory->g);
}

static void sync(rh_fqi *fqi)
{
    memcpy(fqi->aim, fqi->w, nweight(fqi) * sizeof *fqi->w);
}

static rh_status prepare(const rh_fqi *fqi, rh_fqi__memory *memory, bool training,
                         rh_error *err)
{
    if (!training)
        return RH_OK;
    memory->row = rh_alloc((size_t)memory->room, sizeof *memory->row);
    memory->m = rh_alloc(nweight(fqi), sizeof *memory->m);
    memory->v = rh_alloc(nweight(fqi), sizeof *memory->v);
    memory->g = rh_alloc(nweight(fqi), sizeof *memory->g);
    memory->power1 = memory->power2 = 1.0;
    if (!memory->row || !memory->m || !memory->v || !memory->g)
        return rh_base__no_memory(err, "fqi");
    return RH_OK;
}

static void values(const rh_fqi *fqi, const double *obs, void *scratch, double *q)
{
    int32_t *active = scratch;
    rh_tiles_active(fqi->tiles, obs, active);
    for (int a = 0; a < fqi->naction; a++) {
        const float *w = weights_of(fqi, fqi->w, a);
        q[a] = 0.0;
        for (int i = 0; i < rh_tiles_nactive(fqi->tiles); i++)
            q[a] += (double)w[active[i]];
    }
}

const rh_fqi__form rh_fqi__tiles = {
    .init = init,
    .clear = clear,
    .code_size = code_size,
    .code = code,
    .read = read_values,
    .update = update,
    .sync = sync,
    .prepare = prepare,
    .nscratch = nscratch,
    .values = values,
};
