// csv.c - reads logs from tables of text: one row per step.
//
// Rows are parsed one at a time and pushed into a builder, so memory is the log and a buffer.
//
// 1. An episode ends where its column changes; without one, where a step counter does not rise;
//    always after a terminal or truncated row; and maybe at a gap in time (order.c).
// 2. If there is a column of time-outs, a row that is `done` and timed out is not terminal, as
//    in SB3's logs. If the column is called terminal or terminated, it is.

#include "base/base_internal.h"
#include "csv_pivot.h"
#include "csv_reader.h"
#include "formula.h"
#include "log.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- rows

// The reward of the row. A formula without a value, such as 1/0, gives a missing one.
static double reward_of(rh_csv__reader *r)
{
    const rh_columns__plan *plan = &r->plan;
    if (plan->reward.nop == 0)
        return r->value[plan->term[0]];
    double reward = rh_expression__value(&plan->reward, r->value) + 0.0; // -0 is 0
    bool known = !isfinite(reward);
    for (int i = 0; known && i < plan->nterm; i++)
        known = isfinite(r->value[plan->term[i]]);
    r->nundefined += known;
    return known ? (double)NAN : reward;
}

// Build a row from the values.
static void take_values(rh_csv__reader *r, rh_log__seen *s)
{
    const rh_columns__plan *plan = &r->plan;
    const double *value = r->value;
    int nmissing = 0, ntold = 0;
    for (int i = 0; i < plan->nobs; i++)
        s->obs[i] = value[plan->obs[i]];
    for (int i = 0; i < plan->nnext; i++) {
        s->next[i] = value[plan->next[i]];
        ntold += !isnan(s->next[i]);
    }
    for (int i = 0; i < plan->nact; i++) {
        s->act[i] = value[plan->act[i]];
        nmissing += isnan(s->act[i]) != 0;
    }
    bool terminal = plan->terminal >= 0 && value[plan->terminal] != 0.0;
    bool truncated = plan->truncated >= 0 && value[plan->truncated] != 0.0;
    double reward = reward_of(r);
    if (plan->terminal >= 0)
        rh_formula__compare(&r->added, &plan->reward, r->value, &r->value[plan->terminal],
                            reward);
    s->row = (rh_log_row){
        .obs = s->obs,
        .act = nmissing == plan->nact ? NULL : s->act,
        .reward = reward,
        .next = ntold > 0 ? s->next : NULL,
        .terminal = terminal && !(plan->done && truncated),
        .truncated = truncated,
        .time = plan->time >= 0 ? value[plan->time] : 0.0,
        .line = r->csv.line,
    };
}

// Decide whether an episode begins with the row.
static void place(rh_csv__reader *r, rh_log_row *row)
{
    const rh_columns__plan *plan = &r->plan;
    double step = plan->step >= 0 ? r->value[plan->step] : NAN;
    row->begins = r->other || step <= r->step;
    bool begins = rh_order__begins(&r->order, row);
    row->resumes = begins && plan->start >= 0 && r->value[plan->start] == 0.0;
    if (!isnan(step) || begins)
        r->step = step;
}

static rh_status take_row(rh_csv__reader *r, char *text, size_t n, rh_error *err)
{
    r->other = false;
    rh_status rc = rh_csv__take(r, text, text + n, err);
    if (rc)
        return rc;
    take_values(r, &r->now);
    place(r, &r->now.row);
    rc = rh_order__push(&r->order, &r->now.row, err);
    rh_log__seen swap = r->last; // its numbers may still be needed
    r->last = r->now;
    r->now = swap;
    return rc;
}

// ---------------------------------------------------------------------------- a log

static void set_kinds(rh_csv__reader *r)
{
    const rh_columns__plan *plan = &r->plan;
    int nplain = plan->nobs - r->ncategory;
    for (int i = 0; i < plan->nterm; i++)
        r->kind[plan->term[i]] = RH_KIND_NUMBER;
    for (int i = 0; i < plan->nobs; i++)
        r->kind[plan->obs[i]] = i < nplain ? RH_KIND_NUMBER : RH_KIND_CATEGORY;
    for (int i = 0; i < plan->nnext; i++)
        r->kind[plan->next[i]] = i < nplain ? RH_KIND_NUMBER : RH_KIND_CATEGORY;
    const struct {
        int column;
        rh_log__kind kind;
    } single[] = {{plan->episode, RH_KIND_EPISODE}, {plan->terminal, RH_KIND_FLAG},
                  {plan->truncated, RH_KIND_FLAG},  {plan->time, RH_KIND_TIME},
                  {plan->step, RH_KIND_NUMBER},     {plan->start, RH_KIND_FLAG}};
    for (int i = 0; i < 6; i++)
        if (single[i].column >= 0)
            r->kind[single[i].column] = single[i].kind;
}

// A reward is computed from numbers, and a flag counts as one.
static rh_status check_reward(const rh_csv__reader *r, rh_error *err)
{
    for (int i = 0; i < r->plan.nterm; i++) {
        int column = r->plan.term[i];
        rh_log__kind kind = r->kind[column];
        if (kind == RH_KIND_NAME || kind == RH_KIND_EPISODE || kind == RH_KIND_CATEGORY)
            return rh_fail(err, RH_EINVAL,
                           "%s: reward = %.60s: column '%.40s' holds names of %s, expected "
                           "numbers",
                           rh_base__path_tail(r->path), r->plan.reward_name,
                           r->head.columns.name[column],
                           kind == RH_KIND_NAME      ? "actions"
                           : kind == RH_KIND_EPISODE ? "episodes"
                                                     : "a category");
    }
    return RH_OK;
}

// The formula of the reward in terms of the log. Owned: *out; NULL if there is none.
static rh_status keep_formula(const rh_csv__reader *r, char **out, rh_error *err)
{
    const rh_columns__plan *plan = &r->plan;
    int n = r->head.columns.n;
    *out = NULL;
    if (plan->reward.nop == 0)
        return RH_OK;
    rh_formula__place *place = rh_alloc((size_t)n, sizeof *place);
    if (!place)
        return rh_base__no_memory(err, r->path);
    for (int i = 0; i < plan->nobs; i++)
        place[plan->obs[i]] = (rh_formula__place){RH_FORMULA_OBS, i};
    for (int i = 0; i < plan->nact; i++)
        place[plan->act[i]] = (rh_formula__place){RH_FORMULA_ACT, i};
    for (int i = 0; i < plan->nnext; i++)
        place[plan->next[i]] = (rh_formula__place){RH_FORMULA_NEXT, i};
    rh_status rc = rh_formula__write(out, &plan->reward, plan->reward_name, place, n,
                                     r->opt->reward_of, plan->nnext > 0, err);
    rh_free(place);
    return rc;
}

// Names and units for rh_log_shape, in one array: name (nobs), unit (nobs), act (nact).
static const char **shape_names(const rh_csv__reader *r)
{
    const rh_columns__plan *plan = &r->plan;
    const rh_columns *c = &r->head.columns;
    const char **name = rh_alloc(2 * (size_t)plan->nobs + (size_t)plan->nact, sizeof *name);
    for (int i = 0; name && i < plan->nobs; i++) {
        name[i] = c->name[plan->obs[i]];
        name[plan->nobs + i] = c->unit[plan->obs[i]];
    }
    for (int i = 0; name && i < plan->nact; i++)
        name[2 * plan->nobs + i] = c->name[plan->act[i]];
    return name;
}

// Whether a column holds texts only, in the rows examined: no numbers, dates or lists.
static bool is_text(const rh_columns *c, int column)
{
    const rh_log__odd *odd = &c->odd[column];
    return c->wordy[column] && !c->numeric[column] && odd->nnumber == 0 && odd->ndate == 0 &&
           !odd->list && !odd->written;
}

// Observations that are texts are categories; they come last.
static rh_status find_categories(rh_csv__reader *r, rh_error *err)
{
    rh_columns__plan *plan = &r->plan;
    int n = 0;
    for (int i = 0; i < plan->nobs; i++)
        n += is_text(&r->head.columns, plan->obs[i]);
    if (n == 0)
        return RH_OK;
    int nplain = plan->nobs - n, *obs = rh_alloc(2 * (size_t)plan->nobs, sizeof *obs);
    r->category = rh_alloc((size_t)n, sizeof *r->category);
    r->category_of = rh_alloc((size_t)r->head.columns.n, sizeof *r->category_of);
    if (!obs || !r->category || !r->category_of) {
        rh_free(obs);
        return rh_base__no_memory(err, r->path);
    }
    int *next = obs + plan->nobs;
    for (int i = 0, plain = 0; i < plan->nobs; i++) {
        bool text = is_text(&r->head.columns, plan->obs[i]);
        int at = text ? nplain + r->ncategory : plain;
        obs[at] = plan->obs[i];
        next[at] = plan->nnext ? plan->next[i] : 0;
        if (text)
            r->category_of[obs[at]] = r->category_of[next[at]] = r->ncategory;
        r->ncategory += text;
        plain += !text;
    }
    memcpy(plan->obs, obs, (size_t)plan->nobs * sizeof *obs);
    if (plan->nnext)
        memcpy(plan->next, next, (size_t)plan->nobs * sizeof *next);
    rh_free(obs);
    return RH_OK;
}

static rh_status prepare(rh_csv__reader *r, rh_error *err)
{
    const rh_columns__plan *plan = &r->plan;
    size_t n = (size_t)r->head.columns.n, nobs = (size_t)plan->nobs, nact = (size_t)plan->nact;
    const char **name = shape_names(r);
    char *formula = NULL;
    rh_status rc = RH_OK;
    r->kind = rh_alloc(n, sizeof *r->kind);
    r->value = rh_alloc(n, sizeof *r->value);
    r->label = rh_alloc(RH_MAX_ACTIONS, sizeof *r->label);
    r->room = rh_alloc(2 * (2 * nobs + nact), sizeof *r->room);
    if (!name || !r->kind || !r->value || !r->label || !r->room) {
        rc = rh_base__no_memory(err, r->path);
        goto done;
    }
    r->last.obs = r->room;
    r->last.next = r->last.obs + nobs;
    r->last.act = r->last.next + nobs;
    r->now.obs = r->last.act + nact;
    r->now.next = r->now.obs + nobs;
    r->now.act = r->now.next + nobs;
    set_kinds(r);

    rh_log_shape shape = {
        .nobs = plan->nobs,
        .nact = plan->nact,
        .obs_name = name,
        .obs_unit = name + nobs,
        .act_name = name + 2 * nobs,
        .times = plan->time >= 0,
        .reward_name = plan->reward_name,
        .path = r->path,
        .format = r->format,
        .place = r->csv.first_line < 0 ? "row" : "line",
    };
    rc = rh_csv__settle_actions(r, &shape, err);
    if (!rc)
        rc = check_reward(r, err);
    if (!rc)
        rc = keep_formula(r, &formula, err);
    shape.reward_formula = formula;
    if (!rc)
        rc = rh_log_builder_create(&r->builder, &shape, err);
    if (!rc) {
        rh_log__set_limit(r->builder, rh_log__limit_of(r->opt, rh_csv__size(&r->csv)));
        rh_log__expect(r->builder, rh_csv__lines_left(&r->csv));
        r->order = (rh_order){.builder = r->builder,
                              .opt = r->opt,
                              .ours = r->head.columns.has_given,
                              .timed = plan->time >= 0,
                              .named = plan->episode >= 0};
        rc = rh_order__begin(&r->order, err);
    }
    if (!rc)
        rc = rh_csv__note(r, err);

done:
    rh_free((void *)name);
    rh_free(formula);
    return rc;
}

// What is not UTF-8. How many characters there are is known after the last row.
static rh_status note_encoding(const rh_csv__reader *r, rh_error *err)
{
    const rh_encoding *e = &r->csv.encoding;
    if (e->wide)
        return rh_log__note(r->builder, err, "the text is UTF-16, %s-endian",
                            e->big ? "big" : "little");
    if (e->nlatin)
        return rh_log__note(r->builder, err,
                            "the text is Latin-1 (Windows-1252): %lld character%s not UTF-8",
                            (long long)e->nlatin, e->nlatin == 1 ? " is" : "s are");
    return RH_OK;
}

static rh_status read_rows(rh_csv__reader *r, rh_error *err)
{
    for (;;) {
        char *text;
        size_t n;
        rh_status rc = rh_csv__next(&r->csv, &text, &n, err);
        if (rc)
            return rc;
        if (!text)
            break;
        rc = take_row(r, text, n, err);
        if (rc)
            return rc;
    }
    rh_status rc = rh_order__end(&r->order, err);
    rh_formula__keep(&r->added, r->opt->reward_of, r->builder);
    if (!rc && r->nundefined > 0)
        rc = rh_log__note(r->builder, err,
                          "%lld rows have no reward: the formula has no value there",
                          (long long)r->nundefined);
    if (!rc)
        rc = note_encoding(r, err);
    if (!rc && !r->declared && r->nlabel > 0)
        rc = rh_log__set_labels(r->builder, r->label, r->nlabel, err);
    return rc;
}

// If a table that cannot be read has a row per value, say so instead.
static rh_status refuse_long(const rh_csv__reader *r, rh_status rc, rh_error *err)
{
    const char *tag, *value;
    if (!rh_pivot__suspected(&r->head.columns, &tag, &value))
        return rc;
    return rh_fail(
        err, RH_EFORMAT,
        "%s: each line holds one value (columns '%.40s' and '%.40s'), expected a row "
        "per step; make rows of them with --pivot '%.40s,%.40s' --every TIME, such "
        "as 1m",
        rh_base__path_tail(r->path), tag, value, tag, value);
}

// Read a table that has a row per step.
static rh_status read_steps(rh_csv__reader *r, rh_log **out, rh_error *err)
{
    rh_status rc = rh_columns__plan_make(&r->plan, &r->head.columns, r->opt, err);
    if (rc && rc != RH_ENOMEM && r->csv.first_line == 1)
        rc = refuse_long(r, rc, err);
    if (!rc && r->plan.time >= 0)
        rc = rh_csv__find_order(&r->csv, r->plan.time, r->head.columns.name[r->plan.time], err);
    if (!rc)
        rc = find_categories(r, err);
    if (!rc)
        rc = prepare(r, err);
    if (!rc)
        rc = read_rows(r, err);
    if (rc == RH_EFORMAT && (r->status || r->plan.word))
        rh_csv__suggest_missing(r, err);
    rh_log *log = NULL;
    if (!rc)
        rc = rh_log_finish(r->builder, &log, err);
    if (!rc && r->ncategory)
        rc = rh_category__expand(&log, r->category, r->ncategory, r->path, err);
    if (!rc)
        *out = log;
    else
        rh_log_destroy(log);
    return rc;
}

// Read the log from r->csv, which is then closed.
static rh_status read_opened(rh_csv__reader *r, rh_log **out, rh_status rc, rh_error *err)
{
    r->step = NAN;
    r->csv.opt = r->opt;
    if (!rc)
        rc = rh_csv__head(&r->head, &r->csv, err);
    if (!rc)
        rc = rh_pivot__asked(&r->head.columns, r->opt)
                 ? rh_pivot__read(out, &r->csv, &r->head.columns, r->opt, err)
                 : read_steps(r, out, err);

    rh_log_builder_destroy(r->builder);
    for (int i = 0; i < RH_MAX_ACTIONS; i++)
        rh_free(r->own[i]);
    for (int i = 0; r->category && i < r->ncategory; i++)
        rh_category__clear(&r->category[i]);
    rh_free(r->category);
    rh_free(r->category_of);
    rh_free((void *)r->label);
    rh_free((void *)r->word);
    rh_free(r->room);
    rh_free(r->value);
    rh_free(r->kind);
    rh_free(r->id);
    rh_free(r->old);
    rh_columns__plan_clear(&r->plan);
    rh_csv__clear_head(&r->head);
    rh_csv__close(&r->csv);
    return rc;
}

static rh_status csv_read(rh_log **out, const char *path, const rh_log_options *opt,
                          rh_error *err)
{
    rh_csv__reader r = {.path = path, .format = "csv", .opt = opt};
    return read_opened(&r, out, rh_csv__open(&r.csv, path, err), err);
}

static rh_status csv_read_fd(rh_log **out, int fd, const char *path, const rh_log_options *opt,
                             rh_error *err)
{
    rh_csv__reader r = {.path = path, .format = "csv", .opt = opt};
    return read_opened(&r, out, rh_csv__open_fd(&r.csv, fd, path, err), err);
}

rh_status rh_csv__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err)
{
    rh_csv__reader r = {.path = path, .format = "csv", .opt = opt};
    return read_opened(&r, out, rh_csv__open_bytes(&r.csv, bytes, n, path, err), err);
}

rh_status rh_csv__read_made(rh_log **out, const void *bytes, size_t n, const char *path,
                            int64_t first_line, const char *format, const rh_log_options *opt,
                            rh_error *err)
{
    rh_csv__reader r = {.path = path, .format = format, .opt = opt};
    rh_status rc = rh_csv__open_bytes(&r.csv, bytes, n, path, err);
    r.csv.first_line = r.csv.next_line = first_line;
    return read_opened(&r, out, rc, err);
}

// Text or gzip: any file whose first line contains only bytes of text.
static bool csv_probe(const char *path, bool folder, const unsigned char *head, size_t n)
{
    (void)path;
    if (folder)
        return false;
    if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b)
        return true;
    if (n >= 2 &&
        ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff)))
        return true; // UTF-16
    for (size_t i = 0; i < n && head[i] != '\n'; i++)
        if (head[i] < 8 || (head[i] > 13 && head[i] < 32 && head[i] != 27))
            return false;
    return true;
}

const rh_log__format rh_log__csv = {
    .about = {"csv", "comma- or tab-separated values, also gzipped", true, true},
    .ending = {".csv", ".csv.gz", ".tsv"},
    .probe = csv_probe,
    .read = csv_read,
    .read_fd = csv_read_fd,
    .write = rh_csv__write,
};
