// today.c - is the chosen agent better than the logged controller, and how often does it fail?
//
// 1. Better is judged over a whole run, from its first step, by its probability (claims.c): yes
//    from SURE on, no up to 1 - SURE. Beside it stand the score at the end of a run, in its
//    last tenth, and the step at which learning has paid. An unconfirmed score is the best of
//    many, so the answer is not known.
// 2. The interval at the end is that of the members' means, and at least as wide as that of the
//    whole run on either side: it allows for errors of the models, and for how little the log
//    says about its own controller (promise.c, decisions 6 to 9), and the end has them too.
// 3. A run has caught up where the rewards since its start reach those of the logged
//    controller, by episodes or steps, and do not fall behind again. Half of the runs had
//    caught up at `catch_up`.
//    A clone of the logged controller may be among the settings. It has the errors of the same
//    models, so it is shown beside the agent. If the clone itself is chosen, nothing that was
//    tried is better than the controller there is.
// 4. A rate of failures is that of the model's own kind. Episodes of one run are not
//    independent: an agent that learned badly fails again and again. So the interval is
//    Student's over members, or runs if these are few, of the ratio of two sums (Cochran,
//    Sampling Techniques, 1977, section 6.3). It includes Wilson's of all episodes, because
//    without a failure all members agree; and the rates of the other kinds of model.
// 5. The log's rate has Wilson's interval. More often: the agent's interval is above the log's.
//    About as often: its rate is within the log's interval. If neither, nothing is known: the
//    kinds of model disagree. By far: its lower end has more than FAR times the odds of the
//    log's upper end. Odds, because a log that fails in half of its episodes leaves no room for
//    twice the rate.
// 6. Rates are shares of episodes if the agent's episodes end as those of the log do. They do
//    not in a continuing task, or if most of either are cut off and the log has another time
//    limit: then failures in 1,000 steps.

#include "core.h"
#include "log/log.h"
#include "model/model.h"
#include "numeric/stats.h"
#include "plan.h"
#include "study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SURE 0.9     // decision 1: as for a high level (trust.c)
#define PROBABLY 0.6 // and a medium one
#define LEAST 5      // members, for decision 4
#define FAR 2.0      // decision 5; by hand
#define LONG 0.5     // decision 6: of the cut-off, as in findings.c
#define PER 1000.0   // steps of a rate
#define UPPER 0.975  // quantile of a 95 % interval

static const rh_reference unknown = {NAN, NAN, NAN};
static const rh_rate no_rate = {NAN, NAN, NAN, 0, 0};

const char *rh_answer__name(int answer)
{
    static const char *const name[] = {
        [RH_ANSWER_UNKNOWN] = "not known", [RH_ANSWER_NO] = "no", [RH_ANSWER_YES] = "yes"};
    return name[answer];
}

const char *rh_often__name(int often)
{
    static const char *const name[] = {[RH_OFTEN_UNKNOWN] = "unknown",
                                       [RH_OFTEN_LESS] = "less often",
                                       [RH_OFTEN_SAME] = "about as often",
                                       [RH_OFTEN_MORE] = "more often",
                                       [RH_OFTEN_FAR] = "far more often"};
    return name[often];
}

// ---------------------------------------------------------------------------- failures

typedef enum part { FIRST, ALL, LAST } part;

// Failures of a run in a part of it, of so many episodes or steps.
static void count(const rh_result *r, part which, bool per_steps, double *n, double *of)
{
    const int64_t tenth = (r->nstep + 9) / 10;
    const int64_t failure[] = {r->nfailure_first, r->nfailure, r->nfailure_last};
    const int64_t episode[] = {r->nepisode_first, r->nepisode, r->nepisode_last};
    const int64_t step[] = {tenth, r->nstep, tenth};
    *n += (double)failure[which];
    *of += (double)(per_steps ? step : episode)[which];
}

static rh_rate scaled(rh_rate rate, bool per_steps)
{
    double scale = per_steps ? PER : 1.0;
    return (rh_rate){scale * rate.rate, scale * rate.lo95, scale * rate.hi95, rate.n, rate.of};
}

// Decision 4: the rate in one kind of model, result (nmember x nrun).
static rh_rate rate_of(const rh_result *result, int nmember, int nrun, part which,
                       bool per_steps)
{
    double n = 0.0, of = 0.0, sum = 0.0;
    int size = nmember >= LEAST ? nrun : 1, m = nmember * nrun / size; // of m clusters
    for (int i = 0; i < nmember * nrun; i++)
        count(&result[i], which, per_steps, &n, &of);
    if (of < 1.0)
        return no_rate;
    rh_rate rate = {.rate = n / of, .n = (int64_t)n, .of = (int64_t)of};
    for (int c = 0; c < m; c++) {
        double part_n = 0.0, part_of = 0.0;
        for (int i = 0; i < size; i++)
            count(&result[c * size + i], which, per_steps, &part_n, &part_of);
        double from = part_n - rate.rate * part_of;
        sum += from * from;
    }
    double half = m < 2 ? 1.0
                        : rh_stats__student_quantile(UPPER, m - 1.0) *
                              sqrt((double)m / (m - 1.0) * sum) / of;
    rh_stats__wilson(n, of, &rate.lo95, &rate.hi95);
    rate.lo95 = fmax(fmin(rate.lo95, rate.rate - half), 0.0);
    rate.hi95 = fmin(fmax(rate.hi95, rate.rate + half), 1.0);
    return scaled(rate, per_steps);
}

// The rate of a trial, over all kinds of model.
static rh_rate rate_in_kinds(const rh_trial *t, part which, bool per_steps)
{
    int nkind = t->nkind > 1 ? t->nkind : 1, nmember = t->nmember / nkind;
    rh_rate rate = rate_of(t->result, nmember, t->nrun, which, per_steps);
    for (int k = 1; k < nkind; k++) {
        rh_rate other =
            rate_of(t->result + k * nmember * t->nrun, nmember, t->nrun, which, per_steps);
        rate.lo95 = fmin(rate.lo95, other.rate);
        rate.hi95 = fmax(rate.hi95, other.rate);
    }
    return rate;
}

// Decision 6.
static bool is_per_steps(const rh_study *study, const rh_trial *t)
{
    const rh_log *log = rh_study__whole_log(study);
    int64_t nstep = 0, nepisode = 0;
    int ncut = 0;
    if (study->task.continuing)
        return true;
    if (study->eval.cutoff == rh_log__time_limit(log))
        return false;
    for (int i = 0; i < t->nmember * t->nrun; i++) {
        nstep += t->result[i].nstep;
        nepisode += t->result[i].nepisode;
    }
    for (int e = 0; e < log->nepisode; e++)
        ncut += !(log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL);
    return 2 * ncut > log->nepisode ||
           (double)nstep > LONG * (double)study->eval.cutoff * (double)nepisode;
}

static double odds(double rate, bool per_steps)
{
    return per_steps ? rate : rate / (1.0 - rate);
}

static rh_often compare(const rh_failing *f)
{
    if (!f->rule->known || isnan(f->all.rate) || isnan(f->logged.rate))
        return RH_OFTEN_UNKNOWN;
    if (f->all.hi95 < f->logged.lo95)
        return RH_OFTEN_LESS;
    if (f->all.lo95 <= f->logged.hi95)
        return f->all.rate >= f->logged.lo95 && f->all.rate <= f->logged.hi95
                   ? RH_OFTEN_SAME
                   : RH_OFTEN_UNKNOWN;
    bool far = odds(f->all.lo95, f->per_steps) > FAR * odds(f->logged.hi95, f->per_steps);
    return far ? RH_OFTEN_FAR : RH_OFTEN_MORE;
}

// "3.1 % of episodes", "0.5 in 1,000 steps"
void rh_study__write_rate(const rh_failing *f, const rh_rate *rate, char text[60])
{
    if (f->per_steps)
        snprintf(text, 60, "%.3g in 1,000 steps", rate->rate);
    else
        snprintf(text, 60, "%.3g %% of episodes", 100.0 * rate->rate);
}

// by: whose rate it is, where that is not the agent's; may be "".
static void say_failures(rh_failing *f, const char *by)
{
    static const char *const compared[] = {[RH_OFTEN_UNKNOWN] =
                                               "Not known whether more often than",
                                           [RH_OFTEN_LESS] = "Less often than",
                                           [RH_OFTEN_SAME] = "About as often as",
                                           [RH_OFTEN_MORE] = "More often than",
                                           [RH_OFTEN_FAR] = "Far more often than"};
    char own[60], logged[60];
    if (isnan(f->all.rate)) {
        snprintf(f->text, sizeof f->text, "Not known: %.300s.",
                 f->rule->known ? "the runs have no whole episode" : f->rule->words);
        return;
    }
    rh_study__write_rate(f, &f->all, own);
    rh_study__write_rate(f, &f->logged, logged);
    snprintf(f->text, sizeof f->text,
             "%s the logged controller: %s%s, %s in the log (%" PRId64 " %s %" PRId64
             "). A failure is %.200s.",
             compared[f->often], own, by, logged, f->logged.n, f->per_steps ? "in" : "of",
             f->logged.of, f->rule->words);
}

void rh_study__find_failures(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_failing *f = &v->failing;
    *f = (rh_failing){.rule = rh_model__failure(rh_study__model(study)),
                      .first = no_rate,
                      .all = no_rate,
                      .last = no_rate,
                      .defaults = no_rate,
                      .logged = no_rate};
    say_failures(f, "");
    if (v->winner < 0 || !f->rule->known)
        return;
    const rh_trial *t = &v->trial[v->winner];
    f->per_steps = is_per_steps(study, t);
    f->first = rate_in_kinds(t, FIRST, f->per_steps);
    f->all = rate_in_kinds(t, ALL, f->per_steps);
    f->last = rate_in_kinds(t, LAST, f->per_steps);
    if (study->defaults)
        f->defaults = rate_of(study->defaults, study->ndefault_member, study->ndefault_run, ALL,
                              f->per_steps);
    rh_failure__count log =
        rh_failure__count_log(f->rule, rh_study__whole_log(study), study->task.continuing);
    f->logged.n = log.n;
    f->logged.of = f->per_steps ? log.nstep : log.nepisode;
    f->logged.rate = (double)log.n / (double)f->logged.of;
    rh_stats__wilson((double)log.n, (double)f->logged.of, &f->logged.lo95, &f->logged.hi95);
    f->logged = scaled(f->logged, f->per_steps);
    f->often = compare(f);
    say_failures(f, !rh_study__clone_won(study) ? ""
                    : v->imitation.poor         ? " by its poor clone"
                                                : " by its clone");
}

// ---------------------------------------------------------------------------- scores

// The last tenth of the runs in the model's own kind. Scratch: mean, sorted (nmember x nrun).
static rh_reference end_of(const rh_trial *t, double *mean, double *sorted)
{
    int nmember = t->nmember / (t->nkind > 1 ? t->nkind : 1), n = 0;
    int size = nmember > 1 ? t->nrun : 1, m = nmember * t->nrun / size;
    for (int c = 0; c < m; c++) {
        double sum = 0.0;
        int known = 0;
        for (int i = 0; i < size; i++) {
            const rh_result *r = &t->result[c * size + i];
            if (r->outcome == RH_FINISHED && isfinite(r->last)) {
                sum += r->last;
                known++;
            }
        }
        if (known)
            mean[n++] = sum / known;
    }
    rh_summary s = rh_summarise(mean, n, sorted);
    return 2 * n < m ? unknown : (rh_reference){s.mean, s.lo95, s.hi95};
}

// Decision 2.
static void widen(rh_reference *end, const rh_reference *learning)
{
    end->lo95 = fmin(end->lo95, end->score - (learning->score - learning->lo95));
    end->hi95 = fmax(end->hi95, end->score + (learning->hi95 - learning->score));
    if (isnan(learning->lo95) || isnan(learning->hi95))
        end->lo95 = end->hi95 = NAN;
    if (learning->hi95 == 0.0) // all rewards are costs, or all are gains
        end->hi95 = fmin(end->hi95, 0.0);
    if (learning->lo95 == 0.0)
        end->lo95 = fmax(end->lo95, 0.0);
}

// Decision 3. Scratch: at (nmember x nrun).
static void find_catch_up(rh_study *study, const rh_trial *t, double *at)
{
    rh_today *today = &study->verdict.today;
    int nmember = t->nmember / (t->nkind > 1 ? t->nkind : 1), n = 0, ncaught = 0;
    if (isnan(study->eval.today))
        return;
    for (int i = 0; i < nmember * t->nrun; i++) {
        const rh_result *r = &t->result[i];
        bool caught = r->outcome == RH_FINISHED && r->caught_up > 0;
        if (r->outcome == RH_STOPPED)
            continue;
        at[n++] = caught ? (double)r->caught_up : INFINITY;
        ncaught += caught;
    }
    if (n == 0)
        return;
    rh_stats__sort(at, n);
    today->caught_up = (double)ncaught / n;
    today->catch_up = isfinite(at[n / 2]) ? (int64_t)at[n / 2] : 0;
}

static bool is_clone(const rh_study *study, const rh_trial *t)
{
    return study->head.start.n > 0 &&
           strcmp(study->plan->agents.type[t->agent]->name, RH_PLAN__CLONE) == 0;
}

int rh_study__clone(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        if (is_clone(study, &v->trial[i]) && isfinite(v->trial[i].value))
            return i;
    return -1;
}

bool rh_study__clone_won(const rh_study *study)
{
    return study->verdict.winner >= 0 && rh_study__clone(study) == study->verdict.winner;
}

// Decision 1.
static rh_answer answer_of(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    double p = v->trust.claim[RH_CLAIM_BETTER].probability;
    if (!v->finished || !v->trial[v->winner].confirm)
        return RH_ANSWER_UNKNOWN;
    if (is_clone(study, &v->trial[v->winner]))
        return p > 1.0 - PROBABLY ? RH_ANSWER_UNKNOWN : RH_ANSWER_NO;
    return p >= SURE         ? RH_ANSWER_YES // false where it is unknown
           : p <= 1.0 - SURE ? RH_ANSWER_NO
                             : RH_ANSWER_UNKNOWN;
}

// The answer in a word or two.
static const char *word_of(const rh_verdict *v)
{
    double p = v->trust.claim[RH_CLAIM_BETTER].probability;
    bool fails = v->failing.often >= RH_OFTEN_MORE;
    if (v->today.better == RH_ANSWER_NO)
        return "No";
    if (v->today.better == RH_ANSWER_YES)
        return fails ? "By its reward, yes" : "Yes";
    if (p >= PROBABLY)
        return fails ? "By its reward, probably" : "Probably";
    return p <= 1.0 - PROBABLY ? "Probably not" : "Not known";
}

// The clone of the controller is the winner.
static void say_keep(rh_verdict *v, const char *per)
{
    rh_today *t = &v->today;
    double p = v->trust.claim[RH_CLAIM_BETTER].probability;
    if (v->candidate < 0)
        snprintf(t->text, sizeof t->text,
                 "No: no agent can be deployed. Keep the controller you have.");
    else
        snprintf(t->text, sizeof t->text,
                 "%s: %.4g %s over a whole run by the best agent, %.4g by a %sclone of the "
                 "logged controller in the same models, %.4g in the log. Keep the controller "
                 "you have, not its clone.",
                 p >= PROBABLY        ? "Probably, but not trusted (below)"
                 : p > 1.0 - PROBABLY ? "Not known"
                 : p > 1.0 - SURE     ? "Probably not"
                                      : "No",
                 v->trial[v->candidate].value, per, v->trial[v->winner].value,
                 v->imitation.poor ? "poor " : "", v->logged.score);
}

static void say_today(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_today *t = &v->today;
    double p = v->trust.claim[RH_CLAIM_BETTER].probability;
    char per[40] = "per episode", learning[100] = "", end[60] = "";
    if (v->per_steps)
        snprintf(per, sizeof per, "per %" PRId64 " steps", v->per_steps);
    if (t->catch_up)
        snprintf(learning, sizeof learning,
                 " Learning has paid for itself after %" PRId64 " steps.", t->catch_up);
    else if (!isnan(t->caught_up))
        snprintf(learning, sizeof learning,
                 " In %" PRId64 " steps learning has not paid for itself.", study->eval.nstep);
    if (!isnan(t->end.score))
        snprintf(end, sizeof end, " (%.4g at its end)", t->end.score);
    if (v->winner < 0 && v->limiting.nearest >= 0)
        snprintf(t->text, sizeof t->text, "No: no setting that was tried keeps the limits.%s",
                 v->limiting.logged ? " Keep the controller you have." : "");
    else if (v->winner < 0)
        snprintf(t->text, sizeof t->text, "Not known: no setting has a finite score.");
    else if (isnan(v->logged.score))
        snprintf(t->text, sizeof t->text,
                 "Not known: the log has no whole episode to compare with.");
    else if (is_clone(study, &v->trial[v->winner]))
        say_keep(v, per);
    else
        snprintf(t->text, sizeof t->text,
                 "%s: %.4g %s over a whole run%s%s, %.4g by the logged controller.%s%s",
                 word_of(v), t->learning.score, per, end,
                 v->trial[v->winner].confirm ? "" : ", unconfirmed", v->logged.score, learning,
                 t->better == RH_ANSWER_NO || p <= 1.0 - PROBABLY // false where it is unknown
                     ? " Keep the controller you have."
                     : "");
}

static rh_status find_today(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_today *today = &v->today;
    const rh_fidelity *fidelity = rh_model_fidelity(rh_study__model(study));
    bool easy = fidelity && rh_trust__too_easy(&fidelity->findings);
    *today = (rh_today){.learning = unknown,
                        .end = unknown,
                        .defaults = unknown,
                        .clone = unknown,
                        .caught_up = NAN};
    if (v->winner < 0)
        return RH_OK;
    const rh_trial *t = &v->trial[v->winner];
    double *work = rh_alloc((size_t)t->nmember * (size_t)t->nrun, 2 * sizeof *work);
    if (!work)
        return RH_ENOMEM;
    today->learning =
        (rh_reference){t->value, easy ? (double)NAN : t->lo95, easy ? (double)NAN : t->hi95};
    if (study->eval.criterion == RH_FINAL)
        today->end = today->learning;
    else if (!isnan(study->eval.today)) {
        today->end = end_of(t, work, work + t->nmember * t->nrun);
        widen(&today->end, &today->learning);
    }
    find_catch_up(study, t, work);
    if (study->defaults) {
        rh_value__estimate value =
            rh_value__of(rh_study__judge(study->plan), study->ndefault_member,
                         study->ndefault_run, study->defaults, NULL, study->work);
        today->defaults = (rh_reference){value.value, value.lo95, value.hi95};
    }
    int clone = rh_study__clone(study);
    if (clone >= 0 && !easy)
        today->clone =
            (rh_reference){v->trial[clone].value, v->trial[clone].lo95, v->trial[clone].hi95};
    today->better = answer_of(study);
    rh_free(work);
    return RH_OK;
}

rh_status rh_study__answer(rh_study *study)
{
    rh_study__find_failures(study);
    rh_status rc = find_today(study);
    say_today(study);
    return rc;
}
