// minari_episode.c - turns the datasets of a Minari episode into rows.
//
// 1. A flag before the last step ends an episode there, in the observation that follows. The
//    rest does not begin in a start state, because nothing was reset.
// 2. Unless an option names them, times are read if the first episode has one for every step.

#include "base/base_internal.h"
#include "minari.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- its datasets

static void close_bundle(rh_minari__bundle *b)
{
    for (int i = 0; b->open && i < b->n; i++)
        rh_array__clear(&b->part[i]);
    b->open = false;
}

void rh_minari__close_episode(rh_minari__reader *r)
{
    close_bundle(&r->obs);
    close_bundle(&r->act);
    for (int c = 0; c < RH_MINARI_NCOLUMN; c++)
        rh_array__clear(&r->column[c]);
}

bool rh_minari__is_category(const rh_log__leaf *leaf)
{
    return leaf->kind == RH_SPACE_DISCRETE;
}

static rh_status open_bundle(rh_minari__reader *r, rh_minari__bundle *b, const char *episode,
                             const char *what, rh_error *err)
{
    char name[RH_ARRAY__NAME + RH_LEAF__NAME];
    rh_status rc = RH_OK;
    memset(b->part, 0, (size_t)b->n * sizeof *b->part);
    b->open = true;
    b->width = b->nout = 0;
    for (int i = 0; i < b->n && !rc; i++) {
        rh_log__leaf *leaf = &b->leaf[i];
        snprintf(name, sizeof name, "%s/%s%s%s", episode, what, *leaf->path ? "/" : "",
                 leaf->path);
        rc = rh_hdf5__numbers(&b->part[i], r->file, name, err);
        if (rc)
            break;
        int64_t width = b->part[i].width;
        rc = rh_array__check_width(&b->part[i], r->path, err);
        if (rc)
            break;
        if (b->width + width > RH_MAX_OBS)
            rc = rh_fail(err, RH_EFORMAT, "%s: %s has shape %s, expected 1 to %d numbers a row",
                         rh_base__path_tail(r->path), name, b->part[i].shape, RH_MAX_OBS);
        else if (leaf->width >= 0 && leaf->width != width)
            rc = rh_fail(
                err, RH_EFORMAT, "%s: %s has %lld numbers a row, expected %lld as in %s",
                rh_base__path_tail(r->path), name, (long long)width, (long long)leaf->width,
                leaf->kind == RH_SPACE_UNKNOWN ? "the first episode" : "its space");
        leaf->width = width;
        b->beside[i] = &b->part[i];
        b->width += (int)width;
        int64_t most = RH_MAX_OBS - b->nout;
        int64_t nout = b == &r->obs && rh_minari__is_category(leaf) ? leaf->n : width;
        if (!rc && nout > most)
            rc = rh_fail(err, RH_EFORMAT,
                         "%s: %s is a category of %lld values, expected at most %d numbers in "
                         "an observation",
                         rh_base__path_tail(r->path), name, (long long)leaf->n, RH_MAX_OBS);
        b->nout += rc ? 0 : (int)nout;
    }
    return rc;
}

static rh_status open_column(const rh_minari__reader *r, rh_array *array, const char *episode,
                             const char *what, rh_error *err)
{
    char name[2 * RH_ARRAY__NAME];
    snprintf(name, sizeof name, "%s/%s", episode, what);
    rh_status rc = rh_hdf5__numbers(array, r->file, name, err);
    return rc ? rc : rh_array__check_single(array, r->path, err);
}

static rh_status check_rows(const rh_minari__reader *r, const rh_array *array, int64_t more,
                            rh_error *err)
{
    const rh_array *reward = &r->column[RH_MINARI_REWARD];
    if (array->nrow == reward->nrow + more)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT, "%s: %s has %lld rows, expected %lld: %s %s",
                   rh_base__path_tail(r->path), array->name, (long long)array->nrow,
                   (long long)reward->nrow + more, more ? "one more than" : "as in",
                   reward->name);
}

// Whether a dataset holds one number for every step.
static bool is_time(const rh_minari__reader *r, const char *episode, const char *what)
{
    char name[2 * RH_ARRAY__NAME];
    rh_array time = {.rank = 0}, reward = {.rank = 0};
    snprintf(name, sizeof name, "%s/%s", episode, what);
    bool fits = rh_hdf5__kind(r->file, name) == RH_HDF5_DATASET &&
                open_column(r, &time, episode, what, NULL) == RH_OK &&
                open_column(r, &reward, episode, "rewards", NULL) == RH_OK &&
                (time.nrow == reward.nrow || time.nrow == reward.nrow + 1);
    rh_array__clear(&time);
    rh_array__clear(&reward);
    return fits;
}

void rh_minari__find_time(rh_minari__reader *r, const char *episode)
{
    static const char *const usual[] = {"infos/time", "infos/timestamp", "infos/timestamps",
                                        "time", NULL};
    const char *asked = r->opt->time;
    if (asked && strlen(asked) < sizeof r->time_name)
        memcpy(r->time_name, asked, strlen(asked) + 1);
    for (int i = 0; !asked && usual[i] && !*r->time_name; i++)
        if (is_time(r, episode, usual[i]))
            memcpy(r->time_name, usual[i], strlen(usual[i]) + 1);
}

rh_status rh_minari__open_episode(rh_minari__reader *r, const char *episode, rh_error *err)
{
    const char *const name[RH_MINARI_NCOLUMN] = {"rewards", "terminations", "truncations",
                                                 *r->time_name ? r->time_name : NULL};
    memset(r->column, 0, sizeof r->column);
    rh_status rc = open_bundle(r, &r->obs, episode, "observations", err);
    if (!rc)
        rc = open_bundle(r, &r->act, episode, "actions", err);
    for (int c = 0; c < RH_MINARI_NCOLUMN && name[c] && !rc; c++)
        rc = open_column(r, &r->column[c], episode, name[c], err);
    for (int i = 0; i < r->obs.n && !rc; i++)
        rc = check_rows(r, &r->obs.part[i], 1, err);
    for (int i = 0; i < r->act.n && !rc; i++)
        rc = check_rows(r, &r->act.part[i], 0, err);
    for (int c = 0; c < RH_MINARI_NCOLUMN && name[c] && !rc; c++)
        if (c != RH_MINARI_TIME || check_rows(r, &r->column[c], 1, NULL))
            rc = check_rows(r, &r->column[c], 0, err);
    return rc;
}

// ---------------------------------------------------------------------------- its rows

// Observation `row` into to (nout): a category becomes a number for each value.
static rh_status observe(const rh_minari__reader *r, int64_t row, double *to, rh_error *err)
{
    const rh_beside obs = {r->obs.beside, r->obs.n, r->obs.width};
    const double *from = r->raw;
    rh_status rc = rh_beside__row(&obs, row, r->raw, err);
    for (int i = 0; i < r->obs.n && !rc; i++) {
        const rh_log__leaf *leaf = &r->obs.leaf[i];
        if (!rh_minari__is_category(leaf)) {
            memcpy(to, from, (size_t)leaf->width * sizeof *to);
            from += leaf->width;
            to += leaf->width;
            continue;
        }
        double at = *from++ - (double)leaf->start;
        if (!(at >= 0.0 && at < (double)leaf->n) || at != floor(at))
            return rh_fail(err, RH_EFORMAT,
                           "%s: row %lld of %s is %g, expected a whole number from %lld to "
                           "%lld",
                           rh_base__path_tail(r->path), (long long)row, r->obs.part[i].name,
                           at + (double)leaf->start, (long long)leaf->start,
                           (long long)(leaf->start + leaf->n - 1));
        for (int64_t j = 0; j < leaf->n; j++)
            *to++ = j == (int64_t)at ? 1.0 : 0.0;
    }
    return rc;
}

static rh_status read_row(rh_minari__reader *r, int64_t i, rh_log_row *row, rh_error *err)
{
    const rh_beside act = {r->act.beside, r->act.n, r->act.width};
    const double *x = NULL, *time = NULL;
    rh_status rc = observe(r, i, r->row, err);
    if (!rc)
        rc = rh_beside__row(&act, i, r->action, err);
    if (!rc)
        rc = rh_array__row(&r->column[RH_MINARI_REWARD], i, &x, err);
    if (!rc)
        rc = rh_array__flag(&r->column[RH_MINARI_TERMINAL], i, r->path, &row->terminal, err);
    if (!rc)
        rc = rh_array__flag(&r->column[RH_MINARI_TRUNCATED], i, r->path, &row->truncated, err);
    if (!rc && *r->time_name)
        rc = rh_array__row(&r->column[RH_MINARI_TIME], i, &time, err);
    if (rc)
        return rc;
    row->obs = r->row;
    row->act = r->action;
    row->reward = rh_log__is_missing(r->opt, *x) ? (double)NAN : *x;
    row->time = time ? *time : 0.0;
    return RH_OK;
}

static bool marked(const rh_minari__reader *r, const char *episode, const char *name)
{
    double x = 0.0;
    return r->ours && rh_hdf5__number_attribute(r->file, episode, name, &x) && x == 1.0;
}

rh_status rh_minari__push_episode(rh_minari__reader *r, const char *episode, rh_error *err)
{
    bool unknown = marked(r, episode, "rehearse_end_unknown");
    bool goes_on = marked(r, episode, "rehearse_goes_on");
    bool resumes = marked(r, episode, "rehearse_resumes"), early = false;
    int64_t n = r->column[RH_MINARI_REWARD].nrow;
    rh_status rc = RH_OK;
    if (n == 0)
        return RH_OK;
    r->feed.action = r->act.part[0].name;
    for (int64_t i = 0; i < n && !rc; i++) {
        rh_log_row row = {.begins = i == 0 && !r->joined,
                          .resumes = early || (i == 0 && resumes && !r->joined)};
        bool joins = i == n - 1 && goes_on;
        rc = read_row(r, i, &row, err);
        early = i < n - 1 && (row.terminal || row.truncated ||
                              rh_order__cuts(&r->feed.order, row.begins || row.resumes));
        if (!rc && (joins || early)) {
            rc = observe(r, i + 1, r->next, err);
            row.next = r->next;
        }
        if (joins)
            row.terminal = row.truncated = false;
        if (!rc)
            rc = rh_feed__push(&r->feed, &row, i, err);
    }
    r->joined = goes_on;
    if (rc || unknown || goes_on)
        return rc;
    rc = observe(r, n, r->row, err);
    rh_log_row last = {.obs = r->row, .reward = (double)NAN};
    last.time = r->feed.order.time; // so that there is no gap before it
    return rc ? rc : rh_feed__push(&r->feed, &last, n, err);
}
