// linear_cost.c - the terms of a fitted reward, and their sum.
//
// A term is a number of the step: a sensor of the next or the present state, its square, its
// distance from a value, how far it is above or below one; the gap of two sensors; an action,
// its change; products of a price and a power, or of a price and the change of a stock. A gated
// term counts only while a sensor is between two values: a comfort band by day, a tariff.

#include "linear_cost.h"

#include <math.h>

bool rh_linear__gate_open(const rh_linear__cost *c, const double *next)
{
    double z = c->gate < 0 ? 0.0 : next[c->gate];
    return c->gate < 0 ||
           (c->from < c->to ? z >= c->from && z < c->to : z >= c->from || z < c->to);
}

static double input_of(const rh_linear *m, const double *act, int j)
{
    return m->naction ? (int)act[0] == j : act[j];
}

static double of_action(const rh_linear *m, const rh_linear__cost *c, const double *act,
                        const double *before)
{
    double u = input_of(m, act, c->j), was = before ? input_of(m, before, c->j) : u;
    switch (c->kind) {
    case RH_COST_ACTION:
        return u;
    case RH_COST_ACTION_SQUARE:
        return u * u;
    case RH_COST_ACTION_SIZE:
        return fabs(u - c->at);
    case RH_COST_CHANGE:
        return fabs(u - was);
    default:
        return (u - was) * (u - was);
    }
}

double rh_linear__term(const rh_linear *m, const rh_linear__cost *c, const double *s,
                       const double *act, const double *before, const double *next)
{
    const double *x = c->kind >= RH_COST_NOW ? s : next;
    if (!rh_linear__gate_open(c, next))
        return 0.0;
    switch (c->kind) {
    case RH_COST_VALUE:
    case RH_COST_NOW:
        return x[c->i];
    case RH_COST_SQUARE:
    case RH_COST_NOW_SQUARE:
        return x[c->i] * x[c->i];
    case RH_COST_DISTANCE:
    case RH_COST_NOW_DISTANCE:
        return fabs(x[c->i] - c->at);
    case RH_COST_GAP:
    case RH_COST_NOW_GAP:
        return fabs(x[c->i] - x[c->j]);
    case RH_COST_GAP2:
    case RH_COST_NOW_GAP2:
        return (x[c->i] - x[c->j]) * (x[c->i] - x[c->j]);
    case RH_COST_PRODUCT:
        return next[c->i] * input_of(m, act, c->j);
    case RH_COST_NOW_PRODUCT:
        return s[c->i] * input_of(m, act, c->j);
    case RH_COST_ABOVE:
        return fmax(0.0, next[c->i] - c->at);
    case RH_COST_BELOW:
        return fmax(0.0, c->at - next[c->i]);
    case RH_COST_SHIFT:
        return fabs(next[c->i] - s[c->i]);
    case RH_COST_TRADE:
        return s[c->i] * (next[c->j] - s[c->j]);
    case RH_COST_ONE:
        return 1.0;
    default:
        return of_action(m, c, act, before);
    }
}

bool rh_linear__good_cost(const rh_linear *m, const rh_linear__cost *c)
{
    int kind = c->kind, n = m->naction ? m->naction : m->nact;
    bool of_act = kind >= RH_COST_ACTION && kind <= RH_COST_NOW_PRODUCT;
    bool sensor = kind < RH_COST_ACTION || kind >= RH_COST_PRODUCT;
    bool pair = kind == RH_COST_GAP || kind == RH_COST_GAP2 || kind == RH_COST_NOW_GAP ||
                kind == RH_COST_NOW_GAP2 || kind == RH_COST_TRADE;
    return kind >= 0 && kind < RH_COST_NKIND && isfinite(c->at) && isfinite(c->weight) &&
           isfinite(c->from) && isfinite(c->to) && c->gate >= -1 && c->gate < m->nobs &&
           (!sensor || (c->i >= 0 && c->i < m->nobs)) &&
           (!pair || (c->j >= 0 && c->j < m->nobs)) && (!of_act || (c->j >= 0 && c->j < n));
}

double rh_linear__reward(const rh_linear *m, const rh_model *model, const double *s,
                         const double *act, const double *before, const double *next)
{
    double reward = m->constant;
    if (rh_knn__reward(m->knn, model, s, act, next, &reward))
        return reward;
    for (int i = 0; i < m->ncost; i++)
        reward += m->cost[i].weight * rh_linear__term(m, &m->cost[i], s, act, before, next);
    return reward;
}
