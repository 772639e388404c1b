// test_alloc.c - memory is zeroed, aligned, counted, and can be made to fail.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <limits.h>
#include <string.h>

#include "base/base_internal.h"
#include "rehearse/base.h"

static void zeroed_and_aligned(void **unused)
{
    (void)unused;
    for (size_t n = 0; n < 300; n++) {
        for (int again = 0; again < 2; again++) { // the second time over memory used before
            unsigned char *block = rh_alloc(n, 3);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 64, 0);
            for (size_t i = 0; i < 3 * n; i++)
                assert_int_equal(block[i], 0);
            memset(block, 0xff, 3 * n);
            rh_free(block);
        }
    }
}

static void impossible_sizes(void **unused)
{
    (void)unused;
    assert_null(rh_alloc(SIZE_MAX, 1));
    assert_null(rh_alloc(1, SIZE_MAX));
    assert_null(rh_alloc(SIZE_MAX / 8 + 2, 8)); // the product is 8 again
    assert_null(rh_alloc((size_t)1 << 32, (size_t)1 << 32));
}

static void live_and_count(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live(), made = rh_base__alloc_count();
    void *a = rh_alloc(1, 1), *b = rh_alloc(1, 1);
    assert_int_equal(rh_base__alloc_live(), live + 2);
    rh_free(a);
    rh_free(NULL);
    assert_int_equal(rh_base__alloc_live(), live + 1);
    rh_free(b);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(rh_base__alloc_count(), made + 2);
}

static void nth_fails(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_base__alloc_fail_at(3);
    for (int i = 1; i <= 5; i++) { // exactly the third
        void *block = rh_alloc(1, 1);
        assert_true((block == NULL) == (i == 3));
        rh_free(block);
    }
    rh_base__alloc_fail_at(1);
    rh_base__alloc_fail_at(0); // taken back
    void *block = rh_alloc(1, 1);
    assert_non_null(block);
    rh_free(block);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void growing(void **unused)
{
    (void)unused;
    int *block = NULL, room = 0;
    int64_t live = rh_base__alloc_live();
    for (int i = 0; i < 1000; i++) {
        int *more = rh_base__alloc_more(block, &room, i, sizeof *block);
        assert_non_null(more);
        assert_true(room > i);
        assert_int_equal(more[i], 0);
        block = more;
        block[i] = i + 1;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[i], i + 1);
    assert_int_equal(rh_base__alloc_live(), live + 1);

    // what cannot be had leaves the old one
    int before = room;
    rh_base__alloc_fail_at(1);
    assert_null(rh_base__alloc_more(block, &room, room, sizeof *block));
    rh_base__alloc_fail_at(0);
    assert_null(rh_base__alloc_more(block, &room, INT_MAX, sizeof *block));
    assert_int_equal(room, before);
    assert_int_equal(block[999], 1000);
    rh_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing),          cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(impossible_sizes), cmocka_unit_test(live_and_count),
        cmocka_unit_test(nth_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
