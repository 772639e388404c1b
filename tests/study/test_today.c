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
    rh_check check[2]; // other models agree
    double score[2];
    int setting;
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

static void answer(rh_study *study)
{
    rh_study__claim(study);
    rh_study__settle(study);
    assert_int_equal(rh_study__answer(study), RH_OK);
}

// All runs have 100 episodes, 10 of them in each tenth, and `last` at the end; every member
// fails `nfail` times in a run, one more in every second one.
static const rh_verdict *judge(sample *s, int nfail, double last, int64_t caught_up)
{
    for (int i = 0; i < NMEMBER * NRUN; i++)
        s->result[i] = (rh_result){.score = s->trial.value + (i / NRUN % 2 ? 0.3 : -0.2),
                                   .nstep = 1000,
                                   .nepisode = 100,
                                   .nepisode_first = 10,
                                   .nepisode_last = 10,
                                   .nfailure = nfail + (nfail && i / NRUN % 2),
                                   .nfailure_first = nfail / 10,
                                   .last = last,
                                   .caught_up = i % 4 ? caught_up : 0};
    for (int c = 0; c < 2; c++) {
        s->score[c] = s->trial.value + 0.1 - 0.2 * c;
        s->check[c] = (rh_check){"", &s->score[c], 1};
    }
    s->study.verdict.check =
        (rh_checks){.model = s->check, .nmodel = 2, .setting = &s->setting, .nsetting = 1};
    assert_int_equal(rh_study__find_logged(&s->study, NULL), RH_OK);
    s->study.verdict.logged = s->study.logged;
    answer(&s->study);
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
        assert_true(f->rule->known);
        assert_true(f->rule->below < -1.0);
        assert_true(f->rule->below > -21.0);
        assert_false(f->per_steps);
        assert_int_equal(f->logged.n, known[k].logged);
        assert_int_equal(f->logged.of, LOGGED);
        assert_int_equal(f->all.of, 100 * NMEMBER * NRUN);
        double own = known[k].own ? (known[k].own + 0.4) / 100.0 : 0.0; // 2 of 5 members
        assert_true(fabs(f->all.rate - own) < 1e-12);
        assert_true(f->all.lo95 <= own);
        assert_true(f->all.hi95 > own);
        assert_true(f->last.rate == 0.0);
        assert_true(f->last.hi95 > 0.0);
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
        double score;
        rh_answer better;
        const char *text;
    } known[] = {{-5.0, RH_ANSWER_YES,
                  "Yes: -5 per episode over a whole run (-13.9 at its end), -15 by"},
                 {-14.8, RH_ANSWER_UNKNOWN, "Probably: -14.8 per episode over a whole run"},
                 {-15.0, RH_ANSWER_UNKNOWN, "Not known: -15 per episode over a whole run"},
                 {-15.1, RH_ANSWER_UNKNOWN, "Probably not: -15.1 per episode over a whole run"},
                 {-25.0, RH_ANSWER_NO, "No: -25 per episode over a whole run"}};
    sample s;
    begin(&s, 10);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        s.trial.value = known[k].score;
        s.trial.lo95 = known[k].score - 1.0;
        s.trial.hi95 = known[k].score + 1.0;
        const rh_today *t = &judge(&s, 25, -13.9, 300)->today;
        assert_true(t->learning.score == known[k].score);
        assert_true(fabs(t->end.score + 13.9) < 1e-9);
        assert_true(fabs(t->end.lo95 + 14.9) < 1e-9); // as wide as the run's
        assert_int_equal(t->better, known[k].better);
        if (strncmp(t->text, known[k].text, strlen(known[k].text)) != 0)
            fail_msg("%s", t->text);
        bool keep = strstr(t->text, "Keep the controller you have.") != NULL;
        assert_int_equal(keep, known[k].score <= -15.1);
        assert_true(t->caught_up == 0.75); // and so has the median run
        assert_int_equal(t->catch_up, 300);
        assert_non_null(strstr(t->text, "Learning has paid for itself after 300 steps."));
    }
    assert_true(fabs(s.study.eval.today + 15.0) < 1e-9);
    assert_int_equal(judge(&s, 25, -13.0, 0)->today.catch_up, 0);
    assert_non_null(strstr(s.study.verdict.today.text, "learning has not paid for itself"));

    // by its reward only
    s.trial.value = -5.0;
    assert_true(strncmp(judge(&s, 70, -13.0, 0)->today.text, "By its reward, yes: ", 20) == 0);

    // no episode at the end; an unconfirmed score
    assert_int_equal(judge(&s, 25, NAN, 0)->today.better, RH_ANSWER_YES);
    assert_null(strstr(s.study.verdict.today.text, "at its end"));
    s.trial.confirm = false;
    assert_int_equal(judge(&s, 25, -13.0, 0)->today.better, RH_ANSWER_UNKNOWN);
    assert_non_null(strstr(s.study.verdict.today.text, "unconfirmed"));
    end(&s);
}

static void how_well_a_clone_imitates(void **unused)
{
    (void)unused;
    rh_clone__quality q = {.nheld = 100, .agreement = 0.6, .constant = 0.51};
    rh_imitation i = rh_study__imitation_of(&q, 3, 1);
    assert_true(i.poor); // 9 of the 49 % that are left
    assert_string_equal(i.text, "takes the logged action in 60 % of 100 held-out steps; the "
                                "most frequent action is right in 51 %");
    q.agreement = 0.62;
    assert_false(rh_study__imitation_of(&q, 3, 1).poor);
    q.agreement = q.constant = 1.0; // always the same action
    assert_false(rh_study__imitation_of(&q, 3, 1).poor);
    q = (rh_clone__quality){
        .nheld = 100, .spread = {0.1, 0.4, 0.3}, .sd = {1.0, 0.5, 1.0}, .constant = NAN};
    i = rh_study__imitation_of(&q, 0, 3); // of the worst number
    assert_true(fabs(i.error - 0.8) < 1e-12 && isnan(i.constant) && !i.poor);
    assert_string_equal(i.text,
                        "errs by 0.80 standard deviations of the action in 100 held-out "
                        "steps; the best constant action by 1");
    q.sd[1] = 0.44;
    assert_true(rh_study__imitation_of(&q, 0, 3).poor);
    q.nheld = 0;
    assert_false(rh_study__imitation_of(&q, 0, 3).poor);
}

// Errors that agent and clone share cancel: the advantage is by paired runs.
static void beside_a_clone(void **unused)
{
    (void)unused;
    sample s;
    rh_trial trial[2];
    rh_result copy[NMEMBER * NRUN] = {0};
    begin(&s, 10);
    s.plan.agents.type[0] = rh_agent_find("dqn", NULL);
    s.plan.agents.type[1] = rh_agent_find("clone", NULL);
    s.plan.agents.n = 2;
    s.study.head.start.n = 1;
    s.trial.value = -12.0;
    trial[0] = trial[1] = s.trial;
    trial[1].agent = trial[1].setting = 1;
    trial[1].value = -16.0;
    trial[1].result = copy;
    s.study.verdict.trial = trial;
    s.study.verdict.ntrial = s.study.verdict.nconfirm = 2;
    judge(&s, 25, -14.1, 300);
    static const double score[2][2] = {{-2.0, -5.9}, {-22.0, -26.1}}; // of both settings
    static const int setting[2] = {0, 1};
    s.check[0].score = score[0];
    s.check[1].score = score[1];
    s.study.verdict.check.setting = setting;
    s.study.verdict.check.nsetting = 2;
    for (int i = 0; i < NMEMBER * NRUN; i++) { // models differ much, the difference does not
        s.result[i].score += 6.0 * (i / NRUN - 2);
        copy[i] = s.result[i];
        copy[i].score -= 4.0;
    }
    const rh_verdict *v = &s.study.verdict;
    const rh_claim *claim = &v->trust.claim[RH_CLAIM_BETTER];
    assert_int_equal(rh_study__clone(&s.study), 1);

    // the log knows its controller well, 3 below the agent, and the clone is 4 below: the
    // smaller counts, and beside the log the models differ
    s.study.verdict.logged = (rh_reference){-15.0, -15.0, -15.0};
    answer(&s.study);
    double beside_log = claim->probability;
    assert_true(beside_log > 0.5);
    assert_true(beside_log < 0.9);
    s.study.verdict.logged = (rh_reference){-60.0, -60.0, -60.0}; // now the clone counts
    answer(&s.study);
    assert_true(claim->probability > 0.99);
    assert_int_equal(v->today.better, RH_ANSWER_YES);
    assert_true(v->today.clone.score == -16.0);
    s.study.verdict.winner = 1; // what excludes a level took it away
    assert_int_equal(rh_study__answer(&s.study), RH_OK);
    assert_int_equal(v->today.better, RH_ANSWER_UNKNOWN);
    if (strncmp(v->today.text, "Probably, but not trusted (below): -12 per episode", 50) != 0)
        fail_msg("%s", v->today.text);

    // it was the best of several, by as much as it is better
    s.study.verdict.selected = 4.0;
    answer(&s.study);
    assert_true(fabs(claim->probability - 0.5) < 1e-9);
    assert_int_equal(v->today.better, RH_ANSWER_UNKNOWN);
    s.study.verdict.selected = 0.0;
    double last = 1.0; // what is lost elsewhere is less certain
    for (double lost = 0.0; lost < 20.0; lost += 2.0) {
        s.study.verdict.transfer.lost = lost;
        answer(&s.study);
        assert_true(claim->probability < last);
        assert_true(claim->probability > 0.5);
        last = claim->probability;
    }
    assert_int_equal(v->winner, 0);

    // it is probably not better: the clone is the winner, and the claim is about the agent
    s.study.verdict.transfer.lost = 4.0;
    s.study.verdict.selected = 6.0;
    answer(&s.study);
    assert_int_equal(v->winner, 1);
    assert_int_equal(v->candidate, 0);
    assert_true(claim->probability < 0.4);
    assert_int_equal(v->today.better, RH_ANSWER_NO);
    if (strncmp(v->today.text, "Probably not: -12 per episode", 29) != 0)
        fail_msg("%s", v->today.text);
    assert_non_null(strstr(v->today.text, "-16 by a clone"));
    assert_non_null(strstr(v->failing.text, " of episodes by its clone, 25 % of episodes in"));
    assert_non_null(strstr(v->today.text, "Keep the controller you have, not its clone."));
    s.study.verdict.imitation.poor = true;
    answer(&s.study);
    assert_non_null(strstr(v->today.text, "-16 by a poor clone"));
    assert_non_null(strstr(v->failing.text, " of episodes by its poor clone, 25 % of"));

    // a poor clone scores little: the log counts
    for (int i = 0; i < NMEMBER * NRUN; i++)
        copy[i].score -= 1000.0;
    s.study.verdict.logged = (rh_reference){-12.0, -12.0, -12.0};
    answer(&s.study);
    assert_true(claim->probability < 0.4);
    for (int i = 0; i < NMEMBER * NRUN; i++)
        copy[i].score += 1000.0;
    s.study.verdict.imitation.poor = false;

    // not known whether it is better than the controller: it has to beat the clone
    s.study.work = rh_alloc(rh_value__nwork(NMEMBER, NRUN), sizeof *s.study.work);
    assert_non_null(s.study.work);
    s.study.eval.today = NAN;
    const rh_kind_score kind[2] = {{.value = -12.0}, {.value = -16.0}};
    trial[0].kind = &kind[0];
    trial[1].kind = &kind[1];
    answer(&s.study);
    assert_true(isnan(claim->probability));
    assert_int_equal(v->winner, 0);
    s.study.verdict.imitation.poor = true; // to beat a poor one is nothing
    answer(&s.study);
    assert_int_equal(v->winner, 1);
    s.study.verdict.imitation.poor = false;
    for (int i = 0; i < NMEMBER * NRUN; i++) // in two of five members the clone is better
        copy[i].score += i / NRUN % 2 ? 8.0 : 0.0;
    answer(&s.study);
    assert_int_equal(v->winner, 1);

    s.study.verdict.candidate = -1; // no agent can be deployed
    answer(&s.study);
    assert_true(isnan(claim->probability));
    assert_int_equal(v->today.better, RH_ANSWER_NO);
    assert_non_null(strstr(v->today.text, "Keep the controller you have."));
    rh_free(s.study.work);
    end(&s);
}

// By hand. Five members at D - 2 .. D + 2: within is 2.5 / 5 = 0.5. The kind is at D, and
// models of the check are at D - 1 and D + 1: between is 1. The margin is D / sqrt(1.5), and
// P(T <= 0.5) is 0.6783 for 4 degrees of freedom.
static void members_and_models_differ(void **unused)
{
    (void)unused;
    sample s;
    begin(&s, 10);
    judge(&s, 25, -14.1, 300);
    const rh_trust *t = &s.study.verdict.trust;
    const double sd = sqrt(1.5), mean = -15.0 + 0.5 * sd;
    for (int i = 0; i < NMEMBER * NRUN; i++)
        s.result[i].score = mean + (i / NRUN - 2);
    s.score[0] = mean - 1.0;
    s.score[1] = mean + 1.0;
    answer(&s.study);
    assert_true(fabs(t->advantage.score - 0.5 * sd) < 1e-9);
    assert_true(fabs(t->advantage.within - sqrt(0.5)) < 1e-9);
    assert_true(fabs(t->advantage.between - 1.0) < 1e-9);
    assert_true(fabs(t->margin - 0.5) < 1e-9);
    assert_true(fabs(t->claim[RH_CLAIM_BETTER].probability - 0.6783) < 1e-4);

    // the interval reaches as far: 1.5 standard deviations, but no cost is a gain
    s.study.trial = &s.trial;
    rh_study__allow_for_advantage(&s.study);
    assert_true(fabs(s.trial.lo95 - (s.trial.value - 1.5 * sd)) < 1e-9);
    assert_true(fabs(s.trial.hi95 - (s.trial.value + 1.5 * sd)) < 1e-9);
    s.trial.value = -1.0;
    rh_study__allow_for_advantage(&s.study);
    assert_true(s.trial.hi95 == 0.0);
    double was = s.trial.lo95; // it never becomes narrower
    s.trial.value = -15.0;
    rh_study__allow_for_advantage(&s.study);
    assert_true(s.trial.lo95 == was);

    // one model alone: an advantage is no more certain than itself
    s.study.verdict.check.nmodel = 0;
    answer(&s.study);
    assert_true(fabs(t->advantage.between - 0.5 * sd) < 1e-9);
    end(&s);
}

// The claim is about the most failures that fit the log.
static void claimed_failures(void **unused)
{
    (void)unused;
    static const struct {
        int logged, own; // of 40 and of 100
        double lo, hi;   // of the probability
    } known[] = {
        {10, 0, 0.999, 1.0}, {10, 25, 0.99, 1.0}, {10, 39, 0.5, 0.99}, {10, 70, 0.0, 0.01}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        sample s;
        begin(&s, known[k].logged);
        const rh_claim *c = &judge(&s, known[k].own, -15.0, 0)->trust.claim[RH_CLAIM_FAILURES];
        if (!(c->probability >= known[k].lo && c->probability <= known[k].hi))
            fail_msg("%d of 100: %g", known[k].own, c->probability);
        assert_true(fabs(c->limit - 0.4019396) < 1e-4); // Wilson, as above
        assert_non_null(strstr(c->text, "at most 40.2 % of episodes"));
        end(&s);
    }
    sample s;
    begin(&s, 0);
    assert_true(isnan(judge(&s, 0, -9.0, 0)->trust.claim[RH_CLAIM_FAILURES].probability));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures),
        cmocka_unit_test(better),
        cmocka_unit_test(how_well_a_clone_imitates),
        cmocka_unit_test(beside_a_clone),
        cmocka_unit_test(members_and_models_differ),
        cmocka_unit_test(claimed_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
