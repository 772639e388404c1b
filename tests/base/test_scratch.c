// test_scratch.c - arrays with one check: zeroed, aligned, apart, and all released when any
// fails.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/scratch.h"

enum { NARRAY = 7 };

// Take arrays of growing sizes; the first has none.
static void take_all(rh_scratch *scratch, unsigned char **array)
{
    for (size_t i = 0; i < NARRAY; i++)
        array[i] = rh_scratch__take(scratch, i * 30, 3);
}

static void zeroed_aligned_apart(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_scratch scratch = {0};
    unsigned char *array[NARRAY];
    take_all(&scratch, array);
    assert_false(scratch.failed);
    for (size_t i = 0; i < NARRAY; i++) {
        assert_non_null(array[i]);
        assert_int_equal((uintptr_t)array[i] % 64, 0);
        for (size_t k = 0; k < 90 * i; k++)
            assert_int_equal(array[i][k], 0);
        memset(array[i], 0xff, 90 * i); // and into none of the others
    }
    rh_scratch__clear(&scratch);
    assert_int_equal(rh_base__alloc_live(), live);
    rh_scratch__clear(&scratch); // empty
    assert_non_null(rh_scratch__take(&scratch, 1, 1));
    rh_scratch__clear(&scratch);
}

static void every_failure_sticks(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int nth = 1; nth <= NARRAY; nth++) {
        rh_scratch scratch = {0};
        unsigned char *array[NARRAY];
        rh_base__alloc_fail_at(nth);
        take_all(&scratch, array);
        rh_base__alloc_fail_at(0);
        assert_true(scratch.failed);
        for (int i = 0; i < NARRAY; i++)
            if (i < nth - 1)
                assert_non_null(array[i]);
            else
                assert_null(array[i]);
        rh_scratch__clear(&scratch);
        assert_false(scratch.failed);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

static void impossible_sizes(void **unused)
{
    (void)unused;
    static const size_t count[] = {SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 8 - 1};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        rh_scratch scratch = {0};
        assert_null(rh_scratch__take(&scratch, count[i], 8));
        assert_true(scratch.failed);
        rh_scratch__clear(&scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_aligned_apart),
        cmocka_unit_test(every_failure_sticks),
        cmocka_unit_test(impossible_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
