// my_sarsa.c - an agent of your own, made of the library's parts: Expected Sarsa(lambda) on
// tile features, with softmax, replacing traces and Adam.
//
//     q(s, a) = sum of the weights of (active features of s, a)
//     delta   = r + gamma * sum_b pi(b | s') q(s', b) - q(s, a)
//
// It computes what the built-in esarsa does with the same hyperparameters, to the last bit.

#include "my_plugin.h"

#include <math.h>

enum { ALPHA, TAU, LAMBDA, TILINGS, TILES, NPARAM };

static const rh_param param[NPARAM] = {
    [ALPHA] = {"alpha", "step size, divided by the number of tilings", .lo = 1e-8, .hi = 100.0,
               .initial = 0.1, .scale = RH_LOG, .usual_lo = 0.001, .usual_hi = 1.0},
    [TAU] = {"tau", "temperature of the softmax policy", .lo = 1e-6, .hi = 1e6, .initial = 1.0,
             .scale = RH_LOG, .usual_lo = 0.1, .usual_hi = 100.0},
    [LAMBDA] = {"lambda", "decay of the eligibility traces", .lo = 0.0, .hi = 1.0,
                .initial = 0.8, .usual_lo = 0.0, .usual_hi = 0.95},
    [TILINGS] = {"tilings", "tilings of each group of sensors", .lo = 1, .hi = 64,
                 .initial = 16, .whole = true, .fixed = true},
    [TILES] = {"tiles", "tiles across a sensor's range", .lo = 1, .hi = 256, .initial = 8,
               .whole = true, .fixed = true},
};

// What changes during a run. It arrives zeroed.
typedef struct my_sarsa {
    rh_tiles *tiles;     // owned
    rh_weights *weights; // owned
    int naction;
    double gamma, tau;
    int32_t *feature; // owned: active features of a state
    double *q, *pi;   // owned: values and policy of a state
} my_sarsa;

static rh_status sarsa_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    my_sarsa *s = self;
    s->naction = task->naction;
    s->gamma = task->gamma;
    s->tau = hp[TAU];
    rh_status rc = rh_tiles_create(&s->tiles, task, (int)hp[TILINGS], (int)hp[TILES],
                                   RH_TILES_PAIRS, "my_sarsa", err);
    if (rc)
        return rc;
    rh_weights_options opt = rh_weights_defaults();
    opt.nfeature = rh_tiles_nfeature(s->tiles);
    opt.nactive = rh_tiles_nactive(s->tiles);
    opt.naction = task->naction;
    opt.rate = hp[ALPHA] / hp[TILINGS];
    opt.decay = task->gamma * hp[LAMBDA];
    rc = rh_weights_create(&s->weights, &opt, "my_sarsa", err);
    if (rc)
        return rc;
    s->feature = rh_alloc(rh_weights_nlist(s->weights), sizeof *s->feature);
    s->q = rh_alloc(rh_weights_nvalue(s->weights), sizeof *s->q);
    s->pi = rh_alloc(rh_weights_nvalue(s->weights), sizeof *s->pi);
    if (!s->feature || !s->q || !s->pi)
        return rh_fail(err, RH_ENOMEM, "my_sarsa: out of memory");
    return RH_OK;
}

static void sarsa_clear(void *self)
{
    my_sarsa *s = self;
    rh_tiles_destroy(s->tiles);
    rh_weights_destroy(s->weights);
    rh_free(s->feature);
    rh_free(s->q);
    rh_free(s->pi);
}

// Values and policy of the state, and an action drawn from it.
static int choose(my_sarsa *s, const double *obs, rh_rng *rng)
{
    rh_tiles_active(s->tiles, obs, s->feature);
    rh_weights_prepare(s->weights, s->feature);
    rh_weights_read(s->weights, s->feature, s->q);
    rh_agent_softmax(s->q, s->naction, s->tau, s->pi);
    return rh_agent_draw(s->pi, s->naction, rng);
}

static bool learn(my_sarsa *s, double delta)
{
    if (!(fabs(delta) < 1e11)) // also NaN: this run has diverged
        return false;
    rh_weights_learn(s->weights, delta);
    return true;
}

static bool sarsa_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    my_sarsa *s = self;
    act[0] = choose(s, obs, rng);
    return isfinite(s->q[0]);
}

static bool sarsa_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    my_sarsa *s = self;
    rh_weights_rest(s->weights);
    rh_weights_tick(s->weights);
    int action = choose(s, obs, rng);
    rh_weights_aim(s->weights, s->feature, action);
    act[0] = action;
    return isfinite(s->q[0]);
}

static bool sarsa_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    my_sarsa *s = self;
    double before = rh_weights_visit(s->weights);
    int action = choose(s, obs, rng);
    rh_weights_aim(s->weights, s->feature, action);
    double expected = 0.0;
    for (int a = 0; a < s->naction; a++)
        expected += s->pi[a] * s->q[a];
    act[0] = action;
    return learn(s, reward + s->gamma * expected - before);
}

static bool sarsa_end(void *self, double reward)
{
    my_sarsa *s = self;
    bool healthy = learn(s, reward - rh_weights_visit(s->weights));
    rh_weights_rest(s->weights);
    return healthy;
}

static rh_status sarsa_save(void *self, rh_state *state, rh_error *err)
{
    my_sarsa *s = self;
    return rh_weights_save(s->weights, state, err);
}

static rh_status sarsa_load(void *self, const rh_state *state, rh_error *err)
{
    my_sarsa *s = self;
    return rh_weights_load(s->weights, state, err);
}

const rh_agent_type my_sarsa_type = {
    .name = "my_sarsa",
    .about = "Expected Sarsa(lambda) made of the library's parts",
    .actions = RH_DISCRETE,
    .self_size = sizeof(my_sarsa),
    .param = param,
    .nparam = NPARAM,
    .init = sarsa_init,
    .start = sarsa_start,
    .step = sarsa_step,
    .end = sarsa_end,
    .act = sarsa_act,
    .save = sarsa_save,
    .load = sarsa_load,
    .clear = sarsa_clear,
};
