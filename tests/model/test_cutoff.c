// test_cutoff.c - when episodes in a model are usually cut off.

#include "base/base_internal.h"
#include "model_sample.h"

static void by_hand(void **unused)
{
    (void)unused;
    // episodes of 2, 3 and 7 steps
    walk w[12];
    for (int i = 0; i < 12; i++)
        w[i] = (walk){.s = i, .next = i + 1, .begins = i == 0 || i == 2 || i == 5};
    w[1].flag = w[4].flag = w[11].flag = ENDS;
    rh_log *log = log_of(w, 12, 2);
    assert_int_equal(rh_model_cutoff(log, 30 * 7), 7);
    assert_int_equal(rh_model_cutoff(log, 30 * 6), 6);
    assert_int_equal(rh_model_cutoff(log, 30 * 5), 6); // twice the median
    assert_int_equal(rh_model_cutoff(log, 1), 6);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_model_cutoff(log, 300), 0);
    rh_base__alloc_fail_at(0);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
