// test_metadata.c - the metadata of Minari datasets: every kind of space, and invalid ones.

#include "base/base_internal.h"
#include "log/metadata.h"
#include "log/sample.h"

static rh_minari__space parse(const char *text)
{
    rh_minari__space space = {0};
    rh_error err = {""};
    if (rh_metadata__parse_space(&space, text, strlen(text), "m.json", &err))
        fail_msg("%s", err.text);
    return space;
}

static void refuse(const char *text, const char *words)
{
    rh_minari__space space = {0};
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_metadata__parse_space(&space, text, strlen(text), "m.json", &err),
                     RH_EFORMAT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    rh_free(space.leaf);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void spaces(void **unused)
{
    (void)unused;
    rh_minari__space s = parse("{\"type\": \"Box\", \"dtype\": \"float32\", \"shape\": [2, 3], "
                               "\"low\": [-Infinity, NaN], \"high\": [Infinity, 1]}");
    assert_int_equal(s.nleaf, 1);
    assert_int_equal(s.leaf[0].width, 6);
    assert_string_equal(s.leaf[0].path, "");
    assert_false(s.leaf[0].image);
    rh_free(s.leaf);
    s = parse("\"{\\\"type\\\": \\\"Discrete\\\", \\\"n\\\": 3, \\\"start\\\": -1}\"");
    assert_int_equal(s.leaf[0].kind, RH_SPACE_DISCRETE);
    assert_int_equal(s.leaf[0].n, 3);
    assert_int_equal(s.leaf[0].start, -1);
    rh_free(s.leaf);
    s = parse("{\"type\": \"MultiDiscrete\", \"nvec\": [[2, 3], [4, 5]], \"start\": [0]}");
    assert_int_equal(s.leaf[0].width, 4);
    rh_free(s.leaf);
    s = parse("{\"type\": \"MultiBinary\", \"n\": [2, 5]}");
    assert_int_equal(s.leaf[0].width, 10);
    rh_free(s.leaf);
    s = parse("{\"type\": \"Box\", \"dtype\": \"uint8\", \"shape\": [64, 64, 3]}");
    assert_true(s.leaf[0].image);
    rh_free(s.leaf);
    s = parse("{\"type\": \"Text\", \"charset\": \"a\\u0000 Infinity\"}");
    assert_int_equal(s.leaf[0].kind, RH_SPACE_TEXT);
    rh_free(s.leaf);
}

static void nested_spaces(void **unused)
{
    (void)unused;
    rh_minari__space s =
        parse("{\"type\": \"Dict\", \"subspaces\": {\"z\": {\"type\": \"Discrete\", "
              "\"n\": 2}, \"a\": {\"type\": \"Tuple\", \"subspaces\": [{\"type\": "
              "\"Box\", \"shape\": []}, {\"type\": \"Dict\", \"subspaces\": {\"q\": "
              "{\"type\": \"MultiBinary\", \"n\": 4}}}, {\"type\": \"Box\", "
              "\"shape\": [0]}]}}}");
    assert_int_equal(s.nleaf, 3);
    assert_string_equal(s.leaf[0].path, "z"); // as written
    assert_string_equal(s.leaf[1].path, "a/_index_0");
    assert_string_equal(s.leaf[1].name, "a.0");
    assert_int_equal(s.leaf[1].width, 1);
    assert_string_equal(s.leaf[2].path, "a/_index_1/q");
    assert_string_equal(s.leaf[2].name, "a.1.q");
    rh_free(s.leaf);
}

static void bad_spaces(void **unused)
{
    (void)unused;
    refuse("", "m.json:1: not JSON: ");
    refuse("{\"type\": \"Box\",\n \"shape\": [2, }", "m.json:2: not JSON: ");
    refuse("[1]", "m.json: the space has no type");
    refuse("{\"type\": 7}", "m.json: the space has no type");
    refuse("{\"type\": \"Graph\"}", "m.json: the space of type Graph cannot be used");
    refuse("{\"type\": \"Box\"}", "m.json: the space of type Box cannot be used");
    refuse("{\"type\": \"Box\", \"shape\": [-2]}", "of type Box cannot be used");
    refuse("{\"type\": \"Box\", \"shape\": [200000000, 200000000]}", "of type Box cannot be");
    refuse("{\"type\": \"Discrete\", \"n\": 0}", "of type Discrete cannot be used");
    refuse("{\"type\": \"Discrete\", \"n\": 2, \"start\": 9007199254740992}",
           "of type Discrete");
    refuse("{\"type\": \"Dict\"}", "the space has no subspaces");
    refuse("{\"type\": \"Dict\", \"subspaces\": {\"a\": {\"type\": \"Tuple\"}}}",
           "m.json: the space a has no subspaces");
    char deep[4000] = "";
    for (int i = 0; i < 40; i++)
        strcat(deep, "{\"type\": \"Tuple\", \"subspaces\": [");
    strcat(deep, "{\"type\": \"Discrete\", \"n\": 2}");
    for (int i = 0; i < 40; i++)
        strcat(deep, "]}");
    refuse(deep, "m.json: the space is nested too deeply");
}

static void whole_files(void **unused)
{
    (void)unused;
    rh_metadata m = {0};
    rh_error err = {""};
    size_t n = 0;
    unsigned char *text = slurp(sample_path("minari_dict/data/metadata.json"), &n);
    assert_int_equal(rh_metadata__parse(&m, (char *)text, n, "m.json", &err), RH_OK);
    assert_string_equal(m.format, "hdf5");
    assert_true(m.jpeg);
    assert_int_equal(m.observation.nleaf, 4);
    assert_string_equal(m.observation.leaf[0].name, "b");
    assert_string_equal(m.observation.leaf[3].path, "pair/_index_1");
    assert_int_equal(m.action.leaf[0].width, 2);
    rh_metadata__clear(&m);
    free(text);
    assert_int_equal(rh_metadata__parse(&m, "[]", 2, "m.json", &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "m.json: not an object"));
    assert_int_equal(rh_metadata__parse(&m, "{}", 2, "m.json", &err), RH_OK);
    assert_int_equal(m.observation.nleaf, 0);
    rh_metadata__clear(&m);
}

static void what_we_write(void **unused)
{
    (void)unused;
    rh_error err;
    for (int kind = NAMED; kind <= WHOLE; kind++) {
        rh_log *log = random_log(5, (actions)kind, false);
        rh_metadata__own own = {0};
        char *text = rh_metadata__print_own(log);
        assert_int_equal(rh_metadata__parse_own(&own, text, strlen(text), "own", &err), RH_OK);
        assert_int_equal(own.continuous, log->naction == 0);
        assert_int_equal(own.nlabel, log->naction);
        assert_int_equal(own.nobs_name, log->nobs);
        same_texts((const char *const *)own.obs_name, log->obs_name, log->nobs);
        same_texts((const char *const *)own.obs_unit, log->obs_unit, log->nobs);
        same_texts((const char *const *)own.label, log->label, log->naction);
        assert_string_equal(own.reward_name, "income");
        rh_metadata__clear_own(&own);
        free(text);

        rh_metadata m = {0};
        text = rh_metadata__print(log, "a/b-v0", 3, 0.1);
        assert_int_equal(rh_metadata__parse(&m, text, strlen(text), "m.json", &err), RH_OK);
        assert_int_equal(m.observation.leaf[0].width, log->nobs);
        assert_int_equal(m.action.leaf[0].kind,
                         log->naction ? RH_SPACE_DISCRETE : RH_SPACE_BOX);
        assert_int_equal(m.action.leaf[0].start, kind == NUMBERED ? -1 : 0);
        assert_false(m.jpeg);
        rh_metadata__clear(&m);
        free(text);
        rh_log_destroy(log);
    }
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    static const char text[] = "{\"action_labels\": [\"a\", \"b\"], \"obs_names\": [\"x\"], "
                               "\"reward_name\": \"r\", \"obs_units\": [3]}";
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int n = 1; rc; n++) {
        rh_metadata__own own = {0};
        rh_base__alloc_fail_at(n);
        rc = rh_metadata__parse_own(&own, text, sizeof text - 1, "own", NULL);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rc, n < 5 ? RH_ENOMEM : RH_OK);
        assert_int_equal(own.nobs_unit, 0); // not texts
        rh_metadata__clear_own(&own);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces),        cmocka_unit_test(nested_spaces),
        cmocka_unit_test(bad_spaces),    cmocka_unit_test(whole_files),
        cmocka_unit_test(what_we_write), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
