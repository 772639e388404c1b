// log_internal.h - shared by the files of the module and its tests.

#ifndef REHEARSE_LOG_INTERNAL_H
#define REHEARSE_LOG_INTERNAL_H

#include "rehearse/log.h"

#include "base/scratch.h"
#include "base/text.h"
#include "log.h"

#include <stdatomic.h>

// ---------------------------------------------------------------------------- columns

#define RH_COLUMN__BLOCK 32768 // rows of a block

// One array of a growing log. It grows in blocks, so nothing is copied and at most one block is
// spare; rh_column__flatten() makes it contiguous.
typedef struct rh_column {
    size_t width;  // bytes of a row
    int64_t n;     // rows
    int64_t first; // rows of the first block: as many as expected, or RH_COLUMN__BLOCK
    char **block;  // owned                     (nblock, room for nroom)
    int nblock, nroom;
} rh_column;

// Append a row, zeroed or left from a removed row; NULL if memory runs out.
void *rh_column__push(rh_column *column);
void *rh_column__at(const rh_column *column, int64_t row);
// All rows as one array; the column is left empty. NULL if memory runs out.
// Owned: the array, free with rh_free().
void *rh_column__flatten(rh_column *column);
void rh_column__clear(rh_column *column);

// ---------------------------------------------------------------------------- a log's memory

// A log and the texts it owns. The public part comes first.
typedef struct rh_log__body {
    rh_log log;
    char **text; // every name, label and note, owned  (ntext, room for nroom)
    int ntext, nroom;
    atomic_int nowner; // who will call rh_log_destroy()
} rh_log__body;

// An empty log with one owner; NULL if memory runs out.
rh_log__body *rh_log__new(void);

// A copy of text that lasts as long as the log; NULL if memory runs out.
const char *rh_log__keep(rh_log__body *body, const char *text);

// An array of n such copies. Owned: the array. NULL if memory runs out.
const char **rh_log__keep_all(rh_log__body *body, const char *const *text, int n);

// The same for names; without any, stem_0, stem_1, ... or the stem alone.
const char **rh_log__keep_names(rh_log__body *body, const char *const *name, int n,
                                const char *stem);

// Add a sentence about how a finished log was read.
rh_status rh_log__add_note(rh_log *log, rh_error *err, const char *format, ...) RH_PRINTF(3, 4);

// Set episode and step of every transition from `first`. False if memory runs out.
bool rh_log__number_steps(rh_log *log);

// ---------------------------------------------------------------------------- building

// Set the action names that pushed actions index. Names are sorted; unused ones are left out.
rh_status rh_log__set_labels(rh_log_builder *builder, const char *const *label, int nlabel,
                             rh_error *err);

// Expect about nrow rows; call it before the first. A good guess saves the copy at the end; one
// that is too large costs address space but no memory.
void rh_log__expect(rh_log_builder *builder, int64_t nrow);

// How much memory and time a log may take.
typedef struct rh_log__limit {
    int64_t most;   // bytes
    int64_t size;   // bytes of the file, if that is the reason; else -1
    double seconds; // of processor time
    double until;   // of the thread's processor time, INFINITY: no limit
} rh_log__limit;

// The time begins now, in this thread. size: bytes of the file, -1 if unknown.
rh_log__limit rh_log__limit_of(const rh_log_options *opt, int64_t size);
rh_status rh_log__within(const rh_log__limit *limit, int64_t bytes, const char *path,
                         rh_error *err);

// Whether `packed` bytes may have become a text of `unpacked` bytes.
rh_status rh_log__within_text(const rh_log_options *opt, int64_t packed, int64_t unpacked,
                              const char *path, rh_error *err);

// Bytes of a log's file, -1 if unknown.
int64_t rh_log__file_size(const char *path);

// What the reward's formula adds to a terminal step.
void rh_log__set_terminal_reward(rh_log_builder *builder, double added);

// Refuse rows beyond the limit; call it before the first.
void rh_log__set_limit(rh_log_builder *builder, rh_log__limit limit);

// Whether nrow rows are within the limit.
rh_status rh_log__fits(const rh_log_builder *builder, int64_t nrow, rh_error *err);

// Fill short gaps of missing values; call it before the first row.
rh_status rh_log__fill_gaps(rh_log_builder *builder, rh_error *err);

// The counts so far, for messages.
rh_log_reading *rh_log__reading(rh_log_builder *builder);

// Decide whether the actions act (n x nact) are discrete: named by label (nlabel), or by their
// own values. If so they become indices (n), and body's naction, nact and label are set.
// note (size): what was decided and why, "" if there is nothing to say.
rh_status rh_log__classify(rh_log__body *body, double *act, const rh_log_shape *shape,
                           bool sorted, char *note, size_t size, rh_error *err);

// Sort names of actions (n): numbers by value, others alphabetically.
void rh_log__sort_labels(const char **label, int n);

// The index of `value` among labels that are numbers, or -1.
int rh_log__label_index(const char *const *label, int nlabel, double value);

// ---------------------------------------------------------------------------- files

// A format is one file and one line in registry.c.
typedef struct rh_log__format {
    rh_log_format about;
    const char *ending[4]; // suffixes it writes, ".csv"; ends with NULL

    // Whether a file has this format, by its first n bytes; folder: a directory, n is 0.
    // NULL if only another reader can tell.
    bool (*probe)(const char *path, bool folder, const unsigned char *head, size_t n);

    // Read a file, or NULL. opt has been checked, path exists. Owned: *out. Nullable: nothing.
    rh_status (*read)(rh_log **out, const char *path, const rh_log_options *opt, rh_error *err);

    // Read an open file, which can be read twice, and close it; or NULL. path: for messages.
    rh_status (*read_fd)(rh_log **out, int fd, const char *path, const rh_log_options *opt,
                         rh_error *err);

    // Write a file, completely or not at all; or NULL.
    rh_status (*write)(const rh_log *log, const char *path, rh_error *err);
} rh_log__format;

extern const rh_log__format rh_log__csv, rh_log__jsonl, rh_log__npz, rh_log__minari,
    rh_log__d4rl, rh_log__d3rlpy;

// Read several paths, one on each line, and join the logs. join.c
rh_status rh_log__read_all(rh_log **out, const char *paths, const rh_log_options *opt,
                           rh_error *err);

// Split a comma-separated list into trimmed words. Owned: *word, one block with the array and
// the text, free with rh_free().
rh_status rh_log__split(const char *list, char ***word, int *nword, rh_error *err);

// Set what a failure is: "terminal", "none" or a formula over the sensors of *log, which is
// replaced.
rh_status rh_log__set_failure(rh_log **log, const char *text, const char *path, rh_error *err);

// Add the sensors that a list of formulas derives from those of *log, which is replaced.
rh_status rh_log__derive(rh_log **log, const char *list, const char *path, rh_error *err);

// Make one step of all rows of an interval: opt->every, or if that is NAN opt->every_rows. *log
// is replaced.
rh_status rh_log__every(rh_log **log, const rh_log_options *opt, const char *path,
                        rh_error *err);

// Parse such an interval: a duration, or "300 rows". *time is NAN or *rows is 1. every.c
bool rh_log__parse_every(const char *text, double *time, int64_t *rows);

// Set which sensors no action moves: a list of names and patterns, each of which must match a
// sensor of *log, which is replaced.
rh_status rh_log__set_exogenous(rh_log **log, const char *list, const char *path,
                                rh_error *err);

// Add formulas to `derive`: of the errors of the setpoints in a list, "T_sp=T". Then set the
// list, and the values that a model gives them; *log is replaced. setpoint.c
rh_status rh_log__add_errors(rh_text *derive, const rh_log *log, const char *list,
                             const char *path, rh_error *err);
rh_status rh_log__set_setpoints(rh_log **log, const char *list, rh_setpoint_values values,
                                rh_error *err);

// A log that is made anew from another one: with other steps, states or sensors. remade.c
typedef struct rh_log__remade {
    const rh_log *old; // borrowed
    rh_log log;        // n, nstate and nepisode so far; what is not made anew is as in old
    double *obs, *act, *reward; // as in rh_log, with space for all steps of old
    double *time;               //
    int32_t *from, *to;         //
    uint8_t *flag, *start;      //
    int64_t *line, *first;      // line: NULL if old has none
    rh_scratch scratch;         // owns the arrays
} rh_log__remade;

// Begin, with nobs numbers in an observation; false if memory runs out. Clear the scratch
// afterwards, also after a failure.
bool rh_log__remake(rh_log__remade *m, const rh_log *old, int nobs);
// A new state, which is in the file where state `row` of old is; where its observation goes.
double *rh_log__remade_state(rh_log__remade *m, int64_t row);
// The next step begins an episode; starts: in a start state.
void rh_log__remade_episode(rh_log__remade *m, bool starts);
// Put the new log, with a further note, in the place of *log.
rh_status rh_log__remade_end(rh_log__remade *m, const rh_text *note, rh_log **log,
                             const char *path, rh_error *err);

#define RH_LOG__MOST_STACKED 64 // observations in one
// Add the observations of the last `depth` - 1 steps, and the actions between, to those of
// *log, which is replaced.
rh_status rh_log__stack(rh_log **log, int depth, const char *path, rh_error *err);

// Numbers that stand for missing values beyond doubt.
typedef struct rh_log__sentinels {
    double value[8];
    int n;
    int64_t count; // how often they occur
    rh_text text;  // owned: "level is -9999 5 times, otherwise 0.3 to 3.1"
} rh_log__sentinels;

// Look for them. Clear found->text afterwards, also after a failure.
rh_status rh_log__find_sentinels(rh_log__sentinels *found, const rh_log *log, rh_error *err);

// Say in the log's reading that they were taken as missing values.
rh_status rh_log__tell_sentinels(rh_log *log, const rh_log__sentinels *found, rh_error *err);

// The sensor that is a terminal flag, if no step is terminal; NULL: none. Borrowed from the
// log.
const char *rh_log__find_terminal(const rh_log *log);

// Whether `name` matches `pattern`, in which * stands for any characters.
bool rh_log__matches(const char *pattern, const char *name);

bool rh_log__ends_with(const char *text, const char *ending);

// Keep a message on one line, whatever names a file has put into it; rc is returned.
rh_status rh_log__one_line(rh_status rc, rh_error *err);

// Whether x is one of the numbers that stand for a missing value.
bool rh_log__is_missing(const rh_log_options *opt, double x);

// ---------------------------------------------------------------------------- advice

// rh_advice__read() of the n bytes of a file.
rh_status rh_advice__parse(rh_advice **out, const void *text, size_t n, const char *path,
                           const rh_task *task, rh_error *err);

// A log while it follows the advice.
typedef struct rh_advice__course {
    int64_t *left;          // steps left of every row                     (nrow)
    int row;                // of the current trial
    int hold;               // steps that it may go on; 0: there is none
    int rest;               // steps of the policy before the next one
    double act[RH_MAX_ACT]; // its action                                  (nact)
} rh_advice__course;

// Begin a log; course->left is allocated.
void rh_advice__begin(rh_advice__course *course, const rh_advice *advice);

// Replace act (nact) by the action of a trial, if there is one; whether. Once per step.
bool rh_advice__follow(rh_advice__course *course, const rh_advice *advice, const double *obs,
                       rh_rng *rng, double *act);

#endif
