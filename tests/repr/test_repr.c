// test_repr.c - what every representation promises: codes alone and in blocks, missing numbers,
// copies, saving and loading, options held wrong. A new kind is tested by being registered.

#include "base/base_internal.h"
#include "repr_test.h"

#include "base/base.h"
#include "numeric/mlp_internal.h"
#include "numeric/mlp_kernel.h"
#include "repr/repr.h"

enum { N = 700 }; // rows: more than a block, and no whole number of them

// Options that make any kind quick; param (16) is the caller's.
static rh_repr_options quick(const rh_repr_type *type, double *param)
{
    rh_repr_options opt = rh_repr_defaults();
    rh_param_initial(type->param, type->nparam, param);
    static const struct {
        const char *name;
        double value;
    } set[] = {{"hidden", 40.0}, {"d", 5.0}, {"steps", 6.0}, {"batch", 16.0}};
    for (int i = 0; i < 4; i++) {
        int k = rh_param_find(type->param, type->nparam, set[i].name);
        if (k >= 0)
            param[k] = set[i].value;
    }
    opt.param = param;
    return opt;
}

// A log with continuous actions, of 20 episodes of 8 states with 3 sensors.
static rh_log *sample(void)
{
    static double obs[20 * 8 * 3], act[20 * 8];
    int length[21] = {0};
    for (int e = 0; e < 20; e++)
        length[e] = 8;
    for (int i = 0; i < 20 * 8; i++) {
        act[i] = cos(i * 1.1);
        for (int k = 0; k < 3; k++)
            obs[3 * i + k] = sin(i * (0.2 + 0.1 * k)) * (k + 1);
    }
    return log_of(obs, 3, length, act);
}

// Rows to encode, some of them with missing numbers: obs (N x 3), act (N).
static void rows(double *obs, double *act)
{
    rh_rng rng = rh_rng_stream(2, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            obs[3 * i + k] = rh_rng_range(&rng, -3.0, 3.0);
        act[i] = rh_rng_range(&rng, -1.0, 1.0);
        if (i % 50 == 7)
            obs[3 * i + i % 3] = i % 100 == 7 ? (double)NAN : -(double)INFINITY;
        if (i % 50 == 11)
            obs[3 * i] = 1e300; // too large for a float
    }
}

static bool holed(int i)
{
    return i % 50 == 7 || i % 50 == 11;
}

static void codes_alone_and_in_blocks(const rh_repr_type *type, bool actions)
{
    static double obs[3 * N], act[N];
    static float code[2][N * RH_MAX_CODE];
    double param[16];
    rh_log *log = sample();
    rows(obs, act);
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        rh_repr_options opt = quick(type, param);
        opt.actions = actions;
        rh_repr *repr = fitted(type, log, &opt);
        int d = rh_repr__ncode(repr);
        assert_true(d >= 1);
        assert_true(d <= RH_MAX_CODE);
        assert_int_equal(rh_repr__nobs(repr), 3);
        assert_int_equal(rh_repr__nact(repr), actions);
        assert_ptr_equal(rh_repr_type_of(repr), type);
        assert_memory_equal(rh_repr__params(repr), param, (size_t)type->nparam * sizeof *param);
        assert_true(isfinite(rh_repr__trained(repr).awareness));
        float *scratch = rh_alloc(rh_repr__nscratch(repr) + 1, sizeof *scratch);
        assert_non_null(scratch);
        scratch[rh_repr__nscratch(repr)] = -7.0f;

        assert_int_equal(rh_repr__encode(repr, N, obs, act, code[0], NULL), RH_OK);
        int64_t count = rh_base__alloc_count();
        for (int i = 0; i < N; i++) {
            rh_repr__encode_one(repr, obs + (ptrdiff_t)3 * i, act + i, scratch,
                                code[1] + (ptrdiff_t)i * d);
            for (int j = 0; j < d; j++)
                assert_true(isfinite(code[0][i * d + j]) == !holed(i));
        }
        assert_int_equal(rh_base__alloc_count(), count);
        assert_memory_equal(code[0], code[1], (size_t)(N * d) * sizeof(float));
        assert_true(scratch[rh_repr__nscratch(repr)] == -7.0f);
        assert_int_equal(rh_repr__encode(repr, 0, obs, act, code[0], NULL), RH_OK);
        rh_free(scratch);
        rh_repr_destroy(repr);
    }
    rh_isa__limit(0);
    rh_log_destroy(log);
}

static void every_kind(void **unused)
{
    (void)unused;
    assert_true(rh_repr_ntype() >= 3);
    for (int i = 0; i < rh_repr_ntype(); i++) {
        const rh_repr_type *type = rh_repr_type_at(i);
        rh_error err;
        assert_ptr_equal(rh_repr_find(type->name, &err), type);
        assert_true(strlen(type->about) > 10);
        assert_true(strlen(type->name) <= 31);
        assert_true(type->nparam <= 16);
        assert_string_equal(type->param[0].name, "scale");
        for (int k = 0; k < type->nparam; k++) {
            const rh_param *p = &type->param[k];
            assert_true(p->fixed);
            assert_true(p->initial >= p->lo);
            assert_true(p->initial <= p->hi);
            assert_non_null(p->about);
        }
        codes_alone_and_in_blocks(type, false);
        codes_alone_and_in_blocks(type, true);
    }
    rh_error err = {""};
    assert_null(rh_repr_find("laplacien", &err));
    assert_string_equal(err.text, "no representation 'laplacien'; did you mean 'laplacian'? "
                                  "(laplacian, random, raw)");
}

static void same_codes(const rh_repr *a, const rh_repr *b)
{
    static double obs[3 * N], act[N];
    static float x[N * RH_MAX_CODE], y[N * RH_MAX_CODE];
    rows(obs, act);
    assert_ptr_equal(rh_repr_type_of(a), rh_repr_type_of(b));
    assert_int_equal(rh_repr__ncode(a), rh_repr__ncode(b));
    assert_int_equal(rh_repr__nobs(a), rh_repr__nobs(b));
    assert_int_equal(rh_repr__nact(a), rh_repr__nact(b));
    assert_memory_equal(rh_repr__params(a), rh_repr__params(b),
                        (size_t)rh_repr_type_of(a)->nparam * sizeof(double));
    assert_int_equal(rh_repr__encode(a, N, obs, act, x, NULL), RH_OK);
    assert_int_equal(rh_repr__encode(b, N, obs, act, y, NULL), RH_OK);
    assert_memory_equal(x, y, N * (size_t)rh_repr__ncode(a) * sizeof *x);
    rh_repr__training s = rh_repr__trained(a), t = rh_repr__trained(b);
    assert_int_equal(s.nstep, t.nstep);
    assert_int_equal(s.early, t.early);
    assert_memory_equal(&s.loss, &t.loss, sizeof s.loss);
    assert_memory_equal(&s.awareness, &t.awareness, sizeof s.awareness);
    assert_memory_equal(&s.held_out, &t.held_out, sizeof s.held_out);
}

// Two sensors of the sample on circles.
static const double period[] = {2.5, NAN, 6.5}, base[] = {-1.0, NAN, 0.5};

static void copied_saved_and_loaded(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = sample();
    int64_t live = rh_base__alloc_live();
    for (int i = 0; i < 4 * rh_repr_ntype(); i++) {
        const rh_repr_type *type = rh_repr_type_at(i / 4);
        rh_repr *copy = NULL, *loaded = NULL;
        rh_state *state = NULL;
        rh_repr_options opt = quick(type, param);
        opt.actions = i % 2;
        if (i / 2 % 2) {
            opt.period = period;
            opt.base = base;
        }
        rh_repr *repr = fitted(type, log, &opt);
        assert_int_equal(rh_repr__copy(&copy, repr, NULL), RH_OK);
        assert_int_equal(rh_state__create(&state, NULL), RH_OK);
        assert_int_equal(rh_repr__save(repr, state, NULL), RH_OK);
        assert_int_equal(rh_repr__load(&loaded, state, NULL), RH_OK);
        same_codes(repr, loaded);
        rh_repr_destroy(repr); // the copy stands alone
        same_codes(copy, loaded);
        rh_repr_destroy(copy);
        rh_repr_destroy(loaded);
        rh_state_destroy(state);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- damaged states

// A saved representation with one array replaced, or left out where x is NULL.
static void damaged(const rh_state *whole, const char *name, const double *x, size_t n,
                    const char *message)
{
    rh_state *state = NULL;
    rh_repr *repr = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    bool met = false;
    for (int i = 0; i < rh_state__count(whole); i++) {
        const char *own;
        size_t m;
        const double *array = rh_state__at(whole, i, &own, &m);
        bool here = strcmp(own, name) == 0;
        met = met || here;
        if (!here)
            assert_int_equal(rh_state_put(state, own, array, m, NULL), RH_OK);
        else if (x)
            assert_int_equal(rh_state_put(state, own, x, n, NULL), RH_OK);
    }
    assert_true(met);
    assert_int_equal(rh_repr__load(&repr, state, &err), RH_EFORMAT);
    assert_null(repr);
    assert_string_equal(err.text, message);
    rh_state_destroy(state);
    assert_int_equal(rh_base__alloc_live(), live);
}

static rh_state *saved(const rh_repr_type *type, bool circles)
{
    double param[16];
    rh_state *state = NULL;
    rh_log *log = sample();
    rh_repr_options opt = quick(type, param);
    opt.period = circles ? period : NULL;
    opt.base = circles ? base : NULL;
    rh_repr *repr = fitted(type, log, &opt);
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    assert_int_equal(rh_repr__save(repr, state, NULL), RH_OK);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
    return state;
}

#define KIND                                                                                   \
    "representation: the saved state has no array 'repr kind' with a name of 1 to 31 "         \
    "characters"
#define FINITE                                                                                 \
    "representation: a number in the arrays 'repr centre' and 'repr factor' of the saved "     \
    "state is not finite"
#define CIRCLE                                                                                 \
    "representation: a number in the array 'repr circle' of the saved state is not finite, "   \
    "or a period is below 0"

static void damaged_states(void **unused)
{
    (void)unused;
    static const double letters[32] = {'r', 'a', 'x'}, raw[] = {'r', 'a', 'w'};
    rh_state *s = saved(&rh_repr_random, false);
    damaged(s, "repr kind", NULL, 0, KIND);
    damaged(s, "repr kind", letters, 0, KIND);
    damaged(s, "repr kind", letters, 32, KIND);
    damaged(s, "repr kind", (double[]){NAN}, 1, KIND);
    damaged(s, "repr kind", (double[]){114.5}, 1, KIND);
    damaged(s, "repr kind", letters, 3,
            "no representation 'rax'; did you mean 'raw'? (laplacian, random, raw)");
    damaged(s, "repr kind", raw, 3,
            "representation: array 'repr param' of the saved state has 3 numbers, expected 1");
    damaged(s, "repr shape", NULL, 0,
            "representation: no array 'repr shape' in the saved state");
    damaged(s, "repr shape", (double[]){0, 0, 5}, 3,
            "representation: array 'repr shape' of the saved state is 0, 0, 5, expected 1 to "
            "256, 0 to 32 and 1 to 64");
    damaged(s, "repr shape", (double[]){3, NAN, 5}, 3,
            "representation: array 'repr shape' of the saved state is 3, nan, 5, expected 1 to "
            "256, 0 to 32 and 1 to 64");
    damaged(s, "repr shape", (double[]){4, 0, 5}, 3,
            "representation: array 'repr centre' of the saved state has 3 numbers, expected 4");
    damaged(s, "repr shape", (double[]){2, 1, 6}, 3,
            "representation: codes of 6 numbers in the saved state, expected 5");
    damaged(s, "repr param", (double[]){0, 5.5, 40}, 3,
            "random: d = 5.5, expected a whole number, 1 to 64");
    damaged(s, "repr param", (double[]){0, 6, 40}, 3,
            "representation: codes of 5 numbers in the saved state, expected 6");
    damaged(s, "repr centre", (double[]){0, INFINITY, 0}, 3, FINITE);
    damaged(s, "repr factor", (double[]){0, 1, NAN}, 3, FINITE);
    damaged(s, "repr factor", NULL, 0,
            "representation: no array 'repr factor' in the saved state");
    damaged(s, "repr training", (double[]){0.5, 0, 0, 0, 0}, 5,
            "representation: array 'repr training' of the saved state has steps = 0.5, loss = "
            "0, early = 0, awareness = 0 and 0");
    damaged(s, "repr training", (double[]){1, INFINITY, 0, 0, 0}, 5,
            "representation: array 'repr training' of the saved state has steps = 1, loss = "
            "inf, early = 0, awareness = 0 and 0");
    damaged(s, "repr mlp shape", (double[]){0, 3, 40, 40}, 4,
            "mlp 'repr mlp': array 'repr mlp weights' of the saved state has 2005 numbers, "
            "expected 1800");
    damaged(s, "repr mlp first", NULL, 0,
            "state: no array 'repr mlp first' in the saved state");
    rh_state_destroy(s);

    s = saved(&rh_repr_random, true);
    damaged(s, "repr circle", (double[]){1, 2, 3}, 3,
            "representation: array 'repr circle' of the saved state has 3 numbers, expected 6");
    damaged(s, "repr circle", (double[]){1, -2, 0, 0, 0, 0}, 6, CIRCLE);
    damaged(s, "repr circle", (double[]){1, 2, 0, 0, NAN, 0}, 6, CIRCLE);
    damaged(s, "repr circle", (double[]){1, 0, 0, 0, 0, 0}, 6,
            "representation: the saved network has 5 inputs and 5 outputs, expected 4 and 5");
    damaged(s, "repr circle", NULL, 0,
            "representation: the saved network has 5 inputs and 5 outputs, expected 3 and 5");
    rh_state_destroy(s);
    s = saved(&rh_repr_raw, true);
    damaged(s, "repr circle", NULL, 0,
            "representation: codes of 5 numbers in the saved state, expected 3");
    rh_state_destroy(s);
}

// Any number of a saved state replaced by any other: refused, or something that still works.
static void mutated_states(void **unused)
{
    (void)unused;
    static const double odd[] = {NAN, INFINITY, -1.0, 0.0, 0.5, 1e9, 1e300};
    static double obs[3 * N], act[N];
    rows(obs, act);
    int nrefused = 0, nread = 0;
    for (int type = 0; type < 2 * rh_repr_ntype(); type++) {
        rh_state *whole = saved(rh_repr_type_at(type / 2), type % 2);
        for (int i = 0; i < rh_state__count(whole); i++) {
            const char *name;
            size_t n;
            rh_state__at(whole, i, &name, &n);
            for (size_t k = 0; k < 7 * (n < 20 ? n : 20); k++) {
                rh_state *state = NULL;
                rh_repr *repr = NULL;
                float code[RH_MAX_CODE];
                assert_int_equal(rh_state__create(&state, NULL), RH_OK);
                for (int j = 0; j < rh_state__count(whole); j++) {
                    size_t m;
                    const double *from = rh_state__at(whole, j, &name, &m);
                    double *x = rh_alloc(m, sizeof *x);
                    assert_non_null(x);
                    memcpy(x, from, m * sizeof *x);
                    if (j == i)
                        x[k / 7] = odd[k % 7];
                    assert_int_equal(rh_state_put(state, name, x, m, NULL), RH_OK);
                    rh_free(x);
                }
                rh_status rc = rh_repr__load(&repr, state, NULL);
                assert_true(rc == RH_OK || (rc == RH_EFORMAT && !repr));
                nrefused += rc != RH_OK;
                nread += rc == RH_OK;
                if (repr) // inputs may be more than there were; rows are long enough
                    assert_int_equal(rh_repr__encode(repr, 1, obs, act, code, NULL), RH_OK);
                rh_repr_destroy(repr);
                rh_state_destroy(state);
            }
        }
        rh_state_destroy(whole);
    }
    assert_true(nrefused > 100);
    assert_true(nread > 100);
}

// A network of another shape than the representation's.
static void foreign_network(void **unused)
{
    (void)unused;
    rh_state *whole = saved(&rh_repr_random, false), *state = NULL;
    rh_mlp *mlp = NULL;
    rh_repr *repr = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    for (int i = 0; i < rh_state__count(whole); i++) {
        const char *name;
        size_t n;
        const double *x = rh_state__at(whole, i, &name, &n);
        if (strncmp(name, "repr mlp", 8))
            assert_int_equal(rh_state_put(state, name, x, n, NULL), RH_OK);
    }
    assert_int_equal(rh_mlp__create(&mlp, (int[]){4, 6, 5}, 3, 0, &rng, NULL), RH_OK);
    assert_int_equal(rh_mlp__save(mlp, "repr mlp", state, NULL), RH_OK);
    assert_int_equal(rh_repr__load(&repr, state, &err), RH_EFORMAT);
    assert_string_equal(err.text,
                        "representation: the saved network has 4 inputs and 5 outputs, "
                        "expected 3 and 5");
    rh_mlp__destroy(mlp);
    rh_state_destroy(state);
    rh_state_destroy(whole);
}

// ---------------------------------------------------------------------------- trouble

static void options_held_wrong(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = sample();
    rh_repr_options opt = quick(&rh_repr_raw, param);
    opt.cookie = 0;
    refused(&rh_repr_raw, log, &opt, RH_EINVAL,
            "representation: options must start from rh_repr_defaults()");
    opt = quick(&rh_repr_random, param);
    param[1] = 0.0;
    refused(&rh_repr_random, log, &opt, RH_EINVAL,
            "random: d = 0, expected a whole number, 1 to 64");
    rh_log_destroy(log);
}

static void the_seed_counts(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = sample();
    rh_repr_options opt = quick(&rh_repr_random, param);
    rh_repr *a = fitted(&rh_repr_random, log, &opt), *b = fitted(&rh_repr_random, log, &opt);
    same_codes(a, b);
    rh_repr_destroy(b);
    opt.seed = 2;
    b = fitted(&rh_repr_random, log, &opt);
    float x[5], y[5];
    assert_int_equal(rh_repr__encode(a, 1, log->obs, NULL, x, NULL), RH_OK);
    assert_int_equal(rh_repr__encode(b, 1, log->obs, NULL, y, NULL), RH_OK);
    assert_memory_not_equal(x, y, sizeof x);
    rh_repr_destroy(a);
    rh_repr_destroy(b);
    rh_log_destroy(log);
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = sample();
    for (int i = 0; i < 2 * rh_repr_ntype(); i++) {
        const rh_repr_type *type = rh_repr_type_at(i / 2);
        rh_repr_options opt = quick(type, param);
        opt.period = i % 2 ? period : NULL;
        opt.base = i % 2 ? base : NULL;
        int64_t live = rh_base__alloc_live();
        bool done = false;
        for (int nth = 1; !done; nth++) {
            rh_repr *repr = NULL, *copy = NULL, *loaded = NULL;
            rh_state *state = NULL;
            float code[RH_MAX_CODE];
            rh_base__alloc_fail_at(nth);
            rh_status rc = rh_repr_fit(&repr, type, log, &opt, NULL);
            if (!rc)
                rc = rh_repr__encode(repr, 1, log->obs, log->act, code, NULL);
            if (!rc)
                rc = rh_repr__copy(&copy, repr, NULL);
            if (!rc)
                rc = rh_state__create(&state, NULL);
            if (!rc)
                rc = rh_repr__save(repr, state, NULL);
            if (!rc)
                rc = rh_repr__load(&loaded, state, NULL);
            rh_base__alloc_fail_at(0);
            done = rc == RH_OK;
            assert_true(done || (rc == RH_ENOMEM && !loaded));
            rh_repr_destroy(repr);
            rh_repr_destroy(copy);
            rh_repr_destroy(loaded);
            rh_state_destroy(state);
            assert_int_equal(rh_base__alloc_live(), live);
        }
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),      cmocka_unit_test(copied_saved_and_loaded),
        cmocka_unit_test(damaged_states),  cmocka_unit_test(mutated_states),
        cmocka_unit_test(foreign_network), cmocka_unit_test(options_held_wrong),
        cmocka_unit_test(the_seed_counts), cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
