// baseline.h - ways to select a setting without a model, to compare others with.

#ifndef BASELINE_H
#define BASELINE_H

#include "rehearse/base.h"

// One of nsetting settings at random, all with equal probability: the draw number `draw` of a
// seed. -1 unless nsetting >= 1.
int rh_baseline_random(int nsetting, uint64_t seed, uint64_t draw);

// The draws of the paper's random baseline for its logs 0 .. 29, fixed in its plotting code,
// among the 54 settings of a published grid. -1 if there is no such log.
int rh_baseline_paper(int log);

#define RH_BASELINE_ROUNDS 31 // most rounds of a selection

// A round of sequential halving: each of nsetting settings runs nstep steps.
typedef struct rh_baseline_round {
    int nsetting;
    int64_t nstep;
} rh_baseline_round;

// The rounds of sequential halving (Karnin, Koren and Somekh, 2013) of nsetting settings with
// `budget` steps in all. Every round has an equal part of the budget and half of the settings
// of the round before. Returns their number, 0 unless nsetting >= 2 and budget >= 0. Output:
// round (RH_BASELINE_ROUNDS).
int rh_baseline_rounds(int nsetting, int64_t budget, rh_baseline_round *round);

// Scores settings (n) by runs of nstep steps each in the real task: score (n), NAN counts as
// the lowest. round: 0, 1, ..., so that every round can have its own random streams. Another
// status than RH_OK ends the selection.
typedef rh_status (*rh_baseline_score)(void *context, const int *setting, int n, int64_t nstep,
                                       int round, double *score, rh_error *err);

// The k-percent baseline: select one of nsetting settings in the real task with `budget` steps
// in all, those of the log, say. *chosen: the setting; *used: the steps used. Ties are broken
// at random. Nullable: used, err.
rh_status rh_baseline_select(int nsetting, int64_t budget, uint64_t seed,
                             rh_baseline_score score, void *context, int *chosen, int64_t *used,
                             rh_error *err);

#endif
