// test_today.c - is the chosen agent better than the logged controller, and how often does it
// fail: rates, intervals and answers of runs that are made up.

#include "model/model_sample.h"
#include "study/core.h"

#define NMEMBER 5
#define NRUN 4
#define EPISODE 10 // steps
#define LOGGED 40  // episodes

// A study whose only trial, its winner, is confirmed, with runs of 1,000 steps.
typedef struct sample {
    rh_study study;
    rh_plan plan;
    rh_log *log;
    rh_model *model;
    rh_trial trial;
    rh_result result[NMEMBER * NRUN];
} sample;

// nfail of the log's episodes end with a penalty; steps cost 1.
static void begin(sample *s, int nfail)
{
    static walk w[LOGGED * EPISODE];
    for (int i = 0; i < LOGGED * EPISODE; i++) {
        bool last = i % EPISODE == EPISODE - 1;
        w[i] = (walk){.s = i % EPISODE,
                      .act = i % 2,
                      .reward = last && i / EPISODE < nfail ? -21.0 : -1.0,
                      .next = (i + 1) % EPISODE,
                      .flag = last ? ENDS : 0,
                      .begins = i % EPISODE == 0};
    }
    memset(s, 0, sizeof *s);
    s->log = log_of(w, LOGGED * EPISODE, 2);
    rh_repr *repr = plain_repr(s->log, false);
    rh_model_options opt = rh_model_defaults();
    rh_error err = {""};
    opt.fidelity = false;
    if (rh_model_fit(&s->model, &rh_model_knn, s->log, repr, &opt, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    rh_study *study = &s->study;
    study->plan = &s->plan;
    study->log = s->log;
    study->members[RH_STAGE_SEARCH].model[0] = s->model;
    study->members[RH_STAGE_SEARCH].nkind = 1;
    study->eval = rh_eval_defaults(rh_model_task(s->model));
    study->eval.nstep = 1000;
    study->eval.cutoff = 1000;
    s->trial = (rh_trial){.confirm = true,
                          .nmember = NMEMBER,
                          .nrun = NRUN,
                          .nkind = 1,
                          .result = s->result,
                          .value = -15.0,
                          .lo95 = -16.0,
                          .hi95 = -14.0};
    study->verdict = (rh_verdict){.trial = &s->trial, .ntrial = 1, .nconfirm = 1};
    study->verdict.finished = true;
}

static void end(sample *s)
{
    rh_model_destroy(s->model);
    rh_log_destroy(s->log);
}

// All runs have 100 episodes, 10 of them in each tenth, and `last` at the end; every member
// fails `nfail` times in a run, one more in every second one.
static const rh_verdict *judge(sample *s, int nfail, double last, int64_t caught_up)
{
    for (int i = 0; i < NMEMBER * NRUN; i++)
        s->result[i] = (rh_result){.score = -15.0,
                                   .nstep = 1000,
                                   .nepisode = 100,
                                   .nepisode_first = 10,
                                   .nepisode_last = 10,
                                   .nfailure = nfail + (nfail && i / NRUN % 2),
                                   .nfailure_first = nfail / 10,
                                   .last = last,
                                   .caught_up = i % 4 ? caught_up : 0};
    assert_int_equal(rh_study__find_logged(&s->study, NULL), RH_OK);
    s->study.verdict.logged = s->study.logged;
    assert_int_equal(rh_study__answer(&s->study), RH_OK);
    return &s->study.verdict;
}

static void failures(void **unused)
{
    (void)unused;
    static const struct {
        int logged, own; // of 40 and of 100
        rh_often often;
    } known[] = {{10, 25, RH_OFTEN_SAME}, // Wilson: 14.2 to 40.2 %
                 {10, 0, RH_OFTEN_LESS},
                 {10, 45, RH_OFTEN_MORE},
                 {10, 70, RH_OFTEN_FAR},
                 {1, 40, RH_OFTEN_FAR}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        sample s;
        begin(&s, known[k].logged);
        const rh_failing *f = &judge(&s, known[k].own, -15.0, 0)->failing;
        assert_true(f->rule->known && f->rule->below < -1.0 && f->rule->below > -21.0);
        assert_false(f->per_steps);
        assert_int_equal(f->logged.n, known[k].logged);
        assert_int_equal(f->logged.of, LOGGED);
        assert_int_equal(f->all.of, 100 * NMEMBER * NRUN);
        double own = known[k].own ? (known[k].own + 0.4) / 100.0 : 0.0; // 2 of 5 members
        assert_true(fabs(f->all.rate - own) < 1e-12);
        assert_true(f->all.lo95 <= own && f->all.hi95 > own);
        assert_true(f->last.rate == 0.0 && f->last.hi95 > 0.0);
        assert_int_equal(f->often, known[k].often);
        assert_non_null(strstr(f->text, "in the log ("));
        end(&s);
    }
    sample s;
    begin(&s, 10); // 10 of 40, by R's binom.wilson: 0.1418658 to 0.4019396
    const rh_failing *f = &judge(&s, 25, -15.0, 0)->failing;
    assert_true(fabs(f->logged.lo95 - 0.1418658) < 1e-4);
    assert_true(fabs(f->logged.hi95 - 0.4019396) < 1e-4);
    end(&s);
    begin(&s, 0); // a log whose ends are goals
    const rh_verdict *v = judge(&s, 0, -9.0, 0);
    assert_false(v->failing.rule->known);
    assert_int_equal(v->failing.often, RH_OFTEN_UNKNOWN);
    assert_true(strncmp(v->failing.text, "Not known: no end of an episode", 31) == 0);
    end(&s);
}

// The logged controller has -15: 10 steps at -1, and 20 for a failure in every fourth episode.
static void better(void **unused)
{
    (void)unused;
    static const struct {
        double last;
        rh_answer better;
        const char *text;
    } known[] = {{-13.9, RH_ANSWER_YES, "Yes: -13.9 per episode at the end of a run, -15 by"},
                 {-14.1, RH_ANSWER_UNKNOWN, "Not known: -14.1 per episode at the end of a run"},
                 {-16.1, RH_ANSWER_NO, "No: -16.1 per episode at the end of a run, -15 by"}};
    sample s;
    begin(&s, 10);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const rh_today *t = &judge(&s, 25, known[k].last, 300)->today;
        assert_true(t->learning.score == -15.0 && t->learning.lo95 == -16.0);
        assert_true(fabs(t->end.score - known[k].last) < 1e-9);
        assert_true(fabs(t->end.lo95 - (known[k].last - 1.0)) < 1e-9); // as wide as the run's
        assert_int_equal(t->better, known[k].better);
        if (strncmp(t->text, known[k].text, strlen(known[k].text)) != 0)
            fail_msg("%s", t->text);
        assert_true(t->caught_up == 0.75); // and so has the median run
        assert_int_equal(t->catch_up, 300);
        assert_non_null(strstr(t->text, "Learning has paid for itself after 300 steps."));
    }
    assert_true(fabs(s.study.eval.today + 15.0) < 1e-9);
    assert_int_equal(judge(&s, 25, -13.0, 0)->today.catch_up, 0);
    assert_non_null(strstr(s.study.verdict.today.text, "learning has not paid for itself"));

    // by its reward only
    assert_true(strncmp(judge(&s, 70, -13.0, 0)->today.text, "By its reward, yes: ", 20) == 0);

    // no episode at the end; an unconfirmed score
    assert_int_equal(judge(&s, 25, NAN, 0)->today.better, RH_ANSWER_UNKNOWN);
    s.trial.confirm = false;
    assert_int_equal(judge(&s, 25, -13.0, 0)->today.better, RH_ANSWER_UNKNOWN);
    assert_non_null(strstr(s.study.verdict.today.text, "unconfirmed"));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures),
        cmocka_unit_test(better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
