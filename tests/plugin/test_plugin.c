// test_plugin.c - loading plug-ins: good ones are registered, others are refused with a reason.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "plugin/plugin.h"
#include "rehearse/rehearse.h"
#include "study/study.h"

static const char *sample(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, RH_SAMPLES "/sample_%s.so", name);
    return path;
}

static void expect_refused(const char *path, const char *why)
{
    rh_error err = {""};
    int nagent = rh_agent_ntype(), nplugin = rh_plugin__count();
    assert_int_not_equal(rh_plugin_load(path, &err), RH_OK);
    if (!strstr(err.text, why))
        fail_msg("'%s', expected '%s'", err.text, why);
    assert_int_not_equal(rh_plugin_load(path, NULL), RH_OK); // err is nullable
    assert_int_equal(rh_agent_ntype(), nagent);
    assert_int_equal(rh_plugin__count(), nplugin);
    assert_null(rh_plugin__loading());
}

static void broken_plugins_are_refused(void **unused)
{
    (void)unused;
    expect_refused("/nowhere/mine.so",
                   "mine.so: No such file or directory; expected the shared library");
    expect_refused(RH_SAMPLES, "a folder, expected the shared library of a plug-in");
    expect_refused(RH_TEST_DATA "/log/d4rl.hdf5",
                   "invalid ELF header; expected the shared library of a plug-in");
    expect_refused(sample("no_function"), "exports no function rehearse_plugin()");
    expect_refused(sample("null"), "rehearse_plugin() returned NULL");
    expect_refused(sample("other_abi"),
                   "built for plug-in interface 99, expected 6; rebuild it");
    expect_refused(sample("empty"), "has no agent and no environment");
    expect_refused(sample("taken"), "agent esarsa: there is one of this name");
    expect_refused(sample("bad_table"),
                   "agent sample: parameter bias: expected lo <= usual_lo < usual_hi <= hi");
}

static void a_failed_allocation_leaves_nothing(void **unused)
{
    (void)unused;
    for (int n = 1; n <= 2; n++) {
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(n);
        assert_int_equal(rh_plugin_load(sample("good"), NULL), RH_ENOMEM);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_int_equal(rh_plugin__count(), 0);
    }
}

static void a_plugin_is_loaded_once(void **unused)
{
    (void)unused;
    rh_error err = {""};
    char link[] = "/tmp/rh_plugin_XXXXXX";
    int nagent = rh_agent_ntype();
    if (rh_plugin_load(sample("good"), &err))
        fail_msg("%s", err.text);
    assert_int_equal(rh_plugin__count(), 1);
    assert_int_equal(rh_agent_ntype(), nagent + 1);
    const rh_agent_type *type = rh_agent_find("sample", NULL);
    assert_non_null(type);
    assert_ptr_equal(rh_agent_type_at(nagent), type); // after the built-in ones

    // the same file, also by another name
    assert_int_equal(rh_plugin_load(sample("good"), NULL), RH_OK);
    assert_non_null(mkdtemp(link));
    char path[64];
    snprintf(path, sizeof path, "%s/other.so", link);
    assert_int_equal(symlink(sample("good"), path), 0);
    assert_int_equal(rh_plugin_load(path, NULL), RH_OK);
    assert_int_equal(rh_plugin__count(), 1);
    unlink(path);
    rmdir(link);

    // another file with the same agent
    expect_refused(sample("illegal"), "agent sample: there is one of this name");

    const rh_plugin__info *info = rh_plugin__at(0);
    assert_ptr_equal(rh_plugin__of_agent(type), info);
    assert_ptr_equal(rh_plugin__of_address(type), info);
    assert_null(rh_plugin__of_agent(rh_agent_find("esarsa", NULL)));
    assert_null(rh_plugin__of_env(rh_env_find("acrobot", NULL)));
    assert_null(rh_plugin__of_address(&err));
    assert_null(rh_plugin__at(1));
    assert_null(rh_plugin__at(-1));
    assert_string_equal(info->path, sample("good"));
    assert_string_equal(info->plugin->version, "0");
}

// FNV-1a of a file, here as in its definition.
static void the_fingerprint_is_that_of_the_bytes(void **unused)
{
    (void)unused;
    uint64_t hash = UINT64_C(14695981039346656037);
    FILE *file = fopen(sample("good"), "rb");
    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;)
        hash = (hash ^ (uint64_t)c) * UINT64_C(1099511628211);
    fclose(file);
    assert_true(rh_plugin__at(0)->fingerprint == hash);
}

// A plan finds an agent of a plug-in, and writes the line that loads it.
static void a_plan_uses_it(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_plan *plan = NULL;
    assert_int_equal(rh_plan_create(&plan, &err), RH_OK);
    rh_plan_use(plan, RH_PLAN_RUN);
    assert_int_equal(rh_plan_set(plan, "plugins", sample("good"), NULL, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "env", "acrobot", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_set(plan, "agent", "sample", NULL, &err), RH_OK);
    assert_int_equal(rh_plan_check(plan, &err), RH_OK);
    assert_int_equal(rh_plan_settle(plan, NULL, &err), RH_OK);
    assert_string_equal(rh_plan__agent(plan)->name, "sample");
    char text[4096] = "", expected[600];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_int_equal(rh_plan_write(plan, out, &err), RH_OK);
    fclose(out);
    snprintf(expected, sizeof expected, "plugins: [\"%s\"]\n", sample("good"));
    assert_non_null(strstr(text, expected));

    // wrong ones name the key
    assert_int_not_equal(rh_plan_set(plan, "plugins", "/nowhere.so", "--x", &err), RH_OK);
    assert_non_null(strstr(err.text, "/nowhere.so: No such file"));
    assert_int_not_equal(rh_plan_set(plan, "plugins", "[{a: 1}]", "--x", &err), RH_OK);
    assert_non_null(strstr(err.text, "expected the path of a plug-in"));
    rh_plan_destroy(plan);
}

// Structs that plug-ins fill or read: a change of a size needs another RH_PLUGIN_ABI.
static void the_interface_has_its_number(void **unused)
{
    (void)unused;
    assert_int_equal(RH_PLUGIN_ABI, 6);
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(rh_agent_type), 208);
    assert_int_equal(sizeof(rh_env_type), 152);
    assert_int_equal(sizeof(rh_param), 72);
    assert_int_equal(sizeof(rh_task), 6816);
    assert_int_equal(sizeof(rh_axis), 96);
    assert_int_equal(sizeof(rh_weights_options), 56);
    assert_int_equal(sizeof(rh_error), 480);
    assert_int_equal(sizeof(rh_plugin), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_plugins_are_refused),
        cmocka_unit_test(a_failed_allocation_leaves_nothing),
        cmocka_unit_test(a_plugin_is_loaded_once),
        cmocka_unit_test(the_fingerprint_is_that_of_the_bytes),
        cmocka_unit_test(a_plan_uses_it),
        cmocka_unit_test(the_interface_has_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
