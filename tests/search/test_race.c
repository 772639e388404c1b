// test_race.c - the race: the test, the stages, and how often pure noise drops the best
// setting.

#include "search/search.h"
#include "search_sample.h"

enum { FIRST, GROWTH, CONFIDENCE, NPARAM };
enum { MANY = 30 };

static double table[MANY][SAMPLE_RUNS]; // scores

static rh_search *made(int nsetting, int nrun, const double *param)
{
    rh_space s = {{{"a", RH_DIM_RANGE, .lo = 0.0, .hi = nsetting - 1.0, .step = 1.0}}, 1};
    rh_search__options opt = rh_search__defaults();
    rh_search *search = NULL;
    rh_error err = {""};
    opt.nrun = nrun;
    opt.param = param;
    if (rh_search__create(&search, &rh_search_race, &s, &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    return search;
}

// One round, told from the table. Returns how many were asked for, and their runs.
static int round_of(rh_search *search, int *nrun)
{
    const rh_search__asked *asked;
    int n;
    assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        rh_search__told told = {
            asked[i].setting, asked[i].nrun, table[asked[i].setting], 0.0, NAN, 0};
        *nrun = asked[i].nrun;
        for (int r = 0; r < told.nrun; r++)
            told.value += told.score[r] / told.nrun;
        assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
    }
    return n;
}

// Differences c - 2, c - 1, c, c + 1, c + 2: t = c / sqrt(1 / 2). One look, two settings: the
// limit is 2.13185, the quantile 0.95 with 4 degrees of freedom.
static void by_hand(void **unused)
{
    (void)unused;
    static const struct {
        double c;
        bool dropped;
    } list[] = {{1.507, false}, {1.508, true}, {0.0, false}, {-1.507, false}, {-1.508, true}};
    for (int i = 0; i < 5; i++) {
        for (int r = 0; r < 8; r++) {
            table[0][r] = 100.0 * sin(r) + (list[i].c + r % 5 - 2.0);
            table[1][r] = 100.0 * sin(r); // what both share does not count
        }
        rh_search *search = made(2, 8, NULL);
        int nrun = 0, loser = list[i].c > 0.0;
        assert_int_equal(round_of(search, &nrun), 2);
        assert_int_equal(nrun, 5);
        assert_int_equal(rh_search__state(search, 0), RH_SETTING_OPEN);
        assert_int_equal(round_of(search, &nrun), list[i].dropped ? 1 : 2);
        assert_int_equal(nrun, 8);
        assert_int_equal(rh_search__state(search, 1 - loser), RH_SETTING_DONE);
        assert_int_equal(rh_search__state(search, loser),
                         list[i].dropped ? RH_SETTING_DROPPED : RH_SETTING_DONE);
        assert_int_equal(round_of(search, &nrun), 0);
        rh_search__destroy(search);
    }
}

// A setting with broken runs is dropped at the first look, though its value is the highest;
// where all have some, values decide.
static void broken_runs(void **unused)
{
    (void)unused;
    for (int all = 0; all < 2; all++) {
        rh_search *search = made(3, 8, NULL);
        const rh_search__asked *asked;
        int n;
        assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
        for (int i = 0; i < n; i++) {
            static const double score[3][5] = {
                {1, 2, 3, 4, 5}, {90, 99, 91, 98, 95}, {2, 1, 5, 3, 4}};
            rh_search__told told = {asked[i].setting,    5,   score[i],
                                    i == 1 ? 94.6 : 3.0, NAN, all || i == 1};
            assert_int_equal(rh_search__tell(search, &told, NULL), RH_OK);
        }
        assert_int_equal(rh_search__ask(search, &asked, &n, NULL), RH_OK);
        assert_int_equal(rh_search__state(search, 0),
                         all ? RH_SETTING_DROPPED : RH_SETTING_OPEN);
        assert_int_equal(rh_search__state(search, 1),
                         all ? RH_SETTING_OPEN : RH_SETTING_DROPPED);
        rh_search__destroy(search);
    }
}

// Stages of 5, 8, 12, 18, 27 and 30 runs when no settings differ. A setting far better than all
// others remains alone and gets all its runs at once.
static void stages(void **unused)
{
    (void)unused;
    static const int wanted[] = {5, 8, 12, 18, 27, 30};
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < SAMPLE_RUNS; r++)
            table[i][r] = (i + r) % 4;
    rh_search *search = made(4, 30, NULL);
    int nrun = 0, nsetting;
    int64_t all;
    for (int k = 0; k < 6; k++) {
        assert_int_equal(round_of(search, &nrun), 4);
        assert_int_equal(nrun, wanted[k]);
    }
    assert_int_equal(round_of(search, &nrun), 0);
    rh_search__foresee(search, &nsetting, &all);
    assert_int_equal(nsetting, 4);
    assert_int_equal(all, 120);
    rh_search__destroy(search);

    for (int r = 0; r < SAMPLE_RUNS; r++)
        table[2][r] += 100.0 + 0.1 * r;
    search = made(4, 30, NULL);
    assert_int_equal(round_of(search, &nrun), 4);
    assert_int_equal(round_of(search, &nrun), 1);
    assert_int_equal(nrun, 30);
    for (int i = 0; i < 4; i++)
        assert_int_equal(rh_search__state(search, i),
                         i == 2 ? RH_SETTING_DONE : RH_SETTING_DROPPED);
    rh_search__foresee(search, &nsetting, &all);
    assert_int_equal(nsetting, 4);
    assert_int_equal(all, 45);
    rh_search__lead_entry leader[4];
    assert_int_equal(rh_search__lead(search, 4, leader), 1); // those with the most runs alone
    assert_int_equal(leader[0].setting, 2);
    assert_int_equal(round_of(search, &nrun), 0);
    rh_search__destroy(search);

    // fewer runs than the first stage has: all of them at once
    search = made(4, 3, NULL);
    assert_int_equal(round_of(search, &nrun), 4);
    assert_int_equal(nrun, 3);
    assert_int_equal(rh_search__state(search, 0), RH_SETTING_DONE);
    assert_int_equal(round_of(search, &nrun), 0);
    rh_search__destroy(search);

    // one more run a stage, at the least
    for (int r = 0; r < SAMPLE_RUNS; r++)
        for (int i = 0; i < 4; i++)
            table[i][r] = sin(3.0 * i + r);
    double param[] = {2.0, 1.0, 0.95};
    search = made(4, 6, param);
    for (int k = 2; k <= 6; k++) {
        round_of(search, &nrun);
        assert_int_equal(nrun, k);
    }
    rh_search__destroy(search);
}

static void broken_down(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < SAMPLE_RUNS; r++)
            table[i][r] = (i + r) % 4;
    table[1][2] = -INFINITY;
    rh_search *search = made(4, 8, NULL);
    int nrun = 0;
    assert_int_equal(round_of(search, &nrun), 4);
    assert_int_equal(round_of(search, &nrun), 3);
    assert_int_equal(rh_search__state(search, 1), RH_SETTING_DROPPED);
    rh_search__destroy(search);

    for (int i = 0; i < 4; i++)
        table[i][0] = -INFINITY;
    search = made(4, 8, NULL);
    assert_int_equal(round_of(search, &nrun), 4);
    assert_int_equal(round_of(search, &nrun), 4);
    assert_int_equal(round_of(search, &nrun), 0);
    rh_search__lead_entry leader;
    assert_int_equal(rh_search__lead(search, 1, &leader), 1);
    assert_true(leader.value == -(double)INFINITY);
    assert_int_equal(leader.setting, 0);
    rh_search__destroy(search);

    // scores without noise
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 8; r++)
            table[i][r] = i < 2 ? 7.0 : 6.0;
    search = made(4, 8, NULL);
    round_of(search, &nrun);
    assert_int_equal(round_of(search, &nrun), 2);
    assert_int_equal(rh_search__state(search, 1), RH_SETTING_DONE);
    rh_search__destroy(search);
}

// 30 settings with normal noise, one of them slightly the best: it is dropped in fewer races
// than the confidence allows, and nearly all choices are grid's.
static void seldom_wrong(void **unused)
{
    (void)unused;
    enum { RACES = 400 };
    int dropped = 0, other = 0;
    for (int race = 0; race < RACES; race++) {
        double best = -INFINITY;
        int grid = 0, nrun = 0;
        for (int i = 0; i < MANY; i++) {
            rh_rng rng = rh_rng_stream(4, RH_STREAM_NOISE, (uint64_t)race, (uint64_t)i);
            double mean = 0.0;
            for (int r = 0; r < 30; r += 2) {
                rh_rng_normal(&rng, table[i] + r);
                table[i][r] -= 0.02 * i * i;
                table[i][r + 1] -= 0.02 * i * i;
                mean += table[i][r] + table[i][r + 1];
            }
            grid = mean > best ? i : grid;
            best = mean > best ? mean : best;
        }
        rh_search *search = made(MANY, 30, NULL);
        while (round_of(search, &nrun))
            ;
        rh_search__lead_entry leader;
        assert_int_equal(rh_search__lead(search, 1, &leader), 1);
        dropped += rh_search__state(search, 0) == RH_SETTING_DROPPED;
        other += leader.setting != grid;
        rh_search__destroy(search);
    }
    assert_true(dropped <= RACES * 5 / 100);
    assert_true(other <= RACES * 2 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),     cmocka_unit_test(broken_runs),  cmocka_unit_test(stages),
        cmocka_unit_test(broken_down), cmocka_unit_test(seldom_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
