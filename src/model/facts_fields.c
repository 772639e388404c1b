// facts_fields.c - the fields of the facts that a log shows.

#include "fields.h"

static const char *side_word(int above)
{
    return above ? "above" : "below";
}

#define AT(member) RH_FIELD__AT(rh_limit, member)
static const rh_field limit_row[] = {
    {"sensor", RH_FIELD__AS(RH_FIELD_SENSOR, rh_limit, sensor), NULL, "the sensor"},
    {"side", RH_FIELD__AS(RH_FIELD_WORD, rh_limit, above), NULL, "where steps end",
     .word = side_word},
    {"value", AT(value), NULL, "the limit"},
    {"terminal", AT(nterminal), NULL, "terminal arrivals past it"},
    {"reward", AT(reward), NULL, "mean reward of these steps"},
    {"given", AT(given), NULL, "by hand"},
    {"other_side_unseen", AT(lone), NULL, "the sensor has no limit and no wall there"},
};
#undef AT

static const rh_fields limit = {"limit", sizeof(rh_limit), RH_FIELD__ROWS(limit_row),
                                .flat = true};

#define AT(member) RH_FIELD__AT(rh_sensor, member)
static const rh_field sensor_row[] = {
    {"name", RH_FIELD__SELF(RH_FIELD_SENSOR), NULL, "the sensor"},
    {"constant", AT(constant), NULL, "it never changes"},
    {"period", AT(period), NULL, "it wraps round: the length of its circle"},
    {"base", AT(base), NULL, "least value on that circle"},
    {"wall_lo", AT(wall_lo), NULL, "it stops at this least value"},
    {"wall_hi", AT(wall_hi), NULL, "it stops at this greatest value"},
    {"partner", RH_FIELD__AS(RH_FIELD_SENSOR, rh_sensor, partner), NULL,
     "the other sensor of a pair on a circle"},
    {"radius", AT(radius), NULL, "of that circle"},
    {"noise", AT(noise), NULL, "its value says next to nothing about its next one"},
    {"exogenous", AT(exogenous), NULL, "no action moves it"},
};
#undef AT

static const rh_fields sensor = {"sensor", sizeof(rh_sensor), RH_FIELD__ROWS(sensor_row),
                                 .flat = true};

#define AT(member) RH_FIELD__AT(rh_facts, member)
static const rh_field row[] = {
    {"resets", AT(nreset), NULL, "resets that were found; the log marks none"},
    {"terminal", AT(nterminal), NULL, "terminal arrivals"},
    {"unexplained", AT(nunexplained), NULL, "of these, beyond no limit"},
    {"limits", RH_FIELD__LIST(rh_facts, limit), NULL, "beyond which steps end",
     .fields = &limit, .count = RH_COUNT_MEMBER, .n = offsetof(rh_facts, nlimit)},
    {"sensors", RH_FIELD__LIST(rh_facts, sensor), NULL, "what is known of each",
     .fields = &sensor, .count = RH_COUNT_MEMBER, .n = offsetof(rh_facts, nobs)},
};

static const rh_fields facts = {"facts", sizeof(rh_facts), RH_FIELD__ROWS(row)};

const rh_fields *rh_facts_fields(void)
{
    return &facts;
}
