// test_crossfit.c - how much the best of several settings is overrated.

#include "model/model_sample.h"
#include "study/core.h"

#include <math.h>

#define MOST 8 // settings
#define NMEMBER 4
#define NRUN 2

typedef struct sample {
    rh_study study;
    rh_plan plan;
    rh_trial trial[MOST];
    rh_result result[MOST][NMEMBER * NRUN];
} sample;

// n confirmed settings of an agent; every run of setting i in member m scores score[i][m].
static void begin(sample *s, int n, const double score[][NMEMBER])
{
    memset(s, 0, sizeof *s);
    s->study.plan = &s->plan;
    s->plan.agents.type[0] = rh_agent_find("dqn", NULL);
    s->plan.agents.type[1] = rh_agent_find("clone", NULL);
    s->plan.agents.n = 2;
    s->study.head.start.n = 1;
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int m = 0; m < NMEMBER; m++) {
            sum += score[i][m];
            for (int r = 0; r < NRUN; r++) // runs differ, their mean is the score
                s->result[i][m * NRUN + r].score = score[i][m] + (r ? 1.0 : -1.0);
        }
        s->trial[i] = (rh_trial){.setting = i,
                                 .confirm = true,
                                 .nkind = 1,
                                 .nmember = NMEMBER,
                                 .nrun = NRUN,
                                 .result = s->result[i],
                                 .value = sum / NMEMBER};
    }
    s->study.verdict =
        (rh_verdict){.finished = true, .trial = s->trial, .ntrial = n, .nconfirm = n};
}

static void by_hand(void **unused)
{
    (void)unused;

    static const double score[3][NMEMBER] = {
        {12.0, 6.0, 6.0, 6.0}, {2.0, 7.0, 6.0, 8.0}, {-90.0, -90.0, -90.0, -90.0}};
    sample s;
    begin(&s, 3, score);
    // left out 0: second, 7 - 2; 1: first, 8 - 6; 2: first, 8 - 6; 3: first, 8 - 6
    assert_true(fabs(rh_study__overrated(&s.study) - (5.0 + 2.0 + 2.0 + 2.0) / 4.0) < 1e-12);

    // a clone of the controller is not among what is chosen from
    s.trial[1].agent = 1;
    assert_true(rh_study__overrated(&s.study) < 1e-12);
    s.study.verdict.winner = 1; // and if it is chosen, it is not for its score
    assert_true(rh_study__overrated(&s.study) == 0.0);
    s.study.verdict.winner = 0;
    s.trial[1].agent = 0;

    s.study.verdict.finished = false; // runs may be missing
    assert_true(rh_study__overrated(&s.study) == 0.0);
    s.study.verdict.finished = true;
    for (int i = 0; i < 3; i++) // all in one member
        s.trial[i].nmember = 1;
    assert_true(rh_study__overrated(&s.study) == 0.0);
}

static void one_setting_is_no_choice(void **unused)
{
    (void)unused;
    static const double score[2][NMEMBER] = {{1.0, 5.0, 2.0, 9.0}, {0.0, 4.0, 1.0, 8.0}};
    sample s;
    begin(&s, 1, score);
    assert_true(rh_study__overrated(&s.study) == 0.0);
    begin(&s, 2, score); // always the first; what members differ in cancels
    assert_true(rh_study__overrated(&s.study) < 1e-12);
}

// Of equally good settings the best is overrated by its noise; without it the promise is right.
static void the_promise_is_right_on_average(void **unused)
{
    (void)unused;
    enum { DRAWS = 4000 };
    rh_rng rng = rh_rng_stream(5, RH_STREAM_NOISE, 0, 0);
    double promised = 0.0, corrected = 0.0, square = 0.0;
    for (int draw = 0; draw < DRAWS; draw++) {
        static sample s;
        double score[MOST][NMEMBER], best = -INFINITY;
        for (int i = 0; i < MOST; i++)
            for (int m = 0; m < NMEMBER; m += 2)
                rh_rng_normal(&rng, &score[i][m]);
        begin(&s, MOST, (const double(*)[NMEMBER])score);
        for (int i = 0; i < MOST; i++)
            best = fmax(best, s.trial[i].value);
        double right = best - rh_study__overrated(&s.study);
        promised += best / DRAWS;
        corrected += right / DRAWS;
        square += right * right / DRAWS;
    }
    double error = sqrt(square / DRAWS);
    assert_true(promised > 0.6); // the truth is 0; the greatest of 8 normal means: 1.42 / 2
    // decision 1: a member less is noisier, and where the estimate is negative it is not used
    if (!(fabs(corrected) < 0.15 + 3.0 * error))
        fail_msg("promised %g, corrected %g, standard error %g", promised, corrected, error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(one_setting_is_no_choice),
        cmocka_unit_test(the_promise_is_right_on_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
