// file.c - writes and reads a model file: a container of named arrays (base/state_file.c).
//
// The arrays (examples/python/read_model.py reads the container, for other programs):
//
//     kind, rehearse, param      the kind, the writing version, parameters by name
//     log/                       the transitions it was fitted to (file_log.c)
//     task/, repr/, code         the task; the representation; codes of all states
//     start, outcome, origin     rows of starts; lowest and highest return; origin of the log
//     prior                       rows that agents begin with (rh_prior), if there are any;
//                                 the last npractice of them are of practice
//     members/0/, ...            the members, written by the kind
//     facts/                     of sensors, resets and limits (facts.c)
//     fidelity/                  the measured fidelity (file_fidelity.c)
//     compared/                  the comparison that chose the model (file_compared.c)
//
// 1. Codes are stored, though they could be computed again: for a million states of 8 numbers a
//    network takes 0.33 s, and reading 32 MB takes about 0.04 s. They are then also the same on
//    machines whose arithmetic differs.
// 2. Parameters have names. A parameter that the file lacks has its initial value; one that
//    this program lacks makes the file unreadable, because its effect is unknown.
// 3. Sizes, rows, ranges and finiteness are all checked, here or where the numbers are used. Of
//    10,375 files with one byte changed and sealed again, 6,768 were refused, and 3,607 ran for
//    1,000 steps under the address sanitizer.
//
// A million transitions of 8 sensors and 3 actions (knn, k = 3) make 194 MB, written in 0.8 s
// and read in 0.6 s; the fit takes 27 s with two threads.

#include "file.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "base/scratch.h"
#include "facts.h"
#include "log/log.h"
#include "model.h"
#include "pack.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS 1e15 // of a run; a double counts so far

static const char label[] = "rehearse-model";

enum { NTASK = 4 };
static const char *const task_number[NTASK] = {"continuing", "gamma", "reward_lo", "nstep"};

// ---------------------------------------------------------------------------- parameters

void rh_model_file__put_params(rh_store *store, const char *what, const rh_param *param, int n,
                               const double *x)
{
    const char *name[RH_MODEL_NPARAM];
    for (int i = 0; i < n; i++)
        name[i] = param[i].name;
    rh_store__put_named(store, what, name, x, n);
}

void rh_model_file__get_params(rh_store *store, const char *what, const char *owner,
                               const rh_param *param, int n, double *to)
{
    const double *x = NULL;
    int got = 0;
    rh_error why;
    const char **name = rh_store__named(store, what, &x, &got);
    if (!name)
        return;
    rh_param_initial(param, n, to);
    for (int i = 0; i < got; i++) {
        int at = rh_param_find(param, n, name[i]);
        if (at >= 0)
            to[at] = x[i];
        else
            rh_store__refuse(store, what,
                             "%s has no parameter '%.40s' in this version of rehearse", owner,
                             name[i]);
    }
    rh_store__pass(store, what, rh_param__check(param, n, owner, to, &why), &why);
    rh_free((void *)name);
}

// ---------------------------------------------------------------------------- fields

void rh_model_file__put_fields(rh_store *store, const char *what, const rh_fields *fields,
                               const void *data)
{
    int n = rh_field__nnumber(fields);
    rh_scratch scratch = {0};
    double *x = rh_scratch__take(&scratch, (size_t)n, sizeof *x);
    char(*text)[RH_FIELD__NAME] = rh_scratch__take(&scratch, (size_t)n, sizeof *text);
    const char **name = rh_scratch__take(&scratch, (size_t)n, sizeof *name);
    if (scratch.failed) {
        rh_store__no_memory(store);
    } else {
        rh_field__get(fields, data, text, x);
        for (int i = 0; i < n; i++)
            name[i] = text[i];
        rh_store__put_named(store, what, name, x, n);
    }
    rh_scratch__clear(&scratch);
}

void rh_model_file__get_fields(rh_store *store, const char *what, const rh_fields *fields,
                               void *data)
{
    const double *x = NULL;
    int n = 0;
    const char **name = rh_store__named(store, what, &x, &n);
    rh_field__forget(fields, data);
    for (int i = 0; i < n && name; i++)
        if (!rh_field__put(fields, data, name[i], x[i]))
            rh_store__refuse(store, what, "%.40s = %g", name[i], x[i]);
    rh_free((void *)name);
}

// ---------------------------------------------------------------------------- writing

static void write_kind(const rh_model *model, rh_store *store)
{
    const rh_model_type *type = model->type;
    rh_store__put_text(store, "kind", type->name);
    rh_store__put_text(store, "rehearse", rh_version());
    rh_model_file__put_params(store, "param", type->param, type->nparam, model->param);
}

// Sensors, and pairs behind each other.
static void write_tiled(const rh_tiled *t, rh_store *store)
{
    int32_t x[RH_TILED_SENSORS], pair[2 * RH_TILED_PAIRS];
    for (int i = 0; i < t->nsensor; i++)
        x[i] = t->sensor[i];
    for (int i = 0; i < 2 * t->npair; i++)
        pair[i] = t->pair[i / 2][i % 2];
    if (t->nsensor) {
        rh_store__put(store, "task/tiled", RH_STATE_I32, x, t->nsensor);
        rh_store__put(store, "task/tiled_pairs", RH_STATE_I32, pair, 2 * t->npair);
    }
}

static void write_task(const rh_task *t, rh_store *store)
{
    const double x[] = {t->continuing, t->gamma, t->reward_lo, (double)t->nstep};
    int nact = t->naction ? 0 : t->nact;
    rh_store__put_named(store, "task/number", task_number, x, NTASK);
    rh_store__put(store, "task/obs_lo", RH_STATE_F64, t->obs_lo, t->nobs);
    rh_store__put(store, "task/obs_hi", RH_STATE_F64, t->obs_hi, t->nobs);
    rh_store__put(store, "task/act_lo", RH_STATE_F64, t->act_lo, nact);
    rh_store__put(store, "task/act_hi", RH_STATE_F64, t->act_hi, nact);
    write_tiled(&t->tiled, store);
}

static void write_repr(const rh_model *model, rh_store *store)
{
    if (!store->rc)
        store->rc = rh_repr__save(model->repr, store->state, store->err);
    if (model->code)
        rh_store__lend(store, "code", RH_STATE_F32, model->code,
                       model->log->nstate * rh_repr__ncode(model->repr));
}

static void write_rest(const rh_model *model, rh_store *store)
{
    const double outcome[] = {model->lowest, model->highest};
    int64_t origin[2] = {model->ndropped, 0};
    memcpy(&origin[1], &model->fingerprint, sizeof origin[1]);
    rh_store__lend(store, "start", RH_STATE_I32, model->start, model->nstart);
    if (model->prior)
        rh_store__lend(store, "prior", RH_STATE_F64, model->prior,
                       (model->task.prior.n + model->task.prior.npractice) *
                           rh_contract__prior_width(model->task.nobs, model->task.nact));
    rh_store__put_number(store, "npractice", (double)model->task.prior.npractice);
    rh_store__put(store, "outcome", RH_STATE_F64, outcome, 2);
    rh_store__put(store, "origin", RH_STATE_I64, origin, 2);
    rh_store__put_number(store, "resample", model->resample);
    rh_store__put_number(store, "nmember", model->nmember);
}

static void write_all(const rh_model *model, rh_store *store)
{
    write_kind(model, store);
    rh_model_file__write_log(store, model->log);
    write_task(&model->task, store);
    write_repr(model, store);
    write_rest(model, store);
    for (int m = 0; m < model->nmember; m++) {
        rh_store__within(store, "members", m);
        model->type->calls->write(model, model->member[m], store);
    }
    rh_store__within(store, NULL, 0);
    rh_facts__write(model->facts, store);
    if (model->fidelity)
        rh_model_file__write_fidelity(store, model->fidelity, model->log);
    if (model->compared)
        rh_model_file__write_compared(store, model->compared);
}

// The arrays of a model, most of them lent by it.
static rh_status save(rh_state **out, const rh_model *model, const char *path, rh_error *err)
{
    rh_store store = {.path = path, .err = err};
    store.rc = rh_state__create(&store.state, err);
    if (!store.rc)
        store.rc = rh_state__set_label(store.state, label, err);
    if (!store.rc)
        write_all(model, &store);
    if (store.rc)
        rh_state_destroy(store.state);
    else
        *out = store.state;
    return store.rc;
}

rh_status rh_model_write(const rh_model *model, const char *path, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = save(&state, model, path, err);
    if (!rc)
        rc = rh_state_write(state, path, err);
    rh_state_destroy(state);
    return rc;
}

rh_status rh_model__pack(const rh_model *model, unsigned char **bytes, size_t *n, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = save(&state, model, label, err);
    unsigned char *all = rc ? NULL : rh_state__bytes(state, n);
    if (all)
        *bytes = all;
    else if (!rc)
        rc = rh_base__no_memory(err, "model");
    rh_state_destroy(state);
    return rc;
}

// ---------------------------------------------------------------------------- reading

static void read_kind(rh_model *model, rh_store *store)
{
    rh_error why;
    const char *kind = rh_store__text(store, "kind");
    if (!kind)
        return;
    model->type = rh_model_find(kind, &why);
    if (!model->type) {
        rh_store__refuse(store, "kind", "%s", why.text);
        return;
    }
    model->param = rh_alloc((size_t)model->type->nparam, sizeof *model->param);
    if (!model->param)
        rh_store__no_memory(store);
    rh_model_file__get_params(store, "param", model->type->name, model->type->param,
                              model->type->nparam, model->param);
}

// Two ends of each of n ranges.
static void read_ranges(rh_store *store, const char *what, int n, double *lo, double *hi)
{
    char name[2][32];
    snprintf(name[0], sizeof name[0], "task/%s_lo", what);
    snprintf(name[1], sizeof name[1], "task/%s_hi", what);
    rh_store__copy(store, name[0], RH_STATE_F64, n, lo);
    rh_store__copy(store, name[1], RH_STATE_F64, n, hi);
    for (int i = 0; i < n && !store->rc; i++)
        if (!isfinite(lo[i]) || !isfinite(hi[i]) || lo[i] > hi[i])
            rh_store__refuse(store, name[0], "range %d is %g to %g", i, lo[i], hi[i]);
}

static void read_tiled(rh_task *t, rh_store *store)
{
    int64_t n = 0, npair = 0;
    if (!rh_store__has(store, "task/tiled"))
        return;
    const int32_t *x = rh_store__look(store, "task/tiled", RH_STATE_I32, -1, &n),
                  *pair = rh_store__look(store, "task/tiled_pairs", RH_STATE_I32, -1, &npair);
    if (store->rc)
        return;
    bool right =
        n <= RH_TILED_SENSORS && npair <= (int64_t)2 * RH_TILED_PAIRS && npair % 2 == 0;
    for (int64_t i = 0; right && i < n; i++)
        right = x[i] >= 0 && x[i] < t->nobs;
    for (int64_t i = 0; right && i < npair; i++)
        right = pair[i] >= 0 && pair[i] < t->nobs;
    if (!right) {
        rh_store__refuse(store, "task/tiled", "other sensors than the task has");
        return;
    }
    t->tiled.nsensor = (int)n;
    t->tiled.npair = (int)npair / 2;
    for (int64_t i = 0; i < n; i++)
        t->tiled.sensor[i] = (int16_t)x[i];
    for (int64_t i = 0; i < npair; i++)
        t->tiled.pair[i / 2][i % 2] = (int16_t)pair[i];
}

static void read_task(rh_model *model, rh_store *store)
{
    const rh_log *log = model->log;
    rh_task *t = &model->task;
    const double *x = NULL;
    int n = 0;
    double got[NTASK] = {-1.0, -1.0, NAN, -1.0};
    const char **name = rh_store__named(store, "task/number", &x, &n);
    if (!name)
        return;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < NTASK; k++)
            if (strcmp(name[i], task_number[k]) == 0)
                got[k] = x[i];
    rh_free((void *)name);
    if (!(got[0] == 0.0 || got[0] == 1.0) || !(got[1] >= 0.0 && got[1] <= 1.0) ||
        isnan(got[2]) || !(got[3] >= 1.0 && got[3] <= MOST_STEPS)) {
        rh_store__refuse(store, "task/number",
                         "continuing %g, gamma %g, lowest reward %g, %g steps", got[0], got[1],
                         got[2], got[3]);
        return;
    }

    t->nobs = log->nobs;
    t->naction = log->naction;
    t->nact = log->nact;
    t->continuing = got[0] == 1.0;
    t->gamma = got[1];
    t->reward_lo = got[2];
    t->nstep = (int64_t)got[3];
    for (int i = 0; i < log->nobs; i++)
        t->obs_name[i] = log->obs_name[i];
    read_ranges(store, "obs", t->nobs, t->obs_lo, t->obs_hi);
    read_ranges(store, "act", t->naction ? 0 : t->nact, t->act_lo, t->act_hi);
    read_tiled(t, store);
}

static void read_codes(rh_model *model, rh_store *store)
{
    int64_t n = model->log->nstate * rh_repr__ncode(model->repr);
    model->code = rh_store__take(store, "code", RH_STATE_F32, n, NULL);
    for (int64_t i = 0; i < n && !store->rc; i++)
        if (!isfinite(model->code[i]))
            rh_store__refuse(store, "code", "number %lld is %g", (long long)i,
                             (double)model->code[i]);
}

static void read_repr(rh_model *model, rh_store *store)
{
    rh_error why;
    const rh_log *log = model->log;
    if (store->rc)
        return;
    rh_store__pass(store, "repr", rh_repr__load(&model->repr, store->state, &why), &why);
    if (store->rc)
        return;
    int nact = rh_repr__nact(model->repr);
    if (rh_repr__nobs(model->repr) != log->nobs ||
        (nact && (log->naction || nact != log->nact)))
        rh_store__refuse(store, "repr",
                         "%d sensors and actions of %d numbers, expected those of the log",
                         rh_repr__nobs(model->repr), nact);
    else if (!nact)
        read_codes(model, store);
}

static void read_starts(rh_model *model, rh_store *store)
{
    model->start = rh_store__take(store, "start", RH_STATE_I32, -1, &model->nstart);
    if (!store->rc && (model->nstart < 1 || model->nstart > INT32_MAX))
        rh_store__refuse(store, "start", "%lld starts", (long long)model->nstart);
    for (int64_t i = 0; !store->rc && i < model->nstart; i++)
        if (model->start[i] < 0 || model->start[i] >= model->log->nstate)
            rh_store__refuse(store, "start", "start %lld is state %d, expected 0 to %lld",
                             (long long)i, model->start[i], (long long)model->log->nstate - 1);
}

static void read_prior(rh_model *model, rh_store *store)
{
    int64_t n = 0, width = rh_contract__prior_width(model->task.nobs, model->task.nact);
    if (store->rc || !rh_store__has(store, "prior"))
        return;
    model->prior = rh_store__take(store, "prior", RH_STATE_F64, -1, &n);
    if (store->rc)
        return;
    int64_t npractice = (int64_t)rh_store__number(store, "npractice", 0, (double)(n / width));
    model->task.prior = (rh_prior){n / width - npractice, model->prior, npractice};
    if (n % width || !rh_prior__fits(&model->task, model->task.prior))
        rh_store__refuse(store, "prior", "%lld numbers, expected finite rows of %lld",
                         (long long)n, (long long)width);
}

static void read_rest(rh_model *model, rh_store *store)
{
    double ends[2] = {0.0, 0.0};
    int64_t origin[2] = {0, 0};
    rh_store__copy(store, "outcome", RH_STATE_F64, 2, ends);
    if (!rh_base__all_finite(ends, 2))
        rh_store__refuse(store, "outcome", "%g to %g", ends[0], ends[1]);
    rh_store__copy(store, "origin", RH_STATE_I64, 2, origin);
    model->resample = (rh_resample)rh_store__number(store, "resample", 0, RH_RESAMPLE_PARTS);
    model->nmember = (int)rh_store__number(store, "nmember", 1, RH_MAX_MEMBER);
    model->lowest = ends[0];
    model->highest = ends[1];
    model->ndropped = origin[0] > 0 ? origin[0] : 0;
    memcpy(&model->fingerprint, &origin[1], sizeof model->fingerprint);
}

static void read_members(rh_model *model, rh_store *store)
{
    model->member = rh_alloc((size_t)model->nmember, sizeof *model->member);
    if (!model->member)
        rh_store__no_memory(store);
    for (int m = 0; m < model->nmember && !store->rc; m++) {
        rh_store__within(store, "members", m);
        model->member[m] = model->type->calls->read(model, store);
    }
    rh_store__within(store, NULL, 0);
}

static void read_all(rh_model *model, rh_store *store)
{
    read_kind(model, store);
    model->log = rh_model_file__read_log(store);
    if (store->rc)
        return;
    read_task(model, store);
    read_repr(model, store);
    read_starts(model, store);
    read_prior(model, store);
    read_rest(model, store);
    if (!store->rc) {
        rh_error why;
        rh_store__pass(store, "log/failure",
                       rh_failure__find(&model->failure, model->log, model->task.continuing,
                                        model->task.prior, &why),
                       &why);
    }
    model->facts = rh_facts__read(store, model->log->nobs);
    if (!store->rc) {
        rh_error why;
        rh_store__pass(store, "log/derive", rh_derive__create(&model->derive, model->log, &why),
                       &why);
    }
    if (!store->rc)
        read_members(model, store);
    if (rh_store__has(store, "fidelity/sensor"))
        model->fidelity = rh_model_file__read_fidelity(store, model->log);
    if (rh_store__has(store, "compared/ntrial"))
        model->compared = rh_model_file__read_compared(store);
}

rh_status rh_model__load(rh_model **out, rh_state *state, const char *path, rh_error *err)
{
    rh_store store = {.state = state, .path = path, .err = err};
    rh_model *model = NULL;
    if (strcmp(rh_state__label(state), label) != 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: not a model file, expected one that `rehearse fit` wrote",
                       rh_base__path_tail(path));
    model = rh_alloc(1, sizeof *model);
    if (model)
        read_all(model, &store);
    else
        rh_store__no_memory(&store);
    if (store.rc)
        rh_model_destroy(model);
    else
        *out = model;
    return store.rc;
}

rh_status rh_model_read(rh_model **out, const char *path, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = rh_state__read(&state, path, "model", err);
    if (!rc)
        rc = rh_model__load(out, state, path, err);
    rh_state_destroy(state);
    return rc;
}

rh_status rh_model__unpack(rh_model **out, const unsigned char *bytes, size_t n, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = rh_state__parse(&state, bytes, n, label, "model", err);
    if (!rc)
        rc = rh_model__load(out, state, label, err);
    rh_state_destroy(state);
    return rc;
}
