// test_text.c - growing text, quoting, printable text and the small helpers.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/text.h"
#include "base/yaml.h"

#define LENGTH(x) (sizeof(x) / sizeof *(x))

static void text_grows(void **unused)
{
    (void)unused;
    rh_text text = {0};
    rh_text__add(&text, "");
    assert_string_equal(text.data, "");
    for (int i = 0; i < 5000; i++)
        rh_text__add(&text, "ab");
    rh_text__add_n(&text, "c\0d", 3);
    rh_text__add_n(&text, NULL, 0);
    assert_int_equal(text.n, 10003);
    assert_memory_equal(text.data + 9998, "abc\0d", 6);
    rh_text__clear(&text);
    assert_null(text.data);

    rh_text__whole(&text, INT64_MIN);
    rh_text__format(&text, " %s %d ", "x", 7);
    rh_text__number(&text, 0.1);
    rh_text__add(&text, " ");
    rh_text__number(&text, -1e-300);
    assert_string_equal(text.data, "-9223372036854775808 x 7 0.1 -1e-300");
    assert_int_equal(text.n, strlen(text.data));
    rh_text__clear(&text);

    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    rh_text__format(&text, "%s", longer);
    assert_string_equal(text.data, longer);
    rh_text__clear(&text);
}

static void without_memory_text_turns_bad(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_text text = {0};
    rh_text__add(&text, "kept");
    rh_base__alloc_fail_at(1);
    for (int i = 0; i < 1000; i++)
        rh_text__add(&text, "more");
    rh_base__alloc_fail_at(0);
    assert_true(text.bad);
    assert_memory_equal(text.data, "keptmore", 8);
    size_t n = text.n;
    rh_text__json(&text, "x");
    rh_text__format(&text, "%d", 1);
    assert_int_equal(text.n, n);
    rh_text__clear(&text);
    assert_false(text.bad);
    assert_int_equal(rh_base__alloc_live(), live);
}

// ---------------------------------------------------------------------------- quoting

static void json_is_valid_whatever_the_bytes(void **unused)
{
    (void)unused;
    static const struct {
        const char *value, *quoted;
    } known[] = {
        {"", "\"\""},
        {"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\""},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        {"\xff\xc3(\xe2\x82", "\"\\ufffd\\ufffd(\\ufffd\\ufffd\""},          // cut off
        {"\xc0\x80\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""}, // overlong, D800
        {"\xe0\x9f\xbf\xf0\x8f\xbf\xbf",
         "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80\xf5", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\""}, // above 10FFFF
        {"temp\xe9rature", "\"temp\\ufffdrature\""},                         // Latin-1
        {"\xc2\x85\xe2\x80\xa8\xef\xbf\xbf\xef\xbb\xbf", "\"\\u0085\\u2028\\uffff\\ufeff\""},
        {"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80",
         "\"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80\""},
    };
    for (size_t i = 0; i < LENGTH(known); i++) {
        rh_text text = {0};
        rh_text__json(&text, known[i].value);
        assert_string_equal(text.data, known[i].quoted);
        rh_text__clear(&text);
    }

    // every byte and every control character: jansson reads it, and reads valid text back
    for (int c = 1; c < 256; c++) {
        char value[2] = {(char)c, 0};
        rh_text text = {0};
        rh_text__json(&text, value);
        json_t *json = json_loadb(text.data, text.n, JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        assert_string_equal(json_string_value(json), c < 0x80 ? value : "\xef\xbf\xbd");
        for (size_t i = 0; i < text.n; i++) {
            assert_true((unsigned char)text.data[i] >= 0x20);
            assert_int_not_equal(text.data[i], 0x7f);
        }
        json_decref(json);
        rh_text__clear(&text);
    }
}

// Read `value` back as the value of a key and as an item of a list.
static void check_yaml(const char *value, bool plain)
{
    rh_text text = {0}, scalar = {0};
    rh_text__yaml(&scalar, value);
    rh_text__format(&text, "key: %s\nlist: [%s, x]\n%s: 1\n", scalar.data, scalar.data,
                    scalar.data);
    rh_yaml *tree = NULL;
    rh_error err = {""};
    if (rh_yaml__parse(&tree, text.data, text.n, "a.yaml", &err) != RH_OK)
        fail_msg("%s: %s", text.data, err.text);
    const rh_yaml *read[] = {tree->item[0], tree->item[1]->item[0], tree->key[2]};
    for (size_t i = 0; i < LENGTH(read); i++) {
        assert_int_equal(read[i]->kind, RH_YAML_TEXT);
        assert_string_equal(read[i]->text, value);
        assert_int_equal(read[i]->plain, plain);
    }
    rh_yaml__destroy(tree);
    rh_text__clear(&text);
    rh_text__clear(&scalar);
}

static void yaml_reads_back_as_text(void **unused)
{
    (void)unused;
    static const char *const plain[] = {
        "a",       "mountain_car", "data/plant.csv", "/tmp/x-1.h5", "_1",       "v1.2",
        "nothing", "Nano",         "yes-no",         "inf",         "on_policy"};
    static const char *const quoted[] = {
        "",
        "1",
        "-1",
        "+1",
        "0x1f",
        "0o7",
        "1e5",
        "1_000",
        ".5",
        ".inf",
        "-.inf",
        ".nan",
        "nan",
        "NaN",
        "true",
        "True",
        "FALSE",
        "yes",
        "NO",
        "On",
        "off",
        "y",
        "N",
        "null",
        "Null",
        "NULL",
        "~",
        "-",
        "---",
        "...",
        "2026-11-16",
        "12:30",
        "2026-11-16T12:30:00Z",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "[a]",
        "{a",
        "a,b",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'a'",
        "\"a\"",
        "%a",
        "@a",
        "`a`",
        "a b",
        " a",
        "a ",
        "a\nb",
        "a\tb",
        "\x01",
        "\x7f",
        "\xc3\xa4",
        "<<",
        "=",
        "? a",
        "a\\b",
        "\xc2\x85",
        "\xe2\x80\xa8x",
        "\xef\xbb\xbfx",
        "\r\n",
    };
    for (size_t i = 0; i < LENGTH(plain); i++)
        check_yaml(plain[i], true);
    for (size_t i = 0; i < LENGTH(quoted); i++)
        check_yaml(quoted[i], false);
}

static void a_shell_reads_back_one_word(void **unused)
{
    (void)unused;
    static const struct {
        const char *value, *quoted;
    } known[] = {
        {"data/plant-1.csv", "data/plant-1.csv"},
        {"--seed=3", "--seed=3"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$(x) `y` \\", "'$(x) `y` \\'"},
        {"~", "'~'"},
        {"a*", "'a*'"},
        {"\xc3\xa4", "\xc3\xa4"},
        {"''", "''\\'''\\'''"},
        {"a\nb", "\"$(printf 'a\\012b')\""},
        {"b\n", "'b\n'"},
        {"#", "'#'"},
        {"\x1b[31m", "\"$(printf '\\033[31m')\""},
        {"a\xe2\x80\xae%'\\b", "\"$(printf 'a\\342\\200\\256%%\\047\\134b')\""},
        {"-\xff$(x)", "\"$(printf '\\055\\377$(x)')\""},
        {"\xe2\x80\x8c", "\xe2\x80\x8c"}, // a joiner, which Persian needs
    };
    for (size_t i = 0; i < LENGTH(known); i++) {
        rh_text text = {0}, command = {0};
        rh_text__shell(&text, known[i].value);
        assert_string_equal(text.data, known[i].quoted);

        // a real shell agrees
        rh_text__format(&command, "printf '<%%s>' %s", text.data);
        FILE *shell = popen(command.data, "r"); // NOLINT(cert-env33-c): a constant of this file
        assert_non_null(shell);
        char found[64] = "", expected[64];
        size_t n = fread(found, 1, sizeof found - 1, shell);
        assert_true(n > 0);
        assert_int_equal(pclose(shell), 0);
        snprintf(expected, sizeof expected, "<%s>", known[i].value);
        assert_string_equal(found, expected);
        rh_text__clear(&text);
        rh_text__clear(&command);
    }
}

// ---------------------------------------------------------------------------- printable text

static void messages_show_one_printable_line(void **unused)
{
    (void)unused;
    static const struct {
        const char *value, *shown; // in 8 bytes
    } known[] = {
        {"", ""},
        {"a\nb", "a?b"},
        {"abcdefg", "abcdefg"},
        {"abcdefgh", "abcd..."},
        {"abc\xc3\xa4xyz", "abc..."},
        {"abc\xc3\xa4xy", "abc\xc3\xa4xy"},
        {"\xff\x1b[1m", "??[1m"},
        {"\xc2\x9bx", "?x"},     // a control character of two bytes
        {"\xe2\x80\xa8x", "?x"}, // a line separator
        {"\xe2\x80\xaex", "?x"}, // turns the direction of the text
        {"\xe2\x81\xa6x", "?x"}, // so does this
        {"\xc2\xadx", "?x"},     // shows nothing
        {"\xe2\x82", "??"},      // cut off
        {"\n\n\n\n\n\n\n", "???????"},
        {"\n\n\n\n\n\n\n\n", "????..."},
        {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80..."},
    };
    char shown[8];
    for (size_t i = 0; i < LENGTH(known); i++)
        assert_string_equal(rh_text__printable(known[i].value, shown, sizeof shown),
                            known[i].shown);
    assert_string_equal(rh_text__printable_n("a\0bcd", 3, shown, sizeof shown), "a?b");
    assert_string_equal(rh_text__printable_n("\xc3\xa4", 1, shown, sizeof shown), "?");
    assert_string_equal(rh_text__printable("abc", shown, 3), "..");
    assert_string_equal(rh_text__printable("abc", shown, 1), "");
}

// ---------------------------------------------------------------------------- small helpers

static void checksums_are_those_of_zip(void **unused)
{
    (void)unused;
    assert_int_equal(rh_base__crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(rh_base__crc32(rh_base__crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    assert_int_equal(rh_base__crc32(0, "", 0), 0);
    assert_int_equal(rh_base__crc32(5, NULL, 0), 5);
}

static void small_helpers(void **unused)
{
    (void)unused;
    rh_error err;
    assert_int_equal(rh_base__no_memory(&err, "a.csv"), RH_ENOMEM);
    assert_string_equal(err.text, "a.csv: out of memory");
    assert_int_equal(rh_base__no_memory(&err, NULL), RH_ENOMEM);
    assert_string_equal(err.text, "out of memory");
    assert_int_equal(rh_base__no_memory(NULL, "x"), RH_ENOMEM);

    char text[8] = "a";
    rh_text__put(text, sizeof text, ", %d", 12);
    assert_string_equal(text, "a, 12");
    rh_text__put(text, sizeof text, "%s", "345"); // cut
    assert_string_equal(text, "a, 1234");
    rh_text__put(text, sizeof text, "%s", "6");
    assert_string_equal(text, "a, 1234");

    char *copy = rh_base__copy("abc");
    assert_string_equal(copy, "abc");
    rh_free(copy);
    assert_null(rh_base__copy(NULL));
    rh_base__alloc_fail_at(1);
    assert_null(rh_base__copy("abc"));
    rh_base__alloc_fail_at(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(without_memory_text_turns_bad),
        cmocka_unit_test(json_is_valid_whatever_the_bytes),
        cmocka_unit_test(yaml_reads_back_as_text),
        cmocka_unit_test(a_shell_reads_back_one_word),
        cmocka_unit_test(messages_show_one_printable_line),
        cmocka_unit_test(checksums_are_those_of_zip),
        cmocka_unit_test(small_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
