// cmd_deploy.c - rehearse deploy: the agent of best.yaml learns online, on a pipe or by MQTT.
//
// 1. Standard output belongs to the plant: replies only. All else is on standard error.
// 2. --status reads what the last save left; the exit code is 1 while there is an alarm, so
//    that a monitoring system can call it.

#include "cli_internal.h"
#include "deploy/deploy.h"
#include "study/study.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const modes[] = {"shadow", "advice", "control", NULL};

static const rh_key main_option[] = {
    {NULL, "output", 'o', RH_KEY_FILE, "FOLDER",
     .about = "folder for the log, events and learned state; an existing one is resumed",
     .initial = "the file's name with .deploy"},
    {NULL, "guard", 0, RH_KEY_FILE, "FILE", .about = "safe action and limits (docs/deploy.md)",
     .initial = "none"},
    {NULL, "load", 0, RH_KEY_FILE, "FILE",
     .about = "begin with a learned state, of `run --save` or another deployment"},
    {NULL, "mode", 0, RH_KEY_CHOICE, "MODE", .words = modes,
     .about = "shadow: somebody else acts, and each observation has the action taken; advice: "
              "likewise, an operator may follow the replies; control: the agent acts",
     .initial = "that of the folder, control in a new one"},
    {NULL, "switch", 0, RH_KEY_WHOLE, "STEPS",
     .about = "try the statistically tied settings of the study, in so many steps; the best "
              "one stays",
     .lo = 1, .hi = 1000000000},
    {NULL, "freeze", 0, RH_KEY_FLAG, NULL, .about = "act without learning"},
    {NULL, "shared", 0, RH_KEY_FLAG, NULL,
     .about = "new files get the rights of the umask; else only you can read them"},
    {NULL, "seed", 0, RH_KEY_WHOLE, "N", .about = "random seed of the agent", .initial = "1",
     .lo = 0, .hi = INT64_MAX},
    {0},
};

static const rh_key mqtt_option[] = {
    {NULL, "mqtt", 0, RH_KEY_TEXT, "HOST[:PORT]",
     .about = "a broker, instead of standard input and output", .initial = "none; port 1883"},
    {NULL, "topic", 0, RH_KEY_TEXT, "PREFIX",
     .about = "of PREFIX/observation, PREFIX/action and PREFIX/health", .initial = "rehearse"},
    {NULL, "qos", 0, RH_KEY_WHOLE, "N", .about = "quality of service", .initial = "0", .lo = 0,
     .hi = 2},
    {NULL, "mqtt-user", 0, RH_KEY_TEXT, "NAME", .about = "user name at the broker"},
    {NULL, "mqtt-password", 0, RH_KEY_FILE, "FILE",
     .about = "file with the password, in its first line"},
    {NULL, "mqtt-ca", 0, RH_KEY_FILE, "FILE",
     .about = "encrypt; certificates of the broker's authority"},
    {NULL, "mqtt-cert", 0, RH_KEY_FILE, "FILE",
     .about = "our own certificate, for brokers that want one"},
    {NULL, "mqtt-key", 0, RH_KEY_FILE, "FILE", .about = "its key"},
    {0},
};

static const rh_key save_option[] = {
    {NULL, "save-steps", 0, RH_KEY_WHOLE, "N",
     .about = "save after so many steps; a crash loses no more", .initial = "1000", .lo = 1,
     .hi = 1000000000},
    {NULL, "save-seconds", 0, RH_KEY_WHOLE, "N", .about = "or after so many seconds",
     .initial = "60", .lo = 1, .hi = 86400},
    {0},
};

static const rh_key status_option[] = {
    {NULL, "status", 0, RH_KEY_FILE, "FOLDER",
     .about = "print how a deployment is doing and stop; exit code 1 if there is an alarm"},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "with --status: one JSON document"},
    {0},
};

static const cli_group main_group = {CLI_MAIN, main_option};
static const cli_group mqtt_group = {"MQTT", mqtt_option};
static const cli_group save_group = {"saving", save_option};
static const cli_group status_group = {"status", status_option};

// ---------------------------------------------------------------------------- status

static void print_alarms(const rh_deploy_health *h)
{
    const char *title = "alarms";
    for (int i = 0; i < RH_NALARM; i++) {
        char sure[120] = "";
        if (!(h->alarms >> i & 1))
            continue;
        if (isfinite(h->sure[i]))
            snprintf(sure, sizeof sure, "; a false one with a probability of at most %s",
                     cli_share(fmin(1.0, 1.0 / h->sure[i])).s);
        cli_line(title, "%s, since step %s%s", rh_deploy__alarm_name(i),
                 cli_count(h->since[i]).s, sure);
        title = "";
    }
    if (!h->alarms)
        cli_line(title, "none");
}

static void print_promise(const rh_deploy_health *h)
{
    char unit[64];
    snprintf(unit, sizeof unit, h->per_steps ? "%s steps" : "episode",
             cli_count(h->per_steps).s);
    int digits = cli_decimals(NAN, isfinite(h->promised) ? h->promised : h->earned);
    if (isfinite(h->earned))
        cli_line("earned", "%s per %s, over %s steps of the agent's own actions",
                 cli_real(h->earned, digits).s, unit, cli_count(h->njudged).s);
    else
        cli_line("earned", "nothing to compare yet");
    if (!isfinite(h->promised)) {
        cli_line("promised", "best.yaml has no promise");
        return;
    }
    cli_line("promised", "%s per %s, lower end %s", cli_real(h->promised, digits).s, unit,
             isfinite(h->promised_lo) ? cli_real(h->promised_lo, digits).s : "unknown");
    if (isfinite(h->level))
        cli_line(" deficit", "%s, alarm above %s", cli_real(h->deficit, 2).s,
                 cli_real(h->level, 2).s);
}

// A rate of failures, with its unit.
static cli_text rate(const rh_deploy_health *h, double x)
{
    cli_text text = cli_share(x);
    if (h->per_1000)
        snprintf(text.s, sizeof text.s, "%.20s per 1,000", cli_real(x, 2).s);
    return text;
}

static void print_failures(const rh_deploy_health *h)
{
    char promised[120] = "", logged[64] = "";
    const char *unit = h->per_1000 ? "steps" : "episodes";
    if (!isfinite(h->failures) && !isfinite(h->failures_promised))
        return; // best.yaml does not say what a failure is
    if (isfinite(h->failures_promised))
        snprintf(promised, sizeof promised, ", promised %s, upper end %s",
                 rate(h, h->failures_promised).s, rate(h, h->failures_upper).s);
    if (isfinite(h->failures_logged))
        snprintf(logged, sizeof logged, ", logged %s", rate(h, h->failures_logged).s);
    if (isfinite(h->failures))
        cli_line("failures", "%s in %s %s: %s%s%s", cli_count(h->nfailure).s,
                 cli_count(h->of).s, unit, rate(h, h->failures).s, promised, logged);
    else
        cli_line("failures", "no completed %s yet%s%s", unit, promised, logged);
    if (h->nother)
        cli_line(" other ends",
                 "%s terminal, no failures by the rule of best.yaml: goals, or rewards came in "
                 "without their penalty",
                 cli_count(h->nother).s);
}

// The limits of the study.
static void print_limits(const rh_deploy_health *h)
{
    for (int i = 0; i < h->nlimit; i++) {
        const rh_deploy_limit *l = &h->limit[i];
        rh_constraint limit = {.unit = l->unit};
        char name[64], rate[60] = "nothing yet";
        if (l->of)
            rh_limits__say(&limit, (double)l->n / (double)l->of, rate);
        cli_line(i ? "" : "limits", "%s: %s (%s of %s), at most %.3g",
                 rh_text__printable(l->event, name, sizeof name), rate, cli_count(l->n).s,
                 cli_count(l->of).s, rh_limits__scale(l->unit) * l->most);
    }
}

// How much speaks for each alarm.
static void print_tests(const rh_deploy_health *h)
{
    char text[300] = "";
    for (int i = 0; i < RH_NALARM; i++)
        if (isfinite(h->evidence[i]))
            rh_text__put(text, sizeof text, "%s%s %s", *text ? ", " : "",
                         rh_deploy__alarm_name(i), cli_real(h->evidence[i], 2).s);
    if (*text)
        cli_line("evidence", "%s; alarms at 20", text);
}

static void print_guard(const rh_deploy_health *h)
{
    if (isfinite(h->guard_share))
        cli_line("guard", "acted in %s steps, %s of the last 1,000; allowed are %s",
                 cli_count(h->nguarded).s, cli_share(h->guarded).s,
                 cli_share(h->guard_share).s);
}

static void print_mode(const rh_deploy_health *h)
{
    int digits = cli_decimals(NAN, h->promised);
    const char *mode = rh_deploy__mode_name(h->mode);
    cli_line("mode", "%s%s, since step %s", h->fallen ? "the fallback acts, in " : "",
             mode ? mode : "control", cli_count(h->mode_step).s);
    if (h->nshadow > 0)
        cli_line(" agreement",
                 "the agent would do the same in %s of %s steps, %s of the "
                 "observations are within the log's range",
                 cli_share(h->agreement).s, cli_count(h->nshadow).s, cli_share(h->coverage).s);
    if (isfinite(h->gain))
        cli_line(" gain",
                 "%s promised, beside %s by the actions taken; 95 %% interval %s to %s",
                 cli_real(h->gain, digits).s, cli_real(h->controller, digits).s,
                 cli_real(h->gain_lo, digits).s, cli_real(h->gain_hi, digits).s);
    if (isfinite(h->allowed))
        cli_line(" blend", "the agent may be %s away from the fallback",
                 cli_share(h->allowed).s);
}

// The trial of tied settings.
static void print_trial(const rh_deploy_health *h)
{
    int digits = cli_decimals(NAN, h->promised);
    if (h->nsetting == 0)
        return;
    cli_line("switch", "%s of %s steps%s; 95 %% intervals by promise and trial",
             cli_count(h->trial_used).s, cli_count(h->trial_steps).s,
             h->trial_over ? ", over" : "");
    for (int i = 0; i < h->nsetting; i++) {
        double half = 1.96 * h->tried[i].error;
        char name[40] = " chosen";
        if (i)
            snprintf(name, sizeof name, " tied %d", i);
        cli_line(name, "%s (%s to %s), %s steps%s", cli_real(h->tried[i].mean, digits).s,
                 cli_real(h->tried[i].mean - half, digits).s,
                 cli_real(h->tried[i].mean + half, digits).s, cli_count(h->tried[i].steps).s,
                 h->tried[i].dropped ? ", dropped"
                 : i != h->setting   ? ""
                 : h->trial_over     ? ", stays"
                                     : ", acts now");
    }
}

static void print_notes(const rh_deploy_health *h)
{
    char text[400] = "";
    for (int i = 0; i < RH_NNOTE; i++)
        if (h->count[i])
            rh_text__put(text, sizeof text, "%s%s %s", *text ? ", " : "",
                         cli_count(h->count[i]).s, rh_deploy__note_name(i));
    cli_line("unusual", "%s", *text ? text : "nothing");
}

static int show_status(const cli_args *args, const char *folder)
{
    rh_deploy_health h;
    rh_error err;
    int rc = cli_pass_file(rh_deploy__health_read(&h, folder, &err), &err);
    if (rc)
        return rc;
    if (cli_has(args, "json")) {
        char *text = rh_deploy__health_json(&h, NULL);
        if (!text)
            return cli_fail("out of memory");
        fputs(text, stdout);
        rh_free(text);
        return h.alarms ? CLI_FAILED : CLI_OK;
    }
    cli_line("deployment", "%s, %s steps at the last save", folder, cli_count(h.nstep).s);
    cli_line(" learned", "from %s steps, %s episode%s completed", cli_count(h.nlearned).s,
             cli_count(h.nepisode).s, cli_plural(h.nepisode));
    print_promise(&h);
    print_failures(&h);
    print_limits(&h);
    print_guard(&h);
    print_mode(&h);
    print_trial(&h);
    print_notes(&h);
    print_tests(&h);
    print_alarms(&h);
    return h.alarms ? CLI_FAILED : CLI_OK;
}

// ---------------------------------------------------------------------------- on a pipe

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

// The file's name without its folder and ending, with .deploy.
static void name_folder(const char *best, char *folder, size_t size)
{
    const char *slash = strrchr(best, '/');
    const char *name = slash ? slash + 1 : best;
    const char *dot = strrchr(name, '.');
    int n = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    snprintf(folder, size, "%.*s.deploy", n, name);
}

// What the options say about the broker.
typedef struct broker {
    rh_mqtt_options opt;
    char host[256], password[256];
} broker;

static int read_password(broker *b, const char *path)
{
    FILE *file = fopen(path, "r");
    bool read = file && fgets(b->password, sizeof b->password, file);
    if (file)
        fclose(file);
    if (!read)
        return cli_refuse("--mqtt-password %s: cannot read a line", path);
    b->password[strcspn(b->password, "\r\n")] = 0;
    b->opt.password = b->password;
    return CLI_OK;
}

// HOST, HOST:PORT or [::1]:PORT.
static int read_broker(broker *b, const cli_args *args)
{
    static const char *const needy[] = {"topic",   "qos",       "mqtt-user", "mqtt-password",
                                        "mqtt-ca", "mqtt-cert", "mqtt-key"};
    const char *given = cli_value(args, "mqtt"), *password = cli_value(args, "mqtt-password");
    b->opt = rh_mqtt_defaults();
    for (size_t i = 0; !given && i < sizeof needy / sizeof *needy; i++)
        if (cli_has(args, needy[i]))
            return cli_refuse("--%s needs --mqtt", needy[i]);
    if (!given)
        return CLI_OK;
    if (!rh_deploy__mqtt_built())
        return cli_refuse("--mqtt: this build has no MQTT, expected one with libmosquitto");
    const char *colon = strrchr(given, ':'), *bracket = strrchr(given, ']');
    bool port = colon && (!bracket || colon > bracket);
    int n = port ? (int)(colon - given) : (int)strlen(given);
    bool open = given[0] == '[' && bracket;
    snprintf(b->host, sizeof b->host, "%.*s", open ? (int)(bracket - given) - 1 : n,
             given + open);
    char *end = NULL;
    long number = port ? strtol(colon + 1, &end, 10) : 1883;
    if (!*b->host || (port && (*end || end == colon + 1)) || number < 1 || number > 65535)
        return cli_refuse("--mqtt %s, expected HOST or HOST:PORT", given);
    b->opt.host = b->host;
    b->opt.port = (int)number;
    b->opt.prefix = cli_has(args, "topic") ? cli_value(args, "topic") : b->opt.prefix;
    b->opt.qos = (int)cli_number(args, "qos", 0);
    b->opt.user = cli_value(args, "mqtt-user");
    b->opt.cafile = cli_value(args, "mqtt-ca");
    b->opt.certfile = cli_value(args, "mqtt-cert");
    b->opt.keyfile = cli_value(args, "mqtt-key");
    if (b->opt.cafile && !port)
        b->opt.port = 8883;
    rh_error err;
    int rc = cli_pass_file(rh_mqtt__check(&b->opt, &err), &err);
    return rc || !password ? rc : read_password(b, password);
}

// NULL: that of the folder.
static rh_deploy_mode mode_of(const char *given)
{
    int mode = RH_MODE_KEPT;
    for (int i = 0; given && modes[i]; i++)
        mode = strcmp(given, modes[i]) == 0 ? RH_MODE_SHADOW + i : mode;
    return (rh_deploy_mode)mode;
}

static int serve(rh_deploy *deploy, const char *folder, const broker *by, bool tries)
{
    rh_error err;
    rh_deploy_health h = rh_deploy_health_of(deploy);
    const rh_best *best = rh_deploy_best(deploy);
    cli_say("%s: %s, %d sensor%s; %s %s", folder, best->agent->name, best->nsent,
            cli_plural(best->nsent), h.nstep ? "resumed at step" : "new, from step",
            cli_count(h.nstep).s);
    if (tries && h.trial_over)
        cli_say(
            "%s: --switch does nothing, the trial is over: setting %d stays; another folder "
            "begins a new one",
            folder, h.setting);
    signal(SIGPIPE, SIG_IGN); // a plant that is gone is a failed write
    cli_catch_signals();
    rh_status rc = by ? rh_deploy_mqtt(deploy, &by->opt, stop, NULL, &err)
                      : rh_deploy_lines(deploy, STDIN_FILENO, STDOUT_FILENO, stop, NULL, &err);
    return cli_pass(rc, &err);
}

static int deploy_main(const cli_args *args)
{
    const char *status = cli_value(args, "status"), *output = cli_value(args, "output");
    char folder[1024];
    rh_deploy *deploy = NULL;
    rh_error err;
    if (status && args->nword == 0)
        return show_status(args, status);
    if (args->nword != 1 || status) {
        cli_refuse("deploy: %d names, expected one: best.yaml of a study, or --status FOLDER "
                   "without any",
                   args->nword);
        cli_try("rehearse deploy plant.study/best.yaml");
        return CLI_USAGE;
    }
    if (cli_has(args, "json"))
        return cli_refuse("--json needs --status");
    broker by;
    int rc = read_broker(&by, args);
    if (rc)
        return rc;
    if (output)
        snprintf(folder, sizeof folder, "%s", output);
    else
        name_folder(args->word[0], folder, sizeof folder);
    rh_deploy_options opt = rh_deploy_defaults();
    opt.folder = folder;
    opt.guard = cli_value(args, "guard");
    opt.state = cli_value(args, "load");
    opt.frozen = cli_has(args, "freeze");
    opt.mode = mode_of(cli_value(args, "mode"));
    opt.switch_steps = cli_number(args, "switch", 0);
    opt.shared = cli_has(args, "shared");
    opt.seed = (uint64_t)cli_number(args, "seed", 1);
    opt.save_steps = cli_number(args, "save-steps", opt.save_steps);
    opt.save_seconds = (double)cli_number(args, "save-seconds", (int64_t)opt.save_seconds);
    rh_plugin_allow_exec(cli_has(args, "allow-exec"));
    rc = cli_pass_file(rh_deploy_open(&deploy, args->word[0], &opt, &err), &err);
    if (rc)
        return rc;
    rc = serve(deploy, folder, cli_has(args, "mqtt") ? &by : NULL, opt.switch_steps > 0);
    int closed = cli_pass_file(rh_deploy_close(deploy, &err), &err);
    return rc ? rc : closed;
}

const cli_command cli_deploy = {
    .name = "deploy",
    .about = "Run the agent of best.yaml on the plant: observations in, actions out",
    .operands = "BEST.yaml [options] | --status FOLDER",
    .detail =
        "Reads observations as JSON lines from standard input and answers each with an action "
        "on standard output, or does so over MQTT. The agent learns online. What was seen is "
        "appended to log.csv in "
        "the folder, which inspect and tune read; what was learned is saved there, and the "
        "same command goes on from it after a crash.",
    .operand = {.type = RH_KEY_FILE},
    .group = {&main_group, &cli_best_group, &mqtt_group, &save_group, &status_group,
              &cli_common_group},
    .example = {"a plant that speaks JSON lines",
                "socat TCP:plc:4000 EXEC:'rehearse deploy plant.study/best.yaml'",
                "over MQTT, with topics plant/observation, plant/action and plant/health",
                "rehearse deploy plant.study/best.yaml --mqtt broker --topic plant",
                "how it is doing", "rehearse deploy --status best.deploy",
                "tune again, with what was seen since", "rehearse tune best.deploy/log.csv"},
    .see = "docs/deploy.md explains the messages, the guard file and the alarms.",
    .single = true,
    .main = deploy_main,
};
