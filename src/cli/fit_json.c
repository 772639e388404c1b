// fit_json.c - a fitted model in JSON.

#include "cli_internal.h"

static void json_log(cli_json *json, const cli_fitting *fit)
{
    const rh_log *log = fit->log.log, *used = rh_model_log(fit->model);
    cli_json_open(json, "log", '{', false);
    cli_log_json(json, log, log->path);
    cli_json_fingerprint(json, fit->model);
    cli_json_whole(json, "excluded_steps", log->n - used->n);
    cli_json_whole(json, "states", used->nstate);
    cli_json_text(json, "starts", fit->starts.log ? fit->starts.log->path : NULL);
    cli_json_close(json);
}

static void json_task(cli_json *json, const cli_fitting *fit)
{
    const rh_task *task = rh_model_task(fit->model);
    cli_json_open(json, "task", '{', false);
    cli_json_text(json, "env", rh_plan_task(fit->plan) ? rh_plan_task(fit->plan)->name : NULL);
    cli_json_flag(json, "continuing", task->continuing);
    cli_json_real(json, "gamma", task->gamma);
    cli_json_whole(json, "steps", task->nstep);
    cli_json_sensors(json, task);
    cli_json_close(json);
}

static void json_repr(cli_json *json, const cli_fitting *fit)
{
    const rh_repr *repr = rh_model_repr(fit->model);
    const rh_repr_type *type = rh_repr_kind(repr);
    rh_repr_training t = rh_repr_trained(repr);
    cli_json_open(json, "representation", '{', false);
    cli_json_text(json, "kind", type->name);
    cli_json_params(json, "parameters", type->param, type->nparam, rh_repr_params(repr), NULL);
    cli_json_whole(json, "dimensions", rh_repr_ncode(repr));
    cli_json_flag(json, "joint", rh_repr_nact(repr) > 0);
    cli_json_whole(json, "training_steps", t.nstep);
    cli_json_flag(json, "stopped_early", t.early);
    cli_json_real(json, "loss", t.loss);
    cli_json_real(json, "awareness", t.awareness);
    cli_json_real(json, "awareness_held_out", t.held_out);
    cli_json_open(json, "compared", '[', false);
    for (int i = 0; i < fit->ntrial; i++) {
        const rh_repr_trial *trial = &fit->trial[i];
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "kind", trial->type->name);
        cli_json_params(json, "parameters", trial->type->param, trial->type->nparam,
                        trial->param, NULL);
        cli_json_real(json, "awareness", trial->awareness);
        cli_json_real(json, "stderr", trial->awareness_err);
        cli_json_real(json, "blur", trial->blur);
        cli_json_flag(json, "chosen", trial->chosen);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

static void json_model(cli_json *json, const cli_fitting *fit)
{
    const rh_model_type *type = rh_model_kind(fit->model);
    const char *name[CLI_MAX_NAMES];
    cli_key_names("model.resample", name);
    cli_json_open(json, "model", '{', false);
    cli_json_text(json, "kind", type->name);
    cli_json_params(json, "parameters", type->param, type->nparam, rh_model_params(fit->model),
                    NULL);
    cli_json_whole(json, "members", rh_model_nmember(fit->model));
    cli_json_text(json, "resample", name[rh_model_resample(fit->model)]);
    if (rh_model_resample(fit->model) == RH_RESAMPLE_SUBSET)
        cli_json_real(json, "share", rh_plan_real(fit->plan, "model.share"));
    else
        cli_json_null(json, "share");
    cli_json_whole(json, "seed", rh_plan_number(fit->plan, "seed"));
    cli_json_close(json);
}

// ---------------------------------------------------------------------------- fidelity

static void json_error(cli_json *json, const char *key, const char *name,
                       const rh_fidelity_error *e)
{
    cli_json_open(json, key, '{', true);
    if (name)
        cli_json_text(json, "name", name);
    cli_json_real(json, "model", e->model);
    cli_json_real(json, "mean", e->mean);
    cli_json_real(json, "persistence", e->persistence);
    cli_json_close(json);
}

static void json_held_out(cli_json *json, const rh_fidelity *f, const rh_log *log)
{
    cli_json_open(json, "held_out", '{', false);
    cli_json_whole(json, "steps", f->nheld);
    cli_json_whole(json, "folds", f->nfold);
    cli_json_real(json, "out_of_coverage", f->held_out_of_coverage);
    json_error(json, "representation", NULL, &f->state);
    json_error(json, "reward", NULL, &f->reward);
    json_error(json, "termination", NULL, &f->terminal);
    cli_json_open(json, "sensors", '[', false);
    for (int i = 0; i < log->nobs; i++)
        json_error(json, NULL, log->obs_name[i], &f->sensor[i]);
    cli_json_close(json);
    cli_json_close(json);
}

static void json_simulated(cli_json *json, const rh_fidelity *f)
{
    cli_json_spread(json, "logged_return", &f->logged_return);
    cli_json_spread(json, "simulated_return", &f->simulated_return);
    cli_json_spread(json, "logged_length", &f->logged_length);
    cli_json_spread(json, "simulated_length", &f->simulated_length);
    cli_json_real(json, "logged_truncated", f->logged_truncated);
    cli_json_real(json, "simulated_truncated", f->simulated_truncated);
    cli_json_whole(json, "cutoff", f->cutoff);
    cli_json_real(json, "stitched", f->stitched);
    cli_json_real(json, "jump_median", f->jump);
    cli_json_real(json, "jump_q90", f->jump90);
    cli_json_real(json, "random_jump_median", f->random_jump);
    cli_json_real(json, "random_return", f->random_return);
    cli_json_real(json, "random_better", f->random_better);
    cli_json_real(json, "logged_better", f->logged_better);
    cli_json_real(json, "random_steps", f->random_steps);
}

static void json_fidelity(cli_json *json, const rh_fidelity *f, const rh_log *log)
{
    cli_json_open(json, "fidelity", '{', false);
    json_held_out(json, f, log);
    json_simulated(json, f);
    cli_json_real(json, "reach", f->reach); // null: none
    cli_json_real(json, "median_step", f->step);
    cli_json_real(json, "out_of_coverage", f->out_of_coverage);
    cli_json_open(json, "actions", '[', false);
    for (int a = 0; a < log->naction; a++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name", log->label[a]);
        cli_json_real(json, "share", f->action[a].share);
        cli_json_real(json, "out_of_coverage", f->action[a].out_of_coverage);
        cli_json_real(json, "nearest", f->action[a].nearest);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_findings_json(json, f->findings.item, f->findings.n, log);
    cli_json_close(json);
}

void cli_fidelity_json(cli_json *json, const rh_model *model)
{
    const rh_fidelity *f = rh_model_fidelity(model);
    if (f)
        json_fidelity(json, f, rh_model_log(model));
    else
        cli_json_null(json, "fidelity");
}

void cli_fit_json(FILE *out, const cli_fitting *fit)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{', false);
    cli_json_text(&json, "version", rh_version());
    cli_json_text(&json, "file", fit->output);
    cli_json_whole(&json, "bytes", fit->size);
    json_log(&json, fit);
    json_task(&json, fit);
    cli_facts_json(&json, rh_model_log(fit->model), rh_model_facts(fit->model));
    json_repr(&json, fit);
    json_model(&json, fit);
    cli_compared_json(&json, rh_model_compared(fit->model));
    cli_fidelity_json(&json, fit->model);
    cli_json_real(&json, "seconds", fit->seconds);
    cli_json_close(&json);
}
