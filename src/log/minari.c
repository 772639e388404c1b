#include "log_internal.h"

const rh_log__format rh_log__minari = {.about = {"minari", "Minari datasets", true, false}};
