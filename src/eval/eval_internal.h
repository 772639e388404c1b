// eval_internal.h - what the files of the eval room share.

#ifndef EVAL_INTERNAL_H
#define EVAL_INTERNAL_H

#include "rehearse/eval.h"

// The stretches a continuing life is divided into, where episodes are asked for (the paper's
// n_steps / 30).
#define RH_EVAL__NSTRETCH 30

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

#endif
