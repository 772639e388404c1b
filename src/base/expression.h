// expression.h - formulas over named columns: "-abs(T_tank - Setpoint) - 0.1*Power_kW".

#ifndef REHEARSE_BASE_EXPRESSION_H
#define REHEARSE_BASE_EXPRESSION_H

#include "rehearse/base.h"

#define RH_EXPRESSION__LENGTH 4000 // most bytes of a formula
#define RH_EXPRESSION__DEPTH 64 // most parentheses within each other, and numbers on the stack

// The names that a formula may use. All is borrowed.
typedef struct rh_expression__scope {
    const char *label;        // begins a message: "plant.csv: reward"
    const char *what;         // what a name stands for: "column"
    const char *const *name;  //                                        (n)
    const char *const *alias; // second names, or NULL                  (n)
    int n;
} rh_expression__scope;

typedef struct rh_expression__op {
    int code;      // what to do
    int column;    // of the scope, where a column is loaded
    double number; // where a number is loaded
} rh_expression__op;

// Where a name stands in the text, quotes included.
typedef struct rh_expression__span {
    int begin, end; // bytes, end not included
    int column;     // of the scope
} rh_expression__span;

// A compiled formula. Starts as all zeros.
typedef struct rh_expression {
    rh_expression__op *op;     // owned                                  (nop)
    rh_expression__span *span; // owned: the names, in order             (nspan)
    int nop, nspan;
} rh_expression;

// Compile a formula. It must name a column. Owned: *out, free with rh_expression__clear(),
// after a failure too. Nullable: err.
rh_status rh_expression__compile(rh_expression *out, const char *text,
                                 const rh_expression__scope *scope, rh_error *err);
void rh_expression__clear(rh_expression *e);

// The same for a step of a log, by obs[i] and act[i] and next[i]: x is (nobs + nact + nobs), in
// this order.
rh_status rh_expression__compile_step(rh_expression *out, const char *text, int nobs, int nact,
                                      rh_error *err);

// Whether it is a weighted sum of columns.
bool rh_expression__is_sum(const rh_expression *e);

// The value, where x holds the values of the scope's columns. Allocates nothing. NAN stands for
// a missing number, in x and in the result.
double rh_expression__value(const rh_expression *e, const double *x);

// The formula with other names: name (n of the scope) for those that occur. `text` is what was
// compiled. Owned: the result, free with rh_free(); NULL without memory.
char *rh_expression__rename(const rh_expression *e, const char *text, const char *const *name);

#endif
