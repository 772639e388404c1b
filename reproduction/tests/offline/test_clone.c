// test_clone.c - cloning: the policy and its losses are those of scipy, with every instruction
// set; the minimum is one; options and logs that are refused.

#include "numeric/kernels.h"
#include "offline_sample.h"

// Hyperparameters of esarsa with 4 tilings of 2 tiles.
static void small_features(double *hp)
{
    const rh_agent_type *type = rh_agent_find("esarsa", NULL);
    rh_param_initial(type->param, type->nparam, hp);
    hp[rh_param_find(type->param, type->nparam, "tilings")] = 4;
    hp[rh_param_find(type->param, type->nparam, "tiles")] = 2;
}

static void compare(double ridge, const char *name)
{
    double hp[RH_MAX_PARAM], probe[NUMBERS], expected[NUMBERS], pi[3], loss;
    char what[64];
    rh_task task = sample_task();
    rh_log *log[2] = {reference_log("offline_fqi.csv", "train"),
                      reference_log("offline_fqi.csv", "valid")};
    rh_clone_options opt = rh_clone_defaults();
    rh_clone *clone = NULL;
    rh_error err;
    opt.ridge = ridge;
    small_features(hp);
    if (rh_clone_learn(&clone, log[0], &task, hp, &opt, &err))
        fail_msg("%s", err.text);

    int n = reference("offline_fqi.csv", "probe", probe) / 2;
    assert_int_equal(reference("offline_clone.csv", name, expected), 3 * n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(rh_clone_policy(clone, probe + 2 * i, pi, NULL), RH_OK);
        for (int a = 0; a < 3; a++)
            near(pi[a], expected[3 * i + a], 2e-5, name, 3 * i + a);
        near(pi[0] + pi[1] + pi[2], 1.0, 1e-12, "sum", i);
    }
    snprintf(what, sizeof what, "%s.loss", name);
    reference("offline_clone.csv", what, expected);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rh_clone_loss(clone, log[i], &loss, NULL), RH_OK);
        near(loss, expected[i], 2e-5, what, i);
        rh_log_destroy(log[i]);
    }

    // the weights of a feature sum to 0
    double square = 0.0;
    for (int i = 0; i < rh_tiles_nfeature(clone->tiles); i++) {
        const double *theta = clone->theta + i * clone->nlane;
        near(theta[0] + theta[1] + theta[2], 0.0, 1e-6 / ridge, "sum of weights", i);
        assert_true(theta[3] == 0.0);
        for (int a = 0; a < 3; a++)
            square += theta[a] * theta[a];
    }
    snprintf(what, sizeof what, "%s.theta", name);
    reference("offline_clone.csv", what, expected);
    near(square, expected[0], 1e-4 * expected[0], what, 0);
    rh_clone_destroy(clone);
}

static void policies_of_scipy(void **state)
{
    (void)state;
    for (int isa = 1; isa <= rh_isa__count(); isa++) {
        rh_isa__limit(isa);
        compare(0.01, "clone.0.01");
        compare(1.0, "clone.1");
        compare(100.0, "clone.100");
    }
    rh_isa__limit(0);
}

// Actions that depend on x alone, always the same: with little ridge the clone is nearly sure,
// and without examples it is not.
static void certain_actions(void **state)
{
    (void)state;
    double x[60][7], pi[3];
    for (int i = 0; i < 60; i++) {
        double row[7] = {i / 60.0, 0.5, i < 20 ? 2 : i < 40 ? 0 : 1, 0.0, 0.5, 0.5, 0};
        memcpy(x[i], row, sizeof row);
    }
    rh_task task = sample_task();
    rh_log *log = log_of(x, 60);
    rh_clone_options opt = rh_clone_defaults();
    rh_clone *clone = NULL;
    double loss;
    opt.ridge = 1e-3;
    assert_int_equal(rh_clone_learn(&clone, log, &task, NULL, &opt, NULL), RH_OK);
    for (int i = 0; i < 60; i++) {
        assert_int_equal(rh_clone_policy(clone, x[i], pi, NULL), RH_OK);
        assert_true(pi[(int)x[i][2]] > 0.9);
    }
    assert_int_equal(rh_clone_loss(clone, log, &loss, NULL), RH_OK);
    assert_true(loss > 0.0);
    assert_true(loss < 0.01);
    rh_clone_destroy(clone);
    rh_log_destroy(log);
}

static bool always(void *context)
{
    int *left = context;
    return (*left)-- == 0;
}

static void see(void *context, const char *what, double share)
{
    int *count = context;
    assert_string_equal(what, "cloning");
    assert_true(share >= 0.0);
    assert_true(share <= 1.0);
    ++*count;
}

static void refused(const rh_log *log, const rh_task *task, const double *hp,
                    const rh_clone_options *opt, rh_status rc, const char *message)
{
    rh_clone *clone = NULL;
    rh_error err;
    assert_int_equal(rh_clone_learn(&clone, log, task, hp, opt, &err), rc);
    assert_string_equal(err.text, message);
    assert_null(clone);
}

static void refusals(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_clone_options opt = rh_clone_defaults();
    double hp[RH_MAX_PARAM];
    opt.cookie = 1;
    refused(log, &task, NULL, &opt, RH_EINVAL,
            "clone: options must start from rh_clone_defaults()");
    opt = rh_clone_defaults();
    opt.ridge = 0.0;
    refused(log, &task, NULL, &opt, RH_EINVAL, "clone: ridge = 0, expected above 0, to 1e6");
    opt = rh_clone_defaults();
    small_features(hp);
    hp[0] = -1.0;
    refused(log, &task, hp, NULL, RH_EINVAL,
            "esarsa: alpha = -1, expected a number, 1e-08 to 100");
    int left = 3, count = 0;
    opt.watch = (rh_watch){.stop = always, .context = &left};
    refused(log, &task, NULL, &opt, RH_ESTOPPED, "clone: stopped while learning");
    task.naction = 0;
    refused(log, &task, NULL, NULL, RH_EINVAL,
            "clone: a task of continuous actions, expected discrete ones");
    task = sample_task();
    task.nobs = 1;
    refused(log, &task, NULL, NULL, RH_EINVAL,
            "clone: a log of 2 sensors and 3 actions, expected 1 and 3 as in the task");

    task = sample_task();
    rh_clone *clone = NULL;
    opt.watch = (rh_watch){.progress = see, .context = &count};
    assert_int_equal(rh_clone_learn(&clone, log, &task, NULL, &opt, NULL), RH_OK);
    assert_true(count > 1);
    rh_clone_destroy(clone);
    rh_log_destroy(log);
}

static void every_failed_allocation(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    double hp[RH_MAX_PARAM], pi[3], loss;
    small_features(hp);
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    int n = 1;
    for (; rc; n++) {
        rh_clone *clone = NULL;
        rh_state *saved = NULL;
        rh_base__alloc_fail_at(n);
        rc = rh_clone_learn(&clone, log, &task, hp, NULL, NULL);
        if (!rc)
            rc = rh_clone_policy(clone, log->obs, pi, NULL);
        if (!rc)
            rc = rh_clone_loss(clone, log, &loss, NULL);
        if (!rc)
            rc = rh_clone_state(&saved, clone, &task, hp, 1.0, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        rh_clone_destroy(clone);
        rh_state_destroy(saved);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_true(n > 40);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(policies_of_scipy),
        cmocka_unit_test(certain_actions),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
