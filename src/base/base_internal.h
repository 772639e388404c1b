// base_internal.h - helpers of the library that are not public, and switches for tests.

#ifndef REHEARSE_BASE_INTERNAL_H
#define REHEARSE_BASE_INTERNAL_H

#include "rehearse/contract.h"

#include <pthread.h>
#include <stdatomic.h>

// ---------------------------------------------------------------------------- messages

// The end of a path, short enough to leave space for the reason in a message.
const char *rh_base__path_tail(const char *path);

// The candidate most like `word`, or NULL when none is near enough to be a typo of it.
const char *rh_base__suggest(const char *word, const char *const *candidate, int ncandidate);

// ---------------------------------------------------------------------------- kinds

// Check what is registered from outside. what: "agent" or "environment".
rh_status rh_kind__check_name(const char *what, const char *name, const char *about,
                              rh_error *err);
rh_status rh_kind__check_params(const char *what, const char *name, const rh_param *param,
                                int nparam, rh_error *err);
// Fail: a function that is required is NULL. functions: which ones are.
rh_status rh_kind__missing(const char *what, const char *name, const char *functions,
                           rh_error *err);

// Kinds by name: structs whose first member is `const char *name`.
typedef struct rh_kind__list {
    const char *what;            // "agent", ...
    const void *const *built_in; // at most RH_MAX_KIND
    int nbuilt_in;
    const void *added[RH_MAX_KIND];
    atomic_int nadded;
    pthread_mutex_t adding; // PTHREAD_MUTEX_INITIALIZER
} rh_kind__list;

int rh_kind__count(const rh_kind__list *list);
const void *rh_kind__at(const rh_kind__list *list, int i); // NULL: there is none
const void *rh_kind__find(const rh_kind__list *list, const char *name, rh_error *err);
// Add one that was checked, or fail if there is one of its name. Borrowed: kind, for good.
rh_status rh_kind__add(rh_kind__list *list, const void *kind, rh_error *err);

// Define `kinds`, a list with the built-in ones, and the public functions of the module part
// that count, return and find them: rh_<part>_ntype(), rh_<part>_type_at(), rh_<part>_find().
#define RH_KIND__REGISTRY(part, word, ...)                                                     \
    static rh_kind__list kinds = {                                                             \
        .what = word,                                                                          \
        .built_in = (const void *const[]){__VA_ARGS__},                                        \
        .nbuilt_in = sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *),              \
        .adding = PTHREAD_MUTEX_INITIALIZER,                                                   \
    };                                                                                         \
    int rh_##part##_ntype(void)                                                                \
    {                                                                                          \
        return rh_kind__count(&kinds);                                                         \
    }                                                                                          \
    const rh_##part##_type *rh_##part##_type_at(int i)                                         \
    {                                                                                          \
        return rh_kind__at(&kinds, i);                                                         \
    }                                                                                          \
    const rh_##part##_type *rh_##part##_find(const char *name, rh_error *err)                  \
    {                                                                                          \
        return rh_kind__find(&kinds, name, err);                                               \
    }                                                                                          \
    static rh_kind__list kinds /* takes the semicolon */

// ---------------------------------------------------------------------------- memory

// Grow a block to hold more than n items of `size` bytes: old items first, the rest zeroed.
// *room: how many it holds. NULL without memory, and the old block is unchanged.
// Nullable: block, where *room is 0.
void *rh_base__alloc_more(void *block, int *room, int n, size_t size);

// For tests: blocks allocated now, allocations ever made; fail the n-th from here (0: none).
int64_t rh_base__alloc_live(void);
int64_t rh_base__alloc_count(void);
void rh_base__alloc_fail_at(int64_t nth);

// ---------------------------------------------------------------------------- numbers

bool rh_base__all_finite(const double *x, int n);

// ---------------------------------------------------------------------------- UTF-8

// Length and code of the UTF-8 character at `at` (n bytes, at least 1); 0 if it is not UTF-8.
size_t rh_text__utf8(const char *at, size_t n, uint32_t *code);

// Whether a character is invisible or ends a line: a control character, U+2028, U+2029, the
// byte order mark, or a code that no text may contain.
bool rh_text__hidden(uint32_t code);

#endif
