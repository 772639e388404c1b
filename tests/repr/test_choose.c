// test_choose.c - a representation chosen from the log: by awareness, of what does not blur,
// the simplest of those as good; the same on any number of threads.

#include "base/base_internal.h"
#include "repr/repr.h"
#include "repr_test.h"

#define MOST_BLUR 1.25 // of choose.c

static const rh_repr__choose_effort quick = {.first = 4, .last = 8, .hidden = 8};

typedef struct outcome {
    rh_repr *repr; // owned
    rh_repr_trial trial[RH_REPR_NTRIAL];
    int ntrial, chosen;
} outcome;

static outcome chosen(const rh_log *log, const rh_repr_options *opt,
                      rh_repr__choose_effort effort, int nthread)
{
    outcome out = {.chosen = -1};
    rh_error err = {""};
    memset(out.trial, 0, sizeof out.trial);
    if (rh_repr__choose(&out.repr, out.trial, &out.ntrial, log, opt, effort, nthread, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < out.ntrial; i++)
        if (out.trial[i].chosen) {
            assert_int_equal(out.chosen, -1);
            out.chosen = i;
        }
    assert_true(out.chosen >= 0);
    const rh_repr_trial *t = &out.trial[out.chosen];
    assert_ptr_equal(rh_repr_type_of(out.repr), t->type);
    assert_memory_equal(rh_repr__params(out.repr), t->param,
                        (size_t)t->type->nparam * sizeof(double));
    return out;
}

static double get(const rh_repr_trial *trial, const char *name)
{
    return trial->param[rh_param_find(trial->type->param, trial->type->nparam, name)];
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(20, 20, 0.1, 3);
    outcome one = chosen(log, NULL, quick, 1);
    assert_int_equal(one.ntrial, 20);
    float a[RH_MAX_CODE], b[RH_MAX_CODE];
    assert_int_equal(rh_repr__encode(one.repr, 1, log->obs, NULL, a, NULL), RH_OK);
    for (int nthread = 2; nthread <= 3; nthread++) {
        outcome more = chosen(log, NULL, quick, nthread);
        assert_int_equal(more.ntrial, one.ntrial);
        assert_int_equal(more.chosen, one.chosen);
        assert_memory_equal(more.trial, one.trial, sizeof one.trial);
        assert_int_equal(rh_repr__encode(more.repr, 1, log->obs, NULL, b, NULL), RH_OK);
        assert_memory_equal(a, b, (size_t)rh_repr__ncode(one.repr) * sizeof *a);
        rh_repr_destroy(more.repr);
    }

    // another seed deals other folds
    rh_repr_options opt = rh_repr_defaults();
    opt.seed = 2;
    outcome other = chosen(log, &opt, quick, 2);
    assert_memory_not_equal(other.trial, one.trial, sizeof one.trial);
    rh_repr_destroy(other.repr);
    rh_repr_destroy(one.repr);
    rh_log_destroy(log);
}

// The order of trials and the choice, from the trials alone.
static void by_the_rules(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(20, 20, 0.1, 4);
    outcome out = chosen(log, NULL, (rh_repr__choose_effort){10, 20, 8}, 2);
    const rh_repr_trial *best = &out.trial[0], *t = &out.trial[out.chosen];
    int nraw = 0, nlast = 0;
    assert_true(best->blur <= MOST_BLUR);
    assert_true(t->blur <= MOST_BLUR);
    assert_true(t->awareness >= best->awareness - best->awareness_err);
    for (int i = 0; i < out.ntrial; i++) {
        const rh_repr_trial *one = &out.trial[i];
        bool raw = one->type == &rh_repr_raw;
        bool last = raw || get(one, "steps") == 20.0;
        nraw += raw;
        nlast += last && !raw;
        assert_true(one->awareness <= 1.0);
        assert_true(one->blur >= 1.0);
        assert_true(isnan(one->awareness_err) == !last); // one fold has no spread
        if (last && one->blur <= MOST_BLUR) {
            assert_true(one->awareness <= best->awareness);
            assert_true(i == 0 || (out.trial[i - 1].blur <= MOST_BLUR &&
                                   out.trial[i - 1].awareness >= one->awareness));
            // nobody as good is simpler
            if (raw && one->awareness >= best->awareness - best->awareness_err)
                assert_ptr_equal(t->type, &rh_repr_raw);
        }
    }
    assert_int_equal(nraw, 2);
    assert_true(nlast >= 1);
    assert_true(nlast <= 4);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);
}

// Raw cannot be beaten where sensors are the place itself.
static void raw_where_it_is_best(void **unused)
{
    (void)unused;
    double obs[300];
    int length[13] = {0};
    for (int e = 0; e < 12; e++)
        for (int t = length[e] = 25; t-- > 0;)
            obs[25 * e + t] = 3.0 * e + t;
    rh_log *log = log_of(obs, 1, length, NULL);
    outcome out = chosen(log, NULL, quick, 2);
    assert_ptr_equal(rh_repr_type_of(out.repr), &rh_repr_raw);
    assert_true(out.trial[out.chosen].blur == 1.0);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);
}

// One episode is cut into blocks, and a log of a few steps is not compared at all.
static void one_episode(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(1, 120, 0.1, 5);
    outcome out = chosen(log, NULL, quick, 2);
    assert_true(isfinite(out.trial[0].awareness));
    assert_true(isfinite(out.trial[0].awareness_err));
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);

    log = corridor_log(1, 3, 0.1, 6);
    out = chosen(log, NULL, quick, 2);
    assert_ptr_equal(rh_repr_type_of(out.repr), &rh_repr_raw);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);
}

// Steps without order leave raw; too many sensors leave laplacian; both leave nothing.
static void what_cannot_be_learned(void **unused)
{
    (void)unused;
    enum { WIDE = 65 };
    static double obs[WIDE * 120];
    int single[61] = {0}, whole[7] = {0};
    rh_rng rng = rh_rng_stream(8, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < WIDE * 120; i++)
        obs[i] = rh_rng_uniform(&rng);
    for (int i = 0; i < 60; i++)
        single[i] = 2;
    for (int i = 0; i < 6; i++)
        whole[i] = 20;

    rh_log *log = log_of(obs, 2, single, NULL);
    outcome out = chosen(log, NULL, quick, 2);
    assert_ptr_equal(rh_repr_type_of(out.repr), &rh_repr_raw);
    for (int i = 0; i < out.ntrial; i++)
        assert_true(isnan(out.trial[i].awareness) == (out.trial[i].type != &rh_repr_raw));
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);

    log = log_of(obs, WIDE, whole, NULL);
    out = chosen(log, NULL, quick, 2);
    assert_ptr_equal(rh_repr_type_of(out.repr), &rh_repr_laplacian);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);

    rh_repr *repr = NULL;
    rh_error err = {""};
    log = log_of(obs, WIDE, single, NULL);
    assert_int_equal(rh_repr__choose(&repr, NULL, NULL, log, NULL, quick, 2, &err), RH_EINVAL);
    assert_null(repr);
    assert_string_equal(err.text, "raw: 65 inputs, expected at most 64; try laplacian");
    rh_log_destroy(log);
}

// Where nothing is left that does not blur, what blurs least.
static void all_blurred(void **unused)
{
    (void)unused;
    enum { WIDE = 65, STATES = 400 };
    static double obs[WIDE * STATES];
    int length[21] = {0};
    rh_rng rng = rh_rng_stream(9, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < STATES; i++) {
        double a = rh_rng_uniform(&rng), b = rh_rng_uniform(&rng);
        for (int k = 0; k < WIDE; k++)
            obs[WIDE * i + k] = sin(a * k) + cos(b * (WIDE - k));
        length[i / 20] = 20;
    }
    rh_log *log = log_of(obs, WIDE, length, NULL);
    outcome out = chosen(log, NULL, (rh_repr__choose_effort){2, 2, 1}, 2);
    assert_int_equal(out.chosen, 0);
    assert_true(out.trial[0].blur > MOST_BLUR);
    for (int i = 1; i < out.ntrial; i++)
        assert_true(out.trial[i].type == &rh_repr_raw ||
                    out.trial[i].blur >= out.trial[0].blur);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);
}

static void continuous_actions(void **unused)
{
    (void)unused;
    double obs[200], act[200];
    int length[11] = {0};
    for (int i = 0; i < 200; i++) {
        obs[i] = sin(i * 0.3);
        act[i] = cos(i * 0.9);
        length[i / 20] = 20;
    }
    rh_log *log = log_of(obs, 1, length, act);
    rh_repr_options opt = rh_repr_defaults();
    opt.actions = true;
    outcome out = chosen(log, &opt, quick, 2);
    assert_int_equal(rh_repr__nact(out.repr), 1);
    rh_repr_destroy(out.repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- trouble

typedef struct watching {
    int ncall, nasked, stop_at;
    double share;
    char stage[64];
} watching;

static void seen(void *context, const char *what, double share)
{
    watching *w = context;
    if (strcmp(what, w->stage)) {
        snprintf(w->stage, sizeof w->stage, "%s", what);
        w->share = 0.0;
    }
    assert_true(share >= w->share);
    assert_true(share <= 1.0);
    w->share = share;
    w->ncall++;
}

static bool asked(void *context)
{
    watching *w = context;
    return ++w->nasked == w->stop_at;
}

static void watched_and_stopped(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(20, 20, 0.1, 3);
    rh_repr_options opt = rh_repr_defaults();
    int64_t live = rh_base__alloc_live();
    watching w = {.stop_at = -1};
    opt.watch = (rh_watch){.progress = seen, .stop = asked, .context = &w};
    outcome out = chosen(log, &opt, quick, 1);
    rh_repr_destroy(out.repr);
    int calls = w.nasked;
    assert_true(w.ncall >= 18);
    assert_true(calls >= 18);

    // at the first question, in the middle, and in the end
    for (int i = 0; i < 3; i++) {
        rh_repr *repr = NULL;
        rh_error err = {""};
        w = (watching){.stop_at = i == 0 ? 1 : i == 1 ? calls / 2 : calls};
        assert_int_equal(rh_repr__choose(&repr, NULL, NULL, log, &opt, quick, 1, &err),
                         RH_ESTOPPED);
        assert_null(repr);
        assert_true(strstr(err.text, "stopped"));
        assert_int_equal(rh_base__alloc_live(), live);
    }

    // with threads, the caller is asked in its own
    rh_repr *repr = NULL;
    w = (watching){.stop_at = 2};
    rh_status rc = rh_repr__choose(&repr, NULL, NULL, log, &opt, quick, 2, NULL);
    assert_true(rc == RH_ESTOPPED || w.nasked < 2);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

static void options_held_wrong(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(3, 4, 0.1, 3);
    rh_repr *repr = NULL;
    rh_error err = {""};
    rh_repr_options opt = rh_repr_defaults();
    assert_int_equal(rh_repr__choose_kind(&repr, NULL, NULL, log, &opt, 0, &err), RH_EINVAL);
    assert_string_equal(err.text, "representation: threads = 0, expected 1 or more");
    opt.cookie = 1;
    assert_int_equal(rh_repr__choose_kind(&repr, NULL, NULL, log, &opt, 1, &err), RH_EINVAL);
    assert_string_equal(err.text, "representation: options must start from rh_repr_defaults()");
    rh_log_destroy(log);
}

// Every allocation of the beginning fails, then one in 211.
static void failed_allocations(void **unused)
{
    (void)unused;
    rh_log *log = corridor_log(6, 6, 0.1, 3);
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth += nth < 40 ? 1 : 211) {
        rh_repr *repr = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_repr__choose(&repr, NULL, NULL, log, NULL,
                                       (rh_repr__choose_effort){1, 1, 2}, 1, NULL);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || (rc == RH_ENOMEM && !repr));
        rh_repr_destroy(repr);
        assert_int_equal(rh_base__alloc_live(), live);
    }
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),  cmocka_unit_test(by_the_rules),
        cmocka_unit_test(raw_where_it_is_best),   cmocka_unit_test(one_episode),
        cmocka_unit_test(what_cannot_be_learned), cmocka_unit_test(continuous_actions),
        cmocka_unit_test(watched_and_stopped),    cmocka_unit_test(options_held_wrong),
        cmocka_unit_test(failed_allocations),     cmocka_unit_test(all_blurred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
