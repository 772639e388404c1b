// trust_rule.h - written by bench/verdict_fit; do not edit.

#ifndef REHEARSE_STUDY_TRUST_RULE_H
#define REHEARSE_STUDY_TRUST_RULE_H

#include "rehearse/study.h"

#define RULE_BIAS 1.4335

static const struct {
    rh_evidence_name name;
    double weight, centre, spread, lo, hi;
} rule[] = {
    {RH_EVIDENCE_RIVAL, -0.4861, 0.5872, 0.4016, 0, 1},
    {RH_EVIDENCE_PARTS, -0.4779, 0.0538, 0.0913, 0, 0.3},
    {RH_EVIDENCE_HALVES, -0.4699, 0.1121, 0.1595, 0, 0.5},
    {RH_EVIDENCE_VARIANTS, -0.4967, 0.1137, 0.1585, 0, 0.5},
    {RH_EVIDENCE_LEADER, -0.5126, 0.1169, 0.1321, 0, 0.3},
    {RH_EVIDENCE_SEPARATED, 0.4274, 0.6722, 0.3030, 0, 1},
    {RH_EVIDENCE_COVERAGE, -0.4932, 0.0091, 0.0308, 0, 0.2},
    {RH_EVIDENCE_UNPROVEN, -0.4931, 0.2162, 0.4117, 0, 1},
};

#endif
