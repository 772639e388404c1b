// repr.c - learning, copying and using representations: the part common to all kinds.
//
// 1. A representation does not change when used, so any number of threads may share it.
// 2. A row gives the same bits alone, in a block and on any instruction set with fused
//    multiply-add, because a network does.
// 3. An input with a missing number, or one that overflows a float, gives a code of NANs.

#include "repr.h"
#include "base/base.h"
#include "repr_internal.h"

#include <math.h>
#include <string.h>

#define COOKIE 0x72657072u
#define ROWS 256 // per block
#define LINE 16  // floats of a cache line

rh_rng rh_repr__chance(uint64_t seed, rh_repr__stream what)
{
    return rh_rng_stream(seed, RH_STREAM_FIT, 0, (uint64_t)what);
}

// ---------------------------------------------------------------------------- making

rh_status rh_repr__make(rh_repr **out, const rh_repr_type *type, int nobs, int nact,
                        rh_error *err)
{
    size_t nin = (size_t)nobs + (size_t)nact;
    rh_repr *repr = rh_alloc(1, sizeof *repr);
    if (!repr)
        goto full;
    repr->type = type;
    repr->nobs = nobs;
    repr->nact = nact;
    repr->training = (rh_repr__training){.loss = NAN, .awareness = NAN, .held_out = NAN};
    repr->param = rh_alloc((size_t)type->nparam, sizeof *repr->param);
    repr->centre = rh_alloc(nin, sizeof *repr->centre);
    repr->factor = rh_alloc(nin, sizeof *repr->factor);
    repr->period = rh_alloc((size_t)nobs, sizeof *repr->period);
    repr->base = rh_alloc((size_t)nobs, sizeof *repr->base);
    if (!repr->param || !repr->centre || !repr->factor || !repr->period || !repr->base)
        goto full;
    *out = repr;
    return RH_OK;

full:
    rh_repr_destroy(repr);
    rh_base__no_memory(err, type->name);
    return RH_ENOMEM;
}

rh_status rh_repr__network(rh_repr *repr, int ncode, int hidden, unsigned flags, uint64_t seed,
                           rh_error *err)
{
    rh_rng rng = rh_repr__chance(seed, RH_CHANCE_WEIGHTS);
    int size[4] = {rh_repr__ninput(repr), hidden, hidden, ncode};
    repr->ncode = ncode;
    return rh_mlp__create(&repr->mlp, size, 4, flags, &rng, err);
}

void rh_repr_destroy(rh_repr *repr)
{
    if (!repr)
        return;
    rh_free(repr->param);
    rh_free(repr->centre);
    rh_free(repr->factor);
    rh_free(repr->period);
    rh_free(repr->base);
    rh_mlp__destroy(repr->mlp);
    rh_free(repr);
}

rh_status rh_repr__copy(rh_repr **out, const rh_repr *repr, rh_error *err)
{
    rh_repr *same = NULL;
    rh_status rc = rh_repr__make(&same, repr->type, repr->nobs, repr->nact, err);
    if (!rc && repr->mlp)
        rc = rh_mlp__clone(&same->mlp, repr->mlp, err);
    if (rc) {
        rh_repr_destroy(same);
        return rc;
    }
    size_t nin = (size_t)repr->nobs + (size_t)repr->nact;
    memcpy(same->param, repr->param, (size_t)repr->type->nparam * sizeof *same->param);
    memcpy(same->centre, repr->centre, nin * sizeof *same->centre);
    memcpy(same->factor, repr->factor, nin * sizeof *same->factor);
    rh_repr__bend(same, repr->period, repr->base, repr->nobs);
    same->ncode = repr->ncode;
    same->training = repr->training;
    *out = same;
    return RH_OK;
}

// ---------------------------------------------------------------------------- learning

rh_repr_options rh_repr_defaults(void)
{
    return (rh_repr_options){.seed = 1, .cookie = COOKIE};
}

rh_status rh_repr__check(const rh_log *log, const rh_repr_options *opt, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL,
                       "representation: options must start from rh_repr_defaults()");
    if (opt->actions && log->naction > 0)
        return rh_fail(
            err, RH_EINVAL,
            "representation: the log has %d discrete actions, expected continuous ones "
            "for codes of state and action",
            log->naction);
    for (int i = 0; opt->period && i < log->nobs; i++)
        if (!isnan(opt->period[i]) &&
            !(opt->period[i] > 0.0 && isfinite(opt->period[i]) && isfinite(opt->base[i])))
            return rh_fail(err, RH_EINVAL,
                           "representation: sensor %d with period %g and base %g, expected a "
                           "finite period above 0 and a finite base",
                           i + 1, opt->period[i], opt->base[i]);
    return RH_OK;
}

// The awareness of the steps it was learned from.
static rh_status judge(rh_repr *repr, const rh_repr_work *work, rh_error *err)
{
    rh_repr__aware aware;
    rh_status rc = rh_repr__awareness(&aware, repr, work->log, work->use, work->seed, err);
    if (!rc)
        repr->training.awareness = aware.value;
    return rc;
}

rh_status rh_repr_fit(rh_repr **out, const rh_repr_type *type, const rh_log *log,
                      const rh_repr_options *opt, rh_error *err)
{
    rh_repr_options usual = rh_repr_defaults();
    opt = opt ? opt : &usual;
    rh_repr *repr = NULL;
    rh_status rc = rh_repr__check(log, opt, err);
    if (rc)
        goto done;
    rc = rh_repr__make(&repr, type, log->nobs, opt->actions ? log->nact : 0, err);
    if (rc)
        goto done;

    if (opt->param)
        memcpy(repr->param, opt->param, (size_t)type->nparam * sizeof *repr->param);
    else
        rh_param_initial(type->param, type->nparam, repr->param);
    rc = rh_param__check(type->param, type->nparam, type->name, repr->param, err);
    if (rc)
        goto done;

    rh_repr_work work = {
        .log = log,
        .param = repr->param,
        .use = opt->use,
        .period = opt->period,
        .base = opt->base,
        .seed = opt->seed,
        .watch = &opt->watch,
    };
    rh_repr__bend(repr, work.period, work.base, repr->nobs);
    rc = type->fit(repr, &work, err);
    if (!rc)
        rc = judge(repr, &work, err);

done:
    if (rc)
        rh_repr_destroy(repr);
    else
        *out = repr;
    return rc;
}

// ---------------------------------------------------------------------------- using

const rh_repr_type *rh_repr_type_of(const rh_repr *repr)
{
    return repr->type;
}

const double *rh_repr__params(const rh_repr *repr)
{
    return repr->param;
}

int rh_repr__nobs(const rh_repr *repr)
{
    return repr->nobs;
}

int rh_repr__nact(const rh_repr *repr)
{
    return repr->nact;
}

int rh_repr__ncode(const rh_repr *repr)
{
    return repr->ncode;
}

rh_repr__training rh_repr__trained(const rh_repr *repr)
{
    return repr->training;
}

// All NANs unless input and code are finite.
static void seal(float *code, int n, bool whole)
{
    for (int i = 0; i < n; i++)
        whole = whole && isfinite(code[i]);
    for (int i = 0; !whole && i < n; i++)
        code[i] = NAN;
}

rh_status rh_repr__encode(const rh_repr *repr, int64_t n, const double *obs, const double *act,
                          float *code, rh_error *err)
{
    rh_mlp__pass *pass = NULL;
    rh_status rc = RH_OK;
    int nin = rh_repr__ninput(repr), ncode = repr->ncode;
    float *x = rh_alloc(ROWS * (size_t)nin, sizeof *x);
    if (!x) {
        rc = rh_fail(err, RH_ENOMEM, "%s: out of memory for codes", repr->type->name);
        goto done;
    }
    if (repr->mlp)
        rc = rh_mlp__pass_create(&pass, repr->mlp, ROWS, err);
    if (rc)
        goto done;

    for (int64_t i = 0; i < n; i += ROWS) {
        int rows = n - i < ROWS ? (int)(n - i) : ROWS;
        bool whole[ROWS];
        for (int k = 0; k < rows; k++)
            whole[k] =
                rh_repr__input(repr, obs + (i + k) * repr->nobs,
                               repr->nact ? act + (i + k) * repr->nact : NULL, x + k * nin);
        float *to = code + i * ncode;
        if (repr->mlp)
            rh_mlp__forward(repr->mlp, pass, rows, x, to);
        else
            memcpy(to, x, (size_t)(rows * nin) * sizeof *x);
        for (int k = 0; k < rows; k++)
            seal(to + k * ncode, ncode, whole[k]);
    }

done:
    rh_mlp__pass_destroy(pass);
    rh_free(x);
    return rc;
}

// Floats of the scaled inputs, in whole cache lines.
static size_t input_room(const rh_repr *repr)
{
    return (size_t)(rh_repr__ninput(repr) + LINE - 1) / LINE * LINE;
}

size_t rh_repr__nscratch(const rh_repr *repr)
{
    return input_room(repr) + (repr->mlp ? rh_mlp__nscratch(repr->mlp) : 0);
}

void rh_repr__encode_one(const rh_repr *repr, const double *obs, const double *act,
                         float *scratch, float *code)
{
    bool whole = rh_repr__input(repr, obs, act, scratch);
    if (repr->mlp)
        rh_mlp__single(repr->mlp, scratch + input_room(repr), scratch, code);
    else
        memcpy(code, scratch, (size_t)repr->ncode * sizeof *code);
    seal(code, repr->ncode, whole);
}
