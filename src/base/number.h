// number.h - numbers as text: exact both ways, fast, and the same in every locale.

#ifndef REHEARSE_BASE_NUMBER_H
#define REHEARSE_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define RH_NUMBER__SIZE 32 // letters that a printed number never exceeds, and its end

// Read the decimal number that begins at text and ends before end: sign, digits, point,
// exponent. The place after it, or NULL when none begins there. *x is the double nearest to
// it, +-INFINITY when it is beyond all of them.
const char *rh_number__parse(const char *text, const char *end, double *x);

typedef enum rh_number__kind {
    RH_NUMBER,         // also inf, -inf, Infinity
    RH_NUMBER_MISSING, // nothing, or a word that says so: NA, nan, null, -, ...
    RH_NUMBER_BEYOND,  // larger than any double
    RH_NUMBER_TEXT     // anything else
} rh_number__kind;

// What the n letters of a field are. *x is the number, NAN when it is missing.
rh_number__kind rh_number__read(const char *text, size_t n, double *x);

// Write x with the fewest digits that read back as x, the nearest of these; its length.
int rh_number__print(double x, char text[RH_NUMBER__SIZE]);

// 5^e for e = RH_POWERS__LEAST .. RH_POWERS__MOST as the first 128 bits of its binary digits,
// upper half first: cut off, but for e = -27 .. -1 where it is rounded up.
#define RH_POWERS__LEAST (-342)
#define RH_POWERS__MOST 324
extern const uint64_t rh_powers__of_five[RH_POWERS__MOST - RH_POWERS__LEAST + 1][2];

#endif
