// columns.c - assigns roles to columns: by options, the file, or usual names (columns_usual.c).
//
// 1. Names are compared without case and punctuation: obs_0, obs[0], "Obs 0" and Obs.0 are the
//    same (plain form obs_0), and so are episodeId and episode_id. A prime at the end and t+1
//    mark an s': s' is s_next, x(t+1) is x_tp1. Names in options must match exactly, but a
//    pattern never selects an s' together with its s.
// 2. A guess never takes a column that the caller or the file named. A column named for two
//    roles is refused; but a computed reward ("-energy") may also use observations and actions.

#include "base/base.h"
#include "base/base_internal.h"
#include "columns_plan.h"

#include <stdarg.h>
#include <string.h>

const char *rh_columns__role_name(rh_log__role role)
{
    static const char *const name[RH_NROLE] = {"",       "obs",     "next",     "action",
                                               "reward", "episode", "terminal", "truncated",
                                               "time",   "step",    "start"};
    return name[role];
}

// ---------------------------------------------------------------------------- names

void rh_columns__cut(const char *header, size_t n, size_t *name, const char **unit,
                     size_t *nunit)
{
    *name = n;
    *unit = NULL;
    *nunit = 0;
    char close = n > 0 ? header[n - 1] : 0, open = close == ']' ? '[' : '(';
    if (close != ']' && close != ')')
        return;

    // find the bracket that matches the last one
    size_t at = n - 1;
    for (int depth = 1; depth > 0;) {
        if (at == 0)
            return;
        at--;
        depth += (header[at] == close) - (header[at] == open);
    }

    // obs[0] has no unit, and there must be a name
    size_t digits = 0, end = at;
    while (digits < n - at - 2 && header[at + 1 + digits] >= '0' &&
           header[at + 1 + digits] <= '9')
        digits++;
    while (end > 0 && (header[end - 1] == ' ' || header[end - 1] == '\t'))
        end--;
    if (end == 0 || (digits > 0 && digits == n - at - 2))
        return;
    if (n - at == 5 && header[at + 2] == '+' && header[at + 3] == '1')
        return; // x(t+1): a time, not a unit
    *name = end;
    *unit = header + at + 1;
    *nunit = n - at - 2;
}

// If two names are equal without their units, they keep the units.
static void restore_names(rh_columns *c)
{
    bool *shared = c->wordy; // not used yet
    for (int i = 0; i < c->n; i++)
        for (int j = 0; *c->unit[i] && !shared[i] && j < c->n; j++)
            shared[i] =
                strcmp(c->name[i], c->name[j]) == 0 && strcmp(c->header[i], c->header[j]) != 0;
    for (int i = 0; i < c->n; i++) {
        if (shared[i]) {
            c->name[i] = c->header[i];
            c->unit[i] = "";
        }
        shared[i] = false;
    }
}

// Copy a name without characters that are not seen: they could hide or turn what a terminal
// shows of it. Line ends and tabs stay. Returns the bytes in `to`.
static size_t copy_seen(char *to, const char *from, size_t n)
{
    size_t used = 0;
    for (size_t at = 0, length; at < n; at += length) {
        uint32_t code = 0;
        length = rh_text__utf8(from + at, n - at, &code);
        bool hidden = length > 0 && rh_text__hidden(code) && !(code >= 9 && code <= 13);
        length = length ? length : 1;
        if (!hidden)
            memcpy(to + used, from + at, length);
        used += hidden ? 0 : length;
    }
    return used;
}

rh_status rh_columns__init(rh_columns *c, const char *path, int n, const char *const *header,
                           const size_t *length, rh_error *err)
{
    size_t size = 0, each = sizeof(rh_log__odd) + 3 * sizeof(char *) + sizeof(rh_log__role) + 3;
    *c = (rh_columns){.path = path, .n = n};
    for (int i = 0; i < n; i++)
        size += 3 * (length[i] + 1);
    c->text = rh_alloc(1, (size_t)n * each + size);
    if (!c->text)
        return rh_base__no_memory(err, c->path);

    // the arrays come first, widest type first
    c->odd = (rh_log__odd *)(void *)c->text;
    c->header = (const char **)(void *)(c->odd + n);
    c->name = c->header + n;
    c->unit = c->name + n;
    c->given = (rh_log__role *)(void *)(c->unit + n);
    c->numeric = (bool *)(c->given + n);
    c->wordy = c->numeric + n;
    c->counting = c->wordy + n;
    char *to = (char *)(c->counting + n);
    for (int i = 0; i < n; i++) {
        size_t name, nunit;
        const char *unit;
        rh_columns__cut(header[i], length[i], &name, &unit, &nunit);
        const char *part[3] = {header[i], header[i], unit};
        size_t letters[3] = {length[i], name, nunit};
        const char **place[3] = {&c->header[i], &c->name[i], &c->unit[i]};
        for (int k = 0; k < 3; k++) {
            *place[k] = to;
            to += copy_seen(to, part[k], letters[k]) + 1; // zeroed, so texts are terminated
        }
    }
    restore_names(c);
    return RH_OK;
}

void rh_columns__clear(rh_columns *c)
{
    rh_free(c->text);
    *c = (rh_columns){0};
}

// The plain form: a-z and 0-9, with _ for anything between.
static void plain_form(const char *name, char plain[RH_PLAIN])
{
    static const char next[] = "_next";
    size_t n = 0;
    bool gap = false, small = false; // small: the character before is lower-case
    for (; *name && n < RH_PLAIN - sizeof next - 1; name++) {
        unsigned char c = (unsigned char)*name;
        if (strcmp(name, "'") == 0 || strcmp(name, "\xe2\x80\xb2") == 0) { // a prime
            memcpy(plain + n, next, sizeof next);
            return;
        }
        if (n > 0 && !gap && (plain[n - 1] == 't' || plain[n - 1] == 'k') &&
            strncmp(name, "+1", 2) == 0)
            c = 'p';
        bool capital = c >= 'A' && c <= 'Z';
        gap = gap || (capital && small);
        small = c >= 'a' && c <= 'z';
        if (capital)
            c = (unsigned char)(c + 32);
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
        if (letter && gap && n > 0)
            plain[n++] = '_';
        if (letter)
            plain[n++] = (char)c;
        gap = !letter;
    }
    plain[n] = 0;
}

// ---------------------------------------------------------------------------- making a plan

void rh_columns__plan_note(rh_log__maker *m, const char *format, ...)
{
    if (m->plan->nnote == RH_COLUMNS__NOTES)
        return;
    va_list args;
    char note[RH_COLUMNS__NOTE];
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    rh_text__printable(note, m->plan->note[m->plan->nnote++], RH_COLUMNS__NOTE);
}

// The columns of a role that is a list, and their count.
static int **list_of(rh_columns__plan *plan, rh_log__role role, int **count)
{
    *count = role == RH_ROLE_OBS    ? &plan->nobs
             : role == RH_ROLE_NEXT ? &plan->nnext
                                    : &plan->nact;
    return role == RH_ROLE_OBS ? &plan->obs : role == RH_ROLE_NEXT ? &plan->next : &plan->act;
}

int *rh_columns__plan_single(rh_columns__plan *plan, rh_log__role role)
{
    switch (role) {
    case RH_ROLE_EPISODE:
        return &plan->episode;
    case RH_ROLE_TERMINAL:
        return &plan->terminal;
    case RH_ROLE_TRUNCATED:
        return &plan->truncated;
    case RH_ROLE_TIME:
        return &plan->time;
    case RH_ROLE_STEP:
        return &plan->step;
    case RH_ROLE_START:
        return &plan->start;
    case RH_ROLE_NONE:
    case RH_ROLE_OBS:
    case RH_ROLE_NEXT:
    case RH_ROLE_ACTION:
    case RH_ROLE_REWARD:
    case RH_NROLE:
        break;
    }
    return NULL;
}

// Give a column without a role one.
static void give(rh_log__maker *m, int column, rh_log__role role)
{
    int *single = rh_columns__plan_single(m->plan, role);
    m->owner[column] = role;
    if (single) {
        *single = column;
        return;
    }
    int *count, **list = list_of(m->plan, role, &count);
    (*list)[(*count)++] = column;
}

// ---------------------------------------------------------------------------- from options

rh_status rh_columns__plan_unknown(const rh_log__maker *m, rh_log__role role, const char *word)
{
    char what[380];
    snprintf(what, sizeof what, "%s: %s: no column", rh_base__path_tail(m->c->path),
             rh_columns__role_name(role));
    return rh_base__unknown(m->err, what, word, m->c->name, m->c->n);
}

// Fails if another column has the same name.
rh_status rh_columns__plan_check_twins(const rh_log__maker *m, int column, rh_log__role role)
{
    for (int i = 0; i < m->c->n; i++)
        if (i != column && strcmp(m->c->header[i], m->c->header[column]) == 0)
            return rh_fail(m->err, RH_EFORMAT,
                           "%s: %s: columns %d and %d are both called '%.40s', expected one",
                           rh_base__path_tail(m->c->path), rh_columns__role_name(role),
                           (i < column ? i : column) + 1, (i < column ? column : i) + 1,
                           m->c->header[column]);
    return RH_OK;
}

rh_status rh_columns__plan_claim(rh_log__maker *m, int column, rh_log__role role)
{
    rh_log__role owner = m->owner[column];
    if (owner == role)
        return RH_OK;
    if (owner != RH_ROLE_NONE)
        return rh_fail(m->err, RH_EINVAL, "%s: column '%.40s' is named for both %s and %s",
                       rh_base__path_tail(m->c->path), m->c->name[column],
                       rh_columns__role_name(owner), rh_columns__role_name(role));
    rh_status rc = rh_columns__plan_check_twins(m, column, role);
    if (!rc)
        give(m, column, role);
    return rc;
}

// Whether a word of a list selects the column: its header, its name, or a pattern of either.
static bool means(const rh_log__maker *m, const char *word, int column)
{
    if (!strchr(word, '*'))
        return strcmp(word, m->c->header[column]) == 0 || strcmp(word, m->c->name[column]) == 0;
    return rh_log__matches(word, m->c->header[column]) ||
           rh_log__matches(word, m->c->name[column]);
}

// Whether a pattern selects both the column and the one it is the s' of.
static bool means_both(const rh_log__maker *m, const char *word, int column)
{
    for (int i = 0; strchr(word, '*') && i < m->c->n; i++)
        if (i != column && rh_columns__plan_is_next(m->plain[column], m->plain[i]) &&
            means(m, word, i))
            return true;
    return false;
}

// The next word of a list, split off in place, trimmed and unquoted.
static char *next_word(char **at)
{
    char *p = *at + strspn(*at, " \t,"), *word = p, *end;
    if (!*p)
        return NULL;
    if (*p == '"' || *p == '\'') {
        word = p + 1;
        end = strchr(word, *p);
        if (end) {
            *at = end + 1 + strcspn(end + 1, ",");
            *end = 0;
            return word;
        }
        word = p;
    }
    end = word + strcspn(word, ",");
    *at = end + (*end == ',');
    *end = 0;
    while (end > word && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = 0;
    return word;
}

static rh_status named(rh_log__maker *m, rh_log__role role, const char *list)
{
    if (!list || !*list)
        return RH_OK;
    size_t size = strlen(list) + 1;
    char *copy = rh_alloc(size, 1);
    if (!copy)
        return rh_base__no_memory(m->err, m->c->path);
    memcpy(copy, list, size);
    rh_status rc = RH_OK;
    int before = 0;
    char *at = copy, *word;
    while (!rc && (word = next_word(&at))) {
        bool found = false;
        for (int i = 0; !rc && i < m->c->n; i++)
            if (means(m, word, i) && !(role == RH_ROLE_OBS && means_both(m, word, i))) {
                rc = rh_columns__plan_claim(m, i, role);
                found = true;
            }
        if (!rc && !found)
            rc = rh_columns__plan_unknown(m, role, word);
    }
    for (int i = 0; i < m->c->n; i++)
        before += m->owner[i] == role;
    if (!rc && rh_columns__plan_single(m->plan, role) && before > 1)
        rc = rh_fail(m->err, RH_EINVAL, "%s: %s = %.60s: %d columns, expected one",
                     rh_base__path_tail(m->c->path), rh_columns__role_name(role), list, before);
    rh_free(copy);
    return rc;
}

// ---------------------------------------------------------------------------- from the file

static rh_status follow_file(rh_log__maker *m, rh_columns__plan *plan)
{
    const char *const asked[RH_NROLE] = {
        [RH_ROLE_OBS] = m->opt->obs,
        [RH_ROLE_NEXT] = m->opt->next,
        [RH_ROLE_ACTION] = m->opt->action,
        [RH_ROLE_REWARD] = m->opt->reward,
        [RH_ROLE_EPISODE] = m->opt->episode,
        [RH_ROLE_TERMINAL] = m->opt->terminal,
        [RH_ROLE_TRUNCATED] = m->opt->truncated,
        [RH_ROLE_TIME] = m->opt->time,
    };
    rh_status rc = RH_OK;
    for (int i = 0; !rc && i < m->c->n; i++) {
        rh_log__role role = m->c->given[i];
        if (role == RH_ROLE_NONE || asked[role] || m->owner[i] != RH_ROLE_NONE)
            continue;
        int *single = rh_columns__plan_single(plan, role);
        if (role == RH_ROLE_REWARD && plan->nterm == 0)
            rc = rh_columns__plan_take_reward(m, i);
        else if (role != RH_ROLE_REWARD && (!single || *single < 0))
            give(m, i, role);
    }
    return rc;
}

// ---------------------------------------------------------------------------- all of it

static rh_status by_caller(rh_log__maker *m)
{
    const rh_log_options *opt = m->opt;
    rh_status rc = named(m, RH_ROLE_OBS, opt->obs);
    if (!rc)
        rc = named(m, RH_ROLE_NEXT, opt->next);
    if (!rc)
        rc = named(m, RH_ROLE_ACTION, opt->action);
    if (!rc)
        rc = named(m, RH_ROLE_EPISODE, opt->episode);
    if (!rc)
        rc = named(m, RH_ROLE_TERMINAL, opt->terminal);
    if (!rc)
        rc = named(m, RH_ROLE_TRUNCATED, opt->truncated);
    if (!rc)
        rc = named(m, RH_ROLE_TIME, opt->time);
    if (!rc && opt->reward && *opt->reward)
        rc = rh_columns__plan_compute_reward(m, opt->reward);
    return rc;
}

rh_status rh_columns__plan_make(rh_columns__plan *plan, const rh_columns *c,
                                const rh_log_options *opt, rh_error *err)
{
    size_t n = (size_t)c->n + 1;
    *plan = (rh_columns__plan){
        .episode = -1, .terminal = -1, .truncated = -1, .time = -1, .step = -1, .start = -1};
    plan->obs = rh_alloc(4 * n, sizeof *plan->obs);
    rh_log__maker m = {.plan = plan, .c = c, .opt = opt, .err = err};
    m.owner = rh_alloc(n, sizeof *m.owner);
    m.plain = rh_alloc(n, sizeof *m.plain);
    m.left = rh_alloc(n, sizeof *m.left);
    rh_status rc = RH_OK;
    if (!plan->obs || !m.owner || !m.plain || !m.left) {
        rc = rh_base__no_memory(err, c->path);
        goto done;
    }
    plan->next = plan->obs + n;
    plan->act = plan->next + n;
    plan->term = plan->act + n;
    for (int i = 0; i < c->n; i++)
        plain_form(c->name[i], m.plain[i]);

    rc = by_caller(&m);
    if (!rc && c->has_given)
        rc = follow_file(&m, plan);
    if (!rc)
        rc = rh_columns__plan_guess(&m);
    rh_log__one_line(rc, err);
    plan->done = !rc && plan->terminal >= 0 &&
                 rh_columns__plan_is_done(m.plain[plan->terminal]) &&
                 c->given[plan->terminal] == RH_ROLE_NONE;

done:
    rh_free(m.owner);
    rh_free(m.plain);
    rh_free(m.left);
    return rc;
}

void rh_columns__plan_clear(rh_columns__plan *plan)
{
    rh_free(plan->obs);
    rh_expression__clear(&plan->reward);
    rh_free(plan->reward_name);
    plan->obs = NULL;
    plan->reward_name = NULL;
}
