// home.c - where agents of one stage live: an environment for each member of a model.

#include "study_internal.h"

rh_status rh_home__open(rh_home *home, const rh_model *model, rh_error *err)
{
    int n = rh_model_nmember(model);
    home->model = model;
    home->env = rh_alloc((size_t)n, sizeof *home->env);
    if (!home->env)
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    for (home->nmember = 0; home->nmember < n; home->nmember++) {
        rh_status rc = rh_model_env(&home->env[home->nmember], model, home->nmember, NULL, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

void rh_home__clear(rh_home *home)
{
    for (int i = 0; i < home->nmember; i++)
        rh_env_destroy(home->env[i]);
    rh_free((void *)home->env);
    rh_model_destroy(home->owned);
    *home = (rh_home){0};
}
