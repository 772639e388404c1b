// orders.c - everything that the runs of a stage depend on, as bytes for another process.
//
// Messages are structs, so both processes need the same program and kind of machine: who reads
// them has compared rh_ranks__hello before. The models follow as the bytes of their files.

#include "model/pack.h"
#include "ranks.h"
#include "rehearse/plugin.h"

#include <string.h>

rh_status rh_orders__pack(rh_ranks__orders *orders, unsigned char **byte, rh_stage stage,
                          const rh_members *members, const rh_study__agents *agents,
                          const rh_eval_options *opt, const rh_task *task, rh_error *err)
{
    rh_status rc = RH_OK;
    memset(orders, 0, sizeof *orders); // padding is sent too
    for (int k = 0; k < members->nkind && !rc; k++) {
        size_t n = 0;
        rc = rh_model__pack(members->model[k], &byte[k], &n, err);
        orders->nbyte[k] = n;
    }
    orders->nkind = members->nkind;
    orders->stage = stage;
    orders->opt = *opt;
    orders->opt.watch = NULL;
    orders->opt.stop = NULL;
    orders->opt.context = NULL;
    orders->opt.fails = NULL; // by the rule of their models
    orders->opt.rule = NULL;
    orders->opt.measure = NULL; // by their own formulas
    orders->opt.limits = NULL;
    const rh_limits *limits = opt->limits;
    if (limits) {
        snprintf(orders->at_most, sizeof orders->at_most, "%s", limits->at_most);
        snprintf(orders->also, sizeof orders->also, "%s", limits->also_all);
    }
    orders->task = *task;
    orders->nagent = agents->n;
    for (int i = 0; i < orders->nagent; i++) {
        const rh_agent_type *type = agents->type[i];
        snprintf(orders->agent[i], sizeof orders->agent[i], "%s", type->name);
        if (type->nparam)
            memcpy(orders->hp[i], agents->hp[i], (size_t)type->nparam * sizeof *orders->hp[i]);
    }
    return rc;
}

static rh_status find_agents(rh_orders__place *place, const rh_ranks__orders *orders,
                             rh_error *err)
{
    rh_study__agents *agents = &place->agents;
    agents->n = orders->nagent;
    for (int i = 0; i < agents->n; i++) {
        agents->type[i] = rh_plugin_agent(orders->agent[i], err);
        if (!agents->type[i])
            return RH_EINVAL;
        if (agents->type[i]->nparam > RH_STUDY__NHP)
            return rh_fail(err, RH_EINVAL, "%s has %d parameters, expected at most %d",
                           agents->type[i]->name, agents->type[i]->nparam, RH_STUDY__NHP);
        memcpy(place->hp[i], orders->hp[i], sizeof place->hp[i]);
        agents->hp[i] = place->hp[i];
    }
    return RH_OK;
}

bool rh_orders__valid(const rh_ranks__orders *orders)
{
    bool valid = orders->stage < RH_NSTAGE && orders->nkind >= 1 &&
                 orders->nkind <= RH_KINDS__MOST && orders->nagent >= 1 &&
                 orders->nagent <= RH_PLAN__AGENTS && orders->opt.ncurve >= 0 &&
                 orders->opt.ncurve <= RH_STUDY__NCURVE &&
                 memchr(orders->at_most, '\0', sizeof orders->at_most) &&
                 memchr(orders->also, '\0', sizeof orders->also);
    for (int i = 0; valid && i < orders->nagent; i++)
        valid = memchr(orders->agent[i], '\0', sizeof orders->agent[i]) != NULL;
    return valid;
}

rh_status rh_orders__open(rh_orders__place **out, const rh_ranks__orders *orders,
                          const unsigned char *byte, rh_error *err)
{
    rh_orders__place *place = rh_alloc(1, sizeof *place);
    if (!place)
        return rh_fail(err, RH_ENOMEM, "out of memory");
    rh_status rc = find_agents(place, orders, err);
    for (int k = 0; k < orders->nkind && !rc; k++) {
        rh_model *model = NULL;
        rc = rh_model__unpack(&model, byte, orders->nbyte[k], err);
        if (!rc)
            rc = rh_members__own(&place->members, model, err);
        byte += orders->nbyte[k];
    }
    if (!rc)
        rc = rh_limits__read(&place->limits, orders->at_most, orders->also,
                             rh_model_log(place->members.model[0]), NULL, err);
    if (rc) {
        rh_orders__close(place);
        return rc;
    }
    place->opt = orders->opt;
    rh_limits__watch(&place->limits, &place->opt);
    const rh_task *own = rh_model_task(place->members.model[0]);
    place->task = orders->task; // its names and prior are pointers of the other process
    memcpy(place->task.obs_name, own->obs_name, sizeof place->task.obs_name);
    place->task.prior = own->prior;
    *out = place;
    return RH_OK;
}

void rh_orders__close(rh_orders__place *place)
{
    if (!place)
        return;
    rh_members__clear(&place->members);
    rh_limits__clear(&place->limits);
    rh_free(place);
}
