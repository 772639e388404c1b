// deployed.c - the first steps of deployments on the true plant: violations and return.
//
//     deployed PLANT good|poor|BEST.yaml [--guard FILE] [--runs N] [--steps N] [--first N]
//              [--over SENSOR NUMBER] [--under SENSOR NUMBER] [--controller good|poor]
//
// Deployment i is opened as `rehearse deploy` opens it, with a seed of its own, and acts on the
// plant from its first step; or the logged controller does, operator included. A row for each:
// steps that trip, or past a limit; episodes, the last one included; reward per step; steps in
// which the agent's own action was taken; and the alarms. A sensor is judged as it is measured.

#include "plant.h"

#include <rehearse/rehearse.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct job {
    const plant *plant;
    const char *who, *guard;
    const char *controller; // that says what it would do; NULL: it does not
    int first, nrun, nstep;
    int over, under; // sensors; -1: no limit
    double most, least;
} job;

typedef struct tally {
    int nviolation, nepisode, nown;
    double total;
    unsigned alarms;
} tally;

static bool past(const job *j, const double *obs, bool trip)
{
    return trip || (j->over >= 0 && obs[j->over] > j->most) ||
           (j->under >= 0 && obs[j->under] < j->least);
}

static void must(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "deployed: %s\n", err->text);
        exit(1);
    }
}

static tally run(const job *j, int number)
{
    const plant *p = j->plant;
    uint64_t at = (uint64_t)number;
    rh_rng start = rh_rng_stream(11, RH_STREAM_START, 0, at);
    rh_rng noise = rh_rng_stream(11, RH_STREAM_NOISE, 0, at);
    rh_rng hand = rh_rng_stream(11, RH_STREAM_AGENT, 0, at);
    bool logged = !strcmp(j->who, "good") || !strcmp(j->who, "poor");
    const char *other = logged ? j->who : j->controller;
    plant_controller by = {.plant = p, .good = other && !strcmp(other, "good")};
    double s[PLANT_STATE], obs[PLANT_SENSORS], act[RH_MAX_ACT], cost[PLANT_COSTS];
    double reward = NAN;
    rh_deploy *d = NULL;
    rh_error err = {""};
    tally t = {0};
    if (!logged) {
        rh_deploy_options opt = rh_deploy_defaults();
        opt.guard = j->guard;
        opt.seed = 1000 + at;
        must(rh_deploy_open(&d, j->who, &opt, &err), &err);
    }
    int age = 0;
    bool trip = false, cut = false;
    for (int i = 0; i < j->nstep; i++) {
        rh_deploy_seen seen = {.obs = obs, .reward = reward, .seq = -1, .time = NAN};
        rh_deploy_reply reply = {0};
        if (d && (trip || cut)) { // what the last episode ended in
            seen.terminal = trip;
            seen.truncated = !trip;
            must(rh_deploy_step(d, &seen, &reply, &err), &err);
            seen.terminal = seen.truncated = false;
        }
        if (age == 0) {
            plant_start(p, s, &start, obs);
            plant_control_start(&by);
            seen.starts = true;
            seen.reward = NAN;
            t.nepisode++;
        }
        if (other)
            plant_control(&by, obs, &hand, act);
        if (d) {
            seen.controller = other ? act : NULL;
            must(rh_deploy_step(d, &seen, &reply, &err), &err);
            if (reply.source != RH_BY_NOBODY)
                memcpy(act, reply.act, sizeof act);
            t.nown += reply.source == RH_BY_AGENT;
            t.alarms |= reply.alarms;
        }
        trip = plant_step(p, s, act, &noise, obs, cost, &reward);
        cut = p->nstep && age + 1 == p->nstep;
        age = trip || cut ? 0 : age + 1;
        t.total += reward;
        t.nviolation += past(j, obs, trip);
    }
    must(rh_deploy_close(d, &err), &err);
    return t;
}

static int sensor_of(const plant *p, const char *name)
{
    for (int i = 0; p->sensor[i].name; i++)
        if (!strcmp(p->sensor[i].name, name))
            return i;
    fprintf(stderr, "deployed: expected a sensor of %s, found '%s'\n", p->name, name);
    exit(2);
}

int main(int argc, char **argv)
{
    job j = {.nrun = 100, .nstep = 1000, .over = -1, .under = -1};
    for (int i = 0; argc > 2 && plants[i]; i++)
        if (!strcmp(plants[i]->name, argv[1]))
            j.plant = plants[i];
    for (int i = 3; j.plant && i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool over = !strcmp(argv[i], "--over"), under = !strcmp(argv[i], "--under");
        if (!strcmp(argv[i], "--guard"))
            j.guard = value;
        else if (!strcmp(argv[i], "--controller"))
            j.controller = value;
        else if (!strcmp(argv[i], "--runs"))
            j.nrun = atoi(value);
        else if (!strcmp(argv[i], "--steps"))
            j.nstep = atoi(value);
        else if (!strcmp(argv[i], "--first"))
            j.first = atoi(value);
        else if ((over || under) && i + 2 < argc) {
            *(over ? &j.over : &j.under) = sensor_of(j.plant, value);
            *(over ? &j.most : &j.least) = atof(argv[++i + 1]);
        } else
            j.plant = NULL;
    }
    if (!j.plant || j.nrun < 1 || j.nstep < 1) {
        fprintf(stderr, "usage: deployed PLANT good|poor|BEST.yaml [--guard FILE] [--runs N] "
                        "[--steps N] [--first N] [--over SENSOR NUMBER] [--under SENSOR "
                        "NUMBER] [--controller good|poor]\n");
        return 2;
    }
    j.who = argv[2];
    printf("violations,episodes,reward,own,alarms\n");
    for (int i = j.first; i < j.first + j.nrun; i++) {
        tally t = run(&j, i);
        printf("%d,%d,%.9g,%d,%u\n", t.nviolation, t.nepisode, t.total / j.nstep, t.nown,
               t.alarms);
        fflush(stdout);
    }
    return 0;
}
