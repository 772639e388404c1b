// plan_choose.c - the models that a fit chooses from, narrowed by what was set.
//
// 1. model: knn or nn leaves candidates of this type with the parameters set, in any
//    representation; representation: raw leaves candidates in this representation.
// 2. With model: auto, a parameter that was set (k: 5) holds for all candidates. Those whose
//    type does not have it are left out, and so are those that stand for another value of it
//    (carry: log leaves only candidates that carry by the log).
// 3. Where one candidate is left, it is fitted without a comparison.
// 4. A log whose steps have no order has no candidates with representations that need it.

#include "model/model.h"
#include "plan.h"

#include <string.h>

static bool same_values(const double *a, const double *b, int n)
{
    bool same = true;
    for (int i = 0; same && i < n; i++)
        same = a[i] == b[i];
    return same;
}

static bool same_trial(const rh_model_trial *a, const rh_model_trial *b)
{
    return a->type == b->type && a->repr == b->repr &&
           same_values(a->param, b->param, a->type->nparam) &&
           same_values(a->repr_param, b->repr_param, a->repr->nparam);
}

// Whether both carry in the same way: the parameter that tells candidates of a type apart.
static bool carries_alike(const rh_model_type *type, const double *a, const double *b)
{
    int at = rh_param_find(type->param, type->nparam, "carry");
    return at < 0 || a[at] == b[at];
}

// Set the model's parameters of a candidate. *fits: it has all of them, and stands for these.
static rh_status set_params(const rh_plan *plan, rh_model_trial *one, bool *fits, rh_error *err)
{
    const rh_model_type *type = one->type;
    const rh_key__said *said;
    const char *name;
    double param[RH_MODEL_NPARAM];
    rh_status rc = RH_OK;
    memcpy(param, one->param, sizeof param);
    *fits = !plan->model || plan->model == type;
    if (plan->model && *fits)
        memcpy(param, plan->model_param, (size_t)type->nparam * sizeof *param);
    for (int i = 0; !rc && *fits && !plan->model &&
                    (said = rh_plan__below(plan, "model.", &i, &name)) != NULL;) {
        *fits = rh_param_find(type->param, type->nparam, name) >= 0;
        if (*fits)
            rc = rh_plan__model_value(type, param, name, said, err);
    }
    *fits = *fits && carries_alike(type, param, one->param);
    memcpy(one->param, param, sizeof param);
    return rc;
}

// Set the representation of a candidate. False: it has another one.
static bool set_repr(const rh_plan *plan, const rh_log *log, rh_model_trial *one)
{
    bool order = !log || log->n > log->nepisode;
    if (plan->repr_open)
        return order || !one->repr->ordered;
    one->optional = false;
    if (!plan->repr) // chosen before the model is
        return !one->repr->ordered;
    one->repr = plan->repr;
    memset(one->repr_param, 0, sizeof one->repr_param);
    memcpy(one->repr_param, plan->repr_param,
           (size_t)plan->repr->nparam * sizeof *one->repr_param);
    return true;
}

static void add(rh_plan *plan, const rh_model_trial *one)
{
    for (int i = 0; i < plan->ncandidate; i++)
        if (same_trial(&plan->candidate[i], one))
            return;
    plan->candidate[plan->ncandidate++] = *one;
}

// A model that no candidate stands for, or whose parameters no candidate has.
static rh_status add_other(rh_plan *plan, const rh_model_trial *first, rh_error *err)
{
    rh_model_trial one = *first;
    rh_status rc = RH_OK;
    one.type = plan->model ? plan->model : first->type;
    one.kind = strcmp(one.type->name, "nn") == 0       ? "network"
               : strcmp(one.type->name, "linear") == 0 ? "linear"
                                                       : "stitching";
    memset(one.param, 0, sizeof one.param);
    rh_param_initial(one.type->param, one.type->nparam, one.param);
    if (plan->model)
        memcpy(one.param, plan->model_param, (size_t)one.type->nparam * sizeof *one.param);
    else
        rc = rh_plan__model_values(plan, one.type, one.param, err);
    int carry = rh_param_find(one.type->param, one.type->nparam, "carry");
    if (carry >= 0 && one.param[carry] > 0.0) // 0: none
        one.kind = "carrying";
    set_repr(plan, NULL, &one);
    if (!rc)
        add(plan, &one);
    return rc;
}

rh_status rh_plan__candidates(rh_plan *plan, const rh_log *log, rh_error *err)
{
    rh_model_trial *all = rh_alloc(RH_MODEL_NTRIAL, sizeof *all);
    rh_status rc = RH_OK;
    plan->ncandidate = 0;
    plan->candidate = rh_alloc(RH_MODEL_NTRIAL, sizeof *plan->candidate);
    if (!all || !plan->candidate) {
        rh_free(all);
        return rh_plan__no_memory(err);
    }
    int n = rh_model__candidates(all);
    for (int i = 0; i < n && !rc; i++) {
        rh_model_trial one = all[i];
        bool fits = false;
        rc = set_params(plan, &one, &fits, err);
        if (!rc && fits && set_repr(plan, log, &one))
            add(plan, &one);
    }
    if (!rc && plan->ncandidate == 0)
        rc = add_other(plan, &all[0], err);
    rh_free(all);
    return rc;
}
