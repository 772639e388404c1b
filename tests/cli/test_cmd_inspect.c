// test_cmd_inspect.c - rehearse inspect: its screen, its JSON and its exit codes.

#include "cli/program.h"

#include <math.h>
#include <stdbool.h>

#define ROLES                                                                                  \
    " --obs temp,level --action pump --reward -energy --terminal trip --episode shift "

// A small plant, clean but for what the tests put in: every cell of a column from `bad` on is
// replaced by `with`.
typedef struct fault {
    const char *column, *with;
    int from, until;
} fault;

static void write_plant(const char *path, int nsensor, fault f)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("shift,temp [degC],level,pump,energy,trip", out);
    for (int j = 2; j < nsensor; j++)
        fprintf(out, ",sensor_%d", j);
    fputc('\n', out);
    unsigned seed = 1;
    double temp = 20.0, level = 1.0;
    for (int i = 0; i < 1200; i++) {
        seed = seed * 1103515245u + 12345u;
        int a = (int)(seed >> 16) % 3;
        bool trip = i % 40 == 39 && i / 40 % 2;
        bool bad = i >= f.from && i < f.until;
        fprintf(out, "%d", i / 40);
        const char *name[] = {"temp", "level", "pump", "energy", "trip"};
        char cell[5][32];
        snprintf(cell[0], sizeof cell[0], "%.4f", temp);
        snprintf(cell[1], sizeof cell[1], "%.4f", level);
        snprintf(cell[2], sizeof cell[2], "%s", a == 0 ? "off" : a == 1 ? "low" : "high");
        snprintf(cell[3], sizeof cell[3], "%.3f", 0.5 * a + 0.01 * ((seed >> 20) % 16));
        snprintf(cell[4], sizeof cell[4], "%d", trip);
        for (int k = 0; k < 5; k++)
            fprintf(out, ",%s", bad && strcmp(f.column, name[k]) == 0 ? f.with : cell[k]);
        for (int j = 2; j < nsensor; j++)
            fprintf(out, ",%.4f", sin(i * 0.1 * j) + temp * 0.01 * j);
        fputc('\n', out);
        temp += 0.3 * (20.0 - temp) + 0.5 * (a - 1) + 0.01 * ((seed >> 8) % 64) - 0.3;
        level += 0.2 * (1.0 - level) + 0.003 * ((seed >> 4) % 32) - 0.05;
    }
    fclose(out);
}

static const fault none = {"", "", 0, 0};

static void prints_a_screen(void **unused)
{
    (void)unused;
    write_plant("plant.csv", 2, none);
    outcome o = rehearse("inspect plant.csv" ROLES);
    assert_int_equal(o.code, 0);
    assert_string_equal(o.err, "");
    assert_has(o.out, "log             plant.csv: ");
    assert_has(o.out, "  format        csv, ");
    assert_has(o.out, " steps in 30 episodes, 2 sensors, 3 actions\n");
    assert_has(o.out, "  reading       ");
    assert_has(o.out, "ends            15 terminal, 15 truncated");
    assert_has(o.out, "starts          30, 30 distinct");
    assert_has(o.out, "temp [degC]");
    assert_has(o.out, "nearest logged step, in median steps");
    assert_has(o.out, "\u2588"); // a full bar
    assert_has(o.out, "findings        0 errors, 0 warnings, 1 notice\n");
    assert_has(o.out, "lost-steps");
    assert_has(o.out, "\nmemory          the ");
    assert_null(strchr(o.out, '\033')); // no colour in a file
    drop(&o);

    setenv("LC_ALL", "C", 1);
    char *plain = output_of("inspect plant.csv" ROLES);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (const char *c = plain; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    free(plain);
}

// A wide log is cut to a screen, and --all is not.
static void fits_a_screen(void **unused)
{
    (void)unused;
    write_plant("wide.csv", 52, (fault){"temp", "-9999", 100, 120});
    const char *line = "inspect wide.csv --action pump --reward -energy --terminal trip "
                       "--episode shift";
    char all[300];
    snprintf(all, sizeof all, "%s --all", line);
    char *cut = output_of(line), *whole = output_of(all);
    int nline = 0, longest = 0, n = 0;
    for (const char *c = cut; *c; c++) {
        n += ((unsigned char)*c & 0xC0) != 0x80;
        if (*c == '\n') {
            longest = n > longest ? n : longest;
            nline++;
            n = 0;
        }
    }
    assert_true(nline <= 65);
    assert_true(longest <= 110);
    assert_has(cut, "... 40 more sensors, --all shows all\n");
    assert_null(strstr(cut, "sensor_50"));
    assert_has(whole, "sensor_50");
    assert_has(whole, "sentinel");
    free(cut);
    free(whole);
}

// Resets of a continuing log and the limits that explain them, here and by `fit`.
static void resets_and_limits(void **unused)
{
    (void)unused;
    free(output_of("collect cartpole -p random -n 2000 --episodes any -q -o cart.npz"));
    char *text = output_of("inspect cart.npz"), *json = output_of("inspect cart.npz --json");
    char *fit = output_of("fit cart.npz --model knn --repr raw --no-fidelity -o cart.model "
                          "--limit x=:2.4");
    char *off = output_of("fit cart.npz --model knn --repr raw --no-fidelity -o none.model "
                          "--resets none");
    assert_has(text, " resets: theta below -0.2");
    assert_has(text, "\nlimits ");
    assert_has(json, "\"sensor\": \"theta\", \"side\": \"below\"");
    assert_has(json, "\"exogenous\": false");
    assert_has(fit, "x above 2.4 (0), theta below -0.2");
    assert_has(fit, "given   never seen below");
    assert_null(strstr(off, "resets"));
    assert_null(strstr(off, "theta below"));
    free(text);
    free(json);
    free(fit);
    free(off);
}

static void prints_json(void **unused)
{
    (void)unused;
    write_plant("bad.csv", 2, (fault){"level", "-9999", 100, 110});
    char *json = output_of("inspect bad.csv --json" ROLES);
    assert_true(json[0] == '{');
    assert_has(json, "\"format\": \"csv\"");
    assert_has(json, "\"actions\": 3");
    assert_has(json, "\"severity\": \"notice\",\n      \"id\": \"sentinel-taken\"");
    assert_has(json, "\"sentinels\": 10");
    assert_has(json, "\"time\": null");
    assert_has(json, "\"sensor\": \"level\"");
    assert_null(strstr(json, "nan"));
    assert_null(strstr(json, "inf,"));
    int depth = 0;
    for (const char *c = json; *c; c++)
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
    assert_int_equal(depth, 0);
    free(json);

    // the options that are recommended help
    json = output_of("inspect bad.csv --json --missing=-9999" ROLES);
    assert_null(strstr(json, "\"id\": \"sentinel"));
    assert_has(json, "\"id\": \"missing\"");
    free(json);
    json = output_of("inspect bad.csv --json --sentinels keep" ROLES);
    assert_has(json, "\"severity\": \"notice\",\n      \"id\": \"sentinel\"");
    assert_has(json, "\"sentinel\": -9999, \"sentinel_count\": 10");
    free(json);
}

static void exit_codes(void **unused)
{
    (void)unused;
    write_plant("plant.csv", 2, none);
    write_plant("bad.csv", 2, (fault){"level", "-8888", 100, 110});
    const struct {
        const char *line;
        int code;
    } want[] = {
        {"inspect plant.csv --strict" ROLES, 0},
        {"inspect bad.csv" ROLES, 0},
        {"inspect bad.csv --strict" ROLES, 1},
        {"inspect bad.csv --strict --json" ROLES, 1},
        {"inspect bad.csv --strict --quiet" ROLES, 1},
        {"inspect nowhere.csv", 2},
        {"inspect", 2},
        {"inspect plant.csv bad.csv", 2},
        {"inspect plant.csv --json --quiet" ROLES, 2},
        {"inspect plant.csv --obs nothing", 2},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        outcome o = rehearse(want[i].line);
        if (o.code != want[i].code)
            fail_msg("rehearse %s: exit code %d, expected %d", want[i].line, o.code,
                     want[i].code);
        assert_true((o.err[0] != 0) == (o.code == 2));
        if (strstr(want[i].line, "--quiet"))
            assert_string_equal(o.out, "");
        drop(&o);
    }
}

// Logs of good policies: nothing is wrong with them. The acrobot's were accused of actions
// that are late, the mountain car's of copies, and the cartpole's of missed ends.
static void trusts_good_policies(void **unused)
{
    (void)unused;
    static const char *const log[] = {"acrobot -p near-optimal --seed 17",
                                      "mountain_car -p medium --seed 3",
                                      "cartpole -p medium --seed 2"};
    for (size_t i = 0; i < sizeof log / sizeof *log; i++) {
        char line[200];
        snprintf(line, sizeof line, "collect %s -n 5000 -q -o good.npz", log[i]);
        free(output_of(line));
        char *json = output_of("inspect good.npz --json");
        if (strstr(json, "\"severity\": \"warning\"") ||
            strstr(json, "\"severity\": \"error\""))
            fail_msg("%s: %s", log[i], strstr(json, "\"findings\""));
        free(json);
    }
}

// Times in milliseconds are neither dates nor seconds; numbers beyond all measure are shown.
static void shows_odd_numbers(void **unused)
{
    (void)unused;
    FILE *out = fopen("odd.csv", "w");
    assert_non_null(out);
    fputs("time,episode,obs_0,obs_1,action,reward\n", out);
    for (int i = 0; i < 300; i++)
        fprintf(out, "%lld,%d,%.3f,%s,%d,%.2f\n", 1700000000000LL + 60000LL * i, i / 30, sin(i),
                i * i % 3 ? "1.7e308" : "-1.7e308", i * i % 3, cos(i));
    fclose(out);
    char *text = output_of("inspect odd.csv");
    assert_has(text, "1700000000000 to ");
    assert_has(text, "every 60000;");
    assert_has(text, "-1.7e+308");
    free(text);
}

// Control characters in names are not printed.
static void shows_odd_names(void **unused)
{
    (void)unused;
    FILE *out = fopen("odd.csv", "w");
    assert_non_null(out);
    fputs("episode,obs_\033[2J\xc3\xa9t\xc3\xa9 with a very long name indeed,action,reward\n",
          out);
    for (int i = 0; i < 300; i++)
        fprintf(out, "%d,%.3f,%d,%.2f\n", i / 30, sin(i), i * i % 3, cos(i));
    fclose(out);
    char *text = output_of("inspect odd.csv --obs 'obs_*' --all");
    assert_null(strchr(text, '\033'));
    assert_has(text, "..");
    free(text);
}

// Valid JSON without a key twice, by Python's parser; passes where there is no Python.
static bool is_json(const char *path)
{
    char command[512];
    snprintf(command, sizeof command,
             "command -v python3 >/dev/null || exit 0\n"
             "python3 - %s <<'END'\n"
             "import json, sys\n"
             "def once(pairs):\n"
             "    assert len({k for k, v in pairs}) == len(pairs), [k for k, v in pairs]\n"
             "json.loads(open(sys.argv[1], 'rb').read().decode(), object_pairs_hook=once)\n"
             "END\n",
             path);
    return system(command) == 0;
}

// A Latin-1 file with a Latin-1 name, from inspect to tune.
static void writes_json_of_other_encodings(void **unused)
{
    (void)unused;
    FILE *out = fopen("caf\xe9.csv", "w");
    assert_non_null(out);
    fputs("episode,temp\xe9rature,action,reward\n", out);
    for (int i = 0; i < 300; i++)
        fprintf(out, "%d,%.3f,%s,%.2f\n", i / 30, sin(i), i * i % 3 ? "h\xf6her" : "aus",
                cos(i));
    fclose(out);
    static const char *const line[] = {
        "inspect caf\xe9.csv --json",
        "fit caf\xe9.csv --repr raw --json",
        "run model:caf\xe9.model -a esarsa -n 60 -r 2 --json",
        "sweep model:caf\xe9.model -a esarsa -s alpha=0.1,0.2 -n 60 -r 2 --json",
        "tune caf\xe9.csv --repr raw -n 60 -r 2 --method random -t 3 --no-confirm --json",
        "list --json",
    };
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        char *json = output_of(line[i]);
        if (i < 2) // these name the sensors
            assert_has(json, "temp\xc3\xa9rature");
        assert_true(is_json("out"));
        free(json);
    }
    char *text = output_of("inspect caf\xe9.csv");
    assert_has(text, "log             caf?.csv: ");
    assert_has(text, "  temp\xc3\xa9rature ");
    assert_has(text, "the text is Latin-1");
    free(text);
    free(output_of("inspect caf\xe9.csv --obs temp\xc3\xa9rature --json"));
}

static void helps(void **unused)
{
    (void)unused;
    char *help = output_of("inspect --help");
    assert_has(help, "rehearse inspect plant.csv --missing=-9999 --max-gap 1h");
    assert_has(help, "--strict");
    assert_has(help, "--reward-of");
    free(help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_a_screen),
        cmocka_unit_test(fits_a_screen),
        cmocka_unit_test(resets_and_limits),
        cmocka_unit_test(prints_json),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(shows_odd_names),
        cmocka_unit_test(helps),
        cmocka_unit_test(trusts_good_policies),
        cmocka_unit_test(shows_odd_numbers),
        cmocka_unit_test(writes_json_of_other_encodings),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
