// test_remote.c - runs that are done elsewhere: the same results, and what may go wrong.

#include "base/base.h"
#include "base/base_internal.h"
#include "model/model.h"
#include "study/ranks.h"
#include "study/runs_sample.h"

#include <pthread.h>
#include <stdlib.h>

// A scheduler that does everything in this process, each run with a server of its own.
typedef struct scheduler {
    unsigned char *stage[RH_NSTAGE]; // owned
    size_t n[RH_NSTAGE];
    rh_status fault; // of run()
    bool waits;      // until nobody wants the result
    bool mixes;      // the results of two runs
    int nrun;        // so far, under the lock
    pthread_mutex_t lock;
} scheduler;

static rh_status keep_stage(void *context, rh_stage stage, const void *bytes, size_t n,
                            rh_error *err)
{
    scheduler *c = context;
    c->n[stage] = n;
    c->stage[stage] = rh_alloc(n, 1);
    if (!c->stage[stage])
        return rh_fail(err, RH_ENOMEM, "out of memory");
    memcpy(c->stage[stage], bytes, n);
    return RH_OK;
}

static rh_status run_here(void *context, const rh_remote_run *run, rh_error *err)
{
    scheduler *c = context;
    rh_server *server = NULL;
    pthread_mutex_lock(&c->lock);
    c->nrun++;
    pthread_mutex_unlock(&c->lock);
    if (c->fault)
        return rh_fail(err, c->fault, "all workers are gone");
    while (c->waits && !run->stop(run->context)) {
    }
    if (c->waits)
        return RH_ESTOPPED;
    assert_int_equal(run->nresult, rh_server_nresult());
    rh_status rc = rh_server_create(&server, c->stage[run->stage], c->n[run->stage], err);
    if (!rc)
        rc = rh_server_run(server, run->bytes, run->nbyte, run->result, err);
    rh_server_destroy(server);
    if (c->mixes)
        ((rh_study__done *)run->result)->run.run++;
    return rc;
}

static rh_status assemble(rh_workers **workers, const rh_remote *remote, rh_error *err)
{
    rh_status rc = rh_workers__create(workers, &(rh_study__agents){{s.agent}, {s.hp}, 1},
                                      &s.opt, 1, NULL, remote, err);
    for (int k = 0; !rc && k < NSTAGE; k++)
        rc = rh_workers__add_stage(*workers, stages[k], &s.members[k], &s.task, err);
    return rc;
}

static void forget(scheduler *c)
{
    for (int k = 0; k < RH_NSTAGE; k++)
        rh_free(c->stage[k]);
}

static void the_same_results(void **unused)
{
    (void)unused;
    for (int nrun = 1; nrun <= 4; nrun += 3) {
        scheduler c = {.lock = PTHREAD_MUTEX_INITIALIZER};
        rh_remote remote = {nrun, keep_stage, run_here, &c};
        rh_workers *workers = NULL;
        bool seen[NALL] = {false};
        assert_int_equal(assemble(&workers, &remote, NULL), RH_OK);
        assert_int_equal(rh_workers__nthread(workers), nrun);
        for (int i = 0; i < NALL; i++) {
            rh_study__unit unit = unit_of(&s, (i * 5 + nrun) % NALL);
            assert_int_equal(rh_workers__give(workers, &unit, NULL), RH_OK);
        }
        for (int n = 0; n < NALL; n++) {
            rh_study__done done;
            assert_true(rh_workers__take(workers, &done, 60.0));
            int i = which(&s, &done);
            assert_true(i >= 0);
            assert_true(!seen[i]);
            seen[i] = true;
        }
        assert_int_equal(c.nrun, NALL);
        rh_workers__destroy(workers);
        forget(&c);
    }
}

// One unit, with a scheduler that does something else.
static rh_study__done one_of(scheduler *c)
{
    rh_remote remote = {1, keep_stage, run_here, c};
    rh_workers *workers = NULL;
    rh_study__unit unit = unit_of(&s, 5);
    rh_study__done done;
    pthread_mutex_init(&c->lock, NULL);
    assert_int_equal(assemble(&workers, &remote, NULL), RH_OK);
    assert_int_equal(rh_workers__give(workers, &unit, NULL), RH_OK);
    bool there = rh_workers__take(workers, &done, c->waits ? 0.05 : 60.0);
    assert_int_equal(there, !c->waits);
    rh_workers__destroy(workers); // does not wait for a run that nobody wants
    forget(c);
    return done;
}

static void faults(void **unused)
{
    (void)unused;
    rh_study__done done = one_of(&(scheduler){.fault = RH_EIO});
    assert_int_equal(done.rc, RH_EIO);
    assert_string_equal(done.err.text, "all workers are gone");
    done = one_of(&(scheduler){.mixes = true});
    assert_int_equal(done.rc, RH_EFORMAT);
    assert_string_equal(
        done.err.text, "study: the result of another run, expected setting 0, member 1, run 2");
    one_of(&(scheduler){.waits = true});
}

static void damaged_bytes(void **unused)
{
    (void)unused;
    scheduler c = {.nrun = 0};
    rh_server *server = NULL;
    rh_study__unit unit = unit_of(&s, 0);
    rh_study__done done;
    rh_error err;
    rh_remote remote = {1, keep_stage, run_here, &c};
    rh_study__agents agents = {{s.agent}, {s.hp}, 1};
    assert_int_equal(rh_remote__stage(&remote, RH_STAGE_SEARCH, &s.members[0], &agents, &s.opt,
                                      &s.task, &err),
                     RH_OK);
    unsigned char *stage = c.stage[RH_STAGE_SEARCH];
    size_t n = c.n[RH_STAGE_SEARCH], head = sizeof(rh_ranks__hello);
    for (size_t k = 0; k < n; k += 1 + k / 7)
        assert_int_not_equal(rh_server_create(&server, stage, k, &err), RH_OK);
    for (size_t k = 0; k < n; k += 1 + k / 50) { // refused, or a number changed
        stage[k] ^= 0x40;
        if (k >= head && rh_server_create(&server, stage, n, NULL) == RH_OK) {
            rh_server_destroy(server);
            server = NULL;
        }
        stage[k] ^= 0x40;
    }
    stage[0] ^= 1; // the version
    assert_int_equal(rh_server_create(&server, stage, n, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "expected the same"));
    stage[0] ^= 1;

    assert_int_equal(rh_server_create(&server, stage, n, &err), RH_OK);
    assert_int_equal(rh_server_run(server, &unit, sizeof unit - 1, &done, &err), RH_EFORMAT);
    unit.member = NMEMBER;
    assert_int_equal(rh_server_run(server, &unit, sizeof unit, &done, &err), RH_EFORMAT);
    unit.member = 0;
    unit.agent = 1;
    assert_int_equal(rh_server_run(server, &unit, sizeof unit, &done, &err), RH_EFORMAT);
    unit.agent = 0;
    unit.stage = RH_STAGE_CONFIRM;
    assert_int_equal(rh_server_run(server, &unit, sizeof unit, &done, &err), RH_EFORMAT);
    unit.stage = RH_STAGE_SEARCH;
    assert_int_equal(rh_server_run(server, &unit, sizeof unit, &done, &err), RH_OK);
    assert_int_equal(which(&s, &done), 0);
    rh_server_destroy(server);
    rh_server_destroy(NULL);
    forget(&c);
}

// What agents begin with comes from the model's file, not from the other process's memory.
static void the_prior_is_the_models(void **unused)
{
    (void)unused;
    rh_model *model = s.model[0][0];
    size_t width = (size_t)rh_contract__prior_width(s.task.nobs, s.task.nact);
    double *row = calloc(2 * width, sizeof *row);
    unsigned char *byte[RH_KINDS__MOST] = {NULL};
    rh_ranks__orders *orders = calloc(1, sizeof *orders);
    rh_orders__place *place = NULL;
    rh_study__agents agents = {{s.agent}, {s.hp}, 1};
    rh_task task = s.task;
    assert_non_null(row);
    assert_non_null(orders);
    row[2 * width - 1] = 1; // the last row is terminal
    assert_int_equal(rh_prior__keep(model, (rh_prior){.n = 2, .row = row}, NULL), RH_OK);
    task.prior = (rh_prior){.n = 2, .row = row};
    assert_int_equal(rh_orders__pack(orders, byte, RH_STAGE_SEARCH, &s.members[0], &agents,
                                     &s.opt, &task, NULL),
                     RH_OK);
    assert_int_equal(rh_orders__open(&place, orders, byte[0], NULL), RH_OK);
    assert_int_equal(place->task.prior.n, 2);
    assert_ptr_equal(place->task.prior.row, rh_model_task(place->members.model[0])->prior.row);
    rh_orders__close(place);
    assert_int_equal(rh_prior__keep(model, (rh_prior){.n = 0}, NULL), RH_OK);
    rh_free(byte[0]);
    free(orders);
    free(row);
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t before = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        scheduler c = {.lock = PTHREAD_MUTEX_INITIALIZER};
        rh_remote remote = {1, keep_stage, run_here, &c};
        rh_workers *workers = NULL;
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rh_status rc = assemble(&workers, &remote, &err);
        rh_study__unit unit = unit_of(&s, 0);
        if (!rc)
            rc = rh_workers__give(workers, &unit, &err);
        rh_study__done done;
        if (!rc) {
            assert_true(rh_workers__take(workers, &done, 60.0));
            rc = done.rc;
        }
        rh_base__alloc_fail_at(0);
        rh_workers__destroy(workers);
        forget(&c);
        assert_int_equal(rh_base__alloc_live(), before);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_results),
        cmocka_unit_test(faults),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(the_prior_is_the_models),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
