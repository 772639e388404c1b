// tune_json.c - a study in JSON.

#include "cli_internal.h"

#include <math.h>

static void json_searched(rh_doc *json, const rh_plan *plan, const double *hp)
{
    rh_doc__open(json, "parameters", '{', true);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        int k = rh_plan_param(plan, d, NULL);
        rh_doc__param(json, &rh_plan_agent(plan)->param[k], hp[k]);
    }
    rh_doc__close(json);
}

// The score in every kind of model.
static void json_kinds(rh_doc *json, const rh_verdict *v, const rh_trial *t)
{
    rh_doc__open(json, "kinds", '[', true);
    for (int k = 0; k < t->nkind; k++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "kind", v->kind[k]);
        rh_doc__real(json, "score", t->kind[k].value);
        rh_doc__real(json, "lo95", t->kind[k].lo95);
        rh_doc__real(json, "hi95", t->kind[k].hi95);
        rh_doc__real(json, "regret", t->kind[k].regret);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_trial(rh_doc *json, const char *key, const rh_plan *plan, const rh_verdict *v,
                       const rh_trial *t)
{
    static const char *const state[] = {[RH_SETTING_OPEN] = "open",
                                        [RH_SETTING_DONE] = "done",
                                        [RH_SETTING_DROPPED] = "dropped"};
    int64_t nfinished = 0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        nfinished += t->result[i].outcome != RH_STOPPED;
    rh_doc__open(json, key, '{', true);
    rh_doc__whole(json, "setting", t->setting);
    rh_doc__text(json, "stage", t->confirm ? "confirm" : "search");
    rh_doc__text(json, "state", state[t->state]);
    json_searched(json, plan, t->hp);
    rh_doc__real(json, "score", t->value);
    rh_doc__real(json, "lo95", t->lo95);
    rh_doc__real(json, "hi95", t->hi95);
    rh_doc__whole(json, "members", t->nmember);
    rh_doc__whole(json, "finished_runs", nfinished);
    rh_doc__real(json, "out_of_coverage", t->out_of_coverage);
    rh_doc__whole(json, "diverged", t->ndiverged);
    json_kinds(json, v, t);
    rh_doc__close(json);
}

static void json_log(rh_doc *json, const cli_tuning *tune)
{
    const rh_log *log = tune->model ? rh_model_log(tune->model) : tune->log.log;
    rh_doc__open(json, "log", '{', false);
    cli_log_json(json, log, tune->model ? rh_plan_text(tune->plan, "data") : log->path);
    cli_json_fingerprint(json, rh_study_model(tune->study));
    rh_doc__text(json, "starts", tune->starts.log ? tune->starts.log->path : NULL);
    rh_doc__close(json);
}

// Every key of the study file.
void cli_tune_json_plan(rh_doc *json, const rh_plan *plan)
{
    const char *key, *value;
    bool open;
    rh_doc__open(json, "plan", '{', false);
    for (int i = 0; rh_plan_entry(plan, i, &key, &value, &open); i++)
        rh_doc__text(json, key, value);
    rh_doc__close(json);
}

static void json_winner(rh_doc *json, const rh_plan *plan, const rh_verdict *v)
{
    if (v->winner < 0) {
        rh_doc__null(json, "winner");
        rh_doc__null(json, "hyperparameters");
        rh_doc__null(json, "curve");
        rh_doc__null(json, "winner_in_search");
        rh_doc__null(json, "best_in_search");
        return;
    }
    const rh_trial *t = &v->trial[v->winner];
    json_trial(json, "winner", plan, v, t);
    rh_doc__params(json, "hyperparameters", rh_plan_agent(plan)->param,
                   rh_plan_agent(plan)->nparam, t->hp, NULL);
    rh_doc__reals(json, "curve", t->curve,
                  t->curve ? (int)rh_plan_number(plan, "evaluation.curve") : 0);
    json_trial(json, "winner_in_search", plan, v, &v->trial[v->winner_search]);
    json_trial(json, "best_in_search", plan, v, &v->trial[v->search_best]);
}

static void json_reference(rh_doc *json, const char *key, const rh_reference *r)
{
    rh_doc__open(json, key, '{', true);
    rh_doc__real(json, "score", r->score);
    rh_doc__real(json, "lo95", r->lo95);
    rh_doc__real(json, "hi95", r->hi95);
    rh_doc__close(json);
}

// The unit of all scores, what to compare the winner's with, and its rare failures.
static void json_scale(rh_doc *json, const rh_verdict *v)
{
    rh_doc__text(json, "score_per", v->per_steps ? "steps" : "episode");
    if (v->per_steps)
        rh_doc__whole(json, "score_steps", v->per_steps);
    else
        rh_doc__null(json, "score_steps");
    json_reference(json, "logged", &v->logged);
    json_reference(json, "random", &v->random);
    rh_doc__open(json, "rare_failures", '{', true);
    rh_doc__whole(json, "runs", v->rare.n);
    rh_doc__real(json, "mean_score", v->rare.score);
    rh_doc__real(json, "median_of_all", v->rare.usual);
    rh_doc__close(json);
    rh_doc__open(json, "transfer", '{', true);
    rh_doc__whole(json, "agents", v->transfer.n);
    rh_doc__real(json, "same_model", v->transfer.same);
    rh_doc__real(json, "other_model", v->transfer.other);
    rh_doc__real(json, "lost", v->transfer.lost);
    rh_doc__real(json, "share", v->transfer.share);
    rh_doc__close(json);
}

static void json_importance(rh_doc *json, const rh_plan *plan, const rh_verdict *v)
{
    static const char *const end[] = {"lower", NULL, "upper"};
    rh_doc__open(json, "importance", '{', false);
    rh_doc__text(json, "method",
                 !v->importance.known  ? NULL
                 : v->importance.exact ? "analysis_of_variance"
                                       : "gaussian_process");
    rh_doc__open(json, "parameters", '[', false);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name",
                     rh_plan_agent(plan)->param[rh_plan_param(plan, d, NULL)].name);
        rh_doc__real(json, "main_effect", v->importance.known ? v->importance.alone[d] : NAN);
        rh_doc__real(json, "total_effect", v->importance.known ? v->importance.total[d] : NAN);
        rh_doc__text(json, "at_bound", v->winner >= 0 ? end[v->bound[d] + 1] : NULL);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__close(json);
}

static void json_trials(rh_doc *json, const rh_plan *plan, const rh_verdict *v, bool page)
{
    int shown = page && v->ntied > CLI_PAGE_TIED ? CLI_PAGE_TIED : v->ntied;
    rh_doc__open(json, "tied", '[', false);
    for (int i = 0; i < shown; i++)
        json_trial(json, NULL, plan, v, &v->trial[v->tied[i]]);
    rh_doc__close(json);
    if (page)
        return;
    rh_doc__open(json, "trials", '[', false);
    for (int i = 0; i < v->ntrial; i++)
        json_trial(json, NULL, plan, v, &v->trial[i]);
    rh_doc__close(json);
}

static void json_range(rh_doc *json, const char *name, double lo, double hi)
{
    rh_doc__open(json, NULL, '{', true);
    rh_doc__text(json, "name", name);
    rh_doc__real(json, "lo", lo);
    rh_doc__real(json, "hi", hi);
    rh_doc__close(json);
}

// What to log next; `collect --advice` reads it.
static void json_next(rh_doc *json, const rh_verdict *v, const rh_log *log)
{
    rh_doc__open(json, "log_next", '[', false);
    for (int i = 0; i < v->nnext; i++) {
        const rh_next *row = &v->next[i];
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "action", row->what);
        if (row->action < 0) {
            rh_doc__open(json, "action_ranges", '[', true);
            for (int k = 0; k < log->nact; k++)
                json_range(json, log->act_name[k], row->act_lo[k], row->act_hi[k]);
            rh_doc__close(json);
        }
        rh_doc__open(json, "sensors", '[', true);
        for (int k = 0; k < row->nside; k++)
            json_range(json, log->obs_name[row->side[k].sensor], row->side[k].lo,
                       row->side[k].hi);
        rh_doc__close(json);
        rh_doc__whole(json, "steps", row->steps);
        rh_doc__text(json, "why", row->why);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_trust(rh_doc *json, const rh_verdict *v, const rh_log *log)
{
    rh_doc__open(json, "trust", '{', false);
    rh_doc__text(json, "level", rh_trust_name(v->trust.level));
    rh_doc__real(json, "probability", v->trust.probability);
    rh_doc__open(json, "reasons", '[', false);
    for (int i = 0; i < v->trust.nreason; i++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "id", v->trust.reason[i].id);
        rh_doc__flag(json, "good", v->trust.reason[i].good);
        rh_doc__text(json, "text", v->trust.reason[i].text);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__open(json, "evidence", '[', false);
    for (int i = 0; i < RH_NEVIDENCE; i++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", v->trust.evidence[i].name);
        rh_doc__real(json, "value", v->trust.evidence[i].value);
        rh_doc__text(json, "about", v->trust.evidence[i].about);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    json_next(json, v, log);
    rh_doc__close(json);
}

void cli_tune_json_keys(rh_doc *json, const cli_tuning *tune, bool page)
{
    const rh_verdict *v = tune->verdict;
    const rh_fidelity *f = rh_model_fidelity(rh_study_model(tune->study));
    rh_doc__text(json, "version", rh_version());
    rh_doc__text(json, "study", tune->folder);
    rh_doc__flag(json, "finished", v->finished);
    json_log(json, tune);
    rh_doc__text(json, "agent", rh_plan_agent(tune->plan)->name);
    json_winner(json, tune->plan, v);
    rh_doc__real(json, "optimism", v->optimism);
    json_scale(json, v);
    json_trust(json, v, rh_model_log(rh_study_model(tune->study)));
    json_importance(json, tune->plan, v);
    json_trials(json, tune->plan, v, page);
    cli_findings_json(json, v->findings.item, v->findings.n, NULL);
    rh_doc__open(json, "model", '{', false);
    cli_findings_json(json, f ? f->findings.item : NULL, f ? f->findings.n : 0,
                      rh_model_log(rh_study_model(tune->study)));
    rh_doc__close(json);
    cli_tune_json_plan(json, tune->plan);
    rh_doc__whole(json, "runs", v->nrun);
    rh_doc__whole(json, "steps", v->nstep);
    if (page)
        return;
    rh_doc__whole(json, "resumed_runs", v->nrun_resumed);
    rh_doc__real(json, "seconds", v->seconds);
}

void cli_tune_json(FILE *out, const cli_tuning *tune)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    cli_tune_json_keys(&json, tune, false);
    rh_doc__close(&json);
}
