// plant_model.c - how true a model is beside the logged path: policies in it and on the plant.
//
//     plant_model NAME MODEL [--controller good|poor] [--steps N] [--seed N] [--runs N]
//     plant_model NAME --moved
//
// MODEL was fitted to the log that `plant_log NAME` writes with the same options. Prints rows
// of name and value:
//
//     NAME.reward, NAME.plant   mean reward of a step in the model and on the plant, for the
//                               policies random (uniform) and bang (one of the two extremes,
//                               held for 10 steps), episodes as long as the plant's
//     state_10, _100, _all      error of the expected state after so many random actions, in
//                               standard deviations of the log, over the sensors that actions
//                               move; all: to the end of an episode, or 1,000
//
// 1. A fork is a row of the log. The plant stands there with its hidden state, because the
//    controller's run is repeated up to it; the model stands there by the logged row. Both take
//    the same actions, NCOPY times with other noise. The squared difference of the two means,
//    less what the noise of NCOPY copies leaves of it, is the squared error.
// 2. Copies that tripped count with the state in which they did.
// 3. --moved prints the sensors that actions move: those that differ between two runs with the
//    same random numbers and different actions.

#include "model/model_internal.h"
#include "plant.h"

#include <stdio.h>
#include <stdlib.h>

enum { NFORK = 40, NCOPY = 16, HELD = 10, LONGEST = 1000, NHORIZON = 3 };

typedef struct job {
    const plant *plant;
    bool good;
    int64_t nstep;
    uint64_t seed;
    int nrun;
    rh_model *model;         // owned
    rh_env *env;             // owned: of its first member
    void *state;             // owned: of env
    int column[RH_MAX_OBS];  // of each sensor in the model
    int ncolumn;             //
    bool moved[RH_MAX_OBS];  // by actions
    double sd[RH_MAX_OBS];   // of each sensor in the log
    double square[NHORIZON]; // sums over forks and sensors
    int64_t n[NHORIZON];
} job;

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "plant_model: %s '%s'\n", what, name);
    return 2;
}

// ---------------------------------------------------------------------------- policies

typedef struct policy {
    bool bang;
    int held;
    double act[PLANT_ACTIONS]; // of the plant
} policy;

static const double *next_act(policy *o, const plant *p, rh_rng *rng)
{
    if (o->bang && o->held-- > 0)
        return o->act;
    o->held = HELD - 1;
    for (int i = 0; i < plant_naction(p); i++) {
        double lo = p->action[i].lo, hi = p->action[i].hi;
        o->act[i] = o->bang     ? rh_rng_below(rng, 2) ? hi : lo
                    : p->nlevel ? (double)rh_rng_below(rng, (uint32_t)p->nlevel)
                                : rh_rng_range(rng, lo, hi);
    }
    return o->act;
}

// The plant's action in the model: a discrete one is an index there, -1 if it was never logged.
static void to_model(const job *j, const double *act, double *out)
{
    const rh_log *log = rh_model_log(j->model);
    memcpy(out, act, (size_t)plant_naction(j->plant) * sizeof *out);
    for (int i = 0; i < log->naction; i++)
        if (atoi(log->label[i]) == (int)act[0]) {
            out[0] = i;
            return;
        }
    if (log->naction)
        out[0] = -1;
}

// The mean reward of a step in the model, or on the plant.
static double mean_reward(job *j, bool bang, bool in_model)
{
    const plant *p = j->plant;
    double total = 0, s[PLANT_STATE], obs[RH_MAX_OBS], act[PLANT_ACTIONS], cost[PLANT_COSTS],
           reward;
    for (int r = 0; r < j->nrun; r++) {
        uint64_t run = (uint64_t)r + 1;
        rh_streams streams = {rh_rng_stream(j->seed, RH_STREAM_START, in_model, run),
                              rh_rng_stream(j->seed, RH_STREAM_NOISE, in_model, run)};
        rh_rng rng = rh_rng_stream(j->seed, RH_STREAM_AGENT, 0, run);
        policy o = {.bang = bang};
        int64_t age = 0;
        for (int64_t i = 0; i < j->nstep; i++) {
            bool over;
            if (age == 0 && in_model)
                rh_env_start(j->env, j->state, &streams, obs);
            else if (age == 0)
                plant_start(p, s, &streams.start, obs);
            const double *a = next_act(&o, p, &rng);
            to_model(j, a, act);
            while (act[0] < 0) { // nothing is known of it: take another one
                o.held = 0;
                a = next_act(&o, p, &rng);
                to_model(j, a, act);
            }
            over = in_model ? rh_env_step(j->env, j->state, act, &streams, obs, &reward)
                            : plant_step(p, s, a, &streams.noise, obs, cost, &reward);
            total += reward;
            age = over || (p->nstep && age + 1 == p->nstep) ? 0 : age + 1;
        }
    }
    return total / ((double)j->nrun * (double)j->nstep);
}

// ---------------------------------------------------------------------------- forks

// The model's row with the logged sensors; -1: it was left out.
static int32_t row_of(const job *j, const double *obs)
{
    const rh_log *log = rh_model_log(j->model);
    double logged[PLANT_SENSORS];
    char text[32];
    for (int i = 0; i < j->ncolumn; i++) {
        snprintf(text, sizeof text, "%.6g", obs[i]);
        logged[i] = strtod(text, NULL);
    }
    for (int64_t t = 0; t < log->n; t++) {
        const double *row = log->obs + (int64_t)log->from[t] * log->nobs;
        int i = 0;
        while (i < j->ncolumn && row[j->column[i]] == logged[i])
            i++;
        if (i == j->ncolumn)
            return log->from[t];
    }
    return -1;
}

// Mean and squared standard error of the sensors over copies (NCOPY x n).
static void summarise(const double *x, int n, double *mean, double *error2)
{
    for (int i = 0; i < n; i++) {
        double sum = 0, square = 0;
        for (int c = 0; c < NCOPY; c++)
            sum += x[c * n + i];
        mean[i] = sum / NCOPY;
        for (int c = 0; c < NCOPY; c++)
            square += (x[c * n + i] - mean[i]) * (x[c * n + i] - mean[i]);
        error2[i] = square / (NCOPY - 1) / NCOPY;
    }
}

// Follow one fork: the plant from its state s, the model from its row.
static void follow(job *j, const double *s, int32_t row, int64_t age, uint64_t fork)
{
    const plant *p = j->plant;
    const rh_model *model = j->model;
    int n = j->ncolumn,
        last = p->nstep && p->nstep - age < LONGEST ? (int)(p->nstep - age) : LONGEST;
    const int horizon[NHORIZON] = {10, 100, last};
    double(*act)[PLANT_ACTIONS] = rh_alloc((size_t)last, sizeof *act);
    double *place = rh_alloc((size_t)2 * NHORIZON * NCOPY * (size_t)n, sizeof *place);
    rh_rng rng = rh_rng_stream(j->seed, RH_STREAM_AGENT, 1, fork);
    policy o = {0};
    if (!act || !place)
        exit(fail("out of memory for", p->name));
    for (int i = 0; i < last; i++) {
        double known[PLANT_ACTIONS];
        do
            to_model(j, next_act(&o, p, &rng), known);
        while (known[0] < 0);
        memcpy(act[i], o.act, sizeof act[i]);
    }
    for (int c = 0; c < 2 * NCOPY; c++) {
        bool in_model = c >= NCOPY, over = false;
        rh_streams streams = {
            rh_rng_stream(j->seed, RH_STREAM_START, 2, fork * NCOPY * 2 + (uint64_t)c),
            rh_rng_stream(j->seed, RH_STREAM_NOISE, 2, fork * NCOPY * 2 + (uint64_t)c)};
        double own[PLANT_STATE], obs[RH_MAX_OBS] = {0}, known[PLANT_ACTIONS], cost[PLANT_COSTS],
                                 reward;
        memcpy(own, s, sizeof own);
        if (in_model) {
            rh_env_start(j->env, j->state, &streams, obs);
            rh_model_type_of(model)->calls->stand(model, j->env, j->state, row);
        }
        for (int i = 0; i < last; i++) {
            to_model(j, act[i], known);
            if (!over)
                over = in_model
                           ? rh_env_step(j->env, j->state, known, &streams, obs, &reward)
                           : plant_step(p, own, act[i], &streams.noise, obs, cost, &reward);
            for (int h = 0; h < NHORIZON; h++)
                for (int k = 0; i + 1 == horizon[h] && k < n; k++)
                    place[((h * 2 + in_model) * NCOPY + c % NCOPY) * n + k] =
                        obs[in_model ? j->column[k] : k];
        }
    }
    for (int h = 0; h < NHORIZON; h++) {
        double mean[2][PLANT_SENSORS], error2[2][PLANT_SENSORS];
        for (int m = 0; m < 2; m++)
            summarise(place + (h * 2 + m) * NCOPY * n, n, mean[m], error2[m]);
        for (int k = 0; k < n && horizon[h] <= last; k++) {
            double off = mean[1][k] - mean[0][k];
            if (!j->moved[k] || !(j->sd[k] > 0))
                continue;
            off = off * off - error2[0][k] - error2[1][k];
            j->square[h] += isfinite(off) ? off / (j->sd[k] * j->sd[k]) : 1e12; // diverged
            j->n[h]++;
        }
    }
    rh_free(act);
    rh_free(place);
}

// The controller's run again, with forks in the first half of its episodes.
static void fork_all(job *j)
{
    const plant *p = j->plant;
    rh_rng begin = rh_rng_stream(j->seed, RH_STREAM_START, 0, 0);
    rh_rng noise = rh_rng_stream(j->seed, RH_STREAM_NOISE, 0, 0);
    rh_rng hand = rh_rng_stream(j->seed, RH_STREAM_AGENT, 0, 0);
    plant_controller c = {.plant = p, .good = j->good};
    double s[PLANT_STATE], obs[PLANT_SENSORS], act[PLANT_ACTIONS], cost[PLANT_COSTS], reward;
    int64_t age = 0, due = 0;
    for (int64_t i = 0; i < j->nstep; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            plant_control_start(&c);
        }
        int32_t row = -1;
        if (i >= due && age >= 10 && (!p->nstep || age < p->nstep / 2))
            row = row_of(j, obs);
        if (row >= 0) {
            follow(j, s, row, age, (uint64_t)i);
            due = i + j->nstep / NFORK;
        }
        plant_control(&c, obs, &hand, act);
        bool trip = plant_step(p, s, act, &noise, obs, cost, &reward);
        age = trip || (p->nstep && age + 1 == p->nstep) ? 0 : age + 1;
    }
}

// ---------------------------------------------------------------------------- the program

static void find_moved(job *j)
{
    const plant *p = j->plant;
    double s[2][PLANT_STATE], obs[2][PLANT_SENSORS], cost[PLANT_COSTS], reward;
    rh_rng act = rh_rng_stream(1, RH_STREAM_AGENT, 3, 0), begin[2], noise[2];
    for (int c = 0; c < 2; c++) {
        begin[c] = rh_rng_stream(1, RH_STREAM_START, 3, 0);
        noise[c] = rh_rng_stream(1, RH_STREAM_NOISE, 3, 0);
    }
    for (int i = 0; i < 300; i++) {
        policy o = {0};
        for (int c = 0; c < 2; c++) {
            if (i % 30 == 0)
                plant_start(p, s[c], &begin[c], obs[c]);
            plant_step(p, s[c], next_act(&o, p, &act), &noise[c], obs[c], cost, &reward);
        }
        for (int k = 0; k < plant_nsensor(p); k++)
            j->moved[k] = j->moved[k] || obs[0][k] != obs[1][k];
    }
}

static rh_status open_model(job *j, const char *path, rh_error *err)
{
    rh_status rc = rh_model_read(&j->model, path, err);
    if (!rc)
        rc = rh_model_env(&j->env, j->model, 0, NULL, err);
    if (rc)
        return rc;
    j->state = rh_alloc(1, rh_env_state_size(j->env) + 1);
    const rh_log *log = rh_model_log(j->model);
    for (int k = 0; j->plant->sensor[k].name; k++) {
        double sum = 0, square = 0;
        int c = 0;
        while (c < log->nobs && strcmp(log->obs_name[c], j->plant->sensor[k].name))
            c++;
        if (c == log->nobs)
            return rh_fail(err, RH_EINVAL, "%s: has no sensor '%s'", path,
                           j->plant->sensor[k].name);
        j->column[j->ncolumn++] = c;
        for (int64_t i = 0; i < log->nstate; i++)
            sum += log->obs[i * log->nobs + c] / (double)log->nstate;
        for (int64_t i = 0; i < log->nstate; i++)
            square += pow(log->obs[i * log->nobs + c] - sum, 2) / (double)log->nstate;
        j->sd[k] = sqrt(square);
    }
    return j->state ? RH_OK : rh_fail(err, RH_ENOMEM, "%s: out of memory", path);
}

static void measure(job *j)
{
    static const char *const horizon[NHORIZON] = {"state_10", "state_100", "state_all"};
    for (int bang = 0; bang < 2; bang++)
        for (int in_model = 0; in_model < 2; in_model++)
            printf("%s.%s,%.6g\n", bang ? "bang" : "random", in_model ? "reward" : "plant",
                   mean_reward(j, bang, in_model));
    fork_all(j);
    for (int h = 0; h < NHORIZON; h++)
        printf("%s,%.4g\n", horizon[h],
               j->n[h] ? sqrt(fmax(0, j->square[h] / (double)j->n[h])) : NAN);
}

int main(int argc, char **argv)
{
    job j = {.good = true, .nstep = 3000, .seed = 1, .nrun = 20};
    rh_error err = {0};
    for (int i = 0; argc > 2 && plants[i]; i++)
        if (!strcmp(plants[i]->name, argv[1]))
            j.plant = plants[i];
    if (!j.plant)
        return fail("expected a plant and a model, found", argc > 1 ? argv[1] : "");
    find_moved(&j);
    if (!strcmp(argv[2], "--moved")) {
        for (int k = 0; j.plant->sensor[k].name; k++)
            if (j.moved[k])
                printf("%s\n", j.plant->sensor[k].name);
        return 0;
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (!strcmp(argv[i], "--controller"))
            j.good = value[0] == 'g';
        else if (!strcmp(argv[i], "--steps") && atoll(value) > 0)
            j.nstep = atoll(value);
        else if (!strcmp(argv[i], "--runs") && atoi(value) > 0)
            j.nrun = atoi(value);
        else if (!strcmp(argv[i], "--seed"))
            j.seed = strtoull(value, NULL, 10);
        else
            return fail("cannot use", argv[i]);
    }
    if (open_model(&j, argv[2], &err))
        fprintf(stderr, "plant_model: %s\n", err.text);
    else
        measure(&j);
    rh_free(j.state);
    rh_env_destroy(j.env);
    rh_model_destroy(j.model);
    return err.text[0] != 0;
}
