// test_nn.c - neural network models: training goes epoch by epoch as in NumPy, a linear
// system is learned, what never changes is exact, and threads change no bit.

#include "base/base_internal.h"
#include "nn_sample.h"

#include "numeric/mlp_internal.h"
#include "repr/repr_internal.h"

// ---------------------------------------------------------------------------- NumPy

enum { LINE = 1 << 14, NUMBERS = 1024 };

// The line of one case and array; how many numbers are in it.
static int reference(const char *name, const char *what, double *x)
{
    static char line[LINE];
    char begin[64];
    int n = -1;
    FILE *file = fopen(RH_TEST_DATA "/model_nn.csv", "r");
    assert_non_null(file);
    snprintf(begin, sizeof begin, "%s,%s,", name, what);
    while (n < 0 && fgets(line, LINE, file)) {
        if (strncmp(line, begin, strlen(begin)) != 0)
            continue;
        n = 0;
        for (char *word = strtok(line + strlen(begin), ",\n"); word; word = strtok(NULL, ",\n"))
            if (n < NUMBERS)
                x[n++] = strtod(word, NULL);
    }
    fclose(file);
    assert_true(n > 0);
    assert_true(n < NUMBERS);
    return n;
}

static int reference_floats(const char *name, const char *what, float *x)
{
    static double read[NUMBERS];
    int n = reference(name, what, read);
    for (int i = 0; i < n; i++)
        x[i] = (float)read[i];
    return n;
}

static void near(double x, double expected, double off, const char *what, int i)
{
    if (!(fabs(x - expected) <= off))
        fail_msg("%s %d is %.9g, expected %.9g", what, i, x, expected);
}

static void follow_learner(const char *name, int64_t nbatch)
{
    static double param[NUMBERS], held[NUMBERS], error[NUMBERS], expected[NUMBERS];
    static float x[NUMBERS], y[NUMBERS], out[NUMBERS];
    uint8_t out_of[NUMBERS];
    assert_int_equal(reference(name, "param", param), RH_NN_NPARAM);
    int n = reference(name, "held", held), nerror = reference(name, "errors", error);
    assert_int_equal(reference_floats(name, "x", x), 3 * n);
    assert_int_equal(reference_floats(name, "y", y), 2 * n);
    for (int i = 0; i < n; i++)
        out_of[i] = held[i] != 0.0;

    rh_mlp *mlp = NULL;
    rh_nn__learner l;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 1, 0);
    int hidden = (int)param[RH_NN_HIDDEN];
    assert_int_equal(rh_mlp__create(&mlp, (int[]){3, hidden, hidden, 2}, 4, 0, &rng, NULL), 0);
    assert_int_equal(rh_nn__learner_init(&l, mlp, param, x, y, n, NULL, out_of, rng, NULL), 0);

    // an epoch at a time
    double least = INFINITY;
    for (int e = 0; e < nerror; e++) {
        assert_false(l.done);
        rh_nn__learn(&l, nbatch);
        assert_int_equal(l.nepoch, e + 1);
        near(l.error, error[e], 1e-4 * error[e], "error", e);
        least = fmin(least, l.error);
    }
    assert_true(l.done);
    assert_false(l.failed);
    assert_true(l.least == least);

    // the weights are those of the best epoch
    assert_int_equal(reference(name, "outputs", expected), 2 * n);
    rh_mlp__evaluate(l.mlp, l.pass, n, x, out);
    for (int i = 0; i < 2 * n; i++)
        near((double)out[i], expected[i], 1e-4, "output", i);
    rh_nn__learner_clear(&l);
}

static void epochs_of_numpy(void **unused)
{
    (void)unused;
    follow_learner("learner", 6); // 35 rows in batches of 6
    follow_learner("rising", 6);  // ends early
}

static void follow_fit(const char *name)
{
    static sample s;
    static double x[NUMBERS], act[NUMBERS], asked[NUMBERS], expected[NUMBERS];
    double shape[NUMBERS], next[MOST_OBS];
    assert_int_equal(reference(name, "shape", shape), 5);
    int nobs = (int)shape[0], nact = (int)shape[2], n = (int)shape[4];
    begin_sample(&s, nobs, (int)shape[1], nact);
    assert_int_equal(reference(name, "param", s.param), RH_NN_NPARAM);
    s.log.n = n;
    s.log.nstate = (int64_t)shape[3];
    assert_int_equal(reference(name, "obs", s.obs), nobs * s.log.nstate);
    assert_int_equal(reference(name, "act", act), nact * n);
    memcpy(s.act, act, (size_t)(nact * n) * sizeof *act);
    assert_int_equal(reference(name, "steps", x), 4 * n);
    for (int i = 0; i < n; i++) {
        s.from[i] = (int32_t)x[4 * i];
        s.to[i] = (int32_t)x[4 * i + 1];
        s.reward[i] = x[4 * i + 2];
        s.flag[i] = (uint8_t)x[4 * i + 3];
    }
    s.part.nuse = reference(name, "use", x);
    for (int i = 0; i < s.part.nuse; i++)
        s.use[i] = (int32_t)x[i];
    rh_nn *nn = fit_sample(&s);

    int nquery = reference(name, "asked", asked) / (nobs + nact);
    assert_int_equal(reference(name, "expected", expected), nquery * (nobs + 2));
    float *scratch = rh_alloc(rh_nn__nscratch(nn, NULL), sizeof *scratch);
    assert_non_null(scratch);
    for (int q = 0; q < nquery; q++) {
        const double *obs = asked + (ptrdiff_t)q * (nobs + nact);
        const double *truth = expected + (ptrdiff_t)q * (nobs + 2);
        double reward, end;
        rh_nn__predict(nn, NULL, obs, obs + nobs, scratch, next, &reward, &end);
        for (int i = 0; i < nobs; i++)
            near(next[i], truth[i], 1e-4, "sensor", i);
        near(reward, truth[nobs], 1e-4, "reward", q);
        near(end, truth[nobs + 1], 1e-4, "end", q);
        rh_model__expected e = expect(&s, nn, obs, obs + nobs, next);
        assert_true(e.reward == reward);
        assert_true(e.terminal == (end > 0.5));
    }
    rh_free(scratch);
    rh_nn__destroy(nn);
}

static void fits_of_numpy(void **unused)
{
    (void)unused;
    follow_fit("marks");
    follow_fit("vectors");
}

// ---------------------------------------------------------------------------- truth

// Root mean square errors of next state and reward on what was never seen; *copy: of states
// that stay.
static void linear_errors(const sample *s, const void *member, double *state, double *reward,
                          double *copy)
{
    double obs[2], act[2], next[2], truth[2], r, sum[3] = {0.0};
    rh_rng rng = rh_rng_stream(77, RH_STREAM_START, 0, 0);
    for (int i = 0; i < 500; i++) {
        draw_query(s, &rng, obs, act);
        linear_truth(s, obs, act, truth, &r);
        rh_model__expected e = expect(s, member, obs, act, next);
        sum[0] += pow(next[0] - truth[0], 2) + pow(next[1] - truth[1], 2);
        sum[1] += pow(e.reward - r, 2);
        sum[2] += pow(obs[0] - truth[0], 2) + pow(obs[1] - truth[1], 2);
    }
    *state = sqrt(sum[0] / 1000.0);
    *reward = sqrt(sum[1] / 500.0);
    *copy = sqrt(sum[2] / 1000.0);
}

static void a_linear_system(void **unused)
{
    (void)unused;
    static sample s;
    for (int variant = 0; variant < 4; variant++) {
        double state, reward, copy;
        linear_sample(&s, 1500, variant % 2, false, 1);
        s.param[RH_NN_TARGET] = variant / 2;
        s.param[RH_NN_HIDDEN] = 32;
        s.param[RH_NN_RATE] = 2e-3;
        s.param[RH_NN_EPOCHS] = 30;
        rh_nn *nn = fit_sample(&s);
        linear_errors(&s, nn, &state, &reward, &copy);
        assert_true(copy > 0.2);
        if (!(state < 0.02 && reward < 0.08))
            fail_msg("variant %d: %g of state, %g of reward", variant, state, reward);
        assert_null(nn->net[RH_NN_OF_END]);
        rh_nn__destroy(nn);
    }
}

static void ends_are_found(void **unused)
{
    (void)unused;
    static sample s;
    double next[2];
    linear_sample(&s, 2000, true, true, 1);
    s.param[RH_NN_RATE] = 1e-3;
    s.param[RH_NN_HIDDEN] = 32;
    rh_nn *nn = fit_sample(&s);
    for (double x = -2.0; x < 2.0; x += 0.1) {
        rh_model__expected e = expect(&s, nn, (double[]){x, 0.3}, (double[]){1.0}, next);
        assert_true(fabs(x - 1.5) < 0.2 || e.terminal == (x > 1.5));
    }

    // as a chance it rises from 0 to 1
    s.param[RH_NN_ENDING] = RH_NN_DRAW;
    double middle = 0.0;
    for (double x = 1.0; x < 2.0; x += 0.05) {
        rh_model__expected e = expect(&s, nn, (double[]){x, 0.3}, (double[]){1.0}, next);
        assert_true(e.terminal >= 0.0);
        assert_true(e.terminal <= 1.0);
        middle += e.terminal > 0.01 && e.terminal < 0.99;
    }
    assert_true(middle >= 1.0);
    rh_nn__destroy(nn);
}

// ---------------------------------------------------------------------------- constants

static void constants_are_exact(void **unused)
{
    (void)unused;
    static sample s;
    double next[3];
    for (int target = 0; target < 2; target++) {
        begin_sample(&s, 3, 2, 1);
        s.param[RH_NN_TARGET] = target;
        s.param[RH_NN_EPOCHS] = 3;
        s.param[RH_NN_HIDDEN] = 9;
        for (int i = 0; i < 40; i++) {
            double x = 0.1 * i, now[] = {x, 0.3, 1e-9}, after[] = {x + sin(i), 0.3, 1e-9};
            add_step(&s, now, (double[]){i % 2}, -0.7, after, false);
        }
        rh_nn *nn = fit_sample(&s);
        assert_non_null(nn->net[RH_NN_OF_STATE]);
        assert_null(nn->net[RH_NN_OF_REWARD]);
        assert_null(nn->net[RH_NN_OF_END]);
        for (int i = 0; i < 20; i++) {
            rh_model__expected e =
                expect(&s, nn, (double[]){0.1 * i, 0.3, 5.0}, (double[]){i % 2}, next);
            assert_true(e.reward == -0.7);
            assert_true(e.terminal == 0.0);
            assert_true(next[1] == 0.3);
            assert_true(next[2] == 1e-9);
            assert_true(next[0] >= -0.96);
            assert_true(next[0] <= 4.9);
        }
        rh_nn__destroy(nn);
    }

    // a state that never moves, and a step that always ends
    begin_sample(&s, 1, 2, 1);
    for (int i = 0; i < 10; i++)
        add_step(&s, (double[]){0.3}, (double[]){i % 2}, i % 2, NULL, true);
    rh_nn *nn = fit_sample(&s);
    assert_null(nn->net[RH_NN_OF_STATE]);
    assert_non_null(nn->net[RH_NN_OF_REWARD]);
    assert_null(nn->net[RH_NN_OF_END]);
    rh_model__expected e = expect(&s, nn, (double[]){0.3}, (double[]){1.0}, next);
    assert_true(e.terminal == 1.0);
    assert_true(next[0] == 0.3);
    rh_nn__destroy(nn);
}

// An end of a continuing task, a reset, is learned like any other.
static void ends_of_a_continuing_task(void **unused)
{
    (void)unused;
    static sample s;
    double next[2];
    linear_sample(&s, 200, true, true, 2);
    s.param[RH_NN_EPOCHS] = 2;
    rh_nn *nn = fit_sample(&s);
    rh_model__expected e = expect(&s, nn, (double[]){1.9, 0.0}, (double[]){0.0}, next);
    rh_nn__destroy(nn);
    s.model.task.continuing = true;
    nn = fit_sample(&s);
    assert_non_null(nn->net[RH_NN_OF_END]);
    rh_model__expected f = expect(&s, nn, (double[]){1.9, 0.0}, (double[]){0.0}, next);
    assert_true(e.terminal == f.terminal);
    assert_true(e.reward == f.reward);
    rh_nn__destroy(nn);
}

// Of terminal steps whose next state is not known, only the reward and the end are learned:
// the network of states is the same without them.
static void unknown_next_states(void **unused)
{
    (void)unused;
    static sample s, t;
    double obs[2], act[2], next[2], other[2], reward;
    linear_sample(&s, 100, false, false, 3);
    linear_sample(&t, 100, false, false, 3);
    for (int i = 0; i < 12; i++) // inside the ranges of the others
        add_step(&t, s.obs + 4 * i, s.act + 2 * i, s.reward[i], NULL, true);
    s.param[RH_NN_HELD_OUT] = t.param[RH_NN_HELD_OUT] = 0.0;
    s.param[RH_NN_EPOCHS] = t.param[RH_NN_EPOCHS] = 3;
    rh_nn *a = fit_sample(&s), *b = fit_sample(&t);
    assert_null(a->net[RH_NN_OF_END]);
    assert_non_null(b->net[RH_NN_OF_END]);
    rh_rng rng = rh_rng_stream(8, RH_STREAM_START, 0, 0);
    for (int i = 0; i < 50; i++) {
        draw_query(&s, &rng, obs, act);
        linear_truth(&s, obs, act, next, &reward);
        expect(&s, a, obs, act, next);
        expect(&t, b, obs, act, other);
        assert_true(next[0] == other[0]);
        assert_true(next[1] == other[1]);
    }
    rh_nn__destroy(a);
    rh_nn__destroy(b);
}

// ---------------------------------------------------------------------------- inputs

// With scaled states as codes the networks see what they see of states.
static void codes_are_inputs(void **unused)
{
    (void)unused;
    static sample s;
    double obs[2], act[2], next[2], other[2];
    double centre[] = {0.5, -0.25, 0.1, 0.0}, factor[] = {2.0, 0.5, 0.75, 1.0};
    for (int variant = 0; variant < 3; variant++) {
        bool discrete = variant == 0, both = variant == 2;
        linear_sample(&s, 300, discrete, false, 4);
        for (int i = -1; i <= 1; i += 2) // so that no next state is outside of the states
            add_step(&s, (double[]){2.5 * i, 1.9 * i}, s.act, 3.0, (double[]){i, i}, false);
        struct rh_repr repr = {.nobs = 2, .nact = both ? 2 : 0, .centre = centre};
        repr.ncode = 2 + repr.nact;
        repr.factor = factor;
        s.param[RH_NN_EPOCHS] = 5;
        s.param[RH_NN_HIDDEN] = 16;
        rh_nn *a = fit_sample(&s);
        s.model.repr = &repr;
        s.param[RH_NN_INPUT] = RH_NN_CODE;
        rh_nn *b = fit_sample(&s);
        assert_true(b->code);
        assert_int_equal(b->both, both);
        assert_int_equal(a->ninput, b->ninput);

        rh_rng rng = rh_rng_stream(9, RH_STREAM_START, 0, 0);
        for (int i = 0; i < 50; i++) {
            draw_query(&s, &rng, obs, act);
            rh_model__expected e = expect(&s, a, obs, act, next);
            rh_model__expected f = expect(&s, b, obs, act, other);
            near(f.reward, e.reward, 1e-3, "reward", i);
            near(other[0], next[0], 1e-3, "sensor", 0);
            near(other[1], next[1], 1e-3, "sensor", 1);
        }
        rh_nn__destroy(a);
        rh_nn__destroy(b);
    }
}

// Numbers as large as there are make no others.
static void extreme_numbers(void **unused)
{
    (void)unused;
    static sample s;
    double next[3];
    for (int target = 0; target < 2; target++) {
        begin_sample(&s, 3, 0, 1);
        s.param[RH_NN_TARGET] = target;
        s.param[RH_NN_EPOCHS] = 2;
        for (int i = 0; i < 30; i++) {
            double x = i % 2 ? 1.7e308 : -1.7e308;
            double now[] = {x, 1e-310 * i, i % 3 ? 0.0 : 5e-324}, after[] = {-x, 0.0, 0.0};
            add_step(&s, now, (double[]){x}, x, after, i % 7 == 0);
        }
        rh_nn *nn = fit_sample(&s);
        for (int i = 0; i < 3; i++) {
            double x = (i - 1) * 1.7e308;
            rh_model__expected e = expect(&s, nn, (double[]){x, x, -x}, (double[]){-x}, next);
            assert_true(isfinite(e.reward));
            assert_true(rh_base__all_finite(next, 3));
            assert_true(next[1] >= 0.0);
            assert_true(next[1] <= 3e-309);
        }
        rh_nn__destroy(nn);
    }
}

static void few_transitions(void **unused)
{
    (void)unused;
    static sample s;
    double next[2];
    for (int n = 1; n < 12; n++) {
        linear_sample(&s, n, true, true, (uint64_t)n);
        s.param[RH_NN_EPOCHS] = 2;
        s.param[RH_NN_HELD_OUT] = 0.9;
        rh_nn *nn = fit_sample(&s);
        expect(&s, nn, s.obs, s.act, next);
        assert_true(rh_base__all_finite(next, 2));
        rh_nn__destroy(nn);
    }
}

// ---------------------------------------------------------------------------- how it is done

static void same_networks(const rh_nn *a, const rh_nn *b, bool same)
{
    for (int i = 0; i < RH_NN_NNET; i++) {
        size_t n = rh_mlp__nparam(a->net[i]);
        double *x = rh_alloc(n, sizeof *x), *y = rh_alloc(n, sizeof *y);
        assert_non_null(x);
        assert_non_null(y);
        rh_mlp__get(a->net[i], RH_MLP_WEIGHTS, x);
        rh_mlp__get(b->net[i], RH_MLP_WEIGHTS, y);
        assert_int_equal(memcmp(x, y, n * sizeof *x) == 0, same);
        rh_free(x);
        rh_free(y);
    }
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    static sample s;
    linear_sample(&s, 400, true, true, 5);
    s.param[RH_NN_EPOCHS] = 12;
    s.param[RH_NN_BATCH] = 4; // several rounds
    s.param[RH_NN_HIDDEN] = 8;
    rh_nn *one = fit_sample(&s);
    for (int k = 2; k < 5; k++) {
        s.part.nthread = k;
        rh_nn *more = fit_sample(&s);
        same_networks(one, more, true);
        rh_nn__destroy(more);
    }
    s.part.rng = rh_rng_stream(4, RH_STREAM_NOISE, 0, 0);
    rh_nn *other = fit_sample(&s);
    same_networks(one, other, false);
    rh_nn__destroy(other);
    rh_nn__destroy(one);
}

typedef struct seen {
    int ncall, stop_after;
    double last;
} seen;

static void tell(void *context, const char *what, double share)
{
    seen *s = context;
    assert_string_equal(what, "training the networks");
    assert_true(share > s->last);
    assert_true(share <= 1.0);
    s->last = share;
    s->ncall++;
}

static bool stop(void *context)
{
    const seen *s = context;
    return s->ncall >= s->stop_after;
}

static void watched_and_stopped(void **unused)
{
    (void)unused;
    static sample s;
    seen w = {.stop_after = 1000};
    void *member = NULL;
    rh_error err;
    linear_sample(&s, 400, true, true, 5);
    s.param[RH_NN_EPOCHS] = 20;
    s.param[RH_NN_BATCH] = 4;
    s.param[RH_NN_HIDDEN] = 8;
    s.param[RH_NN_HELD_OUT] = 0.0;
    s.part.watch = (rh_watch){.progress = tell, .stop = stop, .context = &w};
    s.part.nthread = 2;
    rh_nn__destroy(fit_sample(&s));
    assert_true(w.last == 1.0);
    assert_int_equal(w.ncall, 8); // 2000 batches in rounds of 256

    // rounds of large batches are shorter
    linear_sample(&s, 3000, true, false, 5);
    s.param[RH_NN_EPOCHS] = 4;
    s.param[RH_NN_BATCH] = 1000;
    s.param[RH_NN_HIDDEN] = 8;
    s.param[RH_NN_HELD_OUT] = 0.0;
    s.part.watch = (rh_watch){.progress = tell, .stop = stop, .context = &w};
    w = (seen){.stop_after = 1000};
    rh_nn__destroy(fit_sample(&s));
    assert_true(w.last == 1.0);
    assert_int_equal(w.ncall, 3); // 12 batches, 4 at a time

    for (int after = 0; after < 3; after++) {
        w = (seen){.stop_after = after};
        int64_t live = rh_base__alloc_live();
        assert_int_equal(rh_nn__fit(&member, &s.model, &s.part, &err), RH_ESTOPPED);
        assert_null(member);
        assert_int_equal(w.ncall, after);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

static void divergence_is_said(void **unused)
{
    (void)unused;
    static float x[20], y[20];
    static const uint8_t held[20] = {1, 0, 0, 1};
    double param[RH_NN_NPARAM];
    rh_error err;
    rh_watch nobody = {.progress = NULL};
    rh_param_initial(rh_nn__param, RH_NN_NPARAM, param);
    for (int where = 0; where < 2; where++) { // held out, or learned from
        rh_nn__learner l;
        rh_mlp *mlp = NULL;
        rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
        memset(y, 0, sizeof y);
        y[where] = INFINITY;
        assert_int_equal(rh_mlp__create(&mlp, (int[]){1, 4, 1}, 3, 0, &rng, NULL), RH_OK);
        assert_int_equal(rh_nn__learner_init(&l, mlp, param, x, y, 20, NULL, held, rng, NULL),
                         RH_OK);
        assert_int_equal(rh_nn__train(&l, 1, 1, &nobody, &err), RH_EINVAL);
        assert_string_equal(err.text,
                            "nn: training diverged with rate = 0.0003, expected a smaller rate "
                            "for this log");
        rh_nn__learner_clear(&l);
    }
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    static sample s;
    linear_sample(&s, 30, true, true, 6);
    s.param[RH_NN_EPOCHS] = 1;
    s.param[RH_NN_HIDDEN] = 3;
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth++) {
        void *member = NULL;
        double next[2];
        rh_model__expected e = {.next = next};
        rh_error err = {""};
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_nn__fit(&member, &s.model, &s.part, &err);
        if (!rc)
            rc = rh_model_nn.calls->expect(&e, &s.model, member, s.obs, s.act, &err);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || (rc == RH_ENOMEM && err.text[0]));
        rh_model_nn.calls->destroy(member);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_model_nn.calls->destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_of_numpy),        cmocka_unit_test(fits_of_numpy),
        cmocka_unit_test(a_linear_system),        cmocka_unit_test(ends_are_found),
        cmocka_unit_test(constants_are_exact),    cmocka_unit_test(ends_of_a_continuing_task),
        cmocka_unit_test(unknown_next_states),    cmocka_unit_test(codes_are_inputs),
        cmocka_unit_test(extreme_numbers),        cmocka_unit_test(few_transitions),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(watched_and_stopped),
        cmocka_unit_test(divergence_is_said),     cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
