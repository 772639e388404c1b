// reasons.c - what speaks for and against an answer, in words.
//
// Pieces of evidence beyond a threshold that people understand, the most important first, each
// with what to do about it. They explain the level, they do not enter it; findings that bound
// the level come before them (vetoes.c).

#include "trust.h"

#include "evidence.h"
#include "limits.h"

#include <math.h>
#include <stdarg.h>

#define MORE_RUNS 4 // times the runs that left it open

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

void rh_trust__say(rh_verdict *v, const char *id, bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(v, id, good, format, args);
    va_end(args);
}

__attribute__((format(printf, 4, 5))) static void say(rh_verdict *v, rh_evidence__name name,
                                                      bool good, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(v, v->trust.evidence[name].name, good, format, args);
    va_end(args);
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
    if (rival > 100.0 * RH_TRUST__DEPENDS)
        say(v, RH_EVIDENCE_RIVAL, false,
            "another setting may be better by %.0f %% of what tuning gains: add runs to this "
            "study, --confirm-runs %d",
            rival, MORE_RUNS * v->trial[v->winner].nrun);
    else if (rival <= 100.0 * RH_TRUST__DEPENDS)
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
    else if (halves > RH_TRUST__DEPENDS)
        say(v, RH_EVIDENCE_HALVES, false,
            "a model of half of the log prefers another setting, by %.0f %% of what tuning "
            "gains: log more",
            100.0 * halves);
    if (variants <= 0.05)
        say(v, RH_EVIDENCE_VARIANTS, true,
            "models with other parameters (neighbours, coverage radius, representation) choose "
            "this setting, or one as good");
    else if (variants > RH_TRUST__DEPENDS)
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
static void say_log(rh_verdict *v)
{
    const rh_evidence *e = v->trust.evidence;
    double coverage = e[RH_EVIDENCE_COVERAGE].value, replay = e[RH_EVIDENCE_REPLAY].value,
           rare = e[RH_EVIDENCE_RARE].value, data = e[RH_EVIDENCE_DATA].value,
           beyond = e[RH_EVIDENCE_BEYOND].value, unlogged = e[RH_EVIDENCE_UNLOGGED].value,
           beside = e[RH_EVIDENCE_BESIDE].value, shown = e[RH_EVIDENCE_SHOWN].value;
    if (shown < RH_TRUST__SHOWN)
        say(v, RH_EVIDENCE_SHOWN, false,
            "where the log differs from what its controller usually does, at most %.0f %% of "
            "the "
            "effects that the model predicts came: log such steps (log_next.csv)",
            100.0 * fmax(shown, 0.0));
    if (beside > RH_TRUST__BESIDE)
        say(v, RH_EVIDENCE_BESIDE, false,
            "replays are %.1f times as far off where the log differs from what its controller "
            "usually does: log more such steps (log_next.csv)",
            beside);
    if (unlogged > RH_TRUST__UNLOGGED)
        say(v, RH_EVIDENCE_UNLOGGED, false,
            "in %.0f %% of its steps the agent does what the log hardly ever did there, or "
            "only "
            "for a reason of the controller's: log it (log_next.csv)",
            100.0 * unlogged);
    if (coverage > 0.05)
        say(v, RH_EVIDENCE_COVERAGE, false,
            "%.0f %% of the winner's steps are where the log has nothing similar: log there",
            100.0 * coverage);
    if (replay > RH_TRUST__IGNORANT)
        say(v, RH_EVIDENCE_REPLAY, false,
            "the model replays held-out stretches of the log hardly better than a random "
            "stretch would (%.2f; 0 is perfect, 1 ignorant): log more, or more variables",
            replay);
    else if (replay <= 0.5)
        say(v, RH_EVIDENCE_REPLAY, true,
            "the model replays held-out stretches of the log well (%.2f; 0 is perfect, 1 "
            "ignorant)",
            replay);
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

// Limits of which the log shows little.
static void say_limits(rh_verdict *v)
{
    char often[RH_LIMITS__OFTEN];
    for (int i = 0; i < v->limiting.n; i++)
        if (rh_limits__hardly_seen(&v->limiting.of[i], often))
            rh_trust__say(v, "limit-unseen", false,
                          "the log %s, so models may have it too seldom: begin with a blend "
                          "(deploy)",
                          often);
}

void rh_trust__explain(rh_verdict *v)
{
    say_limits(v);
    say_settings(v);
    say_models(v);
    say_log(v);
}
