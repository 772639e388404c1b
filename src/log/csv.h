// csv.h - shared by the files that read and write CSV: records, fields, header.

#ifndef REHEARSE_LOG_CSV_H
#define REHEARSE_LOG_CSV_H

#include "columns.h"
#include "encoding.h"

#include "base/number.h"

#include <zlib.h>

#define RH_CSV__LONGEST (16 << 20) // most bytes of a line
#define RH_CSV__SHOWN 48           // most characters of a text in a message

// ---------------------------------------------------------------------------- records

// Records of a text from a file or memory, plain or gzipped. Quoted fields may span lines.
typedef struct rh_csv {
    const char *path;           // for messages, borrowed
    int fd;                     // -1: from memory
    const unsigned char *bytes; // borrowed                          (nbyte)
    size_t nbyte, at;           //
    bool gzip, member;          // member: inside a gzip member
    int64_t npacked, nunpacked; // bytes so far
    z_stream z;                 //
    unsigned char *packed;      // gzipped bytes, owned
    unsigned char *raw;         // text to decode, owned             (nraw)
    size_t nraw;                //
    rh_encoding encoding;       //
    char *buffer;               // UTF-8, owned                      (room)
    size_t room, begin, end;    // text not consumed yet
    bool ended;                 // the rest of the text is in the buffer
    bool lines;                 // a quote means nothing: every line is a record
    int64_t first_line;         // number of the first line: 1; in a table made from a file of
                                // another layout 0, or -1 if its rows are not lines of it
    bool quotes, nuls;          // the text contains any
    bool settled, returns;      // returns: lines end with \r alone; settled: this is known
    int objects;                // after [ of an array of JSON objects: 1; after ]: 2
    bool heading;      // before the header, where a line that begins with # is a comment
    int64_t skip;      // lines before the header that are left out, 0: none
    int64_t units;     // the line below the header that holds units, 0: none
    bool remarks;      // what follows the last column is a remark, as LabVIEW writes
    bool tables;       // of InfluxDB: lines with # and repeated headers are between tables
    uint32_t repeated; // the header's checksum, if tables
    const rh_log_options *opt; // how numbers are written; NULL: as usual. Borrowed
    bool decimal_comma;        // 1,5 is a number
    rh_dates order;            // of the dates in the time's column
    char delimiter;            // 0: not known yet, one of , ; tab |
    int64_t line;              // of the current record, from 1
    int64_t next_line;         //
} rh_csv;

// Borrowed: path, bytes. Close it, even after a failure.
rh_status rh_csv__open(rh_csv *csv, const char *path, rh_error *err);
rh_status rh_csv__open_fd(rh_csv *csv, int fd, const char *path, rh_error *err); // takes fd
rh_status rh_csv__open_bytes(rh_csv *csv, const void *bytes, size_t n, const char *path,
                             rh_error *err);
void rh_csv__close(rh_csv *csv);

rh_status rh_csv__rewind(rh_csv *csv, rh_error *err);

// The next record that is not blank, without its line end; *text is NULL after the last. It is
// writable and valid until the next call.
rh_status rh_csv__next(rh_csv *csv, char **text, size_t *n, rh_error *err);

// The first character that is not blank, 0: none. Only before the first record.
rh_status rh_csv__peek(rh_csv *csv, char *first, rh_error *err);

// The next object of an array of JSON objects, [{...}, {...}], in the same way. Only its end is
// looked for; the rest is not checked.
rh_status rh_csv__next_object(rh_csv *csv, char **text, size_t *n, rh_error *err);

// Bytes of the file, -1 if unknown.
int64_t rh_csv__size(const rh_csv *csv);

// Estimated number of lines left, 0 if unknown.
int64_t rh_csv__lines_left(const rh_csv *csv);

// Allocator for zlib, so that its memory is counted too.
voidpf rh_csv__take_memory(voidpf unused, uInt count, uInt size);
void rh_csv__give_memory(voidpf unused, voidpf memory);

// ---------------------------------------------------------------------------- fields

typedef struct rh_csv__field_info {
    char *text; // trimmed and unquoted, inside the record
    size_t n;   //
    bool quoted;
} rh_csv__field_info;

// Parse the field at *at; *at moves to the next, or is NULL. False: text after a closing quote.
bool rh_csv__field(char **at, char *end, char delimiter, rh_csv__field_info *field);

// ---------------------------------------------------------------------------- numbers

// As rh_number__read(), in the notation of the file and with the caller's words for missing.
rh_number__kind rh_csv__number(const rh_csv *csv, const rh_csv__field_info *field, double *x);

// Whether it is one of the caller's words for a missing value.
bool rh_csv__is_missing_word(const rh_csv *csv, const rh_csv__field_info *field);

// How many numbers have a comma, may have thousands separators, or have a point.
typedef struct rh_csv__commas {
    int64_t ncomma, ndoubtful, npoint;
} rh_csv__commas;

void rh_csv__look_for_comma(rh_csv__commas *seen, const rh_csv__field_info *field);

// Whether the comma is the file's decimal sign.
bool rh_csv__comma_decides(const rh_csv__commas *seen, const rh_log_options *opt);

// Whether a text is a number with thousands separators: 1.234,5 or 1,234.5 or 1 000.
bool rh_csv__is_grouped(const char *text, size_t n);

// What is expected in place of a number in another notation; NULL if it is none.
const char *rh_csv__other_notation(const char *text, size_t n, bool decimal_comma);

// ---------------------------------------------------------------------------- times

// Seconds since 1970 of a date, or a date and time; false if it is none. Without an order, the
// day comes first where it can.
bool rh_csv__time(const char *text, size_t n, rh_dates order, double *seconds);

// A date whose year comes last, at the beginning of a text.
typedef struct rh_csv__date {
    int first, second, year;
    char separator;              // / or - or . which means that the day is first
    size_t length;               // of the date in the text
    bool day_first, month_first; // it is a date if the day, or the month, is first
} rh_csv__date;

bool rh_csv__short_date(const char *text, size_t n, rh_csv__date *date);

// Decide from all rows whether the dates of a column begin with the day or the month; csv is
// left before the rows. Refused if rows contradict each other or none tells.
rh_status rh_csv__find_order(rh_csv *csv, int column, const char *name, rh_error *err);

// Begin again with the first row.
rh_status rh_csv__to_rows(rh_csv *csv, rh_error *err);

// ---------------------------------------------------------------------------- the head

// The "# rehearse columns: ..." lines before a header, as the writer puts them there.
// Owned: the lists, one block each.
typedef struct rh_csv__words {
    char **word; //                          (n)
    int n;
} rh_csv__words;

typedef struct rh_csv__header {
    rh_columns columns;
    rh_csv__words role, name, unit, label;
    bool continuous; // actions are continuous
    bool ignored;    // the lines no longer match the header
    bool monitor;    // a line #{...} as Stable-Baselines3 writes before the returns of episodes
    char *below;     // owned: the units of a line below the header
} rh_csv__header;

// Find where the table begins (csv->skip, csv->remarks), if the caller does not say so.
rh_status rh_csv__find_table(rh_csv *csv, rh_error *err);

// Find a line of units below the header (csv->units), and keep them. csv may be anywhere.
rh_status rh_csv__find_units(rh_csv__header *head, rh_csv *csv, rh_error *err);

// How often a character occurs outside quotes.
int rh_csv__count(const char *text, size_t n, char c);

// Whether a record is Excel's sep=; and not a header. The delimiter may be a tab.
bool rh_csv__says_delimiter(const char *text, size_t n, char *delimiter);

#define RH_CSV__LOOKED 1000 // rows examined

// Read the header and examine the first rows; csv is left before them. Clear after failure too.
rh_status rh_csv__head(rh_csv__header *head, rh_csv *csv, rh_error *err);
void rh_csv__clear_head(rh_csv__header *head);

// ---------------------------------------------------------------------------- logs

rh_status rh_csv__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err);
// The same for a table made from a file of another format. first_line: as in rh_csv; format:
// for rh_log_reading, borrowed forever.
rh_status rh_csv__read_made(rh_log **out, const void *bytes, size_t n, const char *path,
                            int64_t first_line, const char *format, const rh_log_options *opt,
                            rh_error *err);
// Add a field in quotes to a table in memory; a line end becomes a blank.
void rh_csv__add_quoted(rh_text *text, const char *word);
rh_status rh_csv__write(const rh_log *log, const char *path, rh_error *err);

// The columns of a table to write.
typedef struct rh_csv__table {
    int n;
    const rh_log__role *role;  //                          (n)
    const char *const *name;   // without units            (n)
    const char *const *unit;   //                          (n)
    const char *const *header; // as written to the file (n)
} rh_csv__table;

// *named: the header preserves all names and units. *plain: and the rest of the log reads back
// the same without "# rehearse" lines.
rh_status rh_csv__is_plain(const rh_csv__table *table, const rh_log *log, const char *path,
                           bool *named, bool *plain, rh_error *err);

#endif
