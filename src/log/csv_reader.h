// csv_reader.h - shared by the files that turn the rows of a table into a log.

#ifndef REHEARSE_LOG_CSV_READER_H
#define REHEARSE_LOG_CSV_READER_H

#include "category.h"
#include "csv.h"
#include "formula.h"
#include "order.h"

typedef enum rh_log__kind {
    RH_KIND_SKIPPED,
    RH_KIND_NUMBER,
    RH_KIND_FLAG,
    RH_KIND_TIME,
    RH_KIND_NAME,     // of an action
    RH_KIND_CATEGORY, // a text as an observation
    RH_KIND_EPISODE
} rh_log__kind;

// One parsed row.
typedef struct rh_log__seen {
    double *obs, *next, *act;
    rh_log_row row;
} rh_log__seen;

typedef struct rh_csv__reader {
    const char *path;
    const char *format; // for rh_log_reading
    const rh_log_options *opt;
    rh_csv csv;
    rh_csv__header head;
    rh_columns__plan plan;
    rh_log_builder *builder;
    rh_order order;

    rh_log__kind *kind;      // of every column                     (n)
    double *value;           // values of the current row            (n)
    int64_t nundefined;      // rows in which the reward's formula has no value
    rh_formula__added added; // to terminal rows
    bool status;             // a row was refused because of a word in a column of numbers
    bool other;              // the row's episode differs from the one before
    rh_log__seen last, now;  // the row before, and the current one
    double *room;            // storage for both, owned

    const char **label;            // names of actions      (nlabel)
    double number[RH_MAX_ACTIONS]; // numeric values of the labels, or NAN (nlabel)
    bool declared;                 // label lists all actions
    int nlabel;
    char *own[RH_MAX_ACTIONS]; // names found in the file, owned
    char **word;               // names declared by the caller, owned

    char *id; // of the row's episode, owned           (nid, room for id_room)
    size_t nid, id_room;
    uint64_t *old; // hashes of earlier ids, 0: free, owned (old_room)
    size_t nold, old_room;

    rh_category *category; // owned: of the last observations       (ncategory)
    int ncategory;
    int *category_of; // owned: the category of a column       (n)

    double step; // step counter of the row before, NAN: none
} rh_csv__reader;

// Decide whether actions are names or numbers. Sets what is known in *shape before the first
// row, borrowed from the reader.
rh_status rh_csv__settle_actions(rh_csv__reader *r, rh_log_shape *shape, rh_error *err);

// Parse the fields from p to end into values.
rh_status rh_csv__take(rh_csv__reader *r, char *p, char *end, rh_error *err);

// Add to a message about a word that it may mean a missing value, as others of the file may.
void rh_csv__suggest_missing(rh_csv__reader *r, rh_error *err);

// Add notes on which column was read as what.
rh_status rh_csv__note(rh_csv__reader *r, rh_error *err);

#endif
