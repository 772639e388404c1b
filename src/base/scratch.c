// scratch.c - arrays that are checked once and released together.
//
// Every array is a block of its own: large ones cost only what is touched, and a test can make
// each of them fail. A cache line before it points to the block before.

#include "scratch.h"

#include "rehearse/base.h"

#define LINE 64

void *rh_scratch__take(rh_scratch *scratch, size_t count, size_t size)
{
    char *block = NULL;
    if (!scratch->failed && (!size || count <= (SIZE_MAX - LINE) / size))
        block = rh_alloc(1, LINE + count * size);
    scratch->failed = !block;
    if (!block)
        return NULL;
    *(void **)block = scratch->last;
    scratch->last = block;
    return block + LINE;
}

void rh_scratch__clear(rh_scratch *scratch)
{
    for (void *block = scratch->last, *before; block; block = before) {
        before = *(void **)block;
        rh_free(block);
    }
    *scratch = (rh_scratch){0};
}
