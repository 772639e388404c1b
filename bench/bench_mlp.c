// bench_mlp.c - a training step of the Laplacian representation, by instruction set: three
// batches of 128 rows forward and backward through one network, their loss, one step of Adam;
// and one row alone. Beside it, where there is a Python, the same step in NumPy
// (bench/mlp_numpy.py). Processor time on one thread.

#include "base/base_internal.h"
#include "seconds.h"

#include "numeric/mlp.h"
#include "numeric/mlp_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 128
#define NDATA 5000
#define WIDEST 64
#define REPEAT 15
#define STEPS 200

// The three batches: states, states close to them, states far from them.
enum { STATE, CLOSE, FAR, NBATCH };

typedef struct entry {
    rh_mlp *mlp;
    rh_mlp__pass *pass[NBATCH];
    rh_rng rng;
    int nin, nout;
    float data[NDATA * WIDEST];
    float x[NBATCH][ROWS * WIDEST], y[NBATCH][ROWS * WIDEST], dy[NBATCH][ROWS * WIDEST];
} entry;

static void must(rh_status rc)
{
    if (rc) {
        fprintf(stderr, "bench_mlp: out of memory\n");
        exit(1);
    }
}

// |a - b|^2 + (a . c)^2 - 0.05 (|a|^2 + |c|^2), averaged over rows.
static void loss(entry *s)
{
    int n = s->nout;
    for (int i = 0; i < ROWS; i++) {
        const float *a = s->y[STATE] + i * n, *b = s->y[CLOSE] + i * n, *c = s->y[FAR] + i * n;
        float *da = s->dy[STATE] + i * n, *db = s->dy[CLOSE] + i * n, *dc = s->dy[FAR] + i * n;
        float dot = 0.0f, part[8] = {0.0f}, scale = 2.0f / ROWS;
        for (int k = 0; k < n; k++)
            part[k % 8] += a[k] * c[k];
        for (int k = 0; k < 8; k++)
            dot += part[k];
        for (int k = 0; k < n; k++) {
            float gap = a[k] - b[k];
            da[k] = scale * (gap + dot * c[k] - 0.05f * a[k]);
            db[k] = -scale * gap;
            dc[k] = scale * (dot * a[k] - 0.05f * c[k]);
        }
    }
}

static void step(entry *s)
{
    static const rh_mlp__adam adam = {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    for (int i = 0; i < ROWS; i++) {
        uint32_t a = rh_rng_below(&s->rng, NDATA - 16);
        uint32_t at[NBATCH] = {a, a + 1 + rh_rng_below(&s->rng, 8),
                               rh_rng_below(&s->rng, NDATA)};
        for (int b = 0; b < NBATCH; b++)
            for (int k = 0; k < s->nin; k++)
                s->x[b][i * s->nin + k] = s->data[(int)at[b] * s->nin + k];
    }
    for (int b = 0; b < NBATCH; b++)
        rh_mlp__forward(s->mlp, s->pass[b], ROWS, s->x[b], s->y[b]);
    loss(s);
    for (int b = 0; b < NBATCH; b++)
        rh_mlp__backward(s->mlp, s->pass[b], s->dy[b]);
    rh_mlp__step(s->mlp, &adam);
}

static void row(entry *s)
{
    rh_mlp__forward(s->mlp, s->pass[0], 1, s->data, s->y[0]);
}

// Best time of one call.
static double measure(entry *s, void (*what)(entry *))
{
    double best = INFINITY;
    for (int r = 0; r < REPEAT; r++) {
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < STEPS; i++)
            what(s);
        best = fmin(best, (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / STEPS);
    }
    return best * 1e6;
}

// Operations of the matrix products of a step.
static double operations(const int *size, int nsize)
{
    double n = 0.0;
    for (int l = 0; l + 1 < nsize; l++)
        n += (l ? 3.0 : 2.0) * size[l] * size[l + 1];
    return 2.0 * NBATCH * ROWS * n;
}

static void shape(const char *name, const int *size, int nsize)
{
    static entry s;
    printf("\n%s, 3 x %d rows: us a step, 1e9 operations a second; us for one row\n", name,
           ROWS);
    for (int i = 0; i < rh_isa__count(); i++) {
        rh_isa__limit(i + 1);
        s.rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
        s.nin = size[0];
        s.nout = size[nsize - 1];
        for (int k = 0; k < NDATA * s.nin; k++)
            s.data[k] = (float)rh_rng_range(&s.rng, -1.0, 1.0);
        must(rh_mlp__create(&s.mlp, size, nsize, RH_MLP_PLAIN, &s.rng, NULL));
        for (int b = 0; b < NBATCH; b++)
            must(rh_mlp__pass_create(&s.pass[b], s.mlp, ROWS, NULL));
        double us = measure(&s, step);
        printf("  %-10s %8.1f %8.1f %8.2f\n", rh_mlp__kernels_at(i)->name, us,
               operations(size, nsize) / us * 1e-3, measure(&s, row));
        for (int b = 0; b < NBATCH; b++)
            rh_mlp__pass_destroy(s.pass[b]);
        rh_mlp__destroy(s.mlp);
    }
    fflush(stdout);
}

static void numpy(void)
{
    char command[2048];
    const char *end = strrchr(__FILE__, '/');
    int length = end ? (int)(end - __FILE__) : 0;
    printf("\nNumPy: us a step, 1e9 operations a second\n");
    fflush(stdout);
    snprintf(command, sizeof command,
             "python3 '%.*s/mlp_numpy.py' \"${XDG_CACHE_HOME:-$HOME/.cache}/rehearse-bench\" "
             "2>/dev/null",
             length, __FILE__);
    if (system(command) != 0) // NOLINT(cert-env33-c): a bench, not the library
        printf("  not available\n");
}

int main(void)
{
    shape("6-128-128-8", (const int[]){6, 128, 128, 8}, 4);
    shape("6-128-32", (const int[]){6, 128, 32}, 3);
    numpy();
    return 0;
}
