// inspect_print.c - what a look at a log found, in words, on one screen.
//
// 1. What was assumed comes before what was measured: a log that is read wrongly gives
//    plausible numbers.
// 2. Lists are cut so that the whole fits on a screen; what was cut is said, and --all shows
//    it. Errors and warnings are cut last.
// 3. Names come from the file: what would move the cursor is shown as '?'.

#include "cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FEW_SENSORS 12 // lines of a list without --all
#define FEW_ACTIONS 10
#define FEW_FINDINGS 9
#define LONG_NOTE 160 // letters of a note
#define LABEL 12      // columns of what stands at the left

// What is printed, and how.
typedef struct page {
    const rh_log *log;
    const rh_log_report *report;
    cli_style style;
    bool utf8, all;
    int width;
    int name; // columns of a sensor's or action's name
} page;

// ---------------------------------------------------------------------------- pieces

// A number in a cell, with as many digits as fit.
static cli_text cell(double x)
{
    cli_text text;
    if (!isfinite(x)) {
        snprintf(text.s, sizeof text.s, "%s", isnan(x) ? "-" : x > 0.0 ? "inf" : "-inf");
        return text;
    }
    for (int digits = 4; digits > 0; digits--)
        if (snprintf(text.s, sizeof text.s, "%.*g", digits, x + 0.0) <= 9)
            break;
    return text;
}

static cli_text share_text(double share)
{
    cli_text text;
    double percent = 100.0 * share;
    snprintf(text.s, sizeof text.s, percent > 0.0 && percent < 0.1 ? "<0.1 %%" : "%.1f %%",
             percent);
    return text;
}

// A byte of a text, without what would move the cursor.
static char visible(char c)
{
    return (char)((unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
}

// Columns that a text takes: its letters, not its bytes.
static int columns_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

// A name of the file's in a cell, cut when it is long.
static void print_name(const char *name, int width)
{
    bool cut = columns_of(name) > width;
    int n = 0;
    for (; *name; name++) {
        n += ((unsigned char)*name & 0xC0) != 0x80;
        if (cut && n > width - 2)
            break;
        putchar(visible(*name));
    }
    if (cut) {
        fputs("..", stdout);
        n = width;
    }
    printf("%*s", width - n, "");
}

// A small histogram.
static void print_bars(const page *p, const rh_log_numbers *v)
{
    static const char *const block[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                        "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    int64_t most = 0;
    for (int i = 0; i < RH_LOG_NBAR; i++)
        most = v->bar[i] > most ? v->bar[i] : most;
    fputs(p->style.curve, stdout);
    for (int i = 0; i < RH_LOG_NBAR; i++) {
        int level = most ? (int)(8.0 * (double)v->bar[i] / (double)most + 0.5) : 0;
        level = v->bar[i] > 0 && level == 0 ? 1 : level;
        fputs(p->utf8 ? block[level] : plain[level], stdout);
    }
    fputs(p->style.plain, stdout);
}

static void heading(const page *p, const char *text)
{
    printf("%s%s%s", p->style.bold, text, p->style.plain);
    printf("%*s", LABEL - (int)strlen(text) > 1 ? LABEL - (int)strlen(text) : 1, "");
}

static void more(const page *p, int64_t n, const char *what)
{
    if (n > 0)
        printf("  %s... %s more %s%s, --all shows them%s\n", p->style.dim, cli_count(n).s, what,
               cli_plural(n), p->style.plain);
}

// ---------------------------------------------------------------------------- the shape

// Whether times are seconds since 1970: from 1976 to 2128.
static bool is_date(double t)
{
    return t > 2e8 && t < 5e9;
}

// Seconds since 1970 as a date, other times as they are.
static cli_text time_text(double t)
{
    cli_text text;
    time_t seconds = is_date(t) ? (time_t)t : 0;
    struct tm date;
    if (is_date(t) && gmtime_r(&seconds, &date) &&
        strftime(text.s, sizeof text.s, "%Y-%m-%d %H:%M:%S", &date) > 0)
        return text;
    snprintf(text.s, sizeof text.s, "%.15g", t);
    return text;
}

static void print_time(const page *p)
{
    const rh_log_clock *c = &p->report->clock;
    if (c->n == 0)
        return;
    char text[300];
    const char *unit = is_date(c->begin) ? " s" : "";
    snprintf(text, sizeof text, "%s to %s, every %.6g%s; %s irregular, longest %.6g%s",
             time_text(c->begin).s, time_text(c->end).s, c->interval, unit,
             share_text((double)c->nirregular / (double)c->n).s, c->longest, unit);
    heading(p, "time");
    cli_wrap(text, LABEL, p->width);
}

static void print_shape(const page *p, int64_t size)
{
    const rh_log *log = p->log;
    heading(p, "log");
    print_name(log->path,
               columns_of(log->path) < p->width - 40 ? columns_of(log->path) : p->width - 40);
    printf("  (%s%s", log->reading.format, size > 0 ? ", " : "");
    if (size > 0)
        printf(size < 10000 ? "%s bytes" : "%s KB",
               cli_count(size < 10000 ? size : (size + 512) / 1024).s);
    puts(")");
    heading(p, "shape");
    printf("%s%s step%s%s in %s episode%s, %d sensor%s, ", p->style.bold, cli_count(log->n).s,
           cli_plural(log->n), p->style.plain, cli_count(log->nepisode).s,
           cli_plural(log->nepisode), log->nobs, cli_plural(log->nobs));
    if (log->naction)
        printf("%d action%s\n", log->naction, cli_plural(log->naction));
    else
        printf("actions of %d number%s\n", log->nact, cli_plural(log->nact));
    print_time(p);
}

// How it was read: the notes, and what was left out on the way.
static void print_reading(const page *p)
{
    const rh_log_reading *r = &p->log->reading;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (int i = 0; i < r->nnote; i++) {
        int n = (int)strlen(r->note[i]);
        bool cut = n > LONG_NOTE && !p->all;
        for (n = cut ? LONG_NOTE : n; cut && n > 0 && r->note[i][n] != ' ';)
            n--; // between words
        fprintf(out, "%s%.*s%s", i ? "; " : "", n, r->note[i], cut ? " ..." : "");
    }
    const struct {
        int64_t n;
        const char *what;
    } count[] = {{r->nlost, "dropped: next observation not known"},
                 {r->nincomplete, "dropped: no action or reward"},
                 {r->ngap, "of the episodes split where time jumps"},
                 {r->nmismatch, "with a next observation unlike the next row"},
                 {r->nmissing, "numbers missing"}};
    fprintf(out, "%s%s rows", r->nnote ? "; " : "", cli_count(r->nrow).s);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].n > 0)
            fprintf(out, ", %s %s", cli_count(count[i].n).s, count[i].what);
    fclose(out);
    for (char *c = text; *c; c++)
        *c = visible(*c);
    heading(p, "read as");
    cli_wrap(text, LABEL, p->width);
    free(text);
}

// ---------------------------------------------------------------------------- episodes

static void print_numbers(const page *p, const char *name, const rh_log_numbers *v)
{
    heading(p, name);
    print_bars(p, v);
    printf("  %s to %s, median %s, mean %s", cell(v->min).s, cell(v->max).s, cell(v->median).s,
           cell(v->mean).s);
}

static void print_episodes(const page *p)
{
    const rh_log_report *r = p->report;
    if (p->log->nepisode > 1) {
        print_numbers(p, "returns", &r->returns);
        putchar('\n');
        print_numbers(p, "lengths", &r->length);
        putchar('\n');
    }
    heading(p, "ends");
    printf("%s terminal, %s cut off", cli_count(r->nterminal).s, cli_count(r->ncut).s);
    if (r->ncut_judged > 1)
        printf(" (%s of %s at %s steps)", share_text(r->cut_share).s,
               cli_count(r->ncut_judged).s, cli_count(r->cut_length).s);
    putchar('\n');
    heading(p, "starts");
    printf("%s, %s different", cli_count(r->nstart).s, cli_count(r->nstart_distinct).s);
    if (isfinite(r->start_spread))
        printf(", %.0f %% as wide as all states", 100.0 * r->start_spread);
    if (r->nresumed > 0)
        printf("; %s episode%s after a gap", cli_count(r->nresumed).s, cli_plural(r->nresumed));
    putchar('\n');
}

static void print_reward(const page *p)
{
    const rh_log_numbers *v = &p->report->reward;
    double n = (double)p->log->n;
    print_numbers(p, "reward", v);
    printf("\n%*s%s%s different, %s zero, worst %s time%s\n", LABEL + RH_LOG_NBAR + 2, "",
           p->log->n > 1000000 ? "about " : "", cli_count(v->ndistinct).s,
           share_text((double)p->report->nzero / n).s, cli_count(p->report->nworst).s,
           cli_plural(p->report->nworst));
}

// ---------------------------------------------------------------------------- sensors

static void print_marks(const page *p, const rh_log_sensor *s)
{
    const struct {
        bool is;
        const char *mark;
        bool alarm;
    } mark[] = {{s->constant, "constant", true},
                {s->value.nsentinel > 0, "sentinel", true},
                {s->value.nabsurd > 0, "outliers", true},
                {s->value.ninfinite > 0, "infinite", true},
                {s->frozen, "frozen", true},
                {isfinite(s->pace), "clock", true},
                {s->wraps, "wraps", false},
                {s->twin >= 0, "twin", false},
                {s->value.whole && !s->constant, "whole", false}};
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++)
        if (mark[i].is)
            printf(" %s%s%s", mark[i].alarm ? p->style.alarm : p->style.dim, mark[i].mark,
                   p->style.plain);
    putchar('\n');
}

static void print_sensors(const page *p)
{
    const rh_log *log = p->log;
    int shown = p->all || log->nobs <= FEW_SENSORS + 1 ? log->nobs : FEW_SENSORS;
    printf("\n%s%-*s%s%*s%10s%10s%10s%10s%9s\n", p->style.bold, p->name + 2, "sensors",
           p->style.plain, RH_LOG_NBAR + 1, "", "least", "median", "most", "sd", "missing");
    for (int j = 0; j < shown; j++) {
        const rh_log_sensor *s = &p->report->sensor[j];
        char name[300];
        snprintf(name, sizeof name, log->obs_unit[j][0] ? "%s [%s]" : "%s", log->obs_name[j],
                 log->obs_unit[j]);
        fputs("  ", stdout);
        print_name(name, p->name);
        putchar(' ');
        print_bars(p, &s->value);
        printf("%10s%10s%10s%10s%9s", cell(s->value.min).s, cell(s->value.median).s,
               cell(s->value.max).s, cell(s->value.sd).s,
               s->value.nmissing ? share_text((double)s->value.nmissing / (double)log->nstate).s
                                 : "-");
        print_marks(p, s);
    }
    more(p, log->nobs - shown, "sensor");
}

// ---------------------------------------------------------------------------- actions

static void print_amounts(const page *p)
{
    const rh_log *log = p->log;
    for (int k = 0; k < log->nact; k++) {
        const rh_log_numbers *v = &p->report->amount[k];
        if (k == FEW_ACTIONS && !p->all) {
            more(p, log->nact - k, "number");
            break;
        }
        fputs("  ", stdout);
        print_name(log->act_name[k], p->name);
        putchar(' ');
        print_bars(p, v);
        printf("%10s%10s%10s%10s   %s at its ends\n", cell(v->min).s, cell(v->median).s,
               cell(v->max).s, cell(v->sd).s, share_text(p->report->at_bound[k]).s);
    }
}

// What a row of the table of actions is about.
static void cover_name(const page *p, const rh_log_cover *c, char *text, size_t size)
{
    static const char *const third[] = {"low", "middle", "high"};
    if (c->third < 0)
        snprintf(text, size, "%s", p->log->label[c->action]);
    else
        snprintf(text, size, "%s%s%s", p->log->nact > 1 ? p->log->act_name[c->action] : "",
                 p->log->nact > 1 ? " " : "", third[c->third]);
}

// A distance in median steps.
static cli_text far_text(double x)
{
    return isfinite(x) && x < 1000.0 ? cli_real(x, 1) : cell(x);
}

static void print_actions(const page *p)
{
    const rh_log_report *r = p->report;
    int shown = p->all || r->ncover <= FEW_ACTIONS + 1 ? r->ncover : FEW_ACTIONS;
    if (!p->log->naction) {
        printf("\n%s%-*s%s%*s%10s%10s%10s%10s\n", p->style.bold, p->name + 2, "actions",
               p->style.plain, RH_LOG_NBAR + 1, "", "least", "median", "most", "sd");
        print_amounts(p);
    }
    printf("\n%s%-*s%s%13s%9s   nearest trial, in median steps\n", p->style.bold, p->name + 2,
           p->log->naction ? "actions" : "thirds", p->style.plain, "steps", "share");
    printf("%*s%8s%8s%8s%8s\n", p->name + 27, "", "median", "90 %", "99 %", "most");
    for (int i = 0; i < shown; i++) {
        const rh_log_cover *c = &r->cover[i];
        char name[300];
        cover_name(p, c, name, sizeof name);
        fputs("  ", stdout);
        print_name(name, p->name);
        printf("%13s%9s   ", cli_count(c->n).s, share_text((double)c->n / (double)p->log->n).s);
        printf("%8s%8s%8s%8s\n", far_text(c->median).s, far_text(c->q90).s, far_text(c->q99).s,
               far_text(c->max).s);
    }
    more(p, r->ncover - shown, "action");
    if (r->nquery < p->log->n)
        printf("  %s(%s of %s states, against %s)%s\n", p->style.dim, cli_count(r->nquery).s,
               cli_count(p->log->n).s, cli_count(r->nplace).s, p->style.plain);
}

// ---------------------------------------------------------------------------- findings

static void print_findings(const page *p)
{
    const rh_log_report *r = p->report;
    int shown = p->all || r->nfinding <= FEW_FINDINGS + 1 ? r->nfinding : FEW_FINDINGS;
    char count[80];
    putchar('\n');
    heading(p, "findings");
    if (r->nfinding == 0) {
        puts("none");
        return;
    }
    cli_findings_count(r->ncount, count);
    puts(count);
    cli_findings_print(r->finding, shown, p->width);
    more(p, r->nfinding - shown, "finding");
}

// Columns for names: what the longest needs, and what the table of sensors leaves.
static int name_columns(const page *p)
{
    int most = 10, room = p->width - 66 > 20 ? 20 : p->width - 66;
    for (int j = 0; j < p->log->nobs; j++) {
        int n = columns_of(p->log->obs_name[j]);
        n += p->log->obs_unit[j][0] ? 3 + columns_of(p->log->obs_unit[j]) : 0;
        most = n > most ? n : most;
    }
    for (int a = 0; a < p->log->naction; a++)
        most = columns_of(p->log->label[a]) > most ? columns_of(p->log->label[a]) : most;
    room = room < 10 ? 10 : room;
    return most < room ? most : room;
}

void cli_inspect_print(const rh_log *log, const rh_log_report *report, int64_t size, bool all)
{
    page p = {.log = log, .report = report, .style = cli_style_of(stdout), .all = all};
    p.utf8 = cli_utf8();
    p.width = cli_page();
    p.name = name_columns(&p);
    print_shape(&p, size);
    print_reading(&p);
    putchar('\n');
    print_episodes(&p);
    print_reward(&p);
    print_sensors(&p);
    print_actions(&p);
    print_findings(&p);
}
