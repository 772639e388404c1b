// plan.h - what was said of a study, in words, and what the files of the plan share.
//
//     file, flags ──say──▶ the book ──resolve──▶ fields of rh_plan ──▶ entries ──▶ a file
//
// The book keeps one thing per key, in the order said: a later word replaces an earlier one.
// The fields are worked out from it anew by rh_plan_check() and rh_plan_settle().

#ifndef REHEARSE_STUDY_PLAN_H
#define REHEARSE_STUDY_PLAN_H

#include "rehearse/study.h"
#include "base/yaml.h"

// ---------------------------------------------------------------------------- the book

// One thing said.
typedef struct rh_plan__item {
    char *key;            // "evaluation.runs", owned
    char *shown;          // the key as it was written, owned
    const rh_yaml *value; // borrowed from a tree of the book
    char *where;          // the file, or what opens a message; owned; NULL: nothing does
    int file;             // which of the files read, from 1; 0: none
} rh_plan__item;

typedef struct rh_plan__line {
    char *key, *value; // owned
    bool open;
} rh_plan__line;

struct rh_plan_book {
    rh_plan__item *said; // owned, in order                 (nsaid)
    int nsaid, room;
    rh_yaml **tree; // owned: what said's values are in (ntree)
    int ntree, tree_room;
    int nfile;           // files read
    rh_plan__line *line; // owned: the entries          (nline)
    int nline, line_room;
};

// Enter value under key, over what was said of it before. Copied: key, shown, where.
// Borrowed: value. A file that says a thing twice is refused.
rh_status rh_plan__say(rh_plan *plan, const char *key, const char *shown, const rh_yaml *value,
                       const char *where, int file, rh_error *err);
// The tree becomes the book's, or is destroyed where memory runs out.
rh_status rh_plan__keep(rh_plan *plan, rh_yaml *tree, rh_error *err);
const rh_plan__item *rh_plan__said(const rh_plan *plan, const char *key); // NULL: nothing

// The name behind a prefix such as "model.", NULL where key does not begin with it.
const char *rh_plan__behind(const char *key, const char *prefix);

// ---------------------------------------------------------------------------- refusing

// Where a thing was said: "study.yaml:7: evaluation.runs", "--runs", "--set: alpha". node: of
// what was said, or NULL for the whole; sub: behind the key (".min"), or "".
#define RH_PLAN__LABEL 200
void rh_plan__label(const rh_plan__item *said, const rh_yaml *node, const char *sub,
                    char label[RH_PLAN__LABEL]);

// "<label> = <found>, expected ..."
rh_status rh_plan__refuse(const rh_plan__item *said, const rh_yaml *node, const char *sub,
                          rh_error *err, const char *expected);
// "<label>: <why>", or why alone where nothing tells where it was said. said is nullable.
rh_status rh_plan__blame(const rh_plan__item *said, const rh_yaml *node, rh_error *err,
                         const char *why);
rh_status rh_plan__no_memory(rh_error *err);

// ---------------------------------------------------------------------------- keys

// The key in full, of a thing that has a short one: "runs" is "evaluation.runs". False: there
// is no such key, and err says so.
bool rh_plan__key(const char *key, char *full, size_t size, const char *where, rh_error *err);

// Whether a full key has a name at its end that the user gave: "parameters.alpha".
bool rh_plan__is_open(const char *key);

// What is said of a key that needs nothing else to be understood, into the fields of the
// plan. Other keys are left alone.
rh_status rh_plan__take(rh_plan *plan, const rh_plan__item *said, rh_error *err);

// The keys that are known below a section of the file, "" for the top. Returns how many.
#define RH_PLAN__NKEYS 48
int rh_plan__known(const char *section, const char *known[RH_PLAN__NKEYS]);
// The section that has this key, where it is only in one: "evaluation" of "runs". NULL: none.
const char *rh_plan__section_of(const char *name);

// ---------------------------------------------------------------------------- files

// What the YAML text bytes (n) says. path: for messages, and where paths start from.
rh_status rh_plan__parse(rh_plan *plan, const void *bytes, size_t n, const char *path,
                         rh_error *err);

// What rh_plan_try() takes, as a file would have it. RH_EINVAL without a message: it is none
// of its forms. Owned: *out.
rh_status rh_plan__trial(const char *text, rh_yaml **out);

// ---------------------------------------------------------------------------- working it out

// Values of a parameter table, all initial ones. Owned: *param, whose old block is freed.
rh_status rh_plan__initial(double **param, const rh_param *table, int nparam, rh_error *err);

// One of them, from what was said under `name`.
rh_status rh_plan__value(const rh_param *table, int nparam, const char *owner, const char *name,
                         const rh_plan__item *said, double *param, rh_error *err);

// Whether the data is a model that was fitted before, model:FILE.
#define RH_PLAN__MODEL "model:"
bool rh_plan__is_fitted(const rh_plan *plan);

// The model, the representation, the task. log: NULL before there is one.
rh_status rh_plan__parts(rh_plan *plan, const rh_log *log, rh_error *err);

// What is tried of one parameter of an agent. Where nvalue is 1, that value alone.
typedef struct rh_plan__axis_spec {
    const rh_plan__item *said; // NULL: nobody said so
    bool given;                //
    rh_form form;              //
    rh_dim dim;                // as the search sees it, without a name
    double *value;             // owned: of the dim; NULL for a range         (nvalue of dim)
    double fixed;              // the value that is no axis, as the agent sees it
} rh_plan__axis_spec;

// What was said of parameter p of `owner`, into a zeroed axis.
rh_status rh_plan__axis(rh_plan__axis_spec *axis, const rh_param *p, const char *owner,
                        const rh_plan__item *said, rh_error *err);
// The number of the dim as the agent sees it.
double rh_plan__formed(rh_form form, double x);

// The agent, hp and space. An agent has been chosen.
rh_status rh_plan__space(rh_plan *plan, rh_error *err);
void rh_plan__clear_space(rh_plan *plan);
// A published grid, "acrobot:paper". agent: NULL for any.
rh_status rh_plan__check_grid(const rh_plan__item *said, const char *grid,
                              const rh_agent_type *agent, const rh_env_type **env,
                              const char **name, rh_error *err);

// The entries of a settled plan.
rh_status rh_plan__enter(rh_plan *plan, rh_error *err);
void rh_plan__clear_lines(rh_plan_book *book);

#define RH_PLAN__RUN_PART (-30) // cutoff: a thirtieth of the run, as in the paper

#endif
