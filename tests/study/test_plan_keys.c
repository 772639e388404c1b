// test_plan_keys.c - keys and their other names; where a message says that a thing was said.

#include "plans.h"

static void keys(void **unused)
{
    (void)unused;
    static const struct {
        const char *key, *full;
    } good[] = {{"runs", "evaluation.runs"},      {"evaluation.runs", "evaluation.runs"},
                {"confirm.runs", "confirm.runs"}, {"model", "model.kind"},
                {"reach", "model.reach"},         {"agent.tilings", "parameters.tilings"},
                {"agent.name", "agent.name"},     {"data.path", "data"},
                {"ranges.a.b c", "ranges.a.b c"}, {"cem.rate", "cem.rate"}};
    static const char *const bad[] = {"",  "rnus",      "evaluation.", "evaluation.x", "agent.",
                                      ".", "confirm.x", "budget",      "metric.x",     "x.y"};
    char full[240];
    rh_error err = {""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(rh_plan__key(good[i].key, full, sizeof full, NULL, &err));
        assert_string_equal(full, good[i].full);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rh_plan__key(bad[i], full, sizeof full, NULL, &err))
            fail_msg("'%s' is taken as %s", bad[i], full);
    assert_false(rh_plan__key("sed", full, sizeof full, "--x", &err));
    assert_non_null(strstr(err.text, "--x: no key 'sed'; did you mean 'seed'? (name, "));

    char longest[400];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    memcpy(longest, "ranges.", 7);
    assert_false(rh_plan__key(longest, full, sizeof full, NULL, &err));
}

// A message is one line and shows where it was said, whatever the user's words are.
static void labels(void **unused)
{
    (void)unused;
    rh_plan *plan = new_plan();
    rh_error err = {""};
    assert_int_equal(rh_plan_set(plan, "runs", "a\nb", NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "runs = a?b, expected a whole number, 1 to 1,000,000");
    assert_int_equal(rh_plan_set(plan, "agent", "a\nb", NULL, &err), RH_EINVAL);
    assert_null(strchr(err.text, '\n'));
    assert_int_equal(rh_plan_set(plan, "x\ny", "1", NULL, &err), RH_EINVAL);
    assert_null(strchr(err.text, '\n'));
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
