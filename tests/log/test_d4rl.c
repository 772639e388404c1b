// test_d4rl.c - flat HDF5 files: as D4RL writes them, under other names, and damaged.

#include "log/hdf5_sample.h"

#include <hdf5.h>

// ---------------------------------------------------------------------------- as Python wrote

static void samples(void **unused)
{
    (void)unused;
    rh_log *log = read_log(sample_path("d4rl.hdf5"), NULL);
    compare_with_expected(log, "d4rl.hdf5");
    assert_string_equal(log->reading.format, "d4rl");
    assert_int_equal(log->reading.nrow, 18);
    assert_int_equal(log->reading.nlost, 1); // the truncated one
    assert_string_equal(log->obs_name[2], "obs_2");
    assert_true(has_note(log, "observations = dataset observations (float32)"));
    assert_true(has_note(log, "terminals = dataset terminals (bool)"));
    assert_true(has_note(log, "timeouts = dataset timeouts (bool): truncated"));
    assert_true(has_note(log, "s' = the next row of the same episode"));
    rh_log_destroy(log);

    log = read_log(sample_path("d4rl_next.hdf5"), NULL);
    compare_with_expected(log, "d4rl_next.hdf5");
    assert_int_equal(log->reading.nlost, 0);
    assert_int_equal(log->reading.nmismatch, 0);
    assert_true(has_note(log, "s' = dataset next_observations"));
    assert_true(has_note(log, "no timeouts: only terminals end an episode"));
    rh_log_destroy(log);
}

static void after_a_user_block(void **unused)
{
    (void)unused;
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("d4rl.hdf5"), &n);
    unsigned char *moved = calloc(n + 1024, 1);
    memcpy(moved + 1024, bytes, n);
    memset(moved, '#', 1024);
    spill(in_folder("block.mat"), moved, n + 1024);
    rh_log *log = read_log(in_folder("block.mat"), NULL);
    compare_with_expected(log, "d4rl.hdf5");
    rh_log_destroy(log);
    remove(in_folder("block.mat"));
    free(bytes);
    free(moved);
}

// ---------------------------------------------------------------------------- options

static void arrays_by_name(void **unused)
{
    (void)unused;
    const char *path = sample_path("d4rl.hdf5");
    rh_log_options opt = rh_log_defaults();
    opt.obs = "infos/qpos, observations";
    rh_log *log = read_log(path, &opt);
    assert_int_equal(log->nobs, 5);
    assert_string_equal(log->obs_name[1], "infos/qpos_1");
    assert_string_equal(log->obs_name[4], "observations_2");
    assert_true(log->obs[0] == log->obs[2]);
    assert_true(log->obs[1] == log->obs[3]);
    rh_log_destroy(log);

    opt = rh_log_defaults();
    opt.truncated = "";
    log = read_log(path, &opt);
    assert_int_equal(log->nepisode, 2);
    rh_log_destroy(log);

    opt.truncated = "timeout";
    refuses(path, &opt, "d4rl.hdf5: no dataset 'timeout'; did you mean 'timeouts'?");
    opt.truncated = NULL;
    opt.terminal = "terminals,timeouts";
    refuses(path, &opt,
            "d4rl.hdf5: 2 datasets for the terminals (terminals, timeouts, ...), expected one");
    opt.terminal = NULL;
    opt.reward = "actions";
    refuses(path, &opt, "d4rl.hdf5: actions has shape (18, 2), expected one number a row");
}

// Numbers of wider arrays have names, and the log keeps the formula in its own terms.
static void formulas_for_rewards(void **unused)
{
    (void)unused;
    const char *path = sample_path("d4rl.hdf5");
    rh_log_options opt = rh_log_defaults();
    opt.reward = "-abs(observations[0]) + actions[1]^2";
    rh_log *log = read_log(path, &opt);
    assert_true(log->nobs > 1);
    assert_int_equal(log->nact, 2);
    for (int64_t i = 0; i < log->n; i++) {
        double x = log->obs[(int64_t)log->from[i] * log->nobs], a = log->act[2 * i + 1];
        assert_true(log->reward[i] == -fabs(x) + a * a);
    }
    assert_string_equal(log->reward_formula, "-abs(obs[0]) + act[1]^2");
    rh_log_destroy(log);
    opt.reward = "rewards/2 + observations[0]";
    log = read_log(path, &opt);
    assert_null(log->reward_formula); // rewards is no sensor
    rh_log_destroy(log);
}

static void sums_for_rewards(void **unused)
{
    (void)unused;
    const char *path = sample_path("d4rl.hdf5");
    rh_log *plain = read_log(path, NULL);
    rh_log_options opt = rh_log_defaults();
    opt.reward = " -rewards*2 + 0.5*timeouts, 3 * terminals";
    rh_log *log = read_log(path, &opt);
    for (int64_t i = 0; i < log->n; i++)
        assert_true(log->reward[i] ==
                    -2.0 * plain->reward[i] + (plain->flag[i] == RH_FLAG_TERMINAL ? 3.0 : 0.0));
    assert_string_equal(log->reward_name, opt.reward);
    rh_log_destroy(plain);
    rh_log_destroy(log);
    opt.reward = "rewards + 2 * reward";
    refuses(path, &opt, "d4rl.hdf5: reward: no dataset 'reward'; did you mean 'rewards'?");
    opt.reward = "rewards * ";
    refuses(path, &opt,
            "d4rl.hdf5: reward: 'rewards * ': found its end, expected a value after '*' at "
            "character 11");
    opt.reward = "rewards ? 2";
    refuses(path, &opt, "found '?', expected an operator or the end after 'rewards'");
    opt.reward = "abs(actions)";
    refuses(path, &opt, "d4rl.hdf5: actions has shape (18, 2), expected one number a row");
}

static const double obs5[] = {0, 1, 2, -99, 4}, act5[] = {3, 1, 3, 3, 1};
static const double end5[] = {0, 0, 1, 0, 0}, when5[] = {0, 1, 2, 3, 10};

static const column five[] = {
    {"observations", 5, 0, RH_HDF5_DOUBLE, obs5}, {"actions", 5, 0, RH_HDF5_INT64, act5},
    {"rewards", 5, 1, RH_HDF5_DOUBLE, NULL},      {"terminals", 5, 0, RH_HDF5_BOOL, end5},
    {"time", 5, 0, RH_HDF5_DOUBLE, when5},        {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};

static void what_options_do(void **unused)
{
    (void)unused;
    const double missing[] = {-99.0};
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("five.h5"));
    make_hdf5(path, NULL, five);

    // unchanged: two episodes, the second without its last step
    rh_log *log = read_log(path, NULL);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->naction, 2);
    assert_string_equal(log->label[1], "3");
    assert_non_null(log->time);
    assert_true(log->time[3] == 3.0);
    assert_int_equal(log->flag[3], RH_FLAG_TRUNCATED);
    rh_log_destroy(log);

    // numbers for missing values, all actions, a gap
    rh_log_options opt = rh_log_defaults();
    opt.missing = missing;
    opt.nmissing = 1;
    opt.actions = "1,2,3";
    log = read_log(path, &opt);
    assert_int_equal(log->naction, 3);
    assert_true(log->act[0] == 2.0);
    assert_true(log->act[1] == 0.0);
    assert_int_equal(log->n, 3); // no observation where the only sensor is missing
    assert_int_equal(log->reading.nincomplete, 1);
    rh_log_destroy(log);
    opt.nmissing = 0;
    opt.max_gap = 5.0;
    log = read_log(path, &opt);
    assert_int_equal(log->n, 3); // row 3 has lost its s'
    assert_int_equal(log->reading.ngap, 1);
    rh_log_destroy(log);
    opt.actions = "1,2";
    refuses(path, &opt, "five.h5: row 0 of actions is 3, expected one of the actions (1 to 2)");

    // rewards that belong to states
    opt = rh_log_defaults();
    opt.reward_of = RH_REWARD_OF_STATE;
    log = read_log(path, &opt);
    assert_int_equal(log->n, 3);
    assert_true(log->reward[0] == 1.0);
    assert_true(log->reward[1] == 2.0);
    assert_true(log->reward[2] == 4.0);
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    rh_log_destroy(log);

    // episodes of two steps, and continuous actions
    opt = rh_log_defaults();
    opt.episode_steps = 2;
    opt.action_kind = RH_ACTION_CONTINUOUS;
    log = read_log(path, &opt);
    assert_int_equal(log->n, 3); // 0 | 2 (terminal) | 3
    assert_int_equal(log->nepisode, 3);
    assert_int_equal(log->naction, 0);
    assert_true(has_note(log, "an episode is truncated after 2 steps"));
    rh_log_destroy(log);
    opt.actions = "1,3";
    refuses(path, &opt, "the actions in actions are continuous");
    remove(path);
}

// Groups without datasets do not count, however many there are.
static void many_groups(void **unused)
{
    (void)unused;
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("groups.h5"));
    make_hdf5(path, NULL, five);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 0; i < 600; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%04d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5Fclose(file);
    rh_log *log = read_log(path, NULL);
    assert_int_equal(log->n, 4);
    rh_log_destroy(log);
    remove(path);
}

// ---------------------------------------------------------------------------- bad files

// The five rows with one column changed.
static void refuse_with(const column *other, const char *words)
{
    refuse_changed(NULL, five, other, words);
}

static void bad_files(void **unused)
{
    (void)unused;
    static const double nan[] = {0, 0, (double)NAN, 0, 0};
    refuse_with(&(column){"rewards", 4, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: rewards has 4 rows, expected 5 as in observations; it is unclear "
                "which episode");
    refuse_with(&(column){"rewards", 7, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: rewards has 7 rows, expected 5 as in observations");
    refuse_with(&(column){"rewards", 5, 2, RH_HDF5_DOUBLE, NULL},
                "bad.h5: rewards has shape (5, 2), expected one number a row");
    refuse_with(&(column){"rewards", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no rewards: there is no dataset rewards");
    refuse_with(&(column){"terminals", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no dataset terminals, expected one, or terminal = \"\"");
    refuse_with(&(column){"terminals", 5, 0, RH_HDF5_DOUBLE, nan},
                "bad.h5: row 2 of terminals is NaN, expected 0 or 1");
    refuse_with(&(column){"observations", 5, 300, RH_HDF5_DOUBLE, NULL},
                "bad.h5: observations has shape (5, 300), expected 1 to 256 numbers a row; "
                "write an array of the columns that matter");
}

static void other_layouts(void **unused)
{
    (void)unused;
    static const char *const robomimic[] = {"data", "data/demo_0", NULL};
    static const char *const chunks[] = {"virtual", "virtual/0", NULL};
    static const column none[] = {{"a", 3, 0, RH_HDF5_DOUBLE, NULL},
                                  {"b", 3, 0, RH_HDF5_DOUBLE, NULL},
                                  {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("other.h5"));
    make_hdf5(path, robomimic, none + 2);
    refuses(path, NULL, "other.h5: robomimic's layout (data/demo_<n>)");
    make_hdf5(path, chunks, none + 2);
    refuses(path, NULL, "other.h5: D4RL's layout in chunks (virtual/...)");
    make_hdf5(path, NULL, none);
    refuses(path, NULL, "other.h5: an HDF5 file with a, b at its root, expected episode_0");
    make_hdf5(path, NULL, none + 2);
    refuses(path, NULL, "other.h5: an HDF5 file with nothing at its root");
    remove(path);

    rh_log_options opt = rh_log_defaults();
    opt.format = "d4rl";
    opt.obs = "columns";
    opt.action = opt.reward = "actions_0";
    opt.terminal = "";
    refuses(sample_path("d3rlpy_v2.h5"), &opt,
            "d3rlpy_v2.h5: columns holds text, expected numbers");
}

// More rows than a log is likely to have, in several slabs.
// A dataset that claims rows that were never written is refused when it is read, not before.
static void never_written(void **unused)
{
    (void)unused;
    const char *path = sample_path("d4rl_never.hdf5");
    rh_log *log = read_log(path, NULL);
    compare_with_expected(log, "d4rl_never.hdf5");
    rh_log_destroy(log);
    rh_log_options opt = rh_log_defaults();
    opt.obs = opt.action = opt.reward = "infos/never";
    opt.terminal = opt.truncated = "";
    refuses(path, &opt, "6080 bytes hold a log of more than 128 MB");
    opt.max_memory = (int64_t)1 << 40;
    refuses(path, &opt,
            "d4rl_never.hdf5: infos/never has shape (1000000000) but 0 bytes are stored: "
            "damaged, or never written");
}

static void many_rows(void **unused)
{
    (void)unused;
    static const column many[] = {{"observations", 200000, 2, RH_HDF5_DOUBLE, NULL},
                                  {"actions", 200000, 0, RH_HDF5_DOUBLE, NULL},
                                  {"rewards", 200000, 0, RH_HDF5_INT64, NULL},
                                  {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};
    rh_log_options opt = rh_log_defaults();
    opt.terminal = "";
    make_hdf5(in_folder("many.h5"), NULL, many);
    rh_log *log = read_log(in_folder("many.h5"), &opt);
    assert_int_equal(log->n, 199999);
    for (int64_t i = 0; i < log->n; i++) {
        assert_true(log->obs[2 * log->from[i]] == (double)(2 * i));
        assert_true(log->obs[2 * log->to[i] + 1] == (double)(2 * i + 3));
        assert_true(log->act[i] == (double)i);
        assert_true(log->reward[i] == (double)i);
    }
    rh_log_destroy(log);
    remove(in_folder("many.h5"));
}

// Bytes that h5py's lzf is said to have packed.
static void packed_by_lzf(void **unused)
{
    (void)unused;
    static const column c[] = {{"actions", 4, 0, RH_HDF5_INT64, NULL},
                               {"rewards", 4, 0, RH_HDF5_DOUBLE, NULL},
                               {"terminals", 4, 0, RH_HDF5_BOOL, NULL},
                               {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};
    const char *path = in_folder("lzf.h5");
    make_hdf5(path, NULL, c);
    hsize_t size[2] = {4, 2}, at[2] = {0, 0};
    double x[8] = {0.0};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(how, 2, size) >= 0);
    assert_true(H5Pset_filter(how, 32000, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    hid_t data = H5Dcreate2(file, "observations", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how,
                            H5P_DEFAULT);
    assert_true(data >= 0);
    assert_true(H5Dwrite_chunk(data, H5P_DEFAULT, 0, at, sizeof x, x) >= 0);
    H5Dclose(data);
    H5Pclose(how);
    H5Sclose(space);
    H5Fclose(file);
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_read(&log, path, NULL, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "lzf.h5: observations is packed with lzf, expected gzip "
                                     "(deflate), shuffle, fletcher32 or nothing; write it "
                                     "again with h5py and compression=\"gzip\""));
    remove(path);
}

static void cut_off(void **unused)
{
    (void)unused;
    refuse_all_cuts(sample_path("d4rl.hdf5"), "cut.h5");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    fail_each_allocation(sample_path("d4rl.hdf5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),         cmocka_unit_test(after_a_user_block),
        cmocka_unit_test(arrays_by_name),  cmocka_unit_test(sums_for_rewards),
        cmocka_unit_test(what_options_do), cmocka_unit_test(many_groups),
        cmocka_unit_test(bad_files),       cmocka_unit_test(other_layouts),
        cmocka_unit_test(many_rows),       cmocka_unit_test(never_written),
        cmocka_unit_test(cut_off),         cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(packed_by_lzf),   cmocka_unit_test(formulas_for_rewards),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
