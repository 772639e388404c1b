// test_knn_file.c - a member comes back from a file bit for bit; what does not fit the model
// is refused by name.

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "model_sample.h"
#include "store_sample.h"

#include "model/knn_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[96];

static int make_folder(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "knn"))
        return -1;
    snprintf(path, sizeof path, "%s/member", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder); // fails when a test left something behind
}

static void save(const rh_model *model)
{
    rh_error err = {""};
    if (write_alone(&rh_model_knn, model, model->member[0], path, &err))
        fail_msg("%s", err.text);
}

static rh_status load(const rh_model *model, rh_knn **knn, rh_error *err)
{
    void *member = NULL;
    rh_status rc = read_alone(&rh_model_knn, model, &member, path, err);
    *knn = member;
    return rc;
}

static void same_array(const void *a, const void *b, int64_t n, size_t size)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a && n)
        assert_memory_equal(a, b, (size_t)n * size);
}

// ---------------------------------------------------------------------------- there and back

// A sum over a run by chance, which differs as soon as anything does.
static double live(const rh_model *model, const rh_knn *knn)
{
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_knn.calls->env(&env, model, knn, model->param, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                          rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    double obs[8], act[2], reward, sum = 0.0;
    rh_env_start(env, state, &streams, obs);
    for (int i = 0; i < 2000; i++) {
        for (int k = 0; k < 2; k++)
            act[k] = model->log->naction
                         ? (double)rh_rng_below(&rng, (uint32_t)model->log->naction)
                         : rh_rng_range(&rng, -1.2, 1.2);
        if (rh_env_step(env, state, act, &streams, obs, &reward))
            rh_env_start(env, state, &streams, obs);
        sum = 0.999 * sum + reward + obs[0];
    }
    rh_free(state);
    rh_env_destroy(env);
    return sum;
}

static void there_and_back(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < 6; variant++) {
        rh_log *log = log_by_chance(51, 400, 3, variant < 3 ? 3 : 0);
        rh_model_options opt = plain_options();
        opt.resample = (rh_resample)(variant % 3);
        rh_model *model = fit_plain(&rh_model_knn, log, variant == 5, &opt);
        const rh_knn *a = model->member[0];
        rh_knn *b = NULL;
        rh_error err = {""};
        save(model);
        int64_t before = rh_base__alloc_live();
        if (load(model, &b, &err))
            fail_msg("%s", err.text);
        assert_int_equal(a->k, b->k);
        assert_int_equal(a->nuse, b->nuse);
        assert_int_equal(a->nnear, b->nnear);
        assert_int_equal(a->npoint, b->npoint);
        assert_int_equal(a->points != NULL, b->points != NULL);
        int64_t n = model->log->nstate * model->log->naction * a->k;
        same_array(a->use, b->use, a->nuse, sizeof *a->use);
        same_array(a->index, b->index, n, sizeof *a->index);
        same_array(a->distance, b->distance, n, sizeof *a->distance);
        same_array(a->near, b->near, a->nnear, sizeof *a->near);
        assert_true(a->step == b->step);
        assert_true(a->reach == b->reach);
        assert_memory_equal(a->lo, b->lo, sizeof a->lo);
        assert_memory_equal(a->hi, b->hi, sizeof a->hi);
        assert_true(live(model, a) == live(model, b));
        rh_knn__destroy(b);
        assert_int_equal(rh_base__alloc_live(), before);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// A reach without end, and no queries that have an answer.
static void without_reach(void **unused)
{
    (void)unused;
    static const walk w[] = {{1e30, 0, -1, 0, 0, 1}, {0, 0, -1, 1, ENDS, 0}};
    rh_log *log = log_of(w, 2, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_knn *knn = model->member[0], *back = NULL;
    rh_error err = {""};
    knn->reach = INFINITY;
    knn->nnear = 0;
    save(model);
    if (load(model, &back, &err))
        fail_msg("%s", err.text);
    assert_true(isinf(back->reach));
    assert_int_equal(back->nnear, 0);
    rh_knn__destroy(back);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- refusals

typedef void damage(rh_knn *knn);

#define DAMAGE(name, change)                                                                   \
    static void name(rh_knn *knn)                                                              \
    {                                                                                          \
        change;                                                                                \
    }
DAMAGE(far_index, knn->index[4] = 1 << 30)
DAMAGE(other_action, knn->index[4] = knn->index[knn->k * 1000])
DAMAGE(negative_index, knn->index[4] = -2)
DAMAGE(hole_in_index, knn->index[3] = -1)
DAMAGE(negative_distance, knn->distance[0] = -1.0f)
DAMAGE(no_distance, knn->distance[4] = NAN)
DAMAGE(infinite_distance, knn->distance[5] = INFINITY)
DAMAGE(unsorted, knn->distance[3] = 1e9f)
DAMAGE(far_use, knn->use[knn->nuse - 1] = 400)
DAMAGE(negative_use, knn->use[0] = -1)
DAMAGE(backward_use, knn->use[7] = 0)
DAMAGE(empty_use, knn->nuse = 0)
DAMAGE(negative_near, knn->near[0] = -1.0f)
DAMAGE(no_near, knn->near[3] = NAN)
DAMAGE(unsorted_near, knn->near[3] = 1e9f)
DAMAGE(negative_step, knn->step = -1.0)
DAMAGE(no_step, knn->step = NAN)
DAMAGE(no_reach, knn->reach = NAN)
DAMAGE(other_k, knn->k = 2)

static const struct {
    damage *damage;
    const char *words;
} damaged[] = {
    {far_index, "index: entry 4 is 1073741824, expected a transition with action 0"},
    {other_action, "index: entry 4 is"},
    {negative_index, "index: entry 4 is -2"},
    {hole_in_index, "distance: entry 3 is"},
    {negative_distance, "distance: entry 0 is -1, expected 0 or more, in ascending order"},
    {no_distance, "distance: entry 4 is nan"},
    {infinite_distance, "distance: entry 5 is inf"},
    {unsorted, "distance: entry 4 is"},
    {far_use, "use: entry 359 is 400, expected"},
    {negative_use, "use: entry 0 is -1, expected 0 to 399"},
    {backward_use, "use: entry 7 is 0, expected"},
    {empty_use, "use: empty, expected at least one transition"},
    {negative_near, "near: entry 0 is -1"},
    {no_near, "near: entry 3 is nan"},
    {unsorted_near, "near: entry 4 is"},
    {negative_step, "step"},
    {no_step, "step"},
    {no_reach, "reach"},
    {other_k, "k"},
};

static void what_does_not_fit(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(52, 400, 2, 3);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        rh_model_options opt = plain_options();
        opt.resample = RH_RESAMPLE_SUBSET;
        rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
        damaged[i].damage(model->member[0]);
        save(model);
        rh_knn *knn = NULL;
        rh_error err = {""};
        int64_t before = rh_base__alloc_live();
        if (load(model, &knn, &err) != RH_EFORMAT || knn)
            fail_msg("read, expected '%s'", damaged[i].words);
        if (!strstr(err.text, damaged[i].words) || !strstr(err.text, "member: ") ||
            strchr(err.text, '\n'))
            fail_msg("'%s' does not say '%s'", err.text, damaged[i].words);
        assert_int_equal(rh_base__alloc_live(), before);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// A table of another log does not have this one's size.
static void another_model(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(53, 100, 2, 3), *other = log_by_chance(53, 90, 2, 3);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_model *wrong = fit_plain(&rh_model_knn, other, false, &opt);
    rh_knn *knn = NULL;
    rh_error err = {""};
    save(model);
    assert_int_equal(load(wrong, &knn, &err), RH_EFORMAT);
    assert_non_null(strstr(err.text, "index"));
    rh_model_destroy(model);
    rh_model_destroy(wrong);
    rh_log_destroy(log);
    rh_log_destroy(other);
}

static void without_memory(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 2; naction += 2) {
        rh_log *log = log_by_chance(54, 60, 2, naction);
        rh_model_options opt = plain_options();
        opt.resample = RH_RESAMPLE_BOOTSTRAP;
        rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
        save(model);
        rh_knn *knn = NULL;
        rh_status rc = RH_ENOMEM;
        int64_t before = rh_base__alloc_live();
        for (int n = 1; rc; n++) {
            rh_error err = {""};
            rh_base__alloc_fail_at(n);
            rc = load(model, &knn, &err);
            rh_base__alloc_fail_at(0);
            if (rc && (rc != RH_ENOMEM || knn || rh_base__alloc_live() != before))
                fail_msg("allocation %d: %d '%s'", n, (int)rc, err.text);
        }
        rh_knn__destroy(knn);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),    cmocka_unit_test(without_reach),
        cmocka_unit_test(what_does_not_fit), cmocka_unit_test(another_model),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
