// plan_limits.c - the keys at_most and also: a text, its pieces between semicolons, or a list.

#include "base/base.h"
#include "limits.h"
#include "plan.h"

#include <string.h>

#define LEAST_SURE 0.5   // below, a bound is no bound: half of all true rates are above it
#define MOST_SURE 0.9999 // 1 in 10,000: more than the runs of a study can show

rh_status rh_plan__read_pieces(void *field, const rh_key__said *said, rh_error *err)
{
    static const char expected[] = "a text or a list of texts";
    const rh_yaml *value = said->value;
    rh_text text = {0};
    if (value->kind == RH_YAML_TEXT)
        rh_text__add(&text, value->text);
    else if (value->kind != RH_YAML_LIST)
        return rh_key__refuse(said, NULL, "", err, expected);
    for (int i = 0; value->kind == RH_YAML_LIST && i < value->n; i++) {
        if (value->item[i]->kind != RH_YAML_TEXT) {
            rh_text__clear(&text);
            return rh_key__refuse(said, value->item[i], "", err, expected);
        }
        rh_text__format(&text, "%s%s", i ? "; " : "", value->item[i]->text);
    }
    if (text.bad)
        return rh_plan__no_memory(err);
    bool none = !text.n || rh_yaml__nothing(value);
    if (none)
        rh_text__clear(&text);
    rh_key__put(field, text.data);
    return RH_OK;
}

void rh_plan__show_pieces(const void *field, rh_text *text)
{
    const char *const *pieces = field;
    rh_text__yaml(text, *pieces ? *pieces : "");
}

// One of the two texts. Nullable: log.
static rh_status check(const rh_plan *plan, const char *key, const rh_log *log, rh_error *err)
{
    const rh_key__said *said = rh_plan__said(plan, key);
    bool also = strcmp(key, "also") == 0;
    char label[RH_KEY__LABEL] = "";
    rh_limits limits;
    if (said)
        rh_key__label(said, NULL, "", label);
    rh_status rc = rh_limits__read(&limits, also ? NULL : plan->at_most,
                                   also ? plan->also : NULL, log, *label ? label : NULL, err);
    rh_limits__clear(&limits);
    return rc ? rh_key__tidy(err, rc) : RH_OK;
}

rh_status rh_plan__check_limits(const rh_plan *plan, const rh_log *log, rh_error *err)
{
    if (!(plan->sure >= LEAST_SURE && plan->sure <= MOST_SURE))
        return rh_key__refuse(rh_plan__said(plan, "sure"), NULL, "", err, "0.5 to 0.9999");
    rh_status rc = check(plan, "at_most", log, err);
    return rc ? rc : check(plan, "also", log, err);
}
