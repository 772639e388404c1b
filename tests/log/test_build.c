// test_build.c - turning rows into transitions: s', dropped steps, ends of episodes.

#include "base/base_internal.h"
#include "log/log.h"
#include "log/log_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A log of one sensor from a text of rows, "x act[:reward][next] marks", separated by blanks:
//
//     5a      observation 5, action a (0 or 1), reward 10 * row number
//     5       observation 5, no action          5a?    unknown reward
//     5a>6    s' is 6                           !      terminal      |  truncated
//     ^5a     an episode begins                 ~5a    it resumes
static rh_status build(rh_log **out, const char *rows, rh_error *err)
{
    rh_log_builder *b = NULL;
    rh_log_shape shape = {.nobs = 1, .nact = 1, .format = "test", .path = "a.log"};
    rh_status rc = rh_log_builder_create(&b, &shape, err);
    for (int number = 1; !rc && *rows; number++) {
        rh_log_row row = {.reward = 10.0 * number};
        row.begins = *rows == '^';
        row.resumes = *rows == '~';
        rows += *rows == '^' || *rows == '~';
        char *end;
        double obs = strtod(rows, &end), act = 0.0, next = 0.0;
        row.obs = &obs;
        if (*end == 'a' || *end == 'b') {
            act = *end++ - 'a';
            row.act = &act;
        }
        if (*end == '?') {
            row.reward = NAN;
            end++;
        }
        if (*end == '>') {
            next = strtod(end + 1, &end);
            row.next = &next;
        }
        for (; *end && *end != ' '; end++) {
            row.terminal = row.terminal || *end == '!';
            row.truncated = row.truncated || *end == '|';
        }
        rows = end + strspn(end, " ");
        rc = rh_log_push(b, &row, err);
    }
    if (!rc)
        rc = rh_log_finish(b, out, err);
    rh_log_builder_destroy(b);
    return rc;
}

// The transitions as text, "5a10>6 " with marks; / between episodes, ~ before one that resumes.
static const char *written(const rh_log *log)
{
    static char text[4096];
    size_t used = 0;
    text[0] = 0;
    for (int64_t i = 0; i < log->n; i++) {
        int e = log->episode[i];
        if (log->step[i] == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", e ? "/ " : "",
                                     log->start[e] ? "" : "~");
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%g%c%g>", log->obs[log->from[i]],
                             'a' + atoi(log->label[(int)log->act[i]]), log->reward[i]);
        if (log->to[i] == RH_UNKNOWN)
            used += (size_t)snprintf(text + used, sizeof text - used, "?");
        else
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%g", log->obs[log->to[i]]);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s",
                                 log->flag[i] & RH_FLAG_TERMINAL ? "!" : "",
                                 log->flag[i] & RH_FLAG_TRUNCATED ? "|" : "",
                                 i + 1 < log->n ? " " : "");
    }
    return text;
}

static void makes(const char *rows, const char *expected, int64_t nlost, int64_t nincomplete,
                  int64_t nstate)
{
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(build(&log, rows, &err), RH_OK);
    if (strcmp(written(log), expected) != 0)
        print_error("%s\n", rows);
    assert_string_equal(written(log), expected);
    assert_int_equal(log->reading.nlost, nlost);
    assert_int_equal(log->reading.nincomplete, nincomplete);
    assert_int_equal(log->nstate, nstate);
    rh_log_destroy(log);
}

static void the_next_row_is_the_next_state(void **unused)
{
    (void)unused;
    makes("1a 2b 3a!", "1a10>2 2b20>3 3a30>?!", 0, 0, 3);
    // the log ends, so the s' of its last step is unknown
    makes("1a 2b 3a", "1a10>2 2b20>3|", 1, 0, 3);
}

static void another_episode_is_never_the_next_state(void **unused)
{
    (void)unused;
    makes("1a 2b! 3a 4a!", "1a10>2 2b20>?! / 3a30>4 4a40>?!", 0, 0, 4);
    makes("1a 2b| 3a 4a!", "1a10>2| / 3a30>4 4a40>?!", 1, 0, 4);
    makes("1a 2b ^3a 4a!", "1a10>2| / 3a30>4 4a40>?!", 1, 0, 4);
    // an episode of one dropped step leaves nothing behind
    makes("1a| 3a 4a!", "3a20>4 4a30>?!", 1, 0, 2);
    makes("3a 4a! ^1a ^5b 6a!", "3a10>4 4a20>?! / 5b40>6 6a50>?!", 1, 0, 4);
}

static void what_is_seen_last(void **unused)
{
    (void)unused;
    makes("1a 2b 3", "1a10>2 2b20>3|", 0, 0, 3);
    makes("1a 2b! 3 4a 5", "1a10>2 2b20>3! / 4a40>5|", 0, 0, 5);
    makes("1a 2b 3! 4a 5|", "1a10>2 2b20>3! / 4a40>5|", 0, 0, 5);
    makes("1a 2b| 3 ^4a 5!", "1a10>2 2b20>3| / 4a40>5!", 0, 0, 5);
    // a second row without an action belongs to nothing
    makes("1a! 2 3 4a!", "1a10>2! / ~4a40>?!", 0, 1, 3);
}

static void the_next_state_is_given(void **unused)
{
    (void)unused;
    makes("1a>2 2b>3 3a>4!", "1a10>2 2b20>3 3a30>4!", 0, 0, 4);
    makes("1a>2 2b>3| 7a>8", "1a10>2 2b20>3| / 7a30>8|", 0, 0, 5);
    makes("1a>2 5b>6 6a>7", "1a10>2 5b20>6 6a30>7|", 0, 0, 5);
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(build(&log, "1a>2 5b>6 6a>8 7a>9", &err), RH_OK);
    assert_int_equal(log->reading.nmismatch, 2);
    rh_log_destroy(log);
}

static void holes(void **unused)
{
    (void)unused;
    // a row without an action in the middle: two episodes, the second not from a start
    makes("1a 2b 3 4a 5a!", "1a10>2 2b20>3| / ~4a40>5 5a50>?!", 0, 1, 5);
    makes("1a 2b 3 4 5a 6a!", "1a10>2 2b20>3| / ~5a50>6 6a60>?!", 0, 2, 5);
    makes("1a 2b? 3a 4a!", "1a10>2| / ~3a30>4 4a40>?!", 0, 1, 4);
    // the flags of a dropped step do not end the step before
    makes("1a 2b?! 3a 4a!", "1a10>2| / 3a30>4 4a40>?!", 0, 1, 4);
    makes("^1a? 2b 3a! ^4a 5!", "~2b20>3 3a30>?! / 4a40>5!", 0, 1, 4);
    makes("9a! ^1a? 2b 3a!", "9a10>?! / ~2b30>3 3a40>?!", 0, 1, 3);
    makes("9a! ^1a?! 2b 3a!", "9a10>?! / 2b30>3 3a40>?!", 0, 1, 3);
    makes("1 2a 3!", "2a20>3!", 0, 1, 2);
    // an empty row is no s'
    makes("1a 2b nan", "1a10>2|", 1, 0, 2);
    makes("1a 2b nan 4a 5!", "1a10>2| / ~4a40>5!", 1, 1, 4);
    makes("1a 2b! nan 4a 5!", "1a10>2 2b20>?! / 4a40>5!", 0, 0, 4);

    // an observation after a gap is no next state
    makes("1a 2a nana nana 9", "1a10>2|", 1, 3, 2);
    makes("1a 2a nan nan 9", "1a10>2|", 1, 3, 2);
}

static void resuming(void **unused)
{
    (void)unused;
    makes("1a 2b ~5a 6a 7", "1a10>2| / ~5a30>6 6a40>7|", 1, 0, 5);
    makes("~5a 6! ~7a 8!", "5a10>6! / ~7a30>8!", 0, 0, 4); // some state must be a start
    makes("~5a 6! 7a 8!", "~5a10>6! / 7a30>8!", 0, 0, 4);
}

static void both_flags(void **unused)
{
    (void)unused;
    makes("1a 2b!| 3a!", "1a10>2 2b20>?!| / 3a30>?!", 0, 0, 3);
}

static void nothing_to_be_had(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log *log = NULL;
    assert_int_equal(build(&log, "1a| 2 3a?", &err), RH_OK); // 2 is the last observation
    rh_log_destroy(log);
    log = NULL;
    assert_int_equal(build(&log, "1a ^2a 3a?", &err), RH_OK);
    rh_log_destroy(log);
    log = NULL;
    assert_int_equal(build(&log, "1a ^2a ^3a?", &err), RH_EFORMAT);
    assert_string_equal(err.text,
                        "a.log: no step in 3 rows: 1 without action or reward, 2 with unknown "
                        "next observation; expected at least one complete step");
    assert_null(log);
    assert_int_equal(build(&log, "", &err), RH_EFORMAT);
}

static void missing_numbers_are_kept(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log *log = NULL;
    rh_log_builder *b = NULL;
    const double seen[][2] = {{1.0, NAN}, {NAN, 3.0}, {4.0, 5.0}}, act = 0.0;
    rh_log_shape shape = {.nobs = 2, .nact = 1};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < 2; i++) {
        rh_log_row row = {.obs = seen[i], .act = &act, .next = seen[i + 1]};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    assert_int_equal(log->n, 2);
    assert_int_equal(log->nstate, 3); // missing values are equal
    assert_int_equal(log->reading.nmissing, 2);
    assert_int_equal(log->reading.nmismatch, 0);
    rh_log_destroy(log);

    // but a row of missing values is no row
    makes("1a nanb 3a 4!", "3a30>4!", 1, 1, 2);
    makes("1a>2 nanb 3a 4!", "1a10>2| / ~3a30>4!", 0, 1, 4);
}

static void refuses_shapes(void **unused)
{
    (void)unused;
    rh_error err;
    rh_log_builder *b = NULL;
    rh_log_shape shape = {.nobs = RH_MAX_OBS + 1, .nact = 1, .path = "a.log"};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_EINVAL);
    assert_string_equal(err.text, "a.log: 257 numbers in an observation, expected 1 to 256; "
                                  "name those that matter: --obs temp,level");
    shape = (rh_log_shape){.nobs = 1, .nact = 0};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_EINVAL);
    assert_string_equal(err.text, "log: 0 numbers in an action, expected 1 to 32");
    shape = (rh_log_shape){.nobs = 1, .nact = 1, .nlabel = 257};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_EINVAL);
    assert_null(b);
}

// ---------------------------------------------------------------------------- much at once

// A random sequence of all kinds of rows, over several blocks.
static rh_status wander(rh_log **out, uint64_t seed, int nrow, rh_error *err)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    rh_log_builder *b = NULL;
    static const char *const name[] = {"x", "y", "z"};
    rh_log_shape shape = {.nobs = 3, .nact = 2, .obs_name = name, .times = true};
    rh_status rc = rh_log_builder_create(&b, &shape, err);
    double obs[3], next[3] = {0.0}, act[2];
    bool follows = false;
    for (int i = 0; !rc && i < nrow; i++) {
        for (int k = 0; k < 3; k++)
            obs[k] = follows && rh_rng_below(&rng, 10) ? next[k] : rh_rng_uniform(&rng);
        for (int k = 0; k < 3; k++)
            next[k] = rh_rng_uniform(&rng);
        for (int k = 0; k < 2; k++)
            act[k] = rh_rng_uniform(&rng);
        follows = rh_rng_below(&rng, 2);
        rh_log_row row = {
            .obs = obs,
            .act = rh_rng_below(&rng, 12) ? act : NULL,
            .reward = rh_rng_below(&rng, 20) ? rh_rng_uniform(&rng) : NAN,
            .next = follows ? next : NULL,
            .terminal = !rh_rng_below(&rng, 15),
            .truncated = !rh_rng_below(&rng, 15),
            .begins = !rh_rng_below(&rng, 25),
            .resumes = !rh_rng_below(&rng, 40),
            .time = i,
        };
        rc = rh_log_push(b, &row, err);
    }
    if (!rc)
        rc = rh_log__note(b, err, "%d rows", nrow);
    if (!rc)
        rc = rh_log_finish(b, out, err);
    rh_log_builder_destroy(b);
    return rc;
}

static void always_true_of_a_log(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        rh_error err;
        rh_log *log = NULL;
        int nrow = seed == 1 ? 200000 : 500;
        assert_int_equal(wander(&log, seed, nrow, &err), RH_OK);
        assert_int_equal(log->reading.nrow, nrow);
        assert_int_equal(log->first[0], 0);
        assert_int_equal(log->first[log->nepisode], log->n);
        assert_string_equal(log->obs_name[2], "z");
        assert_string_equal(log->act_name[1], "action_1");
        assert_string_equal(log->obs_unit[0], "");
        assert_string_equal(log->reading.note[0], nrow == 500 ? "500 rows" : "200000 rows");
        int64_t nmismatch = 0;
        for (int64_t i = 0; i < log->n; i++) {
            int e = log->episode[i];
            bool last = i + 1 == log->first[e + 1];
            assert_true(i >= log->first[e]);
            assert_true(i < log->first[e + 1]);
            assert_int_equal(log->step[i], i - log->first[e]);
            assert_true(log->from[i] >= 0);
            assert_true(log->from[i] < log->nstate);
            assert_true(log->to[i] < log->nstate);
            assert_true((log->flag[i] != 0) == last);
            assert_true(log->to[i] >= 0 || (log->flag[i] & RH_FLAG_TERMINAL));
            assert_true(i == 0 || log->time[i] > log->time[i - 1]);
            assert_false(isnan(log->reward[i]));
            nmismatch += !last && log->to[i] != log->from[i + 1];
        }
        assert_int_equal(nmismatch, log->reading.nmismatch);
        rh_log_destroy(log);
    }
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t nth = 1; rc == RH_ENOMEM; nth++) {
        rh_error err = {""};
        rh_log *log = NULL;
        rh_base__alloc_fail_at(nth);
        rc = wander(&log, 3, 300, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && !log && strstr(err.text, "memory")));
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(nth < 200);
    }
    assert_int_equal(rc, RH_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_row_is_the_next_state),
        cmocka_unit_test(another_episode_is_never_the_next_state),
        cmocka_unit_test(what_is_seen_last),
        cmocka_unit_test(the_next_state_is_given),
        cmocka_unit_test(holes),
        cmocka_unit_test(resuming),
        cmocka_unit_test(both_flags),
        cmocka_unit_test(nothing_to_be_had),
        cmocka_unit_test(missing_numbers_are_kept),
        cmocka_unit_test(refuses_shapes),
        cmocka_unit_test(always_true_of_a_log),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
