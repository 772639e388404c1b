// exec_env.c - environments of exec:COMMAND.
//
// 1. An environment does not change and has many runs at the same time; a program has one
//    episode. So an environment keeps a set of programs, one for each state block that it has
//    seen, and a block keeps its program from episode to episode.
// 2. Nobody tells an environment that a state block is gone. With all programs taken, the one
//    that was asked least recently is given to the next block.
// 3. Every episode has a seed of its own, from the stream of starts. All random numbers of an
//    episode come from it, so that the result depends neither on which program plays it nor on
//    what that program did before.
// 4. A program that fails makes the numbers of its step NAN. The reason is in the state block;
//    the next start starts the program again.

#include "exec.h"

#include "base/base.h"
#include "base/base_internal.h"

#include <inttypes.h>
#include <math.h>

#define MOST 256           // programs of an environment
#define USUAL_STEPS 10000  // of a run, where the description has none
#define MOST_ACTIONS 65536 // discrete ones

// A kind of environment.
typedef struct program {
    rh_env_type type; // its context is this
    rh_exec__kind kind;
    rh_task task;
    json_t *root; // owned: the description, which has the names of the sensors
} program;

static rh_kind__list known = {.what = "exec environment", .adding = PTHREAD_MUTEX_INITIALIZER};

// ---------------------------------------------------------------------------- programs

typedef struct slot {
    const void *state; // the block whose episodes it plays
    rh_exec *exec;     // owned
    uint64_t asked;    // when it was asked last, by the set's clock
    bool busy;         // it is being asked
} slot;

typedef struct set {
    pthread_mutex_t lock;
    slot slot[MOST];
    int n;
    uint64_t clock;
} set;

typedef struct exec_env {
    const program *from;
    double opt[RH_MAX_PARAM];
    double reward_lo;
    set *set; // owned
} exec_env;

// A state block.
typedef struct episode {
    int slot;
    bool failed;
    char reason[240];
} episode;

// The slot of a block; for a new block a free one. -1: it has none, or all are being asked.
static int find_slot(set *s, const episode *e, bool begins)
{
    int oldest = -1;
    for (int i = 0; i < s->n; i++) {
        if (s->slot[i].state == e)
            return i;
        if (!s->slot[i].busy && (oldest < 0 || s->slot[i].asked < s->slot[oldest].asked))
            oldest = i;
    }
    if (!begins)
        return -1;
    return s->n < MOST ? s->n++ : oldest;
}

// Take the program of a block. NULL: it has none.
static slot *take(const exec_env *env, episode *e, bool begins)
{
    set *s = env->set;
    pthread_mutex_lock(&s->lock);
    bool kept = !begins && e->slot >= 0 && e->slot < s->n && s->slot[e->slot].state == e;
    if (!kept)
        e->slot = find_slot(s, e, begins);
    slot *own = e->slot >= 0 ? &s->slot[e->slot] : NULL;
    if (own) {
        own->state = e;
        own->busy = true;
        own->asked = ++s->clock;
    }
    pthread_mutex_unlock(&s->lock);
    return own;
}

static void give_back(const exec_env *env, slot *own)
{
    pthread_mutex_lock(&env->set->lock);
    own->busy = false;
    pthread_mutex_unlock(&env->set->lock);
}

// See to it that the program is there, with the options of the environment in its buffer if it
// is a new one.
static bool ready(const exec_env *env, slot *own, episode *e)
{
    rh_error err = {""};
    const rh_env_type *type = &env->from->type;
    if (own->exec && rh_exec__healthy(own->exec))
        return true;
    if (own->exec)
        rh_exec__close(own->exec);
    else
        own->exec = rh_alloc(1, sizeof *own->exec);
    if (!own->exec) {
        snprintf(e->reason, sizeof e->reason, "%.120s: out of memory", type->name);
        return false;
    }
    own->exec->command = type->name + strlen(RH_EXEC__PREFIX);
    if (rh_exec__open(own->exec, &err)) {
        snprintf(e->reason, sizeof e->reason, "%.230s", err.text);
        return false;
    }
    rh_exec__add(own->exec, "{\"environment\":1,");
    rh_exec__add_params(own->exec, type->param, type->nparam, env->opt);
    rh_exec__add(own->exec, "}\n");
    return true;
}

// ---------------------------------------------------------------------------- episodes

// Send the question and read the observation.
static const char *ask(const exec_env *env, rh_exec *exec, double *obs, const char *expected)
{
    int nobs = env->from->task.nobs;
    const char *line = rh_exec__send(exec) ? rh_exec__line(exec) : NULL;
    bool good = line && rh_exec__numbers(exec, line, "observation", obs, nobs, expected);
    return good ? line : NULL;
}

static void fail(const exec_env *env, episode *e, double *obs, const char *reason)
{
    e->failed = true;
    if (reason)
        snprintf(e->reason, sizeof e->reason, "%.230s", reason);
    for (int i = 0; i < env->from->task.nobs; i++)
        obs[i] = NAN;
}

static void env_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const exec_env *env = self;
    episode *e = state;
    char text[64];
    uint64_t seed = rh_rng__bits(&streams->start) >> 11; // every JSON reader keeps 53 bits
    slot *own = take(env, e, true);
    e->failed = false;
    if (!own) {
        fail(env, e, obs, "exec: all programs are busy");
        return;
    }
    const char *line = NULL;
    bool open = ready(env, own, e);
    if (open) {
        snprintf(text, sizeof text, "{\"start\":true,\"seed\":%" PRIu64 "}\n", seed);
        rh_exec__add(own->exec, text);
        line = ask(env, own->exec, obs, "{\"observation\": [...]}");
    }
    if (!line)
        fail(env, e, obs, open ? own->exec->reason : NULL);
    give_back(env, own);
}

// The reward and the end of a step that was answered.
static bool read_step(const exec_env *env, rh_exec *exec, const char *line, double *reward,
                      bool *terminal)
{
    static const char expected[] =
        "{\"observation\": [...], \"reward\": ..., \"terminal\": true or false}";
    char what[96];
    if (!rh_exec__numbers(exec, line, "reward", reward, 1, expected))
        return false;
    const char *end = strstr(line, "\"terminal\"");
    const char *word = end ? end + strlen("\"terminal\"") : NULL;
    word = word ? word + strspn(word, " :") : "false";
    *terminal = strncmp(word, "true", 4) == 0;
    if (!*terminal && strncmp(word, "false", 5) != 0)
        return rh_exec__nonsense(exec, line, expected);
    if (*terminal && env->from->task.continuing)
        return rh_exec__fail(exec, "a terminal step, expected none: its task is continuing");
    if (*reward < env->reward_lo) {
        snprintf(what, sizeof what, "reward %g, expected %g or more: its reward_low", *reward,
                 env->reward_lo);
        return rh_exec__fail(exec, what);
    }
    return true;
}

// One step with a program that is there.
static bool step(const exec_env *env, rh_exec *exec, const double *act, double *obs,
                 double *reward, bool *terminal)
{
    const rh_task *task = &env->from->task;
    rh_exec__add(exec, "{\"step\":");
    if (task->naction) {
        char index[16];
        snprintf(index, sizeof index, "%d", (int)act[0]);
        rh_exec__add(exec, index);
    } else
        rh_exec__add_numbers(exec, act, task->nact);
    rh_exec__add(exec, "}\n");
    const char *line = ask(env, exec, obs, "{\"observation\": [...], \"reward\": ...}");
    return line && read_step(env, exec, line, reward, terminal);
}

static bool env_step(const void *self, void *state, const double *act, rh_streams *streams,
                     double *obs, double *reward)
{
    const exec_env *env = self;
    episode *e = state;
    bool terminal = false;
    (void)streams;
    *reward = NAN;
    if (e->failed)
        return false;
    slot *own = take(env, e, false);
    if (!own) {
        fail(env, e, obs, "exec: its program was taken by another run, expected at most 256");
        return false;
    }
    if (!step(env, own->exec, act, obs, reward, &terminal)) {
        fail(env, e, obs, own->exec->reason);
        *reward = NAN;
        terminal = false;
    }
    give_back(env, own);
    return terminal;
}

static const char *env_reason(const void *self, const void *state)
{
    const episode *e = state;
    (void)self;
    return e->failed ? e->reason : NULL;
}

static rh_status env_init(const void *context, void *self, rh_task *task, const double *opt,
                          rh_error *err)
{
    const program *from = context;
    exec_env *env = self;
    const rh_env_type *type = &from->type;
    int gamma = rh_param_find(type->param, type->nparam, "gamma");
    env->from = from;
    *task = from->task;
    if (gamma >= 0)
        task->gamma = opt[gamma];
    env->reward_lo = task->reward_lo;
    if (type->nparam)
        memcpy(env->opt, opt, (size_t)type->nparam * sizeof *opt);
    env->set = rh_alloc(1, sizeof *env->set);
    if (!env->set)
        return rh_base__no_memory(err, type->name);
    pthread_mutex_init(&env->set->lock, NULL);
    return RH_OK;
}

static void env_clear(void *self)
{
    exec_env *env = self;
    if (!env->set)
        return;
    for (int i = 0; i < env->set->n; i++) {
        if (env->set->slot[i].exec)
            rh_exec__close(env->set->slot[i].exec);
        rh_free(env->set->slot[i].exec);
    }
    pthread_mutex_destroy(&env->set->lock);
    rh_free(env->set);
}

// ---------------------------------------------------------------------------- kinds

static rh_status refuse(const program *p, const char *key, const char *expected, rh_error *err)
{
    return rh_fail(err, RH_EFORMAT, "%.120s: \"%s\" of its description, expected %s",
                   p->kind.name, key, expected);
}

// A list of n finite numbers.
static bool read_list(const json_t *from, const char *key, double *x, int n)
{
    const json_t *list = json_object_get(from, key);
    bool good = json_array_size(list) == (size_t)n;
    for (int i = 0; i < n && good; i++) {
        const json_t *number = json_array_get(list, (size_t)i);
        good = json_is_number(number) && isfinite(json_number_value(number));
        x[i] = json_number_value(number);
    }
    return good;
}

static bool are_ranges(const double *lo, const double *hi, int n)
{
    for (int i = 0; i < n; i++)
        if (!(lo[i] < hi[i]))
            return false;
    return true;
}

// Sensors: names that are all different, and usual ranges.
static rh_status read_sensors(program *p, rh_error *err)
{
    rh_task *t = &p->task;
    const json_t *list = json_object_get(p->root, "sensors");
    size_t n = json_array_size(list);
    bool good = n >= 1 && n <= RH_MAX_OBS;
    t->nobs = good ? (int)n : 0;
    for (int i = 0; i < t->nobs && good; i++) {
        t->obs_name[i] = json_string_value(json_array_get(list, (size_t)i));
        good = t->obs_name[i] && *t->obs_name[i];
        for (int k = 0; k < i && good; k++)
            good = strcmp(t->obs_name[i], t->obs_name[k]) != 0;
    }
    if (!good)
        return refuse(p, "sensors", "a list of 1 to 256 names, all different", err);
    if (!read_list(p->root, "low", t->obs_lo, t->nobs) ||
        !read_list(p->root, "high", t->obs_hi, t->nobs) ||
        !are_ranges(t->obs_lo, t->obs_hi, t->nobs))
        return refuse(p, "low\" and \"high", "the usual range of each sensor, low below high",
                      err);
    return RH_OK;
}

// How many discrete actions, or the bounds of continuous ones.
static rh_status read_actions(program *p, rh_error *err)
{
    rh_task *t = &p->task;
    double n = rh_exec__number_in(p->root, "actions", 0.0);
    size_t nact = json_array_size(json_object_get(p->root, "action_low"));
    if (!(n >= 0.0 && n <= MOST_ACTIONS) || n != floor(n))
        return refuse(p, "actions", "how many there are, 1 to 65,536; 0 for continuous ones",
                      err);
    t->naction = (int)n;
    t->nact = t->naction ? 1 : (int)(nact > RH_MAX_ACT ? RH_MAX_ACT + 1 : nact);
    if (t->naction)
        return RH_OK;
    if (t->nact < 1 || t->nact > RH_MAX_ACT ||
        !read_list(p->root, "action_low", t->act_lo, t->nact) ||
        !read_list(p->root, "action_high", t->act_hi, t->nact) ||
        !are_ranges(t->act_lo, t->act_hi, t->nact))
        return refuse(p, "actions",
                      "how many there are, or for continuous ones \"action_low\" and "
                      "\"action_high\", lists of 1 to 32 numbers",
                      err);
    return RH_OK;
}

static rh_status read_task(program *p, rh_error *err)
{
    rh_task *t = &p->task;
    rh_status rc = read_sensors(p, err);
    if (!rc)
        rc = read_actions(p, err);
    if (rc)
        return rc;
    t->continuing = json_is_true(json_object_get(p->root, "continuing"));
    t->gamma = rh_exec__number_in(p->root, "gamma", t->continuing ? 0.99 : 1.0);
    t->reward_lo = rh_exec__number_in(p->root, "reward_low", -INFINITY);
    double nstep = rh_exec__number_in(p->root, "steps", USUAL_STEPS);
    t->nstep = (int64_t)nstep;
    if (!(t->gamma >= 0.0 && t->gamma <= 1.0))
        return refuse(p, "gamma", "a discount, 0 to 1", err);
    if (!(nstep >= 1.0 && nstep <= 1e12) || nstep != floor(nstep))
        return refuse(p, "steps", "the usual steps of a run, 1 to 1e12", err);
    return RH_OK;
}

static void fill_in(program *p)
{
    p->type = (rh_env_type){.name = p->kind.name,
                            .about = p->kind.about,
                            .param = p->kind.param,
                            .nparam = p->kind.nparam,
                            .self_size = sizeof(exec_env),
                            .state_size = sizeof(episode),
                            .init_with = env_init,
                            .context = p,
                            .start = env_start,
                            .step = env_step,
                            .reason = env_reason,
                            .clear = env_clear};
}

static const rh_env_type *add(const char *name, rh_error *err)
{
    program *p = rh_alloc(1, sizeof *p);
    rh_status rc = p ? rh_exec__describe(&p->kind, name, "environment", &p->root, err)
                     : rh_base__no_memory(err, "exec");
    if (!rc)
        rc = read_task(p, err);
    if (!rc) {
        fill_in(p);
        rc = rh_kind__add(&known, &p->type, err);
    }
    if (!rc)
        return &p->type;
    if (p) {
        rh_exec__clear(&p->kind);
        json_decref(p->root);
    }
    rh_free(p);
    return rh_kind__find(&known, name, NULL); // another thread may have been faster
}

const rh_env_type *rh_plugin_env(const char *name, rh_error *err)
{
    if (!rh_exec__named(name))
        return rh_env_find(name, err);
    const rh_env_type *type = rh_kind__find(&known, name, NULL);
    return type ? type : add(name, err);
}
