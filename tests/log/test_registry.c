// test_registry.c - detecting formats, and messages for files that are no logs.

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "log/log.h"
#include "log/log_internal.h"
#include "log/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
    is_refused("/dev/null", RH_EIO, ": it is a device or socket, expected a file or a pipe");
    is_refused(folder, RH_EFORMAT, ": it is a directory without a Minari dataset");
    is_refused(file_of("empty.csv", "", 0), RH_EFORMAT, ": the file is empty");
    const char *path = file_of("secret.csv", "a,b\n", 4);
    chmod(path, 0);
    if (access(path, R_OK) != 0) // root may read anything
        is_refused(path, RH_EIO, ": cannot read: Permission denied");
}

static void known_strangers(void **unused)
{
    (void)unused;
    is_refused(file_of("a.parquet", "PAR1....", 8), RH_EFORMAT, ": it is a Parquet file");
    is_refused(file_of("a.pkl", "\x80\x05\x95", 3), RH_EFORMAT, ": it is a Python pickle");
    is_refused(file_of("a.npy", "\x93NUMPY\1\0", 8), RH_EFORMAT,
               ": it is a single NumPy array");
    is_refused(
        file_of("b.csv", "PAR1", 4), RH_EFORMAT,
        ": it is a Parquet file, expected CSV, HDF5 or NPZ; the Python package reads it: "
        "rehearse.read(), see docs/python.md");
    is_refused(file_of("b.arrow", "ARROW1\0\0", 8), RH_EFORMAT,
               "it is an Arrow file, expected CSV, HDF5 or NPZ; the Python package reads it: ");

    // packed files; without libarchive the message names the program that unpacks them
    bool unpacks = rh_spool__unpacks();
    char command[400];
    snprintf(command, sizeof command, "; unpack it: zstd -dc %s | rehearse inspect -",
             in_folder("a.zst"));
    is_refused(file_of("a.csv.xz",
                       "\xfd"
                       "7zXZ\0",
                       6),
               RH_EFORMAT, unpacks ? ": cannot unpack it: " : ": it is an xz file");
    is_refused(file_of("a.zst", "\x28\xb5\x2f\xfd", 4), RH_EFORMAT,
               unpacks ? ": cannot unpack it: " : command);
    is_refused(file_of("a.bz2", "BZh9", 4), RH_EFORMAT, // too short for libarchive
               "it is a bzip2 file, expected CSV, HDF5 or NPZ; unpack it: bzip2 -dc /");
}

// A named pipe: a child writes the bytes, slowly.
static rh_status read_pipe(const void *bytes, size_t n, rh_log **log, rh_error *err)
{
    const char *path = in_folder("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(path, "w");
        for (size_t i = 0; file && i < n; i++)
            if (fputc(((const unsigned char *)bytes)[i], file) == EOF || fflush(file) != 0)
                _exit(1);
        _exit(file ? fclose(file) != 0 : 1);
    }
    assert_true(child > 0);
    rh_status rc = rh_log_read(log, path, NULL, err);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    unlink(path);
    return rc;
}

static void pipes_are_read(void **unused)
{
    (void)unused;
    static const char text[] = "temp,action,reward\n1.5,0,0\n2.5,1,0\n3,0,0\n";
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(read_pipe(text, sizeof text - 1, &log, &err), RH_OK);
    assert_int_equal(log->n, 2);
    assert_true(log->obs[1] == 2.5);
    rh_log_destroy(log);
    log = NULL;
    assert_int_equal(read_pipe("", 0, &log, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "pipe: empty, expected a log"));
    assert_int_equal(read_pipe("PK\3\4\0\0", 6, &log, &err), RH_EFORMAT);
    assert_non_null(
        strstr(err.text, "pipe: not text, expected CSV; save HDF5 and NPZ as a file"));
    assert_int_equal(read_pipe("BZh9", 4, &log, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "it is a bzip2 file"));
    assert_null(log);
}

// As a child whose standard input is the file.
static void standard_input(void **unused)
{
    (void)unused;
    static const char text[] = "temp,action,reward\n1.5,0,0\n2.5,1,0\n3,0,0\n";
    const char *path = file_of("input.csv", text, sizeof text - 1);
    int before = dup(STDIN_FILENO), file = open(path, O_RDONLY);
    rh_log *log = NULL;
    rh_error err = {""};
    assert_true(before >= 0);
    assert_true(file >= 0);
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    rh_status rc = rh_log_read(&log, "-", NULL, &err);
    dup2(before, STDIN_FILENO);
    close(before);
    close(file);
    assert_int_equal(rc, RH_OK);
    assert_string_equal(log->path, "standard input");
    assert_true(log->obs[1] == 2.5);
    rh_log_destroy(log);
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
    assert_null(rh_log__format_at(-1));
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
    assert_true(rh_log__duration("90", &x));
    assert_true(x == 90.0);
    assert_true(rh_log__duration("1.5m", &x));
    assert_true(x == 90.0);
    assert_true(rh_log__duration("2h", &x));
    assert_true(x == 7200.0);
    assert_true(rh_log__duration("1d", &x));
    assert_true(x == 86400.0);
    static const char *const bad[] = {"", "m", "0", "-5m", "15x", "1 h", "1e999", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rh_log__duration(bad[i], &x));
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
    return folder_in_memory(folder, "registry") ? 0 : -1;
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
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(writing_by_name),
        cmocka_unit_test(reads_durations),
        cmocka_unit_test(splits_lists),
        cmocka_unit_test(matches_patterns),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
