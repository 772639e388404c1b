// facts_print.c - what a log shows about its sensors, resets and limits, in words.
//
// The limits are a table that a plant's engineer can check: sensor, limit, how many steps ended
// past it, their mean reward.

#include "base/text.h"
#include "cli_internal.h"

#include <math.h>

// ---------------------------------------------------------------------------- limits

static const char *side_of(const rh_limit *l)
{
    return l->above ? "above" : "below";
}

// "47 resets: x below -2.40 (12), theta above 0.21 (35)"
static void print_ends(const rh_log *log, const rh_facts *f)
{
    rh_text text = {0};
    if (f->nterminal == 0 && f->nlimit == 0)
        return;
    rh_text__format(&text, "%s %s%s", cli_count(f->nterminal).s,
                    f->nreset ? "reset" : "terminal step", cli_plural(f->nterminal));
    for (int i = 0; i < f->nlimit; i++) {
        const rh_limit *l = &f->limit[i];
        rh_text__format(&text, "%s %s %s %s (%s)", i ? "," : ":", log->obs_name[l->sensor],
                        side_of(l), cli_cell(l->value).s, cli_count(l->nterminal).s);
    }
    if (f->nunexplained)
        rh_text__format(&text, "%s %s past no limit of one sensor", f->nlimit ? "," : ":",
                        f->nlimit ? cli_count(f->nunexplained).s : "all");
    cli_line(f->nreset ? "resets" : "terminal", "%s", text.bad ? "out of memory" : text.data);
    rh_text__clear(&text);
}

static void print_limits(const rh_log *log, const rh_facts *f)
{
    cli_style style = cli_style_of(stdout);
    int width = cli_name_columns(log, 10, 28);
    if (f->nlimit == 0)
        return;
    printf("\n%s%-*s%s%8s%12s%12s%12s\n", style.bold, width + 2, "limits", style.plain, "",
           "value", f->nreset ? "resets" : "ends", "reward");
    for (int i = 0; i < f->nlimit; i++) {
        const rh_limit *l = &f->limit[i];
        char name[300];
        cli_sensor_name(log, l->sensor, name);
        fputs("  ", stdout);
        cli_print_name(name, width);
        printf("%8s%12s%12s%12s%s%s\n", side_of(l), cli_cell(l->value).s,
               cli_count(l->nterminal).s, isnan(l->reward) ? "-" : cli_cell(l->reward).s,
               l->given ? "   given" : "",
               l->lone ? (l->above ? "   never seen below" : "   never seen above") : "");
    }
}

// ---------------------------------------------------------------------------- sensors

#define FEW_FACTS 8 // facts of sensors that are printed

// Whether one more fact is printed; begins it.
static bool begin(rh_text *text, int *n, bool all)
{
    bool printed = ++*n <= FEW_FACTS || all;
    if (printed && text->n)
        rh_text__add(text, "; ");
    return printed;
}

static void add_walls(rh_text *text, const char *name, const rh_sensor *s)
{
    bool lo = !isnan(s->wall_lo), hi = !isnan(s->wall_hi);
    rh_text__format(text, "%s stops at %s%s%s", name, lo ? cli_cell(s->wall_lo).s : "",
                    lo && hi ? " and " : "", hi ? cli_cell(s->wall_hi).s : "");
}

static void print_sensors(const rh_log *log, const rh_facts *f, const char *more)
{
    rh_text text = {0};
    int n = 0;
    for (int k = 0; k < f->nobs; k++) {
        const rh_sensor *s = &f->sensor[k];
        const char *name = log->obs_name[k];
        if (!isnan(s->period) && begin(&text, &n, !more))
            rh_text__format(&text, "%s wraps round after %s", name, cli_cell(s->period).s);
        if (s->partner > k && begin(&text, &n, !more))
            rh_text__format(&text, "%s and %s lie on a circle of radius %s", name,
                            log->obs_name[s->partner], cli_cell(s->radius).s);
        if ((!isnan(s->wall_lo) || !isnan(s->wall_hi)) && begin(&text, &n, !more))
            add_walls(&text, name, s);
        if (s->noise && begin(&text, &n, !more))
            rh_text__format(&text, "%s is noise", name);
        if (s->exogenous && begin(&text, &n, !more))
            rh_text__format(&text, "%s is exogenous: no action moves it", name);
    }
    if (more && n > FEW_FACTS)
        rh_text__format(&text, "; %d more, %s shows all", n - FEW_FACTS, more);
    if (text.n || text.bad)
        cli_line("facts", "%s", text.bad ? "out of memory" : text.data);
    rh_text__clear(&text);
}

void cli_facts_print(const rh_log *log, const rh_facts *facts, const char *more)
{
    if (!facts)
        return;
    print_ends(log, facts);
    print_sensors(log, facts, more);
    print_limits(log, facts);
}
