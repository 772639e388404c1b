// replay.c - held-out stretches of a log, replayed in a model with the logged actions.
//
// A member fitted without a stretch stands where it begins (stretches.c), takes the logged
// actions, and is compared after 1, 2, 5, 10, ... steps with what really followed: the state,
// the sum of rewards so far, and whether the episode has ended, each by a proper score of
// RH_STRETCHES__NREPLAY random replays (replay_score.c). Every score is divided by that of a
// forecast that knows nothing of the state (ignorant.c). So 0 is perfect, 1 is no better than
// not looking, and more is worse. A part (states, rewards, ends) is the mean over its horizons,
// the score the mean of the parts.
//
// 1. The log's actions are replies to the plant's noise. A replay with other noise that has
//    left the logged path would take them in states where no controller would, and in an
//    unstable plant even the truth would fail again and again. So a replay follows the logged
//    actions until its state is farther from the logged one than half of the mean distance of
//    two logged states; from then on it takes the action of one of the NIMITATED nearest logged
//    states, as the log's behaviour would. (In Cartpole, near-optimal, the rewards of a model
//    that is 20 times truer after one step scored 12.9 after 200 steps of logged actions
//    alone.)
// 2. A replay that is still running where the log's episode ended continues in the same way.
//    Taking it as it was made one step late count as never. An end is final: state and sum of
//    rewards stay as they were.
// 3. A coverage radius is ignored: out of coverage a model gives a penalty, not a prediction.
// 4. Standard errors treat the episodes or blocks as independent, not the stretches.
// 5. All candidates have the same stretches and the same streams, so they are compared in
//    pairs.
// 6. Stretches beside the path (beside.c) are replayed in the same way. Those from the outer
//    tenth are in members that are fitted to the inner part. For the effect of an unusual
//    action, replays with it are compared with replays that take the usual one in its place;
//    all other actions are the logged ones.
// 7. Numbers of a model that are not finite are set to RH_STRETCHES__HUGE of the sensor's
//    scale.

#include "base/scratch.h"
#include "stretches.h"

#include "base/base_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NIMITATED 3 // logged states, one of which is imitated off the logged path

// One model being replayed.
typedef struct playing {
    const rh_stretches *r;
    const rh_model *model;
    rh_env *env;  // owned
    void *member; // owned: that it is made of
    void *state;  // owned
    float *place; // of a stretch's replays       (NREPLAY x nhorizon x d)
    rh_stretches__outcome o[RH_STRETCHES__NREPLAY];
    double *score;         //                                    (nall x NASPECT x nhorizon)
    const double *instead; // taken in the place of the first action, NULL: it is not
    bool open;             // logged actions only
    rh_stretches__effect *effect; // of the experiments
    float *mean;                  // of the replays of one            (nhorizon x d)
    int32_t *use;                 // transitions to fit               (n)
    double *param;                // of the environment               (nparam)
    int64_t nuse;
    rh_scratch scratch; // place, score, use and param
    double *path;       // where a replay is traced, NULL: it is not  (longest x (nobs + NMORE))
} playing;

// The action of one of the nearest logged states.
static const double *imitate(const rh_stretches *r, const double *obs, rh_rng *rng)
{
    float x[RH_STRETCHES__NCOORD], distance2[NIMITATED];
    int32_t near[NIMITATED];
    rh_stretches__scale(r, obs, x);
    int n = r->from ? rh_neighbours__find(r->from, x, NIMITATED, -1, near, distance2) : 0;
    int64_t t = n ? near[rh_rng_below(rng, (uint32_t)n)] : 0;
    return r->log->act + t * r->log->nact;
}

// Whether obs is off the logged path, which is at `row`.
static bool is_off(const rh_stretches *r, const double *obs, int32_t row)
{
    float x[RH_STRETCHES__NCOORD], y[RH_STRETCHES__NCOORD];
    if (row == RH_UNKNOWN)
        return false;
    rh_stretches__scale(r, obs, x);
    rh_stretches__scale(r, r->log->obs + (int64_t)row * r->log->nobs, y);
    rh_stretches__point here = {x, false}, there = {y, false};
    return rh_stretches__distance(here, there, r->d) > r->left;
}

// A row of a path.
static void trace(const playing *p, int step, const double *obs, double sum, bool over)
{
    size_t nobs = (size_t)p->r->log->nobs;
    double *row = p->path + (size_t)step * (nobs + RH_STRETCHES__NMORE);
    memcpy(row, obs, nobs * sizeof *row);
    row[nobs] = sum;
    row[nobs + 1] = over;
}

// Replay stretch i once: number k.
static void replay_once(playing *p, int i, int k, uint64_t seed)
{
    const rh_stretches *r = p->r;
    const rh_stretches__stretch *s = &r->stretch[i];
    const rh_log *log = r->log;
    uint64_t run = (uint64_t)i * RH_STRETCHES__NREPLAY + (uint64_t)k;
    rh_streams streams = {rh_rng_stream(seed, RH_STREAM_START, RH_STRETCHES__REPLICATE, run),
                          rh_rng_stream(seed, RH_STREAM_NOISE, RH_STRETCHES__REPLICATE, run)};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, RH_STRETCHES__REPLICATE, run);
    double obs[RH_MAX_OBS], reward, sum = 0.0;
    rh_stretches__outcome *o = &p->o[k];
    bool over = false, off = false;
    int step = 0;
    rh_env_start(p->env, p->state, &streams, obs);
    p->model->type->calls->stand(p->model, p->env, p->state, log->from[s->first]);
    memset(o, 0, sizeof *o);
    for (int h = 0; h < r->nhorizon; h++) {
        float *place = p->place + ((size_t)k * (size_t)r->nhorizon + (size_t)h) * (size_t)r->d;
        for (; step < r->horizon[h] && (step < s->length || s->ends) && !over; step++) {
            int64_t t = s->first + step;
            off = (off && !p->open) || step >= s->length;
            const double *act = off ? imitate(r, obs, &rng) : log->act + t * log->nact;
            act = step == 0 && p->instead ? p->instead : act;
            over = rh_env_step(p->env, p->state, act, &streams, obs, &reward);
            sum += isfinite(reward) ? reward : -RH_STRETCHES__HUGE;
            off = off || is_off(r, obs, rh_stretches__row_after(r, t));
            if (p->path)
                trace(p, step, obs, sum, over);
        }
        o->reward[h] = sum;
        o->ended[h] = over;
        if (over)
            memset(place, 0, (size_t)r->d * sizeof *place);
        else
            rh_stretches__scale(r, obs, place);
    }
}

static void judge(playing *p, int i)
{
    const rh_stretches *r = p->r;
    const rh_stretches__outcome *real = &r->real[i];
    for (int h = 0; h < r->nhorizon; h++) {
        double reward[RH_STRETCHES__NREPLAY], ended[RH_STRETCHES__NREPLAY];
        rh_stretches__point point[RH_STRETCHES__NREPLAY],
            y = {rh_stretches__place(r, r->place, i, h), real->ended[h]};
        for (int k = 0; k < RH_STRETCHES__NREPLAY; k++) {
            reward[k] = p->o[k].reward[h];
            ended[k] = p->o[k].ended[h];
            point[k] =
                (rh_stretches__point){rh_stretches__place(r, p->place, k, h), p->o[k].ended[h]};
        }
        bool known = real->known[h];
        *rh_stretches__score_at(r, p->score, i, RH_MODEL_STATE, h) =
            known ? rh_stretches__energy(point, RH_STRETCHES__NREPLAY, NAN, y, r->d) : NAN;
        *rh_stretches__score_at(r, p->score, i, RH_MODEL_REWARD, h) =
            known ? rh_stretches__crps(reward, RH_STRETCHES__NREPLAY, NAN, real->reward[h])
                  : NAN;
        *rh_stretches__score_at(r, p->score, i, RH_MODEL_END, h) =
            known && !r->continuing
                ? rh_stretches__crps(ended, RH_STRETCHES__NREPLAY, NAN, real->ended[h])
                : NAN;
    }
}

// The mean state of the replays of stretch i, with the first action or another in its place, to
// mean (nhorizon x d). Up to which horizon all were running.
static int replay_mean(playing *p, int i, const double *instead, uint64_t seed, float *mean)
{
    const rh_stretches *r = p->r;
    size_t size = (size_t)r->nhorizon * (size_t)r->d;
    int most = 0;
    p->instead = instead;
    p->open = true;
    for (int k = 0; k < RH_STRETCHES__NREPLAY; k++)
        replay_once(p, i, k, seed);
    p->instead = NULL;
    p->open = false;
    memset(mean, 0, size * sizeof *mean);
    for (int k = 0; k < RH_STRETCHES__NREPLAY; k++)
        for (size_t at = 0; at < size; at++)
            mean[at] += p->place[(size_t)k * size + at] / RH_STRETCHES__NREPLAY;
    for (bool running = true; running && most < r->nhorizon; most += running)
        for (int k = 0; k < RH_STRETCHES__NREPLAY; k++)
            running = running && !p->o[k].ended[most];
    return most;
}

// What the log shows of the effect that the member predicts for the unusual action of stretch
// i.
static void judge_effect(playing *p, int i, uint64_t seed)
{
    const rh_stretches *r = p->r;
    const rh_stretches__outcome *real = &r->real[i];
    const double *usual = r->unusual.usual + r->stretch[i].first * r->log->nact;
    rh_stretches__effect *e = &p->effect[i - r->first[RH_STRETCHES__EXPERIMENT]];
    size_t size = (size_t)r->nhorizon * (size_t)r->d;
    float *without = p->mean + size;
    int n = replay_mean(p, i, NULL, seed, p->mean), m = replay_mean(p, i, usual, seed, without);
    for (int h = 0; h < n && h < m && real->known[h] && !real->ended[h]; h++)
        for (int k = 0; k < r->d; k++) {
            size_t at = (size_t)h * (size_t)r->d + (size_t)k;
            double logged = rh_stretches__place(r, r->place, i, h)[k];
            double effect = (double)p->mean[at] - (double)without[at];
            e->shown += (logged - (double)without[at]) * effect;
            e->square += effect * effect;
        }
}

// The transitions that a fold's member is fitted to.
static void leave_out(playing *p, int fold)
{
    const rh_stretches *r = p->r;
    int64_t n = r->log->n;
    p->nuse = 0;
    for (int64_t t = 0; t < n; t++) {
        if (fold >= r->nfold) {
            if (!rh_stretches__is_outer(r, fold, t))
                p->use[p->nuse++] = (int32_t)t;
            continue;
        }
        int64_t before = t - r->gap > 0 ? t - r->gap : 0;
        int64_t behind = t + r->gap < n ? t + r->gap : n - 1;
        bool held = r->unit[t] % r->nfold == fold || r->unit[before] % r->nfold == fold ||
                    r->unit[behind] % r->nfold == fold;
        if (!held)
            p->use[p->nuse++] = (int32_t)t;
    }
}

// Fit a member without a fold and make an environment of it.
static rh_status open_fold(playing *p, int fold, uint64_t seed, int nthread,
                           const rh_watch *watch, rh_error *err)
{
    const rh_model_calls *calls = p->model->type->calls;
    leave_out(p, fold);
    rh_model__part part = {
        .use = p->use,
        .nuse = p->nuse,
        .rng = rh_rng_stream(seed, RH_STREAM_FIT, RH_STRETCHES__REPLICATE,
                             RH_STRETCHES__FIT + (uint64_t)fold),
        .nthread = nthread,
    };
    if (watch)
        part.watch = (rh_watch){.stop = watch->stop, .context = watch->context};
    rh_status rc = calls->fit(&p->member, p->model, &part, err);
    if (!rc)
        rc = calls->env(&p->env, p->model, p->member, p->param, err);
    if (!rc) {
        p->state = rh_alloc(1, rh_env_state_size(p->env) + 1);
        rc = p->state ? RH_OK : rh_base__no_memory(err, "replay");
    }
    return rc;
}

static void close_fold(playing *p)
{
    rh_free(p->state);
    rh_env_destroy(p->env);
    p->model->type->calls->destroy(p->member);
    p->state = NULL;
    p->env = NULL;
    p->member = NULL;
}

static rh_status play_fold(playing *p, int fold, uint64_t seed, int nthread,
                           const rh_watch *watch, void **kept, rh_error *err)
{
    const rh_stretches *r = p->r;
    rh_status rc = open_fold(p, fold, seed, nthread, watch, err);
    for (int i = 0; !rc && i < r->nall; i++) {
        if (r->stretch[i].fold != fold)
            continue;
        for (int k = 0; k < RH_STRETCHES__NREPLAY; k++)
            replay_once(p, i, k, seed);
        judge(p, i);
        if (i >= r->first[RH_STRETCHES__EXPERIMENT] && i < r->first[RH_STRETCHES__SENSOR])
            judge_effect(p, i, seed);
        if (watch && watch->stop && watch->stop(watch->context))
            rc = rh_fail(err, RH_ESTOPPED, "fit: stopped while replaying the log");
    }
    if (!rc && kept && fold == 0) {
        *kept = p->member;
        p->member = NULL;
    }
    close_fold(p);
    return rc;
}

// Sum up: shares of the stretches, the score, its parts.
static void sum_up(const playing *p, rh_stretches__scores *s)
{
    const rh_stretches *r = p->r;
    double n = (double)r->nstretch;
    for (int part = 0; part < RH_MODEL_NASPECT; part++) {
        int nat = 0;
        double sum = 0.0;
        for (int h = 0; h < RH_MODEL_NHORIZON; h++)
            s->at[part][h] = NAN;
        for (int h = 0; h < r->nhorizon; h++) {
            double weight = r->weight[part * r->nhorizon + h], mine = 0.0, other = 0.0;
            for (int i = 0; weight > 0.0 && i < r->nstretch; i++) {
                double x = *rh_stretches__score_at(r, p->score, i, part, h);
                if (isnan(x))
                    continue;
                s->share[i] += weight * x;
                mine += x;
                other += *rh_stretches__score_at(r, r->ignorant, i, part, h);
            }
            if (!(weight > 0.0))
                continue;
            s->at[part][h] = mine / other;
            sum += mine / other;
            nat++;
        }
        s->part[part] = nat ? sum / nat : NAN;
    }
    s->score = 0.0;
    for (int i = 0; i < r->nstretch; i++)
        s->score += s->share[i] / n;
}

// Memory, and parameters without a coverage radius (decision 3).
static rh_status begin(playing *p, rh_error *err)
{
    const rh_stretches *r = p->r;
    const rh_model_type *type = p->model->type;
    size_t nscore = (size_t)RH_MODEL_NASPECT * (size_t)r->nhorizon;
    p->place = rh_scratch__take(
        &p->scratch, (size_t)RH_STRETCHES__NREPLAY * (size_t)r->nhorizon * (size_t)r->d + 1,
        sizeof(float));
    p->score = rh_scratch__take(&p->scratch, (size_t)r->nall * nscore, sizeof *p->score);
    p->effect = rh_scratch__take(&p->scratch,
                                 (size_t)rh_stretches__count(r, RH_STRETCHES__EXPERIMENT) + 1,
                                 sizeof *p->effect);
    p->mean = rh_scratch__take(&p->scratch, 2 * (size_t)r->nhorizon * (size_t)r->d + 1,
                               sizeof *p->mean);
    p->use = rh_scratch__take(&p->scratch, (size_t)r->log->n, sizeof *p->use);
    p->param = rh_scratch__take(&p->scratch, (size_t)type->nparam + 1, sizeof *p->param);
    if (p->scratch.failed)
        return rh_base__no_memory(err, "replay");
    memcpy(p->param, p->model->param, (size_t)type->nparam * sizeof *p->param);
    int reach = rh_param_find(type->param, type->nparam, "reach");
    if (reach < 0)
        return RH_OK;
    return rh_param_parse(&type->param[reach], type->name, "none", &p->param[reach], err);
}

static void end(playing *p)
{
    rh_scratch__clear(&p->scratch);
}

rh_status rh_stretches__run(rh_stretches__scores *scores, const rh_stretches *r,
                            const rh_model *model, uint64_t seed, int nthread,
                            const rh_watch *watch, void **first, rh_error *err)
{
    playing p = {.r = r, .model = model};
    rh_status rc = begin(&p, err);
    scores->share = rh_alloc((size_t)r->nall, sizeof *scores->share);
    if (!rc && !scores->share)
        rc = rh_base__no_memory(err, "replay");
    for (int fold = 0; !rc && fold < r->nrun; fold++)
        rc = play_fold(&p, fold, seed, nthread, watch, first, err);
    for (int kind = RH_STRETCHES__SENSOR; !rc && kind < RH_STRETCHES__NKIND; kind++)
        if (rh_stretches__count(r, kind))
            rc =
                play_fold(&p, rh_stretches__fold_of(r, kind), seed, nthread, watch, first, err);
    if (!rc) {
        sum_up(&p, scores);
        rh_stretches__sum_beside(scores, r, p.score, p.effect);
    }
    end(&p);
    return rc;
}

rh_status rh_stretches__trace(double *path, const rh_stretches *r, const rh_model *model,
                              const int *stretch, int n, uint64_t seed, int nthread,
                              rh_error *err)
{
    playing p = {.r = r, .model = model};
    size_t size =
        (size_t)r->horizon[r->nhorizon - 1] * ((size_t)r->log->nobs + RH_STRETCHES__NMORE);
    rh_status rc = begin(&p, err);
    if (!rc)
        rc = open_fold(&p, 0, seed, nthread, NULL, err);
    for (int i = 0; !rc && i < n * RH_STRETCHES__NREPLAY; i++) {
        p.path = path + (size_t)i * size;
        for (size_t k = 0; k < size; k++)
            p.path[k] = NAN;
        replay_once(&p, stretch[i / RH_STRETCHES__NREPLAY], i % RH_STRETCHES__NREPLAY, seed);
    }
    close_fold(&p);
    end(&p);
    return rc;
}

void rh_stretches__clear(rh_stretches__scores *scores)
{
    rh_free(scores->share);
    scores->share = NULL;
}
