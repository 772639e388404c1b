// advice.c - what to log next, as `tune` suggests it: read, and followed while a log is made.
//
// A file is JSON: a document of `tune --json`, a study's report.json, or {"log_next": rows}:
//
//     {"action": "1", "sensors": [{"name": "angle", "lo": 0.5, "hi": null}], "steps": 400}
//
// Instead of "action", continuous actions have "action_ranges": [{"lo": 0.6, "hi": 1}, ...].
//
// 1. Inside a region whose row has steps left, a trial begins: its action is taken for 5 steps,
//    or until the state leaves the region. For three times as many steps after it the policy
//    acts, so that it still gets through the region and to its goals. Regions may overlap; of
//    several rows one is drawn, in proportion to the steps that they have left.
//    With as many steps of the policy as of trials, Acrobot's medium policy reached its goal
//    12 times in four logs (16 times as it is, 30 times alone), and studies of them chose
//    worse: regret 0.42 instead of 0 (bench/log_next, stitching, seeds 4 to 7). In Cartpole
//    they ranked settings better (tau 0.29, 0.12 as it is). Taking the action in every second
//    step at random, without trials, hardly moves a plant that must be swung.
// 2. Sensors are found by name, because the log may have others than the environment. A sensor
//    that the environment does not have is an error: its row could not be followed.
// 3. A discrete action is its number, which is its label in logs that `collect` writes.

#include "base/number.h"
#include "base/text.h"
#include "log.h"
#include "log_internal.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#define MOST_ROWS 1000
#define REST 3 // decision 1

struct rh_advice {
    int n, nobs, nact;
    bool discrete;
    int64_t *steps;    // owned: to log                              (n)
    double *lo, *hi;   // owned: of every sensor                     (n x nobs)
    double *from, *to; // owned: of the action's numbers             (n x nact)
};

// ---------------------------------------------------------------------------- reading

// What is being read, for messages.
typedef struct reading {
    const char *path;
    const rh_task *task;
    rh_advice *advice;
    int row;
    rh_error *err;
} reading;

static rh_status refuse(const reading *r, const char *what)
{
    return rh_fail(r->err, RH_EFORMAT, "%s: row %d of log_next: %s", r->path, r->row + 1, what);
}

// A bound; null or missing: the one given.
static bool bound(const json_t *found, double otherwise, double *x)
{
    *x = json_is_number(found) ? json_number_value(found) : otherwise;
    return !found || json_is_null(found) || json_is_number(found);
}

static rh_status read_side(const reading *r, const json_t *found)
{
    const rh_task *task = r->task;
    const char *name = json_string_value(json_object_get(found, "name"));
    char shown[80], text[200];
    int at = 0;
    if (!name)
        return refuse(r, "a sensor without a name, expected {\"name\": ..., \"lo\": ..., "
                         "\"hi\": ...}");
    while (at < task->nobs && strcmp(task->obs_name[at], name) != 0)
        at++;
    if (at == task->nobs) {
        snprintf(text, sizeof text,
                 "sensor '%s', expected one of the environment's, such as %s",
                 rh_text__printable(name, shown, sizeof shown), task->obs_name[0]);
        return refuse(r, text);
    }
    double *lo = &r->advice->lo[(size_t)r->row * (size_t)task->nobs + (size_t)at];
    double *hi = &r->advice->hi[(size_t)r->row * (size_t)task->nobs + (size_t)at];
    if (!bound(json_object_get(found, "lo"), -INFINITY, lo) ||
        !bound(json_object_get(found, "hi"), INFINITY, hi) || !(*lo < *hi)) {
        snprintf(text, sizeof text, "bounds of sensor '%s', expected numbers lo < hi, or null",
                 rh_text__printable(name, shown, sizeof shown));
        return refuse(r, text);
    }
    return RH_OK;
}

static rh_status read_choice(const reading *r, const json_t *found)
{
    const char *label = json_string_value(found);
    char shown[80], text[200];
    double x = -1.0;
    if (label && rh_number__read(label, strlen(label), &x) == RH_NUMBER && x == floor(x) &&
        x >= 0.0 && x < r->task->naction) {
        r->advice->from[r->row] = r->advice->to[r->row] = x;
        return RH_OK;
    }
    snprintf(text, sizeof text, "action %s%s%s, expected \"0\" to \"%d\"", label ? "'" : "",
             label ? rh_text__printable(label, shown, sizeof shown) : "is no text",
             label ? "'" : "", r->task->naction - 1);
    return refuse(r, text);
}

static rh_status read_ranges(const reading *r, const json_t *found)
{
    const rh_task *task = r->task;
    char text[200];
    snprintf(text, sizeof text,
             "action_ranges, expected %d of {\"lo\": number, \"hi\": number}, lo <= hi",
             task->nact);
    if (json_array_size(found) != (size_t)task->nact)
        return refuse(r, text);
    for (int k = 0; k < task->nact; k++) {
        const json_t *one = json_array_get(found, (size_t)k);
        double *from = &r->advice->from[r->row * task->nact + k],
               *to = &r->advice->to[r->row * task->nact + k];
        if (!bound(json_object_get(one, "lo"), task->act_lo[k], from) ||
            !bound(json_object_get(one, "hi"), task->act_hi[k], to) || !(*from <= *to))
            return refuse(r, text);
        *from = fmin(fmax(*from, task->act_lo[k]), task->act_hi[k]);
        *to = fmin(fmax(*to, task->act_lo[k]), task->act_hi[k]);
    }
    return RH_OK;
}

static rh_status read_row(const reading *r, const json_t *found)
{
    const json_t *sensors = json_object_get(found, "sensors"),
                 *steps = json_object_get(found, "steps");
    rh_status rc = RH_OK;
    if (!json_is_object(found))
        return refuse(r, "no object, expected {\"action\": ..., \"sensors\": [...], "
                         "\"steps\": ...}");
    if (!json_is_integer(steps) || json_integer_value(steps) < 1 ||
        json_integer_value(steps) > INT32_MAX)
        return refuse(r, "steps, expected a whole number, 1 or more");
    if (!json_is_array(sensors))
        return refuse(r, "sensors, expected a list, [] for everywhere");
    r->advice->steps[r->row] = json_integer_value(steps);
    for (size_t k = 0; k < json_array_size(sensors) && !rc; k++)
        rc = read_side(r, json_array_get(sensors, k));
    if (rc)
        return rc;
    return r->advice->discrete ? read_choice(r, json_object_get(found, "action"))
                               : read_ranges(r, json_object_get(found, "action_ranges"));
}

static rh_status make(rh_advice **out, const rh_task *task, int n, rh_error *err)
{
    rh_advice *a = rh_alloc(1, sizeof *a);
    if (!a)
        return rh_base__no_memory(err, "advice");
    size_t nside = (size_t)n * (size_t)task->nobs, nact = (size_t)n * (size_t)task->nact;
    *a = (rh_advice){
        .n = n, .nobs = task->nobs, .nact = task->nact, .discrete = task->naction > 0};
    a->steps = rh_alloc((size_t)n, sizeof *a->steps);
    a->lo = rh_alloc(nside, sizeof *a->lo);
    a->hi = rh_alloc(nside, sizeof *a->hi);
    a->from = rh_alloc(nact, sizeof *a->from);
    a->to = rh_alloc(nact, sizeof *a->to);
    if (!a->steps || !a->lo || !a->hi || !a->from || !a->to) {
        rh_advice__destroy(a);
        return rh_base__no_memory(err, "advice");
    }
    for (size_t i = 0; i < nside; i++) {
        a->lo[i] = -INFINITY;
        a->hi[i] = INFINITY;
    }
    *out = a;
    return RH_OK;
}

// The rows of a document. Takes it; NULL: it is not JSON, see why.
static rh_status take(rh_advice **out, json_t *file, const json_error_t *why, const char *path,
                      const rh_task *task, rh_error *err)
{
    rh_advice *advice = NULL;
    char shown[160];
    if (!file)
        return rh_fail(err, RH_EFORMAT, "%s: line %d: %s, expected JSON of tune --json", path,
                       why->line, rh_text__printable(why->text, shown, sizeof shown));
    const json_t *trust = json_object_get(file, "trust");
    const json_t *rows = json_object_get(trust ? trust : file, "log_next");
    size_t n = json_array_size(rows);
    rh_status rc = RH_OK;
    if (!json_is_array(rows))
        rc = rh_fail(err, RH_EFORMAT,
                     "%s: no list log_next, expected a document of tune --json or a study's "
                     "report.json",
                     path);
    else if (n == 0 || n > MOST_ROWS)
        rc = rh_fail(err, RH_EFORMAT, "%s: log_next has %zu rows, expected 1 to %d", path, n,
                     MOST_ROWS);
    if (!rc)
        rc = make(&advice, task, (int)n, err);
    for (int i = 0; i < (int)n && !rc; i++)
        rc = read_row(&(reading){path, task, advice, i, err}, json_array_get(rows, (size_t)i));
    if (!rc) {
        *out = advice;
        advice = NULL;
    }
    rh_advice__destroy(advice);
    json_decref(file);
    return rc;
}

rh_status rh_advice__parse(rh_advice **out, const void *text, size_t n, const char *path,
                           const rh_task *task, rh_error *err)
{
    json_error_t why = {0};
    return take(out, json_loadb(text, n, JSON_REJECT_DUPLICATES, &why), &why, path, task, err);
}

rh_status rh_advice__read(rh_advice **out, const char *path, const rh_task *task, rh_error *err)
{
    json_error_t why = {0};
    FILE *stream = fopen(path, "r");
    if (!stream)
        return rh_fail(err, RH_EIO, "%s: cannot read: %s", path, strerror(errno));
    json_t *file = json_loadf(stream, JSON_REJECT_DUPLICATES, &why);
    fclose(stream);
    return take(out, file, &why, path, task, err);
}

void rh_advice__destroy(rh_advice *advice)
{
    if (!advice)
        return;
    rh_free(advice->steps);
    rh_free(advice->lo);
    rh_free(advice->hi);
    rh_free(advice->from);
    rh_free(advice->to);
    rh_free(advice);
}

int rh_advice__nrow(const rh_advice *advice)
{
    return advice->n;
}

int64_t rh_advice__steps(const rh_advice *advice)
{
    int64_t sum = 0;
    for (int i = 0; i < advice->n; i++)
        sum += advice->steps[i];
    return sum;
}

// ---------------------------------------------------------------------------- following

void rh_advice__begin(rh_advice__course *c, const rh_advice *advice)
{
    memcpy(c->left, advice->steps, (size_t)advice->n * sizeof *c->left);
    c->hold = c->rest = 0;
}

static bool is_inside(const rh_advice *a, int row, const double *obs)
{
    const double *lo = a->lo + (size_t)row * (size_t)a->nobs,
                 *hi = a->hi + (size_t)row * (size_t)a->nobs;
    for (int i = 0; i < a->nobs; i++)
        if (!(lo[i] <= obs[i] && obs[i] < hi[i]))
            return false;
    return true;
}

// Draw the row of a new trial and its action. False: no region is here.
static bool begin_trial(rh_advice__course *c, const rh_advice *a, const double *obs,
                        rh_rng *rng)
{
    int64_t all = 0;
    for (int i = 0; i < a->n; i++)
        all += is_inside(a, i, obs) ? c->left[i] : 0;
    if (all == 0)
        return false;

    // the row in which the drawn one of all steps is
    int64_t at = (int64_t)(rh_rng_uniform(rng) * (double)all);
    for (c->row = 0;; c->row++) {
        if (!is_inside(a, c->row, obs))
            continue;
        if (at < c->left[c->row])
            break;
        at -= c->left[c->row];
    }
    for (int k = 0; k < a->nact; k++) {
        double from = a->from[c->row * a->nact + k], to = a->to[c->row * a->nact + k];
        c->act[k] = a->discrete ? from : rh_rng_range(rng, from, to);
    }
    c->hold = RH_ADVICE_HOLD;
    return true;
}

bool rh_advice__follow(rh_advice__course *c, const rh_advice *a, const double *obs, rh_rng *rng,
                       double *act)
{
    bool holds = c->hold > 0 && c->left[c->row] > 0 && is_inside(a, c->row, obs);
    if (!holds) {
        c->hold = 0;
        if (c->rest > 0) {
            c->rest--;
            return false;
        }
        if (!begin_trial(c, a, obs, rng))
            return false;
    }
    c->hold--;
    c->rest += REST;
    c->left[c->row]--;
    memcpy(act, c->act, (size_t)a->nact * sizeof *act);
    return true;
}
