// file.h - files that are whole or absent.

#ifndef REHEARSE_BASE_FILE_H
#define REHEARSE_BASE_FILE_H

#include "rehearse/base.h"

// A file is written under a temporary name beside its own, synced, and renamed when complete. A
// link is followed, and the permissions of an old file are kept.
typedef struct rh_file rh_file;

// Accepts only a regular file or a new name. Owned: *out, end it with rh_file__commit() or
// rh_file__discard(). Nullable: err.
rh_status rh_file__create(rh_file **out, const char *path, rh_error *err);
// The same; nobody but its owner can read a new file.
rh_status rh_file__create_private(rh_file **out, const char *path, rh_error *err);

// Where to write: a stream, or for libraries that need one, the name of the empty temporary.
// Use one of the two. NULL: the stream cannot be opened.
FILE *rh_file__stream(rh_file *file);
const char *rh_file__temporary(const rh_file *file);

// Give the file its name and free it. On failure the old file is unchanged. Nullable: err.
rh_status rh_file__commit(rh_file *file, rh_error *err);
void rh_file__discard(rh_file *file); // NULL is allowed

// Remove what killed processes left of temporaries of `path`. Only where a lock makes sure that
// nobody else writes it: rh_file__create() does the same where it is safe.
void rh_file__clean(const char *path);

// Sync a folder, so that new names in it last. 0, or errno.
int rh_file__sync_folder(const char *folder);

// "path: cannot write: ...", why: an errno; and the same where memory runs out. Nullable: err.
rh_status rh_file__cannot_write(const char *path, int why, rh_error *err);
rh_status rh_file__no_memory(const char *path, rh_error *err);

// Remove all temporaries, before the program ends by a signal. A signal handler may call it.
void rh_file__remove_temporaries(void);

#endif
