// test_report.c - the page as a file: its policy, its data, and what is refused.
// tests/report/run looks at it in a browser.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "rehearse/report.h"
#include "report/report.h"

static char root[64], page[96];
static const char *const all[] = {"a", "b"};

static int enter(void **unused)
{
    (void)unused;
    if (!folder_in_memory(root, "report") || chdir(root) != 0)
        return -1;
    snprintf(page, sizeof page, "%s/page.html", root);
    return mkdir("a", 0777) == 0 && mkdir("b", 0777) == 0 ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    unlink(page);
    unlink("a/report.json");
    unlink("b/report.json");
    rmdir("a");
    rmdir("b");
    return chdir("/") == 0 && rmdir(root) == 0 ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    fclose(out);
}

static char *contents(const char *path)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t room = 1 << 23;
    char *text = malloc(room);
    assert_non_null(text);
    size_t n = fread(text, 1, room - 1, in);
    text[n] = 0;
    fclose(in);
    return text;
}

static int times(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

// A name that would end the element, an entity, and the two ends of lines that JSON allows and
// JavaScript did not.
static void hostile(void **unused)
{
    (void)unused;
    put("a/report.json",
        "{\"report\": 1, \"name\": \"</script><script>alert(1)</script>&amp;<!--\","
        "\n \"study\": \"x\xe2\x80\xa8y\xe2\x80\xa9z \xe2\x80\xaa\", \"q\": [\"a \\\" b\\\\\", "
        "2, 3]}");
    assert_int_equal(rh_report_write(page, all, 1, 0, NULL), RH_OK);
    char *text = contents(page);
    const char *data = strstr(text, "class=\"study\">");
    assert_non_null(data);
    const char *end = strstr(data, "</script>");
    assert_non_null(end);
    const char *expected =
        "class=\"study\">{\"report\":1,\"name\":"
        "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e\\u0026amp;"
        "\\u003c!--\",\"study\":\"x\\u2028y\\u2029z \xe2\x80\xaa\",\"q\":[\"a \\\" "
        "b\\\\\",2,3]}";
    assert_int_equal(end - data, strlen(expected));
    assert_memory_equal(data, expected, strlen(expected));
    free(text);
}

// The policy names every script and style by its hash, and allows nothing inline besides.
static void policy(void **unused)
{
    (void)unused;
    put("a/report.json", "{\"report\": 1}");
    assert_int_equal(rh_report_write(page, all, 1, 0, NULL), RH_OK);
    char *text = contents(page);
    const char *meta = strstr(text, "Content-Security-Policy");
    assert_non_null(meta);
    char *end = strchr(meta, '>');
    assert_non_null(end);
    assert_true(end - text < 700); // before anything else
    *end = 0;
    assert_int_equal(times(meta, "'sha256-"), rh_report__charts() ? 3 : 2);
    assert_non_null(strstr(meta, "default-src 'none'"));
    assert_null(strstr(meta, "unsafe"));
    assert_null(strstr(meta, "http:"));
    assert_null(strstr(meta, "*"));
    *end = '>';
    assert_int_equal(times(text, "<style>"), 1);
    assert_null(strstr(text, "http-equiv=\"refresh\""));
    free(text);

    assert_int_equal(rh_report_write(page, all, 1, 5, NULL), RH_OK);
    text = contents(page);
    assert_int_equal(times(text, "<meta http-equiv=\"refresh\" content=\"5\">"), 1);
    free(text);
}

static void several(void **unused)
{
    (void)unused;
    put("a/report.json", "{\"report\": 1, \"name\": \"first\"}");
    put("b/report.json", "{\"report\": 1, \"name\": \"second\"}");
    assert_int_equal(rh_report_write(page, all, 2, 0, NULL), RH_OK);
    char *text = contents(page), *first = strstr(text, "\"first\"");
    assert_int_equal(times(text, "class=\"study\">"), 2);
    assert_non_null(first);
    assert_non_null(strstr(first, "\"second\""));

    // the same data, the same bytes
    assert_int_equal(rh_report_write(page, all, 2, 0, NULL), RH_OK);
    char *again = contents(page);
    assert_string_equal(text, again);
    free(text);
    free(again);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        rh_status rc;
        const char *said;
    } sample[] = {
        {"", RH_EFORMAT, "a/report.json:1: empty file, expected"},
        {"[1, 2]", RH_EFORMAT, "a/report.json: not an object, expected the data of a study"},
        {"{\"report\": 2}", RH_EFORMAT, "a/report.json: report = 2, expected 1"},
        {"{\"report\": 1,\n \"name\": }", RH_EFORMAT, "a/report.json:2: "},
        {"{\"report\": 1} <script>", RH_EFORMAT, "a/report.json:1: "},
    };
    rh_error err;
    assert_int_equal(rh_report_write(page, all, 0, 0, &err), RH_EINVAL);
    assert_string_equal(err.text, "report: 0 studies, expected 1 to 8");
    assert_int_equal(rh_report_write(page, all, 1, 0, &err), RH_EIO);
    assert_non_null(strstr(err.text, "a/report.json: not found, expected the data of a study"));
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        put("a/report.json", sample[i].text);
        assert_int_equal(rh_report_write(page, all, 1, 0, &err), sample[i].rc);
        assert_ptr_equal(strstr(err.text, sample[i].said), err.text);
        assert_int_not_equal(access(page, F_OK), 0);
    }
}

// Whatever allocation fails: a message, no page, nothing lost.
static void no_memory(void **unused)
{
    (void)unused;
    rh_error err;
    rh_status rc = RH_ENOMEM;
    put("a/report.json", "{\"report\": 1, \"name\": \"<x>\"}");
    int64_t before = rh_base__alloc_live();
    for (int64_t nth = 1; rc; nth++) {
        rh_base__alloc_fail_at(nth);
        rc = rh_report_write(page, all, 1, 0, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), before);
        assert_int_equal(access(page, F_OK) == 0, rc == RH_OK);
    }
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test_setup_teardown(hostile, enter, leave),
        cmocka_unit_test_setup_teardown(policy, enter, leave),
        cmocka_unit_test_setup_teardown(several, enter, leave),
        cmocka_unit_test_setup_teardown(refused, enter, leave),
        cmocka_unit_test_setup_teardown(no_memory, enter, leave),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
