// limits_fields.c - limits and further scores in the result of a study (fields.c).

#include "core.h"
#include "describe/field.h"

#include <math.h>

const rh_study *rh_study__of(const rh_field_at *at)
{
    while (at->outer)
        at = at->outer;
    return at->data;
}

bool rh_study__has_limits(const rh_field_at *at)
{
    return rh_study__of(at)->limits.nlimit > 0;
}

bool rh_study__has_also(const rh_field_at *at)
{
    return rh_study__of(at)->limits.nalso > 0;
}

void rh_study__write_kept(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    const rh_trial *t = at->data;
    rh_doc__open(doc, key, '[', true);
    for (int i = 0; i < study->limits.nlimit; i++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__real(doc, "rate", t->kept[i].rate);
        rh_doc__real(doc, "upper", t->kept[i].upper);
        rh_doc__flag(doc, "keeps", t->kept[i].keeps);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static void write_references(rh_doc *doc, const char *key, const rh_reference *of, int n)
{
    rh_doc__open(doc, key, '[', true);
    for (int k = 0; k < n; k++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__real(doc, "score", of[k].score);
        rh_doc__real(doc, "lo95", of[k].lo95);
        rh_doc__real(doc, "hi95", of[k].hi95);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

void rh_study__write_also(rh_doc *doc, const char *key, const rh_field_at *at)
{
    write_references(doc, key, ((const rh_trial *)at->data)->also,
                     rh_study__of(at)->limits.nalso);
}

// ---------------------------------------------------------------------------- limits

static void write_limit(rh_doc *doc, const rh_study *study, const rh_limited *of, int i)
{
    static const char *const unit[] = {[RH_PER_1000_STEPS] = "steps",
                                       [RH_PERCENT_OF_STEPS] = "steps",
                                       [RH_PERCENT_OF_EPISODES] = "episodes"};
    const rh_verdict *v = &study->verdict;
    const rh_kept *kept = v->winner < 0 ? NULL : &v->trial[v->winner].kept[i];
    rh_doc__open(doc, NULL, '{', true);
    rh_doc__text(doc, "event", of->limit.event);
    rh_doc__text(doc, "share_of", unit[of->limit.unit]);
    rh_doc__real(doc, "most", of->limit.most);
    rh_doc__real(doc, "rate", kept ? kept->rate : NAN);
    rh_doc__real(doc, "upper", kept ? kept->upper : NAN);
    rh_doc__text(doc, "kind", kept && v->nkind ? v->kind[kept->kind] : NULL);
    rh_doc__real(doc, "logged", of->logged.rate);
    rh_doc__real(doc, "logged_upper", of->logged.upper);
    rh_doc__real(doc, "cost", of->cost);
    rh_doc__place(doc, "best_without", of->without < 0 ? -1 : v->trial[of->without].setting);
    rh_doc__close(doc);
}

static void write_limits(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    const rh_limiting *l = &study->verdict.limiting;
    rh_doc__open(doc, key, '[', false);
    for (int i = 0; i < l->n; i++)
        write_limit(doc, study, &l->of[i], i);
    rh_doc__close(doc);
}

static void write_nearest(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_verdict *v = &rh_study__of(at)->verdict;
    int nearest = v->winner < 0 ? v->limiting.nearest : -1;
    rh_doc__place(doc, key, nearest < 0 ? -1 : v->trial[nearest].setting);
}

#define AT(member) RH_FIELD__AT(rh_study, verdict.limiting.member)
static const rh_field limits_row[] = {
    {"text", AT(text), NULL, "the answer in words"},
    {"sure", AT(sure), NULL, "confidence of the upper bounds"},
    {"keep", AT(nkeep), NULL, "confirmed settings that keep all limits"},
    {"logged_keeps", AT(logged), NULL, "the logged controller keeps them, in the log"},
    {"nearest", RH_FIELD__CALL, NULL, "if none keeps them, the setting that exceeds least",
     .call = write_nearest},
    {"limits", RH_FIELD__CALL, NULL, "each limit; rates are of the winner, in the worst kind",
     .call = write_limits},
};
#undef AT
const rh_fields rh_study__limits_fields = {"limits", sizeof(rh_study),
                                           RH_FIELD__ROWS(limits_row)};

void rh_study__write_scores(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_limiting *l = &rh_study__of(at)->verdict.limiting;
    rh_doc__open(doc, key, '[', false);
    for (int k = 0; k < l->nalso; k++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "formula", l->also[k]);
        rh_doc__real(doc, "logged", l->today[k].score);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}
