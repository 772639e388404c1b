// check.c - the leading settings in other models of the log: does the answer depend on which
// part of the log was seen, or on the model's own settings?
//
// Kinds of model and parts of the log are compared by the confirmation. This check changes what
// nobody can know to be right: half of the log, twice the neighbours, another coverage radius,
// another representation, a smaller network. trust.c uses the result; the winner does not
// depend on it.
//
// 1. Settings: those that were confirmed, and two for reference that were not: a median one of
//    the search, and one at the end of its lowest quarter. The difference between the best and
//    the median setting is the unit in which a model says how much the choice matters.
//    Searches that converge try many settings near their best: of these only the settings of
//    the first ask are references.
// 2. Few runs in each of several models tell more than many in one: models differ more than
//    runs.
// 3. All settings run on the same random streams, which no other stage uses.
// 4. Every run is in the journal before it counts; a resumed study does only what is missing.
// 5. An untrained network is the other representation of raw sensors: another metric, for a
//    hundredth of the time that learning one takes.
// 6. Of a long log, one model is in memory at a time, the halves last: transfer.c needs them.

#include "core.h"
#include "repr/repr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORST_QUARTER 0.25 // decision 1

// A model of the check, or two, of the halves of the log.
typedef struct variant {
    const char *name[2]; // of its members
    int nmember;
    bool halves;
    rh_kinds__kind kind; // unless it is of halves
} variant;

// ---------------------------------------------------------------------------- models

// The kind of the study's model, to be changed.
static variant like_the_model(const rh_study *study, const char *name)
{
    return (variant){.name = {name}, .nmember = 1, .kind = study->kinds.kind[0]};
}

static double *param_of(variant *v, const char *name)
{
    const rh_model_type *type = v->kind.type;
    int at = rh_param_find(type->param, type->nparam, name);
    return at < 0 ? NULL : &v->kind.param[at];
}

// Multiply a parameter, within its range. False: the model has no such parameter, or it would
// stay as it is.
static bool scale(variant *v, const char *name, double factor)
{
    double *value = param_of(v, name);
    if (!value)
        return false;
    const rh_param *param = &v->kind.type->param[value - v->kind.param];
    double was = *value;
    *value = fmin(fmax(floor(was * factor), param->lo), param->hi);
    return *value != was;
}

// No coverage radius where there was one, otherwise the automatic one.
static bool change_reach(variant *v)
{
    double *value = param_of(v, "reach");
    if (!value)
        return false;
    const rh_param *param = &v->kind.type->param[value - v->kind.param];
    bool none = strcmp(param->choice[(int)*value], "none") == 0;
    return rh_param_parse(param, v->kind.type->name, none ? "auto" : "none", value, NULL) ==
           RH_OK;
}

// Raw sensors, or an untrained network where they were raw. False: the kind has no use for it.
static bool change_repr(variant *v, const rh_model *model)
{
    bool raw = strcmp(rh_repr_type_of(rh_model_repr(model))->name, "raw") == 0;
    if (!param_of(v, "k") || rh_repr__nact(rh_model_repr(model)) > 0)
        return false;
    v->kind.repr = rh_repr_find(raw ? "random" : "raw", NULL);
    if (v->kind.repr)
        rh_param_initial(v->kind.repr->param, v->kind.repr->nparam, v->kind.repr_param);
    return v->kind.repr != NULL;
}

// All models of the check; how many.
static int list_variants(const rh_study *study, variant list[RH_KINDS__MOST])
{
    const rh_model *model = rh_study__model(study);
    int n = 0;
    list[n++] = (variant){.name = {"first half of the log", "second half of the log"},
                          .nmember = 2,
                          .halves = true};
    list[n] = like_the_model(study, "twice the neighbours");
    n += scale(&list[n], "k", 2.0);
    list[n] = like_the_model(study, "another coverage radius");
    n += change_reach(&list[n]);
    list[n] = like_the_model(study, "another representation");
    n += change_repr(&list[n], model);
    if (n < RH_KINDS__MOST) {
        list[n] = like_the_model(study, "half the hidden units");
        n += scale(&list[n], "hidden", 0.5);
    }
    return n;
}

// ---------------------------------------------------------------------------- settings

typedef struct candidate {
    double value;
    int setting;
} candidate;

static int by_value(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->setting - y->setting;
}

static bool has(const rh_study__checking *c, int setting)
{
    for (int i = 0; i < c->nsetting; i++)
        if (c->setting[i] == setting)
            return true;
    return false;
}

// Add the settings for reference (decision 1): the nearest to their place in the order that are
// not there yet.
static rh_status add_references(const rh_study *study, rh_study__checking *c, rh_error *err)
{
    candidate *all = rh_alloc((size_t)study->nrecord + 1, sizeof *all);
    int n = 0;
    if (!all)
        return rh_base__no_memory(err, "study");
    for (int i = 0; i < study->nrecord; i++) {
        const rh_trial *t = &study->record[i]->trial;
        if (!t->confirm && isfinite(t->value) && rh_study__is_spread(study, t->setting))
            all[n++] = (candidate){t->value, t->setting};
    }
    qsort(all, (size_t)n, sizeof *all, by_value);
    static const double place[RH_STUDY__REFERENCES] = {0.5, WORST_QUARTER};
    for (int r = 0; r < RH_STUDY__REFERENCES; r++) {
        int at = (int)(place[r] * (n - 1));
        while (at >= 0 && n > 0 && has(c, all[at].setting))
            at--;
        if (at >= 0 && n > 0) {
            c->setting[c->nsetting++] = all[at].setting;
            c->nreference++;
        }
    }
    rh_free(all);
    return RH_OK;
}

static rh_status list_settings(const rh_study *study, rh_study__checking *c, rh_error *err)
{
    c->setting = rh_alloc((size_t)study->nrecord + RH_STUDY__REFERENCES, sizeof *c->setting);
    if (!c->setting)
        return rh_base__no_memory(err, "study");
    for (int i = 0; i < study->nrecord; i++) // in the order of the confirmation
        if (study->record[i]->trial.confirm && study->record[i]->closed)
            c->setting[c->nsetting++] = study->record[i]->trial.setting;
    return add_references(study, c, err);
}

void rh_study__clear_check(rh_study__checking *checking)
{
    rh_free(checking->setting);
    rh_free(checking->score);
    *checking = (rh_study__checking){0};
}

int64_t rh_study__ncheck_run(const rh_study *study)
{
    const rh_plan *plan = study->plan;
    variant list[RH_KINDS__MOST];
    int nmember = 0;
    if (!study->log || !plan->check_runs || !plan->confirm_settings)
        return 0;
    int n = list_variants(study, list);
    for (int i = 0; i < n; i++)
        nmember += list[i].nmember;
    int nsetting = plan->confirm_settings < study->nsetting_max ? plan->confirm_settings
                                                                : study->nsetting_max;
    return (int64_t)nmember * (nsetting + RH_STUDY__REFERENCES) * plan->check_runs;
}

// ---------------------------------------------------------------------------- running

// Fit n models, whose members begin with number `first`.
static rh_status fit_variants(rh_study *study, const variant *list, int n, int first,
                              rh_error *err)
{
    rh_members *members = &study->members[RH_STAGE_CHECK];
    rh_status rc = RH_OK;
    if (rh_workers__drop_stage(study->workers, RH_STAGE_CHECK))
        rh_members__clear(members);
    members->first = first;
    for (int i = 0; i < n && !rc; i++) {
        rh_model *model = NULL;
        rc = list[i].halves ? rh_study__fit_halves(study, &model, err)
                            : rh_study__fit_other(study, &list[i].kind, &model, err);
        if (!rc)
            rc = rh_members__own(members, model, err);
    }
    if (!rc)
        rc = rh_workers__add_stage(study->workers, RH_STAGE_CHECK, members, &study->task, err);
    return rc;
}

// Where the score of a run is kept.
static double *score_of(const rh_study__checking *c, int member, int i, int run)
{
    size_t nrun = (size_t)c->check[member].nrun, nsetting = (size_t)c->nsetting;
    return c->score + ((size_t)member * nsetting + (size_t)i) * nrun + (size_t)run;
}

// Take what the journal has; a run that it does not have is marked by an infinite score.
static void recall(rh_study *study)
{
    const rh_study__checking *c = &study->checking;
    for (int m = 0; m < c->n; m++)
        for (int i = 0; i < c->nsetting; i++)
            for (int r = 0; r < c->check[m].nrun; r++) {
                double *score = score_of(c, m, i, r);
                bool there =
                    study->journal && rh_journal__check(study->journal, c->check[m].name,
                                                        c->setting[i], r, score);
                *score = there ? *score : INFINITY;
                study->nrun += there;
                study->nrun_resumed += there;
            }
}

// How many runs are missing in members first .. first + n - 1.
static int count_missing(const rh_study__checking *c, int first, int n)
{
    int nmissing = 0;
    for (int m = first; m < first + n; m++)
        for (int i = 0; i < c->nsetting; i++)
            for (int r = 0; r < c->check[m].nrun; r++)
                nmissing += *score_of(c, m, i, r) == INFINITY;
    return nmissing;
}

// Start the runs that are missing in these members.
static rh_status start(rh_study *study, int first, int n, rh_error *err)
{
    const rh_study__checking *c = &study->checking;
    rh_status rc = RH_OK;
    for (int m = first; m < first + n; m++)
        for (int i = 0; i < c->nsetting; i++) {
            const rh_study__record *record = rh_study__find(study, c->setting[i], false);
            rh_study__unit unit = {.trial = i, .stage = RH_STAGE_CHECK, .member = m};
            unit.agent = record->trial.agent;
            memcpy(unit.hp, record->hp,
                   (size_t)rh_study__nparam(study, &record->trial) * sizeof *unit.hp);
            for (; unit.run < c->check[m].nrun && !rc; unit.run++)
                if (*score_of(c, m, i, unit.run) == INFINITY)
                    rc = rh_workers__give(study->workers, &unit, err);
        }
    return rc;
}

static rh_status take_in(rh_study *study, const rh_study__run *run, rh_error *err)
{
    const rh_study__checking *c = &study->checking;
    double *score = score_of(c, run->member, run->trial, run->run);
    *score = run->result.outcome == RH_FAILED ? NAN : run->result.score;
    study->nrun++;
    study->dirty = true;
    return study->journal ? rh_journal__add_check(study->journal, c->check[run->member].name,
                                                  c->setting[run->trial], run->run, *score, err)
                          : RH_OK;
}

// Do what is missing in n models, whose nmember members begin with number `first`.
static rh_status carry_out(rh_study *study, const variant *list, int n, int first, int nmember,
                           rh_error *err)
{
    int nmissing = count_missing(&study->checking, first, nmember);
    if (nmissing == 0)
        return RH_OK;
    rh_status rc = fit_variants(study, list, n, first, err);
    if (!rc)
        rc = start(study, first, nmember, err);
    while (nmissing > 0 && !rc) {
        rh_study__done done;
        bool there = false;
        rc = rh_study__take(study, &done, &there, err);
        if (rc || !there)
            continue;
        rc = take_in(study, &done.run, err);
        nmissing--;
        if (!rc)
            rh_study__tell(study, NULL);
    }
    return rc ? rc : rh_study__sync(study, err);
}

rh_status rh_study__check(rh_study *study, rh_error *err)
{
    rh_study__checking *c = &study->checking;
    variant list[RH_KINDS__MOST];
    int nrun = study->plan->check_runs;
    if (!study->log || !nrun || !study->confirms)
        return RH_OK;
    int n = list_variants(study, list);
    rh_status rc = list_settings(study, c, err);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        for (int m = 0; m < list[i].nmember; m++)
            c->check[c->n++] = (rh_check){.name = list[i].name[m], .nrun = nrun};
    c->score = rh_alloc((size_t)c->n * (size_t)c->nsetting * (size_t)nrun, sizeof *c->score);
    if (!c->score)
        return rh_base__no_memory(err, "study");
    for (int m = 0; m < c->n; m++)
        c->check[m].score = score_of(c, m, 0, 0);
    study->stage = RH_STAGE_CHECK;
    study->best = NULL;
    study->nfinished = 0;
    recall(study);
    int64_t nstep = rh_model_log(rh_study__model(study))->n;
    if (!rh_workers__alone(study->workers) || nstep * c->n <= study->at_once)
        return carry_out(study, list, n, 0, c->n, err);
    for (int i = n - 1, first = c->n; i >= 0 && !rc; i--) { // decision 6
        first -= list[i].nmember;
        rc = carry_out(study, &list[i], 1, first, list[i].nmember, err);
    }
    return rc;
}
