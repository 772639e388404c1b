// seconds.h - the clock of the benchmarks.

#ifndef REHEARSE_BENCH_SECONDS_H
#define REHEARSE_BENCH_SECONDS_H

#include <time.h>

// Seconds of a clock: CLOCK_MONOTONIC, or processor time, which excludes other work on the
// machine, by CLOCK_PROCESS_CPUTIME_ID or CLOCK_THREAD_CPUTIME_ID.
static inline double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
