// test_yaml.c - trees of YAML: contents, values of texts, and refused files.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/yaml.h"

static rh_yaml *parse(const char *text)
{
    rh_yaml *tree = NULL;
    rh_error err = {""};
    if (rh_yaml__parse(&tree, text, strlen(text), "a.yaml", &err) != RH_OK)
        fail_msg("%s", err.text);
    return tree;
}

static void refused(const char *text, size_t n, const char *message)
{
    rh_yaml *tree = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_yaml__parse(&tree, text, n, "a.yaml", &err), RH_EFORMAT);
    assert_null(tree);
    assert_string_equal(err.text, message);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void a_tree(void **unused)
{
    (void)unused;
    rh_yaml *tree = parse("a: 1\nb: [x, 'y', {c: d}]\n\ne: &all {f: g}\nh: *all\n");
    assert_int_equal(tree->kind, RH_YAML_MAP);
    assert_int_equal(tree->n, 4);
    const rh_yaml *b = rh_yaml__get(tree, "b"), *h = rh_yaml__get(tree, "h");
    assert_int_equal(b->kind, RH_YAML_LIST);
    assert_int_equal(b->n, 3);
    assert_int_equal(b->line, 2);
    assert_true(b->item[0]->plain);
    assert_false(b->item[1]->plain);
    assert_string_equal(rh_yaml__get(b->item[2], "c")->text, "d");
    assert_string_equal(rh_yaml__get(h, "f")->text, "g");
    assert_int_equal(rh_yaml__get(h, "f")->line, 4);
    assert_null(rh_yaml__get(tree, "z"));
    assert_null(rh_yaml__get(b, "c"));
    rh_yaml__destroy(tree);

    tree = parse("# nothing but a comment\n");
    assert_true(rh_yaml__nothing(tree));
    rh_yaml__destroy(tree);
    tree = parse("a: ~\nb: null\nc:\nd: ''\ne: '~'\n");
    for (int i = 0; i < 5; i++)
        assert_int_equal(rh_yaml__nothing(tree->item[i]), i < 3);
    rh_yaml__destroy(tree);
}

static void bad_trees(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"a: [1, 2\n", "a.yaml:2: not YAML: did not find expected ',' or ']'"},
        {"a: 1\nb: 2\na: 3\n", "a.yaml:3: a is given twice, first in line 1"},
        {"x:\n  a: 1\n  \"a\": 3\n", "a.yaml:3: a is given twice, first in line 2"},
        {"a: &a {b: 1}\nc:\n  <<: *a\n",
         "a.yaml:3: found the merge key <<, expected the keys themselves"},
        {"a:\n\tb: 1\n", "a.yaml:2: not YAML: found character that cannot start any token; "
                         "the line is indented with a tab, expected spaces"},
        {"a: 1\n\tb: 2\n",
         "a.yaml:2: not YAML: found a tab character that violates indentation"},
        {"[1]: 2\n", "a.yaml:1: found a list as a key, expected a text"},
        {"{a: b}: 2\n", "a.yaml:1: found a mapping as a key, expected a text"},
        {"a: 1\n---\nb: 2\n", "a.yaml:3: a second document, expected one"},
        {"a: \"\\0b\"\n", "a.yaml:1: found binary data, expected a text"},
        {"a: &x [*x]\n", "a.yaml:1: nested more than 16 deep, expected a small file"},
        {"[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
         "a.yaml:1: nested more than 16 deep, expected a small file"},
        {"a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
         "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
         "e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
         "a.yaml:1: more than 10,000 values after expanding aliases, expected a small file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i].text, strlen(bad[i].text), bad[i].message);
    refused("a: \xff\n", 5, "a.yaml:1: not YAML: invalid leading UTF-8 octet");
    refused("a: b\nc: d\ne: \xff\n", 15, "a.yaml:3: not YAML: invalid leading UTF-8 octet");
    refused("\x7f"
            "ELF\n\n\x02\n",
            8,
            "a.yaml:1: not YAML: control characters are not "
            "allowed");

    // refused while parsing: composing it would take minutes, as the depth limit stops it here
    static char bracket[1 << 20];
    memset(bracket, '[', sizeof bracket);
    refused(bracket, sizeof bracket,
            "a.yaml:1: nested more than 16 deep, expected a small file");

    // so would these: libyaml compares every anchor and every directive with all before it
    char *many = malloc(1 << 20);
    assert_non_null(many);
    size_t n = 0;
    for (int i = 0; i < 40000; i++)
        n += (size_t)snprintf(many + n, 32, "- &a%d 1\n", i);
    refused(many, n,
            "a.yaml:10000: more than 10,000 values after expanding aliases, expected a small "
            "file");
    n = 0;
    for (int i = 0; i < 40000; i++)
        n += (size_t)snprintf(many + n, 32, "%%TAG !a%d! tag:a\n", i);
    refused(many, n, "a.yaml:17: more than 16 lines begin with %, expected none");
    free(many);
    rh_yaml *tree = parse("'<<': 1\n"); // in quotes it is a name
    assert_string_equal(tree->key[0]->text, "<<");
    rh_yaml__destroy(tree);
}

static rh_yaml scalar(const char *text)
{
    static char kept[100];
    snprintf(kept, sizeof kept, "%s", text);
    return (rh_yaml){.kind = RH_YAML_TEXT, .plain = true, .text = kept};
}

static void numbers(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double x;
    } good[] = {{"1", 1.0},    {"+3", 3.0},    {"-2.5", -2.5},  {".5", 0.5},
                {"5.", 5.0},   {"1e-4", 1e-4}, {"1E6", 1e6},    {"1.5e+3", 1500},
                {"-.5e1", -5}, {"007", 7.0},   {"1e-400", 0.0}, {"0.1", 0.1}};
    static const char *const bad[] = {"",      "x",   "0x10", "1e",  "e5",  ".",   "+",
                                      "1.2.3", "inf", ".inf", "nan", " 1",  "1 ",  "1e999",
                                      "1_000", "1,5", "--1",  "1e+", "ten", "1:2", "-.e1"};
    double x;
    char *before = setlocale(LC_ALL, NULL);
    assert_non_null(before);
    setlocale(LC_ALL, "de_DE.UTF-8"); // where there is one, numbers are the same
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rh_yaml node = scalar(good[i].text);
        assert_true(rh_yaml__number(&node, &x));
        assert_true(x == good[i].x);
    }
    setlocale(LC_ALL, "C");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_yaml node = scalar(bad[i]);
        if (rh_yaml__number(&node, &x))
            fail_msg("'%s' is no number", bad[i]);
    }
    rh_yaml *tree = parse("a: !!float \"1e6\"\nb: [1]\n");
    assert_true(rh_yaml__number(tree->item[0], &x));
    assert_true(x == 1e6);
    assert_false(rh_yaml__number(tree->item[1], &x));
    rh_yaml__destroy(tree);
}

static void whole_numbers(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        uint64_t n;
    } good[] = {{"0", 0},
                {"+12", 12},
                {"1e3", 1000},
                {"2.0", 2},
                {"9223372036854775807", INT64_MAX},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"-1", "1.5", "18446744073709551616", "1e17", "x", "1e-3"};
    uint64_t n;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        rh_yaml node = scalar(good[i].text);
        assert_true(rh_yaml__whole(&node, &n));
        assert_true(n == good[i].n);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_yaml node = scalar(bad[i]);
        if (rh_yaml__whole(&node, &n))
            fail_msg("'%s' is no whole number", bad[i]);
    }
}

static void truths(void **unused)
{
    (void)unused;
    static const char *const word[] = {"no", "False", "off", "yes", "TRUE", "on"};
    bool yes;
    for (int i = 0; i < 6; i++) {
        rh_yaml node = scalar(word[i]);
        assert_true(rh_yaml__truth(&node, &yes));
        assert_int_equal(yes, i >= 3);
    }
    rh_yaml node = scalar("maybe");
    assert_false(rh_yaml__truth(&node, &yes));
}

static void shown(void **unused)
{
    (void)unused;
    char text[RH_YAML__SHOWN];
    rh_yaml node = scalar("a\tb\nc\x7f");
    rh_yaml__show(&node, text);
    assert_string_equal(text, "a?b?c?");
    node = scalar("");
    rh_yaml__show(&node, text);
    assert_string_equal(text, "nothing");
    node.plain = false;
    rh_yaml__show(&node, text);
    assert_string_equal(text, "''");
    node = scalar("123456789012345678901234567890123456789\xc3\xa4 and more");
    rh_yaml__show(&node, text); // cut before the character of two bytes
    assert_string_equal(text, "123456789012345678901234567890123456789...");
}

static void files(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/rehearse-yaml-XXXXXX", path[64];
    rh_error err = {""};
    rh_yaml *tree = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.yaml", folder);
    assert_int_equal(rh_yaml__read(&tree, path, &err), RH_EIO);
    assert_non_null(strstr(err.text, "a.yaml: cannot read: No such file"));
    assert_int_equal(rh_yaml__read(&tree, folder, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "not a regular file, expected a small YAML file"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a: b\n", file);
    fclose(file);
    assert_int_equal(rh_yaml__read(&tree, path, &err), RH_OK);
    assert_string_equal(rh_yaml__get(tree, "a")->text, "b");
    rh_yaml__destroy(tree);
    for (int nth = 1, live = (int)rh_base__alloc_live(), rc = RH_ENOMEM; rc; nth++) {
        rh_base__alloc_fail_at(nth);
        rc = rh_yaml__read(&tree, path, &err);
        rh_base__alloc_fail_at(0);
        if (!rc)
            rh_yaml__destroy(tree);
        else
            assert_int_equal(rc, RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_int_equal(rh_yaml__read(&tree, path, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "more than 1 MB"));
    unlink(path);
    rmdir(folder);
}

static void memory(void **unused)
{
    (void)unused;
    static const char text[] = "a: [1, 2, 3, 4, 5, 6, 7, 8, 9]\nb: {c: d}\n";
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_yaml *tree = NULL;
        rh_error err = {""};
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_yaml__parse(&tree, text, sizeof text - 1, "a.yaml", &err);
        rh_base__alloc_fail_at(0);
        rh_yaml__destroy(tree);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK) {
            assert_true(nth > 20);
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_null(tree);
    }
    assert_false(rh_yaml__add(NULL, rh_yaml__text("a", 1), rh_yaml__text("b", 1)));
    assert_int_equal(rh_base__alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree),        cmocka_unit_test(bad_trees), cmocka_unit_test(numbers),
        cmocka_unit_test(whole_numbers), cmocka_unit_test(truths),    cmocka_unit_test(shown),
        cmocka_unit_test(files),         cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
