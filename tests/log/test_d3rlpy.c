// test_d3rlpy.c - d3rlpy's dumps, new and old, and damaged ones.

#include "log/hdf5_sample.h"

static void samples(void **unused)
{
    (void)unused;
    rh_log *log = read_log(sample_path("d3rlpy_v2.h5"), NULL);
    compare_with_expected(log, "d3rlpy_v2.h5");
    assert_string_equal(log->reading.format, "d3rlpy");
    assert_int_equal(log->nepisode, 12);
    assert_int_equal(log->reading.nlost, 1);
    assert_true(has_note(log, "terminated_<i>"));
    rh_log_destroy(log);

    log = read_log(sample_path("d3rlpy_tuple.h5"), NULL);
    compare_with_expected(log, "d3rlpy_tuple.h5");
    rh_log_destroy(log);

    log = read_log(sample_path("d3rlpy_v1.h5"), NULL);
    compare_with_expected(log, "d3rlpy_v1.h5");
    assert_int_equal(log->reading.nlost, 2);
    assert_true(has_note(log, "timeouts = dataset episode_terminals"));
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- bad files

static const double one[] = {1}, two[] = {2}, none[] = {(double)NAN};

static const column good[] = {
    {"num_episodes", 1, 0, RH_HDF5_INT64, two}, {"observations_0", 3, 2, RH_HDF5_DOUBLE, NULL},
    {"actions_0", 3, 1, RH_HDF5_DOUBLE, NULL},  {"rewards_0", 3, 1, RH_HDF5_DOUBLE, NULL},
    {"terminated_0", 1, 0, RH_HDF5_BOOL, one},  {"observations_1", 3, 2, RH_HDF5_DOUBLE, NULL},
    {"actions_1", 3, 1, RH_HDF5_DOUBLE, NULL},  {"rewards_1", 3, 1, RH_HDF5_DOUBLE, NULL},
    {"terminated_1", 1, 0, RH_HDF5_BOOL, one},  {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};

static void refuse_with(const column *other, const char *words)
{
    refuse_changed(NULL, good, other, words);
}

static void bad_files(void **unused)
{
    (void)unused;
    make_hdf5(in_folder("good.h5"), NULL, good);
    rh_log_destroy(read_log(in_folder("good.h5"), NULL));
    rh_log_options opt = rh_log_defaults();
    opt.obs = "observations_0";
    refuses(in_folder("good.h5"), &opt, "good.h5: 'observations_0' cannot be chosen");
    remove(in_folder("good.h5"));

    refuse_with(&(column){"rewards_1", 2, 1, RH_HDF5_DOUBLE, NULL},
                "bad.h5: rewards_1 has 2 rows, expected 3 as in observations_1");
    refuse_with(&(column){"rewards_1", 3, 2, RH_HDF5_DOUBLE, NULL},
                "bad.h5: rewards_1 has shape (3, 2), expected one number a row");
    refuse_with(&(column){"actions_1", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no dataset actions_1");
    refuse_with(&(column){"observations_1", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no dataset observations_1_0");
    refuse_with(
        &(column){"observations_1", 3, 1, RH_HDF5_DOUBLE, NULL},
        "bad.h5: episode 1 has 1 numbers in an observation and 1 in an action, expected "
        "2 and 1 as in episode 0");
    refuse_with(&(column){"terminated_1", 1, 0, RH_HDF5_DOUBLE, none},
                "bad.h5: no dataset terminated_1 that is true or false");
    refuse_with(&(column){"num_episodes", 1, 0, RH_HDF5_DOUBLE, none},
                "bad.h5: num_episodes = nan, expected 1 or more");
    refuse_with(&(column){"actions_0", 3, 40, RH_HDF5_DOUBLE, NULL},
                "numbers in an action, expected 1 to 32");
}

static void cut_off(void **unused)
{
    (void)unused;
    refuse_all_cuts(sample_path("d3rlpy_v2.h5"), "cut.h5");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    fail_each_allocation(sample_path("d3rlpy_tuple.h5"));
    fail_each_allocation(sample_path("d3rlpy_v1.h5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
