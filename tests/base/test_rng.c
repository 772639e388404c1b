// test_rng.c - streams are the ones the papers describe, and look like chance.
//
// References come from tests/reference/base_rng.py. Every statistical bound below is passed by
// a perfect generator with probability 1 - 1e-6 or more; seeds are fixed, so the outcome is
// too.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "rehearse/base.h"

// ---------------------------------------------------------------------------- references

static double next_number(char **at)
{
    char *end;
    double x = strtod(*at, &end);
    assert_true(end != *at);
    *at = end + (*end == ',');
    return x;
}

static uint64_t next_whole(char **at)
{
    char *end;
    uint64_t x = strtoull(*at, &end, 10);
    assert_true(end != *at);
    *at = end + (*end == ',');
    return x;
}

static void as_in_the_papers(void **unused)
{
    (void)unused;
    FILE *file = fopen(RH_TEST_DATA "/base_rng.csv", "r");
    assert_non_null(file);
    char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    int nline = 0;
    for (; fgets(line, sizeof line, file); nline++) {
        char *at = line;
        uint64_t seed = next_whole(&at), what = next_whole(&at);
        uint64_t replicate = next_whole(&at), run = next_whole(&at);
        rh_rng first = rh_rng_stream(seed, (rh_stream)what, replicate, run), rng = first;
        for (int i = 0; i < 5; i++)
            assert_true(rh_rng__bits(&rng) == next_whole(&at));
        rng = first;
        for (int i = 0; i < 4; i++)
            assert_true(rh_rng_below(&rng, 10) == next_whole(&at));
        for (int i = 0; i < 4; i++)
            assert_true(rh_rng_below(&rng, 3221225472u) == next_whole(&at));
        rng = first;
        for (int i = 0; i < 3; i++) {
            double z[2];
            rh_rng_normal(&rng, z);
            assert_true(fabs(z[0] - next_number(&at)) < 1e-14);
            assert_true(fabs(z[1] - next_number(&at)) < 1e-14);
        }
    }
    fclose(file);
    assert_int_equal(nline, 75);
}

// ---------------------------------------------------------------------------- ranges

static void ranges(void **unused)
{
    (void)unused;
    rh_rng last = {{0, UINT64_MAX}}; // gives 64 ones, the largest draw
    rh_rng copy = last;
    assert_true(rh_rng__bits(&copy) == UINT64_MAX);
    copy = last;
    assert_true(rh_rng_uniform(&copy) == 1.0 - 0x1p-53);
    copy = last;
    assert_true(rh_rng_range(&copy, 1.0, 2.0) < 2.0); // 1 + (1 - 2^-53) rounds to 2
    copy = last;
    assert_true(rh_rng_range(&copy, 3.0, 3.0) == 3.0);
    copy = last;
    assert_int_equal(rh_rng_below(&copy, 7), 6);
    copy = last;
    assert_int_equal(rh_rng_below(&copy, UINT32_MAX), UINT32_MAX - 1);
    double z[2];
    copy = last;
    rh_rng_normal(&copy, z); // the farthest normal there is, from u = 2^-53
    assert_true(isfinite(z[0]));
    assert_true(isfinite(z[1]));
    assert_true(hypot(z[0], z[1]) < 8.6);

    rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, 0);
    for (int i = 0; i < 100000; i++) {
        double u = rh_rng_uniform(&rng), x = rh_rng_range(&rng, -3.0, 5.0);
        assert_true(u >= 0.0);
        assert_true(u < 1.0);
        assert_true(x >= -3.0);
        assert_true(x < 5.0);
        assert_true(rh_rng_below(&rng, 1) == 0);
    }
}

static void normals_take_two_draws(void **unused)
{
    (void)unused;
    rh_rng a = rh_rng_stream(5, RH_STREAM_NOISE, 1, 2), b = a;
    for (int i = 0; i < 1000; i++) {
        double z[2];
        rh_rng_normal(&a, z);
        rh_rng__bits(&b);
        rh_rng__bits(&b);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

// ---------------------------------------------------------------------------- statistics

static double chi_square(const int *count, int nbin, int ndraw)
{
    double expected = (double)ndraw / nbin, sum = 0.0;
    for (int i = 0; i < nbin; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    return sum;
}

static void uniform_is_uniform(void **unused)
{
    (void)unused;
    enum { NDRAW = 1 << 20 };
    rh_rng rng = rh_rng_stream(1, RH_STREAM_START, 0, 0);
    int high[256] = {0}, low[256] = {0}, pair[256] = {0}, ones[64] = {0};
    unsigned before = 0;
    for (int i = 0; i < NDRAW; i++) {
        uint64_t bits = rh_rng__bits(&rng);
        high[bits >> 56]++;
        low[bits & 255]++;
        pair[before << 4 | bits >> 60]++; // with the draw before it
        before = (unsigned)(bits >> 60);
        for (int k = 0; k < 64; k++)
            ones[k] += (int)(bits >> k & 1);
    }
    // chi-square with 255 degrees of freedom, 1e-6 on either side
    int *count[3] = {high, low, pair};
    for (int i = 0; i < 3; i++) {
        double x = chi_square(count[i], 256, NDRAW);
        assert_true(x > 161.0);
        assert_true(x < 378.0);
    }
    // 64 bits, each within 6 standard deviations of half the draws
    for (int k = 0; k < 64; k++)
        assert_true(fabs(ones[k] - NDRAW / 2.0) < 6.0 * sqrt(NDRAW / 4.0));
}

static void normal_has_its_moments(void **unused)
{
    (void)unused;
    enum { NPAIR = 1000000 };
    rh_rng rng = rh_rng_stream(2, RH_STREAM_NOISE, 0, 0);
    double sum[5] = {0.0}, product = 0.0;
    int beyond[5] = {0};
    for (int i = 0; i < NPAIR; i++) {
        double z[2];
        rh_rng_normal(&rng, z);
        product += z[0] * z[1];
        for (int j = 0; j < 2; j++) {
            double power = 1.0;
            for (int k = 0; k < 5; k++, power *= z[j])
                sum[k] += power;
            for (int k = 1; k < 5; k++)
                beyond[k] += fabs(z[j]) > k;
        }
    }
    // moments 1 to 4 are 0, 1, 0, 3 with variances 1, 2, 15 and 96 over n
    double n = 2.0 * NPAIR;
    assert_true(fabs(sum[1] / n) < 5.0 * sqrt(1.0 / n));
    assert_true(fabs(sum[2] / n - 1.0) < 5.0 * sqrt(2.0 / n));
    assert_true(fabs(sum[3] / n) < 5.0 * sqrt(15.0 / n));
    assert_true(fabs(sum[4] / n - 3.0) < 5.0 * sqrt(96.0 / n));
    assert_true(fabs(product / NPAIR) < 5.0 / sqrt(NPAIR)); // the two are unrelated

    static const double tail[5] = {1.0, 0.31731050786291, 0.04550026389636, 0.00269979606326,
                                   0.00006334248367}; // P(|z| > k)
    for (int k = 1; k < 5; k++)
        assert_true(fabs(beyond[k] - n * tail[k]) < 5.0 * sqrt(n * tail[k] * (1.0 - tail[k])));
}

static void below_has_no_bias(void **unused)
{
    (void)unused;
    // chi-square with n - 1 degrees of freedom, exceeded with probability 1e-6
    static const double bound[13] = {0.0,  0.0,  23.9, 27.6, 30.7, 33.4, 35.9,
                                     38.3, 40.5, 42.7, 44.8, 46.9, 48.9};
    enum { NDRAW = 300000 };
    for (uint32_t n = 2; n <= 12; n++) {
        rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, n);
        int count[12] = {0};
        for (int i = 0; i < NDRAW; i++)
            count[rh_rng_below(&rng, n)]++;
        assert_true(chi_square(count, (int)n, NDRAW) < bound[n]);
    }

    // a third of 3 * 2^30 would come twice as often, were the sliver not redrawn
    rh_rng rng = rh_rng_stream(3, RH_STREAM_AGENT, 0, 0);
    int count[3] = {0};
    for (int i = 0; i < NDRAW; i++)
        count[rh_rng_below(&rng, 3u << 30) % 3]++;
    assert_true(chi_square(count, 3, NDRAW) < bound[3]);
}

// Correlation of the first n uniforms of two streams, in standard deviations.
static double correlation(rh_rng a, rh_rng b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (rh_rng_uniform(&a) - 0.5) * (rh_rng_uniform(&b) - 0.5);
    return fabs(sum) * 12.0 / sqrt(n);
}

static void neighbours_are_strangers(void **unused)
{
    (void)unused;
    enum { NDRAW = 20000 };
    for (uint64_t i = 0; i < 100; i++) { // 500 pairs, each within 6 standard deviations
        rh_rng mine = rh_rng_stream(i, RH_STREAM_START, i, i);
        assert_true(correlation(mine, rh_rng_stream(i + 1, RH_STREAM_START, i, i), NDRAW) <
                    6.0);
        assert_true(correlation(mine, rh_rng_stream(i, RH_STREAM_NOISE, i, i), NDRAW) < 6.0);
        assert_true(correlation(mine, rh_rng_stream(i, RH_STREAM_START, i + 1, i), NDRAW) <
                    6.0);
        assert_true(correlation(mine, rh_rng_stream(i, RH_STREAM_START, i, i + 1), NDRAW) <
                    6.0);
        assert_true(correlation(mine, rh_rng_stream(i + 1, RH_STREAM_START, i, i + 1), NDRAW) <
                    6.0);
    }

    // the first draws of a hundred thousand runs are as uniform as one stream's
    int count[256] = {0};
    double sum = 0.0, before = 0.0;
    enum { NRUN = 100000 };
    for (uint64_t run = 0; run < NRUN; run++) {
        rh_rng rng = rh_rng_stream(1, RH_STREAM_AGENT, 0, run);
        double u = rh_rng_uniform(&rng);
        count[(int)(u * 256.0)]++;
        sum += (u - 0.5) * before;
        before = u - 0.5;
    }
    double x = chi_square(count, 256, NRUN);
    assert_true(x > 161.0);
    assert_true(x < 378.0);
    assert_true(fabs(sum) * 12.0 / sqrt(NRUN) < 5.0);
}

static void coordinates_do_not_collide(void **unused)
{
    (void)unused;
    // swapped coordinates, and large ones, name other streams
    rh_rng all[6] = {
        rh_rng_stream(1, RH_STREAM_START, 2, 3),
        rh_rng_stream(1, RH_STREAM_START, 3, 2),
        rh_rng_stream(2, RH_STREAM_START, 1, 3),
        rh_rng_stream(3, RH_STREAM_START, 2, 1),
        rh_rng_stream(1, RH_STREAM_NOISE, 1, 3),
        rh_rng_stream(UINT64_MAX, RH_STREAM_START, 2, 3),
    };
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(&all[i], &all[j], sizeof all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_the_papers),
        cmocka_unit_test(ranges),
        cmocka_unit_test(normals_take_two_draws),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(normal_has_its_moments),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(neighbours_are_strangers),
        cmocka_unit_test(coordinates_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
