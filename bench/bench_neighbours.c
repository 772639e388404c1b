// bench_neighbours.c - the three nearest neighbours of every point: building the index, and
// the time a query takes in a table and alone.
//
//     bench_neighbours [libraries.so] [baseline | avx2 | avx512] [n ...]
//
// With the library that neighbours_libraries.cpp makes, nanoflann and FLANN answer the same
// questions in turn. Points fill a cube (uni), or a smooth surface of two dimensions with a
// little noise (man2) or of four (man4) bent into d, as learned representations do. All on
// one thread, in processor time, since others may be using the machine; each figure is the
// best of three. At the end tables on one thread and on two, by the clock on the wall.

#include "base/base_internal.h"
#include "seconds.h"

#include "model/kernel.h"
#include "model/neighbours.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 3
#define REPEAT 3
#define BUDGET 1.0 // seconds for the queries of one repeat
#define HIDDEN 64

// seconds to build, microseconds a query, mean squared distance of the k-th
typedef void library(const float *x, long n, int d, int k, double budget, double *out);

static library *rival[2];

// ---------------------------------------------------------------------------- points

static double normal(rh_rng *rng)
{
    double z[2];
    rh_rng_normal(rng, z);
    return z[0];
}

// A surface of m dimensions in d; m = 0 fills the cube.
static float *make_points(int64_t n, int d, int m, uint64_t seed)
{
    static double into[4][HIDDEN], bias[HIDDEN], out[HIDDEN][RH_NEIGHBOURS_DIM];
    rh_rng rng = rh_rng_stream(17, RH_STREAM_NOISE, (uint64_t)d, (uint64_t)m);
    for (int h = 0; h < HIDDEN; h++) {
        bias[h] = normal(&rng);
        for (int i = 0; i < m; i++)
            into[i][h] = 1.5 * normal(&rng);
        for (int k = 0; k < d; k++)
            out[h][k] = normal(&rng) / 8.0;
    }
    rng = rh_rng_stream(seed, RH_STREAM_START, (uint64_t)d, (uint64_t)m);
    float *x = malloc((size_t)n * (size_t)d * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double u[4], y[RH_NEIGHBOURS_DIM] = {0};
        for (int j = 0; j < m; j++)
            u[j] = rh_rng_range(&rng, -1.0, 1.0);
        for (int h = 0; m > 0 && h < HIDDEN; h++) {
            double a = bias[h];
            for (int j = 0; j < m; j++)
                a += u[j] * into[j][h];
            a = (double)tanhf((float)a);
            for (int k = 0; k < d; k++)
                y[k] += a * out[h][k];
        }
        for (int k = 0; k < d; k++) {
            double noise = m == 2 ? 0.0005 * normal(&rng) : 0.0;
            x[i * d + k] = (float)(m ? y[k] + noise : rh_rng_uniform(&rng));
        }
    }
    return x;
}

// ---------------------------------------------------------------------------- questions

typedef struct figures {
    double build, query, sum; // as a library's
    double other;             // a query in a table of queries that are not the points
    double alone;             // a query asked by itself
    bool all;
} figures;

// Blocks here and there until the time is up; microseconds a query.
static double ask_table(const rh_neighbours *points, const rh_neighbours *queries, int64_t n,
                        int32_t *index, float *d2)
{
    int32_t nblock = rh_neighbours__nblock(queries), nchunk = (nblock + 15) / 16, at = 0;
    int64_t done = 0;
    double from = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int32_t i = 0; i < nchunk; i++, at = (at + 7919) % nchunk) {
        int32_t end = 16 * at + 16 < nblock ? 16 * at + 16 : nblock;
        rh_neighbours__find_range(points, queries, K, NULL, 16 * at, end, index, d2);
        done += (end - 16 * at) * 16;
        if (seconds(CLOCK_THREAD_CPUTIME_ID) - from > BUDGET)
            break;
    }
    return 1e6 * (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / (double)(done < n ? done : n);
}

static double ask_alone(const rh_neighbours *points, const float *x, int64_t n, int d)
{
    int64_t i = 0;
    double from = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (; i < n && (i % 64 || seconds(CLOCK_THREAD_CPUTIME_ID) - from < BUDGET); i++) {
        int32_t index[K];
        float d2[K];
        rh_neighbours__find(points, x + i * d, K, -1, index, d2);
    }
    return 1e6 * (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / (double)i;
}

static figures measure(const float *x, const float *other, int64_t n, int d)
{
    figures f = {.build = INFINITY, .query = INFINITY, .other = INFINITY, .alone = INFINITY};
    int32_t *index = malloc((size_t)n * K * sizeof *index);
    float *d2 = malloc((size_t)n * K * sizeof *d2);
    rh_neighbours *queries = NULL;
    if (rh_neighbours__create(&queries, other, n, d, NULL))
        abort();
    for (int r = 0; r < REPEAT; r++) {
        rh_neighbours *points = NULL;
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);
        if (rh_neighbours__create(&points, x, n, d, NULL))
            abort();
        f.build = fmin(f.build, seconds(CLOCK_THREAD_CPUTIME_ID) - from);
        memset(d2, 0, (size_t)n * K * sizeof *d2);
        f.query = fmin(f.query, ask_table(points, points, n, index, d2));
        int64_t answered = 0;
        f.sum = 0.0;
        for (int64_t i = 0; i < n; i++) {
            answered += d2[i * K + K - 1] > 0.0f;
            f.sum += (double)d2[i * K + K - 1];
        }
        f.sum /= (double)answered;
        f.other = fmin(f.other, ask_table(points, queries, n, index, d2));
        f.alone = fmin(f.alone, ask_alone(points, other, n, d));
        f.all = rh_neighbours__all_pairs(points);
        rh_neighbours__destroy(points);
    }
    rh_neighbours__destroy(queries);
    free(index);
    free(d2);
    return f;
}

static void compare(int64_t n, int d, int m)
{
    const char *name = m == 0 ? "uni" : m == 2 ? "man2" : "man4";
    float *x = make_points(n, d, m, 1), *other = make_points(n, d, m, 2);
    figures f = measure(x, other, n, d);
    printf("%8lld %-5s %3d %9.3f %9.3f %9.3f %9.2f%s", (long long)n, name, d, f.query, f.other,
           f.alone, 1e3 * f.build, f.all ? " all" : "    ");
    double best = INFINITY, build = INFINITY;
    for (int i = 0; i < 2 && rival[0]; i++) {
        double least[3] = {INFINITY, INFINITY, 0.0};
        for (int r = 0; r < REPEAT; r++) {
            double out[3];
            rival[i](x, (long)n, d, K, BUDGET, out);
            least[0] = fmin(least[0], out[0]);
            least[1] = fmin(least[1], out[1]);
            least[2] = out[2];
        }
        best = fmin(best, least[1]);
        build = fmin(build, least[0]);
        bool agree = fabs(least[2] / f.sum - 1.0) < 0.02; // of samples
        printf(" %9.3f %9.2f%s", least[1], 1e3 * least[0], agree ? "" : "?");
    }
    if (rival[0])
        printf(" %6.1fx %5.1fx", best / f.query, build / f.build);
    printf("\n");
    fflush(stdout);
    free(x);
    free(other);
}

// ---------------------------------------------------------------------------- two threads

#define BLOCKS 64 // that a thread takes at a time

typedef struct table {
    const rh_neighbours *points;
    int32_t *index;
    float *distance2;
    atomic_int_fast32_t next; // next free block
} table;

static void *fill(void *context)
{
    table *t = context;
    int32_t n = rh_neighbours__nblock(t->points), begin;
    while ((begin = (int32_t)atomic_fetch_add(&t->next, BLOCKS)) < n) {
        int32_t end = begin + BLOCKS < n ? begin + BLOCKS : n;
        rh_neighbours__find_range(t->points, t->points, K, NULL, begin, end, t->index,
                                  t->distance2);
    }
    return NULL;
}

static double time_of(table *t, bool two)
{
    double from = seconds(CLOCK_MONOTONIC);
    pthread_t other;
    atomic_store(&t->next, 0);
    if (two && pthread_create(&other, NULL, fill, t))
        exit(1);
    fill(t);
    if (two)
        pthread_join(other, NULL);
    return seconds(CLOCK_MONOTONIC) - from;
}

static void two_threads(int64_t n, int d, int m)
{
    float *x = make_points(n, d, m, 1);
    rh_neighbours *points = NULL;
    table t = {.index = rh_alloc((size_t)n * K, sizeof *t.index),
               .distance2 = rh_alloc((size_t)n * K, sizeof *t.distance2)};
    if (!t.index || !t.distance2 || rh_neighbours__create(&points, x, n, d, NULL))
        exit(1);
    t.points = points;
    double one = INFINITY, two = INFINITY;
    for (int i = 0; i < REPEAT; i++) {
        one = fmin(one, time_of(&t, false));
        two = fmin(two, time_of(&t, true));
    }
    printf("%8lld %-5s %3d %9.1f ms %9.1f ms %6.2fx\n", (long long)n, m ? "man2" : "uni", d,
           1e3 * one, 1e3 * two, one / two);
    rh_neighbours__destroy(points);
    rh_free(t.index);
    rh_free(t.distance2);
    free(x);
}

int main(int argc, char **argv)
{
    static const int dims[] = {2, 4, 6, 8, 16, 32};
    int first = 1;
    if (argc > 1 && strstr(argv[1], ".so")) {
        void *so = dlopen(argv[first++], RTLD_NOW);
        if (!so) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&rival[0] = dlsym(so, "with_nanoflann");
        *(void **)&rival[1] = dlsym(so, "with_flann");
    }
    for (int i = 0; first < argc && i < rh_isa__count(); i++)
        if (!strcmp(argv[first], rh_model__kernels_at(i)->name)) {
            rh_isa__limit(i + 1);
            first++;
        }
    printf("\nthree nearest, us a query; index in ms (%s)\n\n", rh_model__kernels_best()->name);
    printf("%8s %-5s %3s %9s %9s %9s %9s    ", "n", "", "d", "table", "others", "alone",
           "index");
    if (rival[0])
        printf(" %9s %9s %9s %9s %7s %6s", "nanoflann", "index", "FLANN", "index", "table",
               "index");
    printf("\n");
    for (int i = first; i < argc || i == first; i++) {
        int64_t n = i < argc ? strtoll(argv[i], NULL, 10) : 5000;
        for (int m = 0; m <= 4; m += 2)
            for (int j = 0; j < 6; j++)
                if (m < 4 || dims[j] >= 8)
                    compare(n, dims[j], m);
    }

    printf("\na table on one thread and on two\n\n");
    for (int i = first; i < argc || i == first; i++)
        for (int m = 0; m <= 2; m += 2)
            for (int d = 4; d <= 8; d += 4)
                two_threads(i < argc ? strtoll(argv[i], NULL, 10) : 100000, d, m);
    return 0;
}
