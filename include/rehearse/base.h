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

// Fail with "<what> '<word>'; did you mean '...'? (all known words)", where `what` is "no
// agent" or similar.
RH_API rh_status rh_unknown(rh_error *err, const char *what, const char *word,
                            const char *const *known, int nknown);

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

// Something to know about a log, a model or a study before it is used. RH_ERROR: do not use it
// as it is.
typedef struct rh_finding {
    rh_severity severity;
    const char *id;     // stable, such as "row-shift"
    char evidence[400]; // what was measured, with numbers
    char remedy[240];   // what to do
    int64_t count;      // how often, or how many dimensions; for a shift, by how many rows
    int64_t first;      // the first transition concerned, or -1
    int dim;            // the first sensor or dimension concerned, or -1
    int64_t line;       // the first line of the log's file concerned, or row of arrays; or -1
} rh_finding;

typedef struct rh_findings {
    rh_finding *item; // gravest first  (n)
    int n;
    int count[3]; // how many of each severity
    int room;     // internal
    bool lost;    // internal
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
RH_API uint64_t rh_rng_bits(rh_rng *rng);                      // 64 random bits
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
RH_API void rh_sincos(double x, double *sine, double *cosine);
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
