// every.c - makes one step of all rows between two decisions: --every 5m, --every '300 rows'.
//
//     s_k, a_k, r_k, s_(k+1)    s: the row in which an interval begins, r: the sum of the
//     rewards
//
// For plants that are logged more often than their controller acts.
//
// 1. An observation is that of one row, the one that the controller sees when it decides. With
//    --every-obs mean it is the mean over the rows since the decision before, which is what its
//    messages must then have; in the first step of an episode, and where one terminates, it is
//    the row itself.
// 2. Intervals begin where actions change: an episode's intervals are shifted so that most of
//    its changes, if at least twice as many as at a usual row, are at a beginning. Otherwise
//    they begin with the episode.
// 3. If the action changes within an interval, its step has the mean, or the most frequent one
//    of discrete actions.
// 4. An interval that is not complete is kept if a terminal step ends it, or if an episode
//    starts in it. Others, at the end of an episode and beside gaps, are left out: their sum
//    of rewards is not that of a step.
// 5. The reward of a step is no longer the formula of one row. But n times a weighted sum of
//    means is the sum over n rows: of actions, and with means of observations. Such a formula
//    is kept, any other one is lost. A terminal step may have fewer rows: its reward is logged,
//    and the formula's only nearly.

#include "base/base_internal.h"
#include "base/expression.h"
#include "base/number.h"
#include "base/scratch.h"
#include "log.h"
#include "log_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define NAME 20     // bytes of "next[255]"
#define CHANGES 2.0 // decision 2: times the usual number; by hand
#define NEARLY 0.5  // of the time between rows, by which times may be off

typedef struct paced {
    const rh_log *log;      // borrowed
    bool rows;              // positions are rows, not times
    bool mean;              // observations are means: decision 1
    double length, spacing; // of an interval, and of rows
    int64_t nphase;         // rows of an interval
    int64_t nmixed, nleft;  // steps with several actions; rows left out
    int64_t nother;         // steps with another number of rows than nphase, none terminal
    int64_t *count;         // changes of the action at each row of an interval (nphase)
    rh_log__remade new;
} paced;

// ---------------------------------------------------------------------------- the option

bool rh_log__parse_every(const char *text, double *time, int64_t *rows)
{
    double x = 0.0;
    const char *unit = rh_number__parse(text, text + strlen(text), &x);
    while (unit && *unit == ' ')
        unit++;
    *time = NAN;
    *rows = 1;
    if (unit && (strcmp(unit, "rows") == 0 || strcmp(unit, "row") == 0)) {
        bool good = x >= 1.0 && x < 0x1p53 && x == floor(x);
        *rows = good ? (int64_t)x : 1;
        return good;
    }
    return rh_log__duration(text, time);
}

// ---------------------------------------------------------------------------- intervals

// Where transition t is in its episode, in rows or in time.
static double position(const paced *p, int64_t t)
{
    const rh_log *log = p->log;
    int64_t step = log->step[t];
    return p->rows ? (double)step : log->time[t] - log->time[t - step];
}

// The usual time between rows; NAN if there is none.
static double usual_spacing(const rh_log *log, double *work)
{
    int64_t n = 0;
    for (int64_t t = 0; t + 1 < log->n; t++)
        if (log->step[t + 1] > 0 && log->time[t + 1] > log->time[t])
            work[n++] = log->time[t + 1] - log->time[t];
    return n ? rh_stats__median(work, n) : NAN;
}

static bool same_action(const rh_log *log, int64_t t, int64_t u)
{
    size_t width = (size_t)log->nact * sizeof *log->act;
    return memcmp(log->act + t * log->nact, log->act + u * log->nact, width) == 0;
}

// Where the intervals of an episode begin, from its first row on: decision 2.
static double find_phase(paced *p, int e)
{
    const rh_log *log = p->log;
    int64_t nchange = 0, best = 0;
    memset(p->count, 0, (size_t)p->nphase * sizeof *p->count);
    for (int64_t t = log->first[e] + 1; t < log->first[e + 1]; t++) {
        if (same_action(log, t - 1, t))
            continue;
        double off = fmod(position(p, t), p->length);
        p->count[(int64_t)floor(off / p->spacing + NEARLY) % p->nphase]++;
        nchange++;
    }
    for (int64_t i = 1; i < p->nphase; i++)
        best = p->count[i] > p->count[best] ? i : best;
    bool clear = (double)p->count[best] * (double)p->nphase > CHANGES * (double)nchange;
    return clear ? (double)best * p->spacing : 0.0;
}

// The number of the interval that transition t is in.
static double interval_of(const paced *p, int64_t t, double phase)
{
    return floor((position(p, t) - phase + NEARLY * p->spacing) / p->length);
}

// ---------------------------------------------------------------------------- steps

static int32_t add_state(paced *p, int32_t row)
{
    const rh_log *log = p->log;
    memcpy(rh_log__remade_state(&p->new, row), log->obs + (int64_t)row * log->nobs,
           (size_t)log->nobs * sizeof *log->obs);
    return (int32_t)p->new.log.nstate - 1;
}

// The mean of the rows in which transitions t to end begin.
static int32_t add_mean(paced *p, int64_t t, int64_t end)
{
    const rh_log *log = p->log;
    double *to = rh_log__remade_state(&p->new, log->from[end - 1]);
    memset(to, 0, (size_t)log->nobs * sizeof *to);
    for (int64_t i = t; i < end; i++)
        for (int k = 0; k < log->nobs; k++)
            to[k] += log->obs[(int64_t)log->from[i] * log->nobs + k] / (double)(end - t);
    return (int32_t)p->new.log.nstate - 1;
}

// The action of transitions t to end: decision 3.
static void put_action(paced *p, int64_t t, int64_t end, double *act)
{
    const rh_log *log = p->log;
    int64_t count[RH_MAX_ACTIONS] = {0};
    int best = (int)log->act[t * log->nact];
    bool mixed = false;
    for (int k = 0; k < log->nact; k++)
        act[k] = log->act[t * log->nact + k];
    for (int64_t i = t; i < end; i++)
        mixed = mixed || !same_action(log, t, i);
    p->nmixed += mixed;
    for (int64_t i = t; mixed && log->naction && i < end; i++)
        count[(int)log->act[i]]++;
    for (int a = 0; mixed && a < log->naction; a++)
        best = count[a] > count[best] ? a : best;
    if (mixed && log->naction)
        act[0] = best;
    for (int k = 0; mixed && !log->naction && k < log->nact; k++) {
        double sum = 0.0;
        for (int64_t i = t; i < end; i++)
            sum += log->act[i * log->nact + k];
        act[k] = sum / (double)(end - t);
    }
}

// The last step so far ends its episode.
static void end_episode(rh_log__remade *m)
{
    uint8_t *flag = m->flag + m->log.n - 1;
    if (m->log.n > 0 && !*flag)
        *flag = RH_FLAG_TRUNCATED;
}

// One step of transitions t to end; joined: it follows the step before.
static void add_step(paced *p, int64_t t, int64_t end, bool joined, bool starts)
{
    const rh_log *log = p->log;
    rh_log__remade *m = &p->new;
    if (!joined) {
        end_episode(m);
        rh_log__remade_episode(m, starts);
    }
    int64_t i = m->log.n++;
    bool ends = log->flag[end - 1] & RH_FLAG_TERMINAL;
    bool follows = joined && (p->mean || log->to[t - 1] == log->from[t]);
    m->from[i] = follows ? m->to[i - 1] : add_state(p, log->from[t]);
    m->to[i] = p->mean && !ends                 ? add_mean(p, t, end)
               : log->to[end - 1] == RH_UNKNOWN ? RH_UNKNOWN
                                                : add_state(p, log->to[end - 1]);
    p->nother += !ends && end - t != p->nphase;
    put_action(p, t, end, m->act + i * log->nact);
    m->reward[i] = 0.0;
    for (int64_t j = t; j < end; j++)
        m->reward[i] += log->reward[j];
    m->flag[i] = log->flag[end - 1];
    if (log->time)
        m->time[i] = log->time[t];
}

static void add_episode(paced *p, int e)
{
    const rh_log *log = p->log;
    double phase = find_phase(p, e), k = 0.0;
    int64_t last = log->first[e + 1], end;
    bool joined = false;
    for (int64_t t = log->first[e]; t < last; t = end) {
        k = interval_of(p, t, phase);
        end = t + 1;
        while (end < last && interval_of(p, end, phase) == k)
            end++;
        double near = NEARLY * p->spacing, begin = k * p->length + phase;
        bool starts = t == log->first[e] && log->start[e];
        bool from_start = position(p, t) < begin + near;
        bool to_end = position(p, end - 1) + p->spacing > begin + p->length - near &&
                      (end == last || interval_of(p, end, phase) == k + 1.0);
        bool ends = log->flag[end - 1] & RH_FLAG_TERMINAL;
        bool kept = (from_start || starts || joined) && (to_end || ends);
        if (kept)
            add_step(p, t, end, joined, starts);
        else
            p->nleft += end - t;
        joined = kept;
    }
}

// ---------------------------------------------------------------------------- the log

static rh_status prepare(paced *p, const char *path, rh_error *err)
{
    const rh_log *log = p->log;
    bool fits = rh_log__remake(&p->new, log, log->nobs);
    if (fits && !p->rows) {
        p->spacing = usual_spacing(log, p->new.time);
        if (!(p->length > NEARLY * p->spacing))
            return rh_fail(err, RH_EINVAL,
                           "%s: every = %g, but rows are %g apart, expected a longer time",
                           rh_base__path_tail(path), p->length, p->spacing);
    }
    double nphase = fmax(1.0, floor(p->length / p->spacing + NEARLY));
    p->nphase = (int64_t)fmin(nphase, (double)log->n);
    p->count = rh_scratch__take(&p->new.scratch, (size_t)p->nphase, sizeof *p->count);
    return p->count ? RH_OK : rh_base__no_memory(err, path);
}

static void describe(const paced *p, rh_text *text)
{
    rh_text__add(text, "a step is ");
    rh_text__number(text, p->length);
    rh_text__format(text, " %s, with %s and the sum of the rewards", p->rows ? "rows" : "s",
                    p->mean ? "the mean observation since the step before"
                            : "the observation of its first row");
    if (p->nmixed)
        rh_text__format(text, "; %lld steps have several actions and get %s",
                        (long long)p->nmixed,
                        p->log->naction ? "the most frequent one" : "their mean");
    if (p->nleft)
        rh_text__format(text, "; %lld rows of incomplete steps are left out",
                        (long long)p->nleft);
}

// The formula of a step's reward, or NULL: decision 5. Owned: *out.
static rh_status sum_formula(char **out, const paced *p, rh_error *err)
{
    const rh_log *log = p->log;
    rh_expression e = {0};
    char name[3 * RH_MAX_OBS][NAME], *text = NULL;
    const char *to[3 * RH_MAX_OBS];
    int nobs = log->nobs, nact = log->nact;
    rh_status rc = RH_OK;
    if (!log->reward_formula || p->nother || (p->nmixed && log->naction))
        return RH_OK;
    rc = rh_expression__compile_step(&e, log->reward_formula, nobs, nact, err);
    bool sum = !rc && rh_expression__is_sum(&e);
    for (int i = 0; sum && i < e.nspan; i++) {
        int k = e.span[i].column;
        sum = k >= nobs ? k < nobs + nact : p->mean;
        snprintf(name[k], NAME, k < nobs ? "next[%d]" : "act[%d]", k < nobs ? k : k - nobs);
        to[k] = name[k];
    }
    if (sum && (text = rh_expression__rename(&e, log->reward_formula, to)) != NULL) {
        rh_text all = {0};
        rh_text__format(&all, "%lld*(%s)", (long long)p->nphase, text);
        *out = all.data;
    }
    if (sum && !*out)
        rc = rh_base__no_memory(err, "every");
    rh_free(text);
    rh_expression__clear(&e);
    return rc;
}

rh_status rh_log__every(rh_log **log, const rh_log_options *opt, const char *path,
                        rh_error *err)
{
    const rh_log *from = *log;
    double time = opt->every;
    int64_t rows = opt->every_rows;
    rh_text note = {0};
    char *formula = NULL;
    paced p = {.log = from, .rows = isnan(time), .spacing = 1.0};
    p.mean = opt->every_obs == RH_EVERY_MEAN;
    p.length = p.rows ? (double)rows : time;
    if (p.rows && rows == 1)
        return RH_OK;
    if (!p.rows && !from->time)
        return rh_fail(
            err, RH_EINVAL,
            "%s: every = %g, but the log has no times; name their column with --time, "
            "or give rows: --every '10 rows'",
            rh_base__path_tail(path), time);
    rh_status rc = prepare(&p, path, err);
    for (int e = 0; !rc && e < from->nepisode; e++)
        add_episode(&p, e);
    if (!rc && p.new.log.n == 0)
        rc = rh_fail(err, RH_EFORMAT,
                     "%s: every = %g: no step is complete, expected a shorter time than an "
                     "episode",
                     rh_base__path_tail(path), p.length);
    if (!rc) {
        end_episode(&p.new);
        describe(&p, &note);
        rc = sum_formula(&formula, &p, err);
    }
    if (!rc) {
        p.new.log.reward_formula = formula;
        rc = rh_log__remade_end(&p.new, &note, log, path, err);
    }
    rh_free(formula);
    rh_text__clear(&note);
    rh_scratch__clear(&p.new.scratch);
    return rh_log__one_line(rc, err);
}
