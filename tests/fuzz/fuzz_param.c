// fuzz_param.c - whatever is typed for a parameter: refused with a message, or in its range,
// and then what is printed for it is read back as the same number.
//
// The first byte chooses the parameter; the rest is the text.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "rehearse/contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const choices[] = {"replacing", "accumulating", "dutch"};

static const rh_param table[] = {
    {"alpha", .lo = 1e-4, .hi = 2.0, .initial = 0.1, .scale = RH_LOG},
    {"any", .lo = -INFINITY, .hi = INFINITY},
    {"tilings", .lo = 1, .hi = 64, .initial = 16, .whole = true},
    {"trace", .lo = 0, .hi = 2, .choice = choices},
};
#define NPARAM ((int)(sizeof table / sizeof *table))

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void parse(const rh_param *param, const char *text)
{
    rh_error err = {""};
    double value = -7.0, back = 0.0;
    if (rh_param_parse(param, "fuzz", text, &value, &err)) {
        require(value == -7.0 && strstr(err.text, param->name));
        require(strstr(err.text, "expected") || strstr(err.text, "did you mean"));
        return;
    }
    char printed[32];
    require(rh_param__check(param, 1, "fuzz", &value, NULL) == RH_OK);
    rh_param__format(param, value, printed, sizeof printed);
    require(rh_param_parse(param, "fuzz", printed, &back, NULL) == RH_OK);
    require(memcmp(&back, &value, sizeof value) == 0);
}

static void lookup(const char *name)
{
    rh_error err = {""};
    int index = -7;
    if (rh_param_lookup(table, NPARAM, "fuzz", name, &index, &err))
        require(index == -7 && strncmp(err.text, "fuzz: no parameter '", 20) == 0);
    else
        require(strcmp(table[index].name, name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char *text = malloc(size);
    require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    parse(&table[data[0] % NPARAM], text);
    lookup(text);
    free(text);
    return 0;
}
