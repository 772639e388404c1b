// test_findings.c - lists of findings: order, counts and failed allocations.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/findings.h"

static void gravest_first_then_as_added(void **unused)
{
    (void)unused;
    static const rh_severity severity[] = {RH_NOTICE, RH_WARNING, RH_NOTICE,
                                           RH_ERROR,  RH_WARNING, RH_ERROR};
    static const int64_t sorted[] = {3, 5, 1, 4, 0, 2};
    rh_findings list = {0};
    assert_true(rh_findings__begin(&list, RH_OF_LOG));
    for (int i = 0; i < 6; i++) {
        rh_finding *f =
            rh_findings__add(&list, severity[i], RH_FINDING_MISSING, i, "%d of %s", i, "six");
        assert_int_equal(f->first, -1);
        assert_int_equal(f->dim, -1);
        assert_false(*f->remedy);
        rh_findings__advise(f, "do %d", i);
    }
    assert_true(rh_findings__end(&list));
    assert_int_equal(list.n, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(list.item[i].count, sorted[i]);
    assert_string_equal(list.item[0].evidence, "3 of six");
    assert_string_equal(list.item[0].remedy, "do 3");
    assert_int_equal(list.count[RH_NOTICE], 2);
    assert_int_equal(list.count[RH_WARNING], 2);
    assert_int_equal(list.count[RH_ERROR], 2);
    rh_findings__clear(&list);
    assert_null(list.item);
}

static void long_texts_are_cut(void **unused)
{
    (void)unused;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    rh_findings list = {0};
    assert_true(rh_findings__begin(&list, RH_OF_LOG));
    rh_findings__advise(rh_findings__add(&list, RH_NOTICE, RH_FINDING_MISSING, 1, "%s", text),
                        "%s", text);
    assert_int_equal(strlen(list.item[0].evidence), sizeof list.item[0].evidence - 1);
    assert_int_equal(strlen(list.item[0].remedy), sizeof list.item[0].remedy - 1);
    rh_findings__clear(&list);
}

static void lists_grow_or_report_that_they_did_not(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int fail = 0; fail < 4; fail++) {
        rh_findings list = {0};
        rh_base__alloc_fail_at(fail);
        bool good = rh_findings__begin(&list, RH_OF_LOG);
        assert_int_equal(good, fail != 1);
        for (int i = 0; good && i < 100; i++)
            rh_findings__add(&list, RH_NOTICE, RH_FINDING_MISSING, i, "x")->dim = i;
        rh_base__alloc_fail_at(0);
        if (good) {
            assert_int_equal(rh_findings__end(&list), fail == 0);
            assert_true(fail || list.n == 100);
            for (int i = 1; i < list.n; i++)
                assert_true(list.item[i - 1].dim < list.item[i].dim);
            assert_int_equal(list.item[list.n - 1].dim, 99);
        }
        rh_findings__clear(&list);
    }
    assert_int_equal(rh_base__alloc_live(), live);
}

static void severities_have_names(void **unused)
{
    (void)unused;
    assert_string_equal(rh_severity_name(RH_NOTICE), "notice");
    assert_string_equal(rh_severity_name(RH_WARNING), "warning");
    assert_string_equal(rh_severity_name(RH_ERROR), "error");
    assert_string_equal(rh_severity_name((rh_severity)7), "");
}

static void every_finding_has_its_own_name(void **unused)
{
    (void)unused;
    for (int i = 0; i < RH_NFINDING; i++) {
        rh_finding_id found = RH_NFINDING;
        assert_non_null(rh_finding_name((rh_finding_id)i));
        assert_true(rh_findings__find(rh_finding_name((rh_finding_id)i), &found));
        assert_int_equal(found, i);
    }
    assert_false(rh_findings__find("unheard-of", &(rh_finding_id){RH_FINDING_MISSING}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravest_first_then_as_added),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(lists_grow_or_report_that_they_did_not),
        cmocka_unit_test(severities_have_names),
        cmocka_unit_test(every_finding_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
