// test_layouts.c - text files that are laid out otherwise than as a header and rows.

#include "log/sample.h"

// ---------------------------------------------------------------------------- helpers

static rh_status read_bytes(const char *text, size_t n, const rh_log_options *opt, rh_log **log,
                            rh_error *err)
{
    const char *path = in_folder("plant");
    rh_log_options plain = as_it_is();
    spill(path, text, n);
    rh_status rc = rh_log_read(log, path, opt ? opt : &plain, err);
    unlink(path);
    return rc;
}

static rh_log *read_with(const char *text, const rh_log_options *opt)
{
    rh_log *log = NULL;
    rh_error err = {""};
    if (read_bytes(text, strlen(text), opt, &log, &err))
        fail_msg("%s", err.text);
    return log;
}

static rh_log *read_text(const char *text)
{
    return read_with(text, NULL);
}

// The whole message.
static void refused_with(const char *text, const rh_log_options *opt, const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    if (read_bytes(text, strlen(text), opt, &log, &err) == RH_OK)
        fail_msg("read, expected '%s'", message);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    const char *found = strstr(err.text, "plant");
    assert_non_null(found);
    assert_string_equal(found, message);
}

static void refused(const char *text, const char *message)
{
    rh_log_options opt = rh_log_defaults();
    refused_with(text, &opt, message);
}

// ---------------------------------------------------------------------------- line ends

static void carriage_returns(void **unused)
{
    (void)unused;
    rh_log *log = read_text("x,action,reward\r1,a,0\r2,b,0.5\r\r3,a,1\r");
    assert_int_equal(log->n, 2);
    assert_true(log->obs[2] == 3.0);
    assert_int_equal(log->line[2], 5);
    assert_true(has_note(log, "carriage return"));
    rh_log_destroy(log);

    // more than what decides, and a \r inside quotes of a text with \n
    rh_text text = {0};
    rh_text__add(&text, "x,action,reward\r");
    for (int i = 0; i < 20000; i++)
        rh_text__format(&text, "%d,%d,0\r", i, i % 2);
    log = read_text(text.data);
    assert_int_equal(log->n, 19999);
    assert_true(log->obs[19999] == 19999.0);
    rh_log_destroy(log);
    rh_text__clear(&text);
    log = read_text("action,\"x\ry\",reward\n1,0,0\n2,1,0\n");
    assert_int_equal(log->n, 1);
    assert_false(has_note(log, "carriage return"));
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- status words

static void words_suggested(void **unused)
{
    (void)unused;
    refused("temp,level,action,reward\n1,2,0,0\nBad Input,3,1,0\n2,I/O Timeout,0,0\n"
            "2,4,1,0\nBad Input,5,0,0\n3,6,0,0\n",
            "plant:3: column 'temp': found 'Bad Input', expected a number as in the other "
            "rows; or name the observations with --obs; if this means a missing value: "
            "--missing 'Bad Input,I/O Timeout'");
    rh_log_options opt = as_it_is();
    opt.missing_words = "Bad Input,I/O Timeout";
    rh_log *log = read_with("temp,level,action,reward\n1,2,0,0\nBad Input,3,1,0\n"
                            "2,I/O Timeout,0,0\n2,4,1,0\n",
                            &opt);
    assert_int_equal(log->reading.nmissing, 2);
    rh_log_destroy(log);

    // late in the file
    rh_text text = {0};
    rh_text__add(&text, "temp,action,reward\n");
    for (int i = 0; i < 1500; i++)
        rh_text__format(&text, "%s,%d,0\n",
                        i == 1200   ? "Bad"
                        : i == 1300 ? "No Data"
                                    : "20.5",
                        i % 2);
    refused(text.data, "plant:1202: column 'temp': found 'Bad', expected a number; if this "
                       "means a missing value: --missing 'Bad,No Data'");
    rh_text__clear(&text);

    // another notation is none
    refused(
        "temp,action,reward\n1.5,0,0\n\"1,5\",1,0\n2.5,0,0\n",
        "plant:3: column 'temp': found '1,5', expected a decimal point, as other numbers of "
        "the file have one; or say --decimal comma; or name the observations with --obs");
}

// ---------------------------------------------------------------------------- what is no log

static void no_logs(void **unused)
{
    (void)unused;
    refused("#{\"t_start\": 1650000000.1, \"env_id\": \"CartPole-v1\"}\nr,l,t\n9.0,9,0.1\n",
            "plant: it is a Monitor file of Stable-Baselines3, which has returns (r) and "
            "lengths (l) of episodes, expected a row per step with observations, actions and "
            "rewards; docs/logs.md shows how to log them");
    rh_text text = {0};
    rh_text__add(&text, "sensor");
    for (int i = 0; i < 10001; i++)
        rh_text__format(&text, ",%d", i);
    rh_text__add(&text, "\n");
    refused(text.data,
            "plant:1: the header has more than 10000 fields: a row per sensor and a column per "
            "step? expected a row per step; transpose the table");
    rh_text__clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carriage_returns),
        cmocka_unit_test(words_suggested),
        cmocka_unit_test(no_logs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
