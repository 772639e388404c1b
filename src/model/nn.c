// nn.c - neural network models: they predict next state, reward and the end of an episode.
//
// After the paper's appendix and the authors' code: three networks, each of two hidden layers
// of 128 ReLU units and a linear output. Inputs and targets are scaled to -1 .. 1 by their
// range in the data,
//
//     u = (v - (lo + hi) / 2) / ((hi - lo) / 2)
//
// and predictions are clamped to that range.
//
// 1. Only the start is random, and the end with `ending = draw`: a network predicts the mean,
//    so the model has none of the environment's noise.
// 2. By default the change to the next state is predicted, because it is learned better than
//    the state itself (`target = next`, as in the paper); see the table.
// 3. The reward is scaled like the states. The authors intended this but did not do it.
// 4. All layers have biases. The authors' first layer has none; one-hot actions make up for
//    that, a continuous action does not.
// 5. Inputs are clamped to the range of the data too, because a ReLU network extrapolates
//    linearly without bound.
// 6. A constant target has no network and is predicted exactly: the reward of Acrobot, sensors
//    that never change, and ends if nothing ends.
// 7. Discrete actions are one-hot. The weights of an action that the log never takes are
//    untrained, so predictions for it are meaningless.
//
// Measured on five logs each of near-optimal policies, 5,000 steps, every fifth episode
// predicted from the others. Root mean square errors of the model, of target = next, of the
// persistence forecast, and of predicting the mean:
//
//     Acrobot, cosines and sines    0.040   0.040   0.56    0.66
//     Acrobot, velocities           0.17    0.29    1.8     4.3
//     Puddle World, x and y         0.0100  0.0102  0.037   0.27    (its noise is 0.01)
//     Puddle World, reward          1.29    1.29    -       2.72
//
// A threshold of 0.5 found 37 of 76 ends in Acrobot with 14 false alarms, and 216 of 240 in
// Puddle World with 42. A fit takes 0.6 to 1 s on one core of a 2.3 GHz Xeon (33 us for a batch
// of one network). With Laplacian codes as inputs a step in the environment takes 1.6 us in
// Acrobot, which needs two networks, and 2.0 us in Puddle World (AMD EPYC, Zen 4).

#include "nn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

static const char *const input_name[] = {"state", "code"};
static const char *const target_name[] = {"next", "change"};
static const char *const ending_name[] = {"threshold", "draw"};

const rh_param rh_nn__param[RH_NN_NPARAM] = {
    [RH_NN_INPUT] = {"input", "input of the networks: the state, or its code", .lo = 0, .hi = 1,
                     .initial = RH_NN_STATE, .fixed = true, .choice = input_name},
    [RH_NN_TARGET] = {"target", "predicted: the next state, or the change to it", .lo = 0,
                      .hi = 1, .initial = RH_NN_CHANGE, .fixed = true, .choice = target_name},
    [RH_NN_ENDING] = {"ending",
                      "an episode ends if the prediction exceeds 0.5, or with that probability",
                      .lo = 0, .hi = 1, .initial = RH_NN_THRESHOLD, .choice = ending_name},
    [RH_NN_HIDDEN] = {"hidden", "units in each of the two hidden layers", .lo = 1, .hi = 1024,
                      .initial = 128, .scale = RH_LOG, .whole = true, .fixed = true},
    [RH_NN_RATE] = {"rate", "step size of Adam", .lo = 1e-6, .hi = 0.1, .initial = 3e-4,
                    .scale = RH_LOG, .fixed = true},
    [RH_NN_BATCH] = {"batch", "transitions per training step", .lo = 1, .hi = 4096,
                     .initial = 16, .scale = RH_LOG, .whole = true, .fixed = true},
    [RH_NN_EPOCHS] = {"epochs", "passes over the data, at most", .lo = 1, .hi = 100000,
                      .initial = 100, .scale = RH_LOG, .whole = true, .fixed = true},
    [RH_NN_PATIENCE] = {"patience",
                        "consecutive rises of the validation error that end training", .lo = 1,
                        .hi = 100000, .initial = 3, .scale = RH_LOG, .whole = true,
                        .fixed = true},
    [RH_NN_HELD_OUT] = {"held_out", "share of the transitions held out for validation",
                        .lo = 0.0, .hi = 0.9, .initial = 0.2, .fixed = true},
};

// ---------------------------------------------------------------------------- a member

static rh_status make_span(rh_nn__span *span, int n, rh_error *err)
{
    span->lo = rh_alloc(2 * (size_t)n, sizeof(double));
    if (!span->lo)
        return rh_base__no_memory(err, "nn");
    span->hi = span->lo + n;
    span->n = n;
    return RH_OK;
}

rh_status rh_nn__create(rh_nn **out, const rh_model *model, rh_error *err)
{
    const rh_task *task = &model->task;
    rh_nn *nn = rh_alloc(1, sizeof *nn);
    if (!nn)
        return rh_base__no_memory(err, "nn");
    nn->nobs = task->nobs;
    nn->naction = task->naction;
    nn->nact = task->nact;
    nn->code = model->param[RH_NN_INPUT] == RH_NN_CODE;
    nn->both = nn->code && rh_repr__nact(model->repr) > 0;
    nn->change = model->param[RH_NN_TARGET] == RH_NN_CHANGE;
    int ninput = nn->code ? rh_repr__ncode(model->repr) : nn->nobs;
    if (!nn->both && !nn->naction)
        ninput += nn->nact;
    nn->ninput = ninput + (nn->both ? 0 : nn->naction);

    rh_status rc = make_span(&nn->input, ninput, err);
    if (!rc)
        rc = make_span(&nn->sensor, nn->nobs, err);
    for (int i = 0; !rc && i < RH_NN_NNET; i++)
        rc = make_span(&nn->target[i], i == RH_NN_OF_STATE ? nn->nobs : 1, err);
    if (rc)
        rh_nn__destroy(nn);
    else
        *out = nn;
    return rc;
}

void rh_nn__destroy(void *member)
{
    rh_nn *nn = member;
    if (!nn)
        return;
    rh_free(nn->input.lo);
    rh_free(nn->sensor.lo);
    for (int i = 0; i < RH_NN_NNET; i++) {
        rh_free(nn->target[i].lo);
        rh_mlp__destroy(nn->net[i]);
    }
    rh_free(nn);
}

rh_status rh_nn__network(rh_mlp **out, const rh_nn *nn, int which, int hidden, rh_rng *rng,
                         rh_error *err)
{
    int size[] = {nn->ninput, hidden, hidden, nn->target[which].n};
    return rh_mlp__create(out, size, 4, RH_MLP_PLAIN, rng, err);
}

// ---------------------------------------------------------------------------- scaling

// Halved first, so that no range overflows.
static double middle(const rh_nn__span *span, int i)
{
    return 0.5 * span->lo[i] + 0.5 * span->hi[i];
}

static double half(const rh_nn__span *span, int i)
{
    return 0.5 * span->hi[i] - 0.5 * span->lo[i];
}

// lo for a NaN, so that the result is always a number.
static double within(double x, double lo, double hi)
{
    return x >= lo ? (x <= hi ? x : hi) : lo;
}

float rh_nn__scale(const rh_nn__span *span, int i, double x)
{
    double width = half(span, i);
    return width > 0.0 ? (float)within((x - middle(span, i)) / width, -1.0, 1.0) : 0.0f;
}

static double unscaled(const rh_nn__span *span, int i, float u)
{
    return within(middle(span, i) + half(span, i) * (double)u, span->lo[i], span->hi[i]);
}

bool rh_nn__varies(const rh_nn *nn, int which)
{
    const rh_nn__span *span = &nn->target[which];
    for (int i = 0; i < span->n; i++)
        if (half(span, i) > 0.0)
            return true;
    return false;
}

// ---------------------------------------------------------------------------- predicting

static size_t whole_lines(size_t nfloat)
{
    return (nfloat + 15) / 16 * 16;
}

size_t rh_nn__nscratch(const rh_nn *nn, const rh_repr *repr)
{
    size_t most = nn->code ? rh_repr__nscratch(repr) : 0;
    for (int i = 0; i < RH_NN_NNET; i++) {
        size_t n = nn->net[i] ? rh_mlp__nscratch(nn->net[i]) : 0;
        most = n > most ? n : most;
    }
    return whole_lines((size_t)nn->ninput) + whole_lines((size_t)nn->nobs) + most;
}

void rh_nn__input(const rh_nn *nn, const rh_repr *repr, const double *obs, const double *act,
                  float *scratch, float *x)
{
    int n = nn->code ? rh_repr__ncode(repr) : nn->nobs;
    if (nn->code)
        rh_repr__encode_one(repr, obs, nn->both ? act : NULL, scratch, x);
    for (int i = 0; i < n; i++)
        x[i] = rh_nn__scale(&nn->input, i, nn->code ? (double)x[i] : obs[i]);
    for (int i = n; i < nn->input.n; i++)
        x[i] = rh_nn__scale(&nn->input, i, act[i - n]);
    for (int i = nn->input.n; i < nn->ninput; i++)
        x[i] = (int)act[0] == i - nn->input.n ? 1.0f : 0.0f;
}

// The outputs y of one network, zeros where there is none.
static void ask(const rh_nn *nn, int which, const float *x, float *scratch, float *y)
{
    if (nn->net[which])
        rh_mlp__single(nn->net[which], scratch, x, y);
    else
        memset(y, 0, (size_t)nn->target[which].n * sizeof *y);
}

void rh_nn__predict(const rh_nn *nn, const rh_repr *repr, const double *obs, const double *act,
                    float *scratch, double *next, double *reward, double *end)
{
    float *x = scratch, *y = x + whole_lines((size_t)nn->ninput);
    float *rest = y + whole_lines((size_t)nn->nobs);
    rh_nn__input(nn, repr, obs, act, rest, x);

    ask(nn, RH_NN_OF_STATE, x, rest, y);
    for (int i = 0; i < nn->nobs; i++) {
        double to = unscaled(&nn->target[RH_NN_OF_STATE], i, y[i]);
        to += nn->change ? obs[i] : 0.0;
        next[i] = within(to, nn->sensor.lo[i], nn->sensor.hi[i]);
    }
    ask(nn, RH_NN_OF_REWARD, x, rest, y);
    *reward = unscaled(&nn->target[RH_NN_OF_REWARD], 0, y[0]);
    ask(nn, RH_NN_OF_END, x, rest, y);
    *end = unscaled(&nn->target[RH_NN_OF_END], 0, y[0]);
}

double rh_nn__end_chance(int ending, double end)
{
    if (ending == RH_NN_THRESHOLD)
        return end > 0.5 ? 1.0 : 0.0;
    return within(end, 0.0, 1.0);
}

static rh_status nn_expect(rh_model__expected *out, const rh_model *model, const void *member,
                           const double *obs, const double *act, rh_error *err)
{
    const rh_nn *nn = member;
    float *scratch = rh_alloc(rh_nn__nscratch(nn, model->repr), sizeof *scratch);
    if (!scratch)
        return rh_fail(err, RH_ENOMEM, "nn: out of memory for a prediction");
    double end;
    rh_nn__predict(nn, model->repr, obs, act, scratch, out->next, &out->reward, &end);
    out->terminal = rh_nn__end_chance((int)model->param[RH_NN_ENDING], end);
    out->distance = NAN;
    out->out_of_coverage = false;
    rh_free(scratch);
    return RH_OK;
}

static const rh_model_calls calls = {
    .fit = rh_nn__fit,
    .destroy = rh_nn__destroy,
    .env = rh_nn__env,
    .stand = rh_nn__stand,
    .expect = nn_expect,
    .write = rh_nn__write,
    .read = rh_nn__read,
    .random = true,
};

const rh_model_type rh_model_nn = {
    .name = "nn",
    .about = "networks that predict the next state, the reward and the end",
    .param = rh_nn__param,
    .nparam = RH_NN_NPARAM,
    .calls = &calls,
};
