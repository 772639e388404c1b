// search.c - the handle: proposals, results, leaders.
//
//     method ──ask_new, ask_again──▶ batch ──ask──▶ caller ──tell──▶ settings ──▶ method
//
// 1. A method depends only on what it was told: the same space, options and scores give the
//    same proposals. A search is restored by telling a new one the same results.
// 2. A hash table finds settings by value; a search may have thousands. 0 and -0 are equal.
// 3. Each setting has its own memory, so callers may keep pointers to its values.
// 4. A setting with broken runs ranks below every setting without (rh_search__above). Its value
//    has a penalty in it, which says that it is bad and not how bad.
// 5. After rh_search__ask() ran out of memory, the search can only be destroyed.

#include "base/base_internal.h"
#include "search_internal.h"

#include "base/base.h"
#include "base/text.h"
#include "search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE 0x73656172u

// ---------------------------------------------------------------------------- options

rh_search__options rh_search__defaults(void)
{
    return (rh_search__options){
        .budget = 100, .nrun = 10, .batch = 1, .seed = 1, .cookie = COOKIE};
}

static rh_status check_options(const rh_search__options *opt, const char *name, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "search: options must start from rh_search__defaults()");
    if (opt->budget < 1 || opt->budget > RH_SEARCH__MANY)
        return rh_fail(err, RH_EINVAL, "%s: %d settings to try, expected 1 to %d", name,
                       opt->budget, RH_SEARCH__MANY);
    if (opt->nrun < 1)
        return rh_fail(err, RH_EINVAL, "%s: %d runs, expected 1 or more", name, opt->nrun);
    if (opt->batch < 1)
        return rh_fail(err, RH_EINVAL, "%s: %d settings at a time, expected 1 or more", name,
                       opt->batch);
    return RH_OK;
}

// "1,000,000", or "1e+30" for large numbers.
static rh_search__text with_commas(double count)
{
    rh_search__text out = rh_search__write(count), plain = out;
    size_t n = strlen(plain.text), at = 0;
    if (n > 15 || strspn(plain.text, "0123456789") != n)
        return out;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = plain.text[i];
    }
    out.text[at] = '\0';
    return out;
}

// Refuse spaces that are too large for a method that tries all settings.
static rh_status check_size(const rh_search_type *type, const rh_space *space, rh_error *err)
{
    for (int k = 0; k < space->ndim && type->finite; k++) {
        const rh_dim *dim = &space->dim[k];
        if (isinf(rh_dim__count(dim)))
            return rh_fail(err, RH_EINVAL,
                           "%s: %.64s may be any number from %s to %s, expected values or a "
                           "step; methods bayes, random and cem need none",
                           type->name, dim->name, rh_search__write(dim->lo).text,
                           rh_search__write(dim->hi).text);
    }
    double count = rh_space__count(space);
    if (type->finite && count > RH_SEARCH__MANY)
        return rh_fail(
            err, RH_EINVAL,
            "%s: a grid of %s settings, expected at most %s: fewer values, or method "
            "bayes or random",
            type->name, with_commas(count).text, with_commas(RH_SEARCH__MANY).text);
    return RH_OK;
}

// ---------------------------------------------------------------------------- construction

// A copy of n items; NULL when out of memory.
static void *copy_of(const void *from, size_t n, size_t size)
{
    void *copy = rh_alloc(n, size);
    if (copy && n)
        memcpy(copy, from, n * size);
    return copy;
}

// Copy the space with its names and values; false when out of memory.
static bool copy_space(rh_search *search, const rh_space *space)
{
    search->space = *space;
    for (int k = 0; k < space->ndim; k++) {
        const rh_dim *dim = &space->dim[k];
        size_t n = dim->kind == RH_DIM_RANGE ? 0 : (size_t)dim->nvalue;
        search->name[k] = copy_of(dim->name, strlen(dim->name) + 1, 1);
        search->value[k] = copy_of(dim->value, n, sizeof *dim->value);
        if (!search->name[k] || !search->value[k])
            return false;
        search->space.dim[k].name = search->name[k];
        search->space.dim[k].value = search->value[k];
    }
    return true;
}

static rh_status begin(rh_search *search, const rh_space *space, const rh_search__options *opt,
                       rh_error *err)
{
    const rh_search_type *type = search->method;
    const rh_search_calls *calls = search->type->calls;
    size_t ndim = (size_t)space->ndim;
    size_t nbranch = opt->cost ? (size_t)space->dim[0].nvalue : 0;
    search->opt = *opt;
    search->param = rh_alloc((size_t)type->nparam, sizeof *search->param);
    search->first = copy_of(opt->first, (size_t)opt->nfirst * ndim, sizeof *search->first);
    search->cost = copy_of(opt->cost, nbranch, sizeof *search->cost);
    search->self = rh_alloc(1, calls->self_size);
    if (!search->param || !search->self || !search->first || !search->cost ||
        !copy_space(search, space))
        return rh_base__no_memory(err, search->type->name);
    search->opt.first = search->first;
    search->opt.cost = opt->cost ? search->cost : NULL;
    if (opt->param && type->nparam)
        memcpy(search->param, opt->param, (size_t)type->nparam * sizeof *search->param);
    else
        rh_param_initial(type->param, type->nparam, search->param);
    search->opt.param = search->param;
    rh_status rc = rh_param__check(type->param, type->nparam, type->name, search->param, err);
    if (rc)
        return rc;
    search->alive = true;
    return calls->init ? calls->init(search, err) : RH_OK;
}

rh_status rh_search__create(rh_search **out, const rh_search_type *type, const rh_space *space,
                            const rh_search__options *opt, rh_error *err)
{
    rh_search__options usual = rh_search__defaults();
    opt = opt ? opt : &usual;
    rh_status rc = check_options(opt, type->name, err);
    if (!rc)
        rc = rh_space__check(space, err);
    if (!rc)
        rc = check_size(type, space, err);
    if (rc)
        return rc;

    rh_search *search = rh_alloc(1, sizeof *search);
    if (!search)
        return rh_base__no_memory(err, type->name);
    search->type = rh_space__branches(space) ? &rh_search_arms : type;
    search->method = type;
    rc = begin(search, space, opt, err);
    if (rc) {
        rh_search__destroy(search);
        return rc;
    }
    *out = search;
    return RH_OK;
}

void rh_search__destroy(rh_search *search)
{
    if (!search)
        return;
    if (search->alive && search->type->calls->clear)
        search->type->calls->clear(search);
    for (int i = 0; i < search->nsetting; i++) {
        rh_free(search->setting[i].x);
        rh_free(search->setting[i].score);
    }
    for (int k = 0; k < RH_MAX_DIM; k++) {
        rh_free(search->name[k]);
        rh_free(search->value[k]);
    }
    rh_free(search->known);
    rh_free(search->setting);
    rh_free(search->slot);
    rh_free(search->asked);
    rh_free(search->self);
    rh_free(search->cost);
    rh_free(search->first);
    rh_free(search->param);
    rh_free(search);
}

// ---------------------------------------------------------------------------- settings

int rh_search__nsetting(const rh_search *search)
{
    return search->nsetting;
}

// NULL: there is no such setting.
static rh_search__setting *setting_at(const rh_search *search, int setting)
{
    return setting >= 0 && setting < search->nsetting ? &search->setting[setting] : NULL;
}

const double *rh_search__proposed(const rh_search *search, int setting)
{
    const rh_search__setting *s = setting_at(search, setting);
    return s ? s->x : NULL;
}

rh_setting_state rh_search__state(const rh_search *search, int setting)
{
    const rh_search__setting *s = setting_at(search, setting);
    return s ? s->state : RH_SETTING_DROPPED;
}

static bool same(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k] && !(isnan(a[k]) && isnan(b[k])))
            return false;
    return true;
}

// Whether settings x (n x ndim) are numbers where they have one.
static bool are_numbers(const rh_space *space, const double *x, int n)
{
    for (int i = 0; i < n; i++, x += space->ndim)
        for (int k = 0; k < space->ndim; k++)
            if (!isfinite(x[k]) && rh_space__has(space, x, k))
                return false;
    return true;
}

// The slot of the setting equal to x, or the free slot for it.
static int slot_of(const rh_search *search, const double *x)
{
    uint64_t hash = 0;
    for (int k = 0; k < search->space.ndim; k++) {
        double number = x[k] + 0.0; // -0 becomes 0
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    unsigned mask = (unsigned)search->nslot - 1, at = (unsigned)hash & mask;
    for (; search->slot[at] >= 0; at = (at + 1) & mask)
        if (same(search->setting[search->slot[at]].x, x, search->space.ndim))
            break;
    return (int)at;
}

int rh_search__find(const rh_search *search, const double *x)
{
    return search->nslot ? search->slot[slot_of(search, x)] : -1;
}

// Fill the hash table again; of equal settings it holds the first.
static void fill_slots(rh_search *search)
{
    for (int i = 0; i < search->nslot; i++)
        search->slot[i] = -1;
    for (int i = 0; i < search->nsetting; i++) {
        int at = slot_of(search, search->setting[i].x);
        if (search->slot[at] < 0)
            search->slot[at] = i;
    }
}

static bool make_slots(rh_search *search)
{
    if (2 * (search->nsetting + 1) <= search->nslot)
        return true;
    int more = search->nslot ? 2 * search->nslot : 128;
    int *slot = rh_alloc((size_t)more, sizeof *slot);
    if (!slot)
        return false;
    rh_free(search->slot);
    search->slot = slot;
    search->nslot = more;
    fill_slots(search);
    return true;
}

void rh_search__amend(rh_search *search, int setting, const double *x)
{
    rh_search__setting *s = setting_at(search, setting);
    if (!s || s->nrun || !are_numbers(&search->space, x, 1) ||
        same(s->x, x, search->space.ndim))
        return;
    memcpy(s->x, x, (size_t)search->space.ndim * sizeof *x);
    fill_slots(search);
}

rh_status rh_search__recall(rh_search *search, int n, const double *x, rh_error *err)
{
    if (search->nsetting > 0)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d settings asked, expected earlier ones before the first ask",
                       search->type->name, search->nsetting);
    if (n < 0 || !are_numbers(&search->space, x, n))
        return rh_fail(err, RH_EINVAL, "%s: earlier settings that are no numbers",
                       search->type->name);
    double *known = copy_of(x, (size_t)n * (size_t)search->space.ndim, sizeof *x);
    if (!known)
        return rh_base__no_memory(err, search->type->name);
    rh_free(search->known);
    search->known = known;
    search->nknown = n;
    return RH_OK;
}

const double *rh_search__known(const rh_search *search, int i)
{
    return i < search->nknown ? search->known + (size_t)i * (size_t)search->space.ndim : NULL;
}

// ---------------------------------------------------------------------------- proposals

rh_status rh_search__ask_again(rh_search *search, int setting, int nrun, rh_error *err)
{
    assert(setting >= 0 && setting < search->nsetting && nrun >= 1);
    void *more = rh_base__alloc_more(search->asked, &search->asked_room, search->nasked,
                                     sizeof *search->asked);
    if (!more)
        return rh_base__no_memory(err, search->type->name);
    search->asked = more;
    search->asked[search->nasked++] = (rh_search__asked){.setting = setting, .nrun = nrun};
    return RH_OK;
}

rh_status rh_search__ask_new(rh_search *search, const double *x, int nrun, rh_error *err)
{
    assert(are_numbers(&search->space, x, 1));
    void *more = rh_base__alloc_more(search->setting, &search->room, search->nsetting,
                                     sizeof *search->setting);
    search->setting = more ? more : search->setting;
    if (!more || !make_slots(search))
        return rh_base__no_memory(err, search->type->name);
    double *own = copy_of(x, (size_t)search->space.ndim, sizeof *x);
    if (!own)
        return rh_base__no_memory(err, search->type->name);

    search->setting[search->nsetting] =
        (rh_search__setting){.x = own, .value = NAN, .noise = NAN};
    int at = slot_of(search, own);
    if (search->slot[at] < 0)
        search->slot[at] = search->nsetting;
    return rh_search__ask_again(search, search->nsetting++, nrun, err);
}

rh_status rh_search__ask_first(rh_search *search, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int i = 0; i < search->opt.nfirst && !rc; i++) {
        const double *x = search->first + (size_t)i * (size_t)search->space.ndim;
        if (rh_space__holds(&search->space, x) && rh_search__find(search, x) < 0)
            rc = rh_search__ask_new(search, x, search->opt.nrun, err);
    }
    return rc;
}

rh_status rh_search__ask(rh_search *search, const rh_search__asked **asked, int *nasked,
                         rh_error *err)
{
    if (search->ntold != search->nasked)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d of %d settings told, expected all before the next ask",
                       search->type->name, search->ntold, search->nasked);
    search->nasked = search->ntold = 0;
    rh_status rc = search->over ? RH_OK : search->type->calls->ask(search, err);
    if (rc)
        return rc;
    search->over = search->nasked == 0;
    *asked = search->asked;
    *nasked = search->nasked;
    return RH_OK;
}

int rh_search__most(const rh_search *search)
{
    double count = rh_space__count(&search->space);
    return count < search->opt.budget ? (int)count : search->opt.budget;
}

void rh_search__foresee(const rh_search *search, int *nsetting, int64_t *nrun)
{
    if (search->type->calls->foresee) {
        search->type->calls->foresee(search, nsetting, nrun);
        return;
    }
    bool all = search->method->finite;
    *nsetting = all ? (int)rh_space__count(&search->space) : rh_search__most(search);
    *nrun = (int64_t)*nsetting * search->opt.nrun;
}

// ---------------------------------------------------------------------------- results

rh_status rh_search__tell(rh_search *search, const rh_search__told *told, rh_error *err)
{
    const char *name = search->type->name;
    if (search->ntold == search->nasked)
        return rh_fail(err, RH_EINVAL, "%s: told setting %d, expected an ask first", name,
                       told->setting);
    int setting = search->asked[search->ntold].setting;
    if (told->setting != setting)
        return rh_fail(err, RH_EINVAL, "%s: told setting %d, expected %d, the next one asked",
                       name, told->setting, setting);
    if (told->nrun < 1 || isnan(told->value) || told->noise < 0.0)
        return rh_fail(err, RH_EINVAL,
                       "%s: setting %d: %d runs, value %s, noise %s, expected 1 run or more, a "
                       "value that is a number, and a noise of 0 or more",
                       name, setting, told->nrun, rh_search__write(told->value).text,
                       rh_search__write(told->noise).text);
    if (told->nbroken < 0)
        return rh_fail(err, RH_EINVAL, "%s: setting %d: %d broken runs, expected 0 or more",
                       name, setting, told->nbroken);
    rh_search__setting *s = setting_at(search, told->setting);
    double *score = copy_of(told->score, (size_t)told->nrun, sizeof *score);
    if (!score)
        return rh_base__no_memory(err, search->type->name);

    rh_free(s->score);
    s->score = score;
    s->nrun = told->nrun;
    s->value = told->value;
    s->noise = told->noise;
    s->broken = told->nbroken > 0 || told->value == -INFINITY;
    bool more =
        search->type->calls->reopens && search->asked[search->ntold].nrun < search->opt.nrun;
    s->state = more ? RH_SETTING_OPEN : RH_SETTING_DONE;
    search->ntold++;
    return search->type->calls->told ? search->type->calls->told(search, setting, err) : RH_OK;
}

// ---------------------------------------------------------------------------- leaders

rh_search__lead_entry rh_search__leader(const rh_search *search, int setting)
{
    const rh_search__setting *s = setting_at(search, setting);
    return (rh_search__lead_entry){.setting = setting, .value = s->value, .sd = sqrt(s->noise)};
}

bool rh_search__above(const rh_search__setting *a, const rh_search__setting *b)
{
    return a->broken != b->broken ? b->broken : a->value > b->value;
}

static int compare(const void *a, const void *b)
{
    const rh_search__lead_entry *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->setting > y->setting) - (x->setting < y->setting);
}

static bool leads(const rh_search *search, const rh_search__lead_entry *a,
                  const rh_search__lead_entry *b)
{
    bool broken = search->setting[a->setting].broken;
    if (broken != search->setting[b->setting].broken)
        return !broken;
    return a->value != b->value ? a->value > b->value : a->setting < b->setting;
}

void rh_search__add_leader(const rh_search *search, const rh_search__lead_entry *new, int most,
                           rh_search__lead_entry *leader, int *n)
{
    int at = *n < most ? (*n)++ : *n;
    for (; at > 0 && leads(search, new, &leader[at - 1]); at--)
        if (at < most)
            leader[at] = leader[at - 1];
    if (at < most)
        leader[at] = *new;
}

// The best of the settings with the most runs, broken or not, that fit into leader (most).
static int lead_among(const rh_search *search, bool broken, int longest, int most,
                      rh_search__lead_entry *leader)
{
    int n = 0;
    // the first `most`, then every setting that is better than the last of them
    for (int i = 0; i < search->nsetting && most > 0; i++) {
        if (search->setting[i].nrun < longest || search->setting[i].broken != broken)
            continue;
        rh_search__lead_entry new = rh_search__leader(search, i);
        if (n < most) {
            leader[n++] = new;
            if (n == most)
                qsort(leader, (size_t)n, sizeof *leader, compare);
            continue;
        }
        rh_search__add_leader(search, &new, most, leader, &n);
    }
    qsort(leader, (size_t)n, sizeof *leader, compare);
    return n;
}

int rh_search__lead_by_value(const rh_search *search, int most, rh_search__lead_entry *leader)
{
    int longest = 1;
    for (int i = 0; i < search->nsetting; i++)
        longest = search->setting[i].nrun > longest ? search->setting[i].nrun : longest;
    int n = lead_among(search, false, longest, most, leader);
    return n + lead_among(search, true, longest, most - n, leader + n);
}

int rh_search__lead(const rh_search *search, int most, rh_search__lead_entry *leader)
{
    if (most < 1)
        return 0;
    int (*lead)(const rh_search *, int, rh_search__lead_entry *) = search->type->calls->lead;
    return (lead ? lead : rh_search__lead_by_value)(search, most, leader);
}
