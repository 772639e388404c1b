// actions.c - decides whether the actions of a log are discrete or continuous.
//
// 1. Actions of one number, all integers with few distinct values, are discrete unless the
//    caller says otherwise. A motor at 0 or 100 looks the same, so a note tells the decision.
// 2. Actions of several numbers are continuous unless the caller says that they are discrete;
//    then every combination that occurs is an action, named "1/0/2".
// 3. Actions are sorted (numbers by value, names alphabetically), so that two logs of one plant
//    agree on their indices as far as possible.

#include "base/base_internal.h"
#include "base/number.h"
#include "log_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW 32      // most distinct integers that are taken for names
#define VERY_FEW 10 // the same for a short log
#define LONGEST 200 // characters of a combination's name

int rh_log__label_index(const char *const *label, int nlabel, double value)
{
    for (int i = 0; i < nlabel; i++) {
        double x;
        if (rh_number__read(label[i], strlen(label[i]), &x) == RH_NUMBER && x == value)
            return i;
    }
    return -1;
}

static int compare_vectors(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

// The index of x (width) among n sorted vectors, or -1 - the index where it belongs.
static int look_up(const double *sorted, int n, const double *x, int width)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        int order = compare_vectors(sorted + (size_t)mid * (size_t)width, x, width);
        if (order == 0)
            return mid;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1 - lo;
}

// The distinct vectors of act (n x width), sorted, in found: at most RH_MAX_ACTIONS + 1.
static int distinct(const double *act, int64_t n, int width, double *found)
{
    int nfound = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *x = act + i * width;
        int at = look_up(found, nfound, x, width);
        if (at >= 0)
            continue;
        double *gap = found + (size_t)(-1 - at) * (size_t)width;
        size_t behind = (size_t)(nfound + 1 + at) * (size_t)width;
        memmove(gap + width, gap, behind * sizeof *gap);
        memcpy(gap, x, (size_t)width * sizeof *gap);
        if (++nfound > RH_MAX_ACTIONS)
            break;
    }
    return nfound;
}

static bool all_whole(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i] != floor(x[i]) || fabs(x[i]) > 9e15)
            return false;
    return true;
}

static void name_vector(const double *x, int width, char text[LONGEST])
{
    text[0] = 0;
    for (int i = 0; i < width; i++) {
        char number[RH_NUMBER__SIZE];
        rh_number__print(x[i] + 0.0, number); // avoids "-0"
        rh_text__put(text, LONGEST, "%s%s", i ? "/" : "", number);
    }
}

// "0, 1, 2, ...", cut to fit.
static void list_labels(const rh_log *log, char *text, size_t size)
{
    for (int i = 0; i < log->naction; i++) {
        if (i == 6 && log->naction > 7) {
            rh_text__put(text, size, ", ... %s", log->label[log->naction - 1]);
            return;
        }
        rh_text__put(text, size, "%s%s", i ? ", " : "", log->label[i]);
    }
}

// ---------------------------------------------------------------------------- with labels

typedef struct named {
    const char *label;
    double number; // if all labels are numbers
    int was;       // index before sorting
} named;

static int by_number(const void *a, const void *b)
{
    double x = ((const named *)a)->number, y = ((const named *)b)->number;
    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->label, ((const named *)b)->label);
}

// Those of the labels that are wanted, sorted, in all; how many.
static int sort_named(named *all, const char *const *label, const bool *wanted, int nlabel)
{
    bool numbers = true;
    int n = 0;
    for (int i = 0; i < nlabel; i++) {
        double x = 0.0;
        if (wanted && !wanted[i])
            continue;
        numbers = rh_number__read(label[i], strlen(label[i]), &x) == RH_NUMBER && numbers;
        all[n++] = (named){label[i], x, i};
    }
    qsort(all, (size_t)n, sizeof *all, numbers ? by_number : by_name);
    return n;
}

void rh_log__sort_labels(const char **label, int n)
{
    named all[RH_MAX_ACTIONS];
    sort_named(all, label, NULL, n);
    for (int i = 0; i < n; i++)
        label[i] = all[i].label;
}

// Sort the labels that occur, and renumber the actions.
static rh_status sort_labels(rh_log__body *body, double *act, int nlabel, rh_error *err)
{
    rh_log *log = &body->log;
    bool taken[RH_MAX_ACTIONS] = {false};
    named all[RH_MAX_ACTIONS];
    int place[RH_MAX_ACTIONS] = {0};
    for (int64_t i = 0; i < log->n; i++)
        taken[(int)act[i]] = true;
    int n = sort_named(all, log->label, taken, nlabel);

    const char **sorted = rh_alloc((size_t)n + 1, sizeof *sorted);
    if (!sorted)
        return rh_base__no_memory(err, log->path);
    for (int i = 0; i < n; i++) {
        sorted[i] = all[i].label;
        place[all[i].was] = i;
    }
    for (int64_t i = 0; i < log->n; i++)
        act[i] = place[(int)act[i]];
    rh_free((void *)log->label);
    log->label = sorted;
    log->naction = n;
    return RH_OK;
}

// ---------------------------------------------------------------------------- without labels

static rh_status name_actions(rh_log__body *body, double *act, const double *found, int nfound,
                              rh_error *err)
{
    rh_log *log = &body->log;
    int width = log->nact;
    log->label = rh_alloc((size_t)nfound + 1, sizeof *log->label);
    if (!log->label)
        return rh_base__no_memory(err, log->path);
    for (int i = 0; i < nfound; i++) {
        char text[LONGEST];
        name_vector(found + (size_t)i * (size_t)width, width, text);
        log->label[i] = rh_log__keep(body, text);
        if (!log->label[i])
            return rh_base__no_memory(err, log->path);
    }
    for (int64_t i = 0; i < log->n; i++)
        act[i] = look_up(found, nfound, act + i * width, width);
    log->naction = nfound;
    log->nact = 1;
    return RH_OK;
}

rh_status rh_log__classify(rh_log__body *body, double *act, const rh_log_shape *shape,
                           bool sorted, char *note, size_t size, rh_error *err)
{
    rh_log *log = &body->log;
    char list[200] = "";
    if (shape->nlabel > 0) {
        log->naction = shape->nlabel;
        return sorted ? sort_labels(body, act, shape->nlabel, err) : RH_OK;
    }
    if (shape->action == RH_ACTION_CONTINUOUS ||
        (shape->action == RH_ACTION_AUTO && log->nact > 1))
        return RH_OK;

    double *found = rh_alloc((size_t)(RH_MAX_ACTIONS + 1) * (size_t)log->nact, sizeof *found);
    if (!found)
        return rh_base__no_memory(err, log->path);
    rh_status rc = RH_OK;
    bool whole = all_whole(act, log->n * log->nact);
    bool asked = shape->action == RH_ACTION_DISCRETE;
    int nfound = asked || whole ? distinct(act, log->n, log->nact, found) : 0;
    bool few = nfound <= VERY_FEW || (nfound <= FEW && 2 * nfound <= log->n);
    if (asked && nfound > RH_MAX_ACTIONS) {
        rc = rh_fail(err, RH_EFORMAT,
                     "%s: more than %d different actions, expected at most that many if they "
                     "are discrete; --action-kind continuous reads them as quantities",
                     rh_base__path_tail(log->path), RH_MAX_ACTIONS);
    } else if (asked || (whole && (few || (shape->whole && nfound <= RH_MAX_ACTIONS)))) {
        rc = name_actions(body, act, found, nfound, err);
        if (rc == RH_OK && !asked) {
            list_labels(log, list, sizeof list);
            snprintf(note, size, "actions are discrete: %d different whole number%s (%s)",
                     nfound, nfound == 1 ? "" : "s", list);
        }
    } else if (whole) {
        snprintf(note, size, "actions are continuous: whole numbers, but %s%d different ones",
                 nfound > RH_MAX_ACTIONS ? "more than " : "",
                 nfound > RH_MAX_ACTIONS ? RH_MAX_ACTIONS : nfound);
    }
    rh_free(found);
    return rc;
}
