// test_actor_critic.c - both actor-critics: every step moves the actor along the gradient of
// log pi, which is measured here by finite differences of a policy written anew.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rehearse/rehearse.h"

#include "base/base.h"
#include "reference/esarsa_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA_CRITIC 0.002
#define SIGMA_INIT 0.3

// An agent's learned arrays at one moment.
typedef struct learned {
    rh_state *state;
    const double *w, *theta;
    size_t nw, ntheta;
} learned;

static learned look(rh_agent *agent)
{
    learned l = {0};
    assert_int_equal(rh_agent_save(agent, &l.state, NULL), RH_OK);
    l.w = rh_state__doubles(l.state, "w", &l.nw);
    l.theta = rh_state__doubles(l.state, "theta", &l.ntheta);
    assert_non_null(l.w);
    assert_non_null(l.theta);
    return l;
}

// log of the probability (density) of x in the state with features f. width: numbers in
// a row of theta.
typedef double log_policy(const double *theta, const int *f, int nf, int width, double x);

static double log_softmax(const double *theta, const int *f, int nf, int width, double x)
{
    double sum = 0.0, chosen = 0.0;
    for (int a = 0; a < width; a++) {
        double h = 0.0;
        for (int i = 0; i < nf; i++)
            h += theta[f[i] * width + a];
        sum += exp(h);
        if (a == (int)x)
            chosen = h;
    }
    return chosen - log(sum);
}

static double log_normal(const double *theta, const int *f, int nf, int width, double x)
{
    double mu = 0.0, log_sigma = log(SIGMA_INIT);
    for (int i = 0; i < nf; i++) {
        mu += theta[f[i] * width];
        log_sigma += theta[f[i] * width + 1];
    }
    double z = (x - mu) / exp(log_sigma);
    return -0.5 * z * z - log_sigma;
}

static double value(const learned *l, const int *f, int nf)
{
    double v = 0.0;
    for (int i = 0; i < nf; i++)
        v += l->w[f[i]];
    return v;
}

// Whether sigma is inside the bounds that gaussian_actor_critic.c keeps it in.
static bool spread_is_free(const learned *l, const int *f, int nf)
{
    double log_sigma = log(SIGMA_INIT);
    for (int i = 0; i < nf; i++)
        log_sigma += l->theta[f[i] * 2 + 1];
    return log_sigma > log(0.01) && log_sigma < log(2.0);
}

// Compare the change of theta with step * d log pi / d theta, for the active entries and some
// that are not.
static void check_actor(const learned *old, const learned *new, const int *f, int nf, double x,
                        double step, log_policy *log_pi)
{
    int width = (int)(old->ntheta / old->nw);
    double *theta = malloc(old->ntheta * sizeof *theta);
    memcpy(theta, old->theta, old->ntheta * sizeof *theta);
    for (int i = 0; i < nf; i += 5)
        for (int k = 0; k < width; k++) {
            int e = f[i] * width + k;
            double h = 1e-5;
            theta[e] = old->theta[e] + h;
            double up = log_pi(theta, f, nf, width, x);
            theta[e] = old->theta[e] - h;
            double down = log_pi(theta, f, nf, width, x);
            theta[e] = old->theta[e];
            double expected = step * (up - down) / (2.0 * h);
            double moved = new->theta[e] - old->theta[e];
            if (!(fabs(moved - expected) < 1e-7 * (fabs(step) + fabs(expected))))
                fail_msg("moved by %.9g, expected %.9g (x %g, entry %d)", moved, expected, x,
                         k);
        }
    size_t changed = 0;
    for (size_t e = 0; e < old->ntheta; e++)
        changed += new->theta[e] != old->theta[e];
    assert_true(changed <= (size_t)(nf * width));
    free(theta);
}

static void follow_run(const char *env_name, const char *agent_name, const double *hp, int nhp,
                       log_policy *log_pi)
{
    const rh_agent_type *type = rh_agent_find(agent_name, NULL);
    double full[32];
    rh_param_initial(type->param, type->nparam, full);
    memcpy(full, hp, (size_t)nhp * sizeof *hp);
    rh_env *env = NULL;
    rh_agent *agent = NULL;
    assert_int_equal(rh_env_create(&env, rh_env_find(env_name, NULL), NULL, NULL), RH_OK);
    const rh_task *task = rh_env_task(env);
    assert_int_equal(rh_agent_create(&agent, type, task, full, NULL), RH_OK);
    plain *coder =
        plain_create(task, (double[5]){0.1, 0, 1, 0, 0}, 16, 8); // for its tile coder
    int nf = coder->nactive, *now = coder->now, *next = coder->next;
    void *state = rh_alloc(1, rh_env_state_size(env));
    rh_streams streams = {rh_rng_stream(3, RH_STREAM_START, 0, 0),
                          rh_rng_stream(3, RH_STREAM_NOISE, 0, 0)};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, 0);
    double obs[RH_MAX_OBS], act[1], reward, discount = 1.0;

    rh_env_start(env, state, &streams, obs);
    rh_agent_start(agent, obs, &rng, act);
    plain_features(coder, obs, now);
    int checked = 0, ended = 0;
    for (int t = 0; t < 12000 && ended < 3; t++) {
        learned old = look(agent);
        double taken = act[0];
        bool terminal = rh_env_step(env, state, act, &streams, obs, &reward);
        double delta = reward - value(&old, now, nf);
        if (terminal) {
            assert_true(rh_agent_end(agent, reward));
        } else {
            assert_true(rh_agent_step(agent, reward, obs, &rng, act));
            plain_features(coder, obs, next);
            delta += task->gamma * value(&old, next, nf);
        }
        learned new = look(agent);

        // the critic moved by alpha delta on each active feature, and nowhere else
        for (int i = 0; i < nf; i++)
            assert_true(fabs(new.w[now[i]] - old.w[now[i]] - ALPHA_CRITIC *delta) < 1e-12);
        double step = ALPHA_CRITIC * hp[1] * delta * (task->continuing ? 1.0 : discount);
        // a continuous action at its bound was clipped: what was drawn is not known here; and a
        // spread at its bound has no gradient
        bool known = task->naction || (taken > task->act_lo[0] && taken < task->act_hi[0] &&
                                       spread_is_free(&old, now, nf));
        double half = 0.5 * (task->act_hi[0] - task->act_lo[0]);
        if (known)
            check_actor(&old, &new, now, nf, task->naction ? taken : taken / half, step,
                        log_pi);
        checked += known;
        rh_state_destroy(old.state);
        rh_state_destroy(new.state);

        discount *= task->gamma;
        int *last = now;
        now = next;
        next = last;
        if (terminal) {
            ended++;
            discount = 1.0;
            rh_env_start(env, state, &streams, obs);
            rh_agent_start(agent, obs, &rng, act);
            plain_features(coder, obs, now);
        }
    }
    assert_true(checked > 200);
    assert_true(task->continuing || ended > 0);
    rh_free(state);
    plain_destroy(coder);
    rh_agent_destroy(agent);
    rh_env_destroy(env);
}

static void softmax_actor_follows_its_gradient(void **unused)
{
    (void)unused;
    follow_run("puddle_world", "actor_critic", (double[]){ALPHA_CRITIC, 0.25}, 2, log_softmax);
}

static void gaussian_actor_follows_its_gradient(void **unused)
{
    (void)unused;
    follow_run("pendulum", "gaussian_actor_critic", (double[]){ALPHA_CRITIC, 0.003, SIGMA_INIT},
               3, log_normal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_actor_follows_its_gradient),
        cmocka_unit_test(gaussian_actor_follows_its_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
