// test_registry.c - detecting formats, and messages for files that are no logs.

#include "base/base_internal.h"
#include "log/log_internal.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *file_of(const char *name, const void *bytes, size_t n)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void is_refused(const char *path, rh_status status, const char *words)
{
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(rh_log_read(&log, path, NULL, &err), status);
    assert_null(log);
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
    if (!strstr(err.text, words))
        print_error("%s\n", err.text);
    assert_non_null(strstr(err.text, words));
    assert_null(strchr(err.text, '\n'));
}

static void no_log(void **unused)
{
    (void)unused;
    is_refused(in_folder("none.csv"), RH_EIO, ": cannot read: No such file or directory");
    is_refused("/dev/null", RH_EIO, ": it is a device, pipe or socket, expected a file");
    is_refused(folder, RH_EFORMAT, ": it is a directory without a Minari dataset");
    is_refused(file_of("empty.csv", "", 0), RH_EFORMAT, ": the file is empty");
    const char *path = file_of("secret.csv", "a,b\n", 4);
    chmod(path, 0);
    if (access(path, R_OK) != 0) // root may read anything
        is_refused(path, RH_EIO, ": cannot read: Permission denied");
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    is_refused(in_folder("pipe"), RH_EIO, ": it is a device, pipe or socket");
}

static void known_strangers(void **unused)
{
    (void)unused;
    is_refused(file_of("a.parquet", "PAR1....", 8), RH_EFORMAT, ": it is a Parquet file");
    is_refused(file_of("a.pkl", "\x80\x05\x95", 3), RH_EFORMAT, ": it is a Python pickle");
    is_refused(file_of("a.npy", "\x93NUMPY\1\0", 8), RH_EFORMAT,
               ": it is a single NumPy array");
    is_refused(file_of("a.csv.xz",
                       "\xfd"
                       "7zXZ\0",
                       6),
               RH_EFORMAT, ": it is an xz file");
    is_refused(file_of("b.csv", "PAR1", 4), RH_EFORMAT, "docs/logs.md shows how");
}

static void options_are_checked(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log *log = NULL;
    rh_log_options opt = rh_log_defaults();
    opt.format = "minary";
    assert_int_equal(rh_log_read(&log, "x", &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "no log format to read 'minary'; did you mean 'minari'?"));
    opt = rh_log_defaults();
    opt.max_gap = 0.0;
    assert_int_equal(rh_log_read(&log, "x", &opt, &err), RH_EINVAL);
    assert_string_equal(err.text, "log: max_gap = 0, expected a time above 0");
    opt = rh_log_defaults();
    opt.episode_steps = 0;
    assert_int_equal(rh_log_read(&log, "x", &opt, &err), RH_EINVAL);
    assert_string_equal(err.text, "log: episode_steps = 0, expected 1 or more");
    opt = rh_log_defaults();
    opt.cookie = 0;
    assert_int_equal(rh_log_read(&log, "x", &opt, &err), RH_EINVAL);
    assert_string_equal(err.text, "log: options must start from rh_log_defaults()");
    assert_null(rh_log_format_at(-1));
    assert_null(rh_recipe_at(rh_recipe_count()));
}

static void writing_by_name(void **unused)
{
    (void)unused;
    rh_error err;
    assert_int_equal(rh_log_write(NULL, "plant.xls", NULL, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "plant.xls: cannot tell the format from the name"));
    assert_int_equal(rh_log_write(NULL, "plant", "d4rl", &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "no log format to write 'd4rl'"));
}

static void reads_durations(void **unused)
{
    (void)unused;
    double x = 0.0;
    assert_true(rh_log_duration("90", &x) && x == 90.0);
    assert_true(rh_log_duration("1.5m", &x) && x == 90.0);
    assert_true(rh_log_duration("2h", &x) && x == 7200.0);
    assert_true(rh_log_duration("1d", &x) && x == 86400.0);
    static const char *const bad[] = {"", "m", "0", "-5m", "15x", "1 h", "1e999", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rh_log_duration(bad[i], &x));
}

static void splits_lists(void **unused)
{
    (void)unused;
    char **word = NULL;
    int n = 0;
    assert_int_equal(rh_log__split(" temp ,level\t,, flow rate", &word, &n, NULL), RH_OK);
    assert_int_equal(n, 3);
    assert_string_equal(word[0], "temp");
    assert_string_equal(word[1], "level");
    assert_string_equal(word[2], "flow rate");
    rh_free(word);
    assert_int_equal(rh_log__split("", &word, &n, NULL), RH_OK);
    assert_int_equal(n, 0);
    rh_free(word);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_log__split("a", &word, &n, NULL), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
}

static void matches_patterns(void **unused)
{
    (void)unused;
    assert_true(rh_log__matches("temp", "temp"));
    assert_false(rh_log__matches("temp", "temp2"));
    assert_false(rh_log__matches("temp2", "temp"));
    assert_true(rh_log__matches("temp*", "temp"));
    assert_true(rh_log__matches("*", ""));
    assert_true(rh_log__matches("*_obs_*", "next_obs_obs_7"));
    assert_false(rh_log__matches("*_obs_*", "next_ob"));
    assert_true(rh_log__matches("a*b*c", "a-bb-bc"));
    assert_false(rh_log__matches("a*b*c", "a-bb-bd"));
}

static int enter(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/rehearse-registry-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_log),
        cmocka_unit_test(known_strangers),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(writing_by_name),
        cmocka_unit_test(reads_durations),
        cmocka_unit_test(splits_lists),
        cmocka_unit_test(matches_patterns),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
