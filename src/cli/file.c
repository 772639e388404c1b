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

static int cannot(const char *path)
{
    return cli_refuse("%s: cannot write: %s", path, strerror(errno));
}

int cli_file_open(cli_file *file, const char *path)
{
    *file = (cli_file){.path = path};
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

int cli_file_close(cli_file *file)
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

    cli_file file;
    int rc = cli_file_open(&file, path);
    if (rc)
        return rc;
    rh_file__discard(file.file);
    return CLI_OK;
}
