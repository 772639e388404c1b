// test_plan_preset.c - presets: every key is known, what was set overrides them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/plan.h"

#include <stdio.h>
#include <string.h>

static void set(rh_plan *plan, const char *key, const char *text)
{
    rh_error err = {""};
    if (rh_plan_set(plan, key, text, NULL, &err))
        fail_msg("%s", err.text);
}

static void check(rh_plan *plan)
{
    rh_error err = {""};
    if (rh_plan_check(plan, &err))
        fail_msg("%s", err.text);
}

static void knows(const char *preset, const char *key)
{
    if (!rh_plan__row_of(key))
        fail_msg("preset %s: no key %s", preset, key);
}

static void every_key_is_known(void **unused)
{
    (void)unused;
    for (int i = 1; rh_plan__preset_name(i); i++) {
        const char *name = rh_plan__preset_name(i), *text = rh_preset__file[i - 1].text;
        rh_yaml *file = NULL;
        char key[100];
        assert_int_equal(rh_yaml__parse(&file, text, strlen(text), name, NULL), RH_OK);
        assert_int_equal(file->kind, RH_YAML_MAP);
        for (int k = 0; k < file->n; k++) {
            const rh_yaml *item = file->item[k];
            if (item->kind != RH_YAML_MAP)
                knows(name, file->key[k]->text);
            for (int j = 0; item->kind == RH_YAML_MAP && j < item->n; j++) {
                snprintf(key, sizeof key, "%s.%s", file->key[k]->text, item->key[j]->text);
                knows(name, key);
            }
        }
        rh_yaml__destroy(file);
    }
    assert_string_equal(rh_plan__preset_name(0), "none");
}

static void other_keys_override(void **unused)
{
    (void)unused;
    rh_plan *plan = NULL;
    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    set(plan, "ranking", "sound"); // also before the preset
    set(plan, "preset", "paper");
    set(plan, "task", "acrobot");
    set(plan, "evaluation.runs", "3");
    check(plan);
    assert_int_equal(plan->ranking, RH_RANKING__SOUND);
    assert_int_equal(plan->nrun, 3);
    assert_int_equal(plan->interval, RH_INTERVAL__RUNS);
    assert_int_equal(plan->cutoff, -30);
    assert_int_equal(plan->circles, 0);
    assert_int_equal(plan->confirm_settings, 0);
    assert_string_equal(plan->model->name, "knn");
    assert_string_equal(rh_plan__preset(plan, "model.weights")->text, "paper");

    // parameters of another kind of model stay its own
    set(plan, "model", "nn");
    check(plan);
    assert_string_equal(plan->model->name, "nn");

    // and without the preset nothing of it is left
    set(plan, "preset", "none");
    check(plan);
    assert_int_equal(plan->interval, RH_INTERVAL__ALL);
    assert_int_equal(plan->circles, 1);
    assert_null(rh_plan__preset(plan, "model.weights"));
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_known),
        cmocka_unit_test(other_keys_override),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
