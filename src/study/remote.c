// remote.c - runs that are done elsewhere, by a scheduler that the caller has (rh_remote).
//
//     stage: rh_ranks__hello, rh_ranks__orders, the files of its models
//     unit:  rh_study__unit                        result: rh_study__done
//
// 1. A thread of the pool waits for each run, so the study, its journal and its order of
//    events are those of runs in this process.
// 2. A server keeps nothing between runs: a scheduler may do a run again, anywhere, when a
//    process was lost. The result is the same.
// 3. A result is compared with its unit: a scheduler that mixes them up is found out.

#include "ranks.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- the study's side

rh_status rh_remote__stage(const rh_remote *remote, rh_stage stage, const rh_members *members,
                           const rh_study__agents *agents, const rh_eval_options *opt,
                           const rh_task *task, rh_error *err)
{
    unsigned char *byte[RH_KINDS__MOST] = {NULL}, *all = NULL;
    rh_ranks__hello hello;
    rh_ranks__orders *orders = rh_alloc(1, sizeof *orders);
    if (!orders)
        return rh_base__no_memory(err, "study");
    rh_status rc = rh_orders__pack(orders, byte, stage, members, agents, opt, task, err);
    size_t n = sizeof hello + sizeof *orders, at = n;
    for (int k = 0; k < orders->nkind; k++)
        n += orders->nbyte[k];
    if (!rc && !(all = rh_alloc(n, 1)))
        rc = rh_base__no_memory(err, "study");
    if (!rc) {
        rh_ranks__describe(&hello);
        memcpy(all, &hello, sizeof hello);
        memcpy(all + sizeof hello, orders, sizeof *orders);
        for (int k = 0; k < orders->nkind; at += orders->nbyte[k++])
            memcpy(all + at, byte[k], orders->nbyte[k]);
        rc = remote->stage(remote->context, stage, all, n, err);
    }
    for (int k = 0; k < members->nkind; k++)
        rh_free(byte[k]);
    rh_free(all);
    rh_free(orders);
    return rc;
}

static bool is_of(const rh_study__run *run, const rh_study__unit *unit)
{
    return run->trial == unit->trial && run->stage == unit->stage &&
           run->member == unit->member && run->run == unit->run;
}

void rh_remote__run(const rh_remote *remote, const rh_study__unit *unit, bool (*stop)(void *),
                    void *context, rh_study__done *done)
{
    rh_study__done got;
    memset(done, 0, sizeof *done);
    memset(&got, 0, sizeof got);
    done->run.trial = unit->trial;
    done->run.stage = unit->stage;
    done->run.member = unit->member;
    done->run.run = unit->run;
    done->run.result = (rh_result){.score = NAN, .outcome = RH_STOPPED};
    rh_remote_run run = {.stage = unit->stage,
                         .bytes = unit,
                         .nbyte = sizeof *unit,
                         .result = &got,
                         .nresult = sizeof got,
                         .stop = stop,
                         .context = context};
    done->rc = remote->run(remote->context, &run, &done->err);
    if (done->rc == RH_ESTOPPED)
        done->rc = RH_OK; // abandoned, as by threads of this process
    else if (!done->rc && !is_of(&got.run, unit))
        done->rc = rh_fail(&done->err, RH_EFORMAT,
                           "study: the result of another run, expected setting %d, member %d, "
                           "run %d",
                           unit->trial, unit->member, unit->run);
    else if (!done->rc)
        *done = got;
}

// ---------------------------------------------------------------------------- the other side

struct rh_server {
    rh_stage stage;
    rh_orders__place *place;            // owned
    rh_runner *runner[RH_PLAN__AGENTS]; // owned
};

static rh_status refuse(rh_error *err)
{
    return rh_fail(err, RH_EFORMAT,
                   "server: damaged bytes, expected those of a study's stage and of its runs");
}

// Compare the program that packed the stage with this one.
static rh_status compare(const rh_ranks__hello *hello, rh_error *err)
{
    rh_ranks__hello mine;
    rh_ranks__describe(&mine);
    if (strncmp(hello->version, mine.version, sizeof mine.version) != 0 ||
        memcmp(hello->shape, mine.shape, sizeof mine.shape) != 0)
        return rh_fail(
            err, RH_EINVAL,
            "server: this is rehearse %.31s and the study's %.31s, or another build, "
            "expected the same",
            mine.version, hello->version);
    if (hello->plugins != mine.plugins)
        return rh_fail(err, RH_EINVAL,
                       "server: has loaded other plug-ins than the study, expected the same");
    return RH_OK;
}

static rh_status make_runners(rh_server *server, const rh_eval_options *given, rh_error *err)
{
    rh_orders__place *place = server->place;
    rh_eval_options opt = *given;
    rh_status rc = RH_OK;
    opt.nthread = 1;
    opt.replicate = rh_study__replicate(server->stage);
    rh_members__watch(&place->members, &opt);
    for (int i = 0; i < place->agents.n && !rc; i++)
        rc = rh_runner__create(&server->runner[i], place->members.env, place->members.nmember,
                               place->agents.type[i], &place->task, place->agents.hp[i], &opt,
                               err);
    return rc;
}

rh_status rh_server_create(rh_server **out, const void *stage, size_t n, rh_error *err)
{
    rh_ranks__hello hello;
    const unsigned char *byte = stage;
    if (n < sizeof hello)
        return refuse(err);
    size_t left = n - sizeof hello;
    memcpy(&hello, byte, sizeof hello);
    rh_status rc = compare(&hello, err);
    if (rc)
        return rc;
    rh_server *server = rh_alloc(1, sizeof *server);
    rh_ranks__orders *orders = rh_alloc(1, sizeof *orders);
    rc = !server || !orders      ? rh_base__no_memory(err, "server")
         : left < sizeof *orders ? refuse(err)
                                 : RH_OK;
    if (rc)
        goto done;
    memcpy(orders, byte + sizeof hello, sizeof *orders);
    left -= sizeof *orders;
    rc = rh_orders__valid(orders) ? RH_OK : refuse(err);
    for (int k = 0; !rc && k < orders->nkind; k++) {
        rc = orders->nbyte[k] <= left ? RH_OK : refuse(err);
        left -= orders->nbyte[k];
    }
    if (rc || left) {
        rc = refuse(err);
        goto done;
    }
    server->stage = orders->stage;
    rc = rh_orders__open(&server->place, orders, byte + sizeof hello + sizeof *orders, err);
    if (!rc)
        rc = make_runners(server, &server->place->opt, err);
    if (!rc) {
        *out = server;
        server = NULL;
    }

done:
    rh_free(orders);
    rh_server_destroy(server);
    return rc;
}

size_t rh_server_nresult(void)
{
    return sizeof(rh_study__done);
}

rh_status rh_server_run(rh_server *server, const void *bytes, size_t n, void *result,
                        rh_error *err)
{
    rh_study__unit unit;
    rh_study__done done;
    if (n != sizeof unit)
        return refuse(err);
    memcpy(&unit, bytes, n);
    if (unit.stage != server->stage || unit.agent < 0 ||
        unit.agent >= server->place->agents.n || unit.member < 0 ||
        unit.member >= server->place->members.nmember || unit.run < 0)
        return refuse(err);
    rh_threads__do(server->runner[unit.agent], 0, 0, &unit, &done);
    memcpy(result, &done, sizeof done);
    return RH_OK;
}

void rh_server_destroy(rh_server *server)
{
    if (!server)
        return;
    for (int i = 0; i < RH_PLAN__AGENTS; i++)
        rh_runner__destroy(server->runner[i]);
    rh_orders__close(server->place);
    rh_free(server);
}
