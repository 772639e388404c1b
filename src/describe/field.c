// field.c - writes results by the tables of their fields.

#include "field.h"

#include <string.h>

static const char *severity_word(int severity)
{
    return rh_severity_name((rh_severity)severity);
}

static const char *id_word(int id)
{
    return rh_finding_name((rh_finding_id)id);
}

static const char *origin_word(int origin)
{
    return rh_origin_name((rh_origin)origin);
}

static bool is_accepted(const rh_field_at *at)
{
    return ((const rh_finding *)at->data)->accepted;
}

// Steps, lines and sensors mean something to those who know the log.
static bool has_log(const rh_field_at *at)
{
    return at->names != NULL;
}

#define AT(member) RH_FIELD__AT(rh_finding, member)
#define AS(as, member) RH_FIELD__AS(as, rh_finding, member)
static const rh_field finding[] = {
    {"severity", AS(RH_FIELD_WORD, severity), NULL, "how grave it is", .word = severity_word},
    {"id", AS(RH_FIELD_WORD, id), NULL, "a stable name", .word = id_word},
    {"origin", AS(RH_FIELD_WORD, origin), NULL, "what it was found in", .word = origin_word},
    {"accepted", AT(accepted), NULL, "an error that was accepted by its name",
     .known = is_accepted},
    {"evidence", AT(evidence), NULL, "what was measured"},
    {"remedy", AT(remedy), NULL, "what to do"},
    {"count", AT(count), NULL, "how often; for a shift, by how many rows"},
    {"first_step", AS(RH_FIELD_PLACE, first), NULL, "the first transition concerned",
     .known = has_log},
    {"first_line", AS(RH_FIELD_PLACE, line), NULL, "the first line of the file concerned",
     .known = has_log},
    {"sensor", AS(RH_FIELD_SENSOR, dim), NULL, "the first sensor concerned", .known = has_log},
};

const rh_fields rh_field__finding = {"finding", sizeof(rh_finding), RH_FIELD__ROWS(finding)};

// ---------------------------------------------------------------------------- values

// A bool, an int or an int64_t.
static int64_t whole_at(const void *from, size_t size)
{
    int64_t large = 0;
    int small = 0;
    bool flag = false;
    if (size == sizeof flag) {
        memcpy(&flag, from, sizeof flag);
        return flag;
    }
    if (size == sizeof small) {
        memcpy(&small, from, sizeof small);
        return small;
    }
    memcpy(&large, from, sizeof large);
    return large;
}

// The name of number i; NULL: none.
static const char *name_of(const rh_names *names, rh_field_type type, int64_t i)
{
    if (!names || i < 0)
        return NULL;
    if (type == RH_FIELD_ACTION && names->naction)
        return i < names->naction ? names->action[i] : NULL;
    if (type == RH_FIELD_ACTION)
        return i < names->namount ? names->amount[i] : NULL;
    if (i == names->nsensor && type == RH_FIELD_SENSOR)
        return names->reward;
    if (i >= names->nsensor)
        return NULL;
    return type == RH_FIELD_UNIT ? names->unit[i] : names->sensor[i];
}

static void write_fields(rh_doc *doc, const rh_fields *fields, const rh_field_at *at);

void rh_field__write_at(rh_doc *doc, const char *key, const rh_fields *fields,
                        const rh_field_at *at)
{
    if (!at->data || (fields->known && !fields->known(at))) {
        rh_doc__null(doc, key);
        return;
    }
    rh_doc__open(doc, key, '{', fields->flat);
    write_fields(doc, fields, at);
    rh_doc__close(doc);
}

// One value. index: in its list.
static void write_value(rh_doc *doc, const char *key, const rh_field *f, const char *from,
                        int index, const rh_field_at *at)
{
    double x;
    bool flag;
    const char *text;
    switch (f->type) {
    case RH_FIELD_REAL:
        memcpy(&x, from, sizeof x);
        rh_doc__real(doc, key, x);
        break;
    case RH_FIELD_WHOLE:
        rh_doc__whole(doc, key, whole_at(from, f->size));
        break;
    case RH_FIELD_PLACE:
        rh_doc__place(doc, key, whole_at(from, f->size));
        break;
    case RH_FIELD_FLAG:
        memcpy(&flag, from, sizeof flag);
        rh_doc__flag(doc, key, flag);
        break;
    case RH_FIELD_TEXT:
        if (f->pointer || f->count != RH_COUNT_ONE)
            memcpy(&text, from, sizeof text);
        else
            text = from;
        rh_doc__text(doc, key, text);
        break;
    case RH_FIELD_WORD:
        rh_doc__text(doc, key, f->word((int)whole_at(from, f->size)));
        break;
    case RH_FIELD_SENSOR:
    case RH_FIELD_UNIT:
    case RH_FIELD_ACTION:
        rh_doc__text(doc, key,
                     name_of(at->names, f->type,
                             f->at == SIZE_MAX ? at->index : whole_at(from, f->size)));
        break;
    case RH_FIELD_STRUCT:
        rh_field__write_at(doc, key, f->fields, &(rh_field_at){from, index, at->names, at});
        break;
    case RH_FIELD_GROUP:
        rh_field__write_at(doc, key, f->fields, at);
        break;
    case RH_FIELD_CALL:
        f->call(doc, key, at);
        break;
    }
}

// ---------------------------------------------------------------------------- lists

static int count_of(const rh_field *f, const rh_field_at *at)
{
    switch (f->count) {
    case RH_COUNT_FIXED:
        return (int)f->n;
    case RH_COUNT_MEMBER:
        return (int)whole_at((const char *)at->data + f->n, sizeof(int));
    case RH_COUNT_OUTER:
        return at->outer ? (int)whole_at((const char *)at->outer->data + f->n, sizeof(int)) : 0;
    case RH_COUNT_SENSORS:
        return at->names ? at->names->nsensor : 0;
    case RH_COUNT_ACTIONS:
        return at->names ? at->names->naction : 0;
    case RH_COUNT_AMOUNTS:
        return at->names ? at->names->namount : 0;
    case RH_COUNT_ONE:
        break;
    }
    return 1;
}

static void write_list(rh_doc *doc, const rh_field *f, const rh_field_at *at)
{
    const char *field = (const char *)at->data + f->at, *from = field;
    int n = count_of(f, at);
    if (f->pointer)
        memcpy(&from, field, sizeof from);
    rh_doc__open(doc, f->name, '[', f->type != RH_FIELD_STRUCT && f->type != RH_FIELD_TEXT);
    for (int i = 0; i < n; i++)
        write_value(doc, NULL, f, from + (size_t)i * f->size, i, at);
    rh_doc__close(doc);
}

// ---------------------------------------------------------------------------- structs

static void write_fields(rh_doc *doc, const rh_fields *fields, const rh_field_at *at)
{
    for (int i = 0; i < fields->nfield; i++) {
        const rh_field *f = &fields->field[i];
        if (f->hidden || (f->known && !f->known(at)))
            continue;
        doc->unit = f->unit;
        if (f->count == RH_COUNT_ONE)
            write_value(doc, f->name, f,
                        (const char *)at->data + (f->at == SIZE_MAX ? 0 : f->at), 0, at);
        else
            write_list(doc, f, at);
    }
    doc->unit = NULL;
}

void rh_field__write(rh_doc *doc, const char *key, const rh_fields *fields, const void *data,
                     const rh_names *names)
{
    rh_field__write_at(doc, key, fields, &(rh_field_at){data, 0, names, NULL});
}

void rh_field__write_within(rh_doc *doc, const rh_fields *fields, const void *data,
                            const rh_names *names)
{
    write_fields(doc, fields, &(rh_field_at){data, 0, names, NULL});
}

void rh_field__write_list(rh_doc *doc, const char *key, const rh_fields *fields,
                          const void *data, int n, const rh_names *names)
{
    rh_doc__open(doc, key, '[', false);
    for (int i = 0; i < n; i++)
        rh_field__write_at(
            doc, NULL, fields,
            &(rh_field_at){(const char *)data + (size_t)i * fields->size, i, names, NULL});
    rh_doc__close(doc);
}

char *rh_describe(rh_doc_form form, const rh_fields *fields, const void *data,
                  const rh_names *names)
{
    rh_text text = {0};
    rh_field__write(&(rh_doc){.text = &text, .form = form}, NULL, fields, data, names);
    if (text.bad)
        rh_text__clear(&text);
    return text.data;
}
