// flat_reward.c - parses a reward expression over arrays, as over columns (columns_reward.c).
//
//     "-energy"    "income - 0.5*wear"    "a, b*2"

#include "arrays.h"
#include "base/base_internal.h"
#include "base/number.h"

#include <string.h>

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static rh_status refuse(const rh_flat *flat, const char *text, const char *at, rh_error *err)
{
    char shown[48], found[48];
    return rh_fail(err, RH_EINVAL,
                   "%s: reward = %s: found '%s', expected %ss with signs and factors, such as "
                   "\"income - 0.5*wear\"",
                   rh_base__path_tail(flat->plan.shape.path),
                   rh_text__printable(text, shown, sizeof shown),
                   *at ? rh_text__printable(at, found, sizeof found) : "its end", flat->what);
}

// A number at *at, which moves past it; false if there is none.
static bool take_number(const char **at, double *x)
{
    const char *end = rh_number__parse(*at, *at + strlen(*at), x);
    if (end)
        *at = end;
    return end != NULL;
}

// The array with the longest name at *at, which moves past it; NULL if there is none.
static rh_array *take_array(const rh_flat *flat, const char **at)
{
    rh_array *best = NULL;
    size_t most = 0;
    for (int i = 0; i < flat->narray; i++) {
        size_t n = strlen(flat->array[i].name);
        if (n > most && strncmp(*at, flat->array[i].name, n) == 0 &&
            (!(*at)[n] || strchr(" \t+-*,", (*at)[n])) && flat->array[i].rank > 0) {
            best = &flat->array[i];
            most = n;
        }
    }
    *at += most;
    return best;
}

// Parse [number *] array [* number] at *at.
static rh_status take_term(const rh_flat *flat, const char *text, const char **at,
                           double *factor, rh_array **array, rh_error *err)
{
    const char *p = skip_blanks(*at), *after = p;
    double x = 1.0;
    if (*p != '+' && *p != '-' && take_number(&after, &x) && *skip_blanks(after) == '*') {
        *factor *= x;
        p = skip_blanks(skip_blanks(after) + 1);
    }
    *array = take_array(flat, &p);
    if (!*array) {
        char word[80];
        size_t n = strcspn(p, " \t+-*,");
        snprintf(word, sizeof word, "%.*s", (int)(n < 79 ? n : 79), p);
        return n > 0 ? rh_flat__no_array(flat, word, err) : refuse(flat, text, p, err);
    }
    p = skip_blanks(p);
    if (*p == '*') {
        p = skip_blanks(p + 1);
        if (!take_number(&p, &x))
            return refuse(flat, text, p, err);
        *factor *= x;
        p = skip_blanks(p);
    }
    *at = p;
    return rh_base__all_finite(factor, 1) ? RH_OK : refuse(flat, text, text, err);
}

rh_status rh_flat__reward(const rh_flat *flat, const char *text, rh_beside *out, double *factor,
                          int room, rh_error *err)
{
    const char *p = skip_blanks(text);
    rh_array *whole = rh_flat__find(flat, p);
    rh_status rc = RH_OK;
    if (whole && whole->rank > 0) { // alone, whatever characters its name contains
        out->array[out->n++] = whole;
        *factor = 1.0;
        return RH_OK;
    }
    while (!rc && *p) {
        double sign = 1.0;
        if (*p == '+' || *p == '-')
            sign = *p++ == '-' ? -1.0 : 1.0;
        factor[out->n] = sign;
        rc = take_term(flat, text, &p, &factor[out->n], &out->array[out->n], err);
        if (rc)
            break;
        out->n++;
        if (*p && ((*p != ',' && *p != '+' && *p != '-') || out->n == room))
            rc = refuse(flat, text, p, err);
        else if (*p == ',')
            p = skip_blanks(p + 1);
    }
    return rc;
}
