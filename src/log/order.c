// order.c - applies options about the order of rows before they reach the builder.
//
// 1. If rewards belong to states, so do flags: the last row of an episode is its last s', and
//    the action in that row is ignored, because its outcome was not logged.
// 2. Where time runs backwards or jumps, the episode is split: the s' of the step before is
//    unknown, and what follows does not begin in a start state. But if rows do not name their
//    episode and time returns to the episode's first time, a new episode begins.
// 3. A deployment leaves the action and reward of a row out after which observations are
//    missing: these are not filled.

#include "order.h"

#include <math.h>

rh_status rh_order__begin(rh_order *order, rh_error *err)
{
    order->time = order->first = NAN;
    order->over = true;
    bool fills = order->opt->gaps == RH_GAPS_FILL && !order->ours;
    return fills ? rh_log__fill_gaps(order->builder, err) : RH_OK;
}

bool rh_order__begins(const rh_order *order, const rh_log_row *row)
{
    bool again =
        order->timed && !order->named && row->time < order->time && row->time == order->first;
    return row->begins || again || (order->over && (row->act || order->final));
}

bool rh_order__cuts(const rh_order *order, bool begins)
{
    return (begins ? 0 : order->step) + 1 >= order->opt->episode_steps;
}

// Sets begins and resumes of the row; whether it is in the same episode as the row before.
static bool is_inside(rh_order *order, rh_log_row *row)
{
    bool begins = rh_order__begins(order, row);
    bool gap = !begins && !row->resumes && order->timed &&
               (row->time < order->time || row->time - order->time > order->opt->max_gap);
    rh_log_reading *reading = rh_log__reading(order->builder);
    reading->ngap += gap;
    if (gap && row->time < order->time && reading->nreverse++ == 0 && reading->place)
        reading->reverse_at = row->line;
    row->begins = begins;
    row->resumes = row->resumes || gap;

    bool inside = !begins && !row->resumes;
    if (!inside || !isnan(row->time))
        order->time = row->time;
    if (!inside || isnan(order->first))
        order->first = row->time;
    order->final = inside && order->over;
    order->over = row->terminal || row->truncated || (inside && order->over);
    return inside;
}

// Pass a row to the builder, truncating an episode that is long enough.
static rh_status hand_on(rh_order *order, rh_log_row *row, rh_error *err)
{
    row->resumes = row->resumes || (order->resuming && !row->begins);
    if (row->act && !isnan(row->reward)) {
        order->step = row->begins || row->resumes ? 1 : order->step + 1;
        if (order->step >= order->opt->episode_steps && !row->terminal) {
            row->truncated = true;
            order->over = order->over || order->opt->reward_of == RH_REWARD_OF_ACTION;
        }
        if (row->terminal || row->truncated)
            order->step = 0;
        order->resuming = false;
    } else {
        order->resuming = row->resumes;
    }
    return rh_log_push(order->builder, row, err);
}

// Pass on the held row: with its reward, or without an action as the last of its episode.
static rh_status release(rh_order *order, const double *reward, rh_error *err)
{
    if (!order->holding)
        return RH_OK;
    order->holding = false;
    order->held.reward = reward ? *reward : (double)NAN;
    order->held.act = reward ? order->held.act : NULL;
    return hand_on(order, &order->held, err);
}

rh_status rh_order__push(rh_order *order, const rh_log_row *row, rh_error *err)
{
    rh_log_row now = *row;
    bool inside = is_inside(order, &now);
    if (order->opt->reward_of == RH_REWARD_OF_ACTION)
        return hand_on(order, &now, err);

    // the row before gets this row's reward if its episode continues
    bool goes_on = inside && !order->held.terminal && !order->held.truncated;
    rh_status rc = release(order, goes_on ? &now.reward : NULL, err);
    order->held = now;
    order->holding = true;
    return rc;
}

rh_status rh_order__end(rh_order *order, rh_error *err)
{
    return release(order, NULL, err);
}
