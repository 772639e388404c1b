// test_observer.c - observations made one at a time are those that the reader of logs makes.

#include "base/base_internal.h"
#include "inspect_sample.h"
#include "log/csv.h"
#include "log/log.h"

#include <stdio.h>

#define MOST 400

// A log of random numbers with episodes, missing numbers and gaps; text to read, in *text.
static void write_log(char *text, size_t size, uint64_t seed, int kind)
{
    static const char *const label[] = {"off", "low", "high"};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    size_t used = (size_t)snprintf(text, size, "episode,x,y,action,reward\n");
    for (int i = 0, e = 0; i < MOST; i++) {
        e += rh_rng_below(&rng, 9) == 0;
        char act[32], reward[32] = "";
        if (kind == 0)
            snprintf(act, sizeof act, "%s", label[rh_rng_below(&rng, 3)]);
        else if (kind == 1)
            snprintf(act, sizeof act, "%d", (int)rh_rng_below(&rng, 2));
        else
            snprintf(act, sizeof act, "%.3f", rh_rng_uniform(&rng));
        if (rh_rng_below(&rng, 12)) // else a gap
            snprintf(reward, sizeof reward, "%.2f", rh_rng_uniform(&rng));
        used +=
            (size_t)snprintf(text + used, size - used, "%d,%.17g,%.17g,%s,%s\n", e,
                             rh_rng_uniform(&rng), rh_rng_range(&rng, -1.0, 1.0), act, reward);
    }
    assert_true(used < size);
}

static rh_log *read_text(const char *text, const char *derive, int stack)
{
    rh_log_options opt = rh_log_defaults();
    rh_log *log = NULL;
    rh_error err;
    if (rh_csv__read_bytes(&log, text, strlen(text), "x.csv", &opt, &err) ||
        (derive && rh_log__derive(&log, derive, "x.csv", &err)) ||
        (stack > 1 && rh_log__stack(&log, stack, "x.csv", &err)))
        fail_msg("%s", err.text);
    return log;
}

// Show the raw log to an observer and compare with the log that was read with the options.
static void compare(uint64_t seed, int kind, const char *derive, int stack)
{
    static char text[1 << 16];
    write_log(text, sizeof text, seed, kind);
    rh_log *raw = read_text(text, NULL, 1), *made = read_text(text, derive, stack);
    rh_observer *o = NULL;
    double obs[RH_MAX_OBS];
    int64_t at = 0; // in made
    assert_int_equal(rh_observer__create(&o, raw->obs_name, raw->nobs, derive, stack,
                                         raw->naction, raw->nact, NULL),
                     RH_OK);
    assert_int_equal(rh_observer__nobs(o), made->nobs);
    size_t size = (size_t)made->nobs * sizeof *obs;
    assert_int_equal(made->stack > 1 ? made->stack : 1, stack);
    assert_true(derive ? strcmp(made->derive, derive) == 0 : !made->derive);
    int64_t live = rh_base__alloc_count();
    for (int e = 0; e < raw->nepisode; e++) {
        rh_observer__begin(o, raw->start[e]);
        for (int64_t t = raw->first[e]; t < raw->first[e + 1]; t++) {
            bool whole =
                rh_observer__show(o, raw->obs + (int64_t)raw->from[t] * raw->nobs, obs);
            if (whole)
                assert_memory_equal(obs, made->obs + (int64_t)made->from[at] * made->nobs,
                                    size);
            rh_observer__act(o, raw->act + t * raw->nact);
            if (whole) {
                rh_observer__show(o, raw->obs + (int64_t)raw->to[t] * raw->nobs, obs);
                assert_memory_equal(obs, made->obs + (int64_t)made->to[at] * made->nobs, size);
            }
            at += whole;
        }
    }
    assert_int_equal(at, made->n); // as many, and none too many
    assert_int_equal(rh_base__alloc_count(), live);
    rh_observer__destroy(o);
    rh_log_destroy(raw);
    rh_log_destroy(made);
}

static void one_at_a_time_as_from_a_file(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 3; kind++)
        for (int stack = 1; stack <= 5; stack++) {
            compare(1, kind, NULL, stack);
            compare(2, kind, "d = x - y", stack);
            compare(3, kind, " d = x - y;; q = 1/(d > 0) ; ", stack);
        }
}

static void counts(void **unused)
{
    (void)unused;
    assert_int_equal(rh_derive__count(NULL), 0);
    assert_int_equal(rh_derive__count(" ; "), 0);
    assert_int_equal(rh_derive__count("d = a"), 1);
    assert_int_equal(rh_derive__count(" d = a;; e = b ;"), 2);
}

static void refusals(void **unused)
{
    (void)unused;
    static const char *const name[] = {"x", "y"};
    rh_observer *o = NULL;
    rh_error err = {""};
    assert_int_equal(rh_observer__create(&o, name, 2, "d = c", 1, 2, 1, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "derive"));
    assert_int_equal(rh_observer__create(&o, name, 2, NULL, 65, 2, 1, &err), RH_EINVAL);
    assert_int_equal(rh_observer__create(&o, name, 0, NULL, 1, 2, 1, &err), RH_EINVAL);
    assert_int_equal(rh_observer__create(&o, name, 2, NULL, 64, 9, 1, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "numbers in an observation, expected at most 256"));
    for (int64_t n = 1; !o; n++) {
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_observer__create(&o, name, 2, "d = x - y", 2, 2, 1, NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
    }
    rh_observer__destroy(o);
    assert_int_equal(rh_base__alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time_as_from_a_file),
        cmocka_unit_test(counts),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
