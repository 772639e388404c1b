// isa.c - the instruction sets that this machine can run.

#include "base_internal.h"
#include "rehearse/base.h"

#include <stdatomic.h>

static atomic_int limit;

#if defined(__x86_64__)

int rh_base__isa_count(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 1;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return wide ? 3 : 2;
}

#else

int rh_base__isa_count(void)
{
    return 1;
}

#endif

void rh_base__isa_limit(int n)
{
    atomic_store(&limit, n);
}

int rh_base__isa_best(void)
{
    int n = rh_base__isa_count(), most = atomic_load(&limit);
    return (most > 0 && most < n ? most : n) - 1;
}
