// work.c - the progress of work that reports through an rh_watch: fitting, learning.
//
// On a terminal one line is redrawn; elsewhere one per ten seconds. Time left: of this part.

#include "cli_internal.h"

#include <string.h>

#define REDRAW 0.1      // seconds, as in progress.c
#define REPORT 10.0     // seconds, as in progress.c
#define SHOW_AFTER 0.5  // seconds before anything is drawn on a terminal; by hand
#define GUESS_AFTER 1.0 // seconds before the time left is told; by hand

// No wider than the terminal: a line that wraps would leave a copy at every redraw.
static void draw(cli_work *work, double share, double now)
{
    char left[64] = "";
    double elapsed = now - work->begun, done = share - work->from;
    if (done > 0.01 && elapsed > GUESS_AFTER)
        snprintf(left, sizeof left, "  ETA %s", cli_seconds(elapsed / done * (1.0 - share)).s);
    work->drawn = now;
    work->visible = work->terminal;
    cli_line_is_drawn(work->visible);
    int percent = (int)(100.0 * share);
    if (!work->terminal) {
        fprintf(stderr, "rehearse: %d%%  %s%s\n", percent, work->what, left);
        return;
    }
    int room = cli_columns(stderr) - 1 - (int)strlen("100%  ");
    int words = room - (int)strlen(left);
    fprintf(stderr, "\r%3d%%  %.*s%.*s\033[K", percent, words > 0 ? words : 0, work->what,
            room > 0 ? room : 0, left);
}

static void progress(void *context, const char *what, double share)
{
    cli_work *work = context;
    double now = cli_now();
    if (strcmp(what, work->what) != 0) {
        snprintf(work->what, sizeof work->what, "%s", what);
        work->begun = now;
        work->from = share;
    }
    bool due = now - work->drawn > (work->terminal ? REDRAW : REPORT);
    if (due && !work->quiet && !cli_interrupted())
        draw(work, share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share, now);
}

static bool stop(void *context)
{
    (void)context;
    return cli_interrupted() != 0;
}

rh_watch cli_work_show(cli_work *work, bool quiet)
{
    *work = (cli_work){.quiet = quiet, .terminal = cli_is_terminal(stderr)};
    work->begun = cli_now();
    work->drawn = work->begun + (work->terminal ? SHOW_AFTER - REDRAW : 0.0);
    return (rh_watch){.progress = progress, .context = work};
}

rh_watch cli_work_begin(cli_work *work, bool quiet)
{
    rh_watch watch = cli_work_show(work, quiet);
    watch.stop = stop;
    cli_catch_signals();
    return watch;
}

void cli_work_end(cli_work *work)
{
    if (work->visible)
        fputs("\r\033[K", stderr);
    work->visible = false;
    cli_line_is_drawn(false);
}
