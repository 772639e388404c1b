// isa.c - the instruction sets that this machine can run.

#include "kernels.h"

#include <stdatomic.h>
#include <stdbool.h>

static atomic_int limit;

#if defined(__x86_64__)

int rh_isa__count(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 1;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return wide ? 3 : 2;
}

#else

int rh_isa__count(void)
{
    return 1;
}

#endif

void rh_isa__limit(int n)
{
    atomic_store(&limit, n);
}

int rh_isa__best(void)
{
    int n = rh_isa__count(), most = atomic_load(&limit);
    return (most > 0 && most < n ? most : n) - 1;
}
