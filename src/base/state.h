// state.h - the container of named arrays behind every binary file of the library: agent
// states, representations and models. The public functions on it are in contract.h.

#ifndef REHEARSE_BASE_STATE_H
#define REHEARSE_BASE_STATE_H

#include "rehearse/contract.h"

#define RH_STATE__NAME 48  // bytes of the name of an array with its closing zero
#define RH_STATE__LABEL 32 // bytes of a label, the same

typedef enum rh_state__type {
    RH_STATE_F64,
    RH_STATE_F32,
    RH_STATE_I64,
    RH_STATE_I32,
    RH_STATE_U8,
    RH_STATE_TEXT, // bytes of texts, each with a zero behind it
    RH_STATE_NTYPE
} rh_state__type;

typedef struct rh_state__array {
    char name[RH_STATE__NAME];
    rh_state__type type;
    size_t n;  // elements
    void *x;   // (n)
    bool lent; // x is not owned
} rh_state__array;

struct rh_state {
    char label[RH_STATE__LABEL];
    rh_state__array *array; // owned  (room)
    size_t narray, room;
};

size_t rh_state__width(rh_state__type type);          // bytes of an element
const char *rh_state__type_name(rh_state__type type); // "float64"

// One more array, zeroed, for state_file.c to fill; NULL without memory.
rh_state__array *rh_state__add(rh_state *state);

// Add an array: a copy of x, or x itself, which must then outlive the state.
rh_status rh_state__put(rh_state *state, const char *name, rh_state__type type, const void *x,
                        size_t n, rh_error *err);
rh_status rh_state__lend(rh_state *state, const char *name, rh_state__type type, const void *x,
                         size_t n, rh_error *err);

// The array of this name, borrowed from state; NULL: there is none.
rh_state__array *rh_state__find(const rh_state *state, const char *name);

// The numbers of an array that was read, which becomes empty. Owned: the result.
void *rh_state__take(rh_state__array *array);

// ---------------------------------------------------------------------------- files

// Read a file, or parse its n bytes. what: "state" or "model", for messages, as is `path`.
// Owned: *out, free with rh_state_destroy(). Nullable: err. On failure *out is left untouched.
rh_status rh_state__read(rh_state **out, const char *path, const char *what, rh_error *err);
rh_status rh_state__parse(rh_state **out, const unsigned char *bytes, size_t n,
                          const char *path, const char *what, rh_error *err);

// The bytes of a state's file and how many, or NULL. Owned: the result, free with rh_free().
unsigned char *rh_state__bytes(const rh_state *state, size_t *n);

#endif
