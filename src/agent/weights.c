// weights.c - the active set: weights with a trace, stored side by side.
//
// For every entry with trace z != 0, after a TD error delta, with t the run's ticks:
//
//     g = -delta z,  m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
//     w -= rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + 1e-8)
//     z *= decay
//
// Entries without a trace keep w, m and v (lazy Adam). Plain gradient descent has neither m nor
// v: w += rate * delta * z. tests/reference/esarsa_plain.c does the same in plain
// double-precision C; the tests compare the two.
//
// 1. Entries with a trace have places in the set, so an update is one straight vector loop
//    (kernel.c). A line stores the places of its entries. Place 0 is a dummy for all entries
//    outside the set, so reading needs no branch.
// 2. The set holds the change of a weight since it entered, as a float: changes are small, and
//    so is their rounding. The weight itself is a double, updated when the entry leaves.
// 3. A trace k steps after its visit is decay^k. It is stored as y with z = scale * y, and v as
//    v / fade with fade falling by beta2 a step. Pure decay then writes nothing, and a rounded
//    beta2 cannot shift v (0.999 is not a float and would shift it by 1e-5).
// 4. An entry leaves the set when its trace is below 1e-16. Its weight then misses at most
//    rate * |delta| * 1e-16 / 1e-8 / (1 - decay), that is 1e-8 of a step, whatever its v; with
//    momentum it also stays until |m| < 1e-14 sqrt(v). When it returns, its v gets the missed
//    factor beta2^k of k idle steps. k ends with the episode, or where the trace would have
//    reached zero in double precision (the extent; above a decay of one half it never does,
//    since the smallest double rounds to itself).
// 5. Places are looked up when entries are read, one step before they are needed: by then the
//    update has pushed their lines out of the cache. Entering entries only write there.
// 6. Weights start at zero, as new memory does: an unvisited part of the table costs nothing.
//
// Measured with `make bench` on given states, on one core of a 2.3 GHz Xeon with AVX-512,
// compared with the plain version: 2.1 million learning steps/s and 6 times the speed in Puddle
// World (decay 0.1), 0.66 million and 25 times in Cartpole (0.021), 0.33 million and 21 times
// in Acrobot (0.8; 6,000 entries in the set, for which the loop takes 1.2 of 3.0 us). In the
// model of an Acrobot log (bench_model) episodes are short and most entries new: a step
// takes 2.5 us, more than a third of it for entering and leaving the set. Leaving it at a trace
// of 1e-8 makes the set smaller and a step no faster: more entries return.

#include "weights.h"

#include <math.h>
#include <string.h>

#define EPSILON 1e-8      // Adam's, Kingma and Ba (2015)
#define TRACE_END 1e-16   // decision 4
#define SCALE_END 1e-5    // rescale traces when their scale falls below this; by hand
#define FADE_END 0.25     // the same for second moments
#define AUDIT 8           // steps between two checks of the second moments
#define SWEEP 64          // steps between two searches for entries that leave the set
#define STAGGER (13 * 64) // bytes; equal places of two arrays must not share their low 12 bits

// An entry that has left the set.
struct rh_agent__idle {
    int32_t id;
    uint32_t left;  // clock when it left
    uint32_t visit; // clock of its last visit
};

static int whole_blocks(int n)
{
    return (n + RH_BLOCK - 1) / RH_BLOCK * RH_BLOCK;
}

static int count_lines(const rh_weights_options *opt)
{
    return (opt->naction + RH_LANES - 1) / RH_LANES;
}

// Features read at a time.
static int count_read(const rh_weights_options *opt)
{
    return (opt->nactive + 3) / 4 * 4;
}

static size_t count_entries(const rh_weights_options *opt)
{
    return ((size_t)opt->nfeature + 1) * (size_t)count_lines(opt) * RH_LANES;
}

static rh_agent__line *line_of(const rh_weights *w, int32_t id)
{
    return &w->line[id / RH_LANES];
}

// ---------------------------------------------------------------------------- enter and leave

static void clear_place(rh_weights *w, int i)
{
    w->dw[i] = 0.0f;
    w->v[i] = RH_SPARE;
    w->m[i] = 0.0f;
    w->y[i] = 0.0f;
}

// Clear a block of unused places, so that updating them has no effect.
static void clear_block(rh_weights *w, int first)
{
    size_t bytes = RH_BLOCK * sizeof(float);
    memset(w->dw + first, 0, bytes);
    memset(w->m + first, 0, bytes);
    memset(w->y + first, 0, bytes);
    for (int i = first; i < first + RH_BLOCK; i++)
        w->v[i] = RH_SPARE;
}

static void open_set(rh_weights *w)
{
    clear_block(w, 0);
    w->nset = 1;
    w->nsafe = 0;
    w->nidle = 0;
    w->clock = 0;
    w->scale = 1.0;
    w->fade = 1.0;
}

// The factor of a second moment after k updates without a gradient.
static float beta2_power(const rh_weights *w, uint32_t k)
{
    if (k < 65536)
        return w->beta2_low[k % 256] * w->beta2_high[k / 256];
    return (float)rh_exp(k * rh_ln(w->opt.beta2));
}

// The second moment of an idle entry, now.
static float idle_moment(const rh_weights *w, const rh_agent__idle *e, float v)
{
    uint32_t until = w->clock;
    if (w->extent < until && e->visit < until - w->extent)
        until = e->visit + w->extent;
    return until > e->left ? v * beta2_power(w, until - e->left) : v;
}

// Apply the decay that an idle entry missed and remove it; the last one takes its place.
static float wake(rh_weights *w, int j, float v)
{
    v = idle_moment(w, &w->idle[j], v);
    w->idle[j] = w->idle[--w->nidle];
    int32_t moved = w->idle[j].id;
    line_of(w, moved)->slot[moved % RH_LANES] = -1 - j;
    return v;
}

// The selected entries that are outside the set enter it.
static void enter_set(rh_weights *w, float trace)
{
    int part = w->aim / RH_LANES, lane = w->aim % RH_LANES, first = w->nset, n = w->nfresh;
    float unfade = (float)(1.0 / w->fade);
    uint32_t clock = w->clock, *visit = w->visit + first;
    const int32_t *fresh = w->fresh;
    int32_t *id = w->id + first;
    float *v = w->v + first, *y = w->y + first;
    for (int i = whole_blocks(first); i < first + n; i += RH_BLOCK)
        clear_block(w, i);
    for (int k = 0; k < n; k++) {
        id[k] = (fresh[k] + part) * RH_LANES + lane;
        v[k] = w->fresh_v[k] * unfade;
        y[k] = trace;
        visit[k] = clock;
    }

    // slots are only written here; their old values were read when the line was in the cache
    for (int k = 0; k < n; k++) {
        int32_t *slot = &w->line[fresh[k] + part].slot[lane];
        if (w->fresh_slot[k] < 0) // waking another one may have moved it
            v[k] = wake(w, -1 - *slot, w->fresh_v[k]) * unfade;
        *slot = first + k;
    }
    for (int k = 0; w->moment && k < n; k++)
        w->m[first + k] = w->moment[id[k]];
    w->nset = first + n;
}

// Write n places, from i on, back to their lines and set their slots to `slot`.
static void write_back(rh_weights *w, int i, int n, int32_t slot)
{
    float fade = (float)w->fade;
    rh_agent__line *line = w->line;
    const int32_t *id = w->id + i;
    const float *dw = w->dw + i, *v = w->v + i;
    for (int k = 0; k < n; k++) {
        rh_agent__line *l = &line[(uint32_t)id[k] / RH_LANES];
        uint32_t lane = (uint32_t)id[k] % RH_LANES;
        l->w[lane] += (double)dw[k];
        l->v[lane] = v[k] * fade;
        l->slot[lane] = slot;
    }
    for (int k = 0; w->moment && k < n; k++)
        w->moment[id[k]] = w->m[i + k];
}

static void leave_set(rh_weights *w, int i)
{
    write_back(w, i, 1, -1 - w->nidle);
    w->idle[w->nidle++] = (rh_agent__idle){w->id[i], w->clock, w->visit[i]};

    // the last place moves here, with an unchecked v
    int last = --w->nset;
    if (i < w->nsafe)
        w->nsafe = i / RH_BLOCK * RH_BLOCK;
    if (i != last) {
        w->dw[i] = w->dw[last];
        w->v[i] = w->v[last];
        w->m[i] = w->m[last];
        w->y[i] = w->y[last];
        w->id[i] = w->id[last];
        w->visit[i] = w->visit[last];
        line_of(w, w->id[i])->slot[w->id[i] % RH_LANES] = i;
    }
    clear_place(w, last);
}

void rh_weights__rest(rh_weights *w)
{
    write_back(w, 1, w->nset - 1, 0);
    for (int j = 0; j < w->nidle; j++) {
        const rh_agent__idle *e = &w->idle[j];
        rh_agent__line *l = line_of(w, e->id);
        int lane = e->id % RH_LANES;
        l->v[lane] = idle_moment(w, e, l->v[lane]);
        l->slot[lane] = 0;
    }
    open_set(w);
}

// ---------------------------------------------------------------------------- upkeep

// Faded traces become zero.
static void rescale_traces(rh_weights *w)
{
    float scale = (float)w->scale;
    for (int i = 1; i < w->nset; i++) {
        float z = w->y[i] * scale;
        w->y[i] = z < (float)TRACE_END ? 0.0f : z;
    }
    w->scale = 1.0;
}

static void rescale_moments(rh_weights *w)
{
    float fade = (float)w->fade;
    for (int i = 1; i < w->nset; i++)
        w->v[i] *= fade;
    w->fade = 1.0;
    w->nsafe = 0;
}

// Find how many places have no small second moment. In units of fade they never fall.
static void audit(rh_weights *w)
{
    int n = w->nset / RH_BLOCK * RH_BLOCK;
    w->nsafe = w->kernels->least(n, w->v) > RH_TINY ? n : 0;
}

// Before an update, entries without a trace leave the set. Lists are processed from the end, so
// that an entry moved into a free place is not itself one that leaves.
static void tidy(rh_weights *w)
{
    // from time to time, remove entries with negligible trace and momentum
    if (w->clock % SWEEP == 0 && w->clock >= w->expiry) {
        rescale_traces(w);
        for (int n = w->kernels->faded(w->nset, w->y, w->list); n > 0; n--) {
            int i = w->list[n - 1];
            if (fabsf(w->m[i]) <= 1e-14f * sqrtf(w->v[i] * (float)w->fade)) {
                w->m[i] = 0.0f;
                leave_set(w, i);
            }
        }
    }
    // on time, those go that would have no trace in double precision either
    if (w->strict && w->clock >= w->extent)
        for (int n = w->kernels->aged(w->nset, w->visit, w->clock, w->extent, w->list); n > 0;)
            leave_set(w, w->list[--n]);
}

// ---------------------------------------------------------------------------- learning

size_t rh_weights__list_size(int nactive)
{
    return ((size_t)nactive + 15) / 16 * 16 + 16; // whole vectors, read and written
}

void rh_weights__address(const rh_weights_options *opt, int32_t *feature)
{
    int n = count_read(opt), nline = count_lines(opt);
    for (int i = opt->nactive; i < n; i++)
        feature[i] = opt->nfeature; // its weights stay zero
    if (nline > 1)
        for (int i = 0; i < n; i++)
            feature[i] *= nline;
}

void rh_weights__read(rh_weights *w, const int32_t *feature, double *q)
{
    for (int k = 0; k < w->nline; k++)
        w->kernels->values(w->line + k, feature, w->nread, w->dw, w->sum + k * RH_LANES,
                           q + k * RH_LANES, w->slot + k * RH_LANES * w->nread);
    for (int a = 0; a < w->opt.naction; a++)
        q[a] += w->sum[a];
}

void rh_weights__aim(rh_weights *w, const int32_t *feature, int action)
{
    int part = action / RH_LANES, lane = action % RH_LANES;
    const int32_t *slot = w->slot + part * RH_LANES * w->nread + lane;
    w->nfresh = w->kernels->aim(w->opt.nactive, slot, feature, w->place, w->fresh);
    const rh_agent__line *line = w->line + part;
    for (int i = 0; i < w->nfresh; i++) {
        w->fresh_v[i] = line[w->fresh[i]].v[lane];
        w->fresh_slot[i] = line[w->fresh[i]].slot[lane];
    }
    w->aim = action;
    w->aimed = w->sum[action];
}

double rh_weights__visit(rh_weights *w)
{
    if (w->clock % AUDIT == 0)
        audit(w);
    float y = (float)(1.0 / w->scale);
    double sum[4] = {0};
    for (int i = 0; i < w->nread; i += 4) // the last few may be dummies
        for (int k = 0; k < 4; k++) {
            sum[k] += (double)w->dw[w->place[i + k]];
            w->y[w->place[i + k]] = y;
        }
    if (w->extent < UINT32_MAX)
        for (int i = 0; i < w->nread; i++)
            w->visit[w->place[i]] = w->clock;
    w->y[0] = 0.0f;
    enter_set(w, y);
    tidy(w);
    return w->aimed + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void rh_weights__tick(rh_weights *w)
{
    w->power1 *= w->opt.beta1;
    w->power2 *= w->opt.beta2;
}

// One Adam step of everything in the set.
static void step_adam(rh_weights *w, int n, double delta)
{
    rh_weights__tick(w);
    w->fade *= w->opt.beta2;
    double correction = sqrt((1.0 - w->power2) / w->fade); // of the root, by bias and scale
    double error = delta * w->scale * (double)RH_UNIT;
    double rate = w->opt.rate * correction / (1.0 - w->power1);
    rh_agent__adam adam = {
        .gain = (float)((1.0 - w->opt.beta2) * error * error / w->fade),
        .rate = (float)(w->moment ? rate : rate * error),
        .eps = (float)(EPSILON * correction) * RH_UNIT,
        .take = (float)(1.0 - w->opt.beta1),
        .error = (float)error,
    };
    if (w->moment)
        w->kernels->momentum(w->nsafe, n, &adam, w->dw, w->v, w->m, w->y);
    else
        w->kernels->adam(w->nsafe, n, &adam, w->dw, w->v, w->y);
}

void rh_weights__learn(rh_weights *w, double delta)
{
    int n = whole_blocks(w->nset);
    if (w->opt.plain)
        w->kernels->sgd(n, (float)(w->opt.rate * delta * w->scale), w->dw, w->y);
    else
        step_adam(w, n, delta);

    w->clock++;
    w->scale *= w->opt.decay;
    if (w->scale < SCALE_END)
        rescale_traces(w);
    if (w->fade < FADE_END)
        rescale_moments(w);
}

// ---------------------------------------------------------------------------- construction

// The set's arrays in one block, at different offsets within a memory page.
static bool allocate_set(rh_weights *w, size_t n)
{
    enum { NARRAY = 7 };
    size_t bytes = (n * sizeof(float) + 4095) / 4096 * 4096 + STAGGER;
    w->block = rh_alloc(NARRAY, bytes);
    if (!w->block)
        return false;
    w->dw = (float *)(void *)w->block;
    w->v = (float *)(void *)(w->block + bytes);
    w->m = (float *)(void *)(w->block + 2 * bytes);
    w->y = (float *)(void *)(w->block + 3 * bytes);
    w->id = (int32_t *)(void *)(w->block + 4 * bytes);
    w->visit = (uint32_t *)(void *)(w->block + 5 * bytes);
    w->list = (int32_t *)(void *)(w->block + 6 * bytes);
    return true;
}

static bool allocate(rh_weights *w)
{
    size_t nentry = count_entries(&w->opt);
    size_t nlist = rh_weights__list_size(w->opt.nactive), nlane = (size_t)w->nline * RH_LANES;
    w->line = rh_alloc(nentry / RH_LANES, sizeof *w->line);
    w->idle = rh_alloc(nentry, sizeof *w->idle);
    w->slot = rh_alloc(nlane * nlist, sizeof *w->slot);
    w->sum = rh_alloc(nlane, sizeof *w->sum);
    w->place = rh_alloc(nlist, sizeof *w->place);
    w->fresh = rh_alloc(nlist, sizeof *w->fresh);
    w->fresh_v = rh_alloc(nlist, sizeof *w->fresh_v);
    w->fresh_slot = rh_alloc(nlist, sizeof *w->fresh_slot);
    return allocate_set(w, nentry + RH_BLOCK) && w->line && w->idle && w->slot && w->sum &&
           w->place && w->fresh && w->fresh_v && w->fresh_slot;
}

// Ages at which a trace is below TRACE_END, and at which it is zero in double precision.
static void set_ages(rh_weights *w)
{
    double decay = w->opt.decay;
    w->expiry = UINT32_MAX;
    w->extent = UINT32_MAX;
    w->strict = false;
    if (decay < 1.0)
        w->expiry =
            decay > 0.0 ? (uint32_t)fmin(ceil(rh_ln(TRACE_END) / rh_ln(decay)), 4e9) : 1;
    if (decay <= 0.5) {
        w->extent = 0;
        for (double z = 1.0; z > 0.0; z *= decay)
            w->extent++;
        w->strict = w->moment || w->extent <= w->expiry + SWEEP;
    }
}

// Set everything that follows from the options; the table is all zeros.
static rh_status begin(rh_weights *w, const char *owner, rh_error *err)
{
    w->power1 = 1.0;
    w->power2 = 1.0;
    bool momentum = !w->opt.plain && w->opt.beta1 > 0.0;
    if (momentum && !w->moment_block)
        w->moment_block = rh_alloc(count_entries(&w->opt), sizeof *w->moment_block);
    w->moment = momentum ? w->moment_block : NULL;
    if (momentum && !w->moment)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %d features", owner,
                       (int)w->opt.nfeature);
    double low = 1.0, high = 1.0;
    for (int k = 0; k < 256; k++, low *= w->opt.beta2)
        w->beta2_low[k] = (float)low;
    for (int k = 0; k < 256; k++, high *= low)
        w->beta2_high[k] = (float)high;
    set_ages(w);
    open_set(w);
    return RH_OK;
}

rh_status rh_weights__check(const rh_weights_options *opt, const char *owner, rh_error *err)
{
    if (count_entries(opt) > INT32_MAX - RH_BLOCK) // an int32_t numbers places and entries
        return rh_fail(err, RH_EINVAL, "%s: %d features of %d actions are too many", owner,
                       (int)opt->nfeature, opt->naction);
    return RH_OK;
}

rh_status rh_weights__init(rh_weights *w, const rh_weights_options *opt, const char *owner,
                           rh_error *err)
{
    *w = (rh_weights){.opt = *opt};
    w->kernels = rh_agent__kernels_best();
    w->nline = count_lines(opt);
    w->nread = count_read(opt);
    rh_status rc = rh_weights__check(opt, owner, err);
    if (rc)
        return rc;
    if (!allocate(w))
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %d features", owner,
                       (int)opt->nfeature);
    return begin(w, owner, err);
}

rh_status rh_weights__reset(rh_weights *w, const rh_weights_options *opt, const char *owner,
                            rh_error *err)
{
    w->opt = *opt;
    memset(w->line, 0, count_entries(&w->opt) / RH_LANES * sizeof *w->line);
    if (w->moment_block)
        memset(w->moment_block, 0, count_entries(&w->opt) * sizeof *w->moment_block);
    return begin(w, owner, err);
}

void rh_weights__clear(rh_weights *w)
{
    rh_free(w->line);
    rh_free(w->moment_block);
    rh_free(w->block);
    rh_free(w->idle);
    rh_free(w->slot);
    rh_free(w->sum);
    rh_free(w->place);
    rh_free(w->fresh);
    rh_free(w->fresh_v);
    rh_free(w->fresh_slot);
    *w = (rh_weights){0};
}
