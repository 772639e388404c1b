// test_blocks.c - the public parts of agents: an agent made of them is esarsa, to the last bit.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/base_internal.h"
#include "my_plugin.h"
#include "rehearse/rehearse.h"

enum { NRUN = 2 };

static void scores(const rh_env_type *type, const rh_agent_type *agent, double *score)
{
    rh_env *env = NULL;
    rh_result result[NRUN];
    double hp[RH_MAX_PARAM];
    assert_int_equal(rh_env_create(&env, type, NULL, NULL), RH_OK);
    rh_param_initial(agent->param, agent->nparam, hp);
    hp[rh_param_find(agent->param, agent->nparam, "alpha")] = 0.3;
    rh_eval_options opt = rh_eval_defaults(rh_env_task(env));
    opt.nstep = 3000;
    opt.nrun = NRUN;
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &opt, result, NULL, NULL), RH_OK);
    for (int i = 0; i < NRUN; i++)
        score[i] = result[i].total + (double)result[i].nepisode;
    rh_env_destroy(env);
}

static void the_example_is_esarsa(void **unused)
{
    (void)unused;
    static const char *const name[] = {"acrobot", "cartpole", "mountain_car", "puddle_world"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        double mine[NRUN], built_in[NRUN];
        scores(rh_env_find(name[i], NULL), &my_sarsa_type, mine);
        scores(rh_env_find(name[i], NULL), rh_agent_find("esarsa", NULL), built_in);
        assert_memory_equal(mine, built_in, sizeof mine);
    }
}

static void softmax_by_hand(void **unused)
{
    (void)unused;
    const double q[] = {1.0, 3.0, 2.0};
    double pi[3], sum = exp(-2.0 / 0.5) + 1.0 + exp(-1.0 / 0.5) + 1e-8;
    rh_agent_softmax(q, 3, 0.5, pi);
    assert_true(fabs(pi[0] - exp(-4.0) / sum) < 1e-12);
    assert_true(fabs(pi[1] - 1.0 / sum) < 1e-12);
    assert_true(fabs(pi[2] - exp(-2.0) / sum) < 1e-7);

    // how often each is drawn
    int count[3] = {0};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < 20000; i++)
        count[rh_agent_draw(pi, 3, &rng)]++;
    for (int a = 0; a < 3; a++)
        assert_true(fabs(count[a] / 20000.0 - pi[a]) < 4.0 * sqrt(pi[a] / 20000.0));
}

// Plain gradient descent with traces, by hand: three features, one active, two actions.
static void weights_by_hand(void **unused)
{
    (void)unused;
    rh_weights *w = NULL;
    rh_weights_options opt = rh_weights_defaults();
    opt.nfeature = 3;
    opt.nactive = 1;
    opt.naction = 2;
    opt.plain = true;
    opt.rate = 0.5;
    opt.decay = 0.5;
    assert_int_equal(rh_weights_create(&w, &opt, "test", NULL), RH_OK);
    assert_true(rh_weights_nvalue(w) >= 2);
    int32_t *list = rh_alloc(rh_weights_nlist(w), sizeof *list);
    double *q = rh_alloc(rh_weights_nvalue(w), sizeof *q);
    rh_weights_rest(w);
    for (int f = 0; f < 2; f++) { // feature 0 with action 1, then feature 1 with action 0
        list[0] = f;
        rh_weights_prepare(w, list);
        rh_weights_read(w, list, q);
        rh_weights_aim(w, list, 1 - f);
        assert_true(rh_weights_visit(w) == 0.0);
        rh_weights_learn(w, 2.0);
    }
    static const double expected[3][2] = {{0.0, 1.5}, {1.0, 0.0}, {0.0, 0.0}};
    for (int f = 0; f < 3; f++) {
        list[0] = f;
        rh_weights_prepare(w, list);
        rh_weights_read(w, list, q);
        assert_true(q[0] == expected[f][0]);
        assert_true(q[1] == expected[f][1]);
    }
    rh_free(q);
    rh_free(list);
    rh_weights_destroy(w);
    rh_weights_destroy(NULL);
}

static void wrong_options_are_refused(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_weights *w = NULL;
    rh_tiles *tiles = NULL;
    rh_env *env = NULL;
    rh_weights_options good = rh_weights_defaults(), opt;
    good.nfeature = 8;
    good.nactive = 2;
    good.naction = 2;
#define REFUSED(change, why)                                                                   \
    opt = good;                                                                                \
    change;                                                                                    \
    assert_int_equal(rh_weights_create(&w, &opt, "mine", &err), RH_EINVAL);                    \
    assert_string_equal(err.text, "mine: " why)
    REFUSED(opt.cookie = 0, "options must start from rh_weights_defaults()");
    REFUSED(opt.nactive = 9, "8 features, 9 of them active, 2 actions; expected 1 or more");
    REFUSED(opt.rate = -1, "rate = -1, expected 0 to 1e6");
    REFUSED(opt.beta2 = 0, "beta1 = 0 and beta2 = 0, expected 0 and 0.5 to below 1");
    REFUSED(opt.decay = NAN, "decay = nan, expected 0 to 1");
    assert_null(w);

    assert_int_equal(rh_env_create(&env, rh_env_find("acrobot", NULL), NULL, NULL), RH_OK);
    const rh_task *task = rh_env_task(env);
    assert_int_equal(rh_tiles_create(&tiles, task, 0, 8, RH_TILES_PAIRS, "mine", &err),
                     RH_EINVAL);
    assert_string_equal(err.text, "mine: 0 tilings, expected 1 to 64");
    assert_int_equal(rh_tiles_create(&tiles, task, 8, 257, RH_TILES_PAIRS, "mine", &err),
                     RH_EINVAL);
    assert_null(tiles);
    rh_env_destroy(env);
}

static void survives_failed_allocations(void **unused)
{
    (void)unused;
    rh_weights_options opt = rh_weights_defaults();
    opt.nfeature = 8;
    opt.nactive = 2;
    opt.naction = 2;
    rh_status rc = RH_ENOMEM;
    for (int n = 1; rc; n++) {
        rh_weights *w = NULL;
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(n);
        rc = rh_weights_create(&w, &opt, "mine", NULL);
        rh_base__alloc_fail_at(0);
        assert_true(rc ? rc == RH_ENOMEM && !w : w != NULL);
        rh_weights_destroy(w);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_esarsa),
        cmocka_unit_test(softmax_by_hand),
        cmocka_unit_test(weights_by_hand),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
