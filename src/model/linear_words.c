// linear_words.c - a fitted reward in words: 1.2 - 0.98*abs(T - 21.3) - 0.1*pump.
//
// x is a sensor after the step and x[-1] the same before it; u is the action of the step and
// u[-1] the one before.

#include "linear_cost.h"
#include "model.h"

#include <math.h>
#include <string.h>

// How a term is written. i and j: its sensors; u: its action; in capitals: before; @: its
// value.
static const char *const form[RH_COST_NKIND] = {
    [RH_COST_VALUE] = "i",
    [RH_COST_SQUARE] = "i^2",
    [RH_COST_DISTANCE] = "abs(i - @)",
    [RH_COST_GAP] = "abs(i - j)",
    [RH_COST_GAP2] = "(i - j)^2",
    [RH_COST_NOW] = "I",
    [RH_COST_NOW_SQUARE] = "I^2",
    [RH_COST_NOW_DISTANCE] = "abs(I - @)",
    [RH_COST_NOW_GAP] = "abs(I - J)",
    [RH_COST_NOW_GAP2] = "(I - J)^2",
    [RH_COST_ACTION] = "u",
    [RH_COST_ACTION_SQUARE] = "u^2",
    [RH_COST_ACTION_SIZE] = "abs(u - @)",
    [RH_COST_CHANGE] = "abs(u - U)",
    [RH_COST_CHANGE2] = "(u - U)^2",
    [RH_COST_PRODUCT] = "i*u",
    [RH_COST_NOW_PRODUCT] = "I*u",
    [RH_COST_ABOVE] = "max(0, i - @)",
    [RH_COST_BELOW] = "max(0, @ - i)",
    [RH_COST_SHIFT] = "abs(i - I)",
    [RH_COST_TRADE] = "I*(j - J)",
    [RH_COST_ONE] = "",
};

static void add_action(rh_text *text, const rh_log *log, int j)
{
    if (log->naction)
        rh_text__format(text, "%s=%s", log->act_name[0], log->label[j]);
    else
        rh_text__format(text, "%s", log->act_name[j]);
}

static void add_term(rh_text *text, const rh_log *log, const rh_linear__cost *c)
{
    for (const char *p = form[c->kind]; *p; p++) {
        const char *before = strchr("IJU", *p) ? "[-1]" : "";
        if (*p == 'i' || *p == 'I')
            rh_text__format(text, "%s%s", log->obs_name[c->i], before);
        else if (*p == 'j' || *p == 'J')
            rh_text__format(text, "%s%s", log->obs_name[c->j], before);
        else if (*p == 'u' || *p == 'U') {
            add_action(text, log, c->j);
            rh_text__add(text, before);
        } else if (*p == '@') {
            rh_text__format(text, "%.4g", c->at);
        } else {
            rh_text__add_n(text, p, 1);
        }
    }
    if (c->gate >= 0)
        rh_text__format(text, " %s %.4g <= %s < %.4g", c->from < c->to ? "while" : "unless",
                        fmin(c->from, c->to), log->obs_name[c->gate], fmax(c->from, c->to));
}

bool rh_model__reward_words(rh_text *text, const rh_model *model)
{
    const rh_linear *m = model->type == &rh_model_linear ? model->member[0] : NULL;
    if (!m || m->knn->formula.nop > 0)
        return false;
    rh_text__format(text, "%.4g", m->constant);
    for (int i = 0; i < m->ncost; i++) {
        const rh_linear__cost *c = &m->cost[i];
        rh_text__format(text, " %c %.4g%s", c->weight < 0.0 ? '-' : '+', fabs(c->weight),
                        c->kind == RH_COST_ONE ? "" : "*");
        add_term(text, model->log, c);
    }
    return true;
}
