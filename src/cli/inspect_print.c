// inspect_print.c - the report of `inspect` in words, on one screen.
//
// 1. Assumptions come before numbers: a log that is read wrongly gives plausible numbers.
// 2. Lists are cut to fit on a screen, errors and warnings last; --all shows the rest.

#include "base/text.h"
#include "cli_internal.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define FEW_SENSORS 12 // lines of a list without --all
#define FEW_ACTIONS 10
#define FEW_FINDINGS 9
#define LONG_NOTE 160 // characters of a note
#define TABLE 74      // columns of the narrowest table with histograms
#define BESIDE_BARS (CLI_LABEL + RH_LOG_NBAR + 2)

// What is printed, and how.
typedef struct page {
    const rh_log *log;
    const rh_log_report *report;
    cli_style style;
    bool utf8, all;
    bool narrow; // tables without histograms
    int name;    // columns of a sensor's or action's name
} page;

// ---------------------------------------------------------------------------- pieces

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

// ---------------------------------------------------------------------------- the log

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
    const char *unit = is_date(c->begin) ? " s" : "";
    cli_line("  time", "%s to %s, every %.6g%s; %s irregular, longest %.6g%s",
             time_text(c->begin).s, time_text(c->end).s, c->interval, unit,
             cli_share((double)c->nirregular / (double)c->n).s, c->longest, unit);
}

static void print_log(const page *p, int64_t size)
{
    const rh_log *log = p->log;
    cli_log_print(log, log->path);
    cli_line("  format", "%s%s%s", log->reading.format, size > 0 ? ", " : "",
             size > 0 ? cli_bytes(size).s : "");
    print_time(p);
}

// How the file was read: the assumptions, and the rows that were dropped.
static void print_reading(const page *p)
{
    const rh_log_reading *r = &p->log->reading;
    rh_text text = {0};
    for (int i = 0; i < r->nnote; i++) {
        size_t n = strlen(r->note[i]);
        bool cut = n > LONG_NOTE && !p->all;
        for (n = cut ? LONG_NOTE : n; cut && n > 0 && r->note[i][n] != ' ';)
            n--; // between words
        rh_text__add(&text, i ? "; " : "");
        rh_text__add_n(&text, r->note[i], n);
        rh_text__add(&text, cut ? " ..." : "");
    }
    const struct {
        int64_t n;
        const char *what;
    } count[] = {{r->nlost, "dropped: the next observation is not known"},
                 {r->nincomplete, "dropped: no action or reward"},
                 {r->ngap, "episodes split where time jumps"},
                 {r->nmismatch, "with a next observation unlike the next row"},
                 {r->nmissing, "numbers missing"}};
    rh_text__format(&text, "%s%s rows", r->nnote ? "; " : "", cli_count(r->nrow).s);
    for (size_t i = 0; i < sizeof count / sizeof *count; i++)
        if (count[i].n > 0)
            rh_text__format(&text, ", %s %s", cli_count(count[i].n).s, count[i].what);
    cli_line("  reading", "%s", text.bad ? "out of memory" : text.data);
    rh_text__clear(&text);
}

// ---------------------------------------------------------------------------- episodes

static void print_numbers(const page *p, const char *name, const rh_log_numbers *v)
{
    char text[200];
    cli_heading(name);
    print_bars(p, v);
    snprintf(text, sizeof text, "%.20s to %.20s, median %.20s, mean %.20s", cli_cell(v->min).s,
             cli_cell(v->max).s, cli_cell(v->median).s, cli_cell(v->mean).s);
    fputs("  ", stdout);
    cli_wrap(text, BESIDE_BARS, cli_page());
}

static void print_episodes(const page *p)
{
    const rh_log_report *r = p->report;
    if (p->log->nepisode > 1) {
        print_numbers(p, "returns", &r->returns);
        print_numbers(p, "lengths", &r->length);
    }
    char usual[160] = "", spread[64] = "", gaps[64] = "";
    if (r->ncut_judged > 1)
        snprintf(usual, sizeof usual, " (%s of %s at %s steps)", cli_share(r->cut_share).s,
                 cli_count(r->ncut_judged).s, cli_count(r->cut_length).s);
    cli_line("ends", "%s terminal, %s truncated%s", cli_count(r->nterminal).s,
             cli_count(r->ncut).s, usual);
    if (isfinite(r->start_spread))
        snprintf(spread, sizeof spread, ", %.0f %% of the spread of all states",
                 100.0 * r->start_spread);
    if (r->nresumed > 0)
        snprintf(gaps, sizeof gaps, "; %s episode%s after a gap", cli_count(r->nresumed).s,
                 cli_plural(r->nresumed));
    cli_line("starts", "%s, %s distinct%s%s", cli_count(r->nstart).s,
             cli_count(r->nstart_distinct).s, spread, gaps);
}

static void print_reward(const page *p)
{
    const rh_log_numbers *v = &p->report->reward;
    char text[200];
    print_numbers(p, "reward", v);
    snprintf(text, sizeof text, "%s%.30s distinct, %.20s zero, minimum %.30s time%s",
             p->log->n > 1000000 ? "about " : "", cli_count(v->ndistinct).s,
             cli_share((double)p->report->nzero / (double)p->log->n).s,
             cli_count(p->report->nworst).s, cli_plural(p->report->nworst));
    printf("%*s", BESIDE_BARS, "");
    cli_wrap(text, BESIDE_BARS, cli_page());
}

// ---------------------------------------------------------------------------- sensors

// left: columns of the line so far.
static void print_marks(const page *p, const rh_log_sensor *s, int left)
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
                {s->value.whole && !s->constant, "integer", false}};
    for (size_t i = 0; i < sizeof mark / sizeof *mark; i++)
        left += mark[i].is ? 1 + (int)strlen(mark[i].mark) : 0;
    if (p->narrow && left > cli_page())
        printf("\n   ");
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
    int cell = p->narrow ? 9 : 10, bars = p->narrow ? 0 : RH_LOG_NBAR + 1;
    printf("\n%s%-*s%s%*s%*s%*s%*s%*s%9s\n", p->style.bold, p->name + 2, "sensors",
           p->style.plain, bars, "", cell, "min", cell, "median", cell, "max", cell, "sd",
           "missing");
    for (int j = 0; j < shown; j++) {
        const rh_log_sensor *s = &p->report->sensor[j];
        char name[300];
        cli_sensor_name(log, j, name);
        fputs("  ", stdout);
        cli_print_name(name, p->name);
        if (!p->narrow) {
            putchar(' ');
            print_bars(p, &s->value);
        }
        printf("%*s%*s%*s%*s%9s", cell, cli_cell(s->value.min).s, cell,
               cli_cell(s->value.median).s, cell, cli_cell(s->value.max).s, cell,
               cli_cell(s->value.sd).s,
               s->value.nmissing ? cli_share((double)s->value.nmissing / (double)log->nstate).s
                                 : "-");
        print_marks(p, s, p->name + 2 + bars + 4 * cell + 9);
    }
    cli_more(log->nobs - shown, "sensor", "--all");
}

// ---------------------------------------------------------------------------- actions

static void print_amounts(const page *p)
{
    const rh_log *log = p->log;
    for (int k = 0; k < log->nact; k++) {
        const rh_log_numbers *v = &p->report->amount[k];
        if (k == FEW_ACTIONS && !p->all) {
            cli_more(log->nact - k, "action", "--all");
            break;
        }
        fputs("  ", stdout);
        cli_print_name(log->act_name[k], p->name);
        if (!p->narrow) {
            putchar(' ');
            print_bars(p, v);
        }
        int cell = p->narrow ? 9 : 10;
        printf("%*s%*s%*s%*s", cell, cli_cell(v->min).s, cell, cli_cell(v->median).s, cell,
               cli_cell(v->max).s, cell, cli_cell(v->sd).s);
        printf(p->narrow ? "%10s\n" : "   %s at its limits\n",
               cli_share(p->report->at_bound[k]).s);
    }
}

// The action, or the third of its range, of a row.
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
    return isfinite(x) && x < 1000.0 ? cli_real(x, 1) : cli_cell(x);
}

static void print_actions(const page *p)
{
    const rh_log_report *r = p->report;
    int shown = p->all || r->ncover <= FEW_ACTIONS + 1 ? r->ncover : FEW_ACTIONS;
    if (!p->log->naction) {
        int cell = p->narrow ? 9 : 10;
        printf("\n%s%-*s%s%*s%*s%*s%*s%*s%s\n", p->style.bold, p->name + 2, "actions",
               p->style.plain, p->narrow ? 0 : RH_LOG_NBAR + 1, "", cell, "min", cell, "median",
               cell, "max", cell, "sd", p->narrow ? " at limits" : "");
        print_amounts(p);
    }
    int count = p->narrow ? 10 : 13, far = p->narrow ? 7 : 8, gap = p->narrow ? 0 : 3;
    printf("\n%s%-*s%s%*s%9s   %s\n", p->style.bold, p->name + 2,
           p->log->naction ? "actions" : "thirds", p->style.plain, count, "steps", "share",
           p->narrow ? "nearest step, median steps" : "nearest logged step, in median steps");
    printf("%*s%*s%*s%*s%*s\n", p->name + 11 + count + gap, "", far, "median", far, "90 %", far,
           "99 %", far, "max");
    for (int i = 0; i < shown; i++) {
        const rh_log_cover *c = &r->cover[i];
        char name[300];
        cover_name(p, c, name, sizeof name);
        fputs("  ", stdout);
        cli_print_name(name, p->name);
        printf("%*s%9s%*s", count, cli_count(c->n).s,
               cli_share((double)c->n / (double)p->log->n).s, gap, "");
        printf("%*s%*s%*s%*s\n", far, far_text(c->median).s, far, far_text(c->q90).s, far,
               far_text(c->q99).s, far, far_text(c->max).s);
    }
    cli_more(r->ncover - shown, "action", "--all");
    if (r->nquery < p->log->n)
        cli_remark("a sample: %s of %s states, compared with %s", cli_count(r->nquery).s,
                   cli_count(p->log->n).s, cli_count(r->nplace).s);
}

// "the state has a memory of about 4 steps; heater acts after 2 steps"
static void print_memory(const rh_log *log, const rh_model__past *memory)
{
    int n = memory->steps, late = memory->dead_time;
    const char *who = log->nact == 1 && log->act_name ? log->act_name[0] : "an action";
    if (n == 0) // not known
        return;
    char dead[160] = "";
    if (late)
        snprintf(dead, sizeof dead, "; %.80s acts after %d step%s", who, late,
                 late > 1 ? "s" : "");
    if (n > 1)
        cli_line("memory", "the state has a memory of about %d steps%s", n, dead);
    else
        cli_line("memory", "the sensors show the state%s", dead);
}

void cli_inspect_print(const rh_log *log, const rh_log_report *report, const rh_facts *facts,
                       const rh_model__past *memory, const rh_experiments *experiments,
                       int64_t size, bool all)
{
    page p = {.log = log, .report = report, .style = cli_style_of(stdout), .all = all};
    int room = cli_page() - 66; // beside the table of sensors
    p.narrow = cli_page() < TABLE;
    p.utf8 = cli_utf8();
    p.name = cli_name_columns(log, 10, room > 20 ? 20 : room < 10 ? 10 : room);
    print_log(&p, size);
    print_reading(&p);
    putchar('\n');
    print_episodes(&p);
    print_reward(&p);
    print_sensors(&p);
    print_actions(&p);
    int n = report->findings.n;
    putchar('\n');
    print_memory(log, memory);
    cli_experiments_print(log, experiments, NULL, all ? NULL : "--all");
    cli_facts_print(log, facts, all ? NULL : "--all");
    if (facts && facts->nlimit)
        putchar('\n');
    cli_findings_print(report->findings.item, n,
                       all || n <= FEW_FINDINGS + 1 ? n : FEW_FINDINGS, report->findings.count);
}
