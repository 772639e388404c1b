// cells.c - cells by name, and their files.
//
// A cell's file is DIR/cells/<words>-<checksum>.cell, a state file (rh_state): it is written to
// a temporary name, synced and renamed, and has a checksum of its own. The words are for
// people; the checksum in the name is of everything that determines the cell, so a file is
// found only by a battery that would compute the same numbers.
//
// work.csv has one line per cell that was done: what it took. It changes no result and is not
// part of any.

#include "paper_internal.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION 1 // of the numbers that cells have: a change makes all files unknown

// ---------------------------------------------------------------------------- names

// Everything that determines a cell, without memory from the heap: a name cannot fail.
typedef struct words {
    char text[4096];
    size_t n;
} words;

static void add(words *w, const char *format, ...) RH_PRINTF(2, 3);
static void add(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->n, sizeof w->text - w->n, format, args);
    va_end(args);
    w->n = n < 0 || w->n + (size_t)n >= sizeof w->text ? sizeof w->text - 1 : w->n + (size_t)n;
}

static void add_settings(words *w, const char *what, const rh_setting *set)
{
    for (; set && set->name; set++)
        add(w, "%s %s=%s\n", what, set->name, set->value);
}

static void describe(const rh_paper *paper, const rh_paper__cell *cell, words *w)
{
    const rh_paper_options *opt = &paper->opt;
    const rh_paper__problem *p = cell->problem;
    add(w, "%d %s seed %llu log %d constants %d quick %d\n", VERSION, cell->what,
        (unsigned long long)opt->seed, cell->log, (int)opt->constants, opt->quick);
    if (p) {
        const char *grid = p->grid[opt->constants];
        add(w, "%s %s %s %s runs %d %d steps %lld\n", p->world->name, p->agent, p->name,
            grid ? grid : "", rh_paper__nrun(paper, p), rh_paper__ntrue(paper),
            (long long)rh_paper__nstep(paper, p->world));
        add_settings(w, "env", p->world->option[opt->constants]);
        add_settings(w, "axis", p->axis);
        add_settings(w, "shorter", opt->quick ? p->shorter : NULL);
    }
    if (cell->data)
        add(w, "%s %lld\n", cell->data->policy, (long long)cell->data->nstep);
    if (cell->method) {
        add(w, "%s plain %d\n", cell->method->name, cell->method->plain);
        add_settings(w, "key", cell->method->key);
        add_settings(w, "quick", opt->quick ? cell->method->quick : NULL);
    }
}

static void name_cell(const rh_paper *paper, rh_paper__cell *cell)
{
    words all = {.n = 0}, name = {.n = 0};
    describe(paper, cell, &all);
    add(&name, "%s", cell->what);
    if (cell->problem)
        add(&name, "-%s-%s", cell->problem->world->name, cell->problem->name);
    if (cell->data)
        add(&name, "-%s-%lld", cell->data->policy, (long long)cell->data->nstep);
    if (cell->method)
        add(&name, "-%s", cell->method->name);
    if (cell->data)
        add(&name, "-%03d", cell->log + 1);
    snprintf(cell->name, sizeof cell->name, "%.108s-%08x", name.text,
             (unsigned)rh_base__crc32(0, all.text, all.n));
}

// ---------------------------------------------------------------------------- the list

int rh_paper__find(const rh_paper *paper, const rh_paper__cell *like)
{
    rh_paper__cell named = *like;
    name_cell(paper, &named);
    for (int i = 0; i < paper->ncell; i++)
        if (strcmp(paper->cell[i].name, named.name) == 0)
            return i;
    return -1;
}

int rh_paper__add(rh_paper *paper, rh_paper__cell cell)
{
    name_cell(paper, &cell);
    int there = rh_paper__find(paper, &cell);
    if (there >= 0)
        return there;
    rh_paper__cell *more =
        rh_base__alloc_more(paper->cell, &paper->room, paper->ncell, sizeof *more);
    if (!more) {
        paper->bad = true;
        return -1;
    }
    paper->cell = more;
    cell.taken = cell.done = false;
    cell.result = NULL;
    paper->cell[paper->ncell] = cell;
    return paper->ncell++;
}

const double *rh_paper__array(const rh_paper *paper, int cell, const char *name, size_t *n)
{
    size_t none;
    if (cell < 0 || !paper->cell[cell].result)
        return NULL;
    return rh_state__doubles(paper->cell[cell].result, name, n ? n : &none);
}

// ---------------------------------------------------------------------------- files

bool rh_paper__path(const rh_paper *paper, int cell, const char *sub, const char *ending,
                    rh_text *path)
{
    rh_text__format(path, "%s/%s/%s.%s", paper->folder, sub, paper->cell[cell].name, ending);
    return !path->bad;
}

bool rh_paper__read(rh_paper *paper, int cell)
{
    rh_text path = {0};
    rh_state *state = NULL;
    rh_status rc = rh_paper__path(paper, cell, "cells", "cell", &path) ? RH_OK : RH_ENOMEM;
    if (!rc && access(path.data, F_OK) == 0)
        rc = rh_state_read(&state, path.data, NULL);
    paper->bad = paper->bad || rc == RH_ENOMEM;
    paper->cell[cell].result = state;
    paper->cell[cell].done = state != NULL;
    rh_text__clear(&path);
    return paper->cell[cell].done;
}

rh_status rh_paper__keep(const rh_paper *paper, int cell, const rh_state *result, rh_error *err)
{
    rh_text path = {0};
    rh_status rc = rh_paper__path(paper, cell, "cells", "cell", &path)
                       ? rh_state_write(result, path.data, err)
                       : rh_base__no_memory(err, "paper");
    rh_text__clear(&path);
    return rc;
}

// ---------------------------------------------------------------------------- what it took

static void count_line(rh_paper *paper, const char *line)
{
    double number[3];
    const char *at = strchr(line, ',');
    for (int i = 0; i < 3; i++) {
        if (!at)
            return;
        const char *end = at + 1 + strcspn(at + 1, ",\n");
        if (rh_number__parse(at + 1, end, &number[i]) != end)
            return;
        at = *end == ',' ? end : NULL;
    }
    paper->cost.wall += number[0];
    paper->cost.cpu += number[1];
    paper->cost.nstep += (int64_t)number[2];
    paper->cost.ncell++;
}

void rh_paper__read_work(rh_paper *paper)
{
    rh_text path = {0};
    char line[512];
    rh_text__format(&path, "%s/work.csv", paper->folder);
    FILE *in = path.bad ? NULL : fopen(path.data, "re");
    paper->bad = paper->bad || path.bad;
    paper->cost = (rh_paper_cost){0};
    while (in && fgets(line, sizeof line, in))
        count_line(paper, line);
    if (in)
        fclose(in);
    rh_text__clear(&path);
}

rh_status rh_paper__note_work(rh_paper *paper, int cell, double wall, double cpu, rh_error *err)
{
    rh_text path = {0}, line = {0};
    const double *step = rh_paper__array(paper, cell, "steps", NULL);
    double nstep = step ? *step : 0.0;
    rh_text__format(&path, "%s/work.csv", paper->folder);
    int fd = path.bad ? -1 : open(path.data, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0 && lseek(fd, 0, SEEK_END) == 0)
        rh_text__add(&line, "cell,seconds,cpu_seconds,learning_steps\n");
    rh_text__format(&line, "%s,%.3f,%.3f,%.0f\n", paper->cell[cell].name, wall, cpu, nstep);
    bool good = fd >= 0 && !line.bad && write(fd, line.data, line.n) == (ssize_t)line.n;
    rh_status rc = good ? RH_OK
                        : rh_fail(err, RH_EIO, "%s/work.csv: cannot write: %s",
                                  rh_base__path_tail(paper->folder), strerror(errno));
    if (fd >= 0)
        close(fd);
    paper->cost.wall += wall;
    paper->cost.cpu += cpu;
    paper->cost.nstep += (int64_t)nstep;
    paper->cost.ncell++;
    rh_text__clear(&path);
    rh_text__clear(&line);
    return rc;
}
