// kernels.c - which of the compiled hot loops this machine can run, and the best of them.

#include "kernel.h"

#include <stdatomic.h>
#include <stdbool.h>

extern const rh_kernels rh_kernels_baseline;

#if defined(__x86_64__)

extern const rh_kernels rh_kernels_avx2;
extern const rh_kernels rh_kernels_avx512;

static const rh_kernels *const kernels[] = {
    &rh_kernels_baseline,
    &rh_kernels_avx2,
    &rh_kernels_avx512,
};

int rh_kernels__count(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 1;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return wide ? 3 : 2;
}

#else

static const rh_kernels *const kernels[] = {&rh_kernels_baseline};

int rh_kernels__count(void)
{
    return 1;
}

#endif

const rh_kernels *rh_kernels__at(int i)
{
    return kernels[i];
}

static atomic_int limit;

void rh_kernels__limit(int n)
{
    atomic_store(&limit, n);
}

const rh_kernels *rh_kernels__best(void)
{
    int n = rh_kernels__count(), most = atomic_load(&limit);
    return kernels[(most > 0 && most < n ? most : n) - 1];
}
