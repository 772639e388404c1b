// arrays.h - numeric arrays of a file become the rows of a log.
//
// HDF5 and NPZ files hold arrays of one row per step. An rh_array is one of them, whatever file
// it is in, and is read a slab at a time; an rh_feed takes rows and does to them what the
// options ask, the same for every layout; an rh_flat is a file of arrays side by side.

#ifndef REHEARSE_LOG_ARRAYS_H
#define REHEARSE_LOG_ARRAYS_H

#include "order.h"

// ---------------------------------------------------------------------------- one array

#define RH_ARRAY__NAME 256

typedef struct rh_array {
    char name[RH_ARRAY__NAME]; // as the file calls it, "infos/qpos"
    const char *type;          // "float32", "bool", ...
    bool numeric;              // else it cannot be read
    bool whole;                // integers or booleans
    int rank;                  // 0: one number, not an array
    int64_t nrow;              // the first dimension
    int64_t width;             // numbers in a row: the other dimensions together
    char shape[48];            // "(100, 3)"

    // Rows first .. first + n - 1 as x (n x width). Called in order, and without gaps.
    rh_status (*load)(struct rh_array *array, int64_t first, int64_t n, double *x,
                      rh_error *err);
    void (*shut)(struct rh_array *array); // NULL when nothing is to be closed
    void *source;                         // the file, borrowed
    void *stream;                         // the source's own
    int64_t handle;                       // the source's own

    double *slab;        // rows that were loaded, owned  (room x width)
    int64_t first, n;    // which
    int64_t room, nload; // rows loaded so far
} rh_array;

// Set the shape from the dimensions dim (rank). False when there are more numbers than can be.
bool rh_array__set_shape(rh_array *array, int rank, const int64_t *dim);

// Row `row` (width), good until another is asked for. Rows are asked for in order; the last one
// may be asked for again.
rh_status rh_array__row(rh_array *array, int64_t row, const double **x, rh_error *err);

void rh_array__clear(rh_array *array);

// Arrays side by side, as one wider array.
typedef struct rh_beside {
    rh_array **array; // owned, what it points to is borrowed  (n)
    int n, width;
} rh_beside;

// Row `row` of all of them as x (width).
rh_status rh_beside__row(const rh_beside *beside, int64_t row, double *x, rh_error *err);

// ---------------------------------------------------------------------------- rows

// What a file says of its steps. shape.action and shape.label are settled from the rest.
typedef struct rh_feed__plan {
    rh_log_shape shape;
    const char *const *label; // the file's own names of its actions, or NULL  (nlabel)
    int nlabel;               //
    bool indices;             // actions are places in label; else the numbers that these name
    const char *action;       // the actions' array, for messages, borrowed
    bool named;               // rows say which episode they are of
} rh_feed__plan;

#define RH_FEED__SEEN 64

// Rows on their way to a log: missing numbers become NAN, and actions places among their
// labels.
typedef struct rh_feed {
    rh_log_builder *builder;   // owned
    const rh_log_options *opt; // borrowed
    const char *path, *action; // borrowed
    int nobs, nact;
    bool indices;
    char **label; // declared by the options, owned           (nlabel)
    int nlabel;
    const char *const *all; // the actions there are, borrowed; none when they are not said
    int nall;               //                                 (nall)
    const char *const *own; // of the file, borrowed          (nown)
    int nown;
    double seen[RH_FEED__SEEN]; // numbers of actions met, and their places (nseen)
    int place[RH_FEED__SEEN];
    int nseen;
    double *work; // rows kept, owned: two of (nobs + nobs + nact)
    bool second;  // the next row goes to the second of them
    rh_order order;
} rh_feed;

// Borrowed: plan's texts while the feed is open, opt. What was opened is to be cleared.
rh_status rh_feed__open(rh_feed *feed, const rh_feed__plan *plan, const rh_log_options *opt,
                        rh_error *err);

// Row `at` of the file's actions, for messages.
rh_status rh_feed__push(rh_feed *feed, const rh_log_row *row, int64_t at, rh_error *err);

// All rows are in. Owned: *out.
rh_status rh_feed__finish(rh_feed *feed, rh_log **out, rh_error *err);
void rh_feed__clear(rh_feed *feed);

// ---------------------------------------------------------------------------- flat files

typedef enum rh_flat__role {
    RH_FLAT_OBS,
    RH_FLAT_ACTION,
    RH_FLAT_REWARD,
    RH_FLAT_TERMINAL,
    RH_FLAT_TRUNCATED,
    RH_FLAT_NEXT,
    RH_FLAT_EPISODE,
    RH_FLAT_TIME,
    RH_FLAT_NROLE
} rh_flat__role;

// A file of arrays with one row per step.
typedef struct rh_flat {
    const char *what;                        // what an array is called there: "dataset"
    rh_array *array;                         // all there are           (narray)
    int narray;                              //
    const char *const *usual[RH_FLAT_NROLE]; // names looked for, each list ending with NULL
    bool terminal_needed;                    // refused without terminals
    bool ends;                               // truncated marks every end, terminals too
    const double *boundary; // rows with which episodes begin, in order (nboundary)
    int64_t nboundary;      //
    const char *bounds;     // the array that says so
    const char *remark;     // a sentence on how it is read, or NULL
    rh_array *starts;       // not 0: an episode begins with this row; or NULL
    rh_array *known;        // 0: s' is not known whatever next says; or NULL
    const double *start;    // of an episode: 0: it resumes after a gap    (nstart)
    int64_t nstart;         //
    rh_feed__plan plan;     // path, format and names; what the arrays say is filled in
} rh_flat;

// Owned: *out.
rh_status rh_flat__read(rh_log **out, const rh_flat *flat, const rh_log_options *opt,
                        rh_error *err);

// Numbers that have been met.
typedef struct rh_ids {
    double *slot; // owned, NAN where there is none  (room)
    size_t n, room;
} rh_ids;

// Remember x, which is not NAN; *known: it was there before. False when memory ran out.
bool rh_ids__add(rh_ids *ids, double x, bool *known);

// The array called `name`, or NULL.
rh_array *rh_flat__find(const rh_flat *flat, const char *name);

// Refuse with the names there are.
rh_status rh_flat__no_array(const rh_flat *flat, const char *word, rh_error *err);

// The arrays of a reward in the caller's words, and the factor of each, at most `room`.
rh_status rh_flat__reward(const rh_flat *flat, const char *text, rh_beside *out, double *factor,
                          int room, rh_error *err);

// Keep a message on one line, whatever names a file has put into it; rc is returned.
rh_status rh_log__one_line(rh_status rc, rh_error *err);

// A piece of text for a message: at most 40 letters, control characters as '?'.
const char *rh_log__shown(const char *text, char room[48]);

#endif
