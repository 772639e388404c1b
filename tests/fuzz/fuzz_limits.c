// fuzz_limits.c - any text of limits or further scores: refused with a message, or read; then
// its texts read as the same limits again.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void compare(const rh_limits *a, const rh_limits *b)
{
    require(a->nlimit == b->nlimit && a->nalso == b->nalso);
    for (int i = 0; i < a->nlimit; i++) {
        const rh_constraint *x = &a->limit[i], *y = &b->limit[i];
        require(strcmp(x->event, y->event) == 0 && x->most == y->most && x->unit == y->unit &&
                x->counted == y->counted);
        require(x->most >= 0.0 && x->most <= 1.0 && *x->event);
    }
    for (int k = 0; k < a->nalso; k++)
        require(strcmp(a->also[k], b->also[k]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rh_error err = {""};
    rh_limits limits, again;
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    for (int also = 0; also < 2; also++) {
        if (rh_limits__read(&limits, also ? NULL : text, also ? text : NULL, NULL, "fuzz",
                            &err))
            require(strncmp(err.text, "fuzz", 4) == 0 && strlen(err.text) > 10);
        else if (limits.nlimit + limits.nalso) {
            require(
                !rh_limits__read(&again, limits.at_most, limits.also_all, NULL, NULL, &err));
            compare(&limits, &again);
            rh_limits__clear(&again);
        }
        rh_limits__clear(&limits);
    }
    free(text);
    return 0;
}
