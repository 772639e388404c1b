// ignorant.c - the forecast that knows nothing of a stretch: random stretches of the log.
//
// Its scores are the unit of all others: 1 is no better than not looking. Rewards and ends at a
// horizon count if the stretches differ in them: at least LEAST_EFFECTIVE stretches must make
// up the variance, (sum d^2)^2 / sum d^4. A ratio to one rare event would be chance.

#include "base/scratch.h"
#include "stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// of the mean distance of two logged states: off the path; by hand. With 0.25 the score of the
// chosen model moves by 0.006 (Cartpole) and 0.013 (Acrobot); with 1 by 0.015 in Acrobot, and
// in Cartpole another way of carrying is chosen, 0.199 instead of 0.134.
#define LEFT 0.5
#define NRANDOM 400 // random stretches of the ignorant forecast
// stretches that a score must rest on; by hand. 2.5 and 10 move the score of the chosen model
// by up to 0.05 and choose the same in two logs.
#define LEAST_EFFECTIVE 5.0
#define MOST_ASKED 1000 // steps by which a candidate is compared with persistence
#define ROUNDING 1e-9   // of a mean distance, in units of the sensors' scales

// Random stretches of the log: at each horizon, those of them that are known.
typedef struct pool {
    rh_stretches__outcome *o;   //                                      (NRANDOM)
    float *place;               //                                      (NRANDOM x nhorizon x d)
    double *reward, *ended;     // of one horizon                       (NRANDOM)
    rh_stretches__point *point; //                                      (NRANDOM)
    int n;
    rh_scratch scratch; // owns the arrays
} pool;

static bool fill_pool(pool *p, const rh_stretches *r, uint64_t seed)
{
    size_t width = (size_t)r->nhorizon * (size_t)r->d + 1;
    p->o = rh_scratch__take(&p->scratch, NRANDOM, sizeof *p->o);
    p->place = rh_scratch__take(&p->scratch, NRANDOM * width, sizeof *p->place);
    p->reward = rh_scratch__take(&p->scratch, NRANDOM, sizeof *p->reward);
    p->ended = rh_scratch__take(&p->scratch, NRANDOM, sizeof *p->ended);
    p->point = rh_scratch__take(&p->scratch, NRANDOM, sizeof *p->point);
    if (p->scratch.failed)
        return false;
    rh_rng rng =
        rh_rng_stream(seed, RH_STREAM_FIT, RH_STRETCHES__REPLICATE, RH_STRETCHES__RANDOM);
    for (int i = 0; i < NRANDOM; i++) {
        rh_stretches__stretch s =
            rh_stretches__follow(r, rh_rng_below(&rng, (uint32_t)r->log->n), r->log->n);
        rh_stretches__look_up(r, &s, &p->o[i], p->place + (size_t)i * width);
    }
    return true;
}

// The scores of the ignorant forecast at one horizon.
static void judge_ignorant(rh_stretches *r, pool *p, int h)
{
    size_t width = (size_t)r->nhorizon * (size_t)r->d + 1;
    p->n = 0;
    for (int i = 0; i < NRANDOM; i++) {
        const rh_stretches__outcome *o = &p->o[i];
        if (!o->known[h])
            continue;
        p->reward[p->n] = o->reward[h];
        p->ended[p->n] = o->ended[h];
        p->point[p->n++] = (rh_stretches__point){
            p->place + (size_t)i * width + (size_t)h * (size_t)r->d, o->ended[h]};
    }
    double spread = rh_stretches__spread(p->point, p->n, r->d);
    r->left = h == 0 ? LEFT * spread : r->left;
    double reward = rh_stretches__apart(p->reward, p->n),
           ended = rh_stretches__apart(p->ended, p->n);
    for (int i = 0; i < r->nall; i++) {
        const rh_stretches__outcome *o = &r->real[i];
        rh_stretches__point y = {rh_stretches__place(r, r->place, i, h), o->ended[h]};
        bool known = o->known[h] && p->n > 1;
        *rh_stretches__score_at(r, r->ignorant, i, RH_MODEL_STATE, h) =
            known ? rh_stretches__energy(p->point, p->n, spread, y, r->d) : NAN;
        *rh_stretches__score_at(r, r->ignorant, i, RH_MODEL_REWARD, h) =
            known ? rh_stretches__crps(p->reward, p->n, reward, o->reward[h]) : NAN;
        *rh_stretches__score_at(r, r->ignorant, i, RH_MODEL_END, h) =
            known && !r->continuing ? rh_stretches__crps(p->ended, p->n, ended, o->ended[h])
                                    : NAN;
    }
}

// How many stretches make up the variance of the real rewards or ends at a horizon.
static double effective(const rh_stretches *r, int part, int h)
{
    double mean = 0.0, square = 0.0, fourth = 0.0;
    int n = 0;
    for (int i = 0; i < r->nstretch; i++) {
        const rh_stretches__outcome *o = &r->real[i];
        double y = part == RH_MODEL_END ? o->ended[h] : o->reward[h];
        if (o->known[h])
            mean += (y - mean) / ++n;
    }
    for (int i = 0; i < r->nstretch; i++) {
        const rh_stretches__outcome *o = &r->real[i];
        double y = part == RH_MODEL_END ? o->ended[h] : o->reward[h],
               d = (y - mean) * (y - mean);
        square += o->known[h] ? d : 0.0;
        fourth += o->known[h] ? d * d : 0.0;
    }
    return fourth > 0.0 ? square * square / fourth : 0.0;
}

// The sum of the ignorant forecast's scores of a kind.
static double sum_ignorant(const rh_stretches *r, int kind, int part, int h)
{
    double sum = 0.0;
    for (int i = r->first[kind]; i < r->first[kind + 1]; i++) {
        double c = *rh_stretches__score_at(r, r->ignorant, i, part, h);
        sum += isnan(c) ? 0.0 : c;
    }
    return sum;
}

// The score of the states of the persistence forecast at a horizon; NAN: not compared.
static double persistence_at(const rh_stretches *r, int h)
{
    double own = 0.0, other = 0.0;
    float x[RH_STRETCHES__NCOORD];
    for (int i = 0; i < r->nstretch; i++) {
        const rh_stretches__outcome *o = &r->real[i];
        double c = *rh_stretches__score_at(r, r->ignorant, i, RH_MODEL_STATE, h);
        int64_t row = r->log->from[r->stretch[i].first];
        rh_stretches__point y = {rh_stretches__place(r, r->place, i, h), o->ended[h]};
        if (isnan(c))
            continue;
        rh_stretches__scale(r, r->log->obs + row * r->log->nobs, x);
        own += rh_stretches__distance((rh_stretches__point){x, false}, y, r->d);
        other += c;
    }
    return other > ROUNDING * r->nstretch ? own / other : NAN;
}

double rh_stretches__persistence(const rh_stretches *r)
{
    double sum = 0.0;
    int n = 0;
    for (int h = 0; h < r->nhorizon; h++) {
        double score = persistence_at(r, h);
        sum += isnan(score) ? 0.0 : score;
        n += !isnan(score);
    }
    return n ? sum / n : NAN;
}

// Add the squared errors of a predicted and of a persistent state, over the sensors that the
// plant moves.
static void add_step(const rh_stretches *r, const rh_facts *facts, int64_t t,
                     const double *next, double *own, double *stay)
{
    float said[RH_STRETCHES__NCOORD], now[RH_STRETCHES__NCOORD], real[RH_STRETCHES__NCOORD];
    const rh_log *log = r->log;
    rh_stretches__scale(r, next, said);
    rh_stretches__scale(r, log->obs + (int64_t)log->from[t] * log->nobs, now);
    rh_stretches__scale(r, log->obs + (int64_t)log->to[t] * log->nobs, real);
    for (int k = 0; k < r->d; k++) {
        double a = (double)said[k] - (double)real[k], b = (double)now[k] - (double)real[k];
        bool moved = !facts || !facts->sensor[r->coord[k].sensor].exogenous;
        *own += moved ? a * a : 0.0;
        *stay += moved ? b * b : 0.0;
    }
}

rh_status rh_stretches__step(double *error, const rh_stretches *r, const rh_model *model,
                             const void *member, rh_error *err)
{
    const rh_log *log = r->log;
    double next[RH_MAX_OBS], own = 0.0, stay = 0.0;
    int64_t every = 1 + log->n / r->nfold / MOST_ASKED, seen = 0;
    for (int64_t t = 0; t < log->n; t++) {
        bool whole = log->to[t] != RH_UNKNOWN && !(log->flag[t] & RH_FLAG_TERMINAL);
        if (r->unit[t] % r->nfold != 0 || !whole || seen++ % every != 0)
            continue;
        rh_model__expected expected = {.next = next};
        rh_status rc = model->type->calls->expect(&expected, model, member,
                                                  log->obs + (int64_t)log->from[t] * log->nobs,
                                                  log->act + t * log->nact, err);
        if (rc)
            return rc;
        if (!expected.out_of_coverage)
            add_step(r, model->facts, t, next, &own, &stay);
    }
    *error = stay > 0.0 ? sqrt(own / stay) : NAN;
    return RH_OK;
}

// The weight of every part and horizon: 1 / (its mean for the ignorant forecast), and equal
// for the horizons of a part and for the parts; times (stretches of the kind) / (those that are
// known), so that the score is the mean of the stretches' shares. Beside the path the same
// parts and horizons count, as far as they are known.
static void weigh(rh_stretches *r, int kind)
{
    int nat[RH_MODEL_NASPECT] = {0}, npart = 0;
    double *weight = rh_stretches__weight(r, kind), n = rh_stretches__count(r, kind);
    for (int part = 0; part < RH_MODEL_NASPECT; part++) {
        for (int h = 0; h < r->nhorizon; h++) {
            double sum = sum_ignorant(r, kind, part, h);
            bool good = part == RH_MODEL_STATE
                            ? sum > ROUNDING * n // else all have ended
                            : sum > 0.0 && effective(r, part, h) >= LEAST_EFFECTIVE;
            weight[part * r->nhorizon + h] = good ? n / sum : 0.0;
            nat[part] += good;
        }
        npart += nat[part] > 0;
    }
    for (int part = 0; part < RH_MODEL_NASPECT; part++)
        for (int h = 0; h < r->nhorizon; h++)
            if (nat[part])
                weight[part * r->nhorizon + h] /= nat[part] * npart;
}

bool rh_stretches__measure_ignorant(rh_stretches *r, uint64_t seed)
{
    pool p = {0};
    bool good = fill_pool(&p, r, seed);
    for (int h = 0; good && h < r->nhorizon; h++)
        judge_ignorant(r, &p, h);
    rh_scratch__clear(&p.scratch);
    for (int kind = 0; good && kind < RH_STRETCHES__NKIND; kind++)
        weigh(r, kind);
    return good;
}
