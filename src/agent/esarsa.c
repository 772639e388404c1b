// esarsa.c - linear Expected Sarsa(lambda) on tile features, with softmax, replacing traces
// and lazy Adam or plain gradient descent.
//
// After the paper's code. With A the active features of s, pi the softmax of q / tau:
//
//     q(s, a) = sum of w[i, a] for i in A
//     delta   = r + gamma * sum_b pi(b | s') q(s', b) - q(s, a)
//     traces of (A, a) become 1; Adam moves every weight with a trace; traces decay by
//     gamma * lambda (weights.c)
//
// With optimiser = sgd, every weight moves by alpha / tilings * delta * trace.
//
// 1. The number of tilings divides alpha and w_init; the number of active features does not.
//    The initial value of a state is therefore w_init times the number of groups of sensors.
// 2. The next action and the expectation use the weights before the update.
// 3. One clock corrects Adam's bias for the whole run: it counts starts, steps and ends.
// 4. Weights are stored as distances from the initial weight, so a new table is all zeros.
// 5. A TD error of 1e11 or more would overflow Adam's moments: the run ends as diverged.
// 6. sgd ignores beta1 and beta2. The optimiser is the last parameter, so agents saved before
//    it existed keep their meaning.

#include "agent_internal.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "device.h"

#include <math.h>

#define DELTA_END 1e11 // decision 5

enum { ALPHA, BETA1, TAU, W_INIT, LAMBDA, BETA2, TILINGS, TILES, FEATURES, OPTIMISER, NPARAM };

enum { ADAM, SGD };
static const char *const optimiser_name[] = {[ADAM] = "adam", [SGD] = "sgd"};

static const rh_param esarsa_param[NPARAM] = {
    [ALPHA] = {"alpha", "step size, divided by the number of tilings", .lo = 1e-8, .hi = 100.0,
               .initial = 0.1, .scale = RH_LOG, .usual_lo = 0.001, .usual_hi = 1.0},
    [BETA1] = {"beta1", "decay of Adam's momentum", .lo = 0.0, .hi = 0.9999, .initial = 0.0,
               .usual_lo = 0.0, .usual_hi = 0.9},
    [TAU] = {"tau", "temperature of the softmax policy", .lo = 1e-6, .hi = 1e6, .initial = 1.0,
             .scale = RH_LOG, .usual_lo = 0.1, .usual_hi = 100.0},
    [W_INIT] = {"w_init", "initial weight, divided by the number of tilings", .lo = -1e6,
                .hi = 1e6, .initial = 0.0},
    [LAMBDA] = {"lambda", "decay of the eligibility traces", .lo = 0.0, .hi = 1.0,
                .initial = 0.8, .usual_lo = 0.0, .usual_hi = 0.95},
    [BETA2] = {"beta2", "decay of Adam's second moment", .lo = 0.5, .hi = 0.999999,
               .initial = 0.999, .fixed = true},
    RH_AGENT__TILE_PARAMS(TILINGS, TILES, FEATURES),
    [OPTIMISER] = {"optimiser", "optimiser: Adam or plain gradient descent", .lo = ADAM,
                   .hi = SGD, .initial = ADAM, .fixed = true, .choice = optimiser_name},
};

typedef struct esarsa {
    rh_tiles *tiles; // owned
    rh_weights weights;
    int naction;
    double gamma, tau;
    double initial;             // an initial weight
    int32_t *feature;           // owned: active features              (room for whole vectors)
    double *q, *pi;             // owned: values and policy of a state (room for whole lines)
    const rh_tile_cache *cache; // borrowed, or NULL
    int32_t index;              // of the next observation, with a cache
} esarsa;

static rh_weights_options weights_for(const rh_tiles *tiles, const rh_task *task,
                                      const double *hp)
{
    return (rh_weights_options){
        .nfeature = tiles->nfeature,
        .nactive = tiles->nactive,
        .naction = task->naction,
        .plain = hp[OPTIMISER] == SGD,
        .rate = hp[ALPHA] / hp[TILINGS],
        .beta1 = hp[BETA1],
        .beta2 = hp[BETA2],
        .decay = task->gamma * hp[LAMBDA],
    };
}

// Set everything that needs no memory.
static rh_weights_options configure(esarsa *s, const rh_task *task, const double *hp)
{
    s->naction = task->naction;
    s->gamma = task->gamma;
    s->tau = hp[TAU];
    s->initial = hp[W_INIT] / hp[TILINGS];
    s->cache = NULL;
    return weights_for(s->tiles, task, hp);
}

static rh_status esarsa_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    esarsa *s = self;
    rh_status rc = rh_tiles__create(&s->tiles, hp + TILINGS, task, "esarsa", err);
    if (rc)
        return rc;
    rh_weights_options opt = configure(s, task, hp);
    rc = rh_weights__init(&s->weights, &opt, "esarsa", err);
    if (rc)
        return rc;

    size_t nlist = rh_weights__list_size(opt.nactive);
    size_t nvalue = ((size_t)task->naction + 3) / 4 * 4;
    s->feature = rh_alloc(nlist, sizeof *s->feature);
    s->q = rh_alloc(nvalue, sizeof *s->q);
    s->pi = rh_alloc(nvalue, sizeof *s->pi);
    if (!s->feature || !s->q || !s->pi)
        return rh_base__no_memory(err, "esarsa");
    return RH_OK;
}

static void esarsa_clear(void *self)
{
    esarsa *s = self;
    rh_tiles__destroy(s->tiles);
    rh_weights__clear(&s->weights);
    rh_free(s->feature);
    rh_free(s->q);
    rh_free(s->pi);
}

// Zero the large tables instead of freeing them: faulting in new memory would cost more than a
// short run, and threads would wait for each other in the kernel.
static rh_status esarsa_reset(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    esarsa *s = self;
    int nactive = s->tiles->nactive, nfeature = s->tiles->nfeature, naction = s->naction;
    rh_tiles__destroy(s->tiles);
    s->tiles = NULL;
    rh_status rc = rh_tiles__create(&s->tiles, hp + TILINGS, task, "esarsa", err);
    if (rc)
        return rc;
    if (nactive == s->tiles->nactive && nfeature == s->tiles->nfeature &&
        naction == task->naction) {
        rh_weights_options opt = configure(s, task, hp);
        return rh_weights__reset(&s->weights, &opt, "esarsa", err);
    }
    esarsa_clear(self);
    *s = (esarsa){0};
    return esarsa_init(self, task, hp, err);
}

static const int32_t *features_of(esarsa *s, const double *obs)
{
    if (s->cache)
        return rh_tile_cache__row(s->cache, s->index);
    rh_tiles__active(s->tiles, obs, s->feature);
    rh_weights__address(&s->weights.opt, s->feature);
    return s->feature;
}

// Compute q and pi of the state with these features.
static void evaluate(esarsa *s, const int32_t *feature)
{
    rh_weights__read(&s->weights, feature, s->q);
    for (int a = 0; a < s->naction; a++)
        s->q[a] += s->initial * s->tiles->nactive;
    rh_agent_softmax(s->q, s->naction, s->tau, s->pi);
}

static bool esarsa_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    evaluate(s, features_of(s, obs));
    act[0] = rh_agent_draw(s->pi, s->naction, rng);
    return rh_base__all_finite(s->q, s->naction);
}

static bool esarsa_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    rh_weights__rest(&s->weights);
    rh_weights__tick(&s->weights);
    const int32_t *feature = features_of(s, obs);
    evaluate(s, feature);
    int action = rh_agent_draw(s->pi, s->naction, rng);
    rh_weights__aim(&s->weights, feature, action);
    act[0] = action;
    return rh_base__all_finite(s->q, s->naction);
}

// Value of the state and action last aimed at; their traces become 1.
static double visit(esarsa *s)
{
    return s->initial * s->tiles->nactive + rh_weights__visit(&s->weights);
}

static bool learn(esarsa *s, double delta)
{
    if (!(fabs(delta) < DELTA_END)) // also NaN
        return false;
    rh_weights__learn(&s->weights, delta);
    return true;
}

static bool esarsa_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    esarsa *s = self;
    double before = visit(s);

    // the next action and the expectation, by the weights before the update
    const int32_t *feature = features_of(s, obs);
    evaluate(s, feature);
    int action = rh_agent_draw(s->pi, s->naction, rng);
    rh_weights__aim(&s->weights, feature, action);
    double expected = 0.0;
    for (int a = 0; a < s->naction; a++)
        expected += s->pi[a] * s->q[a];

    act[0] = action;
    return learn(s, reward + s->gamma * expected - before);
}

static bool esarsa_end(void *self, double reward)
{
    esarsa *s = self;
    bool healthy = learn(s, reward - visit(s));
    rh_weights__rest(&s->weights);
    return healthy;
}

static rh_status esarsa_make_cache(void **cache, const rh_task *task, const double *hp,
                                   const double *obs, int32_t n, size_t most, rh_error *err)
{
    rh_tiles *tiles = NULL;
    rh_tile_cache *made = NULL;
    rh_weights_options opt;
    rh_status rc = rh_tiles__create(&tiles, hp + TILINGS, task, "esarsa", err);
    if (rc)
        goto done;
    opt = weights_for(tiles, task, hp);
    rc = rh_weights__check(&opt, "esarsa", err);
    if (rc)
        goto done;
    rc = rh_tile_cache__create(&made, tiles, obs, n, most, "esarsa", err);
    if (rc || !made)
        goto done;

    for (int32_t i = 0; i < n; i++)
        rh_weights__address(&opt, made->row + made->stride * i);
    *cache = made;

done:
    rh_tiles__destroy(tiles);
    return rc;
}

static void esarsa_use_cache(void *self, const void *cache)
{
    esarsa *s = self;
    s->cache = cache;
}

static void esarsa_look_up(void *self, int32_t index)
{
    esarsa *s = self;
    s->index = index;
}

static void esarsa_policy(const void *self, double *pi)
{
    const esarsa *s = self;
    for (int a = 0; a < s->naction; a++)
        pi[a] = s->pi[a];
}

// The update of the last step took an expectation over the actions, not one of them.
static void esarsa_take(void *self, int action)
{
    esarsa *s = self;
    const int32_t *feature = s->cache ? rh_tile_cache__row(s->cache, s->index) : s->feature;
    rh_weights__aim(&s->weights, feature, action);
}

// Targets are expectations under the policy, so the action may be anybody's.
static void esarsa_took(void *self, const double *act)
{
    esarsa_take(self, (int)act[0]);
}

static rh_status esarsa_save(void *self, rh_state *state, rh_error *err)
{
    esarsa *s = self;
    rh_status rc = rh_tiles__save(s->tiles, state, err);
    return rc ? rc : rh_weights__save(&s->weights, s->initial, state, err);
}

static rh_status esarsa_load(void *self, const rh_state *state, rh_error *err)
{
    esarsa *s = self;
    rh_status rc = rh_tiles__check_saved(s->tiles, "esarsa", state, err);
    return rc ? rc : rh_weights__load(&s->weights, s->initial, state, err);
}

rh_esarsa__view rh_esarsa__show(const void *self)
{
    const esarsa *s = self;
    return (rh_esarsa__view){s->tiles, &s->weights, s->gamma, s->tau, s->initial};
}

const rh_agent_type rh_agent_esarsa = {
    .name = "esarsa",
    .about = "linear Expected Sarsa(lambda): tile coding, softmax, Adam or SGD",
    .actions = RH_DISCRETE,
    .self_size = sizeof(esarsa),
    .param = esarsa_param,
    .nparam = NPARAM,
    .init = esarsa_init,
    .reset = esarsa_reset,
    .start = esarsa_start,
    .step = esarsa_step,
    .end = esarsa_end,
    .act = esarsa_act,
    .make_cache = esarsa_make_cache,
    .use_cache = esarsa_use_cache,
    .look_up = esarsa_look_up,
    .save = esarsa_save,
    .load = esarsa_load,
    .clear = esarsa_clear,
    .policy = esarsa_policy,
    .take = esarsa_take,
    .took = esarsa_took,
};
