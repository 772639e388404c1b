// limits_print.c - limits of a study in words: every confirmed setting beside them; and the
// settings that no other one beats in every score.

#include "cli_internal.h"

#include "base/text.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define FEW 8       // settings that are shown
#define FEW_FRONT 6 // and of those that no other one beats

// "  dqn, setting 12      -16.3"
static void print_trial(const rh_plan *plan, const rh_trial *t, int decimals)
{
    char label[60];
    snprintf(label, sizeof label, "  %.16s, setting %d",
             rh_plan__agent_at(plan, t->agent)->name, t->setting);
    printf("%-28s%10s", label, cli_real(t->value, decimals).s);
}

// A rate without its unit.
static cli_text rate_of(const rh_constraint *limit, double rate)
{
    cli_text text;
    char said[60];
    rh_limits__say(limit, rate, said);
    snprintf(text.s, sizeof text.s, "%.*s", (int)strcspn(said, " "), said);
    return text;
}

void cli_limits_print(const rh_plan *plan, const rh_verdict *v)
{
    const rh_limiting *l = &v->limiting;
    int shown = 0;
    for (int i = 0; i < l->n; i++) {
        char most[60];
        rh_limits__say(&l->of[i].limit, l->of[i].limit.most, most);
        cli_line(i ? "" : "limits", "%s: at most %s", l->of[i].limit.event, most);
    }
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial && shown < FEW; i++, shown++) {
        const rh_trial *t = &v->trial[i];
        print_trial(plan, t, cli_decimals((t->hi95 - t->lo95) / 4.0, t->value));
        for (int k = 0; k < l->n; k++)
            printf("  %s (at most %s)", rate_of(&l->of[k].limit, t->kept[k].rate).s,
                   rate_of(&l->of[k].limit, t->kept[k].upper).s);
        puts(t->keeps ? "" : "  breaks");
    }
    cli_more(v->nconfirm - shown, "setting", "--json");
}

void cli_scores_print(const rh_plan *plan, const rh_verdict *v, int decimals)
{
    const rh_limiting *l = &v->limiting;
    cli_style style = cli_style_of(stdout);
    int shown = 0, n = 0;
    if (!l->nalso)
        return;
    printf("%s%-28s%10s", style.dim, "  scores", "reward");
    for (int k = 0; k < l->nalso; k++) {
        char name[16];
        printf("  %14s", rh_text__printable(l->also[k], name, sizeof name));
    }
    printf("%s\n", style.plain);
    for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++) {
        const rh_trial *t = &v->trial[i];
        bool chosen = i == v->winner;
        n += t->front || chosen;
        if (!chosen && (!t->front || shown >= FEW_FRONT))
            continue;
        shown++;
        print_trial(plan, t, decimals);
        for (int k = 0; k < l->nalso; k++)
            printf("  %14s", cli_cell(t->also[k].score).s);
        puts(chosen ? "  chosen" : "");
    }
    cli_more(n - shown, "setting", "--json");
    putchar('\n');
}
