// test_npy.c - headers and elements of NumPy arrays: every type, and invalid ones.

#include "log/npy.h"
#include "log/sample.h"

// A header of version 1.0 around a literal.
static size_t make_head(unsigned char *bytes, const char *literal)
{
    size_t n = strlen(literal);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)n;
    bytes[9] = (unsigned char)(n >> 8);
    memcpy(bytes + 10, literal, n);
    return n + 10;
}

static rh_npy parse(const char *literal)
{
    unsigned char bytes[600];
    rh_npy npy = {0};
    rh_error err = {""};
    size_t n = make_head(bytes, literal);
    if (rh_npy__parse(&npy, bytes, n, "x.npz: a.npy", &err))
        fail_msg("%s", err.text);
    assert_int_equal(npy.head, n);
    return npy;
}

static void refuse(const char *literal, const char *words)
{
    unsigned char bytes[600];
    rh_npy npy = {0};
    rh_error err = {""};
    size_t n = make_head(bytes, literal);
    assert_int_equal(rh_npy__parse(&npy, bytes, n, "x.npz: a.npy", &err), RH_EFORMAT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void heads(void **unused)
{
    (void)unused;
    rh_npy npy = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n");
    assert_int_equal(npy.kind, 'f');
    assert_int_equal(npy.size, 8);
    assert_int_equal(npy.rank, 2);
    assert_int_equal(npy.count, 12);
    assert_false(npy.big);
    assert_false(npy.fortran);
    npy = parse("{\"shape\":(5L,),'fortran_order':True,\"descr\":\">i2\"}");
    assert_true(npy.big);
    assert_true(npy.fortran);
    assert_int_equal(npy.dim[0], 5);
    assert_int_equal(parse("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").rank, 0);
    assert_int_equal(parse("{'descr': '<U7', 'fortran_order': False, 'shape': (2,)}").size, 28);
    assert_int_equal(parse("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}").kind, 'O');
    assert_int_equal(parse("{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}").kind,
                     'V');
    assert_int_equal(parse("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,)}").kind,
                     'V');
    assert_int_equal(
        parse("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}").kind, 'V');
    assert_int_equal(parse("{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}").kind,
                     'V');
}

static void bad_heads(void **unused)
{
    (void)unused;
    const char *words = "x.npz: a.npy: the array's head is '";
    refuse("{}", words);
    refuse("{'descr': '<f8', 'fortran_order': False}", words);
    refuse("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (3)}", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'x': 1}", words);
    refuse("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} __import__('os')", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", words);
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}",
           "the array's shape is too large");

    unsigned char bytes[64] = "\x93NUMPX";
    rh_npy npy;
    rh_error err;
    assert_int_equal(rh_npy__parse(&npy, bytes, 64, "a", &err), RH_EFORMAT);
    assert_string_equal(err.text, "a: not a NumPy array");
    assert_int_equal(rh_npy__head_size((const unsigned char *)"\x93NUMPY\4\0\0\0\0\0", 12), 0);
    assert_int_equal(rh_npy__head_size((const unsigned char *)"\x93NUMPY\2\0\1\0\0\1", 12),
                     12 + (1 << 24) + 1);
    size_t n = make_head(bytes, "{'descr': ");
    bytes[8] = 200;
    assert_int_equal(rh_npy__parse(&npy, bytes, n, "a", &err), RH_EFORMAT);
    assert_string_equal(err.text, "a: the array's head is cut off: 20 bytes, expected 210");
}

static double one(char kind, int size, bool big, uint64_t bits)
{
    unsigned char raw[8];
    double x = -7.0;
    for (int i = 0; i < size; i++)
        raw[big ? size - 1 - i : i] = (unsigned char)(bits >> 8 * i);
    rh_npy npy = {.kind = kind, .size = size, .big = big};
    rh_npy__numbers(&npy, raw, 1, &x);
    return x;
}

static void elements(void **unused)
{
    (void)unused;
    for (int big = 0; big < 2; big++) {
        assert_true(one('i', 1, big, 0xff) == -1.0);
        assert_true(one('u', 1, big, 0xff) == 255.0);
        assert_true(one('i', 2, big, 0x8000) == -32768.0);
        assert_true(one('u', 4, big, 0xfffffffe) == 4294967294.0);
        assert_true(one('i', 4, big, 0xfffffffe) == -2.0);
        assert_true(one('i', 8, big, UINT64_MAX) == -1.0);
        assert_true(one('u', 8, big, UINT64_MAX) == 0x1p64);
        assert_true(one('b', 1, big, 1) == 1.0);
        assert_true(one('f', 4, big, 0x3dcccccd) == (double)0.1f);
        assert_true(one('f', 8, big, 0x3fb999999999999a) == 0.1);
        assert_true(one('f', 2, big, 0x3c00) == 1.0);
        assert_true(one('f', 2, big, 0xc000) == -2.0);
        assert_true(one('f', 2, big, 0x0001) == 0x1p-24); // the least above zero
        assert_true(one('f', 2, big, 0x7bff) == 65504.0);
        assert_true(one('f', 2, big, 0x2e66) == 0.0999755859375);
        assert_true(isinf(one('f', 2, big, 0xfc00)));
        assert_true(one('f', 2, big, 0xfc00) < 0.0);
        assert_true(isnan(one('f', 2, big, 0x7e00)));
    }
}

static void texts(void **unused)
{
    (void)unused;
    const unsigned char raw[16] = {0xe9, 0, 0, 0, 0xac, 0x20, 0, 0, 0, 0xf6, 1, 0};
    rh_npy npy = {.kind = 'U', .size = 16};
    char text[20];
    assert_true(rh_npy__text(&npy, raw, text, sizeof text));
    assert_string_equal(text, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_false(rh_npy__text(&npy, raw, text, 9));
    const unsigned char broken[4] = {0, 0xd8, 0, 0}, far[4] = {0, 0, 0x11, 0};
    npy.size = 4;
    assert_false(rh_npy__text(&npy, broken, text, sizeof text));
    assert_false(rh_npy__text(&npy, far, text, sizeof text));
    npy = (rh_npy){.kind = 'S', .size = 4};
    assert_true(rh_npy__text(&npy, (const unsigned char *)"ab\0c", text, sizeof text));
    assert_string_equal(text, "ab");
    assert_false(rh_npy__text(&npy, raw, text, sizeof text));
}

static void own_heads(void **unused)
{
    (void)unused;
    unsigned char head[RH_NPY__OWN_HEAD];
    rh_npy npy;
    rh_error err;
    size_t n = rh_npy__write_head(head, "<f8", 2, (const int64_t[2]){2147483646, 256});
    assert_int_equal(n % 64, 0);
    assert_int_equal(rh_npy__parse(&npy, head, n, "a", &err), RH_OK);
    assert_int_equal(npy.dim[0], 2147483646);
    assert_int_equal(npy.dim[1], 256);
    n = rh_npy__write_head(head, "<U12", 1, (const int64_t[2]){3, 0});
    assert_int_equal(rh_npy__parse(&npy, head, n, "a", &err), RH_OK);
    assert_int_equal(npy.rank, 1);
    assert_int_equal(npy.size, 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads), cmocka_unit_test(bad_heads), cmocka_unit_test(elements),
        cmocka_unit_test(texts), cmocka_unit_test(own_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
