// report_internal.h - what is built into the page.

#ifndef REHEARSE_REPORT_INTERNAL_H
#define REHEARSE_REPORT_INTERNAL_H

#include "rehearse/report.h"

// A file of src/report/page, as the build left it.
typedef struct rh_asset {
    const char *begin, *end;
    const char *sha256; // hexadecimal, of all bytes
} rh_asset;

// assets.c, which cmake/page_assets.cmake writes
extern const rh_asset rh_asset__charts; // the chart library; empty in a build without npm
extern const rh_asset rh_asset__script; // ours
extern const rh_asset rh_asset__style;

#endif
