// eval_internal.h - shared by the files of the eval module.

#ifndef EVAL_INTERNAL_H
#define EVAL_INTERNAL_H

#include "base/base.h"
#include "eval.h"

#include <stdatomic.h>

// Segments of a continuing run, which stand for episodes (the paper's n_steps / 30).
#define RH_EVAL__NSEGMENT 30

// The feature caches of a batch of runs, made before the first run.
typedef struct rh_feature_caches {
    int nbuild;                       // different sets of fixed parameters among the settings
    int *build;                       // owned: which of them a setting has     (nsetting)
    int *first;                       // owned: first setting of each           (nbuild)
    int nset;                         // different sets of fixed observations among the members
    int set[RH_MAX_MEMBER];           // which of them a member has; -1: none
    const double *obs[RH_MAX_MEMBER]; // borrowed: each set                     (nset)
    int32_t nobs[RH_MAX_MEMBER];      // its size                               (nset)
    bool finite[RH_MAX_MEMBER];       // whether it is all finite               (nset)
    rh_feature_cache **cache;         // owned, entries may be NULL             (nbuild x nset)
} rh_feature_caches;

// Group settings hp (nsetting x nparam) by their fixed parameters, and members by their fixed
// observations. Call clear also after a failure.
rh_status rh_feature_caches__sort(rh_feature_caches *caches, rh_env *const *env, int nmember,
                                  const rh_agent_type *agent, const rh_task *task, int nsetting,
                                  const double *hp, rh_error *err);

// Make the caches. Agents with every set of fixed parameters have been created before.
rh_status rh_feature_caches__fill(rh_feature_caches *caches, const rh_agent_type *agent,
                                  const rh_task *task, const double *hp, rh_error *err);
void rh_feature_caches__clear(rh_feature_caches *caches);

// Whether two settings have equal fixed parameters.
bool rh_feature_caches__alike(const rh_agent_type *type, const double *a, const double *b);

// The cache of a setting in a member, or NULL.
const rh_feature_cache *rh_feature_caches__of(const rh_feature_caches *caches, int setting,
                                              int member);

// Whether all observations of a member are known to be finite.
bool rh_feature_caches__finite(const rh_feature_caches *caches, int member);

// The rewards of a run so far.
typedef struct rh_tally {
    double total;     // sum of rewards
    double episode;   // reward of the current episode
    int64_t length;   // steps of the current episode
    int64_t nepisode; // episodes completed
    double completed; // sum of their returns
    double worst;     // lowest of them
    double *returns;  // borrowed: each of them, for the median; else NULL
    double point;     // sum of the returns since the last point of the learning curve
    int64_t npoint;   // their number
    double mark;      // total at the last point of the learning curve
} rh_tally;

void rh_tally__begin(rh_tally *tally, double *returns);
void rh_tally__reward(rh_tally *tally, double reward);
void rh_tally__end_episode(rh_tally *tally);

// The next point of the learning curve: the mean return of the episodes that ended since the
// last point (NAN for none), or the reward since then in a continuing task.
double rh_tally__point(rh_tally *tally, bool continuing);

// The score; sorts returns in place for RH_MEDIAN.
double rh_tally__score(rh_tally *tally, rh_criterion criterion);

// The memory of one thread, reused from run to run.
typedef struct rh_eval__worker {
    rh_agent *agent; // owned; NULL before the first run
    void *state;     // owned, of the environment
    double *returns; // owned, for the median  (nstep)
} rh_eval__worker;

// What all runs share: read-only except for the flag and the workers.
struct rh_runner {
    rh_env *const *env; // borrowed  (nmember)
    int nmember;
    const rh_agent_type *agent;
    const rh_task *task; // told
    rh_task told;        // what agents are told, with the length of these runs
    rh_eval_options opt;
    rh_eval__worker *worker; // owned  (nworker)
    int nworker;
    rh_feature_caches caches;
    double *hp;          // owned: the setting of the caches; NULL for a batch  (nparam)
    atomic_bool stopped; // begin no run and stop the current ones
};

// Initialise a zeroed runner with nworker workers for settings hp (nsetting x nparam). Reports
// an error in any setting. Call clear also after a failure. runner.c
rh_status rh_runner__init(rh_runner *runner, rh_env *const *env, int nmember,
                          const rh_agent_type *agent, const rh_task *task, int nsetting,
                          const double *hp, const rh_eval_options *opt, int nworker,
                          rh_error *err);
void rh_runner__clear(rh_runner *runner);

rh_status rh_runner__check(const rh_eval_options *opt, int nmember, rh_error *err);

// Prepare the worker's agent for a run. On failure the worker has no agent.
rh_status rh_runner__new_agent(const rh_runner *runner, rh_eval__worker *worker,
                               const double *hp, rh_error *err);

// Whether the caller wants to stop, or a run has failed.
bool rh_runner__stopped(rh_runner *runner);

// One run to do.
typedef struct rh_eval__job {
    const double *hp;              // (nparam)
    int setting;                   // for events
    int member;                    //
    uint64_t run;                  // added to opt.first_run
    const rh_feature_cache *cache; // nullable
    double *curve;                 // borrowed, nullable  (ncurve)
} rh_eval__job;

// Do it. A run that did not begin is RH_STOPPED. run.c
rh_status rh_run__run(rh_runner *runner, int worker, const rh_eval__job *job, rh_result *result,
                      rh_error *err);

#endif
