// page.c - pieces of a page of words on standard output: lines with a label at the left,
// numbers, findings, words that a shell takes.

#include "cli_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define NARROW 60
#define WIDE 110
#define NO_TERMINAL 96

int cli_page(void)
{
    int columns = cli_is_terminal(stdout) ? cli_columns(stdout) : NO_TERMINAL;
    return columns < NARROW ? NARROW : columns > WIDE ? WIDE : columns;
}

void cli_heading(const char *label)
{
    cli_style style = cli_style_of(stdout);
    int rest = CLI_LABEL - (int)strlen(label);
    bool plain = label[0] == ' ' || !label[0];
    printf("%s%s%s%*s", plain ? "" : style.bold, label, plain ? "" : style.plain,
           rest > 1 ? rest : 1, "");
}

void cli_line(int width, const char *label, const char *format, ...)
{
    char text[800];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    cli_heading(label);
    cli_wrap(text, CLI_LABEL, width);
}

// ---------------------------------------------------------------------------- numbers, words

cli_text cli_cell(double x)
{
    cli_text text;
    if (isnan(x))
        snprintf(text.s, sizeof text.s, "-");
    else if (!isfinite(x))
        snprintf(text.s, sizeof text.s, x > 0.0 ? "inf" : "-inf");
    else
        snprintf(text.s, sizeof text.s, "%.4g", x + 0.0);
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

void cli_print_word(const char *word)
{
    bool plain = *word != 0;
    for (const char *c = word; *c; c++)
        plain = plain && ((unsigned char)*c >= 0x80 || isalnum((unsigned char)*c) ||
                          strchr("_./:@%+=,-", *c));
    if (plain) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    putchar('\'');
}

// ---------------------------------------------------------------------------- findings

void cli_findings_count(const int *ncount, char text[80])
{
    snprintf(text, 80, "%d error%s, %d warning%s, %d notice%s", ncount[RH_ERROR],
             cli_plural(ncount[RH_ERROR]), ncount[RH_WARNING], cli_plural(ncount[RH_WARNING]),
             ncount[RH_NOTICE], cli_plural(ncount[RH_NOTICE]));
}

void cli_findings_print(const rh_log_finding *finding, int n, int width)
{
    cli_style style = cli_style_of(stdout);
    bool utf8 = cli_utf8();
    for (int i = 0; i < n; i++) {
        const rh_log_finding *f = &finding[i];
        char text[700];
        printf("  %s%-8s%s", f->severity == RH_NOTICE ? style.dim : style.alarm,
               rh_severity_name(f->severity), style.plain);
        snprintf(text, sizeof text, "%s: %s", f->id, f->evidence);
        cli_wrap(text, 10, width);
        if (!*f->remedy)
            continue;
        printf("       %s ", utf8 ? "\u2192" : ">");
        cli_wrap(f->remedy, 9, width);
    }
}

void cli_findings_json(cli_json *json, const rh_log_finding *finding, int n, const rh_log *log)
{
    cli_json_open(json, "findings", '[', false);
    for (int i = 0; i < n; i++) {
        const rh_log_finding *f = &finding[i];
        cli_json_open(json, NULL, '{', false);
        cli_json_text(json, "severity", rh_severity_name(f->severity));
        cli_json_text(json, "id", f->id);
        cli_json_text(json, "evidence", f->evidence);
        cli_json_text(json, "remedy", f->remedy);
        cli_json_whole(json, "count", f->count);
        if (log && f->column >= 0)
            cli_json_text(json, "sensor", log->obs_name[f->column]);
        else if (log)
            cli_json_null(json, "sensor");
        cli_json_close(json);
    }
    cli_json_close(json);
}
