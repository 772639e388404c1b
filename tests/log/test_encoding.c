// test_encoding.c - text of other encodings is read as UTF-8, however it is cut into pieces.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/csv.h"

// The UTF-8 of bytes (n), decoded in pieces of `piece` bytes.
static size_t decode(const unsigned char *bytes, size_t n, size_t piece, char *to, int64_t *bad)
{
    unsigned char raw[300];
    rh_encoding e;
    size_t at = rh_encoding__begin(&e, bytes, n), kept = 0, out = 0, used;
    for (bool last = false; !last;) {
        size_t more = piece < n - at ? piece : n - at;
        memcpy(raw + kept, bytes + at, more);
        at += more;
        kept += more;
        last = at == n;
        out += rh_encoding__decode(&e, raw, kept, last, to + out, &used);
        assert_true(kept - used < 4);
        kept -= used;
        memmove(raw, raw + used, kept);
    }
    assert_int_equal(kept, 0);
    *bad = e.nlatin;
    return out;
}

static void becomes(const char *bytes, size_t n, const char *text, int64_t nlatin)
{
    char got[600];
    int64_t bad = 0;
    size_t length = decode((const unsigned char *)bytes, n, 100, got, &bad);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(got, text, length);
    assert_int_equal(bad, nlatin);
}

static void by_hand(void **unused)
{
    (void)unused;
    becomes("plain", 5, "plain", 0);
    becomes("\xef\xbb\xbfSt\xc3\xb6rung", 11, "St\xc3\xb6rung", 0);
    becomes("St\xf6rung", 7, "St\xc3\xb6rung", 1);
    becomes("T [\xb0"
            "C]",
            6,
            "T [\xc2\xb0"
            "C]",
            1);
    becomes("5 \x80", 3, "5 \xe2\x82\xac", 1);             // Windows-1252
    becomes("\xc3\xb6 \xf6", 4, "\xc3\xb6 \xc3\xb6", 1);   // both
    becomes("\xc0\xaf", 2, "\xc3\x80\xc2\xaf", 2);         // too long a form of '/'
    becomes("\xe2\x82", 2, "\xc3\xa2\xe2\x80\x9a", 2);     // cut short
    becomes("\xff\xfeS\0\xf6\0", 6, "S\xc3\xb6", 0);       // UTF-16, little-endian
    becomes("\xfe\xff\0S\x20\xac", 6, "S\xe2\x82\xac", 0); // big-endian
    becomes("\xff\xfe\x3d\xd8\0\xde", 6, "\xf0\x9f\x98\x80", 0);
    becomes("\xff\xfe\x3d\xd8x\0", 6, "\xef\xbf\xbdx", 0); // half of a pair
    becomes("\xff\xfex", 3, "\xef\xbf\xbd", 0);            // half of a character
}

// The result does not depend on the pieces, and is always valid UTF-8.
static void in_pieces(void **unused)
{
    (void)unused;
    static const unsigned char common[] = {'a',  '\n', 0xc3, 0xb6, 0xe2, 0x82, 0xac, 0xf0,
                                           0x9f, 0x98, 0x80, 0xff, 0xfe, 0xd8, 0xf6, 0};
    rh_rng rng = rh_rng_stream(5, RH_STREAM_FIT, 0, 0);
    for (int trial = 0; trial < 4000; trial++) {
        unsigned char bytes[120];
        char whole[400], cut[400];
        int64_t bad[2];
        size_t n = rh_rng_below(&rng, sizeof bytes + 1);
        for (size_t i = 0; i < n; i++)
            bytes[i] = trial % 2 ? common[rh_rng_below(&rng, sizeof common)]
                                 : (unsigned char)rh_rng_below(&rng, 256);
        if (trial % 5 == 0 && n >= 2)
            memcpy(bytes, trial % 10 ? "\xff\xfe" : "\xfe\xff", 2);
        size_t length = decode(bytes, n, sizeof bytes, whole, &bad[0]);
        assert_int_equal(decode(bytes, n, 1 + rh_rng_below(&rng, 9), cut, &bad[1]), length);
        assert_memory_equal(whole, cut, length);
        assert_int_equal(bad[0], bad[1]);
        for (size_t at = 0; at < length;) {
            uint32_t code = 0;
            size_t one = rh_text__utf8(whole + at, length - at, &code);
            assert_true(one > 0);
            at += one;
        }
    }
}

static rh_log *read_text(const void *bytes, size_t n, const char *obs)
{
    rh_log *log = NULL;
    rh_error err = {""};
    rh_log_options opt = rh_log_defaults();
    opt.obs = obs;
    if (rh_csv__read_bytes(&log, bytes, n, "plant.csv", &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return log;
}

static bool has_note(const rh_log *log, const char *note)
{
    for (int i = 0; i < log->reading.nnote; i++)
        if (strcmp(log->reading.note[i], note) == 0)
            return true;
    return false;
}

// Columns are named in UTF-8, whatever the file has, and what it has is noted.
static void columns(void **unused)
{
    (void)unused;
    static const char latin[] =
        "St\xf6rung,Druck,action,reward\n1,5,aus,2\n3,6,h\xf6her,4\n5,7,aus,1\n";
    rh_log *log = read_text(latin, sizeof latin - 1, "St\xc3\xb6rung");
    assert_int_equal(log->nobs, 1);
    assert_string_equal(log->obs_name[0], "St\xc3\xb6rung");
    assert_string_equal(log->label[1], "h\xc3\xb6her");
    assert_true(
        has_note(log, "the text is Latin-1 (Windows-1252): 2 characters are not UTF-8"));
    rh_log_destroy(log);

    for (int big = 0; big < 2; big++) {
        unsigned char wide[2 * sizeof latin];
        size_t n = 0;
        memcpy(wide, big ? "\xfe\xff" : "\xff\xfe", 2);
        for (n = 2; n < 2 * sizeof latin; n += 2) {
            wide[n + (big ? 1 : 0)] = (unsigned char)latin[n / 2 - 1];
            wide[n + (big ? 0 : 1)] = 0;
        }
        log = read_text(wide, n, "St\xc3\xb6rung");
        assert_int_equal(log->n, 2);
        assert_true(log->obs[1] == 3.0);
        assert_true(has_note(log, big ? "the text is UTF-16, big-endian"
                                      : "the text is UTF-16, little-endian"));
        rh_log_destroy(log);
    }
    static const char utf8[] = "St\xc3\xb6rung,action,reward\n1,0,2\n3,1,4\n";
    log = read_text(utf8, sizeof utf8 - 1, NULL);
    for (int i = 0; i < log->reading.nnote; i++)
        assert_null(strstr(log->reading.note[i], "the text is"));
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
