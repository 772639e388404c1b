// choose.c - chooses the kind of model, its parameters and the representation from the log.
//
// Candidates are compared by their replays of held-out stretches (replay.c), along the logged
// path and beside it (beside.c). One of another kind is preferred if its score is lower by more
// than the t quantile (95 %, two-sided, as many degrees of freedom as there are held-out
// episodes or blocks, less one) of the standard error of the difference, paired over stretches;
// over a regression, see decision 10. First comes the regression: beside the logged path,
// where agents go, it is the truest (bench/plants/models.csv), and replays hardly see that.
// Then carrying, the best of its candidates, then stitching and the network: a model that
// stitches cannot show what leaving the log costs, however well it replays the log; the errors
// of a network add up along an episode and it has no noise.
//
// 1. A candidate marked optional needs a learned representation, and learning takes longer than
//    all else. It is tried if stitching is as good as the best, because then neighbours decide,
//    or if the best score is above POOR: half of what an ignorant forecast misses is missing.
//    It is judged with at most TRIAL_STEPS training steps, and learned fully if it is chosen.
// 2. Of a log of more than MOST_STEPS steps, an excerpt is used (excerpt.c). Neighbours are
//    farther in an excerpt, which is to the disadvantage of stitching more than of the others.
// 3. The networks of a long log are trained with at most MOST_PASSES transitions in all: one
//    pass over a million already takes 62,500 batches.
// 4. The log's behaviour, imitated in each candidate (fidelity_simulate.c), is a second
//    criterion. It does not decide: it would choose a model that ends episodes at the right
//    rate in the wrong states. It takes away credibility.
// 5. A candidate is credible if it is the best of its kind, better than an ignorant forecast or
//    than the chosen one, at most CREDIBLE times as far off as the chosen one or no worse
//    beyond chance, and imitates the log: at most APART of the pairs of an imitated and a
//    logged episode may differ in the same direction. How far off is judged at horizons at
//    which the chosen one scores below POOR: at long horizons all models of a noisy plant are
//    alike. A study confirms its settings in all credible kinds.
// 6. A network draws ends with the probability it predicts: a threshold hardly ever ends an
//    episode if ends are rare, and scores worse (Acrobot, near-optimal: 0.84, drawn 0.53).
// 7. A chosen model that replays no better than a random stretch of the log, a score of 1 or
//    more, gives the finding unproven-model; so does one whose states are no nearer, over all
//    horizons, than those of the persistence forecast.
// 8. A candidate that cannot be fitted is left out, with the reason.
// 9. One whose held-out steps are farther off than "nothing changes", by the root mean square,
//    is not chosen, unless all are.
// 10. A regression does not give way to a score that is LITTLE lower: in a long log every
//    difference is beyond chance. A battery's was 1.117 times that of carrying, and its random
//    actions earned -0.71 instead of -1.23 (plant: -0.68).

#include "base/base.h"
#include "base/base_internal.h"
#include "fidelity.h"
#include "fields.h"
#include "model.h"
#include "numeric/stats.h"
#include "replay.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS 20000
#define MOST_PASSES 1e6     // decision 3
#define TRIAL_STEPS 10000.0 // decision 1; by hand
#define POOR 0.5            // decision 1; by hand: 0.25 and 1 choose the same in two logs
#define CREDIBLE 1.25       // decision 5; by hand: 1.125 and 1.5 believe the same in two logs
#define LITTLE 1.125        // decision 10; by hand
#define APART 0.9           // decision 5; by hand: 0.8 and 0.95 believe the same in two logs
#define CONFIDENCE 0.975    // 95 %, two-sided

static const struct {
    const char *kind, *type;
    rh_setting set; // of the type
    const char *repr;
    bool optional;
} table[] = {
    {"stitching", "knn", {"carry", "none"}, "raw", false},
    {"carrying", "knn", {"carry", "log"}, "raw", false},
    {"carrying", "knn", {"carry", "action"}, "raw", false},
    {"carrying", "knn", {"carry", "local"}, "raw", false},
    {"stitching", "knn", {"carry", "none"}, "laplacian", true},
    {"network", "nn", {"ending", "draw"}, "raw", false},
    {"linear", "linear", {"residuals", "stretch"}, "raw", false},
    {"linear", "linear", {"residuals", "near"}, "raw", false},
};

enum { NTABLE = sizeof table / sizeof *table };

// A representation learned for the comparison.
typedef struct learned {
    const rh_repr_type *type;
    double param[RH_MODEL_NPARAM];
    rh_repr *repr; // owned
} learned;

// A choice in progress.
typedef struct choice {
    const rh_model_options *opt;
    const rh_repr_options *repr_opt;
    const rh_log *log;                            // all of it
    rh_log *excerpt;                              // owned: what is used, or NULL: all of it
    rh_model_comparison *cmp;                     // owned
    rh_model *first;                              // owned: whose log the stretches are of
    rh_stretches *stretches;                      // owned
    rh_stretches__scores scores[RH_MODEL_NTRIAL]; // shares owned
    learned learned[RH_MODEL_NTRIAL];             // repr owned
    int nlearned;
    int now;                      // the candidate being tried
    bool one_repr;                // all candidates have the same representation
    bool over;                    // there is nothing to compare with
    double t;                     // quantile of the standard error
    double still;                 // score of the persistence forecast, of all horizons
    double step[RH_MODEL_NTRIAL]; // error of a step, relative to "nothing changes"
    rh_error lost;                // of the first candidate that could not be fitted
} choice;

static void clear(choice *c)
{
    for (int i = 0; i < RH_MODEL_NTRIAL; i++)
        rh_stretches__clear(&c->scores[i]);
    for (int i = 0; i < c->nlearned; i++)
        rh_repr_destroy(c->learned[i].repr);
    rh_stretches__destroy(c->stretches);
    rh_model_destroy(c->first);
    rh_log_destroy(c->excerpt);
    rh_free(c->cmp);
}

// ---------------------------------------------------------------------------- candidates

const char *rh_model__kind_name(const char *name)
{
    for (int i = 0; i < NTABLE; i++)
        if (strcmp(table[i].kind, name) == 0)
            return table[i].kind;
    return NULL;
}

// Set a parameter of a candidate; false if its type has no such value.
static bool put_set(rh_model_trial *one, rh_setting set)
{
    int at = rh_param_find(one->type->param, one->type->nparam, set.name);
    return at >= 0 && rh_param_parse(&one->type->param[at], one->type->name, set.value,
                                     &one->param[at], NULL) == RH_OK;
}

int rh_model__candidates(rh_model_trial trial[RH_MODEL_NTRIAL])
{
    int n = 0;
    for (int i = 0; i < NTABLE; i++) {
        rh_model_trial *one = &trial[n];
        *one = (rh_model_trial){.kind = table[i].kind, .optional = table[i].optional};
        one->type = rh_model_find(table[i].type, NULL);
        one->repr = rh_repr_find(table[i].repr, NULL);
        if (!one->type || !one->repr || one->type->nparam > RH_MODEL_NPARAM ||
            one->repr->nparam > RH_MODEL_NPARAM)
            continue;
        rh_param_initial(one->type->param, one->type->nparam, one->param);
        rh_param_initial(one->repr->param, one->repr->nparam, one->repr_param);
        if (put_set(one, table[i].set))
            n++;
    }
    return n;
}

// Whether two representations have the same type and parameters.
static bool same_repr(const rh_repr_type *a, const double *x, const rh_repr_type *b,
                      const double *y)
{
    bool same = a == b;
    for (int i = 0; same && i < a->nparam; i++)
        same = x[i] == y[i];
    return same;
}

// Results that are not measured.
static void reset(rh_model_trial *one)
{
    const rh_fidelity_spread none = {0, NAN, NAN, NAN, NAN};
    one->tried = one->chosen = one->credible = false;
    one->score = one->error = one->behind = one->behind_error = one->total = NAN;
    rh_field__forget(&rh_model__beside, &one->beside);
    one->simulated_return = one->simulated_length = none;
    one->simulated_ended = one->imitation = NAN;
    one->note[0] = 0;
    for (int part = 0; part < RH_MODEL_NASPECT; part++) {
        one->part[part] = NAN;
        for (int h = 0; h < RH_MODEL_NHORIZON; h++)
            one->at[part][h] = NAN;
    }
}

// Fewer passes of a network over a long log of n steps, unless their number was set.
static void spare(const rh_model_trial *one, int64_t n, double *param)
{
    int at = rh_param_find(one->type->param, one->type->nparam, "epochs");
    double most = fmax(1.0, floor(MOST_PASSES / (double)n));
    if (at >= 0 && one->param[at] == one->type->param[at].initial)
        param[at] = fmin(one->param[at], most);
}

// ---------------------------------------------------------------------------- trying one

// The caller's watch while a representation is learned.
static void report(void *context, const char *what, double share)
{
    const choice *c = context;
    const rh_watch *watch = &c->opt->watch;
    watch->progress(watch->context, what, (c->now + share) / c->cmp->ntrial);
}

static bool asked_to_stop(void *context)
{
    const rh_watch *watch = &((const choice *)context)->opt->watch;
    return watch->stop(watch->context);
}

// The representation of a candidate, learned once. Borrowed: *out.
static rh_status learn(choice *c, const rh_model_trial *one, const rh_repr **out, rh_error *err)
{
    learned want = {.type = one->repr};
    memcpy(want.param, one->repr_param, sizeof want.param);
    int steps = rh_param_find(one->repr->param, one->repr->nparam, "steps");
    if (steps >= 0 && (!c->one_repr || c->excerpt) && want.param[steps] > TRIAL_STEPS)
        want.param[steps] = TRIAL_STEPS;
    for (int i = 0; i < c->nlearned; i++)
        if (same_repr(c->learned[i].type, c->learned[i].param, want.type, want.param)) {
            *out = c->learned[i].repr;
            return RH_OK;
        }
    rh_repr_options opt = *c->repr_opt;
    opt.param = want.param;
    opt.use = NULL;
    opt.seed = c->opt->seed;
    opt.watch.context = c;
    opt.watch.progress = c->opt->watch.progress ? report : NULL;
    opt.watch.stop = c->opt->watch.stop ? asked_to_stop : NULL;
    rh_status rc =
        rh_repr_fit(&want.repr, want.type, c->excerpt ? c->excerpt : c->log, &opt, err);
    if (rc)
        return rc;
    c->learned[c->nlearned++] = want;
    *out = want.repr;
    return RH_OK;
}

static rh_status imitate(const choice *c, rh_model_trial *one, const rh_model *model,
                         void *member, rh_error *err)
{
    rh_model with = *model; // borrowed, but for the member
    rh_fidelity *f = NULL;
    with.member = &member;
    with.nmember = 1;
    rh_status rc =
        rh_fidelity__imitate(&f, &one->imitation, &with, c->opt->seed, &c->opt->watch, err);
    if (rc)
        return rc;
    one->simulated_return = f->simulated_return;
    one->simulated_length = f->simulated_length;
    one->simulated_ended = 1.0 - f->simulated_truncated;
    c->cmp->logged_return = f->logged_return;
    c->cmp->logged_length = f->logged_length;
    c->cmp->logged_ended = 1.0 - f->logged_truncated;
    rh_fidelity__destroy(f);
    return RH_OK;
}

// Choose the stretches, of the first model that can be fitted.
static rh_status begin(choice *c, const rh_model *model, rh_error *err)
{
    rh_model_comparison *cmp = c->cmp;
    rh_status rc =
        rh_stretches__create(&c->stretches, model->log, model->facts, model->task.continuing,
                             c->opt->seed, cmp->reason, sizeof cmp->reason, err);
    c->over = !rc && !c->stretches;
    if (rc || c->over)
        return rc;
    cmp->nhorizon = rh_stretches__nhorizon(c->stretches);
    memcpy(cmp->horizon, rh_stretches__horizons(c->stretches),
           (size_t)cmp->nhorizon * sizeof *cmp->horizon);
    cmp->nstretch = rh_stretches__nstretch(c->stretches);
    cmp->nunit = rh_stretches__nunit(c->stretches);
    cmp->nfold = rh_stretches__nfold(c->stretches);
    c->t = rh_stats__student_quantile(CONFIDENCE, cmp->nunit - 1);
    c->still = rh_stretches__persistence(c->stretches);
    return RH_OK;
}

static rh_status measure(choice *c, int i, const rh_model *model, rh_error *err)
{
    rh_model_trial *one = &c->cmp->trial[i];
    rh_stretches__scores *s = &c->scores[i];
    void *member = NULL;
    double mean;
    rh_status rc = rh_stretches__run(s, c->stretches, model, c->opt->seed, c->opt->nthread,
                                     &c->opt->watch, &member, err);
    if (!rc)
        rc = rh_stretches__step(&c->step[i], c->stretches, model, member, err);
    if (!rc)
        rc = imitate(c, one, model, member, err);
    model->type->calls->destroy(member);
    if (rc)
        return rc;
    one->tried = true;
    one->score = s->score;
    rh_stretches__compare(c->stretches, s, NULL, false, &mean, &one->error);
    one->total = s->total;
    one->beside = s->beside;
    memcpy(one->part, s->part, sizeof one->part);
    memcpy(one->at, s->at, sizeof one->at);
    return RH_OK;
}

static rh_status try_one(choice *c, int i, rh_error *err)
{
    rh_model_trial *one = &c->cmp->trial[i];
    const rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_model_options opt = *c->opt;
    double param[RH_MODEL_NPARAM];
    memcpy(param, one->param, sizeof param);
    spare(one, c->cmp->nstep, param);
    opt.param = param;
    opt.nmember = 1;
    opt.resample = RH_RESAMPLE_ALL;
    c->now = i;
    if (opt.watch.progress)
        opt.watch.progress(opt.watch.context, "comparing models",
                           (double)i / (double)c->cmp->ntrial);
    rh_status rc = learn(c, one, &repr, err);
    if (!rc)
        rc = rh_model__prepare(&model, one->type, c->excerpt ? c->excerpt : c->log, repr, &opt,
                               c->first, err);
    if (!rc && !c->stretches)
        rc = begin(c, model, err);
    if (!rc && !c->over)
        rc = measure(c, i, model, err);
    if (!rc && !c->first) {
        c->first = model;
        model = NULL;
    } else if (rc && !c->first) {
        rh_stretches__destroy(c->stretches); // they are of this model's log
        c->stretches = NULL;
    }
    rh_model_destroy(model);
    return rc;
}

// The same; a candidate that cannot be fitted is left out.
static rh_status try_or_skip(choice *c, int i, rh_error *err)
{
    rh_model_trial *one = &c->cmp->trial[i];
    rh_error why = {""};
    rh_status rc = try_one(c, i, &why);
    if (rc != RH_EINVAL)
        return rc ? rh_fail(err, rc, "%s", why.text) : RH_OK;
    snprintf(one->note, sizeof one->note, "%.*s", RH_MODEL_NOTE - 1, why.text);
    if (!c->lost.text[0])
        c->lost = why;
    return RH_OK;
}

// ---------------------------------------------------------------------------- choosing

// Score of a minus score of b, and whether a is worse beyond chance.
static bool worse(const choice *c, int a, int b, double *mean, double *error)
{
    rh_stretches__compare(c->stretches, &c->scores[a], &c->scores[b], true, mean, error);
    return *mean > c->t * *error;
}

static bool carries(const rh_model_trial *one)
{
    return strcmp(one->kind, "carrying") == 0;
}

static bool is_regression(const rh_model_trial *one)
{
    return strcmp(one->kind, "linear") == 0;
}

// Whether a step of a candidate is truer than the persistence forecast: decision 9.
static bool beats_persistence(const choice *c, int i)
{
    return !(c->step[i] > 1.0);
}

// In which order kinds are preferred.
static int rank_of(const rh_model_trial *one)
{
    return is_regression(one) ? 0 : carries(one) ? 1 : 2;
}

// Whether the chosen candidate gives way to one of a kind that is preferred less.
static bool gives_way(const choice *c, int chosen, int other)
{
    const rh_model_trial *trial = c->cmp->trial;
    double mean, error;
    bool behind = worse(c, chosen, other, &mean, &error);
    if (!is_regression(&trial[chosen]))
        return behind;
    double by = trial[chosen].total / trial[other].total; // decision 10
    return (behind && by > LITTLE) || (carries(&trial[other]) && by > CREDIBLE);
}

// The chosen candidate; -1 if none was tried.
static int choose(const choice *c)
{
    const rh_model_trial *trial = c->cmp->trial;
    int chosen = -1;
    bool any = false;
    for (int i = 0; i < c->cmp->ntrial; i++)
        any = any || (trial[i].tried && beats_persistence(c, i));
    for (int rank = 0; rank <= 2; rank++) {
        int best = -1; // of the rank
        for (int i = 0; i < c->cmp->ntrial; i++)
            if (trial[i].tried && rank_of(&trial[i]) == rank &&
                (!any || beats_persistence(c, i)) &&
                (best < 0 || trial[i].total < trial[best].total))
                best = i;
        if (best >= 0 && (chosen < 0 || gives_way(c, chosen, best)))
            chosen = best;
    }
    return chosen;
}

// Whether an optional candidate may gain something: see the top.
static bool may_gain(const choice *c)
{
    int best = -1, stitching = -1;
    double mean, error;
    for (int i = 0; i < c->cmp->ntrial; i++) {
        const rh_model_trial *one = &c->cmp->trial[i];
        if (!one->tried)
            continue;
        if (best < 0 || one->score < c->cmp->trial[best].score)
            best = i;
        if (stitching < 0 && strcmp(one->kind, "stitching") == 0)
            stitching = i;
    }
    if (best < 0 || c->cmp->trial[best].score > POOR)
        return true;
    return stitching >= 0 && !worse(c, stitching, best, &mean, &error);
}

static bool is_best_of_kind(const choice *c, int i)
{
    const rh_model_trial *one = &c->cmp->trial[i];
    for (int k = 0; k < c->cmp->ntrial; k++) {
        const rh_model_trial *other = &c->cmp->trial[k];
        if (k == i || !other->tried || strcmp(other->kind, one->kind) != 0)
            continue;
        if (other->chosen || other->total < one->total || (other->total == one->total && k < i))
            return false;
    }
    return true;
}

// How much farther off the replays of a candidate are than those of the best: where the best
// knows something, see the top.
static double far_off(const rh_model_trial *one, const rh_model_trial *best)
{
    double mine = 0.0, its = 0.0;
    for (int part = 0; part < RH_MODEL_NASPECT; part++)
        for (int h = 0; h < RH_MODEL_NHORIZON; h++)
            if (best->at[part][h] < POOR) { // false for NAN
                mine += one->at[part][h];
                its += best->at[part][h];
            }
    return its > 0.0 ? mine / its : one->score / best->score;
}

// Credibility of a candidate that was not chosen, and the note.
static void judge(const choice *c, int i, int chosen)
{
    rh_model_trial *one = &c->cmp->trial[i];
    const rh_model_trial *best = &c->cmp->trial[chosen];
    bool behind = worse(c, i, chosen, &one->behind, &one->behind_error);
    double far = far_off(one, best);
    bool near = far <= CREDIBLE || !behind;
    bool imitates = !(one->imitation > APART);
    bool knows = one->score < fmax(1.0, best->score);
    bool moves = beats_persistence(c, i) || !beats_persistence(c, chosen);
    one->credible = is_best_of_kind(c, i) && near && knows && imitates && moves;
    if (!moves)
        snprintf(one->note, sizeof one->note, "a step of it is farther off than no change");
    else if (!near)
        snprintf(one->note, sizeof one->note, "its replays are %.1f times as far off", far);
    else if (!knows)
        snprintf(one->note, sizeof one->note, "no better than random stretches of the log");
    else if (!imitates)
        snprintf(one->note, sizeof one->note, "the log's behaviour imitated in it %s",
                 "gives other returns or lengths than the log");
    else
        snprintf(one->note, sizeof one->note, "%s",
                 behind                                    ? "worse beyond chance"
                 : one->behind < -c->t * one->behind_error ? "better, but not by an eighth"
                                                           : "not better beyond chance");
}

static void explain(const choice *c, int chosen)
{
    rh_model_comparison *cmp = c->cmp;
    rh_model_trial *best = &cmp->trial[chosen];
    char text[100], other[100];
    int before = -1; // the best of the other kinds
    double mean, error;
    rh_model__trial_name(best, text, sizeof text);
    for (int i = 0; i < cmp->ntrial; i++)
        if (cmp->trial[i].tried && strcmp(cmp->trial[i].kind, best->kind) != 0 &&
            (before < 0 || cmp->trial[i].total < cmp->trial[before].total))
            before = i;
    best->chosen = best->credible = true;
    best->behind = best->behind_error = 0.0;
    snprintf(best->note, sizeof best->note, "chosen");
    if (before < 0) {
        snprintf(cmp->reason, sizeof cmp->reason, "%s: there is no other kind", text);
    } else if (worse(c, before, chosen, &mean, &error)) {
        rh_model__trial_name(&cmp->trial[before], other, sizeof other);
        snprintf(cmp->reason, sizeof cmp->reason,
                 "%.60s: its score is lower than that of %.60s by %.2g, standard error %.2g",
                 text, other, mean, error);
    } else {
        bool ahead = worse(c, chosen, before, &mean, &error);
        snprintf(cmp->reason, sizeof cmp->reason, "%.60s: no other kind is better %s%s", text,
                 ahead ? "by an eighth" : "beyond chance",
                 carries(best) || is_regression(best) ? ", and agents can leave the log" : "");
    }
    for (int i = 0; i < cmp->ntrial; i++)
        if (cmp->trial[i].tried && i != chosen)
            judge(c, i, chosen);
}

// Compare the candidates; the number of the chosen one, or -1.
static rh_status compare(choice *c, int *chosen, rh_error *err)
{
    rh_model_comparison *cmp = c->cmp;
    rh_status rc = rh_model__excerpt(&c->excerpt, c->log, MOST_STEPS, err);
    cmp->nstep = c->excerpt ? c->excerpt->n : c->log->n;
    for (int i = 0; !rc && !c->over && i < cmp->ntrial; i++)
        if (!cmp->trial[i].optional)
            rc = try_or_skip(c, i, err);
    bool gain = !rc && !c->over && may_gain(c);
    for (int i = 0; !rc && i < cmp->ntrial; i++) {
        if (!cmp->trial[i].optional || c->over)
            continue;
        if (gain)
            rc = try_or_skip(c, i, err);
        else
            snprintf(cmp->trial[i].note, sizeof cmp->trial[i].note,
                     "not tried: a representation only changes which steps are stitched");
    }
    if (rc)
        return rc;
    *chosen = c->over ? -1 : choose(c);
    if (*chosen >= 0)
        explain(c, *chosen);
    return RH_OK;
}

// ---------------------------------------------------------------------------- fitting

static rh_status fit(choice *c, int chosen, rh_model **out, rh_error *err)
{
    const rh_model_trial *one = &c->cmp->trial[chosen];
    rh_repr *repr = NULL;
    const rh_repr *known = NULL;
    rh_repr_options learning = *c->repr_opt;
    rh_model_options opt = *c->opt;
    opt.param = one->param;
    learning.param = one->repr_param;
    learning.use = NULL;
    learning.seed = c->opt->seed;
    for (int i = 0; !c->excerpt && i < c->nlearned; i++)
        if (same_repr(c->learned[i].type, c->learned[i].param, one->repr, one->repr_param))
            known = c->learned[i].repr;
    rh_status rc = RH_OK;
    if (!known) {
        rc = rh_repr_fit(&repr, one->repr, c->log, &learning, err);
        known = repr;
    }
    if (!rc)
        rc = rh_model_fit(out, one->type, c->log, known, &opt, err);
    rh_repr_destroy(repr);
    return rc;
}

// A finding if the states of the chosen model's replays are no nearer than "nothing changes".
static void find_still(rh_findings *list, const rh_model_comparison *cmp,
                       const rh_model_trial *one, double still)
{
    if (!(one->part[RH_MODEL_STATE] >= still)) // false for NAN
        return;
    rh_findings__advise(
        rh_findings__add(list, RH_WARNING, RH_FINDING_UNPROVEN_MODEL, cmp->nstretch,
                         "states of %d held-out stretches are replayed with a score of %.2f; "
                         "persistence forecast: %.2f, a random stretch of the log: 1",
                         cmp->nstretch, one->part[RH_MODEL_STATE], still),
        "the model says no more than that nothing changes: log more, or sensors that show what "
        "moves the plant");
}

// A finding if the chosen model's replays are no better than forecasts that know nothing:
// decision 7.
static rh_status find_unproven(rh_model *model, double still, rh_error *err)
{
    const rh_model_comparison *cmp = model->compared;
    const rh_model_trial *one = cmp->trial;
    while (!one->chosen)
        one++;
    if (!model->fidelity)
        return RH_OK;
    rh_findings *list = &model->fidelity->findings;
    if (!(one->score >= 1.0)) { // false for NAN
        find_still(list, cmp, one, still);
        return rh_findings__end(list) ? RH_OK : rh_base__no_memory(err, "model");
    }
    const rh_model_trial *least = one;
    char text[100], other[100] = "";
    for (int i = 0; i < cmp->ntrial; i++)
        if (cmp->trial[i].tried && cmp->trial[i].score < least->score)
            least = &cmp->trial[i];
    if (least != one) {
        rh_model__trial_name(least, text, sizeof text);
        snprintf(other, sizeof other, "; %.60s: %.2f", text, least->score);
    }
    rh_model__trial_name(one, text, sizeof text);
    rh_findings__advise(
        rh_findings__add(list, RH_WARNING, RH_FINDING_UNPROVEN_MODEL, cmp->nstretch,
                         "replays of %d held-out stretches score %.2f, standard error %.2f "
                         "(%.60s); a random stretch of the log: 1%s",
                         cmp->nstretch, one->score, one->error, text, other),
        "the log does not show how the plant moves, so settings cannot be ranked by it: log "
        "more, at a shorter interval or with more sensors, and fit again; read the table of "
        "models");
    return rh_findings__end(list) ? RH_OK : rh_base__no_memory(err, "model");
}

rh_status rh_model__choose(rh_model **out, const rh_model_trial *candidate, int ncandidate,
                           const rh_log *log, const rh_model_options *opt,
                           const rh_repr_options *repr, rh_error *err)
{
    rh_model_options usual = rh_model_defaults();
    rh_repr_options usual_repr = rh_repr_defaults();
    choice c = {.log = log,
                .opt = opt ? opt : &usual,
                .repr_opt = repr ? repr : &usual_repr,
                .one_repr = true};
    rh_model *model = NULL;
    int chosen = 0;
    rh_status rc = RH_OK;
    if (ncandidate < 1 || ncandidate > RH_MODEL_NTRIAL)
        return rh_fail(err, RH_EINVAL, "model: %d candidates, expected 1 to %d", ncandidate,
                       RH_MODEL_NTRIAL);
    c.cmp = rh_alloc(1, sizeof *c.cmp);
    if (!c.cmp)
        return rh_base__no_memory(err, "model");
    c.cmp->ntrial = ncandidate;
    for (int i = 0; i < ncandidate; i++) {
        c.cmp->trial[i] = candidate[i];
        reset(&c.cmp->trial[i]);
        c.one_repr = c.one_repr && same_repr(candidate[0].repr, candidate[0].repr_param,
                                             candidate[i].repr, candidate[i].repr_param);
    }
    c.cmp->logged_return = c.cmp->trial[0].simulated_return;
    c.cmp->logged_length = c.cmp->trial[0].simulated_length;
    c.cmp->logged_ended = NAN;

    if (ncandidate > 1)
        rc = compare(&c, &chosen, err);
    if (!rc && chosen < 0 && !c.over)
        rc = rh_fail(err, RH_EINVAL, "%s", c.lost.text);
    if (!rc && c.over) {
        chosen = 0;
        c.cmp->trial[0].chosen = c.cmp->trial[0].credible = true;
    }
    for (int i = 0; i < ncandidate; i++)
        spare(&c.cmp->trial[i], log->n, c.cmp->trial[i].param);
    if (!rc)
        rc = fit(&c, chosen, &model, err);
    if (!rc && ncandidate > 1) {
        if (model->fidelity)
            model->fidelity->beside = c.cmp->trial[chosen].beside;
        model->compared = c.cmp;
        c.cmp = NULL;
        rc = find_unproven(model, c.still, err);
    }
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    clear(&c);
    return rc;
}
