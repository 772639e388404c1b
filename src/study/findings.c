// findings.c - what to know before deploying the result of a study.
//
// Every finding has a stable id, evidence with numbers, and a remedy. Thresholds:
//
// 1. out-of-coverage: a model that guesses 1 step in 20 is not reliable; 1 in 100 is a notice.
// 2. all-tied: when more than half of all settings are statistically tied with the best, the
//    choice is no better than a draw. A log that cannot rank settings shows itself this way
//    (the paper's Cartpole). A search that converges ends among equal settings, which means
//    nothing: of bayes and cem only the settings of the first ask count.
// 3. confirmed-lower: the winner's interval in the confirmation lies entirely below that in the
//    search. It won because of one model or its random streams.
// 4. failed: an agent of another program crashed, hung or answered nonsense. An error if most
//    runs did: the scores are then those of the failure. diverged: a warning if most settings
//    did, because the space is then wrong.
// 5. cut-off: a score per episode counts an episode that was cut off as a whole one. Where the
//    winner's episodes last half as long as the cut-off allows, many are, and without a
//    cut-off they last longer. Not if the plant itself has this time limit. Measured in Acrobot
//    with runs of 5,000 steps and a cut-off of 167: promised -92 (-121 to -2), on the plant
//    -176.
// 6. too-good: see too_good.c. rare-failures: see promise.c. fails-more and not-better: see
//    today.c. The agent's defaults are better if their interval is above the winner's score.
// 7. model-exploited: agents lose half of what they gained on random actions when they are
//    moved to a model of other data (transfer.c), and score less there.
// 8. few-steps: of 36 agents that small studies chose from 1,000 steps of the plants in the
//    half for thresholds 24 were worse than the controller; of 70 from 2,000 and 4,000 steps
//    19 (bench/verdict_plants.csv).
// 9. A clone of the controller that won is not the agent, and is not deployed: how it compares
//    with the agent's settings and defaults, random actions and the log is no finding.

#include "base/base.h"
#include "core.h"
#include "eval/eval.h"
#include "log/log.h"
#include "model/model.h"
#include "study.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define COVERAGE_WARNING 0.05 // decision 1; by hand
#define COVERAGE_NOTICE 0.01  // decision 1; by hand
#define TIED 0.5              // decision 2
#define MOSTLY 0.5            // decision 4; by hand
#define SHORT 1500            // decision 8: between 1,000 and 2,000 steps
#define LONG 0.5              // decision 5, of the cut-off; by hand
#define EXPLOITED 0.5         // decision 7; by hand

// The agent's value of a dimension at x (ndim), as text.
static void write_value(const rh_plan *plan, int d, const double *x, char text[40])
{
    double hp[RH_STUDY__NHP];
    rh_plan__hp(plan, x, hp);
    rh_param__format(rh_plan__dim(plan, d, NULL, NULL), hp[plan->dim[d].param], text, 40);
}

static void at_bounds(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_plan *plan = study->plan;
    for (int d = 0; d < plan->space.ndim && v->winner >= 0; d++) {
        if (!v->bound[d])
            continue;
        char value[40];
        const char *name = rh_plan__dim(plan, d, NULL, NULL)->name;
        bool upper = (v->bound[d] > 0) == (plan->dim[d].form != RH_FORM_ONE_MINUS);
        write_value(plan, d, v->trial[v->winner].x, value);
        rh_finding *f = rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_AT_BOUND, 1,
                                         "%s = %s is at the %s end of the searched range", name,
                                         value, upper ? "upper" : "lower");
        f->dim = d;
        rh_findings__advise(f, "search a wider range, in a new folder");
    }
}

static void out_of_coverage(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    double share = v->winner < 0 ? 0.0 : v->trial[v->winner].out_of_coverage;
    if (share < COVERAGE_NOTICE)
        return;
    rh_finding *f = rh_findings__add(
        &v->findings, share < COVERAGE_WARNING ? RH_NOTICE : RH_WARNING,
        RH_FINDING_OUT_OF_COVERAGE, 1,
        "%.1f %% of the winner's steps are out of the model's coverage", 100.0 * share);
    rh_findings__advise(f, "log more of what the agent does there, or let it explore less");
}

static void failures(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_failing *f = &v->failing;
    char own[60], last[60], logged[60];
    if (f->often < RH_OFTEN_MORE || rh_study__clone_won(study))
        return;
    rh_study__write_rate(f, &f->all, own);
    rh_study__write_rate(f, &f->last, last);
    rh_study__write_rate(f, &f->logged, logged);
    rh_findings__advise(
        rh_findings__add(&v->findings, f->often == RH_OFTEN_FAR ? RH_ERROR : RH_WARNING,
                         RH_FINDING_FAILS_MORE, f->all.n,
                         "the agent fails %s: %s in the models, %s at the end of a run, %s in "
                         "the log; a failure is %.160s",
                         rh_often__name(f->often), own, last, logged, f->rule->words),
        "let a failure cost what it costs you (--reward), or say what one is (--failure)");
}

static void not_better(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_today *t = &v->today;
    int judged = rh_study__judged(v);
    if (t->better == RH_ANSWER_NO && judged >= 0)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_WARNING, RH_FINDING_NOT_BETTER, 1,
                "over a whole run the agent scores %.4g (%.4g to %.4g), the logged "
                "controller %.4g",
                v->trial[judged].value, v->trial[judged].lo95, v->trial[judged].hi95,
                v->logged.score),
            "keep the controller; try longer runs (--steps) or another agent (--agent)");
    if (rh_study__clone_won(study)) // decision 9
        return;
    if (v->winner >= 0 && t->defaults.lo95 > t->learning.score) // false where it is unknown
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_DEFAULTS_BETTER, 1,
                             "the agent's defaults score %.4g (%.4g to %.4g), the chosen "
                             "setting %.4g",
                             t->defaults.score, t->defaults.lo95, t->defaults.hi95,
                             t->learning.score),
            v->limiting.n ? "search more settings (--trials), around them (--set): they were "
                            "not shown to keep the limits"
                          : "deploy the defaults, or search more settings (--trials), around "
                            "them (--set)");
    if (v->winner >= 0 && v->trial[v->winner].value <= v->random.hi95) // false where unknown
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_LIKE_RANDOM, 1,
                             "the chosen setting scores %.4g, random actions %.4g (%.4g to "
                             "%.4g): nothing is learned in time",
                             v->trial[v->winner].value, v->random.score, v->random.lo95,
                             v->random.hi95),
            "use longer runs (--steps) or another agent (--agent); or this log cannot tell "
            "good from bad");
}

static void rare_failures(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->rare.n == 0)
        return;
    const rh_trial *t = &v->trial[v->winner];
    rh_findings__advise(
        rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_RARE_FAILURES, v->rare.n,
                         "%d of the winner's %d runs score %.4g on average, the median run "
                         "%.4g; the score averages them",
                         v->rare.n, t->nmember * t->nrun, v->rare.score, v->rare.usual),
        "expect such a run on the plant, too: find out what happens in it (runs.csv has its "
        "number), or choose settings by their worst runs (--across worst)");
}

static void exploited(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_transfer *t = &v->transfer;
    if (!(t->share >= EXPLOITED && t->other < t->same)) // false where it is unknown
        return;
    rh_findings__advise(
        rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_MODEL_EXPLOITED, t->n,
                         "agents that learned in a model of half of the log score %.4g there "
                         "and %.4g in a model of the other half: they use errors of the model",
                         t->same, t->other),
        "expect less than the score on the plant; log more of what agents do (log_next.csv)");
}

static void cut_off(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int64_t most = study->eval.cutoff, nstep = 0, nepisode = 0;
    if (v->winner < 0 || study->task.continuing || most <= 0 ||
        most == rh_log__time_limit(rh_study__whole_log(study)))
        return;
    const rh_trial *t = &v->trial[v->winner];
    for (int i = 0; i < t->nmember * t->nrun; i++) {
        nstep += t->result[i].nstep;
        nepisode += t->result[i].nepisode;
    }
    double length = nepisode ? (double)nstep / (double)nepisode : (double)nstep;
    if (length < LONG * (double)most)
        return;
    rh_findings__advise(
        rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_CUT_OFF, 1,
                         "the winner's episodes last %.4g steps on average and are cut off "
                         "after %lld: many of them do not end",
                         length, (long long)most),
        "do not compare the score with whole episodes of the plant: use longer runs (--steps) "
        "or a later --cutoff, or read it as the score of episodes that are stopped then");
}

bool rh_study__is_spread(const rh_study *study, int setting)
{
    const rh_search_type *method = study->plan->method;
    return method->finite || strcmp(method->name, "random") == 0 || setting < study->nfirst;
}

int rh_study__count_tied(rh_study *study, int *nknown)
{
    const rh_verdict *v = &study->verdict;
    int ntied = 0;
    *nknown = 0;
    for (int i = 0; i < v->ntrial - v->nconfirm && v->search_best >= 0; i++) {
        const rh_trial *t = &v->trial[i], *best = &v->trial[v->search_best];
        if (isnan(t->value) || t == best || !rh_study__is_spread(study, t->setting))
            continue;
        ++*nknown;
        ntied += t->state != RH_SETTING_DROPPED && !rh_study__is_behind(study, t, best) &&
                 rh_value__tied(rh_study__judge(study->plan), t->nmember, best->nrun,
                                best->result, t->nrun, t->result, study->work);
    }
    return ntied;
}

static void all_tied(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int nknown, ntied = rh_study__count_tied(study, &nknown);
    if (nknown < 3 || ntied <= TIED * nknown)
        return;
    bool spread = rh_study__is_spread(study, INT_MAX);
    rh_finding *f = rh_findings__add(
        &v->findings, RH_WARNING, RH_FINDING_ALL_TIED, ntied,
        "%d of %d other settings%s are statistically tied with the best of the search (95 %%)",
        ntied, nknown, spread ? "" : " of the first ask");
    rh_findings__advise(f,
                        "use longer or more runs; if they stay tied, this log cannot rank them "
                        "or they are equally good");
}

// Runs of a trial that failed, for a reason of their own.
static int count_failed(const rh_trial *t)
{
    int n = 0;
    for (int i = 0; i < t->nmember * t->nrun; i++)
        n += t->result[i].outcome == RH_FAILED;
    return n;
}

static void failed_runs(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int64_t nrun = 0, nall = 0;
    for (int i = 0; i < v->ntrial; i++) {
        nrun += v->trial[i].ndiverged ? count_failed(&v->trial[i]) : 0;
        nall += rh_study__count_runs(&v->trial[i]);
    }
    if (nrun)
        rh_findings__advise(
            rh_findings__add(
                &v->findings, (double)nrun > MOSTLY * (double)nall ? RH_ERROR : RH_WARNING,
                RH_FINDING_FAILED, nrun,
                "%lld of %lld runs failed and count as the worst possible%s%s", (long long)nrun,
                (long long)nall, *study->failure ? "; one of them: " : "", study->failure),
            "fix the agent and use a new folder; study.log has the reason of every such run");
}

static void diverged_runs(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    int nsetting = 0;
    int64_t nrun = 0, own = 0;
    for (int i = 0; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        int n = t->ndiverged ? t->ndiverged - count_failed(t) : 0;
        if (!n)
            continue;
        const rh_study__record *tried = rh_study__find(study, t->setting, false);
        nsetting += !t->confirm || tried->trial.ndiverged == 0;
        nrun += n;
        own += v->winner >= 0 && t->setting == v->trial[v->winner].setting ? n : 0;
    }
    if (v->winner < 0 && nrun)
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_ERROR, RH_FINDING_ALL_DIVERGED, nrun,
                             "%lld run%s diverged and no setting has a finite score, so there "
                             "is nothing to deploy",
                             (long long)nrun, nrun == 1 ? "" : "s"),
            "search smaller step sizes, in a new folder; look for huge rewards or sensor "
            "values in the log (rehearse inspect)");
    else if (own)
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_WINNER_DIVERGED, own,
                             "%lld of the winner's own runs diverged", (long long)own),
            "choose a tied setting without diverged runs, or smaller step sizes");
    else if (nrun)
        rh_findings__advise(
            rh_findings__add(&v->findings,
                             nsetting > MOSTLY * (v->ntrial - v->nconfirm) ? RH_WARNING
                                                                           : RH_NOTICE,
                             RH_FINDING_DIVERGED, nrun,
                             "%lld run%s of %d setting%s diverged; %s as the worst possible",
                             (long long)nrun, nrun == 1 ? "" : "s", nsetting,
                             nsetting == 1 ? "" : "s", nrun == 1 ? "it counts" : "they count"),
            "none needed if these settings are of no interest");
}

static void confirmation(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (v->winner < 0 || !v->finished)
        return;
    const rh_trial *winner = &v->trial[v->winner];
    if (!winner->confirm) {
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_NOTICE, RH_FINDING_NOT_CONFIRMED, 1,
                             "the score is that of the search; the best of many settings is "
                             "partly chance"),
            "confirm the leading settings on fresh models and random streams (--confirm)");
        return;
    }
    const rh_trial *found = &v->trial[v->winner_search];
    if (winner->kind[0].hi95 < found->lo95)
        rh_findings__advise(
            rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_CONFIRMED_LOWER, 1,
                             "the winner scored %.4g (%.4g to %.4g) in the search and %.4g "
                             "(%.4g to %.4g) in models of parts of the log",
                             found->value, found->lo95, found->hi95, winner->value,
                             winner->kind[0].lo95, winner->kind[0].hi95),
            "the result depends on the part of the log that a model is fitted to: log more, or "
            "use several members in the search (--members)");
    else if (v->search_best != v->winner_search && !rh_study__clone_won(study))
        rh_findings__advise(
            rh_findings__add(
                &v->findings, RH_NOTICE, RH_FINDING_OTHER_WINNER, 1,
                "the search alone would choose setting %d, the confirmation chose setting %d",
                v->trial[v->search_best].setting, winner->setting),
            "none needed: this is the purpose of a confirmation");
}

static void few_steps(rh_study *study)
{
    const rh_log *log = rh_study__whole_log(study);
    if (log->n < SHORT)
        rh_findings__advise(
            rh_findings__add(&study->verdict.findings, RH_NOTICE, RH_FINDING_FEW_STEPS, log->n,
                             "the log has %" PRId64 " steps, for models and for agents",
                             log->n),
            "log 2,000 steps or more");
}

static void poor_clone(rh_study *study)
{
    const rh_imitation *i = &study->verdict.imitation;
    if (i->poor)
        rh_findings__advise(rh_findings__add(&study->verdict.findings, RH_NOTICE,
                                             RH_FINDING_POOR_CLONE, i->n,
                                             "the clone of the logged controller %s", i->text),
                            "keep the controller itself; log all that it acts by");
}

// Errors that the user accepts, and warnings. Notices concern `inspect` alone.
static void of_the_log(rh_study *study)
{
    const rh_findings *log = study->report ? &study->report->findings : NULL;
    for (int i = 0; log && i < log->n; i++)
        if (log->item[i].severity != RH_NOTICE)
            rh_findings__copy(&study->verdict.findings, &log->item[i]);
}

rh_status rh_study__findings(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    if (!rh_findings__begin(&v->findings, RH_OF_STUDY))
        return RH_ENOMEM;
    all_tied(study);
    confirmation(study);
    rh_study__disagreement(study);
    rh_status rc = rh_study__too_good(study);
    failures(study);
    not_better(study);
    rare_failures(study);
    exploited(study);
    out_of_coverage(study);
    cut_off(study);
    failed_runs(study);
    diverged_runs(study);
    at_bounds(study);
    few_steps(study);
    poor_clone(study);
    rc = rc ? rc : rh_study__actuators(study);
    of_the_log(study);
    return rh_findings__end(&v->findings) ? rc : RH_ENOMEM;
}
