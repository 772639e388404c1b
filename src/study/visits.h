// visits.h - where agents go in a model: a sample of the states they visit and of the actions
// they take there.

#ifndef REHEARSE_STUDY_VISITS_H
#define REHEARSE_STUDY_VISITS_H

#include "rehearse/eval.h"

typedef struct rh_visits {
    double *obs, *act; // owned            (n x nobs), (n x nact)
    int64_t n;
} rh_visits;

// Run settings hp (nsetting x nparam) in members env (nmember), opt->nrun runs each, and keep
// `most` steps of each run, spread over it, fewer where a run is shorter or breaks down.
// opt->nthread changes no result. opt->visit, watch and ncurve are not used. RH_ESTOPPED when
// opt->stop returns true. Clear also after a failure.
rh_status rh_visits__gather(rh_visits *visits, rh_env *const *env, int nmember,
                            const rh_agent_type *agent, const rh_task *task, int nsetting,
                            const double *hp, const rh_eval_options *opt, int most,
                            rh_error *err);
void rh_visits__clear(rh_visits *visits);

#endif
