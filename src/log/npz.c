// npz.c - reads NumPy archives: zip files of arrays, as np.savez, NeoRL and NeoRL-2 write them.
//
// 1. Arrays are unpacked a slab at a time. The exception is a member in Fortran order: its rows
//    are scattered, so it is unpacked as a whole.
// 2. A member's declared size must be possible for its packed size (deflate packs at most 1032
//    to 1), so a small file cannot ask for much memory.
// 3. `index` (NeoRL) lists the first rows of episodes. The files hold ends, their documentation
//    says starts, with or without 0: these are the same rows. An index with a number for every
//    step is ignored, with a note.
// 4. Our own files (npz_write.c) store what NumPy has no place for in arrays of text:
//    action_labels, obs_names, obs_units, action_names, reward_name, action_kind.

#include "npz.h"
#include "base/base_internal.h"
#include "npy.h"

#include <math.h>
#include <string.h>
#include <zip.h>

#define MAX_MEMBERS 512 // each is open and takes some 50 kB
#define MAX_RATIO 1032
#define LONGEST_TEXT 1024 // most characters of a name

typedef struct archive {
    const char *path; // borrowed
    zip_t *zip;       // owned
    rh_array *array;  // owned  (narray)
    rh_npy *npy;      // owned  (narray)
    int narray;
    unsigned char *raw; // owned, the bytes of a slab
    size_t nraw;
    unsigned char *head; // owned (RH_NPY__HEAD)
} archive;

// ---------------------------------------------------------------------------- members

// Read n bytes of a member.
static rh_status read_bytes(const archive *a, const rh_array *array, void *bytes, size_t n,
                            rh_error *err)
{
    zip_file_t *file = array->stream;
    for (size_t got = 0; got < n;) {
        zip_int64_t done = zip_fread(file, (char *)bytes + got, n - got);
        if (done < 0)
            return rh_fail(err, RH_EFORMAT, "%s: %s.npy is damaged: %s",
                           rh_base__path_tail(a->path), array->name, zip_file_strerror(file));
        if (done == 0)
            return rh_fail(err, RH_EFORMAT, "%s: %s.npy is cut off: expected shape %s",
                           rh_base__path_tail(a->path), array->name, array->shape);
        got += (size_t)done;
    }
    return RH_OK;
}

// Check the member's end. libzip verifies the checksum only when the end is reached.
static rh_status read_end(const archive *a, const rh_array *array, rh_error *err)
{
    char more;
    zip_int64_t done = zip_fread(array->stream, &more, 1);
    if (done == 0)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT, "%s: %s.npy is damaged: %s", rh_base__path_tail(a->path),
                   array->name,
                   done < 0 ? zip_file_strerror(array->stream) : "it is longer than its shape");
}

static void shut_member(rh_array *array)
{
    if (array->stream)
        zip_fclose(array->stream);
    array->stream = NULL;
}

// Make room for n bytes of the file.
static rh_status make_raw(archive *a, size_t n, rh_error *err)
{
    if (n <= a->nraw)
        return RH_OK;
    rh_free(a->raw);
    a->raw = rh_alloc(n, 1);
    a->nraw = a->raw ? n : 0;
    return a->raw ? RH_OK : rh_base__no_memory(err, a->path);
}

static rh_status load_rows(rh_array *array, int64_t first, int64_t n, double *x, rh_error *err)
{
    archive *a = array->source;
    const rh_npy *npy = &a->npy[array->handle];
    size_t size = (size_t)n * (size_t)array->width * (size_t)npy->size;
    rh_status rc = make_raw(a, size, err);
    if (!rc)
        rc = read_bytes(a, array, a->raw, size, err);
    if (!rc && first + n == array->nrow)
        rc = read_end(a, array, err);
    if (!rc)
        rh_npy__numbers(npy, a->raw, n * array->width, x);
    return rc;
}

// The index in C order of element i in Fortran order.
static int64_t c_place(const rh_npy *npy, int64_t i)
{
    int64_t place = 0, stride = npy->count;
    for (int k = 0; k < npy->rank; k++) {
        stride /= npy->dim[k];
        place += i % npy->dim[k] * stride;
        i /= npy->dim[k];
    }
    return place;
}

// Load a whole array in Fortran order into its slab, as rows.
static rh_status load_fortran(rh_array *array, int64_t first, int64_t n, double *x,
                              rh_error *err)
{
    (void)first;
    (void)n;
    archive *a = array->source;
    const rh_npy *npy = &a->npy[array->handle];
    const int64_t part = 65536;
    rh_status rc = make_raw(a, (size_t)part * (size_t)npy->size, err);
    double *number = rh_alloc((size_t)part, sizeof *number);
    if (!rc && !number)
        rc = rh_base__no_memory(err, a->path);
    for (int64_t i = 0; i < npy->count && !rc; i += part) {
        int64_t m = npy->count - i < part ? npy->count - i : part;
        rc = read_bytes(a, array, a->raw, (size_t)m * (size_t)npy->size, err);
        if (rc)
            break;
        rh_npy__numbers(npy, a->raw, m, number);
        for (int64_t j = 0; j < m; j++)
            x[c_place(npy, i + j)] = number[j];
    }
    if (!rc)
        rc = read_end(a, array, err);
    rh_free(number);
    return rc;
}

// Whether a member can have its declared size.
static bool believable(const zip_stat_t *st)
{
    zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((st->valid & wanted) != wanted)
        return false;
    if (st->comp_method == ZIP_CM_STORE)
        return st->size == st->comp_size;
    return st->size / MAX_RATIO <= st->comp_size + 64;
}

// Open member i as array `place` and read its header.
static rh_status open_member(archive *a, zip_uint64_t i, int place, const zip_stat_t *st,
                             rh_error *err)
{
    rh_array *array = &a->array[place];
    rh_npy *npy = &a->npy[place];
    char what[400];
    snprintf(what, sizeof what, "%s: %s.npy", rh_base__path_tail(a->path), array->name);
    snprintf(array->shape, sizeof array->shape, "(...)");
    if (!believable(st))
        return rh_fail(err, RH_EFORMAT, "%s is damaged: %llu bytes packed into %llu", what,
                       (unsigned long long)st->size, (unsigned long long)st->comp_size);
    array->stream = zip_fopen_index(a->zip, i, 0);
    array->shut = shut_member;
    if (!array->stream)
        return rh_fail(err, RH_EFORMAT, "%s: cannot be unpacked: %s", what,
                       zip_strerror(a->zip));

    // the header
    rh_status rc = read_bytes(a, array, a->head, RH_NPY__FIRST, err);
    if (rc)
        return rc;
    size_t head = rh_npy__head_size(a->head, RH_NPY__FIRST);
    if (head > RH_NPY__HEAD || head < RH_NPY__FIRST)
        return rh_fail(err, RH_EFORMAT, "%s: not a NumPy array", what);
    rc = read_bytes(a, array, a->head + RH_NPY__FIRST, head - RH_NPY__FIRST, err);
    if (!rc)
        rc = rh_npy__parse(npy, a->head, head, what, err);
    if (rc)
        return rc;

    // its type and shape
    array->type = rh_npy__type(npy);
    array->numeric =
        npy->kind != 'O' && npy->kind != 'V' && npy->kind != 'U' && npy->kind != 'S';
    array->whole = npy->kind != 'f';
    array->source = a;
    array->handle = place;
    array->load = npy->fortran && npy->rank > 1 ? load_fortran : load_rows;
    if (!rh_array__set_shape(array, npy->rank, npy->dim))
        return rh_fail(err, RH_EFORMAT, "%s: the array's shape is too large", what);
    if (npy->kind != 'O' && npy->kind != 'V' &&
        st->size != head + (zip_uint64_t)npy->count * (zip_uint64_t)npy->size)
        return rh_fail(err, RH_EFORMAT, "%s: %llu bytes, expected %llu for shape %s of %s",
                       what, (unsigned long long)st->size,
                       (unsigned long long)head +
                           (unsigned long long)npy->count * (unsigned long long)npy->size,
                       array->shape, array->type);
    return RH_OK;
}

static rh_status open_members(archive *a, rh_error *err)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    if (n > MAX_MEMBERS)
        return rh_fail(err, RH_EFORMAT, "%s: %lld members, expected at most %d",
                       rh_base__path_tail(a->path), (long long)n, MAX_MEMBERS);
    a->array = rh_alloc((size_t)n + 1, sizeof *a->array);
    a->npy = rh_alloc((size_t)n + 1, sizeof *a->npy);
    a->head = rh_alloc(RH_NPY__HEAD, 1);
    if (!a->array || !a->npy || !a->head)
        return rh_base__no_memory(err, a->path);
    for (zip_int64_t i = 0; i < n; i++) {
        zip_stat_t st;
        if (zip_stat_index(a->zip, (zip_uint64_t)i, 0, &st) != 0 || !(st.valid & ZIP_STAT_NAME))
            return rh_fail(err, RH_EFORMAT, "%s: damaged: %s", rh_base__path_tail(a->path),
                           zip_strerror(a->zip));
        size_t length = strlen(st.name);
        if (length < 5 || length - 4 >= RH_ARRAY__NAME ||
            memcmp(st.name + length - 4, ".npy", 4) != 0)
            continue;
        int place = a->narray++;
        memcpy(a->array[place].name, st.name, length - 4);
        rh_status rc = open_member(a, (zip_uint64_t)i, place, &st, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

static void close_archive(archive *a)
{
    for (int i = 0; i < a->narray; i++)
        rh_array__clear(&a->array[i]);
    rh_free(a->array);
    rh_free(a->npy);
    rh_free(a->raw);
    rh_free(a->head);
    if (a->zip)
        zip_discard(a->zip);
    *a = (archive){0};
}

// ---------------------------------------------------------------------------- our own arrays

// All texts and small arrays.
typedef struct extras {
    char **label, **obs_name, **obs_unit, **act_name, **reward_name, **kind; // owned
    int nlabel, nobs_name, nobs_unit, nact_name, nreward_name, nkind;
    double *boundary, *start; // owned
    int64_t nboundary, nstart;
} extras;

static void clear_extras(extras *x)
{
    rh_free(x->label);
    rh_free(x->obs_name);
    rh_free(x->obs_unit);
    rh_free(x->act_name);
    rh_free(x->reward_name);
    rh_free(x->kind);
    rh_free(x->boundary);
    rh_free(x->start);
}

// The texts of the array `name`; none if there is none or it is not ours.
static rh_status read_texts(archive *a, const rh_flat *flat, const char *name, char ***text,
                            int *n, rh_error *err)
{
    rh_array *array = rh_flat__find(flat, name);
    const rh_npy *npy = array ? &a->npy[array->handle] : NULL;
    if (!npy || (npy->kind != 'U' && npy->kind != 'S') || npy->rank != 1 ||
        npy->count > RH_MAX_OBS || npy->size > 4 * LONGEST_TEXT)
        return RH_OK;

    size_t count = (size_t)npy->count, length = 4 * (size_t)npy->size + 1;
    rh_status rc = make_raw(a, count * (size_t)npy->size + 1, err);
    if (!rc)
        rc = read_bytes(a, array, a->raw, count * (size_t)npy->size, err);
    if (!rc)
        rc = read_end(a, array, err);
    if (rc)
        return rc;
    *text = rh_alloc(1, (count + 1) * sizeof **text + count * length);
    if (!*text)
        return rh_base__no_memory(err, a->path);
    char *room = (char *)(*text + count + 1);
    for (size_t i = 0; i < count; i++, room += length) {
        (*text)[i] = room;
        if (!rh_npy__text(npy, a->raw + i * (size_t)npy->size, room, length))
            return rh_fail(err, RH_EFORMAT, "%s: text %zu of %s is not Unicode",
                           rh_base__path_tail(a->path), i, name);
    }
    *n = (int)count;
    return RH_OK;
}

// Load a small array of numbers.
static rh_status read_whole(rh_array *array, double **x, int64_t *n, const char *path,
                            rh_error *err)
{
    *x = rh_alloc((size_t)array->nrow + 1, sizeof **x);
    if (!*x)
        return rh_base__no_memory(err, path);
    rh_status rc = RH_OK;
    for (int64_t i = 0; i < array->nrow && !rc; i++) {
        const double *row = NULL;
        rc = rh_array__row(array, i, &row, err);
        if (!rc)
            (*x)[i] = *row;
    }
    *n = array->nrow;
    return rc;
}

// First rows of episodes, from NeoRL's index.
static rh_status read_index(const archive *a, rh_flat *flat, int64_t nrow, extras *x,
                            rh_error *err)
{
    rh_array *array = rh_flat__find(flat, "index");
    if (!array || !array->numeric || array->width != 1 || array->rank == 0)
        return RH_OK;
    if (array->nrow >= nrow) {
        flat->remark = "array index has a number for every step, not for every episode";
        return RH_OK;
    }
    rh_status rc = read_whole(array, &x->boundary, &x->nboundary, a->path, err);
    double before = -1.0;
    for (int64_t i = 0; i < x->nboundary && !rc; i++) {
        double at = x->boundary[i];
        if (!(at > before && at <= (double)nrow && at == floor(at)))
            rc = rh_fail(err, RH_EFORMAT,
                         "%s: number %lld of index is %g, expected whole numbers, each more "
                         "than the one before, up to %lld",
                         rh_base__path_tail(a->path), (long long)i, at, (long long)nrow);
        before = at;
    }
    return rc;
}

// The number of rows of the first observation array, 0 if there is none.
static int64_t rows_of(const rh_flat *flat, const rh_log_options *opt)
{
    char first[RH_ARRAY__NAME] = "";
    for (int i = 0; !opt->obs && flat->usual[RH_FLAT_OBS][i]; i++) {
        const rh_array *array = rh_flat__find(flat, flat->usual[RH_FLAT_OBS][i]);
        if (array && array->rank > 0)
            return array->nrow;
    }
    if (opt->obs) {
        const char *begin = opt->obs + strspn(opt->obs, " \t,");
        snprintf(first, sizeof first, "%.*s", (int)strcspn(begin, " \t,"), begin);
    }
    for (int i = 0; *first && i < flat->narray; i++)
        if (flat->array[i].rank > 0 && rh_log__matches(first, flat->array[i].name))
            return flat->array[i].nrow;
    return 0;
}

static rh_status read_extras(archive *a, rh_flat *flat, const rh_log_options *opt, extras *x,
                             rh_error *err)
{
    struct {
        const char *name;
        char ***text;
        int *n;
    } const all[] = {
        {"action_labels", &x->label, &x->nlabel},
        {"obs_names", &x->obs_name, &x->nobs_name},
        {"obs_units", &x->obs_unit, &x->nobs_unit},
        {"action_names", &x->act_name, &x->nact_name},
        {"reward_name", &x->reward_name, &x->nreward_name},
        {"action_kind", &x->kind, &x->nkind},
    };
    rh_status rc = RH_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !rc; i++)
        rc = read_texts(a, flat, all[i].name, all[i].text, all[i].n, err);
    int64_t nrow = rows_of(flat, opt);
    if (!rc && !opt->episode)
        rc = read_index(a, flat, nrow, x, err);
    rh_array *start = rh_flat__find(flat, "start");
    bool ours = x->nkind == 1; // another program's start may have a number for every step
    if (!rc && ours && start && start->numeric && start->width == 1 && start->nrow <= nrow &&
        rh_flat__find(flat, "episode"))
        rc = read_whole(start, &x->start, &x->nstart, a->path, err);
    if (rc)
        return rc;

    rh_array *starts = rh_flat__find(flat, "episode_starts");
    rh_array *known = rh_flat__find(flat, "next_known");
    bool by_row = !opt->episode && starts && starts->numeric && starts->width == 1;
    flat->starts = by_row && starts->nrow == nrow ? starts : NULL;
    flat->known =
        known && known->numeric && known->width == 1 && known->nrow == nrow ? known : NULL;
    flat->boundary = x->boundary;
    flat->nboundary = x->nboundary;
    flat->bounds = "index";
    flat->start = x->start;
    flat->nstart = x->nstart;
    flat->plan.label = (const char *const *)x->label;
    flat->plan.nlabel = x->nlabel;
    for (int i = 0; i < x->nlabel; i++)
        flat->plan.indices = flat->plan.indices || !rh_npz__is_whole(x->label[i]);
    if (x->nkind == 1 && strcmp(x->kind[0], "continuous") == 0)
        flat->plan.shape.action = RH_ACTION_CONTINUOUS;
    if (x->nreward_name == 1)
        flat->plan.shape.reward_name = x->reward_name[0];
    return RH_OK;
}

// Set names if their number matches the arrays they name.
static void set_names(rh_flat *flat, const rh_log_options *opt, const extras *x)
{
    const rh_array *obs = rh_flat__find(flat, "obs"), *act = rh_flat__find(flat, "action");
    rh_log_shape *shape = &flat->plan.shape;
    if (obs && !opt->obs && x->nobs_name > 0 && x->nobs_name == obs->width)
        shape->obs_name = (const char *const *)x->obs_name;
    if (obs && !opt->obs && x->nobs_unit > 0 && x->nobs_unit == obs->width)
        shape->obs_unit = (const char *const *)x->obs_unit;
    if (act && !opt->action && x->nact_name > 0 && x->nact_name == act->width)
        shape->act_name = (const char *const *)x->act_name;
}

// ---------------------------------------------------------------------------- reading

static rh_flat flat_of(const archive *a)
{
    return (rh_flat){
        .what = "array",
        .array = a->array,
        .narray = a->narray,
        .usual = {[RH_FLAT_OBS] = {"obs", "observations", "observation", "states", "state"},
                  [RH_FLAT_ACTION] = {"action", "actions", "act", "acts"},
                  [RH_FLAT_REWARD] = {"reward", "rewards", "rew", "rews"},
                  [RH_FLAT_TERMINAL] = {"terminal", "terminals", "terminated", "terminateds",
                                        "terminations", "done", "dones"},
                  [RH_FLAT_TRUNCATED] = {"truncated", "truncateds", "truncations", "truncation",
                                         "timeouts", "timeout", "TimeLimit.truncated"},
                  [RH_FLAT_NEXT] = {"next_obs", "next_observations", "next_observation",
                                    "next_states", "next_state", "new_obs"},
                  [RH_FLAT_EPISODE] = {"episode", "episode_id", "episode_ids", "episode_index"},
                  [RH_FLAT_TIME] = {"time", "times", "timestamp", "timestamps"}},
        .plan.shape = {.path = a->path, .format = "npz"}};
}

// A member in Fortran order is loaded as one slab.
static rh_status whole_slabs(archive *a, const rh_log_options *opt, rh_error *err)
{
    rh_log__limit limit = rh_log__limit_of(opt, rh_log__file_size(a->path));
    int64_t bytes = 0;
    for (int i = 0; i < a->narray; i++) {
        rh_array *array = &a->array[i];
        if (!array->numeric || array->load != load_fortran || array->width > RH_MAX_OBS)
            continue;
        bytes += a->npy[i].count * (int64_t)sizeof *array->slab;
        rh_status rc = rh_log__within(&limit, bytes, a->path, err);
        if (rc)
            return rc;
        array->room = array->nrow;
        array->slab = rh_alloc((size_t)a->npy[i].count + 1, sizeof *array->slab);
        if (!array->slab)
            return rh_base__no_memory(err, a->path);
    }
    return RH_OK;
}

static rh_status read_source(rh_log **out, zip_source_t *source, const char *path,
                             const rh_log_options *opt, rh_error *err)
{
    archive a = {.path = path};
    extras x = {0};
    zip_error_t why;
    zip_error_init(&why);
    a.zip = zip_open_from_source(source, ZIP_RDONLY, &why);
    if (!a.zip) {
        rh_status rc = rh_fail(err, RH_EFORMAT, "%s: not a readable archive: %s",
                               rh_base__path_tail(path), zip_error_strerror(&why));
        zip_source_free(source);
        zip_error_fini(&why);
        return rc;
    }

    rh_status rc = open_members(&a, err);
    rh_flat flat = flat_of(&a);
    if (!rc && a.narray == 0)
        rc = rh_fail(err, RH_EFORMAT, "%s: an archive without a NumPy array (.npy)",
                     rh_base__path_tail(path));
    if (!rc)
        rc = whole_slabs(&a, opt, err);
    if (!rc)
        rc = read_extras(&a, &flat, opt, &x, err);
    if (!rc) {
        set_names(&flat, opt, &x);
        rc = rh_flat__read(out, &flat, opt, err);
    }
    clear_extras(&x);
    close_archive(&a);
    zip_error_fini(&why);
    return rh_log__one_line(rc, err);
}

static rh_status no_source(const char *path, zip_error_t *why, rh_error *err)
{
    rh_status rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", rh_base__path_tail(path),
                           zip_error_strerror(why));
    zip_error_fini(why);
    return rc;
}

rh_status rh_npz__read_bytes(rh_log **out, const void *bytes, size_t n, const char *path,
                             const rh_log_options *opt, rh_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(bytes, n, 0, &why);
    if (!source)
        return no_source(path, &why, err);
    return read_source(out, source, path, opt, err);
}

static rh_status read_npz(rh_log **out, const char *path, const rh_log_options *opt,
                          rh_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    zip_source_t *source = zip_source_file_create(path, 0, -1, &why);
    if (!source)
        return no_source(path, &why, err);
    return read_source(out, source, path, opt, err);
}

static bool probe_npz(const char *path, bool folder, const unsigned char *head, size_t n)
{
    (void)path;
    return !folder && n >= 4 &&
           (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

const rh_log__format rh_log__npz = {
    .about = {"npz", "NumPy arrays in an archive, NeoRL and NeoRL-2 too (.npz)", true, true},
    .ending = {".npz"},
    .probe = probe_npz,
    .read = read_npz,
    .write = rh_npz__write,
};
