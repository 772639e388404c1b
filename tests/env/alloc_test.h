// alloc_test.h - tests that let the n-th allocation fail, for every n:
//
//     do {
//         rh_base__alloc_fail_at(++nth);
//         rc = ...;
//     } while (allocation_failed(rc, &err, before));

#ifndef REHEARSE_ALLOC_TEST_H
#define REHEARSE_ALLOC_TEST_H

#include "base/base_internal.h"
#include "rehearse/base.h"

#include <string.h>

// Check that a failed call reports it and released all memory. False when the call succeeded.
static inline bool allocation_failed(rh_status rc, const rh_error *err, int64_t live_before)
{
    rh_base__alloc_fail_at(0);
    assert_int_equal(rh_base__alloc_live(), live_before);
    if (rc == RH_OK)
        return false;
    assert_int_equal(rc, RH_ENOMEM);
    assert_non_null(strstr(err->text, "out of memory"));
    return true;
}

#endif
