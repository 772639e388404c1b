// json.c - writes JSON to a stream as it goes.
//
// 1. Numbers have the fewest digits that read back to the same bits. jansson 2.14 writes 17
//    digits, and a learning rate of 0.1 becomes 0.10000000000000001.
// 2. Numbers that are not finite become null: JSON has no word for them.
// 3. Bytes that are not UTF-8 become U+FFFD, so that the document is valid for a Latin-1 log.

#include "base/text.h"
#include "cli_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void quote(FILE *out, const char *value)
{
    rh_text text = {0};
    rh_text__json(&text, value);
    fputs(text.bad ? "null" : text.data, out);
    rh_text__clear(&text);
}

static bool is_flat(const cli_json *json)
{
    return json->flat && json->depth >= json->flat;
}

static void new_line(cli_json *json)
{
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->out);
}

// The comma, the new line and the key before a value.
static void begin(cli_json *json, const char *key)
{
    if (json->more)
        fputs(is_flat(json) ? ", " : ",", json->out);
    if (json->depth > 0 && !is_flat(json))
        new_line(json);
    if (key) {
        quote(json->out, key);
        fputs(": ", json->out);
    }
    json->more = true;
}

void cli_json_open(cli_json *json, const char *key, char bracket, bool flat)
{
    begin(json, key);
    fputc(bracket, json->out);
    assert(json->depth < (int)sizeof json->closing);
    json->closing[json->depth++] = bracket == '{' ? '}' : ']';
    if (flat && !json->flat)
        json->flat = json->depth;
    json->more = false;
}

void cli_json_close(cli_json *json)
{
    bool flat = is_flat(json);
    if (json->flat == json->depth)
        json->flat = 0;
    json->depth--;
    if (json->more && !flat)
        new_line(json);
    fputc(json->closing[json->depth], json->out);
    if (json->depth == 0)
        fputc('\n', json->out);
    json->more = true;
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    begin(json, key);
    if (text)
        quote(json->out, text);
    else
        fputs("null", json->out);
}

void cli_json_whole(cli_json *json, const char *key, int64_t n)
{
    begin(json, key);
    fprintf(json->out, "%" PRId64, n);
}

void cli_json_place(cli_json *json, const char *key, int64_t n)
{
    if (n < 0)
        cli_json_null(json, key);
    else
        cli_json_whole(json, key, n);
}

void cli_json_null(cli_json *json, const char *key)
{
    begin(json, key);
    fputs("null", json->out);
}

void cli_json_real(cli_json *json, const char *key, double x)
{
    begin(json, key);
    fputs(isfinite(x) ? cli_exact(x).s : "null", json->out);
}

void cli_json_short(cli_json *json, const char *key, double x)
{
    begin(json, key);
    if (isfinite(x))
        fprintf(json->out, "%.5g", x + 0.0);
    else
        fputs("null", json->out);
}

void cli_json_flag(cli_json *json, const char *key, bool flag)
{
    begin(json, key);
    fputs(flag ? "true" : "false", json->out);
}

void cli_json_param(cli_json *json, const rh_param *param, double value)
{
    if (param->choice)
        cli_json_text(json, param->name, cli_param(param, value).s);
    else
        cli_json_real(json, param->name, value);
}

void cli_json_params(cli_json *json, const char *key, const rh_param *param, int nparam,
                     const double *value, const bool *skip)
{
    cli_json_open(json, key, '{', true);
    for (int i = 0; i < nparam; i++)
        if (!skip || !skip[i])
            cli_json_param(json, &param[i], value[i]);
    cli_json_close(json);
}

void cli_json_spread(cli_json *json, const char *key, const rh_fidelity_spread *s)
{
    cli_json_open(json, key, '{', true);
    cli_json_whole(json, "n", s->n);
    cli_json_real(json, "q25", s->q25);
    cli_json_real(json, "median", s->median);
    cli_json_real(json, "q75", s->q75);
    cli_json_real(json, "mean", s->mean);
    cli_json_close(json);
}

void cli_json_reals(cli_json *json, const char *key, const double *x, int n)
{
    cli_json_open(json, key, '[', true);
    for (int i = 0; i < n; i++)
        cli_json_real(json, NULL, x[i]);
    cli_json_close(json);
}

void cli_json_fingerprint(cli_json *json, const rh_model *model)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, rh_model_fingerprint(model));
    cli_json_text(json, "fingerprint", text);
}
