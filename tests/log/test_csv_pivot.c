// test_csv_pivot.c - tables with a row per value.

#include "log/sample.h"

#define LONG                                                                                   \
    "timestamp,tag,value,quality\n0,temp,20,Good\n0,pump,0,Good\n0,reward,1,Good\n"            \
    "30,temp,21,Good\n60,reward,2,Good\n60,pump,1,Good\n90,temp,26.5,Good\n"                   \
    "130,temp,30.5,Good\n180,pump,0,Good\n"

// The same, one tag after the other and not in the order of time.
#define BY_TAG                                                                                 \
    "tag,timestamp,value\npump,180,0\npump,0,0\npump,60,1\nreward,0,1\nreward,60,2\n"          \
    "temp,130,30.5\ntemp,30,21\ntemp,0,20\ntemp,90,26.5\n"

static rh_log_options pivot_by(double every, rh_pivot_value value)
{
    rh_log_options opt = as_it_is();
    opt.pivot = "tag,value";
    opt.every = every;
    opt.pivot_value = value;
    opt.action = "pump";
    return opt;
}

static rh_log *read_text(const char *text, const rh_log_options *opt)
{
    const char *path = in_folder("plant");
    spill(path, text, strlen(text));
    rh_log *log = read_log(path, opt);
    unlink(path);
    return log;
}

static void refused(const char *text, const rh_log_options *opt, const char *words)
{
    const char *path = in_folder("plant");
    spill(path, text, strlen(text));
    refuses(path, opt, words);
    unlink(path);
}

// The observations and actions of four rows.
static void expect(const rh_log *log, const double temp[4], const char *pump[4])
{
    assert_int_equal(log->n, 3);
    assert_int_equal(log->nobs, 1);
    for (int i = 0; i < 4; i++)
        if (log->obs[i] != temp[i])
            fail_msg("row %d: %.17g, expected %.17g", i, log->obs[i], temp[i]);
    for (int i = 0; i < 3; i++) {
        assert_true(log->time[i] == 60.0 * i);
        assert_string_equal(log->label[(int)log->act[i]], pump[i]);
    }
    assert_true(log->reward[0] == 1.0);
    assert_true(log->reward[1] == 2.0);
    assert_true(log->reward[2] == 2.0);
}

static void resampled(void **unused)
{
    (void)unused;
    static const double last[4] = {20.0, 21.0, 26.5, 30.5}, mean[4] = {20.0, 21.0, 26.5, 30.5},
                        line[4] = {20.0, 23.75, 29.5, 30.5};
    static const char *pump[4] = {"0", "1", "1", "0"};
    rh_log_options opt = pivot_by(60.0, RH_PIVOT_LAST);
    rh_log *log = read_text(LONG, &opt);
    expect(log, last, pump);
    assert_true(has_note(log, "one value per line (columns tag, value): 9 of 3 tags in 4 rows; "
                              "left out: quality"));
    assert_true(has_note(log, "a row has the last value of each tag at its time"));
    rh_log *other = read_text(BY_TAG, &opt);
    assert_memory_equal(log->obs, other->obs, 4 * sizeof(double));
    assert_memory_equal(log->reward, other->reward, 3 * sizeof(double));
    rh_log_destroy(other);
    rh_log_destroy(log);

    opt = pivot_by(60.0, RH_PIVOT_MEAN);
    log = read_text(LONG, &opt);
    expect(log, mean, pump);
    rh_log_destroy(log);
    opt = pivot_by(60.0, RH_PIVOT_INTERPOLATE);
    log = read_text(LONG, &opt);
    expect(log, line, pump);
    assert_true(has_note(log, "did not know yet"));
    rh_log_destroy(log);

    // a mean of several
    opt = pivot_by(100.0, RH_PIVOT_MEAN);
    log = read_text(LONG, &opt);
    assert_int_equal(log->nstate, 2);
    assert_true(log->obs[1] == 0.5 * (21.0 + 26.5));
    rh_log_destroy(log);
}

static void words_and_gaps(void **unused)
{
    (void)unused;
    rh_log_options opt = pivot_by(10.0, RH_PIVOT_LAST);
    rh_log *log =
        read_text("time,tag,value\n0,temp,1.5\n0,pump,off\n0,level,7\n0,reward,1\n10,temp,\n"
                  "20,temp,2.5\n20,pump,on\n30,temp,3\n40,temp,3\n",
                  &opt);
    assert_int_equal(log->nstate, 5);
    assert_true(isnan(log->obs[2]));
    assert_true(log->obs[3] == 7.0);
    assert_true(log->obs[4] == 2.5);
    assert_string_equal(log->label[(int)log->act[1]], "off");
    assert_string_equal(log->label[(int)log->act[2]], "on");
    rh_log_destroy(log);

    // no tag has a value for longer than the gap
    opt.max_gap = 25.0;
    log = read_text("time,tag,value\n0,temp,1\n0,pump,0\n0,reward,1\n10,temp,2\n100,temp,3\n"
                    "110,temp,4\n",
                    &opt);
    assert_int_equal(log->nepisode, 2);
    assert_true(log->time[log->first[1]] == 100.0);
    rh_log_destroy(log);

    // a status word is refused and suggested
    refused("time,tag,value\n0,temp,1\n0,pump,0\n0,reward,1\n10,temp,Bad Input\n20,temp,3\n"
            "30,temp,4\n40,temp,4\n",
            &opt, "--missing 'Bad Input'");
}

static void own_times(void **unused)
{
    (void)unused;
    rh_log_options opt = pivot_by(NAN, RH_PIVOT_LAST);
    rh_log *log =
        read_text("date,tag,value\n01-May-24 00:00:00,temp,1\n01-May-24 00:00:00,pump,0\n"
                  "01-May-24 00:00:00,reward,1\n01-May-24 00:00:05,temp,2\n"
                  "01-May-24 00:00:05,pump,1\n01-May-24 00:00:05,reward,1\n",
                  &opt);
    assert_int_equal(log->n, 1);
    assert_true(log->time[0] == 1714521600.0);
    rh_log_destroy(log);
    refused(LONG, &opt,
            "plant: the 3 tags have values at different times, expected --every TIME, the time "
            "between two rows; tag 'pump' has a value every 90 on average");
}

static void refusals(void **unused)
{
    (void)unused;
    rh_log_options opt = pivot_by(60.0, RH_PIVOT_LAST);
    opt.pivot = "tag";
    refused(LONG, &opt, "pivot = tag: 1 name, expected the column of tags and that of values");
    opt.pivot = "tag,valu";
    refused(LONG, &opt, "pivot: no column 'valu'; did you mean 'value'?");
    opt.pivot = "tag,timestamp";
    refused(LONG, &opt, "one column for two of time, tag and value");
    opt.pivot = "tag,value";
    refused("x,tag,value\na,temp,1\n", &opt, "no column of times, expected one");
    refused("time,tag,value\n1,temp,1\nx,temp,2\n", &opt, "plant:3: column 'time': found 'x'");
    refused("time,tag,value\n1,temp,1\n2,,2\n", &opt,
            "plant:3: column 'tag': found '', expected the name of a tag");
    refused("time,tag,value\n1,temp,1\n2,temp\n", &opt, "plant:3: 2 fields, expected 3");
    opt.every = 1e-9;
    refused(LONG, &opt, "make 1.8e+11 rows, expected 1 to 2^31");
    opt.every = 60.0;
    opt.every_obs = RH_EVERY_MEAN;
    refused(LONG, &opt,
            "plant: every_obs = mean, expected pivot_value = mean: pivot makes the rows");
}

// Two tables of InfluxDB, each with annotations and a header.
#define INFLUX(field, series, x, y)                                                            \
    "#group,false,false,true,false,false,true\n#datatype,string,long,dateTime:RFC3339,"        \
    "dateTime:RFC3339,double,string\n#default,_result,,,,,\n"                                  \
    ",result,table,_start,_time,_value,_field\n"                                               \
    ",," series ",2024-05-01T00:00:00Z,2024-05-01T00:00:00Z," x "," field "\n"                 \
    ",," series ",2024-05-01T00:00:00Z,2024-05-01T00:01:00Z," y "," field "\n\n"

static void influx(void **unused)
{
    (void)unused;
    rh_log_options opt = as_it_is();
    opt.action = "pump";
    rh_log *log = read_text(INFLUX("temp", "0", "1", "2") INFLUX("pump", "1", "0", "1")
                                INFLUX("reward", "2", "5", "6"),
                            &opt);
    assert_int_equal(log->n, 1);
    assert_int_equal(log->nobs, 1);
    assert_true(log->obs[1] == 2.0);
    assert_true(log->reward[0] == 5.0);
    rh_log_destroy(log);
    refused(INFLUX("temp", "0", "1", "2") INFLUX("temp", "1", "0", "1"), &opt,
            "column '_field': found 'temp', expected a field of one series");

    // pivoted by the query: its own columns are no sensors
    log = read_text(
        ",result,table,_start,_stop,_time,_measurement,pump,reward,temp\n"
        ",,0,2024-05-01T00:00:00Z,2024-05-02T00:00:00Z,2024-05-01T00:00:00Z,m,0,5,1\n"
        ",,0,2024-05-01T00:00:00Z,2024-05-02T00:00:00Z,2024-05-01T00:01:00Z,m,1,6,2\n",
        &opt);
    assert_int_equal(log->nobs, 1);
    assert_string_equal(log->obs_name[0], "temp");
    assert_true(has_note(log, "InfluxDB adds it: result, table, _start, _stop, _measurement"));
    rh_log_destroy(log);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    const char *path = in_folder("plant");
    rh_log_options opt = pivot_by(60.0, RH_PIVOT_MEAN);
    spill(path, BY_TAG, strlen(BY_TAG));
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t nth = 1; rc; nth++) {
        rh_error err = {""};
        rh_log *log = NULL;
        rh_base__alloc_fail_at(nth);
        rc = rh_log_read(&log, path, &opt, &err);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resampled), cmocka_unit_test(words_and_gaps),
        cmocka_unit_test(own_times), cmocka_unit_test(refusals),
        cmocka_unit_test(influx),    cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
