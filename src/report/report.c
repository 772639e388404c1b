// report.c - the page: data, styles and scripts in one file.
//
//     <meta>    content security policy: nothing but the scripts and styles of this file, which
//               it names by their SHA-256
//     <style>   src/report/page/style.css
//     <script>  the data, as JSON: one element per study
//     <script>  the chart library (src/report/page/charts.js with Vega-Lite), if it was built
//     <script>  ours (the other files of src/report/page)
//
// 1. The data is not trusted: names of sensors and settings come from logs. That of a folder is
//    parsed and refused if it is not JSON. In the page <, >, & and U+2028, U+2029 are written
//    as \u003c: they occur only in strings, and no text can close the script element.
// 2. The scripts set text, never HTML. If a text became an element all the same, the policy
//    would neither run nor load it. There is no 'unsafe-inline' and no 'unsafe-eval'.
// 3. No dates: the same study gives the same bytes.

#include "page.h"
#include "report_internal.h"

#include "base/base_internal.h"
#include "base/file.h"
#include "base/text.h"
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#define VERSION 1                // of the data
#define MOST ((size_t)256 << 20) // bytes of a study's data
#define BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

bool rh_report__charts(void)
{
    return rh_asset__charts.end > rh_asset__charts.begin;
}

// ---------------------------------------------------------------------------- the data

static const rh_report__source of_study = {"report", "study", "a study",
                                           "the study's `rehearse tune`", &rh_asset__script};
static const rh_report__source of_deployment = {NULL, "deployment", "a deployment",
                                                "`rehearse deploy`", &rh_asset__script};

static rh_status read_file(const char *path, const rh_report__source *is, rh_text *text,
                           rh_error *err)
{
    char piece[1 << 14];
    const char *tail = rh_base__path_tail(path);
    FILE *in = fopen(path, "re");
    if (!in && errno == ENOENT)
        return rh_fail(err, RH_EIO,
                       "%s: not found, expected the data of %s; the command %s writes it, "
                       "without repeating runs",
                       tail, is->whose, is->maker);
    if (!in)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", tail, strerror(errno));
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0 && text->n <= MOST;)
        rh_text__add_n(text, piece, n);
    int fault = ferror(in) ? errno : 0;
    fclose(in);
    if (fault)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", tail, strerror(fault));
    if (text->n > MOST)
        return rh_fail(err, RH_EFORMAT, "%s: more than 256 MB, expected the data of %s", tail,
                       is->whose);
    return text->bad ? rh_base__no_memory(err, tail) : RH_OK;
}

// An object of our version.
static rh_status check_data(const char *path, const rh_report__source *is, const rh_text *text,
                            rh_error *err)
{
    json_error_t fault;
    const char *tail = rh_base__path_tail(path);
    json_t *root = text->n ? json_loadb(text->data, text->n, 0, &fault) : NULL;
    json_int_t version = is->key ? json_integer_value(json_object_get(root, is->key)) : VERSION;
    bool object = json_is_object(root);
    json_decref(root);
    if (root && !object)
        return rh_fail(err, RH_EFORMAT, "%s: not an object, expected the data of %s", tail,
                       is->whose);
    if (!root)
        return rh_fail(err, RH_EFORMAT, "%s:%d: %.120s, expected the data of %s", tail,
                       text->n ? fault.line : 1, text->n ? fault.text : "empty file",
                       is->whose);
    if (version != VERSION)
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s = %lld, expected %d; the command %s writes it again", tail,
                       is->key, (long long)version, VERSION, is->maker);
    return RH_OK;
}

// As it may stand in a script element (decision 1), without white space between values.
static void add_data(rh_text *page, const rh_text *data)
{
    size_t kept = 0;
    bool string = false;
    for (size_t i = 0; i < data->n; i++) {
        const unsigned char *c = (const unsigned char *)data->data + i;
        bool mark = *c == '<' || *c == '>' || *c == '&';
        bool line = i + 2 < data->n && c[0] == 0xe2 && c[1] == 0x80 && (c[2] & 0xfe) == 0xa8;
        bool blank = !string && (*c == ' ' || *c == '\n');
        string = string != (*c == '"');
        if (string && *c == '\\') // what it escapes is part of the string
            i++;
        if (!mark && !line && !blank)
            continue;
        rh_text__add_n(page, data->data + kept, i - kept);
        if (!blank)
            rh_text__format(page, "\\u%04x", mark ? *c : 0x2000u + (c[2] & 0x3f));
        i += line ? 2 : 0;
        kept = i + 1;
    }
    rh_text__add_n(page, data->data + kept, data->n - kept);
}

static void add_element(rh_text *page, const rh_text *data, const rh_report__source *is)
{
    rh_text__format(page, "<script type=\"application/json\" class=\"%s\">", is->class);
    add_data(page, data);
    rh_text__add(page, "</script>\n");
}

static rh_status add_source(rh_text *page, const char *path, const rh_report__source *is,
                            rh_error *err)
{
    rh_text data = {0};
    rh_status rc = read_file(path, is, &data, err);
    if (!rc)
        rc = check_data(path, is, &data, err);
    if (!rc)
        add_element(page, &data, is);
    rh_text__clear(&data);
    return rc;
}

static rh_status add_study(rh_text *page, const char *folder, rh_error *err)
{
    rh_text path = {0};
    size_t n = strlen(folder);
    rh_text__format(&path, "%s%s" RH_REPORT_DATA, folder, n && folder[n - 1] == '/' ? "" : "/");
    rh_status rc = path.bad ? rh_base__no_memory(err, folder)
                            : add_source(page, path.data, &of_study, err);
    rh_text__clear(&path);
    return rc;
}

// The status of a deployment, and where it is.
static rh_status add_deployment(rh_text *page, const char *folder, rh_error *err)
{
    rh_text path = {0}, data = {0}, whole = {0};
    rh_text__format(&path, "%s/status.json", folder);
    rh_status rc = path.bad ? rh_base__no_memory(err, folder)
                            : read_file(path.data, &of_deployment, &data, err);
    if (!rc)
        rc = check_data(path.data, &of_deployment, &data, err);
    rh_text__add(&whole, "{\"folder\": ");
    rh_text__json(&whole, folder);
    rh_text__add(&whole, ", \"status\": ");
    rh_text__add_n(&whole, data.n ? data.data : "", data.n);
    rh_text__add(&whole, "}");
    if (!rc)
        rc = whole.bad ? rh_base__no_memory(err, folder) : RH_OK;
    if (!rc)
        add_element(page, &whole, &of_deployment);
    rh_text__clear(&path);
    rh_text__clear(&data);
    rh_text__clear(&whole);
    return rc;
}

// ---------------------------------------------------------------------------- the page

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

// 'sha256-...' of an asset: the policy wants base 64.
static void add_hash(rh_text *page, const rh_asset *asset)
{
    unsigned char byte[33] = {0};
    char text[45];
    for (int i = 0; i < 32; i++)
        byte[i] =
            (unsigned char)(digit(asset->sha256[2 * i]) * 16 + digit(asset->sha256[2 * i + 1]));
    for (int i = 0; i < 11; i++) {
        unsigned bits =
            (unsigned)byte[3 * i] << 16 | (unsigned)byte[3 * i + 1] << 8 | byte[3 * i + 2];
        for (int k = 0; k < 4; k++)
            text[4 * i + k] = BASE64[bits >> (18 - 6 * k) & 63];
    }
    text[43] = '='; // 32 bytes are 43 digits
    text[44] = 0;
    rh_text__format(page, " 'sha256-%s'", text);
}

static void add_asset(rh_text *page, const char *element, const rh_asset *asset)
{
    rh_text__format(page, "<%s>", element);
    rh_text__add_n(page, asset->begin, (size_t)(asset->end - asset->begin));
    rh_text__format(page, "</%s>\n", element);
}

static void add_head(rh_text *page, const rh_asset *script, int refresh)
{
    rh_text__add(page,
                 "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                 "'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src");
    if (rh_report__charts())
        add_hash(page, &rh_asset__charts);
    add_hash(page, script);
    rh_text__add(page, "; style-src");
    add_hash(page, &rh_asset__style);
    rh_text__add(page, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
                       "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">"
                       "\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    if (refresh > 0)
        rh_text__format(page, "<meta http-equiv=\"refresh\" content=\"%d\">\n", refresh);
    rh_text__add(page, "<title>Rehearse</title>\n");
    add_asset(page, "style", &rh_asset__style);
    rh_text__add(page, "</head>\n<body>\n<main id=\"page\"></main>\n<noscript><p>This page "
                       "draws itself with a script, which this browser does not run. The "
                       "setting to deploy is in best.yaml beside it.</p></noscript>\n");
}

static rh_status write_text(const char *path, const rh_text *text, rh_error *err)
{
    rh_file *file = NULL;
    rh_status rc = rh_file__create(&file, path, err);
    if (rc)
        return rc;
    FILE *out = rh_file__stream(file);
    if (out && fwrite(text->data, 1, text->n, out) == text->n)
        return rh_file__commit(file, err);
    rc =
        rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path), strerror(errno));
    rh_file__discard(file);
    return rc;
}

// The scripts, the end, and the file.
static rh_status finish(rh_text *page, const rh_asset *script, const char *path, rh_error *err)
{
    if (rh_report__charts())
        add_asset(page, "script", &rh_asset__charts);
    add_asset(page, "script", script);
    rh_text__add(page, "</body>\n</html>\n");
    return page->bad ? rh_base__no_memory(err, rh_base__path_tail(path))
                     : write_text(path, page, err);
}

rh_status rh_report_write(const char *path, const char *const *folder, int n, int refresh,
                          rh_error *err)
{
    rh_text page = {0};
    if (n < 1 || n > RH_REPORT_MOST)
        return rh_fail(err, RH_EINVAL, "report: %d studies, expected 1 to %d", n,
                       RH_REPORT_MOST);
    add_head(&page, of_study.script, refresh);
    rh_status rc = RH_OK;
    for (int i = 0; i < n && !rc; i++)
        rc = add_study(&page, folder[i], err);
    if (!rc)
        rc = finish(&page, of_study.script, path, err);
    rh_text__clear(&page);
    return rc;
}

rh_status rh_report__write_deployed(const char *path, const char *study, const char *deployment,
                                    rh_error *err)
{
    rh_text page = {0};
    add_head(&page, of_study.script, 0);
    rh_status rc = add_study(&page, study, err);
    if (!rc)
        rc = add_deployment(&page, deployment, err);
    if (!rc)
        rc = finish(&page, of_study.script, path, err);
    rh_text__clear(&page);
    return rc;
}

rh_status rh_report__write_study(const char *path, const rh_text *data, int refresh,
                                 rh_error *err)
{
    rh_text page = {0};
    add_head(&page, of_study.script, refresh);
    add_element(&page, data, &of_study);
    rh_status rc = finish(&page, of_study.script, path, err);
    rh_text__clear(&page);
    return rc;
}

rh_status rh_report__write_page(const char *path, const char *data, const rh_report__source *is,
                                rh_error *err)
{
    rh_text page = {0};
    add_head(&page, is->script, 0);
    rh_status rc = add_source(&page, data, is, err);
    if (!rc)
        rc = finish(&page, is->script, path, err);
    rh_text__clear(&page);
    return rc;
}
