// deploy.h - an agent that learns online on the plant, from best.yaml of a study.
//
// Observations go in, actions come out. What cannot be learned from (missing numbers, gaps,
// late or repeated observations, actions that somebody else chose) is recorded and not learned
// from. What was seen is appended to a log that `inspect` and `tune` read; what was learned is
// saved regularly, so that a killed deployment goes on from there. One thread at a time may use
// a deployment.

#ifndef REHEARSE_DEPLOY_H
#define REHEARSE_DEPLOY_H

#include "rehearse/study.h"

typedef struct rh_deploy rh_deploy;

// Who acts. In shadow and advice somebody else does, and every observation has the action that
// was really taken; the reply is what the agent would do. Agents that can (took in contract.h)
// learn from these actions.
typedef enum rh_deploy_mode {
    RH_MODE_KEPT,   // that of the folder; control in a new one
    RH_MODE_SHADOW, // nobody looks at the replies
    RH_MODE_ADVICE, // an operator may follow them; what was followed is compared with the
                    // promise
    RH_MODE_CONTROL // the agent
} rh_deploy_mode;

typedef struct rh_deploy_options {
    const char *folder;   // log.csv, events.jsonl, agent.state, status.json; NULL: keep nothing
    const char *state;    // state file to begin with where the folder has none; NULL: untrained
    const char *guard;    // YAML file with safe action and limits (docs/deploy.md); NULL: none
    rh_deploy_mode mode;  // who acts
    bool frozen;          // act without learning
    bool shared;          // new files get the rights of the umask; else only their owner reads
    int64_t switch_steps; // try tied settings of best.yaml in so many steps; 0: do not
    int64_t save_steps;   // save after so many steps, 1 or more
    double save_seconds;  // or after so many seconds, above 0
    uint64_t seed;        // of the agent's random choices
    unsigned cookie;      // set by rh_deploy_defaults(), leave alone
} rh_deploy_options;

RH_API rh_deploy_options rh_deploy_defaults(void); // 1,000 steps, 60 s, seed 1

// Open a deployment, new or to go on in its folder, which is created and locked.
// Owned: *out, close with rh_deploy_close(). Nullable: opt, err. On failure *out is left
// untouched.
RH_API rh_status rh_deploy_open(rh_deploy **out, const char *best, const rh_deploy_options *opt,
                                rh_error *err);

// Save and free. NULL is allowed. Nullable: err.
RH_API rh_status rh_deploy_close(rh_deploy *deploy, rh_error *err);

RH_API const rh_best *rh_deploy_best(const rh_deploy *deploy);

// What is to be done from an observation on.
typedef enum rh_deploy_command {
    RH_COMMAND_NONE,
    RH_COMMAND_FALLBACK, // the fallback of the guard file acts
    RH_COMMAND_AGENT,    // the agent again, also after an alarm
    RH_COMMAND_SHADOW,   // another mode
    RH_COMMAND_ADVICE,   //
    RH_COMMAND_CONTROL   //
} rh_deploy_command;

// One observation of the plant.
typedef struct rh_deploy_seen {
    const double *obs; // what the plant sends, NAN: missing    (nsent of rh_deploy_best())
    double reward;     // of the action before; NAN: by the study's formula
    const double *act; // the action really taken since the last reply, its index or vector;
                       // NULL: that of the reply                               (nact)
    int64_t seq;       // number of the observation; -1: not numbered
    double time;       // NAN: unknown
    bool starts;       // an episode begins here
    bool terminal;     // it ended here, in a terminal state
    bool truncated;    // it ended here, in a state that is not terminal
    rh_deploy_command command;
    const double *controller; // what the plant's own controller would do now, as act; NULL:
                              // unknown                                        (nact)
} rh_deploy_seen;

// What was unusual about an observation, as bits. All but OUTSIDE, FROZEN and LOST: not learned
// from.
typedef enum rh_deploy_note {
    RH_NOTE_MISSING = 1,     // a sensor is missing or not finite
    RH_NOTE_LATE = 2,        // older than the last one: ignored
    RH_NOTE_REPEATED = 4,    // the same as the last one: ignored
    RH_NOTE_GAP = 8,         // observations between the last one and this are missing
    RH_NOTE_OVERRIDE = 16,   // another action was taken than the reply's
    RH_NOTE_LIMITED = 32,    // the agent's action is not allowed
    RH_NOTE_TRIPPED = 64,    // a sensor is past its trip limit
    RH_NOTE_NO_REWARD = 128, // no reward came in and the formula has none
    RH_NOTE_OUTSIDE = 256,   // a sensor is outside of what the log has seen
    RH_NOTE_DIVERGED = 512, // the agent's numbers were not finite: it is back at its last state
    RH_NOTE_LOST = 1024,    // the log cannot be written
    RH_NOTE_NO_ACTION = 2048,  // somebody else acts, and it was not said how
    RH_NOTE_NO_FALLBACK = 4096 // the fallback is wanted, and its action is unknown
} rh_deploy_note;
enum { RH_NNOTE = 13 };

typedef enum rh_deploy_source {
    RH_BY_AGENT,
    RH_BY_GUARD,    // the safe action
    RH_BY_HOLD,     // the action before, again
    RH_BY_NOBODY,   // no action: the episode is over, or there is none to hold yet
    RH_BY_FALLBACK, // by the fallback of the guard file
    RH_BY_BLEND,    // between the agent's and the fallback's
    RH_BY_ADVICE,   // the agent's, to be confirmed
    RH_BY_SHADOW    // the agent's, not to be taken
} rh_deploy_source;

// Alarms, as bits.
typedef enum rh_deploy_alarm {
    RH_ALARM_PROMISE = 1,   // earns less than promised, beyond chance
    RH_ALARM_RANGE = 2,     // sensors leave what the log has seen
    RH_ALARM_DIVERGED = 4,  // the agent has diverged
    RH_ALARM_DISK = 8,      // log or state cannot be written
    RH_ALARM_FAILURES = 16, // fails more often than promised, beyond chance
    RH_ALARM_GUARD = 32,    // the guard acts in more steps than its file says
    RH_ALARM_WORSE = 64,    // earns less than before, beyond chance
    RH_ALARM_CHANGED = 128, // the plant does not do what it did before, beyond chance
    RH_ALARM_SILENCE = 256, // no message came in for the time of the guard file
    RH_ALARM_LIMIT = 512    // a limit of the study is not kept, beyond chance
} rh_deploy_alarm;
enum { RH_NALARM = 10 };

typedef struct rh_deploy_reply {
    double act[RH_MAX_ACT];  // the action to take, its index or vector          (nact)
    rh_deploy_source source; // who chose it
    bool learned;            // the agent learned from this observation
    unsigned notes, alarms;  // bits
} rh_deploy_reply;

// Take in an observation and choose an action. Allocates nothing. Fails only for a broken
// contract. What cannot be acted on gets the safe action, or the last one again. Without a safe
// action there is none before the first: RH_BY_NOBODY.
RH_API rh_status rh_deploy_step(rh_deploy *deploy, const rh_deploy_seen *seen,
                                rh_deploy_reply *reply, rh_error *err);

// Write what was seen, and save if it is due. Call it after the action was applied, and from
// time to time while nothing comes in: it notices the silence. A failure to write is
// RH_ALARM_DISK and not a failure of this call. Nullable: err.
RH_API rh_status rh_deploy_tick(rh_deploy *deploy, rh_error *err);

// A limit of best.yaml, and how often its event happened.
typedef struct rh_deploy_limit {
    char event[64];     // as it was given, maybe cut
    rh_limit_unit unit; // of the share `most`
    double most;        //
    int64_t n, of;      // so many of the agent's own steps or episodes, as the unit is
} rh_deploy_limit;

// How a deployment is doing. Counts are of all its processes so far.
// A setting of the trial of `deploy --switch`.
typedef struct rh_deploy_tried {
    double mean;   // what it is believed to earn, as the score is
    double error;  // standard error of that
    int64_t steps; // in which it acted
    bool dropped;  // it failed too often, or broke a limit, and acts no more
} rh_deploy_tried;

typedef struct rh_deploy_health {
    int64_t nstep;           // observations accepted
    int64_t nlearned;        // learned from
    int64_t nepisode;        // completed episodes
    int64_t count[RH_NNOTE]; // of every note
    int64_t njudged;         // steps of the agent's own actions, compared with the promise
    double total;            // their reward
    double earned;           // on the scale of the score; NAN: nothing yet
    double promised;         // score, and the lower end of its interval
    double promised_lo;      //
    double deficit, level;   // deficits, and where the alarm is raised; NAN: no promise
    double false_alarms;     // probability of a false alarm in per_run steps
    int64_t per_run;         // steps of a run in the models
    int64_t per_steps;       // unit of the scores: so many steps; 0: an episode
    double outside;          // share of the last 100 observations outside of the log's range
    int outside_sensor;      // the last one that was; -1: none
    bool per_1000;           // failures are counted in 1,000 steps, and not by episodes
    int64_t nfailure, of;    // failures so far; of so many completed episodes, or steps
    double failures;         // their rate; NAN: nothing to count
    int64_t nother;          // terminal ends that are no failures by the rule
    double failures_promised, failures_upper; // rate in the models, and its upper end
    double failures_logged;                   // of the logged controller
    int nlimit;                               // limits of best.yaml
    rh_deploy_limit limit[RH_MAX_LIMITS];     //                               (nlimit)
    int64_t nguarded;                         // steps in which the guard acted
    double guarded;                           // share of about the last 1,000 steps
    double guard_share;  // above it the alarm is raised; NAN: there is no guard
    rh_deploy_mode mode; // who acts
    bool fallen;         // the fallback acts, by an alarm or a command, until a command
    int64_t mode_step;   // of the last change of one of these; the next fields are since then
    int64_t nshadow;     // steps whose action by somebody else is known
    double agreement;    // share of them in which the agent would have done the same; NAN: none
    double coverage;     // share of observations inside of the log's range; NAN: none
    double controller;   // what somebody else earns, as the score is; NAN: too little seen
    double gain;         // promised score minus that, and the 95 % interval of the difference
    double gain_lo, gain_hi;
    double allowed; // how far the agent may be from the fallback now; NAN: no blend
    int nsetting;   // that the trial of `deploy --switch` has; 0: there is none
    int setting;    // the one that acts now; 0: the chosen one
    int64_t trial_steps, trial_used;        // of the trial, and those so far
    bool trial_over;                        // the setting that acts stays
    rh_deploy_tried tried[RH_MAX_TIED + 1]; // the settings                     (nsetting)
    unsigned alarms;                        // bits
    int64_t alarm_step;                     // step of the last alarm; -1: none
    double evidence[RH_NALARM]; // for each alarm: it is raised at 20, and a deployment that is
                                // all right ever gets to x with a probability of at most 1 / x;
                                // NAN: nothing to compare with yet, or a fact and no test
    int64_t since[RH_NALARM];   // step at which each alarm was raised; -1: it is not
    double sure[RH_NALARM];     // most evidence since then
    int64_t saved_step;         // position of the saved state
} rh_deploy_health;

RH_API rh_deploy_health rh_deploy_health_of(const rh_deploy *deploy);

// ---------------------------------------------------------------------------- JSON lines

// Answer JSON lines from in_fd on out_fd until it ends or stop() is true: one reply for each
// line. Nullable: stop, err.
RH_API rh_status rh_deploy_lines(rh_deploy *deploy, int in_fd, int out_fd,
                                 bool (*stop)(void *context), void *context, rh_error *err);

// ---------------------------------------------------------------------------- MQTT

typedef struct rh_mqtt_options {
    const char *host;     // of the broker
    int port;             //
    const char *prefix;   // of the topics: PREFIX/observation, PREFIX/action, PREFIX/health
    const char *client;   // client id; NULL: any
    const char *user;     // NULL: none
    const char *password; // NULL: none
    const char *cafile;   // certificates of the broker's authority; NULL: no encryption
    const char *certfile; // our own certificate, and
    const char *keyfile;  // its key, without a passphrase; NULL: none
    int qos;              // quality of service, 0 to 2
    int keepalive;        // seconds
    unsigned cookie;      // set by rh_mqtt_defaults(), leave alone
} rh_mqtt_options;

RH_API rh_mqtt_options rh_mqtt_defaults(void); // localhost:1883, prefix rehearse, qos 0

// Answer observations of an MQTT broker until stop() is true. A lost connection is made again;
// the first one must succeed. Borrowed: opt. Nullable: stop, err.
RH_API rh_status rh_deploy_mqtt(rh_deploy *deploy, const rh_mqtt_options *opt,
                                bool (*stop)(void *context), void *context, rh_error *err);

// ---------------------------------------------------------------------------- devices

typedef struct rh_export_options {
    const char *state; // state file to begin with; NULL: as a new deployment begins
    const char *guard; // YAML file with safe_action, forbidden, limits and trip; NULL: none
    bool frozen;       // act without learning; only esarsa learns on a device
    int64_t memory;    // bytes that the agent may need, 1 or more
    uint64_t seed;     // of its random choices
    unsigned cookie;   // set by rh_export_defaults(), leave alone
} rh_export_options;

RH_API rh_export_options rh_export_defaults(void); // 64 KB, seed 1

typedef struct rh_export_made {
    bool learns;
    int64_t state;     // bytes of struct agent
    int64_t constants; // bytes of tables
    int64_t nweight;   // that it learns
} rh_export_made;

// Write the agent of best.yaml as one C file for devices (docs/export.md). It does what a
// deployment with the same options does, bit for bit. Nullable: opt, made, err.
RH_API rh_status rh_export_write(const char *path, const char *best,
                                 const rh_export_options *opt, rh_export_made *made,
                                 rh_error *err);

#endif
