// numbers.c - the numbers of a result by name, for files.
//
// Numbers are stored as doubles: counts are exact up to 2^53. A file of another version may
// lack some or have others.

#include "field.h"

#include <math.h>
#include <string.h>

#define MOST_INT 1e9    // of an int, and
#define MOST_WHOLE 1e15 // of an int64_t in a file

// A number within a struct: its row, where it is, and its name there.
typedef struct number {
    const rh_field *field;
    size_t at;
    char name[RH_FIELD__NAME];
} number;

static bool is_number(const rh_field *f)
{
    return f->type == RH_FIELD_REAL || f->type == RH_FIELD_WHOLE || f->type == RH_FIELD_PLACE ||
           f->type == RH_FIELD_FLAG || f->type == RH_FIELD_WORD;
}

// The i-th number of a fields, the structs in it included; false: it has only *i, which are
// taken off i.
static bool find(const rh_fields *fields, size_t at, const char *before, int *i, number *found)
{
    for (int k = 0; k < fields->nfield; k++) {
        const rh_field *f = &fields->field[k];
        if (f->count != RH_COUNT_ONE)
            continue;
        char name[RH_FIELD__NAME];
        snprintf(name, sizeof name, "%s%s%s", before, *before ? "." : "", f->name);
        if (f->fields && find(f->fields, at + f->at, name, i, found))
            return true;
        if (is_number(f) && (*i)-- == 0) {
            *found = (number){.field = f, .at = at + f->at};
            memcpy(found->name, name, sizeof name);
            return true;
        }
    }
    return false;
}

static bool number_at(const rh_fields *fields, int i, number *found)
{
    return find(fields, 0, "", &i, found);
}

int rh_field__nnumber(const rh_fields *fields)
{
    int n = 0;
    for (number one; number_at(fields, n, &one);)
        n++;
    return n;
}

double rh_field__number(const rh_field *f, const void *value)
{
    double x = 0.0;
    int64_t large = 0;
    int small = 0;
    bool flag = false;
    if (f->type == RH_FIELD_REAL)
        memcpy(&x, value, sizeof x);
    else if (f->size == sizeof flag)
        x = (memcpy(&flag, value, sizeof flag), flag);
    else if (f->size == sizeof small)
        x = (memcpy(&small, value, sizeof small), small);
    else
        x = (double)(memcpy(&large, value, sizeof large), large);
    return x;
}

void rh_field__get(const rh_fields *fields, const void *data, char (*name)[RH_FIELD__NAME],
                   double *x)
{
    number one;
    for (int i = 0; number_at(fields, i, &one); i++) {
        memcpy(name[i], one.name, sizeof one.name);
        x[i] = rh_field__number(one.field, (const char *)data + one.at);
    }
}

bool rh_field__set(const rh_field *f, void *value, double x)
{
    bool small = f->size == sizeof(int);
    double least = f->type == RH_FIELD_PLACE ? -1.0 : 0.0;
    if (f->type == RH_FIELD_REAL) {
        memcpy(value, &x, sizeof x);
        return true;
    }
    if (!(x >= least && x <= (small ? MOST_INT : MOST_WHOLE)))
        return false;
    if (f->size == sizeof(bool))
        memcpy(value, &(bool){x > 0.0}, sizeof(bool));
    else if (small)
        memcpy(value, &(int){(int)x}, sizeof(int));
    else
        memcpy(value, &(int64_t){(int64_t)x}, sizeof(int64_t));
    return true;
}

void rh_field__forget(const rh_fields *fields, void *data)
{
    number one;
    for (int i = 0; number_at(fields, i, &one); i++)
        if (one.field->type == RH_FIELD_REAL)
            rh_field__set(one.field, (char *)data + one.at, (double)NAN);
}

bool rh_field__put(const rh_fields *fields, void *data, const char *name, double x)
{
    number one;
    for (int i = 0; number_at(fields, i, &one); i++)
        if (strcmp(one.name, name) == 0)
            return rh_field__set(one.field, (char *)data + one.at, x);
    return true;
}
