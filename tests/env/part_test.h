// part_test.h - contract tests that loop over a registry: a failure names the part and what
// the contract requires of it.

#ifndef REHEARSE_PART_TEST_H
#define REHEARSE_PART_TEST_H

#include <stdbool.h>
#include <stdio.h>

#include "rehearse/base.h"

// Fail with "<part>: must <requirement>" unless ok.
#define MUST(part, ok, ...) must((ok), (part), __FILE__, __LINE__, __VA_ARGS__)

static inline void must(bool ok, const char *part, const char *file, int line,
                        const char *requirement, ...) RH_PRINTF(5, 6);

static inline void must(bool ok, const char *part, const char *file, int line,
                        const char *requirement, ...)
{
    if (ok)
        return;
    char text[256];
    va_list list;
    va_start(list, requirement);
    vsnprintf(text, sizeof text, requirement, list);
    va_end(list);
    print_error("%s: must %s (rehearse/contract.h)\n", part, text);
    _fail(file, line);
}

#endif
