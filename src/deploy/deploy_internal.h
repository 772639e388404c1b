// deploy_internal.h - what the files of this module share.
//
//     message.c ──▶ deploy.c: what may be learned from ──▶ agent
//     (lines.c)       ├─▶ guard.c: safe action, limits; turn.c, blend.c: who acts
//                     ├─▶ monitor.c: the promise; monitor_failures.c: its rate of failures
//                     ├─▶ monitor_limits.c: the limits of the study
//                     ├─▶ monitor_plant.c: its own past, the plant, its range, the guard
//                     │     (tests: bets.c, rising.c; predictions: forecast.c)
//                     ├─▶ switch.c: tied settings, tried by a bandit
//                     ├─▶ record.c: log.csv, events.jsonl
//                     └─▶ keep.c: agent.state, status.json

#ifndef REHEARSE_DEPLOY_INTERNAL_H
#define REHEARSE_DEPLOY_INTERNAL_H

#include "rehearse/deploy.h"

#include "base/expression.h"
#include "base/text.h"

#include <sys/types.h>

#define RH_DEPLOY__COOKIE 0x6465706cu
#define RH_DEPLOY__TEXT 65536 // bytes of a line, at most

// ---------------------------------------------------------------------------- guard.c

typedef enum rh_guard__fallback {
    RH_FALLBACK_DEFAULT, // the safe action, or the last one again
    RH_FALLBACK_HOLD,    // the last action again
    RH_FALLBACK_ACTION,  // a fixed one
    RH_FALLBACK_CLONE,   // a clone of the logged controller
    RH_FALLBACK_EXEC,    // a program
    RH_FALLBACK_NONE     // somebody else acts
} rh_guard__fallback;

// What the agent may not do. A limit that is not given is NAN.
typedef struct rh_guard {
    bool safe;                   // there is a safe action
    double act[RH_MAX_ACT];      // it                                             (nact)
    bool banned[RH_MAX_ACTIONS]; // discrete actions that are not allowed     (naction)
    double act_lo[RH_MAX_ACT];   // limits of continuous ones                 (nact)
    double act_hi[RH_MAX_ACT];   //
    double trip_lo[RH_MAX_OBS];  // sensors past these: the safe action       (nobs)
    double trip_hi[RH_MAX_OBS];  //
    double share;                // of steps; an alarm where the guard acts in more
    rh_guard__fallback fallback; // who acts instead of the agent
    double other[RH_MAX_ACT];    // its fixed action                          (nact)
    char program[256];           // exec:COMMAND
    bool on_alarm;               // it acts after an alarm, until a command
    double blend_step;           // of the range of an action, per step; NAN: no blend
    double blend_away;           // of the range (discrete: of the steps), from the fallback
    double blend_full;           // steps without alarm until there is no limit any more
    bool steps_up;               // by itself, under the conditions below
    double up_steps, up_agreement, up_coverage, up_gain; // NAN: no condition
    double max_gap; // a longer time between observations is a gap
    double answer;  // seconds that the program of the fallback may take; NAN: not said
    double silence; // seconds without a message until the alarm; INFINITY: never
} rh_guard;

// path NULL: no limits.
rh_status rh_guard__read(rh_guard *guard, const char *path, const rh_best *best, rh_error *err);

// ---------------------------------------------------------------------------- monitor.c

#define RH_BETS__LEVEL 20.0 // 1 / alpha: 5 % of honest deployments ever raise an alarm
#define RH_BETS__N 6
#define RH_RISING__HALF 64
#define RH_RISING__NBET 3

// Bets against "on average at most p" (bets.c).
typedef struct rh_bets {
    double ntrial;          // that the bets were about
    double bet[RH_BETS__N]; // their worth
} rh_bets;
// A trial with outcome x, 0 to 1. Returns the worth of all bets.
double rh_bets__add(rh_bets *b, double p, double x);

// Bets against "as its own past" (rising.c). All 0: not begun.
typedef struct rh_rising {
    double length;               // numbers in a unit
    double sum, n;               // of the unit so far
    double nunit;                // of those below
    double half;                 // of them that are only compared with
    double round;                // how often the test began anew
    double temper;               // share of independent units
    double bet[RH_RISING__NBET]; // their worth
    double unit[2 * RH_RISING__HALF];
} rh_rising;
// half: units that are only compared with at first, at most RH_RISING__HALF.
void rh_rising__init(rh_rising *r, double length, int half);
// A further number; higher is worse. True: *worth of all bets is new.
bool rh_rising__add(rh_rising *r, double x, bool alarmed, double *worth);
double rh_rising__worth(const rh_rising *r); // of all bets

// One-step predictions (forecast.c).
typedef struct rh_forecast rh_forecast;
// run: steps of a run. Owned: *out. Borrowed: best.
rh_status rh_forecast__create(rh_forecast **out, const rh_best *best, double run,
                              rh_error *err);
void rh_forecast__destroy(rh_forecast *f); // NULL is allowed
// Predict a step and learn from it. False: it is too early to say how wrong that was. All
// numbers are finite, but the reward may be NAN. error: of all outputs together; how much less
// and how much more the action did; of each output upwards and downwards, the reward last. NAN:
// unknown (nseries).
#define RH_FORECAST__MOST 53
bool rh_forecast__step(rh_forecast *f, const double *obs, const double *act, double reward,
                       const double *next, double error[RH_FORECAST__MOST]);
int rh_forecast__nseries(const rh_forecast *f);
// Each beside its past. Borrowed.
rh_rising *rh_forecast__series(rh_forecast *f);
// What to save. Borrowed. Numbers of another task are not loaded.
const double *rh_forecast__saved(const rh_forecast *f, size_t *n);
void rh_forecast__load(rh_forecast *f, const double *from, size_t n);

// The shares of a block of steps, as trials.
typedef struct rh_monitor__block {
    double sum, n; // so far
    rh_bets bets;
} rh_monitor__block;

// A limit of the study.
typedef struct rh_monitor__limit {
    double n, of;          // how often its event happened; of so many steps or episodes
    double happened;       // 1: in this episode; in a continuing task, in the last step
    double foreign;        // 1: somebody else acted in this episode
    double worth;          // of all bets
    rh_monitor__block own; // steps or episodes, or blocks of steps
} rh_monitor__limit;

// The comparison with the promise. Everything that a resumed deployment needs is a number here.
// States of earlier versions have the first ones.
typedef struct rh_monitor {
    double step;             // judged steps of this run length
    double round;            // run lengths before it
    double point;            // next point of the curve
    double sum, nended;      // of the segment: reward, or returns and number of ended episodes
    double back;             // return of the episode so far
    double spoiled;          // 1: the episode has steps that do not count
    double returns, nreturn; // of all episodes that count, and how many
    double deficit;          //
    double trained;          // 1: the agent was trained before, the curve's beginning is over
    double outside;          // moving share of observations outside of the log's range
    double guarded;          // moving share of steps in which the guard acted
    double failed;           // 1: in this episode; in a continuing task, in the last step
    double foreign;          // 1: somebody else acted in this episode
    rh_bets failures;
    rh_monitor__block range, guard;
    rh_rising worse; // what was earned, with its sign changed
    rh_monitor__limit limit[RH_MAX_LIMITS];
} rh_monitor;
enum { RH_MONITOR__N = sizeof(rh_monitor) / sizeof(double) };

// Steps of a run, by which blocks are made.
double rh_monitor__run(const rh_best *best);
int rh_monitor__index(rh_deploy_alarm alarm); // of its bit
// An alarm that is a fact, or whose evidence is in health.
void rh_monitor__raise(rh_deploy_health *health, rh_deploy_alarm alarm);
void rh_monitor__end(rh_deploy_health *health, rh_deploy_alarm alarm);
// An alarm by evidence: raised at RH_BETS__LEVEL.
void rh_monitor__weigh(rh_deploy_health *health, rh_deploy_alarm alarm, double evidence);
// The level of deficits in this run length, and the evidence of the present ones.
double rh_monitor__level(const rh_monitor *m, const rh_promise *promise, double *evidence);
// Count the reward of one step; ended: the last of its episode. Sets alarms of health.
void rh_monitor__reward(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                        double reward, bool ended);
// A step that does not count.
void rh_monitor__spoil(rh_monitor *m, bool ended);
// Whether a sensor is outside of what the log has seen; sets alarms of health.
bool rh_monitor__obs(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                     const double *obs);

// A step of the plant: where it led to.
typedef struct rh_monitor__step {
    const double *obs; // NAN: missing                                          (nobs)
    double reward;     // NAN: unknown
    bool terminal, ended;
    bool foreign; // somebody else chose the action
} rh_monitor__step;

// What best.yaml promises about failures.
void rh_monitor__promise_failures(rh_deploy_health *health, const rh_best *best);
// An episode begins.
void rh_monitor__begin(rh_monitor *m);
// Count a failure, or none. Sets alarms of health.
void rh_monitor__failure(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                         const rh_monitor__step *step);
// Steps of a block, in which events may last for several steps.
double rh_monitor__block_length(const rh_best *best);
// Compile the limits of best.yaml, tell health of them, and count a step. act: that was taken;
// NULL: unknown. Sets alarms of health.
rh_status rh_monitor__open_limits(rh_deploy *d, rh_error *err);
void rh_monitor__limits(rh_deploy *d, const rh_monitor__step *step, const double *act);
// Count a step in which the guard acted, or did not. Sets alarms of health.
void rh_monitor__guard(rh_monitor *m, rh_deploy_health *health, const rh_best *best, bool acts);
// What the agent earned, of a step or an episode, beside its own past. Sets alarms of health.
void rh_monitor__past(rh_monitor *m, rh_deploy_health *health, const rh_best *best, double x);
// A step of the plant, for the forecasts; the next sensors are finite. Sets alarms of health.
void rh_monitor__forecast(rh_monitor *m, rh_deploy_health *health, const rh_best *best,
                          rh_forecast *f, const double *obs, const double *act, double reward,
                          const double *next);

// ---------------------------------------------------------------------------- record.c

// Files that only grow.
typedef struct rh_record {
    int log, events; // descriptors; -1: none
    int64_t size;    // bytes of the log with whole lines
    bool timed;      // the log has times
    bool controlled; // and what the plant's controller would have done
    bool tailed;     // rows end with the column of the notes
    bool headed;     // the log has its header
    int64_t episode; // number of the episode
    int64_t step;    // in it
    bool starts;     // it begins in a start state
    char *line;      // owned                                  (RH_DEPLOY__TEXT)
    char *rows;      // in line's block: not written yet       (RH_DEPLOY__TEXT)
    size_t used;     // bytes of it
    char *noted;     // in line's block: events, likewise      (RH_DEPLOY__TEXT)
    size_t nnoted;   // bytes of it
    int64_t size_events;
} rh_record;

// Open log.csv and events.jsonl; a torn last line is cut off.
rh_status rh_record__open(rh_record *record, const char *folder, mode_t rights, rh_error *err);
void rh_record__close(rh_record *record);
// An episode begins; starts: in a start state.
void rh_record__begin(rh_record *record, bool starts);
// A row of the log.
typedef struct rh_record__step {
    double time;              // NAN: unknown
    const double *obs;        //                                             (nsent)
    const double *act;        // NULL: none                                  (nact)
    const double *controller; // NULL: unknown                               (nact)
    double reward;            // NAN: none
    bool terminal, truncated;
} rh_record__step;
// Make one row. False: it does not fit.
bool rh_record__row(rh_record *record, const rh_best *best, const rh_record__step *step);
// Write the rows that were made. False: they could not be written and are lost.
bool rh_record__flush(rh_record *record);
// The same of events.
bool rh_record__flush_events(rh_record *record);
// Make one event. False: it is lost.
bool rh_record__event(rh_record *record, const rh_best *best, const rh_deploy_health *health,
                      const rh_deploy_seen *seen, const rh_deploy_reply *reply);

// Make one event: setting `arm`, an agent of that name, acts from here on; what: "stays",
// "dropped", or NULL.
bool rh_record__switch(rh_record *record, int64_t step, int arm, const char *agent,
                       const char *what);

// ---------------------------------------------------------------------------- switch.c

#define RH_SWITCH__NAME "switch"

// Units of one setting, the older the less (switch.c).
typedef struct rh_switch__arm {
    double n, mean, squares; // weights of units, their mean, squared deviations
    double steps;            // in which it acted
} rh_switch__arm;

// Whether a setting fails more often than promised, or breaks a limit.
typedef struct rh_switch__risk {
    double dropped;                  // 1: it does, and acts no more
    rh_bets bets[1 + RH_MAX_LIMITS]; // failures, then the limits
    double worth[1 + RH_MAX_LIMITS]; // of each
} rh_switch__risk;

// A trial of several settings. Everything that a resumed deployment needs is a number.
typedef struct rh_switch {
    double narm;        // settings, the chosen one first; 0: there is no trial
    double steps, used; // of the trial
    double now;         // who acts
    double done;        // 1: it stays
    double ndraw;       // random numbers so far
    double skip;        // 1: the next reward is still of another
    double over;        // 1: the unit is complete
    double holed;       // 1: the unit has steps of somebody else
    double back, nback; // reward and steps of the unit so far
    rh_switch__arm arm[RH_MAX_TIED + 1];
    // states of earlier versions end here
    double seen[1 + RH_MAX_LIMITS][2]; // when the unit began: failures and limits, of how many
    rh_switch__risk risk[RH_MAX_TIED + 1];
} rh_switch;
enum { RH_SWITCH__N = sizeof(rh_switch) / sizeof(double) };

typedef struct rh_deploy__arm {
    rh_agent *agent; // owned; the first is the chosen one
    const rh_agent_type *type;
    const double *hp; // borrowed
    rh_rng rng;       // while another one acts
    bool shown;       // it was shown the last observation
} rh_deploy__arm;

rh_status rh_switch__open(rh_deploy *d, rh_error *err);
void rh_switch__close(rh_deploy *d);
// Put the trial and its other agents into the state of a deployment.
rh_status rh_switch__save(rh_deploy *d, rh_state *state, rh_error *err);
// Those that do not act learn from a step. act NULL: nothing; obs NULL: it is not whole.
void rh_switch__learn(rh_deploy *d, const double *act, double reward, const double *obs,
                      bool terminal);
// A step of the agent's own, or not; ended: the last of its episode.
void rh_switch__count(rh_deploy *d, double reward, bool own, bool ended);
// An episode begins, and the one before it did not end: its unit is left out. whole: it begins
// in a start state.
void rh_switch__begin(rh_deploy *d, bool whole);
// After an observation was answered: the next one may act.
void rh_switch__turn(rh_deploy *d);
void rh_switch__tell(rh_deploy *d); // health

// ---------------------------------------------------------------------------- turn.c

// Who acts, and the evidence for it. Everything that a resumed deployment needs is a number.
typedef struct rh_turn {
    double mode;          // rh_deploy_mode
    double fallen;        // 1: the fallback acts until a command
    double since;         // step of the last change
    double n, nagree;     // steps since then with known actions of somebody else; the same
    double nobs, ninside; // observations since then; within the log's range
    double holed;         // 1: the unit has steps without a reward
    double back, nback;   // reward and steps of the unit so far: an episode, or UNIT steps
    double nunit, mean, squares; // of the units
    double calm;                 // steps of control without an alarm
    double nstep;                // of control with a blend
    double credit;               // steps that a discrete action may be away from the fallback's
    // of violations; states of earlier versions end here
    double nshrunk;                  // how often the blend was made smaller
    double tripped;                  // 1: a sensor is past a limit of the guard
    double failures[2];              // when it last began: failures, and of how many
    double limits[RH_MAX_LIMITS][2]; // the same of each limit
    double ignored;                  // alarms that were on when the agent was ordered back
} rh_turn;
enum { RH_TURN__N = sizeof(rh_turn) / sizeof(double) };

rh_status rh_turn__open(rh_deploy *d, rh_error *err);
void rh_turn__close(rh_deploy *d);
// Before an observation is looked at.
void rh_turn__command(rh_deploy *d, rh_deploy_command command);
// Whether somebody else's actions can be learned from now.
bool rh_turn__learns(const rh_deploy *d);
bool rh_turn__watches(const rh_deploy *d); // shadow or advice
// A step of somebody else: act NULL: unknown. reward NAN: unknown.
void rh_turn__count(rh_deploy *d, const double *act, double reward, bool ended);
// An observation, begins: of an episode; act: taken since the last one, or NULL. The fallback
// is shown it (blind: a number is missing).
void rh_turn__show(rh_deploy *d, const double *obs, bool begins, const double *act, bool blind,
                   bool inside);
// Begin the fallback anew if it has failed. After the reply: a program is started.
void rh_turn__mend(rh_deploy *d);
// The agent's action, the fallback's or a blend; then, within the limits, whose it is called.
void rh_turn__act(rh_deploy *d, rh_deploy_reply *reply);
void rh_turn__send(const rh_deploy *d, rh_deploy_reply *reply);
// The action without the agent: the fallback's, the safe one, the last again, or none.
void rh_turn__fallback(const rh_deploy *d, rh_deploy_reply *reply);
// After the alarms are known: fall back, or step up.
void rh_turn__judge(rh_deploy *d);

// ---------------------------------------------------------------------------- blend.c

// How far from the fallback the agent may be now, as a share.
double rh_blend__allowed(const rh_deploy *d);
// A new evidence: what was violated so far does not count.
void rh_blend__begin(rh_deploy *d);
// After the alarms are known.
void rh_blend__judge(rh_deploy *d, bool alarmed);
// The agent's action, which is in reply, or one between it and the fallback's.
void rh_blend__act(rh_deploy *d, rh_deploy_reply *reply);

// ---------------------------------------------------------------------------- the deployment

// Where a deployment is after the last observation.
typedef enum rh_deploy__phase {
    RH_DEPLOY__BETWEEN, // episodes: the next observation begins one in a start state
    RH_DEPLOY__RESUMED, // nothing was seen yet: the next is in the middle of an episode
    RH_DEPLOY__BLIND,   // in an episode, and a sensor was missing
    RH_DEPLOY__SEEING,  // in an episode, and nothing can be learned from the next observation
    RH_DEPLOY__LEARNING // in an episode: the agent chose the action and can learn from the next
} rh_deploy__phase;

// What a kill must not lose: it is saved at once.
typedef struct rh_deploy__who {
    unsigned alarms; // all but that of the disk
    double mode;
    bool fallen;
} rh_deploy__who;

struct rh_deploy {
    rh_best *best;                       // owned
    rh_agent *agent;                     // owned: the one that acts
    rh_deploy__arm arm[RH_MAX_TIED + 1]; // of a trial of several, the chosen one first
    rh_switch trial;
    rh_rng draws;
    rh_state *last; // owned: the last saved state, to go back to; NULL: none
    rh_expression formula;
    rh_expression event[RH_MAX_LIMITS]; // of the limits, where they are formulas
    double label[RH_MAX_ACTIONS]; // numbers that discrete actions stand for in the formula
    rh_guard guard;
    rh_monitor monitor;
    rh_forecast *forecast; // owned
    rh_turn turn;
    rh_agent *backup;              // owned: the fallback, if it is an agent; NULL: none
    rh_rng backup_rng;             //
    double backup_act[RH_MAX_ACT]; // its action now
    bool backup_knows;             // it has one
    bool backup_dead, backup_new;  // it has failed; it was made anew
    double wished[RH_MAX_ACT];     // what the agent would do; NAN: unknown        (nact)
    const double *controller;      // borrowed: what the plant's controller would do now; NULL
    double controlled[RH_MAX_ACT]; // the same at the last observation; NAN        (nact)
    rh_deploy_health health;
    rh_record record;
    rh_deploy_options opt;
    char *folder;              // owned; NULL: keep nothing
    int lock;                  // descriptor of the folder's lock; -1: none
    rh_rng rng;                // of the agent
    rh_deploy__phase phase;    // in an episode the fields below are of its last observation
    rh_observer *observer;     // owned: makes the sensors that the plant does not send
    rh_observer *present;      // owned: the same without their history, for the guard
    double sent[RH_MAX_OBS];   // what the plant sent                              (nsent)
    rh_deploy_reply reply;     // whose action holds
    rh_deploy_reply answered;  // the last reply, for a repeated observation
    int64_t seq;               // of the last observation; -1: none
    rh_deploy_command command; // in it
    int nlate;                 // late observations since then
    double heard;              // when the last message came in; INFINITY: none is expected
    bool quiet;                // silence began, and no message came in since
    bool silent;               // likewise, and no new observation was accepted since
    bool unasked;              // and its action was not sent yet
    double time;               //
    double period;             // seconds between the last two observations; NAN: unknown
    double saved;              // when it was saved last, in seconds
    int64_t saved_step;
    rh_deploy__who kept; // what was saved
};

// Of new files in the folder.
#define RH_DEPLOY__RIGHTS(d) ((d)->opt.shared ? 0666 : 0600)

double rh_deploy__now(void); // seconds, monotonic

// ---------------------------------------------------------------------------- keep.c

// Make and lock the folder; take up what it holds.
rh_status rh_keep__open(rh_deploy *d, rh_error *err);
rh_status rh_keep__save(rh_deploy *d, rh_error *err);

// ---------------------------------------------------------------------------- message.c

// A message as it came in. Texts of actions are already indices.
typedef struct rh_message {
    double obs[RH_MAX_OBS];        //                                               (nsent)
    double act[RH_MAX_ACT];        //                                               (nact)
    double controller[RH_MAX_ACT]; // likewise
    rh_deploy_seen seen;           // its pointers are to the arrays above
} rh_message;

// Parse one line (n bytes). On failure all sensors are missing. Allocates nothing.
rh_status rh_message__parse(rh_message *message, const rh_best *best, const char *text,
                            size_t n, rh_error *err);

// The action of a number: the one whose name it is; its index where no name is a number. -1:
// none.
int rh_message__action_of(const rh_best *best, double x);

// The reply as one line of JSON. error: a text, or NULL. Returns the length.
size_t rh_message__reply(const rh_best *best, const rh_deploy_seen *seen,
                         const rh_deploy_reply *reply, const char *error, char *text,
                         size_t size);

// ---------------------------------------------------------------------------- mqtt.c

#define RH_MQTT__TOPIC 512 // bytes of a topic

// ---------------------------------------------------------------------------- line.c

// A line in a fixed buffer; too long a text is cut and sets `full`.
typedef struct rh_line {
    char *at;
    size_t n, size;
    bool full;
} rh_line;
void rh_line__add(rh_line *line, const char *text);
void rh_line__number(rh_line *line, double x);         // JSON: null unless finite
void rh_line__whole(rh_line *line, int64_t x);         //
void rh_line__string(rh_line *line, const char *text); // JSON
void rh_line__action(rh_line *line, const rh_best *best, const double *act);
// ,"key":["a","b"] of the bits that are set; nothing without any.
void rh_line__bits(rh_line *line, const char *key, unsigned bits, const char *(*name)(int));

#endif
