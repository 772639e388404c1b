// theory.c - both theorems, with the numbers of this study.
//
//     Theorem 1    |V - V^| <= er T + ep rmax T^2 / 2     for every learner
//     Theorem 2    V(best) - V(chosen) <= (2 er + ep vmax) T + vmax sqrt(2 ln(4 / delta) / n)
//
// with vmax = T rmax. Three parts:
//
// 1. Small processes where everything is exact (lemma.c): the largest |V - V^| over all
//    history-dependent policies against the bound of Theorem 1; and nine learners, of which the
//    model chooses one, against the approximation term of Theorem 2.
// 2. The estimation term for n and T of the experiments.
// 3. The approximation term from measured errors of the kNN model. The theorem needs the
//    largest errors over all (s, a), which a log cannot show; root mean square errors on
//    held-out steps are below them, so the term is at least what is computed here. A wrong
//    probability of an end, |p - p^|, makes |P - P^|_1 at least twice as large.
// 4. The estimation term is not proved for a setting that was chosen: its proof adds the
//    failures of two fixed settings, 1 - delta / 2 each, but the chosen one is the greatest of
//    many estimates. How often its estimate is too high by more than the bound, exactly, for
//    settings that are all equal and whose runs score 0 or vmax with equal probability. Over m
//    settings ln(4 / delta) has to be ln(4 m / delta).

#include "paper_internal.h"

#include "lemma.h"

#include "base/base_internal.h"

#include <math.h>

enum { UNION_RUNS = 10 }; // decision 4: as in the paper
enum { LONGEST = 7, LEARNER_STEPS = 6, NLEARNER = 9, NFULL = 200, NQUICK = 24 };

#define DELTA 0.05 // the bounds hold with probability 1 - DELTA

// ---------------------------------------------------------------------------- small processes

// Of process i: "ratio" (n x LONGEST), the largest difference / the bound for T = 1, 2, ...;
// "regret" (n), of the learner that the model chooses, and "term" (n), what Theorem 2 allows.
static void check_one(int i, uint64_t seed, double *ratio, double *regret, double *term)
{
    static const double alpha[3] = {0.1, 0.5, 0.9}, epsilon[3] = {0.0, 0.1, 0.5};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, 0, (uint64_t)i);
    rh_lemma m;
    double ep, er, best = -INFINITY, chosen = -INFINITY, of_chosen = NAN;
    rh_lemma__draw(&m, rh_rng_range(&rng, 0.02, 0.4), &rng);
    rh_lemma__errors(&m, &ep, &er);
    for (int T = 1; T <= LONGEST; T++)
        ratio[T - 1] = rh_lemma__largest(&m, T) / rh_lemma__bound(ep, er, T);
    for (int k = 0; k < NLEARNER; k++) {
        rh_lemma__learner l = {alpha[k / 3], epsilon[k % 3], 0.9};
        double v = rh_lemma__value(&m, 0, &l, LEARNER_STEPS);
        double in_model = rh_lemma__value(&m, 1, &l, LEARNER_STEPS);
        best = v > best ? v : best;
        if (in_model > chosen) {
            chosen = in_model;
            of_chosen = v;
        }
    }
    *regret = best - of_chosen;
    *term = 2.0 * rh_lemma__bound(ep, er, LEARNER_STEPS);
}

static rh_status check_all(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                           rh_error *err)
{
    (void)cell;
    size_t n = paper->opt.quick ? NQUICK : NFULL;
    double none = 0.0;
    double *ratio = rh_alloc(n * (LONGEST + 2), sizeof *ratio);
    if (!ratio)
        return rh_base__no_memory(err, "paper");
    double *regret = ratio + n * LONGEST, *term = regret + n;
    for (size_t i = 0; i < n; i++)
        check_one((int)i, paper->opt.seed, ratio + i * LONGEST, regret + i, term + i);
    rh_status rc = rh_state_put(out, "ratio", ratio, n * LONGEST, err);
    if (!rc)
        rc = rh_state_put(out, "regret", regret, n, err);
    if (!rc)
        rc = rh_state_put(out, "term", term, n, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &none, 1, err);
    rh_free(ratio);
    return rc;
}

// ---------------------------------------------------------------------------- measured errors

static const struct {
    const rh_paper__problem *problem;
    rh_paper__data data;
} model[] = {
    {&rh_paper__esarsa_acrobot, {"near-optimal", 5000}},
    {&rh_paper__esarsa_puddle, {"near-optimal", 5000}},
    {&rh_paper__esarsa_cartpole, {"random", 10000}},
};
enum { NMODEL = sizeof model / sizeof *model };

// Fit the paper's model of the first log: "error" (2), root mean square errors on held-out
// steps of the reward and of the probability of an end.
static rh_status fit(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                     rh_error *err)
{
    rh_log *log = NULL, *starts = NULL;
    rh_plan *plan = NULL;
    rh_model *fitted = NULL;
    rh_fit_options opt = rh_fit_defaults();
    double none = 0.0;
    rh_status rc =
        rh_paper__collect(&log, &starts, paper, cell->problem->world, cell->data, 0, err);
    if (!rc)
        rc = rh_paper__plan(&plan, paper, RH_PLAN_TUNE, cell->problem, err);
    if (!rc)
        rc = rh_plan_set(plan, "preset", "paper", NULL, err);
    if (!rc && paper->opt.quick)
        rc = rh_plan_set(plan, "representation.steps", "2000", NULL, err);
    if (!rc)
        rc = rh_plan_settle(plan, log, err);
    opt.starts = starts;
    opt.nthread = 1;
    opt.fidelity = true;
    opt.watch = (rh_watch){.stop = paper->opt.stop, .context = paper->opt.context};
    if (!rc)
        rc = rh_plan_fit(&fitted, plan, log, &opt, err);
    if (rc)
        goto done;
    const rh_fidelity *f = rh_model_fidelity(fitted);
    double error[2] = {f ? f->reward.model : NAN, f ? f->terminal.model : NAN};
    rc = rh_state_put(out, "error", error, 2, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &none, 1, err);

done:
    rh_model_destroy(fitted);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
    rh_log_destroy(starts);
    return rc;
}

static rh_paper__cell lemma_cell(void)
{
    return (rh_paper__cell){.run = check_all, .what = "lemma", .after = -1, .cost = 8.0};
}

static rh_paper__cell model_cell(int k)
{
    return (rh_paper__cell){.run = fit,
                            .what = "errors",
                            .problem = model[k].problem,
                            .data = &model[k].data,
                            .after = -1,
                            .cost = 15.0};
}

static void list(rh_paper *paper)
{
    rh_paper__add(paper, lemma_cell());
    for (int k = 0; k < NMODEL; k++)
        rh_paper__add(paper, model_cell(k));
}

// ---------------------------------------------------------------------------- claims

static rh_paper__interval range_of(const double *x, size_t n)
{
    rh_paper__interval i = {NAN, INFINITY, -INFINITY, (int)n};
    for (size_t k = 0; k < n; k++) {
        i.lo95 = x[k] < i.lo95 ? x[k] : i.lo95;
        i.hi95 = x[k] > i.hi95 ? x[k] : i.hi95;
    }
    i.value = i.hi95;
    return i;
}

static void draw_small(rh_paper *paper)
{
    size_t n = 0, nlearner = 0;
    rh_paper__cell like = lemma_cell();
    int cell = rh_paper__find(paper, &like);
    const double *ratio = rh_paper__array(paper, cell, "ratio", &n);
    const double *regret = rh_paper__array(paper, cell, "regret", &nlearner);
    const double *term = rh_paper__array(paper, cell, "term", NULL);
    if (!ratio || !regret || !term)
        return;
    int nprocess = (int)(n / LONGEST);
    rh_paper__figure *f = rh_paper__figure_add(
        paper, "theory-tightness", "Theorem 1 in small processes",
        "The largest |V - V^| over all history-dependent policies, divided by the bound: 1 "
        "would be reached by the worst process. 3 states, 2 actions; by number of steps.",
        RH_PAPER__BOX, NAN);
    double *y = rh_alloc((size_t)nprocess, sizeof *y);
    if (!y)
        paper->bad = true;
    for (int T = 0; T < LONGEST && y; T++) {
        char name[64];
        for (int i = 0; i < nprocess; i++)
            y[i] = ratio[i * LONGEST + T];
        snprintf(name, sizeof name, "T = %d", T + 1);
        rh_paper__series_add(paper, f, name, y, nprocess);
    }
    rh_paper__interval all = range_of(ratio, n);
    rh_paper__claim(
        paper, "T.1",
        "For any history dependent policy, |V - V^| is at most er T + ep rmax T^2 / 2 (Theorem "
        "1).",
        "the largest ratio over all processes and horizons is at most 1 (interval: least and "
        "largest)",
        all, RH_PAPER__BELOW, 1.0 + 1e-12,
        "%zu cases: the largest difference is %.3f to %.3f of the bound", n, all.lo95,
        all.hi95);
    for (size_t i = 0; i < nlearner && y; i++)
        y[i] = regret[i] / term[i];
    if (y) {
        rh_paper__interval some = range_of(y, nlearner);
        rh_paper__claim(
            paper, "T.2",
            "With the best learner chosen in the model, V(best) - V(chosen) is at most (2 er + "
            "ep vmax) T (only the approximation term of Theorem 2).",
            "the largest ratio over all processes is at most 1 (interval: least and largest)",
            some, RH_PAPER__BELOW, 1.0 + 1e-12,
            "%zu processes, nine Q-learners: largest ratio %.4f", nlearner, some.hi95);
    }
    rh_free(y);
}

// P(more than `most` of n fair coins are heads).
static double heads_above(int n, double most)
{
    double sum = 0.0, way = 1.0; // ways to have k heads
    for (int k = 0; k <= n; k++) {
        sum += k > most ? way : 0.0;
        way = way * (n - k) / (k + 1.0);
    }
    return sum / rh_exp(n * rh_ln(2.0));
}

// Decision 4: the probability for the best of m settings, n runs each.
static double exceeds(int n, int m)
{
    double bound = sqrt(rh_ln(4.0 / DELTA) / (2.0 * n)); // of one estimate, in vmax
    double one = heads_above(n, n * (0.5 + bound)), none = 1.0;
    for (int i = 0; i < m; i++)
        none *= 1.0 - one;
    return 1.0 - none;
}

static void draw_union(rh_paper *paper)
{
    static const int count[] = {1, 54, 1000};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        char what[160], note[200];
        snprintf(what, sizeof what,
                 "Theorem 2: the best of %d estimates is above its bound with probability",
                 count[i]);
        snprintf(note, sizeof note, "%d runs each; the proof allows %.3g", UNION_RUNS,
                 DELTA / 2.0);
        rh_paper__fact_add(paper, what, exceeds(UNION_RUNS, count[i]), NAN, NAN, note);
    }
}

static void draw_terms(rh_paper *paper)
{
    double least = INFINITY, greatest = -INFINITY;
    for (int k = 0; k < NMODEL; k++) {
        const rh_paper__world *w = model[k].problem->world;
        rh_paper__cell like = model_cell(k);
        const double *error =
            rh_paper__array(paper, rh_paper__find(paper, &like), "error", NULL);
        double T = (double)rh_paper__nstep(paper, w);
        int n = rh_paper__nrun(paper, model[k].problem);
        double rmax = (double)w->reward_span, logged = rh_ln(4.0 / DELTA);
        double estimation = sqrt(2.0 * logged / n);
        char what[160], note[200];
        snprintf(what, sizeof what, "%s: estimation term / vmax, n = %d", w->title, n);
        snprintf(note, sizeof note, "vmax = %.0f; %.0f runs would bring it to 1 %% of vmax",
                 T * rmax, ceil(2.0 * logged / 1e-4));
        rh_paper__fact_add(paper, what, estimation, NAN, NAN, note);
        if (!error)
            continue;
        // a failure in Cartpole is a reward of -1 and a new start: one is wrong with the other
        double er = error[0], ep = 2.0 * (isfinite(error[1]) ? error[1] : er);
        double term = 2.0 * er / rmax + ep * T;
        snprintf(what, sizeof what, "%s: approximation term / vmax, at least", w->title);
        snprintf(note, sizeof note,
                 "T = %.0f, er at least %.4g, ep at least %.4g (held-out steps)", T, er, ep);
        rh_paper__fact_add(paper, what, term, NAN, NAN, note);
        double sum = estimation + term;
        least = sum < least ? sum : least;
        greatest = sum > greatest ? sum : greatest;
    }
    rh_paper__interval i = {least, least, greatest, RH_PAPER_LEAST_LOGS};
    rh_paper__claim(
        paper, "T.3",
        "It may be difficult to obtain sufficiently low model error to control for this "
        "accumulating error over many steps.",
        "the bound of Theorem 2 divided by vmax is above 1, the trivial bound, in all three "
        "environments (interval: least and largest)",
        i, RH_PAPER__ABOVE, 1.0, "the bound is %.3g to %.3g times vmax", least, greatest);
}

static void draw(rh_paper *paper)
{
    draw_small(paper);
    draw_terms(paper);
    draw_union(paper);
}

const rh_paper__part rh_paper__theory = {
    .is = {"theory", "Both theorems",
           "the simulation lemma where it can be checked exactly, and its terms in this study"},
    .list = list,
    .draw = draw,
};
