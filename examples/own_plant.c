// own_plant.c - runs the agent of a best.yaml on a plant of one's own.
//
//     cc -std=c11 own_plant.c $(pkg-config --cflags --libs rehearse) -lm -o own_plant

#include <rehearse/deploy.h>

#include <math.h>
#include <stdio.h>

// Yours: apply an action, read the sensors after it. Here, a tank that cools.
static void plant(int action, double *obs)
{
    obs[0] += action == 0 ? 0.6 : action == 1 ? 0.1 : -0.5;
}

int main(int argc, char **argv)
{
    rh_deploy *agent = NULL;
    rh_deploy_reply reply;
    rh_error err = {""};
    double obs[RH_MAX_OBS] = {42.0, 1.6};
    rh_status rc = rh_deploy_open(&agent, argc > 1 ? argv[1] : "best.yaml", NULL, &err);
    for (int t = 0; t < 1000 && !rc; t++) {
        rh_deploy_seen seen = {
            .obs = obs, .reward = -fabs(obs[0] - 42.0), .seq = t, .time = NAN};
        rc = rh_deploy_step(agent, &seen, &reply, &err);
        if (!rc)
            plant((int)reply.act[0], obs);
        if (!rc)
            rc = rh_deploy_tick(agent, &err); // saves, if it is due
    }
    if (!rc)
        printf("learned from %lld steps\n", (long long)rh_deploy_health_of(agent).nlearned);
    rc = rc ? rc : rh_deploy_close(agent, &err);
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    return rc != RH_OK;
}
