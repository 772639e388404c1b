// alarms.c - alarms of deployments on the plants of this folder: false ones, and what is found.
//
//     alarms PLANT|thresholds|reported [--runs N] [--steps N] [--only FAULT] [-o FILE.csv]
//
// The agent is the plant's good controller, operator included, that explores: the share of
// random actions falls from 0.4 to an end that differs from run to run, as if it learned. The
// promise is made of 40 such runs on the true plant, as study/curves.c makes it, so it is
// honest. Each deployment is judged by the monitor of src/deploy. Honest ones have two run
// lengths; a fault begins with the first step or after half of a run, and is found if an alarm
// is raised in the tenth of a run that follows, and not before.
//
// Of each plant and fault a row: plant, half, fault, its first step, deployments, alarms before
// the fault, found by any alarm, then by promise, worse, changed, range, and the median delay
// of the first alarm. In rows of honest deployments the counts are the false alarms.

#include "plant.h"
#include "study/study.h"

#include "base/base_internal.h"
#include "deploy/deploy_internal.h"
#include "numeric/stats.h"

#include <stdio.h>
#include <stdlib.h>

enum { NPOINT = 20, NRUN = 40, PROMISE = 0, RANGE = 1, WORSE = 6, CHANGED = 7 };

// What goes wrong from a step on.
typedef enum fault {
    HONEST,
    HALVED, // rewards are lower by half of what is usual
    COSTLY, // the largest part of the cost is ten times as expensive
    WEAK,   // actuators: 40 % of the deviation; a discrete one sticks in 60 % of the steps
    BIASED, // the first sensor reads a fifth of its range too much
    NFAULT
} fault;

static const char *const fault_name[] = {"honest", "halved", "costly", "weak", "biased"};

typedef struct world {
    const plant *plant;
    rh_best best; // what the monitor reads of it
    int run;      // steps
    double usual; // mean size of a step's reward
    int dearest;  // part of the cost
} world;

typedef struct state {
    rh_rng start, noise, hand;
    plant_controller by;
    double s[PLANT_STATE], obs[PLANT_SENSORS], next[PLANT_SENSORS];
    double act[PLANT_ACTIONS], done[PLANT_ACTIONS], cost[PLANT_COSTS];
    double wrong; // share of random actions in the end
    int age, t;
    bool terminal, ended;
} state;

static state begun(const world *w, uint64_t run)
{
    state x = {.start = rh_rng_stream(5, RH_STREAM_START, 0, run),
               .noise = rh_rng_stream(5, RH_STREAM_NOISE, 0, run),
               .hand = rh_rng_stream(5, RH_STREAM_AGENT, 0, run),
               .by = {.plant = w->plant, .good = true}};
    x.wrong = 0.1 * rh_rng_uniform(&x.hand);
    return x;
}

// What the plant does, of what was asked for.
static void execute(const world *w, state *x, fault what)
{
    const plant *p = w->plant;
    bool sticks = what == WEAK && p->nlevel && rh_rng_uniform(&x->hand) < 0.6;
    for (int k = 0; p->action[k].name; k++) {
        double base = fmin(fmax(0.0, p->action[k].lo), p->action[k].hi);
        if (what == WEAK && !p->nlevel)
            x->done[k] = base + 0.4 * (x->act[k] - base);
        else if (!sticks || x->age == 0)
            x->done[k] = x->act[k];
    }
}

static void explore(const world *w, state *x)
{
    const plant *p = w->plant;
    double share = fmin(0.4, x->wrong + 0.4 * rh_exp(-13.0 * x->t / w->run));
    if (rh_rng_uniform(&x->hand) >= share)
        return;
    for (int k = 0; p->action[k].name; k++) {
        double lo = p->action[k].lo, hi = p->action[k].hi;
        x->act[k] =
            p->nlevel ? (double)rh_rng_below(&x->hand, (uint32_t)p->nlevel)
                      : plant_clip(x->act[k] + 0.15 * (hi - lo) * rh_rng_range(&x->hand, -1, 1),
                                   lo, hi);
    }
}

// One step; its reward. x->obs, act and next are what the deployment sees.
static double go(const world *w, state *x, fault what)
{
    const plant *p = w->plant;
    double reward, bias = what == BIASED ? 0.2 * (p->sensor[0].hi - p->sensor[0].lo) : 0.0;
    if (x->age == 0) {
        plant_start(p, x->s, &x->start, x->obs);
        x->obs[0] += bias;
        plant_control_start(&x->by);
    } else
        memcpy(x->obs, x->next, sizeof x->obs);
    plant_control(&x->by, x->obs, &x->hand, x->act);
    explore(w, x);
    execute(w, x, what);
    x->terminal = plant_step(p, x->s, x->done, &x->noise, x->next, x->cost, &reward);
    x->next[0] += bias;
    x->ended = x->terminal || (p->nstep && x->age + 1 == p->nstep);
    x->age = x->ended ? 0 : x->age + 1;
    x->t++;
    if (what == HALVED)
        reward -= 0.5 * w->usual;
    if (what == COSTLY)
        reward -= 9.0 * fabs(p->cost[w->dearest].weight * x->cost[w->dearest]);
    return reward;
}

// ---------------------------------------------------------------------------- the promise

// The curve of one run, as the monitor cuts it; what was seen widens the log's range.
static void curve(world *w, uint64_t run, double y[NPOINT], double parts[PLANT_COSTS])
{
    state x = begun(w, run);
    double back = 0.0;
    for (int i = 0; i < NPOINT; i++) {
        double sum = 0.0, nended = 0.0;
        for (int t = 0; t < w->run / NPOINT; t++) {
            double reward = go(w, &x, HONEST);
            back += reward;
            w->usual += fabs(reward) / w->run / NRUN;
            for (int k = 0; w->plant->cost[k].name; k++)
                parts[k] += fabs(w->plant->cost[k].weight * x.cost[k]);
            for (int k = 0; w->plant->sensor[k].name; k++) {
                w->best.seen_lo[k] = fmin(w->best.seen_lo[k], x.obs[k]);
                w->best.seen_hi[k] = fmax(w->best.seen_hi[k], x.obs[k]);
            }
            if (w->plant->nstep == 0)
                sum += reward;
            else if (x.ended) {
                sum += back;
                nended++;
                back = 0.0;
            }
        }
        y[i] = w->plant->nstep == 0 ? sum : nended > 0.0 ? sum / nended : NAN;
    }
}

// Mean and spread of point i over all runs but `out`.
static int moments(double y[NRUN][NPOINT], int i, int out, double *mean, double *spread)
{
    double sum = 0.0, square = 0.0;
    int n = 0;
    for (int run = 0; run < NRUN; run++)
        if (run != out && !isnan(y[run][i])) {
            sum += y[run][i];
            n++;
        }
    *mean = n ? sum / n : NAN;
    for (int run = 0; run < NRUN; run++)
        if (run != out && !isnan(y[run][i]))
            square += (y[run][i] - *mean) * (y[run][i] - *mean);
    *spread = n > 1 ? fmax(0.01 * fabs(*mean), sqrt(square / (n - 1))) : NAN;
    return n;
}

static void promise(world *w)
{
    static double y[NRUN][NPOINT];
    double parts[PLANT_COSTS] = {0}, most[NRUN], mean, spread;
    rh_promise *to = &w->best.promise;
    for (int run = 0; run < NRUN; run++)
        curve(w, 100000 + (uint64_t)run, y[run], parts);
    for (int k = 0; w->plant->cost[k].name; k++)
        w->dearest = parts[k] > parts[w->dearest] ? k : w->dearest;
    *to = (rh_promise){.nstep = w->run, .ncurve = NPOINT, .nrun = NRUN};
    to->per_steps = w->plant->nstep ? 0 : w->run;
    to->false_alarms = 1.0 / (NRUN + 1);
    for (int i = 0; i < NPOINT; i++)
        moments(y, i, -1, &to->mean[i], &to->spread[i]);
    for (int run = 0; run < NRUN; run++) {
        double d = most[run] = 0.0;
        for (int i = 0; i < NPOINT; i++) {
            int n = moments(y, i, run, &mean, &spread);
            d = n > 1 ? rh_promise__deficit(d, mean, spread, n, y[run][i]) : d;
            most[run] = fmax(most[run], d);
        }
    }
    rh_stats__sort(most, NRUN);
    to->alarm = most[NRUN - 1];
}

static void make_world(world *w, const plant *p, int nstep)
{
    static double lo[PLANT_SENSORS], hi[PLANT_SENSORS];
    *w = (world){.plant = p, .run = nstep};
    rh_best *b = &w->best;
    rh_task *task = &b->task;
    task->nobs = b->nsent = b->nnow = plant_nsensor(p);
    task->naction = p->nlevel;
    task->nact = plant_naction(p);
    task->continuing = p->nstep == 0;
    task->nstep = nstep;
    for (int i = 0; i < task->nobs; i++) {
        task->obs_lo[i] = p->sensor[i].lo;
        task->obs_hi[i] = p->sensor[i].hi;
        lo[i] = INFINITY;
        hi[i] = -INFINITY;
    }
    for (int k = 0; k < task->nact && !p->nlevel; k++) {
        task->act_lo[k] = p->action[k].lo;
        task->act_hi[k] = p->action[k].hi;
    }
    b->seen_lo = lo;
    b->seen_hi = hi;
    promise(w);
}

// ---------------------------------------------------------------------------- deployments

// first: the step of the first alarm of each kind, or -1.
static void deploy(const world *w, uint64_t run, int nstep, fault what, int from,
                   int first[RH_NALARM])
{
    rh_monitor m = {0};
    rh_deploy_health h = {.alarm_step = -1, .outside_sensor = -1, .guard_share = NAN};
    rh_forecast *forecast = NULL;
    state x = begun(w, run);
    for (int i = 0; i < RH_NALARM; i++) {
        first[i] = -1;
        h.evidence[i] = NAN;
    }
    if (rh_forecast__create(&forecast, &w->best, w->run, NULL))
        exit(1);
    for (int t = 0; t < nstep; t++) {
        double reward = go(w, &x, t >= from ? what : HONEST);
        h.nstep++;
        rh_monitor__reward(&m, &h, &w->best, reward, x.ended);
        if (!x.terminal)
            rh_monitor__forecast(&m, &h, &w->best, forecast, x.obs, x.act, reward, x.next);
        rh_monitor__obs(&m, &h, &w->best, x.next);
        for (int i = 0; i < RH_NALARM; i++)
            if (first[i] < 0 && h.alarms >> i & 1)
                first[i] = t;
    }
    rh_forecast__destroy(forecast);
}

static void measure(const world *w, const char *half, fault what, int from, int n, FILE *out)
{
    static const int kind[] = {PROMISE, WORSE, CHANGED, RANGE};
    int found[4] = {0}, any = 0, before = 0;
    double *when = rh_alloc((size_t)n + 1, sizeof *when);
    if (!when)
        exit(1);
    for (int run = 0; run < n; run++) {
        int first[RH_NALARM], at = -1;
        bool early = false;
        deploy(w, (uint64_t)run, what == HONEST ? 2 * w->run : from + w->run / 10, what, from,
               first);
        for (int k = 0; k < 4; k++) {
            int t = first[kind[k]];
            early = early || (t >= 0 && t < from);
            found[k] += t >= from;
            at = t >= from && (at < 0 || t < at) ? t : at;
        }
        before += early;
        if (at >= 0)
            when[any++] = at - from;
    }
    rh_stats__sort(when, any);
    fprintf(out, "%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%g\n", w->plant->name, half,
            fault_name[what], from, n, before, any, found[0], found[1], found[2], found[3],
            any ? when[any / 2] : NAN);
    fflush(out);
    rh_free(when);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "", *only = NULL, *path = NULL;
    int n = 112, nstep = 4000, ndone = 0;
    for (int i = 2; i + 1 < argc; i += 2) {
        n = strcmp(argv[i], "--runs") == 0 ? atoi(argv[i + 1]) : n;
        nstep = strcmp(argv[i], "--steps") == 0 ? atoi(argv[i + 1]) : nstep;
        only = strcmp(argv[i], "--only") == 0 ? argv[i + 1] : only;
        path = strcmp(argv[i], "-o") == 0 ? argv[i + 1] : path;
    }
    FILE *out = path ? fopen(path, "a") : stdout;
    if (!out || n < 1 || nstep < 10 * NPOINT) {
        fprintf(stderr, "alarms: cannot write, or too few runs or steps\n");
        return 2;
    }
    for (int i = 0; plants[i]; i++) {
        static world w;
        const char *half = i % 2 ? "reported" : "thresholds";
        if (strcmp(which, half) != 0 && strcmp(which, plants[i]->name) != 0)
            continue;
        ndone++;
        make_world(&w, plants[i], nstep);
        for (int f = 0; f < NFAULT; f++) {
            if (only && strcmp(only, fault_name[f]) != 0)
                continue;
            if (f == HALVED)
                measure(&w, half, HALVED, 0, n, out);
            measure(&w, half, (fault)f, f == HONEST ? 0 : nstep / 2, n, out);
        }
    }
    if (!ndone)
        fprintf(stderr, "alarms: expected thresholds, reported or a plant, found '%s'\n",
                which);
    return ndone ? 0 : 2;
}
