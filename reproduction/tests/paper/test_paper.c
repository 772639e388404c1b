// test_paper.c - a battery: options, cells, resumption, files, memory. Its experiment is
// `theory`, which is short; tests/cli/test_cmd_paper.c has a longer one.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_internal.h"
#include "paper/paper_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64] = "/tmp/rehearse-paper-XXXXXX";
static char folder[96];

static rh_paper_options options(void)
{
    rh_paper_options opt = rh_paper_defaults();
    opt.folder = folder;
    opt.quick = true;
    opt.nlog = 2;
    opt.ncostly = 0;
    return opt;
}

static void run_shell(const char *format, ...) RH_PRINTF(1, 2);
static void run_shell(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static rh_status run(const char *name, const rh_paper_options *opt, rh_error *err)
{
    rh_paper *paper = NULL;
    rh_status rc = rh_paper_create(&paper, name, opt, err);
    if (!rc)
        rc = rh_paper_run(paper, err);
    rh_paper_destroy(paper);
    return rc;
}

static int make_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof folder, "%s/battery", root);
    rh_paper_options opt = options();
    rh_error err;
    return run("theory", &opt, &err) == RH_OK ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    run_shell("rm -rf %s", root);
    return 0;
}

// ---------------------------------------------------------------------------- options

static void refused(void **unused)
{
    (void)unused;
    rh_paper *paper = NULL;
    rh_error err;
    rh_paper_options opt = options();
    assert_int_equal(rh_paper_create(&paper, "exp9", &opt, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "no experiment 'exp9'; did you mean 'exp1'?"));
    opt.nlog = 0;
    assert_int_equal(rh_paper_create(&paper, "exp1", &opt, &err), RH_EINVAL);
    assert_string_equal(err.text, "paper: logs = 0, expected 1 to 300");
    opt = options();
    opt.ncostly = -1;
    assert_int_equal(rh_paper_create(&paper, "exp1", &opt, NULL), RH_EINVAL);
    opt = options();
    opt.nthread = 0;
    assert_int_equal(rh_paper_create(&paper, "exp1", &opt, NULL), RH_EINVAL);
    opt = options();
    opt.folder = "";
    assert_int_equal(rh_paper_create(&paper, "exp1", &opt, NULL), RH_EINVAL);
    opt = options();
    opt.cookie = 0;
    assert_int_equal(rh_paper_create(&paper, "exp1", &opt, &err), RH_EINVAL);
    assert_null(paper);
    opt = options();
    opt.folder = "/dev/null/x";
    assert_int_equal(run("theory", &opt, &err), RH_EIO);
}

// Every experiment lists cells whose names differ; all of them share some.
static void listed(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    opt.quick = false;
    opt.nlog = 30;
    opt.ncostly = 6;
    rh_paper *paper = NULL;
    int sum = 0;
    for (int i = 0; rh_paper_at(i); i++) {
        assert_int_equal(rh_paper_create(&paper, rh_paper_at(i)->name, &opt, NULL), RH_OK);
        rh_paper_estimate e = rh_paper_foresee(paper);
        assert_true(e.ncell > 0);
        assert_int_equal(e.ndone, 0);
        assert_true(e.seconds > 0.0);
        sum += e.ncell;
        rh_paper_destroy(paper);
    }
    assert_int_equal(rh_paper_create(&paper, "all", &opt, NULL), RH_OK);
    rh_paper_estimate e = rh_paper_foresee(paper);
    assert_true(e.ncell < sum);
    for (int i = 0; i < paper->ncell; i++) {
        const rh_paper__cell *cell = &paper->cell[i];
        assert_true(cell->after < i);
        assert_true(cell->cost > 0.0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(cell->name, paper->cell[k].name);
    }
    rh_paper_destroy(paper);
    assert_null(rh_paper_at(-1));
}

// What determines a cell is in its name: other options find none of its files.
static void names_say_all(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    rh_paper *paper = NULL;
    assert_int_equal(rh_paper_create(&paper, "theory", &opt, NULL), RH_OK);
    assert_int_equal(rh_paper_foresee(paper).ndone, paper->ncell);
    rh_paper_destroy(paper);
    for (int k = 0; k < 3; k++) {
        opt = options();
        opt.seed += k == 0;
        opt.quick = k != 1;
        opt.constants = k == 2 ? RH_PAPER_PRINTED : RH_PAPER_RELEASED;
        assert_int_equal(rh_paper_create(&paper, "theory", &opt, NULL), RH_OK);
        assert_int_equal(rh_paper_foresee(paper).ndone, 0);
        rh_paper_destroy(paper);
    }
}

// ---------------------------------------------------------------------------- results

static void claims(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    rh_paper *paper = NULL;
    assert_int_equal(rh_paper_create(&paper, "theory", &opt, NULL), RH_OK);
    assert_null(rh_paper_claim_at(paper, 0));
    assert_int_equal(rh_paper_run(paper, NULL), RH_OK);
    assert_int_equal(rh_paper_run(paper, NULL), RH_OK); // again: the same claims
    const rh_paper_claim *c = rh_paper_claim_at(paper, 0);
    assert_non_null(c);
    assert_string_equal(c->id, "T.1");
    assert_int_equal(c->verdict, RH_PAPER_HOLDS);
    // the bound is at most twice too large
    assert_true(c->hi95 > 0.3);
    assert_true(c->hi95 < 0.75);
    assert_string_equal(rh_paper_claim_at(paper, 1)->id, "T.2");
    assert_int_equal(rh_paper_claim_at(paper, 1)->verdict, RH_PAPER_HOLDS);
    assert_int_equal(rh_paper_claim_at(paper, 2)->verdict, RH_PAPER_HOLDS);
    assert_null(rh_paper_claim_at(paper, 3));

    // of 10 coins all are heads with probability 1 / 1024: scipy gives 0.0514 and 0.6236
    static const double above[] = {1.0 / 1024.0, 0.0514, 0.6236};
    int nabove = 0;
    for (int i = 0; i < paper->nfact; i++)
        if (strncmp(paper->fact[i].what, "Theorem 2: the best of", 22) == 0)
            assert_true(fabs(paper->fact[i].ours - above[nabove++]) < 1e-4);
    assert_int_equal(nabove, 3);
    rh_paper_cost cost = rh_paper_spent(paper);
    assert_int_equal(cost.ncell, 4);
    assert_true(cost.cpu > 0.0);
    rh_paper_destroy(paper);
}

typedef struct watched {
    int ncall;
    double share;
} watched;

static void look(void *context, const rh_paper_progress *p)
{
    watched *w = context;
    w->ncall++;
    assert_true(p->share >= w->share);
    assert_true(p->share <= 1.0 + 1e-9);
    w->share = p->share;
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

// A cell that is missing or damaged is done again, on two threads, with the same bytes.
static void resumed(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    watched w = {0};
    run_shell("cp -r %s %s.was", folder, folder);
    run_shell("cd %s && rm cells/errors-puddle*", folder);
    run_shell("cd %s && for f in cells/lemma-*; do printf x > $f; done", folder);
    opt.nthread = 2;
    opt.progress = look;
    opt.context = &w;
    assert_int_equal(run("theory", &opt, NULL), RH_OK);
    assert_true(w.ncall > 0);
    assert_true(w.share > 0.99);
    run_shell(
        "cd %s && for f in cells/* *.csv; do [ $f = work.csv ] || cmp $f %s.was/$f || exit "
        "1; done",
        folder, folder);
    run_shell("rm -r %s.was", folder);
}

static void stopped(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    rh_error err;
    char other[128];
    snprintf(other, sizeof other, "%s.stopped", folder);
    opt.folder = other;
    opt.stop = stop_at_once;
    assert_int_equal(run("theory", &opt, &err), RH_ESTOPPED);
}

// ---------------------------------------------------------------------------- memory

static void no_memory(void **unused)
{
    (void)unused;
    rh_paper_options opt = options();
    rh_error err;
    int64_t live = rh_base__alloc_live();
    rh_status rc = RH_ENOMEM;
    for (int64_t nth = 1; rc; nth++) {
        rh_base__alloc_fail_at(nth);
        rc = run("theory", &opt, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || rc == RH_ENOMEM || rc == RH_EIO);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),   cmocka_unit_test(listed),  cmocka_unit_test(names_say_all),
        cmocka_unit_test(claims),    cmocka_unit_test(resumed), cmocka_unit_test(stopped),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
