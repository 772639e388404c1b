// log.h - what other modules of the library use of log beside its public header.

#ifndef RH_LOG_H
#define RH_LOG_H

#include "rehearse/log.h"

// The rule of a log: what it says, or what its rewards show, with those of `prior`, the part of
// it that agents begin with. continuing: as in rh_task.
// Owned: *out, free with rh_failure__destroy(). Nullable: err.
rh_status rh_failure__find(rh_failure **out, const rh_log *log, bool continuing, rh_prior prior,
                           rh_error *err);
// The same from its parts, whose texts are copied. Nullable: formula, err.
rh_status rh_failure__make(rh_failure **out, const rh_failure *parts, int nobs, rh_error *err);
void rh_failure__destroy(rh_failure *rule); // NULL is allowed

// Failures in a log: in each of its episodes one at most; or, if ever going on, one where
// failing steps begin.
typedef struct rh_failure__count {
    int64_t n;        // failures
    int64_t nepisode; // episodes, those that resume after a gap with the one before
    int64_t nstep;
} rh_failure__count;
rh_failure__count rh_failure__count_log(const rh_failure *rule, const rh_log *log,
                                        bool continuing);

// For rh_describe().
const rh_fields *rh_log__fields(void);         // what there is in a log and was left out
const rh_fields *rh_log__reading_fields(void); // how it was read

// The time limit of the plant's episodes, in steps; 0: it has none, or the log does not show
// it.
int64_t rh_log__time_limit(const rh_log *log);
// Whether every episode that does not terminate lost its last step, whose s' is unknown.
bool rh_log__lost_ends(const rh_log *log);
// Whether a plant whose episodes do not terminate begins anew after its time limit: its task is
// episodic, otherwise continuing. False: out of memory.
bool rh_log__begins_anew(const rh_log *log, bool *yes);

// Whether the log says that no action moves a sensor; its past values are like itself.
bool rh_log__is_exogenous(const rh_log *log, int sensor);

// Whether it says that a person or a schedule sets it; setpoint.c
bool rh_log__is_setpoint(const rh_log *log, int sensor);

// The same log with an owner more, who calls rh_log_destroy() too; NULL: the library did not
// make it, and it must be copied.
rh_log *rh_log__share(const rh_log *log);
// Whether two logs have equal numbers; names are not compared.
bool rh_log__same(const rh_log *a, const rh_log *b);

// Add a sentence about how the log was read.
rh_status rh_log__note(rh_log_builder *builder, rh_error *err, const char *format, ...)
    RH_PRINTF(3, 4);

// name (nsensor), derive, stack: the sensors and options; naction, nact: the actions, as in
// rh_task. Owned: *out, free with rh_observer__destroy(). Borrowed: name. Nullable: derive,
// err.
rh_status rh_observer__create(rh_observer **out, const char *const *name, int nsensor,
                              const char *derive, int stack, int naction, int nact,
                              rh_error *err);
void rh_observer__destroy(rh_observer *observer);   // NULL is allowed
int rh_observer__nobs(const rh_observer *observer); // numbers of an observation

// How many sensors a list of derived ones has; 0 for NULL.
int rh_derive__count(const char *derive);

// What computes the derived sensors of a log. NULL: it has none, or its histories or numbers
// are not those of the list. Owned: *out, free with rh_derive__destroy(). Nullable: err.
typedef struct rh_derive rh_derive;
rh_status rh_derive__create(rh_derive **out, const rh_log *log, rh_error *err);
void rh_derive__destroy(rh_derive *derive); // NULL is allowed

// Set the derived ones among the sensors obs; those without a value stay. NULL: nothing is
// done.
void rh_derive__compute(const rh_derive *derive, double *obs);

// The next observation begins an episode; starts: in a start state, otherwise the steps before
// it are unknown.
void rh_observer__begin(rh_observer *observer, bool starts);

// The observation (nobs) of the sensors (nsensor). False: steps of its history are unknown, and
// a log would not have it.
bool rh_observer__show(rh_observer *observer, const double *sensor, double *obs);

// This action was taken at the observation shown last.
void rh_observer__act(rh_observer *observer, const double *act);

// Parse a duration: "90", "90s", "15m", "2h", "1d". Seconds, or the log's own unit of time.
// False if the text is no duration, or not finite and above 0.
bool rh_log__duration(const char *text, double *seconds);

// Check, before the work begins, that a format exists for this name or suffix.
// Nullable: format, err.
rh_status rh_log__write_check(const char *path, const char *format, rh_error *err);
const rh_log_format *rh_log__format_at(int i); // NULL if there is none

// Read the rows of log_next: JSON of `tune --json`, or a study's report.json. Sensors and
// actions must be those of the task. Owned: *out, free with rh_advice__destroy(). Nullable:
// err.
rh_status rh_advice__read(rh_advice **out, const char *path, const rh_task *task,
                          rh_error *err);
void rh_advice__destroy(rh_advice *advice);        // NULL is allowed
int rh_advice__nrow(const rh_advice *advice);      //
int64_t rh_advice__steps(const rh_advice *advice); // of all rows

#endif
