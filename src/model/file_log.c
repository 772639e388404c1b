// file_log.c - the log of a model in the model's file.
//
// 1. Rows keep their numbers, because the model's tables refer to states and steps by row.
// 2. rh_log_copy() refuses inconsistent arrays. Missing and infinite numbers are refused here.

#include "file.h"

#include <math.h>

enum { N, NSTATE, NEPISODE, NOBS, NACTION, NACT, NSHAPE };

// Arrays read so far.
typedef struct pieces {
    rh_log log;
    void *block[24]; // owned
    int nblock;
} pieces;

// ---------------------------------------------------------------------------- writing

static rh_status write_names(rh_store *store, const rh_log *log, rh_error *err)
{
    const rh_log_reading *r = &log->reading;
    const int64_t stack = log->stack;
    const int64_t count[] = {r->nrow,     r->nlost, r->nincomplete,
                             r->nmissing, r->ngap,  r->nmismatch};
    rh_status rc = rh_store__put_texts(store, "log/obs_name", log->obs_name, log->nobs, err);
    if (!rc)
        rc = rh_store__put_texts(store, "log/obs_unit", log->obs_unit, log->nobs, err);
    if (!rc)
        rc = rh_store__put_texts(store, "log/act_name", log->act_name, log->nact, err);
    if (!rc && log->naction)
        rc = rh_store__put_texts(store, "log/label", log->label, log->naction, err);
    if (!rc)
        rc = rh_store__put_text(store, "log/reward_name", log->reward_name, err);
    if (!rc && log->reward_formula)
        rc = rh_store__put_text(store, "log/reward_formula", log->reward_formula, err);
    if (!rc && log->derive)
        rc = rh_store__put_text(store, "log/derive", log->derive, err);
    if (!rc && log->stack > 1)
        rc = rh_store__put(store, "log/stack", RH_STORE_I64, &stack, 1, err);
    if (!rc)
        rc = rh_store__put_text(store, "log/path", log->path, err);
    if (!rc)
        rc = rh_store__put_text(store, "log/format", r->format ? r->format : "", err);
    if (!rc)
        rc = rh_store__put(store, "log/counts", RH_STORE_I64, count, 6, err);
    if (!rc)
        rc = rh_store__put_texts(store, "log/notes", r->note, r->nnote, err);
    return rc;
}

rh_status rh_model_file__write_log(rh_store *store, const rh_log *log, rh_error *err)
{
    const int64_t shape[NSHAPE] = {
        [N] = log->n,       [NSTATE] = log->nstate,   [NEPISODE] = log->nepisode,
        [NOBS] = log->nobs, [NACTION] = log->naction, [NACT] = log->nact};
    const struct {
        const char *name;
        rh_store__type type;
        const void *x;
        int64_t n;
    } array[] = {
        {"log/shape", RH_STORE_I64, shape, NSHAPE},
        {"log/obs", RH_STORE_F64, log->obs, log->nstate * log->nobs},
        {"log/from", RH_STORE_I32, log->from, log->n},
        {"log/to", RH_STORE_I32, log->to, log->n},
        {"log/act", RH_STORE_F64, log->act, log->n * log->nact},
        {"log/reward", RH_STORE_F64, log->reward, log->n},
        {"log/flag", RH_STORE_U8, log->flag, log->n},
        {"log/first", RH_STORE_I64, log->first, (int64_t)log->nepisode + 1},
        {"log/start", RH_STORE_U8, log->start, log->nepisode},
    };
    rh_status rc = RH_OK;
    for (size_t i = 0; i < sizeof array / sizeof *array && !rc; i++)
        rc = rh_store__put(store, array[i].name, array[i].type, array[i].x, array[i].n, err);
    if (!rc && log->time)
        rc = rh_store__put(store, "log/time", RH_STORE_F64, log->time, log->n, err);
    return rc ? rc : write_names(store, log, err);
}

// ---------------------------------------------------------------------------- reading

// Read an array that the pieces own; NULL after a failure.
static void *take(pieces *p, rh_store *store, const char *name, rh_store__type type, int64_t n,
                  rh_status *rc, rh_error *err)
{
    void *x = NULL;
    if (!*rc)
        *rc = rh_store__get(store, name, type, n, &x, NULL, err);
    p->block[p->nblock++] = x;
    return x;
}

static const char **take_texts(pieces *p, rh_store *store, const char *name, int n,
                               rh_status *rc, rh_error *err)
{
    char **x = NULL;
    if (!*rc)
        *rc = rh_store__get_texts(store, name, n, &x, err);
    p->block[p->nblock++] = (void *)x;
    return (const char **)(void *)x;
}

static const char *take_text(pieces *p, rh_store *store, const char *name, rh_status *rc,
                             rh_error *err)
{
    char *x = NULL;
    if (!*rc)
        *rc = rh_store__get_text(store, name, &x, err);
    p->block[p->nblock++] = x;
    return x;
}

// Read the sizes and check that no product of them overflows; rh_log_copy() checks the rest.
static rh_status read_shape(pieces *p, rh_store *store, rh_error *err)
{
    static const int64_t most[NSHAPE] = {INT32_MAX,  INT32_MAX,      INT32_MAX,
                                         RH_MAX_OBS, RH_MAX_ACTIONS, RH_MAX_ACT};
    static const char *const name[NSHAPE] = {"transitions", "states",  "episodes",
                                             "sensors",     "actions", "numbers of an action"};
    rh_status rc = RH_OK;
    const int64_t *shape = take(p, store, "log/shape", RH_STORE_I64, NSHAPE, &rc, err);
    for (int i = 0; i < NSHAPE && !rc; i++)
        if (shape[i] < (i != NACTION) || shape[i] > most[i])
            rc = rh_store__refuse(store, "log/shape", err, "%lld %s", (long long)shape[i],
                                  name[i]);
    if (rc)
        return rc;
    p->log.n = shape[N];
    p->log.nstate = shape[NSTATE];
    p->log.nepisode = (int)shape[NEPISODE];
    p->log.nobs = (int)shape[NOBS];
    p->log.naction = (int)shape[NACTION];
    p->log.nact = (int)shape[NACT];
    return RH_OK;
}

static rh_status read_arrays(pieces *p, rh_store *store, rh_error *err)
{
    rh_log *log = &p->log;
    int64_t n = log->n;
    rh_status rc = RH_OK;
    log->obs = take(p, store, "log/obs", RH_STORE_F64, log->nstate * log->nobs, &rc, err);
    log->from = take(p, store, "log/from", RH_STORE_I32, n, &rc, err);
    log->to = take(p, store, "log/to", RH_STORE_I32, n, &rc, err);
    log->act = take(p, store, "log/act", RH_STORE_F64, n * log->nact, &rc, err);
    log->reward = take(p, store, "log/reward", RH_STORE_F64, n, &rc, err);
    log->flag = take(p, store, "log/flag", RH_STORE_U8, n, &rc, err);
    log->first =
        take(p, store, "log/first", RH_STORE_I64, (int64_t)log->nepisode + 1, &rc, err);
    log->start = take(p, store, "log/start", RH_STORE_U8, log->nepisode, &rc, err);
    if (!rc && rh_store__has(store, "log/time"))
        log->time = take(p, store, "log/time", RH_STORE_F64, n, &rc, err);
    return rc;
}

static rh_status read_names(pieces *p, rh_store *store, rh_error *err)
{
    rh_log *log = &p->log;
    rh_log_reading *r = &log->reading;
    rh_status rc = RH_OK;
    log->obs_name = take_texts(p, store, "log/obs_name", log->nobs, &rc, err);
    log->obs_unit = take_texts(p, store, "log/obs_unit", log->nobs, &rc, err);
    log->act_name = take_texts(p, store, "log/act_name", log->nact, &rc, err);
    if (log->naction)
        log->label = take_texts(p, store, "log/label", log->naction, &rc, err);
    log->reward_name = take_text(p, store, "log/reward_name", &rc, err);
    if (rh_store__has(store, "log/reward_formula"))
        log->reward_formula = take_text(p, store, "log/reward_formula", &rc, err);
    if (rh_store__has(store, "log/derive"))
        log->derive = take_text(p, store, "log/derive", &rc, err);
    const int64_t *stack = NULL;
    if (rh_store__has(store, "log/stack"))
        stack = take(p, store, "log/stack", RH_STORE_I64, 1, &rc, err);
    if (!rc && stack && (*stack < 2 || *stack > RH_MAX_OBS))
        rc = rh_store__refuse(store, "log/stack", err, "%lld", (long long)*stack);
    log->stack = !rc && stack ? (int)*stack : 1;
    log->path = take_text(p, store, "log/path", &rc, err);
    r->format = take_text(p, store, "log/format", &rc, err);
    const int64_t *count = take(p, store, "log/counts", RH_STORE_I64, 6, &rc, err);
    if (!rc)
        rc = rh_store__count_texts(store, "log/notes", &r->nnote, err);
    r->note = (const char *const *)take_texts(p, store, "log/notes", r->nnote, &rc, err);
    for (int i = 0; i < 6 && !rc; i++)
        if (count[i] < 0)
            rc = rh_store__refuse(store, "log/counts", err, "%lld", (long long)count[i]);
    if (rc)
        return rc;
    r->nrow = count[0];
    r->nlost = count[1];
    r->nincomplete = count[2];
    r->nmissing = count[3];
    r->ngap = count[4];
    r->nmismatch = count[5];
    return RH_OK;
}

static rh_status check_finite(const rh_store *store, const char *name, const double *x,
                              int64_t n, rh_error *err)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return rh_store__refuse(store, name, err, "number %lld is %g", (long long)i, x[i]);
    return RH_OK;
}

rh_status rh_model_file__read_log(rh_store *store, rh_log **out, rh_error *err)
{
    pieces p = {0};
    rh_error why;
    rh_status rc = read_shape(&p, store, err);
    if (!rc)
        rc = read_arrays(&p, store, err);
    if (!rc)
        rc = read_names(&p, store, err);
    if (!rc)
        rc = check_finite(store, "log/obs", p.log.obs, p.log.nstate * p.log.nobs, err);
    if (!rc)
        rc = check_finite(store, "log/act", p.log.act, p.log.n * p.log.nact, err);
    if (!rc)
        rc = check_finite(store, "log/reward", p.log.reward, p.log.n, err);
    if (!rc)
        rc = rh_model_file__pass(store, "log", rh_log_copy(out, &p.log, &why), &why, err);
    for (int i = 0; i < p.nblock; i++)
        rh_free(p.block[i]);
    return rc;
}
