// state_file.c - learned states in files: written whole or not at all.
//
// A state is written to a temporary name in the same folder, synced, and renamed, and then the
// folder is synced: whenever the machine stops, the path names the old file or the new one.

#include "base_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_PATH 300   // of a path in a message: the reason must fit behind it
#define TEMPORARY_EXTRA 48 // letters added to a path to make a temporary name

const char *rh_base__tail(const char *path)
{
    size_t length = strlen(path);
    return length > LONGEST_PATH ? path + length - LONGEST_PATH : path;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a directory" : "a device, pipe or socket";
}

// A new file beside `path`, its name in `temporary`; -1 and errno when it cannot be made.
static int create_beside(const char *path, char *temporary, size_t size)
{
    static atomic_uint serial; // threads may write the same path at the same time
    int fd = -1;
    for (int attempt = 0; attempt < 100; attempt++) { // names left by a killed process
        snprintf(temporary, size, "%s.%ld-%u.tmp", path, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

// 0, or the errno of the write that failed.
static int write_all(int fd, const unsigned char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return errno;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

// As many of n bytes as the file has, or -1 and errno.
static ssize_t read_all(int fd, unsigned char *bytes, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t done = read(fd, bytes + got, n - got);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done == 0)
            break;
        if (done > 0)
            got += (size_t)done;
    }
    return (ssize_t)got;
}

// Make a rename in the directory of `path` last. 0, or errno. The path is cut to its directory.
static int sync_directory(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0; // "/" stays
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; // may be written in but not opened: the system's own time must do
    int fault =
        fsync(fd) != 0 && errno != EINVAL ? errno : 0; // EINVAL: cannot be synced at all
    close(fd);
    return fault;
}

// Put the bytes in the place of `path`, with its rights if it is there. 0, or errno, and then
// nothing was changed.
static int replace(const char *path, const struct stat *there, char *temporary, size_t size,
                   const unsigned char *bytes, size_t n)
{
    int fd = create_beside(path, temporary, size);
    if (fd < 0)
        return errno;
    int fault = there && fchmod(fd, there->st_mode & 07777) != 0 ? errno : 0;
    if (!fault)
        fault = write_all(fd, bytes, n);
    if (!fault && fsync(fd) != 0)
        fault = errno;
    if (close(fd) != 0 && !fault)
        fault = errno;
    if (!fault && rename(temporary, path) != 0)
        fault = errno;
    if (fault) {
        unlink(temporary);
        return fault;
    }
    return sync_directory(temporary);
}

rh_status rh_state_write(const rh_state *state, const char *path, rh_error *err)
{
    // a rename would put the file in the place of a device
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (exists && !S_ISREG(there.st_mode))
        return rh_fail(err, RH_EIO, "%s: cannot write: it is %s, expected a file",
                       rh_base__tail(path), kind_of(there.st_mode));

    // the file a link names is replaced, and not the link
    rh_status rc = RH_OK;
    char *target = exists ? realpath(path, NULL) : NULL;
    const char *place = target ? target : path;
    size_t n = 0, size = strlen(place) + TEMPORARY_EXTRA;
    unsigned char *bytes = rh_state__bytes(state, &n);
    char *temporary = rh_alloc(size, 1);
    if (!bytes || !temporary) {
        rc = rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory", rh_base__tail(path));
        goto done;
    }
    int fault = replace(place, exists ? &there : NULL, temporary, size, bytes, n);
    if (fault)
        rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__tail(path), strerror(fault));

done:
    free(target);
    rh_free(temporary);
    rh_free(bytes);
    return rc;
}

static rh_status cannot_read(const char *path, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__tail(path), strerror(errno));
}

rh_status rh_state_read(rh_state **out, const char *path, rh_error *err)
{
    unsigned char *bytes = NULL;
    rh_status rc = RH_OK;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // never waits for a pipe's writer
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        rc = cannot_read(path, err);
        goto done;
    }
    if (!S_ISREG(st.st_mode)) {
        rc = rh_fail(err, RH_EIO, "%s: cannot read: it is %s, expected a state file",
                     rh_base__tail(path), kind_of(st.st_mode));
        goto done;
    }

    // the head alone, so that no memory is taken for a large file of another kind
    unsigned char head[RH_STATE__HEAD];
    ssize_t nhead = read_all(fd, head, RH_STATE__HEAD);
    if (nhead < 0) {
        rc = cannot_read(path, err);
        goto done;
    }
    rc = rh_state__check_head(head, (size_t)nhead, path, err);
    if (rc)
        goto done;

    // the rest, as far as the file reached when it was opened
    size_t size = st.st_size > RH_STATE__HEAD ? (size_t)st.st_size : RH_STATE__HEAD;
    bytes = rh_alloc(size, 1);
    if (!bytes) {
        rc = rh_fail(err, RH_ENOMEM, "%s: out of memory for %zu bytes", rh_base__tail(path),
                     size);
        goto done;
    }
    memcpy(bytes, head, RH_STATE__HEAD);
    ssize_t nrest = read_all(fd, bytes + RH_STATE__HEAD, size - RH_STATE__HEAD);
    if (nrest < 0) {
        rc = cannot_read(path, err);
        goto done;
    }
    rc = rh_state__parse(out, bytes, RH_STATE__HEAD + (size_t)nrest, path, err);

done:
    if (fd >= 0)
        close(fd);
    rh_free(bytes);
    return rc;
}
