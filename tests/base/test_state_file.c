// test_state_file.c - learned states survive a file bit for bit; other files are refused by
// name, and a write that fails leaves the old file alone.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "base/in_memory.h"
#include "base/state.h"
#include "base/state_sample.h"

// ---------------------------------------------------------------------------- a folder

static char folder[64];

static int make_folder(void **unused)
{
    (void)unused;
    return folder_in_memory(folder, "state") ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder); // fails when a test left something behind
}

// A path in the folder; the answer is overwritten by the next call.
static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// ---------------------------------------------------------------------------- written and read

static void round_trip(void **unused)
{
    (void)unused;
    rh_error err;
    rh_state *state = sample(), *back = NULL;
    const char *path = in_folder("agent.state");
    assert_int_equal(rh_state_write(state, path, &err), RH_OK);
    assert_int_equal(rh_state_read(&back, path, &err), RH_OK);
    check_sample(back);
    rh_state_destroy(back);

    // over an existing file, and without any array
    rh_state *empty = NULL;
    assert_int_equal(rh_state__create(&empty, NULL), RH_OK);
    assert_int_equal(rh_state_write(empty, path, &err), RH_OK);
    assert_int_equal(rh_state_read(&back, path, &err), RH_OK);
    assert_string_equal(rh_state__label(back), "");
    rh_state_destroy(back);
    unlink(path);

    // a path without a folder
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(rh_state_write(state, "plain", &err), RH_OK);
    assert_int_equal(unlink("plain"), 0);
    assert_int_equal(chdir("/"), 0);
    rh_state_destroy(empty);
    rh_state_destroy(state);
}

// Made by tests/reference/base_state.py.
static void layout_is_the_documented_one(void **unused)
{
    (void)unused;
    static const double weights[] = {1.0, -0.0, 5e-324, INFINITY, -1.5e300};
    rh_state *state = NULL;
    assert_int_equal(rh_state_read(&state, RH_TEST_DATA "/base_state.state", NULL), RH_OK);
    assert_string_equal(rh_state__label(state), "esarsa");
    double x[5];
    assert_int_equal(rh_state_get(state, "weights", x, 5, NULL), RH_OK);
    assert_memory_equal(x, weights, sizeof x);
    assert_int_equal(rh_state_get(state, "empty", x, 0, NULL), RH_OK);
    assert_int_equal(rh_state_get(state, "step", x, 1, NULL), RH_OK);
    assert_true(x[0] == 0.1);
    const struct {
        const char *name;
        rh_state__type type;
        const void *x;
        size_t n;
    } typed[] = {
        {"group/short", RH_STATE_F32, (const float[]){1.5f, INFINITY, -0.0f}, 3},
        {"group/long", RH_STATE_I64, (const int64_t[]){INT64_MIN, INT64_MAX}, 2},
        {"group/whole", RH_STATE_I32, (const int32_t[]){INT32_MIN, 0, INT32_MAX}, 3},
        {"bytes", RH_STATE_U8, (const uint8_t[]){0, 1, 255}, 3},
        {"texts", RH_STATE_TEXT, "plant \u00b0C\0\0three", 17},
    };
    for (size_t i = 0; i < LENGTH(typed); i++) {
        const rh_state__array *a = rh_state__find(state, typed[i].name);
        assert_int_equal(a->type, typed[i].type);
        assert_int_equal(a->n, typed[i].n);
        assert_memory_equal(a->x, typed[i].x, a->n * rh_state__width(a->type));
    }

    // and the same bytes come out again
    const char *path = in_folder("again");
    assert_int_equal(rh_state_write(state, path, NULL), RH_OK);
    unsigned char bytes[2][1000];
    size_t n[2];
    const char *name[2] = {RH_TEST_DATA "/base_state.state", path};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(name[i], "rb");
        n[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        fclose(file);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    unlink(path);
    rh_state_destroy(state);
}

// ---------------------------------------------------------------------------- other files

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

// Reading must fail with this status and a message with the file's name and these words.
static void refuses(const char *path, rh_status status, const char *words)
{
    rh_error err;
    rh_state *state = NULL;
    int64_t live = rh_base__alloc_live();
    rh_status rc = rh_state_read(&state, path, &err);
    assert_null(state);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(rc, status);
    assert_ptr_equal(strstr(err.text, path), err.text);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_int_equal(rh_state_read(&state, path, NULL), status);
}

static void other_files(void **unused)
{
    (void)unused;
    const char *path = in_folder("other");
    refuses(path, RH_EIO, "cannot read: No such file or directory");
    refuses(folder, RH_EIO, "cannot read: it is a directory, expected a state file");
    refuses("/dev/null", RH_EIO, "cannot read: it is a device, pipe or socket");

    write_file(path, "", 0);
    refuses(path, RH_EFORMAT, "truncated: 0 bytes, expected 52 or more");
    write_file(path, "s1,s2,a,r\n0.1,0.2,1,-1\n", 23);
    refuses(path, RH_EFORMAT,
            "not a state file: it begins with 73 31 2c 73 32 2c 61 2c, expected 89 52 48 53 54 "
            "41 54 45");
    write_file(path, "x", 1);
    refuses(path, RH_EFORMAT, "not a state file: it begins with 78, expected 89");
    write_file(path, "rehearse-model 1\nsize 4711\n", 27);
    refuses(path, RH_EFORMAT, "a model of an older version of rehearse; fit it again");

    rh_state *state = sample();
    size_t n;
    unsigned char *bytes = rh_state__bytes(state, &n);
    write_file(path, bytes, n / 2);
    refuses(path, RH_EFORMAT, "truncated: 174 bytes end inside array 1, expected 3 arrays");
    rh_free(bytes);
    rh_state_destroy(state);

    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); // nobody writes, and reading must not wait
    refuses(path, RH_EIO, "a device, pipe or socket");
    unlink(path);

    if (geteuid() != 0) { // root may read everything
        write_file(path, "x", 1);
        chmod(path, 0);
        refuses(path, RH_EIO, "cannot read: Permission denied");
        unlink(path);
    }
}

static void long_paths_leave_room_for_the_reason(void **unused)
{
    (void)unused;
    char path[3000];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = 0;
    rh_error err;
    rh_state *state = NULL;
    assert_int_equal(rh_state_read(&state, path, &err), RH_EIO);
    assert_non_null(strstr(err.text, "cannot read: File name too long"));
    state = sample();
    assert_int_equal(rh_state_write(state, path, &err), RH_EIO);
    assert_non_null(strstr(err.text, "cannot write: File name too long"));
    rh_state_destroy(state);
}

// ---------------------------------------------------------------------------- faults

static void every_failed_allocation(void **unused)
{
    (void)unused;
    const char *path = in_folder("agent.state");
    rh_state *state = sample();
    assert_int_equal(rh_state_write(state, path, NULL), RH_OK);

    int64_t live = rh_base__alloc_live();
    rh_error err;
    for (int nth = 1;; nth++) { // writing keeps the old file
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_state_write(state, path, &err);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        rh_state *back = NULL;
        assert_int_equal(rh_state_read(&back, path, NULL), RH_OK);
        check_sample(back);
        rh_state_destroy(back);
    }
    for (int nth = 1;; nth++) {
        rh_state *back = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_state_read(&back, path, &err);
        rh_base__alloc_fail_at(0);
        rh_state_destroy(back);
        assert_int_equal(rh_base__alloc_live(), live);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_ptr_equal(strstr(err.text, path), err.text);
    }
    unlink(path);

    rh_state_destroy(state);
}

static void cannot_write(const rh_state *state, const char *path, const char *words)
{
    rh_error err;
    assert_int_equal(rh_state_write(state, path, &err), RH_EIO);
    assert_ptr_equal(strstr(err.text, path), err.text);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void failed_writes(void **unused)
{
    (void)unused;
    rh_state *state = sample();
    cannot_write(state, in_folder("no/such/agent.state"),
                 "cannot write: No such file or directory");
    cannot_write(state, folder, "cannot write: it is a directory, expected a file");
    cannot_write(state, "/dev/null", "cannot write: it is a device, pipe or socket");
    cannot_write(state, "/dev/full", "cannot write: it is a device, pipe or socket");
    cannot_write(state, "/proc/agent.state", "cannot write: "); // unwritable, also for root

    // a folder without the right to write
    if (geteuid() != 0) {
        assert_int_equal(chmod(folder, 0500), 0);
        cannot_write(state, in_folder("agent.state"), "cannot write: Permission denied");
        assert_int_equal(chmod(folder, 0700), 0);
    }
    rh_state_destroy(state);
}

// The file system is full half-way: the old file stays, and nothing is left beside it.
static void full_disk(void **unused)
{
    (void)unused;
    rh_state *state = sample(), *back = NULL, *large = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("agent.state"));
    assert_int_equal(rh_state_write(state, path, NULL), RH_OK);

    static double zeros[100000];
    assert_int_equal(rh_state__create(&large, NULL), RH_OK);
    assert_int_equal(rh_state_put(large, "zeros", zeros, LENGTH(zeros), NULL), RH_OK);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    cannot_write(large, path, "cannot write: File too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);

    assert_int_equal(rh_state_read(&back, path, NULL), RH_OK);
    check_sample(back);
    unlink(path); // remove_folder() sees whether that was all
    rh_state_destroy(back);
    rh_state_destroy(large);
    rh_state_destroy(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(layout_is_the_documented_one),
        cmocka_unit_test(other_files),
        cmocka_unit_test(long_paths_leave_room_for_the_reason),
        cmocka_unit_test(every_failed_allocation),
        cmocka_unit_test(failed_writes),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
