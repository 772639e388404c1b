// csv.h - what the files that read and write CSV share: records and fields of a text.

#ifndef REHEARSE_LOG_CSV_H
#define REHEARSE_LOG_CSV_H

#include "columns.h"

#include <zlib.h>

#define RH_CSV__LONGEST (16 << 20) // bytes of a line
#define RH_CSV__SHOWN 48           // letters of a text in a message, and its end

// ---------------------------------------------------------------------------- records

// A text, from a file or from memory, plain or gzipped, as records: lines, or several where a
// quoted field has line ends in it.
typedef struct rh_csv {
    const char *path;           // for messages, borrowed
    int fd;                     // -1: from memory
    const unsigned char *bytes; // borrowed                          (nbyte)
    size_t nbyte, at;           //
    bool gzip, member;          // inside a member of it
    z_stream z;                 //
    unsigned char *packed;      // gzipped bytes, owned
    char *buffer;               // owned                             (room)
    size_t room, begin, end;    // text not given yet
    bool ended;                 // all of it is in the buffer
    bool quotes, nuls;          // there are any
    bool heading;               // before the header, where a line that begins with # is one
    char delimiter;             // 0: not known yet, any of , ; tab |
    int64_t line;               // of the record last given, the file's first is 1
    int64_t next_line;          //
} rh_csv;

// Borrowed: path, bytes. To be closed, also after a failure.
rh_status rh_csv__open(rh_csv *csv, const char *path, rh_error *err);
rh_status rh_csv__open_bytes(rh_csv *csv, const void *bytes, size_t n, const char *path,
                             rh_error *err);
void rh_csv__close(rh_csv *csv);

// Back to the first line.
rh_status rh_csv__rewind(rh_csv *csv, rh_error *err);

// The next record that is not blank, without its line end; *text is NULL after the last. It
// may be written to and runs until the next call.
rh_status rh_csv__next(rh_csv *csv, char **text, size_t *n, rh_error *err);

// About how many lines are left, by those that are in the buffer; 0 when it cannot be said.
int64_t rh_csv__lines_left(const rh_csv *csv);

// For zlib, so that its memory is counted too.
voidpf rh_csv__take_memory(voidpf unused, uInt count, uInt size);
void rh_csv__give_memory(voidpf unused, voidpf memory);

// ---------------------------------------------------------------------------- fields

typedef struct rh_csv__field_info {
    char *text; // blanks around it and quotes taken off, inside the record
    size_t n;   //
    bool quoted;
} rh_csv__field_info;

// Take the field at *at, which is set behind it and its delimiter, or NULL after the last one.
// false: something stands behind a closing quote.
bool rh_csv__field(char **at, char *end, char delimiter, rh_csv__field_info *field);

// A text as a message shows it: cut, with control letters made visible.
const char *rh_csv__show(char shown[RH_CSV__SHOWN], const char *text, size_t n);

// ---------------------------------------------------------------------------- times

// Seconds since 1970 of an ISO-8601 date or date-time; false when it is not one.
bool rh_csv__time(const char *text, size_t n, double *seconds);

// ---------------------------------------------------------------------------- the head

// What a file says of itself in the lines before its header, "# rehearse columns: ..." and the
// like, as rh_csv__write() puts them there. Owned: the lists, one block each.
typedef struct rh_csv__words {
    char **word; //                          (n)
    int n;
} rh_csv__words;

typedef struct rh_csv__header {
    rh_columns columns;
    rh_csv__words role, name, unit, label;
    bool continuous; // actions are amounts
    bool ignored;    // the lines do not fit the header any more
} rh_csv__header;

// Read the header and look at the first rows; csv then stands before the first. To be cleared,
// also after a failure.
rh_status rh_csv__head(rh_csv__header *head, rh_csv *csv, rh_error *err);
void rh_csv__clear_head(rh_csv__header *head);

// ---------------------------------------------------------------------------- logs

// Read one that is in memory.
rh_status rh_csv__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err);
rh_status rh_csv__write(const rh_log *log, const char *path, rh_error *err);

// The columns of a table to be written.
typedef struct rh_csv__table {
    int n;
    const rh_log__role *role;  //                          (n)
    const char *const *name;   // without units            (n)
    const char *const *unit;   //                          (n)
    const char *const *header; // as the file will have it (n)
} rh_csv__table;

// *named: the header gives back all names and units. *plain: and all the rest of the log will
// be read as it is, without another word.
rh_status rh_csv__is_plain(const rh_csv__table *table, const rh_log *log, const char *path,
                           bool *named, bool *plain, rh_error *err);

#endif
