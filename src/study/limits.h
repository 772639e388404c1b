// limits.h - what a study must not exceed (--at-most), and further scores (--also).

#ifndef REHEARSE_STUDY_LIMITS_H
#define REHEARSE_STUDY_LIMITS_H

#include "base/expression.h"
#include "study.h"

#define RH_LIMITS__TEXT 4000 // bytes of all limits, or of all further scores, at most

// Limits and further scores that can be counted: for formulas, once there is a log.
typedef struct rh_limits {
    char *text;                         // owned: all texts
    const char *at_most, *also_all;     // as they were written, in the block; "" for none
    rh_constraint limit[RH_MAX_LIMITS]; // texts in the block above (nlimit)
    const char *also[RH_MAX_ALSO]; //                                                (nalso)
    rh_expression formula[RH_MAX_LIMITS + RH_MAX_ALSO]; // of the limits, then the scores
    int nlimit, nalso;
    int nobs, nact;
    double *label; // owned: what a formula sees of a discrete action; NULL: the action as it is
} rh_limits;

// Read both texts, pieces between semicolons. Without a log formulas are not compiled, and
// only their form is checked. label: opens a message; NULL: the key. Nullable: at_most, also,
// log, label, err. Clear also after a failure.
rh_status rh_limits__read(rh_limits *limits, const char *at_most, const char *also,
                          const rh_log *log, const char *label, rh_error *err);
void rh_limits__clear(rh_limits *limits);

// Have them counted in runs. limits: borrowed by opt.
void rh_limits__watch(const rh_limits *limits, rh_eval_options *opt);

// A formula by the names that a file of the plant's agent has: next[i], act[i] and reward.
// Owned: the text; NULL: out of memory.
char *rh_limits__formula(const rh_limits *limits, int limit);

// The rate at which results (nmember x nrun) exceed limit i, and one-sided bounds of it with a
// confidence of `sure`. limits_rate.c
rh_kept rh_limits__rate(const rh_limits *limits, int i, double sure, const rh_result *result,
                        int nmember, int nrun);
// The same of a log, whose steps are independent trials there.
rh_kept rh_limits__logged(const rh_limits *limits, int i, double sure, const rh_log *log,
                          const rh_failure *rule, bool continuing);

// Whether the log hardly has the event of a limit; often: "has trip only 3 times".
#define RH_LIMITS__OFTEN 140 // bytes
bool rh_limits__hardly_seen(const rh_limited *limit, char often[RH_LIMITS__OFTEN]);

// How far above the limits a run is: of the worst one, relative to it; below 0: it keeps all.
double rh_limits__excess(const rh_limits *limits, const rh_result *result);
double rh_limits__above(const rh_constraint *limit, double rate); // of one rate

#endif
