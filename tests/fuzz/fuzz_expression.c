// fuzz_expression.c - any formula: refused with a message, or compiled; then its value is the
// same when computed twice, and the same with other names.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const name[] = {"x", "T_in", "net-gain", "a b", "2"};
static const char *const other[] = {"obs[0]", "obs[1]", "act[0]", "next[0]", "next[1]"};
static const double value[] = {3.0, -0.5, 1e200, 0.0, NAN};
#define N 5

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rh_expression__scope scope = {"fuzz", "column", name, NULL, N};
    const rh_expression__scope renamed = {"fuzz", "column", other, NULL, N};
    rh_error err = {""};
    rh_expression e, again;
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (rh_expression__compile(&e, text, &scope, &err)) {
        require(strncmp(err.text, "fuzz: ", 6) == 0 && strlen(err.text) > 10);
    } else {
        double x = rh_expression__value(&e, value);
        require(same(x, rh_expression__value(&e, value)));
        char *other_text = rh_expression__rename(&e, text, other);
        require(other_text != NULL);
        if (!rh_expression__compile(&again, other_text, &renamed, &err))
            require(same(x, rh_expression__value(&again, value)));
        else
            require(strstr(err.text, "characters") != NULL); // longer than a formula may be
        rh_expression__clear(&again);
        rh_free(other_text);
    }
    rh_expression__clear(&e);
    free(text);
    return 0;
}
