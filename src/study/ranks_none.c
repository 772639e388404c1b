// ranks_none.c - a build without MPI: one process, no messages.

#include "ranks.h"

#include <stdlib.h>

bool rh_ranks_built(void)
{
    return false;
}

rh_status rh_ranks_begin(rh_ranks **out, rh_error *err)
{
    (void)out;
    return rh_fail(err, RH_EINVAL, "this build has no MPI");
}

int rh_ranks_me(const rh_ranks *ranks)
{
    (void)ranks;
    return 0;
}

int rh_ranks_count(const rh_ranks *ranks)
{
    (void)ranks;
    return 1;
}

void rh_ranks_end(rh_ranks *ranks)
{
    (void)ranks;
}

void rh_ranks_abort(rh_ranks *ranks, int code)
{
    (void)ranks;
    (void)code;
    abort();
}

void rh_ranks__send(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                    size_t n)
{
    (void)ranks;
    (void)to;
    (void)what;
    (void)bytes;
    (void)n;
}

rh_status rh_ranks__post(rh_ranks *ranks, int to, rh_ranks__message what, const void *bytes,
                         size_t n, rh_error *err)
{
    rh_ranks__send(ranks, to, what, bytes, n);
    return rh_fail(err, RH_EINVAL, "this build has no MPI");
}

const void *rh_ranks__next(rh_ranks *ranks, int *from, rh_ranks__message *what, size_t *n)
{
    (void)ranks;
    (void)from;
    (void)what;
    (void)n;
    return NULL;
}

void rh_ranks__dismiss(rh_ranks *ranks)
{
    (void)ranks;
}

void rh_ranks__dismissed(rh_ranks *ranks)
{
    (void)ranks;
}
