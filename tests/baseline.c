// baseline.c - linked into a test, this keeps it to the kernels of the baseline instruction
// set, which the address sanitizer checks (CMakeLists.txt).

#include "numeric/kernels.h"

__attribute__((constructor)) static void keep_to_baseline(void)
{
    rh_isa__limit(1);
}
