// inspect_align.h - what the questions about rows share: steps as features, and fits of them.

#ifndef REHEARSE_LOG_INSPECT_ALIGN_H
#define REHEARSE_LOG_INSPECT_ALIGN_H

#include "inspect.h"

#define RH_INSPECT__FEATURES 640 // at most: two states of RH_MAX_OBS sensors, three actions
#define RH_INSPECT__CLIP 6.0     // scales beyond which numbers are clipped
#define RH_INSPECT__CHOICES 16   // discrete actions that are told apart

// ---------------------------------------------------------------------------- fits

// Sums over the steps of both halves: all that a ridge regression needs of them, for every
// choice of features and for its error on the other half.
typedef struct rh_inspect__sums {
    int p, m;     // features, targets
    double *g[2]; // features by features  (p x p)
    double *b[2]; // features by targets   (p x m)
    double *y[2]; // targets squared       (m)
    double n[2];
    double *solve; // owned, with all above: one block  (p x p + p x m)
} rh_inspect__sums;

// Owned: sums->solve, free with rh_free(). False, and it is NULL, when memory ran out.
bool rh_inspect__sums_init(rh_inspect__sums *sums, int p, int m);

// One step of a half, 0 or 1: features x (p), targets y (m).
void rh_inspect__sums_add(rh_inspect__sums *sums, int half, const double *x, const double *y);

// Squared error of each target (m) on both halves, each fitted on the other, from the
// features use (n) alone. Adds to error (m).
void rh_inspect__sums_error(rh_inspect__sums *sums, const int *use, int n, double *error);

// The share of the targets that all features explain. The first feature is 1. work: (2 x m).
double rh_inspect__explained(rh_inspect__sums *sums, double *work);

// ---------------------------------------------------------------------------- steps

// The steps that are looked at, and how.
typedef struct rh_inspect__view {
    const rh_log *log;
    const rh_log_report *report;
    rh_inspect__space space;
    int nstate, naction;             // features of a state and of an action
    int choice[RH_INSPECT__CHOICES]; // actions that are told apart; the rest is one
    double clip[RH_MAX_OBS];         // of the change of each sensor
    double reward_lo, reward_hi;     // rewards are clipped at these
    double reward_mean;              // when clipped
    int64_t *at;                     // steps that have neighbours, owned  (n)
    int64_t n;
} rh_inspect__view;

double rh_inspect__clip(double x, double at);                                  // to -at .. at
void rh_inspect__put_state(const rh_inspect__view *v, int32_t row, double *x); // (nstate)
void rh_inspect__put_action(const rh_inspect__view *v, int64_t t, double *x);  // (naction)
int rh_inspect__half(int64_t i); // of the i-th step looked at

// What three steps explain of a reward. False when memory ran out.
bool rh_inspect__rewards(const rh_inspect__view *v, rh_log_alignment *out);

#endif
