// lines.c - a deployment on a pipe: JSON lines in, JSON lines out.
//
// 1. One reply for each line, also for one that cannot be read: the plant must not wait.
// 2. The state is saved after the reply is written, while the plant acts.
// 3. A line of more than 64 KB is answered as one that cannot be read.

#include "base/base_internal.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define WAIT 500 // ms between two looks at stop() while nothing comes in

typedef struct talk {
    rh_deploy *deploy;
    int out;
    rh_message message;
    char *reply; // owned  (RH_DEPLOY__TEXT)
} talk;

static rh_status send_all(int fd, const char *text, size_t n, rh_error *err)
{
    while (n > 0) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rh_fail(err, RH_EIO, "cannot write a reply: %s", strerror(errno));
        text += done;
        n -= (size_t)done;
    }
    return RH_OK;
}

// Answer one line; fault: why it cannot be read, or NULL.
static rh_status answer(talk *t, const char *line, size_t n, const char *fault, rh_error *err)
{
    const rh_best *best = t->deploy->best;
    rh_error why = {""};
    rh_deploy_reply reply;
    if (fault)
        n = 0;
    rh_status bad = rh_message__parse(&t->message, best, line, n, &why);
    rh_status rc = rh_deploy_step(t->deploy, &t->message.seen, &reply, err);
    if (rc)
        return rc;
    size_t length = rh_message__reply(best, &t->message.seen, &reply,
                                      fault ? fault
                                      : bad ? why.text
                                            : NULL,
                                      t->reply, RH_DEPLOY__TEXT);
    rc = send_all(t->out, t->reply, length, err);
    return rc ? rc : rh_deploy_tick(t->deploy, err);
}

// Answer the whole lines in buffer (n bytes); how many bytes are left at its beginning.
static rh_status answer_lines(talk *t, char *buffer, size_t *n, bool *skipping, rh_error *err)
{
    char *from = buffer, *end;
    rh_status rc = RH_OK;
    while (!rc && (end = memchr(from, '\n', *n)) != NULL) {
        size_t length = (size_t)(end - from);
        rc = answer(t, from, length, *skipping ? "message: longer than 65,535 bytes" : NULL,
                    err);
        *skipping = false;
        *n -= length + 1;
        from = end + 1;
    }
    memmove(buffer, from, *n);
    return rc;
}

rh_status rh_deploy_lines(rh_deploy *d, int in_fd, int out_fd, bool (*stop)(void *context),
                          void *context, rh_error *err)
{
    talk t = {.deploy = d, .out = out_fd};
    char *buffer = rh_alloc(2, RH_DEPLOY__TEXT);
    size_t n = 0;
    bool skipping = false;
    rh_status rc = buffer ? RH_OK : rh_base__no_memory(err, "deploy");
    t.reply = buffer ? buffer + RH_DEPLOY__TEXT : NULL;
    while (!rc && !(stop && stop(context))) {
        struct pollfd in = {.fd = in_fd, .events = POLLIN};
        int ready = poll(&in, 1, WAIT);
        if (ready < 0 && errno != EINTR)
            rc = rh_fail(err, RH_EIO, "cannot read: %s", strerror(errno));
        if (ready <= 0) {
            rc = rc ? rc : rh_deploy_tick(d, err);
            continue;
        }
        ssize_t got = read(in_fd, buffer + n, RH_DEPLOY__TEXT - n);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            rc = rh_fail(err, RH_EIO, "cannot read: %s", strerror(errno));
        n += got > 0 ? (size_t)got : 0;
        if (!rc)
            rc = answer_lines(&t, buffer, &n, &skipping, err);
        if (n == RH_DEPLOY__TEXT) { // decision 3
            skipping = true;
            n = 0;
        }
    }
    if (!rc && (n > 0 || skipping) && !(stop && stop(context))) // a last line without its end
        rc = answer(&t, buffer, n, skipping ? "message: longer than 65,535 bytes" : NULL, err);
    rh_free(buffer);
    return rc;
}
