// hdf5_spawn.c - starts and ends the helper program rehearse-hdf5.
//
// 1. posix_spawn(), which a process with threads or under MPI may call; it copies no memory.
// 2. base/part.c says where the helper is. It gets no environment but LD_LIBRARY_PATH, which
//    may be needed to find libhdf5, and MALLOC_PERTURB_, with which tests find memory that was
//    read before it was written.
// 3. The library opens the log, so the helper needs no right to open files. A lock tells
//    whether another program is writing it, as libhdf5 does; where there are no locks, it is
//    not asked. A file to write is opened by libhdf5, which needs its path.
// 4. The helper is in a process group of its own: Ctrl-C is for the program, which closes the
//    socket, and the helper ends.
//    With its group, its children are ended too.
// 5. The caller's program may wait for all its children, and take ours. Then how the helper
//    ended is not known, and nothing else is lost.

#include "hdf5_spawn.h"
#include "base/base_internal.h"
#include "base/file.h"
#include "base/part.h"
#include "hdf5_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENDING 2.0         // seconds that it may take to end by itself; by hand
#define FREE_DESCRIPTOR 10 // ours are numbered from here, so that none is in the way of another

// ---------------------------------------------------------------------------- starting

// Start the program at `path` with a socket and the log to read, or the path to write. An error
// number, 0 if it started.
static int start(pid_t *pid, const char *path, int sock, int log, char *written)
{
    char word[] = "rehearse-hdf5", one[2][4096], *argument[] = {word, written, NULL};
    char *environment[3] = {NULL};
    for (int i = 0, n = 0; i < 2; i++) {
        static const char *const kept[] = {"LD_LIBRARY_PATH", "MALLOC_PERTURB_"};
        const char *value = getenv(kept[i]);
        if (value && snprintf(one[i], sizeof one[i], "%s=%s", kept[i], value) < 4096)
            environment[n++] = one[i];
    }
    posix_spawn_file_actions_t act;
    posix_spawnattr_t attribute;
    sigset_t none, every;
    sigemptyset(&none);
    sigfillset(&every);
    if (posix_spawn_file_actions_init(&act) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attribute) != 0) {
        posix_spawn_file_actions_destroy(&act);
        return ENOMEM;
    }
    int rc = posix_spawnattr_setflags(
        &attribute, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    rc = rc ? rc : posix_spawnattr_setpgroup(&attribute, 0);
    rc = rc ? rc : posix_spawnattr_setsigmask(&attribute, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attribute, &every);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&act, sock, 0);
    rc = rc ? rc : posix_spawn_file_actions_addopen(&act, 1, "/dev/null", O_WRONLY, 0);
    rc = rc ? rc : posix_spawn_file_actions_addopen(&act, 2, "/dev/null", O_WRONLY, 0);
    rc = rc || written ? rc : posix_spawn_file_actions_adddup2(&act, log, RH_WIRE__LOG);
    rc = rc ? rc : posix_spawn(pid, path, &act, &attribute, argument, environment);
    posix_spawnattr_destroy(&attribute);
    posix_spawn_file_actions_destroy(&act);
    return rc;
}

// Move a descriptor out of the way; -1 if it cannot be.
static int move_up(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FREE_DESCRIPTOR);
    if (fd >= 0)
        close(fd);
    return moved;
}

static rh_status open_log(int *log, const char *path, rh_error *err)
{
    struct stat st;
    *log = move_up(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (*log < 0 || fstat(*log, &st) != 0 || !S_ISREG(st.st_mode))
        return rh_fail(err, RH_EIO, "%s: cannot be opened", rh_base__path_tail(path));
    if (flock(*log, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return rh_fail(err, RH_EFORMAT,
                       "%s: cannot be opened as HDF5: it is damaged or cut off, or another "
                       "program is writing it",
                       rh_base__path_tail(path));
    return RH_OK;
}

// Start a helper, to read `log` or to write a file at `written`, for `path`.
static rh_status begin(rh_spawn *helper, const char *path, int log, char *written,
                       rh_error *err)
{
    char place[RH_PART__PATH], expected[2 * RH_PART__PATH];
    int pair[2] = {-1, -1}, fault = ENOENT;
    rh_status rc = RH_OK;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return rh_fail(err, RH_EIO, "%s: cannot be %s: %s", rh_base__path_tail(path),
                       written ? "written" : "read", strerror(errno));
    pair[0] = move_up(pair[0]);
    pair[1] = move_up(pair[1]);
    for (int n = 0; fault == ENOENT && rh_part__place(n, "rehearse-hdf5", place); n++)
        fault = start(&helper->pid, place, pair[1], log, written);
    if (fault) {
        helper->pid = 0;
        rc = rh_fail(err, RH_EIO,
                     "%s: cannot start the program rehearse-hdf5 that %s HDF5: %s; "
                     "expected it in %s",
                     rh_base__path_tail(path), written ? "writes" : "reads", strerror(fault),
                     rh_part__expected(expected, sizeof expected));
        goto done;
    }
    struct timeval patience = {.tv_sec = RH_SPAWN__PATIENCE};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    helper->socket = pair[0];
    pair[0] = -1;

done:
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
    return rc;
}

rh_status rh_spawn__read(rh_spawn *helper, const char *path, rh_error *err)
{
    int log = -1;
    *helper = (rh_spawn){.socket = -1};
    rh_status rc = open_log(&log, path, err);
    if (!rc)
        rc = begin(helper, path, log, NULL, err);
    if (log >= 0)
        close(log);
    return rc;
}

rh_status rh_spawn__write(rh_spawn *helper, const char *temporary, const char *path,
                          rh_error *err)
{
    *helper = (rh_spawn){.socket = -1};
    char *written = rh_base__copy(temporary);
    if (!written)
        return rh_file__no_memory(path, err);
    rh_status rc = begin(helper, path, -1, written, err);
    rh_free(written);
    return rc;
}

// ---------------------------------------------------------------------------- talking

bool rh_spawn__send(const rh_spawn *helper, const void *from, size_t n)
{
    for (const char *at = from; n > 0;) {
        ssize_t put = send(helper->socket, at, n, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

size_t rh_spawn__receive(const rh_spawn *helper, void *to, size_t n, bool *late)
{
    ssize_t got;
    do
        got = recv(helper->socket, to, n, 0); // waits for PATIENCE
    while (got < 0 && errno == EINTR);
    *late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    return got > 0 ? (size_t)got : 0;
}

// ---------------------------------------------------------------------------- ending

// Wait until it ends by itself. False: it does not.
static bool ends(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 100000};
    for (double waited = 0.0; waited < ENDING; waited += 1e-9 * (double)pause.tv_nsec) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid)
            return true;
        nanosleep(&pause, NULL);
        pause.tv_nsec += pause.tv_nsec < 10000000 ? pause.tv_nsec / 2 : 0;
    }
    return false;
}

int rh_spawn__end(rh_spawn *helper, bool now, char *how, size_t size)
{
    int status = 0, code = 0;
    pid_t ended = -1;
    snprintf(how, size, "rehearse-hdf5 ended");
    if (helper->socket >= 0)
        close(helper->socket);
    helper->socket = -1;
    if (helper->pid > 0 && (now || !ends(helper->pid)))
        kill(-helper->pid, SIGKILL);
    while (helper->pid > 0 && (ended = waitpid(helper->pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (ended == helper->pid && helper->pid > 0 && WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        if (signal == SIGXCPU || signal == SIGKILL)
            snprintf(how, size, "libhdf5 takes too long");
        else
            snprintf(how, size, "libhdf5 crashed (signal %d)", signal);
    } else if (ended == helper->pid && helper->pid > 0) {
        code = WEXITSTATUS(status);
        if (code)
            snprintf(how, size, "rehearse-hdf5 ended with status %d", code);
    }
    helper->pid = 0;
    return code;
}
