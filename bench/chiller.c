// chiller.c - a plant that is not in the paper, for bench/promises_of_tune.
//
//     chiller log STEPS SEED              a log of its rule-based controller, as CSV
//     chiller true MODEL STEPS RUNS NAME=A,B...
//                                         true scores of esarsa with every combination, as CSV
//
// A tank of cold water is cooled by a chiller of two stages while a building draws heat from
// it, more by day and when it is hot outside. Power costs 1 per unit, and every degree outside
// 6 to 8 costs 3. The rule keeps the tank between 5 and 10 degrees; an operator sets another
// stage for a quarter of an hour now and then. Learning agents let the tank warm to 29
// degrees or freeze it, where the log has never been. There is no trip and nothing is reset:
// what the agent does wrong it must undo.
//
// The agent is told the task of the model: the sensor ranges of the log with their margins.

#include "rehearse/rehearse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SETTINGS 1024
#define STEPS_A_DAY 288 // of five minutes

typedef struct chiller {
    double tank, outside, weather, heat; // degrees, degrees, degrees, units of heat
    int64_t minute;                      // number of the step
} chiller;

static void observe(const chiller *c, double *obs)
{
    obs[0] = c->tank;
    obs[1] = c->outside;
    obs[2] = c->heat;
}

static void draw_weather(chiller *c, rh_rng *rng)
{
    double z[2], day = rh_sin(6.283185307179586 * (double)c->minute / STEPS_A_DAY);
    rh_rng_normal(rng, z);
    c->weather = 0.995 * c->weather + 0.15 * z[0];
    c->outside = 24 + 6 * day + c->weather;
    c->heat = 0.35 + 0.15 * day + 0.015 * (c->outside - 24) + 0.03 * z[1];
}

static void start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    chiller *c = state;
    *c = (chiller){.tank = rh_rng_range(&streams->start, 6.5, 7.5)};
    c->minute = (int64_t)rh_rng_below(&streams->start, STEPS_A_DAY);
    draw_weather(c, &streams->start);
    observe(c, obs);
}

static bool step(const void *self, void *state, const double *act, rh_streams *streams,
                 double *obs, double *reward)
{
    (void)self;
    static const double power[] = {0, 1, 2.4}, cold[] = {0, 0.45, 0.9};
    chiller *c = state;
    int stage = (int)act[0];
    double z[2], efficiency = 1 - 0.02 * (c->outside - 24) + 0.015 * (c->tank - 7);
    rh_rng_normal(&streams->noise, z);
    c->tank += c->heat + 0.004 * (c->outside - c->tank) -
               cold[stage] * (efficiency > 0 ? efficiency : 0) + 0.03 * z[0];
    if (c->tank < 0) // ice
        c->tank = 0;
    double off = c->tank > 8 ? c->tank - 8 : c->tank < 6 ? 6 - c->tank : 0;
    *reward = -power[stage] - 3 * off;
    c->minute++;
    draw_weather(c, &streams->noise);
    observe(c, obs);
    return false;
}

static const rh_env_type chiller_type = {
    .name = "chiller",
    .about = "a tank of cold water",
    .state_size = sizeof(chiller),
    .start = start,
    .step = step,
};

static rh_error err;

static void check(rh_status status)
{
    if (status) {
        fprintf(stderr, "chiller: %s\n", err.text);
        exit(1);
    }
}

// ---------------------------------------------------------------------------- the log

static void write_log(int64_t nstep, uint64_t seed)
{
    rh_streams streams = {.start = rh_rng_stream(seed, RH_STREAM_START, 0, 0),
                          .noise = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0)};
    rh_rng hand = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    chiller c;
    double obs[3], reward;
    int stage = 0, other = 0, left = 0; // steps for which the operator's stage is kept
    start(NULL, &c, &streams, obs);
    printf("tank,outside,heat,stage,reward\n");
    for (int64_t i = 0; i < nstep; i++) {
        if (c.tank > 9)
            stage = 2;
        else if (c.tank > 7.5)
            stage = stage > 1 ? stage : 1;
        else if (c.tank < 6.5)
            stage = 0;
        if (left > 0)
            left--;
        else if (rh_rng_uniform(&hand) < 0.01) {
            other = (int)rh_rng_below(&hand, 3);
            left = 3;
        }
        double act = left > 0 ? other : stage, row[3];
        memcpy(row, obs, sizeof row);
        step(NULL, &c, &act, &streams, obs, &reward);
        printf("%.9g,%.9g,%.9g,%d,%.9g\n", row[0], row[1], row[2], (int)act, reward);
    }
}

// ---------------------------------------------------------------------------- true scores

// Every combination of the values in argv, the last name fastest. Returns their number.
static int combine(const rh_agent_type *agent, int narg, char **arg, double *hp)
{
    int n = 1;
    rh_param_initial(agent->param, agent->nparam, hp);
    for (int i = 0; i < narg; i++) {
        char name[32] = "", *next = strchr(arg[i], '=');
        int at, nvalue = 0;
        memcpy(name, arg[i], next ? (size_t)(next - arg[i]) : 0);
        check(rh_param_lookup(agent->param, agent->nparam, "esarsa", name, &at, &err));
        double value[16];
        while (next && *next && nvalue < 16)
            value[nvalue++] = strtod(next + 1, &next);
        if (n * nvalue > MOST_SETTINGS || nvalue == 0)
            exit(2);
        for (int j = n * nvalue - 1; j >= 0; j--) {
            memmove(hp + j * agent->nparam, hp + j / nvalue * agent->nparam,
                    (size_t)agent->nparam * sizeof *hp);
            hp[j * agent->nparam + at] = value[j % nvalue];
        }
        n *= nvalue;
    }
    return n;
}

static void write_true(const char *path, int64_t nstep, int nrun, int narg, char **arg)
{
    rh_model *model = NULL;
    check(rh_model_read(&model, path, &err));
    const rh_task *task = rh_model_task(model);
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_env *env = NULL;
    void *self = rh_alloc(1, 1);
    double *hp = rh_alloc(MOST_SETTINGS * (size_t)agent->nparam, sizeof *hp);
    rh_result *result = rh_alloc(MOST_SETTINGS * (size_t)nrun, sizeof *result);
    check(self && hp && result ? RH_OK : RH_ENOMEM);
    check(rh_env_adopt(&env, &chiller_type, task, NULL, self, sizeof(chiller), &err));
    int n = combine(agent, narg, arg, hp);
    rh_eval_options opt = rh_eval_defaults(task);
    opt.nstep = nstep;
    opt.nrun = nrun;
    opt.nthread = 2;
    check(rh_eval_runs(&env, 1, agent, task, n, hp, &opt, result, NULL, &err));
    for (int k = 0; k < agent->nparam; k++)
        printf("%s,", agent->param[k].name);
    printf("mean\n");
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int r = 0; r < nrun; r++)
            sum += result[i * nrun + r].score;
        for (int k = 0; k < agent->nparam; k++)
            printf("%.17g,", hp[i * agent->nparam + k]);
        printf("%.17g\n", sum / nrun);
    }
    rh_free(result);
    rh_free(hp);
    rh_env_destroy(env);
    rh_model_destroy(model);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "log") == 0)
        write_log(atoll(argv[2]), (uint64_t)atoll(argv[3]));
    else if (argc > 5 && strcmp(argv[1], "true") == 0)
        write_true(argv[2], atoll(argv[3]), atoi(argv[4]), argc - 5, argv + 5);
    else {
        fprintf(stderr, "usage: chiller log STEPS SEED | true MODEL STEPS RUNS NAME=A,B...\n");
        return 2;
    }
    return 0;
}
