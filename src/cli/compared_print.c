// compared_print.c - the comparison of models that chose one, as a table and in JSON.

#include "cli_internal.h"

#include <math.h>
#include <string.h>

#define NAME 28  // columns of a candidate's name
#define WHOLE 93 // columns of the whole table; a narrower one has no parts of the score

// "carrying by action, raw"
static void name_of(const rh_model_trial *t, char *name, size_t size)
{
    int carry = rh_param_find(t->type->param, t->type->nparam, "carry");
    char by[80] = "";
    if (carry >= 0 && strcmp(t->kind, "carrying") == 0) {
        cli_text value = cli_param(&t->type->param[carry], t->param[carry]);
        snprintf(by, sizeof by, strcmp(value.s, "local") == 0 ? " locally" : " by %.60s",
                 value.s);
    }
    snprintf(name, size, "%s%s, %s", t->kind, by, t->repr->name);
}

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
    name_of(t, name, sizeof name);
    fputs(t->chosen ? "* " : "  ", stdout);
    cli_print_name(name, NAME);
    if (!t->tried) {
        printf("%9s\n", "-");
        return;
    }
    printf("%9s", two_digits(t->score).s);
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
    printf("\n%s%-*s%s%9s%s%s%10s%s\n", style.bold, NAME + 2, "models", style.plain, "score",
           parts ? "   error   states  rewards" : "", continuing || !parts ? "" : "     ends",
           "return", continuing ? "" : "   length");
    for (int i = 0; i < c->ntrial; i++)
        print_row(&c->trial[i], !continuing, parts);
    fputs("  ", stdout);
    cli_print_name("the log", NAME);
    printf("%*s%10s",
           !parts       ? 9
           : continuing ? 35
                        : 44,
           "", cli_cell(c->logged_return.median).s);
    if (!continuing)
        printf("%9s", cli_cell(c->logged_length.median).s);
    putchar('\n');
    cli_remark("score: %d stretches of %d held-out %s replayed with the logged actions, "
               "compared after 1 to %d steps; 0: as logged, 1: as a random stretch of the log. "
               "return%s: medians of the log's behaviour imitated in the model",
               c->nstretch, c->nunit, "parts of the log", c->horizon[c->nhorizon - 1],
               continuing ? "" : " and length");
    cli_line("chosen", "%s", c->reason);
    for (int i = 0; i < c->ntrial; i++) {
        char name[120];
        const rh_model_trial *t = &c->trial[i];
        if (t->chosen)
            continue;
        name_of(t, name, sizeof name);
        cli_line("", "%s: %s%s", name, t->note,
                 t->credible ? "; used to confirm settings" : "");
    }
}

// ---------------------------------------------------------------------------- JSON

static void json_trial(cli_json *json, const rh_model_comparison *c, const rh_model_trial *t)
{
    static const char *const part[] = {
        [RH_MODEL_STATE] = "states", [RH_MODEL_REWARD] = "rewards", [RH_MODEL_END] = "ends"};
    char name[120];
    name_of(t, name, sizeof name);
    cli_json_open(json, NULL, '{', false);
    cli_json_text(json, "name", name);
    cli_json_text(json, "kind", t->kind);
    cli_json_text(json, "model", t->type->name);
    cli_json_params(json, "parameters", t->type->param, t->type->nparam, t->param, NULL);
    cli_json_text(json, "representation", t->repr->name);
    cli_json_flag(json, "tried", t->tried);
    cli_json_flag(json, "chosen", t->chosen);
    cli_json_flag(json, "credible", t->credible);
    cli_json_text(json, "note", t->note);
    cli_json_real(json, "score", t->score);
    cli_json_real(json, "stderr", t->error);
    cli_json_real(json, "behind", t->behind);
    cli_json_real(json, "behind_stderr", t->behind_error);
    for (int k = 0; k < RH_MODEL_NASPECT; k++) {
        cli_json_open(json, part[k], '{', true);
        cli_json_real(json, "score", t->part[k]);
        cli_json_reals(json, "at", t->at[k], c->nhorizon);
        cli_json_close(json);
    }
    cli_json_spread(json, "simulated_return", &t->simulated_return);
    cli_json_spread(json, "simulated_length", &t->simulated_length);
    cli_json_real(json, "simulated_terminated", t->simulated_ended);
    cli_json_real(json, "imitation_apart", t->imitation);
    cli_json_close(json);
}

void cli_compared_json(cli_json *json, const rh_model_comparison *c)
{
    if (!c) {
        cli_json_null(json, "compared_models");
        return;
    }
    double horizon[RH_MODEL_NHORIZON];
    for (int h = 0; h < c->nhorizon; h++)
        horizon[h] = c->horizon[h];
    cli_json_open(json, "compared_models", '{', false);
    cli_json_text(json, "reason", c->reason);
    cli_json_whole(json, "steps", c->nstep);
    cli_json_whole(json, "stretches", c->nstretch);
    cli_json_whole(json, "held_out_parts", c->nunit);
    cli_json_whole(json, "folds", c->nfold);
    cli_json_reals(json, "horizons", horizon, c->nhorizon);
    cli_json_spread(json, "logged_return", &c->logged_return);
    cli_json_spread(json, "logged_length", &c->logged_length);
    cli_json_real(json, "logged_terminated", c->logged_ended);
    cli_json_open(json, "models", '[', false);
    for (int i = 0; i < c->ntrial; i++)
        json_trial(json, c, &c->trial[i]);
    cli_json_close(json);
    cli_json_close(json);
}
