// columns_plan.h - shared by the files that assign roles to columns.

#ifndef REHEARSE_LOG_COLUMNS_PLAN_H
#define REHEARSE_LOG_COLUMNS_PLAN_H

#include "columns.h"

#define RH_PLAIN 96 // most characters of a plain form

typedef struct rh_log__maker {
    rh_columns__plan *plan;
    const rh_columns *c;
    const rh_log_options *opt;
    rh_log__role *owner;     // role of every column                (n), owned
    char (*plain)[RH_PLAIN]; // its plain form                    (n), owned
    bool *left;              // left out, with a note               (n), owned
    rh_error *err;
} rh_log__maker;

void rh_columns__plan_note(rh_log__maker *m, const char *format, ...) RH_PRINTF(2, 3);

// The plan's entry for a role; NULL for roles that are lists.
int *rh_columns__plan_single(rh_columns__plan *plan, rh_log__role role);

// Give a column a role. Fails if it has another, or if a second column has the same name.
rh_status rh_columns__plan_claim(rh_log__maker *m, int column, rh_log__role role);
rh_status rh_columns__plan_check_twins(const rh_log__maker *m, int column, rh_log__role role);
rh_status rh_columns__plan_unknown(const rh_log__maker *m, rh_log__role role, const char *word);

// The reward: the caller's expression, or one column as it is.
rh_status rh_columns__plan_compute_reward(rh_log__maker *m, const char *text);
rh_status rh_columns__plan_take_reward(rh_log__maker *m, int column);

// Assign the remaining roles by the usual names; and the columns of s'.
rh_status rh_columns__plan_guess(rh_log__maker *m);

// Whether `next` is the s' of `plain`, in plain form: temp_next, next_temp, obs_next_0, x_tp1.
bool rh_columns__plan_is_next(const char *next, const char *plain);

// Whether a terminal column of that plain form may mark time-outs as well.
bool rh_columns__plan_is_done(const char *plain);

#endif
