// page.c - pieces of the output on standard output: labelled lines, cells of tables, findings,
// and the parts that several commands print of a log.
//
// Control characters in names and paths are printed as '?': a log cannot move the cursor.

#include "base/text.h"
#include "cli_internal.h"
#include "log/log.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define WIDE 110
#define NO_TERMINAL 96
#define LONGEST 4000 // bytes of a line before it is wrapped

int cli_page(void)
{
    int columns = cli_columns_or(stdout, NO_TERMINAL);
    return columns < CLI_NARROW ? CLI_NARROW : columns > WIDE ? WIDE : columns;
}

void cli_heading(const char *label)
{
    cli_style style = cli_style_of(stdout);
    int rest = CLI_LABEL - (int)strlen(label);
    bool plain = label[0] == ' ' || !label[0];
    printf("%s%s%s%*s", plain ? "" : style.bold, label, plain ? "" : style.plain,
           rest > 1 ? rest : 1, "");
}

void cli_line(const char *label, const char *format, ...)
{
    char text[LONGEST], shown[LONGEST];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    cli_heading(label);
    cli_wrap(rh_text__printable(text, shown, sizeof shown), CLI_LABEL, cli_page());
}

void cli_remark(const char *format, ...)
{
    char text[400];
    cli_style style = cli_style_of(stdout);
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    printf("  %s", style.dim);
    cli_wrap(text, 2, cli_page());
    fputs(style.plain, stdout);
}

void cli_more(int64_t n, const char *what, const char *option)
{
    cli_style style = cli_style_of(stdout);
    if (n > 0)
        printf("  %s... %s more %s%s, %s shows all%s\n", style.dim, cli_count(n).s, what,
               cli_plural(n), option, style.plain);
}

// ---------------------------------------------------------------------------- cells

cli_text cli_cell(double x)
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

cli_text cli_share(double share)
{
    cli_text text;
    double percent = 100.0 * share;
    if (isnan(share))
        snprintf(text.s, sizeof text.s, "-");
    else
        snprintf(text.s, sizeof text.s, percent > 0.0 && percent < 0.1 ? "<0.1 %%" : "%.1f %%",
                 percent);
    return text;
}

cli_text cli_bytes(int64_t n)
{
    cli_text text;
    bool small = n < 10000;
    snprintf(text.s, sizeof text.s, "%.30s %s", cli_count(small ? n : (n + 512) / 1024).s,
             small ? "bytes" : "KB");
    return text;
}

int cli_text_columns(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

void cli_print_name(const char *name, int columns)
{
    char shown[512];
    rh_text__printable(name, shown, sizeof shown);
    int length = cli_text_columns(shown), n = 0;
    char *end = shown;
    for (; length > columns && *end; end++) {
        n += ((unsigned char)*end & 0xC0) != 0x80;
        if (n > columns - 2)
            break;
    }
    if (length > columns)
        snprintf(end, sizeof shown - (size_t)(end - shown), "..");
    printf("%s%*s", shown, length > columns ? 0 : columns - length, "");
}

void cli_sensor_name(const rh_log *log, int sensor, char name[300])
{
    const char *unit = log->obs_unit[sensor];
    snprintf(name, 300, *unit ? "%.200s [%.40s]" : "%.200s%.40s", log->obs_name[sensor], unit);
}

int cli_name_columns(const rh_log *log, int least, int most)
{
    char name[300];
    for (int j = 0; j < log->nobs; j++) {
        cli_sensor_name(log, j, name);
        int n = cli_text_columns(name);
        least = n > least ? n : least;
    }
    for (int a = 0; a < log->naction; a++) {
        int n = cli_text_columns(log->label[a]);
        least = n > least ? n : least;
    }
    return least < most ? least : most;
}

void cli_add_set(char *text, size_t size, const rh_param *param, int nparam,
                 const double *value, const char *always)
{
    for (int i = 0; i < nparam; i++) {
        if (value[i] != param[i].initial || strcmp(param[i].name, always) == 0)
            rh_text__put(text, size, " %s=%s", param[i].name, cli_param(&param[i], value[i]).s);
    }
}

void cli_print_word(const char *word)
{
    rh_text text = {0};
    rh_text__shell(&text, word);
    fputs(text.bad ? "" : text.data, stdout);
    rh_text__clear(&text);
}

// ---------------------------------------------------------------------------- a log

void cli_log_print(const rh_log *log, const char *path)
{
    char actions[64];
    if (log->naction)
        snprintf(actions, sizeof actions, "%d action%s", log->naction,
                 cli_plural(log->naction));
    else
        snprintf(actions, sizeof actions, "%d continuous action%s", log->nact,
                 cli_plural(log->nact));
    cli_line("log", "%.300s: %s step%s in %s episode%s, %d sensor%s, %s", path,
             cli_count(log->n).s, cli_plural(log->n), cli_count(log->nepisode).s,
             cli_plural(log->nepisode), log->nobs, cli_plural(log->nobs), actions);
}

// Pieces of episodes that do not begin in a start state.
static int64_t count_resumed(const rh_log *log)
{
    int64_t n = 0;
    for (int e = 0; e < log->nepisode; e++)
        n += !log->start[e];
    return n;
}

void cli_log_left_out(const rh_log *log)
{
    const rh_log_reading *r = &log->reading;
    int64_t nresumed = count_resumed(log), whole = log->nepisode - nresumed;
    char rows[160] = "", steps[120] = "", past[120] = "", cut[120] = "", at[48] = "";
    if (r->nincomplete > 0 && r->place && r->incomplete_at >= 0)
        snprintf(at, sizeof at, " (first: %s %lld)", r->place, (long long)r->incomplete_at);
    if (r->nincomplete > 0)
        snprintf(rows, sizeof rows, "%s row%s without an action or a reward%s",
                 cli_count(r->nincomplete).s, cli_plural(r->nincomplete), at);
    if (r->nlost > 0)
        snprintf(steps, sizeof steps, "%s%s step%s with an unknown next observation",
                 *rows ? ", " : "", cli_count(r->nlost).s, cli_plural(r->nlost));
    if (r->nshort > 0)
        snprintf(past, sizeof past, "%s%s step%s after gaps, whose history is unknown",
                 *rows || *steps ? ", " : "", cli_count(r->nshort).s, cli_plural(r->nshort));
    bool any = *rows || *steps || *past;
    if (nresumed > 0)
        snprintf(cut, sizeof cut, "%s%s episode%s cut into %s pieces", any ? "; " : "",
                 cli_count(whole).s, cli_plural(whole), cli_count(log->nepisode).s);
    if (any || *cut)
        cli_line(any ? "  left out" : "  cut", "%s%s%s%s", rows, steps, past, cut);
}

void cli_log_json(rh_doc *json, const rh_log *log, const char *path)
{
    rh_log as = *log;
    as.path = path;
    rh_field__write_within(json, rh_log__fields(), &as, NULL);
}

// ---------------------------------------------------------------------------- findings

void cli_findings_print(const rh_finding *finding, int n, int shown, const int *ncount)
{
    cli_style style = cli_style_of(stdout);
    bool utf8 = cli_utf8();
    int width = cli_page();
    char text[700];
    if (n)
        cli_line("findings", "%d error%s, %d warning%s, %d notice%s", ncount[RH_ERROR],
                 cli_plural(ncount[RH_ERROR]), ncount[RH_WARNING],
                 cli_plural(ncount[RH_WARNING]), ncount[RH_NOTICE],
                 cli_plural(ncount[RH_NOTICE]));
    else
        cli_line("findings", "none");
    for (int i = 0; i < shown; i++) {
        const rh_finding *f = &finding[i];
        printf("  %s%-8s%s", f->severity == RH_NOTICE ? style.dim : style.alarm,
               rh_severity_name(f->severity), style.plain);
        snprintf(text, sizeof text, "%s: %s", rh_finding_name(f->id), f->evidence);
        cli_wrap(text, 10, width);
        if (!*f->remedy)
            continue;
        printf("       %s ", utf8 ? "\u2192" : ">");
        cli_wrap(f->remedy, 9, width);
    }
    cli_more(n - shown, "finding", "--all");
}

void cli_findings_json(rh_doc *json, const rh_finding *finding, int n, const rh_log *log)
{
    rh_names names = log ? rh_log_names(log) : (rh_names){0};
    rh_field__write_list(json, "findings", &rh_field__finding, finding, n, log ? &names : NULL);
}

void cli_json_fingerprint(rh_doc *json, const rh_model *model)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, rh_model__fingerprint(model));
    rh_doc__text(json, "fingerprint", text);
}
