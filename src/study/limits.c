// limits.c - limits and further scores: reading them, and counting them in a run.
//
//     trip: 2 per 1000 steps        failures, by the rule of the log
//     T_tank > 90: 0.1 %            steps in which the formula holds
//     T_tank > 90: 5 % of episodes  episodes that have such a step
//
// 1. The rate is what follows the last colon. Semicolons separate limits, except in quotes.
// 2. A formula is over sensors, actions and `reward`: the sensors are those of the state that
//    the step led to, as in --failure. A discrete action is the number that is its name in the
//    log; where names are words, its place among them, from 0.
// 3. Per cent are of steps, of failures and ends per cent of episodes, unless it is said.
// 4. A formula whose value is missing is not exceeded, and adds nothing to a further score.
// 5. A column that is a part of the reward and no sensor is refused: models predict the reward
//    as a whole, and rows that are no state have no such column.

#include "limits.h"

#include "base/base_internal.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define REWARD "reward"
#define NAMED "sensor or action" // what a name of a formula stands for
#define NAME 24                  // bytes of "next[2147483647]"

void rh_limits__clear(rh_limits *limits)
{
    for (int i = 0; i < RH_MAX_LIMITS + RH_MAX_ALSO; i++)
        rh_expression__clear(&limits->formula[i]);
    rh_free(limits->label);
    rh_free(limits->text);
    *limits = (rh_limits){0};
}

// ---------------------------------------------------------------------------- pieces

// The end of the piece at `at`: a semicolon that is not in quotes, or the end of the text.
static const char *piece_end(const char *at)
{
    for (; *at && *at != ';'; at++) {
        const char *close = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
        at = close ? close : at;
    }
    return at;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The text without blanks at both ends; *n: its length.
static const char *trim(const char *at, size_t *n)
{
    while (*n && is_blank(*at)) {
        at++;
        --*n;
    }
    while (*n && is_blank(at[*n - 1]))
        --*n;
    return at;
}

// What is being read, and where to.
typedef struct reading {
    rh_limits *limits;
    char *to;          // in the block of texts
    const char *label; // opens a message: "--at-most"
    rh_error *err;
} reading;

// ---------------------------------------------------------------------------- a rate

static const char rates[] =
    "EVENT: RATE, such as 'trip: 2 per 1000 steps', 'T > 90: 0.1 %' or 'T > 90: 5 % of "
    "episodes'";

static rh_status refuse(const reading *r, const char *piece, size_t n, const char *expected)
{
    char shown[100];
    rh_text__printable_n(piece, n, shown, sizeof shown);
    return rh_fail(r->err, RH_EINVAL, "%s = '%s', expected %s", r->label, shown, expected);
}

// Move past a word, with blanks before it.
static bool take(const char **at, const char *end, const char *word)
{
    const char *p = *at;
    size_t n = strlen(word);
    while (p < end && is_blank(*p))
        p++;
    if ((size_t)(end - p) < n || strncmp(p, word, n) != 0)
        return false;
    *at = p + n;
    return true;
}

// "2 per 1000 steps", "0.1 % of steps", "0.01 per episode"; false: something else.
static bool read_rate(rh_constraint *limit, const char *at, const char *end)
{
    double x = 0.0, steps = 1000.0;
    while (at < end && is_blank(*at))
        at++;
    at = rh_number__parse(at, end, &x);
    if (!at || !(x >= 0.0) || !isfinite(x))
        return false;
    if (take(&at, end, "%")) {
        bool event = limit->counted == RH_COUNT_FAILURES || limit->counted == RH_COUNT_ENDS;
        bool of = take(&at, end, "of"), whole = of && take(&at, end, "episodes");
        if (of && !whole && (event || !take(&at, end, "steps")))
            return false;
        limit->unit = whole || (event && !of) ? RH_PERCENT_OF_EPISODES : RH_PERCENT_OF_STEPS;
        limit->most = x / 100.0;
    } else if (!take(&at, end, "per") && !take(&at, end, "in")) {
        return false;
    } else if (take(&at, end, "episode")) {
        limit->unit = RH_PERCENT_OF_EPISODES;
        limit->most = x;
    } else {
        bool thousand = take(&at, end, "1,000");
        const char *after = at;
        while (!thousand && after < end && is_blank(*after))
            after++;
        after = thousand ? at : rh_number__parse(after, end, &steps);
        if (!after || !(steps >= 1.0) || !isfinite(steps) || !take(&after, end, "steps"))
            return false;
        at = after;
        limit->unit = RH_PER_1000_STEPS;
        limit->most = x / steps;
    }
    while (at < end && is_blank(*at))
        at++;
    return at == end && limit->most <= 1.0;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

// What is counted, "trip" or a formula: the text (n) of the event.
static rh_counted counted_of(const char *text, size_t n)
{
    static const char *const failure[] = {"trip", "trips", "failure", "failures"};
    for (size_t i = 0; i < sizeof failure / sizeof *failure; i++)
        if (is_word(text, n, failure[i]))
            return RH_COUNT_FAILURES;
    return is_word(text, n, "terminal") ? RH_COUNT_ENDS : RH_COUNT_STEPS;
}

// A copy of text (n) in the block.
static const char *put(reading *r, const char *text, size_t n)
{
    char *kept = r->to;
    if (n)
        memcpy(kept, text, n);
    kept[n] = '\0';
    r->to += n + 1;
    return kept;
}

// One limit, "EVENT: RATE" (n).
static rh_status read_limit(reading *r, const char *piece, size_t n)
{
    rh_limits *limits = r->limits;
    const char *colon = NULL;
    if (limits->nlimit == RH_MAX_LIMITS)
        return refuse(r, piece, n, "at most 8 limits");
    for (const char *c = piece; c < piece + n; c++)
        colon = *c == ':' ? c : colon;
    size_t nevent = colon ? (size_t)(colon - piece) : 0;
    const char *event = trim(piece, &nevent);
    rh_constraint limit = {.counted = counted_of(event, nevent)};
    if (!nevent || !read_rate(&limit, colon + 1, piece + n))
        return refuse(r, piece, n, rates);
    if (limit.counted == RH_COUNT_STEPS && limit.unit == RH_PERCENT_OF_EPISODES)
        limit.counted = RH_COUNT_EPISODES;
    limit.event = put(r, event, nevent);
    limits->limit[limits->nlimit++] = limit;
    return RH_OK;
}

static rh_status read_also(reading *r, const char *piece, size_t n)
{
    rh_limits *limits = r->limits;
    if (limits->nalso == RH_MAX_ALSO)
        return refuse(r, piece, n, "at most 4 further scores");
    limits->also[limits->nalso++] = put(r, piece, n);
    return RH_OK;
}

// All pieces of a text.
static rh_status read_all(reading *r, const char *text,
                          rh_status (*read)(reading *, const char *, size_t))
{
    rh_status rc = RH_OK;
    for (const char *at = text; at && !rc;) {
        const char *end = piece_end(at);
        size_t n = (size_t)(end - at);
        const char *piece = trim(at, &n);
        if (n)
            rc = read(r, piece, n);
        at = *end ? end + 1 : NULL;
    }
    return rc;
}

// ---------------------------------------------------------------------------- formulas

// The names that a formula may use: sensors, actions, the reward. name (nobs + nact + 1).
static void fill_names(const rh_log *log, const char **name)
{
    memcpy(name, log->obs_name, (size_t)log->nobs * sizeof *name);
    memcpy(name + log->nobs, log->act_name, (size_t)log->nact * sizeof *name);
    name[log->nobs + log->nact] = REWARD;
}

// Decision 2: the numbers of discrete actions.
static rh_status number_actions(rh_limits *limits, const rh_log *log, rh_error *err)
{
    bool numbers = true;
    if (!log->naction)
        return RH_OK;
    limits->label = rh_alloc((size_t)log->naction, sizeof *limits->label);
    if (!limits->label)
        return rh_base__no_memory(err, "study");
    for (int a = 0; a < log->naction; a++) {
        const char *text = log->label[a], *end = text + strlen(text);
        numbers = numbers && rh_number__parse(text, end, &limits->label[a]) == end;
    }
    for (int a = 0; a < log->naction && !numbers; a++)
        limits->label[a] = a;
    return RH_OK;
}

// Decision 5.
static rh_status say_how(rh_status rc, rh_error *err)
{
    rh_error why = *err;
    if (!strstr(why.text, ": no " NAMED " '"))
        return rc;
    return rh_fail(err, rc,
                   "%s; a model has no other columns, such as parts of the reward: make the "
                   "column a sensor, --obs",
                   why.text);
}

// Compile the formulas that were read: formula (n) of text (n); NULL: it is none.
static rh_status compile(reading *r, const rh_log *log, rh_expression *formula,
                         const char *const *text, int n)
{
    const char *name[RH_MAX_OBS + RH_MAX_ACT + 1];
    rh_expression__scope scope = {r->label, NAMED, name, NULL, log->nobs + log->nact + 1};
    rh_status rc = RH_OK;
    fill_names(log, name);
    for (int i = 0; i < n && !rc; i++)
        if (text[i])
            rc = rh_expression__compile(&formula[i], text[i], &scope, r->err);
    return rc && r->err ? say_how(rc, r->err) : rc;
}

// Both kinds of formulas. label: as for rh_limits__read().
static rh_status compile_all(reading *r, const rh_log *log, const char *label)
{
    rh_limits *limits = r->limits;
    const char *event[RH_MAX_LIMITS];
    rh_status rc = number_actions(limits, log, r->err);
    limits->nobs = log->nobs;
    limits->nact = log->nact;
    for (int i = 0; i < limits->nlimit; i++) {
        rh_counted counted = limits->limit[i].counted;
        bool formula = counted == RH_COUNT_STEPS || counted == RH_COUNT_EPISODES;
        event[i] = formula ? limits->limit[i].event : NULL;
    }
    r->label = label ? label : "at_most";
    if (!rc)
        rc = compile(r, log, limits->formula, event, limits->nlimit);
    r->label = label ? label : "also";
    if (!rc)
        rc = compile(r, log, limits->formula + RH_MAX_LIMITS, limits->also, limits->nalso);
    return rc;
}

rh_status rh_limits__read(rh_limits *limits, const char *at_most, const char *also,
                          const rh_log *log, const char *label, rh_error *err)
{
    reading r = {.limits = limits, .err = err, .label = label ? label : "at_most"};
    at_most = at_most ? at_most : "";
    also = also ? also : "";
    size_t nmost = strlen(at_most), nalso = strlen(also);
    *limits = (rh_limits){0};
    if (!nmost && !nalso)
        return RH_OK;
    if (nmost >= RH_LIMITS__TEXT || nalso >= RH_LIMITS__TEXT)
        return rh_fail(err, RH_EINVAL, "%s: a text of %zu bytes, expected fewer than %d",
                       r.label, nmost > nalso ? nmost : nalso, RH_LIMITS__TEXT);
    // each piece has an end, where its semicolon or the end of the text was
    limits->text = r.to = rh_alloc(2 * (nmost + nalso) + 4, 1);
    if (!r.to)
        return rh_base__no_memory(err, "study");
    limits->at_most = put(&r, at_most, nmost);
    limits->also_all = put(&r, also, nalso);
    rh_status rc = read_all(&r, at_most, read_limit);
    r.label = label ? label : "also";
    if (!rc)
        rc = read_all(&r, also, read_also);
    return rc || !log ? rc : compile_all(&r, log, label);
}

// The names that a file of the plant's agent has: name (nobs + nact + 1). Owned: the block that
// they are in; NULL: out of memory.
static char *file_names(int nobs, int nact, const char **name)
{
    char *room = rh_alloc((size_t)nobs + (size_t)nact + 1, NAME);
    for (int i = 0; room && i <= nobs + nact; i++) {
        snprintf(room + i * NAME, NAME, i < nobs ? "next[%d]" : "act[%d]",
                 i < nobs ? i : i - nobs);
        name[i] = i == nobs + nact ? REWARD : room + i * NAME;
    }
    return room;
}

char *rh_limits__formula(const rh_limits *limits, int limit)
{
    const char *name[RH_MAX_OBS + RH_MAX_ACT + 1];
    char *room = file_names(limits->nobs, limits->nact, name), *out = NULL;
    if (room)
        out = rh_expression__rename(&limits->formula[limit], limits->limit[limit].event, name);
    rh_free(room);
    return out;
}

rh_status rh_limits__compile(rh_expression *out, const rh_best *best, int i, rh_error *err)
{
    const char *name[RH_MAX_OBS + RH_MAX_ACT + 1];
    int nobs = best->task.nobs, nact = best->task.nact;
    char *room = file_names(nobs, nact, name);
    rh_expression__scope scope = {"at_most", NAMED, name, NULL, nobs + nact + 1};
    rh_status rc = room ? rh_expression__compile(out, best->limit[i].formula, &scope, err)
                        : rh_base__no_memory(err, "best.yaml");
    rh_free(room);
    return rc;
}

// ---------------------------------------------------------------------------- a step

static unsigned measure(const void *of, const rh_done_step *step, double *also)
{
    const rh_limits *limits = of;
    double x[RH_MAX_OBS + RH_MAX_ACT + 1];
    unsigned exceeded = 0;
    size_t nobs = (size_t)limits->nobs, nact = (size_t)limits->nact;
    memcpy(x, step->next, nobs * sizeof *x);
    memcpy(x + nobs, step->act, nact * sizeof *x);
    if (limits->label)
        x[nobs] = limits->label[(int)step->act[0]];
    x[nobs + nact] = step->reward;
    for (int i = 0; i < limits->nlimit; i++) {
        double y = limits->formula[i].nop ? rh_expression__value(&limits->formula[i], x) : 0.0;
        exceeded |= (unsigned)(y != 0.0 && !isnan(y)) << i;
    }
    for (int k = 0; k < limits->nalso; k++) {
        double y = rh_expression__value(&limits->formula[RH_MAX_LIMITS + k], x);
        also[k] = isnan(y) ? 0.0 : y;
    }
    return exceeded;
}

void rh_limits__watch(const rh_limits *limits, rh_eval_options *opt)
{
    bool any = limits && limits->nlimit + limits->nalso > 0;
    opt->measure = any ? measure : NULL;
    opt->limits = any ? limits : NULL;
    opt->nlimit = any ? limits->nlimit : 0;
    opt->nalso = any ? limits->nalso : 0;
    for (int i = 0; i < opt->nlimit; i++)
        opt->counted[i] = limits->limit[i].counted;
}

const char *rh_limits__unit(rh_limit_unit unit)
{
    static const char *const name[] = {[RH_PER_1000_STEPS] = "per 1000 steps",
                                       [RH_PERCENT_OF_STEPS] = "% of steps",
                                       [RH_PERCENT_OF_EPISODES] = "% of episodes"};
    return (size_t)unit < sizeof name / sizeof *name ? name[unit] : NULL;
}

double rh_limits__scale(rh_limit_unit unit)
{
    return unit == RH_PER_1000_STEPS ? 1000.0 : 100.0;
}

void rh_limits__say(const rh_constraint *limit, double rate, char text[60])
{
    snprintf(text, 60, "%.3g %s", rh_limits__scale(limit->unit) * rate,
             rh_limits__unit(limit->unit));
}
