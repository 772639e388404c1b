// csv_text.c - splits a text into records and fields.
//
// 1. memchr() finds a record's end; only lines with a quote are read character by character.
// 2. The buffer holds whole records. It grows up to RH_CSV__LONGEST, so a file without line
//    ends is refused instead of being loaded.
// 3. Text is decoded on its way into the buffer (encoding.c), which holds UTF-8 alone.
// 4. Lines may end with \n, \r\n, or \r alone if the text has no \n; then each \r becomes one.
// 5. The first two bytes identify gzip. Consecutive members (bgzip, cat) are one text; a member
//    that is cut short or has a wrong checksum is refused.

#include "base/base_internal.h"
#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER ((size_t)1 << 18) // initial size in bytes
#define PACKED ((size_t)1 << 16)
#define RAW ((size_t)1 << 16) // bytes decoded at a time, at most
#define LEAST ((size_t)64)    // bytes of space in the buffer, at least, to go on decoding
#define SETTLES 4096          // bytes of text without \n that tell how lines end

// ---------------------------------------------------------------------------- bytes

// Up to n bytes of the source; *got is 0 at its end.
static rh_status read_raw(rh_csv *csv, void *to, size_t n, size_t *got, rh_error *err)
{
    if (csv->fd < 0) {
        *got = n < csv->nbyte - csv->at ? n : csv->nbyte - csv->at;
        if (*got > 0)
            memcpy(to, csv->bytes + csv->at, *got);
        csv->at += *got;
        return RH_OK;
    }
    ssize_t count;
    do
        count = read(csv->fd, to, n);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(csv->path),
                       strerror(errno));
    *got = (size_t)count;
    return RH_OK;
}

voidpf rh_csv__take_memory(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return rh_alloc(count, size);
}

void rh_csv__give_memory(voidpf unused, voidpf memory)
{
    (void)unused;
    rh_free(memory);
}

// Whether another member follows in a gzip file.
static rh_status next_member(rh_csv *csv, rh_error *err)
{
    static const unsigned char magic[2] = {0x1f, 0x8b};
    if (csv->z.avail_in == 0)
        return RH_OK;
    size_t n = csv->z.avail_in < 2 ? csv->z.avail_in : 2;
    if (memcmp(csv->z.next_in, magic, n) != 0)
        return rh_fail(err, RH_EFORMAT, "%s: damaged: something else follows the gzip data",
                       rh_base__path_tail(csv->path));
    csv->member = true;
    return inflateReset(&csv->z) == Z_OK ? RH_OK : rh_base__no_memory(err, csv->path);
}

// Up to n bytes of an unpacked gzip text.
static rh_status read_gzip(rh_csv *csv, void *to, size_t n, size_t *got, rh_error *err)
{
    z_stream *z = &csv->z;
    z->next_out = to;
    z->avail_out = (uInt)n;
    *got = 0;
    while (z->avail_out == (uInt)n) {
        if (z->avail_in == 0) {
            size_t count = 0;
            rh_status rc = read_raw(csv, csv->packed, PACKED, &count, err);
            if (rc)
                return rc;
            if (count == 0 && !csv->member)
                return RH_OK;
            if (count == 0)
                return rh_fail(err, RH_EFORMAT, "%s: truncated: the gzip data ends too soon",
                               rh_base__path_tail(csv->path));
            z->next_in = csv->packed;
            z->avail_in = (uInt)count;
            csv->npacked += (int64_t)count;
        }
        rh_status rc = csv->member ? RH_OK : next_member(csv, err);
        if (rc)
            return rc;
        int answer = inflate(z, Z_NO_FLUSH);
        if (answer == Z_MEM_ERROR)
            return rh_base__no_memory(err, csv->path);
        if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR)
            return rh_fail(err, RH_EFORMAT, "%s: damaged: the gzip data cannot be unpacked",
                           rh_base__path_tail(csv->path));
        csv->member = answer != Z_STREAM_END;
    }
    *got = n - z->avail_out;
    csv->nunpacked += (int64_t)*got;
    return csv->opt
               ? rh_log__within_text(csv->opt, csv->npacked, csv->nunpacked, csv->path, err)
               : RH_OK;
}

// ---------------------------------------------------------------------------- the buffer

// Most texts have no quotes and no NUL. Lines are searched for them only after one was found.
static void notice(rh_csv *csv, const char *text, size_t n)
{
    csv->quotes = csv->quotes || memchr(text, '"', n);
    csv->nuls = csv->nuls || memchr(text, 0, n);
}

// Fill csv->raw up to `most` bytes; *got: how many are new, 0 at the end.
static rh_status read_text(rh_csv *csv, size_t most, size_t *got, rh_error *err)
{
    unsigned char *to = csv->raw + csv->nraw;
    rh_status rc = csv->gzip ? read_gzip(csv, to, most - csv->nraw, got, err)
                             : read_raw(csv, to, most - csv->nraw, got, err);
    csv->nraw += *got;
    return rc;
}

// Decide how lines end, and replace \r where they end with it. The text behind `fresh` is new.
static void settle_lines(rh_csv *csv, char *fresh)
{
    char *from = csv->buffer + csv->begin, *end = csv->buffer + csv->end;
    if (!csv->settled) {
        const char *mark = memchr(from, '\r', (size_t)(end - from));
        bool feeds = memchr(from, '\n', (size_t)(end - from));
        bool early = mark && mark + 1 == end; // \n may follow
        csv->settled = feeds || csv->ended || (end - from >= SETTLES && !early);
        csv->returns = csv->settled && !feeds && mark;
        fresh = from;
    }
    for (char *p = fresh; csv->returns && (p = memchr(p, '\r', (size_t)(end - p))); p++)
        *p = '\n';
}

// Report how much of the file is read; stop if the caller wants to.
static rh_status report(const rh_csv *csv, rh_error *err)
{
    const rh_watch *watch = csv->opt ? &csv->opt->watch : NULL;
    struct stat st;
    if (!watch || csv->fd < 0)
        return RH_OK;
    if (watch->progress && fstat(csv->fd, &st) == 0 && st.st_size > 0)
        watch->progress(watch->context, "reading the log",
                        (double)lseek(csv->fd, 0, SEEK_CUR) / (double)st.st_size);
    return watch->stop && watch->stop(watch->context)
               ? rh_fail(err, RH_ESTOPPED, "%s: stopped while it was read",
                         rh_base__path_tail(csv->path))
               : RH_OK;
}

// Append more text to the buffer, growing it if needed.
static rh_status refill(rh_csv *csv, rh_error *err)
{
    size_t used = csv->end - csv->begin;
    if (csv->begin > 0) {
        memmove(csv->buffer, csv->buffer + csv->begin, used);
        csv->begin = 0;
        csv->end = used;
    }
    if (csv->room - used < LEAST) {
        size_t room = 2 * csv->room;
        char *larger = rh_alloc(room, 1);
        if (!larger)
            return rh_base__no_memory(err, csv->path);
        memcpy(larger, csv->buffer, used);
        rh_free(csv->buffer);
        csv->buffer = larger;
        csv->room = room;
    }
    size_t got = 0, most = (csv->room - csv->end) / RH_ENCODING__GROWTH, done = 0;
    char *to = csv->buffer + csv->end;
    rh_status rc = read_text(csv, most < RAW ? most : RAW, &got, err);
    csv->ended = got == 0;
    if (rc)
        return rc;
    size_t n = rh_encoding__decode(&csv->encoding, csv->raw, csv->nraw, csv->ended, to, &done);
    csv->nraw -= done;
    memmove(csv->raw, csv->raw + done, csv->nraw);
    notice(csv, to, n);
    csv->end += n;
    settle_lines(csv, to);
    return report(csv, err);
}

// Look at the first bytes: compression and encoding.
static rh_status begin(rh_csv *csv, rh_error *err)
{
    unsigned char head[4] = {0};
    size_t n = 0, got = 0;
    csv->heading = true;
    csv->settled = csv->returns = false;
    csv->objects = 0;
    csv->next_line = csv->first_line;
    do {
        rh_status rc = read_raw(csv, head + n, sizeof head - n, &got, err);
        if (rc)
            return rc;
        n += got;
    } while (got > 0 && n < sizeof head);

    csv->gzip = n >= 2 && head[0] == 0x1f && head[1] == 0x8b;
    if (csv->gzip) {
        memcpy(csv->packed, head, n);
        csv->z.next_in = csv->packed;
        csv->z.avail_in = (uInt)n;
        csv->member = true;
        if (inflateReset(&csv->z) != Z_OK)
            return rh_base__no_memory(err, csv->path);
    } else {
        memcpy(csv->raw, head, n);
        csv->nraw = n;
    }
    while (csv->nraw < 3 && got > 0) {
        rh_status rc = read_text(csv, LEAST / RH_ENCODING__GROWTH, &got, err);
        if (rc)
            return rc;
    }
    size_t mark = rh_encoding__begin(&csv->encoding, csv->raw, csv->nraw);
    csv->nraw -= mark;
    memmove(csv->raw, csv->raw + mark, csv->nraw);
    return RH_OK;
}

static rh_status open_source(rh_csv *csv, rh_error *err)
{
    csv->first_line = 1;
    csv->room = BUFFER;
    csv->buffer = rh_alloc(csv->room, 1);
    csv->packed = rh_alloc(PACKED, 1);
    csv->raw = rh_alloc(RAW, 1);
    csv->z.zalloc = rh_csv__take_memory;
    csv->z.zfree = rh_csv__give_memory;
    if (!csv->buffer || !csv->packed || !csv->raw ||
        inflateInit2(&csv->z, 16 + MAX_WBITS) != Z_OK)
        return rh_base__no_memory(err, csv->path);
    return begin(csv, err);
}

rh_status rh_csv__open(rh_csv *csv, const char *path, rh_error *err)
{
    *csv = (rh_csv){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (csv->fd < 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(errno));
    return open_source(csv, err);
}

rh_status rh_csv__open_fd(rh_csv *csv, int fd, const char *path, rh_error *err)
{
    *csv = (rh_csv){.path = path, .fd = fd};
    return open_source(csv, err);
}

rh_status rh_csv__open_bytes(rh_csv *csv, const void *bytes, size_t n, const char *path,
                             rh_error *err)
{
    *csv = (rh_csv){.path = path, .fd = -1, .bytes = bytes, .nbyte = n};
    return open_source(csv, err);
}

void rh_csv__close(rh_csv *csv)
{
    if (csv->z.state)
        inflateEnd(&csv->z);
    rh_free(csv->buffer);
    rh_free(csv->packed);
    rh_free(csv->raw);
    if (csv->fd >= 0)
        close(csv->fd);
    *csv = (rh_csv){.fd = -1};
}

rh_status rh_csv__rewind(rh_csv *csv, rh_error *err)
{
    if (csv->fd >= 0 && lseek(csv->fd, 0, SEEK_SET) != 0)
        return rh_fail(err, RH_EIO, "%s: cannot read twice: %s", rh_base__path_tail(csv->path),
                       strerror(errno));
    csv->at = csv->begin = csv->end = csv->nraw = 0;
    csv->npacked = csv->nunpacked = 0;
    csv->ended = false;
    return begin(csv, err);
}

// ---------------------------------------------------------------------------- records

static bool is_delimiter(char c, char delimiter)
{
    return delimiter ? c == delimiter : c == ',' || c == ';' || c == '\t' || c == '|';
}

static bool is_blank(char c, char delimiter)
{
    return c == ' ' || (c == '\t' && delimiter != '\t');
}

// The end of the record at p, ignoring line ends inside quotes; NULL if it is not in the buffer
// yet. *open: a quote is open.
static char *record_end(char *p, char *end, char delimiter, bool *open)
{
    bool fresh = true; // only blanks in this field so far
    *open = false;
    for (; p < end; p++)
        if (*open) {
            p = memchr(p, '"', (size_t)(end - p));
            if (!p)
                return NULL;
            if (p + 1 < end && p[1] == '"')
                p++;
            else
                *open = false;
        } else if (*p == '\n') {
            return p;
        } else if (*p == '"' && fresh) {
            *open = true;
            fresh = false;
        } else if (is_delimiter(*p, delimiter)) {
            fresh = true;
        } else if (!is_blank(*p, delimiter)) {
            fresh = false;
        }
    return NULL;
}

// Find the end of the first record in the buffer, reading more text if needed. *stop: its end;
// its line end, if any, is in the buffer. *several: it may span several lines.
static rh_status find_end(rh_csv *csv, char **stop, bool *several, rh_error *err)
{
    size_t looked = 0;
    *several = false;
    for (;;) {
        char *from = csv->buffer + csv->begin, *end = csv->buffer + csv->end;
        char *line = memchr(from + looked, '\n', (size_t)(end - from) - looked);
        char *until = line ? line : end;
        bool open = false;
        looked = (size_t)(until - from);
        bool comment = csv->heading && from < end && *from == '#';
        bool before = csv->first_line == 1 && csv->next_line <= csv->skip;
        if (csv->quotes && !csv->lines && !comment && !before && memchr(from, '"', looked)) {
            line = record_end(from, end, csv->delimiter, &open);
            *several = true;
            looked = 0;
        }
        *stop = line ? line : end;
        if (line)
            return RH_OK;
        if (csv->ended && !open)
            return RH_OK;
        if (csv->ended)
            return rh_fail(err, RH_EFORMAT, "%s:%lld: a quoted field is never closed",
                           rh_base__path_tail(csv->path), (long long)csv->next_line);
        if ((size_t)(end - from) >= RH_CSV__LONGEST)
            return rh_fail(err, RH_EFORMAT, "%s:%lld: %s longer than %d MB",
                           rh_base__path_tail(csv->path), (long long)csv->next_line,
                           open ? "a quoted field is not closed, or" : "the line is",
                           RH_CSV__LONGEST >> 20);
        bool settled = csv->settled;
        rh_status rc = refill(csv, err);
        if (rc)
            return rc;
        looked = settled ? looked : 0;
    }
}

static int64_t count_lines(const char *text, size_t n)
{
    int64_t count = 0;
    const char *end = text + n;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        count++;
    return count;
}

int64_t rh_csv__size(const rh_csv *csv)
{
    struct stat st;
    if (csv->fd < 0)
        return csv->first_line < 1 ? -1 : (int64_t)csv->nbyte;
    return fstat(csv->fd, &st) == 0 && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

int64_t rh_csv__lines_left(const rh_csv *csv)
{
    struct stat st;
    size_t n = csv->end - csv->begin;
    int64_t lines = count_lines(csv->buffer + csv->begin, n);
    if (csv->gzip || lines == 0 || (csv->fd >= 0 && fstat(csv->fd, &st) != 0))
        return 0;
    double left = (double)n;
    if (csv->fd >= 0)
        left += (double)st.st_size - (double)lseek(csv->fd, 0, SEEK_CUR);
    else
        left += (double)(csv->nbyte - csv->at);
    return (int64_t)(1.05 * left / (double)n * (double)lines) + 1;
}

// Whether a line is no part of the table: before its header, units, between two tables.
static bool is_outside(const rh_csv *csv, const char *text, size_t n)
{
    if (csv->first_line == 1 && (csv->line <= csv->skip || csv->line == csv->units))
        return true;
    return csv->tables && !csv->heading &&
           (*text == '#' || rh_base__crc32(0, text, n) == csv->repeated);
}

rh_status rh_csv__next(rh_csv *csv, char **text, size_t *n, rh_error *err)
{
    for (;;) {
        char *stop;
        bool several;
        rh_status rc = find_end(csv, &stop, &several, err);
        if (rc)
            return rc;
        char *from = csv->buffer + csv->begin;
        size_t length = (size_t)(stop - from);
        bool last = stop == csv->buffer + csv->end; // without a line end
        *text = NULL;
        if (last && length == 0)
            return RH_OK;

        csv->line = csv->next_line;
        csv->begin += length + !last;
        csv->next_line += 1 + (several ? count_lines(from, length) : 0);
        if (csv->nuls && memchr(from, 0, length))
            return rh_fail(err, RH_EFORMAT, "%s:%lld: a NUL byte, expected text",
                           rh_base__path_tail(csv->path), (long long)csv->line);
        if (length > 0 && from[length - 1] == '\r')
            length--;
        size_t blank = 0;
        while (blank < length && is_blank(from[blank], csv->delimiter))
            blank++;
        if (blank < length && !is_outside(csv, from, length)) {
            *text = from;
            *n = length;
            return RH_OK;
        }
    }
}

// ---------------------------------------------------------------------------- JSON objects

static rh_status refuse_array(const rh_csv *csv, const char *found, rh_error *err)
{
    return rh_fail(err, RH_EFORMAT, "%s:%lld: %s, expected an array of JSON objects",
                   rh_base__path_tail(csv->path), (long long)csv->next_line, found);
}

rh_status rh_csv__peek(rh_csv *csv, char *first, rh_error *err)
{
    size_t at = csv->begin;
    *first = 0;
    for (;; at++) {
        while (at == csv->end && !csv->ended) {
            rh_status rc = refill(csv, err);
            if (rc)
                return rc;
        }
        char c = at < csv->end ? csv->buffer[at] : '}';
        if (c != ' ' && (c < 9 || c > 13)) {
            *first = at < csv->end ? c : 0;
            return RH_OK;
        }
        if (at >= RH_CSV__LONGEST)
            return RH_OK;
    }
}

// Pass what stands between objects; *more: an object follows.
static rh_status to_object(rh_csv *csv, bool *more, rh_error *err)
{
    bool comma = csv->objects == 0; // none before the first object
    *more = false;
    for (;;) {
        for (; csv->begin < csv->end; csv->begin++) {
            char c = csv->buffer[csv->begin];
            csv->next_line += c == '\n';
            if (c == ' ' || (c >= 9 && c <= 13))
                continue;
            if (csv->objects == 0 && c == '[')
                csv->objects = 1;
            else if (csv->objects == 1 && c == ',' && !comma)
                comma = true;
            else if (csv->objects == 1 && c == ']')
                csv->objects = 2;
            else if (csv->objects == 1 && c == '{' && comma)
                return *more = true, RH_OK;
            else
                return refuse_array(csv,
                                    csv->objects == 2 ? "something follows the array"
                                    : c == '{'        ? "no comma between two objects"
                                                      : "something else than an object",
                                    err);
        }
        if (csv->ended)
            return csv->objects == 2
                       ? RH_OK
                       : refuse_array(csv, "truncated: the array has no end", err);
        rh_status rc = refill(csv, err);
        if (rc)
            return rc;
    }
}

rh_status rh_csv__next_object(rh_csv *csv, char **text, size_t *n, rh_error *err)
{
    size_t at = 0;
    int depth = 0;
    bool more, quoted = false;
    *text = NULL;
    rh_status rc = to_object(csv, &more, err);
    if (rc || !more)
        return rc;
    csv->line = csv->next_line;
    for (;; at++) {
        while (csv->begin + at + 1 >= csv->end && !csv->ended) { // one more than is looked at
            if (at >= RH_CSV__LONGEST)
                return rh_fail(err, RH_EFORMAT, "%s:%lld: the object is longer than %d MB",
                               rh_base__path_tail(csv->path), (long long)csv->line,
                               RH_CSV__LONGEST >> 20);
            rc = refill(csv, err);
            if (rc)
                return rc;
        }
        if (csv->begin + at >= csv->end)
            return refuse_array(csv, "truncated: the last object has no end", err);
        char c = csv->buffer[csv->begin + at];
        csv->next_line += c == '\n';
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (c == '{') - (c == '}');
        if (depth == 0)
            break;
    }
    *text = csv->buffer + csv->begin;
    *n = at + 1;
    csv->begin += *n;
    return RH_OK;
}

// ---------------------------------------------------------------------------- fields

void rh_csv__add_quoted(rh_text *text, const char *word)
{
    rh_text__add(text, "\"");
    for (; *word; word++) {
        char c = *word == '\n' || *word == '\r' ? ' ' : *word;
        rh_text__add_n(text, &c, 1);
        if (c == '"')
            rh_text__add(text, "\"");
    }
    rh_text__add(text, "\"");
}

bool rh_csv__field(char **at, char *end, char delimiter, rh_csv__field_info *field)
{
    char *p = *at;
    while (p < end && is_blank(*p, delimiter))
        p++;
    *field = (rh_csv__field_info){.text = p};
    if (p < end && *p == '"') {
        // remove quotes in place
        char *to = p;
        field->quoted = true;
        for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); p++) {
            p += *p == '"';
            *to++ = *p;
        }
        field->n = (size_t)(to - field->text);
        p += p < end;
        while (p < end && is_blank(*p, delimiter))
            p++;
        *at = p < end ? p + 1 : NULL;
        return p == end || *p == delimiter;
    }
    char *stop = memchr(p, delimiter, (size_t)(end - p));
    *at = stop ? stop + 1 : NULL;
    stop = stop ? stop : end;
    while (stop > p && is_blank(stop[-1], delimiter))
        stop--;
    field->n = (size_t)(stop - p);
    return true;
}
