// minari_write.c - writes a Minari dataset that Minari and, without loss, minari.c read.
//
// 1. A path that ends in .hdf5 or .h5 is the HDF5 file alone; if it is called main_data.hdf5,
//    metadata.json is written beside it. Any other path is the dataset's folder, with both in
//    data/; minari.load_dataset() finds it in Minari's own folder.
// 2. An episode needs T + 1 observations. If the one after a terminal step is unknown, the last
//    one is repeated and an attribute says so: a NAN would spread to code that multiplies the
//    value of s' by zero.
// 3. Minari cannot store an s' that differs from the next s. The episode is split after it, as
//    truncated, and an attribute says that it continues. Minari sees two episodes, we see one.
// 4. minari_version is 0.5.0, which every release that reads metadata.json accepts.

#include "base/base_internal.h"
#include "base/file.h"
#include "hdf5.h"
#include "metadata.h"
#include "minari.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- episodes

// Steps that become one Minari episode.
typedef struct piece {
    const rh_log *log;
    int64_t first, n;
    int64_t shift; // subtracted from action numbers
    bool goes_on;  // the rest of the episode follows
} piece;

static const double *state(const rh_log *log, int32_t row)
{
    return log->obs + (int64_t)row * log->nobs;
}

static void observation(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    int64_t last = p->first + p->n - 1;
    int32_t row = i < p->n ? p->log->from[p->first + i] : p->log->to[last];
    if (row == RH_UNKNOWN)
        row = p->log->from[last];
    memcpy(x, state(p->log, row), (size_t)p->log->nobs * sizeof *x);
}

static void action(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    const rh_log *log = p->log;
    memcpy(x, log->act + (p->first + i) * log->nact, (size_t)log->nact * sizeof *x);
    if (log->naction > 0)
        *x += (double)p->shift;
}

static void reward(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    *x = p->log->reward[p->first + i];
}

static void terminal(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    *x = (p->log->flag[p->first + i] & RH_FLAG_TERMINAL) != 0;
}

static void truncated(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    *x = (p->log->flag[p->first + i] & RH_FLAG_TRUNCATED) != 0 || (p->goes_on && i == p->n - 1);
}

// There are T + 1 infos, so the last time is repeated.
static void time_of(const void *self, int64_t i, double *x)
{
    const piece *p = self;
    *x = p->log->time[p->first + (i < p->n ? i : p->n - 1)];
}

static void put_episode(rh_hdf5__out *out, const piece *p, int64_t number, bool resumes)
{
    const rh_log *log = p->log;
    char group[40], name[80];
    snprintf(group, sizeof group, "episode_%lld", (long long)number);
    const bool discrete = log->naction > 0;
    const struct {
        const char *name;
        rh_hdf5__rows rows;
    } all[] = {
        {"observations",
         {.type = RH_HDF5_DOUBLE, .nrow = p->n + 1, .ncol = log->nobs, .row = observation}},
        {"actions",
         {.type = discrete ? RH_HDF5_INT64 : RH_HDF5_DOUBLE,
          .nrow = p->n,
          .ncol = discrete ? 0 : log->nact,
          .row = action}},
        {"rewards", {.type = RH_HDF5_DOUBLE, .nrow = p->n, .row = reward}},
        {"terminations", {.type = RH_HDF5_BOOL, .nrow = p->n, .row = terminal}},
        {"truncations", {.type = RH_HDF5_BOOL, .nrow = p->n, .row = truncated}},
        {"infos/time", {.type = RH_HDF5_DOUBLE, .nrow = p->n + 1, .row = time_of}},
    };
    rh_hdf5__make_group(out, group);
    snprintf(name, sizeof name, "%s/infos", group);
    if (log->time)
        rh_hdf5__make_group(out, name);
    for (int i = 0; i < 5 + (log->time != NULL); i++) {
        rh_hdf5__rows rows = all[i].rows;
        snprintf(name, sizeof name, "%s/%s", group, all[i].name);
        rows.name = name;
        rows.self = p;
        rh_hdf5__put_rows(out, &rows);
    }
    rh_hdf5__put_number(out, group, "id", number);
    rh_hdf5__put_number(out, group, "total_steps", p->n);
    if (resumes)
        rh_hdf5__put_number(out, group, "rehearse_resumes", 1);
    if (p->goes_on)
        rh_hdf5__put_number(out, group, "rehearse_goes_on", 1);
    if (log->to[p->first + p->n - 1] == RH_UNKNOWN)
        rh_hdf5__put_number(out, group, "rehearse_end_unknown", 1);
}

// All episodes, split where needed. Returns the number of pieces.
static int64_t put_episodes(rh_hdf5__out *out, const rh_log *log)
{
    int64_t shift = 0, npiece = 0;
    if (!rh_metadata__in_a_row(log->label, log->naction, &shift))
        shift = 0;
    for (int e = 0; e < log->nepisode; e++)
        for (int64_t first = log->first[e], last = first; first < log->first[e + 1];
             first = ++last) {
            while (last + 1 < log->first[e + 1] && log->to[last] == log->from[last + 1])
                last++;
            piece p = {.log = log,
                       .first = first,
                       .n = last - first + 1,
                       .shift = shift,
                       .goes_on = last + 1 < log->first[e + 1]};
            bool resumes = !log->start[e] || first > log->first[e];
            put_episode(out, &p, npiece++, resumes);
        }
    return npiece;
}

// ---------------------------------------------------------------------------- about it

// The part of a path below Minari's folder, "datasets", or NULL.
static const char *below_datasets(const char *path)
{
    const char *at = strncmp(path, "datasets/", 9) == 0 ? path : strstr(path, "/datasets/");
    at = at ? strchr(at + 1, '/') : NULL;
    return at && at[1] ? at + 1 : NULL;
}

// A dataset id: [-_a-zA-Z0-9]-v<n>, perhaps below namespaces. It is the path below
// Minari's folder of datasets, else the last name of the path.
static void make_id(const char *path, char *id, size_t size)
{
    size_t n = strlen(path), used = 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *begin = below_datasets(path);
    for (const char *c = begin ? path + n : path; c < path + n; c++)
        if (*c == '/')
            begin = c + 1;
    begin = begin ? begin : path;
    bool whole = begin < path + n;
    for (const char *c = begin; c < path + n && used + 5 < size; c++) {
        bool fits = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                    (*c >= '0' && *c <= '9') || strchr("-_/", *c);
        id[used++] = (char)(fits ? *c : '_');
    }
    id[used] = 0;

    // Minari does not open a dataset without a version
    const char *version = strrchr(id, '-');
    bool versioned = version && version > id && version[1] == 'v' && version[2] &&
                     version[2 + strspn(version + 2, "0123456789")] == 0;
    if (!whole || !versioned)
        snprintf(id + used, size - used, "%s-v0", whole ? "" : "log");
}

// The attributes of the root, as up to 0.4.3, and our own.
static void put_root(rh_hdf5__out *out, const rh_log *log, const char *id, int64_t nepisode)
{
    char *text[] = {rh_metadata__print_space(log, false), rh_metadata__print_space(log, true),
                    rh_metadata__print_own(log)};
    static const char *const name[] = {"observation_space", "action_space", "rehearse"};
    for (int i = 0; i < 3; i++) {
        rh_hdf5__put_text(out, "/", name[i], text[i]);
        free(text[i]);
    }
    rh_hdf5__put_text(out, "/", "dataset_id", id);
    rh_hdf5__put_text(out, "/", "minari_version", "0.5.0");
    rh_hdf5__put_number(out, "/", "total_episodes", nepisode);
    rh_hdf5__put_number(out, "/", "total_steps", log->n);
}

// ---------------------------------------------------------------------------- files

// Write the HDF5 file under its temporary name. Owned: *file.
static rh_status make_hdf5(rh_file **file, const rh_log *log, const char *path, const char *id,
                           int64_t *nepisode, rh_error *err)
{
    rh_hdf5__out *out = NULL;
    rh_status rc = rh_file__create(file, path, err);
    if (!rc)
        rc = rh_hdf5__create(&out, rh_file__temporary(*file), path, err);
    if (rc)
        return rc;
    *nepisode = put_episodes(out, log);
    put_root(out, log, id, *nepisode);
    return rh_hdf5__end(out, err);
}

// Write metadata.json under its temporary name. Owned: *file.
static rh_status make_json(rh_file **file, const rh_log *log, const char *path, const char *id,
                           int64_t nepisode, const char *data, rh_error *err)
{
    struct stat st;
    double size = stat(data, &st) == 0 ? (double)st.st_size / 1e6 : 0.0;
    char *text = rh_metadata__print(log, id, nepisode, size);
    rh_status rc = text ? rh_file__create(file, path, err) : rh_file__no_memory(path, err);
    FILE *stream = rc ? NULL : rh_file__stream(*file);
    if (!rc && (!stream || fputs(text, stream) == EOF || fputc('\n', stream) == EOF))
        rc = rh_file__cannot_write(path, errno, err);
    free(text);
    return rc;
}

// Both files, or only the first if json is NULL.
static rh_status write_files(const rh_log *log, const char *hdf5, const char *json,
                             const char *id, rh_error *err)
{
    rh_file *data = NULL, *about = NULL;
    int64_t nepisode = 0;
    rh_status rc = make_hdf5(&data, log, hdf5, id, &nepisode, err);
    if (!rc && json)
        rc = make_json(&about, log, json, id, nepisode, rh_file__temporary(data), err);
    if (!rc) {
        rc = rh_file__commit(data, err);
        data = NULL;
    }
    if (!rc && about) {
        rc = rh_file__commit(about, err);
        about = NULL;
    }
    rh_file__discard(data);
    rh_file__discard(about);
    return rc;
}

// Make a folder unless it exists; *made: it did not.
static rh_status make_folder(const char *path, bool *made, rh_error *err)
{
    struct stat st;
    *made = mkdir(path, 0777) == 0;
    if (*made || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return RH_OK;
    return rh_fail(err, RH_EIO, "%s: cannot make the folder: %s", rh_base__path_tail(path),
                   strerror(errno));
}

// Make the folders of the namespaces in a path below Minari's folder, which can be changed.
static rh_status make_namespaces(char *path, rh_error *err)
{
    const char *below = below_datasets(path);
    rh_status rc = RH_OK;
    bool made;
    for (char *c = below ? strchr(below, '/') : NULL; c && !rc; c = strchr(c + 1, '/')) {
        *c = 0;
        rc = make_folder(path, &made, err);
        *c = '/';
    }
    return rc;
}

static rh_status write_folder(const rh_log *log, const char *path, char *work, size_t size,
                              rh_error *err)
{
    char id[256];
    bool made = false, made_data = false;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *data = work + size, *hdf5 = data + size, *json = hdf5 + size;
    snprintf(work, size, "%.*s", (int)n, path);
    snprintf(data, size, "%.*s/data", (int)n, path);
    snprintf(hdf5, size, "%.*s/data/main_data.hdf5", (int)n, path);
    snprintf(json, size, "%.*s/data/metadata.json", (int)n, path);
    make_id(path, id, sizeof id);
    rh_status rc = make_namespaces(work, err);
    if (!rc)
        rc = make_folder(work, &made, err);
    if (!rc)
        rc = make_folder(data, &made_data, err);
    if (!rc)
        rc = write_files(log, hdf5, json, id, err);
    if (rc && made_data)
        rmdir(data);
    if (rc && made)
        rmdir(work);
    return rc;
}

rh_status rh_minari__write(const rh_log *log, const char *path, rh_error *err)
{
    static const char main_data[] = "main_data.hdf5";
    char id[256];
    size_t n = strlen(path), size = n + 40, tail = sizeof main_data - 1;
    rh_status rc = RH_OK;
    char *work = rh_alloc(4, size);
    if (!work)
        return rh_file__no_memory(path, err);
    if (!rh_log__ends_with(path, ".hdf5") && !rh_log__ends_with(path, ".h5")) {
        rc = write_folder(log, path, work, size, err);
    } else if (rh_log__ends_with(path, main_data) && (n == tail || path[n - tail - 1] == '/')) {
        // the dataset is named after the folder above data/
        snprintf(work, size, "%.*s", (int)(n - tail), path);
        for (size_t k = strlen(work); k > 0 && work[k - 1] == '/';)
            work[--k] = 0;
        if (rh_log__ends_with(work, "/data"))
            work[strlen(work) - 5] = 0;
        make_id(work, id, sizeof id);
        snprintf(work + size, size, "%.*smetadata.json", (int)(n - tail), path);
        rc = write_files(log, path, work + size, id, err);
    } else {
        make_id(path, id, sizeof id);
        rc = write_files(log, path, NULL, id, err);
    }
    rh_free(work);
    return rc;
}
