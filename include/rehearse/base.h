// base.h - what every room stands on: status and errors, memory, chance, small statistics.

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
    RH_EIO,     // the system refused to read or write
    RH_EFORMAT, // a file is not what it should be
    RH_ESTOPPED // the caller asked to stop
} rh_status;

// What went wrong, in one line a user can act on. Written once, where the fault was seen.
typedef struct rh_error {
    char text[480];
} rh_error;

// Write the message and return `status`, so that a fault is one line: return rh_fail(...).
// Nullable: err.
RH_API rh_status rh_fail(rh_error *err, rh_status status, const char *format, ...)
    RH_PRINTF(3, 4);

// "1.2.3"
RH_API const char *rh_version(void);

// The candidate most like `word`, or NULL when none is near enough to be a slip of the pen.
// The answer is one of the candidates.
RH_API const char *rh_suggest(const char *word, const char *const *candidate, int ncandidate);

// Fail with "<what> '<word>'; did you mean '...'? (all that is known)", what being "no agent"
// or the like.
RH_API rh_status rh_unknown(rh_error *err, const char *what, const char *word,
                            const char *const *known, int nknown);

// How work that takes a while is watched and stopped.
typedef struct rh_watch {
    // Called now and then, from the calling thread: which piece of work it is, and what share
    // of it is done, 0 to 1. NULL for none.
    void (*progress)(void *context, const char *what, double share);
    // Asked now and then; true ends the work with RH_ESTOPPED. NULL for never.
    bool (*stop)(void *context);
    void *context; // handed to both
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
} rh_finding;

typedef struct rh_findings {
    rh_finding *item; // gravest first  (n)
    int n;
    int count[3]; // how many of each severity
    int room;     // internal
    bool lost;    // internal
} rh_findings;

// ---------------------------------------------------------------------------- files

// The end of a path that would fill a message alone: the reason must fit behind it.
RH_API const char *rh_path_tail(const char *path);

// A file that is whole or absent: written under a temporary name beside its own, synced, and
// renamed when all is there. A link is followed, and the rights of an old file are kept.
typedef struct rh_file rh_file;

// Nothing but a regular file, or a name not taken yet, is accepted. Owned: *out, to be ended
// with rh_file_commit() or rh_file_discard(). Nullable: err.
RH_API rh_status rh_file_create(rh_file **out, const char *path, rh_error *err);

// Where to write: a stream, or for libraries that want one, the name of the (empty) temporary.
// One of the two is used. NULL when there is no stream to be had.
RH_API FILE *rh_file_stream(rh_file *file);
RH_API const char *rh_file_temporary(const rh_file *file);

// The file gets its name, and is free. When that fails the old one is as it was. Nullable: err.
RH_API rh_status rh_file_commit(rh_file *file, rh_error *err);
RH_API void rh_file_discard(rh_file *file); // NULL is allowed

// ---------------------------------------------------------------------------- memory

// Zeroed memory for `count` things of `size` bytes, aligned to 64; NULL when it cannot be had.
RH_API void *rh_alloc(size_t count, size_t size);
RH_API void rh_free(void *memory); // NULL is allowed

// A block with room for more than n things of `size` bytes, those of the old one first and the
// rest zeroed; *room: how many it holds. NULL when it cannot be had: the old one stays as it
// was. Nullable: block, where *room is 0.
RH_API void *rh_alloc_more(void *block, int *room, int n, size_t size);

// For tests: blocks now alive, and a switch that fails the n-th allocation from
// here (0: never).
RH_API int64_t rh_alloc_live(void);
RH_API int64_t rh_alloc_count(void); // allocations ever made
RH_API void rh_alloc_fail_at(int64_t nth);

// ---------------------------------------------------------------------------- one at a time

// From begin to end no other thread is between the two: for libraries that are not safe for
// threads. Not to be nested.
RH_API void rh_alone_begin(void);
RH_API void rh_alone_end(void);

// ---------------------------------------------------------------------------- instruction sets

// Hot loops are compiled once per instruction set: 0 for any machine of this kind, on x86 then
// 1 for AVX2 with FMA and 2 for AVX-512.
RH_API int rh_isa_count(void); // how many of them this machine can run
RH_API int rh_isa_best(void);  // the last of them, or the last that is allowed

// For tests: only the first n are allowed from here on. 0: all.
RH_API void rh_isa_limit(int n);

// ---------------------------------------------------------------------------- chance

// A random stream: a small value named by coordinates, never a state shared in order. Threads,
// ranks and batches are not coordinates, so they cannot change a result.
typedef struct rh_rng {
    uint64_t s[2];
} rh_rng;

typedef enum rh_stream {
    RH_STREAM_START = 1,   // where episodes begin
    RH_STREAM_NOISE,       // what the environment does by chance
    RH_STREAM_AGENT,       // what the agent does by chance
    RH_STREAM_FINAL_START, // the same three, while a finished agent is judged
    RH_STREAM_FINAL_NOISE,
    RH_STREAM_FINAL_AGENT,
    RH_STREAM_FIT,   // how representations and models are fitted
    RH_STREAM_SEARCH // what a search tries by chance
} rh_stream;

RH_API rh_rng rh_rng_stream(uint64_t seed, rh_stream what, uint64_t replicate, uint64_t run);
RH_API uint64_t rh_rng_bits(rh_rng *rng);                      // 64 random bits
RH_API double rh_rng_uniform(rh_rng *rng);                     // in [0, 1)
RH_API double rh_rng_range(rh_rng *rng, double lo, double hi); // in [lo, hi)
RH_API uint32_t rh_rng_below(rh_rng *rng, uint32_t n);         // in 0 .. n-1, without bias

// Two independent standard normals. Always takes two draws, so that streams stay aligned.
RH_API void rh_rng_normal(rh_rng *rng, double z[2]);

// ---------------------------------------------------------------------------- elementary maths

// The same bits on every machine, which libm does not promise (it picks its code by the CPU).
// Within 2 ulp; sine and cosine for |x| up to 1e5.
RH_API double rh_exp(double x);
RH_API double rh_ln(double x);
RH_API void rh_sincos(double x, double *sine, double *cosine);
RH_API double rh_sin(double x);
RH_API double rh_cos(double x);

// Whether all of x (n) are finite.
RH_API bool rh_all_finite(const double *x, int n);

// ---------------------------------------------------------------------------- statistics

typedef struct rh_summary {
    int n;
    double mean, stderr_; // of the mean; NAN for n < 2
    double lo95, hi95;    // Student's t interval of the mean; NAN for n < 2
    double min, q25, median, q75, max;
} rh_summary;

// Summary of x (n), n >= 1. Nullable: nothing. Scratch: work (n).
RH_API rh_summary rh_summarise(const double *x, int n, double *work);

// The p-quantile of Student's t with df degrees of freedom, 0 < p < 1, df >= 1.
RH_API double rh_student_quantile(double p, double df);

// The p-quantile of sorted x (n), linear between order statistics (numpy's default).
RH_API double rh_quantile_sorted(const double *x, int n, double p);

#endif
