// report.h - what other modules of the library use of report beside its public header.

#ifndef RH_REPORT_H
#define RH_REPORT_H

#include "rehearse/report.h"

// Whether this build has the chart library (Vega-Lite). Without it the page has tables and
// plain charts.
bool rh_report__charts(void);

// The page of a study with what a deployment of it earned: status.json of its folder.
// Nullable: err.
rh_status rh_report__write_deployed(const char *path, const char *study, const char *deployment,
                                    rh_error *err);

#endif
