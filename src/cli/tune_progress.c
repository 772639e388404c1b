// tune_progress.c - progress of a study, on standard error.
//
// 1. On a terminal two lines are redrawn: the progress and the best setting so far. Elsewhere a
//    line is written when a stage begins and every ten seconds.
// 2. The time left is estimated from this session's runs; runs from the journal take no time.
// 3. While a model is fitted, the line is that of `fit`.

#include "base/text.h"
#include "cli_internal.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REDRAW 0.1      // seconds, as in progress.c
#define REPORT 10.0     // seconds: decision 1
#define GUESS_AFTER 0.5 // seconds of runs before the time left is told; by hand
#define BAR 24

void cli_studying_begin(cli_studying *s, const rh_plan *plan, const char *folder, bool quiet)
{
    *s = (cli_studying){.plan = plan, .folder = folder, .stage = RH_NSTAGE, .quiet = quiet};
    s->watch = cli_work_begin(&s->work, quiet);
    s->terminal = s->work.terminal;
    s->drawn = cli_now();
}

// ---------------------------------------------------------------------------- the line

static double share_of(const rh_study_progress *n)
{
    return n->nrun_max > 0 ? (double)n->nrun / (double)n->nrun_max : 0.0;
}

static void time_left(const cli_studying *s, char text[64])
{
    const rh_study_progress *n = &s->progress;
    double elapsed = cli_now() - s->begun;
    int64_t run = n->nrun - n->nrun_resumed;
    text[0] = 0;
    if (run > 0 && elapsed > GUESS_AFTER && n->nrun_max > n->nrun)
        snprintf(text, 64, "  ETA %s",
                 cli_seconds(elapsed / (double)run * (double)(n->nrun_max - n->nrun)).s);
}

// "340/1,000 runs  34 settings"
static void counts(const cli_studying *s, char text[160])
{
    const rh_study_progress *n = &s->progress;
    snprintf(text, 160, "%s/%s runs", cli_count(n->nrun).s, cli_count(n->nrun_max).s);
    if (n->stage == RH_STAGE_CHECK)
        rh_text__put(text, 160, "  checking in other models");
    else
        rh_text__put(text, 160, "  %s %s%s", cli_count(n->nsetting).s,
                     n->stage == RH_STAGE_CONFIRM ? "confirmed" : "setting",
                     n->stage == RH_STAGE_CONFIRM ? "" : cli_plural(n->nsetting));
}

// "best -23.69 (-25.26 to -22.12)  alpha=0.1 tau=1"
static void leader(const cli_studying *s, char *text, size_t size)
{
    const rh_study_progress *n = &s->progress;
    text[0] = 0;
    if (n->best < 0 || isnan(n->value))
        return;
    int decimals = cli_decimals((n->hi95 - n->lo95) / 4.0, n->value);
    snprintf(text, size, "best %s", cli_real(n->value, decimals).s);
    if (isfinite(n->lo95) && isfinite(n->hi95))
        rh_text__put(text, size, " (%s to %s)", cli_real(n->lo95, decimals).s,
                     cli_real(n->hi95, decimals).s);
    if (!n->hp)
        return;
    rh_text__put(text, size, " ");
    if (rh_plan__nagent(s->plan) > 1)
        rh_text__put(text, size, " %s", rh_plan__agent_at(s->plan, n->agent)->name);
    cli_tune_setting(s->plan, n->agent, n->hp, " ", 3, text, size);
}

// ---------------------------------------------------------------------------- drawing

// Erase what was drawn.
static void wipe(cli_studying *s, FILE *out)
{
    if (s->lines > 1)
        fprintf(out, "\033[%dA", s->lines - 1);
    if (s->lines > 0)
        fputs("\r\033[J", out);
    s->lines = 0;
}

// Two lines, no wider than the terminal: a line that wraps would stay at every redraw.
static void draw(cli_studying *s)
{
    char *screen = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&screen, &size);
    if (!out)
        return;
    char line[512] = "", best[512], number[160], left[64];
    double share = share_of(&s->progress);
    int columns = cli_columns(stderr) - 1;
    counts(s, number);
    time_left(s, left);
    leader(s, best, sizeof best);
    snprintf(line, sizeof line, "%3d%%  ", (int)(100.0 * share));
    if (columns >= 6 + BAR + 2 + (int)strlen(number) + (int)strlen(left))
        cli_append_bar(line, sizeof line, share, BAR);
    int room = columns - 6 > 0 ? columns - 6 : 0;
    size_t used = strlen(line);
    snprintf(line + used, sizeof line - used, "%.*s", room, number);
    if ((int)strlen(number) + (int)strlen(left) <= room) {
        used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s", left);
    }
    wipe(s, out);
    fputs(line, out);
    s->lines = 1;
    if (*best) {
        fprintf(out, "\n      %.*s", room, best);
        s->lines = 2;
    }
    fclose(out);
    cli_line_is_drawn(true);
    fwrite(screen, 1, size, stderr);
    free(screen);
}

static void report(const cli_studying *s)
{
    char best[512], number[160], left[64];
    counts(s, number);
    time_left(s, left);
    leader(s, best, sizeof best);
    fprintf(stderr, "rehearse: %d%%  %s%s%s%s\n", (int)(100.0 * share_of(&s->progress)), number,
            *best ? "  " : "", best, left);
}

// ---------------------------------------------------------------------------- news

// Once, if the journal holds finished runs.
static void say_resumed(cli_studying *s)
{
    const rh_study_progress *n = &s->progress;
    if (s->resumed || n->nrun_resumed == 0 || !s->folder)
        return;
    s->resumed = true;
    char shown[1024];
    if (!s->quiet)
        fprintf(stderr, "rehearse: resuming %s: %s of %s runs done\n",
                rh_text__printable(s->folder, shown, sizeof shown),
                cli_count(n->nrun_resumed).s, cli_count(n->nrun_max).s);
}

void cli_studying_news(void *context, const rh_study_progress *progress)
{
    cli_studying *s = context;
    double now = cli_now();
    bool first = progress->stage != s->stage;
    s->stage = progress->stage;
    if (progress->stage == RH_STAGE_FIT) {
        if (first)
            cli_studying_end(s);
        if (s->watch.progress)
            s->watch.progress(s->watch.context, progress->what, progress->fraction);
        s->progress = *progress;
        return;
    }
    if (first)
        cli_work_end(&s->work);
    if (s->begun == 0.0)
        s->begun = now;
    s->progress = *progress;
    say_resumed(s);
    bool due = first || now - s->drawn >= (s->terminal ? REDRAW : REPORT);
    if (!due || s->quiet || cli_interrupted())
        return;
    s->drawn = now;
    if (s->terminal)
        draw(s);
    else
        report(s);
}

void cli_studying_end(cli_studying *s)
{
    cli_work_end(&s->work);
    wipe(s, stderr);
    cli_line_is_drawn(false);
}
