// npy.h - the header and the elements of a NumPy array file.

#ifndef REHEARSE_LOG_NPY_H
#define REHEARSE_LOG_NPY_H

#include "arrays.h"

#define RH_NPY__RANK 32    // dimensions, as in NumPy
#define RH_NPY__HEAD 65536 // most bytes of a header
#define RH_NPY__FIRST 12   // bytes needed to know the header's size

typedef struct rh_npy {
    char kind;    // 'f' 'i' 'u' 'b' numbers, 'U' 'S' texts, 'O' objects, 'V' others
    int size;     // bytes of an element
    bool big;     // big-endian
    bool fortran; // Fortran order: the first index varies fastest
    int rank;     //
    int64_t dim[RH_NPY__RANK];
    int64_t count; // elements
    size_t head;   // bytes before the first element
} rh_npy;

// Size of the header, from its first n bytes; 0 if it is no array.
size_t rh_npy__head_size(const unsigned char *bytes, size_t n);

// Parse the header, bytes (n). what: for messages, "x.npz: obs.npy".
rh_status rh_npy__parse(rh_npy *out, const unsigned char *bytes, size_t n, const char *what,
                        rh_error *err);

// "float32", "text", ...
const char *rh_npy__type(const rh_npy *npy);

// Convert n elements of raw to numbers.
void rh_npy__numbers(const rh_npy *npy, const unsigned char *raw, int64_t n, double *x);

// One element of kind 'U' or 'S' as UTF-8; false if it does not fit into text (size).
bool rh_npy__text(const rh_npy *npy, const unsigned char *raw, char *text, size_t size);

// Write the header of an array in C order, a multiple of 64 bytes, and return its size.
#define RH_NPY__OWN_HEAD 128
size_t rh_npy__write_head(unsigned char head[RH_NPY__OWN_HEAD], const char *descr, int rank,
                          const int64_t dim[2]);

#endif
