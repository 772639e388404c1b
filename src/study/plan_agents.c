// plan_agents.c - the agents of a plan: one, several, or those that suit the log.
//
// 1. With several agents the first dimension of the space is the agent, and the dimensions of
//    each are a branch, named "dqn.rate". With one agent there is no such dimension.
// 2. `auto` has the agents below that take the log's actions, and the logged controller itself.
//    It is the default, except with a grid, a preset or values of parameters: these are for
//    one agent, esarsa or td3. The Gaussian actor-critic is taken by name only: it cannot begin
//    with the log, and learns the pendulum in no less than 100,000 steps. `auto` is without
//    sac, which costs as much as td3 and began worse with 8 of 9 logs
//    (bench/plants/starts.csv).
// 3. The nominal cost of a run is that of its type: agents with networks learn by gradients of
//    batches, and take about a hundred times as long as linear ones. A measured time would
//    make the result depend on the machine.

#include "base/base.h"
#include "plan.h"
#include "rehearse/plugin.h"
#include "search/search.h"
#include "study.h"

#include <math.h>
#include <string.h>

static const char *const automatic[] = {"dqn", "esarsa", "td3", RH_PLAN__PRACTISED,
                                        RH_PLAN__CLONE};
enum { NAUTOMATIC = sizeof automatic / sizeof *automatic };

#define CHEAP 0.02 // decision 3: esarsa 0.005 to 0.02 s, dqn and td3 0.5 to 1 s, of 3,000 steps

// ---------------------------------------------------------------------------- the key

static rh_status add(rh_plan__agents *agents, const char *name, size_t n,
                     const rh_key__said *said, const rh_yaml *node, rh_error *err)
{
    char word[512];
    rh_error why = {""};
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), name);
    if (strcmp(word, "auto") == 0) {
        agents->automatic = true;
        return RH_OK;
    }
    const rh_agent_type *type = rh_plugin_agent(word, &why);
    if (!type)
        return rh_key__blame(said, node, err, why.text);
    for (int i = 0; i < agents->n; i++)
        if (agents->type[i] == type)
            return rh_key__refuse(said, node, "", err, "different agents");
    if (agents->n == RH_PLAN__AGENTS)
        return rh_key__refuse(said, node, "", err, "at most 8 agents");
    agents->type[agents->n++] = type;
    return RH_OK;
}

// A name, names between commas, a list of them, or auto. A command (exec:) may have commas.
rh_status rh_plan__read_agents(void *field, const rh_key__said *said, rh_error *err)
{
    rh_plan__agents *agents = field;
    const rh_yaml *value = said->value;
    rh_status rc = RH_OK;
    *agents = (rh_plan__agents){.n = 0};
    for (int i = 0; value->kind == RH_YAML_LIST && i < value->n && !rc; i++)
        rc = value->item[i]->kind == RH_YAML_TEXT
                 ? add(agents, value->item[i]->text, strlen(value->item[i]->text), said,
                       value->item[i], err)
                 : rh_key__refuse(said, value->item[i], "", err, "names of agents");
    const char *at = rh_key__text(said);
    bool whole = strncmp(at, "exec:", 5) == 0;
    for (size_t n; !rc && value->kind != RH_YAML_LIST; at += n + 1) {
        n = whole ? strlen(at) : strcspn(at, ",");
        rc = add(agents, at, n, said, NULL, err);
        if (rc || !at[n])
            break;
    }
    if (!rc && (agents->automatic ? agents->n > 0 : agents->n == 0))
        rc = rh_key__refuse(said, NULL, "", err, "an agent, several, or auto alone");
    return rc;
}

void rh_plan__show_agents(const void *field, rh_text *text)
{
    const rh_plan__agents *agents = field;
    if (agents->n == 1) {
        rh_text__yaml(text, agents->type[0]->name);
        return;
    }
    for (int i = 0; i < agents->n; i++) {
        rh_text__add(text, i ? ", " : "[");
        rh_text__yaml(text, agents->type[i]->name);
    }
    rh_text__add(text, agents->n ? "]" : "auto");
}

// ---------------------------------------------------------------------------- the log's
// actions

static rh_status check_actions(const rh_plan *plan, const rh_agent_type *type,
                               const rh_log *log, rh_error *err)
{
    unsigned actions = log->naction ? RH_DISCRETE : RH_CONTINUOUS;
    char why[320];
    if (type->actions & actions)
        return RH_OK;
    snprintf(why, sizeof why,
             "%s cannot take the log's %s actions; agents that can:", type->name,
             log->naction ? "discrete" : "continuous");
    for (int i = 0, n = 0; i < rh_agent_ntype(); i++)
        if (rh_agent_type_at(i)->actions & actions)
            rh_text__put(why, sizeof why, "%s %s", n++ ? "," : "", rh_agent_type_at(i)->name);
    return rh_key__blame(rh_plan__said(plan, "agent.name"), NULL, err, why);
}

// Whether what was set is for one agent: a grid, a preset, a parameter without an agent's name.
static bool means_one(const rh_plan *plan)
{
    bool one = rh_plan__said(plan, "grid") || plan->preset;
    for (int i = 0; i < plan->book->nsaid; i++) {
        const char *name = rh_plan__behind(plan->book->said[i].key, "parameters.");
        one = one || (name && !strchr(name, '.'));
    }
    return one;
}

rh_status rh_plan__choose_agents(rh_plan *plan, const rh_log *log, rh_error *err)
{
    rh_plan__agents *agents = &plan->agents;
    unsigned actions = log->naction ? RH_DISCRETE : RH_CONTINUOUS;
    rh_status rc = RH_OK;
    if (!agents->n && !agents->automatic && means_one(plan)) {
        agents->type[0] = rh_agent_find(log->naction ? "esarsa" : "td3", err);
        agents->n = agents->type[0] != NULL;
    }
    agents->automatic = agents->automatic || !agents->n;
    for (int i = 0; agents->automatic && i < NAUTOMATIC; i++) {
        const rh_agent_type *type = rh_agent_find(automatic[i], NULL);
        if (type && (type->actions & actions))
            agents->type[agents->n++] = type;
    }
    for (int i = 0; i < agents->n && !rc; i++)
        rc = check_actions(plan, agents->type[i], log, err);
    plan->agent = agents->type[0];
    return rc || !agents->n ? RH_EINVAL : RH_OK;
}

// ---------------------------------------------------------------------------- from a setting

int rh_plan__nagent(const rh_plan *plan)
{
    return plan->agents.n;
}

const rh_agent_type *rh_plan__agent_at(const rh_plan *plan, int i)
{
    return i >= 0 && i < plan->agents.n ? plan->agents.type[i] : NULL;
}

int rh_plan__agent_of(const rh_plan *plan, const double *x)
{
    return plan->agents.n > 1 && x ? (int)x[0] : 0;
}

const double *rh_plan__own(const rh_plan *plan, int agent)
{
    return plan->hp + plan->hp_at[agent];
}

const rh_param *rh_plan__dim(const rh_plan *plan, int d, int *agent, rh_plan__form *form)
{
    int own = plan->dim[d].agent;
    if (agent)
        *agent = own;
    if (form)
        *form = plan->dim[d].form;
    return own < 0 ? &plan->which : &plan->agents.type[own]->param[plan->dim[d].param];
}

double rh_plan__value_of(const rh_plan *plan, const rh_trial *trial, int d)
{
    int own = plan->dim[d].agent;
    return own < 0               ? trial->agent
           : own == trial->agent ? trial->hp[plan->dim[d].param]
                                 : (double)NAN;
}

double rh_plan__cost(const rh_agent_type *type)
{
    return rh_param_find(type->param, type->nparam, "updates") >= 0 ||
                   strncmp(type->name, "exec:", 5) == 0
               ? 1.0
               : CHEAP;
}

double rh_plan__share(const rh_plan *plan, const double *x)
{
    double most = 0.0;
    for (int a = 0; a < plan->agents.n; a++)
        most = fmax(most, rh_plan__cost(plan->agents.type[a]));
    return rh_plan__cost(plan->agents.type[rh_plan__agent_of(plan, x)]) / most;
}

void rh_plan__branch(const rh_plan *plan, int agent, rh_space *space, int *dim)
{
    space->ndim = 0;
    for (int d = 0; d < plan->space.ndim; d++) {
        if (plan->dim[d].agent != agent)
            continue;
        dim[space->ndim] = d;
        space->dim[space->ndim] = plan->space.dim[d];
        space->dim[space->ndim++].branch = 0;
    }
}

// Whether a setting of agent a may begin with practice.
static bool may_practise(const rh_plan *plan, int a)
{
    int at = rh_plan__start_param(plan->agents.type[a]);
    for (int d = 0; d < plan->space.ndim; d++)
        if (plan->dim[d].agent == a && plan->dim[d].param == at)
            return true;
    return at >= 0 && rh_plan__own(plan, a)[at] == RH_START_MODEL;
}

int rh_plan__practising(const rh_plan *plan)
{
    bool wanted = false;
    int who = -1;
    for (int a = plan->agents.n - 1; a >= 0; a--) {
        const rh_agent_type *type = plan->agents.type[a];
        int at = rh_plan__start_param(type);
        wanted = wanted || may_practise(plan, a);
        if (at >= 0 && type->save && type->param[at].hi >= RH_START_MODEL)
            who = a;
    }
    return wanted ? who : -1;
}

// ---------------------------------------------------------------------------- the search

// The agent's defaults, with another start if it is searched, as a setting x (ndim) of the
// space; outside it where its values are.
static void default_setting(const rh_plan *plan, int agent, double start, double *x)
{
    int at = rh_plan__start_param(plan->agents.type[agent]);
    for (int d = 0; d < plan->space.ndim; d++) {
        bool own = plan->dim[d].agent == agent;
        double value = own ? rh_plan__own(plan, agent)[plan->dim[d].param] : NAN;
        value = own && plan->dim[d].param == at ? start : value;
        switch (plan->dim[d].form) {
        case RH_FORM_PLAIN:
            x[d] = value;
            break;
        case RH_FORM_ONE_MINUS:
            x[d] = 1.0 - value;
            break;
        case RH_FORM_POW2:
            x[d] = log2(value);
        }
    }
    x[0] = agent;
}

rh_status rh_plan__search(const rh_plan *plan, rh_search__options opt, rh_search **out,
                          rh_error *err)
{
    double first[2 * RH_PLAN__AGENTS * RH_MAX_DIM], cost[RH_PLAN__AGENTS];
    int n = plan->agents.n, nfirst = 0;
    for (int a = 0; a < n && n > 1; a++) {
        int at = rh_plan__start_param(plan->agents.type[a]);
        double own = at >= 0 ? rh_plan__own(plan, a)[at] : NAN;
        default_setting(plan, a, own, first + nfirst++ * plan->space.ndim);
        if (own != RH_START_MODEL && plan->practice > 0 && may_practise(plan, a))
            default_setting(plan, a, RH_START_MODEL, first + nfirst++ * plan->space.ndim);
        cost[a] = rh_plan__share(plan, &(double){a});
    }
    if (n > 1) {
        opt.first = first;
        opt.nfirst = nfirst;
        opt.cost = cost;
    }
    return rh_search__create(out, plan->method, &plan->space, &opt, err);
}
