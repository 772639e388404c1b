// test_cmd_deploy.c - `rehearse deploy` on a pipe, as a plant uses it.

#include "cli/program.h"
#include "study/best_sample.h"

#include <sys/stat.h>

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void on_a_pipe(void **unused)
{
    (void)unused;
    write_file("best.yaml", BEST_ALL);
    write_file("in", "{\"seq\":0,\"obs\":[5,0.5]}\n\n{\"seq\":1,\"obs\":[5.5,0.5]}\r\n"
                     "nonsense\n{\"seq\":3,\"obs\":[6,0.5],\"terminal\":true}");
    outcome o = rehearse("deploy best.yaml --save-steps 1 < in");
    assert_int_equal(o.code, 0);
    assert_has(o.err, "rehearse: best.deploy: esarsa, 2 sensors; new, from step 0\n");
    assert_has(o.out, "{\"seq\":0,\"action\":\"o");
    assert_has(o.out, "\"error\":\"message: found '', expected a JSON object\"}\n");
    assert_has(o.out, "\"source\":\"hold\",\"notes\":[\"missing\",\"no-reward\"],\"error\":"
                      "\"message: found 'nonsense', expected a JSON object\"}\n");
    assert_has(o.out,
               "{\"seq\":3,\"action\":null,\"source\":\"nobody\",\"notes\":[\"gap\"]}\n");
    drop(&o);
    o = rehearse("deploy --status best.deploy");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "deployment      best.deploy, 5 steps at the last save\n");
    assert_has(o.out, "promised        -40.00 per 80 steps, lower end -44.00\n");
    assert_has(o.out, "alarms          none\n");
    drop(&o);
    o = rehearse("deploy best.yaml -o best.deploy < /dev/null");
    assert_int_equal(o.code, 0);
    assert_has(o.err, "resumed at step 5\n");
    drop(&o);

    // an alarm is an exit code: twenty segments of the worst reward
    FILE *file = fopen("in", "w");
    assert_non_null(file);
    for (int i = 0; i < 400; i++)
        fprintf(file, "{\"obs\":[9.9,0.5],\"reward\":-5}\n");
    fclose(file);
    o = rehearse("deploy best.yaml --freeze < in");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "\"alarms\":[\"promise\",\"range\"]}\n");
    drop(&o);
    o = rehearse("deploy --status best.deploy --json");
    assert_int_equal(o.code, 1);
    assert_has(
        o.out,
        "\"alarms\": [\"promise\", \"range\"], \"tests\": {\"promise\": {\"evidence\": ");
    drop(&o);
    o = rehearse("inspect best.deploy/log.csv --json");
    assert_has(o.out, "\"reward\"");
    drop(&o);
}

// The status can be asked for while the agent acts and has not saved yet.
static void status_before_the_first_save(void **unused)
{
    (void)unused;
    static const char first[] = "{\"seq\":0,\"obs\":[5,0.5]}\n";
    write_file("best.yaml", BEST_ALL);
    assert_int_equal(mkfifo("early", 0600), 0);
    pid_t agent = begin("deploy best.yaml -o early.deploy < early > early.out 2> early.err");
    int to = open("early", O_WRONLY);
    assert_int_equal(write(to, first, sizeof first - 1), sizeof first - 1);
    for (int i = 0; i < 1000; i++) {
        char *said = contents("early.out");
        bool answered = strchr(said, '\n') != NULL;
        free(said);
        if (answered)
            break;
        rest(0.02);
    }
    outcome o = rehearse("deploy --status early.deploy");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "deployment      early.deploy, 0 steps at the last save\n");
    assert_has(o.out, "promised        -40.00 per 80 steps, lower end -44.00\n");
    drop(&o);
    close(to);
    o = await(agent);
    assert_int_equal(o.code, 0);
    drop(&o);
    o = rehearse("deploy --status early.deploy");
    assert_has(o.out, "deployment      early.deploy, 1 steps at the last save\n");
    drop(&o);
}

// The option in a folder whose trial is over: it acts as before, and says so.
static void trial_is_over(void **unused)
{
    (void)unused;
    write_file("tied.yaml", BEST_ALL
               "switch:\n  - agent: {name: esarsa, alpha: 0.1, beta1: 0, tau: 1.0e-01, "
               "w_init: 0, lambda: 0.5, beta2: 0.999, tilings: 8, tiles: 4, features: "
               "pairs, optimiser: adam}\n    score: -41\n    interval: [-44, -36]\n");
    FILE *file = fopen("units", "w");
    assert_non_null(file);
    for (int i = 0; i < 220; i++)
        fprintf(file, "{\"obs\":[5,0.5],\"reward\":-0.1}\n");
    fclose(file);
    outcome o = rehearse("deploy tied.yaml -o tied.deploy --switch 100 < units");
    assert_int_equal(o.code, 0);
    assert_null(strstr(o.err, "trial is over"));
    drop(&o);
    o = rehearse("deploy tied.yaml -o tied.deploy --switch 500 < units");
    assert_int_equal(o.code, 0);
    assert_has(o.err, "tied.deploy: --switch does nothing, the trial is over: setting ");
    drop(&o);
    o = rehearse("deploy tied.yaml -o tied.deploy < /dev/null");
    assert_null(strstr(o.err, "trial is over"));
    drop(&o);
}

// Failures beyond what was promised, and a guard that acts too often.
static void fails_too_often(void **unused)
{
    (void)unused;
    write_file("fails.yaml",
               BEST_AGENT "task:\n"
                          "  sensors: [{name: temp, range: [0, 10]}]\n"
                          "  actions: [\"off\", \"on\"]\n"
                          "  reward: {name: cost}\n"
                          "  continuing: false\n  gamma: 0.9\n  steps: 1000\n"
                          "failures:\n"
                          "  rule: {words: \"an episode that ends with a reward below -6\", "
                          "known: true, ends: true, below: -6}\n"
                          "  per: episode\n"
                          "  all: {rate: 0.1, interval: [0.05, 0.2], failures: 1, of: 10}\n"
                          "  logged: {rate: 0.25, interval: [0.1, 0.4], failures: 1, of: 4}\n");
    write_file("guard.yaml", "safe_action: off\ntrip: {temp: [null, 8]}\nalarm_share: 0.01\n");
    FILE *file = fopen("in", "w");
    assert_non_null(file);
    for (int i = 0; i < 20; i++)
        fprintf(file, "{\"obs\":[9]}\n{\"obs\":[5],\"reward\":%d,\"terminal\":true}\n",
                i == 1 ? 0 : -10);
    fclose(file);
    outcome o = rehearse("deploy fails.yaml --guard guard.yaml < in");
    assert_int_equal(o.code, 0);
    assert_has(o.out, "\"alarms\":[\"failures\",\"guard\"]}\n");
    drop(&o);
    o = rehearse("deploy --status fails.deploy");
    assert_int_equal(o.code, 1);
    assert_has(o.out,
               "failures        19 in 20 episodes: 95.0 %, promised 10.0 %, upper end "
               "20.0 %, logged 25.0 %\n other ends     1 terminal, no failures by the rule of "
               "best.yaml: goals, or");
    assert_has(o.out, "guard           acted in 20 steps, 2.0 % of the last 1,000; allowed are "
                      "1.0 %\n");
    assert_has(o.out, "failures 200.00, guard 136.96; alarms at 20\n");
    assert_has(o.out, "alarms          failures, since step 12; a false one with a probability "
                      "of at most 0.5 %\n                guard, since step 15; ");
    drop(&o);
    o = rehearse("deploy --status fails.deploy --json");
    assert_int_equal(o.code, 1);
    assert_has(o.out, "\"failures\": {\"per\": \"episode\", \"now\": {\"rate\": 0.95, "
                      "\"failures\": 19, \"of\": 20, \"other_ends\": 1}, \"all\": {\"rate\": "
                      "0.1, \"hi95\": 0.2}, "
                      "\"logged\": {\"rate\": 0.25}}");
    drop(&o);
}

// A first line that cannot be read is answered without an action: there is none to hold.
static void first_line_is_nonsense(void **unused)
{
    (void)unused;
    write_file("best.yaml", BEST_ALL);
    write_file("in", "nonsense\n");
    outcome o = rehearse("deploy best.yaml -o nonsense.deploy < in");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "{\"action\":null,\"source\":\"nobody\",\"notes\":[\"missing\"],"
                               "\"error\":\"message: found 'nonsense', expected a JSON "
                               "object\"}\n");
    drop(&o);
}

// Every line gets one reply, also one of NUL bytes and an empty one.
static void lines_without_a_message(void **unused)
{
    (void)unused;
    static const char in[] = "{\"seq\":0,\"obs\":[5,0.5]}\n\0\0\0\n\n  \n";
    const char *at;
    int nreply = 0;
    write_file("best.yaml", BEST_ALL);
    FILE *file = fopen("in", "w");
    assert_non_null(file);
    assert_int_equal(fwrite(in, 1, sizeof in - 1, file), sizeof in - 1);
    fclose(file);
    outcome o = rehearse("deploy best.yaml -o lines.deploy < in");
    assert_int_equal(o.code, 0);
    for (at = o.out; (at = strchr(at, '\n')); at++)
        nreply++;
    assert_int_equal(nreply, 4);
    for (at = o.out, nreply = 0; (at = strstr(at, "expected a JSON object")); at++)
        nreply++;
    assert_int_equal(nreply, 3);
    drop(&o);
}

// No file may get a descriptor of standard input or output: replies would end in it.
static void closed_descriptors(void **unused)
{
    (void)unused;
    write_file("best.yaml", BEST_ALL);
    write_file("in", "{\"seq\":0,\"obs\":[5,0.5]}\n");
    static const char *const closed[] = {">&-", "2>&-", ">&- 2>&-"};
    for (int i = 0; i < 3; i++) {
        char line[120];
        snprintf(line, sizeof line, "deploy best.yaml -o closed%d.deploy < in %s", i,
                 closed[i]);
        outcome o = rehearse(line);
        assert_int_equal(o.code, i != 1); // a reply that is lost is a failure
        drop(&o);
        snprintf(line, sizeof line, "deploy best.yaml -o closed%d.deploy < /dev/null", i);
        o = rehearse(line);
        assert_int_equal(o.code, 0);
        drop(&o);
        snprintf(line, sizeof line, "closed%d.deploy/deploy.lock", i);
        FILE *file = fopen(line, "r");
        assert_non_null(file);
        int c;
        while ((c = fgetc(file)) != EOF)
            assert_int_not_equal(c, '{');
        fclose(file);
    }
}

#define ROLES                                                                                  \
    RH_TEST_DATA "/../../examples/plant.csv --action pump --reward '-energy - 50*trip' "       \
                 "--terminal trip --episode shift --missing -9999 "
#define MADE "--derive 'head = level*9.81' --stack 2 "
#define SMALL "--runs 1 --steps 100 --no-confirm -s alpha=0.1,0.5 -q "

// A study with derived sensors and a history, also from its model's file, is deployed with the
// plant's own sensors; its log is read with the same options.
static void with_a_history(void **unused)
{
    (void)unused;
    outcome o = rehearse("fit " ROLES MADE "--model knn --repr raw -q -o st.model");
    assert_int_equal(o.code, 0);
    drop(&o);
    o = rehearse("tune model:st.model -o st.study " SMALL);
    assert_int_equal(o.code, 0);
    drop(&o);
    char *best = contents("st.study/best.yaml");
    assert_has(best, "\n  sent: 2 #");
    assert_has(best, "\n  derive: \"head = level*9.81\"\n  stack: 2 #");
    free(best);
    FILE *file = fopen("in", "w");
    assert_non_null(file);
    for (int i = 0; i < 40; i++)
        fprintf(file, "{\"obs\":{\"temp\":%d,\"level\":1.5},\"reward\":-1}\n", 40 + i % 3);
    fclose(file);
    o = rehearse("deploy st.study/best.yaml -o st.deploy < in");
    assert_int_equal(o.code, 0);
    assert_has(o.err, "2 sensors");
    drop(&o);
    o = rehearse("inspect st.deploy/log.csv --json " MADE);
    assert_has(o.out, "\"head[-1]\"");
    assert_has(o.out, "\"pump=low[-1]\"");
    drop(&o);
}

static void refuses(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *why;
    } fault[] = {
        {"deploy", "deploy: 0 names, expected one: best.yaml of a study"},
        {"deploy nowhere.yaml", "nowhere.yaml: cannot read: No such file"},
        {"deploy best.yaml --json", "--json needs --status"},
        {"deploy best.yaml -o fresh --load nothing.state", "nothing.state: cannot read"},
        {"deploy best.yaml --guard nothing.yaml", "nothing.yaml: cannot read"},
        {"deploy best.yaml --save-steps 0", "--save-steps"},
        {"deploy --status /nowhere", "cannot read: No such file"},
        {"deploy best.yaml -o /nowhere/at/all", "cannot create: No such file"},
    };
    write_file("best.yaml", BEST_ALL);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s < /dev/null", fault[i].line);
        outcome o = rehearse(line);
        assert_int_equal(o.code, 2);
        assert_has(o.err, fault[i].why);
        drop(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_pipe),
        cmocka_unit_test(status_before_the_first_save),
        cmocka_unit_test(first_line_is_nonsense),
        cmocka_unit_test(lines_without_a_message),
        cmocka_unit_test(trial_is_over),
        cmocka_unit_test(fails_too_often),
        cmocka_unit_test(closed_descriptors),
        cmocka_unit_test(with_a_history),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
