// report.c - report.json, what the page of a study draws, and the page, report.html.
//
// The data has the fields of the study (fields.c), and beside them
//
//     space      the searched parameters: name, scale, range or values
//     settings   columns over all trials, the search's first, then the confirmations
//     curves     learning curves of some of these trials
//     jackknife  standard errors of the importances
//     models     how the model was chosen, its fidelity and facts, a sample of its states, and
//                stretches of the log beside replays of them
//     inspected  what `inspect` finds in the log, and the sensors over time
//     best_yaml, deploy, next, command
//
// 1. Nothing here differs between two runs of the same study: no dates, no durations. Only the
//    page of a study that is running has its progress.
// 2. 10,000 trials of three parameters are 1.4 MB. Columns have 5 digits. There are
//    learning curves of confirmations, of the best trials and of some over all ranks, as many
//    as CURVE_BYTES allow. A series has BUCKETS ranges, the sample POINTS states.
// 3. A page is written many times while a study runs, as seldom as it takes to cost less than a
//    twentieth of the time. Replays need a fit and are made once.

#include "rehearse/report.h"
#include "base/base.h"
#include "core.h"
#include "describe/field.h"
#include "model/model.h"
#include "report/page.h"
#include "repr/repr.h"
#include "search/search.h"
#include "study.h"

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
#define MOST_TIED 50          // tied settings
#define MOST_JACKKNIFE 400    // settings: the process takes seconds for more
#define Z95 1.959963984540054 // the 97.5 % quantile of a standard normal

#define REFRESH 5   // seconds between two pages of a running study, at least
#define SELDOM 20.0 // times what a page takes: by hand, not sensitive (decision 3)

// ---------------------------------------------------------------------------- the settings

static void write_space(rh_doc *doc, const rh_plan *plan)
{
    rh_doc__open(doc, "space", '[', false);
    for (int d = 0; d < plan->space.ndim; d++) {
        const rh_dim *dim = &plan->space.dim[d];
        rh_plan__form form;
        const rh_param *param = rh_plan__dim(plan, d, NULL, &form);
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", plan->agents.n > 1 ? plan->space.dim[d].name : param->name);
        rh_doc__text(doc, "about", param->about);
        bool straight = form == RH_FORM_PLAIN && dim->scale == RH_LOG;
        rh_doc__flag(doc, "log", straight || form == RH_FORM_POW2);
        rh_doc__flag(doc, "names", param->choice != NULL);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static double runs_of(const rh_trial *t)
{
    return (double)rh_study__count_runs(t);
}

static double steps_of(const rh_trial *t)
{
    double n = 0.0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        n += (double)t->result[i].nstep;
    return n;
}

// A number of every trial: a member, or what is computed.
typedef struct column {
    rh_field row;
    double (*of)(const rh_trial *t);
} column;

#define AT(member) RH_FIELD__AT(rh_trial, member)
static const column setting = {.row = {"setting", AT(setting)}};
static const column columns[] = {
    {.row = {"score", AT(value)}},
    {.row = {"lo95", AT(lo95)}},
    {.row = {"hi95", AT(hi95)}},
    {.row = {"state", RH_FIELD__AS(RH_FIELD_WORD, rh_trial, state)}}, // by its number
    {.row = {"out_of_coverage", AT(out_of_coverage)}},
    {.row = {"diverged", AT(ndiverged)}},
    {.row.name = "runs", .of = runs_of},
    {.row.name = "steps", .of = steps_of},
};
#undef AT

static void write_column(rh_doc *doc, const rh_verdict *v, const column *c)
{
    rh_doc__open(doc, c->row.name, '[', true);
    for (int i = 0; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        rh_doc__short(doc, NULL,
                      c->of ? c->of(t)
                            : rh_field__number(&c->row, (const char *)t + c->row.at));
    }
    rh_doc__close(doc);
}

static void write_settings(rh_doc *doc, const rh_plan *plan, const rh_verdict *v)
{
    rh_doc__open(doc, "settings", '{', false);
    rh_doc__whole(doc, "confirmations", v->nconfirm);
    rh_doc__place(doc, "winner", v->winner);
    write_column(doc, v, &setting);
    rh_doc__open(doc, "values", '[', false);
    for (int d = 0; d < plan->space.ndim; d++) {
        const rh_param *param = rh_plan__dim(plan, d, NULL, NULL);
        rh_doc__open(doc, NULL, '[', true);
        for (int i = 0; i < v->ntrial; i++) {
            double x = rh_plan__value_of(plan, &v->trial[i], d);
            if (param->choice)
                rh_doc__text(doc, NULL, isnan(x) ? NULL : param->choice[(int)x]);
            else
                rh_doc__short(doc, NULL, x);
        }
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        write_column(doc, v, &columns[i]);
    rh_doc__close(doc);
}

// With further scores, the confirmed settings that no other one beats in all of them.
static void write_front(rh_doc *doc, const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    if (!v->limiting.nalso)
        return;
    rh_doc__open(doc, "front", '[', false);
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        if (!t->front)
            continue;
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__whole(doc, "setting", t->setting);
        rh_doc__text(doc, "agent", rh_study__agent(study, t)->name);
        rh_doc__real(doc, "score", t->value);
        rh_doc__open(doc, "also", '[', true);
        for (int k = 0; k < v->limiting.nalso; k++) {
            rh_doc__open(doc, NULL, '{', true);
            rh_doc__real(doc, "score", t->also[k].score);
            rh_doc__close(doc);
        }
        rh_doc__close(doc);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
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

static bool write_curves(rh_doc *doc, const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    const rh_model *model = rh_study__model(study);
    int ncurve = (int)rh_plan_number(study->plan, "evaluation.curve");
    int most = ncurve ? CURVE_BYTES / (POINT_BYTES * ncurve) : 0;
    rh_eval_options how = {.nstep = 0};
    bool *chosen = rh_alloc((size_t)v->ntrial + 1, sizeof *chosen);
    if (!chosen || (ncurve && !choose_curves(v, most, chosen))) {
        rh_free(chosen);
        return false;
    }
    if (rh_plan__eval(study->plan, rh_model_task(model), rh_model_log(model), &how, NULL))
        how.nstep = 0;
    rh_doc__open(doc, "curves", '{', false);
    rh_doc__whole(doc, "steps", how.nstep);
    rh_doc__whole(doc, "points", ncurve);
    rh_doc__open(doc, "trial", '[', true);
    for (int i = 0; i < v->ntrial; i++)
        if (chosen[i])
            rh_doc__whole(doc, NULL, i);
    rh_doc__close(doc);
    static const char *const key[] = {"mean", "spread"};
    for (int k = 0; k < 2; k++) {
        rh_doc__open(doc, key[k], '[', false);
        for (int i = 0; i < v->ntrial; i++)
            if (chosen[i])
                rh_doc__shorts(doc, NULL, k ? v->trial[i].spread : v->trial[i].promised,
                               ncurve);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
    rh_free(chosen);
    return true;
}

// ---------------------------------------------------------------------------- importance

// The settings of the search with a value, as for the importances of the verdict.
static bool write_jackknife(rh_doc *doc, const rh_plan *plan, const rh_verdict *v)
{
    rh_space own, *space = &own;
    int dim[RH_MAX_DIM], agent = v->winner < 0 ? 0 : v->trial[v->winner].agent;
    rh_plan__branch(plan, agent, space, dim);
    size_t ndim = (size_t)space->ndim, room = (size_t)v->ntrial + 1;
    double error[2 * RH_MAX_DIM], all[2][RH_MAX_DIM];
    int n = 0;
    double *x = rh_alloc(room, (ndim + 2) * sizeof *x);
    if (!x)
        return false;
    double *value = x + room * ndim, *noise = value + room;
    for (int i = 0; i < v->ntrial - v->nconfirm; i++) {
        const rh_trial *t = &v->trial[i];
        if (isnan(t->value) || t->agent != agent)
            continue;
        double half = (t->hi95 - t->lo95) / 2.0 / Z95;
        for (size_t d = 0; d < ndim; d++)
            x[(size_t)n * ndim + d] = t->x[dim[d]];
        value[n] = t->value;
        noise[n++] = isfinite(half) ? half * half : 0.0;
    }
    bool useful = v->importance.known && !v->importance.exact && n <= MOST_JACKKNIFE;
    rh_status rc =
        useful ? rh_importance__errors(space, n, x, value, noise, error, error + ndim, NULL)
               : RH_EINVAL;
    rh_free(x);
    if (rc) {
        rh_doc__null(doc, "jackknife");
        return rc != RH_ENOMEM;
    }
    rh_doc__open(doc, "jackknife", '{', false);
    for (int d = 0; d < plan->space.ndim; d++)
        all[0][d] = all[1][d] = NAN;
    for (size_t d = 0; d < ndim; d++) {
        all[0][dim[d]] = error[d];
        all[1][dim[d]] = error[ndim + d];
    }
    rh_doc__reals(doc, "main_effect", all[0], plan->space.ndim);
    rh_doc__reals(doc, "total_effect", all[1], plan->space.ndim);
    rh_doc__close(doc);
    return true;
}

// ---------------------------------------------------------------------------- the model

// Codes of states, evenly over the log, with the action taken there.
static bool write_sample(rh_doc *doc, const rh_model *model)
{
    const rh_log *log = rh_model_log(model);
    const rh_repr *repr = rh_model_repr(model);
    int64_t n = log->n < POINTS ? log->n : POINTS;
    size_t ncode = (size_t)rh_repr__ncode(repr), nobs = (size_t)log->nobs;
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
           rh_repr__encode(repr, n, obs, rh_repr__nact(repr) ? act : NULL, code, NULL) == RH_OK;
    rh_doc__open(doc, "sample", '{', false);
    for (size_t d = 0; good && d < 2 && d < ncode; d++) {
        rh_doc__open(doc, d ? "second" : "first", '[', true);
        for (int64_t i = 0; i < n; i++)
            rh_doc__short(doc, NULL, (double)code[(size_t)i * ncode + d]);
        rh_doc__close(doc);
    }
    rh_doc__open(doc, "action", '[', true);
    for (int64_t i = 0; good && i < n; i++)
        rh_doc__short(doc, NULL, act[(size_t)i * nact]);
    rh_doc__close(doc);
    rh_doc__open(doc, "labels", '[', true);
    for (int a = 0; a < log->naction; a++)
        rh_doc__text(doc, NULL, log->label[a]);
    rh_doc__close(doc);
    rh_doc__text(doc, "action_name", log->act_name[0]);
    rh_doc__close(doc);
    rh_free(obs);
    rh_free(code);
    return good;
}

// A series of a stretch: what was logged, and the replays.
static void write_replayed(rh_doc *doc, const rh_replayed *r, int series)
{
    const double *const y[] = {r->logged[series], r->lo[series], r->median[series],
                               r->hi[series]};
    static const char *const key[] = {"logged", "lo", "median", "hi"};
    rh_doc__open(doc, NULL, '{', false);
    for (int k = 0; k < 4; k++)
        rh_doc__shorts(doc, key[k], y[k], r->npoint);
    rh_doc__close(doc);
}

static void write_stretch(rh_doc *doc, const rh_replayed *r, int nseries)
{
    rh_doc__open(doc, NULL, '{', false);
    rh_doc__whole(doc, "first", r->first);
    rh_doc__whole(doc, "steps", r->nstep);
    rh_doc__flag(doc, "ended", r->ended);
    rh_doc__whole(doc, "replays_ended", r->nended);
    rh_doc__open(doc, "step", '[', true);
    for (int p = 0; p < r->npoint; p++)
        rh_doc__whole(doc, NULL, r->step[p]);
    rh_doc__close(doc);
    rh_doc__open(doc, "series", '[', false);
    for (int k = 0; k < nseries; k++)
        write_replayed(doc, r, k);
    rh_doc__close(doc);
    rh_doc__close(doc);
}

// Held-out stretches and their replays; null where the log is too short.
static void write_replays(rh_doc *doc, const rh_study *study)
{
    const rh_log *log = rh_model_log(rh_study__model(study));
    const rh_replays *all = study->replays;
    if (!all || !all->nstretch) {
        rh_doc__null(doc, "replays");
        return;
    }
    rh_doc__open(doc, "replays", '{', false);
    rh_doc__whole(doc, "replays", all->nreplay);
    rh_doc__whole(doc, "varying", all->nvary);
    rh_doc__open(doc, "sensors", '[', false);
    for (int k = 0; k < all->nsensor; k++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", log->obs_name[all->sensor[k]]);
        rh_doc__text(doc, "unit", log->obs_unit[all->sensor[k]]);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
    rh_doc__open(doc, "stretches", '[', false);
    for (int i = 0; i < all->nstretch; i++)
        write_stretch(doc, &all->stretch[i], all->nsensor + 1);
    rh_doc__close(doc);
    rh_doc__close(doc);
}

static bool write_models(rh_doc *doc, const rh_study *study)
{
    const rh_model *model = rh_study__model(study);
    const rh_repr *repr = rh_model_repr(model);
    const rh_model_type *type = rh_model_type_of(model);
    const rh_repr_type *seen = rh_repr_type_of(repr);
    rh_names names = rh_log_names(rh_model_log(model));
    rh_doc__open(doc, "models", '{', false);
    rh_doc__text(doc, "kind", type->name);
    rh_doc__params(doc, "parameters", type->param, type->nparam, rh_model_params(model), NULL);
    rh_doc__whole(doc, "members", rh_model_nmember(model));
    rh_doc__text(doc, "representation", seen->name);
    rh_doc__params(doc, "representation_parameters", seen->param, seen->nparam,
                   rh_repr__params(repr), NULL);
    rh_doc__whole(doc, "dimensions", rh_repr__ncode(repr));
    rh_doc__real(doc, "awareness", rh_repr__trained(repr).awareness);
    rh_doc__flag(doc, "continuing", rh_model_task(model)->continuing);
    rh_doc__real(doc, "gamma", rh_model_task(model)->gamma);
    rh_field__write(doc, "compared_models", rh_comparison_fields(), rh_model_compared(model),
                    NULL);
    rh_field__write(doc, "facts", rh_facts_fields(), rh_model_facts(model), &names);
    rh_field__write(doc, "fidelity", rh_fidelity_fields(), rh_model_fidelity(model), &names);
    write_replays(doc, study);
    bool good = write_sample(doc, model);
    rh_doc__close(doc);
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
static void write_one_series(rh_doc *doc, const rh_log *log, int what, const char *name,
                             const char *unit)
{
    int64_t n = log->n < BUCKETS ? log->n : BUCKETS;
    static const char *const key[] = {"lo", "hi"};
    rh_doc__open(doc, NULL, '{', false);
    rh_doc__text(doc, "name", name);
    rh_doc__text(doc, "unit", unit);
    rh_doc__flag(doc, "action", what >= log->nobs && what < log->nobs + log->nact);
    for (int k = 0; k < 2; k++) {
        rh_doc__open(doc, key[k], '[', true);
        for (int64_t b = 0; b < n; b++) {
            double y = NAN;
            for (int64_t i = b * log->n / n; i < (b + 1) * log->n / n; i++) {
                double x = at_step(log, what, i);
                if (isfinite(x) && (isnan(y) || (k ? x > y : x < y)))
                    y = x;
            }
            rh_doc__short(doc, NULL, y);
        }
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static void write_series(rh_doc *doc, const rh_log *log)
{
    int shown = log->nobs < SERIES ? log->nobs : SERIES;
    rh_doc__open(doc, "series", '[', false);
    for (int j = 0; j < shown; j++)
        write_one_series(doc, log, j, log->obs_name[j], log->obs_unit[j]);
    for (int k = 0; k < log->nact && k < SERIES; k++)
        write_one_series(doc, log, log->nobs + k, log->act_name[k], "");
    write_one_series(doc, log, log->nobs + log->nact, log->reward_name, "");
    rh_doc__close(doc);
}

static void write_inspected(rh_doc *doc, const rh_study *study)
{
    const rh_log *log = rh_study__whole_log(study);
    const rh_log_report *report = study->report;
    rh_names names = rh_log_names(log);
    rh_doc__open(doc, "inspected", '{', false);
    rh_doc__whole(doc, "steps", log->n);
    rh_doc__whole(doc, "episodes", log->nepisode);
    rh_doc__whole(doc, "terminal", report->nterminal);
    rh_doc__whole(doc, "truncated", report->ncut);
    rh_doc__open(doc, "sensors", '[', false);
    for (int j = 0; j < log->nobs; j++) {
        const rh_log_numbers *x = &report->sensor[j].value;
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", log->obs_name[j]);
        rh_doc__text(doc, "unit", log->obs_unit[j]);
        rh_doc__short(doc, "min", x->min);
        rh_doc__short(doc, "median", x->median);
        rh_doc__short(doc, "max", x->max);
        rh_doc__whole(doc, "missing", x->nmissing + x->ninfinite);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
    rh_doc__open(doc, "actions", '[', false);
    for (int a = 0; a < log->naction; a++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", log->label[a]);
        rh_doc__whole(doc, "steps", report->taken[a]);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
    rh_field__write_list(doc, "findings", &rh_field__finding, report->findings.item,
                         report->findings.n, &names);
    write_series(doc, log);
    rh_doc__close(doc);
}

// ---------------------------------------------------------------------------- what follows

// The command that runs the winner in the model, where the model is in a file.
static void write_next(rh_doc *doc, const rh_study *study)
{
    const rh_verdict *v = &study->verdict;
    const rh_plan *plan = study->plan;
    const char *data = rh_plan_text(plan, "data");
    rh_text text = {0}, world = {0};
    if (v->winner < 0 || (!study->log && !data)) {
        rh_doc__null(doc, "next");
        return;
    }
    if (study->log)
        rh_text__format(&world, "model:%s/study.model", study->opt.folder);
    else
        rh_text__add(&world, data);
    rh_text__add(&text, "rehearse run ");
    if (!world.bad)
        rh_text__shell(&text, world.data);
    rh_text__add(&text, " --agent ");
    const rh_trial *winner = &v->trial[v->winner];
    rh_text__shell(&text, plan->agents.type[winner->agent]->name);
    for (int d = 0; d < plan->space.ndim; d++) {
        int agent;
        const rh_param *param = rh_plan__dim(plan, d, &agent, NULL);
        char value[80];
        if (agent != winner->agent)
            continue;
        rh_param__format(param, winner->hp[plan->dim[d].param], value, sizeof value);
        rh_text__format(&text, " --set %s=%s", param->name, value);
    }
    rh_doc__text(doc, "next", text.bad || world.bad ? NULL : text.data);
    rh_text__clear(&text);
    rh_text__clear(&world);
}

void rh_study__deploy_command(rh_text *out, const rh_study *study)
{
    rh_text path = {0};
    if (rh_study__clone_won(study))
        return;
    rh_text__format(&path, "%s/best.yaml", study->opt.folder);
    rh_text__add(out, "rehearse deploy ");
    if (path.data)
        rh_text__shell(out, path.data);
    out->bad = out->bad || path.bad;
    if (!rh_trust__deploys(&study->verdict.trust))
        rh_text__add(out, " --mode shadow");
    rh_text__clear(&path);
}

// best.yaml, as it is written, and the command for it; null if there is none.
static void write_best(rh_doc *doc, const rh_study *study)
{
    rh_text text = {0}, deploy = {0};
    if (study->verdict.finished && study->verdict.winner >= 0) {
        rh_study__best_text(&text, &study->head, rh_study__model(study), &study->verdict);
        rh_study__deploy_command(&deploy, study);
    }
    rh_doc__text(doc, "best_yaml", text.bad ? NULL : text.data);
    rh_doc__text(doc, "deploy", deploy.bad ? NULL : deploy.data);
    rh_text__clear(&text);
    rh_text__clear(&deploy);
}

static void write_progress(rh_doc *doc, const rh_study *study)
{
    static const char *const stage[] = {[RH_STAGE_FIT] = "fit",
                                        [RH_STAGE_SEARCH] = "search",
                                        [RH_STAGE_CONFIRM] = "confirm",
                                        [RH_STAGE_CHECK] = "check"};
    if (study->verdict.finished) {
        rh_doc__null(doc, "progress");
        return;
    }
    rh_doc__open(doc, "progress", '{', true);
    rh_doc__text(doc, "stage", stage[study->stage]);
    rh_doc__whole(doc, "runs", study->nrun);
    rh_doc__whole(doc, "runs_at_most", rh_study__runs_predicted(study));
    rh_doc__close(doc);
}

// ---------------------------------------------------------------------------- the files

static bool write_data(rh_text *text, const rh_study *study)
{
    rh_doc doc = {.text = text};
    rh_doc__open(&doc, NULL, '{', false);
    rh_doc__whole(&doc, "report", VERSION);
    rh_doc__text(&doc, "name", rh_plan_text(study->plan, "name"));
    rh_study__write_fields(&doc, study, MOST_TIED);
    write_front(&doc, study);
    write_space(&doc, study->plan);
    write_settings(&doc, study->plan, &study->verdict);
    bool good = write_curves(&doc, study) &&
                write_jackknife(&doc, study->plan, &study->verdict) &&
                write_models(&doc, study);
    write_inspected(&doc, study);
    write_progress(&doc, study);
    write_best(&doc, study);
    write_next(&doc, study);
    rh_doc__text(&doc, "command", study->opt.command);
    rh_doc__close(&doc);
    return good && !text->bad;
}

// Replay stretches, once (decision 3). A log that cannot be replayed has none.
static bool replay(rh_study *study)
{
    if (study->replayed)
        return true;
    study->replayed = true;
    return rh_model__replay(&study->replays, rh_study__model(study), study->plan->seed,
                            study->opt.nthread, NULL) != RH_ENOMEM;
}

// Both files. The text is cleared.
static rh_status write_files(const rh_study *study, rh_text *text, int refresh, rh_error *err)
{
    char *data = rh_study__path(study->opt.folder, RH_REPORT_DATA),
         *page = rh_study__path(study->opt.folder, RH_REPORT_PAGE);
    rh_file *file = NULL;
    rh_status rc = data && page ? RH_OK : rh_base__no_memory(err, "study");
    if (!rc)
        rc = rh_report__write_study(page, text, refresh, err);
    if (!rc)
        rh_study__drop_link(data);
    if (!rc)
        rc = rh_file__create(&file, data, err);
    if (!rc)
        rc = rh_write__finish(file, text, 0, data, err);
    rh_text__clear(text);
    rh_free(data);
    rh_free(page);
    return rc;
}

rh_status rh_study__report(rh_study *study, int refresh, rh_error *err)
{
    rh_text text = {0};
    if (!study->opt.folder)
        return RH_OK;
    if (rh_study_verdict(study) && replay(study) && write_data(&text, study))
        return write_files(study, &text, refresh, err);
    rh_text__clear(&text);
    return rh_base__no_memory(err, "study");
}

void rh_study__watch(rh_study *study)
{
    double begun = rh_study__now();
    if (!study->opt.watch || begun < study->next_page)
        return;
    if (rh_study__report(study, REFRESH, NULL))
        study->opt.watch = false; // the last page says why it cannot be written
    double took = SELDOM * (rh_study__now() - begun);
    study->next_page = begun + (took > REFRESH ? took : REFRESH);
}
