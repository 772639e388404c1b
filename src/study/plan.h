// plan.h - the plan: what was set, key by key, and the fields worked out from it.
//
//     file, options ──set──▶ items ──resolve──▶ fields of rh_plan ──▶ entries ──▶ a file
//                              ▲                    ▲                   ▲
//                              └───────── the table of keys (plan_table.c) ──▶ help, docs
//
// The book keeps one item per key, in the order set; a later one replaces an earlier one.
// rh_plan_check() and rh_plan_settle() work the fields out anew from it.

#ifndef REHEARSE_STUDY_PLAN_H
#define REHEARSE_STUDY_PLAN_H

#include "base/findings.h"
#include "describe/key.h"
#include "kinds.h"
#include "rehearse/study.h"
#include "repr/repr.h"
#include "study.h"

// ---------------------------------------------------------------------------- the plan

// A sensor's range, or its limits.
typedef struct rh_plan__range {
    char *sensor;  // owned
    double lo, hi; // of limits NAN: none
} rh_plan__range;

// How settings are ranked.
typedef enum rh_plan__ranking {
    RH_RANKING__SOUND, // those with diverged runs last; of nearly equal ones the first leads
    RH_RANKING__VALUE  // by value alone, ties drawn at random
} rh_plan__ranking;

// What the 95 % intervals of confirmed settings allow for.
typedef enum rh_plan__interval {
    RH_INTERVAL__ALL, // the runs, rare failures, the log and errors of the model
    RH_INTERVAL__RUNS // the runs
} rh_plan__interval;

// Agents that are compared in one study, at most, and what is `auto` before a log is known.
#define RH_PLAN__AGENTS 8
#define RH_PLAN__CLONE "clone"         // the logged controller, imitated
#define RH_PLAN__PRACTISED "practised" // what was practised in a model, frozen
typedef struct rh_plan__agents {
    const rh_agent_type *type[RH_PLAN__AGENTS]; // (n)
    int n;
    bool automatic; // those that take the log's actions
} rh_plan__agents;

typedef struct rh_plan__book rh_plan__book;

struct rh_plan {
    rh_plan_command command;
    char *name;                     // of the study, owned; NULL: none
    char *data;                     // the log, or model:FILE, owned; NULL
    char *starts;                   // a log whose episodes begin where runs do, owned; NULL
    int preset;                     // of rh_plan__preset_name(); 0: none
    bool accept[RH_FINDINGS__NLOG]; // errors of the log that are accepted, by their id
    char *setting;                  // best.yaml that was entered, owned; NULL: none

    // the agents and what is searched; known once settled
    rh_plan__agents agents;     //
    const rh_agent_type *agent; // the first; NULL before: depends on the log's actions
    double *hp;                 // of what is not searched, owned  (nparam of all agents)
    int hp_at[RH_PLAN__AGENTS]; // where those of each agent begin
    rh_space space;             // names and values owned by the plan. Of several agents the
                                // first dimension is the agent, by its number
    struct {
        int agent; // -1: of none, the choice among them
        int param; // of the agent
        rh_plan__form form;
    } dim[RH_MAX_DIM];                           // of each dimension          (ndim)
    const char *agent_name[RH_PLAN__AGENTS + 1]; // for `which`
    rh_param which;                              // the choice among agents, as a parameter

    // the search
    const rh_search_type *method; // NULL before it is settled: race or bayes
    double *method_param;         // owned                                (nparam of the method)
    int trials;                   // settings to try
    int batch;                    // settings at a time
    rh_plan__ranking ranking;

    // the evaluation
    int64_t nstep;  // steps of a run; 0: the task's own
    int nrun;       // runs of a setting in each member
    int64_t cutoff; // 0: a thirtieth of the run or twice the log's median episode, the larger;
                    // INT64_MAX: never; below 0: that part of the run, -30 a thirtieth
    rh_cutoff_rule cutoff_rule;
    rh_criterion criterion; // run to score
    rh_across across;       // runs to value
    rh_pool pool;           // members to value
    int ncurve;             // points of a learning curve

    // where agents run
    const rh_env_type *env;     // a simulator; NULL: a model
    const rh_model_type *model; // NULL: auto, chosen among the candidates
    double *model_param; // owned; NULL where model is                    (nparam of the model)
    rh_model_trial *candidate; // owned: models to choose from, the simplest first (ncandidate)
    int ncandidate;            //
    rh_model_options
        fit; // of which a plan says nmember, resample, share, gamma, episodes, resets
    const rh_repr_type *repr; // NULL: chosen by rh_repr__choose_kind(), or with the model
    bool repr_given;          // the kind was asked for
    bool repr_open;           // it is chosen with the model
    double *repr_param;       // owned; NULL where repr is                (nparam of it)
    bool joint;
    int circles;                // sensors that wrap round are points on a circle
    const rh_env_type *task_of; // whose task is used; NULL: what the log shows
    double *task_opt;           // owned; NULL where task_of is           (nparam of it)
    rh_plan__range *range;      // owned                                       (nrange)
    int nrange;
    rh_plan__range *limit; // owned                                       (nlimit)
    int nlimit;

    // what is asked for beside the score
    char *at_most; // limits, owned; NULL: none
    char *also;    // further scores, owned; NULL: none
    double sure;   // confidence with which limits are kept

    // the confirmation
    int confirm_settings; // 0: none
    int confirm_members;  // models, each of another part of the log
    int confirm_runs;     // in each of them
    int confirm_kinds;    // kinds of model: RH_KINDS__AUTO, or those that are named
    rh_plan__interval interval;
    int check_runs;   // of a setting in each model of the check; 0: no check
    double time;      // seconds that the study may take; 0: as many as its settings need
    int64_t practice; // steps of practice in a model before agents begin; 0: none

    uint64_t seed;
    rh_prior prior;      // owned: what agents of best.yaml begin with
    rh_tiled tiled;      // of best.yaml: what its tile coders use
    rh_plan__book *book; // owned
};

// ---------------------------------------------------------------------------- the book

typedef struct rh_plan__line {
    char *key, *value; // owned
    bool open;
} rh_plan__line;

struct rh_plan__book {
    rh_key__said *said; // owned, in order                 (nsaid)
    int nsaid, room;
    rh_yaml **tree; // owned: what said's values are in (ntree)
    int ntree, tree_room;
    rh_yaml *preset;     // owned: the file of the preset; NULL: none
    int nfile;           // files read
    rh_plan__line *line; // owned: the entries          (nline)
    int nline, line_room;
    bool lost; // an entry, for lack of memory
};

// Enter value under key, in place of an earlier one. Copied: key, shown, where.
// Borrowed: value. A file that sets a key twice is refused.
rh_status rh_plan__say(rh_plan *plan, const char *key, const char *shown, const rh_yaml *value,
                       const char *where, int file, rh_error *err);
// The tree becomes the book's, or is destroyed where memory runs out.
rh_status rh_plan__keep(rh_plan *plan, rh_yaml *tree, rh_error *err);
const rh_key__said *rh_plan__said(const rh_plan *plan, const char *key); // NULL: nothing
const char *rh_plan__behind(const char *key, const char *prefix); // NULL: it begins otherwise
// The next open item below a section, "model.", from *at on; NULL: there is none. *name: behind
// the section.
const rh_key__said *rh_plan__below(const rh_plan *plan, const char *section, int *at,
                                   const char **name);

rh_status rh_plan__no_memory(rh_error *err);

// ---------------------------------------------------------------------------- keys

// A row of the table: the key, and what the plan does with it.
typedef struct rh_plan__row {
    rh_key__row key; // fills a field of rh_plan
    bool fit;        // about fitting a model: refused beside model:FILE
    // Entries of their own (sections with names). NULL: one entry where there is a field.
    void (*enter)(rh_plan *plan);
    bool (*when)(const rh_plan *plan); // whether there is an entry; NULL: always
    bool (*open)(const rh_plan *plan); // whether a study can be resumed with another value
} rh_plan__row;

const rh_plan__row *rh_plan__row_at(int i); // NULL after the last

// The row of a full key, "model.*" for "model.weights"; NULL: none.
const rh_plan__row *rh_plan__row_of(const char *key);

// The full key: "runs" is "evaluation.runs". False: there is no such key, and err says so.
bool rh_plan__key(const char *key, char *full, size_t size, const char *where, rh_error *err);

// Whether a full key waits for what else is set before it is understood: "parameters.alpha".
bool rh_plan__is_open(const char *key);

// Read the value of a key that needs nothing else into its field. Other keys are left alone.
rh_status rh_plan__take(rh_plan *plan, const rh_key__said *said, rh_error *err);

// The keys that are known below a section of the file, "" for the top. Returns how many.
#define RH_PLAN__NKEYS 64
int rh_plan__known(const char *section, const char *known[RH_PLAN__NKEYS]);
// The section that has this key, where it is only in one: "evaluation" of "runs". NULL: none.
const char *rh_plan__section_of(const char *name);

// ---------------------------------------------------------------------------- the log's errors

// Names of findings of a log, as a list or between commas, into bool[RH_FINDINGS__NLOG].
// plan_accept.c
rh_status rh_plan__read_accept(void *field, const rh_key__said *said, rh_error *err);
void rh_plan__show_accept(const void *field, rh_text *text);
bool rh_plan__accepts(const rh_plan *plan); // any

// ---------------------------------------------------------------------------- limits

// Limits, or further scores: a text, or a list of texts. plan_limits.c
rh_status rh_plan__read_pieces(void *field, const rh_key__said *said, rh_error *err);
void rh_plan__show_pieces(const void *field, rh_text *text);
// Whether they can be counted; of formulas, once there is a log. Nullable: log.
rh_status rh_plan__check_limits(const rh_plan *plan, const rh_log *log, rh_error *err);

// ---------------------------------------------------------------------------- plug-ins

// Load what the key names. plan_plugins.c
rh_status rh_plan__read_plugins(void *plan, const rh_key__said *said, rh_error *err);
// A hash of the plug-ins that the plan uses; 0: none.
uint64_t rh_plan__plugin_hash(const rh_plan *plan);
// The line of a file that loads them; nothing without any. from_root: by whole paths, for a
// file that is read from other folders.
void rh_plan__write_plugins(const rh_plan *plan, bool from_root, rh_text *text);

// ---------------------------------------------------------------------------- files

// Take over a tree of YAML, or that of bytes (n). path: for messages, and where paths start
// from.
rh_status rh_plan__take_file(rh_plan *plan, rh_yaml *root, const char *path, rh_error *err);
rh_status rh_plan__parse(rh_plan *plan, const void *bytes, size_t n, const char *path,
                         rh_error *err);

// rh_plan_try()'s text as a tree. RH_EINVAL without a message: none of its forms. Owned: *out.
rh_status rh_plan__trial(const char *text, rh_yaml **out);

// ---------------------------------------------------------------------------- working it out

// Values of a parameter table, all initial ones. Owned: *param, whose old block is freed.
rh_status rh_plan__initial(double **param, const rh_param *table, int nparam, rh_error *err);

// One of them, from the item set under `name`.
rh_status rh_plan__value(const rh_param *table, int nparam, const char *owner, const char *name,
                         const rh_key__said *said, double *param, rh_error *err);

// All of them that were set below a section, "env.".
rh_status rh_plan__values(const rh_plan *plan, const char *section, const rh_param *table,
                          int nparam, const char *owner, double *param, rh_error *err);

// Whether the data is a model that was fitted before, model:FILE.
#define RH_PLAN__MODEL "model:"
bool rh_plan__is_fitted(const rh_plan *plan);

// The model, the representation, the task. log: NULL before there is one.
rh_status rh_plan__parts(rh_plan *plan, const rh_log *log, rh_error *err);

// The values to try of one parameter of an agent. Where nvalue is 1, only this one.
typedef struct rh_plan__axis_spec {
    const rh_key__said *said; // NULL: by default
    bool given;               //
    rh_plan__form form;       //
    rh_dim dim;               // as the search sees it, without a name
    double *value;            // owned: of the dim; NULL for a range         (nvalue of dim)
    double fixed;             // the value that is no axis, as the agent sees it
} rh_plan__axis_spec;

// Read the item of parameter p of `owner` into a zeroed axis.
rh_status rh_plan__axis(rh_plan__axis_spec *axis, const rh_param *p, const char *owner,
                        const rh_key__said *said, rh_error *err);
// The number of the dim as the agent sees it.
double rh_plan__formed(rh_plan__form form, double x);

// Put the ranges that were set into lo and hi (nobs) of these sensors. Nullable: lo, hi.
rh_status rh_plan__place(const rh_plan *plan, const char *const *name, int nobs, double *lo,
                         double *hi, rh_error *err);
// The same for the sensors of a log and behind them its actions if they are continuous; lo and
// hi: (nobs + nact).
rh_status rh_plan__place_in(const rh_plan *plan, const rh_log *log, double *lo, double *hi,
                            rh_error *err);
// The same for limits.
rh_status rh_plan__place_limits(const rh_plan *plan, const char *const *name, int nobs,
                                double *lo, double *hi, rh_error *err);

// What the models of the confirmation are fitted to. parts: the search's are fitted to parts of
// the log, drawn by `resample`.
void rh_plan__fresh(const rh_plan *plan, bool parts, rh_resample resample,
                    rh_model_options *opt);

// Fit another kind of model to the log. Uses nmember, resample, share and seed of `parts`.
// like: whose representation a kind without one of its own uses, and whose log is shared if it
// is the same.
rh_status rh_plan__fit_kind(rh_model **out, const rh_plan *plan, const rh_kinds__kind *kind,
                            const rh_model *like, const rh_log *log, const rh_fit_options *how,
                            const rh_model_options *parts, rh_error *err);
// The same without members.
rh_status rh_plan__prepare_kind(rh_model **out, const rh_plan *plan, const rh_kinds__kind *kind,
                                const rh_model *like, const rh_log *log,
                                const rh_fit_options *how, const rh_model_options *parts,
                                rh_error *err);

// plan_choose.c: the models to choose from, after the model and the representation are known.
rh_status rh_plan__candidates(rh_plan *plan, const rh_log *log, rh_error *err);
// The value of a model's parameter, reach in its own forms, into param (nparam of the type).
rh_status rh_plan__model_value(const rh_model_type *type, double *param, const char *name,
                               const rh_key__said *said, rh_error *err);
// All of them that were set.
rh_status rh_plan__model_values(const rh_plan *plan, const rh_model_type *type, double *param,
                                rh_error *err);

// plan_agents.c: the key agent, and the agents of a log where it does not name them.
rh_status rh_plan__read_agents(void *field, const rh_key__said *said, rh_error *err);
void rh_plan__show_agents(const void *field, rh_text *text);
rh_status rh_plan__choose_agents(rh_plan *plan, const rh_log *log, rh_error *err);
// The agent of a setting, by its number; x NULL: the first.
int rh_plan__agent_of(const rh_plan *plan, const double *x);
// Its hyperparameters that are not searched (nparam); the others are initial values.
const double *rh_plan__own(const rh_plan *plan, int agent);
// What a run costs, relative to the most expensive agents.
double rh_plan__cost(const rh_agent_type *type);

// What a setting x (ndim) counts of --trials: its agent's cost, of the most expensive one's.
double rh_plan__share(const rh_plan *plan, const double *x);
// The dimensions of one agent as a space, borrowed, and their numbers dim (ndim).
void rh_plan__branch(const rh_plan *plan, int agent, rh_space *space, int *dim);

// The search of a plan with these options. Of several agents, the defaults of each are tried
// first, and a setting of a cheap one counts for less of the budget. Owned: *out.
struct rh_search__options;
rh_status rh_plan__search(const rh_plan *plan, struct rh_search__options opt, rh_search **out,
                          rh_error *err);

// Free what rh_plan_check() and rh_plan_settle() work out anew.
void rh_plan__clear_fields(rh_plan *plan);

// The agent, hp and space. An agent has been chosen.
rh_status rh_plan__space(rh_plan *plan, rh_error *err);
void rh_plan__clear_space(rh_plan *plan);
// A published grid, "acrobot:paper", or "paper" of `here`. Nullable: here; agent, for any.
rh_status rh_plan__check_grid(const rh_key__said *said, const rh_env_type *here,
                              const rh_agent_type *agent, const rh_env_type **env,
                              const char **name, rh_error *err);

// The entries of a settled plan: all of them, and those of a section with names.
rh_status rh_plan__enter(rh_plan *plan, rh_error *err);
void rh_plan__enter_fixed(rh_plan *plan);
void rh_plan__enter_space(rh_plan *plan);
void rh_plan__enter_method(rh_plan *plan);
void rh_plan__enter_model(rh_plan *plan);
void rh_plan__enter_repr(rh_plan *plan);
void rh_plan__enter_task(rh_plan *plan);
void rh_plan__enter_ranges(rh_plan *plan);
void rh_plan__enter_limits(rh_plan *plan);
void rh_plan__clear_lines(rh_plan__book *book);

// ---------------------------------------------------------------------------- presets

// A file of presets/; presets.c, which cmake/texts.cmake writes, ends with one without a
// name.
typedef struct rh_preset__text {
    const char *name, *text;
} rh_preset__text;
extern const rh_preset__text rh_preset__file[];

const char *rh_plan__preset_name(int i); // 0: "none"; NULL after the last
// The preset that was set becomes the plan's, with its keys that have a field.
rh_status rh_plan__read_preset(rh_plan *plan, rh_error *err);
const rh_yaml *rh_plan__preset(const rh_plan *plan, const char *key); // NULL: it has none

#endif
