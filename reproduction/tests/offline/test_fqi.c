// test_fqi.c - fitted Q iteration: values and TD errors as in NumPy after every number of
// updates, with every instruction set; early stopping; options and logs that are refused.

#include "numeric/kernels.h"
#include "offline_sample.h"

static rh_fqi_options small_options(rh_fqi_kind kind)
{
    rh_fqi_options opt = rh_fqi_defaults(kind);
    opt.rate = 0.02;
    opt.decay = 0.1;
    opt.nbatch = 16;
    opt.nsync = 10;
    opt.ntiling = 4;
    opt.width = 5;
    opt.patience = 0;
    opt.seed = 7;
    return opt;
}

// ---------------------------------------------------------------------------- NumPy

static void compare(rh_fqi_kind kind, const char *name, int nupdate, double off)
{
    double probe[NUMBERS], expected[NUMBERS], error[2], q[3];
    char what[64];
    rh_task task = sample_task();
    rh_log *train = reference_log("offline_fqi.csv", "train");
    rh_log *valid = reference_log("offline_fqi.csv", "valid");
    rh_fqi_options opt = small_options(kind);
    opt.nupdate = nupdate;
    rh_fqi *fqi = NULL;
    rh_error err;
    if (rh_fqi_learn(&fqi, train, &task, &opt, &err))
        fail_msg("%s", err.text);
    assert_int_equal(rh_fqi_nupdate(fqi), nupdate);

    int n = reference("offline_fqi.csv", "probe", probe);
    snprintf(what, sizeof what, "%s.%d", name, nupdate);
    assert_int_equal(reference("offline_fqi.csv", what, expected), n / 2 * 3);
    for (int i = 0; i < n / 2; i++) {
        assert_int_equal(rh_fqi_values(fqi, probe + 2 * i, q, NULL), RH_OK);
        for (int a = 0; a < 3; a++)
            near(q[a], expected[3 * i + a], off * (1.0 + fabs(expected[3 * i + a])), what,
                 3 * i + a);
    }

    snprintf(what, sizeof what, "%s.%d.error", name, nupdate);
    assert_int_equal(reference("offline_fqi.csv", what, expected), 2);
    assert_int_equal(rh_fqi_error(fqi, train, &error[0], NULL), RH_OK);
    assert_int_equal(rh_fqi_error(fqi, valid, &error[1], NULL), RH_OK);
    for (int i = 0; i < 2; i++)
        near(error[i], expected[i], 4.0 * off * (1.0 + expected[i]), what, i);
    rh_fqi_destroy(fqi);
    rh_log_destroy(train);
    rh_log_destroy(valid);
}

// Floats against doubles: rounding grows with the number of updates.
static void values_of_numpy(void **state)
{
    (void)state;
    const int nupdate[] = {1, 10, 35, 200};
    for (int isa = 1; isa <= rh_isa__count(); isa++) {
        rh_isa__limit(isa);
        for (int i = 0; i < 4; i++) {
            compare(RH_FQI_TILES, "tiles", nupdate[i], 2e-5);
            compare(RH_FQI_NETWORK, "network", nupdate[i], 2e-5);
        }
    }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- a chain

enum { CELLS = 5 };

// Every action in every cell of a line: 0 goes back, 1 stays, 2 goes on. A step costs 1; the
// step from the last cell on ends the episode. Staying costs as much, or pays.
static rh_log *chain_log(double stays)
{
    double x[CELLS * 3][7];
    for (int i = 0; i < CELLS * 3; i++) {
        int cell = i / 3, act = i % 3, next = cell + act - 1;
        next = next < 0 ? 0 : next;
        bool ends = next == CELLS;
        double row[7] = {cell / 4.0, 0.0, act, act == 1 ? stays : -1.0, ends ? 0.0 : next / 4.0,
                         0.0,        ends};
        memcpy(x[i], row, sizeof row);
    }
    return log_of(x, CELLS * 3);
}

// The value of the cell by its distance from the end, -(1 + g + ... ).
static double chain_value(int nstep)
{
    double sum = 0.0;
    for (int i = 0; i < nstep; i++)
        sum = -1.0 + 0.9 * sum;
    return sum;
}

static void values_of_a_chain(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = chain_log(-1.0);
    for (int kind = RH_FQI_TILES; kind <= RH_FQI_NETWORK; kind++) {
        rh_fqi_options opt = rh_fqi_defaults((rh_fqi_kind)kind);
        opt.nupdate = 8000;
        opt.nsync = 100;
        opt.rate = kind == RH_FQI_TILES ? 1e-2 : 3e-3;
        opt.decay = 0.0;
        opt.patience = 0;
        rh_fqi *fqi = NULL;
        double q[3], error;
        assert_int_equal(rh_fqi_learn(&fqi, log, &task, &opt, NULL), RH_OK);
        for (int cell = 0; cell < CELLS; cell++) {
            double obs[2] = {cell / 4.0, 0.0};
            int left = CELLS - cell, back = cell > 0 ? left + 2 : left + 1;
            assert_int_equal(rh_fqi_values(fqi, obs, q, NULL), RH_OK);
            near(q[0], chain_value(back), 0.1, "back", cell);
            near(q[1], chain_value(left + 1), 0.1, "stay", cell);
            near(q[2], chain_value(left), 0.1, "on", cell);
        }
        assert_int_equal(rh_fqi_error(fqi, log, &error, NULL), RH_OK);
        assert_true(error < 0.01);
        rh_fqi_destroy(fqi);
    }
    rh_log_destroy(log);
}

// Fitted Q evaluation of a policy that stays where it is: it never comes to the end, but by the
// first step from the last cell. It is the greedy policy of a log in which staying pays.
static void values_of_a_policy(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = chain_log(-1.0), *paid = chain_log(10.0);
    for (int kind = RH_FQI_TILES; kind <= RH_FQI_NETWORK; kind++) {
        rh_fqi_options opt = rh_fqi_defaults((rh_fqi_kind)kind);
        opt.nupdate = 8000;
        opt.nsync = 100;
        opt.rate = kind == RH_FQI_TILES ? 1e-2 : 3e-3;
        opt.decay = 0.0;
        opt.patience = 0;
        rh_fqi *policy = NULL, *value = NULL;
        double q[3];
        assert_int_equal(rh_fqi_learn(&policy, paid, &task, &opt, NULL), RH_OK);
        opt.follow = policy;
        assert_int_equal(rh_fqi_learn(&value, log, &task, &opt, NULL), RH_OK);
        for (int cell = 0; cell < CELLS; cell++) {
            double obs[2] = {cell / 4.0, 0.0};
            assert_int_equal(rh_fqi_values(value, obs, q, NULL), RH_OK);
            near(q[0], -10.0, 0.3, "back", cell); // -1 / (1 - 0.9)
            near(q[1], -10.0, 0.3, "stay", cell);
            near(q[2], cell == CELLS - 1 ? -1.0 : -10.0, 0.3, "on", cell);
        }
        rh_fqi_destroy(value);
        rh_fqi_destroy(policy);
    }
    rh_log_destroy(log);
    rh_log_destroy(paid);
}

// ---------------------------------------------------------------------------- stopping

// Values that fall from 0 to their level raise the TD error, on one log before the other.
static void stops_early(void **state)
{
    (void)state;
    rh_task task = sample_task();
    task.gamma = 1.0;
    rh_log *train = reference_log("offline_fqi.csv", "train");
    rh_log *valid = reference_log("offline_fqi.csv", "valid");
    rh_fqi_options opt = small_options(RH_FQI_NETWORK);
    opt.nupdate = 3000;
    opt.rate = 3e-3;
    opt.decay = 0.0;
    int64_t made[3];
    for (int i = 0; i < 3; i++) { // never; by the other log; by its own
        rh_fqi *fqi = NULL;
        opt.patience = i > 0 ? 3 : 0;
        opt.valid = i == 1 ? valid : NULL;
        assert_int_equal(rh_fqi_learn(&fqi, train, &task, &opt, NULL), RH_OK);
        made[i] = rh_fqi_nupdate(fqi);
        rh_fqi_destroy(fqi);
    }
    assert_int_equal(made[0], 3000);
    assert_true(made[1] < 3000);
    assert_int_equal(made[1] % opt.nsync, 0);
    assert_true(made[1] >= 3 * opt.nsync);
    assert_true(made[2] < 3000);
    assert_int_not_equal(made[2], made[1]);
    rh_log_destroy(train);
    rh_log_destroy(valid);
}

typedef struct counted {
    int nstop, nprogress, after;
    double share;
} counted;

static bool stop_after(void *context)
{
    counted *c = context;
    return ++c->nstop > c->after;
}

static void see_progress(void *context, const char *what, double share)
{
    counted *c = context;
    assert_string_equal(what, "fitted Q iteration");
    assert_true(share >= c->share);
    assert_true(share <= 1.0);
    c->share = share;
    c->nprogress++;
}

static void told_to_stop(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_fqi_options opt = small_options(RH_FQI_TILES);
    counted c = {.after = 4};
    opt.watch = (rh_watch){.progress = see_progress, .stop = stop_after, .context = &c};
    rh_fqi *fqi = NULL;
    rh_error err;
    assert_int_equal(rh_fqi_learn(&fqi, log, &task, &opt, &err), RH_ESTOPPED);
    assert_string_equal(err.text, "fqi: stopped while learning");
    assert_null(fqi);
    assert_int_equal(c.nprogress, 4);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- options

static void paper_grid(void **state)
{
    (void)state;
    assert_int_equal(rh_fqi_ngrid(RH_FQI_TILES), 15);
    assert_int_equal(rh_fqi_ngrid(RH_FQI_NETWORK), 30);
    for (int kind = RH_FQI_TILES; kind <= RH_FQI_NETWORK; kind++)
        for (int i = 0; i < rh_fqi_ngrid((rh_fqi_kind)kind); i++)
            for (int j = 0; j < i; j++) {
                rh_fqi_options a = rh_fqi_defaults((rh_fqi_kind)kind), b = a;
                rh_fqi_grid((rh_fqi_kind)kind, i, &a);
                rh_fqi_grid((rh_fqi_kind)kind, j, &b);
                assert_true(a.rate != b.rate || a.decay != b.decay || a.width != b.width);
                assert_true(a.width == 64 || (kind == RH_FQI_NETWORK && a.width == 128));
            }
    rh_fqi_options last = rh_fqi_defaults(RH_FQI_NETWORK);
    rh_fqi_grid(RH_FQI_NETWORK, 29, &last);
    assert_true(last.rate == 1e-5);
    assert_true(last.decay == 1e-5);
    assert_int_equal(last.width, 128);
}

static void refused(const rh_log *log, const rh_task *task, const rh_fqi_options *opt,
                    const char *message)
{
    rh_fqi *fqi = NULL;
    rh_error err;
    assert_int_equal(rh_fqi_learn(&fqi, log, task, opt, &err), RH_EINVAL);
    assert_string_equal(err.text, message);
    assert_null(fqi);
}

static void refused_options(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_fqi_options good = small_options(RH_FQI_TILES), opt = good;
    opt.cookie = 0;
    refused(log, &task, &opt, "fqi: options must start from rh_fqi_defaults()");
    opt = good;
    opt.rate = 0.0;
    refused(log, &task, &opt, "fqi: rate = 0, expected 1e-12 to 10");
    opt.rate = NAN;
    refused(log, &task, &opt, "fqi: rate = nan, expected 1e-12 to 10");
    opt = good;
    opt.nbatch = 0;
    refused(log, &task, &opt, "fqi: batch = 0, expected 1 to 65536");
    opt = good;
    opt.ntile = 257;
    refused(log, &task, &opt, "fqi: tiles = 257, expected 1 to 256");
    opt = good;
    opt.nlayer = 9;
    refused(log, &task, &opt, "fqi: layers = 9, expected 1 to 8");
    task.naction = 0;
    refused(log, &task, &good, "fqi: a task of continuous actions, expected discrete ones");
    task.naction = 4;
    refused(log, &task, &good,
            "fqi: a log of 2 sensors and 3 actions, expected 2 and 4 as in the task");
    rh_log_destroy(log);
}

static void every_failed_allocation(void **state)
{
    (void)state;
    rh_task task = sample_task();
    rh_log *log = reference_log("offline_fqi.csv", "train");
    rh_log *valid = reference_log("offline_fqi.csv", "valid");
    for (int kind = RH_FQI_TILES; kind <= RH_FQI_NETWORK; kind++) {
        rh_fqi_options opt = small_options((rh_fqi_kind)kind);
        opt.nupdate = 21;
        rh_fqi *policy = NULL;
        assert_int_equal(rh_fqi_learn(&policy, log, &task, &opt, NULL), RH_OK);
        opt.follow = policy;
        opt.patience = 1;
        opt.valid = valid;
        int64_t live = rh_base__alloc_live();
        rh_status rc = RH_ENOMEM;
        int n = 1;
        for (; rc; n++) {
            rh_fqi *fqi = NULL;
            double error, q[3];
            rh_base__alloc_fail_at(n);
            rc = rh_fqi_learn(&fqi, log, &task, &opt, NULL);
            if (!rc)
                rc = rh_fqi_error(fqi, valid, &error, NULL);
            if (!rc)
                rc = rh_fqi_values(fqi, log->obs, q, NULL);
            rh_base__alloc_fail_at(0);
            assert_true(rc == RH_OK || rc == RH_ENOMEM);
            rh_fqi_destroy(fqi);
            assert_int_equal(rh_base__alloc_live(), live);
        }
        assert_true(n > 30); // far more than one allocation was tried
        rh_fqi_destroy(policy);
    }
    rh_log_destroy(log);
    rh_log_destroy(valid);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(values_of_numpy),    cmocka_unit_test(values_of_a_chain),
        cmocka_unit_test(values_of_a_policy), cmocka_unit_test(stops_early),
        cmocka_unit_test(told_to_stop),       cmocka_unit_test(paper_grid),
        cmocka_unit_test(refused_options),    cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
