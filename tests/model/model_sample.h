// model_sample.h - what tests of models share: small logs by hand and by chance, and a
// representation that leaves sensors as they are.

#ifndef TESTS_MODEL_SAMPLE_H
#define TESTS_MODEL_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/base_internal.h"
#include "model/model_internal.h"
#include "rehearse/rehearse.h"

// One step of a log: s, a, r, s', and how it ended. A step after one that ended begins an
// episode; begins = -1: one that resumes.
typedef struct walk {
    double s, act, reward, next;
    int flag, begins;
} walk;

#define ENDS RH_FLAG_TERMINAL
#define CUT RH_FLAG_TRUNCATED

// A log of two sensors, "x" and "y", which is 0. naction 0: the action is a real number.
static inline rh_log *log_of(const walk *w, int n, int naction)
{
    static const char *const label[] = {"a", "b", "c", "d"}, *const name[] = {"x", "y"};
    rh_log_shape shape = {.nobs = 2,
                          .nact = 1,
                          .action = naction ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .obs_name = name,
                          .label = naction ? label : NULL,
                          .nlabel = naction,
                          .declared = naction > 0,
                          .path = "walk.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    for (int i = 0; i < n; i++) {
        double obs[2] = {w[i].s, 0.0}, next[2] = {w[i].next, 0.0};
        rh_log_row row = {.obs = obs,
                          .act = &w[i].act,
                          .reward = w[i].reward,
                          .next = next,
                          .terminal = w[i].flag & ENDS,
                          .truncated = w[i].flag & CUT,
                          .begins = w[i].begins > 0,
                          .resumes = w[i].begins < 0};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

// A log of nobs sensors in which steps go a little way into a direction of the action's, with
// episodes of 7 to 30 steps, some of which end and some are cut off. Numbers are multiples of
// 1/64, so that there are ties and sums are exact. naction 0: two real numbers.
static inline rh_log *log_by_chance(uint64_t seed, int n, int nobs, int naction)
{
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    static const char *const label[] = {"a", "b", "c", "d"};
    int nact = naction ? 1 : 2;
    rh_log_shape shape = {.nobs = nobs,
                          .nact = nact,
                          .action = naction ? RH_ACTION_DISCRETE : RH_ACTION_CONTINUOUS,
                          .label = naction ? label : NULL,
                          .nlabel = naction,
                          .declared = naction > 0,
                          .path = "chance.csv",
                          .format = "test"};
    rh_log_builder *b = NULL;
    rh_log *log = NULL;
    rh_error err = {""};
    assert_int_equal(rh_log_builder_create(&b, &shape, &err), RH_OK);
    double obs[RH_MAX_OBS] = {0}, next[RH_MAX_OBS] = {0}, act[2];
    int left = 0;
    for (int i = 0; i < n; i++) {
        bool begins = left == 0;
        if (begins)
            left = 7 + (int)rh_rng_below(&rng, 24);
        for (int k = 0; k < nobs; k++)
            obs[k] = begins ? (double)rh_rng_below(&rng, 64) / 64.0 : next[k];
        for (int k = 0; k < nact; k++)
            act[k] = naction ? (double)rh_rng_below(&rng, (uint32_t)naction)
                             : (double)rh_rng_below(&rng, 33) / 16.0 - 1.0;
        for (int k = 0; k < nobs; k++) {
            double push = naction ? (k % 4 == (int)act[0] ? 4.0 : -1.0) : 4.0 * act[k % 2];
            next[k] = obs[k] + (round(push) + (double)rh_rng_below(&rng, 3) - 1.0) / 64.0;
        }
        left--;
        bool ends = left == 0 && rh_rng_below(&rng, 3) > 0;
        rh_log_row row = {.obs = obs,
                          .act = act,
                          .reward = -(double)rh_rng_below(&rng, 8),
                          .next = next,
                          .terminal = ends,
                          .truncated = left == 0 && !ends,
                          .begins = begins};
        assert_int_equal(rh_log_push(b, &row, &err), RH_OK);
    }
    if (rh_log_finish(b, &log, &err))
        fail_msg("%s", err.text);
    rh_log_builder_destroy(b);
    return log;
}

// The sensors as they are; both: with the action.
static inline rh_repr *plain_repr(const rh_log *log, bool both)
{
    rh_error err = {""};
    rh_repr *repr = NULL;
    const rh_repr_type *type = rh_repr_find("raw", &err);
    assert_non_null(type);
    double param[8];
    rh_param_initial(type->param, type->nparam, param);
    int scale = rh_param_find(type->param, type->nparam, "scale");
    assert_int_equal(rh_param_parse(&type->param[scale], "raw", "none", &param[scale], &err),
                     RH_OK);
    rh_repr_options opt = rh_repr_defaults();
    opt.param = param;
    opt.actions = both;
    if (rh_repr_fit(&repr, type, log, &opt, &err))
        fail_msg("%s", err.text);
    return repr;
}

// The first sensor of a row.
static inline double x_of(const rh_log *log, int64_t row)
{
    assert_true(row >= 0);
    assert_true(row < log->nstate);
    return log->obs[row * log->nobs];
}

// Options without fidelity, which has tests of its own.
static inline rh_model_options plain_options(void)
{
    rh_model_options opt = rh_model_defaults();
    opt.fidelity = false;
    return opt;
}

static inline rh_model *fit_plain(const rh_model_type *type, const rh_log *log, bool both,
                                  const rh_model_options *opt)
{
    rh_error err = {""};
    rh_model *model = NULL;
    rh_repr *repr = plain_repr(log, both);
    if (rh_model_fit(&model, type, log, repr, opt, &err))
        fail_msg("%s", err.text);
    rh_repr_destroy(repr);
    return model;
}

// A fit that is refused, with these words in one line.
static inline void fit_refused(const rh_model_type *type, const rh_log *log,
                               const rh_repr *repr, const rh_model_options *opt,
                               const char *words)
{
    rh_error err = {""};
    rh_model *model = NULL;
    int64_t live = rh_base__alloc_live();
    rh_status rc = rh_model_fit(&model, type, log, repr, opt, &err);
    if (rc != RH_EINVAL || model)
        fail_msg("was not refused: expected '%s'", words);
    if (!strstr(err.text, words) || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_int_equal(rh_base__alloc_live(), live);
}

#endif
