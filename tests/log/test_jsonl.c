// test_jsonl.c - logs of JSON lines.

#include "log/sample.h"

#include <zlib.h>

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

#define BATCHES                                                                                \
    "{\"type\": \"SampleBatch\", \"obs\": [[1, 2], [3, 4]], \"new_obs\": [[3, 4], [5, 6]], "   \
    "\"actions\": [0, 1], \"rewards\": [0.5, 1.5], \"terminateds\": [false, true], "           \
    "\"eps_id\": [7, 7], \"infos\": [{}, {}], \"count\": 2}\n"                                 \
    "{\"type\": \"SampleBatch\", \"obs\": [[9, 9]], \"new_obs\": [[8, 8]], \"actions\": [1], " \
    "\"rewards\": [2.5], \"terminateds\": [true], \"eps_id\": [8], \"infos\": [{}]}\n"

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
        rh_status rc = read_text(BATCHES, &log, &err);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        done = rc == RH_OK;
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(n < 1000);
    }
}

// ---------------------------------------------------------------------------- other layouts

static rh_log *read_log_of(const char *text)
{
    rh_log *log = NULL;
    rh_error err = {""};
    if (read_text(text, &log, &err))
        fail_msg("%s", err.text);
    return log;
}

static void arrays(void **unused)
{
    (void)unused;
    rh_log *log = read_log_of("[{\"x\": 1, \"action\": \"a{\", \"reward\": 1},\n\n"
                              "  {\"x\": 2, \"action\": \"b\\\"}\", \"reward\": 2} ,\n"
                              "  {\n \"x\": 3,\n \"action\": \"a{\", \"reward\": 3\n}\n]\n");
    assert_int_equal(log->n, 2);
    assert_true(log->obs[2] == 3.0);
    assert_string_equal(log->label[1], "b\"}");
    assert_string_equal(log->reading.place, "line");
    assert_int_equal(log->line[1], 3);
    assert_int_equal(log->line[2], 4);
    rh_log_destroy(log);

    // all on one line: rows are counted instead
    log = read_log_of("[{\"x\":1,\"action\":0,\"reward\":1},{\"x\":2,\"action\":1,"
                      "\"reward\":2}]");
    assert_int_equal(log->n, 1);
    assert_string_equal(log->reading.place, "row");
    assert_int_equal(log->line[0], 0);
    rh_log_destroy(log);

    refused("[{\"x\": 1}\n{\"x\": 2}]",
            "log.jsonl:2: no comma between two objects, expected an "
            "array of JSON objects");
    refused("[{\"x\": 1}", "log.jsonl:1: truncated: the array has no end, expected an array of "
                           "JSON objects");
    refused("[{\"x\": 1", "log.jsonl:1: truncated: the last object has no end, expected an "
                          "array of JSON objects");
    refused("[{\"x\": 1}]\n{}",
            "log.jsonl:2: something follows the array, expected an array of "
            "JSON objects");
    refused("[{\"x\": 1}, 2]",
            "log.jsonl:1: something else than an object, expected an array of "
            "JSON objects");
    refused("{\"data\": [{\"x\": 1}, {\"x\": 2}]}",
            "log.jsonl:1: one object that holds all in the list data, expected an array, or an "
            "object per line as from jq -c '.data[]'");
}

static void batches(void **unused)
{
    (void)unused;
    rh_log *log = read_log_of(BATCHES);
    assert_int_equal(log->n, 3);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->nobs, 2);
    assert_true(log->obs[2 * log->to[1]] == 5.0);
    assert_true(log->reward[2] == 2.5);
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    rh_log_destroy(log);

    log =
        read_log_of("{\"type\": \"MultiAgentBatch\", \"count\": 2, \"policy_batches\": {\"p\": "
                    "{\"obs\": [[1], [2]], \"actions\": [0, 1], \"rewards\": [1, 2]}}}");
    assert_int_equal(log->n, 1);
    rh_log_destroy(log);
    log = read_log_of("{\"x\": [1, 2, 3], \"action\": [0, 1, 0], \"reward\": [0, 0, 1]}");
    assert_int_equal(log->n, 2);
    assert_string_equal(log->obs_name[0], "x");
    rh_log_destroy(log);

    refused(
        "{\"type\": \"SampleBatch\", \"obs\": \"BCJNGGRwuAAA\", \"rewards\": [1]}",
        "log.jsonl:1: obs is packed (LZ4, base64) as RLlib does, expected numbers; write the "
        "batches with output_compress_columns=[]");
    refused("{\"type\": \"SampleBatch\", \"obs\": [[1], [2]], \"rewards\": [1]}",
            "log.jsonl:1: a batch whose list rewards has 1 entries, expected as many as in its "
            "other lists");
    refused("{\"type\": \"MultiAgentBatch\", \"policy_batches\": {\"a\": {}, \"b\": {}}}",
            "log.jsonl:1: an RLlib batch of several policies, expected one; write the "
            "policy_batches of each to a file of its own");
    refused("{\"type\": \"SampleBatch\"}",
            "log.jsonl:1: a batch without lists, expected a list per column");
}

// The content tells, not the name.
static void gzipped(void **unused)
{
    (void)unused;
    const char *path = in_folder("log.gz");
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_true(gzputs(file, PLANT) > 0);
    assert_int_equal(gzclose(file), Z_OK);
    rh_log *log = read_log(path, NULL);
    assert_string_equal(log->reading.format, "jsonl");
    assert_int_equal(log->n, 3);
    rh_log_destroy(log);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),    cmocka_unit_test(batches),
        cmocka_unit_test(gzipped),   cmocka_unit_test(a_plant),
        cmocka_unit_test(bad_lines), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
