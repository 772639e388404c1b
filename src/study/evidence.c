// evidence.c - what a study shows about the reliability of its own choice, as numbers.
//
// None of it needs the true plant. trust.c turns it into a probability. Differences between
// settings are given in units of how much the choice matters: the difference between the best
// and the median setting, called the range below. evidence.h lists the pieces.
//
// 1. The range of a model is measured in it: the best of the settings that ran there minus the
//    median one of the search (check.c). Confirmation models did not run that one: theirs is
//    the range of the search.
// 2. A regret counts only what exceeds the standard error of the difference, because the best
//    of several noisy means is above the winner's by chance. It is at most 1: a choice that is
//    no better than the median is a bad one.
// 3. What is unknown is NAN.

#include "evidence.h"
#include "core.h"
#include "numeric/stats.h"
#include "trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BEYOND 3.0 // of `beyond`, which has no upper end; the rule does not use it
#define CLEARLY 0.1     // of the range: another setting is clearly better (trust.c)
#define SURELY 2.0      // standard errors
#define HARDLY 10       // logged steps of an action in a region: too few to know; by hand
// Share of the agents' steps in a region, with none of the logged ones near. A region is a box,
// and the log may be in another corner of it: a fermenter's agent left its feed shut in 66 % of
// its steps, of the 13 logged ones there none was near 99 %. It was promised 330 and got 11.
// Regions of ten other studies (bench/plants, tank) have at most 0.88, but for those of HARDLY.
#define NOWHERE 0.9
#define LEAST_STEPS 1.0 // of `data`: the logarithm of an action never taken is 0

static const struct {
    const char *name, *about;
} known[RH_NEVIDENCE] = {
#define ROW(id, name, about) {name, about},
    RH_EVIDENCE__LIST(ROW)
#undef ROW
};

// ---------------------------------------------------------------------------- the search

// The best minus the median value of the search; NAN: unknown. Scratch: x (ntrial).
static double range_of_search(const rh_study *study, double *x)
{
    const rh_verdict *v = &study->verdict;
    int n = 0;
    for (int i = 0; i < v->ntrial - v->nconfirm; i++)
        if (isfinite(v->trial[i].value) && rh_study__is_spread(study, v->trial[i].setting))
            x[n++] = v->trial[i].value;
    if (n < 2 || v->search_best < 0)
        return NAN;
    rh_stats__sort(x, n);
    double range = v->trial[v->search_best].value - x[(n - 1) / 2];
    return range > 0.0 ? range : NAN;
}

static double share_separated(rh_study *study)
{
    int nknown, ntied = rh_study__count_tied(study, &nknown);
    return nknown ? 1.0 - (double)ntied / nknown : NAN;
}

// ---------------------------------------------------------------------------- the confirmation

static double rival_of(const rh_verdict *v, const rh_trial *winner, double range)
{
    double most = -INFINITY;
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
        if (&v->trial[i] != winner && isfinite(v->trial[i].kind[0].hi95))
            most = fmax(most, v->trial[i].kind[0].hi95);
    return isfinite(most) ? (most - winner->kind[0].value) / range : 0.0;
}

// Mean and variance of the mean of differences a - b (n); NAN where one is unknown.
static void compare(const double *a, const double *b, int n, double *mean, double *variance)
{
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] - b[i];
    *mean = sum / n;
    for (int i = 0; i < n; i++)
        square += (a[i] - b[i] - *mean) * (a[i] - b[i] - *mean);
    *variance = n > 1 ? square / (n - 1) / n : 0.0;
}

// How much better than the winner's the best other runs are (decision 2); 0: none are. Scores
// of settings (nsetting x nrun); `own`: the winner's place.
static double shortfall(const double *score, int nsetting, int nrun, int own)
{
    double most = 0.0, mean, variance;
    for (int i = 0; i < nsetting; i++) {
        if (i == own)
            continue;
        compare(score + i * nrun, score + own * nrun, nrun, &mean, &variance);
        most = fmax(most, mean - sqrt(variance)); // ignores NAN
    }
    return most;
}

static double at_most_one(double x)
{
    return x > 1.0 ? 1.0 : x;
}

// Regret in models of parts of the log, of the model's own kind. Scratch: x (nconfirm x nrun).
static double regret_in_parts(const rh_verdict *v, const rh_trial *winner, double range,
                              double *x)
{
    const rh_trial *first = v->trial + v->ntrial - v->nconfirm;
    int nmember = winner->nmember / winner->nkind, nrun = winner->nrun;
    double sum = 0.0;
    for (int m = 0; m < nmember; m++) {
        for (int i = 0; i < v->nconfirm; i++)
            for (int r = 0; r < nrun; r++)
                x[i * nrun + r] = first[i].result[m * nrun + r].score;
        sum += at_most_one(shortfall(x, v->nconfirm, nrun, (int)(winner - first)) / range);
    }
    return sum / nmember;
}

static double greatest_regret(const rh_trial *t)
{
    double most = 0.0;
    for (int k = 0; k < t->nkind; k++)
        most = fmax(most, t->kind[k].regret);
    return at_most_one(most);
}

// ---------------------------------------------------------------------------- the check

static double mean_of(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

// The winner's regret in a model of the check, in units of its own range (decision 1).
static double regret_in_check(const rh_verdict *v, const rh_check *check, int own)
{
    int n = v->check.nsetting, nrun = check->nrun;
    double best = -INFINITY;
    if (!v->check.nreference)
        return NAN;
    for (int i = 0; i < n; i++)
        best = fmax(best, mean_of(check->score + i * nrun, nrun));
    double median = mean_of(check->score + (n - v->check.nreference) * nrun, nrun);
    double behind = shortfall(check->score, n, nrun, own);
    return behind > 0.0 ? at_most_one(behind / (best - median)) : 0.0; // range 0: 1
}

// Kendall's tau-b of x and y (n).
static double tau_of(const double *x, const double *y, int n)
{
    double both = 0.0, nx = 0.0, ny = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            int a = (x[i] > x[j]) - (x[i] < x[j]), b = (y[i] > y[j]) - (y[i] < y[j]);
            both += a * b;
            nx += a * a;
            ny += b * b;
        }
    return nx > 0.0 && ny > 0.0 ? both / sqrt(nx * ny) : NAN;
}

// Halves, variants and order. Scratch: x (2 x nchecked).
static void measure_check(const rh_study *study, int own, double *x, double *value)
{
    const rh_verdict *v = &study->verdict;
    double sum[2] = {0.0, 0.0}, tau = 0.0, *searched = x + v->check.nsetting;
    int n[2] = {0, 0};
    for (int i = 0; i < v->check.nsetting; i++)
        searched[i] = rh_study__find(study, v->check.setting[i], false)->trial.value;
    for (int c = 0; c < v->check.nmodel; c++) {
        int half = strstr(v->check.model[c].name, "half of the log") != NULL;
        sum[half] += regret_in_check(v, &v->check.model[c], own);
        n[half]++;
        for (int i = 0; i < v->check.nsetting; i++)
            x[i] = mean_of(v->check.model[c].score + i * v->check.model[c].nrun,
                           v->check.model[c].nrun);
        tau += tau_of(searched, x, v->check.nsetting);
    }
    value[RH_EVIDENCE_HALVES] = n[1] ? sum[1] / n[1] : NAN;
    value[RH_EVIDENCE_VARIANTS] = n[0] ? sum[0] / n[0] : NAN;
    value[RH_EVIDENCE_ORDER] = v->check.nmodel ? tau / v->check.nmodel : NAN;
}

// ---------------------------------------------------------------------------- model and log

// Of the comparison that chose the model; NAN: there was none.
static double replayed(const rh_model *model)
{
    const rh_model_comparison *all = rh_model_compared(model);
    for (int i = 0; all && i < all->ntrial; i++)
        if (all->trial[i].chosen)
            return all->trial[i].score;
    return NAN;
}

double rh_study__replay_error(const rh_study *study)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    double error = replayed(rh_study__model(study));
    if (f && f->beside.nexperiment > 0) // fmax() ignores what is unknown
        error = fmax(fmax(error, f->beside.experiments), fmin(1.0 - f->beside.shown, 1.0));
    return error;
}

bool rh_study__is_unlogged(const rh_next *row)
{
    return row->nlogged < HARDLY || row->alone > NOWHERE;
}

// Actions that agents take where the log hardly ever did are among what to log next.
static double share_unlogged(const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    double sum = 0.0;
    for (int i = 0; i < v->nnext; i++)
        if (rh_study__is_unlogged(&v->next[i]) ||
            rh_study__not_shown(rh_study__model(study), &v->next[i]))
            sum += v->next[i].agent;
    return at_most_one(sum);
}

static void measure_model(const rh_study *study, double *value)
{
    const rh_model_comparison *all = rh_model_compared(rh_study__model(study));
    value[RH_EVIDENCE_UNPROVEN] = !all || all->nhorizon == 0;
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    value[RH_EVIDENCE_REPLAY] = replayed(rh_study__model(study));
    if (f && f->beside.nexperiment > 0) {
        value[RH_EVIDENCE_BESIDE] = f->beside.ratio;
        value[RH_EVIDENCE_SHOWN] = f->beside.shown + SURELY * f->beside.shown_error;
    }
    for (int i = 0; all && i < all->ntrial; i++)
        if (all->trial[i].chosen)
            value[RH_EVIDENCE_IMITATION] = all->trial[i].imitation;
}

static double beyond_log(const rh_study *study, double score)
{
    const rh_verdict *v = &study->verdict;
    double gain = v->logged.score - study->random_lowest, more = score - v->logged.score;
    double width = v->logged.hi95 - v->logged.lo95; // the gain is not known better than this
    double unit = fmax(fabs(gain), isfinite(width) ? width : 0.0);
    double x = more / unit;
    return isnan(x) ? NAN : fmax(-MOST_BEYOND, fmin(x, MOST_BEYOND));
}

// Logarithm of the steps of the least frequent action; of a tenth of all, where actions are
// continuous.
static double data_of(const rh_study *study)
{
    const rh_log *log = rh_study__whole_log(study);
    double least = (double)log->n / 10.0;
    for (int a = 0; a < log->naction; a++) {
        int64_t n = 0;
        for (int64_t i = 0; i < log->n; i++)
            n += log->act[i] == a;
        least = a == 0 ? (double)n : fmin(least, (double)n);
    }
    return rh_ln(fmax(least, LEAST_STEPS));
}

// Errors that no level is left for: vetoes.c has one for the others.
static int errors_of(const rh_findings *findings)
{
    int n = 0;
    for (int i = 0; i < findings->n; i++) {
        const rh_finding *f = &findings->item[i];
        n += f->severity == RH_ERROR && !f->accepted && !rh_trust__bounds(f);
    }
    return n;
}

static double count_errors(const rh_study *study)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    return errors_of(&study->verdict.findings) + (f ? errors_of(&f->findings) : 0);
}

static double count_warnings(const rh_study *study)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(study));
    return f ? (double)f->findings.count[RH_WARNING] : (double)NAN;
}

// How far the winner was behind the leader of the search.
static double behind_leader(const rh_verdict *v, double range)
{
    double best = v->trial[v->search_best].value, own = v->trial[v->winner_search].value;
    return at_most_one((best - own) / range);
}

static double share_at_bounds(const rh_study *study)
{
    const rh_space *space = &study->plan->space;
    int n = 0;
    for (int d = 0; d < space->ndim; d++)
        n += study->verdict.bound[d] != 0;
    return space->ndim ? (double)n / space->ndim : 0.0;
}

// Mean over the settings of the search.
static double coverage_overall(const rh_verdict *v)
{
    double sum = 0.0;
    int n = v->ntrial - v->nconfirm;
    for (int i = 0; i < n; i++)
        sum += v->trial[i].out_of_coverage;
    return sum / n;
}

static double compare_lengths(const rh_study *study, const rh_trial *winner)
{
    const rh_log *log = rh_study__whole_log(study);
    int64_t nstep = 0, nepisode = 0;
    for (int i = 0; i < winner->nmember * winner->nrun; i++) {
        nstep += winner->result[i].nstep;
        nepisode += winner->result[i].nepisode;
    }
    if (study->task.continuing || nepisode == 0)
        return NAN;
    return rh_ln((double)nstep / (double)nepisode * log->nepisode / (double)log->n);
}

static int place_of(const rh_verdict *v, int setting)
{
    for (int i = 0; i < v->check.nsetting; i++)
        if (v->check.setting[i] == setting)
            return i;
    return -1;
}

rh_status rh_study__gather(rh_study *study)
{
    rh_verdict *v = &study->verdict;
    double value[RH_NEVIDENCE];
    for (int i = 0; i < RH_NEVIDENCE; i++)
        value[i] = NAN;
    if (v->finished && v->winner >= 0 && v->trial[v->winner].confirm) {
        const rh_trial *winner = &v->trial[v->winner];
        size_t n = (size_t)v->nconfirm * (size_t)winner->nrun;
        double *x = rh_alloc(n + (size_t)v->ntrial + 2 * (size_t)v->check.nsetting, sizeof *x);
        if (!x)
            return RH_ENOMEM;
        int own = place_of(v, winner->setting);
        double range = range_of_search(study, x);
        value[RH_EVIDENCE_SEPARATED] = share_separated(study);
        value[RH_EVIDENCE_NOISE] = 0.5 * (winner->kind[0].hi95 - winner->kind[0].lo95) / range;
        value[RH_EVIDENCE_RIVAL] = rival_of(v, winner, range);
        value[RH_EVIDENCE_PARTS] = regret_in_parts(v, winner, range, x);
        value[RH_EVIDENCE_KINDS] = greatest_regret(winner);
        value[RH_EVIDENCE_COVERAGE] = winner->out_of_coverage;
        value[RH_EVIDENCE_BEYOND] = beyond_log(study, winner->value);
        value[RH_EVIDENCE_RARE] = (double)v->rare.n / (winner->nmember * winner->nrun);
        value[RH_EVIDENCE_BOUNDS] = share_at_bounds(study);
        value[RH_EVIDENCE_DATA] = data_of(study);
        value[RH_EVIDENCE_ERRORS] = count_errors(study);
        value[RH_EVIDENCE_LEADER] = behind_leader(v, range);
        value[RH_EVIDENCE_WARNINGS] = count_warnings(study);
        value[RH_EVIDENCE_TRANSFER] = v->transfer.share;
        value[RH_EVIDENCE_OVERALL] = coverage_overall(v);
        value[RH_EVIDENCE_LENGTH] = compare_lengths(study, winner);
        value[RH_EVIDENCE_MARGIN] = v->trust.margin;
        value[RH_EVIDENCE_SELECTED] = v->selected / range;
        value[RH_EVIDENCE_UNLOGGED] = share_unlogged(study);
        v->trust.claim[RH_CLAIM_BEST].limit = CLEARLY * range;
        measure_model(study, value);
        if (own >= 0)
            measure_check(study, own, x, value);
        rh_free(x);
    }
    for (int i = 0; i < RH_NEVIDENCE; i++)
        v->trust.evidence[i] = (rh_evidence){known[i].name, known[i].about, value[i]};
    return RH_OK;
}
