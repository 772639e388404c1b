// plans.h - small logs, and plans from a text, for the tests of the plan.

#ifndef PLANS_H
#define PLANS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "env/part_names.h"
#include "study/plan.h"

#define FILE_NAME "dir/study.yaml"

// One more thing that is wrong, said at once, so that a table shows all that is wrong in it.
#define complain(...) (print_error(__VA_ARGS__), 1)

// A log of sensors temp and level; naction discrete actions, or 0 for a continuous one. Its
// episodes are 1, 2, ... nepisode steps long, or all of one step.
static inline rh_log *make_log(int naction, int nepisode, bool ordered)
{
    static const char *const obs[] = {"temp", "level"};
    static const char *const label[] = {"off", "low", "high"};
    rh_log_shape shape = {.nobs = 2,
                          .nact = 1,
                          .action = naction ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .obs_name = obs,
                          .label = naction ? label : NULL,
                          .nlabel = naction,
                          .declared = naction > 0,
                          .path = "plant.csv"};
    rh_log_builder *builder = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&builder, &shape, &err), RH_OK);
    for (int e = 0, t = 0; e < nepisode; e++)
        for (int i = 0; i < (ordered ? e + 1 : 1); i++, t++) {
            double s[2] = {t, -t}, next[2] = {t + 1, -t - 1};
            double act = naction ? t % naction : 0.25 * t;
            rh_log_row row = {.obs = s,
                              .act = &act,
                              .reward = -1.0,
                              .next = next,
                              .terminal = i == (ordered ? e : 0),
                              .begins = i == 0};
            assert_int_equal(rh_log_push(builder, &row, &err), RH_OK);
        }
    if (rh_log_finish(builder, &log, &err) != RH_OK)
        fail_msg("%s", err.text);
    rh_log_builder_destroy(builder);
    return log;
}

static inline rh_plan *new_plan(void)
{
    rh_plan *plan = NULL;
    assert_int_equal(rh_plan_create(&plan, NULL), RH_OK);
    return plan;
}

// A plan with what a file says.
static inline rh_plan *plan_of(const char *text)
{
    rh_error err = {""};
    rh_plan *plan = new_plan();
    if (rh_plan__parse(plan, text, strlen(text), FILE_NAME, &err) != RH_OK)
        fail_msg("%s", err.text);
    return plan;
}

// And settled by a log of three discrete actions, or of a continuous one.
static inline rh_plan *settled(const char *text, int naction)
{
    rh_error err = {""};
    rh_plan *plan = plan_of(text);
    rh_log *log = make_log(naction, 4, true);
    if (rh_plan_settle(plan, log, &err) != RH_OK)
        fail_msg("%s", err.text);
    rh_log_destroy(log);
    return plan;
}

// The value of an entry, or NULL.
static inline const char *entry(const rh_plan *plan, const char *name)
{
    const char *key, *value;
    bool open;
    for (int i = 0; rh_plan_entry(plan, i, &key, &value, &open); i++)
        if (strcmp(key, name) == 0)
            return value;
    return NULL;
}

// What a file is refused with, when it is read or, at the latest, when a log of three actions
// (naction) settles it. Nothing is leaked. 1: it was not.
static inline int refused_by(const char *text, int naction, const char *message)
{
    int wrong = 0;
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_plan *plan = new_plan();
    rh_log *log = make_log(naction, 4, true);
    rh_status rc = rh_plan__parse(plan, text, strlen(text), FILE_NAME, &err);
    if (!rc)
        rc = rh_plan_check(plan, &err);
    if (!rc)
        rc = rh_plan_settle(plan, log, &err);
    if (rc == RH_OK)
        wrong += complain("accepted: %s\n", text);
    else if (strcmp(err.text, with_names(message)) != 0)
        wrong +=
            complain("%s\n  found    %s\n  expected %s\n", text, err.text, with_names(message));
    rh_plan_destroy(plan);
    rh_log_destroy(log);
    assert_int_equal(rh_base__alloc_live(), live);
    return wrong;
}

static inline int refused(const char *text, const char *message)
{
    return refused_by(text, 3, message);
}

#endif
