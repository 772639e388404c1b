// compared_print.c - the comparison of models that chose one, as a table.

#include "cli_internal.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

#define NAME 28   // columns of a candidate's name
#define WHOLE 102 // columns of the whole table; a narrower one has no parts of the score

static cli_text two_digits(double x)
{
    cli_text text = {"-"};
    if (isfinite(x))
        snprintf(text.s, sizeof text.s, fabs(x) < 99.5 ? "%.3f" : "%.3g", x);
    return text;
}

static void print_row(const rh_model_trial *t, bool ends, bool parts)
{
    char name[120];
    rh_model__trial_name(t, name, sizeof name);
    fputs(t->chosen ? "* " : "  ", stdout);
    cli_print_name(name, NAME);
    if (!t->tried) {
        printf("%9s\n", "-");
        return;
    }
    printf("%9s%9s", two_digits(t->score).s, two_digits(t->beside.score).s);
    if (parts)
        printf("%8s%9s%9s", two_digits(t->error).s, two_digits(t->part[RH_MODEL_STATE]).s,
               two_digits(t->part[RH_MODEL_REWARD]).s);
    if (ends && parts)
        printf("%9s", two_digits(t->part[RH_MODEL_END]).s);
    printf("%10s", cli_cell(t->simulated_return.median).s);
    if (ends)
        printf("%9s", cli_cell(t->simulated_length.median).s);
    putchar('\n');
}

void cli_compared_print(const rh_model_comparison *c, bool continuing)
{
    cli_style style = cli_style_of(stdout);
    if (c->nhorizon == 0) {
        cli_line("models", "not compared: %s; %s is used", c->reason, c->trial[0].kind);
        return;
    }
    bool parts = cli_page() >= WHOLE;
    printf("\n%s%-*s%s%9s%9s%s%s%10s%s\n", style.bold, NAME + 2, "models", style.plain, "score",
           "beside", parts ? "   error   states  rewards" : "",
           continuing || !parts ? "" : "     ends", "return", continuing ? "" : "   length");
    for (int i = 0; i < c->ntrial; i++)
        print_row(&c->trial[i], !continuing, parts);
    fputs("  ", stdout);
    cli_print_name("the log", NAME);
    printf("%*s%10s",
           !parts       ? 18
           : continuing ? 44
                        : 53,
           "", cli_cell(c->logged_return.median).s);
    if (!continuing)
        printf("%9s", cli_cell(c->logged_length.median).s);
    putchar('\n');
    cli_remark("score: %d stretches of %d held-out %s replayed with the logged actions, "
               "compared after 1 to %d steps; 0: as logged, 1: as a random stretch of the log. "
               "beside: the same from natural experiments, and from the outer tenth of sensors "
               "and actions in a model of the rest. return%s: medians of the log's behaviour "
               "imitated in the model",
               c->nstretch, c->nunit, "parts of the log", c->horizon[c->nhorizon - 1],
               continuing ? "" : " and length");
    cli_line("chosen", "%s", c->reason);
    for (int i = 0; i < c->ntrial; i++) {
        char name[120];
        const rh_model_trial *t = &c->trial[i];
        if (t->chosen)
            continue;
        rh_model__trial_name(t, name, sizeof name);
        cli_line("", "%s: %s%s", name, t->note,
                 t->credible ? "; used to confirm settings" : "");
    }
}
