// test_alarms.c - 1,000 honest deployments for every kind of alarm, and 250 of each fault.
// docs/evidence/alarms.md has the table that this prints, with 1,000 of each fault.
//
// The plant is a heater with a thermostat that learns: its share of wrong switches falls, to
// another end in each run. A run has 4,000 steps, so a tenth is 400. The promise is made of 40
// runs as study/curves.c makes it.

#include "base/base.h"
#include "deploy/deploy_sample.h"
#include "numeric/stats.h"
#include "study/study.h"

enum {
    RUN = 4000,
    HALFWAY = RUN / 2,
    TENTH = RUN / 10,
    NPOINT = 20,
    NRUN = 40,
    N = 1000,
    NFAULTY = 250
};

// What goes wrong: rewards are worse by half of what was promised, the energy costs ten times
// as much, the heater has 40 % of its power, ...
typedef enum fault { NOTHING, HALVED, COSTLY, WEAK, OUTSIDE, GUARDED, BROKEN } fault;

typedef struct heater {
    rh_rng rng;
    double temp, level; // level: noise that remembers
    double wrong;       // share of wrong switches in the end
    double act;
    double spell; // steps for which an excursion or a trip goes on
} heater;

static rh_best *best;

static double normal(rh_rng *rng)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += rh_rng_uniform(rng);
    return sum;
}

static heater begun(int run)
{
    heater h = {.rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, (uint64_t)run), .temp = 3.0};
    h.wrong = 0.02 + 0.08 * rh_rng_uniform(&h.rng);
    return h;
}

// One step; its reward.
static double heat(heater *h, int t, fault what, bool faulty)
{
    double wrong = h->wrong + 0.4 * exp(-t / 300.0);
    h->act = h->temp < 5.0 ? 1.0 : 0.0;
    if (rh_rng_uniform(&h->rng) < wrong)
        h->act = 1.0 - h->act;
    double power = faulty && what == WEAK ? 0.4 : 1.0;
    h->temp = 0.9 * h->temp + 0.2 + power * 0.7 * h->act + 0.15 * normal(&h->rng);
    h->level = 0.9 * h->level + 0.05 * normal(&h->rng);
    double reward = -fabs(h->temp - 5.0) - 0.2 * h->act;
    if (faulty && what == COSTLY)
        reward -= 9.0 * 0.2 * h->act;
    if (faulty && what == HALVED)
        reward *= 1.5;
    return reward;
}

// Whether a step belongs to a spell: a share of all, in spells of five steps.
static bool in_spell(heater *h, double share)
{
    if (h->spell > 0.0) {
        h->spell--;
        return true;
    }
    bool begins = rh_rng_uniform(&h->rng) < share / (5.0 * (1.0 - share));
    h->spell = begins ? 4.0 : 0.0;
    return begins;
}

// The promise of NRUN runs, as study/curves.c makes it.
static void promise(void)
{
    static double y[NRUN][NPOINT];
    double most[NRUN], total = 0.0;
    for (int run = 0; run < NRUN; run++) {
        heater h = begun(100000 + run);
        for (int p = 0; p < NPOINT; p++) {
            y[run][p] = 0.0;
            for (int t = 0; t < RUN / NPOINT; t++)
                y[run][p] += heat(&h, p * (RUN / NPOINT) + t, NOTHING, false);
            total += y[run][p] / NRUN;
        }
    }
    rh_promise *to = &best->promise;
    to->nstep = to->per_steps = RUN;
    to->ncurve = NPOINT;
    to->nrun = NRUN;
    to->score = to->lo95 = total;
    for (int leave = NRUN; leave >= 0; leave--) { // the last: NRUN left out is all
        int out = NRUN - 1 - leave, n = out < 0 ? NRUN : NRUN - 1;
        double d = 0.0, largest = 0.0;
        for (int p = 0; p < NPOINT; p++) {
            double sum = 0.0, square = 0.0;
            for (int run = 0; run < NRUN; run++)
                sum += run == out ? 0.0 : y[run][p] / n;
            for (int run = 0; run < NRUN; run++)
                square += run == out ? 0.0 : (y[run][p] - sum) * (y[run][p] - sum);
            double spread = sqrt(square / (n - 1));
            if (out < 0) {
                to->mean[p] = sum;
                to->spread[p] = spread;
            } else
                d = rh_promise__deficit(d, sum, spread, n, y[out][p]);
            largest = fmax(largest, d);
        }
        if (out >= 0)
            most[out] = largest;
    }
    rh_stats__sort(most, NRUN);
    to->alarm = most[NRUN - 1];
    to->false_alarms = 1.0 / (NRUN + 1);
}

// One deployment of nstep steps; the fault begins at step `from`. first: the step of the first
// alarm of each kind, or -1.
static void deploy(int run, int nstep, fault what, int from, int first[RH_NALARM])
{
    rh_monitor m = {0};
    rh_deploy_health h = {.alarm_step = -1, .outside_sensor = -1, .guard_share = 0.05};
    rh_forecast *forecast = NULL;
    heater plant = begun(run), spells = begun(run + 50000);
    for (int i = 0; i < RH_NALARM; i++) {
        first[i] = -1;
        h.evidence[i] = NAN;
    }
    rh_monitor__promise_failures(&h, best);
    assert_int_equal(rh_forecast__create(&forecast, best, RUN, NULL), RH_OK);
    for (int t = 0; t < nstep; t++) {
        bool faulty = t >= from;
        double obs[2] = {plant.temp, plant.level};
        double reward = heat(&plant, t, what, faulty), next[2] = {plant.temp, plant.level};
        double off = in_spell(&spells, faulty && what == OUTSIDE ? 0.5 : 0.05) ? 99.0 : 0.0;
        bool guarded = in_spell(&spells, faulty && what == GUARDED ? 0.3 : 0.05);
        bool fails = rh_rng_uniform(&spells.rng) < (faulty && what == BROKEN ? 0.1 : 0.02);
        h.nstep++;
        rh_monitor__reward(&m, &h, best, reward, false);
        rh_monitor__forecast(&m, &h, best, forecast, obs, &plant.act, reward, next);
        rh_monitor__obs(&m, &h, best, (double[]){5.0 + off, 0.0});
        rh_monitor__guard(&m, &h, best, guarded);
        rh_monitor__failure(&m, &h, best,
                            &(rh_monitor__step){.obs = next, .reward = fails ? -99.0 : -1.0});
        for (int i = 0; i < RH_NALARM; i++)
            if (first[i] < 0 && h.alarms >> i & 1)
                first[i] = t;
    }
    rh_forecast__destroy(forecast);
}

enum { PROMISE = 0, RANGE = 1, FAILURES = 4, GUARD = 5, WORSE = 6, CHANGED = 7 };
static const char *const name[] = {"promise",  "range", "",      "",
                                   "failures", "guard", "worse", "changed"};

static int begin(void **state)
{
    char text[4000];
    if (enter(state))
        return -1;
    snprintf(text, sizeof text, "%s%s", BEST_ALL,
             "failures:\n  rule: {words: \"w\", known: true, ends: false, below: -6}\n"
             "  per: 1000\n  all: {rate: 15, interval: [10, 20], failures: 3, of: 1000}\n");
    write_text(best_path, text);
    assert_int_equal(rh_best_read(&best, best_path, NULL), RH_OK);
    promise();
    return 0;
}

static int end(void **state)
{
    rh_best_destroy(best);
    return leave(state);
}

// Two run lengths. Sensors leave the range, the guard acts and failures happen exactly as often
// as allowed: the worst that is still honest.
static void honest(void **unused)
{
    (void)unused;
    static const int kind[] = {PROMISE, FAILURES, WORSE, CHANGED, RANGE, GUARD};
    int count[RH_NALARM] = {0};
    for (int run = 0; run < N; run++) {
        int first[RH_NALARM];
        deploy(run, 2 * RUN, NOTHING, 2 * RUN, first);
        for (int i = 0; i < RH_NALARM; i++)
            count[i] += first[i] >= 0;
    }
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        print_message("honest: %s %d of %d\n", name[kind[i]], count[kind[i]], N);
        assert_in_range(count[kind[i]], 0, N / 20);
    }
}

// At least one of the two kinds is raised within a tenth of a run.
static void found(fault what, int from, int kind, int other)
{
    int count = 0, own = 0;
    double when[NFAULTY];
    for (int run = 0; run < NFAULTY; run++) {
        int first[RH_NALARM];
        deploy(run, from + TENTH, what, from, first);
        int a = first[kind], b = first[other];
        own += a >= from;
        if (a >= from || b >= from)
            when[count++] = (a < from || (b >= from && b < a) ? b : a) - from;
    }
    rh_stats__sort(when, count);
    print_message("fault %d at step %d: found in %d of %d, by %s alone in %d, median after %g "
                  "steps\n",
                  what, from, count, NFAULTY, name[kind], own, count ? when[count / 2] : NAN);
    assert_in_range(count, NFAULTY * 9 / 10, NFAULTY);
}

static void faults(void **unused)
{
    (void)unused;
    found(HALVED, 0, PROMISE, PROMISE);
    found(HALVED, HALFWAY, PROMISE, PROMISE);
    found(HALVED, HALFWAY, WORSE, WORSE);
    found(COSTLY, HALFWAY, WORSE, WORSE);
    found(COSTLY, HALFWAY, CHANGED, WORSE);
    found(WEAK, HALFWAY, CHANGED, WORSE);
    found(OUTSIDE, HALFWAY, RANGE, RANGE);
    found(GUARDED, HALFWAY, GUARD, GUARD);
    found(BROKEN, HALFWAY, FAILURES, FAILURES);
}

// Neighbouring units that are alike: an autoregression, with nothing wrong.
static void slow_plants(void **unused)
{
    (void)unused;
    static const double rho[] = {0.0, 0.3, 0.6, 0.8, 0.9};
    for (size_t k = 0; k < sizeof rho / sizeof *rho; k++) {
        int count = 0;
        for (int run = 0; run < N; run++) {
            rh_rng rng = rh_rng_stream(6, RH_STREAM_NOISE, k, (uint64_t)run);
            rh_rising r;
            rh_rising__init(&r, 1.0, 16);
            double x = 0.0, worth = 0.0, most = 0.0;
            for (int t = 0; t < 2000; t++) {
                x = rho[k] * x + sqrt(1.0 - rho[k] * rho[k]) * normal(&rng);
                if (rh_rising__add(&r, x, false, &worth))
                    most = fmax(most, worth);
            }
            count += most >= RH_BETS__LEVEL;
        }
        print_message("autocorrelation %.1f: %d of %d\n", rho[k], count, N);
        assert_in_range(count, 0, N / 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(honest, begin, end),
        cmocka_unit_test_setup_teardown(faults, begin, end),
        cmocka_unit_test(slow_plants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
