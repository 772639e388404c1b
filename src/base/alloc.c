// alloc.c - all memory of the library comes from here, so tests can count it and make it fail.
//
// 1. Memory is zeroed. The system maps large blocks on first use, already zeroed, so a sparse
//    table (a joint tile coder) costs only what is touched.
// 2. Blocks are aligned to 64 bytes: a cache line and the widest vector. The pointer from libc
//    is stored just below the block.

#include "base_internal.h"
#include "text.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static atomic_int_fast64_t live;
static atomic_int_fast64_t made;
static atomic_int_fast64_t fail_at; // counts down to the allocation that fails; 0: none does

void *rh_alloc(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2 - 2 * ALIGNMENT) / size)
        return NULL;
    if (atomic_load(&fail_at) > 0 && atomic_fetch_sub(&fail_at, 1) == 1)
        return NULL;

    char *raw = calloc(1, count * size + 2 * ALIGNMENT);
    if (!raw)
        return NULL;
    char *block = raw + 2 * ALIGNMENT - (uintptr_t)raw % ALIGNMENT;
    ((void **)block)[-1] = raw;
    atomic_fetch_add(&live, 1);
    atomic_fetch_add(&made, 1);
    return block;
}

void *rh_base__alloc_more(void *block, int *room, int n, size_t size)
{
    if (n < *room)
        return block;
    int more = n < 32 ? 64 : n < INT_MAX / 2 ? 2 * n : INT_MAX;
    void *larger = n < more ? rh_alloc((size_t)more, size) : NULL;
    if (!larger)
        return NULL;
    if (*room)
        memcpy(larger, block, (size_t)*room * size);
    rh_free(block);
    *room = more;
    return larger;
}

char *rh_base__copy(const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    char *copy = text ? rh_alloc(n, 1) : NULL;
    return copy ? memcpy(copy, text, n) : NULL;
}

void rh_free(void *memory)
{
    if (!memory)
        return;
    free(((void **)memory)[-1]);
    atomic_fetch_sub(&live, 1);
}

int64_t rh_base__alloc_live(void)
{
    return atomic_load(&live);
}

int64_t rh_base__alloc_count(void)
{
    return atomic_load(&made);
}

void rh_base__alloc_fail_at(int64_t nth)
{
    atomic_store(&fail_at, nth);
}
