// model.c - fitting, using and freeing a model: the part common to all kinds.
//
// 1. A model owns its log, because neighbours are transitions of the log and observations are
//    its rows. It shares one that is used as it is, and models fitted again share theirs: large
//    logs take most of the memory of a study. Codes are computed once for all members.
// 2. Several members fitted to all of the log are equal, so refused, unless fitting is random.

#include "model_internal.h"

#include "base/base.h"
#include "facts.h"
#include "fidelity.h"
#include "log/log.h"
#include "model.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

#define COOKIE 0x6d6f646cu

rh_model_options rh_model_defaults(void)
{
    return (rh_model_options){
        .nmember = 1,
        .resample = RH_RESAMPLE_ALL,
        .share = 0.9,
        .gamma = NAN,
        .episodes = RH_EPISODES_AUTO,
        .resets = RH_RESETS_AUTO,
        .seed = 1,
        .nthread = 1,
        .fidelity = true,
        .cookie = COOKIE,
    };
}

// ---------------------------------------------------------------------------- checks

static rh_status check_options(const rh_model_options *o, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "model: options must start from rh_model_defaults()");
    if (o->nmember < 1 || o->nmember > RH_MAX_MEMBER)
        return rh_fail(err, RH_EINVAL, "model: members = %d, expected 1 to %d", o->nmember,
                       RH_MAX_MEMBER);
    if (o->resample < RH_RESAMPLE_ALL || o->resample > RH_RESAMPLE_PARTS)
        return rh_fail(err, RH_EINVAL, "model: resample = %d, expected 0 to %d",
                       (int)o->resample, RH_RESAMPLE_PARTS);
    if (!(o->share > 0.0 && o->share <= 1.0))
        return rh_fail(err, RH_EINVAL, "model: share = %g, expected above 0 and at most 1",
                       o->share);
    if (!isnan(o->gamma) && !(o->gamma >= 0.0 && o->gamma <= 1.0))
        return rh_fail(err, RH_EINVAL, "model: gamma = %g, expected 0 to 1", o->gamma);
    if (o->episodes < RH_EPISODES_AUTO || o->episodes > RH_EPISODES_CONTINUE)
        return rh_fail(err, RH_EINVAL, "model: episodes = %d, expected 0 to %d",
                       (int)o->episodes, RH_EPISODES_CONTINUE);
    if (o->nthread < 1)
        return rh_fail(err, RH_EINVAL, "model: threads = %d, expected 1 or more", o->nthread);
    if (!o->obs_lo != !o->obs_hi)
        return rh_fail(err, RH_EINVAL,
                       "model: only one of obs_lo and obs_hi is set, expected both or neither");
    if (!o->act_lo != !o->act_hi)
        return rh_fail(err, RH_EINVAL,
                       "model: only one of act_lo and act_hi is set, expected both or neither");
    if (!o->limit_lo != !o->limit_hi)
        return rh_fail(err, RH_EINVAL,
                       "model: only one of limit_lo and limit_hi is set, expected both or "
                       "neither");
    if (o->resets < RH_RESETS_AUTO || o->resets > RH_RESETS_NONE)
        return rh_fail(err, RH_EINVAL, "model: resets = %d, expected 0 to %d", (int)o->resets,
                       RH_RESETS_NONE);
    return RH_OK;
}

static rh_status check_members(const rh_model_type *type, int64_t n, int64_t nepisode,
                               const rh_model_options *o, rh_error *err)
{
    static const char *const instead[] = {
        [RH_RESAMPLE_ALL] = "subsets or bootstraps",
        [RH_RESAMPLE_SUBSET] = "a smaller share",
        [RH_RESAMPLE_BOOTSTRAP] = "subsets, because the log has one episode",
        [RH_RESAMPLE_PARTS] = "",
    };
    if (o->nmember > 1 && !type->calls->random &&
        !rh_model__parts_differ(n, nepisode, o->resample, o->share))
        return rh_fail(err, RH_EINVAL,
                       "%s: %d members fitted to all of the log would be equal, expected %s",
                       type->name, o->nmember, instead[o->resample]);
    return RH_OK;
}

static rh_status check_repr(const rh_log *log, const rh_repr *repr, rh_error *err)
{
    const char *name = rh_repr_type_of(repr)->name;
    if (rh_repr__nobs(repr) != log->nobs)
        return rh_fail(err, RH_EINVAL, "%s: learned from %d sensors, expected %d as in the log",
                       name, rh_repr__nobs(repr), log->nobs);
    int nact = rh_repr__nact(repr);
    if (nact && log->naction)
        return rh_fail(
            err, RH_EINVAL,
            "%s: codes are of states and continuous actions, expected codes of states: "
            "the log has discrete actions",
            name);
    if (nact && nact != log->nact)
        return rh_fail(err, RH_EINVAL,
                       "%s: learned from actions of %d numbers, expected %d as in the log",
                       name, nact, log->nact);
    return RH_OK;
}

// ---------------------------------------------------------------------------- fitting

// The caller's watch, and which member is being fitted.
typedef struct watched {
    rh_watch watch;
    int member, nmember;
} watched;

static void report(void *context, const char *what, double share)
{
    const watched *w = context;
    w->watch.progress(w->watch.context, what, (w->member + share) / w->nmember);
}

static bool asked_to_stop(void *context)
{
    const watched *w = context;
    return w->watch.stop(w->watch.context);
}

// at: where the member is in the model.
static rh_status fit_member(rh_model *model, int at, int member, const rh_model_options *opt,
                            rh_error *err)
{
    int32_t *use = NULL;
    watched w = {.watch = opt->watch, .member = member, .nmember = opt->nmember};
    rh_model__part part = {.nthread = opt->nthread};
    part.watch.progress = opt->watch.progress ? report : NULL;
    part.watch.stop = opt->watch.stop ? asked_to_stop : NULL;
    part.watch.context = &w;
    part.rng = rh_rng_stream(opt->seed, RH_STREAM_FIT, 1 + (uint64_t)member, 0);

    rh_status rc =
        rh_model__draw_part(&use, &part.nuse, model->log, opt, member, &part.rng, err);
    if (!rc) {
        part.use = use;
        rc = model->type->calls->fit(&model->member[at], model, &part, err);
    }
    rh_free(use);
    return rc;
}

// The largest absolute value in a row.
static double largest(const rh_log *log, int64_t row)
{
    double most = 0.0;
    for (int k = 0; k < log->nobs; k++)
        most = fmax(most, fabs(log->obs[row * log->nobs + k]));
    return most;
}

static rh_status encode(rh_model *model, const rh_repr *repr, rh_error *err)
{
    rh_status rc = rh_repr__copy(&model->repr, repr, err);
    if (rc || rh_repr__nact(repr) > 0)
        return rc;
    int64_t n = model->log->nstate, d = rh_repr__ncode(repr);
    model->code = rh_alloc((size_t)n, (size_t)d * sizeof *model->code);
    if (!model->code)
        return rh_base__no_memory(err, "model");
    rc = rh_repr__encode(repr, n, model->log->obs, NULL, model->code, err);
    for (int64_t i = 0; !rc && i < n * d; i++)
        if (!isfinite(model->code[i]))
            rc = rh_fail(
                err, RH_EINVAL,
                "%s: the code of observation %lld is not finite; its sensors reach %g, "
                "expected values of a smaller scale",
                rh_repr_type_of(repr)->name, (long long)(i / d), largest(model->log, i / d));
    return rc;
}

static rh_status set_params(rh_model *model, const double *param, rh_error *err)
{
    const rh_model_type *type = model->type;
    model->param = rh_alloc((size_t)type->nparam, sizeof *model->param);
    if (!model->param)
        return rh_base__no_memory(err, type->name);
    rh_param_initial(type->param, type->nparam, model->param);
    for (int i = 0; param && i < type->nparam; i++)
        model->param[i] = param[i];
    return rh_param__check(type->param, type->nparam, type->name, model->param, err);
}

rh_status rh_model__add_members(rh_model *model, const rh_model_options *opt, int first, int n,
                                rh_error *err)
{
    model->resample = opt->resample;
    model->member = rh_alloc((size_t)n, sizeof *model->member);
    if (!model->member)
        return rh_fail(err, RH_ENOMEM, "model: out of memory for %d members", n);
    model->nmember = n;
    rh_status rc = RH_OK;
    for (int m = 0; !rc && m < n; m++)
        rc = fit_member(model, m, first + m, opt, err);
    if (rc || !opt->fidelity)
        return rc;
    return rh_fidelity__measure(&model->fidelity, model, opt->seed, opt->nthread, &opt->watch,
                                err);
}

// What a fit takes from a log.
typedef struct taken {
    double *more; // owned: starts of another log
    rh_model__usable usable;
    rh_task task;
    double lowest, highest;
} taken;

static rh_status check_limits(const rh_log *log, const rh_model_options *o, rh_error *err)
{
    for (int i = 0; o->limit_lo && i < log->nobs; i++)
        if (isinf(o->limit_lo[i]) || isinf(o->limit_hi[i]) || o->limit_lo[i] >= o->limit_hi[i])
            return rh_fail(err, RH_EINVAL,
                           "model: limits of sensor '%.40s' are %g and %g, expected finite "
                           "numbers, the first below the second",
                           log->obs_name[i], o->limit_lo[i], o->limit_hi[i]);
    return RH_OK;
}

// Check the options and the log, and find the facts of the log without copying it.
static rh_status examine(taken *f, const rh_model_type *type, const rh_log *log,
                         const rh_model_options *opt, rh_error *err)
{
    int64_t nmore = 0;
    rh_status rc = check_options(opt, err);
    if (!rc && opt->param)
        rc = rh_param__check(type->param, type->nparam, type->name, opt->param, err);
    if (!rc && opt->starts)
        rc = rh_model__gather_starts(&f->more, &nmore, log, opt->starts, err);
    if (!rc)
        rc = rh_model__survey(&f->usable, log, f->more, nmore, err);
    if (!rc)
        rc = check_members(type, f->usable.n, f->usable.nepisode, opt, err);
    if (!rc)
        rc = check_limits(log, opt, err);
    if (!rc)
        rc = rh_model__make_task(&f->task, &f->usable, opt, err);
    return rc ? rc : rh_model__find_outcomes(&f->lowest, &f->highest, log, &f->task, err);
}

rh_status rh_model__check(const rh_model_type *type, const rh_log *log,
                          const rh_model_options *opt, rh_error *err)
{
    rh_model_options defaults = rh_model_defaults();
    taken f = {0};
    rh_status rc = examine(&f, type, log, opt ? opt : &defaults, err);
    rh_free(f.more);
    return rc;
}

// Names belong to the log, so those of a copied task must be the copied log's.
static void set_task(rh_model *model, const rh_task *task)
{
    model->task = *task;
    for (int i = 0; i < model->log->nobs; i++)
        model->task.obs_name[i] = model->log->obs_name[i];
}

// Find the facts of a log, and its resets where nothing is marked.
static rh_status find_facts(rh_facts **out, rh_facts__resets *resets, const rh_log *log,
                            bool continuing, const rh_model_options *opt, rh_error *err)
{
    bool search = opt->resets == RH_RESETS_AUTO && continuing;
    for (int64_t i = 0; search && i < log->n; i++)
        search = !(log->flag[i] & RH_FLAG_TERMINAL);
    return rh_facts__find(out, resets, log, search, opt->limit_lo, opt->limit_hi, err);
}

rh_status rh_model__examine(rh_facts **out, const rh_log *log, const rh_model_options *opt,
                            rh_error *err)
{
    rh_model_options defaults = rh_model_defaults();
    rh_facts__resets resets = {0};
    rh_model__usable usable;
    opt = opt ? opt : &defaults;
    bool continuing = opt->task ? opt->task->continuing : opt->episodes != RH_EPISODES_END;
    rh_status rc = check_options(opt, err);
    if (!rc)
        rc = rh_model__survey(&usable, log, NULL, 0, err);
    if (!rc)
        rc = check_limits(log, opt, err);
    if (!rc)
        rc = find_facts(out, &resets, log, continuing, opt, err);
    rh_facts__clear_resets(&resets);
    return rc;
}

// Copy what is used of the log, and set all that needs no representation.
static rh_status take_log(rh_model *model, taken *f, const rh_model_options *opt,
                          const rh_model *like, rh_error *err)
{
    const rh_log *log = f->usable.log;
    rh_facts__resets resets = {0};
    rh_status rc = find_facts(&model->facts, &resets, log, f->task.continuing, opt, err);
    if (!rc)
        rc = rh_model__mark_resets(&f->usable, resets.at, resets.arrival, resets.n, err);
    if (!rc)
        rc = rh_model__clean(&model->log, &f->usable, err);
    rh_facts__clear_resets(&resets);
    if (rc)
        return rc;
    if (like && rh_log__same(like->log, model->log)) {
        rh_log_destroy(model->log);
        model->log = rh_log__share(like->log);
    }
    rc = rh_derive__create(&model->derive, model->log, err);
    if (rc)
        return rc;
    rh_model__add_margins(&f->task, model->facts, opt);
    if (!opt->task)
        rc = rh_model__choose_tiled(&f->task.tiled, model->log, &f->task, model->facts, err);
    if (rc)
        return rc;
    set_task(model, &f->task);
    rc = rh_prior__keep(model, opt->prior, err);
    if (rc)
        return rc;
    model->ndropped = log->n - f->usable.n;
    model->lowest = f->lowest;
    model->highest = f->highest;
    model->fingerprint = rh_log_fingerprint(log);
    rc = rh_failure__find(&model->failure, model->log, model->task.continuing,
                          model->task.prior, err);
    return rc ? rc : rh_model__find_starts(model, f->usable.nmore, err);
}

rh_status rh_model__prepare(rh_model **out, const rh_model_type *type, const rh_log *log,
                            const rh_repr *repr, const rh_model_options *opt,
                            const rh_model *like, rh_error *err)
{
    rh_model *model = NULL;
    taken f = {0};
    rh_status rc = check_repr(log, repr, err);
    if (!rc)
        rc = examine(&f, type, log, opt, err);
    if (!rc && log->setpoint_values == RH_SETPOINT_DRAWN && type != &rh_model_linear)
        rc = rh_fail(err, RH_EINVAL, "%s: cannot draw setpoints, expected the model linear",
                     type->name);
    if (rc)
        goto done;

    model = rh_alloc(1, sizeof *model);
    if (!model) {
        rc = rh_base__no_memory(err, "model");
        goto done;
    }
    model->type = type;
    rc = set_params(model, opt->param, err);
    if (!rc)
        rc = take_log(model, &f, opt, like, err);
    if (!rc)
        rc = encode(model, repr, err);
    if (rc)
        goto done;

    *out = model;
    model = NULL;

done:
    rh_model_destroy(model);
    rh_free(f.more);
    return rc;
}

rh_status rh_model_fit(rh_model **out, const rh_model_type *type, const rh_log *log,
                       const rh_repr *repr, const rh_model_options *opt, rh_error *err)
{
    rh_model *model = NULL;
    rh_model_options defaults = rh_model_defaults();
    opt = opt ? opt : &defaults;
    rh_status rc = rh_model__prepare(&model, type, log, repr, opt, NULL, err);
    if (!rc)
        rc = rh_model__add_members(model, opt, 0, opt->nmember, err);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

// Copy all but the log, which is shared, the members and their fidelity.
static rh_status copy_all_but_members(rh_model *to, const rh_model *from, rh_error *err)
{
    size_t nstart = (size_t)from->nstart, ncode = 0;
    to->type = from->type;
    to->log = rh_log__share(from->log);
    rh_status rc = set_params(to, from->param, err);
    if (!rc)
        rc = rh_repr__copy(&to->repr, from->repr, err);
    if (rc)
        return rc;
    set_task(to, &from->task);
    rc = rh_prior__keep(to, from->task.prior, err);
    if (rc)
        return rc;
    rc = rh_failure__make(&to->failure, from->failure, from->log->nobs, err);
    if (rc)
        return rc;
    if (from->code)
        ncode = (size_t)from->log->nstate * (size_t)rh_repr__ncode(from->repr);
    to->code = ncode ? rh_alloc(ncode, sizeof *to->code) : NULL;
    to->start = rh_alloc(nstart, sizeof *to->start);
    to->facts = rh_facts__copy(from->facts);
    if ((ncode && !to->code) || !to->start || !to->facts)
        return rh_base__no_memory(err, "model");
    if (ncode)
        memcpy(to->code, from->code, ncode * sizeof *to->code);
    memcpy(to->start, from->start, nstart * sizeof *to->start);
    to->nstart = from->nstart;
    to->lowest = from->lowest;
    to->highest = from->highest;
    to->ndropped = from->ndropped;
    to->fingerprint = from->fingerprint;
    if (!from->compared)
        return RH_OK;
    to->compared = rh_alloc(1, sizeof *to->compared);
    if (!to->compared)
        return rh_base__no_memory(err, "model");
    *to->compared = *from->compared;
    return RH_OK;
}

rh_status rh_model__shell(rh_model **out, const rh_model *from, rh_error *err)
{
    rh_model *model = rh_alloc(1, sizeof *model);
    if (!model)
        return rh_base__no_memory(err, "model");
    rh_status rc = copy_all_but_members(model, from, err);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

rh_status rh_model__refit(rh_model **out, const rh_model *from, const rh_model_options *opt,
                          rh_error *err)
{
    rh_model *model = NULL;
    rh_status rc = check_options(opt, err);
    if (!rc)
        rc = check_members(from->type, from->log->n, from->log->nepisode, opt, err);
    if (!rc)
        rc = rh_model__shell(&model, from, err);
    if (!rc)
        rc = rh_model__add_members(model, opt, 0, opt->nmember, err);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

void rh_model__drop_members(rh_model *model)
{
    for (int m = 0; model->member && m < model->nmember; m++)
        model->type->calls->destroy(model->member[m]);
    rh_free((void *)model->member);
    model->member = NULL;
    model->nmember = 0;
}

void rh_model_destroy(rh_model *model)
{
    if (!model)
        return;
    rh_model__drop_members(model);
    rh_fidelity__destroy(model->fidelity);
    rh_free(model->compared);
    rh_facts__destroy(model->facts);
    rh_derive__destroy(model->derive);
    rh_free(model->start);
    rh_free(model->code);
    rh_repr_destroy(model->repr);
    rh_failure__destroy(model->failure);
    rh_log_destroy(model->log);
    rh_free(model->prior);
    rh_free(model->param);
    rh_free(model);
}

// ---------------------------------------------------------------------------- using

rh_status rh_model_env(rh_env **out, const rh_model *model, int member, const double *param,
                       rh_error *err)
{
    const rh_model_type *type = model->type;
    if (member < 0 || member >= model->nmember)
        return rh_fail(err, RH_EINVAL, "model: member = %d, expected 0 to %d", member,
                       model->nmember - 1);
    param = param ? param : model->param;
    rh_status rc = rh_param__check(type->param, type->nparam, type->name, param, err);
    return rc ? rc : type->calls->env(out, model, model->member[member], param, err);
}

const rh_model_type *rh_model_type_of(const rh_model *model)
{
    return model->type;
}

const double *rh_model_params(const rh_model *model)
{
    return model->param;
}

int rh_model_nmember(const rh_model *model)
{
    return model->nmember;
}

rh_resample rh_model__resample(const rh_model *model)
{
    return model->resample;
}

const rh_log *rh_model_log(const rh_model *model)
{
    return model->log;
}

const rh_repr *rh_model_repr(const rh_model *model)
{
    return model->repr;
}

const rh_task *rh_model_task(const rh_model *model)
{
    return &model->task;
}

const rh_failure *rh_model__failure(const rh_model *model)
{
    return model->failure;
}

uint64_t rh_model__fingerprint(const rh_model *model)
{
    return model->fingerprint;
}

const rh_model_comparison *rh_model_compared(const rh_model *model)
{
    return model->compared;
}

const rh_fidelity *rh_model_fidelity(const rh_model *model)
{
    return model->fidelity;
}

const rh_facts *rh_model_facts(const rh_model *model)
{
    return model->facts;
}
