// csv_pivot.h - tables with a row per value, as historians export them.

#ifndef REHEARSE_LOG_CSV_PIVOT_H
#define REHEARSE_LOG_CSV_PIVOT_H

#include "csv.h"

// Whether the caller says so, or InfluxDB wrote such a table.
bool rh_pivot__asked(const rh_columns *columns, const rh_log_options *opt);

// Whether the names of the columns look like one: "tag" and "value" are set to theirs.
bool rh_pivot__suspected(const rh_columns *columns, const char **tag, const char **value);

// Read the log from csv, which is after its head.
rh_status rh_pivot__read(rh_log **out, rh_csv *csv, const rh_columns *columns,
                         const rh_log_options *opt, rh_error *err);

// ---------------------------------------------------------------------------- values of tags

// One value of a tag.
typedef struct rh_pivot__value {
    double time, x; // x: NAN if it is missing or a word
    int32_t tag;
    int32_t word; // its number, -1: none
} rh_pivot__value;

// All values, by tag and then by time.
typedef struct rh_pivot__values {
    rh_pivot__value *value;                // owned                              (n)
    int64_t n;                             //
    int64_t *first;                        // owned: first value of a tag        (ntag + 1)
    bool *whole;                           // owned: only whole numbers or words (ntag)
    int ntag;                              //
    const char *const *name, *const *word; // of tags and words, borrowed
} rh_pivot__values;

// Sort value (n), which is taken over, into *out. Clear *out, also after a failure. False if
// memory runs out.
bool rh_pivot__sort(rh_pivot__values *out, rh_pivot__value *value, int64_t n, int ntag);
void rh_pivot__clear(rh_pivot__values *values);

// The times of rows: multiples of `every`; if that is NAN, all times of values. Owned: *time.
// Refused if the tags have values at different times, or beyond the limit.
rh_status rh_pivot__times(const rh_pivot__values *values, double every,
                          const rh_log__limit *limit, const char *path, double **time,
                          int64_t *ntime, rh_error *err);

// Add a row of the table for each time: the time, and the value of every tag.
rh_status rh_pivot__rows(rh_text *text, const rh_pivot__values *values, const double *time,
                         int64_t *ntime, const rh_log_options *opt, const rh_log__limit *limit,
                         const char *path, rh_error *err);

#endif
