// test_model.c - what all kinds of models have in common: what of a log is used, where
// episodes begin, what agents are told, what is given where nothing is known, and what
// members know.

#include "base/base_internal.h"
#include "model_sample.h"

#include "base/base.h"
#include "model/knn_internal.h"
#include "model/model.h"
#include "repr/repr.h"

// Three episodes: 0 1 2 end, 10 11 cut off, 20 21 22 23 end; the last resumes after a gap.
static const walk three[] = {
    {0, 0, -1, 1, 0, 1},        {1, 1, -2, 2, ENDS, 0}, {10, 0, -4, 11, 0, 1},
    {11, 1, -8, 12, CUT, 0},    {20, 1, -1, 21, 0, -1}, {21, 1, -1, 22, 0, 0},
    {22, 0, -0.5, 23, ENDS, 0},
};
enum { NTHREE = sizeof three / sizeof *three };

// ---------------------------------------------------------------------------- options

static void options(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 2);
    rh_repr *repr = plain_repr(log, false);
    rh_model_options o;
#define REFUSED(change, words)                                                                 \
    do {                                                                                       \
        o = plain_options();                                                                   \
        change;                                                                                \
        fit_refused(&rh_model_knn, log, repr, &o, words);                                      \
    } while (0)
    REFUSED(o.cookie = 0, "model: options must start from rh_model_defaults()");
    REFUSED(o.nmember = 0, "model: members = 0, expected 1 to 256");
    REFUSED(o.nmember = 257, "model: members = 257, expected 1 to 256");
    REFUSED(o.resample = (rh_resample)4, "model: resample = 4, expected 0 to 3");
    REFUSED(o.share = 0.0, "model: share = 0, expected above 0 and at most 1");
    REFUSED(o.share = 1.5, "model: share = 1.5, expected above 0 and at most 1");
    REFUSED(o.share = NAN, "model: share = nan, expected above 0 and at most 1");
    REFUSED(o.gamma = -0.1, "model: gamma = -0.1, expected 0 to 1");
    REFUSED(o.gamma = 1.1, "model: gamma = 1.1, expected 0 to 1");
    REFUSED(o.episodes = (rh_episodes)7, "model: episodes = 7, expected 0 to 2");
    REFUSED(o.nthread = 0, "model: threads = 0, expected 1 or more");
    REFUSED(o.nmember = 3, "knn: 3 members fitted to all of the log would be equal");
    REFUSED((o.nmember = 2, o.resample = RH_RESAMPLE_SUBSET, o.share = 1.0), "would be equal");
    double param[RH_KNN_NPARAM];
    rh_param_initial(rh_knn__param, RH_KNN_NPARAM, param);
    param[RH_KNN_K] = 65;
    REFUSED(o.param = param, "knn: k = 65");
    rh_repr_destroy(repr);

    // a representation of something else
    static const walk real[] = {{0, 0.5, 0, 1, 0, 1}, {1, 0.25, 0, 2, ENDS, 0}};
    rh_log *reals = log_of(real, 2, 0), *wide = log_by_chance(1, 20, 3, 2);
    repr = plain_repr(reals, true);
    REFUSED((void)0,
            "raw: codes are of states and continuous actions, expected codes of states");
    rh_repr_destroy(repr);
    repr = plain_repr(wide, false);
    REFUSED((void)0, "raw: learned from 3 sensors, expected 2 as in the log");
    rh_repr_destroy(repr);
    rh_log_destroy(wide);
    rh_log_destroy(reals);
    rh_log_destroy(log);
}

// Members that would all know the same are refused, whatever was asked for.
static void equal_members(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 2);
    rh_repr *repr = plain_repr(log, false);
    rh_model_options o;
    REFUSED(
        (o.nmember = 2, o.resample = RH_RESAMPLE_SUBSET, o.share = 0.95),
        "knn: 2 members fitted to all of the log would be equal, expected a smaller share"); // 6.65 of 7 transitions
    rh_log_destroy(log);
    log = log_of(three, 2, 2);
    REFUSED((o.nmember = 2, o.resample = RH_RESAMPLE_BOOTSTRAP),
            "expected subsets, because the log has one episode");

    // one is one, and chance makes others differ
    o = plain_options();
    o.resample = RH_RESAMPLE_BOOTSTRAP;
    rh_model_destroy(fit_plain(&rh_model_knn, log, false, &o));
    o.nmember = 2;
    rh_model_destroy(fit_plain(&rh_model_nn, log, false, &o));
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// The same without a fit.
static void checked(void **unused)
{
    (void)unused;
    assert_null(rh_model_type_at(-1));
    assert_null(rh_model_type_at(rh_model_ntype()));
    rh_log *log = log_of(three, 2, 2);
    rh_model_options o = plain_options();
    rh_error err = {""};
    assert_int_equal(rh_model__check(&rh_model_knn, log, NULL, &err), RH_OK);
    assert_int_equal(rh_model__check(&rh_model_knn, log, &o, &err), RH_OK);
    o.nmember = 2;
    o.resample = RH_RESAMPLE_BOOTSTRAP;
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_model__check(&rh_model_knn, log, &o, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "because the log has one episode"));
    o.nthread = 0;
    assert_int_equal(rh_model__check(&rh_model_knn, log, &o, &err), RH_EINVAL);
    assert_string_equal(err.text, "model: threads = 0, expected 1 or more");
    assert_int_equal(rh_base__alloc_live(), live);

    o = plain_options();
    rh_status rc = RH_ENOMEM;
    for (int n = 1; rc; n++) {
        rh_base__alloc_fail_at(n);
        rc = rh_model__check(&rh_model_knn, log, &o, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- the log

static void missing_numbers(void **unused)
{
    (void)unused;
    double none = NAN, inf = INFINITY;
    const walk w[] = {
        {0, 0, -1, 1, 0, 1},    {1, 1, -1, 2, 0, 0},   {2, 0, -1, none, 0, 0},
        {none, 1, -1, 4, 0, 0}, {4, 0, -1, 5, 0, 0},   {5, 1, -1, none, ENDS, 0},
        {inf, 0, -1, 11, 0, 1}, {11, 1, -1, 12, 0, 0}, {12, 1, inf, 13, CUT, 0},
    };
    rh_log *log = log_of(w, 9, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_log *used = rh_model_log(model);

    // 2 -> missing -> 4 cut the first episode in two; its end is kept without s'
    static const double from[] = {0, 1, 4, 5, 11}, to[] = {1, 2, 5, -1, 12};
    assert_int_equal(model->ndropped, 4);
    assert_int_equal(used->n, 5);
    assert_int_equal(used->nepisode, 3);
    for (int i = 0; i < 5; i++) {
        assert_true(x_of(used, used->from[i]) == from[i]);
        assert_int_equal(used->to[i] == RH_UNKNOWN, to[i] < 0);
        if (to[i] >= 0)
            assert_true(x_of(used, used->to[i]) == to[i]);
    }
    for (int64_t i = 0; i < used->nstate; i++)
        assert_true(isfinite(x_of(used, i)));
    assert_int_equal(used->nstate, 7);
    static const uint8_t start[] = {1, 0, 0}, flag[] = {0, CUT, 0, ENDS, CUT};
    assert_memory_equal(used->start, start, 3);
    assert_memory_equal(used->flag, flag, 5);
    assert_true(rh_model__fingerprint(model) == rh_log_fingerprint(log));
    assert_true(rh_model__fingerprint(model) != rh_log_fingerprint(used));
    assert_int_equal(model->nstart, 1);
    rh_model_destroy(model);

    // nothing is left
    rh_log_destroy(log);
    const walk bad[] = {{0, 0, inf, 1, 0, 1}, {none, 0, 1, 2, 0, 0}, {2, 0, -inf, 2, ENDS, 0}};
    log = log_of(bad, 3, 2);
    rh_repr *repr = plain_repr(log, false);
    fit_refused(&rh_model_knn, log, repr, &opt,
                "walk.csv: every one of 3 transitions has a missing or infinite number");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- starts

static void starts(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(model->nstart, 2); // the third episode resumes
    assert_true(x_of(model->log, model->start[0]) == 0.0);
    assert_true(x_of(model->log, model->start[1]) == 10.0);
    int64_t nstate = model->log->nstate;
    rh_model_destroy(model);

    // from another log, of which one start has a missing number
    const walk true_starts[] = {
        {3, 0, 0, 4, CUT, 1}, {(double)NAN, 0, 0, 4, CUT, 1}, {3.5, 0, 0, 4, CUT, 1}};
    rh_log *other = log_of(true_starts, 3, 2);
    other->obs_name[0] = "obs_0"; // it has no names
    opt.starts = other;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(model->nstart, 2);
    assert_int_equal(model->log->nstate, nstate + 2);
    assert_int_equal(model->start[0], nstate);
    assert_true(x_of(model->log, nstate) == 3.0);
    assert_true(x_of(model->log, nstate + 1) == 3.5);
    assert_int_equal(model->log->n, NTHREE);
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 0, NULL, &err), RH_OK);
    rh_streams streams = {rh_rng_stream(1, RH_STREAM_START, 0, 0), {{1, 2}}};
    int seen[2] = {0, 0};
    void *state = rh_alloc(1, rh_env_state_size(env));
    assert_non_null(state);
    for (int i = 0; i < 400; i++) {
        double obs[2];
        rh_env_start(env, state, &streams, obs);
        assert_true(obs[0] == 3.0 || obs[0] == 3.5);
        seen[obs[0] == 3.5]++;
    }
    assert_in_range(seen[0], 150, 250); // 200 +- 10
    rh_free(state);
    rh_env_destroy(env);
    rh_model_destroy(model);

    // other sensors, or none that can be used
    rh_repr *repr = plain_repr(log, false);
    rh_log *wide = log_by_chance(1, 20, 3, 2);
    opt.starts = wide;
    fit_refused(&rh_model_knn, log, repr, &opt,
                "chance.csv: 3 sensors, expected 2 as in the log");
    other->obs_name[0] = "temperature";
    opt.starts = other;
    fit_refused(&rh_model_knn, log, repr, &opt,
                "walk.csv: sensor 0 is 'temperature', expected 'x' as in the log");
    rh_log_destroy(other);
    other = log_of(true_starts + 1, 1, 2);
    opt.starts = other;
    fit_refused(&rh_model_knn, log, repr, &opt,
                "walk.csv: no start without missing numbers in 1 episodes");
    rh_log_destroy(other);
    rh_log_destroy(wide);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// A log that knows of no start: every first state will do.
static void no_starts(void **unused)
{
    (void)unused;
    double none = NAN;
    const walk w[] = {{none, 0, 0, 1, 0, 1}, {1, 0, 0, 2, ENDS, 0}, {5, 1, 0, 6, ENDS, -1}};
    rh_log *log = log_of(w, 3, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(model->nstart, 2);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- the task

static void task_of_the_log(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 3);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_task *task = rh_model_task(model);
    assert_int_equal(task->nobs, 2);
    assert_int_equal(task->naction, 3);
    assert_int_equal(task->nact, 1);
    assert_false(task->continuing);
    assert_true(task->gamma == 1.0);
    // 0 to 23, and a tenth more on each side
    assert_true(fabs(task->obs_lo[0] + 2.3) < 1e-9);
    assert_true(fabs(task->obs_hi[0] - 25.3) < 1e-9);
    assert_int_equal(task->nstep, 1000);
    assert_true(task->reward_lo == -8.0);
    assert_string_equal(task->obs_name[0], "x");
    // never changes
    assert_true(task->obs_lo[1] == -0.5);
    assert_true(task->obs_hi[1] == 0.5);
    rh_model_destroy(model);

    opt.episodes = RH_EPISODES_CONTINUE;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->task.continuing);
    assert_true(model->task.gamma == 0.99);
    rh_model_destroy(model);
    opt.gamma = 0.0;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->task.gamma == 0.0);
    rh_model_destroy(model);
    rh_log_destroy(log);

    // nothing ends, a sensor that never changes, and a real action
    static const walk still[] = {{5, 2, 0, 5, 0, 1}, {5, 4, 0, 5, CUT, 0}};
    log = log_of(still, 2, 0);
    opt = plain_options();
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->task.continuing);
    assert_true(model->task.obs_lo[0] == 4.5);
    assert_true(model->task.obs_hi[0] == 5.5);
    assert_true(model->task.act_lo[0] == 2.0);
    assert_true(model->task.act_hi[0] == 4.0);
    rh_model_destroy(model);
    opt.episodes = RH_EPISODES_END;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_false(model->task.continuing);
    assert_true(model->task.gamma == 1.0);
    rh_model_destroy(model);
    rh_log_destroy(log);

    log = log_by_chance(3, 1500, 2, 2);
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(model->task.nstep, 1500);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// Ranges that somebody wants to be told: either end, or both.
static void ranges(void **unused)
{
    (void)unused;
    double lo[] = {NAN, -3.0}, hi[] = {50.0, NAN};
    rh_log *log = log_of(three, NTHREE, 2);
    rh_repr *repr = plain_repr(log, false);
    rh_model_options o = plain_options();
    o.obs_lo = lo;
    o.obs_hi = hi;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &o);
    assert_true(model->task.obs_lo[0] == 0.0);
    assert_true(model->task.obs_hi[0] == 50.0);
    assert_true(model->task.obs_lo[1] == -3.0);
    assert_true(model->task.obs_hi[1] == 0.5);
    rh_model_destroy(model);
#define WITH(i, least, most) (o.obs_lo = lo, o.obs_hi = hi, lo[i] = (least), hi[i] = (most))
    REFUSED(WITH(0, NAN, -1.0),
            "model: range of sensor 'x' is 0 to -1, expected finite numbers");
    REFUSED(WITH(0, 1.0, 1.0), "model: range of sensor 'x' is 1 to 1");
    REFUSED(WITH(0, -INFINITY, 1.0), "model: range of sensor 'x' is -inf to 1");
    REFUSED(o.obs_lo = lo, "model: only one of obs_lo and obs_hi is set");
    REFUSED(o.obs_hi = hi, "model: only one of obs_lo and obs_hi is set");
    rh_repr_destroy(repr);
    rh_log_destroy(log);

    // of a real action, which the log has from 2 to 4
    static const walk real[] = {{5, 2, 0, 6, 0, 1}, {6, 4, 0, 5, CUT, 0}};
    log = log_of(real, 2, 0);
    repr = plain_repr(log, false);
    lo[0] = 0.0;
    hi[0] = 10.0;
    o = plain_options();
    o.act_lo = lo;
    o.act_hi = hi;
    model = fit_plain(&rh_model_knn, log, false, &o);
    assert_true(model->task.act_lo[0] == 0.0);
    assert_true(model->task.act_hi[0] == 10.0);
    rh_model_destroy(model);
    REFUSED((o.act_lo = lo, o.act_hi = hi, lo[0] = 3.0),
            "model: range of action 'action' is 3 to 10, but the log has 2 to 4");
    REFUSED(o.act_lo = lo, "model: only one of act_lo and act_hi is set");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

static void task_given(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 2);
    rh_repr *repr = plain_repr(log, false);
    rh_task task = {.nobs = 2,
                    .naction = 2,
                    .nact = 1,
                    .gamma = 0.5,
                    .reward_lo = -20.0,
                    .nstep = 77,
                    .obs_lo = {-100.0},
                    .obs_hi = {100.0},
                    .obs_name = {"not this"}};
    rh_model_options opt = plain_options();
    opt.task = &task;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->task.gamma == 0.5);
    assert_true(model->task.reward_lo == -20.0);
    assert_int_equal(model->task.nstep, 77);
    assert_true(model->task.obs_lo[0] == -100.0);
    assert_true(model->task.obs_hi[0] == 100.0);
    assert_string_equal(model->task.obs_name[0], "x");
    rh_model_destroy(model);
    task.reward_lo = -1.0; // the log has seen worse
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->task.reward_lo == -8.0);
    rh_model_destroy(model);

    rh_task other = task;
    opt.task = &other;
#define OTHER(change, words)                                                                   \
    do {                                                                                       \
        other = task;                                                                          \
        change;                                                                                \
        fit_refused(&rh_model_knn, log, repr, &opt, words);                                    \
    } while (0)
    OTHER(other.nobs = 1, "walk.csv: 2 sensors, expected 1 as in the task");
    OTHER(other.naction = 3, "walk.csv: 2 actions, expected 3 as in the task");
    OTHER(other.naction = 0,
          "walk.csv: discrete actions, expected continuous ones as in the task");
    OTHER(other.nact = 2, "walk.csv: actions of 1 numbers, expected 2 as in the task");
    OTHER(other.gamma = 1.5, "model: gamma of the task = 1.5, expected 0 to 1");
    OTHER(other.gamma = NAN, "model: gamma of the task = nan, expected 0 to 1");
    OTHER(other.obs_hi[1] = INFINITY, "of sensor '");
    OTHER(other.obs_lo[0] = NAN, "in the task is nan to ");
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- outcomes

static void outcomes(void **unused)
{
    (void)unused;

    // completed from a start: -3; completed: also -2.5; cut off: -12
    rh_log *log = log_of(three, NTHREE, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->lowest == -3.0);
    assert_true(model->highest == -3.0);
    rh_model_destroy(model);
    rh_log_destroy(log);

    // without the first episode: completed ones; and of those alone that are cut off, all
    log = log_of(three + 2, 5, 2);
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->lowest == -2.5);
    assert_true(model->highest == -2.5);
    rh_model_destroy(model);
    rh_log_destroy(log);
    log = log_of(three + 2, 2, 2);
    opt.episodes = RH_EPISODES_END;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_true(model->lowest == -12.0);
    assert_true(model->highest == -12.0);
    rh_model_destroy(model);
    rh_log_destroy(log);

    // continuing: the worst and best of so many steps in a row
    walk on[40];
    for (int i = 0; i < 40; i++)
        on[i] = (walk){i, 0, i == 7 || i == 9 || i == 30 ? -1.0 : 0.0, i + 1, 0, i == 0};
    on[39].flag = CUT;
    log = log_of(on, 40, 1);
    opt = plain_options();
    static const struct {
        double gamma, lowest, highest;
    } horizon[] = {{0.0, -1.0, 0.0},  {0.5, -1.0, 0.0},   {0.67, -2.0, 0.0}, {0.9, -2.0, 0.0},
                   {0.95, -2.0, 0.0}, {0.96, -3.0, -1.0}, {1.0, -3.0, -3.0}};
    for (size_t i = 0; i < sizeof horizon / sizeof *horizon; i++) {
        opt.gamma = horizon[i].gamma;
        model = fit_plain(&rh_model_knn, log, false, &opt);
        assert_true(model->task.continuing);
        if (model->lowest != horizon[i].lowest || model->highest != horizon[i].highest)
            fail_msg("gamma %g: %g to %g", opt.gamma, model->lowest, model->highest);
        rh_model_destroy(model);
    }
    rh_log_destroy(log);
}

// Finite numbers whose sums or codes overflow are refused.
static void too_large(void **unused)
{
    (void)unused;
    static const walk rich[] = {{0, 0, 1e308, 1, 0, 1}, {1, 1, 1e308, 2, ENDS, 0}};
    static const walk wide[] = {{0, 0, 1, 1, 0, 1}, {-1e300, 1, 1, 2, ENDS, 0}};
    rh_model_options opt = plain_options();
    for (int i = 0; i < 2; i++) {
        rh_log *log = log_of(i ? wide : rich, 2, 2);
        rh_repr *repr = plain_repr(log, false);
        fit_refused(
            &rh_model_knn, log, repr, &opt,
            i ? "is not finite; its sensors reach 1e+300, expected values of a smaller scale"
              : "walk.csv: the sum of rewards overflows");
        rh_repr_destroy(repr);
        rh_log_destroy(log);
    }
}

// ---------------------------------------------------------------------------- members

static void subsets(void **unused)
{
    (void)unused;
    enum { N = 400, NMEMBER = 20 };
    rh_log *log = log_by_chance(5, N, 2, 3);
    rh_model_options opt = plain_options();
    opt.nmember = NMEMBER;
    opt.resample = RH_RESAMPLE_SUBSET;
    opt.share = 0.9;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_model *again = fit_plain(&rh_model_knn, log, false, &opt);
    opt.seed = 2;
    rh_model *other = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(rh_model_nmember(model), NMEMBER);
    assert_int_equal(rh_model__resample(model), RH_RESAMPLE_SUBSET);
    int times[N] = {0};
    for (int m = 0; m < NMEMBER; m++) {
        const rh_knn *knn = model->member[m], *same = again->member[m];
        const rh_knn *another = other->member[m], *next = model->member[(m + 1) % NMEMBER];
        assert_int_equal(knn->nuse, 360);
        for (int i = 0; i < 360; i++) {
            assert_true(knn->use[i] < N);
            assert_true(i == 0 || knn->use[i] > knn->use[i - 1]);
            times[knn->use[i]]++;
        }
        assert_memory_equal(knn->use, same->use, 360 * sizeof *knn->use);
        assert_memory_not_equal(knn->use, another->use, 360 * sizeof *knn->use);
        assert_memory_not_equal(knn->use, next->use, 360 * sizeof *knn->use);
    }
    // each is in 18 of 20 in the mean, and with a standard deviation of 1.34
    int first = 0, second = 0;
    for (int i = 0; i < N; i++) {
        first += times[i];
        second += times[i] * times[i];
    }
    double variance = (double)second / N - ((double)first / N) * ((double)first / N);
    assert_true(variance > 1.2);
    assert_true(variance < 2.5);
    rh_model_destroy(model);
    rh_model_destroy(again);
    rh_model_destroy(other);
    rh_log_destroy(log);
}

static void bootstraps(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(6, 3000, 2, 3);
    rh_model_options opt = plain_options();
    opt.nmember = 3;
    opt.resample = RH_RESAMPLE_BOOTSTRAP;
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    for (int m = 0; m < 3; m++) {
        const rh_knn *knn = model->member[m];
        int64_t ndrawn = 0, nabsent = 0, at = 0;
        for (int e = 0; e < log->nepisode; e++) {
            int64_t times = 0;
            while (at + times < knn->nuse && knn->use[at + times] == log->first[e])
                times++;
            for (int64_t i = log->first[e]; i < log->first[e + 1]; i++)
                for (int64_t t = 0; t < times; t++)
                    assert_int_equal(knn->use[at++], i); // whole, and in order
            ndrawn += times;
            nabsent += times == 0;
        }
        assert_int_equal(at, knn->nuse);
        assert_int_equal(ndrawn, log->nepisode);
        double share = (double)nabsent / log->nepisode; // 1/e
        assert_true(share > 0.28);
        assert_true(share < 0.46);
    }
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- watching

typedef struct seen {
    int ncall, until;
    double last;
    bool back;
} seen;

static void see(void *context, const char *what, double share)
{
    seen *s = context;
    assert_string_equal(what, "finding neighbours");
    s->back = s->back || share < s->last;
    s->last = share;
    s->ncall++;
}

static bool enough(void *context)
{
    seen *s = context;
    return s->ncall >= s->until;
}

static void watched(void **unused)
{
    (void)unused;
    rh_log *log = log_by_chance(7, 200, 2, 3);
    rh_repr *repr = plain_repr(log, false);
    seen s = {.until = 1000};
    rh_model_options opt = plain_options();
    opt.nmember = 4;
    opt.resample = RH_RESAMPLE_SUBSET;
    opt.watch = (rh_watch){.progress = see, .stop = enough, .context = &s};
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    rh_model_destroy(model);
    assert_true(s.ncall >= 12);
    assert_true(s.last == 1.0);
    assert_false(s.back);

    for (int until = 1; until <= 12; until++) {
        int64_t live = rh_base__alloc_live();
        rh_error err = {""};
        s = (seen){.until = until};
        model = NULL;
        assert_int_equal(rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err),
                         RH_ESTOPPED);
        assert_null(model);
        assert_string_equal(err.text, "knn: stopped while finding neighbours");
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- memory

static void without_memory(void **unused)
{
    (void)unused;
    const walk hole[] = {{0, 0, -1, 1, 0, 1},
                         {1, 1, -1, (double)NAN, 0, 0},
                         {2, 0, -1, 3, 0, 0},
                         {3, 1, -2, 4, ENDS, 0},
                         {5, 1, -2, 6, CUT, 1}};
    rh_log *log = log_of(hole, 5, 2);
    rh_repr *repr = plain_repr(log, false);
    for (int variant = 0; variant < 3; variant++) {
        rh_model_options opt = plain_options();
        opt.starts = log;
        opt.nmember = variant ? 2 : 1;
        opt.resample = (rh_resample)variant;
        opt.share = 0.5;
        int64_t live = rh_base__alloc_live(), n = 0;
        rh_status rc = RH_ENOMEM;
        rh_model *model = NULL;
        while (rc) {
            rh_error err = {""};
            rh_base__alloc_fail_at(++n);
            rc = rh_model_fit(&model, &rh_model_knn, log, repr, &opt, &err);
            rh_base__alloc_fail_at(0);
            if (rc && (rc != RH_ENOMEM || model || rh_base__alloc_live() != live))
                fail_msg("allocation %d: %d '%s'", (int)n, (int)rc, err.text);
        }
        assert_true(n > 40);

        // and its environment
        int64_t fitted = rh_base__alloc_live();
        rh_env *env = NULL;
        rc = RH_ENOMEM;
        n = 0;
        while (rc) {
            rh_error err = {""};
            rh_base__alloc_fail_at(++n);
            rc = rh_model_env(&env, model, 0, NULL, &err);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || (rc == RH_ENOMEM && !env));
            assert_true(rc == RH_OK || rh_base__alloc_live() == fitted);
        }
        assert_true(n > 4);
        rh_env_destroy(env);
        assert_int_equal(rh_base__alloc_live(), fitted);
        rh_model_destroy(model);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- the rest

static void kinds(void **unused)
{
    (void)unused;
    rh_error err = {""};
    assert_int_equal(rh_model_ntype(), 3);
    for (int i = 0; i < rh_model_ntype(); i++) {
        const rh_model_type *type = rh_model_type_at(i);
        assert_ptr_equal(rh_model_find(type->name, &err), type);
        double value[32];
        assert_true(type->nparam <= 32);
        rh_param_initial(type->param, type->nparam, value);
        assert_int_equal(rh_param__check(type->param, type->nparam, type->name, value, &err),
                         RH_OK);
        for (int k = 0; k < type->nparam; k++)
            assert_true(strlen(type->param[k].about) > 10);
    }
    assert_null(rh_model_find("kn", &err));
    assert_string_equal(err.text, "no model 'kn'; did you mean 'knn'? (knn, nn, linear)");
}

static void asking(void **unused)
{
    (void)unused;
    rh_log *log = log_of(three, NTHREE, 2);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_ptr_equal(rh_model_type_of(model), &rh_model_knn);
    assert_true(rh_model_params(model)[RH_KNN_K] == 3.0);
    assert_int_equal(rh_model_nmember(model), 1);
    assert_int_equal(rh_model__resample(model), RH_RESAMPLE_ALL);
    assert_int_equal(rh_repr__ncode(rh_model_repr(model)), 2);
    assert_null(rh_model_fidelity(model));
    rh_env *env = NULL;
    rh_error err = {""};
    assert_int_equal(rh_model_env(&env, model, 1, NULL, &err), RH_EINVAL);
    assert_string_equal(err.text, "model: member = 1, expected 0 to 0");
    assert_int_equal(rh_model_env(&env, model, -1, NULL, &err), RH_EINVAL);
    rh_model_destroy(NULL);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options),         cmocka_unit_test(equal_members),
        cmocka_unit_test(checked),         cmocka_unit_test(ranges),
        cmocka_unit_test(missing_numbers), cmocka_unit_test(starts),
        cmocka_unit_test(no_starts),       cmocka_unit_test(task_of_the_log),
        cmocka_unit_test(task_given),      cmocka_unit_test(outcomes),
        cmocka_unit_test(too_large),       cmocka_unit_test(subsets),
        cmocka_unit_test(bootstraps),      cmocka_unit_test(watched),
        cmocka_unit_test(without_memory),  cmocka_unit_test(kinds),
        cmocka_unit_test(asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
