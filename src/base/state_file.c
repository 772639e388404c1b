// state_file.c - learned states in files: written whole or not at all, checked when read.

#include "base_internal.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Read up to n bytes; how many the file had, or -1 with errno.
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

rh_status rh_state_write(const rh_state *state, const char *path, rh_error *err)
{
    rh_file *file = NULL;
    size_t n = 0;
    unsigned char *bytes = rh_state__bytes(state, &n);
    if (!bytes)
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(path));

    rh_status rc = rh_file__create(&file, path, err);
    if (rc)
        goto done;
    FILE *stream = rh_file__stream(file);
    if (!stream || fwrite(bytes, 1, n, stream) != n) {
        rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                     strerror(errno));
        rh_file__discard(file);
        goto done;
    }
    rc = rh_file__commit(file, err);

done:
    rh_free(bytes);
    return rc;
}

static rh_status cannot_read(const char *path, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                   strerror(errno));
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
                     rh_base__path_tail(path),
                     S_ISDIR(st.st_mode) ? "a directory" : "a device, pipe or socket");
        goto done;
    }

    // the head first, so that a large file of another kind takes no memory
    unsigned char head[RH_STATE__HEAD];
    ssize_t nhead = read_all(fd, head, RH_STATE__HEAD);
    if (nhead < 0) {
        rc = cannot_read(path, err);
        goto done;
    }
    rc = rh_state__check_head(head, (size_t)nhead, path, err);
    if (rc)
        goto done;

    // the rest, up to the size when it was opened
    size_t size = st.st_size > RH_STATE__HEAD ? (size_t)st.st_size : RH_STATE__HEAD;
    bytes = rh_alloc(size, 1);
    if (!bytes) {
        rc = rh_fail(err, RH_ENOMEM, "%s: out of memory for %zu bytes",
                     rh_base__path_tail(path), size);
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
