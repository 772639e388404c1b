// test_library.c - the library does what the program does: the same study, the same bytes.

#include "program.h"

#include "rehearse/rehearse.h"

static const char *const file[] = {"best.yaml", "runs.csv", "report.json", "report.html"};
#define NFILE (sizeof file / sizeof *file)

static void must(rh_status rc, const rh_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static void a_study_from_c_has_the_files_of_the_program(void **unused)
{
    (void)unused;
    static const char *const said[][2] = {
        {"data", "log.csv"},         {"model.kind", "knn"},    {"representation.kind", "raw"},
        {"evaluation.steps", "100"}, {"evaluation.runs", "2"}, {"budget.trials", "4"},
        {"confirm.settings", "2"},   {"confirm.members", "2"}, {"confirm.runs", "2"},
    };
    const char *line = "tune log.csv --output=s.study --model=knn --repr=raw --steps=100 "
                       "--runs=2 --trials=4 --confirm=2 --confirm-members=2 --confirm-runs=2";
    char *expected[NFILE], path[64], command[300];
    free(output_of("collect acrobot -p medium -n 600 -q -o log.csv"));
    free(output_of(line));
    for (size_t i = 0; i < NFILE; i++) {
        snprintf(path, sizeof path, "s.study/%s", file[i]);
        expected[i] = contents(path);
        assert_true(*expected[i]);
    }
    assert_int_equal(system("rm -r s.study"), 0);

    rh_error err = {""};
    rh_log *log = NULL;
    rh_plan *plan = NULL;
    rh_study *study = NULL;
    rh_study_options opt = rh_study_defaults();
    snprintf(command, sizeof command, "rehearse %s", line);
    opt.folder = "s.study";
    opt.command = command;
    must(rh_log_read(&log, "log.csv", NULL, &err), &err);
    must(rh_plan_create(&plan, &err), &err);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        must(rh_plan_set(plan, said[i][0], said[i][1], NULL, &err), &err);
    must(rh_plan_check(plan, &err), &err);
    must(rh_plan_settle(plan, log, &err), &err);
    must(rh_study_create(&study, plan, log, NULL, NULL, &opt, &err), &err);
    must(rh_study_run(study, &err), &err);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);

    for (size_t i = 0; i < NFILE; i++) {
        snprintf(path, sizeof path, "s.study/%s", file[i]);
        char *found = contents(path);
        assert_string_equal(found, expected[i]);
        free(found);
        free(expected[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_study_from_c_has_the_files_of_the_program,
                                        enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
