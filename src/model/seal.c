// seal.c - the first bytes of a model file: what it is, how long, and a checksum of the rest.
//
//     rehearse-model 1
//     size 1234567
//     crc32 89abcdef
//
// and a line for who looks into the file with a pager, then zeros up to byte 512, where HDF5
// begins: a user block, which every HDF5 program skips.
//
// 1. The checksum is compared before libhdf5 sees the file: libhdf5 1.10 is not made for
//    damaged files, and checks its own sums (of metadata, and chunks by a filter) too late.
// 2. All 512 bytes are compared with what they should be: no byte of the file changes unseen.

#include "seal.h"
#include "base/base_internal.h"

#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK (1 << 20) // bytes read at a time

static const char magic[] = "rehearse-model ";

// ---------------------------------------------------------------------------- the checksum

// Of everything after the seal. False when it cannot be read.
static bool sum_file(FILE *file, unsigned char *block, uint32_t *crc)
{
    size_t n;
    *crc = 0;
    if (fseek(file, RH_SEAL_SIZE, SEEK_SET) != 0)
        return false;
    while ((n = fread(block, 1, BLOCK, file)) > 0)
        *crc = rh_base__crc32(*crc, block, n);
    return !ferror(file);
}

// ---------------------------------------------------------------------------- the seal

static void render(char seal[RH_SEAL_SIZE], int64_t size, uint32_t crc)
{
    memset(seal, 0, RH_SEAL_SIZE);
    snprintf(seal, RH_SEAL_SIZE,
             "%s%d\nsize %" PRId64 "\ncrc32 %08" PRIx32 "\n\nA calibration model that "
             "`rehearse fit` wrote. From byte %d on this is an HDF5 file.\n",
             magic, RH_SEAL_VERSION, size, crc, RH_SEAL_SIZE);
}

rh_status rh_seal__write(const char *path, const char *name, rh_error *err)
{
    char seal[RH_SEAL_SIZE];
    struct stat st;
    uint32_t crc = 0;
    rh_status rc = RH_OK;
    FILE *file = NULL;
    unsigned char *block = rh_alloc(BLOCK, 1);
    if (!block) {
        rc = rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                     rh_base__path_tail(name));
        goto done;
    }
    file = fopen(path, "r+be");
    bool good = file && fstat(fileno(file), &st) == 0 && sum_file(file, block, &crc);
    if (good) {
        render(seal, (int64_t)st.st_size, crc);
        good =
            fseek(file, 0, SEEK_SET) == 0 && fwrite(seal, 1, sizeof seal, file) == sizeof seal;
    }
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(name),
                     strerror(errno ? errno : EIO));

done:
    rh_free(block);
    return rc;
}

// What the seal says, before any of it is believed. size: bytes of the file.
static rh_status read_seal(const char *path, const char seal[RH_SEAL_SIZE], size_t n,
                           int64_t size, rh_error *err)
{
    int version = 0;
    int64_t expected = 0;
    path = rh_base__path_tail(path);
    if (n <= strlen(magic) || memcmp(seal, magic, strlen(magic)) != 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: not a model file, expected one that `rehearse fit` wrote", path);
    for (const char *c = seal + strlen(magic); *c >= '0' && *c <= '9' && version < 100000; c++)
        version = 10 * version + *c - '0';
    if (version > RH_SEAL_VERSION)
        return rh_fail(err, RH_EFORMAT,
                       "%s: written by a newer rehearse (model format %d, this reads %d)", path,
                       version, RH_SEAL_VERSION);
    const char *line = memchr(seal, '\n', n);
    if (!line || strncmp(line, "\nsize ", 6) != 0)
        return rh_fail(err, RH_EFORMAT, "%s: damaged or cut off in its first lines", path);
    for (const char *c = line + 6; *c >= '0' && *c <= '9' && expected < INT64_MAX / 16; c++)
        expected = 10 * expected + *c - '0';
    if (size != expected || size < RH_SEAL_SIZE)
        return rh_fail(err, RH_EFORMAT, "%s: %s: %" PRId64 " bytes, expected %" PRId64, path,
                       size < expected ? "cut off" : "damaged", size, expected);
    return RH_OK;
}

static rh_status check_open(FILE *file, const char *path, unsigned char *block, int64_t *size,
                            rh_error *err)
{
    char seal[RH_SEAL_SIZE + 1] = {0}, should[RH_SEAL_SIZE];
    struct stat st;
    uint32_t crc = 0;
    if (fstat(fileno(file), &st) != 0)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(errno));
    *size = (int64_t)st.st_size;
    size_t n = fread(seal, 1, RH_SEAL_SIZE, file);
    rh_status rc = read_seal(path, seal, n, *size, err);
    if (rc)
        return rc;
    if (!sum_file(file, block, &crc))
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                       strerror(errno));
    render(should, *size, crc);
    if (memcmp(seal, should, RH_SEAL_SIZE) != 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: damaged: its bytes have the checksum %08" PRIx32
                       ", which is not the one in its first lines",
                       rh_base__path_tail(path), crc);
    return RH_OK;
}

rh_status rh_seal__check(const char *path, int64_t *size, rh_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) // opening a pipe would wait for a writer
        return rh_fail(err, RH_EIO, "%s: cannot read: it is %s, expected a model file",
                       rh_base__path_tail(path),
                       S_ISDIR(st.st_mode) ? "a directory" : "a device, pipe or socket");
    unsigned char *block = rh_alloc(BLOCK, 1);
    if (!block)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory", rh_base__path_tail(path));
    FILE *file = fopen(path, "rbe");
    rh_status rc = RH_OK;
    if (file)
        rc = check_open(file, path, block, size, err);
    else
        rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                     strerror(errno));
    if (file)
        fclose(file);
    rh_free(block);
    return rc;
}
