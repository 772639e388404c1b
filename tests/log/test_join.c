// test_join.c - several logs of one plant become one log.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/csv.h"
#include "log/log.h"
#include "sample.h"

static rh_log *read_as(const char *text, const char *path)
{
    rh_log *log = NULL;
    rh_error err = {""};
    rh_log_options opt = rh_log_defaults();
    if (rh_csv__read_bytes(&log, text, strlen(text), path, &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return log;
}

static const char january[] = "episode,time,temp [C],level,action,reward,terminal\n"
                              "0,0,1,10,off,1,0\n0,1,2,11,low,2,0\n0,2,3,12,off,3,1\n"
                              "1,9,4,13,low,4,0\n1,10,5,14,low,5,0\n";
static const char february[] = "time,level,action,temp [C],reward,terminal,episode\n"
                               "0,20,high,6,6,0,0\n1,21,off,7,7,0,0\n2,22,off,8,8,0,0\n";

// Columns by name, episodes apart, actions of both.
static void two_months(void **unused)
{
    (void)unused;
    static const double temp[] = {1, 2, 3, 4, 5, 6, 7, 8};
    rh_log *log[2] = {read_as(january, "data/jan.csv"), read_as(february, "data/feb.csv")};
    rh_log *all = NULL;
    rh_error err = {""};
    if (rh_log_join(&all, (const rh_log *const *)log, 2, &err))
        fail_msg("%s", err.text);
    assert_int_equal(all->n, log[0]->n + log[1]->n);
    assert_int_equal(all->nepisode, 3);
    assert_int_equal(all->naction, 3);
    assert_string_equal(all->label[0], "high");
    assert_string_equal(all->label[2], "off");
    assert_string_equal(all->path, "data/jan.csv, data/feb.csv");
    assert_string_equal(all->obs_unit[0], "C");
    assert_non_null(all->time);
    assert_null(all->line);
    for (int64_t i = 0; i < all->nstate; i++)
        assert_true(all->obs[2 * i] == temp[i] &&
                    all->obs[2 * i + 1] == temp[i] + (i < 5 ? 9 : 14));
    assert_int_equal((int)all->act[0], 2);
    int64_t second = all->first[2];
    assert_int_equal((int)all->act[second], 0);
    assert_true(all->reward[second] == 6.0);
    assert_int_equal(all->step[second], 0);
    assert_true(all->start[2]);
    assert_int_equal(all->reading.nrow, 8);
    const rh_log_reading *r = &all->reading;
    assert_string_equal(r->note[r->nnote - 2], "data/jan.csv: episodes 0 to 1");
    assert_string_equal(r->note[r->nnote - 1], "data/feb.csv: episodes 2 to 2");

    // of one log, the same transitions; of all, another fingerprint
    rh_log *one = NULL;
    assert_int_equal(rh_log_join(&one, (const rh_log *const *)log, 1, &err), RH_OK);
    assert_true(rh_log_fingerprint(one) == rh_log_fingerprint(log[0]));
    assert_true(rh_log_fingerprint(all) != rh_log_fingerprint(log[0]));
    rh_log_destroy(one);
    rh_log_destroy(all);
    rh_log_destroy(log[0]);
    rh_log_destroy(log[1]);
}

static void refused(const char *a, const char *b, const char *message)
{
    rh_log *log[2] = {read_as(a, "jan.csv"), read_as(b, "feb.csv")}, *all = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_log_join(&all, (const rh_log *const *)log, 2, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    assert_int_equal(rh_base__alloc_live(), live);
    rh_log_destroy(log[0]);
    rh_log_destroy(log[1]);
}

static void different_columns(void **unused)
{
    (void)unused;
    static const char plain[] = "temp,level,action,reward\n1,2,0,1\n2,3,1,1\n3,4,0,1\n";
    refused(plain, "temp,flow,gas,action,reward\n1,2,3,0,1\n2,3,3,1,1\n",
            "feb.csv: lacks level and has also flow, gas; expected the sensors of jan.csv");
    refused(plain, "temp,action,reward\n1,0,1\n2,1,1\n",
            "feb.csv: lacks level; expected the sensors of jan.csv");
    refused("temp,action_0,action_1,reward\n1,0,2,1\n2,1,3,1\n",
            "temp,action_0,reward\n1,0,1\n2,1,1\n",
            "feb.csv: lacks action_1; expected the actions of jan.csv");
    refused("temp [C],action,reward\n1,0,1\n2,1,1\n", "temp [K],action,reward\n1,0,1\n2,1,1\n",
            "feb.csv: unit of temp is K, expected C as in jan.csv");
    refused("temp,action,reward\n1,0.5,1\n2,0.7,1\n", "temp,action,reward\n1,on,1\n2,on,1\n",
            "feb.csv: action 'on', expected numbers: another log has continuous actions");
    rh_error err = {""};
    rh_log *all = NULL;
    assert_int_equal(rh_log_join(&all, NULL, 0, &err), RH_EINVAL);
}

// A few whole numbers in one file are amounts if another file has fractions.
static void amounts(void **unused)
{
    (void)unused;
    rh_log *log[2] = {read_as("temp,action,reward\n1,0.5,1\n2,0.7,1\n3,1,1\n", "a.csv"),
                      read_as("temp,action,reward\n1,2,1\n2,0,1\n3,2,1\n", "b.csv")};
    rh_log *all = NULL;
    rh_error err = {""};
    assert_int_equal(log[1]->naction, 2);
    if (rh_log_join(&all, (const rh_log *const *)log, 2, &err))
        fail_msg("%s", err.text);
    assert_int_equal(all->naction, 0);
    assert_true(all->act[0] == 0.5);
    assert_true(all->act[2] == 2.0);
    assert_true(all->act[3] == 0.0);
    rh_log_destroy(all);
    rh_log_destroy(log[0]);
    rh_log_destroy(log[1]);
}

// Several paths, one on each line; every allocation may fail.
static void from_files(void **unused)
{
    (void)unused;
    char paths[700], *first = paths;
    rh_log *all = NULL;
    rh_error err = {""};
    spill(in_folder("jan.csv"), january, sizeof january - 1);
    spill(in_folder("feb.csv"), february, sizeof february - 1);
    snprintf(paths, sizeof paths, "%s\n%s", in_folder("jan.csv"), in_folder("feb.csv"));
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t n = 1; rc == RH_ENOMEM; n++) {
        rh_base__alloc_fail_at(n);
        rc = rh_log_read(&all, paths, NULL, &err);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    assert_int_equal(all->nepisode, 3);
    rh_log_destroy(all);
    snprintf(paths, sizeof paths, "%s\n/nonexistent.csv", in_folder("jan.csv"));
    assert_int_equal(rh_log_read(&all, first, NULL, &err), RH_EIO);
    assert_non_null(strstr(err.text, "/nonexistent.csv"));
    assert_int_equal(rh_base__alloc_live(), live);
    unlink(in_folder("jan.csv"));
    unlink(in_folder("feb.csv"));
}

#define WIDE 200 // further sensors: what the log of a deployment says of itself is far behind

static void put_row(FILE *file, const char *before, const char *sensor, const char *after)
{
    fputs(before, file);
    for (int i = 0; i < WIDE; i++) {
        fputs(sensor, file);
        if (*sensor == ',')
            fprintf(file, "%d", i);
    }
    fputs(after, file);
}

static void wide_deployment(void **unused)
{
    (void)unused;
    FILE *file = fopen("/tmp/rehearse-first.csv", "w");
    assert_non_null(file);
    put_row(file, "when,pump,kWh", ",temperature_of_the_room_", "\n");
    for (int i = 0; i < 3; i++)
        put_row(file, i % 2 ? "1,on,1" : "0,off,1", ",", "\n");
    fclose(file);
    file = fopen("/tmp/rehearse-own.csv", "w");
    assert_non_null(file);
    put_row(file, "episode,step,start,pump,-kWh", ",temperature_of_the_room_",
            ",\"# rehearse columns: episode step start action reward");
    put_row(file, "", " obs", " none # rehearse actions: \"\"off\"\", \"\"on\"\"\"\n");
    put_row(file, "0,0,1,on,-9", ",", ",\n");
    put_row(file, "0,1,1,off,-8", ",", ",\n");
    put_row(file, "0,2,1,,", ",", ",\n");
    fclose(file);
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err = {""};
    opt.action = "pump";
    opt.reward = "-kWh";
    opt.time = "when";
    if (rh_log_read(&log, "/tmp/rehearse-first.csv\n/tmp/rehearse-own.csv", &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, WIDE);
    assert_true(log->reward[log->first[1]] == -9.0);
    rh_log_destroy(log);
    remove("/tmp/rehearse-first.csv");
    remove("/tmp/rehearse-own.csv");
}

// The log of a deployment says itself what its columns are: what is said about the other file
// is not about it.
static void with_a_deployment(void **unused)
{
    (void)unused;
    static const char first[] =
        "when,shift,temp [C],pump,kWh,bad\n0,a,1,off,1,0\n1,a,2,on,2,0\n"
        "2,a,3,on,2,1\n";
    static const char other[] =
        "episode,step,start,temp [C],pump,-kWh,terminal,truncated,\"# rehearse columns: "
        "episode "
        "step start obs action reward terminal truncated none # rehearse actions: \"\"off\"\", "
        "\"\"on\"\"\"\n0,0,1,5,on,-9,0,0,\n0,1,1,6,off,-8,0,1,\n0,2,1,7,,,,,\n";
    const char *text[] = {first, other},
               *path[] = {"/tmp/rehearse-first.csv", "/tmp/rehearse-own.csv"};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        fputs(text[i], file);
        fclose(file);
    }
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err = {""};
    opt.action = "pump";
    opt.reward = "-kWh";
    opt.terminal = "bad";
    opt.episode = "shift";
    opt.time = "when";
    if (rh_log_read(&log, "/tmp/rehearse-first.csv\n/tmp/rehearse-own.csv", &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->nobs, 1);
    assert_int_equal(log->naction, 2);
    assert_true(log->reward[log->first[1]] == -9.0);
    assert_true(log->reward[0] == -1.0);
    rh_log_destroy(log);
    for (int i = 0; i < 2; i++)
        remove(path[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_months),        cmocka_unit_test(different_columns),
        cmocka_unit_test(amounts),           cmocka_unit_test(from_files),
        cmocka_unit_test(with_a_deployment), cmocka_unit_test(wide_deployment),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
