// intern.c - numbers different texts. Hashed, because a file may hold thousands in any order.

#include "intern.h"
#include "base/base_internal.h"
#include "base/text.h"

#include <string.h>

#define SLOTS 32768 // a power of 2 above RH_INTERN__MOST

bool rh_intern__init(rh_intern *in)
{
    *in = (rh_intern){.name = rh_alloc(RH_INTERN__MOST, sizeof *in->name),
                      .slot = rh_alloc(SLOTS, sizeof *in->slot)};
    return in->name && in->slot;
}

void rh_intern__clear(rh_intern *in)
{
    for (int i = 0; i < in->n; i++)
        rh_free(in->name[i]);
    rh_free(in->name);
    rh_free(in->slot);
    *in = (rh_intern){0};
}

// The slot of a text, or the free one for it.
static int *find_slot(const rh_intern *in, const char *text, size_t n)
{
    for (uint32_t at = rh_base__crc32(0, text, n);; at++) {
        int *slot = &in->slot[at & (SLOTS - 1)];
        const char *name = *slot ? in->name[*slot - 1] : NULL;
        if (!name || (strncmp(name, text, n) == 0 && !name[n]))
            return slot;
    }
}

int rh_intern__find(const rh_intern *in, const char *text, size_t n)
{
    return *find_slot(in, text, n) - 1;
}

int rh_intern__add(rh_intern *in, const char *text, size_t n)
{
    int *slot = find_slot(in, text, n);
    if (*slot > 0)
        return *slot - 1;
    if (in->n == RH_INTERN__MOST)
        return -2;
    char *name = rh_alloc(n + 1, 1);
    if (!name)
        return -1;
    memcpy(name, text, n);
    in->name[in->n] = name;
    *slot = ++in->n;
    return *slot - 1;
}
