// hdf5_spawn.c - starts and ends the helper program rehearse-hdf5.
//
// 1. posix_spawn(), which a process with threads or under MPI may call; it copies no memory.
// 2. The helper is looked for beside the program or library that contains this code, then in
//    libexec/rehearse below its prefix, then where it was to be installed. No environment
//    variable and no search path names it. It gets no environment but LD_LIBRARY_PATH, which
//    may be needed to find libhdf5, and MALLOC_PERTURB_, with which tests find memory that was
//    read before it was written.
// 3. The library opens the log, so the helper needs no right to open files. A lock tells
//    whether another program is writing it, as libhdf5 does; where there are no locks, it is
//    not asked.
// 4. The helper is in a process group of its own: Ctrl-C is for the program, which closes the
//    socket, and the helper ends.
// 5. The caller's program may wait for all its children, and take ours. Then how the helper
//    ended is not known, and nothing else is lost.

#include "hdf5_spawn.h"
#include "base/base_internal.h"
#include "hdf5_wire.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RH_HELPER_FOLDER
#define RH_HELPER_FOLDER "/usr/local/libexec/rehearse"
#endif

#define PATIENCE 300       // seconds without a byte of an answer
#define FREE_DESCRIPTOR 10 // ours are numbered from here, so that none is in the way of another

// ---------------------------------------------------------------------------- where it is

// The folder of the program or library that contains this code. False if it is not known.
static bool find_own(char *folder)
{
    Dl_info info;
    void *map = NULL;
    static const int here = 0;
    bool found = dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map;
    const char *name = found ? ((const struct link_map *)map)->l_name : "";
    if (!realpath(*name ? name : "/proc/self/exe", folder))
        return false;
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

// The n-th place for the helper. False if there is none.
static bool find_place(int n, const char *own, char *path, size_t size)
{
    static const char *const below[] = {"", "/../libexec/rehearse", "/../../libexec/rehearse"};
    const int nbelow = (int)(sizeof below / sizeof *below);
    int length = n < nbelow
                     ? snprintf(path, size, "%s%s/rehearse-hdf5", own, *own ? below[n] : "")
                     : snprintf(path, size, "%s/rehearse-hdf5", RH_HELPER_FOLDER);
    return n <= nbelow && length > 0 && (size_t)length < size;
}

// ---------------------------------------------------------------------------- starting

// Start the program at `path` with its two descriptors. An error number, 0 if it started.
static int start(pid_t *pid, const char *path, int sock, int log)
{
    char word[] = "rehearse-hdf5", one[2][4096], *argument[] = {word, NULL};
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
    rc = rc ? rc : posix_spawn_file_actions_adddup2(&act, log, RH_WIRE__LOG);
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

rh_status rh_spawn__begin(rh_spawn *helper, const char *path, rh_error *err)
{
    char own[PATH_MAX] = "", place[PATH_MAX + 64];
    int pair[2] = {-1, -1}, log = -1, fault = ENOENT;
    rh_status rc = open_log(&log, path, err);
    if (rc)
        goto done;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        rc = rh_fail(err, RH_EIO, "%s: cannot be read: %s", rh_base__path_tail(path),
                     strerror(errno));
        goto done;
    }
    pair[0] = move_up(pair[0]);
    pair[1] = move_up(pair[1]);
    if (!find_own(own))
        *own = 0;
    for (int n = *own ? 0 : 3; fault == ENOENT && find_place(n, own, place, sizeof place); n++)
        fault = start(&helper->pid, place, pair[1], log);
    if (fault) {
        helper->pid = 0;
        rc = rh_fail(err, RH_EIO,
                     "%s: cannot start the program rehearse-hdf5 that reads HDF5: %s; "
                     "expected it in %s or %s",
                     rh_base__path_tail(path), strerror(fault), *own ? own : "?",
                     RH_HELPER_FOLDER);
        goto done;
    }
    struct timeval patience = {.tv_sec = PATIENCE};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    helper->socket = pair[0];
    pair[0] = -1;

done:
    if (log >= 0)
        close(log);
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
    return rc;
}

// ---------------------------------------------------------------------------- ending

void rh_spawn__end(rh_spawn *helper, bool now, char *how, size_t size)
{
    int status = 0;
    pid_t ended = -1;
    snprintf(how, size, "its reader ended");
    if (helper->socket >= 0)
        close(helper->socket);
    helper->socket = -1;
    if (helper->pid > 0 && now)
        kill(helper->pid, SIGKILL);
    while (helper->pid > 0 && (ended = waitpid(helper->pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (ended == helper->pid && helper->pid > 0 && WIFSIGNALED(status)) {
        int signal = WTERMSIG(status);
        if (signal == SIGXCPU || signal == SIGKILL)
            snprintf(how, size, "libhdf5 takes too long to read it");
        else
            snprintf(how, size, "libhdf5 crashed (signal %d)", signal);
    } else if (ended == helper->pid && helper->pid > 0 && WEXITSTATUS(status) != 0)
        snprintf(how, size, "its reader ended with status %d", WEXITSTATUS(status));
    helper->pid = 0;
}
