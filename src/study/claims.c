// claims.c - what is claimed of the chosen agent, each claim with a probability.
//
//     better      over a whole run, from its first step, it scores more than the logged
//     controller failures    it fails no more often than stated: than the upper end of the
//     log's own rate best        no other setting of the agent is better by more than stated
//     (trust.c)
//
// Better. In every model j of the log the advantage of the agent is the smaller of two:
//
//     A(j) = score - score of the clone      in the same members and runs, so that errors that
//                                            both have cancel
//     B(j) = score - logged score            the clone may be a bad copy of the controller
//
// Models are the kinds of the confirmation and those of the check. The plant is taken as one
// more model. So with the mean over kinds D, and T the distribution function of Student's t,
//
//     P(better) = T(D / sd),  sd^2 = within + between + lost^2 + (MISSED replay D)^2
//
// 1. within: the variance of the mean over members. between: of the advantage from model to
//    model. lost: what agents lose in a model of the other half of the log (transfer.c).
// 2. A model that replays held-out stretches with an error of `replay` (0: none, 1: that of a
//    random stretch) misses that share of what happens, so an advantage is no more certain
//    twice that, however well its models agree: models of one log share what the log lacks.
// 3. The chosen setting is the best of several, so D is lowered by its optimism (promise.c).
// 4. Heavy tails, 4 degrees of freedom, because there are few models, and not independent.
// 5. Without a clone among the settings A is from the level of the model: how much better than
//    in the log the imitated behaviour scores in it (model fidelity).
// 6. The claim is about the best agent beside the clone, the candidate (verdict.c, decision 7).
//    If there is none there is no claim.
//
// Failures. Student's distribution again, around the agent's rate, as wide as its interval.

#include "core.h"
#include "model/model.h"

#include <math.h>

// decision 2; by hand: a model whose replay error is above a third makes no level high. Of six
// studies of plants whose truth was measured (beat.csv) three were better; all six promised
// it, one of them by less than 2 %.
#define MISSED 2.0
#define UPPER95 2.776 // 97.5 % quantile of Student's t, 4 degrees of freedom
#define NORMAL95 1.96 // and of a normal distribution

// Student's t with 4 degrees of freedom: P(T <= x).
static double student4(double x)
{
    double y = 1.0 + 0.25 * x * x;
    return isinf(x) ? x > 0.0 : 0.5 + 0.375 * x / sqrt(y) * (1.0 - x * x / (12.0 * y));
}

typedef struct measured {
    double mean, variance; // of the mean; NAN: unknown
} measured;

// Mean score of n runs; 0 of none.
static double mean_score(const rh_result *result, int n)
{
    double sum = 0.0;
    for (int i = 0; result && i < n; i++)
        sum += result[i].score;
    return result ? sum / n : 0.0;
}

// Of a - b, or of a alone, in kind k: over members, or runs if there is one member only. The
// variance of a single number is its square.
static measured in_kind(const rh_trial *a, const rh_trial *b, int k)
{
    int nmember = a->nmember / (a->nkind > 1 ? a->nkind : 1);
    const rh_result *x = a->result + k * nmember * a->nrun;
    const rh_result *y = b ? b->result + k * nmember * b->nrun : NULL;
    bool by_runs = nmember == 1 && (!b || b->nrun == a->nrun);
    int n = by_runs ? a->nrun : nmember, size = by_runs ? 1 : a->nrun;
    double sum = 0.0, square = 0.0;
    for (int u = 0; u < n; u++) {
        int other = b && !by_runs ? b->nrun : 1;
        double d = mean_score(x + u * size, size) - mean_score(y ? y + u * other : NULL, other);
        sum += d;
        square += d * d;
    }
    double mean = sum / n, spread = fmax(square / n - mean * mean, 0.0);
    return (measured){mean, n > 1 ? spread / (n - 1) : mean * mean};
}

static double mean_of(const rh_check *check, int i)
{
    double sum = 0.0;
    for (int r = 0; r < check->nrun; r++)
        sum += check->score[i * check->nrun + r];
    return sum / check->nrun;
}

static int place_of(const rh_checks *check, int setting)
{
    for (int i = 0; i < check->nsetting; i++)
        if (check->setting[i] == setting)
            return i;
    return -1;
}

// What the clone scores more than the logged controller where there is no clone (decision 5).
static double level_of(const rh_study *study)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study_model(study));
    return f ? rh_study__level(f, &study->eval, study->task.continuing) : 0.0;
}

static double smaller(double a, double b)
{
    return isnan(a) || isnan(b) ? b : fmin(a, b);
}

// ---------------------------------------------------------------------------- better

typedef struct measurements {
    double sum, within; // over kinds
    int nkind;
    double all, square; // over all models
    int n;
} measurements;

static void add_kinds(const rh_study *study, const rh_trial *own, const rh_trial *clone,
                      measurements *to)
{
    const rh_reference *logged = &study->verdict.logged;
    double width = (logged->hi95 - logged->lo95) / (2.0 * NORMAL95);
    for (int k = 0; k < (own->nkind > 1 ? own->nkind : 1); k++) {
        measured b = in_kind(own, NULL, k), a = b;
        if (clone)
            a = in_kind(own, clone, k);
        else
            a.mean -= logged->score + level_of(study);
        b.mean -= logged->score;
        b.variance += isfinite(width) ? width * width : 0.0;
        measured x = a.mean < b.mean ? a : b;
        if (!isfinite(x.mean))
            continue;
        to->sum += x.mean;
        to->within += x.variance;
        to->nkind++;
        to->all += x.mean;
        to->square += x.mean * x.mean;
        to->n++;
    }
}

static void add_checks(const rh_study *study, const rh_trial *own, const rh_trial *clone,
                       measurements *to)
{
    const rh_checks *check = &study->verdict.check;
    int at = place_of(check, own->setting),
        other = clone ? place_of(check, clone->setting) : -1;
    for (int c = 0; c < check->nmodel && at >= 0; c++) {
        double score = mean_of(&check->model[c], at), a = NAN;
        if (other >= 0)
            a = score - mean_of(&check->model[c], other);
        double x = smaller(a, score - study->verdict.logged.score);
        if (!isfinite(x))
            continue;
        to->all += x;
        to->square += x * x;
        to->n++;
    }
}

// The advantage of the candidate divided by its uncertainty; NAN: unknown.
static double margin_of(rh_study *study, int clone)
{
    rh_verdict *v = &study->verdict;
    const rh_trial *own = &v->trial[rh_study__judged(v)];
    const rh_trial *copy = clone < 0 ? NULL : &v->trial[clone];
    measurements got = {0};
    add_kinds(study, own, copy, &got);
    add_checks(study, own, copy, &got);
    if (got.nkind == 0 || isnan(v->logged.score))
        return NAN;
    double centre = got.sum / got.nkind, mean = got.all / got.n;
    double between = got.n > 1
                         ? fmax(got.square / got.n - mean * mean, 0.0) * got.n / (got.n - 1.0)
                         : centre * centre;
    double lost = v->transfer.lost > 0.0 ? v->transfer.lost : 0.0;
    double replay = rh_study__replay_error(study);
    centre -= v->selected;
    double missed = isnan(replay) ? 0.0 : MISSED * replay * centre;
    double variance = got.within / got.nkind + between + lost * lost + missed * missed;
    v->trust.advantage =
        (rh_advantage){centre, sqrt(got.within / got.nkind), sqrt(between), lost, fabs(missed)};
    return variance > 0.0 ? centre / sqrt(variance)
                          : (centre > 0.0   ? INFINITY
                             : centre < 0.0 ? -INFINITY
                                            : 0.0);
}

static void claim_better(rh_study *study, int clone)
{
    rh_verdict *v = &study->verdict;
    rh_claim *claim = &v->trust.claim[RH_CLAIM_BETTER];
    claim->limit = v->logged.score;
    int judged = rh_study__judged(v);
    if (!v->finished || judged < 0 || !v->trial[judged].confirm || clone == judged ||
        isnan(study->eval.today))
        return;
    v->trust.margin = margin_of(study, clone);
    claim->probability = isnan(v->trust.margin) ? (double)NAN : student4(v->trust.margin);
}

// ---------------------------------------------------------------------------- failures

static void claim_failures(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    const rh_failing *f = &v->failing;
    rh_claim *claim = &v->trust.claim[RH_CLAIM_FAILURES];
    rh_rate limit = f->logged;
    char text[60];
    if (!f->rule || !f->rule->known || isnan(f->all.rate) || isnan(f->logged.hi95))
        return;
    claim->limit = limit.rate = f->logged.hi95;
    double to = limit.rate - f->all.rate;
    double half = to >= 0.0 ? f->all.hi95 - f->all.rate : f->all.rate - f->all.lo95;
    claim->probability = half > 0.0 ? student4(UPPER95 * to / half) : to >= 0.0;
    rh_study__write_rate(f, &limit, text);
    snprintf(claim->text, sizeof claim->text, "it fails in at most %s", text);
}

void rh_study__claim(rh_study *study)
{
    rh_trust *t = &study->verdict.trust;
    static const char *const name[] = {[RH_CLAIM_BETTER] = "better",
                                       [RH_CLAIM_FAILURES] = "failures",
                                       [RH_CLAIM_BEST] = "best"};
    for (int i = 0; i < RH_NCLAIM; i++)
        t->claim[i] = (rh_claim){.name = name[i], .probability = NAN, .limit = NAN};
    t->margin = NAN;
    t->advantage = (rh_advantage){NAN, NAN, NAN, NAN, NAN};
    rh_study__find_failures(study);
    snprintf(t->claim[RH_CLAIM_BETTER].text, sizeof t->claim->text,
             "it beats the logged controller over a run");
    claim_better(study, rh_study__clone(study));
    claim_failures(study);
}
