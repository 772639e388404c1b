// prior.c - the part of a log that agents begin with, and the part that models are fitted to.
//
// 1. An agent that begins with the log would know the model's own data, and score better in it
//    than on the plant. So models get one part and agents the other: episodes in turn, or, in
//    a log with fewer than EPISODES, blocks of steps in turn. On the plant they get all of it.
// 2. Only pieces with finite numbers are rows (clean.c). A piece that does not end is
//    truncated. The s' of a terminal step may be unknown: agents do not use it, and it is s.
// 3. Of a long log agents get the last MOST steps, to begin with and to practise in a model of
//    them: what they begin with takes time and memory in every run, a model of several members
//    takes many times the memory of its log, and old steps may be of a plant that has changed.
// 4. Which sensors are exogenous is found in the whole log and told to both parts. Half of a
//    log often shows less: a town's demand was called exogenous in 3,000 steps and not in
//    1,500, and then no kind of model replayed it well.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "model.h"
#include "model_internal.h"
#include "subset.h"

#include <math.h>
#include <string.h>

#define EPISODES 8  // decision 1; by hand
#define BLOCKS 20   // of a log with fewer episodes
#define MOST 100000 // rows; decision 3

enum { GOES_ON, TERMINAL, TRUNCATED }; // end of a row
enum { ALL = -1 };                     // units of walk()

// ---------------------------------------------------------------------------- dividing

// Add transitions from .. to - 1 of one episode to a part.
static void add(rh_subset *part, const rh_log *log, int64_t from, int64_t to)
{
    int32_t e = log->episode[from];
    rh_subset__begin(part, log->start[e] && from == log->first[e]);
    for (int64_t i = from; i < to; i++) {
        unsigned flag = i + 1 < to ? 0 : log->flag[i] ? log->flag[i] : RH_FLAG_TRUNCATED;
        int32_t s = rh_subset__state(part, log->from[i]);
        rh_subset__step(part, i, s, rh_subset__state(part, log->to[i]), flag);
    }
}

// Add the units of a part, which are every second one from `first` on, or all if it is ALL, but
// not their first `skip` steps. How many steps there are; part NULL: only that.
static int64_t walk(rh_subset *part, const rh_log *log, int first, int64_t skip)
{
    int64_t nblock = log->nepisode >= EPISODES ? 0 : log->n < BLOCKS ? log->n : BLOCKS, n = 0;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t from = log->first[e], end = log->first[e + 1];
        while (from < end) {
            int64_t unit = nblock ? from * nblock / log->n : e;
            int64_t to = nblock ? ((unit + 1) * log->n + nblock - 1) / nblock : end;
            to = to < end && first != ALL ? to : end;
            if (first == ALL || unit % 2 == first) {
                int64_t begin = from + (skip > n ? skip - n : 0);
                if (part && begin < to)
                    add(part, log, begin, to);
                n += to - from;
            }
            from = to;
        }
    }
    return n;
}

// A part, or all of the log; the last `most` steps of it.
static rh_status take(rh_log **out, const rh_log *log, int first, int64_t most, rh_error *err)
{
    rh_subset part = {0};
    int64_t all = walk(NULL, log, first, 0), n = all < most ? all : most;
    int64_t nstate = log->nstate < 2 * n ? log->nstate : 2 * n;
    if (!n)
        return rh_fail(err, RH_EINVAL,
                       "%s: %lld steps, expected more: agents begin with one part of the log "
                       "and models are fitted to the other",
                       rh_base__path_tail(log->path), (long long)log->n);
    if (!rh_subset__init(&part, log, nstate, n, (int64_t)log->nepisode + BLOCKS)) {
        rh_scratch__clear(&part.scratch);
        return rh_base__no_memory(err, "log");
    }
    walk(&part, log, first, all - n);
    rh_status rc = rh_subset__copy(out, &part, err);
    rh_scratch__clear(&part.scratch);
    return rc;
}

rh_status rh_prior__recent(rh_log **out, const rh_log *log, rh_error *err)
{
    return log->n > MOST ? take(out, log, ALL, MOST, err) : RH_OK;
}

// Decision 4: the names of exogenous sensors, as --exogenous has them. False: they cannot be
// told, and each part is tested by itself.
static bool name_exogenous(rh_text *names, const rh_log *log)
{
    rh_facts *facts = NULL;
    bool ok = rh_model__examine(&facts, log, NULL, NULL) == RH_OK;
    for (int k = 0; ok && k < log->nobs; k++) {
        if (!facts->sensor[k].exogenous)
            continue;
        ok = !strpbrk(log->obs_name[k], ",* \t");
        rh_text__format(names, "%s%s", names->n ? "," : "", log->obs_name[k]);
    }
    rh_facts__destroy(facts);
    return ok && !names->bad;
}

rh_status rh_prior__split(rh_log **model, rh_log **agent, const rh_log *log, rh_error *err)
{
    rh_log *one = NULL, *other = NULL, whole = *log; // borrows all that it has
    rh_text names = {0};
    if (!log->exogenous && name_exogenous(&names, log))
        whole.exogenous = names.data ? names.data : "";
    rh_status rc = take(&one, &whole, 0, INT64_MAX, err);
    if (!rc)
        rc = take(&other, &whole, 1, MOST, err);
    rh_text__clear(&names);
    if (rc) {
        rh_log_destroy(one);
        return rc;
    }
    *model = one;
    *agent = other;
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

static void put_row(double *row, const rh_log *log, int64_t i, int end)
{
    size_t nobs = (size_t)log->nobs, nact = (size_t)log->nact;
    int64_t to = rh_model__has_next(log, i) ? log->to[i] : log->from[i];
    memcpy(row, log->obs + (size_t)log->from[i] * nobs, nobs * sizeof *row);
    memcpy(row + nobs, log->act + (size_t)i * nact, nact * sizeof *row);
    row[nobs + nact] = log->reward[i];
    memcpy(row + nobs + nact + 1, log->obs + (size_t)to * nobs, nobs * sizeof *row);
    row[2 * nobs + nact + 1] = end;
}

rh_status rh_prior__rows(rh_prior *prior, const rh_log *log, rh_error *err)
{
    rh_model__piece piece = {0};
    int64_t width = rh_contract__prior_width(log->nobs, log->nact), n = 0, skip;
    while (rh_model__next_piece(log, &piece))
        n += piece.end - piece.first;
    skip = n > MOST ? n - MOST : 0;
    double *row = rh_alloc((size_t)(n - skip), (size_t)width * sizeof *row), *at = row;
    if (!row)
        return rh_base__no_memory(err, "log");
    piece = (rh_model__piece){0};
    while (rh_model__next_piece(log, &piece))
        for (int64_t i = piece.first; i < piece.end; i++) {
            bool last = i + 1 == piece.end;
            if (skip > 0) {
                skip--;
                continue;
            }
            put_row(at, log, i, !last ? GOES_ON : piece.ends ? TERMINAL : TRUNCATED);
            at += width;
        }
    *prior = (rh_prior){.n = (at - row) / width, .row = row};
    return RH_OK;
}

// Whether rows are of the task and the last of them ends an episode.
static bool fits(const rh_task *task, const double *first, int64_t n)
{
    int64_t width = rh_contract__prior_width(task->nobs, task->nact);
    for (int64_t i = 0; i < n; i++) {
        const double *row = first + i * width, *act = row + task->nobs;
        double end = row[width - 1];
        bool legal = !task->naction ||
                     (act[0] >= 0.0 && act[0] < task->naction && act[0] == floor(act[0]));
        if (!rh_base__all_finite(row, (int)width) || !legal ||
            !(end == GOES_ON || end == TERMINAL || end == TRUNCATED))
            return false;
    }
    return n == 0 || first[n * width - 1] != GOES_ON;
}

bool rh_prior__fits(const rh_task *task, rh_prior prior)
{
    int64_t width = rh_contract__prior_width(task->nobs, task->nact);
    return fits(task, prior.row, prior.n) &&
           fits(task, prior.row + prior.n * width, prior.npractice);
}

rh_status rh_prior__keep(rh_model *model, rh_prior prior, rh_error *err)
{
    const rh_task *task = &model->task;
    size_t size =
        (size_t)rh_contract__prior_width(task->nobs, task->nact) * sizeof *model->prior;
    size_t n = (size_t)(prior.n + prior.npractice);
    double *row;
    model->task.prior = (rh_prior){0};
    if (!n)
        return RH_OK;
    if (!rh_prior__fits(&model->task, prior))
        return rh_fail(err, RH_EINVAL, "model: prior has other numbers than rows of the task");
    row = rh_alloc(n, size);
    if (!row)
        return rh_base__no_memory(err, "model");
    memcpy(row, prior.row, n * size);
    rh_free(model->prior);
    model->prior = row;
    model->task.prior = (rh_prior){prior.n, row, prior.npractice};
    return RH_OK;
}
