// linear_file.c - a linear member in a model file: plan, weights and terms of the reward.
//
// Scales, residuals and the index of arrivals are computed from the log again, to the same
// bits. Everything read is checked: whatever the file holds, environments stay within their
// arrays.

#include "linear_internal.h"

#include <math.h>

enum { FORM, LAGS, DELAY, SLOW, NPLAN };
enum { KIND, I, J, AT, WEIGHT, GATE, FROM, TO, NCOST };

void rh_linear__write(const rh_model *model, const void *member, rh_store *store)
{
    (void)model;
    const rh_linear *m = member;
    double plan[NPLAN] = {m->plan.form, m->plan.lags, m->plan.delay, m->plan.slow};
    double cost[RH_LINEAR__COST * NCOST + 1] = {m->constant};
    for (int i = 0; i < m->ncost; i++) {
        const rh_linear__cost *c = &m->cost[i];
        double *to = cost + 1 + (ptrdiff_t)i * NCOST;
        to[KIND] = c->kind;
        to[I] = c->i;
        to[J] = c->j;
        to[AT] = c->at;
        to[WEIGHT] = c->weight;
        to[GATE] = c->gate;
        to[FROM] = c->from;
        to[TO] = c->to;
    }
    if (m->knn->use)
        rh_store__lend(store, "use", RH_STATE_I32, m->knn->use, m->knn->nuse);
    rh_store__put(store, "plan", RH_STATE_F64, plan, NPLAN);
    rh_store__put(store, "wall_lo", RH_STATE_F64, m->wall_lo, m->nobs);
    rh_store__put(store, "wall_hi", RH_STATE_F64, m->wall_hi, m->nobs);
    rh_store__lend(store, "weights", RH_STATE_F64, m->weight, (int64_t)m->nout * m->nterm);
    rh_store__put(store, "reward", RH_STATE_F64, cost, 1 + (int64_t)m->ncost * NCOST);
}

// A whole number from lo to hi.
static int whole(rh_store *store, const char *name, double x, int lo, int hi)
{
    bool good = x >= lo && x <= hi && x == floor(x);
    if (!good && !store->rc)
        rh_store__refuse(store, name, "%g, expected a whole number from %d to %d", x, lo, hi);
    return good ? (int)x : lo;
}

static void read_plan(rh_linear *m, rh_store *store)
{
    double plan[NPLAN] = {0};
    rh_store__copy(store, "plan", RH_STATE_F64, NPLAN, plan);
    m->plan.form = whole(store, "plan", plan[FORM], RH_LINEAR_PLAIN, RH_LINEAR_QUADRATIC);
    m->plan.lags = whole(store, "plan", plan[LAGS], 1, RH_LINEAR__LAGS);
    m->plan.delay = whole(store, "plan", plan[DELAY], 0, RH_LINEAR__DELAY);
    m->plan.slow = whole(store, "plan", plan[SLOW], 0, (1 << RH_LINEAR__NSLOW) - 1);
    m->nterm = rh_linear__nterm(m, &m->plan);
    rh_store__copy(store, "wall_lo", RH_STATE_F64, m->nobs, m->wall_lo);
    rh_store__copy(store, "wall_hi", RH_STATE_F64, m->nobs, m->wall_hi);
    for (int k = 0; k < m->nobs && !store->rc; k++)
        if (isinf(m->wall_lo[k]) || isinf(m->wall_hi[k]) || m->wall_lo[k] >= m->wall_hi[k])
            rh_store__refuse(store, "wall_lo", "walls of sensor %d are %g and %g", k,
                             m->wall_lo[k], m->wall_hi[k]);
    int64_t n = (int64_t)m->nout * m->nterm;
    m->weight = rh_store__take(store, "weights", RH_STATE_F64, n, NULL);
    for (int64_t i = 0; i < n && !store->rc; i++)
        if (!isfinite(m->weight[i]))
            rh_store__refuse(store, "weights",
                             "entry %lld is not finite, expected finite "
                             "numbers",
                             (long long)i);
}

static void read_reward(rh_linear *m, rh_store *store)
{
    int64_t n = 0;
    const double *x = rh_store__look(store, "reward", RH_STATE_F64, -1, &n);
    if (store->rc)
        return;
    if (n < 1 || (n - 1) % NCOST || (n - 1) / NCOST > RH_LINEAR__COST || !isfinite(x[0])) {
        rh_store__refuse(store, "reward", "%lld numbers, expected 1 and up to %d times %d",
                         (long long)n, RH_LINEAR__COST, NCOST);
        return;
    }
    m->constant = x[0];
    m->ncost = (int)((n - 1) / NCOST);
    for (int i = 0; i < m->ncost && !store->rc; i++) {
        const double *from = x + 1 + (ptrdiff_t)i * NCOST;
        rh_linear__cost c = {
            .at = from[AT], .weight = from[WEIGHT], .from = from[FROM], .to = from[TO]};
        c.kind = whole(store, "reward", from[KIND], 0, INT16_MAX);
        c.i = whole(store, "reward", from[I], 0, INT16_MAX);
        c.gate = whole(store, "reward", from[GATE], -1, INT16_MAX);
        c.j = whole(store, "reward", from[J], 0, INT16_MAX);
        if (!rh_linear__good_cost(m, &c) && !store->rc)
            rh_store__refuse(store, "reward", "term %d is not one of this log", i + 1);
        m->cost[i] = c;
    }
}

void *rh_linear__read(const rh_model *model, rh_store *store)
{
    rh_linear *m = NULL;
    store->rc = rh_linear__create(&m, model, store->err);
    if (store->rc)
        return NULL;
    rh_knn__read_use(m->knn, model, store);
    if (!store->rc) {
        rh_linear__survey(m, model);
        read_plan(m, store);
        read_reward(m, store);
    }
    if (!store->rc)
        store->rc = rh_knn__fit_reward(m->knn, model, store->err);
    if (!store->rc) {
        rh_linear__bound_rewards(m, model);
        store->rc = rh_linear__complete(m, model, 1, store->err);
    }
    if (store->rc) {
        rh_linear__destroy(m);
        m = NULL;
    }
    return m;
}
