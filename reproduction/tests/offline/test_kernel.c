// test_kernel.c - the loops: the numbers of plain sums, and the same bits with every
// instruction set.

#include "numeric/kernels.h"
#include "offline_sample.h"

enum { NBLOCK = 24, NFEATURE = NBLOCK * RH_OFFLINE__BLOCK, NROW = 37, MOST = 29 };

typedef struct sample {
    _Alignas(64) float w[NFEATURE];
    _Alignas(64) float m[NFEATURE];
    _Alignas(64) float v[NFEATURE];
    _Alignas(64) float g[NFEATURE];
    uint16_t mask[NROW * NBLOCK];
    int32_t row[MOST];
    float d[MOST], q[MOST];
} sample;

static void draw(sample *s, uint64_t seed)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < NFEATURE; i++) {
        s->w[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
        s->m[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
        s->v[i] = (float)rh_rng_range(&rng, 0.0, 1.0);
    }
    for (int i = 0; i < NROW * NBLOCK; i++)
        s->mask[i] = (uint16_t)rh_rng_below(&rng, 1 << 16);
    for (int i = 0; i < MOST; i++) {
        s->row[i] = (int32_t)rh_rng_below(&rng, NROW);
        s->d[i] = (float)rh_rng_range(&rng, -1.0, 1.0);
    }
}

static bool is_active(const sample *s, int row, int feature)
{
    return s->mask[row * NBLOCK + feature / 16] >> feature % 16 & 1;
}

// Every number of rows up to 29, so that all remainders occur; rows may repeat.
static void sums_of_features(void **state)
{
    (void)state;
    static sample s;
    draw(&s, 1);
    for (int isa = 0; isa < rh_isa__count(); isa++) {
        const rh_offline__kernels *kernels = rh_offline__kernels_at(isa);
        for (int n = 0; n <= MOST; n++) {
            kernels->values(NBLOCK, s.mask, n, s.row, s.w, s.q);
            kernels->gradient(NBLOCK, s.mask, n, s.row, s.d, s.g);
            for (int i = 0; i < n; i++) {
                double sum = 0.0;
                for (int f = 0; f < NFEATURE; f++)
                    sum += is_active(&s, s.row[i], f) ? (double)s.w[f] : 0.0;
                near((double)s.q[i], sum, 1e-5, kernels->name, i);
            }
            for (int f = 0; f < NFEATURE; f++) {
                double sum = 0.0;
                for (int i = 0; i < n; i++)
                    sum += is_active(&s, s.row[i], f) ? (double)s.d[i] : 0.0;
                near((double)s.g[f], sum, 1e-5, kernels->name, f);
            }
        }
    }
}

static void adam_steps(void **state)
{
    (void)state;
    const rh_offline__adam step = {0.9f, 0.1f, 0.999f, 0.001f, 0.98f, 0.02f, 1e-3f};
    for (int isa = 0; isa < rh_isa__count(); isa++) {
        static sample s, before;
        draw(&s, 2);
        s.m[3] = 1e-30f; // decays below what is kept
        s.v[3] = 1e-30f;
        s.g[3] = 0.0f;
        for (int f = 4; f < NFEATURE; f++)
            s.g[f] = s.w[NFEATURE - f];
        before = s;
        rh_offline__kernels_at(isa)->adam(NFEATURE, &step, s.w, s.m, s.v, s.g);
        for (int f = 4; f < NFEATURE; f++) {
            double g = (double)before.g[f];
            double m = 0.9 * (double)before.m[f] + 0.1 * g;
            double v = 0.999 * (double)before.v[f] + 0.001 * g * g;
            near((double)s.m[f], m, 1e-6, "m", f);
            near((double)s.v[f], v, 1e-6, "v", f);
            near((double)s.w[f], 0.98 * (double)before.w[f] - 0.02 * m / (sqrt(v) + 1e-3), 1e-5,
                 "w", f);
        }
        assert_true(s.m[3] == 0.0f);
        assert_true(s.v[3] == 0.0f);
    }
}

// Rows of doubles, with odd and even numbers of features.
static void rows_of_doubles(void **state)
{
    (void)state;
    enum { ROWS = 50, LANE = 8 };
    double x[ROWS * LANE], to[ROWS * LANE], d[LANE], z[LANE];
    int32_t active[ROWS];
    rh_rng rng = rh_rng_stream(3, RH_STREAM_NOISE, 0, 0);
    for (int i = 0; i < ROWS * LANE; i++)
        x[i] = rh_rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < ROWS; i++)
        active[i] = (i * 7 + 3) % ROWS;
    for (int i = 0; i < LANE; i++)
        d[i] = i + 1;
    for (int isa = 0; isa < rh_isa__count(); isa++)
        for (int n = 0; n <= 5; n++) {
            const rh_offline__kernels *kernels = rh_offline__kernels_at(isa);
            kernels->sums(n, active, LANE, x, z);
            memcpy(to, x, sizeof to);
            kernels->spread(n, active, LANE, d, to);
            for (int a = 0; a < LANE; a++) {
                double sum = 0.0;
                for (int i = 0; i < n; i++) {
                    sum += x[active[i] * LANE + a];
                    near(to[active[i] * LANE + a], x[active[i] * LANE + a] + d[a], 1e-15,
                         "spread", i);
                }
                near(z[a], sum, 1e-14, "sums", a);
            }
            assert_true(to[active[n] * LANE] == x[active[n] * LANE]);
        }
}

static void same_bits(void **state)
{
    (void)state;
    const rh_offline__adam step = {0.9f, 0.1f, 0.999f, 0.001f, 0.98f, 0.02f, 1e-8f};
    static sample first, other;
    for (int isa = 0; isa < rh_isa__count(); isa++) {
        sample *s = isa ? &other : &first;
        const rh_offline__kernels *kernels = rh_offline__kernels_at(isa);
        draw(s, 4);
        for (int k = 0; k < 50; k++) {
            kernels->values(NBLOCK, s->mask, MOST, s->row, s->w, s->q);
            for (int i = 0; i < MOST; i++)
                s->d[i] = s->q[i] - 1.0f;
            kernels->gradient(NBLOCK, s->mask, MOST, s->row, s->d, s->g);
            kernels->adam(NFEATURE, &step, s->w, s->m, s->v, s->g);
        }
        assert_memory_equal(s->w, first.w, sizeof first.w);
        assert_memory_equal(s->v, first.v, sizeof first.v);
        assert_memory_equal(s->q, first.q, sizeof first.q);
    }
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(sums_of_features),
        cmocka_unit_test(adam_steps),
        cmocka_unit_test(rows_of_doubles),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
