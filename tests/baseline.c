// baseline.c - linked into a test, this keeps it to the kernels of the baseline instruction
// set, which the address sanitizer checks (CMakeLists.txt).

#include "base/base_internal.h"

__attribute__((constructor)) static void keep_to_baseline(void)
{
    rh_base__isa_limit(1);
}
