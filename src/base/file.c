// file.c - files that are whole or absent.
//
// A file is written under a temporary name in the same folder, synced and renamed, and then the
// folder is synced. Whenever the machine stops, the path names the old file or the new one.
//
// 1. Pipes and devices such as /dev/null are refused: a rename would replace them by a file.
// 2. The temporary gets the old file's permissions at once, so that nobody else can read it,
//    and again at the end, because a library that writes to a name may have made a new file.
// 3. A killed process leaves its temporary behind. Who writes the file next removes those of
//    processes that are gone. So do not write one file from two machines at the same time.
// 4. The names of temporaries are in a table that a signal handler may read, so that a program
//    that is interrupted can remove them. They are there before the file is: on a busy machine
//    many signals came between the two.

#include "file.h"
#include "base_internal.h"
#include "rehearse/base.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONGEST_PATH 300   // of a path in a message
#define TEMPORARY_EXTRA 48 // characters added to a path to make a temporary name
#define TABLE 64           // most temporaries in the table; further ones are left behind

static _Atomic(const char *) table[TABLE]; // names of open temporaries, borrowed; NULL: free

struct rh_file {
    char *path;      // as given by the caller, owned
    char *place;     // the file to replace, owned
    char *temporary; // owned
    FILE *stream;    // owned; NULL until first used
    bool made;       // the temporary exists
    mode_t rights;   // of the old file; 0 when there is none
};

// ---------------------------------------------------------------------------- the table

static void remember(const char *name)
{
    for (int i = 0; i < TABLE; i++) {
        const char *none = NULL;
        if (atomic_compare_exchange_strong(&table[i], &none, name))
            return;
    }
}

static void forget(const char *name)
{
    for (int i = 0; i < TABLE; i++) {
        const char *one = name;
        if (atomic_compare_exchange_strong(&table[i], &one, NULL))
            return;
    }
}

// ---------------------------------------------------------------------------- left behind

static atomic_uint serial; // of the next temporary; threads may write the same path

// Which files to remove.
typedef struct sweep {
    const char *base; // their names begin with it
    bool own;         // it is the name of a temporary of ours
    bool locked;      // nobody else writes here
} sweep;

// Whether this process or another one may still be writing to the temporary of these numbers.
static bool is_written(unsigned long pid, unsigned long number)
{
    if (pid == (unsigned long)getpid()) // or a process before us, in another container
        return number < atomic_load(&serial);
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

// libzip writes to a file of its own, whose name is that of the temporary and ".XXXXXX".
static bool is_left(const sweep *s, const char *name)
{
    size_t n = strlen(s->base);
    char *end = NULL;
    if (strncmp(name, s->base, n) != 0)
        return false;
    name += n;
    if (s->own)
        return strlen(name) == 7;
    if (name[0] != '.' || !isdigit((unsigned char)name[1]))
        return false;
    unsigned long pid = strtoul(name + 1, &end, 10);
    if (end[0] != '-' || !isdigit((unsigned char)end[1]) || pid == 0 || pid > INT_MAX)
        return false;
    unsigned long number = strtoul(end + 1, &end, 10);
    if (strncmp(end, ".tmp", 4) != 0 || (end[4] && (end[4] != '.' || strlen(end + 4) != 7)))
        return false;
    return s->locked || !is_written(pid, number);
}

// Remove such files in the folder of `path`. opendir() allocates, which a signal handler may
// not do.
static void remove_left(const char *path, sweep s)
{
    char folder[4096];
    _Alignas(8) char entries[4096];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    s.base = path + n;
    if (n + 2 > sizeof folder)
        return;
    memcpy(folder, path, n);
    memcpy(folder + n, ".", 2);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long got; fd >= 0 && (got = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;)
        for (long at = 0; at < got;) {
            unsigned short size; // of the entry, at byte 16; its name is at byte 19
            memcpy(&size, entries + at + 16, sizeof size);
            if (is_left(&s, entries + at + 19))
                unlinkat(fd, entries + at + 19, 0);
            at += size;
        }
    if (fd >= 0)
        close(fd);
}

void rh_file__clean(const char *path)
{
    remove_left(path, (sweep){.locked = true});
}

void rh_file__remove_temporaries(void)
{
    for (int i = 0; i < TABLE; i++) {
        const char *name = atomic_load(&table[i]);
        if (!name)
            continue;
        unlink(name);
        remove_left(name, (sweep){.own = true});
    }
}

// ---------------------------------------------------------------------------- files

const char *rh_base__path_tail(const char *path)
{
    size_t length = strlen(path);
    return length > LONGEST_PATH ? path + length - LONGEST_PATH : path;
}

static char *copy_of(const char *text, size_t extra)
{
    size_t n = strlen(text) + 1;
    char *copy = rh_alloc(n + extra, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

// Make an empty file in the same folder. 0, or errno.
static int make_temporary(rh_file *file, mode_t usual)
{
    size_t size = strlen(file->place) + TEMPORARY_EXTRA;
    for (int attempt = 0; attempt < 100; attempt++) { // names left by a killed process
        snprintf(file->temporary, size, "%s.%ld-%u.tmp", file->place, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        remember(file->temporary);
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, usual);
        int why = errno;
        if (fd >= 0) {
            file->made = true;
            bool given = !file->rights || fchmod(fd, file->rights | S_IWUSR) == 0;
            int fault = given ? 0 : errno;
            close(fd);
            return fault;
        }
        forget(file->temporary);
        if (why != EEXIST)
            return why;
    }
    return EEXIST;
}

rh_status rh_file__cannot_write(const char *path, int why, rh_error *err)
{
    return rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                   strerror(why));
}

rh_status rh_file__no_memory(const char *path, rh_error *err)
{
    return rh_fail(err, RH_ENOMEM, "%s: cannot write: out of memory", rh_base__path_tail(path));
}

static rh_status create(rh_file **out, const char *path, mode_t usual, rh_error *err)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (exists && !S_ISREG(there.st_mode))
        return rh_fail(err, RH_EIO, "%s: cannot write: it is %s, expected a file",
                       rh_base__path_tail(path),
                       S_ISDIR(there.st_mode) ? "a directory" : "a device, pipe or socket");

    rh_file *file = rh_alloc(1, sizeof *file);
    if (!file)
        goto nomemory;
    file->rights = exists ? there.st_mode & 07777 : 0;
    char *target = exists ? realpath(path, NULL) : NULL;
    file->path = copy_of(path, 0);
    file->place = copy_of(target ? target : path, 0);
    free(target);
    file->temporary = file->place ? copy_of(file->place, TEMPORARY_EXTRA) : NULL;
    if (!file->path || !file->temporary)
        goto nomemory;
    remove_left(file->place, (sweep){.locked = false});
    int fault = make_temporary(file, usual);
    if (fault) {
        rh_file__discard(file);
        return rh_file__cannot_write(path, fault, err);
    }
    *out = file;
    return RH_OK;

nomemory:
    rh_file__discard(file);
    return rh_file__no_memory(path, err);
}

rh_status rh_file__create(rh_file **out, const char *path, rh_error *err)
{
    return create(out, path, 0666, err);
}

rh_status rh_file__create_private(rh_file **out, const char *path, rh_error *err)
{
    return create(out, path, 0600, err);
}

FILE *rh_file__stream(rh_file *file)
{
    if (!file->stream)
        file->stream = fopen(file->temporary, "we");
    return file->stream;
}

const char *rh_file__temporary(const rh_file *file)
{
    return file->temporary;
}

// Sync what was written so far. 0, or errno.
static int sync_file(const rh_file *file)
{
    int fd = open(file->temporary, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int fault = file->rights && fchmod(fd, file->rights) != 0 ? errno : 0;
    if (!fault && fsync(fd) != 0)
        fault = errno;
    close(fd);
    return fault;
}

int rh_file__sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; // writable but not readable: the system syncs it later
    int fault =
        fsync(fd) != 0 && errno != EINVAL ? errno : 0; // EINVAL: cannot be synced at all
    close(fd);
    return fault;
}

// The same of the folder of `path`, which is cut to it.
static int sync_folder_of(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0; // "/" stays
    return rh_file__sync_folder(slash ? path : ".");
}

rh_status rh_file__commit(rh_file *file, rh_error *err)
{
    int fault = 0;
    if (file->stream) {
        errno = 0;
        bool bad = ferror(file->stream) != 0;
        bad = fclose(file->stream) != 0 || bad;
        file->stream = NULL;
        fault = bad ? (errno ? errno : EIO) : 0;
    }
    if (!fault)
        fault = sync_file(file);
    if (!fault && rename(file->temporary, file->place) != 0)
        fault = errno;
    if (!fault) {
        file->made = false;
        forget(file->temporary);
        fault = sync_folder_of(file->temporary);
    }
    rh_status rc = fault ? rh_file__cannot_write(file->path, fault, err) : RH_OK;
    rh_file__discard(file);
    return rc;
}

void rh_file__discard(rh_file *file)
{
    if (!file)
        return;
    if (file->stream)
        fclose(file->stream);
    if (file->temporary && file->made) {
        unlink(file->temporary);
        forget(file->temporary);
    }
    rh_free(file->path);
    rh_free(file->place);
    rh_free(file->temporary);
    rh_free(file);
}
