// findings.h - how a list of findings is filled.

#ifndef REHEARSE_BASE_FINDINGS_H
#define REHEARSE_BASE_FINDINGS_H

#include "rehearse/base.h"

// The finding with a name. False: there is none.
bool rh_findings__find(const char *name, rh_finding_id *id);

#define RH_FINDINGS__NLOG RH_FINDING_PREDICTION_NO_BETTER // the first ids are those of a log

// Start a list that is all zeros. False: out of memory.
bool rh_findings__begin(rh_findings *list, rh_origin origin);
void rh_findings__clear(rh_findings *list);

// Add a finding with its evidence; the caller sets its remedy, and `first` and `dim` where they
// are not -1. The answer is valid until the next call, also when memory ran out.
rh_finding *rh_findings__add(rh_findings *list, rh_severity severity, rh_finding_id id,
                             int64_t count, const char *evidence, ...) RH_PRINTF(5, 6);
void rh_findings__advise(rh_finding *finding, const char *remedy, ...) RH_PRINTF(2, 3);
// Add a copy of a finding of another list.
void rh_findings__copy(rh_findings *list, const rh_finding *finding);

int rh_findings__accepted(const rh_findings *list); // how many errors the user accepts

// Sort the list: gravest first, then as added. False: out of memory at some time since begin.
bool rh_findings__end(rh_findings *list);

#endif
