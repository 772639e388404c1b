// file.c - result files: complete or absent.
//
// 1. A regular file is an rh_file; anything else (a pipe, /dev/null) is written in place.
// 2. Writing is checked before the work begins: a typo in a folder must not cost hours.

#include "base/file.h"
#include "cli_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file under a temporary name, renamed when it is complete.
typedef struct writing {
    FILE *stream;
    const char *path; // as the user wrote it, borrowed
    rh_file *file;    // owned; NULL when written in place
} writing;

static int cannot(const char *path)
{
    return cli_refuse("%s: cannot write: %s", path, strerror(errno));
}

static int open_file(writing *file, const char *path)
{
    *file = (writing){.path = path};
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return CLI_OK;
    }

    struct stat old;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        file->stream = fopen(path, "we");
        return file->stream ? CLI_OK : cannot(path);
    }

    rh_error err;
    rh_status rc = rh_file__create(&file->file, path, &err);
    if (rc)
        return cli_refuse("%s", err.text);
    file->stream = rh_file__stream(file->file);
    if (file->stream)
        return CLI_OK;
    int code = cannot(path);
    rh_file__discard(file->file);
    return code;
}

static int close_file(writing *file)
{
    if (file->stream == stdout) // main closes it
        return CLI_OK;
    if (file->file) {
        rh_error err;
        rh_status rc = rh_file__commit(file->file, &err);
        return rc ? cli_refuse("%s", err.text) : CLI_OK;
    }
    bool good = !ferror(file->stream);
    return fclose(file->stream) == 0 && good ? CLI_OK : cannot(file->path);
}

int cli_file_write(const char *path, void (*print)(FILE *out, const void *self),
                   const void *self)
{
    writing file;
    int rc = open_file(&file, path);
    if (rc)
        return rc;
    print(file.stream, self);
    return close_file(&file);
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

int cli_file_probe(const char *path, bool streams)
{
    struct stat old;
    if (!*path)
        return cli_refuse("cannot write to a file without a name");
    bool standard = strcmp(path, "-") == 0;
    bool special = !standard && stat(path, &old) == 0 && !S_ISREG(old.st_mode);
    if (special && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return cannot(path);
    }
    if ((standard || special) && !streams)
        return cli_refuse("%s: cannot write: not a file", path);
    if (standard)
        return CLI_OK;
    if (special)
        return access(path, W_OK) == 0 ? CLI_OK : cannot(path);

    writing file;
    int rc = open_file(&file, path);
    if (rc)
        return rc;
    rh_file__discard(file.file);
    return CLI_OK;
}
