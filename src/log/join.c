// join.c - several logs of one plant as one log.
//
// 1. Episodes stay apart: those of a log follow those of the log before.
// 2. Columns are matched by name, so that files may have them in different orders. A column
//    that one of the logs lacks is an error: a model cannot guess it.
// 3. A log may lack actions that another has. The joined log has all of them, in the order in
//    which a single file would have them, unless all logs agree. Where one log has continuous
//    actions and another only a few whole numbers, taken for names, the numbers count.
// 4. Lines belong to files, so the joined log has none. A note says which episodes are whose.

#include "base/base_internal.h"
#include "base/number.h"
#include "log.h"
#include "log_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct joining {
    const rh_log *const *log; // borrowed                         (nlog)
    int nlog;
    bool discrete;
    const char *label[RH_MAX_ACTIONS]; // borrowed: of all logs   (nlabel)
    int nlabel;
    int sensor[RH_MAX_OBS];           // of the current log, by the first's order
    int number[RH_MAX_ACT];           // the same for numbers of an action
    double action_of[RH_MAX_ACTIONS]; // joined action, or its value, of the log's
    rh_text path, *note;              // owned                  (nnote of notes)
    const char **notes;               // owned
    int nnote;
    double *obs, *act, *reward, *time; // owned: the arrays of all
    int32_t *from, *to;
    uint8_t *flag, *start;
    int64_t *first;
    rh_log all;
} joining;

static const char *name_of(const joining *j, int k)
{
    return rh_base__path_tail(*j->log[k]->path ? j->log[k]->path : "log");
}

// The place of a name, or -1.
static int find(const char *name, const char *const *among, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, among[i]) == 0)
            return i;
    return -1;
}

// ---------------------------------------------------------------------------- columns

// "temp, level": those of a that b lacks.
static void list_others(rh_text *text, const char *before, const char *const *a, int na,
                        const char *const *b, int nb)
{
    bool any = false;
    for (int i = 0; i < na; i++) {
        if (find(a[i], b, nb) >= 0)
            continue;
        rh_text__format(text, "%s%.60s", any ? ", " : before, a[i]);
        any = true;
    }
}

// Match the columns `what` of log k with those of the first log.
static rh_status match(const joining *j, int k, const char *what, const char *const *name,
                       int n, const char *const *own, int nown, int *place, rh_error *err)
{
    rh_text text = {0};
    bool same = n == nown;
    for (int i = 0; i < n; i++) {
        place[i] = find(name[i], own, nown);
        same = same && place[i] >= 0;
    }
    if (same)
        return RH_OK;
    list_others(&text, " lacks ", name, n, own, nown);
    list_others(&text, text.n ? " and has also " : " has also ", own, nown, name, n);
    rh_status rc = rh_fail(err, RH_EINVAL, "%s:%.250s; expected the %s of %s", name_of(j, k),
                           text.data ? text.data : "", what, name_of(j, 0));
    rh_text__clear(&text);
    return rc;
}

static rh_status match_columns(joining *j, int k, rh_error *err)
{
    const rh_log *a = j->log[0], *b = j->log[k];
    rh_status rc =
        match(j, k, "sensors", a->obs_name, a->nobs, b->obs_name, b->nobs, j->sensor, err);
    if (!rc)
        rc = match(j, k, "actions", a->act_name, a->nact, b->act_name, b->nact, j->number, err);
    for (int i = 0; i < a->nobs && !rc; i++) {
        const char *is = a->obs_unit[i], *unit = b->obs_unit[j->sensor[i]];
        if (*is && *unit && strcmp(is, unit) != 0)
            rc = rh_fail(err, RH_EINVAL, "%s: unit of %.60s is %.30s, expected %.30s as in %s",
                         name_of(j, k), a->obs_name[i], unit, is, name_of(j, 0));
    }
    return rc;
}

// ---------------------------------------------------------------------------- actions

// The actions of all logs, and whether they are discrete.
static rh_status collect_labels(joining *j, rh_error *err)
{
    bool same = true;
    j->discrete = true;
    for (int k = 0; k < j->nlog; k++) {
        const rh_log *log = j->log[k];
        j->discrete = j->discrete && log->naction > 0;
        same = same && log->naction == j->log[0]->naction;
        for (int i = 0; i < log->naction; i++) {
            same = same && i < j->log[0]->naction &&
                   strcmp(log->label[i], j->log[0]->label[i]) == 0;
            if (find(log->label[i], j->label, j->nlabel) >= 0)
                continue;
            if (j->nlabel == RH_MAX_ACTIONS)
                return rh_fail(err, RH_EINVAL, "%s: more than %d actions in all logs",
                               name_of(j, k), RH_MAX_ACTIONS);
            j->label[j->nlabel++] = log->label[i];
        }
    }
    if (!same)
        rh_log__sort_labels(j->label, j->nlabel);
    return RH_OK;
}

// What the actions of log k are in the joined log.
static rh_status translate(joining *j, int k, rh_error *err)
{
    const rh_log *log = j->log[k];
    for (int i = 0; i < log->naction; i++) {
        const char *label = log->label[i];
        if (j->discrete)
            j->action_of[i] = find(label, j->label, j->nlabel);
        else if (rh_number__read(label, strlen(label), &j->action_of[i]) != RH_NUMBER)
            return rh_fail(err, RH_EINVAL,
                           "%s: action '%.60s', expected numbers: another log has continuous "
                           "actions",
                           name_of(j, k), label);
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- rows

static bool make_room(joining *j)
{
    rh_log *all = &j->all;
    bool timed = true;
    for (int k = 0; k < j->nlog; k++) {
        all->n += j->log[k]->n;
        all->nstate += j->log[k]->nstate;
        all->nepisode += j->log[k]->nepisode;
        timed = timed && j->log[k]->time;
    }
    size_t n = (size_t)all->n, nstate = (size_t)all->nstate;
    all->obs = j->obs = rh_alloc(nstate, (size_t)all->nobs * sizeof *j->obs);
    all->from = j->from = rh_alloc(n, sizeof *j->from);
    all->to = j->to = rh_alloc(n, sizeof *j->to);
    all->act = j->act = rh_alloc(n, (size_t)all->nact * sizeof *j->act);
    all->reward = j->reward = rh_alloc(n, sizeof *j->reward);
    all->flag = j->flag = rh_alloc(n, sizeof *j->flag);
    all->time = j->time = timed ? rh_alloc(n, sizeof *j->time) : NULL;
    all->first = j->first = rh_alloc((size_t)all->nepisode + 1, sizeof *j->first);
    all->start = j->start = rh_alloc((size_t)all->nepisode, sizeof *j->start);
    return j->obs && j->from && j->to && j->act && j->reward && j->flag &&
           (j->time || !timed) && j->first && j->start;
}

// Append the rows of log k at these places.
static void append(joining *j, int k, int64_t t0, int64_t s0, int e0)
{
    const rh_log *log = j->log[k];
    int nobs = j->all.nobs, nact = j->all.nact;
    for (int64_t s = 0; s < log->nstate; s++)
        for (int i = 0; i < nobs; i++)
            j->obs[(s0 + s) * nobs + i] = log->obs[s * nobs + j->sensor[i]];
    for (int64_t t = 0; t < log->n; t++) {
        bool known = log->to[t] != RH_UNKNOWN;
        j->from[t0 + t] = (int32_t)s0 + log->from[t];
        j->to[t0 + t] = known ? (int32_t)s0 + log->to[t] : RH_UNKNOWN;
        for (int i = 0; i < nact; i++) {
            double a = log->act[t * nact + j->number[i]];
            j->act[(t0 + t) * nact + i] = log->naction ? j->action_of[(int)a] : a;
        }
    }
    memcpy(j->reward + t0, log->reward, (size_t)log->n * sizeof *j->reward);
    memcpy(j->flag + t0, log->flag, (size_t)log->n);
    if (j->time)
        memcpy(j->time + t0, log->time, (size_t)log->n * sizeof *j->time);
    for (int e = 0; e <= log->nepisode; e++)
        j->first[e0 + e] = t0 + log->first[e];
    memcpy(j->start + e0, log->start, (size_t)log->nepisode);
}

// ---------------------------------------------------------------------------- the reading

static void add_counts(rh_log_reading *to, const rh_log_reading *from)
{
    to->nrow += from->nrow;
    to->nlost += from->nlost;
    to->nincomplete += from->nincomplete;
    to->nshort += from->nshort;
    to->nmissing += from->nmissing;
    to->nfilled += from->nfilled;
    to->nsentinel += from->nsentinel;
    to->ngap += from->ngap;
    to->nreverse += from->nreverse;
    to->sentinels = to->sentinels ? to->sentinels : from->sentinels;
    to->sentinels_kept = to->sentinels_kept || from->sentinels_kept;
    to->nmismatch += from->nmismatch;
}

// What was said about the reading of the first log, and of others where it differs; which
// episodes are whose.
static bool add_notes(joining *j)
{
    const rh_log_reading *own = &j->log[0]->reading;
    int most = j->nlog, e0 = 0;
    for (int k = 0; k < j->nlog; k++)
        most += j->log[k]->reading.nnote;
    j->note = rh_alloc((size_t)most, sizeof *j->note);
    j->notes = rh_alloc((size_t)most, sizeof *j->notes);
    if (!j->note || !j->notes)
        return false;
    for (int i = 0; i < own->nnote; i++)
        rh_text__add(&j->note[j->nnote++], own->note[i]);
    for (int k = 1; k < j->nlog; k++)
        for (int i = 0; i < j->log[k]->reading.nnote; i++) {
            const char *said = j->log[k]->reading.note[i];
            if (find(said, own->note, own->nnote) < 0)
                rh_text__format(&j->note[j->nnote++], "%.200s: %s", name_of(j, k), said);
        }
    for (int k = 0; k < j->nlog; k++) {
        int last = e0 + j->log[k]->nepisode - 1;
        rh_text__format(&j->note[j->nnote++], "%.200s: episodes %d to %d", name_of(j, k), e0,
                        last);
        e0 = last + 1;
    }
    for (int i = 0; i < j->nnote; i++) {
        if (j->note[i].bad)
            return false;
        j->notes[i] = j->note[i].data;
    }
    return true;
}

static void clear(joining *j)
{
    rh_free(j->obs);
    rh_free(j->from);
    rh_free(j->to);
    rh_free(j->act);
    rh_free(j->reward);
    rh_free(j->flag);
    rh_free(j->time);
    rh_free(j->first);
    rh_free(j->start);
    for (int i = 0; i < j->nnote; i++)
        rh_text__clear(&j->note[i]);
    rh_free(j->note);
    rh_free((void *)j->notes);
    rh_text__clear(&j->path);
}

static rh_status join(rh_log **out, joining *j, rh_error *err)
{
    const rh_log *first = j->log[0];
    rh_log *all = &j->all;
    int64_t t0 = 0, s0 = 0;
    int e0 = 0;
    rh_status rc = collect_labels(j, err);
    if (rc)
        return rc;
    *all = (rh_log){.nobs = first->nobs,
                    .nact = first->nact,
                    .naction = j->discrete ? j->nlabel : 0,
                    .obs_name = first->obs_name,
                    .obs_unit = first->obs_unit,
                    .act_name = first->act_name,
                    .label = j->discrete ? j->label : NULL,
                    .reward_name = first->reward_name,
                    .reward_formula = first->reward_formula,
                    .terminal_reward = first->terminal_reward,
                    .derive = first->derive,
                    .stack = first->stack,
                    .exogenous = first->exogenous,
                    .setpoint = first->setpoint,
                    .setpoint_values = first->setpoint_values};
    all->reading = (rh_log_reading){
        .format = first->reading.format, .lost_at = -1, .incomplete_at = -1, .reverse_at = -1};
    for (int k = 0; k < j->nlog; k++) {
        t0 += j->log[k]->n;
        s0 += j->log[k]->nstate;
    }
    if (t0 > INT32_MAX - 1 || s0 > INT32_MAX - 1)
        return rh_fail(err, RH_EINVAL, "log: %lld transitions in all logs, expected at most %d",
                       (long long)t0, INT32_MAX - 1);
    t0 = s0 = 0;
    bool good = make_room(j);
    for (int k = 0; k < j->nlog && good; k++) {
        rc = match_columns(j, k, err);
        if (!rc)
            rc = translate(j, k, err);
        if (rc)
            return rc;
        append(j, k, t0, s0, e0);
        add_counts(&all->reading, &j->log[k]->reading);
        rh_text__format(&j->path, "%s%s", k ? ", " : "", j->log[k]->path);
        t0 += j->log[k]->n;
        s0 += j->log[k]->nstate;
        e0 += j->log[k]->nepisode;
    }
    if (!good || !add_notes(j) || j->path.bad)
        return rh_base__no_memory(err, "log");
    all->path = j->path.data;
    all->reading.note = j->notes;
    all->reading.nnote = j->nnote;
    return rh_log_copy(out, all, err);
}

rh_status rh_log_join(rh_log **out, const rh_log *const *log, int n, rh_error *err)
{
    if (n < 1)
        return rh_fail(err, RH_EINVAL, "log: %d logs to join, expected 1 or more", n);
    joining j = {.log = log, .nlog = n};
    rh_status rc = join(out, &j, err);
    clear(&j);
    return rh_log__one_line(rc, err);
}

// ---------------------------------------------------------------------------- files

// Whether a file says itself what its columns are, as the log of a deployment does: what was
// said about the columns of another file is then not about it. It says so in its first line, or
// in one of the comments that it begins with.
static bool says_itself(const char *path)
{
    static char const mark[] = "# rehearse columns:";
    struct stat there;
    bool plain = stat(path, &there) == 0 && S_ISREG(there.st_mode);
    FILE *file = plain ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    int c = getc(file);
    size_t n = 0; // bytes of the mark that were found; its first one is nowhere else in it
    for (bool comment = c == '#'; c != EOF && mark[n]; c = getc(file)) {
        if (c == '\n' && (!comment || (c = getc(file)) != '#'))
            break;
        n = c == mark[n] ? n + 1 : c == *mark;
    }
    fclose(file);
    return !mark[n];
}

static rh_log_options without_roles(const rh_log_options *opt)
{
    rh_log_options own = *opt;
    own.obs = own.action = own.reward = own.episode = own.terminal = NULL;
    own.truncated = own.time = own.next = NULL;
    own.format = own.pivot = NULL;
    own.reward_of = rh_log_defaults().reward_of;
    own.skip = RH_SKIP_AUTO;
    own.episode_steps = INT64_MAX;
    return own;
}

rh_status rh_log__read_all(rh_log **out, const char *paths, const rh_log_options *opt,
                           rh_error *err)
{
    int most = 1, n = 0;
    for (const char *at = paths; *at; at++)
        most += *at == '\n';
    rh_log **log = rh_alloc((size_t)most, sizeof *log);
    char *copy = rh_base__copy(paths);
    rh_status rc = log && copy ? RH_OK : rh_base__no_memory(err, "log");
    for (char *at = copy; !rc && at; n++) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = 0;
        rh_log_options own = without_roles(opt);
        rc = rh_log_read(&log[n], at, says_itself(at) ? &own : opt, err);
        at = end;
    }
    if (!rc)
        rc = rh_log_join(out, (const rh_log *const *)log, n, err);
    for (int i = 0; log && i < most; i++)
        rh_log_destroy(log[i]);
    rh_free((void *)log);
    rh_free(copy);
    return rc;
}
