// fqi_network.c - action values of a neural network, for fitted Q iteration.
//
// Sensors scaled to [-1, 1] by the task's ranges, hidden layers with ReLU, one output per
// action. The error q(s, a) - y of a transition goes to the output of its action.
//
// 1. As in the paper's code, the first layer has no biases, all weights and biases decay, and
//    initial weights are uniform in +-1 / sqrt(fan-in).
// 2. The paper's code divides a sensor by half its range and does not centre it, and does so
//    when it acts but not when it learns. Here both see the same numbers.

#include "base/text.h"
#include "offline_internal.h"

#include <string.h>

static rh_status init(rh_fqi *fqi, const rh_task *task, rh_rng *rng, rh_error *err)
{
    int size[RH_MLP_LAYERS + 1], nsize = 0;
    size[nsize++] = fqi->nobs;
    for (int l = 0; l < fqi->opt.nlayer; l++)
        size[nsize++] = fqi->opt.width;
    size[nsize++] = fqi->naction;
    for (int i = 0; i < fqi->nobs; i++) {
        fqi->lo[i] = task->obs_lo[i];
        fqi->scale[i] = 2.0 / (task->obs_hi[i] - task->obs_lo[i]);
    }
    rh_status rc = rh_mlp__create(&fqi->mlp, size, nsize, RH_MLP_NO_FIRST_BIAS, rng, err);
    return rc ? rc : rh_mlp__clone(&fqi->mlp_aim, fqi->mlp, err);
}

static void clear(rh_fqi *fqi)
{
    rh_mlp__destroy(fqi->mlp);
    rh_mlp__destroy(fqi->mlp_aim);
}

static size_t code_size(const rh_fqi *fqi)
{
    return (size_t)fqi->nobs * sizeof(float);
}

static void code(const rh_fqi *fqi, const double *obs, void *scratch, void *to)
{
    (void)scratch;
    float *x = to;
    for (int i = 0; i < fqi->nobs; i++)
        x[i] = (float)((obs[i] - fqi->lo[i]) * fqi->scale[i] - 1.0);
}

// y (n x naction): outputs for these rows.
static void forward(const rh_fqi *fqi, rh_fqi__memory *memory, const rh_mlp *mlp,
                    const void *states, int n, const int32_t *row, float *y)
{
    size_t nobs = (size_t)fqi->nobs;
    const float *x = states;
    for (int i = 0; i < n; i++)
        memcpy(memory->in + (size_t)i * nobs, x + (size_t)row[i] * nobs, nobs * sizeof *x);
    rh_mlp__forward(mlp, memory->pass, n, memory->in, y);
}

static void read_values(const rh_fqi *fqi, rh_fqi__memory *memory, bool target,
                        const void *states, int n, const int32_t *row, float *q)
{
    forward(fqi, memory, target ? fqi->mlp_aim : fqi->mlp, states, n, row, memory->d);
    for (int a = 0; a < fqi->naction; a++)
        for (int i = 0; i < n; i++)
            q[a * n + i] = memory->d[i * fqi->naction + a];
}

static void update(rh_fqi *fqi, rh_fqi__memory *memory, const void *states, int n,
                   const int32_t *row, const int32_t *act, const float *y)
{
    forward(fqi, memory, fqi->mlp, states, n, row, memory->q);
    memset(memory->d, 0, (size_t)n * (size_t)fqi->naction * sizeof *memory->d);
    for (int i = 0; i < n; i++) {
        int taken = i * fqi->naction + act[i];
        memory->d[taken] = memory->q[taken] - y[i];
    }
    rh_mlp__backward(fqi->mlp, memory->pass, memory->d);
    rh_mlp__step(fqi->mlp, &(rh_mlp__adam){.rate = fqi->opt.rate,
                                           .beta1 = RH_FQI__BETA1,
                                           .beta2 = RH_FQI__BETA2,
                                           .eps = RH_FQI__EPS,
                                           .decay = fqi->opt.decay});
}

static void sync(rh_fqi *fqi)
{
    rh_mlp__copy(fqi->mlp_aim, fqi->mlp);
}

static rh_status prepare(const rh_fqi *fqi, rh_fqi__memory *memory, bool training,
                         rh_error *err)
{
    (void)training;
    memory->in = rh_alloc((size_t)memory->room * (size_t)fqi->nobs, sizeof *memory->in);
    if (!memory->in)
        return rh_base__no_memory(err, "fqi");
    return rh_mlp__pass_create(&memory->pass, fqi->mlp, memory->room, err);
}

// Scratch of rh_mlp__single(), then inputs and outputs.
static size_t nscratch(const rh_fqi *fqi)
{
    return (rh_mlp__nscratch(fqi->mlp) + (size_t)fqi->nobs + (size_t)fqi->naction) *
           sizeof(float);
}

static void values(const rh_fqi *fqi, const double *obs, void *scratch, double *q)
{
    float *inner = scratch, *x = inner + rh_mlp__nscratch(fqi->mlp), *y = x + fqi->nobs;
    code(fqi, obs, NULL, x);
    rh_mlp__single(fqi->mlp, inner, x, y);
    for (int a = 0; a < fqi->naction; a++)
        q[a] = (double)y[a];
}

const rh_fqi__form rh_fqi__network = {
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
