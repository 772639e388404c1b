// test_narrow.c - the output of every command fits a terminal of 60 columns.

#include "program.h"
#include "rehearse/rehearse.h"

#define WIDTH 60

// Columns of a line of UTF-8.
static int columns_of(const char *line, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)line[i] & 0xC0) != 0x80;
    return columns;
}

// Commands to paste and YAML to save cannot be broken; nor can a name alone on its line.
static bool may_be_long(const char *line, size_t n)
{
    char text[400];
    snprintf(text, sizeof text, "%.*s", (int)(n < 399 ? n : 399), line);
    char *word = text + strspn(text, " ");
    return strstr(text, "rehearse ") || strstr(text, " --agent ") ||
           strstr(text, "{distribution: ") || strcspn(word, " ") == strlen(word);
}

static void fits(const char *line)
{
    outcome o = rehearse(line);
    if (o.code > 1)
        fail_msg("rehearse %s: exit %d\n%s", line, o.code, o.err);
    assert_true(*o.out);
    for (const char *at = o.out, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        size_t n = (size_t)(end - at);
        if (at[strspn(at, " ")] == '%')
            fail_msg("rehearse %s: a line begins with '%%': %.*s", line, (int)n, at);
        if (columns_of(at, n) > WIDTH && !may_be_long(at, n))
            fail_msg("rehearse %s: %d columns: %.*s", line, columns_of(at, n), (int)n, at);
    }
    drop(&o);
}

static void help_and_lists(void **unused)
{
    (void)unused;
    static const char *const command[] = {"collect", "completion", "convert", "deploy",
                                          "fit",     "help",       "inspect", "list",
                                          "run",     "sweep",      "tune"};
    static const char *const topic[] = {"envs",    "agents", "models", "representations",
                                        "methods", "grids"};
    char line[200];
    fits("--help");
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
        snprintf(line, sizeof line, "%s --help", command[i]);
        fits(line);
    }
    fits("list");
    for (size_t i = 0; i < sizeof topic / sizeof *topic; i++) {
        snprintf(line, sizeof line, "list %s", topic[i]);
        fits(line);
    }
    for (int i = 0; i < rh_agent_ntype(); i++) {
        snprintf(line, sizeof line, "list agents %s", rh_agent_type_at(i)->name);
        fits(line);
    }
    for (int i = 0; i < rh_env_ntype(); i++) {
        snprintf(line, sizeof line, "list envs %s", rh_env_type_at(i)->name);
        fits(line);
        snprintf(line, sizeof line, "list grids %s", rh_env_type_at(i)->name);
        fits(line);
    }
    for (int i = 0; i < rh_model_ntype(); i++) {
        snprintf(line, sizeof line, "list models %s", rh_model_type_at(i)->name);
        fits(line);
    }
    for (int i = 0; i < rh_repr_ntype(); i++) {
        snprintf(line, sizeof line, "list representations %s", rh_repr_type_at(i)->name);
        fits(line);
    }
    for (int i = 0; i < rh_search_ntype(); i++) {
        snprintf(line, sizeof line, "list methods %s", rh_search_type_at(i)->name);
        fits(line);
    }
}

#define PLANT                                                                                  \
    "plant.csv --action pump --reward '-energy - 50*trip' --terminal trip --episode shift "    \
    "--missing -9999 "
#define KNN "--model knn --repr raw "
#define SMALL "--runs 2 --steps 200 --confirm 1 --confirm-members 1 --confirm-runs 2 "

static void a_plant(void **unused)
{
    (void)unused;
    assert_int_equal(system("cp " RH_TEST_DATA "/../../examples/plant.csv ."), 0);
    fits("inspect " PLANT);
    fits("inspect --all " PLANT "--stack 2");
    fits("convert plant.csv plant.npz --action pump --reward -energy");
    fits("fit " PLANT KNN "-o p.model");
    fits("run model:p.model -a esarsa -r 3 -n 300");
    fits("run model:p.model -a actor_critic -r 1 -n 300");
    fits("sweep model:p.model -a esarsa -s alpha=0.01,0.1 -s lambda=0,0.5 -r 2 -n 200");
    fits("tune " PLANT KNN SMALL "--trials 5 --method random -o p.study");
    fits("tune " PLANT KNN SMALL "-s alpha=0.1,0.2 -o q.study");
    fits("tune " PLANT KNN "--dry-run");
    assert_int_equal(system("echo '{\"obs\":[40,2]}' | " RH_PROGRAM
                            " deploy p.study/best.yaml -o p.deploy >/dev/null 2>&1"),
                     0);
    fits("deploy --status p.deploy");
}

static void simulators(void **unused)
{
    (void)unused;
    fits("collect pendulum -p random -n 300 -o pendulum.csv");
    fits("collect acrobot -p random -n 300 --logs 3 -o 'a-%02d.csv'");
    fits("inspect pendulum.csv");
    fits("fit pendulum.csv " KNN "-o pendulum.model");
    fits("fit a-01.csv --members 2 --accept reward-constant " KNN "-o a.model"); // no end
    fits("run cartpole -a esarsa -r 2 -n 300");
    fits("run model:a.model -a esarsa -r 2 -n 300");
    fits("sweep cartpole -a esarsa -s alpha=0.01,0.1 -r 2 -n 300");
}

static int narrow(void **state)
{
    int rc = enter_folder(state);
    setenv("COLUMNS", "60", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_and_lists),
        cmocka_unit_test(a_plant),
        cmocka_unit_test(simulators),
    };
    return cmocka_run_group_tests(tests, narrow, leave_folder);
}
