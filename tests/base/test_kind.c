// test_kind.c - kinds that break the contract's rules are not registered, and the message says
// which rule.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "rehearse/rehearse.h"

static rh_agent_type agent_with(const rh_param *param, int nparam)
{
    rh_agent_type type = *rh_agent_find("random", NULL);
    type.name = "other";
    type.param = param;
    type.nparam = nparam;
    return type;
}

static void expect_refused(const rh_agent_type *type, const char *why)
{
    rh_error err = {""};
    int n = rh_agent_ntype();
    assert_int_equal(rh_agent_register(type, &err), RH_EINVAL);
    assert_string_equal(err.text, why);
    assert_int_equal(rh_agent_ntype(), n);
}

static void names(void **unused)
{
    (void)unused;
    static const char *const bad[] = {
        NULL, "", "1st", "two words", "a/b", "exec:x", "a_name_that_is_too_long_for_state"};
    rh_error err = {""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_agent_type type = agent_with(NULL, 0);
        type.name = bad[i];
        assert_int_equal(rh_agent_register(&type, &err), RH_EINVAL);
        assert_non_null(strstr(err.text, "expected 1 to 31 characters of a-z"));
    }
    rh_agent_type type = agent_with(NULL, 0);
    type.name = "random";
    expect_refused(&type, "agent random: there is one of this name, expected another");
    type = agent_with(NULL, 0);
    type.about = "";
    expect_refused(&type, "agent other: no about, expected one line");
    expect_refused(NULL, "agent: NULL, expected a kind of agent");
}

static void functions(void **unused)
{
    (void)unused;
    rh_agent_type type = agent_with(NULL, 0);
    type.end = NULL;
    expect_refused(&type,
                   "agent other: a function is NULL, expected init, start, step, end and act");
    type = agent_with(NULL, 0);
    type.actions = 4;
    expect_refused(&type,
                   "agent other: actions = 4, expected RH_DISCRETE, RH_CONTINUOUS or both");
    type = *rh_agent_find("esarsa", NULL);
    type.name = "other";
    type.load = NULL;
    expect_refused(&type,
                   "agent other: a function is NULL, expected both save and load, or neither");
    type = *rh_agent_find("esarsa", NULL);
    type.name = "other";
    type.look_up = NULL;
    expect_refused(&type, "agent other: a function is NULL, expected all of make_cache, "
                          "use_cache and look_up, or none");
    type = *rh_agent_find("esarsa", NULL);
    type.name = "other";
    type.take = NULL;
    expect_refused(
        &type, "agent other: a function is NULL, expected both policy and take, or neither");
}

static void parameters(void **unused)
{
    (void)unused;
    static const char *const two[] = {"on", "off"};
    static const struct {
        rh_param param;
        const char *why;
    } bad[] = {
        {{"x", "", .hi = 1}, "no about, expected one line"},
        {{"x", "a", .lo = 1, .hi = 0}, "expected finite lo <= initial <= hi"},
        {{"x", "a", .hi = INFINITY}, "expected finite lo <= initial <= hi"},
        {{"x", "a", .hi = 1, .initial = NAN}, "expected finite lo <= initial <= hi"},
        {{"x", "a", .lo = 1, .hi = 1, .initial = 1, .choice = two},
         "expected lo = 0 and a name for each choice 0, 1, ... hi"},
        {{"x", "a", .hi = 1, .initial = 0.5, .whole = true}, "expected a whole initial value"},
        {{"x", "a", .hi = 1, .usual_hi = 1, .fixed = true},
         "has a usual range, expected none of a fixed parameter or a choice"},
        {{"x", "a", .hi = 1, .usual_hi = 2}, "expected lo <= usual_lo < usual_hi <= hi"},
        {{"x", "a", .hi = 1, .usual_lo = 0.5, .usual_hi = 1},
         "expected its initial value within its usual range"},
        {{"x", "a", .hi = 1, .usual_hi = 1, .scale = RH_LOG},
         "expected usual_lo above 0 on a log scale"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[200];
        rh_agent_type type = agent_with(&bad[i].param, 1);
        snprintf(why, sizeof why, "agent other: parameter x: %s", bad[i].why);
        expect_refused(&type, why);
    }
    const rh_param same[] = {{"x", "a", .hi = 1}, {"x", "a", .hi = 1}};
    rh_agent_type type = agent_with(same, 2);
    expect_refused(&type, "agent other: parameter x: there are two of it");
    type = agent_with(NULL, 1);
    expect_refused(&type, "agent other: 1 parameters, expected 0 to 64 in a table");
}

static void environments(void **unused)
{
    (void)unused;
    rh_error err = {""};
    int n = rh_env_ntype();
    rh_env_type type = *rh_env_find("pendulum", NULL);
    assert_int_equal(rh_env_register(&type, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "environment pendulum: there is one of this name, expected another");
    type.name = "other";
    type.step = NULL;
    assert_int_equal(rh_env_register(&type, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "environment other: a function is NULL, expected init, start and step");
    assert_int_equal(rh_env_ntype(), n);

    static rh_env_type good;
    good = *rh_env_find("pendulum", NULL);
    good.name = "other";
    assert_int_equal(rh_env_register(&good, &err), RH_OK);
    assert_ptr_equal(rh_env_find("other", NULL), &good);
    assert_ptr_equal(rh_env_type_at(n), &good);
}

// All places are used; the last one is refused. Leaves the registry full, so it comes last.
static void no_more_than_fit(void **unused)
{
    (void)unused;
    static rh_agent_type type[RH_MAX_KIND + 1];
    static char name[RH_MAX_KIND + 1][24];
    rh_error err = {""};
    for (int i = 0; i <= RH_MAX_KIND; i++) {
        type[i] = agent_with(NULL, 0);
        snprintf(name[i], sizeof name[i], "agent%d", i);
        type[i].name = name[i];
        rh_status rc = rh_agent_register(&type[i], &err);
        assert_int_equal(rc, i < RH_MAX_KIND ? RH_OK : RH_EINVAL);
    }
    assert_string_equal(err.text, "agent agent64: expected at most 64 registered agents");
    assert_ptr_equal(rh_agent_find("agent63", NULL), &type[63]);
    assert_null(rh_agent_find("agent64", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(functions),
        cmocka_unit_test(parameters),
        cmocka_unit_test(environments),
        cmocka_unit_test(no_more_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
