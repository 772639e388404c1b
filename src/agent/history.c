// history.c - the last observations of an episode and the actions between them, in one array.

#include "history.h"

#include <string.h>

int rh_history__nact(const rh_history *h)
{
    return h->naction && h->naction <= RH_HISTORY_PLACES ? h->naction : h->nact;
}

int rh_history__width(const rh_history *h)
{
    return h->n * h->nobs + (h->n - 1) * rh_history__nact(h);
}

// Move n parts of `size` floats by one part to the back; the last one is lost.
static void shift(float *x, int n, int size)
{
    if (n > 1)
        memmove(x + size, x, (size_t)((n - 1) * size) * sizeof *x);
}

void rh_history__start(const rh_history *h, const float *obs, float *stack)
{
    size_t nobs = (size_t)h->nobs;
    for (int i = 0; i < h->n; i++)
        memcpy(stack + (size_t)i * nobs, obs, nobs * sizeof *stack);
    memset(stack + (size_t)h->n * nobs, 0,
           (size_t)((h->n - 1) * rh_history__nact(h)) * sizeof *stack);
}

void rh_history__step(const rh_history *h, const float *act, const float *obs, float *stack)
{
    float *past = stack + h->n * h->nobs;
    int nact = rh_history__nact(h);
    shift(stack, h->n, h->nobs);
    memcpy(stack, obs, (size_t)h->nobs * sizeof *stack);
    if (h->n == 1)
        return;
    shift(past, h->n - 1, nact);
    if (!h->naction)
        memcpy(past, act, (size_t)nact * sizeof *past);
    else if (h->naction > RH_HISTORY_PLACES)
        past[0] = 2.0f * act[0] / (float)(h->naction - 1) - 1.0f;
    else
        for (int a = 0; a < nact; a++)
            past[a] = act[0] == (float)a ? 1.0f : 0.0f;
}
