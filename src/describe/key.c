// key.c - reads values by their rows, writes them, and refuses them in one form.
//
// Whole numbers may be written as 1e6. `auto` selects the default where a number could not: 0
// is a value like any other.

#include "key.h"
#include "base/base.h"
#include "base/base_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *rh_key_name(const rh_key *key, int i)
{
    if (key->name)
        return key->name(i);
    for (int k = 0; key->words && key->words[k]; k++)
        if (k == i)
            return key->words[k];
    return NULL;
}

// ---------------------------------------------------------------------------- refusing

rh_status rh_key__tidy(rh_error *err, rh_status rc)
{
    rh_error raw;
    if (err) {
        raw = *err;
        rh_text__printable(raw.text, err->text, sizeof err->text);
    }
    return rc;
}

void rh_key__label(const rh_key__said *said, const rh_yaml *node, const char *sub,
                   char label[RH_KEY__LABEL])
{
    const char *dot = strchr(said->shown, '.'), *name = dot ? dot + 1 : said->shown;
    if (said->file) {
        const char *tail = rh_base__path_tail(said->where);
        size_t n = strlen(tail);
        snprintf(label, RH_KEY__LABEL, "%s:%d: %.64s%s", n > 100 ? tail + n - 100 : tail,
                 node ? node->line : said->value->line, said->shown, sub);
    } else if (!said->where)
        snprintf(label, RH_KEY__LABEL, "%.64s%s", said->shown, sub);
    else if (said->named)
        snprintf(label, RH_KEY__LABEL, "%.64s: %.64s%s", said->where, name, sub);
    else
        snprintf(label, RH_KEY__LABEL, "%.64s", said->where);
}

rh_status rh_key__refuse(const rh_key__said *said, const rh_yaml *node, const char *sub,
                         rh_error *err, const char *expected)
{
    char label[RH_KEY__LABEL], shown[RH_YAML__SHOWN];
    rh_key__label(said, node, sub, label);
    rh_yaml__show(node ? node : said->value, shown);
    rh_status rc = said->file ? RH_EFORMAT : RH_EINVAL;
    return rh_key__tidy(err, rh_fail(err, rc, "%s = %s, expected %s", label, shown, expected));
}

rh_status rh_key__blame(const rh_key__said *said, const rh_yaml *node, rh_error *err,
                        const char *why)
{
    rh_status rc;
    if (said && said->file)
        rc = rh_fail(err, RH_EFORMAT, "%s:%d: %s", rh_base__path_tail(said->where),
                     node ? node->line : said->value->line, why);
    else if (said && said->where)
        rc = rh_fail(err, RH_EINVAL, "%.64s: %s", said->where, why);
    else
        rc = rh_fail(err, RH_EINVAL, "%s", why);
    return rh_key__tidy(err, rc);
}

// 1,000,000
static const char *grouped(int64_t n, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n), to = 0;
    for (int i = 0; i < length; i++) {
        text[to++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length)
            text[to++] = ',';
    }
    text[to] = 0;
    return text;
}

static rh_status refuse_number(const rh_key__row *row, const rh_key__said *said, rh_error *err)
{
    char expected[120], lo[32], hi[32];
    bool endless = row->is.hi == INT64_MAX;
    snprintf(expected, sizeof expected, "a %snumber%s %s%s %s%s%s",
             row->is.type == RH_KEY_WHOLE ? "whole " : "", row->above ? " above" : ",",
             grouped(row->is.lo, lo), row->above ? ", up" : "", endless ? "or more" : "to ",
             endless ? "" : grouped(row->is.hi, hi), row->or_auto ? ", or auto" : "");
    return rh_key__refuse(said, NULL, "", err, expected);
}

// ---------------------------------------------------------------------------- reading

bool rh_key__keep(rh_key__said *said)
{
    const char **text[] = {&said->key, &said->shown, &said->where};
    size_t size = 0;
    for (int i = 0; i < 3; i++)
        size += *text[i] ? strlen(*text[i]) + 1 : 0;
    char *to = said->block = rh_alloc(size, 1);
    for (int i = 0; to && i < 3; i++)
        if (*text[i]) {
            size_t n = strlen(*text[i]) + 1;
            *text[i] = memcpy(to, *text[i], n);
            to += n;
        }
    return said->block != NULL;
}

void rh_key__put(void *field, void *block)
{
    void *old;
    memcpy(&old, field, sizeof old);
    rh_free(old);
    memcpy(field, &block, sizeof block);
}

const char *rh_key__text(const rh_key__said *said)
{
    return said->value->kind == RH_YAML_TEXT ? said->value->text : "";
}

static bool is_auto(const rh_key__row *row, const rh_key__said *said)
{
    return row->or_auto && strcmp(rh_key__text(said), "auto") == 0;
}

static rh_status read_whole(void *field, const rh_key__row *row, const rh_key__said *said,
                            rh_error *err)
{
    uint64_t n = 0;
    if (!is_auto(row, said) && (!rh_yaml__whole(said->value, &n) || n < (uint64_t)row->is.lo ||
                                n > (uint64_t)row->is.hi))
        return refuse_number(row, said, err);
    if (row->size == sizeof(int))
        *(int *)field = (int)n;
    else
        memcpy(field, &n, sizeof n);
    return RH_OK;
}

static rh_status read_real(double *field, const rh_key__row *row, const rh_key__said *said,
                           rh_error *err)
{
    double x = NAN;
    bool usual = is_auto(row, said);
    bool good = rh_yaml__number(said->value, &x) && x >= (double)row->is.lo &&
                x <= (double)row->is.hi && !(row->above && x == (double)row->is.lo);
    if (!usual && !good)
        return refuse_number(row, said, err);
    *field = usual ? NAN : x;
    return RH_OK;
}

static rh_status read_text(void *field, const rh_key__said *said, rh_error *err)
{
    if (!*rh_key__text(said))
        return rh_key__refuse(said, NULL, "", err, "a text");
    char *copy = rh_base__copy(said->value->text);
    if (!copy)
        return rh_base__no_memory(err, said->key);
    rh_key__put(field, copy);
    return RH_OK;
}

rh_status rh_key__choose(int *at, const rh_key__said *said, const char *const *known, int n,
                         rh_error *err)
{
    const rh_yaml *node = said->value;
    bool yes = false, truth = rh_yaml__truth(node, &yes);
    for (int pass = 0; pass < 2; pass++) {
        const char *text = pass ? (yes ? "yes" : "no") : node->text;
        for (int i = 0; i < n && (pass ? truth : node->kind == RH_YAML_TEXT); i++)
            if (strcmp(text, known[i]) == 0) {
                *at = i;
                return RH_OK;
            }
    }
    char label[RH_KEY__LABEL], what[RH_KEY__LABEL + 16], shown[RH_YAML__SHOWN];
    rh_key__label(said, NULL, "", label);
    rh_yaml__show(node, shown);
    snprintf(what, sizeof what, "%s cannot be", label);
    rh_base__unknown(err, what, shown, known, n);
    return said->file ? RH_EFORMAT : RH_EINVAL;
}

// An enum, by the place of its name, or the name itself.
static rh_status read_choice(void *field, const rh_key__row *row, const rh_key__said *said,
                             rh_error *err)
{
    const char *known[RH_KEY__NAMES];
    int at = 0, n = 0;
    for (; n < RH_KEY__NAMES && rh_key_name(&row->is, n); n++)
        known[n] = rh_key_name(&row->is, n);
    rh_status rc = rh_key__choose(&at, said, known, n, err);
    if (!rc && row->size == sizeof at)
        memcpy(field, &at, sizeof at);
    else if (!rc)
        memcpy(field, &known[at], sizeof known[at]);
    return rc;
}

// An entry of a registry, which has its own message.
static rh_status read_entry(void *field, const rh_key__row *row, const rh_key__said *said,
                            rh_error *err)
{
    rh_error why = {""};
    bool usual = is_auto(row, said);
    const void *entry = usual ? NULL : row->find(rh_key__text(said), &why);
    if (!usual && !entry)
        return *rh_key__text(said) ? rh_key__blame(said, NULL, err, why.text)
                                   : rh_key__refuse(said, NULL, "", err, "a name");
    if (row->size)
        memcpy(field, &entry, sizeof entry);
    return RH_OK;
}

static rh_status read_flag(bool *field, const rh_key__said *said, rh_error *err)
{
    static const char *const word[] = {"no", "yes"};
    int at = 0;
    rh_status rc = rh_key__choose(&at, said, word, 2, err);
    if (!rc)
        *field = at == 1;
    return rc;
}

bool rh_key__reads(const rh_key__row *row)
{
    return row && (row->read || row->find || row->size);
}

rh_status rh_key__read(const rh_key__row *row, const rh_key__said *said, void *into,
                       rh_error *err)
{
    void *field = (char *)into + row->at;
    if (row->read)
        return row->read(field, said, err);
    switch (row->is.type) {
    case RH_KEY_WHOLE:
        return read_whole(field, row, said, err);
    case RH_KEY_REAL:
        return read_real(field, row, said, err);
    case RH_KEY_TEXT:
    case RH_KEY_FILE:
        return read_text(field, said, err);
    case RH_KEY_FLAG:
        return read_flag(field, said, err);
    case RH_KEY_CHOICE:
        return row->find ? read_entry(field, row, said, err)
                         : read_choice(field, row, said, err);
    case RH_KEY_PAIRS:
        break;
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- writing

static int64_t whole_of(const rh_key__row *row, const void *field)
{
    int64_t n = 0;
    int small = 0;
    if (row->size == sizeof small)
        memcpy(&small, field, sizeof small);
    else
        memcpy(&n, field, sizeof n);
    return n + small;
}

void rh_key__show(const rh_key__row *row, const void *from, rh_text *text)
{
    const void *field = (const char *)from + row->at, *entry = NULL;
    const char *word = NULL; // the first member of an entry, or the text itself
    double real = NAN;
    if (row->show) {
        row->show(field, text);
        return;
    }
    switch (row->is.type) {
    case RH_KEY_WHOLE:
        if (row->or_auto && whole_of(row, field) == 0)
            rh_text__add(text, "auto");
        else
            rh_text__whole(text, whole_of(row, field));
        break;
    case RH_KEY_REAL:
        memcpy(&real, field, sizeof real);
        if (isnan(real))
            rh_text__add(text, "auto");
        else
            rh_text__number(text, real);
        break;
    case RH_KEY_FLAG:
        rh_text__add(text, *(const bool *)field ? "yes" : "no");
        break;
    case RH_KEY_CHOICE:
        if (row->size == sizeof(int)) {
            rh_text__add(text, rh_key_name(&row->is, (int)whole_of(row, field)));
            break;
        }
        memcpy(&entry, field, sizeof entry);
        if (entry)
            memcpy(&word, entry, sizeof word);
        rh_text__yaml(text, word ? word : "auto");
        break;
    case RH_KEY_TEXT:
    case RH_KEY_FILE:
        memcpy(&word, field, sizeof word);
        rh_text__yaml(text, word ? word : "");
        break;
    case RH_KEY_PAIRS:
        break;
    }
}
