// describe.h - results field by field: names, types, units, meanings.
//
// Each result of the library has one table with a row per field. JSON, words, YAML, model files
// and the Python package are made from it. A table is constant and may be read by any thread.

#ifndef REHEARSE_DESCRIBE_H
#define REHEARSE_DESCRIBE_H

#include "rehearse/contract.h"

typedef struct rh_fields rh_fields;

typedef enum rh_field_type {
    RH_FIELD_REAL,   // double; unknown where it is not finite
    RH_FIELD_WHOLE,  // int or int64_t
    RH_FIELD_PLACE,  // the same; unknown below 0
    RH_FIELD_FLAG,   // bool
    RH_FIELD_TEXT,   // const char *, unknown where it is NULL, or char[]
    RH_FIELD_WORD,   // an enum, each value a word
    RH_FIELD_SENSOR, // int or the place in the list: a sensor's name; after the last the
                     // reward's
    RH_FIELD_UNIT,   // the same: a sensor's unit
    RH_FIELD_ACTION, // the same: an action's name
    RH_FIELD_STRUCT, // a struct with a table of its own
    RH_FIELD_GROUP,  // some fields of the same struct, under a name
    RH_FIELD_CALL    // written by a function
} rh_field_type;

// How many values a field has.
typedef enum rh_field_count {
    RH_COUNT_ONE,     // one; the others are lists
    RH_COUNT_FIXED,   // n
    RH_COUNT_MEMBER,  // an int at offset n of the struct
    RH_COUNT_OUTER,   // an int at offset n of the struct around it
    RH_COUNT_SENSORS, // as many as there are sensors
    RH_COUNT_ACTIONS, // or discrete actions,
    RH_COUNT_AMOUNTS  // or numbers of a continuous action
} rh_field_count;

// What indices in a result refer to; of a log, see rh_log_names().
typedef struct rh_names {
    int nsensor;               // sensors
    const char *const *sensor; // their names                                  (nsensor)
    const char *const *unit;   // their units                                  (nsensor)
    const char *reward;        //
    int naction;               // discrete actions; 0: actions are continuous
    const char *const *action; // their names                                  (naction)
    int namount;               // numbers of a continuous action; 0: actions are discrete
    const char *const *amount; // their names                                  (namount)
} rh_names;

// A struct within a result.
typedef struct rh_field_at {
    const void *data;                // the struct
    int index;                       // its place in a list
    const rh_names *names;           // NULL: unknown
    const struct rh_field_at *outer; // the struct around it; NULL: none
} rh_field_at;

typedef struct rh_doc rh_doc; // a document that is being written

typedef struct rh_field {
    const char *name;                     // key in JSON and files, attribute in Python
    rh_field_type type;                   //
    size_t at, size;                      // offset in the struct, bytes of a value
    bool pointer;                         // the struct has a pointer to the values of a list
    const char *unit;                     // NULL: none, or that of the log's column
    const char *about;                    // what it is
    const rh_fields *fields;              // RH_FIELD_STRUCT, RH_FIELD_GROUP
    const char *(*word)(int value);       // RH_FIELD_WORD
    rh_field_count count;                 //
    size_t n;                             // of count
    bool hidden;                          // in files only
    bool (*known)(const rh_field_at *at); // false: left out; NULL: always there
    void (*call)(rh_doc *doc, const char *name, const rh_field_at *at); // RH_FIELD_CALL
} rh_field;

struct rh_fields {
    const char *name;
    size_t size;                          // bytes of the struct
    const rh_field *field;                //                                    (nfield)
    int nfield;                           //
    bool flat;                            // on one line
    bool (*known)(const rh_field_at *at); // false: null; NULL: always there
};

typedef enum rh_doc_form { RH_DOC_JSON, RH_DOC_YAML, RH_DOC_WORDS } rh_doc_form;

// A result as text, written field by field; data NULL: null. Owned: the text, free with
// rh_free(); NULL without memory. Nullable: data, names.
RH_API char *rh_describe(rh_doc_form form, const rh_fields *fields, const void *data,
                         const rh_names *names);

#endif
