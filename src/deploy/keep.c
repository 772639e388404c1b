// keep.c - the folder of a deployment: its lock, what was learned, and status.json.
//
// 1. agent.state is the agent's state as `run --save` writes it, with arrays more: `deploy`,
//    the position, `monitor`, `forecast` and `turn`. It is replaced as a whole, synced before
//    renamed. After a kill the agent goes on from there; the log may be ahead of it by what was
//    not saved.
// 2. Hyperparameters of another best.yaml are refused: what was learned with one step size may
//    be no use with another. --load takes it over on purpose, in a new folder.
// 3. The number of the last observation is not kept: a plant that was restarted too may count
//    from 0 again. The first observation is never learned from.
// 4. A state of no steps was saved when the folder was made: another best.yaml may replace it.
// 5. A lock of the system (fcntl) on deploy.lock: two agents on one plant would be a disaster.
//    It is gone with the process, however that ends.

#include "base/base.h"
#include "base/base_internal.h"
#include "base/file.h"
#include "deploy.h"
#include "deploy_internal.h"
#include "describe/field.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 4096
#define VERSION 1.0 // of the arrays in agent.state

static const char position_name[] = "deploy", monitor_name[] = "monitor",
                  forecast_name[] = "forecast", turn_name[] = "turn";

// ---------------------------------------------------------------------------- positions

// The array `deploy`: its version, the health, within it the random stream (a 64-bit word is
// two numbers), behind it mean, error and steps of the settings of a trial.
enum { NRNG = 4, NSETTINGS = 3 * (RH_MAX_TIED + 1) };

#define AT(member) RH_FIELD__AT(rh_deploy_health, member)
#define AS(as, member) RH_FIELD__AS(as, rh_deploy_health, member)
#define ARRAY(member, length)                                                                  \
    RH_FIELD__ARRAY(rh_deploy_health, member), .count = RH_COUNT_FIXED, .n = (length)
static const rh_field position[] = {
    {"nstep", AT(nstep)},
    {"nlearned", AT(nlearned)},
    {"nepisode", AT(nepisode)},
    {"njudged", AT(njudged)},
    {"total", AT(total)},
    {"earned", AT(earned)},
    {"deficit", AT(deficit)},
    {"alarms", AS(RH_FIELD_WHOLE, alarms)},
    {"alarm_step", AS(RH_FIELD_PLACE, alarm_step)},
    {"outside", AT(outside)},
    {"outside_sensor", AS(RH_FIELD_PLACE, outside_sensor)},
    {"rng", RH_FIELD__CALL, .count = RH_COUNT_FIXED, .n = NRNG},
    {"promised", AT(promised)},
    {"promised_lo", AT(promised_lo)},
    {"level", AT(level)},
    {"false_alarms", AT(false_alarms)},
    {"per_run", AT(per_run)},
    {"per_steps", AT(per_steps)},
    {"count", ARRAY(count, RH_NNOTE - 1)}, // the last note has its place below
    {"per_1000", AT(per_1000)},            // may be missing from here on
    {"nfailure", AT(nfailure)},
    {"of", AT(of)},
    {"failures", AT(failures)},
    {"failures_promised", AT(failures_promised)},
    {"failures_upper", AT(failures_upper)},
    {"failures_logged", AT(failures_logged)},
    {"unused", RH_FIELD__CALL},
    {"nguarded", AT(nguarded)},
    {"guarded", AT(guarded)},
    {"guard_share", AT(guard_share)},
    {"nother", AT(nother)},
    {"since", ARRAY(since, RH_NALARM - 1)}, // the last alarm, too
    {"sure", ARRAY(sure, RH_NALARM - 1)},
    {"evidence", ARRAY(evidence, RH_NALARM - 1)},
    {"mode", AS(RH_FIELD_WHOLE, mode)},
    {"fallen", AT(fallen)},
    {"mode_step", AT(mode_step)},
    {"nshadow", AT(nshadow)},
    {"agreement", AT(agreement)},
    {"coverage", AT(coverage)},
    {"controller", AT(controller)},
    {"gain", AT(gain)},
    {"gain_lo", AT(gain_lo)},
    {"gain_hi", AT(gain_hi)},
    {"allowed", AT(allowed)},
    {"no_action", AT(count[RH_NNOTE - 1])},
    {"silent", AS(RH_FIELD_PLACE, since[RH_NALARM - 1])},
    {"nsetting", AT(nsetting)},
    {"setting", AT(setting)},
    {"trial_steps", AT(trial_steps)},
    {"trial_used", AT(trial_used)},
    {"trial_over", AT(trial_over)},
};
#undef AT
#undef AS
#undef ARRAY

#define MOST 128 // numbers of the array, at most

// Where row number k begins; behind the last row: where the settings do.
static size_t place_of(size_t k)
{
    size_t at = 1; // the version
    for (size_t i = 0; i < k; i++)
        at += position[i].count == RH_COUNT_FIXED ? position[i].n : 1;
    return at;
}

static size_t place(const char *name)
{
    size_t k = 0;
    while (strcmp(position[k].name, name) != 0)
        k++;
    return place_of(k);
}

static size_t nposition(void)
{
    return place_of(sizeof position / sizeof *position) + NSETTINGS;
}

static void pack(const rh_deploy *d, double p[MOST])
{
    const rh_deploy_health *h = &d->health;
    size_t at = 0;
    assert(nposition() <= MOST);
    p[at++] = VERSION;
    for (size_t k = 0; k < sizeof position / sizeof *position; k++) {
        const rh_field *f = &position[k];
        size_t n = f->count == RH_COUNT_FIXED ? f->n : 1;
        for (size_t i = 0; i < n; i++)
            p[at++] = f->type == RH_FIELD_CALL
                          ? (double)NAN
                          : rh_field__number(f, (const char *)h + f->at + i * f->size);
    }
    for (int i = 0; i <= RH_MAX_TIED; i++) {
        p[at++] = h->tried[i].mean;
        p[at++] = h->tried[i].error;
        p[at++] = (double)h->tried[i].steps;
    }
    double *rng = p + place("rng");
    for (int i = 0; i < 2; i++) {
        rng[2 * i] = (double)(d->rng.s[i] >> 32);
        rng[2 * i + 1] = (double)(d->rng.s[i] & UINT32_MAX);
    }
}

// A count that a damaged or foreign file may hold too.
static int64_t count_of(double x)
{
    return x >= -1.0 && x <= 9e15 ? (int64_t)x : 0;
}

// What an earlier version did not keep is NAN, 0 or -1.
static void unpack(const double *from, size_t n, rh_deploy_health *h)
{
    double p[MOST];
    size_t at = 1;
    for (size_t i = 0; i < nposition(); i++)
        p[i] = i < n ? from[i] : NAN;
    *h = (rh_deploy_health){.mode = RH_MODE_CONTROL};
    for (int i = 0; i < RH_NALARM; i++)
        h->since[i] = -1;
    for (size_t k = 0; k < sizeof position / sizeof *position; k++) {
        const rh_field *f = &position[k];
        size_t count = f->count == RH_COUNT_FIXED ? f->n : 1;
        for (size_t i = 0; i < count; i++, at++)
            if (f->type != RH_FIELD_CALL)
                rh_field__set(f, (char *)h + f->at + i * f->size, p[at]);
    }
    for (int i = 0; i <= RH_MAX_TIED; i++, at += 3)
        h->tried[i] = (rh_deploy_tried){p[at], p[at + 1], count_of(p[at + 2])};
    h->saved_step = h->nstep;
    h->guarded = isnan(h->guarded) ? 0.0 : h->guarded;
    if (h->mode != RH_MODE_SHADOW && h->mode != RH_MODE_ADVICE)
        h->mode = RH_MODE_CONTROL;
    h->nsetting = h->nsetting > RH_MAX_TIED + 1 ? 0 : h->nsetting;
    h->sure[RH_NALARM - 1] = h->evidence[RH_NALARM - 1] = NAN;
}

static rh_status find_position(const rh_state *state, const char *path, const double **p,
                               size_t *n, rh_error *err)
{
    *p = rh_state__doubles(state, position_name, n);
    if (*p && *n >= place("per_1000") && *n <= nposition() && **p == VERSION)
        return RH_OK;
    return rh_fail(err, RH_EFORMAT, "%s: %s, expected the state of a deployment",
                   rh_base__path_tail(path), *p ? "of another version" : "no position");
}

// An earlier version kept less, or one more series behind it.
static rh_status find_monitor(const rh_state *state, const char *path, rh_monitor *m,
                              rh_error *err)
{
    size_t n = 0;
    const double *from = rh_state__doubles(state, monitor_name, &n);
    if (!from || n < offsetof(rh_monitor, guarded) / sizeof *from)
        return rh_fail(err, RH_EFORMAT, "%s: no monitor, expected the state of a deployment",
                       rh_base__path_tail(path));
    *m = (rh_monitor){0};
    memcpy(m, from, (n < RH_MONITOR__N ? n : RH_MONITOR__N) * sizeof *from);
    return RH_OK;
}

// ---------------------------------------------------------------------------- the folder

static rh_status lock(rh_deploy *d, rh_error *err)
{
    char path[PATH];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    snprintf(path, sizeof path, "%s/deploy.lock", d->folder);
    d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, RH_DEPLOY__RIGHTS(d));
    if (d->lock < 0)
        return rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                       strerror(errno));
    if (fcntl(d->lock, F_SETLK, &whole) != 0)
        return rh_fail(err, RH_EIO, "%s: another process deploys in this folder",
                       rh_base__path_tail(d->folder));
    return RH_OK;
}

// Decision 2.
static rh_status check_setting(const rh_deploy *d, const rh_state *state, rh_error *err)
{
    size_t n = 0;
    const rh_agent_type *type = d->best->agent;
    const double *hp = rh_state__doubles(state, "hyperparameters", &n);
    for (int i = 0; hp && i < type->nparam && (size_t)i < n; i++)
        if (hp[i] != d->best->hp[i]) {
            char was[40], is[40];
            rh_param__format(&type->param[i], hp[i], was, sizeof was);
            rh_param__format(&type->param[i], d->best->hp[i], is, sizeof is);
            return rh_fail(err, RH_EINVAL,
                           "%s: learned with %s = %s, best.yaml has %s; use another folder, "
                           "with --load %s/agent.state to begin from what was learned",
                           rh_base__path_tail(d->folder), type->param[i].name, was, is,
                           rh_base__path_tail(d->folder));
        }
    return RH_OK;
}

static rh_status take_up(rh_deploy *d, const char *path, rh_error *err)
{
    const double *p = NULL;
    size_t n = 0;
    rh_status rc = rh_state_read(&d->last, path, err);
    if (!rc)
        rc = find_position(d->last, path, &p, &n, err);
    if (!rc && p[place("nstep")] == 0.0 && check_setting(d, d->last, NULL)) { // decision 4
        rh_state_destroy(d->last);
        d->last = NULL;
        return RH_OK;
    }
    if (!rc)
        rc = check_setting(d, d->last, err);
    if (!rc)
        rc = rh_agent_load(d->agent, d->last, err);
    if (!rc)
        rc = find_monitor(d->last, path, &d->monitor, err);
    if (rc)
        return rc;
    size_t nforecast = 0;
    const double *forecast = rh_state__doubles(d->last, forecast_name, &nforecast);
    if (forecast)
        rh_forecast__load(d->forecast, forecast, nforecast);
    size_t nturn = 0;
    const double *turn = rh_state__doubles(d->last, turn_name, &nturn);
    if (turn && nturn == RH_TURN__N)
        memcpy(&d->turn, turn, sizeof d->turn);
    rh_deploy_health now = d->health; // the promise is that of the file
    unpack(p, n, &d->health);
    d->health.promised = now.promised;
    d->health.promised_lo = now.promised_lo;
    double evidence;
    d->health.level =
        isnan(now.level) ? NAN : rh_monitor__level(&d->monitor, &d->best->promise, &evidence);
    d->health.false_alarms = now.false_alarms;
    d->health.per_run = now.per_run;
    d->health.per_steps = now.per_steps;
    rh_monitor__promise_failures(&d->health, d->best);
    d->health.guard_share = now.guard_share;
    if (!(d->monitor.point >= 0.0 && d->monitor.point < fmax(1.0, d->best->promise.ncurve)))
        d->monitor = (rh_monitor){.trained = 1.0}; // of another promise
    const double *rng = p + place("rng");
    for (int i = 0; i < 2; i++)
        d->rng.s[i] = (uint64_t)count_of(rng[2 * i]) << 32 | (uint64_t)count_of(rng[2 * i + 1]);
    return RH_OK;
}

rh_status rh_keep__open(rh_deploy *d, rh_error *err)
{
    char path[PATH];
    if (strlen(d->folder) > PATH - 64)
        return rh_fail(err, RH_EINVAL, "deploy: the folder's name is too long");
    if (mkdir(d->folder, 0777) != 0 && errno != EEXIST)
        return rh_fail(err, RH_EIO, "%s: cannot create: %s", rh_base__path_tail(d->folder),
                       strerror(errno));
    rh_status rc = lock(d, err);
    if (!rc)
        rc = rh_record__open(&d->record, d->folder, RH_DEPLOY__RIGHTS(d), err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/status.json", d->folder);
    rh_file__clean(path);
    snprintf(path, sizeof path, "%s/agent.state", d->folder);
    rh_file__clean(path);
    if (access(path, F_OK) == 0)
        rc = take_up(d, path, err);
    bool begun = d->record.size > 0 || d->health.nstep > 0;
    d->phase = begun ? RH_DEPLOY__RESUMED : RH_DEPLOY__BETWEEN;
    return rc;
}

// ---------------------------------------------------------------------------- saving

static rh_status write_status(const rh_deploy *d, rh_error *err)
{
    char path[PATH];
    rh_file *file = NULL;
    snprintf(path, sizeof path, "%s/status.json", d->folder);
    char *text = rh_deploy__health_json(&d->health, d->best);
    if (!text)
        return rh_base__no_memory(err, rh_base__path_tail(path));
    rh_status rc = d->opt.shared ? rh_file__create(&file, path, err)
                                 : rh_file__create_private(&file, path, err);
    if (!rc) {
        FILE *stream = rh_file__stream(file);
        if (!stream || fputs(text, stream) == EOF) {
            rh_file__discard(file);
            rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path),
                         strerror(errno));
        } else
            rc = rh_file__commit(file, err);
    }
    rh_free(text);
    return rc;
}

rh_status rh_keep__save(rh_deploy *d, rh_error *err)
{
    char path[PATH];
    double numbers[MOST];
    rh_state *state = NULL;
    rh_status rc = rh_agent_save(d->arm[0].agent, &state, err);
    if (d->phase == RH_DEPLOY__LEARNING)
        d->phase = RH_DEPLOY__SEEING; // saving ends the agent's episode
    if (rc)
        goto done;
    pack(d, numbers);
    rc = rh_state_put(state, position_name, numbers, nposition(), err);
    if (!rc)
        rc = rh_state_put(state, monitor_name, (const double *)&d->monitor, RH_MONITOR__N, err);
    size_t n = 0;
    const double *forecast = rh_forecast__saved(d->forecast, &n);
    if (!rc)
        rc = rh_state_put(state, forecast_name, forecast, n, err);
    if (!rc)
        rc = rh_switch__save(d, state, err);
    if (!rc)
        rc = rh_state_put(state, turn_name, (const double *)&d->turn, RH_TURN__N, err);
    if (rc)
        goto done;
    if (d->folder) {
        snprintf(path, sizeof path, "%s/agent.state", d->folder);
        rc = d->opt.shared ? rh_state_write(state, path, err)
                           : rh_state__write_private(state, path, err);
        d->health.saved_step = rc ? d->health.saved_step : d->health.nstep;
        if (!rc)
            rc = write_status(d, err);
    }
    rh_state_destroy(d->last); // to go back to, even if the disk is full
    d->last = state;
    state = NULL;

done:
    rh_state_destroy(state);
    return rc;
}

rh_status rh_deploy__health_read(rh_deploy_health *out, const char *folder, rh_error *err)
{
    char path[PATH];
    const double *p = NULL;
    size_t n = 0;
    rh_state *state = NULL;
    if (strlen(folder) > PATH - 64)
        return rh_fail(err, RH_EINVAL, "deploy: the folder's name is too long");
    snprintf(path, sizeof path, "%s/agent.state", folder);
    rh_status rc = rh_state_read(&state, path, err);
    if (!rc)
        rc = find_position(state, path, &p, &n, err);
    if (!rc)
        unpack(p, n, out);
    rh_state_destroy(state);
    return rc;
}
