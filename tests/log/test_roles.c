// test_roles.c - reading options from YAML, and what is refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "log/roles.h"

static rh_log_roles *none(void)
{
    rh_log_roles *roles = NULL;
    assert_int_equal(rh_log_roles_create(&roles, NULL), RH_OK);
    return roles;
}

static rh_log_roles *parse(const char *text)
{
    rh_log_roles *roles = none();
    rh_error err = {""};
    if (rh_log__roles_parse(roles, text, strlen(text), "a/b.yaml", &err) != RH_OK)
        fail_msg("%s", err.text);
    return roles;
}

static void refused(const char *text, const char *message)
{
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    rh_log_roles *roles = none();
    assert_int_equal(rh_log__roles_parse(roles, text, strlen(text), "a/b.yaml", &err),
                     RH_EFORMAT);
    rh_log_roles_destroy(roles);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_string_equal(err.text, message);
}

static void every_key(void **unused)
{
    (void)unused;
    rh_log_roles *roles = parse("path: plant.csv\n"
                                "format: csv\n"
                                "roles:\n"
                                "  obs: [temp, \"a, b\", 'say \"x, y\"']\n"
                                "  action: pump\n"
                                "  actions: [off, on, 2]\n"
                                "  reward: -energy\n"
                                "  next: [n1, n2, n3]\n"
                                "  episode: shift\n"
                                "  terminal: ''\n"
                                "  truncated: ~\n"
                                "  time: when\n"
                                "  derive: [dT = a - b, 'p = max(x, y)']\n"
                                "  reward_of: state\n"
                                "  action_kind: discrete\n"
                                "  missing: [-9999, Bad, 99.5, No Data]\n"
                                "  decimal: comma\n"
                                "  dates: day-first\n"
                                "  max_gap: 1h\n"
                                "  episode_steps: 1e3\n");
    rh_log_options opt = rh_log_defaults();
    opt.truncated = "mine";
    rh_log_roles_apply(roles, &opt);
    assert_string_equal(rh_log_roles_path(roles), "a/plant.csv");
    assert_string_equal(opt.format, "csv");
    assert_string_equal(opt.obs, "temp,\"a, b\",'say \"x, y\"'");
    assert_string_equal(opt.action, "pump");
    assert_string_equal(opt.actions, "off,on,2");
    assert_string_equal(opt.reward, "-energy");
    assert_string_equal(opt.next, "n1,n2,n3");
    assert_string_equal(opt.episode, "shift");
    assert_string_equal(opt.terminal, "");
    assert_string_equal(opt.truncated, "mine"); // not given: unchanged
    assert_string_equal(opt.time, "when");
    assert_string_equal(opt.derive, "dT = a - b; p = max(x, y)");
    assert_int_equal(opt.reward_of, RH_REWARD_OF_STATE);
    assert_int_equal(opt.action_kind, RH_ACTION_DISCRETE);
    assert_int_equal(opt.nmissing, 2);
    assert_true(opt.missing[0] == -9999.0);
    assert_true(opt.missing[1] == 99.5);
    assert_string_equal(opt.missing_words, "Bad,No Data");
    assert_int_equal(opt.decimal, RH_DECIMAL_COMMA);
    assert_int_equal(opt.dates, RH_DATES_DAY_FIRST);
    assert_true(opt.max_gap == 3600.0);
    assert_int_equal(opt.episode_steps, 1000);
    rh_log_roles_destroy(roles);
    rh_log_roles_destroy(NULL);
}

static void shapes(void **unused)
{
    (void)unused;
    static const char *const text[] = {
        "obs: temp,level\naction: pump\nother: {x: 1}\n",
        "roles: {obs: [temp, level], action: pump}\nsearch: []\n",
        "data: {path: x.csv, more: 1, roles: {observations: [temp, level], action: [pump]}}\n",
        "data:\n  states: [temp, level]\n  action: pump\n",
        "&a obs: &b temp,level\naction: pump\nagain: [*b, *b]\n",
        "frequency: H\nstates: [temp, level]\nactions: [pump]\nrewards: [r1, r2]\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        rh_log_options opt = rh_log_defaults();
        rh_log_roles *roles = parse(text[i]);
        rh_log_roles_apply(roles, &opt);
        assert_string_equal(opt.obs, "temp,level");
        assert_string_equal(opt.action, "pump");
        assert_null(opt.actions);
        if (i == 5)
            assert_string_equal(opt.reward, "r1,r2");
        if (i == 2)
            assert_string_equal(rh_log_roles_path(roles), "a/x.csv");
        else
            assert_null(rh_log_roles_path(roles));
        rh_log_roles_destroy(roles);
    }
    rh_log_roles *roles = parse("path: /abs/x.csv\nmax_gap: .inf\nmissing: -1\n");
    rh_log_options opt = rh_log_defaults();
    rh_log_roles_apply(roles, &opt);
    assert_string_equal(rh_log_roles_path(roles), "/abs/x.csv");
    assert_true(opt.max_gap == INFINITY);
    assert_int_equal(opt.nmissing, 1);
    assert_true(opt.missing[0] == -1.0);
    rh_log_roles_destroy(roles);
}

static void refusals(void **unused)
{
    (void)unused;
    refused("", "a/b.yaml: no role in it, expected keys such as obs, action and reward");
    refused("search: 1\n",
            "a/b.yaml: no role in it, expected keys such as obs, action and reward");
    refused("- obs\n", "a/b.yaml:1: found a list, expected a mapping of roles");
    refused("just text\n", "a/b.yaml:1: found a text, expected a mapping of roles");
    refused("obs: [a\nb: c\n", "a/b.yaml:2: not YAML: did not find expected ',' or ']'");
    refused("obs: x\nroles:\n  reword: y\n",
            "a/b.yaml:3: no role 'reword'; did you mean 'reward'? (obs, "
            "action, reward, failure, derive, stack, every, every_obs, exogenous, setpoint, "
            "setpoint_values, episode, terminal, "
            "truncated, time, next, "
            "reward_of, action_kind, actions, missing, sentinels, gaps, decimal, dates, skip, "
            "pivot, pivot_value, max_gap, "
            "episode_steps, format, max_memory, path, observations, states, rewards)");
    refused("obs: x\nstates: y\n", "a/b.yaml:2: states is given twice");
    refused("obs: x\nroles: {obs: y}\n", "a/b.yaml:2: obs is given twice");
    refused("obs: {a: b}\n", "a/b.yaml:1: obs = a mapping, expected a text or a list of texts");
    refused("obs: [[a]]\n", "a/b.yaml:1: obs = a list, expected a text or a list of texts");
    refused("path: [a, [b]]\n",
            "a/b.yaml:1: path = a list, expected a text or a list of texts");
    refused("roles: x\n", "a/b.yaml:1: roles = x, expected a mapping");
    refused("actions: ['a,b']\n", "a/b.yaml:1: actions = a,b, expected names without commas");
    refused("reward_of: me\n",
            "a/b.yaml:1: reward_of cannot be 'me'; expected one of action, state");
    refused(
        "action_kind: 3\n",
        "a/b.yaml:1: action_kind cannot be '3'; expected one of auto, discrete, continuous");
    refused("missing: {}\n",
            "a/b.yaml:1: missing = a mapping, expected numbers or words such as -9999,Bad");
    refused("missing: [1, 'x,y']\n",
            "a/b.yaml:1: missing = x,y, expected numbers or words such as -9999,Bad");
    refused("format: xls\n", "a/b.yaml:1: format cannot be 'xls'; expected one of csv, jsonl, "
                             "minari, d4rl, d3rlpy, npz");
    refused("dates: us\n",
            "a/b.yaml:1: dates cannot be 'us'; expected one of auto, day-first, month-first");
    refused("decimal: dot\n",
            "a/b.yaml:1: decimal cannot be 'dot'; expected one of auto, point, comma");
    refused("max_gap: -1\n",
            "a/b.yaml:1: max_gap = -1, expected a time above 0 such as 90, 15m, 2h or 1d");
    refused("max_gap: 15x\n",
            "a/b.yaml:1: max_gap = 15x, expected a time above 0 such as 90, 15m, 2h or 1d");
    refused("episode_steps: 1.5\n",
            "a/b.yaml:1: episode_steps = 1.5, expected a whole number, 1 or more");
}

// A typo among the keys of other programs is refused.
static void typos(void **unused)
{
    (void)unused;
    static const char *const typo[] = {"episodes", "observation", "Reward", "max-gap", "state"};
    for (int i = 0; i < 5; i++) {
        char text[100], expected[40];
        rh_log_roles *roles = none();
        rh_error err = {""};
        snprintf(text, sizeof text, "action: a\n%s: x\n", typo[i]);
        snprintf(expected, sizeof expected, "a/b.yaml:2: no role '%s'", typo[i]);
        assert_int_equal(rh_log__roles_parse(roles, text, strlen(text), "a/b.yaml", &err),
                         RH_EFORMAT);
        assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
        rh_log_roles_destroy(roles);
    }
    static const char other[] = "obs: x\ndataset: y\ntags: [a]\nfrequency: H\nsearch: {}\n"
                                "stat: 1\nepisodess: 2\ntim: 3\n";
    rh_log_roles *roles = none();
    assert_int_equal(rh_log__roles_parse(roles, other, strlen(other), "a/b.yaml", NULL), RH_OK);
    rh_log_roles_destroy(roles);
}

// An alias that contains itself, one that expands to a billion values, and deep nesting.
static void bombs(void **unused)
{
    (void)unused;
    refused("obs: &a [*a, *a]\n",
            "a/b.yaml:1: nested more than 16 deep, expected a small file");
    refused("roles: &r {obs: x, action: *r}\n",
            "a/b.yaml:1: nested more than 16 deep, expected a small file");
    char text[2000] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 20; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1, i - 1,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    strcat(text, "obs: *a19\n");
    rh_log_roles *roles = none();
    rh_error err = {""};
    assert_int_equal(rh_log__roles_parse(roles, text, strlen(text), "a/b.yaml", &err),
                     RH_EFORMAT);
    assert_non_null(strstr(err.text, ", expected a small file"));

    // a megabyte of brackets ends at once
    size_t n = 1000000;
    char *deep = malloc(n);
    assert_non_null(deep);
    memset(deep, '[', n);
    assert_int_equal(rh_log__roles_parse(roles, deep, n, "a/b.yaml", &err), RH_EFORMAT);
    assert_string_equal(err.text,
                        "a/b.yaml:1: nested more than 16 deep, expected a small file");
    free(deep);
    rh_log_roles_destroy(roles);
}

static void files(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/rh_roles_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/r.yaml", folder);
    FILE *file = fopen(path, "w");
    fputs("path: x.csv\n", file);
    fclose(file);
    rh_log_roles *roles = none();
    rh_error err;
    assert_int_equal(rh_log_roles_read(roles, path, &err), RH_OK);
    assert_int_equal(strncmp(rh_log_roles_path(roles), folder, strlen(folder)), 0);
    assert_int_equal(rh_log_roles_read(roles, folder, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "not a regular file, expected a small YAML file"));
    assert_int_equal(truncate(path, 2000000), 0);
    assert_int_equal(rh_log_roles_read(roles, path, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "more than 1 MB"));
    unlink(path);
    assert_int_equal(rh_log_roles_read(roles, path, &err), RH_EIO);
    rh_log_roles_destroy(roles);
    rmdir(folder);
}

// A value set as text, as by an option, gives what a file gives, and is refused alike.
static void one_by_one(void **unused)
{
    (void)unused;
    static const struct {
        const char *key, *text, *yaml;
    } same[] = {{"obs", "temp,level", "[temp, level]"},
                {"terminal", "", "''"},
                {"derive", "a = b; c = d", "[a = b, c = d]"},
                {"stack", "3", "3"},
                {"actions", "off,on", "[off, on]"},
                {"missing", "-9999,Bad", "[-9999, Bad]"},
                {"dates", "month-first", "month-first"},
                {"max_gap", "15m", "900"},
                {"episode_steps", "1e3", "1000"},
                {"format", "npz", "npz"},
                {"max_memory", "2k", "2048"}};
    rh_log log = {.reading = {.format = "csv"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[100], *out[2] = {NULL, NULL};
        snprintf(text, sizeof text, "%s: %s\n", same[i].key, same[i].yaml);
        rh_log_roles *roles[2] = {parse(text), none()};
        rh_error err = {""};
        assert_int_equal(rh_log_roles_set(roles[1], same[i].key, same[i].text, "--x", &err),
                         RH_OK);
        for (int k = 0; k < 2; k++) {
            size_t size;
            FILE *file = open_memstream(&out[k], &size);
            assert_int_equal(rh_log_roles_write(roles[k], &log, file, &err), RH_OK);
            fclose(file);
            rh_log_roles_destroy(roles[k]);
        }
        assert_string_equal(out[0], out[1]);
        rh_log_roles_destroy(parse(out[0])); // and reads back
        free(out[0]);
        free(out[1]);
    }
    rh_log_roles *roles = none();
    rh_error err = {""};
    assert_int_equal(rh_log_roles_set(roles, "dates", "us", "inspect: --dates", &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "inspect: --dates cannot be 'us'; expected one of auto, "
                                  "day-first, month-first");
    assert_int_equal(rh_log_roles_set(roles, "max_memory", "much", NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "max_memory = much, expected a size such as 500M or 4G");
    assert_int_equal(rh_log_roles_set(roles, "reword", "x", NULL, &err), RH_EINVAL);
    assert_int_equal(strncmp(err.text, "no role 'reword'; did you mean 'reward'?", 40), 0);
    rh_log_roles_destroy(roles);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    const char *text = "path: x.csv\nobs: [a, b]\naction: c\nmissing: [1, x]\n";
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t n = 1; rc; n++) {
        rh_log_roles *roles = NULL;
        rh_base__alloc_fail_at(n);
        rc = rh_log_roles_create(&roles, NULL);
        if (!rc)
            rc = rh_log__roles_parse(roles, text, strlen(text), "a/b.yaml", NULL);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        rh_log_roles_destroy(roles);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(n < 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),  cmocka_unit_test(shapes),
        cmocka_unit_test(refusals),   cmocka_unit_test(bombs),
        cmocka_unit_test(typos),      cmocka_unit_test(files),
        cmocka_unit_test(one_by_one), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
