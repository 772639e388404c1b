// main.c - a program outside the project, built against what was installed.

#include <rehearse/rehearse.h>
#include <stdio.h>

int main(void)
{
    rh_error err;
    rh_env *env = NULL;
    rh_result result[2];
    if (rh_env_create(&env, rh_env_type_at(0), NULL, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    const rh_agent_type *agent = rh_agent_find("random", &err);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 100;
    opt.nrun = opt.nthread = 2;
    rh_status rc = agent ? rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, NULL, &opt, result,
                                        NULL, &err)
                         : RH_EINVAL;
    rh_env_destroy(env);
    if (rc) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("rehearse %s: %d steps\n", rh_version(), (int)(result[0].nstep + result[1].nstep));
    return result[0].nstep + result[1].nstep == 200 ? 0 : 1;
}
