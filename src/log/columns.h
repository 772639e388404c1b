// columns.h - the columns of a table and their roles in a log.

#ifndef REHEARSE_LOG_COLUMNS_H
#define REHEARSE_LOG_COLUMNS_H

#include "log_internal.h"

#include "base/expression.h"

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
    RH_ROLE_STEP,  // step counter: where it falls, an episode begins
    RH_ROLE_START, // 0 in an episode that resumes after a gap
    RH_NROLE
} rh_log__role;

// As in options and messages: "obs", "next", ...
const char *rh_columns__role_name(rh_log__role role);

#define RH_ODD 48 // most characters of a text in a message

// Fields of a numeric column that are not numbers, in the rows examined.
typedef struct rh_log__odd {
    int64_t line;        // of the first, 0: none
    int nnumber, nodd;   // fields that are numbers, and that are neither numbers nor missing
    int ndate;           // of the latter, dates or times
    const char *written; // expected in its place if the first is a number in another notation,
                         // 1,5; NULL: it is none
    bool list;           // the first is a list: [0.1, 0.2]
    char text[RH_ODD];   // the first, for a message
    bool quoted;         // a missing value in quotes occurred
} rh_log__odd;

// What is known of the columns before rows are read.
typedef struct rh_columns {
    const char *path;    // for messages, borrowed
    int n;               //
    const char **header; // as in the file                  (n)
    const char **name;   // without units                   (n)
    const char **unit;   // "" if none                      (n)
    bool *numeric;       // numbers, in the rows examined   (n)
    bool *wordy;         // contains text                   (n)
    bool *counting;      // rises, or falls to 0 or 1       (n)
    rh_log__odd *odd;    // fields that are not numbers     (n)
    rh_log__role *given; // roles given by the file         (n)
    bool has_given;      // the file gives roles
    bool labview;        // LabVIEW wrote it: X_Value is its time
    bool influx;         // InfluxDB wrote it: result, table, ... are its own
    char *text;          // owned: all of these texts, with the arrays
} rh_columns;

// Columns called header (n) with these lengths. Clear it afterwards.
rh_status rh_columns__init(rh_columns *columns, const char *path, int n,
                           const char *const *header, const size_t *length, rh_error *err);
void rh_columns__clear(rh_columns *columns);

// Split a header into its name and unit, "temp [degC]". Without a unit *unit is NULL.
void rh_columns__cut(const char *header, size_t n, size_t *name, const char **unit,
                     size_t *nunit);

#define RH_COLUMNS__NOTES 12
#define RH_COLUMNS__NOTE 256

// The columns of each role. Columns are numbered from 0; -1 is none.
typedef struct rh_columns__plan {
    int *obs, *next, *act;        //                           (nobs, nnext, nact)
    int *term;                    // columns of the reward     (nterm)
    rh_expression reward;         // owned: of them; without instructions: the one column
    int nobs, nnext, nact, nterm; // nnext is nobs or 0
    int episode, terminal, truncated, time, step, start;
    bool word;         // the plan failed at a word in a column of numbers
    bool done;         // the terminal column may mark time-outs as well
    char *reward_name; // owned
    char note[RH_COLUMNS__NOTES][RH_COLUMNS__NOTE]; // what had to be decided, for the user
    int nnote;
} rh_columns__plan;

// Assign roles by the options, the file, then the usual names. Clear it after a failure too.
rh_status rh_columns__plan_make(rh_columns__plan *plan, const rh_columns *columns,
                                const rh_log_options *opt, rh_error *err);
void rh_columns__plan_clear(rh_columns__plan *plan);

#endif
