// hdf5_write.c - writes HDF5 files through the helper program rehearse-hdf5, a slab at a time.
//
// 1. The library does not contain libhdf5, which takes 5 ms to load with its 33 libraries, is
//    not thread-safe, prints its failures and keeps memory when a disk is full. A process of
//    its own costs 10 ms per file. Threads write files at the same time.
// 2. Messages are collected and sent without waiting for answers. A helper that cannot write
//    ends (hdf5_helper_write.c). That is noticed with one of the next messages, or at the end.

#include "base/base_internal.h"
#include "hdf5.h"
#include "hdf5_spawn.h"
#include "hdf5_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define SLAB_NUMBERS 65536
#define ROOM 65536 // bytes of messages sent together

struct rh_hdf5__out {
    const char *path; // borrowed
    rh_spawn helper;
    bool over;      // the helper ended, see why
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
    if (o->over)
        return;
    o->over = true;
    rh_fail(&o->why, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(o->path),
            code == RH_WIRE__UNWRITTEN ? "the disk may be full" : how);
}

static rh_status check(const rh_hdf5__out *o, rh_error *err)
{
    return o->over ? rh_fail(err, RH_EIO, "%s", o->why.text) : RH_OK;
}

static void send_now(rh_hdf5__out *o, const void *from, size_t n)
{
    for (const char *at = from; n > 0 && !o->over;) {
        ssize_t put = send(o->helper.socket, at, n, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            give_up(o, false);
            return;
        }
        at += put;
        n -= (size_t)put;
    }
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
        rh_fail(&o->why, RH_EINVAL,
                "%s: cannot write: a name of %zu bytes, expected at most %d",
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
    for (size_t got = 0; got < sizeof head && !o->over;) {
        ssize_t n = recv(o->helper.socket, (char *)&head + got, sizeof head - got, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            give_up(o, n < 0);
        else
            got += (size_t)n;
    }
    if (!o->over && (head.version != RH_WIRE__VERSION || head.fault || head.size))
        give_up(o, true);
}

// ---------------------------------------------------------------------------- the file

static void clear(rh_hdf5__out *o)
{
    rh_free(o->waiting);
    rh_free(o->number);
    rh_free(o->whole);
    rh_free(o);
}

rh_status rh_hdf5__create(rh_hdf5__out **out, const char *temporary, const char *path,
                          rh_error *err)
{
    size_t room = SLAB_NUMBERS + RH_MAX_OBS;
    rh_status rc = RH_OK;
    rh_hdf5__out *o = rh_alloc(1, sizeof *o);
    if (o) {
        o->waiting = rh_alloc(ROOM, 1);
        o->number = rh_alloc(room, sizeof *o->number);
        o->whole = rh_alloc(room, sizeof *o->whole);
    }
    if (!o || !o->waiting || !o->number || !o->whole) {
        if (o)
            clear(o);
        return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory",
                       rh_base__path_tail(path));
    }
    o->path = path;
    rc = rh_spawn__write(&o->helper, temporary, path, err);
    if (!rc) {
        say(o, (rh_wire__make){.op = RH_WIRE_MAKE_FILE}, NULL, NULL);
        ask(o);
        rc = check(o, err);
    }
    if (rc)
        rh_hdf5__abandon(o);
    else
        *out = o;
    return rc;
}

rh_status rh_hdf5__end(rh_hdf5__out *o, rh_error *err)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_END}, NULL, NULL);
    ask(o);
    rh_status rc = check(o, err);
    rh_hdf5__abandon(o);
    return rc;
}

void rh_hdf5__abandon(rh_hdf5__out *o)
{
    char how[100];
    if (!o)
        return;
    rh_spawn__end(&o->helper, false, how, sizeof how);
    clear(o);
}

// ---------------------------------------------------------------------------- attributes

rh_status rh_hdf5__make_group(rh_hdf5__out *o, const char *name, rh_error *err)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_GROUP}, name, NULL);
    return check(o, err);
}

rh_status rh_hdf5__put_number(rh_hdf5__out *o, const char *object, const char *name, double x,
                              rh_error *err)
{
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_NUMBER, .n = (int64_t)x}, object, name);
    return check(o, err);
}

rh_status rh_hdf5__put_text(rh_hdf5__out *o, const char *object, const char *name,
                            const char *text, rh_error *err)
{
    size_t n = strlen(text);
    say(o, (rh_wire__make){.op = RH_WIRE_MAKE_TEXT, .n = (int64_t)n}, object, name);
    give(o, text, n);
    return check(o, err);
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

rh_status rh_hdf5__put_rows(rh_hdf5__out *o, const rh_hdf5__rows *rows, rh_error *err)
{
    static const rh_wire__stored stored[] = {[RH_HDF5_DOUBLE] = RH_WIRE_F64,
                                             [RH_HDF5_INT64] = RH_WIRE_I64,
                                             [RH_HDF5_BOOL] = RH_WIRE_FLAG};
    int64_t slab = SLAB_NUMBERS / (rows->ncol ? rows->ncol : 1);
    say(o,
        (rh_wire__make){.op = RH_WIRE_MAKE_ARRAY,
                        .stored = stored[rows->type],
                        .rank = rows->ncol ? 2 : 1,
                        .n = rows->nrow,
                        .width = rows->ncol ? rows->ncol : 1},
        rows->name, NULL);
    for (int64_t i = 0; i < rows->nrow && !o->over; i += slab)
        give_slab(o, rows, i, rows->nrow - i < slab ? rows->nrow - i : slab);
    return check(o, err);
}
