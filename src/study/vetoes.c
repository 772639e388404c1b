// vetoes.c - what excludes a level of trust, whatever the probabilities are.
//
// A probability is computed in models of the log. A finding or a piece of evidence that says
// that these models are wrong where it matters bounds the level instead. On plants that had no
// part in building the program, 10 of 13 levels of medium or high were wrong, and what is in
// this table stood beside most of them.
//
// 1. One table: a finding by its severity, or a piece of evidence above a limit, with the
//    highest level beside it and what to do about it.
// 2. An error of the log that the user accepts leaves the level low at best: the log
//    contradicts itself, and no run in a model of it can tell. Any other error that is not in
//    the table says that the log lacks something (an action that was never taken, nothing to
//    learn from): the study cannot answer.
// 3. What excludes medium, and not high only, is what the issue of the verdict asks for: too
//    good, failures above the log's, an unknown effect of an action that the agent uses much,
//    replays no better than ignorance or than no change (src/model/choose.c), and so on. Of 106
//    studies of the half for thresholds (bench/verdict_plants.csv) 20 were high or medium, 1 of
//    them worse than the controller: it was too-good. Without those that are too-good or
//    unlogged 11 are left, 8 better, none worse. beside says nothing there (of 3 medium ones
//    none is worse), nor do single steps that are no better than no change, so both still allow
//    medium.
// 4. Thresholds by hand: a limit of 1 of the replay error is what a random stretch of the log
//    has, and 0.8 is nearly that; a model that is twice as wrong beside the controller's path,
//    or whose effects of actions surely came to less than half, is confounded; agents that do
//    in a fifth of their steps what the log does not show are judged by what the model invents.

#include "trust.h"

#include "evidence.h"

#include <math.h>

#define RANDOM 1.0 // decision 4: a replay error

static const rh_trust_level none = RH_TRUST_HIGH;

// Decision 1.
static const struct veto {
    rh_finding_id id;
    rh_trust_level most[3]; // beside a notice, a warning and an error
    const char *remedy;
} by_finding[] = {
    {RH_FINDING_FAILS_MORE,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "let a failure cost more in the reward (--reward)"},
    {RH_FINDING_NOT_BETTER,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "keep the controller, or use longer runs (--steps)"},
    {RH_FINDING_LIKE_RANDOM,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "use longer runs (--steps) or another agent (--agent)"},
    {RH_FINDING_DEFAULTS_BETTER,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_MEDIUM},
     "search around them (--set)"},
    {RH_FINDING_TOO_GOOD,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "do not expect this score"},
    {RH_FINDING_TOO_EASY,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_LOW},
     "log more; do not expect this score"},
    {RH_FINDING_MODEL_EXPLOITED,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more of what agents do (log_next.csv)"},
    {RH_FINDING_UNPROVEN_MODEL,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more, or more variables"},
    {RH_FINDING_PREDICTION_NO_BETTER, // a notice: than no change
     {RH_TRUST_MEDIUM, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more, or more variables"},
    {RH_FINDING_FEW_STARTS,
     {RH_TRUST_HIGH, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more episodes, or from more states"},
    {RH_FINDING_FEW_STEPS, {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW}, "log 2,000 or more"},
    {RH_FINDING_KINDS_DISAGREE,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more of what these settings do"},
    {RH_FINDING_OUT_OF_COVERAGE, // a notice: in up to 5 % of the steps
     {RH_TRUST_HIGH, RH_TRUST_MEDIUM, RH_TRUST_MEDIUM},
     "log what the agent does there"},
    {RH_FINDING_RARE_FAILURES,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_MEDIUM},
     "find out what happens in these runs"},
    {RH_FINDING_FAILED, {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_LOW}, "fix the agent"},
    {RH_FINDING_WINNER_DIVERGED,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "choose a tied setting"},
    {RH_FINDING_DIVERGED, // a warning: most settings
     {RH_TRUST_HIGH, RH_TRUST_LOW, RH_TRUST_LOW},
     "search smaller step sizes"},
};

static const struct limit {
    rh_evidence__name name;
    double above;
    rh_trust_level most;
} by_evidence[] = {
    // reasons.c has their words
    {RH_EVIDENCE_ERRORS, 0.0, RH_TRUST_CANNOT},
    {RH_EVIDENCE_REPLAY, RANDOM, RH_TRUST_LOW},
    {RH_EVIDENCE_REPLAY, RH_TRUST__IGNORANT, RH_TRUST_MEDIUM},
    {RH_EVIDENCE_UNPROVEN, 0.0, RH_TRUST_MEDIUM},
    {RH_EVIDENCE_UNLOGGED, RH_TRUST__UNLOGGED, RH_TRUST_LOW},
    {RH_EVIDENCE_BESIDE, RH_TRUST__BESIDE, RH_TRUST_MEDIUM},
};

static const struct veto *veto_of(const rh_finding *f)
{
    for (size_t i = 0; i < sizeof by_finding / sizeof *by_finding; i++)
        if (by_finding[i].id == f->id && by_finding[i].most[f->severity] < none)
            return &by_finding[i];
    return NULL;
}

bool rh_trust__bounds(const rh_finding *f)
{
    return veto_of(f) != NULL;
}

// Evidence that has to be above a limit: a low one speaks against the agent.
static const struct limit short_of[] = {{RH_EVIDENCE_SHOWN, RH_TRUST__SHOWN, RH_TRUST_LOW}};

static rh_trust_level least(rh_trust_level a, rh_trust_level b)
{
    return a < b ? a : b;
}

static rh_trust_level bound_of(const rh_findings *findings)
{
    rh_trust_level most = none;
    for (int i = 0; findings && i < findings->n; i++) {
        const struct veto *veto = veto_of(&findings->item[i]);
        if (veto)
            most = least(most, veto->most[findings->item[i].severity]);
    }
    return most;
}

rh_trust_level rh_trust__bound(const rh_verdict *v, const rh_findings *model)
{
    rh_trust_level most = least(bound_of(&v->findings), bound_of(model));
    if (rh_findings__accepted(&v->findings)) // decision 2
        most = least(most, RH_TRUST_LOW);
    for (size_t i = 0; i < sizeof by_evidence / sizeof *by_evidence; i++)
        if (v->trust.evidence[by_evidence[i].name].value > by_evidence[i].above)
            most = least(most, by_evidence[i].most);
    for (size_t i = 0; i < sizeof short_of / sizeof *short_of; i++)
        if (v->trust.evidence[short_of[i].name].value < short_of[i].above)
            most = least(most, short_of[i].most);
    return most;
}

// ---------------------------------------------------------------------------- in words

static void say_findings(rh_verdict *v, const rh_findings *findings)
{
    for (int i = 0; findings && i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        const struct veto *veto = veto_of(f);
        if (!veto)
            continue;
        if (f->id == RH_FINDING_FAILS_MORE)
            rh_trust__say(v, rh_finding_name(f->id), false,
                          "it fails %s than the logged controller: %s",
                          rh_often__name(v->failing.often), veto->remedy);
        else
            rh_trust__say(v, rh_finding_name(f->id), false, "%.150s: %s", f->evidence,
                          veto->remedy);
    }
}

static void say_errors(rh_verdict *v, const rh_findings *findings)
{
    for (int i = 0; findings && i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        if (f->severity == RH_ERROR && !veto_of(f))
            rh_trust__say(v, v->trust.evidence[RH_EVIDENCE_ERRORS].name, false, "%s%.150s",
                          f->accepted ? "accepted, but an error of the log: " : "",
                          f->evidence);
    }
}

void rh_trust__say_vetoes(rh_verdict *v, const rh_findings *model)
{
    say_findings(v, &v->findings);
    say_findings(v, model);
    say_errors(v, &v->findings);
    say_errors(v, model);
}
