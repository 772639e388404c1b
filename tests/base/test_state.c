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

#include "base/base.h"
#include "base/base_internal.h"
#include "base/state.h"
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

    assert_null(rh_state__doubles(state, "weight", &n));
    assert_int_equal(n, 99);
    assert_int_equal(rh_state_get(state, "trace", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: no array 'trace' in the saved state");
    assert_int_equal(rh_state_get(state, "weights", x, 20, &err), RH_EINVAL);
    assert_string_equal(err.text, "esarsa: array 'weights' of the saved state has 12 numbers, "
                                  "expected 20");

    assert_int_equal(rh_state_put(state, "step", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: array 'step' exists already");
    assert_int_equal(rh_state_put(state, "", x, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: array name '', expected 1 to 47 characters");
    const char *letters = "abcdefghijklmnopqrstuvwxyz123456";                // 32
    const char *longest = "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJK"; // 47
    char longer[49];
    snprintf(longer, sizeof longer, "%sL", longest);
    assert_int_equal(rh_state_put(state, longest, x, 1, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, longer, x, 1, &err), RH_EINVAL);
    assert_int_equal(rh_state__set_label(state, letters, &err), RH_EINVAL);
    assert_string_equal(err.text, "state: label 'abcdefghijklmnopqrstuvwxyz123456', expected "
                                  "at most 31 characters");
    assert_int_equal(rh_state__set_label(state, letters + 1, NULL), RH_OK);
    assert_string_equal(rh_state__label(state), letters + 1);
    assert_int_equal(rh_state__set_label(state, "short", NULL), RH_OK);
    assert_string_equal(rh_state__label(state), "short");
    rh_state_destroy(state);
    rh_state_destroy(NULL);
}

static void many_arrays(void **unused)
{
    (void)unused;
    rh_state *state = NULL;
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    assert_string_equal(rh_state__label(state), "");
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
    assert_int_equal(rh_state__count(state), 3);
    for (int i = 0; i < 3; i++) {
        const char *name = NULL;
        size_t n = 99, found = 98;
        const double *x = rh_state__at(state, i, &name, &n);
        assert_string_equal(name, expected[i]);
        assert_int_equal(n, length[i]);
        assert_ptr_equal(x, rh_state__doubles(state, name, &found));
        assert_int_equal(n, found);
    }
    assert_int_equal(rh_state_put(state, "late", odd, 2, NULL), RH_OK);
    assert_int_equal(rh_state__count(state), 4);
    rh_state_destroy(state);

    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    assert_int_equal(rh_state__count(state), 0);
    rh_state_destroy(state);
}

// ---------------------------------------------------------------------------- as bytes

static void round_trip(void **unused)
{
    (void)unused;
    rh_state *state = sample(), *back = NULL;
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    assert_int_equal(rh_state__parse(&back, bytes, n, "file", "state", NULL), RH_OK);
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
    assert_int_equal(rh_state__parse(&state, bytes, n, "file", "state", &err), RH_EFORMAT);
    assert_null(state);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

// Make the checksum right again, as a fault in a program would.
static void sign(unsigned char *bytes, size_t n)
{
    uint32_t crc = rh_base__crc32(0, bytes, n - 4);
    for (int i = 0; i < 4; i++)
        bytes[n - 4 + (size_t)i] = (unsigned char)(crc >> 8 * i);
}

// Every type, with a length that needs padding, and taken out of what was read.
static void typed_arrays(void **unused)
{
    (void)unused;
    static const float f32[] = {1.5f, INFINITY, -0.0f};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const int32_t i32[] = {INT32_MIN, 0, INT32_MAX};
    static const uint8_t u8[] = {0, 1, 255};
    const struct {
        const char *name;
        rh_state__type type;
        const void *x;
        size_t n;
    } array[] = {
        {"f64", RH_STATE_F64, odd, LENGTH(odd)},
        {"f32", RH_STATE_F32, f32, 3},
        {"i64", RH_STATE_I64, i64, 2},
        {"i32", RH_STATE_I32, i32, 3},
        {"u8", RH_STATE_U8, u8, 3},
        {"text", RH_STATE_TEXT, "a\0bc", 5},
        {"none", RH_STATE_TEXT, NULL, 0},
    };
    rh_state *state = NULL, *back = NULL;
    size_t n, found = 99;
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    for (size_t i = 0; i < LENGTH(array); i++)
        assert_int_equal((i % 2 ? rh_state__put : rh_state__lend)(
                             state, array[i].name, array[i].type, array[i].x, array[i].n, NULL),
                         RH_OK);
    unsigned char *bytes = rh_state__bytes(state, &n);
    assert_int_equal(rh_state__parse(&back, bytes, n, "file", "state", NULL), RH_OK);
    rh_state_destroy(state);
    for (size_t i = 0; i < LENGTH(array); i++) {
        rh_state__array *a = rh_state__find(back, array[i].name);
        size_t size = array[i].n * rh_state__width(array[i].type);
        assert_int_equal(a->type, array[i].type);
        assert_int_equal(a->n, array[i].n);
        void *x = rh_state__take(a);
        if (size)
            assert_memory_equal(x, array[i].x, size);
        assert_int_equal(a->n, 0);
        rh_free(x);
    }
    // the functions of contract.h see doubles only
    assert_null(rh_state__doubles(back, "f32", &found));
    assert_int_equal(found, 99);
    rh_state_destroy(back);

    // zeros end a text and fill a row of eight bytes
    size_t tail = n - 4 - 64 - 8; // where the text is
    assert_memory_equal(bytes + tail, "a\0bc\0\0\0", 8);
    const size_t at[] = {tail + 4, tail + 7};
    for (size_t i = 0; i < 2; i++) {
        bytes[at[i]] = 'x';
        sign(bytes, n);
        parse_refuses(bytes, n, "damaged: array 6 does not end with zeros");
        bytes[at[i]] = 0;
    }
    rh_free(bytes);
    assert_int_equal(rh_base__alloc_live(), live);
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
    parse_refuses(longer, n + 1, "damaged: 349 bytes, expected 348");
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

// Set one byte and make the checksum right again.
static void forged(size_t at, unsigned char value, const char *words)
{
    rh_state *state = sample();
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    bytes[at] = value;
    sign(bytes, n);
    parse_refuses(bytes, n, words);
    rh_free(bytes);
    rh_state_destroy(state);
}

static void right_checksum_wrong_content(void **unused)
{
    (void)unused;
    size_t second = 48 + 64 + 8 * LENGTH(odd); // where the array "empty" begins
    forged(8, 3, "state file of version 3, expected 2: written by a newer version");
    forged(8, 1, "state file of version 1, expected 2: written by an older version");
    forged(8, 0, "state file of version 0, expected 2: damaged");
    forged(12, 4, "truncated: 348 bytes end inside array 4, expected 4 arrays");
    forged(12, 2, "damaged: 348 bytes, expected 276");
    forged(15, 0xff, "truncated");
    forged(16 + 31, 'x', "damaged: label 'esarsa");
    forged(48, 0, "damaged: array 1 is called ''");
    forged(48 + 47, 'x', "damaged: array 1 is called 'weights'");
    forged(48 + 49, 'g', "damaged: array 1 has an unknown type");
    forged(48 + 55, 'x', "damaged: array 1 has an unknown type");
    forged(48 + 56 + 7, 0x80, "truncated: 348 bytes end inside array 1"); // 2^63 numbers
    forged(48 + 56 + 7, 0x20, "truncated: 348 bytes end inside array 1"); // 2^64 bytes
    forged(second + 56, 1, "damaged: array 3 has an unknown type");

    // two arrays of one name
    rh_state *state = NULL;
    size_t n;
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "a", NULL, 0, NULL), RH_OK);
    assert_int_equal(rh_state_put(state, "b", NULL, 0, NULL), RH_OK);
    unsigned char *bytes = rh_state__bytes(state, &n);
    bytes[48 + 64] = 'a';
    sign(bytes, n);
    parse_refuses(bytes, n,
                  "damaged: array 2 is called 'a', expected a name of 1 to 47 characters "
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
        rh_status rc = rh_state__create(&grown, NULL);
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

// A file of 8 MB with 200,000 arrays took 86 s.
static void two_hundred_thousand_arrays(void **unused)
{
    (void)unused;
    const unsigned narray = 200000;
    size_t n = 48 + (size_t)narray * 64 + 4;
    unsigned char *bytes = calloc(n, 1);
    assert_non_null(bytes);
    memcpy(bytes, "\x89RHSTATE\x02", 9);
    for (int i = 0; i < 4; i++)
        bytes[12 + i] = (unsigned char)(narray >> 8 * i);
    for (unsigned i = 0; i < narray; i++) {
        snprintf((char *)bytes + 48 + (size_t)i * 64, 48, "array_%u", i);
        memcpy(bytes + 48 + (size_t)i * 64 + 48, "<f8", 3);
    }
    sign(bytes, n);
    rh_state *state = NULL;
    rh_error err = {""};
    clock_t begun = clock();
    if (rh_state__parse(&state, bytes, n, "file", "state", &err))
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
        cmocka_unit_test(typed_arrays),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_changed_byte),
        cmocka_unit_test(right_checksum_wrong_content),
        cmocka_unit_test(every_failed_allocation),
        cmocka_unit_test(two_hundred_thousand_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
