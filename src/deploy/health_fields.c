// health_fields.c - the fields of how a deployment is doing: status.json and `--status`.

#include "deploy.h"
#include "describe/field.h"
#include "study/study.h"

#include <math.h>

static const rh_deploy_health *health_of(const rh_field_at *at)
{
    return at->data;
}

static void write_version(rh_doc *doc, const char *key, const rh_field_at *at)
{
    (void)at;
    rh_doc__text(doc, key, rh_version());
}

static void write_per(rh_doc *doc, const char *key, const rh_field_at *at)
{
    int64_t n = health_of(at)->per_steps;
    if (n)
        rh_doc__whole(doc, key, n);
    else
        rh_doc__text(doc, key, "episode");
}

static void write_failures_per(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, health_of(at)->per_1000 ? "1000 steps" : "episode");
}

static bool has_left(const rh_field_at *at)
{
    return at->names && health_of(at)->outside_sensor >= 0;
}

static bool has_alarm(const rh_field_at *at)
{
    return health_of(at)->alarm_step >= 0;
}

static void write_notes(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__open(doc, key, '{', true);
    for (int i = 0; i < RH_NNOTE; i++)
        rh_doc__whole(doc, rh_deploy__note_name(i), health_of(at)->count[i]);
    rh_doc__close(doc);
}

static void write_mode(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, rh_deploy__mode_name(health_of(at)->mode));
}

static void write_seen_by(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_deploy_health *h = health_of(at);
    rh_doc__open(doc, key, '{', true);
    for (int i = 0; i < RH_NALARM; i++) {
        if (isnan(h->evidence[i]) && h->since[i] < 0)
            continue;
        rh_doc__open(doc, rh_deploy__alarm_name(i), '{', true);
        rh_doc__real(doc, "evidence", h->evidence[i]);
        if (h->since[i] >= 0) {
            rh_doc__whole(doc, "since", h->since[i]);
            rh_doc__real(doc, "false", isnan(h->sure[i]) ? 0.0 : 1.0 / h->sure[i]);
        }
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static void write_limits(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_deploy_health *h = health_of(at);
    rh_doc__open(doc, key, '[', true);
    for (int i = 0; i < h->nlimit; i++) {
        const rh_deploy_limit *l = &h->limit[i];
        double scale = rh_limits__scale(l->unit);
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "event", l->event);
        rh_doc__text(doc, "unit", rh_limits__unit(l->unit));
        rh_doc__real(doc, "most", scale * l->most);
        rh_doc__real(doc, "rate", l->of ? scale * (double)l->n / (double)l->of : NAN);
        rh_doc__whole(doc, "happened", l->n);
        rh_doc__whole(doc, "of", l->of);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static bool has_limits(const rh_field_at *at)
{
    return health_of(at)->nlimit > 0;
}

static bool has_trial(const rh_field_at *at)
{
    return health_of(at)->nsetting > 0;
}

static void write_alarms(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__open(doc, key, '[', true);
    for (int i = 0; i < RH_NALARM; i++)
        if (health_of(at)->alarms >> i & 1)
            rh_doc__text(doc, NULL, rh_deploy__alarm_name(i));
    rh_doc__close(doc);
}

#define AT(member) RH_FIELD__AT(rh_deploy_health, member)
#define GROUP(name, rows)                                                                      \
    {                                                                                          \
        name, sizeof(rh_deploy_health), RH_FIELD__ROWS(rows), .flat = true                     \
    }
static const rh_field now_row[] = {
    {"rate", AT(failures), NULL, "share of episodes, or failures in 1,000 steps"},
    {"failures", AT(nfailure), NULL, "that were counted"},
    {"of", AT(of), NULL, "so many completed episodes, or steps"},
    {"other_ends", AT(nother), NULL, "terminal ends that are no failures by the rule"},
};
static const rh_field all_row[] = {
    {"rate", AT(failures_promised), NULL, "in a whole run in the models"},
    {"hi95", AT(failures_upper), NULL, "upper end of the 95 % interval"},
};
static const rh_field logged_row[] = {
    {"rate", AT(failures_logged), NULL, "in the log"},
};
static const rh_fields now_fields = GROUP("now", now_row), all_fields = GROUP("all", all_row),
                       logged_fields = GROUP("logged", logged_row);

#define TRIED(member) RH_FIELD__AT(rh_deploy_tried, member)
static const rh_field tried_row[] = {
    {"steps", TRIED(steps), NULL, "in which it acted"},
    {"mean", TRIED(mean), NULL, "what it is believed to earn"},
    {"error", TRIED(error), NULL, "standard error of that"},
    {"dropped", TRIED(dropped), NULL, "it failed too often or broke a limit"},
};
#undef TRIED
static const rh_fields tried_fields = {"setting", sizeof(rh_deploy_tried),
                                       RH_FIELD__ROWS(tried_row), .flat = true};
static const rh_field trial_row[] = {
    {"steps", AT(trial_steps), NULL, "that it may take"},
    {"used", AT(trial_used), NULL, "so far"},
    {"over", AT(trial_over), NULL, "the setting that acts stays"},
    {"setting", AT(setting), NULL, "that acts now; 0: the chosen one"},
    {"settings", RH_FIELD__ARRAY(rh_deploy_health, tried), NULL, "the chosen one first",
     .fields = &tried_fields, .count = RH_COUNT_MEMBER,
     .n = offsetof(rh_deploy_health, nsetting)},
};
static const rh_fields trial_fields = GROUP("trial", trial_row);

static const rh_field failure_row[] = {
    {"per", RH_FIELD__CALL, NULL, "rates are of episodes or 1000 steps",
     .call = write_failures_per},
    {"now", RH_FIELD__GROUP, NULL, "on the plant so far", .fields = &now_fields},
    {"all", RH_FIELD__GROUP, NULL, "what the study promised", .fields = &all_fields},
    {"logged", RH_FIELD__GROUP, NULL, "the logged controller", .fields = &logged_fields},
};
static const rh_fields failure_fields = GROUP("failures", failure_row);

static const rh_field row[] = {
    {"version", RH_FIELD__CALL, NULL, "of rehearse", .call = write_version},
    {"steps", AT(nstep), NULL, "observations accepted"},
    {"learned", AT(nlearned), NULL, "learned from"},
    {"episodes", AT(nepisode), NULL, "completed"},
    {"judged_steps", AT(njudged), NULL, "of the agent's own actions"},
    {"reward", AT(total), NULL, "of these steps"},
    {"earned", AT(earned), NULL, "on the scale of the score"},
    {"promised", AT(promised), NULL, "score of the study"},
    {"promised_lower", AT(promised_lo), NULL, "lower end of its interval"},
    {"score_per", RH_FIELD__CALL, NULL, "scores are of so many steps, or an episode",
     .call = write_per},
    {"deficit", AT(deficit), NULL, "against the promise"},
    {"alarm_level", AT(level), NULL, "of the deficit"},
    {"false_alarms", AT(false_alarms), NULL, "probability of one"},
    {"false_alarms_per", AT(per_run), "steps", "in so many"},
    {"failures", RH_FIELD__GROUP, NULL, "how often it fails, as in tune --json",
     .fields = &failure_fields},
    {"limits", RH_FIELD__CALL, NULL,
     "of the study: rate so far, in the unit of the limit, of the agent's own steps or "
     "episodes",
     .call = write_limits, .known = has_limits},
    {"guarded_steps", AT(nguarded), NULL, "in which the guard acted"},
    {"guarded", AT(guarded), NULL, "share of about the last 1,000 steps"},
    {"guard_share", AT(guard_share), NULL, "above it the alarm is raised"},
    {"outside", AT(outside), NULL, "share of the last 100 observations outside of the log's"},
    {"outside_sensor", RH_FIELD__AS(RH_FIELD_SENSOR, rh_deploy_health, outside_sensor), NULL,
     "the last one that was", .known = has_left},
    {"notes", RH_FIELD__CALL, NULL, "how often something was unusual", .call = write_notes},
    {"saved_step", AT(saved_step), NULL, "step of the saved state"},
    {"alarm_step", AT(alarm_step), NULL, "step of the last alarm", .known = has_alarm},
    {"mode", RH_FIELD__CALL, NULL, "who acts: shadow, advice or control", .call = write_mode},
    {"fallback", AT(fallen), NULL, "the fallback acts, until a command"},
    {"mode_step", AT(mode_step), NULL,
     "step at which this began; the next fields are since then"},
    {"shadow_steps", AT(nshadow), NULL, "whose action by somebody else is known"},
    {"agreement", AT(agreement), NULL, "share of these in which the agent would do the same"},
    {"coverage", AT(coverage), NULL, "share of observations inside of the log's range"},
    {"controller", AT(controller), NULL, "what somebody else earns, as the score is"},
    {"gain", AT(gain), NULL, "promised score minus that"},
    {"gain_lower", AT(gain_lo), NULL, "its 95 % interval"},
    {"gain_upper", AT(gain_hi), NULL, ""},
    {"blend", AT(allowed), NULL, "how far from the fallback the agent may be now"},
    {"switch", RH_FIELD__GROUP, NULL,
     "trial of tied settings, the chosen one first: which acts, and what each is believed to "
     "earn, with its standard error",
     .fields = &trial_fields, .known = has_trial},
    {"alarms", RH_FIELD__CALL, NULL, "now", .call = write_alarms},
    {"tests", RH_FIELD__CALL, NULL,
     "of each alarm: evidence (raised at 20); if it is raised since which step, and the "
     "probability that it is false, at most",
     .call = write_seen_by},
};
#undef AT

static const rh_fields fields = {"health", sizeof(rh_deploy_health), RH_FIELD__ROWS(row),
                                 .flat = true};

const rh_fields *rh_deploy__health_fields(void)
{
    return &fields;
}

char *rh_deploy__health_json(const rh_deploy_health *health, const rh_best *best)
{
    rh_names names = {0};
    if (best)
        names = (rh_names){.nsensor = best->task.nobs, .sensor = best->task.obs_name};
    return rh_describe(RH_DOC_JSON, &fields, health, best ? &names : NULL);
}
