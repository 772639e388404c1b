// hdf5_wire.h - what the library and its helper program rehearse-hdf5 say to each other.
//
// Reading: a request is a head and a text; the answer is a head and bytes. Both programs are of
// one build on one machine, so integers and doubles are sent as they are. The helper may have
// been taken over by the file it reads: the library checks every count and size that it sends.
//
// Writing: the library sends what is to be written, without waiting for answers. There are two:
// when the file exists, and after RH_WIRE_MAKE_END. A helper that cannot write ends.

#ifndef REHEARSE_LOG_HDF5_WIRE_H
#define REHEARSE_LOG_HDF5_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#define RH_WIRE__VERSION 0x52480001U // begins every answer
#define RH_WIRE__LOG 3               // the log's descriptor in the helper; 0 is the socket
#define RH_WIRE__RANK 32             // most dimensions of a dataset
#define RH_WIRE__SMALL 4096          // numbers that are sent when a dataset is opened
#define RH_WIRE__TEXT 1024           // most bytes of a request's text
#define RH_WIRE__UNWRITTEN 3         // exit code of a helper that could not write

typedef enum rh_wire__op {
    RH_WIRE_KIND,   // "name": a = what it is
    RH_WIRE_NAMES,  // "group", n at most: a names, each with its end
    RH_WIRE_OPEN,   // "name": a = id, b = type, c = rank, -1: no space; dim (rank), numbers
    RH_WIRE_LOAD,   // id, first, n: numbers
    RH_WIRE_SHUT,   // id; not answered
    RH_WIRE_NUMBER, // "object" "name" of an attribute: one number, or nothing
    RH_WIRE_STRING  // "object" "name" of an attribute: text with its end, or nothing
} rh_wire__op;

// What a name stands for.
typedef enum rh_hdf5__type_kind {
    RH_HDF5_NOTHING,
    RH_HDF5_GROUP,
    RH_HDF5_DATASET,
    RH_HDF5_OUTSIDE, // an external link, which is not followed
    RH_HDF5_OTHER,
    RH_HDF5_NKIND
} rh_hdf5__type_kind;

// Elements of a dataset that is written, little-endian.
typedef enum rh_hdf5__type {
    RH_HDF5_DOUBLE,
    RH_HDF5_INT64,
    RH_HDF5_BOOL // h5py's bool
} rh_hdf5__type;

typedef struct rh_wire__ask {
    uint32_t op, size; // size: bytes of text
    int64_t id, first, n;
} rh_wire__ask;

typedef enum rh_wire__make_op {
    RH_WIRE_MAKE_FILE,
    RH_WIRE_MAKE_GROUP,  // "name"
    RH_WIRE_MAKE_NUMBER, // "object" "name" of an attribute, n = its value
    RH_WIRE_MAKE_TEXT,   // "object" "name" of an attribute; n bytes follow
    RH_WIRE_MAKE_ARRAY,  // "name", type, rank, n, width; the elements follow
    RH_WIRE_MAKE_END     // answered
} rh_wire__make_op;

typedef struct rh_wire__make {
    uint32_t op, size;   // size: bytes of text
    uint32_t type, rank; // type: an rh_hdf5__type
    int64_t n, width;    // rows, and elements of one
} rh_wire__make;

typedef enum rh_wire__fault {
    RH_WIRE_SOUND,
    RH_WIRE_MISSING,    // there is no such dataset or group
    RH_WIRE_UNREADABLE, // it is there, but cannot be opened or read
    RH_WIRE_SHAPE,      // its shape cannot be read
    RH_WIRE_UNWRITTEN,  // far more numbers than stored bytes (a)
    RH_WIRE_LINKED,     // an external link leads to it
    RH_WIRE_EXTERNAL,   // its numbers are in other files
    RH_WIRE_VIRTUAL,    // it is put together from other datasets
    RH_WIRE_FILTER,     // packed with a filter that is not known (a; its name)
    RH_WIRE_DAMAGED,    // the stored bytes do not fill it, or cannot be unpacked
    RH_WIRE_MEMORY,     // out of memory
    RH_WIRE_NFAULT
} rh_wire__fault;

typedef struct rh_wire__answer {
    uint32_t version, fault;
    int64_t a, b, c;
    uint64_t size; // bytes that follow
} rh_wire__answer;

// Types of datasets, by number.
typedef struct rh_wire__type {
    const char *name;
    bool numeric, whole;
} rh_wire__type;

static const rh_wire__type rh_wire__types[] = {
    {"int8", true, true},
    {"int16", true, true},
    {"int32", true, true},
    {"int64", true, true},
    {"uint8", true, true},
    {"uint16", true, true},
    {"uint32", true, true},
    {"uint64", true, true},
    {"float8", true, false},
    {"float16", true, false},
    {"float32", true, false},
    {"float64", true, false},
    {"bool", true, true},
    {"named numbers", true, true},
    {"integers of an odd size", false, true},
    {"long doubles", false, false},
    {"text", false, true},
    {"records", false, true},
    {"references", false, true},
    {"lists of different lengths", false, true},
    {"small arrays", false, true},
    {"bit fields", false, true},
    {"bytes without a type", false, true},
};

#define RH_WIRE__NTYPE ((int)(sizeof rh_wire__types / sizeof *rh_wire__types))

#endif
