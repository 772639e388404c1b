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
extern const rh_asset rh_asset__script; // of a study's page
extern const rh_asset rh_asset__style;

// What a page is made of.
typedef struct rh_report__source {
    const char *key;        // of the version, in the data
    const char *class;      // of the element that has the data
    const char *whose;      // "a study"
    const char *maker;      // what writes the data
    const rh_asset *script; // that draws it
} rh_report__source;

// Write the page of one file of data, completely or not at all. Nullable: err.
rh_status rh_report__write_page(const char *path, const char *data, const rh_report__source *is,
                                rh_error *err);

#endif
