// param.c - reading, checking and printing values by a parameter table.
//
// Numbers are those of number.c: in any locale the same, with the fewest digits that read back.

#include "number.h"
#include "text.h"

#include "base.h"
#include "rehearse/contract.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAMES 64 // names listed in a message
#define NUMBER RH_NUMBER__SIZE

void rh_param_initial(const rh_param *param, int nparam, double *value)
{
    for (int i = 0; i < nparam; i++)
        value[i] = param[i].initial;
}

int rh_param_find(const rh_param *param, int nparam, const char *name)
{
    for (int i = 0; i < nparam; i++)
        if (strcmp(param[i].name, name) == 0)
            return i;
    return -1;
}

rh_status rh_param_lookup(const rh_param *param, int nparam, const char *owner,
                          const char *name, int *index, rh_error *err)
{
    int i = rh_param_find(param, nparam, name);
    if (i >= 0) {
        *index = i;
        return RH_OK;
    }
    if (nparam == 0)
        return rh_fail(err, RH_EINVAL, "%s: no parameter '%.64s'; it has none", owner, name);

    const char *names[MAX_NAMES];
    int n = nparam < MAX_NAMES ? nparam : MAX_NAMES;
    for (int k = 0; k < n; k++)
        names[k] = param[k].name;
    char what[64];
    snprintf(what, sizeof what, "%s: no parameter", owner);
    return rh_base__unknown(err, what, name, names, n);
}

static void print_number(double value, char *text, size_t size)
{
    char digits[RH_NUMBER__SIZE];
    rh_number__print(value, digits);
    snprintf(text, size, "%s", digits);
}

static bool accepts(const rh_param *p, double value)
{
    bool inside = value >= p->lo && value <= p->hi; // false for NaN
    return inside && (!(p->whole || p->choice) || value == floor(value));
}

// The message for a value that was not accepted, as the user wrote it.
static rh_status refuse(const rh_param *p, const char *owner, const char *text, rh_error *err)
{
    char lo[NUMBER], hi[NUMBER], shown[68];
    print_number(p->lo, lo, sizeof lo);
    print_number(p->hi, hi, sizeof hi);
    return rh_fail(err, RH_EINVAL, "%s: %s = %s, expected a %snumber, %s to %s", owner, p->name,
                   rh_text__printable(text, shown, sizeof shown),
                   p->whole || p->choice ? "whole " : "", lo, hi);
}

rh_status rh_param__check(const rh_param *param, int nparam, const char *owner,
                          const double *value, rh_error *err)
{
    for (int i = 0; i < nparam; i++)
        if (!accepts(&param[i], value[i])) {
            char text[NUMBER];
            print_number(value[i], text, sizeof text);
            return refuse(&param[i], owner, text, err);
        }
    return RH_OK;
}

rh_status rh_param_parse(const rh_param *param, const char *owner, const char *text,
                         double *value, rh_error *err)
{
    if (param->choice) {
        int n = (int)param->hi + 1;
        for (int i = 0; i < n; i++)
            if (strcmp(param->choice[i], text) == 0) {
                *value = i;
                return RH_OK;
            }
        char what[96];
        snprintf(what, sizeof what, "%s: %s cannot be", owner, param->name);
        return rh_base__unknown(err, what, text, param->choice, n);
    }

    double x;
    rh_number__kind kind = rh_number__read(text, strlen(text), &x);
    if ((kind != RH_NUMBER && kind != RH_NUMBER_BEYOND) || !accepts(param, x))
        return refuse(param, owner, *text ? text : "''", err);
    *value = x;
    return RH_OK;
}

void rh_param__format(const rh_param *param, double value, char *text, size_t size)
{
    if (param->choice && value >= 0.0 && value <= param->hi)
        snprintf(text, size, "%s", param->choice[(int)value]);
    else
        print_number(value, text, size);
}
