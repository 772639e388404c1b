// test_deploy.c - what a deployed agent learns from, what it answers, and what it keeps.

#include "base/base.h"
#include "deploy/deploy.h"
#include "deploy/deploy_sample.h"

#include <fcntl.h>
#include <sys/wait.h>

// The weights that an agent has learned.
static size_t weights_of(rh_deploy *d, double *w, size_t most)
{
    rh_state *state = NULL;
    size_t n = 0;
    assert_int_equal(rh_agent_save(d->agent, &state, NULL), RH_OK);
    const double *from = rh_state__doubles(state, "w", &n);
    assert_non_null(from);
    assert_true(n <= most);
    memcpy(w, from, n * sizeof *w);
    rh_state_destroy(state);
    return n;
}

// Learns as the agent alone does, with the reward of the formula: -|x' - 5|.
static void learns_as_the_agent_does(void **unused)
{
    (void)unused;
    static double mine[4096], alone[4096];
    rh_deploy *d = opened(NULL);
    rh_agent *agent = NULL;
    rh_best *best = NULL;
    rh_state *state = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double act = 0.0, x = 5.0;
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    assert_int_equal(rh_agent_create(&agent, best->agent, &best->task, best->hp, NULL), RH_OK);
    for (int t = 0; t < 500; t++) {
        double obs[2] = {x, 0.5};
        rh_deploy_reply reply = sent(d, t, x);
        assert_true(t ? rh_agent_step(agent, -fabs(x - 5.0), obs, &rng, &act)
                      : rh_agent_start(agent, obs, &rng, &act));
        assert_int_equal(reply.source, RH_BY_AGENT);
        assert_int_equal(reply.learned, t > 0);
        assert_true(reply.act[0] == act);
        x += act == 1.0 ? 0.3 : -0.2;
        x = fmin(fmax(x, 1.0), 9.0);
    }
    rh_deploy_health h = rh_deploy_health_of(d);
    assert_int_equal(h.nstep, 500);
    assert_int_equal(h.nlearned, 499);
    size_t n = weights_of(d, mine, 4096);
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    assert_int_equal(rh_state_get(state, "w", alone, n, NULL), RH_OK);
    assert_memory_equal(mine, alone, n * sizeof *mine);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
    rh_best_destroy(best);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Everything that must not be learned from leaves the weights as they were.
static void learns_nothing_wrong(void **unused)
{
    (void)unused;
    static double before[4096], after[4096];
    double none[2] = {NAN, 0.5}, far[2] = {INFINITY, 0.5}, good[2] = {4.0, 0.5}, other;
    rh_deploy *d = opened(NULL);
    for (int t = 0; t < 50; t++)
        sent(d, t, 3.0 + t % 3);
    other = 1.0 - d->reply.act[0];
    const struct {
        rh_deploy_seen seen;
        unsigned notes;
        rh_deploy_source source;
    } sample[] = {
        {{good, -1.0, NULL, 49, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_REPEATED, RH_BY_AGENT},
        {{good, -1.0, NULL, 20, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_LATE, RH_BY_AGENT},
        {{good, -1.0, &other, 50, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_OVERRIDE, RH_BY_AGENT},
        {{good, -1.0, NULL, 52, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_GAP, RH_BY_AGENT},
        {{none, -1.0, NULL, 53, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_MISSING, RH_BY_HOLD},
        {{good, -1.0, NULL, 54, NAN, 0, 0, 0, 0, NULL}, 0, RH_BY_AGENT}, // after a missing one
        {{far, -1.0, NULL, 55, NAN, 0, 0, 0, 0, NULL}, RH_NOTE_MISSING, RH_BY_HOLD},
        {{good, -1.0, NULL, 56, NAN, 1, 0, 0, 0, NULL}, 0, RH_BY_AGENT}, // starts
        {{good, -1.0, NULL, 59, NAN, 0, 1, 0, 0, NULL}, RH_NOTE_GAP, RH_BY_NOBODY},
        {{good, -1.0, NULL, 60, NAN, 0, 0, 0, 0, NULL}, 0, RH_BY_AGENT}, // the first again
    };
    size_t n = weights_of(d, before, 4096);
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        rh_deploy_reply reply;
        d->reply.act[0] = 1.0 - other; // so that `other` is another one
        assert_int_equal(rh_deploy_step(d, &sample[i].seen, &reply, NULL), RH_OK);
        if (reply.notes != sample[i].notes || reply.source != sample[i].source || reply.learned)
            fail_msg("sample %d: notes %u, source %d, learned %d", (int)i, reply.notes,
                     (int)reply.source, (int)reply.learned);
        weights_of(d, after, 4096);
        assert_memory_equal(before, after, n * sizeof *before);
    }

    // a sensor beyond what the log has seen is learned from, and said
    rh_deploy_reply reply = sent(d, 61, 9.95);
    assert_int_equal(reply.notes, RH_NOTE_OUTSIDE);
    assert_true(reply.learned);
    rh_deploy_health h = rh_deploy_health_of(d);
    assert_int_equal(h.count[0], 2);
    assert_int_equal(h.outside_sensor, 0);

    // a plant that counts anew: late three times, then a gap
    for (int t = 0; t < 3; t++)
        assert_int_equal(sent(d, t, 4.0).notes, RH_NOTE_LATE);
    assert_int_equal(sent(d, 3, 4.0).notes, RH_NOTE_GAP);
    assert_true(sent(d, 4, 4.0).learned);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void no_allocation_per_step(void **unused)
{
    (void)unused;
    rh_deploy_options opt = in_folder();
    opt.save_steps = 1000000;
    rh_deploy *d = opened(&opt);
    sent(d, 0, 5.0);
    int64_t count = rh_base__alloc_count();
    for (int t = 1; t < 300; t++) {
        sent(d, t % 50 == 49 ? t - 1 : t, t % 20 ? 5.0 : NAN);
        assert_int_equal(rh_deploy_tick(d, NULL), RH_OK);
    }
    assert_int_equal(rh_base__alloc_count(), count);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// The log reads back as what happened: actions really taken, rewards by the formula, holes.
static void log_reads_back(void **unused)
{
    (void)unused;
    rh_deploy_options opt = in_folder();
    rh_deploy *d = opened(&opt);
    rh_log *log = NULL;
    double x[] = {5.0, 5.5, 6.5, 4.0, 3.0, 2.0}, on = 1.0;
    double taken[6];
    rh_error err = {""};
    for (int t = 0; t < 6; t++) {
        double obs[2] = {x[t], 0.25};
        rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = t + (t > 3), .time = t * 2.5};
        rh_deploy_reply reply;
        seen.act = t == 2 ? &on : NULL;
        seen.terminal = t == 5;
        taken[t] = t == 2 ? 1.0 : d->reply.act[0]; // of the step that ends here
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    if (rh_log_read(&log, log_path, NULL, &err) != RH_OK)
        fail_msg("%s", err.text);
    assert_int_equal(log->n, 4); // the step over the gap, 3 to 4, is not there
    assert_int_equal(log->nobs, 2);
    assert_int_equal(log->naction, 2);
    assert_string_equal(log->obs_name[0], "temp");
    assert_string_equal(log->obs_unit[0], "degC");
    assert_string_equal(log->act_name[0], "pump");
    assert_string_equal(log->label[1], "on");
    assert_string_equal(log->reward_name, "cost");
    static const int to[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        assert_true(log->obs[2 * log->to[i]] == x[to[i]]);
        assert_true(log->reward[i] == -fabs(x[to[i]] - 5.0));
        assert_true(log->act[i] == taken[to[i]]);
        assert_true(log->time[i] == 2.5 * (to[i] - 1));
    }
    assert_int_equal(log->flag[3] & RH_FLAG_TERMINAL, RH_FLAG_TERMINAL);
    assert_true(log->start[0]);
    assert_false(log->start[1]);
    rh_log_destroy(log);
}

// The first line of the log names the columns, every line has as many fields, and a terminal
// that shows the file has nothing to obey.
static void log_is_plain(void **unused)
{
    (void)unused;
    write_text(
        best_path, BEST_AGENT
        "task:\n"
        "  sensors: [{name: \"te\\e[31mmp\", range: [0, 10]}, {name: \"a,b\", range: [0, "
        "1]}]\n"
        "  actions: [\"o\\u202eff\", \"a \\\"b\\\" \\\\ c, d\"]\n"
        "  reward: {name: \"cost\", formula: \"-abs(next[0] - 5)\"}\n"
        "  continuing: true\n  gamma: 0.9\n  steps: 1000\n");
    rh_deploy_options opt = in_folder();
    for (int round = 0; round < 2; round++) { // the second is a resumed one
        rh_deploy *d = opened(&opt);
        double act = 1.0;
        for (int t = 0; t < 4; t++) {
            double obs[2] = {t, 0.5};
            rh_deploy_seen seen = {
                .obs = obs, .reward = NAN, .seq = t, .time = t, .act = t ? &act : NULL};
            rh_deploy_reply reply;
            assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        }
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    }
    FILE *file = fopen(log_path, "r");
    assert_non_null(file);
    static const char head[] = "episode,step,start,time,te?[31mmp,\"a,b\",action,cost,";
    char line[1000];
    int nline = 0;
    for (; fgets(line, sizeof line, file); nline++) {
        int fields = 1;
        bool quoted = false;
        for (const char *c = line; *c; c++) {
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
            quoted = quoted != (*c == '"');
            fields += *c == ',' && !quoted;
        }
        assert_int_equal(fields, 11);
        if (nline == 0)
            assert_ptr_equal(strstr(line, head), line);
    }
    fclose(file);
    assert_int_equal(nline, 1 + 2 * 4);
    rh_log *log = NULL;
    rh_error err = {""};
    if (rh_log_read(&log, log_path, NULL, &err) != RH_OK)
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, 2);
    assert_int_equal(log->naction, 2);
    assert_string_equal(log->obs_name[1], "a,b");
    assert_string_equal(log->label[0], "o?ff");
    assert_string_equal(log->label[1], "a \"b\" \\ c, d");
    assert_true(log->act[0] == 1.0);
    assert_int_equal(log->n, 6); // three of each round; the last row has no outcome
    rh_log_destroy(log);
}

// A log that was begun with "# rehearse" lines is continued.
static void older_log(void **unused)
{
    (void)unused;
    write_text(log_path,
               "# rehearse columns: episode step start obs obs action reward terminal "
               "truncated\n# rehearse actions: \"off\", \"on\"\n"
               "episode,step,start,temp [degC],level,pump,cost,terminal,truncated\n"
               "0,0,1,5,0.5,on,-0.5,0,0\n0,1,1,5.5,0.5,,,,\n");
    rh_deploy_options opt = in_folder();
    rh_deploy *d = opened(&opt);
    for (int t = 0; t < 3; t++)
        sent(d, t, 4.0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_log *log = NULL;
    assert_int_equal(rh_log_read(&log, log_path, NULL, NULL), RH_OK);
    assert_int_equal(log->n, 1 + 2);
    assert_int_equal(log->nepisode, 2);
    rh_log_destroy(log);
}

static mode_t rights(const char *name)
{
    struct stat there;
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &there), 0);
    return there.st_mode & 0777;
}

// What others can read is up to the owner; what a killed process left of its files goes.
static void files_of_a_folder(void **unused)
{
    (void)unused;
    static const char *const name[] = {"agent.state", "status.json", "log.csv", "events.jsonl",
                                       "deploy.lock"};
    mode_t before = umask(022);
    for (int shared = 0; shared < 2; shared++) {
        char path[100], left[100];
        rh_deploy_options opt = in_folder();
        opt.shared = shared;
        snprintf(left, sizeof left, "%s/agent.state.1-3.tmp", folder);
        write_text(left, "half");
        rh_deploy *d = opened(&opt);
        rh_deploy_health h = {.nstep = -1};
        assert_int_equal(rh_deploy__health_read(&h, folder, NULL), RH_OK);
        assert_int_equal(h.nstep, 0);
        assert_true(h.promised == -40.0);
        assert_int_equal(access(left, F_OK), -1);
        for (int i = 0; i < 5; i++)
            assert_int_equal(rights(name[i]), shared ? 0644 : 0600);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        // a state of no steps is not in the way of another setting, nor the middle of anything
        d = opened(&opt);
        assert_true(d->phase == RH_DEPLOY__BETWEEN);
        assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
        write_text(best_path,
                   "agent: {name: esarsa, alpha: 0.5, beta1: 0, tau: 0.1, w_init: 0, "
                   "lambda: 0.5, beta2: 0.999, tilings: 8, tiles: 4, features: pairs, "
                   "optimiser: adam}\n" BEST_TASK);
        assert_int_equal(rh_deploy_close(opened(&opt), NULL), RH_OK);
        write_text(best_path, BEST_ALL);
        for (int i = 0; i < 5; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, name[i]);
            assert_int_equal(unlink(path), 0);
        }
    }
    umask(before);
}

// Before the first action there is nothing to hold, and without a safe one there is no action.
static void nothing_to_hold(void **unused)
{
    (void)unused;
    rh_deploy *d = opened(NULL);
    assert_true(sent(d, 0, NAN).source == RH_BY_NOBODY);
    assert_true(sent(d, 1, NAN).source == RH_BY_NOBODY);
    rh_deploy_reply chosen = sent(d, 2, 5.0);
    assert_true(chosen.source == RH_BY_AGENT);
    rh_deploy_reply held = sent(d, 3, NAN);
    assert_true(held.source == RH_BY_HOLD);
    assert_true(held.act[0] == chosen.act[0]);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    write_text(guard_path, "safe_action: on\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    d = opened(&opt);
    rh_deploy_reply safe = sent(d, 0, NAN);
    assert_true(safe.source == RH_BY_GUARD);
    assert_true(safe.act[0] == 1.0);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Killed and resumed: it goes on from its last save, and nothing of the log is lost.
static void survives_a_kill(void **unused)
{
    (void)unused;
    rh_deploy_options opt = in_folder();
    opt.save_steps = 20;
    int tube[2];
    assert_int_equal(pipe(tube), 0);
    pid_t child = fork();
    if (child == 0) {
        rh_deploy *d = NULL;
        if (rh_deploy_open(&d, best_path, &opt, NULL) != RH_OK)
            _exit(1);
        for (int t = 0; t < 50; t++) {
            double obs[2] = {4.0 + t % 3, 0.5};
            rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = t, .time = NAN};
            rh_deploy_reply reply;
            if (rh_deploy_step(d, &seen, &reply, NULL) || rh_deploy_tick(d, NULL))
                _exit(1);
        }
        if (write(tube[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char done;
    assert_int_equal(read(tube[0], &done, 1), 1);

    // while it runs nobody else may
    rh_deploy *d = NULL;
    rh_error err = {""};
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EIO);
    assert_non_null(strstr(err.text, "another process deploys in this folder"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(tube[0]);
    close(tube[1]);

    // a torn last line
    FILE *file = fopen(log_path, "a");
    assert_non_null(file);
    fputs("0,49,1,4", file);
    fclose(file);
    d = opened(&opt);
    rh_deploy_health h = rh_deploy_health_of(d);
    assert_int_equal(h.nstep, 40);
    assert_int_equal(h.saved_step, 40);
    assert_false(sent(d, 0, 5.0).learned); // the hole is not learned over
    assert_true(sent(d, 1, 5.0).learned);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_log *log = NULL;
    assert_int_equal(rh_log_read(&log, log_path, NULL, NULL), RH_OK);
    assert_int_equal(log->n, 48 + 1); // the last of 49 has no next observation
    assert_int_equal(log->nepisode, 2);
    assert_false(log->start[1]);
    rh_log_destroy(log);

    // the saved state is that of another setting
    file = fopen(best_path, "w");
    assert_non_null(file);
    fputs("agent: {name: esarsa, alpha: 0.5, beta1: 0, tau: 0.1, w_init: 0, lambda: 0.5, "
          "beta2: 0.999, tilings: 8, tiles: 4, features: pairs, optimiser: adam}\n" BEST_TASK,
          file);
    fclose(file);
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "learned with alpha = 0.25, best.yaml has 0.5"));
}

// What was learned elsewhere, and an agent that learns no more.
static void born_and_frozen(void **unused)
{
    (void)unused;
    static double before[4096], after[4096];
    rh_deploy_options opt = in_folder();
    rh_deploy *d = opened(&opt);
    for (int t = 0; t < 100; t++)
        sent(d, t, 3.0 + t % 4);
    size_t n = weights_of(d, before, 4096);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_deploy_options next = rh_deploy_defaults();
    next.state = state_path;
    next.frozen = true;
    d = opened(&next);
    assert_int_equal(rh_deploy_health_of(d).nstep, 0);
    for (int t = 0; t < 100; t++)
        assert_false(sent(d, t, 3.0 + t % 4).learned);
    assert_int_equal(weights_of(d, after, 4096), n);
    assert_memory_equal(before, after, n * sizeof *before);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void guarded(void **unused)
{
    (void)unused;
    write_text(guard_path, "safe_action: off\nforbidden: [\"on\"]\ntrip: {temp: [2, 8]}\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    int nlimited = 0;
    for (int t = 0; t < 100; t++) {
        rh_deploy_reply before = d->reply, reply = sent(d, t, 5.0);
        assert_true(reply.act[0] == 0.0);
        nlimited += reply.notes == RH_NOTE_LIMITED;
        assert_int_equal(reply.source,
                         reply.notes == RH_NOTE_LIMITED ? RH_BY_GUARD : RH_BY_AGENT);
        if (t > 0) // nothing about an action that was not taken
            assert_int_equal(reply.learned, before.source == RH_BY_AGENT);
    }
    assert_in_range(nlimited, 5, 95);
    rh_deploy_reply reply = sent(d, 100, 8.5);
    assert_int_equal(reply.notes & RH_NOTE_TRIPPED, RH_NOTE_TRIPPED);
    assert_int_equal(reply.source, RH_BY_GUARD);
    assert_int_equal(sent(d, 101, NAN).source, RH_BY_GUARD);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);

    static const struct {
        const char *text, *why;
    } fault[] = {
        {"forbidden: [\"on\"]\n", "no safe_action, expected one beside forbidden and trip"},
        {"safe_action: half\n", ":1: safe_action is half, expected an action of best.yaml"},
        {"safe_action: off\nforbidden: [off]\n", "safe_action off is forbidden"},
        {"limits: {pump: [0, 1]}\n", "expected forbidden: actions are discrete"},
        {"safe_action: off\ntrip: {tmep: [0, 1]}\n", "trip is tmep, expected a name of best"},
        {"safe_action: off\ntrip: {temp: [2, 1]}\n", "expected [LO, HI]"},
        {"save_action: off\n", "no key 'save_action'; did you mean 'safe_action'?"},
        {"max_gap: -1\n", "max_gap is -1, expected seconds above 0"},
        {"nothing\n", "expected keys such as safe_action"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        rh_error err = {""};
        write_text(guard_path, fault[i].text);
        assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EFORMAT);
        if (!strstr(err.text, fault[i].why))
            fail_msg("'%s', expected '%s'", err.text, fault[i].why);
    }
}

// A plant whose clock stands still is not past the guard, and neither is one that sends earlier
// times.
static void guarded_without_time(void **unused)
{
    (void)unused;
    write_text(guard_path, "safe_action: off\ntrip: {temp: [2, 8]}\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    static const struct {
        double time, temp;
        rh_deploy_source source;
    } sample[] = {
        {0, 5, RH_BY_AGENT}, {1, 5, RH_BY_AGENT}, {1, 5, RH_BY_AGENT}, {1, 9, RH_BY_GUARD},
        {1, 9, RH_BY_GUARD}, {0, 9, RH_BY_GUARD}, {1, 5, RH_BY_GUARD}, {2, 5, RH_BY_AGENT},
        {3, 8, RH_BY_AGENT}, {4, 2, RH_BY_AGENT}, // the limits themselves are allowed
    };
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        double obs[2] = {sample[i].temp, 0.5};
        rh_deploy_seen seen = {.obs = obs, .reward = NAN, .seq = -1, .time = sample[i].time};
        rh_deploy_reply reply;
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        if (reply.source != sample[i].source)
            fail_msg("message %zu: source %d, expected %d", i, reply.source, sample[i].source);
        assert_int_equal((reply.notes & RH_NOTE_TRIPPED) != 0, sample[i].temp > 8.0);
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// A plant whose counter stands still, or that sends what is late, is not past the guard.
static void guarded_again(void **unused)
{
    (void)unused;
    write_text(guard_path, "safe_action: off\ntrip: {temp: [2, 8]}\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    for (int t = 0; t < 20; t++) {
        (void)sent(d, t, 5.0);
        if (t == 0) // the first number too
            assert_int_equal(sent(d, t, 5.0).notes, RH_NOTE_REPEATED);
    }
    rh_deploy_reply reply = sent(d, 19, 5.0);
    assert_int_equal(reply.notes, RH_NOTE_REPEATED);
    assert_int_equal(reply.source, RH_BY_AGENT);
    for (int late = 0; late < 2; late++) {
        reply = sent(d, 19 - late, 9.0);
        assert_int_equal(reply.notes,
                         (late ? RH_NOTE_LATE : RH_NOTE_REPEATED) | RH_NOTE_TRIPPED);
        assert_int_equal(reply.source, RH_BY_GUARD);
        assert_true(reply.act[0] == 0.0);
    }
    reply = sent(d, 19, 5.0); // until a new observation comes
    assert_int_equal(reply.source, RH_BY_GUARD);
    reply = sent(d, 20, 5.0);
    assert_int_equal(reply.source, RH_BY_AGENT);
    assert_false(reply.learned); // the agent's action was not taken
    assert_true(sent(d, 21, 5.0).learned);
    assert_int_equal(rh_deploy_health_of(d).count[6], 2);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// Continuous actions are cut to their limits, which is not the agent's own action.
static void guarded_amounts(void **unused)
{
    (void)unused;
    write_text(best_path,
               "agent: {name: random}\n"
               "task: {sensors: [{name: x, range: [0, 1]}], continuing: true, gamma: 1, "
               "steps: 9, actions: [{name: u, range: [-2, 2]}, {name: v, range: [0, 1]}]}\n");
    write_text(guard_path, "limits: {u: [null, 0]}\nsafe_action: [-1, 0.5]\nmax_gap: 10\n"
                           "trip: {x: [null, 0.9]}\n");
    rh_deploy_options opt = rh_deploy_defaults();
    opt.guard = guard_path;
    rh_deploy *d = opened(&opt);
    int nlimited = 0;
    for (int t = 0; t < 50; t++) {
        double x = 0.5;
        rh_deploy_seen seen = {.obs = &x, .reward = 0.0, .seq = -1, .time = t};
        rh_deploy_reply reply;
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        assert_true(reply.act[0] >= -2.0);
        assert_true(reply.act[0] <= 0.0);
        nlimited += reply.notes == RH_NOTE_LIMITED;
    }
    assert_in_range(nlimited, 10, 40);
    for (int t = 50; t < 60; t++) { // past a trip limit: the safe action, and nothing is cut
        double past = 0.95;
        rh_deploy_seen seen = {.obs = &past, .reward = 0.0, .seq = -1, .time = t};
        rh_deploy_reply reply;
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        assert_int_equal(reply.notes, RH_NOTE_TRIPPED);
        assert_int_equal(reply.source, RH_BY_GUARD);
        assert_true(reply.act[0] == -1.0);
        assert_true(reply.act[1] == 0.5);
    }
    double x = 0.5;
    rh_deploy_seen late = {.obs = &x, .reward = 0.0, .seq = -1, .time = 80.0};
    rh_deploy_reply reply;
    assert_int_equal(rh_deploy_step(d, &late, &reply, NULL), RH_OK);
    assert_int_equal(reply.notes & RH_NOTE_GAP, RH_NOTE_GAP);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

static void no_memory(void **unused)
{
    (void)unused;
    rh_deploy_options opt = in_folder();
    write_text(best_path, BEST_ALL "at_most:\n  limits:\n    - {event: \"temp > 8\", formula: "
                                   "\"next[0] > 8\", unit: \"% of steps\", most: 5}\n");
    rh_deploy *d = opened(&opt);
    for (int t = 0; t < 9; t++)
        sent(d, t, 5.0);
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

static void refused(void **unused)
{
    (void)unused;
    rh_deploy *d = NULL;
    rh_error err = {""};
    rh_deploy_options opt = {.save_steps = 1};
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EINVAL);
    opt = rh_deploy_defaults();
    opt.save_steps = 0;
    assert_int_equal(rh_deploy_open(&d, best_path, &opt, &err), RH_EINVAL);
    assert_string_equal(err.text, "deploy: save_steps = 0, expected 1 or more");
    write_text(best_path, BEST_AGENT);
    assert_int_equal(rh_deploy_open(&d, best_path, NULL, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "no section task"));
    rh_deploy_health h;
    assert_int_equal(rh_deploy__health_read(&h, folder, &err), RH_EIO);
}

// ---------------------------------------------------------------------------- history

// An agent that keeps the steps it learns from.
static struct {
    double from[11], to[11], act, reward;
} learned[1000];
static int nlearned;

typedef struct spy {
    double obs[11], act;
    int n;
} spy;

static rh_status spy_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)self;
    (void)hp;
    (void)err;
    assert_int_equal(task->nobs, 11);
    return RH_OK;
}

static bool spy_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    spy *s = self;
    (void)rng;
    memcpy(s->obs, obs, sizeof s->obs);
    *act = s->act = s->n++ * 7 % 3 == 1;
    return true;
}

static bool spy_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    spy *s = self;
    memcpy(learned[nlearned].from, s->obs, sizeof s->obs);
    memcpy(learned[nlearned].to, obs, sizeof s->obs);
    learned[nlearned].act = s->act;
    learned[nlearned++].reward = reward;
    return spy_start(self, obs, rng, act);
}

static bool spy_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

static const rh_agent_type spy_type = {.name = "spy",
                                       .about = "keeps what it learns from",
                                       .actions = RH_DISCRETE,
                                       .self_size = sizeof(spy),
                                       .init = spy_init,
                                       .start = spy_start,
                                       .step = spy_step,
                                       .end = spy_end,
                                       .act = spy_start};

#define SENSOR(name) "    - {name: \"" name "\", range: [0, 1], seen: [0, 1]}\n"
#define MADE(lag) SENSOR("temp" lag) SENSOR("level" lag) SENSOR("d" lag)
#define STACKED_TASK                                                                           \
    "agent: {name: spy}\n"                                                                     \
    "task:\n"                                                                                  \
    "  sensors:\n" MADE("") MADE("[-1]") SENSOR("pump=on[-1]") MADE("[-2]")                    \
        SENSOR("pump=on[-2]") "  sent: 2\n"                                                    \
                              "  derive: \"d = temp - level\"\n"                               \
                              "  stack: 3\n"                                                   \
                              "  action: \"pump\"\n"                                           \
                              "  actions: [\"off\", \"on\"]\n"                                 \
                              "  reward: {name: \"cost\", formula: \"-abs(next[0] - 5)\"}\n"   \
                              "  continuing: false\n"                                          \
                              "  gamma: 0.9\n"                                                 \
                              "  steps: 1000\n"

// Every step of the log that has all its numbers.
static int whole_steps(const rh_log *log, int64_t *at)
{
    int n = 0;
    for (int64_t t = 0; t < log->n; t++)
        if (!(log->flag[t] & RH_FLAG_TERMINAL) &&
            rh_base__all_finite(log->obs + (int64_t)log->from[t] * 11, 11) &&
            rh_base__all_finite(log->obs + (int64_t)log->to[t] * 11, 11))
            at[n++] = t;
    return n;
}

// With derived sensors and a history the plant sends its own sensors only, and the agent learns
// from exactly the steps that the reader makes of the deployment's log.
static void history_is_that_of_the_log(void **unused)
{
    (void)unused;
    assert_int_equal(rh_agent_register(&spy_type, NULL), RH_OK);
    write_text(best_path, STACKED_TASK);
    rh_deploy_options opt = in_folder();
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    opt.save_steps = 100000;
    rh_deploy *d = opened(&opt);
    nlearned = 0;
    for (int t = 0, seq = 0; t < 600; t++, seq++) {
        double obs[2] = {rh_rng_uniform(&rng), rh_rng_range(&rng, -1.0, 1.0)};
        rh_deploy_seen seen = {.obs = obs, .reward = NAN, .time = NAN};
        rh_deploy_reply reply;
        uint64_t what = rh_rng_below(&rng, 40);
        seen.starts = what == 0;
        seen.terminal = what == 1;
        seen.truncated = what == 2;
        if (what == 3)
            obs[1] = NAN; // missing
        seq += what == 4; // a gap
        seen.seq = seq;
        if (t == 300) { // another process goes on
            assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
            d = opened(&opt);
        }
        assert_int_equal(rh_deploy_step(d, &seen, &reply, NULL), RH_OK);
        assert_int_equal(reply.source == RH_BY_HOLD, what == 3);
    }
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);

    static int64_t at[1000];
    rh_log *log = NULL;
    rh_error err = {""};
    rh_log_options how = rh_log_defaults();
    how.derive = "d = temp - level";
    how.stack = 3;
    if (rh_log_read(&log, log_path, &how, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, 11);
    int n = whole_steps(log, at);
    assert_true(n > 300);
    assert_int_equal(nlearned, n);
    for (int i = 0; i < n; i++) {
        size_t size = sizeof learned[i].from;
        assert_memory_equal(log->obs + (int64_t)log->from[at[i]] * 11, learned[i].from, size);
        assert_memory_equal(log->obs + (int64_t)log->to[at[i]] * 11, learned[i].to, size);
        assert_true(log->act[at[i]] == learned[i].act);
        assert_true(log->reward[at[i]] == learned[i].reward);
    }
    rh_log_destroy(log);
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(learns_as_the_agent_does),
        IN_A_FOLDER(learns_nothing_wrong),
        IN_A_FOLDER(no_allocation_per_step),
        IN_A_FOLDER(log_reads_back),
        IN_A_FOLDER(log_is_plain),
        IN_A_FOLDER(older_log),
        IN_A_FOLDER(files_of_a_folder),
        IN_A_FOLDER(nothing_to_hold),
        IN_A_FOLDER(survives_a_kill),
        IN_A_FOLDER(born_and_frozen),
        IN_A_FOLDER(guarded),
        IN_A_FOLDER(guarded_again),
        IN_A_FOLDER(guarded_without_time),
        IN_A_FOLDER(guarded_amounts),
        IN_A_FOLDER(no_memory),
        IN_A_FOLDER(refused),
        IN_A_FOLDER(history_is_that_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
