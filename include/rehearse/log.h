// log.h - the transitions of a log: reading what people have, and saying what it is.
//
// A log is built once and then only read. Its observations are kept once each: the s' of a step
// is the s of the next one unless the log says otherwise, so a transition names its two states
// by row. Terminal and truncated are separate facts, and s' may be unknown.

#ifndef REHEARSE_LOG_H
#define REHEARSE_LOG_H

#include "rehearse/contract.h"

// ---------------------------------------------------------------------------- the log

#define RH_UNKNOWN (-1)    // in `to`: s' is not known
#define RH_MAX_ACTIONS 256 // discrete actions

// How a step ended its episode, as bits of `flag`. Both may be set; terminal is what counts.
typedef enum rh_log_flag {
    RH_FLAG_TERMINAL = 1, // s' is terminal
    RH_FLAG_TRUNCATED = 2 // the episode was cut off, or the log ends, in s'
} rh_log_flag;

// How a log was read, for people to check.
typedef struct rh_log_reading {
    const char *format;      // "csv", "d4rl", ...
    int64_t nrow;            // rows of the file, or steps where there are no rows
    int64_t nlost;           // steps dropped: not terminal, and s' unknown
    int64_t nincomplete;     // rows inside an episode without action or reward, dropped
    int64_t nmissing;        // observed numbers that are missing, now NAN
    int64_t ngap;            // episodes split where time jumps
    int64_t nmismatch;       // steps whose s' is not the s of the next step
    const char *const *note; // in words, in order         (nnote)
    int nnote;
} rh_log_reading;

typedef struct rh_log {
    int64_t n;               // transitions
    int64_t nstate;          // observations
    int nepisode;            //
    int nobs;                // sensors
    int naction;             // discrete actions; 0 when actions are vectors of reals
    int nact;                // numbers in an action: 1 (its index) when discrete
    const double *obs;       // observations, NAN where missing     (nstate x nobs)
    const int32_t *from;     // row of s                            (n)
    const int32_t *to;       // row of s', or RH_UNKNOWN            (n)
    const double *act;       // the action's index, or its vector   (n x nact)
    const double *reward;    //                                     (n)
    const uint8_t *flag;     // rh_log_flag bits                    (n)
    const int32_t *episode;  // 0 .. nepisode - 1, in order         (n)
    const int32_t *step;     // place in the episode, from 0        (n)
    const double *time;      // of s; NULL when the log has none    (n)
    const int64_t *first;    // first transition of an episode      (nepisode + 1)
    const uint8_t *start;    // 1: it begins in a start state; 0: it resumes after a gap
                             //                                     (nepisode)
    const char **obs_name;   //                                     (nobs)
    const char **obs_unit;   // "" when not known                   (nobs)
    const char **act_name;   //                                     (nact)
    const char **label;      // discrete actions as the log calls them, NULL when
                             // continuous                          (naction)
    const char *reward_name; //
    const char *path;        // where it was read from, "" for nowhere
    rh_log_reading reading;  // how
} rh_log;

RH_API void rh_log_destroy(rh_log *log); // NULL is allowed

// ---------------------------------------------------------------------------- building one

typedef enum rh_action_kind {
    RH_ACTION_AUTO, // decided by what occurs, and said in a note
    RH_ACTION_DISCRETE,
    RH_ACTION_CONTINUOUS
} rh_action_kind;

typedef struct rh_log_shape {
    int nobs, nact;              // nact: numbers in an action as given, 1 when discrete
    rh_action_kind action;       //
    bool whole;                  // the source declares actions as integers
    const char *const *obs_name; // NULL: obs_0, obs_1, ...            (nobs)
    const char *const *obs_unit; // NULL: none                         (nobs)
    const char *const *act_name; // NULL: action, or action_0, ...     (nact)
    const char *const *label;    // names of the actions 0, 1, ... when they are given as
                              // indices of these; NULL when they are their own names (nlabel)
    int nlabel;              //
    bool declared;           // label is all the actions there are: those never taken
                             // count, and others are refused
    bool times;              // rows carry a time
    const char *reward_name; // NULL: reward
    const char *path;        // NULL: none
    const char *format;      // for the reading, borrowed for good
} rh_log_shape;

// One row: what was seen, what was done there, and what came of it.
typedef struct rh_log_row {
    const double *obs;  // s                                          (nobs)
    const double *act;  // NULL: only seen, nothing was done: the last row of an episode, or
                        // a hole in it                               (nact)
    double reward;      // of the action; NAN: not known, and the row is incomplete
    const double *next; // s'; NULL: the obs of the next row of the same episode (nobs)
    bool terminal, truncated;
    bool begins;  // an episode begins with this row (also after a flag, by itself)
    bool resumes; // it begins, but not in a start state: what is before was not logged
    double time;  // when the shape says so
} rh_log_row;

typedef struct rh_log_builder rh_log_builder;

// Copied: shape and all it names. Owned: *out, free with rh_log_builder_destroy().
// Nullable: err.
RH_API rh_status rh_log_builder_create(rh_log_builder **out, const rh_log_shape *shape,
                                       rh_error *err);
RH_API void rh_log_builder_destroy(rh_log_builder *builder); // NULL is allowed

// Rows in their order. Fails when memory runs out or there are more than 2^31 - 2.
RH_API rh_status rh_log_push(rh_log_builder *builder, const rh_log_row *row, rh_error *err);

// A sentence about how the log was read.
RH_API rh_status rh_log_note(rh_log_builder *builder, rh_error *err, const char *format, ...)
    RH_PRINTF(3, 4);

// All rows are in: make the log of them, and leave the builder empty. Refused when there is no
// transition. Owned: *out, free with rh_log_destroy(). Nullable: err.
RH_API rh_status rh_log_finish(rh_log_builder *builder, rh_log **out, rh_error *err);

// ---------------------------------------------------------------------------- files

typedef enum rh_reward_of {
    RH_REWARD_OF_ACTION, // a row's reward came of the row's action
    RH_REWARD_OF_STATE   // a row's reward came with its observation: of the action before
} rh_reward_of;

// A role is a list of columns (or datasets), "temp,level", where * stands for any letters
// ("sensor_*"). NULL: found by the usual names. "": there is none.
typedef struct rh_log_options {
    const char *format; // NULL: found out from the file
    const char *obs, *action, *reward, *episode, *terminal, *truncated, *time, *next;
    // reward: columns with signs and factors, summed: "-energy", "income - 0.5*wear"
    rh_reward_of reward_of;
    rh_action_kind action_kind;
    const char *actions;   // every action there is, "off,low,high"; NULL: those that occur
    const double *missing; // numbers that stand for a missing one   (nmissing)
    int nmissing;          //
    double max_gap;        // a longer time between rows ends the episode; INFINITY: never
    int64_t episode_steps; // an episode ends after so many steps; INT64_MAX: never
    unsigned cookie;       // set by rh_log_defaults(), leave alone
} rh_log_options;

RH_API rh_log_options rh_log_defaults(void);

// Options from a YAML file: keys obs, action, reward, ... as above, at the top, or below
// `roles:`, or below `data:` and there `roles:`. `path:` names the log, from the file's folder.
typedef struct rh_log_roles rh_log_roles;

// Owned: *out, free with rh_log_roles_destroy(). Nullable: err.
RH_API rh_status rh_log_roles_read(rh_log_roles **out, const char *path, rh_error *err);
RH_API void rh_log_roles_destroy(rh_log_roles *roles);           // NULL is allowed
RH_API const char *rh_log_roles_path(const rh_log_roles *roles); // NULL when it has none
// What the file says is put into opt, which borrows from roles; the rest stays.
RH_API void rh_log_roles_apply(const rh_log_roles *roles, rh_log_options *opt);

// Read a log, of whatever format it is. Owned: *out, free with rh_log_destroy().
// Nullable: opt (all defaults), err. On failure *out is left untouched.
RH_API rh_status rh_log_read(rh_log **out, const char *path, const rh_log_options *opt,
                             rh_error *err);

// Write a log, whole or not at all. Nullable: format (by the path's ending), err.
RH_API rh_status rh_log_write(const rh_log *log, const char *path, const char *format,
                              rh_error *err);

typedef struct rh_log_format {
    const char *name;  // as --format takes it
    const char *about; // one line
    bool reads, writes;
} rh_log_format;

RH_API int rh_log_nformat(void);
RH_API const rh_log_format *rh_log_format_at(int i);

#endif
