// plan_axis.c - the values to try of one parameter: the forms of W&B, and two more.
//
//     alpha: {distribution: log_uniform_values, min: 0.001, max: 1}
//     tau: {values: [1, 10, 100]}
//     lambda: {one_minus: {min: 0.01, max: 0.5}}       the search sees 1 - lambda
//     tilings: {pow2: {min: 2, max: 5}}                the search sees log2(tilings)
//
// 1. Without a distribution the agent's table decides whether values are whole and whether the
//    scale is logarithmic (not for a range from 0 or below). W&B goes by how the bounds are
//    written, and tries only 0 and 1 of {min: 0, max: 1}.
// 2. The bounds of log_uniform are exponents, e^min to e^max. People write values there, and
//    get 1.0001 to 1.105 instead of 0.0001 to 0.1. Bounds from 0 to 1, or above 0 and a
//    factor of 30 apart, are refused as this mistake.
// 3. Distributions without bounds (normal, beta) are refused: a search needs bounds.
// 4. Numbers in a list are ordered, also in a categorical one. Only names are not.
// 5. A range or list of one value fixes the parameter.

#include "base/base.h"
#include "numeric/stats.h"
#include "plan.h"
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MISTAKE 30.0 // exponents with bounds so far apart are values

typedef enum spread {
    TABLE, // as the agent's table says
    CONSTANT,
    CATEGORICAL,
    UNIFORM,
    INT_UNIFORM,
    Q_UNIFORM,
    LOG_VALUES,
    Q_LOG_VALUES,
    LOG_EXPONENTS,
    Q_LOG_EXPONENTS,
    NSPREAD
} spread;

static const char *const spread_name[NSPREAD] = {
    [TABLE] = "auto",
    [CONSTANT] = "constant",
    [CATEGORICAL] = "categorical",
    [UNIFORM] = "uniform",
    [INT_UNIFORM] = "int_uniform",
    [Q_UNIFORM] = "q_uniform",
    [LOG_VALUES] = "log_uniform_values",
    [Q_LOG_VALUES] = "q_log_uniform_values",
    [LOG_EXPONENTS] = "log_uniform",
    [Q_LOG_EXPONENTS] = "q_log_uniform",
};

static const char unbounded[] = "a search needs bounds: use uniform or log_uniform_values with "
                                "min and max";
static const char inverse[] =
    "it is log_uniform_values with the bounds inverted: use that; for values near 1 use "
    "one_minus";
static const char weighed[] = "a search does not use probabilities: use values alone";

// What W&B accepts and a search cannot, and why.
static const struct {
    const char *name, *why;
} refused[] = {
    {"normal", unbounded},
    {"q_normal", unbounded},
    {"log_normal", unbounded},
    {"q_log_normal", unbounded},
    {"beta", unbounded},
    {"q_beta", unbounded},
    {"inv_log_uniform", inverse},
    {"inv_log_uniform_values", inverse},
    {"categorical_w_probabilities", weighed},
    {"probabilities", weighed},
    {"mu", unbounded},
    {"sigma", unbounded},
    {"a", unbounded},
    {"b", unbounded},
    {"parameters", "agents have no nested parameters"},
};
enum { NREFUSED = sizeof refused / sizeof *refused };

static const char *const known[] = {"value", "values",       "min",       "max",
                                    "q",     "distribution", "one_minus", "pow2"};
enum { NKNOWN = sizeof known / sizeof *known };

// One description while it is read.
typedef struct reading {
    rh_plan__axis_spec *axis;
    const rh_param *p;
    const char *owner;
    const rh_key__said *said;
    char below[16]; // ".one_minus", ".pow2" or ""
    rh_error *err;
} reading;

// ---------------------------------------------------------------------------- refusing

static rh_status refuse(const reading *r, const rh_yaml *node, const char *sub,
                        const char *expected)
{
    char path[48];
    snprintf(path, sizeof path, "%s%s", r->below, sub);
    return rh_key__refuse(r->said, node, path, r->err, expected);
}

// "<where>: parameters.alpha: why"
static rh_status blame(const reading *r, const rh_yaml *node, const char *why)
{
    char text[400];
    snprintf(text, sizeof text, "%.80s: %s", r->p->name, why);
    return rh_key__blame(r->said, node, r->err, text);
}

static rh_status refuse_named(const reading *r, const rh_yaml *node, const char *name,
                              bool *named)
{
    char why[200];
    *named = false;
    for (int i = 0; i < NREFUSED; i++)
        if (strcmp(name, refused[i].name) == 0) {
            *named = true;
            snprintf(why, sizeof why, "%s: %s", name, refused[i].why);
            return blame(r, node, why);
        }
    return RH_OK;
}

// ---------------------------------------------------------------------------- numbers

double rh_plan__formed(rh_plan__form form, double x)
{
    switch (form) {
    case RH_FORM_PLAIN:
        return x;
    case RH_FORM_ONE_MINUS:
        return 1.0 - x;
    case RH_FORM_POW2:
        return ldexp(1.0, (int)x);
    }
    return NAN;
}

// What the parameter takes, for a message: "a whole number, 1 to 64".
static void expect(const reading *r, char *text, size_t size)
{
    static const char *const form[] = {[RH_FORM_PLAIN] = "",
                                       [RH_FORM_ONE_MINUS] = "1 minus ",
                                       [RH_FORM_POW2] = "a whole power of 2 of "};
    char lo[32], hi[32];
    rh_param__format(r->p, r->p->lo, lo, sizeof lo);
    rh_param__format(r->p, r->p->hi, hi, sizeof hi);
    snprintf(text, size, "%sa %snumber, %s to %s", form[r->axis->form],
             r->p->whole ? "whole " : "", lo, hi);
}

// Whether x, as the search sees it, is a value of the parameter.
static bool accepts(const reading *r, double x)
{
    if (r->axis->form == RH_FORM_POW2 && (x != floor(x) || fabs(x) > 1000.0))
        return false;
    double value = rh_plan__formed(r->axis->form, x);
    return rh_param__check(r->p, 1, r->owner, &value, NULL) == RH_OK;
}

// A value of the parameter, by number or by name.
static rh_status read_value(const reading *r, const rh_yaml *node, const char *sub, double *x)
{
    char expected[140];
    rh_error why = {""};
    if (r->p->choice) {
        bool yes;
        const char *text = node->kind == RH_YAML_TEXT ? node->text : "";
        if (rh_param_parse(r->p, r->owner, text, x, &why) == RH_OK)
            return RH_OK;
        if (rh_yaml__truth(node, &yes) &&
            rh_param_parse(r->p, r->owner, yes ? "yes" : "no", x, NULL) == RH_OK)
            return RH_OK;
        return rh_key__blame(r->said, node, r->err, why.text);
    }
    if (rh_yaml__number(node, x) && accepts(r, *x))
        return RH_OK;
    expect(r, expected, sizeof expected);
    return refuse(r, node, sub, expected);
}

// ---------------------------------------------------------------------------- values

static rh_status take_value(const reading *r, const rh_yaml *node, const char *sub)
{
    double x = 0.0;
    rh_status rc = read_value(r, node, sub, &x);
    if (!rc)
        r->axis->fixed = rh_plan__formed(r->axis->form, x);
    r->axis->dim.nvalue = 1;
    return rc;
}

static rh_status take_values(const reading *r, const rh_yaml *list)
{
    rh_dim *dim = &r->axis->dim;
    bool positive = true;
    if (list->kind != RH_YAML_LIST || list->n == 0)
        return refuse(r, list, ".values",
                      list->kind == RH_YAML_LIST ? "one value or more" : "a list of values");
    double *value = rh_alloc((size_t)list->n, sizeof *value);
    if (!value)
        return rh_plan__no_memory(r->err);
    r->axis->value = value;
    for (int i = 0; i < list->n; i++) {
        rh_status rc = read_value(r, list->item[i], ".values", &value[i]);
        if (rc)
            return rc;
        positive = positive && value[i] > 0.0;
    }
    rh_stats__sort(value, list->n);
    for (int i = 1; i < list->n; i++)
        if (value[i] == value[i - 1]) {
            char text[64], why[120];
            rh_param__format(r->p, value[i], text, sizeof text);
            snprintf(why, sizeof why, "%s is listed twice", text);
            return blame(r, list, why);
        }

    bool by_ratios = r->axis->form == RH_FORM_ONE_MINUS ||
                     (r->axis->form == RH_FORM_PLAIN && r->p->scale == RH_LOG);
    dim->kind = r->p->choice ? RH_DIM_NAMES : RH_DIM_LIST;
    dim->scale = by_ratios && positive && !r->p->choice ? RH_LOG : RH_LINEAR;
    dim->value = value;
    dim->nvalue = list->n;
    r->axis->fixed = rh_plan__formed(r->axis->form, value[0]);
    return RH_OK;
}

// ---------------------------------------------------------------------------- ranges

static bool by_exponents(spread how)
{
    return how == LOG_EXPONENTS || how == Q_LOG_EXPONENTS;
}

// One end of a range; of exponents it is raised.
static rh_status read_end(const reading *r, const rh_yaml *node, const char *sub, spread how,
                          double *x)
{
    if (!by_exponents(how))
        return read_value(r, node, sub, x);
    if (!rh_yaml__number(node, x))
        return refuse(r, node, sub, "an exponent: log_uniform is from e^min to e^max");
    double raised = fabs(*x) < 700.0 ? rh_exp(*x) : NAN;
    if (!accepts(r, raised)) {
        char expected[300], takes[140];
        expect(r, takes, sizeof takes);
        snprintf(expected, sizeof expected,
                 "an exponent: log_uniform is from e^min to e^max, and it takes %s; for values "
                 "use log_uniform_values",
                 takes);
        return refuse(r, node, sub, expected);
    }
    *x = raised;
    return RH_OK;
}

// Bounds of log_uniform that are plainly values, or the wrong way round.
static rh_status check_exponents(const reading *r, const rh_yaml *from, const rh_yaml *to)
{
    double lo = 0.0, hi = 0.0;
    char why[240], end[2][32];
    if (!rh_yaml__number(from, &lo) || !rh_yaml__number(to, &hi))
        return RH_OK;
    bool mistake = lo >= 0.0 && hi >= lo && (hi <= 1.0 || (lo > 0.0 && hi / lo >= MISTAKE));
    if (!mistake && lo <= hi)
        return RH_OK;
    rh_param__format(&(rh_param){.name = ""}, lo, end[0], sizeof end[0]);
    rh_param__format(&(rh_param){.name = ""}, hi, end[1], sizeof end[1]);
    snprintf(why, sizeof why,
             mistake
                 ? "log_uniform from e^%s to e^%s: its bounds are exponents, and these look "
                   "like values; use log_uniform_values"
                 : "log_uniform from e^%s to e^%s, expected the smaller number first",
             end[0], end[1]);
    return blame(r, from, why);
}

// What is between two multiples: 0 for any number.
static rh_status read_step(const reading *r, const rh_yaml *q, spread how, double *step)
{
    bool quantised = how == Q_UNIFORM || how == Q_LOG_VALUES || how == Q_LOG_EXPONENTS;
    bool whole = r->p->whole || r->axis->form == RH_FORM_POW2;
    *step = whole || how == INT_UNIFORM || quantised ? 1.0 : 0.0;
    if (!q)
        return RH_OK;
    if (!quantised && how != TABLE)
        return refuse(r, q, ".q", "no q: it is for q_uniform and q_log_uniform_values");
    if (!rh_yaml__number(q, step) || !(*step > 0.0) || (whole && *step != floor(*step)))
        return refuse(r, q, ".q", whole ? "a whole number above 0" : "a number above 0");
    return RH_OK;
}

static rh_scale scale_of(const reading *r, spread how, double lo)
{
    if (how == LOG_VALUES || how == Q_LOG_VALUES || by_exponents(how))
        return RH_LOG;
    bool ratios = r->axis->form == RH_FORM_ONE_MINUS ||
                  (r->axis->form == RH_FORM_PLAIN && r->p->scale == RH_LOG);
    return how == TABLE && ratios && lo > 0.0 ? RH_LOG : RH_LINEAR;
}

static rh_status take_range(const reading *r, const rh_yaml *map, spread how)
{
    const rh_yaml *from = rh_yaml__get(map, "min"), *to = rh_yaml__get(map, "max");
    rh_dim *dim = &r->axis->dim;
    if (!from || !to)
        return refuse(r, map, "", "value, values, or both min and max");
    if (r->p->choice)
        return refuse(r, map, "", "values: it has names, which have no range");
    if (r->axis->form == RH_FORM_POW2 && how != TABLE && how != INT_UNIFORM && how != Q_UNIFORM)
        return blame(r, map, "pow2 is a log scale already: leave distribution out");

    // its ends
    dim->kind = RH_DIM_RANGE;
    rh_status rc = by_exponents(how) ? check_exponents(r, from, to) : RH_OK;
    if (!rc)
        rc = read_end(r, from, ".min", how, &dim->lo);
    if (!rc)
        rc = read_end(r, to, ".max", how, &dim->hi);
    if (!rc)
        rc = read_step(r, rh_yaml__get(map, "q"), how, &dim->step);
    if (rc)
        return rc;
    if (how == INT_UNIFORM && (dim->lo != floor(dim->lo) || dim->hi != floor(dim->hi)))
        return blame(r, from, "int_uniform needs whole numbers for min and max");
    dim->scale = scale_of(r, how, dim->lo);

    // what the search would refuse of it
    rh_space alone = {.dim = {*dim}, .ndim = 1};
    alone.dim[0].name = r->p->name;
    rh_error why = {""};
    if (rh_space__check(&alone, &why) != RH_OK)
        return rh_key__blame(r->said, from, r->err, why.text);
    if (rh_dim__count(dim) == 1.0) {
        double x;
        rh_space__at(&alone, 0, &x);
        r->axis->fixed = rh_plan__formed(r->axis->form, x);
        dim->nvalue = 1;
    }
    return RH_OK;
}

// ---------------------------------------------------------------------------- all of it

static rh_status read_spread(const reading *r, const rh_yaml *map, spread *how)
{
    const rh_yaml *node = rh_yaml__get(map, "distribution");
    *how = TABLE;
    if (!node)
        return RH_OK;
    bool named = false;
    const char *text = node->kind == RH_YAML_TEXT ? node->text : "";
    rh_status rc = refuse_named(r, node, text, &named);
    if (named)
        return rc;
    for (int i = 0; i < NSPREAD; i++)
        if (strcmp(text, spread_name[i]) == 0) {
            *how = (spread)i;
            return RH_OK;
        }
    char shown[RH_YAML__SHOWN];
    rh_error why = {""};
    rh_yaml__show(node, shown);
    rh_base__unknown(&why, "no distribution", shown, spread_name + 1, NSPREAD - 1);
    return blame(r, node, why.text);
}

static rh_status check_keys(const reading *r, const rh_yaml *map)
{
    int nway = 0;
    for (int i = 0; i < map->n; i++) {
        const char *name = map->key[i]->text;
        bool named = false, found = false;
        rh_status rc = refuse_named(r, map->key[i], name, &named);
        if (named)
            return rc;
        for (int k = 0; k < NKNOWN; k++)
            found = found || strcmp(name, known[k]) == 0;
        if (!found) {
            char shown[RH_YAML__SHOWN];
            rh_error why = {""};
            rh_yaml__show(map->key[i], shown);
            rh_base__unknown(&why, "no key", shown, known, NKNOWN);
            return blame(r, map->key[i], why.text);
        }
        nway += strcmp(name, "value") == 0 || strcmp(name, "values") == 0 ||
                strcmp(name, "min") == 0 || strcmp(name, "one_minus") == 0 ||
                strcmp(name, "pow2") == 0;
    }
    return nway > 1 ? refuse(r, map, "", "one of value, values, min and max, one_minus, pow2")
                    : RH_OK;
}

// A mapping of value, values or min and max.
static rh_status take_map(const reading *r, const rh_yaml *map)
{
    const rh_yaml *one = rh_yaml__get(map, "value"), *many = rh_yaml__get(map, "values");
    spread how;
    rh_status rc = read_spread(r, map, &how);
    if (!rc)
        rc = check_keys(r, map);
    if (rc)
        return rc;
    if (one || how == CONSTANT) {
        if (!one || map->n > 1 + (how == CONSTANT))
            return refuse(r, map, "", "value alone");
        return how == TABLE || how == CONSTANT ? take_value(r, one, ".value")
                                               : refuse(r, map, "", "value alone");
    }
    if (many || how == CATEGORICAL) {
        if (!many || map->n > 1 + (how == CATEGORICAL))
            return refuse(r, map, "", "values alone");
        return how == TABLE || how == CATEGORICAL ? take_values(r, many)
                                                  : refuse(r, map, "", "values alone");
    }
    return take_range(r, map, how);
}

rh_status rh_plan__axis(rh_plan__axis_spec *axis, const rh_param *p, const char *owner,
                        const rh_key__said *said, rh_error *err)
{
    reading r = {.axis = axis, .p = p, .owner = owner, .said = said, .err = err};
    const rh_yaml *node = said->value;
    axis->said = said;
    axis->given = true;
    if (node->kind == RH_YAML_MAP) {
        const rh_yaml *minus = rh_yaml__get(node, "one_minus"),
                      *pow2 = rh_yaml__get(node, "pow2");
        rh_status rc = minus || pow2 ? check_keys(&r, node) : RH_OK;
        if (rc)
            return rc;
        if ((minus || pow2) && node->n > 1)
            return refuse(&r, node, "", "one_minus or pow2 alone");
        if (p->choice && (minus || pow2))
            return refuse(&r, node, "", "values: it has names, not numbers");
        if (minus && p->whole)
            return refuse(&r, node, "", "no one_minus: it is for numbers up to 1");
        if (minus || pow2) {
            axis->form = minus ? RH_FORM_ONE_MINUS : RH_FORM_POW2;
            snprintf(r.below, sizeof r.below, "%s", minus ? ".one_minus" : ".pow2");
            node = minus ? minus : pow2;
            if (node->kind == RH_YAML_MAP &&
                (rh_yaml__get(node, "one_minus") || rh_yaml__get(node, "pow2")))
                return refuse(&r, node, "", "value, values, or both min and max");
        }
    }
    if (node->kind == RH_YAML_MAP)
        return take_map(&r, node);
    return node->kind == RH_YAML_LIST ? take_values(&r, node) : take_value(&r, node, "");
}
