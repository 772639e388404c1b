// recipe.h - policies to log in a simulator, and how to train them: for `collect`, and for the
// logs of the paper's experiments.

#ifndef CLI_RECIPE_H
#define CLI_RECIPE_H

#include "rehearse/log.h"

// How many episodes (or failures) a log of nstep steps should have.
typedef struct cli_window {
    int64_t nstep;
    int64_t least, most;
} cli_window;

// A policy to log and how to train it.
typedef struct cli_recipe {
    const char *env;    // NULL: any environment
    bool changed;       // for the paper's changed environment
    const char *policy; // "near-optimal", ...
    const char *source; // whose settings these are
    const char *agent;
    rh_setting hp[10]; // of the agent, ends with a NULL name
    rh_enough enough; // when training ends; this and the next four are as in rh_collect_options
    int64_t span;     //
    double level;     //
    int64_t patience; //
    int64_t cutoff;   //
    bool random;      // log episodes with the environment option start = random
    cli_window window[4]; // by length of the log, longest first; ends with nstep = 0
    bool paper;           // the windows are the paper's
} cli_recipe;

const cli_recipe *cli_recipe_at(int i); // NULL after the last

// The recipe for a policy in `env`, or in the paper's changed `env`. Every environment has
// "random". If there is none: NULL, and a message that lists the policies. Nullable: err.
const cli_recipe *cli_recipe_find(const char *env, const char *policy, bool changed,
                                  rh_error *err);

// The options of the paper's changed environment, ending with a NULL name. NULL and a message
// if the paper does not change `env`. Nullable: err.
const rh_setting *cli_recipe_changed(const char *env, rh_error *err);

// The hyperparameters hp (nparam) of a recipe's agent.
rh_status cli_recipe_hyperparameters(const cli_recipe *recipe, const rh_agent_type *agent,
                                     double *hp, rh_error *err);

typedef enum cli_window_kind {
    CLI_WINDOW_NONE,  // any number of episodes is accepted
    CLI_WINDOW_GIVEN, // the recipe has a window for this length
    CLI_WINDOW_SCALED // scaled from the window of the longest log
} cli_window_kind;

// The window for a log of nstep steps.
cli_window_kind cli_recipe_window(const cli_recipe *recipe, int64_t nstep, cli_window *window);

#endif
