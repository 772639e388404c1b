// test_actuators.c - a range that is taken from a log which may not show all of it is a notice.

#include "plans.h"
#include "study/core.h"

typedef double actions(int64_t step); // of 300

static double spread(int64_t i)
{
    return (double)i;
}

static double clipped(int64_t i)
{
    return i < 30 ? 0.0 : (double)i;
}

static double narrow(int64_t i)
{
    return i == 7 ? 100.0 : i == 9 ? -100.0 : 0.01 * (double)i;
}

static double constant(int64_t i)
{
    (void)i;
    return 0.5;
}

// The notice about a log with these actions; NULL: there is none.
static const char *notice(const char *plan_text, actions *of)
{
    static char text[400];
    rh_study study = {0};
    rh_log *log = make_log(0, 24, true); // 300 steps
    rh_plan *plan = settled(plan_text, 0);
    rh_findings *f = &study.verdict.findings;
    double *act = (double *)(uintptr_t)log->act; // ours
    for (int64_t i = 0; i < log->n; i++)
        act[i] = of(i);
    study.log = log;
    study.plan = plan;
    assert_true(rh_findings__begin(f, RH_OF_STUDY));
    assert_int_equal(rh_study__actuators(&study), RH_OK);
    assert_true(rh_findings__end(f));
    assert_true(f->n <= 1);
    if (f->n) {
        assert_int_equal(f->item[0].id, RH_FINDING_RANGE_FROM_LOG);
        assert_int_equal(f->item[0].severity, RH_NOTICE);
        snprintf(text, sizeof text, "%s", f->item[0].evidence);
    }
    bool any = f->n > 0;
    rh_findings__clear(f);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
    return any ? text : NULL;
}

static void only_where_the_log_may_not_show_all(void **unused)
{
    assert_null(notice("", spread));
    assert_null(notice("", constant));
    const char *text = notice("", clipped);
    assert_non_null(text);
    if (!strstr(text, "ranges from 0 to 299, as in the log: 10 % of the steps are at an end"))
        fail_msg("%s", text);
    text = notice("", narrow);
    assert_non_null(text);
    if (!strstr(text, "from -100 to 100, as in the log: 90 % of the steps are within 1 % of"))
        fail_msg("%s", text);

    // a range that was said is known
    assert_null(notice("ranges: {action: [0, 299]}", clipped));
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_where_the_log_may_not_show_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
