// kernels.c - selects the loops for this processor.

#include "base/base_internal.h"
#include "kernel.h"

extern const rh_offline_kernels rh_offline_kernels_baseline;

#if defined(__x86_64__)

extern const rh_offline_kernels rh_offline_kernels_avx2;
extern const rh_offline_kernels rh_offline_kernels_avx512;

static const rh_offline_kernels *const kernels[] = {
    &rh_offline_kernels_baseline,
    &rh_offline_kernels_avx2,
    &rh_offline_kernels_avx512,
};

#else

static const rh_offline_kernels *const kernels[] = {&rh_offline_kernels_baseline};

#endif

const rh_offline_kernels *rh_offline_kernels__at(int i)
{
    return kernels[i];
}

const rh_offline_kernels *rh_offline_kernels__best(void)
{
    return kernels[rh_base__isa_best()];
}
