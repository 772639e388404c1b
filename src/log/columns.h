// columns.h - the columns of a table, and which of them is what in a log.

#ifndef REHEARSE_LOG_COLUMNS_H
#define REHEARSE_LOG_COLUMNS_H

#include "log_internal.h"

typedef enum rh_log__role {
    RH_ROLE_NONE,
    RH_ROLE_OBS,
    RH_ROLE_NEXT,
    RH_ROLE_ACTION,
    RH_ROLE_REWARD,
    RH_ROLE_EPISODE,
    RH_ROLE_TERMINAL,
    RH_ROLE_TRUNCATED,
    RH_ROLE_TIME,
    RH_ROLE_STEP,  // counts the steps of an episode: where it falls, another begins
    RH_ROLE_START, // 0 in an episode that resumes after a gap
    RH_NROLE
} rh_log__role;

// As options and messages call it: "obs", "next", ...
const char *rh_columns__role_name(rh_log__role role);

#define RH_ODD 48 // letters of it, and its end

// What a column of numbers holds that is none, in the rows looked at.
typedef struct rh_log__odd {
    int64_t line;      // of the first; 0: there is none
    int nnumber, nodd; // fields that are numbers, and that are neither numbers nor missing
    bool written;      // the first is a number written otherwise: 1,5
    char text[RH_ODD]; // it, as a message shows it
    bool quoted;       // a missing value in quotes was among them
} rh_log__odd;

// What is known of the columns before a row is read.
typedef struct rh_columns {
    const char *path;    // for messages, borrowed
    int n;               //
    const char **header; // as the file has them            (n)
    const char **name;   // without their units             (n)
    const char **unit;   // "" when there is none           (n)
    bool *numeric;       // numbers, as far as looked at    (n)
    bool *wordy;         // something else was among them   (n)
    bool *counting;      // up, or back to 0 or 1           (n)
    rh_log__odd *odd;    // what is among the numbers       (n)
    rh_log__role *given; // what the file says they are     (n)
    bool has_given;      // it does
    char *text;          // all of these letters            owned, with the arrays
} rh_columns;

// Columns called header (n), each of length letters. To be cleared.
rh_status rh_columns__init(rh_columns *columns, const char *path, int n,
                           const char *const *header, const size_t *length, rh_error *err);
void rh_columns__clear(rh_columns *columns);

// Where a header's name ends and where its unit begins and ends, "temp [degC]"; without a unit
// *unit is NULL.
void rh_columns__cut(const char *header, size_t n, size_t *name, const char **unit,
                     size_t *nunit);

#define RH_COLUMNS__NOTES 12
#define RH_COLUMNS__NOTE 256

// Who is what. Columns are numbered from 0; -1 is none.
typedef struct rh_columns__plan {
    int *obs, *next, *act;        //                           (nobs, nnext, nact)
    int *term;                    // columns of the reward     (nterm)
    double *factor;               //                           (nterm)
    int nobs, nnext, nact, nterm; // nnext is nobs or 0
    int episode, terminal, truncated, time, step, start;
    bool done;         // the terminal column may mean a time-out as well
    char *reward_name; // owned
    char note[RH_COLUMNS__NOTES][RH_COLUMNS__NOTE]; // what had to be decided
    int nnote;
} rh_columns__plan;

// Decide by the options, then by what the file says, then by the usual names. To be cleared,
// also after a failure.
rh_status rh_columns__plan_make(rh_columns__plan *plan, const rh_columns *columns,
                                const rh_log_options *opt, rh_error *err);
void rh_columns__plan_clear(rh_columns__plan *plan);

#endif
