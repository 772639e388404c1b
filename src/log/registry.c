// registry.c - the log formats, and how a file's format is detected.
//
// The first bytes decide, never the name: gzip called .csv, or HDF5 without a suffix, is read.
// Common unsupported formats are recognised too, so that the message can say what to do.
//
// Pipes and packed files are read from unnamed temporary files (spool.c). HDF5 and NPZ are
// opened by name, so they can be neither.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/number.h"
#include "csv.h"
#include "log.h"
#include "log_internal.h"
#include "observer.h"
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COOKIE 0x106c061eU
#define HEAD 512 // bytes read for detection

static const rh_log__format *const format[] = {
    &rh_log__csv, &rh_log__jsonl, &rh_log__minari, &rh_log__d4rl, &rh_log__d3rlpy, &rh_log__npz,
};
#define NFORMAT ((int)(sizeof format / sizeof *format))

const rh_log_format *rh_log__format_at(int i)
{
    return i >= 0 && i < NFORMAT ? &format[i]->about : NULL;
}

rh_log_options rh_log_defaults(void)
{
    return (rh_log_options){.stack = 1,
                            .every = NAN,
                            .every_rows = 1,
                            .skip = RH_SKIP_AUTO,
                            .max_gap = INFINITY,
                            .episode_steps = INT64_MAX,
                            .max_memory = RH_MEMORY_AUTO,
                            .cookie = COOKIE};
}

// The format called `name`, or NULL and a message.
static const rh_log__format *find(const char *name, bool reads, rh_error *err)
{
    const char *known[NFORMAT];
    int n = 0;
    for (int i = 0; i < NFORMAT; i++) {
        if (reads ? !format[i]->read : !format[i]->write)
            continue;
        if (strcmp(format[i]->about.name, name) == 0)
            return format[i];
        known[n++] = format[i]->about.name;
    }
    rh_base__unknown(err, reads ? "no log format to read" : "no log format to write", name,
                     known, n);
    return NULL;
}

bool rh_log__duration(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1.0},     {"s", 1.0},    {"m", 60.0},
                 {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    const char *unit = rh_number__parse(text, text + strlen(text), seconds);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) {
            *seconds *= units[i].seconds;
            return *seconds > 0.0 && isfinite(*seconds);
        }
    return false;
}

static rh_status check(const rh_log_options *opt, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "log: options must start from rh_log_defaults()");
    if ((unsigned)opt->sentinels > RH_SENTINELS_KEEP || (unsigned)opt->gaps > RH_GAPS_CUT)
        return rh_fail(err, RH_EINVAL, "log: sentinels = %d, gaps = %d, expected 0 or 1",
                       (int)opt->sentinels, (int)opt->gaps);
    if (opt->stack < 1 || opt->stack > RH_LOG__MOST_STACKED)
        return rh_fail(err, RH_EINVAL, "log: stack = %d, expected 1 to %d", opt->stack,
                       RH_LOG__MOST_STACKED);
    if ((unsigned)opt->every_obs > RH_EVERY_MEAN)
        return rh_fail(err, RH_EINVAL, "log: every_obs = %d, expected 0 or 1",
                       (int)opt->every_obs);
    if ((unsigned)opt->setpoint_values > RH_SETPOINT_DRAWN)
        return rh_fail(err, RH_EINVAL, "log: setpoint_values = %d, expected 0 or 1",
                       (int)opt->setpoint_values);
    if (opt->setpoint_values == RH_SETPOINT_DRAWN && opt->stack > 1)
        return rh_fail(err, RH_EINVAL,
                       "log: setpoint_values = drawn, stack = %d, expected stack = 1: the past "
                       "of a setpoint would still be the logged one",
                       opt->stack);
    if (opt->setpoint_values == RH_SETPOINT_DRAWN && !opt->setpoint)
        return rh_fail(err, RH_EINVAL,
                       "log: setpoint_values = drawn, expected setpoint, which names them");
    if (opt->every <= 0.0 || isinf(opt->every) || opt->every_rows < 1)
        return rh_fail(
            err, RH_EINVAL,
            "log: every = %g, every_rows = %lld, expected a time above 0, or 1 row or "
            "more",
            opt->every, (long long)opt->every_rows);
    if (opt->every_obs == RH_EVERY_MEAN && isnan(opt->every) && opt->every_rows == 1)
        return rh_fail(err, RH_EINVAL,
                       "log: every_obs = mean, expected every, which says of how many rows");
    if (opt->skip < 0 && opt->skip != RH_SKIP_AUTO)
        return rh_fail(err, RH_EINVAL, "log: skip = %lld, expected 0 lines or more",
                       (long long)opt->skip);
    if ((unsigned)opt->pivot_value > RH_PIVOT_INTERPOLATE)
        return rh_fail(err, RH_EINVAL, "log: pivot_value = %d, expected 0 to 2",
                       (int)opt->pivot_value);
    if (isnan(opt->max_gap) || opt->max_gap <= 0.0)
        return rh_fail(err, RH_EINVAL, "log: max_gap = %g, expected a time above 0",
                       opt->max_gap);
    if (opt->episode_steps < 1)
        return rh_fail(err, RH_EINVAL, "log: episode_steps = %lld, expected 1 or more",
                       (long long)opt->episode_steps);
    if (opt->max_memory < 1 && opt->max_memory != RH_MEMORY_AUTO)
        return rh_fail(err, RH_EINVAL, "log: max_memory = %lld, expected 1 byte or more",
                       (long long)opt->max_memory);
    return RH_OK;
}

// ---------------------------------------------------------------------------- detection

typedef struct stranger {
    const char *begins;
    size_t n;
    const char *is;
    const char *unpack; // the command that unpacks it to standard output, or NULL
    bool python;        // the Python package reads it
} stranger;

static const stranger strangers[] = {
    {"PAR1", 4, "a Parquet file", NULL, true},
    {"ARROW1", 6, "an Arrow file", NULL, true},
    {"\x93NUMPY", 6, "a single NumPy array (.npy)", NULL, false},
    {"\x80\x02", 2, "a Python pickle", NULL, false},
    {"\x80\x03", 2, "a Python pickle", NULL, false},
    {"\x80\x04", 2, "a Python pickle", NULL, false},
    {"\x80\x05", 2, "a Python pickle", NULL, false},
    {"BZh", 3, "a bzip2 file", "bzip2 -dc", false},
    {"\xfd"
     "7zXZ",
     5, "an xz file", "xz -dc", false},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file", "zstd -dc", false},
    {"PK\3\4", 4, "a zip file", "unzip -p", false}, // if it is no NPZ
};

// The message for a file that begins with `head`, if it is a stranger.
static rh_status refuse_stranger(const char *path, const unsigned char *head, size_t n,
                                 rh_error *err)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        const stranger *s = &strangers[i];
        if (n < s->n || memcmp(head, s->begins, s->n) != 0 ||
            (s->unpack && !rh_spool__is_packed(head, n)))
            continue;
        if (s->python)
            return rh_fail(
                err, RH_EFORMAT,
                "%s: it is %s, expected CSV, HDF5 or NPZ; the Python package reads it: "
                "rehearse.read(), see docs/python.md",
                rh_base__path_tail(path), s->is);
        if (!s->unpack)
            return rh_fail(err, RH_EFORMAT,
                           "%s: it is %s, expected CSV, HDF5 or NPZ; docs/logs.md shows how to "
                           "export it in a few lines of Python",
                           rh_base__path_tail(path), s->is);
        rh_text name = {0};
        rh_text__shell(&name, rh_base__path_tail(path));
        rh_status rc =
            rh_fail(err, RH_EFORMAT,
                    "%s: it is %s, expected CSV, HDF5 or NPZ; unpack it: %s %s | "
                    "rehearse inspect -",
                    rh_base__path_tail(path), s->is, s->unpack, name.data ? name.data : "FILE");
        rh_text__clear(&name);
        return rc;
    }
    return RH_OK;
}

// If head (n) is gzip, replace it by what it unpacks to.
static void unpack_head(unsigned char *head, size_t *n)
{
    unsigned char text[HEAD];
    z_stream z = {.zalloc = rh_csv__take_memory, .zfree = rh_csv__give_memory};
    if (*n < 2 || head[0] != 0x1f || head[1] != 0x8b ||
        inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return;
    z.next_in = head;
    z.avail_in = (uInt)*n;
    z.next_out = text;
    z.avail_out = HEAD;
    int answer = inflate(&z, Z_SYNC_FLUSH);
    size_t got = HEAD - z.avail_out;
    inflateEnd(&z);
    if (got > 0 && (answer == Z_OK || answer == Z_STREAM_END || answer == Z_BUF_ERROR)) {
        memcpy(head, text, got);
        *n = got;
    }
}

static rh_status look(const char *path, bool *folder, unsigned char *head, size_t *n,
                      rh_error *err)
{
    struct stat st;
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // O_NONBLOCK: does not wait for a pipe
    if (fd < 0 || fstat(fd, &st) != 0) {
        rh_status rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                               strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    *folder = S_ISDIR(st.st_mode);
    if (!*folder && !S_ISREG(st.st_mode)) {
        close(fd);
        return rh_fail(err, RH_EIO,
                       "%s: cannot read: it is a device or socket, expected a file or a pipe",
                       rh_base__path_tail(path));
    }
    ssize_t got = *folder ? 0 : read(fd, head, HEAD);
    int why = errno;
    close(fd);
    if (got < 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(why));
    *n = (size_t)got;
    unpack_head(head, n);
    return RH_OK;
}

// The format of a file, `asked` if not NULL; or NULL, *rc and a message that says what it is.
static const rh_log__format *recognise(const char *path, const rh_log__format *asked,
                                       rh_status *rc, rh_error *err)
{
    unsigned char head[HEAD];
    size_t n = 0;
    bool folder = false;
    *rc = look(path, &folder, head, &n, err);
    if (*rc)
        return NULL;
    if (asked)
        return asked;
    *rc = refuse_stranger(path, head, n, err);
    if (*rc)
        return NULL;
    for (int i = NFORMAT - 1; i >= 0 && (folder || n > 0);
         i--) // CSV is tried last: any text may be CSV
        if (format[i]->probe && format[i]->probe(path, folder, head, n))
            return format[i];
    *rc = rh_fail(err, RH_EFORMAT, "%s: %s", rh_base__path_tail(path),
                  folder ? "it is a directory without a Minari dataset (data/main_data.hdf5), "
                           "expected a log"
                  : n == 0 ? "the file is empty, expected a log"
                           : "not a log: neither text nor HDF5 nor NPZ");
    return NULL;
}

// ---------------------------------------------------------------------------- pipes

// A log that can be read several times.
typedef struct source {
    const char *path;           // of the file, or for messages
    const rh_log__format *kind; //
    int fd;                     // of what a pipe held, owned; -1: the file is at path
    int64_t packed;             // bytes that the text in fd was unpacked from; -1: it was not
} source;

// Decide the format of the text in s->fd, which is unpacked first if needed.
static rh_status settle_text(source *s, const rh_log__format *asked, const rh_log_options *opt,
                             rh_error *err)
{
    unsigned char head[HEAD];
    rh_status rc = RH_OK;
    size_t n = 0;
    for (int round = 0; !rc && round < 2; round++) {
        ssize_t got = pread(s->fd, head, sizeof head, 0);
        int text = -1;
        n = got > 0 ? (size_t)got : 0;
        if (round > 0 || !rh_spool__is_packed(head, n) || !rh_spool__unpacks())
            break;
        rc = rh_spool__unpack(s->fd, s->path, opt, &text, err);
        if (!rc) {
            struct stat st;
            s->packed = fstat(s->fd, &st) == 0 ? (int64_t)st.st_size : -1;
            close(s->fd);
            s->fd = text;
        }
    }
    unpack_head(head, &n);
    if (!rc)
        rc = refuse_stranger(s->path, head, n, err);
    s->kind = asked;
    for (int i = NFORMAT - 1; !rc && !s->kind && n > 0 && i >= 0; i--)
        if (format[i]->read_fd && format[i]->probe && format[i]->probe(s->path, false, head, n))
            s->kind = format[i];
    if (rc || (s->kind && s->kind->read_fd))
        return rc;
    return rh_fail(err, RH_EFORMAT, "%s: %s", rh_base__path_tail(s->path),
                   n == 0 ? "empty, expected a log"
                          : "not text, expected CSV; save HDF5 and NPZ as a file");
}

// Keep the text of a pipe, which is closed.
static rh_status open_pipe(source *s, int pipe, const rh_log__format *asked,
                           const rh_log_options *opt, rh_error *err)
{
    rh_status rc = rh_spool__pipe(pipe, s->path, &s->fd, err);
    close(pipe);
    return rc ? rc : settle_text(s, asked, opt, err);
}

// Open a file that is packed, if it is one.
static rh_status open_packed(source *s, const rh_log__format *asked, const rh_log_options *opt,
                             rh_error *err)
{
    unsigned char head[HEAD];
    int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (got <= 0 || !rh_spool__is_packed(head, (size_t)got) || !rh_spool__unpacks()) {
        if (fd >= 0)
            close(fd);
        return RH_OK; // what else it is is found out next
    }
    s->fd = fd;
    return settle_text(s, asked, opt, err);
}

static rh_status read_source(rh_log **out, const source *s, const rh_log_options *opt,
                             rh_error *err)
{
    rh_log_options within =
        *opt; // what was unpacked may take as much as its file, not its text
    if (s->packed >= 0)
        within.max_memory = rh_log__limit_of(opt, s->packed).most;
    if (s->fd < 0)
        return s->kind->read(out, s->path, opt, err);
    int copy = dup(s->fd);
    if (copy < 0 || lseek(copy, 0, SEEK_SET) != 0) {
        if (copy >= 0)
            close(copy);
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(s->path),
                       strerror(errno));
    }
    return s->kind->read_fd(out, copy, s->path, &within, err);
}

// Whether the log is a pipe; if so, *fd is open, or *rc and a message say why not. stat() comes
// before open(): a pipe opened twice loses its writer.
static bool is_pipe(const char **path, int *fd, rh_status *rc, rh_error *err)
{
    struct stat st;
    bool standard = strcmp(*path, "-") == 0;
    if (!standard && (stat(*path, &st) != 0 || !S_ISFIFO(st.st_mode)))
        return false;
    *fd = standard ? dup(STDIN_FILENO) : open(*path, O_RDONLY | O_CLOEXEC);
    if (standard)
        *path = "standard input";
    *rc = *fd >= 0 ? RH_OK
                   : rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(*path),
                             strerror(errno));
    return true;
}

// ---------------------------------------------------------------------------- reading, writing

// Read the log again if the whole of it tells more than its first rows: that it has sentinels,
// or which column is terminal. If this fails, the log stays as it was read first.
static rh_status read_again(rh_log **log, const source *s, const rh_log_options *opt,
                            rh_error *err)
{
    rh_log__sentinels found = {0};
    rh_log_options more = *opt;
    rh_log *again = NULL;
    rh_error ignored;
    double *missing = NULL;
    rh_status rc = RH_OK;
    if (opt->sentinels == RH_SENTINELS_MISSING)
        rc = rh_log__find_sentinels(&found, *log, err);
    if (!opt->terminal)
        more.terminal = rh_log__find_terminal(*log);
    if (rc || (found.n == 0 && !more.terminal))
        goto done;
    missing = rh_alloc((size_t)(opt->nmissing + found.n) + 1, sizeof *missing);
    if (!missing) {
        rc = rh_base__no_memory(err, s->path);
        goto done;
    }
    for (int i = 0; i < opt->nmissing; i++)
        missing[i] = opt->missing[i];
    memcpy(missing + opt->nmissing, found.value, (size_t)found.n * sizeof *missing);
    more.missing = missing;
    more.nmissing = opt->nmissing + found.n;
    rh_status second = read_source(&again, s, &more, &ignored);
    if (second == RH_ENOMEM)
        rc = rh_base__no_memory(err, s->path);
    if (second)
        goto done;
    if (found.n > 0)
        rc = rh_log__tell_sentinels(again, &found, err);
    if (!rc && !opt->terminal && more.terminal)
        rc = rh_log__add_note(again, err,
                              "column %.40s is terminal, because it is 1 only where episodes "
                              "end (--terminal '' leaves it a sensor)",
                              more.terminal);
    rh_log_destroy(*log);
    *log = again;

done:
    rh_free(missing);
    rh_text__clear(&found.text);
    return rc;
}

// Derived sensors, and the errors of setpoints.
static rh_status add_sensors(rh_log **log, const rh_log_options *opt, const char *path,
                             rh_error *err)
{
    rh_text list = {0};
    rh_text__add(&list, opt->derive ? opt->derive : "");
    rh_status rc =
        opt->setpoint ? rh_log__add_errors(&list, *log, opt->setpoint, path, err) : RH_OK;
    if (!rc && list.bad)
        rc = rh_base__no_memory(err, path);
    if (!rc && rh_derive__count(list.data) > 0)
        rc = rh_log__derive(log, list.data, path, err);
    if (!rc && opt->setpoint)
        rc = rh_log__set_setpoints(log, opt->setpoint, opt->setpoint_values, err);
    rh_text__clear(&list);
    return rc;
}

// One step of several rows, unless a pivot made the rows that far apart.
static rh_status pace(rh_log **log, const rh_log_options *opt, const char *path, rh_error *err)
{
    if (!(*log)->reading.pivoted || isnan(opt->every))
        return rh_log__every(log, opt, path, err);
    if (opt->every_obs == RH_EVERY_MEAN)
        return rh_fail(
            err, RH_EINVAL,
            "%s: every_obs = mean, expected pivot_value = mean: pivot makes the rows",
            rh_base__path_tail(path));
    return RH_OK;
}

rh_status rh_log_read(rh_log **out, const char *path, const rh_log_options *opt, rh_error *err)
{
    rh_log_options initial = rh_log_defaults();
    opt = opt ? opt : &initial;
    rh_status rc = check(opt, err);
    if (rc)
        return rc;
    const rh_log__format *asked = opt->format ? find(opt->format, true, err) : NULL;
    if (opt->format && !asked)
        return RH_EINVAL;
    if (strchr(path, '\n'))
        return rh_log__read_all(out, path, opt, err);
    rh_log *log = NULL;
    source from = {.fd = -1, .packed = -1};
    int pipe = -1;
    bool piped = is_pipe(&path, &pipe, &rc, err);
    from.path = path;
    if (piped && !rc)
        rc = open_pipe(&from, pipe, asked, opt, err);
    else if (!piped)
        rc = open_packed(&from, asked, opt, err);
    if (!piped && !rc && from.fd < 0)
        from.kind = recognise(path, asked, &rc, err);
    if (!rc && from.kind)
        rc = read_source(&log, &from, opt, err);
    if (!rc && log)
        rc = read_again(&log, &from, opt, err);
    if (!rc && log)
        log->reading.sentinels_kept = opt->sentinels == RH_SENTINELS_KEEP;
    if (from.fd >= 0)
        close(from.fd);
    if (!rc && log)
        rc = pace(&log, opt, path, err);
    if (!rc && (opt->derive || opt->setpoint))
        rc = add_sensors(&log, opt, path, err);
    if (!rc && opt->failure)
        rc = rh_log__set_failure(&log, opt->failure, path, err);
    if (!rc && opt->exogenous)
        rc = rh_log__set_exogenous(&log, opt->exogenous, path, err);
    if (!rc && opt->stack > 1)
        rc = rh_log__stack(&log, opt->stack, path, err);
    if (!rc && log && !log->time && opt->max_gap < INFINITY)
        rc =
            rh_fail(err, RH_EINVAL,
                    "%s: max_gap = %g, but the log has no times; name their column with --time",
                    rh_base__path_tail(path), opt->max_gap);
    if (rc)
        rh_log_destroy(log);
    else
        *out = log;
    return rc;
}

// The format to write, by name or by the path's suffix; or NULL and a message.
static const rh_log__format *writer(const char *path, const char *name, rh_error *err)
{
    if (name)
        return find(name, false, err);
    for (int i = 0; i < NFORMAT; i++)
        for (int j = 0; format[i]->write && j < 4 && format[i]->ending[j]; j++)
            if (rh_log__ends_with(path, format[i]->ending[j]))
                return format[i];
    rh_fail(err, RH_EINVAL,
            "%s: cannot tell the format from the name, expected one that ends in .csv, "
            ".csv.gz, .tsv, .npz, .hdf5 or .h5",
            rh_base__path_tail(path));
    return NULL;
}

rh_status rh_log__write_check(const char *path, const char *name, rh_error *err)
{
    return writer(path, name, err) ? RH_OK : RH_EINVAL;
}

rh_status rh_log_write(const rh_log *log, const char *path, const char *name, rh_error *err)
{
    const rh_log__format *kind = writer(path, name, err);
    return kind ? kind->write(log, path, err) : RH_EINVAL;
}

// ---------------------------------------------------------------------------- for all readers

rh_status rh_log__split(const char *list, char ***word, int *nword, rh_error *err)
{
    // one block: the pointers, then the text, which is split in place
    size_t size = strlen(list) + 1, n = 1;
    for (const char *c = list; *c; c++)
        n += *c == ',';
    char **all = rh_alloc(1, (n + 1) * sizeof *all + size);
    if (!all)
        return rh_base__no_memory(err, "log");
    char *text = memcpy((char *)(all + n + 1), list, size);
    int count = 0;
    for (char *next = text; next;) {
        char *begin = next;
        next = strchr(begin, ',');
        if (next)
            *next++ = 0;
        begin += strspn(begin, " \t");
        size_t length = strlen(begin);
        while (length > 0 && strchr(" \t", begin[length - 1]))
            begin[--length] = 0;
        if (length > 0)
            all[count++] = begin;
    }
    *word = all;
    *nword = count;
    return RH_OK;
}

rh_status rh_log__one_line(rh_status rc, rh_error *err)
{
    if (rc && err) {
        rh_error copy = *err;
        rh_text__printable(copy.text, err->text, sizeof err->text);
    }
    return rc;
}

bool rh_log__matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name)
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++retry;
        } else {
            return false;
        }
    pattern += strspn(pattern, "*");
    return !*pattern;
}

bool rh_log__ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcmp(text + n - m, ending) == 0;
}

bool rh_log__is_missing(const rh_log_options *opt, double x)
{
    for (int i = 0; i < opt->nmissing; i++)
        if (x == opt->missing[i])
            return true;
    return false;
}
