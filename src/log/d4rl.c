// d4rl.c - reads D4RL's layout: one HDF5 file of arrays side by side.
//
//     observations (N, ...)   actions (N, ...)   rewards, terminals (N) or (N, 1)
//     optional: timeouts (N), next_observations (N, ...)   on request: infos/...
//
// After d4rl/offline_env.py. Its qlearning_dataset() uses the first observation of the next
// episode as the s' of a terminal step and drops the last row; here such an s' is unknown.
// metadata/... has other lengths and is ignored.

#include "hdf5.h"

rh_status rh_d4rl__read(rh_log **out, rh_hdf5 *file, const rh_log_options *opt, rh_error *err)
{
    rh_flat flat = {.what = "dataset",
                    .usual = {[RH_FLAT_OBS] = {"observations"},
                              [RH_FLAT_ACTION] = {"actions"},
                              [RH_FLAT_REWARD] = {"rewards"},
                              [RH_FLAT_TERMINAL] = {"terminals"},
                              [RH_FLAT_TRUNCATED] = {"timeouts"},
                              [RH_FLAT_NEXT] = {"next_observations"},
                              [RH_FLAT_TIME] = {"time", "timestamp", "timestamps"}},
                    .terminal_needed = true,
                    .plan.shape.format = "d4rl"};
    return rh_hdf5__read_flat(out, file, &flat, opt, err);
}

// Detected in hdf5_layout.c, once the file is open.
const rh_log__format rh_log__d4rl = {
    .about = {"d4rl", "D4RL: arrays side by side in an HDF5 file", true, false},
    .read = rh_hdf5__read,
};
