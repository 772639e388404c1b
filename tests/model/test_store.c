// test_store.c - arrays and texts of a model by name: what is not as it was written is refused
// by name, and nothing happens after a failure.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "model/store.h"

static const int32_t whole[] = {INT32_MIN, 0, INT32_MAX};
static const double numbers[] = {0.5, -2.0};
static const char *const texts[] = {"a", "", "three"};

// A store of a new state.
static rh_store begin(rh_error *err)
{
    rh_store store = {.path = "a.model", .err = err};
    assert_int_equal(rh_state__create(&store.state, NULL), RH_OK);
    return store;
}

static rh_store fill(rh_error *err)
{
    rh_store store = begin(err);
    rh_store__put_number(&store, "number", 0.1);
    rh_store__put_text(&store, "text", "plant \u00b0C");
    rh_store__put_texts(&store, "texts", texts, 3);
    rh_store__put_texts(&store, "no_texts", NULL, 0);
    rh_store__put_named(&store, "named", texts, numbers, 2);
    rh_store__within(&store, "group", 7);
    rh_store__put(&store, "whole", RH_STATE_I32, whole, 3);
    rh_store__within(&store, "group", -1);
    rh_store__put(&store, "empty", RH_STATE_F64, NULL, 0);
    rh_store__within(&store, NULL, 0);
    return store;
}

static void end(rh_store *store)
{
    rh_state_destroy(store->state);
}

static void there_and_back(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live(), got = 0;
    rh_store store = fill(NULL);
    assert_int_equal(store.rc, RH_OK);
    assert_true(rh_store__number(&store, "number", 0.1, 0.1) == 0.1);
    assert_string_equal(rh_store__text(&store, "text"), "plant \u00b0C");
    int n = 0;
    const char **all = rh_store__texts(&store, "texts", -1, &n);
    assert_int_equal(n, 3);
    for (int i = 0; i < n; i++)
        assert_string_equal(all[i], texts[i]);
    rh_free((void *)all);
    all = rh_store__texts(&store, "no_texts", 0, &n);
    assert_int_equal(n, 0);
    rh_free((void *)all);
    const double *x = NULL;
    all = rh_store__named(&store, "named", &x, &n);
    assert_int_equal(n, 2);
    assert_string_equal(all[0], "a");
    assert_true(x[1] == -2.0);
    rh_free((void *)all);

    assert_true(rh_store__has(&store, "group/7/whole"));
    assert_false(rh_store__has(&store, "whole"));
    rh_store__within(&store, "group", 7);
    assert_true(rh_store__has(&store, "whole"));
    assert_memory_equal(rh_store__look(&store, "whole", RH_STATE_I32, 3, NULL), whole,
                        sizeof whole);
    int32_t *taken = rh_store__take(&store, "whole", RH_STATE_I32, -1, &got);
    assert_int_equal(got, 3);
    assert_memory_equal(taken, whole, sizeof whole);
    rh_free(taken);
    rh_store__within(&store, "group", -1);
    rh_store__copy(&store, "empty", RH_STATE_F64, 0, NULL);
    assert_int_equal(store.rc, RH_OK);
    end(&store);
    assert_int_equal(rh_base__alloc_live(), live);
}

// ---------------------------------------------------------------------------- refusals

// The store must have failed with these words; it is as new afterwards.
static void failed(rh_store *store, const char *words)
{
    assert_int_equal(store->rc, RH_EFORMAT);
    assert_string_equal(store->err->text, words);
    store->rc = RH_OK;
}

static void refuses(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_store store = fill(&err);
    int n;
    const double *x;
    assert_null(rh_store__look(&store, "nobody", RH_STATE_U8, -1, NULL));
    failed(&store, "a.model: nobody: missing");
    assert_null(rh_store__look(&store, "number", RH_STATE_I32, -1, NULL));
    failed(&store, "a.model: number: an array of float64, expected int32");
    assert_null(rh_store__take(&store, "group/7/whole", RH_STATE_I32, 4, NULL));
    failed(&store, "a.model: group/7/whole: 3 numbers, expected 4");
    assert_true(rh_store__number(&store, "number", 1.0, 2.0) == 1.0);
    failed(&store, "a.model: number: 0.1, expected 1 to 2");
    assert_true(rh_store__number(&store, "named", -9.0, 2.0) == -9.0);
    failed(&store, "a.model: named: 2 numbers, expected 1");
    assert_null(rh_store__text(&store, "texts"));
    failed(&store, "a.model: texts: 3 texts, expected 1");
    assert_null(rh_store__text(&store, "number"));
    failed(&store, "a.model: number: an array of float64, expected text");
    assert_null(rh_store__texts(&store, "texts", 2, NULL));
    failed(&store, "a.model: texts: 3 texts, expected 2");
    assert_null(rh_store__named(&store, "text", &x, &n));
    failed(&store, "a.model: text_name: missing");
    rh_store__within(&store, "group", 7);
    assert_null(rh_store__look(&store, "number", RH_STATE_F64, 1, NULL));
    failed(&store, "a.model: group/7/number: missing");
    rh_store__refuse(&store, "whole", "row %d\n", 3); // one line, whatever the file holds
    assert_null(strchr(err.text, '\n'));
    end(&store);

    // more texts than names, and far too many
    store = begin(&err);
    rh_store__put_texts(&store, "few_name", texts, 3);
    rh_store__put(&store, "few", RH_STATE_F64, numbers, 2);
    assert_null(rh_store__named(&store, "few", &x, &n));
    failed(&store, "a.model: few: 2 numbers, expected 3");
    static const char zeros[10001];
    rh_store__lend(&store, "many", RH_STATE_TEXT, zeros, sizeof zeros);
    assert_null(rh_store__texts(&store, "many", -1, &n));
    failed(&store, "a.model: many: 10001 texts, expected at most 10000");
    rh_store__put_number(&store, "few", 1.0);
    assert_int_equal(store.rc, RH_EINVAL);
    end(&store);
}

static void keeps_the_first_failure(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_error why = {"another reason"};
    rh_store store = fill(&err);
    int32_t x[3] = {7, 7, 7};
    rh_store__pass(&store, "number", RH_OK, &why);
    assert_int_equal(store.rc, RH_OK);
    rh_store__pass(&store, "number", RH_EINVAL, &why);
    assert_int_equal(store.rc, RH_EFORMAT);
    rh_store__refuse(&store, "text", "later");
    rh_store__no_memory(&store);
    rh_store__put_number(&store, "late", 1.0);
    assert_false(rh_store__has(&store, "late"));
    assert_null(rh_store__text(&store, "text"));
    rh_store__copy(&store, "group/7/whole", RH_STATE_I32, 3, x);
    assert_int_equal(x[0], 7);
    failed(&store, "a.model: number: another reason");
    rh_store__pass(&store, "number", RH_ENOMEM, &why);
    assert_int_equal(store.rc, RH_ENOMEM);
    end(&store);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    int nth = 0;
    while (rc) {
        rh_store store = begin(NULL);
        rh_base__alloc_fail_at(++nth);
        rh_store__put_texts(&store, "texts", texts, 3);
        rh_store__put_named(&store, "named", texts, numbers, 2);
        rh_free((void *)rh_store__texts(&store, "texts", 3, NULL));
        rh_base__alloc_fail_at(0);
        rc = store.rc;
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        end(&store);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_true(nth > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(refuses),
        cmocka_unit_test(keeps_the_first_failure),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
