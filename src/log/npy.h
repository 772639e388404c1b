// npy.h - the head of a NumPy array file, and its numbers.

#ifndef REHEARSE_LOG_NPY_H
#define REHEARSE_LOG_NPY_H

#include "arrays.h"

#define RH_NPY__RANK 32    // dimensions, as in NumPy
#define RH_NPY__HEAD 65536 // bytes of a head that are believed
#define RH_NPY__FIRST 12   // bytes that tell how long the head is

typedef struct rh_npy {
    char kind;    // 'f' 'i' 'u' 'b' numbers, 'U' 'S' texts, 'O' objects, 'V' others
    int size;     // bytes of an element
    bool big;     // the most significant byte comes first
    bool fortran; // the first index runs fastest
    int rank;     //
    int64_t dim[RH_NPY__RANK];
    int64_t count; // elements
    size_t head;   // bytes before the first element
} rh_npy;

// Bytes of the head of which these are the first n; 0 when they are not of an array.
size_t rh_npy__head_size(const unsigned char *bytes, size_t n);

// Read the head, bytes (n). `what` names it in messages: "x.npz: obs.npy".
rh_status rh_npy__parse(rh_npy *out, const unsigned char *bytes, size_t n, const char *what,
                        rh_error *err);

// "float32", "text", ...
const char *rh_npy__type(const rh_npy *npy);

// n elements of raw as numbers.
void rh_npy__numbers(const rh_npy *npy, const unsigned char *raw, int64_t n, double *x);

// One element of kind 'U' or 'S' as UTF-8; false when it does not fit into text (size).
bool rh_npy__text(const rh_npy *npy, const unsigned char *raw, char *text, size_t size);

// Write the head of an array in C order, a multiple of 64 bytes, and return its size.
#define RH_NPY__OWN_HEAD 128
size_t rh_npy__write_head(unsigned char head[RH_NPY__OWN_HEAD], const char *descr, int rank,
                          const int64_t dim[2]);

#endif
