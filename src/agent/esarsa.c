// esarsa.c - linear Expected Sarsa(lambda) on tile features: softmax, replacing traces, lazy
// Adam.
//
// After the paper's code. With A the active features of (s, a), pi the softmax of q / tau:
//
//     delta = r + gamma * sum_b pi(b | s') q(s', b) - q(s, a)        weights before the update
//     z[i]  = 1 for i in A
//     for every i with z[i] != 0, t counting starts, steps and ends of the whole life:
//         g = -delta z[i],  m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
//         w[i] -= alpha / ntiling * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + 1e-8)
//     z     = gamma * lambda * z
//
// tests/reference/esarsa_plain.c is that, in a page of double-precision C; this file is the
// same algorithm arranged so that a step touches little memory.
//
// 1. Entries (weights) with a trace lie side by side in the active set, so that the update is
// one
//    straight vector loop (kernel.c). An entry's place stands in its line (kernel.h); place 0
//    is a dummy that stands for all others, so that reading a value needs no branch.
// 2. The set holds the change of a weight since it entered, in float: changes are small, so
// their
//    rounding is too (about 1e-9 of a weight). The weight itself is a double, written when the
//    entry leaves. Second moments are float, updated as v += (1 - beta2)(g^2 - v): beta2 =
//    0.999 itself is not a float, and its rounding would shift v by 1e-5.
// 3. A trace that is d^k k steps after its visit, d = gamma * lambda, is kept as y with z =
// scale
//    * y and one scale for all, so that the loop does not write it.
// 4. An entry leaves the set when its trace is below 1e-16. What its weight would still have
//    received is at most alpha / ntiling * |delta| * 1e-16 / 1e-8 / (1 - d), that is 1e-8 of a
//    step at the most, whatever its v (with momentum it stays until m, too, is beneath notice:
//    |m| < 1e-14 sqrt(v)). What its v would have received is v * beta2^k for k idle steps, and
//    that is made good when it comes back. k ends with the episode, or where the trace would
//    have reached zero in double precision.
// 5. Weights are kept as distance from the initial one: fresh memory is then a fresh agent.
// 6. TD errors beyond 1e17 would overflow v: the life ends as diverged.
//
// Measured (make bench, one core of a 2.3 GHz Xeon with AVX-512, per learning step): see
// docs/performance.md.

#include "agent_internal.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

#define EPSILON 1e-8      // Adam's
#define TRACE_END 1e-16   // decision 4
#define SCALE_END 1e-12   // traces are scaled afresh when their scale falls below
#define SWEEP 32          // steps between two looks for entries to leave the set
#define DELTA_END 1e17    // decision 6
#define STAGGER (13 * 64) // bytes; equal places of two arrays must not share their low 12 bits

enum { ALPHA, BETA1, TAU, W_INIT, LAMBDA, BETA2, TILINGS, TILES, FEATURES, NPARAM };

static const rh_param esarsa_param[NPARAM] = {
    [ALPHA] = {"alpha", "step size, divided by the number of tilings", .lo = 1e-8, .hi = 100.0,
               .initial = 0.1, .scale = RH_LOG},
    [BETA1] = {"beta1", "decay of Adam's momentum", .lo = 0.0, .hi = 0.9999, .initial = 0.0},
    [TAU] = {"tau", "temperature of the softmax policy", .lo = 1e-6, .hi = 1e6, .initial = 1.0,
             .scale = RH_LOG},
    [W_INIT] = {"w_init", "initial weight, divided by the number of tilings", .lo = -1e6,
                .hi = 1e6, .initial = 0.0},
    [LAMBDA] = {"lambda", "decay of the traces", .lo = 0.0, .hi = 1.0, .initial = 0.8},
    [BETA2] = {"beta2", "decay of Adam's second moment", .lo = 0.0, .hi = 0.999999,
               .initial = 0.999, .fixed = true},
    RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES),
};

// An entry that has left the set within the episode under way.
typedef struct idle {
    int32_t id;
    uint32_t left;  // clock when it left
    uint32_t visit; // clock of its last visit
} idle;

typedef struct esarsa {
    const rh_kernels *kernels; // borrowed
    rh_tiles *tiles;           // owned
    int naction;
    int nline; // lines per feature: four actions each
    int nread; // features read for a value: the active ones, and zeros up to a multiple of 4
    double gamma;
    double tau;
    double rate; // alpha / ntiling
    double beta1;
    double beta2;
    double decay;   // gamma * lambda
    double initial; // an initial weight
    double base;    // initial weights of the active features together

    rh_line *line; // owned: weights, second moments, places    (nfeature + 1, nline)
    float *moment; // owned: first moments, NULL without momentum (entries)
    double power1; // beta1^t
    double power2; // beta2^t

    char *block;     // owned: the active set's arrays
    int nset;        // places taken, the dummy at 0 included
    float *dw;       // change of the weight since it entered
    float *v;        // second moment
    float *m;        // first moment
    float *y;        // trace / scale
    int32_t *id;     // which entry: line * 4 + lane
    uint32_t *visit; // clock of the last visit
    int32_t *aged;   // scratch
    double scale;    // of the traces
    uint32_t clock;  // updates in this episode
    uint32_t expiry; // age at which an entry leaves the set
    uint32_t extent; // age at which a double-precision trace is zero
    bool strict;     // entries can reach that age in the set

    idle *idle; // owned: left the set in this episode
    int nidle;
    float beta2_low[256];  // beta2^k for k < 256
    float beta2_high[256]; // beta2^(256 k)

    int32_t *now, *next; // owned: first lines of the active features   (nread)
    int32_t *place;      // owned: of (s, a)'s entries in the set       (nread)
    int32_t *fresh;      // owned: lines of those outside the set       (nread)
    int nfresh;
    double aimed;   // q(s, a) but for the changes in the set
    double *q, *pi; // owned: values and policy of a state         (4 nline)
    int action;
} esarsa;

// ---------------------------------------------------------------------------- the active set

static int whole_blocks(int n)
{
    return (n + RH_BLOCK - 1) / RH_BLOCK * RH_BLOCK;
}

// Places nobody holds: they may be updated without harm.
static void clear_places(esarsa *s, int from, int to)
{
    size_t bytes = (size_t)(to - from) * sizeof(float);
    memset(s->dw + from, 0, bytes);
    memset(s->m + from, 0, bytes);
    memset(s->y + from, 0, bytes);
    for (int i = from; i < to; i++)
        s->v[i] = 1.0f;
}

static void open_set(esarsa *s)
{
    clear_places(s, 0, RH_BLOCK);
    s->nset = 1;
    s->nidle = 0;
    s->clock = 0;
    s->scale = 1.0;
}

// What k updates without a gradient leave of a second moment.
static float beta2_power(const esarsa *s, uint32_t k)
{
    if (k < 65536)
        return s->beta2_low[k % 256] * s->beta2_high[k / 256];
    return s->beta2 > 0.0 ? (float)rh_exp(k * rh_log(s->beta2)) : 0.0f;
}

// The second moment of an idle entry, now.
static float idle_moment(const esarsa *s, const idle *e, float v)
{
    uint32_t until = s->clock;
    if (s->extent < until && e->visit < until - s->extent)
        until = e->visit + s->extent;
    return until > e->left ? v * beta2_power(s, until - e->left) : v;
}

static void enter_set(esarsa *s, int32_t line, int lane, float y)
{
    rh_line *l = &s->line[line];
    float v = l->v[lane];
    if (l->slot[lane] < 0) { // it was here before: the last of the idle takes its place
        int j = -1 - l->slot[lane];
        v = idle_moment(s, &s->idle[j], v);
        s->idle[j] = s->idle[--s->nidle];
        int32_t moved = s->idle[j].id;
        s->line[moved / RH_LANES].slot[moved % RH_LANES] = -1 - j;
    }

    int i = s->nset++;
    if (i % RH_BLOCK == 0)
        clear_places(s, i, i + RH_BLOCK);
    s->id[i] = line * RH_LANES + lane;
    s->v[i] = v;
    s->m[i] = s->moment ? s->moment[s->id[i]] : 0.0f;
    s->y[i] = y;
    s->visit[i] = s->clock;
    l->slot[lane] = i;
}

// Write place i back to its line.
static rh_line *write_back(esarsa *s, int i)
{
    rh_line *l = &s->line[s->id[i] / RH_LANES];
    int lane = s->id[i] % RH_LANES;
    l->w[lane] += (double)s->dw[i];
    l->v[lane] = s->v[i];
    if (s->moment)
        s->moment[s->id[i]] = s->m[i];
    return l;
}

static void leave_set(esarsa *s, int i)
{
    int32_t id = s->id[i];
    write_back(s, i)->slot[id % RH_LANES] = -1 - s->nidle;
    s->idle[s->nidle++] = (idle){.id = id, .left = s->clock, .visit = s->visit[i]};

    // the last place moves here
    int last = --s->nset;
    if (i != last) {
        s->dw[i] = s->dw[last];
        s->v[i] = s->v[last];
        s->m[i] = s->m[last];
        s->y[i] = s->y[last];
        s->id[i] = s->id[last];
        s->visit[i] = s->visit[last];
        s->line[s->id[i] / RH_LANES].slot[s->id[i] % RH_LANES] = i;
    }
    clear_places(s, last, last + 1);
}

// Scale the traces afresh; those that have faded become zero.
static void rescale(esarsa *s)
{
    float scale = (float)s->scale;
    for (int i = 1; i < s->nset; i++) {
        float z = s->y[i] * scale;
        s->y[i] = z < (float)TRACE_END ? 0.0f : z;
    }
    s->scale = 1.0;
}

// Let those entries go whose trace is of this age or older: when `all`, whatever their
// momentum; else those whose momentum is beneath notice (decision 4).
static void let_go(esarsa *s, uint32_t age, bool all)
{
    int n = s->kernels->aged(s->nset, s->visit, s->clock, age, s->aged);
    while (n > 0) { // from the end, so that what moves is not among them
        int i = s->aged[--n];
        bool still = fabsf(s->m[i]) <= 1e-14f * sqrtf(s->v[i]);
        if (still && !all)
            s->m[i] = 0.0f;
        if (still || all)
            leave_set(s, i);
    }
}

// Before an update: nothing may be in the set that has no trace.
static void tidy(esarsa *s)
{
    if (s->clock % SWEEP == 0 && s->clock >= s->expiry) {
        let_go(s, s->expiry, false);
        // what nobody holds decays with the rest
        clear_places(s, 0, 1);
        clear_places(s, s->nset, whole_blocks(s->nset));
    }
    if (s->strict && s->clock >= s->extent)
        let_go(s, s->extent, true);
}

// All traces are zero: everything goes home.
static void close_set(esarsa *s)
{
    for (int i = 1; i < s->nset; i++)
        write_back(s, i)->slot[s->id[i] % RH_LANES] = 0;
    for (int j = 0; j < s->nidle; j++) {
        const idle *e = &s->idle[j];
        rh_line *l = &s->line[e->id / RH_LANES];
        int lane = e->id % RH_LANES;
        l->v[lane] = idle_moment(s, e, l->v[lane]);
        l->slot[lane] = 0;
    }
    open_set(s);
}

// ---------------------------------------------------------------------------- acting

static void features(const esarsa *s, const double *obs, int32_t *line)
{
    rh_tiles__active(s->tiles, obs, line);
    if (s->nline > 1)
        for (int i = 0; i < s->tiles->nactive; i++)
            line[i] *= s->nline;
}

// Values and policy of the state with these features.
static void judge(esarsa *s, const int32_t *line)
{
    for (int k = 0; k < s->nline; k++)
        s->kernels->values(s->line + k, line, s->nread, s->dw, s->q + k * RH_LANES);
    for (int a = 0; a < s->naction; a++)
        s->q[a] += s->base;
    rh_agent__softmax(s->q, s->naction, s->tau, s->pi);
}

static bool esarsa_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    features(s, obs, s->next);
    judge(s, s->next);
    act[0] = rh_agent__draw(s->pi, s->naction, rng);
    return isfinite(s->q[0]);
}

// ---------------------------------------------------------------------------- learning

// Look up where the entries of (s, a) are, while their lines are still in the cache: the update
// that comes before they are needed would push them out.
static void aim(esarsa *s)
{
    int part = s->action / RH_LANES, lane = s->action % RH_LANES;
    const rh_line *line = s->line + part;
    double sum[4] = {0};
    int nfresh = 0, n = s->tiles->nactive;
    for (int i = 0; i < n; i++) {
        const rh_line *l = &line[s->now[i]];
        int32_t slot = l->slot[lane];
        s->place[i] = slot > 0 ? slot : 0; // outside the set: the dummy, and noted
        s->fresh[nfresh] = s->now[i] + part;
        nfresh += slot <= 0;
        sum[i % 4] += l->w[lane];
    }
    s->nfresh = nfresh;
    s->aimed = s->base + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// Set the traces of (s, a) to 1 and return q(s, a).
static double visit(esarsa *s)
{
    float y = (float)(1.0 / s->scale);
    double sum[4] = {0};
    int n = s->tiles->nactive;
    for (int i = 0; i < n; i++) {
        int32_t place = s->place[i];
        sum[i % 4] += (double)s->dw[place];
        s->y[place] = y;
        s->visit[place] = s->clock;
    }
    s->y[0] = 0.0f;
    for (int i = 0; i < s->nfresh; i++)
        enter_set(s, s->fresh[i], s->action % RH_LANES, y);
    tidy(s);
    return s->aimed + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static void tick(esarsa *s)
{
    s->power1 *= s->beta1;
    s->power2 *= s->beta2;
}

// One update by the TD error delta. False when it is not a number to learn from.
static bool learn(esarsa *s, double delta)
{
    if (!(fabs(delta) < DELTA_END)) // also NaN
        return false;
    tick(s);
    double root = sqrt(1.0 - s->power2);
    rh_adam adam = {
        .error = (float)(delta * s->scale),
        .rate = (float)(s->rate * root / (1.0 - s->power1)),
        .eps = (float)(EPSILON * root),
        .take1 = (float)(1.0 - s->beta1),
        .take2 = (float)(1.0 - s->beta2),
    };
    int n = whole_blocks(s->nset);
    if (s->moment)
        s->kernels->momentum(n, &adam, s->dw, s->v, s->m, s->y);
    else
        s->kernels->adam(n, &adam, s->dw, s->v, s->y);

    s->clock++;
    s->scale *= s->decay;
    if (s->scale < SCALE_END)
        rescale(s);
    return true;
}

static bool esarsa_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    close_set(s);
    tick(s);
    features(s, obs, s->now);
    judge(s, s->now);
    s->action = rh_agent__draw(s->pi, s->naction, rng);
    aim(s);
    act[0] = s->action;
    return isfinite(s->q[0]);
}

static bool esarsa_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    double before = visit(s);

    // the next action and the expectation, by the weights before the update
    int32_t *last = s->now;
    s->now = s->next;
    s->next = last;
    features(s, obs, s->now);
    judge(s, s->now);
    double expected = 0.0;
    for (int a = 0; a < s->naction; a++)
        expected += s->pi[a] * s->q[a];
    s->action = rh_agent__draw(s->pi, s->naction, rng);
    aim(s);
    act[0] = s->action;
    return learn(s, reward + s->gamma * expected - before);
}

static bool esarsa_end(void *self, double reward)
{
    esarsa *s = self;
    bool healthy = learn(s, reward - visit(s));
    close_set(s);
    return healthy;
}

// ---------------------------------------------------------------------------- birth and memory

// The set's arrays in one block, each a little off the others' page.
static bool allocate_set(esarsa *s, size_t n)
{
    enum { NARRAY = 7 };
    size_t bytes = (n * sizeof(float) + 4095) / 4096 * 4096 + STAGGER;
    s->block = rh_alloc(NARRAY, bytes);
    if (!s->block)
        return false;
    s->dw = (float *)(void *)s->block;
    s->v = (float *)(void *)(s->block + bytes);
    s->m = (float *)(void *)(s->block + 2 * bytes);
    s->y = (float *)(void *)(s->block + 3 * bytes);
    s->id = (int32_t *)(void *)(s->block + 4 * bytes);
    s->visit = (uint32_t *)(void *)(s->block + 5 * bytes);
    s->aged = (int32_t *)(void *)(s->block + 6 * bytes);
    return true;
}

static rh_status allocate(esarsa *s, rh_error *err)
{
    size_t nentry = ((size_t)s->tiles->nfeature + 1) * (size_t)s->nline * RH_LANES;
    size_t nread = (size_t)s->nread;
    s->line = rh_alloc(nentry / RH_LANES, sizeof *s->line);
    if (s->beta1 > 0.0)
        s->moment = rh_alloc(nentry, sizeof *s->moment);
    s->idle = rh_alloc(nentry, sizeof *s->idle);
    s->now = rh_alloc(nread, sizeof *s->now);
    s->next = rh_alloc(nread, sizeof *s->next);
    s->place = rh_alloc(nread, sizeof *s->place);
    s->fresh = rh_alloc(nread, sizeof *s->fresh);
    s->q = rh_alloc((size_t)s->nline * RH_LANES, sizeof *s->q);
    s->pi = rh_alloc((size_t)s->nline * RH_LANES, sizeof *s->pi);
    if (!allocate_set(s, nentry + RH_BLOCK) || !s->line || (s->beta1 > 0.0 && !s->moment) ||
        !s->idle || !s->now || !s->next || !s->place || !s->fresh || !s->q || !s->pi)
        return rh_fail(err, RH_ENOMEM, "esarsa: out of memory for %d features",
                       (int)s->tiles->nfeature);
    return RH_OK;
}

// Ages at which a trace is below TRACE_END, and at which it is zero in double precision. Above
// one half the smallest double is rounded to itself: such a trace never is.
static void set_ages(esarsa *s)
{
    s->expiry = UINT32_MAX;
    s->extent = UINT32_MAX;
    if (s->decay < 1.0)
        s->expiry = s->decay > 0.0 ? (uint32_t)ceil(rh_log(TRACE_END) / rh_log(s->decay)) : 1;
    if (s->decay <= 0.5) {
        s->extent = 0;
        for (double z = 1.0; z > 0.0; z *= s->decay)
            s->extent++;
        s->strict = s->beta1 > 0.0 || s->extent <= s->expiry + SWEEP;
    }
}

static rh_status esarsa_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    esarsa *s = self;
    int ntiling = (int)hp[TILINGS];
    rh_status rc = rh_tiles__create(&s->tiles, (rh_tiles_mode)hp[FEATURES], ntiling,
                                    (int)hp[TILES], task, "esarsa", err);
    if (rc)
        return rc;
    s->kernels = rh_kernels__best();
    s->naction = task->naction;
    s->nline = (task->naction + RH_LANES - 1) / RH_LANES;
    s->nread = (s->tiles->nactive + 3) / 4 * 4;
    s->gamma = task->gamma;
    s->tau = hp[TAU];
    s->rate = hp[ALPHA] / ntiling;
    s->beta1 = hp[BETA1];
    s->beta2 = hp[BETA2];
    s->decay = task->gamma * hp[LAMBDA];
    s->initial = hp[W_INIT] / ntiling;
    s->base = s->initial * s->tiles->nactive;
    s->power1 = 1.0;
    s->power2 = 1.0;
    rc = allocate(s, err);
    if (rc)
        return rc;

    // reading goes on to a multiple of four with a line that stays zero
    for (int i = s->tiles->nactive; i < s->nread; i++)
        s->now[i] = s->next[i] = s->tiles->nfeature * s->nline;
    double low = 1.0, high = 1.0;
    for (int k = 0; k < 256; k++, low *= s->beta2)
        s->beta2_low[k] = (float)low;
    for (int k = 0; k < 256; k++, high *= low)
        s->beta2_high[k] = (float)high;
    set_ages(s);
    open_set(s);
    return RH_OK;
}

static void esarsa_clear(void *self)
{
    esarsa *s = self;
    rh_tiles__destroy(s->tiles);
    rh_free(s->line);
    rh_free(s->moment);
    rh_free(s->block);
    rh_free(s->idle);
    rh_free(s->now);
    rh_free(s->next);
    rh_free(s->place);
    rh_free(s->fresh);
    rh_free(s->q);
    rh_free(s->pi);
}

// ---------------------------------------------------------------------------- saving

enum { WEIGHT, SECOND, FIRST };
static const char *const array_name[] = {[WEIGHT] = "w", [SECOND] = "v", [FIRST] = "m"};

// Copy one kind of number between the lines and x (nfeature x naction).
static void copy_array(esarsa *s, int which, double *x, bool out)
{
    for (int32_t f = 0; f < s->tiles->nfeature; f++)
        for (int a = 0; a < s->naction; a++, x++) {
            int32_t at = f * s->nline + a / RH_LANES;
            rh_line *l = &s->line[at];
            int lane = a % RH_LANES;
            if (which == WEIGHT && out)
                *x = l->w[lane] + s->initial;
            else if (which == WEIGHT)
                l->w[lane] = *x - s->initial;
            else if (which == SECOND && out)
                *x = (double)l->v[lane];
            else if (which == SECOND)
                l->v[lane] = (float)*x;
            else if (out)
                *x = (double)s->moment[at * RH_LANES + lane];
            else
                s->moment[at * RH_LANES + lane] = (float)*x;
        }
}

static rh_status esarsa_save(void *self, rh_state *state, rh_error *err)
{
    esarsa *s = self;
    close_set(s);
    size_t n = (size_t)s->tiles->nfeature * (size_t)s->naction;
    double power[2] = {s->power1, s->power2};
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "esarsa: out of memory for saving");
    rh_status rc = rh_state_put(state, "beta^t", power, 2, err);
    for (int which = WEIGHT; !rc && which <= (s->moment ? FIRST : SECOND); which++) {
        copy_array(s, which, x, true);
        rc = rh_state_put(state, array_name[which], x, n, err);
    }
    rh_free(x);
    return rc;
}

static rh_status esarsa_load(void *self, const rh_state *state, rh_error *err)
{
    esarsa *s = self;
    close_set(s);
    size_t n = (size_t)s->tiles->nfeature * (size_t)s->naction;
    double power[2];
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_fail(err, RH_ENOMEM, "esarsa: out of memory for loading");
    rh_status rc = rh_state_get(state, "beta^t", power, 2, err);
    for (int which = WEIGHT; !rc && which <= (s->moment ? FIRST : SECOND); which++) {
        rc = rh_state_get(state, array_name[which], x, n, err);
        if (!rc)
            copy_array(s, which, x, false);
    }
    if (!rc) {
        s->power1 = power[0];
        s->power2 = power[1];
    }
    rh_free(x);
    return rc;
}

const rh_agent_type rh_agent_esarsa = {
    .name = "esarsa",
    .about = "linear Expected Sarsa(lambda): tile coding, softmax, Adam",
    .actions = RH_DISCRETE,
    .self_size = sizeof(esarsa),
    .param = esarsa_param,
    .nparam = NPARAM,
    .init = esarsa_init,
    .start = esarsa_start,
    .step = esarsa_step,
    .end = esarsa_end,
    .act = esarsa_act,
    .save = esarsa_save,
    .load = esarsa_load,
    .clear = esarsa_clear,
};
