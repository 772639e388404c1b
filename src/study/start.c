// start.c - what an agent begins with on the plant: the steps of the log, in a file beside
// best.yaml.
//
// The file is a container of named arrays (base/state_file.c) with one array, prior, the rows
// of rh_prior. best.yaml has their numbers and a checksum of their bytes: another study's file
// in its place is refused.
//
// A second array, made, is a checksum of all that decides the practice on the plant. A finished
// study that is run again finds its practice there and does not practise again.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/state.h"
#include "core.h"
#include "model/model.h"
#include "study.h"
#include "study_internal.h"

#include <inttypes.h>
#include <string.h>

static const char label[] = "rehearse-start";
static const char name[] = "prior", made[] = "made";

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
                                double key, rh_error *err)
{
    rh_state *state = NULL;
    rh_study__drop_link(path);
    rh_status rc = rh_state__create(&state, err);
    if (!rc)
        rc = rh_state__set_label(state, label, err);
    if (!rc)
        rc = rh_state_put(state, name, prior.row, size_of(task, prior), err);
    if (!rc)
        rc = rh_state_put(state, made, &key, 1, err);
    if (!rc)
        rc = rh_state_write(state, path, err);
    rh_state_destroy(state);
    return rc;
}

double rh_study__start_key(const rh_study *study)
{
    rh_text text = {0};
    const char *key, *value;
    bool open;
    for (int i = 0; rh_plan_entry(study->plan, i, &key, &value, &open); i++)
        if (!open)
            rh_text__format(&text, "%s: %s\n", key, value);
    rh_text__format(&text, "%" PRId64 " %016" PRIx64 " %s\n", study->plan->practice,
                    rh_log_fingerprint(study->log), rh_version());
    double sum = text.bad ? -1.0 : rh_base__crc32(0, text.data, text.n);
    rh_text__clear(&text);
    return sum;
}

bool rh_study__recall_start(rh_study *study)
{
    rh_prior *start = &study->head.start;
    char *path = rh_study__path(study->opt.folder, RH_STUDY__START);
    rh_state *state = NULL;
    size_t n = 0, none = 0, nlog = size_of(&study->task, (rh_prior){.n = start->n});
    size_t width = (size_t)rh_contract__prior_width(study->task.nobs, study->task.nact);
    double *row = NULL, key = rh_study__start_key(study);
    if (!path || key < 0.0 || rh_state_read(&state, path, NULL) != RH_OK)
        goto done;
    const double *kept = rh_state__doubles(state, name, &n),
                 *kept_key = rh_state__doubles(state, made, &none);
    bool same = strcmp(rh_state__label(state), label) == 0 && kept && kept_key && none == 1 &&
                *kept_key == key && n > nlog && n % width == 0 &&
                memcmp(kept, start->row, nlog * sizeof *kept) == 0;
    row = same ? rh_alloc(n, sizeof *row) : NULL;
    if (!row)
        goto done;
    memcpy(row, kept, n * sizeof *row);
    rh_free((void *)(uintptr_t)start->row);
    *start = (rh_prior){start->n, row, (int64_t)(n / width) - start->n};

done:
    rh_state_destroy(state);
    rh_free(path);
    return row != NULL;
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
