// test_nn_file.c - neural network models in a file: the same bits come back, and what is
// damaged or of another shape is refused.

#include "base/base_internal.h"
#include "base/in_memory.h"
#include "nn_sample.h"
#include "store_sample.h"

#include <unistd.h>

static char folder[64], path[96];

static int make_folder(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "nn"))
        return -1;
    snprintf(path, sizeof path, "%s/nn.model", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder); // fails when a test left something behind
}

static rh_status write_member(const sample *s, const void *member, rh_error *err)
{
    return write_alone(&rh_model_nn, &s->model, member, path, err);
}

static rh_status read_member(const sample *s, void **member, rh_error *err)
{
    return read_alone(&rh_model_nn, &s->model, member, path, err);
}

static rh_nn *fit_small(sample *s, bool discrete, bool ends)
{
    linear_sample(s, 60, discrete, ends, 1);
    s->param[RH_NN_EPOCHS] = 2;
    s->param[RH_NN_HIDDEN] = 5;
    return fit_sample(s);
}

static void written_and_read(void **unused)
{
    (void)unused;
    static sample s;
    rh_error err;
    for (int variant = 0; variant < 4; variant++) {
        void *back = NULL;
        double obs[2], act[2], next[2], other[2];
        rh_nn *nn = fit_small(&s, variant % 2, variant / 2);
        if (write_member(&s, nn, &err) || read_member(&s, &back, &err))
            fail_msg("%s", err.text);
        unlink(path);
        rh_rng rng = rh_rng_stream(2, RH_STREAM_START, 0, 0);
        for (int i = 0; i < 40; i++) {
            draw_query(&s, &rng, obs, act);
            rh_model__expected e = expect(&s, nn, obs, act, next);
            rh_model__expected f = expect(&s, back, obs, act, other);
            assert_memory_equal(next, other, sizeof next);
            assert_true(e.reward == f.reward);
            assert_true(e.terminal == f.terminal);
        }
        rh_nn__destroy(nn);
        rh_nn__destroy(back);
    }
}

// Write nn as it is now, and have it refused with a message that ends in `message`.
static void refused(const sample *s, const rh_nn *nn, const char *message)
{
    rh_error err = {""};
    void *back = NULL;
    int64_t live = rh_base__alloc_live();
    if (write_member(s, nn, &err))
        fail_msg("%s", err.text);
    assert_int_equal(read_member(s, &back, &err), RH_EFORMAT);
    unlink(path);
    assert_null(back);
    assert_int_equal(rh_base__alloc_live(), live);
    const char *found = strstr(err.text, message);
    if (!found || strncmp(err.text, path, strlen(path)) != 0)
        fail_msg("%s\nexpected: %s", err.text, message);
}

static void damage(sample *s, rh_nn *nn, double *number, double value, const char *message)
{
    double right = *number;
    *number = value;
    refused(s, nn, message);
    *number = right;
}

static void damaged_files(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn = fit_small(&s, true, true);
    damage(&s, nn, nn->input.lo, NAN, "inputs: range 1 is nan to");
    damage(&s, nn, nn->input.hi + 1, INFINITY, "inputs: range 2 is");
    damage(&s, nn, nn->sensor.lo + 1, 1e300, "sensors: range 2 is 1e+300 to");
    rh_nn__span *state = &nn->target[RH_NN_OF_STATE], *end = &nn->target[RH_NN_OF_END];
    damage(&s, nn, state->hi, -1e300, "state_range: range 1 is");
    damage(&s, nn, nn->target[RH_NN_OF_REWARD].hi, NAN, "reward_range: range 1 is");
    damage(&s, nn, end->lo, 0.0, "end_range: 0 to 1, expected 0 to 0, 1 to 1 or -1 to 1");
    damage(&s, nn, end->lo, -2.0, "end_range: -2 to 1, expected");

    // the shape is the model's
    damage(&s, nn, &s.param[RH_NN_HIDDEN], 6, "state_weights: ");
    s.model.task.nobs = 3;
    refused(&s, nn, "inputs: ");
    s.model.task.nobs = 2;

    // weights that are missing, or no numbers
    rh_mlp *reward = nn->net[RH_NN_OF_REWARD];
    nn->net[RH_NN_OF_REWARD] = NULL;
    refused(&s, nn, "reward_weights");
    nn->net[RH_NN_OF_REWARD] = reward;
    double *w = rh_alloc(rh_mlp__nparam(reward), sizeof *w);
    assert_non_null(w);
    rh_mlp__get(reward, RH_MLP_WEIGHTS, w);
    w[7] = INFINITY;
    rh_mlp__set(reward, RH_MLP_WEIGHTS, w);
    refused(&s, nn, "reward_weights: weight 8 is inf");
    rh_free(w);
    rh_nn__destroy(nn);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    static sample s;
    rh_nn *nn = fit_small(&s, true, true);
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth++) {
        void *back = NULL;
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rh_status rc = write_member(&s, nn, &err);
        if (!rc)
            rc = read_member(&s, &back, &err);
        rh_base__alloc_fail_at(0);
        unlink(path);
        done = rc == RH_OK;
        assert_true(done || rc == RH_ENOMEM);
        rh_nn__destroy(back);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_nn__destroy(nn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
