// claims.c - what is claimed of the chosen agent, each claim with a probability.
//
//     better     over a whole run, from its first step, it scores more than the logged
//                controller
//     failures   it fails no more often than stated: than the upper end of the log's own rate
//     best       no other setting of the agent is better by more than stated (trust.c)
//
// Better. In every member j of the confirmation the agent has two advantages:
//
//     A(j) = score - score of the clone      in the same runs, so that errors that both have
//                                            cancel
//     B(j) = score - logged score            the clone may be a bad copy of the controller
//
// The plant is taken as one more model. So with the mean D of one of them over the members of
// all kinds, and T the distribution function of Student's t,
//
//     P = T(D / sd),  sd^2 = within + between + lost^2 + (MISSED replay D)^2
//
// and the smaller of the two is the probability. A poor clone (imitation.c) makes A too large,
// so that B, which does not need it, counts.
//
// 1. within: the variance of the mean over members. between: of min(A, B) from model to model,
//    over the kinds of the confirmation and the models of the check; of one model alone, D^2.
//    lost: what agents lose in a model of the other half of the log (transfer.c).
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
// Which pieces are added up was looked at on 83 studies of the half *thresholds*
// (bench/verdict_plants.csv, way tiny; without those that vetoes exclude 42), by the mean
// log-likelihood of "truly better" and the AUROC: -0.602 and 0.76 as above; -0.619 and 0.74
// with the smaller advantage in each kind and the error of the logged score in B, as it was
// before; -0.681 and 0.67 without `between` and with the variance of a member in place of
// `within`; -0.593 and 0.76 with 3 for MISSED, but then hardly a level is high. A constant has
// -0.644. On the first 60 of them the order was the reverse: differences below 0.03 are chance.
//
// Failures. Student's distribution again, around the agent's rate, as wide as its interval.

#include "core.h"
#include "model/model.h"

#include <math.h>

#define MISSED 2.0    // decision 2; 3: see above
#define UPPER95 2.776 // 97.5 % quantile of Student's t, 4 degrees of freedom

// Student's t with 4 degrees of freedom: P(T <= x).
static double student4(double x)
{
    double y = 1.0 + 0.25 * x * x;
    return isinf(x) ? x > 0.0 : 0.5 + 0.375 * x / sqrt(y) * (1.0 - x * x / (12.0 * y));
}

typedef struct measured {
    double mean, within; // variance of the mean; NAN: unknown
} measured;

// Mean score of n runs; 0 of none.
static double mean_score(const rh_result *result, int n)
{
    double sum = 0.0;
    for (int i = 0; result && i < n; i++)
        sum += result[i].score;
    return result ? sum / n : 0.0;
}

// Of n numbers; those that are not finite are left out.
typedef struct sums {
    double sum, square;
    int n;
} sums;

static void add_up(sums *to, double x)
{
    if (!isfinite(x))
        return;
    to->sum += x;
    to->square += x * x;
    to->n++;
}

// The variance of one of them.
static double spread_of(const sums *s)
{
    double mean = s->sum / s->n;
    return s->n > 1 ? fmax(s->square / s->n - mean * mean, 0.0) * s->n / (s->n - 1.0) : 0.0;
}

// Of a - b - level over members first .. first + n - 1, or runs if there is one member only;
// without b, of a - level. The variance of a single number is its square.
static measured over_members(const rh_trial *a, const rh_trial *b, double level, int first,
                             int n)
{
    sums member = {0}, run = {0};
    int nother = b ? b->nrun : 1;
    for (int m = first; m < first + n; m++) {
        const rh_result *x = a->result + m * a->nrun, *y = b ? b->result + m * nother : NULL;
        add_up(&member, mean_score(x, a->nrun) - mean_score(y, nother) - level);
        for (int r = 0; r < a->nrun; r++)
            add_up(&run, x[r].score - (y ? y[r % nother].score : 0.0) - level);
    }
    if (member.n == 0)
        return (measured){NAN, NAN};
    double mean = member.sum / member.n;
    const sums *of = member.n > 1 ? &member : &run;
    return (measured){mean, of->n > 1 ? spread_of(of) / of->n : mean * mean};
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
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    return f ? rh_study__level(f, &study->eval, study->task.continuing) : 0.0;
}

// ---------------------------------------------------------------------------- better

// What the candidate is compared with.
typedef struct rivals {
    const rh_trial *own, *clone; // NULL: none, then
    double level;                // its score is taken as known
    double logged;
} rivals;

static void add_kinds(const rivals *with, sums *to)
{
    const rh_trial *own = with->own;
    int nkind = own->nkind > 1 ? own->nkind : 1, n = own->nmember / nkind;
    for (int k = 0; k < nkind; k++) {
        measured a = over_members(own, with->clone, with->level, k * n, n),
                 b = over_members(own, NULL, with->logged, k * n, n);
        add_up(to, fmin(a.mean, b.mean)); // ignores NAN
    }
}

static void add_checks(const rh_study *study, const rivals *with, sums *to)
{
    const rh_checks *check = &study->verdict.check;
    int at = place_of(check, with->own->setting);
    int other = with->clone ? place_of(check, with->clone->setting) : -1;
    for (int c = 0; c < check->nmodel && at >= 0; c++) {
        double score = mean_of(&check->model[c], at), a = NAN;
        if (other >= 0)
            a = score - mean_of(&check->model[c], other);
        add_up(to, fmin(a, score - with->logged));
    }
}

// The margin by an advantage, and what it is made of.
static double margin_by(const rh_study *study, measured by, const sums *models,
                        rh_advantage *out)
{
    const rh_verdict *v = &study->verdict;
    double replay = rh_study__replay_error(study), centre = by.mean - v->selected;
    double between = models->n > 1 ? spread_of(models) : by.mean * by.mean;
    double lost = v->transfer.lost > 0.0 ? v->transfer.lost : 0.0;
    double missed = isnan(replay) ? 0.0 : MISSED * replay * centre;
    double variance = by.within + between + lost * lost + missed * missed;
    *out = (rh_advantage){centre, sqrt(by.within), sqrt(between), lost, fabs(missed)};
    return variance > 0.0 ? centre / sqrt(variance)
                          : (centre > 0.0   ? INFINITY
                             : centre < 0.0 ? -INFINITY
                                            : centre); // 0 or unknown
}

// The advantage of the candidate divided by its uncertainty; NAN: unknown.
static double margin_of(rh_study *study, int clone)
{
    rh_verdict *v = &study->verdict;
    const rh_trial *own = &v->trial[rh_study__judged(v)];
    rivals with = {.own = own, .logged = v->logged.score};
    if (clone >= 0)
        with.clone = &v->trial[clone];
    else
        with.level = v->logged.score + level_of(study);
    int n = own->nmember;
    sums models = {0};
    rh_advantage by[2];
    if (isnan(v->logged.score))
        return NAN;
    add_kinds(&with, &models);
    add_checks(study, &with, &models);
    double a = margin_by(study, over_members(with.own, with.clone, with.level, 0, n), &models,
                         &by[0]),
           b = margin_by(study, over_members(with.own, NULL, with.logged, 0, n), &models,
                         &by[1]);
    v->trust.advantage = by[!(a < b)];
    return a < b ? a : b;
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
