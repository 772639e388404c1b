// failure.c - what counts as a failure of the plant, and how often a log has one.
//
// The user says it (--failure), or the rewards of the log do:
//
// 1. Steps usually cost something, or earn nothing: an episode fails that ends with a reward
//    clearly below the usual, a penalty. Other ends are goals, as in Acrobot.
// 2. Steps usually earn something: an end loses what would follow, as in CartPole. An episode
//    fails unless it ends with a reward clearly above the usual, the bonus of a goal.
// 3. Usual is what other steps earn. Clearly below: by more than CLEARLY times the distance
//    from their median to their 5th percentile; clearly above likewise, to the 95th. Of a
//    normal distribution 1 in 150 is.
// 4. The limit lies halfway between the usual and the nearest end that is on its far side, so
//    that a model that predicts rewards with errors is judged alike. It has few digits: people
//    read it.
// 5. In a continuing task no step ends an episode. A log whose resets were found has ends to
//    compare (rule 1); any step with such a reward is then a failure.
// 6. A formula is about the state that a step leads to; where the log does not know it, about
//    the one before.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/expression.h"
#include "base/text.h"
#include "log.h"
#include "log_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLEARLY 1.5 // decision 3; by hand
#define TAIL 0.05   // decision 3
#define NAME 20     // bytes of "next[2147483647]"

// ---------------------------------------------------------------------------- a rule

typedef struct compiled {
    rh_expression formula; // x is the next state; without instructions: by the reward
    char *text;            // owned: words and formula, one block
} compiled;

void rh_failure__destroy(rh_failure *rule)
{
    compiled *c = rule ? rule->compiled : NULL;
    if (c) {
        rh_expression__clear(&c->formula);
        rh_free(c->text);
    }
    rh_free(c);
    rh_free(rule);
}

// "next[0]", ... (nobs), in one block; NULL without memory.
static const char **next_names(int nobs)
{
    const char **name = rh_alloc((size_t)nobs, sizeof *name + NAME);
    for (int i = 0; name && i < nobs; i++) {
        char *to = (char *)(name + nobs) + i * NAME;
        snprintf(to, NAME, "next[%d]", i);
        name[i] = to;
    }
    return name;
}

// Compile a formula over one state.
static rh_status compile(rh_expression *out, const char *text, const char *label,
                         const char *const *name, int nobs, rh_error *err)
{
    rh_expression__scope scope = {label, "sensor", name, NULL, nobs};
    return rh_expression__compile(out, text, &scope, err);
}

rh_status rh_failure__make(rh_failure **out, const rh_failure *parts, int nobs, rh_error *err)
{
    size_t nword = strlen(parts->words) + 1;
    size_t nformula = parts->formula ? strlen(parts->formula) + 1 : 0;
    const char **name = next_names(nobs);
    rh_failure *rule = rh_alloc(1, sizeof *rule);
    compiled *c = rh_alloc(1, sizeof *c);
    char *text = rh_alloc(nword + nformula, 1);
    rh_status rc = name && rule && c && text ? RH_OK : rh_base__no_memory(err, "failure");
    if (rc) {
        rh_free(rule);
        rh_free(c);
        rh_free(text);
        rh_free((void *)name);
        return rc;
    }
    *rule = *parts;
    c->text = text;
    rule->compiled = c;
    rule->words = memcpy(text, parts->words, nword);
    rule->formula = nformula ? memcpy(text + nword, parts->formula, nformula) : NULL;
    if (rule->formula)
        rc = compile(&c->formula, rule->formula, "failure", name, nobs, err);
    rh_free((void *)name);
    if (rc)
        rh_failure__destroy(rule);
    else
        *out = rule;
    return rc;
}

bool rh_failure_step(const rh_failure *rule, const double *next, double reward, bool terminal)
{
    if (!rule->known)
        return false;
    if (!rule->formula)
        return (terminal || !rule->ends) && reward < rule->below;
    double x = rh_expression__value(&((const compiled *)rule->compiled)->formula, next);
    return x != 0.0 && !isnan(x);
}

rh_failure__count rh_failure__count_log(const rh_failure *rule, const rh_log *log,
                                        bool continuing)
{
    rh_failure__count count = {.nstep = log->n};
    bool before = false; // in this episode; continuing: in the step before
    for (int e = 0; e < log->nepisode; e++) {
        bool fresh = e == 0 || log->start[e];
        count.nepisode += fresh;
        before = before && !fresh;
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++) {
            int64_t row = log->to[i] == RH_UNKNOWN ? log->from[i] : log->to[i];
            bool fails = rh_failure_step(rule, log->obs + row * log->nobs, log->reward[i],
                                         log->flag[i] & RH_FLAG_TERMINAL);
            count.n += fails && !before;
            before = fails || (before && !continuing);
        }
    }
    return count;
}

// ---------------------------------------------------------------------------- by the rewards

// The number between a and b with the fewest digits, near their middle.
static double between(double a, double b)
{
    double middle = 0.5 * a + 0.5 * b;
    for (int digits = 1; digits < 17; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*g", digits, middle);
        double x = strtod(text, NULL);
        if (x > fmin(a, b) && x < fmax(a, b))
            return x;
    }
    return middle;
}

// The rewards of a log: those of ends first.
typedef struct rewards {
    double *end, *other;
    int64_t nend, nother;
} rewards;

// Decisions 1 to 4. The nearest end beyond the usual, and the limit between; NAN: none is.
static double limit_of(const rewards *r, bool above, double *usual)
{
    double sign = above ? -1.0 : 1.0, nearest = -INFINITY;
    double middle = rh_stats__quantile_sorted(r->other, r->nother, 0.5);
    double tail = rh_stats__quantile_sorted(r->other, r->nother, above ? 1.0 - TAIL : TAIL);
    *usual = middle + CLEARLY * (tail - middle);
    for (int64_t i = 0; i < r->nend; i++)
        if (sign * r->end[i] < sign * *usual)
            nearest = fmax(nearest, sign * r->end[i]);
    return isinf(nearest) ? NAN : between(sign * nearest, *usual);
}

static void judge(const rewards *r, bool continuing, rh_failure *rule, char *words, size_t size)
{
    static const char say[] = "; say what one is: --failure 'temp > 90'";
    double usual;
    snprintf(words, size, "no episode of the log ends%s", say);
    if (!r->nend || !r->nother)
        return;
    rh_stats__sort(r->other, r->nother);
    double median = rh_stats__quantile_sorted(r->other, r->nother, 0.5);
    if (median > 0.0 && !continuing) {
        rule->known = rule->ends = true;
        rule->below = limit_of(r, true, &usual);
        if (isnan(rule->below)) {
            rule->below = INFINITY;
            snprintf(words, size, "an episode that ends: steps earn %.4g, an end loses them",
                     median);
        } else
            snprintf(words, size, "an episode that ends with a reward below %.6g, no bonus",
                     rule->below);
        return;
    }
    rule->below = limit_of(r, false, &usual);
    rule->known = !isnan(rule->below);
    rule->ends = !continuing;
    if (rule->known)
        snprintf(words, size, "%s with a reward below %.6g",
                 continuing ? "a step" : "an episode that ends", rule->below);
    else
        snprintf(words, size, "no end of an episode in the log has a reward below the usual%s",
                 say);
}

static rh_status find_by_rewards(rh_failure **out, const rh_log *log, bool continuing,
                                 rh_prior prior, rh_error *err)
{
    char words[160];
    int64_t width = rh_contract__prior_width(log->nobs, log->nact),
            place = log->nobs + log->nact;
    rh_failure rule = {.below = NAN, .words = words};
    rewards r = {.end = rh_alloc((size_t)(log->n + prior.n), sizeof *r.end)};
    if (!r.end)
        return rh_base__no_memory(err, "failure");
    for (int pass = 1; pass >= 0; pass--) { // ends first
        for (int64_t i = 0; i < log->n; i++)
            if ((log->flag[i] & RH_FLAG_TERMINAL) == pass && isfinite(log->reward[i]))
                r.end[pass ? r.nend++ : r.nend + r.nother++] = log->reward[i];
        for (int64_t i = 0; i < prior.n; i++) {
            const double *row = prior.row + i * width;
            if ((row[width - 1] == 1.0) == pass) // terminal
                r.end[pass ? r.nend++ : r.nend + r.nother++] = row[place];
        }
    }
    r.other = r.end + r.nend;
    judge(&r, continuing, &rule, words, sizeof words);
    rh_free(r.end);
    return rh_failure__make(out, &rule, log->nobs, err);
}

// ---------------------------------------------------------------------------- as it was said

// "temp > 90" of a formula by next[i].
static rh_status find_by_formula(rh_failure **out, const rh_log *log, rh_error *err)
{
    rh_expression e = {0};
    rh_text words = {0};
    const char **name = next_names(log->nobs);
    rh_status rc = name ? compile(&e, log->failure, "failure", name, log->nobs, err)
                        : rh_base__no_memory(err, "failure");
    char *shown = rc ? NULL : rh_expression__rename(&e, log->failure, log->obs_name);
    rh_text__format(&words, "a step to %s", shown ? shown : "");
    if (!rc && (!shown || words.bad))
        rc = rh_base__no_memory(err, "failure");
    if (!rc)
        rc = rh_failure__make(
            out,
            &(rh_failure){
                .known = true, .below = NAN, .formula = log->failure, .words = words.data},
            log->nobs, err);
    rh_expression__clear(&e);
    rh_text__clear(&words);
    rh_free((void *)name);
    rh_free(shown);
    return rc;
}

rh_status rh_failure__find(rh_failure **out, const rh_log *log, bool continuing, rh_prior prior,
                           rh_error *err)
{
    rh_failure rule = {.below = INFINITY, .words = "nothing counts as a failure"};
    if (!log->failure)
        return find_by_rewards(out, log, continuing, prior, err);
    if (strcmp(log->failure, "none") == 0)
        return rh_failure__make(out, &rule, log->nobs, err);
    if (strcmp(log->failure, "terminal") != 0)
        return find_by_formula(out, log, err);
    rule.known = rule.ends = true;
    rule.words = "an episode that ends";
    return rh_failure__make(out, &rule, log->nobs, err);
}

rh_status rh_log__set_failure(rh_log **log, const char *text, const char *path, rh_error *err)
{
    const rh_log *from = *log;
    rh_log parts = *from, *copy = NULL;
    rh_expression e = {0};
    char label[400], *formula = NULL;
    const char **name = NULL;
    rh_status rc = RH_OK;
    text += strspn(text, " \t");
    parts.failure = text;
    if (strcmp(text, "none") != 0 && strcmp(text, "terminal") != 0) {
        snprintf(label, sizeof label, "%s: failure", rh_base__path_tail(path));
        name = next_names(from->nobs);
        rc = compile(&e, text, label, from->obs_name, from->nobs, err);
        formula = rc || !name ? NULL : rh_expression__rename(&e, text, name);
        if (!rc && !formula)
            rc = rh_base__no_memory(err, path);
        parts.failure = formula;
    }
    if (!rc)
        rc = rh_log_copy(&copy, &parts, err);
    rh_expression__clear(&e);
    rh_free(formula);
    rh_free((void *)name);
    if (rc)
        return rh_log__one_line(rc, err);
    rh_log_destroy(*log);
    *log = copy;
    return RH_OK;
}
