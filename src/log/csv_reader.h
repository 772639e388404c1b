// csv_reader.h - what the files that turn a table's rows into a log share.

#ifndef REHEARSE_LOG_CSV_READER_H
#define REHEARSE_LOG_CSV_READER_H

#include "csv.h"
#include "order.h"

typedef enum rh_log__kind {
    RH_KIND_SKIPPED,
    RH_KIND_NUMBER,
    RH_KIND_FLAG,
    RH_KIND_TIME,
    RH_KIND_NAME, // of an action
    RH_KIND_EPISODE
} rh_log__kind;

// A row taken apart.
typedef struct rh_log__seen {
    double *obs, *next, *act;
    rh_log_row row;
} rh_log__seen;

typedef struct rh_csv__reader {
    const char *path;
    const rh_log_options *opt;
    rh_csv csv;
    rh_csv__header head;
    rh_columns__plan plan;
    rh_log_builder *builder;
    rh_order order;

    rh_log__kind *kind;     // of every column                     (n)
    double *value;          // what the row has there              (n)
    bool other;             // the row is of another episode than the one before
    rh_log__seen last, now; // the row, and the one before
    double *room;           // for both, owned

    const char **label;            // names of actions      (nlabel)
    double number[RH_MAX_ACTIONS]; // that they are, or NAN (nlabel)
    bool declared;                 // there are no others
    int nlabel;
    char *own[RH_MAX_ACTIONS]; // those found, owned
    char **word;               // those the caller declared, owned

    char *id; // of the row's episode, owned           (nid, room for id_room)
    size_t nid, id_room;
    uint64_t *old; // hashes of ids that were there; 0: free  (old_room), owned
    size_t nold, old_room;

    double step; // of the row before, NAN: none
} rh_csv__reader;

rh_status rh_csv__nomem(const rh_csv__reader *r, rh_error *err);

// What actions are: names or numbers. *shape gets what is known before the first row, borrowed
// from the reader.
rh_status rh_csv__settle_actions(rh_csv__reader *r, rh_log_shape *shape, rh_error *err);

// The fields from p to end become values.
rh_status rh_csv__take(rh_csv__reader *r, char *p, char *end, rh_error *err);

// Say in words what was read as what.
rh_status rh_csv__note(rh_csv__reader *r, rh_error *err);

#endif
