// pack.c - a model as bytes, to send it to another process.
//
// The bytes are those of the model's file. HDF5 needs a real path and refuses a file without a
// name (memfd, /proc/self/fd), so the file is written to a temporary folder in /tmp, or
// /dev/shm where that fails, and removed as soon as it has been read.

#include "ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A temporary folder and the file in it.
typedef struct temporary {
    char folder[32], path[48];
} temporary;

static rh_status make_temporary(temporary *s, rh_error *err)
{
    static const char *const where[] = {"/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        snprintf(s->folder, sizeof s->folder, "%s/rehearse-XXXXXX", where[i]);
        if (!mkdtemp(s->folder))
            continue;
        snprintf(s->path, sizeof s->path, "%s/model", s->folder);
        return RH_OK;
    }
    return rh_fail(err, RH_EIO,
                   "cannot make a temporary folder for the model in /tmp or /dev/shm: %s",
                   strerror(errno));
}

static void remove_temporary(const temporary *s)
{
    unlink(s->path);
    rmdir(s->folder);
}

static rh_status read_all(const char *path, unsigned char **byte, size_t *nbyte, rh_error *err)
{
    unsigned char *all = NULL;
    struct stat st = {0};
    size_t n = 0;
    rh_status rc = RH_OK;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &st)) {
        rc = rh_fail(err, RH_EIO, "%s: %s", path, strerror(errno));
        goto done;
    }
    n = (size_t)st.st_size;
    all = rh_alloc(n, 1);
    if (!all) {
        rc = rh_fail(err, RH_ENOMEM, "study: out of memory for a model of %zu bytes", n);
        goto done;
    }
    if (fread(all, 1, n, file) != n) {
        rc = rh_fail(err, RH_EIO, "%s: cannot be read", path);
        goto done;
    }
    *byte = all;
    *nbyte = n;
    all = NULL;

done:
    rh_free(all);
    if (file)
        fclose(file);
    return rc;
}

static rh_status write_all(const char *path, const unsigned char *byte, size_t nbyte,
                           rh_error *err)
{
    FILE *file = fopen(path, "wbxe");
    bool written = file && fwrite(byte, 1, nbyte, file) == nbyte;
    if (file)
        written = fclose(file) == 0 && written;
    return written ? RH_OK : rh_fail(err, RH_EIO, "%s: %s", path, strerror(errno));
}

rh_status rh_study__pack_model(const rh_model *model, unsigned char **byte, size_t *nbyte,
                               rh_error *err)
{
    temporary s;
    rh_status rc = make_temporary(&s, err);
    if (rc)
        return rc;
    rc = rh_model_write(model, s.path, err);
    if (!rc)
        rc = read_all(s.path, byte, nbyte, err);
    remove_temporary(&s);
    return rc;
}

rh_status rh_study__unpack_model(rh_model **out, const unsigned char *byte, size_t nbyte,
                                 rh_error *err)
{
    temporary s;
    rh_status rc = make_temporary(&s, err);
    if (rc)
        return rc;
    rc = write_all(s.path, byte, nbyte, err);
    if (!rc)
        rc = rh_model_read(out, s.path, err);
    remove_temporary(&s);
    return rc;
}
