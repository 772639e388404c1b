// write_task.c - the part of best.yaml that a deployed agent needs beside its hyperparameters:
// the task, and the curve to compare it with.
//
// 1. The ranges are those that agents were told in the model: the plant's must be the same.
//    `seen` is what the log contains; about other values it says nothing.
// 2. The first sensors come from the plant. Those derived from them, and the history, are made
//    by the deployment as the log's reader made them (rh_observer).
// 3. The formula of the reward is in terms of the step: obs[i], act[i], next[i].

#include "log/log.h"
#include "study_internal.h"

#include <inttypes.h>
#include <math.h>

static void seen_range(const rh_log *log, int sensor, double *lo, double *hi)
{
    *lo = *hi = NAN;
    for (int64_t i = 0; i < log->nstate; i++) {
        double x = log->obs[i * log->nobs + sensor];
        if (isfinite(x)) {
            *lo = fmin(*lo, x);
            *hi = fmax(*hi, x);
        }
    }
}

static void add_sensors(rh_text *t, const rh_task *task, const rh_log *log)
{
    rh_text__add(t, "  sensors: # in this order; range: as the agent scales it, seen: in the "
                    "log\n");
    for (int i = 0; i < task->nobs; i++) {
        double lo, hi;
        rh_text__add(t, "    - {name: ");
        rh_text__json(t, task->obs_name[i]);
        if (*log->obs_unit[i]) {
            rh_text__add(t, ", unit: ");
            rh_text__json(t, log->obs_unit[i]);
        }
        rh_text__add(t, ", range: ");
        rh_write__interval(t, task->obs_lo[i], task->obs_hi[i]);
        rh_text__add(t, ", seen: ");
        seen_range(log, i, &lo, &hi);
        rh_write__interval(t, lo, hi);
        rh_text__add(t, "}\n");
    }
}

static void add_tiled(rh_text *t, const rh_task *task)
{
    const rh_tiled *tiled = &task->tiled;
    if (!tiled->nsensor)
        return;
    rh_text__add(t, "  tiled: # what tile coders use of them\n    sensors: [");
    for (int i = 0; i < tiled->nsensor; i++) {
        rh_text__add(t, i ? ", " : "");
        rh_text__json(t, task->obs_name[tiled->sensor[i]]);
    }
    rh_text__add(t, "]\n    pairs: [");
    for (int i = 0; i < tiled->npair; i++) {
        rh_text__add(t, i ? ", [" : "[");
        rh_text__json(t, task->obs_name[tiled->pair[i][0]]);
        rh_text__add(t, ", ");
        rh_text__json(t, task->obs_name[tiled->pair[i][1]]);
        rh_text__add(t, "]");
    }
    rh_text__add(t, "]\n");
}

// How a deployment makes the sensors that the plant does not send.
static void add_made(rh_text *t, const rh_log *log)
{
    int stack = log->stack > 1 ? log->stack : 1;
    int code = log->naction == 2 ? 1 : log->naction ? log->naction : log->nact;
    int now = (log->nobs - (stack - 1) * code) / stack;
    if (stack == 1 && !log->derive)
        return;
    rh_text__format(t,
                    "  sent: %d # the plant sends the first sensors; derive and stack make the "
                    "others\n",
                    now - rh_derive__count(log->derive));
    if (log->derive) {
        rh_text__add(t, "  derive: ");
        rh_text__json(t, log->derive);
        rh_text__add(t, "\n");
    }
    if (stack > 1)
        rh_text__format(t, "  stack: %d # observations in one\n", stack);
}

static void add_actions(rh_text *t, const rh_task *task, const rh_log *log)
{
    if (task->naction) {
        rh_text__add(t, "  action: ");
        rh_text__json(t, log->act_name[0]);
        rh_text__add(t, "\n  actions: [");
        for (int i = 0; i < task->naction; i++) {
            rh_text__add(t, i ? ", " : "");
            rh_text__json(t, log->label[i]);
        }
        rh_text__add(t, "]\n");
        return;
    }
    rh_text__add(t, "  actions: # continuous\n");
    for (int i = 0; i < task->nact; i++) {
        rh_text__add(t, "    - {name: ");
        rh_text__json(t, log->act_name[i]);
        rh_text__add(t, ", range: ");
        rh_write__interval(t, task->act_lo[i], task->act_hi[i]);
        rh_text__add(t, "}\n");
    }
}

void rh_write__task(rh_text *t, const rh_model *model)
{
    const rh_task *task = rh_model_task(model);
    const rh_log *log = rh_model_log(model);
    rh_text__add(t, "task:\n");
    add_sensors(t, task, log);
    add_tiled(t, task);
    add_made(t, log);
    add_actions(t, task, log);
    rh_text__add(t, "  reward: {name: ");
    rh_text__json(t, log->reward_name);
    if (log->reward_formula) {
        rh_text__add(t, ", formula: ");
        rh_text__json(t, log->reward_formula);
    }
    rh_text__add(t, ", lowest: ");
    rh_write__number(t, task->reward_lo);
    rh_text__format(t, "}\n  continuing: %s\n  gamma: ", task->continuing ? "true" : "false");
    rh_write__number(t, task->gamma);
    rh_text__format(t, "\n  steps: %" PRId64 "\n", task->nstep);
}

static void add_points(rh_text *t, const char *key, const double *x, int n)
{
    rh_text__add(t, key);
    for (int i = 0; i < n; i++) {
        rh_text__add(t, i ? ", " : "");
        rh_write__number(t, x[i]);
    }
    rh_text__add(t, "]\n");
}

void rh_write__promise(rh_text *t, const rh_trial *trial, int64_t nstep, int ncurve)
{
    if (!trial->spread || !isfinite(trial->alarm) || ncurve < 1 || nstep < ncurve)
        return;
    rh_text__format(t,
                    "promise: # learning curve in the models, from the first step\n"
                    "  steps: %" PRId64 "\n  runs: %d\n",
                    nstep, trial->ncurve_run);
    add_points(t, "  mean: [", trial->promised, ncurve);
    add_points(t, "  spread: [", trial->spread, ncurve);
    rh_text__add(t, "  alarm: ");
    rh_write__number(t, trial->alarm);
    rh_text__add(t, " # summed deficits of a broken promise\n  false_alarms: ");
    rh_write__number(t, trial->false_alarms);
    rh_text__add(t, " # probability in so many steps\n");
}
