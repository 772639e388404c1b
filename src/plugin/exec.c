// exec.c - agents and environments in any language: a program that reads and writes JSON lines.
//
// The program is started by the shell with one socket as its standard input and output, and
// answers questions; docs/exec.md has the protocol. It stays for many runs.
//
// 1. A socket and not two pipes: writing to a program that has ended is then an error and not
//    a signal.
// 2. Runs in parallel have a program each, so they do not wait for each other.
// 3. Whatever the program does wrong (it ends, it does not answer in time, it answers nonsense)
//    ends the run, with the reason. The next run starts it again.
// 4. A step needs no memory: lines have fixed buffers, and of an answer only the keys that are
//    needed are read.
// 5. The first answer of a program may take START_UP seconds: interpreters load libraries.
// 6. Where a reply must not wait (the fallback of a deployment) an answer that takes longer
//    than `within` is late: no failure, and dropped when it comes. A program with late answers
//    for longer than the usual time has failed.
// 7. The process groups of open programs are in a table that a signal handler may read: one
//    that loops does not notice that its socket is closed.

#include "exec.h"

#include "base/base_internal.h"
#include "base/number.h"
#include "plugin.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define START_UP 30.0 // decision 5
#define TABLE 1024    // most programs in the table; further ones are not ended by a signal

static _Atomic pid_t table[TABLE]; // groups of open programs; 0: free

// ---------------------------------------------------------------------------- the table

// Put `to` in the place of `from`.
static void replace(pid_t from, pid_t to)
{
    for (int i = 0; i < TABLE; i++) {
        pid_t one = from;
        if (atomic_compare_exchange_strong(&table[i], &one, to))
            return;
    }
}

int rh_plugin__end_programs(bool end)
{
    int n = 0;
    for (int i = 0; i < TABLE; i++) {
        pid_t pid = atomic_load(&table[i]);
        n += pid != 0;
        if (pid && end)
            kill(-pid, SIGKILL);
    }
    return n;
}

// End what is left of the group, and wait for the program. Its status.
static int end_group(rh_exec *p)
{
    int status = 0;
    replace(p->pid, 0); // before the number may be that of another group
    kill(-p->pid, SIGKILL);
    waitpid(p->pid, &status, 0);
    return status;
}

// ---------------------------------------------------------------------------- the program

bool rh_exec__fail(rh_exec *p, const char *what)
{
    if (!*p->reason)
        snprintf(p->reason, sizeof p->reason, "exec:%.80s: %.150s", p->command, what);
    return false;
}

rh_status rh_exec__open(rh_exec *p, rh_error *err)
{
    int pair[2];
    union {
        const char *read;
        char *passed;
    } command = {.read = p->command};
    char shell[] = "sh", option[] = "-c";
    char *const argv[] = {shell, option, command.passed, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    p->fd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return rh_fail(err, RH_EIO, "exec:%.80s: %s", p->command, strerror(errno));
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, pair[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, pair[1], STDOUT_FILENO);
    sigset_t none;
    sigemptyset(&none); // threads of a study block all
    posix_spawnattr_setsigmask(&attr, &none);
    // a group of its own is ended with its children
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int fault = posix_spawn(&p->pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    close(pair[1]);
    if (fault) {
        close(pair[0]);
        return rh_fail(err, RH_EIO, "exec:%.80s: cannot be started: %s", p->command,
                       strerror(fault));
    }
    replace(0, p->pid);
    p->fd = pair[0];
    p->nread = p->nline = p->nout = 0;
    p->answered = false;
    p->nlate = 0;
    p->reason[0] = 0;
    return RH_OK;
}

bool rh_exec__healthy(const rh_exec *p)
{
    return p->fd >= 0 && !*p->reason;
}

void rh_exec__close(rh_exec *p)
{
    if (p->fd < 0)
        return;
    close(p->fd);
    p->fd = -1;
    end_group(p);
}

// The socket is closed: say how the program ended, and close our side if it did. False.
static bool fail_ended(rh_exec *p)
{
    char what[96] = "ended";
    struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL); // the socket closes before the process ends
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
        int status = end_group(p); // with what it started and left behind
        // the shell adds 128 to the signal that ended its command
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (code > 128)
            snprintf(what, sizeof what, "ended by signal %d (%s)", code - 128,
                     strsignal(code - 128));
        else
            snprintf(what, sizeof what, "ended with exit code %d", code);
        close(p->fd);
        p->fd = -1;
    }
    return rh_exec__fail(p, what);
}

bool rh_exec__send(rh_exec *p)
{
    const char *text = p->out;
    size_t n = p->nout;
    p->nout = 0;
    while (n > 0) {
        ssize_t done =
            send(p->fd, text, n, MSG_NOSIGNAL | (p->within > 0.0 ? MSG_DONTWAIT : 0));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_ended(p);
        text += done;
        n -= (size_t)done;
    }
    return true;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Atomic double patience = 10.0; // seconds to wait for an answer

rh_status rh_plugin_set_timeout(double seconds, rh_error *err)
{
    if (!(seconds > 0.0 && seconds <= RH_PLUGIN_MOST_TIMEOUT))
        return rh_fail(err, RH_EINVAL, "exec: time-out = %g, expected above 0, to %g seconds",
                       seconds, RH_PLUGIN_MOST_TIMEOUT);
    patience = seconds;
    return RH_OK;
}

static atomic_bool allowed; // in best.yaml

void rh_plugin_allow_exec(bool allow)
{
    allowed = allow;
}

bool rh_plugin__exec_allowed(void)
{
    return allowed;
}

// Drop the line of the last answer.
static void drop_line(rh_exec *p)
{
    memmove(p->buffer, p->buffer + p->nline, p->nread - p->nline);
    p->nread -= p->nline;
    p->nline = 0;
}

// No answer in time. False.
static bool fail_late(rh_exec *p, double usual, double asked)
{
    char what[64];
    if (p->nlate++ == 0)
        p->since = asked;
    if (p->within > 0.0 && now() - p->since < usual)
        return false; // decision 6
    snprintf(what, sizeof what, "no answer within %g s", usual);
    return rh_exec__fail(p, what);
}

const char *rh_exec__line(rh_exec *p)
{
    double usual = p->answered ? patience : fmax(patience, START_UP);
    double asked = now(), until = asked + (p->within > 0.0 ? fmin(p->within, usual) : usual);
    drop_line(p);
    for (;;) {
        char *end = memchr(p->buffer, '\n', p->nread);
        if (end) {
            *end = 0;
            p->nline = (size_t)(end - p->buffer) + 1;
            p->answered = true;
            if (p->nlate == 0)
                return p->buffer;
            p->nlate--;
            drop_line(p);
            continue;
        }
        double left = until - now();
        struct pollfd ready = {.fd = p->fd, .events = POLLIN};
        if (p->nread == sizeof p->buffer)
            return rh_exec__fail(p, "an answer of more than 64 KB, expected a JSON line"), NULL;
        int n = left > 0.0 ? poll(&ready, 1, (int)(left * 1e3) + 1) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return fail_late(p, usual, asked), NULL;
        ssize_t got = recv(p->fd, p->buffer + p->nread, sizeof p->buffer - p->nread, 0);
        if (got <= 0)
            return fail_ended(p), NULL;
        p->nread += (size_t)got;
    }
}

// ---------------------------------------------------------------------------- numbers

void rh_exec__add(rh_exec *p, const char *text)
{
    size_t n = strlen(text);
    if (p->nout + n < sizeof p->out) {
        memcpy(p->out + p->nout, text, n + 1);
        p->nout += n;
    }
}

void rh_exec__add_number(rh_exec *p, const char *name, double x)
{
    char digits[RH_NUMBER__SIZE];
    rh_number__print(x, digits);
    rh_exec__add(p, "\"");
    rh_exec__add(p, name);
    rh_exec__add(p, "\":");
    rh_exec__add(p, digits);
}

void rh_exec__add_numbers(rh_exec *p, const double *x, int n)
{
    char digits[RH_NUMBER__SIZE];
    rh_exec__add(p, "[");
    for (int i = 0; i < n; i++) {
        rh_number__print(x[i], digits);
        rh_exec__add(p, i ? "," : "");
        rh_exec__add(p, digits);
    }
    rh_exec__add(p, "]");
}

void rh_exec__add_params(rh_exec *p, const rh_param *param, int n, const double *value)
{
    rh_exec__add(p, "\"parameters\":{");
    for (int i = 0; i < n; i++) {
        rh_exec__add(p, i ? "," : "");
        rh_exec__add_number(p, param[i].name, value[i]);
    }
    rh_exec__add(p, "}");
}

bool rh_exec__nonsense(rh_exec *p, const char *line, const char *expected)
{
    char shown[128], what[224];
    const char *error = strstr(line, "\"error\"");
    rh_text__printable(error ? error + 7 : line, shown, sizeof shown);
    if (error)
        snprintf(what, sizeof what, "its error%s", shown);
    else
        snprintf(what, sizeof what, "answered '%s', expected %s", shown, expected);
    return rh_exec__fail(p, what);
}

bool rh_exec__numbers(rh_exec *p, const char *line, const char *key, double *x, int n,
                      const char *expected)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = strstr(line, "\"error\"") ? NULL : strstr(line, quoted);
    if (at)
        at += strlen(quoted) + strspn(at + strlen(quoted), " :");
    bool list = at && *at == '[';
    for (int i = 0; at && i < n; i++) {
        at += strspn(at, " [,");
        const char *end = at + strcspn(at, ",]} ");
        bool good = rh_number__parse(at, end, &x[i]) == end && end > at && isfinite(x[i]);
        at = good ? end : NULL;
    }
    // no more numbers than that
    if (at && (!list || at[strspn(at, " ")] == ']'))
        return true;
    return rh_exec__nonsense(p, line, expected);
}
