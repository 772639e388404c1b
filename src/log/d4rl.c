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
    static const char *const obs[] = {"observations", NULL}, *const action[] = {"actions",
                                                                                NULL};
    static const char *const reward[] = {"rewards", NULL};
    static const char *const terminal[] = {"terminals", NULL};
    static const char *const truncated[] = {"timeouts", NULL};
    static const char *const next[] = {"next_observations", NULL};
    static const char *const time[] = {"time", "timestamp", "timestamps", NULL};
    rh_flat flat = {.what = "dataset",
                    .usual = {[RH_FLAT_OBS] = obs,
                              [RH_FLAT_ACTION] = action,
                              [RH_FLAT_REWARD] = reward,
                              [RH_FLAT_TERMINAL] = terminal,
                              [RH_FLAT_TRUNCATED] = truncated,
                              [RH_FLAT_NEXT] = next,
                              [RH_FLAT_TIME] = time},
                    .terminal_needed = true,
                    .plan.shape = {.path = rh_hdf5__path(file), .format = "d4rl"}};
    rh_status rc = rh_hdf5__arrays(&flat.array, &flat.narray, file, err);
    if (!rc)
        rc = rh_flat__read(out, &flat, opt, err);
    for (int i = 0; i < flat.narray; i++)
        rh_array__clear(&flat.array[i]);
    rh_free(flat.array);
    return rc;
}

// Detected in hdf5_layout.c, once the file is open.
const rh_log__format rh_log__d4rl = {
    .about = {"d4rl", "D4RL: arrays side by side in an HDF5 file", true, false},
    .read = rh_hdf5__read,
};
