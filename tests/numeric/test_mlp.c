// test_mlp.c - networks: outputs and gradients are those of the formulas, training goes step
// by step as in NumPy, and batches, blocks and instruction sets change no bit they must not.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "numeric/kernels.h"
#include "numeric/mlp_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rh_mlp__adam adam = {.rate = 1e-2, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-3};

static rh_mlp *network(const int *size, int nsize, unsigned flags, uint64_t seed)
{
    rh_mlp *mlp = NULL;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(rh_mlp__create(&mlp, size, nsize, flags, &rng, NULL), RH_OK);
    return mlp;
}

static rh_mlp__pass *pass_for(const rh_mlp *mlp, int room)
{
    rh_mlp__pass *pass = NULL;
    assert_int_equal(rh_mlp__pass_create(&pass, mlp, room, NULL), RH_OK);
    return pass;
}

// n random numbers; to be freed.
static float *numbers(size_t n, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    float *x = rh_alloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
    return x;
}

static double *array_of(const rh_mlp *mlp, rh_mlp__array which)
{
    double *x = rh_alloc(rh_mlp__nparam(mlp), sizeof *x);
    assert_non_null(x);
    rh_mlp__get(mlp, which, x);
    return x;
}

static void same_arrays(const rh_mlp *a, const rh_mlp *b)
{
    size_t n = rh_mlp__nparam(a);
    assert_int_equal(n, rh_mlp__nparam(b));
    for (int which = RH_MLP_WEIGHTS; which <= RH_MLP_SECOND; which++) {
        double *x = array_of(a, (rh_mlp__array)which), *y = array_of(b, (rh_mlp__array)which);
        assert_memory_equal(x, y, n * sizeof *x);
        rh_free(x);
        rh_free(y);
    }
}

// ---------------------------------------------------------------------------- a plain one

// Outputs y (n x last size) in double precision, one number after the other.
static void plain_forward(const int *size, int nsize, unsigned flags, const double *w, int n,
                          const double *x, double *y)
{
    static double one[300], next[300];
    for (int i = 0; i < n; i++) {
        const double *at = w;
        for (int k = 0; k < size[0]; k++)
            one[k] = x[i * size[0] + k];
        for (int l = 0; l + 1 < nsize; l++) {
            int nin = size[l], nout = size[l + 1];
            bool bias = l > 0 || !(flags & RH_MLP_NO_FIRST_BIAS), hidden = l + 2 < nsize;
            bool normed = hidden && (flags & RH_MLP_NORM);
            double mean = 0.0, variance = 0.0;
            for (int j = 0; j < nout; j++) {
                next[j] = bias ? at[nin * nout + j] : 0.0;
                for (int k = 0; k < nin; k++)
                    next[j] += one[k] * at[k * nout + j];
                mean += next[j] / nout;
            }
            at += (nin + bias) * nout;
            for (int j = 0; j < nout; j++)
                variance += (next[j] - mean) * (next[j] - mean) / nout;
            for (int j = 0; normed && j < nout; j++)
                next[j] = at[j] * (next[j] - mean) / sqrt(variance + 1e-5) + at[nout + j];
            at += normed ? 2 * nout : 0;
            for (int j = 0; hidden && j < nout; j++)
                next[j] = fmax(next[j], 0.0);
            memcpy(one, next, (size_t)nout * sizeof *one);
        }
        memcpy(y + i * size[nsize - 1], one, (size_t)size[nsize - 1] * sizeof *y);
    }
}

// sum of dy y: its derivatives by the weights are the gradient for these dy.
static double plain_loss(const int *size, int nsize, unsigned flags, const double *w, int n,
                         const double *x, const float *dy)
{
    double sum = 0.0;
    int nout = size[nsize - 1];
    double *y = rh_alloc((size_t)(n * nout), sizeof *y);
    assert_non_null(y);
    plain_forward(size, nsize, flags, w, n, x, y);
    for (int i = 0; i < n * nout; i++)
        sum += y[i] * (double)dy[i];
    rh_free(y);
    return sum;
}

// What one network computes, beside the plain one.
typedef struct beside {
    const int *size;
    int nsize, n;
    unsigned flags;
    double *w, *x; // owned
    float *dy;     // owned
} beside;

// The derivative of the plain loss by *number, by differences.
static double slope(const beside *b, double *number)
{
    double old = *number, h = 1e-7;
    *number = old + h;
    double up = plain_loss(b->size, b->nsize, b->flags, b->w, b->n, b->x, b->dy);
    *number = old - h;
    double down = plain_loss(b->size, b->nsize, b->flags, b->w, b->n, b->x, b->dy);
    *number = old;
    return (up - down) / (2.0 * h);
}

// Up to 60 derivatives by the numbers at `at` (n).
static void check_slopes(const beside *b, double *at, const double *g, size_t n, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    double tolerance = b->flags & RH_MLP_NORM ? 1e-4 : 1e-5; // norms of a few units amplify
    for (size_t t = 0; t < 60 && t < n; t++) {
        size_t i = n <= 60 ? t : rh_rng_below(&rng, (uint32_t)n);
        double d = slope(b, at + i);
        if (fabs(g[i] - d) > tolerance * (1.0 + fabs(d)))
            fail_msg("derivative %zu is %.9g, expected %.9g", i, g[i], d);
    }
}

// Outputs, and derivatives by weights and inputs, of one network with batches of n rows.
static void check_network(const int *size, int nsize, unsigned flags, int n, uint64_t seed)
{
    int nin = size[0], nout = size[nsize - 1];
    size_t nx = (size_t)(n * nin), ny = (size_t)(n * nout);
    rh_mlp *mlp = network(size, nsize, flags, seed);
    rh_mlp__pass *pass = pass_for(mlp, n);
    size_t nparam = rh_mlp__nparam(mlp);
    float *x = numbers(nx, seed), *y = numbers(ny, 1), *dx = numbers(nx, 1);
    beside b = {.size = size, .nsize = nsize, .n = n, .flags = flags};
    b.w = array_of(mlp, RH_MLP_WEIGHTS);
    if (flags & RH_MLP_NORM) { // gains and shifts that are not 1 and 0
        rh_rng rng = rh_rng_stream(seed, RH_STREAM_FIT, 0, 0);
        for (size_t i = 0; i < nparam; i++)
            b.w[i] = (double)(float)(b.w[i] + rh_rng_range(&rng, -0.1, 0.1));
        rh_mlp__set(mlp, RH_MLP_WEIGHTS, b.w);
    }
    b.x = rh_alloc(nx, sizeof *b.x);
    b.dy = numbers(ny, seed + 1);
    double *expected = rh_alloc(ny, sizeof *expected);
    double *by_inputs = rh_alloc(nx, sizeof *by_inputs);
    assert_non_null(b.x);
    assert_non_null(expected);
    assert_non_null(by_inputs);
    assert_int_equal(rh_mlp__ninput(mlp), nin);
    assert_int_equal(rh_mlp__noutput(mlp), nout);
    for (size_t i = 0; i < nx; i++)
        b.x[i] = (double)x[i];

    rh_mlp__forward(mlp, pass, n, x, y);
    plain_forward(size, nsize, flags, b.w, n, b.x, expected);
    for (size_t i = 0; i < ny; i++)
        assert_true(fabs((double)y[i] - expected[i]) <= (flags & RH_MLP_NORM ? 1e-5 : 2e-6));

    rh_mlp__backward(mlp, pass, b.dy);
    double *g = array_of(mlp, RH_MLP_GRADIENT);
    check_slopes(&b, b.w, g, nparam, seed);

    // the way to the inputs does not touch the gradient
    rh_mlp__by_inputs(mlp, pass, b.dy, dx);
    double *same = array_of(mlp, RH_MLP_GRADIENT);
    assert_memory_equal(g, same, nparam * sizeof *g);
    for (size_t i = 0; i < nx; i++)
        by_inputs[i] = (double)dx[i];
    check_slopes(&b, b.x, by_inputs, nx, seed);

    rh_free(same);
    rh_free(g);
    rh_free(by_inputs);
    rh_free(expected);
    rh_free(b.w);
    rh_free(b.x);
    rh_free(b.dy);
    rh_free(dx);
    rh_free(y);
    rh_free(x);
    rh_mlp__pass_destroy(pass);
    rh_mlp__destroy(mlp);
}

static void outputs_and_gradients(void **unused)
{
    (void)unused;
    static const int width[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 127, 129, 257};
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        for (int i = 0; i < 15; i++) {
            int a = width[i], b = width[(i * 7 + 3) % 15], c = width[(i * 4 + 5) % 15];
            int n = 1 + (i * 5) % 13;
            check_network((int[]){a, b}, 2, RH_MLP_PLAIN, n, 10);
            check_network((int[]){a, b}, 2, RH_MLP_NO_FIRST_BIAS, n, 11);
            check_network((int[]){c % 9 + 1, a, 3}, 3, RH_MLP_NO_FIRST_BIAS, n, 12);
            check_network((int[]){c % 9 + 1, b % 40 + 1, a % 50 + 1, c % 20 + 1}, 4,
                          RH_MLP_PLAIN, n, 13);
        }
        check_network((int[]){2, 3, 4, 5, 6, 5, 4, 3}, 8, RH_MLP_PLAIN, 6, 14);
        check_network((int[]){100, 7, 3}, 3, RH_MLP_PLAIN, 6, 14); // more inputs than units
        for (int i = 5; i < 15; i++)
            check_network((int[]){3, width[i], width[(i * 7 + 3) % 10 + 5], 2}, 4,
                          RH_MLP_NORM | (unsigned)(i % 2), 1 + (i * 5) % 13, 15);
    }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- NumPy

enum { LINE = 1 << 14, NUMBERS = 512 };

// The next line of the reference: network, step, what; its numbers to x. How many; 0 at the
// end.
static int next_line(FILE *file, char name[16], int *step, char what[16], double *x)
{
    static char line[LINE];
    int at = 0, n = 0;
    if (!fgets(line, LINE, file))
        return 0;
    assert_int_equal(sscanf(line, "%15[^,],%d,%15[^,],%n", name, step, what, &at), 3);
    for (char *word = strtok(line + at, ",\n"); word; word = strtok(NULL, ",\n")) {
        assert_true(n < NUMBERS);
        x[n++] = strtod(word, NULL);
    }
    return n;
}

// Numbers that must agree to 1e-5, beside the largest of them for those near 0.
static void near(const double *x, const double *expected, int n, const char *name, int step,
                 const char *what)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - expected[i]) <= 1e-5 * fabs(expected[i]) + 1e-6 * largest))
            fail_msg("%s, step %d: %s %d is %.9g, expected %.9g", name, step, what, i, x[i],
                     expected[i]);
}

typedef struct training {
    rh_mlp *mlp;
    rh_mlp__pass *pass[3];
    int rows, nin, nout;
    float x[NUMBERS], y[NUMBERS], dy[NUMBERS];
} training;

static void end_training(training *t)
{
    for (int b = 0; b < 3; b++)
        rh_mlp__pass_destroy(t->pass[b]);
    rh_mlp__destroy(t->mlp);
}

static void begin_training(training *t, const double *shape, int n)
{
    int size[8];
    end_training(t);
    for (int i = 2; i < n; i++)
        size[i - 2] = (int)shape[i];
    t->mlp = network(size, n - 2, shape[0] != 0.0 ? RH_MLP_PLAIN : RH_MLP_NO_FIRST_BIAS, 1);
    t->rows = (int)shape[1];
    t->nin = size[0];
    t->nout = size[n - 3];
    for (int b = 0; b < 3; b++)
        t->pass[b] = pass_for(t->mlp, t->rows);
}

// The derivatives of the loss in repr_mlp.py.
static void laplacian(training *t)
{
    int n = t->rows * t->nout;
    for (int i = 0; i < n; i += t->nout) {
        const float *a = t->y + i, *b = a + n, *c = b + n;
        float *da = t->dy + i, *db = da + n, *dc = db + n;
        double dot = 0.0, scale = 2.0 / t->rows;
        for (int k = 0; k < t->nout; k++)
            dot += (double)a[k] * (double)c[k];
        for (int k = 0; k < t->nout; k++) {
            double gap = (double)a[k] - (double)b[k];
            da[k] = (float)(scale * (gap + dot * (double)c[k] - 0.05 * (double)a[k]));
            db[k] = (float)(-scale * gap);
            dc[k] = (float)(scale * (dot * (double)a[k] - 0.05 * (double)c[k]));
        }
    }
}

// Whatever the line says: begin, go forward and backward, compare.
static void follow(training *t, const char *name, int step, const char *what, const double *x,
                   int n)
{
    double own[NUMBERS];
    if (!strcmp(what, "shape")) {
        begin_training(t, x, n);
    } else if (!strcmp(what, "rows")) {
        for (int i = 0; i < n; i++)
            t->x[i] = (float)x[i];
        for (int b = 0; b < 3; b++)
            rh_mlp__forward(t->mlp, t->pass[b], t->rows, t->x + b * t->rows * t->nin,
                            t->y + b * t->rows * t->nout);
    } else if (!strcmp(what, "outputs")) {
        for (int i = 0; i < n; i++)
            own[i] = (double)t->y[i];
        near(own, x, n, name, step, what);
        laplacian(t);
        for (int b = 0; b < 3; b++)
            rh_mlp__backward(t->mlp, t->pass[b], t->dy + b * t->rows * t->nout);
    } else if (!strcmp(what, "gradient")) {
        rh_mlp__get(t->mlp, RH_MLP_GRADIENT, own);
        near(own, x, n, name, step, what);
        rh_mlp__step(t->mlp, &adam);
    } else if (step == 0) {
        assert_int_equal(n, rh_mlp__nparam(t->mlp));
        rh_mlp__set(t->mlp, RH_MLP_WEIGHTS, x);
    } else {
        rh_mlp__get(t->mlp, RH_MLP_WEIGHTS, own);
        near(own, x, n, name, step, what);
    }
}

static void twenty_steps_of_numpy(void **unused)
{
    (void)unused;
    static training t;
    for (int k = 1; k <= rh_isa__count(); k++) {
        FILE *file = fopen(RH_TEST_DATA "/repr_mlp.csv", "r");
        assert_non_null(file);
        rh_isa__limit(k);
        memset(&t, 0, sizeof t);
        char name[16], what[16];
        double x[NUMBERS];
        int step, n, nline = 0;
        while ((n = next_line(file, name, &step, what, x)) > 0) {
            follow(&t, name, step, what, x, n);
            nline++;
        }
        assert_int_equal(nline, 3 * (2 + 20 * 4));
        end_training(&t);
        fclose(file);
    }
    rh_isa__limit(0);
}

// ---------------------------------------------------------------------------- bits

// Some steps of training towards outputs that are the inputs, in batches of the given sizes
// (0-terminated).
static void train(rh_mlp *mlp, const int *batch, int steps)
{
    int nin = rh_mlp__ninput(mlp), nout = rh_mlp__noutput(mlp), total = 0;
    for (int b = 0; batch[b]; b++)
        total += batch[b];
    rh_mlp__pass *pass = pass_for(mlp, total);
    float *y = numbers((size_t)(total * nout), 1);
    for (int s = 0; s < steps; s++) {
        float *x = numbers((size_t)(total * nin), 100 + (uint64_t)s);
        int at = 0;
        for (int b = 0; batch[b]; at += batch[b++]) {
            rh_mlp__forward(mlp, pass, batch[b], x + at * nin, y + at * nout);
            for (int i = 0; i < batch[b] * nout; i++)
                y[at * nout + i] -= x[(at + i / nout) * nin + i % nout % nin];
            rh_mlp__backward(mlp, pass, y + at * nout);
        }
        rh_mlp__step(mlp, &adam);
        rh_free(x);
    }
    rh_free(y);
    rh_mlp__pass_destroy(pass);
}

static void same_bits(void **unused)
{
    (void)unused;
    static const int size[] = {5, 40, 33, 3};
    static const unsigned kind = RH_MLP_NO_FIRST_BIAS | RH_MLP_NORM;
    static const int one[] = {37, 0}, four[] = {8, 1, 15, 13, 0};
    rh_mlp *fused = NULL;
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        rh_mlp *a = network(size, 4, kind, 3);
        rh_mlp *b = network(size, 4, kind, 3);
        rh_mlp *c = network(size, 4, kind, 3);
        rh_mlp *other = network(size, 4, kind, 4);
        same_arrays(a, b);
        train(a, one, 30);
        train(b, one, 30);
        train(c, four, 30);
        same_arrays(a, b); // again
        same_arrays(a, c); // in parts

        double *x = array_of(a, RH_MLP_WEIGHTS), *y = array_of(other, RH_MLP_WEIGHTS);
        assert_memory_not_equal(x, y, rh_mlp__nparam(a) * sizeof *x);
        rh_free(x);
        rh_free(y);

        if (rh_mlp__kernels_at(k - 1)->fused) { // by another instruction set
            if (fused)
                same_arrays(a, fused);
            rh_mlp__destroy(fused);
            fused = a;
            a = NULL;
        }
        rh_mlp__destroy(a);
        rh_mlp__destroy(b);
        rh_mlp__destroy(c);
        rh_mlp__destroy(other);
    }
    rh_mlp__destroy(fused);
    rh_isa__limit(0);
}

// Rows x (n x ninput) one by one give y, and no float outside of the scratch is written.
static void alone_without_pass(const rh_mlp *mlp, int n, const float *x, const float *y)
{
    size_t room = rh_mlp__nscratch(mlp);
    int nin = rh_mlp__ninput(mlp), nout = rh_mlp__noutput(mlp);
    float *scratch = rh_alloc(room + 16, sizeof *scratch), own[300];
    assert_non_null(scratch);
    assert_true(nout < 300);
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < room + 16; k++)
            scratch[k] = -7.0f; // what is left there must not matter
        own[nout] = -7.0f;
        rh_mlp__single(mlp, scratch, x + i * nin, own);
        assert_memory_equal(own, y + i * nout, (size_t)nout * sizeof *own);
        assert_true(own[nout] == -7.0f);
        for (size_t k = room; k < room + 16; k++)
            assert_true(scratch[k] == -7.0f);
    }
    rh_free(scratch);
}

// The same bits with and without a pass, whatever the number and the widths of layers.
static void single_rows(void **unused)
{
    (void)unused;
    static const int shape[][5] = {{2, 4, 3}, {3, 5, 33, 2}, {4, 2, 200, 17, 290}, {2, 1, 1}};
    enum { N = 5 };
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        for (int i = 0; i < 4; i++)
            for (unsigned flags = 0; flags < 4; flags++) {
                const int *size = shape[i] + 1;
                int nsize = shape[i][0];
                rh_mlp *mlp = network(size, nsize, flags, 8);
                rh_mlp__pass *pass = pass_for(mlp, N);
                float *x = numbers((size_t)(N * size[0]), 9), y[N * 290];
                rh_mlp__forward(mlp, pass, N, x, y);
                alone_without_pass(mlp, N, x, y);
                rh_free(x);
                rh_mlp__pass_destroy(pass);
                rh_mlp__destroy(mlp);
            }
    }
    rh_isa__limit(0);
}

static void rows_alone_and_together(void **unused)
{
    (void)unused;
    enum { N = 101 };
    for (int k = 1; k <= rh_isa__count(); k++) {
        rh_isa__limit(k);
        rh_mlp *mlp = network((int[]){6, 150, 130, 9}, 4, RH_MLP_PLAIN, 5);
        rh_mlp__pass *all = pass_for(mlp, N), *some = pass_for(mlp, 16),
                     *one = pass_for(mlp, 1);
        float *x = numbers(N * 6, 6), y[3][N * 9];
        rh_mlp__forward(mlp, all, N, x, y[0]);
        rh_mlp__evaluate(mlp, some, N, x, y[1]);
        for (int i = 0; i < N; i++)
            rh_mlp__forward(mlp, one, 1, x + i * 6, y[2] + i * 9);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(y[0], y[2], sizeof y[0]);
        alone_without_pass(mlp, N, x, y[0]);
        rh_free(x);
        rh_mlp__pass_destroy(all);
        rh_mlp__pass_destroy(some);
        rh_mlp__pass_destroy(one);
        rh_mlp__destroy(mlp);
    }
    rh_isa__limit(0);
}

static void first_weights(void **unused)
{
    (void)unused;
    rh_mlp *mlp = network((int[]){25, 100, 4}, 3, RH_MLP_PLAIN, 7);
    assert_int_equal(rh_mlp__nparam(mlp), 26 * 100 + 101 * 4);
    double *w = array_of(mlp, RH_MLP_WEIGHTS), sum[2] = {0}, most[2] = {0};
    for (int i = 0; i < 26 * 100 + 101 * 4; i++) {
        int l = i >= 26 * 100;
        sum[l] += w[i] * w[i];
        most[l] = fmax(most[l], fabs(w[i]));
    }
    assert_true(most[0] <= 0.2);
    assert_true(most[0] > 0.199);
    assert_true(most[1] <= 0.1);
    assert_true(most[1] > 0.098);
    assert_true(fabs(sum[0] / 2600.0 - 0.2 * 0.2 / 3.0) < 1e-3);
    assert_true(fabs(sum[1] / 404.0 - 0.1 * 0.1 / 3.0) < 5e-4);
    rh_free(w);
    rh_mlp__destroy(mlp);

    mlp = network((int[]){25, 100, 4}, 3, RH_MLP_NO_FIRST_BIAS, 7);
    assert_int_equal(rh_mlp__nparam(mlp), 25 * 100 + 101 * 4);
    rh_mlp__destroy(mlp);
}

// A network learns: the error of a sine falls to a hundredth.
static double sine_error(rh_mlp *mlp, rh_mlp__pass *pass, rh_rng *rng, bool learn)
{
    float x[64], y[64];
    double sum = 0.0;
    for (int i = 0; i < 64; i++)
        x[i] = (float)rh_rng_range(rng, -3.0, 3.0);
    rh_mlp__forward(mlp, pass, 64, x, y);
    for (int i = 0; i < 64; i++) {
        double gap = (double)y[i] - rh_sin((double)x[i]);
        sum += gap * gap / 64.0;
        y[i] = (float)(2.0 * gap / 64.0);
    }
    if (learn) {
        rh_mlp__backward(mlp, pass, y);
        rh_mlp__step(mlp, &adam);
    }
    return sum;
}

static void a_sine_is_learned(void **unused)
{
    (void)unused;
    rh_mlp *mlp = network((int[]){1, 32, 32, 1}, 4, RH_MLP_PLAIN, 8);
    rh_mlp__pass *pass = pass_for(mlp, 64);
    rh_rng rng = rh_rng_stream(8, RH_STREAM_NOISE, 0, 0);
    double before = sine_error(mlp, pass, &rng, false);
    int64_t count = rh_base__alloc_count();
    for (int i = 0; i < 500; i++)
        sine_error(mlp, pass, &rng, true);
    assert_int_equal(rh_base__alloc_count(), count); // nothing allocates inside a step
    assert_true(sine_error(mlp, pass, &rng, false) < 0.01 * before);
    rh_mlp__pass_destroy(pass);
    rh_mlp__destroy(mlp);
}

// A step without a gradient is one along a gradient of zero.
static void a_step_without_gradient(void **unused)
{
    (void)unused;
    static const int batch[] = {9, 0};
    rh_mlp *a = network((int[]){3, 20, 2}, 3, RH_MLP_PLAIN, 9);
    train(a, batch, 3);
    rh_mlp *b = NULL;
    assert_int_equal(rh_mlp__clone(&b, a, NULL), RH_OK);
    double *zero = rh_alloc(rh_mlp__nparam(a), sizeof *zero);
    assert_non_null(zero);
    rh_mlp__set(b, RH_MLP_GRADIENT, zero);
    rh_mlp__step(a, &adam);
    rh_mlp__step(b, &adam);
    same_arrays(a, b);
    rh_free(zero);
    rh_mlp__destroy(a);
    rh_mlp__destroy(b);
}

// Without moments and gradient, a step takes rate * decay of every weight and bias.
static void weights_decay(void **unused)
{
    (void)unused;
    rh_mlp *mlp = network((int[]){3, 20, 2}, 3, RH_MLP_NO_FIRST_BIAS, 9);
    double *before = array_of(mlp, RH_MLP_WEIGHTS);
    rh_mlp__step(mlp, &(rh_mlp__adam){.rate = 0.1, .eps = 1e-8, .decay = 0.5});
    double *after = array_of(mlp, RH_MLP_WEIGHTS);
    for (size_t i = 0; i < rh_mlp__nparam(mlp); i++)
        assert_true(after[i] == (double)((float)before[i] * 0.95f));
    rh_free(before);
    rh_free(after);
    rh_mlp__destroy(mlp);
}

// ---------------------------------------------------------------------------- copies

static void copies_go_their_own_way(void **unused)
{
    (void)unused;
    static const int batch[] = {4, 7, 0};
    rh_mlp *a = network((int[]){3, 20, 2}, 3, RH_MLP_NO_FIRST_BIAS, 9), *b = NULL;
    rh_mlp *c = network((int[]){3, 20, 2}, 3, RH_MLP_NO_FIRST_BIAS, 10);
    train(a, batch, 3);
    assert_int_equal(rh_mlp__clone(&b, a, NULL), RH_OK);
    rh_mlp__copy(c, a);
    same_arrays(a, b);
    same_arrays(a, c);
    train(a, batch, 5);
    train(c, batch, 5);
    same_arrays(a, c); // also the clock of Adam was copied
    train(b, batch, 4);
    double *x = array_of(a, RH_MLP_WEIGHTS), *y = array_of(b, RH_MLP_WEIGHTS);
    assert_memory_not_equal(x, y, rh_mlp__nparam(a) * sizeof *x);
    rh_free(x);
    rh_free(y);
    rh_mlp__destroy(a);
    rh_mlp__destroy(b);
    rh_mlp__destroy(c);
}

// A share of the way to another network; drawing begins anew.
static void blended_and_drawn(void **unused)
{
    (void)unused;
    static const int size[] = {3, 20, 2}, batch[] = {4, 0};
    rh_mlp *a = network(size, 3, RH_MLP_NORM, 1), *b = network(size, 3, RH_MLP_NORM, 2);
    double *x = array_of(a, RH_MLP_WEIGHTS), *y = array_of(b, RH_MLP_WEIGHTS);
    rh_mlp__blend(a, b, 0.25);
    double *z = array_of(a, RH_MLP_WEIGHTS);
    for (size_t i = 0; i < rh_mlp__nparam(a); i++)
        assert_true(fabs(z[i] - (0.75 * x[i] + 0.25 * y[i])) <= 1e-7);
    rh_mlp__blend(a, b, 1.0);

    train(a, batch, 3);
    rh_rng rng = rh_rng_stream(2, RH_STREAM_AGENT, 0, 0);
    rh_mlp__draw(a, &rng);
    same_arrays(a, b);
    train(a, batch, 3);
    train(b, batch, 3);
    same_arrays(a, b);
    rh_free(x);
    rh_free(y);
    rh_free(z);
    rh_mlp__destroy(a);
    rh_mlp__destroy(b);
}

static void saved_and_loaded(void **unused)
{
    (void)unused;
    static const int batch[] = {4, 7, 0};
    static const int size[] = {3, 20, 17, 2};
    for (unsigned flags = 0; flags < 4; flags++)
        for (int nsize = 2; nsize <= 4; nsize++) {
            rh_mlp *a = network(size, nsize, flags, 9), *b = NULL, *c = NULL;
            rh_state *state = NULL;
            train(a, batch, 3);
            assert_int_equal(rh_state__create(&state, NULL), RH_OK);
            assert_int_equal(rh_mlp__save(a, "phi", state, NULL), RH_OK);
            assert_int_equal(rh_mlp__save(a, "twenty characters 20", state, NULL), RH_OK);
            assert_int_equal(rh_mlp__load(&b, "phi", state, NULL), RH_OK);
            assert_int_equal(rh_mlp__load(&c, "twenty characters 20", state, NULL), RH_OK);
            same_arrays(a, b);
            train(a, batch, 5);
            train(b, batch, 5);
            train(c, batch, 5);
            same_arrays(a, b);
            same_arrays(a, c);
            rh_state_destroy(state);
            rh_mlp__destroy(a);
            rh_mlp__destroy(b);
            rh_mlp__destroy(c);
        }
}

// ---------------------------------------------------------------------------- refusals

static void refused(const int *size, int nsize, const char *words)
{
    rh_error err;
    rh_mlp *mlp = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    assert_int_equal(rh_mlp__create(&mlp, size, nsize, 0, &rng, &err), RH_EINVAL);
    assert_null(mlp);
    assert_string_equal(err.text, words);
}

static void bad_shapes(void **unused)
{
    (void)unused;
    int many[RH_MLP_LAYERS + 2];
    for (int i = 0; i < RH_MLP_LAYERS + 2; i++)
        many[i] = 1;
    refused(many, 1, "mlp: 1 layer sizes, expected 2 to 17");
    refused(many, RH_MLP_LAYERS + 2, "mlp: 18 layer sizes, expected 2 to 17");
    refused((int[]){3, 0, 2}, 3, "mlp: layer 2 has 0 units, expected 1 to 16384");
    refused((int[]){3, 4, 16385}, 3, "mlp: layer 3 has 16385 units, expected 1 to 16384");
    rh_mlp__destroy(network(many, RH_MLP_LAYERS + 1, 0, 1));
    rh_mlp__destroy(NULL);
    rh_mlp__pass_destroy(NULL);

    rh_mlp *mlp = NULL;
    rh_mlp__pass *pass = NULL;
    rh_rng rng = rh_rng_stream(1, RH_STREAM_NOISE, 0, 0);
    rh_error err = {""};
    assert_int_equal(rh_mlp__create(&mlp, (int[]){1, 1}, 2, 0, &rng, NULL), RH_OK);
    assert_int_equal(rh_mlp__pass_create(&pass, mlp, 0, &err), RH_EINVAL);
    assert_string_equal(err.text, "mlp: batches of 0 rows, expected 1 or more");
    assert_null(pass);
    rh_mlp__destroy(mlp);
}

// A saved linear network 2-1 with one array replaced, or left out (NULL).
static void damaged(const char *which, const double *x, size_t n, rh_status status,
                    const char *words)
{
    static const struct {
        const char *name;
        double x[3];
        size_t n;
    } right[] = {{"p shape", {0.0, 2.0, 1.0}, 3},
                 {"p beta^t", {0.9, 0.999}, 2},
                 {"p weights", {1.0, 2.0, 3.0}, 3},
                 {"p first", {0.0, 0.0, 0.0}, 3},
                 {"p second", {0.0, 0.0, 0.0}, 3}};
    rh_error err = {""};
    rh_state *state = NULL;
    rh_mlp *mlp = NULL;
    int64_t live = rh_base__alloc_live();
    assert_int_equal(rh_state__create(&state, NULL), RH_OK);
    for (int i = 0; i < 5; i++)
        if (!which || strcmp(right[i].name, which))
            rh_state_put(state, right[i].name, right[i].x, right[i].n, NULL);
        else if (x)
            rh_state_put(state, which, x, n, NULL);
    assert_int_equal(rh_mlp__load(&mlp, "p", state, &err), status);
    assert_string_equal(err.text, words);
    assert_true((mlp != NULL) == (status == RH_OK));
    rh_mlp__destroy(mlp);
    rh_state_destroy(state);
    assert_int_equal(rh_base__alloc_live(), live);
}

#define SHAPE                                                                                  \
    "mlp 'p': array 'p shape' of the saved state is not 0 to 3 and 2 to 17 layer sizes "       \
    "from 1 to 16384"

static void damaged_states(void **unused)
{
    (void)unused;
    double huge[18] = {0.0}, odd[3] = {1.0, NAN, 1.0};
    for (int i = 1; i < 18; i++)
        huge[i] = 16384.0;
    damaged(NULL, NULL, 0, RH_OK, "");
    damaged("p shape", NULL, 0, RH_EFORMAT, "mlp 'p': no array 'p shape' in the saved state");
    damaged("p shape", huge, 2, RH_EFORMAT, SHAPE);
    damaged("p shape", (double[]){4.0, 2.0, 1.0}, 3, RH_EFORMAT, SHAPE);
    damaged("p shape", (double[]){0.0, 2.5, 1.0}, 3, RH_EFORMAT, SHAPE);
    damaged("p shape", (double[]){0.0, 0.0, 1.0}, 3, RH_EFORMAT, SHAPE);
    damaged("p shape", (double[]){NAN, 2.0, 1.0}, 3, RH_EFORMAT, SHAPE);
    damaged("p shape", odd, 3, RH_EFORMAT, SHAPE);
    damaged("p shape", huge, 18, RH_EFORMAT,
            "mlp 'p': array 'p weights' of the saved state has 3 numbers, expected 4295229440");
    damaged("p shape", (double[]){1.0, 2.0, 1.0}, 3, RH_EFORMAT,
            "mlp 'p': array 'p weights' of the saved state has 3 numbers, expected 2");
    damaged("p weights", NULL, 0, RH_EFORMAT,
            "mlp 'p': array 'p weights' of the saved state has 0 numbers, expected 3");
    damaged("p weights", odd, 3, RH_EFORMAT,
            "mlp 'p': number 2 of array 'p weights' of the saved state is nan, expected "
            "-3.40282e+38 to 3.40282e+38");
    damaged("p weights", (double[]){1.0, 1.0, 1e39}, 3, RH_EFORMAT,
            "mlp 'p': number 3 of array 'p weights' of the saved state is 1e+39, expected "
            "-3.40282e+38 to 3.40282e+38");
    damaged("p second", (double[]){1.0, 1.0, -1.0}, 3, RH_EFORMAT,
            "mlp 'p': number 3 of array 'p second' of the saved state is -1, expected 0 to "
            "3.40282e+38");
    damaged("p first", NULL, 0, RH_EINVAL, "state: no array 'p first' in the saved state");
    damaged("p beta^t", odd, 2, RH_EFORMAT, "mlp 'p': beta^t is 1 and nan, expected 0 to 1");
}

static void every_failed_allocation(void **unused)
{
    (void)unused;
    int64_t live = rh_base__alloc_live();
    bool done = false;
    for (int nth = 1; !done; nth++) {
        rh_mlp *a = NULL, *b = NULL, *c = NULL;
        rh_mlp__pass *pass = NULL;
        rh_state *state = NULL;
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        rh_base__alloc_fail_at(nth);
        rh_status rc = rh_mlp__create(&a, (int[]){3, 4, 2}, 3, 0, &rng, NULL);
        if (!rc)
            rc = rh_mlp__pass_create(&pass, a, 10, NULL);
        if (!rc)
            rc = rh_mlp__clone(&b, a, NULL);
        if (!rc)
            rc = rh_state__create(&state, NULL);
        if (!rc)
            rc = rh_mlp__save(a, "phi", state, NULL);
        if (!rc)
            rc = rh_mlp__load(&c, "phi", state, NULL);
        rh_base__alloc_fail_at(0);
        done = rc == RH_OK;
        assert_true(done || rc == RH_ENOMEM);
        rh_mlp__destroy(a);
        rh_mlp__destroy(b);
        rh_mlp__destroy(c);
        rh_mlp__pass_destroy(pass);
        rh_state_destroy(state);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_and_gradients),
        cmocka_unit_test(twenty_steps_of_numpy),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(rows_alone_and_together),
        cmocka_unit_test(single_rows),
        cmocka_unit_test(first_weights),
        cmocka_unit_test(a_sine_is_learned),
        cmocka_unit_test(a_step_without_gradient),
        cmocka_unit_test(weights_decay),
        cmocka_unit_test(copies_go_their_own_way),
        cmocka_unit_test(blended_and_drawn),
        cmocka_unit_test(saved_and_loaded),
        cmocka_unit_test(bad_shapes),
        cmocka_unit_test(damaged_states),
        cmocka_unit_test(every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
