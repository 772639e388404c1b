// test_cmd_fit.c - rehearse fit, and runs in what it made: words, JSON, files, exit codes.

#include "cli/program.h"

#include <math.h>

#define FIT "fit log.csv -m knn --repr raw -j 1 "
#define LIVE " -a esarsa -n 1500 -r 3 "
#define LONG " --repr-set steps=1e9 --repr-set patience=1e6"

// A log of a puddle world, and one of a pendulum, whose actions are continuous.
static int make_logs(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    int rc = system(RH_PROGRAM " collect puddle_world -p medium -n 700 --episodes any -q -o "
                               "log.csv --starts starts.csv && " RH_PROGRAM
                               " collect pendulum -p random -n 300 -q -o swing.csv && "
                               "head -n 201 log.csv > few.csv");
    return rc;
}

static double number_of(const char *json, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(json, quoted);
    if (!at)
        fail_msg("no %s in %s", key, json);
    return strtod(at + strlen(quoted), NULL);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

// ---------------------------------------------------------------------------- fitting

static void prints_words(void **unused)
{
    (void)unused;
    outcome o = rehearse(FIT);
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    assert_has(o.out, "log             log.csv: 700 steps in ");
    assert_has(o.out, "2 sensors, 4 actions\n");
    assert_has(o.out, "task            episodic, discount 1, 1,000 steps per run\n");
    assert_has(o.out, "representation  raw, 2 dimensions\n");
    assert_has(o.out, "  awareness     0.");
    assert_has(o.out, "model           knn k=3: ");
    assert_has(o.out, " in the representation, ");
    assert_has(o.out, " median steps\n  coverage      ");
    assert_has(o.out,
               " of states and actions are out of coverage; there the episode ends with\n");
    assert_has(o.out, "  termination  ");
    assert_has(o.out, "findings        ");
    assert_has(o.out, "file            log.model (");
    assert_has(o.out,
               "next            rehearse sweep model:log.model --agent esarsa --set alpha=");
    assert_null(strchr(o.out, '\033'));
    assert_true(exists("log.model")); // the log's name, another ending
    unlink("log.model");
    drop(&o);

    o = rehearse(FIT "-q -o other.model --no-fidelity");
    assert_int_equal(o.code, 0);
    assert_string_equal(o.out, "");
    assert_string_equal(o.err, "");
    assert_true(exists("other.model"));
    assert_false(exists("log.model"));
    drop(&o);

    char *words = output_of(FIT "-o other.model --no-fidelity --members 2 --task puddle_world");
    assert_has(words, "30,000 steps per run, as in puddle_world\n");
    assert_has(words, "  members       2, each fitted to 90.0 % of the steps\n");
    assert_has(words, "--agent esarsa --grid puddle_world:paper\n");
    assert_null(strstr(words, "\nfindings"));
    free(words);

    // reach and coverage, also where they were not measured
    static const struct {
        const char *line, *says;
    } covered[] = {
        {"--reach none", "  reach         none: neighbours at any distance count\n\n"},
        {"--reach 0.25 --model-set out_of_coverage=optimistic",
         "  reach         0.25 in the representation\n  coverage      out of coverage: the "
         "episode ends with the log's highest return\n"},
        {"--reach 95% --model-set out_of_coverage=cost --model-set cost=2",
         "  reach         covers 0.95 of states and actions\n  coverage      out of coverage: "
         "the nearest logged steps cost 2 per median step of distance\n"},
        {"--continuing yes",
         "  reach         chosen from the log\n  coverage      out of coverage: the agent "
         "receives the log's lowest return and starts again\n"},
    };
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        char line[128];
        snprintf(line, sizeof line, FIT "-o other.model --no-fidelity %s", covered[i].line);
        words = output_of(line);
        assert_has(words, covered[i].says);
        free(words);
    }
    unlink("other.model");

    // a continuing task has no ends to predict
    words = output_of("fit swing.csv -m knn --repr raw -o other.model -j 1");
    assert_null(strstr(words, "termination"));
    assert_has(words, "held-out");
    unlink("other.model");
    free(words);
}

// By default models are compared; the table says which is chosen and why.
static void chooses(void **unused)
{
    (void)unused;
    char *words = output_of("fit few.csv --repr raw -j 1 -o auto.model --no-fidelity");
    assert_has(words, "\nmodels  ");
    assert_has(words, "\n  the log  ");
    assert_has(words, "\nchosen          ");
    const char *mark = strstr(words, "\n* ");
    assert_non_null(mark);
    assert_null(strstr(mark + 1, "\n* ")); // one of them
    char *json = output_of("fit few.csv --repr raw -j 1 -o auto.model --json --no-fidelity");
    assert_has(json, "\"compared_models\": {");
    assert_has(json, "\"kind\": \"stitching\"");
    assert_has(json, "\"kind\": \"carrying\"");
    assert_has(json, "\"kind\": \"network\"");
    free(json);
    free(words);
    json = output_of(FIT "-o auto.model --json --no-fidelity");
    assert_has(json, "\"compared_models\": null");
    free(json);
    unlink("auto.model");
}

static void the_next_command_works(void **unused)
{
    (void)unused;
    char *words = output_of(FIT "-o next.model");
    const char *next = strstr(words, "next            rehearse ");
    assert_non_null(next);
    char line[256];
    snprintf(line, sizeof line, "%.*s -n 300 -r 2 -q", (int)strcspn(next + 25, "\n"),
             next + 25);
    char *table = output_of(line);
    assert_has(table, "environment     model:next.model\n");
    assert_has(table, "4 settings: alpha (4)\n");
    unlink("next.model");
    free(words);
    words = output_of(FIT "--no-fidelity -o \"it's one.model\"");
    assert_has(words, "rehearse sweep 'model:it'\\''s one.model' --agent");
    unlink("it's one.model");
    free(words);
    free(table);
}

static void prints_json(void **unused)
{
    (void)unused;
    char *json =
        output_of(FIT "--json -o a.model --model-set k=5 --reach 95% --seed 3 --gamma 0.9 "
                      "--range x=-1:2");
    assert_has(json, "\"file\": \"a.model\"");
    assert_has(json, "\"parameters\": {\"k\": 5, ");
    assert_has(json, "\"reach\": \"quantile\"");
    assert_has(json, "\"reach_quantile\": 0.95");
    assert_has(json, "{\"name\": \"x\", \"lo\": -1, \"hi\": 2}");
    assert_true(number_of(json, "gamma") == 0.9);
    assert_true(number_of(json, "seed") == 3.0);
    assert_true(number_of(json, "bytes") > 10000.0);
    assert_has(json, "\"fidelity\": {");
    assert_has(json, "\"held_out\": {");
    free(json);
    json = output_of(FIT "--json -o a.model --reach 0.25 --k 2 --no-fidelity");
    assert_has(json, "\"reach\": \"fixed\", \"reach_distance\": 0.25");
    assert_has(json, "\"fidelity\": null");
    assert_has(json, "\"share\": null"); // all of the log
    free(json);
    assert_int_equal(system("if command -v python3 >/dev/null; then " RH_PROGRAM
                            " fit few.csv --repr raw --json -o a.model | python3 -m json.tool "
                            ">/dev/null; fi"),
                     0);
    unlink("a.model");
}

// The same log, options and seed give the same bytes, on any number of threads.
static void same_bytes(void **unused)
{
    (void)unused;
    free(output_of(FIT "-q -o a.model --members 3"));
    free(output_of("fit log.csv -m knn --repr raw -j 3 -q -o b.model --members 3"));
    free(output_of(FIT "-q -o c.model --members 3 --seed 2"));
    assert_int_equal(system("cmp -s a.model b.model && ! cmp -s a.model c.model"), 0);
    assert_int_equal(system("rm a.model b.model c.model"), 0);
}

static void presets_and_starts(void **unused)
{
    (void)unused;
    char *json = output_of("fit log.csv --task puddle_world --preset paper --repr-set steps=50 "
                           "--k 2 --starts starts.csv --json -o a.model --no-fidelity -j 1");
    assert_has(json, "\"kind\": \"laplacian\"");
    assert_has(json, "\"zeta\": 0.05");
    assert_has(json, "\"d\": 4");
    assert_has(json, "\"k\": 2, \"weights\": \"paper\", \"distance\": \"norm\", \"reach\": "
                     "\"none\"");
    assert_has(json, "\"env\": \"puddle_world\"");
    assert_has(json, "\"starts\": \"starts.csv\"");
    free(json);
    json = output_of("fit log.csv --task puddle_world --preset paper --repr laplacian "
                     "--repr-set steps=50 --json -o a.model --no-fidelity -j 1");
    assert_has(json, "\"window\": 10"); // the kind that the paper has, said or not
    free(json);
    json = output_of(
        "fit log.csv -m knn --repr-preset puddle_world-exp2 --repr-set steps=50 --json "
        "-o a.model --no-fidelity -j 1");
    assert_has(json, "\"window\": 5");
    free(json);
    json = output_of("fit log.csv --model nn --model-set epochs=1 --model-set hidden=8 "
                     "--repr random --members 2 --resample all --json -o a.model "
                     "--no-fidelity -j 1");
    assert_has(json, "\"kind\": \"nn\"");
    assert_has(json, "\"resample\": \"all\"");
    free(json);
    free(output_of("fit swing.csv -m knn --repr random --joint -q -o a.model --no-fidelity"));
    free(output_of("run model:a.model -a gaussian_actor_critic -n 200 -r 1 -q"));
    unlink("a.model");
}

// ---------------------------------------------------------------------------- living in it

static void runs_in_members(void **unused)
{
    (void)unused;
    free(output_of(FIT "-q -o four.model --members 4 --no-fidelity"));
    char *words = output_of("run model:four.model -a esarsa -n 100 -r 1");
    assert_has(words, "4 members, pooled by mean\n");
    free(words);
    free(output_of(FIT "-q -o ten.model --members 3 --no-fidelity"));
    words = output_of("run model:ten.model" LIVE);
    assert_has(words, "environment     model:ten.model\n");
    assert_has(words, "3 members, pooled by mean\n");
    assert_has(words, "runs            3 of 1,500 steps per member, seed 1");
    assert_has(words, " steps (default for a model)\n");
    assert_has(words, "  member 2      ");
    free(words);

    // a column of members, and the score is the mean of their means
    char *csv = output_of("run model:ten.model" LIVE "--csv -");
    char *json = output_of("run model:ten.model" LIVE "--json");
    const char *head = "member,run,score,total,steps,episodes,outcome\n";
    assert_true(strncmp(csv, head, strlen(head)) == 0);
    const char *line = csv + strlen(head);
    double sum = 0.0;
    for (int i = 0; i < 9; i++) {
        int member, run;
        double score;
        assert_int_equal(sscanf(line, "%d,%d,%lf,", &member, &run, &score), 3);
        assert_int_equal(member, i / 3);
        assert_int_equal(run, i % 3);
        sum += score;
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, "");
    assert_true(fabs(sum / 9.0 - number_of(json, "score")) < 1e-9 * fabs(sum));
    assert_has(json, "\"model\": {\"file\": \"ten.model\", \"kind\": \"knn\"");
    assert_has(json, "{\"member\": 2, \"run\": 1, ");

    // a member alone runs as it does among the others
    char *one = output_of("run model:ten.model --member 1" LIVE "--csv -");
    const char *among = strstr(csv, "\n1,0,");
    assert_non_null(among);
    char first[128];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(among + 3, "\n"), among + 3);
    assert_has(one, first);
    assert_true(strncmp(one, "run,score,", 10) == 0);
    free(one);
    free(csv);
    free(json);

    // the worst member, and no cutoff
    json = output_of("run model:ten.model" LIVE "--json --pool worst --cutoff never");
    assert_has(json, "\"cutoff\": null");
    double least = number_of(json, "min");
    assert_true(number_of(json, "score") == least);
    free(json);
}

static void sweeps_in_members(void **unused)
{
    (void)unused;
    const char *all = "sweep model:ten.model -a esarsa -n 800 -r 2 -s alpha=0.01,0.1,1 ";
    char line[256];
    snprintf(line, sizeof line, "%s --csv t.csv", all);
    char *words = output_of(line), *csv = contents("t.csv");
    assert_has(words, "runs            2 of 800 steps per setting and member, seed 1");
    assert_has(csv, "optimiser,runs,score,mean,stderr,lo95,hi95\n");
    assert_has(csv, ",6,"); // runs of a setting
    free(words);
    snprintf(line, sizeof line, "%s --pool quartile", all);
    words = output_of(line);
    assert_has(words, "  quartile  ");
    free(words);
    snprintf(line, sizeof line, "%s -j 1 --csv -", all);
    char *one = output_of(line);
    assert_string_equal(one, csv);
    free(one);
    free(csv);

    // a grid of an environment
    words = output_of("sweep model:ten.model --member 0 -a esarsa -g puddle_world:paper -n 20 "
                      "-r 1 -s tau=1");
    assert_has(words, "settings: alpha (");
    free(words);
    outcome o = rehearse("sweep model:ten.model -a esarsa -g paper");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--grid = paper, expected ENV:NAME, a published grid such as "
                      "acrobot:paper\n");
    drop(&o);

    // what can be changed without another fit, and what cannot
    free(output_of("run model:ten.model -a esarsa -n 300 -r 1 -e k=2 -e reach=none -q"));
    o = rehearse("run model:ten.model -a esarsa -e k=9");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "k = 9, expected at most 3 as fitted; fit again");
    drop(&o);
    o = rehearse("run model:ten.model -a esarsa --member 3");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--member = 3, expected 0 to 2: ten.model has 3 members");
    drop(&o);
    o = rehearse("run model:ten.model -a esarsa --member 1 --pool mean");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--pool is for several members");
    drop(&o);

    // what was learned in the first run is saved
    free(output_of("run model:ten.model -a esarsa -n 300 -r 2 -q --save a.state"));
    free(output_of("run model:ten.model --member 0 -a esarsa -n 300 -r 1 -q --save b.state"));
    assert_int_equal(system("cmp a.state b.state"), 0);
}

// A thirtieth of the run, but no less than two usual episodes of the log; or as is said.
static void cuts_episodes_off(void **unused)
{
    (void)unused;
    FILE *file = fopen("short.csv", "w");
    assert_non_null(file);
    fputs("x,action,reward,terminal\n", file);
    for (int i = 0; i < 400; i++)
        fprintf(file, "%d,%d,-1,%d\n", i % 20, i % 2, i % 20 == 19);
    fclose(file);
    free(output_of("fit short.csv -m knn --repr raw -q --no-fidelity"));
    char *words = output_of("run model:short.model -a esarsa -r 1 -n 900");
    assert_has(words, "  cutoff        episodes are truncated after 40 steps (default for a ");
    free(words);
    words = output_of("run model:short.model -a esarsa -r 1 -n 3000 --cutoff-as terminate");
    assert_has(words,
               "  cutoff        episodes are terminated after 100 steps (default for a ");
    free(words);
    words = output_of("run model:short.model -a esarsa -r 1 -n 3000 --cutoff 7");
    assert_has(words, "  cutoff        episodes are truncated after 7 steps\n");
    free(words);
    words = output_of("run model:short.model -a esarsa -r 1 -n 3000 --cutoff never");
    assert_null(strstr(words, "cutoff"));
    free(words);
    free(output_of("fit short.csv -m knn --repr raw -q --no-fidelity --continuing yes"));
    outcome o = rehearse("run model:short.model -a esarsa --cutoff-as terminate");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "--cutoff-as needs --cutoff");
    drop(&o);
}

// A study file describes the same fit as the options; keys of other commands are ignored.
static void fits_a_study_file(void **unused)
{
    (void)unused;
    FILE *file = fopen("study.yaml", "w");
    assert_non_null(file);
    fputs("data: log.csv\nagent: esarsa\nmethod: random\nrepresentation: raw\n"
          "model: {kind: knn, k: 5, members: 2}\nseed: 7\n",
          file);
    fclose(file);
    free(output_of("fit study.yaml --members 3 -q -o file.model"));
    free(
        output_of("fit log.csv -m knn --repr raw --k 5 --members 3 --seed 7 -q -o line.model"));
    assert_int_equal(system("cmp -s file.model line.model"), 0);
}

// ---------------------------------------------------------------------------- held wrong

static void refuses(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"fit", "fit: no name, expected a log, several logs of one plant, or a study file\n"
                "try: rehearse fit plant.csv\n"},
        {"fit a b", "a: cannot read"},
        {"fit nowhere.csv", "nowhere.csv: cannot read"},
        {"fit log.csv --model knm", "did you mean 'knn'?"},
        {"fit log.csv --repr rav", "did you mean 'raw'?"},
        {"fit log.csv --repr-preset acrobat", "did you mean 'acrobot'?"},
        {"fit log.csv --repr raw --repr-preset acrobot",
         "but the preset acrobot is for laplacian"},
        {"fit log.csv --repr raw --repr-set zeta=1", "no parameter 'zeta'"},
        {"fit log.csv --repr auto --repr-set d=3",
         "--repr-set: representation auto sets its own parameters"},
        {"fit log.csv --model-set kk=1", "knn: no parameter 'kk'"},
        {"fit log.csv --model-set k=0", "--model-set: k = 0, expected a whole number, 1 to 64"},
        {"fit log.csv --k 99", "--k = 99, expected a whole number, 1 to 64"},
        {"fit log.csv --k 3 --model-set k=4", "--model-set k and --k set the same key"},
        {"fit log.csv --reach 1 --model-set reach=auto",
         "--model-set reach and --reach set the same key"},
        {"fit log.csv --reach 120%", "--reach = 120%, expected auto, none, a share"},
        {"fit log.csv --reach 0", "--reach = 0, expected"},
        {"fit log.csv --reach=-1", "--reach = -1, expected"},
        {"fit log.csv --reach far", "--reach = far, expected"},
        {"fit log.csv --model nn --k 3", "--k: nn: no parameter 'k'"},
        {"fit log.csv --model nn --reach auto", "--reach: nn: no parameter 'reach'"},
        {"fit log.csv --members 0", "--members = 0, expected a whole number, 1 to 256"},
        {"fit log.csv --repr raw --members 2 --resample all",
         "members fitted to all of the log"},
        {"fit log.csv --share 0.5", "--share: model.share is for resample: subset"},
        {"fit log.csv --resample subset --share 1.5",
         "--share = 1.5, expected a number above 0, up to 1"},
        {"fit log.csv --gamma 2", "--gamma = 2, expected a number, 0 to 1, or auto"},
        {"fit log.csv --continuing maybe", "--continuing cannot be 'maybe'"},
        {"fit log.csv --preset paper", "the paper has one for each environment"},
        {"fit log.csv --task pendulum --preset paper", "no preset of a representation"},
        {"fit log.csv --env-set gravity=1",
         "--env-set: this is an option of the task's environment; set task.env "
         "too"},
        {"fit log.csv --task acrobt", "did you mean 'acrobot'?"},
        {"fit log.csv --repr raw --task acrobot", "sensors"},
        {"fit log.csv --repr raw --task pendulum", "sensors"},
        {"fit log.csv --repr raw --range z=0:1",
         "--range: no sensor 'z'; expected one of x, y"},
        {"fit log.csv --repr raw --range x=2:1", "with LO below HI"},
        {"fit log.csv --repr raw --starts swing.csv", "swing.csv: "},
        {"fit log.csv --joint", "--joint: representation.joint is for continuous actions"},
        {"fit log.csv --json --quiet", "--json and --quiet"},
        {"fit log.csv --strict --no-fidelity",
         "--strict needs the comparison that --no-fidelity leaves out"},
        {"fit log.csv -o log.csv", "is the log itself"},
        {"fit log.csv --starts starts.csv -o starts.csv", "is the log of --starts"},
        // before anything is learned, which would take hours here
        {"fit log.csv --task acrobot" LONG, "2 sensors, expected 6 as in the task"},
        {"fit log.csv --starts swing.csv" LONG, "swing.csv: "},
        {"fit log.csv --members 2 --resample all" LONG, "members fitted to all of the log"},
        {"collect model:log.model -p random -n 10 -o x.csv",
         "collect: model:log.model is a model, expected a simulator\n"},
        {"collect starts.csv -p random -n 10 -o x.csv",
         "no environment 'starts.csv'; expected one of "},
        {"collect starts.csv -p random -n 10 -o x.csv", "\ntry: rehearse list envs\n"},
        {"run starts.csv -a esarsa", "try: model:starts.csv, for a model that"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        outcome o = rehearse(wrong[i].line);
        if (o.code != 2 || o.out[0])
            print_error("rehearse %s -> %d\n%s%s", wrong[i].line, o.code, o.out, o.err);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_has(o.err, wrong[i].says);
        assert_false(exists("log.model"));
        drop(&o);
    }
}

// A Laplacian cannot be trained on steps without order; the default is then raw.
static void logs_without_order(void **unused)
{
    (void)unused;
    FILE *file = fopen("loose.csv", "w");
    assert_non_null(file);
    fputs("x,y,action,reward,terminal,next_x,next_y\n", file);
    for (int i = 0; i < 60; i++)
        fprintf(file, "%d.5,%d,%d,%d,1,%d,%d\n", i % 7, i % 5, i % 2, -(i % 3), i % 6, i % 4);
    fclose(file);
    outcome o = rehearse("fit loose.csv --repr laplacian --next 'next_*' --obs x,y "
                         "--accept terminal-everywhere");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "laplacian: ");
    assert_has(o.err, "order");
    drop(&o);
    char *words = output_of("fit loose.csv -m knn --next 'next_*' --obs x,y -o loose.model "
                            "--accept terminal-everywhere");
    assert_has(words, "representation  raw, 2 dimensions\n");
    free(words);
}

static void files_fail(void **unused)
{
    (void)unused;
    outcome o = rehearse(FIT "-o no/such/a.model");
    assert_int_equal(o.code, 2);
    assert_string_equal(o.err,
                        "rehearse: no/such/a.model: cannot write: No such file or directory\n");
    drop(&o);
    o = rehearse(FIT "-o .");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "cannot write");
    drop(&o);

    // a model that is not whole
    free(output_of(FIT "-q -o whole.model --no-fidelity"));
    assert_int_equal(
        system("head -c 9000 whole.model > half.model; cp whole.model bent.model; "
               "printf X | dd of=bent.model bs=1 seek=9000 conv=notrunc 2>/dev/null"),
        0);
    o = rehearse("run model:half.model -a esarsa");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "rehearse: half.model: truncated: 9000 bytes end inside array ");
    drop(&o);
    o = rehearse("run model:bent.model -a esarsa");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "rehearse: bent.model: damaged: checksum ");
    drop(&o);
    o = rehearse("run model:log.csv -a esarsa");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "log.csv: not a model file: it begins with ");
    drop(&o);
    o = rehearse("run model:whole.model -a gaussian_actor_critic");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "takes continuous actions only");
    drop(&o);
}

// Interrupted, nothing is written and nothing is left.
static void stops(void **unused)
{
    (void)unused;
    static const int ended_by[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        pid_t pid =
            begin("fit log.csv -m knn --repr-set steps=10000000 --repr-set patience=100 "
                  "-j 1");
        await_handler(pid);
        kill(pid, ended_by[i]);
        outcome o = await(pid);
        assert_int_equal(o.code, 128 + ended_by[i]);
        assert_has(o.err, "rehearse: interrupted: no model was written\n");
        assert_null(strstr(o.out, "representation"));
        assert_false(exists("log.model"));
        assert_int_equal(system("test $(ls | grep -c tmp) = 0"), 0);
        drop(&o);
    }
}

// --strict goes by what was found.
static void strict(void **unused)
{
    (void)unused;
    char *json = output_of(FIT "--json -o s.model");
    bool grave = strstr(json, "\"severity\": \"warning\"") != NULL ||
                 strstr(json, "\"severity\": \"error\"") != NULL;
    outcome o = rehearse(FIT "-q --strict -o s.model");
    assert_int_equal(o.code, grave ? 1 : 0);
    assert_true(exists("s.model"));
    free(json);
    drop(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_words),
        cmocka_unit_test(the_next_command_works),
        cmocka_unit_test(chooses),
        cmocka_unit_test(prints_json),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(presets_and_starts),
        cmocka_unit_test(runs_in_members),
        cmocka_unit_test(sweeps_in_members),
        cmocka_unit_test(cuts_episodes_off),
        cmocka_unit_test(fits_a_study_file),
        cmocka_unit_test(refuses),
        cmocka_unit_test(logs_without_order),
        cmocka_unit_test(files_fail),
        cmocka_unit_test(stops),
        cmocka_unit_test(strict),
    };
    return cmocka_run_group_tests(tests, make_logs, leave_folder);
}
