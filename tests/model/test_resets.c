// test_resets.c - resets in continuing logs: those of Cartpole and of small plants are found,
// and spikes, wall hits, heavy tails, setpoints and timers are not taken for resets.

#include "facts_sample.h"
#include "model/model.h"

static void count(const rh_facts__resets *found, const uint8_t *truth, int64_t n, int *hits,
                  int *wrong, int *missed)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        bool is = at < found->n && found->at[at] == i;
        at += is;
        *hits += is && truth[i];
        *wrong += is && !truth[i];
        *missed += !is && truth[i];
    }
}

static rh_facts *search(rh_facts__resets *found, const rh_log *log)
{
    rh_error err = {""};
    rh_facts *facts = NULL;
    if (rh_facts__find(&facts, found, log, true, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return facts;
}

// ---------------------------------------------------------------------------- Cartpole

static rh_log *cartpole(uint64_t seed, int n)
{
    rh_error err = {""};
    rh_env *env = NULL;
    rh_log *log = NULL;
    rh_collected how;
    rh_collect_options opt = rh_collect_defaults();
    opt.nstep = n;
    opt.seed = seed;
    opt.enough = RH_ENOUGH_STEPS;
    opt.span = 1;
    assert_int_equal(rh_env_create(&env, rh_env_find("cartpole", &err), NULL, &err), RH_OK);
    const rh_agent_type *agent = rh_agent_find("random", &err);
    if (rh_log_collect(&log, NULL, &how, env, env, agent, NULL, &opt, &err) || !log)
        fail_msg("%s", err.text);
    rh_env_destroy(env);
    return log;
}

// A failure gives -1, which the search does not look at.
static void falls_of_cartpole(void **unused)
{
    (void)unused;
    int hits = 0, wrong = 0, missed = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        rh_log *log = cartpole(seed, 4000);
        rh_facts__resets found = {0};
        rh_facts *facts = search(&found, log);
        uint8_t *truth = rh_alloc((size_t)log->n, 1);
        assert_non_null(truth);
        for (int64_t i = 0; i < log->n; i++)
            truth[i] = log->reward[i] == -1.0;
        count(&found, truth, log->n, &hits, &wrong, &missed);
        assert_int_equal(facts->nreset, found.n);

        // each would have led past 12 degrees
        assert_int_equal(facts->nlimit, 2);
        assert_int_equal(facts->nunexplained, 0);
        for (int i = 0; i < 2; i++) {
            const rh_limit *l = &facts->limit[i];
            assert_int_equal(l->sensor, 2);
            assert_int_equal(l->above, i);
            assert_true(fabs(fabs(l->value) - 12.0 * M_PI / 180.0) < 0.002);
            assert_true(l->reward == -1.0);
            assert_false(l->given);
            assert_false(l->lone);
        }
        assert_int_equal(facts->limit[0].nterminal + facts->limit[1].nterminal, found.n);
        rh_free(truth);
        rh_facts__clear_resets(&found);
        rh_facts__destroy(facts);
        rh_log_destroy(log);
    }
    assert_int_equal(wrong, 0);
    assert_true(hits > 600);
    assert_true(missed <= hits / 100);
}

// In the model a reset is terminal, leads past the limit, and a start follows.
static void resets_in_a_model(void **unused)
{
    (void)unused;
    rh_log *log = cartpole(1, 3000);
    rh_model_options opt = plain_options();
    rh_model *model = fit_plain(&rh_model_knn, log, false, &opt);
    const rh_log *own = rh_model_log(model);
    int64_t n = rh_model_facts(model)->nreset, nend = 0;
    assert_true(n > 50);
    assert_true(rh_model_task(model)->continuing);
    assert_int_equal(own->n, log->n);
    assert_int_equal(own->nepisode, n + !(own->flag[own->n - 1] & RH_FLAG_TERMINAL));
    assert_int_equal(model->nstart, own->nepisode);
    for (int64_t i = 0; i < own->n; i++) {
        assert_true(own->reward[i] == log->reward[i]);
        assert_memory_equal(own->obs + 4 * own->from[i], log->obs + 4 * log->from[i],
                            4 * sizeof(double));
        if (!(own->flag[i] & RH_FLAG_TERMINAL))
            continue;
        nend++;
        const double *to = own->obs + 4 * own->to[i];
        assert_true(log->reward[i] == -1.0);
        assert_true(fabs(to[2]) > 0.205);
        assert_true(i + 1 == own->n ||
                    (own->step[i + 1] == 0 && own->start[own->episode[i + 1]]));
    }
    assert_int_equal(nend, n);

    // a file has the facts; other members have them; a limit by hand replaces those found
    rh_error err = {""};
    rh_model *back = NULL, *again = NULL;
    char path[] = "/tmp/rehearse_resets_XXXXXX";
    assert_true(mkstemp(path) >= 0);
    assert_int_equal(rh_model_write(model, path, &err), RH_OK);
    if (rh_model_read(&back, path, &err))
        fail_msg("%s", err.text);
    remove(path);
    assert_int_equal(rh_model__refit(&again, model, &opt, &err), RH_OK);
    const rh_model *both[] = {back, again};
    for (int m = 0; m < 2; m++) {
        const rh_facts *f = rh_model_facts(both[m]);
        assert_int_equal(f->nreset, n);
        assert_int_equal(rh_model_facts(both[m])->nlimit, 2);
        for (int i = 0; i < 2; i++) {
            assert_true(rh_model_facts(both[m])->limit[i].value ==
                        rh_model_facts(model)->limit[i].value);
            assert_int_equal(rh_model_facts(both[m])->limit[i].nterminal,
                             rh_model_facts(model)->limit[i].nterminal);
        }
        assert_true(isnan(rh_model_facts(both[m])->sensor[0].period));
    }
    rh_model_destroy(back);
    rh_model_destroy(again);
    rh_model_destroy(model);

    // nothing is searched for if asked not to, or if a step is marked
    opt.resets = RH_RESETS_NONE;
    model = fit_plain(&rh_model_knn, log, false, &opt);
    assert_int_equal(rh_model_facts(model)->nreset, 0);
    assert_int_equal(rh_model_log(model)->nepisode, 1);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- small plants

static void at_rest(double *s, rh_rng *rng)
{
    s[0] = 0.1 * even(rng);
    s[1] = 0.1 * even(rng);
}

// A mass on a track that wears out a nonlinear spring; past 2 it trips and is put back.
static int tripping(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    double force = 0.6 * (act - 1.0) - 0.3 * sin(3.0 * s[0]) + 0.05 * bell(rng);
    s[1] = 0.98 * s[1] + 0.1 * force;
    s[0] += 0.3 * s[1];
    if (fabs(s[0]) <= 2.0)
        return 0;
    at_rest(s, rng);
    return 2;
}

// An angle that wraps, with a speed that is limited by trips.
static int turning(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[1] += 0.1 * (act - 1.0) + 0.01 * bell(rng);
    s[0] += 0.3 * s[1];
    s[0] -= 2.0 * M_PI * floor((s[0] + M_PI) / (2.0 * M_PI));
    if (fabs(s[1]) <= 1.5)
        return 0;
    at_rest(s, rng);
    return 2;
}

static void resets_of_plants(void **unused)
{
    (void)unused;
    const plant p[] = {{2, 3, at_rest, tripping, NULL, NULL},
                       {2, 3, at_rest, turning, NULL, NULL}};
    static uint8_t truth[6000];
    for (int i = 0; i < 2; i++) {
        int hits = 0, wrong = 0, missed = 0, unexplained = 0;
        for (uint64_t seed = 1; seed <= 10; seed++) {
            rh_log *log = log_of_plant(&p[i], 6000, seed, truth);
            rh_facts__resets found = {0};
            rh_facts *facts = search(&found, log);
            count(&found, truth, 6000, &hits, &wrong, &missed);
            assert_int_equal(isnan(facts->sensor[0].period), i == 0);
            for (int k = 0; k < facts->nlimit; k++) {
                assert_int_equal(facts->limit[k].sensor, i);
                assert_true(fabs(fabs(facts->limit[k].value) - (i ? 1.5 : 2.0)) < 0.1);
            }
            unexplained += (int)facts->nunexplained;
            rh_facts__clear_resets(&found);
            rh_facts__destroy(facts);
            rh_log_destroy(log);
        }
        if (wrong || missed > hits / 15 || hits < 100 || unexplained > hits / 10)
            fail_msg("plant %d: %d found, %d wrong, %d missed, %d unexplained", i, hits, wrong,
                     missed, unexplained);
    }
}

// ---------------------------------------------------------------------------- no resets

// Heavy tails: Student's t with 2 degrees of freedom.
static double heavy(rh_rng *rng)
{
    double a = bell(rng), b = bell(rng), c = bell(rng);
    return a / sqrt((b * b + c * c) / 2.0);
}

static int heavy_tails(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[0] = 0.95 * s[0] + 0.1 * act + 0.1 * heavy(rng);
    s[1] = 0.95 * s[1] + 0.1 * heavy(rng);
    return 0;
}

// Both sensors spike for one step, now and then.
static int spikes(double *s, double act, int i, rh_rng *rng)
{
    s[2] = 0.95 * s[2] + 0.1 * act + 0.02 * bell(rng); // what the sensors measure
    s[3] = 0.9 * s[3] + 0.1 * s[2] + 0.02 * bell(rng);
    bool spike = i % 97 == 50;
    s[0] = spike ? 50.0 : s[2];
    s[1] = spike ? -50.0 : s[3];
    return 0;
}

// A mass that stops at walls and loses its speed there.
static int stops(double *s, double act, int i, rh_rng *rng)
{
    (void)i;
    s[1] += 0.1 * (act - 1.0) + 0.01 * bell(rng);
    s[0] += s[1];
    if (fabs(s[0]) > 3.0) {
        s[0] = s[0] > 0.0 ? 3.0 : -3.0;
        s[1] = 0.0;
    }
    return 0;
}

// A temperature that follows a setpoint of two levels, and a timer since its last change.
static int setpoint(double *s, double act, int i, rh_rng *rng)
{
    bool change = i % 48 == 47;
    s[1] = change ? 21.0 - s[1] + 18.0 : s[1];
    s[2] = change ? 0.0 : s[2] + 1.0;
    s[0] = 0.9 * s[0] + 0.1 * s[1] + 0.05 * act + 0.02 * bell(rng);
    return 0;
}

static void cold(double *s, rh_rng *rng)
{
    (void)rng;
    s[0] = s[1] = 18.0;
}

static void no_resets(void **unused)
{
    (void)unused;
    const plant p[] = {{2, 0, at_rest, heavy_tails, NULL, NULL},
                       {4, 0, at_rest, spikes, NULL, NULL},
                       {2, 3, at_rest, stops, NULL, NULL},
                       {3, 0, cold, setpoint, NULL, NULL}};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            rh_facts *f = facts_of_plant(&p[i], 5000, seed);
            if (f->nreset)
                fail_msg("plant %zu, seed %d: %d resets", i, (int)seed, (int)f->nreset);
            assert_int_equal(f->nlimit, 0);
            rh_facts__destroy(f);
        }
}

// ---------------------------------------------------------------------------- memory

static void every_failed_allocation(void **unused)
{
    (void)unused;
    rh_log *log = cartpole(1, 700);
    rh_error err = {""};
    for (int64_t nth = 1;; nth++) {
        rh_facts *facts = NULL;
        int64_t live = rh_base__alloc_live();
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_model__examine(&facts, log, NULL, &err);
        rh_base__alloc_fail_at(0);
        if (rc == RH_OK) {
            assert_true(nth > 20);
            assert_true(facts->nreset > 5);
            rh_facts__destroy(facts);
            break;
        }
        assert_int_equal(rc, RH_ENOMEM);
        assert_null(facts);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(falls_of_cartpole),       cmocka_unit_test(resets_in_a_model),
        cmocka_unit_test(resets_of_plants),        cmocka_unit_test(no_resets),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
