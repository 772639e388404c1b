// test_refit.c - other members of a fitted model.

#include "base/base_internal.h"
#include "log/log.h"
#include "model/model.h"
#include "model_sample.h"

// A run of random steps in a member: its rewards, as one number.
static double walk_through(const rh_model *model, int member)
{
    rh_error err = {""};
    rh_env *env = NULL;
    assert_int_equal(rh_model_env(&env, model, member, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    rh_streams streams = {rh_rng_stream(3, RH_STREAM_START, 0, 0),
                          rh_rng_stream(3, RH_STREAM_NOISE, 0, 0)};
    double obs[RH_MAX_OBS], sum = 0.0;
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 500; i++) {
        double act = i % rh_env_task(env)->naction, reward;
        bool ends = rh_env_step(env, state, &act, &streams, obs, &reward);
        sum = 0.99 * sum + reward + obs[0];
        if (ends)
            rh_env_start(env, state, &streams, obs);
    }
    rh_free(state);
    rh_env_destroy(env);
    return sum;
}

static rh_model *refit(const rh_model *model, int nmember, rh_resample how, uint64_t seed)
{
    rh_error err = {""};
    rh_model *again = NULL;
    rh_model_options opt = plain_options();
    opt.nmember = nmember;
    opt.resample = how;
    opt.seed = seed;
    if (rh_model__refit(&again, model, &opt, &err))
        fail_msg("%s", err.text);
    return again;
}

// Of all of the log it is the same model; of parts it is what a fit to them would be.
static void as_a_fit(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3), *other = log_by_chance(6, 50, 2, 3);
    rh_model_options opt = plain_options();
    opt.starts = other; // not where the log's own episodes begin
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    opt.nmember = 3;
    opt.resample = RH_RESAMPLE_SUBSET;
    opt.seed = 9;
    rh_model *parts = fit_plain(&rh_model_knn, log, false, &opt);
    rh_log_destroy(log);
    rh_log_destroy(other);

    rh_model *same = refit(model, 1, RH_RESAMPLE_ALL, 1);
    rh_model *three = refit(model, 3, RH_RESAMPLE_SUBSET, 9);
    assert_true(walk_through(same, 0) == walk_through(model, 0));
    for (int m = 0; m < 3; m++)
        assert_true(walk_through(three, m) == walk_through(parts, m));
    assert_true(walk_through(three, 0) != walk_through(three, 1));
    assert_true(rh_model__fingerprint(three) == rh_model__fingerprint(model));
    assert_int_equal(three->nstart, model->nstart);

    // nothing of the first is needed any more
    double before = walk_through(three, 2);
    rh_model_destroy(model);
    assert_true(walk_through(three, 2) == before);
    assert_string_equal(rh_model_task(three)->obs_name[1], rh_model_log(three)->obs_name[1]);
    rh_model_destroy(same);
    rh_model_destroy(three);
    rh_model_destroy(parts);
}

// A log that the library made is shared by the models that use it as it is, and lasts as long
// as they do; parts that the caller filled in are copied. Members can be fitted a few at a
// time.
static void one_log_for_all(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 400, 2, 3);
    rh_model_options opt = plain_options();
    rh_error err = {""};
    opt.nmember = 3;
    opt.resample = RH_RESAMPLE_SUBSET;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_ptr_equal(rh_model_log(model), log);
    rh_log parts = *log;
    rh_model *other = fit_plain(&rh_model_knn, &parts, false, &opt);
    assert_ptr_not_equal(rh_model_log(other), &parts);
    assert_ptr_not_equal(rh_model_log(other), log);
    assert_true(rh_log__same(rh_model_log(other), log));
    ((double *)(uintptr_t)rh_model_log(other)->reward)[399] += 1.0;
    assert_false(rh_log__same(rh_model_log(other), log));
    rh_model_destroy(other);
    rh_log_destroy(log);

    rh_model *few = NULL;
    assert_int_equal(rh_model__shell(&few, model, &err), RH_OK);
    assert_ptr_equal(rh_model_log(few), rh_model_log(model));
    assert_int_equal(rh_model_nmember(few), 0);
    assert_int_equal(rh_model__add_members(few, &opt, 1, 2, &err), RH_OK);
    for (int m = 0; m < 2; m++)
        assert_true(walk_through(few, m) == walk_through(model, m + 1));
    rh_model__drop_members(few);
    assert_int_equal(rh_model__add_members(few, &opt, 0, 1, &err), RH_OK);
    assert_true(walk_through(few, 0) == walk_through(model, 0));
    rh_model_destroy(model);
    rh_model_destroy(few);
}

static void refused_and_without_memory(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 200, 2, 3);
    rh_model *model = fit_plain(&rh_model_knn, log, false, NULL), *again = NULL;
    rh_model_options opt = plain_options();
    opt.nmember = 2;
    assert_int_equal(rh_model__refit(&again, model, &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "would be equal"));

    opt.resample = RH_RESAMPLE_SUBSET;
    int64_t live = rh_base__alloc_live();
    for (int64_t n = 1;; n++) {
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_model__refit(&again, model, &opt, &err);
        rh_base__alloc_fail_at(0);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_null(again);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_model_destroy(again);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_fit),
        cmocka_unit_test(one_log_for_all),
        cmocka_unit_test(refused_and_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
