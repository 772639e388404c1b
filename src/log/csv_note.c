// csv_note.c - notes on how a table was read, for the user to check.

#include "csv_reader.h"
#include "log.h"

#include <string.h>

// "temp [degC], level", cut to fit.
static void list_columns(const rh_csv__reader *r, const int *column, int n, char *text,
                         size_t size)
{
    const rh_columns *c = &r->head.columns;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        const char *name = c->name[column[i]], *unit = c->unit[column[i]];
        if (strlen(text) + strlen(name) + strlen(unit) + 40 > size) {
            rh_text__put(text, size, ", ... (%d in all)", n);
            break;
        }
        rh_text__put(text, size, *unit ? "%s%s [%s]" : "%s%s%s", i ? ", " : "", name, unit);
    }
}

static rh_status note_columns(rh_csv__reader *r, rh_error *err)
{
    const rh_columns__plan *plan = &r->plan;
    char list[900];
    list_columns(r, plan->obs, plan->nobs, list, sizeof list);
    rh_status rc = rh_log__note(r->builder, err, "observations = %s", list);
    list_columns(r, plan->next, plan->nnext, list, sizeof list);
    if (!rc)
        rc = plan->nnext ? rh_log__note(r->builder, err, "s' = %s", list)
                         : rh_log__note(r->builder, err, "s' = the next row of the episode");
    list_columns(r, plan->act, plan->nact, list, sizeof list);
    if (!rc)
        rc = rh_log__note(r->builder, err, "action = %s", list);
    if (!rc)
        rc = rh_log__note(
            r->builder, err, "reward = %.900s, %s", plan->reward_name,
            r->opt->reward_of == RH_REWARD_OF_ACTION
                ? "of the row's own action"
                : "of the action of the row before; the action in an episode's last row is "
                  "ignored");
    return rc;
}

// "terminals = column trip", or that there is none.
static rh_status note_flag(rh_csv__reader *r, const char *what, rh_log__role role, int column,
                           rh_error *err)
{
    if (column < 0)
        return rh_log__note(r->builder, err, "no %s column", rh_columns__role_name(role));
    return rh_log__note(r->builder, err, "%s = column %.200s", what,
                        r->head.columns.name[column]);
}

static rh_status note_episodes(rh_csv__reader *r, rh_error *err)
{
    const rh_columns__plan *plan = &r->plan;
    rh_log_builder *b = r->builder;
    rh_status rc =
        plan->episode < 0 && plan->step >= 0
            ? rh_log__note(b, err, "no episode column: one begins where column %.200s falls",
                           r->head.columns.name[plan->step])
            : note_flag(r, "episodes", RH_ROLE_EPISODE, plan->episode, err);
    if (!rc)
        rc = note_flag(r, "terminals", RH_ROLE_TERMINAL, plan->terminal, err);
    if (!rc && plan->done)
        rc = plan->truncated >= 0
                 ? rh_log__note(b, err, "a row that is both done and truncated is not terminal")
                 : rh_log__note(b, err, "done may mean an end or a time-out: read as terminal");
    else if (!rc && plan->terminal >= 0 && plan->truncated >= 0)
        rc = rh_log__note(b, err, "a row that is both terminal and truncated is terminal");
    if (!rc)
        rc = note_flag(r, "truncated", RH_ROLE_TRUNCATED, plan->truncated, err);
    if (!rc && plan->time >= 0)
        rc = *r->head.columns.name[plan->time]
                 ? note_flag(r, "time", RH_ROLE_TIME, plan->time, err)
                 : rh_log__note(b, err, "time = column %d, which has no name", plan->time + 1);
    return rc;
}

rh_status rh_csv__note(rh_csv__reader *r, rh_error *err)
{
    rh_log_builder *b = r->builder;
    rh_status rc = note_columns(r, err);
    if (!rc)
        rc = note_episodes(r, err);
    for (int i = 0; !rc && i < r->plan.nnote; i++)
        rc = rh_log__note(b, err, "%s", r->plan.note[i]);
    if (!rc && r->head.ignored)
        rc = rh_log__note(b, err,
                          "'# rehearse' lines are ignored: they do not match the header");
    if (!rc && r->csv.skip > 0)
        rc = rh_log__note(b, err, "%lld line%s before the header left out (--skip %lld)",
                          (long long)r->csv.skip, r->csv.skip == 1 ? "" : "s",
                          (long long)r->csv.skip);
    if (!rc && r->csv.units > 0)
        rc = rh_log__note(b, err, "line %lld holds units", (long long)r->csv.units);
    if (!rc && r->csv.first_line == 1)
        rc = r->csv.delimiter == '\t'
                 ? rh_log__note(b, err, "delimiter tab")
                 : rh_log__note(b, err, "delimiter '%c'", r->csv.delimiter);
    if (!rc && r->csv.order != RH_DATES_AUTO)
        rc = rh_log__note(b, err, "dates begin with the %s",
                          r->csv.order == RH_DATES_DAY_FIRST ? "day" : "month");
    if (!rc && r->csv.decimal_comma)
        rc = rh_log__note(b, err, "decimal comma");
    if (!rc && r->csv.returns)
        rc = rh_log__note(b, err, "lines end with a carriage return");
    if (!rc && r->csv.gzip)
        rc = rh_log__note(b, err, "gzip");
    return rc;
}
