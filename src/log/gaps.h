// gaps.h - fills short gaps of missing values in rows, before they become transitions.

#ifndef REHEARSE_LOG_GAPS_H
#define REHEARSE_LOG_GAPS_H

#include "rehearse/log.h"

#include "base/text.h"

#define RH_GAPS__MOST 5 // rows of the longest gap that is filled

typedef struct rh_gaps rh_gaps;

// Where rows go when they are as whole as they get.
typedef rh_status (*rh_gaps__sink)(rh_log_builder *builder, const rh_log_row *row,
                                   rh_error *err);

// shape: nobs, nact, nlabel and reward_formula. Owned: *out, free with rh_gaps__destroy().
rh_status rh_gaps__create(rh_gaps **out, const rh_log_shape *shape, rh_log_builder *builder,
                          rh_gaps__sink sink, rh_error *err);
void rh_gaps__destroy(rh_gaps *gaps); // NULL is allowed

// The next row. Its numbers are copied.
rh_status rh_gaps__push(rh_gaps *gaps, const rh_log_row *row, rh_error *err);

// There are no more rows.
rh_status rh_gaps__end(rh_gaps *gaps, rh_error *err);

// How many values were filled.
int64_t rh_gaps__count(const rh_gaps *gaps);

// Say what was filled, "temp 12 interpolated, mode 3 held": columns named as in the log.
void rh_gaps__tell(const rh_gaps *gaps, const rh_log *log, rh_text *text);

#endif
