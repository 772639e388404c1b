// log.h - logs of transitions: read, write, build, collect and inspect them.
//
// A log is built once and then only read. It stores each observation once: the s' of a step is
// the s of the next step unless the log says otherwise, so a transition refers to its two
// states by row. Terminal and truncated are separate facts, and s' may be unknown.

#ifndef REHEARSE_LOG_H
#define REHEARSE_LOG_H

#include "rehearse/describe.h"
#include "rehearse/key.h"

#include <stdio.h>

// ---------------------------------------------------------------------------- the log

#define RH_UNKNOWN (-1)     // in `to`: s' is unknown
#define RH_MEMORY_AUTO (-1) // in `max_memory`: by the machine and the file
#define RH_SKIP_AUTO (-1)   // in `skip`: by the rows
#define RH_MAX_ACTIONS 256  // most discrete actions

// How a step ended its episode, as bits of `flag`. If both are set, terminal wins.
typedef enum rh_log_flag {
    RH_FLAG_TERMINAL = 1, // s' is terminal
    RH_FLAG_TRUNCATED = 2 // the episode was truncated, or the log ends, in s'
} rh_log_flag;

// How a log was read, so that a user can check it.
typedef struct rh_log_reading {
    const char *format;      // "csv", "d4rl", ...
    int64_t nrow;            // rows of the file, or steps if it has no rows
    int64_t nlost;           // steps dropped because s' is unknown and they are not terminal
    int64_t nincomplete;     // rows dropped because they lack an action or a reward
    int64_t nshort;          // steps dropped by `stack` because the steps before are unknown
    int64_t nmissing;        // missing values in observations, stored as NAN
    int64_t nfilled;         // missing values of any column that were filled
    int64_t nsentinel;       // sentinels that were taken as missing values
    int64_t ngap;            // episodes split at a gap in time
    int64_t nreverse;        // of these, where time runs backwards
    int64_t reverse_at;      // where the first is in the file, as rh_log.line; -1: unknown
    int64_t nmismatch;       // steps whose s' differs from the s of the next step
    int64_t lost_at;         // where the first of nlost, and of nincomplete, is in the file, as
    int64_t incomplete_at;   // rh_log.line; -1: unknown
    const char *sentinels;   // which, "level is -9999 5 times"; NULL: none were taken
    bool pivoted;            // rows were made of single values, by `pivot`
    bool sentinels_kept;     // the caller says that all numbers are measurements
    const char *place;       // what rh_log.line counts: "line" (from 1) or "row" (from 0)
    const char *const *note; // notes for the user, in order      (nnote)
    int nnote;
} rh_log_reading;

// The setpoints of a model that can draw them (a regression).
typedef enum rh_setpoint_values {
    RH_SETPOINT_LOGGED, // as in the log
    RH_SETPOINT_DRAWN   // where one jumps in the log, any value of the logged range
} rh_setpoint_values;

typedef struct rh_log {
    int64_t n;                  // transitions
    int64_t nstate;             // observations
    int nepisode;               // episodes
    int nobs;                   // numbers in an observation
    int naction;                // discrete actions; 0 if actions are continuous
    int nact;                   // numbers in an action; 1 (its index) if discrete
    const double *obs;          // observations, NAN where missing     (nstate x nobs)
    const int32_t *from;        // row of s                            (n)
    const int32_t *to;          // row of s', or RH_UNKNOWN            (n)
    const double *act;          // action index, or action vector      (n x nact)
    const double *reward;       //                                     (n)
    const uint8_t *flag;        // rh_log_flag bits                    (n)
    const int32_t *episode;     // 0 .. nepisode - 1, in order         (n)
    const int32_t *step;        // position in the episode, from 0     (n)
    const double *time;         // time of s; NULL if the log has none (n)
    const int64_t *line;        // where each observation is in the file; NULL: unknown (nstate)
    const int64_t *first;       // first transition of an episode      (nepisode + 1)
    const uint8_t *start;       // 1: begins in a start state, 0: resumes after a gap (nepisode)
    const char **obs_name;      //                                     (nobs)
    const char **obs_unit;      // "" if unknown                       (nobs)
    const char **act_name;      //                                     (nact)
    const char **label;         // names of discrete actions, NULL if continuous (naction)
    const char *reward_name;    //
    const char *reward_formula; // the reward by obs[i] and act[i] of the step and next[i], its
                                // s'; NULL if there is no such formula
    double terminal_reward; // what a formula of the reward that names the terminal column adds
                            // to a terminal step: -50 of "-energy - 50*trip"; 0: not known
    const char *failure;    // "terminal", "none" or a formula by next[i]; NULL: by the rewards
    const char *derive;     // how sensors were derived, as in rh_log_options; NULL: none were
    int stack;              // observations in one, as in rh_log_options; 0 or 1: one
    const char *exogenous;  // sensors that no action moves, as in rh_log_options
    const char *setpoint;   // setpoints, as in rh_log_options
    rh_setpoint_values setpoint_values; //
    const char *path;                   // file it was read from, "" if none
    rh_log_reading reading;             // how it was read
    const void *self;                   // internal: this log, if the library made it
} rh_log;

RH_API void rh_log_destroy(rh_log *log); // NULL is allowed

// Copy a log. `parts` may be filled in by hand; inconsistent parts (rows or actions out of
// range, incomplete episodes) are refused. time, names and notes may be NULL; episode and step
// are derived from `first` and ignored. Owned: *out, free with rh_log_destroy(). Nullable: err.
RH_API rh_status rh_log_copy(rh_log **out, const rh_log *parts, rh_error *err);

// A hash of the transitions, and of what a failure is. Names and times do not count.
RH_API uint64_t rh_log_fingerprint(const rh_log *log);

// What counts as a failure of the plant (docs/verdict.md). Read-only.
typedef struct rh_failure {
    bool known;          // false: nothing does, and words says why
    bool ends;           // only steps that end an episode
    double below;        // with a reward below this; INFINITY: any
    const char *formula; // instead: steps to a state where it is not 0, by next[i]; or NULL
    const char *words;   // "an episode that ends with a reward below -6"
    void *compiled;      // internal
} rh_failure;

// Whether a step that led to the state next (nobs) is a failure.
RH_API bool rh_failure_step(const rh_failure *rule, const double *next, double reward,
                            bool terminal);

// Names of sensors and actions, for rh_describe(). Borrowed from the log.
RH_API rh_names rh_log_names(const rh_log *log);

// ---------------------------------------------------------------------------- building

typedef enum rh_action_kind {
    RH_ACTION_AUTO, // discrete or continuous, decided from the values; a note says which
    RH_ACTION_DISCRETE,
    RH_ACTION_CONTINUOUS
} rh_action_kind;

typedef struct rh_log_shape {
    int nobs, nact;              // nact: numbers in an action as pushed, 1 if discrete
    rh_action_kind action;       //
    bool whole;                  // the source stores actions as integers
    const char *const *obs_name; // NULL: obs_0, obs_1, ...            (nobs)
    const char *const *obs_unit; // NULL: none                         (nobs)
    const char *const *act_name; // NULL: action, or action_0, ...     (nact)
    const char *const *label;    // names of the actions 0, 1, ... if actions are pushed as
                                 // indices; NULL if each action's value is its name (nlabel)
    int nlabel;                  //
    bool declared;               // label lists every action: actions never taken count too, and
                                 // others are refused
    bool times;                  // rows carry a time
    const char *reward_name;     // NULL: reward
    const char *reward_formula;  // as in rh_log; NULL: none
    const char *path;            // NULL: none
    const char *format;          // for rh_log_reading, borrowed forever
    const char *place;           // rows carry a line: for rh_log_reading, borrowed forever
} rh_log_shape;

// One row: an observation, the action taken there, and its outcome.
typedef struct rh_log_row {
    const double *obs;  // s                                          (nobs)
    const double *act;  // NULL: no action, as in the last row of an episode or after a
                        // gap in the data                            (nact)
    double reward;      // of the action; NAN: unknown, and the row is incomplete
    const double *next; // s'; NULL: obs of the next row of this episode (nobs)
    bool terminal, truncated;
    bool begins;  // an episode begins here; implied after a terminal or truncated row
    bool resumes; // it begins, but not in a start state: earlier rows were not logged
    double time;  // used if shape.times
    int64_t line; // used if shape.place
} rh_log_row;

typedef struct rh_log_builder rh_log_builder;

// Copied: shape and all it names. Owned: *out, free with rh_log_builder_destroy().
// Nullable: err.
RH_API rh_status rh_log_builder_create(rh_log_builder **out, const rh_log_shape *shape,
                                       rh_error *err);
RH_API void rh_log_builder_destroy(rh_log_builder *builder); // NULL is allowed

// Add the next row. Fails if memory runs out or after 2^31 - 2 rows.
RH_API rh_status rh_log_push(rh_log_builder *builder, const rh_log_row *row, rh_error *err);

// Make a log of all rows and leave the builder empty. Fails if there is no transition.
// Owned: *out, free with rh_log_destroy(). Nullable: err.
RH_API rh_status rh_log_finish(rh_log_builder *builder, rh_log **out, rh_error *err);

// ---------------------------------------------------------------------------- files

typedef enum rh_reward_of {
    RH_REWARD_OF_ACTION, // a row's reward is that of the row's action
    RH_REWARD_OF_STATE   // a row's reward comes with its observation: it is that of the action
                         // before
} rh_reward_of;

typedef enum rh_decimal {
    RH_DECIMAL_AUTO, // by the numbers of the file; 1,234 alone is refused
    RH_DECIMAL_POINT,
    RH_DECIMAL_COMMA
} rh_decimal;

// Missing values of at most 5 rows inside an episode.
typedef enum rh_gaps_mode {
    RH_GAPS_FILL, // interpolate a sensor that moves, hold one that rests
    RH_GAPS_CUT   // leave them: a step without action or reward splits its episode
} rh_gaps_mode;

// Numbers such as -9999 far outside the rest of their column.
typedef enum rh_sentinels {
    RH_SENTINELS_MISSING, // missing values
    RH_SENTINELS_KEEP     // numbers
} rh_sentinels;

typedef enum rh_dates {
    RH_DATES_AUTO, // 5/1/2024: by all dates of the column; refused if none of them tells
    RH_DATES_DAY_FIRST,
    RH_DATES_MONTH_FIRST
} rh_dates;

// The value of a tag at the time of a step, where rows hold one value each.
typedef enum rh_pivot_value {
    RH_PIVOT_LAST,       // the last at or before it
    RH_PIVOT_MEAN,       // the mean since the step before; without any, the last
    RH_PIVOT_INTERPOLATE // on the line between the values before and after it
} rh_pivot_value;

// The observation of a step that is several rows.
typedef enum rh_every_obs {
    RH_EVERY_LAST, // the row at which the controller decides
    RH_EVERY_MEAN  // the mean over the rows since the decision before
} rh_every_obs;

// A role is a list of columns (or datasets), "temp,level"; * matches any characters
// ("sensor_*"). NULL: look for the usual names. "": the log has none.
typedef struct rh_log_options {
    const char *format; // NULL: detect it
    const char *obs, *action, *reward, *episode, *terminal, *truncated, *time, *next;
    // reward: a formula over columns: "-energy", "income - 0.5*wear", "-abs(T - 20)"
    const char *failure;   // what a failure is: a formula over sensors, "temp > 90", "terminal"
                           // or "none"; NULL: as the rewards say (rh_failure)
    const char *derive;    // further sensors, "dT = T_in - T_out; p2 = p^2"; NULL: none
    int stack;             // observations, with the actions between, in one; 1: the current one
    double every;          // time of a step, of several rows; NAN: every row is one
    int64_t every_rows;    // the same in rows, if every is NAN; 1: every row is one
    const char *exogenous; // sensors that no action moves, "T_out,price_*"; "": none;
                           // NULL: a test finds them
    const char *setpoint;  // and what they are set for, "T_sp=T"; NULL: none is known
    rh_setpoint_values setpoint_values;
    rh_every_obs every_obs;
    rh_reward_of reward_of;
    rh_action_kind action_kind;
    const char *actions;        // all actions, "off,low,high"; NULL: those that occur
    const double *missing;      // numbers that stand for a missing value   (nmissing)
    int nmissing;               //
    const char *missing_words;  // words that stand for one, "Bad,No Data"; NULL: the usual ones
    rh_sentinels sentinels;     // what they are
    rh_gaps_mode gaps;          // what becomes of short ones
    rh_decimal decimal;         // of numbers in a text
    rh_dates dates;             // order of day and month
    int64_t skip;               // lines before the header; RH_SKIP_AUTO: found
    const char *pivot;          // a row holds one value: columns of tag and value, "tag,value";
                                // NULL: a row is a step, "": also where InfluxDB wrote it
    rh_pivot_value pivot_value; // values of a tag at the time of a step
    double max_gap;             // a longer time between rows ends the episode; INFINITY: never
    int64_t episode_steps;      // an episode ends after this many steps; INT64_MAX: never
    int64_t max_memory;         // most bytes of the log in memory; RH_MEMORY_AUTO: half of the
                                // machine's, above 128 MB at most 100 times the file,
                                // and 30 s and 2 s per MB of it to read it
    rh_watch watch;             // progress of reading a text
    unsigned cookie;            // set by rh_log_defaults(), leave alone
} rh_log_options;

RH_API rh_log_options rh_log_defaults(void);

// What derive and stack make of the sensors of a plant, one observation at a time: the same
// numbers, bit for bit, as rh_log_read() makes of a log.
typedef struct rh_observer rh_observer;

// The rows of these options: what a file, the command line and Python accept. NULL after the
// last.
RH_API const rh_key *rh_log_key_at(int i);

// Options as they were set by their keys, in files or one by one; later ones override.
typedef struct rh_log_roles rh_log_roles;

// Owned: *out, free with rh_log_roles_destroy(). Nullable: err.
RH_API rh_status rh_log_roles_create(rh_log_roles **out, rh_error *err);
RH_API void rh_log_roles_destroy(rh_log_roles *roles); // NULL is allowed

// Read a YAML file. The keys (obs, action, reward, ...) are at the top level, below `roles:`,
// or below `data:` and its `roles:`. `path:` names the log, relative to the file. Nullable:
// err.
RH_API rh_status rh_log_roles_read(rh_log_roles *roles, const char *path, rh_error *err);

// Set one key: "max_gap" to "15m". `where` opens a message: "--max-gap". Nullable: where, err.
RH_API rh_status rh_log_roles_set(rh_log_roles *roles, const char *key, const char *text,
                                  const char *where, rh_error *err);

RH_API const char *rh_log_roles_path(const rh_log_roles *roles); // NULL if not given
// Set the options that were given; opt borrows from roles.
RH_API void rh_log_roles_apply(const rh_log_roles *roles, rh_log_options *opt);
// How the log was read, as `roles:` of a file. Nullable: err.
RH_API rh_status rh_log_roles_write(const rh_log_roles *roles, const rh_log *log, FILE *out,
                                    rh_error *err);

// Read a log of any format. path "-": text from standard input. Several paths, one on each
// line, are logs of one plant and are joined. Owned: *out, free with rh_log_destroy().
// Nullable: opt (all defaults), err. On failure *out is left untouched.
RH_API rh_status rh_log_read(rh_log **out, const char *path, const rh_log_options *opt,
                             rh_error *err);

// Join logs (n) of one plant, the episodes of each after those of the one before. The sensors
// and the numbers of an action must have the same names, in any order. Actions of all logs are
// actions of the joined one. Owned: *out, free with rh_log_destroy(). Nullable: err.
RH_API rh_status rh_log_join(rh_log **out, const rh_log *const *log, int n, rh_error *err);

// Write a log, completely or not at all. Nullable: format (NULL: by the file's suffix), err.
RH_API rh_status rh_log_write(const rh_log *log, const char *path, const char *format,
                              rh_error *err);

typedef struct rh_log_format {
    const char *name;  // for --format
    const char *about; // one line of help
    bool reads, writes;
} rh_log_format;

// ---------------------------------------------------------------------------- collecting

// When an agent is trained well enough, judged by its last `span` steps. An episode's length
// is those steps divided by the episodes that ended in them; its return is their reward divided
// likewise.
typedef enum rh_enough {
    RH_ENOUGH_STEPS,  // after `span` steps, whatever the result
    RH_ENOUGH_LENGTH, // episodes take at most `level` steps
    RH_ENOUGH_RETURN, // episodes return at least `level`
    RH_ENOUGH_REWARD  // steps earn at least `level` on average
} rh_enough;

// What to log next, as a study suggests it: actions in regions of the sensors
// (docs/log-next.md).
typedef struct rh_advice rh_advice;

#define RH_ADVICE_HOLD 5 // steps of a trial

typedef struct rh_collect_options {
    int64_t nstep;           // steps of the log
    uint64_t seed;           // random seed
    rh_enough enough;        // when training ends and the policy is frozen:
    int64_t span;            // judged over this many steps
    double level;            // against this level
    int64_t patience;        // training steps after which an attempt is given up
    int64_t cutoff;          // an episode is truncated after this many steps; INT64_MAX: never
    int64_t least;           // fewest and most episodes the log may complete; in a continuing
    int64_t most;            // task fewest and most failures, steps of the lowest reward
    int ntry;                // attempts, each with its own random streams
    int nstart;              // episodes of the log of starts
    const rh_advice *advice; // followed now and then in its regions; NULL (borrowed)
    bool (*stop)(void *context); // polled; true: give up. NULL: never
    void *context;
    unsigned cookie; // set by rh_collect_defaults(), leave alone
} rh_collect_options;

RH_API rh_collect_options rh_collect_defaults(void);

typedef enum rh_collect_outcome {
    RH_COLLECTED,
    RH_COLLECT_UNTAUGHT, // in no attempt did the agent learn enough
    RH_COLLECT_OUTSIDE,  // no log completed the right number of episodes
    RH_COLLECT_STOPPED   // the caller's stop() returned true
} rh_collect_outcome;

// How a log was made, or why not. Kept up to date while the work runs.
typedef struct rh_collected {
    rh_collect_outcome outcome;
    int ntry;         // attempts made
    int nuntaught;    // attempts given up: the agent did not learn enough, or diverged
    int64_t trained;  // training steps before the log
    double quality;   // the measure that ended the training; NAN for RH_ENOUGH_STEPS
    int64_t nended;   // episodes completed in the log, or failures
    double reward;    // sum over the log
    double returned;  // mean return of completed episodes; NAN if none
    int64_t nadvised; // steps of the log that follow the advice
    int64_t fewest;   // least and most episodes or failures among refused logs;
    int64_t greatest; // fewest > greatest if there were none
} rh_collected;

// Train an agent in train_env until it is good enough, freeze its policy and log it in log_env:
// the same environment, perhaps with other start states. If starts is not NULL, *starts becomes
// a log of nstart one-step episodes that begin as in train_env. The same seed gives the same
// bits. Owned: *out and *starts, set only if how->outcome is RH_COLLECTED; free with
// rh_log_destroy(). Nullable: starts, hp (all initial values), opt (all defaults), err.
RH_API rh_status rh_log_collect(rh_log **out, rh_log **starts, rh_collected *how,
                                const rh_env *train_env, const rh_env *log_env,
                                const rh_agent_type *agent, const double *hp,
                                const rh_collect_options *opt, rh_error *err);

// A parameter and its value as text.
typedef struct rh_setting {
    const char *name, *value;
} rh_setting;

// ---------------------------------------------------------------------------- inspecting

#define RH_LOG_NBAR 12 // bars of a small histogram

// Statistics of one column. A value is absurd if it is far outside the range of the others, and
// a sentinel if it is far off and repeats exactly; both count in min and max only. Quantiles,
// bars and ndistinct use at most a million values, evenly spaced over the log; the rest uses
// all. NAN if there are no values.
typedef struct rh_log_numbers {
    int64_t n;                         // finite values
    int64_t nmissing, ninfinite;       //
    int64_t ndistinct;                 // distinct values
    bool whole;                        // all values are integers
    double min, max;                   //
    double q25, median, q75, mean, sd; //
    double lo, hi;                     // range without absurd values
    int64_t bar[RH_LOG_NBAR];          // counts in equal bins from lo to hi
    double far_lo, far_hi;             // values outside these are absurd
    int64_t nabsurd;                   // not counting sentinels
    double sentinel;                   // NAN if none
    int64_t nsentinel;                 // how often it occurs
    int64_t nscaled;                   // values that are others times a power of ten
    double scaled, scaled_by;          // one of them, and its power
} rh_log_numbers;

typedef struct rh_log_sensor {
    rh_log_numbers value;  // over all observations
    int64_t missing_at;    // first transition from or to a missing or infinite value, or -1
    int64_t absurd_at;     // the same for absurd values
    int64_t run, run_at;   // longest run of equal values, across episodes: its steps and its
                           // first transition
    double usual_run;      // 99 % of its runs are no longer
    int64_t nwrap;         // steps from one end of the range to the other
    bool constant, frozen; // constant but for its last bits; stuck far longer than usual
    bool wraps;            // jumps like an angle at the end of its range
    double pace;           // changes by this much at every step, like a clock; NAN if not
    int twin;              // an earlier sensor it is an exact function of, or -1
    int64_t unit_at;       // from this transition on its values are in another range, or -1
    double unit_below, unit_above; // the greatest value of the lower range, the least above it
    bool dropouts; // its sentinel comes and goes: the values around it are alike
} rh_log_sensor;

// Times between rows of an episode, if the log has times.
typedef struct rh_log_clock {
    double begin, end;         // first and last time
    double interval;           // usual time between rows: median of those above 0
    double shortest, longest;  //
    int64_t longest_at;        // the transition that took longest
    int64_t n;                 // intervals
    int64_t nirregular;        // more than half an interval off
    int64_t nrepeat, nreverse; // rows with the same time as the row before, or an earlier one
    int64_t repeat_at, reverse_at; // first transition of each, or -1
} rh_log_clock;

// Distances from the log's states to the nearest state where an action was taken, in median
// steps. Sensors are divided by their standard deviation; constant ones are left out.
typedef struct rh_log_cover {
    int action;    // its index, or the index of the number if continuous
    int third;     // if continuous: 0 low, 1 middle, 2 high third; else -1
    double lo, hi; // if continuous: range of this third
    int64_t n;     // steps that took the action
    double median, q90, q99, max;
} rh_log_cover;

// How well columns fit together as they are and shifted by one row: [0] with the row before,
// [1] unshifted, [2] with the row after. NAN if it cannot be computed.
typedef struct rh_log_alignment {
    int64_t n;         // steps used
    double action[3];  // share of a sensor's change that the action explains alone
    double partial[3]; // and in addition to the two other actions
    int effect;        // the first sensor that is a function of the action in its row, or -1;
                       // such sensors are left out here
    double past;       // share of an action that the state of the row before explains in
                       // addition to its own state: near 0 if actions are in their own rows
    double reward[3];  // share of the reward that a step explains
    double sure[3];    // standard errors by which it explains more than the unshifted one
    double next[3];   // mean distance of s' to the s of its own row, the next and the one after
    int64_t nspecial; // rewards unlike the usual one if nearly all are equal, else 0
    double place[3];  // share of them one step before an end, at it, and one step after
} rh_log_alignment;

// Whether similar steps of the earlier and the later part of the log have similar outcomes.
typedef struct rh_log_regime {
    int64_t n;    // comparisons; 0: the log is too short
    int sensor;   // whose changes differ most; nobs: the reward
    int64_t at;   // the transition with which the later part begins, to a sixteenth of the log
    double share; // of the comparisons in which the other part's step is less alike
    double t;     // Student's t of this share
    double t_least; // limit of a finding: one log in 1,000 without a change is above it
} rh_log_regime;

// How well held-out steps are predicted from their state and action, and if the step before is
// known too (--stack 2): the share of a sensor's changes that remains unexplained.
typedef struct rh_log_history {
    int64_t n;  // steps predicted; 0: the log is too short
    int sensor; // that gains most
    double now, stacked;
} rh_log_history;

typedef struct rh_log_report {
    rh_log_sensor *sensor;   //                                  (nobs)
    int64_t *taken;          // count of each discrete action    (naction)
    rh_log_numbers *amount;  // continuous actions               (nact)
    double *at_bound;        // share of values at min or max    (nact)
    double hold;             // actions change only every this many rows; 1: at any row
    rh_log_numbers reward;   //
    int64_t nzero;           // rewards equal to 0
    int64_t nworst;          // rewards equal to the lowest
    rh_log_numbers length;   // of episodes
    rh_log_numbers returns;  //
    int64_t nterminal, ncut; // terminated and truncated episodes
    int64_t nresumed;        // episodes that do not begin in a start state
    int64_t ncut_judged;     // truncated, but not by a gap or the end of the log
    int64_t cut_length;      // their most common length, 0 if none
    double cut_share;        // share of them with that length
    double cut_spread;       // interquartile range of their lengths over the median
    int64_t time_limit;      // of the plant's episodes, in steps; 0: none
    bool continuing;         // no step is terminal, and no time limit puts the plant back
    int64_t nstart;          // start states, and distinct ones
    int64_t nstart_distinct; //
    double start_spread;     // their spread as a share of that of all states
    int64_t nduplicate;      // transitions equal to an earlier one
    int64_t nreturn;         // how often other steps of an episode lead to a duplicate
    int64_t ntwice;          // rows equal to the row before
    int64_t twice_at;        // the first of them, or -1
    bool paired;             // rows come in pairs throughout
    int64_t ncopied;         // rows of blocks that were written twice
    int64_t copied_at;       // the first of them, or -1
    int64_t copied_from;     // and the row that it copies
    int64_t nstate_distinct; // distinct states of the transitions
    double step_length;      // median step, in standard deviations of the sensors
    double step_far;         // 98 % of the steps are no longer
    int64_t njump;           // steps so long that an episode may have ended unmarked
    int64_t jump[4];         // the first of them                (up to 4)
    int64_t njump_told;      // those with a reward unlike the usual one
    rh_log_clock clock;      // n = 0 if the log has no times
    rh_log_cover *cover;     //                                  (ncover)
    int ncover;              //
    int64_t nquery, nplace;  // states queried and searched for cover; samples of a large log
    rh_log_alignment align;  //
    rh_log_regime regime;    //
    rh_log_history history;  //
    rh_findings findings;    //
} rh_log_report;

// Inspect a log. Borrowed: log, during the call. Owned: *out, free with
// rh_log_report_destroy(). Nullable: err.
RH_API rh_status rh_log_inspect(rh_log_report **out, const rh_log *log, rh_error *err);
RH_API const rh_fields *rh_log_report_fields(void);       // for rh_describe()
RH_API void rh_log_report_destroy(rh_log_report *report); // NULL is allowed

#endif
