// test_queue.c - the queue: order, growth, and failure without space.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "study/queue.h"

#include <limits.h>
#include <string.h>

// Pushed and popped at different speeds, so that the ring goes round and grows in the middle.
static void first_in_first_out(void **unused)
{
    (void)unused;
    rh_queue q = {.size = sizeof(int)};
    int in = 0, out = 0, got;
    assert_false(rh_queue__pop(&q, &got));
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < round % 7 + 1; i++, in++) {
            assert_int_equal(rh_queue__reserve(&q, q.n + 1, NULL), RH_OK);
            rh_queue__push(&q, &in);
        }
        for (int i = 0; i < round % 5 && rh_queue__pop(&q, &got); i++)
            assert_int_equal(got, out++);
        assert_int_equal(q.n, in - out);
    }
    while (rh_queue__pop(&q, &got))
        assert_int_equal(got, out++);
    assert_int_equal(in, out);
    assert_true(q.room < 1000);
    rh_queue__clear(&q);
    assert_int_equal(q.size, sizeof(int));
}

static void no_room(void **unused)
{
    (void)unused;
    int64_t before = rh_base__alloc_live();
    rh_queue q = {.size = sizeof(int)};
    rh_error err;
    int seven = 7, got;
    assert_int_equal(rh_queue__reserve(&q, 3, &err), RH_OK);
    assert_true(rh_queue__push(&q, &seven));
    rh_queue full = {.size = sizeof(int)};
    assert_false(rh_queue__push(&full, &seven)); // nothing was reserved
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_queue__reserve(&q, 1000, &err), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
    assert_string_equal(err.text, "study: out of memory for a queue of 1000");
    assert_int_equal(rh_queue__reserve(&q, INT_MAX, &err), RH_ENOMEM);
    // what was there still is
    assert_true(rh_queue__pop(&q, &got));
    assert_int_equal(got, 7);
    rh_queue__clear(&q);
    assert_int_equal(rh_base__alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
