// exec_sample.h - a folder of its own for the scripts of a test.

#ifndef EXEC_SAMPLE_H
#define EXEC_SAMPLE_H

#include <stdlib.h>
#include <unistd.h>

static inline int enter(void **unused)
{
    (void)unused;
    static char folder[] = "/tmp/rh_exec_XXXXXX";
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave(void **unused)
{
    (void)unused;
    return system("rm -rf \"$PWD\"") == 0 ? 0 : -1;
}

#endif
