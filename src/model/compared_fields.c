// compared_fields.c - the fields of a comparison of models.

#include "base/base.h"
#include "fields.h"
#include "linear_internal.h"
#include "model.h"

#include <string.h>

void rh_model__trial_name(const rh_model_trial *t, char *name, size_t size)
{
    int carry = rh_param_find(t->type->param, t->type->nparam, "carry");
    char by[80] = "", value[60] = "";
    if (carry >= 0 && strcmp(t->kind, "carrying") == 0) {
        rh_param__format(&t->type->param[carry], t->param[carry], value, sizeof value);
        snprintf(by, sizeof by, strcmp(value, "local") == 0 ? " locally" : " by %s", value);
    }
    if (t->type == &rh_model_linear && t->param[RH_LINEAR_RESIDUALS] == RH_LINEAR_NEAR)
        snprintf(by, sizeof by, " with neighbours");
    snprintf(name, size, "%s%s, %s", t->kind, by, t->repr->name);
}

// ---------------------------------------------------------------------------- a candidate

static void write_name(rh_doc *doc, const char *key, const rh_field_at *at)
{
    char name[120];
    rh_model__trial_name(at->data, name, sizeof name);
    rh_doc__text(doc, key, name);
}

static void write_type(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, ((const rh_model_trial *)at->data)->type->name);
}

static void write_params(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_model_trial *t = at->data;
    rh_doc__params(doc, key, t->type->param, t->type->nparam, t->param, NULL);
}

static void write_repr(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, ((const rh_model_trial *)at->data)->repr->name);
}

#define AT(member) RH_FIELD__AT(rh_model_trial, member)
#define PART(name, k)                                                                          \
    static const rh_field name##_row[] = {                                                     \
        {"score", AT(part[k]), NULL, "the part of the score"},                                 \
        {"at", RH_FIELD__ARRAY(rh_model_trial, at[k]), NULL, "after each horizon",             \
         .count = RH_COUNT_OUTER, .n = offsetof(rh_model_comparison, nhorizon)},               \
    };                                                                                         \
    static const rh_fields name = {#name, sizeof(rh_model_trial), RH_FIELD__ROWS(name##_row),  \
                                   .flat = true}
PART(states, RH_MODEL_STATE);
PART(rewards, RH_MODEL_REWARD);
PART(ends, RH_MODEL_END);

static const rh_field trial_row[] = {
    {"name", RH_FIELD__CALL, NULL, "kind, way of carrying and representation",
     .call = write_name},
    {"kind", AT(kind), NULL, "of model"},
    {"model", RH_FIELD__CALL, NULL, "type of model", .call = write_type},
    {"parameters", RH_FIELD__CALL, NULL, "of the model", .call = write_params},
    {"representation", RH_FIELD__CALL, NULL, "how states are compared", .call = write_repr},
    {"optional", AT(optional), NULL, "tried only if the others leave something to gain",
     .hidden = true},
    {"tried", AT(tried), NULL, "fitted and compared"},
    {"chosen", AT(chosen), NULL, "the model that is used"},
    {"credible", AT(credible), NULL,
     "the best of its kind, and not much worse than the chosen"},
    {"note", AT(note), NULL, "why it was chosen or not"},
    {"score", AT(score), NULL,
     "of replayed stretches: 0 perfect, 1 as a random stretch of the log"},
    {"stderr", AT(error), NULL, "standard error of the score"},
    {"beside", AT(beside), NULL, "replays beside the logged path", .fields = &rh_model__beside},
    {"total", AT(total), NULL, "mean of the scores along the path and beside it"},
    {"behind", AT(behind), NULL, "total minus that of the chosen model, paired"},
    {"behind_stderr", AT(behind_error), NULL, "standard error of this difference"},
    {"states", RH_FIELD__GROUP, NULL, "score of the states", .fields = &states},
    {"rewards", RH_FIELD__GROUP, NULL, "score of the sums of rewards", .fields = &rewards},
    {"ends", RH_FIELD__GROUP, NULL, "score of the ends of episodes", .fields = &ends},
    {"simulated_return", AT(simulated_return), NULL,
     "returns of the log's behaviour imitated in it", .fields = &rh_model__spread},
    {"simulated_length", AT(simulated_length), "steps", "lengths of imitated episodes",
     .fields = &rh_model__spread},
    {"simulated_terminated", AT(simulated_ended), NULL, "share of them that terminated"},
    {"imitation_apart", AT(imitation), NULL,
     "0: returns and lengths distributed as in the log, 1: all above or all below"},
};
#undef AT

const rh_fields rh_model__trial = {"compared model", sizeof(rh_model_trial),
                                   RH_FIELD__ROWS(trial_row)};

// ---------------------------------------------------------------------------- the comparison

#define AT(member) RH_FIELD__AT(rh_model_comparison, member)
static const rh_field row[] = {
    {"reason", AT(reason), NULL, "of the choice"},
    {"steps", AT(nstep), NULL, "of the log, or of the excerpt of it, that was used"},
    {"stretches", AT(nstretch), NULL, "that were replayed"},
    {"held_out_parts", AT(nunit), NULL, "episodes or blocks that the stretches are of"},
    {"folds", AT(nfold), NULL, "parts in which these were held out"},
    {"horizons", RH_FIELD__ARRAY(rh_model_comparison, horizon), "steps",
     "after which a replay was compared", .count = RH_COUNT_MEMBER,
     .n = offsetof(rh_model_comparison, nhorizon)},
    {"nhorizon", AT(nhorizon), NULL, "horizons; 0: nothing was replayed", .hidden = true},
    {"logged_return", AT(logged_return), NULL, "returns to be imitated",
     .fields = &rh_model__spread},
    {"logged_length", AT(logged_length), "steps", "lengths to be imitated",
     .fields = &rh_model__spread},
    {"logged_terminated", AT(logged_ended), NULL, "share of episodes that terminated"},
    {"models", RH_FIELD__ARRAY(rh_model_comparison, trial), NULL, "the simplest first",
     .fields = &rh_model__trial, .count = RH_COUNT_MEMBER,
     .n = offsetof(rh_model_comparison, ntrial)},
};

const rh_fields rh_model__comparison = {"comparison", sizeof(rh_model_comparison),
                                        RH_FIELD__ROWS(row)};

const rh_fields *rh_comparison_fields(void)
{
    return &rh_model__comparison;
}
