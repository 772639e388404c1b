// fit.c - the models that agents live in, as the plan has them.
//
// 1. The model of a study is kept in its folder, so that a study that goes on does not fit it
//    again. It is only believed when a trial was begun: then it is this plan's, and not one
//    that was left by a study whose journal is gone.
// 2. The confirmation is in models that the search has not seen: each is fitted to another part
//    of the log, with the same representation. Where the search run in parts of the log
//    already, the parts are drawn in the same manner; otherwise each is nine tenths of the
//    steps.
// 3. What only depends on the log is refused before a representation is learned, which may take
//    long.

#include "core.h"

#include <math.h>
#include <string.h>

#define CONFIRM_SHARE 0.9

// What a fit needs for as long as it lasts.
typedef struct fitting {
    rh_model_options opt;
    rh_env *task_env; // owned
    rh_task task;     //
    double *lo, *hi;  // of the sensors, owned  (nobs)
    rh_repr *repr;    // owned
} fitting;

static void clear(fitting *f)
{
    rh_env_destroy(f->task_env);
    rh_repr_destroy(f->repr);
    rh_free(f->lo);
    rh_free(f->hi);
}

// ---------------------------------------------------------------------------- watching

static void progress(void *context, const char *what, double share)
{
    rh_study *study = context;
    rh_study_progress progress = {
        .stage = RH_STAGE_FIT, .what = what, .fraction = share, .best = -1};
    if (study->opt.progress)
        study->opt.progress(study->opt.context, &progress);
}

static bool stop(void *context)
{
    rh_study *study = context;
    return study->opt.stop && study->opt.stop(study->opt.context);
}

static rh_watch watch_of(rh_study *study)
{
    return (rh_watch){progress, stop, study};
}

// ---------------------------------------------------------------------------- the options

static rh_status read_ranges(fitting *f, const rh_plan *plan, const rh_log *log, rh_error *err)
{
    if (!plan->nrange)
        return RH_OK;
    f->lo = rh_alloc((size_t)log->nobs, sizeof *f->lo);
    f->hi = rh_alloc((size_t)log->nobs, sizeof *f->hi);
    if (!f->lo || !f->hi)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    for (int i = 0; i < log->nobs; i++)
        f->lo[i] = f->hi[i] = NAN;
    for (int k = 0; k < plan->nrange; k++) {
        int at = -1;
        for (int i = 0; i < log->nobs && at < 0; i++)
            at = strcmp(log->obs_name[i], plan->range[k].sensor) == 0 ? i : -1;
        if (at < 0) {
            char what[160];
            snprintf(what, sizeof what, "%.100s: no sensor", rh_path_tail(log->path));
            return rh_unknown(err, what, plan->range[k].sensor, log->obs_name, log->nobs);
        }
        f->lo[at] = plan->range[k].lo;
        f->hi[at] = plan->range[k].hi;
    }
    f->opt.obs_lo = f->lo;
    f->opt.obs_hi = f->hi;
    return RH_OK;
}

static rh_status read_task(fitting *f, const rh_plan *plan, rh_error *err)
{
    if (!plan->task_of)
        return RH_OK;
    rh_status rc = rh_env_create(&f->task_env, plan->task_of, plan->task_opt, err);
    if (rc)
        return rc;
    f->task = *rh_env_task(f->task_env);
    if (!isnan(plan->gamma))
        f->task.gamma = plan->gamma;
    if (plan->episodes != RH_EPISODES_AUTO)
        f->task.continuing = plan->episodes == RH_EPISODES_CONTINUE;
    f->opt.task = &f->task;
    return RH_OK;
}

static rh_status prepare(fitting *f, rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_log *log = study->log;
    f->opt = rh_model_defaults();
    f->opt.param = plan->model_param;
    f->opt.nmember = plan->nmember;
    f->opt.resample = plan->resample;
    f->opt.share = plan->share;
    f->opt.gamma = plan->gamma;
    f->opt.episodes = plan->episodes;
    f->opt.starts = study->starts;
    f->opt.seed = plan->seed;
    f->opt.nthread = study->opt.nthread;
    f->opt.watch = watch_of(study);
    rh_status rc = read_task(f, plan, err);
    if (!rc)
        rc = read_ranges(f, plan, log, err);
    return rc ? rc : rh_model_check(plan->model, log, &f->opt, err);
}

// What those of the confirmation are fitted to. parts: so are the models of the search.
static void set_fresh(rh_model_options *opt, const rh_plan *plan, bool parts,
                      rh_resample resample)
{
    opt->nmember = plan->confirm_members;
    opt->resample = parts ? resample : RH_RESAMPLE_SUBSET;
    opt->share = parts ? plan->share : CONFIRM_SHARE;
    opt->fidelity = false;
}

rh_status rh_study__check_fit(rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    fitting f = {0};
    rh_status rc = prepare(&f, study, err);
    if (!rc && plan->confirm_settings > 0) {
        rh_error why;
        set_fresh(&f.opt, plan, plan->nmember > 1, plan->resample);
        rc = rh_model_check(plan->model, study->log, &f.opt, &why);
        if (rc)
            rh_fail(err, rc, "confirm: %.400s; or none (confirm: false)", why.text);
    }
    clear(&f);
    return rc;
}

// ---------------------------------------------------------------------------- fitting

static rh_status learn(fitting *f, rh_study *study, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_log *log = study->log;
    rh_repr_options opt = rh_repr_defaults();
    opt.param = plan->repr_param;
    opt.actions = plan->joint;
    opt.seed = plan->seed;
    opt.watch = f->opt.watch;
    if (!plan->repr)
        return rh_repr_choose(&f->repr, NULL, NULL, log, &opt, study->opt.nthread, err);

    // a log without order is seen as it is, unless something else was asked for
    const rh_repr_type *type = plan->repr;
    if (type->ordered && log->n <= log->nepisode && !plan->repr_given) {
        type = rh_repr_find("raw", err);
        opt.param = NULL;
        if (!type)
            return RH_EINVAL;
    }
    return rh_repr_fit(&f->repr, type, log, &opt, err);
}

// The model in the folder, if it is there and of this log.
static rh_model *kept_model(const rh_study *study)
{
    rh_model *model = NULL;
    if (rh_model_read(&model, study->model_path, NULL) != RH_OK)
        return NULL;
    if (rh_model_fingerprint(model) == rh_log_fingerprint(study->log))
        return model;
    rh_model_destroy(model);
    return NULL;
}

// Fit the model and keep it.
static rh_status fit(rh_study *study, rh_model **out, rh_error *err)
{
    fitting f = {0};
    rh_model *model = NULL;
    rh_status rc = prepare(&f, study, err);
    if (!rc)
        rc = learn(&f, study, err);
    if (!rc)
        rc = rh_model_fit(&model, study->plan->model, study->log, f.repr, &f.opt, err);
    if (!rc && study->model_path)
        rc = rh_model_write(model, study->model_path, err);
    clear(&f);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

rh_status rh_study__fit(rh_study *study, const rh_model *given, rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_SEARCH];
    rh_status rc = RH_OK;
    if (given)
        return rh_members__open(members, given, err);
    if (study->journal && rh_journal__ntrial(study->journal) > 0)
        members->owned = kept_model(study);
    if (!members->owned)
        rc = fit(study, &members->owned, err);
    return rc ? rc : rh_members__open(members, members->owned, err);
}

static rh_status refit(rh_study *study, int nmember, rh_model **out, rh_error *err)
{
    const rh_plan *plan = study->plan;
    const rh_model *first = study->members[RH_STAGE_SEARCH].model;
    bool parts = rh_model_nmember(first) > 1;
    rh_model_options opt = rh_model_defaults();
    set_fresh(&opt, plan, parts, rh_model_resample(first));
    opt.nmember = nmember;
    opt.seed = plan->seed + RH_STUDY__FRESH;
    opt.nthread = study->opt.nthread;
    opt.watch = watch_of(study);
    return rh_model_refit(out, first, &opt, err);
}

rh_status rh_study__fit_fresh(rh_study *study, rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_CONFIRM];
    rh_status rc = refit(study, study->plan->confirm_members, &members->owned, err);
    return rc ? rc : rh_members__open(members, members->owned, err);
}

rh_status rh_study__time_fit(rh_study *study, double *seconds, rh_error *err)
{
    rh_model *model = NULL;
    double begun = rh_study__now();
    rh_status rc = refit(study, 1, &model, err);
    *seconds = rh_study__now() - begun;
    rh_model_destroy(model);
    return rc;
}
