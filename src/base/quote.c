// quote.c - text quoted for JSON, YAML and a POSIX shell.
//
// 1. JSON escapes what no reader shows or some readers refuse (rh_text__hidden). YAML forbids
//    most of it unescaped, so a JSON string is a YAML string too.
// 2. A YAML scalar stays plain only if it is made of A-Z, a-z, 0-9 and _ - . /, starts with one
//    of A-Z, a-z, _ and /, and is none of the words that YAML 1.1 or 1.2 reads as something
//    else. Numbers, dates and times start with a digit, a sign or a point.
// 3. What nobody sees is escaped for the shell too, so that a command to paste shows all it
//    does: "$(printf 'a\302\255b')", because dash and older shells do not know $'a\302\255b'.

#include "base_internal.h"
#include "text.h"

#include <string.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

void rh_text__json(rh_text *text, const char *value)
{
    rh_text__add_n(text, "\"", 1);
    size_t n;
    for (size_t left = strlen(value); left > 0; value += n, left -= n) {
        uint32_t code = 0;
        n = rh_text__utf8(value, left, &code);
        if (n == 0) {
            rh_text__add(text, "\\ufffd");
            n = 1;
        } else if (code == '"' || code == '\\') {
            rh_text__add_n(text, "\\", 1);
            rh_text__add_n(text, value, 1);
        } else if (rh_text__hidden(code))
            rh_text__format(text, "\\u%04x", (unsigned)code);
        else
            rh_text__add_n(text, value, n);
    }
    rh_text__add_n(text, "\"", 1);
}

static bool is_plain_yaml(const char *value)
{
    static const char *const meant[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n",  "nan"};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcasecmp(value, meant[i]) == 0)
            return false;
    return *value && strchr(LETTERS "_/", *value) &&
           value[strspn(value, LETTERS DIGITS "_-./")] == 0;
}

void rh_text__yaml(rh_text *text, const char *value)
{
    if (is_plain_yaml(value))
        rh_text__add(text, value);
    else
        rh_text__json(text, value);
}

static bool is_plain_shell(const char *value)
{
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < 0x80 && !strchr(LETTERS DIGITS "_./:@%+=,-", *c))
            return false;
    return *value != 0;
}

// Whether a byte sequence would not be seen, or is not UTF-8.
static bool is_hidden(const char *at, size_t left, size_t *n)
{
    uint32_t code = 0;
    *n = rh_text__utf8(at, left, &code);
    if (*n > 0)
        return rh_text__hidden(code);
    *n = 1;
    return true;
}

static bool has_hidden(const char *value)
{
    size_t n;
    for (size_t left = strlen(value); left > 0; value += n, left -= n)
        if (is_hidden(value, left, &n))
            return true;
    return false;
}

// "$(printf 'a\302\255b')"
static void add_printed(rh_text *text, const char *value)
{
    size_t n;
    bool first = true;
    rh_text__add(text, "\"$(printf '");
    for (size_t left = strlen(value); left > 0; value += n, left -= n, first = false) {
        bool escaped = is_hidden(value, left, &n) || *value == '\'' || *value == '\\' ||
                       (first && *value == '-');
        for (size_t i = 0; escaped && i < n; i++)
            rh_text__format(text, "\\%03o", (unsigned)(unsigned char)value[i]);
        if (!escaped) {
            rh_text__add(text, *value == '%' ? "%" : "");
            rh_text__add_n(text, value, n);
        }
    }
    rh_text__add(text, "')\"");
}

void rh_text__shell(rh_text *text, const char *value)
{
    size_t length = strlen(value);
    if (has_hidden(value) && value[length - 1] != '\n') { // $() drops line ends at the end
        add_printed(text, value);
        return;
    }
    if (is_plain_shell(value)) {
        rh_text__add(text, value);
        return;
    }
    rh_text__add_n(text, "'", 1);
    for (; *value; value++)
        if (*value == '\'')
            rh_text__add(text, "'\\''");
        else
            rh_text__add_n(text, value, 1);
    rh_text__add_n(text, "'", 1);
}
