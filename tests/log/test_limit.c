// test_limit.c - logs that would take too much memory.

#include "base/text.h"
#include "log/sample.h"
#include "log/spool.h"

#include <sys/resource.h>
#include <zip.h>
#include <zlib.h>

static void refused(const char *path, const rh_log_options *opt, rh_status status,
                    const char *message)
{
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    if (rh_log_read(&log, path, opt, &err) != status)
        fail_msg("'%s', expected '%s'", err.text, message);
    assert_null(log);
    assert_int_equal(rh_base__alloc_live(), live);
    if (!strstr(err.text, message))
        fail_msg("'%s' does not say '%s'", err.text, message);
}

// Two values of a tag with 54 years between them would be 171 million rows, whose times
// alone take 1.4 GB. The first test, since no other has taken so much.
static void far_apart(void **unused)
{
    (void)unused;
    const char *path = in_folder("far.csv");
    rh_log_options opt = rh_log_defaults();
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("time,tag,value\n", file);
    for (int i = 0; i < 4; i++)
        fprintf(file, "%d,temp,2%d\n%d,action,%d\n%d,reward,1\n", i < 3 ? 10 * i : 1710000000,
                i, i < 3 ? 10 * i : 1710000000, i % 2, i < 3 ? 10 * i : 1710000000);
    fclose(file);
    opt.pivot = "tag,value";
    opt.every = 10.0;
    refused(path, &opt, RH_EFORMAT,
            "bytes hold a log of more than 128 MB, expected at most 100");
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_true(used.ru_maxrss < 1 << 20); // kB
    unlink(path);
}

// A gzipped table of nrow rows of nobs zeros. noise: each row begins with random digits.
static void zeros(const char *path, int nobs, int nrow, bool noise)
{
    gzFile file = gzopen(path, "wb9");
    char *row = malloc(2 * (size_t)nobs + 8);
    assert_true(file && row);
    uint32_t state = 1;
    if (noise)
        gzputs(file, "noise,");
    for (int i = 0; i < nobs; i++)
        gzprintf(file, "s%d,", i);
    gzputs(file, "action,reward\n");
    for (int i = 0; i < nobs; i++)
        memcpy(row + 2 * (size_t)i, "0,", 2);
    memcpy(row + 2 * (size_t)nobs, "0,0\n", 5);
    for (int i = 0; i < nrow; i++) {
        state = state * 1664525U + 1013904223U;
        if (noise)
            gzprintf(file, "%04u,", (unsigned)(state >> 15) % 10000U);
        gzputs(file, row);
    }
    free(row);
    assert_int_equal(gzclose(file), Z_OK);
}

// A file of 70 KB unpacks to a log of 140 MB.
static void a_gzip_bomb(void **unused)
{
    (void)unused;
    enum { NOBS = 250, NROW = 69000 };
    const char *path = in_folder("bomb.csv.gz");
    zeros(path, NOBS, NROW, false);
    assert_true(rh_log__file_size(path) < 128000);

    rh_log_options opt = rh_log_defaults();
    refused(path, &opt, RH_EFORMAT,
            "bytes hold a log of more than 128 MB, expected at most 100 times the file; "
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

// Text that is packed a little less than 100 to 1 is no bomb as a text, but is as a log.
static void a_gzip_below_the_ratio(void **unused)
{
    (void)unused;
    enum { NOBS = 250, NROW = 140000 };
    const char *path = in_folder("below.csv.gz");
    zeros(path, NOBS, NROW, true);
    int64_t size = rh_log__file_size(path), text = (int64_t)NROW * (5 + 2 * NOBS + 4);
    assert_true(text > (INT64_C(64) << 20));
    assert_in_range(text / size, 80, 99);
    rh_log_options opt = rh_log_defaults();
    refused(path, &opt, RH_EFORMAT, "bytes hold a log of more than 128 MB, expected at most");
    unlink(path);
}

// An array of zeros in an NPZ file.
static void add_zeros(zip_t *zip, const char *name, const char *type, int size,
                      const char *shape, int64_t count)
{
    size_t n = 128 + (size_t)count * (size_t)size;
    unsigned char *bytes = calloc(n, 1);
    assert_non_null(bytes);
    memcpy(bytes, "\x93NUMPY\1\0v", 10); // v: 118 bytes of text
    int length =
        snprintf((char *)bytes + 10, 118,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    memset(bytes + 10 + length, ' ', 117 - (size_t)length);
    bytes[127] = '\n';
    zip_source_t *source = zip_source_buffer(zip, bytes, n, 1);
    assert_non_null(source);
    assert_true(zip_file_add(zip, name, source, 0) >= 0);
}

// A million rows of 20 sensors in 100 KB; it is refused before a row is read.
static void an_npz_bomb(void **unused)
{
    (void)unused;
    const char *path = in_folder("bomb.npz");
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    add_zeros(zip, "observations.npy", "<f4", 4, "(1000000, 20)", 20000000);
    add_zeros(zip, "actions.npy", "<i4", 4, "(1000000,)", 1000000);
    add_zeros(zip, "rewards.npy", "<f4", 4, "(1000000,)", 1000000);
    add_zeros(zip, "terminals.npy", "|b1", 1, "(1000000,)", 1000000);
    assert_int_equal(zip_close(zip), 0);
    assert_true(rh_log__file_size(path) < 200000);
    rh_log_options opt = rh_log_defaults();
    refused(path, &opt, RH_EFORMAT, "bytes hold a log of more than 128 MB, expected at most");
    opt.max_memory = (int64_t)1 << 30;
    rh_log *log = NULL;
    rh_error err;
    if (rh_log_read(&log, path, &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(log->nobs, 20);
    rh_log_destroy(log);
    unlink(path);
}

// A table that is packed in a zip counts with the size of the zip.
static void a_zip_bomb(void **unused)
{
    (void)unused;
    enum { NOBS = 250, NROW = 69000 };
    if (!rh_spool__unpacks())
        skip(); // built without libarchive
    const char *path = in_folder("bomb.zip");
    rh_text text = {0};
    for (int i = 0; i < NOBS; i++)
        rh_text__format(&text, "s%d,", i);
    rh_text__add(&text, "action,reward\n");
    for (int row = 0; row < NROW; row++)
        for (int i = 0; i < NOBS + 2; i++)
            rh_text__add(&text, i <= NOBS ? "0," : "0\n");
    assert_false(text.bad);
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    zip_source_t *source = zip_source_buffer(zip, text.data, text.n, 0);
    assert_true(source && zip_file_add(zip, "bomb.csv", source, 0) >= 0);
    assert_int_equal(zip_close(zip), 0);
    rh_text__clear(&text);
    refused(path, NULL, RH_ENOMEM, "bomb.zip: the log takes more than 128 MB of memory");
    unlink(path);
}

// Memory and time grow with the file, unless the caller says how much.
static void limits(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log_options opt = rh_log_defaults();
    rh_log__limit small = rh_log__limit_of(&opt, 1000), four = rh_log__limit_of(&opt, 4 << 20);
    assert_true(small.most <= 128 << 20 && four.most <= 400 << 20);
    assert_true(small.seconds == 30.0 && four.seconds == 38.0);
    assert_int_equal(rh_log__within(&four, 1000, "a.csv.gz", &err), RH_OK);
    assert_true(rh_log__limit_of(&opt, -1).until == INFINITY);
    opt.max_memory = 1000;
    assert_true(rh_log__limit_of(&opt, 4 << 20).until == INFINITY);

    // rows that arrive after the time
    rh_log_builder *b = NULL;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .format = "test", .path = "a.csv.gz"};
    double x = 0.0, act = 0.0;
    rh_log_row row = {.obs = &x, .act = &act, .line = 1};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    four.until = 0.0;
    rh_log__set_limit(b, four);
    assert_int_equal(rh_log_push(b, &row, &err), RH_EFORMAT);
    assert_string_equal(err.text,
                        "a.csv.gz: reading it takes more than 38 s of processor time, "
                        "expected at most that for a file of its size; --max-memory "
                        "SIZE reads it nevertheless");
    rh_log_builder_destroy(b);
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
        cmocka_unit_test(far_apart),
        cmocka_unit_test(a_gzip_bomb),
        cmocka_unit_test(a_gzip_below_the_ratio),
        cmocka_unit_test(an_npz_bomb),
        cmocka_unit_test(a_zip_bomb),
        cmocka_unit_test(limits),
        cmocka_unit_test(arrays),
        cmocka_unit_test(json_lines),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
