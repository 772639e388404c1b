// preset.c - published parameters of representations.
//
// From the paper's appendix on distance metrics, else from the authors' code: observations are
// not scaled, the first layer has no biases, codes have 8 numbers, in Puddle World 4.

#include "base/base.h"
#include "repr.h"
#include "repr_internal.h"

#include <string.h>

#define PAPER(d, zeta, window, rate)                                                           \
    {                                                                                          \
        {"scale", "none"}, {"d", d}, {"hidden", "128"}, {"kappa", "0.8"}, {"beta", "5"},       \
            {"zeta", zeta}, {"window", window}, {"rate", rate}, {"batch", "128"},              \
            {"steps", "30000"}, {"check", "1000"}, {"patience", "3"}, {"half", "no"},          \
            {"first_bias", "no"},                                                              \
    }

static const rh_repr__preset preset[] = {
    {"acrobot", "the paper's for Acrobot in experiments 1, 3 and 5", "laplacian",
     PAPER("8", "0.5", "20", "3e-5")},
    {"acrobot-exp2", "the paper's for Acrobot in experiment 2", "laplacian",
     PAPER("8", "0.05", "20", "3e-5")},
    {"cartpole", "the paper's for Cartpole", "laplacian", PAPER("8", "0.05", "50", "3e-5")},
    {"puddle_world", "the paper's for Puddle World in experiments 1 and 5", "laplacian",
     PAPER("4", "0.05", "10", "3e-4")},
    {"puddle_world-exp2", "the paper's for Puddle World in experiment 2", "laplacian",
     PAPER("4", "0.05", "5", "1e-4")},
};

enum { NPRESET = sizeof preset / sizeof *preset };

int rh_repr__npreset(void)
{
    return NPRESET;
}

const rh_repr__preset *rh_repr_preset__at(int i)
{
    return i >= 0 && i < NPRESET ? &preset[i] : NULL;
}

const rh_repr__preset *rh_repr_preset__find(const char *name, rh_error *err)
{
    const char *names[NPRESET];
    for (int i = 0; i < NPRESET; i++) {
        names[i] = preset[i].name;
        if (strcmp(name, names[i]) == 0)
            return &preset[i];
    }
    rh_base__unknown(err, "no preset of a representation", name, names, NPRESET);
    return NULL;
}

rh_status rh_repr_preset__apply(const rh_repr__preset *from, double *param, rh_error *err)
{
    const rh_repr_type *type = rh_repr_find(from->type, err);
    if (!type)
        return RH_EINVAL;
    for (const rh_setting *s = from->set; s->name; s++) {
        int i = 0;
        rh_status rc = rh_param_lookup(type->param, type->nparam, type->name, s->name, &i, err);
        if (!rc)
            rc = rh_param_parse(&type->param[i], type->name, s->value, &param[i], err);
        if (rc)
            return rc;
    }
    return RH_OK;
}
