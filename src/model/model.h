// model.h - what other modules of the library use of model beside its public header.

#ifndef RH_MODEL_H
#define RH_MODEL_H

#include "base/text.h"
#include "rehearse/model.h"

const rh_failure *rh_model__failure(const rh_model *model); // what a failure is

// Find the facts of a log. Uses resets, limit_lo, limit_hi, task and episodes of opt.
// Owned: *out, free with rh_facts__destroy(). Nullable: opt, err.
rh_status rh_model__examine(rh_facts **out, const rh_log *log, const rh_model_options *opt,
                            rh_error *err);
void rh_facts__destroy(rh_facts *facts); // NULL is allowed

// The past that a linear regression of a log needs.
typedef struct rh_model__past {
    int steps;     // observations and actions that tell the state, the present ones included
    int dead_time; // steps until an action has an effect
} rh_model__past;

// Find it; RH_EINVAL if the log has too few steps for a regression. Nullable: err.
rh_status rh_model__memory(rh_model__past *out, const rh_log *log, rh_error *err);

// Find the natural experiments in a log, or in an excerpt of a long one. Nullable: err.
rh_status rh_experiments__find(rh_experiments *out, const rh_log *log, rh_error *err);
const rh_fields *rh_experiments__fields(void); // for rh_describe()

// Fit the candidate that replays held-out stretches of the log best: the best that carries,
// unless one of another kind is better beyond chance. One candidate is fitted without a
// comparison; so is the first one if the log is too short for it. param of opt is ignored, and
// so are param, use and seed of repr; sensors are on circles where repr says so. The fitted
// model keeps the comparison.
// Owned: *out, free with rh_model_destroy(). Nullable: opt, repr, err. On failure *out is left
// untouched.
rh_status rh_model__choose(rh_model **out, const rh_model_trial *candidate, int ncandidate,
                           const rh_log *log, const rh_model_options *opt,
                           const rh_repr_options *repr, rh_error *err);

// Check options against a log, so that a fit fails before a representation is learned. Reads
// the log once and copies nothing. Nullable: opt, err.
rh_status rh_model__check(const rh_model_type *type, const rh_log *log,
                          const rh_model_options *opt, rh_error *err);

// All of a model but its members and their fidelity: nmember is 0. Checks as rh_model_fit()
// does. Shares the log of `like` if it is the same. Owned: *out, free with rh_model_destroy().
// Nullable: like, err.
rh_status rh_model__prepare(rh_model **out, const rh_model_type *type, const rh_log *log,
                            const rh_repr *repr, const rh_model_options *opt,
                            const rh_model *like, rh_error *err);

// A model like another without members and fidelity. It shares the log. Owned: *out. Nullable:
// err.
rh_status rh_model__shell(rh_model **out, const rh_model *from, rh_error *err);

// Fit members first .. first + n - 1 of the nmember that opt describes, which was checked, and
// measure their fidelity. The model has none before.
rh_status rh_model__add_members(rh_model *model, const rh_model_options *opt, int first, int n,
                                rh_error *err);
void rh_model__drop_members(rh_model *model);

// Fit new members with the log, representation, task and parameters of `model`. Uses nmember,
// resample, share, seed, nthread, fidelity and watch of opt.
// Owned: *out, free with rh_model_destroy(). Copied: model. Nullable: err. On failure *out is
// left untouched.
rh_status rh_model__refit(rh_model **out, const rh_model *model, const rh_model_options *opt,
                          rh_error *err);
rh_resample rh_model__resample(const rh_model *model);
uint64_t rh_model__fingerprint(const rh_model *model); // of the log it was fitted to

// All members as one environment: each episode is in a member drawn anew. Owned: *out, free
// with rh_env_destroy(). Borrowed: model, must outlive *out. Nullable: err.
rh_status rh_model__mixed_env(rh_env **out, const rh_model *model, rh_error *err);

// Divide a log: models are fitted to one part and agents begin with the other, so that what an
// agent knows is not what it is judged by; of a long part, agents get the last steps. Owned:
// *model, *agent. Nullable: err.
rh_status rh_prior__split(rh_log **model, rh_log **agent, const rh_log *log, rh_error *err);

// The last steps of a long log, to practise in a model of them. Owned: *out, left alone if the
// log is not longer. Nullable: err.
rh_status rh_prior__recent(rh_log **out, const rh_log *log, rh_error *err);

// The steps of a log as rows, the last ones of a long log. Owned: prior->row, free with
// rh_free() by a cast. Nullable: err.
rh_status rh_prior__rows(rh_prior *prior, const rh_log *log, rh_error *err);

// Whether rows are of a task of this shape: finite, with its actions and ends.
bool rh_prior__fits(const rh_task *task, rh_prior prior);

// Take a copy of the rows into a model and its task. Environments that it has do not see them.
rh_status rh_prior__keep(rh_model *model, rh_prior prior, rh_error *err);

// Look up actions act (n x nact) in states obs (n x nobs) in the log of a model. The radius is
// in codes: a typical logged step has RH_COVER_TYPICAL others with its action within it.
// Continuous actions are compared as states are, each scaled to its range in the log.
// Nullable: radius, err.
rh_status rh_model__cover(const rh_model *model, int64_t n, const double *obs,
                          const double *act, rh_cover *cover, double *radius, rh_error *err);

// Replay stretches of the model's log, evenly spaced and not chosen by their result, in a
// member fitted without the episodes or blocks that they are of: to look at. docs/models.md
// says how a stretch is replayed. A sensor that wraps round goes on beyond its range. Owned:
// *out, free with rh_replays__destroy(). Nullable: err.
rh_status rh_model__replay(rh_replays **out, const rh_model *model, uint64_t seed, int nthread,
                           rh_error *err);
void rh_replays__destroy(rh_replays *replays); // NULL is allowed

// A fitted reward as a formula: "1.2 - 0.98*abs(T - 21.3) - 0.1*pump". False: the model has
// none.
bool rh_model__reward_words(rh_text *text, const rh_model *model);

// The default candidates, the simplest first; how many. The caller may leave some out and set
// their parameters.
int rh_model__candidates(rh_model_trial trial[RH_MODEL_NTRIAL]);

// The name of a candidate: "carrying by action, raw", "linear with neighbours, raw".
void rh_model__trial_name(const rh_model_trial *trial, char *name, size_t size);

#endif
