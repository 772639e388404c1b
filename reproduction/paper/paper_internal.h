// paper_internal.h - what the files of this module share.
//
// An experiment (rh_paper__part) is one constant in one file and one line in paper.c. It lists
// its cells before the work and draws figures and claims from them afterwards. Two experiments
// that need the same cell share it: a cell is known by its name, which says all that determines
// it.

#ifndef PAPER_INTERNAL_H
#define PAPER_INTERNAL_H

#include "paper.h"

#include "base/text.h"

// ---------------------------------------------------------------------------- what is studied

// An environment as the experiments use it.
typedef struct rh_paper__world {
    const char *name;        // "acrobot", "acrobot-changed"
    const char *title;       // "Acrobot"
    const char *env;         // simulator
    rh_setting option[2][4]; // its options, by rh_paper_constants; ends without a name
    int64_t nstep, quick;    // steps of a run; in a quick battery
    double in_model, in_env; // seconds per learning step of Expected Sarsa
    int64_t reward_span;     // rewards differ by so much at most
} rh_paper__world;

extern const rh_paper__world rh_paper__acrobot, rh_paper__changed, rh_paper__puddle,
    rh_paper__cartpole;

// What is chosen: an agent, its settings, and how many runs each gets in a model.
typedef struct rh_paper__problem {
    const char *name; // "esarsa", "esarsa-continuous", "actor-critic"
    const rh_paper__world *world;
    const char *agent;
    const char *grid[2];   // published grid, by constants; NULL: axis has all
    rh_setting axis[6];    // values of parameters, over those of the grid
    rh_setting shorter[6]; // in a quick battery, over both
    const char *param[5];  // parameters that are recorded; ends with NULL
    int nrun;              // in a model
    int nsetting[2];       // of the grid: full, quick
    double slower;         // than Expected Sarsa, per step
} rh_paper__problem;

enum { RH_PAPER__NPARAM = 5 }; // recorded parameters, at most

// A log: the policy that made it, and its steps.
typedef struct rh_paper__data {
    const char *policy;
    int64_t nstep;
} rh_paper__data;

// How a setting is chosen from a log: keys of a plan.
typedef struct rh_paper__method {
    const char *name;    // "knn-laplacian"
    const char *title;   // "kNN, Laplacian"
    rh_setting key[10];  // over preset: paper; ends without a name
    rh_setting quick[8]; // in a quick battery, over both
    bool plain;          // without preset: paper: our default
    bool shared;         // in the kNN model of the Laplacian that other methods use, too
    bool codes;          // in a model of its own, with the Laplacian of that kNN model
    bool costly;         // for the first ncostly logs only
    bool continuous;     // the setting is in no table: it is run in the simulator
    double effort;       // settings tried, of the grid's; negative: so many settings
    double fit;          // seconds to fit the model
    double pace;         // time of a step, of that in a kNN model; 0: 1
} rh_paper__method;

// ---------------------------------------------------------------------------- cells

typedef struct rh_paper__cell rh_paper__cell;

struct rh_paper__cell {
    rh_status (*run)(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                     rh_error *err);
    const char *what;                 // "choice", "truth", ...
    const rh_paper__problem *problem; // NULL where there is none
    const rh_paper__method *method;
    const rh_paper__data *data;
    int log;          // number of the log, from 0
    int after;        // index of a cell that must be done before; -1: none
    int64_t nstep;    // learning steps, foreseen
    double cost;      // seconds, foreseen
    char name[120];   // file name without ending
    bool taken, done; // being done, done
    bool skipped;     // of another part, and not needed by this one
    rh_state *result; // owned; NULL until done
};

// Add a cell unless there is one of its name; returns its index, -1 without memory. The caller
// fills everything but name, taken, done and result.
int rh_paper__add(rh_paper *paper, rh_paper__cell cell);

// The index of the cell with this what, problem, method, data and log; -1: none.
int rh_paper__find(const rh_paper *paper, const rh_paper__cell *like);

// Numbers of a finished cell: the array, and its length. NULL: there is none. Every cell has
// "steps" (1), its learning steps. Nullable: n.
const double *rh_paper__array(const rh_paper *paper, int cell, const char *name, size_t *n);

// ---------------------------------------------------------------------------- kinds of cells

// True scores of all settings of a problem: "x" (n x param), "score" (n x runs).
int rh_paper__truth(rh_paper *paper, const rh_paper__problem *problem);
// A setting chosen from a log: "chosen" (param), "value" (1), "x" (n x param), "estimate" (n),
// "runs" (n); where the method is continuous, "deployed" (runs).
int rh_paper__choice(rh_paper *paper, const rh_paper__problem *problem,
                     const rh_paper__data *data, const rh_paper__method *method, int log);

// Collect log number `log`, and a second one of start states. Owned: *out, *starts.
rh_status rh_paper__collect(rh_log **out, rh_log **starts, const rh_paper *paper,
                            const rh_paper__world *world, const rh_paper__data *data, int log,
                            rh_error *err);
// The simulator of a world. Owned: *out.
rh_status rh_paper__env(rh_env **out, const rh_paper *paper, const rh_paper__world *world,
                        bool random, rh_error *err);
// A plan with what problem and battery set. Owned: *out.
rh_status rh_paper__plan(rh_plan **out, const rh_paper *paper, rh_plan_command command,
                         const rh_paper__problem *problem, rh_error *err);
rh_status rh_paper__set(rh_plan *plan, const rh_setting *set, rh_error *err);
// Values of the recorded parameters of a problem in hp, into x (param).
void rh_paper__recorded(const rh_paper__problem *problem, const rh_agent_type *agent,
                        const double *hp, double *x);

// All settings of a problem with a grid.
typedef struct rh_paper__settings {
    const rh_agent_type *agent;
    int n;      // at most RH_PAPER__NSETTING
    double *hp; // owned: all hyperparameters       (n x nparam of the agent)
    double *x;  // owned: the recorded ones         (n x param)
} rh_paper__settings;
enum { RH_PAPER__NSETTING = 64 };
rh_status rh_paper__settings_of(rh_paper__settings *out, const rh_paper *paper,
                                const rh_paper__problem *problem, rh_error *err);
void rh_paper__settings_clear(rh_paper__settings *settings);
int rh_paper__nparam(const rh_paper__problem *problem);
int64_t rh_paper__nstep(const rh_paper *paper, const rh_paper__world *world);
int rh_paper__nrun(const rh_paper *paper, const rh_paper__problem *problem); // in a model
int rh_paper__ntrue(const rh_paper *paper); // runs of a setting in the simulator, at most
enum { RH_PAPER__NTRUE = 30 };              // so many
int rh_paper__nsetting(const rh_paper *paper, const rh_paper__problem *problem);

// What a table of true scores says: means, the best, the median, and which settings are
// statistically tied with the best.
typedef struct rh_paper__table {
    int n, best;
    double mean[RH_PAPER__NSETTING], error[RH_PAPER__NSETTING];
    bool tied[RH_PAPER__NSETTING];
    double median;
} rh_paper__table;

// Run n settings hp (n x nparam) of an agent in the simulator of a world: score (n x ntrue).
// how may be NULL, or have an initial state, agents that do not learn, and a cut-off.
rh_status rh_paper__deploy(const rh_paper *paper, const rh_paper__world *world,
                           const rh_agent_type *agent, int n, const double *hp,
                           const rh_eval_options *how, double *score, rh_error *err);

// The paper's kNN model of the Laplacian of a log, fitted once for all methods that use it: its
// cell, and the model of it. Owned: *out.
int rh_paper__model_cell(rh_paper *paper, const rh_paper__world *world,
                         const rh_paper__data *data, int log);
rh_status rh_paper__model(rh_model **out, const rh_paper *paper, int cell, rh_error *err);
// The settled plan of a method on a log. Owned: *out.
rh_status rh_paper__plan_of(rh_plan **out, const rh_paper *paper,
                            const rh_paper__problem *problem, const rh_paper__method *method,
                            int number, const rh_log *log, rh_error *err);
// The state of the agent with the best of how->nrun runs in env. Owned: *out.
rh_status rh_paper__learn(rh_state **out, rh_env *env, const rh_eval_options *how,
                          const rh_agent_type *agent, const double *hp, rh_error *err);
// All hyperparameters hp of the setting whose recorded ones are x (param).
rh_status rh_paper__setting_of(const rh_paper *paper, const rh_paper__problem *problem,
                               const double *x, const rh_agent_type **agent, double *hp,
                               rh_error *err);

// Experiment 4 with agents that do not begin from nothing (initial.c).
void rh_paper__initials(rh_paper *paper, const rh_paper__data *data);
void rh_paper__draw_initials(rh_paper *paper, const rh_paper__data *data, int ndata,
                             const char *const *title, const rh_paper__table *table,
                             double (*chosen)[RH_PAPER_MOST_LOGS]);

// How the logged policies of Experiment 4 fail (failures.c).
void rh_paper__failures(rh_paper *paper, const rh_paper__data *data);
void rh_paper__draw_failures(rh_paper *paper, const rh_paper__data *near,
                             const rh_paper__data *random);

// Replay evaluators and parts of the true environment, for every log; and their figure beside
// the true scores of the paper's choices knn (nlog).
void rh_paper__baselines(rh_paper *paper, const rh_paper__problem *problem,
                         const rh_paper__data *data);
void rh_paper__draw_baselines(rh_paper *paper, const char *id, const char *title,
                              const rh_paper__problem *problem, const rh_paper__data *data,
                              const double *knn);

// Policies that fitted Q iteration learns from every log of near-optimal data; and their mean
// true scores y (nlog): "deployed", with a limit of 2,000 steps per episode, or "unlimited"; in
// the changed Acrobot "changed", "changed_unlimited".
void rh_paper__policies(rh_paper *paper, const rh_paper__problem *problem, bool network);
void rh_paper__policy_scores(const rh_paper *paper, const rh_paper__problem *problem,
                             bool network, const char *what, double *y);

// Methods that several experiments use.
extern const rh_paper__method rh_paper__knn, rh_paper__knn_grid, rh_paper__network,
    rh_paper__default;
extern const rh_paper__problem rh_paper__esarsa_acrobot, rh_paper__esarsa_puddle,
    rh_paper__esarsa_cartpole, rh_paper__esarsa_changed;
extern const rh_paper__data rh_paper__near_5000;

// ---------------------------------------------------------------------------- results

#define RH_PAPER__NSERIES 16

// A statistic and its 95 % interval.
typedef struct rh_paper__interval {
    double value, lo95, hi95;
    int n; // logs it is computed from
} rh_paper__interval;

typedef enum rh_paper__draw { RH_PAPER__BOX, RH_PAPER__BAR, RH_PAPER__DOTS } rh_paper__draw;

// One box, bar or cloud of a figure.
typedef struct rh_paper__series {
    char name[64];
    int n;              // numbers; for boxes and bars one per log, NAN where there is none
    double *y;          // owned                                    (n)
    double released[3]; // the authors' quartiles and median; NAN: none
} rh_paper__series;

typedef struct rh_paper__figure {
    const char *experiment, *id;
    char title[120];
    const char *about;
    rh_paper__draw draw;
    double best; // the true best setting; NAN: no line
    rh_paper__series series[RH_PAPER__NSERIES];
    int nseries;
} rh_paper__figure;

// A line of a table: what was measured, ours, and the authors'.
typedef struct rh_paper__fact {
    const char *experiment;
    char what[160];
    double ours, error; // and its standard error; NAN: none
    double theirs;      // NAN: none
    char note[200];
} rh_paper__fact;

// The next figure; borrowed until the next. NULL without memory, and the battery knows.
rh_paper__figure *rh_paper__figure_add(rh_paper *paper, const char *id, const char *title,
                                       const char *about, rh_paper__draw draw, double best);
// A series of n numbers, copied. Returns its index, or -1.
int rh_paper__series_add(rh_paper *paper, rh_paper__figure *figure, const char *name,
                         const double *y, int n);
void rh_paper__released(rh_paper__figure *figure, int series, double q25, double median,
                        double q75);
void rh_paper__fact_add(rh_paper *paper, const char *what, double ours, double error,
                        double theirs, const char *note);

// The cell of a choice; -1: none.
int rh_paper__choice_of(const rh_paper *paper, const rh_paper__problem *problem,
                        const rh_paper__data *data, const rh_paper__method *method, int log);
// True score of the choice of a cell, in the table of `problem` or as deployed. NAN: none.
double rh_paper__true_of(const rh_paper *paper, int cell, const rh_paper__problem *problem);
// The same of every log: y (nlog), NAN where a log has no such cell. Returns how many have.
int rh_paper__true_of_logs(const rh_paper *paper, const rh_paper__problem *problem,
                           const rh_paper__data *data, const rh_paper__method *method,
                           const rh_paper__problem *table, double *y);
// Add a series of these to a figure, if there is any such cell. Returns how many logs have one.
int rh_paper__column(rh_paper *paper, rh_paper__figure *figure, const char *title,
                     const rh_paper__problem *problem, const rh_paper__data *data,
                     const rh_paper__method *method, const rh_paper__problem *table, double *y);
// On how many logs the choice is the best of the table or statistically tied with it.
rh_paper__interval rh_paper__as_good_as_best(const rh_paper *paper,
                                             const rh_paper__problem *problem,
                                             const rh_paper__data *data,
                                             const rh_paper__method *method);
// A choice of every log; of the first ncostly where the method is costly.
void rh_paper__choices(rh_paper *paper, const rh_paper__problem *problem,
                       const rh_paper__data *data, const rh_paper__method *method);
// False: there is no table yet.
bool rh_paper__table_of(const rh_paper *paper, const rh_paper__problem *problem,
                        rh_paper__table *table);
int rh_paper__row_of(const rh_paper *paper, const rh_paper__problem *problem, const double *x);
// True scores of settings drawn at random, one for each log: y (nlog).
void rh_paper__random(const rh_paper *paper, const rh_paper__problem *problem, double *y);

// ---------------------------------------------------------------------------- claims

// A statistic of several series of n logs each, and where its interval must lie.
typedef double (*rh_paper__statistic)(const double *const *y, int n, double *work);

// By 2,000 bootstrap samples of logs; series are sampled together. Up to 4 series.
rh_paper__interval rh_paper__bootstrap(const double *const *y, int nseries, int nlog,
                                       rh_paper__statistic statistic);
// Wilson's interval of k in n.
rh_paper__interval rh_paper__wilson(int k, int n);

double rh_paper__of_medians(const double *const *y, int n, double *work); // median 0 - median 1
double rh_paper__of_median(const double *const *y, int n, double *work);
double rh_paper__of_mean(const double *const *y, int n, double *work);
double rh_paper__of_spreads(const double *const *y, int n, double *work);  // IQR 0 - IQR 1
double rh_paper__of_outliers(const double *const *y, int n, double *work); // count 0 - count 1

// A claim that holds if the interval is above (below) the limit, fails if it is below (above),
// and is open otherwise. measured: printf-like.
typedef enum rh_paper__side { RH_PAPER__ABOVE, RH_PAPER__BELOW } rh_paper__side;
void rh_paper__claim(rh_paper *paper, const char *id, const char *sentence, const char *rule,
                     rh_paper__interval interval, rh_paper__side side, double limit,
                     const char *measured, ...) RH_PRINTF(8, 9);
// "A does better than B": the difference of the medians of two series is above 0.
void rh_paper__claim_better(rh_paper *paper, const char *id, const char *sentence,
                            const char *a, const double *ya, const char *b, const double *yb);

// ---------------------------------------------------------------------------- the battery

typedef struct rh_paper__part {
    rh_paper_experiment is;
    void (*list)(rh_paper *paper); // add its cells
    void (*draw)(rh_paper *paper); // figures, facts and claims of finished cells
} rh_paper__part;

extern const rh_paper__part rh_paper__exp1, rh_paper__exp2, rh_paper__exp3, rh_paper__exp4,
    rh_paper__exp5, rh_paper__raw, rh_paper__actor_critic, rh_paper__fqi, rh_paper__theory;

struct rh_paper {
    rh_paper_options opt;
    char *folder; // owned
    char *name;   // owned: what was asked for
    const rh_paper__part *part[16];
    int npart;
    const rh_paper__part *now; // that lists or draws
    rh_paper__cell *cell;      // owned                       (ncell)
    int ncell, room;
    rh_paper__figure *figure; // owned                       (nfigure)
    int nfigure, figure_room;
    rh_paper__fact *fact; // owned                           (nfact)
    int nfact, fact_room;
    rh_paper_claim *claim; // owned                          (nclaim)
    int nclaim, claim_room;
    rh_paper_cost cost;
    bool bad; // memory ran out
};

// "FOLDER/sub/name of the cell.ending"; false without memory.
bool rh_paper__path(const rh_paper *paper, int cell, const char *sub, const char *ending,
                    rh_text *path);
// Do all cells on opt.nthread threads.
rh_status rh_paper__work(rh_paper *paper, rh_error *err);
// Read the result of a cell if its file is there and whole; true if it is.
bool rh_paper__read(rh_paper *paper, int cell);
rh_status rh_paper__keep(const rh_paper *paper, int cell, const rh_state *result,
                         rh_error *err);
// What cells took: work.csv of the folder.
void rh_paper__read_work(rh_paper *paper);
rh_status rh_paper__note_work(rh_paper *paper, int cell, double wall, double cpu,
                              rh_error *err);
rh_status rh_paper__write(rh_paper *paper, rh_error *err);

#endif
