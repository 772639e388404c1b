// test_stand.c - a run put at a row of the log continues exactly as one that started there.

#include "model_sample.h"

#define NSTEP 40

typedef struct path {
    double obs[NSTEP][4], reward[NSTEP];
    bool ended[NSTEP];
} path;

// Steps with given actions from where the state is; the noise is that of stream 7.
static void walk_on(const rh_env *env, void *state, const rh_log *log, path *p)
{
    rh_streams streams = {rh_rng_stream(7, RH_STREAM_START, 0, 0),
                          rh_rng_stream(7, RH_STREAM_NOISE, 0, 0)};
    bool over = false;
    memset(p, 0, sizeof *p);
    for (int i = 0; i < NSTEP && !over; i++) {
        const double *act = log->act + (int64_t)(i % log->n) * log->nact;
        over = rh_env_step(env, state, act, &streams, p->obs[i], &p->reward[i]);
        p->ended[i] = over;
    }
}

static void check(const char *name, const char *carry, int naction)
{
    rh_log *log = log_by_chance(3, 300, 3, naction);
    rh_model_options opt = plain_options();
    rh_error err = {""};
    const rh_model_type *type = rh_model_find(name, &err);
    assert_non_null(type);
    double param[RH_MODEL_NPARAM];
    rh_param_initial(type->param, type->nparam, param);
    opt.param = param;
    if (carry) {
        int at = rh_param_find(type->param, type->nparam, "carry");
        assert_int_equal(rh_param_parse(&type->param[at], name, carry, &param[at], &err),
                         RH_OK);
    }
    rh_model *model = fit_plain(type, log, false, &opt);
    rh_env *env = NULL;
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    void *state = rh_alloc(1, rh_env_state_size(env));
    for (int32_t row = 0; row < 300; row += 37) {
        // an environment whose only start is the row
        rh_model other = *model;
        rh_env *from = NULL;
        static path a, b;
        double obs[RH_MAX_OBS];
        rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0),
                              rh_rng_stream(1, RH_STREAM_NOISE, 0, 0)};
        other.start = &row;
        other.nstart = 1;
        assert_int_equal(type->calls->env(&from, &other, other.member[0], other.param, &err),
                         RH_OK);
        void *there = rh_alloc(1, rh_env_state_size(from));
        rh_env_start(from, there, &streams, obs);
        walk_on(from, there, log, &a);

        // some steps elsewhere first: nothing of them may be left
        rh_env_start(env, state, &streams, obs);
        walk_on(env, state, log, &b);
        type->calls->stand(model, env, state, row);
        walk_on(env, state, log, &b);
        assert_memory_equal(&a, &b, sizeof a);
        rh_free(there);
        rh_env_destroy(from);
    }
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void every_kind(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_model_ntype(); i++) {
        check(rh_model_type_at(i)->name, NULL, 3);
        check(rh_model_type_at(i)->name, NULL, 0);
    }
    check("knn", "log", 3);
    check("knn", "action", 3);
    check("knn", "local", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
