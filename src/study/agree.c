// agree.c - confirmed settings compared in several kinds of model: which holds in all of them,
// and whether the kinds agree.
//
// 1. Kinds differ in level: one may be too easy by a factor of five and still rank settings
//    well. Raw scores of different kinds are never added. In each kind k a setting i has a
//    regret, with b its lower bound (its value where there is none) and w the width of its
//    95 % interval; max and median are over the settings:
//
//        regret(i, k) = (max b(k) - b(i, k)) / (max b(k) - median b(k) + median w(k))
//
//    The unit is how much the choice among the confirmed settings matters in this kind. The
//    median keeps one setting that fails there from making all others look equal; the widths
//    keep a kind that cannot tell the settings apart from having a say by noise. Settings with
//    diverged runs, which rank behind the others (run.c), set no unit.
// 2. The winner is the setting whose greatest regret over the kinds is least. It need not be
//    the best in any kind. With one kind it is the setting with the highest lower bound.
// 3. A setting is tied with the winner unless some kind separates them (95 %).
// 4. kinds-disagree: another setting beats the winner in one kind beyond chance (95 %); or, of
//    the pairs of settings that both kinds separate, at least as many are ordered oppositely as
//    alike (Kendall's tau of these pairs is 0 or less). Pairs that a kind does not separate say
//    nothing: among equal settings tau is 0 by chance.

#include "core.h"
#include "eval/eval.h"
#include "study.h"

#include <math.h>

static double bound_of(double value, double lo95)
{
    return isnan(lo95) ? value : lo95;
}

// ---------------------------------------------------------------------------- regret

// Whether a setting ranks behind one of the others because its runs diverged.
static bool is_out(const rh_study *study, const rh_trial *trial, int n, int i)
{
    bool out = false;
    for (int j = 0; j < n && !out; j++)
        out = rh_study__is_behind(study, &trial[i], &trial[j]);
    return out;
}

// Regrets in one kind, of the confirmed trials (n). Scratch: x (3 x n).
static void set_regrets(rh_study *study, int kind, const rh_trial *trial, int n, double *x)
{
    double *width = x + n, *sorted = width + n;
    int nknown = 0, nwidth = 0;
    for (int i = 0; i < n; i++) {
        const rh_kind_score *s = &trial[i].kind[kind];
        double bound = bound_of(s->value, s->lo95), w = s->hi95 - s->lo95;
        if (is_out(study, trial, n, i))
            continue;
        if (isfinite(bound))
            x[nknown++] = bound;
        if (isfinite(w))
            width[nwidth++] = w;
    }
    rh_summary all = rh_summarise(x, nknown, sorted);
    double best = all.max, unit = all.max - all.median;
    if (nwidth)
        unit += rh_summarise(width, nwidth, sorted).median;
    for (int i = 0; i < n; i++) {
        rh_kind_score *s = &rh_study__find(study, trial[i].setting, true)->kind[kind];
        double bound = bound_of(s->value, s->lo95);
        if (!nknown || !isfinite(bound))
            s->regret = INFINITY;
        else
            s->regret = bound >= best ? 0.0 : (best - bound) / unit; // unit 0: infinite
    }
}

rh_status rh_study__regrets(rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    if (!v->nconfirm)
        return RH_OK;
    double *x = rh_alloc((size_t)v->nconfirm * 3, sizeof *x);
    if (!x)
        return RH_ENOMEM;
    for (int k = 0; k < study->kinds.n; k++)
        set_regrets(study, k, v->trial + v->ntrial - v->nconfirm, v->nconfirm, x);
    rh_free(x);
    return RH_OK;
}

static double greatest_regret(const rh_trial *t)
{
    double most = 0.0;
    for (int k = 0; k < t->nkind; k++)
        most = fmax(most, t->kind[k].regret);
    return most;
}

bool rh_study__holds_better(const rh_trial *a, const rh_trial *b)
{
    double x = a->nkind > 1 ? greatest_regret(a) : 0.0;
    double y = b->nkind > 1 ? greatest_regret(b) : 0.0;
    if (x != y)
        return x < y;
    return bound_of(a->kind[0].value, a->kind[0].lo95) >
           bound_of(b->kind[0].value, b->kind[0].lo95);
}

// ---------------------------------------------------------------------------- ties

// Whether `best` is not separated from `other` in one kind: not better beyond chance.
static bool tied_in(rh_study *study, int kind, const rh_trial *best, const rh_trial *other)
{
    int nmember = best->nmember / best->nkind;
    size_t first = (size_t)kind * (size_t)nmember;
    return rh_value__tied(rh_study__judge(study->plan), nmember, best->nrun,
                          best->result + first * (size_t)best->nrun, other->nrun,
                          other->result + first * (size_t)other->nrun, study->work);
}

bool rh_study__is_tied(rh_study *study, const rh_trial *best, const rh_trial *other)
{
    bool tied = true;
    for (int k = 0; k < best->nkind && tied; k++)
        tied = tied_in(study, k, best, other);
    return tied;
}

// ---------------------------------------------------------------------------- disagreement

// 1: a is better in this kind beyond chance, -1: b is, 0: neither.
static int order_in(rh_study *study, int kind, const rh_trial *a, const rh_trial *b)
{
    double x = a->kind[kind].value, y = b->kind[kind].value;
    if (isnan(x) || isnan(y) || x == y)
        return 0;
    if (x > y)
        return tied_in(study, kind, a, b) ? 0 : 1;
    return tied_in(study, kind, b, a) ? 0 : -1;
}

bool rh_study__beats(rh_study *study, const rh_trial *a, const rh_trial *b)
{
    bool beats = true;
    for (int k = 0; k < a->nkind && beats; k++)
        beats = order_in(study, k, a, b) > 0;
    return beats;
}

// Another setting beats the winner in a kind: the best of these, or NULL.
static const rh_trial *beats_winner(rh_study *study, int kind)
{
    const rh_verdict *v = &study->verdict;
    const rh_trial *winner = &v->trial[v->winner], *best = NULL;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        if (t != winner && !rh_study__is_behind(study, t, winner) &&
            order_in(study, kind, t, winner) > 0 &&
            (!best || t->kind[kind].value > best->kind[kind].value))
            best = t;
    }
    return best;
}

static void advise(rh_finding *f)
{
    rh_findings__advise(f,
                        "the log does not say which kind of model is right: log more of what "
                        "these settings do, or watch the agent closely when it is deployed");
}

static void report_other(rh_study *study, int kind, const rh_trial *other)
{
    rh_verdict *v = &study->verdict;
    const rh_trial *winner = &v->trial[v->winner];
    const rh_kind_score *a = &other->kind[kind], *b = &winner->kind[kind];
    advise(rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_KINDS_DISAGREE, 1,
                            "setting %d beats the winner in %s models: %.4g (%.4g to %.4g) "
                            "against %.4g (%.4g to %.4g)",
                            other->setting, v->kind[kind], a->value, a->lo95, a->hi95, b->value,
                            b->lo95, b->hi95));
}

static void report_order(rh_study *study, int kind)
{
    rh_verdict *v = &study->verdict;
    int nalike = 0, nopposite = 0;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        for (int j = v->ntrial - v->nconfirm; j < i; j++) {
            int order = order_in(study, 0, &v->trial[i], &v->trial[j]);
            if (order)
                order *= order_in(study, kind, &v->trial[i], &v->trial[j]);
            nalike += order > 0;
            nopposite += order < 0;
        }
    if (nopposite == 0 || nopposite < nalike)
        return;
    advise(rh_findings__add(&v->findings, RH_WARNING, RH_FINDING_KINDS_DISAGREE, nopposite,
                            "%s and %s models order %d of %d pairs of confirmed settings "
                            "oppositely (pairs that both separate, 95 %%)",
                            v->kind[0], v->kind[kind], nopposite, nopposite + nalike));
}

void rh_study__disagreement(rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    if (v->winner < 0 || !v->trial[v->winner].confirm || rh_study__clone_won(study))
        return;
    for (int k = 0; k < v->nkind && v->nkind > 1; k++) {
        const rh_trial *other = beats_winner(study, k);
        if (other)
            report_other(study, k, other);
        else if (k > 0)
            report_order(study, k);
    }
}
