// build.c - turns rows into transitions.
//
// This is the only place that decides what the s' of a step is:
//
// 1. The s' that the row gives; else the observation of the next row of the same episode; else
//    unknown. It is never the first row of another episode.
// 2. A terminal step with unknown s' is kept, because it still ends an episode. Any other step
//    with unknown s' is dropped and counted, and the step before it ends its episode.
// 3. A row without an action gives the s' of the step before. If the episode continues, data is
//    missing: it is split, and the second part does not begin in a start state. A step with
//    unknown action or reward is dropped in the same way; its flags still count.
// 4. The last step of an episode is terminal or truncated, whatever the log says.
// 5. An observation whose numbers are all missing counts as none: no s', and no step there.
// 6. An s' equal to the next row's observation is stored once.
// 7. Before all this, short gaps are filled if a reader asks for it (gaps.c).

#include "base/base_internal.h"
#include "gaps.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MAX_ROWS (INT32_MAX - 1)
#define CHECKED 256 // rows between checks of the memory

typedef enum column_name {
    OBS,
    FROM,
    TO,
    ACT,
    REWARD,
    FLAG,
    TIME,
    LINE,
    FIRST,
    START,
    NCOLUMN
} column_name;

struct rh_log_builder {
    rh_log_shape shape; // its pointers are not kept
    rh_log__body *body; // owned
    rh_column column[NCOLUMN];
    rh_log_reading reading;
    rh_log__limit limit;
    rh_gaps *gaps;     // owned; NULL: gaps are left
    const char **note; // owned  (reading.nnote, room for nnote)
    int nnote;
    bool sorted;     // sort the labels
    bool open;       // inside an episode
    bool waiting;    // the last transition gets its s' from the next row
    bool over;       // the last row ended the episode
    bool hole;       // the last row of the episode made no step
    bool seen;       // and may be the observation at its end
    bool late;       // the episode's first rows were dropped
    int32_t next;    // row of the s' given by the last row, or RH_UNKNOWN
    int64_t line;    // of the row
    int64_t seen_at; // of the row that is `seen`
};

// ---------------------------------------------------------------------------- names

const char *rh_log__keep(rh_log__body *body, const char *text)
{
    if (body->ntext == body->nroom) {
        int nroom = 2 * body->nroom + 32;
        char **all = rh_alloc((size_t)nroom, sizeof *all);
        if (!all)
            return NULL;
        if (body->ntext)
            memcpy(all, body->text, (size_t)body->ntext * sizeof *all);
        rh_free(body->text);
        body->text = all;
        body->nroom = nroom;
    }
    size_t size = strlen(text) + 1;
    char *copy = rh_alloc(size, 1);
    if (!copy)
        return NULL;
    body->text[body->ntext++] = copy;
    return memcpy(copy, text, size);
}

const char **rh_log__keep_all(rh_log__body *body, const char *const *text, int n)
{
    const char **all = rh_alloc((size_t)n + 1, sizeof *all);
    for (int i = 0; all && i < n; i++) {
        all[i] = rh_log__keep(body, text[i]);
        if (!all[i]) {
            rh_free((void *)all);
            return NULL;
        }
    }
    return all;
}

const char **rh_log__keep_names(rh_log__body *body, const char *const *name, int n,
                                const char *stem)
{
    if (name)
        return rh_log__keep_all(body, name, n);
    const char **all = rh_alloc((size_t)n + 1, sizeof *all);
    for (int i = 0; all && i < n; i++) {
        char text[32];
        if (n == 1 && strcmp(stem, "action") == 0)
            snprintf(text, sizeof text, "%s", stem);
        else
            snprintf(text, sizeof text, "%s%s%d", stem, *stem ? "_" : "", i);
        all[i] = rh_log__keep(body, *stem ? text : "");
        if (!all[i]) {
            rh_free((void *)all);
            return NULL;
        }
    }
    return all;
}

static bool keep_shape(rh_log_builder *b, const rh_log_shape *shape)
{
    rh_log *log = &b->body->log;
    log->nobs = shape->nobs;
    log->nact = shape->nact;
    log->obs_name = rh_log__keep_names(b->body, shape->obs_name, shape->nobs, "obs");
    log->obs_unit = rh_log__keep_names(b->body, shape->obs_unit, shape->nobs, "");
    log->act_name = rh_log__keep_names(b->body, shape->act_name, shape->nact, "action");
    log->reward_name =
        rh_log__keep(b->body, shape->reward_name ? shape->reward_name : "reward");
    log->path = rh_log__keep(b->body, shape->path ? shape->path : "");
    if (shape->reward_formula) {
        log->reward_formula = rh_log__keep(b->body, shape->reward_formula);
        if (!log->reward_formula)
            return false;
    }
    if (shape->nlabel > 0) {
        log->label = rh_log__keep_all(b->body, shape->label, shape->nlabel);
        if (!log->label)
            return false;
    }
    return log->obs_name && log->obs_unit && log->act_name && log->reward_name && log->path;
}

// ---------------------------------------------------------------------------- the builder

static rh_status out_of_memory(const rh_log_builder *b, rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "%s: out of memory after %lld rows",
                   rh_base__path_tail(b->body && b->body->log.path ? b->body->log.path : ""),
                   (long long)b->reading.nrow);
}

rh_status rh_log_builder_create(rh_log_builder **out, const rh_log_shape *shape, rh_error *err)
{
    if (shape->nobs < 1 || shape->nobs > RH_MAX_OBS)
        return rh_fail(
            err, RH_EINVAL, "%s: %d numbers in an observation, expected 1 to %d%s",
            rh_base__path_tail(shape->path ? shape->path : "log"), shape->nobs, RH_MAX_OBS,
            shape->nobs > RH_MAX_OBS ? "; name those that matter: --obs temp,level" : "");
    if (shape->nact < 1 || shape->nact > RH_MAX_ACT)
        return rh_fail(err, RH_EINVAL, "%s: %d numbers in an action, expected 1 to %d%s",
                       rh_base__path_tail(shape->path ? shape->path : "log"), shape->nact,
                       RH_MAX_ACT,
                       shape->nact > RH_MAX_ACT ? "; name those that matter: --action" : "");
    if (shape->nlabel > RH_MAX_ACTIONS)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d different actions, expected at most %d; give actions that are "
                       "alike one name",
                       rh_base__path_tail(shape->path ? shape->path : "log"), shape->nlabel,
                       RH_MAX_ACTIONS);

    rh_log_builder *b = rh_alloc(1, sizeof *b);
    if (!b)
        return rh_base__no_memory(err, "log");
    b->shape = *shape;
    b->reading.format = shape->format ? shape->format : "";
    b->reading.place = shape->place;
    b->reading.lost_at = b->reading.incomplete_at = b->reading.reverse_at = -1;
    b->next = RH_UNKNOWN;
    b->limit = (rh_log__limit){.most = INT64_MAX, .size = -1, .until = INFINITY};
    static const size_t width[NCOLUMN] = {
        [FROM] = sizeof(int32_t),  [TO] = sizeof(int32_t),    [REWARD] = sizeof(double),
        [FLAG] = sizeof(uint8_t),  [TIME] = sizeof(double),   [LINE] = sizeof(int64_t),
        [FIRST] = sizeof(int64_t), [START] = sizeof(uint8_t),
    };
    for (int i = 0; i < NCOLUMN; i++)
        b->column[i].width = width[i];
    b->column[OBS].width = (size_t)shape->nobs * sizeof(double);
    b->column[ACT].width = (size_t)shape->nact * sizeof(double);
    b->body = rh_log__new();
    if (!b->body || !keep_shape(b, shape)) {
        rh_status rc = out_of_memory(b, err);
        rh_log_builder_destroy(b);
        return rc;
    }
    *out = b;
    return RH_OK;
}

void rh_log_builder_destroy(rh_log_builder *b)
{
    if (!b)
        return;
    for (int i = 0; i < NCOLUMN; i++)
        rh_column__clear(&b->column[i]);
    rh_free((void *)b->note);
    rh_gaps__destroy(b->gaps);
    if (b->body)
        rh_log_destroy(&b->body->log);
    rh_free(b);
}

void rh_log__expect(rh_log_builder *b, int64_t nrow)
{
    nrow = nrow < MAX_ROWS ? nrow : MAX_ROWS;
    for (int i = 0; b->reading.nrow == 0 && i <= LINE && nrow > RH_COLUMN__BLOCK; i++)
        b->column[i].first = nrow;
}

void rh_log__set_terminal_reward(rh_log_builder *b, double added)
{
    b->body->log.terminal_reward = added;
}

void rh_log__set_limit(rh_log_builder *b, rh_log__limit limit)
{
    b->limit = limit;
}

rh_status rh_log__fits(const rh_log_builder *b, int64_t nrow, rh_error *err)
{
    int64_t width = 0;
    for (int i = 0; i <= FLAG; i++)
        width += (int64_t)b->column[i].width;
    return rh_log__within(&b->limit, nrow < INT64_MAX / width ? nrow * width : INT64_MAX,
                          b->body->log.path, err);
}

rh_log_reading *rh_log__reading(rh_log_builder *b)
{
    return &b->reading;
}

rh_status rh_log__set_labels(rh_log_builder *b, const char *const *label, int nlabel,
                             rh_error *err)
{
    const char **kept = rh_log__keep_all(b->body, label, nlabel);
    if (!kept)
        return out_of_memory(b, err);
    rh_free((void *)b->body->log.label);
    b->body->log.label = kept;
    b->shape.nlabel = nlabel;
    b->sorted = true;
    return RH_OK;
}

rh_status rh_log__note(rh_log_builder *b, rh_error *err, const char *format, ...)
{
    if (b->reading.nnote == b->nnote) {
        int nnote = 2 * b->nnote + 8;
        const char **note = rh_alloc((size_t)nnote, sizeof *note);
        if (!note)
            return out_of_memory(b, err);
        if (b->reading.nnote)
            memcpy((void *)note, (const void *)b->note,
                   (size_t)b->reading.nnote * sizeof *note);
        rh_free((void *)b->note);
        b->note = note;
        b->nnote = nnote;
    }
    char text[1024], shown[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = rh_log__keep(b->body, rh_text__printable(text, shown, sizeof shown));
    if (!kept)
        return out_of_memory(b, err);
    b->note[b->reading.nnote++] = kept;
    return RH_OK;
}

rh_status rh_log__add_note(rh_log *log, rh_error *err, const char *format, ...)
{
    rh_log_reading *r = &log->reading;
    char text[1024], shown[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char **all = rh_alloc((size_t)r->nnote + 1, sizeof *all);
    const char *kept =
        rh_log__keep((rh_log__body *)log, rh_text__printable(text, shown, sizeof shown));
    if (!all || !kept) {
        rh_free((void *)all);
        return rh_base__no_memory(err, log->path);
    }
    for (int i = 0; i < r->nnote; i++)
        all[i] = r->note[i];
    all[r->nnote++] = kept;
    rh_free((void *)(uintptr_t)r->note);
    r->note = all;
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

static int64_t ntransition(const rh_log_builder *b)
{
    return b->column[FROM].n;
}

static int32_t *row_to(const rh_log_builder *b)
{
    return rh_column__at(&b->column[TO], ntransition(b) - 1);
}

static uint8_t *row_flag(const rh_log_builder *b)
{
    return rh_column__at(&b->column[FLAG], ntransition(b) - 1);
}

static uint8_t flags_of(const rh_log_row *row)
{
    return (uint8_t)((row->terminal ? RH_FLAG_TERMINAL : 0) |
                     (row->truncated ? RH_FLAG_TRUNCATED : 0));
}

// Store an observation of the current line. Returns its row, or RH_UNKNOWN if memory runs out.
static int32_t keep_obs(rh_log_builder *b, const double *obs)
{
    double *row = rh_column__push(&b->column[OBS]);
    int64_t *line = b->shape.place ? rh_column__push(&b->column[LINE]) : &(int64_t){0};
    if (!row || !line)
        return RH_UNKNOWN;
    *line = b->line;
    memcpy(row, obs, b->column[OBS].width);
    for (int i = 0; i < b->shape.nobs; i++)
        b->reading.nmissing += isnan(obs[i]) != 0;
    return (int32_t)(b->column[OBS].n - 1);
}

// Equal numbers; missing ones are equal to each other.
static bool same_obs(const rh_log_builder *b, int32_t row, const double *obs)
{
    const double *kept = rh_column__at(&b->column[OBS], row);
    for (int i = 0; i < b->shape.nobs; i++)
        if (kept[i] != obs[i] && !(isnan(kept[i]) && isnan(obs[i])))
            return false;
    return true;
}

// Count dropped rows or steps; `at` is the line of the first.
static void count_dropped(const rh_log_builder *b, int64_t *count, int64_t *at, int64_t line)
{
    if ((*count)++ == 0 && b->shape.place)
        *at = line;
}

// Whether any number of an observation is known.
static bool is_seen(const rh_log_builder *b, const double *obs)
{
    for (int i = 0; i < b->shape.nobs; i++)
        if (!isnan(obs[i]))
            return true;
    return false;
}

// Remove the last transition of the episode from `first`, and its observation if unused.
static void take_back(rh_log_builder *b, int64_t first)
{
    int64_t i = ntransition(b) - 1;
    int32_t from = *(int32_t *)rh_column__at(&b->column[FROM], i);
    bool alone = i == first || *(int32_t *)rh_column__at(&b->column[TO], i - 1) != from;
    static const column_name of_transition[] = {FROM, TO, ACT, REWARD, FLAG, TIME};
    for (int k = 0; k < 6; k++)
        if (b->column[of_transition[k]].n > 0)
            b->column[of_transition[k]].n--;
    if (b->shape.place)
        count_dropped(b, &b->reading.nlost, &b->reading.lost_at,
                      *(int64_t *)rh_column__at(&b->column[LINE], from));
    else
        b->reading.nlost++;
    if (alone) {
        b->column[OBS].n--;
        b->column[LINE].n -= b->shape.place != NULL;
    }
}

static void close_episode(rh_log_builder *b)
{
    if (!b->open)
        return;
    int64_t first = *(int64_t *)rh_column__at(&b->column[FIRST], b->column[FIRST].n - 1);
    if (b->waiting && !(*row_flag(b) & RH_FLAG_TERMINAL)) {
        take_back(b, first);
    }
    if (ntransition(b) == first) {
        b->column[FIRST].n--;
        b->column[START].n--;
    } else if (!(*row_flag(b) & RH_FLAG_TERMINAL)) {
        *row_flag(b) |= RH_FLAG_TRUNCATED;
    }
    b->open = b->waiting = b->over = b->hole = b->seen = false;
    b->next = RH_UNKNOWN;
}

static bool open_episode(rh_log_builder *b, bool start)
{
    int64_t *first = rh_column__push(&b->column[FIRST]);
    uint8_t *mark = rh_column__push(&b->column[START]);
    if (!first || !mark)
        return false;
    *first = ntransition(b);
    *mark = start && !b->late;
    b->open = true;
    b->late = false;
    return true;
}

// A row without a step: it has no action, or its action or reward is unknown.
static bool observe(rh_log_builder *b, const rh_log_row *row)
{
    bool step = row->act != NULL;
    bool ends = row->terminal || row->truncated;
    if (step || !b->open || b->hole)
        count_dropped(b, &b->reading.nincomplete, &b->reading.incomplete_at, b->line);
    if (!b->open) {
        b->late = !ends;
        return true;
    }
    if (b->waiting && !b->hole && is_seen(b, row->obs)) {
        int32_t seen = keep_obs(b, row->obs);
        if (seen == RH_UNKNOWN)
            return false;
        *row_to(b) = seen;
        b->waiting = false;
    }
    if (!step && !b->hole)
        *row_flag(b) |= flags_of(row);
    b->seen = !step && !b->hole;
    b->seen_at = b->line;
    b->over = b->over || ends;
    b->hole = true;
    return true;
}

// The row of s for a new step; RH_UNKNOWN if memory runs out.
static int32_t place(rh_log_builder *b, const double *obs)
{
    if (b->next != RH_UNKNOWN && same_obs(b, b->next, obs)) {
        if (b->shape.place)
            *(int64_t *)rh_column__at(&b->column[LINE], b->next) = b->line;
        return b->next;
    }
    int32_t row = keep_obs(b, obs);
    if (row != RH_UNKNOWN && b->waiting)
        *row_to(b) = row;
    return row;
}

static bool act(rh_log_builder *b, const rh_log_row *row)
{
    int32_t here = place(b, row->obs);
    int32_t *from = rh_column__push(&b->column[FROM]);
    int32_t *to = rh_column__push(&b->column[TO]);
    double *action = rh_column__push(&b->column[ACT]);
    double *reward = rh_column__push(&b->column[REWARD]);
    uint8_t *flag = rh_column__push(&b->column[FLAG]);
    double *time = b->shape.times ? rh_column__push(&b->column[TIME]) : &(double){0.0};
    if (here == RH_UNKNOWN || !from || !to || !action || !reward || !flag || !time)
        return false;

    *from = here;
    *to = RH_UNKNOWN;
    memcpy(action, row->act, b->column[ACT].width);
    *reward = row->reward;
    *flag = flags_of(row);
    *time = row->time;

    bool given = row->next && is_seen(b, row->next);
    b->next = given ? keep_obs(b, row->next) : RH_UNKNOWN;
    *to = b->next;
    b->waiting = !given;
    b->over = row->terminal || row->truncated;
    return !given || b->next != RH_UNKNOWN;
}

static bool is_complete(const rh_log_builder *b, const rh_log_row *row)
{
    if (!row->act || isnan(row->reward) || !is_seen(b, row->obs))
        return false;
    for (int i = 0; i < b->shape.nact; i++)
        if (isnan(row->act[i]))
            return false;
    return true;
}

// Bytes of all rows so far.
static int64_t memory_of(const rh_log_builder *b)
{
    int64_t bytes = 0;
    for (int i = 0; i < NCOLUMN; i++)
        bytes += b->column[i].n * (int64_t)b->column[i].width;
    return bytes;
}

// A row becomes a step, or the observation after one.
static rh_status take_row(rh_log_builder *b, const rh_log_row *row, rh_error *err)
{
    if (b->reading.nrow >= MAX_ROWS || b->column[OBS].n >= MAX_ROWS - 1)
        return rh_fail(err, RH_EFORMAT, "%s: more than %d rows, which is all a log can hold",
                       rh_base__path_tail(b->body->log.path), MAX_ROWS);
    b->line = row->line;
    if (b->reading.nrow++ % CHECKED == 0) {
        rh_status rc = rh_log__within(&b->limit, memory_of(b), b->body->log.path, err);
        if (rc)
            return rc;
    }

    bool acts = is_complete(b, row);
    bool begins = row->begins || row->resumes || !b->open || (b->over && (row->act || b->hole));
    bool torn = !begins && b->hole; // the episode continues after a row without a step
    if (torn && b->seen)
        count_dropped(b, &b->reading.nincomplete, &b->reading.incomplete_at, b->seen_at);
    b->seen = false;
    b->late = b->late && !row->begins && !row->resumes;
    if (begins || (torn && acts))
        close_episode(b);
    if (!acts)
        return observe(b, row) ? RH_OK : out_of_memory(b, err);
    if (!b->open && !open_episode(b, begins && !row->resumes))
        return out_of_memory(b, err);
    return act(b, row) ? RH_OK : out_of_memory(b, err);
}

rh_status rh_log_push(rh_log_builder *b, const rh_log_row *row, rh_error *err)
{
    return b->gaps ? rh_gaps__push(b->gaps, row, err) : take_row(b, row, err);
}

rh_status rh_log__fill_gaps(rh_log_builder *b, rh_error *err)
{
    rh_log_shape shape = b->shape;
    shape.reward_formula = b->body->log.reward_formula;
    return rh_gaps__create(&b->gaps, &shape, b, take_row, err);
}

// Pass on the last rows, and say what was filled.
static rh_status end_gaps(rh_log_builder *b, rh_error *err)
{
    rh_text text = {0};
    rh_status rc = rh_gaps__end(b->gaps, err);
    b->reading.nfilled = rh_gaps__count(b->gaps);
    if (rc || b->reading.nfilled == 0)
        return rc;
    rh_gaps__tell(b->gaps, &b->body->log, &text);
    if (text.bad)
        rc = out_of_memory(b, err);
    else
        rc = rh_log__note(b, err,
                          "%lld missing value%s in gaps of at most %d rows filled: %s (--gaps "
                          "cut leaves them)",
                          (long long)b->reading.nfilled, b->reading.nfilled == 1 ? "" : "s",
                          RH_GAPS__MOST, text.data);
    rh_text__clear(&text);
    return rc;
}

// ---------------------------------------------------------------------------- the log

bool rh_log__number_steps(rh_log *log)
{
    int32_t *episode = rh_alloc((size_t)log->n, sizeof *episode);
    int32_t *step = rh_alloc((size_t)log->n, sizeof *step);
    log->episode = episode;
    log->step = step;
    if (!episode || !step)
        return false;
    for (int e = 0; e < log->nepisode; e++)
        for (int64_t i = log->first[e]; i < log->first[e + 1]; i++) {
            episode[i] = e;
            step[i] = (int32_t)(i - log->first[e]);
        }
    return true;
}

// Steps whose s' differs from the s of the next step.
static int64_t count_mismatches(const rh_log *log)
{
    int64_t count = 0;
    for (int64_t i = 0; i + 1 < log->n; i++)
        count += log->episode[i] == log->episode[i + 1] && log->to[i] != log->from[i + 1];
    return count;
}

// Flatten all columns into the log.
static bool take_columns(rh_log_builder *b)
{
    rh_log *log = &b->body->log;
    log->n = ntransition(b);
    log->nstate = b->column[OBS].n;
    log->nepisode = (int)b->column[FIRST].n;
    int64_t *last = rh_column__push(&b->column[FIRST]);
    if (!last)
        return false;
    *last = log->n;
    return (log->obs = rh_column__flatten(&b->column[OBS])) &&
           (log->from = rh_column__flatten(&b->column[FROM])) &&
           (log->to = rh_column__flatten(&b->column[TO])) &&
           (log->act = rh_column__flatten(&b->column[ACT])) &&
           (log->reward = rh_column__flatten(&b->column[REWARD])) &&
           (log->flag = rh_column__flatten(&b->column[FLAG])) &&
           (!b->shape.times || (log->time = rh_column__flatten(&b->column[TIME]))) &&
           (!b->shape.place || (log->line = rh_column__flatten(&b->column[LINE]))) &&
           (log->first = rh_column__flatten(&b->column[FIRST])) &&
           (log->start = rh_column__flatten(&b->column[START])) && rh_log__number_steps(log);
}

// If the log knows no start state, its first state becomes one.
static void choose_start(const rh_log_builder *b)
{
    const rh_column *start = &b->column[START];
    for (int64_t i = 0; i < start->n; i++)
        if (*(uint8_t *)rh_column__at(start, i))
            return;
    if (start->n > 0)
        *(uint8_t *)rh_column__at(start, 0) = 1;
}

rh_status rh_log_finish(rh_log_builder *b, rh_log **out, rh_error *err)
{
    rh_log *log = &b->body->log;
    rh_status rc = b->gaps ? end_gaps(b, err) : RH_OK;
    if (rc)
        return rc;
    close_episode(b);
    choose_start(b);
    if (ntransition(b) == 0)
        return rh_fail(err, RH_EFORMAT,
                       "%s: no step in %lld rows: %lld without action or reward, %lld with "
                       "unknown next observation; expected at least one complete step",
                       rh_base__path_tail(log->path), (long long)b->reading.nrow,
                       (long long)b->reading.nincomplete, (long long)b->reading.nlost);
    if (!take_columns(b))
        return out_of_memory(b, err);

    char note[640] = "";
    rc = rh_log__classify(b->body, (double *)(uintptr_t)log->act, &b->shape, b->sorted, note,
                          sizeof note, err);
    if (!rc && *note)
        rc = rh_log__note(b, err, "%s", note);
    if (rc)
        return rc;

    log->reading = b->reading;
    log->reading.nmismatch = count_mismatches(log);
    log->reading.note = b->note;
    b->note = NULL;
    *out = log;
    b->body = NULL;
    return RH_OK;
}

rh_log__body *rh_log__new(void)
{
    rh_log__body *body = rh_alloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->log.self = body;
    atomic_init(&body->nowner, 1);
    return body;
}

rh_log *rh_log__share(const rh_log *log)
{
    if (log->self != log) // parts filled in by the caller
        return NULL;
    rh_log__body *body = (rh_log__body *)(uintptr_t)log;
    atomic_fetch_add(&body->nowner, 1);
    return &body->log;
}

void rh_log_destroy(rh_log *log)
{
    if (!log)
        return;
    rh_log__body *body = (rh_log__body *)log;
    if (atomic_fetch_sub(&body->nowner, 1) > 1)
        return;
    const void *const owned[] = {
        log->obs,      log->from,     log->to,    log->act,          log->reward, log->flag,
        log->time,     log->episode,  log->step,  log->first,        log->start,  log->obs_name,
        log->obs_unit, log->act_name, log->label, log->reading.note, log->line};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        rh_free((void *)(uintptr_t)owned[i]);
    for (int i = 0; i < body->ntext; i++)
        rh_free(body->text[i]);
    rh_free(body->text);
    rh_free(body);
}
