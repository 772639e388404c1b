#include "log_internal.h"

const rh_log__format rh_log__npz = {.about = {"npz", "NumPy arrays", true, false}};
