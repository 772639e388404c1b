// held_out.c - how far a model is off after so many steps of a log that it does not know.
//
//     held_out MODEL
//
// The kind and the parameters of MODEL are fitted again, to the first SHARE of its log. From
// NSTART states of the rest it follows the logged actions. Prints rows of sensor, steps, error
// of the expected state, error of "nothing changes", both root mean squares in standard
// deviations of the sensor. The expected state is the mean of NCOPY copies with other noise.

#include "model/model_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARE 0.8 // of the log, its first part: what the model is fitted to; by hand

enum { NSTART = 200, NCOPY = 16, NHORIZON = 4 };
static const int horizon[NHORIZON] = {1, 10, 50, 100};

typedef struct job {
    rh_model *model;
    void *member, *state;
    rh_env *env;
    double own[NHORIZON][RH_MAX_OBS], stay[NHORIZON][RH_MAX_OBS]; // sums of squares
    int64_t n[NHORIZON];
} job;

static int fail(const char *what)
{
    fprintf(stderr, "held_out: %s\n", what);
    return 1;
}

// Fit a member to the first transitions.
static rh_status refit(job *j, rh_error *err)
{
    const rh_log *log = j->model->log;
    const rh_model_calls *calls = j->model->type->calls;
    int32_t *use = rh_alloc((size_t)log->n, sizeof *use);
    rh_model__part part = {.use = use,
                           .nuse = (int64_t)(SHARE * (double)log->n),
                           .rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0),
                           .nthread = 1};
    if (!use)
        return rh_fail(err, RH_ENOMEM, "out of memory");
    for (int64_t t = 0; t < part.nuse; t++)
        use[t] = (int32_t)t;
    rh_status rc = calls->fit(&j->member, j->model, &part, err);
    rh_free(use);
    if (!rc)
        rc = calls->env(&j->env, j->model, j->member, j->model->param, err);
    if (!rc)
        j->state = rh_alloc(1, rh_env_state_size(j->env) + 1);
    return rc ? rc : j->state ? RH_OK : rh_fail(err, RH_ENOMEM, "out of memory");
}

// Steps that are known from transition t, up to the longest horizon.
static int known(const rh_log *log, int64_t t)
{
    int n = 0;
    while (n < horizon[NHORIZON - 1] && t + n < log->n && log->to[t + n] != RH_UNKNOWN &&
           log->episode[t + n] == log->episode[t])
        n++;
    return n;
}

static void follow(job *j, int64_t t)
{
    const rh_log *log = j->model->log;
    const double *start = log->obs + (int64_t)log->from[t] * log->nobs;
    double mean[NHORIZON][RH_MAX_OBS] = {{0}}, obs[RH_MAX_OBS], reward;
    int n = known(log, t);
    for (int c = 0; c < NCOPY; c++) {
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, (uint64_t)c, (uint64_t)t),
                              rh_rng_stream(1, RH_STREAM_NOISE, (uint64_t)c, (uint64_t)t)};
        rh_env_start(j->env, j->state, &streams, obs);
        j->model->type->calls->stand(j->model, j->env, j->state, log->from[t]);
        for (int i = 0, h = 0; i < n; i++) {
            rh_env_step(j->env, j->state, log->act + (t + i) * log->nact, &streams, obs,
                        &reward);
            for (int k = 0; i + 1 == horizon[h] && k < log->nobs; k++)
                mean[h][k] += obs[k] / NCOPY;
            h += i + 1 == horizon[h];
        }
    }
    for (int h = 0; h < NHORIZON && horizon[h] <= n; h++) {
        const double *real = log->obs + (int64_t)log->to[t + horizon[h] - 1] * log->nobs;
        j->n[h]++;
        for (int k = 0; k < log->nobs; k++) {
            j->own[h][k] += (mean[h][k] - real[k]) * (mean[h][k] - real[k]);
            j->stay[h][k] += (start[k] - real[k]) * (start[k] - real[k]);
        }
    }
}

static void print(const job *j)
{
    const rh_log *log = j->model->log;
    for (int k = 0; k < log->nobs; k++) {
        double sum = 0, square = 0;
        for (int64_t i = 0; i < log->nstate; i++)
            sum += log->obs[i * log->nobs + k] / (double)log->nstate;
        for (int64_t i = 0; i < log->nstate; i++)
            square += pow(log->obs[i * log->nobs + k] - sum, 2) / (double)log->nstate;
        for (int h = 0; h < NHORIZON; h++)
            printf("%s,%d,%.3g,%.3g\n", log->obs_name[k], horizon[h],
                   sqrt(j->own[h][k] / (double)j->n[h] / square),
                   sqrt(j->stay[h][k] / (double)j->n[h] / square));
    }
}

int main(int argc, char **argv)
{
    job j = {0};
    rh_error err = {""};
    if (argc != 2)
        return fail("expected a model file") + 1;
    rh_status rc = rh_model_read(&j.model, argv[1], &err);
    if (!rc)
        rc = refit(&j, &err);
    if (rc)
        return fail(err.text);
    const rh_log *log = j.model->log;
    int64_t first = (int64_t)(SHARE * (double)log->n);
    for (int i = 0; i < NSTART; i++)
        follow(&j, first + (log->n - first) * i / NSTART);
    print(&j);
    rh_free(j.state);
    rh_env_destroy(j.env);
    j.model->type->calls->destroy(j.member);
    rh_model_destroy(j.model);
    return 0;
}
