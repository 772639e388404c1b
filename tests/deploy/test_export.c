// test_export.c - an exported agent does what a deployment does, bit for bit: the file is
// compiled, loaded, and both run on the same plant.

#include "base/base.h"
#include "deploy/deploy_sample.h"
#include "study/study_internal.h"

#include <dlfcn.h>
#include <stdint.h>

#define STEPS 10000

// What an exported file has, and a function for the size of its memory.
typedef struct device {
    void *library; // owned
    void *memory;  // owned: struct agent
    size_t size;
    void (*init)(void *);
    int (*start)(void *, const double *, double *);
    int (*step)(void *, double, const double *, double *);
    void (*end)(void *, double);
    void (*truncate)(void *, double, const double *);
    void (*override)(void *, const double *);
    int (*valid)(const void *);
} device;

static char code_path[96];

static void *symbol(const device *d, const char *name)
{
    void *at = dlsym(d->library, name);
    if (!at)
        fail_msg("no %s in the exported file", name);
    return at;
}

// Compile the exported file with all warnings as errors, and load it.
static device load(const char *flags)
{
    static int count;
    char command[600], path[128];
    device d;
    snprintf(path, sizeof path, "%s/device%d.so", folder, count++);
    snprintf(command, sizeof command,
             "cd %s && printf '#include \"agent.c\"\\nunsigned agent_size(void);\\n"
             "unsigned agent_size(void) { return sizeof(agent); }\\n' >size.c && "
             "cc -std=c11 -ffreestanding -Wall -Wextra -Werror -fPIC %s -shared size.c -o %s",
             folder, flags, path);
    assert_int_equal(system(command), 0);
    d.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(d.library);
    unsigned (*size)(void);
    *(void **)&size = symbol(&d, "agent_size");
    *(void **)&d.init = symbol(&d, "agent_init");
    *(void **)&d.start = symbol(&d, "agent_start");
    *(void **)&d.step = symbol(&d, "agent_step");
    *(void **)&d.end = symbol(&d, "agent_end");
    *(void **)&d.truncate = symbol(&d, "agent_truncate");
    *(void **)&d.override = symbol(&d, "agent_override");
    *(void **)&d.valid = symbol(&d, "agent_valid");
    d.size = size();
    d.memory = malloc(d.size);
    assert_non_null(d.memory);
    d.init(d.memory);
    return d;
}

static void unload(device *d)
{
    free(d->memory);
    dlclose(d->library);
}

static rh_export_made exported(const rh_export_options *opt)
{
    rh_export_made made;
    rh_error err = {""};
    snprintf(code_path, sizeof code_path, "%s/agent.c", folder);
    if (rh_export_write(code_path, best_path, opt, &made, &err) != RH_OK)
        fail_msg("%s", err.text);
    return made;
}

// ---------------------------------------------------------------------------- the plant

// Two sensors that follow the action with noise.
typedef struct plant {
    double x[2];
    rh_rng rng;
} plant;

static void move(plant *p, const rh_task *task, const double *act)
{
    double push = task->naction ? act[0] / (task->naction - 1) : act[0] / 10.0;
    p->x[0] += 0.8 * (push - 0.45) + rh_rng_range(&p->rng, -0.3, 0.3);
    p->x[0] = fmin(fmax(p->x[0], -0.5), 10.5);
    p->x[1] = 0.9 * p->x[1] + 0.2 * (push - 0.5) + rh_rng_range(&p->rng, -0.1, 0.1);
}

// ---------------------------------------------------------------------------- side by side

// Run both for n steps, with missing sensors and rewards, overridden actions, ends and cuts.
// whole: none of these. Returns in how many steps the agent acted.
static int side_by_side(rh_deploy *host, device *d, int n, bool whole)
{
    const rh_task *task = &rh_deploy_best(host)->task;
    plant p = {{5.0, 0.0}, rh_rng_stream(9, RH_STREAM_NOISE, 0, 0)};
    double act[RH_MAX_ACT] = {0}, other[RH_MAX_ACT] = {0};
    bool between = true, overridden = false;
    int nacted = 0;
    for (int t = 0; t < n; t++) {
        double obs[2] = {p.x[0], p.x[1]}, reward = -fabs(p.x[0] - 5.0);
        bool terminal = !whole && t % 701 == 700 && !between;
        bool truncated = !whole && t % 449 == 448 && !between && !terminal;
        obs[t % 2] = !whole && t % 97 == 96 && !truncated && !terminal ? NAN : obs[t % 2];
        reward = !whole && t % 53 == 52 ? NAN : reward;
        rh_deploy_seen seen = {.obs = obs,
                               .reward = reward,
                               .act = overridden ? other : NULL,
                               .seq = t,
                               .time = NAN,
                               .starts = between,
                               .terminal = terminal,
                               .truncated = truncated};
        rh_deploy_reply reply;
        assert_int_equal(rh_deploy_step(host, &seen, &reply, NULL), RH_OK);
        if (overridden)
            d->override(d->memory, other);
        int source = 3;
        if (terminal)
            d->end(d->memory, reward);
        else if (truncated)
            d->truncate(d->memory, reward, obs);
        else if (between)
            source = d->start(d->memory, obs, act);
        else
            source = d->step(d->memory, reward, obs, act);
        between = terminal || truncated;
        overridden = false;
        if (between)
            continue;
        assert_int_equal(source, reply.source);
        if (memcmp(act, reply.act, (size_t)task->nact * sizeof *act) != 0)
            fail_msg("step %d: %.17g on the device, %.17g on the host", t, act[0],
                     reply.act[0]);
        nacted += source == RH_BY_AGENT;

        if (!whole && t % 61 == 60) {
            overridden = true;
            other[0] = task->naction ? (act[0] == 0.0 ? 1.0 : 0.0) : 3.25;
        }
        move(&p, task, overridden ? other : act);
    }
    return nacted;
}

// When an episode begins the weights of both are the same, too.
static void same_weights(rh_deploy *host, const device *d)
{
    rh_state *state = NULL;
    size_t n = 0;
    assert_int_equal(rh_agent_save(host->agent, &state, NULL), RH_OK);
    const double *w = rh_state__doubles(state, "w", &n);
    assert_non_null(w);
    d->start(d->memory, (double[]){5.0, 0.0}, (double[]){0.0}); // ends all traces
    assert_true(n > 100);
    assert_memory_equal(d->memory, w, n * sizeof *w); // the first array of struct agent
    rh_state_destroy(state);
}

// best.yaml for an agent with initial values but for those in `set`, and the task.
static void write_best(const char *agent, const char *set, const char *task)
{
    const rh_agent_type *type = rh_agent_find(agent, NULL);
    rh_text text = {0};
    rh_text__format(&text, "agent:\n  name: %s\n", agent);
    for (int i = 0; i < type->nparam; i++) {
        const rh_param *p = &type->param[i];
        char key[64];
        snprintf(key, sizeof key, "%s:", p->name);
        const char *own = strstr(set, key);
        if (own && (own == set || own[-1] == ' '))
            rh_text__format(&text, "  %.*s\n", (int)strcspn(own, ","), own);
        else if (p->choice)
            rh_text__format(&text, "  %s: %s\n", p->name, p->choice[(int)p->initial]);
        else
            rh_text__format(&text, "  %s: %.17g\n", p->name, p->initial);
    }
    rh_text__format(&text, "%srehearse: \"0.1.0\"\n", task);
    write_text(best_path, text.data);
    rh_text__clear(&text);
}

#define SENSORS                                                                                \
    "task:\n  sensors:\n    - {name: \"temp\", unit: \"degC\", range: [0, 10]}\n"              \
    "    - {name: \"level\", range: [-1, 1]}\n"
#define REST "  reward: {name: \"cost\"}\n  continuing: false\n  gamma: 0.98\n  steps: 4000\n"
#define TWO SENSORS "  action: \"pump\"\n  actions: [\"off\", \"on\"]\n" REST
#define FIVE SENSORS "  action: \"pump\"\n  actions: [a, b, c, d, e]\n" REST
#define MANY SENSORS "  action: \"pump\"\n  actions: [a, b, c, d, e, f, g, h, i, j]\n" REST
#define POWER SENSORS "  actions: [{name: \"power\", range: [0, 10]}]\n" REST

// Export the agent of best.yaml, and run it beside its deployment.
static void both(const rh_export_options *opt, const char *flags, bool whole, int least)
{
    rh_deploy_options host = rh_deploy_defaults();
    if (opt) {
        host.guard = opt->guard;
        host.state = opt->state;
        host.frozen = opt->frozen;
        host.seed = opt->seed;
    }
    rh_export_made made = exported(opt);
    rh_deploy *d = opened(&host);
    device made_of = load(flags);
    assert_int_equal(made.state, made_of.size);
    assert_true(made_of.valid(made_of.memory));
    assert_in_range(side_by_side(d, &made_of, STEPS, whole), least, STEPS);
    if (made.learns && rh_deploy_best(d)->hp[3] == 0.0) // w_init, which a saved state has in it
        same_weights(d, &made_of);
    unload(&made_of);
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
}

// ---------------------------------------------------------------------------- esarsa

static void esarsa_learns_as_on_the_host(void **unused)
{
    (void)unused;
    static const struct {
        const char *set, *task;
    } sample[] = {
        {"tilings: 8, tiles: 4, lambda: 0.5, alpha: 0.25, tau: 0.1,", TWO},
        {"tilings: 16, tiles: 8, lambda: 0, alpha: 0.25, tau: 0.1,", TWO}, // brief
        {"tilings: 8, tiles: 4, lambda: 0.95, alpha: 0.1, tau: 0.2, w_init: -3,", FIVE},
        {"tilings: 8, tiles: 4, lambda: 0.8, beta1: 0.9, alpha: 0.05, tau: 0.1,", TWO},
        {"tilings: 8, tiles: 4, lambda: 0, beta1: 0.5, alpha: 0.05, tau: 0.1,", FIVE},
        {"tilings: 4, tiles: 4, lambda: 1, optimiser: sgd, alpha: 0.01,", TWO},
        {"tilings: 8, tiles: 6, lambda: 0.1, features: singles, tau: 0.1,", MANY},
        {"tilings: 5, tiles: 5, lambda: 0.00001, features: joint, tau: 0.1,", TWO},
        {"tilings: 8, tiles: 4, lambda: 0.5, alpha: 0.25, tau: 0.1,",
         TWO "  tiled: {sensors: [level], pairs: [[temp, level]]}\n"},
        {"tilings: 3, tiles: 3, lambda: 0.9, beta2: 0.6, tau: 0.1,", FIVE},
    };
    rh_export_options opt = rh_export_defaults();
    opt.memory = 256 * 1024;
    opt.seed = 12;
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        write_best("esarsa", sample[i].set, sample[i].task);
        both(&opt, i % 2 ? "-O0" : "-O2", false, 9500);
        both(&opt, "-O2 -march=native", true, STEPS);
    }
}

static void keeps_a_history(void **unused)
{
    (void)unused;
    static const char *const actions[] = {"[\"off\", \"on\"]", "[a, b, c]"};
    static const char *const code[] = {"a0=on", "a0=a", "a0=b", "a0=c"};
    rh_export_options opt = rh_export_defaults();
    for (int many = 0; many < 2; many++) {
        rh_text task = {0};
        rh_text__add(&task, SENSORS);
        for (int lag = 1; lag < 3; lag++) {
            for (int k = 0; k < 2; k++)
                rh_text__format(&task, "    - {name: \"s%d before %d\", range: [-1, 10]}\n", k,
                                lag);
            for (int k = 0; k < (many ? 3 : 1); k++)
                rh_text__format(&task, "    - {name: \"%s before %d\", range: [-1, 1]}\n",
                                code[many + k], lag);
        }
        rh_text__format(&task, "  sent: 2\n  stack: 3\n  action: \"pump\"\n  actions: %s\n",
                        actions[many]);
        rh_text__add(&task, REST);
        write_best("esarsa", "tilings: 8, features: singles, lambda: 0.7, tau: 0.1,",
                   task.data);
        both(&opt, "-O2", false, 9000);
        rh_text__clear(&task);
    }
}

static void obeys_the_guard(void **unused)
{
    (void)unused;
    rh_export_options opt = rh_export_defaults();
    opt.guard = guard_path;
    write_best("esarsa", "tilings: 8, tiles: 4, tau: 30,", FIVE);
    write_text(guard_path, "safe_action: b\nforbidden: [a]\ntrip: {temp: [null, 9], "
                           "level: [null, 0.4]}\n");
    both(&opt, "-O2", false, 5000);
}

// A state that a deployment saved, learning or not.
static void begins_with_what_was_learned(void **unused)
{
    (void)unused;
    rh_deploy_options in = in_folder();
    write_best("esarsa", "tilings: 8, tiles: 4, beta1: 0.3, tau: 0.1,", TWO);
    rh_deploy *d = opened(&in);
    for (int t = 0; t < 2000; t++)
        sent(d, t, 5.0 + 4.0 * rh_sin(0.01 * t));
    assert_int_equal(rh_deploy_close(d, NULL), RH_OK);
    rh_export_options opt = rh_export_defaults();
    opt.state = state_path;
    both(&opt, "-O2", false, 9500);
    opt.frozen = true;
    both(&opt, "-O2", true, STEPS);
}

// Copied memory resumes, also in the middle of an episode.
static void is_plain_memory(void **unused)
{
    (void)unused;
    write_best("esarsa", "tilings: 8, tiles: 4, tau: 0.1,", TWO);
    exported(NULL);
    device a = load("-O2"), b = load("-O2");
    double act[2], obs[2];
    for (int t = 0; t < 600; t++) {
        obs[0] = 5.0 + 4.0 * rh_sin(0.1 * t);
        obs[1] = 0.1;
        if (t == 300) {
            memcpy(b.memory, a.memory, a.size);
            assert_true(b.valid(b.memory));
        }
        if (t)
            a.step(a.memory, -fabs(obs[0] - 5.0), obs, &act[0]);
        else
            a.start(a.memory, obs, &act[0]);
        if (t >= 300) {
            b.step(b.memory, -fabs(obs[0] - 5.0), obs, &act[1]);
            assert_true(act[0] == act[1]);
        }
    }
    assert_memory_equal(a.memory, b.memory, a.size);
    unload(&a);
    unload(&b);
    write_best("esarsa", "tilings: 8, tiles: 4, tau: 0.1,", FIVE);
    exported(NULL);
    device other = load("-O2");
    b = load("-O2");
    memset(other.memory, 0, other.size);
    assert_false(b.valid(other.memory));
    unload(&other);
    unload(&b);
}

// ---------------------------------------------------------------------------- networks

// Train an agent on the plant and save its state.
static void train(void)
{
    rh_best *best = NULL;
    rh_agent *agent = NULL;
    rh_state *state = NULL;
    rh_rng rng = rh_rng_stream(4, RH_STREAM_AGENT, 0, 0);
    plant p = {{5.0, 0.0}, rh_rng_stream(5, RH_STREAM_NOISE, 0, 0)};
    double act[RH_MAX_ACT];
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    assert_int_equal(rh_agent_create(&agent, best->agent, &best->task, best->hp, NULL), RH_OK);
    for (int t = 0; t < 700; t++) {
        if (t)
            assert_true(rh_agent_step(agent, -fabs(p.x[0] - 5.0), p.x, &rng, act));
        else
            assert_true(rh_agent_start(agent, p.x, &rng, act));
        move(&p, &best->task, act);
    }
    assert_int_equal(rh_agent_save(agent, &state, NULL), RH_OK);
    assert_int_equal(rh_state_write(state, state_path, NULL), RH_OK);
    rh_state_destroy(state);
    rh_agent_destroy(agent);
    rh_best_destroy(best);
}

static void networks_act_as_on_the_host(void **unused)
{
    (void)unused;
    static const struct {
        const char *agent, *set, *task;
    } sample[] = {
        {"dqn", "width: 24, batch: 16,", TWO},
        {"dqn", "width: 17, batch: 16, history: 2, norm: off, obs_scale: range,", MANY},
        {"ppo", "width: 20, rollout: 128,", FIVE},
        {"ppo", "width: 20, rollout: 128, norm: off,", POWER},
        {"sac", "width: 33, batch: 16, layers: 1,", POWER},
        {"td3", "width: 24, batch: 16, history: 1, obs_scale: none,", POWER},
    };
    rh_export_options opt = rh_export_defaults();
    opt.state = state_path;
    opt.frozen = true;
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        write_best(sample[i].agent, sample[i].set, sample[i].task);
        train();
        both(&opt, "-O2", true, STEPS);
        both(&opt, "-O2 -march=native", true, STEPS);
    }
    write_text(guard_path,
               "limits: {power: [2, 6]}\nsafe_action: 3\ntrip: {temp: [null, 9]}\n");
    opt.guard = guard_path;
    both(&opt, "-O2", true, 0);

    // past a trip limit the safe action, also where the agent's would be cut
    write_text(guard_path,
               "limits: {power: [4, 5]}\nsafe_action: 4.5\ntrip: {temp: [null, 9]}\n");
    exported(&opt);
    device d = load("-O2");
    double obs[2] = {5.0, 0.0}, act[1];
    d.start(d.memory, obs, act);
    assert_true(act[0] == 4.0 || act[0] == 5.0); // the agent's is cut
    obs[0] = 9.5;
    assert_int_equal(d.step(d.memory, -1.0, obs, act), RH_BY_GUARD);
    assert_true(act[0] == 4.5);
    unload(&d);
}

// ---------------------------------------------------------------------------- the log

// best.yaml of an agent that begins with a log of the plant.
static void write_start(const char *agent, const char *set, const char *task)
{
    enum { ROWS = 400, WIDTH = 2 * 2 + 1 + 2 };
    static double row[ROWS][WIDTH];
    char path[128];
    rh_text all = {0};
    rh_best *best = NULL;
    plant p = {{5.0, 0.0}, rh_rng_stream(5, RH_STREAM_NOISE, 0, 0)};
    write_best(agent, set, task);
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    for (int i = 0; i < ROWS; i++) {
        double act = p.x[0] < 5.0 ? 1.0 : 0.0;
        act = best->task.naction ? act : 9.0 * act + 0.5;
        memcpy(row[i], p.x, sizeof p.x);
        row[i][2] = act;
        row[i][3] = -fabs(p.x[0] - 5.0);
        move(&p, &best->task, &act);
        memcpy(&row[i][4], p.x, sizeof p.x);
        row[i][6] = i % 50 == 49 ? 2.0 : 0.0;
    }
    rh_prior prior = {ROWS, &row[0][0], 0};
    snprintf(path, sizeof path, "%s/start.state", folder);
    assert_int_equal(rh_study__write_start(path, &best->task, prior, 0.0, NULL), RH_OK);
    rh_text__format(&all,
                    "%sstart:\n  file: start.state\n  steps: %d\n  practice: 0\n  checksum: "
                    "\"%08x\"\n",
                    task, ROWS, (unsigned)rh_study__start_sum(&best->task, prior));
    write_best(agent, set, all.data);
    rh_text__clear(&all);
    rh_best_destroy(best);
}

static void clones_act_as_on_the_host(void **unused)
{
    (void)unused;
    write_start("clone", "width: 16, history: 3,", FIVE);
    both(NULL, "-O2", true, STEPS);
    write_start("practised", "width: 16,", POWER);
    both(NULL, "-O2", true, STEPS);
}

// What dqn and td3 have learned from the log before their first step, limited by the clone.
static void begins_with_the_log(void **unused)
{
    (void)unused;
    static const char *const agent[] = {"dqn", "td3"};
    rh_export_options opt = rh_export_defaults();
    for (int i = 0; i < 2; i++) {
        rh_best *best = NULL;
        rh_agent *host = NULL;
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        plant p = {{5.0, 0.0}, rh_rng_stream(9, RH_STREAM_NOISE, 0, 0)};
        double act, same;
        int ndiffer = 0;
        write_start(agent[i], "width: 16, batch: 16, before: 50, caution: 0.9,",
                    i ? POWER : FIVE);
        exported(&opt);
        device d = load("-O2");
        assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
        assert_int_equal(rh_agent_create(&host, best->agent, &best->task, best->hp, NULL),
                         RH_OK);
        assert_true(rh_agent_start(host, best->task.prior.row, &rng, &act));
        rh_agent_freeze(host, true);
        for (int t = 0; t < 2000; t++) {
            assert_true(t ? rh_agent_step(host, 0.0, p.x, &rng, &act)
                          : rh_agent_start(host, p.x, &rng, &act));
            int source = t ? d.step(d.memory, NAN, p.x, &same) : d.start(d.memory, p.x, &same);
            assert_int_equal(source, RH_BY_AGENT);
            ndiffer += memcmp(&act, &same, sizeof act) != 0;
            move(&p, &best->task, &act);
        }
        assert_int_equal(ndiffer, 0);
        unload(&d);
        rh_agent_destroy(host);
        rh_best_destroy(best);
    }
}

// ---------------------------------------------------------------------------- refusals

static void refuses_what_it_cannot(void **unused)
{
    (void)unused;
    rh_export_options opt = rh_export_defaults();
    const struct {
        const char *agent, *set, *task, *guard, *message;
    } sample[] = {
        {"random", "", TWO, NULL, "export: agent random cannot be exported, expected esarsa, "},
        {"dqn", "", TWO, NULL,
         "export: dqn has learned nothing yet, and networks do not learn"},
        {"esarsa", "", MANY, NULL,
         "needs 371.5 KB of memory for 15840 weights, expected at most "
         "64.0 (--memory); with tilings=2 it needs "},
        {"esarsa", "tilings: 4,",
         SENSORS "    - {name: \"sum\", range: [0, 9]}\n  sent: 2\n  derive: \"sum = temp + "
                 "level\"\n  action: \"pump\"\n  actions: [a, b]\n" REST,
         NULL, "sensors made by formulas (derive: sum = temp + level) cannot be exported"},
        {"esarsa", "tilings: 4,", TWO, "fallback: hold\n",
         "guard.yaml: fallback cannot be exported, expected safe_action, forbidden, limits "
         "and"},
        {"esarsa", "tilings: 4,", TWO, "max_gap: 9\n",
         "guard.yaml: max_gap cannot be exported"},
    };
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        rh_error err = {""};
        write_best(sample[i].agent, sample[i].set, sample[i].task);
        opt.guard = sample[i].guard ? guard_path : NULL;
        if (sample[i].guard)
            write_text(guard_path, sample[i].guard);
        snprintf(code_path, sizeof code_path, "%s/refused.c", folder);
        assert_int_not_equal(rh_export_write(code_path, best_path, &opt, NULL, &err), RH_OK);
        if (!strstr(err.text, sample[i].message))
            fail_msg("%s", err.text);
        assert_int_not_equal(access(code_path, F_OK), 0); // nothing is left
    }
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test_setup_teardown(esarsa_learns_as_on_the_host, enter, leave),
        cmocka_unit_test_setup_teardown(keeps_a_history, enter, leave),
        cmocka_unit_test_setup_teardown(obeys_the_guard, enter, leave),
        cmocka_unit_test_setup_teardown(begins_with_what_was_learned, enter, leave),
        cmocka_unit_test_setup_teardown(is_plain_memory, enter, leave),
        cmocka_unit_test_setup_teardown(networks_act_as_on_the_host, enter, leave),
        cmocka_unit_test_setup_teardown(clones_act_as_on_the_host, enter, leave),
        cmocka_unit_test_setup_teardown(begins_with_the_log, enter, leave),
        cmocka_unit_test_setup_teardown(refuses_what_it_cannot, enter, leave),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
