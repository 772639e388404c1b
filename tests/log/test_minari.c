// test_minari.c - Minari datasets: as Minari writes them, as we do, and damaged.

#include "base/base_internal.h"
#include "log/hdf5_sample.h"

// ---------------------------------------------------------------------------- as Python wrote

static void samples(void **unused)
{
    (void)unused;
    // a Discrete space that starts at -1; the action 2 is never taken
    rh_log *log = read_log(sample_path("minari_box"), NULL);
    compare_with_expected(log, "minari_box");
    assert_string_equal(log->reading.format, "minari");
    assert_string_equal(log->label[0], "-1");
    assert_string_equal(log->label[3], "2");
    assert_int_equal(log->reading.nlost, 0);
    assert_true(has_note(log, "terminals = dataset terminations (bool)"));
    assert_false(has_note(log, "no metadata.json"));
    rh_log_destroy(log);

    // the data folder, and the file in it
    log = read_log(sample_path("minari_box/data"), NULL);
    compare_with_expected(log, "minari_box");
    rh_log_destroy(log);
    log = read_log(sample_path("minari_box/data/main_data.hdf5"), NULL);
    compare_with_expected(log, "minari_box");
    rh_log_destroy(log);

    log = read_log(sample_path("minari_dict"), NULL); // pair.0 is a category of 9 values
    static const char *const name[] = {"b_0",    "b_1",      "goal_0",
                                       "goal_1", "pair.0=0", "pair.0=1"};
    assert_int_equal(log->nobs, 14);
    same_texts(log->obs_name, name, 6);
    assert_string_equal(log->obs_name[12], "pair.0=8");
    assert_string_equal(log->obs_name[13], "pair.1");
    assert_string_equal(log->act_name[1], "action_1");
    assert_true(has_note(log, "pair.0 is a category: one number for each of 9 values"));
    rh_log_destroy(log);

    // attributes of the root, and episodes in the order of their numbers
    log = read_log(sample_path("minari_04.hdf5"), NULL);
    compare_with_expected(log, "minari_04.hdf5");
    assert_string_equal(log->label[0], "2");
    rh_log_destroy(log);
}

static void without_metadata(void **unused)
{
    (void)unused;
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("minari_dict/data/main_data.hdf5"), &n);
    spill(in_folder("alone.hdf5"), bytes, n);
    rh_log *log = read_log(in_folder("alone.hdf5"), NULL);
    compare_with_expected(log, "minari_dict"); // its keys are in order
    rh_log *hot = read_log(sample_path("minari_dict"), NULL);
    assert_int_equal(hot->nstate, log->nstate);
    for (int64_t i = 0; i < log->nstate; i++) {
        const double *x = log->obs + i * 6, *y = hot->obs + i * 14;
        for (int k = 0; k < 9; k++)
            assert_true(y[4 + k] == (x[4] == k));
        assert_true(y[0] == x[0]);
        assert_true(y[3] == x[3]);
        assert_true(y[13] == x[5]);
    }
    rh_log_destroy(hot);
    assert_true(has_note(log, "no metadata.json: read by the shapes of its datasets alone"));
    assert_string_equal(log->obs_name[4], "pair._index_0");
    rh_log_destroy(log);

    // a part of the observations
    rh_log_options opt = rh_log_defaults();
    opt.obs = "pair*,b";
    log = read_log(in_folder("alone.hdf5"), &opt);
    assert_int_equal(log->nobs, 4);
    assert_string_equal(log->obs_name[3], "b_1");
    rh_log_destroy(log);
    opt.obs = "gaol";
    refuses(in_folder("alone.hdf5"), &opt,
            "alone.hdf5: no part of the observations 'gaol'; did you mean 'goal'?");
    opt.obs = NULL;
    opt.reward = "x";
    refuses(in_folder("alone.hdf5"), &opt, "alone.hdf5: 'x' cannot be chosen");
    remove(in_folder("alone.hdf5"));
    free(bytes);
}

// A flag before the last step: s' is still known, and what follows is no start.
static void flags_before_the_end(void **unused)
{
    (void)unused;
    static const char *const group[] = {"episode_3", "episode_3/infos", NULL};
    static const double flag[] = {0, 1, 0, 0}, none[4];
    for (int i = 0; i < 2; i++) {
        const column all[] = {
            {"episode_3/observations", 5, 2, RH_HDF5_DOUBLE, NULL},
            {"episode_3/actions", 4, 1, RH_HDF5_DOUBLE, NULL},
            {"episode_3/rewards", 4, 0, RH_HDF5_DOUBLE, NULL},
            {"episode_3/terminations", 4, 0, RH_HDF5_BOOL, i ? flag : none},
            {"episode_3/truncations", 4, 0, RH_HDF5_BOOL, i ? none : flag},
            {"episode_3/infos/time", 5, 2, RH_HDF5_DOUBLE, NULL}, // no time of a step
            {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};
        make_hdf5(in_folder("early.hdf5"), group, all); // and no episode_0
        rh_log *log = read_log(in_folder("early.hdf5"), NULL);
        assert_string_equal(log->reading.format, "minari");
        assert_int_equal(log->n, 4);
        assert_int_equal(log->nepisode, 2);
        assert_int_equal(log->reading.nlost, 0);
        assert_int_equal(log->flag[1], i ? RH_FLAG_TERMINAL : RH_FLAG_TRUNCATED);
        assert_true(log->obs[2 * log->to[1]] == 4.0);
        assert_int_equal(log->start[1], 0);
        assert_null(log->time);
        rh_log_destroy(log);
    }
    rh_log_options opt = rh_log_defaults();
    opt.time = "infos/time";
    refuses(in_folder("early.hdf5"), &opt,
            "early.hdf5: episode_3/infos/time has shape (5, 2), expected one number a row");
    remove(in_folder("early.hdf5"));
}

static void options(void **unused)
{
    (void)unused;
    const char *path = sample_path("minari_box");
    rh_log_options opt = rh_log_defaults();

    // a truncation inside an episode loses nothing, and what follows is no start
    opt.episode_steps = 2;
    rh_log *log = read_log(path, &opt);
    assert_int_equal(log->n, 8);
    assert_int_equal(log->nepisode, 5); // 2 + 2 + 1, 2 + 1
    assert_int_equal(log->start[0], 1);
    assert_int_equal(log->start[1], 0);
    assert_int_equal(log->start[3], 1);
    assert_int_equal(log->reading.nlost, 0);
    assert_int_equal(log->flag[1], RH_FLAG_TRUNCATED);
    rh_log_destroy(log);

    opt = rh_log_defaults();
    opt.reward_of = RH_REWARD_OF_STATE;
    log = read_log(path, &opt);
    assert_int_equal(log->n, 6);
    rh_log *plain = read_log(path, NULL);
    assert_true(log->reward[0] == plain->reward[1]);
    assert_true(log->reward[4] == plain->reward[6]);
    rh_log_destroy(plain);
    rh_log_destroy(log);

    opt = rh_log_defaults();
    opt.action_kind = RH_ACTION_CONTINUOUS;
    log = read_log(path, &opt);
    assert_int_equal(log->naction, 0);
    rh_log_destroy(log);
    opt = rh_log_defaults();
    opt.actions = "0,1,2";
    refuses(path, &opt, " of episode_0/actions is -1, expected one of the actions (0 to 2)");
}

// ---------------------------------------------------------------------------- bad files

static const double last[] = {0, 0, 1}, nan_flag[] = {0, (double)NAN, 1};

static const column good[] = {{"episode_0/observations", 4, 2, RH_HDF5_DOUBLE, NULL},
                              {"episode_0/actions", 3, 1, RH_HDF5_DOUBLE, NULL},
                              {"episode_0/rewards", 3, 0, RH_HDF5_DOUBLE, NULL},
                              {"episode_0/terminations", 3, 0, RH_HDF5_BOOL, last},
                              {"episode_0/truncations", 3, 0, RH_HDF5_BOOL, last},
                              {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};

static void refuse_with(const column *other, const char *words)
{
    static const char *const group[] = {"episode_0", NULL};
    refuse_changed(group, good, other, words);
}

static void bad_files(void **unused)
{
    (void)unused;
    refuse_with(&(column){"episode_0/observations", 3, 2, RH_HDF5_DOUBLE, NULL},
                "bad.h5: episode_0/observations has 3 rows, expected 4: one more than "
                "episode_0/rewards");
    refuse_with(&(column){"episode_0/actions", 4, 1, RH_HDF5_DOUBLE, NULL},
                "bad.h5: episode_0/actions has 4 rows, expected 3: as in episode_0/rewards");
    refuse_with(&(column){"episode_0/rewards", 3, 2, RH_HDF5_DOUBLE, NULL},
                "bad.h5: episode_0/rewards has shape (3, 2), expected one number a row");
    refuse_with(&(column){"episode_0/terminations", 3, 0, RH_HDF5_DOUBLE, nan_flag},
                "bad.h5: row 1 of episode_0/terminations is NaN, expected 0 or 1");
    refuse_with(&(column){"episode_0/truncations", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no dataset episode_0/truncations");
    refuse_with(&(column){"episode_0/observations", -1, 0, RH_HDF5_DOUBLE, NULL},
                "bad.h5: no dataset episode_0/observations");
    refuse_with(&(column){"episode_0/observations", 4, 257, RH_HDF5_DOUBLE, NULL},
                "bad.h5: episode_0/observations has shape (4, 257), expected 1 to 256 numbers");
    refuse_with(&(column){"episode_0/rewards", 0, 0, RH_HDF5_DOUBLE, NULL},
                "expected 1: one more than episode_0/rewards");
}

// A copy of a sample's file with another metadata.json.
// A dataset in the folder d, with this metadata.
static void make_dataset(const char *text)
{
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("minari_box/data/main_data.hdf5"), &n);
    mkdir(in_folder("d"), 0777);
    mkdir(in_folder("d/data"), 0777);
    if (!strstr(text, "arrow"))
        spill(in_folder("d/data/main_data.hdf5"), bytes, n);
    spill(in_folder("d/data/metadata.json"), text, strlen(text));
    free(bytes);
}

static void remove_dataset(void)
{
    remove(in_folder("d/data/main_data.hdf5"));
    remove(in_folder("d/data/metadata.json"));
    rmdir(in_folder("d/data"));
    rmdir(in_folder("d"));
}

static void refuse_metadata(const char *text, const char *words)
{
    make_dataset(text);
    refuses(in_folder("d"), NULL, words);
    remove_dataset();
}

static void episodes_missing(void **unused)
{
    (void)unused;
    make_dataset("{\"total_episodes\": 900}");
    rh_log *log = read_log(in_folder("d"), NULL);
    assert_true(has_note(log, "metadata.json says 900 episodes, the file has "));
    rh_log_destroy(log);
    log = read_log(sample_path("minari_box"), NULL);
    assert_false(has_note(log, "metadata.json says"));
    rh_log_destroy(log);
    remove_dataset();
}

static void bad_metadata(void **unused)
{
    (void)unused;
    refuse_metadata(
        "{\"data_format\": \"arrow\"}",
        "/d: a Minari dataset with data_format arrow, expected hdf5 (main_data.hdf5);");
    refuse_metadata("{\"data_format\": \"hdf6\"}",
                    "main_data.hdf5: data_format hdf6, expected");
    refuse_metadata("{", "metadata.json:1: not JSON: ");
    refuse_metadata("{\"observation_space\": {\"type\": \"Text\"}}",
                    "main_data.hdf5: observations are text, expected numbers");
    refuse_metadata("{\"observation_space\": {\"type\": \"Box\", \"shape\": [2]}}",
                    "episode_0/observations has 3 numbers a row, expected 2 as in its space");
    refuse_metadata("{\"observation_space\": {\"type\": \"Dict\", \"subspaces\": {\"im\": "
                    "{\"type\": \"Box\", \"dtype\": \"uint8\", \"shape\": [64, 64]}}}}",
                    "main_data.hdf5: observations im are images (JPEG)");
    refuse_metadata("{\"observation_space\": {\"type\": \"Dict\", \"subspaces\": {}}, "
                    "\"action_space\": {\"type\": \"Discrete\", \"n\": 300}}",
                    "main_data.hdf5: 300 different actions, expected at most 256");
    refuse_metadata("{\"action_space\": {\"type\": \"Discrete\", \"n\": 3}}",
                    "is -1, expected one of the actions (0 to 2)");
}

// ---------------------------------------------------------------------------- spaces

// A dataset in the folder d of one episode: observations 3, 4, 5, 6 and actions (n x 2).
static void make_spaces(const char *observation, const char *action)
{
    static const char *const group[] = {"episode_0", NULL};
    static const double none[3], obs[] = {3, 4, 5, 6}, act[] = {1, 0, 0, 2, 1, 0};
    char text[600];
    const column all[] = {{"episode_0/observations", 4, 0, RH_HDF5_INT64, obs},
                          {"episode_0/actions", 3, 2, RH_HDF5_INT64, act},
                          {"episode_0/rewards", 3, 0, RH_HDF5_DOUBLE, NULL},
                          {"episode_0/terminations", 3, 0, RH_HDF5_BOOL, none},
                          {"episode_0/truncations", 3, 0, RH_HDF5_BOOL, none},
                          {NULL, 0, 0, RH_HDF5_DOUBLE, NULL}};
    snprintf(text, sizeof text, "{\"observation_space\": %s, \"action_space\": %s}",
             observation, action);
    mkdir(in_folder("d"), 0777);
    mkdir(in_folder("d/data"), 0777);
    make_hdf5(in_folder("d/data/main_data.hdf5"), group, all);
    spill(in_folder("d/data/metadata.json"), text, strlen(text));
}

#define OF_4 "{\"type\": \"Discrete\", \"n\": 4, \"start\": 3}"
#define OF_6 "{\"type\": \"MultiDiscrete\", \"nvec\": [2, 3]}"

static void categories_and_products(void **unused)
{
    (void)unused;
    make_spaces(OF_4, OF_6);
    rh_log *log = read_log(in_folder("d"), NULL);
    assert_int_equal(log->nobs, 4);
    assert_string_equal(log->obs_name[0], "obs=3");
    assert_string_equal(log->obs_name[3], "obs=6");
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            assert_true(log->obs[i * 4 + k] == (i == k));
    static const char *const label[] = {"0/2", "1/0"};
    assert_int_equal(log->naction, 2); // those that occur
    same_texts(log->label, label, 2);
    assert_true(log->act[0] == 1.0);
    assert_true(log->act[1] == 0.0);
    assert_true(log->act[2] == 1.0);
    assert_true(has_note(log, "the combinations that occur, of 6 possible"));
    rh_log_destroy(log);

    rh_log_options opt = rh_log_defaults();
    opt.action_kind = RH_ACTION_CONTINUOUS;
    log = read_log(in_folder("d"), &opt);
    assert_int_equal(log->naction, 0);
    assert_int_equal(log->nact, 2);
    rh_log_destroy(log);
    remove_dataset();

    // too many, and values outside of their space
    make_spaces(OF_4, "{\"type\": \"MultiDiscrete\", \"nvec\": [17, 16]}");
    refuses(in_folder("d"), NULL, "actions have 272 combinations, expected at most 256; say");
    opt.action_kind = RH_ACTION_DISCRETE;
    log = read_log(in_folder("d"), &opt);
    assert_int_equal(log->naction, 2);
    rh_log_destroy(log);
    remove_dataset();
    make_spaces(OF_4, "{\"type\": \"MultiBinary\", \"n\": 2}");
    rh_log_destroy(read_log(in_folder("d"), NULL));
    remove_dataset();
    make_spaces("{\"type\": \"Discrete\", \"n\": 6}", OF_6);
    refuses(in_folder("d"), NULL,
            "row 3 of episode_0/observations is 6, expected a whole number "
            "from 0 to 5");
    remove_dataset();
    make_spaces("{\"type\": \"Discrete\", \"n\": 500}", OF_6);
    refuses(in_folder("d"), NULL,
            "is a category of 500 values, expected at most 256 numbers in an observation");
    remove_dataset();
}

// Minari lists a dataset whose id is its path below "datasets".
static void namespaces(void **unused)
{
    (void)unused;
    rh_log *log = read_log(sample_path("minari_box"), NULL);
    rh_error err;
    size_t n = 0;
    mkdir(in_folder("datasets"), 0777);
    assert_int_equal(
        rh_log_write(log, in_folder("datasets/plant/north/tank-v0"), "minari", &err), RH_OK);
    char *text =
        (char *)slurp(in_folder("datasets/plant/north/tank-v0/data/metadata.json"), &n);
    text[n] = 0;
    assert_non_null(strstr(text, "\"plant/north/tank-v0\""));
    free(text);
    rh_log_destroy(log);
    remove(in_folder("datasets/plant/north/tank-v0/data/metadata.json"));
    remove(in_folder("datasets/plant/north/tank-v0/data/main_data.hdf5"));
    static const char *const made[] = {"datasets/plant/north/tank-v0/data",
                                       "datasets/plant/north/tank-v0", "datasets/plant/north",
                                       "datasets/plant", "datasets"};
    for (int i = 0; i < 5; i++)
        assert_int_equal(rmdir(in_folder(made[i])), 0);
}

// ---------------------------------------------------------------------------- as we write

static void check_round_trip(const rh_log *log, const char *path, const char *format)
{
    rh_error err = {""};
    if (rh_log_write(log, path, format, &err))
        fail_msg("%s", err.text);
    rh_log *again = read_log(path, NULL);
    same_logs(log, again);
    rh_log_destroy(again);
}

static void round_trips(void **unused)
{
    (void)unused;
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("ours.hdf5"));
    for (int i = 0; i < 60; i++) {
        rh_log *log = random_log((uint64_t)i, (actions)(i % 5), i % 2);
        check_round_trip(log, path, NULL);
        rh_log_destroy(log);
    }
    remove(path);
}

static void folders(void **unused)
{
    (void)unused;
    rh_log *log = random_log(7, SCATTERED, true);
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("plant-v3"));
    check_round_trip(log, path, "minari");
    check_round_trip(log, path, "minari"); // over an old one
    size_t n = 0;
    unsigned char *json = slurp(in_folder("plant-v3/data/metadata.json"), &n);
    json[n - 1] = 0;
    assert_non_null(strstr((char *)json, "\"dataset_id\": \"plant-v3\""));
    free(json);

    // the main file beside it gets its metadata too
    check_round_trip(log, in_folder("plant-v3/main_data.hdf5"), NULL);
    json = slurp(in_folder("plant-v3/metadata.json"), &n);
    json[n - 1] = 0;
    assert_non_null(strstr((char *)json, "\"dataset_id\": \"plant-v3\""));
    free(json);
    remove(in_folder("plant-v3/data/metadata.json"));
    remove(in_folder("plant-v3/data/main_data.hdf5"));
    remove(in_folder("plant-v3/metadata.json"));
    remove(in_folder("plant-v3/main_data.hdf5"));
    rmdir(in_folder("plant-v3/data"));
    rmdir(path);

    // impossible: no file is left
    rh_error err;
    assert_int_equal(rh_log_write(log, in_folder("no/such"), "minari", &err), RH_EIO);
    assert_non_null(strstr(err.text, "no/such: cannot make the folder: "));
    assert_int_equal(rh_log_write(log, in_folder("no/such.h5"), NULL, &err), RH_EIO);
    spill(in_folder("file"), "x", 1);
    assert_int_equal(rh_log_write(log, in_folder("file"), "minari", &err), RH_EIO);
    remove(in_folder("file"));
    rh_log_destroy(log);
}

static void same_bytes(void **unused)
{
    (void)unused;
    rh_log *log = random_log(1, NUMBERED, true);
    size_t n = 0, m = 0;
    assert_int_equal(rh_log_write(log, in_folder("a.h5"), NULL, NULL), RH_OK);
    unsigned char *a = slurp(in_folder("a.h5"), &n);
    assert_int_equal(rh_log_write(log, in_folder("a.h5"), "minari", NULL), RH_OK);
    unsigned char *b = slurp(in_folder("a.h5"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    remove(in_folder("a.h5"));
    rh_log_destroy(log);
}

static void cut_off(void **unused)
{
    (void)unused;
    refuse_all_cuts(sample_path("minari_04.hdf5"), "cut.h5");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    fail_each_allocation(sample_path("minari_dict"));
    fail_each_allocation(sample_path("minari_04.hdf5"));
    rh_log *log = random_log(2, NAMED, true);
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("memory"));
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t k = 1; rc; k++) {
        rh_base__alloc_fail_at(k);
        rc = rh_log_write(log, path, "minari", NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_int_equal(access(path, F_OK) == 0, rc == RH_OK);
    }
    remove(in_folder("memory/data/metadata.json"));
    remove(in_folder("memory/data/main_data.hdf5"));
    rmdir(in_folder("memory/data"));
    rmdir(path);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(without_metadata),
        cmocka_unit_test(flags_before_the_end),
        cmocka_unit_test(episodes_missing),
        cmocka_unit_test(options),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(bad_metadata),
        cmocka_unit_test(categories_and_products),
        cmocka_unit_test(namespaces),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(folders),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
