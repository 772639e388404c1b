// test_registry.c - every registered method: settings of the space, no more of them than
// foreseen, an end, the same proposals for the same results, and no memory lost.

#include "base/base_internal.h"
#include "search/search.h"
#include "search_sample.h"

#include <stdlib.h>

enum { BUDGET = 25, RUNS = 6, ROUNDS = 2000 };

typedef struct question {
    int setting, nrun;
    double x[RH_MAX_DIM];
} question;

static question asked_of[2][ROUNDS];

// Options that make any method quick; param (32) belongs to the caller.
static rh_search__options quick(const rh_search_type *type, int budget, double *param)
{
    rh_search__options opt = rh_search__defaults();
    assert_in_range(type->nparam, 0, 32);
    rh_param_initial(type->param, type->nparam, param);
    static const struct {
        const char *name;
        double value;
    } set[] = {{"population", 4.0}, {"elites", 2.0}, {"first", 2.0}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        int k = rh_param_find(type->param, type->nparam, set[i].name);
        if (k >= 0)
            param[k] = set[i].value;
    }
    opt.param = param;
    opt.budget = budget;
    opt.nrun = RUNS;
    opt.batch = 3;
    return opt;
}

// Write all proposals of a search to q. With `amend`, every new setting of an infinite
// dimension is run slightly off the proposal. Returns their number.
static int proposals(const rh_search_type *type, const rh_space *space, uint64_t seed,
                     bool amend, question *q)
{
    rh_search *search = NULL;
    double param[32];
    rh_search__options opt = quick(type, BUDGET, param);
    rh_error err = {""};
    opt.seed = seed;
    if (rh_search__create(&search, type, space, &opt, &err) != RH_OK)
        fail_msg("%s", err.text);
    const rh_search__asked *asked;
    int n = 0, nasked, most, had[ROUNDS] = {0};
    int64_t most_runs, taken = 0;
    rh_search__foresee(search, &most, &most_runs);
    assert_true(most <= (type->finite ? (int)rh_space__count(space) : BUDGET));
    for (;;) {
        int before = rh_search__nsetting(search);
        assert_int_equal(rh_search__ask(search, &asked, &nasked, &err), RH_OK);
        if (!nasked)
            break;
        for (int i = 0; i < nasked; i++, n++) {
            assert_true(n < ROUNDS);
            int s = asked[i].setting;
            double x[RH_MAX_DIM];
            memcpy(x, rh_search__proposed(search, s), (size_t)space->ndim * sizeof *x);
            assert_true(rh_space__holds(space, x));
            for (int k = 0; k < space->ndim && amend && s >= before; k++)
                if (isinf(rh_dim__count(&space->dim[k])))
                    x[k] = nextafter(x[k], 0.5 * (space->dim[k].lo + space->dim[k].hi));
            if (amend && s >= before)
                rh_search__amend(search, s, x);
            q[n] = (question){.setting = s, .nrun = asked[i].nrun};
            memcpy(q[n].x, x, (size_t)space->ndim * sizeof *x);
            assert_true(asked[i].nrun > had[s]);
            assert_true(asked[i].nrun <= RUNS);
            taken += asked[i].nrun - had[s];
            had[s] = asked[i].nrun;
            assert_int_equal(sample_tell(search, asked[i], &err), RH_OK);
        }
        int now;
        int64_t now_runs;
        rh_search__foresee(search, &now, &now_runs);
        assert_true(rh_search__nsetting(search) <= now);
        assert_true(taken <= now_runs);
        assert_true(now <= most);
        assert_true(now_runs <= most_runs);
    }

    // no setting is open, leaders have all runs, and none leads twice
    int total = rh_search__nsetting(search);
    rh_search__lead_entry leader[64];
    assert_in_range(total, 1, most);
    for (int i = 0; i < total; i++)
        assert_true(rh_search__state(search, i) != RH_SETTING_OPEN);
    int lead = rh_search__lead(search, 64, leader);
    assert_in_range(lead, 1, 64);
    for (int i = 0; i < lead; i++) {
        assert_in_range(leader[i].setting, 0, total - 1);
        assert_int_equal(had[leader[i].setting], RUNS);
        for (int k = 0; k < i; k++)
            assert_int_not_equal(leader[i].setting, leader[k].setting);
    }
    rh_search__lead_entry first;
    assert_int_equal(rh_search__lead(search, 1, &first), 1);
    assert_int_equal(first.setting, leader[0].setting);
    rh_search__destroy(search);
    return n;
}

static bool fits(const rh_search_type *type, const rh_space *space)
{
    return !type->finite || isfinite(rh_space__count(space));
}

static void every_kind(void **unused)
{
    (void)unused;
    assert_true(rh_search_ntype() >= 5);
    int64_t live = rh_base__alloc_live();
    for (int i = 0; i < rh_search_ntype(); i++) {
        const rh_search_type *type = rh_search_type_at(i);
        rh_error err;
        assert_ptr_equal(rh_search_find(type->name, &err), type);
        assert_true(strlen(type->about) > 10);
        assert_true(strlen(type->name) <= 31);
        assert_true(i == 0 || strcmp(rh_search_type_at(i - 1)->name, type->name) < 0);
        for (int k = 0; k < type->nparam; k++) {
            const rh_param *p = &type->param[k];
            assert_true(p->initial >= p->lo);
            assert_true(p->initial <= p->hi);
            assert_true(strlen(p->about) > 5);
        }
        for (int s = 0; s < NSAMPLE; s++) {
            rh_space space = sample_space(s);
            if (!fits(type, &space))
                continue;
            for (int amend = 0; amend < 2; amend++) {
                int n = proposals(type, &space, 1, amend, asked_of[0]);
                assert_int_equal(proposals(type, &space, 1, amend, asked_of[1]), n);
                assert_memory_equal(asked_of[0], asked_of[1], (size_t)n * sizeof(question));
            }
            int n = proposals(type, &space, 1, false, asked_of[0]);
            int m = proposals(type, &space, 2, false, asked_of[1]);
            bool same =
                n == m && memcmp(asked_of[0], asked_of[1], (size_t)n * sizeof(question)) == 0;
            assert_int_equal(same, type->finite || s == ALONE); // others go by the seed
        }
    }
    assert_int_equal(rh_base__alloc_live(), live);
}

// A whole search, or as far as memory lasts.
static rh_status attempt(const rh_search_type *type, const rh_space *space, int budget)
{
    rh_search *search = NULL;
    double param[32];
    rh_search__options opt = quick(type, budget, param);
    rh_error err = {""};
    opt.nrun = 3;
    const rh_search__asked *asked;
    int n = 1;
    rh_status rc = rh_search__create(&search, type, space, &opt, &err);
    while (!rc && n) {
        rc = rh_search__ask(search, &asked, &n, &err);
        for (int i = 0; !rc && i < n; i++)
            rc = sample_tell(search, asked[i], &err);
    }
    if (rc) {
        assert_int_equal(rc, RH_ENOMEM);
        assert_non_null(strstr(err.text, "memory"));
    }
    rh_search__destroy(search);
    return rc;
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    for (int i = 0; i < rh_search_ntype(); i++)
        for (int s = 0; s < NSAMPLE; s++) {
            const rh_search_type *type = rh_search_type_at(i);
            rh_space space = sample_space(s);
            int64_t live = rh_base__alloc_live(), nth = 1;
            if (!fits(type, &space))
                continue;
            for (rh_status rc = RH_ENOMEM; rc; nth++) {
                rh_base__alloc_fail_at(nth);
                rc = attempt(type, &space, 16);
                rh_base__alloc_fail_at(0);
                assert_int_equal(rh_base__alloc_live(), live);
            }
            assert_true(nth > 6);
        }
}

static void unknown_name(void **unused)
{
    (void)unused;
    rh_error err;
    assert_null(rh_search_find("gird", &err));
    assert_non_null(strstr(err.text, "no search 'gird'; did you mean 'grid'?"));
    assert_null(rh_search_find("", NULL));
    assert_null(rh_search_type_at(-1));
    assert_null(rh_search_type_at(rh_search_ntype()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(unknown_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
