// plan_space.c - the space: every parameter of the agent with more than one value to try.
//
// 1. Dimensions are in the order of the agents and of their tables: their order in a file does
//    not matter. Of several agents, "dqn.rate" is dqn's, and "rate" that of all that have it.
// 2. Without anything to search `tune` searches the usual ranges of the agent's table, except
//    for parameters that have a value; with preset: paper, the paper's grid.
// 3. A published grid is set like any key: it replaces earlier axes, and later axes its own.

#include "base/base.h"
#include "plan.h"
#include "search/search.h"
#include "study.h"

#include <math.h>
#include <string.h>

static const char *const form_prefix[] = {
    [RH_FORM_PLAIN] = "", [RH_FORM_ONE_MINUS] = "one_minus_", [RH_FORM_POW2] = "log2_"};

static void clear_axis(rh_plan__axis_spec *axis)
{
    rh_free(axis->value);
    *axis = (rh_plan__axis_spec){0};
}

static bool is_searched(const rh_plan__axis_spec *axis)
{
    return axis->given && axis->dim.nvalue != 1;
}

void rh_plan__clear_space(rh_plan *plan)
{
    for (int k = 0; k < plan->space.ndim; k++) {
        union {
            const void *read;
            void *owned;
        } name = {.read = plan->space.dim[k].name}, value = {.read = plan->space.dim[k].value};
        rh_free(name.owned);
        rh_free(value.owned);
    }
    memset(&plan->space, 0, sizeof plan->space);
    memset(plan->dim, 0, sizeof plan->dim);
}

// ---------------------------------------------------------------------------- published

static bool is_axis(const rh_axis *axis, const char *grid, const rh_agent_type *agent)
{
    return (!grid || strcmp(axis->grid, grid) == 0) &&
           (!agent || strcmp(axis->agent, agent->name) == 0);
}

static rh_status unknown_grid(const rh_key__said *said, const rh_env_type *env,
                              const char *name, const rh_agent_type *agent, rh_error *err)
{
    const char *known[16];
    char what[128];
    rh_error why = {""};
    int n = 0;
    for (int i = 0; i < env->ngrid && n < 16; i++) {
        bool seen = !is_axis(&env->grid[i], NULL, agent);
        for (int k = 0; k < n; k++)
            seen = seen || strcmp(known[k], env->grid[i].grid) == 0;
        if (!seen)
            known[n++] = env->grid[i].grid;
    }
    snprintf(what, sizeof what, "%s%s%s: no grid", env->name, agent ? ", " : "",
             agent ? agent->name : "");
    if (n)
        rh_base__unknown(&why, what, name, known, n);
    else
        snprintf(why.text, sizeof why.text, "%s '%.64s'; none was published", what, name);
    return rh_key__blame(said, NULL, err, why.text);
}

rh_status rh_plan__check_grid(const rh_key__said *said, const rh_env_type *here,
                              const rh_agent_type *agent, const rh_env_type **env,
                              const char **name, rh_error *err)
{
    const char *grid = said->value->kind == RH_YAML_TEXT ? said->value->text : "";
    const char *colon = strchr(grid, ':');
    char word[64];
    rh_error why = {""};
    bool own = !colon && *grid && here;
    if (!own && (!colon || colon == grid || !colon[1] || colon - grid > 60))
        return rh_key__refuse(said, NULL, "", err,
                              "ENV:NAME, a published grid such as acrobot:paper");
    snprintf(word, sizeof word, "%.*s", own ? 0 : (int)(colon - grid), grid);
    *env = own ? here : rh_env_find(word, &why);
    if (!*env)
        return rh_key__blame(said, NULL, err, why.text);
    *name = own ? grid : colon + 1;
    for (int i = 0; i < (*env)->ngrid; i++)
        if (is_axis(&(*env)->grid[i], *name, agent))
            return RH_OK;
    return unknown_grid(said, *env, *name, agent, err);
}

// The values of one published axis in place of what was there.
static rh_status put_axis(rh_plan__axis_spec *axis, const rh_axis *from, const rh_param *p,
                          const rh_key__said *said, rh_error *err)
{
    bool positive = true;
    clear_axis(axis);
    double *value = rh_alloc((size_t)from->nvalue, sizeof *value);
    if (!value)
        return rh_plan__no_memory(err);
    for (int i = 0; i < from->nvalue; i++) {
        int at = i; // in order
        for (; at > 0 && value[at - 1] > from->value[i]; at--)
            value[at] = value[at - 1];
        value[at] = from->value[i];
        positive = positive && from->value[i] > 0.0;
    }
    axis->said = said;
    axis->given = true;
    axis->value = value;
    axis->fixed = value[0];
    axis->dim = (rh_dim){.kind = p->choice ? RH_DIM_NAMES : RH_DIM_LIST,
                         .scale = p->scale == RH_LOG && positive ? RH_LOG : RH_LINEAR,
                         .value = value,
                         .nvalue = from->nvalue};
    return RH_OK;
}

// All axes of a published grid. spare: keep axes that were set.
static rh_status put_grid(const rh_agent_type *agent, rh_plan__axis_spec *axis,
                          const rh_env_type *env, const char *name, const rh_key__said *said,
                          bool spare, rh_error *err)
{
    rh_status rc = RH_OK;
    int n = 0;
    for (int i = 0; i < env->ngrid && !rc; i++) {
        const rh_axis *from = &env->grid[i];
        if (!is_axis(from, name, agent))
            continue;
        int at = 0;
        n++;
        rc = rh_param_lookup(agent->param, agent->nparam, agent->name, from->param, &at, err);
        if (!rc && !(spare && axis[at].given))
            rc = put_axis(&axis[at], from, &agent->param[at], said, err);
    }
    return rc || n ? rc : unknown_grid(said, env, name, agent, err);
}

// ---------------------------------------------------------------------------- the axes

static bool has_param(const rh_agent_type *agent, const char *name)
{
    return rh_param_find(agent->param, agent->nparam, name) >= 0;
}

// The name of a parameter in the table of an agent; NULL: it is another agent's.
static const char *own_name(const rh_plan__agents *agents, int which, const char *name)
{
    bool other = false;
    for (int i = 0; i < agents->n && agents->n > 1; i++) {
        const char *behind = rh_plan__behind(name, agents->type[i]->name);
        if (behind && *behind == '.')
            return i == which ? behind + 1 : NULL;
        other = other || has_param(agents->type[i], name);
    }
    return other && !has_param(agents->type[which], name) ? NULL : name;
}

// Everything that was set, in order.
static rh_status read_said(const rh_plan *plan, int which, rh_plan__axis_spec *axis,
                           rh_error *err)
{
    const rh_plan__book *book = plan->book;
    const rh_agent_type *agent = plan->agents.type[which];
    rh_status rc = RH_OK;
    for (int i = 0; i < book->nsaid && !rc; i++) {
        const rh_key__said *said = &book->said[i];
        const char *name = rh_plan__behind(said->key, "parameters.");
        name = name ? own_name(&plan->agents, which, name) : NULL;
        if (strcmp(said->key, "grid") == 0) {
            const rh_env_type *env = NULL;
            const char *grid = NULL;
            rc = rh_plan__check_grid(said, plan->env, agent, &env, &grid, err);
            if (!rc && env)
                rc = put_grid(agent, axis, env, grid, said, false, err);
        } else if (name) {
            int at = 0;
            rh_error why = {""};
            if (rh_param_lookup(agent->param, agent->nparam, agent->name, name, &at, &why))
                return rh_key__blame(said, NULL, err, why.text);
            clear_axis(&axis[at]);
            rc = rh_plan__axis(&axis[at], &agent->param[at], agent->name, said, err);
        }
    }
    return rc;
}

// The usual choices of a parameter.
static rh_status put_choices(rh_plan__axis_spec *axis, const rh_param *p, rh_error *err)
{
    int n = (int)(p->usual_hi - p->usual_lo) + 1;
    axis->value = rh_alloc((size_t)n, sizeof *axis->value);
    if (!axis->value)
        return rh_plan__no_memory(err);
    for (int i = 0; i < n; i++)
        axis->value[i] = p->usual_lo + i;
    axis->given = true;
    axis->dim = (rh_dim){.kind = RH_DIM_NAMES, .value = axis->value, .nvalue = n};
    return RH_OK;
}

// The usual ranges of parameters that were not set.
static rh_status put_usual(const rh_agent_type *agent, rh_plan__axis_spec *axis, rh_error *err)
{
    rh_status rc = RH_OK;
    for (int i = 0; i < agent->nparam && !rc; i++) {
        const rh_param *p = &agent->param[i];
        if (axis[i].given || !(p->usual_lo < p->usual_hi))
            continue;
        if (p->choice) {
            rc = put_choices(&axis[i], p, err);
            continue;
        }
        axis[i].given = true;
        axis[i].dim =
            (rh_dim){.kind = RH_DIM_RANGE,
                     .scale = p->scale == RH_LOG && p->usual_lo > 0.0 ? RH_LOG : RH_LINEAR,
                     .lo = p->usual_lo,
                     .hi = p->usual_hi,
                     .step = p->whole ? 1.0 : 0.0};
    }
    return rc;
}

// Where nothing is searched so far.
static rh_status read_rest(const rh_plan *plan, const rh_agent_type *agent,
                           rh_plan__axis_spec *axis, rh_error *err)
{
    const rh_key__said *preset = rh_plan__said(plan, "preset");
    const rh_yaml *grid = rh_plan__preset(plan, "grid");
    bool any = false;
    for (int i = 0; i < agent->nparam; i++)
        any = any || is_searched(&axis[i]);
    if (any || plan->command != RH_PLAN_TUNE)
        return RH_OK;
    if (grid && !plan->task_of)
        return rh_key__blame(preset, NULL, err,
                             "preset paper: the paper has a grid for each environment; set "
                             "task: acrobot, puddle_world or cartpole, or set parameters");
    if (grid)
        return put_grid(agent, axis, plan->task_of, grid->text, preset, true, err);
    return put_usual(agent, axis, err);
}

// ---------------------------------------------------------------------------- the space

// One more dimension, which takes the axis' values.
static rh_status add_dim(rh_plan *plan, int which, rh_plan__axis_spec *axis, int param,
                         rh_error *err)
{
    const rh_agent_type *agent = plan->agents.type[which];
    const char *name = agent->param[param].name;
    bool several = plan->agents.n > 1;
    size_t size =
        strlen(agent->name) + strlen(name) + strlen(form_prefix[axis->form]) + sizeof ".";
    int k = plan->space.ndim;
    if (k == RH_MAX_DIM)
        return rh_fail(err, RH_EINVAL, "parameters: more than %d are searched", RH_MAX_DIM);
    char *copy = rh_alloc(size, 1);
    if (!copy)
        return rh_plan__no_memory(err);
    snprintf(copy, size, "%s%s%s%s", several ? agent->name : "", several ? "." : "",
             form_prefix[axis->form], name);
    plan->space.dim[k] = axis->dim;
    plan->space.dim[k].name = copy;
    plan->space.dim[k].branch = several ? which + 1 : 0;
    plan->dim[k].agent = which;
    plan->dim[k].param = param;
    plan->dim[k].form = axis->form;
    plan->space.ndim++;
    axis->value = NULL; // now the space's
    return RH_OK;
}

// What `run` and `sweep` can try: one value, and a finite number of them.
static rh_status check_command(const rh_plan *plan, const rh_plan__axis_spec *axis,
                               rh_error *err)
{
    for (int k = 0; k < plan->space.ndim && plan->command != RH_PLAN_TUNE; k++) {
        const rh_key__said *said = axis[plan->dim[k].param].said;
        char why[200];
        bool one = plan->command == RH_PLAN_RUN;
        if (!one && isfinite(rh_dim__count(&plan->space.dim[k])))
            continue;
        snprintf(why, sizeof why, "%.64s has %s, expected %s",
                 plan->agent->param[plan->dim[k].param].name,
                 one ? "several values" : "a range",
                 one ? "one value; `rehearse sweep` takes several"
                     : "values such as 0.1,0.3,1; `rehearse tune` takes ranges");
        return rh_key__blame(said, NULL, err, why);
    }
    return RH_OK;
}

// The dimensions of one agent.
static rh_status build(rh_plan *plan, int which, rh_plan__axis_spec *axis, rh_error *err)
{
    const rh_agent_type *agent = plan->agents.type[which];
    rh_status rc = read_said(plan, which, axis, err);
    if (!rc)
        rc = read_rest(plan, agent, axis, err);
    for (int i = 0; i < agent->nparam && !rc; i++) {
        if (is_searched(&axis[i]))
            rc = add_dim(plan, which, &axis[i], i, err);
        else if (axis[i].given)
            plan->hp[plan->hp_at[which] + i] = axis[i].fixed;
    }
    return rc || plan->agents.n > 1 ? rc : check_command(plan, axis, err);
}

// The choice among several agents, as a parameter and as the first dimension.
static rh_status add_choice(rh_plan *plan, rh_error *err)
{
    int n = plan->agents.n;
    double *value = rh_alloc((size_t)n, sizeof *value);
    char *name = rh_base__copy("agent");
    for (int i = 0; i <= n; i++)
        plan->agent_name[i] = i < n ? plan->agents.type[i]->name : NULL;
    for (int i = 0; i < n && value; i++)
        value[i] = i;
    plan->which = (rh_param){.name = "agent",
                             .about = "the agent",
                             .hi = n - 1,
                             .whole = true,
                             .choice = plan->agent_name};
    plan->space.dim[0] =
        (rh_dim){.name = name, .kind = RH_DIM_NAMES, .value = value, .nvalue = n};
    plan->dim[0].agent = plan->dim[0].param = -1;
    plan->space.ndim = 1;
    return name && value ? RH_OK : rh_plan__no_memory(err);
}

// Initial values of all agents.
static rh_status begin(rh_plan *plan, rh_error *err)
{
    const rh_plan__agents *agents = &plan->agents;
    int n = 0;
    for (int a = 0; a < agents->n; a++) {
        plan->hp_at[a] = n;
        n += agents->type[a]->nparam;
    }
    double *hp = rh_alloc((size_t)n + 1, sizeof *hp);
    if (!hp)
        return rh_plan__no_memory(err);
    for (int a = 0; a < agents->n; a++)
        rh_param_initial(agents->type[a]->param, agents->type[a]->nparam, hp + plan->hp_at[a]);
    rh_free(plan->hp);
    plan->hp = hp;
    return agents->n > 1 ? add_choice(plan, err) : RH_OK;
}

rh_status rh_plan__space(rh_plan *plan, rh_error *err)
{
    rh_plan__clear_space(plan);
    rh_status rc = begin(plan, err);
    for (int a = 0; a < plan->agents.n && !rc; a++) {
        int nparam = plan->agents.type[a]->nparam;
        rh_plan__axis_spec *axis = rh_alloc((size_t)nparam + 1, sizeof *axis);
        rc = axis ? build(plan, a, axis, err) : rh_plan__no_memory(err);
        for (int i = 0; axis && i < nparam; i++)
            clear_axis(&axis[i]);
        rh_free(axis);
    }
    if (rc || (!plan->space.ndim && plan->command != RH_PLAN_TUNE))
        return rc;
    if (!plan->space.ndim)
        return rh_fail(err, RH_EINVAL,
                       "%s: nothing to search: every parameter has one value; set values to "
                       "try below parameters:",
                       plan->agent->name);
    return rh_space__check(&plan->space, err);
}

int rh_plan__start_param(const rh_agent_type *agent)
{
    return rh_param_find(agent->param, agent->nparam, RH_START_PARAM);
}

bool rh_plan__starts_from_log(const rh_agent_type *agent, const double *hp)
{
    int at = rh_plan__start_param(agent);
    return at >= 0 && hp[at] != RH_START_NONE;
}

bool rh_plan__begins_with_log(const rh_plan *plan)
{
    bool begins = false;
    for (int a = 0; a < plan->agents.n; a++)
        begins =
            begins || rh_plan__starts_from_log(plan->agents.type[a], rh_plan__own(plan, a));
    for (int d = 0; d < plan->space.ndim; d++)
        begins = begins || strcmp(rh_plan__dim(plan, d, NULL, NULL)->name, RH_START_PARAM) == 0;
    return begins;
}

rh_prior rh_plan__prior(const rh_plan *plan)
{
    return plan->prior;
}

void rh_plan__hp(const rh_plan *plan, const double *x, double *hp)
{
    if (!plan->agent || !plan->hp) // not settled
        return;
    int own = rh_plan__agent_of(plan, x);
    const rh_agent_type *agent = plan->agents.type[own];
    memcpy(hp, rh_plan__own(plan, own), (size_t)agent->nparam * sizeof *hp);
    for (int k = 0; x && k < plan->space.ndim; k++) {
        if (plan->dim[k].agent != own)
            continue;
        const rh_param *p = &agent->param[plan->dim[k].param];
        double value = rh_plan__formed(plan->dim[k].form, x[k]);
        value = value < p->lo ? p->lo : value; // 1 - x may miss an end by rounding
        hp[plan->dim[k].param] = value > p->hi ? p->hi : value;
    }
}
