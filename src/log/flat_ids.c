// flat_ids.c - a set of numbers: the episode ids so far.

#include "arrays.h"

#include <math.h>
#include <string.h>

// The slot that holds x, or a free one.
static double *slot_of(double *slot, size_t room, double x)
{
    uint64_t bits;
    x += 0.0; // 0 and -0 are equal
    memcpy(&bits, &x, sizeof bits);
    bits = (bits ^ bits >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(bits >> 32) & (room - 1);
    while (!isnan(slot[i]) && slot[i] != x)
        i = (i + 1) & (room - 1);
    return slot + i;
}

static bool grow(rh_ids *ids)
{
    size_t room = ids->room ? 2 * ids->room : 64;
    double *slot = rh_alloc(room, sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < room; i++)
        slot[i] = (double)NAN;
    for (size_t i = 0; i < ids->room; i++)
        if (!isnan(ids->slot[i]))
            *slot_of(slot, room, ids->slot[i]) = ids->slot[i];
    rh_free(ids->slot);
    ids->slot = slot;
    ids->room = room;
    return true;
}

bool rh_ids__add(rh_ids *ids, double x, bool *known)
{
    if (2 * (ids->n + 1) > ids->room && !grow(ids))
        return false;
    double *slot = slot_of(ids->slot, ids->room, x);
    *known = !isnan(*slot);
    *slot = x;
    ids->n += !*known;
    return true;
}
