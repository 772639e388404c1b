// part.h - where the parts of the program are that it loads or starts when they are needed.

#ifndef REHEARSE_BASE_PART_H
#define REHEARSE_BASE_PART_H

#include "rehearse/base.h"

#include <limits.h>

#define RH_PART__PATH (PATH_MAX + 256) // bytes of a place

// The n-th place (0, 1, ...) where the part called `name` may be, in `path` (RH_PART__PATH).
// False if there is none.
bool rh_part__place(int n, const char *name, char *path);

// "A or B": the folders of a part, for messages.
const char *rh_part__expected(char *text, size_t size);

#endif
