// study.h - what other modules of the library use of study beside its public header.

#ifndef RH_STUDY_H
#define RH_STUDY_H

#include "base/expression.h"
#include "base/text.h"
#include "rehearse/study.h"

// How a dimension of the space relates to the agent's parameter.
typedef enum rh_plan__form {
    RH_FORM_PLAIN,     // the parameter itself
    RH_FORM_ONE_MINUS, // 1 - parameter
    RH_FORM_POW2       // its logarithm to the base 2
} rh_plan__form;

// Parts of a settled plan, borrowed from it.
const rh_agent_type *rh_plan__agent(const rh_plan *plan); // the first
int rh_plan__nagent(const rh_plan *plan);
const rh_agent_type *rh_plan__agent_at(const rh_plan *plan, int i); // NULL: no such one
// What is searched. Of several agents the first dimension is the agent.
const rh_space *rh_plan__searched(const rh_plan *plan);
// The agent's parameter of dimension d, by its number in the agent's table, and itself. *agent:
// which agent's; -1: it is the choice among them. Nullable: form, agent.
int rh_plan__param(const rh_plan *plan, int d, rh_plan__form *form);
const rh_param *rh_plan__dim(const rh_plan *plan, int d, int *agent, rh_plan__form *form);

// The value of dimension d of a trial, as its agent sees it; NAN: its agent has no such one.
double rh_plan__value_of(const rh_plan *plan, const rh_trial *trial, int d);

const rh_model *rh_study__model(const rh_study *study); // of the search stage

// The deficits of a curve after a further point y, in standard deviations; before: of
// the points before. mean, spread: the promised point, over nrun runs (docs/deploy.md).
double rh_promise__deficit(double before, double mean, double spread, int nrun, double y);

// A published grid, "acrobot:paper", as if its axes had been written. Nullable: where, err.
rh_status rh_plan__grid(rh_plan *plan, const char *grid, const char *where, rh_error *err);
// rh_plan_write(); from_root: by whole paths, for a file that is kept in another folder.
rh_status rh_plan__write(const rh_plan *plan, FILE *out, bool from_root, rh_error *err);
double rh_plan__real(const rh_plan *plan, const char *key);
const rh_env_type *rh_plan__task(const rh_plan *plan); // whose task is used; NULL: none

// The search method and its parameters (nparam). Nullable: param.
const rh_search_type *rh_plan__method(const rh_plan *plan, const double **param);
rh_judge rh_plan__judge(const rh_plan *plan);

// hp (nparam of its agent) of setting x (ndim) of the space; x NULL: of what is not searched. A
// plan that is not settled writes nothing.
void rh_plan__hp(const rh_plan *plan, const double *x, double *hp);

// Whether agents of a settled plan may begin with the log, by their parameter `start`, and
// whether those with hyperparameters hp (nparam) do.
bool rh_plan__begins_with_log(const rh_plan *plan);
bool rh_plan__starts_from_log(const rh_agent_type *agent, const double *hp);
int rh_plan__start_param(const rh_agent_type *agent); // its number, or -1

// The agent, by number, that practises in a model of the log for those that may begin with
// that; -1: none may.
int rh_plan__practising(const rh_plan *plan);

// The logged steps of best.yaml that agents of this plan begin with. Borrowed.
rh_prior rh_plan__prior(const rh_plan *plan);

// How runs are evaluated. log: the model's, NULL in a simulator. Nullable: err.
rh_status rh_plan__eval(const rh_plan *plan, const rh_task *task, const rh_log *log,
                        rh_eval_options *opt, rh_error *err);

// The simulator that the plan names, or a member of a model, with the options that the plan
// sets. Owned: *out, free with rh_env_destroy(). Borrowed: model. Nullable: model, err.
rh_status rh_plan__env(rh_env **out, const rh_plan *plan, const rh_model *model, int member,
                       rh_error *err);

// Put the ranges that the plan sets into a task. Nullable: err.
rh_status rh_plan__ranges(const rh_plan *plan, rh_task *task, rh_error *err);
void rh_ranks__meet(rh_ranks *ranks); // waits for all ranks to call this

const char *rh_answer__name(int answer); // "not known", "no", "yes"
const char *rh_often__name(int often);   // "unknown", "less often", ...

// "2 per 1000 steps", "0.1 % of steps": a rate of a limit
void rh_limits__say(const rh_constraint *limit, double rate, char text[60]);
const char *rh_limits__unit(rh_limit_unit unit); // "per 1000 steps"; NULL: there is none such
double rh_limits__scale(rh_limit_unit unit);     // a rate in this unit is a share times that

// The formula of limit i of best.yaml, of (next, act, reward): (nobs + nact + 1). Owned: *out,
// free with rh_expression__clear(), after a failure too. Nullable: err.
rh_status rh_limits__compile(rh_expression *out, const rh_best *best, int i, rh_error *err);

// Whether the setting is to be deployed: what every command, file and page goes by. trust.c
bool rh_trust__deploys(const rh_trust *trust);

// Whether a clone of the controller won: the controller stays, and the clone stands for it in
// the models. today.c
bool rh_study__clone_won(const rh_study *study);

// The command for what is to be done with best.yaml: nothing if a clone won, because the
// controller stays; beside the controller unless the setting is to be deployed.
void rh_study__deploy_command(rh_text *out, const rh_study *study);

// The kinds of model that the confirmation uses, the model's own first; NULL after the last.
const char *rh_study__kind(const rh_study *study, int i);

#endif
