// log_internal.h - what the files of the room share, and what its tests reach for.

#ifndef REHEARSE_LOG_INTERNAL_H
#define REHEARSE_LOG_INTERNAL_H

#include "rehearse/log.h"

// ---------------------------------------------------------------------------- columns

#define RH_COLUMN__BLOCK 32768 // rows of a block

// One array of a growing log: blocks while it grows, so that nothing is copied and no more than
// one block is spare; one piece at the end.
typedef struct rh_column {
    size_t width;  // bytes of a row
    int64_t n;     // rows
    int64_t first; // rows of the first block: as many as are expected, or RH_COLUMN__BLOCK
    char **block;  // owned                     (nblock, room for nroom)
    int nblock, nroom;
} rh_column;

// A new last row, zeroed or left from a row taken back; NULL when memory ran out.
void *rh_column__push(rh_column *column);
void *rh_column__at(const rh_column *column, int64_t row);
// All rows in one piece, and the column empty; NULL when memory ran out.
// Owned: the answer, free with rh_free().
void *rh_column__flatten(rh_column *column);
void rh_column__clear(rh_column *column);

// ---------------------------------------------------------------------------- a log inside

// A log and what it owns. The public part comes first.
typedef struct rh_log__body {
    rh_log log;
    char **text; // every name, label and note, owned  (ntext, room for nroom)
    int ntext, nroom;
} rh_log__body;

// A copy of text that runs as long as the log; NULL when memory ran out.
const char *rh_log__keep(rh_log__body *body, const char *text);

// A new array of n copies of text that live as long as the log. Owned: the array. NULL when
// memory ran out.
const char **rh_log__keep_all(rh_log__body *body, const char *const *text, int n);

// The same for names; without any, stem_0, stem_1, ... or the stem alone.
const char **rh_log__keep_names(rh_log__body *body, const char *const *name, int n,
                                const char *stem);

// Give every transition its episode and its place in it, by `first`. False when memory ran out.
bool rh_log__number_steps(rh_log *log);

// ---------------------------------------------------------------------------- building

// The names of the actions, found while reading, that the actions pushed are indices of. They
// are put in order, and what was never pushed is left out.
rh_status rh_log__set_labels(rh_log_builder *builder, const char *const *label, int nlabel,
                             rh_error *err);

// About how many rows will come: with a good guess nothing has to be copied at the end. To be
// called before the first. One too large costs address space and no memory.
void rh_log__expect(rh_log_builder *builder, int64_t nrow);

// What a builder knows while rows come, for messages and counts.
rh_log_reading *rh_log__reading(rh_log_builder *builder);

// Decide what the actions act (n x nact) are: names in label (nlabel) or their own. When they
// are discrete they become indices (n) and body's naction, nact and label are set.
// note (size): what was decided and why, "" when there is nothing to say.
rh_status rh_log__classify(rh_log__body *body, double *act, const rh_log_shape *shape,
                           bool sorted, char *note, size_t size, rh_error *err);

// The place of `value` among labels that are numbers, or -1.
int rh_log__label_index(const char *const *label, int nlabel, double value);

// ---------------------------------------------------------------------------- files

// A format is one file and one line in registry.c.
typedef struct rh_log__format {
    rh_log_format about;
    const char *ending[4]; // of paths it writes to, ".csv"; ends with NULL

    // Whether a file is of this kind by its first n bytes; folder: it is a folder, n is 0.
    // NULL when it is only found inside another's reader.
    bool (*probe)(const char *path, bool folder, const unsigned char *head, size_t n);

    // Read it, or NULL. opt is whole and checked, path exists. Owned: *out. Nullable: nothing.
    rh_status (*read)(rh_log **out, const char *path, const rh_log_options *opt, rh_error *err);

    // Write it, whole or not at all; or NULL.
    rh_status (*write)(const rh_log *log, const char *path, rh_error *err);
} rh_log__format;

extern const rh_log__format rh_log__csv, rh_log__npz, rh_log__minari, rh_log__d4rl,
    rh_log__d3rlpy;

// A comma-separated list, cut into its words with blanks around them taken off. Owned: *word,
// one block that holds the array and the text, free with rh_free().
rh_status rh_log__split(const char *list, char ***word, int *nword, rh_error *err);

// Whether `name` is `pattern`, in which * stands for any letters.
bool rh_log__matches(const char *pattern, const char *name);

// Whether a text ends so.
bool rh_log__ends_with(const char *text, const char *ending);

// Whether x is one of the numbers that stand for a missing one.
bool rh_log__is_missing(const rh_log_options *opt, double x);

#endif
