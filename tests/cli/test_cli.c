// test_cli.c - the command line: help, version, what is refused and how it is said.

#include "cli/program.h"
#include "rehearse/study.h"

static const char *const commands[] = {"run",  "sweep",      "fit",   "list",
                                       "help", "completion", "manual"};

enum { NCOMMAND = sizeof commands / sizeof *commands };

// No line of text is longer than 80 columns (the texts are ASCII).
static void assert_narrow(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length > 80)
            print_error("too long: %.*s\n", (int)length, text);
        assert_true(length <= 80);
        text += length + (text[length] != 0);
    }
}

static void helps_with_everything(void **unused)
{
    (void)unused;
    char *plain = output_of(""), *help = output_of("help"), *dashes = output_of("--help");
    assert_has(plain, "usage: rehearse COMMAND");
    assert_string_equal(plain, help);
    assert_string_equal(plain, dashes);
    assert_narrow(plain);
    free(plain);
    free(help);
    free(dashes);

    for (int i = 0; i < NCOMMAND; i++) {
        char line[64];
        snprintf(line, sizeof line, "help %s", commands[i]);
        char *long_way = output_of(line);
        snprintf(line, sizeof line, "%s -h", commands[i]);
        char *letter = output_of(line);
        snprintf(line, sizeof line, "%s --no-such --help", commands[i]); // help wins
        char *word = output_of(line);
        assert_string_equal(long_way, letter);
        assert_string_equal(long_way, word);
        snprintf(line, sizeof line, "usage: rehearse %s ", commands[i]);
        assert_has(long_way, line);
        assert_narrow(long_way);
        free(long_way);
        free(letter);
        free(word);
    }
}

// Every option that a help text shows is in the manual page and in the completions.
static void tables_reach_everywhere(void **unused)
{
    (void)unused;
    char *bash = output_of("completion bash"), *zsh = output_of("completion zsh");
    char *manual = output_of("manual"), *fish = output_of("completion fish");
    int seen = 0;
    for (int i = 0; i < 4; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s --help", commands[i]);
        char *help = output_of(line);
        snprintf(line, sizeof line, "manual %s", commands[i]);
        char *page = output_of(line);
        for (char *at = strstr(help, "\n  "); at; at = strstr(at + 1, "\n  ")) {
            char name[32], roff[64];
            if (strlen(at) < 10 || sscanf(at + 7, "--%31[a-z-]", name) != 1)
                continue;
            seen++;
            snprintf(line, sizeof line, "--%s", name);
            assert_has(bash, line);
            assert_has(zsh, line);
            snprintf(line, sizeof line, "%s' -l %s ", commands[i], name);
            assert_has(fish, line);
            int used = snprintf(roff, sizeof roff, "\\-\\-");
            for (const char *c = name; *c; c++)
                used += snprintf(roff + used, sizeof roff - (size_t)used,
                                 *c == '-' ? "\\-" : "%c", *c);
            assert_has(manual, roff);
            assert_has(page, roff);
        }
        free(page);
        free(help);
    }
    assert_true(seen >= 60);

    assert_has(bash, "acrobot) echo '");
    assert_has(zsh, "esarsa) echo 'alpha=");
    assert_has(bash, "laplacian) echo '");
    assert_has(bash, "list:models) offer='knn nn linear auto'");
    assert_has(bash, "puddle_world ");
    assert_has(bash, " model:'"); // a model stands behind the simulators
    assert_has(fish, "case 'esarsa'\n            printf '%s\\n' alpha=");
    assert_int_equal(system(RH_PROGRAM " completion bash | bash -n"), 0);
    assert_int_equal(system(RH_PROGRAM
                            " completion fish > s.fish; ! command -v fish >/dev/null "
                            "|| fish --no-execute s.fish"),
                     0);
    free(fish);
    free(bash);
    free(zsh);
    free(manual);
}

// Whether the option stands in text with one of these around it.
static bool shows(const char *text, const char *before, const char *option, const char *after)
{
    char word[100];
    for (; *after; after++) {
        snprintf(word, sizeof word, "%s%s%c", before, option, *after);
        if (strstr(text, word))
            return true;
    }
    return false;
}

// The part of text from `begin` up to `end`, owned.
static char *part_of(const char *text, const char *begin, const char *end)
{
    const char *from = strstr(text, begin);
    if (!from)
        fail_msg("no '%s'", begin);
    const char *to = strstr(from + strlen(begin), end);
    return to ? strndup(from, (size_t)(to - from)) : strdup(from);
}

// Every key of the plan is an option of exactly its commands, in --help, in the completions and
// in the manual page.
static void keys_reach_their_commands(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        rh_plan_command bit;
    } command[] = {{"fit", RH_PLAN_FIT},
                   {"run", RH_PLAN_RUN},
                   {"sweep", RH_PLAN_SWEEP},
                   {"tune", RH_PLAN_TUNE}};
    char *bash = output_of("completion bash"), *manual = output_of("manual");
    for (int c = 0; c < 4; c++) {
        char line[64];
        snprintf(line, sizeof line, "%s --help", command[c].name);
        char *whole = output_of(line), *help = part_of(whole, "usage:", "\nexamples");
        free(whole);
        snprintf(line, sizeof line, "\n    %s) switches='", command[c].name);
        char *switches = part_of(bash, line, "\n    esac");
        *strchr(switches + 1, '\n') = 0;
        snprintf(line, sizeof line, "\n.SS rehearse %s ", command[c].name);
        char *page = part_of(manual, line, "\n.SS ");
        const rh_key *key, *other;
        for (int i = 0; (key = rh_plan_key_at(i)) != NULL; i++) {
            bool wanted = false;
            char roff[64];
            size_t n = 0;
            if (!key->option)
                continue;
            for (int k = 0; (other = rh_plan_key_at(k)) != NULL; k++)
                wanted = wanted || (other->option && strcmp(other->option, key->option) == 0 &&
                                    (other->commands & command[c].bit));
            for (const char *at = key->option; *at; at++)
                n +=
                    (size_t)snprintf(roff + n, sizeof roff - n, *at == '-' ? "\\-" : "%c", *at);
            if (shows(help, " --", key->option, " \n") != wanted ||
                shows(switches, "--", key->option, " ") != wanted ||
                shows(page, "\\-\\-", roff, "\\") != wanted)
                fail_msg("%s: --%s is %s", command[c].name, key->option,
                         wanted ? "missing somewhere" : "there without being of it");
        }
        free(help);
        free(switches);
        free(page);
    }
    free(bash);
    free(manual);
}

// The reference of keys in docs/study-file.md is what the program prints.
static void docs_have_all_keys(void **unused)
{
    (void)unused;
    char *table = output_of("help study-file");
    char *page = contents(RH_TEST_DATA "/../../docs/study-file.md");
    if (!strstr(page, table))
        fail_msg("docs/study-file.md: run scripts/refresh-docs docs/study-file.md");
    free(table);
    free(page);
}

static void tells_its_version(void **unused)
{
    (void)unused;
    char *word = output_of("--version"), *letter = output_of("-V");
    char expected[64];
    snprintf(expected, sizeof expected, "rehearse %s\n", rh_version());
    assert_string_equal(word, expected);
    assert_string_equal(word, letter);
    free(word);
    free(letter);
}

// What is held wrong is refused with exit code 2, and the message leads on.
static void refuses(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"rum", "rehearse: no command 'rum'; did you mean 'run'?"},
        {"rum", "\ntry: rehearse help\n"},
        {"--verson", "did you mean '--version'?"},
        {"help rnu", "did you mean 'run'?"},
        {"run", "rehearse: run: which environment?\ntry: rehearse list envs\n"},
        {"run acrobt -a esarsa", "no environment 'acrobt'; did you mean 'acrobot'?"},
        {"run acrobot more -a esarsa", "unexpected argument 'more'"},
        {"run acrobot", "rehearse: run: which agent?\ntry: rehearse list agents\n"},
        {"run acrobot -a esara", "no agent 'esara'; did you mean 'esarsa'?"},
        {"run acrobot -a esarsa --stps 9", "no option '--stps'; did you mean '--steps'?"},
        {"run acrobot -a esarsa -z", "no option '-z'"},
        {"run acrobot -a esarsa --steps", "--steps needs a value: --steps N"},
        {"run acrobot -a esarsa --steps --json", "--steps needs a value"},
        {"run acrobot -a esarsa --json=1", "--json takes no value"},
        {"run acrobot -a esarsa --steps 0", "--steps = 0, expected a whole number, 1 to"},
        {"run acrobot -a esarsa --steps 1.5", "--steps = 1.5, expected a whole number"},
        {"run acrobot -a esarsa --steps=x", "--steps = x, expected a whole number"},
        {"run acrobot -a esarsa --seed -1", "--seed = -1, expected a whole number, 0 or more"},
        {"run acrobot -a esarsa -j 5000", "--jobs = 5000, expected a whole number, 1 to 4,096"},
        {"run acrobot -a esarsa --criterion averge", "did you mean 'average'?"},
        {"run acrobot -a esarsa --cutoff-as terminate", "--cutoff-as needs --cutoff"},
        {"run acrobot -a esarsa --set alpa=1", "no parameter 'alpa'; did you mean 'alpha'?"},
        {"run acrobot -a esarsa --set gravity=1", "try: --env-set gravity=1"},
        {"run acrobot -a esarsa --set alpha", "--set alpha, expected NAME=VALUE"},
        {"run acrobot -a esarsa --set alpha=", "--set alpha=, expected NAME=VALUE"},
        {"run acrobot -a esarsa --set alpha=1e9",
         "--set: alpha = 1e9, expected a number, 1e-08 to 100"},
        {"run acrobot -a esarsa --set alpha=1,2",
         "--set: alpha has several values, expected one value; `rehearse sweep` "
         "takes several"},
        {"run acrobot -a esarsa --set features=pair", "did you mean 'pairs'?"},
        {"run acrobot -a esarsa -s alpha=1 -s tau=1 -s alpha=2",
         "--set alpha is given twice: 'alpha=1' and 'alpha=2'"},
        {"run acrobot -a esarsa --env-set gravty=1", "did you mean 'gravity'?"},
        {"run acrobot -a esarsa --env-set gravity=1 --env-set gravity=2", "given twice"},
        {"run acrobot -a esarsa --range cos_teta1=0:1", "did you mean 'cos_theta1'?"},
        {"run acrobot -a esarsa --range cos_theta1=1:0", "with LO below HI"},
        {"run acrobot -a esarsa --range cos_theta1=1",
         "cos_theta1 = 1, expected LO:HI with LO below HI"},
        {"run acrobot -a esarsa --live --quiet", "--live and --quiet"},
        {"run acrobot -a esarsa --json --csv -", "both want standard output"},
        {"run pendulum -a esarsa", "esarsa: takes discrete actions only"},
        {"run pendulum -a esarsa", "\ntry: an agent that fits: "},
        {"run acrobot --load missing", "missing: cannot read"},
        {"sweep acrobot -a esarsa", "--grid NAME or --set"},
        {"sweep acrobot --set alpha=1", "sweep: which agent?"},
        {"sweep acrobot -a esarsa --grid papr", "did you mean 'paper'?"},
        {"sweep acrobot -a random --grid paper", "none was published"},
        {"sweep acrobot -a esarsa -s alpha=1,1", "--set: alpha: 1 is listed twice"},
        {"sweep acrobot -a esarsa -s alpha=1,x", "--set: alpha.values = x, expected a number"},
        {"sweep acrobot -a esarsa -s alpha=1,,2",
         "--set: alpha.values = nothing, expected a number"},
        {"sweep acrobot -a esarsa -s alpha=1 -s alpha=2", "given twice"},
        {"sweep acrobot -a esarsa -s tau=$(seq -s, 999) -s w_init=$(seq -s, 999)",
         "998,001 settings, expected at most 100,000"},
        {"list env", "did you mean 'envs'?"},
        {"list envs acrobt", "did you mean 'acrobot'?"},
        {"list grids acrobt", "did you mean 'acrobot'?"},
        {"list searches", "list: nothing called 'searches'"},
        {"list methods bays", "did you mean 'bayes'?"},
        {"list models knm", "did you mean 'knn'?"},
        {"list representations laplcian", "did you mean 'laplacian'?"},
        {"list envs acrobot more", "unexpected argument 'more'"},
        {"run acrobot -a esarsa --cutoff nevr", "expected auto, never, a number of steps"},
        {"run acrobot -a esarsa --cutoff 0", "expected auto, never, a number of steps"},
        {"run plant.model -a esarsa", "try: model:plant.model, for a model"},
        {"run model: -a esarsa", "run: model:, expected model:FILE"},
        {"run model:nowhere.model -a esarsa", "nowhere.model: cannot read: No such file"},
        {"run acrobot -a esarsa --pool worst", "are for models, but acrobot is a simulator"},
        {"run acrobot -a esarsa --member 0", "are for models, but acrobot is a simulator"},
        {"sweep acrobot -a esarsa --grid acrobt:paper", "did you mean 'acrobot'?"},
        {"sweep acrobot -a esarsa --grid cartpole:papr", "did you mean 'paper'?"},
        {"completion fisch", "did you mean 'fish'?"},
        {"manual tun", "did you mean 'tune'?"},
        {"manual tune more", "unexpected argument 'more'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        outcome o = rehearse(wrong[i].line);
        if (o.code != 2 || o.out[0])
            print_error("rehearse %s -> %d\n%s%s", wrong[i].line, o.code, o.out, o.err);
        assert_int_equal(o.code, 2);
        assert_string_equal(o.out, "");
        assert_true(strncmp(o.err, "rehearse: ", 10) == 0);
        assert_has(o.err, wrong[i].says);
        drop(&o);
    }
}

static void options_may_be_written_many_ways(void **unused)
{
    (void)unused;
    static const char *const same[] = {
        "run acrobot --agent esarsa --steps 300 --runs 2 --jobs 2 --quiet --csv -",
        "run acrobot --agent=esarsa --steps=300 --runs=2 --jobs=2 --quiet --csv=-",
        "run -aesarsa -n300 -r2 -qj2 --csv - acrobot",
        "run -a esarsa -n 3e2 -r 2 -qj 2 --csv - -- acrobot",
        "run acrobot -a random -a esarsa -n 9 -n 300 -r 2 -q --csv -", // the last one counts
    };
    char *first = output_of(same[0]);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++) {
        char *other = output_of(same[i]);
        assert_string_equal(first, other);
        free(other);
    }
    free(first);
}

static void lists(void **unused)
{
    (void)unused;
    char *all = output_of("list"), *envs = output_of("list envs");
    assert_has(all, "environments\n  acrobot ");
    assert_has(all, "\nagents\n");
    assert_has(all, "\ngrids, for --grid of sweep and tune\n  acrobot with esarsa: paper");
    assert_true(strncmp(all, envs, strlen(envs)) == 0);
    char *env = output_of("list envs acrobot"), *agent = output_of("list agents esarsa");
    assert_has(env, "cos_theta1");
    assert_has(env, "rehearse sweep acrobot --agent esarsa --grid paper\n");
    assert_has(agent, "alpha");
    assert_has(agent, "pairs, singles, joint");
    assert_has(agent, "1e-08 to 100           0.001 to 1, log");
    char *model = output_of("list models knn"), *seen = output_of("list representations");
    assert_has(envs, "  model:FILE ");
    assert_has(all, "\nmodels\n  knn ");
    assert_has(model, "reach_quantile");
    assert_has(seen, "  laplacian ");
    assert_has(seen, "  auto ");
    free(model);
    free(seen);
    seen = output_of("list representations laplacian");
    assert_has(seen, "acrobot-exp2: ");
    for (const char *line = seen; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
    free(seen);
    seen = output_of("list representations auto");
    assert_has(seen, "auto  ");
    free(seen);
    seen = output_of("list representations --json");
    assert_has(seen, "\"name\": \"auto\"");
    assert_has(seen, "\"name\": \"acrobot-exp2\"");
    free(seen);
    char *models = output_of("list models --json");
    assert_has(models, "\"name\": \"nn\"");
    assert_null(strstr(models, "laplacian"));
    free(models);
    char *methods = output_of("list methods");
    assert_has(methods, "methods\n  bayes ");
    assert_has(methods, "\n  grid ");
    free(methods);
    methods = output_of("list methods bayes");
    assert_has(methods, "parameters, for --method-set\n");
    assert_has(methods, "  kappa ");
    free(methods);
    methods = output_of("list methods cem --json");
    assert_has(methods, "\"name\": \"cem\"");
    assert_null(strstr(methods, "\"name\": \"bayes\""));
    free(methods);
    char *grids = output_of("list grids puddle_world");
    assert_has(grids, "rehearse sweep puddle_world --agent esarsa --grid paper\n");
    assert_null(strstr(grids, "acrobot"));
    free(grids);
    grids = output_of("list grids pendulum");
    assert_has(grids, "pendulum  no published grid\n");
    free(grids);
    grids = output_of("list grids cartpole --json");
    assert_has(grids, "\"env\": \"cartpole\", \"grid\": \"paper\"");
    assert_null(strstr(grids, "acrobot"));
    char *json = output_of("list envs acrobot --json");
    assert_has(json, "\"name\": \"acrobot\"");
    assert_null(strstr(json, "\"name\": \"cartpole\""));
    free(all);
    free(envs);
    free(env);
    free(agent);
    free(grids);
    free(json);
}

// A reader that goes away is no fault; a full disk is one.
static void standard_output_fails(void **unused)
{
    (void)unused;
    assert_int_equal(system(RH_PROGRAM " manual 2>err | head -1 >out"), 0);
    char *err = contents("err");
    assert_string_equal(err, "");
    free(err);
    outcome o = rehearse("list >/dev/full");
    assert_int_equal(o.code, 2);
    assert_has(o.err, "rehearse: cannot write to standard output: No space left");
    drop(&o);
}

// With a stack of 64 KB the libraries crash: it is enlarged, or said to be too small.
static void a_small_stack(void **unused)
{
    (void)unused;
    assert_int_equal(system("ulimit -S -s 64; exec " RH_PROGRAM " list >out 2>err"), 0);
    int status = system("ulimit -s 64; exec " RH_PROGRAM " list >out 2>err");
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
    char *err = contents("err");
    if (WEXITSTATUS(status))
        assert_has(err, "rehearse: a stack of 64 KB (ulimit -s), expected 256 KB or more");
    free(err);
}

// Names that turn the direction of text or colour it are not echoed as they are.
static void names_are_shown_safely(void **unused)
{
    (void)unused;
    static const char *const way[] = {"inspect 'a\xe2\x80\xae\x1b[1m.csv'",
                                      "run 'a\xe2\x80\xae\x1b[1m'",
                                      "'a\xe2\x80\xae\x1b[1m'",
                                      "list 'a\xe2\x80\xae\x1b[1m'",
                                      "inspect x --'a\xe2\x80\xae\x1b[1m'",
                                      "tune x.csv -s 'a\xe2\x80\xae\x1b[1m=1'"};
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        outcome o = rehearse(way[i]);
        assert_int_equal(o.code, 2);
        assert_null(strstr(o.err, "\xe2\x80\xae"));
        assert_null(strchr(o.err, '\x1b'));
        assert_string_equal(o.out, "");
        drop(&o);
    }
}

// Commands that cannot share their work refuse to be one of several processes.
static void one_of_several_processes(void **unused)
{
    (void)unused;
    static const char *const alone[] = {"run",     "sweep",   "fit",    "inspect",
                                        "convert", "collect", "deploy", NULL};
    char words[100];
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    for (int i = 0; alone[i]; i++) {
        outcome o = rehearse(alone[i]);
        snprintf(words, sizeof words, "rehearse: %s: started as one of 2 processes, ",
                 alone[i]);
        assert_int_equal(o.code, 2);
        assert_has(o.err, words);
        drop(&o);
    }
    setenv("OMPI_COMM_WORLD_RANK", "1", 1); // the other one is silent
    outcome o = rehearse("run acrobot");
    assert_int_equal(o.code, 2);
    assert_string_equal(o.err, "");
    drop(&o);

    // one process, although mpirun started it
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    o = rehearse("collect acrobot -p random -n 20 -q -o a.csv");
    assert_int_equal(o.code, 0);
    drop(&o);
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("OMPI_COMM_WORLD_RANK");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_several_processes),
        cmocka_unit_test(a_small_stack),
        cmocka_unit_test(names_are_shown_safely),
        cmocka_unit_test(helps_with_everything),
        cmocka_unit_test(tables_reach_everywhere),
        cmocka_unit_test(keys_reach_their_commands),
        cmocka_unit_test(docs_have_all_keys),
        cmocka_unit_test(tells_its_version),
        cmocka_unit_test(refuses),
        cmocka_unit_test(options_may_be_written_many_ways),
        cmocka_unit_test(lists),
        cmocka_unit_test(standard_output_fails),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
