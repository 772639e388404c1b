// number_powers.c - 128 bits of every power of five that a double needs.
//
// The table is computed once, at the first use, in some 20 microseconds: 667 lines of constants
// would say the same. Powers from 5^0 on are exact products. Powers below are 2^1151 divided by
// five again and again; rounding down at each step gives the same digits as rounding once.
// tests/base/test_number.c compares all of them with tests/reference/base_powers.csv.

#include "number.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define NLIMB 18         // 1152 bits: 5^324 has 753, and 2^1151 / 5^342 still 357
#define ROUNDED_UP (-27) // from here to -1 powers are rounded up

__extension__ typedef unsigned __int128 u128;

static uint64_t table[RH_POWERS__MOST - RH_POWERS__LEAST + 1][2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool ready;

// Keep the first 128 bits of big (NLIMB), the lowest limb first, as 5^e.
static void keep(const uint64_t *big, int e)
{
    int n = NLIMB - 1;
    while (!big[n])
        n--;
    uint64_t limb[3]; // the highest first
    for (int i = 0; i < 3; i++)
        limb[i] = n - i >= 0 ? big[n - i] : 0;
    int shift = __builtin_clzll(limb[0]);
    u128 top = (u128)limb[0] << 64 | limb[1];
    if (shift)
        top = top << shift | limb[2] >> (64 - shift);
    if (e < 0 && e >= ROUNDED_UP)
        top++;
    table[e - RH_POWERS__LEAST][0] = (uint64_t)(top >> 64);
    table[e - RH_POWERS__LEAST][1] = (uint64_t)top;
}

static void compute(void)
{
    uint64_t big[NLIMB] = {1};
    for (int e = 0; e <= RH_POWERS__MOST; e++) {
        keep(big, e);
        u128 carry = 0;
        for (int i = 0; i < NLIMB; i++) {
            carry += (u128)big[i] * 5;
            big[i] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    memset(big, 0, sizeof big);
    big[NLIMB - 1] = (uint64_t)1 << 63;
    for (int e = -1; e >= RH_POWERS__LEAST; e--) {
        u128 rest = 0;
        for (int i = NLIMB - 1; i >= 0; i--) {
            rest = rest << 64 | big[i];
            big[i] = (uint64_t)(rest / 5);
            rest %= 5;
        }
        keep(big, e);
    }
    atomic_store_explicit(&ready, true, memory_order_release);
}

const uint64_t *rh_powers__of_five(int e)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire))
        pthread_once(&once, compute);
    return table[e - RH_POWERS__LEAST];
}
