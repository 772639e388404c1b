// test_store.c - arrays and texts survive a model file bit for bit; what is not as it was
// written is refused by name.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "model/store.h"

static char folder[] = "/tmp/rehearse-store-XXXXXX";

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder); // fails when a test left something behind
}

// A path in the folder; the answer is overwritten by the next call but one.
static const char *in_folder(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void worked(rh_status rc, const rh_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

// ---------------------------------------------------------------------------- a round trip

static const uint8_t bytes[] = {0, 1, 255};
static const int32_t whole[] = {INT32_MIN, 0, INT32_MAX};
static const int64_t big[] = {INT64_MIN, INT64_MAX};
static const float shorts[] = {1.5f, INFINITY, -0.0f};
static const double weights[] = {1.0, 5e-324, -1.5e300};
static const char *const texts[] = {"a", "", "three"};

static rh_status write_sample(const char *path, rh_error *err)
{
    rh_store *store = NULL;
    rh_state *state = NULL;
    rh_status rc = rh_store__create(&store, path, err);
    if (!rc)
        rc = rh_state_create(&state, err);
    if (!rc)
        rc = rh_state_set_label(state, "who", err);
    if (!rc)
        rc = rh_state_put(state, "w/1", weights, 3, err);
    if (!rc)
        rc = rh_state_put(state, "b", weights, 0, err);
    if (!rc)
        rc = rh_store__put(store, "bytes", RH_STORE_U8, bytes, 3, err);
    if (!rc)
        rc = rh_store__put_number(store, "number", 0.1, err);
    if (!rc)
        rc = rh_store__put_text(store, "text", "plant \u00b0C", err);
    if (!rc)
        rc = rh_store__put_texts(store, "texts", texts, 3, err);
    if (!rc)
        rc = rh_store__put_state(store, "state", state, err);
    if (!rc) {
        rh_store__within(store, "group/");
        rc = rh_store__put(store, "whole", RH_STORE_I32, whole, 3, err);
    }
    if (!rc)
        rc = rh_store__put(store, "long", RH_STORE_I64, big, 2, err);
    if (!rc)
        rc = rh_store__put(store, "short", RH_STORE_F32, shorts, 3, err);
    if (!rc)
        rc = rh_store__put(store, "empty", RH_STORE_F64, NULL, 0, err);
    rh_state_destroy(state);
    if (!rc)
        return rh_store__commit(store, err);
    rh_store__discard(store);
    return rc;
}

static void check_array(rh_store *store, const char *name, rh_store__type type, const void *x,
                        int64_t n, size_t size)
{
    rh_error err;
    void *got = NULL;
    int64_t count = -1;
    worked(rh_store__get(store, name, type, -1, &got, &count, &err), &err);
    assert_int_equal(count, n);
    if (n)
        assert_memory_equal(got, x, (size_t)n * size);
    rh_free(got);
    got = NULL;
    worked(rh_store__get(store, name, type, n, &got, NULL, &err), &err);
    rh_free(got);
}

static void check_texts(rh_store *store)
{
    rh_error err;
    char *text = NULL, **all = NULL;
    worked(rh_store__get_text(store, "text", &text, &err), &err);
    assert_string_equal(text, "plant \u00b0C");
    rh_free(text);
    worked(rh_store__get_texts(store, "texts", 3, &all, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_string_equal(all[i], texts[i]);
    rh_free(all);
}

static void check_state(rh_store *store)
{
    rh_error err;
    rh_state *state = NULL;
    size_t n = 9;
    worked(rh_store__get_state(store, "state", &state, &err), &err);
    assert_string_equal(rh_state_label(state), "who");
    assert_int_equal(rh_state_count(state), 2);
    const double *x = rh_state_find(state, "w/1", &n);
    assert_int_equal(n, 3);
    assert_memory_equal(x, weights, sizeof weights);
    assert_non_null(rh_state_find(state, "b", &n));
    assert_int_equal(n, 0);
    rh_state_destroy(state);
}

static void check_sample(const char *path)
{
    rh_error err;
    rh_store *store = NULL;
    double x = 0.0;
    worked(rh_store__open(&store, path, &err), &err);
    assert_string_equal(rh_store__path(store), path);
    check_array(store, "bytes", RH_STORE_U8, bytes, 3, 1);
    worked(rh_store__get_number(store, "number", &x, &err), &err);
    assert_true(x == 0.1);
    worked(rh_store__get_within(store, "number", 0.1, 0.1, &x, &err), &err);
    check_texts(store);
    check_state(store);
    assert_true(rh_store__has(store, "group/whole"));
    assert_true(rh_store__has(store, "group"));
    assert_false(rh_store__has(store, "whole"));
    assert_false(rh_store__has(store, "nothing/whole"));
    rh_store__within(store, "group/");
    assert_true(rh_store__has(store, "whole"));
    check_array(store, "whole", RH_STORE_I32, whole, 3, 4);
    check_array(store, "long", RH_STORE_I64, big, 2, 8);
    check_array(store, "short", RH_STORE_F32, shorts, 3, 4);
    check_array(store, "empty", RH_STORE_F64, NULL, 0, 8);
    rh_store__close(store);
}

static void round_trip(void **unused)
{
    (void)unused;
    rh_error err;
    const char *path = in_folder("a.model");
    worked(write_sample(path, &err), &err);
    check_sample(path);
    worked(write_sample(path, &err), &err); // over what is there
    check_sample(path);

    // the same bytes again, wherever and whenever
    const char *other = in_folder("b.model");
    sleep(1);
    worked(write_sample(other, &err), &err);
    char command[600];
    snprintf(command, sizeof command, "cmp -s %s %s", path, other);
    assert_int_equal(system(command), 0);
    unlink(path);
    unlink(other);
}

// Made by tests/reference/model_store.py with h5py and zlib.
static void layout_is_the_documented_one(void **unused)
{
    (void)unused;
    check_sample(RH_TEST_DATA "/model/sample.model");
}

// ---------------------------------------------------------------------------- refusals

static rh_store *open_sample(const char *path)
{
    rh_error err;
    rh_store *store = NULL;
    worked(write_sample(path, &err), &err);
    worked(rh_store__open(&store, path, &err), &err);
    return store;
}

static void says(const rh_error *err, const char *words)
{
    if (!strstr(err->text, words))
        fail_msg("'%s' does not say '%s'", err->text, words);
    assert_null(strchr(err->text, '\n'));
}

static void refuses_numbers(void **unused)
{
    (void)unused;
    rh_error err;
    void *x = NULL;
    double number;
    const char *path = in_folder("a.model");
    rh_store *store = open_sample(path);
    assert_int_equal(rh_store__get(store, "nobody", RH_STORE_U8, -1, &x, NULL, &err),
                     RH_EFORMAT);
    says(&err, "a.model: nobody: missing");
    assert_int_equal(rh_store__get(store, "bytes", RH_STORE_I32, -1, &x, NULL, &err),
                     RH_EFORMAT);
    says(&err, "a.model: bytes: not an array of int32");
    assert_int_equal(rh_store__get(store, "bytes", RH_STORE_U8, 4, &x, NULL, &err), RH_EFORMAT);
    says(&err, "bytes: 3 numbers, expected 4");
    assert_int_equal(rh_store__get(store, "number", RH_STORE_F64, 1, &x, NULL, &err),
                     RH_EFORMAT);
    says(&err, "number: not an array of float64");
    assert_int_equal(rh_store__get(store, "group", RH_STORE_F64, 1, &x, NULL, &err),
                     RH_EFORMAT);
    says(&err, "group: cannot be opened");
    assert_int_equal(rh_store__get_number(store, "bytes", &number, &err), RH_EFORMAT);
    says(&err, "bytes: not a number of float64");
    assert_int_equal(rh_store__get_within(store, "number", 1.0, 2.0, &number, &err),
                     RH_EFORMAT);
    says(&err, "number: 0.1, expected 1 to 2");
    rh_store__within(store, "group/");
    assert_int_equal(rh_store__get(store, "number", RH_STORE_F64, 1, &x, NULL, &err),
                     RH_EFORMAT);
    says(&err, "a.model: group/number: missing");
    assert_null(x);
    rh_store__close(store);
    unlink(path);
}

static void refuses_texts(void **unused)
{
    (void)unused;
    rh_error err;
    char *text = NULL, **all = NULL;
    rh_state *state = NULL;
    const char *path = in_folder("a.model");
    rh_store *store = open_sample(path);
    assert_int_equal(rh_store__get_text(store, "texts", &text, &err), RH_EFORMAT);
    says(&err, "texts: not a text");
    assert_int_equal(rh_store__get_text(store, "number", &text, &err), RH_EFORMAT);
    assert_int_equal(rh_store__get_texts(store, "text", 1, &all, &err), RH_EFORMAT);
    says(&err, "text: not an array of texts");
    assert_int_equal(rh_store__get_texts(store, "texts", 2, &all, &err), RH_EFORMAT);
    says(&err, "texts: 3 texts, expected 2");
    assert_int_equal(rh_store__get_state(store, "group", &state, &err), RH_EFORMAT);
    says(&err, "group/label: missing");
    assert_null(text);
    assert_null(all);
    assert_null(state);
    rh_store__close(store);
    unlink(path);
}

// Files by tests/reference/model_store.py with an array that the library would not write.
static void refuses_the_odd(void **unused)
{
    (void)unused;
    static const char *const odd[][2] = {
        {"huge", "odd: larger than the file: damaged"},
        {"chunked", "odd: not an array as `rehearse fit` writes it"},
        {"elsewhere", "odd: not an array as `rehearse fit` writes it"},
        {"square", "odd: not an array as `rehearse fit` writes it"},
        {"loose", "odd: not an array as `rehearse fit` writes it"},
        {"big_endian", "odd: not an array of float64"},
        {"link", "odd: missing"},
        {"soft", "odd: missing"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char path[512];
        rh_error err;
        rh_store *store = NULL;
        void *x = NULL;
        char *text = NULL;
        snprintf(path, sizeof path, RH_TEST_DATA "/model/%s.model", odd[i][0]);
        worked(rh_store__open(&store, path, &err), &err);
        assert_int_equal(rh_store__get(store, "odd", RH_STORE_F64, -1, &x, NULL, &err),
                         RH_EFORMAT);
        says(&err, odd[i][1]);
        assert_int_equal(rh_store__get_text(store, "odd", &text, &err), RH_EFORMAT);
        check_array(store, "bytes", RH_STORE_U8, bytes, 3, 1);
        rh_store__close(store);
    }
}

// The helper may be controlled by the file's author: what it says is checked.
static rh_status lie(void *finder, const char *name, rh_hdf5__place *place, rh_error *err)
{
    (void)name, (void)err;
    *place = *(const rh_hdf5__place *)finder;
    return RH_OK;
}

static void refuses_lies(void **unused)
{
    (void)unused;
    const rh_hdf5__place sound = {.kind = RH_HDF5_DATASET,
                                  .plain = true,
                                  .stored = RH_HDF5_F64,
                                  .rank = 1,
                                  .n = 2,
                                  .size = 8,
                                  .offset = 0};
    const char *path = in_folder("lies");
    for (int i = 0; i < 9; i++) {
        rh_error err;
        rh_store *store = NULL;
        void *x = NULL;
        char *text = NULL;
        rh_hdf5__place said = sound;
        said.offset = i == 1 ? 9 : i == 2 ? INT64_MAX : i == 3 ? -1 : 0;
        said.n = i == 4 ? INT64_MAX : i == 5 ? 4 : 2;
        said.size = i == 6 ? 12 : i == 7 ? INT64_MAX : 8;
        said.kind = i == 8 ? RH_HDF5_GROUP : RH_HDF5_DATASET;
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, "\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10", 24),
                         24);
        assert_int_equal(rh_store__open_with(&store, path, fd, 24, lie, &said, &err), RH_OK);
        rh_status rc = rh_store__get(store, "x", RH_STORE_F64, -1, &x, NULL, &err);
        assert_int_equal(rc, i == 0 ? RH_OK : RH_EFORMAT);
        if (rc)
            says(&err, "lies: x: ");
        said.stored = RH_HDF5_TEXT;
        rc = rh_store__get_text(store, "x", &text, &err);
        assert_int_equal(rc, RH_EFORMAT);
        rh_free(x);
        rh_store__close(store);
    }
    unlink(path);
}

// ---------------------------------------------------------------------------- trouble

static void memory_runs_out(void **unused)
{
    (void)unused;
    const char *path = in_folder("a.model");
    int64_t live = rh_base__alloc_live();
    int n = 0;
    for (rh_status rc = RH_ENOMEM; rc; n++) {
        rh_base__alloc_fail_at(n + 1);
        rc = write_sample(path, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true((access(path, F_OK) == 0) == (rc == RH_OK));
    }
    assert_true(n > 8);

    for (n = 1;; n++) {
        rh_store *store = NULL;
        rh_state *state = NULL;
        void *x = NULL;
        char **all = NULL, *text = NULL;
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_store__open(&store, path, NULL);
        if (!rc)
            rc = rh_store__get(store, "bytes", RH_STORE_U8, 3, &x, NULL, NULL);
        if (!rc)
            rc = rh_store__get_texts(store, "texts", 3, &all, NULL);
        if (!rc)
            rc = rh_store__get_text(store, "text", &text, NULL);
        if (!rc)
            rc = rh_store__get_state(store, "state", &state, NULL);
        rh_base__alloc_fail_at(0);
        rh_free(x);
        rh_free(all);
        rh_free(text);
        rh_state_destroy(state);
        rh_store__close(store);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
    assert_true(n > 8);
    unlink(path);
}

static void nothing_is_left_of_a_discarded_one(void **unused)
{
    (void)unused;
    rh_error err;
    rh_store *store = NULL;
    int64_t live = rh_base__alloc_live();
    worked(rh_store__create(&store, in_folder("a.model"), &err), &err);
    worked(rh_store__put_number(store, "x", 1.0, &err), &err);
    rh_store__discard(store);
    worked(rh_store__create(&store, in_folder("a.model"), &err), &err);
    worked(rh_store__put_number(store, "x", 1.0, &err), &err);
    worked(rh_store__put_number(store, "x", 2.0, &err), &err); // noticed by the helper
    assert_int_equal(rh_store__commit(store, &err), RH_EIO);
    says(&err, "a.model: cannot write: ");
    assert_int_equal(access(in_folder("a.model"), F_OK), -1);
    rh_store__discard(NULL);
    rh_store__close(NULL);
    assert_int_equal(rh_base__alloc_live(), live);
    assert_int_equal(rh_store__create(&store, "/nowhere/a.model", &err), RH_EIO);
    says(&err, "/nowhere/a.model: cannot write: No such file or directory");
}

// Threads with stores of their own, each with a helper.
static void *live_with_a_store(void *path)
{
    for (int i = 0; i < 20; i++)
        if (write_sample(path, NULL))
            return NULL;
    return path;
}

static void threads(void **unused)
{
    (void)unused;
    pthread_t thread[3];
    char path[3][256];
    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d.model", folder, i);
        assert_int_equal(pthread_create(&thread[i], NULL, live_with_a_store, path[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *done = NULL;
        pthread_join(thread[i], &done);
        assert_ptr_equal(done, path[i]);
        check_sample(path[i]);
        unlink(path[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),      cmocka_unit_test(layout_is_the_documented_one),
        cmocka_unit_test(refuses_numbers), cmocka_unit_test(refuses_texts),
        cmocka_unit_test(refuses_the_odd), cmocka_unit_test(refuses_lies),
        cmocka_unit_test(memory_runs_out), cmocka_unit_test(nothing_is_left_of_a_discarded_one),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
