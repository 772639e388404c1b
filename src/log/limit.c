// limit.c - how much memory a log may take.
//
// A packed file of a megabyte can hold a thousand times as much, and an HDF5 file of a kilobyte
// any number of rows that were never written.
//
// 1. Unless the caller says how much, a log takes at most half of the machine's memory, and at
//    most 500 times its file once it is larger than 64 MB. Deflate packs zeros 1032 to 1.
//    Texts of zeros and ones, gzipped, take 400 times their file; measured logs take 2 to 40.
// 2. Memory is counted as rows arrive, because packed text does not say its length.
// 3. Packed text is refused as soon as more than 64 MB came from less than a hundredth of it:
//    a file made to take hours is known within a second. Measured logs unpack to 2 to 20 times
//    their file.

#include "base/base_internal.h"
#include "log_internal.h"

#include <sys/stat.h>
#include <unistd.h>

#define HARMLESS (INT64_C(64) << 20) // bytes that any file may take
#define RATIO 500                    // of a log in memory to its file
#define TEXT_RATIO 100               // of unpacked text to its file

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

// A number of times the size, at least what is harmless.
static int64_t times(int64_t size, int64_t ratio)
{
    int64_t most = size < INT64_MAX / ratio ? size * ratio : INT64_MAX;
    return most > HARMLESS ? most : HARMLESS;
}

rh_status rh_log__within_text(const rh_log_options *opt, int64_t packed, int64_t unpacked,
                              const char *path, rh_error *err)
{
    if (unpacked <= times(packed, TEXT_RATIO) || opt->max_memory != RH_MEMORY_AUTO)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT,
                   "%s: %lld bytes unpack to more than %lld MB, expected at most %d times as "
                   "much; --max-memory SIZE reads it nevertheless",
                   rh_base__path_tail(path), (long long)packed, (long long)(unpacked >> 20),
                   TEXT_RATIO);
}

rh_log__limit rh_log__limit_of(const rh_log_options *opt, int64_t size)
{
    rh_log__limit limit = {.most = opt->max_memory, .size = -1};
    if (opt->max_memory != RH_MEMORY_AUTO)
        return limit;
    limit.most = machine_memory() / 2;
    int64_t most = times(size, RATIO);
    if (size >= 0 && most < limit.most) {
        limit.most = most;
        limit.size = size;
    }
    return limit;
}

rh_status rh_log__within(const rh_log__limit *limit, int64_t bytes, const char *path,
                         rh_error *err)
{
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
