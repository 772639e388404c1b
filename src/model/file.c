// file.c - writes and reads a model file.
//
// Groups and arrays of the file (docs/fit.md documents them for other programs):
//
//     kind, rehearse, param      the kind, the writing version, parameters by name
//     log/                       the transitions it was fitted to (file_log.c)
//     task/, repr/, code         the task; the representation; codes of all states
//     start, outcome, origin     rows of starts; lowest and highest return; origin of the log
//     members/0/, ...            the members, written by the kind
//     facts/                     of sensors, resets and limits (facts.c)
//     fidelity/                  the measured fidelity (file_fidelity.c)
//     compared/                  the comparison that chose the model (file_compared.c)
//
// 1. Codes are stored, though they could be computed again: for a million states of 8 numbers a
//    network takes 0.33 s, and reading 32 MB takes about 0.04 s (at the rate in store.c). They
//    are then also the same on machines whose arithmetic differs.
// 2. Parameters have names. A parameter that the file lacks has its initial value; one that
//    this program lacks makes the file unreadable, because its effect is unknown.
// 3. Sizes, rows, ranges and finiteness are all checked, here or where the numbers are used. Of
//    10,375 files with one byte changed and sealed again, 6,768 were refused, and 3,607 ran for
//    1,000 steps under the address sanitizer.
//
// A million transitions of 8 sensors and 3 actions (knn, k = 3) make 194 MB, written in 0.8 s
// and read in 0.6 s; the fit takes 27 s with two threads.

#include "file.h"
#include "base/base_internal.h"
#include "facts.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS 1e15 // of a run; a double counts so far

// ---------------------------------------------------------------------------- helpers

rh_status rh_model_file__pass(const rh_store *store, const char *name, rh_status status,
                              const rh_error *why, rh_error *err)
{
    if (!status)
        return RH_OK;
    rh_store__refuse(store, name, err, "%s", why->text);
    return status == RH_ENOMEM ? RH_ENOMEM : RH_EFORMAT;
}

rh_status rh_model_file__put_named(rh_store *store, const char *name, const char *const *names,
                                   const double *x, int n, rh_error *err)
{
    char part[64];
    snprintf(part, sizeof part, "%s_name", name);
    rh_status rc = rh_store__put_texts(store, part, names, n, err);
    return rc ? rc : rh_store__put(store, name, RH_STORE_F64, x, n, err);
}

rh_status rh_model_file__get_named(rh_store *store, const char *name, char ***names, double **x,
                                   int *n, rh_error *err)
{
    char part[64];
    void *block = NULL;
    snprintf(part, sizeof part, "%s_name", name);
    rh_status rc = rh_store__count_texts(store, part, n, err);
    if (!rc)
        rc = rh_store__get_texts(store, part, *n, names, err);
    if (!rc)
        rc = rh_store__get(store, name, RH_STORE_F64, *n, &block, NULL, err);
    *x = block;
    return rc;
}

static rh_status no_memory(const rh_store *store, rh_error *err)
{
    return rh_base__no_memory(err, rh_base__path_tail(rh_store__path(store)));
}

// ---------------------------------------------------------------------------- writing

static rh_status write_kind(const rh_model *model, rh_store *store, rh_error *err)
{
    const rh_model_type *type = model->type;
    const char **name = rh_alloc((size_t)type->nparam + 1, sizeof *name);
    if (!name)
        return no_memory(store, err);
    for (int i = 0; i < type->nparam; i++)
        name[i] = type->param[i].name;
    rh_status rc = rh_store__put_text(store, "kind", type->name, err);
    if (!rc)
        rc = rh_store__put_text(store, "rehearse", rh_version(), err);
    if (!rc)
        rc = rh_model_file__put_named(store, "param", name, model->param, type->nparam, err);
    rh_free((void *)name);
    return rc;
}

static rh_status write_task(const rh_task *t, rh_store *store, rh_error *err)
{
    static const char *const name[] = {"continuing", "gamma", "reward_lo", "nstep"};
    const double x[] = {t->continuing, t->gamma, t->reward_lo, (double)t->nstep};
    int nact = t->naction ? 0 : t->nact;
    rh_status rc = rh_model_file__put_named(store, "task/number", name, x, 4, err);
    if (!rc)
        rc = rh_store__put(store, "task/obs_lo", RH_STORE_F64, t->obs_lo, t->nobs, err);
    if (!rc)
        rc = rh_store__put(store, "task/obs_hi", RH_STORE_F64, t->obs_hi, t->nobs, err);
    if (!rc)
        rc = rh_store__put(store, "task/act_lo", RH_STORE_F64, t->act_lo, nact, err);
    if (!rc)
        rc = rh_store__put(store, "task/act_hi", RH_STORE_F64, t->act_hi, nact, err);
    return rc;
}

static rh_status write_repr(const rh_model *model, rh_store *store, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = rh_state_create(&state, err);
    if (!rc)
        rc = rh_repr_save(model->repr, state, err);
    if (!rc)
        rc = rh_store__put_state(store, "repr", state, err);
    rh_state_destroy(state);
    if (!rc && model->code)
        rc = rh_store__put(store, "code", RH_STORE_F32, model->code,
                           model->log->nstate * rh_repr_ncode(model->repr), err);
    return rc;
}

static rh_status write_rest(const rh_model *model, rh_store *store, rh_error *err)
{
    const double outcome[] = {model->lowest, model->highest};
    int64_t origin[2] = {model->ndropped, 0};
    memcpy(&origin[1], &model->fingerprint, sizeof origin[1]);
    rh_status rc =
        rh_store__put(store, "start", RH_STORE_I32, model->start, model->nstart, err);
    if (!rc)
        rc = rh_store__put(store, "outcome", RH_STORE_F64, outcome, 2, err);
    if (!rc)
        rc = rh_store__put(store, "origin", RH_STORE_I64, origin, 2, err);
    if (!rc)
        rc = rh_store__put_number(store, "resample", model->resample, err);
    if (!rc)
        rc = rh_store__put_number(store, "nmember", model->nmember, err);
    return rc;
}

static void go_within(rh_store *store, int member)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "members/%d/", member);
    rh_store__within(store, prefix);
}

static rh_status write_all(const rh_model *model, rh_store *store, rh_error *err)
{
    rh_status rc = write_kind(model, store, err);
    if (!rc)
        rc = rh_model_file__write_log(store, model->log, err);
    if (!rc)
        rc = write_task(&model->task, store, err);
    if (!rc)
        rc = write_repr(model, store, err);
    if (!rc)
        rc = write_rest(model, store, err);
    for (int m = 0; m < model->nmember && !rc; m++) {
        go_within(store, m);
        rc = model->type->calls->write(model, model->member[m], store, err);
    }
    rh_store__within(store, "");
    if (!rc)
        rc = rh_facts__write(model->facts, store, err);
    if (!rc && model->fidelity)
        rc = rh_model_file__write_fidelity(store, model->fidelity, model->log, err);
    if (!rc && model->compared)
        rc = rh_model_file__write_compared(store, model->compared, err);
    return rc;
}

rh_status rh_model_write(const rh_model *model, const char *path, rh_error *err)
{
    rh_store *store = NULL;
    rh_status rc = rh_store__create(&store, path, err);
    if (rc)
        return rc;
    rc = write_all(model, store, err);
    if (!rc)
        return rh_store__commit(store, err);
    rh_store__discard(store);
    return rc;
}

// ---------------------------------------------------------------------------- reading

static rh_status take_params(rh_model *model, rh_store *store, char *const *name,
                             const double *x, int n, rh_error *err)
{
    const rh_model_type *type = model->type;
    rh_error why;
    model->param = rh_alloc((size_t)type->nparam, sizeof *model->param);
    if (!model->param)
        return no_memory(store, err);
    rh_param_initial(type->param, type->nparam, model->param);
    for (int i = 0; i < n; i++) {
        int k = rh_param_find(type->param, type->nparam, name[i]);
        if (k < 0)
            return rh_store__refuse(store, "param", err,
                                    "%s has no parameter '%.40s' in this version of rehearse",
                                    type->name, name[i]);
        model->param[k] = x[i];
    }
    rh_status rc = rh_param_check(type->param, type->nparam, type->name, model->param, &why);
    return rh_model_file__pass(store, "param", rc, &why, err);
}

static rh_status read_params(rh_model *model, rh_store *store, rh_error *err)
{
    char **name = NULL;
    double *x = NULL;
    int n = 0;
    rh_status rc = rh_model_file__get_named(store, "param", &name, &x, &n, err);
    if (!rc)
        rc = take_params(model, store, name, x, n, err);
    rh_free((void *)name);
    rh_free(x);
    return rc;
}

static rh_status read_kind(rh_model *model, rh_store *store, rh_error *err)
{
    char *kind = NULL;
    rh_error why;
    rh_status rc = rh_store__get_text(store, "kind", &kind, err);
    if (!rc) {
        model->type = rh_model_find(kind, &why);
        if (!model->type)
            rc = rh_model_file__pass(store, "kind", RH_EFORMAT, &why, err);
    }
    rh_free(kind);
    return rc ? rc : read_params(model, store, err);
}

// Two ends of each of n ranges.
static rh_status read_ranges(rh_store *store, const char *what, int n, double *lo, double *hi,
                             rh_error *err)
{
    char name[2][32];
    double *const to[2] = {lo, hi};
    rh_status rc = RH_OK;
    for (int k = 0; k < 2 && !rc; k++) {
        void *x = NULL;
        snprintf(name[k], sizeof name[k], "task/%s_%s", what, k ? "hi" : "lo");
        rc = rh_store__get(store, name[k], RH_STORE_F64, n, &x, NULL, err);
        if (!rc && n)
            memcpy(to[k], x, (size_t)n * sizeof *lo);
        rh_free(x);
    }
    for (int i = 0; i < n && !rc; i++)
        if (!isfinite(lo[i]) || !isfinite(hi[i]) || lo[i] > hi[i])
            rc = rh_store__refuse(store, name[0], err, "range %d is %g to %g", i, lo[i], hi[i]);
    return rc;
}

static rh_status read_task(rh_model *model, rh_store *store, rh_error *err)
{
    const rh_log *log = model->log;
    rh_task *t = &model->task;
    char **name = NULL;
    double *x = NULL;
    int n = 0;
    double got[4] = {-1.0, -1.0, NAN, -1.0}; // as write_task() orders them
    rh_status rc = rh_model_file__get_named(store, "task/number", &name, &x, &n, err);
    for (int i = 0; i < n && !rc; i++) {
        static const char *const known[] = {"continuing", "gamma", "reward_lo", "nstep"};
        for (int k = 0; k < 4; k++)
            if (strcmp(name[i], known[k]) == 0)
                got[k] = x[i];
    }
    if (!rc && (!(got[0] == 0.0 || got[0] == 1.0) || !(got[1] >= 0.0 && got[1] <= 1.0) ||
                isnan(got[2]) || !(got[3] >= 1.0 && got[3] <= MOST_STEPS)))
        rc = rh_store__refuse(store, "task/number", err,
                              "continuing %g, gamma %g, lowest reward %g, %g steps", got[0],
                              got[1], got[2], got[3]);
    rh_free((void *)name);
    rh_free(x);
    if (rc)
        return rc;

    t->nobs = log->nobs;
    t->naction = log->naction;
    t->nact = log->nact;
    t->continuing = got[0] == 1.0;
    t->gamma = got[1];
    t->reward_lo = got[2];
    t->nstep = (int64_t)got[3];
    for (int i = 0; i < log->nobs; i++)
        t->obs_name[i] = log->obs_name[i];
    rc = read_ranges(store, "obs", t->nobs, t->obs_lo, t->obs_hi, err);
    if (!rc)
        rc = read_ranges(store, "act", t->naction ? 0 : t->nact, t->act_lo, t->act_hi, err);
    return rc;
}

static rh_status read_codes(rh_model *model, rh_store *store, rh_error *err)
{
    void *code = NULL;
    int64_t n = model->log->nstate * rh_repr_ncode(model->repr);
    rh_status rc = rh_store__get(store, "code", RH_STORE_F32, n, &code, NULL, err);
    model->code = code;
    for (int64_t i = 0; i < n && !rc; i++)
        if (!isfinite(model->code[i]))
            rc = rh_store__refuse(store, "code", err, "number %lld is %g", (long long)i,
                                  (double)model->code[i]);
    return rc;
}

static rh_status read_repr(rh_model *model, rh_store *store, rh_error *err)
{
    rh_state *state = NULL;
    rh_error why;
    const rh_log *log = model->log;
    rh_status rc = rh_store__get_state(store, "repr", &state, err);
    if (!rc)
        rc = rh_model_file__pass(store, "repr", rh_repr_load(&model->repr, state, &why), &why,
                                 err);
    rh_state_destroy(state);
    if (rc)
        return rc;
    int nact = rh_repr_nact(model->repr);
    if (rh_repr_nobs(model->repr) != log->nobs || (nact && (log->naction || nact != log->nact)))
        return rh_store__refuse(
            store, "repr", err,
            "%d sensors and actions of %d numbers, expected those of the log",
            rh_repr_nobs(model->repr), nact);
    return nact ? RH_OK : read_codes(model, store, err);
}

static rh_status read_starts(rh_model *model, rh_store *store, rh_error *err)
{
    void *start = NULL;
    rh_status rc = rh_store__get(store, "start", RH_STORE_I32, -1, &start, &model->nstart, err);
    model->start = start;
    if (!rc && (model->nstart < 1 || model->nstart > INT32_MAX))
        rc = rh_store__refuse(store, "start", err, "%lld starts", (long long)model->nstart);
    for (int64_t i = 0; !rc && i < model->nstart; i++)
        if (model->start[i] < 0 || model->start[i] >= model->log->nstate)
            rc = rh_store__refuse(store, "start", err,
                                  "start %lld is state %d, expected 0 to %lld", (long long)i,
                                  model->start[i], (long long)model->log->nstate - 1);
    return rc;
}

static rh_status read_rest(rh_model *model, rh_store *store, rh_error *err)
{
    void *outcome = NULL, *origin = NULL;
    double resample = 0.0, nmember = 0.0;
    rh_status rc = rh_store__get(store, "outcome", RH_STORE_F64, 2, &outcome, NULL, err);
    const double *ends = outcome;
    if (!rc && !rh_base__all_finite(ends, 2))
        rc = rh_store__refuse(store, "outcome", err, "%g to %g", ends[0], ends[1]);
    if (!rc)
        rc = rh_store__get(store, "origin", RH_STORE_I64, 2, &origin, NULL, err);
    if (!rc)
        rc = rh_store__get_within(store, "resample", 0, RH_RESAMPLE_PARTS, &resample, err);
    if (!rc)
        rc = rh_store__get_within(store, "nmember", 1, RH_MAX_MEMBER, &nmember, err);
    if (!rc) {
        const int64_t *from = origin;
        model->lowest = ends[0];
        model->highest = ends[1];
        model->ndropped = from[0] > 0 ? from[0] : 0;
        memcpy(&model->fingerprint, &from[1], sizeof model->fingerprint);
        model->resample = (rh_resample)resample;
        model->nmember = (int)nmember;
    }
    rh_free(outcome);
    rh_free(origin);
    return rc;
}

static rh_status read_members(rh_model *model, rh_store *store, rh_error *err)
{
    rh_status rc = RH_OK;
    model->member = rh_alloc((size_t)model->nmember, sizeof *model->member);
    if (!model->member)
        return no_memory(store, err);
    for (int m = 0; m < model->nmember && !rc; m++) {
        go_within(store, m);
        rc = model->type->calls->read(&model->member[m], model, store, err);
    }
    rh_store__within(store, "");
    return rc;
}

static rh_status read_all(rh_model *model, rh_store *store, rh_error *err)
{
    rh_status rc = read_kind(model, store, err);
    if (!rc)
        rc = rh_model_file__read_log(store, &model->log, err);
    if (!rc)
        rc = read_task(model, store, err);
    if (!rc)
        rc = read_repr(model, store, err);
    if (!rc)
        rc = read_starts(model, store, err);
    if (!rc)
        rc = read_rest(model, store, err);
    if (!rc)
        rc = rh_facts__read(&model->facts, store, model->log->nobs, err);
    if (!rc)
        rc = read_members(model, store, err);
    if (!rc && rh_store__has(store, "fidelity"))
        rc = rh_model_file__read_fidelity(store, &model->fidelity, model->log, err);
    if (!rc && rh_store__has(store, "compared"))
        rc = rh_model_file__read_compared(store, &model->compared, err);
    return rc;
}

rh_status rh_model_file__read(rh_model **out, rh_store *store, rh_error *err)
{
    rh_model *model = rh_alloc(1, sizeof *model);
    rh_status rc = model ? read_all(model, store, err) : no_memory(store, err);
    if (!rc)
        rc = rh_store__fault(store, err);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

rh_status rh_model_read(rh_model **out, const char *path, rh_error *err)
{
    rh_store *store = NULL;
    rh_status rc = rh_store__open(&store, path, err);
    if (!rc)
        rc = rh_model_file__read(out, store, err);
    rh_store__close(store);
    return rc;
}
