#include "log_internal.h"

const rh_log__format rh_log__d4rl = {.about = {"d4rl", "D4RL flat HDF5", true, false}};
