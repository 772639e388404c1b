// serve.c - what ranks other than 0 do: live what rank 0 hands out.
//
// Everything a run depends on comes from rank 0: how it is run, and the model as the bytes
// of its file. The plan a rank was started with is only compared, where it says which agent.
//
// 1. The thread that reads letters runs nothing: it must be there when rank 0 writes. It waits
//    for its own thread pool's results, and looks for letters every half millisecond.
// 2. Whatever goes wrong is told to rank 0 and becomes its error: people look there.

#include "ranks.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define PAUSE 0.0005 // seconds between two looks for letters

// A stage that runs can be run in.
typedef struct place {
    rh_task task;       // borrowed by the thread pool
    rh_members members; // with its model
} place;

typedef struct serving {
    rh_ranks *ranks; // borrowed
    const rh_plan *plan;
    int nthread;
    rh_threads *threads;      // owned; NULL before the first stage
    place *place[RH_NSTAGE];  // owned; NULL: not settled
    rh_ranks__orders *orders; // owned: of the stage whose model is coming, or NULL
    unsigned char *byte;      // owned: the model's file, so far  (nbyte of orders)
    size_t nbyte;
    bool over;
} serving;

void rh_ranks__describe(rh_ranks__hello *hello)
{
    memset(hello, 0, sizeof *hello); // its padding is sent too
    snprintf(hello->version, sizeof hello->version, "%s", rh_version());
    hello->shape[0] = sizeof(rh_study__unit);
    hello->shape[1] = sizeof(rh_study__done);
    hello->shape[2] = sizeof(rh_ranks__orders);
    hello->shape[3] = sizeof(rh_ranks__refusal);
    hello->shape[4] = sizeof(rh_result);
    hello->shape[5] = UINT64_C(0x0102030405060708);
}

// ---------------------------------------------------------------------------- stages

// A letter that rank 0 does not write, or not now.
static rh_status out_of_order(rh_error *err)
{
    return rh_fail(err, RH_EFORMAT, "a letter from rank 0 is not what was expected");
}

// Make the place that the orders tell of, with the model that has come.
static rh_status settle(serving *s, rh_error *err)
{
    const rh_ranks__orders *orders = s->orders;
    const rh_agent_type *agent = rh_agent_find(orders->agent, err);
    if (!agent)
        return RH_EINVAL;
    if (s->plan->agent && s->plan->agent != agent)
        return rh_fail(err, RH_EINVAL, "was started with agent %s, and rank 0 with %s",
                       s->plan->agent->name, agent->name);
    if (orders->stage >= RH_NSTAGE || s->place[orders->stage])
        return out_of_order(err);
    place *here = s->place[orders->stage] = rh_alloc(1, sizeof *here);
    if (!here)
        return rh_fail(err, RH_ENOMEM, "out of memory");
    rh_model *model = NULL;
    rh_status rc = rh_study__unpack_model(&model, s->byte, s->nbyte, err);
    if (rc)
        return rc;
    rc = rh_members__open(&here->members, model, err);
    here->members.owned = model;
    if (rc)
        return rc;

    // names are words of this process
    here->task = orders->task;
    memcpy(here->task.obs_name, rh_model_task(model)->obs_name, sizeof here->task.obs_name);
    if (!s->threads)
        rc = rh_threads__create(&s->threads, agent, &orders->opt, s->nthread, err);
    if (!rc)
        rc = rh_threads__settle(s->threads, orders->stage, &here->members, &here->task,
                                orders->hp, err);
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
    s->nbyte = 0;
    s->byte = rh_alloc(s->orders->nbyte, 1);
    if (!s->byte)
        return rh_fail(err, RH_ENOMEM, "out of memory for a model of %llu bytes",
                       (unsigned long long)s->orders->nbyte);
    return RH_OK;
}

static rh_status add_part(serving *s, const void *message, size_t n, rh_error *err)
{
    if (!s->orders || !s->byte || n > s->orders->nbyte - s->nbyte)
        return out_of_order(err);
    memcpy(s->byte + s->nbyte, message, n);
    s->nbyte += n;
    if (s->nbyte < s->orders->nbyte)
        return RH_OK;
    rh_status rc = settle(s, err);
    rh_free(s->byte);
    rh_free(s->orders);
    s->byte = NULL;
    s->orders = NULL;
    return rc ? rc : rh_ranks__post(s->ranks, 0, RH_MESSAGE_READY, NULL, 0, err);
}

// ---------------------------------------------------------------------------- letters

static rh_status take_unit(serving *s, const void *message, size_t n, rh_error *err)
{
    const rh_study__unit *unit = message;
    if (n != sizeof *unit || !s->threads || unit->stage >= RH_NSTAGE || !s->place[unit->stage])
        return out_of_order(err);
    if (unit->member < 0 || unit->member >= s->place[unit->stage]->members.nmember)
        return out_of_order(err);
    return rh_threads__give(s->threads, unit, err);
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
        case RH_MESSAGE_HELLO: // these go the other way
        case RH_MESSAGE_READY:
        case RH_MESSAGE_DONE:
        case RH_MESSAGE_REFUSED:
        case RH_MESSAGE_LEFT:
            rc = out_of_order(err);
        }
    }
    return rc;
}

// Send the thread pool's results, once there are some or a moment has passed.
static rh_status send_results(serving *s, rh_error *err)
{
    rh_study__done done;
    rh_status rc = RH_OK;
    bool there = rh_threads__take(s->threads, &done, PAUSE);
    while (there && !rc) {
        rc = rh_ranks__post(s->ranks, 0, RH_MESSAGE_DONE, &done, sizeof done, err);
        there = !rc && rh_threads__take(s->threads, &done, 0.0);
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
        else if (s->threads)
            rc = send_results(s, err);
        else
            nanosleep(&pause, NULL);
    }
    return rc;
}

rh_status rh_study_serve(rh_plan *plan, const rh_study_options *opt, rh_error *err)
{
    assert(opt && opt->ranks && rh_ranks_me(opt->ranks) > 0);
    serving s = {.ranks = opt->ranks, .plan = plan, .nthread = opt->nthread};
    rh_ranks__refusal no = {.rc = RH_OK};
    no.rc = serve(&s, opt, &no.err);
    if (no.rc) {
        rh_fail(err, no.rc, "%s", no.err.text);
        // without memory for these words, leaving is all that rank 0 is told
        if (!rh_ranks__post(s.ranks, 0, RH_MESSAGE_REFUSED, &no, sizeof no, NULL))
            rh_ranks__dismissed(s.ranks);
    }
    rh_threads__destroy(s.threads);
    for (int i = 0; i < RH_NSTAGE; i++) {
        if (s.place[i])
            rh_members__clear(&s.place[i]->members);
        rh_free(s.place[i]);
    }
    rh_free(s.byte);
    rh_free(s.orders);
    return no.rc;
}
