// report_json.c - report.json: what the page of a study draws.
//
// It has the keys of `tune --json` (tune_json.c), and beside them
//
//     space      the searched parameters: name, scale, range or values
//     settings   columns over all trials, the search's first, then the confirmations
//     curves     learning curves of some of these trials
//     jackknife  standard errors of the importances
//     models     how the model was chosen, its fidelity and facts, a sample of its states, and
//                stretches of the log beside replays of them
//     inspected  what `inspect` finds in the log, and the sensors over time
//     best_yaml, next, command
//
// 1. Nothing here differs between two runs of the same study: no dates, no durations. Only the
//    page of a study that is running has its progress.
// 2. 10,000 trials of three parameters are 1.4 MB. Columns have 5 digits. There are
//    learning curves of confirmations, of the best trials and of some over all ranks, as many
//    as CURVE_BYTES allow. A series has BUCKETS ranges, the sample POINTS states.
// 3. A page is written many times while a study runs; replays need a fit and are made once.

#include "cli_internal.h"

#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1             // of report.json
#define CURVE_BYTES 700000    // of learning curves, about
#define POINT_BYTES 15        // of a point: mean and spread
#define BUCKETS 160           // of a series
#define SERIES 24             // sensors drawn
#define POINTS 1500           // states of the sample
#define MOST_JACKKNIFE 400    // settings: the process takes seconds for more
#define Z95 1.959963984540054 // the 97.5 % quantile of a standard normal

// ---------------------------------------------------------------------------- the settings

static void json_space(rh_doc *json, const rh_plan *plan)
{
    rh_doc__open(json, "space", '[', false);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        const rh_dim *dim = &rh_plan_space(plan)->dim[d];
        rh_form form;
        const rh_param *param = &rh_plan_agent(plan)->param[rh_plan_param(plan, d, &form)];
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", param->name);
        rh_doc__text(json, "about", param->about);
        bool straight = form == RH_FORM_PLAIN && dim->scale == RH_LOG;
        rh_doc__flag(json, "log", straight || form == RH_FORM_POW2);
        rh_doc__flag(json, "names", param->choice != NULL);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

typedef double column(const rh_trial *t);

static double value_of(const rh_trial *t)
{
    return t->value;
}

static double lo95_of(const rh_trial *t)
{
    return t->lo95;
}

static double hi95_of(const rh_trial *t)
{
    return t->hi95;
}

static double coverage_of(const rh_trial *t)
{
    return t->out_of_coverage;
}

static double runs_of(const rh_trial *t)
{
    double n = 0.0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        n += t->result[i].outcome != RH_STOPPED;
    return n;
}

static double steps_of(const rh_trial *t)
{
    double n = 0.0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        n += (double)t->result[i].nstep;
    return n;
}

static double setting_of(const rh_trial *t)
{
    return t->setting;
}

static double state_of(const rh_trial *t)
{
    return t->state == RH_SETTING_DONE ? 1.0 : t->state == RH_SETTING_DROPPED ? 2.0 : 0.0;
}

static double diverged_of(const rh_trial *t)
{
    return t->ndiverged;
}

static void json_column(rh_doc *json, const char *key, const rh_verdict *v, column *of)
{
    rh_doc__open(json, key, '[', true);
    for (int i = 0; i < v->ntrial; i++)
        rh_doc__short(json, NULL, of(&v->trial[i]));
    rh_doc__close(json);
}

static void json_settings(rh_doc *json, const rh_plan *plan, const rh_verdict *v)
{
    rh_doc__open(json, "settings", '{', false);
    rh_doc__whole(json, "confirmations", v->nconfirm);
    rh_doc__place(json, "winner", v->winner);
    json_column(json, "setting", v, setting_of);
    rh_doc__open(json, "values", '[', false);
    for (int d = 0; d < rh_plan_space(plan)->ndim; d++) {
        int k = rh_plan_param(plan, d, NULL);
        const rh_param *param = &rh_plan_agent(plan)->param[k];
        rh_doc__open(json, NULL, '[', true);
        for (int i = 0; i < v->ntrial; i++)
            if (param->choice)
                rh_doc__text(json, NULL, cli_param(param, v->trial[i].hp[k]).s);
            else
                rh_doc__short(json, NULL, v->trial[i].hp[k]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    json_column(json, "score", v, value_of);
    json_column(json, "lo95", v, lo95_of);
    json_column(json, "hi95", v, hi95_of);
    json_column(json, "state", v, state_of); // 0: open, 1: done, 2: dropped
    json_column(json, "out_of_coverage", v, coverage_of);
    json_column(json, "diverged", v, diverged_of);
    json_column(json, "runs", v, runs_of);
    json_column(json, "steps", v, steps_of);
    rh_doc__close(json);
}

// ---------------------------------------------------------------------------- the curves

typedef struct ranked {
    double value;
    int trial;
} ranked;

static int best_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    bool nx = isnan(x->value), ny = isnan(y->value);
    if (nx != ny)
        return nx ? 1 : -1;
    if (x->value != y->value && !nx)
        return x->value > y->value ? -1 : 1;
    return x->trial - y->trial;
}

// Mark the trials that have a curve in the page (decision 2).
static bool choose_curves(const rh_verdict *v, int most, bool *chosen)
{
    int nsearch = v->ntrial - v->nconfirm;
    ranked *rank = rh_alloc((size_t)nsearch + 1, sizeof *rank);
    if (!rank)
        return false;
    for (int i = 0; i < nsearch; i++)
        rank[i] = (ranked){v->trial[i].value, i};
    qsort(rank, (size_t)nsearch, sizeof *rank, best_first);
    for (int i = nsearch; i < v->ntrial; i++)
        chosen[i] = true;
    int left = most > v->nconfirm ? most - v->nconfirm : 0;
    for (int i = 0; i < nsearch && i < left / 2; i++)
        chosen[rank[i].trial] = true;
    for (int i = 0; i < left - left / 2; i++)
        if (nsearch > 0)
            chosen[rank[left < nsearch ? (int64_t)i * (nsearch - 1) / (left - left / 2)
                                       : nsearch - 1 - i % nsearch]
                       .trial] = true;
    rh_free(rank);
    return true;
}

static void json_points(rh_doc *json, const double *y, int n)
{
    rh_doc__open(json, NULL, '[', true);
    for (int p = 0; p < n; p++)
        rh_doc__short(json, NULL, y[p]);
    rh_doc__close(json);
}

static bool json_curves(rh_doc *json, const cli_tuning *tune)
{
    const rh_verdict *v = tune->verdict;
    const rh_model *model = rh_study_model(tune->study);
    int ncurve = (int)rh_plan_number(tune->plan, "evaluation.curve");
    int most = ncurve ? CURVE_BYTES / (POINT_BYTES * ncurve) : 0;
    rh_eval_options how = {.nstep = 0};
    bool *chosen = rh_alloc((size_t)v->ntrial + 1, sizeof *chosen);
    if (!chosen || (ncurve && !choose_curves(v, most, chosen))) {
        rh_free(chosen);
        return false;
    }
    if (rh_plan_eval(tune->plan, rh_model_task(model), rh_model_log(model), &how, NULL))
        how.nstep = 0;
    rh_doc__open(json, "curves", '{', false);
    rh_doc__whole(json, "steps", how.nstep);
    rh_doc__whole(json, "points", ncurve);
    rh_doc__open(json, "trial", '[', true);
    for (int i = 0; i < v->ntrial; i++)
        if (chosen[i])
            rh_doc__whole(json, NULL, i);
    rh_doc__close(json);
    static const char *const key[] = {"mean", "spread"};
    for (int k = 0; k < 2; k++) {
        rh_doc__open(json, key[k], '[', false);
        for (int i = 0; i < v->ntrial; i++)
            if (chosen[i])
                json_points(json, k ? v->trial[i].spread : v->trial[i].promised, ncurve);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_free(chosen);
    return true;
}

// ---------------------------------------------------------------------------- importance

// The settings of the search with a value, as for the importances of the verdict.
static bool json_jackknife(rh_doc *json, const rh_plan *plan, const rh_verdict *v)
{
    const rh_space *space = rh_plan_space(plan);
    size_t ndim = (size_t)space->ndim, room = (size_t)v->ntrial + 1;
    double error[2 * RH_MAX_DIM];
    int n = 0;
    double *x = rh_alloc(room, (ndim + 2) * sizeof *x);
    if (!x)
        return false;
    double *value = x + room * ndim, *noise = value + room;
    for (int i = 0; i < v->ntrial - v->nconfirm; i++) {
        const rh_trial *t = &v->trial[i];
        if (isnan(t->value))
            continue;
        double half = (t->hi95 - t->lo95) / 2.0 / Z95;
        memcpy(x + (size_t)n * ndim, t->x, ndim * sizeof *x);
        value[n] = t->value;
        noise[n++] = isfinite(half) ? half * half : 0.0;
    }
    bool useful = v->importance.known && !v->importance.exact && n <= MOST_JACKKNIFE;
    rh_status rc =
        useful ? rh_importance_errors(space, n, x, value, noise, error, error + ndim, NULL)
               : RH_EINVAL;
    rh_free(x);
    if (rc) {
        rh_doc__null(json, "jackknife");
        return rc != RH_ENOMEM;
    }
    rh_doc__open(json, "jackknife", '{', false);
    rh_doc__reals(json, "main_effect", error, space->ndim);
    rh_doc__reals(json, "total_effect", error + ndim, space->ndim);
    rh_doc__close(json);
    return true;
}

// ---------------------------------------------------------------------------- the model

// Codes of states, evenly over the log, with the action taken there.
static bool json_sample(rh_doc *json, const rh_model *model)
{
    const rh_log *log = rh_model_log(model);
    const rh_repr *repr = rh_model_repr(model);
    int64_t n = log->n < POINTS ? log->n : POINTS;
    size_t ncode = (size_t)rh_repr_ncode(repr), nobs = (size_t)log->nobs;
    size_t nact = (size_t)log->nact;
    double *obs = rh_alloc((size_t)n + 1, (nobs + nact) * sizeof *obs);
    float *code = rh_alloc((size_t)n + 1, ncode * sizeof *code);
    bool good = obs && code;
    double *act = good ? obs + ((size_t)n + 1) * nobs : NULL;
    for (int64_t i = 0; good && i < n; i++) {
        size_t at = (size_t)(i * log->n / n);
        memcpy(obs + (size_t)i * nobs, log->obs + (size_t)log->from[at] * nobs,
               nobs * sizeof *obs);
        memcpy(act + (size_t)i * nact, log->act + at * nact, nact * sizeof *act);
    }
    good = good &&
           rh_repr_encode(repr, n, obs, rh_repr_nact(repr) ? act : NULL, code, NULL) == RH_OK;
    rh_doc__open(json, "sample", '{', false);
    for (size_t d = 0; good && d < 2 && d < ncode; d++) {
        rh_doc__open(json, d ? "second" : "first", '[', true);
        for (int64_t i = 0; i < n; i++)
            rh_doc__short(json, NULL, (double)code[(size_t)i * ncode + d]);
        rh_doc__close(json);
    }
    rh_doc__open(json, "action", '[', true);
    for (int64_t i = 0; good && i < n; i++)
        rh_doc__short(json, NULL, act[(size_t)i * nact]);
    rh_doc__close(json);
    rh_doc__open(json, "labels", '[', true);
    for (int a = 0; a < log->naction; a++)
        rh_doc__text(json, NULL, log->label[a]);
    rh_doc__close(json);
    rh_doc__text(json, "action_name", log->act_name[0]);
    rh_doc__close(json);
    rh_free(obs);
    rh_free(code);
    return good;
}

// A series of a stretch: what was logged, and the replays.
static void json_replayed(rh_doc *json, const rh_replayed *r, int series)
{
    const double *const y[] = {r->logged[series], r->lo[series], r->median[series],
                               r->hi[series]};
    static const char *const key[] = {"logged", "lo", "median", "hi"};
    rh_doc__open(json, NULL, '{', false);
    for (int k = 0; k < 4; k++) {
        rh_doc__open(json, key[k], '[', true);
        for (int p = 0; p < r->npoint; p++)
            rh_doc__short(json, NULL, y[k][p]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_stretch(rh_doc *json, const rh_replayed *r, int nseries)
{
    rh_doc__open(json, NULL, '{', false);
    rh_doc__whole(json, "first", r->first);
    rh_doc__whole(json, "steps", r->nstep);
    rh_doc__flag(json, "ended", r->ended);
    rh_doc__whole(json, "replays_ended", r->nended);
    rh_doc__open(json, "step", '[', true);
    for (int p = 0; p < r->npoint; p++)
        rh_doc__whole(json, NULL, r->step[p]);
    rh_doc__close(json);
    rh_doc__open(json, "series", '[', false);
    for (int k = 0; k < nseries; k++)
        json_replayed(json, r, k);
    rh_doc__close(json);
    rh_doc__close(json);
}

// Held-out stretches and their replays; null where the log is too short.
static void json_replays(rh_doc *json, const cli_tuning *tune)
{
    const rh_log *log = rh_model_log(rh_study_model(tune->study));
    const rh_replays *all = tune->replays;
    if (!all || !all->nstretch) {
        rh_doc__null(json, "replays");
        return;
    }
    rh_doc__open(json, "replays", '{', false);
    rh_doc__whole(json, "replays", all->nreplay);
    rh_doc__whole(json, "varying", all->nvary);
    rh_doc__open(json, "sensors", '[', false);
    for (int k = 0; k < all->nsensor; k++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", log->obs_name[all->sensor[k]]);
        rh_doc__text(json, "unit", log->obs_unit[all->sensor[k]]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__open(json, "stretches", '[', false);
    for (int i = 0; i < all->nstretch; i++)
        json_stretch(json, &all->stretch[i], all->nsensor + 1);
    rh_doc__close(json);
    rh_doc__close(json);
}

static bool json_models(rh_doc *json, const cli_tuning *tune)
{
    const rh_model *model = rh_study_model(tune->study);
    const rh_repr *repr = rh_model_repr(model);
    const rh_model_type *type = rh_model_kind(model);
    const rh_repr_type *seen = rh_repr_kind(repr);
    rh_doc__open(json, "models", '{', false);
    rh_doc__text(json, "kind", type->name);
    rh_doc__params(json, "parameters", type->param, type->nparam, rh_model_params(model), NULL);
    rh_doc__whole(json, "members", rh_model_nmember(model));
    rh_doc__text(json, "representation", seen->name);
    rh_doc__params(json, "representation_parameters", seen->param, seen->nparam,
                   rh_repr_params(repr), NULL);
    rh_doc__whole(json, "dimensions", rh_repr_ncode(repr));
    rh_doc__real(json, "awareness", rh_repr_trained(repr).awareness);
    rh_doc__flag(json, "continuing", rh_model_task(model)->continuing);
    rh_doc__real(json, "gamma", rh_model_task(model)->gamma);
    rh_field__write(json, "compared_models", rh_comparison_fields(), rh_model_compared(model),
                    NULL);
    rh_names names = rh_log_names(rh_model_log(model));
    rh_field__write(json, "facts", rh_facts_fields(), rh_model_facts(model), &names);
    cli_fidelity_json(json, model);
    json_replays(json, tune);
    bool good = json_sample(json, model);
    rh_doc__close(json);
    return good;
}

// ---------------------------------------------------------------------------- the log

// What a series shows of a step: a sensor, an action or the reward.
static double at_step(const rh_log *log, int what, int64_t i)
{
    if (what < log->nobs)
        return log->obs[(size_t)log->from[i] * (size_t)log->nobs + (size_t)what];
    if (what < log->nobs + log->nact)
        return log->act[(size_t)i * (size_t)log->nact + (size_t)(what - log->nobs)];
    return log->reward[i];
}

// The least and the greatest value of every bucket.
static void json_one_series(rh_doc *json, const rh_log *log, int what, const char *name,
                            const char *unit)
{
    int64_t n = log->n < BUCKETS ? log->n : BUCKETS;
    static const char *const key[] = {"lo", "hi"};
    rh_doc__open(json, NULL, '{', false);
    rh_doc__text(json, "name", name);
    rh_doc__text(json, "unit", unit);
    rh_doc__flag(json, "action", what >= log->nobs && what < log->nobs + log->nact);
    for (int k = 0; k < 2; k++) {
        rh_doc__open(json, key[k], '[', true);
        for (int64_t b = 0; b < n; b++) {
            double y = NAN;
            for (int64_t i = b * log->n / n; i < (b + 1) * log->n / n; i++) {
                double x = at_step(log, what, i);
                if (isfinite(x) && (isnan(y) || (k ? x > y : x < y)))
                    y = x;
            }
            rh_doc__short(json, NULL, y);
        }
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_series(rh_doc *json, const rh_log *log)
{
    int shown = log->nobs < SERIES ? log->nobs : SERIES;
    rh_doc__open(json, "series", '[', false);
    for (int j = 0; j < shown; j++)
        json_one_series(json, log, j, log->obs_name[j], log->obs_unit[j]);
    for (int k = 0; k < log->nact && k < SERIES; k++)
        json_one_series(json, log, log->nobs + k, log->act_name[k], "");
    json_one_series(json, log, log->nobs + log->nact, log->reward_name, "");
    rh_doc__close(json);
}

static bool json_inspected(rh_doc *json, const cli_tuning *tune)
{
    const rh_log *log = tune->model ? rh_model_log(tune->model) : tune->log.log;
    rh_log_report *report = NULL;
    if (rh_log_inspect(&report, log, NULL) != RH_OK)
        return false;
    rh_doc__open(json, "inspected", '{', false);
    rh_doc__whole(json, "steps", log->n);
    rh_doc__whole(json, "episodes", log->nepisode);
    rh_doc__whole(json, "terminal", report->nterminal);
    rh_doc__whole(json, "truncated", report->ncut);
    rh_doc__open(json, "sensors", '[', false);
    for (int j = 0; j < log->nobs; j++) {
        const rh_log_numbers *x = &report->sensor[j].value;
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", log->obs_name[j]);
        rh_doc__text(json, "unit", log->obs_unit[j]);
        rh_doc__short(json, "min", x->min);
        rh_doc__short(json, "median", x->median);
        rh_doc__short(json, "max", x->max);
        rh_doc__whole(json, "missing", x->nmissing + x->ninfinite);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__open(json, "actions", '[', false);
    for (int a = 0; a < log->naction; a++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", log->label[a]);
        rh_doc__whole(json, "steps", report->taken[a]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    cli_findings_json(json, report->findings.item, report->findings.n, log);
    json_series(json, log);
    rh_doc__close(json);
    rh_log_report_destroy(report);
    return true;
}

// ---------------------------------------------------------------------------- the command

// The command as a shell reads it, without options that change no result.
static void json_command(rh_doc *json, const cli_args *args)
{
    static const char *const left_out[] = {"json", "quiet", "strict", "jobs", "watch"};
    rh_text text = {0};
    rh_text__format(&text, "rehearse %s", args->command->name);
    for (int i = 0; i < args->nword; i++) {
        rh_text__add(&text, " ");
        rh_text__shell(&text, args->word[i]);
    }
    for (int i = 0; i < args->ngiven; i++) {
        const cli_given *given = &args->given[i];
        bool skip = false;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            skip = skip || strcmp(given->option->option, left_out[k]) == 0;
        if (skip)
            continue;
        rh_text__format(&text, " --%s", given->option->option);
        if (given->value) {
            rh_text__add(&text, "=");
            rh_text__shell(&text, given->value);
        }
    }
    rh_doc__text(json, "command", text.bad ? NULL : text.data);
    rh_text__clear(&text);
}

// The command that runs the winner in the model.
static void json_next(rh_doc *json, const cli_tuning *tune)
{
    const rh_verdict *v = tune->verdict;
    char setting[1400];
    rh_text text = {0};
    if (v->winner < 0) {
        rh_doc__null(json, "next");
        return;
    }
    cli_tune_setting(tune->plan, v->trial[v->winner].hp, " --set ", 0, setting, sizeof setting);
    rh_text__add(&text, "rehearse run ");
    rh_text world = {0};
    if (tune->model)
        rh_text__add(&world, rh_plan_text(tune->plan, "data"));
    else
        rh_text__format(&world, "model:%s/study.model", tune->folder);
    if (!world.bad)
        rh_text__shell(&text, world.data);
    rh_text__add(&text, " --agent ");
    rh_text__shell(&text, rh_plan_agent(tune->plan)->name);
    rh_text__add(&text, setting);
    rh_doc__text(json, "next", text.bad || world.bad ? NULL : text.data);
    rh_text__clear(&text);
    rh_text__clear(&world);
}

static char *path_in(const char *folder, const char *name)
{
    rh_text path = {0};
    rh_text__format(&path, "%s/%s", folder, name);
    if (!path.bad)
        return path.data;
    rh_text__clear(&path);
    return NULL;
}

// best.yaml as it was written; null if there is none.
static void json_best(rh_doc *json, const cli_tuning *tune)
{
    rh_text text = {0};
    char piece[4096];
    bool there = tune->verdict->finished && tune->verdict->winner >= 0;
    char *path = there ? path_in(tune->folder, "best.yaml") : NULL;
    FILE *in = path ? fopen(path, "re") : NULL;
    for (size_t n; in && (n = fread(piece, 1, sizeof piece, in)) > 0;)
        rh_text__add_n(&text, piece, n);
    if (in)
        fclose(in);
    rh_doc__text(json, "best_yaml", text.bad ? NULL : text.data);
    rh_text__clear(&text);
    rh_free(path);
}

static void json_progress(rh_doc *json, const cli_tuning *tune)
{
    static const char *const stage[] = {[RH_STAGE_FIT] = "fit",
                                        [RH_STAGE_SEARCH] = "search",
                                        [RH_STAGE_CONFIRM] = "confirm",
                                        [RH_STAGE_CHECK] = "check"};
    const rh_study_progress *p = &tune->studying.progress;
    if (tune->verdict->finished) {
        rh_doc__null(json, "progress");
        return;
    }
    rh_doc__open(json, "progress", '{', true);
    rh_doc__text(json, "stage", stage[p->stage]);
    rh_doc__whole(json, "runs", p->nrun);
    rh_doc__whole(json, "runs_at_most", p->nrun_max);
    rh_doc__close(json);
}

// ---------------------------------------------------------------------------- the files

static bool write_data(FILE *out, const cli_tuning *tune)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__whole(&json, "report", VERSION);
    rh_doc__text(&json, "name", rh_plan_text(tune->plan, "name"));
    cli_tune_json_keys(&json, tune, true);
    json_space(&json, tune->plan);
    json_settings(&json, tune->plan, tune->verdict);
    bool good = json_curves(&json, tune) && json_jackknife(&json, tune->plan, tune->verdict) &&
                json_models(&json, tune) && json_inspected(&json, tune);
    json_progress(&json, tune);
    json_best(&json, tune);
    json_next(&json, tune);
    json_command(&json, tune->args);
    rh_doc__close(&json);
    return good;
}

// Replay stretches, once (decision 3). A log that cannot be replayed has none.
static bool replay(cli_tuning *tune)
{
    uint64_t seed = (uint64_t)rh_plan_number(tune->plan, "seed");
    if (tune->replayed)
        return true;
    tune->replayed = true;
    return rh_model_replay(&tune->replays, rh_study_model(tune->study), seed, tune->nthread,
                           NULL) != RH_ENOMEM;
}

int cli_report_write(cli_tuning *tune, int refresh)
{
    char *data = path_in(tune->folder, RH_REPORT_DATA),
         *page = path_in(tune->folder, RH_REPORT_PAGE);
    const char *folder = tune->folder;
    cli_file file;
    rh_error err;
    int rc = data && page ? cli_file_open(&file, data) : cli_fail("out of memory");
    if (!rc && (!replay(tune) || !write_data(file.stream, tune))) {
        rh_file__discard(file.file);
        rc = cli_fail("out of memory");
    } else if (!rc)
        rc = cli_file_close(&file);
    if (!rc)
        rc = cli_pass_file(rh_report_write(page, &folder, 1, refresh, &err), &err);
    rh_free(data);
    rh_free(page);
    return rc;
}
