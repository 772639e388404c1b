// file_log.c - the log of a model in the model's file.
//
// 1. Rows keep their numbers, because the model's tables refer to states and steps by row.
// 2. rh_log_copy() refuses inconsistent arrays. Missing and infinite numbers are refused here.

#include "describe/field.h"
#include "file.h"
#include "log/log.h"

#include <math.h>

enum { NSHAPE = 6, NCOUNT = 6 };

// The arrays log/shape and log/counts, in order.
#define AT(member) RH_FIELD__AT(rh_log, member)
static const struct {
    rh_field size;
    int64_t least, most;
} shape[NSHAPE] = {
    {{"transitions", AT(n)}, 1, INT32_MAX},
    {{"states", AT(nstate)}, 1, INT32_MAX},
    {{"episodes", AT(nepisode)}, 1, INT32_MAX},
    {{"sensors", AT(nobs)}, 1, RH_MAX_OBS},
    {{"actions", AT(naction)}, 0, RH_MAX_ACTIONS},
    {{"numbers of an action", AT(nact)}, 1, RH_MAX_ACT},
};
#undef AT

#define AT(member) RH_FIELD__AT(rh_log, reading.member)
static const rh_field count[NCOUNT] = {
    {"rows", AT(nrow)},        {"lost", AT(nlost)}, {"incomplete", AT(nincomplete)},
    {"missing", AT(nmissing)}, {"gaps", AT(ngap)},  {"mismatches", AT(nmismatch)},
};
#undef AT

// ---------------------------------------------------------------------------- writing

static void write_names(rh_store *store, const rh_log *log)
{
    const rh_log_reading *r = &log->reading;
    const int64_t stack = log->stack, values = log->setpoint_values;
    int64_t counts[NCOUNT];
    for (int i = 0; i < NCOUNT; i++)
        counts[i] = (int64_t)rh_field__number(&count[i], (const char *)log + count[i].at);
    rh_store__put_texts(store, "log/obs_name", log->obs_name, log->nobs);
    rh_store__put_texts(store, "log/obs_unit", log->obs_unit, log->nobs);
    rh_store__put_texts(store, "log/act_name", log->act_name, log->nact);
    if (log->naction)
        rh_store__put_texts(store, "log/label", log->label, log->naction);
    rh_store__put_text(store, "log/reward_name", log->reward_name);
    if (log->reward_formula)
        rh_store__put_text(store, "log/reward_formula", log->reward_formula);
    if (log->terminal_reward != 0.0)
        rh_store__put(store, "log/terminal_reward", RH_STATE_F64, &log->terminal_reward, 1);
    if (log->failure)
        rh_store__put_text(store, "log/failure", log->failure);
    if (log->derive)
        rh_store__put_text(store, "log/derive", log->derive);
    if (log->setpoint)
        rh_store__put_text(store, "log/setpoint", log->setpoint);
    if (log->setpoint_values)
        rh_store__put(store, "log/setpoint_values", RH_STATE_I64, &values, 1);
    if (log->stack > 1)
        rh_store__put(store, "log/stack", RH_STATE_I64, &stack, 1);
    rh_store__put_text(store, "log/path", log->path);
    rh_store__put_text(store, "log/format", r->format ? r->format : "");
    rh_store__put(store, "log/counts", RH_STATE_I64, counts, NCOUNT);
    rh_store__put_texts(store, "log/notes", r->note, r->nnote);
}

void rh_model_file__write_log(rh_store *store, const rh_log *log)
{
    int64_t sizes[NSHAPE];
    for (int i = 0; i < NSHAPE; i++)
        sizes[i] =
            (int64_t)rh_field__number(&shape[i].size, (const char *)log + shape[i].size.at);
    rh_store__put(store, "log/shape", RH_STATE_I64, sizes, NSHAPE);
    rh_store__lend(store, "log/obs", RH_STATE_F64, log->obs, log->nstate * log->nobs);
    rh_store__lend(store, "log/from", RH_STATE_I32, log->from, log->n);
    rh_store__lend(store, "log/to", RH_STATE_I32, log->to, log->n);
    rh_store__lend(store, "log/act", RH_STATE_F64, log->act, log->n * log->nact);
    rh_store__lend(store, "log/reward", RH_STATE_F64, log->reward, log->n);
    rh_store__lend(store, "log/flag", RH_STATE_U8, log->flag, log->n);
    rh_store__lend(store, "log/first", RH_STATE_I64, log->first, (int64_t)log->nepisode + 1);
    rh_store__lend(store, "log/start", RH_STATE_U8, log->start, log->nepisode);
    if (log->time)
        rh_store__lend(store, "log/time", RH_STATE_F64, log->time, log->n);
    write_names(store, log);
}

// ---------------------------------------------------------------------------- reading

// An array of the log that rh_log_copy() reads only.
static void *look(rh_store *store, const char *name, rh_state__type type, int64_t n)
{
    return (void *)(uintptr_t)rh_store__look(store, name, type, n, NULL);
}

// Read the sizes and check that no product of them overflows; rh_log_copy() checks the rest.
static void read_shape(rh_store *store, rh_log *log)
{
    int64_t sizes[NSHAPE] = {0};
    rh_store__copy(store, "log/shape", RH_STATE_I64, NSHAPE, sizes);
    for (int i = 0; i < NSHAPE && !store->rc; i++) {
        const rh_field *f = &shape[i].size;
        if (sizes[i] < shape[i].least || sizes[i] > shape[i].most ||
            !rh_field__set(f, (char *)log + f->at, (double)sizes[i]))
            rh_store__refuse(store, "log/shape", "%lld %s", (long long)sizes[i], f->name);
    }
}

static void read_arrays(rh_store *store, rh_log *log)
{
    int64_t n = log->n;
    log->obs = look(store, "log/obs", RH_STATE_F64, log->nstate * log->nobs);
    log->from = look(store, "log/from", RH_STATE_I32, n);
    log->to = look(store, "log/to", RH_STATE_I32, n);
    log->act = look(store, "log/act", RH_STATE_F64, n * log->nact);
    log->reward = look(store, "log/reward", RH_STATE_F64, n);
    log->flag = look(store, "log/flag", RH_STATE_U8, n);
    log->first = look(store, "log/first", RH_STATE_I64, (int64_t)log->nepisode + 1);
    log->start = look(store, "log/start", RH_STATE_U8, log->nepisode);
    if (rh_store__has(store, "log/time"))
        log->time = look(store, "log/time", RH_STATE_F64, n);
}

static const char *optional_text(rh_store *store, const char *name)
{
    return rh_store__has(store, name) ? rh_store__text(store, name) : NULL;
}

static void read_reading(rh_store *store, rh_log *log)
{
    int64_t stack = 1, values = RH_SETPOINT_LOGGED, counts[NCOUNT] = {0};
    if (rh_store__has(store, "log/stack")) {
        rh_store__copy(store, "log/stack", RH_STATE_I64, 1, &stack);
        if (!store->rc && (stack < 2 || stack > RH_MAX_OBS))
            rh_store__refuse(store, "log/stack", "%lld", (long long)stack);
    }
    if (rh_store__has(store, "log/setpoint_values")) {
        rh_store__copy(store, "log/setpoint_values", RH_STATE_I64, 1, &values);
        if (!store->rc && (values < RH_SETPOINT_LOGGED || values > RH_SETPOINT_DRAWN))
            rh_store__refuse(store, "log/setpoint_values", "%lld", (long long)values);
    }
    if (rh_store__has(store, "log/terminal_reward")) {
        rh_store__copy(store, "log/terminal_reward", RH_STATE_F64, 1, &log->terminal_reward);
        if (!store->rc && !isfinite(log->terminal_reward))
            rh_store__refuse(store, "log/terminal_reward", "%g", log->terminal_reward);
    }
    rh_store__copy(store, "log/counts", RH_STATE_I64, NCOUNT, counts);
    for (int i = 0; i < NCOUNT; i++)
        if (!rh_field__set(&count[i], (char *)log + count[i].at, (double)counts[i]))
            rh_store__refuse(store, "log/counts", "%lld", (long long)counts[i]);
    log->stack = store->rc ? 1 : (int)stack;
    log->setpoint_values = store->rc ? RH_SETPOINT_LOGGED : (rh_setpoint_values)values;
}

static void check_finite(rh_store *store, const char *name, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n && !store->rc; i++)
        if (!isfinite(x[i]))
            rh_store__refuse(store, name, "number %lld is %g", (long long)i, x[i]);
}

rh_log *rh_model_file__read_log(rh_store *store)
{
    enum { OBS, UNIT, ACT, LABEL, NOTE, NTEXTS };
    rh_log log = {0}, *out = NULL;
    rh_error why;
    read_shape(store, &log);
    read_arrays(store, &log);
    read_reading(store, &log);
    log.reward_name = rh_store__text(store, "log/reward_name");
    log.reward_formula = optional_text(store, "log/reward_formula");
    log.failure = optional_text(store, "log/failure");
    log.derive = optional_text(store, "log/derive");
    log.setpoint = optional_text(store, "log/setpoint");
    log.path = rh_store__text(store, "log/path");
    log.reading.format = rh_store__text(store, "log/format");
    const char **text[NTEXTS] = {
        [OBS] = rh_store__texts(store, "log/obs_name", log.nobs, NULL),
        [UNIT] = rh_store__texts(store, "log/obs_unit", log.nobs, NULL),
        [ACT] = rh_store__texts(store, "log/act_name", log.nact, NULL),
        [LABEL] = log.naction ? rh_store__texts(store, "log/label", log.naction, NULL) : NULL,
        [NOTE] = rh_store__texts(store, "log/notes", -1, &log.reading.nnote)};
    log.obs_name = text[OBS];
    log.obs_unit = text[UNIT];
    log.act_name = text[ACT];
    log.label = text[LABEL];
    log.reading.note = text[NOTE];

    check_finite(store, "log/obs", log.obs, log.nstate * log.nobs);
    check_finite(store, "log/act", log.act, log.n * log.nact);
    check_finite(store, "log/reward", log.reward, log.n);
    if (!store->rc)
        rh_store__pass(store, "log", rh_log_copy(&out, &log, &why), &why);
    for (int i = 0; i < NTEXTS; i++)
        rh_free((void *)text[i]);
    return out;
}
