// flat_reward.c - the reward of a file of arrays: a formula over them (base/expression.h).
//
//     "-energy"    "income - 0.5*wear"    "-abs(obs[0] - 20) - 0.1*actions[1]"
//
// 1. A text that is the name of an array is this array, whatever characters it contains.
// 2. A number of a wider array is name[0], name[1], ..., or has the name that the file gives
//    it.

#include "arrays.h"
#include "base/base_internal.h"

#include <string.h>

#define MOST_ITEMS 65536 // numbers of wider arrays that have names

// Add a name for column `column` of an array; without `text`, name[column].
static void add(rh_flat__formula *f, rh_array *array, int column, const char *text)
{
    if (f->item) {
        char *to = f->text + f->ntext;
        int n = text ? snprintf(to, RH_ARRAY__NAME + 16, "%s", text)
                     : snprintf(to, RH_ARRAY__NAME + 16, "%s[%d]", array->name, column);
        f->name[f->n] = to;
        f->item[f->n] = (rh_flat__item){array, column, text == array->name};
        f->ntext += (size_t)n + 1;
    } else {
        f->ntext += strlen(text ? text : array->name) + 16;
    }
    f->n++;
}

// Add all names; called twice, to count and to fill.
static void add_all(rh_flat__formula *f, const rh_flat *flat)
{
    const rh_array *obs = rh_flat__find(flat, "obs");
    f->n = 0;
    f->ntext = 0;
    for (int i = 0; i < flat->narray; i++)
        if (flat->array[i].rank > 0)
            add(f, &flat->array[i], 0, flat->array[i].name);
    for (int i = 0; i < flat->narray; i++) {
        rh_array *array = &flat->array[i];
        bool wide = array->rank > 0 && array->width > 1 && array->width <= RH_MAX_OBS;
        for (int k = 0; wide && k < array->width && f->n < MOST_ITEMS; k++) {
            add(f, array, k, NULL);
            if (array == obs && flat->plan.shape.obs_name)
                add(f, array, k, flat->plan.shape.obs_name[k]);
        }
    }
}

static rh_status list_names(rh_flat__formula *f, const rh_flat *flat, rh_error *err)
{
    add_all(f, flat);
    size_t n = (size_t)f->n + 1;
    f->name = rh_alloc(n, sizeof *f->name);
    f->x = rh_alloc(n, sizeof *f->x);
    f->text = rh_alloc(f->ntext + RH_ARRAY__NAME + 16, 1);
    rh_flat__item *item = rh_alloc(n, sizeof *item);
    if (!f->name || !f->x || !f->text || !item) {
        rh_free(item);
        return rh_base__no_memory(err, flat->plan.shape.path);
    }
    f->item = item;
    add_all(f, flat);
    return RH_OK;
}

// Add the array to those of the role, once.
static rh_status use(rh_beside *out, const rh_flat *flat, const rh_flat__item *item,
                     rh_error *err)
{
    rh_status rc =
        item->whole ? rh_array__check_single(item->array, flat->plan.shape.path, err) : RH_OK;
    for (int i = 0; i < out->n; i++)
        if (rc || out->array[i] == item->array)
            return rc;
    if (!rc)
        out->array[out->n++] = item->array;
    return rc;
}

rh_status rh_flat__reward(rh_flat__formula *f, const rh_flat *flat, const char *text,
                          rh_beside *out, rh_error *err)
{
    text += strspn(text, " \t");
    rh_array *whole = rh_flat__find(flat, text);
    if (whole && whole->rank > 0) {
        out->array[out->n++] = whole;
        return RH_OK;
    }
    if (!*text)
        return RH_OK;
    char label[400];
    snprintf(label, sizeof label, "%s: reward", rh_base__path_tail(flat->plan.shape.path));
    rh_status rc = list_names(f, flat, err);
    if (rc)
        return rc;
    rh_expression__scope scope = {label, flat->what, f->name, NULL, f->n};
    rc = rh_expression__compile(&f->compiled, text, &scope, err);
    for (int i = 0; !rc && i < f->compiled.nspan; i++)
        rc = use(out, flat, &f->item[f->compiled.span[i].column], err);
    return rc;
}

void rh_flat__clear_formula(rh_flat__formula *f)
{
    rh_expression__clear(&f->compiled);
    rh_free(f->item);
    rh_free((void *)f->name);
    rh_free(f->text);
    rh_free(f->x);
    *f = (rh_flat__formula){0};
}
