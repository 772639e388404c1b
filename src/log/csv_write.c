// csv_write.c - writes a log as a table that reads back as the same log.
//
//     # rehearse columns: episode step obs obs action reward terminal truncated
//     # rehearse actions: "off", "on"
//     episode,step,temp [degC],level,pump,reward,terminal,truncated
//     0,0,20.5,1.25,on,-0.1,0,0
//     0,1,20.25,,off,0,0,1
//     0,2,20,1.5,,,,
//
// 1. If the s' of an episode's last step is known, it becomes a row without an action. If any
//    other s' differs from the s of the next step, every row has its s' in columns next_...,
//    empty where it is unknown.
// 2. Numbers have the fewest digits that read back exactly. A missing number is empty.
// 3. Lines that begin with # are written only if a header is not enough (csv_plain.c): roles
//    that the names do not tell, actions that never occur, continuous actions that are all
//    integers. Names and units are repeated there only if the header would lose them.

#include "base/base_internal.h"
#include "base/file.h"
#include "csv.h"

#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define BUFFER ((size_t)1 << 16)

typedef struct writer {
    const rh_log *log;
    const char *path;
    rh_file *file;  // owned
    FILE *stream;   // borrowed from it
    bool gzip;      //
    z_stream z;     //
    char *buffer;   // owned; its second half is for compressed bytes
    size_t used;    //
    int fault;      // errno of the first write that failed
    char delimiter; //
    bool next, starts;
    int ncolumn;
    rh_log__role *role; // of every column                   (ncolumn), owned
    const char **name;  // borrowed from the log             (ncolumn), owned
    const char **unit;  //                                   (ncolumn)
    char **header;      //                                   (ncolumn)
    char *text;         // all headers, owned
} writer;

// ---------------------------------------------------------------------------- bytes

static void put_stream(writer *w, const void *bytes, size_t n)
{
    if (n > 0 && !w->fault && fwrite(bytes, 1, n, w->stream) != n)
        w->fault = errno ? errno : EIO;
}

// Write the buffer to the file; last: and finish it.
static void flush(writer *w, bool last)
{
    if (!w->gzip) {
        put_stream(w, w->buffer, w->used);
        w->used = 0;
        return;
    }
    w->z.next_in = (unsigned char *)w->buffer;
    w->z.avail_in = (uInt)w->used;
    do {
        w->z.next_out = (unsigned char *)w->buffer + BUFFER;
        w->z.avail_out = (uInt)BUFFER;
        deflate(&w->z, last ? Z_FINISH : Z_NO_FLUSH);
        put_stream(w, w->buffer + BUFFER, BUFFER - w->z.avail_out);
    } while (w->z.avail_out == 0);
    w->used = 0;
}

static void put(writer *w, const char *text, size_t n)
{
    while (n > 0) {
        size_t part = n < BUFFER - w->used ? n : BUFFER - w->used;
        memcpy(w->buffer + w->used, text, part);
        w->used += part;
        text += part;
        n -= part;
        if (w->used == BUFFER)
            flush(w, false);
    }
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

// ---------------------------------------------------------------------------- fields

static void put_number(writer *w, double x)
{
    char text[RH_NUMBER__SIZE];
    if (!isnan(x))
        put(w, text, (size_t)rh_number__print(x, text));
}

static void put_integer(writer *w, int64_t x)
{
    char text[RH_NUMBER__SIZE];
    put(w, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)x));
}

// Whether a text needs quotes to read back the same.
static bool wants_quotes(const writer *w, const char *text)
{
    size_t n = strlen(text);
    double x;
    return n == 0 || strchr(text, w->delimiter) || strpbrk(text, "\"\n\r") ||
           strchr(" \t", text[0]) || strchr(" \t", text[n - 1]) ||
           rh_number__read(text, n, &x) == RH_NUMBER_MISSING;
}

static void put_field(writer *w, const char *text)
{
    if (!wants_quotes(w, text)) {
        put_text(w, text);
        return;
    }
    put_text(w, "\"");
    for (const char *c = text; *c; c++)
        put(w, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    put_text(w, "\"");
}

// A word in a # line.
static void put_word(writer *w, const char *text)
{
    put_text(w, "\"");
    for (const char *c = text; *c; c++)
        if (*c == '\n')
            put_text(w, "\\n");
        else if (*c == '\r')
            put_text(w, "\\r");
        else if (*c == '"' || *c == '\\')
            put(w, (char[]){'\\', *c}, 2);
        else
            put(w, c, 1);
    put_text(w, "\"");
}

// ---------------------------------------------------------------------------- the head

static void add_column(writer *w, rh_log__role role, const char *name, const char *unit)
{
    w->role[w->ncolumn] = role;
    w->name[w->ncolumn] = name;
    w->unit[w->ncolumn++] = unit;
}

static rh_status choose_columns(writer *w, rh_error *err)
{
    const rh_log *log = w->log;
    size_t n = 7 + 2 * (size_t)log->nobs + (size_t)log->nact;
    w->role = rh_alloc(n, sizeof *w->role);
    w->name = rh_alloc(3 * n, sizeof *w->name);
    if (!w->role || !w->name)
        return rh_base__no_memory(err, w->path);
    w->unit = w->name + n;
    w->header = (char **)(void *)(w->unit + n);
    add_column(w, RH_ROLE_EPISODE, "episode", "");
    add_column(w, RH_ROLE_STEP, "step", "");
    if (w->starts)
        add_column(w, RH_ROLE_START, "start", "");
    if (log->time)
        add_column(w, RH_ROLE_TIME, "time", "");
    for (int i = 0; i < log->nobs; i++)
        add_column(w, RH_ROLE_OBS, log->obs_name[i], log->obs_unit[i]);
    for (int i = 0; w->next && i < log->nobs; i++)
        add_column(w, RH_ROLE_NEXT, log->obs_name[i], log->obs_unit[i]);
    for (int i = 0; i < log->nact; i++)
        add_column(w, RH_ROLE_ACTION, log->act_name[i], "");
    add_column(w, RH_ROLE_REWARD, log->reward_name, "");
    add_column(w, RH_ROLE_TERMINAL, "terminal", "");
    add_column(w, RH_ROLE_TRUNCATED, "truncated", "");

    size_t size = 0;
    for (int i = 0; i < w->ncolumn; i++)
        size += strlen(w->name[i]) + strlen(w->unit[i]) + 16;
    w->text = rh_alloc(size, 1);
    if (!w->text)
        return rh_base__no_memory(err, w->path);
    char *to = w->text;
    for (int i = 0; i < w->ncolumn; i++) {
        w->header[i] = to;
        to += 1 + snprintf(to, size - (size_t)(to - w->text),
                           *w->unit[i] ? "%s%s [%s]" : "%s%s%s",
                           w->role[i] == RH_ROLE_NEXT ? "next_" : "", w->name[i], w->unit[i]);
    }
    return RH_OK;
}

static void put_list(writer *w, const char *key, const char *const *word, int n)
{
    put_text(w, "# rehearse ");
    put_text(w, key);
    for (int i = 0; i < n; i++) {
        put_text(w, i ? ", " : ": ");
        put_word(w, word[i]);
    }
    put_text(w, "\n");
}

// Write the # lines.
static void put_remarks(writer *w, bool named)
{
    put_text(w, "# rehearse columns:");
    for (int i = 0; i < w->ncolumn; i++) {
        put_text(w, " ");
        put_text(w, rh_columns__role_name(w->role[i]));
    }
    put_text(w, "\n");
    if (!named) {
        put_list(w, "names", w->name, w->ncolumn);
        put_list(w, "units", w->unit, w->ncolumn);
    }
    if (w->log->naction > 0)
        put_list(w, "actions", w->log->label, w->log->naction);
    else
        put_text(w, "# rehearse actions: continuous\n");
}

static rh_status put_head(writer *w, rh_error *err)
{
    const rh_log *log = w->log;
    bool named = true, plain = true;
    rh_status rc = choose_columns(w, err);
    if (rc)
        return rc;
    rh_csv__table table = {w->ncolumn, w->role, w->name, w->unit,
                           (const char *const *)w->header};
    rc = rh_csv__is_plain(&table, log, w->path, &named, &plain, err);
    if (rc)
        return rc;
    if (!plain)
        put_remarks(w, named);
    for (int i = 0; i < w->ncolumn; i++) {
        put(w, &w->delimiter, i > 0);
        put_field(w, w->header[i]);
    }
    put_text(w, "\n");
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

static void put_obs(writer *w, int32_t row)
{
    const double *obs = w->log->obs + (int64_t)row * w->log->nobs;
    for (int i = 0; i < w->log->nobs; i++) {
        put(w, &w->delimiter, 1);
        put_number(w, obs[i]);
    }
}

static void put_next(writer *w, int32_t row)
{
    if (row != RH_UNKNOWN)
        put_obs(w, row);
    for (int i = 0; row == RH_UNKNOWN && i < w->log->nobs; i++)
        put(w, &w->delimiter, 1);
}

static void put_step(writer *w, int64_t i)
{
    const rh_log *log = w->log;
    put_integer(w, log->episode[i]);
    put(w, &w->delimiter, 1);
    put_integer(w, log->step[i]);
    if (w->starts) {
        put(w, &w->delimiter, 1);
        put_text(w, log->start[log->episode[i]] ? "1" : "0");
    }
    if (log->time) {
        put(w, &w->delimiter, 1);
        put_number(w, log->time[i]);
    }
    put_obs(w, log->from[i]);
    if (w->next)
        put_next(w, log->to[i]);
    for (int k = 0; k < log->nact; k++) {
        put(w, &w->delimiter, 1);
        if (log->naction > 0)
            put_field(w, log->label[(int)log->act[i]]);
        else
            put_number(w, log->act[i * log->nact + k]);
    }
    put(w, &w->delimiter, 1);
    put_number(w, log->reward[i]);
    for (int k = 0; k < 2; k++) {
        put(w, &w->delimiter, 1);
        put_text(w, log->flag[i] & (k ? RH_FLAG_TRUNCATED : RH_FLAG_TERMINAL) ? "1" : "0");
    }
    put_text(w, "\n");
}

// The observation after the last step i of an episode.
static void put_last(writer *w, int64_t i)
{
    const rh_log *log = w->log;
    put_integer(w, log->episode[i]);
    put(w, &w->delimiter, 1);
    put_integer(w, log->step[i] + 1);
    for (int k = 0; k < w->starts + (log->time != NULL); k++)
        put(w, &w->delimiter, 1);
    put_obs(w, log->to[i]);
    for (int k = 0; k < log->nact + 3; k++)
        put(w, &w->delimiter, 1);
    put_text(w, "\n");
}

static void put_rows(writer *w)
{
    const rh_log *log = w->log;
    for (int e = 0; e < log->nepisode; e++) {
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++)
            put_step(w, i);
        int64_t last = log->first[e + 1] - 1;
        if (!w->next && log->to[last] != RH_UNKNOWN)
            put_last(w, last);
    }
}

// ---------------------------------------------------------------------------- a log

// Choose optional columns, and refuse what no table can hold.
static rh_status examine(writer *w, rh_error *err)
{
    const rh_log *log = w->log;
    for (int64_t i = 0; i + 1 < log->n; i++)
        if (log->episode[i] == log->episode[i + 1] && log->to[i] != log->from[i + 1])
            w->next = true;
    for (int e = 0; e < log->nepisode; e++)
        w->starts = w->starts || !log->start[e];
    for (int i = 0; i < log->naction; i++)
        if (!*log->label[i])
            return rh_fail(err, RH_EINVAL, "%s: action %d has no name, expected one",
                           rh_base__path_tail(w->path), i);
    return RH_OK;
}

rh_status rh_csv__write(const rh_log *log, const char *path, rh_error *err)
{
    writer w = {.log = log, .path = path, .gzip = rh_log__ends_with(path, ".gz")};
    w.delimiter =
        rh_log__ends_with(path, ".tsv") || rh_log__ends_with(path, ".tsv.gz") ? '\t' : ',';
    rh_status rc = examine(&w, err);
    if (rc)
        return rc;
    rc = rh_file__create(&w.file, path, err);
    if (rc)
        goto done;
    w.buffer = rh_alloc(2 * BUFFER, 1);
    w.z.zalloc = rh_csv__take_memory;
    w.z.zfree = rh_csv__give_memory;
    if (!w.buffer || (w.gzip && deflateInit2(&w.z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
                                             Z_DEFAULT_STRATEGY) != Z_OK)) {
        rc = rh_base__no_memory(err, w.path);
        goto done;
    }
    w.stream = rh_file__stream(w.file);
    if (!w.stream) {
        rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                     strerror(errno));
        goto done;
    }
    rc = put_head(&w, err);
    if (rc)
        goto done;
    put_rows(&w);
    flush(&w, true);
    if (w.fault)
        rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                     strerror(w.fault));
    if (!rc) {
        rc = rh_file__commit(w.file, err);
        w.file = NULL;
    }

done:
    if (w.z.state)
        deflateEnd(&w.z);
    rh_file__discard(w.file);
    rh_free(w.buffer);
    rh_free(w.role);
    rh_free((void *)w.name);
    rh_free(w.text);
    return rc;
}
