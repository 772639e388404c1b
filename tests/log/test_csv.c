// test_csv.c - reading logs from tables of text, and writing tables that read back the same.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base_internal.h"
#include "log/csv.h"
#include "log/log.h"

// ---------------------------------------------------------------------------- helpers

static rh_log_options defaults(void)
{
    rh_log_options opt = rh_log_defaults();
    opt.gaps = RH_GAPS_CUT; // numbers as they are
    return opt;
}

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
    rh_log_options opt = defaults();
    return read_with(text, &opt);
}

// The whole message.
static void refused_bytes(const void *bytes, size_t n, const rh_log_options *opt,
                          const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    rh_status rc = rh_csv__read_bytes(&log, bytes, n, "plant.csv", opt, &err);
    if (rc == RH_OK)
        fail_msg("read, expected '%s'", message);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_string_equal(err.text, message);
}

static void refused_with(const char *text, const rh_log_options *opt, const char *message)
{
    refused_bytes(text, strlen(text), opt, message);
}

static void refused(const char *text, const char *message)
{
    rh_log_options opt = defaults();
    refused_with(text, &opt, message);
}

static bool has_note(const rh_log *log, const char *words)
{
    for (int i = 0; i < log->reading.nnote; i++)
        if (strcmp(log->reading.note[i], words) == 0)
            return true;
    return false;
}

static void assert_note(const rh_log *log, const char *words)
{
    if (has_note(log, words))
        return;
    for (int i = 0; i < log->reading.nnote; i++)
        print_message("note: %s\n", log->reading.note[i]);
    fail_msg("no note '%s'", words);
}

static double obs_at(const rh_log *log, int32_t row, int sensor)
{
    return log->obs[(int64_t)row * log->nobs + sensor];
}

// ---------------------------------------------------------------------------- a table

#define PLANT                                                                                  \
    "shift,temp [degC],level,pump,energy,trip\n"                                               \
    "1,20.5,1.25,on,2,0\n"                                                                     \
    "1,20.25,,off,0.5,0\n"                                                                     \
    "1,19,1,off,0,1\n"                                                                         \
    "2,21,1.5,on,1,0\n"                                                                        \
    "2,22,1.75,,,0\n"

static void a_plant(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.episode = "shift";
    opt.action = "pump";
    opt.reward = "-energy";
    opt.terminal = "trip";
    rh_log *log = read_with(PLANT, &opt);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->nobs, 2);
    assert_string_equal(log->obs_name[0], "temp");
    assert_string_equal(log->obs_unit[0], "degC");
    assert_string_equal(log->obs_unit[1], "");
    assert_string_equal(log->act_name[0], "pump");
    assert_string_equal(log->reward_name, "-energy");
    assert_int_equal(log->naction, 2);
    assert_string_equal(log->label[0], "off");
    assert_string_equal(log->label[1], "on");
    assert_true(log->act[0] == 1.0);
    assert_true(log->act[1] == 0.0);
    assert_true(log->act[3] == 1.0);
    assert_true(log->reward[0] == -2.0);
    assert_true(log->reward[1] == -0.5);
    assert_int_equal(log->flag[2], RH_FLAG_TERMINAL);
    assert_int_equal(log->to[2], RH_UNKNOWN);
    assert_int_equal(log->flag[3], RH_FLAG_TRUNCATED);
    assert_true(obs_at(log, log->to[3], 0) == 22.0);
    assert_true(isnan(obs_at(log, log->from[1], 1)));
    assert_int_equal(log->reading.nrow, 5);
    assert_int_equal(log->reading.nmissing, 1);
    assert_string_equal(log->reading.format, "csv");
    assert_string_equal(log->path, "plant.csv");
    assert_note(log, "observations = temp [degC], level");
    assert_note(log, "action = pump");
    assert_note(log, "reward = -energy, of the row's own action");
    assert_note(log, "episodes = column shift");
    assert_note(log, "terminals = column trip");
    assert_note(log, "no truncated column");
    assert_note(log, "s' = the next row of the episode");
    assert_note(log, "delimiter ','");
    rh_log_destroy(log);
}

// The same log in different notations.
static void dresses(void **unused)
{
    (void)unused;
    static const char *const text[] = {
        "obs,action,reward\n1,0,2\n3,1,4\n5,,\n",
        "obs,action,reward\r\n1,0,2\r\n3,1,4\r\n5,,\r\n",
        "obs,action,reward\n1,0,2\n3,1,4\n5,,",
        "obs,action,reward\n1,0,2\n3,1,4\n5,,\r",
        "\xef\xbb\xbfobs,action,reward\n1,0,2\n3,1,4\n5,,\n",
        "obs;action;reward\n1;0;2\n3;1;4\n5;;\n",
        "obs\taction\treward\n1\t0\t2\n3\t1\t4\n5\t\t\n",
        "obs|action|reward\n1|0|2\n3|1|4\n5||\n",
        "# a comment, \"with a quote\n#another\n\nobs,action,reward\n\n1,0,2\n  "
        "\n3,1,4\n5,,\n\n",
        " obs , action,\treward \n 1 , 0 , 2 \n3,1 ,4\n 5, , \n",
        "\"obs\",\"action\",\"reward\"\n\"1\",\"0\",\"2\"\n\"3\" , "
        "\"1\",\"4\"\n\"5\",\"\",\"\"\n",
        "obs,action,reward\n1.0,0.0,2e0\n3,1,+4\n5,NA,null\n",
        "obs,action,reward\n1,0,2\n3,1,4\n5,None,-\n",
        "obs,action,reward\n1,0,2\n3,1,4\n5,?,n/a\n",
        "\"obs\",action,\"reward\"\n1,0,2\n3,1,4\n5,,\n",
        "Obs,ACTION,Reward\n1,0,2\n3,1,4\n5,NaN,nan\n",
        "obs,note,action,reward\n1,\"a\nb\",0,2\n3,\"say \"\"hi\"\", x\",1,4\n5,5\" pipe,,\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        rh_log *log = read_plain(text[i]);
        if (log->n != 2 || log->nstate != 3 || log->nobs != 1 || log->naction != 2)
            fail_msg("text %d: n = %d, nstate = %d, nobs = %d, naction = %d", (int)i,
                     (int)log->n, (int)log->nstate, log->nobs, log->naction);
        assert_true(log->obs[0] == 1.0);
        assert_true(log->obs[1] == 3.0);
        assert_true(log->obs[2] == 5.0);
        assert_true(log->act[0] == 0.0);
        assert_true(log->act[1] == 1.0);
        assert_true(log->reward[0] == 2.0);
        assert_true(log->reward[1] == 4.0);
        assert_int_equal(log->flag[1], RH_FLAG_TRUNCATED);
        rh_log_destroy(log);
    }
}

static void packed(void **unused)
{
    (void)unused;
    const char *text = "obs,action,reward\n1,0,2\n3,1,4\n5,,\n";
    unsigned char bytes[600];
    size_t n = 0;
    rh_error err;
    rh_log *log = NULL;
    rh_log_options opt = defaults();

    // two members, split in the middle of a line
    for (int part = 0; part < 2; part++) {
        const char *from = part ? text + 21 : text;
        z_stream z = {0};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (unsigned char *)(uintptr_t)from;
        z.avail_in = (uInt)(part ? strlen(from) : 21);
        z.next_out = bytes + n;
        z.avail_out = (uInt)(sizeof bytes - n);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        n = sizeof bytes - z.avail_out;
        deflateEnd(&z);
    }
    assert_int_equal(rh_csv__read_bytes(&log, bytes, n, "p.gz", &opt, &err), RH_OK);
    assert_int_equal(log->n, 2);
    assert_note(log, "gzip");
    rh_log_destroy(log);

    // truncated, damaged, and followed by garbage
    for (size_t cut = 3; cut < n; cut++) {
        log = NULL;
        if (rh_csv__read_bytes(&log, bytes, cut, "p.gz", &opt, &err) == RH_OK)
            rh_log_destroy(log); // after the first member: a shorter text
        else if (!strstr(err.text, "p.gz"))
            fail_msg("%s", err.text);
    }
    refused_bytes(bytes, n - 3, &opt, "plant.csv: truncated: the gzip data ends too soon");
    bytes[n] = 'x';
    refused_bytes(bytes, n + 1, &opt,
                  "plant.csv: damaged: something else follows the gzip data");
    bytes[n - 6] ^= 1;
    refused_bytes(bytes, n, &opt, "plant.csv: damaged: the gzip data cannot be unpacked");
}

// ---------------------------------------------------------------------------- what is refused

static void refusals(void **unused)
{
    (void)unused;
    refused("obs,action,reward\n", "plant.csv: no rows after the header");
    refused("# only this\n", "plant.csv: no header, expected names of columns");
    refused("1,2,3\n4,5,6\n", "plant.csv: no header: the first line is all numbers, expected "
                              "names of columns");
    refused("obs,action,reward\n1,0,2\n3,1\n", "plant.csv:3: 2 fields, expected 3 as in the "
                                               "header");
    refused("obs,action,reward\n1,0,2\n\n3,1,2,4,5\n",
            "plant.csv:4: 5 fields, expected 3 as in the header");
    refused("obs,action,reward\n1,0,2\n3\n",
            "plant.csv:3: 1 field, expected 3 as in the header");
    refused("obs_0,action,reward\n1,0,2\nhot,1,2\n",
            "plant.csv:3: column 'obs_0': found 'hot', expected a number");
    refused("obs_0,action,reward\n1,0,2\n1e999,1,2\n",
            "plant.csv:3: column 'obs_0': found '1e999', expected a number below 1.8e308");
    refused("obs_0;action;reward\n1,5;0;2\n1;1;2.5\n",
            "plant.csv:2: column 'obs_0': found '1,5', expected a decimal point, as other "
            "numbers of the file have one; or say --decimal comma");
    refused("obs_0,note,action,reward\n1,\"a\nb\nc\",0,2\nx\ty,z,1,2\n",
            "plant.csv:5: column 'obs_0': found 'x?y', expected a number");
    refused("obs_0,action,reward\n1,0,2\n1,\"0\"x,2\n",
            "plant.csv:3: column 'action': found '0', expected a delimiter after the closing "
            "quote");
    refused("obs_0,action,reward\n1,0,2\n\"1,0,2\n3,4,5\n",
            "plant.csv:3: a quoted field is never closed");
    refused("obs_0,action,reward,done\n1,0,2,0\n1,0,2,maybe\n",
            "plant.csv:3: column 'done': found 'maybe', expected 0 or 1, true or false, yes or "
            "no");
    refused("obs_0,action,reward,time\n1,0,2,01/05/2024\n1,0,2,02/05/2024\n",
            "plant.csv:2: column 'time': '01/05/2024' may begin with the day or the month, and "
            "no row tells; say --dates day-first or --dates month-first");
    refused("obs_0,action,reward,time\n1,0,2,Monday\n1,0,2,Tuesday\n",
            "plant.csv:2: column 'time': found 'Monday', expected a number or a time like "
            "2024-05-01T12:00:00Z, 2024-05-01 12:00:00.5+02:00, 01.05.2024 12:00 or 5/1/2024 "
            "1:05 PM (--time \"\" does without)");
    refused("obs_0,action,reward,obs_0\n1,0,2,3\n",
            "plant.csv: obs: columns 1 and 4 are both called 'obs_0', expected one");
    refused("obs,action,reward\n1,0,\n2,1,\n",
            "plant.csv: no step in 2 rows: 2 without action or reward, 0 with unknown "
            "next observation; expected at least one complete step");

    rh_log_options opt = defaults();
    refused_bytes("obs,action,reward\n1,0\0,2\n", 25, &opt,
                  "plant.csv:2: a NUL byte, expected text");
    rh_log *log = NULL;
    rh_error err;
    assert_int_equal(rh_log_read(&log, "/nonexistent/x.csv", NULL, &err), RH_EIO);
}

static void long_lines(void **unused)
{
    (void)unused;
    size_t n = (size_t)RH_CSV__LONGEST + 100;
    char *text = malloc(n);
    rh_log_options opt = defaults();
    memset(text, 'x', n);
    refused_bytes(text, n, &opt, "plant.csv:1: the line is longer than 16 MB");
    memcpy(text, "obs,action,reward\n1,0,\"2", 24);
    refused_bytes(text, n, &opt,
                  "plant.csv:2: a quoted field is not closed, or longer than 16 MB");
    free(text);
}

// ---------------------------------------------------------------------------- episodes

static void episode_ids(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("episode_id,s0,a,r\n\"x, 1\",1,0,0\n\"x, 1\",2,1,0\n7,3,0,0\n"
                             "7,4,1,0\n7.0,5,1,0\n7.0,6,1,0\n");
    assert_int_equal(log->nepisode, 3);
    assert_int_equal(log->n, 3);
    assert_int_equal(log->reading.nlost, 3);
    rh_log_destroy(log);
    refused("episode,s0,a,r\n3,1,0,0\n3,2,1,0\n4,3,0,0\n4,4,1,0\n3,5,1,0\n",
            "plant.csv:6: episode 3 comes back after 4; sort the file by episode, or, if it is "
            "a new one, give it a number of its own");
    refused("episode,s0,a,r\n3,1,0,0\n,2,1,0\n",
            "plant.csv:3: column 'episode': found '', expected the name or number of an "
            "episode");

    // many of them
    static char text[400000];
    size_t used = (size_t)snprintf(text, sizeof text, "episode,s0,a,r\n");
    for (int i = 0; i < 20000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "e%d,1,%d,0\n", i / 2, i % 3);
    log = read_plain(text);
    assert_int_equal(log->nepisode, 10000);
    rh_log_destroy(log);
    snprintf(text + used, sizeof text - used, "e77,1,0,0\n");
    refused(text, "plant.csv:20002: episode e77 comes back after e9999; sort the file by "
                  "episode, or, if it is a new one, give it a number of its own");
}

static void steps_that_fall(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("step,s0,a,r\n0,1,0,0\n1,2,1,0\n2,3,0,0\n0,4,1,0\n1,5,1,0\n");
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->n, 3);
    assert_int_equal(log->nobs, 1);
    assert_true(log->start[1] == 1);
    assert_note(log, "no episode column: one begins where column step falls");
    rh_log_destroy(log);

    // t counts, T is a temperature
    log = read_plain("t,x,a,r\n0,1,0,0\n1,2,1,0\n2,3,0,0\n0,4,1,0\n1,5,1,0\n");
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->nobs, 1);
    rh_log_destroy(log);
    log = read_plain("T,x,a,r\n20,1,0,0\n19,2,1,0\n21,3,0,0\n18,4,1,0\n");
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(log->nobs, 2);
    rh_log_destroy(log);

    // with an episode column, the step counter is ignored
    log = read_plain("t,ep,s0,a,r\n5,0,1,0,0\n4,0,2,1,0\n3,0,3,0,0\n");
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(log->n, 2);
    rh_log_destroy(log);
}

static void flags(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("s0,a,r,done,timeout\n1,0,0,0,0\n2,1,0,true,0\n3,0,0,False,no\n"
                             "4,1,0,1,yes\n5,0,0,f,0.0\n6,1,0,2.0,\n7,0,0,,t\n");
    assert_int_equal(log->nepisode, 3); // the last row alone is lost
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    assert_int_equal(log->flag[2], RH_FLAG_TRUNCATED); // its step 4 is lost: a time-out
    assert_int_equal(log->flag[4], RH_FLAG_TERMINAL);
    assert_int_equal(log->reading.nlost, 2);
    assert_note(log, "a row that is both done and truncated is not terminal");
    rh_log_destroy(log);

    log = read_plain("s0,a,r,terminated,truncated\n1,0,0,0,0\n2,1,0,1,1\n3,0,0,0,0\n4,,,0,1\n");
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL | RH_FLAG_TRUNCATED);
    assert_int_equal(log->flag[2], RH_FLAG_TRUNCATED);
    assert_int_equal(log->n, 3);
    assert_note(log, "a row that is both terminal and truncated is terminal");
    rh_log_destroy(log);

    log = read_plain("s0,a,r,done\n1,0,0,0\n2,1,0,1\n");
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    assert_note(log, "done may mean an end or a time-out: read as terminal");
    rh_log_destroy(log);
}

static void next_columns(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("obs_0,obs_1,action,reward,next_obs_1,next_obs_0,terminal\n"
                             "1,2,0,0,4,3,0\n3,4,1,0,6,5,0\n9,9,1,0,,,1\n");
    assert_int_equal(log->n, 3);
    assert_int_equal(log->reading.nmismatch, 1);
    assert_true(obs_at(log, log->to[1], 0) == 5.0);
    assert_true(obs_at(log, log->to[1], 1) == 6.0);
    assert_int_equal(log->to[0], log->from[1]);
    assert_int_equal(log->to[2], RH_UNKNOWN);
    assert_note(log, "s' = next_obs_0, next_obs_1");
    rh_log_destroy(log);
}

static void times(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const char *text = "time,s0,a,r\n0,1,0,0\n60,2,1,0\n120,3,0,0\n1000,4,1,0\n1060,5,1,0\n"
                       "500,6,0,0\n560,7,0,0\n";
    opt.max_gap = 100.0;
    rh_log *log = read_with(text, &opt);
    assert_int_equal(log->nepisode, 3);
    assert_int_equal(log->reading.ngap, 2);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->reading.nlost, 3);
    assert_int_equal(log->start[0], 1);
    assert_int_equal(log->start[1], 0);
    assert_int_equal(log->start[2], 0);
    assert_true(log->time[2] == 1000.0);
    assert_note(log, "time = column time");
    rh_log_destroy(log);

    // a gap before a row without a step: the step after it still resumes
    log = read_with("time,s0,a,r\n0,1,0,0\n60,2,1,0\n1000,4,,\n1060,5,1,0\n1120,5,1,0\n", &opt);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->start[1], 0);
    rh_log_destroy(log);

    // ... but not one of another episode
    log = read_with("time,ep,s0,a,r\n0,0,1,0,0\n60,0,2,1,0\n1000,0,4,,\n1060,1,5,1,0\n"
                    "1120,1,5,1,0\n",
                    &opt);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->start[1], 1);
    rh_log_destroy(log);

    log = read_plain("timestamp,s0,a,r\n2024-05-01T12:00:00Z,1,0,0\n"
                     "2024-05-01 14:00:30.5+02:00,2,1,0\n2024-05-02,3,,\n");
    assert_true(log->time[0] == 1714564800.0);
    assert_true(log->time[1] == 1714564830.5);
    rh_log_destroy(log);

    opt = defaults();
    opt.time = "";
    log = read_with("time,s0,a,r\nx,1,0,0\ny,2,1,0\n", &opt);
    assert_null(log->time);
    rh_log_destroy(log);
}

static void iso_times(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double seconds; // NAN: refused
    } cases[] = {
        {"1970-01-01", 0.0},
        {"1970-01-01T00:00:00Z", 0.0},
        {"1969-12-31T23:59:59Z", -1.0},
        {"2000-02-29", 951782400.0},
        {"1900-03-01", -2203891200.0},
        {"2024-12-31T23:59:60Z", 1735689600.0},
        {"2024-05-01T12:00", 1714564800.0},
        {"2024-05-01t12:00:00z", 1714564800.0},
        {"2024-05-01 12:00:00 +00:00", 1714564800.0},
        {"2024-05-01T12:00:00+0530", 1714545000.0},
        {"2024-05-01T12:00:00-08", 1714593600.0},
        {"2024-05-01T12:00:00.125", 1714564800.125},
        {"2024-05-01T12:00:00,125", 1714564800.125},
        {"2023-02-29", NAN},
        {"2024-13-01", NAN},
        {"2024-00-01", NAN},
        {"2024-01-00", NAN},
        {"2024-01-32", NAN},
        {"2024-1-1", NAN},
        {"24-01-01", NAN},
        {"2024-05-01T", NAN},
        {"2024-05-01T24:00", NAN},
        {"2024-05-01T12:60", NAN},
        {"2024-05-01T12:00:61", NAN},
        {"2024-05-01T12:00:00.", NAN},
        {"2024-05-01T12:00:00X", NAN},
        {"2024-05-01T12:00:00+", NAN},
        {"2024-05-01T12:00:00+2", NAN},
        {"2024-05-01T12:00:00+02:", NAN},
        {"2024-05-01T12:00:00Z ", NAN},
        {"2024-05-01x", NAN},
        {"", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = 0.0;
        bool good = rh_csv__time(cases[i].text, strlen(cases[i].text), RH_DATES_AUTO, &seconds);
        if (good != !isnan(cases[i].seconds) || (good && seconds != cases[i].seconds))
            fail_msg("'%s': %d, %.17g", cases[i].text, good, seconds);
    }
}

static void cut_episodes(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.episode_steps = 2;
    rh_log *log =
        read_with("s0,a,r,next_s0\n1,0,0,2\n2,1,0,3\n3,0,0,4\n4,1,0,5\n5,0,0,6\n", &opt);
    assert_int_equal(log->nepisode, 3);
    assert_int_equal(log->n, 5);
    assert_int_equal(log->flag[1], RH_FLAG_TRUNCATED);
    assert_int_equal(log->start[1], 1);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- rewards

static void rewards_of_states(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.reward_of = RH_REWARD_OF_STATE;
    rh_log *log = read_with("ep,s0,a,r,terminal\n0,1,0,,0\n0,2,1,10,0\n0,3,0,20,1\n1,4,1,0,0\n"
                            "1,5,1,30,0\n",
                            &opt);
    assert_int_equal(log->n, 3);
    assert_true(log->reward[0] == 10.0);
    assert_true(log->reward[1] == 20.0);
    assert_true(log->reward[2] == 30.0);
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    assert_true(obs_at(log, log->to[1], 0) == 3.0);
    assert_int_equal(log->flag[2], RH_FLAG_TRUNCATED);
    assert_int_equal(log->reading.nlost, 0);
    assert_note(log, "reward = r, of the action of the row before; the action in an "
                     "episode's last row is ignored");
    rh_log_destroy(log);
}

// The log keeps a formula in its own terms where it has all columns of it.
static void formulas_kept(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const char *text = "T_tank,Setpoint,valve,energy\n20,21,0.5,3\n22,21,0.25,4\n21,21,0.5,0\n"
                       "20.5,21,0.75,0\n";
    opt.action = "valve";
    opt.reward = "-abs(T_tank - Setpoint) - 2*valve";
    rh_log *log = read_with(text, &opt);
    assert_int_equal(log->nobs, 3); // columns of such a formula are sensors
    assert_true(log->reward[0] == -2.0);
    assert_true(log->reward[1] == -1.5);
    assert_string_equal(log->reward_formula, "-abs(obs[0] - obs[1]) - 2*act[0]");
    rh_log *copy = NULL;
    assert_int_equal(rh_log_copy(&copy, log, NULL), RH_OK);
    assert_string_equal(copy->reward_formula, log->reward_formula);
    rh_log_destroy(copy);
    rh_log parts = *log;
    rh_error err;
    parts.reward_formula = "obs[3]";
    assert_int_equal(rh_log_copy(&copy, &parts, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "no number 'obs[3]'"));
    rh_log_destroy(log);

    opt.obs = "T_tank,Setpoint";
    opt.reward = "-(T_tank - Setpoint)^2 - energy";
    log = read_with(text, &opt);
    assert_null(log->reward_formula);
    rh_log_destroy(log);

    // logged with the state: the columns are those of s'
    opt.reward = "-abs(T_tank - Setpoint)";
    opt.reward_of = RH_REWARD_OF_STATE;
    log = read_with(text, &opt);
    assert_true(log->reward[0] == -1.0);
    assert_true(log->reward[1] == 0.0);
    assert_string_equal(log->reward_formula, "-abs(next[0] - next[1])");
    rh_log_destroy(log);
    opt.reward = "-abs(T_tank - Setpoint) - valve";
    log = read_with(text, &opt);
    assert_null(log->reward_formula); // the action is the next step's
    rh_log_destroy(log);

    // s' in the row
    opt = defaults();
    opt.obs = "x";
    opt.reward = "next_x - x";
    log = read_with("x,next_x,a\n1,2,0\n5,3,1\n", &opt);
    assert_true(log->reward[0] == 1.0);
    assert_true(log->reward[1] == -2.0);
    assert_string_equal(log->reward_formula, "next[0] - obs[0]");
    rh_log_destroy(log);

    // a formula without a value
    opt.reward = "1/x";
    log = read_with("x,a\n1,0\n0,1\n2,0\n3,1\n", &opt);
    assert_int_equal(log->reading.nincomplete, 1);
    assert_note(log, "1 rows have no reward: the formula has no value there");
    rh_log_destroy(log);
}

// Derived sensors: in s and s', from sensors and from each other.
static void sensors_derived(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const char *text = "T_in [C],T_out,a,r\n5,3,0,1\n6,,1,1\n9,0,0,1\n";
    rh_log *log = read_with(text, &opt);
    rh_error err;
    const char *list = "dT = T_in - T_out; 'dT squared' = dT^2;;inverse=1/T_out ";
    assert_int_equal(rh_log__derive(&log, list, "plant.csv", &err), RH_OK);
    assert_int_equal(log->nobs, 5);
    assert_int_equal(log->n, 2);
    assert_string_equal(log->obs_name[3], "dT squared");
    assert_string_equal(log->obs_unit[0], "C");
    assert_string_equal(log->obs_unit[3], "");
    assert_true(obs_at(log, 0, 0) == 5.0);
    assert_true(obs_at(log, 0, 2) == 2.0);
    assert_true(obs_at(log, 0, 3) == 4.0);
    assert_true(obs_at(log, 0, 4) == 1.0 / 3.0);
    assert_true(isnan(obs_at(log, 1, 2)));
    assert_true(obs_at(log, 2, 2) == 9.0);
    assert_true(isnan(obs_at(log, 2, 4))); // 1/0
    assert_int_equal(log->reading.nmissing, 1 + 3 + 1);
    assert_note(log,
                "derived sensors: dT = T_in - T_out; dT squared = dT^2; inverse = 1/T_out");
    rh_log_destroy(log);

    static const struct {
        const char *derive, *message;
    } bad[] = {
        {"dT", "plant.csv: derive = dT, expected a name and a formula: dT = T_in - T_out"},
        {"x == 2",
         "plant.csv: derive = x == 2, expected a name and a formula: dT = T_in - T_out"},
        {"T_out = T_in", "plant.csv: derive = T_out = T_in: there is such a sensor, expected a "
                         "new name"},
        {"d = T_in - T_ot", "plant.csv: derive: no sensor 'T_ot'; did you mean 'T_out'? (T_in, "
                            "T_out)"},
        {"d = T_in -",
         "plant.csv: derive: 'T_in -': found its end, expected a value after '-' at "
         "character 7"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_log *plain = read_with(text, &opt), *before = plain;
        assert_int_equal(rh_log__derive(&plain, bad[i].derive, "plant.csv", &err), RH_EINVAL);
        assert_string_equal(err.text, bad[i].message);
        assert_ptr_equal(plain, before);
        rh_log_destroy(plain);
    }

    // every allocation fails once
    for (int64_t nth = 1, rc = RH_ENOMEM; rc; nth++) {
        log = read_with(text, &opt);
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(nth);
        rc = rh_log__derive(&log, list, "plant.csv", &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && rh_base__alloc_live() == live));
        rh_log_destroy(log);
    }
}

static void rewards_computed(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const char *text = "s0,a,income [EUR],wear,net-gain\n1,0,10,2,7\n2,1,20,4,8\n3,,,,\n";
    static const struct {
        const char *reward;
        double first;
    } cases[] = {{"-wear", -2.0},
                 {"income - 0.5*wear", 9.0},
                 {" wear * 2 + income ", 14.0},
                 {"income,wear", 12.0},
                 {"+income+wear+wear", 14.0},
                 {"net-gain", 7.0},
                 {"- net-gain - wear", -9.0},
                 {"'net-gain' - \"income [EUR]\"", -3.0},
                 {"1e1*wear", 20.0},
                 {"income * wear", 20.0},
                 {"-abs(income - 12) - wear^2", -6.0},
                 {"if(net-gain > 6, max(income, 15), -1)", 15.0},
                 {"income [EUR]", 10.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        opt.reward = cases[i].reward;
        rh_log *log = read_with(text, &opt);
        if (log->reward[0] != cases[i].first)
            fail_msg("'%s' gives %g", cases[i].reward, log->reward[0]);
        rh_log_destroy(log);
    }
    opt.reward = "income - 10*a"; // the reward may use the action
    rh_log *log = read_with(text, &opt);
    assert_true(log->reward[0] == 10.0);
    assert_true(log->reward[1] == 10.0);
    rh_log_destroy(log);
    opt.actions = "0,1";
    refused_with(text, &opt,
                 "plant.csv: reward = income - 10*a: column 'a' holds names of actions, "
                 "expected numbers");
    opt.actions = NULL;
    opt.reward = "-done";
    opt.terminal = "done";
    log = read_with("s0,a,done\n1,0,0\n2,1,yes\n", &opt);
    assert_true(log->reward[0] == 0.0);
    assert_true(log->reward[1] == -1.0);
    rh_log_destroy(log);
    opt = defaults();
    opt.reward = "income - ware";
    refused_with(text, &opt,
                 "plant.csv: reward: no column 'ware'; did you mean 'wear'? (s0, a, income, "
                 "wear, net-gain)");
    opt.reward = "income -";
    refused_with(text, &opt,
                 "plant.csv: reward: 'income -': found its end, expected a value after '-' at "
                 "character 9");
}

// ---------------------------------------------------------------------------- actions

static void declared_actions(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.actions = "off, low, high, None, 4";
    rh_log *log = read_with("s0,a,r\n1,low,0\n2,off,0\n3,None,0\n4,4.0,0\n5,,\n", &opt);
    assert_int_equal(log->naction, 5);
    assert_int_equal(log->n, 4);
    assert_string_equal(log->label[2], "high");
    assert_true(log->act[0] == 1.0);
    assert_true(log->act[1] == 0.0);
    assert_true(log->act[2] == 3.0);
    assert_true(log->act[3] == 4.0);
    rh_log_destroy(log);
    refused_with("s0,a,r\n1,low,0\n2,full,0\n", &opt,
                 "plant.csv:3: column 'a': found 'full', expected one of the actions off, low, "
                 "high, None, 4");
    refused_with("s0,a_0,a_1,r\n1,low,0,0\n2,full,0,0\n", &opt,
                 "plant.csv: actions = off, low, high, None, 4: but there are several action "
                 "columns, expected 1 to 256 names of one discrete action");
}

static void kinds_of_actions(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();

    // continuous, and integers declared as continuous
    rh_log *log = read_plain("s0,a,r\n1,0.25,0\n2,0.75,0\n3,,\n");
    assert_int_equal(log->naction, 0);
    rh_log_destroy(log);
    opt.action_kind = RH_ACTION_CONTINUOUS;
    log = read_with("s0,a,r\n1,0,0\n2,1,0\n3,,\n", &opt);
    assert_int_equal(log->naction, 0);
    rh_log_destroy(log);
    refused_with("s0,a,r\n1,on,0\n2,off,0\n", &opt,
                 "plant.csv:2: column 'a': found 'on', expected a number, as actions are "
                 "continuous");

    // a number among names is a name, however it is written
    opt.action_kind = RH_ACTION_DISCRETE;
    log = read_with("s0,a,r\n1,1,0\n2,off,0\n3,1.0,0\n4,,\n", &opt);
    assert_int_equal(log->naction, 2);
    assert_true(log->act[0] == log->act[2]);
    rh_log_destroy(log);

    log = read_plain("s0,a,r\n1,1,0\n2,off,0\n3,low,0\n4,,\n");
    assert_int_equal(log->naction, 3);
    rh_log_destroy(log);

    // but a name among numbers is a bad field, unless the caller declares names
    refused("s0,a,r\n1,0.5,0\n2,0.75,0\n3,Bad,0\n4,,\n",
            "plant.csv:4: column 'a': found 'Bad', expected a number as in the other rows; if "
            "these are names, say --action-kind discrete or --actions A,B,...; if this means a "
            "missing "
            "value: --missing Bad");
    refused(
        "s0;a;r\n1.5;0,5;0\n2;0,75;0\n3;;\n",
        "plant.csv:2: column 'a': found '0,5', expected a decimal point, as other numbers of "
        "the file have one; or say --decimal comma; if these are names, say --action-kind "
        "discrete or --actions A,B,...");

    // words that come too late
    static char text[60000];
    size_t used = (size_t)snprintf(text, sizeof text, "s0,a,r\n");
    for (int i = 0; i < 1100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "1,%d,0\n", i % 3);
    snprintf(text + used, sizeof text - used, "1,off,0\n");
    refused(text, "plant.csv:1102: column 'a': found 'off', expected a number as in the rows "
                  "before; if these are names, say --action-kind discrete or --actions "
                  "A,B,...");
    opt.action_kind = RH_ACTION_DISCRETE;
    refused_with(text, &opt,
                 "plant.csv:1102: column 'a': found 'off', expected a number as in the rows "
                 "before; name all with --actions A,B,...");

    // too many names
    used = (size_t)snprintf(text, sizeof text, "s0,a,r\n");
    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "1,n%d,0\n", i);
    refused(text, "plant.csv:258: column 'a': found 'n256', expected at most 256 different "
                  "actions; give actions that are alike one name");

    // several columns
    log = read_plain("s0,action.x,action.y,r\n1,0,1,0\n2,1,0,0\n3,,,\n");
    assert_int_equal(log->nact, 2);
    assert_int_equal(log->n, 2);
    assert_true(log->act[1] == 1.0);
    assert_true(log->act[2] == 1.0);
    rh_log_destroy(log);
    refused("s0,u0,u1,r\n1,on,1,0\n2,1,0,0\n",
            "plant.csv:2: column 'u0': found 'on', expected a number: several action columns "
            "must hold numbers; code names as 0, 1, ... and say --action-kind discrete");
}

// Words that may mean a missing value or an action.
static void doubtful_names(void **unused)
{
    (void)unused;
    refused("s0,a,r\n1,left,0\n2,none,0\n3,right,0\n4,,\n",
            "plant.csv:3: column 'a': found 'none', expected a name or nothing; if this is an "
            "action, name all with --actions A,B,..., else say --missing with it");
    refused("s0,a,r\n1,+,0\n2,-,0\n3,+,0\n4,,\n",
            "plant.csv:3: column 'a': found '-', expected a name or nothing; if this is an "
            "action, name all with --actions A,B,..., else say --missing with it");
    rh_log_options opt = defaults();
    opt.actions = "left,none,right";
    rh_log *log = read_with("s0,a,r\n1,left,0\n2,none,0\n3,right,0\n4,,\n", &opt);
    assert_int_equal(log->n, 3);
    assert_true(log->act[1] == 1.0);
    rh_log_destroy(log);

    // unquoted NA is missing
    log = read_plain("s0,a,r\n1,on,0\n2,\"NA\",0\n3,off,0\n4,NA,0\n");
    assert_int_equal(log->n, 3);
    assert_int_equal(log->naction, 3);
    rh_log_destroy(log);
}

// Other fields that may be missing.
static void missing_elsewhere(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const double missing[] = {-9999.0};
    opt.missing = missing;
    opt.nmissing = 1;
    rh_log *log = read_with("s0,a,r,done\n1,0,0,0\n2,1,0,-9999\n3,0,0,1\n", &opt);
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(log->n, 3);
    rh_log_destroy(log);
    refused("s0,a,r,done\n1,0,0,0\n2,1,0,-9999\n",
            "plant.csv:3: column 'done': found '-9999', expected 0 or 1, true or false, yes or "
            "no");
    refused(
        "s0,a,r,done\n1,0,0,0.5\n",
        "plant.csv:2: column 'done': found '0.5', expected 0 or 1, true or false, yes or no");
    refused_with("episode,s0,a,r\n1,1,0,0\n-9999,2,0,0\n", &opt,
                 "plant.csv:3: column 'episode': found '-9999', expected the name or number of "
                 "an episode");
    refused("episode,s0,a,r\n1,1,0,0\nnan,2,0,0\n",
            "plant.csv:3: column 'episode': found 'nan', expected the name or number of an "
            "episode");

    // a row of nothing but delimiters, as spreadsheets leave at the end
    log = read_plain("s0,s1,a,r\n1,2,0,0\n2,3,1,0\n3,4,0,0\n,,,\n");
    assert_int_equal(log->n, 2);
    assert_int_equal(log->reading.nlost, 1);
    assert_int_equal(log->reading.nmissing, 0);
    rh_log_destroy(log);
}

// Counters and clocks that begin again.
static void beginning_again(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("time,s0,a,r\n0,1,0,0\n.1,2,1,0\n.2,3,0,0\n0,4,1,0\n.1,5,1,0\n");
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->start[1], 1);
    assert_int_equal(log->reading.ngap, 0);
    assert_int_equal(log->n, 3);
    rh_log_destroy(log);

    // a time other than the first means that the clock was set
    log = read_plain("time,s0,a,r\n0,1,0,0\n.1,2,1,0\n.2,3,0,0\n.05,4,1,0\n.1,5,1,0\n");
    assert_int_equal(log->start[1], 0);
    assert_int_equal(log->reading.ngap, 1);
    rh_log_destroy(log);
}

static void sentinels(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    const double missing[] = {-9999.0, 99.0};
    opt.missing = missing;
    opt.nmissing = 2;
    rh_log *log = read_with("s0,s1,a,r\n1,-9999,0,0\n-9999.0,2,1,0\n99,4,,\n", &opt);
    assert_int_equal(log->reading.nmissing, 3);
    assert_true(isnan(log->obs[1]));
    assert_true(isnan(log->obs[2]));
    assert_true(isnan(log->obs[4]));
    rh_log_destroy(log);
    log = read_plain("s0,a,r\ninf,0,0\n-Infinity,1,0\n3,,\n");
    assert_true(log->obs[0] == INFINITY);
    assert_true(log->obs[1] == -INFINITY);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- there and back

static char folder[] = "/tmp/rh_csv_XXXXXX";

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

static void same_numbers(const char *what, const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && memcmp(a + i, b + i, sizeof *a) != 0)
            fail_msg("%s[%d]: %.17g, expected %.17g", what, (int)i, b[i], a[i]);
}

static void same_texts(const char *const *a, const char *const *b, int n)
{
    for (int i = 0; i < n; i++)
        assert_string_equal(a[i], b[i]);
}

// Every array of the log, bit by bit; NANs are equal.
static void same_logs(const rh_log *a, const rh_log *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nstate, b->nstate);
    assert_int_equal(a->nepisode, b->nepisode);
    assert_int_equal(a->nobs, b->nobs);
    assert_int_equal(a->naction, b->naction);
    assert_int_equal(a->nact, b->nact);
    same_numbers("obs", a->obs, b->obs, a->nstate * a->nobs);
    same_numbers("act", a->act, b->act, a->n * a->nact);
    same_numbers("reward", a->reward, b->reward, a->n);
    assert_int_equal(a->time != NULL, b->time != NULL);
    if (a->time)
        same_numbers("time", a->time, b->time, a->n);
    size_t n = (size_t)a->n;
    assert_memory_equal(a->from, b->from, n * sizeof *a->from);
    assert_memory_equal(a->to, b->to, n * sizeof *a->to);
    assert_memory_equal(a->flag, b->flag, n);
    assert_memory_equal(a->episode, b->episode, n * sizeof *a->episode);
    assert_memory_equal(a->step, b->step, n * sizeof *a->step);
    assert_memory_equal(a->first, b->first, (size_t)(a->nepisode + 1) * sizeof *a->first);
    assert_memory_equal(a->start, b->start, (size_t)a->nepisode);
    same_texts(a->obs_name, b->obs_name, a->nobs);
    same_texts(a->obs_unit, b->obs_unit, a->nobs);
    same_texts(a->act_name, b->act_name, a->nact);
    if (a->naction)
        same_texts(a->label, b->label, a->naction);
    assert_string_equal(a->reward_name, b->reward_name);
}

static void there_and_back(const rh_log *log, const char *ending)
{
    char path[64];
    rh_error err = {""};
    rh_log *back = NULL;
    snprintf(path, sizeof path, "%s/log%s", folder, ending);
    if (rh_log_write(log, path, NULL, &err) != RH_OK)
        fail_msg("%s", err.text);
    rh_log_options opt = defaults();
    if (rh_log_read(&back, path, &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    same_logs(log, back);
    rh_log_destroy(back);
    unlink(path);
}

static const char *const odd_name[] = {
    "temp",   "a,b",  "say \"hi\"", "two\nlines", "x [y]",   " blanks ", "reward",
    "",       "x",    "tab\tbed",   "back\\sl",   "# sharp", "(z)",      "r\rn",
    "obs[3]", "done", "'q'",        "x]",         "nan",     "\xc3\xa9"};
static const char *const odd_label[] = {"0",    "1",  "00",   "1.0",  "on",      "NA",
                                        "a,b",  "-",  "\"",   "x\ny", " pad ",   "1e0",
                                        "None", "#1", "true", "\t",   "a;b\\n|", "inf"};

static double odd_number(rh_rng *rng)
{
    switch (rh_rng_below(rng, 8)) {
    case 0:
        return NAN;
    case 1:
        return (double)rh_rng_below(rng, 5) - 2.0;
    case 2:
        return rh_rng_below(rng, 2) ? INFINITY : -INFINITY;
    case 3:
        return -0.0;
    case 4:
        return rh_rng_range(rng, -1.0, 1.0) * 1e-310;
    default:
        return rh_rng_range(rng, -100.0, 100.0);
    }
}

// A log of everything that a builder accepts.
static rh_log *odd_log(rh_rng *rng)
{
    int nobs = 1 + (int)rh_rng_below(rng, 4), nact = 1 + (int)rh_rng_below(rng, 3);
    const char *name[4], *unit[4], *act[3], *label[18];
    bool discrete = rh_rng_below(rng, 2), nexts = rh_rng_below(rng, 3) == 0;
    int nlabel = discrete ? 1 + (int)rh_rng_below(rng, 18) : 0;
    nact = discrete ? 1 : nact;
    for (int i = 0; i < 4; i++) {
        name[i] = odd_name[rh_rng_below(rng, 20)];
        unit[i] = rh_rng_below(rng, 2) ? "" : odd_name[rh_rng_below(rng, 20)];
    }
    for (int i = 0; i < 3; i++)
        act[i] = odd_name[rh_rng_below(rng, 20)];
    for (int i = 0; i < nlabel; i++)
        label[i] = odd_label[i];
    rh_log_shape shape = {.nobs = nobs,
                          .nact = nact,
                          .action = discrete ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .obs_name = name,
                          .obs_unit = unit,
                          .act_name = act,
                          .label = label,
                          .nlabel = nlabel,
                          .declared = discrete,
                          .times = rh_rng_below(rng, 2),
                          .reward_name = odd_name[rh_rng_below(rng, 20)]};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    assert_int_equal(rh_log_builder_create(&b, &shape, NULL), RH_OK);
    int nrow = 2 + (int)rh_rng_below(rng, 40);
    double time = 0.0;
    for (int i = 0; i < nrow; i++) {
        double obs[4], next[4], x[3];
        for (int k = 0; k < 4; k++) {
            obs[k] = odd_number(rng);
            next[k] = odd_number(rng);
        }
        for (int k = 0; k < 3; k++)
            x[k] = discrete               ? rh_rng_below(rng, (uint32_t)nlabel)
                   : rh_rng_below(rng, 2) ? rh_rng_range(rng, -1.0, 1.0)
                                          : 1.0;
        time += rh_rng_uniform(rng);
        rh_log_row row = {.obs = obs,
                          .act = rh_rng_below(rng, 12) ? x : NULL,
                          .reward = rh_rng_range(rng, -1.0, 1.0),
                          .next = nexts && rh_rng_below(rng, 4) ? next : NULL,
                          .terminal = rh_rng_below(rng, 8) == 0,
                          .truncated = rh_rng_below(rng, 8) == 0,
                          .begins = rh_rng_below(rng, 12) == 0,
                          .resumes = rh_rng_below(rng, 12) == 0,
                          .time = time};
        assert_int_equal(rh_log_push(b, &row, NULL), RH_OK);
    }
    if (rh_log_finish(b, &log, NULL) != RH_OK)
        log = NULL; // no step in it
    rh_log_builder_destroy(b);
    return log;
}

static void odd_logs(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    static const char *const ending[] = {".csv", ".tsv", ".csv.gz"};
    int64_t live = rh_base__alloc_live();
    int n = 0;
    for (int i = 0; i < 600; i++) {
        rh_log *log = odd_log(&rng);
        if (log) {
            there_and_back(log, ending[i % 3]);
            n++;
        }
        rh_log_destroy(log);
    }
    assert_true(n > 500);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void written(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.episode = "shift";
    opt.action = "pump";
    opt.reward = "-energy";
    opt.terminal = "trip";
    rh_log *log = read_with(PLANT, &opt);
    char path[64], text[1000];
    snprintf(path, sizeof path, "%s/plant.csv", folder);
    assert_int_equal(rh_log_write(log, path, NULL, NULL), RH_OK);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    unlink(path);
    assert_string_equal(text, "# rehearse columns: episode step obs obs action reward terminal "
                              "truncated\n"
                              "# rehearse actions: \"off\", \"on\"\n"
                              "episode,step,temp [degC],level,pump,-energy,terminal,truncated\n"
                              "0,0,20.5,1.25,on,-2,0,0\n"
                              "0,1,20.25,,off,-0.5,0,0\n"
                              "0,2,19,1,off,0,1,0\n"
                              "1,0,21,1.5,on,-1,0,1\n"
                              "1,1,22,1.75,,,,\n");
    assert_int_equal(rh_log_write(log, "/nonexistent/x.csv", NULL, NULL), RH_EIO);
    rh_log_destroy(log);

    // edited since: only the names count
    log = read_plain("# rehearse columns: obs action reward\n# rehearse actions: continuous\n"
                     "s0,more,a,r\n1,2,0,0\n3,4,1,0\n5,6,,\n");
    assert_int_equal(log->nobs, 1);
    assert_int_equal(log->naction, 2);
    assert_note(log, "'# rehearse' lines are ignored: they do not match the header");
    rh_log_destroy(log);

    // the caller overrides the file
    opt = defaults();
    opt.obs = "b";
    opt.action_kind = RH_ACTION_DISCRETE;
    log = read_with("# rehearse columns: obs none action reward\n"
                    "# rehearse actions: continuous\na,b,c,d\n1,2,0,0\n3,4,1,0\n5,6,,\n",
                    &opt);
    assert_string_equal(log->obs_name[0], "b");
    assert_int_equal(log->naction, 2);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- memory

// If the columns of a written table were moved, its # lines are ignored.
static void edited(void **unused)
{
    (void)unused;
    rh_log *log = read_plain("# rehearse columns: episode step obs action reward terminal "
                             "truncated\n# rehearse actions: continuous\n"
                             "episode,step,terminal,action,reward,x,truncated\n"
                             "0,0,0,1,2,3.5,0\n0,1,1,1,2,4.5,0\n");
    assert_note(log, "'# rehearse' lines are ignored: they do not match the header");
    assert_int_equal(log->nobs, 1);
    assert_string_equal(log->obs_name[0], "x");
    assert_int_equal(log->n, 2);
    assert_int_equal(log->flag[1], RH_FLAG_TERMINAL);
    rh_log_destroy(log);
}

// --------------------------------------------------------------------------- what is looked at

// One bad field does not make a sensor disappear.
static void bad_fields(void **unused)
{
    (void)unused;
    refused("temp,level,action,reward\n20.5,1,0,1\nBad,2,1,1\n22.5,3,0,1\n",
            "plant.csv:3: column 'temp': found 'Bad', expected a number as in the other rows; "
            "or name the observations with --obs; if this means a missing value: "
            "--missing Bad");
    refused("temp;level;action;reward\n1.020,5;1;0;1\n1.021,5;2;1;1\n",
            "plant.csv:2: column 'temp': found '1.020,5', expected a number without thousands "
            "separators; or name the observations with --obs");
    refused(
        "temp;level;action;reward\n\xc2\xb0"
        "C;2;;\n20.5;1;0;1\n21.5;2;1;1\n",
        "plant.csv:2: column 'temp': found '\xc2\xb0"
        "C', expected a number as in the other rows; or name the observations with --obs; if "
        "this means a missing value: --missing \xc2\xb0"
        "C");

    // every field in quotes, missing ones too
    rh_log *whole = read_plain("\"x\",\"y\",\"action\",\"reward\"\n\"1\",\"1\",\"0\",\"1\"\n"
                               "\"2\",\"NaN\",\"1\",\"1\"\n\"3\",\"3\",\"NA\",\"1\"\n");
    assert_int_equal(whole->nobs, 2);
    assert_int_equal(whole->naction, 2);
    assert_int_equal(whole->n, 2);
    assert_int_equal(whole->reading.nmissing, 1);
    rh_log_destroy(whole);

    // names in a comment line, as numpy.savetxt() writes them
    refused("# x,action,reward\n1,0,1\n2,1,1\n",
            "plant.csv: no header: the first line is all numbers, expected names of columns (a "
            "line that begins with # is a remark)");

    // a column of words is left out
    rh_log *log = read_plain("Zeit,x,batch,action,reward\n01.05.2024,1,b12,0,1\n"
                             "02.05.2024,2,13,1,1\n02.05.2024,3,b13,1,1\n");
    assert_int_equal(log->nobs, 1);
    assert_note(log, "left out, as it contains text: batch");
    rh_log_destroy(log);

    // however many they are
    char text[2000] = "x,action,reward", row[400] = "1,0,1";
    for (int i = 0; i < 60; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), ",words_%d", i);
        strcat(row, ",ab");
    }
    for (int i = 0; i < 2; i++) {
        strcat(text, "\n");
        strcat(text, row);
    }
    log = read_plain(text);
    assert_note(log,
                "left out, as it contains text: words_0, words_1, words_2, words_3, words_4, "
                "words_5, words_6, words_7, words_8, words_9, words_10, words_11, words_12, "
                "words_13, words_14, words_15, words_16, ... (60 in all)");
    assert_note(
        log, "no column has an observation's name: all other numeric columns are observations");
    rh_log_destroy(log);
}

// A temperature in whole degrees is no step counter; a counter may begin anywhere.
static void counters(void **unused)
{
    (void)unused;
    static const struct {
        int t[5], nobs, nepisode;
    } cases[] = {{{20, 21, 20, 21, 22}, 2, 1}, {{20, 20, 20, 20, 20}, 2, 1},
                 {{57, 58, 0, 1, 2}, 1, 2},    {{1, 2, 4, 1, 2}, 1, 2},
                 {{5, 10, 15, 5, 10}, 1, 2},   {{0, 1, 2, 3, 4}, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200] = "t,x,action,reward\n";
        for (int k = 0; k < 5; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d.5,%d,1\n",
                     cases[i].t[k], k, k % 2);
        rh_log *log = read_plain(text);
        assert_int_equal(log->nobs, cases[i].nobs);
        assert_int_equal(log->nepisode, cases[i].nepisode);
        rh_log_destroy(log);
    }
}

// Tables have lines that begin with # only if they would be read differently without.
static void remarks_where_needed(void **unused)
{
    (void)unused;
    static const char *const plain[] = {
        "x,y,action,reward,done\n1,2,0,1,0\n2,3,1,1,0\n3,4,0,1,1\n",
        "x,y,action,reward,done\n1,2,on,1,0\n2,3,off,1,0\n3,4,on,1,1\n",
        "x,y,action,reward,done\n1,2,0.5,1,0\n2,3,1,1,0\n3,4,0,1,1\n",
        "x [m],y,action,reward,done\n1,2,0,1,0\n2,3,1,1,0\n3,4,0,1,1\n",
        "x,pump,a,reward,done\n1,2,0,1,0\n2,3,1,1,0\n3,4,0,1,1\n",
        "x,obs_0,action,reward,done\n1,2,0,1,0\n2,3,1,1,0\n3,4,0,1,1\n",
    };
    char path[64];
    snprintf(path, sizeof path, "%s/remarks.csv", folder);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        rh_log *log = read_plain(plain[i]);
        assert_int_equal(rh_log_write(log, path, NULL, NULL), RH_OK);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fgetc(file), 'e');
        fclose(file);
        rh_log_destroy(log);
    }

    // an action never taken, continuous integers, a sensor named like a role
    rh_log_options opt = defaults();
    static const char text[] = "x,time,action,reward,done\n1,2,0,1,0\n2,3,1,1,0\n3,4,0,1,1\n";
    for (int kind = 0; kind < 4; kind++) {
        opt = defaults();
        opt.actions = kind == 1 ? "0,1,2" : NULL;
        opt.action_kind = kind == 2 ? RH_ACTION_CONTINUOUS : RH_ACTION_AUTO;
        opt.obs = kind == 3 ? "x,time" : NULL;
        rh_log *log = read_with(text, &opt);
        assert_int_equal(rh_log_write(log, path, NULL, NULL), RH_OK);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fgetc(file) == '#', kind > 0);
        fclose(file);
        rh_log_destroy(log);
    }
    unlink(path);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_log_options opt = defaults();
    opt.reward = "-energy";
    opt.action = "pump";
    opt.episode = "shift";
    char path[64];
    snprintf(path, sizeof path, "%s/full.csv.gz", folder);
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        rh_log *log = NULL;
        rh_error err = {""};
        opt.actions = n % 2 ? "on,off" : NULL;
        rh_base__alloc_fail_at(n);
        rh_status rc =
            rh_csv__read_bytes(&log, PLANT, sizeof PLANT - 1, "plant.csv", &opt, &err);
        if (!rc)
            rc = rh_log_write(log, path, NULL, &err);
        if (!rc) {
            rh_log *back = NULL;
            rc = rh_log_read(&back, path, NULL, &err);
            rh_log_destroy(back);
        }
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        done = rc == RH_OK;
        assert_int_equal(done, err.text[0] == 0);
        rh_log_destroy(log);
        if (rh_base__alloc_live() != live)
            fail_msg("allocation %d failed: '%s', and something leaked", (int)n, err.text);
        assert_true(n < 1000);
    }
    unlink(path);
}

// How many lines a text has is estimated from its first ones, for the memory of its rows.
static void estimated_lines(void **unused)
{
    (void)unused;
    enum { NLINE = 100000, WIDTH = 10 };
    char path[] = "/tmp/rehearse-lines-XXXXXX", *text = malloc((size_t)NLINE * WIDTH), *line;
    size_t n = 0;
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    assert_true(text && file);
    for (int i = 0; i < NLINE; i++) {
        char row[24];
        snprintf(row, sizeof row, "%05d,0,1\n", i);
        memcpy(text + (size_t)i * WIDTH, row, WIDTH);
    }
    assert_int_equal(fwrite(text, 1, (size_t)NLINE * WIDTH, file), (size_t)NLINE * WIDTH);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < 2; i++) {
        rh_csv csv;
        rh_error err;
        assert_int_equal(i ? rh_csv__open_bytes(&csv, text, (size_t)NLINE * WIDTH, "text", &err)
                           : rh_csv__open(&csv, path, &err),
                         RH_OK);
        assert_int_equal(rh_csv__next(&csv, &line, &n, &err), RH_OK);
        assert_in_range(rh_csv__lines_left(&csv), NLINE, NLINE + NLINE / 10);
        rh_csv__close(&csv);
    }
    free(text);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimated_lines),
        cmocka_unit_test(a_plant),
        cmocka_unit_test(dresses),
        cmocka_unit_test(packed),
        cmocka_unit_test(refusals),
        cmocka_unit_test(long_lines),
        cmocka_unit_test(episode_ids),
        cmocka_unit_test(steps_that_fall),
        cmocka_unit_test(flags),
        cmocka_unit_test(next_columns),
        cmocka_unit_test(times),
        cmocka_unit_test(iso_times),
        cmocka_unit_test(cut_episodes),
        cmocka_unit_test(rewards_of_states),
        cmocka_unit_test(rewards_computed),
        cmocka_unit_test(sensors_derived),
        cmocka_unit_test(formulas_kept),
        cmocka_unit_test(declared_actions),
        cmocka_unit_test(kinds_of_actions),
        cmocka_unit_test(doubtful_names),
        cmocka_unit_test(missing_elsewhere),
        cmocka_unit_test(beginning_again),
        cmocka_unit_test(sentinels),
        cmocka_unit_test(odd_logs),
        cmocka_unit_test(written),
        cmocka_unit_test(remarks_where_needed),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(edited),
        cmocka_unit_test(bad_fields),
        cmocka_unit_test(counters),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
