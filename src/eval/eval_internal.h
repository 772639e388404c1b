// eval_internal.h - what the files of the eval room share.

#ifndef EVAL_INTERNAL_H
#define EVAL_INTERNAL_H

#include "rehearse/eval.h"

#include <stdatomic.h>

// The stretches a continuing run is divided into, where episodes are asked for (the paper's
// n_steps / 30).
#define RH_EVAL__NSTRETCH 30

// What agents will see in the fixed observations of the members, worked out before the first
// run.
typedef struct rh_feature_caches {
    int nbuild;                         // ways of building an agent among the settings
    int *build;                         // owned: which way each setting is       (nsetting)
    int *first;                         // owned: first setting of each way       (nbuild)
    int nshow;                          // sets of fixed observations among the members
    int show[RH_MAX_MEMBER];            // which set each member shows; -1: not a fixed set
    const double *entry[RH_MAX_MEMBER]; // borrowed: each set                     (nshow)
    int32_t nentry[RH_MAX_MEMBER];      // its size                               (nshow)
    bool finite[RH_MAX_MEMBER];         // whether all of it is finite            (nshow)
    rh_feature_cache **cache;           // owned, NULL where there is none (nbuild x nshow)
} rh_feature_caches;

// Sort settings hp (nsetting x nparam) by how agents are built, and members by what they show.
// Clear also what a failed call left.
rh_status rh_feature_caches__sort(rh_feature_caches *caches, rh_env *const *env, int nmember,
                                  const rh_agent_type *agent, const rh_task *task, int nsetting,
                                  const double *hp, rh_error *err);

// Make the feature caches; every way of building an agent is known to be possible.
rh_status rh_feature_caches__fill(rh_feature_caches *caches, const rh_agent_type *agent,
                                  const rh_task *task, const double *hp, rh_error *err);
void rh_feature_caches__clear(rh_feature_caches *caches);

// Whether two settings differ in nothing that decides how an agent is built.
bool rh_feature_caches__alike(const rh_agent_type *type, const double *a, const double *b);

// That of a setting in a member, or NULL.
const rh_feature_cache *rh_feature_caches__of(const rh_feature_caches *caches, int setting,
                                              int member);

// Whether nothing that the member shows can be anything but finite.
bool rh_feature_caches__finite(const rh_feature_caches *caches, int member);

// What a run has got so far.
typedef struct rh_tally {
    double total;     // reward in all
    double episode;   // reward of the episode under way
    int64_t length;   // steps of the episode under way
    int64_t nepisode; // episodes completed
    double completed; // sum of their returns
    double worst;     // lowest of them
    double *returns;  // borrowed: each of them, where the median is asked for; else NULL
    double point;     // sum of the returns that belong to the learning curve's next point
    int64_t npoint;   // how many
    double mark;      // total at the learning curve's last point
} rh_tally;

void rh_tally__begin(rh_tally *tally, double *returns);
void rh_tally__reward(rh_tally *tally, double reward);
void rh_tally__end_episode(rh_tally *tally);

// The learning curve's next point: the mean return of the episodes that ended since the last
// one (NAN when none did), or of a continuing run the reward since then.
double rh_tally__point(rh_tally *tally, bool continuing);

// The run's score; returns is sorted in place for RH_MEDIAN.
double rh_tally__score(rh_tally *tally, rh_criterion criterion);

// What one thread needs for a run, given out before the first.
typedef struct rh_eval__worker {
    rh_agent *agent; // owned, for one run after the other; NULL before the first
    void *state;     // owned, of the environment
    double *returns; // owned, where the median is asked for  (nstep)
} rh_eval__worker;

// Everything that runs share. Read only, but for the flag and the workers.
struct rh_runner {
    rh_env *const *env; // borrowed  (nmember)
    int nmember;
    const rh_agent_type *agent;
    const rh_task *task; // borrowed
    rh_eval_options opt;
    rh_eval__worker *worker; // owned  (nworker)
    int nworker;
    rh_feature_caches caches; // what agents see in fixed observations
    double *hp; // owned: the setting that feature caches are for; NULL: for several  (nparam)
    atomic_bool stopped; // no run is begun, and those under way are left
};

// An runner, zeroed before, with nworker workers, for settings hp (nsetting x nparam). What is
// wrong with any of them is said here. Clear also what a failed call left. runner.c
rh_status rh_runner__init(rh_runner *runner, rh_env *const *env, int nmember,
                          const rh_agent_type *agent, const rh_task *task, int nsetting,
                          const double *hp, const rh_eval_options *opt, int nworker,
                          rh_error *err);
void rh_runner__clear(rh_runner *runner);

// Whether the options can be followed.
rh_status rh_runner__check(const rh_eval_options *opt, int nmember, rh_error *err);

// The agent of a worker at the beginning of a run. When this fails there is none.
rh_status rh_runner__birth(const rh_runner *runner, rh_eval__worker *worker, const double *hp,
                           rh_error *err);

// Whether the caller has said so.
bool rh_runner__stopped(rh_runner *runner);

// One run that is to be run.
typedef struct rh_eval__job {
    const double *hp;              // (nparam)
    int setting;                   // what the caller calls it
    int member;                    //
    uint64_t run;                  // added to the first
    const rh_feature_cache *cache; // of its agent's construction; NULL: there is none
    double *curve;                 // borrowed, or NULL  (ncurve)
} rh_eval__job;

// Live it. A run that was not begun, for whatever reason, is RH_STOPPED. run.c
rh_status rh_run__run(rh_runner *runner, int worker, const rh_eval__job *job, rh_result *result,
                      rh_error *err);

#endif
