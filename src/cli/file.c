// file.c - results in files that are whole or absent.
//
// 1. Written under a temporary name beside the target, synced, renamed. A link is followed
//    first, so that the file it names is replaced and not the link.
// 2. What is not a regular file (a pipe, /dev/null) is written in place: a rename would put a
//    file where the device was.
// 3. Whether a file can be written is found out before the work begins. A folder spelt wrong
//    must not cost the hours that came before it.

#include "cli_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const char *path)
{
    return cli_fail("cannot write '%s': %s", path, strerror(errno));
}

static void forget(cli_file *file)
{
    free(file->real);
    rh_free(file->temporary);
    *file = (cli_file){0};
}

// Open a temporary beside file->real with the rights the old file had, or a new one would get.
static int open_temporary(cli_file *file, const struct stat *old)
{
    size_t size = strlen(file->real) + 32;
    file->temporary = rh_alloc(size, 1);
    if (!file->temporary)
        return -1;
    snprintf(file->temporary, size, "%s.%ld.tmp", file->real, (long)getpid());
    unlink(file->temporary); // what an earlier program of this number left behind
    int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && old && fchmod(fd, old->st_mode & 0777) != 0) {
        close(fd);
        unlink(file->temporary);
        return -1;
    }
    return fd;
}

int cli_file_open(cli_file *file, const char *path)
{
    *file = (cli_file){.path = path};
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return CLI_OK;
    }

    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        file->stream = fopen(path, "we");
        return file->stream ? CLI_OK : cannot(path);
    }

    file->real = exists ? realpath(path, NULL) : strdup(path);
    int fd = file->real ? open_temporary(file, exists ? &old : NULL) : -1;
    file->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file->stream)
        return CLI_OK;
    int rc = cannot(path);
    forget(file);
    return rc;
}

int cli_file_close(cli_file *file)
{
    if (file->stream == stdout) // main looks after that one
        return CLI_OK;

    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    if (good && file->temporary)
        good = fsync(fileno(file->stream)) == 0;
    int why = errno;
    if (fclose(file->stream) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && file->temporary && rename(file->temporary, file->real) != 0) {
        good = false;
        why = errno;
    }
    if (!good && file->temporary)
        unlink(file->temporary);

    errno = why;
    int rc = good ? CLI_OK : cannot(file->path);
    forget(file);
    return rc;
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
        return cli_fail("cannot write '%s': it has to be a file", path);
    if (standard)
        return CLI_OK;
    if (special)
        return access(path, W_OK) == 0 ? CLI_OK : cannot(path);

    cli_file file;
    int rc = cli_file_open(&file, path);
    if (rc)
        return rc;
    fclose(file.stream);
    unlink(file.temporary);
    forget(&file);
    return CLI_OK;
}
