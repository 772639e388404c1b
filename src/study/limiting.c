// limiting.c - does a setting keep the limits, what do they cost, and the further scores.
//
// 1. A confirmed setting keeps a limit if the upper bound of its rate, with the plan's
//    confidence, is at most the limit in every kind of model. Of those that keep all of them
//    the one that holds best is chosen (verdict.c); without one there is nothing to deploy.
// 2. What a limit costs is how much higher the confirmed setting scores that would be chosen of
//    those that keep all other limits. 0: that one keeps this limit too, or scores no higher.
// 3. The logged controller keeps a limit if Wilson's upper bound of its rate in the log is at
//    most the limit. Only the log says so, with its own steps: no model is needed for it.
// 4. A setting is in the front if no other confirmed one that keeps the limits is at least as
//    good in every score and better in one. Means are compared, not intervals.

#include "core.h"
#include "log/log.h"
#include "model/model.h"
#include "study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- a trial

bool rh_study__allows(const rh_study *study, const rh_trial *trial, int except)
{
    bool all = true;
    for (int i = 0; i < study->limits.nlimit; i++)
        all = all && (i == except || trial->kept[i].upper <= study->limits.limit[i].most);
    return all;
}

double rh_study__excess(const rh_study *study, const rh_trial *trial, bool upper)
{
    double most = -INFINITY;
    for (int i = 0; i < study->limits.nlimit; i++) {
        const rh_kept *k = &trial->kept[i];
        most =
            fmax(most, rh_limits__above(&study->limits.limit[i], upper ? k->upper : k->rate));
    }
    return most;
}

// A limit in all kinds of model: the worst. study->seen holds the runs.
static rh_kept worst_of(const rh_study *study, const rh_trial *trial, int limit)
{
    int nmember = trial->nmember / trial->nkind;
    rh_kept worst = {.rate = NAN, .upper = NAN};
    for (int k = 0; k < trial->nkind; k++) {
        rh_kept kept =
            rh_limits__rate(&study->limits, limit, study->plan->sure,
                            study->seen + (size_t)k * (size_t)nmember * (size_t)trial->nrun,
                            nmember, trial->nrun);
        kept.kind = k;
        if (k == 0 || isnan(kept.upper) || kept.upper > worst.upper)
            worst = kept;
        if (isnan(worst.upper))
            break; // unknown in one kind
    }
    return worst;
}

// A further score in the model's own kind, like the main one.
static rh_reference also_of(rh_study *study, const rh_trial *trial, int which)
{
    int nmember = trial->nmember / trial->nkind;
    size_t n = (size_t)nmember * (size_t)trial->nrun;
    for (size_t i = 0; i < n; i++) {
        rh_result *r = &study->seen[i];
        r->score = r->also[which];
        if (isnan(r->score)) // the run broke down
            r->outcome = RH_STOPPED;
    }
    rh_value__estimate v = rh_value__of(rh_study__judge(study->plan), nmember, trial->nrun,
                                        study->seen, NULL, study->work);
    return (rh_reference){v.value, v.lo95, v.hi95};
}

void rh_study__weigh(rh_study *study, rh_study__record *record)
{
    rh_trial *trial = &record->trial;
    bool part = record->nasked < trial->nrun; // of a race
    trial->keeps = true;
    for (int i = 0; i < study->limits.nlimit; i++) {
        rh_kept *kept = &record->kept[i];
        double most = study->limits.limit[i].most;
        *kept = worst_of(study, trial, i);
        kept->keeps = trial->confirm      ? kept->upper <= most
                      : isnan(kept->rate) ? true // no episode was completed
                                          : (part ? kept->lower : kept->rate) <= most;
        trial->keeps = trial->keeps && kept->keeps;
    }
    for (int k = 0; k < study->limits.nalso; k++)
        record->also[k] = also_of(study, trial, k);
}

// What is told of a setting instead of its scores: how far above the limits each run is.
void rh_study__penalise(const rh_study *study, const rh_study__record *record, double *score,
                        rh_search__told *told)
{
    const rh_trial *trial = &record->trial;
    double mean = 0.0, square = 0.0;
    for (int r = 0; r < told->nrun; r++) {
        score[r] = 0.0;
        for (int m = 0; m < trial->nmember; m++)
            score[r] -=
                rh_limits__excess(&study->limits,
                                  &trial->result[(size_t)m * (size_t)trial->nrun + (size_t)r]) /
                trial->nmember;
        mean += score[r] / told->nrun;
    }
    for (int r = 0; r < told->nrun; r++)
        square += (score[r] - mean) * (score[r] - mean);
    told->value = mean;
    told->noise = told->nrun > 1 ? square / (told->nrun - 1.0) / told->nrun : (double)NAN;
    told->nbroken += told->nbroken == 0;
}

// ---------------------------------------------------------------------------- what can be
// counted

static bool any_terminal(const rh_log *log)
{
    bool any = false;
    for (int64_t i = 0; i < log->n && !any; i++)
        any = log->flag[i] & RH_FLAG_TERMINAL;
    return any;
}

rh_status rh_study__check_limits(const rh_study *study, rh_error *err)
{
    const rh_failure *rule = rh_model__failure(rh_study__model(study));
    for (int i = 0; i < study->limits.nlimit; i++) {
        const rh_constraint *limit = &study->limits.limit[i];
        bool failures = limit->counted == RH_COUNT_FAILURES,
             ends = limit->counted == RH_COUNT_ENDS;
        if (failures && !rule->known)
            return rh_fail(err, RH_EINVAL,
                           "at_most: %.40s: not known what a failure is: %.200s; or limit "
                           "every terminal end: 'terminal: 2 per 1000 steps'",
                           limit->event, rule->words);
        if (study->task.continuing && (ends || limit->unit == RH_PERCENT_OF_EPISODES))
            return rh_fail(err, RH_EINVAL,
                           "at_most: %.80s: episodes never end in this task, expected a rate "
                           "such as '%s2 per 1000 steps'",
                           limit->event, ends ? "trip: " : "");
        if (ends && !any_terminal(rh_study__whole_log(study)))
            return rh_fail(err, RH_EINVAL,
                           "at_most: terminal: no step of the log is terminal, so it does not "
                           "say how episodes end");
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- the verdict

// Whether a beats b: as good in every score and better in one.
static bool dominates(const rh_trial *a, const rh_trial *b, int nalso)
{
    bool as_good = a->value >= b->value, better = a->value > b->value;
    for (int k = 0; k < nalso; k++) {
        as_good = as_good && a->also[k].score >= b->also[k].score;
        better = better || a->also[k].score > b->also[k].score;
    }
    return as_good && better;
}

// Decision 4.
static void find_front(rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    rh_trial *trial = study->trial + v->ntrial - v->nconfirm;
    for (int i = 0; i < v->nconfirm; i++) {
        trial[i].front =
            study->limits.nalso > 0 && trial[i].keeps && rh_study__can_deploy(&trial[i]);
        for (int j = 0; j < v->nconfirm && trial[i].front; j++)
            trial[i].front = !(trial[j].keeps && rh_study__can_deploy(&trial[j]) &&
                               dominates(&trial[j], &trial[i], study->limits.nalso));
    }
}

// Decision 2.
static void find_cost(const rh_study *study, int limit, rh_limited *out)
{
    const rh_verdict *v = &study->verdict;
    out->without = -1;
    out->cost = NAN;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        if (t->ndiverged == 0 && rh_study__can_deploy(t) && rh_study__allows(study, t, limit) &&
            (out->without < 0 || rh_study__holds_better(t, &v->trial[out->without])))
            out->without = i;
    }
    if (v->winner < 0 || out->without < 0)
        return;
    const rh_trial *other = &v->trial[out->without];
    out->cost = other->keeps ? 0.0 : fmax(other->value - v->trial[v->winner].value, 0.0);
}

// A further score of the logged controller: the mean over its episodes, or of so many steps.
static rh_reference also_logged(const rh_study *study, int which)
{
    const rh_log *log = rh_study__whole_log(study);
    double sum = 0.0, n = 0.0;
    for (int64_t i = 0; i < log->n; i++) {
        double also[RH_MAX_ALSO];
        int64_t row = log->to[i] == RH_UNKNOWN ? log->from[i] : log->to[i];
        rh_done_step step = {log->act + i * log->nact, log->obs + row * log->nobs,
                             log->reward[i]};
        study->eval.measure(study->eval.limits, &step, also);
        sum += also[which];
    }
    if (study->task.continuing)
        n = (double)log->n / (double)study->eval.nstep;
    for (int e = 0; e < log->nepisode && !study->task.continuing; e++)
        n += log->start[e] || e == 0;
    return (rh_reference){n > 0.0 ? sum / n : (double)NAN, NAN, NAN};
}

static void say_rate(rh_text *t, const rh_constraint *limit, const rh_kept *kept,
                     const char *upper)
{
    char rate[60], bound[60], most[60];
    if (isnan(kept->rate)) {
        rh_text__format(t, "%s not known (no whole episode)", limit->event);
        return;
    }
    rh_limits__say(limit, kept->rate, rate);
    rh_limits__say(limit, kept->upper, bound);
    rh_limits__say(limit, limit->most, most);
    rh_text__format(t, "%s %s, %s %.*s (limit %.*s)", limit->event, rate, upper,
                    (int)strcspn(bound, " "), bound, (int)strcspn(most, " "), most);
}

// Rates of a trial, or where t is NULL of the logged controller.
static void say_rates(rh_text *text, const rh_limiting *l, const rh_trial *t)
{
    for (int i = 0; i < l->n; i++) {
        rh_text__add(text, i ? "; " : "");
        say_rate(text, &l->of[i].limit, t ? &t->kept[i] : &l->of[i].logged, "at most");
    }
}

// Limits of which the log shows little: models seldom leave what was logged.
static void say_unseen(rh_text *text, const rh_limiting *l)
{
    char often[RH_LIMITS__OFTEN];
    for (int i = 0; i < l->n; i++)
        if (rh_limits__hardly_seen(&l->of[i], often))
            rh_text__format(text, " The log %s, so models may have it too seldom.", often);
}

// What the limits cost.
static void say_costs(rh_text *text, const rh_study *study, const rh_limiting *l)
{
    const rh_verdict *v = &study->verdict;
    bool any = false;
    for (int i = 0; i < l->n; i++)
        if (l->of[i].cost > 0.0) {
            rh_text__format(text, " Without the limit of %s, setting %d would score %.3g more.",
                            l->of[i].limit.event, v->trial[l->of[i].without].setting,
                            l->of[i].cost);
            any = true;
        }
    if (!any && v->trial[v->winner].confirm)
        rh_text__add(text, l->n > 1 ? " They cost no score." : " It costs no score.");
}

static void say_limits(rh_text *text, const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    const rh_limiting *l = &v->limiting;
    int nkind = study->kinds.n;
    if (v->winner < 0 && !v->finished) {
        rh_text__add(text, "Not known: the study is not finished.");
    } else if (v->winner < 0) {
        rh_text__format(text, "No setting keeps %s.", l->n > 1 ? "them" : "it");
        if (l->nearest >= 0) {
            rh_text__format(text, " The nearest, setting %d: ", v->trial[l->nearest].setting);
            say_rates(text, l, &v->trial[l->nearest]);
            rh_text__add(text, ".");
            if (rh_study__excess(study, &v->trial[l->nearest], false) <= 0.0)
                rh_text__add(text, " More runs may show that it keeps them (--confirm-runs).");
        }
        rh_text__add(text, " The logged controller, in the log: ");
        say_rates(text, l, NULL);
        rh_text__add(text, l->logged ? ". Keep the controller you have." : ".");
    } else {
        const rh_trial *t = &v->trial[v->winner];
        bool keeps = t->confirm ? t->keeps : rh_study__allows(study, t, -1);
        rh_text__format(text, "%s (%.4g %% sure", keeps ? "Yes" : "Not known", 100.0 * l->sure);
        if (t->confirm && nkind > 1)
            rh_text__format(text, ", in the worst of %d kinds of model", nkind);
        if (rh_study__clone_won(study))
            rh_text__add(text, ", a clone of the controller");
        rh_text__add(text, "): ");
        say_rates(text, l, t);
        rh_text__add(text, ".");
        say_costs(text, study, l);
        say_unseen(text, l);
    }
}

void rh_study__limiting(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    rh_limiting *l = &v->limiting;
    const rh_limits *limits = &study->limits;
    *l = (rh_limiting){.n = limits->nlimit,
                       .nalso = limits->nalso,
                       .sure = study->plan->sure,
                       .nearest = -1,
                       .logged = true};
    for (int k = 0; k < l->nalso; k++) {
        l->also[k] = limits->also[k];
        l->today[k] = also_logged(study, k);
    }
    find_front(study);
    if (!l->n)
        return;
    const rh_failure *rule = rh_model__failure(rh_study__model(study));
    for (int i = 0; i < l->n; i++) {
        l->of[i].limit = limits->limit[i];
        l->of[i].logged = rh_limits__logged(limits, i, l->sure, rh_study__whole_log(study),
                                            rule, study->task.continuing);
        l->logged = l->logged && l->of[i].logged.keeps;
        find_cost(study, i, &l->of[i]);
    }
    int first = v->nconfirm ? v->ntrial - v->nconfirm : 0;
    for (int i = first; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        double excess = rh_study__excess(study, t, true);
        bool sound = t->ndiverged == 0 && rh_study__can_deploy(t);
        l->nkeep += t->confirm && sound && t->keeps;
        if (sound &&
            (l->nearest < 0 || excess < rh_study__excess(study, &v->trial[l->nearest], true)))
            l->nearest = i;
    }
    rh_text text = {0};
    say_limits(&text, study);
    rh_text__printable(text.data ? text.data : "", l->text, sizeof l->text);
    rh_text__clear(&text);
}
