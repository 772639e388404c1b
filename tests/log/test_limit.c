// test_limit.c - logs that would take too much memory.

#include "log/sample.h"

#include <zlib.h>

static void refused(const char *path, const rh_log_options *opt, rh_status status,
                    const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_log_read(&log, path, opt, &err), status);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    if (!strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
}

// A file of 30 KB unpacks to a log of 70 MB.
static void a_gzip_bomb(void **unused)
{
    (void)unused;
    enum { NOBS = 250, NROW = 34000 };
    const char *path = in_folder("bomb.csv.gz");
    gzFile file = gzopen(path, "wb9");
    assert_non_null(file);
    for (int i = 0; i < NOBS; i++)
        gzprintf(file, "s%d,", i);
    gzputs(file, "action,reward\n");
    static char row[2 * NOBS + 8];
    for (int i = 0; i < NOBS; i++)
        memcpy(row + 2 * (size_t)i, "0,", 2);
    memcpy(row + 2 * (size_t)NOBS, "0,0\n", 5);
    for (int i = 0; i < NROW; i++)
        gzputs(file, row);
    gzclose(file);
    assert_true(rh_log__file_size(path) < 64000);

    rh_log_options opt = rh_log_defaults();
    refused(path, &opt, RH_EFORMAT,
            "bytes hold a log of more than 64 MB, expected at most 500 times the file; "
            "--max-memory SIZE reads it nevertheless");
    opt.max_memory = 8 << 20;
    refused(path, &opt, RH_ENOMEM,
            "bomb.csv.gz: the log takes more than 8 MB of memory, expected at most that");
    opt.max_memory = 1 << 30;
    rh_log *log = NULL;
    rh_error err;
    if (rh_log_read(&log, path, &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, NOBS);
    rh_log_destroy(log);
    unlink(path);
}

// Arrays tell their size before they are read.
static void arrays(void **unused)
{
    (void)unused;
    rh_log *log = NULL;
    rh_error err;
    rh_log_options opt = rh_log_defaults();
    const char *path = in_folder("a.npz"), *table = in_folder("a.csv");
    FILE *file = fopen(table, "w");
    assert_non_null(file);
    fputs("s,action,reward\n", file);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%d,%d,1\n", i, i % 2);
    fclose(file);
    assert_int_equal(rh_log_read(&log, table, NULL, &err), RH_OK);
    assert_int_equal(rh_log_write(log, path, NULL, &err), RH_OK);
    rh_log_destroy(log);
    log = NULL;
    opt.max_memory = 20000; // a row takes 33 bytes or more
    refused(path, &opt, RH_ENOMEM, "a.npz: the log takes more than 0 MB of memory");
    refused(table, &opt, RH_ENOMEM, "a.csv: the log takes more than 0 MB of memory");
    opt.max_memory = 60000;
    assert_int_equal(rh_log_read(&log, path, &opt, &err), RH_OK);
    rh_log_destroy(log);
    unlink(path);
    unlink(table);
}

// One line with many keys makes every other line long.
static void json_lines(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    const char *path = in_folder("wide.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"action\": 0, \"reward\": 0", file);
    for (int i = 0; i < 2000; i++)
        fprintf(file, ", \"s%d\": 0", i);
    fputs("}\n", file);
    for (int i = 0; i < 1000; i++)
        fputs("{}\n", file);
    fclose(file);
    opt.max_memory = 1 << 20;
    refused(path, &opt, RH_ENOMEM, "wide.jsonl: the log takes more than 1 MB of memory");
    opt.max_memory = 0;
    refused(path, &opt, RH_EINVAL, "log: max_memory = 0, expected 1 byte or more");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gzip_bomb),
        cmocka_unit_test(arrays),
        cmocka_unit_test(json_lines),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
