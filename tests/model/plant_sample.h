// plant_sample.h - logs of plants that one kind of model must know better than another.

#ifndef TESTS_PLANT_SAMPLE_H
#define TESTS_PLANT_SAMPLE_H

#include "model_sample.h"

typedef enum plant { SMOOTH, WALLS } plant;

// SMOOTH: three sensors that follow each other without noise, from random starts; hardly a
// state is near another. WALLS: a walk with noise between walls.
static inline rh_log *log_of_plant(plant which, int n, int length)
{
    static const char *const label[] = {"a", "b"};
    rh_log_shape shape = {.nobs = which == SMOOTH ? 3 : 1,
                          .nact = 1,
                          .action = RH_ACTION_DISCRETE,
                          .label = label,
                          .nlabel = 2,
                          .declared = true,
                          .path = "plant.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    rh_rng rng = rh_rng_stream(11, RH_STREAM_NOISE, 0, 0);
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    double s[3] = {0}, next[3] = {0};
    for (int i = 0; i < n; i++) {
        for (int k = 0; i % length == 0 && k < 3; k++)
            s[k] = rh_rng_range(&rng, -1.0, 1.0);
        double act = rh_rng_below(&rng, 2), push = act > 0.0 ? 0.1 : -0.1, z[2];
        rh_rng_normal(&rng, z);
        if (which == SMOOTH) {
            next[0] = 0.95 * s[0] + 0.1 * s[1];
            next[1] = 0.95 * s[1] - 0.1 * s[2] + push;
            next[2] = 0.9 * s[2] + 0.1 * s[0] * s[1];
        } else {
            next[0] = fmax(-1.0, fmin(1.0, s[0] + push + 0.15 * z[0]));
        }
        rh_log_row row = {.obs = s,
                          .act = &act,
                          .reward = -fabs(next[0]),
                          .next = next,
                          .truncated = i % length == length - 1,
                          .begins = i % length == 0};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        memcpy(s, next, sizeof s);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

#endif
