// test_log_check.c - what inspect says of a log reaches tune and fit: errors end them unless
// they are accepted by name, warnings go along to the verdict. Several logs, and the folder of
// a study, as what tune is given.

#include "cli/program.h"

#include "rehearse/rehearse.h"

#define QUICK                                                                                  \
    " -m knn --repr raw -n 200 -r 2 -s alpha=0.01,0.1,1 -s tau=1,10 --confirm 2 "              \
    "--confirm-members 2 --confirm-runs 2 --confirm-kinds chosen"

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void remove_folder(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

// A tank whose pump moves the level at once. late: rows have the action of the row before.
static void write_tank(const char *path, const char *names, int nrow, int late, uint64_t seed)
{
    FILE *file = fopen(path, "w");
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, 0, 0);
    double level = 5.0;
    int before = 0;
    assert_non_null(file);
    fprintf(file, "%s\n", names);
    for (int i = 0; i < nrow; i++) {
        int pump = (int)rh_rng_below(&rng, 3);
        fprintf(file, "%.4f,%d,%.4f\n", level, late ? before : pump,
                -(level - 5.0) * (level - 5.0));
        level += 0.3 * (pump - 1) + 0.02 * rh_rng_uniform(&rng);
        level = level < 0.0 ? 0.0 : level > 10.0 ? 10.0 : level;
        before = pump;
    }
    fclose(file);
}

static void refuses_errors(void **unused)
{
    (void)unused;
    write_tank("late.csv", "level,action,reward", 600, 1, 1);
    static const char *const line[] = {"tune late.csv" QUICK,
                                       "tune late.csv --json" QUICK,
                                       "tune late.csv -q" QUICK,
                                       "tune late.csv --dry-run" QUICK,
                                       "fit late.csv -m knn --repr raw",
                                       "tune late.csv --accept next-shift" QUICK};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        outcome o = rehearse(line[i]);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_has(o.err, "rehearse: late.csv: error row-shift: ");
        assert_has(o.err, "try: rehearse inspect late.csv, which says what to do\n");
        assert_has(o.err, "try: --accept row-shift to go on nevertheless");
        assert_false(exists("late.study"));
        assert_false(exists("late.model"));
        drop(&o);
    }
}

// Accepted, an error stays a finding of the verdict and limits the trust.
static void accepts_by_name(void **unused)
{
    (void)unused;
    char *out = output_of("tune late.csv --accept row-shift" QUICK);
    assert_has(out, "log findings    1 error, ");
    assert_has(out, "\n  error   row-shift: (accepted) ");
    assert_has(out, "; details: rehearse inspect late.csv\n");
    assert_null(strstr(out, "\ntrust           high"));
    assert_null(strstr(out, "\ntrust           medium"));
    free(out);
    char *best = contents("late.study/best.yaml");
    assert_has(best, "  findings: {errors: 1, warnings: ");
    assert_has(best, "accepted: [row-shift]}");
    assert_true(strstr(best, "trust: {level: low") || strstr(best, "trust: {level: cannot"));
    free(best);
    char *page = contents("late.study/report.json");
    assert_has(page, "\"accepted\"");
    free(page);

    // resumed, with another list or none, it is the same study
    out = output_of("tune late.csv --accept next-shift --accept row-shift --json" QUICK);
    assert_has(out, "\"origin\": \"log\"");
    assert_has(out, "\"accepted\": true");
    assert_has(out, "\"accept\": \"row-shift,next-shift\"");
    free(out);
    FILE *file = fopen("late.yaml", "w");
    assert_non_null(file);
    fputs("data: late.csv\naccept: [row-shift]\n", file);
    fclose(file);
    free(output_of("tune late.yaml -q" QUICK));
    remove_folder("late.study");
    free(output_of("fit late.csv --accept row-shift -m knn --repr raw -q"));
    // the model has the log, and the log its errors
    outcome o = rehearse("tune model:late.model -n 200 -r 2 -s alpha=0.1,1 --no-confirm");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "error row-shift: ");
    drop(&o);
}

// The README's plant: -9999 is no level. It is said, or refused, or taken for missing.
static void a_plant_with_sentinels(void **unused)
{
    (void)unused;
    assert_int_equal(system("cp " RH_TEST_DATA "/../../examples/plant.csv ."), 0);
    outcome o = rehearse("tune plant.csv --action pump --reward='-energy - 50*trip' --terminal "
                         "trip --episode shift" QUICK);
    char *best = contents("plant.study/best.yaml");
    const char *level = strstr(best, "\"level\"");
    bool used =
        o.code == 0 && level && strncmp(strstr(level, "range: ["), "range: [-9", 10) == 0;
    if (used || o.code)
        assert_has(o.code ? o.err : o.out, "sentinel: ");
    if (!o.code)
        assert_has(o.out, "details: rehearse inspect plant.csv --action=pump\n                "
                          "--reward='-energy - 50*trip' --terminal=trip --episode=shift\n");
    free(best);
    drop(&o);

    // with the value declared, warnings of the log are among those of the verdict
    char *json =
        output_of("tune plant.csv --action pump --reward='-energy - 50*trip' "
                  "--terminal trip --episode shift --missing=-9999 --json -o m.study" QUICK);
    assert_has(json, "\"id\": \"frozen-sensor\"");
    assert_has(json, "\"origin\": \"log\"");
    assert_has(json, "\"origin\": \"study\"");
    free(json);
    json = output_of("fit plant.csv --action pump --reward='-energy - 50*trip' --terminal trip "
                     "--episode shift --missing=-9999 -m knn --repr raw --json");
    assert_has(json, "\"id\": \"frozen-sensor\"");
    free(json);
    o = rehearse("fit plant.csv --action pump --reward='-energy - 50*trip' --terminal trip "
                 "--episode shift --missing=-9999 -m knn --repr raw --strict -q");
    assert_int_equal(o.code, 1);
    drop(&o);
}

static void several_logs(void **unused)
{
    (void)unused;
    write_tank("jan.csv", "level,action,reward", 300, 0, 2);
    write_tank("feb.csv", "level,action,reward", 300, 0, 3);
    write_tank("mar.csv", "height,action,reward", 300, 0, 4);
    char *out = output_of("tune jan.csv feb.csv" QUICK);
    assert_has(out, "log             jan.csv, feb.csv: 598 steps in 2 episodes, ");
    assert_has(out, "study           jan.study\n");
    free(out);
    char *best = contents("jan.study/best.yaml");
    assert_has(best, "  path: \"jan.csv, feb.csv\"\n");
    free(best);
    out = output_of("inspect jan.csv feb.csv");
    assert_has(out, "episodes 0 to 0; ");
    assert_has(out, "observations = level; ");
    free(out);
    free(output_of("fit [jf]??.csv -m knn --repr raw -q"));
    assert_true(exists("feb.model"));

    outcome o = rehearse("tune jan.csv mar.csv" QUICK);
    assert_int_equal(o.code, 2);
    assert_string_equal(o.err, "rehearse: mar.csv: lacks level and has also height; expected "
                               "the sensors of jan.csv\n");
    drop(&o);

    // another log in the same folder: what differs
    o = rehearse("tune jan.csv -o jan.study" QUICK);
    assert_int_equal(o.code, 2);
    assert_has(o.err, "the study is of another log: path jan.csv, feb.csv, this one jan.csv; "
                      "steps 598, this one 299; fingerprint ");
    drop(&o);
    o = rehearse("tune mar.csv -o jan.study" QUICK);
    assert_has(o.err, "columns level, action, this one height, action");
    drop(&o);
}

// The folder of a study stands for the command that began it.
static void resumes_a_folder(void **unused)
{
    (void)unused;
    assert_int_equal(system("mkdir elsewhere"), 0);
    char *first = contents("jan.study/best.yaml");
    outcome o = rehearse("tune jan.study");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "log             ");
    assert_has(o.out, "/feb.csv: 598");
    drop(&o);
    char *again = contents("jan.study/best.yaml");
    const char *const path = "log:\n  path: ";
    assert_memory_equal(first, again, (size_t)(strstr(first, path) - first));
    free(first);
    free(again);
    assert_int_equal(system("cd elsewhere && " RH_PROGRAM " tune ../jan.study -q"), 0);
    o = rehearse("tune jan.study -o other.study");
    assert_int_equal(o.code, 2);
    drop(&o);
    assert_int_equal(unlink("jan.study/study.yaml"), 0);
    o = rehearse("tune jan.study");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "jan.study: a study without study.yaml");
    drop(&o);

    // an interrupted one, with options of reading
    pid_t pid = begin("tune jan.csv --obs level --derive 'two = 2*level' -o cut.study -m knn "
                      "--repr raw -n 20000 -r 40 -s alpha=0.01,0.1,1 --no-confirm");
    for (int i = 0; i < 3000 && !exists("cut.study/study.yaml"); i++)
        rest(0.02);
    kill(pid, SIGTERM);
    o = await(pid);
    assert_int_equal(o.code, 128 + SIGTERM);
    drop(&o);
    o = rehearse("tune cut.study");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "2 sensors");
    assert_true(exists("cut.study/best.yaml"));
    drop(&o);
}

// run takes the ranges and the cut-off of the study, as far as the plant has these sensors.
static void runs_as_in_the_study(void **unused)
{
    (void)unused;
    assert_int_equal(system(RH_PROGRAM
                            " collect puddle_world -p medium -n 600 --episodes any -q "
                            "-o puddle.csv"),
                     0);
    free(output_of(
        "tune puddle.csv -q -o p.study --cutoff 77 --range x=-0.25:1.5 -m knn --repr raw "
        "-n 200 -r 2 -s alpha=0.1,1 --no-confirm"));
    char *best = contents("p.study/best.yaml");
    assert_has(best, "\n  cutoff: 77 # steps of an episode, at most\n");
    assert_has(best, "{name: \"x\", range: [-0.25, 1.5], ");
    free(best);
    char *out = output_of("run puddle_world --setting p.study/best.yaml -n 300 -r 2");
    assert_has(out, "  range         x=-0.25:1.5\n");
    assert_has(out, "  cutoff        episodes are truncated after 77 steps\n");
    char *same = output_of("run puddle_world --setting p.study/best.yaml -n 300 -r 2 --json");
    char *given = output_of("run puddle_world --setting p.study/best.yaml -n 300 -r 2 --json "
                            "--cutoff 50 --range x=0:1");
    assert_has(same, "-0.25");
    assert_null(strstr(given, "-0.25"));
    free(same);
    free(given);
    free(out);
    out = output_of("run acrobot --setting p.study/best.yaml -n 300 -r 2");
    assert_null(strstr(out, "  range "));
    assert_has(out, "truncated after 77 steps");
    free(out);
    out =
        output_of("tune puddle.csv -q -o q.study -m knn --repr raw -n 200 -r 2 -s alpha=0.1,1 "
                  "--no-confirm --setting p.study/best.yaml --cutoff never");
    free(out);
    best = contents("q.study/best.yaml");
    assert_has(best, "\n  cutoff: never # ");
    free(best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_errors),         cmocka_unit_test(accepts_by_name),
        cmocka_unit_test(a_plant_with_sentinels), cmocka_unit_test(several_logs),
        cmocka_unit_test(resumes_a_folder),       cmocka_unit_test(runs_as_in_the_study),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
