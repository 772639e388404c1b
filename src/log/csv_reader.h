// csv_reader.h - what the files that turn a table's rows into a log share.

#ifndef REHEARSE_LOG_CSV_READER_H
#define REHEARSE_LOG_CSV_READER_H

#include "csv.h"
#include "order.h"

typedef enum rh_kind {
    RH_KIND_SKIPPED,
    RH_KIND_NUMBER,
    RH_KIND_FLAG,
    RH_KIND_TIME,
    RH_KIND_NAME, // of an action
    RH_KIND_EPISODE
} rh_kind;

// A row taken apart.
typedef struct rh_seen {
    double *obs, *next, *act;
    rh_log_row row;
} rh_seen;

typedef struct rh_reader {
    const char *path;
    const rh_log_options *opt;
    rh_csv csv;
    rh_csv_head head;
    rh_plan plan;
    rh_log_builder *builder;
    rh_order order;

    rh_kind *kind;     // of every column                     (n)
    double *value;     // what the row has there              (n)
    bool other;        // the row is of another episode than the one before
    rh_seen last, now; // the row, and the one before
    double *room;      // for both, owned

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
} rh_reader;

rh_status rh_reader__nomem(const rh_reader *r, rh_error *err);

// What actions are: names or numbers. *shape gets what is known before the first row, borrowed
// from the reader.
rh_status rh_reader__settle_actions(rh_reader *r, rh_log_shape *shape, rh_error *err);

// The fields from p to end become values.
rh_status rh_reader__take(rh_reader *r, char *p, char *end, rh_error *err);

// Say in words what was read as what.
rh_status rh_reader__note(rh_reader *r, rh_error *err);

#endif
