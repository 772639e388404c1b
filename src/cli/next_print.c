// next_print.c - what to log next, as a table.
//
//     log next        1,000 steps that would help most, where agents act and the log is thin
//         steps   agent     log     far  action  where
//           380   7.1 %   3.2 %  20.0 %  2       theta2_dot from 1.8

#include "base/text.h"
#include "cli_internal.h"

#include <math.h>
#include <string.h>

#define WHERE 35 // columns before the widest action

// "speed from 1.8, angle below 0.22"
static void say_where(const rh_next *row, const rh_log *log, char *text, size_t size)
{
    snprintf(text, size, "%s", row->nside ? "" : "everywhere");
    for (int k = 0; k < row->nside; k++) {
        double lo = row->side[k].lo, hi = row->side[k].hi;
        char name[80];
        rh_text__printable(log->obs_name[row->side[k].sensor], name, sizeof name);
        rh_text__put(text, size, "%s%s ", k ? ", " : "", name);
        if (isinf(lo))
            rh_text__put(text, size, "below %s", cli_exact(hi).s);
        else if (isinf(hi))
            rh_text__put(text, size, "from %s", cli_exact(lo).s);
        else
            rh_text__put(text, size, "%s to %s", cli_exact(lo).s, cli_exact(hi).s);
    }
}

void cli_next_print(const rh_verdict *v, const rh_log *log)
{
    cli_style style = cli_style_of(stdout);
    int64_t steps = 0;
    int width = (int)strlen("action");
    if (v->nnext == 0)
        return;
    for (int i = 0; i < v->nnext; i++) {
        int n = (int)strlen(v->next[i].what);
        steps += v->next[i].steps;
        width = n > width ? n : width;
    }
    cli_line("log next", "%s steps that would help most: where agents act and the log is thin",
             cli_count(steps).s);
    printf("  %s%7s%8s%8s%8s  %-*s  %s%s\n", style.dim, "steps", "agent", "log", "far", width,
           "action", "where", style.plain);
    for (int i = 0; i < v->nnext; i++) {
        const rh_next *row = &v->next[i];
        char where[600];
        say_where(row, log, where, sizeof where);
        printf("  %7s%8s%8s%8s  %-*s  ", cli_count(row->steps).s, cli_share(row->agent).s,
               cli_share((double)row->nlogged / (double)log->n).s, cli_share(row->alone).s,
               width, row->what);
        cli_wrap(where, WHERE + width + 2, cli_page());
    }
    cli_line("", "agent, log: share of their steps that do this; far: of the agent's, those "
                 "without such a logged step near; log_next.csv lists them as trials");
}
