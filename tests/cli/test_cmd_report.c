// test_cmd_report.c - rehearse report, and the page that `tune` writes.

#include "cli/program.h"

#define SMALL                                                                                  \
    " -q -m knn --repr raw -n 200 -r 2 -j 1 -s alpha=0.01,0.1,1 -s tau=1,10 --confirm 2 "      \
    "--confirm-members 2 --confirm-runs 2 "

static int make_study(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    unsetenv("OMPI_COMM_WORLD_SIZE");
    return system(RH_PROGRAM " collect puddle_world -p medium -n 300 --episodes any -q -o "
                             "log.csv && " RH_PROGRAM " tune log.csv" SMALL);
}

static void run(const char *command)
{
    assert_int_equal(system(command), 0);
}

static void refuse(const char *line, const char *said)
{
    outcome o = rehearse(line);
    assert_int_equal(o.code, 2);
    assert_has(o.err, said);
    assert_string_equal(o.out, "");
    drop(&o);
}

// The data has what the page draws; the same study has the same bytes, resumed or on more
// threads.
static void from_tune(void **unused)
{
    (void)unused;
    char *data = contents("log.study/report.json");
    assert_has(data, "\"report\": 1,");
    assert_has(data, "\"command\": \"rehearse tune log.csv --model=knn");
    assert_has(data, "\"confirmations\": 2,");
    assert_has(data, "\"setting\": [0, 1, 2, 3, 4, 5, ");
    assert_has(data, "\"next\": \"rehearse run model:log.study/study.model --agent esarsa");
    assert_has(data, "\"best_yaml\": \"# the setting to deploy");
    assert_has(data, "\"series\": [");
    assert_has(data, "\"sample\": {");
    assert_has(data, "\"replays\": 8,");
    assert_has(data, "\"replays_ended\": ");
    assert_null(strstr(data, "seconds"));
    free(data);
    run("cp log.study/report.html was.html && rm log.study/report.html");
    free(output_of("tune log.csv" SMALL));
    run("cmp log.study/report.html was.html");
    run("rm -r log.study");
    free(output_of("tune log.csv" SMALL "-j 2"));
    run("cmp log.study/report.html was.html");
}

static void by_itself(void **unused)
{
    (void)unused;
    run("cp log.study/report.html was.html");
    char *said = output_of("report log.study");
    assert_string_equal(said, "log.study/report.html\n");
    free(said);
    run("cmp log.study/report.html was.html");
    said = output_of("report log.study/ -o other.html");
    assert_string_equal(said, "other.html\n");
    free(said);
    run("cmp other.html was.html");
    free(output_of("report --compare log.study log.study -o two.html"));
    run("mkdir there && echo '{\"steps\": 7, \"alarms\": [\"worse\"]}' > there/status.json");
    free(output_of("report log.study --deployment there -o plant.html"));
    run("grep -q 'class=\"deployment\">{\"folder\":\"there\",\"status\":{\"steps\":7' "
        "plant.html");
    run("echo '[1]' > there/status.json");
    refuse("report log.study --deployment there -o plant.html",
           "status.json: not an object, expected the data of");
    run("test $(grep -c 'class=\"study\"' two.html) = 2");
}

// A page while the study runs, which loads itself again; the same result as without.
static void while_it_runs(void **unused)
{
    (void)unused;
    free(output_of("tune log.csv" SMALL "-o unwatched.study"));
    free(output_of("tune log.csv" SMALL "-o watched.study --watch"));
    run("cmp unwatched.study/best.yaml watched.study/best.yaml && cmp unwatched.study/runs.csv "
        "watched.study/runs.csv");
    run("! grep -q 'http-equiv=\"refresh\"' watched.study/report.html");
    run("grep -q '\"progress\": null' watched.study/report.json");

    // one that lasts, interrupted after its first page
    pid_t pid = begin("tune log.csv --watch -q -m knn --repr raw -n 20000 -r 200 -s "
                      "alpha=0.01,0.1,1 -j 1 --no-confirm -o long.study");
    char *page = contents("long.study/report.html");
    for (int i = 0; i < 3000 && !*page; i++) {
        rest(0.02);
        free(page);
        page = contents("long.study/report.html");
    }
    assert_has(page, "<meta http-equiv=\"refresh\" content=\"5\">");
    assert_has(page, "\"finished\":false,");
    assert_has(page, "\"progress\":{\"stage\":\"search\",\"runs\":");
    free(page);
    assert_int_equal(kill(pid, SIGINT), 0);
    outcome o = await(pid);
    assert_int_equal(o.code, 128 + SIGINT);
    drop(&o);
    run("! grep -q 'http-equiv=\"refresh\"' long.study/report.html"); // it will not change
}

static void held_wrong(void **unused)
{
    (void)unused;
    run("mkdir -p empty");
    refuse("report log.study --deployment nowhere",
           "status.json: not found, expected the data of a deployment");
    refuse("report --compare log.study log.study -o x --deployment d",
           "--compare with --deployment, expected one");
    refuse("report", "report: 0 names, expected one: the folder of a study");
    refuse("report log.study log.study", "try: rehearse report --compare A.study B.study");
    refuse("report --compare log.study -o x", "--compare with 1 name, expected 2 to 8");
    refuse("report --compare log.study log.study", "--compare without --output");
    refuse("report log.csv", "log.csv: is a file, expected the folder of a study");
    refuse("report nowhere", "nowhere: no such folder, expected that of a study");
    refuse("report empty", "empty/report.json: not found, expected the data of a study");
    refuse("report log.study -o nowhere/x.html", "nowhere/x.html: cannot write");
    refuse("report log.study -o empty", "empty: cannot write: Is a directory");
    run("test ! -e empty/report.html");
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(from_tune),
        cmocka_unit_test(by_itself),
        cmocka_unit_test(while_it_runs),
        cmocka_unit_test(held_wrong),
    };
    return cmocka_run_group_tests(test, make_study, leave_folder);
}
