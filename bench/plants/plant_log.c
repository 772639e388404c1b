// plant_log.c - logs of the plants in bench/plants, and the truth about their controllers.
//
//     plant_log list
//     plant_log NAME [--controller good|poor] [--steps N] [--seed N] [-o FILE.csv]
//     plant_log NAME --truth [--controller good|poor] [--steps N] [--runs N] [--seed N]
//
// A log has the columns of a plant's historian: time, episode, sensors, action, the parts of
// the reward, trip. FILE.yaml beside it says what they mean: `rehearse tune FILE.yaml`. Truth
// is the mean return of an episode and the share of episodes that trip, over runs of N steps.

#include "plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    const plant *plant;
    bool good;
    int64_t nstep;
    uint64_t seed;
} job;

typedef struct tally {
    double total;
    int64_t nepisode, ntrip; // the last, unfinished episode counts
} tally;

static void write_header(const plant *p, FILE *out)
{
    fprintf(out, "time");
    if (p->nstep)
        fprintf(out, ",%s", p->episode);
    for (int i = 0; p->sensor[i].name; i++)
        fprintf(out, ",%s", p->sensor[i].name);
    for (int i = 0; p->action[i].name; i++)
        fprintf(out, ",%s", p->action[i].name);
    for (int i = 0; p->cost[i].name; i++)
        fprintf(out, ",%s", p->cost[i].name);
    fprintf(out, p->trip > 0 ? ",trip\n" : "\n");
}

static void write_row(const plant *p, FILE *out, double second, int64_t episode,
                      const double *obs, const double *act, const double *cost, bool trip)
{
    int64_t ms = 1767571200000 + (int64_t)floor(second * 1000 + 0.5); // Monday 2026-01-05
    time_t when = (time_t)(ms / 1000);
    char text[32];
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", gmtime_r(&when, &utc));
    fprintf(out, "%s", text);
    if (p->seconds < 1)
        fprintf(out, ".%03d", (int)(ms % 1000));
    if (p->nstep)
        fprintf(out, ",%lld", (long long)episode);
    for (int i = 0; p->sensor[i].name; i++)
        fprintf(out, ",%.6g", obs[i]);
    for (int i = 0; p->action[i].name; i++)
        fprintf(out, ",%.6g", act[i]);
    for (int i = 0; p->cost[i].name; i++)
        fprintf(out, ",%.6g", cost[i]);
    fprintf(out, p->trip > 0 ? ",%d\n" : "\n", trip);
}

// One run of the controller, written to `out` unless it is NULL.
static tally run(const job *j, uint64_t number, FILE *out)
{
    const plant *p = j->plant;
    rh_rng begin = rh_rng_stream(j->seed, RH_STREAM_START, 0, number);
    rh_rng noise = rh_rng_stream(j->seed, RH_STREAM_NOISE, 0, number);
    rh_rng hand = rh_rng_stream(j->seed, RH_STREAM_AGENT, 0, number);
    plant_controller c = {.plant = p, .good = j->good};
    double s[PLANT_STATE], obs[PLANT_SENSORS], next[PLANT_SENSORS], act[PLANT_ACTIONS];
    double cost[PLANT_COSTS], reward;
    tally t = {0};
    int64_t age = 0;
    double second = 0;
    for (int64_t i = 0; i < j->nstep; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            plant_control_start(&c);
            t.nepisode++;
        }
        plant_control(&c, obs, &hand, act);
        bool trip = plant_step(p, s, act, &noise, next, cost, &reward);
        if (out)
            write_row(p, out, second, t.nepisode, obs, act, cost, trip);
        t.total += reward;
        t.ntrip += trip;
        age = trip || (p->nstep && age + 1 == p->nstep) ? 0 : age + 1;
        second += p->seconds;
        if (age == 0 && p->nstep)
            second = ceil(second) + 3600; // the plant is made ready
        memcpy(obs, next, sizeof obs);
    }
    return t;
}

static void write_roles(const plant *p, const char *csv, FILE *out)
{
    const char *name = strrchr(csv, '/');
    fprintf(out, "# %s: %s\ndata:\n  path: %s\n  roles:\n    time: time\n    action: [",
            p->name, p->about, name ? name + 1 : csv);
    for (int i = 0; p->action[i].name; i++)
        fprintf(out, "%s%s", i ? ", " : "", p->action[i].name);
    fprintf(out, "]\n    reward: \"");
    for (int i = 0; p->cost[i].name; i++)
        fprintf(out, "%s%g*%s", i ? " - " : "-", p->cost[i].weight, p->cost[i].name);
    if (p->trip > 0)
        fprintf(out, " - %g*trip", p->trip);
    fprintf(out, "\"\n");
    if (p->nstep)
        fprintf(out, "    episode: %s\n    episode_steps: %d\n", p->episode, p->nstep);
    if (p->trip > 0)
        fprintf(out, "    terminal: trip\n");
}

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "plant_log: %s '%s'\n", what, name);
    return 2;
}

static int write_log(const job *j, const char *path)
{
    char roles[4096];
    FILE *out = path ? fopen(path, "w") : stdout;
    if (!out)
        return fail("cannot write", path);
    write_header(j->plant, out);
    run(j, 0, out);
    bool bad = ferror(out);
    if (!path)
        return bad;
    bad |= fclose(out) != 0;
    size_t n = strlen(path);
    snprintf(roles, sizeof roles, "%.*s.yaml",
             (int)(n > 4 && !strcmp(path + n - 4, ".csv") ? n - 4 : n), path);
    out = fopen(roles, "w");
    if (!out)
        return fail("cannot write", roles);
    write_roles(j->plant, path, out);
    bad |= ferror(out) != 0;
    bad |= fclose(out) != 0;
    return bad ? fail("cannot write", path) : 0;
}

static int write_truth(const job *j, int nrun)
{
    double *score = rh_alloc((size_t)nrun, sizeof *score),
           *work = rh_alloc((size_t)nrun, sizeof *work);
    tally all = {0};
    if (!score || !work)
        return fail("out of memory for the runs of", j->plant->name);
    for (int r = 0; r < nrun; r++) {
        tally t = run(j, (uint64_t)r, NULL);
        score[r] = t.total / (double)t.nepisode;
        all.nepisode += t.nepisode;
        all.ntrip += t.ntrip;
    }
    rh_summary s = rh_summarise(score, nrun, work);
    printf("%s,%s,%lld,%d,%.6g,%.3g,%lld,%lld\n", j->plant->name, j->good ? "good" : "poor",
           (long long)j->nstep, nrun, s.mean, s.stderr_, (long long)all.nepisode,
           (long long)all.ntrip);
    rh_free(score);
    rh_free(work);
    return 0;
}

static void write_list(void)
{
    for (int i = 0; plants[i]; i++) {
        const plant *p = plants[i];
        printf("%-15s %-10s %2d sensors, ", p->name, i % 2 ? "reported" : "thresholds",
               plant_nsensor(p));
        if (p->nlevel)
            printf("%d actions", p->nlevel);
        else
            printf("%d continuous", plant_naction(p));
        printf(", %s%s\n", p->nstep ? p->episode : "continuing", p->trip > 0 ? ", trips" : "");
    }
}

int main(int argc, char **argv)
{
    job j = {.good = true, .nstep = 3000, .seed = 1};
    const char *path = NULL;
    bool truth = false;
    int nrun = 100;
    if (argc == 2 && !strcmp(argv[1], "list")) {
        write_list();
        return 0;
    }
    for (int i = 0; argc > 1 && plants[i]; i++)
        if (!strcmp(plants[i]->name, argv[1]))
            j.plant = plants[i];
    if (!j.plant)
        return fail("expected list or a plant, found", argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--truth")) {
            truth = true;
            continue;
        }
        if (!strcmp(argv[i], "--controller") &&
            (!strcmp(value, "good") || !strcmp(value, "poor")))
            j.good = value[0] == 'g';
        else if (!strcmp(argv[i], "--steps") && atoll(value) > 0)
            j.nstep = atoll(value);
        else if (!strcmp(argv[i], "--runs") && atoi(value) > 0)
            nrun = atoi(value);
        else if (!strcmp(argv[i], "--seed") && *value)
            j.seed = strtoull(value, NULL, 10);
        else if (!strcmp(argv[i], "-o") && *value)
            path = value;
        else
            return fail("cannot use", argv[i]);
        i++;
    }
    return truth ? write_truth(&j, nrun) : write_log(&j, path);
}
