// log_fields.c - a log in numbers, and the names of its sensors and actions.

#include "describe/field.h"
#include "log.h"
#include "rehearse/log.h"

rh_names rh_log_names(const rh_log *log)
{
    return (rh_names){.nsensor = log->nobs,
                      .sensor = log->obs_name,
                      .unit = log->obs_unit,
                      .reward = log->reward_name,
                      .naction = log->naction,
                      .action = log->label,
                      .namount = log->naction ? 0 : log->nact,
                      .amount = log->act_name};
}

static void write_resumed(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_log *log = at->data;
    int n = 0;
    for (int i = 0; i < log->nepisode; i++)
        n += log->start && !log->start[i];
    rh_doc__whole(doc, key, n);
}

static void write_amounts(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__whole(doc, key, rh_log_names(at->data).namount);
}

#define AT(member) RH_FIELD__AT(rh_log, member)
static const rh_field row[] = {
    {"path", AT(path), NULL, "the file"},
    {"format", AT(reading.format), NULL, "of the file"},
    {"steps", AT(n), NULL, "transitions"},
    {"episodes", AT(nepisode), NULL, "episodes"},
    {"episodes_resumed", RH_FIELD__CALL, NULL, "episodes that begin after a gap",
     .call = write_resumed},
    {"rows_incomplete", AT(reading.nincomplete), NULL, "dropped: no action or reward"},
    {"steps_lost", AT(reading.nlost), NULL, "dropped: the next observation is not known"},
    {"steps_without_history", AT(reading.nshort), NULL,
     "dropped: the steps before, which are stacked, are not known"},
    {"sensors", AT(nobs), NULL, "numbers in an observation"},
    {"actions", AT(naction), NULL, "discrete actions"},
    {"action_dimensions", RH_FIELD__CALL, NULL, "numbers of a continuous action",
     .call = write_amounts},
};

static const rh_fields fields = {"log", sizeof(rh_log), RH_FIELD__ROWS(row)};

const rh_fields *rh_log__fields(void)
{
    return &fields;
}
