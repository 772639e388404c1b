// knn_file.c - a nearest-neighbour member in a model file.
//
// Members with discrete actions store their table, because finding neighbours takes long. Those
// with continuous actions rebuild their index from the log, to the same bits. Both store the
// distances that reach is computed from, and the transitions they use unless they use all.
// Members that carry store their matrices and rebuild their indices.
//
// Everything read is checked: whatever the file holds, environments stay within their arrays.

#include "knn_internal.h"

#include <math.h>

static void write_carry(const rh_model *model, const rh_knn *knn, rh_store *store)
{
    if (!knn->slope)
        return;
    rh_store__lend(store, "slope", RH_STATE_F32, knn->slope,
                   knn->nslope * rh_knn__slope_size(model));
    rh_store__put_number(store, "sloped", knn->sloped);
    if (knn->change)
        rh_store__lend(store, "change", RH_STATE_F64, knn->change,
                       (int64_t)knn->nsteps * knn->nsteps * (model->log->nobs + 1));
    rh_store__put_number(store, "apart", isinf(knn->apart) ? -1.0 : knn->apart);
}

void rh_knn__write(const rh_model *model, const void *member, rh_store *store)
{
    const rh_knn *knn = member;
    const rh_log *log = model->log;
    int64_t n = log->nstate * log->naction * knn->k;
    rh_store__put_number(store, "k", knn->k);
    if (knn->use)
        rh_store__lend(store, "use", RH_STATE_I32, knn->use, knn->nuse);
    if (knn->index) {
        rh_store__lend(store, "index", RH_STATE_I32, knn->index, n);
        rh_store__lend(store, "distance", RH_STATE_F32, knn->distance, n);
    }
    write_carry(model, knn, store);
    rh_store__lend(store, "near", RH_STATE_F32, knn->near, knn->nnear);
    rh_store__put_number(store, "step", knn->step);
    rh_store__put_number(store, "reach", isinf(knn->reach) ? -1.0 : knn->reach);
}

// ---------------------------------------------------------------------------- checks

static void check_use(const rh_knn *knn, const rh_model *model, rh_store *store)
{
    for (int64_t i = 0; i < knn->nuse && !store->rc; i++) {
        int32_t least = i ? knn->use[i - 1] : 0;
        if (knn->use[i] < least || knn->use[i] >= model->log->n)
            rh_store__refuse(store, "use",
                             "entry %lld is %d, expected %d to %lld, in ascending order",
                             (long long)i, knn->use[i], least, (long long)model->log->n - 1);
    }
}

// The k neighbours of one query.
static void check_query(const rh_knn *knn, const rh_model *model, int64_t query,
                        rh_store *store)
{
    const rh_log *log = model->log;
    int action = (int)(query / log->nstate);
    float last = 0.0f;
    bool over = false;
    for (int i = 0; i < knn->k; i++) {
        int64_t at = query * knn->k + i;
        int32_t t = knn->index[at];
        float d = knn->distance[at];
        over = over || t < 0;
        if (over ? t != -1 : t >= log->n || (int)log->act[t] != action)
            rh_store__refuse(
                store, "index",
                "entry %lld is %d, expected a transition with action %d or, at the end, -1",
                (long long)at, t, action);
        if (over ? !(isinf(d) && d > 0.0f) : !(isfinite(d) && d >= last))
            rh_store__refuse(store, "distance", "entry %lld is %g, expected %s", (long long)at,
                             (double)d, over ? "inf" : "0 or more, in ascending order");
        last = d;
    }
}

static void check_near(const rh_knn *knn, rh_store *store)
{
    for (int64_t i = 0; i < knn->nnear && !store->rc; i++)
        if (!(knn->near[i] >= (i ? knn->near[i - 1] : 0.0f) && isfinite(knn->near[i])))
            rh_store__refuse(store, "near",
                             "entry %lld is %g, expected 0 or more, in ascending order",
                             (long long)i, (double)knn->near[i]);
}

static void refuse_infinite(rh_store *store, const char *name, int64_t i)
{
    rh_store__refuse(store, name, "entry %lld is not finite, expected finite numbers",
                     (long long)i);
}

// ---------------------------------------------------------------------------- reading

void rh_knn__read_use(rh_knn *knn, const rh_model *model, rh_store *store)
{
    knn->nuse = model->log->n;
    if (!rh_store__has(store, "use"))
        return;
    knn->use = rh_store__take(store, "use", RH_STATE_I32, -1, &knn->nuse);
    if (knn->nuse < 1)
        rh_store__refuse(store, "use", "empty, expected at least one transition");
    check_use(knn, model, store);
}

static void read_table(rh_knn *knn, const rh_model *model, rh_store *store)
{
    int64_t nquery = model->log->nstate * model->log->naction;
    knn->index = rh_store__take(store, "index", RH_STATE_I32, nquery * knn->k, NULL);
    knn->distance = rh_store__take(store, "distance", RH_STATE_F32, nquery * knn->k, NULL);
    for (int64_t q = 0; q < nquery && !store->rc; q++)
        check_query(knn, model, q, store);
}

static void read_switch(rh_knn *knn, const rh_model *model, rh_store *store)
{
    const rh_log *log = model->log;
    int64_t n = (int64_t)log->naction * log->naction * (log->nobs + 1);
    knn->apart = rh_store__number(store, "apart", -1.0, 1e300);
    if (rh_store__has(store, "change"))
        knn->change = rh_store__take(store, "change", RH_STATE_F64, n, NULL);
    for (int64_t i = 0; i < n && knn->change && !store->rc; i++)
        if (!isfinite(knn->change[i]))
            refuse_infinite(store, "change", i);
    if (knn->apart >= 0.0 && !knn->change)
        rh_store__refuse(store, "apart", "%g, expected -1 without `change`", knn->apart);
    if (knn->apart < 0.0)
        knn->apart = INFINITY;
}

static void read_carry(rh_knn *knn, const rh_model *model, rh_store *store)
{
    int64_t size = rh_knn__slope_size(model), n = 0;
    if ((int)model->param[RH_KNN_CARRY] == RH_KNN_STITCH)
        return;
    knn->slope = rh_store__take(store, "slope", RH_STATE_F32, -1, &n);
    knn->nslope = n / size;
    if (n % size ||
        (knn->nslope != 1 && knn->nslope != knn->nuse && knn->nslope != model->log->naction))
        rh_store__refuse(store, "slope",
                         "%lld numbers, expected %lld for all, for each action or for each "
                         "transition",
                         (long long)n, (long long)size);
    for (int64_t i = 0; i < n && !store->rc; i++)
        if (!isfinite(knn->slope[i]))
            refuse_infinite(store, "slope", i);
    knn->sloped = rh_store__number(store, "sloped", 0.0, 1.0) != 0.0;
    read_switch(knn, model, store);
    if (!store->rc)
        store->rc = rh_knn__index_steps(knn, model, store->err);
    if (!store->rc)
        store->rc = rh_knn__index_arrivals(knn, model, 1, store->err);
    if (!store->rc)
        store->rc = rh_knn__fit_reward(knn, model, store->err);
    if (!store->rc)
        rh_knn__bound_rewards(knn, model);
}

static void read_reach(rh_knn *knn, rh_store *store)
{
    knn->near = rh_store__take(store, "near", RH_STATE_F32, -1, &knn->nnear);
    check_near(knn, store);
    knn->step = rh_store__number(store, "step", 0.0, 1e300);
    knn->reach = rh_store__number(store, "reach", -1.0, 1e300);
    if (knn->reach < 0.0)
        knn->reach = INFINITY;
}

void *rh_knn__read(const rh_model *model, rh_store *store)
{
    rh_knn *knn = rh_alloc(1, sizeof *knn);
    if (!knn) {
        rh_store__no_memory(store);
        return NULL;
    }
    knn->k = (int)rh_store__number(store, "k", model->param[RH_KNN_K], model->param[RH_KNN_K]);
    rh_knn__scale_actions(knn, model);
    rh_knn__read_use(knn, model, store);
    if (model->log->naction)
        read_table(knn, model, store);
    else if (!store->rc)
        store->rc = rh_knn__make_points(knn, model, NULL, store->err);
    if (!store->rc)
        read_carry(knn, model, store);
    read_reach(knn, store);
    if (store->rc) {
        rh_knn__destroy(knn);
        knn = NULL;
    }
    return knn;
}
