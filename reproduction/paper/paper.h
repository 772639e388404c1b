// paper.h - the study of the paper, again: its experiments, its figures and its claims.
//
// An experiment is a set of cells, such as "choose a setting from log 7 in a kNN model". A cell
// is a pure function of the options: it is done once, by any thread, and kept as one file in
// the folder, so a battery that was killed resumes and ends with the same files. When all cells
// are done, the figures and the table of claims are computed from them.

#ifndef REHEARSE_PAPER_H
#define REHEARSE_PAPER_H

#include "rehearse/study.h"

#define RH_PAPER_DATA "paper.json" // what the page shows
#define RH_PAPER_PAGE "index.html" // the page
#define RH_PAPER_MOST_LOGS 300     // logs of a condition
#define RH_PAPER_LEAST_LOGS 6      // below this no claim is decided

// ---------------------------------------------------------------------------- experiments

typedef struct rh_paper_experiment {
    const char *name;  // "exp1", ...
    const char *title; // "Experiment 1: ..."
    const char *about; // one line
} rh_paper_experiment;

const rh_paper_experiment *rh_paper_at(int i); // NULL after the last

// ---------------------------------------------------------------------------- a battery

// Where the paper's text and its authors' code differ (docs/paper.md).
typedef enum rh_paper_constants { RH_PAPER_RELEASED, RH_PAPER_PRINTED } rh_paper_constants;

typedef struct rh_paper_progress {
    int ncell, ndone, nresumed; // cells; done; of these, found in the folder
    double share;               // of the work, 0 to 1
    double share_resumed;       // of it, found in the folder
    const char *cell;           // the one just finished; NULL: none
} rh_paper_progress;

typedef struct rh_paper_options {
    const char *folder; // created if missing
    int nlog;           // logs of a condition, 1 to RH_PAPER_MOST_LOGS
    int ncostly;        // of these, so many for the costliest methods: our default, CEM, agents
                        // that begin with a policy
    bool quick;         // fewer settings and runs, shorter runs: a check, not a result
    rh_paper_constants constants;
    uint64_t seed;    // of the first log; the others follow
    int nthread;      // cells at a time; changes no result
    int part, nparts; // do part 0 .. nparts - 1 of the cells, for several machines with one
                      // folder; nparts 1: all of them
    void (*progress)(void *context, const rh_paper_progress *progress); // nullable
    bool (*stop)(void *context); // polled by every thread; true: RH_ESTOPPED. Nullable
    void *context;
    unsigned cookie; // set by rh_paper_defaults(), leave alone
} rh_paper_options;

// 30 logs, 6 of them for the costliest methods, released constants, seed 1, one thread.
rh_paper_options rh_paper_defaults(void);

typedef struct rh_paper rh_paper;

// A battery of one experiment, or of "all". Reads what the folder has. Copied: opt. Owned:
// *out, free with rh_paper_destroy(). Nullable: err. On failure *out is left untouched.
rh_status rh_paper_create(rh_paper **out, const char *name, const rh_paper_options *opt,
                          rh_error *err);
void rh_paper_destroy(rh_paper *paper); // NULL is allowed

// What is left to do, by rates measured on one core (docs/paper.md).
typedef struct rh_paper_estimate {
    int ncell, ndone; // cells in all, and done already
    int64_t nstep;    // learning steps of the cells that are left
    double seconds;   // of CPU time
    int nstudy;       // studies: cells that choose a setting
} rh_paper_estimate;
rh_paper_estimate rh_paper_foresee(const rh_paper *paper);

// Do all cells, or those of a part and what they need. When none is missing, compute figures
// and claims and write results.csv, settings.csv, claims.csv and paper.json into the folder;
// rh_paper_foresee() says whether some are. RH_ESTOPPED when it was stopped: finished cells are
// kept.
rh_status rh_paper_run(rh_paper *paper, rh_error *err);

// What the cells took, over all sessions; a cell's share of the time is measured, not computed.
typedef struct rh_paper_cost {
    int64_t nstep; // learning steps
    double cpu;    // seconds of CPU time
    double wall;   // seconds, over all sessions
    int ncell;
} rh_paper_cost;
rh_paper_cost rh_paper_spent(const rh_paper *paper);

// ---------------------------------------------------------------------------- claims

typedef enum rh_paper_verdict {
    RH_PAPER_HOLDS,
    RH_PAPER_FAILS,
    RH_PAPER_OPEN
} rh_paper_verdict;

// "holds", "does not hold", "not decided"
const char *rh_paper_verdict_name(rh_paper_verdict verdict);

// A sentence of the paper that asserts an outcome, and what was measured.
typedef struct rh_paper_claim {
    const char *id;         // "1.1 acrobot"
    const char *experiment; // name
    const char *sentence;   // of the paper
    const char *rule;       // how it is decided: a statistic and a limit
    char measured[320];     // in words, with numbers
    double value;           // the statistic; NAN: not measured
    double lo95, hi95;      // its 95 % interval
    int nlog;               // logs it is computed from
    rh_paper_verdict verdict;
} rh_paper_claim;

// After rh_paper_run(): the i-th claim; NULL after the last.
const rh_paper_claim *rh_paper_claim_at(const rh_paper *paper, int i);

#endif
