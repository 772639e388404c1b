// test_laplacian.c - the Laplacian representation: its loss and steps are those of the
// formulas, its pairs stay in their episodes, and it learns which states lead to which.

#include "base/base_internal.h"
#include "repr_test.h"

#include "numeric/mlp_kernel.h"
#include "repr/laplacian.h"
#include "repr/repr.h"

// ---------------------------------------------------------------------------- the loss

// In each number of a code the loss is a parabola, so that differences are derivatives.
static void derivatives(void **unused)
{
    (void)unused;
    enum { N = 5, D = 7, ALL = 3 * N * D };
    const rh_laplacian__loss_parts by[] = {{1.0, 5.0, 0.05}, {0.5, 5.0, 0.5}, {1.0, 0.0, 3.0}};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    for (int c = 0; c < 3; c++) {
        float y[ALL], dy[ALL], h = 0x1p-6f;
        for (int i = 0; i < ALL; i++)
            y[i] = (float)((int)rh_rng_below(&rng, 256) - 128) / 64.0f;
        double loss = rh_laplacian__loss(&by[c], N, D, y, dy);
        assert_true(loss == rh_laplacian__loss(&by[c], N, D, y, NULL));
        for (int i = 0; i < ALL; i++) {
            float old = y[i];
            y[i] = old + h;
            double up = rh_laplacian__loss(&by[c], N, D, y, NULL);
            y[i] = old - h;
            double down = rh_laplacian__loss(&by[c], N, D, y, NULL);
            y[i] = old;
            double d = (up - down) / (2.0 * (double)h);
            if (!(fabs((double)dy[i] - d) <= 1e-6 * (1.0 + fabs(d))))
                fail_msg("derivative %d is %.9g, expected %.9g", i, (double)dy[i], d);
        }
    }
}

// By hand: a = (1, 2), b = (0, 2), c = (3, -1).
static void loss_by_hand(void **unused)
{
    (void)unused;
    const float y[] = {1, 2, 0, 2, 3, -1};
    const rh_laplacian__loss_parts by = {1.0, 5.0, 0.5}, halved = {0.5, 5.0, 0.5};
    // |a - b|^2 = 1, a . c = 1, |a|^2 = 5, |c|^2 = 10: 1 + 5 (1 - 2.5 - 5)
    assert_true(rh_laplacian__loss(&by, 1, 2, y, NULL) == 1.0 + 5.0 * (1.0 - 7.5));
    assert_true(rh_laplacian__loss(&halved, 1, 2, y, NULL) == 0.5 + 5.0 * (1.0 - 7.5));
}

// ---------------------------------------------------------------------------- NumPy

enum { LINE = 1 << 14, NUMBERS = 512 };

typedef struct reference {
    rh_mlp *mlp;
    rh_mlp__pass *pass;
    rh_laplacian__loss_parts by;
    int rows;
    float x[NUMBERS], y[NUMBERS], dy[NUMBERS];
} reference;

static void begin(reference *r, const double *shape, int n)
{
    int size[8];
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    rh_mlp__destroy(r->mlp);
    rh_mlp__pass_destroy(r->pass);
    for (int i = 5; i < n; i++)
        size[i - 5] = (int)shape[i];
    r->by = (rh_laplacian__loss_parts){shape[1], shape[2], shape[3]};
    r->rows = (int)shape[4];
    unsigned flags = shape[0] != 0.0 ? RH_MLP_PLAIN : RH_MLP_NO_FIRST_BIAS;
    assert_int_equal(rh_mlp__create(&r->mlp, size, n - 5, flags, &rng, NULL), RH_OK);
    assert_int_equal(rh_mlp__pass_create(&r->pass, r->mlp, 3 * r->rows, NULL), RH_OK);
}

static void compare(const double *x, const double *expected, int n, double within,
                    const char *where)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - expected[i]) <= within * (fabs(expected[i]) + 0.1 * largest)))
            fail_msg("%s: number %d is %.9g, expected %.9g", where, i, x[i], expected[i]);
}

// Whatever the line says: begin, go forward and backward, compare.
static void follow(reference *r, const char *where, int step, const char *what, const double *x,
                   int n)
{
    static const rh_mlp__adam adam = {.rate = 1e-2, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-3};
    double own[NUMBERS];
    if (!strcmp(what, "shape")) {
        begin(r, x, n);
    } else if (!strcmp(what, "rows")) {
        for (int i = 0; i < n; i++)
            r->x[i] = (float)x[i];
        rh_mlp__forward(r->mlp, r->pass, 3 * r->rows, r->x, r->y);
    } else if (!strcmp(what, "loss")) {
        own[0] = rh_laplacian__loss(&r->by, r->rows, rh_mlp__noutput(r->mlp), r->y, r->dy);
        compare(own, x, 1, 2e-5, where);
        rh_mlp__backward(r->mlp, r->pass, r->dy);
    } else if (!strcmp(what, "gradient")) {
        rh_mlp__get(r->mlp, RH_MLP_GRADIENT, own);
        compare(own, x, n, 2e-5, where);
        rh_mlp__step(r->mlp, &adam);
    } else if (step == 0) {
        assert_int_equal(n, rh_mlp__nparam(r->mlp));
        rh_mlp__set(r->mlp, RH_MLP_WEIGHTS, x);
    } else {
        rh_mlp__get(r->mlp, RH_MLP_WEIGHTS, own);
        compare(own, x, n, 2e-5, where);
    }
}

static void fifteen_steps_of_numpy(void **unused)
{
    (void)unused;
    static reference r;
    static char line[LINE];
    for (int k = 1; k <= rh_isa__count(); k++) {
        FILE *file = fopen(RH_TEST_DATA "/repr_laplacian.csv", "r");
        assert_non_null(file);
        rh_isa__limit(k);
        int nline = 0;
        for (; fgets(line, LINE, file); nline++) {
            char name[16], what[16], where[64];
            int step = 0, at = 0, n = 0;
            double x[NUMBERS];
            assert_int_equal(sscanf(line, "%15[^,],%d,%15[^,],%n", name, &step, what, &at), 3);
            for (char *word = strtok(line + at, ",\n"); word; word = strtok(NULL, ",\n")) {
                assert_true(n < NUMBERS);
                x[n++] = strtod(word, NULL);
            }
            snprintf(where, sizeof where, "%s, step %d, %s", name, step, what);
            follow(&r, where, step, what, x, n);
        }
        assert_int_equal(nline, 3 * (2 + 15 * 4));
        fclose(file);
    }
    rh_isa__limit(0);
    rh_mlp__destroy(r.mlp);
    rh_mlp__pass_destroy(r.pass);
}

// ---------------------------------------------------------------------------- pairs

// Gaps 1 to last, each as often as kappa^u says.
static void gaps_are(double kappa, int window, uint32_t ahead, int last)
{
    enum { N = 100000 };
    rh_closeness closeness = {0};
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    assert_int_equal(rh_closeness__init(&closeness, window, kappa, NULL), RH_OK);
    int count[64] = {0};
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
        uint32_t u = rh_closeness__draw(&closeness, ahead, &rng);
        assert_in_range(u, 1, last);
        count[u]++;
    }
    for (int u = 1; u <= last; u++)
        sum += pow(kappa, u);
    for (int u = 1; u <= last; u++) {
        double p = pow(kappa, u) / sum;
        if (!(fabs(count[u] - N * p) <= 5.0 * sqrt(N * p * (1.0 - p)) + 1.0))
            fail_msg("kappa %g: %d gaps of %d, expected %g", kappa, count[u], u, N * p);
    }
    rh_closeness__clear(&closeness);
}

static void gaps(void **unused)
{
    (void)unused;
    gaps_are(0.8, 20, 1000, 20);
    gaps_are(0.8, 20, 7, 7);
    gaps_are(0.8, 20, 1, 1);
    gaps_are(1.0, 10, 1000, 10);
    gaps_are(0.01, 50, 50, 50);
    gaps_are(0.5, 1, 9, 1);
}

// A state is 100 times its episode, plus its place there.
static void pairs_stay_in_their_episode(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    static float x[3 * N];
    static const int length[] = {30, 2, 12, 7, 0};
    double obs[51], param[16];
    for (int e = 0, i = 0; length[e]; e++)
        for (int t = 0; t < length[e]; t++)
            obs[i++] = 100 * e + t;
    rh_log *log = log_of(obs, 1, length, NULL);
    rh_repr_options opt = rh_repr_defaults();
    opt.param = param_of(&rh_repr_raw, param, "scale", (double)RH_SCALE_NONE, NULL);
    rh_repr *repr = fitted(&rh_repr_raw, log, &opt);
    rh_points points = {0};
    rh_closeness closeness = {0};
    assert_int_equal(rh_points__gather(&points, repr, log, NULL, NULL), RH_OK);
    assert_int_equal(rh_closeness__init(&closeness, 5, 0.8, NULL), RH_OK);

    rh_rng rng = rh_rng_stream(4, RH_STREAM_NOISE, 0, 0);
    rh_laplacian__draw(&points, &closeness, N, 1, &rng, x);
    int nfrom[400] = {0}, nfar[400] = {0};
    for (int i = 0; i < N; i++) {
        int a = (int)x[i], b = (int)x[N + i], c = (int)x[2 * N + i];
        assert_int_equal(a / 100, b / 100);
        assert_in_range(b - a, 1, 5);
        nfrom[a]++;
        nfar[c]++;
    }
    for (int e = 0; length[e]; e++)
        for (int t = 0; t < length[e]; t++) {
            double from = t + 1 < length[e] ? N / 47.0 : 0.0, far = N / 51.0;
            assert_true(fabs(nfrom[100 * e + t] - from) <= 5.0 * sqrt(from));
            assert_true(fabs(nfar[100 * e + t] - far) <= 5.0 * sqrt(far));
        }
    rh_closeness__clear(&closeness);
    rh_points__clear(&points);
    rh_repr_destroy(repr);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- learning

// A training of no great length, of `steps` steps; more names and values may be changed.
static rh_repr_options quick(double param[16], double steps)
{
    rh_repr_options opt = rh_repr_defaults();
    opt.param = param_of(&rh_repr_laplacian, param, "hidden", 24.0, "d", 4.0, "batch", 32.0,
                         "steps", steps, "check", 20.0, "rate", 3e-3, "window", 5.0, NULL);
    return opt;
}

static void set(double param[16], const char *name, double value)
{
    param[rh_param_find(rh_repr_laplacian.param, rh_repr_laplacian.nparam, name)] = value;
}

// What share of the variance of cos(mode pi place) along the corridor the codes explain, by
// least squares with a constant.
static double explained(const rh_repr *repr, int mode)
{
    enum { N = 101, MOST = 8 };
    double obs[2 * N], a[MOST][MOST + 1] = {{0.0}}, total = 0.0, rest = 0.0;
    float code[N * MOST];
    int d = rh_repr__ncode(repr), n = d + 1;
    assert_true(n <= MOST);
    for (int i = 0; i < N; i++)
        corridor(i / (N - 1.0), obs + (ptrdiff_t)2 * i);
    assert_int_equal(rh_repr__encode(repr, N, obs, NULL, code, NULL), RH_OK);

    // normal equations, a little ridge for codes that are constant, and their solution
    double x[N][MOST], y[N];
    for (int i = 0; i < N; i++) {
        y[i] = cos(mode * M_PI * i / (N - 1.0));
        for (int k = 0; k < n; k++)
            x[i][k] = k < d ? (double)code[i * d + k] : 1.0;
        for (int k = 0; k < n; k++) {
            for (int l = 0; l < n; l++)
                a[k][l] += x[i][k] * x[i][l];
            a[k][n] += x[i][k] * y[i];
        }
    }
    for (int k = 0; k < n; k++)
        a[k][k] += 1e-9;
    for (int k = 0; k < n; k++)
        for (int r = 0; r < n; r++) {
            double f = r == k ? 0.0 : a[r][k] / a[k][k];
            for (int l = k; l <= n; l++)
                a[r][l] -= f * a[k][l];
        }
    for (int i = 0; i < N; i++) {
        double guess = 0.0;
        for (int k = 0; k < n; k++)
            guess += x[i][k] * a[k][n] / a[k][k];
        total += y[i] * y[i];
        rest += (y[i] - guess) * (y[i] - guess);
    }
    return 1.0 - rest / total;
}

// What share of the codes' variance along the corridor the first mode explains.
static double share_of_first(const rh_repr *repr)
{
    enum { N = 101, MOST = 8 };
    double variance = 0.0, by_mode = 0.0;
    float code[N * MOST];
    int d = rh_repr__ncode(repr);
    for (int i = 0; i < N; i++) {
        double obs[2];
        corridor(i / (N - 1.0), obs);
        assert_int_equal(rh_repr__encode(repr, 1, obs, NULL, code + (ptrdiff_t)i * d, NULL),
                         RH_OK);
    }
    for (int k = 0; k < d; k++) {
        double mean = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
        for (int i = 0; i < N; i++)
            mean += (double)code[i * d + k] / N;
        for (int i = 0; i < N; i++) {
            double x = (double)code[i * d + k] - mean, y = cos(M_PI * i / (N - 1.0));
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
        variance += xx;
        by_mode += xy * xy / yy;
    }
    return by_mode / variance;
}

// There is room for more, but a small zeta gives up what is faster (laplacian.c, 2).
static void zeta_forgets(void **unused)
{
    (void)unused;
    double param[16], share[2];
    rh_log *log = corridor_log(40, 40, 0.2, 5);
    for (int i = 0; i < 2; i++) {
        rh_repr_options opt = quick(param, 2000.0);
        set(param, "check", 250.0);
        set(param, "zeta", i ? 0.5 : 0.05);
        rh_repr *repr = fitted(&rh_repr_laplacian, log, &opt);
        share[i] = share_of_first(repr);
        rh_repr_destroy(repr);
    }
    if (!(share[0] > 0.9 && share[1] < 0.6))
        fail_msg("the first mode is %g and %g of the variance", share[0], share[1]);
    rh_log_destroy(log);
}

// Codes of d numbers learned with zeta explain the first `kept` modes and not the next two.
static void modes_are(const rh_log *log, double d, double zeta, int kept)
{
    double param[16];
    rh_repr_options opt = quick(param, 2000.0);
    set(param, "check", 250.0);
    set(param, "batch", 64.0);
    set(param, "d", d);
    set(param, "zeta", zeta);
    rh_repr *repr = fitted(&rh_repr_laplacian, log, &opt);
    for (int mode = 1; mode <= kept + 2; mode++) {
        double share = explained(repr, mode);
        if (mode <= kept ? share < 0.95 : share > 0.15)
            fail_msg("d = %g, zeta = %g: mode %d is explained by %g", d, zeta, mode, share);
    }
    rh_repr_destroy(repr);
}

// A walk between two walls: the Laplacian's slowest features are known, 1, cos(pi place),
// cos(2 pi place) and so on, while what is seen bends back towards where it began.
static void slowest_features(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = corridor_log(40, 40, 0.2, 5);
    modes_are(log, 2.0, 0.1, 1);
    modes_are(log, 3.0, 0.2, 2);

    rh_repr_options opt = quick(param, 2000.0);
    set(param, "d", 2.0);
    set(param, "check", 250.0);
    rh_repr *learned = fitted(&rh_repr_laplacian, log, &opt);
    set(param, "steps", 0.0);
    rh_repr *untrained = fitted(&rh_repr_laplacian, log, &opt);
    rh_repr *raw = fitted(&rh_repr_raw, log, NULL);
    assert_true(explained(raw, 1) < 0.9);
    assert_true(explained(untrained, 1) < 0.9);
    assert_true(rh_repr__trained(learned).awareness > rh_repr__trained(raw).awareness);
    assert_true(rh_repr__trained(learned).held_out > rh_repr__trained(raw).awareness);
    assert_true(rh_repr__trained(learned).loss < rh_repr__trained(untrained).loss);
    rh_repr_destroy(learned);
    rh_repr_destroy(untrained);
    rh_repr_destroy(raw);
    rh_log_destroy(log);
}

static void same_codes(const rh_repr *a, const rh_repr *b, const rh_log *log, bool same)
{
    enum { N = 100 };
    static float x[N * RH_MAX_CODE], y[N * RH_MAX_CODE];
    assert_true(log->n >= N);
    assert_int_equal(rh_repr__ncode(a), rh_repr__ncode(b));
    assert_int_equal(rh_repr__encode(a, N, log->obs, log->act, x, NULL), RH_OK);
    assert_int_equal(rh_repr__encode(b, N, log->obs, log->act, y, NULL), RH_OK);
    size_t n = N * (size_t)rh_repr__ncode(a) * sizeof *x;
    assert_true((memcmp(x, y, n) == 0) == same);
}

// Where it ends early, it is as it was at its best.
static void back_to_the_best(void **unused)
{
    (void)unused;
    double param[16], lowest = INFINITY;
    rh_log *log = corridor_log(8, 15, 0.05, 6);
    rh_repr_options opt = quick(param, 3000.0);
    set(param, "rate", 0.02);
    set(param, "patience", 2.0);
    rh_repr *early = fitted(&rh_repr_laplacian, log, &opt);
    rh_repr__training t = rh_repr__trained(early);
    assert_true(t.early);
    assert_true(t.nstep < 3000);
    assert_int_equal(t.nstep % 20, 0);

    // the same training, ended at each of its looks: none was better, one is the same
    bool found = false;
    set(param, "patience", 1000.0);
    for (int64_t steps = 20; steps <= t.nstep; steps += 20) {
        set(param, "steps", (double)steps);
        rh_repr *one = fitted(&rh_repr_laplacian, log, &opt);
        double loss = rh_repr__trained(one).loss;
        assert_int_equal(rh_repr__trained(one).nstep, steps);
        assert_false(rh_repr__trained(one).early);
        assert_true(loss <= lowest);
        assert_true(loss >= t.loss);
        lowest = loss;
        if (loss == t.loss) {
            same_codes(early, one, log, true);
            found = found || steps <= t.nstep - 40; // the last looks were worse
        }
        rh_repr_destroy(one);
    }
    assert_true(found);
    rh_repr_destroy(early);
    rh_log_destroy(log);
}

static void same_bits(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = corridor_log(12, 12, 0.05, 7);
    rh_repr *fused = NULL;
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        rh_repr_options opt = quick(param, 60.0);
        rh_repr *a = fitted(&rh_repr_laplacian, log, &opt);
        rh_repr *b = fitted(&rh_repr_laplacian, log, &opt);
        opt.seed = 2;
        rh_repr *c = fitted(&rh_repr_laplacian, log, &opt);
        same_codes(a, b, log, true);
        same_codes(a, c, log, false);
        rh_repr_destroy(b);
        rh_repr_destroy(c);
        if (fused)
            same_codes(a, fused, log, true);
        if (rh_mlp__kernels_at(k - 1)->fused && !fused)
            fused = a;
        else
            rh_repr_destroy(a);
    }
    rh_isa__limit(0);
    rh_repr_destroy(fused);
    rh_log_destroy(log);
}

// No step of training is an untrained network.
static void random_is_where_it_begins(void **unused)
{
    (void)unused;
    double param[16], other[16];
    rh_log *log = corridor_log(12, 12, 0.05, 8);
    rh_repr_options opt = quick(param, 0.0);
    rh_repr *a = fitted(&rh_repr_laplacian, log, &opt);
    opt.param = param_of(&rh_repr_random, other, "hidden", 24.0, "d", 4.0, NULL);
    rh_repr *b = fitted(&rh_repr_random, log, &opt);
    same_codes(a, b, log, true);
    assert_int_equal(rh_repr__trained(a).nstep, 0);
    assert_true(isfinite(rh_repr__trained(a).loss));
    assert_false(rh_repr__trained(a).early);
    assert_true(rh_repr__trained(a).awareness == rh_repr__trained(b).awareness);
    rh_repr_destroy(a);
    rh_repr_destroy(b);
    rh_log_destroy(log);
}

// Every parameter that should change what is learned does.
static void parameters_count(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        double value;
    } change[] = {{"scale", RH_SCALE_DEVIATION},
                  {"hidden", 25.0},
                  {"kappa", 0.5},
                  {"beta", 1.0},
                  {"zeta", 0.1},
                  {"window", 2.0},
                  {"rate", 1e-3},
                  {"batch", 31.0},
                  {"half", 1.0},
                  {"first_bias", 0.0},
                  {"steps", 39.0}};
    double param[16];
    rh_log *log = corridor_log(12, 12, 0.05, 9);
    rh_repr_options opt = quick(param, 40.0);
    rh_repr *usual = fitted(&rh_repr_laplacian, log, &opt);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        opt = quick(param, 40.0);
        set(param, change[i].name, change[i].value);
        rh_repr *other = fitted(&rh_repr_laplacian, log, &opt);
        same_codes(usual, other, log, false);
        rh_repr_destroy(other);
    }
    rh_repr_destroy(usual);
    rh_log_destroy(log);
}

// What is in episodes not in use cannot matter.
static void other_episodes_do_not_matter(void **unused)
{
    (void)unused;
    enum { N = 10 * 12 };
    double obs[2][2 * N], param[16];
    int length[11] = {0};
    uint8_t use[10];
    for (int i = 0; i < 2 * N; i++) {
        obs[0][i] = sin(i * 0.7);
        obs[1][i] = i / 24 % 2 ? -3.0 * cos(i) : obs[0][i];
    }
    for (int e = 0; e < 10; e++) {
        length[e] = 12;
        use[e] = e % 2 == 0;
    }
    rh_repr *repr[2];
    rh_log *log[2];
    rh_repr_options opt = quick(param, 40.0);
    for (int i = 0; i < 2; i++) {
        log[i] = log_of(obs[i], 2, length, NULL);
        opt.use = use;
        repr[i] = fitted(&rh_repr_laplacian, log[i], &opt);
    }
    same_codes(repr[0], repr[1], log[0], true);
    opt.use = NULL;
    rh_repr *all = fitted(&rh_repr_laplacian, log[1], &opt);
    same_codes(repr[0], all, log[0], false);
    rh_repr_destroy(all);
    for (int i = 0; i < 2; i++) {
        rh_repr_destroy(repr[i]);
        rh_log_destroy(log[i]);
    }
}

static void states_and_actions(void **unused)
{
    (void)unused;
    enum { N = 10 * 20 };
    double obs[N], act[N], param[16];
    int length[11] = {0};
    for (int e = 0; e < 10; e++)
        length[e] = 20;
    for (int i = 0; i < N; i++) {
        obs[i] = sin(i * 0.3);
        act[i] = cos(i * 0.9);
    }
    rh_log *log = log_of(obs, 1, length, act);
    rh_repr_options opt = quick(param, 100.0);
    rh_repr *states = fitted(&rh_repr_laplacian, log, &opt);
    opt.actions = true;
    rh_repr *both = fitted(&rh_repr_laplacian, log, &opt);
    assert_int_equal(rh_repr__nact(states), 0);
    assert_int_equal(rh_repr__nact(both), 1);
    float a[4], b[4];
    assert_int_equal(rh_repr__encode(both, 1, obs, (double[]){0.0}, a, NULL), RH_OK);
    assert_int_equal(rh_repr__encode(both, 1, obs, (double[]){1.0}, b, NULL), RH_OK);
    assert_memory_not_equal(a, b, sizeof a);
    assert_true(isfinite(rh_repr__trained(both).awareness));
    rh_repr_destroy(states);
    rh_repr_destroy(both);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- trouble

static void refusals(void **unused)
{
    (void)unused;
    double obs[400], param[16];
    int single[201] = {0}, one[] = {200, 0};
    for (int i = 0; i < 400; i++)
        obs[i] = sin(i);
    for (int i = 0; i < 200; i++)
        single[i] = 2;
    rh_repr_options opt = quick(param, 40.0);
    rh_log *log = log_of(obs, 1, single, NULL);
    refused(&rh_repr_laplacian, log, &opt, RH_EINVAL,
            "laplacian: the log has no order of steps: 0 of 160 lead to the next step of their "
            "episode, expected more; try raw");
    rh_log_destroy(log);

    log = log_of(obs, 2, one, NULL);
    set(param, "rate", 1.0);
    set(param, "beta", 1000.0);
    set(param, "zeta", 1000.0);
    set(param, "scale", RH_SCALE_NONE);
    for (int i = 0; i < 400; i++)
        obs[i] *= 1e18;
    rh_log *huge = log_of(obs, 2, one, NULL);
    refused(
        &rh_repr_laplacian, huge, &opt, RH_EINVAL,
        "laplacian: training diverged within 20 steps with rate = 1, expected a smaller rate");
    opt = quick(param, 40.0);
    set(param, "d", 65.0);
    refused(&rh_repr_laplacian, log, &opt, RH_EINVAL,
            "laplacian: d = 65, expected a whole number, 1 to 64");
    rh_log_destroy(huge);
    rh_log_destroy(log);
}

// As little as there may be: nothing is held out.
static void tiny_logs(void **unused)
{
    (void)unused;
    double obs[12], param[16];
    rh_repr_options opt = quick(param, 40.0);
    for (int i = 0; i < 12; i++)
        obs[i] = i;
    for (int n = 3; n <= 12; n++) {
        rh_log *log = log_of(obs, 1, (int[]){n, 0}, NULL);
        rh_repr *repr = fitted(&rh_repr_laplacian, log, &opt);
        assert_true(isfinite(rh_repr__trained(repr).loss));
        assert_true(isnan(rh_repr__trained(repr).held_out) == (n <= 9));
        rh_repr_destroy(repr);
        rh_log_destroy(log);
    }
}

typedef struct watching {
    int ncall, nasked, stop_at;
    double share;
} watching;

static void seen(void *context, const char *what, double share)
{
    watching *w = context;
    assert_string_equal(what, "learning the representation");
    assert_true(share >= w->share);
    assert_true(share < 1.0);
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
    double param[16];
    rh_log *log = corridor_log(6, 12, 0.05, 1);
    rh_repr_options opt = quick(param, 1000.0);
    watching w = {.stop_at = 3};
    set(param, "patience", 1000.0);
    opt.watch = (rh_watch){.progress = seen, .stop = asked, .context = &w};
    refused(&rh_repr_laplacian, log, &opt, RH_ESTOPPED, "laplacian: stopped");
    assert_int_equal(w.ncall, 2);
    w = (watching){.stop_at = -1};
    rh_repr_destroy(fitted(&rh_repr_laplacian, log, &opt));
    assert_int_equal(w.ncall, 4);
    assert_true(w.share == 768.0 / 1000.0);
    rh_log_destroy(log);
}

static void allocations(void **unused)
{
    (void)unused;
    double param[16];
    rh_log *log = corridor_log(6, 12, 0.05, 1);

    // none in a step
    int64_t count[2];
    for (int i = 0; i < 2; i++) {
        rh_repr_options opt = quick(param, i ? 500.0 : 5.0);
        int64_t before = rh_base__alloc_count();
        rh_repr_destroy(fitted(&rh_repr_laplacian, log, &opt));
        count[i] = rh_base__alloc_count() - before;
    }
    assert_int_equal(count[0], count[1]);

    int64_t live = rh_base__alloc_live();
    bool done = false;
    rh_repr_options opt = quick(param, 2.0);
    for (int nth = 1; !done; nth++) {
        rh_repr *repr = NULL;
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_repr_fit(&repr, &rh_repr_laplacian, log, &opt, NULL);
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
        cmocka_unit_test(derivatives),
        cmocka_unit_test(loss_by_hand),
        cmocka_unit_test(fifteen_steps_of_numpy),
        cmocka_unit_test(gaps),
        cmocka_unit_test(pairs_stay_in_their_episode),
        cmocka_unit_test(slowest_features),
        cmocka_unit_test(zeta_forgets),
        cmocka_unit_test(back_to_the_best),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(random_is_where_it_begins),
        cmocka_unit_test(parameters_count),
        cmocka_unit_test(other_episodes_do_not_matter),
        cmocka_unit_test(states_and_actions),
        cmocka_unit_test(refusals),
        cmocka_unit_test(tiny_logs),
        cmocka_unit_test(watched_and_stopped),
        cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
