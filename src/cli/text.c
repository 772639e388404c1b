// text.c - messages on standard error; text and numbers as people read them.
//
// Messages quote names and paths of the user. Control characters in them are printed as '?'.

#include "base/text.h"
#include "base/base.h"
#include "base/number.h"
#include "cli_internal.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LONGEST 6000 // bytes of a message, with a path

static bool is_hushed;

void cli_hush(bool hushed)
{
    is_hushed = hushed;
}

RH_PRINTF(2, 0)
static void print_line(const char *before, const char *format, va_list rest)
{
    if (is_hushed)
        return;
    char text[LONGEST], shown[LONGEST];
    vsnprintf(text, sizeof text, format, rest);
    fflush(stdout); // earlier output comes before the message
    fprintf(stderr, "%s%s\n", before, rh_text__printable(text, shown, sizeof shown));
}

void cli_say(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    print_line("rehearse: ", format, rest);
    va_end(rest);
}

void cli_try(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    print_line("try: ", format, rest);
    va_end(rest);
}

int cli_refuse(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    print_line("rehearse: ", format, rest);
    va_end(rest);
    return CLI_USAGE;
}

int cli_fail(const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    print_line("rehearse: ", format, rest);
    va_end(rest);
    return CLI_FAILED;
}

int cli_pass(rh_status status, const rh_error *err)
{
    if (status == RH_OK)
        return CLI_OK;
    cli_say("%s", err->text);
    return status == RH_EINVAL || status == RH_EFORMAT ? CLI_USAGE : CLI_FAILED;
}

int cli_pass_file(rh_status status, const rh_error *err)
{
    int code = cli_pass(status, err);
    return status == RH_EIO ? CLI_USAGE : code;
}

// Bytes of the first word; "75 %" is one.
static int word(const char *text)
{
    size_t length = strcspn(text, " ");
    if (text[length] && text[length + 1] == '%')
        length += 1 + strcspn(text + length + 1, " ");
    return (int)length;
}

void cli_wrap(const char *text, int column, int width)
{
    int indent = column;
    for (bool first = true; *text; first = false) {
        int length = word(text);
        if (!first && column + 1 + length >= width) {
            printf("\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += printf("%s%.*s", first ? "" : " ", length, text);
        text += length;
        text += *text != 0;
    }
    putchar('\n');
}

// ---------------------------------------------------------------------------- numbers

cli_text cli_count(int64_t n)
{
    cli_text plain, text;
    int length = snprintf(plain.s, sizeof plain.s, "%lld", (long long)n);
    int out = 0;
    for (int i = 0; i < length; i++) {
        text.s[out++] = plain.s[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && plain.s[i] != '-')
            text.s[out++] = ',';
    }
    text.s[out] = 0;
    return text;
}

int cli_decimals(double error, double value)
{
    // two digits of the error, or four of the value
    bool known = isfinite(error) && error > 0.0;
    double size = known ? error : fabs(value);
    if (!isfinite(size) || size == 0.0)
        return 1;
    int n = (known ? 1 : 3) - (int)floor(log10(size));
    return n < 0 ? 0 : n > 6 ? 6 : n;
}

cli_text cli_real(double x, int ndecimal)
{
    cli_text text;
    snprintf(text.s, sizeof text.s, fabs(x) < 1e12 ? "%.*f" : "%.*g", ndecimal, x + 0.0);
    return text;
}

cli_text cli_param(const rh_param *p, double value)
{
    cli_text text;
    rh_param__format(p, value, text.s, sizeof text.s);
    return text;
}

cli_text cli_exact(double x)
{
    cli_text text;
    rh_number__print(x + 0.0, text.s);
    return text;
}

cli_text cli_seconds(double seconds)
{
    cli_text text;
    long long s = (long long)(seconds + 0.5);
    if (s < 60)
        snprintf(text.s, sizeof text.s, "%llds", s);
    else if (s < 3600)
        snprintf(text.s, sizeof text.s, "%lldm %02llds", s / 60, s % 60);
    else
        snprintf(text.s, sizeof text.s, "%lldh %02lldm", s / 3600, s / 60 % 60);
    return text;
}

const char *cli_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}
