// bench_deploy.c - deployments of best.yaml: alarms on honest and changed plants, latencies.
//
//     bench_deploy alarms BEST.yaml ENV|model:FILE [N] [STEPS] [TIMES]
//     bench_deploy pipe REHEARSE|cat BEST.yaml [STEPS [OPTION...]]
//
// alarms: in the first N deployments of STEPS steps the plant stays as it is; in N more
// everything costs TIMES as much after half a run length. Plant and agent have random
// streams of their own in each. pipe: the time from an observation to its reply, by a plant
// that waits for it, with further options of deploy; cat, which sends the observation back,
// shows what pipes alone take.

#include "rehearse/rehearse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORDS 16 // of a command, at most

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void check(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "bench_deploy: %s\n", err->text);
        exit(1);
    }
}

// ---------------------------------------------------------------------------- alarms

typedef struct plant {
    rh_env *env;
    int64_t cutoff;
    void *state;
    double times; // as much, after the change
} plant;

// One deployment. first: the step of the first alarm of each kind, or -1.
static void deploy(const plant *p, const char *best, int which, int64_t nstep, int64_t from,
                   int64_t first[RH_NALARM])
{
    const rh_task *task = rh_env_task(p->env);
    rh_deploy_options opt = rh_deploy_defaults();
    rh_deploy *d = NULL;
    rh_error err = {""};
    double obs[RH_MAX_OBS], reward = NAN;
    opt.seed = 1000 + (uint64_t)which;
    opt.save_steps = INT64_MAX;
    opt.save_seconds = 1e9;
    check(rh_deploy_open(&d, best, &opt, &err), &err);
    rh_streams streams = {rh_rng_stream(7, RH_STREAM_START, 0, (uint64_t)which),
                          rh_rng_stream(7, RH_STREAM_NOISE, 0, (uint64_t)which)};
    rh_env_start(p->env, p->state, &streams, obs);
    bool starts = true, terminal = false, truncated = false;
    int64_t length = 0;
    for (int i = 0; i < RH_NALARM; i++)
        first[i] = -1;
    for (int64_t t = 0; t < nstep; t++) {
        rh_deploy_seen seen = {.obs = obs,
                               .reward = reward,
                               .seq = -1,
                               .time = NAN,
                               .starts = starts,
                               .terminal = terminal,
                               .truncated = truncated};
        rh_deploy_reply reply;
        check(rh_deploy_step(d, &seen, &reply, &err), &err);
        for (int i = 0; i < RH_NALARM; i++)
            first[i] = first[i] < 0 && reply.alarms >> i & 1 ? t : first[i];
        if (terminal || truncated) {
            rh_env_start(p->env, p->state, &streams, obs);
            starts = true;
            terminal = truncated = false;
            length = 0;
            t--; // a start is no step
            continue;
        }
        starts = false;
        terminal = rh_env_step(p->env, p->state, reply.act, &streams, obs, &reward);
        reward -= t >= from ? (p->times - 1.0) * fabs(reward) : 0.0;
        truncated = !terminal && !task->continuing && ++length >= p->cutoff;
    }
    check(rh_deploy_close(d, &err), &err);
}

// n deployments; alarms in the tenth of a run after `from`, and before it.
static void count(const plant *p, const char *best, int at, int n, int64_t nstep, int64_t from)
{
    static const char *const name[RH_NALARM] = {"promise",  "range", "diverged", "disk",
                                                "failures", "guard", "worse",    "changed",
                                                "silence",  "limit"};
    double *steps[RH_NALARM];
    int64_t first[RH_NALARM];
    int found[RH_NALARM] = {0}, before[RH_NALARM] = {0};
    for (int k = 0; k < RH_NALARM; k++)
        steps[k] = rh_alloc((size_t)n, sizeof **steps);
    for (int i = 0; i < n; i++) {
        deploy(p, best, at + i, nstep, from, first);
        for (int k = 0; k < RH_NALARM; k++) {
            before[k] += first[k] >= 0 && first[k] < from;
            if (first[k] >= from && steps[k])
                steps[k][found[k]++] = (double)(first[k] - from);
        }
    }
    for (int k = 0; k < RH_NALARM; k++) {
        qsort(steps[k], (size_t)found[k], sizeof **steps, ascending);
        if (from == INT64_MAX)
            printf("  %-9s %d of %d\n", name[k], before[k], n);
        else
            printf("  %-9s %d of %d found, median after %g steps; %d before\n", name[k],
                   found[k], n, found[k] ? steps[k][found[k] / 2] : NAN, before[k]);
        rh_free(steps[k]);
    }
    fflush(stdout);
}

static int alarms(const char *best, const char *env, int n, int64_t nstep, double times)
{
    plant p = {.cutoff = INT64_MAX, .times = times};
    rh_model *model = NULL;
    rh_best *file = NULL;
    rh_error err = {""};
    check(rh_best_read(&file, best, &err), &err);
    int64_t run = file->promise.nstep;
    nstep = nstep ? nstep : 2 * run;
    if (strncmp(env, "model:", 6) == 0) {
        check(rh_model_read(&model, env + 6, &err), &err);
        check(rh_model_env(&p.env, model, 0, NULL, &err), &err);
        p.cutoff = rh_model_cutoff(rh_model_log(model), run);
    } else {
        const rh_env_type *type = rh_env_find(env, &err);
        check(type ? RH_OK : RH_EINVAL, &err);
        check(rh_env_create(&p.env, type, NULL, &err), &err);
    }
    p.state = rh_alloc(1, rh_env_state_size(p.env));
    if (!p.state)
        return 1;
    printf("honest, %lld steps\n", (long long)nstep);
    count(&p, best, 0, n, nstep, INT64_MAX);
    printf("everything costs %g times as much from step %lld on, %lld steps\n", times,
           (long long)run / 2, (long long)(run / 2 + run / 10));
    count(&p, best, n, n, run / 2 + run / 10, run / 2);
    rh_free(p.state);
    rh_env_destroy(p.env);
    rh_model_destroy(model);
    rh_best_destroy(file);
    return 0;
}

// ---------------------------------------------------------------------------- a pipe

static double anywhere(double lo, double hi)
{
    return lo + (hi - lo) * rand() / RAND_MAX;
}

static int on_a_pipe(int argc, char **argv)
{
    const char *program = argv[2], *best = argv[3];
    int n = argc > 4 ? atoi(argv[4]) : 100000;
    int to[2], from[2];
    rh_best *file = NULL;
    rh_error err = {""};
    static char line[65536], reply[65536];
    double *us = rh_alloc((size_t)n, sizeof *us);
    check(rh_best_read(&file, best, &err), &err);
    if (!us || pipe(to) || pipe(from))
        return 1;
    if (fork() == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        if (strcmp(program, "cat") == 0)
            execlp(program, program, (char *)NULL);
        static char deploy[] = "deploy", to_file[] = "-o", folder[] = "bench.deploy";
        char *word[WORDS] = {argv[2], deploy, argv[3], to_file, folder};
        for (int i = 5; argc > 5 && argv[i] && i < WORDS - 1; i++)
            word[i] = argv[i];
        execv(program, word);
        _exit(1);
    }
    for (int i = 0; i < n; i++) {
        int used = sprintf(line, "{\"seq\":%d,\"reward\":%f,\"obs\":[", i, anywhere(-1.0, 0.0));
        for (int k = 0; k < file->nsent; k++)
            used += sprintf(line + used, "%s%f", k ? "," : "",
                            anywhere(file->task.obs_lo[k], file->task.obs_hi[k]));
        used += sprintf(line + used, "]%s}\n", file->task.naction ? ",\"controller\":0" : "");
        double begun = now();
        if (write(to[1], line, (size_t)used) != used || read(from[0], reply, sizeof reply) < 1)
            return 1;
        us[i] = 1e6 * (now() - begun);
    }
    qsort(us, (size_t)n, sizeof *us, ascending);
    printf("pipe: %d steps, median %.1f us, 99 %% %.1f us, 99.9 %% %.1f us, longest %.1f us\n",
           n, us[n / 2], us[n - n / 100 - 1], us[n - n / 1000 - 1], us[n - 1]);
    rh_free(us);
    rh_best_destroy(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "alarms") == 0)
        return alarms(argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 100,
                      argc > 5 ? atoll(argv[5]) : 0, argc > 6 ? atof(argv[6]) : 2.0);
    if (argc > 3 && strcmp(argv[1], "pipe") == 0)
        return on_a_pipe(argc, argv);
    fputs("usage: bench_deploy alarms BEST.yaml ENV|model:FILE [N] [STEPS] [TIMES]\n"
          "       bench_deploy pipe REHEARSE BEST.yaml [STEPS [OPTION...]]\n",
          stderr);
    return argc > 1 ? 2 : 0; // `make bench` runs it without arguments
}
