// test_queues.c - bins of observations and the samples in them, against counting by hand.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "env/alloc_test.h"
#include "offline/queues.h"

#include <math.h>
#include <string.h>

enum { NOBS = 2, NACTION = 3, N = 400 };

static rh_task task_of(void)
{
    rh_task task = {.nobs = NOBS, .naction = NACTION, .nact = 1, .gamma = 1.0, .nstep = 100};
    task.obs_name[0] = "x";
    task.obs_name[1] = "y";
    task.obs_lo[0] = -2.0;
    task.obs_hi[0] = 2.0;
    task.obs_lo[1] = 0.0;
    task.obs_hi[1] = 10.0;
    return task;
}

static rh_log_builder *open_log(void)
{
    static const char *const label[] = {"0", "1", "2"};
    rh_log_builder *builder = NULL;
    rh_log_shape shape = {.nobs = NOBS,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = NACTION,
                          .declared = true,
                          .format = "test"};
    assert_int_equal(rh_log_builder_create(&builder, &shape, NULL), RH_OK);
    return builder;
}

static rh_log *close_log(rh_log_builder *builder)
{
    rh_log *log = NULL;
    assert_int_equal(rh_log_finish(builder, &log, NULL), RH_OK);
    rh_log_builder_destroy(builder);
    return log;
}

// Observations in a disc, some outside the ranges; episodes of 20 steps.
static rh_log *random_log(void)
{
    rh_rng rng = rh_rng_stream(5, RH_STREAM_FIT, 0, 0);
    rh_log_builder *builder = open_log();
    double obs[NOBS] = {0}, next[NOBS];
    for (int i = 0; i < N; i++) {
        double z[2], act = rh_rng_below(&rng, NACTION);
        rh_rng_normal(&rng, z);
        next[0] = 0.9 * z[0];
        next[1] = 5.0 + 2.5 * z[1];
        rh_log_row row = {.obs = obs,
                          .act = &act,
                          .reward = z[0],
                          .next = next,
                          .terminal = i % 20 == 19,
                          .begins = i % 20 == 0};
        assert_int_equal(rh_log_push(builder, &row, NULL), RH_OK);
        memcpy(obs, next, sizeof obs);
    }
    return close_log(builder);
}

static int part(const rh_task *task, int d, int bins, double x)
{
    int p = 0; // by its edges
    while (p < bins - 1 &&
           x >= task->obs_lo[d] + (p + 1) * (task->obs_hi[d] - task->obs_lo[d]) / bins)
        p++;
    return p;
}

static int flat(const rh_task *task, const rh_log *log, int32_t row, int bins)
{
    const double *obs = log->obs + (size_t)row * NOBS;
    return part(task, 0, bins, obs[0]) * bins + part(task, 1, bins, obs[1]);
}

static int64_t count_used(const rh_task *task, const rh_log *log, int bins)
{
    static uint8_t used[RH_REPLAY_MAX_BINS * RH_REPLAY_MAX_BINS];
    int64_t n = 0;
    memset(used, 0, sizeof used);
    for (int64_t i = 0; i < log->n; i++) {
        uint8_t *at = &used[flat(task, log, log->from[i], bins)];
        n += !*at;
        *at = 1;
    }
    return n;
}

static void queues_have_their_samples(void **unused)
{
    (void)unused;
    rh_task task = task_of();
    rh_log *log = random_log();
    static const int bins[] = {1, 2, 3, 7, 16, 255, 256};
    for (size_t b = 0; b < sizeof bins / sizeof *bins; b++) {
        rh_queues q;
        assert_int_equal(rh_queues__init(&q, log, &task, bins[b], NULL), RH_OK);
        assert_int_equal(q.nsample, N);
        assert_int_equal(q.nused, count_used(&task, log, bins[b]));
        assert_int_equal(q.first[0], 0);
        assert_int_equal(q.first[(size_t)q.nbin * NACTION], N);
        int64_t seen = 0;
        for (int32_t s = 0; s < q.nbin; s++)
            for (int a = 0; a < NACTION; a++)
                for (int32_t k = q.first[s * NACTION + a]; k < q.first[s * NACTION + a + 1];
                     k++) {
                    int32_t i = q.sample[k], before = q.sample[rh_queues__begin(&q, s)];
                    assert_int_equal(log->act[i], a);
                    assert_int_equal(flat(&task, log, log->from[i], bins[b]),
                                     flat(&task, log, log->from[before], bins[b]));
                    assert_true(k == q.first[s * NACTION + a] || q.sample[k - 1] < i);
                    seen++;
                }
        assert_int_equal(seen, N);

        // rows share a number exactly where they share a bin
        for (int32_t i = 0; i < log->nstate; i += 3)
            for (int32_t j = 0; j < i; j += 5)
                assert_true((q.bin[i] == q.bin[j]) ==
                            (flat(&task, log, i, bins[b]) == flat(&task, log, j, bins[b])));

        // 20 episodes
        assert_int_equal(q.nstart, N / 20);
        for (int e = 0; e < q.nstart; e++)
            assert_int_equal(q.start[e], log->from[log->first[e]]);
        rh_queues__clear(&q);
    }
    rh_log_destroy(log);
}

static void the_rule_of_bins(void **unused)
{
    (void)unused;
    rh_task task = task_of();
    rh_log *log = random_log();
    int expected = 1;
    while (expected < 64 && N >= 5 * NACTION * count_used(&task, log, expected + 1))
        expected++;
    assert_true(expected > 1);
    assert_true(expected < 20);
    rh_replay_grid grid;
    assert_int_equal(rh_replay_describe(log, &task, RH_REPLAY_AUTO, &grid, NULL), RH_OK);
    assert_int_equal(grid.bins, expected);
    assert_int_equal(grid.nbin, count_used(&task, log, expected));
    assert_int_equal(grid.nsample, N);
    assert_int_equal(grid.nstart, N / 20);
    assert_true(grid.per_action == (double)N / (double)grid.nbin / NACTION);
    assert_true(grid.per_action >= 5.0);
    assert_int_equal(rh_replay_describe(log, &task, expected + 1, &grid, NULL), RH_OK);
    assert_true(grid.per_action < 5.0);
    rh_log_destroy(log);

    // all in one place: as many as are tried
    rh_log_builder *builder = open_log();
    double obs[NOBS] = {0.5, 0.5}, act = 1;
    for (int i = 0; i < 20; i++)
        assert_int_equal(
            rh_log_push(builder, &(rh_log_row){.obs = obs, .act = &act, .next = obs}, NULL),
            RH_OK);
    log = close_log(builder);
    assert_int_equal(rh_replay_describe(log, &task, RH_REPLAY_AUTO, &grid, NULL), RH_OK);
    assert_int_equal(grid.bins, 64);
    rh_log_destroy(log);
}

// What is missing makes a sample useless, but not the next state of a terminal step.
static void missing_numbers(void **unused)
{
    (void)unused;
    rh_task task = task_of();
    rh_log_builder *builder = open_log();
    static const double kept[] = {2, 5, 6};
    double whole[NOBS] = {0.5, 0.5}, hole[NOBS] = {0.5, NAN}, act = 2;
    rh_log_row row[] = {
        {.obs = hole, .act = &act, .reward = 1, .next = whole, .begins = true},
        {.obs = whole, .act = &act, .reward = 2, .next = hole, .terminal = true},
        {.obs = whole, .act = &act, .reward = 3, .next = hole, .begins = true},
        {.obs = hole, .act = &act, .reward = 4, .next = whole, .truncated = true},
        {.obs = whole,
         .act = &act,
         .reward = 5,
         .next = whole,
         .begins = true,
         .resumes = true},
        {.obs = whole, .act = &act, .reward = 6, .next = whole, .truncated = true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(rh_log_push(builder, &row[i], NULL), RH_OK);
    rh_log *log = close_log(builder);
    rh_queues q;
    assert_int_equal(rh_queues__init(&q, log, &task, 4, NULL), RH_OK);
    assert_int_equal(q.nsample, 3);
    for (int k = 0; k < 3; k++)
        assert_true(log->reward[q.sample[k]] == kept[k]);
    assert_int_equal(q.nstart, 1); // the first begins with a hole, the third after a gap
    rh_queues__clear(&q);
    rh_log_destroy(log);

    // nothing is left
    builder = open_log();
    assert_int_equal(rh_log_push(builder, &row[0], NULL), RH_OK);
    log = close_log(builder);
    rh_error err = {""};
    rh_replay_grid grid;
    assert_int_equal(rh_replay_describe(log, &task, 4, &grid, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "replay: the log has 0 transitions and 0 start states without missing "
                        "numbers, expected 1 or more of both");
    rh_log_destroy(log);
}

static void survives_failed_allocations(void **unused)
{
    (void)unused;
    rh_task task = task_of();
    rh_log *log = random_log();
    rh_replay_grid grid;
    int64_t before = rh_base__alloc_live();
    int nth = 0;
    rh_status rc;
    rh_error err;
    do {
        rh_base__alloc_fail_at(++nth);
        rc = rh_replay_describe(log, &task, RH_REPLAY_AUTO, &grid, &err);
    } while (allocation_failed(rc, &err, before));
    assert_int_equal(nth, 8);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_have_their_samples),
        cmocka_unit_test(the_rule_of_bins),
        cmocka_unit_test(missing_numbers),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
