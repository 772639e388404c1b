// kinds.c - the kinds of model that a confirmation runs in.
//
// A kind is how a model moves: "stitching" jumps between logged states (the paper's nearest
// neighbours), "carrying" carries the difference to the neighbour over, "network" predicts,
// "linear" is a regression with memory.
// Members of one kind differ by the part of the log they saw and share the kind's faults, so a
// setting that exploits such a fault holds in all of them. Another kind has other faults.
//
// 1. A kind is stored as type, parameters and representation, not as a fitted model: it is
//    fitted again when the confirmation begins, also in a resumed study, to the same bits.
// 2. A representation equal to that of the study's model is stored as "the same": it is not
//    learned again.

#include "kinds.h"

#include "base/base_internal.h"
#include "repr/repr.h"

#include <string.h>

#define CARRY "carry"
#define NONE "none"

// The named kinds.
static const struct {
    const char *label, *type;
} named[] = {
    {"stitching", "knn"}, {"carrying", "knn"}, {"network", "nn"}, {"linear", "linear"}};
enum { NNAMED = sizeof named / sizeof *named };

const char *rh_kinds__name(int i)
{
    return i < NNAMED ? named[i].label : NULL;
}

// Whether a model carries differences over.
static bool carries(const rh_model_type *type, const double *param)
{
    int at = rh_param_find(type->param, type->nparam, CARRY);
    const rh_param *p = at < 0 ? NULL : &type->param[at];
    return p && p->choice && strcmp(p->choice[(int)param[at]], NONE) != 0;
}

const char *rh_kinds__label(const rh_model_type *type, const double *param)
{
    bool carry = carries(type, param);
    for (int i = 0; i < NNAMED; i++)
        if (strcmp(named[i].type, type->name) == 0 &&
            (strcmp(named[i].label, "carrying") == 0) == carry)
            return named[i].label;
    return type->name;
}

// ---------------------------------------------------------------------------- the list

rh_status rh_kinds__add(rh_kinds *kinds, const rh_model_type *type, const double *param,
                        const rh_repr_type *repr, const double *repr_param, rh_error *err)
{
    if (type->nparam > RH_KINDS__NPARAM || (repr && repr->nparam > RH_KINDS__NPARAM))
        return rh_fail(err, RH_EINVAL,
                       "confirm: %s has more than %d parameters, expected fewer", type->name,
                       RH_KINDS__NPARAM);
    const char *label = rh_kinds__label(type, param);
    for (int i = 0; i < kinds->n; i++)
        if (strcmp(kinds->kind[i].label, label) == 0)
            return RH_OK;
    if (kinds->n == RH_KINDS__MOST)
        return rh_fail(err, RH_EINVAL, "confirm: more than %d kinds of model, expected fewer",
                       RH_KINDS__MOST);
    rh_kinds__kind *kind = &kinds->kind[kinds->n++];
    *kind = (rh_kinds__kind){.type = type, .repr = repr};
    snprintf(kind->label, sizeof kind->label, "%s", label);
    memcpy(kind->param, param, (size_t)type->nparam * sizeof *param);
    if (repr && repr->nparam)
        memcpy(kind->repr_param, repr_param, (size_t)repr->nparam * sizeof *repr_param);
    return RH_OK;
}

rh_status rh_kinds__begin(rh_kinds *kinds, const rh_model *model, rh_error *err)
{
    kinds->n = 0;
    return rh_kinds__add(kinds, rh_model_type_of(model), rh_model_params(model), NULL, NULL,
                         err);
}

// Make a model of nearest neighbours stitch or carry. False: this build has no such parameter.
static bool set_carry(const rh_model_type *type, bool carry, double *param)
{
    int at = rh_param_find(type->param, type->nparam, CARRY);
    if (at < 0)
        return !carry;
    if (carries(type, param) == carry)
        return true;
    if (!carry)
        return rh_param_parse(&type->param[at], type->name, NONE, &param[at], NULL) == RH_OK;
    double initial[RH_KINDS__NPARAM];
    rh_param_initial(type->param, type->nparam, initial);
    if (!carries(type, initial)) // the first that is not none
        initial[at] = strcmp(type->param[at].choice[0], NONE) == 0 ? 1.0 : 0.0;
    param[at] = initial[at];
    return true;
}

// ---------------------------------------------------------------------------- what is wanted

// Add a candidate of the comparison (decision 2).
static rh_status add_candidate(rh_kinds *kinds, const rh_model_trial *t, const rh_model *model,
                               rh_error *err)
{
    const rh_repr *own = rh_model_repr(model);
    bool same = rh_repr_type_of(own) == t->repr;
    for (int i = 0; same && i < t->repr->nparam; i++)
        same = rh_repr__params(own)[i] == t->repr_param[i];
    return rh_kinds__add(kinds, t->type, t->param, same ? NULL : t->repr, t->repr_param, err);
}

// The best candidate of a kind, or NULL.
static const rh_model_trial *best_of(const rh_model_comparison *all, const char *label)
{
    const rh_model_trial *best = NULL;
    for (int i = 0; all && i < all->ntrial; i++) {
        const rh_model_trial *t = &all->trial[i];
        if (t->tried && strcmp(rh_kinds__label(t->type, t->param), label) == 0 &&
            (!best || t->score < best->score))
            best = t;
    }
    return best;
}

static rh_status add_named(rh_kinds *kinds, int i, const rh_model *model, rh_error *err)
{
    double param[RH_KINDS__NPARAM];
    const rh_model_trial *best = best_of(rh_model_compared(model), named[i].label);
    if (best)
        return add_candidate(kinds, best, model, err);
    const rh_model_type *type = rh_model_find(named[i].type, err);
    if (!type)
        return RH_EINVAL;
    rh_param_initial(type->param, type->nparam, param);
    if (type == rh_model_type_of(model))
        memcpy(param, rh_model_params(model), (size_t)type->nparam * sizeof *param);
    if (strcmp(type->name, "knn") == 0 &&
        !set_carry(type, strcmp(named[i].label, "carrying") == 0, param))
        return rh_fail(err, RH_EINVAL, "confirm.kinds: no %s models in this version",
                       named[i].label);
    return rh_kinds__add(kinds, type, param, NULL, NULL, err);
}

rh_status rh_kinds__add_wanted(rh_kinds *kinds, int wanted, const rh_model *model,
                               rh_error *err)
{
    const rh_model_comparison *all = rh_model_compared(model);
    rh_status rc = RH_OK;
    for (int i = 0; i < NNAMED && !rc; i++)
        if (wanted & (RH_KINDS__FIRST << i))
            rc = add_named(kinds, i, model, err);
    for (int i = 0; wanted == RH_KINDS__AUTO && all && i < all->ntrial && !rc; i++)
        if (all->trial[i].tried && all->trial[i].credible && !all->trial[i].chosen)
            rc = add_candidate(kinds, &all->trial[i], model, err);
    return rc;
}
