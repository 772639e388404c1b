// columns_plan.h - what the files that decide who is what share.

#ifndef REHEARSE_LOG_COLUMNS_PLAN_H
#define REHEARSE_LOG_COLUMNS_PLAN_H

#include "columns.h"

#define RH_PLAIN 96 // letters of a plain form that are compared, and its end

// A plan being made.
typedef struct rh_log__maker {
    rh_columns__plan *plan;
    const rh_columns *c;
    const rh_log_options *opt;
    rh_log__role *owner;     // of every column                   (n), owned
    char (*plain)[RH_PLAIN]; // its plain form                    (n), owned
    bool *left;              // left out, and said so             (n), owned
    rh_error *err;
} rh_log__maker;

rh_status rh_columns__plan_nomem(const rh_log__maker *m);

// Say what had to be decided.
void rh_columns__plan_note(rh_log__maker *m, const char *format, ...) RH_PRINTF(2, 3);

// The place of a role's column in the plan; NULL for the roles that are lists.
int *rh_columns__plan_single(rh_columns__plan *plan, rh_log__role role);

// A column gets a role. Refused when it has another, or shares its name with a second column.
rh_status rh_columns__plan_claim(rh_log__maker *m, int column, rh_log__role role);
rh_status rh_columns__plan_check_twins(const rh_log__maker *m, int column, rh_log__role role);
rh_status rh_columns__plan_unknown(const rh_log__maker *m, rh_log__role role, const char *word);

// The reward, computed as the caller says, or one column as it is.
rh_status rh_columns__plan_compute_reward(rh_log__maker *m, const char *text);
rh_status rh_columns__plan_take_reward(rh_log__maker *m, int column);

// Whatever nobody named, by the usual names; and the columns of s'.
rh_status rh_columns__plan_guess(rh_log__maker *m);

// Whether `next` is what the s' of a column `plain` is called, both in their plain form:
// temp_next, next_temp, obs_next_0, x_tp1.
bool rh_columns__plan_is_next(const char *next, const char *plain);

// Whether a terminal column of that plain form may mean a time-out as well.
bool rh_columns__plan_is_done(const char *plain);

#endif
