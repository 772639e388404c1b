// test_cmd_collect.c - rehearse collect: the files it writes, what it says, how it stops.

#include "cli/program.h"

#include <signal.h>
#include <stdbool.h>

#include "rehearse/env.h"

static void refuses(const char *line, int code, const char *message)
{
    outcome o = rehearse(line);
    if (o.code != code)
        print_error("rehearse %s: %d\n%s", line, o.code, o.err);
    assert_int_equal(o.code, code);
    assert_has(o.err, message);
    drop(&o);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

// The number behind "key": in a JSON text, its `nth` occurrence from 0.
static double number_of(const char *json, const char *key, int nth)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    for (; nth >= 0; nth--) {
        json = strstr(json, quoted);
        assert_non_null(json);
        json += strlen(quoted);
    }
    return strtod(json, NULL);
}

// ---------------------------------------------------------------------------- one log

static void one_log(void **unused)
{
    (void)unused;
    char *out = output_of("collect puddle_world -p near-optimal -o log.csv");
    assert_has(out, "environment     puddle_world\n");
    assert_has(out, "policy          near-optimal, after the paper's authors\n");
    assert_has(out, "alpha=0.353 beta1=0.342 tau=0.122 w_init=4.27 lambda=0.143\n");
    assert_has(out, "until an episode returns at least -40, over the last 1,000 steps\n");
    assert_has(out, "5,000 steps, normal starts\n");
    assert_has(out, "201 or more episodes, as in the paper\n");
    assert_has(out, "log.csv  2");
    free(out);

    // what another command reads is what was made
    char *json = output_of("collect puddle_world -p near-optimal -o same.npz --json");
    char *read = output_of("convert log.csv copy.npz"), expected[96];
    snprintf(expected, sizeof expected, "copy.npz: 5,000 steps in %.0f episodes",
             number_of(json, "episodes", 0));
    assert_has(read, expected);
    assert_true(number_of(json, "completed", 0) >= 201.0);
    assert_true(number_of(json, "mean_return", 0) > -45.0);
    assert_true(number_of(json, "quality", 0) >= -40.0);
    assert_true(number_of(json, "steps", 0) == 5000.0);
    assert_true(number_of(json, "min", 0) == 201.0);
    assert_has(json, "\"max\": null");
    assert_has(json, "\"source\": \"as in the paper\"");
    assert_has(json, "\"restarts\": \"normal\"");
    assert_has(json, "\"optimiser\": \"adam\"");
    assert_has(json, "\"file\": \"same.npz\"");
    free(read);
    free(json);

    // nothing is said, and the same log is made
    out = output_of("collect puddle_world -p near-optimal -o quiet.csv --quiet");
    assert_string_equal(out, "");
    char *a = contents("log.csv"), *b = contents("quiet.csv");
    assert_true(strlen(a) > 100000);
    assert_string_equal(a, b);
    free(a);
    free(b);
    free(out);
}

static void seeds_differ(void **unused)
{
    (void)unused;
    free(output_of("collect mountain_car -p random -n 300 --seed 1 -o one.csv"));
    free(output_of("collect mountain_car -p random -n 300 --seed 2 -o two.csv"));
    char *a = contents("one.csv"), *b = contents("two.csv");
    assert_true(strcmp(a, b) != 0);
    free(a);
    free(b);
}

static void every_simulator_random(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        char line[96];
        snprintf(line, sizeof line, "collect %s -p random -n 700 -o r.csv.gz",
                 rh_env_type_at(i)->name);
        free(output_of(line));
        char *out = output_of("convert r.csv.gz r.npz");
        assert_has(out, "r.npz: 700 steps");
        free(out);
    }
}

static void options_count(void **unused)
{
    (void)unused;
    char *json = output_of("collect acrobot -p medium -n 800 --train 500 --restarts normal "
                           "--episodes any -e torques=2 -o t.csv --json");
    assert_true(number_of(json, "training_steps", 0) == 500.0);
    assert_true(number_of(json, "tries", 0) == 1.0);
    assert_has(json, "\"until\": \"steps\", \"threshold\": null, \"window\": 500");
    assert_has(json, "\"restarts\": \"normal\"");
    assert_has(json, "\"torques\": 2");
    assert_has(json, "\"source\": \"none\"");
    free(json);

    // the changed arm is told by its options
    char *out = output_of("collect acrobot --changed -p random -n 100 -o c.csv");
    assert_has(out, "environment     acrobot link_length_1=2 link_mass_1=2\n");
    assert_has(out, "any number of episodes\n");
    free(out);

    // a window of one's own
    json = output_of("collect mountain_car -p medium -n 3000 --episodes 12:14 -o w.csv --json");
    assert_true(number_of(json, "completed", 0) >= 12.0);
    assert_true(number_of(json, "completed", 0) <= 14.0);
    assert_has(json, "\"source\": \"requested\"");
    free(json);
    json = output_of("collect mountain_car -p medium -n 2500 -o w.csv --json");
    assert_true(number_of(json, "min", 0) == 10.0);
    assert_true(number_of(json, "max", 0) == 15.0);
    free(json);
}

static void true_starts_beside_it(void **unused)
{
    (void)unused;
    free(output_of("collect acrobot -p random -n 1000 -o main.csv --starts starts.csv"));
    char *out = output_of("convert starts.csv starts.npz");
    assert_has(out, "starts.npz: 100 steps in 100 episodes");
    free(out);
}

// ---------------------------------------------------------------------------- several logs

static void several_logs(void **unused)
{
    (void)unused;
    char *out = output_of("collect puddle_world -p medium -n 500 --logs 3 --seed 9 "
                          "-o 'p-%03d.csv' --starts 's-%d.csv'");
    assert_has(out, "p-009.csv  ");
    assert_has(out, "p-011.csv  ");
    assert_has(out, "8 to 10 episodes, as in the paper");
    assert_has(out, "logs            3, episodes ");
    assert_true(exists("p-010.csv"));
    assert_true(exists("s-9.csv"));
    assert_true(exists("s-11.csv"));
    free(out);

    // the second of three is the log of its seed
    free(output_of("collect puddle_world -p medium -n 500 --seed 10 -o alone.csv"));
    char *a = contents("p-010.csv"), *b = contents("alone.csv");
    assert_string_equal(a, b);
    free(a);
    free(b);

    // without --logs a name is a name
    free(output_of("collect puddle_world -p random -n 50 -o '100%.csv'"));
    assert_true(exists("100%.csv"));
    free(output_of("collect puddle_world -p random -n 50 --logs 2 -o 'x%%-%d.csv'"));
    assert_true(exists("x%-1.csv"));
    assert_true(exists("x%-2.csv"));
}

// ---------------------------------------------------------------------------- refusals

static void mistakes(void **unused)
{
    (void)unused;
    refuses("collect", 2, "collect: which environment?");
    refuses("collect acrobt -p medium -o a.csv", 2, "did you mean 'acrobot'?");
    refuses("collect acrobot -o a.csv", 2, "collect: --policy is missing");
    refuses("collect acrobot -p good -o a.csv", 2, "--policy cannot be 'good'");
    refuses("collect acrobot -p medium", 2, "--output is missing");
    refuses("collect acrobot -p medium -o a.doc", 2, "cannot tell the format");
    refuses("collect acrobot -p medium -o nowhere/a.csv", 2, "cannot write");
    refuses("collect acrobot -p medium -o a.csv --starts a.csv", 2, "name the same file");
    refuses("collect acrobot -p random -n 9 -o a.csv --starts ./a.csv", 2,
            "name the same file");
    refuses("collect acrobot -p random -n 9 -o a-%d.csv --logs 2 --starts s.csv", 2,
            "try: --starts 'starts-%02d.csv'");
    refuses("collect acrobot -p medium -o a.csv --starts b", 2, "cannot tell the format");
    refuses("collect acrobot -p medium --logs 2 -o a.csv", 2, "names one file");
    refuses("collect acrobot -p medium --logs 2 -o a%s.csv", 2, "expected a name with %d");
    refuses("collect acrobot -p medium --logs 2 -o a%d.csv --starts b.csv", 2,
            "--starts b.csv names one file");
    refuses("collect acrobot -p medium --restarts odd -o a.csv", 2, "--restarts cannot be");
    refuses("collect acrobot -p medium -e start=random -o a.csv", 2, "--restarts random");
    refuses("collect acrobot -p medium -e gravty=3 -o a.csv", 2, "did you mean 'gravity'?");
    refuses("collect cartpole --changed -p medium -o a.csv", 2,
            "--changed: cartpole: the paper has no changed version of it");
    refuses("collect acrobot -p random -n 9 -o a.csv --advice none.json", 2,
            "none.json: cannot read");
    assert_int_equal(system("echo trial,region > table.csv; echo '{\"log_next\": "
                            "[{\"action\": \"1\", \"sensors\": [{\"name\": \"level\"}], "
                            "\"steps\": 9}]}' > other.json"),
                     0);
    refuses("collect acrobot -p random -n 9 -o a.csv --advice table.csv", 2,
            "expected JSON of tune --json");
    refuses("collect acrobot -p random -n 9 -o a.csv --advice other.json", 2,
            "sensor 'level', expected one of the environment's, such as cos_theta1");
    static const char *const window[] = {"x", "5:3", "''", ":", "-1:4", "3:4x", "5-6"};
    for (int i = 0; i < 7; i++) {
        char line[96];
        snprintf(line, sizeof line, "collect acrobot -p medium --episodes %s -o a.csv",
                 window[i]);
        refuses(line, 2, "--episodes = ");
    }
    assert_false(exists("a.csv"));
}

// Work that fails says what was found, and leaves nothing.
static void failures(void **unused)
{
    (void)unused;
    refuses("collect puddle_world -p random -n 500 --episodes 400: --tries 5 -o f.csv", 1,
            " episodes, expected 400 or more episodes\n");
    refuses(
        "collect mountain_car -p near-optimal -e force=0 -n 500 -o f.csv --tries 2", 1,
        "the agent reached the policy's level in none of 2 tries of 100,000 steps, expected "
        "that an episode takes at most 120 steps, over the last 2,000 steps");
    assert_false(exists("f.csv"));
}

static void an_interrupt_leaves_nothing(void **unused)
{
    (void)unused;
    pid_t pid = begin("collect acrobot -p random -n 100000000 -o i.csv --episodes any");
    await_handler(pid);
    assert_int_equal(kill(pid, SIGINT), 0);
    outcome o = await(pid);
    assert_int_equal(o.code, 128 + SIGINT);
    assert_has(o.err, "interrupted: 0 of 1 logs made");
    assert_false(exists("i.csv"));
    drop(&o);

    // those finished before stay
    pid = begin("collect puddle_world -p random -n 20000 --logs 1000 -q -o 'k-%d.npz'");
    for (int i = 0; i < 500 && !exists("k-3.npz"); i++)
        rest(0.02);
    assert_int_equal(kill(pid, SIGINT), 0);
    o = await(pid);
    assert_int_equal(o.code, 128 + SIGINT);
    drop(&o);
    char *out = output_of("convert k-3.npz k.csv");
    assert_has(out, "k.csv: 20,000 steps");
    free(out);
    assert_true(system("ls | grep -q '\\.tmp$'") != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_log),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(every_simulator_random),
        cmocka_unit_test(options_count),
        cmocka_unit_test(true_starts_beside_it),
        cmocka_unit_test(several_logs),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(failures),
        cmocka_unit_test(an_interrupt_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
