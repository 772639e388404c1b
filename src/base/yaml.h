// yaml.h - a small YAML file as a tree of texts, lists and mappings with line numbers.

#ifndef REHEARSE_BASE_YAML_H
#define REHEARSE_BASE_YAML_H

#include "rehearse/base.h"

typedef enum rh_yaml__kind { RH_YAML_TEXT, RH_YAML_LIST, RH_YAML_MAP } rh_yaml__kind;

typedef struct rh_yaml rh_yaml;
struct rh_yaml {
    rh_yaml__kind kind;
    int line;       // from 1; 0: not from a file
    bool plain;     // a text written without quotes
    char *text;     // of a text, owned
    rh_yaml **key;  // of a mapping: texts, owned         (n)
    rh_yaml **item; // of a list or a mapping, owned      (n)
    int n, room;
};

// Parse bytes (n) into a tree; an empty file gives an empty text. A list may begin with a
// comma:
// [, 47] is [~, 47]. path: for messages.
// Owned: *out, free with rh_yaml__destroy(). Nullable: err.
rh_status rh_yaml__parse(rh_yaml **out, const void *bytes, size_t n, const char *path,
                         rh_error *err);
// The same of a file of at most 1 MB.
rh_status rh_yaml__read(rh_yaml **out, const char *path, rh_error *err);
void rh_yaml__destroy(rh_yaml *node); // NULL is allowed

// A text of n bytes; an empty list or mapping. NULL: out of memory.
rh_yaml *rh_yaml__text(const char *text, size_t n);
rh_yaml *rh_yaml__branch(rh_yaml__kind kind);
// Add an item to a list (key is NULL) or a mapping. The tree takes over both; without memory
// they are destroyed. False: out of memory, or to or item is NULL.
bool rh_yaml__add(rh_yaml *to, rh_yaml *key, rh_yaml *item);

const rh_yaml *rh_yaml__get(const rh_yaml *map, const char *name); // NULL: none
bool rh_yaml__nothing(const rh_yaml *node);                        // empty, ~ or null

// The value of a text, quoted or not: a decimal number; a whole number from 0, exact up to 64
// bits; true and false, yes and no, on and off. False: the text is none.
bool rh_yaml__number(const rh_yaml *node, double *x);
bool rh_yaml__whole(const rh_yaml *node, uint64_t *n);
bool rh_yaml__truth(const rh_yaml *node, bool *yes);

// Paths of a file, as a text or a list of texts: one on each line, relative ones from the
// folder of the file. A path may begin with `before`. Owned: the text; NULL: out of memory, or
// the node is something else.
char *rh_yaml__paths(const rh_yaml *node, const char *file, const char *before);

// A node for a message: on one line, cut where it is long.
#define RH_YAML__SHOWN 48
void rh_yaml__show(const rh_yaml *node, char shown[RH_YAML__SHOWN]);

#endif
