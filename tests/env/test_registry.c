// test_registry.c - what every simulator promises. A new one is tested by being registered.

#include "env/env_test.h"

enum { NSTEP = 20000 };

static rh_env *make_default(const rh_env_type *type)
{
    rh_env *env = NULL;
    rh_error err;
    if (rh_env_create(&env, type, NULL, &err))
        fail_msg("%s", err.text);
    return env;
}

static void random_action(const rh_task *task, rh_rng *rng, double *act)
{
    if (task->naction)
        act[0] = rh_rng_below(rng, (uint32_t)task->naction);
    else
        for (int i = 0; i < task->nact; i++)
            act[i] = rh_rng_range(rng, task->act_lo[i], task->act_hi[i]);
}

// A run of random actions, every promise checked on the way; gives a hash of what was seen.
static uint64_t live(const rh_env *env, uint64_t seed)
{
    const rh_task *task = rh_env_task(env);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward;
    rh_streams streams = streams_of(seed);
    rh_rng rng = rh_rng_stream(99, RH_STREAM_AGENT, 0, 0); // the same actions for every seed
    uint64_t hash = 0;

    int64_t before = rh_alloc_count();
    rh_env_start(env, state, &streams, obs);
    for (int t = 0; t < NSTEP; t++) {
        random_action(task, &rng, act);
        bool end = rh_env_step(env, state, act, &streams, obs, &reward);
        assert_true(isfinite(reward) && reward >= task->reward_lo);
        assert_false(end && task->continuing);
        for (int i = 0; i < task->nobs; i++) {
            uint64_t bits;
            assert_true(isfinite(obs[i]));
            memcpy(&bits, &obs[i], sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
        }
        if (end)
            rh_env_start(env, state, &streams, obs);
    }
    assert_int_equal(rh_alloc_count(), before); // nothing allocates inside a step
    rh_free(state);
    return hash;
}

static void test_runs(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        rh_env *env = make_default(rh_env_type_at(i));
        uint64_t hash = live(env, 3);
        assert_true(hash == live(env, 3)); // same random stream, same run
        assert_true(hash != live(env, 4)); // the seed is really used
        rh_env_destroy(env);
    }
}

static void test_starts_have_their_own_stream(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        rh_env *env = make_default(rh_env_type_at(i));
        size_t size = (size_t)rh_env_task(env)->nobs * sizeof(double);
        void *state = rh_alloc(1, rh_env_state_size(env));
        double first[RH_MAX_OBS], second[RH_MAX_OBS], same[RH_MAX_OBS], other[RH_MAX_OBS];
        rh_streams streams = streams_of(3), mixed = {streams_of(3).start, streams_of(4).noise};
        rh_streams another = streams_of(4);
        rh_env_start(env, state, &streams, first);
        rh_env_start(env, state, &streams, second);
        rh_env_start(env, state, &mixed, same);
        rh_env_start(env, state, &another, other);
        assert_memory_equal(first, same, size); // whatever the noise
        assert_memory_not_equal(first, second, size);
        assert_memory_not_equal(first, other, size);
        rh_free(state);
        rh_env_destroy(env);
    }
}

// Every option at either end of its range, alone: still finite, still within the bounds.
static void test_extreme_options(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        double opt[64];
        for (int p = 0; p < type->nparam; p++)
            for (int end = 0; end < 2; end++) {
                rh_param_initial(type->param, type->nparam, opt);
                opt[p] = end ? type->param[p].hi : type->param[p].lo;
                rh_env *env = NULL;
                rh_error err;
                if (rh_env_create(&env, type, opt, &err) == RH_OK)
                    live(env, 5);
                else
                    assert_non_null(strstr(err.text, type->param[p].name)); // a clash, named
                rh_env_destroy(env);
            }
    }
}

static void test_task(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        rh_env *env = make_default(type);
        const rh_task *task = rh_env_task(env);
        assert_ptr_equal(rh_env_kind(env), type);
        assert_true(task->nobs >= 1 && task->nact >= 1 && task->nstep > 0);
        assert_true(task->gamma > 0.0 && task->gamma <= 1.0);
        assert_true(task->reward_lo > -INFINITY);
        for (int k = 0; k < task->nobs; k++) {
            assert_non_null(task->obs_name[k]);
            assert_true(task->obs_lo[k] < task->obs_hi[k]);
            for (int j = 0; j < k; j++)
                assert_string_not_equal(task->obs_name[k], task->obs_name[j]);
        }
        for (int k = 0; k < task->nact && !task->naction; k++)
            assert_true(task->act_lo[k] < task->act_hi[k]);
        rh_env_destroy(env);
    }
}

// The p-th option set to `bad` is refused, with its name, the value and the range.
static void refuses(const rh_env_type *type, int p, double bad)
{
    const rh_param number = {.name = "any"};
    double opt[64];
    char value[64], lo[64], hi[64], begin[256], range[256];
    rh_error err = {""};
    rh_env *env = NULL;
    rh_param_initial(type->param, type->nparam, opt);
    opt[p] = bad;
    assert_int_equal(rh_env_create(&env, type, opt, &err), RH_EINVAL);
    assert_null(env);

    rh_param_format(&number, bad, value, sizeof value);
    rh_param_format(&number, type->param[p].lo, lo, sizeof lo);
    rh_param_format(&number, type->param[p].hi, hi, sizeof hi);
    snprintf(begin, sizeof begin, "%s: %s = %s,", type->name, type->param[p].name, value);
    snprintf(range, sizeof range, "%s to %s", lo, hi);
    assert_true(strncmp(err.text, begin, strlen(begin)) == 0);
    assert_non_null(strstr(err.text, range));
}

static void test_options(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        assert_true(rh_param_find(type->param, type->nparam, "start") >= 0);
        assert_true(rh_param_find(type->param, type->nparam, "gamma") >= 0);

        for (int p = 0; p < type->nparam; p++) {
            const rh_param *param = &type->param[p];
            assert_non_null(param->name);
            assert_non_null(param->about);
            assert_true(param->lo <= param->initial && param->initial <= param->hi);
            assert_int_equal(rh_param_find(type->param, type->nparam, param->name), p);

            const double bad[] = {param->lo - 0.75, param->hi + 0.75, NAN, INFINITY};
            for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
                refuses(type, p, bad[k]);
        }
    }
}

static void test_gamma_is_the_option(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        rh_env *env = make(rh_env_type_at(i), "gamma", 0.375, NULL);
        assert_true(rh_env_task(env)->gamma == 0.375);
        rh_env_destroy(env);
        env = make(rh_env_type_at(i), "gamma", 0.0, NULL); // zero is a value
        assert_true(rh_env_task(env)->gamma == 0.0);
        rh_env_destroy(env);
    }
}

static void test_grids(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        for (int g = 0; g < type->ngrid; g++) {
            const rh_axis *axis = &type->grid[g];
            assert_true(axis->grid[0] && axis->agent[0] && axis->param[0]);
            assert_true(axis->nvalue >= 1 && axis->nvalue <= 8);
            for (int k = 0; k < axis->nvalue; k++) {
                assert_true(isfinite(axis->value[k]));
                assert_true(k == 0 || axis->value[k] > axis->value[k - 1]);
            }
        }
    }
}

// The axes of one grid for one agent, in order: product of their lengths, and their names.
static int grid_size(const rh_env_type *type, const char *grid, const char *agent,
                     const char *names)
{
    int size = 1;
    char text[128] = "";
    for (int g = 0; g < type->ngrid; g++) {
        const rh_axis *axis = &type->grid[g];
        if (strcmp(axis->grid, grid) != 0 || strcmp(axis->agent, agent) != 0)
            continue;
        size *= axis->nvalue;
        strcat(strcat(text, text[0] ? " " : ""), axis->param);
    }
    assert_string_equal(text, names);
    return size;
}

static double value_of(const rh_env_type *type, const char *grid, const char *param, int k)
{
    for (int g = 0; g < type->ngrid; g++)
        if (strcmp(type->grid[g].grid, grid) == 0 && strcmp(type->grid[g].param, param) == 0)
            return type->grid[g].value[k];
    fail();
    return NAN;
}

static void test_published_grids(void **unused)
{
    (void)unused;
    const rh_env_type *paper[] = {&rh_env_acrobot, &rh_env_puddle_world, &rh_env_cartpole};
    const char *axes = "alpha beta1 tau w_init lambda"; // the order the settings are counted in
    for (int i = 0; i < 3; i++) {
        assert_int_equal(grid_size(paper[i], "paper", "esarsa", axes), 54);
        assert_int_equal(grid_size(paper[i], "paper-text", "esarsa", axes), 54);
        if (i < 2)
            assert_int_equal(
                grid_size(paper[i], "paper", "actor_critic", "alpha_critic actor_ratio"), 36);
    }

    // where the text and the experiments differ, and what is easily mixed up
    static const double alpha[] = {0.003, 0.01, 0.03}, lambda[] = {0.8, 0.1, 0.023};
    static const double tau[] = {100.0, 100.0, 10.0};
    static const double code[] = {16.0, 8.0, 12.0}, text[] = {8.0, 16.0, 12.0};
    for (int i = 0; i < 3; i++) {
        assert_true(value_of(paper[i], "paper", "alpha", 0) == alpha[i]);
        assert_true(value_of(paper[i], "paper", "lambda", 0) == lambda[i]);
        assert_true(value_of(paper[i], "paper", "tau", 2) == tau[i]);
        assert_true(value_of(paper[i], "paper", "w_init", 2) == code[i]);
        assert_true(value_of(paper[i], "paper-text", "w_init", 2) == text[i]);
    }
}

static void test_find(void **unused)
{
    (void)unused;
    rh_error err = {""};
    assert_ptr_equal(rh_env_find("acrobot", &err), &rh_env_acrobot);
    for (int i = 0; i < rh_env_ntype(); i++) {
        assert_ptr_equal(rh_env_find(rh_env_type_at(i)->name, NULL), rh_env_type_at(i));
        assert_non_null(rh_env_type_at(i)->about);
    }

    assert_null(rh_env_find("acrobt", &err));
    assert_string_equal(err.text,
                        "no environment 'acrobt'; did you mean 'acrobot'? (acrobot, cartpole, "
                        "mountain_car, pendulum, puddle_world)");
    assert_null(rh_env_find("chess", &err));
    assert_string_equal(err.text, "no environment 'chess'; expected one of acrobot, cartpole, "
                                  "mountain_car, pendulum, puddle_world");
    assert_null(rh_env_find("", NULL));
}

static void test_every_allocation_failing(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        int64_t live_before = rh_alloc_live();
        int nth = 0;
        for (rh_status rc = RH_ENOMEM; rc;) {
            rh_env *env = NULL;
            rh_error err = {""};
            rh_alloc_fail_at(++nth);
            rc = rh_env_create(&env, rh_env_type_at(i), NULL, &err);
            rh_alloc_fail_at(0);
            if (rc) {
                assert_int_equal(rc, RH_ENOMEM);
                assert_null(env);
                assert_non_null(strstr(err.text, "memory"));
            }
            rh_env_destroy(env);
            assert_int_equal(rh_alloc_live(), live_before);
        }
        assert_true(nth > 1); // at least one did fail
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_starts_have_their_own_stream),
        cmocka_unit_test(test_extreme_options),
        cmocka_unit_test(test_task),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_gamma_is_the_option),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_published_grids),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
