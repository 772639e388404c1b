// bench_csv.c - reading a table of random numbers, 17 digits each: rows and megabytes per
// second of processor time on one thread, and peak memory relative to the log's own. With
// Python, pandas and NumPy read the same file (bench/csv_pandas.py).
//
//     bench_csv [rows]

#include "seconds.h"

#include "rehearse/log.h"

#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 1000000
#define COLUMNS 10 // 8 sensors, an action and a reward
#define REPEAT 5

static double peak_megabytes(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024.0;
}

static bool write_table(const char *path, int nrow)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < COLUMNS - 2; i++)
        fprintf(file, "obs_%d,", i);
    fprintf(file, "action,reward\n");
    for (int i = 0; i < nrow; i++)
        for (int k = 0; k < COLUMNS; k++) {
            char text[RH_NUMBER__SIZE];
            rh_number__print(rh_rng_uniform(&rng), text);
            fprintf(file, "%s%c", text, k + 1 < COLUMNS ? ',' : '\n');
        }
    return fclose(file) == 0;
}

// Bytes of the log's arrays.
static double log_megabytes(const rh_log *log)
{
    size_t step = 2 * sizeof *log->from + sizeof *log->reward + sizeof *log->flag +
                  sizeof *log->episode + sizeof *log->step +
                  sizeof *log->act * (size_t)log->nact;
    size_t state = (size_t)log->nobs * sizeof *log->obs;
    return (double)((size_t)log->nstate * state + (size_t)log->n * step) / 1e6;
}

static bool measure(const char *path, int nrow)
{
    struct stat st;
    double best = 1e9, own = 0.0, before = peak_megabytes();
    if (stat(path, &st) != 0)
        return false;
    for (int r = 0; r < REPEAT; r++) {
        rh_error err;
        rh_log *log = NULL;
        double from = seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (rh_log_read(&log, path, NULL, &err) != RH_OK) {
            fprintf(stderr, "%s\n", err.text);
            return false;
        }
        double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
        best = took < best ? took : best;
        own = log_megabytes(log);
        rh_log_destroy(log);
    }
    double size = (double)st.st_size / 1e6;
    printf("%d rows x %d columns, %.0f MB, best of %d\n\n", nrow, COLUMNS, size, REPEAT);
    printf("%-26s %6.2f s %6.0f MB/s %6.2f million rows/s\n", "rh_log_read", best, size / best,
           nrow / best / 1e6);
    printf("%-26s %6.0f MB; the log's arrays %.0f MB\n", "memory at its most",
           peak_megabytes() - before, own);
    fflush(stdout);
    return true;
}

// The other readers, in a process of their own.
static void compare(const char *path)
{
    char command[1000];
    int here = (int)(strrchr(__FILE__, '/') - __FILE__); // CMake gives whole paths
    snprintf(command, sizeof command,
             "python3 '%.*s/csv_pandas.py' \"${XDG_CACHE_HOME:-$HOME/.cache}/rehearse-bench\" "
             "'%s' 2>/dev/null",
             here, __FILE__, path);
    if (system(command) != 0) // NOLINT(cert-env33-c): a bench, not the library
        printf("%-26s\n", "pandas not available");
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/rh_bench_XXXXXX", path[64];
    int nrow = argc > 1 ? atoi(argv[1]) : ROWS;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/table.csv", folder);
    bool good = write_table(path, nrow) && measure(path, nrow);
    if (good)
        compare(path);
    unlink(path);
    rmdir(folder);
    return !good;
}
