// lock.c - one process at a time works on a study.
//
// 1. flock() on the journal: the system releases it when a process ends in any way, so a crash
//    leaves no lock behind. The file study.lock only names the process and may be stale.
// 2. On NFS Linux turns it into a lock of the server (since 2.6.12) that other hosts see,
//    unless mounted with nolock or local_lock=flock. Lustre refuses it unless mounted with
//    flock. Without locks we continue: a process that finds another's lines stops.
// 3. Links are not followed: study.lock -> some file would empty that file.
// 4. The name is not study.log.lock, which Optuna holds while it writes a line.

#include "base/base_internal.h"
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define NOTE 300 // bytes of study.lock, at most
#define HOST 80  // bytes of a host name in it

// "4711 host\n"; other content is ignored.
static void read_note(const char *note, char *pid, char *host)
{
    char text[NOTE] = "";
    int fd = open(note, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    *pid = *host = 0;

    size_t ndigit = strspn(text, "0123456789");
    size_t nhost = text[ndigit] == ' ' ? strcspn(text + ndigit + 1, "\n") : 0;
    if (ndigit == 0 || ndigit > 20 || nhost == 0)
        return;
    memcpy(pid, text, ndigit);
    pid[ndigit] = 0;
    text[ndigit + 1 + nhost] = 0;
    rh_text__printable(text + ndigit + 1, host, HOST);
}

// Failure is harmless: the lock holds without the note.
static void write_note(const char *note)
{
    char host[HOST] = "", text[NOTE];
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        snprintf(host, sizeof host, "this host");
    int n = snprintf(text, sizeof text, "%ld %s\n", (long)getpid(), host);
    int fd =
        open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    if (fd < 0)
        return;
    ssize_t written = write(fd, text, (size_t)n);
    (void)written;
    close(fd);
}

rh_status rh_lock__take(int fd, const char *folder, const char *note, rh_error *err)
{
    int rc;
    do
        rc = flock(fd, LOCK_EX | LOCK_NB);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == EWOULDBLOCK) {
        char pid[24], host[HOST];
        read_note(note, pid, host);
        if (!*pid)
            return rh_fail(err, RH_EIO, "%s: another process is running this study",
                           rh_base__path_tail(folder));
        return rh_fail(err, RH_EIO, "%s: process %s on host %s is running this study",
                       rh_base__path_tail(folder), pid, host);
    }

    // a file system without locks is accepted
    bool without = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK || errno == EINVAL;
    if (rc != 0 && !without)
        return rh_fail(err, RH_EIO, "%s: cannot lock: %s", rh_base__path_tail(folder),
                       strerror(errno));
    write_note(note);
    return RH_OK;
}

void rh_lock__leave(const char *note)
{
    unlink(note); // the journal is still locked, so this is our own note
}
