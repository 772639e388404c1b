// test_jsonl.c - logs of JSON lines.

#include "log/sample.h"

static rh_status read_text(const char *text, rh_log **log, rh_error *err)
{
    const char *path = in_folder("log.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    rh_log_options opt = as_it_is();
    rh_status rc = rh_log_read(log, path, &opt, err);
    unlink(path);
    return rc;
}

static void refused(const char *text, const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(read_text(text, &log, &err), RH_EFORMAT);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    const char *found = strstr(err.text, "log.jsonl");
    assert_non_null(found);
    assert_string_equal(found, message);
}

#define PLANT                                                                                  \
    "{\"obs\": [0.1, 2], \"action\": \"on\", \"reward\": 1.5, \"done\": false}\n"              \
    "\n"                                                                                       \
    "{\"action\": \"off\", \"obs\": [0.30000000000000004, null], \"reward\": -1, \"done\": "   \
    "false, "                                                                                  \
    "\"info\": {\"a b\": \"x\\n\\\"y\\\"\", \"n\": 3}}\n"                                      \
    "{\"obs\": [4, 5], \"action\": \"on\", \"reward\": 0, \"done\": true}"

static void a_plant(void **unused)
{
    (void)unused;
    rh_log *log = NULL;
    rh_error err = {""};
    if (read_text(PLANT, &log, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->n, 3);
    assert_int_equal(log->nobs, 2);
    assert_string_equal(log->obs_name[1], "obs_1");
    assert_true(log->obs[0] == 0.1);
    assert_true(log->obs[1] == 2.0);
    assert_true(log->obs[2] == 0.30000000000000004);
    assert_true(isnan(log->obs[3]));
    assert_true(log->reward[0] == 1.5);
    assert_true(log->reward[1] == -1.0);
    assert_string_equal(log->label[0], "off");
    assert_int_equal(log->flag[2], RH_FLAG_TERMINAL);
    assert_string_equal(log->reading.format, "jsonl");
    rh_log_destroy(log);
}

static void bad_lines(void **unused)
{
    (void)unused;
    refused(
        "{\"obs\": 1, \"action\": 0, \"reward\": 1}\n\n{\"obs\": \"hot\", \"action\": 1, "
        "\"reward\": 1}\n",
        "log.jsonl:3: column 'obs': found 'hot', expected a number as in the other rows; or "
        "name the observations with --obs");
    refused("{\"obs\": 1, \"action\": 0, \"reward\": NaN}\n",
            "log.jsonl:1: invalid token near 'NaN', expected one JSON object per line");
    refused("{\"obs\": 1}\n[1]\n", "log.jsonl:2: a list, expected one JSON object per line");
    refused("{}\n{}\n", "log.jsonl: no keys, expected one JSON object per line");
    refused("{\"a\": [[[[[[[[[1]]]]]]]]]}\n",
            "log.jsonl:1: objects or lists inside more than 8 others, expected fewer");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        rh_log *log = NULL;
        rh_error err = {""};
        rh_base__alloc_fail_at(n);
        rh_status rc = read_text(PLANT, &log, &err);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        done = rc == RH_OK;
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(n < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plant),
        cmocka_unit_test(bad_lines),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
