// d4rl.c - D4RL's layout: one HDF5 file of arrays side by side.
//
//     observations (N, ...)   actions (N, ...)   rewards, terminals (N) or (N, 1)
//     timeouts (N), next_observations (N, ...): maybe      infos/...: when asked for
//
// After d4rl/offline_env.py. Its qlearning_dataset() takes the first observation of the next
// episode for the s' of a terminal step, and drops the last row whatever it is; here s' is
// unknown instead. metadata/... has other lengths and is not looked at.

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

// Found out when the file is open, in hdf5.c.
const rh_log__format rh_log__d4rl = {
    .about = {"d4rl", "D4RL: arrays side by side in an HDF5 file", true, false},
    .read = rh_hdf5__read,
};
