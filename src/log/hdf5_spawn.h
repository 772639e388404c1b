// hdf5_spawn.h - starts and ends the helper program rehearse-hdf5.

#ifndef REHEARSE_LOG_HDF5_SPAWN_H
#define REHEARSE_LOG_HDF5_SPAWN_H

#include "log_internal.h"

#include <sys/types.h>

#define RH_SPAWN__PATIENCE 30 // seconds without a byte of an answer

typedef struct rh_spawn {
    pid_t pid;  // 0: none
    int socket; // -1: closed
} rh_spawn;

// Start a helper that reads the file at `path`.
rh_status rh_spawn__read(rh_spawn *helper, const char *path, rh_error *err);

// Start a helper that writes a file at `temporary`, the temporary name of `path`.
rh_status rh_spawn__write(rh_spawn *helper, const char *temporary, const char *path,
                          rh_error *err);

// Send all of it; false if the helper does not take it.
bool rh_spawn__send(const rh_spawn *helper, const void *from, size_t n);

// Wait for 1 to n bytes, and return how many; 0: none came. *late: though the helper runs.
size_t rh_spawn__receive(const rh_spawn *helper, void *to, size_t n, bool *late);

// End it and its children, at once if `now`, and write to `how` what ended it, if not this
// call. Its exit code; 0 if it was ended by a signal, or is not known. May be called twice.
int rh_spawn__end(rh_spawn *helper, bool now, char *how, size_t size);

#endif
