// fidelity_fields.c - the fields of a model's fidelity.

#include "fields.h"

// ---------------------------------------------------------------------------- its parts

#define AT(member) RH_FIELD__AT(rh_fidelity_error, member)
static const rh_field error_row[] = {
    {"name", RH_FIELD__SELF(RH_FIELD_SENSOR), NULL, "the sensor"},
    {"model", AT(model), NULL, "root mean square error of the model"},
    {"mean", AT(mean), NULL, "of always predicting the mean"},
    {"persistence", AT(persistence), NULL, "of predicting no change"},
};
#undef AT

enum { NERROR = sizeof error_row / sizeof *error_row };
static const rh_fields sensor_error = {"sensor error", sizeof(rh_fidelity_error), error_row,
                                       NERROR, .flat = true};
static const rh_fields error = {"error", sizeof(rh_fidelity_error), error_row + 1, NERROR - 1,
                                .flat = true};

#define AT(member) RH_FIELD__AT(rh_fidelity_spread, member)
static const rh_field spread_row[] = {
    {"n", AT(n), NULL, "episodes, or stretches of a continuing log"},
    {"q25", AT(q25), NULL, "25 % quantile"},
    {"median", AT(median), NULL, "median"},
    {"q75", AT(q75), NULL, "75 % quantile"},
    {"mean", AT(mean), NULL, "mean"},
};
#undef AT

const rh_fields rh_model__spread = {"spread", sizeof(rh_fidelity_spread),
                                    RH_FIELD__ROWS(spread_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_fidelity_action, member)
static const rh_field action_row[] = {
    {"name", RH_FIELD__SELF(RH_FIELD_ACTION), NULL, "the action"},
    {"share", AT(share), NULL, "share of the log's steps"},
    {"out_of_coverage", AT(out_of_coverage), NULL,
     "share of the states in which it is out of coverage"},
    {"nearest", AT(nearest), "median steps",
     "median distance from a state where another action was taken to its nearest step"},
};
#undef AT

static const rh_fields action = {"action", sizeof(rh_fidelity_action),
                                 RH_FIELD__ROWS(action_row), .flat = true};

// ---------------------------------------------------------------------------- the whole

#define AT(member) RH_FIELD__AT(rh_fidelity, member)
static const rh_field held_out_row[] = {
    {"steps", AT(nheld), NULL, "held-out transitions that were predicted"},
    {"folds", AT(nfold), NULL, "parts of the log that were held out in turn"},
    {"out_of_coverage", AT(held_out_of_coverage), NULL,
     "share of the steps, not in the errors"},
    {"representation", AT(state), NULL, "error between codes", .fields = &error},
    {"reward", AT(reward), NULL, "error of the reward", .fields = &error},
    {"termination", AT(terminal), NULL, "error of the predicted probability of an end",
     .fields = &error},
    {"sensors", RH_FIELD__LIST(rh_fidelity, sensor), NULL, "errors in the sensors' own units",
     .fields = &sensor_error, .count = RH_COUNT_SENSORS},
};

static const rh_fields held_out = {"held_out", sizeof(rh_fidelity),
                                   RH_FIELD__ROWS(held_out_row)};

static const rh_field row[] = {
    {"held_out", RH_FIELD__GROUP, NULL, "predictions of held-out steps", .fields = &held_out},
    {"logged_return", AT(logged_return), NULL, "returns of the log's episodes or stretches",
     .fields = &rh_model__spread},
    {"simulated_return", AT(simulated_return), NULL,
     "returns of the log's behaviour imitated in the model", .fields = &rh_model__spread},
    {"logged_length", AT(logged_length), "steps", "lengths of the log's episodes",
     .fields = &rh_model__spread},
    {"simulated_length", AT(simulated_length), "steps", "lengths of imitated episodes",
     .fields = &rh_model__spread},
    {"logged_truncated", AT(logged_truncated), NULL,
     "share of the log's episodes that did not terminate"},
    {"simulated_truncated", AT(simulated_truncated), NULL, "share of the imitated ones"},
    {"cutoff", AT(cutoff), "steps",
     "time limit of an imitated episode, or length of a stretch"},
    {"stitched", AT(stitched), NULL, "share of imitated steps that leave a logged path"},
    {"jump_median", AT(jump), "median steps", "median distance of such a stitch"},
    {"jump_q90", AT(jump90), "median steps", "90 % quantile of this distance"},
    {"random_jump_median", AT(random_jump), "median steps", "the median with random actions"},
    {"random_return", AT(random_return), NULL, "mean return of random actions in the model"},
    {"random_better", AT(random_better), NULL,
     "share of random episodes that beat the log's median return"},
    {"logged_better", AT(logged_better), NULL, "share of the log's episodes that do"},
    {"random_steps", AT(random_steps), "steps", "random steps per such episode; unknown: none"},
    {"reach", AT(reach), NULL, "coverage radius in codes; unknown: none"},
    {"median_step", AT(step), NULL, "median length of a logged step, in codes"},
    {"out_of_coverage", AT(out_of_coverage), NULL,
     "share of pairs of state and action out of coverage"},
    {"actions", RH_FIELD__LIST(rh_fidelity, action), NULL, "discrete actions",
     .fields = &action, .count = RH_COUNT_ACTIONS},
    {"experiments", AT(experiments), NULL, "natural experiments of the log",
     .fields = &rh_model__experiments},
    {"beside", AT(beside), NULL, "replays beside the logged path", .fields = &rh_model__beside},
    {RH_FIELD__FINDINGS(rh_fidelity, findings)},
};

const rh_fields rh_model__fidelity = {"fidelity", sizeof(rh_fidelity), RH_FIELD__ROWS(row)};

const rh_fields *rh_fidelity_fields(void)
{
    return &rh_model__fidelity;
}
