// trust.c - whether to believe a study: a level, a probability, and the reasons.
//
//     p = 1 / (1 + exp(-z)),   z = bias + sum of weight * (x - centre) / spread
//
// p is the probability that the true regret of the chosen setting is below a tenth of the
// range: the difference between the best and the median setting of the grid. x is the evidence
// (evidence.c), limited to where the fit had data.
//
// 1. The rule was fitted by bench/verdict_fit to the studies in bench/verdict.csv, whose true
//    regret is known because simulators made the logs. docs/verdict.md shows how well it does
//    on plants that it was not fitted to.
// 2. Evidence that is unknown counts as typical, x = centre: it moves p neither way.
// 3. An error among the findings says that the log lacks something (an action that was never
//    taken, nothing to learn from) or that the model is impossible: the study cannot answer,
//    whatever p is. The same below a probability of CANNOT.
// 4. high, medium and low are ranges of p. A study without a check has no level: half of the
//    evidence is missing.
// 5. The probability is at most 0.75 where something fundamental speaks against the choice: by
//    the study's own runs another setting may be better by more than a tenth of the range, the
//    answer depends on the half of the log or on the model's settings, the model does not
//    replay held-out stretches, or it was not compared with other kinds, because all models of
//    the check share the faults of its kind. Of 79 such studies with a p of 0.7 or more, 65
//    were good (0.82), whatever p. In stitched models of a Cartpole log of 2,000 steps all
//    evidence agreed (0.96) on a setting with regret 3.3; in a heated tank with a variable that
//    is not logged, on four that were slightly bad (0.10 to 0.18). In Cartpole, where 1 run in
//    20 fails, 4 of 12 plain studies had a p above 0.9 and a regret of 0.27, all with a rival
//    that could be better by 0.2 to 0.5. The same where random actions beat the logged
//    controller in the model (the finding too-easy). Of five near-optimal Acrobot
//    logs its settings were ordered worst in the three that have it
//    (reproduction/docs/reproduction.md), and
//    a sixth promised -9 with a p of 0.99 where the truth is -129.
// 6. Vetoes: findings of the study and of its model bound the level, whatever p is. p is about
//    the choice among settings and stays: the best setting of a reward that prices failures too
//    low fails, and p was 0.99 in a tank where all episodes tripped. On plants that had no part
//    in building the program, 10 of 13 levels of medium or high were wrong, and findings of
//    this list stood beside most of them. An error of the log that the user accepts leaves the
//    level low at best, and p at most at 0.5: the log contradicts itself, and no run in a model
//    of it can tell.
// 7. Reasons are the pieces of evidence beyond a threshold that people understand, the most
//    important first, each with what to do about it. They explain p, they do not enter it.

#include "study_internal.h"

#include <math.h>
#include <stdarg.h>

#define HIGH 0.9     // decision 4
#define MEDIUM 0.6   // decision 4
#define CANNOT 0.3   // decision 3
#define UNSOUND 0.75 // decision 5
#define ACCEPTED 0.5 // decision 6; by hand

#define DEPENDS 0.1  // a possible regret that speaks against the choice
#define MORE_RUNS 4  // times the runs that left it open
#define IGNORANT 0.8 // an error of replays that does

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

// ---------------------------------------------------------------------------- the rule

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
           e[RH_EVIDENCE_RIVAL].value <= DEPENDS && e[RH_EVIDENCE_HALVES].value <= DEPENDS &&
           e[RH_EVIDENCE_VARIANTS].value <= DEPENDS && e[RH_EVIDENCE_REPLAY].value <= IGNORANT;
}

static double probability_of(const rh_verdict *v, const rh_findings *model)
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

// Decision 6: the highest level beside a finding, as a notice, a warning and an error, and what
// to do about it.
static const struct veto {
    rh_finding_id id;
    rh_trust_level most[3];
    const char *remedy;
} vetoes[] = {
    {RH_FINDING_FAILS_MORE,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_LOW},
     "let a failure cost more in the reward (--reward)"},
    {RH_FINDING_NOT_BETTER,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "keep the controller, or use longer runs (--steps)"},
    {RH_FINDING_LIKE_RANDOM,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "use longer runs (--steps) or another agent (--agent)"},
    {RH_FINDING_DEFAULTS_BETTER,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_MEDIUM},
     "deploy these"},
    {RH_FINDING_TOO_GOOD,
     {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_LOW},
     "do not expect this score"},
    {RH_FINDING_MODEL_EXPLOITED,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more of what agents do (log_next.csv)"},
    {RH_FINDING_UNPROVEN_MODEL,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more, or more variables"},
    {RH_FINDING_PREDICTION_NO_BETTER,
     {RH_TRUST_MEDIUM, RH_TRUST_LOW, RH_TRUST_LOW},
     "log more, or more variables"},
    {RH_FINDING_FAILED, {RH_TRUST_MEDIUM, RH_TRUST_MEDIUM, RH_TRUST_LOW}, "fix the agent"},
    {RH_FINDING_WINNER_DIVERGED,
     {RH_TRUST_LOW, RH_TRUST_LOW, RH_TRUST_LOW},
     "choose a tied setting"},
    {RH_FINDING_DIVERGED,
     {RH_TRUST_HIGH, RH_TRUST_LOW, RH_TRUST_LOW},
     "search smaller step sizes"},
};

// Of a finding that lowers the level; NULL: it does not.
static const struct veto *veto_of(const rh_finding *f)
{
    for (size_t i = 0; i < sizeof vetoes / sizeof *vetoes; i++)
        if (vetoes[i].id == f->id && vetoes[i].most[f->severity] < RH_TRUST_HIGH)
            return &vetoes[i];
    return NULL;
}

static rh_trust_level bound_of(const rh_findings *findings)
{
    rh_trust_level most = RH_TRUST_HIGH;
    for (int i = 0; findings && i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        const struct veto *veto = veto_of(f);
        if (veto && veto->most[f->severity] < most)
            most = veto->most[f->severity];
    }
    return most;
}

static rh_trust_level least(rh_trust_level a, rh_trust_level b)
{
    return a < b ? a : b;
}

static rh_trust_level level_of(const rh_verdict *v, rh_trust_level most)
{
    if (v->trust.evidence[RH_EVIDENCE_ERRORS].value > 0.0 || v->trust.probability < CANNOT)
        return RH_TRUST_CANNOT;
    rh_trust_level level = v->trust.probability >= HIGH     ? RH_TRUST_HIGH
                           : v->trust.probability >= MEDIUM ? RH_TRUST_MEDIUM
                                                            : RH_TRUST_LOW;
    return least(level, most);
}

// ---------------------------------------------------------------------------- reasons

RH_PRINTF(4, 0)
static void add_reason(rh_verdict *v, const char *id, bool good, const char *format,
                       va_list args)
{
    if (v->trust.nreason == RH_NREASON)
        return;
    rh_reason *r = &v->trust.reason[v->trust.nreason++];
    r->id = id;
    r->good = good;
    vsnprintf(r->text, sizeof r->text, format, args);
}

__attribute__((format(printf, 4, 5))) static void say(rh_verdict *v, rh_evidence__name name,
                                                      bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(v, v->trust.evidence[name].name, good, format, args);
    va_end(args);
}

// The same against the choice, of a finding.
RH_PRINTF(3, 4)
static void say_finding(rh_verdict *v, const rh_finding *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(v, rh_finding_name(f->id), false, format, args);
    va_end(args);
}

static void say_errors(rh_verdict *v, const rh_findings *findings)
{
    for (int i = 0; findings && i < findings->n; i++)
        if (findings->item[i].severity == RH_ERROR && !veto_of(&findings->item[i]))
            say(v, RH_EVIDENCE_ERRORS, false, "%s%.150s",
                findings->item[i].accepted ? "accepted, but an error of the log: " : "",
                findings->item[i].evidence);
}

static void say_vetoes(rh_verdict *v, const rh_findings *findings)
{
    for (int i = 0; findings && i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        const struct veto *veto = veto_of(f);
        if (!veto)
            continue;
        if (f->id == RH_FINDING_FAILS_MORE)
            say_finding(v, f, "it fails %s than the logged controller: %s",
                        rh_often_name(v->failing.often), veto->remedy);
        else
            say_finding(v, f, "%.150s: %s", f->evidence, veto->remedy);
    }
}

// The reasons that come from comparing settings.
static void say_settings(rh_verdict *v)
{
    double separated = 100.0 * v->trust.evidence[RH_EVIDENCE_SEPARATED].value;
    double rival = 100.0 * v->trust.evidence[RH_EVIDENCE_RIVAL].value;
    if (separated >= 80.0)
        say(v, RH_EVIDENCE_SEPARATED, true,
            "settings differ: %.0f %% of those spread over the space are clearly worse",
            floor(separated));
    else if (separated < 50.0)
        say(v, RH_EVIDENCE_SEPARATED, false,
            "settings hardly differ: only %.0f %% of those spread over the space are clearly "
            "worse: use more runs (--runs)",
            floor(separated));
    if (rival > 100.0 * DEPENDS)
        say(v, RH_EVIDENCE_RIVAL, false,
            "another setting may be better by %.0f %% of what tuning gains: add runs to this "
            "study, --confirm-runs %d",
            rival, MORE_RUNS * v->trial[v->winner].nrun);
    else if (rival <= 100.0 * DEPENDS)
        say(v, RH_EVIDENCE_RIVAL, true,
            "no other confirmed setting is better by more than %.0f %% of what tuning gains",
            fmax(rival, 0.0));
}

// The reasons that come from other models of the log.
static void say_models(rh_verdict *v)
{
    const rh_evidence *e = v->trust.evidence;
    double halves = e[RH_EVIDENCE_HALVES].value, variants = e[RH_EVIDENCE_VARIANTS].value,
           order = e[RH_EVIDENCE_ORDER].value, kinds = e[RH_EVIDENCE_KINDS].value;
    if (halves <= 0.05)
        say(v, RH_EVIDENCE_HALVES, true,
            "models of either half of the log choose this setting, or one as good");
    else if (halves > DEPENDS)
        say(v, RH_EVIDENCE_HALVES, false,
            "a model of half of the log prefers another setting, by %.0f %% of what tuning "
            "gains: log more",
            100.0 * halves);
    if (variants <= 0.05)
        say(v, RH_EVIDENCE_VARIANTS, true,
            "models with other parameters (neighbours, coverage radius, representation) choose "
            "this setting, or one as good");
    else if (variants > DEPENDS)
        say(v, RH_EVIDENCE_VARIANTS, false,
            "with other parameters of the model another setting is better, by %.0f %% of what "
            "tuning gains: log more",
            100.0 * variants);
    if (order < 0.4)
        say(v, RH_EVIDENCE_ORDER, false,
            "other models order the settings differently (Kendall's tau %.2f): log more",
            order);
    if (kinds > 0.3)
        say(v, RH_EVIDENCE_KINDS, false,
            "another kind of model prefers another setting (regret %.2f): prefer a tied "
            "setting "
            "that is good in all kinds, or log more",
            kinds);
}

// The reasons that come from the model and the log.
static void say_log(rh_verdict *v, const rh_findings *model)
{
    const rh_evidence *e = v->trust.evidence;
    double coverage = e[RH_EVIDENCE_COVERAGE].value, replay = e[RH_EVIDENCE_REPLAY].value,
           rare = e[RH_EVIDENCE_RARE].value, data = e[RH_EVIDENCE_DATA].value,
           beyond = e[RH_EVIDENCE_BEYOND].value;
    if (coverage > 0.05)
        say(v, RH_EVIDENCE_COVERAGE, false,
            "%.0f %% of the winner's steps are where the log has nothing similar: log there",
            100.0 * coverage);
    if (replay > IGNORANT)
        say(v, RH_EVIDENCE_REPLAY, false,
            "the model replays held-out stretches of the log hardly better than a random "
            "stretch would (%.2f; 0 is perfect, 1 ignorant): log more, or more variables",
            replay);
    else if (replay <= 0.5)
        say(v, RH_EVIDENCE_REPLAY, true,
            "the model replays held-out stretches of the log well (%.2f; 0 is perfect, 1 "
            "ignorant)",
            replay);
    if (rh_trust__too_easy(model))
        say(v, RH_EVIDENCE_IMITATION, false,
            "random actions beat the logged controller in the model: unless that controller is "
            "poor, the model is too easy and the score means nothing; log more");
    if (e[RH_EVIDENCE_UNPROVEN].value > 0.0)
        say(v, RH_EVIDENCE_UNPROVEN, false,
            "the kind of model was not compared with others on this log: use model: auto");
    if (rare > 0.0)
        say(v, RH_EVIDENCE_RARE, false,
            "%.0f %% of the winner's runs score far below the others: look at them (runs.csv), "
            "or choose by the worst runs (--across worst)",
            100.0 * rare);
    if (beyond >= 2.0)
        say(v, RH_EVIDENCE_BEYOND, false,
            "the score exceeds the log by more than twice what the log's controller gains on "
            "random actions: try it on the plant with care");
    if (data < rh_ln(100.0))
        say(v, RH_EVIDENCE_DATA, false,
            "the least frequent action was taken %.0f times: log it more often", rh_exp(data));
}

static void say_level(rh_verdict *v, rh_trust_level most)
{
    rh_trust *t = &v->trust;
    static const char *const word[] = {
        [RH_TRUST_LOW] = "Low", [RH_TRUST_MEDIUM] = "Medium", [RH_TRUST_HIGH] = "High"};
    if (t->level == RH_TRUST_UNKNOWN)
        snprintf(t->text, sizeof t->text, "Not known: %s.",
                 !v->finished    ? "the study is not finished"
                 : v->winner < 0 ? "there is nothing to deploy"
                                 : "the choice was not checked in other models of the log");
    else if (t->level == RH_TRUST_CANNOT)
        snprintf(t->text, sizeof t->text, "No: this log cannot say which setting is best.");
    else
        snprintf(t->text, sizeof t->text,
                 "%s: %.0f %% sure that no other setting of this agent is clearly better%s.",
                 word[t->level], 100.0 * t->probability,
                 most < RH_TRUST_HIGH ? ", but what speaks against the agent weighs more" : "");
}

void rh_trust__judge(rh_verdict *v, const rh_findings *model)
{
    v->trust.level = RH_TRUST_UNKNOWN;
    v->trust.probability = NAN;
    v->trust.nreason = 0;
    rh_trust_level most = least(bound_of(&v->findings), bound_of(model));
    bool known = v->finished && v->winner >= 0 && v->check.nmodel;
    if (known) {
        v->trust.probability = probability_of(v, model);
        v->trust.level = level_of(v, most);
    }
    say_level(v, most);
    say_vetoes(v, &v->findings);
    say_vetoes(v, model);
    say_errors(v, &v->findings);
    say_errors(v, model);
    if (!known)
        return;
    say_settings(v);
    say_models(v);
    say_log(v, model);
}
