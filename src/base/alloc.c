// alloc.c - all memory of the library passes here, so that tests can count it and make it fail.
//
// 1. Memory is zeroed. Large blocks come from the system already zero and page by page, so a
//    sparse table (a joint tile coder) costs only what is touched.
// 2. Blocks are aligned to 64 bytes, a cache line and the widest vector. The pointer libc gave
//    is kept just below the block.

#include "rehearse/base.h"

#include <stdatomic.h>
#include <stdlib.h>

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

void rh_free(void *memory)
{
    if (!memory)
        return;
    free(((void **)memory)[-1]);
    atomic_fetch_sub(&live, 1);
}

int64_t rh_alloc_live(void)
{
    return atomic_load(&live);
}

int64_t rh_alloc_count(void)
{
    return atomic_load(&made);
}

void rh_alloc_fail_at(int64_t nth)
{
    atomic_store(&fail_at, nth);
}
