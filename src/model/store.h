// store.h - the arrays of a model file by name, and what to say about a wrong one.
//
// A store fills a container of named arrays (base/state.h) or reads one. Names are paths,
// "members/0/index". The first failure is kept and nothing is done after it, so callers look at
// `rc` where they use what they asked for, and at the end.

#ifndef MODEL_STORE_H
#define MODEL_STORE_H

#include "base/state.h"

typedef struct rh_store {
    rh_state *state;  // borrowed
    const char *path; // of the file, for messages; borrowed
    rh_error *err;    // of the first failure; nullable
    rh_status rc;     // the same
    char prefix[32];  // before all names: "members/0/"
} rh_store;

// Set the prefix from here on: "group/", for index >= 0 "group/index/", none for group NULL.
void rh_store__within(rh_store *store, const char *group, int index);

// Add an array: a copy of x (n), or x itself, which must outlive the state.
void rh_store__put(rh_store *store, const char *name, rh_state__type type, const void *x,
                   int64_t n);
void rh_store__lend(rh_store *store, const char *name, rh_state__type type, const void *x,
                    int64_t n);
void rh_store__put_number(rh_store *store, const char *name, double x);
void rh_store__put_text(rh_store *store, const char *name, const char *text);
void rh_store__put_texts(rh_store *store, const char *name, const char *const *text, int n);

bool rh_store__has(const rh_store *store, const char *name);

// The array called `name`; NULL after a failure. Another type is refused, and so is another
// number of elements than n, where n is not -1. *got: how many. Nullable: got.
// look: borrowed from the state. take: owned, free with rh_free().
const void *rh_store__look(rh_store *store, const char *name, rh_state__type type, int64_t n,
                           int64_t *got);
void *rh_store__take(rh_store *store, const char *name, rh_state__type type, int64_t n,
                     int64_t *got);

// Copy an array of n elements to x.
void rh_store__copy(rh_store *store, const char *name, rh_state__type type, int64_t n, void *x);

// A finite number from lo to hi; after a failure lo.
double rh_store__number(rh_store *store, const char *name, double lo, double hi);

// A text, borrowed from the state; NULL after a failure.
const char *rh_store__text(rh_store *store, const char *name);
// n texts, or any number up to 10,000 for n = -1; *got: how many. Nullable: got. Owned: the
// array; borrowed: the texts.
const char **rh_store__texts(rh_store *store, const char *name, int n, int *got);

// Numbers with names, so that a later version may add some.
void rh_store__put_named(rh_store *store, const char *name, const char *const *names,
                         const double *x, int n);
// Owned: the array of the *n names, NULL after a failure. Borrowed: *x.
const char **rh_store__named(rh_store *store, const char *name, const double **x, int *n);

// Failures: RH_EFORMAT with "<file>: <name>: " before the message; out of memory; that of
// another module, if it failed.
void rh_store__refuse(rh_store *store, const char *name, const char *format, ...)
    RH_PRINTF(3, 4);
void rh_store__no_memory(rh_store *store);
void rh_store__pass(rh_store *store, const char *name, rh_status status, const rh_error *why);

#endif
