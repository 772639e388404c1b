// arrays.h - turns numeric arrays of a file into rows of a log.
//
// HDF5 and NPZ files hold arrays with a row per step. An rh_array is one of them, read in
// slabs; an rh_feed applies the options to rows of any layout; an rh_flat is a file of arrays.

#ifndef REHEARSE_LOG_ARRAYS_H
#define REHEARSE_LOG_ARRAYS_H

#include "order.h"

#include "base/expression.h"

// ---------------------------------------------------------------------------- one array

#define RH_ARRAY__NAME 256

typedef struct rh_array {
    char name[RH_ARRAY__NAME]; // as in the file, "infos/qpos"
    const char *type;          // "float32", "bool", ...
    bool numeric;              // false: it cannot be read
    bool whole;                // integers or booleans
    int rank;                  // 0: a single number
    int64_t nrow;              // first dimension
    int64_t width;             // numbers in a row: product of the other dimensions
    char shape[48];            // "(100, 3)"

    // Load rows first .. first + n - 1 into x (n x width). Called in order, without gaps.
    rh_status (*load)(struct rh_array *array, int64_t first, int64_t n, double *x,
                      rh_error *err);
    void (*shut)(struct rh_array *array); // NULL if there is nothing to close
    void *source;                         // the file, borrowed
    void *stream;                         // private to the source
    int64_t handle;                       // private to the source

    double *slab;        // rows in memory, owned         (room x width)
    int64_t first, n;    // which rows
    int64_t room, nload; // rows loaded so far
} rh_array;

// Set the shape from the dimensions dim (rank). False if there are too many numbers.
bool rh_array__set_shape(rh_array *array, int rank, const int64_t *dim);

// Row `row` (width), valid until the next call. Ask in order, or for the last one again.
rh_status rh_array__row(rh_array *array, int64_t row, const double **x, rh_error *err);

// Whether number `row` is not 0. NAN is refused. path: of the file, for messages.
rh_status rh_array__flag(rh_array *array, int64_t row, const char *path, bool *flag,
                         rh_error *err);

// Refuse rows of more than RH_MAX_OBS numbers or none; or of other than one number.
rh_status rh_array__check_width(const rh_array *array, const char *path, rh_error *err);
rh_status rh_array__check_single(const rh_array *array, const char *path, rh_error *err);

void rh_array__clear(rh_array *array);

// Several arrays side by side, read as one wider array.
typedef struct rh_beside {
    rh_array **array; // owned; the arrays are borrowed  (n)
    int n, width;
} rh_beside;

// Row `row` of all arrays as x (width).
rh_status rh_beside__row(const rh_beside *beside, int64_t row, double *x, rh_error *err);

// ---------------------------------------------------------------------------- rows

// What a file says about its steps. shape.action and shape.label are derived from the rest.
typedef struct rh_feed__plan {
    rh_log_shape shape;
    const char *const *label; // names of the actions in the file, or NULL  (nlabel)
    int nlabel;               //
    bool indices;             // actions are indices into label; else the numbers in label
    const char *action;       // name of the action array for messages, borrowed
    bool named;               // rows name their episode
} rh_feed__plan;

#define RH_FEED__SEEN 64

// Passes rows to a log: missing numbers become NAN, actions become indices of labels.
typedef struct rh_feed {
    rh_log_builder *builder;   // owned
    const rh_log_options *opt; // borrowed
    const char *path, *action; // borrowed
    int nobs, nact;
    bool indices;
    char **label; // declared by the options, owned           (nlabel)
    int nlabel;
    const char *const *all; // all actions, borrowed; NULL if not declared
    int nall;               //                                 (nall)
    const char *const *own; // labels of the file, borrowed             (nown)
    int nown;
    double seen[RH_FEED__SEEN]; // action values so far, with their indices (nseen)
    int place[RH_FEED__SEEN];
    int nseen;
    double *work; // rows held, owned: two of (nobs + nobs + nact)
    bool second;  // the next row goes into the second
    rh_order order;
} rh_feed;

// Borrowed: plan's texts while the feed is open, opt. Clear it afterwards.
rh_status rh_feed__open(rh_feed *feed, const rh_feed__plan *plan, const rh_log_options *opt,
                        rh_error *err);

// at: the row of the file's actions, for messages.
rh_status rh_feed__push(rh_feed *feed, const rh_log_row *row, int64_t at, rh_error *err);

// Refuse options that name arrays, for a layout with fixed names: "a d3rlpy dump". obs: those
// of the observations too.
rh_status rh_feed__refuse_names(const rh_log_options *opt, bool obs, const char *what,
                                const char *path, rh_error *err);

// Make the log. Owned: *out.
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
    const char *what;                     // what the file calls an array: "dataset"
    rh_array *array;                      // all arrays              (narray)
    int narray;                           //
    const char *usual[RH_FLAT_NROLE][10]; // usual names of each role, ending with NULL
    bool terminal_needed;                 // fail if there are no terminals
    bool ends;                            // truncated marks terminal ends too
    const double *boundary;               // first rows of episodes, in order (nboundary)
    int64_t nboundary;                    //
    const char *bounds;                   // name of the array that gives them
    const char *remark;                   // a note on how the file is read, or NULL
    rh_array *starts;                     // nonzero: an episode begins with this row; or NULL
    rh_array *known;                      // 0: s' is unknown whatever next says; or NULL
    const double *start;                  // per episode; 0: it resumes after a gap  (nstart)
    int64_t nstart;                       //
    rh_feed__plan plan; // path, format and names; the rest is filled in from the arrays
} rh_flat;

// Owned: *out.
rh_status rh_flat__read(rh_log **out, const rh_flat *flat, const rh_log_options *opt,
                        rh_error *err);

// A set of numbers.
typedef struct rh_ids {
    double *slot; // owned, NAN if free              (room)
    size_t n, room;
} rh_ids;

// Add x, which is not NAN; *known: it was there already. False if memory runs out.
bool rh_ids__add(rh_ids *ids, double x, bool *known);

// The array called `name`, or NULL.
rh_array *rh_flat__find(const rh_flat *flat, const char *name);

// Fail with a message that lists the arrays.
rh_status rh_flat__no_array(const rh_flat *flat, const char *word, rh_error *err);

// A number of a row that a formula may name.
typedef struct rh_flat__item {
    rh_array *array; // borrowed
    int column;
    bool whole; // it is called as its array
} rh_flat__item;

// The formula of a reward. Starts as all zeros.
typedef struct rh_flat__formula {
    rh_expression compiled; // without instructions: the reward is one array
    rh_flat__item *item;    // owned: what it may name  (n)
    const char **name;      // owned                    (n)
    double *x;              // owned: values in a row   (n)
    int n;
    char *text; // owned: the names, one block
    size_t ntext;
} rh_flat__formula;

// Compile the formula of a reward; add its arrays to out. Clear it afterwards.
rh_status rh_flat__reward(rh_flat__formula *formula, const rh_flat *flat, const char *text,
                          rh_beside *out, rh_error *err);
void rh_flat__clear_formula(rh_flat__formula *formula);

#endif
