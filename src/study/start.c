// start.c - what an agent begins with on the plant: the steps of the log, in a file beside
// best.yaml.
//
// The file is a container of named arrays (base/state_file.c) with one array, prior, the rows
// of rh_prior. best.yaml has their numbers and a checksum of their bytes: another study's file
// in its place is refused.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/state.h"
#include "model/model.h"
#include "study.h"
#include "study_internal.h"

static const char label[] = "rehearse-start";
static const char name[] = "prior";

bool rh_study__starts(const rh_journal__head *head, const rh_trial *trial)
{
    return head->start.n > 0 &&
           rh_plan__starts_from_log(head->plan->agents.type[trial->agent], trial->hp);
}

// Numbers of all rows.
static size_t size_of(const rh_task *task, rh_prior prior)
{
    return (size_t)((prior.n + prior.npractice) *
                    rh_contract__prior_width(task->nobs, task->nact));
}

uint32_t rh_study__start_sum(const rh_task *task, rh_prior prior)
{
    return rh_base__crc32(0, prior.row, size_of(task, prior) * sizeof *prior.row);
}

rh_status rh_study__write_start(const char *path, const rh_task *task, rh_prior prior,
                                rh_error *err)
{
    rh_state *state = NULL;
    rh_study__drop_link(path);
    rh_status rc = rh_state__create(&state, err);
    if (!rc)
        rc = rh_state__set_label(state, label, err);
    if (!rc)
        rc = rh_state_put(state, name, prior.row, size_of(task, prior), err);
    if (!rc)
        rc = rh_state_write(state, path, err);
    rh_state_destroy(state);
    return rc;
}

rh_status rh_study__read_start(rh_prior *prior, const char *path, const rh_task *task,
                               rh_error *err)
{
    rh_state *state = NULL;
    size_t n = size_of(task, *prior);
    double *row = rh_alloc(n, sizeof *row);
    rh_status rc = row ? rh_state_read(&state, path, err) : rh_base__no_memory(err, "start");
    if (!rc)
        rc = rh_state_get(state, name, row, n, err);
    prior->row = row;
    if (!rc && !rh_prior__fits(task, *prior))
        rc = rh_fail(err, RH_EFORMAT, "%s: other numbers than steps of the task",
                     rh_base__path_tail(path));
    rh_state_destroy(state);
    if (rc)
        rh_free(row);
    return rc;
}
