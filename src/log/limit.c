// limit.c - how much memory a log may take.
//
// A packed file of a megabyte can hold a thousand times as much, and an HDF5 file of a kilobyte
// any number of rows that were never written.
//
// 1. Unless the caller says how much, a log takes at most half of the machine's memory, and at
//    most 100 times its file once it is larger than 128 MB. Deflate packs zeros 1032 to 1.
//    Measured logs take 2 to 40 times their gzipped file; flags, one-hot states and other
//    sparse texts take 85 to 480 times, so beyond 128 MB they need the caller's word.
// 2. Memory is counted as rows arrive, because packed text does not say its length.
// 3. Packed text is refused as soon as more than 64 MB came from less than a hundredth of it:
//    a file made to take hours is known within a second. Measured logs unpack to 2 to 20 times
//    their file.
// 4. Reading also has a limit by time, of the thread's own processor time, so that neither a
//    slow disk nor a busy machine counts: 30 s and 2 s per MB of the file. A CSV file takes
//    0.01 s per MB, a hundred times as much where it is packed a hundred times.

#include "base/base_internal.h"
#include "log_internal.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HARMLESS (INT64_C(128) << 20)     // bytes that any log may take
#define HARMLESS_TEXT (INT64_C(64) << 20) // bytes that any packed text may have
#define RATIO 100                         // of a log in memory, or unpacked text, to its file
#define SECONDS 30.0                      // that any file may take (decision 4)
#define SECONDS_PER_MB 2.0                // of the file (decision 4)

int64_t rh_log__file_size(const char *path)
{
    char inside[4096];
    struct stat st;
    if (stat(path, &st) != 0)
        return -1;
    if (S_ISDIR(st.st_mode)) { // a Minari dataset
        snprintf(inside, sizeof inside, "%s/data/main_data.hdf5", path);
        if (stat(inside, &st) != 0)
            return -1;
    }
    return S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

static int64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : INT64_MAX;
}

// RATIO times the size, at least what is harmless.
static int64_t times(int64_t size, int64_t harmless)
{
    int64_t most = size < INT64_MAX / RATIO ? size * RATIO : INT64_MAX;
    return most > harmless ? most : harmless;
}

// Seconds of processor time that this thread has taken.
static double seconds_taken(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0.0;
}

rh_status rh_log__within_text(const rh_log_options *opt, int64_t packed, int64_t unpacked,
                              const char *path, rh_error *err)
{
    if (unpacked <= times(packed, HARMLESS_TEXT) || opt->max_memory != RH_MEMORY_AUTO)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT,
                   "%s: %lld bytes unpack to more than %lld MB, expected at most %d times as "
                   "much; --max-memory SIZE reads it nevertheless",
                   rh_base__path_tail(path), (long long)packed, (long long)(unpacked >> 20),
                   RATIO);
}

rh_log__limit rh_log__limit_of(const rh_log_options *opt, int64_t size)
{
    rh_log__limit limit = {.most = opt->max_memory, .size = -1, .until = INFINITY};
    if (opt->max_memory != RH_MEMORY_AUTO)
        return limit;
    limit.most = machine_memory() / 2;
    if (size < 0)
        return limit;
    limit.seconds = SECONDS + SECONDS_PER_MB * (double)(size >> 20);
    limit.until = seconds_taken() + limit.seconds;
    int64_t most = times(size, HARMLESS);
    if (most < limit.most) {
        limit.most = most;
        limit.size = size;
    }
    return limit;
}

rh_status rh_log__within(const rh_log__limit *limit, int64_t bytes, const char *path,
                         rh_error *err)
{
    if (limit->until < INFINITY && seconds_taken() > limit->until)
        return rh_fail(err, RH_EFORMAT,
                       "%s: reading it takes more than %.0f s of processor time, expected at "
                       "most that for a file of its size; --max-memory SIZE reads it "
                       "nevertheless",
                       rh_base__path_tail(path), limit->seconds);
    if (bytes <= limit->most)
        return RH_OK;
    if (limit->size >= 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: %lld bytes hold a log of more than %lld MB, expected at most %d "
                       "times the file; --max-memory SIZE reads it nevertheless",
                       rh_base__path_tail(path), (long long)limit->size,
                       (long long)(limit->most >> 20), RATIO);
    return rh_fail(err, RH_ENOMEM,
                   "%s: the log takes more than %lld MB of memory, expected at most that; "
                   "--max-memory SIZE sets another limit",
                   rh_base__path_tail(path), (long long)(limit->most >> 20));
}
