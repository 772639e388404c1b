// evidence.h - the list of evidence: every piece with its name and its meaning.
//
// A difference between settings is given in ranges: one range is the difference between the
// best and the median setting. evidence.c computes the numbers, trust.c reads them.

#ifndef REHEARSE_STUDY_EVIDENCE_H
#define REHEARSE_STUDY_EVIDENCE_H

#include "rehearse/study.h"

#define RH_EVIDENCE__LIST(ROW)                                                                 \
    ROW(SEPARATED, "separated",                                                                \
        "share of the settings that the best one of the search is better than, beyond chance") \
    ROW(NOISE, "noise", "half the winner's 95 % interval / range")                             \
    ROW(RIVAL, "rival", "how much better another setting may be / range")                      \
    ROW(PARTS, "parts", "regret in models of other parts of the log / range")                  \
    ROW(HALVES, "halves", "regret in models of half of the log / range")                       \
    ROW(VARIANTS, "variants", "regret in models with other settings / range")                  \
    ROW(ORDER, "order", "Kendall's tau of search and check, mean")                             \
    ROW(KINDS, "kinds", "greatest regret in a kind of model")                                  \
    ROW(COVERAGE, "coverage", "share of the winner's steps out of coverage")                   \
    ROW(REPLAY, "replay", "error of replayed stretches: 0 none, 1 ignorant")                   \
    ROW(IMITATION, "imitation", "difference of imitated and logged behaviour")                 \
    ROW(BEYOND, "beyond", "promise above the log / the log above random actions")              \
    ROW(RARE, "rare", "share of the winner's runs that failed")                                \
    ROW(BOUNDS, "bounds", "share of the parameters at the end of their range")                 \
    ROW(DATA, "data", "logarithm of the steps of the least frequent action")                   \
    ROW(ERRORS, "errors", "findings that are errors")                                          \
    ROW(LEADER, "leader", "how far behind the leader of the search / range")                   \
    ROW(WARNINGS, "warnings", "warnings about the model")                                      \
    ROW(UNPROVEN, "unproven", "1: the kind of model was not compared with others")             \
    ROW(TRANSFER, "transfer",                                                                  \
        "share of what is learned in a model of half of the log that is lost in one of the "   \
        "other")                                                                               \
    ROW(OVERALL, "overall", "share of all settings' steps out of coverage")                    \
    ROW(LENGTH, "length", "logarithm of: length of the winner's episodes / log's")             \
    ROW(MARGIN, "margin", "advantage over the logged controller / its uncertainty")            \
    ROW(SELECTED, "selected", "how much the best of several settings is overrated / range")    \
    ROW(UNLOGGED, "unlogged",                                                                  \
        "share of agents' steps whose effect there the log hardly shows")                      \
    ROW(BESIDE, "beside", "error of replays from natural experiments / from usual steps")      \
    ROW(SHOWN, "shown", "share of predicted effects of actions that came, at most")

typedef enum rh_evidence__name {
#define ROW(id, name, about) RH_EVIDENCE_##id,
    RH_EVIDENCE__LIST(ROW)
#undef ROW
        RH_EVIDENCE_END
} rh_evidence__name;

_Static_assert((int)RH_EVIDENCE_END == RH_NEVIDENCE, "study.h counts the evidence");

#endif
