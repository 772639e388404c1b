// fitted_q.c - the policy that fitted Q evaluation takes for the best, on the true plant.
//
//     fitted_q PLANT [--controller good|poor] [--log N] [--steps N] [--runs N] [--seed N]
//
// The log is that of plant_log with the same controller, length and seed. Policies are learned
// from it by fitted Q iteration (reproduction/offline) with several rates and decays; the value
// of each is learned from the same log by fitted Q evaluation, and the one with the highest
// mean value in the states in which the log's episodes begin (all states of a plant that never
// stops) acts on the plant, greedily, without learning. Plants of discrete actions only.
//
// Prints the mean score of the runs, its standard error, and trips in 1,000 steps. A score is
// that of `rehearse run`: the sum of rewards over the episodes begun.

#include "plants/plant.h"

#include "offline/offline.h"

#include <rehearse/eval.h>
#include <rehearse/log.h>

#include <stdio.h>
#include <stdlib.h>

static const double rate[] = {1e-2, 1e-3, 1e-4}; // of the paper's grid
static const double decay[] = {1e-3, 1e-5};      // likewise
enum { NRATE = 3, NDECAY = 2, MOST_RUNS = 1000 };

typedef struct job {
    const plant *plant;
    bool good;
    int64_t nstep, nlog;
    int nrun;
    uint64_t seed;
} job;

static rh_task task_of(const plant *p)
{
    rh_task task = {.nobs = plant_nsensor(p), .naction = p->nlevel, .nact = 1};
    task.continuing = p->nstep == 0;
    task.gamma = 0.99; // 1 has no fixed point where episodes are cut
    task.reward_lo = -INFINITY;
    for (int i = 0; i < task.nobs; i++) {
        task.obs_name[i] = p->sensor[i].name;
        task.obs_lo[i] = p->sensor[i].lo;
        task.obs_hi[i] = p->sensor[i].hi;
    }
    return task;
}

// The rows of the controller at work, as plant_log writes them.
static rh_status fill(rh_log_builder *log, const job *j, rh_error *err)
{
    const plant *p = j->plant;
    rh_rng begin = rh_rng_stream(j->seed, RH_STREAM_START, 0, 0);
    rh_rng noise = rh_rng_stream(j->seed, RH_STREAM_NOISE, 0, 0);
    rh_rng hand = rh_rng_stream(j->seed, RH_STREAM_AGENT, 0, 0);
    plant_controller c = {.plant = p, .good = j->good};
    double s[PLANT_STATE], obs[PLANT_SENSORS], next[PLANT_SENSORS], act[PLANT_ACTIONS];
    double cost[PLANT_COSTS], reward;
    int64_t age = 0;
    rh_status rc = RH_OK;
    for (int64_t i = 0; i < j->nlog && !rc; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            plant_control_start(&c);
        }
        plant_control(&c, obs, &hand, act);
        bool trip = plant_step(p, s, act, &noise, next, cost, &reward);
        bool cut = p->nstep && age + 1 == p->nstep;
        rh_log_row row = {.obs = obs,
                          .act = act,
                          .reward = reward,
                          .next = next,
                          .terminal = trip,
                          .truncated = cut && !trip,
                          .begins = age == 0};
        rc = rh_log_push(log, &row, err);
        age = trip || cut ? 0 : age + 1;
        memcpy(obs, next, sizeof obs);
    }
    return rc;
}

static rh_status make_log(rh_log **out, const job *j, rh_error *err)
{
    static const char *const label[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    const plant *p = j->plant;
    const char *name[PLANT_SENSORS];
    for (int i = 0; i < plant_nsensor(p); i++)
        name[i] = p->sensor[i].name;
    rh_log_shape shape = {.nobs = plant_nsensor(p),
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .obs_name = name,
                          .label = label,
                          .nlabel = p->nlevel,
                          .declared = true,
                          .path = p->name};
    rh_log_builder *builder = NULL;
    rh_status rc = rh_log_builder_create(&builder, &shape, err);
    if (!rc)
        rc = fill(builder, j, err);
    if (!rc)
        rc = rh_log_finish(builder, out, err);
    rh_log_builder_destroy(builder);
    return rc;
}

// The mean value of a policy in the states in which episodes begin; in all where none ends.
static rh_status value_of(const rh_fqi *policy, const rh_log *log, const rh_task *task,
                          rh_fqi_options opt, double *value, rh_error *err)
{
    rh_fqi *fqi = NULL;
    double own[RH_MAX_ACTIONS], q[RH_MAX_ACTIONS], sum = 0.0;
    int64_t n = 0;
    opt.follow = policy;
    rh_status rc = rh_fqi_learn(&fqi, log, task, &opt, err);
    for (int64_t t = 0; t < log->n && !rc; t++) {
        bool begins = task->continuing;
        for (int e = 0; e < log->nepisode && !begins; e++)
            begins = log->first[e] == t;
        if (!begins)
            continue;
        const double *obs = log->obs + (int64_t)log->from[t] * log->nobs;
        rc = rh_fqi_values(policy, obs, own, err);
        if (!rc)
            rc = rh_fqi_values(fqi, obs, q, err);
        int best = 0;
        for (int a = 1; a < task->naction; a++)
            best = own[a] > own[best] ? a : best;
        sum += q[best];
        n++;
    }
    *value = n ? sum / (double)n : -INFINITY;
    rh_fqi_destroy(fqi);
    return rc;
}

// Learn the policies and keep the one with the highest value.
static rh_status choose(rh_fqi **out, const rh_log *log, const rh_task *task, rh_error *err)
{
    double most = -INFINITY;
    rh_status rc = RH_OK;
    for (int i = 0; i < NRATE * NDECAY && !rc; i++) {
        rh_fqi_options opt = rh_fqi_defaults(RH_FQI_TILES);
        rh_fqi *policy = NULL;
        double value = 0.0;
        opt.rate = rate[i / NDECAY];
        opt.decay = decay[i % NDECAY];
        rc = rh_fqi_learn(&policy, log, task, &opt, err);
        if (!rc)
            rc = value_of(policy, log, task, opt, &value, err);
        if (!rc && (!*out || value > most)) { // false for NAN
            rh_fqi_destroy(*out);
            *out = policy;
            policy = NULL;
            most = value;
        }
        rh_fqi_destroy(policy);
    }
    return rc;
}

// A run on the plant: its score; *ntrip grows.
static double act(const job *j, const rh_fqi *policy, uint64_t number, int64_t *ntrip)
{
    const plant *p = j->plant;
    rh_rng begin = rh_rng_stream(j->seed + 1, RH_STREAM_START, 0, number);
    rh_rng noise = rh_rng_stream(j->seed + 1, RH_STREAM_NOISE, 0, number);
    double s[PLANT_STATE], obs[PLANT_SENSORS], q[RH_MAX_ACTIONS], a, cost[PLANT_COSTS], reward;
    double sum = 0.0;
    int64_t age = 0, nepisode = 0;
    for (int64_t i = 0; i < j->nstep; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            nepisode++;
        }
        int best = 0;
        if (rh_fqi_values(policy, obs, q, NULL))
            return NAN;
        for (int k = 1; k < p->nlevel; k++)
            best = q[k] > q[best] ? k : best;
        a = best;
        bool trip = plant_step(p, s, &a, &noise, obs, cost, &reward);
        sum += reward;
        *ntrip += trip;
        age = trip || (p->nstep && age + 1 == p->nstep) ? 0 : age + 1;
    }
    return sum / (double)nepisode;
}

static int measure(const job *j)
{
    rh_log *log = NULL;
    rh_fqi *policy = NULL;
    rh_error err = {""};
    rh_task task = task_of(j->plant);
    rh_status rc = make_log(&log, j, &err);
    if (!rc)
        rc = choose(&policy, log, &task, &err);
    if (!rc) {
        double score[MOST_RUNS], work[MOST_RUNS];
        int64_t ntrip = 0;
        for (int r = 0; r < j->nrun; r++)
            score[r] = act(j, policy, (uint64_t)r, &ntrip);
        rh_summary s = rh_summarise(score, j->nrun, work);
        printf("%.6g %.6g %.6g\n", s.mean, s.stderr_,
               (double)ntrip * 1000.0 / (double)(j->nstep * j->nrun));
    } else
        fprintf(stderr, "fitted_q: %s\n", err.text);
    rh_fqi_destroy(policy);
    rh_log_destroy(log);
    return rc != RH_OK;
}

int main(int argc, char **argv)
{
    job j = {.good = true, .nstep = 1500, .nlog = 3000, .nrun = 12, .seed = 1};
    for (int i = 0; argc > 1 && plants[i]; i++)
        if (strcmp(plants[i]->name, argv[1]) == 0)
            j.plant = plants[i];
    if (!j.plant || !j.plant->nlevel) {
        fprintf(stderr, "fitted_q: expected a plant of discrete actions\n");
        return 2;
    }
    for (int i = 2; i + 1 < argc; i += 2) {
        long long n = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--controller") == 0)
            j.good = strcmp(argv[i + 1], "poor") != 0;
        else if (strcmp(argv[i], "--log") == 0)
            j.nlog = n;
        else if (strcmp(argv[i], "--steps") == 0)
            j.nstep = n;
        else if (strcmp(argv[i], "--runs") == 0 && n >= 2 && n <= MOST_RUNS)
            j.nrun = (int)n;
        else if (strcmp(argv[i], "--seed") == 0)
            j.seed = (uint64_t)n;
        else {
            fprintf(stderr, "fitted_q: %s is not an option, or no such number\n", argv[i]);
            return 2;
        }
    }
    return measure(&j);
}
