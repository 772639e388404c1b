// unpack_module.c - the module rehearse-unpack.so: unpacks xz, zstd, bzip2 and zip by
// libarchive. No other file uses it, and the program loads it only for such a file, since
// libarchive comes with a dozen other libraries.

#include "unpack_calls.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE 65536 // bytes at a time

static rh_unpack__result damaged(struct archive *a, char *text, size_t size)
{
    const char *why = archive_error_string(a);
    snprintf(text, size, "%s", why ? why : "unknown");
    return RH_UNPACK_DAMAGED;
}

// The next file that is not a folder or a resource of macOS; *entry is NULL after the last.
static rh_unpack__result next_file(struct archive *a, struct archive_entry **entry, char *text,
                                   size_t size)
{
    for (;;) {
        int answer = archive_read_next_header(a, entry);
        if (answer == ARCHIVE_EOF) {
            *entry = NULL;
            return RH_UNPACK_DONE;
        }
        if (answer != ARCHIVE_OK && answer != ARCHIVE_WARN)
            return damaged(a, text, size);
        const char *name = archive_entry_pathname(*entry);
        if (archive_entry_filetype(*entry) == AE_IFREG &&
            !(name && strncmp(name, "__MACOSX/", 9) == 0))
            return RH_UNPACK_DONE;
    }
}

// Where to write, and how much.
typedef struct target {
    int fd;
    bool (*allows)(void *context, int64_t packed, int64_t unpacked);
    void *context;
} target;

static rh_unpack__result copy(struct archive *a, const target *to, char *text, size_t size)
{
    char piece[PIECE];
    for (int64_t total = 0;;) {
        la_ssize_t n = archive_read_data(a, piece, sizeof piece);
        if (n < 0)
            return damaged(a, text, size);
        if (n == 0)
            return RH_UNPACK_DONE;
        total += n;
        if (!to->allows(to->context, archive_filter_bytes(a, -1), total))
            return RH_UNPACK_TOO_MUCH;
        if (!rh_unpack__write(to->fd, piece, (size_t)n))
            return RH_UNPACK_UNWRITTEN;
    }
}

static rh_unpack__result unpack_one(struct archive *a, const target *to, char *text,
                                    size_t size)
{
    struct archive_entry *entry = NULL;
    rh_unpack__result result = next_file(a, &entry, text, size);
    if (result != RH_UNPACK_DONE)
        return result;
    if (!entry)
        return RH_UNPACK_NONE;
    const char *name = archive_entry_pathname(entry);
    char first[128];
    snprintf(first, sizeof first, "%s", name ? name : "?");
    result = copy(a, to, text, size);
    if (result == RH_UNPACK_DONE)
        result = next_file(a, &entry, text, size);
    if (result != RH_UNPACK_DONE || !entry)
        return result;
    name = archive_entry_pathname(entry);
    snprintf(text, size, "%s and %.100s", first, name ? name : "?");
    return RH_UNPACK_SEVERAL;
}

static rh_unpack__result unpack(int from, int to,
                                bool (*allows)(void *context, int64_t packed, int64_t unpacked),
                                void *context, char *text, size_t size)
{
    target into = {to, allows, context};
    struct archive *a = archive_read_new();
    if (!a) {
        snprintf(text, size, "out of memory");
        return RH_UNPACK_DAMAGED;
    }
    rh_unpack__result result;
    // a filter that libarchive has no library for is a warning: it would start a program
    bool able = archive_read_support_filter_xz(a) == ARCHIVE_OK &&
                archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
                archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
                archive_read_support_format_zip(a) == ARCHIVE_OK &&
                archive_read_support_format_raw(a) == ARCHIVE_OK &&
                archive_read_open_fd(a, from, PIECE) == ARCHIVE_OK;
    result = able ? unpack_one(a, &into, text, size) : damaged(a, text, size);
    int why = errno;
    archive_read_free(a);
    errno = why;
    return result;
}

extern const rh_unpack__calls rh_unpack__module;
__attribute__((visibility("default"))) const rh_unpack__calls rh_unpack__module = {
    .version = RH_UNPACK__VERSION,
    .unpack = unpack,
};
