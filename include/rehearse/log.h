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

// A log of its own with what `parts` holds, which may be put together by hand: what does not
// fit together (rows and actions out of range, episodes that are not whole) is refused. time,
// names and notes may be NULL; episode and step follow from `first` and are not looked at.
// Owned: *out, free with rh_log_destroy(). Nullable: err.
RH_API rh_status rh_log_copy(rh_log **out, const rh_log *parts, rh_error *err);

// A number that two logs share only when they hold the same transitions, names left aside.
RH_API uint64_t rh_log_fingerprint(const rh_log *log);

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

// A length of time as people write it, "90", "90s", "15m", "2h", "1d": seconds, or whatever the
// log counts time in. False when it is none, or not above 0 and finite.
RH_API bool rh_log_duration(const char *text, double *seconds);

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

// Whether there is a format to write by that name or ending, asked before the work begins.
// Nullable: format, err.
RH_API rh_status rh_log_write_check(const char *path, const char *format, rh_error *err);

typedef struct rh_log_format {
    const char *name;  // as --format takes it
    const char *about; // one line
    bool reads, writes;
} rh_log_format;

RH_API int rh_log_nformat(void);
RH_API const rh_log_format *rh_log_format_at(int i);

// ---------------------------------------------------------------------------- making one

// When an agent has learned enough, by its last `span` steps. The length and the return of an
// episode are the steps and the reward of those, divided by the episodes that ended in them.
typedef enum rh_enough {
    RH_ENOUGH_STEPS,  // `span` steps were made, whatever they brought
    RH_ENOUGH_LENGTH, // an episode takes `level` steps at most
    RH_ENOUGH_RETURN, // an episode returns `level` at least
    RH_ENOUGH_REWARD  // a step brings `level` at least
} rh_enough;

typedef struct rh_collect_options {
    int64_t nstep;    // of the log
    uint64_t seed;    // what all chance comes from
    rh_enough enough; // when training ends, and the policy is fixed
    int64_t span;     //   over so many steps
    double level;     //   at this level
    int64_t patience; // steps after which a try that has not learned enough is given up
    int64_t cutoff;   // an episode is cut off after so many steps; INT64_MAX: never
    int64_t least;    // the log must complete so many episodes, or where the task is
    int64_t most;     // continuing see so many failures: steps of the lowest reward
    int ntry;         // how often it is tried, each time with other chance
    int nstart;       // episodes of the log of starts
    bool (*stop)(void *context); // whether to give up, asked now and then; NULL: never
    void *context;
    unsigned cookie; // set by rh_collect_defaults(), leave alone
} rh_collect_options;

RH_API rh_collect_options rh_collect_defaults(void);

typedef enum rh_collect_outcome {
    RH_COLLECTED,
    RH_COLLECT_UNTAUGHT, // in no try the agent learned enough
    RH_COLLECT_OUTSIDE,  // no log had as many episodes as it should
    RH_COLLECT_STOPPED   // the caller said stop
} rh_collect_outcome;

// How a log was made, or why it was not. Kept up to date while the work goes on.
typedef struct rh_collected {
    rh_collect_outcome outcome;
    int ntry;         // tries made
    int nuntaught;    // of these given up: the agent had not learned enough, or diverged
    int64_t trained;  // steps of training before the log
    double quality;   // what ended the training; NAN where steps alone did
    int64_t nended;   // episodes completed in the log, or failures
    double reward;    // of the whole log
    double returned;  // mean return of the episodes completed in it; NAN without any
    int64_t fewest;   // episodes or failures of the logs that were made and refused:
    int64_t greatest; // fewest > greatest when there were none
} rh_collected;

// Let an agent learn in `school` until it has learned enough, then log what its policy,
// learning no more, does in `field`: the same environment, perhaps with other starts. Where
// starts is not NULL, *starts becomes a log of nstart episodes of one step each, begun as in
// school. The same seed gives the same bits. Owned: *out and *starts, set when how->outcome is
// RH_COLLECTED and else left untouched; free with rh_log_destroy().
// Nullable: starts, hp (all initial values), opt (all defaults), err.
RH_API rh_status rh_log_collect(rh_log **out, rh_log **starts, rh_collected *how,
                                const rh_env *school, const rh_env *field,
                                const rh_agent_type *agent, const double *hp,
                                const rh_collect_options *opt, rh_error *err);

// A parameter and its value, as a user would write it.
typedef struct rh_setting {
    const char *name, *value;
} rh_setting;

// How many episodes or failures a log of nstep steps should have.
typedef struct rh_window {
    int64_t nstep;
    int64_t least, most;
} rh_window;

// A policy worth logging, and how it is come by.
typedef struct rh_recipe {
    const char *env;    // NULL: any
    bool changed;       // for the paper's changed environment
    const char *policy; // "near-optimal", ...
    const char *source; // whose numbers these are
    const char *agent;
    rh_setting hp[10];   // of the agent, ends with one that has no name
    rh_enough enough;    // when training ends: as in rh_collect_options, like the next four
    int64_t span;        //
    double level;        //
    int64_t patience;    //
    int64_t cutoff;      //
    bool random;         // the log's episodes begin by the environment's start = random
    rh_window window[4]; // by length of the log, the longest first; ends with nstep = 0
    bool paper;          // the windows are the paper's
} rh_recipe;

// Every recipe, 0 .. rh_recipe_count() - 1.
RH_API int rh_recipe_count(void);
RH_API const rh_recipe *rh_recipe_at(int i);

// The recipe of a policy in the environment called `env`; changed: in the paper's changed one.
// NULL and a message when there is none. Nullable: err.
RH_API const rh_recipe *rh_recipe_find(const char *env, const char *policy, bool changed,
                                       rh_error *err);

// The options that make the paper's changed environment, ending with one that has no name; NULL
// and a message when it has not changed that one. Nullable: err.
RH_API const rh_setting *rh_recipe_changed(const char *env, rh_error *err);

// The hyperparameters hp (nparam) of a recipe's agent.
RH_API rh_status rh_recipe_hyperparameters(const rh_recipe *recipe, const rh_agent_type *agent,
                                           double *hp, rh_error *err);

typedef enum rh_window_kind {
    RH_WINDOW_NONE,  // any number of episodes will do
    RH_WINDOW_GIVEN, // the recipe has one for this length
    RH_WINDOW_SCALED // its longest one, in proportion
} rh_window_kind;

// The window for a log of nstep steps.
RH_API rh_window_kind rh_recipe_window(const rh_recipe *recipe, int64_t nstep,
                                       rh_window *window);

// ---------------------------------------------------------------------------- looking at one

#define RH_LOG_NBAR 12 // bars of a small histogram

// The numbers of one kind in a log. A number is absurd when it is far outside of what the
// others are, and a sentinel when it is far off and repeats exactly: both count in min and
// max and in nothing else. Quantiles, bars and different numbers are those of at most a
// million, evenly spaced over the log; everything else is of all. NAN without numbers.
typedef struct rh_log_numbers {
    int64_t n;                         // finite ones
    int64_t nmissing, ninfinite;       //
    int64_t ndistinct;                 // different ones
    bool whole;                        // all are whole numbers
    double min, max;                   //
    double q25, median, q75, mean, sd; //
    double lo, hi;                     // least and most that is not absurd
    int64_t bar[RH_LOG_NBAR];          // how many in equal parts of lo to hi
    double far_lo, far_hi;             // beyond these a number is absurd
    int64_t nabsurd;                   // without the sentinels
    double sentinel;                   // NAN: none
    int64_t nsentinel;                 // how often it occurs
} rh_log_numbers;

typedef struct rh_log_sensor {
    rh_log_numbers value;  // of all observations
    int64_t missing_at;    // first transition from or to a missing or infinite one, or -1
    int64_t absurd_at;     // the same for absurd ones
    int64_t run, run_at;   // longest run of equal numbers, on into later episodes: its steps,
                           // and the transition it begins with
    double usual_run;      // 99 % of its runs are no longer
    int64_t nwrap;         // steps from one end of the range to the other
    bool constant, frozen; // one number but for its last bits; stuck for far longer than usual
    bool wraps;            // jumps like an angle that passes its end
    double pace;           // every step changes it by this much, like a clock; NAN otherwise
    int twin;              // an earlier sensor it goes exactly with, or -1
} rh_log_sensor;

// Whole steps between the rows of episodes, when the log has times.
typedef struct rh_log_clock {
    double begin, end;             // first and last
    double interval;               // the usual time between rows: the median of those above 0
    double shortest, longest;      //
    int64_t longest_at;            // the transition that took longest
    int64_t n;                     // intervals seen
    int64_t nirregular;            // more than half an interval off
    int64_t nrepeat, nreverse;     // rows at the time of the one before, or earlier
    int64_t repeat_at, reverse_at; // the transition of the first of these rows, or -1
} rh_log_clock;

// Distances of the log's states to the nearest where an action was taken, in median steps.
// Each sensor is divided by its standard deviation; constant ones are left out.
typedef struct rh_log_cover {
    int action;    // its index, or that of the number when actions are reals
    int third;     // of reals: 0 low, 1 middle, 2 high; -1 when discrete
    double lo, hi; // of reals: what this third holds
    int64_t n;     // steps that took it
    double median, q90, q99, max;
} rh_log_cover;

// How well things go together as they stand, and one row earlier or later: [0] with the row
// before, [1] with their own, [2] with the row after. NAN where it cannot be said.
typedef struct rh_log_alignment {
    int64_t n;         // steps looked at
    double action[3];  // share of the change of a sensor that an action explains by itself
    double partial[3]; // and beyond the two other actions
    double past;       // share of an action that the state of the row before explains beyond
                       // the state of its own: hardly any when actions are in their rows
    double reward[3];  // share of the reward that a step explains
    double sure[3];    // by how many standard errors it does so better than the reward's own
    double next[3];    // mean distance of s' to the s of its own row, the next, the one after
    int64_t nspecial;  // rewards unlike the usual one, when nearly all are the same; else 0
    double place[3];   // share of them one step before an end, with it, and in the step after
} rh_log_alignment;

typedef enum rh_severity { RH_NOTICE, RH_WARNING, RH_ERROR } rh_severity;

// Something to know before the log is used. RH_ERROR: do not use it like this.
typedef struct rh_log_finding {
    rh_severity severity;
    const char *id;     // stable, "row-shift"
    char evidence[400]; // what was seen, with numbers
    char remedy[240];   // what to do
    int64_t count;      // how often, or how many columns; of a shift: by how many rows
    int64_t first;      // the first transition concerned, or -1
    int column;         // the first sensor concerned, or -1
} rh_log_finding;

typedef struct rh_log_report {
    rh_log_sensor *sensor;   //                                  (nobs)
    int64_t *taken;          // how often each discrete action   (naction)
    rh_log_numbers *amount;  // continuous actions               (nact)
    double *at_bound;        // share at min or max              (nact)
    double hold;             // every how many rows actions change; 1: any row
    rh_log_numbers reward;   //
    int64_t nzero;           // rewards that are 0
    int64_t nworst;          // rewards that are the worst
    rh_log_numbers length;   // of episodes
    rh_log_numbers returns;  //
    int64_t nterminal, ncut; // episodes that ended, and that were cut off
    int64_t nresumed;        // episodes that do not begin in a start state
    int64_t ncut_judged;     // cut off by somebody, not by the end of the log or a gap
    int64_t cut_length;      // the usual length of those, 0 without
    double cut_share;        // how many of them have it
    double cut_spread;       // distance of the quartiles of their lengths over the median
    int64_t nstart;          // start states, and different ones
    int64_t nstart_distinct; //
    double start_spread;     // their spread as a share of that of all states
    int64_t nduplicate;      // transitions that are exactly like an earlier one
    int64_t nreturn;         // how often other steps of an episode lead to such a one
    int64_t ntwice;          // rows that are exactly like the row before
    int64_t twice_at;        // the first of them, or -1
    int64_t nstate_distinct; // different states among the transitions'
    double step_length;      // the median step, in standard deviations of the sensors
    double step_far;         // 98 % of the steps are no longer
    int64_t njump;           // steps so long that an episode may have ended unseen
    int64_t jump[4];         // the first of them                (up to 4)
    int64_t njump_told;      // those with a reward unlike the usual one
    rh_log_clock clock;      // n = 0 when the log has no times
    rh_log_cover *cover;     //                                  (ncover)
    int ncover;              //
    int64_t nquery, nplace;  // states asked and states searched for it: fewer than there
                             // are when the log is large
    rh_log_alignment align;  //
    rh_log_finding *finding; // the gravest first                (nfinding)
    int nfinding;            //
    int ncount[3];           // how many of each severity
} rh_log_report;

// Look at a log. Borrowed: log, until the end of the call. Owned: *out, free with
// rh_log_report_destroy(). Nullable: err.
RH_API rh_status rh_log_inspect(rh_log_report **out, const rh_log *log, rh_error *err);
RH_API void rh_log_report_destroy(rh_log_report *report); // NULL is allowed

// "notice", "warning", "error"
RH_API const char *rh_severity_name(rh_severity severity);

#endif
