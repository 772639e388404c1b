// inspect.h - shared by the files that inspect a log.

#ifndef REHEARSE_LOG_INSPECT_H
#define REHEARSE_LOG_INSPECT_H

#include "base/findings.h"
#include "log_internal.h"

// ---------------------------------------------------------------------------- limits

// All thresholds. inspect_findings.c gives their values and reasons.
typedef struct rh_inspect__limits {
    double absurd, sentinel_gap, sentinel_share; // outliers
    double dropout_near, dropout_share;
    int64_t sentinel_count, dropout_rows;
    double missing_share;
    int64_t frozen_run, few_values; // sensors that do not move
    double frozen_ratio, twin;
    double wrap_jump, wrap_usual, wrap_middle; // angles
    int64_t wrap_count;
    double jump_ratio, jump_sensor, jump_least; // missed ends of episodes
    double effect_left, effect_before;          // sensors that show their row's action
    double shift_gain, shift_alone, shift_partial, shift_own, shift_both, shift_past,
        shift_much; // shifted rows
    double reward_gain, reward_left, reward_sure, special_share, place_share, place_other;
    double next_ratio, mismatch_share;
    double alternate;                  // rows of two devices
    double hidden_least, hidden_ratio; // sensors that do not show the state
    double cut_share, cut_spread;      // ends of episodes
    int64_t cut_count, few_starts;
    double rare_share, cover, hold_share; // actions
    int64_t rare_count, many_actions, few_amounts, hold_runs;
    double duplicate_share, duplicate_much, duplicate_run, tabular_share, lost_share; // rows
    double paired_share;
    int64_t short_steps, paired_runs, reverse_count;
    double irregular, irregular_share; // time
} rh_inspect__limits;

extern const rh_inspect__limits rh_inspect__limit;

// ---------------------------------------------------------------------------- statistics

// Buffers for one column and its sorting.
typedef struct rh_inspect__room {
    double *column;  // one column, in order                   (n)
    double *sorted;  // a sample of it, sorted                 (RH_INSPECT__SAMPLE)
    uint64_t *spare; // for sorting                            (2 x RH_INSPECT__SAMPLE)
    int64_t nsorted; // numbers in sorted
} rh_inspect__room;

#define RH_INSPECT__SAMPLE 1000000

// Room for n numbers. Owned: its buffers, free with rh_inspect__room_clear().
bool rh_inspect__room_init(rh_inspect__room *room, int64_t n);
void rh_inspect__room_clear(rh_inspect__room *room);

// Sort room->sorted (nsorted).
void rh_inspect__sort(rh_inspect__room *room);

// Summarise room->column (n), NAN and infinities included. Leaves the sample in room->sorted.
void rh_inspect__numbers(rh_log_numbers *out, rh_inspect__room *room, int64_t n);

// The p-quantile of room->sorted; NAN if it is empty.
double rh_inspect__quantile(const rh_inspect__room *room, double p);

// Set nscaled of the sorted finite values x (n).
void rh_inspect__scales(rh_log_numbers *out, const double *x, int64_t n);

// Set unit_at of sensor j, whose values are in room->sorted.
void rh_inspect__units(rh_log_sensor *s, const rh_log *log, int j,
                       const rh_inspect__room *room);

// A hash of the observation, action and reward of a step.
uint64_t rh_inspect__row_hash(const rh_log *log, int64_t t);

// Whether x is outside the usual range of these numbers.
bool rh_inspect__is_absurd(const rh_log_numbers *numbers, double x);

// Whether loggers commonly write x for a missing value.
bool rh_inspect__is_customary(double x);

// The index of the i-th of k evenly spaced items among n.
int64_t rh_inspect__spread(int64_t i, int64_t k, int64_t n);

// ---------------------------------------------------------------------------- the space

// Observations on a common scale: varying sensors, minus their median, in standard deviations.
typedef struct rh_inspect__space {
    int n;                                        // sensors that vary
    int sensor[RH_MAX_OBS];                       // which
    double centre[RH_MAX_OBS], scale[RH_MAX_OBS]; // of each of them
    double period[RH_MAX_OBS];                    // scaled, of those that wrap; else INFINITY
    const rh_log_report *report;                  // tells absurd values, borrowed
} rh_inspect__space;

void rh_inspect__space_init(rh_inspect__space *space, const rh_log *log,
                            const rh_log_report *report);

// The scaled observation of a row, into x (n). Missing values and sentinels become 0, absurd
// ones are clipped to the usual range.
void rh_inspect__place(const rh_inspect__space *space, const rh_log *log, int32_t row,
                       double *x);

// A difference in sensor i, taken the short way round if it wraps.
double rh_inspect__turn(const rh_inspect__space *space, int i, double difference);

// The change of sensor i in step t, whose s' is known; d (n): of all sensors.
double rh_inspect__change(const rh_inspect__space *space, const rh_log *log, int64_t t, int i);
void rh_inspect__changes(const rh_inspect__space *space, const rh_log *log, int64_t t,
                         double *d);

// ---------------------------------------------------------------------------- the parts

// Each fills its part of the report, in this order. False if memory runs out.
bool rh_inspect__sensors(rh_log_report *report, const rh_log *log, rh_inspect__room *room);
bool rh_inspect__actions(rh_log_report *report, const rh_log *log, rh_inspect__room *room);
bool rh_inspect__episodes(rh_log_report *report, const rh_log *log, rh_inspect__room *room);
bool rh_inspect__steps(rh_log_report *report, const rh_log *log, rh_inspect__room *room);
bool rh_inspect__copies(rh_log_report *report, const rh_log *log);
bool rh_inspect__align(rh_log_report *report, const rh_log *log);
bool rh_inspect__regime(rh_log_report *report, const rh_log *log);
bool rh_inspect__history(rh_log_report *report, const rh_log *log);
bool rh_inspect__cover(rh_log_report *report, const rh_log *log, rh_inspect__room *room);
bool rh_inspect__findings(rh_log_report *report, const rh_log *log);

// ---------------------------------------------------------------------------- findings

typedef struct rh_inspect__finder {
    rh_log_report *report;
    const rh_log *log;
    rh_findings *list; // of the report
} rh_inspect__finder;

// Short texts by value, so that one call can use several: rh_inspect__name(x).s
typedef struct rh_inspect__text {
    char s[160];
} rh_inspect__text;

rh_inspect__text rh_inspect__name(const char *name);             // 'temp', cut if long
rh_inspect__text rh_inspect__share(int64_t part, int64_t whole); // "12 of 600 (2 %)"

// Where step t is: "line 9 (step 3 of episode 0)", or without the line if it is unknown. Or an
// observation of step t.
rh_inspect__text rh_inspect__where(const rh_inspect__finder *f, int64_t t);
rh_inspect__text rh_inspect__where_seen(const rh_inspect__finder *f, int64_t t, int32_t row);
// ", first at line 9", "" if the line is unknown (-1).
rh_inspect__text rh_inspect__line(const rh_inspect__finder *f, int64_t line);

// Set the place of a finding: it begins with step t, or with an observation of that step.
void rh_inspect__set_first(const rh_inspect__finder *f, rh_finding *found, int64_t t);
void rh_inspect__set_seen(const rh_inspect__finder *f, rh_finding *found, int64_t t,
                          int32_t row);

void rh_inspect__find_values(const rh_inspect__finder *f);  // values of columns
void rh_inspect__find_actions(const rh_inspect__finder *f); // actions and rewards
void rh_inspect__find_order(const rh_inspect__finder *f);   // rows, episodes and time

#endif
