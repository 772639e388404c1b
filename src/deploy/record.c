// record.c - log.csv, which `inspect` and `tune` read as it is, and events.jsonl.
//
//     episode,step,start,time,temp [degC],level,pump,reward,terminal,truncated,"# rehearse ..."
//     0,0,1,17.5,20.5,1.25,on,-0.1,0,0,
//
// Where the plant says what its own controller would do, a column "controller pump" has this.
// The form is that of log/csv_write.c, but its "# rehearse" lines are the name of a last
// column, which is empty: every program that reads CSV reads the log. A log of an earlier
// version, which has these lines, is continued as it is.
//
// 1. A row is written when its outcome is known, with the next observation: the action really
//    taken and its reward. One write() per row: kill -9 loses no row, a power cut those that
//    the system had not written yet.
// 2. After a gap the row has no action and no reward, so that nobody learns from it.
//    Sensors are those that the plant sends: who reads the log derives and stacks them again.
// 3. What a killed process left of its last line is cut off. The next row begins an episode
//    that is marked as resumed.
// 4. Rows and events are written after the reply, when the caller ticks: the plant does not
//    wait for the file system.
// 5. A row that cannot be written (full disk) is cut off again, and the next one resumes.

#include "base/base_internal.h"
#include "base/number.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME 1024 // bytes of a name or label
#define PATH 4096

// ---------------------------------------------------------------------------- opening

static rh_status fail(const char *path, int why, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                   strerror(why));
}

static rh_status open_file(const char *folder, const char *name, mode_t rights, char path[PATH],
                           int *fd, rh_error *err)
{
    snprintf(path, PATH, "%s/%s", folder, name);
    *fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, rights);
    return *fd < 0 ? fail(path, errno, err) : RH_OK;
}

// The last `most` bytes of a file of `size` bytes. Returns how many.
static size_t read_tail(int fd, int64_t size, char *bytes, size_t most)
{
    int64_t from = size > (int64_t)most ? size - (int64_t)most : 0;
    ssize_t n = pread(fd, bytes, most, from);
    return n > 0 ? (size_t)n : 0;
}

// Cut off a torn last line; the size that is left, or -1. The buffer holds the tail after it.
static int64_t cut_torn(int fd, char *bytes, size_t room, size_t *n)
{
    struct stat there;
    if (fstat(fd, &there) != 0)
        return -1;
    int64_t size = there.st_size;
    *n = read_tail(fd, size, bytes, room);
    while (*n > 0 && bytes[*n - 1] != '\n') {
        --*n;
        size--;
    }
    return size == there.st_size || ftruncate(fd, size) == 0 ? size : -1;
}

// What an earlier process wrote: whether there are times, and the last episode.
static void read_back(rh_record *r, size_t n)
{
    char *head = r->rows;
    ssize_t got = pread(r->log, head, RH_DEPLOY__TEXT - 1, 0);
    head[got > 0 ? got : 0] = 0;
    head[strcspn(head, "\n")] = 0;
    r->headed = r->size > 0;
    r->timed = strstr(head, "# rehearse columns: episode step start time ") != NULL;
    r->controlled = strstr(head, " truncated none none") != NULL;
    r->tailed = *head != '#';
    size_t at = n > 0 ? n - 1 : 0; // the last line, without its end
    while (at > 0 && r->line[at - 1] != '\n')
        at--;
    char *end = NULL;
    long long episode = n > 0 ? strtoll(r->line + at, &end, 10) : 0;
    r->episode = n > 0 && end != r->line + at && *end == ',' && episode >= 0 ? episode : -1;
}

rh_status rh_record__open(rh_record *r, const char *folder, mode_t rights, rh_error *err)
{
    char path[PATH];
    size_t n = 0;
    r->line = rh_alloc(3, RH_DEPLOY__TEXT);
    if (!r->line)
        return rh_base__no_memory(err, "deploy");
    r->rows = r->line + RH_DEPLOY__TEXT;
    r->noted = r->rows + RH_DEPLOY__TEXT;
    rh_status rc = open_file(folder, "events.jsonl", rights, path, &r->events, err);
    if (!rc) {
        r->size_events = cut_torn(r->events, r->line, RH_DEPLOY__TEXT - 1, &n);
        rc = r->size_events < 0 ? fail(path, errno, err) : RH_OK;
    }
    if (!rc)
        rc = open_file(folder, "log.csv", rights, path, &r->log, err);
    if (rc)
        return rc;
    r->size = cut_torn(r->log, r->line, RH_DEPLOY__TEXT - 1, &n);
    if (r->size < 0)
        return fail(path, errno, err);
    r->line[n] = 0;
    read_back(r, n);
    return RH_OK;
}

void rh_record__close(rh_record *r)
{
    if (r->log >= 0)
        close(r->log);
    if (r->events >= 0)
        close(r->events);
    rh_free(r->line);
    r->log = r->events = -1;
    r->line = r->rows = r->noted = NULL;
}

// ---------------------------------------------------------------------------- rows

void rh_record__begin(rh_record *r, bool starts)
{
    r->episode++;
    r->step = 0;
    r->starts = starts;
}

static void add_number(rh_line *line, double x)
{
    if (isfinite(x)) // a missing number is empty
        rh_line__number(line, x);
}

// A word of the notes, which are in quotes themselves: \"...\" with quotes doubled. Characters
// that a terminal would obey and not show are "?" here and in fields, as in names of a log.
static void add_word(rh_line *line, const char *label)
{
    char text[NAME];
    rh_text__printable(label, text, sizeof text);
    rh_line__add(line, "\"\"");
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            rh_line__add(line, *c == '"' ? "\\\"\"" : "\\\\");
        else
            rh_line__add(line, (char[]){*c, 0});
    rh_line__add(line, "\"\"");
}

static void add_quoted(rh_line *line, const char *text)
{
    rh_line__add(line, "\"");
    for (const char *c = text; *c; c++)
        rh_line__add(line, *c == '"' ? "\"\"" : (char[]){*c, 0});
    rh_line__add(line, "\"");
}

static void add_field(rh_line *line, const char *name)
{
    char text[NAME];
    double x;
    rh_text__printable(name, text, sizeof text);
    size_t n = strlen(text);
    if (n > 0 && !strpbrk(text, ",\"") && !strchr(" \t", text[0]) &&
        !strchr(" \t", text[n - 1]) && text[0] != '#' &&
        rh_number__read(text, n, &x) != RH_NUMBER_MISSING)
        rh_line__add(line, text);
    else
        add_quoted(line, text);
}

// What the header does not say, as the name of the last column.
static void add_notes(rh_line *line, const rh_record *r, const rh_best *best)
{
    const rh_task *task = &best->task;
    rh_line__add(line, ",\"# rehearse columns: episode step start");
    rh_line__add(line, r->timed ? " time" : "");
    for (int i = 0; i < best->nsent; i++)
        rh_line__add(line, " obs");
    for (int k = 0; k < task->nact; k++)
        rh_line__add(line, " action");
    rh_line__add(line, " reward terminal truncated");
    for (int k = 0; r->controlled && k < task->nact; k++)
        rh_line__add(line, " none");
    rh_line__add(line, " none # rehearse actions:");
    for (int i = 0; i < task->naction; i++) {
        rh_line__add(line, i ? ", " : " ");
        add_word(line, best->label[i]);
    }
    rh_line__add(line, task->naction ? "\"" : " continuous\"");
}

static void add_header(rh_line *line, const rh_record *r, const rh_best *best)
{
    const rh_task *task = &best->task;
    rh_line__add(line, r->timed ? "episode,step,start,time" : "episode,step,start");
    for (int i = 0; i < best->nsent; i++) {
        char name[NAME];
        snprintf(name, sizeof name, *best->obs_unit[i] ? "%s [%s]" : "%s%s", task->obs_name[i],
                 best->obs_unit[i]);
        rh_line__add(line, ",");
        add_field(line, name);
    }
    for (int k = 0; k < task->nact; k++) {
        rh_line__add(line, ",");
        add_field(line, best->act_name[k]);
    }
    rh_line__add(line, ",");
    add_field(line, best->reward_name);
    rh_line__add(line, ",terminal,truncated");
    for (int k = 0; r->controlled && k < task->nact; k++) {
        char name[NAME];
        snprintf(name, sizeof name, "controller %s", best->act_name[k]);
        rh_line__add(line, ",");
        add_field(line, name);
    }
    add_notes(line, r, best);
    rh_line__add(line, "\n");
}

// Append the line. False: it does not fit or cannot be written, and nothing is left of it.
static bool append(int fd, const rh_line *line, int64_t *size)
{
    if (line->full)
        return false;
    size_t done = 0;
    while (done < line->n) {
        ssize_t n = write(fd, line->at + done, line->n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int fault = ftruncate(fd, *size); // if that fails, it is cut off when opened again
            (void)fault;
            return false;
        }
        done += (size_t)n;
    }
    *size += (int64_t)line->n;
    return true;
}

bool rh_record__flush(rh_record *r)
{
    rh_line rows = {.at = r->rows, .n = r->used, .size = RH_DEPLOY__TEXT};
    if (r->used == 0)
        return true;
    r->used = 0;
    bool done = append(r->log, &rows, &r->size);
    r->headed = r->headed && r->size > 0; // the header was lost too
    return done;
}

bool rh_record__flush_events(rh_record *r)
{
    rh_line events = {.at = r->noted, .n = r->nnoted, .size = RH_DEPLOY__TEXT};
    r->nnoted = 0;
    return events.n == 0 || append(r->events, &events, &r->size_events);
}

// Nothing where it is unknown.
static void add_action(rh_line *line, const rh_best *best, const double *act)
{
    for (int k = 0; k < best->task.nact; k++) {
        rh_line__add(line, ",");
        if (act && best->task.naction)
            add_field(line, best->label[(int)act[0]]);
        else if (act)
            add_number(line, act[k]);
    }
}

bool rh_record__row(rh_record *r, const rh_best *best, const rh_record__step *s)
{
    if (r->log < 0)
        return true;
    rh_line line = {.at = r->line, .size = RH_DEPLOY__TEXT};
    if (!r->headed) {
        r->timed = !isnan(s->time);
        r->controlled = s->controller != NULL;
        r->tailed = true;
        add_header(&line, r, best);
    }
    rh_line__whole(&line, r->episode);
    rh_line__add(&line, ",");
    rh_line__whole(&line, r->step++);
    rh_line__add(&line, r->starts ? ",1" : ",0");
    if (r->timed) {
        rh_line__add(&line, ",");
        add_number(&line, s->time);
    }
    for (int i = 0; i < best->nsent; i++) {
        rh_line__add(&line, ",");
        add_number(&line, s->obs[i]);
    }
    add_action(&line, best, s->act);
    rh_line__add(&line, ",");
    add_number(&line, s->reward);
    rh_line__add(&line, !s->act ? ",," : s->terminal ? ",1,0" : s->truncated ? ",0,1" : ",0,0");
    if (r->controlled)
        add_action(&line, best, s->controller);
    rh_line__add(&line, r->tailed ? ",\n" : "\n");
    if (line.full || (r->used + line.n > RH_DEPLOY__TEXT && !rh_record__flush(r)))
        return false;
    memcpy(r->rows + r->used, line.at, line.n);
    r->used += line.n;
    r->headed = true;
    return true;
}

// Room for a line among the events. False: it is lost.
static bool add_event(rh_record *r, const rh_line *line)
{
    if (line->full || (r->nnoted + line->n > RH_DEPLOY__TEXT && !rh_record__flush_events(r)))
        return false;
    memcpy(r->noted + r->nnoted, line->at, line->n);
    r->nnoted += line->n;
    return true;
}

bool rh_record__switch(rh_record *r, int64_t step, int arm, const char *agent, const char *what)
{
    if (r->events < 0)
        return true;
    rh_line line = {.at = r->line, .size = RH_DEPLOY__TEXT};
    rh_line__add(&line, "{\"step\":");
    rh_line__whole(&line, step);
    rh_line__add(&line, ",\"setting\":");
    rh_line__whole(&line, arm);
    rh_line__add(&line, ",\"agent\":");
    rh_line__string(&line, agent);
    if (what) {
        rh_line__add(&line, ",\"");
        rh_line__add(&line, what);
        rh_line__add(&line, "\":true");
    }
    rh_line__add(&line, "}\n");
    return add_event(r, &line);
}

bool rh_record__event(rh_record *r, const rh_best *best, const rh_deploy_health *health,
                      const rh_deploy_seen *seen, const rh_deploy_reply *reply)
{
    if (r->events < 0)
        return true;
    rh_line line = {.at = r->line, .size = RH_DEPLOY__TEXT};
    rh_line__add(&line, "{\"step\":");
    rh_line__whole(&line, health->nstep);
    if (seen->seq >= 0) {
        rh_line__add(&line, ",\"seq\":");
        rh_line__whole(&line, seen->seq);
    }
    if (!isnan(seen->time)) {
        rh_line__add(&line, ",\"time\":");
        rh_line__number(&line, seen->time);
    }
    rh_line__bits(&line, "notes", reply->notes, rh_deploy__note_name);
    rh_line__bits(&line, "alarms", reply->alarms, rh_deploy__alarm_name);
    for (int i = 0; i < best->nsent; i++)
        if (!isfinite(seen->obs[i])) {
            rh_line__add(&line, ",\"sensor\":");
            rh_line__string(&line, best->task.obs_name[i]);
            break;
        }
    if ((reply->notes & RH_NOTE_OVERRIDE) && seen->act) {
        rh_line__add(&line, ",\"taken\":");
        rh_line__action(&line, best, seen->act);
    }
    rh_line__add(&line, "}\n");
    return add_event(r, &line);
}
