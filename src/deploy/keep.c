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
#include "base/state.h"
#include "deploy.h"
#include "deploy_internal.h"

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
                  forecast_name[] = "forecast", turn_name[] = "turn", limits_name[] = "limits";

// ---------------------------------------------------------------------------- positions

// The first alarms, those that stand together; the two behind them.
enum { NTEST = 8, SILENT = NTEST, BROKEN };
// The first notes, likewise.
enum { NNOTE = 11, NO_ACTION = NNOTE, NO_FALLBACK };

// Numbers of the array `deploy`, in order; 64-bit words are two numbers.
enum {
    P_VERSION,
    P_NSTEP,
    P_NLEARNED,
    P_NEPISODE,
    P_NJUDGED,
    P_TOTAL,
    P_EARNED,
    P_DEFICIT,
    P_ALARMS,
    P_ALARM_STEP,
    P_OUTSIDE,
    P_OUTSIDE_SENSOR,
    P_RNG,
    P_PROMISED = P_RNG + 4,
    P_PROMISED_LO,
    P_LEVEL,
    P_FALSE_ALARMS,
    P_PER_RUN,
    P_PER_STEPS,
    P_COUNT,
    P_PER_1000 = P_COUNT + NNOTE, // states of earlier versions end here
    P_NFAILURE,
    P_OF,
    P_FAILURES,
    P_FAILURES_PROMISED,
    P_FAILURES_UPPER,
    P_FAILURES_LOGGED,
    P_UNUSED,
    P_NGUARDED,
    P_GUARDED,
    P_GUARD_SHARE,
    P_NOTHER,
    P_SINCE,
    P_SURE = P_SINCE + NTEST,
    P_EVIDENCES = P_SURE + NTEST,
    P_MODE = P_EVIDENCES + NTEST,
    P_FALLEN,
    P_MODE_STEP,
    P_NSHADOW,
    P_AGREEMENT,
    P_COVERAGE,
    P_CONTROLLER,
    P_GAIN,
    P_GAIN_LO,
    P_GAIN_HI,
    P_ALLOWED,
    P_NO_ACTION, // a note: earlier states have eleven
    P_SILENT,    // since when: alarm SILENT is no test; earlier states have eight
    P_NSETTING,  // of a trial; earlier states end here
    P_SETTING,
    P_TRIAL,
    P_USED,
    P_OVER,
    P_SETTINGS,                                    // mean, error and steps of each
    P_BROKEN = P_SETTINGS + 3 * (RH_MAX_TIED + 1), // since, sure and evidence of a limit;
                                                   // earlier states end here
    P_NLIMIT = P_BROKEN + 3,
    P_LIMITS, // unit, most, n and of each; earlier states end here
    P_NO_FALLBACK = P_LIMITS + 4 * RH_MAX_LIMITS,
    P_DROPPED, // of each setting
    NPOSITION = P_DROPPED + RH_MAX_TIED + 1
};

static void pack_trial(const rh_deploy_health *h, double p[NPOSITION])
{
    p[P_NSETTING] = h->nsetting;
    p[P_SETTING] = h->setting;
    p[P_TRIAL] = (double)h->trial_steps;
    p[P_USED] = (double)h->trial_used;
    p[P_OVER] = h->trial_over;
    for (int i = 0; i <= RH_MAX_TIED; i++) {
        double *to = p + P_SETTINGS + 3 * i;
        to[0] = h->tried[i].mean;
        to[1] = h->tried[i].error;
        to[2] = (double)h->tried[i].steps;
        p[P_DROPPED + i] = h->tried[i].dropped;
    }
}

static void pack_limits(const rh_deploy_health *h, double p[NPOSITION])
{
    p[P_BROKEN] = (double)h->since[BROKEN];
    p[P_BROKEN + 1] = h->sure[BROKEN];
    p[P_BROKEN + 2] = h->evidence[BROKEN];
    p[P_NLIMIT] = h->nlimit;
    for (int i = 0; i < RH_MAX_LIMITS; i++) {
        const rh_deploy_limit *l = &h->limit[i];
        double *to = p + P_LIMITS + 4 * i;
        to[0] = l->unit;
        to[1] = l->most;
        to[2] = (double)l->n;
        to[3] = (double)l->of;
    }
}

static void pack(const rh_deploy *d, double p[NPOSITION])
{
    const rh_deploy_health *h = &d->health;
    p[P_VERSION] = VERSION;
    p[P_NSTEP] = (double)h->nstep;
    p[P_NLEARNED] = (double)h->nlearned;
    p[P_NEPISODE] = (double)h->nepisode;
    p[P_NJUDGED] = (double)h->njudged;
    p[P_TOTAL] = h->total;
    p[P_EARNED] = h->earned;
    p[P_DEFICIT] = h->deficit;
    p[P_ALARMS] = h->alarms;
    p[P_ALARM_STEP] = (double)h->alarm_step;
    p[P_OUTSIDE] = h->outside;
    p[P_OUTSIDE_SENSOR] = h->outside_sensor;
    for (int i = 0; i < 2; i++) {
        p[P_RNG + 2 * i] = (double)(d->rng.s[i] >> 32);
        p[P_RNG + 2 * i + 1] = (double)(d->rng.s[i] & UINT32_MAX);
    }
    p[P_PROMISED] = h->promised;
    p[P_PROMISED_LO] = h->promised_lo;
    p[P_LEVEL] = h->level;
    p[P_FALSE_ALARMS] = h->false_alarms;
    p[P_PER_RUN] = (double)h->per_run;
    p[P_PER_STEPS] = (double)h->per_steps;
    for (int i = 0; i < NNOTE; i++)
        p[P_COUNT + i] = (double)h->count[i];
    p[P_PER_1000] = h->per_1000;
    p[P_NFAILURE] = (double)h->nfailure;
    p[P_OF] = (double)h->of;
    p[P_FAILURES] = h->failures;
    p[P_FAILURES_PROMISED] = h->failures_promised;
    p[P_FAILURES_UPPER] = h->failures_upper;
    p[P_FAILURES_LOGGED] = h->failures_logged;
    p[P_UNUSED] = NAN;
    p[P_NGUARDED] = (double)h->nguarded;
    p[P_GUARDED] = h->guarded;
    p[P_GUARD_SHARE] = h->guard_share;
    p[P_NOTHER] = (double)h->nother;
    for (int i = 0; i < NTEST; i++) {
        p[P_SINCE + i] = (double)h->since[i];
        p[P_SURE + i] = h->sure[i];
        p[P_EVIDENCES + i] = h->evidence[i];
    }
    p[P_MODE] = h->mode;
    p[P_FALLEN] = h->fallen;
    p[P_MODE_STEP] = (double)h->mode_step;
    p[P_NSHADOW] = (double)h->nshadow;
    p[P_AGREEMENT] = h->agreement;
    p[P_COVERAGE] = h->coverage;
    p[P_CONTROLLER] = h->controller;
    p[P_GAIN] = h->gain;
    p[P_GAIN_LO] = h->gain_lo;
    p[P_GAIN_HI] = h->gain_hi;
    p[P_ALLOWED] = h->allowed;
    p[P_NO_ACTION] = (double)h->count[NO_ACTION];
    p[P_NO_FALLBACK] = (double)h->count[NO_FALLBACK];
    p[P_SILENT] = (double)h->since[SILENT];
    pack_trial(h, p);
    pack_limits(h, p);
}

// A count that a damaged or foreign file may hold too.
static int64_t count_of(double x)
{
    return x >= -1.0 && x <= 9e15 ? (int64_t)x : 0;
}

static void unpack_limits(const double p[NPOSITION], rh_deploy_health *h)
{
    h->nlimit = (int)count_of(p[P_NLIMIT]);
    h->nlimit = h->nlimit < 0 || h->nlimit > RH_MAX_LIMITS ? 0 : h->nlimit;
    for (int i = 0; i < h->nlimit; i++) {
        const double *of = p + P_LIMITS + 4 * i;
        int64_t unit = count_of(of[0]);
        bool known = unit >= RH_PER_1000_STEPS && unit <= RH_PERCENT_OF_EPISODES;
        h->limit[i] = (rh_deploy_limit){.unit = known ? (rh_limit_unit)unit : RH_PER_1000_STEPS,
                                        .most = of[1],
                                        .n = count_of(of[2]),
                                        .of = count_of(of[3])};
    }
}

// What an earlier version did not keep is NAN.
static void unpack(const double *from, size_t n, rh_deploy_health *h)
{
    double p[NPOSITION];
    for (size_t i = 0; i < NPOSITION; i++)
        p[i] = i < n ? from[i] : NAN;
    *h = (rh_deploy_health){.nstep = count_of(p[P_NSTEP]),
                            .nlearned = count_of(p[P_NLEARNED]),
                            .nepisode = count_of(p[P_NEPISODE]),
                            .njudged = count_of(p[P_NJUDGED]),
                            .total = p[P_TOTAL],
                            .earned = p[P_EARNED],
                            .deficit = p[P_DEFICIT],
                            .alarms = (unsigned)count_of(p[P_ALARMS]),
                            .alarm_step = count_of(p[P_ALARM_STEP]),
                            .outside = p[P_OUTSIDE],
                            .outside_sensor = (int)count_of(p[P_OUTSIDE_SENSOR]),
                            .promised = p[P_PROMISED],
                            .promised_lo = p[P_PROMISED_LO],
                            .level = p[P_LEVEL],
                            .false_alarms = p[P_FALSE_ALARMS],
                            .per_run = count_of(p[P_PER_RUN]),
                            .per_steps = count_of(p[P_PER_STEPS])};
    h->saved_step = h->nstep;
    for (int i = 0; i < NNOTE; i++)
        h->count[i] = count_of(p[P_COUNT + i]);
    h->per_1000 = p[P_PER_1000] == 1.0;
    h->nfailure = count_of(p[P_NFAILURE]);
    h->of = count_of(p[P_OF]);
    h->failures = p[P_FAILURES];
    h->failures_promised = p[P_FAILURES_PROMISED];
    h->failures_upper = p[P_FAILURES_UPPER];
    h->failures_logged = p[P_FAILURES_LOGGED];
    h->nguarded = count_of(p[P_NGUARDED]);
    h->guarded = n > P_GUARDED ? p[P_GUARDED] : 0.0;
    h->guard_share = p[P_GUARD_SHARE];
    h->nother = count_of(p[P_NOTHER]);
    for (int i = 0; i < NTEST; i++) {
        h->since[i] = n > P_SINCE ? count_of(p[P_SINCE + i]) : -1;
        h->sure[i] = p[P_SURE + i];
        h->evidence[i] = p[P_EVIDENCES + i];
    }
    h->mode = p[P_MODE] >= RH_MODE_SHADOW && p[P_MODE] <= RH_MODE_CONTROL
                  ? (rh_deploy_mode)p[P_MODE]
                  : RH_MODE_CONTROL;
    h->fallen = p[P_FALLEN] == 1.0;
    h->mode_step = count_of(p[P_MODE_STEP]);
    h->nshadow = count_of(p[P_NSHADOW]);
    h->agreement = p[P_AGREEMENT];
    h->coverage = p[P_COVERAGE];
    h->controller = p[P_CONTROLLER];
    h->gain = p[P_GAIN];
    h->gain_lo = p[P_GAIN_LO];
    h->gain_hi = p[P_GAIN_HI];
    h->allowed = p[P_ALLOWED];
    h->count[NO_ACTION] = count_of(p[P_NO_ACTION]);
    h->count[NO_FALLBACK] = count_of(p[P_NO_FALLBACK]);
    h->nsetting = (int)count_of(p[P_NSETTING]);
    h->nsetting = h->nsetting < 0 || h->nsetting > RH_MAX_TIED + 1 ? 0 : h->nsetting;
    h->setting = (int)count_of(p[P_SETTING]);
    h->trial_steps = count_of(p[P_TRIAL]);
    h->trial_used = count_of(p[P_USED]);
    h->trial_over = p[P_OVER] == 1.0;
    for (int i = 0; i <= RH_MAX_TIED; i++) {
        const double *of = p + P_SETTINGS + 3 * i;
        h->tried[i].mean = of[0];
        h->tried[i].error = of[1];
        h->tried[i].steps = count_of(of[2]);
        h->tried[i].dropped = p[P_DROPPED + i] == 1.0;
    }
    h->since[SILENT] = n > P_SILENT ? count_of(p[P_SILENT]) : -1;
    h->sure[SILENT] = h->evidence[SILENT] = NAN;
    h->since[BROKEN] = n > P_BROKEN ? count_of(p[P_BROKEN]) : -1;
    h->sure[BROKEN] = p[P_BROKEN + 1];
    h->evidence[BROKEN] = p[P_BROKEN + 2];
    unpack_limits(p, h);
}

// The events of the limits, each with a zero behind it.
static void unpack_events(const rh_state *state, rh_deploy_health *h)
{
    const rh_state__array *a = rh_state__find(state, limits_name);
    const char *at = a && a->type == RH_STATE_TEXT ? a->x : NULL, *end = at ? at + a->n : NULL;
    for (int i = 0; at && i < h->nlimit; i++) {
        const char *zero = memchr(at, '\0', (size_t)(end - at));
        if (zero)
            snprintf(h->limit[i].event, sizeof h->limit[i].event, "%s", at);
        at = zero ? zero + 1 : NULL;
    }
}

static rh_status pack_events(const rh_deploy_health *h, rh_state *state, rh_error *err)
{
    char text[RH_MAX_LIMITS * sizeof h->limit->event];
    size_t n = 0;
    for (int i = 0; i < h->nlimit; i++) {
        size_t size = strlen(h->limit[i].event) + 1;
        memcpy(text + n, h->limit[i].event, size);
        n += size;
    }
    return n ? rh_state__put(state, limits_name, RH_STATE_TEXT, text, n, err) : RH_OK;
}

static rh_status find_position(const rh_state *state, const char *path, const double **p,
                               size_t *n, rh_error *err)
{
    *p = rh_state__doubles(state, position_name, n);
    if (*p && *n >= P_PER_1000 && *n <= NPOSITION && (*p)[P_VERSION] == VERSION)
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
    size_t old = offsetof(rh_monitor, limit) / sizeof *from;
    size_t most = n == RH_MONITOR__N ? n : old; // an earlier version knew no limits
    *m = (rh_monitor){0};
    memcpy(m, from, (n < most ? n : most) * sizeof *from);
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
    if (!rc && p[P_NSTEP] == 0.0 && check_setting(d, d->last, NULL)) { // decision 4
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
    if (turn && nturn <= RH_TURN__N)
        memcpy(&d->turn, turn, nturn * sizeof *turn);
    rh_deploy_health now = d->health; // the promise is that of the file
    unpack(p, n, &d->health);
    unpack_events(d->last, &d->health);
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
    for (int i = 0; i < 2; i++)
        d->rng.s[i] = (uint64_t)count_of(p[P_RNG + 2 * i]) << 32 |
                      (uint64_t)count_of(p[P_RNG + 2 * i + 1]);
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
    double position[NPOSITION];
    rh_state *state = NULL;
    rh_status rc = rh_agent_save(d->arm[0].agent, &state, err);
    if (d->phase == RH_DEPLOY__LEARNING)
        d->phase = RH_DEPLOY__SEEING; // saving ends the agent's episode
    if (rc)
        goto done;
    pack(d, position);
    rc = rh_state_put(state, position_name, position, NPOSITION, err);
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
    if (!rc)
        rc = pack_events(&d->health, state, err);
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
    if (!rc) {
        unpack(p, n, out);
        unpack_events(state, out);
    }
    rh_state_destroy(state);
    return rc;
}
