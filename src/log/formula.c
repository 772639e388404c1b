// formula.c - a reward's formula in terms of the log, so that a model can compute rewards.
//
//     plant.csv:  -abs(T_tank - 20) - 0.1*valve      log:  -abs(obs[2] - 20) - 0.1*act[0]
//
// 1. A row's reward belongs to its own action: then its observations are s, its actions a, and
//    its columns of s' are s'.
// 2. A trip's cost, -50 of "-energy - 50*trip", is the difference that the terminal flag
//    makes. It is known although the log of a good controller has no trip.
// 3. With --reward-of state it belongs to the action of the row before, whose s' is this row:
//    observations are s', and actions are of a later step, so that no formula is kept. Nor is
//    one kept where rows have an s' of their own, which need not be the next row.

#include "formula.h"

#include "base/text.h"
#include "log_internal.h"

#include <math.h>
#include <stdio.h>

#define NAME 20   // bytes of "next[255]"
#define SAME 1e-9 // share of the numbers: rounding errors

static bool is_kept(const rh_formula__place *place, rh_reward_of of, bool given)
{
    if (of == RH_REWARD_OF_STATE)
        return place->side == RH_FORMULA_OBS && !given;
    return place->side != RH_FORMULA_NOWHERE;
}

rh_status rh_formula__write(char **out, const rh_expression *e, const char *text,
                            const rh_formula__place *place, int n, rh_reward_of of, bool given,
                            rh_error *err)
{
    rh_status rc = RH_OK;
    char *room = NULL;
    const char **name = NULL;
    *out = NULL;
    for (int i = 0; i < e->nspan; i++)
        if (!is_kept(&place[e->span[i].column], of, given))
            return RH_OK;
    if (e->nspan == 0)
        return RH_OK;
    name = rh_alloc((size_t)n, sizeof *name);
    room = rh_alloc((size_t)e->nspan, NAME);
    if (!name || !room) {
        rc = rh_base__no_memory(err, "reward");
        goto done;
    }
    for (int i = 0; i < e->nspan; i++) {
        static const char *const side[] = {"", "obs", "act", "next"};
        int column = e->span[i].column;
        rh_formula__side at = of == RH_REWARD_OF_STATE ? RH_FORMULA_NEXT : place[column].side;
        snprintf(room + i * NAME, NAME, "%s[%d]", side[at], place[column].index);
        name[column] = room + i * NAME;
    }
    *out = rh_expression__rename(e, text, name);
    if (!*out)
        rc = rh_base__no_memory(err, "reward");

done:
    rh_free((void *)name);
    rh_free(room);
    return rc;
}

void rh_formula__compare(rh_formula__added *added, const rh_expression *e, const double *value,
                         double *flag, double reward)
{
    double was = *flag;
    if (e->nop == 0 || !isfinite(reward))
        return;
    *flag = was == 0.0;
    double other = rh_expression__value(e, value);
    *flag = was;
    double by = was == 0.0 ? other - reward : reward - other;
    bool same = !added->any || fabs(by - added->by) <= SAME * (fabs(by) + fabs(reward));
    added->by = !same || !isfinite(by) ? (double)NAN : added->any ? added->by : by;
    added->any = true;
}

void rh_formula__keep(const rh_formula__added *added, rh_reward_of of, rh_log_builder *builder)
{
    if (added->any && isfinite(added->by) && of == RH_REWARD_OF_ACTION)
        rh_log__set_terminal_reward(builder, added->by);
}
