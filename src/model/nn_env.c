// nn_env.c - the environment of a neural network model.
//
// 1. The state block holds the observation and the scratch floats of a prediction, aligned here
//    because the block itself may not be.
// 2. `draw` takes one random number per step, so that settings on one stream stay aligned.
// 3. The next step starts from the predicted state, so errors accumulate along an episode. Only
//    the range of the data bounds them.
// 4. In a continuing task an end leads to a start.

#include "base/base.h"
#include "nn_internal.h"

#include <string.h>

enum { LINE = 64, VALUE = 40 };

typedef struct world {
    const rh_nn *nn;      // borrowed
    const rh_repr *repr;  // borrowed
    const rh_log *log;    // borrowed
    const int32_t *start; // borrowed: rows of the log  (nstart)
    uint32_t nstart;
    int ending;
    bool continuing;
} world;

static float *scratch_of(const world *w, void *state)
{
    char *end = (char *)state + (size_t)w->nn->nobs * sizeof(double);
    return (float *)(void *)(end + (LINE - (uintptr_t)end % LINE) % LINE);
}

static void nn_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const world *w = self;
    size_t nobs = (size_t)w->nn->nobs;
    size_t row = (size_t)w->start[rh_rng_below(&streams->start, w->nstart)];
    memcpy(obs, w->log->obs + row * nobs, nobs * sizeof *obs);
    memcpy(state, obs, nobs * sizeof *obs);
}

static bool nn_step(const void *self, void *state, const double *act, rh_streams *streams,
                    double *obs, double *reward)
{
    const world *w = self;
    double *now = state, end;
    rh_nn__predict(w->nn, w->repr, now, act, scratch_of(w, state), now, reward, &end);
    memcpy(obs, now, (size_t)w->nn->nobs * sizeof *obs);
    double chance = rh_nn__end_chance(w->ending, end);
    bool ends =
        w->ending == RH_NN_DRAW ? rh_rng_uniform(&streams->noise) < chance : chance > 0.0;
    if (ends && w->continuing)
        nn_start(self, state, streams, obs);
    return ends && !w->continuing;
}

void rh_nn__stand(const rh_model *model, const rh_env *env, void *state, int32_t row)
{
    (void)env;
    size_t nobs = (size_t)model->log->nobs;
    memcpy(state, model->log->obs + (size_t)row * nobs, nobs * sizeof(double));
}

static const rh_env_type env_type = {
    .name = "nn",
    .about = "an environment rebuilt from a log by neural networks",
    .self_size = sizeof(world),
    .param = rh_nn__param,
    .nparam = RH_NN_NPARAM,
    .start = nn_start,
    .step = nn_step,
};

rh_status rh_nn__env(rh_env **out, const rh_model *model, const void *member,
                     const double *param, rh_error *err)
{
    const rh_nn *nn = member;
    for (int i = 0; i < RH_NN_NPARAM; i++) {
        if (i == RH_NN_ENDING || param[i] == model->param[i])
            continue;
        char asked[VALUE], fitted[VALUE];
        rh_param__format(&rh_nn__param[i], param[i], asked, sizeof asked);
        rh_param__format(&rh_nn__param[i], model->param[i], fitted, sizeof fitted);
        return rh_fail(err, RH_EINVAL, "nn: %s = %s, expected %s as fitted; fit again",
                       rh_nn__param[i].name, asked, fitted);
    }

    world *w = rh_alloc(1, sizeof *w);
    if (!w)
        return rh_base__no_memory(err, "nn");
    *w = (world){.nn = nn, .repr = model->repr, .log = model->log, .start = model->start};
    w->nstart = (uint32_t)model->nstart;
    w->ending = (int)param[RH_NN_ENDING];
    w->continuing = model->task.continuing;
    size_t size = (size_t)nn->nobs * sizeof(double) + LINE;
    size += rh_nn__nscratch(nn, model->repr) * sizeof(float);
    rh_status rc = rh_env_adopt(out, &env_type, &model->task, param, w, size, err);
    if (rc)
        rh_free(w);
    return rc;
}
