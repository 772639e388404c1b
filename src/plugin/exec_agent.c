// exec_agent.c - agents of exec:COMMAND.
//
// A description makes a kind, which stays until the program ends. An agent has a program of its
// own, which does one run after another. The seed of a run is drawn from the agent's stream
// when its first episode starts.

#include "exec.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "plugin.h"

#include <inttypes.h>

// A kind of agent.
typedef struct program {
    rh_agent_type type; // its context is this
    rh_exec__kind kind;
} program;

static rh_kind__list known = {.what = "exec agent", .adding = PTHREAD_MUTEX_INITIALIZER};

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
        return rh_base__no_memory(err, p->type.name);
    s->exec->command = p->type.name + strlen(RH_EXEC__PREFIX);
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
    if (rc || rh_exec__healthy(s->exec))
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
    rh_exec__add_number(e, "steps", (double)t->nstep);
    rh_exec__add(e, ",");
    rh_exec__add_number(e, "gamma", t->gamma);
    rh_exec__add(e, "},");
    rh_exec__add_params(e, s->type->param, s->type->nparam, s->hp);
    rh_exec__add(e, "}\n");
}

// Send what was collected and read an action.
static bool ask(exec_agent *s, double *act)
{
    rh_exec *e = s->exec;
    rh_exec__add(e, "}\n");
    const char *line = rh_exec__send(e) ? rh_exec__line(e) : NULL;
    return line && rh_exec__numbers(e, line, "action", act, s->task.nact, "{\"action\": ...}");
}

// Ask with an observation: start, step or act.
static bool ask_about(exec_agent *s, const char *word, const double *obs, const double *reward,
                      rh_rng *rng, double *act)
{
    rh_exec *e = s->exec;
    if (!rh_exec__healthy(e))
        return false;
    if (!s->begun)
        describe_run(s, rh_rng__bits(rng));
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

// The last step of an episode: "end":true, or "truncated":[...]. No answer is expected.
static bool tell(exec_agent *s, const char *word, const double *obs, double reward)
{
    rh_exec *e = s->exec;
    if (!rh_exec__healthy(e))
        return false;
    rh_exec__add(e, "{\"");
    rh_exec__add(e, word);
    rh_exec__add(e, "\":");
    if (obs)
        rh_exec__add_numbers(e, obs, s->task.nobs);
    else
        rh_exec__add(e, "true");
    rh_exec__add(e, ",");
    rh_exec__add_number(e, "reward", reward);
    rh_exec__add(e, "}\n");
    return rh_exec__send(e);
}

static bool agent_end(void *self, double reward)
{
    return tell(self, "end", NULL, reward);
}

static bool agent_truncate(void *self, double reward, const double *obs)
{
    return tell(self, "truncated", obs, reward);
}

static const char *agent_reason(void *self)
{
    const exec_agent *s = self;
    return *s->exec->reason ? s->exec->reason : NULL;
}

// The program of an agent; NULL: it is none.
static rh_exec *program_of(const rh_agent *agent)
{
    const exec_agent *s = rh_contract__agent_self(agent);
    return rh_contract__agent_type(agent)->init_with == agent_init ? s->exec : NULL;
}

void rh_plugin__answer_within(rh_agent *agent, double seconds)
{
    rh_exec *e = program_of(agent);
    if (e)
        e->within = seconds;
}

bool rh_plugin__is_late(const rh_agent *agent)
{
    const rh_exec *e = program_of(agent);
    return e && rh_exec__healthy(e) && e->nlate > 0;
}

// ---------------------------------------------------------------------------- kinds

// Fill in the kind from the description.
static void read_kind(program *p, const json_t *from)
{
    rh_agent_type *t = &p->type;
    const char *actions = json_string_value(json_object_get(from, "actions"));
    t->name = p->kind.name;
    t->about = p->kind.about;
    t->param = p->kind.param;
    t->nparam = p->kind.nparam;
    t->actions = !actions || strcmp(actions, "both") == 0 ? RH_DISCRETE | RH_CONTINUOUS
                 : strcmp(actions, "continuous") == 0     ? RH_CONTINUOUS
                                                          : RH_DISCRETE;
    t->self_size = sizeof(exec_agent);
    t->init_with = agent_init;
    t->context = p;
    t->reset = agent_reset;
    t->start = agent_start;
    t->step = agent_step;
    t->end = agent_end;
    t->act = agent_act;
    t->reason = agent_reason;
    t->clear = agent_clear;
    t->truncate = json_is_true(json_object_get(from, "truncated")) ? agent_truncate : NULL;
}

static const rh_agent_type *add(const char *name, rh_error *err)
{
    json_t *root = NULL;
    program *p = rh_alloc(1, sizeof *p);
    rh_status rc = p ? rh_exec__describe(&p->kind, name, "agent", &root, err)
                     : rh_base__no_memory(err, "exec");
    if (!rc) {
        read_kind(p, root);
        rc = rh_kind__add(&known, &p->type, err);
    }
    json_decref(root);
    if (!rc)
        return &p->type;
    if (p)
        rh_exec__clear(&p->kind);
    rh_free(p);
    return rh_kind__find(&known, name, NULL); // another thread may have been faster
}

const rh_agent_type *rh_plugin__agent_at_hand(const char *name)
{
    return rh_exec__named(name) ? rh_kind__find(&known, name, NULL) : rh_agent_find(name, NULL);
}

const rh_agent_type *rh_plugin_agent(const char *name, rh_error *err)
{
    if (!rh_exec__named(name))
        return rh_agent_find(name, err);
    const rh_agent_type *type = rh_kind__find(&known, name, NULL);
    return type ? type : add(name, err);
}
