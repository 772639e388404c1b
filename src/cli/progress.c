// progress.c - progress of `run` and `sweep`, on standard error.
//
// 1. On a terminal one line is redrawn, ten times a second at most and never wider than the
//    window. Elsewhere a line is written every ten seconds, so that a short job writes none.
// 2. Progress counts points of learning curves, not runs; a run that ends early counts all.
// 3. A narrow window drops, in this order: the bar, the note, the runs, the time left.

#include "cli_internal.h"

#include <stdlib.h>
#include <string.h>

#define REDRAW 0.1  // seconds: decision 1
#define REPORT 10.0 // seconds: decision 1
#define BAR 30      // columns of the bar at most
#define LEAST_BAR 8

static void begin(cli_progress *p, const cli_job *job, int nsetting)
{
    *p = (cli_progress){
        .nunit = (int64_t)nsetting * job->world.nmember * job->opt.nrun,
        .nstep = job->opt.nstep,
        .npoint = job->opt.ncurve,
        .begun = cli_now(),
        .quiet = job->quiet,
        .terminal = cli_is_terminal(stderr),
    };
    p->drawn = p->begun;
}

// Keep the reason of the first run that failed, whichever thread was first.
static void note_failure(cli_progress *p, const rh_event *event)
{
    int64_t at = ((int64_t)event->setting << 40) + ((int64_t)event->member << 32) + event->run;
    if (!event->reason || (*p->failure && at > p->failed))
        return;
    snprintf(p->failure, sizeof p->failure, "%s", event->reason);
    p->failed = at;
}

bool cli_progress_count(cli_progress *p, const rh_event *event)
{
    int64_t told; // points that the run has reported
    switch (event->kind) {
    case RH_EVENT_POINT:
        p->points += 1.0;
        break;
    case RH_EVENT_RUN:
        if (event->result->outcome == RH_STOPPED)
            break;
        p->results++;
        note_failure(p, event);
        told = event->result->nstep * p->npoint / p->nstep;
        p->points += (double)(p->npoint - told);
        break;
    }
    if (p->quiet || cli_interrupted())
        return false;
    return cli_now() - p->drawn >= (p->terminal ? REDRAW : REPORT);
}

double cli_progress_share(const cli_progress *p)
{
    return p->points / ((double)p->nunit * p->npoint);
}

void cli_append_bar(char *line, size_t size, double share, int width)
{
    bool utf8 = cli_utf8();
    int full = (int)(share * width);
    size_t used = strlen(line);
    for (int i = 0; i < width && used + 4 < size; i++) {
        const char *cell = i < full ? (utf8 ? "\u2501" : "#") : (utf8 ? "\u2500" : "-");
        used += (size_t)snprintf(line + used, size - used, "%s", cell);
    }
    snprintf(line + used, size - used, "  ");
}

// The line, no wider than `columns`.
static void compose(const cli_progress *p, int columns, char *line, size_t size)
{
    double share = cli_progress_share(p);
    double elapsed = cli_now() - p->begun;
    char percent[16], results[96], eta[48] = "";
    snprintf(percent, sizeof percent, "%3d%%  ", (int)(100.0 * share));
    snprintf(results, sizeof results, "%s/%s runs  ", cli_count(p->results).s,
             cli_count(p->nunit).s);
    if (share > 0.0 && elapsed > 0.3)
        snprintf(eta, sizeof eta, "ETA %s", cli_seconds(elapsed / share * (1.0 - share)).s);

    // what fits, the most important first
    int left = columns - (int)strlen(percent);
    if (left < (int)strlen(eta))
        eta[0] = 0;
    left -= (int)strlen(eta);
    bool with_runs = left >= (int)strlen(results);
    left -= with_runs ? (int)strlen(results) : 0;
    int note = *p->note ? (int)strlen(p->note) + 2 : 0;
    bool with_note = note && left >= note;
    left -= with_note ? note : 0;
    int bar = left - 2 < BAR ? left - 2 : BAR;
    bar = p->terminal ? bar : 0; // no bar in a file

    snprintf(line, size, "%s", percent);
    if (bar >= LEAST_BAR)
        cli_append_bar(line, size, share, bar);
    size_t used = strlen(line);
    snprintf(line + used, size - used, "%s%s%s%s", with_runs ? results : "",
             with_note ? p->note : "", with_note ? "  " : "", eta);
}

// Erase what was drawn.
static void rewind_screen(const cli_progress *p, FILE *out)
{
    if (p->above)
        fprintf(out, "\033[%dA", p->above);
    fputs("\r\033[J", out);
}

void cli_progress_draw(cli_progress *p, const char *block)
{
    char line[512];
    p->drawn = cli_now();
    if (!p->terminal) {
        compose(p, 79, line, sizeof line);
        fprintf(stderr, "rehearse: %s\n", line + strspn(line, " "));
        return;
    }

    // one write, to avoid flicker
    char *screen = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&screen, &size);
    if (!out)
        return;
    compose(p, cli_columns(stderr) - 1, line, sizeof line);
    rewind_screen(p, out);
    p->above = 0;
    for (const char *c = block; c && *c; c++)
        p->above += *c == '\n';
    fprintf(out, "%s%s", block ? block : "", line);
    fclose(out);
    cli_line_is_drawn(true);
    fwrite(screen, 1, size, stderr);
    free(screen);
}

// Leave the terminal as it was.
static void end(const cli_progress *p)
{
    if (p->terminal && p->drawn > p->begun)
        rewind_screen(p, stderr);
    cli_line_is_drawn(false);
}

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

int cli_job_run(cli_job *job, cli_progress *p, int nsetting, const double *hp,
                rh_result *result, double *curve)
{
    rh_error err;
    job->opt.stop = stop;
    cli_catch_signals();
    begin(p, job, nsetting);
    rh_status rc = rh_eval_runs(job->world.env, job->world.nmember, job->agent, &job->task,
                                nsetting, hp, &job->opt, result, curve, &err);
    p->seconds = cli_now() - p->begun;
    end(p);
    return cli_pass(rc, &err);
}
