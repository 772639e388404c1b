#include "log_internal.h"

const rh_log__format rh_log__csv = {
    .about = {"csv", "comma- or tab-separated values, also gzipped", true, false}};
