// test_pack.c - a model as bytes: the copy behaves like the original, no files are left, and
// damage is detected.

#include "base/base_internal.h"
#include "model/model.h"
#include "model/pack.h"
#include "study/ranks.h"
#include "study/runs_sample.h"

#include <dirent.h>

static int count_leftovers(void)
{
    int n = 0;
    DIR *dir = opendir("/tmp");
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        n += strncmp(e->d_name, "rehearse-", 9) == 0 && strlen(e->d_name) == 15;
    closedir(dir);
    return n;
}

static void arrives_as_it_was(void **state)
{
    (void)state;
    int before = count_leftovers();
    unsigned char *byte = NULL;
    size_t n = 0;
    rh_error err = {""};
    if (rh_model__pack(s.model[0][0], &byte, &n, &err))
        fail_msg("%s", err.text);
    rh_model *model = NULL;
    rh_members members = {0};
    if (rh_model__unpack(&model, byte, n, &err))
        fail_msg("%s", err.text);
    assert_int_equal(rh_members__open(&members, model, &err), RH_OK);
    rh_result result[NUNIT];
    assert_int_equal(rh_eval_runs(members.env, NMEMBER, s.agent, &s.task, NSETTING, s.hp,
                                  &s.opt, result, NULL, &err),
                     RH_OK);
    for (int i = 0; i < NUNIT; i++) {
        assert_true(result[i].score == s.result[0][i].score);
        assert_int_equal(result[i].nstep, 400);
    }
    assert_true(rh_model__fingerprint(model) == rh_model__fingerprint(s.model[0][0]));
    rh_members__clear(&members);
    rh_model_destroy(model);
    assert_true(count_leftovers() <= before);

    // damaged, and cut short
    model = NULL;
    byte[n / 2] ^= 0x40;
    byte[n / 2 + 1] ^= 0x40;
    assert_int_not_equal(rh_model__unpack(&model, byte, n, &err), RH_OK);
    assert_int_not_equal(rh_model__unpack(&model, byte, n / 3, &err), RH_OK);
    assert_null(model);
    rh_free(byte);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    int64_t before = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        unsigned char *byte = NULL;
        size_t n = 0;
        rh_model *model = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_model__pack(s.model[0][0], &byte, &n, NULL);
        if (!rc)
            rc = rh_model__unpack(&model, byte, n, NULL);
        rh_base__alloc_fail_at(0);
        rh_free(byte);
        rh_model_destroy(model);
        assert_int_equal(rh_base__alloc_live(), before);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_as_it_was),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
