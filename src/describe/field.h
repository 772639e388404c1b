// field.h - tables of the fields of results: how rows are written, and what is made from them.
//
// The table of a struct is beside its module:
//
//     #define AT(member) RH_FIELD__AT(rh_fidelity, member)
//     static const rh_field row[] = {
//         {"jump_median", AT(jump), "median steps", "median distance of a stitch"},
//     };
//     static const rh_fields fields = {"fidelity", sizeof(rh_fidelity), RH_FIELD__ROWS(row)};

#ifndef REHEARSE_DESCRIBE_FIELD_H
#define REHEARSE_DESCRIBE_FIELD_H

#include "doc.h"

// Type, offset and size of a member; the type follows from the declaration.
#define RH_FIELD__TYPE(value)                                                                  \
    _Generic((value),                                                                          \
        double: RH_FIELD_REAL,                                                                 \
        int: RH_FIELD_WHOLE,                                                                   \
        long: RH_FIELD_WHOLE,                                                                  \
        long long: RH_FIELD_WHOLE,                                                             \
        bool: RH_FIELD_FLAG,                                                                   \
        char *: RH_FIELD_TEXT,                                                                 \
        const char *: RH_FIELD_TEXT,                                                           \
        default: RH_FIELD_STRUCT)
#define RH_FIELD__OF(type, member) ((type *)0)->member
#define RH_FIELD__IS(as, offset, bytes, far)                                                   \
    .type = (as), .at = (offset), .size = (bytes), .pointer = (far)
#define RH_FIELD__AT(type, member)                                                             \
    RH_FIELD__AS(RH_FIELD__TYPE(RH_FIELD__OF(type, member)), type, member)
// The same as another type, such as RH_FIELD_PLACE.
#define RH_FIELD__AS(as, type, member)                                                         \
    RH_FIELD__IS(as, offsetof(type, member), sizeof(RH_FIELD__OF(type, member)),               \
                 _Generic(&RH_FIELD__OF(type, member), const char **: true, char **: true, default: false))
// A list: an array in the struct, or a pointer to one.
#define RH_FIELD__ARRAY(type, member)                                                          \
    RH_FIELD__IS(RH_FIELD__TYPE(*RH_FIELD__OF(type, member)), offsetof(type, member),          \
                 sizeof *RH_FIELD__OF(type, member), false)
#define RH_FIELD__LIST(type, member)                                                           \
    RH_FIELD__IS(RH_FIELD__TYPE(*RH_FIELD__OF(type, member)), offsetof(type, member),          \
                 sizeof *RH_FIELD__OF(type, member), true)
// The name of the struct's own place in its list; some of its fields; a function.
#define RH_FIELD__SELF(as) RH_FIELD__IS(as, SIZE_MAX, 0, false)
#define RH_FIELD__GROUP RH_FIELD__IS(RH_FIELD_GROUP, 0, 0, false)
#define RH_FIELD__CALL RH_FIELD__IS(RH_FIELD_CALL, 0, 0, false)
#define RH_FIELD__ROWS(rows) .field = (rows), .nfield = (int)(sizeof(rows) / sizeof *(rows))
// The row of an rh_findings.
// NOLINTBEGIN(bugprone-macro-parentheses): the name of a member has none
#define RH_FIELD__FINDINGS(type, member)                                                       \
    "findings", RH_FIELD__LIST(type, member.item), NULL,                                       \
        "what to know before it is used, gravest first",                                       \
        .fields = &rh_field__finding, .count = RH_COUNT_MEMBER, .n = offsetof(type, member.n)
// NOLINTEND(bugprone-macro-parentheses)

extern const rh_fields rh_field__finding;

// Write a struct under a key, or its fields into the open object. data NULL: null.
// Nullable: key, data, names.
void rh_field__write(rh_doc *doc, const char *key, const rh_fields *fields, const void *data,
                     const rh_names *names);
void rh_field__write_within(rh_doc *doc, const rh_fields *fields, const void *data,
                            const rh_names *names);
// The same of a struct within others.
void rh_field__write_at(rh_doc *doc, const char *key, const rh_fields *fields,
                        const rh_field_at *at);
void rh_field__write_list(rh_doc *doc, const char *key, const rh_fields *fields,
                          const void *data, int n, const rh_names *names);

// The numbers of a struct by name, those of structs in it as "reward.mean"; lists are left out.
#define RH_FIELD__NAME 64 // bytes of a name
int rh_field__nnumber(const rh_fields *fields);
void rh_field__get(const rh_fields *fields, const void *data, char (*name)[RH_FIELD__NAME],
                   double *x); // (nnumber)
// One value of a field, as a number; and back. False: x is not possible, nothing is set.
double rh_field__number(const rh_field *f, const void *value);
bool rh_field__set(const rh_field *f, void *value, double x);
// Make all real ones NAN.
void rh_field__forget(const rh_fields *fields, void *data);
// Set a number by its name; a name that is not there is ignored. False: x is not possible.
bool rh_field__put(const rh_fields *fields, void *data, const char *name, double x);

#endif
