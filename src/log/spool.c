// spool.c - copies pipes and unpacked files to unnamed temporary files.
//
// Tables are read twice, so a pipe is copied first. Files packed by xz, zstd, bzip2 and zip are
// unpacked by a module (unpack_module.c); without it the caller is told which program does it.

#include "spool.h"
#include "base/base_internal.h"
#include "base/part.h"
#include "unpack_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE "rehearse-unpack.so"

// ---------------------------------------------------------------------------- temporary files

static rh_status open_temporary(const char *path, int *out, rh_error *err)
{
    const char *folder = getenv("TMPDIR");
    char name[512];
    snprintf(name, sizeof name, "%.480s/rehearse-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return rh_fail(err, RH_EIO, "%s: no temporary file %s: %s", rh_base__path_tail(path),
                       name, strerror(errno));
    unlink(name);
    *out = fd;
    return RH_OK;
}

static rh_status to_begin(int fd, const char *path, rh_error *err)
{
    if (lseek(fd, 0, SEEK_SET) == 0)
        return RH_OK;
    return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                   strerror(errno));
}

static rh_status cannot_copy(const char *path, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot copy it to a temporary file: %s",
                   rh_base__path_tail(path), strerror(errno));
}

static rh_status copy_pipe(int pipe, int to, const char *path, rh_error *err)
{
    char buffer[1 << 16];
    for (;;) {
        ssize_t got = read(pipe, buffer, sizeof buffer);
        if (got == 0)
            return to_begin(to, path, err);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                           strerror(errno));
        if (!rh_unpack__write(to, buffer, (size_t)got))
            return cannot_copy(path, err);
    }
}

rh_status rh_spool__pipe(int pipe, const char *path, int *out, rh_error *err)
{
    int fd = -1;
    rh_status rc = open_temporary(path, &fd, err);
    if (!rc)
        rc = copy_pipe(pipe, fd, path, err);
    if (rc && fd >= 0)
        close(fd);
    if (!rc)
        *out = fd;
    return rc;
}

// ---------------------------------------------------------------------------- packed files

bool rh_spool__is_packed(const unsigned char *head, size_t n)
{
    static const struct {
        const char *begins;
        size_t n;
    } packed[] = {{"BZh", 3},
                  {"\xfd"
                   "7zXZ",
                   5},
                  {"\x28\xb5\x2f\xfd", 4}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (n >= packed[i].n && memcmp(head, packed[i].begins, packed[i].n) == 0)
            return true;
    if (n < 30 || memcmp(head, "PK\3\4", 4) != 0)
        return false;
    size_t length = head[26] | (size_t)head[27] << 8; // of the first file's name
    const char *name = (const char *)head + 30;
    return 30 + length <= n && length > 0 &&
           !(length >= 4 && memcmp(name + length - 4, ".npy", 4) == 0);
}

static const rh_unpack__calls *load(void)
{
    char place[RH_PART__PATH];
    for (int n = 0; rh_part__place(n, MODULE, place); n++) {
        void *module = access(place, F_OK) == 0 ? dlopen(place, RTLD_NOW | RTLD_LOCAL) : NULL;
        const rh_unpack__calls *calls = module ? dlsym(module, "rh_unpack__module") : NULL;
        if (calls && calls->version == RH_UNPACK__VERSION)
            return calls;
    }
    return NULL;
}

bool rh_spool__unpacks(void)
{
    return load() != NULL;
}

// What is unpacked.
typedef struct packed_file {
    const char *path;
    const rh_log_options *opt;
    rh_error *err;
} packed_file;

static bool allows(void *context, int64_t packed, int64_t unpacked)
{
    const packed_file *file = context;
    return rh_log__within_text(file->opt, packed, unpacked, file->path, file->err) == RH_OK;
}

// The message for a file that was not unpacked.
static rh_status refuse(rh_unpack__result result, const char *text, const char *path,
                        rh_error *err)
{
    char shown[200];
    const char *tail = rh_base__path_tail(path);
    rh_text__printable(text, shown, sizeof shown);
    switch (result) {
    case RH_UNPACK_DONE:
        return RH_OK;
    case RH_UNPACK_DAMAGED:
        return rh_fail(err, RH_EFORMAT, "%s: cannot unpack it: %s", tail, shown);
    case RH_UNPACK_NONE:
        return rh_fail(err, RH_EFORMAT, "%s: the archive holds no file, expected one", tail);
    case RH_UNPACK_SEVERAL:
        return rh_fail(err, RH_EFORMAT,
                       "%s: the archive holds several files (%s), expected one; unpack it and "
                       "name the logs",
                       tail, shown);
    case RH_UNPACK_TOO_MUCH:
        return RH_EFORMAT; // allows() said why
    case RH_UNPACK_UNWRITTEN:
        return cannot_copy(path, err);
    }
    return RH_OK;
}

rh_status rh_spool__unpack(int fd, const char *path, const rh_log_options *opt, int *out,
                           rh_error *err)
{
    const rh_unpack__calls *calls = load();
    char text[300] = "";
    int to = -1;
    if (!calls)
        return rh_fail(err, RH_EINVAL, "%s: cannot unpack it: " MODULE " not found",
                       rh_base__path_tail(path));
    packed_file file = {path, opt, err};
    rh_status rc = to_begin(fd, path, err);
    if (!rc)
        rc = open_temporary(path, &to, err);
    if (!rc)
        rc = refuse(calls->unpack(fd, to, allows, &file, text, sizeof text), text, path, err);
    if (!rc)
        rc = to_begin(to, path, err);
    if (rc && to >= 0)
        close(to);
    if (!rc)
        *out = to;
    return rc;
}
