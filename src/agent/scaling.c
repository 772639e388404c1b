// scaling.c - scales of observations and rewards, learned online.
//
// Running means with equal weights. In units of the sensor's range, in which [-1, 1] is the
// whole range:
//
//     observation: (x - mean) / sd, at most 10 in size
//     reward:      size r / rms(G),  G = r + gamma G before;  in a continuing task
//                  (r - mean r) instead of r
//
// 1. The running numbers of a sensor begin as if PRIOR observations had been uniform in its
//    range. So the first few do not decide the scale, and a constant sensor has one.
// 2. A reward is divided by the root mean square of discounted returns: values are then about
//    `size` in size, and one range of learning rates fits all plants. It is not their standard
//    deviation, which is 0 for constant rewards. Each agent has its own size.
// 3. A constant added to all rewards changes no policy where episodes never end, only the size
//    of the values, so the mean is taken off (Naik et al. 2024). Elsewhere it would change
//    what the best policy is.
// 4. What is stored is not scaled: a batch is scaled by what is known when it is drawn.

#include "scaling.h"

#include "base/base_internal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define PRIOR 100.0         // decision 1; by hand: a tenth of a short run
#define UNIFORM (1.0 / 3.0) // variance of uniform numbers in [-1, 1]
#define LARGEST 10.0f       // of a scaled observation, as in OpenAI's Baselines
#define SPREAD_MORE 1e-8    // added to variances; by hand: a ten-thousandth of the range
#define NOTHING 1e-20       // returns with a smaller mean square are all 0; by hand

const char *const rh_scaling__names[RH_SCALING_NKIND] = {
    [RH_SCALING_ONLINE] = "online", [RH_SCALING_RANGE] = "range", [RH_SCALING_NONE] = "none"};

// Centre and scale of the observations from the running numbers.
static void settle(rh_scaling *s)
{
    for (int k = 0; k < s->nobs; k++) {
        double variance = s->square[k] - s->mean[k] * s->mean[k];
        bool online = s->obs_kind == RH_SCALING_ONLINE;
        s->centre[k] = online ? (float)s->mean[k] : 0.0f;
        s->scale[k] = online ? (float)(1.0 / sqrt(fmax(variance, 0.0) + SPREAD_MORE)) : 1.0f;
    }
}

rh_status rh_scaling__init(rh_scaling *s, const rh_task *task, double gamma, double size,
                           rh_scaling__kind obs, rh_scaling__kind reward, const char *owner,
                           rh_error *err)
{
    size_t n = (size_t)task->nobs;
    *s = (rh_scaling){.nobs = task->nobs,
                      .nlag = 1,
                      .width = task->nobs,
                      .obs_kind = obs,
                      .reward_kind = reward,
                      .continuing = task->continuing,
                      .gamma = gamma,
                      .size = size,
                      .count = PRIOR};
    double **array[] = {&s->middle, &s->half, &s->mean, &s->square};
    for (int i = 0; i < 4; i++)
        *array[i] = rh_scratch__take(&s->scratch, n, sizeof(double));
    s->centre = rh_scratch__take(&s->scratch, n, sizeof(float));
    s->scale = rh_scratch__take(&s->scratch, n, sizeof(float));
    if (s->scratch.failed)
        return rh_base__no_memory(err, owner);
    for (size_t k = 0; k < n; k++) {
        bool plain = obs == RH_SCALING_NONE;
        s->middle[k] = plain ? 0.0 : 0.5 * (task->obs_lo[k] + task->obs_hi[k]);
        s->half[k] = plain ? 1.0 : 0.5 * (task->obs_hi[k] - task->obs_lo[k]);
        s->square[k] = UNIFORM;
    }
    settle(s);
    return RH_OK;
}

void rh_scaling__clear(rh_scaling *s)
{
    rh_scratch__clear(&s->scratch);
}

void rh_scaling__ranged(const rh_scaling *s, const double *obs, float *x)
{
    for (int k = 0; k < s->nobs; k++)
        x[k] = (float)((obs[k] - s->middle[k]) / s->half[k]);
}

void rh_scaling__apply(const rh_scaling *s, int n, const float *x, float *scaled)
{
    float most = s->obs_kind == RH_SCALING_ONLINE ? LARGEST : INFINITY;
    int nseen = s->nlag * s->nobs;
    for (int i = 0; i < n; i++, x += s->width, scaled += s->width) {
        for (int k = 0, sensor = 0; k < nseen; k++) {
            float z = (x[k] - s->centre[sensor]) * s->scale[sensor];
            z = z < -most ? -most : z; // a NaN stays
            scaled[k] = z > most ? most : z;
            sensor = sensor + 1 < s->nobs ? sensor + 1 : 0;
        }
        memmove(scaled + nseen, x + nseen, (size_t)(s->width - nseen) * sizeof *x);
    }
}

void rh_scaling__see(rh_scaling *s, const float *x)
{
    if (s->obs_kind != RH_SCALING_ONLINE)
        return;
    s->count += 1.0;
    for (int k = 0; k < s->nobs; k++) {
        double z = (double)x[k];
        s->mean[k] += (z - s->mean[k]) / s->count;
        s->square[k] += (z * z - s->square[k]) / s->count;
    }
    settle(s);
}

void rh_scaling__start(rh_scaling *s)
{
    s->ret = 0.0;
}

void rh_scaling__reward(rh_scaling *s, double reward)
{
    if (s->reward_kind != RH_SCALING_ONLINE)
        return;
    s->reward_count += 1.0;
    if (s->continuing)
        s->reward_mean += (reward - s->reward_mean) / s->reward_count;
    s->ret = reward - s->reward_mean + s->gamma * s->ret;
    s->ret_square += (s->ret * s->ret - s->ret_square) / s->reward_count;
}

static double reward_scale(const rh_scaling *s)
{
    return s->ret_square > NOTHING ? s->size / sqrt(s->ret_square) : 1.0;
}

double rh_scaling__scaled(const rh_scaling *s, double reward)
{
    bool online = s->reward_kind == RH_SCALING_ONLINE;
    return online ? (reward - s->reward_mean) * reward_scale(s) : reward;
}

void rh_scaling__batch(const rh_scaling *s, const rh_memory__batch *batch)
{
    rh_scaling__apply(s, batch->n, batch->obs, batch->obs);
    rh_scaling__apply(s, batch->n, batch->next, batch->next);
    if (s->reward_kind != RH_SCALING_ONLINE)
        return;

    // of m centred rewards, the mean is taken off with the weight (1 - gamma^m) / (1 - gamma)
    double scale = reward_scale(s);
    double mean = s->reward_mean / (1.0 - s->gamma);
    for (int i = 0; i < batch->n; i++) {
        double weight = 1.0 - (double)batch->discount[i];
        batch->reward[i] = (float)(((double)batch->reward[i] - mean * weight) * scale);
    }
}

// ---------------------------------------------------------------------------- saving

enum { COUNT, REWARD_COUNT, REWARD_MEAN, RETURN_SQUARE, NNUMBER };

rh_status rh_scaling__save(const rh_scaling *s, rh_state *state, rh_error *err)
{
    double number[NNUMBER] = {[COUNT] = s->count,
                              [REWARD_COUNT] = s->reward_count,
                              [REWARD_MEAN] = s->reward_mean,
                              [RETURN_SQUARE] = s->ret_square};
    size_t n = (size_t)s->nobs;
    rh_status rc = rh_state_put(state, "scaling", number, NNUMBER, err);
    if (!rc)
        rc = rh_state_put(state, "scaling mean", s->mean, n, err);
    if (!rc)
        rc = rh_state_put(state, "scaling square", s->square, n, err);
    return rc;
}

rh_status rh_scaling__load(rh_scaling *s, const rh_state *state, rh_error *err)
{
    double number[NNUMBER];
    size_t n = (size_t)s->nobs;
    rh_status rc = rh_state_get(state, "scaling", number, NNUMBER, err);
    if (!rc)
        rc = rh_state_get(state, "scaling mean", s->mean, n, err);
    if (!rc)
        rc = rh_state_get(state, "scaling square", s->square, n, err);
    if (rc)
        return rc;
    if (!(number[COUNT] >= PRIOR && number[REWARD_COUNT] >= 0.0 &&
          number[RETURN_SQUARE] >= 0.0 && rh_base__all_finite(number, NNUMBER) &&
          rh_base__all_finite(s->mean, s->nobs) && rh_base__all_finite(s->square, s->nobs)))
        return rh_fail(err, RH_EFORMAT, "scaling: the scales of the saved state are no scales");
    s->count = number[COUNT];
    s->reward_count = number[REWARD_COUNT];
    s->reward_mean = number[REWARD_MEAN];
    s->ret_square = number[RETURN_SQUARE];
    settle(s);
    return RH_OK;
}
