// encoding.h - text of other encodings as UTF-8, piece by piece.

#ifndef REHEARSE_LOG_ENCODING_H
#define REHEARSE_LOG_ENCODING_H

#include "rehearse/base.h"

#define RH_ENCODING__GROWTH 3 // bytes of UTF-8 that a byte of another encoding becomes, at most

typedef struct rh_encoding {
    bool wide, big; // UTF-16, big-endian
    int64_t nlatin; // bytes that are not UTF-8, read as Windows-1252, so far
} rh_encoding;

// The encoding by the first n bytes. Returns the bytes of the mark to skip.
size_t rh_encoding__begin(rh_encoding *e, const unsigned char *head, size_t n);

// Decode as much of from (n) as is complete; last: nothing follows. to has space for
// RH_ENCODING__GROWTH * n bytes. *used: bytes of from that were decoded, all but 3 at least.
// Returns the bytes in to.
size_t rh_encoding__decode(rh_encoding *e, const unsigned char *from, size_t n, bool last,
                           char *to, size_t *used);

#endif
