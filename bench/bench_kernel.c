// bench_kernel.c - the Adam loop alone, by instruction set: nanoseconds an entry, and the ratio
// to the same formula in plain scalar double precision.

#include "base/base_internal.h"
#include "seconds.h"

#include "agent/kernel.h"
#include "rehearse/base.h"

#include <math.h>
#include <stdio.h>

#define N 6400 // entries, a multiple of RH_BLOCK: about Acrobot's
#define REPEAT 15
#define LOOPS 300

static float dw[N], v[N], m[N], y[N];
static double dw_plain[N], v_plain[N], y_plain[N];

static void fill(void)
{
    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < N; i++) {
        y_plain[i] = rh_rng_uniform(&rng);
        dw_plain[i] = 0.0;
        v_plain[i] = 0.01;
        y[i] = (float)y_plain[i];
        dw[i] = m[i] = 0.0f;
        v[i] = 0.01f * RH_UNIT * RH_UNIT;
    }
}

static void plain(void)
{
    for (int i = 0; i < N; i++) {
        double g = -0.5 * y_plain[i];
        v_plain[i] = 0.999 * v_plain[i] + 0.001 * g * g;
        dw_plain[i] -= 0.002 * (g / 0.9) / (sqrt(v_plain[i] / 0.8) + 1e-8);
    }
}

// Best time of an entry. which: 0 the plain loop, 1 Adam, 2 with momentum.
static double measure(const rh_agent__kernels *k, int which)
{
    rh_agent__adam adam = {.gain = 1e-6f * RH_UNIT * RH_UNIT,
                           .rate = 0.002f * RH_UNIT,
                           .eps = 1e-8f * RH_UNIT,
                           .take = 0.1f,
                           .error = 1.0f};
    double best = INFINITY;
    fill();
    for (int r = 0; r < REPEAT; r++) {
        double from = seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < LOOPS; i++)
            if (which == 0)
                plain();
            else if (which == 1)
                k->adam(N, N, &adam, dw, v, y);
            else
                k->momentum(N, N, &adam, dw, v, m, y);
        best = fmin(best, (seconds(CLOCK_THREAD_CPUTIME_ID) - from) / LOOPS / N);
    }
    return best * 1e9;
}

int main(void)
{
    double base = measure(NULL, 0);
    printf("\none Adam step of an entry, ns (plain double-precision C: %.2f)\n\n", base);
    printf("%-10s %8s %7s %10s\n", "", "Adam", "ratio", "momentum");
    for (int i = 0; i < rh_isa__count(); i++) {
        const rh_agent__kernels *k = rh_agent__kernels_at(i);
        double fast = measure(k, 1);
        printf("%-10s %8.3f %6.1fx %10.3f\n", k->name, fast, base / fast, measure(k, 2));
    }
    return 0;
}
