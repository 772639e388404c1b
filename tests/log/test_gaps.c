// test_gaps.c - short gaps are filled, sentinels are missing values, and a trip is terminal.

#include "log/sample.h"

#include "log/gaps.h"

#include <math.h>
#include <string.h>

static rh_log *read_text(const char *text, const rh_log_options *opt)
{
    const char *path = in_folder("plant.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    rh_error err = {""};
    rh_log *log = NULL;
    if (rh_log_read(&log, path, opt, &err))
        fail_msg("%s", err.text);
    unlink(path);
    return log;
}

static void check_sensor(const rh_log *log, int j, const double *want, int n)
{
    assert_int_equal(log->n + 1, n);
    for (int i = 0; i < n; i++) {
        double x = log->obs[(i < log->n ? log->from[i] : log->to[i - 1]) * log->nobs + j];
        if (!same(x, want[i]))
            fail_msg("row %d, sensor %d: %g, expected %g", i, j, x, want[i]);
    }
}

// ---------------------------------------------------------------------------- gaps

static const char rest[] = "x,mode,action,reward\n"
                           "1.5,0,0,1\n"
                           "2.5,0,1,1\n"
                           ",,0,1\n"
                           ",1,1,1\n"
                           "5.5,1,0,1\n"
                           ",1,1,1\n";

// By hand: lines between the neighbours, and the value before where a column rests.
static void lines_and_rests(void **unused)
{
    (void)unused;
    rh_log *log = read_text(rest, NULL);
    check_sensor(log, 0, (double[]){1.5, 2.5, 3.5, 4.5, 5.5, NAN}, 6); // not at its end
    check_sensor(log, 1, (double[]){0, 0, 0, 1, 1, 1}, 6);
    assert_int_equal(log->reading.nfilled, 3);
    assert_int_equal(log->reading.nmissing, 1);
    assert_true(has_note(log, "3 missing values in gaps of at most 5 rows filled: x 2 "
                              "interpolated, mode 1 held"));
    rh_log_destroy(log);
    rh_log_options opt = as_it_is();
    log = read_text(rest, &opt);
    assert_int_equal(log->reading.nfilled, 0);
    assert_int_equal(log->nepisode, 2); // the third row shows nothing
    rh_log_destroy(log);
}

// Five rows are filled and six are not; nor is anything across episodes.
static void how_long(void **unused)
{
    (void)unused;
    for (int gap = 1; gap <= 7; gap++) {
        char text[400] = "episode,x,y,action,reward\n1,0.5,1,0,1\n";
        for (int i = 0; i < gap; i++)
            strcat(text, "1,,1,1,1\n");
        strcat(text, "1,4.5,1,0,1\n1,,1,1,1\n2,,2,1,1\n2,1.5,2,0,1\n");
        rh_log *log = read_text(text, NULL);
        bool filled = gap <= RH_GAPS__MOST;
        assert_int_equal(log->reading.nfilled, filled ? gap : 0);
        double x = log->obs[(int64_t)log->from[1] * log->nobs];
        assert_true(filled ? x == 0.5 + 4.0 / (gap + 1) : isnan(x));
        assert_true(isnan(log->obs[(int64_t)log->from[log->first[1]] * log->nobs]));
        rh_log_destroy(log);
    }
}

// A reward by formula is computed from the filled sensor; others are filled themselves; an
// action is held. The episode stays whole.
static void rewards_and_actions(void **unused)
{
    (void)unused;
    static const char text[] = "T,u,cost\n20.5,0,1.5\n21.5,0.5,2.5\n,0.25,3.5\n24.5,,4.5\n"
                               "25.5,0.75,\n26.5,0.5,6.5\n27.5,1,7.5\n";
    rh_log_options opt = rh_log_defaults();
    opt.action = "u";
    opt.obs = "T";
    opt.reward = "-abs(T - 20) - u";
    opt.action_kind = RH_ACTION_CONTINUOUS;
    rh_log *log = read_text(text, &opt);
    assert_int_equal(log->nepisode, 1);
    assert_int_equal(log->n, 6);
    assert_true(log->reward[2] == -3.25); // T = 23
    assert_true(log->act[3] == 0.5);      // between 0.25 and 0.75
    assert_true(log->reward[3] == -5.0);
    rh_log_destroy(log);
    opt.reward = "-cost";
    log = read_text(text, &opt);
    assert_int_equal(log->nepisode, 1);
    assert_true(log->reward[4] == -5.5);
    rh_log_destroy(log);
    opt.gaps = RH_GAPS_CUT;
    log = read_text(text, &opt);
    assert_true(log->nepisode > 1);
    rh_log_destroy(log);
    opt.gaps = RH_GAPS_FILL;
    opt.reward_of = RH_REWARD_OF_STATE; // of the action before
    opt.reward = "-T";
    log = read_text(text, &opt);
    assert_int_equal(log->nepisode, 1);
    assert_true(log->reward[1] == -23.0);
    rh_log_destroy(log);
}

// A plant that trips: with 1.5 % of the values missing, the mean return of the log is that of
// the whole log; cut into pieces it is not. Fixed seed; the interval of 400 episodes, four
// standard errors wide on each side, fails one seed in 15,000.
static void the_mean_return(void **unused)
{
    (void)unused;
    enum { EPISODES = 400, STEPS = 120, MOST = 40 };
    static char text[EPISODES * STEPS * MOST];
    double sum = 0.0, square = 0.0, mean[2] = {0.0};
    size_t used = (size_t)snprintf(text, sizeof text, "batch,x,y,action,reward,trip\n");
    rh_rng rng = rh_rng_stream(7, RH_STREAM_NOISE, 0, 0);
    for (int e = 0; e < EPISODES; e++) {
        double x = 0.0, total = 0.0;
        bool trip = false;
        for (int t = 0; t < STEPS && !trip; t++) {
            double z[2], reward;
            rh_rng_normal(&rng, z);
            trip = fabs(x + 0.3 * z[0]) > 3.3;
            reward = -1.0 - (trip ? 300.0 : 0.0);
            total += reward;
            bool gone[2] = {rh_rng_uniform(&rng) < 0.015, rh_rng_uniform(&rng) < 0.015};
            char shown[2][30];
            snprintf(shown[0], sizeof shown[0], "%.3f", x);
            snprintf(shown[1], sizeof shown[1], "%g", reward);
            used += (size_t)snprintf(text + used, sizeof text - used, "%d,%s,%.3f,%d,%s,%d\n",
                                     e, gone[0] ? "" : shown[0], z[1], t % 2,
                                     gone[1] && !trip ? "" : shown[1], trip);
            x += 0.3 * z[0];
        }
        sum += total;
        square += total * total;
    }
    double truth = sum / EPISODES;
    double error = sqrt((square / EPISODES - truth * truth) / EPISODES);
    for (int cut = 0; cut < 2; cut++) {
        rh_log_options opt = rh_log_defaults();
        opt.gaps = cut ? RH_GAPS_CUT : RH_GAPS_FILL;
        opt.episode = "batch";
        opt.terminal = "trip";
        rh_log *log = read_text(text, &opt);
        int n = 0;
        for (int e = 0; e < log->nepisode; e++) {
            bool whole = log->start[e] && (e + 1 == log->nepisode || log->start[e + 1]);
            for (int64_t t = log->first[e]; whole && t < log->first[e + 1]; t++)
                mean[cut] += log->reward[t];
            n += whole;
        }
        mean[cut] /= n;
        rh_log_destroy(log);
    }
    if (!(fabs(mean[0] - truth) < 4.0 * error))
        fail_msg("filled: %g, expected %g +- %g", mean[0], truth, 4.0 * error);
    if (fabs(mean[1] - truth) < 4.0 * error)
        fail_msg("cut: %g is near %g +- %g, so this test shows nothing", mean[1], truth,
                 4.0 * error);
}

// ---------------------------------------------------------------------------- sentinels

// 60 rows of a level from 1 to 2; `odd` in some of them.
static const char *level_with(const char *odd, const char *action, const char *reward)
{
    static char text[6000];
    size_t used = (size_t)snprintf(text, sizeof text, "level,flow,action,reward\n");
    for (int i = 0; i < 60; i++) {
        char level[20], act[4], cost[20];
        bool here = i % 20 == 7;
        snprintf(level, sizeof level, "%.2f", 1.5 + 0.5 * sin(0.7 * i));
        snprintf(act, sizeof act, "%d", i % 3);
        snprintf(cost, sizeof cost, "%.3f", -cos(0.3 * i));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s,%.3f,%s,%s\n",
                                 here && odd ? odd : level, 9990.0 + cos(1.3 * i),
                                 here && action ? action : act, here && reward ? reward : cost);
    }
    return text;
}

static void sentinels(void **unused)
{
    (void)unused;
    static const char *const taken[] = {"-9999", "32767", "-999", "-999.25", "1e30", "65535"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        rh_log *log = read_text(level_with(taken[i], NULL, NULL), NULL);
        assert_int_equal(log->reading.nsentinel, 3);
        assert_int_equal(log->reading.nfilled, 3);
        assert_true(has_note(log, "taken as missing values: level is"));
        for (int64_t k = 0; k < log->nstate; k++)
            assert_true(log->obs[k * log->nobs] >= 1.0 && log->obs[k * log->nobs] <= 2.0);
        rh_log_destroy(log);
    }

    // measurements, and what may be one
    static const char *const kept[] = {"0", "-1", "99", "3.5", "100"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        rh_log *log = read_text(level_with(kept[i], NULL, NULL), NULL);
        assert_int_equal(log->reading.nsentinel, 0);
        assert_null(log->reading.sentinels);
        rh_log_destroy(log);
    }

    // if the caller says so
    rh_log_options opt = as_it_is();
    rh_log *log = read_text(level_with("-9999", NULL, NULL), &opt);
    assert_true(log->reading.sentinels_kept);
    assert_true(log->obs[7 * log->nobs] == -9999.0);
    rh_log_destroy(log);

    // beside flows of 9990: 9999 is 9 away from these, but nothing to the level
    log = read_text(level_with("9999", NULL, NULL), NULL);
    assert_int_equal(log->reading.nsentinel, 3);
    rh_log_destroy(log);

    // in actions and rewards, which are then filled
    log = read_text(level_with(NULL, "-9999", NULL), NULL);
    assert_int_equal(log->naction, 3);
    assert_int_equal(log->reading.nsentinel, 3);
    rh_log_destroy(log);
    log = read_text(level_with(NULL, NULL, "-9999"), NULL);
    assert_int_equal(log->reading.nsentinel, 3);
    assert_int_equal(log->n, 59);
    for (int64_t t = 0; t < log->n; t++)
        assert_true(fabs(log->reward[t]) <= 1.0);
    rh_log_destroy(log);
}

// An ordinary value of another column is left alone.
static void plausible_elsewhere(void **unused)
{
    (void)unused;
    char text[6000] = "level,count,action,reward\n";
    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), 60, "%s,%d,%d,%d\n",
                 i == 7  ? "9999"
                 : i % 2 ? "1.5"
                         : "1.25",
                 9970 + i, i % 2, i % 5);
    rh_log *log = read_text(text, NULL);
    assert_int_equal(log->reading.nsentinel, 0);
    assert_true(log->obs[7 * log->nobs] == 9999.0);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- trips

static void trips(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.episode = "shift";
    rh_log *log =
        read_text("shift,x,trip,action,reward\n1,1.5,0,0,1\n1,2.5,0,1,1\n1,3.5,1,0,1\n"
                  "2,1.5,0,1,1\n2,2.5,0,0,1\n2,2.5,0,0,1\n",
                  &opt);
    assert_int_equal(log->nobs, 1);
    assert_int_equal(log->flag[2], RH_FLAG_TERMINAL);
    assert_true(has_note(log, "column trip is terminal"));
    rh_log_destroy(log);

    // a state that lasts is a sensor, and so is one that the caller leaves
    static const char lasting[] = "shift,x,fault,action,reward\n1,1.5,0,0,1\n1,2.5,1,1,1\n"
                                  "1,3.5,1,0,1\n2,1.5,0,1,1\n2,2.5,0,0,1\n";
    log = read_text(lasting, &opt);
    assert_int_equal(log->nobs, 2);
    rh_log_destroy(log);
    opt.terminal = "";
    log =
        read_text("shift,x,trip,action,reward\n1,1.5,0,0,1\n1,2.5,0,1,1\n1,3.5,1,0,1\n", &opt);
    assert_int_equal(log->nobs, 2);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- faults

static void without_memory(void **unused)
{
    (void)unused;
    char text[6000];
    snprintf(text, sizeof text, "%s", level_with("-9999", "32767", NULL));
    const char *path = in_folder("plant.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    int64_t live = rh_base__alloc_live();
    for (int n = 1;; n++) {
        rh_log *log = NULL;
        rh_error err = {""};
        rh_base__alloc_fail_at(n);
        rh_status rc = rh_log_read(&log, path, NULL, &err);
        rh_base__alloc_fail_at(0);
        rh_log_destroy(log);
        assert_int_equal(rh_base__alloc_live(), live);
        if (!rc)
            break;
        assert_int_equal(rc, RH_ENOMEM);
        assert_true(n < 10000);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_rests),
        cmocka_unit_test(how_long),
        cmocka_unit_test(rewards_and_actions),
        cmocka_unit_test(the_mean_return),
        cmocka_unit_test(sentinels),
        cmocka_unit_test(plausible_elsewhere),
        cmocka_unit_test(trips),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
