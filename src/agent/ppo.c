// ppo.c - proximal policy optimisation, for discrete and continuous actions.
//
// Schulman et al. (2016, 2017). The agent plays a rollout of fixed length, learns from it for
// some epochs, and forgets it. For each step of it, with V the critic when it was made:
//
//     delta = r + gamma V(s') - V(s),        V(s') = 0 if s' is terminal
//     A     = delta + gamma lambda A',       A' = 0 at the end of an episode or rollout
//     ret   = A + V(s)
//
// An epoch goes through the rollout in a random order, in batches: one step of Adam for the
// actor (ppo_loss.c), the critic, and the deviations of continuous actions.
//
// 1. Continuous actions are normal, with a mean by the actor and one deviation per number that
//    does not depend on the state. The plant gets them clipped; the loss uses them unclipped.
// 2. A rollout may span episodes. Its steps are stored scaled as the policy saw them, so the
//    ratio is exactly 1 at first. Rewards are scaled when the rollout is full.
// 3. Advantages of a batch get mean 0 and deviation 1.
// 4. The end of an episode has no random stream: a rollout that it fills is learned from at the
//    next start. An agent that acts before it ever started chooses uniformly.
// 5. Gradients are not clipped: actor and critic share no weights, and the steps of Adam hardly
//    depend on their size.

#include "ppo.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "device.h"
#include "twins.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIZE 1.0      // that scaled rewards give to values: as in OpenAI's Baselines
#define EPS 1e-5      // of Adam, as in OpenAI's Baselines
#define SOME 1e-8     // added to the deviation of advantages, as in OpenAI's Baselines
#define LEAST_SD 0.01 // of an action in half ranges: as in gaussian_actor_critic.c
#define MOST_SD 2.0   // the same

enum {
    RATE,
    HORIZON,
    ROLLOUT,
    EPOCHS,
    LAMBDA,
    CLIP,
    ENTROPY,
    SPREAD,
    VALUE_CLIP,
    BATCH,
    WIDTH,
    LAYERS,
    NORM,
    OBS_SCALE,
    REWARD_SCALE,
    NPARAM
};
enum { ACTOR, CRITIC, NNET };

static const char *const net_name[NNET] = {"network 0", "network 1"};

static const rh_param ppo_param[NPARAM] = {
    [RATE] = {"rate", "learning rate of the networks (Adam)", .lo = 1e-7, .hi = 1.0,
              .initial = 1e-3, .scale = RH_LOG, .usual_lo = 1e-4, .usual_hi = 1e-2},
    [HORIZON] = {"horizon",
                 "discount horizon in steps: gamma is 1 - 1 / horizon, or the task's if that "
                 "is smaller",
                 .lo = 1.0, .hi = 1e6, .initial = 100.0, .scale = RH_LOG, .usual_lo = 10.0,
                 .usual_hi = 1000.0},
    [ROLLOUT] = {"rollout", "steps that are learned from together", .lo = 2, .hi = 65536,
                 .initial = 256, .scale = RH_LOG, .whole = true, .usual_lo = 64,
                 .usual_hi = 1024},
    [EPOCHS] = {"epochs", "times that a rollout is gone through", .lo = 1, .hi = 1000,
                .initial = 10, .scale = RH_LOG, .whole = true, .usual_lo = 3, .usual_hi = 30},
    [LAMBDA] = {"lambda", "decay of the advantages: 0 trusts the critic, 1 the rewards",
                .lo = 0.0, .hi = 1.0, .initial = 0.95, .usual_lo = 0.8, .usual_hi = 1.0},
    [CLIP] = {"clip", "change of an action's probability that still counts, as a share",
              .lo = 1e-3, .hi = 10.0, .initial = 0.2, .scale = RH_LOG, .usual_lo = 0.05,
              .usual_hi = 0.5},
    [ENTROPY] = {"entropy", "weight of the policy's entropy", .lo = 0.0, .hi = 1.0,
                 .initial = 0.003, .scale = RH_LOG, .usual_lo = 1e-4, .usual_hi = 0.03},
    [SPREAD] = {"spread", "initial standard deviation of continuous actions, in half ranges",
                .lo = LEAST_SD, .hi = MOST_SD, .initial = 0.5, .scale = RH_LOG},
    [VALUE_CLIP] = {"value_clip", "whether a value may only change by `clip` per rollout",
                    .hi = 1, .fixed = true, .choice = rh_neural__norms},
    [BATCH] = {"batch", "steps of an update", .lo = 1, .hi = 4096, .initial = 64, .whole = true,
               .fixed = true},
    [WIDTH] = {"width", "units of a hidden layer", .lo = 1, .hi = 1024, .initial = 64,
               .whole = true, .fixed = true},
    [LAYERS] = {"layers", "hidden layers", .lo = 1, .hi = 8, .initial = 2, .whole = true,
                .fixed = true},
    [NORM] = {"norm", "layer norm in networks of values", .hi = 1, .initial = 1, .fixed = true,
              .choice = rh_neural__norms},
    [OBS_SCALE] = {"obs_scale",
                   "scale of observations: learned online, the sensor's range, none",
                   .hi = RH_SCALING_NONE, .initial = RH_SCALING_ONLINE, .fixed = true,
                   .choice = rh_scaling__names},
    [REWARD_SCALE] = {"reward_scale",
                      "scale of rewards: learned online; range and none leave them alone",
                      .hi = RH_SCALING_NONE, .initial = RH_SCALING_ONLINE, .fixed = true,
                      .choice = rh_scaling__names},
};

// What a row of the rollout has behind observation and action.
enum { LOG_P, VALUE, REWARD, NEXT, OPEN, NMORE }; // NEXT: V(s'). OPEN: the next row is s'

typedef struct ppo {
    int nobs, nact, naction;
    double lo[RH_MAX_ACT], hi[RH_MAX_ACT]; // bounds of a continuous action
    double gamma, lambda, log_spread, value_most;
    rh_ppo__loss loss;
    int room, epochs, batch;
    rh_mlp__adam adam;
    rh_scaling scaling;
    rh_mlp *net[NNET];        // owned
    rh_mlp__pass *pass[NNET]; // owned
    rh_scratch scratch;       // owns all other arrays
    size_t width;             // floats of a row
    float *row;               // the rollout                                (room x width)
    double *advantage;        //                                            (room)
    int *order;               // of the rows in an epoch                    (room)
    float *obs, *out, *by;    // of a batch: observations, the actor's outputs, derivatives
    float *v, *by_v;          // the critic's, and derivatives              (batch)
    float *single;            // one observation through a network
    double *log_pi, *pi;      // of the last discrete action                (naction)
    float *x, *seen;       // observation of the last action, and one of rh_agent_act() (nobs)
    float act[RH_MAX_ACT]; // the last action: an index, or unclipped in [-1, 1]
    double log_p, value;   // of it, and of its state

    // learned, and saved, with scales and networks
    bool drawn; // whether there are networks: they are drawn by the first start
    int count;  // rows of the rollout
    double log_sd[RH_MAX_ACT], first[RH_MAX_ACT], second[RH_MAX_ACT]; // and Adam's moments
    double power[2];                                                  // beta^t
} ppo;

// ---------------------------------------------------------------------------- making

static float *floats(ppo *s, size_t n)
{
    return rh_scratch__take(&s->scratch, n, sizeof(float));
}

static rh_status make_net(ppo *s, int i, int nout, unsigned flags, const double *hp,
                          rh_error *err)
{
    int size[RH_MLP_LAYERS + 1] = {s->nobs}, layers = (int)hp[LAYERS];
    for (int l = 0; l < layers; l++)
        size[l + 1] = (int)hp[WIDTH];
    size[layers + 1] = nout;
    rh_status rc = rh_mlp__make(&s->net[i], size, layers + 2, flags, err);
    return rc ? rc : rh_mlp__pass_create(&s->pass[i], s->net[i], s->batch, err);
}

static rh_status ppo_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    ppo *s = self;
    *s = (ppo){
        .nobs = task->nobs,
        .nact = task->nact,
        .naction = task->naction,
        .gamma = fmin(task->gamma, 1.0 - 1.0 / hp[HORIZON]),
        .lambda = hp[LAMBDA],
        .log_spread = rh_ln(hp[SPREAD]),
        .value_most = hp[VALUE_CLIP] != 0.0 ? hp[CLIP] : INFINITY,
        .loss = {.clip = hp[CLIP], .entropy = hp[ENTROPY]},
        .room = (int)hp[ROLLOUT],
        .epochs = (int)hp[EPOCHS],
        .batch = (int)fmin(hp[BATCH], hp[ROLLOUT]),
        .adam = {.rate = hp[RATE], .beta1 = 0.9, .beta2 = 0.999, .eps = EPS},
        .width = (size_t)(task->nobs + task->nact + NMORE),
    };
    for (int k = 0; k < task->nact; k++) {
        s->lo[k] = task->act_lo[k];
        s->hi[k] = task->act_hi[k];
    }
    int nout = task->naction ? task->naction : task->nact;
    unsigned flags = hp[NORM] != 0.0 ? RH_MLP_NORM : RH_MLP_PLAIN;
    rh_status rc =
        rh_scaling__init(&s->scaling, task, s->gamma, SIZE, (rh_scaling__kind)hp[OBS_SCALE],
                         (rh_scaling__kind)hp[REWARD_SCALE], "ppo", err);
    if (!rc)
        rc = make_net(s, ACTOR, nout, RH_MLP_PLAIN, hp, err);
    if (!rc)
        rc = make_net(s, CRITIC, 1, flags, hp, err);
    if (rc)
        return rc;

    size_t room = (size_t)s->room, n = (size_t)s->batch, nobs = (size_t)task->nobs;
    s->row = floats(s, room * s->width);
    s->advantage = rh_scratch__take(&s->scratch, room, sizeof *s->advantage);
    s->order = rh_scratch__take(&s->scratch, room, sizeof *s->order);
    s->obs = floats(s, n * nobs);
    s->out = floats(s, n * (size_t)nout);
    s->by = floats(s, n * (size_t)nout);
    s->v = floats(s, n);
    s->by_v = floats(s, n);
    size_t actor = rh_mlp__nscratch(s->net[ACTOR]), critic = rh_mlp__nscratch(s->net[CRITIC]);
    s->single = floats(s, actor > critic ? actor : critic);
    s->log_pi = rh_scratch__take(&s->scratch, (size_t)nout, sizeof *s->log_pi);
    s->pi = rh_scratch__take(&s->scratch, (size_t)nout, sizeof *s->pi);
    s->x = floats(s, nobs);
    s->seen = floats(s, nobs);
    return s->scratch.failed ? rh_base__no_memory(err, "ppo") : RH_OK;
}

static void ppo_clear(void *self)
{
    ppo *s = self;
    rh_scaling__clear(&s->scaling);
    for (int i = 0; i < NNET; i++) {
        rh_mlp__destroy(s->net[i]);
        rh_mlp__pass_destroy(s->pass[i]);
    }
    rh_scratch__clear(&s->scratch);
}

static void draw(ppo *s, rh_rng *rng)
{
    for (int i = 0; i < NNET; i++)
        rh_mlp__draw(s->net[i], rng);
    for (int j = 0; j < s->nact; j++) {
        s->log_sd[j] = s->log_spread;
        s->first[j] = s->second[j] = 0.0;
    }
    s->power[0] = s->power[1] = 1.0;
    s->drawn = true;
}

// ---------------------------------------------------------------------------- learning

// What row i has behind observation and action.
static float *more(const ppo *s, int i)
{
    return s->row + (size_t)i * s->width + s->nobs + s->nact;
}

static void advantages(ppo *s)
{
    double next = 0.0;
    for (int i = s->count - 1; i >= 0; i--) {
        const float *m = more(s, i);
        double reward = rh_scaling__scaled(&s->scaling, (double)m[REWARD]);
        double delta = reward + s->gamma * (double)m[NEXT] - (double)m[VALUE];
        bool open = m[OPEN] != 0.0f && i + 1 < s->count;
        next = delta + (open ? s->gamma * s->lambda * next : 0.0);
        s->advantage[i] = next;
    }
}

// One step of Adam for the logarithms of the deviations, with derivatives g (nact).
static void step_spread(ppo *s, const double *g)
{
    const rh_mlp__adam *a = &s->adam;
    s->power[0] *= a->beta1;
    s->power[1] *= a->beta2;
    for (int j = 0; j < s->nact; j++) {
        s->first[j] = a->beta1 * s->first[j] + (1.0 - a->beta1) * g[j];
        s->second[j] = a->beta2 * s->second[j] + (1.0 - a->beta2) * g[j] * g[j];
        double x = s->log_sd[j] - a->rate * (s->first[j] / (1.0 - s->power[0])) /
                                      (sqrt(s->second[j] / (1.0 - s->power[1])) + a->eps);
        s->log_sd[j] = fmin(fmax(x, rh_ln(LEAST_SD)), rh_ln(MOST_SD));
    }
}

// Decision 3: what is taken off the advantages of rows order (n), and one over their deviation.
static void centre(const ppo *s, const int *order, int n, double *mean, double *scale)
{
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        sum += s->advantage[order[i]];
    *mean = n > 1 ? sum / n : 0.0;
    for (int i = 0; i < n; i++) {
        double d = s->advantage[order[i]] - *mean;
        square += d * d;
    }
    *scale = n > 1 ? 1.0 / (sqrt(square / (n - 1)) + SOME) : 1.0;
}

// One update of actor, critic and deviations from rows order (n).
static void update(ppo *s, const int *order, int n)
{
    double mean, scale, by_log_sd[RH_MAX_ACT] = {0.0};
    float share = 1.0f / (float)n;
    int nout = s->naction ? s->naction : s->nact;
    centre(s, order, n, &mean, &scale);
    for (int i = 0; i < n; i++)
        memcpy(s->obs + (size_t)i * (size_t)s->nobs, s->row + (size_t)order[i] * s->width,
               (size_t)s->nobs * sizeof *s->obs);
    rh_mlp__forward(s->net[ACTOR], s->pass[ACTOR], n, s->obs, s->out);
    rh_mlp__forward(s->net[CRITIC], s->pass[CRITIC], n, s->obs, s->v);
    for (int i = 0; i < n; i++) {
        const float *m = more(s, order[i]), *act = m - s->nact;
        const float *out = s->out + (ptrdiff_t)i * nout;
        float *by = s->by + (ptrdiff_t)i * nout;
        double a = s->advantage[order[i]], old = (double)m[VALUE], by_v;
        rh_ppo__step step = {.log_p = (double)m[LOG_P], .advantage = (a - mean) * scale};
        if (s->naction)
            rh_ppo__discrete(&s->loss, &step, nout, out, (int)act[0], s->log_pi, by);
        else
            rh_ppo__continuous(&s->loss, &step, nout, out, s->log_sd, act, by, by_log_sd);
        for (int j = 0; j < nout; j++)
            by[j] *= share;
        rh_ppo__value((double)s->v[i], a + old, old, s->value_most, &by_v);
        s->by_v[i] = (float)by_v * share;
    }
    rh_mlp__backward(s->net[ACTOR], s->pass[ACTOR], s->by);
    rh_mlp__step(s->net[ACTOR], &s->adam);
    rh_mlp__backward(s->net[CRITIC], s->pass[CRITIC], s->by_v);
    rh_mlp__step(s->net[CRITIC], &s->adam);
    for (int j = 0; j < s->nact; j++)
        by_log_sd[j] /= n;
    if (!s->naction)
        step_spread(s, by_log_sd);
}

// Learn from a full rollout, and begin another.
static void learn(ppo *s, rh_rng *rng)
{
    if (s->count < s->room)
        return;
    advantages(s);
    for (int i = 0; i < s->count; i++)
        s->order[i] = i;
    for (int epoch = 0; epoch < s->epochs; epoch++) {
        for (int i = s->count - 1; i > 0; i--) {
            int k = (int)rh_rng_below(rng, (uint32_t)i + 1), other = s->order[k];
            s->order[k] = s->order[i];
            s->order[i] = other;
        }
        for (int i = 0; i < s->count; i += s->batch)
            update(s, s->order + i, s->count - i < s->batch ? s->count - i : s->batch);
    }
    s->count = 0;
}

// ---------------------------------------------------------------------------- acting

static double value_of(ppo *s, const float *x)
{
    float v;
    rh_mlp__single(s->net[CRITIC], s->single, x, &v);
    return (double)v;
}

static int choose_index(ppo *s, const float *logit, rh_rng *rng, bool explore)
{
    int best = 0;
    rh_ppo__log_softmax(logit, s->naction, s->log_pi);
    for (int a = 0; a < s->naction; a++) {
        best = s->log_pi[a] > s->log_pi[best] ? a : best;
        s->pi[a] = rh_exp(s->log_pi[a]);
    }
    return explore ? rh_agent_draw(s->pi, s->naction, rng) : best;
}

// Choose own (nact) for the scaled observation x, and put it into the task's units, act.
static bool choose(ppo *s, const float *x, rh_rng *rng, bool explore, float *own, double *act)
{
    float z[RH_MAX_ACT] = {0};
    bool finite = true;
    rh_mlp__single(s->net[ACTOR], s->single, x, s->out);
    for (int j = 0; j < (s->naction ? s->naction : s->nact); j++)
        finite = finite && isfinite(s->out[j]);
    if (s->naction) {
        own[0] = (float)choose_index(s, s->out, rng, explore);
        act[0] = (double)own[0];
        return finite;
    }
    if (explore)
        rh_twins__normals(rng, s->nact, z);
    for (int j = 0; j < s->nact; j++) {
        own[j] = (float)((double)s->out[j] + rh_exp(s->log_sd[j]) * (double)z[j]);
        double share = 0.5 * (1.0 + fmin(fmax((double)own[j], -1.0), 1.0));
        double at = s->lo[j] + share * (s->hi[j] - s->lo[j]);
        act[j] = fmin(fmax(at, s->lo[j]), s->hi[j]);
    }
    return finite;
}

// See obs, and scale it to s->x.
static void see(ppo *s, const double *obs)
{
    rh_scaling__ranged(&s->scaling, obs, s->x);
    rh_scaling__see(&s->scaling, s->x);
    rh_scaling__apply(&s->scaling, 1, s->x, s->x);
}

// Learn if the rollout is full, and choose for s->x.
static bool learn_and_choose(ppo *s, rh_rng *rng, double *act)
{
    learn(s, rng);
    s->value = value_of(s, s->x);
    bool healthy = choose(s, s->x, rng, true, s->act, act) && isfinite(s->value);
    s->log_p = s->naction ? s->log_pi[(int)s->act[0]]
                          : rh_ppo__log_normal(s->out, s->log_sd, s->act, s->nact);
    return healthy;
}

// A row for the last action; s->x is still its observation. Its NEXT and OPEN follow.
static float *store(ppo *s, double reward)
{
    float *row = s->row + (size_t)s->count * s->width;
    memcpy(row, s->x, (size_t)s->nobs * sizeof *row);
    memcpy(row + s->nobs, s->act, (size_t)s->nact * sizeof *row);
    float *m = more(s, s->count++);
    m[LOG_P] = (float)s->log_p;
    m[VALUE] = (float)s->value;
    m[REWARD] = (float)reward;
    m[NEXT] = m[OPEN] = 0.0f;
    rh_scaling__reward(&s->scaling, reward);
    return m;
}

static bool ppo_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    ppo *s = self;
    if (!s->drawn)
        draw(s, rng);
    if (s->count)
        more(s, s->count - 1)[OPEN] = 0.0f;
    rh_scaling__start(&s->scaling);
    see(s, obs);
    return learn_and_choose(s, rng, act);
}

static bool ppo_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    ppo *s = self;
    float *m = store(s, reward);
    see(s, obs);
    m[NEXT] = (float)value_of(s, s->x);
    m[OPEN] = 1.0f;
    return learn_and_choose(s, rng, act);
}

static bool ppo_end(void *self, double reward)
{
    store(self, reward);
    return isfinite(reward);
}

static bool ppo_truncate(void *self, double reward, const double *obs)
{
    ppo *s = self;
    float *m = store(s, reward);
    see(s, obs);
    m[NEXT] = (float)value_of(s, s->x);
    return isfinite(reward);
}

static bool ppo_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    ppo *s = self;
    float own[RH_MAX_ACT];
    if (!s->drawn) {
        for (int k = 0; k < s->nact; k++)
            act[k] = s->naction ? (double)rh_rng_below(rng, (uint32_t)s->naction)
                                : rh_rng_range(rng, s->lo[k], s->hi[k]);
        return true;
    }
    rh_scaling__ranged(&s->scaling, obs, s->seen);
    rh_scaling__apply(&s->scaling, 1, s->seen, s->seen);
    return choose(s, s->seen, rng, false, own, act);
}

// ---------------------------------------------------------------------------- saving

static size_t nspread(const ppo *s)
{
    return s->naction ? 0 : 3 * (size_t)s->nact + 2;
}

static rh_status ppo_save(void *self, rh_state *state, rh_error *err)
{
    const ppo *s = self;
    size_t n = (size_t)s->count * s->width, nact = (size_t)s->nact;
    double drawn = s->drawn, spread[3 * RH_MAX_ACT + 2];
    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return rh_base__no_memory(err, "ppo");
    for (size_t i = 0; i < n; i++)
        x[i] = (double)s->row[i];
    rh_status rc = rh_state_put(state, "drawn", &drawn, 1, err);
    if (!rc)
        rc = rh_state_put(state, "rollout", x, n, err);
    rh_free(x);
    memcpy(spread, s->log_sd, nact * sizeof *spread);
    memcpy(spread + nact, s->first, nact * sizeof *spread);
    memcpy(spread + 2 * nact, s->second, nact * sizeof *spread);
    memcpy(spread + 3 * nact, s->power, sizeof s->power);
    if (!rc && !s->naction)
        rc = rh_state_put(state, "spread", spread, nspread(s), err);
    if (!rc)
        rc = rh_scaling__save(&s->scaling, state, err);
    for (int i = 0; !rc && i < NNET; i++)
        rc = rh_mlp__save(s->net[i], net_name[i], state, err);
    return rc;
}

// Rows that another rollout has room for: the newest.
static rh_status load_rollout(ppo *s, const rh_state *state, rh_error *err)
{
    size_t n = 0, room = (size_t)s->room;
    const double *x = rh_state__doubles(state, "rollout", &n);
    if (!x || n % s->width)
        return rh_fail(err, RH_EFORMAT,
                       "ppo: rollout of %zu numbers in the saved state, expected rows of %zu",
                       n, s->width);
    for (size_t i = 0; i < n; i++) {
        bool index = s->naction && i % s->width == (size_t)s->nobs;
        if (!(fabs(x[i]) <= (double)FLT_MAX) ||
            (index && !(x[i] >= 0.0 && x[i] < s->naction && x[i] == floor(x[i]))))
            return rh_fail(
                err, RH_EFORMAT,
                "ppo: number %zu of the saved rollout is %g, expected one of the task", i + 1,
                x[i]);
    }
    size_t rows = n / s->width, kept = rows < room ? rows : room;
    x += (rows - kept) * s->width;
    for (size_t i = 0; i < kept * s->width; i++)
        s->row[i] = (float)x[i];
    s->count = (int)kept;
    return RH_OK;
}

static rh_status load_spread(ppo *s, const rh_state *state, rh_error *err)
{
    double x[3 * RH_MAX_ACT + 2];
    size_t n = nspread(s), nact = (size_t)s->nact;
    rh_status rc = n ? rh_state_get(state, "spread", x, n, err) : RH_OK;
    if (rc || !n)
        return rc;
    bool right = rh_base__all_finite(x, (int)n);
    for (size_t j = 0; right && j < nact; j++)
        right = x[2 * nact + j] >= 0.0;
    for (size_t j = 3 * nact; right && j < n; j++)
        right = x[j] >= 0.0 && x[j] <= 1.0;
    if (!right)
        return rh_fail(err, RH_EFORMAT, "ppo: the deviations of the saved state are none");
    memcpy(s->log_sd, x, nact * sizeof *x);
    memcpy(s->first, x + nact, nact * sizeof *x);
    memcpy(s->second, x + 2 * nact, nact * sizeof *x);
    memcpy(s->power, x + 3 * nact, sizeof s->power);
    return RH_OK;
}

static rh_status ppo_load(void *self, const rh_state *state, rh_error *err)
{
    ppo *s = self;
    double drawn;
    rh_status rc = rh_state_get(state, "drawn", &drawn, 1, err);
    if (!rc)
        rc = load_rollout(s, state, err);
    if (!rc)
        rc = load_spread(s, state, err);
    if (!rc)
        rc = rh_scaling__load(&s->scaling, state, err);
    for (int i = 0; !rc && i < NNET; i++)
        rc = rh_mlp__load_into(s->net[i], "ppo", net_name[i], state, err);
    if (!rc)
        s->drawn = drawn != 0.0;
    return rc;
}

rh_ppo__view rh_ppo__show(const void *self)
{
    const ppo *s = self;
    return (rh_ppo__view){s->drawn, s->net[ACTOR], &s->scaling};
}

const rh_agent_type rh_agent_ppo = {
    .name = "ppo",
    .about = "proximal policy optimisation: networks, clipped objective, rollouts",
    .actions = RH_DISCRETE | RH_CONTINUOUS,
    .self_size = sizeof(ppo),
    .param = ppo_param,
    .nparam = NPARAM,
    .init = ppo_init,
    .start = ppo_start,
    .step = ppo_step,
    .end = ppo_end,
    .act = ppo_act,
    .save = ppo_save,
    .load = ppo_load,
    .clear = ppo_clear,
    .truncate = ppo_truncate,
};
