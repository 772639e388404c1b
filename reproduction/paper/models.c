// models.c - the paper's kNN model of the Laplacian of a log, fitted once for all its users.
//
// The model is a file in DIR/models, written before its cell. If it is missing, it is fitted
// again: the same model, because a fit is a function of the options alone.

#include "paper_internal.h"

#include "base/base_internal.h"

#include <string.h>

#define SECONDS 9.0 // to fit a model, measured; nearly all of it for the Laplacian

// The plan of a model does not depend on what is tuned in it, but has to be one.
static const rh_paper__problem *problem_of(const rh_paper__world *world)
{
    return world == &rh_paper__acrobot  ? &rh_paper__esarsa_acrobot
           : world == &rh_paper__puddle ? &rh_paper__esarsa_puddle
                                        : &rh_paper__esarsa_cartpole;
}

static rh_status fit(rh_model **out, const rh_paper *paper, const rh_paper__cell *cell,
                     rh_error *err)
{
    rh_log *log = NULL, *starts = NULL;
    rh_plan *plan = NULL;
    rh_fit_options opt = rh_fit_defaults();
    rh_status rc = rh_paper__collect(&log, &starts, paper, cell->problem->world, cell->data,
                                     cell->log, err);
    if (!rc)
        rc =
            rh_paper__plan_of(&plan, paper, cell->problem, &rh_paper__knn, cell->log, log, err);
    opt.starts = starts;
    opt.nthread = 1;
    opt.fidelity = false;
    opt.watch = (rh_watch){.stop = paper->opt.stop, .context = paper->opt.context};
    if (!rc)
        rc = rh_plan_fit(out, plan, log, &opt, err);
    rh_plan_destroy(plan);
    rh_log_destroy(log);
    rh_log_destroy(starts);
    return rc;
}

static rh_status make(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                      rh_error *err)
{
    rh_model *model = NULL;
    rh_text path = {0};
    double none = 0.0;
    int at = (int)(cell - paper->cell);
    rh_status rc = fit(&model, paper, cell, err);
    if (!rc && !rh_paper__path(paper, at, "models", "model", &path))
        rc = rh_base__no_memory(err, "paper");
    if (!rc)
        rc = rh_model_write(model, path.data, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &none, 1, err);
    rh_text__clear(&path);
    rh_model_destroy(model);
    return rc;
}

int rh_paper__model_cell(rh_paper *paper, const rh_paper__world *world,
                         const rh_paper__data *data, int log)
{
    return rh_paper__add(paper, (rh_paper__cell){.run = make,
                                                 .what = "model",
                                                 .problem = problem_of(world),
                                                 .data = data,
                                                 .log = log,
                                                 .after = -1,
                                                 .cost = paper->opt.quick ? 1.0 : SECONDS});
}

rh_status rh_paper__model(rh_model **out, const rh_paper *paper, int cell, rh_error *err)
{
    rh_text path = {0};
    if (!rh_paper__path(paper, cell, "models", "model", &path))
        return rh_base__no_memory(err, "paper");
    rh_status rc = rh_model_read(out, path.data, err);
    rh_text__clear(&path);
    return rc && rc != RH_ENOMEM ? fit(out, paper, &paper->cell[cell], err) : rc;
}
