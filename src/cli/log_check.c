// log_check.c - what `inspect` says of a log, before `tune` and `fit` work with it.
//
// 1. Errors and warnings come first, one line each; `inspect` has the remedies and the notices.
// 2. An error that is not accepted by name ends the command before it learns anything: a model
//    of a broken log answers too, and wrongly.

#include "cli_internal.h"

#include "base/text.h"

#include <string.h>

// The command that shows all about the log.
static void name_inspect(const cli_args *args, rh_text *text)
{
    rh_text__add(text, "rehearse inspect");
    for (int i = 0; i < args->nword; i++) {
        rh_text__add(text, " ");
        rh_text__shell(text, args->word[i]);
    }
    for (int i = 0; i < args->ngiven; i++) {
        const cli_given *given = &args->given[i];
        bool of_log = strcmp(given->option->option, "roles") == 0;
        for (int k = 0; rh_log_key_at(k); k++)
            of_log = of_log || given->option == rh_log_key_at(k);
        if (!of_log)
            continue;
        rh_text__format(text, " --%s=", given->option->option);
        rh_text__shell(text, given->value ? given->value : "");
    }
}

static void print_line(const rh_finding *f, int width)
{
    cli_style style = cli_style_of(stdout);
    char text[700];
    snprintf(text, sizeof text, "%s: %s%s", rh_finding_name(f->id),
             f->accepted ? "(accepted) " : "", f->evidence);
    int columns = cli_text_columns(text);
    printf("  %s%-8s%s", style.alarm, rh_severity_name(f->severity), style.plain);
    cli_print_name(text, columns < width - 10 ? columns : width - 10);
    putchar('\n');
}

static void print_all(const rh_findings *list, const char *inspect)
{
    int n = list->count[RH_ERROR] + list->count[RH_WARNING];
    if (!n)
        return;
    cli_line("log findings", "%d error%s, %d warning%s; details: %s", list->count[RH_ERROR],
             cli_plural(list->count[RH_ERROR]), list->count[RH_WARNING],
             cli_plural(list->count[RH_WARNING]), inspect);
    for (int i = 0; i < n; i++) // gravest first
        print_line(&list->item[i], cli_page());
    putchar('\n');
    fflush(stdout);
}

// Every error that is not accepted, and what to do.
static int refuse(const rh_findings *list, const char *path, const char *inspect)
{
    rh_text names = {0};
    for (int i = 0; i < list->n; i++) {
        const rh_finding *f = &list->item[i];
        if (f->severity != RH_ERROR)
            continue;
        rh_text__format(&names, "%s%s", names.n ? "," : "", rh_finding_name(f->id));
        if (!f->accepted)
            cli_say("%s: error %s: %s", path, rh_finding_name(f->id), f->evidence);
    }
    cli_try("%s, which says what to do", inspect);
    if (names.data)
        cli_try("--accept %s to go on nevertheless; the trust is then low at best", names.data);
    rh_text__clear(&names);
    return CLI_USAGE;
}

int cli_log_check(rh_log_report **report, const cli_args *args, const rh_plan *plan,
                  const rh_log *log, bool words)
{
    rh_text inspect = {0};
    rh_error err;
    int rc = cli_pass(rh_log_inspect(report, log, &err), &err);
    if (rc)
        return rc;
    name_inspect(args, &inspect);
    if (inspect.bad)
        rc = cli_fail("out of memory");
    else if (rh_plan_accept(plan, *report, &err))
        rc = refuse(&(*report)->findings, log->path, inspect.data);
    else if (words)
        print_all(&(*report)->findings, inspect.data);
    rh_text__clear(&inspect);
    return rc;
}
