// test_plan_write.c - entries, and files that read back as the same plan.

#include "plans.h"

static const struct {
    const char *text;
    int naction;
} many[] = {
    {"", 3},
    {"", 0},
    {"name: \"a: \\\"b\\\" # c\"\ndata: 'yes'\nstarts: a b.csv\n", 3},
    {"name: \"a\\x85\\x80b \\u2028\\u2029c\\uFEFF\\td \\xE4\"\n", 3},
    {"data: model:a.model\nevaluation: {runs: 3}\n", 3},
    {"preset: paper\ntask: puddle_world\n", 3},
    {"preset: paper\ntask: acrobot\nagent: actor_critic\n", 3},
    {"preset: paper\nrepresentation: {preset: acrobot}\ngrid: acrobot:paper\n", 3},
    {"preset: paper\nrepresentation: raw\nparameters: {tau: [1, 2]}\nmodel: nn\n", 3},
    {"grid: cartpole:paper\nmethod: race\nconfirm: false\n", 3},
    {"method: cem\ncem: {rate: 0.3, constants: paper}\nseed: 9223372036854775807\n", 3},
    {"method: bayes\nbayes: {acquisition: ucb}\nbudget: {trials: 33, batch: 1}\n", 3},
    {"method: random\nrandom: {points: quasi}\n", 3},
    {"parameters:\n  alpha: {distribution: uniform, min: 0.1, max: 1}\n"
     "  beta1: {min: 0, max: 0.9, q: 0.1}\n  tau: {distribution: log_uniform, min: -1, max: "
     "3}\n"
     "  w_init: {values: [-1, 0.1, 1e-7, 123456.789]}\n"
     "  lambda: {one_minus: {min: 1e-3, max: 0.5}}\n  tilings: {pow2: {min: 0, max: 6, q: 2}}\n"
     "  tiles: {distribution: q_log_uniform_values, min: 1, max: 32}\n"
     "  features: {values: [joint, singles]}\n  optimiser: {values: [sgd, adam]}\n",
     3},
    {"parameters:\n  lambda: {one_minus: {values: [0.1, 0.01]}}\n  tilings: {pow2: [1, 4]}\n",
     3},
    {"model: {kind: knn, members: 7, share: 0.7, reach: 97%, k: 9}\nrepresentation: auto\n", 3},
    {"model: {members: 2, resample: bootstrap}\nrepresentation: {d: 3, half: true}\n", 3},
    {"representation: {joint: yes, kind: raw}\nmodel: nn\n", 0},
    {"task: {env: puddle_world, noise: 0.05, overlap: sum}\ngamma: 0.97\ncontinuing: yes\n", 3},
    {"ranges: {temp: [0, 100], level: [-1e-3, 1e9]}\n", 3},
    {"evaluation: {steps: 12, runs: 3, criterion: worst, across: lower, pool: worst, cutoff: "
     "5, "
     "cutoff_as: terminate, curve: 3}\nconfirm: {settings: 2, members: 9, runs: 1}\n",
     3},
    {"evaluation: {cutoff: 1/7}\nmetric: {name: mean_return, goal: maximize}\nrun_cap: 5\n", 3},
};
enum { NMANY = sizeof many / sizeof *many };

// The file of a plan, owned by the heap.
static char *written(const rh_plan *plan)
{
    char *text = NULL;
    size_t n = 0;
    rh_error err = {""};
    FILE *out = open_memstream(&text, &n);
    assert_non_null(out);
    assert_int_equal(rh_plan_write(plan, out, &err), RH_OK);
    fclose(out);
    return text;
}

static void assert_same(const rh_plan *a, const rh_plan *b)
{
    const char *key[2], *value[2];
    bool open[2];
    for (int i = 0;; i++) {
        bool more = rh_plan_entry(a, i, &key[0], &value[0], &open[0]);
        assert_int_equal(rh_plan_entry(b, i, &key[1], &value[1], &open[1]), more);
        if (!more)
            break;
        assert_string_equal(key[0], key[1]);
        assert_string_equal(value[0], value[1]);
        assert_int_equal(open[0], open[1]);
    }
    const rh_space *s = &a->space, *t = &b->space;
    assert_int_equal(s->ndim, t->ndim);
    for (int k = 0; k < s->ndim; k++) {
        assert_string_equal(s->dim[k].name, t->dim[k].name);
        assert_int_equal(s->dim[k].kind, t->dim[k].kind);
        assert_int_equal(s->dim[k].scale, t->dim[k].scale);
        assert_true(s->dim[k].lo == t->dim[k].lo);
        assert_true(s->dim[k].hi == t->dim[k].hi);
        assert_true(s->dim[k].step == t->dim[k].step);
        assert_int_equal(s->dim[k].nvalue, t->dim[k].nvalue);
        for (int i = 0; i < s->dim[k].nvalue; i++)
            assert_true(s->dim[k].value[i] == t->dim[k].value[i]);
        assert_int_equal(a->dim[k].param, b->dim[k].param);
        assert_int_equal(a->dim[k].form, b->dim[k].form);
    }
    for (int i = 0; i < a->agent->nparam; i++)
        assert_true(a->hp[i] == b->hp[i]);
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->nrun, b->nrun);
    assert_int_equal(a->cutoff, b->cutoff);
    assert_int_equal(a->preset, b->preset);
    assert_int_equal(a->seed, b->seed);
}

static void round_trips(void **unused)
{
    (void)unused;
    for (int i = 0; i < NMANY; i++) {
        rh_plan *plan = settled(many[i].text, many[i].naction);
        char *text = written(plan);
        rh_plan *again = plan_of(text);
        rh_log *log = make_log(many[i].naction, 4, true);
        rh_error err = {""};
        if (rh_plan_settle(again, log, &err) != RH_OK)
            fail_msg("%s\n%s", err.text, text);
        assert_same(plan, again);
        if (plan->name)
            assert_string_equal(again->name, plan->name);
        free(text);
        rh_plan_destroy(again);

        // and key by key
        again = new_plan();
        const char *key, *value;
        bool open;
        if (plan->data)
            assert_int_equal(rh_plan_set(again, "data", plan->data, NULL, &err), RH_OK);
        for (int k = 0; rh_plan_entry(plan, k, &key, &value, &open); k++)
            if (rh_plan_set(again, key, value, NULL, &err) != RH_OK)
                fail_msg("%s = %s: %s", key, value, err.text);
        if (rh_plan_settle(again, log, &err) != RH_OK)
            fail_msg("%s", err.text);
        assert_same(plan, again);
        rh_plan_destroy(again);
        rh_plan_destroy(plan);
        rh_log_destroy(log);
    }
}

// The number of trials, and the time, may be another one, where the method can go on, and the
// runs of confirmation and check, where there are any.
static void open_entries(void **unused)
{
    (void)unused;
    for (int i = 0; i < NMANY; i++) {
        rh_plan *plan = settled(many[i].text, many[i].naction);
        const char *key, *value;
        bool open;
        int n = 0;
        for (int k = 0; rh_plan_entry(plan, k, &key, &value, &open); k++) {
            bool runs = strcmp(key, "check") == 0 || strcmp(key, "confirm.runs") == 0 ||
                        strcmp(key, "budget.time") == 0;
            n += open && !runs;
            if (open && !runs)
                assert_string_equal(key, "budget.trials");
            assert_true(open || !runs);
        }
        bool goes_on = strcmp(plan->method->name, "bayes") == 0 ||
                       strcmp(plan->method->name, "random") == 0;
        assert_int_equal(n, goes_on);
        assert_false(rh_plan_entry(plan, -1, &key, &value, &open));
        rh_plan_destroy(plan);
    }
}

static void a_file(void **unused)
{
    (void)unused;
    rh_plan *plan =
        settled("name: x\ndata: a b.csv\nagent: actor_critic\nmethod: random\n"
                "model: knn\nrepresentation: raw\nranges: {temp: [0, 1]}\nconfirm: no\n"
                "parameters: {actor_ratio: {min: 0.1, max: 1}}\n",
                3);
    char *text = written(plan);
    assert_string_equal(text,
                        "name: x\n"
                        "data: \"dir/a b.csv\"\n"
                        "preset: none\n"
                        "agent:\n"
                        "  name: actor_critic\n"
                        "  alpha_critic: 0.003\n"
                        "  tilings: 16\n"
                        "  tiles: 8\n"
                        "  features: pairs\n"
                        "parameters:\n"
                        "  actor_ratio: {distribution: log_uniform_values, min: 0.1, max: 1}\n"
                        "method: random\n"
                        "random:\n"
                        "  points: random\n"
                        "budget:\n"
                        "  trials: 100\n"
                        "  time: none\n"
                        "evaluation:\n"
                        "  steps: auto\n"
                        "  runs: 10\n"
                        "  criterion: average\n"
                        "  across: mean\n"
                        "  pool: mean\n"
                        "  cutoff: auto\n"
                        "  cutoff_as: truncate\n"
                        "  curve: 20\n"
                        "model:\n"
                        "  kind: knn\n"
                        "  k: 3\n"
                        "  weights: paper\n"
                        "  distance: norm\n"
                        "  reach: auto\n"
                        "  reach_distance: 1\n"
                        "  reach_quantile: 0.99\n"
                        "  out_of_coverage: pessimistic\n"
                        "  cost: 1\n"
                        "  action_weight: 1\n"
                        "  carry: none\n"
                        "  cap: 1.6\n"
                        "  members: 1\n"
                        "  resample: all\n"
                        "representation:\n"
                        "  kind: raw\n"
                        "  scale: range\n"
                        "  joint: no\n"
                        "gamma: auto\n"
                        "continuing: auto\n"
                        "resets: auto\n"
                        "ranges:\n"
                        "  temp: [0, 1]\n"
                        "confirm:\n"
                        "  settings: 0\n"
                        "seed: 1\n");
    free(text);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        rh_error err = {""};
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(rh_plan_write(plan, full, &err), RH_EIO);
        fclose(full);
    }
    rh_plan_destroy(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(open_entries),
        cmocka_unit_test(a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
