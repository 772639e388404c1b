// number.h - numbers as text: exact both ways, fast, and the same in every locale.

#ifndef REHEARSE_BASE_NUMBER_H
#define REHEARSE_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define RH_NUMBER__SIZE 32 // bytes of the longest printed number and its closing 0

// Read the decimal number from text to before end: sign, digits, point, exponent. Returns the
// place after it, or NULL. *x is the nearest double, +-INFINITY beyond all doubles.
const char *rh_number__parse(const char *text, const char *end, double *x);

typedef enum rh_number__kind {
    RH_NUMBER,         // also inf, -inf, Infinity
    RH_NUMBER_MISSING, // nothing, or a word for it: NA, nan, null, -, ...
    RH_NUMBER_BEYOND,  // larger than any double
    RH_NUMBER_TEXT     // anything else
} rh_number__kind;

// Classify the n bytes of a field. *x is the number, NAN when it is missing.
rh_number__kind rh_number__read(const char *text, size_t n, double *x);

// Write x with the fewest digits that read back as x. Returns the length.
int rh_number__print(double x, char text[RH_NUMBER__SIZE]);
// The same for JSON, which has no word for what is not finite: null.
int rh_number__json(double x, char text[RH_NUMBER__SIZE]);

// The first 128 bits of 5^e for e = RH_POWERS__LEAST .. RH_POWERS__MOST, upper half first.
// Truncated, except for e = -27 .. -1, where they are rounded up.
#define RH_POWERS__LEAST (-342)
#define RH_POWERS__MOST 324
const uint64_t *rh_powers__of_five(int e);

#endif
