// intern.h - numbers different texts 0, 1, 2, ... in the order in which they come.

#ifndef REHEARSE_LOG_INTERN_H
#define REHEARSE_LOG_INTERN_H

#include "rehearse/base.h"

#define RH_INTERN__MOST 10000 // different texts, as columns of a table

typedef struct rh_intern {
    char **name; // owned                                              (n)
    int n;       //
    int *slot;   // owned: numbers + 1 by the hash of their text, 0: free
} rh_intern;

// False if memory runs out. Clear it afterwards, in either case.
bool rh_intern__init(rh_intern *in);
void rh_intern__clear(rh_intern *in);

// The number of a text, -1: it is new.
int rh_intern__find(const rh_intern *in, const char *text, size_t n);

// The same, and a new text gets one. -1: memory runs out, -2: there are too many.
int rh_intern__add(rh_intern *in, const char *text, size_t n);

#endif
