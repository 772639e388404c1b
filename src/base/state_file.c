// state_file.c - the file of named arrays: written whole or not at all, checked when read.
//
// Every number is little-endian:
//
//     offset  bytes  what
//     0       8      89 52 48 53 54 41 54 45: a byte that begins no text, and "RHSTATE"
//     8       4      version of this layout, 2
//     12      4      number of arrays
//     16      32     label, padded with zeros
//     48             the arrays, each:
//             48       name, padded with zeros
//             8        type, padded with zeros: <f8 <f4 <i8 <i4 |u1 as in NumPy, or text
//             8        number of elements; of a text, of its bytes
//                      the elements, padded with zeros to a multiple of eight bytes
//     end     4      CRC-32, as in zip and PNG, of every byte before it
//
// 1. Fields have fixed sizes, so elements lie at multiples of eight and other programs can read
//    the file without parsing. The same arrays make the same bytes.
// 2. A file is read once, each array into memory of its own, which may be taken over: a model
//    of 200 MB is not held twice. Every length is compared with the bytes that are left before
//    it is used. Only the checksum, at the end, tells whether the bytes are as they were
//    written; nothing is given to the caller before.
// 3. Lengths are checked before the checksum: "truncated" tells a user more than "damaged".
// 4. The checksum proves that the file is intact, not who wrote it. Who uses an array checks
//    its type, length and values.

#include "base.h"
#include "base_internal.h"
#include "file.h"
#include "state.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 2 // of the layout; 1 had doubles only
#define NAME RH_STATE__NAME
#define LABEL RH_STATE__LABEL
#define TYPE 8                  // bytes of a type
#define HEAD (16 + LABEL)       // bytes before the first array
#define ENTRY (NAME + TYPE + 8) // bytes of an array before its elements
#define TAIL 4                  // bytes after the last array
#define BLOCK 16384             // bytes written at a time, a multiple of eight

static const unsigned char magic[8] = {0x89, 'R', 'H', 'S', 'T', 'A', 'T', 'E'};
static const char seal[] = "rehearse-model "; // began model files when they were HDF5

static const char code[RH_STATE_NTYPE][TYPE] = {
    [RH_STATE_F64] = "<f8", [RH_STATE_F32] = "<f4", [RH_STATE_I64] = "<i8",
    [RH_STATE_I32] = "<i4", [RH_STATE_U8] = "|u1",  [RH_STATE_TEXT] = "text",
};

// ---------------------------------------------------------------------------- numbers

static void store(unsigned char *to, uint64_t value, int nbyte)
{
    for (int i = 0; i < nbyte; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t fetch(const unsigned char *from, int nbyte)
{
    uint64_t value = 0;
    for (int i = 0; i < nbyte; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

// Between little-endian and this machine's order.
static void reorder(unsigned char *x, size_t n, size_t width)
{
    const uint16_t one = 1;
    if (*(const unsigned char *)&one == 1)
        return;
    for (size_t i = 0; i < n; i++, x += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char byte = x[k];
            x[k] = x[width - 1 - k];
            x[width - 1 - k] = byte;
        }
}

static size_t padding(size_t nbyte)
{
    return (8 - nbyte % 8) % 8;
}

// ---------------------------------------------------------------------------- writing

// Where bytes go: to a stream, or to memory.
typedef struct sink {
    FILE *stream;
    unsigned char *to;
    uint32_t crc;
    bool failed;
} sink;

static void emit(sink *s, const void *bytes, size_t n)
{
    s->crc = rh_base__crc32(s->crc, bytes, n);
    if (s->stream) {
        s->failed = s->failed || fwrite(bytes, 1, n, s->stream) != n;
    } else {
        memcpy(s->to, bytes, n);
        s->to += n;
    }
}

static void emit_array(sink *s, const rh_state__array *a)
{
    unsigned char entry[ENTRY] = {0}, block[BLOCK];
    size_t width = rh_state__width(a->type), left = a->n * width;
    memcpy(entry, a->name, strlen(a->name));
    memcpy(entry + NAME, code[a->type], TYPE);
    store(entry + NAME + TYPE, a->n, 8);
    emit(s, entry, ENTRY);
    for (const unsigned char *from = a->x; left > 0;) {
        size_t n = left < BLOCK ? left : BLOCK, pad = padding(n);
        memcpy(block, from, n);
        memset(block + n, 0, pad);
        reorder(block, n / width, width);
        emit(s, block, n + pad);
        from += n;
        left -= n;
    }
}

static void emit_all(sink *s, const rh_state *state)
{
    unsigned char head[HEAD] = {0}, tail[TAIL];
    memcpy(head, magic, sizeof magic);
    store(head + 8, VERSION, 4);
    store(head + 12, state->narray, 4);
    memcpy(head + 16, state->label, strlen(state->label));
    emit(s, head, HEAD);
    for (size_t i = 0; i < state->narray; i++)
        emit_array(s, &state->array[i]);
    store(tail, s->crc, TAIL);
    emit(s, tail, TAIL);
}

unsigned char *rh_state__bytes(const rh_state *state, size_t *n)
{
    size_t size = HEAD + TAIL;
    for (size_t i = 0; i < state->narray; i++) {
        size_t nbyte = state->array[i].n * rh_state__width(state->array[i].type);
        size += ENTRY + nbyte + padding(nbyte);
    }
    unsigned char *bytes = rh_alloc(size, 1);
    if (!bytes)
        return NULL;
    emit_all(&(sink){.to = bytes}, state);
    *n = size;
    return bytes;
}

// Write it as `file`, which is ended.
static rh_status write_as(const rh_state *state, rh_file *file, const char *path, rh_error *err)
{
    sink s = {.stream = rh_file__stream(file)};
    if (s.stream)
        emit_all(&s, state);
    if (s.stream && !s.failed)
        return rh_file__commit(file, err);
    rh_status rc =
        rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path), strerror(errno));
    rh_file__discard(file);
    return rc;
}

rh_status rh_state_write(const rh_state *state, const char *path, rh_error *err)
{
    rh_file *file = NULL;
    rh_status rc = rh_file__create(&file, path, err);
    return rc ? rc : write_as(state, file, path, err);
}

rh_status rh_state__write_private(const rh_state *state, const char *path, rh_error *err)
{
    rh_file *file = NULL;
    rh_status rc = rh_file__create_private(&file, path, err);
    return rc ? rc : write_as(state, file, path, err);
}

// ---------------------------------------------------------------------------- reading

// Where bytes come from: memory, or an open file.
typedef struct source {
    const unsigned char *bytes; // NULL: the file
    int fd;
    size_t size; // of the file
    size_t left; // bytes of it before the checksum that were not read yet
    uint32_t crc;
    const char *path, *what; // for messages
    rh_error *err;           // nullable
} source;

// The next n bytes, which are left.
static rh_status take(source *s, void *to, size_t n)
{
    if (s->bytes) {
        memcpy(to, s->bytes, n);
        s->bytes += n;
    }
    for (size_t got = 0; !s->bytes && got < n;) {
        ssize_t more = read(s->fd, (char *)to + got, n - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return rh_fail(s->err, more ? RH_EIO : RH_EFORMAT, "%s: %s%s", s->path,
                           more ? "cannot read: " : "truncated while it was read",
                           more ? strerror(errno) : "");
        got += (size_t)more;
    }
    s->crc = rh_base__crc32(s->crc, to, n);
    return RH_OK;
}

static rh_status refuse_other(const source *s, const unsigned char *bytes, size_t n)
{
    char found[3 * sizeof magic + 1] = "", expected[3 * sizeof magic + 1] = "";
    if (n >= sizeof seal && memcmp(bytes, seal, sizeof seal - 1) == 0)
        return rh_fail(s->err, RH_EFORMAT,
                       "%s: a model of an older version of rehearse; fit it again", s->path);
    for (size_t i = 0; i < n && i < sizeof magic; i++) {
        snprintf(found + 3 * i, 4, " %02x", bytes[i]);
        snprintf(expected + 3 * i, 4, " %02x", magic[i]);
    }
    return rh_fail(s->err, RH_EFORMAT, "%s: not a %s file: it begins with%s, expected%s",
                   s->path, s->what, found, expected);
}

static rh_status read_head(source *s, unsigned char head[HEAD])
{
    size_t n = s->size < HEAD ? s->size : HEAD;
    rh_status rc = take(s, head, n);
    if (rc)
        return rc;
    if (memcmp(head, magic, n < sizeof magic ? n : sizeof magic) != 0)
        return refuse_other(s, head, n);
    if (s->size < HEAD + TAIL)
        return rh_fail(s->err, RH_EFORMAT, "%s: truncated: %zu bytes, expected %d or more",
                       s->path, s->size, HEAD + TAIL);
    s->left = s->size - HEAD - TAIL;

    unsigned version = (unsigned)fetch(head + 8, 4);
    if (version != VERSION)
        return rh_fail(s->err, RH_EFORMAT, "%s: %s file of version %u, expected %d: %s",
                       s->path, s->what, version, VERSION,
                       version > VERSION ? "written by a newer version of rehearse"
                       : version         ? "written by an older version of rehearse"
                                         : "damaged");
    return RH_OK;
}

// One array and the zeros behind it; its name is checked later, all together.
static rh_status read_array(source *s, rh_state *state, unsigned narray)
{
    unsigned char entry[ENTRY], pad[8] = {0};
    size_t i = state->narray + 1;
    if (s->left < ENTRY)
        goto truncated;
    rh_status rc = take(s, entry, ENTRY);
    if (rc)
        return rc;
    s->left -= ENTRY;
    int type = 0;
    while (type < RH_STATE_NTYPE && memcmp(entry + NAME, code[type], TYPE) != 0)
        type++;
    if (type == RH_STATE_NTYPE)
        return rh_fail(s->err, RH_EFORMAT, "%s: damaged: array %zu has an unknown type",
                       s->path, i);
    size_t width = rh_state__width((rh_state__type)type);
    uint64_t n = fetch(entry + NAME + TYPE, 8);
    if (n > s->left / width || padding((size_t)n * width) > s->left - (size_t)n * width)
        goto truncated;

    size_t nbyte = (size_t)n * width;
    rh_state__array *a = rh_state__add(state);
    if (a)
        a->x = rh_alloc((size_t)n, width);
    if (!a || !a->x)
        return rh_fail(s->err, RH_ENOMEM, "%s: out of memory for array %zu (%zu numbers)",
                       s->path, i, (size_t)n);
    memcpy(a->name, entry, NAME);
    a->type = (rh_state__type)type;
    a->n = (size_t)n;
    rc = take(s, a->x, nbyte);
    if (!rc)
        rc = take(s, pad, padding(nbyte));
    s->left -= nbyte + padding(nbyte);
    reorder(a->x, a->n, width);
    if (!rc && (fetch(pad, 8) || (type == RH_STATE_TEXT && n && ((char *)a->x)[n - 1])))
        rc = rh_fail(s->err, RH_EFORMAT, "%s: damaged: array %zu does not end with zeros",
                     s->path, i);
    return rc;

truncated:
    return rh_fail(s->err, RH_EFORMAT,
                   "%s: truncated: %zu bytes end inside array %zu, expected %u arrays", s->path,
                   s->size, i, narray);
}

static rh_status check_sum(source *s)
{
    unsigned char tail[TAIL];
    uint32_t found = s->crc;
    rh_status rc = take(s, tail, TAIL);
    uint32_t expected = (uint32_t)fetch(tail, TAIL);
    if (!rc && found != expected)
        rc = rh_fail(s->err, RH_EFORMAT, "%s: damaged: checksum %08x, expected %08x", s->path,
                     found, expected);
    return rc;
}

// Whether a field holds a text that ends inside the field, followed by zeros.
static bool is_text(const char *field, size_t size)
{
    size_t length = strnlen(field, size);
    for (size_t i = length; i < size; i++)
        if (field[i])
            return false;
    return length < size;
}

static int by_name(const void *a, const void *b)
{
    const rh_state__array *x = *(const rh_state__array *const *)a;
    const rh_state__array *y = *(const rh_state__array *const *)b;
    int order = memcmp(x->name, y->name, NAME);
    return order ? order : (x > y) - (x < y);
}

// The first array whose name was used before, NULL if there is none: *first. Sorted, because
// comparing all pairs took 86 s for a file of 8 MB.
static bool find_repeated(const rh_state *state, const rh_state__array **first)
{
    const rh_state__array **at = rh_alloc(state->narray + 1, sizeof *at);
    if (!at)
        return false;
    for (size_t i = 0; i < state->narray; i++)
        at[i] = &state->array[i];
    qsort(at, state->narray, sizeof *at, by_name);
    for (size_t i = 1; i < state->narray; i++)
        if (memcmp(at[i - 1]->name, at[i]->name, NAME) == 0 && (!*first || at[i] < *first))
            *first = at[i];
    rh_free(at);
    return true;
}

static rh_status check_names(const source *s, const rh_state *state)
{
    char shown[64];
    const rh_state__array *repeated = NULL;
    if (!is_text(state->label, LABEL))
        return rh_fail(
            s->err, RH_EFORMAT, "%s: damaged: label '%s', expected 0 to %d characters", s->path,
            rh_text__printable_n(state->label, LABEL, shown, sizeof shown), LABEL - 1);
    if (!find_repeated(state, &repeated))
        return rh_base__no_memory(s->err, s->path);
    for (size_t i = 0; i < state->narray; i++) {
        const rh_state__array *a = &state->array[i];
        if (!is_text(a->name, NAME) || !a->name[0] || a == repeated)
            return rh_fail(
                s->err, RH_EFORMAT,
                "%s: damaged: array %zu is called '%s', expected a name of 1 to %d "
                "characters not used before",
                s->path, i + 1,
                rh_text__printable_n(a->name, strnlen(a->name, NAME), shown, sizeof shown),
                NAME - 1);
    }
    return RH_OK;
}

static rh_status read_all(source *s, rh_state *state)
{
    unsigned char head[HEAD];
    rh_status rc = read_head(s, head);
    if (rc)
        return rc;
    memcpy(state->label, head + 16, LABEL);
    unsigned narray = (unsigned)fetch(head + 12, 4);
    for (unsigned i = 0; i < narray && !rc; i++)
        rc = read_array(s, state, narray);
    if (!rc && s->left)
        rc = rh_fail(s->err, RH_EFORMAT, "%s: damaged: %zu bytes, expected %zu", s->path,
                     s->size, s->size - s->left);
    if (!rc)
        rc = check_sum(s);
    return rc ? rc : check_names(s, state);
}

static rh_status read_source(rh_state **out, source *s)
{
    rh_state *state = NULL;
    rh_status rc = rh_state__create(&state, NULL);
    rc = rc ? rh_base__no_memory(s->err, s->path) : read_all(s, state);
    if (rc)
        rh_state_destroy(state);
    else
        *out = state;
    return rc;
}

rh_status rh_state__parse(rh_state **out, const unsigned char *bytes, size_t n,
                          const char *path, const char *what, rh_error *err)
{
    source s = {
        .bytes = bytes, .size = n, .path = rh_base__path_tail(path), .what = what, .err = err};
    return read_source(out, &s);
}

rh_status rh_state__read(rh_state **out, const char *path, const char *what, rh_error *err)
{
    source s = {.path = rh_base__path_tail(path), .what = what, .err = err};
    struct stat st;
    rh_status rc = RH_OK;
    s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // never waits for a pipe's writer
    if (s.fd < 0 || fstat(s.fd, &st) != 0) {
        rc = rh_fail(err, RH_EIO, "%s: cannot read: %s", s.path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        rc = rh_fail(err, RH_EIO, "%s: cannot read: it is %s, expected a %s file", s.path,
                     S_ISDIR(st.st_mode) ? "a directory" : "a device, pipe or socket", what);
    } else {
        s.size = (size_t)st.st_size;
        rc = read_source(out, &s);
    }
    if (s.fd >= 0)
        close(s.fd);
    return rc;
}

rh_status rh_state_read(rh_state **out, const char *path, rh_error *err)
{
    return rh_state__read(out, path, "state", err);
}
