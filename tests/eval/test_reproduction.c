// test_reproduction.c - environment, agent, tile coder and runs together give the published
// numbers.
//
// Cartpole's values were released by the paper's authors (means of 30 runs); Puddle World's
// and Acrobot's are from an independent check of the authors' settings. A mean passes within
// three combined standard errors. reproduction/docs/reproduction.md has the whole table; here
// are the rows whose runs vary least, which tell most: the narrowest would show an error of two
// percent.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rehearse/rehearse.h"

#include <math.h>

#define NRUN 8

typedef struct row {
    const char *env;
    const char *option; // NULL, or one to set to `value`
    double value;
    double alpha, beta1, tau, w_init, lambda;
    int64_t nstep;
    double expected; // published mean
    double spread;   // standard deviation of a run, from 30 of ours
    int n;           // runs behind the published mean
} row;

static const row rows[] = {
    {"cartpole", NULL, 0, 0.03, 0, 1, 0, 0.023, 50000, -1809.6, 42, 30},
    {"cartpole", NULL, 0, 0.03, 0, 10, 12, 0.023, 50000, -2236.6, 22, 30},
    {"cartpole", NULL, 0, 0.03, 0.9, 1, 0, 0.023, 50000, -1843.5, 45, 30},
    {"puddle_world", NULL, 0, 0.1, 0, 1, 0, 0.1, 30000, -29.6, 1.3, 30},
    {"puddle_world", NULL, 0, 0.1, 0, 1, 0, 0.1, 15000, -36.9, 2.9, 30},
    {"acrobot", "torques", 2, 0.03, 0, 1, 0, 0.8, 15000, -117.8, 15.5, 30},
};

static double mean_score(const row *r)
{
    const rh_env_type *type = rh_env_find(r->env, NULL);
    double opt[64], hp[32];
    rh_param_initial(type->param, type->nparam, opt);
    if (r->option)
        opt[rh_param_find(type->param, type->nparam, r->option)] = r->value;
    rh_env *env = NULL;
    assert_int_equal(rh_env_create(&env, type, opt, NULL), RH_OK);

    const rh_agent_type *agent = rh_agent_find("esarsa", NULL);
    static const char *const name[] = {"alpha", "beta1", "tau", "w_init", "lambda"};
    const double value[] = {r->alpha, r->beta1, r->tau, r->w_init, r->lambda};
    rh_param_initial(agent->param, agent->nparam, hp);
    for (int i = 0; i < 5; i++)
        hp[rh_param_find(agent->param, agent->nparam, name[i])] = value[i];

    rh_eval_options eval = rh_eval_defaults(rh_env_task(env));
    rh_result result[NRUN];
    eval.nstep = r->nstep;
    eval.nrun = NRUN;
    eval.nthread = 2;
    assert_int_equal(
        rh_eval_runs(&env, 1, agent, rh_env_task(env), 1, hp, &eval, result, NULL, NULL),
        RH_OK);
    rh_env_destroy(env);
    double sum = 0.0;
    for (int i = 0; i < NRUN; i++)
        sum += result[i].score;
    return sum / NRUN;
}

static void published_numbers_are_met(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        double mean = mean_score(r), error = r->spread * sqrt(1.0 / NRUN + 1.0 / r->n);
        double z = (mean - r->expected) / error;
        print_message("%s, beta1 %g, tau %g, w_init %g: %.1f, published %.1f, z %+.1f\n",
                      r->env, r->beta1, r->tau, r->w_init, mean, r->expected, z);
        assert_true(fabs(z) < 3.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_numbers_are_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
