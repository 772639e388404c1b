// plant_truth.c - the plant of plant.py as an environment: is a study's promise kept?
//
//     rehearse tune examples/plant.yaml
//     plant_truth plant.study/study.model alpha=0.02 tau=0.002 lambda=0
//
// Makes 100 training runs of esarsa with these hyperparameters in the true plant, and as many
// in the calibration model. On a real plant nobody can do this; here it shows what a model is
// worth.

#include <rehearse/rehearse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NRUN 100

typedef struct plant {
    double temp, level, drain;
} plant;

static const char *const *pump; // names of the actions, in the order of the log

static void plant_observe(const plant *p, double *obs)
{
    obs[0] = p->temp;
    obs[1] = p->level;
}

static void plant_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    (void)self;
    plant *p = state;
    p->temp = rh_rng_range(&streams->start, 38, 46);
    p->level = rh_rng_range(&streams->start, 1.5, 2.5);
    p->drain = 0.06;
    plant_observe(p, obs);
}

static bool plant_step(const void *self, void *state, const double *act, rh_streams *streams,
                       double *obs, double *reward)
{
    (void)self;
    static const double drains[] = {0.01, 0.06, 0.1, 0.19};
    plant *p = state;
    rh_rng *rng = &streams->noise;
    const char *name = pump[(int)act[0]];
    bool low = strcmp(name, "low") == 0, high = strcmp(name, "high") == 0;
    double power = low ? 0.4 : high ? 1.1 : 0, flow = low ? 0.07 : high ? 0.16 : 0;
    double energy = power * rh_rng_range(rng, 0.95, 1.05), z[2];

    if (rh_rng_uniform(rng) < 0.05)
        p->drain = drains[rh_rng_below(rng, 4)];
    rh_rng_normal(rng, z);
    double cooling = 2.2 * flow * (p->temp - 12) / 20 / (p->level > 0.3 ? p->level : 0.3);
    p->temp += 0.05 * (48 - p->temp) - cooling + 0.08 * z[0];
    p->level += flow - p->drain + 0.012 * z[1];
    bool trip = p->level < 0.3 || p->level > 3.4;
    *reward = -energy - 50 * trip;
    plant_observe(p, obs);
    return trip;
}

static const rh_env_type plant_type = {
    .name = "plant",
    .about = "the heated tank of plant.py",
    .state_size = sizeof(plant),
    .start = plant_start,
    .step = plant_step,
};

static rh_error err;

static void check(rh_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static void report(const char *where, rh_env *env, const rh_agent_type *agent,
                   const rh_task *task, const double *hp, const rh_eval_options *opt)
{
    static rh_result result[NRUN];
    double score[NRUN], work[NRUN];
    check(rh_eval_runs(&env, 1, agent, task, 1, hp, opt, result, NULL, &err));
    for (int i = 0; i < NRUN; i++)
        score[i] = result[i].score;
    rh_summary s = rh_summarise(score, NRUN, work);
    printf("%s: %.1f (95 %% interval %.1f to %.1f)\n", where, s.mean, s.lo95, s.hi95);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: plant_truth MODEL [NAME=VALUE...]\n");
        return 2;
    }
    rh_model *model = NULL;
    check(rh_model_read(&model, argv[1], &err));
    const rh_task *task = rh_model_task(model);
    pump = rh_model_log(model)->label;

    // the agent to deploy
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    double hp[32];
    rh_param_initial(agent->param, agent->nparam, hp);
    for (int i = 2; i < argc; i++) {
        char name[32] = "";
        size_t length = strcspn(argv[i], "=");
        int at;
        memcpy(name, argv[i], length < sizeof name ? length : sizeof name - 1);
        check(rh_param_lookup(agent->param, agent->nparam, "esarsa", name, &at, &err));
        check(rh_param_parse(&agent->param[at], "esarsa",
                             argv[i] + length + (argv[i][length] != 0), &hp[at], &err));
    }

    rh_env *in_model = NULL, *in_plant = NULL;
    check(rh_model_env(&in_model, model, 0, NULL, &err));
    void *self = rh_alloc(1, 1);
    check(self ? rh_env_adopt(&in_plant, &plant_type, task, NULL, self, sizeof(plant), &err)
               : RH_ENOMEM);
    rh_eval_options opt = rh_eval_defaults(task);
    opt.nrun = NRUN;
    opt.cutoff = rh_model_cutoff(rh_model_log(model), opt.nstep);
    report("in the model", in_model, agent, task, hp, &opt);
    report("in the plant", in_plant, agent, task, hp, &opt);

    rh_env_destroy(in_plant);
    rh_env_destroy(in_model);
    rh_model_destroy(model);
    return 0;
}
