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

static rh_status write_carry(const rh_model *model, const rh_knn *knn, rh_store *store,
                             rh_error *err)
{
    if (!knn->slope)
        return RH_OK;
    rh_status rc = rh_store__put(store, "slope", RH_STORE_F32, knn->slope,
                                 knn->nslope * rh_knn__slope_size(model), err);
    if (!rc)
        rc = rh_store__put_number(store, "sloped", knn->sloped, err);
    if (!rc && knn->change)
        rc = rh_store__put(store, "change", RH_STORE_F64, knn->change,
                           (int64_t)knn->nsteps * knn->nsteps * (model->log->nobs + 1), err);
    return rc ? rc
              : rh_store__put_number(store, "apart", isinf(knn->apart) ? -1.0 : knn->apart,
                                     err);
}

rh_status rh_knn__write(const rh_model *model, const void *member, rh_store *store,
                        rh_error *err)
{
    const rh_knn *knn = member;
    const rh_log *log = model->log;
    int64_t n = log->nstate * log->naction * knn->k;
    rh_status rc = rh_store__put_number(store, "k", knn->k, err);
    if (!rc && knn->use)
        rc = rh_store__put(store, "use", RH_STORE_I32, knn->use, knn->nuse, err);
    if (!rc && knn->index)
        rc = rh_store__put(store, "index", RH_STORE_I32, knn->index, n, err);
    if (!rc && knn->index)
        rc = rh_store__put(store, "distance", RH_STORE_F32, knn->distance, n, err);
    if (!rc)
        rc = write_carry(model, knn, store, err);
    if (!rc)
        rc = rh_store__put(store, "near", RH_STORE_F32, knn->near, knn->nnear, err);
    if (!rc)
        rc = rh_store__put_number(store, "step", knn->step, err);
    if (!rc)
        rc = rh_store__put_number(store, "reach", isinf(knn->reach) ? -1.0 : knn->reach, err);
    return rc;
}

// ---------------------------------------------------------------------------- checks

static rh_status check_use(const rh_knn *knn, const rh_model *model, rh_store *store,
                           rh_error *err)
{
    for (int64_t i = 0; i < knn->nuse; i++) {
        int32_t least = i ? knn->use[i - 1] : 0;
        if (knn->use[i] < least || knn->use[i] >= model->log->n)
            return rh_store__refuse(
                store, "use", err, "entry %lld is %d, expected %d to %lld, in ascending order",
                (long long)i, knn->use[i], least, (long long)model->log->n - 1);
    }
    return RH_OK;
}

// The k neighbours of one query.
static rh_status check_query(const rh_knn *knn, const rh_model *model, int64_t query,
                             rh_store *store, rh_error *err)
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
            return rh_store__refuse(
                store, "index", err,
                "entry %lld is %d, expected a transition with action %d or, at the end, -1",
                (long long)at, t, action);
        if (over ? !(isinf(d) && d > 0.0f) : !(isfinite(d) && d >= last))
            return rh_store__refuse(store, "distance", err, "entry %lld is %g, expected %s",
                                    (long long)at, (double)d,
                                    over ? "inf" : "0 or more, in ascending order");
        last = d;
    }
    return RH_OK;
}

static rh_status check_near(const rh_knn *knn, rh_store *store, rh_error *err)
{
    for (int64_t i = 0; i < knn->nnear; i++)
        if (!(knn->near[i] >= (i ? knn->near[i - 1] : 0.0f) && isfinite(knn->near[i])))
            return rh_store__refuse(store, "near", err,
                                    "entry %lld is %g, expected 0 or more, in ascending order",
                                    (long long)i, (double)knn->near[i]);
    return RH_OK;
}

// ---------------------------------------------------------------------------- reading

static rh_status read_use(rh_knn *knn, const rh_model *model, rh_store *store, rh_error *err)
{
    void *got = NULL;
    knn->nuse = model->log->n;
    if (!rh_store__has(store, "use"))
        return RH_OK;
    rh_status rc = rh_store__get(store, "use", RH_STORE_I32, -1, &got, &knn->nuse, err);
    knn->use = got;
    if (!rc && knn->nuse < 1)
        rc = rh_store__refuse(store, "use", err, "empty, expected at least one transition");
    return rc ? rc : check_use(knn, model, store, err);
}

static rh_status read_table(rh_knn *knn, const rh_model *model, rh_store *store, rh_error *err)
{
    void *got = NULL;
    int64_t nquery = model->log->nstate * model->log->naction;
    rh_status rc =
        rh_store__get(store, "index", RH_STORE_I32, nquery * knn->k, &got, NULL, err);
    knn->index = got;
    got = NULL;
    if (!rc)
        rc = rh_store__get(store, "distance", RH_STORE_F32, nquery * knn->k, &got, NULL, err);
    knn->distance = got;
    for (int64_t q = 0; !rc && q < nquery; q++)
        rc = check_query(knn, model, q, store, err);
    return rc;
}

static rh_status read_switch(rh_knn *knn, const rh_model *model, rh_store *store, rh_error *err)
{
    void *got = NULL;
    const rh_log *log = model->log;
    int64_t n = (int64_t)log->naction * log->naction * (log->nobs + 1);
    rh_status rc = rh_store__get_within(store, "apart", -1.0, 1e300, &knn->apart, err);
    if (!rc && rh_store__has(store, "change"))
        rc = rh_store__get(store, "change", RH_STORE_F64, n, &got, NULL, err);
    knn->change = got;
    for (int64_t i = 0; !rc && knn->change && i < n; i++)
        if (!isfinite(knn->change[i]))
            rc = rh_store__refuse(store, "change", err,
                                  "entry %lld is not finite, expected finite numbers",
                                  (long long)i);
    if (!rc && knn->apart >= 0.0 && !knn->change)
        rc = rh_store__refuse(store, "apart", err, "%g, expected -1 without `change`",
                              knn->apart);
    if (knn->apart < 0.0)
        knn->apart = INFINITY;
    return rc;
}

static rh_status read_carry(rh_knn *knn, const rh_model *model, rh_store *store, rh_error *err)
{
    void *got = NULL;
    int64_t size = rh_knn__slope_size(model), n = 0;
    double sloped = 0.0;
    if ((int)model->param[RH_KNN_CARRY] == RH_KNN_STITCH)
        return RH_OK;
    rh_status rc = rh_store__get(store, "slope", RH_STORE_F32, -1, &got, &n, err);
    knn->slope = got;
    knn->nslope = n / size;
    if (!rc && (n % size || (knn->nslope != 1 && knn->nslope != knn->nuse &&
                             knn->nslope != model->log->naction)))
        rc =
            rh_store__refuse(store, "slope", err,
                             "%lld numbers, expected %lld for all, for each action or for each "
                             "transition",
                             (long long)n, (long long)size);
    for (int64_t i = 0; !rc && i < n; i++)
        if (!isfinite(knn->slope[i]))
            rc = rh_store__refuse(store, "slope", err,
                                  "entry %lld is not finite, expected finite numbers",
                                  (long long)i);
    if (!rc)
        rc = rh_store__get_within(store, "sloped", 0.0, 1.0, &sloped, err);
    knn->sloped = sloped != 0.0;
    if (!rc)
        rc = read_switch(knn, model, store, err);
    if (!rc)
        rc = rh_knn__index_steps(knn, model, err);
    if (!rc)
        rc = rh_knn__index_arrivals(knn, model, 1, err);
    if (!rc)
        rc = rh_knn__fit_reward(knn, model, err);
    if (!rc)
        rh_knn__bound_rewards(knn, model);
    return rc;
}

static rh_status read_reach(rh_knn *knn, rh_store *store, rh_error *err)
{
    void *got = NULL;
    rh_status rc = rh_store__get(store, "near", RH_STORE_F32, -1, &got, &knn->nnear, err);
    knn->near = got;
    if (!rc)
        rc = check_near(knn, store, err);
    if (!rc)
        rc = rh_store__get_within(store, "step", 0.0, 1e300, &knn->step, err);
    if (!rc)
        rc = rh_store__get_within(store, "reach", -1.0, 1e300, &knn->reach, err);
    if (!rc && knn->reach < 0.0)
        knn->reach = INFINITY;
    return rc;
}

rh_status rh_knn__read(void **out, const rh_model *model, rh_store *store, rh_error *err)
{
    rh_knn *knn = rh_alloc(1, sizeof *knn);
    double k = 0.0;
    rh_status rc = RH_OK;
    if (!knn) {
        rc = rh_base__no_memory(err, "knn");
        goto done;
    }
    rc = rh_store__get_within(store, "k", model->param[RH_KNN_K], model->param[RH_KNN_K], &k,
                              err);
    if (rc)
        goto done;
    knn->k = (int)k;
    rh_knn__scale_actions(knn, model);
    rc = read_use(knn, model, store, err);
    if (!rc)
        rc = model->log->naction ? read_table(knn, model, store, err)
                                 : rh_knn__make_points(knn, model, NULL, err);
    if (!rc)
        rc = read_carry(knn, model, store, err);
    if (!rc)
        rc = read_reach(knn, store, err);
    if (rc)
        goto done;

    *out = knn;
    knn = NULL;

done:
    rh_knn__destroy(knn);
    return rc;
}
