// test_replayed.c - replays to look at: what is logged is the log's, replays lie around it and
// never know the stretch, sensors that wrap round are unwrapped, ends are counted; the same
// bits for any number of threads.

#include "model/model.h"
#include "model/replay.h"
#include "plant_sample.h"

static rh_model *fitted(const char *name, const rh_log *log, rh_episodes episodes,
                        const char *carry)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_repr *repr = plain_repr(log, false);
    rh_model_options opt = plain_options();
    double param[RH_MODEL_NPARAM];
    const rh_model_type *type = rh_model_find(name, &err);
    assert_non_null(type);
    rh_param_initial(type->param, type->nparam, param);
    int at = rh_param_find(type->param, type->nparam, "carry");
    if (carry && at >= 0)
        assert_int_equal(rh_param_parse(&type->param[at], name, carry, &param[at], &err),
                         RH_OK);
    opt.param = param;
    opt.episodes = episodes;
    if (rh_model_fit(&model, type, log, repr, &opt, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

static rh_replays *replayed(const rh_model *model, int nthread)
{
    rh_error err = {""};
    rh_replays *all = NULL;
    if (rh_model__replay(&all, model, 1, nthread, &err))
        fail_msg("%s", err.text);
    return all;
}

// Every number of a stretch that follows from the log alone.
static void check_logged(const rh_replays *all, const rh_log *log)
{
    for (int i = 0; i < all->nstretch; i++) {
        const rh_replayed *s = &all->stretch[i];
        double sum = 0.0;
        assert_true(s->nstep >= 1);
        assert_true(s->npoint >= 2);
        assert_true(s->npoint <= RH_REPLAY_NPOINT);
        assert_int_equal(s->step[0], 0);
        assert_int_equal(s->step[s->npoint - 1], s->nstep);
        assert_true(s->nended >= 0);
        assert_true(s->nended <= all->nreplay);
        for (int p = 0, step = 0; p < s->npoint; p++) {
            assert_true(p == 0 || s->step[p] > s->step[p - 1]);
            for (; step < s->step[p]; step++)
                sum += log->reward[s->first + step];
            assert_true(fabs(s->logged[all->nsensor][p] - sum) < 1e-9);
            for (int k = 0; k < all->nsensor; k++) {
                int32_t row = step ? log->to[s->first + step - 1] : log->from[s->first];
                if (row != RH_UNKNOWN)
                    assert_true(s->logged[k][p] ==
                                log->obs[(int64_t)row * log->nobs + all->sensor[k]]);
            }
            for (int k = 0; k <= all->nsensor; k++) {
                if (isnan(s->median[k][p]))
                    continue; // all replays have ended
                assert_true(s->lo[k][p] <= s->median[k][p]);
                assert_true(s->median[k][p] <= s->hi[k][p]);
                if (p == 0) {
                    assert_true(s->lo[k][0] == s->logged[k][0]);
                    assert_true(s->hi[k][0] == s->lo[k][0]);
                }
            }
        }
    }
}

// In a smooth plant without noise, carrying is near the log; what is replayed was held out, so
// it is not equal to it, though a model of all of the log would be.
static void near_and_not_equal(void **unused)
{
    (void)unused;
    rh_log *log = log_of_plant(SMOOTH, 900, 30);
    rh_model *model = fitted("knn", log, RH_EPISODES_CONTINUE, "local");
    rh_replays *all = replayed(model, 1);
    assert_int_equal(all->nstretch, RH_REPLAY_NSTRETCH);
    assert_int_equal(all->nsensor, 3);
    assert_int_equal(all->nvary, 3);
    check_logged(all, rh_model_log(model));
    double off = 0.0, far = 0.0;
    int n = 0;
    for (int i = 0; i < all->nstretch; i++) {
        const rh_replayed *s = &all->stretch[i];
        assert_true(i == 0 || s->first > all->stretch[i - 1].first + all->stretch[i - 1].nstep);
        for (int k = 0; k < 3; k++)
            for (int p = 1; p < s->npoint; p++, n++) {
                off += fabs(s->median[k][p] - s->logged[k][p]);
                far += fabs(s->logged[k][p] - s->logged[k][0]);
            }
    }
    assert_true(off > 1e-6 * n);   // 0 if the stretch were in the model
    assert_true(off < 0.25 * far); // of persistence
    rh_replays__destroy(all);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Episodes that end: a replay that has ended has no states and keeps its sum of rewards.
static void ends_are_counted(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(2, 400, 2, 2);
    rh_model *model = fitted("knn", log, RH_EPISODES_AUTO, "none");
    rh_replays *all = replayed(model, 1);
    int nended = 0, nreplay = 0;
    check_logged(all, rh_model_log(model));
    for (int i = 0; i < all->nstretch; i++) {
        const rh_replayed *s = &all->stretch[i];
        nended += s->nended;
        nreplay += s->ended;
        int last = s->npoint - 1;
        assert_false(isnan(s->median[all->nsensor][last]));
        if (s->nended == all->nreplay) // and none of them in this very step
            assert_true(isnan(s->lo[0][last]) == isnan(s->hi[0][last]));
    }
    assert_true(nended > 0);
    assert_true(nreplay > 0);
    rh_replays__destroy(all);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// An angle from -pi to pi that turns all the time.
static void angles_are_unwrapped(void **unused)
{
    (void)unused;
    static const char *const label[] = {"a", "b"};
    rh_log_shape shape = {.nobs = 1,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = 2,
                          .declared = true,
                          .path = "turn.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(12, RH_STREAM_NOISE, 0, 0);
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    double at = 0.0;
    for (int i = 0; i < 1500; i++) {
        double act = rh_rng_below(&rng, 2), z[2];
        rh_rng_normal(&rng, z);
        double next = at + 0.25 + 0.1 * act + 0.02 * z[0];
        next -= 2.0 * M_PI * floor((next + M_PI) / (2.0 * M_PI));
        rh_log_row row = {.obs = &at,
                          .act = &act,
                          .reward = 1.0,
                          .next = &next,
                          .begins = i == 0,
                          .truncated = i == 1499};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        at = next;
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    rh_model *model = fitted("knn", log, RH_EPISODES_CONTINUE, "local");
    assert_true(fabs(rh_model_facts(model)->sensor[0].period - 2.0 * M_PI) < 0.1);
    rh_replays *all = replayed(model, 1);
    assert_true(all->nstretch >= 4);
    assert_int_equal(all->nsensor, 1);
    double longest = 0.0;
    for (int i = 0; i < all->nstretch; i++) {
        const rh_replayed *s = &all->stretch[i];
        for (int p = 0; p < s->npoint; p++) {
            assert_true(p == 0 || s->logged[0][p] > s->logged[0][p - 1]);
            assert_true(s->hi[0][p] - s->lo[0][p] < 2.0); // opposite sides would be 2 pi apart
            assert_true(fabs(s->median[0][p] - s->logged[0][p]) < 2.0);
        }
        longest = fmax(longest, s->logged[0][s->npoint - 1] - s->logged[0][0]);
    }
    assert_true(longest > 2.0 * M_PI); // more than a turn
    rh_replays__destroy(all);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void same_bits(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_model_ntype(); i++) {
        rh_log *log = log_by_chance(2, 400, 2, 2);
        rh_model *model = fitted(rh_model_type_at(i)->name, log, RH_EPISODES_AUTO, NULL);
        rh_replays *one = replayed(model, 1), *three = replayed(model, 3);
        assert_true(one->nstretch > 0);
        assert_memory_equal(one, three, sizeof *one);
        rh_replays__destroy(one);
        rh_replays__destroy(three);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

static void too_short(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(2, 20, 2, 2);
    rh_model *model = fitted("knn", log, RH_EPISODES_AUTO, NULL);
    rh_replays *all = replayed(model, 1);
    assert_int_equal(all->nstretch, 0);
    rh_replays__destroy(all);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(6, 120, 2, 2);
    rh_model *model = fitted("knn", log, RH_EPISODES_AUTO, NULL);
    int64_t live = rh_base__alloc_live(), nth = 0;
    rh_status rc = RH_ENOMEM;
    while (rc == RH_ENOMEM) {
        rh_error err = {""};
        rh_replays *all = NULL;
        rh_base__alloc_fail_at(++nth);
        rc = rh_model__replay(&all, model, 1, 1, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK ? all != NULL : rc == RH_ENOMEM && err.text[0] && !all);
        rh_replays__destroy(all);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    assert_true(nth > 20);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_and_not_equal),
        cmocka_unit_test(ends_are_counted),
        cmocka_unit_test(angles_are_unwrapped),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(too_short),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
