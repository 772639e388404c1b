// test_setpoint.c - setpoints: the error as a sensor, what is kept, refusals.

#include "inspect_sample.h"
#include "log/log.h"
#include "log/log_internal.h"

#include <stdio.h>

#define TEXT "temp,T sp,u,reward\n18,20,0.5,0\n19,20,0.4,0\n20,22,0.6,0\n21,22,0.7,0\n"

static const char *write_log(void)
{
    FILE *out = fopen("setpoint.csv", "w");
    assert_non_null(out);
    fputs(TEXT, out);
    assert_int_equal(fclose(out), 0);
    return "setpoint.csv";
}

static rh_log_options options(const char *setpoint)
{
    rh_log_options opt = rh_log_defaults();
    opt.action = "u";
    opt.setpoint = setpoint;
    return opt;
}

static void error_is_a_sensor(void **unused)
{
    (void)unused;
    rh_log_options opt = options("T sp=temp");
    rh_error err = {""};
    rh_log *log = NULL;
    opt.derive = "half = temp/2";
    opt.setpoint_values = RH_SETPOINT_DRAWN;
    if (rh_log_read(&log, write_log(), &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, 4);
    assert_string_equal(log->obs_name[3], "T sp_error");
    assert_string_equal(log->derive, "half = temp/2; 'T sp_error' = 'T sp' - 'temp'");
    for (int64_t i = 0; i < log->nstate; i++)
        assert_true(log->obs[i * 4 + 3] == log->obs[i * 4 + 1] - log->obs[i * 4]);
    for (int k = 0; k < 4; k++)
        assert_int_equal(rh_log__is_setpoint(log, k), k == 1);
    assert_int_equal(log->setpoint_values, RH_SETPOINT_DRAWN);
    assert_null(log->exogenous); // the others are tested
    rh_log_destroy(log);
}

// The past of a setpoint is a setpoint.
static void stacked(void **unused)
{
    (void)unused;
    rh_log_options opt = options("T sp=temp");
    rh_error err = {""};
    rh_log *log = NULL;
    opt.stack = 2;
    if (rh_log_read(&log, write_log(), &opt, &err))
        fail_msg("%s", err.text);
    for (int k = 0; k < log->nobs; k++) {
        const char *name = log->obs_name[k];
        bool want = strcmp(name, "T sp") == 0 || strcmp(name, "T sp[-1]") == 0;
        if (rh_log__is_setpoint(log, k) != want)
            fail_msg("%s", name);
    }
    rh_log_destroy(log);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *setpoint;
        rh_setpoint_values values;
        int stack;
        const char *message;
    } bad[] = {
        {"T sp", 0, 1,
         "setpoint.csv: setpoint = T sp, expected a setpoint and its sensor, such "
         "as T_sp=T"},
        {"=T", 0, 1, "setpoint.csv: setpoint = =T, expected a setpoint and its sensor"},
        {"T_sp=T", 0, 1, "setpoint.csv: setpoint: no sensor 'T_sp'"},
        {"T sp=t", 0, 1, "setpoint.csv: setpoint: no sensor 't'"},
        {NULL, RH_SETPOINT_DRAWN, 1, "setpoint_values = drawn, expected setpoint"},
        {"T sp=temp", RH_SETPOINT_DRAWN, 2, "stack = 2, expected stack = 1"},
        {"T sp=temp", (rh_setpoint_values)2, 1, "setpoint_values = 2, expected 0 or 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_log_options opt = options(bad[i].setpoint);
        rh_error err = {""};
        rh_log *log = NULL;
        opt.setpoint_values = bad[i].values;
        opt.stack = bad[i].stack;
        assert_int_equal(rh_log_read(&log, write_log(), &opt, &err), RH_EINVAL);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s", err.text);
    }
}

static int remove_log(void **unused)
{
    (void)unused;
    return remove("setpoint.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_a_sensor),
        cmocka_unit_test(stacked),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, remove_log);
}
