// test_part.c - the transitions that members are fitted to.

#include "model_sample.h"

// Consecutive parts, of 10 transitions and of fewer than there are members.
static void parts_in_order(void **unused)
{
    (void)unused;
    static const int first[2][4] = {{0, 3, 6, 10}, {0, 0, 1, 2}};
    static const int count[2][3] = {{3, 3, 4}, {1, 1, 1}};
    walk w[10];
    for (int i = 0; i < 10; i++)
        w[i] = (walk){.s = i, .act = i % 2, .next = i + 1};
    for (int k = 0; k < 2; k++) {
        rh_log *log = log_of(w, k ? 2 : 10, 2);
        rh_model_options opt = rh_model_defaults();
        rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
        opt.resample = RH_RESAMPLE_PARTS;
        opt.nmember = 3;
        for (int m = 0; m < 3; m++) {
            int32_t *use = NULL;
            int64_t n = 0;
            rh_error err = {""};
            assert_int_equal(rh_model__draw_part(&use, &n, log, &opt, m, &rng, &err), RH_OK);
            assert_int_equal(n, count[k][m]);
            for (int i = 0; i < n; i++)
                assert_int_equal(use[i], first[k][m] + i);
            rh_free(use);
        }
        rh_log_destroy(log);
    }
}

// A subset has its share, in order and without repetition; a bootstrap repeats episodes.
static void draws(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(3, 500, 2, 2);
    rh_model_options opt = rh_model_defaults();
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    int32_t *use = NULL;
    int64_t n = 0, nrepeated = 0;
    rh_error err = {""};
    opt.resample = RH_RESAMPLE_SUBSET;
    opt.share = 0.9;
    assert_int_equal(rh_model__draw_part(&use, &n, log, &opt, 0, &rng, &err), RH_OK);
    assert_int_equal(n, 450);
    for (int64_t i = 1; i < n; i++) {
        assert_true(use[i] > use[i - 1]);
        assert_true(use[i] < 500);
    }
    rh_free(use);

    opt.resample = RH_RESAMPLE_BOOTSTRAP;
    assert_int_equal(rh_model__draw_part(&use, &n, log, &opt, 0, &rng, &err), RH_OK);
    for (int64_t i = 1; i < n; i++) {
        assert_true(use[i] >= use[i - 1]);
        nrepeated += use[i] == use[i - 1];
    }
    assert_true(nrepeated > 0);
    rh_free(use);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_in_order),
        cmocka_unit_test(draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
