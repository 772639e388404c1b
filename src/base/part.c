// part.c - where the parts of the program are that it loads or starts when they are needed:
// rehearse-hdf5, which reads and writes HDF5, and rehearse-mpi.so, which calls MPI.
//
// 1. A part is beside the program or library that contains this code (a build folder, a Python
//    package), or in the folder of parts, found from there (an installation that was moved), or
//    in that folder as it was configured. No environment variable and no search path names it.
// 2. Without them `rehearse --version` takes 2.8 ms instead of 7.4 ms (bench_start.c): libhdf5
//    and libmpi bring another 37 shared libraries.

#include "part.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef RH_PART_FOLDER // by CMakeLists.txt: the folder, and the ways to it
#define RH_PART_FOLDER "/usr/local/libexec/rehearse"
#define RH_PART_FROM_BIN "../libexec/rehearse"
#define RH_PART_FROM_LIB "../libexec/rehearse"
#endif

// The folder of the program or library that contains this code. False if it is not known.
static bool find_own(char *folder)
{
    Dl_info info;
    void *map = NULL;
    static const int here = 0;
    bool found = dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map;
    const char *name = found ? ((const struct link_map *)map)->l_name : "";
    ssize_t n = 0;
    if (!*name) // the program; its file may have been replaced since it was started
        n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n < 0 || (n == 0 && !realpath(name, folder)))
        return false;
    if (n > 0)
        folder[n] = 0;
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

bool rh_part__place(int n, const char *name, char *path)
{
    static const char *const below[] = {"", "/" RH_PART_FROM_BIN, "/" RH_PART_FROM_LIB};
    const int nbelow = (int)(sizeof below / sizeof *below);
    char own[PATH_MAX];
    int length = -1;
    if (n < nbelow && find_own(own))
        length = snprintf(path, RH_PART__PATH, "%s%s/%s", own, below[n], name);
    else if (n <= nbelow) // the last place stands for those that are not known
        length = snprintf(path, RH_PART__PATH, "%s/%s", RH_PART_FOLDER, name);
    return length > 0 && length < RH_PART__PATH;
}

const char *rh_part__expected(char *text, size_t size)
{
    char own[PATH_MAX];
    if (find_own(own))
        snprintf(text, size, "%s or %s", own, RH_PART_FOLDER);
    else
        snprintf(text, size, "%s", RH_PART_FOLDER);
    return text;
}
