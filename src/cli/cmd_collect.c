// cmd_collect.c - rehearse collect: log a policy in a simulator, with the paper's procedure.
//
// 1. Options, file names and formats are checked before the first step.
// 2. Several logs have consecutive seeds, and the number in a file name is the seed: --seed 7
//    makes the seventh of thirty again.
// 3. After an interruption the finished logs stay. Nothing is left of the unfinished one.

#include "base/number.h"
#include "base/text.h"
#include "cli_internal.h"
#include "log/log.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_LOGS 1000
#define DRAW_AFTER 2.0 // seconds of work before progress is shown on a terminal
#define REDRAW 0.1     // seconds, as in progress.c
#define REPORT 10.0    // seconds, as in progress.c
#define NAME_SIZE 4096

static const char *const policies[] = {"near-optimal", "medium", "naive", "random", NULL};
static const char *const restarts[] = {"normal", "random", NULL};

static const rh_key what_option[] = {
    {NULL, "policy", 'p', RH_KEY_CHOICE, "NAME", .words = policies, .about = "policy to log"},
    {NULL, "steps", 'n', RH_KEY_WHOLE, "N", .about = "steps of a log",
     .initial = "5,000; in cartpole 10,000", .lo = 1, .hi = INT32_MAX / 2},
    {NULL, "seed", 0, RH_KEY_WHOLE, "N", .about = "random seed", .initial = "1", .lo = 0,
     .hi = INT64_MAX - MOST_LOGS},
    {NULL, "logs", 0, RH_KEY_WHOLE, "N", .about = "number of logs, with consecutive seeds",
     .initial = "1", .lo = 1, .hi = MOST_LOGS},
    {NULL, "changed", 0, RH_KEY_FLAG, NULL,
     .about = "the paper's changed environment: acrobot with a first link twice as long and "
              "twice as heavy"},
    {NULL, "restarts", 0, RH_KEY_CHOICE, "HOW", .words = restarts,
     .about = "start states of the log's episodes", .initial = "as the policy requires"},
    {NULL, "train", 0, RH_KEY_WHOLE, "N",
     .about = "train for exactly N steps, whatever the policy's level", .lo = 0,
     .hi = INT32_MAX},
    {NULL, "episodes", 0, RH_KEY_TEXT, "LO:HI",
     .about = "episodes the log must complete (cartpole: failures); 50: has no upper limit, "
              "any accepts all",
     .initial = "as the policy requires"},
    {NULL, "advice", 0, RH_KEY_FILE, "FILE",
     .about = "what to log next, from a study's report.json or tune --json: in its regions, "
              "a quarter of the actions are those that it suggests"},
    {NULL, "tries", 0, RH_KEY_WHOLE, "N", .about = "attempts per log", .initial = "1,000",
     .lo = 1, .hi = INT_MAX},
    {0},
};

static const rh_key env_option[] = {
    {NULL, "env-set", 'e', RH_KEY_PAIRS, "NAME=VALUE", .list = "envs",
     .about = "an option of the environment"},
    {NULL, "exec-timeout", 0, RH_KEY_WHOLE, "SECONDS",
     .about = "how long a program of exec:COMMAND may take for an answer", .initial = "10",
     .lo = 1, .hi = 86400},
    {0},
};

static const rh_key output_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FILE",
     .about = "log to write: .csv, .csv.gz, .tsv, .npz, .hdf5 or .h5; with --logs, %d or %02d "
              "stands for the seed"},
    {NULL, "to", 't', RH_KEY_CHOICE, "NAME", .name = cli_write_format,
     .about = "format to write", .initial = "by the extension of FILE"},
    {NULL, "starts", 0, RH_KEY_FILE, "FILE",
     .about = "second log to write: 100 normal starts, one step each"},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "print nothing"},
    {0},
};

static const cli_group what_group = {"what to log", what_option};
static const cli_group env_group = {"environment", env_option};
static const cli_group output_group = {"output", output_option};

typedef struct collecting {
    const cli_args *args;
    cli_collection c;
    double *env_opt;             // owned: options of the environment  (nparam)
    const char *output, *starts; // as given
    rh_advice *advice;           // owned; NULL: none
    int nlog;
    rh_collected now; // of the log being made
    double begun, drawn;
    bool words, json, terminal;
    bool visible; // a line stands on the terminal
} collecting;

// ---------------------------------------------------------------------------- file names

// Replace %d, %02d and the like by the number. False: another conversion, or a name too long.
static bool expand(const char *pattern, uint64_t number, char name[NAME_SIZE], bool *numbered)
{
    size_t used = 0;
    *numbered = false;
    for (const char *c = pattern; *c; c++) {
        if (used + 32 > NAME_SIZE)
            return false;
        if (*c != '%' || c[1] == '%') {
            name[used++] = *c;
            c += *c == '%';
            continue;
        }
        int width = 0;
        c++;
        if (c[0] == '0' && c[1] >= '1' && c[1] <= '9') {
            width = c[1] - '0';
            c += 2;
        }
        if (*c != 'd')
            return false;
        used += (size_t)snprintf(name + used, 32, "%0*" PRIu64, width, number);
        *numbered = true;
    }
    name[used] = 0;
    return true;
}

// The file name of log i. Without --logs the pattern is used as it is.
static int name_file(const collecting *w, const char *option, const char *pattern, int i,
                     char name[NAME_SIZE])
{
    bool numbered = false;
    if (!cli_has(w->args, "logs") && strlen(pattern) < NAME_SIZE) {
        memcpy(name, pattern, strlen(pattern) + 1);
        return CLI_OK;
    }
    if (!expand(pattern, w->c.opt.seed + (uint64_t)i, name, &numbered))
        return cli_refuse("collect: --%s %s, expected a name with %%d or %%02d for the number",
                          option, pattern);
    if (!numbered && w->nlog > 1) {
        cli_refuse("collect: --%s %s names one file, but --logs is %d", option, pattern,
                   w->nlog);
        cli_try("--%s '%s-%%02d.csv'", option, strcmp(option, "starts") ? "log" : "starts");
        return CLI_USAGE;
    }
    return CLI_OK;
}

// Whether the file can be written: name, format and folder.
static int probe_file(const collecting *w, const char *option, const char *pattern, int i,
                      char name[NAME_SIZE])
{
    rh_error err;
    int rc = name_file(w, option, pattern, i, name);
    if (!rc)
        rc = cli_pass(rh_log__write_check(name, cli_value(w->args, "to"), &err), &err);
    return rc ? rc : cli_file_probe(name, false);
}

// Whether two names mean the same file, which need not exist yet.
static bool same_file(const char *a, const char *b)
{
    char folder[2][NAME_SIZE];
    const char *const name[] = {a, b}, *tail[2];
    struct stat st[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(name[i], '/');
        tail[i] = slash ? slash + 1 : name[i];
        snprintf(folder[i], NAME_SIZE, "%.*s", (int)(tail[i] - name[i]), name[i]);
        if (stat(*folder[i] ? folder[i] : ".", &st[i]) != 0)
            return false;
    }
    return strcmp(tail[0], tail[1]) == 0 && st[0].st_dev == st[1].st_dev &&
           st[0].st_ino == st[1].st_ino;
}

static int probe_files(const collecting *w)
{
    char log[NAME_SIZE], starts[NAME_SIZE];
    for (int i = 0; i < w->nlog; i++) {
        int rc = probe_file(w, "output", w->output, i, log);
        if (!rc && w->starts)
            rc = probe_file(w, "starts", w->starts, i, starts);
        if (rc)
            return rc;
        if (w->starts && same_file(log, starts))
            return cli_refuse("collect: --output and --starts name the same file, '%s'", log);
    }
    return CLI_OK;
}

// ---------------------------------------------------------------------------- options

// The options of the environment, without `start`: --restarts sets it.
static int read_env(collecting *w, const rh_env_type *type)
{
    rh_error err;
    int start = rh_param_find(type->param, type->nparam, "start");
    w->env_opt = rh_alloc((size_t)type->nparam + 1, sizeof *w->env_opt);
    if (!w->env_opt)
        return cli_fail("out of memory");
    rh_param_initial(type->param, type->nparam, w->env_opt);
    if (cli_has(w->args, "changed")) {
        const rh_setting *changed = cli_recipe_changed(type->name, &err);
        if (!changed)
            return cli_refuse("--changed: %s", err.text);
        for (; changed->name; changed++) {
            int i = rh_param_find(type->param, type->nparam, changed->name);
            rh_status rc = rh_param_parse(&type->param[i], type->name, changed->value,
                                          &w->env_opt[i], &err);
            if (rc)
                return cli_pass(rc, &err);
        }
    }
    int rc = cli_env_values(w->args, type->name, type->param, type->nparam, w->env_opt);
    if (!rc && start >= 0 && w->env_opt[start] != type->param[start].initial)
        return cli_refuse("collect: --env-set start: use --restarts random to set the log's "
                          "start states");
    return rc;
}

static int open_envs(collecting *w, const rh_env_type *type)
{
    rh_error err;
    int start = rh_param_find(type->param, type->nparam, "start");
    w->c.random = cli_number(w->args, "restarts", w->c.recipe->random) != 0;
    if (w->c.random && start < 0)
        return cli_refuse("collect: --restarts random: %s has no option start", type->name);
    rh_status rc = rh_env_create(&w->c.train_env, type, w->env_opt, &err);
    if (start >= 0)
        w->env_opt[start] = w->c.random; // normal and random, as every simulator has them
    if (!rc)
        rc = rh_env_create(&w->c.log_env, type, w->env_opt, &err);
    return cli_pass(rc, &err);
}

// A whole number from 0 on.
static bool read_count(const char *text, size_t n, int64_t *count)
{
    double x;
    if (rh_number__read(text, n, &x) != RH_NUMBER || !(x >= 0.0 && x < 1e15) || x != floor(x))
        return false;
    *count = (int64_t)x;
    return true;
}

// LO:HI, LO:, :HI, a number, or any.
static int read_window(collecting *w)
{
    rh_collect_options *opt = &w->c.opt;
    const char *text = cli_value(w->args, "episodes");
    cli_window window;
    if (!text && cli_has(w->args, "advice")) // windows are about the policy alone
        text = "any";
    if (!text) {
        static const cli_wanted wanted[] = {[CLI_WINDOW_NONE] = CLI_WANTED_ANY,
                                            [CLI_WINDOW_GIVEN] = CLI_WANTED_BY_RECIPE,
                                            [CLI_WINDOW_SCALED] = CLI_WANTED_IN_PROPORTION};
        w->c.wanted = wanted[cli_recipe_window(w->c.recipe, opt->nstep, &window)];
        opt->least = window.least;
        opt->most = window.most;
        return CLI_OK;
    }
    w->c.wanted = CLI_WANTED_BY_USER;
    opt->least = 0;
    opt->most = INT64_MAX;
    if (strcmp(text, "any") == 0) {
        w->c.wanted = CLI_WANTED_ANY;
        return CLI_OK;
    }
    const char *colon = strchr(text, ':');
    bool good = text[0] != 0 && strcmp(text, ":") != 0;
    if (good && text != colon)
        good = read_count(text, colon ? (size_t)(colon - text) : strlen(text), &opt->least);
    if (good && colon && colon[1])
        good = read_count(colon + 1, strlen(colon + 1), &opt->most);
    if (!colon)
        opt->most = opt->least;
    if (!good || opt->least > opt->most)
        return cli_refuse("collect: --episodes = %s, expected LO:HI such as 20:30, 50: for no "
                          "upper limit, or any",
                          text);
    return CLI_OK;
}

static bool stop(void *context);

static int read_options(collecting *w)
{
    const cli_args *args = w->args;
    const cli_recipe *r = w->c.recipe;
    rh_collect_options *opt = &w->c.opt;
    *opt = rh_collect_defaults();
    opt->nstep = cli_number(args, "steps", r->window[0].nstep ? r->window[0].nstep : 5000);
    opt->seed = (uint64_t)cli_number(args, "seed", 1);
    opt->ntry = (int)cli_number(args, "tries", opt->ntry);
    opt->enough = r->enough;
    opt->span = r->span;
    opt->level = r->level;
    opt->patience = r->patience;
    opt->cutoff = r->cutoff;
    if (cli_has(args, "train")) {
        opt->enough = RH_ENOUGH_STEPS;
        opt->span = cli_number(args, "train", 0);
        opt->patience = opt->span;
    }
    opt->stop = stop;
    opt->context = w;
    w->nlog = (int)cli_number(args, "logs", 1);
    return read_window(w);
}

static int read_advice(collecting *w)
{
    rh_error err;
    const char *path = cli_value(w->args, "advice");
    if (!path)
        return CLI_OK;
    int rc =
        cli_pass_file(rh_advice__read(&w->advice, path, rh_env_task(w->c.log_env), &err), &err);
    w->c.opt.advice = w->advice;
    return rc;
}

static int find_recipe(collecting *w, const rh_env_type *type)
{
    rh_error err;
    const char *policy = cli_value(w->args, "policy");
    if (!policy) {
        cli_refuse("collect: --policy is missing");
        cli_try("--policy near-optimal, medium, naive or random");
        return CLI_USAGE;
    }
    bool changed = cli_has(w->args, "changed");
    w->c.recipe = cli_recipe_find(type->name, policy, changed, &err);
    if (!w->c.recipe)
        return cli_refuse("%s", err.text);
    w->c.agent = rh_agent_find(w->c.recipe->agent, &err);
    if (!w->c.agent)
        return cli_refuse("%s", err.text);
    w->c.hp = rh_alloc((size_t)w->c.agent->nparam + 1, sizeof *w->c.hp);
    if (!w->c.hp)
        return cli_fail("out of memory");
    return cli_pass(cli_recipe_hyperparameters(w->c.recipe, w->c.agent, w->c.hp, &err), &err);
}

static int prepare(collecting *w)
{
    const cli_args *args = w->args;
    w->json = cli_has(args, "json");
    w->words = !w->json && !cli_has(args, "quiet");
    w->terminal = cli_is_terminal(stderr);
    rh_plugin_set_timeout((double)cli_number(args, "exec-timeout", 10), NULL);
    const rh_env_type *type = cli_env_find(args);
    if (!type)
        return CLI_USAGE;
    w->output = cli_value(args, "output");
    w->starts = cli_value(args, "starts");
    int rc = read_env(w, type);
    if (!rc)
        rc = find_recipe(w, type);
    if (!rc)
        rc = read_options(w);
    if (!rc && !w->output)
        rc = cli_refuse("collect: --output is missing, expected a file name: -o log.csv");
    if (!rc)
        rc = open_envs(w, type);
    if (!rc)
        rc = read_advice(w);
    if (!rc)
        rc = probe_files(w);
    if (rc)
        return rc;
    w->c.made = rh_alloc((size_t)w->nlog, sizeof *w->c.made);
    return w->c.made ? CLI_OK : cli_fail("out of memory for %d logs", w->nlog);
}

static void clear(collecting *w)
{
    rh_env_destroy(w->c.train_env);
    rh_env_destroy(w->c.log_env);
    rh_advice__destroy(w->advice);
    rh_free(w->c.hp);
    rh_free(w->env_opt);
    for (int i = 0; w->c.made && i < w->nlog; i++) {
        rh_free(w->c.made[i].file);
        rh_free(w->c.made[i].starts);
    }
    rh_free(w->c.made);
}

// ---------------------------------------------------------------------------- progress

static void wipe_line(collecting *w)
{
    if (w->visible)
        fputs("\r\033[K", stderr);
    w->visible = false;
    cli_line_is_drawn(false);
}

static void show_progress(collecting *w)
{
    double now = cli_now();
    bool late = now - w->begun > DRAW_AFTER && now - w->drawn > REDRAW;
    if (!(w->terminal ? late : now - w->drawn > REPORT) || cli_has(w->args, "quiet"))
        return;
    w->drawn = now;
    w->visible = w->terminal;
    cli_line_is_drawn(w->visible);
    fprintf(stderr,
            w->terminal ? "\rlog %d of %d, try %d\033[K" : "rehearse: log %d of %d, try %d\n",
            w->c.nmade + 1, w->nlog, w->now.ntry);
}

static bool stop(void *context)
{
    if (cli_interrupted())
        return true;
    show_progress(context);
    return false;
}

// ---------------------------------------------------------------------------- the work

// The name of a log's file, and the log in it. Owned: *name.
static int write_log(const collecting *w, const rh_log *log, const char *option,
                     const char *pattern, int i, char **name)
{
    rh_error err;
    char text[NAME_SIZE];
    int rc = name_file(w, option, pattern, i, text);
    if (rc)
        return rc;
    *name = rh_base__copy(text);
    if (!*name)
        return cli_fail("out of memory");
    return cli_pass_file(rh_log_write(log, *name, cli_value(w->args, "to"), &err), &err);
}

static int make_one(collecting *w, int i)
{
    rh_error err;
    rh_log *log = NULL, *starts = NULL;
    cli_collection *c = &w->c;
    rh_collect_options opt = c->opt;
    opt.seed += (uint64_t)i;
    rh_status status = rh_log_collect(&log, w->starts ? &starts : NULL, &w->now, c->train_env,
                                      c->log_env, c->agent, c->hp, &opt, &err);
    wipe_line(w);
    int rc = cli_pass(status, &err);
    if (rc)
        return rc;
    if (w->now.outcome == RH_COLLECT_STOPPED)
        return CLI_SIGNAL + cli_interrupted();
    if (w->now.outcome != RH_COLLECTED)
        return cli_collection_explain(c, &w->now, opt.seed);

    cli_made *made = &c->made[i];
    made->seed = opt.seed;
    made->how = w->now;
    made->nepisode = log->nepisode;
    if (starts)
        rc = write_log(w, starts, "starts", w->starts, i, &made->starts);
    if (!rc)
        rc = write_log(w, log, "output", w->output, i, &made->file);
    if (!rc) {
        c->nmade++;
        if (w->words)
            cli_collection_log(c, made);
    }
    rh_log_destroy(starts);
    rh_log_destroy(log);
    return rc;
}

static int collect_main(const cli_args *args)
{
    collecting w = {.args = args};
    cli_collection *c = &w.c;
    int rc = prepare(&w);
    if (rc)
        goto done;
    if (w.words)
        cli_collection_plan(c);
    cli_catch_signals();
    w.begun = w.drawn = cli_now();
    for (int i = 0; !rc && i < w.nlog; i++)
        rc = make_one(&w, i);
    c->seconds = cli_now() - w.begun;
    if (rc > CLI_SIGNAL)
        cli_say("interrupted: %d of %d logs made", c->nmade, w.nlog);
    if (w.json && c->nmade)
        cli_collection_json(stdout, c);
    if (!rc && w.words && w.nlog > 1)
        rc = cli_collection_summary(c);

done:
    clear(&w);
    return rc;
}

const cli_command cli_collect = {
    .name = "collect",
    .about = "Log a policy in a simulator, with the paper's procedure",
    .operands = "ENV|exec:COMMAND --policy NAME -o FILE [options]",
    .detail =
        "Trains an agent until its policy reaches the named level, then logs it without "
        "further learning. near-optimal, medium and naive are the paper's policies where it "
        "has them; random takes all actions with equal probability. A log with too few or "
        "too many episodes is discarded, and the next attempt trains from scratch. The same "
        "seed makes the same log.",
    .operand = {.type = RH_KEY_CHOICE, .name = cli_env_name},
    .group = {&what_group, &env_group, &output_group, &cli_common_group},
    .example =
        {"5,000 steps of a good policy", "rehearse collect acrobot -p near-optimal -o a.csv",
         "thirty small logs",
         "rehearse collect puddle_world -p medium -n 500 --logs 30 -o 'p-%02d.npz'",
         "a log and a second one of normal starts",
         "rehearse collect acrobot -p medium -o a.csv --starts a-starts.csv",
         "what a study suggests to log next",
         "rehearse collect acrobot -p medium -n 1000 --advice a.study/report.json -o b.csv"},
    .see = "docs/collect.md",
    .single = true,
    .main = collect_main,
};
