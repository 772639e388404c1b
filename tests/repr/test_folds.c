// test_folds.c - folds: every piece in one of them, of about equal length, episodes whole.

#include "repr_test.h"

enum { MOST = 100 };

// A log of episodes of so many steps, ended by a 0.
static rh_log *log_with(const int *nstep)
{
    static double obs[5000];
    int length[MOST] = {0}, n = 0;
    for (; nstep[n]; n++)
        length[n] = nstep[n] + 1;
    for (int i = 0; i < 5000; i++)
        obs[i] = i;
    return log_of(obs, 1, length, NULL);
}

static rh_folds dealt(const rh_log *log, const uint8_t *use, uint64_t seed)
{
    rh_folds folds = {.nfold = 0};
    rh_rng rng = rh_repr__chance(seed, RH_CHANCE_FOLDS);
    assert_int_equal(rh_folds__deal(&folds, log, use, 5, rng, NULL), RH_OK);
    return folds;
}

// Pieces cover the log in order; steps of each fold; how many pieces.
static int look(const rh_folds *f, const rh_log *log, int64_t steps[5])
{
    memset(steps, 0, 5 * sizeof *steps);
    assert_int_equal(f->first[0], 0);
    assert_int_equal(f->first[f->log.nepisode], log->n);
    assert_ptr_equal(f->log.first, f->first);
    for (int i = 0; i < f->log.nepisode; i++) {
        assert_true(f->first[i] < f->first[i + 1]);
        assert_true(f->fold[i] >= -1);
        assert_true(f->fold[i] < f->nfold);
        if (f->fold[i] >= 0)
            steps[f->fold[i]] += f->first[i + 1] - f->first[i];
    }
    return f->log.nepisode;
}

static void whole_episodes(void **unused)
{
    (void)unused;
    int nstep[41] = {0};
    for (int i = 0; i < 40; i++)
        nstep[i] = 10 + i % 7;
    rh_log *log = log_with(nstep);
    rh_folds f = dealt(log, NULL, 1), again = dealt(log, NULL, 1), other = dealt(log, NULL, 2);
    int64_t steps[5];
    assert_int_equal(look(&f, log, steps), 40);
    assert_memory_equal(f.first, log->first, 41 * sizeof *f.first);
    for (int i = 0; i < 5; i++)
        assert_in_range(steps[i], log->n / 5 - 16, log->n / 5 + 16);
    assert_memory_equal(f.fold, again.fold, 40 * sizeof *f.fold);
    assert_memory_not_equal(f.fold, other.fold, 40 * sizeof *f.fold);

    // one fold and its counterpart are all
    uint8_t in[MOST], out[MOST];
    rh_folds__use(&f, 3, true, in);
    rh_folds__use(&f, 3, false, out);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(in[i], f.fold[i] == 3);
        assert_int_equal(in[i] + out[i], 1);
    }
    rh_folds__clear(&f);
    rh_folds__clear(&again);
    rh_folds__clear(&other);
    rh_log_destroy(log);
}

static void long_episodes_are_cut(void **unused)
{
    (void)unused;
    int64_t steps[5];
    rh_log *one = log_with((int[]){1000, 0});
    rh_folds f = dealt(one, NULL, 1);
    assert_int_equal(look(&f, one, steps), 10);
    for (int i = 0; i < 5; i++)
        assert_int_equal(steps[i], 200);
    rh_folds__clear(&f);
    rh_log_destroy(one);

    // as long as a fold is not too long
    rh_log *five = log_with((int[]){100, 100, 100, 100, 100, 0});
    f = dealt(five, NULL, 1);
    assert_int_equal(look(&f, five, steps), 5);
    rh_folds__clear(&f);
    rh_log_destroy(five);

    rh_log *uneven = log_with((int[]){10, 900, 10, 10, 10, 10, 10, 0});
    f = dealt(uneven, NULL, 1);
    assert_int_equal(look(&f, uneven, steps), 6 + 10);
    for (int i = 0; i < 5; i++)
        assert_in_range(steps[i], 170, 220);
    rh_folds__clear(&f);
    rh_log_destroy(uneven);
}

static void episodes_not_in_use(void **unused)
{
    (void)unused;
    rh_log *log = log_with((int[]){50, 2000, 50, 50, 50, 50, 0});
    const uint8_t use[] = {1, 0, 1, 1, 1, 1};
    rh_folds f = dealt(log, use, 1);
    int64_t steps[5];
    assert_int_equal(look(&f, log, steps), 6); // the long one is nobody's, and stays whole
    uint8_t in[6];
    for (int fold = 0; fold < 5; fold++) {
        assert_int_equal(steps[fold], 50);
        rh_folds__use(&f, fold, false, in);
        assert_int_equal(in[1], 0);
    }
    assert_int_equal(f.fold[1], -1);
    rh_folds__clear(&f);
    rh_log_destroy(log);
}

static void tiny_logs(void **unused)
{
    (void)unused;
    int64_t steps[5];
    for (int n = 1; n <= 12; n++) {
        rh_log *log = log_with((int[]){n, 0});
        rh_folds f = dealt(log, NULL, 1);
        int npiece = look(&f, log, steps);
        assert_int_equal(f.nfold, npiece < 5 ? npiece : 5);
        rh_folds__clear(&f);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_episodes),
        cmocka_unit_test(long_episodes_are_cut),
        cmocka_unit_test(episodes_not_in_use),
        cmocka_unit_test(tiny_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
