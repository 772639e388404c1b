// scratch.h - arrays that are checked once and released together.
//
//     rh_scratch scratch = {0};
//     double *x = rh_scratch__take(&scratch, n, sizeof *x);
//     int *order = rh_scratch__take(&scratch, n, sizeof *order);
//     if (scratch.failed)
//         rc = rh_base__no_memory(err, "model");
//     ...
//     rh_scratch__clear(&scratch);

#ifndef REHEARSE_BASE_SCRATCH_H
#define REHEARSE_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rh_scratch {
    void *last;  // owned: the latest array, with the one before it
    bool failed; // an array could not be had
} rh_scratch;

// An array as from rh_alloc(), released by rh_scratch__clear(); NULL from the first failure on.
void *rh_scratch__take(rh_scratch *scratch, size_t count, size_t size);

// Release all arrays, also after a failure. The scratch is empty again.
void rh_scratch__clear(rh_scratch *scratch);

#endif
