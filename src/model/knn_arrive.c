// knn_arrive.c - where a carried step leads, and whether it ends there.
//
//     s' = s'_i + M (s - s_i)
//
// 1. What the log shows about a sensor holds for s' too: a sensor that wraps round is brought
//    back to its range, one with a wall stops there, and a pair on a circle is brought back to
//    it. Differences of a sensor that wraps are taken the short way round.
// 2. Ends are judged at s', not by the neighbour's flag: beside the goal, a neighbour that just
//    reached it would end every episode. A step ends beyond a limit of the log. Of ends that no
//    limit explains, it ends where the nearest logged arrival does.
// 3. That search is rarely needed. Half the distance from arrival i to the nearest arrival of
//    the other kind is its margin: s' within the margin of s'_i ends as i does.
// 4. A step that ends has the reward of such ends: the mean of those beyond the same limit, or
//    that of the nearest arrival. For limits set by hand that the log never reached see
//    outcome.c. A step that goes on although its neighbour ended has the reward of the nearest
//    arrival too, or that of the nearest neighbour that goes on.
// 5. A reward is carried with its slope, but never above the highest one of the log. Where the
//    log's rewards are a formula of sensors and actions, it is that of the simulated numbers
//    instead (knn_reward.c), in steps that end too, but not past a limit set by hand.
// 6. A terminal step with unknown s' ends where it is drawn.

#include "knn_internal.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

// a carried reward is at most so many ranges of the log's rewards below them; by hand
#define BELOW 10.0

double rh_knn__difference(const rh_model *model, int sensor, double a, double b)
{
    double period = model->facts->sensor[sensor].period, gap = a - b;
    return isnan(period) ? gap : gap - period * round(gap / period);
}

// ---------------------------------------------------------------------------- limits

int rh_knn__limit_of(const rh_facts *facts, const double *s)
{
    for (int i = 0; i < facts->nlimit; i++) {
        const rh_limit *l = &facts->limit[i];
        if (l->above ? s[l->sensor] > l->value : s[l->sensor] < l->value)
            return i;
    }
    return -1;
}

// ---------------------------------------------------------------------------- arrivals

// Whether a transition's arrival tells ends from others. Ends beyond a limit do not.
static bool tells(const rh_model *model, int64_t t)
{
    const rh_log *log = model->log;
    return log->to[t] != RH_UNKNOWN &&
           rh_knn__limit_of(model->facts, log->obs + (int64_t)log->to[t] * log->nobs) < 0;
}

static bool is_end(const rh_log *log, int64_t t)
{
    return log->flag[t] & RH_FLAG_TERMINAL;
}

// Copy the codes of arrivals that tell, and end or not, to point; their positions to who.
static int64_t gather(const rh_knn *knn, const rh_model *model, bool end, float *point,
                      int32_t *who)
{
    int d = rh_repr__ncode(model->repr);
    int64_t n = 0;
    for (int64_t i = 0; i < knn->nuse; i++) {
        int64_t t = rh_knn__transition(knn, i);
        if (!tells(model, t) || is_end(model->log, t) != end)
            continue;
        if (point)
            memcpy(point + n * d, model->code + (int64_t)model->log->to[t] * d,
                   (size_t)d * sizeof *point);
        if (who)
            who[n] = (int32_t)i;
        n++;
    }
    return n;
}

// Index the arrivals of one kind. Owned: *points, *who.
static rh_status index_kind(const rh_knn *knn, const rh_model *model, bool end,
                            rh_neighbours **points, int32_t **who, rh_error *err)
{
    int d = rh_repr__ncode(model->repr);
    int64_t n = gather(knn, model, end, NULL, NULL);
    if (n == 0)
        return RH_OK;
    rh_status rc = RH_OK;
    float *point = rh_alloc((size_t)n, (size_t)d * sizeof *point);
    *who = rh_alloc((size_t)n, sizeof **who);
    if (!point || !*who) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    gather(knn, model, end, point, *who);
    rc = rh_neighbours__create(points, point, n, d, err);

done:
    rh_free(point);
    return rc;
}

// Half the distance from each arrival to the nearest of the other kind.
static rh_status find_margins(rh_knn *knn, const rh_model *model, int nthread, rh_error *err)
{
    const rh_log *log = model->log;
    int d = rh_repr__ncode(model->repr);
    knn->margin = rh_alloc((size_t)knn->nuse, sizeof *knn->margin);
    if (!knn->margin)
        return rh_base__no_memory(err, "knn");
#pragma omp parallel for schedule(static) num_threads(nthread)
    for (int64_t i = 0; i < knn->nuse; i++) {
        int64_t t = rh_knn__transition(knn, i);
        int32_t index;
        float square;
        if (!tells(model, t))
            continue; // 0: always search
        rh_neighbours__find(knn->arrival[!is_end(log, t)],
                            model->code + (int64_t)log->to[t] * d, 1, -1, &index, &square);
        knn->margin[i] = 0.5f * sqrtf(square);
    }
    return RH_OK;
}

rh_status rh_knn__index_arrivals(rh_knn *knn, const rh_model *model, int nthread, rh_error *err)
{
    rh_status rc = RH_OK;
    if (!model->code || gather(knn, model, true, NULL, NULL) == 0)
        return RH_OK; // limits explain all ends, or there are none
    for (int end = 0; !rc && end < 2; end++)
        rc = index_kind(knn, model, end, &knn->arrival[end], &knn->arrived[end], err);
    return rc || !knn->arrival[0] ? rc : find_margins(knn, model, nthread, err);
}

int32_t rh_knn__nearest_arrival(const rh_knn *knn, const float *code)
{
    int32_t best = -1;
    float least = INFINITY;
    for (int end = 0; end < 2; end++) {
        int32_t index;
        float square;
        if (!knn->arrival[end] ||
            !rh_neighbours__find(knn->arrival[end], code, 1, -1, &index, &square))
            continue;
        if (best < 0 || square < least) {
            best = knn->arrived[end][index];
            least = square;
        }
    }
    return best;
}

// ---------------------------------------------------------------------------- a step

// Carry the difference of s and act from transition t to next (nobs); the reward.
static double carry(const rh_knn *knn, const rh_model *model, int32_t position, int64_t t,
                    const double *s, const double *act, double *next)
{
    const rh_log *log = model->log;
    int nobs = log->nobs, nact = log->naction ? 0 : log->nact, nin = nobs + nact;
    const float *m = rh_knn__slope(knn, model, position);
    const double *from = log->obs + (int64_t)log->from[t] * nobs;
    const double *to = log->obs + (int64_t)log->to[t] * nobs;
    double x[RH_KNN__NIN], reward = log->reward[t];
    for (int k = 0; k < nobs; k++)
        x[k] = rh_knn__difference(model, k, s[k], from[k]);
    for (int k = 0; k < nact; k++)
        x[nobs + k] = rh_knn__clamp_action(knn, k, act[k]) - log->act[t * nact + k];
    for (int r = 0; r <= nobs; r++) {
        double sum = r < nobs ? to[r] : reward;
        for (int c = 0; c < nin; c++)
            sum += (double)m[r * nin + c] * x[c];
        if (r < nobs)
            next[r] = sum;
        else
            reward = sum;
    }
    bool same = !log->naction || log->act[t] == act[0];
    const double *change =
        same ? NULL : rh_knn__switched(knn, model, (int)act[0], (int)log->act[t]);
    for (int r = 0; !same && r < nobs; r++)
        next[r] += change[r];
    reward += same ? 0.0 : change[nobs];
    return fmin(fmax(reward, knn->reward_lo), knn->reward_hi);
}

void rh_knn__settle(const rh_model *model, double *s)
{
    const rh_facts *facts = model->facts;
    for (int k = 0; k < model->log->nobs; k++) {
        const rh_sensor *f = &facts->sensor[k];
        if (!isnan(f->period)) {
            s[k] -= f->period * floor((s[k] - f->base) / f->period);
            continue;
        }
        s[k] = s[k] < f->wall_lo ? f->wall_lo : s[k]; // false for NAN
        s[k] = s[k] > f->wall_hi ? f->wall_hi : s[k];
        if (f->partner > k) {
            double length = sqrt(s[k] * s[k] + s[f->partner] * s[f->partner]);
            if (length > 0.0) {
                s[k] *= f->radius / length;
                s[f->partner] *= f->radius / length;
            }
        }
    }
    rh_derive__compute(model->derive, s);
}

// Whether the step to out->next ends, and then its reward: decisions 2 to 4.
static void judge(const rh_knn *knn, const rh_model *model, int32_t position, int32_t other,
                  rh_knn__arrival *out)
{
    const rh_log *log = model->log;
    int64_t t = rh_knn__transition(knn, position);
    bool end = is_end(log, t);
    out->ends = end && tells(model, t);
    if (!knn->margin) { // an end beyond a limit that this step does not reach is no end
        if (end && !out->ends)
            out->reward = other < 0 ? knn->usual : log->reward[rh_knn__transition(knn, other)];
        return;
    }
    int d = rh_repr__ncode(model->repr);
    const float *there = model->code + (int64_t)log->to[t] * d;
    if (rh_knn__distance(out->code, there, d) < (double)knn->margin[position])
        return;
    int64_t best = rh_knn__transition(knn, rh_knn__nearest_arrival(knn, out->code));
    out->ends = is_end(log, best);
    if (out->ends != end)
        out->reward = log->reward[best];
}

void rh_knn__arrive(const rh_knn *knn, const rh_model *model, int32_t position, int32_t other,
                    const double *s, const double *act, float *scratch, rh_knn__arrival *out)
{
    const rh_log *log = model->log;
    int64_t t = rh_knn__transition(knn, position);
    if (log->to[t] == RH_UNKNOWN) { // decision 6
        memcpy(out->next, s, (size_t)log->nobs * sizeof *s);
        out->reward = log->reward[t];
        out->ends = is_end(log, t);
        return;
    }
    out->reward = carry(knn, model, position, t, s, act, out->next);
    rh_knn__settle(model, out->next);
    if (model->code)
        rh_repr__encode_one(model->repr, out->next, NULL, scratch, out->code);

    int limit = rh_knn__limit_of(model->facts, out->next);
    if (limit < 0) {
        judge(knn, model, position, other, out);
    } else {
        double reward = model->facts->limit[limit].reward;
        out->ends = true;
        out->reward = isnan(reward) ? rh_model__past_limit(model, out->reward) : reward;
        if (isnan(reward))
            return; // set by hand
    }
    rh_knn__reward(knn, model, s, act, out->next, &out->reward);
}

void rh_knn__bound_rewards(rh_knn *knn, const rh_model *model)
{
    const rh_log *log = model->log;
    double lo = INFINITY, hi = -INFINITY, sum = 0.0;
    int64_t n = 0;
    for (int64_t i = 0; i < log->n; i++) {
        lo = fmin(lo, log->reward[i]);
        hi = fmax(hi, log->reward[i]);
        if (!is_end(log, i)) {
            sum += log->reward[i];
            n++;
        }
    }
    knn->reward_lo = knn->sloped ? lo - BELOW * (hi - lo) : lo;
    knn->reward_hi = hi;
    knn->usual = n ? sum / (double)n : lo;
    rh_knn__bound_formula(knn, model);
}
