// d3rlpy.c - reads the dumps of d3rlpy, old (1.x) and new (2.x).
//
//     2.x: num_episodes, columns, version; for episode i
//          observations_<i> (T, ...), or observations_<i>_<j> for tuples,
//          actions_<i> (T, ...), rewards_<i> (T, 1), terminated_<i>: one bool
//     1.x: observations, actions, rewards, terminals, episode_terminals side by side,
//          discrete_action: one bool
//
// After d3rlpy/dataset/io.py. Neither stores the observation after the last step, so the last
// step of a truncated episode is lost, as in d3rlpy itself.

#include "base/base_internal.h"
#include "hdf5.h"
#include "log.h"

#include <math.h>
#include <string.h>

#define MAX_PARTS 32 // most parts of a tuple

// ---------------------------------------------------------------------------- old dumps

static rh_status read_old(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err)
{
    rh_flat flat = {.what = "dataset",
                    .usual = {[RH_FLAT_OBS] = {"observations"},
                              [RH_FLAT_ACTION] = {"actions"},
                              [RH_FLAT_REWARD] = {"rewards"},
                              [RH_FLAT_TERMINAL] = {"terminals"},
                              [RH_FLAT_TRUNCATED] = {"episode_terminals"}},
                    .terminal_needed = true,
                    .ends = true,
                    .plan.shape.format = "d3rlpy"};
    double discrete = 0.0;
    if (rh_hdf5__scalar(file, "discrete_action", &discrete))
        flat.plan.shape.action = discrete != 0.0 ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS;
    return rh_hdf5__read_flat(out, file, &flat, opt, err);
}

// ---------------------------------------------------------------------------- new dumps

// The arrays of one episode.
typedef struct episode {
    rh_array part[MAX_PARTS], action, reward;
    rh_array *beside[MAX_PARTS];
    rh_beside obs;
    bool terminated;
    int64_t n; // steps
} episode;

static void close_episode(episode *e)
{
    for (int i = 0; i < e->obs.n; i++)
        rh_array__clear(&e->part[i]);
    rh_array__clear(&e->action);
    rh_array__clear(&e->reward);
    memset(e, 0, sizeof *e);
}

static rh_status open_observations(episode *e, rh_hdf5 *file, int64_t i, rh_error *err)
{
    char name[64];
    rh_status rc = RH_OK;
    e->obs.array = e->beside;
    snprintf(name, sizeof name, "observations_%lld", (long long)i);
    bool tuple = rh_hdf5__kind(file, name) != RH_HDF5_DATASET;
    for (int j = 0; j < MAX_PARTS && !rc; j++) {
        if (tuple)
            snprintf(name, sizeof name, "observations_%lld_%d", (long long)i, j);
        if (j > 0 && (!tuple || rh_hdf5__kind(file, name) == RH_HDF5_NOTHING))
            break;
        e->beside[j] = &e->part[j];
        e->obs.n++;
        rc = rh_hdf5__numbers(&e->part[j], file, name, err);
        if (!rc)
            rc = rh_array__check_width(&e->part[j], rh_hdf5__path(file), err);
        if (!rc)
            e->obs.width += (int)e->part[j].width;
    }
    return rc;
}

static rh_status open_episode(episode *e, rh_hdf5 *file, int64_t i, rh_error *err)
{
    const char *path = rh_base__path_tail(rh_hdf5__path(file));
    char name[64];
    double terminated = 0.0;
    rh_status rc = open_observations(e, file, i, err);
    snprintf(name, sizeof name, "actions_%lld", (long long)i);
    if (!rc)
        rc = rh_hdf5__numbers(&e->action, file, name, err);
    snprintf(name, sizeof name, "rewards_%lld", (long long)i);
    if (!rc)
        rc = rh_hdf5__numbers(&e->reward, file, name, err);
    if (rc)
        return rc;
    e->n = e->part[0].nrow;
    for (int k = -2; k < e->obs.n; k++) {
        const rh_array *other = k == -2 ? &e->action : k == -1 ? &e->reward : &e->part[k];
        if (other->nrow != e->n)
            return rh_fail(err, RH_EFORMAT, "%s: %s has %lld rows, expected %lld as in %s",
                           path, other->name, (long long)other->nrow, (long long)e->n,
                           e->part[0].name);
    }
    rc = rh_array__check_single(&e->reward, rh_hdf5__path(file), err);
    if (rc)
        return rc;
    snprintf(name, sizeof name, "terminated_%lld", (long long)i);
    if (!rh_hdf5__scalar(file, name, &terminated) || isnan(terminated))
        return rh_fail(err, RH_EFORMAT, "%s: no dataset %s that is true or false", path, name);
    e->terminated = terminated != 0.0;
    return RH_OK;
}

static rh_status push_episode(episode *e, rh_feed *feed, double *x, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int64_t i = 0; i < e->n && !rc; i++) {
        const double *act = NULL, *reward = NULL;
        rc = rh_beside__row(&e->obs, i, x, err);
        if (!rc)
            rc = rh_array__row(&e->action, i, &act, err);
        if (!rc)
            rc = rh_array__row(&e->reward, i, &reward, err);
        if (rc)
            break;
        bool last = i == e->n - 1;
        rh_log_row row = {.obs = x,
                          .act = act,
                          .reward =
                              rh_log__is_missing(feed->opt, *reward) ? (double)NAN : *reward,
                          .begins = i == 0,
                          .terminal = last && e->terminated,
                          .truncated = last && !e->terminated};
        feed->action = e->action.name;
        rc = rh_feed__push(feed, &row, i, err);
    }
    return rc;
}

static rh_status open_feed(rh_feed *feed, const episode *e, const rh_hdf5 *file,
                           const rh_log_options *opt, rh_error *err)
{
    static const char *const note[] = {"terminals = dataset terminated_<i> at the last step",
                                       "an episode that is not terminated: truncated",
                                       "s' = the next row of the same episode"};
    rh_feed__plan plan = {.action = e->action.name,
                          .named = true,
                          .shape = {.nobs = e->obs.width,
                                    .nact = (int)e->action.width,
                                    .whole = e->action.whole,
                                    .path = rh_hdf5__path(file),
                                    .format = "d3rlpy"}};
    if (e->action.width > RH_MAX_ACT)
        plan.shape.nact = RH_MAX_ACT + 1;
    rh_status rc = rh_feed__open(feed, &plan, opt, err);
    for (size_t i = 0; i < sizeof note / sizeof *note && !rc; i++)
        rc = rh_log__note(feed->builder, err, "%s", note[i]);
    return rc;
}

static rh_status read_new(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err)
{
    rh_feed feed = {0};
    double n = 0.0, x[RH_MAX_OBS];
    int nobs = 0, nact = 0;
    episode *e = NULL;
    // every episode has its own arrays
    rh_status rc = rh_feed__refuse_names(opt, true, "a d3rlpy dump", rh_hdf5__path(file), err);
    if (rc)
        return rc;
    if (!rh_hdf5__scalar(file, "num_episodes", &n) || !(n >= 1.0 && n < INT32_MAX))
        return rh_fail(err, RH_EFORMAT, "%s: num_episodes = %g, expected 1 or more",
                       rh_base__path_tail(rh_hdf5__path(file)), n);
    e = rh_alloc(1, sizeof *e);
    if (!e)
        return rh_base__no_memory(err, rh_hdf5__path(file));

    for (int64_t i = 0; i < (int64_t)n && !rc; i++) {
        rc = open_episode(e, file, i, err);
        if (!rc && i == 0) {
            nobs = e->obs.width;
            nact = (int)e->action.width;
            rc = open_feed(&feed, e, file, opt, err);
        }
        if (!rc && (e->obs.width != nobs || e->action.width != nact))
            rc = rh_fail(err, RH_EFORMAT,
                         "%s: episode %lld has %d numbers in an observation and %lld in an "
                         "action, expected %d and %d as in episode 0",
                         rh_base__path_tail(rh_hdf5__path(file)), (long long)i, e->obs.width,
                         (long long)e->action.width, nobs, nact);
        if (!rc)
            rc = push_episode(e, &feed, x, err);
        close_episode(e);
    }
    if (!rc)
        rc = rh_feed__finish(&feed, out, err);
    rh_feed__clear(&feed);
    rh_free(e);
    return rc;
}

rh_status rh_d3rlpy__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err)
{
    bool old = rh_hdf5__kind(file, "observations") == RH_HDF5_DATASET;
    return old ? read_old(out, file, opt, err) : read_new(out, file, opt, err);
}

// Detected in hdf5_layout.c, once the file is open.
const rh_log__format rh_log__d3rlpy = {
    .about = {"d3rlpy", "d3rlpy's dumps, 1.x and 2.x (.h5)", true, false},
    .read = rh_hdf5__read,
};
