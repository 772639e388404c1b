// order.h - applies options about the order of rows, the same for every format: moves rewards
// to the actions they belong to, and ends episodes at gaps in time or after so many steps.

#ifndef REHEARSE_LOG_ORDER_H
#define REHEARSE_LOG_ORDER_H

#include "log_internal.h"

typedef struct rh_order {
    rh_log_builder *builder;   // borrowed
    const rh_log_options *opt; // borrowed
    bool ours;                 // written by us: what is missing was left out on purpose
    bool timed;                // rows carry a time
    bool named;                // rows name their episode
    rh_log_row held;           // waits for its reward
    bool holding;              //
    bool over;                 // the episode has ended
    bool final;                // and the last row was the observation at its end
    bool resuming;             // the next step continues an interrupted episode
    int64_t step;              // steps of the episode so far
    double time, first;        // of the last row and of the episode's first row; NAN: none
} rh_order;

// Prepare for the first row; the caller has set the fields above.
rh_status rh_order__begin(rh_order *order, rh_error *err);

// Whether an episode begins with this row.
bool rh_order__begins(const rh_order *order, const rh_log_row *row);

// Whether the next step will be truncated because its episode is long enough.
bool rh_order__cuts(const rh_order *order, bool begins);

// Push the next row. If rewards belong to states, keep its numbers valid through the next push.
rh_status rh_order__push(rh_order *order, const rh_log_row *row, rh_error *err);

// There are no more rows.
rh_status rh_order__end(rh_order *order, rh_error *err);

#endif
