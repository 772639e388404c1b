// test_cmd_paper.c - rehearse paper: messages, what it leaves behind, and resuming.

#include "base/text.h"
#include "cli/program.h"
#include "paper/paper.h"

#define SMALL "paper exp4 --quick --logs 1 --costly 0 -o "

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

static void held_wrong(void **unused)
{
    (void)unused;
    refuse("paper", "paper: 0 names, expected one: an experiment, or all");
    refuse("paper exp1 exp2 -o x", "paper: 2 names, expected one");
    refuse("paper exp6 -o x", "no experiment 'exp6'; did you mean 'exp1'?");
    refuse("paper exp1", "paper: --output is missing, expected a folder for the results");
    refuse("paper exp1 -o ''", "paper: --output is missing");
    refuse("paper exp1 -o x --logs 0", "--logs");
    refuse("paper exp1 -o x --constants print", "did you mean 'printed'?");
    refuse("paper exp1 -o x --part 3/2", "paper: --part = 3/2, expected I/N such as 2/8");
    refuse("paper exp1 -o x --part two", "expected I/N such as 2/8");
    refuse("paper exp1 -o x --json --quiet", "--json and --quiet cannot be used together");
    run("echo > file");
    refuse("paper theory --quick -o file", "file: is a file, expected a folder");
    run("test ! -e x");
}

static void dry_run(void **unused)
{
    (void)unused;
    char *said = output_of("paper all --dry-run -o x");
    assert_has(said, "learning steps");
    assert_has(said, "hours");
    free(said);
    said = output_of("paper exp4 --dry-run --logs 2 --costly 0 --json -o x");
    assert_has(said, "\"cells\": 17,");
    assert_has(said, "\"cells_done\": 0,");
    assert_has(said, "\"learning_steps\": 243000000,"); // 54 x (30 + 6 x 10) x 50,000
    assert_has(said, "\"cpu_hours\": ");
    free(said);
    run("test ! -e x");
    said = output_of("paper --help");
    assert_has(said, "exp1 to exp5");
    free(said);
}

// Killed after its first cell, resumed: the same files as in one go, on another number of
// threads.
static void survives_a_kill(void **unused)
{
    (void)unused;
    pid_t pid = begin(SMALL "killed -q -j 1");
    for (int i = 0; i < 3000 && system("ls killed/cells/*.cell > none 2>&1") != 0; i++)
        rest(0.02);
    kill(pid, SIGKILL);
    outcome o = await(pid);
    assert_true(o.signal == SIGKILL || o.code == 0);
    drop(&o);
    run("test ! -e killed/index.html");
    char *said = output_of("paper exp4 --quick --logs 1 --costly 0 --dry-run --json -o killed");
    assert_null(strstr(said, "\"cells_done\": 0,"));
    free(said);
    said = output_of(SMALL "killed -q -j 1");
    assert_string_equal(said, "");
    free(said);
    said = output_of(SMALL "whole --json -j 2");
    assert_has(said, "\"experiment\": \"exp4\",");
    assert_has(said, "\"id\": \"4.1 reasonable\",");
    assert_has(said, "\"verdict\": \"not decided\",");
    free(said);
    run("for f in cells results.csv settings.csv claims.csv; do diff -r killed/$f whole/$f || "
        "exit "
        "1; done");
    run("test $(ls whole/cells | wc -l) = 9 && test $(wc -l < whole/work.csv) = 10");
}

// Ctrl-C: what is kept is said, and how to resume.
static void interrupted(void **unused)
{
    (void)unused;
    pid_t pid = begin(SMALL "stopped -j 1");
    await_handler(pid);
    kill(pid, SIGINT);
    outcome o = await(pid);
    assert_int_equal(o.code, 128 + SIGINT);
    assert_has(o.err, "cells are kept in stopped; the same command resumes");
    drop(&o);
}

// Two machines with one folder: parts, then the results of both.
static void in_parts(void **unused)
{
    (void)unused;
    outcome o = rehearse("paper theory --quick -o parts --part 1/2 -j 1");
    assert_int_equal(o.code, 0);
    assert_has(o.err, "part 1 of 2 is done; 2 of 4 cells of all parts are in parts");
    drop(&o);
    run("test ! -e parts/index.html");
    char *said = output_of("paper theory --quick -o parts --part 2/2 -j 1");
    assert_has(said, "T.1"); // the last one finds all of them
    free(said);
    run("test $(wc -l < parts/work.csv) = 5 && test -e parts/index.html");
}

static void leaves(void **unused)
{
    (void)unused;
    char *text = contents("whole/paper.json");
    assert_has(text, "\"paper\": 1,");
    assert_has(text,
               "\"command\": \"rehearse paper exp4 --logs 1 --costly 0 --quick --seed 1 -o "
               "whole\"");
    assert_has(text, "\"id\": \"exp4-estimates\"");
    assert_has(text, "\"draw\": \"dots\"");
    free(text);
    text = contents("whole/claims.csv");
    assert_has(text, "claim,experiment,verdict,value,lo95,hi95,logs,measured,rule,sentence\n");
    assert_has(text, "\"4.6 medium\",exp4,not decided,");
    free(text);
    text = contents("whole/results.csv");
    assert_has(text, "exp4,exp4-chosen,\"random data\",1,-");
    free(text);
    text = contents("whole/settings.csv");
    assert_has(text, ",alpha=0.03 beta1=0 tau=0.1 w_init=0,");
    free(text);
    text = contents("whole/index.html");
    assert_has(text, "<script type=\"application/json\" class=\"paper\">");
    assert_has(text, "default-src 'none'");
    free(text);
    text = output_of(SMALL "whole -j 1"); // nothing is left to do
    assert_has(text, "4.1 reasonable");
    assert_has(text, "not decided");
    assert_has(text, "whole/index.html");
    free(text);
}

// The program that starts this one knows its experiments by name, without its code.
static void names_are_those_of_the_experiments(void **unused)
{
    (void)unused;
    rh_text names = {0};
    char *text = output_of("completion fish");
    for (int i = 0; rh_paper_at(i); i++)
        rh_text__format(&names, "%s ", rh_paper_at(i)->name);
    rh_text__add(&names, "all");
    assert_false(names.bad);
    assert_has(text, names.data);
    rh_text__clear(&names);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_wrong),
        cmocka_unit_test(dry_run),
        cmocka_unit_test(survives_a_kill),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(in_parts),
        cmocka_unit_test(leaves),
        cmocka_unit_test(names_are_those_of_the_experiments),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
