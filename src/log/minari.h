// minari.h - shared by the files that read and write Minari datasets.

#ifndef REHEARSE_LOG_MINARI_H
#define REHEARSE_LOG_MINARI_H

#include "hdf5.h"
#include "metadata.h"

// The datasets of the observations or actions, one for each leaf of the space.
typedef struct rh_minari__bundle {
    rh_log__leaf *leaf; // owned                (n)
    rh_array *part;     // of the open episode, owned (n)
    rh_array **beside;  // owned                (n)
    int n, width;       // width: numbers of a row in the file
    int nout;           // and in the log, where a category has a number for each value
    int ngroup;         // groups seen while looking for the datasets
    bool open;
} rh_minari__bundle;

// Datasets of an episode with one number for each step.
typedef enum rh_minari__column {
    RH_MINARI_REWARD,
    RH_MINARI_TERMINAL,
    RH_MINARI_TRUNCATED,
    RH_MINARI_TIME, // may have one more; there may be none
    RH_MINARI_NCOLUMN
} rh_minari__column;

typedef struct rh_minari__reader {
    rh_hdf5 *file;             // borrowed
    const rh_log_options *opt; // borrowed
    const char *path;          // borrowed
    rh_metadata metadata;
    rh_metadata__own own;
    rh_minari__bundle obs, act;
    rh_array column[RH_MINARI_NCOLUMN]; // of the open episode
    char time_name[RH_ARRAY__NAME];     // below an episode; "" if none
    rh_feed feed;
    int64_t ncombination;        // of discrete actions that are a product; else 0
    char **label;                // of a Discrete space, owned, one block
    char **obs_name, **act_name; // owned, one block each
    double *row, *next, *action; // owned, one block
    double *raw;                 // in that block: observations as in the file
    bool joined;                 // the next episode continues the last one
    bool ours;                   // written by rehearse, with its own attributes
} rh_minari__reader;

// The text of a file, NULL if it does not exist. Owned: *text, free with rh_free().
rh_status rh_minari__text(const char *path, char **text, size_t *n, rh_error *err);

// Read the dataset's metadata; *any: there is some.
rh_status rh_minari__metadata(rh_minari__reader *r, bool *any, rh_error *err);

// The leaves of `what` ("observations"), from the space or else from the episode's datasets.
rh_status rh_minari__leaves(rh_minari__reader *r, rh_minari__bundle *b,
                            const rh_minari__space *space, const char *episode,
                            const char *what, rh_error *err);

// Find the dataset of times by the usual names in the first episode.
void rh_minari__find_time(rh_minari__reader *r, const char *episode);

// Whether a part of the observations is a category.
bool rh_minari__is_category(const rh_log__leaf *leaf);

// Open the datasets of an episode, push its rows, and close them, even if opening failed.
rh_status rh_minari__open_episode(rh_minari__reader *r, const char *episode, rh_error *err);
rh_status rh_minari__push_episode(rh_minari__reader *r, const char *episode, rh_error *err);
void rh_minari__close_episode(rh_minari__reader *r);

rh_status rh_minari__write(const rh_log *log, const char *path, rh_error *err);

#endif
