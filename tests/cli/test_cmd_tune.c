// test_cmd_tune.c - rehearse tune: words, JSON, files, exit codes; and that nothing changes the
// answer: not the number of threads, not a kill, not a second process.

#include "cli/program.h"

#include <math.h>
#include <sys/stat.h>

// Small and quick: 6 settings of 2 short runs, 2 of them confirmed. On one thread: with more
// than the machine has to spare, most of the time would go into waiting.
#define UNITS " -m knn --repr raw -n 200 -r 2 -j 1 "
#define GRID " -s alpha=0.01,0.1,1 -s tau=1,10 "
#define CONFIRM " --confirm 2 --confirm-members 2 --confirm-runs 2 "
#define SMALL UNITS GRID CONFIRM
// One that lasts.
#define LONG " -m knn --repr raw -n 20000 -r 200 -s alpha=0.01,0.1,1 -j 2 --no-confirm "

// A log of a puddle world, and one of a pendulum, whose actions are continuous.
static int make_logs(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    unsetenv("OMPI_COMM_WORLD_SIZE");
    return system(RH_PROGRAM " collect puddle_world -p medium -n 300 --episodes any -q -o "
                             "log.csv --starts starts.csv && " RH_PROGRAM
                             " collect pendulum -p random -n 300 -q -o swing.csv");
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_folder(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

// Whether two studies have come to the same, to the byte.
static void assert_same(const char *a, const char *b)
{
    char command[256];
    snprintf(command, sizeof command,
             "cmp %s/best.yaml %s/best.yaml && cmp %s/runs.csv %s/runs.csv", a, b, a, b);
    assert_int_equal(system(command), 0);
}

static int lines_of(const char *path)
{
    char *text = contents(path);
    int n = 0;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    free(text);
    return n;
}

// Wait until the journal has more than n lines.
static void await_lines(const char *path, int n)
{
    for (int i = 0; i < 3000 && lines_of(path) <= n; i++)
        rest(0.02);
}

// ---------------------------------------------------------------------------- what it does

static void keeps_limits(void **unused)
{
    (void)unused;
    // episodes of the log never end, and x is between 0 and 1
    outcome o = rehearse("tune log.csv -o kept" SMALL
                         " --at-most 'x > 2: 0.5 %' --at-most 'y > -1: 100 %' --also=-x -v");
    if (o.code)
        print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    assert_has(o.out,
               "\nDoes it keep the limits?  Yes (95 % sure): x > 2 0 % of steps, at most ");
    assert_has(o.out, "(limit 100).");
    assert_has(o.out, "limits          x > 2: at most 0.5 % of steps\n");
    assert_has(o.out, "  chosen\n");
    drop(&o);
    o = rehearse("tune log.csv -o broken --at-most 'y > -1: 1 %'" SMALL);
    assert_int_equal(o.code, 1);
    assert_has(o.out, "\nDoes it keep the limits?  No setting keeps it. The nearest, setting ");
    assert_has(o.out, "\ndeploy          nothing: no setting keeps the limits\n");
    assert_false(exists("broken/best.yaml"));
    drop(&o);
    o = rehearse("tune broken -q"); // resumed
    assert_int_equal(o.code, 1);
    assert_has(o.err, "broken: nothing to deploy: no setting keeps the limits");
    drop(&o);
    o = rehearse("tune log.csv --at-most 'z > -1: 1 %'" SMALL);
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--at-most: no sensor or action 'z'");
    assert_has(o.err, "a model has no other columns, such as parts of the reward: make the "
                      "column a sensor, --obs");
    drop(&o);
    o = rehearse("tune log.csv --sure 1 --at-most 'x > 2: 1 %'" SMALL);
    assert_int_equal(o.code, 2);
    drop(&o);
    remove_folder("kept");
    remove_folder("broken");
}

static void prints_words(void **unused)
{
    (void)unused;
    outcome o = rehearse("tune log.csv -v" SMALL);
    if (o.code)
        print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    assert_has(o.out, "log             log.csv: 300 steps in ");
    assert_has(o.out, "agent           esarsa\n  searched      alpha 0.01, 0.1, 1\n            "
                      "    tau 1, 10\n");
    assert_has(o.out, "  fixed         beta1=0 ");
    assert_has(o.out, "method          race: all 6 settings\n");
    assert_has(o.out,
               "runs            up to 2 of 200 steps per setting, seed 1, criterion average\n");
    assert_has(
        o.out,
        "confirmation    2 leading settings that differ, 2 runs in each of 2 new models, each");
    assert_has(o.out, "study           log.study\n");
    assert_has(o.out, "best setting    --agent esarsa --set alpha="); // worse than logged
    assert_has(o.out, "\nIs it better than today?  ");
    assert_has(o.out, "\nHow often does it fail?   ");
    assert_has(o.out, "\nCan it be believed?       ");
    assert_has(o.out, "\n  logged controller   ");
    assert_has(o.out, "\n  chosen, a whole run ");
    assert_has(o.out, "\n  the agent's defaults ");
    assert_has(o.out, "\n  random actions      ");
    assert_has(o.out, "95 % interval");
    assert_has(o.out, "tied            ");
    assert_has(o.out, "importance      share of the score's variance, by ");
    assert_has(o.out, "findings        ");
    assert_has(o.out, "files           log.study/: best.yaml");
    assert_has(o.out, "next            rehearse deploy log.study/best.yaml --mode shadow\n");
    assert_has(o.out,
               "run it again    rehearse run model:log.study/study.model --agent esarsa");
    assert_null(strchr(o.out, '\033'));
    assert_true(exists("log.study/best.yaml"));
    assert_true(exists("log.study/runs.csv"));
    assert_true(exists("log.study/study.log"));

    // the next command works
    const char *next = strstr(o.out, "run it again    rehearse ") + 25;
    char line[512];
    snprintf(line, sizeof line, "%.*s -n 100 -r 2 -q", (int)strcspn(next, "\n"), next);
    free(output_of(line));
    drop(&o);

    // so does best.yaml as a setting; options override it
    char *text = output_of("run model:log.study/study.model -n 100 -r 2 -q "
                           "--setting log.study/best.yaml --set tau=3");
    assert_has(text, "agent           esarsa alpha=");
    assert_has(text, " tau=3");
    free(text);
    text = contents("log.study/best.yaml");
    assert_has(text, "\ntask:\n  sensors: # in this order");
    assert_has(text, "\npromise: # learning curve in the models, from the first step\n");
    free(text);

    // once more: all of it is known
    o = rehearse("tune log.csv" SMALL);
    assert_int_equal(o.code, 0);
    assert_has(o.err, "rehearse: resuming log.study: ");
    assert_has(o.err, " runs done\n");
    assert_null(strstr(o.out, "importance"));
    assert_null(strstr(o.out, "searched"));
    drop(&o);

    o = rehearse("tune log.csv -q" SMALL);
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "");
    assert_string_equal(o.err, "");
    drop(&o);
    remove_folder("log.study");
}

// Without a check, too, an agent that is not trusted runs beside the controller.
static void nothing_is_judged(void **unused)
{
    (void)unused;
    char *words = output_of("tune log.csv --verdict none -o none.study" SMALL);
    assert_has(words, "believed?       Not judged: ");
    assert_has(words, "\nbest setting    --agent esarsa ");
    assert_has(words, "none.study/: best.yaml (not to deploy yet), report.html");
    assert_has(words, "next            rehearse deploy none.study/best.yaml --mode shadow\n");
    free(words);
    remove_folder("none.study");
}

// Three rewards are missing: the log is in more pieces than it had episodes, and tune says so.
static void says_what_is_left_out(void **unused)
{
    (void)unused;
    char text[8000];
    size_t n = (size_t)sprintf(text, "temp,action,reward\n");
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(text + n, i % 100 == 50 ? "%g,%d,\n" : "%g,%d,%d\n",
                             (i * 37 % 101) / 101.0, i % 2, i % 3);
    write_text("holes.csv", text);
    outcome o = rehearse("tune holes.csv --gaps cut" SMALL);
    if (o.code)
        print_error("%s", o.err);
    assert_int_equal(o.code, 0);
    assert_has(o.out, "log             holes.csv: 296 steps in 4 episodes, ");
    assert_has(
        o.out,
        "\n  left out      3 rows without an action or a reward (first: line 52), 1 step "
        "with an unknown\n                next observation; 1 episode cut into 4 pieces\n");
    drop(&o);
    remove_folder("holes.study");
    unlink("holes.csv");
}

static void prints_json(void **unused)
{
    (void)unused;
    char *json = output_of("tune log.csv --json -o j.study" SMALL);
    assert_has(json, "\"study\": \"j.study\"");
    assert_has(json, "\"finished\": true");
    assert_has(json, "\"agent\": \"esarsa\"");
    assert_has(json, "\"winner\": {\"setting\": ");
    assert_has(json, "\"stage\": \"confirm\"");
    assert_has(json, "\"hyperparameters\": {\"alpha\": ");
    assert_has(json, "\"score_per\": \"");
    assert_has(json, "\"logged\": {\"score\": ");
    assert_has(json, "\"random\": {\"score\": ");
    assert_has(json, "\"rare_failures\": {\"runs\": ");
    assert_has(json, "\"importance\": {");
    assert_has(json, "\"tied\": [");
    assert_has(json, "\"trials\": [");
    assert_has(json, "\"evaluation.runs\": \"2\"");
    assert_has(json, "\"runs\": ");
    write_text("j.json", json);
    int rc = system("python3 -c 'import json; json.load(open(\"j.json\"))' 2>/dev/null || "
                    "! command -v python3 >/dev/null");
    assert_int_equal(rc, 0);

    // --strict goes by what was found
    bool grave = strstr(json, "\"severity\": \"warning\"") != NULL ||
                 strstr(json, "\"severity\": \"error\"") != NULL;
    outcome o = rehearse("tune log.csv -q --strict -o j.study" SMALL);
    assert_int_equal(o.code, grave ? 1 : 0);
    drop(&o);
    free(json);
    remove_folder("j.study");
}

// The winner's score in every kind of model, in words and in JSON.
static void kinds_of_model(void **unused)
{
    (void)unused;
    char *words = output_of("tune log.csv -v --confirm-kinds network -o k.study" SMALL);
    assert_has(
        words,
        "confirmation    2 leading settings that differ, 2 runs in each of 4 new models of "
        "2 kinds\n                (stitching, network), each fitted to");
    assert_has(words,
               "\nconfirmed       by 2 runs in each of 4 new models of 2 kinds, each fitted");
    assert_has(words, "\n    stitching   -");
    assert_has(words, "\n    network     -");
    free(words);
    char *json = output_of("tune log.csv --json --confirm-kinds network -o k.study" SMALL);
    assert_has(json, "\"kinds\": [{\"kind\": \"stitching\", \"score\": -");
    assert_has(json, "{\"kind\": \"network\", \"score\": -");
    assert_has(json, "\"regret\": ");
    write_text("k.json", json);
    int rc = system("python3 -c 'import json; k = json.load(open(\"k.json\"))[\"winner\"]; "
                    "assert k[\"lo95\"] <= min(x[\"lo95\"] for x in k[\"kinds\"])' || "
                    "! command -v python3 >/dev/null");
    assert_int_equal(rc, 0);
    free(json);
    char *yaml = contents("k.study/best.yaml");
    assert_has(yaml, "  kinds: # of model\n    stitching: {score: -");
    free(yaml);
    remove_folder("k.study");
    char *model = output_of("fit log.csv -m knn --repr raw -q --no-fidelity -o k.model");
    free(model);
    outcome o = rehearse("tune model:k.model --confirm-kinds network");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--confirm-kinds is for a log, but model:k.model is fitted already");
    drop(&o);
}

static void dry_run(void **unused)
{
    (void)unused;
    char *yaml = output_of("tune log.csv --dry-run -o d.study" SMALL);
    assert_has(yaml, "# 6 settings, ");
    assert_has(yaml, " runs of 200 steps at most, 8 of them to confirm\n# about ");
    assert_has(yaml, "\nagent:");
    assert_has(yaml, "\nparameters:");
    assert_false(exists("d.study"));

    // a file that says the same again; what comes of it is the same study
    char *data = NULL;
    assert_true(
        asprintf(&data, "%s%s", yaml, strstr(yaml, "\ndata:") ? "" : "data: log.csv\n") > 0);
    write_text("again.yaml", data);
    free(data);
    free(output_of("tune again.yaml -q -o a.study"));
    free(output_of("tune log.csv -q -o b.study" SMALL));
    assert_same("a.study", "b.study");
    char *json = output_of("tune log.csv --dry-run --json" SMALL);
    assert_has(json, "\"runs_to_confirm\": 8");
    assert_has(json, "\"plan\": {");
    free(json);
    free(yaml);
    remove_folder("a.study b.study");
}

static void files_and_flags(void **unused)
{
    (void)unused;
    mkdir("below", 0777);
    write_text("below/s.yaml",
               "data: {path: ../log.csv}\nagent: esarsa\n"
               "parameters:\n  alpha: {values: [0.1, 0.3]}\n"
               "representation: raw\nmodel: knn\nevaluation: {steps: 100, runs: 2}\n"
               "confirm: false\nstarts: ../starts.csv\n");
    char *words = output_of("tune below/s.yaml -v");
    assert_has(words, "log             below/../log.csv: 300 steps");
    assert_has(words, "runs            up to 2 of 100 steps");
    assert_has(words, "study           s.study\n");
    assert_has(words, "\nunconfirmed     the best of many trials overestimates its score\n");
    assert_true(exists("s.study/best.yaml"));
    free(words);

    // command-line options override the file
    words =
        output_of("tune below/s.yaml -n 50 -s alpha=0.1,0.2,0.3 --method grid -r 3 -o t -v");
    assert_has(words, "runs            3 of 50 steps");
    assert_has(words, "alpha 0.1, 0.2, 0.3\n");
    assert_has(words, "method          grid: all 3 settings\n");
    free(words);

    // other methods, continuous actions, a model, a published grid
    words = output_of("tune swing.csv -m knn --repr raw -n 100 -r 2 -t 8 --method bayes "
                      "--no-confirm -v -a gaussian_actor_critic");
    assert_has(words, "agent           gaussian_actor_critic\n");
    assert_has(words, "method          bayes: 8 settings\n");
    assert_has(words, "\n  alpha_critic ");
    assert_null(strstr(words, " \n"));
    free(words);
    free(output_of("fit log.csv -m knn --repr raw -q --no-fidelity -o m.model"));
    words = output_of(
        "tune model:m.model -a esarsa -n 50 -r 2 --no-confirm --method random -t 4 -v");
    assert_has(words, "log             model:m.model: ");
    assert_has(words, "study           m.study\n");
    assert_has(words, "run it again    rehearse run model:m.model --agent esarsa --set ");
    free(words);
    words = output_of("tune log.csv -m knn --repr raw -g puddle_world:paper -n 20 -r 1 "
                      "--no-confirm -o g --method grid -v");
    assert_has(words, "method          grid: all 54 settings\n");
    free(words);
    remove_folder("s.study t swing.study m.study g");
}

// A tank that trips at 88 degrees, which ends the batch and costs only 3: an agent does best to
// trip at once. The logged controller trips now and then.
static void write_tank(void)
{
    uint32_t state = 7;
    FILE *file = fopen("tank.csv", "w");
    assert_non_null(file);
    fputs("batch,temp,heater,reward,terminal\n", file);
    for (int b = 0; b < 30; b++) {
        double temp = 25.0;
        for (int t = 0; t < 60; t++) {
            state = state * 1664525u + 1013904223u;
            int draw = (int)(state >> 16) % 100, noise = (int)(state >> 24) % 5 - 2;
            int heat = temp < 67.0 ? 2 : temp < 78.0 ? 1 : 0;
            heat = draw < 18 ? draw % 3 : heat;
            double next = temp - 0.02 * (temp - 20.0) * (heat ? 1.0 : 3.0) +
                          (heat == 2 ? 7.0
                           : heat    ? 3.0
                                     : 0.0) +
                          noise;
            bool trips = next > 88.0;
            double reward = -0.02 * fabs(next - 75.0) - 0.2 * heat - (trips ? 3.0 : 0.0);
            fprintf(file, "%d,%g,%d,%g,%d\n", b, temp, heat, reward, trips);
            temp = next;
            if (trips)
                break;
        }
    }
    fclose(file);
}

// The first screen says that such an agent fails far more often, and the trust is bounded.
static void an_agent_that_fails(void **unused)
{
    (void)unused;
    write_tank();
    char *words =
        output_of("tune tank.csv --episode batch --action heater --action-kind "
                  "discrete --obs temp -m knn --repr raw --steps 1500 --trials 6 --runs 3 "
                  "--confirm 2 --confirm-members 3 --confirm-runs 3 -o f.study");
    assert_has(words,
               "\nHow often does it fail?   Far more often than the logged controller: ");
    assert_has(words, "A failure is an episode");
    assert_has(words, "\n  - it fails far more often than the logged controller: ");
    assert_null(strstr(words, "believed?       High"));
    assert_null(strstr(words, "believed?       Medium"));
    assert_has(words, "findings        1 error");
    int nline = 0;
    for (const char *c = words; *c; c++)
        nline += *c == '\n';
    assert_true(nline <= 40);
    free(words);
    char *yaml = contents("f.study/best.yaml");
    assert_has(yaml, "\n  often: far more often # compared");
    assert_has(yaml, "ends: true, below: -");
    free(yaml);
    remove_folder("f.study");
}

// All runs diverge: nothing to deploy, no best.yaml, and a script notices.
static void nothing_to_deploy(void **unused)
{
    (void)unused;
    FILE *file = fopen("huge.csv", "w");
    assert_non_null(file);
    fputs("s,action,reward\n", file);
    for (int i = 0; i < 60; i++)
        fprintf(file, "%g,%d,%de306\n", i % 10 / 10.0, i % 3, 1 + i % 3);
    fclose(file);
    outcome o = rehearse("tune huge.csv -m knn --repr raw -n 100 -r 2 -s tau=1,30 -o h");
    assert_int_equal(o.code, 1);
    assert_has(o.out, "deploy          nothing: no setting has a finite score\n");
    assert_has(o.out, "all-diverged");
    assert_has(o.out, "search smaller step sizes");
    assert_has(o.out, "files           h/: report.html (all of this as a page), runs.csv");
    assert_null(strstr(o.out, "best.yaml"));
    assert_false(exists("h/best.yaml"));
    assert_true(exists("h/runs.csv"));
    char *journal = contents("h/study.log");
    assert_null(strstr(journal, "\"deploy\""));
    free(journal);
    drop(&o);
    o = rehearse("tune huge.csv -m knn --repr raw -n 100 -r 2 -s tau=1,30 -o h --json");
    assert_int_equal(o.code, 1);
    assert_has(o.out, "\"winner\": null");
    drop(&o);
    o = rehearse("tune huge.csv -m knn --repr raw -n 100 -r 2 -s tau=1,30 -o h -q");
    assert_int_equal(o.code, 1);
    assert_has(o.err, "h: nothing to deploy: no setting has a finite score\n");
    drop(&o);
    remove_folder("h");
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

// Confirmations are a study of their own, and each study has a note that names the trial to
// deploy.
static void two_studies(void **unused)
{
    (void)unused;
    free(output_of("tune log.csv -m knn --repr raw -n 60 -r 1 -t 6 --method random -s "
                   "alpha=0.001:1:log -o two" CONFIRM));
    char *journal = contents("two/study.log");
    assert_int_equal(count(journal, "\"study_name\":"), 2);
    assert_has(journal, "\"study_name\":\"rehearse-confirmed\",\"directions\":[2]");
    assert_int_equal(
        count(journal, "\"stage\":\"search\""),
        count(journal, "\"op_code\":4,\"worker_id\":\"rehearse/4\",\"study_id\":0,"));
    assert_true(count(journal, "\"stage\":\"confirm\"") > 1);
    assert_int_equal(
        count(journal, "\"stage\":\"confirm\""),
        count(journal, "\"op_code\":4,\"worker_id\":\"rehearse/4\",\"study_id\":1,"));
    assert_has(journal, "{\"verdict\":{\"study\":\"rehearse-confirmed\",\"trial\":");
    assert_has(journal,
               "\"study_id\":0,\"system_attr\":{\"dashboard:note_str:0\":\"**Deploy trial ");
    assert_has(journal, " of the study \\\"rehearse-confirmed\\\"**: setting ");
    assert_has(journal,
               "\"study_id\":1,\"system_attr\":{\"dashboard:note_str:0\":\"**Deploy trial ");
    free(journal);
    remove_folder("two");
}

// More trials go on; fewer than were tried are refused and change nothing.
static void trials_change(void **unused)
{
    (void)unused;
#define RANDOM " --agent esarsa -m knn --repr raw -n 100 -r 2 --no-confirm --method random -q "
    free(output_of("tune log.csv -o a -t 6" RANDOM));
    char *before = contents("a/study.log");
    outcome o = rehearse("tune log.csv -o a -t 5" RANDOM);
    assert_int_equal(o.code, 2);
    assert_has(o.err, "a/study.log: the study has tried 6 settings, --trials is 5, expected 6 "
                      "or more; use another folder for fewer\n");
    drop(&o);
    char *after = contents("a/study.log");
    assert_string_equal(before, after);
    free(before);
    free(after);
    free(output_of("tune log.csv -o a -t 9" RANDOM));
    free(output_of("tune log.csv -o b -t 9" RANDOM));
    assert_same("a", "b");
    remove_folder("a b");

    // bayes, with six trials per parameter and whole batches of four after a design of six
#define BAYES                                                                                  \
    " -m knn --repr raw -n 100 -r 2 --no-confirm --method bayes -s alpha=0.01:1:log -s "       \
    "tau=1:10 -q "
    free(output_of("tune log.csv -o a -t 14" BAYES));
    free(output_of("tune log.csv -o a -t 18" BAYES));
    free(output_of("tune log.csv -o b -t 18" BAYES));
    assert_same("a", "b");
    remove_folder("a b");
}

// ---------------------------------------------------------------------------- no difference

static void same_bytes(void **unused)
{
    (void)unused;
    free(output_of("tune log.csv -q -o one" SMALL));
    free(output_of("tune log.csv -q -o two" SMALL "-j 2"));
    free(output_of("tune log.csv -q -o three" SMALL "-j 3"));
    assert_same("one", "two");
    assert_same("one", "three");

    // and what does
    free(output_of("tune log.csv -q --seed 2 -o other" SMALL));
    assert_int_not_equal(system("cmp -s one/runs.csv other/runs.csv"), 0);
    remove_folder("one two three other");
}

#define KILLED                                                                                 \
    " -q -m knn --repr raw -n 1000 -r 5 -t 12 --method bayes -s alpha=0.001:1:log "            \
    "-s tau=0.1:100:log -j 2" CONFIRM

// Killed at any moment and begun again, it ends as if nothing had been.
static void survives_kills(void **unused)
{
    (void)unused;
    free(output_of("tune log.csv -o whole" KILLED));
    for (int i = 0; i < 3; i++) {
        for (int again = 0; again <= i; again++) {
            pid_t pid = begin("tune log.csv -o killed" KILLED);
            rest(0.02 + 0.04 * i);
            kill(pid, SIGKILL);
            outcome o = await(pid);
            assert_true(o.signal == SIGKILL || o.code == 0);
            drop(&o);
        }
        free(output_of("tune log.csv -o killed" KILLED));
        assert_same("whole", "killed");
        remove_folder("killed");
    }

    // a last line that was cut off anywhere
    assert_int_equal(system("mkdir torn && cp whole/study.log whole/study.model torn/ && "
                            "truncate -s -30 torn/study.log"),
                     0);
    free(output_of("tune log.csv -o torn" KILLED));
    assert_same("whole", "torn");
    remove_folder("whole torn");
}

static void stops(void **unused)
{
    (void)unused;
    static const int ended_by[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        int before = lines_of("long/study.log");
        pid_t pid = begin("tune log.csv -o long" LONG);
        await_lines("long/study.log", before + 20);
        kill(pid, ended_by[i]);
        outcome o = await(pid);
        assert_int_equal(o.code, 128 + ended_by[i]);
        assert_has(o.err, "rehearse: interrupted: ");
        assert_has(o.err, " runs are kept in long; the same command resumes\n");
        if (i > 0)
            assert_has(o.err, "rehearse: resuming long: ");
        drop(&o);
    }
    remove_folder("long");
}

// A finished study that is run again without standard output or error writes nothing into its
// files.
static void closed_descriptors(void **unused)
{
    (void)unused;
    static const char *const closed[] = {">&-", "2>&-", ">&- 2>&-"};
    free(output_of("tune log.csv -o done" KILLED));
    char *journal = contents("done/study.log");
    for (int i = 0; i < 3; i++) {
        char line[600];
        snprintf(line, sizeof line, "tune log.csv -o done%s %s", &KILLED[3],
                 closed[i]); // no -q
        outcome o = rehearse(line);
        assert_int_equal(o.code, i == 1 ? 0 : 2); // a table that is lost is a failure
        drop(&o);
        char *now = contents("done/study.log");
        assert_string_equal(now, journal);
        free(now);
    }
    free(journal);
    remove_folder("done");
}

// Practice would take hours; the interrupt ends it, also when it is resumed.
static void stops_practice(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pid_t pid =
            begin("tune log.csv -o practice -m knn --repr raw -n 500 -r 2 --no-confirm -j 2 "
                  "--agent dqn -s start=model -s rate=1e-4,1e-3 --practice 1000000000");
        await_handler(pid);
        rest(1.0);
        time_t begun = time(NULL);
        kill(pid, SIGINT);
        outcome o = await(pid);
        assert_int_equal(o.code, 130);
        assert_has(o.err, "rehearse: interrupted before the first run\n");
        assert_true(difftime(time(NULL), begun) < 20.0);
        assert_int_equal(lines_of("practice/runs.csv"), 0);
        drop(&o);
    }
    remove_folder("practice");
}

// A second process is refused while the first one runs, and not after it was killed.
static void one_at_a_time(void **unused)
{
    (void)unused;
    pid_t pid = begin("tune log.csv -o busy" LONG);
    await_lines("busy/study.log", 20);
    int rc = system(RH_PROGRAM " tune log.csv -o busy" LONG ">out2 2>err2");
    assert_int_equal(WEXITSTATUS(rc), 2);
    char *err = contents("err2"), number[32];
    snprintf(number, sizeof number, "%d", (int)pid);
    assert_has(err, number); // who is at it
    free(err);
    kill(pid, SIGKILL);
    outcome o = await(pid);
    drop(&o);
    pid = begin("tune log.csv -o busy" LONG);
    await_handler(pid);
    rest(0.1);
    kill(pid, SIGINT);
    o = await(pid);
    assert_int_equal(o.code, 130);
    drop(&o);
    remove_folder("busy");
}

// ---------------------------------------------------------------------------- held wrong

static void refuses(void **unused)
{
    (void)unused;
    write_text("file.study", "not a folder\n");
    write_text("bad.yaml", "data: log.csv\nevaluation: {runs: ten}\n");
    write_text("typo.yaml", "data: log.csv\nevaluation: {rums: 10}\n");
    write_text("empty.yaml", "agent: esarsa\n");
    write_text("upside.yaml", "data: log.csv\nparameters: {alpha: {min: 1, max: 0.1}}\n");
    write_text("broken.yaml", "data: [\n");
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"tune",
         "tune: no name, expected a log, several logs of one plant, model:FILE, a study "
         "file or the folder of a study\ntry: rehearse tune plant.csv\n"},
        {"tune a b", "a: cannot read"},
        {"tune log.csv bad.yaml", "tune: 'bad.yaml' among 2 names, expected logs, or it alone"},
        {"tune log.csv --accept row-shif", "did you mean 'row-shift'?"},
        {"tune nowhere.csv", "nowhere.csv: cannot read"},
        {"tune nowhere.yaml", "nowhere.yaml: cannot read"},
        {"tune model:nowhere.model", "nowhere.model: cannot read"},
        {"tune model:", "tune: model:, expected model:FILE"},
        {"tune bad.yaml", "bad.yaml:2: "},
        {"tune bad.yaml", "ten, expected a whole number"},
        {"tune typo.yaml", "did you mean 'runs'?"},
        {"tune empty.yaml", "empty.yaml: no key data, expected the path of a log"},
        {"tune upside.yaml", "upside.yaml:2: "},
        {"tune broken.yaml", "broken.yaml:"},
        {"tune log.csv --runs ten", "--runs = ten, expected a whole number"},
        {"tune log.csv --runs 0", "--runs = 0, expected a whole number"},
        {"tune log.csv --trials -3", "--trials = -3, expected"},
        {"tune log.csv --steps 0", "--steps = 0, expected"},
        {"tune log.csv --seed x", "--seed = x, expected"},
        {"tune log.csv --gamma 2", "--gamma = 2, expected"},
        {"tune log.csv --method bays", "did you mean 'bayes'?"},
        {"tune log.csv --method bayes --method-set compt=paper", "compt"},
        {"tune log.csv --agent esarza", "did you mean 'esarsa'?"},
        {"tune log.csv --agent gaussian_actor_critic", "gaussian_actor_critic"},
        {"tune swing.csv --agent esarsa", "esarsa"},
        {"tune log.csv -a esarsa -s alfa=1,2", "did you mean 'alpha'?"},
        {"tune log.csv -a esarsa -s alpha=5:1", "alpha"},
        {"tune log.csv -a esarsa -s alpha=-1,1", "alpha"},
        {"tune log.csv -s alpha", "expected NAME=VALUES"},
        {"tune log.csv --grid acrobat:paper", "did you mean 'acrobot'?"},
        {"tune log.csv --criterion meen", "--criterion cannot be 'meen'"},
        {"tune log.csv --members 2 --across sideways", "--across cannot be"},
        {"tune log.csv --reach far", "reach = far, expected auto, none"},
        {"tune log.csv --share 0.5", "share"},
        {"tune log.csv --env-set gravity=1", "env"},
        {"tune log.csv -m knn --repr raw --range z=0:1", "no sensor 'z'"},
        {"tune log.csv --range x=2", "x = 2, expected LO:HI with LO below HI"},
        {"tune log.csv --preset paper", "task"},
        {"tune log.csv --json --quiet", "--json and --quiet"},
        {"tune log.csv --no-confirm --confirm 3", "--no-confirm and --confirm "},
        {"tune log.csv --dry-run --quiet", "--dry-run and --quiet cannot be used together"},
        {"tune model:m.model --k 5", "--k is for a log, but model:m.model is fitted already"},
        {"tune log.csv -m knn --repr raw -o file.study", "file.study"},
        {"tune log.csv -m knn --repr raw -o /proc/none/of/it", "/proc/none/of/it"},
        {"tune log.csv -o ''", "--output: an empty name, expected a folder"},
        {"tune log.csv --method grid -s alpha=0.00001:1:0.00001 -s lambda=0:0.99:0.00001",
         "settings"},
        {"tune log.csv --starts swing.csv -m knn --repr raw", "swing.csv: "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        outcome o = rehearse(wrong[i].line);
        bool begins = strncmp(o.out, "log findings", 12) == 0; // the log was read
        if (o.code != 2 || (o.out[0] && !begins) || !strstr(o.err, wrong[i].says))
            print_error("rehearse %s -> %d\n%s%s", wrong[i].line, o.code, o.out, o.err);
        assert_int_equal(o.code, 2);
        assert_true(begins || !o.out[0]);
        assert_null(strstr(o.out, "\nagent"));
        assert_has(o.err, wrong[i].says);
        assert_false(exists("log.study"));
        drop(&o);
    }
}

// A folder of another study is refused, and the difference is named.
static void refuses_another_study(void **unused)
{
    (void)unused;
    free(output_of("tune log.csv -q -o s" SMALL));
    static const struct {
        const char *line, *says;
    } other[] = {
        {"tune log.csv -q -o s -m knn --repr raw -n 200 -r 3" GRID CONFIRM, "evaluation.runs"},
        {"tune log.csv -q -o s --seed 9" SMALL, "seed"},
        {"tune log.csv -q -o s -s alpha=0.01,0.1 -s tau=1,10" UNITS CONFIRM, "alpha"},
        {"tune starts.csv -q -o s" SMALL, "log"},
    };
    char *best = contents("s/best.yaml");
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        outcome o = rehearse(other[i].line);
        if (o.code != 2)
            print_error("rehearse %s -> %d\n%s", other[i].line, o.code, o.err);
        assert_int_equal(o.code, 2);
        assert_has(o.err, other[i].says);
        drop(&o);
    }
    char *after = contents("s/best.yaml");
    assert_string_equal(best, after);
    free(best);
    free(after);
    remove_folder("s");
}

// What more than one process is refused without: each other.
static void several(void **unused)
{
    (void)unused;
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    setenv("SLURM_PROCID", "1", 1);
    outcome o = rehearse("tune log.csv --runs ten");
    assert_int_equal(o.code, 2);
    assert_string_equal(o.err, ""); // the first says it
    drop(&o);
    unsetenv("SLURM_STEP_NUM_TASKS");
    unsetenv("SLURM_PROCID");

    // a batch script is one process, whatever it may start
    setenv("SLURM_NTASKS", "3", 1);
    setenv("SLURM_PROCID", "0", 1);
    free(output_of("tune log.csv -q -o s -m knn --repr raw -n 50 -r 1 -s alpha=0.1,1 "
                   "--no-confirm"));
    unsetenv("SLURM_NTASKS");
    unsetenv("SLURM_PROCID");
    remove_folder("s");
}

// A disk that is full: what was run is kept, and the study goes on when there is room.
static void full_disk(void **unused)
{
    (void)unused;
    const char *line = " tune log.csv -q -o full -m knn --repr raw -n 50 -r 120 "
                       "-s alpha=0.01,0.1,1 --method grid --no-confirm";
    char command[512];
    snprintf(command, sizeof command, RH_PROGRAM "%s -o room", line);
    assert_int_equal(system(command), 0);
    struct stat model, journal;
    assert_int_equal(stat("room/study.model", &model), 0);
    assert_int_equal(stat("room/study.log", &journal), 0);
    assert_true(journal.st_size > 1024);

    // no room for a journal as long as this; a study that was begun has its model
    assert_int_equal(system("mkdir full && cp room/study.model full/ && "
                            "head -n 20 room/study.log > full/study.log"),
                     0);
    snprintf(command, sizeof command, "trap '' XFSZ; ulimit -f %d; " RH_PROGRAM "%s 2>err",
             (int)(journal.st_size / 1024), line);
    int rc = system(command);
    assert_int_equal(WEXITSTATUS(rc), 2);
    char *err = contents("err");
    assert_has(err, "study.log");
    assert_has(err, "try: fix this and rerun the same command; finished runs are kept\n");
    free(err);
    assert_true(lines_of("full/study.log") > 100);
    snprintf(command, sizeof command, RH_PROGRAM "%s", line);
    assert_int_equal(system(command), 0);
    assert_same("room", "full");
    remove_folder("room full");
}

// What to log next is in the words, in JSON, in a table of trials, and can be collected.
static void says_what_to_log_next(void **unused)
{
    (void)unused;
    char *out = output_of("tune log.csv -v -o next.study" SMALL);
    assert_has(out, "log next        1,000 steps that would help most");
    assert_has(out, "action  where\n");
    assert_has(out, "log_next.csv (what to log");
    free(out);
    char *json = output_of("tune log.csv -o next.study --json" SMALL),
         *report = contents("next.study/report.json"),
         *csv = contents("next.study/log_next.csv");
    const char *rows = strstr(json, "\"log_next\": [");
    assert_non_null(rows);
    assert_has(rows, "{\"action\": \"");
    assert_has(rows, "\"sensors\": [{\"name\": \"");
    assert_has(rows, "\"steps\": ");
    assert_has(rows, "\"why\": \"the agent does this in ");
    assert_has(report, "\"log_next\":");
    assert_true(strncmp(csv, "trial,region,", 13) == 0);
    assert_int_equal(lines_of("next.study/log_next.csv"), 1 + 200);
    free(csv);
    free(report);
    free(json);

    out = output_of("collect puddle_world -p medium -n 200 --advice next.study/report.json -o "
                    "more.csv");
    assert_has(out, "advice        1,000 steps in ");
    assert_has(out, "by the advice\n");
    free(out);
    free(output_of("collect puddle_world -p medium -n 200 --episodes any -o same.csv"));
    assert_true(system("cmp -s more.csv same.csv") != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_words),
        cmocka_unit_test(keeps_limits),
        cmocka_unit_test(nothing_is_judged),
        cmocka_unit_test(says_what_is_left_out),
        cmocka_unit_test(prints_json),
        cmocka_unit_test(says_what_to_log_next),
        cmocka_unit_test(kinds_of_model),
        cmocka_unit_test(dry_run),
        cmocka_unit_test(files_and_flags),
        cmocka_unit_test(an_agent_that_fails),
        cmocka_unit_test(nothing_to_deploy),
        cmocka_unit_test(two_studies),
        cmocka_unit_test(trials_change),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(survives_kills),
        cmocka_unit_test(stops),
        cmocka_unit_test(closed_descriptors),
        cmocka_unit_test(stops_practice),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_another_study),
        cmocka_unit_test(several),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, make_logs, leave_folder);
}
