// plan_accept.c - errors of a log that the user accepts by name.
//
// A log with an error must not be used as it is: a study would answer, and wrongly. Some errors
// are false, or known and harmless; these are accepted one by one. An accepted error stays
// among the findings of the verdict and limits the trust (trust.c).

#include "base/base.h"
#include "plan.h"

#include <string.h>

#define MOST_NAME 60 // bytes of a name in a message

// One name of the list.
static rh_status accept(bool *field, const char *name, size_t n, const rh_key__said *said,
                        rh_error *err)
{
    const char *known[RH_FINDINGS__NLOG];
    char label[RH_KEY__LABEL], what[RH_KEY__LABEL + 32], word[MOST_NAME];
    for (int i = 0; i < (int)RH_FINDINGS__NLOG; i++) {
        known[i] = rh_finding_name((rh_finding_id)i);
        if (strlen(known[i]) == n && strncmp(known[i], name, n) == 0) {
            field[i] = true;
            return RH_OK;
        }
    }
    rh_key__label(said, NULL, "", label);
    snprintf(word, sizeof word, "%.*s", (int)(n < MOST_NAME ? n : MOST_NAME - 1), name);
    snprintf(what, sizeof what, "%s: no finding of a log", label);
    return rh_key__tidy(err, rh_base__unknown(err, what, word, known, (int)RH_FINDINGS__NLOG));
}

// Names between commas, semicolons or spaces; `none` is no name.
static rh_status accept_all(bool *field, const char *at, const rh_key__said *said,
                            rh_error *err)
{
    rh_status rc = RH_OK;
    for (at += strspn(at, ",; "); *at && !rc; at += strspn(at, ",; ")) {
        size_t n = strcspn(at, ",; ");
        if (!(n == 4 && strncmp(at, "none", n) == 0))
            rc = accept(field, at, n, said, err);
        at += n;
    }
    return rc;
}

rh_status rh_plan__read_accept(void *field, const rh_key__said *said, rh_error *err)
{
    static const char expected[] = "names of errors such as row-shift";
    const rh_yaml *value = said->value;
    rh_status rc = RH_OK;
    memset(field, 0, RH_FINDINGS__NLOG * sizeof(bool));
    if (value->kind == RH_YAML_TEXT)
        return accept_all(field, value->text, said, err);
    if (value->kind != RH_YAML_LIST)
        return rh_key__refuse(said, NULL, "", err, expected);
    for (int i = 0; i < value->n && !rc; i++)
        rc = value->item[i]->kind == RH_YAML_TEXT
                 ? accept_all(field, value->item[i]->text, said, err)
                 : rh_key__refuse(said, value->item[i], "", err, expected);
    return rc;
}

void rh_plan__show_accept(const void *field, rh_text *text)
{
    const bool *accepted = field;
    bool any = false;
    for (int i = 0; i < (int)RH_FINDINGS__NLOG; i++)
        if (accepted[i]) {
            rh_text__format(text, "%s%s", any ? "," : "", rh_finding_name((rh_finding_id)i));
            any = true;
        }
}

bool rh_plan__accepts(const rh_plan *plan)
{
    for (int i = 0; i < (int)RH_FINDINGS__NLOG; i++)
        if (plan->accept[i])
            return true;
    return false;
}

rh_status rh_plan_accept(const rh_plan *plan, rh_log_report *report, rh_error *err)
{
    const rh_finding *first = NULL;
    int n = 0;
    for (int i = 0; i < report->findings.n; i++) {
        rh_finding *f = &report->findings.item[i];
        f->accepted = f->severity == RH_ERROR && plan->accept[f->id];
        if (f->severity != RH_ERROR || f->accepted)
            continue;
        first = first ? first : f;
        n++;
    }
    if (!first)
        return RH_OK;
    char more[48] = "";
    if (n > 1)
        snprintf(more, sizeof more, " (and %d more error%s)", n - 1, n > 2 ? "s" : "");
    return rh_fail(err, RH_EINVAL, "log: %s: %.300s%s; fix the log, or accept: %s",
                   rh_finding_name(first->id), first->evidence, more,
                   rh_finding_name(first->id));
}
