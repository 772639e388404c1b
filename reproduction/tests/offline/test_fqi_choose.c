// test_fqi_choose.c - of several settings the one with the least TD error is kept, the same one
// on any number of threads.

#include "offline_sample.h"

enum { NOPT = 5 };

static void settings(rh_fqi_options *opt)
{
    const double rate[NOPT] = {1e-4, 0.3, 3e-3, 1e-2, 3e-2};
    for (int i = 0; i < NOPT; i++) {
        opt[i] = rh_fqi_defaults(i < 3 ? RH_FQI_TILES : RH_FQI_NETWORK);
        opt[i].rate = rate[i];
        opt[i].nupdate = 400;
        opt[i].nsync = 50;
        opt[i].width = 8;
        opt[i].patience = 0;
    }
}

static void least_error(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *train = reference_log("offline_fqi.csv", "train");
    rh_log *valid = reference_log("offline_fqi.csv", "valid");
    rh_fqi_options opt[NOPT];
    double expected[2 * NOPT], error[2 * NOPT];
    int least[2] = {0, 0};
    settings(opt);

    // one by one
    for (int i = 0; i < NOPT; i++) {
        rh_fqi *fqi = NULL;
        assert_int_equal(rh_fqi_learn(&fqi, train, &task, &opt[i], NULL), RH_OK);
        assert_int_equal(rh_fqi_error(fqi, train, &expected[2 * i], NULL), RH_OK);
        assert_int_equal(rh_fqi_error(fqi, valid, &expected[2 * i + 1], NULL), RH_OK);
        for (int k = 0; k < 2; k++)
            if (expected[2 * i + k] < expected[2 * least[k] + k])
                least[k] = i;
        rh_fqi_destroy(fqi);
    }
    assert_int_not_equal(least[0], least[1]); // the two columns disagree

    for (int judge = RH_FQI_BY_VALIDATION; judge <= RH_FQI_BY_TRAINING; judge++)
        for (int nthread = 1; nthread <= 7; nthread += 3) {
            rh_fqi *fqi = NULL;
            int chosen = -1;
            double again;
            assert_int_equal(rh_fqi_choose(&fqi, &chosen, train, valid, &task, opt, NOPT,
                                           (rh_fqi_judge)judge, nthread, error, NULL),
                             RH_OK);
            assert_int_equal(chosen, least[judge == RH_FQI_BY_TRAINING ? 0 : 1]);
            assert_memory_equal(error, expected, sizeof error);
            assert_int_equal(rh_fqi_error(fqi, train, &again, NULL), RH_OK);
            assert_true(again == expected[2 * chosen]);
            rh_fqi_destroy(fqi);
        }
    rh_log_destroy(train);
    rh_log_destroy(valid);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void see(void *context, const char *what, double share)
{
    double *last = context;
    assert_string_equal(what, "fitted Q iteration");
    assert_true(share >= *last);
    assert_true(share <= 1.0);
    *last = share;
}

static void failures(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *train = reference_log("offline_fqi.csv", "train");
    double line[1][7] = {{0.5, 0.5, 0, 1e30, 0.5, 0.5, 1}};
    rh_log *huge = log_of(line, 1);
    rh_fqi_options opt[NOPT];
    rh_fqi *fqi = NULL;
    rh_error err;
    settings(opt);
    assert_int_equal(rh_fqi_choose(&fqi, NULL, train, train, &task, opt, 0,
                                   RH_FQI_BY_VALIDATION, 1, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "fqi: 0 settings on 1 threads, expected 1 or more");

    // a reward beyond the range of floats has no finite error
    line[0][3] = 1e300;
    rh_log *none = log_of(line, 1);
    assert_int_equal(rh_fqi_choose(&fqi, NULL, train, none, &task, opt, NOPT,
                                   RH_FQI_BY_VALIDATION, 2, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(
        err.text, "fqi: none of 5 settings has a finite TD error, expected smaller rates");

    opt[3].nbatch = -1;
    assert_int_equal(rh_fqi_choose(&fqi, NULL, train, huge, &task, opt, NOPT,
                                   RH_FQI_BY_VALIDATION, 2, NULL, &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "fqi: batch = -1, expected 1 to 65536");

    settings(opt);
    opt[0].watch = (rh_watch){.stop = always};
    assert_int_equal(rh_fqi_choose(&fqi, NULL, train, train, &task, opt, NOPT,
                                   RH_FQI_BY_VALIDATION, 1, NULL, &err),
                     RH_ESTOPPED);
    double share = 0.0;
    opt[0].watch = (rh_watch){.progress = see, .context = &share};
    assert_null(fqi);
    assert_int_equal(rh_fqi_choose(&fqi, NULL, train, train, &task, opt, NOPT,
                                   RH_FQI_BY_VALIDATION, 1, NULL, &err),
                     RH_OK);
    assert_true(share > 0.9);
    rh_fqi_destroy(fqi);
    rh_log_destroy(train);
    rh_log_destroy(huge);
    rh_log_destroy(none);
}

static void every_failed_allocation(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_fqi_options opt[2] = {rh_fqi_defaults(RH_FQI_TILES), rh_fqi_defaults(RH_FQI_NETWORK)};
    opt[0].nupdate = opt[1].nupdate = 2;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int n = 1; rc; n++) {
        rh_fqi *fqi = NULL;
        rh_base__alloc_fail_at(n);
        rc = rh_fqi_choose(&fqi, NULL, log, log, &task, opt, 2, RH_FQI_BY_VALIDATION, 1, NULL,
                           NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        rh_fqi_destroy(fqi);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(least_error),
        cmocka_unit_test(failures),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
