// fit.c - the models that agents run in during a study.
//
// The model of a study is kept in its folder, so a resumed study does not fit it again. It is
// used only after a trial was begun: otherwise it may belong to a study whose journal is gone.
//
// The confirmation fits models of several kinds, each to the same parts of the log. The journal
// keeps what these kinds are, so a resumed study fits the same ones.

#include "base/base.h"
#include "base/base_internal.h"
#include "core.h"
#include "model/model.h"
#include "study.h"

#include <string.h>

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
    opt.prior = study->prior;
    opt.nthread = study->opt.nthread;
    opt.watch = watch_of(study);
    return opt;
}

rh_status rh_study__check_fit(rh_study *study, rh_error *err)
{
    rh_fit_options opt = how_to_fit(study);
    return rh_plan_check_fit(study->plan, study->fitted, &opt, err);
}

// ---------------------------------------------------------------------------- fitting

// The model in the folder, if it is there and of this log.
static rh_model *kept_model(const rh_study *study)
{
    rh_model *model = NULL;
    if (rh_model_read(&model, study->model_path, NULL) != RH_OK)
        return NULL;
    if (rh_model__fingerprint(model) == rh_log_fingerprint(study->fitted))
        return model;
    rh_model_destroy(model);
    return NULL;
}

// Practise in a model of a log, of a long one's last steps, of the kind of `like`; prior: the
// rows of that log.
static rh_status practise(rh_study *study, const rh_model *like, const rh_log *log,
                          rh_prior *prior, rh_error *err)
{
    rh_fit_options how = how_to_fit(study);
    rh_model_options opt = rh_model_defaults();
    rh_kinds kinds = {.n = 0};
    rh_model *model = NULL;
    rh_log *recent = NULL;
    how.prior = *prior;
    rh_plan__fresh(study->plan, false, RH_RESAMPLE_SUBSET, &opt);
    opt.seed = study->plan->seed;
    opt.nmember = RH_STUDY__PRACTISED;
    progress(study, "practising in a model", 0.0);
    rh_status rc = rh_prior__recent(&recent, log, err);
    log = recent ? recent : log;
    if (log->nepisode > 1) // one episode is the same however often it is drawn
        opt.resample = RH_RESAMPLE_BOOTSTRAP;
    if (!rc)
        rc = rh_kinds__begin(&kinds, like, err);
    if (!rc)
        rc = rh_plan__fit_kind(&model, study->plan, &kinds.kind[0], like, log, &how, &opt, err);
    if (!rc)
        rc = rh_study__practise(study, model, prior, err);
    rh_model_destroy(model);
    rh_log_destroy(recent);
    return rc;
}

// Whether an agent begins with what was practised.
static bool from_model(const rh_study *study, const rh_trial *trial)
{
    int at = rh_plan__start_param(study->plan->agents.type[trial->agent]);
    return at >= 0 && trial->hp[at] == RH_START_MODEL;
}

rh_status rh_study__prepare_start(rh_study *study, rh_error *err)
{
    const rh_verdict *v = rh_study_verdict(study);
    if (!v)
        return rh_base__no_memory(err, "study");
    if (!study->log || !study->head.start.n || v->winner < 0)
        return RH_OK;
    bool needed = from_model(study, &v->trial[v->winner]) ||
                  from_model(study, &v->trial[rh_study__judged(v)]);
    for (int i = 0; i < v->ntied; i++) // `deploy --switch` tries them
        needed = needed || from_model(study, &v->trial[v->tied[i]]);
    if (!needed || !study->prior.npractice)
        return RH_OK;
    if (study->opt.folder && rh_study__recall_start(study))
        return RH_OK;
    return practise(study, rh_study__model(study), study->log, &study->head.start, err);
}

// Fit the model and keep it.
static rh_status fit(rh_study *study, rh_model **out, rh_error *err)
{
    rh_fit_options opt = how_to_fit(study);
    rh_model *model = NULL;
    rh_status rc = rh_plan_fit(&model, study->plan, study->fitted, &opt, err);
    if (!rc && study->rest && study->plan->practice > 0 &&
        rh_plan__practising(study->plan) >= 0) {
        rc = practise(study, model, study->rest, &study->prior, err);
        if (!rc)
            rc = rh_prior__keep(model, study->prior, err);
    }
    if (!rc && study->journal)
        rc = rh_journal__check_place(study->journal, err);
    if (!rc && study->model_path) {
        rh_study__drop_link(study->model_path);
        rc = rh_model_write(model, study->model_path, err);
    }
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

// What agents begin with, from the model in the folder: it has the practice.
static rh_status recall_practice(rh_study *study, rh_model *model, rh_error *err)
{
    const rh_task *task = rh_model_task(model);
    rh_prior kept = task->prior;
    size_t width = (size_t)rh_contract__prior_width(task->nobs, task->nact);
    size_t size = (size_t)(kept.n + kept.npractice) * width * sizeof *kept.row;
    if (!kept.npractice)
        return RH_OK;
    double *row = rh_alloc(size, 1);
    if (!row) {
        rh_model_destroy(model);
        return rh_base__no_memory(err, "study");
    }
    memcpy(row, kept.row, size);
    rh_free((void *)(uintptr_t)study->prior.row);
    study->prior = (rh_prior){kept.n, row, kept.npractice};
    return RH_OK;
}

// ---------------------------------------------------------------------------- kinds of model

// The kinds of a new study: those that the plan wants. A given model stands alone.
static rh_status choose_kinds(rh_study *study, rh_error *err)
{
    const rh_model *model = rh_study__model(study);
    rh_status rc = rh_kinds__begin(&study->kinds, model, err);
    if (rc || !study->log)
        return rc;
    return rh_kinds__add_wanted(&study->kinds, study->plan->confirm_kinds, model, err);
}

// The kinds of a study that has begun. Its journal decides, and its model must still be of the
// first of them.
static rh_status recall_kinds(rh_study *study, rh_error *err)
{
    rh_kinds now = {.n = 0};
    rh_status rc = rh_kinds__begin(&now, rh_study__model(study), err);
    if (!rc)
        rc = rh_journal__kinds(study->journal, &study->kinds, err);
    if (rc)
        return rc;
    if (study->kinds.n == 0) // written before there were kinds
        study->kinds = now;
    if (strcmp(study->kinds.kind[0].label, now.kind[0].label) != 0)
        return rh_fail(err, RH_EINVAL,
                       "study.log: the study has a %.31s model, this one is %.31s; use another "
                       "folder",
                       study->kinds.kind[0].label, now.kind[0].label);
    return RH_OK;
}

static rh_status find_kinds(rh_study *study, rh_error *err)
{
    bool begun = study->journal && rh_journal__ntrial(study->journal) > 0;
    rh_status rc = begun ? recall_kinds(study, err) : choose_kinds(study, err);
    int most = study->kinds.n * study->plan->confirm_members;
    if (!rc && most > RH_MAX_MEMBER)
        rc = rh_fail(err, RH_EINVAL,
                     "confirm.members = %d in each of %d kinds of model, expected at most %d "
                     "in all",
                     study->plan->confirm_members, study->kinds.n, RH_MAX_MEMBER);
    if (!rc && study->journal)
        rh_journal__set_kinds(study->journal, &study->kinds);
    return rc;
}

rh_status rh_study__fit(rh_study *study, const rh_model *given, rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_SEARCH];
    rh_model *model = NULL;
    rh_status rc = RH_OK;
    if (given) {
        rc = rh_members__open(members, given, err);
        return rc ? rc : find_kinds(study, err);
    }
    if (study->journal && rh_journal__ntrial(study->journal) > 0)
        model = kept_model(study);
    if (!model)
        rc = fit(study, &model, err);
    else
        rc = recall_practice(study, model, err);
    if (!rc)
        rc = rh_members__own(members, model, err);
    return rc ? rc : find_kinds(study, err);
}

// ---------------------------------------------------------------------------- the confirmation

int rh_study__round(const rh_study *study)
{
    int all = rh_study__nconfirm(study), most = study->plan->confirm_members;
    int64_t n = study->at_once / rh_model_log(rh_study__model(study))->n;
    if (n >= all || !rh_workers__alone(study->workers))
        return all;
    return n < 1 ? 1 : n < most ? (int)n : most;
}

static rh_model_options parts_of(rh_study *study)
{
    const rh_plan *plan = study->plan;
    const rh_model *first = rh_study__model(study);
    rh_model_options opt = rh_model_defaults();
    rh_plan__fresh(plan, rh_model_nmember(first) > 1, rh_model__resample(first), &opt);
    opt.seed = plan->seed + RH_STUDY__FRESH;
    opt.nthread = study->opt.nthread;
    opt.watch = watch_of(study);
    return opt;
}

// Keep a model of a kind without members, to fit some after others. The search's model is one
// of the first kind.
static rh_status keep_shell(rh_study *study, int kind, const rh_model_options *opt,
                            rh_error *err)
{
    if (kind == 0 || (study->shell && study->shell_kind == kind))
        return RH_OK;
    rh_fit_options how = how_to_fit(study);
    rh_model_destroy(study->shell);
    study->shell = NULL;
    study->shell_kind = kind;
    return rh_plan__prepare_kind(&study->shell, study->plan, &study->kinds.kind[kind],
                                 rh_study__model(study), study->fitted, &how, opt, err);
}

// Members first .. first + n - 1 of a kind, each fitted to another part of the log.
static rh_status fit_parts(rh_study *study, int kind, int first, int n, rh_model **out,
                           rh_error *err)
{
    rh_model_options opt = parts_of(study);
    rh_model *model = NULL;
    rh_status rc = RH_OK;
    if (kind == 0 && n == opt.nmember)
        return rh_model__refit(out, rh_study__model(study), &opt, err);
    rc = keep_shell(study, kind, &opt, err);
    if (rc)
        return rc;
    if (kind > 0 && n == opt.nmember) { // it is needed no more
        model = study->shell;
        study->shell = NULL;
    } else
        rc = rh_model__shell(&model, kind ? study->shell : rh_study__model(study), err);
    if (!rc)
        rc = rh_model__add_members(model, &opt, first, n, err);
    if (rc)
        rh_model_destroy(model);
    else
        *out = model;
    return rc;
}

rh_status rh_study__fit_fresh(rh_study *study, int first, int n, rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_CONFIRM];
    int each = study->plan->confirm_members;
    rh_status rc = RH_OK;
    rh_members__clear(members);
    members->first = first;
    for (int at = first, many; at < first + n && !rc; at += many) {
        rh_model *model = NULL;
        int left = first + n - at;
        many = each - at % each < left ? each - at % each : left;
        rc = fit_parts(study, at / each, at % each, many, &model, err);
        if (!rc)
            rc = rh_members__own(members, model, err);
    }
    return rc;
}

rh_status rh_study__time_fit(rh_study *study, double *seconds, rh_error *err)
{
    double begun = rh_study__now();
    rh_status rc = RH_OK;
    for (int k = 0; k < study->kinds.n && !rc; k++) {
        rh_model *model = NULL;
        rc = fit_parts(study, k, 0, 1, &model, err);
        rh_model_destroy(model);
    }
    *seconds = rh_study__now() - begun;
    return rc;
}

// ---------------------------------------------------------------------------- the check

rh_status rh_study__fit_halves(rh_study *study, rh_model **out, rh_error *err)
{
    rh_model_options opt = rh_model_defaults();
    opt.nmember = 2;
    opt.resample = RH_RESAMPLE_PARTS;
    opt.seed = study->plan->seed + RH_STUDY__CHECK;
    opt.fidelity = false;
    opt.nthread = study->opt.nthread;
    opt.watch = watch_of(study);
    return rh_model__refit(out, rh_study__model(study), &opt, err);
}

rh_status rh_study__fit_other(rh_study *study, const rh_kinds__kind *kind, rh_model **out,
                              rh_error *err)
{
    rh_model_options opt = rh_model_defaults();
    rh_fit_options how = how_to_fit(study);
    opt.seed = study->plan->seed + RH_STUDY__CHECK;
    return rh_plan__fit_kind(out, study->plan, kind, rh_study__model(study), study->fitted,
                             &how, &opt, err);
}
