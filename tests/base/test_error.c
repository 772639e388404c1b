// test_error.c - messages arrive whole, and never overflow.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "rehearse/base.h"

static void message_and_status(void **unused)
{
    (void)unused;
    rh_error err;
    assert_int_equal(rh_fail(&err, RH_EINVAL, "knn: k = %d, expected %s", 0, "1 to 64"),
                     RH_EINVAL);
    assert_string_equal(err.text, "knn: k = 0, expected 1 to 64");
    assert_int_equal(rh_fail(NULL, RH_EIO, "nobody asked"), RH_EIO);
}

static void long_message_is_cut(void **unused)
{
    (void)unused;
    rh_error err[2];
    memset(err, 'x', sizeof err);
    char text[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    rh_fail(&err[0], RH_EIO, "%s", text);
    assert_int_equal(strlen(err[0].text), sizeof err[0].text - 1);
    assert_int_equal(err[1].text[0], 'x');
}

static void version_has_three_numbers(void **unused)
{
    (void)unused;
    int major, minor, patch;
    char rest;
    assert_int_equal(sscanf(rh_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_and_status),
        cmocka_unit_test(long_message_is_cut),
        cmocka_unit_test(version_has_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
