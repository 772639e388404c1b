// formula.h - a reward's formula in terms of the log: obs[i], act[i] and next[i].

#ifndef REHEARSE_LOG_FORMULA_H
#define REHEARSE_LOG_FORMULA_H

#include "rehearse/log.h"

#include "base/expression.h"

// Where a column of the file is in a row of the log.
typedef enum rh_formula__side {
    RH_FORMULA_NOWHERE,
    RH_FORMULA_OBS,
    RH_FORMULA_ACT,
    RH_FORMULA_NEXT
} rh_formula__side;

typedef struct rh_formula__place {
    rh_formula__side side;
    int index;
} rh_formula__place;

// What a formula adds to a terminal row: zeros before the first row.
typedef struct rh_formula__added {
    double by; // NAN: it differs between rows
    bool any;  // rows were compared
} rh_formula__added;

// Compare a row with the same one with the other flag. flag: among value, the numbers of the
// row; it is put back. reward: of the row.
void rh_formula__compare(rh_formula__added *added, const rh_expression *e, const double *value,
                         double *flag, double reward);

// Keep it for the log, if it is known.
void rh_formula__keep(const rh_formula__added *added, rh_reward_of of, rh_log_builder *builder);

// Write the formula `e` of `text` with the places (n) of its scope. given: rows have their own
// s'. *out is NULL where a column is not in the log, or not in the step that the reward belongs
// to. Owned: *out, free with rh_free().
rh_status rh_formula__write(char **out, const rh_expression *e, const char *text,
                            const rh_formula__place *place, int n, rh_reward_of of, bool given,
                            rh_error *err);

#endif
