// doc.h - writes a document as it goes: JSON, YAML, or words for people.
//
// Inside an object `key` is the name, inside a list NULL. A group opened `flat` is on one line.

#ifndef REHEARSE_DESCRIBE_DOC_H
#define REHEARSE_DESCRIBE_DOC_H

#include "base/text.h"
#include "rehearse/describe.h"

struct rh_doc {
    FILE *out;     // where to, or
    rh_text *text; // a text; its `bad` says that memory ran out
    rh_doc_form form;
    const char *unit; // of the next value, in words; NULL: none
    int depth, flat;  // flat: depth from which lines are not broken, 0 for none
    bool more;        // the group is not empty
    bool item;        // the group is an item of a list: its first line is begun
    char closing[16]; // of the open groups
};

void rh_doc__open(rh_doc *doc, const char *key, char bracket, bool flat);
void rh_doc__close(rh_doc *doc);
void rh_doc__text(rh_doc *doc, const char *key, const char *text); // null for NULL
void rh_doc__whole(rh_doc *doc, const char *key, int64_t n);
void rh_doc__place(rh_doc *doc, const char *key, int64_t n); // null when negative
void rh_doc__real(rh_doc *doc, const char *key, double x);   // null when not finite
void rh_doc__short(rh_doc *doc, const char *key, double x);  // 5 digits
void rh_doc__flag(rh_doc *doc, const char *key, bool flag);
void rh_doc__null(rh_doc *doc, const char *key);
void rh_doc__reals(rh_doc *doc, const char *key, const double *x, int n);
void rh_doc__shorts(rh_doc *doc, const char *key, const double *x, int n);
void rh_doc__param(rh_doc *doc, const rh_param *param, double value);
// An object of parameters, without those to skip. Nullable: skip (nparam).
void rh_doc__params(rh_doc *doc, const char *key, const rh_param *param, int nparam,
                    const double *value, const bool *skip);

#endif
