// test_csv_notation.c - tables as spreadsheets, loggers and pandas write them.

#include "log/sample.h"

#include "log/csv.h"

// ---------------------------------------------------------------------------- helpers

static rh_log *read_with(const char *text, const rh_log_options *opt)
{
    rh_log *log = NULL;
    rh_error err = {""};
    if (rh_csv__read_bytes(&log, text, strlen(text), "plant.csv", opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return log;
}

static rh_log *read_plain(const char *text)
{
    rh_log_options opt = as_it_is();
    return read_with(text, &opt);
}

// The whole message.
static void refused_with(const char *text, const rh_log_options *opt, const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    if (rh_csv__read_bytes(&log, text, strlen(text), "plant.csv", opt, &err) == RH_OK)
        fail_msg("read, expected '%s'", message);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_string_equal(err.text, message);
}

static void refused(const char *text, const char *message)
{
    rh_log_options opt = rh_log_defaults();
    refused_with(text, &opt, message);
}

static void assert_note(const rh_log *log, const char *words)
{
    for (int i = 0; i < log->reading.nnote; i++)
        if (strcmp(log->reading.note[i], words) == 0)
            return;
    for (int i = 0; i < log->reading.nnote; i++)
        print_message("note: %s\n", log->reading.note[i]);
    fail_msg("no note '%s'", words);
}

// ---------------------------------------------------------------------------- spreadsheets

static void excel_says_the_delimiter(void **unused)
{
    (void)unused;
    static const char *const text[] = {
        "sep=;\nobs_0;action;reward\n1.5;0;2\n3;1;4\n",
        "SEP=;\r\nobs_0;action;reward\r\n1.5;0;2\r\n3;1;4\r\n",
        "\"sep=;\"\nobs_0;action;reward\n1.5;0;2\n3;1;4\n",
        "\xef\xbb\xbfsep=\t\nobs_0\taction\treward\n1.5\t0\t2\n3\t1\t4\n",
        // against the guess: | would give more fields
        "sep=,\nobs_0|x|y|z,action,reward\n1.5,0,2\n3,1,4\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        rh_log *log = read_plain(text[i]);
        assert_int_equal(log->n, 1);
        assert_int_equal(log->nobs, 1);
        assert_true(log->obs[0] == 1.5);
        assert_true(log->obs[1] == 3.0);
        rh_log_destroy(log);
    }
    // line numbers count it
    refused("sep=;\nobs_0;action;reward\n1;0;2\nhot;1;4\n",
            "plant.csv:4: column 'obs_0': found 'hot', expected a number");
    // no such delimiter: an odd header
    refused("sep=:\nobs_0:action:reward\n", "plant.csv: no reward column: none of the columns "
                                            "(sep=:) has a usual name; say which it is with "
                                            "--reward NAME");
}

static void words_for_missing(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("temp,level,flow,action,reward\n1,2,3,0,0\n#N/A,<NA>,3,1,0\n"
                             "n/a,-,3,0,0\n#n/a,N/A,3,1,0\n5,6,3,1,0\n");
    assert_int_equal(log->nobs, 3);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->reading.nmissing, 6);
    rh_log_destroy(log);
}

// Words of the caller's own, in numbers, actions, flags and rewards.
static void words_by_option(void **unused)
{
    (void)unused;
    static const char *const text = "temp,level,action,reward,done\n1,2,on,0,0\nBad,3,off,0,0\n"
                                    "No Data,4,\"on\",0,Bad\n7,8,Bad,Bad,0\n";
    rh_log_options opt = as_it_is();
    refused(text, "plant.csv:3: column 'temp': found 'Bad', expected a number as in the other "
                  "rows; or name the observations with --obs; if this means a missing value: "
                  "--missing Bad");
    opt.missing_words = "Bad, No Data";
    rh_log *log = read_with(text, &opt);
    assert_int_equal(log->nobs, 2);
    assert_int_equal(log->n, 3);
    assert_int_equal(log->reading.nmissing, 2);
    assert_int_equal(log->naction, 2);
    rh_log_destroy(log);

    // a dash among names is asked for, unless the caller has said what it means
    opt.missing_words = "-";
    log = read_with("temp,action,reward\n1,on,0\n2,off,0\n3,on,0\n4,-,0\n", &opt);
    assert_int_equal(log->n, 3);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- decimal comma

static void decimal_commas(void **unused)
{
    (void)unused;
    static const char *const text[] = {
        "temp;level;action;reward\n20,5;-0,25;0;1\n21;1e3;1;-1,5e1\n22,125;3;0;0\n",
        "temp\tlevel\taction\treward\n20,5\t-0,25\t0\t1\n21\t1e3\t1\t-1,5e1\n22,125\t3\t0\t0\n",
        "t,h,action,reward\n\"20,5\",\"-0,25\",0,1\n21,1e3,1,\"-1,5e1\"\n\"22,125\",3,0,0\n",
    };
    for (int i = 0; i < 3; i++) {
        rh_log *log = read_plain(text[i]);
        assert_int_equal(log->n, 2);
        assert_int_equal(log->nobs, 2);
        assert_true(log->obs[0] == 20.5);
        assert_true(log->obs[1] == -0.25);
        assert_true(log->obs[3] == 1000.0);
        assert_true(log->obs[4] == 22.125);
        assert_true(log->reward[1] == -15.0);
        assert_note(log, "decimal comma");
        rh_log_destroy(log);
    }

    // actions and times too
    rh_log *log =
        read_plain("time;temp;action;reward\n0,5;1;0,25;1\n1,5;2;0,75;1\n2,5;3;0,1;1\n");
    assert_int_equal(log->naction, 0);
    assert_true(log->act[0] == 0.25);
    assert_true(log->time[1] == 1.5);
    rh_log_destroy(log);
}

static void doubtful_commas(void **unused)
{
    (void)unused;
    static const char *const text = "temp;action;reward\n1,234;0;1\n2,345;1;1\n3,456;0;1\n";
    rh_log_options opt = rh_log_defaults();
    refused(text, "plant.csv:2: column 'temp': found '1,234', expected 1.234 or 1234: say "
                  "--decimal comma, or write it without thousands separators; or name the "
                  "observations with --obs");
    opt.decimal = RH_DECIMAL_COMMA;
    rh_log *log = read_with(text, &opt);
    assert_true(log->obs[0] == 1.234);
    rh_log_destroy(log);

    // another number of the file tells: 0,5 or 1234,5
    log = read_plain("temp;level;action;reward\n1,234;0,5;0;1\n2,345;1;1;1\n");
    assert_true(log->obs[0] == 1.234);
    rh_log_destroy(log);
    log = read_plain("temp;level;action;reward\n1,234;1234,5;0;1\n2,345;1;1;1\n");
    assert_true(log->obs[0] == 1.234);
    assert_true(log->obs[1] == 1234.5);
    rh_log_destroy(log);

    // both signs in one file
    refused(
        "temp;level;action;reward\n1,5;2.5;0;1\n2,5;3.5;1;1\n",
        "plant.csv:2: column 'temp': found '1,5', expected a decimal point, as other numbers "
        "of the file have one; or say --decimal comma; or name the observations with --obs");
    refused_with(
        "temp;level;action;reward\n1,5;2.5;0;1\n2,5;3.5;1;1\n", &opt,
        "plant.csv:2: column 'level': found '2.5', expected a decimal comma, as other "
        "numbers of the file have one; or say --decimal point; or name the observations "
        "with --obs");
    // after the first 1,000 rows
    char *many = malloc(40000);
    assert_non_null(many);
    size_t n = (size_t)sprintf(many, "temp;action;reward\n");
    for (int i = 0; i < 1500; i++)
        n += (size_t)sprintf(many + n, "%d,5;%d;1\n", i, i % 2);
    sprintf(many + n, "1.234;0;1\n");
    refused(many, "plant.csv:1502: column 'temp': found '1.234', expected a decimal comma, as "
                  "other numbers of the file have one; or say --decimal point");
    free(many);
}

static void thousands_are_refused(void **unused)
{
    (void)unused;
    static const char *const number[] = {"1.234,5", "1 234,5",   "1'234.5",
                                         "1,234.5", "1.234.567", "-12,345,678"};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        char text[200], message[300];
        snprintf(text, sizeof text, "temp;action;reward\n%s;0;1\n2;1;1\n", number[i]);
        snprintf(message, sizeof message,
                 "plant.csv:2: column 'temp': found '%s', expected a number without thousands "
                 "separators; or name the observations with --obs",
                 number[i]);
        refused(text, message);
    }
    static const struct {
        const char *text;
        bool grouped;
    } cases[] = {{"1,234", true},       {"1.234", false},    {"12 345", true},
                 {"1,23", false},       {"1234,567", false}, {"1,234,56", false},
                 {"01.05.2024", false}, {"1.2.3", false},    {"", false},
                 {"-", false},          {",", false},        {"1,234,567.", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (rh_csv__is_grouped(cases[i].text, strlen(cases[i].text)) != cases[i].grouped)
            fail_msg("'%s'", cases[i].text);
}

// ---------------------------------------------------------------------------- dates

// Reference: Python, datetime(...).replace(tzinfo=timezone.utc).timestamp().
static void dates_in_other_orders(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        rh_dates order;
        double seconds; // NAN: refused
    } cases[] = {
        {"01.05.2024", RH_DATES_AUTO, 1714521600.0},
        {"1.5.2024 12:00", RH_DATES_AUTO, 1714564800.0},
        {"01.05.2024", RH_DATES_MONTH_FIRST, 1714521600.0}, // points: always the day
        {"01.05.24 12:00:00,5", RH_DATES_AUTO, 1714564800.5},
        {"31.12.69", RH_DATES_AUTO, -86400.0},
        {"01/05/2024", RH_DATES_DAY_FIRST, 1714521600.0},
        {"01/05/2024", RH_DATES_MONTH_FIRST, 1704412800.0},
        {"13/05/2024", RH_DATES_MONTH_FIRST, NAN},
        {"05/13/2024", RH_DATES_DAY_FIRST, NAN},
        {"05/13/2024", RH_DATES_AUTO, 1715558400.0},
        {"5/1/2024 1:05 PM", RH_DATES_MONTH_FIRST, 1714568700.0},
        {"5/1/2024 12:05:10 AM", RH_DATES_MONTH_FIRST, 1714521910.0},
        {"5/1/2024, 12:05pm", RH_DATES_MONTH_FIRST, 1714565100.0},
        {"5/1/2024 13:05 PM", RH_DATES_MONTH_FIRST, NAN},
        {"01-05-2024 12:00", RH_DATES_DAY_FIRST, 1714564800.0},
        {"01-05-24", RH_DATES_DAY_FIRST, NAN},
        {"2024/05/01 12:00", RH_DATES_AUTO, 1714564800.0},
        {"2024/05-01", RH_DATES_AUTO, NAN},
        {"29/02/2023", RH_DATES_DAY_FIRST, NAN},
        {"29/02/2024", RH_DATES_DAY_FIRST, 1709164800.0},
        {"1.5.2", RH_DATES_AUTO, NAN},
        {"1.5.20245", RH_DATES_AUTO, NAN},
        {"32.13.2024", RH_DATES_AUTO, NAN},
        {"1/5/2024x", RH_DATES_DAY_FIRST, NAN},
        {"10.0.0.1", RH_DATES_AUTO, NAN},
        {"01-May-24 12:00:00", RH_DATES_AUTO, 1714564800.0},
        {"1-MAY-2024 12:00:00.5", RH_DATES_MONTH_FIRST, 1714564800.5},
        {"29-Feb-23", RH_DATES_AUTO, NAN},
        {"01-Mai-24", RH_DATES_AUTO, NAN},
        {"01-Ma", RH_DATES_AUTO, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = 0.0;
        bool good =
            rh_csv__time(cases[i].text, strlen(cases[i].text), cases[i].order, &seconds);
        if (good != !isnan(cases[i].seconds) || (good && seconds != cases[i].seconds))
            fail_msg("'%s': %d, %.17g", cases[i].text, good, seconds);
    }
}

static void the_column_tells_the_order(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("time,temp,action,reward\n01/05/2024 23:00,1,0,1\n"
                             "02/05/2024 00:00,2,1,1\n13/05/2024 00:00,3,0,1\n");
    assert_true(log->time[1] - log->time[0] == 3600.0);
    assert_note(log, "dates begin with the day");
    rh_log_destroy(log);
    log = read_plain("time,temp,action,reward\n01/31/2024 23:00,1,0,1\n"
                     "02/01/2024 00:00,2,1,1\n02/02/2024 00:00,3,0,1\n");
    assert_true(log->time[1] - log->time[0] == 3600.0);
    assert_note(log, "dates begin with the month");
    rh_log_destroy(log);

    // neither row tells, or they contradict each other
    static const char *const doubtful =
        "time,temp,action,reward\n01/02/2024,1,0,1\n02/02/2024,2,1,1\n03/02/2024,3,0,1\n";
    refused(doubtful, "plant.csv:2: column 'time': '01/02/2024' may begin with the day or the "
                      "month, and no row tells; say --dates day-first or --dates month-first");
    refused("time,temp,action,reward\n01/13/2024,1,0,1\n02/02/2024,2,1,1\n13/02/2024,3,0,1\n",
            "plant.csv:4: column 'time': found '13/02/2024', expected the month first, as "
            "'01/13/2024' in line 2");
    rh_log_options opt = rh_log_defaults();
    opt.dates = RH_DATES_DAY_FIRST;
    log = read_with(doubtful, &opt);
    assert_true(log->time[1] - log->time[0] == 86400.0);
    rh_log_destroy(log);
    opt.dates = RH_DATES_MONTH_FIRST;
    log = read_with(doubtful, &opt);
    assert_true(log->time[1] - log->time[0] == 31 * 86400.0);
    rh_log_destroy(log);

    // the same date in both orders
    log = read_plain("time,temp,action,reward\n5/5/2024 0:00,1,0,1\n5/5/2024 0:01,2,1,1\n"
                     "5/5/2024 0:02,3,1,1\n");
    assert_true(log->time[1] - log->time[0] == 60.0);
    rh_log_destroy(log);
}

// A day of minutes is longer than the rows examined first.
static void a_late_row_tells(void **unused)
{
    (void)unused;
    char *many = malloc(100000);
    assert_non_null(many);
    size_t n = (size_t)sprintf(many, "time,temp,action,reward\n");
    for (int i = 0; i < 1440; i++)
        n += (size_t)sprintf(many + n, "1/12/2024 %d:%02d,%d,%d,1\n", i / 60, i % 60, i, i % 2);
    sprintf(many + n, "1/13/2024 0:00,1,0,1\n");
    rh_log *log = read_plain(many);
    assert_int_equal(log->n, 1440);
    assert_true(log->time[1439] - log->time[0] == 1439 * 60.0);
    assert_note(log, "dates begin with the month");
    rh_log_destroy(log);
    free(many);
}

// ---------------------------------------------------------------------------- pandas

static void an_index_of_dates(void **unused)
{
    (void)unused;
    rh_log *log = read_plain(",temp,action,reward\n2024-05-01 00:00:00,20,0,1\n"
                             "2024-05-01 00:01:00,21,1,1\n2024-05-01 00:02:00,22,0,1\n");
    assert_non_null(log->time);
    assert_true(log->time[1] - log->time[0] == 60.0);
    assert_int_equal(log->nobs, 1);
    assert_note(log, "time = column 1, which has no name");
    rh_log_destroy(log);

    // any name will do, if there is one such column
    log = read_plain("Zeitpunkt,temp,action,reward\n2024-05-01,20,0,1\n2024-05-02,21,1,1\n");
    assert_note(log, "time = column Zeitpunkt");
    rh_log_destroy(log);

    // two columns of dates: neither; one that has a time's name: that one
    log = read_plain("from,until,temp,action,reward\n2024-05-01,2024-05-02,20,0,1\n"
                     "2024-05-02,2024-05-03,21,1,1\n");
    assert_null(log->time);
    assert_note(log, "left out, as it contains text: from, until");
    rh_log_destroy(log);
    log = read_plain("from,time,temp,action,reward\n2024-05-01,1,20,0,1\n"
                     "2024-05-02,2,21,1,1\n");
    assert_true(log->time[0] == 1.0);
    rh_log_destroy(log);

    // an option says that there is none
    rh_log_options opt = rh_log_defaults();
    opt.time = "";
    log = read_with(",temp,action,reward\n2024-05-01,20,0,1\n2024-05-02,21,1,1\n", &opt);
    assert_null(log->time);
    assert_note(log, "left out, as it counts rows or describes the agent: (without a name)");
    rh_log_destroy(log);
}

static void gaps_need_times(void **unused)
{
    (void)unused;
    const char *path = in_folder("plant.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("temp,action,reward\n1,0,0\n2,1,0\n3,0,0\n", file);
    fclose(file);
    rh_log_options opt = rh_log_defaults();
    opt.max_gap = 900.0;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_read(&log, path, &opt, &err), RH_EINVAL);
    assert_null(log);
    assert_non_null(strstr(err.text, "plant.csv: max_gap = 900, but the log has no times; name "
                                     "their column with --time"));
    unlink(path);
}

static void columns_left_out_are_named(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("Unnamed: 0,temp,info,action,reward\n0,20,1,0,1\n1,21,1,1,1\n");
    assert_int_equal(log->nobs, 1);
    assert_note(log, "left out, as it counts rows or describes the agent: Unnamed: 0, info");
    rh_log_destroy(log);
    log = read_plain("Unnamed: 0,obs_0,info,action,reward\n0,20,{},0,1\n1,21,{},1,1\n");
    assert_note(log, "left out, as observations have names of their own: Unnamed: 0, info");
    rh_log_destroy(log);
}

static void truncation_of_gymnasium(void **unused)
{
    (void)unused;
    static const char *const name[] = {"TimeLimit.truncated", "timeouts"};
    for (int i = 0; i < 2; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "obs_0,action,reward,done,%s\n1,0,0,False,False\n2,1,0,True,True\n"
                 "3,0,0,False,False\n4,0,0,True,False\n",
                 name[i]);
        rh_log *log = read_plain(text);
        assert_int_equal(log->nepisode, 2);
        assert_int_equal(log->flag[log->n - 1], RH_FLAG_TERMINAL);
        assert_true(log->flag[log->first[1] - 1] != RH_FLAG_TERMINAL);
        rh_log_destroy(log);
    }
}

static void lists_in_cells(void **unused)
{
    (void)unused;
    refused("obs,action,reward\n\"[0.1, 0.2]\",0,1\n\"[0.3, 0.4]\",1,1\n",
            "plant.csv:2: column 'obs': found '[0.1, 0.2]', a list in one cell, expected a "
            "column for each number; docs/logs.md shows how to split it");
    refused("temp,action,reward\n1,[0.5],1\n2,[0.25],1\n",
            "plant.csv:2: column 'action': found '[0.5]', a list in one cell, expected a "
            "column for each number; docs/logs.md shows how to split it");
    rh_log *log = read_plain("temp,forecast,action,reward\n1,[1 2],0,1\n2,[3 4],1,1\n");
    assert_note(log, "left out, as its cells are lists: forecast");
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(excel_says_the_delimiter),
        cmocka_unit_test(words_for_missing),
        cmocka_unit_test(words_by_option),
        cmocka_unit_test(decimal_commas),
        cmocka_unit_test(doubtful_commas),
        cmocka_unit_test(thousands_are_refused),
        cmocka_unit_test(dates_in_other_orders),
        cmocka_unit_test(the_column_tells_the_order),
        cmocka_unit_test(a_late_row_tells),
        cmocka_unit_test(an_index_of_dates),
        cmocka_unit_test(gaps_need_times),
        cmocka_unit_test(columns_left_out_are_named),
        cmocka_unit_test(truncation_of_gymnasium),
        cmocka_unit_test(lists_in_cells),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
