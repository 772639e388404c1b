#include "log_internal.h"

const rh_log__format rh_log__d3rlpy = {.about = {"d3rlpy", "d3rlpy dumps", true, false}};
