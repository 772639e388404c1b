// report.h - the report of a study: one page that a browser opens without a network.
//
// A study's folder has report.json, the data, and report.html, the page. The page holds data,
// styles and scripts; its content security policy allows nothing else.

#ifndef REHEARSE_REPORT_H
#define REHEARSE_REPORT_H

#include "rehearse/base.h"

#define RH_REPORT_DATA "report.json"
#define RH_REPORT_PAGE "report.html"
#define RH_REPORT_MOST 8 // studies on one page, at most

// Write the page of the studies in `folder` (n, 1 to RH_REPORT_MOST), from their report.json;
// several are put side by side. refresh: a browser loads the page again after so many seconds;
// 0: it does not. The page is written completely or not at all. Nullable: err.
RH_API rh_status rh_report_write(const char *path, const char *const *folder, int n,
                                 int refresh, rh_error *err);

#endif
