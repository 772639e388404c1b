// page.h - the page of a study whose data is at hand.

#ifndef REHEARSE_REPORT_PAGE_H
#define REHEARSE_REPORT_PAGE_H

#include "base/text.h"
#include "rehearse/base.h"

// Write the page of one study from its data, as in report.json. refresh: as for
// rh_report_write().
rh_status rh_report__write_study(const char *path, const rh_text *data, int refresh,
                                 rh_error *err);

#endif
