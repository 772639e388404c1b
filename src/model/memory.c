// memory.c - how much of the past a log's state needs, and after how many steps an action acts.
//
// A linear regression of the whole log, or of an excerpt of a long one, chooses both by its
// replays (linear_fit.c). Sensor noise counts as memory: more of the past averages it.

#include "base/base_internal.h"
#include "linear_internal.h"
#include "model.h"

#define MOST_STEPS 20000 // of the log; about 0.3 s

rh_status rh_model__memory(rh_model__past *out, const rh_log *log, rh_error *err)
{
    rh_model_options opt = rh_model_defaults();
    rh_repr_options raw = rh_repr_defaults();
    double param[RH_LINEAR_NPARAM];
    rh_log *excerpt = NULL;
    rh_repr *repr = NULL;
    rh_model *model = NULL;
    rh_param_initial(rh_linear__param, RH_LINEAR_NPARAM, param);
    param[RH_LINEAR_FORM] = RH_LINEAR_PLAIN;
    opt.param = param;
    opt.fidelity = false;
    rh_status rc = rh_model__excerpt(&excerpt, log, MOST_STEPS, err);
    log = excerpt ? excerpt : log;
    if (!rc)
        rc = rh_repr_fit(&repr, rh_repr_find("raw", NULL), log, &raw, err);
    if (!rc)
        rc = rh_model_fit(&model, &rh_model_linear, log, repr, &opt, err);
    if (!rc) {
        const rh_linear *m = model->member[0];
        *out = (rh_model__past){.steps = m->plan.lags, .dead_time = m->plan.delay};
        for (int i = 0; i < RH_LINEAR__NSLOW; i++)
            if (m->plan.slow >> i & 1)
                out->steps = (int)rh_linear__span[i];
    }
    rh_model_destroy(model);
    rh_repr_destroy(repr);
    rh_log_destroy(excerpt);
    return rc;
}
