// sample.h - shared by tests of readers and writers: sample logs written by Python, random
// logs, and a temporary folder.

#ifndef TESTS_LOG_SAMPLE_H
#define TESTS_LOG_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "log/log_internal.h"

// ---------------------------------------------------------------------------- a folder

static char folder[] = "/tmp/rehearse-log-XXXXXX";

static inline int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder); // fails when a test left something behind
}

// A path in the folder, valid until the third call after this one.
static inline const char *in_folder(const char *name)
{
    static char path[3][300];
    static int turn;
    turn = (turn + 1) % 3;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline const char *sample_path(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/log/%s", RH_TEST_DATA, name);
    return path;
}

// The bytes of a file. Owned: the result, free with free().
static inline unsigned char *slurp(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static inline void spill(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

// ---------------------------------------------------------------------------- logs compared

static inline bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

// Options that change no number of a log.
static inline rh_log_options as_it_is(void)
{
    rh_log_options opt = rh_log_defaults();
    opt.gaps = RH_GAPS_CUT;
    opt.sentinels = RH_SENTINELS_KEEP;
    return opt;
}

// opt NULL: the numbers as they are.
static inline rh_log *read_log(const char *path, const rh_log_options *opt)
{
    rh_error err = {""};
    rh_log *log = NULL;
    rh_log_options plain = as_it_is();
    if (rh_log_read(&log, path, opt ? opt : &plain, &err))
        fail_msg("%s", err.text);
    assert_non_null(log);
    return log;
}

static inline bool has_note(const rh_log *log, const char *words)
{
    for (int i = 0; i < log->reading.nnote; i++)
        if (strstr(log->reading.note[i], words))
            return true;
    return false;
}

// Read a path that is refused, and check for words in the message, which is one line.
static inline void refuses(const char *path, const rh_log_options *opt, const char *words)
{
    rh_error err = {""};
    rh_log *log = NULL;
    int64_t live = rh_base__alloc_live();
    rh_status rc = rh_log_read(&log, path, opt, &err);
    if (rc == RH_OK || log)
        fail_msg("%s was read, expected '%s'", path, words);
    if (!strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_int_equal(rh_base__alloc_live(), live);
}

// Compare a log with the numbers that Python expects.
static inline void compare_with_expected(const rh_log *log, const char *name)
{
    char path[360];
    snprintf(path, sizeof path, "%s/log/%s.txt", RH_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int n, nobs, nact, naction;
    assert_int_equal(fscanf(file, "%d %d %d %d", &n, &nobs, &nact, &naction), 4);
    assert_int_equal(log->n, n);
    assert_int_equal(log->nobs, nobs);
    assert_int_equal(log->nact, nact);
    assert_int_equal(log->naction, naction);
    for (int i = 0; i < n; i++) {
        int episode, step, flag, known;
        double reward, x;
        assert_int_equal(
            fscanf(file, "%d %d %d %lf %d", &episode, &step, &flag, &reward, &known), 5);
        assert_int_equal(log->episode[i], episode);
        assert_int_equal(log->step[i], step);
        assert_int_equal(log->flag[i], flag);
        assert_true(log->reward[i] == reward);
        assert_int_equal(log->to[i] != RH_UNKNOWN, known);
        for (int k = 0; k < nact; k++) {
            assert_int_equal(fscanf(file, "%lf", &x), 1);
            assert_true(log->act[i * nact + k] == x);
        }
        for (int k = 0; k < nobs; k++) {
            assert_int_equal(fscanf(file, "%lf", &x), 1);
            assert_true(same(log->obs[(int64_t)log->from[i] * nobs + k], x));
        }
        for (int k = 0; k < nobs; k++) {
            assert_int_equal(fscanf(file, "%lf", &x), 1);
            if (known)
                assert_true(same(log->obs[(int64_t)log->to[i] * nobs + k], x));
        }
    }
    fclose(file);
}

static inline void same_texts(const char *const *a, const char *const *b, int n)
{
    for (int i = 0; i < n; i++)
        assert_string_equal(a[i], b[i]);
}

// Two logs are equal, except for their path and format.
static inline void same_logs(const rh_log *a, const rh_log *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->nstate, b->nstate);
    assert_int_equal(a->nepisode, b->nepisode);
    assert_int_equal(a->nobs, b->nobs);
    assert_int_equal(a->naction, b->naction);
    assert_int_equal(a->nact, b->nact);
    for (int64_t i = 0; i < a->nstate * a->nobs; i++)
        assert_true(same(a->obs[i], b->obs[i]));
    size_t n = (size_t)a->n;
    assert_memory_equal(a->from, b->from, n * sizeof *a->from);
    assert_memory_equal(a->to, b->to, n * sizeof *a->to);
    assert_memory_equal(a->act, b->act, n * (size_t)a->nact * sizeof *a->act);
    assert_memory_equal(a->reward, b->reward, n * sizeof *a->reward);
    assert_memory_equal(a->flag, b->flag, n);
    assert_memory_equal(a->episode, b->episode, n * sizeof *a->episode);
    assert_memory_equal(a->step, b->step, n * sizeof *a->step);
    assert_memory_equal(a->first, b->first, ((size_t)a->nepisode + 1) * sizeof *a->first);
    assert_memory_equal(a->start, b->start, (size_t)a->nepisode);
    assert_int_equal(a->time != NULL, b->time != NULL);
    if (a->time)
        assert_memory_equal(a->time, b->time, n * sizeof *a->time);
    same_texts(a->obs_name, b->obs_name, a->nobs);
    same_texts(a->obs_unit, b->obs_unit, a->nobs);
    same_texts(a->act_name, b->act_name, a->nact);
    same_texts(a->label, b->label, a->naction);
    assert_string_equal(a->reward_name, b->reward_name);
}

// ---------------------------------------------------------------------------- random logs

typedef enum actions {
    NAMED,     // discrete, with names
    NUMBERED,  // discrete, consecutive integers
    SCATTERED, // discrete, other integers
    AMOUNTS,   // vectors
    WHOLE      // one integer that is continuous
} actions;

// A log with everything: missing values, s' unknown or not the next s, episodes that resume,
// both flags, time.
static inline rh_log *random_log(uint64_t seed, actions kind, bool times)
{
    static const char *const name[3] = {"temp,\"x\"", "Füllstand", "p"};
    static const char *const unit[3] = {"°C", "", "bar"}, *const motor[2] = {"u", "v w"};
    static const char *const named[3] = {"off", "low", "hoch é"};
    static const char *const numbered[3] = {"-1", "0", "1"}, *const scattered[3] = {"7", "-2",
                                                                                    "40"};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    bool discrete = kind <= SCATTERED;
    int nact = kind == AMOUNTS ? 2 : 1;
    rh_log_shape shape = {.nobs = 1 + (int)rh_rng_below(&rng, 3),
                          .nact = nact,
                          .action = discrete ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .obs_name = name,
                          .obs_unit = unit,
                          .act_name = motor,
                          .label = !discrete          ? NULL
                                   : kind == NAMED    ? named
                                   : kind == NUMBERED ? numbered
                                                      : scattered,
                          .nlabel = discrete ? 3 : 0,
                          .declared = discrete,
                          .times = times,
                          .reward_name = "income",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    int n = 60 + (int)rh_rng_below(&rng, 60);
    for (int i = 0; i < n; i++) {
        double obs[3], next[3], act[2];
        for (int k = 0; k < 3; k++) {
            obs[k] = rh_rng_below(&rng, 8) ? rh_rng_range(&rng, -3.0, 3.0) : (double)NAN;
            next[k] = rh_rng_below(&rng, 6) ? rh_rng_range(&rng, -3.0, 3.0) : (double)NAN;
        }
        for (int k = 0; k < 2; k++)
            act[k] = kind == AMOUNTS ? rh_rng_uniform(&rng) : rh_rng_below(&rng, 3);
        rh_log_row row = {.obs = obs,
                          .act = rh_rng_below(&rng, 20) ? act : NULL,
                          .reward = rh_rng_range(&rng, -1.0, 1.0),
                          .next = rh_rng_below(&rng, 6) ? NULL : next,
                          .terminal = !rh_rng_below(&rng, 12),
                          .truncated = !rh_rng_below(&rng, 12),
                          .begins = i == 0,
                          .resumes = i > 0 && !rh_rng_below(&rng, 15),
                          .time = 0.1 * i};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

#endif
