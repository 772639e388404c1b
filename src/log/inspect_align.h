// inspect_align.h - shared by the tests for shifted rows: features of steps, and fits.

#ifndef REHEARSE_LOG_INSPECT_ALIGN_H
#define REHEARSE_LOG_INSPECT_ALIGN_H

#include "inspect.h"

#define RH_INSPECT__FEATURES 640 // most: two states of RH_MAX_OBS sensors, three actions
#define RH_INSPECT__CLIP 6.0     // numbers are clipped at this many scales
#define RH_INSPECT__CHOICES 16   // most discrete actions with a feature of their own

// ---------------------------------------------------------------------------- fits

// Sums over both halves: enough to fit any features by ridge regression and to test the fit.
typedef struct rh_inspect__sums {
    int p, m;     // features, targets
    double *g[2]; // features by features  (p x p)
    double *b[2]; // features by targets   (p x m)
    double *y[2]; // targets squared       (m)
    double n[2];
    double *solve; // owned: one block with all of the above  (p x p + p x m)
} rh_inspect__sums;

// Owned: sums->solve, free with rh_free(). False, with NULL there, if memory runs out.
bool rh_inspect__sums_init(rh_inspect__sums *sums, int p, int m);

// Add one step to a half, 0 or 1: features x (p), targets y (m).
void rh_inspect__sums_add(rh_inspect__sums *sums, int half, const double *x, const double *y);

// Add to error (m) the squared error of each target on both halves, each fitted on the other,
// using only the features use (n).
void rh_inspect__sums_error(rh_inspect__sums *sums, const int *use, int n, double *error);

// The share of the targets that all features explain. The first feature is 1. work: (2 x m).
double rh_inspect__explained(rh_inspect__sums *sums, double *work);

// Ridge regression from sums over n steps: g (p x p, lower half) of features by features, b
// (m x p) of targets by features, which becomes the weights. g is overwritten.
void rh_inspect__ridge(double *g, int p, double *b, int m, double n);

// ---------------------------------------------------------------------------- steps

// The steps used, and how their numbers are scaled.
typedef struct rh_inspect__view {
    const rh_log *log;
    const rh_log_report *report;
    rh_inspect__space space;
    int nstate, naction;             // features of a state and of an action
    int choice[RH_INSPECT__CHOICES]; // actions with their own feature; the rest share one
    double clip[RH_MAX_OBS];         // limit for the change of each sensor
    double reward_lo, reward_hi;     // rewards are clipped to these
    double reward_mean;              // of clipped rewards
    int64_t *at;                     // steps with neighbours, owned          (n)
    int64_t n;
} rh_inspect__view;

double rh_inspect__clip(double x, double at);                                  // to -at .. at
void rh_inspect__put_state(const rh_inspect__view *v, int32_t row, double *x); // (nstate)
void rh_inspect__put_action(const rh_inspect__view *v, int64_t t, double *x);  // (naction)
int rh_inspect__half(int64_t i); // the half of the i-th step

// Measure what three steps explain of a reward. False if memory runs out.
bool rh_inspect__rewards(const rh_inspect__view *v, rh_log_alignment *out);

#endif
