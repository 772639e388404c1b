// unpack_calls.h - what the module rehearse-unpack.so does for unpack.c.

#ifndef REHEARSE_LOG_UNPACK_CALLS_H
#define REHEARSE_LOG_UNPACK_CALLS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define RH_UNPACK__VERSION 1

typedef enum rh_unpack__result {
    RH_UNPACK_DONE,
    RH_UNPACK_DAMAGED,  // text: why
    RH_UNPACK_NONE,     // the archive holds no file
    RH_UNPACK_SEVERAL,  // text: the first two files
    RH_UNPACK_TOO_MUCH, // `allows` said no
    RH_UNPACK_UNWRITTEN // errno says why
} rh_unpack__result;

typedef struct rh_unpack__calls {
    unsigned version;
    // Unpack the one file of `from` to the file `to`, as long as allows(context, bytes read,
    // bytes written). text (size): for a message.
    rh_unpack__result (*unpack)(int from, int to,
                                bool (*allows)(void *context, int64_t packed, int64_t unpacked),
                                void *context, char *text, size_t size);
} rh_unpack__calls;

// Write all n bytes; false: errno says why not. Here, because the module is not linked with the
// library.
static inline bool rh_unpack__write(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t count = write(fd, bytes, n);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            bytes += count;
            n -= (size_t)count;
        }
    }
    return true;
}

#endif
