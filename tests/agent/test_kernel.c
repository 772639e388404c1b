// test_kernel.c - the hot loops: each instruction set gives what the formulas say in double
// precision, and those with a fused multiply-add give the same bits.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/kernel.h"
#include "base/base_internal.h"
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
        s->v[i] = (float)rh_exp(rh_rng_range(&rng, size, 2.0)) * RH_UNIT * RH_UNIT;
        s->m[i] = (float)rh_rng_range(&rng, -0.1, 0.1) * RH_UNIT;
        s->y[i] = (float)rh_exp(rh_rng_range(&rng, -37.0, 0.0));
        s->visit[i] = rh_rng_below(&rng, 100);
    }
    s->v[N - 3] = s->y[N - 5] = s->y[N - 6] = s->v[N - 6] = 0.0f;
    s->y[N - 7] = 1e-16f;
}

static const rh_agent__adam adam = {
    .gain = 0.003f * RH_UNIT * RH_UNIT,
    .rate = 0.01f,
    .eps = 0.5e-8f * RH_UNIT,
    .take = 0.1f,
    .error = -1.7f * RH_UNIT,
};

static void adam_is_the_formula(void **unused)
{
    (void)unused;
    static set a, b;
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int momentum = 0; momentum < 2; momentum++)
            for (int k = 0; k < rh_isa__count(); k++) {
                fill(&a, seed);
                b = a;
                rh_agent__adam step = adam;
                if (momentum)
                    rh_agent__kernels_at(k)->momentum(0, N, &step, b.dw, b.v, b.m, b.y);
                step.rate *= RH_UNIT; // y has no unit, m has
                if (!momentum)
                    rh_agent__kernels_at(k)->adam(0, N, &step, b.dw, b.v, b.y);
                for (int i = 0; i < N; i++) {
                    double unit = (double)RH_UNIT, y = (double)a.y[i];
                    double v = (double)a.v[i] / unit / unit + (double)0.003f * y * y;
                    double m = (double)a.m[i] / unit;
                    m += (double)0.1f * ((double)-1.7f * y - m);
                    double move = (double)0.01f * (momentum ? m : y) / (sqrt(v) + 0.5e-8);
                    assert_true(fabs((double)b.v[i] / unit / unit - v) <= 3e-7 * v);
                    if (momentum)
                        assert_true(fabs((double)b.m[i] / unit - m) <= 1e-7);
                    double gap = fabs((double)b.dw[i] - ((double)a.dw[i] + move));
                    assert_true(gap <= 1.5e-6 * fabs(move) + 1.2e-7);
                }
            }
}

static void sgd_is_the_formula(void **unused)
{
    (void)unused;
    static set a, b;
    for (int k = 0; k < rh_isa__count(); k++) {
        fill(&a, 3);
        b = a;
        rh_agent__kernels_at(k)->sgd(N - RH_BLOCK, -0.37f, b.dw, b.y);
        for (int i = 0; i < N; i++) {
            double move = i < N - RH_BLOCK ? (double)-0.37f * (double)a.y[i] : 0.0;
            assert_true(fabs((double)b.dw[i] - ((double)a.dw[i] + move)) <= 1.2e-7);
        }
    }
}

// Twenty steps of every loop.
static void go_through(const rh_agent__kernels *k, set *s, int nsafe)
{
    for (int step = 0; step < 20; step++) {
        k->adam(nsafe, N, &adam, s->dw, s->v, s->y);
        k->momentum(nsafe, N, &adam, s->dw, s->v, s->m, s->y);
        k->sgd(N, -0.37f, s->dw, s->y);
    }
}

static void instruction_sets_agree(void **unused)
{
    (void)unused;
    static set start, first, s;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        fill(&start, seed);
        for (int k = 0; k < rh_isa__count(); k++) {
            const rh_agent__kernels *kernels = rh_agent__kernels_at(k);
            s = start;
            go_through(kernels, &s, 0);
            if (k < 2)
                first = s; // those with a fused multiply-add are the same to the bit
            assert_memory_equal(&first, &s, sizeof s);
            s = start; // and so it is when the caller knows what is safe
            go_through(kernels, &s, 2 * RH_BLOCK);
            assert_memory_equal(&first, &s, sizeof s);

            int32_t p[N], q[N];
            int n = N - (int)seed,
                np = rh_agent__kernels_at(0)->aged(n, start.visit, 100, 30, p);
            assert_int_equal(np, kernels->aged(n, start.visit, 100, 30, q));
            assert_memory_equal(p, q, (size_t)np * sizeof *p);
            np = rh_agent__kernels_at(0)->faded(n, start.y, p);
            assert_int_equal(np, kernels->faded(n, start.y, q));
            assert_memory_equal(p, q, (size_t)np * sizeof *p);
            assert_true(rh_agent__kernels_at(0)->least(N, start.v) ==
                        kernels->least(N, start.v));
        }
    }
}

static void aim_tells_inside_from_outside(void **unused)
{
    (void)unused;
    rh_rng rng = rh_rng_stream(5, RH_STREAM_AGENT, 0, 0);
    for (int n = 1; n < 100; n++)
        for (int k = 0; k < rh_isa__count(); k++) {
            int32_t slot[4 * 128], line[128], place[128], fresh[128 + 16];
            for (int i = 0; i < 4 * 128; i++)
                slot[i] = (int32_t)rh_rng_below(&rng, 9) - 4;
            for (int i = 0; i < 128; i++)
                line[i] = 1000 + i;
            int lane = n % 4;
            int count = rh_agent__kernels_at(k)->aim(n, slot + lane, line, place, fresh);
            int expected = 0;
            for (int i = 0; i < n; i++) {
                int32_t at = slot[4 * i + lane];
                assert_int_equal(place[i], at > 0 ? at : 0);
                if (at <= 0)
                    assert_int_equal(fresh[expected++], line[i]);
            }
            assert_int_equal(count, expected);
        }
}

static void least_is_the_least(void **unused)
{
    (void)unused;
    static set s;
    for (int i = 0; i < N; i++) {
        fill(&s, 7);
        s.v[N - 3] = s.v[N - 6] = 1.0f;
        s.v[i] = 1e-30f;
        for (int k = 0; k < rh_isa__count(); k++)
            assert_true(rh_agent__kernels_at(k)->least(N, s.v) == 1e-30f);
    }
}

static void aged_lists_the_old(void **unused)
{
    (void)unused;
    static set s;
    fill(&s, 3);
    int32_t place[N];
    int n = rh_agent__kernels_best()->aged(N - 9, s.visit, 100, 40, place), expected = 0;
    for (int i = 1; i < N - 9; i++)
        if (100 - s.visit[i] >= 40)
            assert_int_equal(place[expected++], i);
    assert_int_equal(n, expected);
    assert_true(n > 10);
}

static void values_add_up(void **unused)
{
    (void)unused;
    rh_agent__line *line = rh_alloc(NLINE, sizeof *line);
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

    double first[2 * RH_LANES];
    for (int k = 0; k < rh_isa__count(); k++) {
        double q[2 * RH_LANES];
        int32_t slot[4 * 336];
        rh_agent__kernels_at(k)->values(line, active, 336, dw, q, q + RH_LANES, slot);
        if (k == 0)
            memcpy(first, q, sizeof q);
        assert_memory_equal(first, q, sizeof q);
        for (int i = 0; i < 4 * 336; i++)
            assert_int_equal(slot[i], line[active[i / 4]].slot[i % 4]);
    }
    for (int a = 0; a < RH_LANES; a++) {
        double w = 0.0, d = 0.0;
        for (int i = 0; i < 336; i++) {
            const rh_agent__line *l = &line[active[i]];
            w += l->w[a];
            d += l->slot[a] > 0 ? (double)dw[l->slot[a]] : 0.0;
        }
        assert_true(fabs(w - first[a]) < 1e-11);
        assert_true(fabs(d - first[RH_LANES + a]) < 1e-5);
    }
    rh_free(line);
    rh_free(dw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_is_the_formula),
        cmocka_unit_test(sgd_is_the_formula),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(aim_tells_inside_from_outside),
        cmocka_unit_test(least_is_the_least),
        cmocka_unit_test(aged_lists_the_old),
        cmocka_unit_test(values_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
