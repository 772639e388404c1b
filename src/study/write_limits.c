// write_limits.c - the limits and further scores of best.yaml, for people and for `deploy`.

#include "limits.h"
#include "study_internal.h"

#include <inttypes.h>

static void number(rh_text *t, const char *key, const rh_constraint *limit, double rate)
{
    rh_text__format(t, ", %s: ", key);
    rh_write__number(t, rh_limits__scale(limit->unit) * rate);
}

// A limit, in its own unit. formula: NULL for failures and ends.
static void add_limit(rh_text *t, const rh_limited *of, const rh_kept *kept,
                      const char *formula)
{
    const rh_constraint *limit = &of->limit;
    rh_text__add(t, "    - {event: ");
    rh_text__json(t, limit->event);
    if (formula) {
        rh_text__add(t, ", formula: ");
        rh_text__json(t, formula);
    }
    rh_text__format(t, ", unit: \"%s\"", rh_limits__unit(limit->unit));
    number(t, "most", limit, limit->most);
    number(t, "rate", limit, kept->rate);
    number(t, "upper", limit, kept->upper);
    number(t, "logged", limit, of->logged.rate);
    rh_text__add(t, ", cost: ");
    rh_write__number(t, of->cost);
    rh_text__add(t, "}\n");
}

void rh_write__limits(rh_text *t, const rh_plan *plan, const rh_log *log, const rh_verdict *v)
{
    const rh_limiting *l = &v->limiting;
    const rh_trial *winner = &v->trial[v->winner];
    rh_limits limits;
    if (l->n + l->nalso == 0)
        return;
    if (rh_limits__read(&limits, plan->at_most, plan->also, log, NULL, NULL))
        t->bad = true;
    if (l->n) {
        rh_text__add(t, "at_most: # while it learns in the models\n  sure: ");
        rh_write__number(t, l->sure);
        rh_text__add(t, "\n  limits:\n");
    }
    for (int i = 0; i < l->n && !t->bad; i++) {
        bool named = limits.formula[i].nop > 0;
        char *formula = named && log ? rh_limits__formula(&limits, i) : NULL;
        add_limit(t, &l->of[i], &winner->kept[i], formula);
        rh_free(formula);
    }
    if (l->nalso)
        rh_text__add(t, "also: # further scores, on the scale of chosen\n");
    for (int k = 0; k < l->nalso; k++) {
        rh_text__add(t, "  - {score: ");
        rh_write__number(t, winner->also[k].score);
        rh_text__add(t, ", interval: ");
        rh_write__interval(t, winner->also[k].lo95, winner->also[k].hi95);
        rh_text__add(t, ", logged: ");
        rh_write__number(t, l->today[k].score);
        rh_text__add(t, ", formula: ");
        rh_text__json(t, l->also[k]);
        rh_text__add(t, "}\n");
    }
    rh_limits__clear(&limits);
}
