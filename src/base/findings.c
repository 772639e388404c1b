// findings.c - lists of findings.
//
// The list has a block from the beginning. If it cannot grow, the last finding is overwritten
// and rh_findings__end() reports it, so callers need no check after each finding.

#include "findings.h"
#include "base_internal.h"

#include <stdarg.h>

#define FIRST_ROOM 16

const char *rh_severity_name(rh_severity severity)
{
    switch (severity) {
    case RH_NOTICE:
        return "notice";
    case RH_WARNING:
        return "warning";
    case RH_ERROR:
        return "error";
    }
    return "";
}

bool rh_findings__begin(rh_findings *list)
{
    list->item = rh_alloc(FIRST_ROOM, sizeof *list->item);
    list->room = list->item ? FIRST_ROOM : 0;
    return list->item != NULL;
}

void rh_findings__clear(rh_findings *list)
{
    rh_free(list->item);
    *list = (rh_findings){0};
}

rh_finding *rh_findings__add(rh_findings *list, rh_severity severity, const char *id,
                             int64_t count, const char *evidence, ...)
{
    rh_finding *item = rh_base__alloc_more(list->item, &list->room, list->n, sizeof *item);
    if (item)
        list->item = item;
    else
        list->lost = true;
    rh_finding *finding = &list->item[item ? list->n++ : list->n - 1];
    *finding = (rh_finding){
        .severity = severity, .id = id, .count = count, .first = -1, .dim = -1, .line = -1};
    va_list args;
    va_start(args, evidence);
    vsnprintf(finding->evidence, sizeof finding->evidence, evidence, args);
    va_end(args);
    list->count[severity]++;
    return finding;
}

void rh_findings__advise(rh_finding *finding, const char *remedy, ...)
{
    va_list args;
    va_start(args, remedy);
    vsnprintf(finding->remedy, sizeof finding->remedy, remedy, args);
    va_end(args);
}

bool rh_findings__end(rh_findings *list)
{
    for (int i = 1; i < list->n; i++) {
        rh_finding one = list->item[i];
        int at = i;
        for (; at > 0 && list->item[at - 1].severity < one.severity; at--)
            list->item[at] = list->item[at - 1];
        list->item[at] = one;
    }
    return !list->lost;
}
