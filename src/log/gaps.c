// gaps.c - fills short gaps of missing values in rows, before they become transitions.
//
// A row without a reward, or a reward by formula without one of its sensors, ends an episode at
// reading. Short episodes then stay whole more often than long ones: of a plant that trips,
// with 1.5 % of the values missing, the whole episodes returned -293 where all returned -264,
// and -264 with gaps filled (tests/log/test_gaps.c).
//
// 1. A gap is at most 5 rows of one column inside an episode, with a known value on both sides.
//    Longer ones, and those at the ends of an episode, stay missing: the dynamics across them
//    would be ours and not the plant's.
// 2. A column that moves at most rows is interpolated. One that rests at most rows, or has only
//    whole numbers (a mode, a setpoint, a counter), is held. The rows so far decide.
// 3. A reward by formula is computed from the filled values, else it is filled like a sensor.
// 4. A given s' with missing values that is the next row's observation is filled like that.
// 5. Rows wait in a queue until their gaps are closed or too long. Rows without missing values
//    pass at once.

#include "gaps.h"
#include "base/base_internal.h"
#include "base/expression.h"

#include <math.h>
#include <string.h>

#define QUEUE (RH_GAPS__MOST + 2) // the gap, the row that closes it, and one that waits for s'

// One column of the rows: a sensor, a number of an action, or the reward.
typedef struct channel {
    double last;          // its last known value of the episode; NAN: none
    int open;             // rows since then
    int64_t npair, nsame; // rows after a known one, and those with the same value
    bool whole;           // all values so far are whole numbers
    int64_t nheld, nline; // values filled by holding and by interpolating
} channel;

typedef struct waiting {
    rh_log_row row;
    double *x;    // obs, act and reward, in the block of the queue    (nchannel)
    double *next; // s', if the row has one                            (nobs)
} waiting;

struct rh_gaps {
    int nobs, nact, nchannel;
    rh_log_builder *builder; // borrowed
    rh_gaps__sink sink;
    channel *channel; // owned                                  (nchannel)
    waiting queue[QUEUE];
    int n;
    double *block;         // owned: the numbers of the queue, and of one step
    rh_expression formula; // of the reward; without instructions: none
    double *step;          // obs, act and next, for the formula
    bool ahead;            // rows may need the row after them: for s', or for the formula
    bool over;             // the last row ended its episode
};

// ---------------------------------------------------------------------------- creating

// Keep the formula if the rows have what it needs: indices of actions are not their values.
static rh_status take_formula(rh_gaps *g, const rh_log_shape *shape, rh_error *err)
{
    if (!shape->reward_formula)
        return RH_OK;
    rh_status rc =
        rh_expression__compile_step(&g->formula, shape->reward_formula, g->nobs, g->nact, err);
    bool acts = false;
    for (int i = 0; !rc && i < g->formula.nspan; i++) {
        int column = g->formula.span[i].column;
        acts = acts || (column >= g->nobs && column < g->nobs + g->nact);
        g->ahead = g->ahead || column >= g->nobs + g->nact;
    }
    if (acts && shape->nlabel > 0)
        rh_expression__clear(&g->formula);
    return rc;
}

rh_status rh_gaps__create(rh_gaps **out, const rh_log_shape *shape, rh_log_builder *builder,
                          rh_gaps__sink sink, rh_error *err)
{
    rh_gaps *g = rh_alloc(1, sizeof *g);
    if (!g)
        return rh_base__no_memory(err, "log");
    g->nobs = shape->nobs;
    g->nact = shape->nact;
    g->nchannel = g->nobs + g->nact + 1;
    g->builder = builder;
    g->sink = sink;
    g->channel = rh_alloc((size_t)g->nchannel, sizeof *g->channel);
    size_t width = (size_t)g->nchannel + (size_t)g->nobs;
    g->block = rh_alloc((QUEUE + 1) * width, sizeof *g->block);
    rh_status rc =
        g->channel && g->block ? take_formula(g, shape, err) : rh_base__no_memory(err, "log");
    if (rc) {
        rh_gaps__destroy(g);
        return rc;
    }
    for (int i = 0; i < g->nchannel; i++)
        g->channel[i] = (channel){.last = NAN, .whole = true};
    for (int i = 0; i < QUEUE; i++) {
        g->queue[i].x = g->block + (size_t)i * width;
        g->queue[i].next = g->queue[i].x + g->nchannel;
    }
    g->step = g->block + QUEUE * width;
    *out = g;
    return RH_OK;
}

void rh_gaps__destroy(rh_gaps *g)
{
    if (!g)
        return;
    rh_expression__clear(&g->formula);
    rh_free(g->channel);
    rh_free(g->block);
    rh_free(g);
}

// ---------------------------------------------------------------------------- leaving

// Set what is missing of the row's s' from the row after it, if that is its s'.
static void fill_next(const rh_gaps *g, const waiting *w, const waiting *after)
{
    for (int j = 0; j < g->nobs; j++)
        if (!isnan(w->next[j]) && w->next[j] != after->x[j])
            return;
    memcpy(w->next, after->x, (size_t)g->nobs * sizeof *w->next);
}

// The reward by formula of a row whose reward is missing; NAN if it cannot be computed.
static double reward_of(const rh_gaps *g, const waiting *w, const waiting *after)
{
    const double *next = w->row.next ? w->next : after ? after->x : NULL;
    memcpy(g->step, w->x, (size_t)(g->nobs + g->nact) * sizeof *g->step);
    for (int j = 0; j < g->nobs; j++)
        g->step[g->nobs + g->nact + j] = next ? next[j] : (double)NAN;
    double reward = rh_expression__value(&g->formula, g->step);
    return isfinite(reward) ? reward : (double)NAN;
}

// Pass on the first row of the queue.
static rh_status leave(rh_gaps *g, rh_error *err)
{
    waiting first = g->queue[0];
    const waiting *after = g->n > 1 ? &g->queue[1] : NULL;
    rh_log_row *row = &first.row;
    double *act = first.x + g->nobs, *reward = act + g->nact;
    bool acts = true;
    for (int i = 0; i < g->nact; i++)
        acts = acts && !isnan(act[i]);
    row->obs = first.x;
    row->act = acts || row->act ? act : NULL;
    if (row->next && after)
        fill_next(g, &first, after);
    row->next = row->next ? first.next : NULL;
    if (isnan(*reward) && acts && g->formula.nop > 0)
        *reward = reward_of(g, &first, after);
    row->reward = *reward;
    rh_status rc = g->sink(g->builder, row, err);
    memmove(g->queue, g->queue + 1, (size_t)--g->n * sizeof *g->queue);
    g->queue[g->n] = first;
    return rc;
}

static rh_status leave_until(rh_gaps *g, int n, rh_error *err)
{
    rh_status rc = RH_OK;
    while (!rc && g->n > n)
        rc = leave(g, err);
    return rc;
}

// ---------------------------------------------------------------------------- arriving

// A known value x of channel c arrived in the last row of the queue: fill the rows before it.
static void close_gap(rh_gaps *g, int c, double x)
{
    channel *ch = &g->channel[c];
    bool computed = c == g->nchannel - 1 && g->formula.nop > 0;
    if (!isnan(ch->last) && ch->open > 0 && ch->open <= RH_GAPS__MOST && !computed) {
        bool hold = ch->whole || 2 * ch->nsame > ch->npair;
        for (int k = 0; k < ch->open; k++) {
            double part = (double)(k + 1) / (ch->open + 1);
            g->queue[g->n - 1 - ch->open + k].x[c] =
                hold ? ch->last : ch->last + part * (x - ch->last);
        }
        *(hold ? &ch->nheld : &ch->nline) += ch->open;
    }
    if (ch->open == 0 && !isnan(ch->last)) {
        ch->npair++;
        ch->nsame += x == ch->last;
    }
    ch->whole = ch->whole && x == floor(x);
    ch->last = x;
    ch->open = 0;
}

// Rows at the end of the queue that wait for the end of a gap.
static int waiting_rows(const rh_gaps *g)
{
    int most = 0;
    for (int c = 0; c < g->nchannel; c++) {
        const channel *ch = &g->channel[c];
        if (!isnan(ch->last) && ch->open <= RH_GAPS__MOST && ch->open > most)
            most = ch->open;
    }
    return most;
}

static void copy_row(rh_gaps *g, const rh_log_row *row)
{
    waiting *w = &g->queue[g->n++];
    w->row = *row;
    memcpy(w->x, row->obs, (size_t)g->nobs * sizeof *w->x);
    for (int i = 0; i < g->nact; i++)
        w->x[g->nobs + i] = row->act ? row->act[i] : (double)NAN;
    w->x[g->nchannel - 1] = row->reward;
    if (row->next)
        memcpy(w->next, row->next, (size_t)g->nobs * sizeof *w->next);
}

static bool lacks(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (isnan(x[i]))
            return true;
    return false;
}

rh_status rh_gaps__push(rh_gaps *g, const rh_log_row *row, rh_error *err)
{
    rh_status rc = RH_OK;
    if (row->begins || row->resumes || (g->over && row->act)) {
        rc = leave_until(g, 0, err);
        for (int c = 0; c < g->nchannel; c++) {
            g->channel[c].last = NAN;
            g->channel[c].open = 0;
        }
    }
    if (rc)
        return rc;
    g->over = row->terminal || row->truncated;
    copy_row(g, row);
    const waiting *w = &g->queue[g->n - 1];
    for (int c = 0; c < g->nchannel; c++)
        if (isnan(w->x[c]))
            g->channel[c].open++;
        else
            close_gap(g, c, w->x[c]);
    int wait = waiting_rows(g);
    bool next = row->next && lacks(row->next, g->nobs);
    wait += wait > 0 ? g->ahead || row->next : next || (g->ahead && isnan(row->reward));
    return leave_until(g, wait < QUEUE - 1 ? wait : QUEUE - 1, err);
}

rh_status rh_gaps__end(rh_gaps *g, rh_error *err)
{
    return leave_until(g, 0, err);
}

// ---------------------------------------------------------------------------- telling

int64_t rh_gaps__count(const rh_gaps *g)
{
    int64_t n = 0;
    for (int c = 0; c < g->nchannel; c++)
        n += g->channel[c].nheld + g->channel[c].nline;
    return n;
}

void rh_gaps__tell(const rh_gaps *g, const rh_log *log, rh_text *text)
{
    const char *before = "";
    for (int c = 0; c < g->nchannel; c++) {
        const channel *ch = &g->channel[c];
        if (ch->nheld + ch->nline == 0)
            continue;
        const char *name = c < g->nobs             ? log->obs_name[c]
                           : c < g->nobs + g->nact ? log->act_name[c - g->nobs]
                                                   : log->reward_name;
        rh_text__format(text, "%s%s", before, name);
        if (ch->nline > 0)
            rh_text__format(text, " %lld interpolated", (long long)ch->nline);
        if (ch->nheld > 0)
            rh_text__format(text, " %lld held", (long long)ch->nheld);
        before = ", ";
    }
}
