// test_vetoes.c - small studies that raise a finding or a piece of evidence which excludes high
// and medium: the study finds it, and not the others, says so, and its level is low at best.
//
// The plant is a line from 0 to 1, a step costs the distance to 0.5.

#include "model/model_sample.h"
#include "study/core.h"
#include "study/evidence.h"
#include "study/trust.h"

enum { NSTEP = 1800 };

typedef enum logged {
    AT_RANDOM, // actions
    GOOD,      // the controller goes to the middle
    RARELY,    // the same, and one of three actions in 1 of 300 steps
    NOISE      // states follow from nothing
} logged;

static rh_log *log_by(logged which)
{
    static walk w[NSTEP];
    rh_rng rng = rh_rng_stream(3, RH_STREAM_START, 0, 0);
    double x = 0.5;
    for (int i = 0; i < NSTEP; i++) {
        double length = 0.02 + 0.04 * rh_rng_uniform(&rng);
        bool tries = which == AT_RANDOM || which == NOISE || rh_rng_below(&rng, 20) == 0;
        int act = tries ? (int)rh_rng_below(&rng, 2) : x < 0.5;
        if (which == RARELY && i % 300 == 30)
            act = 2;
        double next = x + (act == 2 ? 0.0 : act ? length : -length);
        if (which == NOISE)
            next = rh_rng_uniform(&rng);
        next = next < 0.0 ? 0.0 : next > 1.0 ? 1.0 : next;
        bool last = i % 60 == 59;
        w[i] = (walk){x, act, -fabs(x - 0.5), next, last ? CUT : 0, i % 60 == 0};
        x = last ? rh_rng_uniform(&rng) : next;
    }
    return log_of(w, NSTEP, which == RARELY ? 3 : 2);
}

// A study of an agent that learns, or of one that acts at random for ever.
static rh_study *study_of(const rh_log *log, bool learns, rh_plan **plan)
{
    const char *const word[][2] = {{"agent", "esarsa"},
                                   {"evaluation.steps", learns ? "3000" : "600"},
                                   {"evaluation.runs", "3"},
                                   {"model", "knn"},
                                   {"representation", "raw"},
                                   {"confirm.settings", "2"},
                                   {"confirm.members", "3"},
                                   {"confirm.runs", "3"},
                                   {"confirm.kinds", "chosen"},
                                   {"method", "grid"},
                                   {"check", "1"}};
    rh_error err = {""};
    rh_study *study = NULL;
    rh_study_options opt = rh_study_defaults();
    rh_status rc = rh_plan_create(plan, &err);
    for (size_t i = 0; i < sizeof word / sizeof *word && !rc; i++)
        rc = rh_plan_set(*plan, word[i][0], word[i][1], NULL, &err);
    if (!rc)
        rc = rh_plan_try(*plan, "tau", learns ? "0.1,1" : "1e5,1e6", NULL, &err);
    if (!rc)
        rc = rh_plan_check(*plan, &err);
    if (!rc)
        rc = rh_plan_settle(*plan, log, &err);
    if (!rc)
        rc = rh_study_create(&study, *plan, log, NULL, NULL, &opt, &err);
    if (!rc)
        rc = rh_study_run(study, &err);
    if (rc)
        fail_msg("%s", err.text);
    return study;
}

static bool finds(const rh_findings *list, rh_finding_id id)
{
    for (int i = 0; i < list->n; i++)
        if (list->item[i].id == id)
            return true;
    return false;
}

static bool says(const rh_verdict *v, const char *id)
{
    for (int i = 0; i < v->trust.nreason; i++)
        if (strcmp(v->trust.reason[i].id, id) == 0 && !v->trust.reason[i].good)
            return true;
    return false;
}

static const rh_finding_id looked_for[] = {RH_FINDING_NOT_BETTER, RH_FINDING_LIKE_RANDOM,
                                           RH_FINDING_TOO_GOOD,
                                           RH_FINDING_PREDICTION_NO_BETTER};
enum { NLOOKED = sizeof looked_for / sizeof *looked_for };

// Studies, and what each finds of these; whether the agent does what the log does not show.
static const struct {
    logged by;
    bool learns;
    bool found[NLOOKED];
    bool unlogged;
} known[] = {{GOOD, false, {true, true, false, false}, true},
             {GOOD, true, {true, false, false, false}, true},
             {AT_RANDOM, false, {false, true, false, false}, false},
             {AT_RANDOM, true, {false, false, true, false}, false},
             {RARELY, true, {false, false, false, false}, true},
             {NOISE, true, {false, true, false, true}, false}};

static void what_studies_find(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        rh_log *log = log_by(known[k].by);
        rh_plan *plan = NULL;
        rh_study *study = study_of(log, known[k].learns, &plan);
        const rh_verdict *v = rh_study_verdict(study);
        const rh_findings *model = &rh_model_fidelity(rh_study__model(study))->findings;
        for (int i = 0; i < NLOOKED; i++) {
            bool found = finds(&v->findings, looked_for[i]) || finds(model, looked_for[i]);
            assert_int_equal(found, known[k].found[i]);
            assert_int_equal(says(v, rh_finding_name(looked_for[i])), known[k].found[i]);
        }
        bool much = v->trust.evidence[RH_EVIDENCE_UNLOGGED].value > RH_TRUST__UNLOGGED;
        assert_int_equal(much, known[k].unlogged);
        assert_int_equal(says(v, "unlogged"), known[k].unlogged);
        assert_true(v->trust.level <= RH_TRUST_LOW);
        assert_true(rh_trust__bound(v, model) <= RH_TRUST_LOW);
        rh_study_destroy(study);
        rh_plan_destroy(plan);
        rh_log_destroy(log);
    }
}

// An error that has a level in the table leaves that level; another one leaves none.
static void errors_have_their_level(void **unused)
{
    (void)unused;
    rh_plan *plan = NULL;
    rh_log *log = log_by(AT_RANDOM);
    rh_study *study = study_of(log, true, &plan);
    const rh_verdict *v = rh_study_verdict(study);
    const rh_evidence *errors = &v->trust.evidence[RH_EVIDENCE_ERRORS];
    double before = errors->value;
    int at = 0;
    while (at < v->findings.n && v->findings.item[at].id != RH_FINDING_TOO_GOOD)
        at++;
    assert_true(at < v->findings.n);
    rh_finding *found = &study->verdict.findings.item[at];
    found->severity = RH_ERROR;
    assert_int_equal(rh_study__gather(study), RH_OK);
    assert_true(errors->value == before);
    assert_int_equal(rh_trust__bound(v, NULL), RH_TRUST_LOW);
    found->id = RH_FINDING_NEVER_TAKEN;
    assert_int_equal(rh_study__gather(study), RH_OK);
    assert_true(errors->value == before + 1.0);
    assert_int_equal(rh_trust__bound(v, NULL), RH_TRUST_CANNOT);
    rh_study_destroy(study);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_studies_find),
                                       cmocka_unit_test(errors_have_their_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
