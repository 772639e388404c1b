// test_memory.c - the replay memory: its rows are the n-step transitions of the episodes, the
// oldest make room, draws are uniform, and a smaller memory takes the newest.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "agent/scaling.h"
#include "base/base.h"
#include "base/base_internal.h"

enum { NOBS = 2, NACT = 1, WIDTH = 2 * NOBS + NACT + 2 };

static rh_memory memory_of(int n, int64_t room, double gamma)
{
    rh_memory m = {.nobs = NOBS, .nact = NACT, .n = n, .gamma = gamma, .room = room};
    assert_int_equal(rh_memory__init(&m, "test", NULL), RH_OK);
    return m;
}

// Step t of a run: its observation, action and reward can be told from t.
static const float *obs_of(int t, float *obs)
{
    obs[0] = (float)t;
    obs[1] = (float)-t;
    return obs;
}

static double reward_of(int t)
{
    return 1.0 + 0.5 * (t % 7);
}

typedef enum ending { TERMINAL, TRUNCATED, INTERRUPTED } ending;

// An episode of the steps from .. to - 1.
static void episode(rh_memory *m, int from, int to, ending how)
{
    float s[NOBS], s2[NOBS];
    rh_memory__start(m);
    for (int t = from; t < to; t++) {
        float act = (float)(100 + t);
        if (t + 1 < to || how == INTERRUPTED)
            rh_memory__step(m, obs_of(t, s), &act, reward_of(t), obs_of(t + 1, s2));
        else
            rh_memory__last(m, obs_of(t, s), &act, reward_of(t),
                            how == TERMINAL ? NULL : obs_of(t + 1, s2));
    }
}

// The rows from step `from` on, of an episode that ends before step `to`, by the definition.
static void check_row(const float *row, int t, int to, int n, double gamma, ending how)
{
    int m = to - t < n ? to - t : n;
    bool ends = t + m == to && how == TERMINAL;
    double ret = 0.0;
    for (int k = 0; k < m; k++)
        ret += pow(gamma, k) * reward_of(t + k);
    assert_true(row[0] == (float)t);
    assert_true(row[1] == (float)-t);
    assert_true(row[2] == (ends ? 0.0f : (float)(t + m)));
    assert_true(row[4] == (float)(100 + t));
    assert_true(fabs((double)row[5] - ret) < 1e-6 * fabs(ret));
    assert_true(fabs((double)row[6] - (ends ? 0.0 : pow(gamma, m))) < 1e-7);
}

static void rows_are_n_step_transitions(void **unused)
{
    (void)unused;
    for (int n = 1; n <= 5; n++)
        for (int length = 1; length <= 8; length++)
            for (int how = TERMINAL; how <= INTERRUPTED; how++) {
                rh_memory m = memory_of(n, 64, 0.9);
                episode(&m, 3, 3 + length, (ending)how);
                int64_t whole = length >= n ? length - n + 1 : 0;
                assert_int_equal(m.count, how == INTERRUPTED ? whole : length);
                for (int i = 0; i < m.count; i++)
                    check_row(m.row + i * WIDTH, 3 + i, 3 + length, n, 0.9, (ending)how);
                int64_t before = m.count;
                episode(&m, 50, 50 + n, TERMINAL); // nothing of the interrupted one comes along
                assert_int_equal(m.count, before + n);
                check_row(m.row + before * WIDTH, 50, 50 + n, n, 0.9, TERMINAL);
                rh_memory__clear(&m);
            }
}

typedef struct drawn {
    float obs[64 * NOBS], next[64 * NOBS], act[64 * NACT], reward[64], discount[64];
    rh_memory__batch batch;
} drawn;

static void make_batch(drawn *d, int n)
{
    d->batch = (rh_memory__batch){.n = n,
                                  .obs = d->obs,
                                  .next = d->next,
                                  .act = d->act,
                                  .reward = d->reward,
                                  .discount = d->discount};
}

// The oldest make room. 6,400 draws of 10 rows: chi-square of 9 degrees of freedom stays below
// its 99.9999 % quantile, 45.1.
static void draws_are_uniform_over_the_newest(void **unused)
{
    (void)unused;
    rh_memory m = memory_of(1, 10, 0.9);
    episode(&m, 0, 37, TRUNCATED);
    rh_rng rng = rh_rng_stream(4, RH_STREAM_AGENT, 0, 0);
    double count[10] = {0}, chi = 0.0;
    drawn d;
    make_batch(&d, 64);
    for (int k = 0; k < 100; k++) {
        rh_memory__draw(&m, &rng, &d.batch, 0, 64);
        for (int i = 0; i < 64; i++) {
            int t = (int)d.obs[i * NOBS];
            assert_true(t >= 27);
            assert_true(t < 37);
            count[t - 27]++;
            assert_true(d.next[i * NOBS] == (float)(t + 1));
            assert_true(d.act[i] == (float)(100 + t));
            assert_true(d.reward[i] == (float)reward_of(t));
            assert_true(d.discount[i] == 0.9f);
        }
    }
    for (int i = 0; i < 10; i++)
        chi += (count[i] - 640.0) * (count[i] - 640.0) / 640.0;
    assert_true(chi < 45.1);
    rh_memory__clear(&m);
}

// A batch of two memories: a share from one, the rest from the other.
static void two_memories_fill_one_batch(void **unused)
{
    (void)unused;
    rh_memory log = memory_of(1, 20, 0.9), own = memory_of(1, 20, 0.9);
    episode(&log, 0, 20, TRUNCATED);
    episode(&own, 20, 40, TRUNCATED);
    rh_rng rng = rh_rng_stream(4, RH_STREAM_AGENT, 0, 0);
    drawn d;
    make_batch(&d, 64);
    rh_memory__draw(&log, &rng, &d.batch, 0, 16);
    rh_memory__draw(&own, &rng, &d.batch, 16, 64);
    for (int i = 0; i < 64; i++)
        assert_true((d.obs[i * NOBS] < 20.0f) == (i < 16));
    rh_memory__clear(&log);
    rh_memory__clear(&own);
}

// A loaded memory draws the same rows, wherever its ring begins; a smaller one has the newest.
static void saved_and_loaded(void **unused)
{
    (void)unused;
    for (int steps = 0; steps < 25; steps += 4) {
        rh_memory a = memory_of(1, 10, 0.9), b = memory_of(1, 10, 0.9),
                  c = memory_of(1, 4, 0.9);
        rh_state *state = NULL;
        episode(&a, 0, steps, TRUNCATED);
        assert_int_equal(rh_state__create(&state, NULL), RH_OK);
        assert_int_equal(rh_memory__save(&a, state, NULL), RH_OK);
        assert_int_equal(rh_memory__load(&b, state, NULL), RH_OK);
        assert_int_equal(rh_memory__load(&c, state, NULL), RH_OK);
        rh_state_destroy(state);
        for (int more = 0; more < 3; more++) {
            rh_rng first = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0), second = first;
            static drawn x, y;
            memset(&x, 0, sizeof x);
            memset(&y, 0, sizeof y);
            make_batch(&x, 20);
            make_batch(&y, 20);
            assert_int_equal(a.count, b.count);
            if (a.count) {
                rh_memory__draw(&a, &first, &x.batch, 0, 20);
                rh_memory__draw(&b, &second, &y.batch, 0, 20);
                assert_memory_equal(&x, &y, offsetof(drawn, batch));
            }
            episode(&a, 100, 103, TERMINAL);
            episode(&b, 100, 103, TERMINAL);
        }
        assert_int_equal(c.count, steps < 4 ? steps : 4);
        for (int i = 0; i < c.count; i++)
            assert_true(c.row[i * WIDTH] == (float)(steps - c.count + i));
        episode(&c, 200, 201, TERMINAL); // takes the place of the oldest
        assert_true(c.row[(steps < 4 ? steps : 0) * WIDTH] == 200.0f);
        rh_memory__clear(&a);
        rh_memory__clear(&b);
        rh_memory__clear(&c);
    }
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_error err = {""};
        rh_memory m = {.nobs = NOBS, .nact = NACT, .n = 3, .gamma = 0.9, .room = 10};
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_memory__init(&m, "test", &err);
        rh_base__alloc_fail_at(0);
        rh_memory__clear(&m);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_string_equal(err.text, "test: out of memory for 10 transitions");
    }
}

// ---------------------------------------------------------------------------- scales

static rh_task task_of(bool continuing)
{
    return (rh_task){.nobs = 2,
                     .nact = 1,
                     .naction = 2,
                     .continuing = continuing,
                     .obs_lo = {0.0, -3.0},
                     .obs_hi = {10.0, 3.0}};
}

// Mean and deviation of many numbers, whatever the range; a constant sensor stays finite.
static void observations_are_standardised(void **unused)
{
    (void)unused;
    rh_scaling s = {0};
    rh_task task = task_of(false);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    float x[2], z[2];
    assert_int_equal(
        rh_scaling__init(&s, &task, 0.9, 1.0, RH_SCALING_ONLINE, RH_SCALING_NONE, "test", NULL),
        RH_OK);

    // at first the range is what is known
    rh_scaling__ranged(&s, (double[]){10.0, -3.0}, x);
    assert_true(x[0] == 1.0f);
    assert_true(x[1] == -1.0f);
    rh_scaling__apply(&s, 1, x, z);
    assert_true(fabs((double)z[0] - sqrt(3.0)) < 1e-5);
    assert_true(z[1] == -z[0]);

    double sum = 0.0, square = 0.0;
    for (int i = 0; i < 40000; i++) {
        double normal[2];
        rh_rng_normal(&rng, normal);
        rh_scaling__ranged(&s, (double[]){7.0 + 0.5 * normal[0], 3.0}, x);
        rh_scaling__see(&s, x);
        rh_scaling__apply(&s, 1, x, z);
        assert_true(isfinite(z[1]));
        assert_true(fabsf(z[1]) <= 10.0f);
        sum += i < 20000 ? 0.0 : (double)z[0] / 20000.0;
        square += i < 20000 ? 0.0 : (double)z[0] * (double)z[0] / 20000.0;
    }
    assert_true(fabs(sum) < 0.05);         // sd of the mean 0.007, and what the prior adds
    assert_true(fabs(square - 1.0) < 0.2); // the prior makes it 8 % too small
    rh_scaling__ranged(&s, (double[]){1e9, 3.0}, x);
    rh_scaling__apply(&s, 1, x, z);
    assert_true(z[0] == 10.0f);
    rh_scaling__clear(&s);
}

// A batch of one row with this return and discount.
static float scaled(const rh_scaling *s, float ret, float discount)
{
    drawn d = {.reward = {ret}, .discount = {discount}};
    make_batch(&d, 1);
    rh_scaling__batch(s, &d.batch);
    return d.reward[0];
}

// Constant rewards: values of the wanted size, 2, in episodes, centred where they never end.
static void rewards_are_scaled(void **unused)
{
    (void)unused;
    for (int continuing = 0; continuing < 2; continuing++) {
        rh_scaling s = {0};
        rh_task task = task_of(continuing);
        assert_int_equal(rh_scaling__init(&s, &task, 0.75, 2.0, RH_SCALING_NONE,
                                          RH_SCALING_ONLINE, "test", NULL),
                         RH_OK);
        assert_true(scaled(&s, 5.0f, 0.75f) == 5.0f); // nothing is known yet
        rh_scaling__start(&s);
        for (int i = 0; i < 10000; i++)
            rh_scaling__reward(&s, continuing ? (i % 2 ? 9.0 : 11.0) : -3.0);
        if (continuing) { // G is +-1 / 1.75, all returns of constant 10 are 0
            assert_true(fabs(s.reward_mean - 10.0) < 1e-3);
            assert_true(fabs((double)scaled(&s, 10.0f, 0.75f)) < 1e-2);
            assert_true(fabs((double)scaled(&s, 17.5f, 0.5625f)) < 1e-2); // two steps
            assert_true(fabs((double)scaled(&s, 11.0f, 0.75f) - 2 * 1.75) < 4e-2);
        } else { // G is -12
            assert_true(fabs((double)scaled(&s, -12.0f, 0.0f) + 2.0) < 2e-3);
        }
        rh_scaling__clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_n_step_transitions),
        cmocka_unit_test(draws_are_uniform_over_the_newest),
        cmocka_unit_test(two_memories_fill_one_batch),
        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(every_failed_allocation),
        cmocka_unit_test(observations_are_standardised),
        cmocka_unit_test(rewards_are_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
