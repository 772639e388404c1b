// category.c - a sensor whose values are texts, such as mode = auto or manual.
//
//     mode = manual  ->  mode=auto = 0, mode=manual = 1
//
// 1. A category becomes a number for each text, 1 if it has this value: texts have no order and
//    no distances. Texts are in alphabetical order, whatever the order of the rows. Minari's
//    Discrete observations are read alike.
// 2. Categories come after the other sensors, so that these keep their places.
// 3. A missing text is missing in all its numbers.

#include "category.h"
#include "base/base_internal.h"
#include "log.h"
#include "log_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME 160 // bytes of a sensor's name

void rh_category__clear(rh_category *c)
{
    for (int i = 0; i < c->n; i++)
        rh_free(c->label[i]);
    c->n = 0;
}

int rh_category__of(rh_category *c, const char *text, size_t n)
{
    for (int i = 0; i < c->n; i++)
        if (strncmp(c->label[i], text, n) == 0 && !c->label[i][n])
            return i;
    if (c->n == RH_CATEGORY__MOST)
        return -1;
    char *label = rh_alloc(n + 1, 1);
    if (!label)
        return -2;
    memcpy(label, text, n);
    c->label[c->n] = label;
    return c->n++;
}

// ---------------------------------------------------------------------------- a log

typedef struct expanded {
    const rh_log *log;
    const rh_category *category;
    int ncategory, nplain, nobs;           // sensors before and after
    int at[RH_MAX_OBS][RH_CATEGORY__MOST]; // the new sensor of each text
    double *obs;                           // owned               (nstate x nobs)
    const char **name, **unit;             // owned               (nobs)
    char *text;                            // owned: the names
    const char **note;                     // owned: the log's notes and one for each category
    rh_text *said;                         // owned: these        (ncategory)
} expanded;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Names and places of the texts of a category.
static void name_texts(expanded *x, int k)
{
    const rh_category *c = &x->category[k];
    const char *sensor = x->log->obs_name[x->nplain + k];
    char *sorted[RH_CATEGORY__MOST];
    memcpy((void *)sorted, (const void *)c->label, sizeof sorted);
    qsort((void *)sorted, (size_t)c->n, sizeof *sorted, by_text);
    rh_text__format(&x->said[k], "%.100s is a category, one number for each of", sensor);
    for (int i = 0; i < c->n; i++) {
        char *name = x->text + (size_t)x->nobs * NAME;
        snprintf(name, NAME, "%.70s=%.70s", sensor, sorted[i]);
        rh_text__format(&x->said[k], "%s %.60s", i ? "," : "", sorted[i]);
        for (int j = 0; j < c->n; j++)
            if (c->label[j] == sorted[i])
                x->at[k][j] = x->nobs;
        x->name[x->nobs] = name;
        x->unit[x->nobs++] = "";
    }
}

static void fill(const expanded *x)
{
    const rh_log *log = x->log;
    for (int64_t i = 0; i < log->nstate; i++) {
        const double *from = log->obs + i * log->nobs;
        double *to = x->obs + i * x->nobs;
        memcpy(to, from, (size_t)x->nplain * sizeof *to);
        for (int k = 0; k < x->ncategory; k++) {
            double value = from[x->nplain + k];
            for (int j = 0; j < x->category[k].n; j++)
                to[x->at[k][j]] = isnan(value) ? value : value == j;
        }
    }
}

static rh_status make(expanded *x, rh_log *parts, const char *path, rh_error *err)
{
    const rh_log *log = x->log;
    const rh_log_reading *r = &log->reading;
    int nnote = r->nnote + x->ncategory, all = x->nplain;
    for (int k = 0; k < x->ncategory; k++)
        all += x->category[k].n;
    if (all > RH_MAX_OBS)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d numbers in an observation, %d of them of categories, expected "
                       "at most %d; name those that matter: --obs temp,level",
                       rh_base__path_tail(path), all, all - x->nplain, RH_MAX_OBS);
    x->name = rh_alloc((size_t)all, sizeof *x->name);
    x->unit = rh_alloc((size_t)all, sizeof *x->unit);
    x->text = rh_alloc((size_t)all, NAME);
    x->obs = rh_alloc((size_t)log->nstate, (size_t)all * sizeof *x->obs);
    x->note = rh_alloc((size_t)nnote, sizeof *x->note);
    x->said = rh_alloc((size_t)x->ncategory, sizeof *x->said);
    if (!x->name || !x->unit || !x->text || !x->obs || !x->note || !x->said)
        return rh_base__no_memory(err, path);
    for (x->nobs = 0; x->nobs < x->nplain; x->nobs++) {
        x->name[x->nobs] = log->obs_name[x->nobs];
        x->unit[x->nobs] = log->obs_unit[x->nobs];
    }
    for (int i = 0; i < r->nnote; i++)
        x->note[i] = r->note[i];
    for (int k = 0; k < x->ncategory; k++) {
        name_texts(x, k);
        if (x->said[k].bad)
            return rh_base__no_memory(err, path);
        x->note[r->nnote + k] = x->said[k].data;
    }
    fill(x);
    parts->nobs = x->nobs;
    parts->obs = x->obs;
    parts->obs_name = x->name;
    parts->obs_unit = x->unit;
    parts->reading.note = x->note;
    parts->reading.nnote = nnote;
    parts->reading.nmissing = 0;
    for (int64_t i = 0; i < log->nstate * x->nobs; i++)
        parts->reading.nmissing += isnan(x->obs[i]) != 0;
    return RH_OK;
}

rh_status rh_category__expand(rh_log **log, const rh_category *category, int ncategory,
                              const char *path, rh_error *err)
{
    rh_log parts = **log, *out = NULL;
    expanded *x = rh_alloc(1, sizeof *x);
    if (!x)
        return rh_base__no_memory(err, path);
    x->log = *log;
    x->category = category;
    x->ncategory = ncategory;
    x->nplain = parts.nobs - ncategory;
    rh_status rc = make(x, &parts, path, err);
    if (!rc)
        rc = rh_log_copy(&out, &parts, err);
    if (!rc) {
        rh_log_destroy(*log);
        *log = out;
    }
    for (int k = 0; x->said && k < ncategory; k++)
        rh_text__clear(&x->said[k]);
    rh_free(x->said);
    rh_free((void *)x->name);
    rh_free((void *)x->unit);
    rh_free((void *)x->note);
    rh_free(x->text);
    rh_free(x->obs);
    rh_free(x);
    return rc;
}
