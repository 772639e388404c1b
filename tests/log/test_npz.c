// test_npz.c - NumPy archives: as NumPy and NeoRL write them, as we do, and damaged.

#include <zip.h>

#include "base/base_internal.h"
#include "log/npy.h"
#include "log/npz.h"
#include "log/sample.h"

// ---------------------------------------------------------------------------- as Python wrote

static void samples(void **unused)
{
    (void)unused;
    rh_log *log = read_log(sample_path("neorl.npz"), NULL);
    compare_with_expected(log, "neorl.npz");
    assert_string_equal(log->reading.format, "npz");
    assert_int_equal(log->reading.nmismatch, 0);
    assert_true(has_note(log, "terminals = array done (bool)"));
    rh_log_destroy(log);

    log = read_log(sample_path("neorl2.npz"), NULL);
    compare_with_expected(log, "neorl2.npz");
    assert_true(has_note(log, "array done (bool): terminal where it is not truncated"));
    rh_log_destroy(log);

    log = read_log(sample_path("plain.npz"), NULL);
    compare_with_expected(log, "plain.npz");
    assert_non_null(log->time);
    assert_true(log->time[1] == 1.0);
    assert_true(has_note(log, "actions = array actions (float16)"));
    rh_log_destroy(log);
}

// -------------------------------------------------------------------------- archives made here

typedef struct array {
    const char *name; // NULL ends a list
    const char *descr;
    int rank;
    int64_t dim[2];
    const void *data;
    size_t n; // bytes of data
} array;

static void make_npz(const char *path, const array *a)
{
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (; a->name; a++) {
        unsigned char *bytes = malloc(RH_NPY__OWN_HEAD + a->n);
        assert_non_null(bytes);
        rh_npy__write_head(bytes, a->descr, a->rank, a->dim);
        memcpy(bytes + RH_NPY__OWN_HEAD, a->data, a->n);
        zip_source_t *source = zip_source_buffer(zip, bytes, RH_NPY__OWN_HEAD + a->n, 1);
        assert_true(zip_file_add(zip, a->name, source, ZIP_FL_OVERWRITE) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static const double obs[] = {0, 1, 2, 3, 4, 5}, reward[] = {1, 2, 3, 4, 5, 6};
static const uint8_t act[] = {2, 0, 2, 2, 0, 2}, done[] = {0, 0, 1, 0, 0, 1};
static const double flags_nan[] = {0, 0, (double)NAN, 0, 0, 0};
static const float ends[] = {3, 6}, starts[] = {0, 3}, wrong[] = {0, 3.5F}, back[] = {3, 2};
static const float lengths[] = {3, 3};
static const uint8_t begins[] = {1, 0, 0, 1, 0, 0};

static const array six[] = {{"obs.npy", "<f8", 1, {6}, obs, sizeof obs},
                            {"action.npy", "|u1", 1, {6}, act, sizeof act},
                            {"reward.npy", "<f8", 2, {6, 1}, reward, sizeof reward},
                            {"terminals.npy", "|b1", 1, {6}, done, sizeof done},
                            {NULL, NULL, 0, {0}, NULL, 0}};

// The six rows with one array changed or added; .n = SIZE_MAX leaves it out.
static const char *six_with(const array *other)
{
    static char path[300];
    array all[8];
    int n = 0;
    snprintf(path, sizeof path, "%s", in_folder("six.npz"));
    for (const array *a = six; a->name; a++)
        if (strcmp(a->name, other->name) != 0)
            all[n++] = *a;
    if (other->n != SIZE_MAX)
        all[n++] = *other;
    all[n] = (array){.name = NULL};
    make_npz(path, all);
    return path;
}

static void refuse_with(const array *other, const char *words)
{
    const char *path = six_with(other);
    refuses(path, NULL, words);
    remove(path);
}

static void episodes_from_index(void **unused)
{
    (void)unused;
    const float *const index[] = {ends, starts};
    for (int i = 0; i < 2; i++) {
        static const uint8_t never[6];
        array all[6];
        memcpy(all, six, sizeof six);
        all[3].data = never;
        all[4] = (array){"index.npy", "<f4", 1, {2}, index[i], sizeof ends};
        all[5] = (array){.name = NULL};
        make_npz(in_folder("index.npz"), all);
        rh_log *log = read_log(in_folder("index.npz"), NULL);
        assert_int_equal(log->nepisode, 2);
        assert_int_equal(log->n, 4);
        assert_int_equal(log->first[1], 2);
        assert_true(has_note(log, "an episode begins at every row listed in array index"));
        rh_log_destroy(log);
    }
    remove(in_folder("index.npz"));
    refuse_with(&(array){"index.npy", "<f4", 1, {2}, wrong, sizeof wrong},
                "six.npz: number 1 of index is 3.5, expected whole numbers, each more than "
                "the one before, up to 6");
    refuse_with(&(array){"index.npy", "<f4", 1, {2}, back, sizeof back},
                "six.npz: number 1 of index is 2, expected whole numbers, each more");
    refuse_with(&(array){"index.npy", "<f4", 1, {2}, lengths, sizeof lengths},
                "six.npz: number 1 of index is 3, expected whole numbers, each more");

    // an index of every step is ignored, with a note
    rh_log *log =
        read_log(six_with(&(array){"index.npy", "<f8", 1, {6}, obs, sizeof obs}), NULL);
    assert_int_equal(log->nepisode, 2);
    assert_true(has_note(log, "array index has a number for every step"));
    rh_log_destroy(log);
    const char *path =
        six_with(&(array){"episode_starts.npy", "|b1", 1, {6}, begins, sizeof begins});
    rh_log_options opt = rh_log_defaults();
    opt.terminal = "";
    log = read_log(path, &opt);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->n, 4);
    assert_true(has_note(log, "no terminals: no step ends in a terminal state"));
    assert_true(has_note(log, "an episode begins where array episode_starts is not 0"));
    rh_log_destroy(log);
    remove(path);
}

// Another program's start has a number for every step: it is not our list of episodes.
static void starts_of_steps(void **unused)
{
    (void)unused;
    static const double id[] = {7, 7, 7, 8, 8, 8}, turn[] = {0, 1, 0, 1, 0, 1};
    array all[7];
    memcpy(all, six, sizeof six);
    all[4] = (array){"episode.npy", "<f8", 1, {6}, id, sizeof id};
    all[5] = (array){"start.npy", "|b1", 1, {6}, begins, sizeof begins};
    all[6] = (array){.name = NULL};
    make_npz(in_folder("start.npz"), all);
    rh_log *log = read_log(in_folder("start.npz"), NULL);
    assert_int_equal(log->nepisode, 2);
    assert_int_equal(log->start[0], 1);
    assert_int_equal(log->start[1], 1);
    rh_log_destroy(log);
    remove(in_folder("start.npz"));

    refuse_with(&(array){"episode.npy", "<f8", 1, {6}, turn, sizeof turn},
                "six.npz: row 2 of episode: episode 0 comes back after 1; sort the rows");
}

// --missing applies to actions and rewards too, and to each term of a sum.
static void missing_everywhere(void **unused)
{
    (void)unused;
    static const double missing = -9999.0;
    static const double odd[] = {1, -9999, 3, 4, 5, 6}, none[] = {2, 0, 2, 2, -9999, 2};
    rh_log_options opt = as_it_is();
    opt.missing = &missing;
    opt.nmissing = 1;
    const char *path = six_with(&(array){"reward.npy", "<f8", 1, {6}, odd, sizeof odd});
    static const char *const words[] = {NULL, "-reward", "obs - 2*reward"};
    for (int i = 0; i < 3; i++) {
        opt.reward = words[i];
        rh_log *log = read_log(path, &opt);
        assert_int_equal(log->n, 5);
        assert_int_equal(log->reading.nincomplete, 1);
        rh_log_destroy(log);
    }
    opt.reward = NULL;
    path = six_with(&(array){"action.npy", "<f8", 1, {6}, none, sizeof none});
    rh_log *log = read_log(path, &opt);
    assert_int_equal(log->naction, 2);
    assert_string_equal(log->label[0], "0");
    assert_int_equal(log->n, 5);
    rh_log_destroy(log);
    remove(path);
}

// A formula of the reward that names the terminals tells what they add.
static void what_terminals_add(void **unused)
{
    (void)unused;
    static const uint8_t never[6];
    static const array none = {"terminals.npy", "|b1", 1, {6}, never, sizeof never},
                       same = {"terminals.npy", "|b1", 1, {6}, done, sizeof done};
    static const char *const words[] = {"obs - 50*terminals", "-reward", "obs*(1 + terminals)"};
    static const double added[] = {-50.0, 0.0, 0.0};
    for (int i = 0; i < 6; i++) {
        rh_log_options opt = as_it_is();
        opt.reward = words[i % 3];
        const char *path = six_with(i < 3 ? &same : &none);
        rh_log *log = read_log(path, &opt);
        assert_true(fabs(log->terminal_reward - added[i % 3]) < 1e-9);
        rh_log_destroy(log);
        remove(path);
    }
}

// A row without an action is the last observation, after a flag too: nothing is lost.
static void rows_without_actions(void **unused)
{
    (void)unused;
    static const double none[] = {2, 0, (double)NAN, 2, 0, (double)NAN};
    static const uint8_t cut[] = {0, 1, 0, 0, 1, 0};
    array all[6];
    memcpy(all, six, sizeof six);
    all[1] = (array){"action.npy", "<f8", 1, {6}, none, sizeof none};
    all[3] = (array){"truncated.npy", "|b1", 1, {6}, cut, sizeof cut};
    all[4] = (array){.name = NULL};
    make_npz(in_folder("last.npz"), all);
    rh_log *log = read_log(in_folder("last.npz"), NULL);
    assert_int_equal(log->n, 4);
    assert_int_equal(log->reading.nlost, 0);
    assert_int_equal(log->reading.nincomplete, 0);
    assert_true(log->obs[log->to[1]] == 2.0);
    assert_true(log->obs[log->to[3]] == 5.0);
    assert_int_equal(log->start[0], 1);
    assert_int_equal(log->start[1], 1);
    rh_log_destroy(log);
    remove(in_folder("last.npz"));
}

// Time that runs backwards is a gap, with any --max-gap.
static void time_runs_backwards(void **unused)
{
    (void)unused;
    static const double time[] = {0, 9, 1, 2, 3, 4};
    rh_log *log =
        read_log(six_with(&(array){"time.npy", "<f8", 1, {6}, time, sizeof time}), NULL);
    assert_int_equal(log->reading.ngap, 1);
    assert_int_equal(log->nepisode, 3);
    assert_int_equal(log->start[1], 0);
    rh_log_destroy(log);
    remove(in_folder("six.npz"));
}

static void bad_arrays(void **unused)
{
    (void)unused;
    refuse_with(&(array){"action.npy", "|O", 1, {6}, obs, 20},
                "six.npz: action holds Python objects (pickled); save it with a numeric dtype");
    refuse_with(&(array){"action.npy", "<U2", 1, {6}, obs, 48},
                "six.npz: action holds text, expected numbers");
    refuse_with(
        &(array){"reward.npy", "<f8", 1, {5}, reward, 40},
        "six.npz: reward has 5 rows, expected 6 as in obs; it is unclear which episode");
    refuse_with(&(array){"reward.npy", "<f8", 1, {3}, reward, 24},
                "six.npz: reward has 3 rows, expected 6 as in obs");
    refuse_with(&(array){"reward.npy", "<f8", 2, {6, 0}, reward, 0},
                "six.npz: reward has shape (6, 0), expected one number a row");
    refuse_with(&(array){"obs.npy", "<f8", 2, {6, 0}, obs, 0},
                "six.npz: obs has shape (6, 0), expected 1 to 256 numbers a row");
    refuse_with(&(array){"terminals.npy", "<f8", 1, {6}, flags_nan, sizeof flags_nan},
                "six.npz: row 2 of terminals is NaN, expected 0 or 1");
    refuse_with(&(array){"reward.npy", NULL, 0, {0}, NULL, SIZE_MAX},
                "six.npz: no rewards: there is no array reward");
    refuse_with(&(array){"reward.npy", "<f8", 1, {6}, reward, 40},
                "six.npz: reward.npy: 168 bytes, expected 176 for shape (6) of float64");
    refuse_with(&(array){"next_obs.npy", "<f8", 2, {3, 2}, obs, 48},
                "six.npz: next_obs has 3 rows, expected 6 as in obs");
    refuse_with(&(array){"next_obs.npy", "|u1", 2, {6, 2}, obs, 12},
                "six.npz: next_obs has 2 numbers a row, expected 1 as in obs");
}

static void bad_archives(void **unused)
{
    (void)unused;
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("bad.npz"));
    spill(path, "PK\3\4 nothing more", 17);
    refuses(path, NULL, "bad.npz: not a readable archive: ");
    const array other[] = {{"a.txt", "<f8", 1, {6}, obs, sizeof obs},
                           {"b.txt", "<f8", 1, {6}, obs, sizeof obs},
                           {.name = NULL}};
    make_npz(path, other);
    refuses(path, NULL, "bad.npz: the archive holds several files (a.txt and b.txt)");
    remove(path);

    // truncate everywhere, change every byte: refused or read, but no crash
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("neorl.npz"), &n);
    int64_t live = rh_base__alloc_live();
    rh_log_options opt = rh_log_defaults();
    for (size_t cut = 0; cut < n; cut += 7) {
        rh_error err = {""};
        rh_log *log = NULL;
        assert_int_not_equal(rh_npz__read_bytes(&log, bytes, cut, "cut.npz", &opt, &err),
                             RH_OK);
        assert_non_null(strstr(err.text, "cut.npz: "));
        assert_null(log);
    }
    int nread = 0;
    for (size_t i = 0; i < n; i++) {
        rh_error err = {""};
        rh_log *log = NULL;
        bytes[i] ^= 0x55;
        rh_status rc = rh_npz__read_bytes(&log, bytes, n, "x.npz", &opt, &err);
        assert_int_equal(rc == RH_OK, log != NULL);
        nread += rc == RH_OK;
        rh_log_destroy(log);
        bytes[i] ^= 0x55;
    }
    assert_true(nread < (int)n / 2); // dates and attributes do not matter
    assert_int_equal(rh_base__alloc_live(), live);
    free(bytes);
}

// One bit of a number is noticed by the checksum, which is read with the array's end.
static void a_bit(void **unused)
{
    (void)unused;
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("plain.npz"), &n);
    unsigned char *name = memmem(bytes, n, "rewards.npy", 11);
    assert_non_null(name);
    unsigned char *numbers = memmem(name, n - (size_t)(name - bytes), "\x93NUMPY", 6);
    assert_non_null(numbers);
    rh_error err = {""};
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    numbers[128] ^= 1; // behind the header
    assert_int_equal(rh_npz__read_bytes(&log, bytes, n, "x.npz", &opt, &err), RH_EFORMAT);
    if (!strstr(err.text, "x.npz: rewards.npy is damaged: "))
        fail_msg("%s", err.text);
    free(bytes);
}

// ---------------------------------------------------------------------------- as we write

static void check_round_trip(const rh_log *log, const char *path)
{
    rh_error err = {""};
    if (rh_log_write(log, path, NULL, &err))
        fail_msg("%s", err.text);
    rh_log *again = read_log(path, NULL);
    same_logs(log, again);
    rh_log_destroy(again);
}

static void round_trips(void **unused)
{
    (void)unused;
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("ours.npz"));
    for (int i = 0; i < 200; i++) {
        rh_log *log = random_log((uint64_t)i, (actions)(i % 5), i % 2);
        check_round_trip(log, path);
        rh_log_destroy(log);
    }
    remove(path);
}

static void same_bytes(void **unused)
{
    (void)unused;
    rh_log *log = random_log(1, NAMED, true);
    size_t n = 0, m = 0;
    assert_int_equal(rh_log_write(log, in_folder("a.npz"), NULL, NULL), RH_OK);
    assert_int_equal(rh_log_write(log, in_folder("b.npz"), "npz", NULL), RH_OK);
    unsigned char *a = slurp(in_folder("a.npz"), &n), *b = slurp(in_folder("b.npz"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    free(a);
    free(b);
    remove(in_folder("a.npz"));
    remove(in_folder("b.npz"));

    rh_error err;
    assert_int_equal(rh_log_write(log, in_folder("no/such.npz"), NULL, &err), RH_EIO);
    assert_non_null(strstr(err.text, "such.npz: cannot write: "));
    rh_log_destroy(log);
}

static void names_meet_options(void **unused)
{
    (void)unused;
    rh_log *log = random_log(3, NAMED, false);
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("names.npz"));
    assert_int_equal(rh_log_write(log, path, NULL, NULL), RH_OK);
    rh_log_options opt = rh_log_defaults();
    opt.actions = "hoch é,off,low,never";
    rh_log *again = read_log(path, &opt);
    assert_int_equal(again->naction, 4);
    static const double place[] = {1, 2, 0};
    for (int64_t i = 0; i < log->n; i++)
        assert_true(again->act[i] == place[(int)log->act[i]]);
    rh_log_destroy(again);
    opt.actions = "off,low";
    refuses(path, &opt, "names.npz: row");
    rh_log_destroy(log);
    remove(path);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    size_t n = 0;
    unsigned char *bytes = slurp(sample_path("plain.npz"), &n);
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    int64_t live = rh_base__alloc_live();
    for (int64_t k = 1; !log; k++) {
        rh_base__alloc_fail_at(k);
        rh_status rc = rh_npz__read_bytes(&log, bytes, n, "x.npz", &opt, NULL);
        rh_base__alloc_fail_at(0);
        assert_int_equal(rc, log ? RH_OK : RH_ENOMEM);
        if (!log)
            assert_int_equal(rh_base__alloc_live(), live);
    }
    free(bytes);
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder("memory.npz"));
    rh_status rc = RH_ENOMEM;
    live = rh_base__alloc_live();
    for (int64_t k = 1; rc; k++) {
        rh_base__alloc_fail_at(k);
        rc = rh_log_write(log, path, NULL, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(access(path, F_OK) == 0, rc == RH_OK);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    remove(path);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(episodes_from_index),
        cmocka_unit_test(starts_of_steps),
        cmocka_unit_test(missing_everywhere),
        cmocka_unit_test(rows_without_actions),
        cmocka_unit_test(what_terminals_add),
        cmocka_unit_test(time_runs_backwards),
        cmocka_unit_test(bad_arrays),
        cmocka_unit_test(bad_archives),
        cmocka_unit_test(a_bit),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(names_meet_options),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
