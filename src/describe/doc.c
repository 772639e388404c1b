// doc.c - writes a document as it goes: JSON, YAML, or words for people.
//
// 1. Numbers have the fewest digits that read back to the same bits. jansson 2.14 writes 17
//    digits, and a learning rate of 0.1 becomes 0.10000000000000001. Words have four digits.
// 2. Numbers that are not finite become null: JSON has no word for them, and YAML's .inf and
//    .nan are read as text by some programs. So does PyYAML read 1e-05: there a number with an
//    exponent has a point.
// 3. Bytes that are not UTF-8 become U+FFFD, so that the document is valid for a Latin-1 log.
// 4. Words are laid out as YAML is, with labels in a column and without quotes.

#include "doc.h"

#include "base/base.h"
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LABEL 30 // columns of a label in words

static void put(rh_doc *doc, const char *text)
{
    if (doc->text)
        rh_text__add(doc->text, text);
    else
        fputs(text, doc->out);
}

static void quote(rh_doc *doc, const char *value)
{
    rh_text own = {0}, *text = doc->text ? doc->text : &own;
    if (doc->form == RH_DOC_JSON)
        rh_text__json(text, value);
    else if (doc->form == RH_DOC_YAML)
        rh_text__yaml(text, value);
    else
        rh_text__add(text, value);
    if (!doc->text)
        put(doc, text->bad ? "null" : text->data ? text->data : "");
    rh_text__clear(&own);
}

// ---------------------------------------------------------------------------- layout

static bool is_flat(const rh_doc *doc)
{
    return doc->flat && doc->depth >= doc->flat;
}

static void new_line(rh_doc *doc, int depth)
{
    put(doc, "\n");
    for (int i = 0; i < depth; i++)
        put(doc, "  ");
}

// "held out" of held_out, and blanks up to the column of a value.
static void put_label(rh_doc *doc, const char *key, bool block)
{
    char label[80];
    int n = snprintf(label, sizeof label, "%s", key);
    for (char *c = label; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    put(doc, label);
    for (n += 2 * (doc->depth - 1); n < LABEL - 1 && !block && !is_flat(doc); n++)
        put(doc, " ");
}

static void begin_json(rh_doc *doc, const char *key)
{
    if (doc->more)
        put(doc, is_flat(doc) ? ", " : ",");
    if (doc->depth > 0 && !is_flat(doc))
        new_line(doc, doc->depth);
    if (key) {
        quote(doc, key);
        put(doc, ": ");
    }
}

// A line of its own, or its part of a flat one: what comes before a value.
static void begin_line(rh_doc *doc, const char *key, bool block)
{
    bool words = doc->form == RH_DOC_WORDS;
    if (is_flat(doc))
        put(doc, doc->more ? ", " : "");
    else if (doc->item && !doc->more)
        put(doc, " ");
    else if (doc->depth > 1 || doc->more)
        new_line(doc, doc->depth - 1);
    if (!key)
        put(doc, is_flat(doc) || doc->depth == 0 ? "" : "-");
    else if (words)
        put_label(doc, key, block);
    else {
        quote(doc, key);
        put(doc, ":");
    }
}

// The comma, the new line and the key before a value; block: a group of several lines follows.
static void begin(rh_doc *doc, const char *key, bool block)
{
    if (doc->form == RH_DOC_JSON)
        begin_json(doc, key);
    else {
        begin_line(doc, key, block);
        if (!block && (key || !is_flat(doc)))
            put(doc, " ");
    }
    doc->more = true;
}

// ---------------------------------------------------------------------------- groups

void rh_doc__open(rh_doc *doc, const char *key, char bracket, bool flat)
{
    bool block = doc->form != RH_DOC_JSON && !flat && !is_flat(doc);
    bool item = block && !key && doc->depth > 0;
    begin(doc, key, block);
    if (!block && doc->form != RH_DOC_WORDS)
        put(doc, bracket == '{' ? "{" : "[");
    assert(doc->depth < (int)sizeof doc->closing);
    doc->closing[doc->depth++] = bracket == '{' ? '}' : ']';
    if (flat && !doc->flat)
        doc->flat = doc->depth;
    doc->more = false;
    doc->item = item;
}

void rh_doc__close(rh_doc *doc)
{
    const char closing[] = {doc->closing[doc->depth - 1], 0};
    bool flat = is_flat(doc), words = doc->form == RH_DOC_WORDS;
    if (doc->flat == doc->depth)
        doc->flat = 0;
    doc->depth--;
    if (doc->form == RH_DOC_JSON && doc->more && !flat)
        new_line(doc, doc->depth);
    if (doc->form == RH_DOC_JSON || (flat && !words))
        put(doc, closing);
    else if (!doc->more)
        put(doc, words ? "-" : *closing == '}' ? " {}" : " []");
    if (doc->depth == 0)
        put(doc, "\n");
    doc->more = true;
    doc->item = false;
}

// ---------------------------------------------------------------------------- values

// A value that needs no quotes.
static void value(rh_doc *doc, const char *key, const char *text)
{
    begin(doc, key, false);
    put(doc, text);
    if (doc->form == RH_DOC_WORDS && doc->unit) {
        put(doc, " ");
        put(doc, doc->unit);
    }
}

void rh_doc__text(rh_doc *doc, const char *key, const char *text)
{
    if (!text) {
        rh_doc__null(doc, key);
        return;
    }
    begin(doc, key, false);
    quote(doc, text);
}

void rh_doc__whole(rh_doc *doc, const char *key, int64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, n);
    value(doc, key, text);
}

void rh_doc__place(rh_doc *doc, const char *key, int64_t n)
{
    if (n < 0)
        rh_doc__null(doc, key);
    else
        rh_doc__whole(doc, key, n);
}

void rh_doc__null(rh_doc *doc, const char *key)
{
    begin(doc, key, false);
    put(doc, doc->form == RH_DOC_WORDS ? "-" : "null");
}

void rh_doc__real(rh_doc *doc, const char *key, double x)
{
    char text[RH_NUMBER__SIZE + 2];
    rh_number__json(x + 0.0, text);
    if (!isfinite(x)) {
        rh_doc__null(doc, key);
        return;
    }
    char *e = strchr(text, 'e');
    if (doc->form == RH_DOC_WORDS)
        snprintf(text, sizeof text, "%.4g", x + 0.0);
    else if (doc->form == RH_DOC_YAML && e && !strchr(text, '.')) {
        memmove(e + 2, e, strlen(e) + 1);
        memcpy(e, ".0", 2);
    }
    value(doc, key, text);
}

void rh_doc__short(rh_doc *doc, const char *key, double x)
{
    char text[RH_NUMBER__SIZE];
    snprintf(text, sizeof text, "%.5g", x + 0.0);
    if (isfinite(x))
        value(doc, key, text);
    else
        rh_doc__null(doc, key);
}

void rh_doc__flag(rh_doc *doc, const char *key, bool flag)
{
    if (doc->form == RH_DOC_WORDS)
        value(doc, key, flag ? "yes" : "no");
    else
        value(doc, key, flag ? "true" : "false");
}

void rh_doc__reals(rh_doc *doc, const char *key, const double *x, int n)
{
    rh_doc__open(doc, key, '[', true);
    for (int i = 0; i < n; i++)
        rh_doc__real(doc, NULL, x[i]);
    rh_doc__close(doc);
}

void rh_doc__shorts(rh_doc *doc, const char *key, const double *x, int n)
{
    rh_doc__open(doc, key, '[', true);
    for (int i = 0; i < n; i++)
        rh_doc__short(doc, NULL, x[i]);
    rh_doc__close(doc);
}

// ---------------------------------------------------------------------------- parameters

void rh_doc__param(rh_doc *doc, const rh_param *param, double x)
{
    char text[40];
    if (!param->choice) {
        rh_doc__real(doc, param->name, x);
        return;
    }
    rh_param__format(param, x, text, sizeof text);
    rh_doc__text(doc, param->name, text);
}

void rh_doc__params(rh_doc *doc, const char *key, const rh_param *param, int nparam,
                    const double *x, const bool *skip)
{
    rh_doc__open(doc, key, '{', true);
    for (int i = 0; i < nparam; i++)
        if (!skip || !skip[i])
            rh_doc__param(doc, &param[i], x[i]);
    rh_doc__close(doc);
}
