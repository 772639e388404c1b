// key.h - rows of keys with the fields that they fill: one reader, one writer, one refusal.
//
//     a file, an option, a keyword ──▶ rh_key__said ──read──▶ field ──show──▶ text
//                                           ▲                            ▲
//                                           └─────── rh_key__row ────────┘
//
// A value is refused as "<where>: <key> = <found>, expected <range>", wherever it was set.

#ifndef REHEARSE_DESCRIBE_KEY_H
#define REHEARSE_DESCRIBE_KEY_H

#include "base/text.h"
#include "base/yaml.h"
#include "rehearse/key.h"

// A value and where it was set. The value and texts are borrowed.
typedef struct rh_key__said {
    const char *key;      // "evaluation.runs"
    const char *shown;    // the key as it was written
    const rh_yaml *value; //
    const char *where;    // the file, or what opens a message; NULL: nothing does
    int file;             // which of the files read, from 1; 0: none
    bool named;           // where does not name the key itself: "--set: alpha"
    char *block;          // owned: the texts, once they are kept
} rh_key__said;

// Copy the texts into a block of its own. False: out of memory.
bool rh_key__keep(rh_key__said *said);

// A row, and what its value fills.
typedef struct rh_key__row {
    rh_key is;
    size_t at, size; // the field: its offset and size; size 0: none. Of a choice an int, or a
                     // pointer to the name
    bool above;      // a number above lo, not lo itself
    bool or_auto;    // `auto` is accepted: 0, of a real NAN, of a registry NULL
    // Of a choice from a registry: the entry, whose first member is its name, or NULL and a
    // message. The field points to it.
    const void *(*find)(const char *name, rh_error *err);
    // A value that the type alone does not describe, and its text; NULL: by type. Without a
    // field, of the struct itself.
    rh_status (*read)(void *field, const rh_key__said *said, rh_error *err);
    void (*show)(const void *field, rh_text *text);
} rh_key__row;

// Whether a value can be read as soon as it is set.
bool rh_key__reads(const rh_key__row *row);

// Read a value into the row's field of `into`. A text is copied and owned; the old one is
// freed.
rh_status rh_key__read(const rh_key__row *row, const rh_key__said *said, void *into,
                       rh_error *err);

// Append the field as a file has it.
void rh_key__show(const rh_key__row *row, const void *from, rh_text *text);

// Put an owned block into a field that points to one, whose old block is freed.
void rh_key__put(void *field, void *block);

// One of the names (n) of a choice; true and false stand for yes and no.
#define RH_KEY__NAMES 64 // most names of a choice
rh_status rh_key__choose(int *at, const rh_key__said *said, const char *const *known, int n,
                         rh_error *err);

const char *rh_key__text(const rh_key__said *said); // the value's text; "" of a list or mapping

// ---------------------------------------------------------------------------- refusing

// Where a key was set: "study.yaml:7: evaluation.runs", "--runs", "--set: alpha". node: a part
// of the value, or NULL for the whole; sub: behind the key (".min"), or "".
#define RH_KEY__LABEL 200
void rh_key__label(const rh_key__said *said, const rh_yaml *node, const char *sub,
                   char label[RH_KEY__LABEL]);

// "<label> = <found>, expected ..."
rh_status rh_key__refuse(const rh_key__said *said, const rh_yaml *node, const char *sub,
                         rh_error *err, const char *expected);
// "<file:line or where>: <why>", or why alone where it is not known where it was set. said is
// nullable.
rh_status rh_key__blame(const rh_key__said *said, const rh_yaml *node, rh_error *err,
                        const char *why);
// The message on one line: it holds names and texts of users. Returns rc.
rh_status rh_key__tidy(rh_error *err, rh_status rc);

#endif
