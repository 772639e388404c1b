// fit.c - the models that agents run in during a study.
//
// The model of a study is kept in its folder, so a resumed study does not fit it again. It is
// used only after a trial was begun: otherwise it may belong to a study whose journal is gone.

#include "core.h"

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

static rh_fit_options how_to_fit(rh_study *study)
{
    rh_fit_options opt = rh_fit_defaults();
    opt.starts = study->starts;
    opt.nthread = study->opt.nthread;
    opt.watch = watch_of(study);
    return opt;
}

rh_status rh_study__check_fit(rh_study *study, rh_error *err)
{
    rh_fit_options opt = how_to_fit(study);
    return rh_plan_check_fit(study->plan, study->log, &opt, err);
}

// ---------------------------------------------------------------------------- fitting

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
    rh_fit_options opt = how_to_fit(study);
    rh_model *model = NULL;
    rh_status rc = rh_plan_fit(&model, study->plan, study->log, &opt, err);
    if (!rc && study->model_path)
        rc = rh_model_write(model, study->model_path, err);
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
    rh_plan__fresh(plan, parts, rh_model_resample(first), &opt);
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
