// in_memory.h - folders for tests that sync files: in memory, where the system has a disk
// there. On a busy disk a sync takes a tenth of a second, and `make check` needs thousands of
// them.

#ifndef IN_MEMORY_H
#define IN_MEMORY_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define IN_MEMORY_LEAST 1e9 // bytes; containers may have 64 MB there

// Make a folder whose name begins with `name`. Its path: folder (64).
static inline bool folder_in_memory(char *folder, const char *name)
{
    struct statvfs disk;
    bool has = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &disk) == 0 &&
               (double)disk.f_bavail * (double)disk.f_frsize > IN_MEMORY_LEAST;
    snprintf(folder, 64, "%s/rehearse-%s-XXXXXX", has ? "/dev/shm" : "/tmp", name);
    return mkdtemp(folder) != NULL;
}

#endif
