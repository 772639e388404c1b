// test_inspect_clean.c - logs of simulators: no false findings, and every shifted row found.

#include "log/inspect_sample.h"

static const char *const envs[] = {"acrobot", "cartpole", "mountain_car", "pendulum",
                                   "puddle_world"};
#define NENV 5

// Warnings that are true of 5,000 random steps: few episodes end, or none.
static bool is_true_of(const char *env, const char *id)
{
    bool car = strcmp(env, "mountain_car") == 0;
    bool goal = car || strcmp(env, "acrobot") == 0 || strcmp(env, "puddle_world") == 0;
    return (goal && strcmp(id, "few-terminals") == 0) ||
           (goal && strcmp(id, "few-starts") == 0) ||
           (car && strcmp(id, "reward-constant") == 0);
}

static void no_warning_in_clean_logs(void **unused)
{
    (void)unused;
    for (int e = 0; e < NENV; e++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            rh_log *log =
                log_of((living){.env = envs[e], .seed = seed, .n = 5000, .random = 1});
            rh_log_report *report = report_of(log);
            for (int i = 0; i < report->findings.n; i++) {
                const rh_finding *f = &report->findings.item[i];
                if (f->severity > RH_NOTICE && !is_true_of(envs[e], rh_finding_name(f->id)))
                    fail_msg("%s, seed %d: %s: %s", envs[e], (int)seed, rh_finding_name(f->id),
                             f->evidence);
            }
            // the car never arrives in 5,000 random steps
            if (strcmp(envs[e], "mountain_car") == 0) {
                assert_non_null(find_id(report, "no-terminal"));
                assert_non_null(find_id(report, "reward-constant"));
            }
            rh_log_report_destroy(report);
            rh_log_destroy(log);
        }
}

// The row-shift found, 0 for none.
static int64_t shift_of(living how)
{
    rh_log *log = log_of(how);
    rh_log_report *report = report_of(log);
    const rh_finding *f = find_id(report, "row-shift");
    int64_t shift = f ? f->count : 0;
    rh_log_report_destroy(report);
    rh_log_destroy(log);
    return shift;
}

// Actions shifted by one row: random ones, and those of a controller with some random actions.
// docs/inspect.md has the counts over 20 seeds.
static void every_slip_is_found(void **unused)
{
    (void)unused;
    static const double random[] = {1.0, 0.3};
    for (int e = 0; e < NENV; e++)
        for (int r = 0; r < 2; r++)
            for (int late = -1; late <= 1; late++) {
                living how = {.env = envs[e],
                              .seed = 1 + (uint64_t)r,
                              .n = 3000,
                              .random = random[r],
                              .cutoff = 300,
                              .action_late = late};
                int64_t shift = shift_of(how);
                if (shift != late)
                    fail_msg("%s, %g random, late %d: found %d", envs[e], random[r], late,
                             (int)shift);
            }
}

// Rewards, if they carry information: the cartpole's show the failure; the puddle's depth
// belongs to s' and is detected only if it is early.
static void slips_of_rewards(void **unused)
{
    (void)unused;
    for (int late = -1; late <= 1; late++)
        for (int e = 0; e < NENV; e++) {
            rh_log *log = log_of((living){.env = envs[e],
                                          .seed = 1,
                                          .n = 4000,
                                          .random = 1,
                                          .cutoff = 300,
                                          .reward_late = late});
            rh_log_report *report = report_of(log);
            bool found = find_id(report, "reward-shift") != NULL;
            bool cartpole = strcmp(envs[e], "cartpole") == 0;
            bool puddle = strcmp(envs[e], "puddle_world") == 0;
            assert_int_equal(found, (cartpole && late != 0) || (puddle && late < 0));
            rh_log_report_destroy(report);
            rh_log_destroy(log);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_warning_in_clean_logs),
        cmocka_unit_test(every_slip_is_found),
        cmocka_unit_test(slips_of_rewards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
