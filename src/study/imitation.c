// imitation.c - how well does the clone imitate the logged controller?
//
// "Keep the controller" means the controller itself. Its clone stands for it in the models, and
// what it loses there it may lose because it is a bad copy. So it is measured where it was not
// fitted: on the held-out episodes of the steps that agents get in a rehearsal.
//
// A clone is poor if it explains less than POOR of what the best constant action leaves open:
// of steps with another action, or of variance. That is by 178 clones (before their weights
// decayed) of nine controllers (half *thresholds*, logs of 300 to 3,000 steps, histories of 1
// and 8), which then acted on the plant: 14 of 18 below 0.2 lost more than a fifth of the
// controller's score, 55 of 160 above. A clone that is not poor may still fail: one of hvac
// explains 0.95, and drifts in weather that its log did not have. So nobody is told to deploy a
// clone for its controller.

#include "core.h"
#include "plan.h"
#include "study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define POOR 0.2 // see above

static int clone_of(const rh_plan *plan)
{
    for (int a = 0; a < plan->agents.n; a++)
        if (strcmp(plan->agents.type[a]->name, RH_PLAN__CLONE) == 0)
            return a;
    return -1;
}

rh_imitation rh_study__imitation_of(const rh_clone__quality *q, int naction, int nact)
{
    rh_imitation i = {.n = q->nheld, .agreement = q->agreement, .constant = NAN, .error = NAN};
    double explained = naction ? (q->agreement - q->constant) / (1.0 - q->constant) : 1.0;
    for (int k = 0; k < nact && !naction; k++) {
        double error = q->sd[k] > 0.0 ? q->spread[k] / q->sd[k] : 0.0;
        i.error = k ? fmax(i.error, error) : error;
        explained = 1.0 - i.error * i.error;
    }
    i.poor = i.n && explained < POOR; // false where the action is always the same
    if (naction) {
        i.constant = q->constant;
        snprintf(i.text, sizeof i.text,
                 "takes the logged action in %.0f %% of %" PRId64
                 " held-out steps; the most frequent action is right in %.0f %%",
                 100.0 * i.agreement, i.n, 100.0 * i.constant);
    } else
        snprintf(i.text, sizeof i.text,
                 "errs by %.2f standard deviations of the action in %" PRId64
                 " held-out steps; the best constant action by 1",
                 i.error, i.n);
    return i;
}

rh_status rh_study__imitate(rh_study *study, rh_error *err)
{
    rh_task task = study->task;
    rh_clone__quality q;
    int a = clone_of(study->plan);
    if (a < 0 || !study->prior.n)
        return RH_OK;
    task.prior = (rh_prior){.n = study->prior.n, .row = study->prior.row};
    rh_status rc = rh_clone__measure(&q, &task, rh_plan__own(study->plan, a), err);
    if (!rc)
        study->imitation = rh_study__imitation_of(&q, task.naction, task.nact);
    study->judged = false; // the verdict depends on it
    return rc;
}
