// test_kernel.c - the hot loops: every instruction set gives the bits of the plainest, and the
// plainest gives what the formulas say in double precision.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/kernel.h"
#include "rehearse/base.h"

#include <math.h>
#include <string.h>

enum { N = 5 * RH_BLOCK, NLINE = 1000 };

typedef struct set {
    float dw[N], v[N], m[N], y[N];
    uint32_t visit[N];
} set;

// Numbers of all sizes: second moments down to nothing, traces from 1 to 1e-16, zeros.
static void fill(set *s, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < N; i++) {
        double size = i < 2 * RH_BLOCK ? -4.0 : -30.0; // some blocks go the fast way
        s->dw[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
        s->v[i] = (float)rh_exp(rh_rng_range(&rng, size, 2.0));
        s->m[i] = (float)rh_rng_range(&rng, -0.1, 0.1);
        s->y[i] = (float)rh_exp(rh_rng_range(&rng, -37.0, 0.0));
        s->visit[i] = rh_rng_below(&rng, 100);
    }
    s->v[N - 3] = s->y[N - 5] = s->y[N - 6] = s->v[N - 6] = 0.0f;
    s->y[N - 7] = 1e-30f;
}

static const rh_adam adam = {
    .error = -1.7f, .rate = 0.01f, .eps = 0.5e-8f, .take1 = 0.1f, .take2 = 0.001f};

static void adam_is_the_formula(void **unused)
{
    (void)unused;
    static set a, b;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int momentum = 0; momentum < 2; momentum++) {
            fill(&a, seed);
            b = a;
            if (momentum)
                rh_kernels__at(0)->momentum(N, &adam, b.dw, b.v, b.m, b.y);
            else
                rh_kernels__at(0)->adam(N, &adam, b.dw, b.v, b.y);
            for (int i = 0; i < N; i++) {
                double g = (double)adam.error * (double)a.y[i];
                double v = (double)a.v[i] + 0.001 * (g * g - (double)a.v[i]);
                double m = momentum ? (double)a.m[i] + 0.1 * (g - (double)a.m[i]) : g;
                double step = 0.01 * m / (sqrt(v) + 0.5e-8);
                assert_true(fabs((double)b.v[i] - v) <= 4e-7 * v + 1e-36);
                if (momentum)
                    assert_true(fabs((double)b.m[i] - m) <= 2e-7 * (fabs(m) + fabs(g)));
                double gap = fabs((double)b.dw[i] - ((double)a.dw[i] + step));
                assert_true(gap <= 8e-7 * fabs(step) + 1.2e-7);
            }
        }
}

static void all_instruction_sets_agree(void **unused)
{
    (void)unused;
    static set start, one, other;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        fill(&start, seed);
        for (int k = 1; k < rh_kernels__count(); k++) {
            const rh_kernels *plain = rh_kernels__at(0), *fast = rh_kernels__at(k);
            one = other = start;
            for (int step = 0; step < 20; step++) {
                plain->adam(N, &adam, one.dw, one.v, one.y);
                fast->adam(N, &adam, other.dw, other.v, other.y);
                plain->momentum(N, &adam, one.dw, one.v, one.m, one.y);
                fast->momentum(N, &adam, other.dw, other.v, other.m, other.y);
            }
            assert_memory_equal(&one, &other, sizeof one);

            int32_t p[N], q[N];
            int n = N - (int)seed;
            int np = plain->aged(n, start.visit, 100, 30, p);
            assert_int_equal(np, fast->aged(n, start.visit, 100, 30, q));
            assert_memory_equal(p, q, (size_t)np * sizeof *p);
        }
    }
}

static void aged_lists_the_old(void **unused)
{
    (void)unused;
    static set s;
    fill(&s, 3);
    int32_t place[N];
    int n = rh_kernels__best()->aged(N - 9, s.visit, 100, 40, place), expected = 0;
    for (int i = 1; i < N - 9; i++)
        if (100 - s.visit[i] >= 40)
            assert_int_equal(place[expected++], i);
    assert_int_equal(n, expected);
    assert_true(n > 10);
}

static void values_add_up(void **unused)
{
    (void)unused;
    rh_line *line = rh_alloc(NLINE, sizeof *line);
    float *dw = rh_alloc(N, sizeof *dw);
    int32_t active[336];
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    for (int i = 1; i < N; i++)
        dw[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < NLINE; i++)
        for (int a = 0; a < RH_LANES; a++) {
            line[i].w[a] = rh_rng_range(&rng, -5.0, 5.0);
            line[i].slot[a] = (int32_t)rh_rng_below(&rng, 2 * N) - N;
        }
    for (int i = 0; i < 336; i++)
        active[i] = (int32_t)rh_rng_below(&rng, NLINE);

    double first[RH_LANES];
    for (int k = 0; k < rh_kernels__count(); k++) {
        double q[RH_LANES];
        rh_kernels__at(k)->values(line, active, 336, dw, q);
        if (k == 0)
            memcpy(first, q, sizeof q);
        assert_memory_equal(first, q, sizeof q);
    }
    for (int a = 0; a < RH_LANES; a++) {
        double sum = 0.0;
        for (int i = 0; i < 336; i++) {
            const rh_line *l = &line[active[i]];
            sum += l->w[a] + (l->slot[a] > 0 ? (double)dw[l->slot[a]] : 0.0);
        }
        assert_true(fabs(sum - first[a]) < 1e-4);
    }
    rh_free(line);
    rh_free(dw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_is_the_formula),
        cmocka_unit_test(all_instruction_sets_agree),
        cmocka_unit_test(aged_lists_the_old),
        cmocka_unit_test(values_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
