// export.c - the agent of best.yaml as one C file for devices.
//
// The file has a comment that says what is in it, declarations, the constants of this agent
// (agent/device.c) and the code that uses them (device/*.c.in). It does what deploy.c does in
// control: what may be learned from, and the guard's actions and limits.
//
// 1. Agents with networks do not learn on a device: their replay memories and batches are much
//    larger than its memory. They act as deployed with --freeze.
// 2. One that begins with the log is exported as it is before its first step, after its updates
//    from the log. Its first observation, which sets scales, is the first of the log.
// 3. What a device has no use for is refused, not left out: a fallback that is a program, a
//    blend, steps up, and gaps in seconds. So are sensors that are made by formulas.
// 4. The reward is what the program on the device says it is. The formula is in the comment.

#include "deploy.h"

#include "agent/agent.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "base/file.h"
#include "deploy_internal.h"
#include "export.h"
#include "log/log.h"

#include <math.h>
#include <string.h>

#define COOKIE 0x6578706fu
#define OWN 24      // bytes of struct agent beside what is in arrays: stream, tag, flags
#define SHOWN 120   // characters of a name
#define NORMAL 1024 // bytes of a KB

typedef struct job {
    const char *path;
    rh_export_options opt;
    rh_best *best;
    rh_guard guard;
    rh_agent *agent;
    rh_rng rng;
    rh_agent__device device;
    rh_text text;
    int nsensor, stack, ncode; // history (log/observer.h)
    int64_t state;             // bytes of struct agent
} job;

rh_export_options rh_export_defaults(void)
{
    return (rh_export_options){.memory = 64 * NORMAL, .seed = 1, .cookie = COOKIE};
}

// ---------------------------------------------------------------------------- what is refused

static rh_status check_options(const rh_export_options *opt, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL,
                       "export: options not set, expected those of rh_export_defaults()");
    if (opt->memory < 1)
        return rh_fail(err, RH_EINVAL, "export: memory = %lld, expected 1 or more",
                       (long long)opt->memory);
    return RH_OK;
}

static rh_status check_guard(const job *j, rh_error *err)
{
    const rh_guard *g = &j->guard;
    const char *key = NULL;
    key = isfinite(g->max_gap) ? "max_gap" : key;
    key = g->steps_up ? "step_up" : key;
    key = !isnan(g->blend_away) ? "blend" : key;
    key = g->fallback != RH_FALLBACK_DEFAULT ? "fallback" : key;
    if (key)
        return rh_fail(err, RH_EINVAL,
                       "%s: %s cannot be exported, expected safe_action, forbidden, limits and "
                       "trip only",
                       rh_base__path_tail(j->opt.guard), key);
    return RH_OK;
}

static rh_status check_best(job *j, const char *path, rh_error *err)
{
    const rh_best *b = j->best;
    const char *name = rh_base__path_tail(path);
    if (!b->tasked)
        return rh_fail(err, RH_EFORMAT,
                       "%s: no section task, expected best.yaml of a study with a model", name);
    if (b->derive && *b->derive)
        return rh_fail(err, RH_EINVAL,
                       "%s: sensors made by formulas (derive: %.100s) cannot be exported, "
                       "expected sensors that the plant sends",
                       name, b->derive);
    j->nsensor = b->nsent;
    j->stack = b->stack > 1 ? b->stack : 1;
    int naction = b->task.naction;
    j->ncode = naction == 2 ? 1 : naction ? naction : b->task.nact; // log/observer.c
    return RH_OK;
}

// The largest setting that fits, in words; "" without one.
static void advise(const job *j, char *text, size_t size)
{
    const rh_best *b = j->best;
    double hp[RH_MAX_PARAM];
    int n = b->agent->nparam, at = rh_param_find(b->agent->param, n, "tilings");
    memcpy(hp, b->hp, (size_t)n * sizeof *hp);
    text[0] = 0;
    for (hp[at] = floor(hp[at] / 2.0); hp[at] >= 1.0; hp[at] = floor(hp[at] / 2.0)) {
        int64_t room = rh_agent__device_room(&b->task, hp);
        if (room < 0 || room + (j->state - j->device.state) > j->opt.memory)
            continue;
        snprintf(text, size, "; with tilings=%g it needs %.1f KB", hp[at],
                 (double)(room + j->state - j->device.state) / NORMAL);
        return;
    }
}

static rh_status check_size(const job *j, rh_error *err)
{
    char text[80] = "", weights[60] = "";
    if (j->state <= j->opt.memory)
        return RH_OK;
    if (j->device.learns) {
        advise(j, text, sizeof text);
        snprintf(weights, sizeof weights, " for %lld weights", (long long)j->device.nweight);
    }
    return rh_fail(err, RH_EINVAL,
                   "export: %s needs %.1f KB of memory%s, expected at most %.1f (--memory)%s",
                   j->best->agent->name, (double)j->state / NORMAL, weights,
                   (double)j->opt.memory / NORMAL, text);
}

// ---------------------------------------------------------------------------- the agent

// Decision 2.
static rh_status begin_with_log(job *j, rh_error *err)
{
    const rh_best *b = j->best;
    int at = rh_param_find(b->agent->param, b->agent->nparam, RH_START_PARAM);
    double act[RH_MAX_ACT];
    if (at < 0 || !b->agent->save || b->hp[at] == 0.0 || !b->task.prior.n)
        return RH_OK;
    if (!rh_agent_start(j->agent, b->task.prior.row, &j->rng, act))
        return rh_fail(err, RH_EINVAL, "export: %s diverged while it learned from the log",
                       b->agent->name);
    return RH_OK;
}

static rh_status make_agent(job *j, rh_error *err)
{
    rh_state *state = NULL;
    const rh_best *b = j->best;
    rh_status rc = rh_agent_create(&j->agent, b->agent, &b->task, b->hp, err);
    if (!rc && j->opt.state)
        rc = rh_state_read(&state, j->opt.state, err);
    if (!rc && state)
        rc = rh_agent_load(j->agent, state, err);
    else if (!rc)
        rc = begin_with_log(j, err);
    rh_state_destroy(state);
    return rc ? rc : rh_agent__device_make(&j->device, j->agent, &b->task, j->opt.frozen, err);
}

// Bytes of struct agent.
static int64_t state_of(const job *j)
{
    int64_t past = 2 * j->nsensor + (j->stack - 1) * (j->nsensor + j->ncode) + 1;
    int64_t n = (j->device.state + 7) / 8 * 8 + OWN + 16 * (int64_t)j->best->task.nact;
    return n + (j->stack > 1 ? 8 * past : 0);
}

// ---------------------------------------------------------------------------- the comment

static const char *shown(const char *text, char *line)
{
    return rh_text__printable(text, line, SHOWN);
}

static void tell_sensors(job *j)
{
    const rh_best *b = j->best;
    char line[SHOWN], unit[SHOWN];
    for (int i = 0; i < j->nsensor; i++)
        rh_text__format(&j->text, "//   sensor %-3d %s%s%s, %.9g to %.9g\n", i,
                        shown(b->task.obs_name[i], line), *b->obs_unit[i] ? " in " : "",
                        shown(b->obs_unit[i], unit), b->task.obs_lo[i], b->task.obs_hi[i]);
    if (j->stack > 1)
        rh_text__format(&j->text,
                        "//   history    of %d observations, kept by the agent (stack)\n",
                        j->stack);
    for (int i = 0; i < b->task.naction; i++)
        rh_text__format(&j->text, "//   action %-3d %s.\n", i, shown(b->label[i], line));
    for (int i = 0; !b->task.naction && i < b->task.nact; i++)
        rh_text__format(&j->text, "//   action %-3d %s, %.9g to %.9g\n", i,
                        shown(b->act_name[i], line), b->task.act_lo[i], b->task.act_hi[i]);
    rh_text__format(&j->text, "//   reward     %s", shown(b->reward_name, line));
    if (b->reward_formula)
        rh_text__format(&j->text, ": %s; your program computes it",
                        shown(b->reward_formula, line));
    rh_text__add(&j->text, ".\n");
}

static void tell(job *j, const char *best)
{
    const rh_best *b = j->best;
    char line[SHOWN];
    rh_text__format(&j->text,
                    "// The agent of %s, exported by rehearse %s. C11 without a "
                    "library; edits are lost.\n//\n",
                    shown(rh_base__path_tail(best), line), rh_version());
    rh_text__format(&j->text, "//   agent      %s, %s\n", b->agent->name,
                    j->device.learns ? "learns" : "acts and does not learn");
    for (int i = 0; i < b->agent->nparam; i++) {
        const rh_param *p = &b->agent->param[i];
        if (p->choice)
            rh_text__format(&j->text, "//              %s = %s\n", p->name,
                            p->choice[(int)b->hp[i]]);
        else
            rh_text__format(&j->text, "//              %s = %.9g\n", p->name, b->hp[i]);
    }
    tell_sensors(j);
    rh_text__format(&j->text,
                    "//   memory     %lld bytes: sizeof(agent); constants %lld bytes\n//\n",
                    (long long)j->state, (long long)j->device.constants);
    rh_text__add(&j->text,
                 "// Compile it as C11, with or without -ffreestanding; for declarations only, "
                 "include it after\n"
                 "// #define AGENT_DECLARATIONS_ONLY. The agent is plain memory without "
                 "pointers: to save it copy\n"
                 "// sizeof(agent) bytes, to resume copy them back and ask agent_valid(). The "
                 "compiler may call\n"
                 "// memcpy() and memset(), as in every freestanding program.\n\n");
}

// ---------------------------------------------------------------------------- the code

static void add_code(job *j, const char *name)
{
    for (const rh_export__text *t = rh_export__code; t->name; t++)
        if (strcmp(t->name, name) == 0)
            rh_text__add(&j->text, t->text);
}

static void define(job *j, const char *name, int64_t x)
{
    rh_text__format(&j->text, "#define AGENT_%s %lld\n", name, (long long)x);
}

// Layouts that differ have different tags.
static uint32_t tag_of(const job *j)
{
    const rh_text *s = &j->device.sizes;
    const rh_task *task = &j->best->task;
    uint32_t crc = rh_base__crc32(0, s->data, s->n);
    size_t n = (size_t)task->nobs;
    crc = rh_base__crc32(crc, task->obs_lo, n * sizeof *task->obs_lo);
    return rh_base__crc32(crc, task->obs_hi, n * sizeof *task->obs_hi);
}

static void add_declarations(job *j)
{
    const rh_task *task = &j->best->task;
    rh_text__add(&j->text, "\n");
    define(j, "NSENSOR", j->nsensor);
    define(j, "NOBS", task->nobs);
    define(j, "NACTION", task->naction);
    define(j, "NACT", task->nact);
    define(j, "STACK", j->stack);
    define(j, "FROZEN", !j->device.learns);
    rh_text__format(&j->text, "#define AGENT_TAG 0x%08lxu\n", (unsigned long)tag_of(j));
    if (j->stack > 1)
        define(j, "NSTEP_CODE", j->ncode);
    rh_text__add(&j->text, j->device.sizes.data);
    rh_text__add(&j->text, "\n");
    add_code(j, j->device.code[0]);
    if (j->stack > 1)
        add_code(j, "past_state");
    add_code(j, "agent_state");
}

// An array of numbers, as a comparison with them is written: a NAN is never past.
static void add_array(job *j, const char *name, const double *x, int n)
{
    rh_text__format(&j->text, "static const double %s[%d] = {", name, n);
    for (int i = 0; i < n; i++) {
        rh_text__add(&j->text, i ? ", " : "");
        if (isnan(x[i]))
            rh_text__add(&j->text, strstr(name, "_lo") ? "-0x1.fffffffffffffp1023"
                                                       : "0x1.fffffffffffffp1023");
        else
            rh_text__format(&j->text, "%a", x[i]);
    }
    rh_text__add(&j->text, "};\n");
}

static bool any_number(const double *lo, const double *hi, int n)
{
    for (int i = 0; i < n; i++)
        if (!isnan(lo[i]) || !isnan(hi[i]))
            return true;
    return false;
}

static void add_guard(job *j)
{
    const rh_guard *g = &j->guard;
    const rh_task *task = &j->best->task;
    bool trips = any_number(g->trip_lo, g->trip_hi, task->nobs), bans = false;
    bool limits = !task->naction && any_number(g->act_lo, g->act_hi, task->nact);
    for (int a = 0; a < task->naction; a++)
        bans = bans || g->banned[a];
    define(j, "SAFE", g->safe);
    define(j, "TRIPS", trips);
    define(j, "BANS", bans);
    define(j, "LIMITS", limits);
    add_array(j, "agent_safe", g->act, task->nact);
    if (trips) {
        add_array(j, "agent_trip_lo", g->trip_lo, task->nobs);
        add_array(j, "agent_trip_hi", g->trip_hi, task->nobs);
    }
    if (limits) {
        add_array(j, "agent_limit_lo", g->act_lo, task->nact);
        add_array(j, "agent_limit_hi", g->act_hi, task->nact);
    }
    for (int a = 0; bans && a < task->naction; a++)
        rh_text__format(&j->text, "%s%d", a ? ", " : "static const uint8_t agent_banned[] = {",
                        g->banned[a]);
    rh_text__add(&j->text, bans ? "};\n" : "");
}

static void compose(job *j, const char *best)
{
    tell(j, best);
    add_code(j, "head");
    add_declarations(j);
    rh_text__add(&j->text,
                 "\n#endif\n\n#ifndef AGENT_DECLARATIONS_ONLY\n\n#include <float.h>\n\n"
                 "// -------------------------------------------------------------"
                 "--------------- constants\n\n");
    rh_text__add(&j->text, j->device.tables.data);
    rh_text__format(&j->text,
                    "static const uint64_t agent_stream[2] = {0x%016llxu, 0x%016llxu};\n",
                    (unsigned long long)j->rng.s[0], (unsigned long long)j->rng.s[1]);
    add_guard(j);
    rh_text__add(&j->text, "\n");
    add_code(j, "maths");
    for (int i = 1; j->device.code[i]; i++) {
        rh_text__add(&j->text, "\n");
        add_code(j, j->device.code[i]);
    }
    rh_text__add(&j->text, "\n");
    if (j->stack > 1) {
        add_code(j, "past");
        rh_text__add(&j->text, "\n");
    }
    add_code(j, "body");
    rh_text__add(&j->text, "\n#endif\n");
}

static rh_status write_file(const job *j, rh_error *err)
{
    rh_file *file = NULL;
    if (j->text.bad)
        return rh_base__no_memory(err, "export");
    rh_status rc = rh_file__create(&file, j->path, err);
    if (rc)
        return rc;
    FILE *stream = rh_file__stream(file);
    if (!stream || fwrite(j->text.data, 1, j->text.n, stream) != j->text.n) {
        rh_file__discard(file);
        return rh_fail(err, RH_EIO, "%s: cannot write", rh_base__path_tail(j->path));
    }
    return rh_file__commit(file, err);
}

// Reading best.yaml says how to allow a program or a plug-in, which is no use here.
static rh_status read_best(job *j, const char *path, rh_error *err)
{
    rh_error why = {""};
    rh_status rc = rh_best_read(&j->best, path, &why);
    if (rc && strstr(why.text, "if you trust it"))
        return rh_fail(err, rc,
                       "%s: the agent is a program or a plug-in, which cannot be exported; "
                       "expected an agent of rehearse",
                       rh_base__path_tail(path));
    return rc ? rh_fail(err, rc, "%s", why.text) : RH_OK;
}

rh_status rh_export_write(const char *path, const char *best, const rh_export_options *opt,
                          rh_export_made *made, rh_error *err)
{
    rh_export_options usual = rh_export_defaults();
    job j = {.path = path, .opt = opt ? *opt : usual};
    rh_status rc = check_options(&j.opt, err);
    if (rc)
        return rc;
    j.rng = rh_rng_stream(j.opt.seed, RH_STREAM_AGENT, 0, 0);
    rc = read_best(&j, best, err);
    if (!rc)
        rc = check_best(&j, best, err);
    if (!rc)
        rc = rh_guard__read(&j.guard, j.opt.guard, j.best, err);
    if (!rc)
        rc = check_guard(&j, err);
    if (!rc)
        rc = make_agent(&j, err);
    if (rc)
        goto done;
    j.state = state_of(&j);
    rc = check_size(&j, err);
    if (rc)
        goto done;
    compose(&j, best);
    rc = write_file(&j, err);
    if (!rc && made)
        *made =
            (rh_export_made){j.device.learns, j.state, j.device.constants, j.device.nweight};

done:
    rh_agent__device_clear(&j.device);
    rh_text__clear(&j.text);
    rh_agent_destroy(j.agent);
    rh_best_destroy(j.best);
    return rc;
}
