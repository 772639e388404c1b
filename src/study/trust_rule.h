// trust_rule.h - written by bench/verdict_fit; do not edit.

#ifndef REHEARSE_STUDY_TRUST_RULE_H
#define REHEARSE_STUDY_TRUST_RULE_H

#include "rehearse/study.h"

#define RULE_BIAS 1.3809

static const struct {
    rh_evidence_name name;
    double weight, centre, spread, lo, hi;
} rule[] = {
    {RH_EVIDENCE_RIVAL, -0.4899, 0.5752, 0.4020, 0, 1},
    {RH_EVIDENCE_PARTS, -0.4869, 0.0511, 0.0894, 0, 0.3},
    {RH_EVIDENCE_HALVES, -0.4817, 0.1105, 0.1586, 0, 0.5},
    {RH_EVIDENCE_VARIANTS, -0.4981, 0.1121, 0.1574, 0, 0.5},
    {RH_EVIDENCE_LEADER, -0.5093, 0.1142, 0.1315, 0, 0.3},
    {RH_EVIDENCE_SEPARATED, 0.4319, 0.6867, 0.2959, 0, 1},
    {RH_EVIDENCE_COVERAGE, -0.4818, 0.0087, 0.0303, 0, 0.2},
    {RH_EVIDENCE_UNPROVEN, -0.4941, 0.2516, 0.4339, 0, 1},
};

#endif
