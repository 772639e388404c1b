// test_fidelity.c - comparing a model with its log: predictions against an independent
// implementation, runs by hand, whatever logs there are, stopping, memory and threads.

#include "base/base_internal.h"
#include "fidelity_sample.h"

#include "log/log.h"
#include "model/knn_internal.h"

#include <stdlib.h>

static bool is_near(double x, double right, double tolerance)
{
    return isnan(right) ? isnan(x) : fabs(x - right) <= tolerance;
}

// ---------------------------------------------------------------------------- a reference

#define NREFERENCE 64

typedef struct reference {
    char name[NREFERENCE][32];
    double value[NREFERENCE];
    int n;
} reference;

static double right_of(const reference *ref, const char *name)
{
    for (int i = 0; i < ref->n; i++)
        if (strcmp(ref->name[i], name) == 0)
            return ref->value[i];
    fail_msg("%s: not in the reference", name);
    return NAN;
}

// The log called `name`, and its numbers.
static rh_log *read_reference(const char *name, reference *ref)
{
    rh_log_shape shape = {.nobs = 2, .nact = 1, .action = RH_ACTION_DISCRETE};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    char line[512], start[32], number[32];
    FILE *file = fopen(RH_TEST_DATA "/model_fidelity.csv", "r");
    assert_non_null(file);
    snprintf(start, sizeof start, "step,%s,", name);
    snprintf(number, sizeof number, "number,%s,", name);
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    ref->n = 0;
    rh_log_row row = {0};
    double x[8] = {0};
    bool pending = false;
    while (fgets(line, sizeof line, file)) {
        char *at = line + strlen(number);
        if (strncmp(line, number, strlen(number)) == 0) {
            size_t n = strcspn(at, ",");
            assert_true(ref->n < NREFERENCE);
            assert_true(n < 32);
            memcpy(ref->name[ref->n], at, n);
            ref->name[ref->n][n] = 0;
            ref->value[ref->n++] = strtod(at + n + 1, NULL);
        }
        if (strncmp(line, start, strlen(start)) != 0)
            continue;
        at = line + strlen(start);
        for (int i = 0; i < 8; i++)
            x[i] = strtod(at, &at), at++;
        row = (rh_log_row){.obs = x + 1,
                           .act = x + 3,
                           .reward = x[4],
                           .next = isnan(x[5]) ? NULL : x + 5,
                           .terminal = x[7] > 0.0,
                           .begins = x[0] > 0.0,
                           .resumes = x[0] < 0.0};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        pending = true;
    }
    fclose(file);
    assert_true(pending);
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

static rh_model *fit_seeded(const rh_log *log, double reach, int nthread, uint64_t seed)
{
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_REACH] = isinf(reach) ? RH_KNN_NONE : RH_KNN_FIXED;
    if (!isinf(reach))
        param[RH_KNN_REACH_DISTANCE] = reach;
    rh_model_options opt = rh_model_defaults();
    opt.param = param;
    opt.nthread = nthread;
    opt.seed = seed;
    return fit_plain(&rh_model_knn, log, false, &opt);
}

static rh_model *fit_knn(const rh_log *log, double reach, int nthread)
{
    return fit_seeded(log, reach, nthread, 1);
}

static void check(const reference *ref, const char *name, double x)
{
    if (!is_near(x, right_of(ref, name), 2e-6))
        fail_msg("%s = %.10g, expected %.10g", name, x, right_of(ref, name));
}

static void check_error(const reference *ref, const char *name, rh_fidelity_error e)
{
    char full[32];
    snprintf(full, sizeof full, "%s.model", name);
    check(ref, full, e.model);
    snprintf(full, sizeof full, "%s.mean", name);
    check(ref, full, e.mean);
    snprintf(full, sizeof full, "%s.copy", name);
    check(ref, full, e.persistence);
}

static void predictions_are_those_of_numpy(void **unused)
{
    (void)unused;
    static const char *const logs[] = {"episodes", "one"};
    for (int i = 0; i < 2; i++) {
        reference ref;
        rh_log *log = read_reference(logs[i], &ref);
        rh_model *model = fit_knn(log, INFINITY, 1);
        const rh_fidelity *f = rh_model_fidelity(model);
        assert_int_equal(f->nfold, 5);
        assert_true((double)f->nheld == right_of(&ref, "nheld"));
        assert_true(f->held_out_of_coverage == 0.0);
        assert_true(f->out_of_coverage == 0.0);
        assert_true(isinf(f->reach));
        check_error(&ref, "state", f->state);
        check_error(&ref, "sensor0", f->sensor[0]);
        check_error(&ref, "sensor1", f->sensor[1]);
        check_error(&ref, "reward", f->reward);
        check_error(&ref, "terminal", f->terminal);
        check(&ref, "step", f->step);
        check(&ref, "action0.share", f->action[0].share);
        check(&ref, "action1.share", f->action[1].share);
        check(&ref, "action0.nearest", f->action[0].nearest);
        check(&ref, "action1.nearest", f->action[1].nearest);
        rh_model_destroy(model);

        // what is out of reach is counted, and in no error
        model = fit_knn(log, 0.08, 1);
        f = rh_model_fidelity(model);
        assert_true(f->reach == 0.08);
        check(&ref, "reach.held_out_of_coverage", f->held_out_of_coverage);
        check(&ref, "reach.reward.model", f->reward.model);
        check(&ref, "reach.action0.out_of_coverage", f->action[0].out_of_coverage);
        check(&ref, "reach.action1.out_of_coverage", f->action[1].out_of_coverage);
        assert_true(is_near(f->out_of_coverage,
                            (f->action[0].out_of_coverage + f->action[1].out_of_coverage) / 2,
                            1e-12));
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// ---------------------------------------------------------------------------- by hand

static walk w[4000];

// Four episodes of 10, 20, 30 and 40 steps that end.
static int four(void)
{
    int n = walk_on(w, 0, 0, 10, ENDS, 1);
    n = walk_on(w, n, 100, 20, ENDS, 1);
    n = walk_on(w, n, 200, 30, ENDS, 1);
    return walk_on(w, n, 300, 40, ENDS, 1);
}

static void errors_of_what_is_told(void **unused)
{
    (void)unused;
    rh_model *model = measured(w, four(), (fault){.off = 0.5, .reward_off = 0.25});
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(f->nfold, 4);
    assert_int_equal(f->nheld, 100);
    assert_int_equal(nfit, 1 + 4);
    assert_int_equal(nask, 40);        // of the last fold
    assert_int_equal(fewest_used, 60); // which leaves so many
    assert_true(f->state.model == 0.5);
    assert_true(f->state.persistence == 1.0);
    assert_true(f->sensor[0].model == 0.5);
    assert_true(f->sensor[0].persistence == 1.0);
    assert_true(f->sensor[1].model == 0.0);
    assert_true(f->sensor[1].mean == 0.0);
    assert_true(f->reward.model == 0.25);
    assert_true(f->reward.mean == 0.0);
    assert_true(isnan(f->reward.persistence));
    assert_true(f->terminal.model == 0.0);
    assert_true(f->terminal.mean > 0.0);
    assert_true(isnan(f->terminal.persistence));
    assert_true(f->step == 1.0);
    assert_true(f->action[0].share == 0.8);
    assert_true(f->action[1].share == 0.2);
    assert_true(f->action[0].nearest == 0.0);
    assert_true(f->action[1].nearest == 2.0);
    rh_model_destroy(model);

    // ends that are not seen: one error in so many steps
    model = measured(w, four(), (fault){.blind = true});
    f = rh_model_fidelity(model);
    assert_true(f->state.model == 0.0);
    assert_true(is_near(f->terminal.model, sqrt(4.0 / 100.0), 1e-12));
    rh_model_destroy(model);

    // one action out of reach
    model = measured(w, four(), (fault){.uncovered = {false, true}});
    f = rh_model_fidelity(model);
    assert_true(f->held_out_of_coverage == 0.2);
    assert_true(f->out_of_coverage == 0.5);
    assert_true(f->action[0].out_of_coverage == 0.0);
    assert_true(f->action[1].out_of_coverage == 1.0);
    rh_model_destroy(model);

    // what is trained for long is held out once
    model = measured(w, four(), (fault){.chance = true});
    f = rh_model_fidelity(model);
    assert_int_equal(f->nfold, 1);
    assert_int_equal(f->nheld, 10);
    assert_int_equal(nfit, 1 + 1);
    rh_model_destroy(model);
}

static void runs_of_what_is_told(void **unused)
{
    (void)unused;
    rh_model *model = measured(w, four(), (fault){.tax = 0.5});
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(f->cutoff, 80); // twice the longest
    assert_int_equal(f->logged_return.n, 4);
    assert_true(f->logged_return.q25 == -32.5);
    assert_true(f->logged_return.median == -25.0);
    assert_true(f->logged_return.q75 == -17.5);
    assert_true(f->logged_return.mean == -25.0);
    assert_true(f->logged_length.median == 25.0);
    assert_true(f->logged_truncated == 0.0);
    assert_true(f->simulated_truncated == 0.0);
    assert_int_equal(f->simulated_return.n, 50);
    assert_true(f->simulated_length.q25 >= 10.0);
    assert_true(f->simulated_length.q75 <= 40.0);
    assert_true(is_near(f->simulated_return.mean, -1.5 * f->simulated_length.mean, 1e-9));
    assert_true(f->stitched == 0.0);
    assert_true(isnan(f->jump));
    assert_true(isnan(f->jump90));
    assert_true(f->logged_better == 0.5);
    assert_true(f->random_return == f->simulated_return.mean);
    rh_model_destroy(model);

    // every step is that of the state after the next: a stitch of two real steps
    model = measured(w, walk_on(w, 0, 0, 30, ENDS, 1), (fault){.skip = 2});
    f = rh_model_fidelity(model);
    assert_true(f->stitched == 1.0);
    assert_true(f->jump == 2.0);
    assert_true(f->jump90 == 2.0);
    assert_true(f->random_jump == 2.0);
    assert_true(f->simulated_length.median == 10.0);
    assert_true(f->logged_length.median == 30.0);
    assert_true(f->random_better == 1.0);
    assert_true(f->logged_better == 0.0);
    assert_true(f->random_steps == 10.0);
    rh_model_destroy(model);

    // nothing ends
    model = measured(w, walk_on(w, 0, 0, 30, ENDS, 1), (fault){.no_end = true});
    f = rh_model_fidelity(model);
    assert_true(f->simulated_truncated == 1.0);
    assert_true(f->simulated_length.median == 60.0);
    assert_true(f->random_better == 0.0);
    assert_true(isinf(f->random_steps));
    rh_model_destroy(model);

    // a door that half of all steps of random behaviour go through
    model = measured(w, walk_on(w, 0, 0, 30, ENDS, 1), (fault){.door = true});
    f = rh_model_fidelity(model);
    assert_true(f->random_better == 1.0);
    assert_true(f->random_steps > 1.0);
    assert_true(f->random_steps < 4.0);
    rh_model_destroy(model);
}

static void which_episodes_count(void **unused)
{
    (void)unused;
    // a time limit of 20: cut off as late as the longest counts, earlier or resumed does not
    int n = walk_on(w, 0, 0, 20, CUT, 1);
    n = walk_on(w, n, 100, 10, ENDS, 1);
    n = walk_on(w, n, 200, 12, CUT, 1);
    n = walk_on(w, n, 300, 15, ENDS, -1);
    n = walk_on(w, n, 400, 20, CUT, 1);
    n = walk_on(w, n, 500, 14, ENDS, 1);
    rh_model *model = measured(w, n, (fault){0});
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(f->cutoff, 20);
    assert_int_equal(f->logged_length.n, 4);
    assert_true(f->logged_length.mean == 16.0);
    assert_true(f->logged_truncated == 0.5);
    assert_true(f->simulated_length.q75 <= 20.0);
    rh_model_destroy(model);

    // one that ended just then changes nothing, before or after
    for (int late = 0; late < 2; late++) {
        n = walk_on(w, 0, 0, 20, late ? CUT : ENDS, 1);
        n = walk_on(w, n, 100, 20, late ? ENDS : CUT, 1);
        n = walk_on(w, n, 200, 10, ENDS, 1);
        model = measured(w, n, (fault){0});
        assert_int_equal(rh_model_fidelity(model)->cutoff, 20);
        rh_model_destroy(model);
    }

    // where nothing begins in a start state, all count
    n = walk_on(w, 0, 0, 20, ENDS, 1);
    n = walk_on(w, n, 100, 10, ENDS, 1);
    rh_log *log = log_of(w, n, 2), *same = NULL;
    rh_log parts = *log;
    const uint8_t resumed[2] = {0, 0};
    parts.start = resumed;
    assert_int_equal(rh_log_copy(&same, &parts, NULL), RH_OK);
    told = (fault){0};
    model = fit_plain(&told_type, same, false, NULL);
    assert_int_equal(rh_model_fidelity(model)->logged_length.n, 2);
    rh_model_destroy(model);
    rh_log_destroy(same);
    rh_log_destroy(log);
}

static void run_episodes_begin_where_logged_ones_do(void **unused)
{
    (void)unused;
    walk elsewhere[1] = {{35, 0, -1, 36, ENDS, 1}};
    rh_log *log = log_of(w, walk_on(w, 0, 0, 40, ENDS, 1), 2);
    rh_log *starts = log_of(elsewhere, 1, 2);
    rh_model_options opt = rh_model_defaults();
    opt.starts = starts;
    told = (fault){0};
    rh_model *model = fit_plain(&told_type, log, false, &opt);
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(model->nstart, 1);
    assert_true(model->start[0] >= 41); // not that of the log
    assert_true(f->simulated_length.q25 == 40.0);
    assert_true(f->simulated_length.q75 == 40.0);
    rh_model_destroy(model);
    rh_log_destroy(starts);
    rh_log_destroy(log);
}

static void continuing_logs_have_stretches(void **unused)
{
    (void)unused;
    // 95 steps that nothing ends: 31 stretches of 3 steps
    int n = walk_on(w, 0, 0, 95, CUT, 1);
    w[94].next = 0.0; // and back to the beginning
    rh_model *model = measured(w, n, (fault){0});
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_true(model->task.continuing);
    assert_int_equal(f->cutoff, 3);
    assert_int_equal(f->logged_return.n, 31);
    assert_int_equal(f->simulated_return.n, 90);
    assert_true(f->logged_return.q25 == -3.0);
    assert_true(f->logged_return.q75 == -3.0);
    assert_true(f->simulated_return.q25 == -3.0);
    assert_true(f->simulated_return.q75 == -3.0);
    assert_int_equal(f->logged_length.n, 0);
    assert_true(isnan(f->logged_length.median));
    assert_true(isnan(f->simulated_truncated));
    assert_true(isnan(f->logged_truncated));
    assert_int_equal(f->nfold, 5); // blocks of the one episode
    assert_int_equal(f->nheld, 95);
    assert_int_equal(fewest_used, 95 - 19 - 2); // of those in the middle
    assert_true(f->random_better == 0.0);
    rh_model_destroy(model);
}

// A reset ends no stretch: the failures of the log are in its returns.
static void stretches_cross_resets(void **unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        w[i] = (walk){.s = i % 10,
                      .next = i % 10 + 1.0,
                      .reward = i % 10 == 9 ? -1.0 : 0.0,
                      .flag = i % 10 == 9 ? ENDS : 0,
                      .begins = i % 10 == 0};
    rh_log *log = log_of(w, 100, 2);
    rh_model_options opt = plain_options();
    opt.episodes = RH_EPISODES_CONTINUE;
    opt.fidelity = true;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_true(model->task.continuing);
    assert_int_equal(f->cutoff, 3);
    assert_int_equal(f->logged_return.n, 33); // of the first 99 steps, with 9 failures
    assert_true(fabs(f->logged_return.mean + 9.0 / 33.0) < 1e-12);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void samples_do_not_fall_into_step(void **unused)
{
    (void)unused;
    // 2,000 episodes of 20 steps: 1 of 20 of what is asked must be ends, whatever the stride
    rh_log *log = NULL;
    walk *many = calloc(40000, sizeof *many);
    assert_non_null(many);
    int n = 0;
    while (n < 40000)
        n = walk_on(many, n, 0, 20, ENDS, 1);
    for (int i = 0; i < n; i++)
        many[i].reward = -0.7;
    log = log_of(many, n, 2);
    rh_model *model = fit_knn(log, INFINITY, 1);
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(f->nheld, 5000);
    assert_true(is_near(f->terminal.mean, sqrt(0.05 * 0.95), 0.02));
    assert_int_equal(f->logged_return.n, 500);
    assert_true(is_near(f->logged_return.q25, -14.0, 1e-9));
    assert_true(is_near(f->simulated_return.q75, -14.0, 1e-9));
    // not what rounding leaves
    assert_true(f->reward.model == 0.0);
    assert_true(f->reward.mean == 0.0);
    rh_model_destroy(model);
    rh_log_destroy(log);
    free(many);
}

// ---------------------------------------------------------------------------- any log

// A log of so many steps of chance: measured, and nothing is infinite that must not be.
static void small_logs_are_measured(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 3; naction += 3)
        for (int n = 1; n <= 40; n++)
            for (int both = 0; both <= (naction == 0); both++) {
                rh_log *log = log_by_chance((uint64_t)n, n, 3, naction);
                rh_model *model = fit_plain(&rh_model_knn, log, both, NULL);
                const rh_fidelity *f = rh_model_fidelity(model);
                assert_true(n < 10 ? f->nheld == 0 && isnan(f->state.model) : f->nheld == n);
                assert_true(n < 10 || f->held_out_of_coverage == 1.0 || f->reward.model >= 0.0);
                assert_true(f->logged_return.n > 0);
                assert_true(f->simulated_return.n >= 10);
                assert_true(f->out_of_coverage >= 0.0);
                assert_true(f->out_of_coverage <= 1.0);
                assert_true(f->step > 0.0);
                assert_true(f->random_better >= 0.0);
                rh_model_destroy(model);
                rh_log_destroy(log);
            }
}

static void odd_logs_are_measured(void **unused)
{
    (void)unused;
    // nothing moves
    for (int i = 0; i < 20; i++)
        w[i] = (walk){3, i % 2, -1, 3, i % 5 == 4 ? ENDS : 0, i % 5 == 0};
    rh_log *log = log_of(w, 20, 2);
    rh_model *model = fit_knn(log, INFINITY, 1);
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_true(f->step == 0.0);
    assert_true(isnan(f->jump));
    assert_true(isnan(f->action[0].nearest));
    assert_true(f->state.model == 0.0);
    assert_true(f->state.persistence == 0.0);
    rh_model_destroy(model);
    rh_log_destroy(log);

    // one step episodes whose end is not seen: no s' at all
    rh_log_shape shape = {.nobs = 1, .nact = 1, .action = RH_ACTION_DISCRETE};
    rh_log_builder *b = NULL;
    rh_error err = {""};
    log = NULL;
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < 20; i++) {
        double x = i, act = i % 2;
        rh_log_row row = {
            .obs = &x, .act = &act, .reward = i, .terminal = true, .begins = true};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    assert_int_equal(rh_log_finish(b, &log, &err), RH_OK);
    rh_log_builder_destroy(b);
    assert_int_equal(log->to[0], RH_UNKNOWN);
    model = fit_knn(log, INFINITY, 1);
    f = rh_model_fidelity(model);
    assert_true(isnan(f->step));
    assert_true(isnan(f->state.model));
    assert_true(isnan(f->sensor[0].model));
    assert_true(f->reward.model > 0.0);
    assert_true(f->terminal.model == 0.0);
    assert_true(f->simulated_length.q25 == 1.0);
    assert_true(f->simulated_length.q75 == 1.0);
    assert_true(f->stitched > 0.0);
    assert_null(find_id(f, "ends-unpredicted"));
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void networks_are_measured(void **unused)
{
    (void)unused;
    const rh_model_type *nn = rh_model_find("nn", NULL);
    assert_non_null(nn);
    double param[32];
    rh_param_initial(nn->param, nn->nparam, param);
    param[rh_param_find(nn->param, nn->nparam, "hidden")] = 16;
    param[rh_param_find(nn->param, nn->nparam, "epochs")] = 5;
    rh_model_options opt = rh_model_defaults();
    opt.param = param;
    rh_log *log = log_by_chance(3, 400, 3, 3);
    rh_model *model = fit_plain(nn, log, false, &opt);
    const rh_fidelity *f = rh_model_fidelity(model);
    assert_int_equal(f->nfold, 1);
    assert_true(f->nheld > 40);
    assert_true(f->nheld < 200);
    assert_true(f->state.model < f->state.mean);
    assert_true(isinf(f->reach));
    assert_true(f->out_of_coverage == 0.0);
    assert_true(isnan(f->jump));
    assert_true(isnan(f->stitched));
    assert_true(f->simulated_return.n >= 10);
    rh_model_destroy(model);
    rh_log_destroy(log);

    // of small logs too, and of codes of state and action
    param[rh_param_find(nn->param, nn->nparam, "epochs")] = 2;
    param[rh_param_find(nn->param, nn->nparam, "input")] = 1;
    for (int n = 1; n <= 31; n += 3)
        for (int naction = 0; naction <= 3; naction += 3) {
            log = log_by_chance((uint64_t)n, n, 3, naction);
            model = fit_plain(nn, log, naction == 0, &opt);
            f = rh_model_fidelity(model);
            assert_true(n < 10 ? f->nheld == 0 : f->nheld > 0 && f->reward.model >= 0.0);
            assert_true(f->out_of_coverage == 0.0);
            assert_true(f->simulated_return.n >= 10);
            rh_model_destroy(model);
            rh_log_destroy(log);
        }
}

// ---------------------------------------------------------------------------- stopping, memory

typedef struct watcher {
    int nstop, stop_at; // calls of stop, and the one that says so
    double last;
    int nprogress;
} watcher;

static void progress(void *context, const char *what, double share)
{
    watcher *seen = context;
    assert_string_equal(what, "comparing with the log");
    assert_true(share >= seen->last);
    assert_true(share <= 1.0);
    seen->last = share;
    seen->nprogress++;
}

static bool stop(void *context)
{
    watcher *seen = context;
    return ++seen->nstop == seen->stop_at;
}

static void the_caller_can_watch_and_stop(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(5, 300, 2, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ESTOPPED;
    int at = 0;
    while (rc == RH_ESTOPPED) {
        watcher seen = {.stop_at = ++at};
        rh_watch watch = {progress, stop, &seen};
        rh_fidelity *f = NULL;
        rh_error err = {""};
        rc = rh_fidelity__measure(&f, model, 1, 1, &watch, &err);
        assert_true(rc == RH_OK ? f && seen.last == 1.0 && seen.nprogress > 5 : !f);
        assert_true(rc == RH_OK || strstr(err.text, "stopped"));
        rh_fidelity__destroy(f);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    assert_int_equal(rc, RH_OK);
    assert_true(at > 10);

    // nobody need watch
    rh_fidelity *f = NULL;
    assert_int_equal(rh_fidelity__measure(&f, model, 1, 1, NULL, NULL), RH_OK);
    rh_fidelity__destroy(f);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

static void memory_may_run_out_anywhere(void **unused)
{
    (void)unused;
    for (int both = 0; both < 2; both++) {
        rh_log *log = log_by_chance(6, 60, 2, both ? 0 : 2);
        rh_model_options opt = plain_options();
        rh_model *model = fit_plain(&rh_model_knn, log, both, &opt);
        int64_t live = rh_base__alloc_live();
        rh_status rc = RH_ENOMEM;
        int64_t nth = 0;
        // every one of the first, then some: continuous actions take one for every prediction
        while (rc == RH_ENOMEM) {
            rh_fidelity *f = NULL;
            rh_error err = {""};
            rh_base__alloc_fail_at(nth += nth < 60 || !both ? 1 : 13);
            rc = rh_fidelity__measure(&f, model, 1, 1, NULL, &err);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK ? f != NULL : rc == RH_ENOMEM && !f && err.text[0]);
            rh_fidelity__destroy(f);
            assert_int_equal(rh_base__alloc_live(), live);
        }
        assert_int_equal(rc, RH_OK);
        assert_true(nth > 30);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

// All numbers of a fidelity as one.
static uint64_t hash_of(const rh_fidelity *f, int nobs, int naction)
{
    const double all[] = {
        (double)f->nheld,
        f->nfold,
        f->held_out_of_coverage,
        f->state.model,
        f->state.mean,
        f->reward.model,
        f->terminal.model,
        f->logged_return.mean,
        f->simulated_return.mean,
        f->simulated_return.median,
        f->simulated_length.mean,
        f->simulated_truncated,
        f->out_of_coverage,
        f->reach,
        f->step,
        f->stitched,
        f->jump,
        f->jump90,
        f->random_jump,
        f->random_return,
        f->random_better,
        f->random_steps,
        f->findings.n,
    };
    uint64_t hash = 1469598103934665603u;
    const struct {
        const void *at;
        size_t size;
    } part[] = {{all, sizeof all},
                {f->sensor, (size_t)nobs * sizeof *f->sensor},
                {f->action, (size_t)naction * sizeof *f->action}};
    for (int p = 0; p < 3; p++)
        for (size_t i = 0; i < part[p].size; i++)
            hash = (hash ^ ((const unsigned char *)part[p].at)[i]) * 1099511628211u;
    return hash;
}

static void the_same_bits_for_any_threads(void **unused)
{
    (void)unused;
    for (int naction = 0; naction <= 3; naction += 3) {
        rh_log *log = log_by_chance(7, 1500, 4, naction);
        uint64_t hash[4], other;
        for (int nthread = 1; nthread <= 3; nthread++) {
            rh_model *model = fit_knn(log, 0.5, nthread);
            hash[nthread] = hash_of(rh_model_fidelity(model), 4, naction);
            rh_model_destroy(model);
        }
        assert_int_equal(hash[1], hash[2]);
        assert_int_equal(hash[1], hash[3]);

        // the seed is really used
        rh_model *model = fit_seeded(log, 0.5, 1, 2);
        other = hash_of(rh_model_fidelity(model), 4, naction);
        assert_true(other != hash[1]);
        rh_model_destroy(model);
        rh_log_destroy(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_numpy),
        cmocka_unit_test(errors_of_what_is_told),
        cmocka_unit_test(runs_of_what_is_told),
        cmocka_unit_test(which_episodes_count),
        cmocka_unit_test(run_episodes_begin_where_logged_ones_do),
        cmocka_unit_test(continuing_logs_have_stretches),
        cmocka_unit_test(stretches_cross_resets),
        cmocka_unit_test(samples_do_not_fall_into_step),
        cmocka_unit_test(small_logs_are_measured),
        cmocka_unit_test(odd_logs_are_measured),
        cmocka_unit_test(networks_are_measured),
        cmocka_unit_test(the_caller_can_watch_and_stop),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
