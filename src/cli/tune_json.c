// tune_json.c - a study in JSON.

#include "cli_internal.h"

#include <math.h>

static void json_searched(cli_json *json, const rh_plan *plan, const double *hp)
{
    cli_json_open(json, "parameters", '{', true);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        int k = rh_plan_param(plan, d, NULL);
        cli_json_param(json, &rh_plan_agent(plan)->param[k], hp[k]);
    }
    cli_json_close(json);
}

// The score in every kind of model.
static void json_kinds(cli_json *json, const rh_verdict *v, const rh_trial *t)
{
    cli_json_open(json, "kinds", '[', true);
    for (int k = 0; k < t->nkind; k++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "kind", v->kind[k]);
        cli_json_real(json, "score", t->kind[k].value);
        cli_json_real(json, "lo95", t->kind[k].lo95);
        cli_json_real(json, "hi95", t->kind[k].hi95);
        cli_json_real(json, "regret", t->kind[k].regret);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_trial(cli_json *json, const char *key, const rh_plan *plan,
                       const rh_verdict *v, const rh_trial *t)
{
    static const char *const state[] = {[RH_SETTING_OPEN] = "open",
                                        [RH_SETTING_DONE] = "done",
                                        [RH_SETTING_DROPPED] = "dropped"};
    int64_t nfinished = 0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        nfinished += t->result[i].outcome != RH_STOPPED;
    cli_json_open(json, key, '{', true);
    cli_json_whole(json, "setting", t->setting);
    cli_json_text(json, "stage", t->confirm ? "confirm" : "search");
    cli_json_text(json, "state", state[t->state]);
    json_searched(json, plan, t->hp);
    cli_json_real(json, "score", t->value);
    cli_json_real(json, "lo95", t->lo95);
    cli_json_real(json, "hi95", t->hi95);
    cli_json_whole(json, "members", t->nmember);
    cli_json_whole(json, "finished_runs", nfinished);
    cli_json_real(json, "out_of_coverage", t->out_of_coverage);
    cli_json_whole(json, "diverged", t->ndiverged);
    json_kinds(json, v, t);
    cli_json_close(json);
}

static void json_log(cli_json *json, const cli_tuning *tune)
{
    const rh_log *log = tune->model ? rh_model_log(tune->model) : tune->log.log;
    cli_json_open(json, "log", '{', false);
    cli_log_json(json, log, tune->model ? rh_plan_text(tune->plan, "data") : log->path);
    cli_json_fingerprint(json, rh_study_model(tune->study));
    cli_json_text(json, "starts", tune->starts.log ? tune->starts.log->path : NULL);
    cli_json_close(json);
}

// Every key of the study file.
void cli_tune_json_plan(cli_json *json, const rh_plan *plan)
{
    const char *key, *value;
    bool open;
    cli_json_open(json, "plan", '{', false);
    for (int i = 0; rh_plan_entry(plan, i, &key, &value, &open); i++)
        cli_json_text(json, key, value);
    cli_json_close(json);
}

static void json_winner(cli_json *json, const rh_plan *plan, const rh_verdict *v)
{
    if (v->winner < 0) {
        cli_json_null(json, "winner");
        cli_json_null(json, "hyperparameters");
        cli_json_null(json, "curve");
        cli_json_null(json, "winner_in_search");
        cli_json_null(json, "best_in_search");
        return;
    }
    const rh_trial *t = &v->trial[v->winner];
    json_trial(json, "winner", plan, v, t);
    cli_json_params(json, "hyperparameters", rh_plan_agent(plan)->param,
                    rh_plan_agent(plan)->nparam, t->hp, NULL);
    cli_json_reals(json, "curve", t->curve,
                   t->curve ? (int)rh_plan_number(plan, "evaluation.curve") : 0);
    json_trial(json, "winner_in_search", plan, v, &v->trial[v->winner_search]);
    json_trial(json, "best_in_search", plan, v, &v->trial[v->search_best]);
}

static void json_reference(cli_json *json, const char *key, const rh_reference *r)
{
    cli_json_open(json, key, '{', true);
    cli_json_real(json, "score", r->score);
    cli_json_real(json, "lo95", r->lo95);
    cli_json_real(json, "hi95", r->hi95);
    cli_json_close(json);
}

// The unit of all scores, what to compare the winner's with, and its rare failures.
static void json_scale(cli_json *json, const rh_verdict *v)
{
    cli_json_text(json, "score_per", v->per_steps ? "steps" : "episode");
    if (v->per_steps)
        cli_json_whole(json, "score_steps", v->per_steps);
    else
        cli_json_null(json, "score_steps");
    json_reference(json, "logged", &v->logged);
    json_reference(json, "random", &v->random);
    cli_json_open(json, "rare_failures", '{', true);
    cli_json_whole(json, "runs", v->rare.n);
    cli_json_real(json, "mean_score", v->rare.score);
    cli_json_real(json, "median_of_all", v->rare.usual);
    cli_json_close(json);
    cli_json_open(json, "transfer", '{', true);
    cli_json_whole(json, "agents", v->transfer.n);
    cli_json_real(json, "same_model", v->transfer.same);
    cli_json_real(json, "other_model", v->transfer.other);
    cli_json_real(json, "lost", v->transfer.lost);
    cli_json_real(json, "share", v->transfer.share);
    cli_json_close(json);
}

static void json_importance(cli_json *json, const rh_plan *plan, const rh_verdict *v)
{
    static const char *const end[] = {"lower", NULL, "upper"};
    cli_json_open(json, "importance", '{', false);
    cli_json_text(json, "method",
                  !v->importance.known  ? NULL
                  : v->importance.exact ? "analysis_of_variance"
                                        : "gaussian_process");
    cli_json_open(json, "parameters", '[', false);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name",
                      rh_plan_agent(plan)->param[rh_plan_param(plan, d, NULL)].name);
        cli_json_real(json, "main_effect", v->importance.known ? v->importance.alone[d] : NAN);
        cli_json_real(json, "total_effect", v->importance.known ? v->importance.total[d] : NAN);
        cli_json_text(json, "at_bound", v->winner >= 0 ? end[v->bound[d] + 1] : NULL);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

static void json_trials(cli_json *json, const rh_plan *plan, const rh_verdict *v, bool page)
{
    int shown = page && v->ntied > CLI_PAGE_TIED ? CLI_PAGE_TIED : v->ntied;
    cli_json_open(json, "tied", '[', false);
    for (int i = 0; i < shown; i++)
        json_trial(json, NULL, plan, v, &v->trial[v->tied[i]]);
    cli_json_close(json);
    if (page)
        return;
    cli_json_open(json, "trials", '[', false);
    for (int i = 0; i < v->ntrial; i++)
        json_trial(json, NULL, plan, v, &v->trial[i]);
    cli_json_close(json);
}

static void json_range(cli_json *json, const char *name, double lo, double hi)
{
    cli_json_open(json, NULL, '{', true);
    cli_json_text(json, "name", name);
    cli_json_real(json, "lo", lo);
    cli_json_real(json, "hi", hi);
    cli_json_close(json);
}

// What to log next; `collect --advice` reads it.
static void json_next(cli_json *json, const rh_verdict *v, const rh_log *log)
{
    cli_json_open(json, "log_next", '[', false);
    for (int i = 0; i < v->nnext; i++) {
        const rh_next *row = &v->next[i];
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "action", row->what);
        if (row->action < 0) {
            cli_json_open(json, "action_ranges", '[', true);
            for (int k = 0; k < log->nact; k++)
                json_range(json, log->act_name[k], row->act_lo[k], row->act_hi[k]);
            cli_json_close(json);
        }
        cli_json_open(json, "sensors", '[', true);
        for (int k = 0; k < row->nside; k++)
            json_range(json, log->obs_name[row->side[k].sensor], row->side[k].lo,
                       row->side[k].hi);
        cli_json_close(json);
        cli_json_whole(json, "steps", row->steps);
        cli_json_text(json, "why", row->why);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_trust(cli_json *json, const rh_verdict *v, const rh_log *log)
{
    cli_json_open(json, "trust", '{', false);
    cli_json_text(json, "level", rh_trust_name(v->trust.level));
    cli_json_real(json, "probability", v->trust.probability);
    cli_json_open(json, "reasons", '[', false);
    for (int i = 0; i < v->trust.nreason; i++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "id", v->trust.reason[i].id);
        cli_json_flag(json, "good", v->trust.reason[i].good);
        cli_json_text(json, "text", v->trust.reason[i].text);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_open(json, "evidence", '[', false);
    for (int i = 0; i < RH_NEVIDENCE; i++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name", v->trust.evidence[i].name);
        cli_json_real(json, "value", v->trust.evidence[i].value);
        cli_json_text(json, "about", v->trust.evidence[i].about);
        cli_json_close(json);
    }
    cli_json_close(json);
    json_next(json, v, log);
    cli_json_close(json);
}

void cli_tune_json_keys(cli_json *json, const cli_tuning *tune, bool page)
{
    const rh_verdict *v = tune->verdict;
    const rh_fidelity *f = rh_model_fidelity(rh_study_model(tune->study));
    cli_json_text(json, "version", rh_version());
    cli_json_text(json, "study", tune->folder);
    cli_json_flag(json, "finished", v->finished);
    json_log(json, tune);
    cli_json_text(json, "agent", rh_plan_agent(tune->plan)->name);
    json_winner(json, tune->plan, v);
    cli_json_real(json, "optimism", v->optimism);
    json_scale(json, v);
    json_trust(json, v, rh_model_log(rh_study_model(tune->study)));
    json_importance(json, tune->plan, v);
    json_trials(json, tune->plan, v, page);
    cli_findings_json(json, v->findings.item, v->findings.n, NULL);
    cli_json_open(json, "model", '{', false);
    cli_findings_json(json, f ? f->findings.item : NULL, f ? f->findings.n : 0,
                      rh_model_log(rh_study_model(tune->study)));
    cli_json_close(json);
    cli_tune_json_plan(json, tune->plan);
    cli_json_whole(json, "runs", v->nrun);
    cli_json_whole(json, "steps", v->nstep);
    if (page)
        return;
    cli_json_whole(json, "resumed_runs", v->nrun_resumed);
    cli_json_real(json, "seconds", v->seconds);
}

void cli_tune_json(FILE *out, const cli_tuning *tune)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{', false);
    cli_tune_json_keys(&json, tune, false);
    cli_json_close(&json);
}
