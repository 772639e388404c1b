// arrays.c - reads arrays in slabs and feeds their rows to a log.
//
// 1. A slab is at most a megabyte or 65536 rows, so little memory is used beside the log.
// 2. If rewards belong to states, a row waits for the next one to get its reward. The last
//    action of an episode gets none, so its row is passed on without an action.
// 3. A number that stands for a missing value does so in observations, actions and rewards.
//    Rewards may be sums, so the reader of each layout handles them.
// 4. A row with a missing action is a row without an action.
// 5. Time that runs backwards counts as a gap.
// 6. The index of each action value is looked up once and remembered.

#include "arrays.h"
#include "base/base_internal.h"

#include <math.h>
#include <string.h>

#define SLAB_NUMBERS 131072
#define SLAB_ROWS 65536

// ---------------------------------------------------------------------------- one array

bool rh_array__set_shape(rh_array *array, int rank, const int64_t *dim)
{
    size_t used = (size_t)snprintf(array->shape, sizeof array->shape, "(");
    array->rank = rank;
    array->nrow = rank > 0 ? dim[0] : 1;
    array->width = 1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0 || dim[i] > INT64_C(1) << 56)
            return false;
        if (used < sizeof array->shape)
            used += (size_t)snprintf(array->shape + used, sizeof array->shape - used, "%s%lld",
                                     i ? ", " : "", (long long)dim[i]);
        if (i > 0 && dim[i] > 0 && array->width > (INT64_C(1) << 56) / dim[i])
            return false;
        if (i > 0)
            array->width *= dim[i];
    }
    if (used + 2 < sizeof array->shape)
        memcpy(array->shape + used, ")", 2);
    return array->nrow == 0 || array->width <= (INT64_C(1) << 56) / array->nrow;
}

rh_status rh_array__row(rh_array *array, int64_t row, const double **x, rh_error *err)
{
    if (!array->slab) {
        int64_t room = SLAB_NUMBERS / (array->width > 0 ? array->width : 1);
        room = room > SLAB_ROWS ? SLAB_ROWS : room;
        room = room < 1 ? 1 : room;
        array->room = array->nrow < room ? array->nrow : room;
        array->slab =
            rh_alloc((size_t)array->room * (size_t)array->width + 1, sizeof *array->slab);
        if (!array->slab) {
            rh_fail(err, RH_ENOMEM, "log: out of memory for %s", array->name);
            return RH_ENOMEM;
        }
    }
    if (row < array->first) {
        rh_fail(err, RH_EINVAL, "log: %s describes the whole log, expected one number per step",
                array->name);
        return RH_EINVAL;
    }
    if (row >= array->nload) {
        int64_t left = array->nrow - array->nload;
        array->first = array->nload;
        array->n = left < array->room ? left : array->room;
        rh_status rc = array->load(array, array->first, array->n, array->slab, err);
        if (rc)
            return rc;
        array->nload += array->n;
    }
    *x = array->slab + (row - array->first) * array->width;
    return RH_OK;
}

rh_status rh_array__flag(rh_array *array, int64_t row, const char *path, bool *flag,
                         rh_error *err)
{
    const double *x = NULL;
    rh_status rc = rh_array__row(array, row, &x, err);
    if (!rc && isnan(*x))
        rc = rh_fail(err, RH_EFORMAT, "%s: row %lld of %s is NaN, expected 0 or 1",
                     rh_base__path_tail(path), (long long)row, array->name);
    *flag = !rc && *x != 0.0;
    return rc;
}

rh_status rh_array__check_width(const rh_array *array, const char *path, rh_error *err)
{
    if (array->width >= 1 && array->width <= RH_MAX_OBS)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT, "%s: %s has shape %s, expected 1 to %d numbers a row%s",
                   rh_base__path_tail(path), array->name, array->shape, RH_MAX_OBS,
                   array->width > RH_MAX_OBS ? "; write an array of the columns that matter"
                                             : "");
}

rh_status rh_array__check_single(const rh_array *array, const char *path, rh_error *err)
{
    if (array->width == 1)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT, "%s: %s has shape %s, expected one number a row",
                   rh_base__path_tail(path), array->name, array->shape);
}

void rh_array__clear(rh_array *array)
{
    if (array->shut)
        array->shut(array);
    array->shut = NULL;
    rh_free(array->slab);
    array->slab = NULL;
}

rh_status rh_beside__row(const rh_beside *beside, int64_t row, double *x, rh_error *err)
{
    for (int i = 0; i < beside->n; i++) {
        const double *part = NULL;
        rh_status rc = rh_array__row(beside->array[i], row, &part, err);
        if (rc)
            return rc;
        memcpy(x, part, (size_t)beside->array[i]->width * sizeof *x);
        x += beside->array[i]->width;
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

rh_status rh_feed__open(rh_feed *feed, const rh_feed__plan *plan, const rh_log_options *opt,
                        rh_error *err)
{
    rh_log_shape shape = plan->shape;
    *feed = (rh_feed){.opt = opt,
                      .path = shape.path,
                      .action = plan->action,
                      .nobs = shape.nobs,
                      .nact = shape.nact,
                      .indices = plan->indices,
                      .own = plan->label,
                      .nown = plan->nlabel};
    if (opt->action_kind != RH_ACTION_AUTO)
        shape.action = opt->action_kind;

    // the actions: from the caller, else from the file
    if (opt->actions && *opt->actions) {
        rh_status rc = rh_log__split(opt->actions, &feed->label, &feed->nlabel, err);
        if (rc)
            return rc;
        if (feed->nact > 1 || shape.action == RH_ACTION_CONTINUOUS)
            return rh_fail(err, RH_EINVAL,
                           "%s: the actions in %s are %s, so --actions cannot name them",
                           rh_base__path_tail(feed->path), feed->action,
                           feed->nact > 1 ? "vectors" : "continuous");
        shape.label = (const char *const *)feed->label;
        shape.nlabel = feed->nlabel;
    } else if (plan->label && shape.action != RH_ACTION_CONTINUOUS) {
        shape.label = plan->label;
        shape.nlabel = plan->nlabel;
    }
    feed->all = shape.label;
    feed->nall = shape.nlabel;
    shape.declared = feed->nall > 0;

    size_t nrow = 2 * (size_t)feed->nobs + (size_t)feed->nact;
    rh_status rc = rh_log_builder_create(&feed->builder, &shape, err);
    if (rc)
        return rc;
    rh_log__set_limit(feed->builder, rh_log__limit_of(opt, rh_log__file_size(feed->path)));
    feed->order = (rh_order){
        .builder = feed->builder, .opt = opt, .timed = shape.times, .named = plan->named};
    feed->work = rh_alloc(2 * nrow, sizeof *feed->work);
    return feed->work ? rh_order__begin(&feed->order, err)
                      : rh_base__no_memory(err, feed->path);
}

void rh_feed__clear(rh_feed *feed)
{
    rh_log_builder_destroy(feed->builder);
    rh_free(feed->label);
    rh_free(feed->work);
    *feed = (rh_feed){0};
}

// The index of an action among the labels, or -1.
static int find_place(const rh_feed *feed, double value)
{
    if (!feed->own || !feed->indices)
        return rh_log__label_index(feed->all, feed->nall, value);
    int own = value >= 0.0 && value < feed->nown && value == floor(value) ? (int)value : -1;
    if (feed->all == feed->own)
        return own;
    for (int i = 0; own >= 0 && i < feed->nall; i++)
        if (strcmp(feed->all[i], feed->own[own]) == 0)
            return i;
    return -1;
}

static rh_status place_action(rh_feed *feed, double *act, int64_t at, rh_error *err)
{
    int place = -1;
    for (int i = 0; i < feed->nseen && place < 0; i++)
        if (feed->seen[i] == *act)
            place = feed->place[i];
    if (place < 0) {
        place = find_place(feed, *act);
        if (place >= 0 && feed->nseen < RH_FEED__SEEN) {
            feed->seen[feed->nseen] = *act;
            feed->place[feed->nseen++] = place;
        }
    }
    if (place < 0) {
        char first[48], last[48];
        return rh_fail(err, RH_EFORMAT, "%s: row %lld of %s is %g, expected %s (%s to %s)",
                       rh_base__path_tail(feed->path), (long long)at, feed->action, *act,
                       feed->own && feed->indices ? "the index of one of the actions"
                                                  : "one of the actions",
                       rh_text__printable(feed->all[0], first, sizeof first),
                       rh_text__printable(feed->all[feed->nall - 1], last, sizeof last));
    }
    *act = place;
    return RH_OK;
}

// Copy n numbers; those that stand for a missing value become NAN.
static void copy_seen(const rh_feed *feed, double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
    for (int i = 0; feed->opt->nmissing > 0 && i < n; i++)
        if (rh_log__is_missing(feed->opt, to[i]))
            to[i] = NAN;
}

// The row with its numbers copied to work.
static rh_log_row copy_row(const rh_feed *feed, const rh_log_row *row, double *work)
{
    rh_log_row copy = *row;
    double *next = work + feed->nobs, *act = next + feed->nobs;
    copy_seen(feed, work, row->obs, feed->nobs);
    copy.obs = work;
    if (row->next) {
        copy_seen(feed, next, row->next, feed->nobs);
        copy.next = next;
    }
    if (row->act) {
        if (feed->indices) // indices, so none stands for a missing value
            memcpy(act, row->act, (size_t)feed->nact * sizeof *act);
        else
            copy_seen(feed, act, row->act, feed->nact);
        copy.act = act;
    }
    for (int i = 0; copy.act && i < feed->nact; i++)
        if (isnan(act[i]))
            copy.act = NULL;
    return copy;
}

rh_status rh_feed__push(rh_feed *feed, const rh_log_row *row, int64_t at, rh_error *err)
{
    int stride = 2 * feed->nobs + feed->nact;
    double *work = feed->work + (feed->second ? stride : 0);
    rh_log_row now = copy_row(feed, row, work);
    rh_status rc = RH_OK;
    if (now.act && feed->nall > 0)
        rc = place_action(feed, work + stride - feed->nact, at, err);
    feed->second = !feed->second;
    return rc ? rc : rh_order__push(&feed->order, &now, err);
}

rh_status rh_feed__refuse_names(const rh_log_options *opt, bool obs, const char *what,
                                const char *path, rh_error *err)
{
    const char *const asked[] = {obs ? opt->obs : NULL, opt->action, opt->reward, opt->terminal,
                                 opt->truncated,        opt->next,   opt->episode};
    char shown[48];
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (asked[i])
            return rh_fail(err, RH_EINVAL, "%s: '%s' cannot be chosen: %s has fixed names",
                           rh_base__path_tail(path),
                           rh_text__printable(asked[i], shown, sizeof shown), what);
    return RH_OK;
}

rh_status rh_feed__finish(rh_feed *feed, rh_log **out, rh_error *err)
{
    rh_status rc = rh_order__end(&feed->order, err);
    return rc ? rc : rh_log_finish(feed->builder, out, err);
}
