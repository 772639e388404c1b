// test_registry.c - every registered simulator meets the contract of rh_env_type, the plants of
// bench/plants included.

#include "base/base.h"
#include "base/base_internal.h"
#include "env/env_test.h"
#include "env/part_test.h"
#include "rehearse/plugin.h"

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

// Check the contract during a run of random actions; returns a hash of the observations.
static uint64_t random_run(const rh_env *env, uint64_t seed)
{
    const char *name = rh_contract__env_type(env)->name;
    const rh_task *task = rh_env_task(env);
    void *state = rh_alloc(1, rh_env_state_size(env));
    double obs[RH_MAX_OBS], act[RH_MAX_ACT], reward;
    rh_streams streams = streams_of(seed);
    rh_rng rng = rh_rng_stream(99, RH_STREAM_AGENT, 0, 0); // the same actions for every seed
    uint64_t hash = 0;

    int64_t before = rh_base__alloc_count();
    rh_env_start(env, state, &streams, obs);
    for (int t = 0; t < NSTEP; t++) {
        random_action(task, &rng, act);
        bool end = rh_env_step(env, state, act, &streams, obs, &reward);
        MUST(name, isfinite(reward) && reward >= task->reward_lo,
             "give finite rewards not below reward_lo = %g; step %d gave %g", task->reward_lo,
             t, reward);
        MUST(name, !(end && task->continuing), "never end an episode of a continuing task");
        for (int i = 0; i < task->nobs; i++) {
            uint64_t bits;
            MUST(name, isfinite(obs[i]), "give finite observations; step %d gave %s = %g", t,
                 task->obs_name[i], obs[i]);
            memcpy(&bits, &obs[i], sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
        }
        if (end)
            rh_env_start(env, state, &streams, obs);
    }
    MUST(name, rh_base__alloc_count() == before, "allocate nothing in start() and step()");
    rh_free(state);
    return hash;
}

static void test_runs(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const char *name = rh_env_type_at(i)->name;
        rh_env *env = make_default(rh_env_type_at(i));
        uint64_t hash = random_run(env, 3);
        MUST(name, hash == random_run(env, 3), "give the same run for the same streams");
        MUST(name, hash != random_run(env, 4), "give another run for another seed");
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
        const char *name = rh_env_type_at(i)->name;
        MUST(name, !memcmp(first, same, size), "draw starts from streams->start only");
        MUST(name, memcmp(first, second, size), "draw a different second start");
        MUST(name, memcmp(first, other, size), "draw other starts with another seed");
        rh_free(state);
        rh_env_destroy(env);
    }
}

// Each option alone at either end of its range: still finite, still within the bounds.
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
                    random_run(env, 5);
                else
                    MUST(type->name, strstr(err.text, type->param[p].name),
                         "name the option in its message '%s'", err.text);
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
        const char *name = type->name;
        assert_ptr_equal(rh_contract__env_type(env), type);
        MUST(name, task->nobs >= 1 && task->nact >= 1, "have a sensor and an action");
        MUST(name, task->nstep > 0, "set the task's nstep");
        MUST(name, task->gamma >= 0.0 && task->gamma <= 1.0, "have gamma within 0 and 1");
        for (int k = 0; k < task->nobs; k++) {
            MUST(name, task->obs_name[k], "name sensor %d", k);
            MUST(name, task->obs_lo[k] < task->obs_hi[k], "have obs_lo < obs_hi of sensor %s",
                 task->obs_name[k]);
            for (int j = 0; j < k; j++)
                MUST(name, strcmp(task->obs_name[k], task->obs_name[j]) != 0,
                     "name its sensors differently; two are called %s", task->obs_name[k]);
        }
        for (int k = 0; k < task->nact && !task->naction; k++)
            MUST(name, task->act_lo[k] < task->act_hi[k], "have act_lo < act_hi of action %d",
                 k);
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

    rh_param__format(&number, bad, value, sizeof value);
    rh_param__format(&number, type->param[p].lo, lo, sizeof lo);
    rh_param__format(&number, type->param[p].hi, hi, sizeof hi);
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
        for (int p = 0; p < type->nparam; p++) {
            const rh_param *param = &type->param[p];
            MUST(type->name, param->name && param->about, "name and describe option %d", p);
            MUST(type->name, param->lo <= param->initial && param->initial <= param->hi,
                 "have lo <= initial <= hi for option %s", param->name);
            MUST(type->name, rh_param_find(type->param, type->nparam, param->name) == p,
                 "have one option %s only", param->name);

            const double bad[] = {param->lo - 0.75, param->hi + 0.75, NAN, INFINITY};
            for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
                refuses(type, p, bad[k]);
        }
    }
}

// The two options whose names have a meaning elsewhere, where a simulator has them.
static void test_options_with_a_meaning(void **unused)
{
    (void)unused;
    int nstart = 0, ngamma = 0;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        int start = rh_param_find(type->param, type->nparam, "start");
        if (start >= 0) {
            MUST(type->name, type->param[start].choice == rh_env__start_name,
                 "have rh_env__start_name as the choices of its option start");
            nstart++;
        }
        if (rh_param_find(type->param, type->nparam, "gamma") < 0)
            continue;
        ngamma++;
        for (double gamma = 0.0; gamma < 0.5; gamma += 0.375) { // zero is a value
            rh_env *env = make(type, "gamma", gamma, NULL);
            MUST(type->name, rh_env_task(env)->gamma == gamma,
                 "set the task's gamma from the option");
            rh_env_destroy(env);
        }
    }
    assert_true(nstart >= 5);
    assert_true(ngamma >= 5);
}

static void test_grids(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        for (int g = 0; g < type->ngrid; g++) {
            const rh_axis *axis = &type->grid[g];
            MUST(type->name, axis->grid[0] && axis->agent[0] && axis->param[0],
                 "name grid, agent and parameter of axis %d", g);
            MUST(type->name, axis->nvalue >= 1 && axis->nvalue <= 8,
                 "give 1 to 8 values for %s", axis->param);
            for (int k = 0; k < axis->nvalue; k++)
                MUST(type->name,
                     isfinite(axis->value[k]) &&
                         (k == 0 || axis->value[k] > axis->value[k - 1]),
                     "list finite values in ascending order for %s", axis->param);
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

// The names of all simulators, as messages list them.
static void list_names(char *list, size_t size)
{
    list[0] = 0;
    for (int i = 0; i < rh_env_ntype(); i++) {
        size_t n = strlen(list);
        snprintf(list + n, size - n, "%s%s", i ? ", " : "", rh_env_type_at(i)->name);
    }
}

static void test_find(void **unused)
{
    (void)unused;
    rh_error err = {""};
    char names[1024], want[1200];
    list_names(names, sizeof names);
    assert_ptr_equal(rh_env_find("acrobot", &err), &rh_env_acrobot);
    for (int i = 0; i < rh_env_ntype(); i++) {
        const rh_env_type *type = rh_env_type_at(i);
        MUST(type->name, rh_env_find(type->name, NULL) == type, "have a name of its own");
        MUST(type->name, type->about, "have an about line");
    }

    assert_null(rh_env_find("acrobt", &err));
    snprintf(want, sizeof want, "no environment 'acrobt'; did you mean 'acrobot'? (%s)", names);
    assert_string_equal(err.text, want);
    assert_null(rh_env_find("chess", &err));
    snprintf(want, sizeof want, "no environment 'chess'; expected one of %s", names);
    assert_string_equal(err.text, want);
    assert_null(rh_env_find("", NULL));
    assert_null(rh_env_type_at(-1));
    assert_null(rh_env_type_at(rh_env_ntype()));
}

static void test_every_allocation_failing(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_env_ntype(); i++) {
        int64_t live_before = rh_base__alloc_live();
        int nth = 0;
        for (rh_status rc = RH_ENOMEM; rc;) {
            rh_env *env = NULL;
            rh_error err = {""};
            rh_base__alloc_fail_at(++nth);
            rc = rh_env_create(&env, rh_env_type_at(i), NULL, &err);
            rh_base__alloc_fail_at(0);
            MUST(rh_env_type_at(i)->name,
                 !rc || (rc == RH_ENOMEM && !env && strstr(err.text, "memory")),
                 "report RH_ENOMEM when allocation %d fails", nth);
            rh_env_destroy(env);
            MUST(rh_env_type_at(i)->name, rh_base__alloc_live() == live_before,
                 "release all memory when allocation %d fails", nth);
        }
        assert_true(nth > 1); // at least one did fail
    }
}

int main(void)
{
    for (const rh_env_type *const *plant = rehearse_plugin()->env; *plant; plant++)
        if (rh_env_register(*plant, NULL))
            return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_starts_have_their_own_stream),
        cmocka_unit_test(test_extreme_options),
        cmocka_unit_test(test_task),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_options_with_a_meaning),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_published_grids),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
