// eval_internal.h - what the files of the eval room share.

#ifndef EVAL_INTERNAL_H
#define EVAL_INTERNAL_H

#include "rehearse/eval.h"

#include <stdatomic.h>

// The stretches a continuing life is divided into, where episodes are asked for (the paper's
// n_steps / 30).
#define RH_EVAL__NSTRETCH 30

// What agents will see in the scenes of the members, worked out before the first life.
typedef struct rh_albums {
    int nbuild;                         // ways of building an agent among the settings
    int *build;                         // owned: which way each setting is       (nsetting)
    int *first;                         // owned: first setting of each way       (nbuild)
    int nshow;                          // sets of scenes among the members
    int show[RH_MAX_MEMBER];            // which set each member shows; -1: not a fixed set
    const double *scene[RH_MAX_MEMBER]; // borrowed: each set                     (nshow)
    int32_t nscene[RH_MAX_MEMBER];      // its size                               (nshow)
    bool finite[RH_MAX_MEMBER];         // whether all of it is finite            (nshow)
    rh_album **album;                   // owned, NULL where there is none (nbuild x nshow)
} rh_albums;

// Sort settings hp (nsetting x nparam) by how agents are built, and members by what they show.
// Clear also what a failed call left.
rh_status rh_albums__sort(rh_albums *albums, rh_env *const *env, int nmember,
                          const rh_agent_type *agent, const rh_task *task, int nsetting,
                          const double *hp, rh_error *err);

// Make the albums; every way of building an agent is known to be possible.
rh_status rh_albums__fill(rh_albums *albums, const rh_agent_type *agent, const rh_task *task,
                          const double *hp, rh_error *err);
void rh_albums__clear(rh_albums *albums);

// Whether two settings differ in nothing that decides how an agent is built.
bool rh_albums__alike(const rh_agent_type *type, const double *a, const double *b);

// That of a setting in a member, or NULL.
const rh_album *rh_albums__of(const rh_albums *albums, int setting, int member);

// Whether nothing that the member shows can be anything but finite.
bool rh_albums__finite(const rh_albums *albums, int member);

// What a life has got so far.
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
// one (NAN when none did), or of a continuing life the reward since then.
double rh_tally__point(rh_tally *tally, bool continuing);

// The life's score; returns is sorted in place for RH_MEDIAN.
double rh_tally__score(rh_tally *tally, rh_criterion criterion);

// What one thread needs for a life, given out before the first.
typedef struct rh_worker {
    rh_agent *agent; // owned, for one life after the other; NULL before the first
    void *state;     // owned, of the environment
    double *returns; // owned, where the median is asked for  (nstep)
} rh_worker;

// Everything that lives share. Read only, but for the flag and the workers.
struct rh_arena {
    rh_env *const *env; // borrowed  (nmember)
    int nmember;
    const rh_agent_type *agent;
    const rh_task *task; // borrowed
    rh_eval_options opt;
    rh_worker *worker; // owned  (nworker)
    int nworker;
    rh_albums albums;    // what agents see in scenes
    double *hp;          // owned: the setting that albums are for; NULL: for several  (nparam)
    atomic_bool stopped; // no life is begun, and those under way are left
};

// An arena, zeroed before, with nworker workers, for settings hp (nsetting x nparam). What is
// wrong with any of them is said here. Clear also what a failed call left. arena.c
rh_status rh_arena__init(rh_arena *arena, rh_env *const *env, int nmember,
                         const rh_agent_type *agent, const rh_task *task, int nsetting,
                         const double *hp, const rh_eval_options *opt, int nworker,
                         rh_error *err);
void rh_arena__clear(rh_arena *arena);

// Whether the options can be followed.
rh_status rh_arena__check(const rh_eval_options *opt, int nmember, rh_error *err);

// The agent of a worker at the beginning of a life. When this fails there is none.
rh_status rh_arena__birth(const rh_arena *arena, rh_worker *worker, const double *hp,
                          rh_error *err);

// Whether the caller has said so.
bool rh_arena__stopped(rh_arena *arena);

// One life that is to be lived.
typedef struct rh_job {
    const double *hp;      // (nparam)
    int setting;           // what the caller calls it
    int member;            //
    uint64_t run;          // added to the first
    const rh_album *album; // of its agent's construction; NULL: there is none
    double *curve;         // borrowed, or NULL  (ncurve)
} rh_job;

// Live it. A life that was not begun, for whatever reason, is RH_STOPPED. life.c
rh_status rh_life__live(rh_arena *arena, int worker, const rh_job *job, rh_life *life,
                        rh_error *err);

#endif
