// test_exec_env.c - environments of other programs: here small shell scripts, most of them
// broken.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "eval/eval.h"
#include "exec_sample.h"
#include "rehearse/rehearse.h"

#define TASK                                                                                   \
    "\"sensors\": [\"x\", \"y\"], \"low\": [0, 0], \"high\": [100000, 100], \"actions\": 3"
#define DESCRIPTION                                                                            \
    "{\"rehearse\": 1, " TASK ", \"gamma\": 0.9, \"steps\": 500, \"reward_low\": -2, "         \
    "\"parameters\": [{\"name\": \"slope\", \"about\": \"a\", \"low\": 0, \"high\": 9, "       \
    "\"initial\": 2}]}"

// An episode of 7 steps: x is the seed below 100,000, y counts; the reward is -action / 2.
// `before` comes before each answer to a step, `answer` instead of it if it is not empty.
static const char *script(const char *name, const char *before, const char *answer)
{
    static char command[128];
    char path[64];
    snprintf(path, sizeof path, "%s.sh", name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "while read -r line; do\n"
            "    echo \"$line\" >>%s.$$.said\n"
            "    case $line in\n"
            "    *describe*) echo '" DESCRIPTION "' ;;\n"
            "    *'\"environment\"'*) ;;\n"
            "    *start*) x=${line#*seed\\\":}; x=${x%%\\}}; x=$((x %% 100000)); n=0\n"
            "        echo \"{\\\"observation\\\": [$x, 0]}\" ;;\n"
            "    *) n=$((n + 1)); a=${line#*:}; a=${a%%\\}}; %s\n"
            "        end=false; [ $n -lt 7 ] || end=true\n"
            "        reply='%s'\n"
            "        [ -n \"$reply\" ] ||\n"
            "            reply=\"{\\\"terminal\\\": $end, \\\"observation\\\": [$x, $n], "
            "\\\"reward\\\": -$((a / 2)).$((a %% 2 * 5))}\"\n"
            "        echo \"$reply\" ;;\n"
            "    esac\ndone\n",
            name, before, answer);
    fclose(file);
    snprintf(command, sizeof command, "exec:sh %s", path);
    return command;
}

static const rh_env_type *find(const char *name)
{
    rh_error err = {""};
    const rh_env_type *type = rh_plugin_env(name, &err);
    if (!type)
        fail_msg("%s", err.text);
    return type;
}

static int count(const char *command)
{
    int n = -1;
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void a_program_is_an_environment(void **unused)
{
    (void)unused;
    const rh_env_type *type = find(script("good", "", ""));
    assert_ptr_equal(rh_plugin_env("exec:sh good.sh", NULL), type); // described once
    int64_t live = rh_base__alloc_live();
    rh_env *env = NULL;
    double slope = 3.0, obs[2], reward, act[3] = {0.0, 1.0, 2.0};
    assert_int_equal(rh_env_create(&env, type, &slope, NULL), RH_OK);
    const rh_task *task = rh_env_task(env);
    assert_int_equal(task->nobs, 2);
    assert_int_equal(task->naction, 3);
    assert_int_equal(task->nstep, 500);
    assert_string_equal(task->obs_name[1], "y");
    assert_true(task->obs_hi[0] == 100000.0);
    assert_true(task->gamma == 0.9);
    assert_true(task->reward_lo == -2.0);

    // two episodes at the same time, each in its own program, with the seeds of the stream
    void *state[2] = {rh_alloc(1, type->state_size), rh_alloc(1, type->state_size)};
    rh_rng reference = rh_rng_stream(5, RH_STREAM_START, 0, 0);
    rh_streams streams = {.start = reference};
    double x[2];
    for (int i = 0; i < 2; i++) {
        rh_env_start(env, state[i], &streams, obs);
        x[i] = (double)((rh_rng__bits(&reference) >> 11) % 100000);
        assert_true(obs[0] == x[i]);
        assert_true(obs[1] == 0.0);
    }
    for (int n = 1; n <= 7; n++)
        for (int i = 0; i < 2; i++) {
            bool end = rh_env_step(env, state[i], &act[i + 1], &streams, obs, &reward);
            assert_true(end == (n == 7));
            assert_true(obs[0] == x[i]);
            assert_true(obs[1] == n);
            assert_true(reward == -0.5 * (i + 1));
            assert_null(rh_contract__env_reason(env, state[i]));
        }
    rh_env_start(env, state[0], &streams, obs); // the program goes on
    assert_true(obs[1] == 0.0);
    rh_env_destroy(env);
    rh_free(state[0]);
    rh_free(state[1]);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(count("ls good.*.said | wc -l"), 3); // one of them described itself
    assert_int_equal(count("cat good.*.said | "
                           "grep -c '^{\"environment\":1,\"parameters\":{\"slope\":3}}$'"),
                     2);
}

// Results depend neither on the number of threads nor on the programs that serve them.
static void threads_do_not_matter(void **unused)
{
    (void)unused;
    rh_env *env = NULL;
    rh_result result[2][6];
    double hp[RH_MAX_PARAM];
    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    rh_param_initial(agent->param, agent->nparam, hp);
    assert_int_equal(rh_env_create(&env, find(script("runs", "", "")), NULL, NULL), RH_OK);
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 60;
    opt.nrun = 6;
    for (int i = 0; i < 2; i++) {
        opt.nthread = i ? 3 : 1;
        assert_int_equal(
            rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result[i], NULL, NULL),
            RH_OK);
    }
    for (int r = 0; r < 6; r++) {
        assert_int_equal(result[0][r].outcome, RH_FINISHED);
        assert_int_equal(result[0][r].nepisode, 8);
        assert_true(result[0][r].score == result[1][r].score);
    }
    assert_true(result[0][0].score != result[0][1].score);
    rh_env_destroy(env);
    assert_true(count("ls runs.*.said | wc -l") <= 5); // one described itself, then 1 to 4
}

static void faults_fail_the_run(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *before, *answer, *reason;
    } bad[] = {
        {"crash", "[ $n -lt 5 ] || exit 3", "", "ended with exit code 3"},
        {"killed", "[ $n -lt 5 ] || kill -9 $$", "", "ended by signal 9"},
        {"hangs", "[ $n -lt 5 ] || sleep 5", "", "no answer within 0.2 s"},
        {"nonsense", "", "hello", "answered 'hello', expected {\"observation\": [...], "},
        {"short", "", "{\"observation\": [1], \"reward\": 0}", "expected {\"observation\""},
        {"long", "", "{\"observation\": [1, 2, 3], \"reward\": 0}", "expected {\"observation"},
        {"nan", "", "{\"observation\": [1, NaN], \"reward\": 0}", "expected {\"observation\""},
        {"big", "", "{\"observation\": [1, 1e999], \"reward\": 0}", "expected {\"observation"},
        {"no_reward", "", "{\"observation\": [1, 2]}", "\"reward\": ..., \"terminal\""},
        {"end", "", "{\"observation\": [1, 2], \"reward\": 0, \"terminal\": 2}",
         "\"terminal\": true or false}"},
        {"below", "", "{\"observation\": [1, 2], \"reward\": -3}",
         "reward -3, expected -2 or more: its reward_low"},
        {"error", "", "{\"error\": \"no solver\"}", "its error: \"no solver\"}"},
    };
    const rh_agent_type *agent = rh_agent_find("random", NULL);
    assert_int_equal(rh_plugin_set_timeout(0.2, NULL), RH_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_env *env = NULL;
        rh_runner *runner = NULL;
        rh_log *log = NULL;
        rh_collected how;
        rh_error err = {""};
        const rh_env_type *type = find(script(bad[i].name, bad[i].before, bad[i].answer));
        assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
        rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
        opt.nstep = 20;
        assert_int_equal(
            rh_runner__create(&runner, &env, 1, agent, rh_env_task(env), NULL, &opt, NULL),
            RH_OK);
        for (int k = 0; k < 2; k++) { // it is started again for the second
            rh_result result;
            assert_int_equal(
                rh_runner__run(runner, 0, NULL, 0, (uint64_t)k, &result, NULL, &err), RH_OK);
            assert_int_equal(result.outcome, RH_FAILED);
            assert_true(result.score == -40.0); // 20 steps of reward_low
            if (!strstr(err.text, bad[i].reason))
                fail_msg("'%s', expected '%s'", err.text, bad[i].reason);
        }
        assert_int_equal(rh_log_collect(&log, NULL, &how, env, env, agent, NULL, NULL, &err),
                         RH_EIO);
        assert_null(log);
        assert_non_null(strstr(err.text, bad[i].reason));
        rh_runner__destroy(runner);
        rh_env_destroy(env);
    }
    assert_int_equal(rh_plugin_set_timeout(10.0, NULL), RH_OK);
}

static void without_a_task_it_is_refused(void **unused)
{
    (void)unused;
#define SAY(text) "exec:echo '{\"rehearse\": 1, " text "}'; sleep 1"
#define ONE "\"sensors\": [\"x\"], \"low\": [0], \"high\": [1], "
    static const struct {
        const char *command, *why;
    } bad[] = {
        {"exec:true", "exec:true: ended with exit code 0"},
        {"exec:echo hello; sleep 1", "answered 'hello', expected its description in JSON"},
        {SAY("\"error\": \"no license\""), "its error: \"no license\""},
        {SAY("\"actions\": 2"), "\"sensors\" of its description, expected a list of 1 to 256"},
        {SAY("\"sensors\": [\"x\", \"x\"]"), "1 to 256 names, all different"},
        {SAY("\"sensors\": [\"x\"], \"low\": [0], \"high\": [0], \"actions\": 2"),
         "\"low\" and \"high\" of its description"},
        {SAY(ONE "\"actions\": 2.5"), "\"actions\" of its description, expected how many"},
        {SAY(ONE "\"actions\": 0"), "for continuous ones \"action_low\" and"},
        {SAY(ONE "\"actions\": 2, \"gamma\": 2"), "expected a discount, 0 to 1"},
        {SAY(ONE "\"actions\": 2, \"steps\": 0"), "expected the usual steps of a run"},
        {SAY(ONE "\"actions\": 2, \"parameters\": [{\"name\": \"p\"}]"),
         "parameter p: no about, expected one line"},
        {"nothing", "no environment 'nothing'"},
    };
    int64_t live = rh_base__alloc_live();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rh_error err = {""};
        assert_null(rh_plugin_env(bad[i].command, &err));
        if (!strstr(err.text, bad[i].why))
            fail_msg("'%s', expected '%s'", err.text, bad[i].why);
    }
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(rh_plugin_set_timeout(0.0, NULL), RH_EINVAL);
    assert_int_equal(rh_plugin_set_timeout(NAN, NULL), RH_EINVAL);
}

static void continuous_actions_and_gamma(void **unused)
{
    (void)unused;
    static const char command[] =
        "exec:sed -u -e '/describe/{s/.*/{\"rehearse\": 1, \"sensors\": [\"x\"], "
        "\"low\": [0], \"high\": [1], \"action_low\": [-1, 0], \"action_high\": [1, 2], "
        "\"continuing\": true, \"parameters\": [{\"name\": \"gamma\", \"about\": \"g\", "
        "\"low\": 0, \"high\": 1, \"initial\": 0.5}]}/;b};/environment/d' "
        "-e 's/.*step\":\\(.*\\)}/{\"said\": \\1, \"reward\": 1, \"observation\": [5]}/;"
        "s/.*start.*/{\"observation\": [0.25]}/'";
    rh_env *env = NULL;
    double obs[1], reward, act[2] = {0.5, 1.25};
    rh_streams streams = {.start = rh_rng_stream(1, RH_STREAM_START, 0, 0)};
    const rh_env_type *type = find(command);
    assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
    assert_true(rh_env_task(env)->gamma == 0.5);
    assert_true(rh_env_task(env)->continuing);
    assert_int_equal(rh_env_task(env)->nact, 2);
    void *state = rh_alloc(1, type->state_size);
    rh_env_start(env, state, &streams, obs);
    assert_true(obs[0] == 0.25);
    assert_false(rh_env_step(env, state, act, &streams, obs, &reward));
    assert_true(obs[0] == 5.0);
    assert_true(reward == 1.0);
    rh_free(state);
    rh_env_destroy(env);
}

static void survives_failed_allocations(void **unused)
{
    (void)unused;
    const char *name = script("memory", "", "");
    const rh_env_type *type = NULL;
    for (int n = 1; !type; n++) {
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(n);
        type = rh_plugin_env(name, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(type || rh_base__alloc_live() == live);
    }
    // a program that has no memory fails its run
    rh_env *env = NULL;
    double obs[2];
    rh_streams streams = {.start = rh_rng_stream(1, RH_STREAM_START, 0, 0)};
    assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
    void *state = rh_alloc(1, type->state_size);
    rh_base__alloc_fail_at(1);
    rh_env_start(env, state, &streams, obs);
    rh_base__alloc_fail_at(0);
    assert_true(isnan(obs[0]));
    assert_string_equal(rh_contract__env_reason(env, state),
                        "exec:sh memory.sh: out of memory");
    rh_env_start(env, state, &streams, obs);
    assert_true(obs[1] == 0.0);
    rh_free(state);
    rh_env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_an_environment),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(faults_fail_the_run),
        cmocka_unit_test(without_a_task_it_is_refused),
        cmocka_unit_test(continuous_actions_and_gamma),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
