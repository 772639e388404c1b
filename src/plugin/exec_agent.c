// exec_agent.c - agents of exec:COMMAND.
//
// The program describes itself once, when the agent is named: its parameters are then known to
// plans, searches and help like those of a built-in one. The description makes a kind, which
// stays until the program ends.

#include "exec.h"

#include "base/base_internal.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define PATIENCE 30.0 // seconds for the description
#define ANSWER 10.0   // and for an action

// A kind of agent.
typedef struct program {
    rh_agent_type type; // its context is this
    char *name;         // "exec:COMMAND", owned like all texts below
    char *about;
    rh_param param[RH_MAX_PARAM];
} program;

static program *known[RH_MAX_KIND];
static int nknown;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

// ---------------------------------------------------------------------------- runs

typedef struct exec_agent {
    rh_exec *exec; // owned
    const rh_agent_type *type;
    rh_task task;
    rh_text sensors; // their names in JSON
    double hp[RH_MAX_PARAM];
    bool begun; // the program was told about this run
} exec_agent;

// What a run depends on.
static rh_status set(exec_agent *s, const rh_task *task, const double *hp, rh_error *err)
{
    s->task = *task;
    if (s->type->nparam)
        memcpy(s->hp, hp, (size_t)s->type->nparam * sizeof *hp);
    s->begun = false;
    rh_text__clear(&s->sensors);
    for (int i = 0; i < task->nobs; i++) {
        rh_text__add(&s->sensors, i ? "," : "");
        rh_text__json(&s->sensors, task->obs_name[i]);
    }
    return s->sensors.bad ? rh_base__no_memory(err, s->type->name) : RH_OK;
}

static rh_status agent_init(const void *context, void *self, const rh_task *task,
                            const double *hp, rh_error *err)
{
    exec_agent *s = self;
    const program *p = context;
    s->type = &p->type;
    rh_status rc = set(s, task, hp, err);
    if (rc)
        return rc;
    s->exec = rh_alloc(1, sizeof *s->exec);
    if (!s->exec)
        return rh_base__no_memory(err, p->name);
    s->exec->command = p->name + strlen(RH_EXEC__PREFIX);
    return rh_exec__open(s->exec, err);
}

static void agent_clear(void *self)
{
    exec_agent *s = self;
    if (s->exec)
        rh_exec__close(s->exec);
    rh_free(s->exec);
    rh_text__clear(&s->sensors);
}

// The same program does the next run, unless the last one failed.
static rh_status agent_reset(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    exec_agent *s = self;
    rh_status rc = set(s, task, hp, err);
    if (rc || (s->exec->fd >= 0 && !*s->exec->reason))
        return rc;
    rh_exec__close(s->exec);
    return rh_exec__open(s->exec, err);
}

// {"run":1,"seed":..,"task":{..},"parameters":{..}}
static void describe_run(exec_agent *s, uint64_t seed)
{
    const rh_task *t = &s->task;
    char text[96];
    rh_exec *e = s->exec;
    snprintf(text, sizeof text, "{\"run\":1,\"seed\":%" PRIu64 ",\"task\":{\"sensors\":[",
             seed >> 11); // every JSON reader keeps 53 bits
    rh_exec__add(e, text);
    rh_exec__add(e, s->sensors.data);
    rh_exec__add(e, "],\"low\":");
    rh_exec__add_numbers(e, t->obs_lo, t->nobs);
    rh_exec__add(e, ",\"high\":");
    rh_exec__add_numbers(e, t->obs_hi, t->nobs);
    snprintf(text, sizeof text, ",\"actions\":%d,\"action_low\":", t->naction);
    rh_exec__add(e, text);
    rh_exec__add_numbers(e, t->act_lo, t->naction ? 0 : t->nact);
    rh_exec__add(e, ",\"action_high\":");
    rh_exec__add_numbers(e, t->act_hi, t->naction ? 0 : t->nact);
    rh_exec__add(e, t->continuing ? ",\"continuing\":true," : ",\"continuing\":false,");
    rh_exec__add_number(e, "gamma", t->gamma);
    rh_exec__add(e, "},\"parameters\":{");
    for (int i = 0; i < s->type->nparam; i++) {
        rh_exec__add(e, i ? "," : "");
        rh_exec__add_number(e, s->type->param[i].name, s->hp[i]);
    }
    rh_exec__add(e, "}}\n");
}

// Send what was collected and read an action.
static bool ask(exec_agent *s, double *act)
{
    rh_exec *e = s->exec;
    rh_exec__add(e, "}\n");
    bool sent = rh_exec__send(e, e->out, e->nout);
    e->nout = 0;
    const char *line = sent ? rh_exec__line(e, ANSWER) : NULL;
    return line && rh_exec__action(e, line, act, s->task.nact);
}

// Ask with an observation: start, step or act.
static bool ask_about(exec_agent *s, const char *word, const double *obs, const double *reward,
                      rh_rng *rng, double *act)
{
    rh_exec *e = s->exec;
    if (*e->reason || e->fd < 0)
        return false;
    if (!s->begun)
        describe_run(s, rh_rng_bits(rng));
    s->begun = true;
    rh_exec__add(e, "{\"");
    rh_exec__add(e, word);
    rh_exec__add(e, "\":");
    rh_exec__add_numbers(e, obs, s->task.nobs);
    if (reward) {
        rh_exec__add(e, ",");
        rh_exec__add_number(e, "reward", *reward);
    }
    return ask(s, act);
}

static bool agent_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    return ask_about(self, "start", obs, NULL, rng, act);
}

static bool agent_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    return ask_about(self, "step", obs, &reward, rng, act);
}

static bool agent_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    return ask_about(self, "act", obs, NULL, rng, act);
}

// No answer is expected.
static bool agent_end(void *self, double reward)
{
    exec_agent *s = self;
    rh_exec *e = s->exec;
    if (*e->reason || e->fd < 0)
        return false;
    rh_exec__add(e, "{\"end\":true,");
    rh_exec__add_number(e, "reward", reward);
    rh_exec__add(e, "}\n");
    bool sent = rh_exec__send(e, e->out, e->nout);
    e->nout = 0;
    return sent;
}

static const char *agent_reason(void *self)
{
    const exec_agent *s = self;
    return *s->exec->reason ? s->exec->reason : NULL;
}

// ---------------------------------------------------------------------------- kinds

static void destroy(program *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->type.nparam; i++) {
        rh_free((void *)(uintptr_t)p->param[i].name);
        rh_free((void *)(uintptr_t)p->param[i].about);
    }
    rh_free(p->about);
    rh_free(p->name);
    rh_free(p);
}

static double number_in(const json_t *object, const char *key, double otherwise)
{
    const json_t *x = json_object_get(object, key);
    return json_is_number(x) ? json_number_value(x) : otherwise;
}

// One entry of "parameters". Wrong ones are found by rh_kind__check_params().
static bool read_param(const json_t *from, rh_param *p)
{
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *about = json_string_value(json_object_get(from, "about"));
    const char *scale = json_string_value(json_object_get(from, "scale"));
    const json_t *usual = json_object_get(from, "usual");
    *p = (rh_param){.name = rh_base__copy(name ? name : ""),
                    .about = rh_base__copy(about ? about : ""),
                    .lo = number_in(from, "low", NAN),
                    .hi = number_in(from, "high", NAN),
                    .initial = number_in(from, "initial", NAN),
                    .scale = scale && strcmp(scale, "log") == 0 ? RH_LOG : RH_LINEAR,
                    .whole = json_is_true(json_object_get(from, "whole")),
                    .fixed = json_is_true(json_object_get(from, "fixed"))};
    if (json_array_size(usual) == 2) {
        p->usual_lo = json_number_value(json_array_get(usual, 0));
        p->usual_hi = json_number_value(json_array_get(usual, 1));
    }
    return p->name && p->about;
}

// Fill in the kind from the description.
static rh_status read_kind(program *p, const json_t *from, rh_error *err)
{
    rh_agent_type *t = &p->type;
    const char *about = json_string_value(json_object_get(from, "about"));
    const char *actions = json_string_value(json_object_get(from, "actions"));
    const json_t *param = json_object_get(from, "parameters");
    if (json_integer_value(json_object_get(from, "rehearse")) != RH_EXEC__VERSION)
        return rh_fail(err, RH_EFORMAT,
                       "%.120s: answered another description, expected {\"rehearse\": %d, "
                       "\"about\": ..., \"actions\": ..., \"parameters\": [...]}",
                       p->name, RH_EXEC__VERSION);
    p->about = rh_base__copy(about ? about : "an agent of another program");
    if (!p->about)
        return rh_base__no_memory(err, p->name);
    if (json_array_size(param) > RH_MAX_PARAM)
        return rh_fail(err, RH_EFORMAT, "%.120s: %zu parameters, expected at most %d", p->name,
                       json_array_size(param), RH_MAX_PARAM);
    for (size_t i = 0; i < json_array_size(param); i++) {
        t->nparam++;
        if (!read_param(json_array_get(param, i), &p->param[i]))
            return rh_base__no_memory(err, p->name);
    }
    t->name = p->name;
    t->about = p->about;
    t->actions = !actions || strcmp(actions, "both") == 0 ? RH_DISCRETE | RH_CONTINUOUS
                 : strcmp(actions, "continuous") == 0     ? RH_CONTINUOUS
                                                          : RH_DISCRETE;
    t->self_size = sizeof(exec_agent);
    t->param = p->param;
    t->init_with = agent_init;
    t->context = p;
    t->reset = agent_reset;
    t->start = agent_start;
    t->step = agent_step;
    t->end = agent_end;
    t->act = agent_act;
    t->reason = agent_reason;
    t->clear = agent_clear;
    return rh_kind__check_params("agent", p->name, t->param, t->nparam, err);
}

// Start the program once and let it describe itself.
static rh_status describe(program *p, rh_error *err)
{
    json_t *root = NULL;
    rh_status rc = RH_ENOMEM;
    rh_exec *e = rh_alloc(1, sizeof *e);
    if (!e)
        return rh_base__no_memory(err, p->name);
    e->command = p->name + strlen(RH_EXEC__PREFIX);
    rc = rh_exec__open(e, err);
    if (rc)
        goto done;
    static const char hello[] = "{\"rehearse\":1,\"describe\":\"agent\"}\n";
    const char *line = NULL;
    if (rh_exec__send(e, hello, sizeof hello - 1))
        line = rh_exec__line(e, PATIENCE);
    root = line ? json_loads(line, 0, NULL) : NULL;
    char shown[64];
    if (!line)
        rc = rh_fail(err, RH_EIO, "%s", e->reason);
    else if (!json_is_object(root))
        rc = rh_fail(err, RH_EFORMAT, "%.120s: answered '%s', expected its description in JSON",
                     p->name, rh_text__printable(line, shown, sizeof shown));
    else
        rc = read_kind(p, root, err);

done:
    rh_exec__close(e);
    rh_free(e);
    json_decref(root);
    return rc;
}

static const rh_agent_type *find(const char *name)
{
    for (int i = 0; i < nknown; i++)
        if (strcmp(known[i]->name, name) == 0)
            return &known[i]->type;
    return NULL;
}

static const rh_agent_type *add(const char *name, rh_error *err)
{
    const rh_agent_type *type = find(name);
    if (type)
        return type;
    if (nknown == RH_MAX_KIND) {
        rh_fail(err, RH_EINVAL, "%.120s: expected at most %d commands", name, RH_MAX_KIND);
        return NULL;
    }
    program *p = rh_alloc(1, sizeof *p);
    if (p)
        p->name = rh_base__copy(name);
    rh_status rc = p && p->name ? describe(p, err) : rh_base__no_memory(err, "exec");
    if (rc) {
        destroy(p);
        return NULL;
    }
    known[nknown++] = p;
    return &p->type;
}

const rh_agent_type *rh_plugin_agent(const char *name, rh_error *err)
{
    if (strncmp(name, RH_EXEC__PREFIX, strlen(RH_EXEC__PREFIX)) != 0)
        return rh_agent_find(name, err);
    pthread_mutex_lock(&adding);
    const rh_agent_type *type = add(name, err);
    pthread_mutex_unlock(&adding);
    return type;
}
