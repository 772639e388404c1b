// inspect_find_values.c - findings about the values of columns.

#include "inspect.h"

#include <math.h>
#include <string.h>

#define TOLD 3 // sensors described; the others are counted

// ---------------------------------------------------------------------------- lists

typedef bool (*test)(const rh_log_sensor *sensor);
// Append what there is to say of sensor j.
typedef void (*telling)(const rh_inspect__finder *f, int j, char *text, size_t size);

// Describe the sensors that pass the test. Returns how many; *first: the first of them.
static int list_sensors(const rh_inspect__finder *f, test is, telling tell, char *text,
                        size_t size, int *first)
{
    int n = 0;
    *first = -1;
    text[0] = 0;
    for (int j = 0; j < f->log->nobs; j++) {
        if (!is(&f->report->sensor[j]))
            continue;
        if (n++ == 0)
            *first = j;
        if (n > TOLD)
            continue;
        rh_text__put(text, size, "%s%s", n > 1 ? "; " : "",
                     rh_inspect__name(f->log->obs_name[j]).s);
        if (tell)
            tell(f, j, text, size);
    }
    if (n > TOLD)
        rh_text__put(text, size, "; and %d more", n - TOLD);
    return n;
}

// Add a finding about the sensors that pass the test; NULL if none does. In the advice %s is
// "it" or "them". Nullable: tell, advice.
static rh_finding *find(const rh_inspect__finder *f, test is, telling tell,
                        rh_severity severity, rh_finding_id id, const char *evidence,
                        const char *advice)
{
    char text[300];
    int column, n = list_sensors(f, is, tell, text, sizeof text, &column);
    if (n == 0)
        return NULL;
    rh_finding *found = rh_findings__add(f->list, severity, id, n, "%s%s", evidence, text);
    found->dim = column;
    const char *it = advice ? strstr(advice, "%s") : NULL;
    if (it)
        rh_findings__advise(found, "%.*s%s%s", (int)(it - advice), advice,
                            n == 1 ? "it" : "them", it + strlen("%s"));
    else if (advice)
        rh_findings__advise(found, "%s", advice);
    return found;
}

// ---------------------------------------------------------------------------- missing

static bool is_infinite(const rh_log_sensor *s)
{
    return s->value.ninfinite > 0;
}

static bool is_missing(const rh_log_sensor *s)
{
    return s->value.nmissing > 0;
}

// The observation of step t in which sensor j is missing or infinite, or absurd.
static int32_t seen_at(const rh_inspect__finder *f, int64_t t, int j, bool absurd)
{
    const rh_log *log = f->log;
    double x = log->obs[(int64_t)log->from[t] * log->nobs + j];
    bool here = absurd ? isfinite(x) && rh_inspect__is_absurd(&f->report->sensor[j].value, x)
                       : !isfinite(x);
    return here ? log->from[t] : log->to[t];
}

// ", first at line 12" for the value of step t; nothing below 0.
static void tell_first(const rh_inspect__finder *f, int j, int64_t t, bool absurd, char *text,
                       size_t size)
{
    if (t >= 0)
        rh_text__put(text, size, ", first at %s",
                     rh_inspect__where_seen(f, t, seen_at(f, t, j, absurd)).s);
}

static void tell_missing(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    rh_text__put(text, size, " %s", rh_inspect__share(s->value.nmissing, f->log->nstate).s);
    tell_first(f, j, s->missing_at, false, text, size);
}

static void tell_infinite(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    rh_text__put(text, size, " %s", rh_inspect__share(s->value.ninfinite, f->log->nstate).s);
    tell_first(f, j, s->value.nmissing == 0 ? s->missing_at : -1, false, text, size);
}

// A finding about the first step with a missing, infinite or absurd value of its sensor.
static void set_value(const rh_inspect__finder *f, rh_finding *found, int64_t t, bool absurd)
{
    if (t >= 0)
        rh_inspect__set_seen(f, found, t, seen_at(f, t, found->dim, absurd));
}

static void find_missing(const rh_inspect__finder *f)
{
    const rh_log_sensor *sensor = f->report->sensor;
    rh_finding *found = find(f, is_infinite, tell_infinite, RH_ERROR,
                             RH_FINDING_INFINITE_SENSOR, "infinite values in ",
                             "fix them where the log is written, or leave the field empty if "
                             "the value is missing");
    if (found)
        set_value(f, found, sensor[found->dim].missing_at, false);
    double worst = 0.0;
    for (int j = 0; j < f->log->nobs; j++)
        worst = fmax(worst, (double)sensor[j].value.nmissing);
    worst /= (double)f->log->nstate;
    rh_severity severity = worst > rh_inspect__limit.missing_share ? RH_WARNING : RH_NOTICE;
    found =
        find(f, is_missing, tell_missing, severity, RH_FINDING_MISSING, "missing values in ",
             "states with missing values are of little use: leave the sensor out with "
             "--obs, or fill it where the log is written");
    if (found)
        set_value(f, found, sensor[found->dim].missing_at, false);
}

// ---------------------------------------------------------------------------- outliers

static bool has_sentinel(const rh_log_sensor *s)
{
    return s->value.nsentinel > 0;
}

// No measurement, as far as the column tells: a number that loggers write, or one that comes
// and goes. Columns of few values (a mode) and plausible numbers (0, 1, -1) are left in doubt.
static bool is_no_measurement(const rh_log_sensor *s)
{
    const rh_log_numbers *v = &s->value;
    return v->nsentinel > 1 && v->ndistinct > rh_inspect__limit.few_values &&
           fabs(v->sentinel) > 1.0 && (rh_inspect__is_customary(v->sentinel) || s->dropouts);
}

static bool is_absurd(const rh_log_sensor *s)
{
    return s->value.nabsurd > 0 && s->value.nscaled == 0;
}

static bool is_scaled(const rh_log_sensor *s)
{
    return s->value.nscaled > 0;
}

static bool changes_unit(const rh_log_sensor *s)
{
    return s->unit_at >= 0;
}

static void tell_scaled(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    const rh_log *log = f->log;
    int64_t t = 0;
    while (t + 1 < log->n && log->obs[(int64_t)log->from[t] * log->nobs + j] != s->value.scaled)
        t++;
    rh_text__put(text, size, " %s such as %.10g beside %.6g, first of these at %s",
                 rh_inspect__share(s->value.nscaled, log->nstate).s, s->value.scaled,
                 s->value.scaled / s->value.scaled_by, rh_inspect__where(f, t).s);
}

static void tell_unit(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    rh_text__put(text, size, " is below %.6g or above %.6g, and changes at %s", s->unit_below,
                 s->unit_above, rh_inspect__where(f, s->unit_at).s);
}

static void find_scales(const rh_inspect__finder *f)
{
    find(f, is_scaled, tell_scaled, RH_ERROR, RH_FINDING_LOST_DECIMALS,
         "values times powers of ten, a decimal sign was lost: ",
         "write the file again with decimal signs (--decimal comma reads 9,6), or leave %s out "
         "with --obs");
    rh_finding *found = find(
        f, changes_unit, tell_unit, RH_WARNING, RH_FINDING_UNIT_CHANGE,
        "another range from one row on: ",
        "if the unit changed, convert one part where the log is written; if the plant did, "
        "use the part that is like today");
    if (found)
        rh_inspect__set_first(f, found, f->report->sensor[found->dim].unit_at);
}

static void tell_sentinel(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_numbers *v = &f->report->sensor[j].value;
    rh_text__put(text, size, " is %.10g %lld time%s, otherwise %.4g to %.4g", v->sentinel,
                 (long long)v->nsentinel, v->nsentinel == 1 ? "" : "s", v->lo, v->hi);
    tell_first(f, j, v->nabsurd == 0 ? f->report->sensor[j].absurd_at : -1, true, text, size);
}

static void tell_absurd(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    const rh_log_numbers *v = &s->value;
    double worst = v->min < v->far_lo && v->min != v->sentinel ? v->min : v->max;
    rh_text__put(text, size, " %lld value%s such as %.6g, usually %.4g to %.4g",
                 (long long)v->nabsurd, v->nabsurd == 1 ? "" : "s", worst, v->lo, v->hi);
    tell_first(f, j, s->absurd_at, true, text, size);
}

// Sentinels in actions and rewards. In rewards only common ones count: a trip may cost 1000.
static void find_sentinels(const rh_inspect__finder *f)
{
    const rh_log *log = f->log;
    for (int k = 0; k <= log->nact; k++) {
        bool reward = k == log->nact;
        if (!reward && log->naction)
            continue;
        const rh_log_numbers *v = reward ? &f->report->reward : &f->report->amount[k];
        if (v->nsentinel == 0 || (reward && !rh_inspect__is_customary(v->sentinel)))
            continue;
        int64_t first = 0;
        for (int64_t t = log->n - 1; t >= 0; t--)
            if ((reward ? log->reward[t] : log->act[t * log->nact + k]) == v->sentinel)
                first = t;
        rh_finding *found = rh_findings__add(
            f->list, f->log->reading.sentinels_kept ? RH_NOTICE : RH_WARNING,
            reward ? RH_FINDING_SENTINEL_REWARD : RH_FINDING_SENTINEL_ACTION, v->nsentinel,
            "a number that may mean a missing value: %s is %.10g %lld time%s, otherwise "
            "%.4g to %.4g, first at %s",
            rh_inspect__name(reward ? log->reward_name : log->act_name[k]).s, v->sentinel,
            (long long)v->nsentinel, v->nsentinel == 1 ? "" : "s", v->lo, v->hi,
            rh_inspect__where(f, first).s);
        rh_inspect__set_first(f, found, first);
        rh_findings__advise(found, "--missing=%.10g if it does: such steps are dropped",
                            v->sentinel);
        k = reward ? k : log->nact - 1; // one finding of a kind
    }
}

static void find_absurd(const rh_inspect__finder *f)
{
    const rh_log_sensor *sensor = f->report->sensor;
    const rh_log_reading *reading = &f->log->reading;
    rh_finding *found;
    if (reading->sentinels) {
        found =
            rh_findings__add(f->list, RH_NOTICE, RH_FINDING_SENTINEL_TAKEN, reading->nsentinel,
                             "taken as missing values: %.340s", reading->sentinels);
        rh_findings__advise(found, "--sentinels keep if they are measurements");
    }
    bool sure = false;
    for (int j = 0; j < f->log->nobs; j++)
        sure = sure || is_no_measurement(&sensor[j]);
    found = find(f, has_sentinel, tell_sentinel,
                 reading->sentinels_kept ? RH_NOTICE
                 : sure                  ? RH_ERROR
                                         : RH_WARNING,
                 RH_FINDING_SENTINEL, "a number that may mean a missing value: ", NULL);
    if (found) {
        set_value(f, found, sensor[found->dim].absurd_at, true);
        rh_findings__advise(found, "--missing=%.10g if it does, --sentinels keep if not",
                            sensor[found->dim].value.sentinel);
    }
    found = find(f, is_absurd, tell_absurd, RH_WARNING, RH_FINDING_OUTLIERS,
                 "far outside the usual range: ",
                 "check them: fix a spike or mark it as missing, keep a rare true event");
    if (found)
        set_value(f, found, sensor[found->dim].absurd_at, true);
}

// ---------------------------------------------------------------------------- useless

static bool is_constant(const rh_log_sensor *s)
{
    return s->constant;
}

static bool is_frozen(const rh_log_sensor *s)
{
    return s->frozen;
}

static bool is_wrapping(const rh_log_sensor *s)
{
    return s->wraps;
}

static bool is_clock(const rh_log_sensor *s)
{
    return isfinite(s->pace);
}

static bool is_twin(const rh_log_sensor *s)
{
    return s->twin >= 0;
}

static bool is_empty(const rh_log_sensor *s)
{
    return s->value.n == 0;
}

static void tell_constant(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    rh_text__put(text, size, " is always %.6g", f->report->sensor[j].value.min);
}

static void tell_frozen(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    double value = f->log->obs[(int64_t)f->log->from[s->run_at] * f->log->nobs + j];
    rh_text__put(text, size, " stays at %.6g for %lld steps from %s; usually at most %.0f",
                 value, (long long)s->run, rh_inspect__where(f, s->run_at).s, s->usual_run);
}

static void tell_clock(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    double pace = f->report->sensor[j].pace;
    rh_text__put(text, size, " %s by %.6g", pace < 0.0 ? "falls" : "grows", fabs(pace));
}

static void tell_twin(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    rh_text__put(text, size, " is a linear function of %s",
                 rh_inspect__name(f->log->obs_name[f->report->sensor[j].twin]).s);
}

static void tell_wraps(const rh_inspect__finder *f, int j, char *text, size_t size)
{
    const rh_log_sensor *s = &f->report->sensor[j];
    rh_text__put(text, size, " %lld times between %.4g and %.4g", (long long)s->nwrap,
                 s->value.lo, s->value.hi);
}

static void find_still(const rh_inspect__finder *f)
{
    find(f, is_empty, NULL, RH_ERROR, RH_FINDING_EMPTY_SENSOR, "no value in ",
         "leave %s out with --obs");
    find(f, is_constant, tell_constant, RH_WARNING, RH_FINDING_CONSTANT_SENSOR, "",
         "dead, or useless to an agent: leave %s out with --obs");
    rh_finding *found =
        find(f, is_frozen, tell_frozen, RH_WARNING, RH_FINDING_FROZEN_SENSOR, "",
             "was it stuck, or did the logger repeat the last value? leave that part out, or "
             "mark it as missing");
    if (found)
        rh_inspect__set_first(f, found, f->report->sensor[found->dim].run_at);
    find(f, is_clock, tell_clock, RH_WARNING, RH_FINDING_CLOCK_SENSOR,
         "a row number or a clock, not a sensor; in every step ",
         "no state would occur twice: leave %s out with --obs, or name a time with --time");
    find(f, is_twin, tell_twin, RH_NOTICE, RH_FINDING_TWIN_SENSORS,
         "one sensor twice: ", "distances count it twice: leave one of them out with --obs");
    find(f, is_wrapping, tell_wraps, RH_NOTICE, RH_FINDING_WRAPS,
         "jumps from end to end like an angle or a counter: ",
         "an agent sees its two ends far apart (a model does not, where the facts say that it "
         "wraps round): log the sine and cosine of an angle instead, and leave a counter out "
         "with --obs");
}

void rh_inspect__find_values(const rh_inspect__finder *f)
{
    find_missing(f);
    find_absurd(f);
    find_sentinels(f);
    find_scales(f);
    find_still(f);
}
