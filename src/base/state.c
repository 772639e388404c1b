// state.c - named arrays of doubles, in memory and as the bytes of a file.
//
// A state file, with every number little-endian:
//
//     offset  bytes  what
//     0       8      89 52 48 53 54 41 54 45: a byte that begins no text, and "RHSTATE"
//     8       4      version of this layout, 1
//     12      4      number of arrays
//     16      32     label, padded with zeros
//     48             the arrays, each: name (32, padded with zeros), length (8), doubles
//     end     4      CRC-32, as in zip and PNG, of every byte before it
//
// 1. Fields have fixed sizes, so doubles lie at multiples of eight and other programs can read
//    the file without parsing.
// 2. Every length in the file is compared with the size of the file before it is used.
// 3. Lengths are checked before the checksum: "truncated" tells a user more than "damaged".

#include "base_internal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 32          // bytes of a name or label with its closing zero
#define VERSION 1        // of the layout
#define ENTRY (NAME + 8) // bytes of an array before its numbers
#define HEAD RH_STATE__HEAD
#define TAIL 4 // bytes after the last array

static const unsigned char magic[8] = {0x89, 'R', 'H', 'S', 'T', 'A', 'T', 'E'};

typedef struct array {
    char name[NAME];
    size_t n;
    double *x; // owned  (n)
} array;

struct rh_state {
    char label[NAME];
    array *array; // owned  (room)
    size_t narray, room;
};

// ---------------------------------------------------------------------------- in memory

rh_status rh_state_create(rh_state **out, rh_error *err)
{
    rh_state *state = rh_alloc(1, sizeof *state);
    if (!state)
        return rh_fail(err, RH_ENOMEM, "state: out of memory");
    *out = state;
    return RH_OK;
}

void rh_state_destroy(rh_state *state)
{
    if (!state)
        return;
    for (size_t i = 0; i < state->narray; i++)
        rh_free(state->array[i].x);
    rh_free(state->array);
    rh_free(state);
}

static const array *find(const rh_state *state, const char *name)
{
    for (size_t i = 0; i < state->narray; i++)
        if (strcmp(state->array[i].name, name) == 0)
            return &state->array[i];
    return NULL;
}

// Space for n numbers under a new name; NULL without memory.
static double *add(rh_state *state, const char *name, size_t n)
{
    if (state->narray == state->room) {
        size_t room = state->room ? 2 * state->room : 8;
        array *grown = rh_alloc(room, sizeof *grown);
        if (!grown)
            return NULL;
        if (state->narray)
            memcpy(grown, state->array, state->narray * sizeof *grown);
        rh_free(state->array);
        state->array = grown;
        state->room = room;
    }

    double *x = rh_alloc(n, sizeof *x);
    if (!x)
        return NULL;
    array *a = &state->array[state->narray++];
    memcpy(a->name, name, strlen(name) + 1);
    a->n = n;
    a->x = x;
    return x;
}

rh_status rh_state_put(rh_state *state, const char *name, const double *x, size_t n,
                       rh_error *err)
{
    size_t length = strlen(name);
    if (length < 1 || length >= NAME)
        return rh_fail(err, RH_EINVAL, "state: array name '%.64s', expected 1 to %d characters",
                       name, NAME - 1);
    if (find(state, name))
        return rh_fail(err, RH_EINVAL, "state: array '%s' exists already", name);

    double *copy = add(state, name, n);
    if (!copy)
        return rh_fail(err, RH_ENOMEM, "state: out of memory for array '%s' (%zu numbers)",
                       name, n);
    if (n)
        memcpy(copy, x, n * sizeof *x);
    return RH_OK;
}

rh_status rh_state_get(const rh_state *state, const char *name, double *x, size_t n,
                       rh_error *err)
{
    const char *owner = state->label[0] ? state->label : "state";
    const array *a = find(state, name);
    if (!a)
        return rh_fail(err, RH_EINVAL, "%s: no array '%.64s' in the saved state", owner, name);
    if (a->n != n)
        return rh_fail(err, RH_EINVAL,
                       "%s: array '%s' of the saved state has %zu numbers, expected %zu", owner,
                       name, a->n, n);
    if (n)
        memcpy(x, a->x, n * sizeof *x);
    return RH_OK;
}

const double *rh_state_find(const rh_state *state, const char *name, size_t *n)
{
    const array *a = find(state, name);
    if (!a)
        return NULL;
    *n = a->n;
    return a->x;
}

int rh_state_count(const rh_state *state)
{
    return (int)state->narray;
}

const double *rh_state_at(const rh_state *state, int i, const char **name, size_t *n)
{
    const array *a = &state->array[i];
    *name = a->name;
    *n = a->n;
    return a->x;
}

rh_status rh_state_set_label(rh_state *state, const char *label, rh_error *err)
{
    size_t length = strlen(label);
    if (length >= NAME)
        return rh_fail(err, RH_EINVAL, "state: label '%.64s', expected at most %d characters",
                       label, NAME - 1);
    memset(state->label, 0, sizeof state->label);
    memcpy(state->label, label, length);
    return RH_OK;
}

const char *rh_state_label(const rh_state *state)
{
    return state->label;
}

// ---------------------------------------------------------------------------- as bytes

static void store(unsigned char *to, uint64_t value, int nbyte)
{
    for (int i = 0; i < nbyte; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t fetch(const unsigned char *from, int nbyte)
{
    uint64_t value = 0;
    for (int i = 0; i < nbyte; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

unsigned char *rh_state__bytes(const rh_state *state, size_t *n)
{
    size_t size = HEAD + TAIL;
    for (size_t i = 0; i < state->narray; i++)
        size += ENTRY + 8 * state->array[i].n;
    unsigned char *bytes = rh_alloc(size, 1); // zeroed, so names are padded
    if (!bytes)
        return NULL;

    memcpy(bytes, magic, sizeof magic);
    store(bytes + 8, VERSION, 4);
    store(bytes + 12, state->narray, 4);
    memcpy(bytes + 16, state->label, strlen(state->label));
    unsigned char *to = bytes + HEAD;
    for (size_t i = 0; i < state->narray; i++) {
        const array *a = &state->array[i];
        memcpy(to, a->name, strlen(a->name));
        store(to + NAME, a->n, 8);
        to += ENTRY;
        for (size_t j = 0; j < a->n; j++, to += 8) {
            uint64_t bits;
            memcpy(&bits, &a->x[j], sizeof bits);
            store(to, bits, 8);
        }
    }
    store(to, rh_base__crc32(0, bytes, size - TAIL), TAIL);

    *n = size;
    return bytes;
}

rh_status rh_state__check_head(const unsigned char *bytes, size_t n, const char *path,
                               rh_error *err)
{
    size_t nmagic = n < sizeof magic ? n : sizeof magic;
    if (memcmp(bytes, magic, nmagic) != 0) {
        char found[3 * sizeof magic + 1] = "", expected[3 * sizeof magic + 1] = "";
        for (size_t i = 0; i < nmagic; i++) {
            snprintf(found + 3 * i, 4, " %02x", bytes[i]);
            snprintf(expected + 3 * i, 4, " %02x", magic[i]);
        }
        return rh_fail(err, RH_EFORMAT, "%s: not a state file: it begins with%s, expected%s",
                       rh_base__path_tail(path), found, expected);
    }
    if (n < HEAD)
        return rh_fail(err, RH_EFORMAT, "%s: truncated: %zu bytes, expected %d or more",
                       rh_base__path_tail(path), n, HEAD + TAIL);

    unsigned version = (unsigned)fetch(bytes + 8, 4);
    if (version > VERSION)
        return rh_fail(err, RH_EFORMAT,
                       "%s: state file of version %u, expected %d: written by a newer release",
                       rh_base__path_tail(path), version, VERSION);
    if (version != VERSION)
        return rh_fail(err, RH_EFORMAT, "%s: damaged: version %u, expected %d",
                       rh_base__path_tail(path), version, VERSION);
    return RH_OK;
}

// Check that the arrays fill the n bytes of a file exactly.
static rh_status check_lengths(const unsigned char *bytes, size_t n, const char *path,
                               rh_error *err)
{
    if (n < HEAD + TAIL)
        return rh_fail(err, RH_EFORMAT, "%s: truncated: %zu bytes, expected %d or more",
                       rh_base__path_tail(path), n, HEAD + TAIL);

    unsigned narray = (unsigned)fetch(bytes + 12, 4);
    size_t left = n - HEAD - TAIL;
    const unsigned char *at = bytes + HEAD;
    for (unsigned i = 0; i < narray; i++) {
        uint64_t length = left < ENTRY ? 0 : fetch(at + NAME, 8);
        if (left < ENTRY || length > (left - ENTRY) / 8)
            return rh_fail(err, RH_EFORMAT,
                           "%s: truncated: %zu bytes end inside array %u, expected %u arrays",
                           rh_base__path_tail(path), n, i + 1, narray);
        left -= ENTRY + 8 * (size_t)length;
        at += ENTRY + 8 * (size_t)length;
    }
    if (left)
        return rh_fail(err, RH_EFORMAT, "%s: damaged: %zu bytes, expected %zu",
                       rh_base__path_tail(path), n, n - left);
    return RH_OK;
}

// Whether a field holds a name: a text that ends inside the field, followed by zeros.
static bool is_name(const unsigned char *field)
{
    size_t length = strnlen((const char *)field, NAME);
    for (size_t i = length; i < NAME; i++)
        if (field[i])
            return false;
    return length < NAME;
}

static int by_name(const void *a, const void *b)
{
    const unsigned char *x = *(const unsigned char *const *)a;
    const unsigned char *y = *(const unsigned char *const *)b;
    int order = memcmp(x, y, NAME);
    return order ? order : (x > y) - (x < y);
}

// The first array whose name was used before, NULL if there is none: *first. Sorted, because
// comparing all pairs took 86 s for a file of 8 MB.
static bool find_repeated(const unsigned char *bytes, unsigned narray,
                          const unsigned char **first)
{
    const unsigned char **at = rh_alloc((size_t)narray + 1, sizeof *at);
    const unsigned char *from = bytes + HEAD;
    *first = NULL;
    if (!at)
        return false;
    for (unsigned i = 0; i < narray; i++) {
        at[i] = from;
        from += ENTRY + 8 * (size_t)fetch(from + NAME, 8);
    }
    qsort(at, narray, sizeof *at, by_name);
    for (unsigned i = 1; i < narray; i++)
        if (memcmp(at[i - 1], at[i], NAME) == 0 && (!*first || at[i] < *first))
            *first = at[i];
    rh_free(at);
    return true;
}

// Fill an empty state from bytes with correct lengths and checksum.
static rh_status fill(rh_state *state, const unsigned char *bytes, const char *path,
                      rh_error *err)
{
    if (!is_name(bytes + 16))
        return rh_fail(err, RH_EFORMAT,
                       "%s: damaged: label '%.32s', expected 0 to %d characters",
                       rh_base__path_tail(path), (const char *)bytes + 16, NAME - 1);
    memcpy(state->label, bytes + 16, NAME);

    unsigned narray = (unsigned)fetch(bytes + 12, 4);
    const unsigned char *from = bytes + HEAD, *repeated = NULL;
    if (!find_repeated(bytes, narray, &repeated))
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %u arrays",
                       rh_base__path_tail(path), narray);
    for (unsigned i = 0; i < narray; i++) {
        const char *name = (const char *)from;
        if (!is_name(from) || !name[0] || from == repeated)
            return rh_fail(err, RH_EFORMAT,
                           "%s: damaged: array %u is called '%.32s', expected a name of 1 to "
                           "%d characters not used before",
                           rh_base__path_tail(path), i + 1, name, NAME - 1);
        size_t length = (size_t)fetch(from + NAME, 8);
        double *x = add(state, name, length);
        if (!x)
            return rh_fail(err, RH_ENOMEM, "%s: out of memory for array '%s' (%zu numbers)",
                           rh_base__path_tail(path), name, length);
        from += ENTRY;
        for (size_t j = 0; j < length; j++, from += 8) {
            uint64_t bits = fetch(from, 8);
            memcpy(&x[j], &bits, sizeof bits);
        }
    }
    return RH_OK;
}

rh_status rh_state__parse(rh_state **out, const unsigned char *bytes, size_t n,
                          const char *path, rh_error *err)
{
    rh_status rc = rh_state__check_head(bytes, n, path, err);
    if (rc)
        return rc;
    rc = check_lengths(bytes, n, path, err);
    if (rc)
        return rc;
    uint32_t found = rh_base__crc32(0, bytes, n - TAIL);
    uint32_t expected = (uint32_t)fetch(bytes + n - TAIL, TAIL);
    if (found != expected)
        return rh_fail(err, RH_EFORMAT, "%s: damaged: checksum %08x, expected %08x",
                       rh_base__path_tail(path), found, expected);

    rh_state *state = NULL;
    rh_state_create(&state, NULL);
    if (!state)
        return rh_fail(err, RH_ENOMEM, "%s: out of memory", rh_base__path_tail(path));
    rc = fill(state, bytes, path, err);
    if (rc)
        goto done;

    *out = state;
    state = NULL;

done:
    rh_state_destroy(state);
    return rc;
}
