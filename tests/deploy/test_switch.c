// test_switch.c - tied settings on the plant: the better one is found and stays; the same trial
// for the same messages, also after a kill.

#include "base/base.h"
#include "deploy/deploy.h"
#include "deploy/deploy_sample.h"

#include <sys/wait.h>

#define TIED(alpha, score)                                                                     \
    "  - agent: {name: esarsa, alpha: " alpha ", beta1: 0, tau: 1.0e-01, w_init: 0, "          \
    "lambda: 0.5, beta2: 0.999, tilings: 8, tiles: 4, features: pairs, optimiser: adam}\n"     \
    "    score: " score "\n    interval: [-44, -36]\n"
#define TWO BEST_ALL "switch:\n" TIED("0.1", "-41") TIED("0.5", "-42")

static rh_deploy *made(int64_t steps)
{
    rh_deploy_options opt = in_folder();
    opt.switch_steps = steps;
    opt.save_steps = 250;
    opt.save_seconds = 1e9;
    return opened(&opt);
}

// An observation; setting `good` earns -0.2 a step, the others -0.7.
static rh_deploy_reply go(rh_deploy *d, int64_t seq, int good, bool ends)
{
    double obs[2] = {3.0 + (double)(seq % 5), 0.1 * (double)(seq % 7)};
    rh_deploy_seen seen = {.obs = obs,
                           .reward = (int)d->trial.now == good ? -0.2 : -0.7,
                           .seq = seq,
                           .time = NAN,
                           .truncated = ends};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
    return reply;
}

static void forget(void)
{
    remove(state_path);
    remove(log_path);
}

// Whatever the better one is, it acts in most steps of the trial, stays, and goes on learning.
static void finds_the_better(void **unused)
{
    (void)unused;
    write_text(best_path, TWO);
    for (int good = 0; good < 3; good++) {
        rh_deploy *d = made(4000);
        int64_t t = 0;
        while (!rh_deploy_health_of(d).trial_over && t < 6000)
            go(d, t++, good, false);
        rh_deploy_health h = rh_deploy_health_of(d);
        assert_in_range(t, 4000, 4200);
        assert_int_equal(h.nsetting, 3);
        assert_int_equal(h.setting, good);
        assert_true(h.tried[good].steps > 2000);
        assert_true(fabs(h.tried[good].mean + 16.0) < 4.0); // -0.2 in 80 steps
        int64_t learned = h.nlearned;
        for (int i = 0; i < 1000; i++)
            go(d, t++, good, false);
        h = rh_deploy_health_of(d);
        assert_int_equal(h.setting, good);
        assert_in_range(h.trial_used, 4000, 4099);
        assert_true(h.nlearned > learned + 900);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        // without the option the one that stays acts
        d = made(0);
        assert_int_equal(rh_deploy_health_of(d).setting, good);
        go(d, 0, good, false);
        assert_int_equal(rh_deploy_health_of(d).nsetting, 3);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
}

// A setting that fails more often than promised, or breaks a limit, is dropped, though it earns
// most; never the last one.
static void drops_what_is_risky(void **unused)
{
    (void)unused;
    static const char rule[] =
        "failures:\n  rule: {words: \"a trip\", known: true, ends: false, below: -6}\n"
        "  per: 1000\n  all: {rate: 5, interval: [2, 10], failures: 3, of: 1000}\n";
    static const char limits[] =
        "at_most:\n  sure: 0.95\n  limits:\n"
        "    - {event: \"cost\", formula: \"reward < -6\", unit: \"% of steps\", most: 1}\n";
    for (int i = 0; i < 4; i++) {
        char text[8000];
        bool all = i == 3;
        snprintf(text, sizeof text, "%s%s", TWO, i == 1 ? limits : rule);
        write_text(best_path, text);
        rh_deploy *d = made(6000);
        double obs[2] = {5.0, 0.5};
        int64_t t = 0;
        for (; t < 7000 && !rh_deploy_health_of(d).trial_over; t++) {
            bool risky = all || (int)d->trial.now == (i == 2 ? -1 : 1);
            double reward = (int)d->trial.now == 1 ? -0.1 : -0.7;
            rh_deploy_seen seen = {.obs = obs,
                                   .reward = risky && t % 20 == 10 ? -7.0 : reward,
                                   .seq = t,
                                   .time = NAN};
            rh_deploy_reply reply;
            assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
            assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
        }
        rh_deploy_health h = rh_deploy_health_of(d), read;
        print_message("%d: %d stays; dropped %d %d %d, steps %d %d %d\n", i, h.setting,
                      h.tried[0].dropped, h.tried[1].dropped, h.tried[2].dropped,
                      (int)h.tried[0].steps, (int)h.tried[1].steps, (int)h.tried[2].steps);
        assert_true(h.trial_over);
        assert_int_equal(h.tried[1].dropped, i < 2 || (all && h.setting != 1));
        assert_int_equal(h.tried[0].dropped + h.tried[1].dropped + h.tried[2].dropped, i < 2 ? 1
                                                                                       : all
                                                                                           ? 2
                                                                                           : 0);
        assert_false(h.tried[h.setting].dropped);
        if (i < 2)
            assert_true(h.tried[1].steps < 1500);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        assert_int_equal(rh_deploy__health_read(&read, folder, NULL), RH_OK);
        assert_int_equal(read.tried[1].dropped, h.tried[1].dropped);
        d = made(0); // it stays so
        assert_int_equal(rh_deploy_health_of(d).tried[1].dropped, h.tried[1].dropped);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
}

// Episodes are units, too.
static void by_episodes(void **unused)
{
    (void)unused;
    static const char rest[] =
        "task:\n  sensors:\n    - {name: \"temp\", range: [0, 10], seen: [1, 9]}\n"
        "    - {name: \"level\", range: [-1, 1], seen: [null, null]}\n"
        "  actions: [\"off\", \"on\"]\n  reward: {name: \"cost\"}\n"
        "  continuing: false\n  gamma: 0.9\n  steps: 1000\n"
        "chosen:\n  score: -8\n  interval: [-12, -4]\n  score_per: episode\nswitch:\n";
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s%s", BEST_AGENT, rest, TIED("0.1", "-9"),
             TIED("0.5", "-8"));
    write_text(best_path, text);
    rh_deploy *d = made(2000);
    for (int64_t t = 0; t < 2200; t++)
        go(d, t, 2, t % 21 == 20);
    assert_true(rh_deploy_health_of(d).trial_over);
    assert_int_equal(rh_deploy_health_of(d).setting, 2);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Settings of an agent with a network, which draws random numbers while it waits, in episodes;
// it resumes with all of them.
static void with_networks(void **unused)
{
    (void)unused;
    static const char task[] =
        "task:\n  sensors:\n    - {name: \"temp\", range: [0, 10], seen: [1, 9]}\n"
        "    - {name: \"level\", range: [-1, 1], seen: [null, null]}\n"
        "  actions: [\"off\", \"on\"]\n  reward: {name: \"cost\"}\n"
        "  continuing: false\n  gamma: 0.9\n  steps: 1000\n"
        "chosen:\n  score: -8\n  interval: [-12, -4]\n  score_per: episode\nswitch:\n";
    const rh_agent_type *type = rh_agent_find("dqn", NULL);
    char agent[2000] = "{name: dqn", text[6000];
    for (int i = 0; i < type->nparam; i++) {
        char value[40];
        const char *name = type->param[i].name;
        rh_param__format(&type->param[i], type->param[i].initial, value, sizeof value);
        const char *is = strcmp(name, "warmup") == 0   ? "10"
                         : strcmp(name, "width") == 0  ? "4"
                         : strcmp(name, "batch") == 0  ? "8"
                         : strcmp(name, "memory") == 0 ? "1000"
                         : strcmp(name, "start") == 0  ? "none"
                                                       : value;
        snprintf(agent + strlen(agent), sizeof agent - strlen(agent), ", %s: %s", name, is);
    }
    snprintf(text, sizeof text,
             "agent: %s}\n%s  - agent: %s}\n    score: -8\n    interval: "
             "[-12, -4]\n",
             agent, task, agent);
    write_text(best_path, text);
    int nturn[2] = {0};
    int64_t t = 0;
    for (int again = 0; again < 2; again++) {
        rh_deploy *d = made(3000);
        assert_int_equal(rh_deploy_health_of(d).trial_used, again ? 630 - 30 : 0);
        for (int i = 0; i < 630; i++, t++) {
            nturn[(int)d->trial.now]++;
            go(d, t, 2, t % 21 == 20);
        }
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
    assert_true(nturn[0] > 0 && nturn[1] > 0);
}

// A trial that is killed goes on from the last save, with all of its agents; the same messages
// give the same replies.
static void killed(void **unused)
{
    (void)unused;
    write_text(best_path, TWO);
    rh_switch was = {0};
    double acts[2][700];
    int64_t at = 0;
    for (int i = 0; i < 2; i++) {
        rh_deploy *d = made(3000);
        for (int64_t t = 0; t < 700; t++) {
            acts[i][t] = go(d, t, 1, false).act[0];
            if (d->health.saved_step == t + 1) { // now: of many steps, or by an alarm
                was = d->trial;
                at = t + 1;
            }
        }
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
    assert_memory_equal(acts[0], acts[1], sizeof acts[0]);
    pid_t child = fork();
    if (child == 0) {
        rh_deploy *d = made(3000);
        for (int64_t t = 0; t < 700; t++)
            go(d, t, 1, false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    rh_deploy *d = made(0);
    assert_in_range(at, 500, 699);
    assert_int_equal(rh_deploy_health_of(d).nstep, at);
    assert_memory_equal(&d->trial, &was, sizeof was);
    assert_ptr_equal(d->agent, d->arm[(int)was.now].agent);
    for (int64_t t = at; t < 4000; t++)
        go(d, t, 1, false);
    assert_true(rh_deploy_health_of(d).trial_over);
    assert_int_equal(rh_deploy_health_of(d).setting, 1);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    char path[128], line[300];
    snprintf(path, sizeof path, "%s/events.jsonl", folder);
    FILE *file = fopen(path, "r");
    bool stays = false;
    while (file && fgets(line, sizeof line, file))
        stays = stays || strstr(line, "\"agent\":\"esarsa\",\"stays\":true}") ||
                strstr(line, "\"setting\":1,\"agent\":\"esarsa\"}");
    assert_true(stays);
    fclose(file);
}

// What a restart, or a plant that begins anew, cuts off is of no unit.
static void cut_units(void **unused)
{
    (void)unused;
    for (int episodes = 0; episodes < 2; episodes++) {
        char text[8000];
        const char *all = TWO, *at = strstr(all, "continuing: true");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - all), all,
                 episodes ? "continuing: false" : "continuing: true",
                 at + strlen("continuing: true"));
        write_text(best_path, text);
        rh_deploy *d = made(3000);
        for (int64_t t = 0; t < 60; t++)
            go(d, t, 0, false);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        d = made(0); // in the middle of an episode
        go(d, 100, 0, false);
        assert_true(d->trial.nback == 0.0);
        assert_true(d->trial.holed == (double)episodes);
        for (int64_t t = 101; t < 131; t++)
            go(d, t, 0, false);
        assert_true(d->trial.nback == 30.0);
        double obs[2] = {5.0, 0.5};
        rh_deploy_seen seen = {
            .obs = obs, .reward = NAN, .seq = 131, .time = NAN, .starts = true};
        rh_deploy_reply reply;
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        assert_true(d->trial.nback == 0.0 && d->trial.holed == 0.0);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        forget();
    }
}

// A trial that is resumed without learning freezes all of its settings, whichever acts.
static void frozen(void **unused)
{
    (void)unused;
    write_text(best_path, TWO);
    rh_deploy *d = made(4000);
    int64_t t = 0;
    while (t < 6000 && (int)d->trial.now == 0)
        go(d, t++, 1, false);
    assert_int_not_equal((int)d->trial.now, 0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_deploy_options opt = in_folder();
    opt.frozen = true;
    d = opened(&opt);
    assert_int_not_equal((int)d->trial.now, 0);
    rh_state *before[3], *after[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(rh_agent_save(d->arm[i].agent, &before[i], NULL), RH_OK);
    for (int i = 0; i < 300; i++)
        go(d, t++, 1, false);
    for (int i = 0; i < 3; i++) {
        size_t n = 0;
        assert_int_equal(rh_agent_save(d->arm[i].agent, &after[i], NULL), RH_OK);
        const double *was = rh_state__doubles(before[i], "w", &n);
        assert_memory_equal(was, rh_state__doubles(after[i], "w", &n), n * sizeof *was);
        rh_state_destroy(before[i]);
        rh_state_destroy(after[i]);
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// While somebody else acts the trial waits.
static void waits(void **unused)
{
    (void)unused;
    write_text(best_path, TWO);
    rh_deploy *d = made(1000);
    for (int64_t t = 0; t < 500; t++) {
        double obs[2] = {5.0, 0.5}, act = 1.0;
        rh_deploy_seen seen = {.obs = obs, .reward = -1.0, .seq = t, .time = NAN, .act = &act};
        rh_deploy_reply reply;
        seen.command = t == 0 ? RH_COMMAND_SHADOW : RH_COMMAND_NONE;
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    }
    assert_int_equal(rh_deploy_health_of(d).trial_used, 0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *best, *says;
    } wrong[] = {
        {BEST_ALL, "switch: best.yaml has no other settings to try"},
        {BEST_ALL "switch: 3\n", "switch is 3, expected a list of up to 3 settings"},
        {BEST_ALL "switch:\n  - agent: {name: esarsa, alpha: 0.1}\n",
         "agent esarsa has no beta1, expected all its hyperparameters"},
        {BEST_ALL "switch:\n  - agent: {name: \"exec:./steal\"}\n",
         "switch: best.yaml has no other settings to try"}, // it is not started
    };
    rh_deploy_options opt = rh_deploy_defaults();
    opt.switch_steps = 100;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rh_deploy *d = NULL;
        rh_error err = {""};
        write_text(best_path, wrong[i].best);
        assert_int_not_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_OK);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("'%s' is not in '%s'", wrong[i].says, err.text);
    }
    rh_deploy *d = NULL;
    opt.switch_steps = -1;
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, NULL), RH_EINVAL);
}

// A trial allocates nothing in a step, and a resumed one fails as a whole.
static void no_memory(void **unused)
{
    (void)unused;
    write_text(best_path, TWO);
    rh_deploy_options opt = in_folder();
    opt.switch_steps = 1000;
    rh_deploy *d = opened(&opt);
    int64_t count = rh_base__alloc_count();
    for (int64_t t = 0; t < 500; t++)
        sent(d, t, 5.0);
    assert_int_equal(rh_base__alloc_count(), count);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_status rc = RH_ENOMEM;
    for (int64_t nth = 1; rc; nth++) {
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(nth);
        d = NULL;
        rc = rh_deploy_open(&d, best_path, &opt, NULL);
        if (!rc)
            rc = rh_deploy_close(d, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(drops_what_is_risky),
        IN_A_FOLDER(finds_the_better),
        IN_A_FOLDER(by_episodes),
        IN_A_FOLDER(with_networks),
        IN_A_FOLDER(killed),
        IN_A_FOLDER(cut_units),
        IN_A_FOLDER(frozen),
        IN_A_FOLDER(waits),
        IN_A_FOLDER(refused),
        IN_A_FOLDER(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
