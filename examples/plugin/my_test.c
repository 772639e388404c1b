// my_test.c - tests of the plug-in: its kinds are registered by hand, without loading a file.
//
//     a seed repeats its runs; the agent does better than random actions

#include "my_plugin.h"

#include <rehearse/eval.h>

#include <stdio.h>

enum { NRUN = 5 };

static double mean_score(rh_env *env, const char *name, uint64_t seed)
{
    rh_error err = {""};
    rh_result result[NRUN];
    const rh_agent_type *agent = rh_agent_find(name, &err);
    double hp[RH_MAX_PARAM], sum = 0.0;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nrun = NRUN;
    opt.seed = seed;
    rh_status rc = agent ? RH_OK : RH_EINVAL;
    if (!rc) {
        rh_param_initial(agent->param, agent->nparam, hp);
        rc = rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result, NULL, &err);
    }
    if (rc)
        printf("%s: %s\n", name, err.text);
    for (int i = 0; i < NRUN && !rc; i++)
        sum += result[i].score;
    return rc ? 0.0 : sum / NRUN;
}

int main(void)
{
    rh_error err = {""};
    rh_env *env = NULL;
    rh_status rc = rh_agent_register(&my_sarsa_type, &err);
    if (!rc)
        rc = rh_env_register(&my_tank_type, &err);
    if (!rc)
        rc = rh_env_create(&env, &my_tank_type, NULL, &err);
    if (rc) {
        printf("%s\n", err.text);
        return 1;
    }
    double mine = mean_score(env, "my_sarsa", 1), again = mean_score(env, "my_sarsa", 1);
    double other = mean_score(env, "my_sarsa", 2), random = mean_score(env, "random", 1);
    printf("my_sarsa %.2f, with another seed %.2f, random actions %.2f\n", mine, other, random);
    rh_env_destroy(env);
    return !(mine == again && mine != other && mine > random);
}
