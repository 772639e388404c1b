// experiments_print.c - natural experiments of a log, and effects that it cannot show.

#include "cli_internal.h"

#include <math.h>

#define FEW 3 // effects that are listed

static const char *action_name(const rh_log *log, int action, char *text, size_t size)
{
    const char *name = log->naction    ? log->label[action]
                       : log->act_name ? log->act_name[action]
                                       : NULL;
    if (name)
        return rh_text__printable(name, text, size);
    snprintf(text, size, "action %d", action + 1);
    return text;
}

static void print_effect(const rh_log *log, const rh_not_shown *one, bool first)
{
    char action[60], name[300], where[400] = "anywhere";
    if (one->sensor >= 0) {
        cli_sensor_name(log, one->sensor, name);
        snprintf(where, sizeof where, "at %.200s %s to %s", name, cli_cell(one->lo).s,
                 cli_cell(one->hi).s);
    }
    cli_line(first ? "not shown" : "", "effect of %s%s%s %s: %s of %s steps show it",
             log->naction ? "'" : "", action_name(log, one->action, action, sizeof action),
             log->naction ? "'" : "", where, cli_count(one->nchoice).s,
             cli_count(one->nstep).s);
}

static void print_beside(const rh_fidelity_beside *b)
{
    if (!isnan(b->shown))
        cli_line("beside",
                 "%s of the effects that the model predicts for them came "
                 "(standard error %s)",
                 cli_share(b->shown).s, cli_share(b->shown_error).s);
    if (!isnan(b->ratio))
        cli_line("", "replays from them are %.2f times as far off as from usual steps",
                 b->ratio);
}

void cli_experiments_print(const rh_log *log, const rh_experiments *e,
                           const rh_fidelity_beside *beside, const char *more)
{
    if (e->nstep == 0) // not known
        return;
    cli_line("experiments",
             "%s of %s steps have another action than the controller usually takes",
             cli_count(e->n).s, cli_count(e->nstep).s);
    if (beside)
        print_beside(beside);
    int shown = !more || e->nnot_shown <= FEW + 1 ? e->nnot_shown : FEW;
    for (int i = 0; i < shown; i++)
        print_effect(log, &e->not_shown[i], i == 0);
    if (more)
        cli_more(e->nnot_shown - shown, "effect", more);
}
