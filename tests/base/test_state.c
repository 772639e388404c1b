// test_state.c - named arrays in memory and as bytes: nothing is lost, and no
// damage goes unseen.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base_internal.h"
#include "base/state_sample.h"
#include "base/text.h"

// ---------------------------------------------------------------------------- in memory

static void arrays_by_name(void **unused)
{
    (void)unused;
    rh_error err;
    rh_state *state = sample();
    double x[20];
    size_t n = 99;

    assert_null(rh_state_find(state, "weight", &n));
    assert_int_equal(n, 99);
    assert_int_equal(rh_state_get(state, "trace", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: no array 'trace' in the saved state");
    assert_int_equal(rh_state_get(state, "weights", x, 20, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: array 'weights' of the saved state has 12 numbers, "
                                  "expected 20");

    assert_int_equal(rh_state_put(state, "step", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: array 'step' exists already");
    assert_int_equal(rh_state_put(state, "", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: array name '', expected 1 to 31 characters");
    const char *letters = "abcdefghijklmnopqrstuvwxyz123456"; // 32
    assert_int_equal(rh_state_put(state, letters, x, 1, &err), RH_EINVAL);
    assert_int_equal(rh_state_set_label(state, letters, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: label 'abcdefghijklmnopqrstuvwxyz123456', expected "
                                  "at most 31 characters");
    assert_int_equal(rh_state_set_label(state, letters + 1, NULL), RH_OK);
    assert_string_equal(rh_state_label(state), letters + 1);
    assert_int_equal(rh_state_set_label(state, "short", NULL), RH_OK);
    assert_string_equal(rh_state_label(state), "short");
    rh_state_destroy(state);
    rh_state_destroy(NULL);
}

static void many_arrays(void **unused)
{
    (void)unused;
    rh_state *state = NULL;
    assert_int_equal(rh_state_create(&state, NULL), RH_OK);
    assert_string_equal(rh_state_label(state), "");
    char name[32];
    for (int i = 0; i < 300; i++) {
        double x[2] = {i, -i};
        snprintf(name, sizeof name, "w%d", i);
        assert_int_equal(rh_state_put(state, name, x, 2, NULL), RH_OK);
    }
    for (int i = 0; i < 300; i++) {
        double x[2];
        snprintf(name, sizeof name, "w%d", i);
        assert_int_equal(rh_state_get(state, name, x, 2, NULL), RH_OK);
        assert_true(x[0] == i);
        assert_true(x[1] == -i);
    }
    rh_state_destroy(state);
}

static void arrays_in_order(void **unused)
{
    (void)unused;
    static const char *const expected[] = {"weights", "empty", "step"};
    static const size_t length[] = {LENGTH(odd), 0, 1};
    rh_state *state = sample();
    assert_int_equal(rh_state_count(state), 3);
    for (int i = 0; i < 3; i++) {
        const char *name = NULL;
        size_t n = 99, found = 98;
        const double *x = rh_state_at(state, i, &name, &n);
        assert_string_equal(name, expected[i]);
        assert_int_equal(n, length[i]);
        assert_ptr_equal(x, rh_state_find(state, name, &found));
        assert_int_equal(n, found);
    }
    assert_int_equal(rh_state_put(state, "late", odd, 2, NULL), RH_OK);
    assert_int_equal(rh_state_count(state), 4);
    rh_state_destroy(state);

    assert_int_equal(rh_state_create(&state, NULL), RH_OK);
    assert_int_equal(rh_state_count(state), 0);
    rh_state_destroy(state);
}

// ---------------------------------------------------------------------------- as bytes

static void round_trip(void **unused)
{
    (void)unused;
    rh_state *state = sample(), *back = NULL;
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    assert_int_equal(rh_state__parse(&back, bytes, n, "file", NULL), RH_OK);
    check_sample(back);
    rh_state_destroy(back);
    rh_free(bytes);
    rh_state_destroy(state);
    assert_int_equal(rh_base__crc32(0, "123456789", 9), 0xcbf43926);
}

static void parse_refuses(const unsigned char *bytes, size_t n, const char *words)
{
    rh_error err;
    rh_state *state = NULL;
    assert_int_equal(rh_state__parse(&state, bytes, n, "file", &err), RH_EFORMAT);
    assert_null(state);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void every_truncation(void **unused)
{
    (void)unused;
    rh_state *state = sample();
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    int64_t live = rh_base__alloc_live();
    for (size_t cut = 0; cut < n; cut++) {
        unsigned char *part = malloc(cut ? cut : 1); // ends where a read too far is noticed
        memcpy(part, bytes, cut);
        parse_refuses(part, cut, "truncated");
        free(part);
    }
    unsigned char *longer = calloc(n + 1, 1);
    memcpy(longer, bytes, n);
    parse_refuses(longer, n + 1, "damaged: 277 bytes, expected 276");
    free(longer);
    assert_int_equal(rh_base__alloc_live(), live);
    rh_free(bytes);
    rh_state_destroy(state);
}

static void every_changed_byte(void **unused)
{
    (void)unused;
    rh_state *state = sample();
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    int64_t live = rh_base__alloc_live();
    for (size_t i = 0; i < n; i++)
        for (int change = 1; change < 256; change++) {
            bytes[i] ^= (unsigned char)change;
            parse_refuses(bytes, n, "file: ");
            bytes[i] ^= (unsigned char)change;
        }
    assert_int_equal(rh_base__alloc_live(), live);
    rh_free(bytes);
    rh_state_destroy(state);
}

// Set one byte and make the checksum right again, as a fault in a program would.
static void forged(size_t at, unsigned char value, const char *words)
{
    rh_state *state = sample();
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    bytes[at] = value;
    uint32_t crc = rh_base__crc32(0, bytes, n - 4);
    for (int i = 0; i < 4; i++)
        bytes[n - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
    parse_refuses(bytes, n, words);
    rh_free(bytes);
    rh_state_destroy(state);
}

static void right_checksum_wrong_content(void **unused)
{
    (void)unused;
    size_t second = 48 + 40 + 8 * LENGTH(odd); // where the array "empty" begins
    forged(8, 2, "state file of version 2, expected 1: written by a newer release");
    forged(8, 0, "damaged: version 0, expected 1");
    forged(12, 4, "truncated: 276 bytes end inside array 4, expected 4 arrays");
    forged(12, 2, "damaged: 276 bytes, expected 228");
    forged(15, 0xff, "truncated");
    forged(16 + 31, 'x', "damaged: label 'esarsa'");
    forged(48, 0, "damaged: array 1 is called ''");
    forged(48 + 31, 'x', "damaged: array 1 is called 'weights'");
    forged(48 + 32 + 7, 0x80, "truncated: 276 bytes end inside array 1"); // 2^63 numbers
    forged(48 + 32 + 7, 0x20, "truncated: 276 bytes end inside array 1"); // 2^64 bytes
    forged(second + 32, 1, "truncated: 276 bytes end inside array 3");

    // two arrays of one name
    rh_state *state = NULL;
    size_t n;
    assert_int_equal(rh_state_create(&state, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "a", NULL, 0, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "b", NULL, 0, NULL), RH_OK);
    unsigned char *bytes = rh_state__bytes(state, &n);
    bytes[48 + 40] = 'a';
    uint32_t crc = rh_base__crc32(0, bytes, n - 4);
    for (int i = 0; i < 4; i++)
        bytes[n - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
    parse_refuses(bytes, n,
                  "damaged: array 2 is called 'a', expected a name of 1 to 31 characters "
                  "not used before");
    rh_free(bytes);
    rh_state_destroy(state);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) { // growing past the first eight arrays
        rh_state *grown = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_state_create(&grown, NULL);
        for (char name[2] = "a"; !rc && name[0] <= 'j'; name[0]++)
            rc = rh_state_put(grown, name, odd, 3, NULL);
        rh_base__alloc_fail_at(0);
        rh_state_destroy(grown);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
}

// A file of 8 MB with an array every 40 bytes took 86 s.
static void two_hundred_thousand_arrays(void **unused)
{
    (void)unused;
    const unsigned narray = 200000;
    size_t n = 48 + (size_t)narray * 40 + 4;
    unsigned char *bytes = calloc(n, 1);
    assert_non_null(bytes);
    memcpy(bytes, "\x89RHSTATE\x01", 9);
    for (int i = 0; i < 4; i++)
        bytes[12 + i] = (unsigned char)(narray >> 8 * i);
    for (unsigned i = 0; i < narray; i++)
        snprintf((char *)bytes + 48 + (size_t)i * 40, 32, "array_%u", i);
    uint32_t crc = rh_base__crc32(0, bytes, n - 4);
    for (int i = 0; i < 4; i++)
        bytes[n - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
    rh_state *state = NULL;
    rh_error err = {""};
    clock_t begun = clock();
    if (rh_state__parse(&state, bytes, n, "file", &err))
        fail_msg("%s", err.text);
    assert_true(clock() - begun < 5 * CLOCKS_PER_SEC);
    rh_state_destroy(state);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_by_name),
        cmocka_unit_test(many_arrays),
        cmocka_unit_test(arrays_in_order),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_changed_byte),
        cmocka_unit_test(right_checksum_wrong_content),
        cmocka_unit_test(every_failed_allocation),
        cmocka_unit_test(two_hundred_thousand_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
