// order.h - rows in their order, on the way to a builder.
//
// What the options say of the order of rows is done here, the same for every format: rewards
// move to the action they came of, and episodes end where time jumps or after so many steps.

#ifndef REHEARSE_LOG_ORDER_H
#define REHEARSE_LOG_ORDER_H

#include "log_internal.h"

typedef struct rh_order {
    rh_log_builder *builder;   // borrowed
    const rh_log_options *opt; // borrowed
    bool timed;                // rows carry a time
    bool named;                // rows say which episode they are of
    rh_log_row held;           // waits for its reward
    bool holding;              //
    bool over;                 // the episode has ended
    bool final;                // and the last row was what was seen at its end
    bool resuming;             // the next step resumes what was going on
    int64_t step;              // steps of the episode so far
    double time, first;        // of the last row, and of the episode's first; NAN: none
} rh_order;

// All is set that the caller has to say; the rest is made ready for the first row.
void rh_order__begin(rh_order *order);

// Whether an episode begins with this row, by what it says or by what was before.
bool rh_order__begins(const rh_order *order, const rh_log_row *row);

// Whether the next step will be cut off because its episode is long enough.
bool rh_order__cuts(const rh_order *order, bool begins);

// The next row. With rewards of states its numbers must stay until the row after it was pushed.
rh_status rh_order__push(rh_order *order, const rh_log_row *row, rh_error *err);

// There are no more rows.
rh_status rh_order__end(rh_order *order, rh_error *err);

#endif
