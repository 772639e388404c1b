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

// ---------------------------------------------------------------------------- before the
// header

static void preamble(void **unused)
{
    (void)unused;
    rh_log *log = read_text("Report:,Plant 7 \"trend\nCreated:,01.05.2024 12:00\n\n"
                            "temp,level,action,reward\n1,2,0,0\n2,3,1,0\n3,4,0,1\n");
    assert_int_equal(log->n, 2);
    assert_int_equal(log->line[0], 5);
    assert_string_equal(log->obs_name[0], "temp");
    assert_true(has_note(log, "3 lines before the header left out (--skip 3)"));
    rh_log_destroy(log);

    // every line has as many delimiters, as spreadsheets write them
    log = read_text("Plant 7;;;\nJane;1.5.2024;;\ntemp;level;action;reward\n1;2;0;0\n2;3;1;0\n"
                    "3;4;0;1\n");
    assert_int_equal(log->n, 2);
    assert_true(has_note(log, "2 lines before"));
    rh_log_destroy(log);

    // as the caller says
    rh_log_options opt = as_it_is();
    opt.skip = 1;
    log = read_with("a,b,c\ntemp,action,reward\n1,2,0\n2,3,1\n", &opt);
    assert_string_equal(log->obs_name[0], "temp");
    rh_log_destroy(log);
    opt.skip = 0;
    refused_with("Plant 7\ntemp,action,reward\n1,0,0\n2,1,0\n3,0,0\n", &opt,
                 "plant: no reward column: none of the columns (Plant 7) has a usual name; say "
                 "which it is with --reward NAME");

    // a header with too few names is none
    refused(
        "x,action,reward\n1,0,0,0\n2,1,0,0\n3,0,0,0\n",
        "plant:2: 4 fields, expected 3 as in the header; if other lines precede the header: "
        "--skip LINES");
    refused("x,action,reward\n1,0,0\n2,1\n3,0,0\n",
            "plant:3: 2 fields, expected 3 as in the header");
}

static void labview(void **unused)
{
    (void)unused;
    rh_log *log = read_text(
        "LabVIEW Measurement\t\nWriter_Version\t2\nSeparator\tTab\nDate\t2024/05/01\n"
        "***End_of_Header***\t\n\t\nChannels\t3\t\t\nSamples\t3\t3\t3\n"
        "X0\t0\t0\t0\n***End_of_Header***\t\t\t\n"
        "X_Value\ttemp\taction\treward\tComment\n0.0\t20.5\t0\t1\n0.1\t20.6\t1\t1\tvalve\n"
        "0.2\t20.7\t0\t1\n");
    assert_int_equal(log->n, 2);
    assert_int_equal(log->nobs, 1);
    assert_true(log->time[1] == 0.1);
    assert_true(has_note(log, "--skip 10"));
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- units

static void units(void **unused)
{
    (void)unused;
    rh_log *log = read_text("Time,temp,level [mm],action,reward\nUTC,[degC],m,-,EUR\n"
                            "2024-05-01T00:00:00Z,1,2,off,0\n2024-05-01T00:01:00Z,2,3,on,0\n"
                            "2024-05-01T00:02:00Z,3,4,off,0\n");
    assert_int_equal(log->n, 2);
    assert_int_equal(log->line[0], 3);
    assert_string_equal(log->obs_unit[0], "degC");
    assert_string_equal(log->obs_unit[1], "mm"); // the header's own
    assert_true(has_note(log, "line 2 holds units"));
    rh_log_destroy(log);

    // below a preamble, with a decimal comma
    log = read_text(
        "Anlage 7\n\nZeit;temp;action;reward\ns;K;;\n0;1,5;0;0\n1;2,5;1;0\n2;3,5;0;0\n");
    assert_int_equal(log->n, 2);
    assert_true(log->obs[1] == 1.5);
    assert_string_equal(log->obs_unit[1], "K");
    rh_log_destroy(log);

    // a name of an action is none, nor is a word beside a number
    refused("temp,action,reward\nBad,off,0\n1,on,0\n2,off,0\n3,on,0\n",
            "plant:2: column 'temp': found 'Bad', expected a number as in the other rows; or "
            "name the observations with --obs; if this means a missing value: --missing Bad");
    refused("temp,action,reward\nBad,off,Bad\n1,on,0\n2,off,0\n3,on,0\n",
            "plant:2: column 'temp': found 'Bad', expected a number as in the other rows; or "
            "name the observations with --obs; if this means a missing value: --missing Bad");
}

// ---------------------------------------------------------------------------- progress

typedef struct watched {
    int n;
    double share;
    bool stops;
} watched;

static void notice(void *context, const char *what, double share)
{
    watched *w = context;
    assert_string_equal(what, "reading the log");
    assert_true(share >= 0.0);
    assert_true(share <= 1.0);
    w->n++;
    w->share = share;
}

static bool stops(void *context)
{
    return ((const watched *)context)->stops;
}

static void progress(void **unused)
{
    (void)unused;
    watched w = {0};
    rh_log_options opt = as_it_is();
    opt.watch = (rh_watch){notice, stops, &w};
    rh_text text = {0};
    rh_text__add(&text, "x,action,reward\n");
    for (int i = 0; i < 50000; i++)
        rh_text__format(&text, "%d,%d,0\n", i, i % 2);
    rh_log *log = read_with(text.data, &opt);
    assert_true(w.n > 5);
    assert_true(w.share == 1.0);
    rh_log_destroy(log);
    w.stops = true;
    refused_with(text.data, &opt, "plant: stopped while it was read");
    rh_text__clear(&text);
}

// ---------------------------------------------------------------------------- names

static void hidden_characters(void **unused)
{
    (void)unused;
    rh_log *log = read_text("te\x1b[31mmp,\xe2\x80\xae"
                            "F\xc3\xbcllstand [\x1bm],action,reward\n"
                            "1,2,0,0\n2,3,1,0\n");
    assert_string_equal(log->obs_name[0], "te[31mmp");
    assert_string_equal(log->obs_name[1], "F\xc3\xbcllstand");
    assert_string_equal(log->obs_unit[1], "m");
    rh_log_destroy(log);
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
    rh_text__add(&text, "sensor");
    for (int i = 0; i < 30; i++)
        rh_text__format(&text, ",%d", i);
    rh_text__add(&text, "\n");
    refused(text.data, "plant:1: the header is 30 numbers: a row per sensor and a column per "
                       "step? expected a row per step; transpose the table");
    rh_text__clear(&text);
    refused(
        "Timestamp,Tagname,Value\n1,temp,2\n2,pump,1\n",
        "plant: each line holds one value (columns 'Tagname' and 'Value'), expected a row per "
        "step; make rows of them with --pivot 'Tagname,Value' --every TIME, such as 1m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carriage_returns),
        cmocka_unit_test(words_suggested),
        cmocka_unit_test(preamble),
        cmocka_unit_test(labview),
        cmocka_unit_test(units),
        cmocka_unit_test(hidden_characters),
        cmocka_unit_test(progress),
        cmocka_unit_test(no_logs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
