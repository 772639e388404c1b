// registry.c - the log formats, and how a file's format is detected.
//
// The first bytes decide, never the name: gzip called .csv, or HDF5 without a suffix, is read.
// Common unsupported formats are recognised too, so that the message can say what to do.

#include "base/base_internal.h"
#include "base/number.h"
#include "log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COOKIE 0x106c061eU
#define HEAD 512 // bytes read for detection

static const rh_log__format *const format[] = {
    &rh_log__csv, &rh_log__minari, &rh_log__d4rl, &rh_log__d3rlpy, &rh_log__npz,
};
#define NFORMAT ((int)(sizeof format / sizeof *format))

int rh_log_nformat(void)
{
    return NFORMAT;
}

const rh_log_format *rh_log_format_at(int i)
{
    return i >= 0 && i < NFORMAT ? &format[i]->about : NULL;
}

rh_log_options rh_log_defaults(void)
{
    return (rh_log_options){.max_gap = INFINITY, .episode_steps = INT64_MAX, .cookie = COOKIE};
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
    rh_unknown(err, reads ? "no log format to read" : "no log format to write", name, known, n);
    return NULL;
}

bool rh_log_duration(const char *text, double *seconds)
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
    if (isnan(opt->max_gap) || opt->max_gap <= 0.0)
        return rh_fail(err, RH_EINVAL, "log: max_gap = %g, expected a time above 0",
                       opt->max_gap);
    if (opt->episode_steps < 1)
        return rh_fail(err, RH_EINVAL, "log: episode_steps = %lld, expected 1 or more",
                       (long long)opt->episode_steps);
    return RH_OK;
}

// ---------------------------------------------------------------------------- detection

typedef struct stranger {
    const char *begins;
    size_t n;
    const char *is;
} stranger;

static const stranger strangers[] = {
    {"PAR1", 4, "a Parquet file"},
    {"ARROW1", 6, "an Arrow file"},
    {"\x93NUMPY", 6, "a single NumPy array (.npy)"},
    {"\x80\x02", 2, "a Python pickle"},
    {"\x80\x03", 2, "a Python pickle"},
    {"\x80\x04", 2, "a Python pickle"},
    {"\x80\x05", 2, "a Python pickle"},
    {"BZh", 3, "a bzip2 file"},
    {"\xfd"
     "7zXZ",
     5, "an xz file"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file"},
};

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
                       "%s: cannot read: it is a device, pipe or socket, "
                       "expected a file",
                       rh_base__path_tail(path));
    }
    ssize_t got = *folder ? 0 : read(fd, head, HEAD);
    int why = errno;
    close(fd);
    if (got < 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(why));
    *n = (size_t)got;
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
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (n >= strangers[i].n && memcmp(head, strangers[i].begins, strangers[i].n) == 0) {
            *rc = rh_fail(err, RH_EFORMAT,
                          "%s: it is %s, expected CSV, HDF5 or NPZ; docs/logs.md shows how to "
                          "export it in a few lines of Python",
                          rh_base__path_tail(path), strangers[i].is);
            return NULL;
        }
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

// ---------------------------------------------------------------------------- reading, writing

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
    const rh_log__format *kind = recognise(path, asked, &rc, err);
    rh_log *log = NULL;
    if (kind)
        rc = kind->read(&log, path, opt, err);
    if (!rc && !log->time && opt->max_gap < INFINITY) {
        rc =
            rh_fail(err, RH_EINVAL,
                    "%s: max_gap = %g, but the log has no times; name their column with --time",
                    rh_base__path_tail(path), opt->max_gap);
        rh_log_destroy(log);
    } else if (!rc) {
        *out = log;
    }
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

rh_status rh_log_write_check(const char *path, const char *name, rh_error *err)
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
