// test_exec_agent.c - agents of other programs: here small shell scripts, most of them broken.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "eval/eval.h"
#include "exec_sample.h"
#include "rehearse/rehearse.h"

#define DESCRIPTION                                                                            \
    "{\"rehearse\": 1, \"about\": \"one\", \"actions\": \"discrete\", \"parameters\": ["       \
    "{\"name\": \"alpha\", \"about\": \"a\", \"low\": 0, \"high\": 1, \"initial\": 0.5, "      \
    "\"usual\": [0.1, 0.9]}]}"

// A script that answers `action` to what asks for one, after `before`; and keeps all questions.
static const char *script(const char *name, const char *before, const char *action)
{
    static char command[128];
    char path[64];
    snprintf(path, sizeof path, "%s.sh", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "n=0\nwhile read -r line; do\n"
            "    echo \"$line\" >>%s.said\n"
            "    case $line in\n"
            "    *describe*) echo '" DESCRIPTION "' ;;\n"
            "    *'\"run\"'*|*'\"end\"'*) ;;\n"
            "    *) n=$((n + 1)); %s\n        echo '%s' ;;\n"
            "    esac\ndone\n",
            name, before, action);
    fclose(file);
    snprintf(command, sizeof command, "exec:sh %s", path);
    return command;
}

// Two runs of 100 steps, in Puddle World.
static void evaluate(const rh_agent_type *agent, rh_result result[2], char *reason)
{
    rh_env *env = NULL;
    rh_runner *runner = NULL;
    double hp[1] = {0.25};
    assert_int_equal(rh_env_create(&env, rh_env_find("puddle_world", NULL), NULL, NULL), RH_OK);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 100;
    opt.cutoff = 40;
    assert_int_equal(
        rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), hp, &opt, NULL), RH_OK);
    for (int i = 0; i < 2; i++) {
        rh_error err = {""};
        assert_int_equal(rh_runner__run(runner, 0, hp, 0, (uint64_t)i, &result[i], NULL, &err),
                         RH_OK);
        strcpy(reason, err.text);
    }
    rh_runner__destroy(runner);
    rh_env_destroy(env);
}

static void a_program_is_an_agent(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_result result[2];
    char reason[480];
    const char *name = script("good", "", "{\"action\": 1}");
    const rh_agent_type *type = rh_plugin_agent(name, &err);
    if (!type)
        fail_msg("%s", err.text);
    assert_ptr_equal(rh_plugin_agent(name, NULL), type); // described once
    assert_string_equal(type->name, "exec:sh good.sh");
    assert_int_equal(type->nparam, 1);
    assert_string_equal(type->param[0].name, "alpha");
    assert_true(type->param[0].usual_hi == 0.9);
    int64_t live = rh_base__alloc_live();
    evaluate(type, result, reason);
    assert_int_equal(rh_base__alloc_live(), live);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(result[i].outcome, RH_FINISHED);
        assert_int_equal(result[i].nstep, 100);
    }

    // what it was told: two runs of one program, each with its parameters and seed
    char line[4096];
    int nrun = 0, nstart = 0, nstep = 0;
    FILE *said = fopen("good.said", "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said)) {
        nrun += strstr(line, "\"run\":1,\"seed\":") && strstr(line, "\"alpha\":0.25") &&
                strstr(line, "\"actions\":4") && strstr(line, "\"continuing\":false");
        nstart += strncmp(line, "{\"start\":[", 10) == 0;
        nstep += strncmp(line, "{\"step\":[", 9) == 0 && strstr(line, "],\"reward\":-");
    }
    fclose(said);
    assert_int_equal(nrun, 2);
    assert_true(nstart >= 6); // 100 steps in episodes of at most 40
    assert_true(nstep >= 190);
    assert_true(nstep <= 200);
}

static void faults_fail_the_run(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *before, *action, *reason;
    } bad[] = {
        {"crash", "[ $n -lt 5 ] || exit 3", "{\"action\": 1}", "ended with exit code 3"},
        {"killed", "[ $n -lt 5 ] || kill -9 $$", "{\"action\": 1}", "ended by signal 9"},
        {"hangs", "[ $n -lt 5 ] || sleep 5", "{\"action\": 1}", "no answer within 0.2 s"},
        {"nonsense", "", "hello", "answered 'hello', expected {\"action\": ...}"},
        {"word", "", "{\"action\": \"up\"}", "answered '{\"action\": \"up\"}', expected"},
        {"error", "", "{\"error\": \"no table\"}", "its error: \"no table\"}"},
        {"beyond", "", "{\"action\": 9}", "chose action 9, expected an index, 0 to 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_error err = {""};
        rh_result result[2];
        char reason[480];
        const rh_agent_type *type =
            rh_plugin_agent(script(bad[i].name, bad[i].before, bad[i].action), &err);
        if (!type)
            fail_msg("%s", err.text);
        assert_int_equal(rh_plugin_set_timeout(0.2, NULL), RH_OK);
        evaluate(type, result, reason);
        assert_int_equal(rh_plugin_set_timeout(10.0, NULL), RH_OK);
        for (int k = 0; k < 2; k++) // it is started again for the second
            assert_int_equal(result[k].outcome, RH_FAILED);
        if (!strstr(reason, bad[i].reason))
            fail_msg("'%s', expected '%s'", reason, bad[i].reason);
    }
}

// Whether a process runs; one that has ended and was not waited for does not.
static bool runs(int pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        fclose(file);
    }
    return state != 'Z';
}

// A program that does not answer is ended with what it has started.
static void children_are_ended_too(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_result result[2];
    char reason[480];
    int pid[8], n = 0;
    const rh_agent_type *type = rh_plugin_agent(
        script("parent",
               "[ $n -lt 5 ] || { sleep 100 & echo $! >>parent.children; sleep 100; }",
               "{\"action\": 1}"),
        &err);
    if (!type)
        fail_msg("%s", err.text);
    assert_int_equal(rh_plugin_set_timeout(0.5, NULL), RH_OK);
    evaluate(type, result, reason);
    assert_int_equal(rh_plugin_set_timeout(10.0, NULL), RH_OK);
    assert_non_null(strstr(reason, "no answer within 0.5 s"));
    FILE *file = fopen("parent.children", "r");
    assert_non_null(file);
    while (n < 8 && fscanf(file, "%d", &pid[n]) == 1)
        n++;
    fclose(file);
    assert_int_equal(n, 2); // one of each run
    for (int i = 0; i < n; i++) {
        for (int wait = 0; wait < 1000 && runs(pid[i]); wait++)
            usleep(10000);
        assert_false(runs(pid[i]));
    }
}

// A program that wants to know about truncated episodes.
static void truncated_episodes_are_told(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_result result[2];
    char reason[480], line[4096], before[4096] = "";
    FILE *file = fopen("told.sh", "w");
    assert_non_null(file);
    fputs(
        "while read -r line; do\n"
        "    echo \"$line\" >>told.said\n"
        "    case $line in\n"
        "    *describe*) echo '{\"rehearse\": 1, \"actions\": \"discrete\", \"timeout\": 0.7, "
        "\"truncated\": true, \"parameters\": []}' ;;\n"
        "    *'\"run\"'*|*'\"end\"'*|*'\"truncated\"'*) ;;\n"
        "    *) echo '{\"action\": 1}' ;;\n"
        "    esac\ndone\n",
        file);
    fclose(file);
    const rh_agent_type *type = rh_plugin_agent("exec:sh told.sh", &err);
    if (!type)
        fail_msg("%s", err.text);
    evaluate(type, result, reason);

    // runs of 100 steps, episodes of at most 40: the step is told once, and a start follows
    int ntruncated = 0, nrun = 0;
    FILE *said = fopen("told.said", "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said)) {
        bool after = strncmp(before, "{\"truncated\":[", 14) == 0;
        assert_true(!after || strncmp(line, "{\"start\":[", 10) == 0);
        ntruncated += after && strstr(before, "],\"reward\":-") != NULL;
        nrun += strstr(line, "\"steps\":100,") != NULL;
        strcpy(before, line);
    }
    fclose(said);
    assert_int_equal(nrun, 2);
    assert_true(ntruncated >= 4);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(result[i].outcome, RH_FINISHED);
        assert_int_equal(result[i].nstep, 100);
    }
}

static void without_a_description_it_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *command, *why;
    } bad[] = {
        {"exec:", "exec: no command, expected exec:COMMAND"},
        {"exec:  ", "exec: no command, expected exec:COMMAND"},
        {"exec:true", "exec:true: ended with exit code 0"},
        {"exec:/nowhere/agent 2>/dev/null", "ended with exit code 127"},
        {"exec:cat", "answered '{\"rehearse\":1,\"describe\":\"agent\"}', expected its "
                     "description in JSON"},
        {"exec:echo hello; sleep 1", "answered 'hello', expected its description in JSON"},
        {"exec:echo '{\"rehearse\": 2}'; sleep 1", "expected {\"rehearse\": 1, "},
        {"exec:echo '{\"rehearse\": 1, \"parameters\": [{\"name\": \"x\"}]}'; sleep 1",
         "parameter x: no about, expected one line"},
        {"nothing", "no agent 'nothing'"},
    };
    int64_t live = rh_base__alloc_live();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_error err = {""};
        assert_null(rh_plugin_agent(bad[i].command, &err));
        if (!strstr(err.text, bad[i].why))
            fail_msg("'%s', expected '%s'", err.text, bad[i].why);
    }
    assert_int_equal(rh_base__alloc_live(), live);
}

static void survives_failed_allocations(void **unused)
{
    (void)unused;
    const char *name = script("memory", "", "{\"action\": 1}");
    const rh_agent_type *type = NULL;
    for (int n = 1; !type; n++) {
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(n);
        type = rh_plugin_agent(name, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(type || rh_base__alloc_live() == live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_an_agent),
        cmocka_unit_test(faults_fail_the_run),
        cmocka_unit_test(children_are_ended_too),
        cmocka_unit_test(truncated_episodes_are_told),
        cmocka_unit_test(without_a_description_it_is_refused),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
