// csv_pivot_rows.c - rows of the values that tags have at different times.
//
// 1. Rows are at multiples of `every`, from the first value to the last. A tag has no value
//    before its first.
// 2. A value holds until the next: historians store a tag only when it changes. A value that is
//    missing holds as well, and is missing in the rows until then.
// 3. A tag of whole numbers or words only (a mode, an action) has its last value, never a mean.
// 4. Where no tag has a value for longer than max_gap, there are no rows, so that the episode
//    ends there.
// 5. Without `every` the times of the values are those of the rows, if at least 9 of 10 tags
//    have a value in each.

#include "base/base_internal.h"
#include "csv_pivot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 2147483000.0 // a log has at most 2^31 - 2

// ---------------------------------------------------------------------------- sorting

// Sort the values of a tag by time; values of one time keep their order. spare (n).
static void sort_tag(rh_pivot__value *value, rh_pivot__value *spare, int64_t n)
{
    bool sorted = true;
    for (int64_t i = 1; sorted && i < n; i++)
        sorted = value[i - 1].time <= value[i].time;
    for (int64_t width = 1; !sorted && width < n; width *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * width) {
            int64_t middle = begin + width < n ? begin + width : n;
            int64_t end = middle + width < n ? middle + width : n;
            for (int64_t a = begin, b = middle, to = begin; to < end; to++)
                spare[to] = a < middle && (b == end || value[a].time <= value[b].time)
                                ? value[a++]
                                : value[b++];
        }
        memcpy(value, spare, (size_t)n * sizeof *value);
    }
}

bool rh_pivot__sort(rh_pivot__values *out, rh_pivot__value *value, int64_t n, int ntag)
{
    out->n = n;
    out->ntag = ntag;
    out->value = rh_alloc((size_t)n + 1, sizeof *value);
    out->first = rh_alloc((size_t)ntag + 2, sizeof *out->first);
    out->whole = rh_alloc((size_t)ntag + 1, sizeof *out->whole);
    if (!out->value || !out->first || !out->whole) {
        rh_free(value);
        return false;
    }
    for (int64_t i = 0; i < n; i++)
        out->first[value[i].tag + 2]++;
    for (int t = 0; t < ntag; t++) {
        out->first[t + 2] += out->first[t + 1];
        out->whole[t] = true;
    }
    for (int64_t i = 0; i < n; i++) { // first[t + 1] moves from the begin of t to its end
        out->value[out->first[value[i].tag + 1]++] = value[i];
        out->whole[value[i].tag] &= isnan(value[i].x) || value[i].x == floor(value[i].x);
    }
    for (int t = 0; t < ntag; t++)
        sort_tag(out->value + out->first[t], value, out->first[t + 1] - out->first[t]);
    rh_free(value);
    return true;
}

void rh_pivot__clear(rh_pivot__values *values)
{
    rh_free(values->value);
    rh_free(values->first);
    rh_free(values->whole);
    *values = (rh_pivot__values){0};
}

// ---------------------------------------------------------------------------- times

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// All times of values, each once.
static rh_status own_times(const rh_pivot__values *v, const char *path, double **time,
                           int64_t *ntime, rh_error *err)
{
    double *all = rh_alloc((size_t)v->n + 1, sizeof *all);
    if (!all)
        return rh_base__no_memory(err, path);
    for (int64_t i = 0; i < v->n; i++)
        all[i] = v->value[i].time;
    qsort(all, (size_t)v->n, sizeof *all, by_size);
    int64_t n = 0;
    for (int64_t i = 0; i < v->n; i++)
        if (n == 0 || all[i] != all[n - 1])
            all[n++] = all[i];
    *time = all;
    *ntime = n;
    if (10.0 * (double)v->n >= 9.0 * (double)n * v->ntag)
        return RH_OK;
    double slowest = 0.0;
    int tag = 0;
    for (int t = 0; t < v->ntag; t++) {
        int64_t first = v->first[t], last = v->first[t + 1] - 1;
        double each =
            last > first ? (v->value[last].time - v->value[first].time) / (double)(last - first)
                         : 0.0;
        tag = each > slowest ? t : tag;
        slowest = each > slowest ? each : slowest;
    }
    char name[48];
    return rh_fail(err, RH_EINVAL,
                   "%s: the %d tags have values at different times, expected --every TIME, the "
                   "time between two rows; tag '%s' has a value every %.3g on average",
                   rh_base__path_tail(path), v->ntag,
                   rh_text__printable(v->ntag ? v->name[tag] : "", name, sizeof name), slowest);
}

rh_status rh_pivot__times(const rh_pivot__values *v, double every, const rh_log__limit *limit,
                          const char *path, double **time, int64_t *ntime, rh_error *err)
{
    double first = INFINITY, last = -INFINITY;
    if (isnan(every))
        return own_times(v, path, time, ntime, err);
    for (int t = 0; t < v->ntag; t++) {
        double begin = v->value[v->first[t]].time, end = v->value[v->first[t + 1] - 1].time;
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    double from = ceil(first / every), n = floor(last / every) - from + 1.0;
    if (!(n >= 1.0 && n <= MOST_ROWS))
        return rh_fail(err, RH_EINVAL,
                       "%s: every = %g: times from %.17g to %.17g make %.3g rows, expected 1 "
                       "to 2^31",
                       rh_base__path_tail(path), every, first, last, n > 0.0 ? n : 0.0);
    rh_status rc = rh_log__within(limit, (int64_t)n * (int64_t)sizeof **time, path, err);
    if (rc) // two values that are far apart
        return rc;
    *time = rh_alloc((size_t)n, sizeof **time);
    if (!*time)
        return rh_base__no_memory(err, path);
    for (int64_t i = 0; i < (int64_t)n; i++)
        (*time)[i] = (from + (double)i) * every;
    *ntime = (int64_t)n;
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

// The mean of the values from `begin` to before `end` that are numbers; false: there are none,
// or a word.
static bool mean_of(const rh_pivot__value *value, int64_t begin, int64_t end, double *mean)
{
    double sum = 0.0;
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) {
        if (value[i].word >= 0)
            return false;
        sum += isnan(value[i].x) ? 0.0 : value[i].x;
        n += !isnan(value[i].x);
    }
    *mean = sum / (double)n;
    return n > 0;
}

// Add the value of a tag at a time. Its values from `seen` to before `at` are new.
static void add_value(rh_text *text, const rh_pivot__values *v, int tag, double time,
                      int64_t seen, int64_t at, const rh_log_options *opt)
{
    const rh_pivot__value *value = v->value;
    if (at == v->first[tag])
        return;
    const rh_pivot__value *last = &value[at - 1];
    double x = last->x;
    if (isnan(opt->every) && last->time != time)
        return;
    if (!isnan(opt->every) && !v->whole[tag]) {
        double mean;
        if (opt->pivot_value == RH_PIVOT_MEAN && mean_of(value, seen, at, &mean))
            x = mean;
        if (opt->pivot_value == RH_PIVOT_INTERPOLATE && at < v->first[tag + 1] &&
            !isnan(value[at].x) && !isnan(x))
            x += (value[at].x - x) * ((time - last->time) / (value[at].time - last->time));
    }
    if (last->word >= 0)
        rh_csv__add_quoted(text, v->word[last->word]);
    else if (isfinite(x))
        rh_text__number(text, x);
}

rh_status rh_pivot__rows(rh_text *text, const rh_pivot__values *v, const double *time,
                         int64_t *ntime, const rh_log_options *opt, const rh_log__limit *limit,
                         const char *path, rh_error *err)
{
    int64_t nrow = 0;
    int64_t *at = rh_alloc(2 * ((size_t)v->ntag + 1), sizeof *at); // the next value of a tag
    if (!at)
        return rh_base__no_memory(err, path);
    int64_t *seen = at + v->ntag + 1; // the first value after the last row
    rh_status rc = RH_OK;
    memcpy(at, v->first, (size_t)v->ntag * sizeof *at);
    memcpy(seen, v->first, (size_t)v->ntag * sizeof *at);
    for (int64_t k = 0; !rc && k < *ntime; k++) {
        double last = -INFINITY;
        for (int t = 0; t < v->ntag; t++) {
            while (at[t] < v->first[t + 1] && v->value[at[t]].time <= time[k])
                at[t]++;
            if (at[t] > v->first[t] && v->value[at[t] - 1].time > last)
                last = v->value[at[t] - 1].time;
        }
        if (time[k] - last > opt->max_gap)
            continue;
        rh_text__number(text, time[k]);
        for (int t = 0; t < v->ntag; t++) {
            rh_text__add(text, ",");
            add_value(text, v, t, time[k], seen[t], at[t], opt);
            seen[t] = at[t];
        }
        rh_text__add(text, "\n");
        nrow++;
        rc = text->bad ? rh_base__no_memory(err, path)
                       : rh_log__within(limit, (int64_t)text->n, path, err);
    }
    *ntime = nrow;
    rh_free(at);
    return rc;
}
