// test_plugins.c - plug-ins on the command line and in studies: listed, run, resumed, refused.

#include "program.h"

#include <poll.h>
#include <sys/stat.h>

#define GOOD RH_SAMPLES "/my_plugin.so"
#define SAMPLE(name) RH_SAMPLES "/sample_" name ".so"

static void expect(const char *line, int code, const char *in_out, const char *in_err)
{
    outcome o = rehearse(line);
    if (o.code != code || !strstr(o.out, in_out) || !strstr(o.err, in_err))
        fail_msg("rehearse %s: exit %d\n%s%s", line, o.code, o.out, o.err);
    drop(&o);
}

static void its_parts_are_everywhere(void **unused)
{
    (void)unused;
    expect("list agents --plugin " GOOD, 0, "my_sarsa", "");
    expect("list agents my_sarsa --plugin " GOOD, 0, "my_plugin.so", "");
    expect("list envs my_tank --plugin=" GOOD, 0, "inflow", "");
    expect("completion bash --plugin " GOOD, 0, "my_sarsa) echo 'alpha= tau= lambda=", "");
    expect("run --help --plugin " GOOD, 0, "my_sarsa", "");
    expect("run my_tank -a my_sarsa -r 2 -n 500 -q --plugin " GOOD, 0, "score", "");
    expect("sweep my_tank -a my_sarsa -s alpha=0.1,0.2 -r 2 -n 500 -q --plugin " GOOD, 0,
           "alpha", "");
    expect("collect my_tank --policy random --steps 200 -o tank.csv -q --plugin " GOOD, 0, "",
           "");
    expect("run my_tank -a esarsa", 2, "", "no environment 'my_tank'");
}

// A program in place of an environment: the same results for any number of jobs.
static void an_environment_is_a_program(void **unused)
{
    (void)unused;
#define SIMULATOR "\"exec:python3 " RH_TEST_DATA "/../../examples/exec_env.py\""
    if (system("python3 -c 0 >/dev/null 2>&1") != 0)
        skip();
    expect("list envs " SIMULATOR, 0, "trip_cost", "");
    expect("list envs --json " SIMULATOR, 0, "\"trip_cost\"", "");
    expect("run " SIMULATOR " -a esarsa -r 3 -n 200 -q -j1 --csv one.csv", 0, "score", "");
    expect("run " SIMULATOR " -a esarsa -r 3 -n 200 -q -j3 --csv two.csv", 0, "score", "");
    assert_int_equal(system("cmp one.csv two.csv"), 0);
    expect("run " SIMULATOR " -a esarsa -r 1 -n 200 -q --env-set trip_cost=0 --csv free.csv", 0,
           "score", "");
    assert_int_not_equal(system("cmp -s one.csv free.csv"), 0);
    expect("sweep " SIMULATOR " -a esarsa -s alpha=0.1,0.2 -r 2 -n 200 -q", 0, "alpha", "");
    expect("collect " SIMULATOR " -p random -n 100 -o sim.csv -q --exec-timeout 20", 0, "", "");
    expect("fit sim.csv --model knn --repr raw --task " SIMULATOR " -o sim.model -q", 0, "",
           "");
    expect("run \"exec:echo hello; sleep 1\" -a esarsa", 2, "",
           "answered 'hello', expected its description in JSON");
    expect("collect acrobot -p random -o x.csv --exec-timeout 0", 2, "",
           "--exec-timeout = 0, expected a whole number, 1 to 86,400");
    expect("run acrobot -a esarsa --exec-timeout 0", 2, "",
           "--exec-timeout = 0, expected above 0, to 86,400 seconds");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define STUDY                                                                                  \
    "tune tank.csv --agent my_sarsa -s alpha=0.1,0.2 --runs 2 --steps 300 --repr raw "         \
    "--model knn --confirm 1 --confirm-members 1 --confirm-runs 1 -q -o tank.study --plugin "

// The journal has a hash of the plug-in: the same bytes elsewhere go on, others do not.
static void a_study_keeps_to_its_build(void **unused)
{
    (void)unused;
    expect(STUDY GOOD, 0, "", "");
    char *journal = contents("tank.study/study.log"), *best = contents("tank.study/best.yaml");
    assert_non_null(strstr(journal, "\"plugins\":\""));
    assert_non_null(strstr(best, "\nplugins: [\"" GOOD "\"]\n"));
    assert_non_null(strstr(best, "\n  name: my_sarsa\n"));
    free(journal);
    // best.yaml loads nothing by itself
    expect("run acrobot --setting tank.study/best.yaml -r 1 -n 100 -q", 2, "",
           "tank.study/best.yaml: would load the plug-in '" GOOD
           "'; if you trust it, use --plugin with its path");
    expect("deploy tank.study/best.yaml </dev/null", 2, "", "would load the plug-in '" GOOD);
    expect("deploy tank.study/best.yaml --plugin " GOOD " </dev/null", 0, "", "my_sarsa");
    expect("run my_tank --setting tank.study/best.yaml --plugin " GOOD " -r 1 -n 100 -q", 0,
           "my_sarsa", "");

    // moved, and resumed
    assert_int_equal(system("cp " GOOD " moved.so"), 0);
    expect(STUDY "./moved.so", 0, "", "");
    // another build
    assert_int_equal(system("printf x >>moved.so"), 0);
    expect(STUDY "./moved.so", 2, "", "the study has another build of its plug-ins (");
    // none
    expect("tune tank.csv --agent my_sarsa -o tank.study", 2, "", "no agent 'my_sarsa'");
    free(best);
}

static void a_study_file_loads_it(void **unused)
{
    (void)unused;
    assert_int_equal(system("mkdir -p sub && cp " GOOD " sub/mine.so"), 0);
    // the path starts from the file's folder, and the key may follow the agent
    write_file("sub/a.yaml",
               "env: my_tank\nagent: my_sarsa\nevaluation: {steps: 300, runs: 1}\n"
               "plugins: mine.so\n");
    expect("run sub/a.yaml -q", 0, "my_sarsa", "");
    write_file("sub/b.yaml",
               "plugins: [mine.so, " SAMPLE(
                   "illegal") "]\nenv: acrobot\n"
                              "agent: sample\nevaluation: {steps: 300, runs: 1}\n");
    expect("run sub/b.yaml -q", 1,
           "1 of 1 runs: sample chose action 7, expected an index, 0 to 2", "");
    write_file("sub/c.yaml", "env: my_tank\nplugins: [other.so]\n");
    expect("run sub/c.yaml", 2, "",
           "sub/c.yaml:2: sub/other.so: No such file or directory; expected the shared");
}

// A program that best.yaml names is started only if the line allows it.
static void a_setting_starts_nothing(void **unused)
{
    (void)unused;
    static const char *const line[] = {"deploy evil.yaml", "run acrobot --setting evil.yaml",
                                       "sweep acrobot --setting evil.yaml --set a=1",
                                       "tune tank.csv --setting evil.yaml -o evil.study"};
    write_file("evil.yaml", "agent: {name: \"exec:touch started; sed -e '\\e[31m'\"}\n");
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        expect(line[i], 2, "",
               "evil.yaml: agent.name would start the program 'touch started; sed -e '?[31m''; "
               "if you trust it, use --allow-exec");
        assert_int_not_equal(access("started", F_OK), 0);
    }
    expect("run acrobot --setting evil.yaml --allow-exec", 2, "", "exec:touch started");
    assert_int_equal(access("started", F_OK), 0);
    if (system("python3 -c 0 >/dev/null 2>&1") != 0)
        skip();
    write_file("own.yaml", "agent: {name: \"exec:python3 " RH_TEST_DATA
                           "/../../examples/exec_agent.py\", alpha: 0.1, epsilon: 0.1, "
                           "cells: 4}\n");
    expect("run acrobot --setting own.yaml --allow-exec -r 1 -n 50 -q", 0, "score", "");
}

static void broken_ones_are_refused(void **unused)
{
    (void)unused;
    expect("list --plugin", 2, "", "--plugin needs a value");
    expect("list --plugin nowhere.so", 2, "", "nowhere.so: No such file or directory");
    expect("list --plugin " SAMPLE("other_abi"), 2, "", "built for plug-in interface 99");
    expect("list --plugin " SAMPLE("no_function"), 2, "", "exports no function");
}

static void crashes_are_reported(void **unused)
{
    (void)unused;
    outcome o = rehearse("list agents --plugin " SAMPLE("crash_load"));
    assert_int_not_equal(o.code, 0);
    assert_non_null(strstr(
        o.err,
        "plug-in " SAMPLE("crash_load") " crashed while it was loaded: segmentation fault"));
    drop(&o);
    o = rehearse("run acrobot -a sample -r 1 -n 100 --plugin " SAMPLE("crash_step"));
    assert_int_not_equal(o.code, 0);
    assert_non_null(
        strstr(o.err, "plug-in " SAMPLE("crash_step") " crashed: segmentation fault"));
    drop(&o);
}

// One signal ends the program, also where a plug-in does not return.
static void one_that_loops_is_ended(void **unused)
{
    (void)unused;
    static const int by[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        pid_t pid = begin("run acrobot -a sample -r 2 -n 100 -q -j2 --plugin " SAMPLE("loop"));
        await_handler(pid);
        rest(0.2);
        assert_int_equal(kill(pid, by[i]), 0);
        outcome o = await(pid);
        assert_int_equal(o.signal, by[i]);
        assert_non_null(strstr(o.err, "rehearse: stopped: a plug-in does not return\n"));
        drop(&o);
    }
}

// Whether nobody has the named pipe open for writing any more, within ten seconds.
static bool is_left(int pipe)
{
    struct pollfd open = {.fd = pipe, .events = POLLIN};
    return poll(&open, 1, 10000) == 1 && (open.revents & POLLHUP);
}

// One signal ends the program, also where one of exec: does not answer, and that one with its
// children: while it describes itself, and in a run.
static void one_that_does_not_answer_is_ended(void **unused)
{
    (void)unused;
    static const int by[] = {SIGINT, SIGTERM};
    write_file("silent.sh",
               "while read -r line; do\n    case $line$1 in\n"
               "    *describe*1) echo '{\"rehearse\": 1, \"parameters\": []}' ;;\n"
               "    *) exec 3>held; echo here >&3; sleep 600 ;;\n    esac\ndone\n");
    assert_int_equal(mkfifo("held", 0600), 0);
    for (int i = 0; i < 3; i++) { // the last one in a run
        char line[80], word[8] = "";
        snprintf(line, sizeof line, "run acrobot -a 'exec:sh silent.sh %d' -r 1 -q", i / 2);
        pid_t pid = begin(line);
        int held = open("held", O_RDONLY); // waits for the program
        assert_int_equal(read(held, word, 5), 5);
        assert_int_equal(kill(pid, by[i % 2]), 0);
        outcome o = await(pid);
        assert_int_equal(o.signal, by[i % 2]);
        assert_int_equal(strstr(o.err, "stopped: a program does not answer\n") != NULL, i >= 2);
        assert_true(is_left(held));
        close(held);
        drop(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_parts_are_everywhere),
        cmocka_unit_test(an_environment_is_a_program),
        cmocka_unit_test(a_study_keeps_to_its_build),
        cmocka_unit_test(a_study_file_loads_it),
        cmocka_unit_test(a_setting_starts_nothing),
        cmocka_unit_test(broken_ones_are_refused),
        cmocka_unit_test(crashes_are_reported),
        cmocka_unit_test(one_that_loops_is_ended),
        cmocka_unit_test(one_that_does_not_answer_is_ended),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
