// test_cmd_run.c - rehearse run: its words, JSON, CSV and saved states.

#include "cli/program.h"
#include "rehearse/base.h"

#include <math.h>

#define SMALL "run puddle_world -a esarsa -n 2000 -r 5 "

// The end of the JSON value at `text`, or NULL when it is none.
static const char *json_end(const char *text)
{
    text += strspn(text, " \n");
    if (*text == '{' || *text == '[') {
        char closing = *text == '{' ? '}' : ']';
        text += 1 + strspn(text + 1, " \n");
        while (text && *text != closing) {
            if (closing == '}') {
                text = *text == '"' ? json_end(text) : NULL;
                if (!text || *text++ != ':')
                    return NULL;
            }
            text = json_end(text);
            if (!text)
                return NULL;
            text += strspn(text, " \n");
            if (*text == ',')
                text += 1 + strspn(text + 1, " \n"), text = *text == closing ? NULL : text;
            else if (*text != closing)
                return NULL;
        }
        return text ? text + 1 : NULL;
    }
    if (*text == '"') {
        for (text++; *text && *text != '"'; text++)
            text += *text == '\\';
        return *text ? text + 1 : NULL;
    }
    if (strncmp(text, "null", 4) == 0 || strncmp(text, "true", 4) == 0)
        return text + 4;
    if (strncmp(text, "false", 5) == 0)
        return text + 5;
    char *end;
    (void)strtod(text, &end);
    return end > text && strchr("-0123456789", *text) ? end : NULL;
}

static void assert_json(const char *text)
{
    const char *end = json_end(text);
    assert_non_null(end);
    assert_string_equal(end, "\n");
}

// The number behind "key": in a document.
static double number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL);
}

static void prints_words(void **unused)
{
    (void)unused;
    outcome o = rehearse(SMALL "-s alpha=0.05 -e noise=0.02 --range x=-2:2");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, ""); // too short for a word about progress
    assert_has(o.out, "environment     puddle_world noise=0.02\n");
    assert_has(o.out, "  range         x=-2:2\n");
    assert_has(o.out, "agent           esarsa alpha=0.05\n");
    assert_has(o.out, "  defaults      beta1=0 tau=1");
    assert_has(o.out, "runs            5 of 2,000 steps, seed 1, criterion average\n");
    assert_has(o.out, "95 % interval");
    assert_has(o.out, "steps/s");
    assert_has(o.out, "\u2514\u2500\u2500"); // the chart's corner
    assert_null(strchr(o.out, '\033'));      // no colour in a file
    drop(&o);

    setenv("LC_ALL", "C", 1);
    char *plain = output_of(SMALL);
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_has(plain, "+-----");
    for (const char *c = plain; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    free(plain);
}

static void prints_json(void **unused)
{
    (void)unused;
    char *json = output_of(SMALL "--json --points 7 --cutoff 500");
    assert_json(json);
    char version[64];
    snprintf(version, sizeof version, "\"version\": \"%s\"", rh_version());
    assert_has(json, version);
    assert_has(json, "\"env\": \"puddle_world\"");
    assert_has(json, "\"alpha\": 0.1,");
    assert_has(json, "\"cutoff\": 500,\n  \"cutoff_as\": \"truncate\"");
    assert_has(json, "\"step\": [286, 572, 858, 1143, 1429, 1715, 2000]");
    assert_true(number_of(json, "finished_runs") == 5);
    assert_true(number_of(json, "lo95") < number_of(json, "mean"));
    assert_true(number_of(json, "steps_per_second") > 0);
    assert_true(number_of(json, "seconds") > 0);
    assert_has(json, "\"failed\": 0,\n  \"failure\": null");
    assert_has(json, "\"out_of_coverage\": 0, \"outcome\": \"finished\"");
    free(json);

    // no episode ends in 50 steps
    json = output_of("run acrobot -a esarsa -n 50 -r 1 --points 3 --json");
    assert_json(json);
    assert_has(json, "\"mean\": [null, null, null]");
    assert_has(json, "\"stderr\": null");
    free(json);

    char *list = output_of("list --json");
    assert_json(list);
    free(list);
}

// Errors leave nothing on standard output; runs that all fail leave their results.
static void json_of_errors(void **unused)
{
    (void)unused;
    static const char *const refused[] = {"run acrobot -a nosuch --json",
                                          "run nosuch -a esarsa --json",
                                          "run model:nowhere -a esarsa --json",
                                          "run acrobot -a esarsa --json --save /nowhere/x",
                                          "run acrobot -a esarsa --json --csv -",
                                          "fit nowhere.csv -o x.model --json"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        outcome o = rehearse(refused[i]);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_has(o.err, "rehearse: ");
        drop(&o);
    }
    outcome o = rehearse("run puddle_world -r 2 -n 50 --json -a \"exec:sed -u -e "
                         "'/describe/s/.*/{\\\"rehearse\\\":1}/;t' -e 's/.*/hello/'\"");
    assert_int_equal(o.code, 1);
    assert_json(o.out);
    assert_true(number_of(o.out, "failed") == 2);
    assert_has(o.out, "\"failure\": \"exec:sed ");
    assert_has(o.out, "\"outcome\": \"failed\"");
    assert_has(o.err, "every run failed: exec:sed ");
    assert_has(o.err, "answered 'hello', expected {\"action\": ...}");
    drop(&o);
}

// Rows, columns, and their mean, which is the score.
static void writes_csv(void **unused)
{
    (void)unused;
    char *words = output_of(SMALL "--csv runs.csv"), *csv = contents("runs.csv");
    char *piped = output_of(SMALL "--csv -"), *json = output_of(SMALL "--json");
    assert_has(words, "score ");
    assert_string_equal(csv, piped); // and nothing else
    const char *head = "run,score,total,steps,episodes,outcome\n";
    assert_true(strncmp(csv, head, strlen(head)) == 0);

    double sum = 0.0;
    const char *line = csv + strlen(head);
    for (int i = 0; i < 5; i++) {
        int run, used = 0;
        long steps, episodes;
        double score, total;
        char ended[32];
        assert_int_equal(sscanf(line, "%d,%lf,%lf,%ld,%ld,%31[a-z]\n%n", &run, &score, &total,
                                &steps, &episodes, ended, &used),
                         6);
        assert_int_equal(run, i);
        assert_int_equal(steps, 2000);
        assert_string_equal(ended, "finished");
        sum += score;
        line += used;
    }
    assert_string_equal(line, "");
    assert_true(fabs(sum / 5.0 - number_of(json, "mean")) < 1e-9 * fabs(sum));
    free(words);
    free(csv);
    free(piped);
    free(json);
}

// Cut the document off before the speed.
static void forget_speed(char *json)
{
    char *speed = strstr(json, "\"steps_per_second\"");
    assert_non_null(speed);
    *speed = 0; // the last line of all
}

static void jobs_change_nothing(void **unused)
{
    (void)unused;
    char *one = output_of(SMALL "-j 1 --json"), *three = output_of(SMALL "-j 3 --json");
    char *seed = output_of(SMALL "-j 3 --json --seed 2");
    forget_speed(one);
    forget_speed(three);
    forget_speed(seed);
    assert_string_equal(one, three);
    assert_string_not_equal(one, seed);
    free(one);
    free(three);
    free(seed);
    char *csv1 = output_of(SMALL "-j 1 --csv -"), *csv3 = output_of(SMALL "-j 3 --csv -");
    assert_string_equal(csv1, csv3);
    free(csv1);
    free(csv3);
}

static void divergence_is_a_result(void **unused)
{
    (void)unused;
    const char *line = "run acrobot -a actor_critic -s alpha_critic=10 -n 2000 -r 3";
    char *words = output_of(line);
    assert_has(words,
               "diverged        3 of 3 runs: numbers of the agent were no longer finite\n");
    assert_has(words, "no learning curve");
    free(words);
    char with_save[128];
    snprintf(with_save, sizeof with_save, "%s --save bad.state", line);
    outcome o = rehearse(with_save);
    assert_int_equal(o.code, 1); // asked to save, and did not
    assert_has(o.err, "nothing saved to 'bad.state': run 0 ended as diverged");
    assert_int_not_equal(access("bad.state", F_OK), 0);
    drop(&o);
}

static void saves_and_loads(void **unused)
{
    (void)unused;
    const char *frozen = "run puddle_world --load arm.state --freeze -n 2000 -r 3 ";
    char line[256];
    free(output_of("run puddle_world -a esarsa -s alpha=0.05 -n 10000 -r 3 --save arm.state"));
    free(
        output_of("run puddle_world -a esarsa -s alpha=0.05 -n 10000 -r 1 --save again.state"));
    assert_int_equal(system("cmp arm.state again.state"), 0); // run 0, whatever runs beside it

    // the agent and its setting come from the file
    char *json = output_of("run puddle_world --load arm.state --freeze -n 2000 -r 3 --json");
    assert_has(json, "\"agent\": \"esarsa\"");
    assert_has(json, "\"alpha\": 0.05,");
    assert_has(json, "\"loaded\": true,\n  \"frozen\": true");
    char *fresh = output_of("run puddle_world -a esarsa -n 2000 -r 3 --json");
    assert_true(number_of(json, "mean") > number_of(fresh, "mean") + 20.0);
    free(json);
    free(fresh);

    // what is frozen stays as it was
    snprintf(line, sizeof line, "%s --save same.state -q", frozen);
    free(output_of(line));
    assert_int_equal(system("cmp arm.state same.state"), 0);

    json = output_of("run puddle_world --load arm.state -s alpha=0.01 -n 100 -r 1 --json");
    assert_has(json, "\"alpha\": 0.01,");
    free(json);
    outcome o = rehearse("run puddle_world -a random --load arm.state");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "random: the saved state is of agent 'esarsa'");
    drop(&o);
    o = rehearse("run cartpole --load arm.state");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "sensors");
    drop(&o);
}

// What was there is kept until there is something to put in its place.
static void an_early_end_costs_no_file(void **unused)
{
    (void)unused;
    assert_int_equal(system("echo precious > keep.csv; ln -sf real.state link.state; "
                            ": > real.state; chmod 600 real.state"),
                     0);
    pid_t pid = begin("run cartpole -a esarsa -n 1e12 -r 2 -j 2 -q --csv keep.csv");
    await_handler(pid);
    kill(pid, SIGINT);
    outcome o = await(pid);
    assert_int_equal(o.code, 130);
    assert_has(o.err, "0 of 2 runs finished");
    drop(&o);
    char *kept = contents("keep.csv");
    assert_string_equal(kept, "precious\n");
    free(kept);

    // a link stays a link, and a file keeps its rights
    free(output_of("run puddle_world -a random -n 10 -r 1 -q --save link.state"));
    assert_int_equal(system("test -L link.state && test -s real.state && "
                            "test $(stat -c %a real.state) = 600"),
                     0);
    o = rehearse("run puddle_world -a random -n 10 -r 1 --save x.out --csv x.out");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--csv and --save name the same file");
    drop(&o);
    o = rehearse("run puddle_world -a random -n 10 -r 1 --csv ''");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "without a name");
    drop(&o);
}

// What cannot be written is said with its path, before the work.
static void files_fail(void **unused)
{
    (void)unused;
    outcome o = rehearse("run acrobot -a esarsa --steps 1e9 --csv no/such/place.csv");
    assert_int_equal(o.code, 2);
    assert_string_equal(
        o.err, "rehearse: no/such/place.csv: cannot write: No such file or directory\n");
    assert_string_equal(o.out, "");
    drop(&o);
    o = rehearse("run acrobot -a esarsa --steps 1e9 --csv .");
    assert_int_equal(o.code, 2);
    assert_has(o.err, ".: cannot write: Is a directory");
    drop(&o);
    o = rehearse("run acrobot -a esarsa --steps 1e9 --save no/arm.state");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "no/arm.state: cannot write");
    drop(&o);
    o = rehearse(SMALL "--csv /dev/full"); // found out only when it is full
    assert_int_equal(o.code, 2);
    assert_has(o.err, "/dev/full: cannot write: No space left on device");
    drop(&o);

    // a link is followed, the old file's rights are kept, nothing else is left behind
    assert_int_equal(
        system("mkdir d && echo old > d/real && chmod 600 d/real && ln -s real d/link"), 0);
    free(output_of(SMALL "-q --csv d/link"));
    assert_int_equal(system("test -L d/link && test $(ls d | wc -l) = 2 && "
                            "test $(stat -c %a d/real) = 600 && grep -q run d/real"),
                     0);
}

// A file with the keys of a study gives the same runs as the options.
static void runs_a_file(void **unused)
{
    (void)unused;
    FILE *file = fopen("run.yaml", "w");
    assert_non_null(file);
    fputs("env: {name: acrobot, gravity: 9}\nagent: {name: esarsa, alpha: 0.03}\n"
          "evaluation: {steps: 300, runs: 3}\nranges: {cos_theta1: [-2, 2]}\n",
          file);
    fclose(file);
    char *from_file = output_of("run run.yaml --runs 2 -q --csv -");
    char *from_line = output_of("run acrobot -e gravity=9 -a esarsa -s alpha=0.03 -n 300 -r 2 "
                                "--range cos_theta1=-2:2 -q --csv -");
    assert_string_equal(from_file, from_line);
    free(from_file);
    free(from_line);
    outcome o = rehearse("run study.yaml -a esarsa");
    assert_int_equal(o.code, 2);
    drop(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_words),        cmocka_unit_test(prints_json),
        cmocka_unit_test(json_of_errors),      cmocka_unit_test(writes_csv),
        cmocka_unit_test(jobs_change_nothing), cmocka_unit_test(divergence_is_a_result),
        cmocka_unit_test(saves_and_loads),     cmocka_unit_test(an_early_end_costs_no_file),
        cmocka_unit_test(files_fail),          cmocka_unit_test(runs_a_file),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
