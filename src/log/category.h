// category.h - sensors whose values are texts.

#ifndef REHEARSE_LOG_CATEGORY_H
#define REHEARSE_LOG_CATEGORY_H

#include "rehearse/log.h"

#define RH_CATEGORY__MOST 64 // different texts

typedef struct rh_category {
    char *label[RH_CATEGORY__MOST]; // owned, in the order of the file
    int n;
} rh_category;

void rh_category__clear(rh_category *category);

// The number of a text (n bytes), which is new or not. -1: there are too many, -2: no memory.
int rh_category__of(rh_category *category, const char *text, size_t n);

// Replace the last sensors of *log, which hold numbers of categories (ncategory), by a number
// for each text. *log is replaced.
rh_status rh_category__expand(rh_log **log, const rh_category *category, int ncategory,
                              const char *path, rh_error *err);

#endif
