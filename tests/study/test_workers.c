// test_workers.c - the thread pool and other ranks as one. Without arguments: one rank.
// tests/study/workers_ranks starts it on several ranks, with the name of a test case and a file
// by which the ranks signal each other.

#include "base/base_internal.h"
#include "study/ranks.h"
#include "study/runs_sample.h"

#include <unistd.h>

static rh_status assemble(rh_workers **workers, const rh_eval_options *opt, int nthread,
                          rh_ranks *ranks, rh_error *err)
{
    rh_status rc = rh_workers__create(workers, &(rh_study__agents){{s.agent}, {s.hp}, 1}, opt,
                                      nthread, ranks, NULL, err);
    for (int k = 0; !rc && k < NSTAGE; k++)
        rc = rh_workers__add_stage(*workers, stages[k], &s.members[k], &s.task, err);
    return rc;
}

// ---------------------------------------------------------------------------- alone

static void alone(void **unused)
{
    (void)unused;
    for (int nthread = 1; nthread <= 3; nthread++) {
        rh_workers *workers = NULL;
        bool seen[NALL] = {false};
        rh_study__done done;
        assert_int_equal(assemble(&workers, &s.opt, nthread, NULL, NULL), RH_OK);
        assert_int_equal(rh_workers__nthread(workers), nthread);
        assert_false(rh_workers__take(workers, &done, 0.01));
        for (int i = 0; i < NALL; i++) {
            rh_study__unit unit = unit_of(&s, (i * 5 + nthread) % NALL);
            assert_int_equal(rh_workers__give(workers, &unit, NULL), RH_OK);
            assert_int_equal(rh_workers__nopen(workers), i + 1);
        }
        for (int n = NALL; n > 0; n--) {
            assert_true(rh_workers__take(workers, &done, 60.0));
            int i = which(&s, &done);
            assert_true(i >= 0);
            assert_false(seen[i]);
            seen[i] = true;
            assert_int_equal(rh_workers__nopen(workers), n - 1);
        }
        assert_false(rh_workers__take(workers, &done, 0.0));
        rh_workers__destroy(workers);
    }
    rh_workers__destroy(NULL);
}

static void survives_every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t before = rh_base__alloc_live();
    for (int nth = 1;; nth++) {
        rh_workers *workers = NULL;
        rh_error err;
        rh_base__alloc_fail_at(nth);
        rh_status rc = assemble(&workers, &s.opt, 1, NULL, &err);
        for (int i = 0; !rc && i < 40; i++) {
            rh_study__unit unit = unit_of(&s, i % NALL);
            rc = rh_workers__give(workers, &unit, &err);
        }
        while (!rc && rh_workers__nopen(workers) > 0) {
            rh_study__done done;
            assert_true(rh_workers__take(workers, &done, 60.0));
            rc = done.rc;
        }
        rh_base__alloc_fail_at(0);
        rh_workers__destroy(workers);
        assert_int_equal(rh_base__alloc_live(), before);
        if (rc == RH_OK)
            break;
        assert_int_equal(rc, RH_ENOMEM);
    }
}

// ---------------------------------------------------------------------------- one of several

static rh_ranks *ranks;
static const char *handed_out; // a file that says so, once all is

// Outside of cmocka a failure ends all ranks.
static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "rank %d: failed: %s\n", rh_ranks_me(ranks), what);
    rh_ranks_abort(ranks, 1);
}
#define MUST(condition) must(condition, #condition)

// All runs four times, in any order of stages, trials and ranks.
static void case_same(void)
{
    rh_workers *workers = NULL;
    rh_error err = {""};
    rh_status rc = rh_workers__create(&workers, &(rh_study__agents){{s.agent}, {s.hp}, 1},
                                      &s.opt, 2, ranks, NULL, &err);
    int seen[NALL] = {0}, nopen = 0;
    rh_study__done done;
    for (int k = 0; !rc && k < NSTAGE; k++) {
        // add the second stage while runs of the first are under way
        rc = rh_workers__add_stage(workers, stages[k], &s.members[k], &s.task, &err);
        for (int i = 0; !rc && i < 4 * NUNIT; i++, nopen++) {
            rh_study__unit unit = unit_of(&s, k * NUNIT + (i * 7 + 3) % NUNIT);
            rc = rh_workers__give(workers, &unit, &err);
        }
    }
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    MUST(rc == RH_OK && rh_workers__nthread(workers) == 1 + rh_ranks_count(ranks));
    for (; nopen > 0; nopen--) {
        MUST(rh_workers__nopen(workers) == nopen);
        MUST(rh_workers__take(workers, &done, 60.0));
        int i = which(&s, &done);
        MUST(i >= 0);
        seen[i]++;
    }
    for (int i = 0; i < NALL; i++)
        MUST(seen[i] == 4);
    MUST(!rh_workers__take(workers, &done, 0.002));
    rh_workers__destroy(workers);
}

static rh_workers *give_endless_runs(void)
{
    rh_workers *workers = NULL;
    rh_eval_options opt = s.opt;
    opt.nstep = INT64_C(1000000000000);
    opt.ncurve = 0;
    MUST(assemble(&workers, &opt, 2, ranks, NULL) == RH_OK);
    for (int i = 0; i < NALL; i++) {
        rh_study__unit unit = unit_of(&s, i);
        MUST(rh_workers__give(workers, &unit, NULL) == RH_OK);
    }
    return workers;
}

// All ranks abandon runs that never end.
static void case_leave(void)
{
    rh_workers *workers = give_endless_runs();
    rh_study__done done;
    MUST(!rh_workers__take(workers, &done, 0.05));
    rh_workers__destroy(workers);
}

// The last rank stops early: its units fail, and nothing hangs.
static void case_stop(void)
{
    rh_workers *workers = give_endless_runs();
    rh_study__done done;
    FILE *file = fopen(handed_out, "w");
    MUST(file && fclose(file) == 0);
    char words[64];
    snprintf(words, sizeof words, "rank %d: stopped", rh_ranks_count(ranks) - 1);
    for (int i = 0; i < 2; i++) { // two for its one thread
        MUST(rh_workers__take(workers, &done, 60.0));
        MUST(done.rc == RH_ESTOPPED && strcmp(done.err.text, words) == 0);
    }
    MUST(rh_workers__nopen(workers) == NALL - 2);
    MUST(!rh_workers__take(workers, &done, 0.02));
    rh_workers__destroy(workers);
}

// A ranks that cannot be assembled, and why.
static void refused(const char *words)
{
    rh_workers *workers = NULL;
    rh_error err = {""};
    MUST(assemble(&workers, &s.opt, 2, ranks, &err) != RH_OK);
    char said[128];
    snprintf(said, sizeof said, "rank %d: %s", rh_ranks_count(ranks) - 1, words);
    if (strcmp(err.text, said) != 0)
        fprintf(stderr, "said: %s\n", err.text);
    MUST(strcmp(err.text, said) == 0);
    rh_workers__destroy(workers);
}

static const char *other_version(void)
{
    static char words[96];
    snprintf(words, sizeof words,
             "is rehearse 9.9.9 and rank 0 is %s, expected the same on all ranks",
             rh_version());
    return words;
}

static void rank_0(const char *name)
{
    begin_sample(&s);
    if (strcmp(name, "same") == 0)
        case_same();
    else if (strcmp(name, "leave") == 0)
        case_leave();
    else if (strcmp(name, "stop") == 0)
        case_stop();
    else if (strcmp(name, "agent") == 0)
        refused("was started with agent random, expected esarsa as on rank 0");
    else if (strcmp(name, "gone") == 0)
        refused("left the study");
    else if (strcmp(name, "version") == 0)
        refused(other_version());
    else if (strcmp(name, "build") == 0)
        refused("is another build of rehearse or another kind of machine than rank 0, expected "
                "the same on all ranks");
    else
        MUST(strcmp(name, "nothing") == 0); // rank 0 has no work at all
    end_sample(&s);
}

static bool stop_later(void *context)
{
    (void)context;
    return access(handed_out, F_OK) == 0;
}

static void other_rank(const char *name)
{
    bool last = rh_ranks_me(ranks) == rh_ranks_count(ranks) - 1;
    rh_error err = {""};
    rh_plan plan = {.agent = NULL};
    rh_study_options opt = {.nthread = 1, .ranks = ranks};
    rh_ranks__hello hello;
    if (last && strcmp(name, "gone") == 0)
        return;
    if (last && (strcmp(name, "version") == 0 || strcmp(name, "build") == 0)) {
        rh_ranks__describe(&hello);
        hello.nthread = 1;
        if (strcmp(name, "version") == 0)
            snprintf(hello.version, sizeof hello.version, "9.9.9");
        else
            hello.shape[1]++;
        MUST(!rh_ranks__post(ranks, 0, RH_MESSAGE_HELLO, &hello, sizeof hello, NULL));
        return;
    }
    if (last && strcmp(name, "agent") == 0)
        plan.agents = (rh_plan__agents){.type = {rh_agent_find("random", NULL)}, .n = 1};
    if (last && strcmp(name, "stop") == 0)
        opt.stop = stop_later;
    rh_status rc = rh_study_serve(&plan, &opt, &err);
    if (plan.agents.n)
        MUST(rc == RH_EINVAL);
    else
        MUST(rc == (opt.stop ? RH_ESTOPPED : RH_OK));
}

static int one_of_several(const char *name)
{
    rh_error err;
    int64_t before = rh_base__alloc_live();
    if (rh_ranks_begin(&ranks, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (rh_ranks_me(ranks) == 0)
        rank_0(name);
    else
        other_rank(name);
    rh_ranks_end(ranks);
    return rh_base__alloc_live() != before;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        handed_out = argv[2];
        return one_of_several(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
