// maths_series.h - the series of rh_ln(), rh_sin() and rh_cos(), for numbers and for vectors.
//
// A macro declares and computes NAME = c0 + x (c1 + x (c2 + ...)) by Horner's rule; a function
// would need one for each type of vector. The order is fixed, so that a vector has the bits of
// its numbers (src/env/kernel.c).

#ifndef REHEARSE_BASE_MATHS_SERIES_H
#define REHEARSE_BASE_MATHS_SERIES_H

// log(1 + f) = f - f^2/2 + s (f^2/2 + t NAME), with s = f / (2 + f) and t = s^2.
#define RH_MATHS__LN_SERIES(type, name, t)                                                     \
    type name = 2.0 / 19.0 + (t) * (2.0 / 21.0);                                               \
    (name) = 2.0 / 17.0 + (t) * (name);                                                        \
    (name) = 2.0 / 15.0 + (t) * (name);                                                        \
    (name) = 2.0 / 13.0 + (t) * (name);                                                        \
    (name) = 2.0 / 11.0 + (t) * (name);                                                        \
    (name) = 2.0 / 9.0 + (t) * (name);                                                         \
    (name) = 2.0 / 7.0 + (t) * (name);                                                         \
    (name) = 2.0 / 5.0 + (t) * (name);                                                         \
    (name) = 2.0 / 3.0 + (t) * (name)

// Taylor: sin(r) = r + r z NAME, with z = r^2 up to (pi / 4)^2.
#define RH_MATHS__SIN_SERIES(type, name, z)                                                    \
    type name = -1.0 / 1307674368000.0 + (z) * (1.0 / 355687428096000.0);                      \
    (name) = 1.0 / 6227020800.0 + (z) * (name);                                                \
    (name) = -1.0 / 39916800.0 + (z) * (name);                                                 \
    (name) = 1.0 / 362880.0 + (z) * (name);                                                    \
    (name) = -1.0 / 5040.0 + (z) * (name);                                                     \
    (name) = 1.0 / 120.0 + (z) * (name);                                                       \
    (name) = -1.0 / 6.0 + (z) * (name)

// cos(r) = 1 - z / 2 + z^2 NAME.
#define RH_MATHS__COS_SERIES(type, name, z)                                                    \
    type name = -1.0 / 87178291200.0 + (z) * (1.0 / 20922789888000.0);                         \
    (name) = 1.0 / 479001600.0 + (z) * (name);                                                 \
    (name) = -1.0 / 3628800.0 + (z) * (name);                                                  \
    (name) = 1.0 / 40320.0 + (z) * (name);                                                     \
    (name) = -1.0 / 720.0 + (z) * (name);                                                      \
    (name) = 1.0 / 24.0 + (z) * (name)

#endif
