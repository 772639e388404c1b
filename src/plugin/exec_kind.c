// exec_kind.c - what a program says of itself.
//
// The program describes itself once, when exec:COMMAND is named: its parameters are then known
// to plans, searches and help like those of a built-in kind.

#include "exec.h"

#include "base/base_internal.h"

#include <math.h>

void rh_exec__clear(rh_exec__kind *kind)
{
    for (int i = 0; i < kind->nparam; i++) {
        rh_free((void *)(uintptr_t)kind->param[i].name);
        rh_free((void *)(uintptr_t)kind->param[i].about);
    }
    rh_free(kind->about);
    rh_free(kind->name);
    *kind = (rh_exec__kind){0};
}

double rh_exec__number_in(const json_t *object, const char *key, double otherwise)
{
    const json_t *x = json_object_get(object, key);
    return json_is_number(x) ? json_number_value(x) : otherwise;
}

// One entry of "parameters". Wrong ones are found by rh_kind__check_params().
static bool read_param(const json_t *from, rh_param *p)
{
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *about = json_string_value(json_object_get(from, "about"));
    const char *scale = json_string_value(json_object_get(from, "scale"));
    const json_t *usual = json_object_get(from, "usual");
    *p = (rh_param){.name = rh_base__copy(name ? name : ""),
                    .about = rh_base__copy(about ? about : ""),
                    .lo = rh_exec__number_in(from, "low", NAN),
                    .hi = rh_exec__number_in(from, "high", NAN),
                    .initial = rh_exec__number_in(from, "initial", NAN),
                    .scale = scale && strcmp(scale, "log") == 0 ? RH_LOG : RH_LINEAR,
                    .whole = json_is_true(json_object_get(from, "whole")),
                    .fixed = json_is_true(json_object_get(from, "fixed"))};
    if (json_array_size(usual) == 2) {
        p->usual_lo = json_number_value(json_array_get(usual, 0));
        p->usual_hi = json_number_value(json_array_get(usual, 1));
    }
    return p->name && p->about;
}

// What every description has.
static rh_status read_kind(rh_exec__kind *kind, const char *what, const json_t *from,
                           rh_error *err)
{
    const char *about = json_string_value(json_object_get(from, "about"));
    const json_t *param = json_object_get(from, "parameters");
    char usual[64];
    if (json_integer_value(json_object_get(from, "rehearse")) != RH_EXEC__VERSION)
        return rh_fail(err, RH_EFORMAT,
                       "%.120s: answered another description, expected {\"rehearse\": %d, "
                       "\"about\": ..., \"actions\": ..., \"parameters\": [...]}",
                       kind->name, RH_EXEC__VERSION);
    snprintf(usual, sizeof usual, "an %s of another program", what);
    kind->about = rh_base__copy(about ? about : usual);
    if (!kind->about)
        return rh_base__no_memory(err, kind->name);
    if (json_array_size(param) > RH_MAX_PARAM)
        return rh_fail(err, RH_EFORMAT, "%.120s: %zu parameters, expected at most %d",
                       kind->name, json_array_size(param), RH_MAX_PARAM);
    for (size_t i = 0; i < json_array_size(param); i++) {
        kind->nparam++;
        if (!read_param(json_array_get(param, i), &kind->param[i]))
            return rh_base__no_memory(err, kind->name);
    }
    return rh_kind__check_params(what, kind->name, kind->param, kind->nparam, err);
}

rh_status rh_exec__describe(rh_exec__kind *kind, const char *name, const char *what,
                            json_t **root, rh_error *err)
{
    if (name[strspn(name + strlen(RH_EXEC__PREFIX), " ") + strlen(RH_EXEC__PREFIX)] == 0)
        return rh_fail(err, RH_EINVAL, "exec: no command, expected exec:COMMAND");
    rh_exec *e = rh_alloc(1, sizeof *e);
    kind->name = rh_base__copy(name);
    if (!e || !kind->name) {
        rh_free(e);
        return rh_base__no_memory(err, "exec");
    }
    e->command = kind->name + strlen(RH_EXEC__PREFIX);
    const char *line = NULL;
    rh_status rc = rh_exec__open(e, err);
    if (rc)
        goto done;
    rh_exec__add(e, "{\"rehearse\":1,\"describe\":\"");
    rh_exec__add(e, what);
    rh_exec__add(e, "\"}\n");
    if (rh_exec__send(e))
        line = rh_exec__line(e);
    *root = line ? json_loads(line, 0, NULL) : NULL;
    if (!line)
        rc = rh_fail(err, RH_EIO, "%s", e->reason);
    else if (!json_is_object(*root) || json_object_get(*root, "error") ||
             json_object_get(*root, "describe")) { // the question again, as of cat
        rh_exec__nonsense(e, line, "its description in JSON");
        rc = rh_fail(err, RH_EFORMAT, "%s", e->reason);
    } else
        rc = read_kind(kind, what, *root, err);

done:
    rh_exec__close(e);
    rh_free(e);
    return rc;
}
