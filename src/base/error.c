// error.c - the caller's error message, and the version.

#include "base_internal.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

rh_status rh_fail(rh_error *err, rh_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

void rh_base__say_no_memory(rh_error *err, const char *what)
{
    rh_fail(err, RH_ENOMEM, "%s%sout of memory", what ? rh_base__path_tail(what) : "",
            what ? ": " : "");
}

const char *rh_version(void)
{
    return RH_VERSION; // from the build: project(VERSION) is the one place it is written
}
