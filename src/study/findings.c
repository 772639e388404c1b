// findings.c - what is to be known before the answer of a study is used.
//
// Each has a name that stays, what was seen with its numbers, and what to do. Thresholds:
//
// 1. Into the unknown: a model that answers 1 step in 20 without knowing is a guess; 1 in 100
//    is worth a word.
// 2. Nothing told apart: when chance leaves open which of more than half of all settings is
//    best, the choice among them is no better than a draw. This is how a log that cannot answer
//    shows itself (the paper's Cartpole). A search that goes where it is good ends among
//    settings that are alike, which says nothing: of bayes and cem only those count that were
//    asked for before anything was known.
// 3. A fall: the confirmed interval of the winner lies wholly below the one it was found with:
//    what made it win was the model it was found in, or its random stream.
// 4. Too good: an agent that, while it learns, gets more on average than the best episode of
//    the log has found a way that is probably the model's alone. The choice may still be right
//    (Acrobot's models are far too easy and rank settings well), its score is not to be
//    expected.

#include "core.h"

#include <math.h>
#include <string.h>

#define UNKNOWN_MUCH 0.05
#define UNKNOWN_SOME 0.01
#define ALIKE 0.5

// The value of a parameter of the agent at x (ndim), as a user would write it.
static void write_value(const rh_plan *plan, int d, const double *x, char text[40])
{
    double hp[RH_STUDY__NHP];
    int p = plan->dim[d].param;
    rh_plan_hp(plan, x, hp);
    rh_param_format(&plan->agent->param[p], hp[p], text, 40);
}

static void at_bounds(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_plan *plan = study->plan;
    for (int d = 0; d < plan->space.ndim && v->winner >= 0; d++) {
        if (!v->bound[d])
            continue;
        char value[40];
        const char *name = plan->agent->param[plan->dim[d].param].name;
        write_value(plan, d, v->trial[v->winner].x, value);
        rh_finding *f = rh_findings__add(
            &v->findings, RH_WARNING, "at-bound", 1,
            "%s = %s is at the %s end of what was tried", name, value,
            (v->bound[d] > 0) == (plan->dim[d].form != RH_FORM_ONE_MINUS) ? "upper" : "lower");
        f->dim = d;
        rh_findings__advise(f,
                            "the best may lie beyond: a wider range, in a folder of its own");
    }
}

static void uncovered_steps(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->winner < 0)
        return;
    double share = v->trial[v->winner].out_of_coverage;
    if (share < UNKNOWN_SOME)
        return;
    rh_severity severity = share < UNKNOWN_MUCH ? RH_NOTICE : RH_WARNING;
    rh_findings__advise(
        rh_findings__add(&v->findings, severity, "unknown", 1,
                         "%.1f %% of the winner's steps led out of what the log knows",
                         100.0 * share),
        "log more of what the agent does there, or let it explore less");
}

// Return of the log's best episode.
static double best_logged(const rh_log *log)
{
    double best = -INFINITY;
    for (int e = 0; e < log->nepisode; e++) {
        double sum = 0.0;
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++)
            sum += log->reward[i];
        best = fmax(best, sum);
    }
    return best;
}

static void too_good(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->winner < 0 || study->task.continuing)
        return;
    double value = v->trial[v->winner].value;
    // episodes of the model's own copy may be in pieces, where numbers were missing
    const rh_log *log = study->log ? study->log : rh_model_log(rh_study_model(study));
    double logged = best_logged(log);
    if (value > logged)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_WARNING, "too-good", 1,
                "%.4g is expected of an episode, and the best of the log's %d has %.4g", value,
                log->nepisode, logged),
            "do not expect this score: the model has short cuts that the log's world may not "
            "have; see whether a shorter reach (--reach 95%%) leads to the same setting");
}

static void told_apart(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int nknown = 0, nalike = 0;
    if (v->search_best < 0)
        return;
    const rh_trial *best = &v->trial[v->search_best];
    const rh_search_type *method = study->plan->method;
    bool spread = method->finite || strcmp(method->name, "random") == 0;
    for (int i = 0; i < v->ntrial - v->nconfirm; i++) {
        const rh_trial *t = &v->trial[i];
        if (isnan(t->value) || i == v->search_best || (!spread && t->setting >= study->nfirst))
            continue;
        nknown++;
        nalike += t->state != RH_SETTING_DROPPED &&
                  rh_value_tied(rh_study__judge(study->plan), t->nmember, best->nrun,
                                best->result, t->nrun, t->result, study->work);
    }
    if (nknown >= 3 && nalike > ALIKE * nknown)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_WARNING, "all-alike", nalike,
                "%d of %d other settings%s are not told from the best of the search", nalike,
                nknown, spread ? "" : " that were tried first"),
            "longer runs or more runs may tell them apart; if not, this log cannot, or it "
            "does not matter");
}

static void broken_runs(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int nsetting = 0;
    int64_t nunit = 0, own = 0;
    for (int i = 0; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        if (!t->ndiverged)
            continue;
        const rh_study__record *tried = rh_study__find(study, t->setting, false);
        nsetting += !t->confirm || tried->trial.ndiverged == 0;
        nunit += t->ndiverged;
        own += v->winner >= 0 && t->setting == v->trial[v->winner].setting ? t->ndiverged : 0;
    }
    if (own)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_WARNING, "winner-diverged", own,
                "%lld of the winner's own runs broke down: its numbers were no longer finite",
                (long long)own),
            "choose a tied setting that did not, or smaller steps");
    else if (nunit)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_NOTICE, "diverged", nunit,
                "%lld li%s of %d setting%s broke down and count%s as the worst that can be",
                (long long)nunit, nunit == 1 ? "fe" : "ves", nsetting, nsetting == 1 ? "" : "s",
                nunit == 1 ? "s" : ""),
            "nothing, where these are settings nobody would choose");
}

static void confirmation(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->winner < 0 || !v->finished)
        return;
    const rh_trial *winner = &v->trial[v->winner];
    if (!winner->confirm) {
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_NOTICE, "not-confirmed", 1,
                             "the winner's score is that of the search, and the best of many "
                             "is partly random "
                             "stream"),
            "let the leading settings be confirmed on models and random stream of their own");
        return;
    }
    const rh_trial *found = &v->trial[v->winner_search];
    if (winner->hi95 < found->lo95)
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_WARNING, "fell", 1,
                             "the winner scored %.4g (%.4g to %.4g) when it was found, and "
                             "%.4g (%.4g to %.4g) "
                             "in models of parts of the log",
                             found->value, found->lo95, found->hi95, winner->value,
                             winner->lo95, winner->hi95),
            "the answer depends on which part of the log a model knows: more log, or members "
            "in the search as well");
    else if (v->search_best != v->winner_search)
        rh_findings__advise(rh_findings__add(&v->findings, RH_NOTICE, "other-winner", 1,
                                             "setting %d led the search, and setting %d came "
                                             "out best when both were confirmed",
                                             v->trial[v->search_best].setting, winner->setting),
                            "nothing: this is what a confirmation is for");
}

rh_status rh_study__findings(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (!rh_findings__begin(&v->findings))
        return RH_ENOMEM;
    told_apart(study);
    confirmation(study);
    too_good(study);
    uncovered_steps(study);
    broken_runs(study);
    at_bounds(study);
    return rh_findings__end(&v->findings) ? RH_OK : RH_ENOMEM;
}
