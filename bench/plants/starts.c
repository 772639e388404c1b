// starts.c - how well an agent starts on the true plant from the log of its controller.
//
//     starts PLANT --agent NAME [--set PARAM=VALUE ...] [--controller good|poor] [--steps N]
//            [--log N] [--runs N] [--seed N] [-o FILE.csv]
//
// Run r logs N steps of the controller, gives all of them to the agent (rh_task.prior), and
// lets it learn on the plant for as many steps. A row has, for the agent and for the controller
// in runs of its own: the reward of the whole run, of its first tenth and of its last quarter,
// all as the return of one episode (of 3,000 steps where the plant never stops); the standard
// error of the first; trips per run; and the processor time of a run. With -o the row is
// appended, and a row that is there already is not measured again.

#include "plant.h"

#include <rehearse/agent.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    const plant *plant;
    const rh_agent_type *agent;
    double hp[RH_MAX_PARAM];
    char options[256]; // as given
    bool good;
    int64_t nstep, nlog;
    int nrun;
    uint64_t seed;
} job;

enum { ALL, FIRST, LAST, TRIPS, SECONDS, NVALUE };

typedef struct tally {
    double sum[3];
    int64_t n[3], ntrip;
} tally;

static void count(tally *t, int64_t i, int64_t nstep, double reward, bool trip)
{
    bool in[3] = {true, i < nstep / 10, i >= nstep - nstep / 4};
    for (int k = 0; k < 3; k++) {
        t->sum[k] += in[k] ? reward : 0.0;
        t->n[k] += in[k];
    }
    t->ntrip += trip;
}

static void finish(const job *j, const tally *t, double *value)
{
    double unit = j->plant->nstep ? j->plant->nstep : 3000.0;
    for (int k = 0; k < 3; k++)
        value[k] = t->n[k] ? unit * t->sum[k] / (double)t->n[k] : 0.0;
    value[TRIPS] = (double)t->ntrip;
}

// The controller at work; the rows of what it did unless row is NULL.
static void control(const job *j, uint64_t seed, uint64_t number, int64_t nstep, double *row,
                    double *value)
{
    const plant *p = j->plant;
    size_t nobs = (size_t)plant_nsensor(p), nact = (size_t)plant_naction(p);
    rh_rng begin = rh_rng_stream(seed, RH_STREAM_START, 0, number);
    rh_rng noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, number);
    rh_rng hand = rh_rng_stream(seed, RH_STREAM_AGENT, 0, number);
    plant_controller c = {.plant = p, .good = j->good};
    double s[PLANT_STATE], obs[PLANT_SENSORS], next[PLANT_SENSORS], act[PLANT_ACTIONS];
    double cost[PLANT_COSTS], reward;
    tally t = {0};
    int64_t age = 0;
    for (int64_t i = 0; i < nstep; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            plant_control_start(&c);
        }
        plant_control(&c, obs, &hand, act);
        bool trip = plant_step(p, s, act, &noise, next, cost, &reward);
        bool cut = (p->nstep && age + 1 == p->nstep) || i + 1 == nstep;
        if (row) {
            memcpy(row, obs, nobs * sizeof *row);
            memcpy(row + nobs, act, nact * sizeof *row);
            row[nobs + nact] = reward;
            memcpy(row + nobs + nact + 1, next, nobs * sizeof *row);
            row[2 * nobs + nact + 1] = trip ? 1.0 : cut ? 2.0 : 0.0;
            row += 2 * nobs + nact + 2;
        }
        count(&t, i, nstep, reward, trip);
        age = trip || cut ? 0 : age + 1;
        memcpy(obs, next, sizeof obs);
    }
    finish(j, &t, value);
}

static rh_task task_of(const job *j, rh_prior prior)
{
    const plant *p = j->plant;
    rh_task task = {.nobs = plant_nsensor(p), .naction = p->nlevel, .nact = plant_naction(p)};
    task.continuing = p->nstep == 0;
    task.gamma = p->nstep ? 1.0 : 0.99;
    task.reward_lo = -INFINITY;
    task.nstep = j->nstep;
    task.prior = prior;
    for (int i = 0; i < task.nobs; i++) {
        task.obs_name[i] = p->sensor[i].name;
        task.obs_lo[i] = p->sensor[i].lo;
        task.obs_hi[i] = p->sensor[i].hi;
    }
    for (int i = 0; i < task.nact && !p->nlevel; i++) {
        task.act_lo[i] = p->action[i].lo;
        task.act_hi[i] = p->action[i].hi;
    }
    return task;
}

// The agent learns on the plant. False: it diverged, or could not be made.
static bool learn(const job *j, uint64_t number, rh_prior prior, double *value)
{
    const plant *p = j->plant;
    rh_task task = task_of(j, prior);
    rh_agent *agent = NULL;
    rh_error err = {""};
    clock_t from = clock();
    if (rh_agent_create(&agent, j->agent, &task, j->hp, &err)) {
        fprintf(stderr, "starts: %s\n", err.text);
        return false;
    }
    rh_rng begin = rh_rng_stream(j->seed + 1, RH_STREAM_START, 0, number);
    rh_rng noise = rh_rng_stream(j->seed + 1, RH_STREAM_NOISE, 0, number);
    rh_rng own = rh_rng_stream(j->seed + 1, RH_STREAM_AGENT, 0, number);
    double s[PLANT_STATE], obs[PLANT_SENSORS], act[RH_MAX_ACT], cost[PLANT_COSTS], reward;
    tally t = {0};
    int64_t age = 0;
    bool healthy = true;
    for (int64_t i = 0; healthy && i < j->nstep; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            healthy = rh_agent_start(agent, obs, &own, act);
        }
        bool trip = plant_step(p, s, act, &noise, obs, cost, &reward);
        bool cut = p->nstep && age + 1 == p->nstep;
        count(&t, i, j->nstep, reward, trip);
        if (trip)
            healthy = rh_agent_end(agent, reward) && healthy;
        else
            healthy =
                (cut ? rh_agent_truncate : rh_agent_step)(agent, reward, obs, &own, act) &&
                healthy;
        age = trip || cut ? 0 : age + 1;
    }
    rh_agent_destroy(agent);
    finish(j, &t, value);
    value[SECONDS] = (double)(clock() - from) / CLOCKS_PER_SEC;
    return healthy;
}

// Whether FILE has a row that begins with key.
static bool is_there(const char *path, const char *key)
{
    char line[1024];
    bool found = false;
    FILE *in = path ? fopen(path, "r") : NULL;
    while (in && !found && fgets(line, sizeof line, in))
        found = strncmp(line, key, strlen(key)) == 0;
    if (in)
        fclose(in);
    return found;
}

static int measure(const job *j, const char *path)
{
    char key[512];
    snprintf(key, sizeof key, "%s,%s,%s,%s,%lld,%lld,%d,%llu,", j->plant->name,
             j->good ? "good" : "poor", j->agent->name, j->options, (long long)j->nlog,
             (long long)j->nstep, j->nrun, (unsigned long long)j->seed);
    if (is_there(path, key))
        return 0;
    size_t width = 2 * (size_t)plant_nsensor(j->plant) + (size_t)plant_naction(j->plant) + 2;
    double *row = rh_alloc((size_t)j->nlog * width, sizeof *row);
    double *score = rh_alloc((size_t)j->nrun, sizeof *score),
           *work = rh_alloc((size_t)j->nrun, sizeof *work);
    double mine[NVALUE] = {0}, theirs[NVALUE] = {0};
    int nbad = 0;
    if (!row || !score || !work)
        return 1;
    for (int r = 0; r < j->nrun; r++) {
        double value[NVALUE] = {0};
        control(j, j->seed, (uint64_t)r, j->nlog, row, value);
        nbad += !learn(j, (uint64_t)r, (rh_prior){.n = j->nlog, .row = row}, value);
        score[r] = value[ALL];
        for (int k = 0; k < NVALUE; k++)
            mine[k] += value[k] / j->nrun;
        control(j, j->seed + 1, (uint64_t)r, j->nstep, NULL, value);
        for (int k = 0; k < NVALUE; k++)
            theirs[k] += value[k] / j->nrun;
    }
    rh_summary s = rh_summarise(score, j->nrun, work);
    bool new = path && !is_there(path, "plant,");
    FILE *out = path ? fopen(path, "a") : stdout;
    if (!out)
        return 1;
    if (new)
        fprintf(out,
                "plant,controller,agent,options,log,steps,runs,seed,mean,stderr,first,last,"
                "trips,controller_mean,controller_first,controller_last,"
                "controller_trips,seconds,diverged\n");
    fprintf(out, "%s%.5g,%.3g,%.5g,%.5g,%.3g,%.5g,%.5g,%.5g,%.3g,%.3f,%d\n", key, mine[ALL],
            s.stderr_, mine[FIRST], mine[LAST], mine[TRIPS], theirs[ALL], theirs[FIRST],
            theirs[LAST], theirs[TRIPS], mine[SECONDS], nbad);
    rh_free(row);
    rh_free(score);
    rh_free(work);
    return path ? fclose(out) != 0 : 0;
}

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "starts: %s '%s'\n", what, name);
    return 2;
}

static bool set(job *j, const char *text)
{
    char name[64];
    const char *equal = strchr(text, '=');
    rh_error err = {""};
    int at;
    if (!equal || equal - text >= (ptrdiff_t)sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(equal - text), text);
    if (rh_param_lookup(j->agent->param, j->agent->nparam, j->agent->name, name, &at, &err) ||
        rh_param_parse(&j->agent->param[at], j->agent->name, equal + 1, &j->hp[at], &err)) {
        fprintf(stderr, "starts: %s\n", err.text);
        return false;
    }
    size_t n = strlen(j->options);
    snprintf(j->options + n, sizeof j->options - n, "%s%s", n ? " " : "", text);
    return true;
}

int main(int argc, char **argv)
{
    job j = {.good = true, .nstep = 3000, .nlog = 3000, .nrun = 5, .seed = 1};
    const char *path = NULL;
    for (int i = 0; argc > 1 && plants[i]; i++)
        if (!strcmp(plants[i]->name, argv[1]))
            j.plant = plants[i];
    if (!j.plant)
        return fail("expected a plant, found", argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool used = true;
        if (!strcmp(argv[i], "--agent") && (j.agent = rh_agent_find(value, NULL)))
            rh_param_initial(j.agent->param, j.agent->nparam, j.hp);
        else if (!strcmp(argv[i], "--set"))
            used = j.agent && set(&j, value);
        else if (!strcmp(argv[i], "--controller"))
            j.good = value[0] == 'g';
        else if (!strcmp(argv[i], "--steps"))
            used = (j.nstep = atoll(value)) > 0;
        else if (!strcmp(argv[i], "--log"))
            used = (j.nlog = atoll(value)) > 0;
        else if (!strcmp(argv[i], "--runs"))
            used = (j.nrun = atoi(value)) > 0;
        else if (!strcmp(argv[i], "--seed"))
            j.seed = strtoull(value, NULL, 10);
        else if (!strcmp(argv[i], "-o"))
            path = value;
        else
            used = false;
        if (!used)
            return fail("cannot use", argv[i]);
    }
    return j.agent ? measure(&j, path) : fail("expected", "--agent");
}
