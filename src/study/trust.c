// trust.c - whether to believe a study: a level, what to do, and the reasons.
//
// Three claims are made of the chosen agent (claims.c): it is better than the logged controller
// over a whole run, it fails no more than stated, and no other setting is clearly better. The
// level follows from the first two, because they are what a plant's owner loses by; then from
// what excludes a level (vetoes.c).
//
// 1. Levels are ranges of the smaller probability of the two claims. Where the log does not
//    tell what a failure is there is no second claim. Where it has nothing to compare a score
//    with, the level is low: nothing is known about what matters.
// 2. A study without a check has no level: half of the evidence is missing.
// 3. What to do: keep the controller if nothing that was tried beats it, with or without a
//    check, or if its clone won; log more if the level is low; deploy otherwise. Any setting
//    will do if most settings of the search are tied with its best, and neither the agent's
//    defaults nor its other confirmed settings, FEW or more, differ from the winner by more
//    than a tenth of what the agent gains on the logged controller.
// 4. The probability of the third claim is
//
//        p = 1 / (1 + exp(-z)),   z = bias + sum of weight * (x - centre) / spread
//
//    that no other setting is better than the chosen one by more than a tenth of the range, the
//    difference between the best and the median setting of the search. x is the evidence
//    (evidence.c), limited to where the fit had data. The rule was fitted by bench/verdict_fit
//    to the studies of one agent in bench/verdict.csv, whose true regret is known because
//    simulators made the logs. The range is that of the model, so the claim says what it is in
//    scores. Evidence that is unknown counts as typical, x = centre: it moves p neither way.
// 5. This probability is at most 0.75 where something fundamental speaks against the choice: by
//    the study's own runs another setting may be better by more than a tenth of the range, the
//    answer depends on the half of the log or on the model's settings, the model does not
//    replay held-out stretches, or it was not compared with other kinds, because all models of
//    the check share the faults of its kind. Of 79 such studies with a p of 0.7 or more, 65
//    were good (0.82), whatever p. In stitched models of a Cartpole log of 2,000 steps all
//    evidence agreed (0.96) on a setting with regret 3.3; in a heated tank with a variable that
//    is not logged, on four that were slightly bad (0.10 to 0.18). The same where random
//    actions beat the logged controller in the model (the finding too-easy): of five
//    near-optimal Acrobot logs its settings were ordered worst in the three that have it
//    (reproduction/docs/reproduction.md), and a sixth promised -9 with a p of 0.99 where the
//    truth is -129. An error of the log that the user accepts limits it to 0.5.

#include "trust.h"

#include "evidence.h"
#include "study.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define HIGH 0.9     // decision 1
#define MEDIUM 0.6   // decision 1
#define CANNOT 0.3   // decision 1
#define UNSOUND 0.75 // decision 5
#define ACCEPTED 0.5 // decision 5; by hand
#define EQUAL 0.1    // decision 3; by hand
#define FEW 2        // decision 3, settings; by hand

#include "trust_rule.h"

const char *rh_trust_name(rh_trust_level level)
{
    switch (level) {
    case RH_TRUST_CANNOT:
        return "cannot answer";
    case RH_TRUST_LOW:
        return "low";
    case RH_TRUST_MEDIUM:
        return "medium";
    case RH_TRUST_HIGH:
        return "high";
    case RH_TRUST_UNKNOWN:
        break;
    }
    return "unknown";
}

const char *rh_decision_name(rh_decision decision)
{
    static const char *const name[] = {[RH_DECISION_UNKNOWN] = "not known",
                                       [RH_DECISION_LOG] = "log more",
                                       [RH_DECISION_KEEP] = "keep the controller",
                                       [RH_DECISION_ANY] = "deploy, any setting will do",
                                       [RH_DECISION_DEPLOY] = "deploy this setting"};
    return name[decision];
}

// ---------------------------------------------------------------------------- the third claim

bool rh_trust__too_easy(const rh_findings *model)
{
    for (int i = 0; model && i < model->n; i++)
        if (model->item[i].id == RH_FINDING_TOO_EASY)
            return true;
    return false;
}

// Decision 5.
static bool is_sound(const rh_verdict *v, const rh_findings *model)
{
    const rh_evidence *e = v->trust.evidence;
    return !rh_trust__too_easy(model) && e[RH_EVIDENCE_UNPROVEN].value == 0.0 &&
           e[RH_EVIDENCE_RIVAL].value <= RH_TRUST__DEPENDS &&
           e[RH_EVIDENCE_HALVES].value <= RH_TRUST__DEPENDS &&
           e[RH_EVIDENCE_VARIANTS].value <= RH_TRUST__DEPENDS &&
           e[RH_EVIDENCE_REPLAY].value <= RH_TRUST__IGNORANT;
}

// Decision 4.
static double probability_of_best(const rh_verdict *v, const rh_findings *model)
{
    double z = RULE_BIAS;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        double x = v->trust.evidence[rule[i].name].value;
        if (isnan(x))
            continue;
        x = fmin(fmax(x, rule[i].lo), rule[i].hi);
        z += rule[i].weight * (x - rule[i].centre) / rule[i].spread;
    }
    double p = 1.0 / (1.0 + rh_exp(-z));
    p = is_sound(v, model) ? p : fmin(p, UNSOUND);
    return rh_findings__accepted(&v->findings) ? fmin(p, ACCEPTED) : p;
}

static void claim_best(rh_verdict *v, const rh_findings *model)
{
    rh_claim *claim = &v->trust.claim[RH_CLAIM_BEST];
    claim->probability = probability_of_best(v, model);
    if (isnan(claim->limit))
        snprintf(claim->text, sizeof claim->text, "no other setting is clearly better");
    else
        snprintf(claim->text, sizeof claim->text,
                 "no other setting is better by more than %.2g", claim->limit);
}

// ---------------------------------------------------------------------------- level and
// decision

static rh_trust_level level_of(double p, rh_trust_level most)
{
    rh_trust_level level = isnan(p)      ? RH_TRUST_LOW
                           : p >= HIGH   ? RH_TRUST_HIGH
                           : p >= MEDIUM ? RH_TRUST_MEDIUM
                           : p >= CANNOT ? RH_TRUST_LOW
                                         : RH_TRUST_CANNOT;
    return level < most ? level : most;
}

// Decision 3: the confirmed settings of the winner's agent, and its defaults, are as good as
// the winner.
static bool will_any_do(const rh_verdict *v)
{
    const rh_trial *winner = &v->trial[v->winner];
    bool tied = false;
    for (int i = 0; i < v->findings.n; i++)
        tied = tied || v->findings.item[i].id == RH_FINDING_ALL_TIED;
    double most = EQUAL * (winner->value - v->logged.score);
    tied = tied && fabs(v->today.defaults.score - winner->value) <= most; // false: unknown
    int n = 0;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial && tied; i++) {
        if (v->trial[i].agent != winner->agent || i == v->winner)
            continue;
        n++;
        tied = fabs(v->trial[i].value - winner->value) <= most;
    }
    return tied && n >= FEW;
}

// Whether a clone of the controller won, and not the agent that was judged.
static bool is_replaced(const rh_verdict *v)
{
    return v->winner >= 0 && v->trial[v->winner].confirm && v->winner != v->candidate;
}

static rh_decision decision_of(const rh_verdict *v)
{
    bool errors = v->trust.evidence[RH_EVIDENCE_ERRORS].value > 0.0;
    if (is_replaced(v) || (v->today.better == RH_ANSWER_NO && !errors))
        return RH_DECISION_KEEP;
    if (v->trust.level == RH_TRUST_UNKNOWN)
        return RH_DECISION_UNKNOWN;
    if (v->trust.level < RH_TRUST_MEDIUM)
        return RH_DECISION_LOG;
    return will_any_do(v) ? RH_DECISION_ANY : RH_DECISION_DEPLOY;
}

bool rh_trust__deploys(const rh_trust *t)
{
    return t->decision == RH_DECISION_DEPLOY || t->decision == RH_DECISION_ANY;
}

// ---------------------------------------------------------------------------- in words

RH_PRINTF(2, 3)
static void append(rh_trust *t, const char *format, ...)
{
    size_t n = strlen(t->text);
    va_list args;
    va_start(args, format);
    vsnprintf(t->text + n, sizeof t->text - n, format, args);
    va_end(args);
}

static void write_percent(double p, char text[20])
{
    if (p > 0.99 || p < 0.01)
        snprintf(text, 20, "%s than %d %%", p > 0.5 ? "more" : "less", p > 0.5 ? 99 : 1);
    else
        snprintf(text, 20, "%.0f %%", 100.0 * p);
}

// "Medium: 84 % sure that it is better ..., 97 % that it fails ..., 75 % that no other ..."
static void say_claims(rh_trust *t)
{
    char percent[20];
    bool any = false;
    for (int i = 0; i < RH_NCLAIM; i++) {
        if (isnan(t->claim[i].probability))
            continue;
        write_percent(t->claim[i].probability, percent);
        append(t, any ? ", %s that %s" : " %s sure that %s", percent, t->claim[i].text);
        any = true;
    }
}

// The claim that fails, or that there is an error.
static void say_cannot(rh_trust *t)
{
    char percent[20];
    int weak = t->claim[RH_CLAIM_FAILURES].probability == t->probability ? RH_CLAIM_FAILURES
                                                                         : RH_CLAIM_BETTER;
    append(t, "No: this log cannot say whether to deploy the agent");
    if (t->probability < CANNOT) { // false where it is unknown
        write_percent(t->probability, percent);
        append(t, ": %s sure that %s", percent, t->claim[weak].text);
    }
    append(t, ".");
}

// The controller is to be kept.
static void say_keep(rh_trust *t, const char *word)
{
    char percent[20];
    double p = t->claim[RH_CLAIM_BETTER].probability;
    append(t, "%s: no agent that was tried is %s to beat the controller you have", word,
           p > 1.0 - MEDIUM ? "sure enough" : "likely");
    if (!isnan(p)) {
        write_percent(p, percent);
        append(t, " (%s for the best one%s)", percent,
               p >= MEDIUM ? ", but doubts weigh more" : "");
    }
    append(t, ".");
}

static void say_level(rh_verdict *v, rh_trust_level most)
{
    rh_trust *t = &v->trust;
    static const char *const word[] = {[RH_TRUST_CANNOT] = "No", // keep the controller
                                       [RH_TRUST_LOW] = "Low",
                                       [RH_TRUST_MEDIUM] = "Medium",
                                       [RH_TRUST_HIGH] = "High"};
    t->text[0] = '\0';
    if (t->level == RH_TRUST_UNKNOWN) {
        append(t, !v->finished    ? "Not known: the study is not finished."
                  : v->winner < 0 ? "Not known: there is nothing to deploy."
                                  : "Not judged: the choice was not checked in other models of "
                                    "the log (--verdict quick).");
        return;
    }
    if (t->decision == RH_DECISION_KEEP) {
        say_keep(t, word[t->level]);
        return;
    }
    if (t->level == RH_TRUST_CANNOT) {
        say_cannot(t);
        return;
    }
    append(t, "%s:", word[t->level]);
    if (isnan(t->claim[RH_CLAIM_BETTER].probability))
        append(t, " not known whether it beats the logged controller;");
    say_claims(t);
    append(t,
           level_of(t->probability, RH_TRUST_HIGH) > most ? ", but doubts weigh more." : ".");
    if (t->decision == RH_DECISION_ANY)
        append(t, " Its settings hardly differ: any will do.");
}

void rh_trust__judge(rh_verdict *v, const rh_findings *model)
{
    rh_trust *t = &v->trust;
    t->level = RH_TRUST_UNKNOWN;
    t->probability = NAN;
    t->nreason = 0;
    rh_trust_level most = rh_trust__bound(v, model);
    bool known = v->finished && v->winner >= 0 && v->check.nmodel;
    if (known) {
        claim_best(v, model);
        double better = t->claim[RH_CLAIM_BETTER].probability,
               failures = t->claim[RH_CLAIM_FAILURES].probability;
        t->probability = isnan(better) ? better : fmin(better, failures); // ignores NAN
        t->level = level_of(t->probability, most);
    }
    t->decision = decision_of(v);
    say_level(v, most);
    rh_trust__say_vetoes(v, model);
    if (known)
        rh_trust__explain(v);
}

void rh_trust__keep(rh_verdict *v)
{
    v->trust.decision = RH_DECISION_KEEP;
    say_level(v, v->trust.level);
}
