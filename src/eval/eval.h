// eval.h - what other modules of the library use of eval beside its public header.

#ifndef RH_EVAL_H
#define RH_EVAL_H

#include "describe/field.h"
#include "rehearse/eval.h"

extern const rh_fields rh_eval__result;  // rh_result
extern const rh_fields rh_eval__summary; // rh_summary

// The value of a setting.
typedef struct rh_value__estimate {
    double value;      // NAN when no run is finished in all members
    double noise;      // variance of the value over other runs; NAN: unknown
    double lo95, hi95; // 95 % interval, over the runs of one member or the means of several;
                       // NAN: unknown
    int nrun;          // runs finished in all members
} rh_value__estimate;

// For callers that schedule runs themselves: one run at a time, with the same results.
typedef struct rh_runner rh_runner;

// Create a runner with opt->nthread workers; opt->watch is not called. Settings with the fixed
// parameters of hp (nparam) use feature caches. Borrowed: env, opt->state. Copied: task. Owned:
// *out, free with rh_runner__destroy(). Nullable: opt, hp, err.
rh_status rh_runner__create(rh_runner **out, rh_env *const *env, int nmember,
                            const rh_agent_type *agent, const rh_task *task, const double *hp,
                            const rh_eval_options *opt, rh_error *err);
void rh_runner__destroy(rh_runner *runner); // NULL is allowed

// Do run number first_run + run of setting hp (nparam) in a member, 0 .. nmember - 1, on a
// worker, 0 .. nthread - 1. Only one thread at a time may use a worker. A run that is RH_FAILED
// is done, and err has its reason. Nullable: curve (ncurve), err.
rh_status rh_runner__run(rh_runner *runner, int worker, const double *hp, int member,
                         uint64_t run, rh_result *result, double *curve, rh_error *err);

// Pool score (nmember), each the mean of a member's runs; NAN when one of them is, or unless
// 1 <= nmember <= RH_MAX_MEMBER.
double rh_pool__score(rh_pool pool, const double *score, int nmember);
const char *const *rh_pool__names(int *n);   // in order of the enum
const char *const *rh_across__names(int *n); // in order of the enum

// Length of the scratch array of the next two functions, for settings of at most nrun runs.
size_t rh_value__nwork(int nmember, int nrun);

// The value of result (nmember x nrun). score (nrun): the contribution of each finished run, in
// order; their mean is the value. Scratch: work. Nullable: score.
rh_value__estimate rh_value__of(rh_judge judge, int nmember, int nrun, const rh_result *result,
                                double *score, double *work);

// Whether a setting is statistically tied with the best (95 %), by the differences of the runs
// that both have finished; these share their random streams. best: (nmember x nbest), other:
// (nmember x nother). Scratch: work, for the larger of the two.
bool rh_value__tied(rh_judge judge, int nmember, int nbest, const rh_result *best, int nother,
                    const rh_result *other, double *work);

// The names of the criteria, in order of the enum.
const char *const *rh_criterion__names(int *n);

#endif
