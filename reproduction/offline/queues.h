// queues.h - the samples of a log, grouped by bin and action, for the replay evaluators.

#ifndef OFFLINE_QUEUES_H
#define OFFLINE_QUEUES_H

#include "replay_eval.h"

// Made once, then only read.
typedef struct rh_queues {
    const rh_log *log; // borrowed
    int naction;
    int bins;        // of each sensor's range
    int32_t nbin;    // different bins of observations; those without samples included
    int32_t nused;   // those with samples
    int32_t nsample; // usable transitions
    int32_t nstart;  // start states
    int32_t *bin;    // owned: of each observation; -1: a value is missing      (log->nstate)
    int32_t *first;  // owned: first sample of each (bin, action)       (nbin x naction + 1)
    int32_t *sample; // owned: transitions by bin, by action, in order          (nsample)
    int32_t *start;  // owned: observations that begin an episode               (nstart)
} rh_queues;

// As in rh_replay_describe(). Call clear also after a failure.
rh_status rh_queues__init(rh_queues *queues, const rh_log *log, const rh_task *task, int bins,
                          rh_error *err);
void rh_queues__clear(rh_queues *queues);

// Where the samples of a bin begin: its range ends where that of bin + 1 begins.
int32_t rh_queues__begin(const rh_queues *queues, int32_t bin);

#endif
