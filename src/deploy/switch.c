// switch.c - tries statistically tied settings of the study on the plant, one after the other.
//
// Each setting is an arm of a bandit with an agent of its own. A trial is cut into units: an
// episode, or UNIT steps of a continuing task. What an arm earns in a unit is taken as normal
// around its mean. Of arm i, with n units of mean y and the promise m with standard error s:
//
//     precision = 1 / (WIDE s)^2 + n / v,   mean = (m / (WIDE s)^2 + n y / v) / precision
//
// v is the variance of units, pooled over the arms. After each unit a number is drawn from
// every arm's distribution, and the arm with the largest acts next (Thompson, 1933).
//
// 1. The promise is of the models, and the plant is another: its error is taken WIDE times.
// 2. Only units count in which every action was the arm's own. While the fallback acts, and in
//    shadow and advice, the trial waits. Guard, limits and alarms are those of any deployment.
//    A unit that a restart or a plant that begins anew cuts off is left out.
// 3. After the stated number of steps the arm with the highest mean stays.
// 4. Agents that can (took) learn from what the acting one does; the others wait as they are.
// 5. Agents learn, so old units say less: the weight of earlier ones falls by KEEP per unit.
// 6. A setting that fails more often than the upper end of what is promised of the chosen one,
//    or breaks a limit, acts no more. The tests are those of the alarms (bets.c), of the share
//    of its own units; all together have one stake. The last setting is never dropped: then the
//    alarms and the fallback remain.
// 7. All numbers, agents included, are saved with the deployment. The draws are of the stream
//    of the seed, so the same messages give the same trial.

#include "base/base.h"
#include "base/base_internal.h"
#include "deploy_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define UNIT 100.0 // steps; as in turn.c
#define WIDE 2.0   // decision 1; by hand
#define KEEP 0.95  // decision 5; by hand

// ---------------------------------------------------------------------------- opening

// The promise of arm i in its units: mean and standard error.
static void promise_of(const rh_deploy *d, int i, double *mean, double *error)
{
    const rh_best *best = d->best;
    const rh_promise *p = &best->promise;
    const rh_tied *t = i ? &best->tied[i - 1] : NULL;
    double per = best->task.continuing && p->per_steps ? UNIT / (double)p->per_steps : 1.0;
    double lo = t ? t->lo95 : p->lo95, hi = t ? t->hi95 : p->hi95;
    *mean = per * (t ? t->score : p->score);
    *error = per * (hi - lo) / (2.0 * 1.96); // of a 95 % interval
    if (!isfinite(*mean))
        *mean = 0.0;
    if (!(*error > 0.0) || !isfinite(*error)) // no interval: as uncertain as it is large
        *error = fmax(fabs(*mean), 1.0);
}

// Copy the arrays of `from` into `to`, with "i/" before their names, or those with it without.
static rh_status copy(rh_state *to, const rh_state *from, int i, bool out, rh_error *err)
{
    char begins[16], name[256];
    int length = snprintf(begins, sizeof begins, "%d/", i);
    rh_status rc = RH_OK;
    for (int k = 0; !rc && k < rh_state__count(from); k++) {
        const char *is;
        size_t n;
        const double *x = rh_state__at(from, k, &is, &n);
        bool ours = strncmp(is, begins, (size_t)length) == 0;
        snprintf(name, sizeof name, "%s%s", out ? begins : "", out ? is : is + length);
        if (x && (out || ours))
            rc = rh_state_put(to, name, x, n, err);
    }
    return rc;
}

static rh_status load(rh_deploy *d, int i, rh_error *err)
{
    rh_state *state = NULL;
    rh_status rc = rh_state__create(&state, err);
    if (!rc)
        rc = copy(state, d->last, i, false, err);
    if (!rc)
        rc = rh_state__set_label(state, d->arm[i].type->name, err);
    if (!rc)
        rc = rh_agent_load(d->arm[i].agent, state, err);
    rh_state_destroy(state);
    return rc;
}

static rh_status make(rh_deploy *d, int i, rh_error *err)
{
    rh_deploy__arm *a = &d->arm[i];
    const rh_tied *t = &d->best->tied[i - 1];
    a->type = t->agent;
    a->hp = t->hp;
    a->rng = rh_rng_stream(d->opt.seed, RH_STREAM_AGENT, 2, (uint64_t)i);
    return rh_agent_create(&a->agent, a->type, &d->best->task, a->hp, err);
}

// What was violated so far is not of the unit that begins.
static void begin_unit(rh_deploy *d)
{
    const rh_deploy_health *h = &d->health;
    rh_switch *s = &d->trial;
    s->back = s->nback = s->holed = s->over = 0.0;
    s->seen[0][0] = (double)h->nfailure;
    s->seen[0][1] = (double)h->of;
    for (int i = 0; i < h->nlimit; i++) {
        s->seen[1 + i][0] = (double)h->limit[i].n;
        s->seen[1 + i][1] = (double)h->limit[i].of;
    }
}

// A trial that was saved. False: there is none of these settings.
static bool saved(rh_deploy *d)
{
    size_t n = 0;
    const double *x = d->last ? rh_state__doubles(d->last, RH_SWITCH__NAME, &n) : NULL;
    if (!x || (n != RH_SWITCH__N && n != offsetof(rh_switch, seen) / sizeof *x))
        return false;
    memcpy(&d->trial, x, n * sizeof *x);
    const rh_switch *s = &d->trial;
    bool known = s->narm == d->best->ntied + 1 && s->now >= 0.0 && s->now < s->narm;
    if (!known)
        d->trial = (rh_switch){0};
    return known;
}

rh_status rh_switch__open(rh_deploy *d, rh_error *err)
{
    d->arm[0] = (rh_deploy__arm){.agent = d->agent,
                                 .type = d->best->agent,
                                 .hp = d->best->hp,
                                 .rng = rh_rng_stream(d->opt.seed, RH_STREAM_AGENT, 2, 0)};
    bool resumed = saved(d);
    if (!resumed && d->opt.switch_steps == 0)
        return RH_OK;
    if (d->best->ntied == 0)
        return rh_fail(err, RH_EINVAL,
                       "switch: best.yaml has no other settings to try, expected some that are "
                       "tied with the chosen one");
    if (!resumed)
        d->trial = (rh_switch){.narm = d->best->ntied + 1.0};
    if (!resumed || d->trial.nback == 0.0)
        begin_unit(d);
    if (d->opt.switch_steps)
        d->trial.steps = (double)d->opt.switch_steps;
    rh_status rc = RH_OK;
    for (int i = 1; !rc && i < (int)d->trial.narm; i++) {
        rc = make(d, i, err);
        if (!rc && resumed)
            rc = load(d, i, err);
        if (!rc)
            rh_agent_freeze(d->arm[i].agent, d->opt.frozen);
    }
    d->draws = rh_rng_stream(d->opt.seed, RH_STREAM_AGENT, 3, (uint64_t)d->trial.ndraw);
    d->agent = d->arm[(int)d->trial.now].agent;
    if (!rc)
        rh_switch__tell(d);
    return rc;
}

// The first arm is always there.
void rh_switch__close(rh_deploy *d)
{
    if (d->arm[0].agent)
        d->agent = d->arm[0].agent;
    for (int i = 1; i <= RH_MAX_TIED; i++)
        rh_agent_destroy(d->arm[i].agent);
}

rh_status rh_switch__save(rh_deploy *d, rh_state *state, rh_error *err)
{
    if (d->trial.narm == 0.0)
        return RH_OK;
    rh_status rc =
        rh_state_put(state, RH_SWITCH__NAME, (const double *)&d->trial, RH_SWITCH__N, err);
    for (int i = 1; !rc && i < (int)d->trial.narm; i++) {
        rh_state *own = NULL;
        rc = rh_agent_save(d->arm[i].agent, &own, err);
        if (!rc)
            rc = copy(state, own, i, true, err);
        rh_state_destroy(own);
        d->arm[i].shown = false; // saving ends its episode
    }
    return rc;
}

// ---------------------------------------------------------------------------- the others

void rh_switch__learn(rh_deploy *d, const double *act, double reward, const double *obs,
                      bool terminal)
{
    double wish[RH_MAX_ACT];
    for (int i = 0; i < (int)d->trial.narm; i++) {
        rh_deploy__arm *a = &d->arm[i];
        bool healthy = true;
        if (a->agent == d->agent || !a->type->took || d->trial.done != 0.0)
            continue;
        bool learns = a->shown && act && isfinite(reward);
        if (learns)
            (void)rh_contract__agent_took(a->agent, act);
        if (learns && terminal)
            healthy = rh_agent_end(a->agent, reward);
        else if (learns && obs)
            healthy = rh_agent_step(a->agent, reward, obs, &a->rng, wish);
        else if (obs && !terminal)
            healthy = rh_agent_start(a->agent, obs, &a->rng, wish);
        a->shown = obs && !terminal;
        if (!healthy) {
            (void)rh_contract__agent_reset(a->agent, &d->best->task, a->hp, NULL);
            rh_agent_freeze(a->agent, d->opt.frozen);
            a->shown = false;
        }
    }
}

// ---------------------------------------------------------------------------- the trial

// The mean of arm i and its standard deviation.
static void believed(const rh_deploy *d, int i, double *mean, double *error)
{
    const rh_switch *s = &d->trial;
    double squares = 0.0, n = 0.0, m, e;
    promise_of(d, i, &m, &e);
    for (int k = 0; k < (int)s->narm; k++) {
        squares += s->arm[k].squares;
        n += fmax(0.0, s->arm[k].n - 1.0);
    }
    double v = n >= 1.0 && squares > 0.0 ? squares / n : WIDE * WIDE * e * e;
    double prior = 1.0 / (WIDE * WIDE * e * e), seen = s->arm[i].n / v;
    *mean = (prior * m + seen * s->arm[i].mean) / (prior + seen);
    *error = sqrt(1.0 / (prior + seen));
}

// Decision 5: the unit that is over.
static void add_unit(rh_switch__arm *a, double y)
{
    a->squares *= KEEP;
    a->n *= KEEP;
    double off = y - a->mean;
    a->n++;
    a->mean += off / a->n;
    a->squares += off * (y - a->mean);
}

static void choose(rh_deploy *d, bool draw)
{
    rh_switch *s = &d->trial;
    double most = -INFINITY, mean, error, z[2];
    int next = (int)s->now;
    for (int i = 0; i < (int)s->narm; i++) {
        if (s->risk[i].dropped != 0.0)
            continue;
        believed(d, i, &mean, &error);
        if (draw) {
            d->draws = rh_rng_stream(d->opt.seed, RH_STREAM_AGENT, 3, (uint64_t)s->ndraw++);
            rh_rng_normal(&d->draws, z);
            mean += error * z[0];
        }
        if (mean > most) {
            most = mean;
            next = i;
        }
    }
    if (next == (int)s->now)
        return;
    d->arm[(int)s->now].shown = d->arm[next].shown = false;
    s->now = next;
    s->skip = d->best->task.continuing ? 1.0 : 0.0; // its reward is still of the other
    d->agent = d->arm[next].agent;
    if (d->phase == RH_DEPLOY__LEARNING)
        d->phase = RH_DEPLOY__SEEING;
    if (!rh_record__switch(&d->record, d->health.nstep, next, d->arm[next].type->name,
                           draw ? NULL : "stays"))
        rh_monitor__raise(&d->health, RH_ALARM_DISK);
}

// Decision 6: a bet of the unit that is over, on failures (0) or on a limit.
static void bet(rh_deploy *d, int j, double n, double of)
{
    const rh_deploy_health *h = &d->health;
    rh_switch__risk *r = &d->trial.risk[(int)d->trial.now];
    double most = j ? h->limit[j - 1].most : h->failures_upper;
    most /= j == 0 && h->per_1000 ? 1000.0 : 1.0;
    n -= d->trial.seen[j][0];
    of -= d->trial.seen[j][1];
    if (isnan(most) || !(of > 0.0))
        return;
    if (most > 0.0)
        r->worth[j] = rh_bets__add(&r->bets[j], fmin(most, 1.0), fmin(n / of, 1.0));
    else if (n > 0.0) // as in monitor_limits.c
        r->worth[j] = RH_BETS__LEVEL * (1 + RH_MAX_LIMITS);
}

// Drop the setting that acts if it is too risky, and another one is left.
static void weigh(rh_deploy *d)
{
    const rh_deploy_health *h = &d->health;
    rh_switch *s = &d->trial;
    rh_switch__risk *r = &s->risk[(int)s->now];
    bool failures = !isnan(h->failures_upper);
    double worth = 0.0;
    int left = 0, ntest = failures + h->nlimit;
    bet(d, 0, (double)h->nfailure, (double)h->of);
    for (int i = 0; i < h->nlimit; i++)
        bet(d, 1 + i, (double)h->limit[i].n, (double)h->limit[i].of);
    for (int j = 0; j <= h->nlimit; j++)
        worth += r->worth[j] / ntest;
    for (int i = 0; i < (int)s->narm; i++)
        left += s->risk[i].dropped == 0.0;
    if (ntest == 0 || worth < RH_BETS__LEVEL || left < 2)
        return;
    r->dropped = 1.0;
    if (!rh_record__switch(&d->record, h->nstep, (int)s->now, d->arm[(int)s->now].type->name,
                           "dropped"))
        rh_monitor__raise(&d->health, RH_ALARM_DISK);
}

void rh_switch__count(rh_deploy *d, double reward, bool own, bool ended)
{
    rh_switch *s = &d->trial;
    bool continuing = d->best->task.continuing;
    if (s->narm == 0.0 || s->done != 0.0)
        return;
    if (s->skip != 0.0) {
        s->skip = 0.0;
        return;
    }
    s->holed = !own || !isfinite(reward) || s->holed != 0.0;
    s->back += isfinite(reward) ? reward : 0.0;
    s->nback++;
    s->used += own;
    s->arm[(int)s->now].steps += own;
    s->over = continuing ? s->nback >= UNIT : ended;
}

void rh_switch__begin(rh_deploy *d, bool whole)
{
    rh_switch *s = &d->trial;
    if (s->narm == 0.0 || s->done != 0.0)
        return;
    s->skip = 0.0; // the reward of the other never came
    begin_unit(d);
    s->holed = !whole && !d->best->task.continuing;
}

void rh_switch__turn(rh_deploy *d)
{
    rh_switch *s = &d->trial;
    if (s->narm == 0.0 || s->done != 0.0 || s->over == 0.0)
        return;
    if (s->holed == 0.0) { // decision 2
        add_unit(&s->arm[(int)s->now], s->back);
        weigh(d);
    }
    begin_unit(d);
    s->done = s->used >= s->steps;
    choose(d, s->done == 0.0);
    rh_switch__tell(d);
}

void rh_switch__tell(rh_deploy *d)
{
    const rh_switch *s = &d->trial;
    rh_deploy_health *h = &d->health;
    h->nsetting = (int)s->narm;
    h->setting = (int)s->now;
    h->trial_steps = (int64_t)s->steps;
    h->trial_used = (int64_t)s->used;
    h->trial_over = s->done != 0.0;
    for (int i = 0; i < h->nsetting; i++) {
        double per = 1.0;
        if (d->best->task.continuing && d->best->promise.per_steps)
            per = (double)d->best->promise.per_steps / UNIT;
        rh_deploy_tried *tried = &h->tried[i];
        believed(d, i, &tried->mean, &tried->error);
        tried->mean *= per;
        tried->error *= per;
        tried->steps = (int64_t)s->arm[i].steps;
        tried->dropped = s->risk[i].dropped != 0.0;
    }
}
