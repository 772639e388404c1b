// recipe.c - policies to log: how each is trained, and how many episodes its log should have.
//
// The agents and criteria of Acrobot and Puddle World are those of the paper's authors (the
// settings of their code); the windows are from the paper's appendix on collecting offline
// logs. Recipes are optional: an environment without an entry has the random policy.
//
// 1. The authors' criteria and the paper's windows are two conditions, and few policies that
//    meet the first meet the second: a policy frozen at 200 steps an episode has learned during
//    those steps and is better afterwards. The authors kept the logs inside the window, and so
//    do we; a log costs milliseconds.
// 2. Cartpole's agent is the authors' except for the temperature. Theirs is 1, but with a
//    discount of 0.9 all values are within 1 of each other, so the policy is nearly random (383
//    failures in 10,000 steps at the best step size tried). With 0.03 their criterion gives 36
//    to 105 failures, and half of the logs are inside the paper's window. They trained the
//    medium policy for 1,000 steps; a criterion puts more logs inside the window.
// 3. The changed Acrobot takes about twice the steps, so levels are doubled and windows halved.
// 4. Mountain car and pendulum are not in the paper; all their numbers are ours. The pendulum
//    never terminates, and a policy that holds it up would log nothing else, so its episodes
//    are truncated after 200 steps, as in Gymnasium.
// 5. For a length that the paper does not have, the window of the longest log is scaled, its
//    ends rounded outwards. Below 1,000 steps that would be random, so there is no window.

#include "recipe.h"

#include "base/base.h"
#include "rehearse/agent.h"

#include <string.h>

#define ANY INT64_MAX    // no upper limit
#define NEVER INT64_MAX  // no time limit
#define SCALED_FROM 1000 // decision 5
#define AUTHORS "the paper's authors"
#define ALMOST "the paper's authors, except tau"
#define OURS "our own settings"

#define ACROBOT(alpha)                                                                         \
    .agent = "esarsa",                                                                         \
    .hp = {{"alpha", alpha},                                                                   \
           {"beta1", "0.405"},                                                                 \
           {"tau", "0.338"},                                                                   \
           {"w_init", "4.03"},                                                                 \
           {"lambda", "0.885"}},                                                               \
    .patience = 100000, .cutoff = NEVER, .random = true
#define PUDDLE_WORLD(alpha)                                                                    \
    .agent = "esarsa",                                                                         \
    .hp = {{"alpha", alpha},                                                                   \
           {"beta1", "0.342"},                                                                 \
           {"tau", "0.122"},                                                                   \
           {"w_init", "4.27"},                                                                 \
           {"lambda", "0.143"}},                                                               \
    .patience = 100000, .cutoff = NEVER
#define CARTPOLE                                                                               \
    .agent = "esarsa",                                                                         \
    .hp = {{"alpha", "0.0067"},                                                                \
           {"tau", "0.03"},                                                                    \
           {"lambda", "0.942"},                                                                \
           {"tiles", "2"},                                                                     \
           {"optimiser", "sgd"}},                                                              \
    .patience = 100000, .cutoff = NEVER, .random = true
#define MOUNTAIN_CAR                                                                           \
    .agent = "esarsa", .hp = {{"alpha", "0.1"}, {"tau", "1"}, {"lambda", "0.95"}},             \
    .patience = 100000, .cutoff = NEVER
#define PENDULUM .agent = "gaussian_actor_critic", .patience = 500000, .cutoff = 200
#define UNTRAINED .agent = "random", .enough = RH_ENOUGH_STEPS, .span = 0, .patience = 1

static const cli_recipe recipe[] = {
    {"acrobot", false, "near-optimal", AUTHORS, ACROBOT("0.0473"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 100, .window = {{5000, 50, ANY}}, .paper = true},
    {"acrobot", false, "medium", AUTHORS, ACROBOT("0.00189"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 200, .window = {{5000, 20, 30}, {1000, 4, 6}, {500, 2, 3}},
     .paper = true},
    {"acrobot", false, "naive", AUTHORS, ACROBOT("0.000189"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 400, .window = {{5000, 10, 15}}, .paper = true},
    {"acrobot", false, "random", OURS, UNTRAINED, .cutoff = NEVER, .random = true},
    {"acrobot", true, "near-optimal", OURS, ACROBOT("0.0473"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 200, .window = {{5000, 25, ANY}}},
    {"acrobot", true, "medium", OURS, ACROBOT("0.00189"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 400, .window = {{5000, 10, 15}}},
    {"acrobot", true, "naive", OURS, ACROBOT("0.000189"), .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 800, .window = {{5000, 5, 8}}},
    {"acrobot", true, "random", OURS, UNTRAINED, .cutoff = NEVER, .random = true},

    {"puddle_world", false, "near-optimal", AUTHORS, PUDDLE_WORLD("0.353"),
     .enough = RH_ENOUGH_RETURN, .span = 1000, .level = -40, .window = {{5000, 201, ANY}},
     .paper = true},
    {"puddle_world", false, "medium", AUTHORS, PUDDLE_WORLD("0.0441"),
     .enough = RH_ENOUGH_RETURN, .span = 1000, .level = -80,
     .window = {{5000, 80, 100}, {1000, 16, 20}, {500, 8, 10}}, .paper = true},
    {"puddle_world", false, "naive", AUTHORS, PUDDLE_WORLD("0.0353"),
     .enough = RH_ENOUGH_RETURN, .span = 1000, .level = -160, .window = {{5000, 20, 50}},
     .paper = true},

    {"cartpole", false, "near-optimal", ALMOST, CARTPOLE, .enough = RH_ENOUGH_REWARD,
     .span = 2500, .level = -0.005, .window = {{10000, 40, 50}}, .paper = true},
    {"cartpole", false, "medium", ALMOST, CARTPOLE, .enough = RH_ENOUGH_REWARD, .span = 2500,
     .level = -0.012, .window = {{10000, 80, 125}}, .paper = true},
    {"cartpole", false, "naive", AUTHORS, UNTRAINED, .cutoff = NEVER, .random = true,
     .window = {{10000, 400, 500}}, .paper = true},
    {"cartpole", false, "random", AUTHORS, UNTRAINED, .cutoff = NEVER, .random = true,
     .window = {{10000, 400, 500}}, .paper = true},

    {"mountain_car", false, "near-optimal", OURS, MOUNTAIN_CAR, .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 120, .window = {{5000, 38, ANY}}},
    {"mountain_car", false, "medium", OURS, MOUNTAIN_CAR, .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 250, .window = {{5000, 20, 30}}},
    {"mountain_car", false, "naive", OURS, MOUNTAIN_CAR, .enough = RH_ENOUGH_LENGTH,
     .span = 2000, .level = 500, .window = {{5000, 10, 15}}},

    {"pendulum", false, "near-optimal", OURS, PENDULUM, .enough = RH_ENOUGH_REWARD,
     .span = 4000, .level = -0.8},
    {"pendulum", false, "medium", OURS, PENDULUM, .enough = RH_ENOUGH_REWARD, .span = 4000,
     .level = -2},
    {"pendulum", false, "naive", OURS, PENDULUM, .enough = RH_ENOUGH_REWARD, .span = 4000,
     .level = -4},
    {"pendulum", false, "random", OURS, UNTRAINED, .cutoff = 200},

    {NULL, false, "random", OURS, UNTRAINED, .cutoff = NEVER},
};
#define NRECIPE ((int)(sizeof recipe / sizeof *recipe))

static const rh_setting changed_acrobot[] = {
    {"link_length_1", "2"}, {"link_mass_1", "2"}, {NULL, NULL}};

const cli_recipe *cli_recipe_at(int i)
{
    return i >= 0 && i < NRECIPE ? &recipe[i] : NULL;
}

const cli_recipe *cli_recipe_find(const char *env, const char *policy, bool changed,
                                  rh_error *err)
{
    const char *known[NRECIPE];
    bool published = false;
    int nknown = 0;
    for (int i = 0; i < NRECIPE; i++) {
        const cli_recipe *r = &recipe[i];
        if (r->changed != changed || (r->env && strcmp(r->env, env) != 0))
            continue;
        if (strcmp(r->policy, policy) == 0)
            return r;
        // the random policy of any environment comes last
        if (!nknown || strcmp(known[nknown - 1], r->policy) != 0)
            known[nknown++] = r->policy;
        published = published || r->env;
    }
    if (!published && !changed) {
        rh_fail(err, RH_EINVAL,
                "%s: no policy '%s': it has no published policies, expected random", env,
                policy);
        return NULL;
    }
    char what[96];
    snprintf(what, sizeof what, "%s: no policy", env);
    rh_base__unknown(err, what, policy, known, nknown);
    return NULL;
}

const rh_setting *cli_recipe_changed(const char *env, rh_error *err)
{
    if (strcmp(env, "acrobot") == 0)
        return changed_acrobot;
    rh_fail(err, RH_EINVAL, "%s: the paper has no changed version of it, expected acrobot",
            env);
    return NULL;
}

rh_status cli_recipe_hyperparameters(const cli_recipe *r, const rh_agent_type *agent,
                                     double *hp, rh_error *err)
{
    rh_param_initial(agent->param, agent->nparam, hp);
    for (int i = 0; r->hp[i].name; i++) {
        int at = -1;
        rh_status rc =
            rh_param_lookup(agent->param, agent->nparam, agent->name, r->hp[i].name, &at, err);
        if (!rc)
            rc = rh_param_parse(&agent->param[at], agent->name, r->hp[i].value, &hp[at], err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

cli_window_kind cli_recipe_window(const cli_recipe *r, int64_t nstep, cli_window *window)
{
    *window = (cli_window){nstep, 0, ANY};
    for (int i = 0; r->window[i].nstep; i++)
        if (r->window[i].nstep == nstep) {
            *window = r->window[i];
            return CLI_WINDOW_GIVEN;
        }
    const cli_window *longest = &r->window[0];
    if (!longest->nstep || nstep < SCALED_FROM)
        return CLI_WINDOW_NONE;
    window->least = longest->least * nstep / longest->nstep;
    if (longest->most < ANY)
        window->most = (longest->most * nstep + longest->nstep - 1) / longest->nstep;
    return CLI_WINDOW_SCALED;
}
