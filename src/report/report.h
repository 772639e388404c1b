// report.h - what other modules of the library use of report beside its public header.

#ifndef RH_REPORT_H
#define RH_REPORT_H

#include "rehearse/report.h"

// Whether this build has the chart library (Vega-Lite). Without it the page has tables and
// plain charts.
bool rh_report__charts(void);

#endif
