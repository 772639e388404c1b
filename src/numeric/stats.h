// stats.h - order statistics, and Student's quantiles. rh_summarise() in rehearse/base.h is
// here too.

#ifndef REHEARSE_NUMERIC_STATS_H
#define REHEARSE_NUMERIC_STATS_H

#include <stdint.h>

// Ascending order of doubles, for qsort() too: -0 before 0, so that equal sets sort to equal
// bits.
int rh_stats__ascending(const void *a, const void *b);
void rh_stats__sort(double *x, int64_t n);

// The p-quantile of x (n), linear between order statistics (numpy's default); NAN for n < 1 or
// p outside 0 to 1. x is sorted already, or is sorted here.
double rh_stats__quantile_sorted(const double *x, int64_t n, double p);
double rh_stats__quantile(double *x, int64_t n, double p);

// The middle of x (n >= 1), or the mean of the middle two; sorts x. Differs from the quantile
// in rounding only.
double rh_stats__median(double *x, int64_t n);

// Wilson's 95 % interval of a probability, of which n trials had k; NAN for n < 1.
void rh_stats__wilson(double k, double n, double *lo95, double *hi95);

// The p-quantile of Student's t with df degrees of freedom, 0 < p < 1, df >= 1; otherwise NAN.
double rh_stats__student_quantile(double p, double df);

#endif
