// plan_parts.c - the model to fit: its kind, the representation, the task (docs/fit.md).
//
// 1. All other keys override a preset, wherever it is written: its values come first.
// 2. reach of a model is auto, none, a share of all queries (99%) or a distance (0.3). The
//    last two set two parameters each.
// 3. The representation is chosen with the model (plan_choose.c) unless something is set for
//    it.
// 4. Beside model:FILE all of these keys are refused: they have no effect on a fitted model.

#include "base/base.h"
#include "plan.h"
#include "repr/repr.h"

#include <math.h>
#include <string.h>

#define USUAL_REPR "laplacian"

// ---------------------------------------------------------------------------- tables

rh_status rh_plan__initial(double **param, const rh_param *table, int nparam, rh_error *err)
{
    double *value = rh_alloc((size_t)nparam + 1, sizeof *value);
    if (!value)
        return rh_plan__no_memory(err);
    rh_param_initial(table, nparam, value);
    rh_free(*param);
    *param = value;
    return RH_OK;
}

// Of a choice: by name; true and false stand for yes and no.
static rh_status choose(const rh_param *p, const char *owner, const rh_key__said *said,
                        double *value, rh_error *err)
{
    rh_error why = {""};
    bool yes;
    if (rh_param_parse(p, owner, said->value->text, value, &why) == RH_OK)
        return RH_OK;
    if (rh_yaml__truth(said->value, &yes) &&
        rh_param_parse(p, owner, yes ? "yes" : "no", value, NULL) == RH_OK)
        return RH_OK;
    return rh_key__blame(said, NULL, err, why.text);
}

rh_status rh_plan__value(const rh_param *table, int nparam, const char *owner, const char *name,
                         const rh_key__said *said, double *param, rh_error *err)
{
    rh_error why = {""};
    int i = 0;
    double x;
    if (rh_param_lookup(table, nparam, owner, name, &i, &why) != RH_OK)
        return rh_key__blame(said, NULL, err, why.text);
    const rh_param *p = &table[i];
    if (said->value->kind != RH_YAML_TEXT)
        return rh_key__refuse(said, NULL, "", err, "one value");
    if (p->choice)
        return choose(p, owner, said, &param[i], err);
    if (rh_yaml__number(said->value, &x) && rh_param__check(p, 1, owner, &x, NULL) == RH_OK) {
        param[i] = x;
        return RH_OK;
    }
    char lo[32], hi[32], expected[100];
    rh_param__format(p, p->lo, lo, sizeof lo);
    rh_param__format(p, p->hi, hi, sizeof hi);
    snprintf(expected, sizeof expected, "a %snumber, %s to %s", p->whole ? "whole " : "", lo,
             hi);
    return rh_key__refuse(said, NULL, "", err, expected);
}

rh_status rh_plan__values(const rh_plan *plan, const char *section, const rh_param *table,
                          int nparam, const char *owner, double *param, rh_error *err)
{
    const rh_key__said *said;
    const char *name;
    rh_status rc = RH_OK;
    for (int i = 0; !rc && (said = rh_plan__below(plan, section, &i, &name)) != NULL;)
        rc = rh_plan__value(table, nparam, owner, name, said, param, err);
    return rc;
}

// ---------------------------------------------------------------------------- the model

// auto, none, quantile, fixed, 99% or 0.3
static rh_status read_reach(const rh_model_type *type, double *param, const rh_key__said *said,
                            rh_error *err)
{
    int reach = rh_param_find(type->param, type->nparam, "reach");
    int share_at = rh_param_find(type->param, type->nparam, "reach_quantile");
    int distance_at = rh_param_find(type->param, type->nparam, "reach_distance");
    const rh_yaml *node = said->value;
    double x;
    if (reach < 0 || share_at < 0 || distance_at < 0 || node->kind != RH_YAML_TEXT)
        return rh_plan__value(type->param, type->nparam, type->name, "reach", said, param, err);
    const rh_param *p = &type->param[reach];
    if (rh_param_parse(p, type->name, node->text, &param[reach], NULL) == RH_OK)
        return RH_OK;

    char text[40];
    size_t n = strlen(node->text);
    bool share = n > 1 && n < sizeof text && node->text[n - 1] == '%';
    rh_yaml number = *node;
    if (share) {
        snprintf(text, sizeof text, "%.*s", (int)n - 1, node->text);
        number.text = text;
    }
    if (!rh_yaml__number(&number, &x) || !(x > 0.0) || (share && x > 100.0))
        return rh_key__refuse(said, NULL, "", err,
                              "auto, none, a share of all queries such as 99%, or a distance "
                              "such as 0.3");
    param[share ? share_at : distance_at] = share ? x / 100.0 : x;
    return rh_param_parse(p, type->name, share ? "quantile" : "fixed", &param[reach], err);
}

rh_status rh_plan__model_value(const rh_model_type *type, double *param, const char *name,
                               const rh_key__said *said, rh_error *err)
{
    return strcmp(name, "reach") == 0
               ? read_reach(type, param, said, err)
               : rh_plan__value(type->param, type->nparam, type->name, name, said, param, err);
}

rh_status rh_plan__model_values(const rh_plan *plan, const rh_model_type *type, double *param,
                                rh_error *err)
{
    const rh_key__said *said;
    const char *name;
    rh_status rc = RH_OK;
    for (int i = 0; !rc && (said = rh_plan__below(plan, "model.", &i, &name)) != NULL;)
        rc = rh_plan__model_value(type, param, name, said, err);
    return rc;
}

static rh_status read_members(rh_plan *plan, rh_error *err)
{
    const rh_key__said *share = rh_plan__said(plan, "model.share");
    if (!rh_plan__said(plan, "model.members"))
        plan->fit.nmember = 1;
    if (!rh_plan__said(plan, "model.resample"))
        plan->fit.resample = plan->fit.nmember > 1 ? RH_RESAMPLE_SUBSET : RH_RESAMPLE_ALL;
    if (!share)
        plan->fit.share = rh_model_defaults().share;
    if (share && plan->fit.resample != RH_RESAMPLE_SUBSET)
        return rh_key__blame(share, NULL, err, "model.share is for resample: subset");
    return RH_OK;
}

// The preset's parameters, if they are of this type.
static rh_status read_preset_model(rh_plan *plan, const rh_model_type *type, rh_error *err)
{
    const rh_yaml *kind = rh_plan__preset(plan, "model.kind");
    rh_status rc = RH_OK;
    for (int i = 0; kind && strcmp(kind->text, type->name) == 0 && i < type->nparam; i++) {
        char key[100];
        snprintf(key, sizeof key, "model.%s", type->param[i].name);
        const rh_yaml *value = rh_plan__preset(plan, key);
        if (value && !rc)
            rc = rh_param_parse(&type->param[i], type->name, value->text, &plan->model_param[i],
                                err);
    }
    return rc;
}

static rh_status read_model(rh_plan *plan, rh_error *err)
{
    const rh_model_type *type = plan->model;
    if (!type) // the candidates get what was set
        return read_members(plan, err);
    rh_status rc = rh_plan__initial(&plan->model_param, type->param, type->nparam, err);
    if (!rc)
        rc = read_preset_model(plan, type, err);
    if (!rc)
        rc = rh_plan__model_values(plan, type, plan->model_param, err);
    return rc ? rc : read_members(plan, err);
}

// ---------------------------------------------------------------------------- the task

static rh_status read_task(rh_plan *plan, rh_error *err)
{
    const rh_env_type *type = plan->task_of;
    const rh_key__said *last = rh_plan__said(plan, "task.env"), *said;
    const char *name;
    rh_env *env = NULL;
    rh_error why = {""};
    for (int i = 0; (said = rh_plan__below(plan, "task.", &i, &name)) != NULL; last = said)
        if (!type)
            return rh_key__blame(said, NULL, err,
                                 "this is an option of the task's environment; set task.env "
                                 "too");
    if (!type)
        return RH_OK;
    rh_status rc = rh_plan__initial(&plan->task_opt, type->param, type->nparam, err);
    if (!rc)
        rc = rh_plan__values(plan, "task.", type->param, type->nparam, type->name,
                             plan->task_opt, err);
    if (rc)
        return rc;

    // options may be refused together that are good one by one
    rc = rh_env_create(&env, type, plan->task_opt, &why);
    rh_env_destroy(env);
    if (rc == RH_ENOMEM)
        return rh_plan__no_memory(err);
    return rc ? rh_key__blame(last, NULL, err, why.text) : RH_OK;
}

// ---------------------------------------------------------------------------- representation

// Whether all parameters of a kind were set: a preset would have no effect.
static bool all_said(const rh_plan *plan, const char *kind)
{
    const rh_repr_type *type = kind ? rh_repr_find(kind, NULL) : NULL;
    bool all = type != NULL;
    for (int i = 0; all && i < type->nparam; i++) {
        char key[100];
        snprintf(key, sizeof key, "representation.%s", type->param[i].name);
        all = rh_plan__said(plan, key) != NULL;
    }
    return all;
}

// The preset of a representation that was set, or that of the plan's preset: the one of its
// task. NULL for none.
static rh_status find_preset(const rh_plan *plan, const char *kind,
                             const rh_repr__preset **preset, rh_error *err)
{
    const rh_key__said *said = rh_plan__said(plan, "representation.preset");
    const rh_key__said *whole = rh_plan__said(plan, "preset");
    rh_error why = {""};
    *preset = NULL;
    if (said)
        *preset = rh_repr_preset__find(said->value->text, err);
    else if (rh_plan__preset(plan, "representation.preset") &&
             (!kind || strcmp(kind, USUAL_REPR) == 0) && !all_said(plan, kind)) {
        if (!plan->task_of)
            return rh_key__blame(whole, NULL, err,
                                 "preset paper: the paper has one for each environment; set "
                                 "task: acrobot, puddle_world or cartpole");
        *preset = rh_repr_preset__find(plan->task_of->name, &why);
        return *preset ? RH_OK : rh_key__blame(whole, NULL, err, why.text);
    }
    return RH_OK;
}

static rh_status set_repr(rh_plan *plan, const char *name, rh_error *err)
{
    plan->repr = rh_repr_find(name, err);
    if (!plan->repr)
        return RH_EINVAL;
    return rh_plan__initial(&plan->repr_param, plan->repr->param, plan->repr->nparam, err);
}

static rh_status read_repr(rh_plan *plan, const rh_log *log, rh_error *err)
{
    const rh_key__said *said = rh_plan__said(plan, "representation.kind");
    const char *kind = said ? said->value->text : NULL, *first;
    const rh_key__said *set = rh_plan__below(plan, "representation.", &(int){0}, &first);
    const rh_repr__preset *preset = NULL;
    rh_status rc = find_preset(plan, kind, &preset, err);
    if (rc)
        return rc;
    if (kind && preset && strcmp(kind, preset->type) != 0) {
        char why[160];
        snprintf(why, sizeof why, "representation %.40s, but the preset %s is for %s", kind,
                 preset->name, preset->type);
        return rh_key__blame(said, NULL, err, why);
    }
    plan->repr_given = kind || preset;
    if (kind && strcmp(kind, "auto") == 0)
        return set ? rh_key__blame(set, NULL, err,
                                   "representation auto sets its own parameters")
                   : RH_OK;

    // nothing was asked for: chosen with the model
    plan->repr_open = !kind && !preset && !set;
    if (plan->repr_open)
        return RH_OK;

    // a log without order gets the raw representation
    rc = set_repr(plan, preset ? preset->type : kind ? kind : USUAL_REPR, err);
    bool order = !log || log->n > log->nepisode;
    if (!rc && plan->repr->ordered && !order && !plan->repr_given) {
        if (set)
            return rh_key__blame(set, NULL, err,
                                 "the log's steps have no order that laplacian could learn "
                                 "from; use representation: raw");
        rc = set_repr(plan, "raw", err);
    }
    if (!rc && preset)
        rc = rh_repr_preset__apply(preset, plan->repr_param, err);
    return rc ? rc
              : rh_plan__values(plan, "representation.", plan->repr->param, plan->repr->nparam,
                                plan->repr->name, plan->repr_param, err);
}

// ---------------------------------------------------------------------------- all of it

bool rh_plan__is_fitted(const rh_plan *plan)
{
    return plan->data && rh_plan__behind(plan->data, RH_PLAN__MODEL);
}

// Whether a key is about fitting a model.
static bool is_of_fit(const rh_plan *plan, const char *key)
{
    const rh_plan__row *row = rh_plan__row_of(key);
    return row && (row->fit || (strcmp(key, "preset") == 0 && plan->preset));
}

static rh_status check_fitted(const rh_plan *plan, rh_error *err)
{
    const rh_plan__book *book = plan->book;
    for (int i = 0; i < book->nsaid; i++) {
        const rh_key__said *said = &book->said[i];
        if (!is_of_fit(plan, said->key))
            continue;
        char why[240];
        snprintf(why, sizeof why, "%.64s is for a log, but %.120s is fitted already",
                 said->file || !said->where ? said->shown : said->where, plan->data);
        return rh_key__blame(said->file ? said : NULL, NULL, err, why);
    }
    return RH_OK;
}

rh_status rh_plan__parts(rh_plan *plan, const rh_log *log, rh_error *err)
{
    const rh_key__said *joint = rh_plan__said(plan, "representation.joint");
    rh_status rc = rh_plan__is_fitted(plan) ? check_fitted(plan, err) : RH_OK;
    if (!rc)
        rc = read_model(plan, err);
    if (!rc)
        rc = read_task(plan, err);
    if (!rc)
        rc = read_repr(plan, log, err);
    if (!rc)
        rc = rh_plan__candidates(plan, log, err);
    if (!rc && plan->joint && log && log->naction)
        rc = rh_key__blame(joint, NULL, err,
                           "representation.joint is for continuous actions, and the log's "
                           "are discrete");
    return rc;
}
