// hdf5_write.c - writes HDF5 files through the helper program rehearse-hdf5, a slab at a time.
//
// 1. The library does not contain libhdf5, which takes 5 ms to load with its 33 libraries, is
//    not thread-safe, prints its failures and keeps memory when a disk is full. A process of
//    its own costs 10 ms per file. Threads write files at the same time.
// 2. Messages are collected and sent without waiting for answers. A helper that cannot write
//    ends (hdf5_helper_write.c). That is noticed with one of the next messages, or at the end.

#include "base/base_internal.h"
#include "base/file.h"
#include "hdf5.h"
#include "hdf5_spawn.h"

#include <string.h>

#define SLAB_NUMBERS 65536
#define ROOM 65536 // bytes of messages sent together

struct rh_hdf5__out {
    const char *path; // borrowed
    rh_spawn helper;
    rh_status over; // not RH_OK: it failed, see why
    rh_error why;   //
    size_t held;    // bytes to be sent
    char *waiting;  // owned (ROOM)
    double *number; // owned (SLAB_NUMBERS + RH_MAX_OBS)
    int64_t *whole; // owned, the same size
};

// ---------------------------------------------------------------------------- talking

static void give_up(rh_hdf5__out *o, bool now)
{
    char how[100];
    int code = rh_spawn__end(&o->helper, now, how, sizeof how);
    if (!o->over)
        o->over = rh_fail(&o->why, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(o->path),
                          code == RH_WIRE__UNWRITTEN ? "the disk may be full" : how);
}

static void send_now(rh_hdf5__out *o, const void *from, size_t n)
{
    if (!o->over && !rh_spawn__send(&o->helper, from, n))
        give_up(o, false);
}

static void flush(rh_hdf5__out *o)
{
    send_now(o, o->waiting, o->held);
    o->held = 0;
}

static void give(rh_hdf5__out *o, const void *from, size_t n)
{
    if (n > ROOM - o->held)
        flush(o);
    if (n > ROOM) {
        send_now(o, from, n);
    } else if (n > 0) {
        memcpy(o->waiting + o->held, from, n);
        o->held += n;
    }
}

// The head of a message with up to two texts.
static void say(rh_hdf5__out *o, rh_wire__make make, const char *one, const char *two)
{
    size_t n = one ? strlen(one) + 1 : 0, more = two ? strlen(two) + 1 : 0;
    if (n + more > RH_WIRE__TEXT && !o->over) {
        give_up(o, true);
        rh_fail(&o->why, RH_EIO, "%s: cannot write: a name of %zu bytes, expected at most %d",
                rh_base__path_tail(o->path), n + more, RH_WIRE__TEXT);
    }
    make.size = (uint32_t)(n + more);
    give(o, &make, sizeof make);
    if (one)
        give(o, one, n);
    if (two)
        give(o, two, more);
}

// Send everything and wait for an answer.
static void ask(rh_hdf5__out *o)
{
    rh_wire__answer head;
    flush(o);
    for (size_t got = 0, n; got < sizeof head && !o->over; got += n) {
        bool late = false;
        n = rh_spawn__receive(&o->helper, (char *)&head + got, sizeof head - got, &late);
        if (!n)
            give_up(o, late);
    }
    if (!o->over && (head.version != RH_WIRE__VERSION || head.fault || head.size))
        give_up(o, true);
}

// ---------------------------------------------------------------------------- the file

static void clear(rh_hdf5__out *o)
{
    char how[100];
    rh_spawn__end(&o->helper, false, how, sizeof how);
    rh_free(o->waiting);
    rh_free(o->number);
    rh_free(o->whole);
    rh_free(o);
}

rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          rh_error *err)
{
    size_t room = SLAB_NUMBERS + RH_MAX_OBS;
    rh_hdf5__out *o = rh_alloc(1, sizeof *o);
    if (!o)
        return rh_file__no_memory(path, err);
    o->path = path;
    o->helper.socket = -1;
    o->waiting = rh_alloc(ROOM, 1);
    o->number = rh_alloc(room, sizeof *o->number);
    o->whole = rh_alloc(room, sizeof *o->whole);
    rh_status rc = o->waiting && o->number && o->whole ? RH_OK : rh_file__no_memory(path, err);
    if (!rc)
        rc = rh_spawn__write(&o->helper, temporary, path, err);
    if (!rc) {
        say(o, (rh_wire__make){.op = RH_WIRE_MAKE_FILE}, NULL, NULL);
        ask(o);
        rc = o->over ? rh_fail(err, o->over, "%s", o->why.text) : RH_OK;
    }
    if (rc)
        clear(o);
    else
        *out = o;
    return rc;
}

rh_status rh_hdf5__end(rh_hdf5__out *o, rh_error *err)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_END}, NULL, NULL);
    ask(o);
    rh_status rc = o->over ? rh_fail(err, o->over, "%s", o->why.text) : RH_OK;
    clear(o);
    return rc;
}

// ---------------------------------------------------------------------------- attributes

void rh_hdf5__make_group(rh_hdf5__out *o, const char *name)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_GROUP}, name, NULL);
}

void rh_hdf5__put_number(rh_hdf5__out *o, const char *object, const char *name, int64_t x)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_NUMBER, .n = x}, object, name);
}

void rh_hdf5__put_text(rh_hdf5__out *o, const char *object, const char *name, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (!text && !o->over) {
        give_up(o, true);
        o->over = rh_file__no_memory(o->path, &o->why);
    }
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_TEXT, .n = (int64_t)n}, object, name);
    give(o, text, n);
}

// ---------------------------------------------------------------------------- arrays

// Send rows first .. first + n - 1.
static void give_slab(rh_hdf5__out *o, const rh_hdf5__rows *rows, int64_t first, int64_t n)
{
    int64_t width = rows->ncol ? rows->ncol : 1, count = n * width;
    int8_t *flag = (int8_t *)o->whole;
    for (int64_t i = 0; i < n; i++)
        rows->row(rows->self, first + i, o->number + i * width);
    switch (rows->type) {
    case RH_HDF5_DOUBLE:
        give(o, o->number, (size_t)count * sizeof *o->number);
        return;
    case RH_HDF5_INT64:
        for (int64_t i = 0; i < count; i++)
            o->whole[i] = (int64_t)o->number[i];
        give(o, o->whole, (size_t)count * sizeof *o->whole);
        return;
    case RH_HDF5_BOOL:
        for (int64_t i = 0; i < count; i++)
            flag[i] = o->number[i] != 0.0;
        give(o, flag, (size_t)count);
        return;
    }
}

void rh_hdf5__put_rows(rh_hdf5__out *o, const rh_hdf5__rows *rows)
{
    int64_t slab = SLAB_NUMBERS / (rows->ncol ? rows->ncol : 1);
    say(o,
        (rh_wire__make){.op = RH_WIRE_MAKE_ARRAY,
                        .type = rows->type,
                        .rank = rows->ncol ? 2 : 1,
                        .n = rows->nrow,
                        .width = rows->ncol ? rows->ncol : 1},
        rows->name, NULL);
    for (int64_t i = 0; i < rows->nrow && !o->over; i += slab)
        give_slab(o, rows, i, rows->nrow - i < slab ? rows->nrow - i : slab);
}
