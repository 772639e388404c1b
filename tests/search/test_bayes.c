// test_bayes.c - Bayesian optimisation: expected improvement compared with mpmath, functions
// with known maxima, spaces of all kinds, odd values, batches, restoring.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "search/bayes.h"
#include "search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double five[] = {1, 2, 4, 8, 16}, names[] = {0, 1, 2, 3};

static const rh_space box = {
    {{.name = "x", .lo = -5.0, .hi = 10.0}, {.name = "y", .lo = 0.0, .hi = 15.0}}, 2};
static const rh_space grid = {
    {{.name = "a", .kind = RH_DIM_LIST, .value = five, .nvalue = 5},
     {.name = "b", .kind = RH_DIM_NAMES, .value = names, .nvalue = 4}},
    2};
static const rh_space mixed = {
    {{.name = "rate", .lo = 1e-4, .hi = 1.0, .scale = RH_LOG},
     {.name = "kind", .kind = RH_DIM_NAMES, .value = names, .nvalue = 4},
     {.name = "count", .lo = 1.0, .hi = 1000.0, .step = 1.0, .scale = RH_LOG},
     {.name = "fixed", .lo = 3.0, .hi = 3.0}},
    4};

// Each is 0 at best.
static double branin(const double *x)
{
    double a = x[0], b = x[1] - 5.1 / (4.0 * M_PI * M_PI) * a * a + 5.0 / M_PI * a - 6.0;
    return 0.39788735772973816 - (b * b + 10.0 * (1.0 - 1.0 / (8.0 * M_PI)) * cos(a) + 10.0);
}

static double on_grid(const double *x)
{
    return -pow(log2(x[0]) - 3.0, 2) - (x[1] == 2.0 ? 0.0 : 1.5);
}

static double on_mixed(const double *x)
{
    return -pow(log10(x[0]) + 2.0, 2) - (x[1] == 1.0 ? 0.0 : 1.0) - pow(log10(x[2] / 50.0), 2);
}

// A part of the box in which runs diverge.
#define PENALTY (-1e8)
static bool is_bad(const double *x)
{
    return x[0] > 2.5 && x[1] > 7.5;
}

typedef struct entry {
    const rh_space *space;
    double (*value)(const double *x);
    int budget, batch;
    uint64_t seed;
    double noise; // variance of the value, told as such where `known`
    bool known;   //
    bool breaks;  // a third of the settings break down
    int penalty;  // 1: a quarter of the box gives a huge value, 2: said to be broken runs
    bool curious; // asks for the leaders all the time
    double param[RH_BAYES_NPARAM];
} entry;

static entry entry_of(const rh_space *space, double (*value)(const double *x), int budget)
{
    entry s = {.space = space, .value = value, .budget = budget, .batch = 1, .seed = 1};
    s.known = true;
    rh_param_initial(rh_search_bayes.param, RH_BAYES_NPARAM, s.param);
    return s;
}

static rh_status create(const entry *s, rh_search **out, rh_error *err)
{
    rh_search__options opt = rh_search__defaults();
    opt.budget = s->budget;
    opt.batch = s->batch;
    opt.seed = s->seed;
    opt.nrun = 1;
    opt.param = s->param;
    return rh_search__create(out, &rh_search_bayes, s->space, &opt, err);
}

// Search to the end.
static rh_status finish(const entry *s, rh_search *search, rh_error *err)
{
    for (;;) {
        const rh_search__asked *asked;
        int nasked;
        rh_search__lead_entry leader[4];
        rh_status rc = rh_search__ask(search, &asked, &nasked, err);
        if (rc || nasked == 0)
            return rc;
        for (int i = 0; i < nasked; i++) {
            const double *x = rh_search__proposed(search, asked[i].setting);
            rh_rng rng = rh_rng_stream(9, RH_STREAM_NOISE, 0, (uint64_t)asked[i].setting);
            double e[2];
            rh_rng_normal(&rng, e);
            double score = s->value(x) + sqrt(s->noise) * e[0];
            if (s->breaks && asked[i].setting % 3 == 1)
                score = -INFINITY;
            rh_search__told told = {asked[i].setting,          1, &score, score,
                                    s->known ? s->noise : NAN, 0};
            if (s->penalty && is_bad(x)) { // some of its runs get the penalty: a huge variance
                score = told.value = PENALTY * (0.1 + 0.9 * fabs(sin(x[0] + 7.0 * x[1])));
                told.noise = 0.05 * PENALTY * PENALTY;
                told.nbroken = s->penalty == 2;
            }
            rc = rh_search__tell(search, &told, err);
            if (rc)
                return rc;
            if (s->curious)
                rh_search__lead(search, 4, leader);
        }
    }
}

static rh_search *searched(const entry *s)
{
    rh_search *search = NULL;
    rh_error err = {""};
    assert_int_equal(create(s, &search, &err), RH_OK);
    assert_int_equal(finish(s, search, &err), RH_OK);
    for (int i = 0; i < rh_search__nsetting(search); i++) {
        assert_true(rh_space__holds(s->space, rh_search__proposed(search, i)));
        assert_int_equal(rh_search__find(search, rh_search__proposed(search, i)),
                         i); // never twice
    }
    assert_true(rh_search__nsetting(search) <= s->budget);
    return search;
}

static bool alike(const rh_search *a, const rh_search *b)
{
    bool same = rh_search__nsetting(a) == rh_search__nsetting(b);
    for (int i = 0; i < rh_search__nsetting(a) && same; i++)
        same = memcmp(rh_search__proposed(a, i), rh_search__proposed(b, i),
                      (size_t)a->space.ndim * sizeof(double)) == 0;
    return same;
}

static double best_of(const rh_search *search, double (*value)(const double *x))
{
    double best = -INFINITY;
    for (int i = 0; i < rh_search__nsetting(search); i++)
        best = fmax(best, value(rh_search__proposed(search, i)));
    return best;
}

// ---------------------------------------------------------------------------- the aim

static void expected_improvement(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/search_ei.csv", "r");
    assert_non_null(file);
    char line[256];
    int nrow = 0;
    for (; fgets(line, sizeof line, file); nrow++) {
        char *at;
        double t = strtod(line, &at), value = strtod(at + 1, &at), slope = strtod(at + 1, &at);
        double by_mean, by_sd, got = rh_bayes__log_ei(t, 1.0, 0.0, &by_mean, &by_sd);
        assert_true(fabs(got - value) <= 1e-12 * (1.0 + fabs(value)));
        assert_true(fabs(by_mean - slope) <= 1e-11 * slope);

        // another scale: only ln sd more
        double wide = rh_bayes__log_ei(3.0 + 2.0 * t, 2.0, 3.0, &by_mean, &by_sd);
        assert_true(fabs(wide - got - log(2.0)) <= 1e-7 * (1.0 + fabs(value)));
    }
    fclose(file);
    assert_int_equal(nrow, 27);

    // by the standard deviation, against differences
    for (double mean = -6.0; mean < 6.0; mean += 0.7) {
        double by_sd, h = 1e-5;
        rh_bayes__log_ei(mean, 1.3, 0.1, NULL, &by_sd);
        double up = rh_bayes__log_ei(mean, 1.3 + h, 0.1, NULL, NULL);
        double down = rh_bayes__log_ei(mean, 1.3 - h, 0.1, NULL, NULL);
        assert_true(fabs(by_sd - (up - down) / (2.0 * h)) <= 1e-6 * (1.0 + fabs(by_sd)));
    }
}

static void keeps_the_best(void **unused)
{
    (void)unused;
    rh_bayes__kept kept = {.ncol = 1, .most = 3};
    double worth[] = {1, 5, NAN, 3, 4, 2, 5};
    for (int i = 0; i < 7; i++)
        rh_bayes__keep(&kept, &(double){i}, worth[i]);
    assert_int_equal(kept.n, 3);
    assert_true(kept.z[0][0] == 1.0);
    assert_true(kept.z[1][0] == 6.0);
    assert_true(kept.z[2][0] == 4.0);
}

// ---------------------------------------------------------------------------- searches

static void finds_the_best(void **unused)
{
    (void)unused;
    for (int kind = RH_BAYES_MIXED; kind <= RH_BAYES_UCB; kind++) {
        entry s = entry_of(&box, branin, 45);
        s.param[RH_BAYES_ACQUISITION] = kind;
        rh_search *search = searched(&s);
        assert_int_equal(rh_search__nsetting(search), 45);
        assert_true(best_of(search, branin) > -1e-3); // 45 at random: -0.5 or so
        rh_search__lead_entry leader[2];
        assert_int_equal(rh_search__lead(search, 2, leader), 2);
        assert_true(leader[0].value == best_of(search, branin));
        assert_true(leader[0].sd == 0.0);
        assert_true(leader[1].value <= leader[0].value);
        rh_search__destroy(search);
    }

    entry s = entry_of(&mixed, on_mixed, 50);
    rh_search *search = searched(&s);
    assert_true(best_of(search, on_mixed) > -0.01);
    rh_search__destroy(search);
}

// Every setting of a small space once, the best of them early.
static void ends_when_all_are_tried(void **unused)
{
    (void)unused;
    entry s = entry_of(&grid, on_grid, 1000);
    rh_search *search = searched(&s);
    assert_int_equal(rh_search__nsetting(search), 20);
    rh_search__destroy(search);
    s.budget = 14;
    search = searched(&s);
    assert_int_equal(rh_search__nsetting(search), 14);
    assert_true(best_of(search, on_grid) == 0.0);
    rh_search__destroy(search);

    // one setting in all
    static const rh_space one = {{{.name = "a", .lo = 2.0, .hi = 2.0}}, 1};
    entry lone = entry_of(&one, on_grid, 10);
    search = searched(&lone);
    assert_int_equal(rh_search__nsetting(search), 1);
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    rh_search__destroy(search);
}

// The leader has the best expected value, not the best observed one.
static void noise(void **unused)
{
    (void)unused;
    for (int known = 0; known < 2; known++) {
        entry s = entry_of(&mixed, on_mixed, 50);
        s.noise = 0.1;
        s.known = known;
        rh_search *search = searched(&s);
        rh_search__lead_entry leader[3];
        assert_int_equal(rh_search__lead(search, 3, leader), 3);
        assert_true(leader[0].value >= leader[1].value);
        assert_true(leader[1].value >= leader[2].value);
        assert_true(leader[0].sd > 0.0);
        assert_true(leader[0].sd < sqrt(0.1));
        assert_true(on_mixed(rh_search__proposed(search, leader[0].setting)) > -0.3);
        double value = search->setting[leader[0].setting].value;
        assert_true(leader[0].value != value);
        rh_search__destroy(search);
    }
}

static double flat(const double *x)
{
    (void)x;
    return 4.0;
}

static double huge(const double *x)
{
    return 1e300 * branin(x) / 400.0;
}

static void odd_values(void **unused)
{
    (void)unused;
    // all equal
    entry s = entry_of(&box, flat, 20);
    rh_search *search = searched(&s);
    assert_int_equal(rh_search__nsetting(search), 20);
    rh_search__destroy(search);

    // some broken down: they do not lead
    s = entry_of(&box, branin, 30);
    s.breaks = true;
    s.noise = 1e-4;
    search = searched(&s);
    rh_search__lead_entry leader[30];
    assert_int_equal(rh_search__lead(search, 30, leader), 20);
    for (int i = 0; i < 20; i++) {
        assert_true(isfinite(leader[i].value));
        assert_int_not_equal(leader[i].setting % 3, 1);
    }
    assert_int_equal(rh_search__lead(search, 1, leader), 1);
    rh_search__destroy(search);

    // values too large to be squared
    s = entry_of(&box, huge, 12);
    search = searched(&s);
    assert_int_equal(rh_search__nsetting(search), 12);
    rh_search__destroy(search);
}

// Values below the fence, by hand: fence 10, slack 2: 10 - 2 t / (1 + t), t = (10 - v) / 2.
static void pulled_in(void **unused)
{
    (void)unused;
    rh_bayes b = {.fence = 10.0, .slack = 2.0};
    double slope;
    assert_true(rh_bayes__pull(&b, 11.5, &slope) == 11.5);
    assert_true(slope == 1.0);
    assert_true(rh_bayes__pull(&b, 10.0, &slope) == 10.0);
    assert_true(slope == 1.0);
    assert_true(fabs(rh_bayes__pull(&b, 8.0, &slope) - 9.0) < 1e-15);
    assert_true(fabs(slope - 0.25) < 1e-15);
    assert_true(rh_bayes__pull(&b, -1e9, &slope) > 8.0);
    assert_true(rh_bayes__pull(&b, -1e9, &slope) < rh_bayes__pull(&b, -1e8, &slope));
    for (double v = 12.0; v > -1e4; v = v - 1.0 - 0.3 * fabs(v))
        assert_true(fabs(rh_bayes__push(&b, rh_bayes__pull(&b, v, &slope)) - v) <
                    1e-9 * (1.0 + fabs(v)));
}

// The process gets values of mean 0 and variance 1, over the settings of its last fit.
static void standardised(void **unused)
{
    (void)unused;
    entry s = entry_of(&box, branin, 16);
    rh_search *search = searched(&s);
    const rh_bayes *b = search->self;
    double mean = 0.0, square = 0.0, slope;
    assert_in_range(b->nfit, 10, 16);
    for (int i = 0; i < b->nfit; i++)
        mean += rh_bayes__pull(b, search->setting[i].value, &slope) / b->nfit;
    for (int i = 0; i < b->nfit; i++) {
        double off = rh_bayes__pull(b, search->setting[i].value, &slope) - mean;
        square += off * off / b->nfit;
    }
    assert_true(fabs(b->shift - mean) < 1e-9 * fabs(mean));
    assert_true(fabs(b->scale * b->scale - square) < 1e-9 * square);
    rh_search__destroy(search);
}

// A penalty a million times the differences between the others does not set the scale: the
// search finds the maximum as without it, and no setting with broken runs leads.
static void penalties(void **unused)
{
    (void)unused;
    for (int penalty = 1; penalty <= 2; penalty++) {
        int ngood = 0;
        for (uint64_t seed = 1; seed <= 10; seed++) {
            entry s = entry_of(&box, branin, 45);
            s.penalty = penalty;
            s.seed = seed;
            s.noise = 1e-4;
            rh_search *search = searched(&s);
            rh_search__lead_entry leader[45];
            int n = rh_search__lead(search, 45, leader), nbad = 0;
            assert_int_equal(n, 45);
            for (int i = 0; i < n; i++)
                nbad += is_bad(rh_search__proposed(search, leader[i].setting));
            for (int i = 0; i < n - nbad; i++)
                assert_false(is_bad(rh_search__proposed(search, leader[i].setting)));
            double found = branin(rh_search__proposed(search, leader[0].setting));
            assert_true(found > -1.0);
            ngood += found > -0.05;
            // of 11 in a quarter of the box
            assert_true(nbad > 0);
            assert_true(nbad <= 6);
            rh_search__destroy(search);
        }
        assert_true(ngood >= 6);
    }

    // all have broken runs: their values count again
    entry s = entry_of(&box, branin, 30);
    rh_search *search = NULL;
    assert_int_equal(create(&s, &search, NULL), RH_OK);
    const rh_search__asked *asked;
    int nasked;
    while (rh_search__ask(search, &asked, &nasked, NULL) == RH_OK && nasked > 0)
        for (int i = 0; i < nasked; i++) {
            double score = branin(rh_search__proposed(search, asked[i].setting));
            rh_search__told told = {asked[i].setting, 1, &score, score, 1e-4, 1};
            assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
        }
    assert_true(best_of(search, branin) > -0.1);
    rh_search__destroy(search);
}

static double broken(const double *x)
{
    (void)x;
    return -INFINITY;
}

static void nothing_but_breakdowns(void **unused)
{
    (void)unused;
    entry s = entry_of(&box, broken, 12);
    s.known = false;
    rh_search *search = searched(&s);
    rh_search__lead_entry leader[3];
    assert_int_equal(rh_search__lead(search, 3, leader), 3);
    assert_int_equal(leader[0].setting, 0);
    rh_search__destroy(search);
}

static void batches(void **unused)
{
    (void)unused;
    entry s = entry_of(&box, branin, 46);
    s.batch = 8;
    rh_search *search = searched(&s);
    assert_int_equal(rh_search__nsetting(search), 46);
    assert_true(best_of(search, branin) > -0.1);

    // those of one batch are apart: the answers were imagined
    for (int i = 6; i < 14; i++)
        for (int j = 6; j < i; j++) {
            const double *a = rh_search__proposed(search, i),
                         *b = rh_search__proposed(search, j);
            assert_true(hypot(a[0] - b[0], a[1] - b[1]) > 0.05);
        }
    rh_search__destroy(search);
}

static void the_same_again(void **unused)
{
    (void)unused;
    entry s = entry_of(&mixed, on_mixed, 24);
    s.noise = 0.01;
    s.batch = 3;
    rh_search *first = searched(&s), *again = searched(&s);
    assert_true(alike(first, again));
    rh_search__destroy(again);
    s.curious = true; // who asks for leaders changes nothing
    again = searched(&s);
    assert_true(alike(first, again));
    rh_search__destroy(again);
    s.seed = 2;
    again = searched(&s);
    assert_false(alike(first, again));
    rh_search__destroy(again);
    rh_search__destroy(first);
}

// The leaders of a search that knows the first n settings of another, and their values.
static void recalled(const entry *s, const rh_search *whole, int n)
{
    rh_search *search = NULL;
    rh_search__lead_entry leader[4], expected[4];
    size_t ndim = (size_t)s->space->ndim;
    double *x = calloc((size_t)n * ndim + 1, sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < n; i++)
        memcpy(x + (size_t)i * ndim, rh_search__proposed(whole, i), ndim * sizeof *x);
    assert_int_equal(create(s, &search, NULL), RH_OK);
    assert_int_equal(rh_search__recall(search, n, x, NULL), RH_OK);
    assert_int_equal(finish(s, search, NULL), RH_OK);
    assert_true(alike(whole, search));
    assert_int_equal(rh_search__lead(search, 4, leader), rh_search__lead(whole, 4, expected));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(leader[i].setting, expected[i].setting);
        assert_memory_equal(&leader[i].value, &expected[i].value, sizeof(double));
        assert_memory_equal(&leader[i].sd, &expected[i].sd, sizeof(double));
    }
    rh_search__destroy(search);
    free(x);
}

// A search that knows what an earlier one asked for, up to any setting, goes on to the same
// bits. It does not compute those: with all of them known, only the last fit is made.
static void knows_earlier_settings(void **unused)
{
    (void)unused;
    entry s = entry_of(&mixed, on_mixed, 26);
    s.noise = 0.01;
    s.batch = 3;
    rh_search *whole = searched(&s);
    for (int n = 0; n <= 26; n += n < 20 ? 4 : 1)
        recalled(&s, whole, n);
    s.known = false;
    s.breaks = true;
    rh_search__destroy(whole);
    whole = searched(&s);
    recalled(&s, whole, 17);

    // they are used as given
    rh_search *search = NULL;
    double x[26 * 4], last = 0.0;
    assert_int_equal(create(&s, &search, NULL), RH_OK);
    for (int i = 0; i < 26; i++)
        memcpy(x + (size_t)i * 4, rh_search__proposed(whole, i), 4 * sizeof *x);
    last = x[20 * 4] = 0.123;
    assert_int_equal(rh_search__recall(search, 26, x, NULL), RH_OK);
    assert_int_equal(finish(&s, search, NULL), RH_OK);
    assert_true(rh_search__proposed(search, 20)[0] == last);
    assert_int_equal(((rh_bayes *)search->self)->nfit, 24);
    rh_error err;
    assert_int_equal(rh_search__recall(search, 26, x, &err), RH_EINVAL);
    assert_string_equal(err.text,
                        "bayes: 26 settings asked, expected earlier ones before the first ask");
    x[3] = NAN;
    rh_search__destroy(search);
    assert_int_equal(create(&s, &search, NULL), RH_OK);
    assert_int_equal(rh_search__recall(search, 26, x, &err), RH_EINVAL);
    rh_search__destroy(search);
    rh_search__destroy(whole);
}

// Beyond 300 settings the process has some of them: the best, and others from everywhere. Most
// of these settings are random and given as known, because proposals take time.
static void many_settings(void **unused)
{
    (void)unused;
    enum { N = 430, GIVEN = 428 };
    entry s = entry_of(&box, branin, N);
    s.noise = 1e-4;
    s.batch = 2;
    static double x[GIVEN * 2];
    rh_rng rng = rh_rng_stream(6, RH_STREAM_SEARCH, 0, 0);
    rh_search *search = NULL;
    for (int i = 0; i < GIVEN; i++) {
        x[2 * i] = rh_rng_range(&rng, -5.0, 10.0);
        x[2 * i + 1] = rh_rng_range(&rng, 0.0, 15.0);
    }
    assert_int_equal(create(&s, &search, NULL), RH_OK);
    assert_int_equal(rh_search__recall(search, GIVEN, x, NULL), RH_OK);
    assert_int_equal(finish(&s, search, NULL), RH_OK);
    assert_int_equal(rh_search__nsetting(search), N);
    const rh_bayes *b = search->self;
    assert_true(b->nput >= 300);
    assert_true(b->nput <= 332);
    assert_int_equal(b->nseen, N);
    assert_int_equal(b->gp.n, b->nput);

    // ascending, each once; the best ten are there, and no setting is far from a point
    for (int k = 1; k < b->nput; k++)
        assert_true(b->active[k] > b->active[k - 1]);
    rh_search__lead_entry leader[10];
    rh_search__lead_by_value(search, 10, leader);
    for (int i = 0; i < 10; i++) {
        int k = 0;
        while (k < b->nput && b->active[k] != leader[i].setting)
            k++;
        assert_true(k < b->nput);
    }
    for (int i = 0; i < N; i++) {
        double nearest = INFINITY;
        for (int k = 0; k < b->nput; k++)
            nearest = fmin(nearest, hypot(b->z[2 * i] - b->gp.z[2 * k],
                                          b->z[2 * i + 1] - b->gp.z[2 * k + 1]));
        assert_true(nearest < 0.08);
    }
    recalled(&s, search, N - 1);
    rh_search__destroy(search);
}

static void too_many(void **unused)
{
    (void)unused;
    entry s = entry_of(&box, branin, 5001);
    rh_search *search = NULL;
    rh_error err;
    assert_int_equal(create(&s, &search, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "5001 settings"));
    assert_null(search);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    entry s = entry_of(&grid, on_grid, 8);
    int64_t live = rh_base__alloc_live();
    for (int n = 1;; n++) {
        rh_error err;
        rh_search *search = NULL;
        rh_base__alloc_fail_at(n);
        rh_status rc = create(&s, &search, &err);
        if (!rc)
            rc = finish(&s, search, &err);
        rh_base__alloc_fail_at(0);
        rh_search__destroy(search);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_improvement),
        cmocka_unit_test(keeps_the_best),
        cmocka_unit_test(finds_the_best),
        cmocka_unit_test(ends_when_all_are_tried),
        cmocka_unit_test(noise),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(standardised),
        cmocka_unit_test(pulled_in),
        cmocka_unit_test(penalties),
        cmocka_unit_test(nothing_but_breakdowns),
        cmocka_unit_test(batches),
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(knows_earlier_settings),
        cmocka_unit_test(many_settings),
        cmocka_unit_test(too_many),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
