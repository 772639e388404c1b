// hdf5.c - reads HDF5 files through the helper program rehearse-hdf5 (hdf5_helper.c).
//
// 1. The helper may be wrong or hostile: the log may have taken it over. What it sends is
//    checked here: sizes against what was asked for, numbers of types, kinds and ranks, the
//    ends of texts. The rest of the module does not know of it.
// 2. A helper that ends, or sends nonsense, leaves a message in the file. Later questions are
//    answered as if nothing were there; rh_hdf5__fault() reports the message at the end.
// 3. Answers are waited for with a limit. The helper's own limits are on its processor time, so
//    that a slow disk is no fault; this one is for a helper that was stopped.

#include "hdf5.h"
#include "base/base_internal.h"
#include "base/text.h"
#include "hdf5_spawn.h"

#include <string.h>

#define MAX_BYTES (1ULL << 32U) // of an answer
#define MOST_ARRAYS 1000        // datasets of a group of a flat file; the helper opens 2,048
#define MOST_NAMES (1 << 20)    // in such a group, other groups included

// A conversation with a helper.
typedef struct talk {
    rh_spawn helper;
    rh_status over; // not RH_OK: it failed, see why
    rh_error why;
    rh_wire__ask
        later[32]; // sent with the next request, so that closing costs no call (nlater)
    int nlater;
    char held[4096]; // received and not yet used: first .. last - 1
    size_t first, last;
} talk;

struct rh_hdf5 {
    char *path; // owned
    talk *talk; // owned
};

// ---------------------------------------------------------------------------- talking

static void give_up(const rh_hdf5 *file, const char *what)
{
    char how[100];
    talk *t = file->talk;
    if (t->over)
        return;
    rh_spawn__end(&t->helper, what != NULL, how, sizeof how);
    t->over = rh_fail(&t->why, RH_EFORMAT, "%s: cannot be read as HDF5: damaged: %s",
                      rh_base__path_tail(file->path), what ? what : how);
}

// Without memory for an answer, which is still to be read.
static rh_status lack_memory(const rh_hdf5 *file, rh_error *err)
{
    give_up(file, "out of memory");
    file->talk->over = rh_base__no_memory(&file->talk->why, file->path);
    return rh_hdf5__fault(file, err);
}

// Receive 1 to n bytes; 0 after a failure.
static size_t receive_some(const rh_hdf5 *file, void *to, size_t n)
{
    bool late = false;
    size_t got = rh_spawn__receive(&file->talk->helper, to, n, &late);
    if (!got)
        give_up(file, late ? "its reader did not answer for 30 s" : NULL);
    return got;
}

static bool receive_all(const rh_hdf5 *file, void *to, size_t n)
{
    talk *t = file->talk;
    for (char *at = to; n > 0;) {
        size_t part = t->last - t->first < n ? t->last - t->first : n;
        if (part > 0) {
            memcpy(at, t->held + t->first, part);
            t->first += part;
        } else if (n >= sizeof t->held) {
            part = receive_some(file, at, n);
        } else {
            t->first = 0;
            t->last = receive_some(file, t->held, sizeof t->held);
        }
        if (t->over)
            return false;
        at += part;
        n -= part;
    }
    return true;
}

static bool nonsense(const rh_hdf5 *file)
{
    give_up(file, "its reader sent an answer that makes no sense");
    return false;
}

static bool receive_head(const rh_hdf5 *file, rh_wire__answer *head)
{
    if (!receive_all(file, head, sizeof *head))
        return false;
    return (head->version == RH_WIRE__VERSION && head->fault < RH_WIRE_NFAULT &&
            head->size <= MAX_BYTES && (head->fault == RH_WIRE_SOUND || head->size == 0)) ||
           nonsense(file);
}

// Send a request with one or two texts, after those that have waited.
static bool send_ask(const rh_hdf5 *file, rh_wire__ask ask, const char *one, const char *two)
{
    talk *t = file->talk;
    char text[sizeof t->later + sizeof ask + RH_WIRE__TEXT];
    size_t n = one ? strlen(one) + 1 : 0, more = two ? strlen(two) + 1 : 0;
    size_t before = (size_t)t->nlater * sizeof ask;
    if (n + more > RH_WIRE__TEXT)
        give_up(file, "a name in it is too long");
    if (t->over)
        return false;
    ask.size = (uint32_t)(n + more);
    memcpy(text, t->later, before);
    memcpy(text + before, &ask, sizeof ask);
    if (one)
        memcpy(text + before + sizeof ask, one, n);
    if (two)
        memcpy(text + before + sizeof ask + n, two, more);
    t->nlater = 0;
    if (!rh_spawn__send(&t->helper, text, before + sizeof ask + n + more))
        give_up(file, NULL);
    return !t->over;
}

static bool ask_for(const rh_hdf5 *file, rh_wire__ask ask, const char *one, const char *two,
                    rh_wire__answer *head)
{
    return send_ask(file, ask, one, two) && receive_head(file, head);
}

rh_status rh_hdf5__fault(const rh_hdf5 *file, rh_error *err)
{
    talk *t = file->talk;
    return t->over ? rh_fail(err, t->over, "%s", t->why.text) : RH_OK;
}

// ---------------------------------------------------------------------------- opening

rh_status rh_hdf5__open(rh_hdf5 **out, const char *path, rh_error *err)
{
    rh_hdf5 *file = rh_alloc(1, sizeof *file);
    rh_wire__answer head = {0};
    if (file) {
        file->path = rh_base__copy(path);
        file->talk = rh_alloc(1, sizeof *file->talk);
    }
    if (!file || !file->path || !file->talk) {
        if (file)
            rh_free(file->path);
        if (file)
            rh_free(file->talk);
        rh_free(file);
        return rh_base__no_memory(err, path);
    }
    file->talk->helper = (rh_spawn){.socket = -1};
    rh_status rc = rh_spawn__read(&file->talk->helper, path, err);
    if (!rc && !receive_head(file, &head))
        rc = rh_hdf5__fault(file, err);
    if (!rc && head.fault)
        rc = rh_fail(err, RH_EFORMAT,
                     "%s: cannot be opened as HDF5: it is damaged or cut off, or another "
                     "program is writing it",
                     rh_base__path_tail(path));
    if (rc) {
        rh_hdf5__close(file);
        return rc;
    }
    *out = file;
    return RH_OK;
}

void rh_hdf5__close(rh_hdf5 *file)
{
    char how[100];
    if (!file)
        return;
    rh_spawn__end(&file->talk->helper, false, how, sizeof how);
    rh_free(file->talk);
    rh_free(file->path);
    rh_free(file);
}

const char *rh_hdf5__path(const rh_hdf5 *file)
{
    return file->path;
}

// ---------------------------------------------------------------------------- what is there

rh_hdf5__type_kind rh_hdf5__kind(const rh_hdf5 *file, const char *name)
{
    rh_wire__answer head;
    if (!ask_for(file, (rh_wire__ask){.op = RH_WIRE_KIND}, name, NULL, &head))
        return RH_HDF5_NOTHING;
    if (head.a < 0 || head.a >= RH_HDF5_NKIND || head.size) {
        nonsense(file);
        return RH_HDF5_NOTHING;
    }
    return (rh_hdf5__type_kind)head.a;
}

rh_status rh_hdf5__names(const rh_hdf5 *file, const char *group, int64_t most, char ***name,
                         int64_t *n, rh_error *err)
{
    rh_wire__answer head = {0};
    if (!ask_for(file, (rh_wire__ask){.op = RH_WIRE_NAMES, .n = most}, group, NULL, &head))
        return rh_hdf5__fault(file, err);
    if (head.fault)
        return rh_fail(err, RH_EFORMAT, "%s: group %s cannot be read: damaged or cut off",
                       rh_base__path_tail(file->path), group);
    if (head.a < 0 || head.a > most || (uint64_t)head.a > head.size) {
        nonsense(file);
        return rh_hdf5__fault(file, err);
    }
    size_t count = (size_t)head.a, size = (size_t)head.size;
    char **all = rh_alloc(1, (count + 1) * sizeof *all + size);
    if (!all)
        return lack_memory(file, err);
    char *text = (char *)(all + count + 1), *end = text + size;
    if (!receive_all(file, text, size)) {
        rh_free(all);
        return rh_hdf5__fault(file, err);
    }
    for (size_t i = 0; i < count; i++) {
        char *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
        all[i] = text;
        text = zero ? zero + 1 : NULL;
        if (!text)
            break;
    }
    if (text != end) {
        rh_free(all);
        nonsense(file);
        return rh_hdf5__fault(file, err);
    }
    *name = all;
    *n = head.a;
    return RH_OK;
}

// ---------------------------------------------------------------------------- datasets

static const char *name_filter(int64_t id, char *text, size_t size)
{
    static const struct {
        int64_t id;
        const char *name;
    } known[] = {{4, "szip"},      {5, "nbit"},      {6, "scaleoffset"},    {32000, "lzf"},
                 {32001, "blosc"}, {32004, "lz4"},   {32008, "bitshuffle"}, {32013, "zfp"},
                 {32015, "zstd"},  {32026, "blosc2"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].id == id)
            return known[i].name;
    snprintf(text, size, "filter %lld", (long long)id);
    return text;
}

// The message for a dataset that the helper refused.
static rh_status refuse(const rh_hdf5 *file, const char *name, const char *shape,
                        const rh_wire__answer *head, rh_error *err)
{
    const char *path = rh_base__path_tail(file->path);
    char filter[32];
    switch ((rh_wire__fault)head->fault) {
    case RH_WIRE_MISSING:
        return rh_fail(err, RH_EFORMAT, "%s: no dataset %s", path, name);
    case RH_WIRE_UNREADABLE:
        return rh_fail(err, RH_EFORMAT, "%s: dataset %s cannot be opened: damaged", path, name);
    case RH_WIRE_SHAPE:
        return rh_fail(err, RH_EFORMAT, "%s: the shape of %s cannot be read: damaged", path,
                       name);
    case RH_WIRE_UNWRITTEN:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s has shape %s but %lld bytes are stored: damaged, or never "
                       "written",
                       path, name, shape, (long long)head->a);
    case RH_WIRE_LINKED:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is a link to another file, expected all data in this file", path,
                       name);
    case RH_WIRE_EXTERNAL:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is stored in other files (external storage), expected all data "
                       "in this file",
                       path, name);
    case RH_WIRE_VIRTUAL:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is put together from other datasets (virtual), expected all "
                       "data in this file",
                       path, name);
    case RH_WIRE_FILTER:
        return rh_fail(err, RH_EFORMAT,
                       "%s: %s is packed with %s, expected gzip (deflate), shuffle, fletcher32 "
                       "or nothing; write it again with h5py and compression=\"gzip\"",
                       path, name, name_filter(head->a, filter, sizeof filter));
    case RH_WIRE_MEMORY:
        return rh_fail(err, RH_ENOMEM, "%s: %s needs more memory than its reader may use", path,
                       name);
    case RH_WIRE_SOUND:
    case RH_WIRE_DAMAGED:
    case RH_WIRE_NFAULT:
        break;
    }
    return rh_fail(err, RH_EFORMAT,
                   "%s: %s is damaged or cut off: its stored bytes do not fill its shape", path,
                   name);
}

static void shut_dataset(rh_array *array)
{
    const rh_hdf5 *file = array->source;
    talk *t = file->talk;
    rh_wire__ask ask = {.op = RH_WIRE_SHUT, .id = array->handle};
    if (t->nlater < (int)(sizeof t->later / sizeof *t->later))
        t->later[t->nlater++] = ask;
    else
        send_ask(file, ask, NULL, NULL);
    rh_free(array->stream);
    array->stream = NULL;
}

static rh_status load_slab(rh_array *array, int64_t first, int64_t n, double *x, rh_error *err)
{
    const rh_hdf5 *file = array->source;
    rh_wire__ask ask = {.op = RH_WIRE_LOAD, .id = array->handle, .first = first, .n = n};
    rh_wire__answer head;
    size_t size = (size_t)(n * array->width) * sizeof *x;
    if (array->stream && first >= 0 && n <= array->nrow - first) { // sent when it was opened
        memcpy(x, (double *)array->stream + first * array->width, size);
        return RH_OK;
    }
    if (!ask_for(file, ask, NULL, NULL, &head))
        return rh_hdf5__fault(file, err);
    if (head.fault == RH_WIRE_UNREADABLE)
        return rh_fail(err, RH_EFORMAT,
                       "%s: rows %lld to %lld of %s cannot be read: damaged or cut off",
                       rh_base__path_tail(file->path), (long long)first,
                       (long long)(first + n - 1), array->name);
    if (head.fault)
        return refuse(file, array->name, array->shape, &head, err);
    if (head.size != size)
        nonsense(file);
    return !file->talk->over && receive_all(file, x, size) ? RH_OK : rh_hdf5__fault(file, err);
}

// The numbers of a small dataset, which follow its shape.
static rh_status take_numbers(rh_array *array, const rh_hdf5 *file, uint64_t size,
                              rh_error *err)
{
    if (size == 0)
        return RH_OK;
    if (!array->numeric || array->nrow < 1 || array->width < 1 ||
        array->nrow > RH_WIRE__SMALL / array->width ||
        size != (uint64_t)(array->nrow * array->width) * sizeof(double)) {
        nonsense(file);
        return rh_hdf5__fault(file, err);
    }
    array->stream = rh_alloc((size_t)size, 1);
    if (!array->stream)
        return lack_memory(file, err);
    return receive_all(file, array->stream, (size_t)size) ? RH_OK : rh_hdf5__fault(file, err);
}

rh_status rh_hdf5__array(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err)
{
    rh_wire__answer head;
    int64_t dim[RH_WIRE__RANK];
    *array = (rh_array){.source = file, .load = load_slab};
    if (strlen(name) >= sizeof array->name)
        return rh_fail(err, RH_EFORMAT,
                       "%s: a dataset with a name of %zu characters, expected at most %d",
                       rh_base__path_tail(file->path), strlen(name), RH_ARRAY__NAME - 1);
    memcpy(array->name, name, strlen(name) + 1);
    if (!ask_for(file, (rh_wire__ask){.op = RH_WIRE_OPEN}, name, NULL, &head))
        return rh_hdf5__fault(file, err);
    if (head.fault)
        return refuse(file, name, "", &head, err);
    bool null = head.c == -1;
    int rank = null ? 0 : (int)head.c;
    size_t size = (size_t)rank * sizeof *dim;
    if (head.b < 0 || head.b >= RH_WIRE__NTYPE || head.c < -1 || head.c > RH_WIRE__RANK ||
        head.size < size)
        nonsense(file);
    if (file->talk->over || !receive_all(file, dim, size))
        return rh_hdf5__fault(file, err);
    array->handle = head.a;
    array->shut = shut_dataset;
    array->type = rh_wire__types[head.b].name;
    array->numeric = rh_wire__types[head.b].numeric;
    array->whole = rh_wire__types[head.b].whole;
    if (!rh_array__set_shape(array, rank, dim))
        nonsense(file);
    if (null)
        array->nrow = 0;
    return file->talk->over ? rh_hdf5__fault(file, err)
                            : take_numbers(array, file, head.size - size, err);
}

rh_status rh_hdf5__numbers(rh_array *array, rh_hdf5 *file, const char *name, rh_error *err)
{
    rh_status rc = rh_hdf5__array(array, file, name, err);
    if (!rc && !array->numeric)
        rc = rh_fail(err, RH_EFORMAT, "%s: %s holds %s, expected numbers",
                     rh_base__path_tail(file->path), name, array->type);
    return rc;
}

bool rh_hdf5__scalar(rh_hdf5 *file, const char *name, double *x)
{
    rh_array array = {.rank = 0};
    bool any = rh_hdf5__numbers(&array, file, name, NULL) == RH_OK && array.nrow == 1 &&
               array.width == 1 && load_slab(&array, 0, 1, x, NULL) == RH_OK;
    rh_array__clear(&array);
    return any;
}

// All datasets of a flat file as arrays. Owned: *array (n), clear each.
static rh_status open_arrays(rh_array **array, int *n, rh_hdf5 *file, rh_error *err)
{
    static const char *const group[] = {"/", "infos"};
    rh_array *all = rh_alloc(2 * MOST_ARRAYS, sizeof *all);
    int used = 0;
    rh_status rc = RH_OK;
    if (!all)
        return rh_base__no_memory(err, file->path);
    for (int g = 0; g < 2 && !rc; g++) {
        char **name = NULL, full[RH_ARRAY__NAME];
        int64_t nname = 0;
        if (g > 0 && rh_hdf5__kind(file, group[g]) != RH_HDF5_GROUP)
            continue;
        rc = rh_hdf5__names(file, group[g], MOST_NAMES, &name, &nname, err);
        for (int64_t i = 0; i < nname && !rc; i++) {
            int length =
                snprintf(full, sizeof full, "%s%s%s", g ? group[g] : "", g ? "/" : "", name[i]);
            rh_hdf5__type_kind kind =
                length < (int)sizeof full ? rh_hdf5__kind(file, full) : RH_HDF5_OTHER;
            bool wanted = kind == RH_HDF5_DATASET || kind == RH_HDF5_OUTSIDE;
            if (wanted && used == (g + 1) * MOST_ARRAYS)
                rc = rh_fail(err, RH_EFORMAT, "%s: group %s has more than %d datasets",
                             rh_base__path_tail(file->path), group[g], MOST_ARRAYS);
            else if (wanted)
                rc = rh_hdf5__array(&all[used++], file, full, err);
        }
        rh_free(name);
    }
    *array = all;
    *n = used;
    return rc;
}

rh_status rh_hdf5__read_flat(rh_log **out, rh_hdf5 *file, rh_flat *flat,
                             const rh_log_options *opt, rh_error *err)
{
    flat->plan.shape.path = file->path;
    rh_status rc = open_arrays(&flat->array, &flat->narray, file, err);
    if (!rc)
        rc = rh_flat__read(out, flat, opt, err);
    for (int i = 0; i < flat->narray; i++)
        rh_array__clear(&flat->array[i]);
    rh_free(flat->array);
    return rc;
}

// ---------------------------------------------------------------------------- attributes

bool rh_hdf5__number_attribute(const rh_hdf5 *file, const char *object, const char *name,
                               double *x)
{
    rh_wire__answer head;
    if (!ask_for(file, (rh_wire__ask){.op = RH_WIRE_NUMBER}, object, name, &head) ||
        head.fault || head.size == 0)
        return false;
    if (head.size != sizeof *x)
        return nonsense(file);
    return receive_all(file, x, sizeof *x);
}

rh_status rh_hdf5__text_attribute(const rh_hdf5 *file, const char *object, const char *name,
                                  char **text, rh_error *err)
{
    rh_wire__answer head = {0};
    *text = NULL;
    if (!ask_for(file, (rh_wire__ask){.op = RH_WIRE_STRING}, object, name, &head))
        return rh_hdf5__fault(file, err);
    if (head.fault || head.size == 0)
        return RH_OK;
    size_t size = (size_t)head.size;
    *text = rh_alloc(size, 1);
    if (!*text)
        return lack_memory(file, err);
    if (receive_all(file, *text, size) && memchr(*text, 0, size) != *text + size - 1)
        nonsense(file);
    if (!file->talk->over)
        return RH_OK;
    rh_free(*text);
    *text = NULL;
    return rh_hdf5__fault(file, err);
}
