// serve.c - what ranks other than 0 do: the runs that rank 0 sends.
//
// Everything that a run depends on comes from rank 0: the options, and the model as the bytes
// of its file. The rank's own plan is only compared, where it names an agent.
//
// 1. The thread that reads messages does no runs, so it is there whenever rank 0 sends. It
//    waits for results of its thread pool and polls for messages every half millisecond.
// 2. Every error is sent to rank 0 and reported there.

#include "plugin/plugin.h"
#include "ranks.h"

#include <string.h>
#include <time.h>

#define PAUSE 0.0005 // seconds between two polls for messages

typedef struct serving {
    rh_ranks *ranks; // borrowed
    const rh_plan *plan;
    int nthread;
    rh_threads *pool;                   // owned; NULL before the first stage
    rh_orders__place *place[RH_NSTAGE]; // owned; NULL: stage not added
    rh_ranks__orders *orders; // owned: of the stage whose models are arriving, or NULL
    unsigned char *byte;      // owned: the models' files so far  (all)
    size_t nbyte, all;
    bool over;
} serving;

void rh_ranks__describe(rh_ranks__hello *hello)
{
    memset(hello, 0, sizeof *hello); // padding is sent too
    snprintf(hello->version, sizeof hello->version, "%s", rh_version());
    for (int i = 0; i < rh_plugin__count(); i++)
        hello->plugins =
            (hello->plugins ^ rh_plugin__at(i)->fingerprint) * UINT64_C(0x100000001b3);
    hello->shape[0] = sizeof(rh_study__unit);
    hello->shape[1] = sizeof(rh_study__done);
    hello->shape[2] = sizeof(rh_ranks__orders);
    hello->shape[3] = sizeof(rh_ranks__refusal);
    hello->shape[4] = sizeof(rh_result);
    hello->shape[5] = UINT64_C(0x0102030405060708);
}

// ---------------------------------------------------------------------------- stages

// A message that rank 0 never sends, or not now.
static rh_status out_of_order(rh_error *err)
{
    return rh_fail(err, RH_EFORMAT, "rank 0 sent a message that was not expected");
}

// Add the stage of the orders, with the models that have arrived.
static rh_status add_stage(serving *s, rh_error *err)
{
    const rh_ranks__orders *orders = s->orders;
    rh_orders__place *here = NULL;
    if (s->place[orders->stage])
        return out_of_order(err);
    rh_status rc = rh_orders__open(&here, orders, s->byte, err);
    if (rc)
        return rc;
    s->place[orders->stage] = here;
    for (int i = 0; i < here->agents.n; i++) {
        const rh_agent_type *agent = here->agents.type[i];
        if (s->plan->agents.n && s->plan->agents.type[i] != agent)
            return rh_fail(
                err, RH_EINVAL, "was started with agent %s, expected %s as on rank 0",
                i < s->plan->agents.n ? s->plan->agents.type[i]->name : "none", agent->name);
    }
    if (!s->pool)
        rc = rh_threads__create(&s->pool, &here->agents, &here->opt, s->nthread, NULL, err);
    if (!rc)
        rc = rh_threads__add_stage(s->pool, orders->stage, &here->members, &here->task, err);
    return rc;
}

static rh_status begin_stage(serving *s, const void *message, size_t n, rh_error *err)
{
    if (n != sizeof *s->orders || s->orders)
        return out_of_order(err);
    s->orders = rh_alloc(1, sizeof *s->orders);
    if (!s->orders)
        return rh_fail(err, RH_ENOMEM, "out of memory");
    memcpy(s->orders, message, n);
    if (!rh_orders__valid(s->orders))
        return out_of_order(err);
    s->nbyte = s->all = 0;
    for (int k = 0; k < s->orders->nkind; k++)
        s->all += s->orders->nbyte[k];
    s->byte = rh_alloc(s->all, 1);
    if (!s->byte)
        return rh_fail(err, RH_ENOMEM, "out of memory for models of %zu bytes", s->all);
    return RH_OK;
}

static rh_status add_part(serving *s, const void *message, size_t n, rh_error *err)
{
    if (!s->orders || !s->byte || n > s->all - s->nbyte)
        return out_of_order(err);
    memcpy(s->byte + s->nbyte, message, n);
    s->nbyte += n;
    if (s->nbyte < s->all)
        return RH_OK;
    rh_status rc = add_stage(s, err);
    rh_free(s->byte);
    rh_free(s->orders);
    s->byte = NULL;
    s->orders = NULL;
    return rc ? rc : rh_ranks__post(s->ranks, 0, RH_MESSAGE_READY, NULL, 0, err);
}

// ---------------------------------------------------------------------------- messages

static rh_status take_unit(serving *s, const void *message, size_t n, rh_error *err)
{
    const rh_study__unit *unit = message;
    if (n != sizeof *unit || !s->pool || unit->stage >= RH_NSTAGE || !s->place[unit->stage])
        return out_of_order(err);
    if (unit->member < 0 || unit->member >= s->place[unit->stage]->members.nmember)
        return out_of_order(err);
    return rh_threads__give(s->pool, unit, err);
}

static rh_status read_messages(serving *s, rh_error *err)
{
    int from;
    rh_ranks__message what;
    size_t n;
    const void *message;
    rh_status rc = RH_OK;
    while (!rc && !s->over && (message = rh_ranks__next(s->ranks, &from, &what, &n)) != NULL) {
        switch (what) {
        case RH_MESSAGE_STAGE:
            rc = begin_stage(s, message, n, err);
            break;
        case RH_MESSAGE_MODEL:
            rc = add_part(s, message, n, err);
            break;
        case RH_MESSAGE_UNIT:
            rc = take_unit(s, message, n, err);
            break;
        case RH_MESSAGE_END:
            s->over = true;
            rh_ranks__dismissed(s->ranks);
            break;
        case RH_MESSAGE_HELLO: // to rank 0 only
        case RH_MESSAGE_READY:
        case RH_MESSAGE_DONE:
        case RH_MESSAGE_REFUSED:
        case RH_MESSAGE_LEFT:
            rc = out_of_order(err);
        }
    }
    return rc;
}

// Wait a moment for results and send them.
static rh_status send_results(serving *s, rh_error *err)
{
    rh_study__done done;
    rh_status rc = RH_OK;
    bool there = rh_threads__take(s->pool, &done, PAUSE);
    while (there && !rc) {
        rc = rh_ranks__post(s->ranks, 0, RH_MESSAGE_DONE, &done, sizeof done, err);
        there = !rc && rh_threads__take(s->pool, &done, 0.0);
    }
    return rc;
}

static rh_status serve(serving *s, const rh_study_options *opt, rh_error *err)
{
    const struct timespec pause = {.tv_nsec = (long)(PAUSE * 1e9)};
    rh_ranks__hello hello;
    rh_ranks__describe(&hello);
    hello.nthread = s->nthread;
    rh_status rc = rh_ranks__post(s->ranks, 0, RH_MESSAGE_HELLO, &hello, sizeof hello, err);
    while (!rc) {
        rc = read_messages(s, err);
        if (rc || s->over)
            break;
        if (opt->stop && opt->stop(opt->context))
            rc = rh_fail(err, RH_ESTOPPED, "stopped");
        else if (s->pool)
            rc = send_results(s, err);
        else
            nanosleep(&pause, NULL);
    }
    return rc;
}

rh_status rh_study_serve(rh_plan *plan, const rh_study_options *opt, rh_error *err)
{
    if (!opt || !opt->ranks || rh_ranks_me(opt->ranks) == 0)
        return rh_fail(err, RH_EINVAL, "study: rh_study_serve() on %s, expected a rank above 0",
                       opt && opt->ranks ? "rank 0" : "no rank");
    serving s = {.ranks = opt->ranks, .plan = plan, .nthread = opt->nthread};
    rh_ranks__refusal no = {.rc = RH_OK};
    no.rc = serve(&s, opt, &no.err);
    if (no.rc) {
        rh_fail(err, no.rc, "%s", no.err.text);
        // if this cannot be sent, rank 0 sees only that this rank left
        if (!rh_ranks__post(s.ranks, 0, RH_MESSAGE_REFUSED, &no, sizeof no, NULL))
            rh_ranks__dismissed(s.ranks);
    }
    rh_threads__destroy(s.pool);
    for (int i = 0; i < RH_NSTAGE; i++)
        rh_orders__close(s.place[i]);
    rh_free(s.byte);
    rh_free(s.orders);
    return no.rc;
}
