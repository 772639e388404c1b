// test_isa.c - the instruction set that is used is the best one allowed.

#include "numeric/kernels.h"
#include "rehearse/base.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_best_allowed(void **unused)
{
    (void)unused;
    int n = rh_isa__count();
    assert_in_range(n, 1, 3);
    assert_int_equal(rh_isa__best(), n - 1);
    for (int k = 1; k <= n; k++) {
        rh_isa__limit(k);
        assert_int_equal(rh_isa__best(), k - 1);
        assert_int_equal(rh_isa__count(), n);
    }
    rh_isa__limit(n + 5);
    assert_int_equal(rh_isa__best(), n - 1);
    rh_isa__limit(0);
    assert_int_equal(rh_isa__best(), n - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
