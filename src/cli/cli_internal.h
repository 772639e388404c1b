// cli_internal.h - what the files of the program share.
//
// A command is one constant in one file, cmd_<name>.c, and one line in main.c. Options of the
// plan and of a log are rows of the library's tables, the others rows of the command's own:
// parsing, --help, the manual page and the completions read them. Functions that can fail print
// the reason on standard error and return the program's exit code.

#ifndef CLI_INTERNAL_H
#define CLI_INTERNAL_H

#include "base/file.h"
#include "describe/field.h"
#include "model/model.h"
#include "recipe.h"
#include "rehearse/rehearse.h"

#include <stdio.h>

enum {
    CLI_OK = 0,
    CLI_FAILED = 1,  // the work could not be done
    CLI_USAGE = 2,   // the command line, an input or an output was refused
    CLI_SIGNAL = 128 // plus the number of the signal that ended the work early
};

// ---------------------------------------------------------------------------- commands

typedef struct cli_group {
    const char *title;
    const rh_key *option; // ends with one that has no name
} cli_group;

typedef struct cli_args cli_args;
typedef struct cli_grid cli_grid;

typedef struct cli_command {
    const char *name;
    const char *about;          // one line
    const char *operands;       // as the usage line writes them
    const char *detail;         // a paragraph; NULL for none
    rh_key operand;             // what the first of them is: a file or a name
    rh_plan_command plan;       // has the options of this command in the plan's table; 0: none
    const cli_group *group[10]; // its own options, ends with NULL
    const char *example[9]; // pairs of what it does and the line that does it; ends with NULL
    const char *see;        // where to read on; NULL for nowhere
    bool single;            // refuses to be one of several processes
    void (*before)(void);   // called before its command line is read; NULL for nothing
    const char *program;    // a part that does its work; NULL: main does
    int (*main)(const cli_args *args);
} cli_command;

extern const cli_command cli_tune, cli_report, cli_deploy, cli_inspect, cli_convert,
    cli_collect, cli_fit, cli_run, cli_sweep, cli_export, cli_paper, cli_list, cli_help,
    cli_completion, cli_manual;
// Shared tables.
extern const cli_group cli_runs_group, cli_best_group, cli_log_group, cli_common_group;

// Headings of the plan's options that commands add their own to.
#define CLI_MAIN "main options"
#define CLI_TASK "task"

// The program in one line.
#define CLI_TAGLINE "choose hyperparameters of a learning agent from a log"

// Describe --model auto and --repr auto, the choice among the kinds.
#define CLI_AUTO_MODEL "the kind that replays held-out stretches of the log best"
#define CLI_AUTO_ABOUT "the one of these with the highest dynamics awareness"

#define CLI_MAX_NAMES 96

const cli_command *cli_command_at(int i); // of the program; NULL after the last
const cli_command *cli_command_find(const char *name);

// Read the words of a command's line and do what they ask for.
int cli_command_run(const cli_command *command, int argc, char **argv);
// The same by the command's program, in place of this one. Returns only on failure.
int cli_start(const cli_command *command, int argc, char **argv);
// A program from its beginning to its exit code.
int cli_main(int argc, char **argv, int (*dispatch)(int argc, char **argv));

// The names that an argument is chosen from. Returns how many.
int cli_names(const rh_key *key, const char *name[CLI_MAX_NAMES]);
const rh_key *cli_plan_key(const char *key);       // of the plan
const char *cli_plan_word(const char *key, int i); // a name of it
// Names for rows: commands, simulators, formats to write.
const char *cli_command_name(int i);
const char *cli_env_name(int i);
const char *cli_write_format(int i);

// The options of a command, those of a heading together; NULL after the last.
const rh_key *cli_option_at(const cli_command *command, int i);
const char *cli_option_title(const cli_command *command, int i);
// Append what follows the description of an option: " (auto, point, comma)" of a choice.
void cli_option_choices(const rh_key *option, char *text, size_t size);

// ---------------------------------------------------------------------------- arguments

typedef struct cli_given {
    const rh_key *option;
    const char *value; // as written; NULL when the option takes none
    int64_t number;    // the program's own: a whole number, or the place among the names
} cli_given;

// A command line, read and checked against the command's table.
struct cli_args {
    const cli_command *command;
    cli_given *given; // options in the order written, owned  (ngiven)
    int ngiven;
    const char **word; // operands, owned                     (nword)
    int nword;
    bool help; // help was asked for: nothing else was read
};

int cli_args_init(cli_args *args, const cli_command *command, int argc, char **argv);
void cli_args_clear(cli_args *args);

// The option called `name`: whether it was given, what was written, and its number or choice.
bool cli_has(const cli_args *args, const char *name);
const char *cli_value(const cli_args *args, const char *name); // NULL when not given
int64_t cli_number(const cli_args *args, const char *name, int64_t otherwise);

// The next value of a repeated option at or after *at, which moves on; NULL after the last.
const char *cli_each(const cli_args *args, const char *name, int *at);

// The value of an option, those of a repeated one joined by "; ". Owned: *joined.
const char *cli_value_of(const cli_args *args, const rh_key *key, char **joined);

// Split "name=value": the name is copied, the value points behind the '='. False without one.
bool cli_split(const char *pair, char name[64], const char **value);

// All operands, one on each line: several logs of one plant. Owned: *paths, also on failure.
int cli_words(char **paths, const cli_args *args);

// A checked plan from the one operand, a study file or the value of the key `operand`, and from
// the options. Owned: *plan, also on failure where it is not NULL.
int cli_plan_init(rh_plan **plan, const cli_args *args, const char *operand);
int cli_plan_set(rh_plan *plan, const cli_args *args); // the options alone

// ---------------------------------------------------------------------------- plug-ins

// Load what --plugin names on this line, before it is read: its names are then known.
int cli_plugins_load(int argc, char **argv);

// From here on, a crash in a plug-in is reported as such.
void cli_catch_crashes(void);

// ---------------------------------------------------------------------------- messages, text

void cli_say(const char *format, ...) RH_PRINTF(1, 2);   // "rehearse: ...", on standard error
void cli_try(const char *format, ...) RH_PRINTF(1, 2);   // "try: ...", after a message
int cli_refuse(const char *format, ...) RH_PRINTF(1, 2); // say it, and CLI_USAGE
int cli_fail(const char *format, ...) RH_PRINTF(1, 2);   // say it, and CLI_FAILED
int cli_pass(rh_status status, const rh_error *err);     // the library's message, and its code
// The same for a file that the user named, to read or to write: an error of the system is
// CLI_USAGE.
int cli_pass_file(rh_status status, const rh_error *err);
void cli_hush(bool hushed); // print none of these from here on: another rank does

// Print on stdout, cursor at `column`: lines break before `width`, indented by `column`.
void cli_wrap(const char *text, int column, int width);

// A short text by value, so that several fit into one printf: cli_count(n).s
typedef struct cli_text {
    char s[40];
} cli_text;

cli_text cli_count(int64_t n);                       // 15,000
cli_text cli_real(double x, int ndecimal);           // -117.8
cli_text cli_exact(double x);                        // the fewest digits that read back
cli_text cli_param(const rh_param *p, double value); // a number, or the name of a choice
cli_text cli_seconds(double seconds);                // 1m 05s
int cli_decimals(double error, double value);        // that are worth printing
const char *cli_plural(int64_t n);                   // "" or "s"

cli_text cli_cell(double x);      // up to four digits in 9 columns; "-" for none
cli_text cli_share(double share); // 12.5 %
cli_text cli_bytes(int64_t n);    // 549 KB

// The output on standard output: its width, a label at the left, and a line of text beside it.
// A label that begins with a blank is not bold.
#define CLI_LABEL 16 // columns of the labels
int cli_page(void);
void cli_heading(const char *label);
void cli_line(const char *label, const char *format, ...) RH_PRINTF(2, 3);
void cli_remark(const char *format, ...) RH_PRINTF(1, 2); // below a table
// "... 3 more sensors, --all shows all"; nothing when n is 0.
void cli_more(int64_t n, const char *what, const char *option);
void cli_print_word(const char *word); // quoted for a shell

int cli_text_columns(const char *text);
void cli_print_name(const char *name, int columns);                  // padded, or cut with ".."
void cli_sensor_name(const rh_log *log, int sensor, char name[300]); // "temp [degC]"
// Columns for the names of sensors and actions, least to most.
int cli_name_columns(const rh_log *log, int least, int most);
// Append " name=value" of the parameters that differ from their defaults, and of `always`.
void cli_add_set(char *text, size_t size, const rh_param *param, int nparam,
                 const double *value, const char *always);

// The first `shown` of n findings with their remedies. ncount: of each severity.
void cli_findings_print(const rh_finding *finding, int n, int shown, const int *ncount);

// ---------------------------------------------------------------------------- the terminal

bool cli_is_terminal(FILE *stream);
int cli_columns(FILE *stream);
#define CLI_NARROW 60 // the least columns that output is made for
// Of a terminal, or as COLUMNS says; otherwise what to take instead.
int cli_columns_or(FILE *stream, int otherwise);
int cli_rows(FILE *stream);
bool cli_utf8(void);
double cli_now(void); // seconds, monotonic
int cli_ncpu(void);

// Escape sequences, all empty without colour.
typedef struct cli_style {
    const char *bold, *dim, *curve, *alarm, *plain;
} cli_style;

cli_style cli_style_of(FILE *stream);

// From here on SIGINT, SIGTERM and SIGHUP remove temporary files and end the programs of exec:
// before they end this one.
void cli_clean_on_signals(void);

// From here on SIGINT and SIGTERM only set a flag; the second one ends the program.
void cli_catch_signals(void);
int cli_interrupted(void);          // the signal, 0 for none
void cli_line_is_drawn(bool drawn); // whether standard error holds an unfinished line

// ---------------------------------------------------------------------------- files

// Whether the file can be written. streams: accept "-" and devices.
int cli_file_probe(const char *path, bool streams);
// Write what print() prints of `self`, all or nothing; "-" is standard output.
int cli_file_write(const char *path, void (*print)(FILE *out, const void *self),
                   const void *self);
// Whether two names lead to one file, also by links.
bool cli_same_file(const char *a, const char *b);

// ---------------------------------------------------------------------------- JSON

void cli_json_fingerprint(rh_doc *json, const rh_model *model);
// log: with the steps and sensors concerned. Nullable: log.
void cli_findings_json(rh_doc *json, const rh_finding *finding, int n, const rh_log *log);

// ---------------------------------------------------------------------------- a log

// A log and how it was read.
typedef struct cli_log {
    rh_log *log;         // owned
    rh_log_roles *roles; // owned: how it was read
} cli_log;

// Read a log by the options of cli_log_group; a .yaml or .yml path has roles and names the log.
int cli_log_read(cli_log *log, const cli_args *args, const char *path);
// The same with the roles of a file; NULL: of --roles. path NULL: the log that the file names.
int cli_log_read_as(cli_log *log, const cli_args *args, const char *path, const char *roles);
bool cli_is_yaml(const char *path); // by its extension
void cli_log_clear(cli_log *log);

// Inspect the log. Errors that the plan does not accept are refused; words: others and warnings
// are printed. Owned: *report, free with rh_log_report_destroy().
int cli_log_check(rh_log_report **report, const cli_args *args, const rh_plan *plan,
                  const rh_log *log, bool words);

// "log  plant.csv: 641 steps in 11 episodes, 2 sensors, 3 actions", and the same as JSON keys.
void cli_log_print(const rh_log *log, const char *path);
void cli_log_json(rh_doc *json, const rh_log *log, const char *path);
// The steps that were left out, and into how many pieces episodes were cut; nothing if none.
void cli_log_left_out(const rh_log *log);

// The report of `inspect`. size: bytes of the file, 0 when not known. all: lists are not cut.
// facts: NULL if the log has no whole step.
void cli_inspect_print(const rh_log *log, const rh_log_report *report, const rh_facts *facts,
                       const rh_model__past *memory, const rh_experiments *experiments,
                       int64_t size, bool all);
void cli_inspect_json(FILE *out, const rh_log *log, const rh_log_report *report,
                      const rh_facts *facts, const rh_experiments *experiments, int64_t size);

// experiments_print.c: natural experiments, and effects that the log cannot show. more: as
// below; beside: how a model replays from them. Nullable: beside.
void cli_experiments_print(const rh_log *log, const rh_experiments *e,
                           const rh_fidelity_beside *beside, const char *more);

// facts_print.c: resets, limits and what is known of sensors. more: the option that shows all
// of a long list, NULL if all is to be shown. Nullable: facts.
void cli_facts_print(const rh_log *log, const rh_facts *facts, const char *more);

// ---------------------------------------------------------------------------- a fit

// The progress line of work that reports through an rh_watch.
typedef struct cli_work {
    double begun, drawn; // of the piece, on the clock, seconds
    double from;         // its share at the first report, above 0 for later members
    bool quiet, terminal;
    bool visible; // a line is on the terminal
    char what[64];
} cli_work;

rh_watch cli_work_show(cli_work *work, bool quiet);  // signals end the program
rh_watch cli_work_begin(cli_work *work, bool quiet); // signals only set a flag from here on
void cli_work_end(cli_work *work);

// The work of `fit` and its result.
typedef struct cli_fitting {
    const cli_args *args;
    rh_plan *plan; // owned
    cli_log log, starts;
    rh_log_report *report; // of the log, owned
    char *output;          // owned
    rh_repr_trial *trial;  // representations compared, the best first, owned (ntrial)
    int ntrial;
    rh_model *model; // owned
    double seconds;  // duration
    int64_t size;    // bytes of the file
} cli_fitting;

void cli_fit_print(const cli_fitting *fit);
void cli_fit_json(FILE *out, const cli_fitting *fit);

// The comparison that chose a model.
void cli_compared_print(const rh_model_comparison *c, bool continuing);

// ---------------------------------------------------------------------------- a study

// The processes that this one was started with, from the environment variables.
typedef struct cli_launch {
    int count; // processes; 0: several, the number is not known
    int me;    // index of this one
    int local; // processes on this machine, as far as is known
} cli_launch;

cli_launch cli_launched(void);
int cli_launch_jobs(const cli_launch *launch); // threads for one of them

// Start MPI for a command. Processes that do not see each other would each do all of its work.
// Owned: *ranks.
int cli_launch_ranks(const char *command, const cli_launch *launch, rh_ranks **ranks);

#define CLI_GRACE 1     // seconds for the first process to print its message: mpirun ends all
#define CLI_PATIENCE 10 // and for it to end all of them
void cli_launch_pause(int seconds);

// Fail if this is one of several processes: each would do the same work of this command.
int cli_launch_check(const cli_command *command);

// The progress of a study.
typedef struct cli_studying {
    const rh_plan *plan;
    const char *folder;         // as the user named it
    cli_work work;              // while models are fitted
    rh_watch watch;             // of the work
    rh_stage stage;             // the last one reported; RH_NSTAGE: none
    rh_study_progress progress; // the last one
    double begun;               // time of the first run
    double drawn;               // time of the last line
    bool resumed;               // "resuming" was printed
    bool quiet, terminal;
    int lines; // on the terminal
} cli_studying;

void cli_studying_begin(cli_studying *s, const rh_plan *plan, const char *folder, bool quiet);
void cli_studying_news(void *context,
                       const rh_study_progress *progress); // context: the cli_studying
void cli_studying_end(cli_studying *s);

// The work of `tune` and its result.
typedef struct cli_tuning {
    const cli_args *args;
    rh_plan *plan;         // owned
    cli_log log;           // empty where there is a model
    cli_log starts;        //
    rh_log_report *report; // of the log, owned
    rh_model *model;       // an existing model, owned; NULL for none
    char *folder;          // owned
    cli_launch launch;
    rh_ranks *ranks; // owned; NULL: this process alone
    int nthread;
    cli_studying studying;
    rh_study *study;           // owned
    const rh_verdict *verdict; // borrowed from the study; NULL before
    rh_text command;           // as a shell reads it
} cli_tuning;

// Append "alpha=0.1 tau=1", the agent's searched parameters, each after `before` (" --set ").
// digits 0: all.
void cli_tune_setting(const rh_plan *plan, int agent, const double *hp, const char *before,
                      int digits, char *text, size_t size);
void cli_tune_head(const cli_tuning *tune);  // the plan
void cli_tune_print(const cli_tuning *tune); // the result
// The confirmed settings beside the limits, and those that no other one beats in every score;
// nothing without any. limits_print.c
void cli_limits_print(const rh_plan *plan, const rh_verdict *v);
void cli_scores_print(const rh_plan *plan, const rh_verdict *v, int decimals);
// What to log next; nothing where there is nothing. log: of the model.
void cli_next_print(const rh_verdict *v, const rh_log *log);

// ---------------------------------------------------------------------------- the world

// Where runs are run: a simulator, or the members of a model.
typedef struct cli_world {
    const char *name; // as written: "acrobot", "model:plant.model"
    const char *path; // of the model; NULL for a simulator
    rh_model *model;  // owned; NULL for a simulator
    rh_env **env;     // owned  (nmember)
    int nmember;      // 1 for a simulator
    int member;       // the only member to use, otherwise 0
    rh_pool pool;     // of the members' scores
} cli_world;

int cli_world_init(cli_world *world, const cli_args *args, const rh_plan *plan);
void cli_world_clear(cli_world *world);
const rh_env_type *cli_world_kind(const cli_world *world);

// The environment of the only operand, or NULL; the values (nparam) of --env-set for `owner`.
const rh_env_type *cli_env_find(const cli_args *args);
int cli_env_values(const cli_args *args, const char *owner, const rh_param *param, int nparam,
                   double *value);

// ---------------------------------------------------------------------------- the job

// What `run` and `sweep` have in common: an agent, an environment, how runs are evaluated.
typedef struct cli_job {
    const char *command;        // `run` or `sweep`
    rh_plan *plan;              // owned
    cli_world world;            // where
    rh_task task;               // with the ranges that were set
    bool ranged[RH_MAX_OBS];    // sensors whose range was set
    const rh_agent_type *agent; //
    double *hp;                 // hyperparameters of the agent, owned  (nparam)
    bool *swept;                // those with several values, owned     (nparam)
    rh_state *state;            // initial agent state, owned; NULL: none
    const char *loaded;         // the file it was read from
    rh_eval_options opt;
    bool usual; // the cut-off is the default of a model
    bool quiet; // no progress
    bool words; // results are printed as text, not as JSON or CSV
} cli_job;

// load: a file with the initial agent state, NULL for none. One agent is created and destroyed,
// so that what the library refuses is refused before the work begins.
int cli_job_init(cli_job *job, const cli_args *args, const char *load);
void cli_job_clear(cli_job *job);

// How many runs there are and how each is scored.
typedef struct cli_runs_line {
    const rh_eval_options *opt;
    const char *before; // "up to "
    const char *across; // how a setting's runs become one score; NULL for the mean
    const char *pool;   // how the members' scores become one; NULL: not printed
    int nmember;
    bool settings;   // there are several settings
    bool continuing; // the task has no episodes
    bool usual;      // the cutoff is the default
} cli_runs_line;

void cli_runs_print(const cli_runs_line *line);
void cli_job_print(const cli_job *job, const cli_grid *grid); // Nullable: grid
void cli_job_json(rh_doc *json, const cli_job *job);
void cli_json_sensors(rh_doc *json, const rh_task *task); // and their ranges

// ---------------------------------------------------------------------------- progress

typedef struct cli_progress {
    int64_t nunit, nstep; // runs in all, steps of each
    int npoint;           // points of each
    int64_t results;      // finished
    double points;        // finished, of nunit * npoint
    double begun, drawn;  // on the clock, seconds
    double seconds;       // duration of the runs
    bool quiet, terminal;
    int above;         // lines drawn above the bar
    char note[48];     // beside the numbers: the best score so far
    char failure[240]; // why a run failed, of the first setting, member and run; "": none did
    int64_t failed;    // which one that is
} cli_progress;

bool cli_progress_count(cli_progress *p, const rh_event *event); // true when it is time to draw
double cli_progress_share(const cli_progress *p);                // of the work
void cli_progress_draw(cli_progress *p, const char *block); // block: lines above; NULL for none
void cli_append_bar(char *line, size_t size, double share, int width);

// Make nsetting x nmember x nrun runs, or stop at a signal. The caller has set job->opt.watch
// and its context, and counts and draws in it. hp, result, curve: as for rh_eval_runs().
int cli_job_run(cli_job *job, cli_progress *p, int nsetting, const double *hp,
                rh_result *result, double *curve);

// ---------------------------------------------------------------------------- results

// The score of the finished runs (nmember x nrun) of one setting.
typedef struct cli_score {
    int64_t nfinished;
    bool whole;         // all its runs are finished
    int64_t ndiverged;  // runs that diverged or failed
    int nmember;        // members with finished runs
    double score;       // the mean of each member's runs, pooled over the members
    rh_summary summary; // of the runs; with several members, of their means
} cli_score;

// Scratch: work (2 nrun + 2 nmember). Nullable: mean, of each member's runs   (nmember)
cli_score cli_score_of(const cli_job *job, const rh_result *result, double *mean, double *work);

// The results of `run`.
typedef struct cli_result {
    const cli_job *job;
    const rh_result *result; // (nmember x nrun)
    const double *curve;     // mean over the runs        (ncurve)
    const double *mean;      // of each member's runs     (nmember)
    cli_score score;
    double seconds;      // duration; NAN with --pace
    const char *failure; // why a run failed
} cli_result;

bool cli_result_failed(const cli_result *result); // every run, with a reason
void cli_result_print(const cli_result *result);
void cli_result_json(FILE *out, const cli_result *result);
void cli_result_csv(FILE *out, const void *result); // a cli_result

// One parameter and the values it takes in a sweep.
typedef struct cli_axis {
    int param;
    int nvalue;
    double *value; // owned  (nvalue)
} cli_axis;

// Every combination of the axes' values, the first axis slowest.
struct cli_grid {
    cli_axis *axis; // owned  (naxis)
    int naxis;
    int nsetting;
};

// One setting of a sweep.
typedef struct cli_row {
    int setting;
    cli_score score;
    bool tied; // with the best
} cli_row;

// The results of `sweep`: the settings with finished runs, the best first.
typedef struct cli_table {
    const cli_job *job;
    const cli_grid *grid;
    const double *hp; // (nsetting x nparam)
    cli_row *row;     // owned  (nrow)
    int nrow;
    int64_t nfinished; // runs
    int64_t nstep;     // steps of all runs
    double seconds;
} cli_table;

int cli_table_init(cli_table *table, const rh_result *result); // job, grid and hp are set
void cli_table_clear(cli_table *table);
void cli_table_print(const cli_table *table, int top);
void cli_table_json(FILE *out, const cli_table *table);
void cli_table_csv(FILE *out, const void *table); // a cli_table

// The topics of `list`.
typedef enum cli_list_topic {
    CLI_LIST_ENVS,
    CLI_LIST_AGENTS,
    CLI_LIST_MODELS,
    CLI_LIST_REPRS,
    CLI_LIST_METHODS,
    CLI_LIST_GRIDS // its items are the environments
} cli_list_topic;

// An entry of a registry; of env, agent, repr and method only the one that it is.
typedef struct cli_item {
    const char *name, *about;
    const rh_param *param; // (nparam)
    int nparam;
    const rh_env_type *env;
    const rh_agent_type *agent;
    const rh_repr_type *repr;
    const rh_search_type *method;
} cli_item;

extern const char *const cli_topics[]; // their names, ending with NULL
bool cli_list_item(cli_list_topic topic, int i, cli_item *item); // false after the last

// Parameters that a completion offers: those of the item on the line.
typedef struct cli_lookup {
    cli_list_topic topic;
    const char *word; // in names of functions and variables
    const char *fish; // what finds the item
} cli_lookup;

#define CLI_NLOOKUP 5
extern const cli_lookup cli_lookups[CLI_NLOOKUP];
const cli_lookup *cli_lookup_of(const rh_key *option); // NULL: it has none
// The i-th item with parameters of a topic; false after the last.
bool cli_lookup_item(cli_list_topic topic, int i, cli_item *item);
void cli_print_grids(void);     // all published ones
void cli_completion_fish(void); // the script for fish

// All topics or one, all items or one. Nullable: topic, only.
void cli_list_json(FILE *out, const char *topic, const cli_item *only);

// ---------------------------------------------------------------------------- collected logs

// Where the required number of episodes comes from.
typedef enum cli_wanted {
    CLI_WANTED_ANY,
    CLI_WANTED_BY_USER,
    CLI_WANTED_BY_RECIPE,
    CLI_WANTED_IN_PROPORTION // scaled from a longer log of the recipe
} cli_wanted;

// One finished log.
typedef struct cli_made {
    char *file, *starts; // names, owned; starts is NULL without --starts
    uint64_t seed;
    rh_collected how;
    int nepisode; // in the log, the last one included
} cli_made;

// The work of `collect` and the finished logs.
typedef struct cli_collection {
    const cli_recipe *recipe;
    const rh_agent_type *agent;
    rh_env *train_env, *log_env; // for training and for logging, owned
    double *hp;                  // owned  (nparam)
    bool random;                 // the log has random starts
    rh_collect_options opt;
    cli_wanted wanted;
    cli_made *made; // owned  (nmade, room for all)
    int nmade;
    double seconds; // duration
} cli_collection;

void cli_collection_plan(const cli_collection *c);
void cli_collection_log(const cli_collection *c, const cli_made *made);
int cli_collection_summary(const cli_collection *c); // of several logs
void cli_collection_json(FILE *out, const cli_collection *c);
// Print why there is no log and what to try; CLI_FAILED.
int cli_collection_explain(const cli_collection *c, const rh_collected *how, uint64_t seed);

// ---------------------------------------------------------------------------- the chart

#define CLI_CHART_WIDTH 60
#define CLI_CHART_HEIGHT 10 // and two lines for the axis below

// Draw y (n) over 0 .. nstep; NAN is a gap. Draws nothing if all are gaps.
// Returns the number of points outside the axis.
int cli_chart(FILE *out, const double *y, int n, int64_t nstep, int columns, bool utf8,
              const cli_style *style);

#endif
