// inspect_align.c - tests whether actions and rewards are in the rows they belong to.
//
// In a column shifted by one row every value stays plausible, but cause and effect break: the
// action of step t must help to predict the change from s to s' in step t, and once the state
// is known, the actions before and after must not. So the change of every sensor is fitted by
// ridge regression, on one half of the steps and evaluated on the other, from
//
//     base     s: every sensor, squares, and products if there are few sensors
//     alone    base and the action of row t - 1, t or t + 1: what each explains by itself
//     partial  base and all three, against base and two: what only this action explains
//
// An action explains the share by which a sensor's squared error falls. The sensor with the
// largest share counts, since an action need not affect all.
//
// 1. A controller reacts to the state, so its next action reveals s' and seems to explain the
//    change before it. But it knows no more than the right action as long as some actions are
//    not the controller's. So another row must be better in both ways.
// 2. If nearly all actions are the controller's, the action itself is fitted. A controller's
//    action follows from the state it sees, and the state before adds little. In a column that
//    is one row late, the action follows from the state before and led to the state of its row,
//    so both together explain it much better than one.
// 3. A sensor may show the effect of the action of its own row: the power of a drive, logged
//    after the action was set. Its change then follows from the next row's action, without any
//    shift. Such a sensor is a function of the action alone, without memory of its own. It is
//    named, and left out of the rest, because it would stand for the action in the state. A
//    controller's action is a function of its sensors too, but not with its exploration.
// 4. inspect_rewards.c tests rewards in the same way.
// 5. Numbers are clipped at 6 scales, so that a single spike does not dominate a fit.
// 6. At most 20,000 evenly spaced steps are used, fewer if there are many sensors.

#include "inspect_align.h"
#include "base/base_internal.h"
#include "numeric/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 20000  // most steps used
#define LEAST 200    // fewer steps give no result
#define EFFORT 1.0e9 // products summed for one test; by hand, bounds its time
#define FOLD 64      // consecutive steps in the same half
#define PRODUCTS 8   // most sensors for which products are features
#define SQUARES 64   // and squares

// ---------------------------------------------------------------------------- features

double rh_inspect__clip(double x, double at)
{
    return x > at ? at : x < -at ? -at : x;
}

// Features of the state in a row, into x (nstate); the first is 1.
void rh_inspect__put_state(const rh_inspect__view *v, int32_t row, double *x)
{
    double s[RH_MAX_OBS];
    int n = v->space.n, k = 0;
    rh_inspect__place(&v->space, v->log, row, s);
    x[k++] = 1.0;
    for (int i = 0; i < n; i++)
        x[k++] = s[i] = rh_inspect__clip(s[i], RH_INSPECT__CLIP);
    for (int i = 0; i < n && n <= SQUARES; i++)
        x[k++] = s[i] * s[i] - 1.0;
    for (int i = 0; i < n && n <= PRODUCTS; i++)
        for (int j = 0; j < i; j++)
            x[k++] = s[i] * s[j];
}

void rh_inspect__put_action(const rh_inspect__view *v, int64_t t, double *x)
{
    const double *a = v->log->act + t * v->log->nact;
    if (v->log->naction) {
        for (int i = 0; i < v->naction; i++)
            x[i] = a[0] == v->choice[i];
        return;
    }
    for (int i = 0; i < v->naction; i++) {
        const rh_log_numbers *n = &v->report->amount[i];
        x[i] = n->sd > 0.0 && isfinite(a[i])
                   ? rh_inspect__clip((a[i] - n->mean) / n->sd, RH_INSPECT__CLIP)
                   : 0.0;
    }
}

// The most frequent actions except the most frequent one.
static void choose_actions(rh_inspect__view *v)
{
    const rh_log *log = v->log;
    bool used[RH_MAX_ACTIONS] = {false};
    v->naction = log->naction ? 0 : log->nact;
    for (int k = 0; k < log->naction && k <= RH_INSPECT__CHOICES; k++) {
        int best = -1;
        for (int i = 0; i < log->naction; i++)
            if (!used[i] && v->report->taken[i] > 0 &&
                (best < 0 || v->report->taken[i] > v->report->taken[best]))
                best = i;
        if (best < 0)
            break;
        used[best] = true;
        if (k > 0)
            v->choice[v->naction++] = best;
    }
}

// ---------------------------------------------------------------------------- the steps

// Whether t has a step before and after it in its episode, all with known s'.
static bool has_neighbours(const rh_log *log, int64_t t)
{
    return t > 0 && t + 1 < log->n && log->step[t] > 0 && log->step[t + 1] > 0 &&
           log->to[t - 1] == log->from[t] && log->to[t] == log->from[t + 1] &&
           log->to[t + 1] != RH_UNKNOWN;
}

// Choose the clipping limits for changes and rewards. work: (n).
static void choose_clips(rh_inspect__view *v, double *work)
{
    int n = (int)v->n;
    for (int j = 0; j < v->space.n; j++) {
        int nmoved = 0;
        for (int i = 0; i < n; i++) {
            double moved = fabs(rh_inspect__change(&v->space, v->log, v->at[i], j));
            if (moved > 0.0)
                work[nmoved++] = moved;
        }
        rh_stats__sort(work, nmoved);
        v->clip[j] =
            nmoved ? RH_INSPECT__CLIP * rh_stats__quantile_sorted(work, nmoved, 0.5) : 0.0;
    }
    for (int i = 0; i < n; i++)
        work[i] = v->log->reward[v->at[i]];
    rh_stats__sort(work, n);
    v->reward_lo = rh_stats__quantile_sorted(work, n, 0.01);
    v->reward_hi = rh_stats__quantile_sorted(work, n, 0.99);
    v->reward_mean = 0.0;
    for (int i = 0; i < n; i++)
        v->reward_mean += fmin(fmax(work[i], v->reward_lo), v->reward_hi) / n;
}

// Up to `most` steps with neighbours, evenly spaced.
static bool choose_steps(rh_inspect__view *v, int64_t most)
{
    const rh_log *log = v->log;
    int64_t nall = 0, k = 0;
    for (int64_t t = 0; t < log->n; t++)
        nall += has_neighbours(log, t);
    int64_t n = nall < most ? nall : most;
    v->at = rh_alloc((size_t)n + 1, sizeof *v->at);
    if (!v->at)
        return false;
    for (int64_t t = 0, i = 0; t < log->n && k < n; t++)
        if (has_neighbours(log, t) && i++ == rh_inspect__spread(k, n, nall))
            v->at[k++] = t;
    v->n = k;
    return true;
}

int rh_inspect__half(int64_t i)
{
    return (int)(i / FOLD % 2);
}

// ---------------------------------------------------------------------------- tests

// What the actions of three rows explain of the sensors' changes.
static bool explain_change(const rh_inspect__view *v, rh_log_alignment *out)
{
    int ns = v->nstate, na = v->naction, p = ns + 3 * na, m = v->space.n,
        use[RH_INSPECT__FEATURES];
    double y[RH_MAX_OBS], *x = rh_alloc((size_t)p + 8 * (size_t)m, sizeof *x);
    rh_inspect__sums s;
    if (!rh_inspect__sums_init(&s, p, m) || !x) {
        rh_free(s.solve);
        rh_free(x);
        return false;
    }
    for (int64_t i = 0; i < v->n; i++) {
        int64_t t = v->at[i];
        rh_inspect__put_state(v, v->log->from[t], x);
        for (int k = 0; k < 3; k++)
            rh_inspect__put_action(v, t + k - 1, x + ns + k * na);
        rh_inspect__changes(&v->space, v->log, t, y);
        for (int j = 0; j < m; j++)
            y[j] = rh_inspect__clip(y[j], v->clip[j]);
        rh_inspect__sums_add(&s, rh_inspect__half(i), x, y);
    }

    // the actions in a fit, as bits: none, one, two or all
    double *error = x + p;
    for (int with = 0; with < 8; with++) {
        int n = 0;
        for (int i = 0; i < ns; i++)
            use[n++] = i;
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < na && (with >> k & 1); i++)
                use[n++] = ns + k * na + i;
        rh_inspect__sums_error(&s, use, n, error + with * m);
    }
    for (int k = 0; k < 3; k++) {
        out->action[k] = out->partial[k] = 0.0;
        for (int j = 0; j < m; j++) {
            const double *e = error + j;
            if (!(e[0] > 0.0))
                continue;
            out->action[k] = fmax(out->action[k], 1.0 - e[(1 << k) * m] / e[0]);
            out->partial[k] = fmax(out->partial[k], 1.0 - e[7 * m] / e[(7 ^ (1 << k)) * m]);
        }
    }
    rh_free(s.solve);
    rh_free(x);
    return true;
}

// Take the sensors that are functions of the action of their own row out of the space; *first:
// the first of them, or -1.
static bool drop_effects(rh_inspect__view *v, int *first)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int na = v->naction, squares = v->log->naction ? 0 : na, m = v->space.n, kept = 0;
    int p = 1 + 2 * (na + squares), use[1 + 4 * RH_INSPECT__CHOICES + 4 * RH_MAX_ACT];
    double y[RH_MAX_OBS], *x = rh_alloc((size_t)p + 3 * (size_t)m, sizeof *x);
    rh_inspect__sums s = {0};
    *first = -1;
    if (!x || !rh_inspect__sums_init(&s, p, m)) {
        rh_free(x);
        return false;
    }
    x[0] = 1.0;
    for (int64_t i = 0; i < v->n; i++) {
        int64_t t = v->at[i];
        for (int before = 0; before < 2; before++) {
            double *a = x + 1 + before * (na + squares);
            rh_inspect__put_action(v, t - before, a);
            for (int k = 0; k < squares; k++)
                a[na + k] = a[k] * a[k];
        }
        rh_inspect__place(&v->space, v->log, v->log->from[t], y);
        rh_inspect__sums_add(&s, rh_inspect__half(i), x, y);
    }

    // by the action of their row, by the action before, and by neither
    double *error = x + p;
    for (int with = 0; with < 3; with++) {
        int n = 0;
        use[n++] = 0;
        for (int k = 0; k < na + squares && with < 2; k++)
            use[n++] = 1 + with * (na + squares) + k;
        rh_inspect__sums_error(&s, use, n, error + with * m);
    }
    for (int j = 0; j < m; j++) {
        if (error[j] < limit->effect_left * error[2 * m + j] &&
            error[j] < limit->effect_before * error[m + j]) {
            *first = *first < 0 ? v->space.sensor[j] : *first;
            continue;
        }
        v->space.sensor[kept] = v->space.sensor[j];
        v->space.centre[kept] = v->space.centre[j];
        v->space.scale[kept] = v->space.scale[j];
        v->space.period[kept++] = v->space.period[j];
    }
    v->space.n = kept;
    rh_free(s.solve);
    rh_free(x);
    return true;
}

// What the state of the row before explains of an action in addition to the state of its row.
static bool explain_action(const rh_inspect__view *v, rh_log_alignment *out)
{
    int ns = v->nstate, na = v->naction, p = 2 * ns - 1, use[RH_INSPECT__FEATURES];
    double *x = rh_alloc((size_t)p + 3 * (size_t)na, sizeof *x);
    rh_inspect__sums s = {0};
    if (!x || !rh_inspect__sums_init(&s, p, na)) {
        rh_free(x);
        return false;
    }
    double *y = x + p, *own = y + na, *both = own + na;
    for (int64_t i = 0; i < v->n; i++) {
        int64_t t = v->at[i];
        rh_inspect__put_state(v, v->log->from[t - 1], x + ns - 1); // overwrites its 1
        rh_inspect__put_state(v, v->log->from[t], x);
        rh_inspect__put_action(v, t, y);
        rh_inspect__sums_add(&s, rh_inspect__half(i), x, y);
    }
    for (int i = 0; i < p; i++)
        use[i] = i;
    rh_inspect__sums_error(&s, use, ns, own);
    rh_inspect__sums_error(&s, use, p, both);
    out->past = 0.0;
    for (int j = 0; j < na; j++)
        if (own[j] > 0.0)
            out->past = fmax(out->past, 1.0 - both[j] / own[j]);
    rh_free(s.solve);
    rh_free(x);
    return true;
}

// The distance from s' to the s of its own row, the next and the one after.
static void compare_next(const rh_inspect__view *v, rh_log_alignment *out)
{
    const rh_log *log = v->log;
    double a[RH_MAX_OBS], b[RH_MAX_OBS], sum[3] = {0.0};
    int64_t n = 0, stride = 1 + log->n / STEPS;
    for (int64_t t = 0; t + 2 < log->n; t += stride) {
        if (log->step[t + 1] == 0 || log->step[t + 2] == 0 || log->to[t] == RH_UNKNOWN)
            continue;
        n++;
        rh_inspect__place(&v->space, log, log->to[t], a);
        for (int k = 0; k < 3; k++) {
            rh_inspect__place(&v->space, log, log->from[t + k], b);
            for (int i = 0; i < v->space.n; i++)
                sum[k] += fabs(rh_inspect__clip(rh_inspect__turn(&v->space, i, a[i] - b[i]),
                                                RH_INSPECT__CLIP));
        }
    }
    for (int k = 0; k < 3; k++)
        out->next[k] = n ? sum[k] / (double)n / v->space.n : NAN;
}

// Where unusual rewards are: the cost of a trip belongs to the step that ends the episode.
static void place_rewards(const rh_log *log, const rh_log_report *report, rh_log_alignment *out)
{
    int64_t n = 0, at[3] = {0};
    for (int64_t t = 0; t < log->n; t++) {
        if (log->reward[t] == report->reward.median)
            continue;
        n++;
        bool ends = log->flag[t] & RH_FLAG_TERMINAL;
        bool next = t + 1 < log->n && log->step[t + 1] > 0;
        at[0] += next && (log->flag[t + 1] & RH_FLAG_TERMINAL);
        at[1] += ends;
        at[2] += !ends && t > 0 && log->step[t] == 0 && (log->flag[t - 1] & RH_FLAG_TERMINAL);
    }
    if (n == 0 || (double)n > rh_inspect__limit.special_share * (double)log->n)
        return;
    out->nspecial = n;
    for (int k = 0; k < 3; k++)
        out->place[k] = (double)at[k] / (double)n;
}

// Features of a state of n sensors.
static int count_features(int n)
{
    return 1 + n + (n <= SQUARES ? n : 0) + (n <= PRODUCTS ? n * (n - 1) / 2 : 0);
}

bool rh_inspect__align(rh_log_report *report, const rh_log *log)
{
    rh_log_alignment *out = &report->align;
    for (int k = 0; k < 3; k++)
        out->action[k] = out->partial[k] = out->reward[k] = out->sure[k] = out->next[k] =
            out->place[k] = out->past = NAN;
    out->effect = -1;
    place_rewards(log, report, out);
    rh_inspect__view *v = rh_alloc(1, sizeof *v);
    double *work = NULL;
    bool good = v != NULL;
    if (!good)
        return false;
    v->log = log;
    v->report = report;
    rh_inspect__space_init(&v->space, log, report);
    int n = v->space.n;
    if (n == 0)
        goto done;
    if (log->reading.nmismatch > 0)
        compare_next(v, out);

    v->nstate = count_features(n);
    choose_actions(v);
    double p = 2.0 * v->nstate + 3.0 * v->naction;
    good = choose_steps(v, (int64_t)fmin(STEPS, EFFORT / (p * p)));
    if (!good || v->n < LEAST || (double)v->n < 4.0 * p)
        goto done;
    out->n = v->n;
    work = rh_alloc((size_t)v->n, sizeof *work);
    good = work != NULL;
    if (!good)
        goto done;
    if (v->naction > 0)
        good = drop_effects(v, &out->effect);
    v->nstate = count_features(v->space.n);
    if (!good || v->space.n == 0)
        goto done;
    choose_clips(v, work);
    if (v->naction > 0)
        good = explain_change(v, out) && explain_action(v, out);
    if (good && v->reward_lo < v->reward_hi)
        good = rh_inspect__rewards(v, out);

done:
    rh_free(work);
    rh_free(v->at);
    rh_free(v);
    return good;
}
