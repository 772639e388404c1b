// fit_json.c - a fitted model in JSON.

#include "cli_internal.h"
#include "model/model.h"
#include "repr/repr.h"
#include "study/study.h"

static void json_log(rh_doc *json, const cli_fitting *fit)
{
    const rh_log *log = fit->log.log, *used = rh_model_log(fit->model);
    rh_doc__open(json, "log", '{', false);
    cli_log_json(json, log, log->path);
    cli_json_fingerprint(json, fit->model);
    rh_doc__whole(json, "excluded_steps", log->n - used->n);
    rh_doc__whole(json, "states", used->nstate);
    rh_doc__text(json, "starts", fit->starts.log ? fit->starts.log->path : NULL);
    cli_findings_json(json, fit->report->findings.item, fit->report->findings.n, log);
    rh_doc__close(json);
}

static void json_task(rh_doc *json, const cli_fitting *fit)
{
    const rh_task *task = rh_model_task(fit->model);
    rh_doc__open(json, "task", '{', false);
    rh_doc__text(json, "env", rh_plan__task(fit->plan) ? rh_plan__task(fit->plan)->name : NULL);
    rh_doc__flag(json, "continuing", task->continuing);
    rh_doc__real(json, "gamma", task->gamma);
    rh_doc__whole(json, "steps", task->nstep);
    cli_json_sensors(json, task);
    rh_doc__close(json);
}

static void json_repr(rh_doc *json, const cli_fitting *fit)
{
    const rh_repr *repr = rh_model_repr(fit->model);
    const rh_repr_type *type = rh_repr_type_of(repr);
    rh_repr__training t = rh_repr__trained(repr);
    rh_doc__open(json, "representation", '{', false);
    rh_doc__text(json, "kind", type->name);
    rh_doc__params(json, "parameters", type->param, type->nparam, rh_repr__params(repr), NULL);
    rh_doc__whole(json, "dimensions", rh_repr__ncode(repr));
    rh_doc__flag(json, "joint", rh_repr__nact(repr) > 0);
    rh_doc__whole(json, "training_steps", t.nstep);
    rh_doc__flag(json, "stopped_early", t.early);
    rh_doc__real(json, "loss", t.loss);
    rh_doc__real(json, "awareness", t.awareness);
    rh_doc__real(json, "awareness_held_out", t.held_out);
    rh_doc__open(json, "compared", '[', false);
    for (int i = 0; i < fit->ntrial; i++) {
        const rh_repr_trial *trial = &fit->trial[i];
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "kind", trial->type->name);
        rh_doc__params(json, "parameters", trial->type->param, trial->type->nparam,
                       trial->param, NULL);
        rh_doc__real(json, "awareness", trial->awareness);
        rh_doc__real(json, "stderr", trial->awareness_err);
        rh_doc__real(json, "blur", trial->blur);
        rh_doc__flag(json, "chosen", trial->chosen);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__close(json);
}

static void json_model(rh_doc *json, const cli_fitting *fit)
{
    const rh_model_type *type = rh_model_type_of(fit->model);
    rh_doc__open(json, "model", '{', false);
    rh_doc__text(json, "kind", type->name);
    rh_doc__params(json, "parameters", type->param, type->nparam, rh_model_params(fit->model),
                   NULL);
    rh_doc__whole(json, "members", rh_model_nmember(fit->model));
    rh_doc__text(json, "resample",
                 cli_plan_word("model.resample", (int)rh_model__resample(fit->model)));
    if (rh_model__resample(fit->model) == RH_RESAMPLE_SUBSET)
        rh_doc__real(json, "share", rh_plan__real(fit->plan, "model.share"));
    else
        rh_doc__null(json, "share");
    rh_doc__whole(json, "seed", rh_plan_number(fit->plan, "seed"));
    rh_text reward = {0};
    bool fitted = rh_model__reward_words(&reward, fit->model);
    rh_doc__text(json, "reward", fitted && !reward.bad ? reward.data : NULL);
    rh_text__clear(&reward);
    rh_doc__close(json);
}

void cli_fit_json(FILE *out, const cli_fitting *fit)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "version", rh_version());
    rh_doc__text(&json, "file", fit->output);
    rh_doc__whole(&json, "bytes", fit->size);
    json_log(&json, fit);
    json_task(&json, fit);
    rh_names names = rh_log_names(rh_model_log(fit->model));
    rh_field__write(&json, "facts", rh_facts_fields(), rh_model_facts(fit->model), &names);
    json_repr(&json, fit);
    json_model(&json, fit);
    rh_field__write(&json, "compared_models", rh_comparison_fields(),
                    rh_model_compared(fit->model), NULL);
    rh_field__write(&json, "fidelity", rh_fidelity_fields(), rh_model_fidelity(fit->model),
                    &names);
    rh_doc__real(&json, "seconds", fit->seconds);
    rh_doc__close(&json);
}
