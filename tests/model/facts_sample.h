// facts_sample.h - logs of small plants, written by a function, for tests of facts.

#ifndef TESTS_FACTS_SAMPLE_H
#define TESTS_FACTS_SAMPLE_H

#include "model/model.h"
#include "model_sample.h"

#include "model/facts.h"

#include <stdlib.h>
#include <unistd.h>

// What a plant does at step i: it changes s (nobs), given the action, and returns 1 if the step
// was terminal, 2 if it was a reset that nothing marks.
typedef struct plant {
    int nobs, naction; // naction 0: one number, -1 to 1
    void (*begin)(double *s, rh_rng *rng);
    int (*step)(double *s, double act, int i, rh_rng *rng);
    double (*control)(const double *s, rh_rng *rng); // NULL: at random
    double (*reward)(const double *next);            // NULL: -1 where something ends
} plant;

static inline double even(rh_rng *rng)
{
    return rh_rng_range(rng, -1.0, 1.0);
}

static inline double bell(rh_rng *rng)
{
    double z[2];
    rh_rng_normal(rng, z);
    return z[0];
}

// A log of n steps; reset (n): which steps were resets. Nullable: reset.
static inline rh_log *log_of_plant(const plant *p, int n, uint64_t seed, uint8_t *reset)
{
    static const char *const label[] = {"a", "b", "c", "d"};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    rh_log_shape shape = {.nobs = p->nobs,
                          .nact = 1,
                          .action = p->naction ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .label = p->naction ? label : NULL,
                          .nlabel = p->naction,
                          .declared = p->naction > 0,
                          .path = "plant.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    double s[8] = {0}, next[8];
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    p->begin(s, &rng);
    for (int i = 0; i < n; i++) {
        double act = p->control   ? p->control(s, &rng)
                     : p->naction ? (double)rh_rng_below(&rng, (uint32_t)p->naction)
                                  : even(&rng);
        memcpy(next, s, sizeof next);
        int how = p->step(next, act, i, &rng);
        rh_log_row row = {.obs = s,
                          .act = &act,
                          .reward = p->reward ? p->reward(next)
                                    : how     ? -1.0
                                              : 0.0,
                          .next = next,
                          .terminal = how == 1};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
        if (reset)
            reset[i] = how == 2;
        memcpy(s, next, sizeof s);
        if (how == 1)
            p->begin(s, &rng);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

static inline rh_facts *facts_of(const rh_log *log)
{
    rh_error err = {""};
    rh_facts *facts = NULL;
    if (rh_model__examine(&facts, log, NULL, &err))
        fail_msg("%s", err.text);
    return facts;
}

static inline rh_facts *facts_of_plant(const plant *p, int n, uint64_t seed)
{
    rh_log *log = log_of_plant(p, n, seed, NULL);
    rh_facts *facts = facts_of(log);
    rh_log_destroy(log);
    return facts;
}

#endif
