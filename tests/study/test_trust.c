// test_trust.c - from evidence to a level, a probability and reasons.

#include "model/model_sample.h"
#include "study/core.h"
#include "study/evidence.h"
#include "study/study.h"
#include "study/study_internal.h"
#include "study/trust.h"

#include <math.h>

static const rh_check check[1];
static const rh_trial winner[1] = {{.confirm = true, .nmember = 5, .nrun = 10}};

// A verdict with evidence that speaks for the choice.
static rh_verdict sound(void)
{
    static const char *const name[RH_NEVIDENCE] = {
        "separated", "noise",    "rival",    "parts",     "halves",   "variants", "order",
        "kinds",     "coverage", "replay",   "imitation", "beyond",   "rare",     "bounds",
        "data",      "errors",   "leader",   "warnings",  "unproven", "transfer", "overall",
        "length",    "margin",   "selected", "unlogged",  "beside",   "shown"};
    static const double value[RH_NEVIDENCE] = {1.0, 0.01, 0.0, 0.0, 0.0, 0.0, 0.95, 0.0, 0.0,
                                               0.2, 0.1,  0.0, 0.0, 0.0, 8.0, 0.0,  0.0, 0.0,
                                               0.0, 0.0,  0.0, 0.0, 3.0, 0.0, 0.0,  1.0, 1.0};
    rh_verdict v = {.finished = true,
                    .check = {.model = check, .nmodel = 1},
                    .trial = winner,
                    .ntrial = 1,
                    .nconfirm = 1,
                    .logged = {.score = -10.0},
                    .today = {.better = RH_ANSWER_YES}};
    v.trust.claim[RH_CLAIM_BETTER] = (rh_claim){"better", 0.97, -10.0, "it is better"};
    v.trust.claim[RH_CLAIM_FAILURES] = (rh_claim){"failures", 0.98, 0.1, "it fails seldom"};
    v.trust.claim[RH_CLAIM_BEST] = (rh_claim){"best", NAN, 0.25, ""};
    for (int i = 0; i < RH_NEVIDENCE; i++)
        v.trust.evidence[i] = (rh_evidence){name[i], "", value[i]};
    return v;
}

// Evidence that speaks against it.
static rh_verdict doubtful(void)
{
    static const double value[RH_NEVIDENCE] = {0.2, 0.6, 0.7, 0.5, 0.8,  0.7, 0.1, 0.9, 0.4,
                                               1.1, 0.9, 3.0, 0.2, 1.0,  1.0, 0.0, 0.5, 3.0,
                                               1.0, 0.8, 0.4, 2.0, -1.0, 0.5, 0.5, 4.0, 0.1};
    rh_verdict v = sound();
    v.trust.claim[RH_CLAIM_BETTER].probability = 0.2;
    v.today.better = RH_ANSWER_UNKNOWN;
    for (int i = 0; i < RH_NEVIDENCE; i++)
        v.trust.evidence[i].value = value[i];
    return v;
}

static double best_of(const rh_verdict *v)
{
    return v->trust.claim[RH_CLAIM_BEST].probability;
}

static bool says(const rh_verdict *v, const char *id, bool good)
{
    for (int i = 0; i < v->trust.nreason; i++)
        if (strcmp(v->trust.reason[i].id, id) == 0 && v->trust.reason[i].good == good)
            return true;
    return false;
}

static void sound_evidence_is_trusted(void **unused)
{
    (void)unused;
    rh_verdict v = sound();
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_HIGH);
    assert_int_equal(v.trust.decision, RH_DECISION_DEPLOY);
    assert_true(v.trust.probability == 0.97);
    assert_true(best_of(&v) > 0.9);
    assert_true(best_of(&v) < 1.0);
    assert_string_equal(
        v.trust.text, "High: 97 % sure that it is better, 98 % that it fails seldom, more than "
                      "99 % that no other setting is better by more than 0.25.");
    assert_true(says(&v, "halves", true));
    assert_true(says(&v, "rival", true));
    for (int i = 0; i < v.trust.nreason; i++)
        assert_true(v.trust.reason[i].good);
    assert_false(says(&v, "limit-unseen", false));
    v.limiting.n = 2; // the log has ten of one limit, and four of another
    v.limiting.of[0] = (rh_limited){.limit = {.event = "trip"}, .logged = {.n = 10, .of = 99}};
    v.limiting.of[1] = (rh_limited){.limit = {.event = "T > 9"}, .logged = {.n = 4, .of = 99}};
    rh_trust__judge(&v, NULL);
    assert_true(says(&v, "limit-unseen", false));
    assert_string_equal(v.trust.reason[0].text,
                        "the log has T > 9 only 4 times, so models may have it too seldom: "
                        "begin with a blend (deploy)");
}

static void doubtful_evidence_is_not(void **unused)
{
    (void)unused;
    rh_verdict v = doubtful();
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_CANNOT);
    assert_int_equal(v.trust.decision, RH_DECISION_LOG);
    assert_true(v.trust.probability == 0.2);
    assert_string_equal(
        v.trust.text,
        "No: this log cannot say whether to deploy the agent: 20 % sure that it is better.");
    assert_true(best_of(&v) > 0.0);
    assert_true(best_of(&v) < 0.3);
    static const char *const against[] = {
        "separated", "rival", "halves", "variants", "order",  "kinds", "coverage",
        "replay",    "rare",  "data",   "unlogged", "beside", "shown"};
    for (size_t i = 0; i < sizeof against / sizeof *against; i++)
        assert_true(says(&v, against[i], false));
    for (int i = 0; i < v.trust.nreason; i++)
        if (strcmp(v.trust.reason[i].id, "rival") == 0)
            assert_non_null(strstr(v.trust.reason[i].text,
                                   "add runs to this study, --confirm-runs "
                                   "40"));
}

// Worse evidence never raises the probability, and evidence beyond the data of the fit does not
// change it further.
static void worse_evidence_is_not_trusted_more(void **unused)
{
    (void)unused;
    rh_verdict good = sound(), bad = doubtful();
    for (int i = 0; i < RH_NEVIDENCE; i++) {
        double last = 1.0;
        for (int k = 0; k <= 10; k++) {
            rh_verdict v = sound();
            double a = good.trust.evidence[i].value, b = bad.trust.evidence[i].value;
            v.trust.evidence[i].value = a + (b - a) * k / 10.0;
            rh_trust__judge(&v, NULL);
            assert_true(best_of(&v) <= last);
            last = best_of(&v);
        }
        rh_verdict far = doubtful(), farther = doubtful();
        double step = bad.trust.evidence[i].value > good.trust.evidence[i].value ? 1e6 : -1e6;
        far.trust.evidence[i].value += step;
        farther.trust.evidence[i].value += 2.0 * step;
        rh_trust__judge(&far, NULL);
        rh_trust__judge(&farther, NULL);
        assert_true(best_of(&far) == best_of(&farther));
    }
}

// Whatever the rest says, a choice is doubtful where another setting may be better, or where
// the answer depends on the model. A model that is not known to be true bounds the level.
static void one_fundamental_doubt_is_enough(void **unused)
{
    (void)unused;
    static const struct {
        rh_evidence__name name;
        double good, bad;
        rh_trust_level most;
    } doubt[] = {{RH_EVIDENCE_RIVAL, 0.09, 0.11, RH_TRUST_HIGH},
                 {RH_EVIDENCE_HALVES, 0.09, 0.11, RH_TRUST_HIGH},
                 {RH_EVIDENCE_VARIANTS, 0.09, 0.11, RH_TRUST_HIGH},
                 {RH_EVIDENCE_REPLAY, 0.79, 0.81, RH_TRUST_MEDIUM},
                 {RH_EVIDENCE_REPLAY, 0.79, 1.01, RH_TRUST_LOW},
                 {RH_EVIDENCE_UNPROVEN, 0.0, 1.0, RH_TRUST_MEDIUM}};
    for (size_t i = 0; i < sizeof doubt / sizeof *doubt; i++) {
        rh_verdict good = sound(), bad = sound();
        good.trust.evidence[doubt[i].name].value = doubt[i].good;
        bad.trust.evidence[doubt[i].name].value = doubt[i].bad;
        rh_trust__judge(&good, NULL);
        rh_trust__judge(&bad, NULL);
        assert_int_equal(good.trust.level, RH_TRUST_HIGH);
        assert_int_equal(bad.trust.level, doubt[i].most);
        assert_true(best_of(&bad) == 0.75);
        assert_true(bad.trust.probability == 0.97); // another fact
        assert_true(says(&bad, bad.trust.evidence[doubt[i].name].name, false));
    }
}

// Up to 5 % other models agree, above 10 % they do not; in between nothing is said.
static void other_models_speak_at_5_and_10_percent(void **unused)
{
    (void)unused;
    static const rh_evidence__name name[] = {RH_EVIDENCE_HALVES, RH_EVIDENCE_VARIANTS};
    static const struct {
        double value;
        bool good, bad;
    } at[] = {
        {0.05, true, false}, {0.06, false, false}, {0.1, false, false}, {0.104, false, true}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            rh_verdict v = sound();
            v.trust.evidence[name[i]].value = at[k].value;
            rh_trust__judge(&v, NULL);
            const char *id = v.trust.evidence[name[i]].name;
            assert_int_equal(says(&v, id, true), at[k].good);
            assert_int_equal(says(&v, id, false), at[k].bad);
            assert_int_equal(v.trust.level, RH_TRUST_HIGH); // it is about the choice
            for (int r = 0; r < v.trust.nreason; r++)
                if (strcmp(v.trust.reason[r].id, id) == 0 && at[k].bad)
                    assert_non_null(strstr(v.trust.reason[r].text, ", by 10 % of what tuning"));
        }
}

// An agent that fails more often than the log, or is no better, is not trusted, however sure
// the choice among its settings is.
static void an_agent_that_fails_is_not_trusted(void **unused)
{
    (void)unused;
    static const struct {
        rh_finding_id id;
        rh_severity severity;
        rh_trust_level most;
    } bound[] = {{RH_FINDING_FAILS_MORE, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_FAILS_MORE, RH_ERROR, RH_TRUST_LOW},
                 {RH_FINDING_NOT_BETTER, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_LIKE_RANDOM, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_TOO_GOOD, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_TOO_GOOD, RH_ERROR, RH_TRUST_LOW},
                 {RH_FINDING_TOO_EASY, RH_WARNING, RH_TRUST_MEDIUM},
                 {RH_FINDING_MODEL_EXPLOITED, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_UNPROVEN_MODEL, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_PREDICTION_NO_BETTER, RH_NOTICE, RH_TRUST_MEDIUM},
                 {RH_FINDING_PREDICTION_NO_BETTER, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_FEW_STARTS, RH_NOTICE, RH_TRUST_HIGH},
                 {RH_FINDING_FEW_STARTS, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_FEW_STEPS, RH_NOTICE, RH_TRUST_LOW},
                 {RH_FINDING_KINDS_DISAGREE, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_OUT_OF_COVERAGE, RH_NOTICE, RH_TRUST_HIGH},
                 {RH_FINDING_OUT_OF_COVERAGE, RH_WARNING, RH_TRUST_MEDIUM},
                 {RH_FINDING_RARE_FAILURES, RH_WARNING, RH_TRUST_MEDIUM},
                 {RH_FINDING_FAILED, RH_WARNING, RH_TRUST_MEDIUM},
                 {RH_FINDING_WINNER_DIVERGED, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_DIVERGED, RH_NOTICE, RH_TRUST_HIGH},
                 {RH_FINDING_DIVERGED, RH_WARNING, RH_TRUST_LOW},
                 {RH_FINDING_DEFAULTS_BETTER, RH_WARNING, RH_TRUST_MEDIUM},
                 {RH_FINDING_AT_BOUND, RH_WARNING, RH_TRUST_HIGH}};
    double p = 0.0;
    for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
        rh_finding item = {.severity = bound[i].severity, .id = bound[i].id};
        rh_verdict v = sound();
        v.findings = (rh_findings){.item = &item, .n = 1};
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, bound[i].most);
        assert_true(i == 0 || best_of(&v) == p); // of the choice, which is another fact
        p = best_of(&v);
        assert_true((strstr(v.trust.text, "doubts weigh more") != NULL) ==
                    (bound[i].most < RH_TRUST_HIGH));
        assert_true(says(&v, rh_finding_name(bound[i].id), false) ==
                    (bound[i].most < RH_TRUST_HIGH));
        rh_findings model = v.findings; // the same of the model
        v.findings.n = 0;
        rh_trust__judge(&v, &model);
        assert_int_equal(v.trust.level, bound[i].most);
    }
    rh_finding both[] = {{.severity = RH_ERROR, .id = RH_FINDING_FAILS_MORE},
                         {.severity = RH_WARNING, .id = RH_FINDING_NOT_BETTER}};
    rh_verdict v = sound();
    v.findings = (rh_findings){.item = both, .n = 2};
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_LOW);
    v = doubtful(); // what is worse stays so
    v.findings = (rh_findings){.item = both, .n = 2};
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_CANNOT);
}

// Without a check there is no level, but what is wrong is said.
static void errors_are_said_without_a_check(void **unused)
{
    (void)unused;
    rh_finding item = {.severity = RH_ERROR,
                       .id = RH_FINDING_NEVER_TAKEN,
                       .evidence = "the log has no step with action 2"};
    rh_verdict v = sound();
    v.check.nmodel = 0;
    v.findings = (rh_findings){.item = &item, .n = 1};
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_UNKNOWN);
    assert_int_equal(v.trust.nreason, 1);
    assert_string_equal(v.trust.reason[0].text, item.evidence);
}

// So is that the controller is to be kept.
static void a_worse_agent_needs_no_check(void **unused)
{
    (void)unused;
    rh_verdict v = sound();
    v.check.nmodel = 0;
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.decision, RH_DECISION_UNKNOWN);
    assert_false(rh_trust__deploys(&v.trust));
    v.today.better = RH_ANSWER_NO;
    rh_trust__judge(&v, NULL);
    assert_int_equal(v.trust.level, RH_TRUST_UNKNOWN);
    assert_int_equal(v.trust.decision, RH_DECISION_KEEP);
    assert_false(rh_trust__deploys(&v.trust));
    v = sound();
    rh_trust__judge(&v, NULL);
    assert_true(rh_trust__deploys(&v.trust));
}

static void a_model_that_is_too_easy(void **unused)
{
    (void)unused;
    rh_finding item = {.severity = RH_WARNING, .id = RH_FINDING_TOO_EASY};
    rh_findings findings = {.item = &item, .n = 1, .count = {0, 1, 0}};
    rh_verdict v = sound();
    rh_trust__judge(&v, &findings);
    assert_int_equal(v.trust.level, RH_TRUST_MEDIUM);
    assert_true(best_of(&v) == 0.75);
    assert_true(says(&v, "too-easy", false));
    item.id = RH_FINDING_FEW_EPISODES;
    rh_trust__judge(&v, &findings);
    assert_int_equal(v.trust.level, RH_TRUST_HIGH);
}

static void an_error_cannot_be_outweighed(void **unused)
{
    (void)unused;
    rh_finding item = {
        .severity = RH_ERROR, .id = RH_FINDING_NEVER_TAKEN, .evidence = "action 2"};
    rh_findings findings = {.item = &item, .n = 1, .count = {0, 0, 1}};
    rh_verdict v = sound();
    v.trust.evidence[RH_EVIDENCE_ERRORS].value = 1.0;
    rh_trust__judge(&v, &findings);
    assert_int_equal(v.trust.level, RH_TRUST_CANNOT);
    assert_int_equal(v.trust.decision, RH_DECISION_LOG);
    assert_true(v.trust.probability > 0.9);
    assert_string_equal(v.trust.reason[0].text, "action 2");
    v.today.better = RH_ANSWER_NO; // the log cannot say that either
    rh_trust__judge(&v, &findings);
    assert_int_equal(v.trust.decision, RH_DECISION_LOG);
    v.winner = 1; // a clone of the controller
    v.trial = (const rh_trial[]){winner[0], winner[0]};
    rh_trust__judge(&v, &findings);
    assert_int_equal(v.trust.level, RH_TRUST_CANNOT);
    assert_int_equal(v.trust.decision, RH_DECISION_KEEP);
    v.trust.decision = RH_DECISION_LOG;
    rh_trust__keep(&v);
    assert_int_equal(v.trust.decision, RH_DECISION_KEEP);
    assert_non_null(strstr(v.trust.text, "to beat the controller you have"));
}

static void without_a_check_there_is_no_level(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        rh_verdict v = sound();
        v.check.nmodel = i == 0 ? 0 : 1;
        v.finished = i != 1;
        v.winner = i == 2 ? -1 : 0;
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, RH_TRUST_UNKNOWN);
        assert_true(isnan(v.trust.probability));
        assert_int_equal(v.trust.nreason, 0);
    }
}

static void unknown_evidence_counts_as_typical(void **unused)
{
    (void)unused;
    rh_verdict all = sound(), none = sound();
    for (int i = 0; i < RH_NEVIDENCE; i++)
        none.trust.evidence[i].value = NAN;
    rh_trust__judge(&all, NULL);
    rh_trust__judge(&none, NULL);
    assert_true(best_of(&none) > 0.0);
    assert_true(best_of(&none) < best_of(&all));
    assert_int_equal(none.trust.nreason, 0);
}

// The level follows from the first two claims, not from the third.
static void levels_follow_from_what_matters(void **unused)
{
    (void)unused;
    static const struct {
        double better, failures;
        rh_answer answer;
        rh_trust_level level;
        rh_decision decision;
        double probability;
    } known[] = {{0.90, 0.90, RH_ANSWER_YES, RH_TRUST_HIGH, RH_DECISION_DEPLOY, 0.90},
                 {0.99, 0.89, RH_ANSWER_YES, RH_TRUST_MEDIUM, RH_DECISION_DEPLOY, 0.89},
                 {0.60, 0.99, RH_ANSWER_UNKNOWN, RH_TRUST_MEDIUM, RH_DECISION_DEPLOY, 0.60},
                 {0.99, 0.31, RH_ANSWER_YES, RH_TRUST_LOW, RH_DECISION_LOG, 0.31},
                 {0.29, 0.99, RH_ANSWER_UNKNOWN, RH_TRUST_CANNOT, RH_DECISION_LOG, 0.29},
                 {0.05, 0.99, RH_ANSWER_NO, RH_TRUST_CANNOT, RH_DECISION_KEEP, 0.05},
                 {0.95, NAN, RH_ANSWER_YES, RH_TRUST_HIGH, RH_DECISION_DEPLOY, 0.95},
                 {NAN, 0.99, RH_ANSWER_UNKNOWN, RH_TRUST_LOW, RH_DECISION_LOG, NAN},
                 {NAN, NAN, RH_ANSWER_NO, RH_TRUST_LOW, RH_DECISION_KEEP, NAN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rh_verdict v = sound();
        v.trust.claim[RH_CLAIM_BETTER].probability = known[i].better;
        v.trust.claim[RH_CLAIM_FAILURES].probability = known[i].failures;
        v.today.better = known[i].answer;
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, known[i].level);
        assert_int_equal(v.trust.decision, known[i].decision);
        assert_true(v.trust.probability == known[i].probability ||
                    (isnan(v.trust.probability) && isnan(known[i].probability)));
        bool unsaid = isnan(known[i].better) && known[i].decision != RH_DECISION_KEEP;
        assert_true((strstr(v.trust.text, "not known whether") != NULL) == unsaid);
    }
    rh_verdict doubted = sound();
    for (int e = 0; e < RH_NEVIDENCE; e++)
        if (e == RH_EVIDENCE_RIVAL || e == RH_EVIDENCE_HALVES || e == RH_EVIDENCE_PARTS)
            doubted.trust.evidence[e].value = 1.0;
    rh_trust__judge(&doubted, NULL);
    assert_int_equal(doubted.trust.level, RH_TRUST_HIGH);
    assert_true(best_of(&doubted) < 0.76);
}

// Settings that are tied in the search and equally good in the confirmation.
static void any_setting_will_do(void **unused)
{
    (void)unused;
    static const struct {
        double other, defaults; // scores; the winner has -5, the logged controller -10
        int agent;              // of the third setting, where there is one
        int nconfirm;
        bool tied;
        rh_decision decision;
    } known[] = {{-5.4, -5.4, 0, 3, true, RH_DECISION_ANY},
                 {-5.6, -5.4, 0, 3, true, RH_DECISION_DEPLOY},
                 {-5.4, -5.6, 0, 3, true, RH_DECISION_DEPLOY},
                 {-5.4, NAN, 0, 3, true, RH_DECISION_DEPLOY},
                 {-5.4, -5.4, 0, 2, true, RH_DECISION_DEPLOY}, // one says little
                 {-5.4, -5.4, 0, 3, false, RH_DECISION_DEPLOY},
                 {-5.4, -5.4, 1, 3, true, RH_DECISION_DEPLOY}}; // of another agent
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        rh_finding item = {.severity = RH_WARNING, .id = RH_FINDING_ALL_TIED};
        rh_trial trial[3] = {winner[0], winner[0], winner[0]};
        rh_verdict v = sound();
        trial[0].value = -5.0;
        trial[1].value = trial[2].value = known[i].other;
        trial[2].agent = known[i].agent;
        v.trial = trial;
        v.ntrial = v.nconfirm = known[i].nconfirm;
        v.today.defaults.score = known[i].defaults;
        v.findings = (rh_findings){.item = &item, .n = known[i].tied};
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.decision, known[i].decision);
        assert_true((strstr(v.trust.text, "any will do") != NULL) ==
                    (known[i].decision == RH_DECISION_ANY));
    }
}

// Evidence that bounds the level and says nothing about the choice.
static void doubts_about_the_model(void **unused)
{
    (void)unused;
    static const struct {
        rh_evidence__name name;
        double good, bad;
        rh_trust_level most;
    } doubt[] = {{RH_EVIDENCE_UNLOGGED, 0.2, 0.21, RH_TRUST_LOW},
                 {RH_EVIDENCE_BESIDE, 2.0, 2.1, RH_TRUST_MEDIUM},
                 {RH_EVIDENCE_SHOWN, 0.5, 0.49, RH_TRUST_LOW},
                 {RH_EVIDENCE_ERRORS, 0.0, 1.0, RH_TRUST_CANNOT}};
    for (size_t i = 0; i < sizeof doubt / sizeof *doubt; i++) {
        rh_verdict v = sound();
        v.trust.evidence[doubt[i].name].value = doubt[i].good;
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, RH_TRUST_HIGH);
        double p = best_of(&v);
        v.trust.evidence[doubt[i].name].value = doubt[i].bad;
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, doubt[i].most);
        assert_true(best_of(&v) == p);
        assert_true(doubt[i].name == RH_EVIDENCE_ERRORS ||
                    says(&v, v.trust.evidence[doubt[i].name].name, false));
        v.trust.evidence[doubt[i].name].value = NAN; // unknown is no veto
        rh_trust__judge(&v, NULL);
        assert_int_equal(v.trust.level, RH_TRUST_HIGH);
    }
}

static void levels_have_names(void **unused)
{
    (void)unused;
    static const char *const name[] = {"unknown", "cannot answer", "low", "medium", "high"};
    for (int i = RH_TRUST_UNKNOWN; i <= RH_TRUST_HIGH; i++)
        assert_string_equal(rh_trust_name((rh_trust_level)i), name[i]);
    assert_string_equal(rh_decision_name(RH_DECISION_KEEP), "keep the controller");
    assert_string_equal(rh_decision_name(RH_DECISION_DEPLOY), "deploy this setting");
}

static void what_the_log_does_not_have(void **unused)
{
    (void)unused;
    // of the fermenter of bench/plants: 13 logged steps, none near the agent's
    assert_true(rh_study__is_unlogged(&(rh_next){.nlogged = 13, .alone = 0.99}));
    assert_true(rh_study__is_unlogged(&(rh_next){.nlogged = 9, .alone = 0.1}));
    assert_false(rh_study__is_unlogged(&(rh_next){.nlogged = 147, .alone = 0.86}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_log_does_not_have),
        cmocka_unit_test(sound_evidence_is_trusted),
        cmocka_unit_test(doubtful_evidence_is_not),
        cmocka_unit_test(worse_evidence_is_not_trusted_more),
        cmocka_unit_test(one_fundamental_doubt_is_enough),
        cmocka_unit_test(other_models_speak_at_5_and_10_percent),
        cmocka_unit_test(an_agent_that_fails_is_not_trusted),
        cmocka_unit_test(errors_are_said_without_a_check),
        cmocka_unit_test(a_worse_agent_needs_no_check),
        cmocka_unit_test(a_model_that_is_too_easy),
        cmocka_unit_test(an_error_cannot_be_outweighed),
        cmocka_unit_test(without_a_check_there_is_no_level),
        cmocka_unit_test(unknown_evidence_counts_as_typical),
        cmocka_unit_test(levels_follow_from_what_matters),
        cmocka_unit_test(any_setting_will_do),
        cmocka_unit_test(doubts_about_the_model),
        cmocka_unit_test(levels_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
