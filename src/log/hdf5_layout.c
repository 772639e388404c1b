// hdf5_layout.c - detects the layout of an HDF5 file from what its root holds.

#include "base/base_internal.h"
#include "hdf5.h"

#include <string.h>

bool rh_hdf5__probe(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    if (n >= sizeof mark && memcmp(head, mark, sizeof mark) == 0)
        return true;
    if (n < 512)
        return false;
    FILE *file = fopen(path, "rbe");
    bool found = false;
    for (long at = 512; file && at <= 1L << 20 && !found; at *= 2) {
        unsigned char there[8];
        if (fseek(file, at, SEEK_SET) != 0 || fread(there, 1, 8, file) != 8)
            break;
        found = memcmp(there, mark, sizeof mark) == 0;
    }
    if (file)
        fclose(file);
    return found;
}

// Unknown layout: say what the root holds.
static rh_status no_layout(rh_hdf5 *file, rh_error *err)
{
    char list[240] = "", shown[48];
    char **name = NULL;
    int64_t n = 0;
    const char *path = rh_base__path_tail(rh_hdf5__path(file));
    rh_status rc = rh_hdf5__names(file, "/", 8, &name, &n, err);
    if (rc)
        return rc;
    for (int64_t i = 0; i < n && i < 5; i++)
        rh_text__put(list, sizeof list, "%s%s", i ? ", " : "",
                     rh_text__printable(name[i], shown, sizeof shown));
    rh_free(name);
    if (rh_hdf5__kind(file, "data/demo_0") == RH_HDF5_GROUP ||
        rh_hdf5__kind(file, "data/demo_1") == RH_HDF5_GROUP)
        return rh_fail(err, RH_EFORMAT,
                       "%s: robomimic's layout (data/demo_<n>), expected Minari's, D4RL's or "
                       "d3rlpy's; docs/logs.md shows how to export it",
                       path);
    if (rh_hdf5__kind(file, "virtual") == RH_HDF5_GROUP)
        return rh_fail(err, RH_EFORMAT,
                       "%s: D4RL's layout in chunks (virtual/...), expected observations, "
                       "actions, rewards and terminals at the root",
                       path);
    return rh_fail(err, RH_EFORMAT,
                   "%s: an HDF5 file with %s%s%s at its root, expected episode_0 (Minari), "
                   "observations (D4RL) or observations_0 (d3rlpy)",
                   path, n ? list : "nothing", n > 5 ? ", ..." : "", "");
}

// Whether there is a group episode_<i>, though no episode_0.
static rh_status find_episodes(const rh_hdf5 *file, bool *found, rh_error *err)
{
    char **name = NULL;
    int64_t n = 0;
    rh_status rc = rh_hdf5__names(file, "/", 64, &name, &n, err);
    for (int64_t i = 0; i < n && !*found; i++) {
        const char *digit = strncmp(name[i], "episode_", 8) == 0 ? name[i] + 8 : "";
        *found = *digit && !digit[strspn(digit, "0123456789")] &&
                 rh_hdf5__kind(file, name[i]) == RH_HDF5_GROUP;
    }
    rh_free(name);
    return rc;
}

rh_status rh_hdf5__read(rh_log **out, const char *path, const rh_log_options *opt,
                        rh_error *err)
{
    static const char *const of_d3rlpy[] = {"num_episodes", "observations_0",
                                            "observations_0_0", "episode_terminals"};
    rh_hdf5 *file = NULL;
    rh_log *log = NULL;
    rh_status rc = rh_hdf5__open(&file, path, err);
    if (rc)
        return rc;
    rh_hdf5__type_kind first = rh_hdf5__kind(file, "episode_0"),
                       flat = rh_hdf5__kind(file, "observations");
    bool minari = first == RH_HDF5_GROUP || first == RH_HDF5_OUTSIDE, d3rlpy = false;
    bool d4rl = flat == RH_HDF5_DATASET || flat == RH_HDF5_OUTSIDE;
    for (int i = 0; i < 4; i++)
        d3rlpy = d3rlpy || rh_hdf5__kind(file, of_d3rlpy[i]) == RH_HDF5_DATASET;
    if (!minari && !d4rl && !d3rlpy)
        rc = find_episodes(file, &minari, err);
    if (opt->format) {
        minari = strcmp(opt->format, "minari") == 0;
        d3rlpy = strcmp(opt->format, "d3rlpy") == 0;
        d4rl = strcmp(opt->format, "d4rl") == 0;
    } else if (!d4rl && !d3rlpy && opt->obs) {
        d4rl = !minari; // arrays named by the caller
    }
    if (rc)
        goto done;
    if (minari)
        rc = rh_minari__read(&log, file, opt, err);
    else if (d3rlpy)
        rc = rh_d3rlpy__read(&log, file, opt, err);
    else if (d4rl)
        rc = rh_d4rl__read(&log, file, opt, err);
    else
        rc = no_layout(file, err);

done:
    // not every question can fail, so a helper that ended is found here at the latest
    if (rh_hdf5__fault(file, NULL))
        rc = rh_hdf5__fault(file, err);
    if (rc)
        rh_log_destroy(log);
    else
        *out = log;
    rh_hdf5__close(file);
    return rh_log__one_line(rc, err);
}
