// flat.c - reads files of arrays side by side, one row per step: D4RL, NPZ, old d3rlpy dumps.
//
// 1. The observations set the number of rows; every other array with a role must match. Arrays
//    without a role may have any length and type and are ignored.
// 2. s' comes from `next` (all NAN: unknown), else from the next row of the same episode.
// 3. Flags of any type are true if they are not zero. A flag that is NAN is refused.
// 4. Rows of an episode are consecutive. An episode that returns is refused, as in a table.
// 5. If there is a truncated array, `done` is true for every end, so a row that is both is a
//    time-out. Under any other name a terminal is a terminal.

#include "arrays.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "formula.h"
#include "log.h"

#include <math.h>
#include <string.h>

// The arrays of the roles, and the current row.
typedef struct table {
    const rh_flat *flat;
    const rh_log_options *opt;
    const char *path;
    rh_beside role[RH_FLAT_NROLE];
    rh_flat__formula reward; // of the reward
    rh_formula__added added; // to terminal rows
    int64_t nundefined;      // rows in which it has no value
    char *formula;           // it in terms of the log, owned; NULL: not possible
    int64_t nrow;
    bool done;                // the terminals are true for every end
    int64_t episode;          // of the last row, from 0
    int64_t boundary;         // boundaries passed
    double id;                // of the episode
    rh_ids old;               // ids so far
    double *obs, *next, *act; // owned, one block
    char **name;              // of the observations, owned, one block
} table;

static const char *const role_name[RH_FLAT_NROLE] = {
    [RH_FLAT_OBS] = "observations",   [RH_FLAT_ACTION] = "actions",
    [RH_FLAT_REWARD] = "rewards",     [RH_FLAT_TERMINAL] = "terminals",
    [RH_FLAT_TRUNCATED] = "timeouts", [RH_FLAT_NEXT] = "next observations",
    [RH_FLAT_EPISODE] = "episodes",   [RH_FLAT_TIME] = "time",
};

rh_array *rh_flat__find(const rh_flat *flat, const char *name)
{
    for (int i = 0; i < flat->narray; i++)
        if (strcmp(flat->array[i].name, name) == 0)
            return &flat->array[i];
    return NULL;
}

// ---------------------------------------------------------------------------- roles

static const char *asked_for(const rh_log_options *opt, rh_flat__role role)
{
    const char *const asked[RH_FLAT_NROLE] = {[RH_FLAT_OBS] = opt->obs,
                                              [RH_FLAT_ACTION] = opt->action,
                                              [RH_FLAT_REWARD] = opt->reward,
                                              [RH_FLAT_TERMINAL] = opt->terminal,
                                              [RH_FLAT_TRUNCATED] = opt->truncated,
                                              [RH_FLAT_NEXT] = opt->next,
                                              [RH_FLAT_EPISODE] = opt->episode,
                                              [RH_FLAT_TIME] = opt->time};
    return asked[role];
}

rh_status rh_flat__no_array(const rh_flat *flat, const char *word, rh_error *err)
{
    char what[400], shown[48];
    const char *path = rh_base__path_tail(flat->plan.shape.path);
    const char **known = rh_alloc((size_t)flat->narray + 1, sizeof *known);
    if (!known)
        return rh_base__no_memory(err, path);
    int n = 0;
    for (int i = 0; i < flat->narray; i++)
        if (flat->array[i].rank > 0)
            known[n++] = flat->array[i].name;
    snprintf(what, sizeof what, "%s: no %s", path, flat->what);
    rh_status rc =
        rh_base__unknown(err, what, rh_text__printable(word, shown, sizeof shown), known, n);
    rh_free((void *)known);
    return rc;
}

static void add(rh_beside *beside, rh_array *array)
{
    beside->array[beside->n++] = array;
    beside->width += array->width > 2 * RH_MAX_OBS ? 2 * RH_MAX_OBS : (int)array->width;
}

// The arrays that the caller names for a role.
static rh_status take_named(table *t, rh_flat__role role, const char *list, rh_error *err)
{
    rh_beside *beside = &t->role[role];
    char **word = NULL;
    int nword = 0;
    rh_status rc = rh_log__split(list, &word, &nword, err);
    for (int i = 0; i < nword && !rc; i++) {
        bool any = false;
        for (int j = 0; j < t->flat->narray && beside->n <= RH_MAX_OBS; j++) {
            rh_array *array = &t->flat->array[j];
            if (array->rank == 0 || !rh_log__matches(word[i], array->name))
                continue;
            add(beside, array);
            any = true;
        }
        if (!any)
            rc = rh_flat__no_array(t->flat, word[i], err);
    }
    if (!rc && beside->n > 1 && role != RH_FLAT_OBS && role != RH_FLAT_NEXT &&
        role != RH_FLAT_ACTION)
        rc = rh_fail(err, RH_EINVAL, "%s: %d %ss for the %s (%s, %s, ...), expected one",
                     rh_base__path_tail(t->path), beside->n, t->flat->what, role_name[role],
                     beside->array[0]->name, beside->array[1]->name);
    rh_free(word);
    return rc;
}

// Whether an array called time really holds the time of each step.
static bool is_time(const table *t, const rh_array *array)
{
    const rh_beside *obs = &t->role[RH_FLAT_OBS];
    return array->numeric && array->rank > 0 && array->width == 1 && obs->n > 0 &&
           array->nrow == obs->array[0]->nrow;
}

static rh_status take_role(table *t, rh_flat__role role, rh_error *err)
{
    const char *asked = asked_for(t->opt, role);
    rh_beside *beside = &t->role[role];
    beside->array = rh_alloc((size_t)t->flat->narray + RH_MAX_OBS + 2, sizeof *beside->array);
    if (!beside->array)
        return rh_base__no_memory(err, t->path);
    if (asked && role == RH_FLAT_REWARD)
        return rh_flat__reward(&t->reward, t->flat, asked, beside, err);
    if (asked)
        return take_named(t, role, asked, err);
    const char *const *usual = t->flat->usual[role];
    for (int i = 0; usual[i] && beside->n == 0; i++) {
        rh_array *array = rh_flat__find(t->flat, usual[i]);
        if (array && (role == RH_FLAT_TIME ? is_time(t, array) : array->rank > 0))
            add(beside, array);
    }
    return RH_OK;
}

// Check that an array holds numbers, one row per step.
static rh_status check_array(const table *t, rh_flat__role role, const rh_array *array,
                             rh_error *err)
{
    const char *path = rh_base__path_tail(t->path);
    const rh_array *obs = t->role[RH_FLAT_OBS].array[0];
    bool wide = role == RH_FLAT_OBS || role == RH_FLAT_NEXT || role == RH_FLAT_ACTION ||
                (role == RH_FLAT_REWARD && t->reward.compiled.nop > 0);
    if (!array->numeric && strstr(array->type, "pickled"))
        return rh_fail(err, RH_EFORMAT, "%s: %s holds %s; save it with a numeric dtype", path,
                       array->name, array->type);
    if (!array->numeric)
        return rh_fail(err, RH_EFORMAT, "%s: %s holds %s, expected numbers", path, array->name,
                       array->type);
    if (array->nrow != obs->nrow)
        return rh_fail(err, RH_EFORMAT, "%s: %s has %lld rows, expected %lld as in %s%s", path,
                       array->name, (long long)array->nrow, (long long)obs->nrow, obs->name,
                       array->nrow + 1 == obs->nrow
                           ? "; it is unclear which episode has the extra observation"
                           : "");
    return wide ? rh_array__check_width(array, t->path, err)
                : rh_array__check_single(array, t->path, err);
}

static rh_status check_roles(table *t, rh_error *err)
{
    static const rh_flat__role needed[] = {RH_FLAT_OBS, RH_FLAT_ACTION, RH_FLAT_REWARD};
    const char *path = rh_base__path_tail(t->path);
    for (int i = 0; i < 3; i++)
        if (t->role[needed[i]].n == 0)
            return rh_fail(err, RH_EFORMAT, "%s: no %s: there is no %s %s", path,
                           role_name[needed[i]], t->flat->what, t->flat->usual[needed[i]][0]);
    if (t->flat->terminal_needed && !t->opt->terminal && t->role[RH_FLAT_TERMINAL].n == 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: no %s %s, expected one, or terminal = \"\" when no step ends in a "
                       "terminal state",
                       path, t->flat->what, t->flat->usual[RH_FLAT_TERMINAL][0]);
    t->nrow = t->role[RH_FLAT_OBS].array[0]->nrow;
    for (int r = 0; r < RH_FLAT_NROLE; r++)
        for (int i = 0; i < t->role[r].n; i++) {
            rh_status rc = check_array(t, (rh_flat__role)r, t->role[r].array[i], err);
            if (rc)
                return rc;
        }
    int nobs = t->role[RH_FLAT_OBS].width, nnext = t->role[RH_FLAT_NEXT].width;
    if (nnext && nnext != nobs)
        return rh_fail(err, RH_EFORMAT, "%s: %s has %d numbers a row, expected %d as in %s",
                       path, t->role[RH_FLAT_NEXT].array[0]->name, nnext, nobs,
                       t->role[RH_FLAT_OBS].array[0]->name);
    if (t->role[RH_FLAT_TERMINAL].n && t->role[RH_FLAT_TRUNCATED].n)
        t->done = strncmp(t->role[RH_FLAT_TERMINAL].array[0]->name, "done", 4) == 0;
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

// The number of a role in a row; 0 if there is no such array.
static rh_status number(const table *t, rh_flat__role role, int64_t row, double *x,
                        rh_error *err)
{
    *x = 0.0;
    return rh_beside__row(&t->role[role], row, x, err);
}

// What the formula of the reward adds to a terminal row.
static void compare_terminal(table *t, double reward)
{
    const rh_expression *e = &t->reward.compiled;
    const rh_beside *terminal = &t->role[RH_FLAT_TERMINAL];
    for (int i = 0; i < e->nspan && terminal->n; i++) {
        int column = e->span[i].column;
        if (t->reward.item[column].array == terminal->array[0]) {
            rh_formula__compare(&t->added, e, t->reward.x, &t->reward.x[column], reward);
            return;
        }
    }
}

// A formula without a value, such as 1/0, gives a missing reward.
static rh_status reward_of(table *t, int64_t row, double *reward, rh_error *err)
{
    const rh_expression *e = &t->reward.compiled;
    const double *x = NULL;
    rh_status rc = RH_OK;
    bool known = true;
    for (int i = 0; i < e->nspan && !rc; i++) {
        const rh_flat__item *item = &t->reward.item[e->span[i].column];
        rc = rh_array__row(item->array, row, &x, err);
        if (rc)
            return rc;
        double value = x[item->column];
        t->reward.x[e->span[i].column] =
            rh_log__is_missing(t->opt, value) ? (double)NAN : value;
        known = known && isfinite(t->reward.x[e->span[i].column]);
    }
    if (e->nop > 0) {
        *reward = rh_expression__value(e, t->reward.x) + 0.0; // -0 is 0
        bool undefined = known && !isfinite(*reward);
        t->nundefined += undefined;
        *reward = undefined ? (double)NAN : *reward;
        compare_terminal(t, *reward);
        return RH_OK;
    }
    rc = rh_array__row(t->role[RH_FLAT_REWARD].array[0], row, &x, err);
    *reward = rc || rh_log__is_missing(t->opt, *x) ? (double)NAN : *x;
    return rc;
}

// Where a number of an array is in a row of the log.
static rh_formula__place place_of(const table *t, const rh_flat__item *item)
{
    static const struct {
        rh_flat__role role;
        rh_formula__side side;
    } all[] = {{RH_FLAT_OBS, RH_FORMULA_OBS},
               {RH_FLAT_ACTION, RH_FORMULA_ACT},
               {RH_FLAT_NEXT, RH_FORMULA_NEXT}};
    for (int k = 0; k < 3; k++) {
        const rh_beside *beside = &t->role[all[k].role];
        int first = 0;
        for (int i = 0; i < beside->n; i++) {
            if (beside->array[i] == item->array)
                return (rh_formula__place){all[k].side, first + item->column};
            first += (int)beside->array[i]->width;
        }
    }
    return (rh_formula__place){RH_FORMULA_NOWHERE, 0};
}

// The formula in terms of the log.
static rh_status keep_formula(table *t, rh_error *err)
{
    const rh_expression *e = &t->reward.compiled;
    if (e->nop == 0)
        return RH_OK;
    rh_formula__place *place = rh_alloc((size_t)t->reward.n, sizeof *place);
    if (!place)
        return rh_base__no_memory(err, t->path);
    for (int i = 0; i < t->reward.n; i++)
        place[i] = place_of(t, &t->reward.item[i]);
    const char *text = t->opt->reward + strspn(t->opt->reward, " \t");
    rh_status rc = rh_formula__write(&t->formula, e, text, place, t->reward.n,
                                     t->opt->reward_of, t->role[RH_FLAT_NEXT].n > 0, err);
    rh_free(place);
    return rc;
}

static rh_status read_flags(const table *t, int64_t row, rh_log_row *out, rh_error *err)
{
    const rh_beside *terminal = &t->role[RH_FLAT_TERMINAL];
    const rh_beside *truncated = &t->role[RH_FLAT_TRUNCATED];
    rh_status rc = RH_OK;
    if (terminal->n)
        rc = rh_array__flag(terminal->array[0], row, t->path, &out->terminal, err);
    if (!rc && truncated->n)
        rc = rh_array__flag(truncated->array[0], row, t->path, &out->truncated, err);
    if (t->done && out->truncated)
        out->terminal = false;
    if (t->flat->ends && out->terminal)
        out->truncated = false;
    return rc;
}

// Interleaved episodes would give an episode per row.
static rh_status check_id(table *t, int64_t row, double id, rh_error *err)
{
    bool known = false;
    const char *path = rh_base__path_tail(t->path),
               *name = t->role[RH_FLAT_EPISODE].array[0]->name;
    if (!rh_ids__add(&t->old, id, &known))
        return rh_base__no_memory(err, path);
    if (!known)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT,
                   "%s: row %lld of %s: episode %g comes back after %g; sort the rows by "
                   "episode",
                   path, (long long)row, name, id, t->id);
}

// Whether an episode begins with this row, and whether in a start state.
static rh_status read_begin(table *t, int64_t row, bool over, rh_log_row *out, rh_error *err)
{
    const rh_flat *flat = t->flat;
    double id = 0.0;
    rh_status rc = number(t, RH_FLAT_EPISODE, row, &id, err);
    if (!rc && isnan(id))
        return rh_fail(err, RH_EFORMAT, "%s: row %lld of %s is NaN, expected an episode",
                       rh_base__path_tail(t->path), (long long)row,
                       t->role[RH_FLAT_EPISODE].array[0]->name);
    out->begins = row == 0 || (t->role[RH_FLAT_EPISODE].n && id != t->id);
    if (!rc && out->begins && t->role[RH_FLAT_EPISODE].n)
        rc = check_id(t, row, id, err);
    t->id = id;
    if (!rc && flat->starts) {
        bool starts = false;
        rc = rh_array__flag(flat->starts, row, t->path, &starts, err);
        out->begins = out->begins || starts;
    }
    for (; t->boundary < flat->nboundary && flat->boundary[t->boundary] <= (double)row;
         t->boundary++)
        out->begins = out->begins || flat->boundary[t->boundary] == (double)row;
    bool fresh = out->begins || over;
    t->episode += fresh && row > 0;
    out->resumes = fresh && t->episode < flat->nstart && flat->start[t->episode] == 0.0;
    return rc;
}

static rh_status read_next(const table *t, int64_t row, rh_log_row *out, rh_error *err)
{
    bool known = t->role[RH_FLAT_NEXT].n > 0;
    rh_status rc = rh_beside__row(&t->role[RH_FLAT_NEXT], row, t->next, err);
    if (!rc && known && t->flat->known) {
        rc = rh_array__flag(t->flat->known, row, t->path, &known, err);
    } else if (known) {
        known = false;
        for (int i = 0; i < t->role[RH_FLAT_NEXT].width && !known; i++)
            known = !isnan(t->next[i]) && !rh_log__is_missing(t->opt, t->next[i]);
    }
    out->next = known ? t->next : NULL;
    return rc;
}

static rh_status read_rows(table *t, rh_feed *feed, rh_error *err)
{
    rh_status rc = RH_OK;
    bool over = false;
    for (int64_t row = 0; row < t->nrow && !rc; row++) {
        rh_log_row out = {.obs = t->obs, .act = t->act, .line = row};
        rc = rh_beside__row(&t->role[RH_FLAT_OBS], row, t->obs, err);
        if (!rc)
            rc = rh_beside__row(&t->role[RH_FLAT_ACTION], row, t->act, err);
        if (!rc)
            rc = reward_of(t, row, &out.reward, err);
        if (!rc)
            rc = number(t, RH_FLAT_TIME, row, &out.time, err);
        if (!rc)
            rc = read_next(t, row, &out, err);
        if (!rc)
            rc = read_flags(t, row, &out, err);
        if (!rc)
            rc = read_begin(t, row, over, &out, err);
        over = out.terminal || out.truncated;
        if (!rc)
            rc = rh_feed__push(feed, &out, row, err);
    }
    rh_formula__keep(&t->added, t->opt->reward_of, feed->builder);
    if (!rc && t->nundefined > 0)
        rc = rh_log__note(feed->builder, err,
                          "%lld rows have no reward: the formula has no value there",
                          (long long)t->nundefined);
    return rc;
}

// ---------------------------------------------------------------------------- notes

static rh_status note_role(const table *t, rh_log_builder *b, rh_flat__role role, rh_error *err)
{
    const rh_beside *beside = &t->role[role];
    const char *extra = "";
    if (role == RH_FLAT_TRUNCATED)
        extra = ": truncated";
    if (role == RH_FLAT_TERMINAL && t->done)
        extra = ": terminal where it is not truncated";
    if (role == RH_FLAT_REWARD && t->opt->reward_of == RH_REWARD_OF_STATE)
        extra = ", of the action of the row before";
    if (role == RH_FLAT_REWARD && t->opt->reward)
        return rh_log__note(b, err, "rewards = %.200s%s", t->opt->reward, extra);
    if (beside->n > 1)
        return rh_log__note(b, err, "%s = %ss %s, ... %s, side by side", role_name[role],
                            t->flat->what, beside->array[0]->name,
                            beside->array[beside->n - 1]->name);
    return rh_log__note(b, err, "%s = %s %s (%s)%s", role_name[role], t->flat->what,
                        beside->array[0]->name, beside->array[0]->type, extra);
}

static rh_status note_all(const table *t, rh_log_builder *b, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int r = 0; r < RH_FLAT_NROLE && !rc; r++)
        if (r != RH_FLAT_NEXT && t->role[r].n > 0)
            rc = note_role(t, b, (rh_flat__role)r, err);
    if (!rc && t->role[RH_FLAT_TERMINAL].n == 0)
        rc = rh_log__note(b, err, "no terminals: no step ends in a terminal state");
    if (!rc && t->flat->remark)
        rc = rh_log__note(b, err, "%s", t->flat->remark);
    if (!rc && t->flat->nboundary)
        rc = rh_log__note(b, err, "an episode begins at every row listed in %s %s",
                          t->flat->what, t->flat->bounds);
    if (!rc && t->flat->starts)
        rc = rh_log__note(b, err, "an episode begins where %s %s is not 0", t->flat->what,
                          t->flat->starts->name);
    bool ends = t->role[RH_FLAT_TRUNCATED].n || t->role[RH_FLAT_EPISODE].n ||
                t->flat->nboundary || t->flat->starts;
    if (!rc && !ends && t->opt->episode_steps < INT64_MAX)
        rc = rh_log__note(b, err, "no timeouts: an episode is truncated after %lld steps",
                          (long long)t->opt->episode_steps);
    else if (!rc && !ends)
        rc = rh_log__note(b, err,
                          "no timeouts: only terminals end an episode; --episode-steps N "
                          "truncates longer ones");
    if (rc)
        return rc;
    if (t->role[RH_FLAT_NEXT].n > 0)
        return rh_log__note(b, err, "s' = %s %s", t->flat->what,
                            t->role[RH_FLAT_NEXT].array[0]->name);
    return rh_log__note(b, err, "s' = the next row of the same episode");
}

// ---------------------------------------------------------------------------- a whole file

// Names of the observations if they come from several arrays.
static rh_status name_obs(table *t, rh_log_shape *shape, rh_error *err)
{
    const rh_beside *obs = &t->role[RH_FLAT_OBS];
    if (shape->obs_name || obs->n < 2)
        return RH_OK;
    size_t length = RH_ARRAY__NAME + 12, n = (size_t)obs->width;
    t->name = rh_alloc(1, n * (sizeof *t->name + length));
    if (!t->name)
        return rh_base__no_memory(err, t->path);
    char *text = (char *)(t->name + n);
    int k = 0;
    for (int i = 0; i < obs->n; i++)
        for (int j = 0; j < obs->array[i]->width; j++, text += length) {
            if (obs->array[i]->width == 1)
                snprintf(text, length, "%s", obs->array[i]->name);
            else
                snprintf(text, length, "%s_%d", obs->array[i]->name, j);
            t->name[k++] = text;
        }
    shape->obs_name = (const char *const *)t->name;
    return RH_OK;
}

rh_status rh_flat__read(rh_log **out, const rh_flat *flat, const rh_log_options *opt,
                        rh_error *err)
{
    table t = {.flat = flat, .opt = opt, .path = flat->plan.shape.path};
    rh_feed__plan plan = flat->plan;
    rh_feed feed = {0};
    rh_status rc = RH_OK;

    // assign the roles
    for (int r = 0; r < RH_FLAT_NROLE && !rc; r++)
        rc = take_role(&t, (rh_flat__role)r, err);
    if (!rc)
        rc = check_roles(&t, err);
    if (rc)
        goto done;
    plan.shape.nobs = t.role[RH_FLAT_OBS].width;
    plan.shape.nact = t.role[RH_FLAT_ACTION].width;
    plan.shape.times = t.role[RH_FLAT_TIME].n > 0;
    plan.shape.place = "row";
    plan.shape.whole = t.role[RH_FLAT_ACTION].array[0]->whole;
    if (opt->reward)
        plan.shape.reward_name = opt->reward;
    plan.action = t.role[RH_FLAT_ACTION].array[0]->name;
    plan.named = t.role[RH_FLAT_EPISODE].n > 0 || flat->nboundary > 0 || flat->starts;
    rc = name_obs(&t, &plan.shape, err);
    if (!rc)
        rc = keep_formula(&t, err);
    if (rc)
        goto done;
    plan.shape.reward_formula = t.formula;

    // read the rows
    rc = rh_feed__open(&feed, &plan, opt, err);
    if (rc)
        goto done;
    rc = rh_log__fits(feed.builder, t.nrow, err);
    if (rc)
        goto done;
    rh_log__expect(feed.builder, t.nrow + 1);
    t.obs = rh_alloc(2 * (size_t)plan.shape.nobs + (size_t)plan.shape.nact, sizeof *t.obs);
    if (!t.obs) {
        rc = rh_base__no_memory(err, t.path);
        goto done;
    }
    t.next = t.obs + plan.shape.nobs;
    t.act = t.next + plan.shape.nobs;
    rc = note_all(&t, feed.builder, err);
    if (!rc)
        rc = read_rows(&t, &feed, err);
    if (!rc)
        rc = rh_feed__finish(&feed, out, err);

done:
    for (int r = 0; r < RH_FLAT_NROLE; r++)
        rh_free(t.role[r].array);
    rh_free(t.obs);
    rh_free(t.name);
    rh_free(t.old.slot);
    rh_free(t.formula);
    rh_flat__clear_formula(&t.reward);
    rh_feed__clear(&feed);
    return rc;
}
