// base.h - the floor of all modules: errors, findings, memory, random streams, maths,
// statistics.

#ifndef REHEARSE_BASE_H
#define REHEARSE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#define RH_C extern "C"
#else
#define RH_C extern
#endif

#ifdef __GNUC__
#define RH_API RH_C __attribute__((visibility("default")))
#define RH_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define RH_API RH_C
#define RH_PRINTF(text, first)
#endif

// ---------------------------------------------------------------------------- errors

typedef enum rh_status {
    RH_OK = 0,
    RH_EINVAL,  // an option, name or value was refused
    RH_ENOMEM,  // memory ran out
    RH_EIO,     // the system could not read or write
    RH_EFORMAT, // a file does not have the expected format
    RH_ESTOPPED // the caller asked to stop
} rh_status;

// What went wrong, in one line that a user can act on. The place that detects the fault writes
// it.
typedef struct rh_error {
    char text[480];
} rh_error;

// Write the message and return `status`, as in: return rh_fail(err, RH_EINVAL, ...);
// Nullable: err.
RH_API rh_status rh_fail(rh_error *err, rh_status status, const char *format, ...)
    RH_PRINTF(3, 4);

// "1.2.3"
RH_API const char *rh_version(void);

// Callbacks that watch and stop long work.
typedef struct rh_watch {
    // Called from time to time, from the calling thread, with the name of the work and the
    // share done, 0 to 1. Nullable.
    void (*progress)(void *context, const char *what, double share);
    // Called from time to time; true ends the work with RH_ESTOPPED. Nullable.
    bool (*stop)(void *context);
    void *context; // passed to both
} rh_watch;

// ---------------------------------------------------------------------------- findings

typedef enum rh_severity { RH_NOTICE, RH_WARNING, RH_ERROR } rh_severity;

// "notice", "warning", "error"
RH_API const char *rh_severity_name(rh_severity severity);

// What a finding was found in.
typedef enum rh_origin { RH_OF_LOG, RH_OF_MODEL, RH_OF_STUDY } rh_origin;

RH_API const char *rh_origin_name(rh_origin origin); // "log", "model", "study"

// What a finding is about. Of a log (rh_log_inspect):
typedef enum rh_finding_id {
    RH_FINDING_ALTERNATING_ROWS, // rows resemble the row before the last: two devices alternate
    RH_FINDING_MIXED_REGIMES,    // earlier and later parts of the log behave differently
    RH_FINDING_HIDDEN_STATE,  // the step before predicts a sensor better: its state is not all
                              // logged
    RH_FINDING_ROW_SHIFT,     // the action of another row explains the change of the sensors
    RH_FINDING_REWARD_SHIFT,  // rewards fit another step than their own
    RH_FINDING_NEXT_SHIFT,    // the next observation is that of another row
    RH_FINDING_NEXT_MISMATCH, // the next observation differs from the next row
    RH_FINDING_INFINITE_SENSOR,     // infinite values
    RH_FINDING_INFINITE_ACTION,     //
    RH_FINDING_INFINITE_REWARD,     //
    RH_FINDING_EMPTY_SENSOR,        // no value at all
    RH_FINDING_MISSING,             // missing values
    RH_FINDING_SENTINEL,            // a number that may mean a missing value
    RH_FINDING_SENTINEL_ACTION,     //
    RH_FINDING_SENTINEL_REWARD,     //
    RH_FINDING_SENTINEL_TAKEN,      // sentinels that were read as missing values
    RH_FINDING_LOST_DECIMALS,       // values times powers of ten beside the others
    RH_FINDING_UNIT_CHANGE,         // another range from one moment on
    RH_FINDING_SAME_ROW_EFFECT,     // a sensor shows the effect of its own row's action
    RH_FINDING_OUTLIERS,            // values far outside the usual range
    RH_FINDING_CONSTANT_SENSOR,     // one value in the whole log
    RH_FINDING_FROZEN_SENSOR,       // no change for long while other sensors move
    RH_FINDING_CLOCK_SENSOR,        // every step changes it by the same amount
    RH_FINDING_TWIN_SENSORS,        // two sensors with one signal
    RH_FINDING_WRAPS,               // an angle, or a counter that restarts
    RH_FINDING_TERMINAL_EVERYWHERE, // every step is terminal
    RH_FINDING_TERMINAL_LIMIT,      // every terminal step ends an episode of the same length
    RH_FINDING_NO_TERMINAL,         // no step is
    RH_FINDING_SINGLE_EPISODE,      // the whole log is one episode
    RH_FINDING_IRREGULAR_CUTS,      // episodes are truncated at different lengths
    RH_FINDING_JUMPS,               // steps far longer than all others: an end is not marked
    RH_FINDING_FEW_STARTS,          // few different starts, in a log or in a model
    RH_FINDING_SAME_START,          // every episode starts in the same state
    RH_FINDING_FEW_TERMINALS,       // few terminal steps
    RH_FINDING_FEW_FAILURES,        // few of the lowest rewards
    RH_FINDING_REWARD_CONSTANT,     // all rewards are equal
    RH_FINDING_ACTION_ONE,          // the same action in all steps
    RH_FINDING_ACTION_NEVER,        // an action that does not occur
    RH_FINDING_ACTION_RARE,         // or seldom does
    RH_FINDING_ACTION_HOLE,         // whole numbers with gaps
    RH_FINDING_ACTION_AMOUNTS,      // discrete actions that look like quantities
    RH_FINDING_ACTION_NAMES,        // quantities that look like discrete actions
    RH_FINDING_ACTION_HELD,         // rows are logged more often than decisions are made
    RH_FINDING_ACTION_UNCOVERED,    // for many states its nearest trial is far away
    RH_FINDING_DUPLICATES,          // transitions equal to an earlier one
    RH_FINDING_REPEATED_ROWS,       // rows equal to the row before
    RH_FINDING_SHORT_LOG,           // few steps for its sensors and actions
    RH_FINDING_LOST_STEPS,          // steps were dropped while reading
    RH_FINDING_TIME_REVERSE,        // time runs backwards
    RH_FINDING_TIME_REPEATS,        // or stands still
    RH_FINDING_IRREGULAR_TIME,      // or runs unevenly
    // of a model (rh_model_fidelity):
    RH_FINDING_PREDICTION_NO_BETTER,   // than the mean, or than no change
    RH_FINDING_REWARD_UNPREDICTABLE,   // the prediction explains nearly nothing of the reward
    RH_FINDING_NOTHING_TO_LEARN,       // every setting earns the same
    RH_FINDING_ENDS_UNPREDICTED,       // ends of episodes come as a surprise
    RH_FINDING_LOW_COVERAGE,           // many held-out steps are out of coverage
    RH_FINDING_NEVER_TAKEN,            // the log has no step with an action
    RH_FINDING_ACTION_OUT_OF_COVERAGE, // an action is out of coverage in most states
    RH_FINDING_TOO_EASY,               // random actions beat the logged controller in the model
    RH_FINDING_IMITATION_DIFFERS, // the imitated behaviour earns, or lasts, more or less than
                                  // logged
    RH_FINDING_NO_END,            // imitated episodes hardly ever end
    RH_FINDING_LONG_STITCHES,     // paths jump farther than they move
    RH_FINDING_FEW_EPISODES,      // few whole episodes to compare with
    RH_FINDING_UNPROVEN_MODEL,    // replays are no better than a random stretch of the log
    RH_FINDING_ONE_SIDED_LIMIT,   // the log shows a limit on one side only
    RH_FINDING_LIMIT_PASSED,      // the plant goes on beyond a limit that was set
    RH_FINDING_SENSORS_LEFT_OUT,  // tile coders do not use all sensors
    // of a study (rh_verdict):
    RH_FINDING_AT_BOUND,        // the winner is at the end of a searched range
    RH_FINDING_ALL_TIED,        // most settings are tied with the best
    RH_FINDING_POOR_CLONE,      // the clone is not the logged controller
    RH_FINDING_RANGE_FROM_LOG,  // of an actuator, and the log may not show all of it
    RH_FINDING_FEW_STEPS,       // few steps to learn and to judge by
    RH_FINDING_TOO_GOOD,        // the score is better than the log makes credible
    RH_FINDING_FAILS_MORE,      // the winner fails more often than the logged controller
    RH_FINDING_NOT_BETTER,      // its score over a run is not above the logged one
    RH_FINDING_LIKE_RANDOM,     // the winner's score is not above that of random actions
    RH_FINDING_DEFAULTS_BETTER, // the agent's defaults score higher
    RH_FINDING_RARE_FAILURES,   // some runs of the winner are far below its others
    RH_FINDING_MODEL_EXPLOITED, // what agents learn is lost in a model of other data
    RH_FINDING_CONFIRMED_LOWER, // the winner is worse in the confirmation than in the search
    RH_FINDING_KINDS_DISAGREE,  // kinds of model prefer different settings
    RH_FINDING_OTHER_WINNER,    // another setting led the search
    RH_FINDING_NOT_CONFIRMED,   // the score comes from the search alone
    RH_FINDING_OUT_OF_COVERAGE, // the winner is often out of the model's coverage
    RH_FINDING_CUT_OFF,         // many of the winner's episodes do not end
    RH_FINDING_FAILED,          // runs of an agent of another program failed
    RH_FINDING_DIVERGED,        // runs diverged
    RH_FINDING_WINNER_DIVERGED, // runs of the winner did
    RH_FINDING_ALL_DIVERGED,    // no setting has a finite score
    RH_NFINDING
} rh_finding_id;

RH_API const char *rh_finding_name(rh_finding_id id); // "row-shift"; stable

// Something to know about a log, a model or a study before it is used. RH_ERROR: do not use it
// as it is.
typedef struct rh_finding {
    rh_severity severity;
    rh_finding_id id;   //
    char evidence[400]; // what was measured, with numbers
    char remedy[240];   // what to do
    int64_t count;      // how often, or how many dimensions; for a shift, by how many rows
    int64_t first;      // the first transition concerned, or -1
    int dim;            // the first sensor or dimension concerned, or -1
    int64_t line;       // the first line of the log's file concerned, or row of arrays; or -1
    rh_origin origin;   //
    bool accepted;      // an error that the user accepts by its name (rh_plan_accept)
} rh_finding;

typedef struct rh_findings {
    rh_finding *item; // gravest first  (n)
    int n;
    int count[3];     // how many of each severity
    rh_origin origin; // internal: of the findings that are added
    int room;         // internal
    bool lost;        // internal
} rh_findings;

// ---------------------------------------------------------------------------- memory

// Zeroed memory for `count` items of `size` bytes, aligned to 64 bytes; NULL without memory.
RH_API void *rh_alloc(size_t count, size_t size);
RH_API void rh_free(void *memory); // NULL is allowed

// ---------------------------------------------------------------------------- random streams

// A random stream is a small value named by coordinates, not a shared state. Threads, ranks and
// batches are not coordinates, so they cannot change a result.
typedef struct rh_rng {
    uint64_t s[2];
} rh_rng;

typedef enum rh_stream {
    RH_STREAM_START = 1,   // start states of episodes
    RH_STREAM_NOISE,       // random events of the environment
    RH_STREAM_AGENT,       // random choices of the agent
    RH_STREAM_FINAL_START, // the same three while a trained agent is evaluated
    RH_STREAM_FINAL_NOISE,
    RH_STREAM_FINAL_AGENT,
    RH_STREAM_FIT,   // fitting of representations and models
    RH_STREAM_SEARCH // random choices of a search
} rh_stream;

RH_API rh_rng rh_rng_stream(uint64_t seed, rh_stream what, uint64_t replicate, uint64_t run);
RH_API double rh_rng_uniform(rh_rng *rng);                     // in [0, 1)
RH_API double rh_rng_range(rh_rng *rng, double lo, double hi); // in [lo, hi)
RH_API uint32_t rh_rng_below(rh_rng *rng, uint32_t n);         // in 0 .. n-1, without bias

// Two independent standard normals. Always takes two draws, so streams stay aligned.
RH_API void rh_rng_normal(rh_rng *rng, double z[2]);

// ---------------------------------------------------------------------------- elementary maths

// The same bits on every machine. libm does not promise this: it picks its code by the CPU.
// Within 2 ulp; sine and cosine for |x| up to 1e5.
RH_API double rh_exp(double x);
RH_API double rh_ln(double x);
RH_API double rh_sin(double x);
RH_API double rh_cos(double x);

// ---------------------------------------------------------------------------- statistics

typedef struct rh_summary {
    int n;
    double mean, stderr_; // of the mean; NAN for n < 2
    double lo95, hi95;    // Student's t interval of the mean; NAN for n < 2
    double min, q25, median, q75, max;
} rh_summary;

// Summary of x (n). Scratch: work (n). All NAN for n < 1.
RH_API rh_summary rh_summarise(const double *x, int n, double *work);

#endif
