// base_internal.h - what the files of base share, and what its tests reach for.

#ifndef REHEARSE_BASE_INTERNAL_H
#define REHEARSE_BASE_INTERNAL_H

#include "rehearse/contract.h"

#define RH_STATE__HEAD 48 // bytes of a state file before its first array

// Whether the first n bytes of a file begin a state file that this library can read.
rh_status rh_state__check_head(const unsigned char *bytes, size_t n, const char *path,
                               rh_error *err);

// A state from the n bytes of a state file; `path` is for messages only.
// Owned: *out, free with rh_state_destroy(). Nullable: err. On failure *out is left untouched.
rh_status rh_state__parse(rh_state **out, const unsigned char *bytes, size_t n,
                          const char *path, rh_error *err);

// The bytes of a state's file and their number, or NULL when memory ran out.
// Owned: the answer, free with rh_free().
unsigned char *rh_state__bytes(const rh_state *state, size_t *n);

// The UTF-8 character that starts at `at` (n bytes, at least 1): its length and code, or 0
// where the bytes are not UTF-8.
size_t rh_text__utf8(const char *at, size_t n, uint32_t *code);

// Whether a character is invisible or ends a line: a control character, U+2028, U+2029, the
// byte order mark, or a code that no text may contain.
bool rh_text__hidden(uint32_t code);

#endif
