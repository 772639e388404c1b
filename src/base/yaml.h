// yaml.h - a small YAML file as a tree of texts, lists and mappings that know their lines.

#ifndef REHEARSE_BASE_YAML_H
#define REHEARSE_BASE_YAML_H

#include "rehearse/base.h"

typedef enum rh_yaml__kind { RH_YAML_TEXT, RH_YAML_LIST, RH_YAML_MAP } rh_yaml__kind;

typedef struct rh_yaml rh_yaml;
struct rh_yaml {
    rh_yaml__kind kind;
    int line;       // from 1; 0: of no file
    bool plain;     // a text without quotes
    char *text;     // of a text, owned
    rh_yaml **key;  // of a mapping: texts, owned         (n)
    rh_yaml **item; // of a list or a mapping, owned      (n)
    int n, room;
};

// The tree of bytes (n). path: for messages. Of an empty file it is a text that says nothing.
// Owned: *out, free with rh_yaml__destroy(). Nullable: err.
rh_status rh_yaml__parse(rh_yaml **out, const void *bytes, size_t n, const char *path,
                         rh_error *err);
void rh_yaml__destroy(rh_yaml *node); // NULL is allowed

// The whole of a file of 1 MB at most. Owned: *bytes. Nullable: err.
rh_status rh_yaml__load(char **bytes, size_t *n, const char *path, rh_error *err);

// A text of n letters; an empty list or mapping. NULL: no memory.
rh_yaml *rh_yaml__text(const char *text, size_t n);
rh_yaml *rh_yaml__branch(rh_yaml__kind kind);
// Both become the tree's, or are destroyed where memory runs out. Nullable: key (of a list),
// to and item (false then).
bool rh_yaml__add(rh_yaml *to, rh_yaml *key, rh_yaml *item);

const rh_yaml *rh_yaml__get(const rh_yaml *map, const char *name); // NULL: none
bool rh_yaml__nothing(const rh_yaml *node);                        // empty, ~ or null

// What a text says, whether in quotes or not: a number as YAML 1.1 and 1.2 write it in
// decimal, a whole number from 0 that a double may not hold, true and false, yes and no.
// False: it does not.
bool rh_yaml__number(const rh_yaml *node, double *x);
bool rh_yaml__whole(const rh_yaml *node, uint64_t *n);
bool rh_yaml__truth(const rh_yaml *node, bool *yes);

// What is there, for a message: cut where it is long, on one line.
#define RH_YAML__SHOWN 48
void rh_yaml__show(const rh_yaml *node, char shown[RH_YAML__SHOWN]);

#endif
